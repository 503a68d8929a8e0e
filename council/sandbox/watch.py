"""What the processes of a sandbox use together, seen from outside."""

from __future__ import annotations

import os
import re
from dataclasses import dataclass
from pathlib import Path

PAGE, TICK = os.sysconf("SC_PAGE_SIZE"), os.sysconf("SC_CLK_TCK")
INODE = 1024  # about what the kernel needs for an empty file
SCRATCH = ("job", "tmp", "dev/shm")


@dataclass(frozen=True)
class InUse:
    """Bytes and seconds."""

    memory: int = 0
    cpu: float = 0.0


def measure(first: int, exact: bool = False) -> InUse:
    """`first` is the first process of the sandbox. Its /proc lists every process of the sandbox, and nothing else.

    Pages that processes share count for each of them, unless it has to be `exact`.
    """
    root = Path(f"/proc/{first}/root")
    memory, ticks = 0, 0
    try:
        for process in (path for path in root.joinpath("proc").iterdir() if path.name.isdigit()):
            fields = _read_stat(process)
            memory += _read_share(process) if exact else int(fields[21]) * PAGE
            ticks += sum(map(int, fields[11:15]))  # its own, and those of its children that have ended
        for place in SCRATCH:
            system = os.statvfs(root / place)
            memory += (system.f_blocks - system.f_bfree) * system.f_frsize + (system.f_files - system.f_ffree) * INODE
    except OSError:
        pass  # it has just ended
    return InUse(memory, ticks / TICK)


def _read_stat(process: Path) -> list[str]:
    """The fields after the name, which may hold anything. All are zero if it has just ended."""
    try:
        return process.joinpath("stat").read_text("utf-8", "replace").rpartition(") ")[2].split()
    except OSError:
        return ["0"] * 50


def _read_share(process: Path) -> int:
    """The memory of a process, with its share of what it has in common with others."""
    try:
        found = re.search(r"^Pss:\s+(\d+)", process.joinpath("smaps_rollup").read_text(), re.M)
        return int(found[1]) * 1024 if found else 0
    except OSError:
        return 0
