"""The answer type `files`: files that a member writes or deletes, or one diff against the files that it was shown.

Reading never guesses. A block of code without a path, a path that leads out of the project, or a hunk that does not fit
is a problem, and the member is asked once more with that reason.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass, field
from os.path import commonprefix

from council.candidates.blocks import LONGEST_LINE, Block, is_path
from council.candidates.diffs import apply_diff, parse_diff
from council.candidates.paths import check_path, find_clash
from council.candidates.unseen import find_unseen
from council.replies.quotes import passages
from council.text import FENCE, MARKER, join_words, one_line, unwrapped
from council.workflow.types import Unreadable

MOST_FILES = 200
MOST_BYTES = 1_000_000
FORMAT = (
    "[for each file: its path alone on a line, then its whole content in a fenced code block; "
    '"delete PATH" alone on a line deletes a file; or, in place of files, one ```diff block against the files shown]'
)
SHOWN = "the file "  # begins the name in the mark around a file that a brief shows
ONLY_FILE = re.compile(r"^File to write: `([^`\n]+)`\s*$", re.M)
DELETE = re.compile(r"\s*(?:[-*+•]\s+)?[*_]{0,3}delete\b[*_]{0,3}:?\s+(`[^`]+`|\S+)(.*)", re.I)
LONE_RETURN = re.compile("\r(?!\n)")
MOST_CODES = 5


@dataclass(frozen=True)
class Files:
    """The files of one answer: each path with its text, or with None if it is deleted. Or a `diff`."""

    written: Mapping[str, str | None] = field(default_factory=dict)
    diff: str = ""

    def __bool__(self) -> bool:
        return bool(self.written or self.diff)

    def lay_on(self, tree: Mapping[str, bytes], deleted: Collection[str] = ()) -> dict[str, bytes]:
        """The tree with these files laid on it. Raises Unreadable if they do not fit it. What an earlier version has
        `deleted` may be deleted again."""
        changed = apply_diff(self.diff, _texts(self.diff, tree)) if self.diff else self.written
        laid = dict(tree)
        for path, text in changed.items():
            if text is None and laid.pop(path, None) is None and path not in deleted:
                raise Unreadable(f"it deletes {path}, which does not exist")
            if text is not None:
                laid[path] = _keep_line_ends(text.encode("utf-8", "surrogateescape"), tree.get(path, b""))
        added = laid.keys() - tree.keys()
        if added and (clash := find_clash(sorted(added), sorted(tree.keys() & laid.keys()))):
            raise Unreadable(clash)
        return laid


def _keep_line_ends(data: bytes, before: bytes) -> bytes:
    """A reply has plain line breaks. A file that had those of Windows, and only those, keeps them."""
    of_windows = before.count(b"\n") == before.count(b"\r\n") > 0
    return data.replace(b"\n", b"\r\n") if of_windows else data


def _texts(diff: str, tree: Mapping[str, bytes]) -> dict[str, str]:
    """The texts of the files that a diff names. Their line ends become those of a reply."""
    named = {change.path for change in parse_diff(diff)}
    return {
        path: content.decode("utf-8", "surrogateescape").replace("\r\n", "\n")
        for path, content in tree.items()
        if path in named
    }


def read_files(body: str, brief: str, says_none: bool) -> Files | None:
    """The files of a reply; None if it has none. Raises Unreadable with what is wrong."""
    found = _Reader(body, brief).read()
    if not found and not says_none:
        return None
    check_text(found, shown_files(brief))
    if len(found.written) > MOST_FILES:
        raise Unreadable(f"there are {len(found.written)} files; write at most {MOST_FILES}")
    size = sum(len(text.encode("utf-8", "surrogateescape")) for text in (*found.written.values(), found.diff) if text)
    if size > MOST_BYTES:
        raise Unreadable(f"the files have {size:,} bytes together; write at most {MOST_BYTES:,}")
    if clash := find_clash(sorted(path for path, text in found.written.items() if text is not None)):
        raise Unreadable(clash)
    if found.diff:
        apply_diff(found.diff, shown_files(brief))
    return found


def check_text(files: Files, shown: Mapping[str, str]) -> None:
    """Refuse text that does not read as it looks. As many invisible characters as a file had may stay in it."""
    changed = {sign: [line[1:] for line in files.diff.split("\n") if line.startswith(sign)] for sign in "+-"}
    texts = {path: (text, shown.get(path, "")) for path, text in files.written.items() if text}
    for path, (text, before) in {**texts, "the diff": ("\n".join(changed["+"]), "\n".join(changed["-"]))}.items():
        if hidden := find_unseen(text, before) or LONE_RETURN.findall(text)[:1]:
            codes = join_words(f"U+{ord(sign):04X}" for sign in hidden[:MOST_CODES])
            raise Unreadable(f"{one_line(path)} has {codes}, which cannot be seen; leave it out, or write an escape")


def shown_files(brief: str) -> dict[str, str]:
    """The files that the program shows in a brief, each between marks that nobody else can make."""
    return {
        passage.by.removeprefix(SHOWN): passage.text + "\n" * (not passage.text.endswith("\n"))
        for passage in passages(brief)
        if passage.by.startswith(SHOWN)
    }


class _Reader:
    def __init__(self, body: str, brief: str) -> None:
        self.brief = brief
        lines = body.replace("\r\n", "\n").split("\n")
        inner = unwrapped(lines)
        self.lines = inner if any(map(FENCE.match, inner)) else lines

    def read(self) -> Files:
        written: dict[str, str | None] = {}
        diffs: list[str] = []
        unnamed: list[Block] = []
        for item in self.items():
            if isinstance(item, str):
                self.put(written, item, None)
            elif not item.closed:
                raise Unreadable(item.describe_open())
            elif item.is_diff:
                diffs.append(item.text)
            elif item.path:
                self.put(written, item.path, item.text)
            elif item.may_be_file:
                unnamed.append(item)
        if unnamed:
            self.put(written, self.only_file(unnamed, written or diffs), unnamed[0].text)
        if diffs and written:
            raise Unreadable("it has both files and a diff; write one or the other")
        return Files(written, "".join(diffs))

    def put(self, written: dict[str, str | None], path: str, text: str | None) -> None:
        if path in written and written[path] != text:
            raise Unreadable(f"{one_line(path)} is there twice, and differently")
        written[check_path(path)] = text

    def only_file(self, unnamed: list[Block], others: object) -> str:
        """The file that a single block without a path must be: the brief says so in a line of the program's own."""
        own, place = [], 0
        for passage in passages(self.brief):
            own.append(self.brief[place : passage.start])
            place = passage.end
        asked = ONLY_FILE.findall("".join([*own, self.brief[place:]]))
        if len(unnamed) > 1 and len(asked) == 1:
            raise Unreadable(f"there are {len(unnamed)} code blocks; write one, with the whole of {asked[0]}")
        if others or len(unnamed) > 1 or len(asked) != 1:
            first = one_line(next(filter(str.strip, unnamed[0].lines), ""), 40)
            raise Unreadable(
                f'a code block has no path on the line before it: the one that begins "{first}"; write "File: PATH"'
            )
        return str(asked[0])

    def items(self) -> Iterator[Block | str]:
        """The blocks of code, and the paths to be deleted, in the order written. Quotations are left out."""
        keys = {match.group(2) for match in MARKER.finditer(self.brief)}
        quoting, before, at = "", "", 0
        while at < len(self.lines):
            line, at = self.lines[at], at + 1
            markers = [match for match in MARKER.finditer(line) if match.group(2) in keys]
            for closing, key in (marker.groups() for marker in markers):
                quoting = quoting if quoting not in ("", key) else "" if closing else key
            if markers or quoting or line.lstrip().startswith(">"):
                before = ""
            elif fence := FENCE.match(line):
                block, at = self.block(fence, before, at)
                yield block
                before = ""
            elif path := _find_deleted(line):
                yield path
            elif line.strip():
                before = line

    def block(self, fence: re.Match[str], before: str, at: int) -> tuple[Block, int]:
        """The block that a fence opens, and the line after it. A fence with a language opens a block inside it."""
        opened, info = fence.group(1), fence.group(2).strip()
        indent = len(fence.group()) - len(fence.group().lstrip())
        margin, lines = fence.group()[:indent], list[str]()
        inside = ""
        while at < len(self.lines):
            line, at = self.lines[at], at + 1
            if inner := FENCE.match(line):
                closes = not inner.group(2).strip()
                if not inside and closes and inner.group(1).startswith(opened):
                    return Block(info, before, lines, True), at
                if not inside and not closes and inner.group(1).startswith(opened):
                    inside = inner.group(1)
                elif inside and closes and inner.group(1).startswith(inside):
                    inside = ""
            lines.append(line[len(commonprefix((line, margin))) :])  # noqa: RUF071 (characters are meant)
        return Block(info, before, lines, False), at


def _find_deleted(line: str) -> str:
    """The path that a line deletes; empty if it deletes none. What is more than "delete PATH" could be overlooked."""
    found = DELETE.fullmatch(line) if len(line) <= LONGEST_LINE else None
    if not found:
        return ""
    word, more = found.group(1), found.group(2).strip().strip("*_.").strip()
    quoted, name = word.startswith("`"), word.strip("`").rstrip("*.,;:!")
    meant = is_path(name, quoted) or bool(not more and (quoted or re.search(r"[./]", name)))
    if meant and more:
        raise Unreadable(f'"delete {one_line(name, 60)}" is not alone on its line')
    return name if meant else ""
