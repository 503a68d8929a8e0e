"""Files a document in a project. What is there belongs to the project: an edited document is never written again."""

from __future__ import annotations

import fcntl
import os
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager, nullcontext, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from council.next.errors import CouncilError, StorageError, UsageError
from council.next.record import files
from council.next.record.session import Session
from council.next.reports.build import view
from council.next.reports.documents import KINDS, NUMBERED, choose, date_of, document_of, title_of
from council.next.reports.state import state
from council.next.text import encode, slug

PLACE = "docs/decisions"
SIGNED = "written: "  # the line of the front matter with the hash of the rest
LONGEST_SLUG, LONGEST_NEIGHBOUR = 50, 1_000_000
NEW, SAME, UPDATED, EDITED = "new", "same", "updated", "edited"


@dataclass(frozen=True)
class Filed:
    """Where a document is, what it says, and what became of it. An edited one is in the project as somebody left it."""

    path: Path
    text: str
    became: str


@dataclass(frozen=True)
class Neighbour:
    """A document that is in the folder already, with its front matter as far as that is lines of keys and values."""

    path: Path
    text: str
    facts: Mapping[str, str]
    is_as_written: bool


def kinds_of(session: Session) -> list[str]:
    """What a debate that is over is filed as: its workflow's kind, and an issue if a person asked for one."""
    now = state(session)
    if now["status"] != "complete" or not now["outcome"]["status"] or not now["synthesis"]:
        return []
    turns = view(now)["turns"].values()
    persons = [turn["answers"] for turn in turns if turn["receipt"]["by"] or turn["receipt"]["speaker"] == "human"]
    kinds = [session.workflow.document] if session.workflow.document in KINDS else []
    # A model at a person's seat cannot ask for one.
    return [*kinds, "issue"] if any(said.get("create_workflow") == "yes" for said in persons) else kinds


def file_document(
    session: Session,
    project: Path,
    kind: str = "",
    place: str = PLACE,
    template: str = "",
    new: bool = False,
    dry_run: bool = False,
) -> Filed:
    """File the document of a debate, or write it again if nobody has changed it. `new` files another one beside it.

    Several processes at once take different numbers. Nothing is written through a link, or out of the project."""
    folder = refuse_links(project, place)
    now = state(session)
    kind = choose(now, kind or session.workflow.document or "adr", session)
    try:
        if not dry_run:
            folder.mkdir(parents=True, exist_ok=True)
        with nullcontext() if dry_run else lock_folder(folder):
            there = [*read_folder(folder)]
            wanted = {"session": session.id, "document": kind}
            mine = (one for one in there if wanted.items() <= one.facts.items())
            old = None if new else next(mine, None)
            path = old.path if old else folder / name_for(now, kind, folder)
            text = compose(session, kind, path, there, template)
            became = NEW if old is None else SAME if old.text == text else UPDATED if old.is_as_written else EDITED
            if became in (NEW, UPDATED) and not dry_run:
                if became == NEW and os.path.lexists(path):
                    raise StorageError(f"{path} was written by somebody else at the same time; try again")
                files.write(path, encode(text))
                path.chmod(0o644)
            return Filed(path, old.text if old and became == EDITED else text, became)
    except OSError as failure:
        raise files.storage_error(folder, failure) from failure


def refuse_links(project: Path, place: str) -> Path:
    folder = project
    for part in Path(place).parts:
        folder = folder / part
        if part == ".." or folder.is_symlink() or Path(place).is_absolute():
            raise UsageError(f"{folder} leads out of the project, so nothing is filed there")
    return folder


@contextmanager
def lock_folder(folder: Path) -> Iterator[None]:
    """Keep others from taking a number meanwhile. The folder itself is locked, so no lock file stays in the project."""
    handle = os.open(folder, os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW)
    try:
        fcntl.flock(handle, fcntl.LOCK_EX)
        for left in folder.glob(f".*{files.TEMP}"):  # by a process that was killed
            left.unlink(missing_ok=True)
        yield
    finally:
        os.close(handle)


def read_folder(folder: Path) -> Iterator[Neighbour]:
    """The documents of a folder. Links, pipes, huge files and those that cannot be read are somebody else's."""
    for path in sorted(folder.glob("*.md")) if folder.is_dir() else ():
        with suppress(CouncilError):
            text = files.read(path, LONGEST_NEIGHBOUR).decode("utf-8", "replace")
            plain = text.removeprefix("\ufeff").replace("\r\n", "\n")  # as an editor may have saved it
            head, close, _ = plain.removeprefix("---\n").partition("\n---\n")
            parts = (line.partition(": ") for line in head.splitlines() if close)
            facts = {key: value.strip("\"'") for key, _, value in parts}
            yield Neighbour(path, plain, facts, plain == text and facts.get("written") == hash_of(plain))


def compose(session: Session, kind: str, path: Path, there: Iterable[Neighbour], template: str) -> str:
    digits = split_name(path.stem)[1] if kind in NUMBERED else ""
    after = session.program.get("after")
    follows = next((one.path.name for one in there if after and one.facts.get("session") == after), "")
    text = document_of(session, kind, f"ADR-{digits}" if digits else "", follows, template)
    return text.replace("\n---\n", f'\n{SIGNED}"{hash_of(text)}"\n---\n', 1)


def hash_of(text: str) -> str:
    """The hash of a document without the line that holds it."""
    head, close, body = text.partition("\n---\n")
    kept = "\n".join(line for line in head.split("\n") if not line.startswith(SIGNED))
    return files.sha256(encode(kept + close + body))


def name_for(now: Mapping[str, Any], kind: str, folder: Path) -> str:
    """The name of a new document: after the highest number in the project's own style, or by its day."""
    about = slug(title_of(now), 2 * LONGEST_SLUG) or str(now["workflow"])
    if len(about) > LONGEST_SLUG:  # between two words
        about = about[: LONGEST_SLUG + 1].rpartition("-")[0] or about[:LONGEST_SLUG]
    taken = {path.stem for path in folder.iterdir()} if folder.is_dir() else set()
    if kind in NUMBERED:
        return f"{next_number(taken)}{about}.md"
    stem = f"{date_of(now)}-{about}" + ("" if kind == "decision" else f"-{kind}")
    stems = (stem, *(f"{stem}-{number}" for number in range(2, len(taken) + 3)))
    return next(f"{one}.md" for one in stems if one not in taken)


def next_number(stems: Iterable[str]) -> str:
    """What the next name begins with, as in `adr-0043-`: in the style of the document with the highest number."""
    found = [parts for stem in stems if (parts := split_name(stem))[1]]
    prefix, digits, gap = max(found, key=lambda parts: int(parts[1]), default=("adr-", "0000", "-"))
    return f"{prefix}{int(digits) + 1:0{len(digits)}}{gap or '-'}"


def split_name(stem: str) -> tuple[str, str, str]:
    """`ADR-0042_x` is `ADR-`, `0042` and `_`. A date, or a name without a number, gives empty digits."""
    prefix = stem[: 3 + (stem[3:4] in ("-", "_", " "))] if stem[:3].lower() == "adr" else ""
    rest = stem.removeprefix(prefix)
    digits = rest[: len(rest) - len(rest.lstrip("0123456789"))]
    gap = rest[len(digits) : len(digits) + 1]
    fits = 1 <= len(digits) <= 9 if prefix else 3 <= len(digits) <= 6 and digits.startswith("0")
    return (prefix, digits, gap) if fits and not gap.isalpha() else ("", "", "")
