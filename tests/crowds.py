"""Crowds: many debates at once in one home, by processes of their own, and what must be true afterwards."""

from __future__ import annotations

import itertools
import json
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path

from council.errors import Busy
from tests.faults import Nursery
from tests.helpers import User, agreed
from tests.worlds import World

MEMBERS = ("architect", "engineer")
WORDS = agreed(MEMBERS)
ONLY = ("--only", ",".join(MEMBERS))
QUESTION = (*ONLY, "--speaker", "replay")


@dataclass
class Crowd:
    """How many were tried, how many held, and what was wrong."""

    tried: int = 0
    wrong: list[str] = field(default_factory=list)
    bad: set[str] = field(default_factory=set)

    @property
    def held(self) -> int:
        return self.tried - len(self.bad)

    def demand(self, holds: bool, whose: str, why: str) -> None:
        if not holds:
            self.bad.add(whose)
            self.wrong.append(f"{whose}: {why}")


def debates(folder: Path, nursery: Nursery, count: int) -> Crowd:
    """Whole debates, all begun before the first has ended: each is complete, proven, and paid for once."""
    world = World(folder, nursery, words=WORDS)
    words = (*QUESTION, "--from", str(world.script), "--json", "Shall we?")
    running = [world.start(world.job(("run", "--id", f"debate-{number}", *words))) for number in range(count)]
    crowd = Crowd(count)
    for number, one in enumerate(running):
        (ended,) = world.ended(one)
        id = f"debate-{number}"
        crowd.demand(ended.code == 0, id, f"exit code {ended.code}: {ended.err}")
        crowd.demand(sorted(ended.asked) == sorted(WORDS), id, f"asked for {ended.asked}")
    check_home(world, crowd, [f"debate-{number}" for number in range(count)])
    return crowd


def check_home(world: World, crowd: Crowd, ids: Sequence[str]) -> None:
    """Every session is there, complete and proven; nothing else is; each transcript is in the archive once."""
    (listed,) = world.in_a_row(("list", "--json", "-n", "100000"))
    states = {row["session_id"]: row["state"] for row in json.loads(listed.out)}
    checked = world.in_a_row(*(("verify", id) for id in ids))
    for id, proof in itertools.zip_longest(ids, checked):
        crowd.demand(states.pop(id, "gone") == "complete", id, "not listed as complete")
        crowd.demand(proof is not None and proof.code == 0, id, f"verify: {proof}")
    left = sorted(path.name for path in (world.memory / "STATE" / "council-sessions").iterdir())
    for stranger in [*states, *(name for name in left if name not in ids), *world.temps]:
        crowd.demand(False, stranger, "left over")
    crowd.demand(len(world.archived) == len(ids), "archive", f"{len(world.archived)} transcripts of {len(ids)} debates")


def starts(user: User, count: int, at_once: int) -> Crowd:
    """Sessions begun by processes that start one by one, some at a time: each that exits 0 is there, and all do."""
    crowd, begun = Crowd(count), []
    for first in range(0, count, at_once):
        numbers = range(first, min(first + at_once, count))
        running = [user.spawn("start", "--json", f"Question {number}?") for number in numbers]
        for number, process in zip(numbers, running, strict=True):
            out, err = process.communicate()
            crowd.demand(process.returncode == 0, f"start {number}", f"exit code {process.returncode}: {err.decode()}")
            if process.returncode == 0:
                begun.append(json.loads(out)["session_id"])
    there = {path.name for path in user.sessions}
    for id in begun:
        crowd.demand(id in there and user.council("verify", id).code == 0, id, "gone or not whole")
    crowd.demand(there == set(begun), "home", f"holds {sorted(there ^ set(begun))} too many or too few")
    return crowd


def one_id(user: User, count: int) -> Crowd:
    """Many ask for the same id at once: one has it, and the others are refused in a sentence."""
    crowd = Crowd(count)
    running = [user.spawn("start", "--id", "wanted", f"Question {number}?") for number in range(count)]
    ended = [(process.communicate()[1].decode(), process.returncode) for process in running]
    winners = [number for number, (_, code) in enumerate(ended) if code == 0]
    for number, (err, code) in enumerate(ended):
        refused = code == 2 and 'there is a session "wanted" already' in err
        crowd.demand(refused or winners == [number], f"start {number}", f"exit code {code}: {err}")
    whole = [path.name for path in user.session.parent.iterdir()] == ["wanted"]
    crowd.demand(whole and user.council("verify", "wanted").code == 0, "wanted", "not whole")
    return crowd


def beside(folder: Path, nursery: Nursery, count: int, command: str) -> tuple[Crowd, Crowd]:
    """Debates and starts while another process does the same command again and again: those that began, and the other
    commands, none of which ends in another way than it may."""
    world = World(folder, nursery, words=WORDS)
    argv, allowed = COMMANDS[command]
    argv = tuple(str(world.script) if word == "SCRIPT" else word for word in argv)
    debate = ("run", "-q", *QUESTION, "--from", str(world.script))
    assert world.do(*debate, "Is it there?").code == 0
    words = [
        one for number in range(count) for one in ((*debate, f"Debate {number}?"), ("start", *ONLY, f"Start {number}?"))
    ]
    born, others = Crowd(len(words)), Crowd()
    running = [world.start(world.job(one)) for one in words]
    for one, begun in zip(words, running, strict=True):
        others.tried += 1
        ended = world.do(*argv)
        fine = ended.code in allowed and "Traceback" not in ended.err
        others.demand(fine, f"{command} {others.tried}", f"exit code {ended.code}: {ended.err}")
        (ended,) = world.ended(begun)
        born.demand(ended.code == 0, f"{one[0]} {one[-1]}", f"exit code {ended.code}: {ended.err}")
    (listed,) = world.in_a_row(("list", "--json", "-n", "100000"))
    states = {row["topic"]: row["state"] for row in json.loads(listed.out)}
    for one in words:
        state = states.pop(one[-1], "gone")
        finished = one[0] == "run" or (command == "recover" and state != "waiting")  # it may finish what only began
        born.demand(state == ("complete" if finished else "waiting"), f"{one[0]} {one[-1]}", f"is {state}")
    born.demand(list(states) == ["Is it there?"], "home", f"holds {states} too")
    return born, others


# What is done beside them, and how it may end: the newest session may be another's, or not finished.
COMMANDS: dict[str, tuple[tuple[str, ...], tuple[int, ...]]] = {
    "list": (("list", "--json"), (0,)),
    "recover": (("recover", "--speaker", "replay", "--from", "SCRIPT"), (0, Busy.code)),
    "archive": (("archive",), (0, 2, Busy.code)),
    "verify": (("verify",), (0,)),
}
