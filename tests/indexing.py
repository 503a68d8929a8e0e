"""The index under attack: several writers at once, kills at any moment, and every byte of its file changed."""

from __future__ import annotations

import hashlib
import random
import signal
import sqlite3
import subprocess
import time
from collections.abc import Iterator, Sequence
from contextlib import closing
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from council.index.place import BESIDE
from council.index.query import Filters, Index
from tests import warm

BUILD = """
import sys
from pathlib import Path
from council.index import refresh
from council.index.query import Index
refresh.BATCH = 3
index = Index([Path(sys.argv[1])], Path(sys.argv[2]))
assert index.path, index.remarks
index.refresh()
index.close()
"""
# What the index says, whatever the order in which it was written: its rows, and every word of every text.
FACTS = (
    "SELECT {session} FROM session ORDER BY root, id",
    "SELECT session.id, {turn} FROM turn JOIN session ON session.number = turn.session ORDER BY 1, 2",
    "SELECT session.id, piece.turn, piece.kind, piece.facts FROM piece JOIN session ON session.number = piece.session "
    "ORDER BY 1, 2, 3, 4",
    "SELECT session.id, piece.turn, piece.kind, term, col, offset FROM instances JOIN piece ON piece.number = doc "
    "JOIN session ON session.number = piece.session ORDER BY 1, 2, 3, 4, 5, 6",
)
PASSING = ("number", "session", "turns_mark", "seal")  # of no meaning, or other for a session that is a moment older


def build(root: Path, path: Path) -> subprocess.Popen[bytes]:
    """A process that brings the index up to date."""
    return warm.python(BUILD, root, path, stderr=subprocess.PIPE)


def dump(path: Path) -> str:
    """A hash of all that the index says."""
    seal = hashlib.sha256()
    with closing(sqlite3.connect(path)) as db:
        assert db.execute("PRAGMA integrity_check").fetchone() == ("ok",)
        db.execute("CREATE VIRTUAL TABLE temp.instances USING fts5vocab (main, words, instance)")
        for query in FACTS:
            names = {
                table: ", ".join(f"{table}.{name}" for name in _columns(db, table)) for table in ("session", "turn")
            }
            for row in db.execute(query.format(**names)):
                seal.update(repr(row).encode())
    return seal.hexdigest()


def _columns(db: sqlite3.Connection, table: str) -> list[str]:
    names = [name for _, name, *_ in db.execute(f"PRAGMA table_info({table})")]
    return sorted(name for name in names if name not in PASSING)


def remove(path: Path) -> None:
    for name in BESIDE:
        Path(f"{path}{name}").unlink(missing_ok=True)


def clean(root: Path, path: Path, small: bool = False) -> str:
    """The hash of an index that nobody disturbed."""
    remove(path)
    if small:
        small_pages(path)
    run(build(root, path))
    return dump(path)


def run(process: subprocess.Popen[bytes]) -> None:
    _, err = process.communicate(timeout=300)
    assert process.returncode == 0, err.decode()


def kill_once(root: Path, path: Path, after: float) -> bool:
    """Kill a build after some seconds; whether it was still at work."""
    process = build(root, path)
    time.sleep(after)
    process.send_signal(signal.SIGKILL)
    process.communicate()
    return process.returncode == -signal.SIGKILL


def write_at_once(root: Path, path: Path, writers: int) -> list[str]:
    """Several first builds at once; what went wrong."""
    processes = [build(root, path) for _ in range(writers)]
    errors = [process.communicate(timeout=300)[1].decode() for process in processes]
    return [error for process, error in zip(processes, errors, strict=True) if process.returncode]


@dataclass
class Flips:
    """What became of an index with one byte changed, many times."""

    tried: int = 0
    wrong: list[str] = field(default_factory=list)


def flip_bytes(root: Path, path: Path, spots: Sequence[int], words: str) -> Flips:
    """Change one byte of the index at a time, and ask it. Whatever it then shows must be what the files say."""
    found = Flips()
    whole = path.read_bytes()
    truth = {row["session_id"]: _without_age(row) for row in _ask(root, path.with_name("truth.sqlite"), words)}
    for spot in spots:
        remove(path)
        path.write_bytes(whole[:spot] + bytes([whole[spot] ^ (1 << spot % 8)]) + whole[spot + 1 :])
        found.tried += 1
        try:
            for row in _ask(root, path, words):
                if _without_age(row) != truth[row["session_id"]]:
                    found.wrong.append(f"byte {spot}: {row}")
                for hit in row.get("hits", ()):
                    shown = {hit["snippet"][start:end].casefold() for start, end in hit["marks"]}
                    if not {*words.split()} <= shown:
                        found.wrong.append(f"byte {spot}: {hit}")
        except Exception as failure:  # noqa: BLE001 (any of them would have reached the user)
            found.wrong.append(f"byte {spot}: {type(failure).__name__}: {failure}")
    return found


def _ask(root: Path, path: Path, words: str) -> list[dict[str, Any]]:
    """The list, and what a search finds."""
    with closing(Index([root], path)) as index:
        index.refresh()
        return [*index.page(limit=50).rows, *index.page(Filters(words), limit=50).rows]


def small_pages(path: Path) -> None:
    """An empty file whose index takes few bytes, so that each of them can be changed."""
    with closing(sqlite3.connect(path)) as db:
        db.execute("PRAGMA page_size = 512")
        db.execute("VACUUM")


def _without_age(row: dict[str, Any]) -> dict[str, Any]:
    return {name: value for name, value in row.items() if name not in ("age", "hits")}


def moments(count: int, longest: float, seed: int = 0) -> Iterator[float]:
    dice = random.Random(seed)
    for _ in range(count):
        yield dice.uniform(0, longest)
