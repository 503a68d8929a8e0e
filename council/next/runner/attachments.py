"""What a debate is given beside its question: the documents, and the outcome of the debate before it."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path

from council.next.errors import UsageError
from council.next.record.session import Session
from council.next.text import one_line

LARGEST = 1_000_000  # bytes: of the topic, and of all documents together


def check_topic(topic: str) -> str:
    """The question, to the byte. It is text that somebody wrote, of a size that a brief can hold."""
    if not topic.strip():
        raise UsageError('the topic is empty: council run "Should we …?"')
    if "\0" in topic:
        raise UsageError("the topic holds a NUL character; it must be text")
    if len(topic.encode("utf-8", "surrogateescape")) > LARGEST:
        raise UsageError("the topic is larger than 1 MB; ask the question, and attach the document with --file")
    return topic


def gather(documents: Iterable[tuple[str, bytes]]) -> dict[str, bytes]:
    """The documents by their names. Two of one name are told apart by a number."""
    found: dict[str, bytes] = {}
    for given, data in documents:
        name, number = given, 2
        while name in found and found[name] != data:
            name, number = f"{given} ({number})", number + 1
        found[name] = check(name, data)
    if sum(map(len, found.values())) > LARGEST:
        raise UsageError("the attached documents are larger than 1 MB together; attach the parts that matter")
    return found


def read(path: Path) -> tuple[str, bytes]:
    """A file as a document. Its name says nothing of this machine."""
    try:
        with path.open("rb") as file:
            data = file.read(LARGEST + 1)
    except OSError as failure:
        raise UsageError(f"{path}: {failure.strerror}") from None
    plain = path.name if path.is_absolute() or ".." in path.parts else path.as_posix()
    return one_line(plain), data


def check(name: str, data: bytes) -> bytes:
    """The document, if members can read it."""
    if len(data) > LARGEST:
        raise UsageError(f"{name}: larger than 1 MB; attach the part that matters")
    try:
        readable = data.decode("utf-8").strip() and b"\0" not in data
    except UnicodeDecodeError:
        readable = False
    if not readable:
        raise UsageError(f"{name}: empty or not a text file; attach text in UTF-8")
    return data


def outcome_of(session: Session) -> tuple[str, bytes]:
    """What an earlier debate came to, as a document of the next one."""
    written = session.outcome.synthesis
    if not session.plan.done or not written:
        raise UsageError(f"{session.id} has no synthesis yet: `council recover {session.id}`")
    return f"synthesis of session {session.id}", session.said[written].body.encode("utf-8", "surrogateescape")
