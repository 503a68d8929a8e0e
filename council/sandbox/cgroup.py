"""Control groups: the kernel bounds memory and processes of a whole job. Where none can be made, a watchdog does."""

from __future__ import annotations

import contextlib
import itertools
import os
import re
import signal
import subprocess
import time
from collections.abc import Iterator, Mapping
from functools import cache
from pathlib import Path

from council.sandbox import leftovers
from council.sandbox.model import Bounds

Folders = Mapping[str, Path]  # by controller, as cgroup v1 has them; in v2 both are the same
SPARE = 4  # processes of bubblewrap's own, which are in the group
LIMITS = {  # by version; a kernel without swap accounting lacks some
    1: ("memory.limit_in_bytes={memory}", "memory.memsw.limit_in_bytes={memory}", "pids.max={processes}"),
    2: ("memory.max={memory}", "memory.swap.max=0", "memory.oom.group=1", "pids.max={processes}"),
}
PEAKS = {1: "memory.max_usage_in_bytes", 2: "memory.peak"}
EVENTS = {1: "memory.oom_control", 2: "memory.events"}
ENTER = 'while [ "$1" != -- ]; do echo $$ > "$1" || exit 125; shift; done; shift; exec "$@"'
COUNTER = itertools.count(1)
PATIENCE = 2.0  # seconds that killed processes may take to leave a group


class ControlGroup:
    """A group for one job, in the given folders. `prefix` starts a command in it."""

    def __init__(self, version: int, parents: Folders, bounds: Bounds) -> None:
        name = f"council-{leftovers.identify()}-{next(COUNTER)}"
        self._version = version
        self._folders = {controller: parent / name for controller, parent in parents.items()}
        amounts = {"memory": bounds.memory, "processes": bounds.processes + SPARE}
        try:
            for folder in set(self._folders.values()):
                folder.mkdir()
            for file, _, amount in (limit.partition("=") for limit in LIMITS[version]):
                path = self._folders[file.partition(".")[0]] / file
                if path.exists() or "sw" not in file:
                    path.write_text(amount.format(**amounts))
        except OSError:
            self.remove()
            raise

    @property
    def prefix(self) -> list[str]:
        entrances = sorted({str(folder / "cgroup.procs") for folder in self._folders.values()})
        return ["/bin/sh", "-c", ENTER, "sh", *entrances, "--"]

    @property
    def peak(self) -> int | None:
        """The most memory that was in use, with the files that it read."""
        with contextlib.suppress(OSError):
            return int((self._folders["memory"] / PEAKS[self._version]).read_text())
        return None

    @property
    def is_out_of_memory(self) -> bool:
        """Whether the kernel killed a process of it for want of memory."""
        with contextlib.suppress(OSError):
            killed = re.search(r"^oom_kill (\d+)", (self._folders["memory"] / EVENTS[self._version]).read_text(), re.M)
            return killed is not None and int(killed[1]) > 0
        return False

    def remove(self) -> None:
        for folder in set(self._folders.values()):
            _remove(folder)


def make(bounds: Bounds) -> ControlGroup | None:
    """A new group, if this process can make one."""
    home = find_home()
    with contextlib.suppress(OSError):
        return ControlGroup(*home, bounds) if home else None
    return None


@cache
def find_home() -> tuple[int, Folders] | None:
    """The version, and folders in which a process of ours can really enter a new group. Groups that a killed runner
    left there are removed.
    """
    for version, folders in _list_homes():
        for folder in set(folders.values()):
            _sweep(folder)
        try:
            group = ControlGroup(version, folders, Bounds())
        except OSError:
            continue
        tried = subprocess.run([*group.prefix, "true"], stderr=subprocess.DEVNULL, check=False)
        group.remove()
        if tried.returncode == 0:
            return version, folders
    return None


def _list_homes() -> Iterator[tuple[int, Folders]]:
    """Where groups could be made: below our own, beside it, or where root has prepared a folder for this user."""
    prepared = f"council-{os.geteuid()}"
    mounts = {controller: found for controller in ("memory", "pids", "") if (found := find_mount(controller))}
    if "memory" in mounts and "pids" in mounts:
        separate = {controller: mounts[controller] for controller in ("memory", "pids")}
        for folders in (
            {controller: top / prepared for controller, (top, _) in separate.items()},
            {controller: own for controller, (_, own) in separate.items()},
        ):
            if all(os.access(folder, os.W_OK) for folder in folders.values()):
                yield 1, folders
    if "" in mounts:
        top, own = mounts[""]
        for folder in (top / prepared, own, own.parent):
            with contextlib.suppress(OSError):
                enabled = folder.joinpath("cgroup.subtree_control").read_text().split()
                if {"memory", "pids"} <= set(enabled) and os.access(folder, os.W_OK):
                    yield 2, {"memory": folder, "pids": folder}


def find_mount(controller: str) -> tuple[Path, Path] | None:
    """Where a controller of v1 is mounted, or v2 if it has no name, and our own group there."""
    own = ""
    for line in Path("/proc/self/cgroup").read_text().splitlines():
        _, controllers, group = line.split(":", 2)
        if controller in controllers.split(","):
            own = group
    for line in Path("/proc/self/mountinfo").read_text().splitlines():
        fields, _, system = line.partition(" - ")
        kind, _, options = system.split(" ", 2)
        if kind == ("cgroup" if controller else "cgroup2") and (not controller or controller in options.split(",")):
            root, top = fields.split()[3:5]
            below = os.path.relpath(own, root)
            return Path(top), Path(top) if below.startswith("..") else Path(top, below)
    return None


def _sweep(folder: Path) -> None:
    """Remove the groups of runners that are gone."""
    with contextlib.suppress(OSError):
        for group in folder.glob("council-*-*-*-*"):
            if leftovers.is_gone(group.name.removeprefix("council-").rpartition("-")[0]):
                _remove(group)


def _remove(folder: Path) -> None:
    """Kill every process in a group, and remove it."""
    latest = time.monotonic() + PATIENCE
    while folder.exists() and time.monotonic() < latest:
        with contextlib.suppress(OSError):
            for process in map(int, folder.joinpath("cgroup.procs").read_text().split()):
                if process:  # 0 is one that cannot be seen from here
                    os.kill(process, signal.SIGKILL)
        with contextlib.suppress(OSError):
            folder.rmdir()
            return
        time.sleep(0.005)
