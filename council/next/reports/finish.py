"""What is done once a debate is over: its facts, one copy in the archive, and what rooms do. It may be done again."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from council.next import rooms
from council.next.config import places
from council.next.engine import registry
from council.next.record import files
from council.next.record.session import Session, now
from council.next.reports.build import TRANSCRIPT, build
from council.next.reports.documents import question_of
from council.next.reports.section import rooms_of
from council.next.text import slug

LONGEST_SLUG = 50


def finish(session: Session, home: Path) -> dict[str, Any]:
    """Build the derived files and, of a debate that is over, complete the metadata, keep a copy and tell the rooms.

    The caller holds the session. After a kill, a second call goes on and makes no second copy."""
    state = build(session)
    if state["status"] != "complete":
        return state
    known = session.metadata
    if not isinstance(known.get("completed_at"), str):
        session.merge_metadata(completed_at=now())
    session.merge_metadata(rounds_completed=session.outcome.rounds, **state["totals"])
    if "archived_to" not in known:
        session.merge_metadata(archived_to=keep_copy(session, state, home))
    for room in rooms_of(session):
        for name in rooms.of_kind("finished", room):
            registry.endings[name](session)
    return state


def keep_copy(session: Session, state: dict[str, Any], home: Path) -> str:
    """Copy the transcript to `YYYY-MM/` of the archive, under a name of its time and topic. Returns where it is."""
    ended = session.metadata["completed_at"]  # of a session from elsewhere, any text
    stamp = slug(ended.replace("T", "-").replace(":", ""), len("2026-11-18-130000"))
    name = f"{stamp}_COUNCIL_{slug(question_of(state), LONGEST_SLUG) or state['workflow']}"
    data = files.read(session.folder / TRANSCRIPT)
    folder = files.make_folder(places.archive_for(session.folder, home) / stamp[:7])
    # A killed process may have left the same copy. Where the name is another debate's, the id is added.
    for path in (folder / f"{name}.md", folder / f"{name}-{session.id}.md"):
        if files.write_once(path, data) or files.read(path) == data:
            break
    return files.tilde(path)
