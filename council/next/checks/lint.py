"""Checks a workflow's file from end to end: its form, all that it names, what can never happen, and every template.

A mistake is something that would stop a debate or mislead its members. The rest are remarks about what is allowed and
probably not meant. Each names its line where it can be found.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from itertools import islice, pairwise
from pathlib import Path

from council.next import rooms
from council.next.checks import imagine, names
from council.next.checks.reachability import find_unreachable
from council.next.config import personas, places, specialists
from council.next.config.personas import Personas
from council.next.config.settings import Settings
from council.next.errors import UsageError
from council.next.prompts.brief import choose, freeze
from council.next.prompts.facts import facts
from council.next.speakers.base import speakers
from council.next.text import did_you_mean
from council.next.workflow import loader
from council.next.workflow.model import HUMAN, Workflow

ROUNDS, TURNS = 3, 200  # in which templates are tried: what comes later is nothing new, and a file may name any number
# Options that the program reads by their names, without a rule.
OPTIONS = (
    *("words", "accept", "patchlist", "token_budget", "round_timeout", "total_timeout", "checkpoint_timeout"),
    *("specialists", "analysis", "document"),
)
# The rooms that workflows of the kit need. Without its room, such a workflow is no mistake.
NEEDED = {"patchlist": "reviews", "planning-3": "planning"}
NEEDED |= dict.fromkeys(("code", "evolve", "redblue", "reflexion", "tree"), "candidates")


@dataclass(frozen=True)
class Problem:
    text: str
    line: int = 0  # 0 where it is not known
    is_mistake: bool = True


def lint(source: Path | str, settings: Settings) -> list[Problem]:
    """What is wrong with a workflow: a file, or its text."""
    path = source if isinstance(source, Path) else Path("workflow")
    text = places.read(source) if isinstance(source, Path) else source
    room = NEEDED.get(path.stem.lower(), "") if path.is_relative_to(places.KIT) else ""
    if room and not rooms.has(room):
        return [Problem(f"it needs the room {room}, which is not installed", is_mistake=False)]
    try:
        workflow = loader.load(text, path.name)
    except UsageError as wrong:
        said = str(wrong).removeprefix(f"{path.name}: ")
        return [Problem(said, 0 if "line " in said else find_line(text, said))]
    mistakes = names.find_problems(workflow)
    known, templates = personas.load(settings.overlays), dict[str, str]()
    try:
        if "specialists" in workflow.options:  # its members are taken from a list
            listed = specialists.load(str(workflow.options["specialists"]), settings.overlays)
            known = listed.personas(known)
        templates = freeze(workflow, settings.overlays)
    except UsageError as wrong:
        mistakes.append(str(wrong).removeprefix(f"{workflow.name}, "))
    mistakes += find_unknown(workflow, settings, known)
    if not mistakes:  # otherwise many briefs cannot be made
        mistakes += try_templates(workflow.with_personas(known), templates)
    remarks = [*find_unreachable(workflow), *find_unused(workflow, templates), *find_strangers(workflow, known)]
    found = {**dict.fromkeys(remarks, False), **dict.fromkeys(mistakes, True)}
    problems = [Problem(said, find_line(text, said), is_mistake) for said, is_mistake in found.items()]
    return sorted(problems, key=lambda one: (one.line, not one.is_mistake))


def find_unknown(workflow: Workflow, settings: Settings, known: Personas) -> Iterator[str]:
    """Tiers, personas and speakers that are not there; and what speakers say of a workflow that seats them."""
    tiers = {f"step {step.name}": step.tier for step in workflow.steps()}
    for seat in workflow.all_seats().values():
        tiers[f"seats: {seat.name}"] = seat.get("tier")
        if (name := seat.get("persona")) and name not in known:
            yield f'seats: {seat.name}: there is no persona "{name}"; {did_you_mean(name, known)}'
        if (name := seat.get("speaker")) and name != HUMAN and not speakers.knows(name):
            able = [one.name for one in speakers.types()]
            yield f'seats: {seat.name}: there is no speaker "{name}"; {did_you_mean(name, able)}'
    for place, tier in tiers.items():
        if tier and tier not in settings.tiers:
            yield f'{place}: Config.md has no tier "{tier}"; {did_you_mean(tier, settings.tiers)}'
    for name in dict.fromkeys(seat.get("speaker") for seat in workflow.all_seats().values()):
        if name and name != HUMAN and speakers.knows(name):
            yield from speakers[name](settings).problems(workflow)


# ---- templates ----


def try_templates(workflow: Workflow, templates: Mapping[str, str]) -> list[str]:
    """Render every brief of a debate that nobody held. What is wrong with one template is said once."""
    found = [*find_unknown_facts(workflow, templates)]
    for style in (imagine.PLAIN, imagine.USUAL) if not found else ():
        try:
            for _ in islice(imagine.hold(workflow, templates, style, ROUNDS, fixed=False), TURNS):
                pass
        except UsageError as wrong:
            found.append(str(wrong).rpartition(" (for ")[0] or str(wrong))
    return found


def find_unknown_facts(workflow: Workflow, templates: Mapping[str, str]) -> Iterator[str]:
    """Names that are no fact, and that no template sets. A branch that is not taken would hide them."""
    from jinja2 import nodes

    from council.next.prompts.sandbox import sandbox

    environment = sandbox(frozenset(templates.items()))
    stored = (one for text in templates.values() for one in environment.parse(text).find_all(nodes.Name))
    known = {"cut", *environment.globals, *(one.name for one in stored if one.ctx != "load")}
    for step in workflow.steps():
        root = choose(workflow, step.prompt, templates.get)
        for name in sorted(environment.names(root) - known) if root else ():
            if not facts.knows(name):
                meant = did_you_mean(name, facts)
                yield f'step {step.name}: the template {root}: there is no fact "{name}"; {meant}'


# ---- remarks ----


def find_strangers(workflow: Workflow, known: Personas) -> Iterator[str]:
    for seat in workflow.all_seats().values():
        if not seat.get("persona") and not seat.get("speaker") and not seat.is_person and seat.name not in known:
            near = did_you_mean(seat.name, known)
            yield f'seats: no persona is called "{seat.name}", so its briefs hold no perspective; {near}'


def find_unused(workflow: Workflow, templates: Mapping[str, str]) -> Iterator[str]:
    """Prompts in the body that no step has, and options that no rule, order, view or template reads."""
    prompts = {step.prompt for step in workflow.steps()}
    for name in workflow.tasks:
        if name not in prompts:
            yield f'Prompts: no step has the prompt "{name}"; {did_you_mean(name, prompts)}'
    read = {*OPTIONS, *(end for phase in workflow.phases for end in phase.rounds)}
    arguments = [str(ref.args) for ref in workflow.refs()]
    shown = "\n".join(templates.values())
    for name in workflow.options:
        is_shown = not templates or f'"{name}"' in shown or f"options.{name}" in shown
        if name not in read and not is_shown and not any(has_word(one, name) for one in arguments):
            yield f'options: nothing reads the option "{name}"'


# ---- lines ----


def find_line(text: str, said: str) -> int:
    """The line that a problem is about: below the names of its phase and its step, the first with the word that it
    quotes, or else with a key of its place, the last one first. 0 if nothing is found."""
    lines = [" ".join(line.split()) for line in text.splitlines()]
    lines = ["" if line[:1] == "#" != line[1:2] else line.partition(" #")[0] for line in lines]  # without comments
    place, _, rest = said.partition('"')
    starts = [0]
    for word in (word.strip("():,[]") for word in place.split()):
        numbers = range(starts[-1], len(lines))
        starts += [number for number in numbers if has_word(lines[number], f"name: {word}")][:1]
    keys = [part.split()[-1] for part in place.split(": ")[:-1] if part.split()]
    for wanted in filter(None, (rest.partition('"')[0], *reversed(keys))):
        for start in reversed(starts):  # a step may have it from its phase
            for number in range(start, len(lines)):
                if has_word(lines[number], wanted):
                    return number + 1
    return starts[-1] + 1 if len(starts) > 1 else 0


def has_word(line: str, word: str) -> bool:
    """Whether the line has this word, and not only as a part of longer ones."""
    parts = f" {line} ".split(word)
    ends = ((before or word)[-1] + (after or word)[0] for before, after in pairwise(parts))
    return any(not any(sign.isalnum() or sign in "-_" for sign in both) for both in ends)
