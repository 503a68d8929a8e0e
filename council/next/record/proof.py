"""What was changed in a session, by its files alone or against a head that somebody noted.

Each receipt names the hash of everything before its batch. So a change is found unless somebody also wrote all later
turns again. A noted head finds every change of what it covers: all that was fixed at birth, and the turns of whole
batches with their briefs. It does not cover the turns of a batch that is not whole, attempts, the desk, the facts that
metadata.json gains later, and derived files.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from council.next.errors import CouncilError, Damaged
from council.next.record.files import list_folder
from council.next.record.session import Session, entries


def problems(folder: Path, noted: str = "") -> Iterator[str]:
    """What is wrong with a session, in sentences that name the file. Every file is read again."""
    try:
        session = Session(folder)
        heads = session.heads
        if noted and noted not in heads:
            yield f"{folder}: no head of it is {noted}; what that covered was changed or removed"
        session.attempts()
    except CouncilError as damage:
        yield str(damage)
        return
    known = {folder / name for name in session.program["files"]}
    for id in (*session.said, *(due.id for due in session.plan.due)):
        known.update(session.brief_files(id))
        try:
            if id in session.said and session.receipts[id].brief:
                session.brief(id)
        except Damaged as damage:
            yield str(damage)
    given = [path for name in ("attached", "frozen") for path in list_folder(folder / name)]
    for path in (*given, *entries(folder / "briefs")):
        if path not in known:
            yield f"{path}: it is not of this session; move it away"
