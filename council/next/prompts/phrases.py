"""The sentences that call a council, such as "Council with security: …", and those that say how it goes.

Only the words before the first colon are read. A text that merely looks like a call is a topic, to the last character.
"""

from __future__ import annotations

import difflib
from collections.abc import Collection
from dataclasses import dataclass, replace
from string import hexdigits

from council.next.engine.planner import Note
from council.next.errors import UsageError
from council.next.record import catalog
from council.next.text import did_you_mean, fold, join_words
from council.next.workflow.model import Workflow

COLONS = ":\uff1a\ufe55"  # the usual one, the full-width one and the small one
MOST = 300  # characters before the colon: nobody names members for longer
POLITE = ("hey", "please", "ok", "okay")
PLAIN = ("full", "debate")  # they mean the usual debate
MODES = ("deliberative", "patchlist")
JUST = ("just", "only")
CLAUSES = {"with": "with_", "plus": "with_", "without": "without", "minus": "without"}
CLAUSES |= dict.fromkeys(("of", *JUST), "only")
JOINING = (",", "and", "und", "&", "+")
NUMBERS = ("zero", "one", "two", "three", "four", "five")


@dataclass(frozen=True)
class Call:
    """What was asked for. `words` name a workflow or a mode; names of members are checked elsewhere."""

    topic: str
    words: tuple[str, ...] = ()
    with_: tuple[str, ...] = ()
    without: tuple[str, ...] = ()
    only: tuple[str, ...] = ()
    rounds: int | None = None
    recover: str = ""


def read(text: str, seats: Collection[str], workflows: Collection[str]) -> Call | None:
    """The call that a text begins with. None if it is a topic and nothing else."""
    place = min((at for colon in COLONS if (at := text.find(colon, 0, MOST)) >= 0), default=-1)
    head = text[:place] if place >= 0 else text[:MOST]
    topic = None if place < 0 or "\n" in head.strip() else text[place + 1 :].removeprefix(" ")
    if topic is None or fold(head).split()[:2] == ["council", "recovery"]:
        return read_recovery(head, topic)
    call = read_head(head, seats, workflows)
    if call and not call.only and fold(topic[:MOST]).split()[:1] in ([word] for word in JUST):
        inner = read(topic, seats, workflows)  # "Council: just architect and engineer: …"
        if inner:
            return replace(call, topic=inner.topic, only=inner.only, rounds=call.rounds or inner.rounds)
    return replace(call, topic=topic) if call else None


def read_recovery(head: str, topic: str | None) -> Call | None:
    """`Council recovery: …` with any words, or `Council recovery session ID` with nothing else."""
    words = [word.strip(",.;!?()\"'") for word in fold(head).split()]
    if words[:2] != ["council", "recovery"]:
        return None
    rest = [word for word in words[2:] if word not in ("of", "session")]
    asked = rest if topic is None else fold(topic).split()
    ids = [word for word in (word.strip(",.;!?()\"'") for word in asked) if is_session(word)]
    if topic and len(asked) == 1 and not ids:  # an id that somebody chose, or a part of one
        ids = [word for word in asked if catalog.ID.fullmatch(word)]
    is_short = len(rest) <= 1 and all(word in (*"last", "latest", *ids) for word in rest)
    is_call = is_short if topic is None else not rest
    return Call("", recover=ids[0] if ids else "last") if is_call else None


def is_session(word: str) -> bool:
    """Whether it is an id as council gives them: 20260202-235539-a1b2c3d4."""
    parts = word.split("-")
    return [*map(len, parts)] == [8, 6, 8] and (parts[0] + parts[1]).isdecimal() and {*parts[2]} <= {*hexdigits}


def read_head(head: str, seats: Collection[str], workflows: Collection[str]) -> Call | None:
    """`Quick council (patchlist) with security and writer`, or `just architect and engineer`."""
    pieces = fold(head).replace(")", "(").split("(")
    inside = [piece.replace(",", " ").split() for piece in pieces[1::2]]
    words = " ".join(pieces[::2]).replace(",", " , ").split()
    while words and words[0].strip(",!") in ("", *POLITE):
        words.pop(0)
    at = next((place for place, word in enumerate(words[:2]) if word.removeprefix("@") == "council"), -1)
    if at < 0 and not (words and words[0] in JUST):
        return None
    key = "words" if at >= 0 else "only"
    clauses: dict[str, list[str]] = {"words": [], key: []}
    for word in words[max(at + 1, 1) :]:
        if at >= 0 and word in CLAUSES:
            key = CLAUSES[word]
            clauses.setdefault(key, []).append(",")
        elif word != "but":
            clauses[key].append(word)
    names = {key: names_in(part) for key, part in clauses.items()}
    rounds = next(filter(None, (rounds_in(name) for part in names.values() for name in part)), None)
    found = {key: tuple(name for name in part if rounds_in(name) is None) for key, part in names.items()}
    kinds = [*words[: max(at, 0)], *(word for piece in inside for word in piece), *found.pop("words")]
    kinds = [kind.removesuffix("-debate") for kind in dict.fromkeys(kinds) if kind not in PLAIN]
    is_like = all(difflib.get_close_matches(kind, (*workflows, *MODES), 1, 0.8) for kind in kinds)
    is_list = "only" not in found or any(name in seats for name in found["only"])
    if not (len(pieces) % 2 and all(inside) and is_like and is_list):
        return None
    return Call("", tuple(kinds), rounds=rounds, **found)  # type: ignore[arg-type]  # the clauses are fields


def names_in(words: list[str]) -> list[str]:
    """Names separated by commas or `and`, each once."""
    parts: list[list[str]] = [[]]
    for word in words:
        if word in JOINING:
            parts.append([])
        elif parts[-1] or word not in ("the", "a", "an"):
            parts[-1].append(word)
    return [*dict.fromkeys("-".join(part) for part in parts if part)]


def rounds_in(name: str) -> int | None:
    """The number in `3-rounds`. None if it is another name."""
    number, _, unit = name.partition("-")
    if unit not in ("round", "rounds") or not (number.isdecimal() or number in NUMBERS):
        return None
    return int(number) if number.isdecimal() else NUMBERS.index(number)


def refuse_unfinished(text: str, seats: Collection[str], workflows: Collection[str]) -> None:
    """Refuse a call without its colon or its topic: nobody wants it debated as a topic."""
    words = text.strip()
    begun, colon, _ = fold(words[:MOST]).partition(":")
    inside = " ".join(begun.split()).removeprefix("council (").removesuffix(")")
    if colon and inside and " ".join(begun.split()) == f"council ({inside})":
        raise no_workflow(inside, workflows)
    if any(colon in words[:MOST] for colon in COLONS) or len(words) > MOST:
        return
    whole = read(f"{words}:", seats, workflows) if "\n" not in words else None
    if whole and {*whole.with_, *whole.without, *whole.only} <= {*seats}:
        raise UsageError(f'the topic is missing: write "{words}: …", with your question after the colon')
    folded = [word.strip(",.;!") for word in words.split()]
    for length in (2, 3, 4):
        begun = " ".join(folded[:length])
        call = read(f"{begun}:", seats, workflows)
        if call and (call.words or {*call.with_, *call.without} & {*seats}):
            raise UsageError(f'write a colon between the call and the question, as in "{begun}: …"')


def check(call: Call, workflows: Collection[str]) -> None:
    """Refuse a call of something that there is not, or of two things at once."""
    named = [word for word in call.words if word not in MODES]
    if wrong := next((word for word in named if word not in workflows), ""):
        raise no_workflow(wrong, workflows)
    if len(named) > 1 or len(call.words) - len(named) > 1:
        raise UsageError(f"the topic calls for {join_words(call.words)} at once; choose one")
    check_rounds(call.rounds or 3)


def check_rounds(number: int) -> None:
    if number != 3:
        raise UsageError(
            f"--rounds {number}: 3 alone can be asked for; without it a debate has two rounds, and a third where it is "
            "needed. `council quick` has one"
        )


def no_workflow(word: str, workflows: Collection[str]) -> UsageError:
    meant = did_you_mean(word, (*workflows, *MODES))
    return UsageError(f'there is no workflow or mode "{word}"; {meant}; to debate these words, write "Council: " first')


def progress(note: Note, workflow: Workflow) -> str:
    """A decision of the planner as a line for people who follow the debate. Empty if it says nothing new."""
    phase = workflow.phase(note.phase)
    if phase is None or note.step:
        return ""
    is_round = phase.numbered and not phase.role and workflow.span(phase)[1] == 1
    part = f"Round {phase.number}" if is_round else phase.title or phase.name.replace("-", " ").capitalize()
    if note.kind == "skipped":
        return f"{part} skipped: {note.verdict.reason}. Proceeding to synthesis."
    if note.kind == "entered":
        return f"{part} follows: {note.verdict.reason}."
    if note.kind == "round" and workflow.span(phase)[1] > 1 and not phase.role:
        return f"═══ {part}, round {note.round} complete ═══"
    return f"{part}: {note.ending} ({note.verdict.reason})" if note.kind == "halted" else ""
