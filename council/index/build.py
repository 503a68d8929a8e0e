"""Brings an index up to date in a process of its own, for a server: the memory that it needs ends with it.

It may be killed at any moment, as any refresh.
"""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Callable, Sequence
from contextlib import closing
from pathlib import Path

from council.index.query import open_index

PROGRAM = "import sys; sys.path.insert(0, sys.argv.pop(1)); from council.index.build import main; main(*sys.argv[1:])"
POLITE = 10  # nicer than the debates that may be running


def build(roots: Sequence[Path], path: Path, deep: bool, count: Callable[[int], object]) -> bool:
    """Start the process and wait for it; `count` hears how many sessions it has read. Whether it ended well."""
    top = str(Path(__file__).resolve().parents[2])
    words = [sys.executable, "-I", "-c", PROGRAM, top, str(path), str(int(deep)), *map(str, roots)]
    with subprocess.Popen(
        words, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL
    ) as process:
        assert process.stdout
        for line in process.stdout:
            count(int(line))
    return process.returncode == 0


def main(path: str, deep: str, *roots: str) -> None:
    """What the process does. If nobody listens any more, it ends."""
    os.nice(POLITE)
    with closing(open_index([Path(root) for root in roots], Path(path))) as index:
        index.refresh(deep == "1", progress=lambda read, _: print(read, flush=True))
