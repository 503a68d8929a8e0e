"""The desk of a session: what others leave there for the process that holds it.

`desk/STEP/SEAT.md` answers a person's turn, `desk/pause` asks the run to stop before its next turns. The first answer
has the place: files are put there whole, by `os.link`, and taken away by renaming, so one of two processes loses.
The desk does not belong to the record: what is there becomes a turn or is removed.
"""

from __future__ import annotations

import json
import os
import re
from collections.abc import Container, Iterator
from contextlib import suppress
from dataclasses import asdict, dataclass
from datetime import datetime
from pathlib import Path

from council.errors import Damaged, Paused, StorageError
from council.record import files
from council.record.turn_file import CLOSE, OPEN

FOLDER, PAUSE = "desk", "pause"
PAGE, TERMINAL, RECORD, API = "page", "terminal", "record", "api"
PLACES = {PAGE: "on the page", TERMINAL: "at a terminal", RECORD: "with `council record`", API: "by a program"}
LARGEST = 1_000_000  # bytes: nobody types more
MARK = re.compile("[0-9a-f]{16}")
FOREIGN = "not an answer that council wrote; remove it"


@dataclass(frozen=True)
class DeskAnswer:
    """A person's answer: who gave it, where (a key of PLACES) and when. `id` tells it from an equal one. With `absent`,
    it says why that person does not answer.
    """

    body: str
    by: str
    via: str
    at: str
    id: str
    absent: str = ""


@dataclass(frozen=True)
class Desk:
    """The place on the desk for the answer to one turn."""

    folder: Path
    turn: str

    @property
    def path(self) -> Path:
        return self.folder / FOLDER / f"{self.turn}.md"

    def put(self, answer: DeskAnswer) -> bool:
        """Whether the answer has the place now. Somebody else may have it, or have cleaned up at this very moment."""
        return _put(self.path, _encode(answer), answer.id, self.folder / FOLDER, self.path.parent)

    def take(self) -> DeskAnswer | None:
        """The answer, which is gone from the desk then; for the process that holds the session."""
        with suppress(FileNotFoundError):
            _read(self.path)  # what cannot be read stays where it is
            taken = self._move("taken")
            answer = _read(taken)
            files.remove(taken)
            return answer
        return None

    def withdraw(self, id: str) -> bool:
        """Take one's own answer back. False if it is not there any more: then it may become the turn."""
        with suppress(FileNotFoundError, Damaged):
            if _read(self.path).id != id:
                return False
            moved = self._move(id)
            if mine := _read(moved).id == id:
                files.remove(moved)
            else:  # it was taken just now, and another put there
                with suppress(FileExistsError):
                    os.link(moved, self.path)
                files.remove(moved)
            self._remove_folders()
            return mine
        return False

    def clear(self) -> None:
        """The turn is recorded: remove an answer that came too late, and the folders."""
        if os.path.isdir(self.path.parent):
            files.remove(self.path)
            self._remove_folders()

    def _remove_folders(self) -> None:
        files.remove_empty(self.path.parent)
        files.remove_empty(self.path.parent.parent)

    def _move(self, mark: str) -> Path:
        moved = self.path.with_name(f".{self.path.name}.{mark}{files.TEMP}")
        os.rename(self.path, moved)
        return moved


def find(folder: Path) -> Iterator[Desk]:
    """The turns for which something is on the desk. Withdrawing an answer removes its folders meanwhile."""
    top = folder / FOLDER
    with suppress(FileNotFoundError):
        for path in files.walk(top, 1):
            if path.suffix == ".md" and path.parent != top:
                yield Desk(folder, path.relative_to(top).with_suffix("").as_posix())


def ask_to_pause(folder: Path, by: str, id: str) -> bool:
    """False if somebody has asked already."""
    return _put(folder / FOLDER / PAUSE, files.encode(by), id, folder / FOLDER)


def read_pause(folder: Path) -> str | None:
    """Who asks the run to pause."""
    with suppress(FileNotFoundError, Damaged):
        return _read_own(folder / FOLDER / PAUSE).decode("utf-8", "replace")
    return None


def heed_pause(folder: Path) -> None:
    """Pause if somebody asks for it; the session must be held."""
    if (by := read_pause(folder)) is not None:
        clear_pause(folder)
        raise Paused(f"{by} asked for a pause; run `council recover` to continue")


def clear_pause(folder: Path) -> None:
    with suppress(StorageError):
        files.remove(folder / FOLDER / PAUSE)
    files.remove_empty(folder / FOLDER)


def _put(path: Path, data: bytes, mark: str, *folders: Path) -> bool:
    """Link the file, whole, to its name. A machine that stops may lose it: only the turn is durable."""
    temp = path.with_name(f".{path.name}.{mark}{files.TEMP}")
    try:
        for folder in folders:
            with suppress(FileExistsError):
                os.mkdir(folder, 0o700)
        files.fill_folder(path.parent, {temp.name: data})
        os.link(temp, path)
    except (FileExistsError, FileNotFoundError):
        return False
    except OSError as failure:
        raise files.storage_error(path, failure) from failure
    finally:
        with suppress(OSError):
            os.unlink(temp)
    return True


def _encode(answer: DeskAnswer) -> bytes:
    facts = {key: value for key, value in asdict(answer).items() if key != "body"}
    lines = (f"{key}: {json.dumps(value, ensure_ascii=False)}" for key, value in facts.items())
    return OPEN + files.encode("\n".join(lines)) + CLOSE + files.encode(answer.body)


def _read(path: Path) -> DeskAnswer:
    head, close, body = _read_own(path).removeprefix(OPEN).partition(CLOSE)
    try:
        pairs = [line.split(": ", 1) for line in head.decode("utf-8").split("\n")]
        answer = DeskAnswer(body.decode("utf-8"), **{key: json.loads(value) for key, value in pairs})
        texts = all(isinstance(value, str) for value in (answer.by, answer.absent))
        if not (close and texts) or len(body) > LARGEST or answer.via not in PLACES:
            raise ValueError
        if not MARK.fullmatch(answer.id) or datetime.fromisoformat(answer.at).tzinfo is None:
            raise ValueError
    except (ValueError, TypeError, RecursionError):
        raise Damaged(path, FOREIGN) from None
    return answer


def _read_own(path: Path) -> bytes:
    """What council wrote for this user; Damaged if it is anything else."""
    try:
        with files.open_regular(path) as descriptor:
            if os.fstat(descriptor).st_uid != os.geteuid():
                raise Damaged(path, "belongs to another user; remove it")
            return os.read(descriptor, 2 * LARGEST)
    except PermissionError:
        raise Damaged(path, FOREIGN) from None


def clear_late(folder: Path, recorded: Container[str]) -> None:
    """Remove what came too late, and was left by a process that was killed."""
    for desk in find(folder):
        if desk.turn in recorded:
            desk.clear()


def check(folder: Path) -> Iterator[Damaged]:
    """What is on the desk and is not an answer."""
    for desk in find(folder):
        try:
            with suppress(FileNotFoundError):
                _read(desk.path)
        except Damaged as wrong:
            yield wrong
