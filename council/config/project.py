"""The project's `.council` folder: where it is looked for, when it counts, and whose files in it are obeyed.

A stranger may have written it. So it is found only inside the repository, and only what the user or root owns, and
nobody else may write, is read. It never counts in CI or in a review unless the command asks for it.
"""

from __future__ import annotations

import os
import stat
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from contextvars import ContextVar
from pathlib import Path

from council import git
from council.record.tracked import ARCHIVE, PROJECT, SESSIONS

NAME = PROJECT
# What an overlay may hold.
KINDS = ("Workflows", "templates", "AgentPersonalities.md", "Config.md", "Specialists.md")
EVERYBODY = stat.S_IWOTH

# What this command decided: each thread and each task has its own. None leaves the decision to the environment.
_wanted: ContextVar[bool | None] = ContextVar("project_overlay", default=None)


def in_ci(env: Mapping[str, str] = os.environ) -> bool:
    return env.get("CI", "").lower() not in ("", "0", "false")


def counts() -> bool:
    """Whether this command uses the project's files. In CI it must have asked for them: a pull request writes them."""
    wanted = _wanted.get()
    return not in_ci() if wanted is None else wanted


def counts_explicitly() -> bool:
    return _wanted.get() is True


def decide(wanted: bool | None) -> None:
    """Use the project's files in the rest of this context, or do not."""
    _wanted.set(wanted)


@contextmanager
def decided(wanted: bool | None) -> Iterator[None]:
    token = _wanted.set(wanted)
    try:
        yield
    finally:
        _wanted.reset(token)


def find(start: Path | None = None) -> Path | None:
    """The nearest `.council` folder, from the current folder up to the top of the repository. One that has only
    sessions is passed over: see `places`."""
    return next((folder for folder in find_all(start) if not has_only_sessions(folder)), None)


def find_all(start: Path | None = None) -> Iterator[Path]:
    """Each `.council` folder, nearest first. None if the current folder was removed."""
    try:
        here = start or Path.cwd()
    except FileNotFoundError:
        return
    top = git.repository(here)
    for folder in (here, *here.parents):
        if (folder / NAME).is_dir():
            yield folder / NAME
        if folder == top:
            break


def has_only_sessions(folder: Path) -> bool:
    """Whether a `.council` folder has sessions, and nothing that an overlay holds."""
    there = {name for name in (*KINDS, SESSIONS, ARCHIVE) if os.path.lexists(folder / name)}
    return bool(there) and there <= {SESSIONS, ARCHIVE}


def find_fault(folder: Path) -> str:
    """Why the folder does not count; empty if it may."""
    if fault := find_own_fault(folder):
        return fault
    if folder.parent.stat().st_mode & EVERYBODY:
        return f"everybody may write to {folder.parent}"
    return ""


def find_fault_inside(path: Path, folder: Path) -> str:
    """Why a file in the folder is not obeyed; empty if it may be. What is missing has no fault."""
    steps = [one for path_ in (path, path.resolve()) for one in (path_, *path_.parents)]
    for step in dict.fromkeys(steps):
        if step.is_relative_to(folder.resolve()) and step != folder.resolve() and (fault := find_own_fault(step, True)):
            return f"{step}: {fault}" if step != path else fault
    return ""


def find_own_fault(path: Path, may_link: bool = False) -> str:
    """Why this file or folder by itself is not the user's alone. What is missing has no fault."""
    try:
        about = path.lstat()
    except (FileNotFoundError, NotADirectoryError):
        return ""
    if about.st_uid not in (os.geteuid(), 0):
        return f"it belongs to another user ({about.st_uid})"
    if stat.S_ISLNK(about.st_mode):
        return "" if may_link else "it is a link"
    if about.st_mode & EVERYBODY:
        return f"everybody may write to it; `chmod o-w {path}`"
    return ""
