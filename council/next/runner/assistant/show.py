"""What `council next` and `council brief` print: the turns that are due, how a debate ended, what a member is asked.

Assistants follow the text of `next`, so it is short, and nothing in it was written by a member but the names of seats.
"""

from __future__ import annotations

from collections.abc import Iterator

from council.next.engine.planner import Due
from council.next.errors import UsageError
from council.next.prompts import brief as briefs
from council.next.protocols.ids import SAYS
from council.next.protocols.outcome import Outcome
from council.next.record.files import tilde
from council.next.record.lock import BY_HAND
from council.next.record.session import Session
from council.next.reports.state import rounds_of
from council.next.runner.assistant import members, notes
from council.next.runner.assistant.members import name_of
from council.next.text import encode, join_words, one_line

WIDTHS = (members.LONGEST_NAME, 24, 12)  # of names: many long ones are cut shorter, so that the text stays SHORT
SHORT = 2_000  # bytes: so much of a command's output every assistant shows
LONGEST_LINE = 160
STORED = {"member": "somebody who fetched the brief", "hand": "hand"}
OVER = "Nothing is due: the debate is over."


def show_next(session: Session, program: str) -> str:
    """What to do next. `program` is how the commands in it begin. What council does itself has been done."""
    if session.plan.done:
        return "\n".join(show_end(session, program))
    flying = notes.in_flight(session.folder, session.said)
    texts = [show_due(session, flying, program, width) for width in WIDTHS]
    return next((text for text in texts if len(text.encode()) < SHORT), texts[-1])


def show_due(session: Session, flying: set[str], program: str, width: int) -> str:
    dues = session.plan.due
    free = [due for due in dues if due.id not in flying]
    parts = []
    if free:
        agents = {members.agent_of(due) for due in free}
        agent = agents.pop() if len(agents) == 1 else f"{members.AGENT}member"
        count = "1 turn is" if len(free) == 1 else f"{len(free)} turns are"
        ask = f"{count} due in {session.id}. Ask all at once, each in a context of its own"
        lines = [show_turn(session, due, program, width) for due in free]
        parts.append("\n".join([f"{ask} (agent {agent}, if you have it):", "", *lines]))
    if asked := [name_of(due.seat, width) for due in dues if due.id in flying]:
        parts.append(f"Asked already, wait for them: {', '.join(asked)}")
    return "\n\n".join(filter(None, [*parts, show_round(session)]))


def show_turn(session: Session, due: Due, program: str, width: int) -> str:
    """One turn: how to ask a member, or what to do for a person."""
    name = name_of(due.seat, width)
    if due.seat.is_person:
        brief, answer = f"{program} brief {session.id} {due.id}", f"{program} answer {session.id}"
        kinds = (one_line(f"{name}: {kind.wanted()}", LONGEST_LINE) for name, kind in due.step.reply.items())
        first = f"- {name}: a person answers. `{brief}` is what to show them; or they run `{answer}`"
        return "\n  ".join([first, *kinds, record_command(session, due, program)])
    age, model = notes.age(session.folder, due.id), members.model_of(session, due)
    handed = "" if age is None else f" (handed out {age / 60:.0f} min ago)"
    shown = members.alias_of(model) or "-".join(model.split())
    return f"- {name}{handed}: model {shown}, prompt: {members.sentence(program, session, due)}"


def record_command(session: Session, due: Due, program: str) -> str:
    """The command that stores a person's answer."""
    given = " ".join(f'--answer "{name}=…"' for name in due.step.reply) or "--file answer.md"
    return f"{program} record {session.id} {due.id} {given}"


def show_round(session: Session) -> str:
    """One line of counts on the newest round of the debate that has closed. Empty before there is one."""
    now = {(due.phase.name, due.round) for due in session.plan.due}
    closed = [one for one in rounds_of(session.plan) if one[0] and (one[1].name, one[2]) not in now]
    if not closed:
        return ""
    number, phase, _, turns = closed[-1]
    absent, outcome = sum(bool(turn.absent) for turn in turns), session.outcome
    facts = [tilde(session.folder / f"round-{number}.md"), f"{len(turns) - absent} spoke"]
    facts += [f"{absent} absent"] if absent else []
    if {one.turn for one in outcome.count.voices} & {turn.id for turn in turns}:  # it took the vote
        verdict = "converged" if outcome.converged else "not converged"
        facts += [show_count(outcome), f"{verdict}: {outcome.standing}"]
    return f"Round {number} ({phase.name}) is closed: {' · '.join(facts)}"


def show_count(outcome: Outcome) -> str:
    """The count in words. Where an answer itself is counted, it may be anybody's words: then only its numbers."""
    if outcome.count.asked == SAYS:
        return f"{len(outcome.count.signers)} of {outcome.count.of} say the same"
    return one_line(outcome.count.sentence, LONGEST_LINE)


def show_end(session: Session, program: str) -> Iterator[str]:
    """What the debate came to, in counts and in council's own words, and where everything is."""
    outcome, archived = session.outcome, session.metadata.get("archived_to")
    yield f"**Outcome:** {outcome.kind}" + (f" ({show_count(outcome)})" if outcome.count.of else "")
    if outcome.confidence:
        yield f"**Confidence:** {outcome.confidence}"
    if gone := {turn.seat.name: name_of(turn.seat) for turn in session.plan.scene.turns if turn.absent}:
        yield f"**Degraded:** absent: {one_line(join_words(gone.values()), LONGEST_LINE)}"
    stored = [receipt.stored for receipt in session.receipts.values()]
    if counts := [f"{stored.count(by)} stored by {who}" for by, who in STORED.items() if by in stored]:
        yield f"**No API receipt:** {join_words(counts)}"
    yield f"head: {session.head}"
    yield f"session: {tilde(session.folder)}"
    if isinstance(archived, str):
        yield f"archive: {archived}"
    if outcome.synthesis:
        yield f"The synthesis: {program} show {session.id} synthesis"
    yield f"Check it later: {program} verify {session.id} --head {session.head}"
    yield OVER


# ---- what a member is asked ----

LARGEST_PART = 16_000  # bytes: clients cut longer output of a command, in the middle or at its end
PLACEHOLDER = "YOUR ANSWER"
BREAK = "\n\n---\n\n"
TO_STORE = """This is how to store your answer. Run this one command, once, with your whole answer in place of
{placeholder}, in the form that the brief asks for. Change nothing else in it:

{command} <<'{end}'
{placeholder}
{end}

If your shell refuses it, save your answer in a new file and run: {command} < FILE

Run nothing else, and open no other file. Then reply only with the line that the command printed.
"""
TO_READ_ON = "This is part {part} of {parts} of your brief. Do not answer yet. Run `{command}` and do what it prints.\n"
TO_PERSON = """A person answers this. They can do it themselves, in a terminal: {answer}
Or store their words, exactly as they are, with: {command}
"""
ASKED = (
    "A member was launched for this turn already, and its answer is still to come. Do not answer it a second time.\n"
)


def hand_out(session: Session, due: Due, program: str, part: int | None = None) -> bytes:
    """The brief of a due turn, byte for byte, and then what to do. It is written if nobody has asked for it yet.

    With a part's number only that part, and then how to read on. The last part counts as handed out to a member.
    """
    if (made := briefs.stored(session, due)) is None:
        with session.hold(work=BY_HAND):
            made = briefs.write(session, due)
    brief = encode(made.text)
    if due.seat.is_person:
        command = record_command(session, due, program)
        return brief + encode(BREAK + TO_PERSON.format(answer=f"{program} answer {session.id}", command=command))
    parts, number = [*split(brief)] if part else [brief], part or 1
    if number > len(parts):
        raise UsageError(f"the brief of {due.id} has only {len(parts)} part{'s' * (len(parts) > 1)}")
    if due.id in notes.in_flight(session.folder, session.said):
        ending = ASKED
    elif number < len(parts):
        command = f"{program} brief {session.id} {due.id} --part {number + 1}"
        ending = TO_READ_ON.format(part=number, parts=len(parts), command=command)
    else:
        if part:
            notes.hand_out(session.folder, due.id)
        # Nobody who wrote a part of the brief knows the session's key, so no text in it can end the command.
        end, command = f"ANSWER-{session.key('answer', due.id)}", f"{program} record {session.id} {due.id} --file -"
        ending = TO_STORE.format(command=command, placeholder=PLACEHOLDER, end=end)
    return parts[number - 1] + encode(BREAK + ending)


def split(brief: bytes) -> Iterator[bytes]:
    """A brief in parts that every client shows whole. Each ends with a line, or at least with a character."""
    while len(brief) > LARGEST_PART:
        end = brief.rfind(b"\n", 0, LARGEST_PART) + 1 or LARGEST_PART
        while brief[end] & 0xC0 == 0x80:  # inside of a character
            end -= 1
        yield brief[:end]
        brief = brief[end:]
    yield brief
