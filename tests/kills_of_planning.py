"""Kill points of a planning: every command of one council, from the handing on of the document before it to a person's
approval. Whatever call is the last, nobody is asked twice, no council begins twice, and the planning goes on.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from hashlib import sha256
from itertools import pairwise
from pathlib import Path
from typing import Any

from council.planning.store import COUNCILS, FOLDER
from tests import plannings
from tests.faults import Ended, Fault, Nursery
from tests.kills_of_protocols import Command, Project

TOPIC = "Shall we move the sessions?"
WAITING = 8
BEGIN, ANSWER = "planning", "answer"


class Planned(Project):
    """A project in which a planning is held, in small. There is never more than one."""

    def prepare(self) -> None:
        self.work.mkdir(parents=True)
        plannings.prepare(self.work, self.work / ".config" / "council")

    def twin(self, name: str) -> Planned:
        return Planned(self.copy(self.folder.with_name(name)).folder, self.nursery, None, None, self.words)

    @property
    def files(self) -> list[Path]:
        """Those that say what is planned."""
        return sorted((self.memory / "STATE" / FOLDER).glob("[!.]*"))

    @property
    def temps(self) -> list[str]:
        return [path for path in super().temps if f"/{FOLDER}/" not in path]

    @property
    def leftovers(self) -> list[Path]:
        """A planning that never got its name, too: the next one removes it after an hour."""
        return [*super().leftovers, *(self.memory / "STATE" / FOLDER).glob(".*")]

    @property
    def id(self) -> str:
        (only,) = self.files
        return only.stem

    @property
    def turns(self) -> dict[str, bytes]:
        """By council and turn."""
        found = self.memory.glob("STATE/council-sessions/*/turns/*/*.md")
        return {f"{path.parents[2].name[24:]}/{path.parent.name}/{path.stem}": path.read_bytes() for path in found}

    @property
    def documents(self) -> list[Path]:
        return sorted((self.work / "docs" / "decisions").glob("*"))

    def shape(self) -> set[str]:
        """The names of all files that are there to stay, without what differs between two plannings."""
        skipped = (".lock", "runner.json")
        paths = (path for path in self.memory.rglob("*") if path.is_file() and path.name not in skipped)
        return {plannings.normal_name(str(path.relative_to(self.memory))) for path in paths}

    def stages(self) -> list[dict[str, Any]]:
        ended = self.do("planning", "--json")
        assert ended.code == 0, ended.err
        found: list[dict[str, Any]] = json.loads(ended.out)[0]["stages"] if json.loads(ended.out) else []
        return found


def next_command(world: Planned) -> Command | None:
    """What a person would do now, who looks where the planning is; None once it is complete."""
    if not world.files:
        return Command((BEGIN, TOPIC, "--speaker", "replay", "--replies", "replies"))
    stage = next((one for one in world.stages() if one["state"] != "approved"), None)
    if stage is None:
        return None
    if stage["state"] == "waiting":
        return Command((ANSWER, stage["session"], "--choose", "approve", "--because", f"Remark on {stage['council']}."))
    return Command((BEGIN, world.id))


def hold(world: Planned, until: str = "") -> Iterator[tuple[Command, Ended]]:
    """The commands from here to the end, or until a council is approved."""
    for _ in range(40):
        approved = [one["council"] for one in world.stages() if one["state"] == "approved"] if world.files else []
        command = None if until in approved else next_command(world)
        if command is None:
            return
        ended = world.do(*command.argv)
        assert ended.code in (0, WAITING), (command, ended.code, ended.err)
        yield command, ended
    raise AssertionError("the planning does not end")


@dataclass
class Held:
    """A planning that nothing went wrong with: the worlds before each command of one council, and its end."""

    council: str
    befores: list[Planned]
    commands: list[Command]
    after: set[str]
    end: set[str]


def prepared(council: str, ground: Path, nursery: Nursery) -> Held:
    """The planning once, with a copy of the world before each command of that council."""
    world = Planned(ground / f"planning-{council}", nursery)
    world.prepare()
    before = COUNCILS[COUNCILS.index(council) - 1] if council != COUNCILS[0] else None
    for _ in hold(world, before) if before else ():
        pass
    befores, commands = [world.twin(f"{world.folder.name}-0")], list[Command]()
    for command, ended in hold(world, council):
        commands.append(Command(command.argv, "", ended.calls))
        befores.append(world.twin(f"{world.folder.name}-{len(befores)}"))
    after = world.shape()
    for _ in hold(world):
        pass
    end = world.shape()
    world.drop()
    return Held(council, befores[:-1], commands, after, end)


def points(held: Held) -> list[tuple[int, int]]:
    """Each call of each command, by their numbers."""
    return [(which, at) for which, one in enumerate(held.commands) for at in range(1, len(one.calls) + 1)]


def strike(held: Held, which: int, fault: Fault, to_its_end: bool = False) -> list[str]:
    """What was wrong after this fault, and after a person has gone on until the council was approved, or to the end."""
    name, command = held.befores[which].folder.name.rpartition("-")[0], held.commands[which]
    world = held.befores[which].twin(name)
    try:
        broken = world.do(*command.argv, fault=fault)
        stored, planned = world.turns, [path.read_bytes() for path in world.files if path.suffix == ".json"]
        asked = Counter(broken.asked)
        wrong = [f"traceback: {broken.err}"] if "Traceback" in broken.err else []
        for _, ended in hold(world, held.council):
            asked.update(ended.asked)
        wrong += [
            f"asked twice: {turn}" for turn, count in asked.items() if count > 1 and f"{held.council}/{turn}" in stored
        ]
        to_its_end = to_its_end or command.argv[0] == ANSWER  # its document may be filed only as the next one begins
        if to_its_end:
            for _ in hold(world):
                pass
        return [*wrong, *check(world, held, stored, planned, held.end if to_its_end else held.after)]
    finally:
        world.drop()


def check(
    world: Planned, held: Held, stored: dict[str, bytes], planned: Sequence[bytes], expected: set[str]
) -> Iterator[str]:
    """What must be true afterwards, whatever happened."""
    now = world.turns
    yield from (f"turn changed: {turn}" for turn, data in stored.items() if now.get(turn) != data)
    files = [path.read_bytes() for path in world.files]
    if len(files) != 1 or (planned and [*planned] != files):
        yield f"what is planned has changed: {world.files}"
    begun = [folder.name[24:] for folder in world.sessions]
    if len(set(begun)) != len(begun):
        yield f"a council began twice: {begun}"
    for folder in world.sessions:
        state, proof = world.in_a_row(("status", folder.name), ("verify", folder.name))
        yield from [f"not complete: {state.out}"] * (": complete" not in state.out)
        yield from [f"not proven: {proof.out}{proof.err}"] * (proof.code != 0)
    yield from check_documents(world, held)
    yield from (f"left: {name}" for name in world.temps)
    yield from (f"missing: {name}" for name in sorted(expected - world.shape()))
    leftovers = {str(path) for path in world.leftovers}
    yield from (f"too much: {name}" for name in sorted(world.shape() - expected) if not leftovers)


def check_documents(world: Planned, held: Held) -> Iterator[str]:
    """Each council has the document of the one before it, whole and under its hash, and the person's remark."""
    by_council = {folder.name[24:]: folder for folder in world.sessions}
    for before, after in pairwise(COUNCILS):
        if after not in by_council:
            continue
        source = next(
            by_council[before] / name
            for name in ("decision.md", "synthesis.md")
            if (by_council[before] / name).exists()
        )
        topic, words = (by_council[after] / "topic.md").read_text("utf-8"), source.read_bytes()
        if f"sha256 {sha256(words).hexdigest()}" not in topic or words.decode().strip() not in topic:
            yield f"{after} does not begin with the document of {before}"
        if f"Remark on {before}." not in topic:
            yield f"{after} does not have the remark on {before}"
