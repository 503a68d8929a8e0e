"""Rows of sessions as their files say they are. What was found out counts until a file of the session changes.

The index keeps such rows, each with a mark of every file of its session and a seal, so that a row which something else
changed is not believed. No state is told in any other way.
"""

from __future__ import annotations

import hashlib
import json
import os
import sqlite3
import time
from collections.abc import Callable, Sequence
from contextlib import suppress
from datetime import datetime
from itertools import count
from pathlib import Path
from typing import Any

from council import __version__
from council.index.store import Store
from council.record import lock
from council.record.turn_file import sha256
from council.reports.listing import age, describe

SETTLED = 1.0  # seconds after which a file's time tells whether it has changed since
PASSING = ("damaged", "running")  # states that are asked of the files each time
FEW = 5  # sessions that are checked until their replies are forgotten
Row = dict[str, Any]


def confirm(
    store: Store,
    folders: Sequence[Path],
    until: float | None = None,
    worth: Callable[[Path], bool] | None = None,
) -> list[Row]:
    """The row of each session. Only those whose files changed are checked again; after the moment `until`, of the
    monotonic clock, none is, and those that would be have None as their state. Those that are not `worth` it have no
    row."""
    found, new = [], []
    for folder in folders:
        stamp = stamp_files(folder)
        row = _recall(store, folder, stamp)
        if row is None and until is not None and time.monotonic() > until:
            row = _unchecked(folder)
        elif row is None:
            if worth and not worth(folder):
                continue
            row = describe(folder)
            _forget_replies(next(_described))
            if stamp and row["state"] not in PASSING:
                new.append((folder, stamp, row))
        found.append(row)
    if new:
        with suppress(sqlite3.OperationalError):  # read-only or in use: then the next one checks them again
            _keep(store, new)
    return found


_described = count(1)


def _forget_replies(described: int) -> None:
    """What was read of replies, which are not read again soon: with their briefs, it is most of what a server keeps."""
    from council.protocols import ledger, settling
    from council.replies import parse

    if described % FEW == 0:
        parse.forget()
        ledger.forget()
        settling.forget_sentences()


def _unchecked(folder: Path) -> Row:
    return {"session_id": folder.name, "folder": str(folder), "state": None, "why": "not checked yet"}


def stamp_files(folder: Path) -> str:
    """Changes with every file and folder of a session; empty if one changed so recently that its time may not tell."""
    seal, newest, start = hashlib.sha256(), 0, str(folder)
    there = [f"{top}/{name}" for top, folders, names in os.walk(start) for name in (*folders, *names)]
    with suppress(OSError):
        for path in (start, *sorted(there)):
            about = os.lstat(path)
            newest = max(newest, about.st_mtime_ns, about.st_ctime_ns)
            facts = (about.st_mode, about.st_ino, about.st_size, about.st_mtime_ns, about.st_ctime_ns)
            seal.update(f"{path.removeprefix(start)}\0{facts}\0".encode("utf-8", "surrogateescape"))
        if newest < (time.time() - SETTLED) * 1e9:
            return seal.hexdigest()
    return ""


def _recall(store: Store, folder: Path, stamp: str) -> Row | None:
    """What was found out, by this version, about these very files."""
    if not stamp or lock.is_held(folder):
        return None
    query = "SELECT row, seal FROM confirmed WHERE root = ? AND id = ? AND version = ? AND stamp = ?"
    for data, seal in store.rows(query, (str(folder.parent), folder.name, __version__, stamp)):
        if seal == _seal(folder, stamp, data):
            row: Row = json.loads(data)
            return row | {"folder": str(folder), "age": age(datetime.fromisoformat(row["started_at"]))}
    return None


def _keep(store: Store, new: Sequence[tuple[Path, str, Row]]) -> None:
    query = "INSERT OR REPLACE INTO confirmed (root, id, version, stamp, row, seal) VALUES (?, ?, ?, ?, ?, ?)"
    with store.writing() as db:
        for folder, stamp, row in new:
            data = json.dumps(row)
            values = (str(folder.parent), folder.name, __version__, stamp, data, _seal(folder, stamp, data))
            db.execute(query, values)


def _seal(folder: Path, stamp: str, data: str) -> str:
    """A row holds only for the version that found it out, and for the user whose home its paths are in."""
    return sha256(f"{__version__}\0{Path.home()}\0{folder}\0{stamp}\0{data}".encode("utf-8", "surrogateescape"))
