"""Whom a reply casts while a debate runs: their names, whether two are opposed, and whom the catalog adds.

The planner seats everyone who is named; this module serves rules, orders, briefs and reports.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from itertools import combinations
from typing import Any

from council.engine.conditions import rule
from council.engine.facts import PromptContext, fact
from council.engine.scene import Scene, Turn, Verdict
from council.errors import UsageError
from council.text import join_words, one_line, slug
from council.workflow.model import HUMAN, LONGEST_NAME, NAME, Seat

LEAST_CAST, MOST_CAST = 2, 4
ANY_NUMBER = "auto"
NAME_END = re.compile(r"[:(–—]|\s-\s")  # the end of a name, before its description
MARKS = "*_` "
NO_NAME = re.compile(r"[<>\[\]|\\]")  # what would be a tag, a link or a cell where the name is shown


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
    for item in list_items(turn.answers[split_source(source)[1]]) if turn else ():
        title = " ".join(NO_NAME.sub(" ", item.partition(":")[0]).strip(MARKS).split())
        name = slug(title, LONGEST_NAME)
        found.setdefault(f"the-{name}" if name in seated else name, title)
    return found


def list_items(value: Any) -> Iterator[str]:
    yield from map(str, value if isinstance(value, tuple) else (value,))


def find_cast_problems(scene: Scene, source: str, opposed: str = "", number: str = ANY_NUMBER) -> list[str]:
    """What is wrong with a cast; empty if nothing is."""
    found, (least, most) = read_cast(scene, source), _span(number)
    persons = _read_attribute(find_casting_turn(scene, source), "persons")
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
        named = f" ({join_titles(found.values())})" if any(found) else ""
        wrong.append(f"{len(found)} perspective{'' if len(found) == 1 else 's'} named{named}, {wanted} needed")
    if opposed and len(found) >= LEAST_CAST and not find_opposed_pair(scene, source, opposed):
        wrong.append(
            f"no two of {join_titles(found.values())} are opposed, by the catalog or, "
            f"for one that is not in it, by the reply"
        )
    return wrong


def _span(number: str) -> tuple[int, int]:
    if number == ANY_NUMBER:
        return LEAST_CAST, MOST_CAST
    if number not in map(str, range(LEAST_CAST, MOST_CAST + 1)):
        raise UsageError(f'the number of perspectives must be auto, or {LEAST_CAST} to {MOST_CAST}; not "{number}"')
    return int(number), int(number)


def join_titles(names: Iterable[str]) -> str:
    return one_line(join_words(names), 200)


# ---- whether two are opposed ----


def find_opposed_pair(scene: Scene, source: str, opposed: str) -> tuple[str, str] | None:
    """Two opposed perspectives. For two in the catalog, the catalog decides; otherwise the reply does."""
    turn, found = find_casting_turn(scene, source), read_cast(scene, source)
    catalog: Mapping[str, Mapping[str, Any]] = _read_attribute(turn, "catalog")
    claimed = find_mentioned(str(turn.answers.get(split_source(opposed)[1], "")), found) if turn else set()
    for one, other in combinations(found, 2):
        if {one, other} <= set(catalog):
            opposed_ = other in list_opponents(catalog[one]) or one in list_opponents(catalog[other])
        else:
            opposed_ = {one, other} <= claimed
        if opposed_:
            return found[one], found[other]
    return None


def _read_attribute(turn: Turn | None, name: str) -> Any:
    """An attribute of the casting seat: the `catalog` of perspectives, or the `persons`, who cannot be cast."""
    return turn.seat.attributes.get(name, {}) if turn else {}


def list_opponents(persona: Mapping[str, Any]) -> list[str]:
    """The names that a persona's section lists under Opposes."""
    return [name for part in str(persona.get("opposes", "")).split(",") if (name := slug(part))]


def find_mentioned(text: str, titles: Mapping[str, str]) -> set[str]:
    """The names whose titles occur in the text, other than as a part of a longer title."""
    rest, mentioned = f"-{slug(text, len(text))}-", set()
    slugs = [(f"-{slug(title, len(title))}-", name) for name, title in titles.items()]
    for words, name in sorted(slugs, key=lambda pair: -len(pair[0])):
        if words != "--" and words in rest:
            rest = rest.replace(words, "--")
            mentioned.add(name)
    return mentioned


def find_opposite(scene: Scene, source: str, opposed: str, number: str = ANY_NUMBER) -> tuple[Seat, str] | None:
    """Whom council seats besides, and opposite whom, if no two who were cast are opposed and there is room: the first
    perspective that the catalog opposes to one of them. Reports call both by their titles."""
    turn, found = find_casting_turn(scene, source), read_cast(scene, source)
    if turn is None or len(found) >= _span(number)[1] or find_opposed_pair(scene, source, opposed):
        return None
    catalog: Mapping[str, Mapping[str, Any]] = _read_attribute(turn, "catalog")
    for name, title in found.items():
        for other in list_opponents(catalog.get(name, {})):
            if other in catalog:
                attributes = {**catalog[other], "title": _catalog_title(other, catalog[other]), "about": ""}
                return Seat(other, turn.step, attributes), title
    return None


@fact
def catalog(context: PromptContext) -> list[dict[str, Any]]:
    """For a seat that casts others: the available perspectives, each with `title`, `focus`, `accepts` and `opposes`."""
    return list_catalog(context.due.seat)


def list_catalog(seat: Seat) -> list[dict[str, Any]]:
    """The perspectives that the seat may cast, each with the title that identifies its section."""
    known: Mapping[str, Mapping[str, Any]] = seat.attributes.get("catalog", {})

    return [
        {
            "title": _catalog_title(name, one),
            "focus": str(one.get("focus", "")),
            "accepts": str(one.get("accepts", "")),
            "opposes": [_catalog_title(other, known.get(other, {})) for other in list_opponents(one)],
        }
        for name, one in known.items()
    ]


def _catalog_title(name: str, persona: Mapping[str, Any]) -> str:
    own = str(persona.get("title", ""))
    return own if slug(own) == name else name.replace("-", " ").title()


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
    return Verdict(True, f"cast: {join_titles(found.values())}{against}", tally={"cast": list(found)})
