"""The edits that findings propose, and the patch that makes them. Pure: nothing is applied here.

An edit is a finding's replacement for the passage that was found. Where two of them are for the same words, neither is
made: which one is right is for a person to say.
"""

from __future__ import annotations

import posixpath
import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace

from council.reviews import locate
from council.reviews.entries import Merged, RaisedFinding
from council.reviews.model import Document
from council.text import harmless

CONTEXT = 3  # lines around a change, as in every unified diff
SET_ASIDE = ("withdrawn", "dismissed")


@dataclass(frozen=True)
class Edit:
    """One passage's replacement: `ids` are the findings that ask for it, `seats` those who wrote it.

    `start` and `end` are places in the document's text, `new` has the document's own line breaks.
    """

    ids: tuple[str, ...]
    seats: tuple[str, ...]
    path: str
    start: int
    end: int
    first: int
    last: int
    old: str
    new: str


@dataclass(frozen=True)
class Edits:
    """What can be made, in the documents' order, and what cannot: groups of edits that exclude each other."""

    edits: tuple[Edit, ...] = ()
    conflicts: tuple[tuple[Edit, ...], ...] = ()


def propose(merged: Sequence[Merged], documents: Sequence[Document]) -> Edits:
    """Each open finding's replacements, less those that are for the same words as another's."""
    edits: list[Edit] = []
    conflicts: list[tuple[Edit, ...]] = []
    wanted = [edit for finding in merged for edit in of(finding, documents)]
    for document in _once(documents):
        for group in _overlapping(edit for edit in wanted if edit.path == document.path):
            if len(one := _same(group)) == 1:
                edits += one
            else:
                conflicts.append(tuple(one))
    return Edits(tuple(edits), tuple(conflicts))


def of(finding: Merged, documents: Sequence[Document]) -> tuple[Edit, ...]:
    """What one finding's authors would put in the place of its passage: several, where they differ."""
    by_path = {document.path: document for document in documents}
    parts = [part for part in finding.entries if not {part.status, finding.status}.intersection(SET_ASIDE)]
    standing = [wording for part in parts for wording in part.wordings]
    edits = [
        edit
        for part in standing
        for said in part.members
        if said.seat not in part.withdrawn and said.place.path in by_path
        for edit in _edit(finding.id, said, by_path[said.place.path])
    ]
    return tuple(_same(edits))


def apply(edits: Iterable[Edit], document: Document) -> str:
    """The document's text with the edits made."""
    text = document.text
    for edit in sorted(edits, key=lambda edit: edit.start, reverse=True):
        if edit.path == document.path:
            text = text[: edit.start] + edit.new + text[edit.end :]
    return text


def diff(edits: Edits, documents: Sequence[Document]) -> str:
    """A unified diff that `git apply` takes. To be written as it stands: its line breaks are the documents' own."""
    return "".join(
        _header(document.path) + "".join(_hunks(document, own))
        for document in _once(documents)
        if (own := [edit for edit in edits.edits if edit.path == document.path])
    )


def _once(documents: Sequence[Document]) -> Iterable[Document]:
    return reversed({document.path: document for document in reversed(documents)}.values())


# --- an edit


def _edit(id: str, said: RaisedFinding, document: Document) -> Iterator[Edit]:
    wanted, found = said.finding.replacement, locate.span(said.place, document)
    if wanted is None or found is None or said.place.how == "section" or _elides(said.finding.anchor.quote, wanted):
        return
    new = harmless(wanted).strip("\n") if wanted.strip() else ""
    if not new:
        start, end = _whole(document.text, *found)
    elif (widened := _widened(document.text, *found, new, said.finding.anchor.quote)) is None:
        return
    else:
        start, end = widened
    new = new.replace("\n", "\r\n") if _returns(document.text) else new
    if (old := document.text[start:end]) != new:
        yield Edit((id,), (said.seat,), document.path, start, end, said.place.first, said.place.last, old, new)


def _elides(quote: str, wanted: str) -> bool:
    """`this … that` for `this … those`: what the dots stand for would be lost."""
    return len(locate.parts(quote)) > 1 and len(locate.parts(wanted)) > 1


def _whole(text: str, start: int, end: int) -> tuple[int, int]:
    """A passage that is to go takes its line with it where nothing else stands on it."""
    line = text.rfind("\n", 0, start) + 1
    rest = re.compile(r"[ \t]*(\r?\n|\Z)").match(text, end)
    return (line, rest.end()) if rest and not text[line:start].strip() else (start, end)


MARK = re.compile(r"\s*(?:[-*+•>]|\d{1,3}[.)]|#{1,6})(?:\s+\[[ xX]\])?\s+")  # of a list, a quotation or a heading
DOTS = re.compile(r"(?:\.{3,}|\u2026)[\])]?[\s\"'”]*$")
END = re.compile(r"\s*[.!?;:,|]\s*")


def _widened(text: str, start: int, end: int, new: str, quote: str) -> tuple[int, int] | None:
    """What the replacement is for: more than the passage where it repeats how the line begins or ends, as its
    indentation or its list mark. Dots at the end of a quote stand for the rest of the line; None where they may stand
    for more.
    """
    line = text.rfind("\n", 0, start) + 1
    margin, rest = text[line:start], text[end : (text + "\n").index("\n", end)]
    if DOTS.search(quote):
        if DOTS.search(new) or re.search(r"[.!?]\s", rest):
            return None
        end += len(rest.rstrip())
    elif rest.strip() and new.rstrip().endswith(rest.strip() if END.fullmatch(rest) else rest.rstrip()):
        end += len(rest.rstrip())
    indent = len(margin) - len(margin.lstrip())
    if margin and new.startswith(margin):
        start = line
    elif margin.strip() and (new.startswith(margin.lstrip()) or (MARK.fullmatch(margin) and MARK.match(new))):
        start = line + (0 if new[:1].isspace() else indent)
    return start, end


def _returns(text: str) -> bool:
    return 2 * text.count("\r\n") > text.count("\n")


def _same(edits: Iterable[Edit]) -> list[Edit]:
    """Edits that come to the same text, as one with all their findings and authors."""
    found: dict[tuple[str, int, int, str], Edit] = {}
    for edit in edits:
        key = (edit.path, *_core(edit))
        if (has := found.get(key)) is not None:
            edit = replace(has, ids=_joined(has.ids, edit.ids), seats=_joined(has.seats, edit.seats))  # noqa: PLW2901
        found[key] = edit
    return list(found.values())


def _joined(one: tuple[str, ...], other: tuple[str, ...]) -> tuple[str, ...]:
    return tuple(dict.fromkeys((*one, *other)))


def _core(edit: Edit) -> tuple[int, int, str]:
    """What of an edit changes anything: two that quote more or less of a line may be the same."""
    head = len(posixpath.commonprefix([edit.old, edit.new]))
    old, new = edit.old[head:], edit.new[head:]
    tail = len(posixpath.commonprefix([old[::-1], new[::-1]]))
    return edit.start + head, edit.end - tail, new[: len(new) - tail]


def _overlapping(edits: Iterable[Edit]) -> Iterator[list[Edit]]:
    """The edits of one document in groups: those of a group are for words that they share."""
    group: list[Edit] = []
    reach = 0
    for edit in sorted(edits, key=lambda edit: (edit.start, edit.end)):
        if group and edit.start >= reach:
            yield group
            group = []
        group.append(edit)
        reach = max(reach, edit.end) if len(group) > 1 else edit.end
    if group:
        yield group


# --- the patch


def _header(path: str) -> str:
    old, new = _name("a", path), _name("b", path)
    tab = "\t" if " " in path else ""  # else patch would take what follows a space for a date
    return f"diff --git {old} {new}\n--- {old}{tab}\n+++ {new}{tab}\n"


def _name(side: str, path: str) -> str:
    """A file's name as git writes it: quoted, byte by byte, where it has anything but plain characters."""
    plain = f"{side}/{posixpath.normpath(path).lstrip('/')}"
    if re.fullmatch(r"[ !#-\[\]-~]+", plain):
        return plain
    named = {ord('"'): '\\"', ord("\\"): "\\\\"}
    raw = plain.encode("utf-8", "surrogateescape" if _escaped(plain) else "replace")
    return '"' + "".join(named.get(byte) or (chr(byte) if 32 <= byte < 127 else f"\\{byte:03o}") for byte in raw) + '"'


def _escaped(text: str) -> bool:
    return all(0xDC80 <= ord(char) <= 0xDCFF for char in text if "\ud800" <= char <= "\udfff")


@dataclass(frozen=True)
class _Change:
    """Whole lines that give way to others: lines `first` (from 0) to before `last` of the old text."""

    first: int
    last: int
    new: list[str]


def _hunks(document: Document, edits: Sequence[Edit]) -> Iterator[str]:
    lines = _lines(document.text)
    near: list[_Change] = []
    shift = 0
    for change in _changes(document, edits):
        if near and change.first - near[-1].last > 2 * CONTEXT:
            yield _hunk(lines, near, shift)
            shift += sum(len(one.new) - (one.last - one.first) for one in near)
            near = []
        near.append(change)
    if near:
        yield _hunk(lines, near, shift)


def _changes(document: Document, edits: Sequence[Edit]) -> Iterator[_Change]:
    """The edits by lines; those that share a line are one change."""
    text = document.text
    group: list[Edit] = []
    for edit in sorted(edits, key=lambda edit: edit.start):
        if group and text.find("\n", max(group[-1].start, group[-1].end - 1), edit.start) >= 0:
            yield _change(text, group)
            group = []
        group.append(edit)
    if group:
        yield _change(text, group)


def _change(text: str, group: list[Edit]) -> _Change:
    start = text.rfind("\n", 0, group[0].start) + 1
    reach = group[-1].end
    end = reach if text[start:reach].endswith("\n") else (text.find("\n", reach) + 1 or len(text))
    first = text.count("\n", 0, start)
    old = _lines(text[start:end])
    moved = [replace(edit, start=edit.start - start, end=edit.end - start) for edit in group]
    new = _lines(apply(moved, Document(group[0].path, text[start:end])))
    return _Change(first, first + len(old), new)


def _hunk(lines: list[str], changes: list[_Change], shift: int) -> str:
    first = max(0, changes[0].first - CONTEXT)
    last = min(len(lines), changes[-1].last + CONTEXT)
    body: list[str] = []
    at = first
    for change in changes:
        body += _marked(" ", lines[at : change.first])
        body += _marked("-", lines[change.first : change.last])
        body += _marked("+", change.new)
        at = change.last
    body += _marked(" ", lines[at:last])
    grown = sum(len(change.new) - (change.last - change.first) for change in changes)
    old, new = last - first, last - first + grown
    return f"@@ -{_range(first, old)} +{_range(first + shift, new)} @@\n" + "".join(body)


def _range(first: int, count: int) -> str:
    return f"{first + 1 if count else first},{count}"


def _marked(mark: str, lines: Iterable[str]) -> Iterator[str]:
    for line in lines:
        yield mark + line + ("" if line.endswith("\n") else "\n\\ No newline at end of file\n")


def _lines(text: str) -> list[str]:
    """The lines with their ends, as git counts them: nothing but a line feed ends one."""
    return re.findall(r"[^\n]*\n|[^\n]+", text)
