"""Each protocol may die at any call that changes a file, also while it waits for a person: all of it comes back.

As for the debate in `test_crash.py`: real processes, real kills. A person's words are recorded where they are due.
With COUNCIL_EVERY_CALL=1 it is done at every call, which takes minutes; else at every seventh, and always at the last.
"""

from __future__ import annotations

import os
import re
import tempfile
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest

from tests.faults import Ended, Fault, Nursery
from tests.scripted import Played, played
from tests.test_crash import MEMORY
from tests.worlds import World, body_of, differences, snapshot

DEBATES = {
    "board": "board/fundamental",
    "consensus": "consensus/fundamental",
    "perspectives": "perspectives/guided",
    "delphi": "delphi/persuaded",
}
WAITING = 8
EVERY = {"before": 1, "full once": 5} if os.environ.get("COUNCIL_EVERY_CALL") else {"before": 7, "full once": 35}
TOPIC = "Shall we?"


@dataclass(frozen=True)
class Command:
    """One of those that a debate takes: its words, what it reads, and the calls that it made when nothing was wrong."""

    argv: tuple[str, ...]
    stdin: str = ""
    calls: tuple[str, ...] = ()


class Project(World):
    """A world whose working folder is a project below COUNCIL_HOME: what is filed there counts among the calls."""

    @property
    def work(self) -> Path:
        return self.memory / "work"

    @property
    def env(self) -> dict[str, str]:
        (self.work / ".council").mkdir(parents=True, exist_ok=True)
        return {**super().env, "HOME": str(self.work), "COUNCIL_HOME": str(self.memory)}

    def twin(self, name: str) -> Project:
        return Project(self.copy(self.folder.with_name(name)).folder, self.nursery, None, None, self.words)


class Protocol:
    """A scripted debate of one workflow, held in worlds of its own."""

    def __init__(self, name: str) -> None:
        self.debate: Played = played(name)
        self.workflow = self.debate.script.workflow
        said = {id: one.body if one.absent is None else f"absent: {one.absent}" for id, one in self.debate.said.items()}
        people = {due.id for batch in self.debate.batches for due in batch if due.of_a_person}
        self.words = {id: body for id, body in said.items() if id not in people}
        self.people = {id: body for id, body in said.items() if id in people}

    def begin(self, world: World) -> Command:
        only = (f"--only={seat.name}" for seat in self.workflow.members)
        options = (f"-o{name}={str(value).lower()}" for name, value in self.workflow.options.items())
        replay = ("--speaker", "replay", "--from", str(world.script))
        return Command(("run", "-w", self.workflow.name, *only, *options, *replay, TOPIC))

    def next(self, world: World, last: Ended | None) -> Command | None:
        """What a person would do now, who sees how the last command ended."""
        if not world.sessions:
            return self.begin(world)
        due = [turn for turn in self.people if last and last.code == WAITING and turn in last.err]
        if due and due[0] not in world.turns:
            return Command(("record", world.session.name, due[0]), self.people[due[0]])
        replay = ("--speaker", "replay", "--from", str(world.script))
        return None if last and last.code == 0 else Command(("recover", world.session.name, *replay))

    def hold(self, world: World, last: Ended | None = None) -> Iterator[tuple[Command, Ended]]:
        """The commands from here to its end."""
        while command := self.next(world, last):
            ended = world.do(*command.argv, stdin=command.stdin)
            yield command, ended
            last = None if command.argv[0] == "record" and ended.code == 0 else ended
            assert ended.code in (0, WAITING), ended.err


@pytest.fixture(scope="module")
def ground() -> Iterator[Path]:
    with tempfile.TemporaryDirectory(prefix="council-protocols-", dir=MEMORY if MEMORY.is_dir() else None) as folder:
        yield Path(folder)


@pytest.fixture(scope="module")
def nursery() -> Iterator[Nursery]:
    with Nursery() as made:
        yield made


@pytest.mark.parametrize("kind", ["before", "full once"])
@pytest.mark.parametrize("name", DEBATES)
def test_every_call_of_every_command_may_be_the_last(name: str, kind: str, ground: Path, nursery: Nursery) -> None:
    held = Protocol(DEBATES[name])
    whole = Project(ground / f"{name}-{kind}-whole", nursery, words=held.words)
    befores, commands = list[Project](), list[Command]()
    for number, (command, ended) in enumerate(steps(held, whole, befores)):
        commands.append(Command(command.argv, command.stdin, ended.calls))
        assert number < 50
    after, wrong, points = snapshot(whole), dict[str, list[str]](), 0
    every = EVERY[kind]
    for before, command in zip(befores, commands, strict=True):
        for at in range(len(command.calls), 0, -every):
            world = before.twin(f"{name}-{kind}-{len(wrong)}")
            found = struck(held, world, command, Fault(kind, at), after)
            wrong[f"{command.argv[0]}, call {at}: {command.calls[at - 1]}"] = found
            world.drop()
            points += 1
    print(f"{name}, {kind}: {points} points in {len(commands)} commands")
    assert points >= sum(map(len, (command.calls for command in commands))) / every > 200 / every
    told = [f"{where}: {what}" for where, all_ in wrong.items() for what in all_]
    assert not told, "\n".join(told[:20])


def steps(held: Protocol, whole: Project, befores: list[Project]) -> Iterator[tuple[Command, Ended]]:
    """The unbroken debate, with a copy of the world before each of its commands."""
    befores.append(whole.twin(f"{whole.folder.name}-0"))
    for command, ended in held.hold(whole):
        yield command, ended
        befores.append(whole.twin(f"{whole.folder.name}-{len(befores)}"))
    befores.pop()


def struck(held: Protocol, world: World, command: Command, fault: Fault, after: dict[str, bytes]) -> list[str]:
    """What was wrong after this fault, and after it was helped to its end."""
    argv = tuple(re.sub(r"^.*/script\.yaml$", str(world.script), word) for word in command.argv)
    broken = world.do(*argv, stdin=command.stdin, fault=fault)
    stored, wrong = world.turns, list[str]()
    if "Traceback" in broken.err:
        wrong.append(f"traceback: {broken.err}")
    last, asked = broken if broken.code == WAITING else None, Counter[str](broken.asked)
    if argv[0] == "record" and not set(held.people) & set(stored.keys()) >= {argv[2]}:
        assert world.do(*argv, stdin=command.stdin).code == 0
    for _, ended in held.hold(world, last):
        asked.update(ended.asked)
    state, proof = world.in_a_row(("status",), ("verify",))
    wrong += [] if ": complete" in state.out else [f"not complete: {state.out}"]
    wrong += [] if proof.code == 0 else [f"verify: {proof.out}"]
    wrong += [f"changed: {turn}" for turn, data in stored.items() if world.turns.get(turn) != data]
    wrong += [f"asked again: {turn}" for turn, count in asked.items() if count > 1 and turn in stored]
    words = {**held.words, **held.people}
    wrong += [f"torn: {turn}" for turn, data in world.turns.items() if body_of(data) not in (words[turn].encode(), b"")]
    wrong += [f"temp left: {name}" for name in world.temps]
    return wrong + [f"differs: {name}" for name in differences(snapshot(world), after)]
