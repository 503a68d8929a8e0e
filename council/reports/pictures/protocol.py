"""Draws the protocol as a strip: what is over, what was skipped and why, what is going on, and what may come."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from council.reports.model import Course, PhaseCourse
from council.reports.pictures.svg import NARROW, SIZES, at, element, frame, measure, write

RAIL, INDENT = 10, 30  # pixels from the left
HEAD, LINE, GAP = 24, 22, 14
WORDS = {"skipped": "skipped", "ahead": "to come", "unreached": "not reached", "halted": "halted"}
NODES = {
    "done": '<circle r="8" class="fill"/><path d="M-3.8 .2-1.2 3 3.8-2.8" class="cutout"/>',
    "now": '<circle r="8" class="ring"/><circle r="4" class="fill"/>',
    "skipped": '<circle r="7" class="ring dashed"/><path d="M-4 4 4-4" class="stroke"/>',
    "ahead": '<circle r="7" class="ring"/>',
    "unreached": '<circle r="7" class="ring dashed"/>',
    "halted": '<path d="M-7-7H7V7H-7z" class="fill"/><path d="M-3-3 3 3M-3 3 3-3" class="cutout"/>',
}
KINDS = {
    "seat": '<circle r="4.5"/>',
    "cast": '<circle r="4" class="dashed"/>',
    "person": '<path d="M-2.6-3.2a2.6 2.6 0 1 1 5.2 0 2.6 2.6 0 1 1-5.2 0zM-5 5.5a5 5 0 0 1 10 0z"/>',
    "lost": '<circle r="4.5" class="dashed"/>',
    "machine": '<path d="M-4.5-4.5h9v9h-9zM-1.5-7v2.5M1.5-7v2.5M-1.5 4.5v2.5M1.5 4.5v2.5"/>',
}
WHO = {"person": "a person", "machine": "a machine"}


def draw_protocol(course: Course) -> str:
    """The phases from top to bottom, with their steps and the reason why each ended. The current step is lit."""
    drawn: list[str] = []
    top = 0.0
    for place, phase in enumerate(course.phases):
        parts = list(_draw_phase(phase, top))
        height = _height(phase)
        if place < len(course.phases) - 1:
            passed = "done" if phase.state in ("done", "skipped") else "ahead"
            drawn.append(at(0, top, f'<path d="M{RAIL} 22V{height + GAP:g}" class="rail {passed}"/>'))
        drawn += parts
        top += height + GAP
    about = "; ".join(_describe(phase) for phase in course.phases)
    return frame("The protocol", about, top - GAP, *drawn) if drawn else ""


def _describe(phase: PhaseCourse) -> str:
    now = next((step.title for step in phase.steps if step.state == "now"), "")
    lost = f"{phase.absent} absent" if phase.absent else ""
    parts = (phase.title, _status(phase), f"now {now}" if now else "", _explain(phase), lost)
    return ", ".join(filter(None, parts))


def _status(phase: PhaseCourse) -> str:
    if phase.state == "now":
        return f"round {phase.rounds} of {phase.max_rounds}" if phase.max_rounds > 1 else "now"
    if phase.state == "done":
        return f"{phase.rounds} rounds" if phase.rounds > 1 else "1 round" if phase.max_rounds > 1 else "done"
    return "if needed" if phase.state == "ahead" and not phase.sure else WORDS[phase.state]


def _explain(phase: PhaseCourse) -> str:
    """Why it ended, was skipped or was needed."""
    if phase.outcome or phase.state == "skipped":
        return ": ".join(filter(None, [phase.outcome, phase.reason]))
    return f"needed: {phase.reason}" if phase.reason and not phase.sure else ""


def _height(phase: PhaseCourse) -> float:
    lines = len(_lay_out(phase)) + bool(_explain(phase))
    return HEAD + LINE * lines


def _draw_phase(phase: PhaseCourse, top: float) -> Iterator[str]:
    y = top + 12
    yield at(0, y, element("g", NODES[phase.state], transform=f"translate({RAIL} 0)"), kind=f"node {phase.state}")
    yield write(phase.title, 0, y + 5, 0.62, f"label {phase.state}", shift=INDENT)
    yield write(_status(phase), 1, y + 5, 0.37, "soft", "end")
    y += HEAD
    for chips in _lay_out(phase):
        drawn = (element("g", _draw_chip(chip), transform=f"translate({x:g} 0)") for x, chip in chips)
        yield at(0, y, *drawn)
        y += LINE
    if why := _explain(phase):
        yield write(why, 0, y + 4, 0.99, "soft", shift=INDENT)


@dataclass(frozen=True)
class _Chip:
    """A step, or how many turns nobody spoke: the shape of who speaks, and a text."""

    kind: str
    state: str
    text: str

    @property
    def width(self) -> float:
        bold = 1.1 if self.state == "now" else 1
        return 16 + bold * measure(self.text, SIZES["soft"])


def _chips(phase: PhaseCourse) -> Iterator[_Chip]:
    for step in phase.steps:
        who = WHO[step.kind] if step.kind in ("person", "machine") else ""
        number = f"{step.seats} seat{'s' * (step.seats > 1)}" if step.seats else "seats that a reply names"
        alone = len(phase.steps) == 1
        times = f" \u00d7 {step.seats}" if step.seats > 1 else ""
        text = who or number if alone else f"{step.title}, {who}" if who else step.title + times
        yield _Chip(step.kind, step.state, text)
    if phase.absent:
        yield _Chip("lost", "lost", f"{phase.absent} absent")


def _lay_out(phase: PhaseCourse) -> list[list[tuple[float, _Chip]]]:
    """The steps in lines, each with its place in pixels, so that they fit a narrow picture."""
    lines: list[list[tuple[float, _Chip]]] = []
    x = float(NARROW)
    for chip in _chips(phase):
        if x + chip.width > NARROW:
            lines.append([])
            x = float(INDENT) + 5
        lines[-1].append((x, chip))
        x += chip.width + 20
    return lines


def _draw_chip(chip: _Chip) -> str:
    lit = ""
    if chip.state == "now":
        lit = element("rect", x=-11.0, y=-11.0, width=chip.width + 19, height=22, rx=11, class_="lit")
    glyph = element("g", KINDS[chip.kind], class_=f"glyph {chip.kind}")
    return element("g", lit, glyph, write(chip.text, 0, 4.5, 1, f"soft {chip.state}", shift=12))
