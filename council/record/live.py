"""What a seat is saying now: the words so far, in a temporary file beside the place of its turn.

The file is for those who watch from another process, and does not belong to the record: it is never synced, it is
removed once the turn is stored, and what a killed writer left is swept with all temporary files. Its first line is a
key. Another key means that the seat began again, as it does when a call is repeated.
"""

from __future__ import annotations

import codecs
import errno
import os
import re
import secrets
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

from council.errors import Damaged
from council.record import files
from council.record.turn_file import TURN

SUFFIX = f".live{files.TEMP}"
KEY = 16  # characters
FIRST_LINE = re.compile(rb"[0-9a-f]{%d}\n" % KEY)
MOST = 1_000_000  # bytes that `read_words` returns at once
PLACES = 3  # turns are spoken in the last of them; those before are for the seats that are still being asked


@dataclass(frozen=True)
class LivePiece:
    """What a seat said from byte `at` of its file on; `next` is where the rest will be. `key` is the attempt's."""

    key: str
    at: int
    text: str
    next: int


class LiveFile:
    """The words of one attempt at a turn. Opening and appending may raise OSError or StorageError."""

    def __init__(self, folder: Path, turn: str) -> None:
        self.path = _path_of(folder, turn)
        self.begun = False
        files.make_folder(self.path.parent)
        with suppress(FileNotFoundError):
            os.unlink(self.path)
        how = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_APPEND | os.O_NOFOLLOW
        self.descriptor = os.open(self.path, how, 0o600)

    def append(self, text: str) -> None:
        key = "" if self.begun else f"{secrets.token_hex(KEY // 2)}\n"
        data, self.begun = files.encode(key + text), True
        if os.write(self.descriptor, data) < len(data):
            raise OSError(errno.ENOSPC, "only a part of the words could be written", str(self.path))

    def remove(self) -> None:
        os.close(self.descriptor)
        with suppress(FileNotFoundError):
            os.unlink(self.path)


def find_speaking(folder: Path) -> list[str]:
    """The turns for which there are words now, whether or not their writer still runs: only the lock tells."""
    turns = folder / "turns"
    found = []
    with suppress(OSError):
        for place in sorted(os.listdir(turns))[-PLACES:]:
            with suppress(OSError):
                names = sorted(name for name in os.listdir(turns / place) if name.endswith(SUFFIX))
                turns_there = (f"{place}/{name[1 : -len(SUFFIX)]}" for name in names)
                found += [turn for turn in turns_there if TURN.fullmatch(turn)]
    return found


def read_words(folder: Path, turn: str, key: str = "", at: int = 0) -> LivePiece | None:
    """What was said since `at` of the attempt `key`, or from the beginning if that is not the attempt of now.

    None if there is no such file, as before the first word and once the turn is stored.
    """
    try:
        with files.open_regular(_path_of(folder, turn)) as descriptor:
            head = os.pread(descriptor, KEY + 1, 0)
            if not FIRST_LINE.fullmatch(head):
                return None  # it has just been made, or council did not write it
            now = head[:KEY].decode("ascii")
            start = at if now == key else 0
            data = os.pread(descriptor, MOST, KEY + 1 + start)
    except (OSError, Damaged):
        return None
    decoder = codecs.getincrementaldecoder("utf-8")("replace")
    text = decoder.decode(data)
    unread = len(decoder.getstate()[0])  # a letter of which only the first bytes are there
    return LivePiece(now, start, text, start + len(data) - unread)


def _path_of(folder: Path, turn: str) -> Path:
    place, _, seat = turn.partition("/")
    return folder / "turns" / place / f".{seat}{SUFFIX}"
