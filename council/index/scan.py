"""What is on the disk, as cheaply as it can be told: the session folders of a root, and marks of their files.

A mark changes when a file does. Nothing here opens a file.
"""

from __future__ import annotations

import hashlib
import os
import stat
import time
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path

from council.record import catalog
from council.record.turn_file import TURN

SETTLED = 2_000_000_000  # nanoseconds after which the time of a folder tells whether anything in it has changed since
LINK = "link"  # the mark of a session's folder that is a symbolic link


def list_sessions(root: Path) -> Iterator[tuple[str, str]]:
    """The name of each folder that may be a session, and the mark of its metadata."""
    with suppress(OSError), os.scandir(root) as entries:
        for entry in entries:
            if not catalog.ID.fullmatch(entry.name):
                continue
            if entry.is_symlink():
                yield entry.name, LINK
            elif entry.is_dir(follow_symlinks=False):
                yield entry.name, mark_file(f"{entry.path}/metadata.json")


def mark_file(path: str) -> str:
    try:
        about = os.lstat(path)
    except OSError:
        return "none"
    return f"{about.st_ino}:{about.st_size}:{about.st_mtime_ns}:{about.st_ctime_ns}"


def list_turns(folder: Path) -> tuple[dict[str, str], str]:
    """The mark of each turn's file, and that of the folders that they are in."""
    turns: dict[str, str] = {}
    places = _places(folder)
    mark = _mark(places)
    for place, _ in places:
        with suppress(OSError):
            turns |= dict(_turns_in(place, len(f"{folder}/turns/")))
    return turns, mark


def mark_turns(folder: Path) -> str:
    """The mark of the folders that turns are in; empty if one of them changed so recently that its time may not
    tell."""
    return _mark(_places(folder))


def _mark(places: list[tuple[str, os.stat_result]]) -> str:
    if not places or max(about.st_mtime_ns for _, about in places) > time.time_ns() - SETTLED:
        return ""
    facts = "\n".join(f"{place}\0{about.st_ino}\0{about.st_mtime_ns}" for place, about in places)
    return hashlib.sha256(facts.encode("utf-8", "surrogateescape")).hexdigest()[:24]


def _places(folder: Path) -> list[tuple[str, os.stat_result]]:
    """`turns` and the folders in it, as far as they are folders."""
    top, places = f"{folder}/turns", []
    with suppress(OSError):
        about = os.lstat(top)
        if stat.S_ISDIR(about.st_mode):
            places.append((top, about))
            with os.scandir(top) as entries:
                inner = [entry for entry in entries if entry.is_dir(follow_symlinks=False)]
            places += [(entry.path, entry.stat(follow_symlinks=False)) for entry in sorted(inner, key=lambda e: e.path)]
    return places


def _turns_in(place: str, cut: int) -> Iterator[tuple[str, str]]:
    with os.scandir(place) as entries:
        for entry in entries:
            path = entry.path
            if path.endswith(".md") and TURN.fullmatch(turn := path[cut:-3]):
                yield turn, hashlib.blake2b(mark_file(path).encode(), digest_size=9).hexdigest()
