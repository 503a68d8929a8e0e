"""Which version of council derived a session's files: recorded when they are written, checked when they differ.

A later version may word a transcript differently. What an earlier one derived from the same turns is not damaged.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from council import __version__
from council.record import files
from council.record.session import Session
from council.record.turn_file import sha256

# What 0.1.0 derived. It left no stamp, so in its sessions these files must exist, and later kinds need not.
UNSTAMPED = ("convergence.json", "synthesis.md", "transcript.md", "decision.md", "issue.md", "patchlist.md")

INTENT = "deriving"  # the key of the metadata for the stamp of files that are about to be written


def stamp(session: Session, made: Mapping[str, bytes]) -> dict[str, Any]:
    """The metadata of derived files: this version, a hash of the turns, and one of each file."""
    hashes = {name: sha256(data) for name, data in sorted(made.items())}
    return {"council": __version__, "turns": session.hash_turns(), "files": hashes}


def announce(session: Session, made: Mapping[str, bytes]) -> None:
    """Before files of another version are replaced, say by what. If this is interrupted, their bytes are known."""
    if "derived" in session.metadata and derived_before(session):
        session.merge(**{INTENT: stamp(session, made)})


def is_current(session: Session, names: Iterable[str]) -> bool:
    """Whether this version derived these files from these turns, and they are unchanged since."""
    found = session.metadata.get("derived")
    if found is None or found["council"] != __version__ or found["turns"] != session.hash_turns():
        return False
    return bool(found["files"] == {name: sha256(files.read(session.folder / name)) for name in names})


def made_by(session: Session, name: str, data: bytes | None, kind: str = "derived") -> str | None:
    """The other version that derived these bytes (or no file) from these turns; None if no known version did."""
    found = session.metadata.get(kind)
    if found is None:
        missed = data is None and (name in UNSTAMPED or name.startswith("round-"))
        return None if missed else derived_before(session)
    left, turns = None if data is None else sha256(data), session.hash_turns()
    for one in (found, session.metadata.get(INTENT, found)):
        if one["files"].get(name) == left and one["turns"] == turns and one["council"] != __version__:
            return str(one["council"])
    return None


def derived_before(session: Session, kind: str = "derived") -> str | None:
    """The version that derived this session's files from its turns, if it was another one."""
    found = session.metadata.get(kind)
    by = session.metadata.get("council", "an earlier version") if found is None else found["council"]
    same_turns = found is None or found["turns"] == session.hash_turns()
    return str(by) if by != __version__ and same_turns else None


def finished_before(session: Session) -> str | None:
    """The version that wrote the facts of a finished debate beside its archived copy, if it was another one. Files that
    were built again since say nothing of these facts."""
    return derived_before(session, "archived")
