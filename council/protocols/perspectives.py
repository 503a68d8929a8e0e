"""The perspectives that a reply casts while a debate runs: whether two are opposed, and who was muted.

The planner seats everyone who is named; this module serves rules, orders, briefs and reports.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import replace
from itertools import combinations
from typing import Any

from council.engine.conditions import rule
from council.engine.contributions import Addition, Record, addition, remark
from council.engine.facts import PromptContext, fact
from council.engine.orders import Batches, order
from council.engine.planner import ENDED_BY_CAP
from council.engine.rules import measure_repetition
from council.engine.scene import Scene, Turn, Verdict
from council.errors import UsageError
from council.protocols.consensus import SAME_SHARE
from council.text import join_words, one_line, slug
from council.workflow import declare
from council.workflow.model import HUMAN, LONGEST_NAME, NAME, Cast, Ref, Seat, Workflow

LEAST_CAST, MOST_CAST = 2, 4
ANY_NUMBER = "auto"
UNMUTED = "unmuted"  # the order that leaves out muted seats
NAME_END = re.compile(r"[:(–—]|\s-\s")  # the end of a name, before its description
MARKS = "*_` "
CONFIDENCE = declare.answer("confidence", "high, medium or low; lowered if the perspectives never settled")
LOW = "low"


def split_source(source: str) -> tuple[str, str]:
    """`analyze.perspectives`: a step, and one of its answers."""
    step, dot, name = str(source).partition(".")
    if not (step and dot and name):
        raise UsageError(f'"{source}" must be a step and one of its answers, as in analyze.perspectives')
    return step, name


# ---- who was cast ----


def find_casting_turn(scene: Scene, source: str) -> Turn | None:
    """The newest turn with this answer. An absence changes nothing."""
    step, name = split_source(source)
    return next((turn for turn in reversed(scene.named(step)) if name in turn.answers), None)


def read_cast(scene: Scene, source: str) -> dict[str, str]:
    """The seats that the newest answer casts, in order: each seat's name with its title."""
    turn = find_casting_turn(scene, source)
    seated = {*scene.groups, *(seat.name for group in scene.groups.values() for seat in group), HUMAN}
    found: dict[str, str] = {}
    for item in _items(turn.answers[split_source(source)[1]]) if turn else ():
        title = item.partition(":")[0].strip(MARKS)
        name = slug(title, LONGEST_NAME)
        found.setdefault(f"the-{name}" if name in seated else name, title)
    return found


def _items(value: Any) -> Iterator[str]:
    yield from map(str, value if isinstance(value, tuple) else (value,))


def find_cast_problems(scene: Scene, source: str, opposed: str = "", number: str = ANY_NUMBER) -> list[str]:
    """What is wrong with a cast; empty if nothing is."""
    found, (least, most) = read_cast(scene, source), _span(number)
    persons = _casting_attribute(find_casting_turn(scene, source), "persons")
    wrong = [
        f"“{one_line(title, 60)}” is not a valid name: it must begin with a letter and have at most {LONGEST_NAME} "
        "characters"
        for name, title in found.items()
        if not NAME.fullmatch(name) or len(slug(title, LONGEST_NAME + 1)) > LONGEST_NAME
    ]
    wrong += [
        f"“{title}” is a person of this council, not a perspective"
        for title in found.values()
        if slug(title) in persons
    ]
    if not least <= len(found) <= most:
        wanted = str(least) if least == most else f"{least} to {most}"
        named = f" ({_join_titles(found.values())})" if any(found) else ""
        wrong.append(f"{len(found)} perspective{'' if len(found) == 1 else 's'} named{named}, {wanted} needed")
    if opposed and len(found) >= LEAST_CAST and not find_opposed_pair(scene, source, opposed):
        wrong.append(
            f"no two of {_join_titles(found.values())} are opposed, by the catalog or, "
            f"for one that is not in it, by the reply"
        )
    return wrong


def _span(number: str) -> tuple[int, int]:
    if number == ANY_NUMBER:
        return LEAST_CAST, MOST_CAST
    if number not in map(str, range(LEAST_CAST, MOST_CAST + 1)):
        raise UsageError(f'the number of perspectives must be auto, or {LEAST_CAST} to {MOST_CAST}; not "{number}"')
    return int(number), int(number)


def _join_titles(names: Iterable[str]) -> str:
    return one_line(join_words(names), 200)


# ---- whether two are opposed ----


def find_opposed_pair(scene: Scene, source: str, opposed: str) -> tuple[str, str] | None:
    """Two opposed perspectives. For two in the catalog, the catalog decides; otherwise the reply does."""
    turn, found = find_casting_turn(scene, source), read_cast(scene, source)
    catalog: Mapping[str, Mapping[str, Any]] = _casting_attribute(turn, "catalog")
    claimed = _find_mentioned(str(turn.answers.get(split_source(opposed)[1], "")), found) if turn else set()
    for one, other in combinations(found, 2):
        if {one, other} <= set(catalog):
            opposed_ = other in list_opponents(catalog[one]) or one in list_opponents(catalog[other])
        else:
            opposed_ = {one, other} <= claimed
        if opposed_:
            return found[one], found[other]
    return None


def _casting_attribute(turn: Turn | None, name: str) -> Any:
    """An attribute of the casting seat: the `catalog` of perspectives, or the `persons`, who cannot be cast."""
    return turn.seat.attributes.get(name, {}) if turn else {}


def list_opponents(persona: Mapping[str, Any]) -> list[str]:
    """The names that a persona's section lists under Opposes."""
    return [name for part in str(persona.get("opposes", "")).split(",") if (name := slug(part))]


def _find_mentioned(text: str, titles: Mapping[str, str]) -> set[str]:
    """The names whose titles occur in the text, other than as a part of a longer title."""
    rest, mentioned = f"-{slug(text, len(text))}-", set()
    slugs = [(f"-{slug(title, len(title))}-", name) for name, title in titles.items()]
    for words, name in sorted(slugs, key=lambda pair: -len(pair[0])):
        if words != "--" and words in rest:
            rest = rest.replace(words, "--")
            mentioned.add(name)
    return mentioned


# ---- who was muted ----


def still_heard(seats: Iterable[Seat], scene: Scene, by: str) -> tuple[Seat, ...]:
    """The seats that are not muted. A mute is permanent, but does not count if fewer than two seats would remain."""
    left = list(seats)
    for item in list_mutes(scene, by):
        seat = find_named_seat(item, left)
        if seat is not None and len(left) > LEAST_CAST:
            left.remove(seat)
    return tuple(left)


@order(sources=("by",))
def unmuted(seats: tuple[Seat, ...], scene: Scene, *, by: Any, then: Any = "parallel") -> Batches:
    """In the order `then`, without the seats that the answer `by` has muted so far. At least two seats remain."""
    order.check(Ref(str(then)))
    found: Batches = order.call(Ref(str(then)), still_heard(seats, scene, by), scene)
    return found


def list_mutes(scene: Scene, by: str) -> Iterator[str]:
    step, name = split_source(by)
    for turn in scene.named(step):
        yield from _items(turn.answers.get(name, ()))


def find_named_seat(item: str, seats: Iterable[Seat]) -> Seat | None:
    """The seat whose name an item begins with, as in `Taste: off the topic` or `**Taste** (again)`."""
    name = slug(NAME_END.split(item.strip(MARKS), maxsplit=1)[0], LONGEST_NAME)
    return next((seat for seat in seats if name in (seat.name, slug(seat.title, LONGEST_NAME))), None)


# ---- for briefs and reports ----


def list_cast(scene: Scene, workflow: Workflow) -> list[dict[str, Any]]:
    """Everyone cast so far, by title, and whether they are muted."""
    casts = [cast for _, step in workflow.steps() for cast in step.seats if isinstance(cast, Cast)]
    named: dict[str, str] = {}
    for source in dict.fromkeys(".".join(cast.source) for cast in casts):
        named |= read_cast(scene, source)
    seats = [Seat(name, "", {"title": title}) for name, title in named.items()]
    loud = set(named)
    for by in _mutes(workflow):
        loud &= {seat.name for seat in still_heard(seats, scene, by)}
    return [{"title": seat.title, "muted": seat.name not in loud} for seat in seats]


@fact
def cast_(context: PromptContext) -> list[dict[str, Any]]:
    """Everyone cast so far, each with `title` and `muted`."""
    return list_cast(context.scene, context.workflow)


@fact
def unmet(context: PromptContext) -> list[str]:
    """In the next round of a phase with `cast`: what was wrong with the previous round's cast."""
    return context.noted("unmet")


@fact
def catalog(context: PromptContext) -> list[dict[str, Any]]:
    """For a seat that casts others: the available perspectives, each with `title`, `focus`, `accepts` and `opposes`."""
    return list_catalog(context.due.seat)


def list_catalog(seat: Seat) -> list[dict[str, Any]]:
    """The perspectives that the seat may cast, each with the title that identifies its section."""
    known: Mapping[str, Mapping[str, Any]] = seat.attributes.get("catalog", {})

    def title(name: str) -> str:
        own = str(known.get(name, {}).get("title", ""))
        return own if slug(own) == name else name.replace("-", " ").title()

    return [
        {
            "title": title(name),
            "focus": str(one.get("focus", "")),
            "accepts": str(one.get("accepts", "")),
            "opposes": [title(other) for other in list_opponents(one)],
        }
        for name, one in known.items()
    ]


def _mutes(workflow: Workflow) -> list[str]:
    """The answers that can mute a seat."""
    orders = (step.order for _, step in workflow.steps() if step.order.name == UNMUTED)
    return list(dict.fromkeys(str(order.args["by"]) for order in orders))


@remark
def muted(turn: Turn, record: Record) -> Iterator[str]:
    """The effect of the mutes in a turn."""
    for by in _mutes(record.workflow):
        step, name = split_source(by)
        if turn.step == step and turn.answers.get(name):
            yield from _muted_by(turn, record.plan.scene, by)


@remark
def said_again(turn: Turn, record: Record) -> Iterator[str]:
    """Whether a perspective repeats its previous round."""
    scene = record.plan.scene
    share = round(measure_repetition(turn, scene) or 0.0, 2) if is_cast(turn.seat, scene) else 0.0
    if share > SAME_SHARE:
        yield f"{share * 100:.0f} % of it repeats its own previous turn"


@addition
def confidence(record: Record) -> Addition | None:
    """The confidence and the reason, if the program lowers it; None if it remains as written."""
    why = explain_low_confidence(record.plan.scene, ENDED_BY_CAP)
    return Addition("Confidence", f"{LOW} *({why})*") if why else None


def _muted_by(turn: Turn, scene: Scene, by: str) -> Iterator[str]:
    place = [one.id for one in scene.turns].index(turn.id)
    seats = list({one.seat.name: one.seat for one in scene.turns[:place] if is_cast(one.seat, scene)}.values())
    before = still_heard(seats, replace(scene, turns=scene.turns[:place]), by)
    after = still_heard(seats, replace(scene, turns=scene.turns[: place + 1]), by)
    if gone := [seat.title for seat in before if seat not in after]:
        yield f"muted from here on: {_join_titles(gone)}"
    for item in _items(turn.answers[split_source(by)[1]]):
        seat = find_named_seat(item, seats)
        if seat is None:
            yield f"there is no seat “{one_line(item, 60)}” to mute"
        elif seat in after:
            yield f"{seat.title} is not muted: at least two must remain"


def is_cast(seat: Seat, scene: Scene) -> bool:
    """Whether a seat was cast while the debate ran: it is in no group of the workflow, of nobody, and not a person."""
    seated = {one.name for group in scene.groups.values() for one in group}
    return not seat.of and seat.name not in {*seated, HUMAN}


def ended_unsettled(scene: Scene, cap: str) -> bool:
    """Whether the perspectives debated until their last round, which has the outcome `cap`."""
    phases = [turn.phase for turn in scene.turns if is_cast(turn.seat, scene)]
    return bool(phases) and scene.outcomes.get(phases[-1]) == cap


def were_too_few(scene: Scene) -> bool:
    """Whether several perspectives were to speak in their last round, and fewer than two were heard."""
    spoke = [turn for turn in scene.turns if is_cast(turn.seat, scene)]
    last = [turn for turn in spoke if (turn.phase, turn.round) == (spoke[-1].phase, spoke[-1].round)]
    heard = {turn.seat.name for turn in last if not turn.absent}
    return len({turn.seat.name for turn in last}) >= LEAST_CAST > len(heard)


def explain_low_confidence(scene: Scene, cap: str) -> str:
    """Why the confidence is lowered; empty if it remains as written."""
    written = find_newest(scene, CONFIDENCE)
    if written == LOW or not any(scene.rounds_that_ask(CONFIDENCE)) or not ended_unsettled(scene, cap):
        return ""
    instead = f"; “{written}” was written" if written else ""
    return f"set by council: the debate reached its last round unsettled{instead}"


def find_newest(scene: Scene, name: str) -> Any:
    """The newest readable answer of that name; None if there is none."""
    return next((turn.answers[name] for turn in reversed(scene.turns) if name in turn.answers), None)


@rule(sources=("of", "opposed"))
def cast(scene: Scene, of: Any, *, opposed: Any = "", number: Any = "") -> Verdict:
    """The answer `of` casts two to four perspectives, or as many as the option `number` says.

    With `opposed`, two of them must be opposed: for two in the catalog, the catalog decides; otherwise, the answer
    `opposed` of the same reply must name both."""
    if number and number not in scene.options:
        raise UsageError(f'the rule "cast" asks for the option "{number}", which the workflow does not have')
    wrong = find_cast_problems(scene, of, opposed, str(scene.options[number]) if number else ANY_NUMBER)
    found = read_cast(scene, of)
    if wrong:
        return Verdict(False, "; ".join(wrong), tally={"unmet": wrong})
    both = find_opposed_pair(scene, of, opposed) if opposed else None
    against = f", {both[0]} against {both[1]}" if both else ""
    return Verdict(True, f"cast: {_join_titles(found.values())}{against}", tally={"cast": list(found)})
