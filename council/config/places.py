"""Where sessions live: in the user's home or, where that cannot be written, in the project's `.council`.

A sandbox often lets a program write only to the project. A session there is found by its whole id alone, because a
repository may bring sessions: none of those is ever picked by chance.
"""

from __future__ import annotations

import errno
import os
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from council import git
from council.config import project
from council.config.project import NAME
from council.config.settings import Config
from council.errors import StorageError, UsageError
from council.record import catalog, files
from council.record.tracked import ARCHIVE, SESSIONS, is_in_project

if TYPE_CHECKING:
    from council.record.session import Session

UNWRITABLE = (errno.EROFS, errno.EACCES, errno.EPERM)  # a full disk is another matter
IGNORED = b"*\n"  # what the `.gitignore` of each folder says, so that no commit takes a session along
HINT = "the sessions of this project are found by their whole ids only; `council list` shows them"
ELSEWHERE = "a session that is kept in a project is found only from inside of that project"


@dataclass(frozen=True)
class SessionPlace:
    """The folders of a new session and of its transcript. `why` says why they are not in the home."""

    sessions: Path
    archive: Path
    why: str = ""


def choose(settings: Config, id: str | None = None) -> SessionPlace:
    """Where a new session goes, proven to be writable.

    A home that the user chose is not replaced: its sessions would be missing where they are looked for.
    """
    try:
        for folder in (settings.sessions, settings.archive):
            files.prove_writable(folder)
        return SessionPlace(settings.sessions, settings.archive)
    except StorageError as failure:
        if not _is_unwritable(failure):
            raise
        if settings.home_set_by:
            raise StorageError(
                f"{failure}; {settings.home_set_by} chose that folder, so no other one is used in its place"
            ) from failure.__cause__
        if id and catalog.exists(settings.sessions, id):  # that one would be found, and not the new one
            raise UsageError(f'there is a session "{id}" already; choose another id') from None
        return _choose_in_project(settings, failure)


def _choose_in_project(settings: Config, failure: StorageError) -> SessionPlace:
    """The `.council` at the top of the repository; where that cannot be written either, in the current folder."""
    here, cause = Path.cwd(), failure.__cause__
    why = f"{files.tilde(settings.home)} cannot be written ({os.strerror(getattr(cause, 'errno', None) or 0)})"
    for top in dict.fromkeys((git.repository(here), here)):
        try:
            made = SessionPlace(prepare(top / NAME / SESSIONS), prepare(top / NAME / ARCHIVE), why)
        except StorageError as other:
            if not _is_unwritable(other):
                raise
        else:
            return made
    raise StorageError(f"{failure}; nor can a session be kept in {here / NAME}") from cause


def _is_unwritable(failure: StorageError) -> bool:
    return isinstance(failure.__cause__, OSError) and failure.__cause__.errno in UNWRITABLE


def prepare(folder: Path) -> Path:
    """A folder for sessions or transcripts in a project's `.council`: the user's own, ignored by git, and writable."""
    if fault := project.find_fault(folder.parent) or project.find_own_fault(folder):
        raise UsageError(f"{folder}: no session is kept there: {fault}")
    files.make_folder(folder)
    mark = folder / ".gitignore"
    there = files.read(mark) if os.path.lexists(mark) else b""
    if not IGNORED.startswith(there):  # half a line was left by a process that was killed
        raise UsageError(f"{mark}: it must be one line, `*`, so that git takes no session along; remove it")
    if there != IGNORED:
        files.fill(mark, IGNORED)
    files.prove_writable(folder)
    return folder


def explain(session: Session) -> str:
    """Where a new session is and why, if that is not the home."""
    if not session.moved:
        return ""
    return f"{session.moved}, so this session is in {files.tilde(session.folder)}; use its whole id in commands"


def archive_of(settings: Config, session: Path) -> Path:
    """Where the transcript of a session is archived: in the home, or beside the sessions of its project."""
    return prepare(session.parent.parent / ARCHIVE) if is_in_project(session) else settings.archive


def find(settings: Config, word: str) -> Path:
    """The folder of a session: in the home by its id, a part of it or `last`; in the project by its whole id."""
    if catalog.exists(settings.sessions, word) or (there := find_in_project(word)) is None:
        try:
            return catalog.find(settings.sessions, word)
        except UsageError as missing:
            hint = HINT if next(list_in_project(), None) else ELSEWHERE if catalog.GENERATED.fullmatch(word) else ""
            raise UsageError(f"{missing}; {hint}" if hint else str(missing)) from None
    with suppress(PermissionError):
        if parts := catalog.match(settings.sessions, word):
            raise UsageError(f'"{word}" is the session {there}, and also a part of {parts[0]}; use more of that id')
    return there


def exists(settings: Config, id: str) -> bool:
    return catalog.exists(settings.sessions, id) or find_in_project(id) is not None


def find_in_project(id: str) -> Path | None:
    """The session with this whole id in a `.council` from here up to the top of the repository."""
    folders = (folder / SESSIONS for folder in project.find_all())
    session = next((folder / id for folder in folders if id not in catalog.NEWEST and catalog.exists(folder, id)), None)
    if session and (fault := _find_fault(session)):
        raise UsageError(f"{session} is not used: {fault}")
    return session


def list_roots(settings: Config) -> tuple[Path, ...]:
    """The folders that sessions are in: the home's, then those of the project that are the user's alone."""
    roots = (folder / SESSIONS for folder in project.find_all())
    own = (root for root in roots if root.is_dir() and not _find_root_fault(root))
    return tuple(dict.fromkeys((settings.sessions, *own)))


def list_in_project() -> Iterator[Path]:
    """The sessions of the project, those nearest to the current folder first."""
    for folder in project.find_all():
        root = folder / SESSIONS
        yield from (root / id for id in catalog.all_ids(root) if not _find_fault(root / id))


def _find_fault(session: Path) -> str:
    """Why a session in a project is not the user's alone; empty if it is."""
    return _find_root_fault(session.parent) or project.find_own_fault(session)


def _find_root_fault(root: Path) -> str:
    return project.find_fault(root.parent) or project.find_own_fault(root)
