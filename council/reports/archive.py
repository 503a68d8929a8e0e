"""The end of a debate: the archived copy of the transcript, and the metadata that mark it complete."""

from __future__ import annotations

import os
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from council.engine.planner import Plan
from council.protocols import outcome
from council.record import catalog, files, moments
from council.record.session import Session
from council.record.tracked import is_in_project
from council.reports import derived, filing, provenance
from council.reports.totals import ended_at, totals
from council.text import slug

STAMPS = ("derived", "archived")  # in the metadata: which version derived the files, and the archived copy


def archive(session: Session, data: bytes, root: Path) -> Path:
    """Put the transcript into the archive. The name follows from the record, so a retry makes no second file."""
    path, other = (root / place for place in places(session))
    files.make_folder(path.parent)
    temp = path.parent / f".{session.id}{files.TEMP}"
    if not files.claim(path, data, temp):
        path = path if _is_of(session, path) else other
        files.replace(path, data, temp)
    return path


def places(session: Session) -> tuple[Path, Path]:
    """Where the archive has a finished debate: the usual place, and the one if another debate has that."""
    ended = ended_at(session)
    name = slug(str(session.metadata["topic"])) or session.workflow.name
    path = Path(f"{ended:%Y-%m}", f"{ended:%Y-%m-%d-%H%M%S}_COUNCIL_{name}.md")
    return path, path.with_name(f"{path.stem}_{catalog.shorten(session.id)}.md")


def _is_of(session: Session, path: Path) -> bool:
    """Whether an archived copy is this session's: it may have changed since, by a person's word on a review."""
    return f"\n**Session ID:** {session.id}\n".encode() in files.read(path)[:4096]


def finish(session: Session, plan: Plan, root: Path) -> Path:
    """Finish a debate: write the derived files, the archived copy, the completion metadata and the document."""
    made = derived.derive(session, plan)
    provenance.announce(session, made)
    derived.build(session, plan, made)
    path = archive(session, made["transcript.md"], root)
    where = os.path.relpath(path, session.folder) if is_in_project(session.folder) else files.tilde(path)
    moments.announce_end(session, plan)
    session.merge(**completion(session, plan), archived_to=where, **stamps(session, made), deriving=None)
    if home := filing.find_home(session)[0]:
        filing.place(filing.make(session, plan), filing.Filing(home / filing.PLACE))
    return path


def find_copy(session: Session) -> Path | None:
    """Where the metadata say that the archived copy is. Of a session in a project they say it from its own folder: the
    project may be elsewhere on another machine, or in a sandbox."""
    where = session.metadata.get("archived_to")
    return Path(os.path.normpath(session.folder / files.untilde(where))) if where else None


def rebuild(session: Session, plan: Plan) -> list[Path]:
    """Rebuild the derived files. A complete session records which version made them: now it is this one."""
    made = derived.derive(session, plan)
    provenance.announce(session, made)
    paths = derived.build(session, plan, made)
    if "derived" in session.metadata:
        session.merge(derived=stamps(session, made)["derived"], deriving=None)
    return paths


def stamps(session: Session, made: Mapping[str, bytes]) -> dict[str, Any]:
    """What the metadata of a finished debate says of its derived files and of the archived copy."""
    copied = {"transcript.md": made["transcript.md"]}
    return dict(zip(STAMPS, (provenance.stamp(session, what) for what in (made, copied)), strict=True))


def completion(session: Session, plan: Plan) -> Mapping[str, Any]:
    return {
        "completed_at": ended_at(session).isoformat(timespec="seconds"),
        "rounds_completed": max(outcome.number_rounds(plan).values(), default=0),
        "outcome": outcome.outcome(plan),
        "absent": sorted({turn.seat.name for turn in outcome.absences(plan)}),
        "totals": totals(session),
    }
