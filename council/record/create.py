"""Creates a session: a folder of its own, with its metadata written last."""

from __future__ import annotations

import secrets
from collections.abc import Mapping
from contextlib import suppress
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from council.errors import Busy, CouncilError, StorageError
from council.record import catalog, files, lock
from council.record.metadata import FROZEN, SCHEMA, seal
from council.record.program import Program
from council.record.session import Session, open_
from council.record.turn_file import sha256


def create(
    root: Path, workflow_text: str, topic: str, program: Program, facts: Mapping[str, Any], attempts: int = 3
) -> Session:
    """A new session. Its metadata is written last: without it, a session never began and nothing was spent on it."""
    remove_unfinished(root)
    now = datetime.now(UTC)
    folder = root / f"{now:%Y%m%d-%H%M%S}-{secrets.token_hex(4)}"
    frozen = dict(zip(FROZEN, (files.encode(workflow_text), files.encode(topic), program.data), strict=True))
    metadata = {
        "schema": SCHEMA,
        "session_id": folder.name,
        "started_at": now.isoformat(timespec="seconds"),
        **facts,
        "files": {name: sha256(data) for name, data in frozen.items()},
    }
    for name, data in frozen.items():
        files.check_size(data, f"the session's {name}")
    files.make_folder(folder)
    try:
        with lock.hold(folder) as held:
            for name, data in frozen.items():
                held.check()
                files.create(folder / name, data)
            files.create(folder / "metadata.json", seal(metadata))
    except (Busy, StorageError, FileNotFoundError):
        if attempts > 1 and not folder.exists():  # another process removed it before it was locked
            return create(root, workflow_text, topic, program, facts, attempts - 1)
        raise
    return open_(folder)


def remove_unfinished(root: Path) -> None:
    """Remove what is left of sessions that were interrupted before they began.

    A folder with anything else in it stays: a damaged session has turns or briefs. So does a link, which leads to
    what may not be ours.
    """
    for folder in catalog.folders(root):
        with suppress(CouncilError, OSError):  # another process may be removing it too
            if _unfinished(folder):
                with lock.hold(folder):
                    if _unfinished(folder):  # its creator may have held the lock until now, and finished
                        for name in (*FROZEN, lock.LOCK):
                            files.remove(folder / name)
                        folder.rmdir()


def _unfinished(folder: Path) -> bool:
    names = set() if folder.is_symlink() else {path.name for path in folder.iterdir()}
    return {name for name in names if not name.endswith(files.TEMP)} - set(FROZEN) == {lock.LOCK}
