"""Finds sessions by their ids, and knows which of them began on this machine."""

from __future__ import annotations

import os
import re
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any

from council.next.errors import CouncilError, UsageError
from council.next.record import files
from council.next.text import join_words

if TYPE_CHECKING:
    from council.next.record.session import Session

IN_PROJECT = (".council", "sessions")  # the folders of sessions that a project keeps, or brings
ID = re.compile(r"[a-z0-9](?:[a-z0-9-]{0,62}[a-z0-9])?", re.ASCII)
NEWEST = ("last", "latest")
SHORTEST, MOST_LISTED = 4, 10
LARGEST_METADATA = 4_000_000  # bytes: a list of many sessions from elsewhere must not fill the memory


def check_id(id: str) -> str:
    if not ID.fullmatch(id) or id in NEWEST:
        raise UsageError(f"{id!r} is not an id: at most 64 of a-z, 0-9 and -, with no - at either end")
    return id


def rows(root: Path) -> list[tuple[str, dict[str, Any]]]:
    """The id of each session with its metadata, those that began last at the end. A damaged session has none.

    A time that is none comes first, and hides nothing."""
    found = []
    for folder in (path for path in files.list_folder(root) if ID.fullmatch(path.name) and is_session(path)):
        metadata: dict[str, Any] = {}
        with suppress(CouncilError):
            metadata = files.read_json(folder / "metadata.json", LARGEST_METADATA)
        began = str(metadata.get("started_at"))
        if metadata.get("session_id") in (None, folder.name):  # a copy under another name is not that session
            found.append((began if began[:2] in ("19", "20", "21") else "", folder.name, metadata))
    return [(id, metadata) for _, id, metadata in sorted(found, key=lambda one: one[:2])]


def is_session(folder: Path) -> bool:
    """Whether it is a session, or may be one that this user may not look into."""
    if folder.is_symlink() or not folder.is_dir():
        return False
    known = (folder / name for name in ("program.json", "metadata.json"))  # one that lost either is damaged
    return any(map(os.path.lexists, known)) or not os.access(folder, os.R_OK | os.X_OK)


def find_folder(root: Path, id: str) -> Path:
    """The session of this id, or the only one whose id contains it; `last` is the one that began last."""
    ids = [one for one, _ in rows(root)]
    if id in NEWEST:
        if not ids:
            raise UsageError("there is no session yet")
        return root / ids[-1]
    near = [one for one in ids if one == id] or [one for one in ids if len(id) >= SHORTEST and id in one]
    if len(near) == 1:
        return root / near[0]
    if not near:
        raise UsageError(f'no session is called "{id}"; `council list` shows them')
    more = f" and {len(near) - MOST_LISTED} more" if len(near) > MOST_LISTED else ""
    raise UsageError(f'"{id}" fits {len(near)} sessions: {join_words(near[:MOST_LISTED])}{more}')


def mark_as_ours(marks: Path, session: Session) -> None:
    """Note in the user's own folder that this session began here. One that came from elsewhere has no such note."""
    files.sweep(files.make_folder(marks), held=False)
    files.write_once(marks / session.id, session.birth.encode())


def is_ours(marks: Path, session: Session) -> bool:
    """Whether this very session, with this program, began on this machine."""
    try:
        return files.read(marks / session.id) == session.birth.encode()
    except CouncilError:
        return False


def is_by_hand(folder: Path) -> bool:
    """Whether somebody collects the replies by hand: it began without a speaker, and no program was called since."""
    with suppress(OSError, CouncilError):
        begun = files.read_json(folder / "program.json", LARGEST_METADATA)
        return begun.get("speaker") in ("", "assistant") and not os.path.lexists(folder / "attempts")
    return False


def next_command(session: Session) -> str:
    """The command that goes on with a session, for everything that says what is next."""
    if session.plan.done:
        word = "show"
    elif any(due.seat.is_person for due in session.plan.due):
        word = "answer"
    else:
        word = "next" if is_by_hand(session.folder) else "recover"
    by_person = word == "recover" and session.program.get("speaker") == "human"
    return f"council {word} {session.id}" + " --speaker human" * by_person


def refuse_tracked(folder: Path) -> None:
    """Refuse to write to a session that came with a repository: nobody here pays for a stranger's debate."""
    if folder.parts[-3:-1] != IN_PROJECT:
        return
    from council.next import git  # with subprocess: most commands look at no project's sessions

    if why := git.why_foreign(folder):
        raise UsageError(
            f"{folder.name} cannot be continued: {why}, so somebody else may have made it; read it with: "
            f"`council show {folder.name}`"
        )
