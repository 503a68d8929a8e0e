"""What the processes of a sandbox use together, seen from outside."""

from __future__ import annotations

import os
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


def measure(first: int) -> InUse:
    """`first` is the first process of the sandbox. Its /proc lists every process of the sandbox, and nothing else."""
    root = Path(f"/proc/{first}/root")
    memory, ticks = 0, 0
    try:
        for process in (path for path in root.joinpath("proc").iterdir() if path.name.isdigit()):
            fields = _read_stat(process)
            memory += int(fields[21]) * PAGE
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
