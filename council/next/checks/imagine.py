"""A debate that nobody held. Every step that can come speaks, in the fewest rounds or the most, and nothing is written.

`lint` renders all its briefs, so a template fails here and not in a paid round. `cost` measures them. What a reply can
hold is too long to be generated, so replies are short and hold marks: letters that no workflow uses. Their number in a
brief says how often it shows a whole reply, an item in a list, and the topic.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass, replace
from pathlib import Path

from council.next.checks.reachability import settled
from council.next.engine.planner import LIMIT, Due, Plan
from council.next.engine.scene import Recorded, Scene
from council.next.errors import UsageError
from council.next.prompts import brief as briefs
from council.next.prompts.brief import Brief
from council.next.protocols.casting import MOST_CAST
from council.next.protocols.checks import is_writing
from council.next.protocols.ids import Register
from council.next.protocols.voices import count
from council.next.record.session import Session
from council.next.replies.kinds import Choice, Code, Ident, Items, Kind, Number, Signature, Vote
from council.next.replies.write import write_answer
from council.next.speakers.base import speakers
from council.next.workflow.model import Cast, Condition, Phase, Workflow

WHOLE, INSIDE, ITEM, TOPIC = "\ua500\ua501\ua502\ua503"  # a reply; each item inside it; an item anywhere; the topic
WIDE = "\U00010428"  # a letter of four bytes, to try limits that count characters
LONGEST_GIST, LONGEST_PROBLEM = 300, 600  # characters


@dataclass(frozen=True)
class Style:
    """How members write here: `talk` before the answers, `text` as an answer or an item, `long` in a synthesis. Of a
    choice they take the option at this place, as far as there is one."""

    talk: str
    text: str
    long: str
    choice: int = 1


MARKED = Style(WIDE * LONGEST_GIST + WHOLE, ITEM, ITEM)  # a gist ends before the mark
USUAL = Style("word " * 180, "word " * 24, "word " * 70)
PLAIN = Style("Some words.", "some words", "some words", 0)


class Imagined(Session):
    """A session without files: a brief is rendered from it as from any other."""

    def __init__(self, plan: Plan, templates: Mapping[str, str]) -> None:
        self.folder, self.id = Path("imagined"), "imagined"
        self.program = {"templates": dict(templates), "seed": "", "frozen": {}, "attached": {}}
        scene = plan.scene
        vars(self).update(workflow=plan.workflow, topic=scene.topic, attached=scene.attached, plan=plan)


class Straight(Plan):
    """Leaves out what the options rule out, and nothing else. There are `most` rounds, as far as a phase may have so
    many; or, where it is 0, as few as each phase may have."""

    def __init__(self, workflow: Workflow, scene: Scene, most: int, fixed: bool) -> None:
        self.most, self.fixed = most, fixed
        super().__init__(workflow, scene=scene)

    def _holds(self, condition: Condition, step: str = "") -> bool:
        super()._holds(condition, step)
        return settled(condition, self.workflow, self.scene.cap, self.fixed) is not False

    def _ending(self, phase: Phase, least: int) -> str:
        ending = super()._ending(phase, least)
        last = min(self.most, self.scene.cap) if self.most else least
        return "" if self.scene.round < last else ending or LIMIT


@dataclass(frozen=True)
class Call:
    """A turn of a member who reads a brief. `again` is the brief of its second try, if there can be one."""

    due: Due
    body: str
    brief: Brief
    again: Brief | None


def hold(
    workflow: Workflow, templates: Mapping[str, str], style: Style, most: int = 0, fixed: bool = True
) -> Iterator[Call]:
    """The debate, brief by brief. With `fixed` its options are what they are; otherwise they may be anything."""
    scene = Scene(workflow, topic=TOPIC)
    plan = Straight(replace(workflow, halt={}), scene, most, fixed)
    session = Imagined(plan, templates)
    said: dict[str, Recorded] = {}
    while plan.advance(said).due:
        bodies = {due.id: write_reply(due, plan.scene, style) for due in plan.due}
        for due in plan.due:
            name = due.seat.get("speaker")
            is_machine = name and not due.seat.is_person and speakers[name].machine  # type: ignore[attr-defined]
            if due.first or is_machine:  # a second try is rendered beside its first; a machine reads no brief
                continue
            problems = tuple(WIDE * LONGEST_PROBLEM for _ in due.step.reply)
            again = replace(due, first=Recorded(bodies[due.id]), problems=problems)
            second = briefs.render(session, again) if problems else None
            yield Call(due, bodies[due.id], briefs.render(session, due), second)
        said |= {id: Recorded(body) for id, body in bodies.items()}


# ---- what members say ----


def write_reply(due: Due, scene: Scene, style: Style) -> str:
    text = (style.long if scene.workflow.phase("synthesis") is due.phase else style.text).strip()
    parts = []
    for name, kind in due.step.reply.items():
        with suppress(UsageError):  # a kind of an optional room, whose words nobody knows here
            parts.append(write_answer(name, kind, answer(name, kind, due, scene, text, style.choice)))
    inside = INSIDE * "".join(parts).count(ITEM)
    return "\n\n".join([style.talk.strip() + inside, *parts])


def answer(name: str, kind: Kind, due: Due, scene: Scene, text: str, choice: int) -> object:
    """An answer that fits what was said before, so that nobody is asked again."""
    listed = next(iter(Register.of(scene).listed), "")
    if isinstance(kind, Vote):
        side = "own" if "recommendation" in due.step.reply else listed or "none"
        return Signature(side, text if side == "none" else "")
    if isinstance(kind, Choice):
        return kind.options[min(choice, len(kind.options) - 1)]
    if isinstance(kind, Number):
        return kind.low
    if isinstance(kind, Ident):
        return (count(scene).leading or "none") if name == "follows" else listed or "R1"
    if isinstance(kind, Items):
        return tuple(list_items(name, due, scene, text))
    return f"{text}\n" if isinstance(kind, Code) else f"{text} {due.seat.name}"


def list_items(name: str, due: Due, scene: Scene, text: str) -> Iterator[str]:
    register, own = Register.of(scene), f"{due.seat.name} {due.round}"
    sources = {one.source for step in scene.workflow.steps() for one in step.seats if isinstance(one, Cast)}
    if f"{due.step.name}.{name}" in sources:
        yield from (f"Perspective {number}: {text}" for number in range(1, MOST_CAST + 1))
    elif name == "rulings" and is_writing(scene):
        yield from (f"{item.id}: {text}" for item in register.by_letter["C"] if item.holders)
    elif name == "rulings":
        yield from (f"{item.id}: reject: {text}" for item in register.by_letter["K"][:2])
    elif name == "challenges":
        yield f"{next(iter(register.items), 'R1')}: {text} {own}"
    else:
        yield from (f"{text} {own} {number}" for number in (1, 2))
