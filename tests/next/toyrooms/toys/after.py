"""What the room adds once there is something to show."""

from __future__ import annotations

from council.next.engine.registry import finished, section
from council.next.record.session import Session
from council.next.reports.section import Section


@section
def scores(session: Session) -> Section | None:
    """The throws, as a file; and why the game missed its goal."""
    throws = [turn.answers["throw"] for turn in session.plan.scene.turns if "throw" in turn.answers]
    if not throws:
        return None
    files = {f"throws/{number}.txt": f"{throw}\n".encode() for number, throw in enumerate(throws, 1)}
    return Section(
        "Scores", "", data={"throws": throws}, files=files, unmet="" if 6 in throws else "nobody threw a six"
    )


@finished
def applaud(session: Session) -> None:
    (session.folder.parent / "applause").write_text(session.id)
