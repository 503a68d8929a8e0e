"""Findings for tests: raised by hand in a line each, and the labelled ones of `tests/pairs/`."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cache
from pathlib import Path

from council.reviews.entries import RaisedFinding
from council.reviews.locate import Place
from council.reviews.model import SEVERITIES, Finding

PAIRS = sorted((Path(__file__).parent / "pairs").glob("*.txt"), key=lambda path: int(path.name.split("-")[0]))


HELD_OUT = [path for path in PAIRS if int(path.name.split("-")[0]) % 2 == 0]


CHOSEN_ON = [path for path in PAIRS if path not in HELD_OUT]


SEATS = ("architect", "designer", "engineer", "researcher")


LINE = "The refresh token does not expire."


def said(
    seat: str,
    issue: str,
    change: str = "",
    severity: str = "high",
    line: int = 0,
    step: str = "01-findings",
    passage: str = "",
) -> RaisedFinding:
    place = Place("spec.md", line, line, passage or f"What line {line} says.", "exact") if line else Place("spec.md")
    return RaisedFinding(seat, f"{step}/{seat}", Finding("X9", severity, issue, change), place)


def expiry(seat: str, severity: str = "high", step: str = "01-findings") -> RaisedFinding:
    return said(seat, "The refresh token never expires.", "Expire it after 30 days.", severity, 4, step, LINE)


@dataclass(frozen=True)
class Labelled:
    fault: str
    said: RaisedFinding


@cache
def labelled(path: Path) -> tuple[Labelled, ...]:
    specification, *faults = path.read_text(encoding="utf-8").split("\n== ")
    lines = specification.splitlines()
    return tuple(
        Labelled(fault.partition("\n")[0], _said(written, lines))
        for fault in faults
        for written in fault.strip().split("\n")[1:]
    )


def _said(written: str, lines: Sequence[str]) -> RaisedFinding:
    head, _, words = written.partition(" :: ")
    seat, _, at = head.partition(" @ ")
    issue, _, change = words.partition(" -> ")
    return RaisedFinding(seat, f"01-findings/{seat}", Finding("H1", "high", issue, change), _place(at, lines))


def everyone(path: Path) -> list[RaisedFinding]:
    grave = dict(
        zip(("architect", "designer", "engineer", "researcher", "security", "writer"), SEVERITIES * 2, strict=False)
    )
    return [
        replace(one.said, finding=replace(one.said.finding, severity=grave[one.said.seat])) for one in labelled(path)
    ]


def _place(at: str, lines: Sequence[str]) -> Place:
    if at == "-":
        return Place("spec.md")
    quote = at.strip('"')
    number = int(at[1:]) if at[0] == "L" else next(n for n, line in enumerate(lines, 1) if quote in line)
    line, before = lines[number - 1], sum(len(line) + 1 for line in lines[: number - 1])
    passage, how = (line, "lines") if at[0] == "L" else (quote, "exact")
    start = before + line.index(passage)
    return Place("spec.md", number, number, passage, how, (start, start + len(passage)))
