"""Killed at any call that changes a file: nothing is lost, nothing is half, and the next process goes on."""

from __future__ import annotations

import os
import shutil
from collections.abc import Callable
from pathlib import Path

import pytest

from council.next.errors import CouncilError, StorageError
from council.next.record import create as births
from council.next.record import desk, files, lock
from council.next.record.catalog import list_ids
from council.next.record.session import Session
from tests.next.record.sessions import ID, born, contents, hold
from tests.next.record.strikes import DEATHS, ERRORS, Strike, count, die, struck

Scenario = Callable[[Path], None]


def be_born(root: Path) -> None:
    with born(root):
        pass


def record_two(root: Path) -> None:
    hold(Session(root / ID), 2)


def answer_gate(root: Path) -> None:
    desk.answer(root / ID, desk.Answer("01-positions-gate/human", "## Gate\napprove", "ada", "page", 1.0))


def leave_answer(root: Path) -> None:
    desk.leave(root / ID, desk.Answer("01-positions-gate/human", "## Gate\napprove", "ada", "page", 1.0))


def merge(root: Path) -> None:
    session = Session(root / ID)
    with session.hold():
        session.merge_metadata(completed_at="now", totals={"usd": 1})


def nothing(root: Path) -> None:
    """The folder as it is before."""


def begun(root: Path) -> None:
    be_born(root)
    hold(Session(root / ID), 1)


def gated(root: Path) -> None:
    with born(root, program={"gates": ["positions"]}):
        pass
    hold(Session(root / ID), 2)


SCENARIOS: dict[str, tuple[Scenario, Scenario]] = {
    "birth": (nothing, be_born),
    "record": (begun, record_two),
    "answer": (gated, answer_gate),
    "desk": (gated, leave_answer),
    "metadata": (begun, merge),
}


def settle(name: str, root: Path) -> None:
    """What the next process does."""
    births.sweep(root) if root.exists() else None
    if name == "birth":
        if not list_ids(root):
            be_born(root)
        return
    if name == "record":
        while len(Session(root / ID).plan.scene.turns) + len([1 for _ in (root / ID / "turns").glob("*/*")]) == 0:
            raise AssertionError
        missing = 3 - len([*(root / ID / "turns").glob("*/*.md")])
        hold(Session(root / ID), missing) if missing > 0 else None
    elif name in ("answer", "desk"):
        if not (root / ID / "turns/01-positions-gate/human.md").exists():
            answer_gate(root)
            session = Session(root / ID)
            with session.hold():
                desk.take(session)
    elif name == "metadata":
        merge(root)


def facts(root: Path) -> dict[str, bytes]:
    """What the record says, without the moments at which it was written."""
    found = {}
    session = Session(root / ID)
    session.plan  # noqa: B018 (it reads and checks every turn)
    for path, data in contents(root / ID).items():
        if path.startswith("turns"):
            found[path] = data.partition(b"\n---\n")[2]
        elif path.startswith("briefs") or path in ("topic.md", "workflow.md"):
            found[path] = data
    return found


@pytest.mark.parametrize("kind", DEATHS)
@pytest.mark.parametrize("name", SCENARIOS)
def test_killed_at_a_call(name: str, kind: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    kill(name, kind, tmp_path, monkeypatch, every=7)


@pytest.mark.full
@pytest.mark.parametrize("kind", DEATHS)
@pytest.mark.parametrize("name", SCENARIOS)
def test_killed_at_every_call(name: str, kind: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    kill(name, kind, tmp_path, monkeypatch, every=1)


def kill(name: str, kind: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, every: int) -> None:
    monkeypatch.setattr(files, "OLD", -1.0)
    prepare, act = SCENARIOS[name]
    whole = tmp_path / "whole"
    whole.mkdir()
    prepare(whole)
    calls = count(act, whole).number
    settle(name, whole)
    expected = facts(whole)
    before = tmp_path / "before"
    before.mkdir()
    prepare(before)
    assert calls > 5
    for at in range(1 + DEATHS.index(kind) % every, calls + 1, every):
        root = tmp_path / f"{kind}-{at}"
        shutil.copytree(before, root)
        kept = contents(root / ID) if (root / ID).exists() else {}
        killed = die(act, root, kind, at)
        assert killed or kind != "before"
        if (root / ID).exists():
            for path, data in kept.items():
                assert path == "metadata.json" or (root / ID / path).read_bytes() == data, "what was there stays"
            Session(root / ID).plan  # noqa: B018
            assert not lock.is_held(root / ID)
        else:
            assert name == "birth"
            assert list_ids(root) == []
        settle(name, root)
        assert facts(root) == expected
        leftovers = [path for path in root.rglob("*") if "council-temp" in path.name]
        assert leftovers == [] or all(path.is_relative_to(root / ID) for path in leftovers)
        with Session(root / ID).hold():
            assert [path for path in root.rglob("*") if "council-temp" in path.name] == []
        shutil.rmtree(root)


@pytest.mark.parametrize("kind", ERRORS)
@pytest.mark.parametrize("name", SCENARIOS)
def test_a_disk_that_fails(name: str, kind: str, tmp_path: Path) -> None:
    """It is told with the path, exit code 6, and everything that was there stays."""
    prepare, act = SCENARIOS[name]
    before = tmp_path / "before"
    before.mkdir()
    prepare(before)
    shutil.copytree(before, tmp_path / "count")
    calls = count(act, tmp_path / "count").number
    for at in range(1, calls + 1, 3):
        root = tmp_path / f"{kind}-{at}"
        shutil.copytree(before, root)
        kept = contents(root / ID) if (root / ID).exists() else {}
        failures: list[CouncilError] = []
        try:
            with struck(Strike(kind, at)):
                act(root)
        except CouncilError as failure:
            failures.append(failure)
        assert all(isinstance(one, StorageError) and str(root) in str(one) for one in failures)
        for path, data in kept.items():
            assert path == "metadata.json" or (root / ID / path).read_bytes() == data
        if (root / ID).exists():
            Session(root / ID).plan  # noqa: B018
        shutil.rmtree(root)


@pytest.mark.parametrize("name", SCENARIOS)
def test_what_is_promised_is_on_the_disk(name: str, tmp_path: Path) -> None:
    """Power may fail after any call: contents come before names, names before the answer, and each folder is synced."""
    prepare, act = SCENARIOS[name]
    prepare(tmp_path)
    trace = count(act, tmp_path).trace
    dirty: set[str] = set()  # written, and not synced
    folders: set[str] = set()  # whose names changed since they were synced
    for call, what in trace:
        if call == "write":
            dirty.add(what)
        elif call == "fsync":
            dirty.discard(what)
            folders.discard(what)
        elif call == "mkdir":
            folders.add(os.path.dirname(what))  # noqa: PTH120 (the trace holds text)
        elif call == "rename":
            source, _, target = what.partition(" > ")
            assert not {one for one in dirty if one == source or one.startswith(f"{source}/")}, (
                f"{source} is not synced"
            )
            assert not {one for one in folders if one == source or one.startswith(f"{source}/")}
            folders.add(os.path.dirname(target))  # noqa: PTH120
    assert dirty == set()
    assert not [one for one in folders if one.startswith(str(tmp_path))]
