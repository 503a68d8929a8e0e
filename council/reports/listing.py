"""The rows of `council list`: what was found out about a session counts until one of its files changes.

They are kept in one file beside the sessions, which may be deleted at any time. It imports little, because `list` has
little to do when nothing has changed.
"""

from __future__ import annotations

import hashlib
import json
import os
import time
from collections.abc import Mapping
from contextlib import suppress
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from council import __version__
from council.errors import CouncilError
from council.record import catalog, files, lock
from council.record.turn_file import sha256

NAME = ".list.json"
SETTLED = 1.0  # seconds after which a file's time tells whether it has changed since


def list_rows(root: Path, most: int) -> list[dict[str, Any]]:
    """The newest sessions as `list --json` prints them. Only those whose files changed are checked again."""
    ids = catalog.all_ids(root)
    kept = _read(root / NAME)
    found, new = [], {}
    for id in ids[:most]:
        stamp = _stamp(root / id)
        known = kept.get(id, {})
        if stamp and known.get("stamp") == stamp and not lock.is_held(root / id):
            began = datetime.fromisoformat(known["row"]["started_at"])
            row = known["row"] | {"folder": str(root / id), "age": age(began)}
        else:
            row = describe(root / id)
            if stamp and row["state"] not in ("damaged", "running"):
                new[id] = {"stamp": stamp, "row": row}
        found.append(row)
    if new:
        there = {id: kept[id] for id in ids if id in kept}
        _write(root / NAME, there | new)
    return found


def age(began: datetime) -> str:
    """How long ago that was, in its largest unit."""
    seconds = (datetime.now(UTC) - began).total_seconds()
    for unit, size in (("d", 86400), ("h", 3600), ("m", 60)):
        if seconds >= size:
            return f"{seconds // size:.0f}{unit}"
    return f"{max(seconds, 0):.0f}s"


def describe(folder: Path) -> dict[str, Any]:
    """The row of a session from its files. Whatever is in one folder, the others are listed."""
    from council.reports import summary
    from council.reports.verify import Status

    try:
        return summary.as_row(summary.summarize(folder))
    except Exception as failure:  # noqa: BLE001 (a mistake of ours must not hide the other sessions)
        why = f"cannot be read ({type(failure).__name__}: {failure}); `council verify {folder.name}` says more"
        return summary.as_row(summary.summarize(folder, Status("damaged", why)))


def _stamp(folder: Path) -> str:
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


def _read(path: Path) -> Mapping[str, Any]:
    """What was kept, if this version wrote it for this home."""
    with suppress(OSError, CouncilError):
        seal, _, data = files.read(path).partition(b"\n")
        if seal == _seal(data):
            found: Mapping[str, Any] = json.loads(data)
            return found
    return {}


def _seal(data: bytes) -> bytes:
    """A row holds only for the version that found it out, and for the user whose home its paths are in."""
    return sha256(f"{__version__}\0{Path.home()}\0".encode("utf-8", "surrogateescape") + data).encode()


def _write(path: Path, whole: Mapping[str, Any]) -> None:
    data = json.dumps(whole).encode()
    with suppress(CouncilError):  # then the next one checks them again
        files.replace(path, _seal(data) + b"\n" + data)
