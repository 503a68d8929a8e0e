"""What a person is asked: the tension, who holds what, the options, what has to be written. Pure.

Every word comes from the record: from a moderator, a member, the program's own rules or the workflow's prompt. One
question serves the terminal, `council answer`, the page and JSON.
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import asdict, dataclass, field, replace
from typing import Any

from council.engine.contributions import Exhibit, exhibit
from council.engine.planner import Due
from council.engine.scene import GIST, Turn
from council.prompts import brief as briefs
from council.prompts import task as tasks
from council.protocols.consensus import (
    ADOPT,
    DECISION,
    OPTION,
    RECOMMENDED,
    TENSION,
    find_offered_options,
    read_letter,
    split_options,
)
from council.protocols.perspectives import ASK
from council.protocols.stances import BLOCKING, DISAGREE, SCORE, STANCE
from council.record.session import Session
from council.replies import entry, parse
from council.speakers import registry
from council.text import FENCE, fold, one_line
from council.workflow import limits
from council.workflow.model import Kind, Reply

CHECKPOINT, APPROVAL, APPEAL, TEXT = KINDS = ("checkpoint", "approval", "appeal", "text")
CONTINUE = "continue"  # the option that changes nothing: what happens where nobody is asked
APPROVE = re.compile(r"approv", re.I)
REPLY = "reply"  # the one field of a turn that is answered in free words
LETTERS = "ABCDEFGHIJKLMNOPQRSTUVWXYZ"
LONGEST_TENSION, LONGEST_POSITION = 1_200, 300
# `- Grant: 0 to 3 rounds.`, with the indented lines that continue it.
EXPLAINED = re.compile(r"^[-*] [\"“]?(?P<name>[\w -]+?)[\"”]?:\s+(?P<text>.*(?:\n[ \t]+\S.*)*)\n?", re.M)
QUOTED_OPTION = re.compile(r"\"([\w -]+)\" ([^\"]+?[.;])(?=\s*\"|\s*$|\s+[A-Z])")
SENTENCE_END = re.compile(r"(?<=[.!?])[\"”’)]?\s+(?=\S)")


@dataclass(frozen=True)
class Position:
    """What one seat holds, in its own words, and the turn that says so."""

    seat: str
    label: str
    text: str
    turn: str
    stance: str = ""


@dataclass(frozen=True)
class Option:
    """What a person may choose by its letter. `answers` is what the choice stores; other fields may be asked for."""

    letter: str
    label: str
    text: str
    answers: Mapping[str, str]
    recommended: bool = False


@dataclass(frozen=True)
class Field:
    """An answer that the turn asks for: `hint` says what it may be, `about` what the prompt says of it. `only_with` are
    the options that it goes with; empty if it goes with all."""

    name: str
    type: str
    choices: tuple[str, ...] = ()
    required: bool = False
    hint: str = ""
    about: str = ""
    only_with: tuple[str, ...] = ()


@dataclass(frozen=True)
class Question:
    """`deadline` is how many seconds a waiting process leaves for the answer; None for no limit."""

    session: str
    turn: str
    kind: str
    title: str
    tension: str
    task: str
    positions: tuple[Position, ...]
    options: tuple[Option, ...]
    fields: tuple[Field, ...]
    artifacts: tuple[Exhibit, ...] = ()
    recommendation: str = ""
    deadline: float | None = None
    reply: Reply = field(default=(), repr=False)

    @property
    def recommended(self) -> Option | None:
        return next((option for option in self.options if option.recommended), None)


def as_json(question: Question) -> dict[str, Any]:
    """The question as plain data: the same wherever it is published."""
    return {name: value for name, value in asdict(replace(question, reply=())).items() if name != "reply"}


def build(session: Session, due: Due, rendered: tuple[str, str] | None = None) -> Question:
    """The question of a person's due turn. `rendered` are the two parts of its brief, if they are at hand."""
    shared, own = rendered or briefs.render(session, due)[:2]
    reply = due.step.reply if entry.can_ask(due.step.reply) else ()
    meanings, task = split_meanings(tasks.task(session, due, shared, own), reply)
    judge = find_judge(due)
    kind, options = find_options(due, reply, judge, meanings)
    limit = limits.read_patience(session.workflow.options, due.phase)
    return Question(
        session=session.id, turn=due.id, kind=kind, title=tasks.heading(session, due),
        tension=find_tension(session, due, judge), task=task, positions=tuple(find_positions(due)),
        options=options, fields=tuple(find_fields(reply, meanings)),
        artifacts=tuple(find_artifacts(session, due)) if kind == APPROVAL else (),
        recommendation=find_recommendation(due), deadline=None if limit in (None, math.inf) else limit, reply=reply,
    )  # fmt: skip


# ---- the tension ----


def find_judge(due: Due) -> Turn | None:
    """The newest turn of a seat that leads or judges, rather than debates: a moderator, a clerk, a gate reviewer."""
    table = _debaters(due)
    heard = (turn for turn in reversed(due.scene.turns) if not turn.absent and not turn.seat.is_person)
    judges = (turn for turn in heard if turn.seat.name not in table and not registry.machine_of(turn.seat))
    return next(judges, None)


def find_tension(session: Session, due: Due, judge: Turn | None) -> str:
    """What is open, in the words of the seat that leads the debate; else the strongest objection; else how the
    last phase ended."""
    if judge:
        said = [judge.answers.get(name) for name in (TENSION, ASK, GIST)]
        text = next((str(text) for text in said if text), "") or quote(judge.prose)
        if text:
            return f"{judge.seat.label}: {_plain(text, LONGEST_TENSION)}"
    against = [turn for turn, stance in due.scene.last_words(STANCE).values() if stance == DISAGREE]
    for turn in sorted(against, key=lambda turn: not turn.answers.get(BLOCKING)):
        return f"{turn.seat.label} disagrees: {describe_objection(turn)}"
    return tasks.describe_ending(session, due)


def describe_objection(turn: Turn) -> str:
    """What blocks for this seat, else its gist, else its first words."""
    return "; ".join(_plain(item) for item in turn.answers.get(BLOCKING) or ()) or summarize(turn)


def summarize(turn: Turn) -> str:
    """One or two sentences of a turn, in its own words."""
    if turn.absent:
        return f"(absent: {one_line(turn.absent, LONGEST_POSITION)})"
    return _plain(str(turn.answers.get(GIST) or "") or quote(turn.prose or turn.body))


def quote(text: str, sentences: int = 2) -> str:
    """The first sentences of a text, without its headings and its code."""
    lines = (line for line in _without_code(text) if line.strip() and not line.lstrip().startswith("#"))
    flat = " ".join(" ".join(lines).split())
    return " ".join(SENTENCE_END.split(flat, sentences)[:sentences])


def _without_code(text: str) -> list[str]:
    """The lines outside of fences, and without the name of a file before a fence."""
    kept, fence = list[str](), ""
    for line in text.splitlines():
        found = FENCE.match(line)
        if fence:
            closes = found and found[1].startswith(fence) and not found[2].strip()
            fence = "" if closes else fence
        elif found:
            fence = found[1]
            if kept and len(kept[-1].split()) == 1:
                kept.pop()
        else:
            kept.append(line)
    return kept


def _plain(text: str, most: int = LONGEST_POSITION) -> str:
    lines = (one_line(tasks.readable(line), most) for line in text.strip().splitlines())
    joined = "\n".join(filter(None, lines))
    return joined if len(joined) <= most else joined[: most - 1].rstrip() + "…"


# ---- the positions ----


def _debaters(due: Due) -> set[str]:
    """The seats that speak beside others: all but those who lead, judge or write for the rest."""
    beside = {turn.seat.name for turns in due.scene.moments() if len(turns) > 1 for turn in turns}
    members = next(iter(due.scene.groups.values()))
    return beside | {seat.name for seat in members if len(members) > 1}


def find_positions(due: Due) -> Iterator[Position]:
    """Each debater's newest turn with a position in it. Labels that hide who said what are kept."""
    labels = {seen.turn.seat.name: seen.label for seen in due.sees if seen.label}
    table, newest = _debaters(due), dict[str, Turn]()
    for turn in due.scene.turns:
        if turn.seat.name in table and not turn.seat.is_person and not registry.machine_of(turn.seat):
            before = newest.get(turn.seat.name)
            if before is None or _takes_position(turn) or not _takes_position(before):
                newest[turn.seat.name] = turn
    for name, turn in newest.items():
        if not labels or name in labels:
            label = labels.get(name) or turn.seat.label
            yield Position(name if label == turn.seat.label else "", label, summarize(turn), turn.id, stance_of(turn))


def _takes_position(turn: Turn) -> bool:
    """Whether it argues: a vote or a check says only yes or no, and then a word of why."""
    return not turn.absent and (not turn.asked or bool({GIST, STANCE, SCORE} & set(turn.asked)))


def stance_of(turn: Turn) -> str:
    """`disagree`, or `satisfaction 60`; empty if the turn was asked for neither."""
    if STANCE in turn.answers:
        return str(turn.answers[STANCE])
    return f"satisfaction {turn.answers[SCORE]:g}" if SCORE in turn.answers else ""


# ---- the options ----


def find_options(
    due: Due, reply: Reply, judge: Turn | None, meanings: Mapping[str, str]
) -> tuple[str, tuple[Option, ...]]:
    """The kind of the question, and its options. Nothing is recommended that approves: silence is no yes."""
    choice = next(((name, kind) for name, kind in reply if kind.type == "choice"), None)
    if choice is None:
        inline = split_options(judge.prose) if judge and not reply else {}
        chosen = _recommended_letter(judge.prose, inline) if judge and inline else ""
        found = tuple(
            Option(letter, _label(text), text, {REPLY: f"{letter}) {text}"}, letter == chosen)
            for letter, text in inline.items()
        )
        return (APPEAL if found else TEXT), found
    name, kind = choice
    asked, offered = find_offered_options(due.scene)
    if name == DECISION and ADOPT in kind.options and OPTION in dict(reply) and offered:
        letter = read_letter(str(asked.answers.get(RECOMMENDED) or ""))[0] if asked else ""
        return APPEAL, (*_adopting(reply, offered, letter), *_others(kind, offered, meanings))
    approval = any(APPROVE.match(word) for word in (name, *kind.options))
    return (APPROVAL if approval else CHECKPOINT), tuple(_menu(name, kind, meanings, not approval))


def _adopting(reply: Reply, offered: Mapping[str, str], recommended: str) -> Iterator[Option]:
    """An option of an appeal settles the question: numbers that only matter if the debate goes on get their lowest."""
    least = {name: f"{kind.low:g}" for name, kind in reply if kind.type == "range"}
    for letter, text in offered.items():
        answers = {DECISION: ADOPT, OPTION: letter, **least}
        yield Option(letter, _label(text), text, answers, letter == recommended)


def _others(kind: Kind, offered: Mapping[str, str], meanings: Mapping[str, str]) -> Iterator[Option]:
    """What else may be decided: each gets the next free letter."""
    free = (letter for letter in LETTERS if letter > max(offered))
    for letter, option in zip(free, (option for option in kind.options if option != ADOPT), strict=False):
        yield Option(letter, option, meanings.get(option, ""), {DECISION: option, OPTION: entry.NOTHING})


def _menu(name: str, kind: Kind, meanings: Mapping[str, str], recommends: bool) -> Iterator[Option]:
    shortcuts = entry.find_shortcuts(kind.options)
    initials = [shortcuts[option][0].upper() for option in kind.options]
    letters = initials if len(set(initials)) == len(initials) else list(LETTERS)
    for letter, option in zip(letters, kind.options, strict=False):
        yield Option(letter, option, meanings.get(option, ""), {name: option}, recommends and option == CONTINUE)


def _label(text: str) -> str:
    """The name of an option: its words up to the first stop or colon."""
    return one_line(re.split(r"(?<=\w)[:.;](?:\s|$)", tasks.readable(text), maxsplit=1)[0], 60)


def _recommended_letter(prose: str, offered: Mapping[str, str]) -> str:
    """The letter behind the word "Recommendation" in a ruling; empty if it names none that was offered."""
    named = re.search(r"^\W*recommend\w*\W+(.*)$", prose, re.I | re.M)
    letter = read_letter(named[1])[0] if named else ""
    return letter if letter in offered else ""


def find_recommendation(due: Due) -> str:
    """What the seat that offered the options recommends, and why."""
    asked, _ = find_offered_options(due.scene) if OPTION in dict(due.step.reply) else (None, {})
    return _plain(str(asked.answers.get(RECOMMENDED) or "")) if asked else ""


def split_meanings(task: str, reply: Reply) -> tuple[dict[str, str], str]:
    """What the prompt says of each option and of each answer, as in `- end: no more rounds`, and the task without it.

    An item about a choice may explain its options: `- Decision: "adopt" ends the debate.`
    """
    task = re.sub(r"\A.*^Now:\s+(\w)", lambda found: found[1].upper(), task, count=1, flags=re.S | re.M)
    names = {fold(word): word for name, kind in reply for word in (parse.format_heading(name), *kind.options)}
    meanings = dict[str, str]()

    def take(found: re.Match[str]) -> str:
        if (word := names.get(fold(found["name"]))) is None:
            return found[0]
        meanings[word] = " ".join(found["text"].split())
        for option, about in QUOTED_OPTION.findall(meanings[word]):
            meanings.setdefault(names.get(fold(option), option), about)
        return ""

    text = EXPLAINED.sub(take, task)
    return meanings, re.sub(r"\n{3,}", "\n\n", text).strip()


# ---- what has to be written, and what is approved ----


def find_fields(reply: Reply, meanings: Mapping[str, str]) -> Iterator[Field]:
    """Every answer that the turn asks for; one field for a reply in free words."""
    if not reply:
        yield Field(REPLY, "text", required=True, hint="your own words")
    for place, (name, kind) in enumerate(reply):
        about = meanings.get(parse.format_heading(name), "")
        with_ = tuple(_only_with(name, kind, reply[:place]))
        yield Field(name, kind.type, kind.options, entry.is_required(kind), entry.describe_allowed(kind), about, with_)


def _only_with(name: str, kind: Kind, before: Reply) -> Iterable[str]:
    """The options that an answer belongs to, as `guidance` does to `guide`."""
    for other, choice in before:
        pair = ((other, choice),)
        fitting = [option for option in choice.options if entry.applies(name, kind, pair, {other: option})]
        if fitting and len(fitting) < len(choice.options):
            yield from fitting


def find_artifacts(session: Session, due: Due) -> Iterator[Exhibit]:
    """What is approved: each room shows what it knows of it."""
    context = briefs.prompt_context(session, due)
    for show in exhibit.known.values():
        yield from show(context)
