"""The sessions of a home: made, listed, and found by a person's word for one."""

from __future__ import annotations

import os
import re
import secrets
from collections.abc import Mapping
from contextlib import suppress
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from council.errors import CouncilError, UsageError
from council.record import files, lock
from council.record.metadata import FROZEN, SCHEMA, sealed
from council.record.program import Program
from council.record.session import ID, RECORD, Session, open_
from council.record.turn_file import sha256
from council.text import did_you_mean


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
    for folder in _folders(root):
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


def _folders(root: Path) -> list[Path]:
    if not root.is_dir():
        return []
    return sorted(
        (path for path in root.iterdir() if ID.fullmatch(path.name) and path.is_dir()), key=_age, reverse=True
    )


def _age(folder: Path) -> tuple[str, int]:
    """When a session began: by its id to the second, and then by the one file that is written first and never again."""
    try:
        return folder.name[:15], os.stat(folder / "workflow.md", follow_symlinks=False).st_mtime_ns
    except OSError:
        return folder.name[:15], 0


def all_ids(root: Path) -> list[str]:
    """Every session that began, newest first."""
    return [
        folder.name for folder in _folders(root) if (folder / "metadata.json").exists() or (folder / "turns").exists()
    ]


def find(root: Path, word: str) -> Path:
    """The session of that id, or of an unmistakable part of it; `last` is the newest. Never a path elsewhere."""
    ids = all_ids(root)
    if word in ("last", "latest"):
        if not ids:
            raise UsageError(f'there is no session in {root} yet; `council run "topic"` begins one')
        return root / ids[0]
    if not re.fullmatch(r"[0-9a-f-]{4,}", word):
        raise UsageError(f'"{word[:60]}" is no session id; `council list` shows them')
    matching = [word] if word in ids else [id for id in ids if id.startswith(word) or id.endswith(word)]
    if len(matching) == 1:
        return root / matching[0]
    if matching:
        more = f" and {len(matching) - 4} more" if len(matching) > 4 else ""
        raise UsageError(
            f'"{word}" fits {len(matching)} sessions: {", ".join(matching[:4])}{more}; give more of the id'
        )
    raise UsageError(f'there is no session "{word}" in {root}; {did_you_mean(word, ids[:20])}')
