"""The end of a debate: the archived copy of the transcript, and the metadata that mark it complete."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from council.engine.planner import Plan
from council.protocols import outcome
from council.record import catalog, files
from council.record.session import Session
from council.reports import filing, provenance
from council.reports.derived import build, derive
from council.reports.totals import ended_at, totals
from council.text import slug


def archive(session: Session, plan: Plan, root: Path) -> Path:
    """Copy the transcript to the archive. The name follows from the record, so a retry makes no second file."""
    data = derive(session, plan)["transcript.md"]
    ended = ended_at(session)
    name = slug(str(session.metadata["topic"])) or session.workflow.name
    folder = root / f"{ended:%Y-%m}"
    files.make_folder(folder)
    path = folder / f"{ended:%Y-%m-%d-%H%M%S}_COUNCIL_{name}.md"
    temp = folder / f".{session.id}{files.TEMP}"
    if not files.claim(path, data, temp):
        path = path if _is_of(session, path) else path.with_name(f"{path.stem}_{catalog.shorten(session.id)}.md")
        files.replace(path, data, temp)
    return path


def _is_of(session: Session, path: Path) -> bool:
    """Whether an archived copy is this session's: it may have changed since, by a person's word on a review."""
    return f"\n**Session ID:** {session.id}\n".encode() in files.read(path)[:4096]


def finish(session: Session, plan: Plan, root: Path) -> Path:
    """Finish a debate: write the derived files, the archived copy, the completion metadata and the document."""
    provenance.announce(session, derive(session, plan))
    made = {path.name: path for path in build(session, plan)}
    path = archive(session, plan, root)
    stamps = {
        "derived": provenance.stamp(session, made),
        "archived": provenance.stamp(session, {"transcript.md": path}),
    }
    session.merge(**completion(session, plan), archived_to=files.tilde(path), **stamps)
    if home := filing.project(Path.cwd()):
        filing.place(session, plan, home / filing.PLACE)
    return path


def rebuild(session: Session, plan: Plan) -> list[Path]:
    """Rebuild the derived files. A complete session records which version made them: now it is this one."""
    provenance.announce(session, derive(session, plan))
    made = build(session, plan)
    if "derived" in session.metadata:
        session.merge(derived=provenance.stamp(session, {path.name: path for path in made}))
    return made


def completion(session: Session, plan: Plan) -> Mapping[str, Any]:
    return {
        "completed_at": ended_at(session).isoformat(timespec="seconds"),
        "rounds_completed": len(outcome.rounds(plan)),
        "outcome": outcome.outcome(plan),
        "absent": sorted({turn.seat.name for turn in outcome.absences(plan)}),
        "totals": totals(session),
    }
