"""Finds the files of the kit, the user and the project. If several have the same name, the nearest one is used."""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path

from council.errors import UsageError
from council.text import did_you_mean

DOCUMENTS = "documents"  # the folder of the templates of documents
LARGEST = 64_000_000  # bytes of a file that people edit
# Files among the kit's workflows that are guides for people and assistants, and not workflows.
GUIDES = {"recovery": "a guide to interrupted sessions; `council recover` continues one"}


def kit_folder() -> Path:
    """The folder of the kit's files: beside the package in a checkout, inside it when installed."""
    package = Path(__file__).resolve().parent.parent
    return package.parent if (package.parent / "Workflows").is_dir() else package / "kit"


def user_folder(env: Mapping[str, str] = os.environ) -> Path:
    base = env.get("XDG_CONFIG_HOME") or Path(env.get("HOME") or "~").expanduser() / ".config"
    return Path(base) / "council"


def project_folder(start: Path | None = None) -> Path | None:
    """The nearest `.council` folder, from the current folder up to the top of the repository."""
    for folder in (here := start or Path.cwd(), *here.parents):
        if (folder / ".council").is_dir():
            return folder / ".council"
        if (folder / ".git").exists():
            return None
    return None


def overlays() -> list[Path]:
    """The project's folder, the user's and the kit's. The first one that has a file is used."""
    return [folder for folder in (project_folder(), user_folder(), kit_folder()) if folder is not None]


def find(name: str) -> Iterator[Path]:
    """The files of that name, nearest first. A link out of its folder is refused: strangers write project folders."""
    for folder in overlays():
        path = folder / name
        if path.is_file():
            yield check_inside(path, folder)


def check_inside(path: Path, folder: Path) -> Path:
    if not path.resolve().is_relative_to(folder.resolve()):
        raise UsageError(f"{path}: the path escapes {folder}; copy the file there instead of linking it")
    return path


def workflows(folders: Iterable[Path] | None = None) -> dict[str, Path]:
    """Every workflow by its lower-case name: in these folders, nearest first, or in all overlays.

    What is not a file (a folder, a pipe, a link that leads nowhere) is passed over.
    """
    found: dict[str, Path] = {}
    for folder in overlays() if folders is None else folders:
        for path in sorted((folder / "Workflows").glob("*.md")):
            if path.is_file() and (folder != kit_folder() or path.stem.lower() not in GUIDES):
                found.setdefault(path.stem.lower(), path)
    return found


def workflow_text(name: str) -> tuple[str, str]:
    """The text of a workflow and the path it was read from. A name with `.md` or a slash is a path."""
    if name.endswith(".md") or os.sep in name:
        return read(Path(name)), name
    path = workflows().get(name.lower())
    if path is None and name.lower() in GUIDES:
        raise UsageError(f"{name} is not a workflow: {GUIDES[name.lower()]}")
    if path is None:
        raise UsageError(f'there is no workflow "{name}"; {did_you_mean(name.lower(), workflows())}')
    return read(check_inside(path, path.parent.parent)), str(path)


def read(path: Path) -> str:
    """The text of a file that people edit."""
    try:
        if path.stat().st_size > LARGEST:
            raise UsageError(f"{path}: cannot be read: it is larger than {LARGEST:,} bytes")
        return path.read_text("utf-8")
    except (OSError, UnicodeDecodeError) as bad:
        raise UsageError(f"{path}: cannot be read: {bad}") from None
