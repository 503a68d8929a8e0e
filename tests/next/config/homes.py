"""Writes the files of a user or of a project."""

from __future__ import annotations

from pathlib import Path


def put(folder: Path, **files: str) -> Path:
    """Files by their stems; Config.md by its frontmatter: `put(home / ".config/council", Config="stall: 5")`."""
    folder.mkdir(parents=True, exist_ok=True)
    for name, text in files.items():
        (folder / f"{name}.md").write_text(f"---\n{text}\n---\n" if name == "Config" else text, "utf-8")
    return folder
