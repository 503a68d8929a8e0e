"""Control groups of version 2, on a made-up tree: the files are those that the kernel documents (cgroup-v2.rst)."""

from __future__ import annotations

import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest

from council.sandbox import cgroup
from council.sandbox.model import Bounds

EVENTS = "low 0\nhigh 0\nmax 12\noom 1\noom_kill {killed}\noom_group_kill 1\n"
FILES = {
    "cgroup.procs": "", "cgroup.subtree_control": "", "memory.max": "max\n", "memory.swap.max": "max\n",
    "memory.oom.group": "0\n", "memory.peak": "4096\n", "memory.events": EVENTS.format(killed=0), "pids.max": "max\n",
}  # fmt: skip


@pytest.fixture
def top(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """Where each new folder has its files at once, and is removed with them, as the kernel does it."""
    real, remove = Path.mkdir, Path.rmdir

    def mkdir(path: Path, *args: object, **named: object) -> None:
        real(path, *args, **named)  # type: ignore[arg-type]
        for name, text in FILES.items():
            path.joinpath(name).write_text(text)

    def rmdir(path: Path) -> None:
        for name in FILES:
            path.joinpath(name).unlink()
        remove(path)

    top = tmp_path / "cgroup"
    monkeypatch.setattr(Path, "mkdir", mkdir)
    monkeypatch.setattr(Path, "rmdir", rmdir)
    for folder in (top, top / "app.slice", top / "app.slice" / "ours.scope"):
        folder.mkdir()
    for folder in (top, top / "app.slice"):
        folder.joinpath("cgroup.subtree_control").write_text("cpu memory pids\n")
    own = top / "app.slice" / "ours.scope"
    monkeypatch.setattr(cgroup, "find_mount", lambda controller: None if controller else (top, own))
    cgroup.find_home.cache_clear()
    yield top
    cgroup.find_home.cache_clear()


def test_a_group_is_made_beside_ours_where_the_controllers_are_given_on(top: Path) -> None:
    """A group with processes gives none on, so it cannot be below ours."""
    assert cgroup.find_home() == (2, dict.fromkeys(("memory", "pids"), top / "app.slice"))
    (top / "app.slice" / "cgroup.subtree_control").write_text("memory\n")
    cgroup.find_home.cache_clear()
    assert cgroup.find_home() is None


def test_a_group_has_its_bounds_is_entered_and_is_read(top: Path) -> None:
    group = cgroup.make(Bounds(memory=5_000_000, processes=7))
    assert group is not None
    (folder,) = (top / "app.slice").glob("council-*")
    bounds = {name: folder.joinpath(name).read_text() for name in FILES if name.endswith(("max", "group"))}
    assert bounds == {"memory.max": "5000000", "memory.swap.max": "0", "memory.oom.group": "1", "pids.max": "11"}
    entered = subprocess.run([*group.prefix, "sh", "-c", "echo $PPID $$"], capture_output=True, text=True, check=True)
    assert folder.joinpath("cgroup.procs").read_text().strip() == entered.stdout.split()[1]
    assert group.peak == 4096
    assert not group.is_out_of_memory
    folder.joinpath("memory.events").write_text(EVENTS.format(killed=2))
    assert group.is_out_of_memory
    folder.joinpath("memory.peak").unlink()  # kernels before 5.19
    assert group.peak is None
    folder.joinpath("memory.peak").touch()
    folder.joinpath("cgroup.procs").write_text("")
    group.remove()
    assert not folder.exists()
