"""Sessions in a project, in its `.council/sessions`: a repository may have brought them, so git is asked.

A stranger's half-finished session can name seats and models that cost money. What git tracks can be read, and nothing
else: it is never written, and nobody is asked for its turns.
"""

from __future__ import annotations

from pathlib import Path

from council import git
from council.errors import UsageError

PROJECT, SESSIONS, ARCHIVE = ".council", "sessions", "archive"


def is_in_project(session: Path) -> bool:
    return (session.parent.parent.name, session.parent.name) == (PROJECT, SESSIONS)


def explain(session: Path) -> str:
    """Why a session may not be written; empty if it may be, as every session outside of projects."""
    if not is_in_project(session):
        return ""
    try:
        for top in git.find_repositories(session):
            if git.tracks(top, session):
                return f"git tracks it in {top}, so somebody else may have made it"
    except (UsageError, OSError) as failure:
        return f"git cannot tell whether it is tracked ({failure}), so somebody else may have made it"
    return ""


def refuse(session: Path) -> None:
    if why := explain(session):
        id = session.name
        raise UsageError(f"{id} cannot be continued: {why}; it can be shown and verified (`council show {id}`)")
