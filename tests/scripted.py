"""Scripted debates: a small file says who answers what, and a debate is played from it, turn by turn, to its end.

A script is YAML: `about`, then how it is played (`seed options members usd`), then `turns`. A turn's address is
`step/seat` or `step/round/seat`, with `*` for any and `2-5` for rounds; the last line that fits wins. `seat.2` is what
a seat says when it is asked again. A turn is a text (the whole reply), or answers by name, with `says` for the prose
above them, or `absent`, and with `usd` and `tokens` for what it took.
`python -m tests.scripted debate/skipped` prints a debate.
"""

from __future__ import annotations

import re
import sys
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from fnmatch import fnmatchcase
from functools import lru_cache
from pathlib import Path
from typing import Any

from council.engine.planner import Due, Note, Plan, plan
from council.engine.scene import RecordedTurn, Seen, Verdict
from council.protocols import mind_changes, stances
from council.protocols.specialists import ANALYSIS
from council.replies import quotes
from council.replies.parse import describe, format_heading
from council.reports import did_it_help
from council.workflow import frontmatter
from council.workflow.loader import load
from council.workflow.model import Kind, Seat, Workflow

TESTS = Path(__file__).parent
SCRIPTS = TESTS / "fixtures" / "scripts"
PLANS = TESTS / "plans"
WORKFLOWS = (TESTS.parent / "Workflows", TESTS / "fixtures" / "workflows")
KEYS = {"about", "seed", "options", "members", "usd", "turns"}
BESIDE_ANSWERS = ("says", "absent", "usd", "tokens")
MOST_BATCHES = 500


@dataclass(frozen=True)
class Script:
    name: str
    about: str
    workflow: Workflow
    seed: str
    usd: float
    turns: dict[str, Any]

    def said(self, due: Due) -> RecordedTurn:
        """What the script has this seat say now."""
        line = self.turns[self.address(due)] if self.address(due) else {}
        answers = {"says": line} if isinstance(line, str) else dict(line)
        beside = {key: answers.pop(key) for key in BESIDE_ANSWERS if key in answers}
        words = beside.get("says") or f"{due.seat.title} on {due.step.name}, round {due.round}."
        if not due.step.reply and not self.address(due).endswith(f"/{due.seat.name}"):
            words += "".join(f" The {one}: so." for one in due.seat.gives)
        body = words if isinstance(line, str) else "\n\n".join([words, *written(due, answers)])
        usd = None if beside.get("usd") == "unknown" else float(beside.get("usd", self.usd))
        absent = beside.get("absent")
        return RecordedTurn("" if absent else body, brief(due), absent, int(beside.get("tokens", 10)), usd, "scripted")

    def address(self, due: Due) -> str:
        return next((line for line in reversed(self.turns) if fits(line, due)), "")


@dataclass(frozen=True)
class Played:
    """A debate from its first batch to its end: all that was said, and which lines of the script were used."""

    script: Script
    batches: tuple[tuple[Due, ...], ...]
    said: Mapping[str, RecordedTurn]
    end: Plan
    used: frozenset[str]

    def before(self, batch: int) -> dict[str, RecordedTurn]:
        return {due.id: self.said[due.id] for dues in self.batches[:batch] for due in dues}

    def plan(self, said: Mapping[str, RecordedTurn]) -> Plan:
        return plan(self.script.workflow, said, self.script.seed)


def names() -> list[str]:
    return sorted(path.relative_to(SCRIPTS).with_suffix("").as_posix() for path in SCRIPTS.rglob("*.yaml"))


def golden_plan(name: str) -> Path:
    """Where the plan of a whole script is kept, as text."""
    return PLANS / f"{name.replace('/', '-')}.txt"


@lru_cache
def workflow(name: str) -> Workflow:
    path = next(path for folder in WORKFLOWS for path in folder.glob("*.md") if path.stem.lower() == name.lower())
    return load(path.read_text(encoding="utf-8"), path.name)


@lru_cache
def script(name: str) -> Script:
    path = SCRIPTS / f"{name}.yaml"
    keys = frontmatter.load_yaml(path.read_text(encoding="utf-8"), path.name)
    if unknown := set(keys) - KEYS:
        raise ValueError(f"{path}: unknown keys {unknown}")
    program, turns = workflow(path.parent.name), keys["turns"] or {}
    if ANALYSIS in program.options and not any(line.startswith("impact/") for line in turns):
        program = program.with_options({ANALYSIS: False})
    program = program.with_options(keys.get("options", {}))
    if "members" in keys:
        program = program.with_members(Seat(member, "") for member in keys["members"])
    return Script(name, keys["about"], program, keys.get("seed", "seed"), float(keys.get("usd", 0)), turns)


@lru_cache
def played(name: str) -> Played:
    return play(script(name))


def play(asked: Script) -> Played:
    """The script played to its end, each batch recorded whole before the next is asked for."""
    said: dict[str, RecordedTurn] = {}
    batches: list[tuple[Due, ...]] = []
    used: set[str] = set()
    while not (now := plan(asked.workflow, said, asked.seed)).done:
        if len(batches) >= MOST_BATCHES:
            raise AssertionError(f"{asked.name} does not end")
        batches.append(now.due)
        said |= {due.id: asked.said(due) for due in now.due}
        used |= {asked.address(due) for due in now.due}
    return Played(asked, tuple(batches), said, now, frozenset(used))


def fits(line: str, due: Due) -> bool:
    """Whether an address of a script means this turn."""
    step, *rounds, seat = line.split("/")
    again = seat.endswith(".2")
    return (
        fnmatchcase(due.step.name, step)
        and fnmatchcase(due.seat.name, seat.removesuffix(".2"))
        and (not again or bool(due.problems))
        and all(_in_round(span, due.round) for span in rounds)
    )


def _in_round(span: str, round: int) -> bool:
    first, _, last = span.partition("-")
    return span == "*" or int(first) <= round <= int(last or first)


def written(due: Due, answers: Mapping[str, Any]) -> list[str]:
    """The answers in the form that the brief asks for."""
    kinds = dict(due.step.reply)
    if unknown := set(answers) - set(kinds):
        raise ValueError(f"{due.id}: the step does not ask for {unknown}")
    return [f"## {format_heading(name)}\n{_written(kinds[name], answers[name])}" for name in kinds if name in answers]


def _written(kind: Kind, value: Any) -> str:
    if kind.type == "list":
        return "\n".join(f"- {item}" for item in value) or "none"
    if kind.type == "files":
        return "\n\n".join(f"{path}\n```\n{text}\n```" for path, text in value.items()) or "none"
    return f"```\n{value}\n```" if kind.type == "code" else str(value)


def brief(due: Due) -> str:
    """A brief like the real ones: what was said stands in it, marked, and whose it is; then the format of the reply."""
    parts = [f"You are the {due.seat.title}. This is {due.id}."]
    own = [f"{hash_of(seen.turn.id):08x}" for seen in due.sees if seen.turn.seat.name == due.seat.name]
    parts += filter(None, [quotes.describe_own(own)])
    for seen in due.sees:
        key = f"{hash_of(seen.turn.id):08x}"
        words = seen.turn.gist if seen.gist else seen.turn.body
        mark = f'said by="{seen.turn.seat.label}" key="{key}">'
        parts.append(f"<{mark}\n{words}\n</{mark}")
    return "\n\n".join([*parts, describe(due.step.reply)])


def hash_of(text: str) -> int:
    """Small, and the same in every process."""
    return sum(place * ord(char) for place, char in enumerate(text, 1)) % 2**32


# The debate as text, for people: what the golden files hold.


def printed(debate: Played) -> str:
    return "\n".join([f"{debate.script.name}: {debate.script.about}", "", *_batches(debate), "", *_end(debate)]) + "\n"


def _batches(debate: Played) -> Iterator[str]:
    noted = 0
    for number, batch in enumerate(debate.batches):
        now = debate.plan(debate.before(number))
        yield from _notes(now.notes[noted:])
        noted = len(now.notes)
        for place, line in enumerate(_batch(batch)):
            yield f"{f'{number + 1}.':>4} {line}" if not place else f"     {line}"
    yield from _notes(debate.end.notes[noted:])


def _batch(batch: tuple[Due, ...]) -> Iterator[str]:
    """A line for all who are asked the same thing in the same way."""
    alike: dict[tuple[str, str, str, tuple[str, ...]], list[str]] = {}
    for due in batch:
        key = (due.phase.folder(due.round, due.step), due.tier, sees(due), due.problems)
        alike.setdefault(key, []).append(due.seat.name)
    for (place, tier, seen, problems), seats in alike.items():
        again = f" (again: {'; '.join(problems)})" if problems else ""
        yield f"{place}: {', '.join(seats)} [{tier}] sees {seen}{again}"


def sees(due: Due) -> str:
    """`positions` where a whole step is seen, `positions/cto` where only one seat's turn is, `~` before gists."""
    spoken: dict[Any, int] = {}
    for turn in due.scene.turns:
        spoken[turn.moment] = spoken.get(turn.moment, 0) + 1
    shown: dict[Any, list[Seen]] = {}
    for seen in due.sees:
        shown.setdefault((seen.turn.moment, seen.gist), []).append(seen)
    parts = [_shown(moment, gist, turns, whole=len(turns) == spoken[moment]) for (moment, gist), turns in shown.items()]
    return ", ".join(_merged(parts)) or "nothing"


def _shown(moment: tuple[str, int, str], gist: bool, turns: list[Seen], whole: bool) -> tuple[str, int]:
    _, round, step = moment
    seats = "" if whole else "/" + "+".join(seen.turn.seat.name for seen in turns)
    return f"{'~' if gist else ''}{step}{seats}", round


def _merged(parts: Iterable[tuple[str, int]]) -> list[str]:
    """The same step in several rounds is named once: `respond 1-3`."""
    rounds: dict[str, list[int]] = {}
    for words, round in parts:
        rounds.setdefault(words, []).append(round)
    return [words if given == [1] else f"{words} {_spans(given)}" for words, given in rounds.items()]


def _spans(rounds: list[int]) -> str:
    spans = re.sub(r"\b(\d+)(?:,\d+)*,(\d+)\b", r"\1-\2", ",".join(map(str, rounds)))
    return spans if rounds == list(range(rounds[0], rounds[-1] + 1)) else ",".join(map(str, rounds))


def _notes(notes: Iterable[Note]) -> Iterator[str]:
    """What was decided; the end of a phase's last round is told by the phase's own."""
    for note in notes:
        if note.kind == "round" and not note.outcome:
            yield f"   * {note.phase} goes on after round {note.round}{_why(note.verdict)}"
        elif note.kind != "round":
            ended = f": {note.outcome}" if note.outcome else ""
            yield f"   * {note.kind} {note.step or note.phase}{ended}{_why(note.verdict)}"


def _why(verdict: Verdict) -> str:
    fired = f" [{', '.join(verdict.fired)}]" if verdict.fired else ""
    return (f" ({verdict.reason})" if verdict.reason else "") + fired


def _end(debate: Played) -> Iterator[str]:
    scene = debate.end.scene
    outcomes = [f"{phase}: {outcome}" for phase, outcome in scene.outcomes.items()]
    yield f"outcomes: {', '.join(outcomes)}"
    for turn in scene.turns:
        if turn.absent or turn.problems:
            yield f"not heard: {turn.id}: {turn.absent or '; '.join(turn.problems)}"
    if any(scene.rounds_that_ask("stance")):
        standing = stances.assess_stances(scene)
        yield f"standing: {standing.outcome} ({standing.reason}){', converged' if standing.converged else ''}"
    if any(mind_changes.FLAW in dict(step.reply) for _, step in debate.script.workflow.steps()):
        yield from _flips(debate)
    yield f"{len(debate.said)} calls in {len(debate.batches)} batches"


def _flips(debate: Played) -> Iterator[str]:
    """Who moved and by what, where a workflow asks for it, and whether the debate helped."""
    for flip in mind_changes.find_flips(debate.end.scene):
        by = f" by {flip.source.id}" if flip.source else ""
        yield f"flip: {flip.turn.id}: {flip.before} -> {flip.after}, {flip.kind}{by}"
    found = mind_changes.compare_rounds(debate.end.scene)
    yield f"helped: {did_it_help.sentence(found)}" if found else "helped: nobody was asked"


if __name__ == "__main__":
    for wanted in sys.argv[1:] or names():
        print(printed(played(wanted)))
