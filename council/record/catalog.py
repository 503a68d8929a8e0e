"""The sessions of a home: listing them, and finding one by its id or a part of it. It reads no session."""

from __future__ import annotations

import os
import re
from pathlib import Path

from council.errors import UsageError
from council.text import did_you_mean

ID = re.compile(r"\d{8}-\d{6}-[0-9a-f]{8}")


def folders(root: Path) -> list[Path]:
    """The folders whose names are session ids, newest first."""
    if not root.is_dir():
        return []
    return sorted(
        (path for path in root.iterdir() if ID.fullmatch(path.name) and path.is_dir()), key=_began, reverse=True
    )


def _began(folder: Path) -> tuple[str, int]:
    """When a session began: its id has the second, and the file that is written first and never again the rest."""
    try:
        return folder.name[:15], os.stat(folder / "workflow.md", follow_symlinks=False).st_mtime_ns
    except OSError:
        return folder.name[:15], 0


def all_ids(root: Path) -> list[str]:
    """The ids of the sessions that began, newest first."""
    return [
        folder.name for folder in folders(root) if (folder / "metadata.json").exists() or (folder / "turns").exists()
    ]


def find(root: Path, word: str) -> Path:
    """The folder of the session with this id, or with an unambiguous part of it; `last` is the newest. Never a path
    elsewhere."""
    ids = all_ids(root)
    if word in ("last", "latest"):
        if not ids:
            raise UsageError(f'there is no session in {root} yet; `council run "topic"` starts one')
        return root / ids[0]
    if not re.fullmatch(r"[0-9a-f-]{4,}", word):
        raise UsageError(f'"{word[:60]}" is not a session id; `council list` shows your sessions')
    matching = [word] if word in ids else [id for id in ids if id.startswith(word) or id.endswith(word)]
    if len(matching) == 1:
        return root / matching[0]
    if matching:
        more = f" and {len(matching) - 4} more" if len(matching) > 4 else ""
        raise UsageError(
            f'"{word}" matches {len(matching)} sessions: {", ".join(matching[:4])}{more}; give more of the id'
        )
    raise UsageError(f'there is no session "{word}" in {root}; {did_you_mean(word, ids[:20])}')
