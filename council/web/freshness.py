"""Keeps the index up to date while somebody asks it: in a thread of its own, so that no request waits for a build; and
a large build in a process of its own, so that the server stays small."""

from __future__ import annotations

import sys
import time
from collections.abc import Sequence
from contextlib import closing
from pathlib import Path
from threading import Lock, Thread

from council.index.build import build
from council.index.query import Index, open_index
from council.index.refresh import read_progress
from council.index.scan import mark_file

PATIENCE = 0.3  # seconds that a request waits for what is new: most refreshes take less
SOME = 20  # sessions that are read here; of more, the rest is left to a process
REST = 5  # times as long as the last refresh took, until the next one is worth its work


class Freshness:
    """What is known of the index of some roots. Nothing is read unless it is asked for."""

    def __init__(self) -> None:
        self.lock = Lock()
        self.thread: Thread | None = None
        self.deep = False  # whether the thread reads every turn
        # Marks of the roots, until when they tell that nothing is new, and how far the index had got.
        self.known: dict[tuple[Sequence[Path], bool], tuple[tuple[str, ...], float, int]] = {}
        self.read, self.of = 0, 0

    def update(self, index: Index, deep: bool) -> float | None:
        """Bring the index up to date. What takes long goes on in the background; the answer is the share that was
        read."""
        if index.path is None:  # in memory: nobody else can read it
            index.refresh(deep)
            return None
        until = time.monotonic() + PATIENCE
        enough = False
        while not enough:
            with self.lock:
                if self.thread is None:
                    if self._is_fresh(index, deep):
                        return None
                    self.read = self.of = 0
                    self.deep = deep
                    self.thread = Thread(target=self._refresh, args=(index.store.roots, index.path, deep), daemon=True)
                    self.thread.start()
                thread, enough = self.thread, self.deep or not deep  # a list's refresh is no search's
            thread.join(max(0.0, until - time.monotonic()))
            if thread.is_alive() and self.of:
                return min(self.read / self.of, 0.99)
            if thread.is_alive():
                break
        # It may find nothing new, or have left it to another process. Only what was never read is missing for sure.
        return None if self._has_read(index, deep) else 0.0

    def _is_fresh(self, index: Index, deep: bool) -> bool:
        marks, until, _ = self.known.get((index.store.roots, deep), ((), 0.0, 0))
        return time.monotonic() < until and marks == _mark_roots(index.store.roots) and self._has_read(index, deep)

    def _has_read(self, index: Index, deep: bool) -> bool:
        """Whether everything was read into this index, and not into one that was begun again since."""
        *_, reached = self.known.get((index.store.roots, deep), (sys.maxsize,))
        return read_progress(index.store) >= reached

    def _refresh(self, roots: Sequence[Path], path: Path, deep: bool) -> None:
        """First what lists need, which is little, then every turn."""
        try:
            marks = _mark_roots(roots)
            with closing(open_index(roots, path)) as index:
                for deeply in (False, True)[: 1 + deep]:
                    began = time.monotonic()
                    done = index.refresh(deeply, SOME, self._count if deeply == deep else None)
                    if done.left and index.path and not self._build(roots, index.path, deeply, done.left):
                        done = index.refresh(deeply)
                    ended = time.monotonic()
                    if not done.busy:
                        rest = REST * (ended - began)
                        self.known[roots, deeply] = marks, ended + rest, read_progress(index.store)
        except Exception as failure:  # noqa: BLE001 (the next request tries again)
            print(f"council: {type(failure).__name__}: {failure}", file=sys.stderr, flush=True)
        finally:
            with self.lock:
                self.thread = None

    def _build(self, roots: Sequence[Path], path: Path, deep: bool, left: int) -> bool:
        return build(
            roots, path, deep, lambda read: self._count(SOME + read, SOME + left) if deep == self.deep else None
        )

    def _count(self, read: int, of: int) -> None:
        self.read, self.of = read, of


def _mark_roots(roots: Sequence[Path]) -> tuple[str, ...]:
    """Changes with each new session."""
    return tuple(mark_file(str(root)) for root in roots)


FRESHNESS = Freshness()
