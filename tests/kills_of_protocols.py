"""Kill points of the other protocols: every command that a debate takes; a person speaks by `record`."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from tests.faults import Ended, Fault, Nursery
from tests.scripted import Played, played
from tests.worlds import World, body_of, differences, snapshot

DEBATES = {
    "board": "board/fundamental",
    "consensus": "consensus/fundamental",
    "perspectives": "perspectives/guided",
    "delphi": "delphi/persuaded",
}


WAITING = 8


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
        replay = ("--watch", "--speaker", "replay", "--from", str(world.script))
        return Command(("run", "-w", self.workflow.name, *only, *options, *replay, TOPIC))

    def next(self, world: World, last: Ended | None) -> Command | None:
        """What a person would do now, who sees how the last command ended."""
        if not world.sessions:
            return self.begin(world)
        due = [turn for turn in self.people if last and last.code == WAITING and turn in last.err]
        if due and due[0] not in world.turns:
            return Command(("record", world.session.name, due[0]), self.people[due[0]])
        replay = ("--watch", "--speaker", "replay", "--from", str(world.script))
        return None if last and last.code == 0 else Command(("recover", world.session.name, *replay))

    def hold(self, world: World, last: Ended | None = None) -> Iterator[tuple[Command, Ended]]:
        """The commands from here to its end."""
        while command := self.next(world, last):
            ended = world.do(*command.argv, stdin=command.stdin)
            yield command, ended
            last = None if command.argv[0] == "record" and ended.code == 0 else ended
            assert ended.code in (0, WAITING), ended.err


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


@dataclass(frozen=True)
class Whole:
    """A debate that nothing went wrong with: the world before each of its commands, and what is there in the end.

    Every debate is held in the folder of this one, because a session knows the project in which it began.
    """

    held: Protocol
    folder: str
    befores: list[Project]
    commands: list[Command]
    after: dict[str, bytes]

    @property
    def calls(self) -> int:
        return sum(len(command.calls) for command in self.commands)


def hold_whole(name: str, ground: Path, nursery: Nursery) -> Whole:
    held = Protocol(DEBATES[name])
    whole = Project(ground / name, nursery, words=held.words)
    befores, commands = list[Project](), list[Command]()
    for number, (command, ended) in enumerate(steps(held, whole, befores)):
        commands.append(Command(command.argv, command.stdin, ended.calls))
        assert number < 50
    after = snapshot(whole)
    whole.drop()
    return Whole(held, name, befores, commands, after)


def sweep(whole: Whole, kind: str, every: int) -> dict[str, list[str]]:
    """The fault at each call of each command of this debate, or at every Nth, counted from the last: what was wrong."""
    wrong = {}
    for which, (before, command) in enumerate(zip(whole.befores, whole.commands, strict=True), 1):
        for at in range(len(command.calls), 0, -every):
            world = before.twin(whole.folder)
            where = f"command {which}, {command.argv[0]}, call {at}: {command.calls[at - 1]}"
            wrong[where] = struck(whole.held, world, command, Fault(kind, at), whole.after)
            world.drop()
    return wrong
