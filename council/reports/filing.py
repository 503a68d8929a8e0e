"""The documents of a debate in the project under `docs/decisions`.

What is there belongs to the project: a document that a person has changed is never written again.
"""

from __future__ import annotations

import fcntl
import os
import re
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path

from council.config.project import NAME, has_only_sessions
from council.engine.planner import Plan
from council.errors import StorageError
from council.record import catalog, files
from council.record.session import Session
from council.record.tracked import is_in_project
from council.reports import front_matter, numbering, produce, record_copy
from council.reports.model import Transcript
from council.reports.totals import ended_at
from council.reports.transcript import compose

PLACE = Path("docs") / "decisions"
LONGEST_OPENING = 1_000_000  # bytes of a document, in which it says whose it is


@dataclass(frozen=True)
class Made:
    """The documents of a session that are to be filed, by their names in the session; `kind` is the main one's."""

    session: Session
    plan: Plan
    debate: Transcript
    kind: str
    texts: Mapping[str, str]

    def linked(self, stem: str) -> Made:
        """The same with links to the record that is filed beside them."""
        folder = record_copy.name_folder(stem)
        return replace(self, texts=produce.derive(self.debate, self.session, self.plan, self.kind, folder))


def make(session: Session, plan: Plan, kind: str = "", debate: Transcript | None = None) -> Made:
    """The documents of the session, of its own kind or of another. `debate` saves composing it again."""
    debate = debate or compose(session, plan)
    texts = produce.derive(debate, session, plan, kind)
    return Made(session, plan, debate, kind or produce.find_kind(session), texts)


def is_of(session: Session, text: str) -> bool:
    """Whether this document is of the session: its front matter says so, or the line of an earlier version."""
    id, matter = re.escape(session.id), front_matter.MATTER.match(text)
    if matter and re.search(rf'^session: "?{id}"?$', matter[1], re.M):
        return True
    return re.search(rf"^\*\*\w+ ID:\*\* {id}$", text, re.M) is not None


def describe_places(session: Session, plan: Plan, debate: Transcript | None = None) -> str:
    """Say where the documents are, one line each; empty if the debate produces none."""
    places, why = find_places(session, plan, debate)
    lines = [f"{name.removesuffix('.md')}: {files.tilde(path)}" for name, path in places.items()]
    if why:
        lines[0] += f" ({why}; `council decision {session.id} --to FOLDER` files it)"
    return "\n".join(lines)


def find_places(session: Session, plan: Plan, debate: Transcript | None = None) -> tuple[dict[str, Path], str]:
    """Where each document is, by its name, and why they are only in the session; empty if they are filed."""
    made = make(session, plan, debate=debate)
    home, why = find_home(session)
    stem = _find_stem(made, home / PLACE) if made.texts and home else ""
    places = {
        name: home / PLACE / file_name(stem, name) if home and stem else session.folder / name for name in made.texts
    }
    return places, (why or "not filed") if places and not stem else ""


def find_home(session: Session) -> tuple[Path | None, str]:
    """The project in which the debate began, where its document belongs; or None, and why there is none.

    Sessions of earlier versions do not say where they began: for them, it is the project that this command is in. One
    that is kept in a project writes into no other: a stranger may have made it, or the project may have been moved."""
    began = session.metadata.get("project", project(Path.cwd()))
    if began and is_in_project(session.folder):
        top = session.folder.parents[2]
        began = began if Path(began).resolve().is_relative_to(top.resolve()) else project(top)
    if not began:
        return None, "the debate did not begin in a project" if "project" in session.metadata else "not in a project"
    home = Path(began)
    if project(home) != home:
        return None, f"the project in which the debate began is gone: {files.tilde(home)}"
    if not (home / PLACE).resolve().is_relative_to(home.resolve()):
        return None, f"{PLACE} leads out of the project"
    return home, ""


def file_name(stem: str, name: str) -> str:
    return f"{stem}.md" if name == produce.MAIN else f"{stem}-{name}"


def project(here: Path) -> Path | None:
    """The enclosing project: the nearest folder that contains `.git`, or a `.council` that is more than sessions."""
    for folder in (here, *here.parents):
        own = folder / NAME
        if (folder / ".git").exists() or (own.exists() and not has_only_sessions(own)):
            return folder
    return None


@dataclass(frozen=True)
class Filing:
    """Where documents are filed. `record` files the record with them, `update` replaces a document that nobody has
    changed since it was written, and `new` files one beside it."""

    folder: Path
    record: bool = False
    update: bool = False
    new: bool = False

    def find(self, made: Made) -> tuple[str, dict[Path, str]]:
        """The name of the document, and where each would be now with its text."""
        stem = "" if self.new else _find_stem(made, self.folder)
        stem = stem or record_copy.find_alone(made.session.id, self.folder) or _new_stem(made, self.folder)
        linked = self.record or (self.folder / record_copy.name_folder(stem)).is_dir()
        texts = made.linked(stem).texts if linked else made.texts
        number = numbering.read_number(stem) if produce.is_numbered(made.kind) else None
        return stem, {
            self.folder / file_name(stem, name): front_matter.sign(numbering.put_number(text, number))
            if name == produce.MAIN
            else text
            for name, text in texts.items()
        }


def place(made: Made, where: Filing) -> dict[Path, bool]:
    """Write the documents into a folder of a project; whether each is there as it was made, and not as somebody
    changed it."""
    if not made.texts:
        return {}
    folder = where.folder
    try:
        folder.mkdir(parents=True, exist_ok=True)
        with lock_folder(folder):
            return _place_all(made, where)
    except OSError as failure:
        raise files.storage_error(folder, failure) from failure


@contextmanager
def lock_folder(folder: Path) -> Iterator[None]:
    """Keep others from taking a number meanwhile. The folder itself is locked: no lock file is left in the project."""
    descriptor = os.open(folder, os.O_RDONLY | os.O_DIRECTORY)
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX)
        yield
    finally:
        os.close(descriptor)


def _place_all(made: Made, where: Filing) -> dict[Path, bool]:
    temp = where.folder / f".{made.session.id}{files.TEMP}"
    files.remove(temp)  # left by a process that was killed
    stem, texts = where.find(made)
    if where.record:
        said = record_copy.collect(made.debate, made.session, made.plan)
        record_copy.place(said, where.folder / record_copy.name_folder(stem), temp.with_suffix(".folder"))
    return {path: _place(path, files.encode(text), temp, where.update) for path, text in texts.items()}


def _place(path: Path, data: bytes, temp: Path, update: bool) -> bool:
    if not path.exists():
        if not files.claim(path, data, temp, 0o644):
            raise StorageError(f"{path} was written by somebody else at the same time; try again")
        return True
    there = path.read_bytes()
    if there != data and update and front_matter.is_as_written(there.decode("utf-8", "replace")):
        files.replace(path, data, temp)
        path.chmod(0o644)
        return True
    return there == data


def _find_stem(made: Made, folder: Path) -> str:
    """The name of this document if the folder already has it: a line in it names the session, and one its kind."""
    own = produce.find_kind(made.session)
    for path in sorted(folder.glob("*.md")):
        if not path.stem.endswith("-issue") and path.is_file():
            with path.open("rb") as file:
                opening = file.read(LONGEST_OPENING).decode("utf-8-sig", "replace").replace("\r\n", "\n")
            if is_of(made.session, opening) and front_matter.read_kind(opening, own) == made.kind:
                return path.stem
    return ""


def _new_stem(made: Made, folder: Path) -> str:
    session = made.session
    about = numbering.shorten(str(session.metadata["topic"])) or session.workflow.name
    if produce.is_numbered(made.kind):
        return numbering.next_name((path.name for path in folder.iterdir()) if folder.is_dir() else (), about)
    stem = f"{ended_at(session):%Y-%m-%d}-{about}" + (f"-{made.kind}" if produce.is_named(made.kind) else "")
    return f"{stem}-{catalog.shorten(session.id)}" if (folder / f"{stem}.md").exists() else stem
