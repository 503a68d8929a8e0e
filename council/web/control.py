"""Steering: what waits for a person, their answers, and runs that are to pause or stop. All of it becomes files."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import asdict
from pathlib import Path

from council.config import settings as config
from council.errors import UsageError
from council.prompts import answers, question
from council.prompts.question import APPROVAL, Field, Question
from council.record import session as sessions
from council.record.session import Session
from council.replies.entry import NOTHING
from council.runner import answering
from council.text import fold, one_line
from council.web.given import Given, Json

# ---- answers ----


def ask_session(folder: Path) -> list[Json]:
    """The questions of one debate, with its topic."""
    session = read_session(folder)
    if session.kept_from:
        return []
    topic = one_line(str(session.metadata["topic"]), 300)
    return [question.as_json(one) | {"topic": topic} for one in build_questions(session)]


def read_session(folder: Path) -> Session:
    session = sessions.open_(folder)
    session.read_turns()
    return session


def build_questions(session: Session) -> list[Question]:
    return [question.build(session, due) for due in session.plan().due if due.of_a_person]


def answer(folder: Path, given: Given) -> tuple[int, Json]:
    """Have an answer recorded: the answers by name, or a line such as "A, but only for a month"."""
    given.refuse_others("turn", "answers", "text", "by")
    turn, text, named = given.take("turn", str, ""), given.take("text", str), given.words("answers")
    if not turn or (text is None) == (not named):
        raise UsageError("give the turn, and either its answers by name or a text")
    session = read_session(folder)
    if turn in session.said:
        return record(folder, turn, "", given)
    asked = next((one for one in build_questions(session) if one.turn == turn), None)
    if asked is None:
        raise UsageError(f"{one_line(turn, 80)} is not a turn that a person has to speak now")
    if named:  # a form was filled in: what it left empty, and may, is nothing
        empty = (one.name for one in answers.find_missing(asked, named) if not (one.required or one.only_with))
        named |= dict.fromkeys(empty, NOTHING)
    else:
        named = answers.read_answer(asked, text)
    if missing := answers.find_missing(asked, named):
        return explain_missing(missing)
    return record(folder, turn, named.items() if asked.reply else answers.compose(asked, named, ""), given)


def decide(folder: Path, verdict: str, given: Given) -> tuple[int, Json]:
    """Approve, reject or veto: the answer to the approval that is due, or to the one that `turn` names."""
    given.refuse_others("turn", "reason", "by")
    session, turn = read_session(folder), given.take("turn", str, "")
    if turn in session.said:
        return record(folder, turn, "", given)
    due = [one for one in build_questions(session) if one.kind == APPROVAL and turn in ("", one.turn)]
    if len(due) != 1:
        return 409, {
            "recorded": False,
            "error": f"{len(due) or 'no'} approvals are due",
            "gates": [one.turn for one in due],
        }
    option = next((one for one in due[0].options if fold(one.label) == verdict), None)
    if option is None:
        raise UsageError(f"{due[0].turn} cannot be answered with {verdict}: {answers.describe_choices(due[0])}")
    named, reason = dict(option.answers), given.take("reason", str, "")
    free = next((one.name for one in due[0].fields if not one.choices), None)
    if free and (reason or not any(one.name == free and one.required for one in due[0].fields)):
        named |= {free: reason} if reason else {}
    if missing := answers.find_missing(due[0], named):
        return explain_missing(missing)
    return record(folder, due[0].turn, named.items(), given)


def explain_missing(missing: Iterable[Field]) -> tuple[int, Json]:
    fields = [asdict(one) for one in missing]
    return 422, {"error": f"still to say: {', '.join(one['name'] for one in fields)}", "missing": fields}


def record(folder: Path, turn: str, body: str | Iterable[tuple[str, str]], given: Given) -> tuple[int, Json]:
    """The turn is on the disk when this says so."""
    done = answering.answer(folder, config.load(), turn, body, given.by, given.via)
    facts = {"recorded": done.recorded, "turn": done.turn, "by": done.by, "via": done.via, "at": done.at}
    return (200 if done.recorded else 409), facts


# ---- runs ----


def pause(folder: Path, given: Given) -> tuple[int, Json]:
    given.refuse_others("by")
    answering.ask_to_pause(folder, given.by)
    return 202, {"asked": "pause"}


def cancel(folder: Path, given: Given) -> tuple[int, Json]:
    given.refuse_others("by")
    answering.cancel(folder)
    return 202, {"asked": "cancel"}
