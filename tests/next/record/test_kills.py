"""Killed at any call that changes a file: nothing is lost, nothing is half, and the next process goes on."""

from __future__ import annotations

import os
import shutil
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path

import pytest

from council.next.errors import CouncilError, Damaged, StorageError
from council.next.record import catalog, desk, files, lock
from council.next.record import create as births
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


def ask_to_pause(root: Path) -> None:
    session = Session(root / ID)
    with session.hold():
        assert desk.pause(root / ID, "ada")


BRIEFS = (("one", "a"), ("another", "b"), ("one", "c"), ("shared of positions\n", "d"))


def write_again(root: Path) -> None:
    """A brief of a turn that was not spoken yet becomes another one, and then what the batch shares."""
    session = Session(root / ID)
    with session.hold():
        id = session.plan.due[0].id
        for shared, own in BRIEFS:
            session.write_brief(id, shared, own)
            assert session.brief(id) == f"{shared}{own}".encode()


def mark(root: Path) -> None:
    catalog.mark_as_ours(root / "home" / "ours", Session(root / ID))


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
    "pause": (begun, ask_to_pause),
    "brief": (begun, write_again),
    "mark": (begun, mark),
}


def settle(name: str, root: Path) -> None:
    """What the next process does."""
    births.sweep(root) if root.exists() else None
    if name == "birth":
        if not catalog.rows(root):
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
    elif name != "metadata" or "totals" not in Session(root / ID).metadata:
        SCENARIOS[name][1](root)


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
            assert catalog.rows(root) == []
        settle(name, root)
        assert facts(root) == expected
        leftovers = [path for path in root.rglob("*") if "council-temp" in path.name]
        assert leftovers == [] or all(path.is_relative_to(root / ID) for path in leftovers)
        with Session(root / ID).hold():
            assert [path for path in root.rglob("*") if "council-temp" in path.name] == []
        shutil.rmtree(root)


@pytest.mark.parametrize("kind", ["before", "after"])
def test_a_brief_that_is_there_is_whole(kind: str, tmp_path: Path) -> None:
    """Whenever the writer is killed: never the shared part of one brief with the own part of another."""
    begun(tmp_path)
    id = Session(tmp_path / ID).plan.due[0].id
    shutil.copytree(tmp_path, tmp_path / "count")
    found = set()
    for at in range(1, count(write_again, tmp_path / "count").number + 1):
        root = tmp_path / f"{kind}-{at}"
        shutil.copytree(tmp_path / ID, root / ID)
        die(write_again, root, kind, at)
        brief = ""
        with suppress(Damaged):
            brief = Session(root / ID).brief(id).decode()
        found.add(brief)
    assert found == {"", *(f"{shared}{own}" for shared, own in BRIEFS)}


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


# ---- power may fail after any call ----


def is_hidden(path: Path) -> bool:
    """Whether it is in, or is, what nobody takes for a whole file."""
    return any(part.startswith(".") and part.endswith(files.TEMP) for part in path.parts)


class Disk:
    """What is on the disk for certain: contents after their fsync, names after the fsync of their folder."""

    def __init__(self) -> None:
        self.dirty: set[Path] = set()  # files with bytes that may be lost
        self.loose: set[Path] = set()  # names that may be lost
        self.placed: list[Path] = []  # what was renamed to where others look for it

    def follow(self, trace: list[tuple[str, str]]) -> None:
        for number, (call, what) in enumerate(trace):
            path = Path(what.partition(" > ")[0])
            if call == "open":
                assert is_hidden(path) or path.name == lock.LOCK, f"{path} can be seen before it is whole"
                self.loose.add(path)
            elif call == "mkdir":
                self.loose.add(path)
            elif call == "write":
                self.dirty.add(path)
            elif call == "fsync":
                self.dirty.discard(path)
                self.loose = {name for name in self.loose if name.parent != path}
            elif call == "rename":
                target = Path(what.partition(" > ")[2])
                self.place(path, target)
                assert trace[number + 1 : number + 3] == [("look", str(target.parent)), ("fsync", str(target.parent))]
        assert not self.dirty
        assert not {name for name in self.loose if not name.name.startswith(".")}

    def place(self, path: Path, target: Path) -> None:
        assert not {one for one in self.dirty if one.is_relative_to(path)}, f"the bytes of {path} may be lost"
        assert not {one for one in self.loose if path in one.parents}, f"what is in {path} may be lost"
        assert is_hidden(target) or not {*target.parents} & self.loose, f"a folder above {target} may be lost"
        self.loose = {one for one in self.loose if one != path} | {target}
        self.placed.append(target)


def trace_of(act: Scenario, root: Path) -> list[tuple[str, str]]:
    """The calls of a scenario. Whatever it changed must have been put in its place by one of them."""
    before = contents(root, ("runner.json",))
    trace = count(act, root).trace
    disk = Disk()
    disk.follow(trace)
    for name, data in contents(root, ("runner.json", ".lock")).items():
        placed = any((root / name).is_relative_to(target) for target in disk.placed)
        assert placed or before.get(name) == data, f"{name} was written by other calls"
    return trace


@pytest.mark.parametrize("name", SCENARIOS)
def test_what_is_promised_is_on_the_disk(name: str, tmp_path: Path) -> None:
    """Contents come before names, names before whatever is done next, and each folder that is made is synced."""
    prepare, act = SCENARIOS[name]
    prepare(tmp_path)
    assert [call for call, _ in trace_of(act, tmp_path)].count("rename") >= 1


def plainly(root: Path) -> None:
    (root / "turn.md").write_bytes(b"x")


def at_its_place(root: Path) -> None:
    files.fill(root / "turn.md", b"x")


def without_its_bytes(root: Path) -> None:
    draft = root / f".turn.md{files.TEMP}"
    handle = os.open(draft, os.O_WRONLY | os.O_CREAT)
    os.write(handle, b"x")
    os.close(handle)
    draft.rename(root / "turn.md")
    files.sync_folder(root)


def without_its_folder(root: Path) -> None:
    draft = root / f".turn.md{files.TEMP}"
    files.fill(draft, b"x")
    draft.rename(root / "turn.md")


def in_a_loose_folder(root: Path) -> None:
    (root / "turns").mkdir()
    files.write(root / "turns" / "turn.md", b"x")


def a_folder_half(root: Path) -> None:
    with files.placed(root / "session") as hidden:
        (hidden / "attached").mkdir(parents=True)
        files.fill(hidden / "attached" / "a.md", b"x")


@pytest.mark.parametrize(
    "act", [plainly, at_its_place, without_its_bytes, without_its_folder, in_a_loose_folder, a_folder_half]
)
def test_a_write_that_promises_too_much_is_found(act: Scenario, tmp_path: Path) -> None:
    with pytest.raises(AssertionError):
        trace_of(act, tmp_path)
