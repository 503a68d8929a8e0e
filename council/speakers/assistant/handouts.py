"""Notes that a brief was handed out to a member who fetched it with `council brief`.

A note is an empty file beside the record, as old as the last hand-out. It blocks nobody.
"""

from __future__ import annotations

import os
import time
from collections.abc import Collection, Mapping
from contextlib import suppress
from pathlib import Path

from council.errors import StorageError
from council.record import files, tracked
from council.speakers.assistant.transcripts import NOTES

SUFFIX = ".brief"


def write_note(folder: Path, turn: str) -> None:
    """Note that a brief was handed out. A member that cannot write here is given its brief all the same."""
    if tracked.explain(folder):
        return
    path = _path(folder, turn)
    for _ in range(3):  # the folder is removed when the last note goes
        with suppress(StorageError, OSError):
            files.make_folder(path.parent)
            files.replace(path, b"")
            os.utime(path)
            return


def read_age(folder: Path, turn: str) -> float | None:
    """The seconds since a brief was handed out; None if it was not."""
    try:
        return max(0.0, time.time() - _path(folder, turn).stat(follow_symlinks=False).st_mtime)
    except OSError:
        return None


def is_from_member(folder: Path, turn: str, env: Mapping[str, str]) -> bool:
    """Whether a reply comes from the member that fetched the brief, as far as this can be known.

    Codex names the conversation of each command. The session's own is the one with the user, and so the host's.
    """
    thread = env.get("CODEX_THREAD_ID")
    by_host = thread is not None and thread == env.get("CODEX_SESSION_ID")
    return read_age(folder, turn) is not None and not by_host


def remove_notes(folder: Path, due: Collection[str]) -> None:
    """Remove the notes of turns that are not due any more."""
    kept = {_path(folder, turn) for turn in due}
    for path in (folder / NOTES).glob(f"*{SUFFIX}"):
        if path not in kept:
            files.remove(path)
    files.remove_empty(folder / NOTES)


def _path(folder: Path, turn: str) -> Path:
    return folder / NOTES / f"{turn.replace('/', '.')}{SUFFIX}"
