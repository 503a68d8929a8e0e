"""Each protocol may die at any call that changes a file, also while it waits for a person: all of it comes back.

As for the debate in `test_crash.py`: real processes, real kills. A person's words are recorded where they are due.
With COUNCIL_EVERY_CALL=1 it is done at every call, which takes minutes; else at every seventh, and always at the last.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.faults import Fault, Nursery
from tests.kills import in_memory
from tests.kills_of_protocols import DEBATES, Command, Project, Protocol, steps, struck
from tests.worlds import snapshot

EVERY = {"before": 1, "full once": 5} if os.environ.get("COUNCIL_EVERY_CALL") else {"before": 7, "full once": 35}


@pytest.fixture(scope="module")
def ground() -> Iterator[Path]:
    with in_memory() as folder:
        yield folder


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
