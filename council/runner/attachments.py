"""The documents of a debate: read as they are attached, and found where the topic of a review names them."""

from __future__ import annotations

import re
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path

from council.errors import UsageError
from council.text import one_line

LARGEST = 1_000_000
LARGEST_WORDS = "1 MB"
LONGEST_REQUEST = 2_000  # characters: a longer topic is a text of its own, and names files for other reasons
QUOTED = re.compile(r"`([^`\n]+)`|\"([^\"\n]+)\"|'([^'\n]+)'|“([^”\n]+)”|\u2018([^\u2019\n]+)\u2019")
AROUND = ".,;:!?()[]{}<>\"'`“”\u2018\u2019…"
FILE_LIKE = re.compile(r"[^\s/]+\.[a-z]{1,8}|\S*[^/\s]/[^/\s]+\.?\w*", re.I)


def read(path: Path) -> str:
    try:
        with path.open("rb") as file:
            data = file.read(LARGEST + 1)
    except OSError as failure:
        raise UsageError(f"{path}: {failure.strerror}") from None
    if len(data) > LARGEST:
        raise UsageError(f"{path}: larger than {LARGEST_WORDS}; attach the part that matters")
    try:
        text = data.decode("utf-8")
    except UnicodeDecodeError:
        text = "\0"
    if "\0" in text or not text.strip():
        raise UsageError(f"{path}: empty or not a text file; attach text in UTF-8")
    return text


def format_name(path: Path) -> str:
    """A document's name: the path as it was given, where that says nothing of this machine."""
    plain = path.name if path.is_absolute() or ".." in path.parts else path.as_posix()
    return one_line(plain).replace(chr(34), chr(39))


def find(topic: str) -> tuple[Path, ...]:
    """The files that the topic names and that exist, each once."""
    return tuple(dict.fromkeys(path for name in _names(topic) if (path := _file(name))))


def find_missing(topic: str) -> str:
    """The first word of the topic that looks like the name of a file; empty if none does."""
    return next((one_line(name) for name in _names(topic) if FILE_LIKE.fullmatch(name)), "")


def _names(topic: str) -> Iterator[str]:
    """What may be a file's name: what is quoted, and each word, without the marks around it."""
    if len(topic) > LONGEST_REQUEST:
        return
    yield from (next(filter(None, found.groups())) for found in QUOTED.finditer(topic))
    for word in topic.split():
        yield from filter(None, (word, word.strip(AROUND).removeprefix("@")))


def _file(name: str) -> Path | None:
    with suppress(OSError, ValueError, RuntimeError):  # such as a name that is too long, or a home of nobody
        path = Path(name).expanduser()
        return path if path.is_file() else None
    return None
