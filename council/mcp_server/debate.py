"""What the tools do: start a debate, say whom to ask, hand out a brief, record a reply, show the state.

Whom to ask is written for the host; a brief goes to a member, past the host where its subagents can call tools.
"""

from __future__ import annotations

import hmac
from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from council.config import overlays, personas, places
from council.config import settings as config
from council.config.settings import Config
from council.errors import UsageError
from council.mcp_server import forms, states
from council.mcp_server.calls import ClientCall
from council.mcp_server.states import ToolAnswer
from council.prompts import invocation
from council.record import lock, session
from council.record.session import Session
from council.record.turn_file import HAND, MEMBER
from council.reports import markdown, summary, verify
from council.runner import answering, machines, manual, subagents
from council.runner import debate as debates
from council.runner.manual import ManualState
from council.runner.start import Request
from council.speakers import registry
from council.speakers.assistant import handouts
from council.speakers.base import Spoken
from council.terminal.notices import describe_overlays
from council.text import did_you_mean, harmless, one_line

LARGEST_REPLY = 1_000_000


def start(given: dict[str, Any], call: ClientCall) -> ToolAnswer:
    settings, known = config.load(), personas.load()
    workflow = given.get("workflow", "debate").lower()
    if workflow not in overlays.workflows():  # paths are refused: a caller must not choose which files are read
        raise UsageError(f'there is no workflow "{one_line(workflow)}"; {did_you_mean(workflow, overlays.workflows())}')
    speaker = registry.manual().name
    request = Request(
        topic=given["topic"],
        workflow=workflow,
        with_=invocation.seats(",".join(given.get("with", ())), known),
        only=invocation.seats(",".join(given.get("only", ())), known),
        mode=given.get("mode", "deliberative"),
        options={"three_rounds": True} if "rounds" in given else {},
        documents=(("document", given["document"]),) if given.get("document", "").strip() else (),
        evidence_texts=tuple(given.get("evidence", {}).items()),
        find_files=False,  # as above
        speaker=speaker,
        after=open_session(given["from"])[1] if "from" in given else None,
    )
    if request.after:
        request.after.read_turns()
    found = debates.begin(request, settings, speaker, None, held=False)
    with call.hold(found):
        machines.run_due(found, settings, call.report)
        now = manual.advance(found, settings)
    remarks = "\n".join(map(harmless, filter(None, (*describe_overlays(found), places.explain(found)))))
    header = "\n\n".join(filter(None, (markdown.announcement(found), remarks)))
    about = {"header": header, "folder": str(found.folder)}
    return states.describe(found, now, call.client, **about)


def next_(given: dict[str, Any], call: ClientCall) -> ToolAnswer:
    settings, found = open_session(given["session"])
    return states.describe(found, advance(found, settings, call), call.client)


def advance(found: Session, settings: Config, call: ClientCall) -> ManualState:
    with call.hold(found):
        answering.collect(found, settings)
        machines.run_due(found, settings, call.report)
        return manual.advance(found, settings)


def brief(given: dict[str, Any], call: ClientCall) -> ToolAnswer:
    settings, found = open_session(given["session"])
    turn = given["turn"]
    with call.hold(found):
        answering.collect(found, settings)
        due = None if turn in found.said else manual.due_turn(found, found.plan(), turn)
        if due is not None:
            manual.advance(found, settings, turn)
    words = (found.brief(turn) or b"").decode("utf-8", "replace")
    asked = turn in subagents.find_in_flight(found)
    if due is not None and not (due.of_a_person or asked):
        handouts.write_note(found.folder, turn)
    then = states.say_how_to_store(found, turn, due, asked)
    facts = {"session_id": found.id, "turn": turn, "brief": words, "then": then}
    return ToolAnswer(f"{words}\n\n---\n\n{then}", facts)


def record(given: dict[str, Any], call: ClientCall) -> ToolAnswer:
    settings, found = open_session(given["session"])
    turn = given["turn"]
    if not any(name in given for name in ("reply", "answers", "absent")):
        answers = forms.ask_person(found, settings, turn, call)
        if answers is None:
            return states.describe(found, advance(found, settings, call), call.client, declined=turn)
        given = {**given, **answers}
    check_key(found, turn, given.get("key"))
    if "key" not in given and "model" not in given and is_awaited(found, turn):
        return answer_run(found, settings, given)
    with call.hold(found):
        answering.collect(found, settings)
        manual.record(found, settings, turn, read_reply(found, settings, given))
        if "key" not in given:  # a member must not wait for tests
            machines.run_due(found, settings, call.report)
        now = manual.advance(found, settings)
    if "key" in given:  # a member learns nothing of the others
        todo = f"Reply only: recorded {turn}"
        return ToolAnswer(todo, {"session_id": found.id, "recorded": turn, "done": now.plan.done, "todo": todo})
    return states.describe(found, now, call.client, recorded=turn)


def is_awaited(found: Session, turn: str) -> bool:
    """Whether another process holds the session, and the turn is a person's, whose answer it takes or has taken."""
    if not lock.is_held(found.folder):
        return False
    found.read_turns()
    if turn in found.receipts:
        return found.receipts[turn].by is not None
    return any(due.id == turn and due.of_a_person for due in found.plan().due)


def answer_run(found: Session, settings: Config, given: Mapping[str, Any]) -> ToolAnswer:
    """Hand a person's answer to the run that waits for it, which goes on by itself."""
    spoken, turn = read_reply(found, settings, given), given["turn"]
    words = answering.Absence(spoken.absent) if spoken.absent else spoken.body
    done = answering.answer(found.folder, settings, turn, words, spoken.by or "")
    done.refuse_late()
    todo = f"Recorded {turn}. The run that waited for it goes on by itself: nothing is left to do here."
    return ToolAnswer(todo, {"session_id": found.id, "recorded": turn, "done": False, "todo": todo})


def check_key(found: Session, turn: str, key: str | None) -> None:
    if key is not None and not hmac.compare_digest(key.encode(), states.key_of(found, turn).encode()):
        raise UsageError(f"the key is not the one that council_brief gave for {turn}; nothing was recorded")


def read_reply(found: Session, settings: Config, given: Mapping[str, Any]) -> Spoken:
    """The reply, the named answers, or why there is none; exactly one of them. The session must be locked.

    The key has been checked: who gives it was handed the brief.
    """
    reply, absent = given.get("reply", ""), given.get("absent", "")
    if sum((bool(reply.strip()), bool(absent.strip()), "answers" in given)) != 1:
        raise UsageError("give either a reply, which must not be empty, or in absent why the seat does not answer")
    if len(reply) > LARGEST_REPLY:
        raise UsageError("the reply is larger than 1 MB, and others have to read it; ask the seat for a shorter one")
    by, how = given.get("by") or None, MEMBER if "key" in given else HAND
    about = Spoken("", given.get("model") or None, "recorded", by=by, recorded_by=how)
    if absent.strip():
        return replace(about, stop="absent", absent=absent)
    if "answers" in given:
        reply = manual.compose_reply(found, settings, given["turn"], given["answers"].items())
    return replace(about, body=reply)


def status(given: dict[str, Any], _: ClientCall) -> ToolAnswer:
    folder = places.find(config.load(), given.get("session", "last"))
    known = verify.status(folder)
    row = summary.as_row(summary.summarize(folder, known))
    kept = ("session_id", "state", "why", "topic", "outcome", "turns", "due", "folder")
    facts = {name: row[name] for name in kept}
    if known.session is not None and known.plan is not None:
        facts |= states.describe_concerns(known.session, known.plan)
    return ToolAnswer("\n".join(f"{name}: {states.in_words(value)}" for name, value in facts.items()), facts)


def open_session(word: str) -> tuple[Config, Session]:
    settings = config.load()
    return settings, session.open_(places.find(settings, word))


TOOLS = {
    "council_start": start, "council_next": next_, "council_brief": brief, "council_record": record,
    "council_status": status,
}  # fmt: skip
