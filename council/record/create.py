"""A session is made here: in a folder of its own, with its metadata written last."""

from __future__ import annotations

import secrets
from collections.abc import Mapping
from contextlib import suppress
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from council.errors import CouncilError
from council.record import catalog, files, lock
from council.record.metadata import FROZEN, SCHEMA, sealed
from council.record.program import Program
from council.record.session import RECORD, Session, open_
from council.record.turn_file import sha256


def create(root: Path, workflow_text: str, topic: str, program: Program, facts: Mapping[str, Any]) -> Session:
    """A new session. Its metadata is written last: a folder without it never began, and nothing was spent on it."""
    clear_unborn(root)
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
    files.make_folder(root)
    files.make_folder(folder)
    with lock.hold(folder) as mine:
        for name, data in frozen.items():
            mine.check()
            files.create(folder / name, data)
        files.create(folder / "metadata.json", sealed(metadata))
    return open_(folder)


def clear_unborn(root: Path) -> None:
    """Remove what is left of sessions whose making was cut off before they began; where there is more, nothing is."""
    for folder in catalog.folders(root):
        if _unborn(folder):
            with suppress(CouncilError, OSError), lock.hold(folder):
                for name in (*RECORD, lock.LOCK):
                    files.remove(folder / name)
                folder.rmdir()


def _unborn(folder: Path) -> bool:
    """A damaged session still has turns or briefs, and a link leads to what is not ours: neither is a leftover."""
    names = set() if folder.is_symlink() else {path.name for path in folder.iterdir()}
    rest = {name for name in names if not name.endswith(files.TEMP)} - set(FROZEN)
    return rest == {lock.LOCK}
