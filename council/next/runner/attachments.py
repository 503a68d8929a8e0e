"""What a debate is given beside its question: documents, facts to cite, and the outcome of the debate before it."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from itertools import accumulate
from pathlib import Path

from council.next.errors import UsageError
from council.next.record import files
from council.next.record.session import Session
from council.next.speakers.base import Attachment, source, sources
from council.next.text import encode, one_line

LARGEST = 1_000_000  # bytes: of the topic, and of all documents together
LARGEST_FACT = 16_000_000  # bytes: of a file whose beginning is a fact
SHOWN, SHOWN_TOGETHER = 100_000, 400_000  # characters that members are given of a fact, and of all facts


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
        found[name] = encode(read_text(name, data))
    if sum(map(len, found.values())) > LARGEST:
        raise UsageError("the attached documents are larger than 1 MB together; attach the parts that matter")
    return found


def read(path: Path, most: int = LARGEST) -> tuple[str, bytes]:
    """A file as a document. Its name says nothing of this machine."""
    try:
        if path.exists() and not path.is_file():
            raise UsageError(f"{path}: it is not a regular file; attach text in UTF-8")
        with path.open("rb") as file:
            data = file.read(most + 1)
    except (OSError, ValueError) as failure:  # ValueError: no system has such a path
        raise UsageError(f"{path}: {getattr(failure, 'strerror', failure)}") from None
    if len(data) > most:
        raise UsageError(f"{path}: larger than {most // 1_000_000} MB; attach the part that matters")
    plain = path.name if path.is_absolute() or ".." in path.parts else path.as_posix()
    return one_line(plain), data


def read_text(name: str, data: bytes) -> str:
    """The document, if members can read it."""
    try:
        text = data.decode("utf-8")
    except UnicodeDecodeError:
        text = ""
    if not text.strip() or "\0" in text:
        raise UsageError(f"{name}: empty or not a text file; attach text in UTF-8")
    return text


def outcome_of(session: Session) -> tuple[str, bytes]:
    """What an earlier debate came to, as a document of the next one."""
    written = session.outcome.synthesis
    if not session.plan.done or not written:
        raise UsageError(f"{session.id} has no synthesis yet: `council recover {session.id}`")
    return f"synthesis of session {session.id}", session.said[written].body.encode("utf-8", "surrogateescape")


# ---- facts that members can cite ----


@source
def file(text: str, say: Callable[[str], None]) -> Attachment:  # noqa: ARG001 (as every source)
    """What is in a file. `say` would be told of a wait."""
    name, data = read(Path(text), LARGEST_FACT)
    return Attachment(name, read_text(name, data))


def check_sources(evidence: Iterable[tuple[str, str]]) -> None:
    """Refuse a source that no room of this copy has, before anything is read or run."""
    for kind, _ in evidence:
        if not sources.knows(kind):
            raise UsageError(
                f"--evidence-{kind} needs an optional room with such a source (sandbox), and it is not here"
            )


def gather_facts(evidence: Iterable[tuple[str, str]], say: Callable[[str], None]) -> dict[str, tuple[str, bytes]]:
    """The facts E1, E2 and so on by their names, with the sha256 of the whole and what members are given: as many whole
    lines as fit, with the numbers that an editor gives them."""
    found: dict[str, tuple[str, bytes]] = {}
    together = 0
    for number, (kind, given) in enumerate(evidence, 1):
        one = sources[kind](given, say)
        lines = one.text.replace("\r\n", "\n").replace("\r", "\n").removesuffix("\n").split("\n")
        sizes = [size for size in accumulate(len(line) + 1 for line in lines) if size <= SHOWN]
        shown, cut = len(sizes), ""
        if not shown:  # one endless line
            lines, shown, cut = [lines[0][:SHOWN]], 1, f", the first {SHOWN:,} characters"
        elif shown < len(lines):
            cut = f", the first {shown:,} of {len(lines):,} lines"
        text = "\n".join(f"{place:>{len(str(shown))}} | {line}" for place, line in enumerate(lines[:shown], 1))
        found[f"E{number}, {one.name}{cut}"] = files.sha256(encode(one.text)), encode(text)
        together += sum(map(len, lines[:shown]))
    if together > SHOWN_TOGETHER:
        raise UsageError(f"the evidence is longer than {SHOWN_TOGETHER:,} characters together; give what matters")
    return found
