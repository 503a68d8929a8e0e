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
from council.next.text import fold
from council.next.workflow.model import Workflow

COLONS = ":\uff1a\ufe55"  # the usual one, the full-width one and the small one
MOST = 300  # characters before the colon: nobody names members for longer
POLITE = ("hey", "please", "ok", "okay")
PLAIN = {"full", "debate"}  # they mean the usual debate
MODES = ("deliberative", "patchlist")
JUST = ("just", "only")
CLAUSES = {"with": "with_", "plus": "with_", "without": "without", "minus": "without", "of": "only"}
JOINING = ("and", "und", "&", "+")
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
    head, topic = split_head(text)
    if recovery := read_recovery(head, topic):
        return recovery
    if topic is None:
        return None
    words = fold(head.replace("(", " ( ").replace(")", " ) ").replace(",", " , ")).split()
    while words and words[0].strip(",!") in ("", *POLITE):
        words.pop(0)
    if words[:1] and words[0] in JUST:
        names, rounds = names_in(words[1:])
        is_call = any(name in seats for name in names)
        return Call(topic, only=names, rounds=rounds) if is_call else None
    call = read_council(words, seats, workflows)
    is_list = fold(topic[:MOST]).split()[:1] in ([just] for just in JUST)  # as in `Quick council: just ada and bo: …`
    inner = read(topic, seats, workflows) if call and not call.only and is_list else None
    if call and inner:
        return replace(call, topic=inner.topic, only=inner.only, rounds=call.rounds or inner.rounds)
    return replace(call, topic=topic) if call else None


def split_head(text: str) -> tuple[str, str | None]:
    """The words before the first colon, and the text behind it. None if there is no call that short."""
    place = min((at for colon in COLONS if (at := text.find(colon, 0, MOST)) >= 0), default=-1)
    head = text[:place] if place >= 0 else text[:MOST]
    if place < 0 or "\n" in head.strip():
        return head, None
    return head, text[place + 1 :].removeprefix(" ")


def read_recovery(head: str, topic: str | None) -> Call | None:
    """`Council recovery: …` with any words, or `Council recovery session ID` with nothing else."""
    words = fold(head).rstrip(".!").split()
    if words[:2] != ["council", "recovery"]:
        return None
    rest = [word for word in words[2:] if word not in ("of", "session")]
    if topic is not None:
        named = filter(is_session, (word.strip(",.;!?()\"'") for word in fold(topic).split()))
        return None if rest else Call("", recover=next(named, "last"))
    if len(rest) > 1 or not all(word in ("last", "latest") or is_session(word) for word in rest):
        return None
    return Call("", recover=next(filter(is_session, rest), "last"))


def is_session(word: str) -> bool:
    """Whether it is an id as council gives them: 20260202-235539-a1b2c3d4."""
    day, _, rest = word.partition("-")
    time, _, end = rest.partition("-")
    sizes = [len(part) for part in (day, time, end)]
    return sizes == [8, 6, 8] and (day + time).isdecimal() and {*end} <= {*hexdigits}


def read_council(words: list[str], seats: Collection[str], workflows: Collection[str]) -> Call | None:
    """`quick council ( patchlist ) with security`, as words."""
    known = {*workflows, *MODES}
    at = next((place for place, word in enumerate(words[:2]) if word.removeprefix("@") == "council"), -1)
    if at < 0 or not all(is_like(word, known | PLAIN) for word in words[:at]):
        return None
    clauses: dict[str, list[str]] = {"words": [*words[:at], ","]}
    key, within = "words", False
    for word in words[at + 1 :]:
        if word in "()":
            if within == (word == "("):
                return None
            within = not within
        elif within:
            clauses["words"] += [word, ","]
        elif word in (*CLAUSES, *JUST):
            key = CLAUSES.get(word, "only")
            clauses.setdefault(key, []).append(",")
        elif word != "but":
            clauses[key].append(word)
    read_ = {key: names_in(named) for key, named in clauses.items()}
    kinds = [name.removesuffix("-debate") for name in read_["words"][0] if name not in PLAIN]
    nothing_inside = "(" in words and not read_["words"][0]
    is_list_of_others = "only" in read_ and not any(name in seats for name in read_["only"][0])
    if within or nothing_inside or is_list_of_others or not all(is_like(kind, known) for kind in kinds):
        return None
    rounds = next((number for _, number in read_.values() if number), None)
    members = {key: names for key, (names, _) in read_.items() if key != "words"}
    return Call("", words=tuple(kinds), rounds=rounds, **members)  # type: ignore[arg-type]


def names_in(words: list[str]) -> tuple[tuple[str, ...], int | None]:
    """Names separated by commas or `and`, each once; and a number of rounds, if one is among them."""
    parts: list[list[str]] = [[]]
    for word in words:
        if word == "," or word in JOINING:
            parts.append([])
        elif parts[-1] or word not in ("the", "a", "an"):
            parts[-1].append(word)
    rounds = None
    names: dict[str, None] = {}
    for part in filter(None, parts):
        number = part[0] if part[-1] in ("round", "rounds") and len(part) == 2 else ""
        if number.isdecimal() or number in NUMBERS:
            rounds = int(number) if number.isdecimal() else NUMBERS.index(number)
        else:
            names["-".join(part)] = None
    return (*names,), rounds


def is_like(name: str, known: Collection[str]) -> bool:
    return name in known or bool(difflib.get_close_matches(name, known, 1, 0.8))


def refuse_unfinished(text: str, seats: Collection[str], workflows: Collection[str]) -> None:
    """Refuse a call without its colon or its topic: nobody wants it debated as a topic."""
    words = text.strip()
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
