"""An assistant's subagents as members: the sentence that each is asked with, and the answers in their transcripts."""

from __future__ import annotations

from council.next.config import places
from council.next.engine.planner import Due
from council.next.errors import Busy
from council.next.prompts import brief as briefs
from council.next.record.catalog import ID
from council.next.record.session import Session
from council.next.record.turn_file import Receipt
from council.next.runner.assistant import notes
from council.next.text import encode, join_words, one_line
from council.next.workflow.model import Seat

AGENT = "council:council-"
ALIASES = ("opus", "sonnet", "haiku")  # what Claude Code calls the models that a subagent can be given
HOOK = "hook"  # who stored a turn
NO_BRIEF = "no brief"  # what a member answers that was given none
LONGEST_NAME = 40
IN_A_NAME = " _()'’.,&/+-"  # beside letters and digits
RUN, IT = "Run `", "` and do what it prints."
Target = tuple[str, str]  # a session and a turn of it


def sentence(program: str, session: Session, due: Due) -> str:
    """The prompt of a member, the same for every client."""
    return f"{RUN}{program} brief {session.id} {due.id}{IT}"


def read_sentence(prompt: object) -> Target | None:
    """What a prompt of ours names. The program may be a path in quotes."""
    words = prompt.strip() if isinstance(prompt, str) else ""
    command = words.removeprefix(RUN).removesuffix(IT)
    if words != f"{RUN}{command}{IT}" or "`" in command or "\n" in command:
        return None
    program, brief, named = command.rpartition(" brief ")
    called = program.rpartition("/")[2].rpartition(" ")[2].strip("\"'")
    return read_target(named.split(" ")) if brief and called == "council" else None


def describe(session: Session, due: Due) -> str:
    """What a call of ours is called. The host may read it, and it names the turn when the call is over."""
    return f"{name_of(due.seat)}, {due.phase.name} · {session.id} {due.id}"


def read_description(about: object) -> Target | None:
    return read_target(about.split()[-2:]) if isinstance(about, str) else None


def read_target(words: list[str]) -> Target | None:
    if len(words) != 2 or not ID.fullmatch(words[0]) or not is_turn(words[1]):
        return None
    return words[0], words[1]


def is_turn(word: str) -> bool:
    """Whether a word looks like the id of a turn: two names and a slash. Whether there is such a turn, a plan says."""
    step, _, seat = word.removesuffix(".2").partition("/")
    names = (step.replace("-", ""), seat.replace("-", ""))
    return step[:2].isdecimal() and all(name.isalnum() and name == name.lower() for name in names)


def name_of(seat: Seat, most: int = LONGEST_NAME) -> str:
    """What a seat is called, short and without anything that looks like a part of a line: a member or a project may
    have chosen the name."""
    plain = "".join(one if one.isalnum() or one in IN_A_NAME else " " for one in seat.label)
    return one_line(plain, most) or seat.name


def agent_of(due: Due) -> str:
    """The agent without tools for this seat: the kit has one for the chair and one for everybody else."""
    own = (places.KIT / "agents" / f"council-{due.seat.name}.md").is_file()
    return f"{AGENT}{due.seat.name if own else 'member'}"


def model_of(session: Session, due: Due) -> str:
    """The model that was chosen for the turn's tier when the session began, without the name of its endpoint."""
    models = session.program.get("models")
    named = one_line(str(models.get(due.tier, due.tier)) if isinstance(models, dict) else due.tier)
    return named.partition("/")[2] or named


def alias_of(model: str) -> str:
    """Claude Code's word for a model. Empty if it has none."""
    return next((word for word in ALIASES if word in model), "")


def harvest(session: Session) -> bool:
    """Record every whole answer that is in a transcript by now. The caller holds the session. True if there was one."""
    before = len(session.said)
    for note in notes.read(session.folder):
        due = next((one for one in session.plan.due if one.id == note.turn), None)
        path = note.find_transcript() if due else None
        answer = notes.read_answer(path) if path else None
        brief = briefs.stored(session, due) if due and answer else None
        if due and answer and brief and encode(answer.asked) == encode(brief.text):
            writes = session.workflow.writes_result(due.phase.name, due.step.name)
            is_lost = answer.body.strip() == NO_BRIEF or (writes and answer.facts["absent"])
            if not is_lost:  # a refusal is an absence, but somebody has to write the result
                asked = {"speaker": "assistant", "asked": model_of(session, due), "brief": brief.hash, "stored": HOOK}
                session.record(Receipt.of(due, **asked, **answer.facts), encode(answer.body))
                session.advance()
            if is_lost or not note.background:
                notes.forget(session.folder, note.turn)  # one that said nothing of use is asked again
    notes.clear(session.folder, [due.id for due in session.plan.due])
    return len(session.said) > before


def wait_for_assistant(session: Session) -> None:
    """Take the answers that are there. Raises Busy if others are still to come: who asks again would pay twice."""
    harvest(session)
    if flying := notes.in_flight(session.folder, session.said):
        names = join_words(sorted(flying))
        raise Busy(f"{names}: an assistant that still runs has asked for that; wait for the answer, or end it")
