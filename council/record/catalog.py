"""The sessions of a home: listed, and found by a person's word for one. Nothing of them is read."""

from __future__ import annotations

import os
import re
from pathlib import Path

from council.errors import UsageError
from council.text import did_you_mean

ID = re.compile(r"\d{8}-\d{6}-[0-9a-f]{8}")


def folders(root: Path) -> list[Path]:
    """The folders that are named like sessions, newest first."""
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
        folder.name for folder in folders(root) if (folder / "metadata.json").exists() or (folder / "turns").exists()
    ]


def find(root: Path, word: str) -> Path:
    """The session of that id, or of an unmistakable part of it; `last` is the newest. Never a path elsewhere."""
    ids = all_ids(root)
    if word in ("last", "latest"):
        if not ids:
            raise UsageError(f'there is no session in {root} yet; `council run "topic"` begins one')
        return root / ids[0]
    if not re.fullmatch(r"[0-9a-f-]{4,}", word):
        raise UsageError(f'"{word[:60]}" is not a session id; `council list` shows your sessions')
    matching = [word] if word in ids else [id for id in ids if id.startswith(word) or id.endswith(word)]
    if len(matching) == 1:
        return root / matching[0]
    if matching:
        more = f" and {len(matching) - 4} more" if len(matching) > 4 else ""
        raise UsageError(
            f'"{word}" fits {len(matching)} sessions: {", ".join(matching[:4])}{more}; give more of the id'
        )
    raise UsageError(f'there is no session "{word}" in {root}; {did_you_mean(word, ids[:20])}')
