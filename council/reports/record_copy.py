"""The record of a debate as it is filed beside its document: what was asked and what was said, for anybody to read.

It has no secrets of council's and no paths of this machine: the metadata with the session's seed, and the briefs, stay
in the session. So it is to be read, not to be recovered; `council verify` needs the session itself.
"""

from __future__ import annotations

import os
import shutil
from collections.abc import Mapping
from pathlib import Path

from council.engine.planner import Plan
from council.errors import StorageError
from council.protocols import outcome
from council.record import files
from council.record.session import Session
from council.reports import markdown
from council.reports.model import Transcript
from council.reports.sources import name_seat

ENDING = ".record"
TITLE = "# Record of "
SAID = ("topic.md", "workflow.md", "turns/")  # what never changes once a debate is over


def name_folder(stem: str) -> str:
    return f"{stem}{ENDING}"


def collect(debate: Transcript, session: Session, plan: Plan) -> dict[str, bytes]:
    """The files of the record, by name."""
    turns = sorted((session.folder / "turns").rglob("*.md"))
    said = [session.folder / "topic.md", session.folder / "workflow.md", *turns]
    made = {path.relative_to(session.folder).as_posix(): path.read_bytes() for path in said if path.is_file()}
    made["transcript.md"] = files.encode(markdown.whole(debate))
    if debate.synthesis:
        made["synthesis.md"] = files.encode(markdown.synthesis(debate.synthesis, debate.overlaid))
    made["README.md"] = files.encode(describe(session, plan))
    return made


def describe(session: Session, plan: Plan) -> str:
    """The page that says what the folder is."""
    written = outcome.find_syntheses(plan)
    seats = dict.fromkeys(name_seat(turn.seat) for turn in plan.scene.turns if not turn.seat.is_person)
    author = f" The {name_seat(written[-1].seat).lower()} wrote the synthesis." if written else ""
    return (
        f"{TITLE}{session.id}\n\nEach file in `turns/` is what one seat said, word for word, with its receipt: who"
        f" spoke, which model, and what it took. `transcript.md` is all of it in order, `topic.md` the question, and"
        f" `workflow.md` the rules of the debate.\n\nAt the table: {', '.join(seats)}.{author}\n\nNot copied: the"
        " metadata, which hold the session's seed, and the briefs.\n"
    )


def find_alone(session_id: str, folder: Path) -> str:
    """The name of the document that a killed process did not write any more after this session's record."""
    for path in sorted(folder.glob(f"*{ENDING}")):
        if not path.with_suffix(".md").exists() and _holds(path / "README.md", f"{TITLE}{session_id}\n".encode()):
            return path.stem
    return ""


def place(made: Mapping[str, bytes], folder: Path, temp: Path) -> None:
    """Write the record as one folder, whole or not at all. One that is there already must be the same debate's."""
    if os.path.lexists(folder):
        if not _is_same(made, folder):
            raise StorageError(f"{files.tilde(folder)} is there and holds something else; move it away first")
        return
    if temp.is_symlink():  # which a repository brought: it would lead out of the project
        temp.unlink()
    shutil.rmtree(temp, ignore_errors=True)  # left by a process that was killed
    temp.mkdir()
    for name, data in made.items():
        path = temp / name
        path.parent.mkdir(parents=True, exist_ok=True)
        files.fill(path, data)
        path.chmod(0o644)
    for inner in (temp, *(path for path in temp.rglob("*") if path.is_dir())):
        inner.chmod(0o755)
        files.sync_folder(inner)
    temp.rename(folder)
    files.sync_folder(folder.parent)


def _is_same(made: Mapping[str, bytes], folder: Path) -> bool:
    """Whether a folder has all that was said in this debate. What is derived from it may be of another version."""
    said = {name: data for name, data in made.items() if name.startswith(SAID)}
    return all(_holds(folder / name, data, whole=True) for name, data in said.items())


def _holds(path: Path, data: bytes, whole: bool = False) -> bool:
    """Whether a file begins with these bytes, or has nothing else. A repository may bring a huge one."""
    if not path.is_file():
        return False
    with path.open("rb") as file:
        return file.read(len(data) + whole) == data
