"""The plan of a comparison: `lab.json` in a folder. Which tasks, in which order, and the id of every session.

It is written before the first call and decides everything; a second `lab run` in the folder continues it.
"""

from __future__ import annotations

import fcntl
import hashlib
import json
import random
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

from council.errors import Damaged, UsageError
from council.lab.sets.task import Task
from council.record import files
from council.text import slug

NAME, SCHEMA = "lab.json", 1
SESSIONS = Path("STATE", "council-sessions")
GIVEN_UP = "given-up"
LOCK = ".lock"


@dataclass(frozen=True)
class Experiment:
    """`arms` are in the order in which they run: a single call, the workflow, and the best of as many calls. `tasks`
    are the ids with their hashes and the ids of their sessions, by arm. The first of them are a fair sample: their
    order is shuffled by the seed.
    """

    set: str
    workflow: str
    arms: tuple[str, ...]
    options: Mapping[str, Any]
    speaker: str
    seed: int
    of: int
    tasks: Sequence[Mapping[str, Any]] = field(default_factory=tuple)

    @property
    def fixed(self) -> dict[str, Any]:
        """What may not change between two runs. More tasks may be asked for later."""
        return {key: value for key, value in self.encode().items() if key != "tasks"}

    def encode(self) -> dict[str, Any]:
        plain: dict[str, Any] = json.loads(json.dumps(asdict(self)))
        return {"schema": SCHEMA, **plain}


def plan(set_name: str, tasks: Sequence[Task], seed: int, limit: int | None, **about: Any) -> Experiment:
    """The experiment over the first tasks of the shuffled set."""
    order = list(tasks)
    random.Random(seed).shuffle(order)
    empty = Experiment(set=set_name, seed=seed, of=len(tasks), **about)
    listed = tuple(
        {
            "id": task.id,
            "hash": task.hash,
            **({"choice": task.choice} if task.choice else {}),
            "sessions": {arm: name_session(empty, task, arm) for arm in empty.arms},
        }
        for task in order[:limit]
    )
    return Experiment(set=set_name, seed=seed, of=len(tasks), tasks=listed, **about)


def name_session(experiment: Experiment, task: Task, arm: str) -> str:
    """The id of a session follows from what it is about, so that two runs mean the same one."""
    parts = [json.dumps(experiment.fixed, sort_keys=True), task.hash, arm]
    digest = hashlib.sha256("\0".join(parts).encode()).hexdigest()[:8]
    return f"{slug(task.id, 30) or 'task'}-{slug(arm, 16)}-{digest}"


def count_new(folder: Path, wanted: Experiment) -> int:
    """How many sessions this run would begin."""
    ids = (id for task in wanted.tasks for id in task["sessions"].values())
    return sum(not session_folder(folder, id).exists() for id in ids)


def settle(folder: Path, wanted: Experiment) -> Experiment:
    """Write the plan, or continue the one that is there: with more tasks if more are wanted."""
    files.make_folder(folder)
    with alone(folder):
        path = folder / NAME
        if path.exists():
            there = read(folder)
            for key, value in wanted.fixed.items():
                if there.fixed[key] != value:
                    raise UsageError(
                        f"{path} compares something else: {key} is {there.fixed[key]!r} there, and {value!r} was asked "
                        "for; choose another --folder"
                    )
            count = min(len(there.tasks), len(wanted.tasks))
            if list(there.tasks[:count]) != list(wanted.tasks[:count]):
                raise UsageError(f"{path}: the tasks of {wanted.set} have changed since; choose another --folder")
            if len(there.tasks) >= len(wanted.tasks):
                return there
        files.replace(path, json.dumps(wanted.encode(), indent=2, ensure_ascii=False).encode() + b"\n")
    return wanted


@contextmanager
def alone(folder: Path) -> Iterator[None]:
    """One program and one thread at a time. Not a session's lock: that one's holder removes what others are writing in
    the folders below.
    """
    with files.storing(folder / LOCK):
        file = (folder / LOCK).open("a+b")
    with file as mutex:
        fcntl.flock(mutex, fcntl.LOCK_EX)
        yield


def read(folder: Path) -> Experiment:
    path = folder / NAME
    if not path.is_file():
        raise UsageError(f"{folder} has no {NAME}: `council lab run` writes it")
    try:
        found = json.loads(files.read(path))
        if found.pop("schema") > SCHEMA:
            raise UsageError(f"{path} was written by a newer council; update council")
        return Experiment(**{**found, "arms": tuple(found["arms"]), "tasks": tuple(found["tasks"])})
    except (ValueError, TypeError, KeyError, AttributeError) as wrong:
        raise Damaged(path, f"not a plan that council wrote ({wrong}); restore it from a backup") from None


def session_folder(folder: Path, id: str) -> Path:
    return folder / SESSIONS / id
