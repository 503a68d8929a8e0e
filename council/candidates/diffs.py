"""Applies a unified diff to texts. A hunk is found by its lines, because models miscount; one that does not fit is
refused, and never forced."""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass, field
from heapq import merge
from itertools import islice, takewhile

from council.candidates.paths import check_path
from council.text import one_line
from council.workflow.types import Unreadable

HUNK = re.compile(r"@@(?: -(\d{1,7})(?:,\d{1,7})? \+\d{1,7}(?:,\d{1,7})?)? ?@@?")
NO_NEWLINE = "\\ No newline at end of file"
NOWHERE = "/dev/null"
MOST_COMPARED = 5_000_000  # lines of one file, while the places of hunks are looked for; a large change takes 10,000
NEXT = "diff --git "
REFUSED = {
    "GIT binary patch": "changes a binary file",
    "Binary files ": "changes a binary file",
    "new file mode 12": "makes a symbolic link",
    "new file mode 16": "adds a submodule",
    "rename from ": "renames a file; delete the old one and write the new one",
    "copy from ": "copies a file; write the new one",
    "old mode ": "changes the mode of a file",
    "new file mode 100755": "makes a file executable",
}


@dataclass
class Hunk:
    """Lines to replace, from about line `at` of the old text on (0 if the hunk does not say)."""

    at: int
    old: list[str] = field(default_factory=list)
    new: list[str] = field(default_factory=list)


@dataclass
class FileChange:
    """The hunks of one file; None as its old or new path if it is made or deleted."""

    old: str | None
    new: str | None
    hunks: list[Hunk] = field(default_factory=list)

    @property
    def path(self) -> str:
        return self.new or self.old or ""


def parse_diff(text: str) -> list[FileChange]:
    """The changes of a diff, a file each. Raises Unreadable for what is no diff, or does more than change text."""
    changes: list[FileChange] = []
    lines = text.split("\n")
    at, named = 0, ""  # the line that names a file of which nothing came yet
    while at < len(lines):
        line = lines[at]
        if _begins_file(lines, at):
            old, new = _name(line), _name(lines[at + 1])
            if old is None and new is None:
                raise Unreadable("the diff has a file without a name")
            changes.append(FileChange(old, new))
            if changes[-1].path not in named:
                _check_between(NEXT, named)
            at += 2
            named = ""
        elif changes and not named and (found := HUNK.match(line)):
            at = _read_hunk(lines, at + 1, changes[-1], int(found.group(1) or 0))
        else:
            _check_between(line, named)
            named, at = line if line.startswith(NEXT) else named, at + 1
    _check_between(NEXT, named)
    if not changes or not all(change.hunks for change in changes if change.new):
        raise Unreadable(
            'the diff has no hunks; each file begins with "--- a/PATH", "+++ b/PATH" and "@@ -1,2 +1,3 @@"'
        )
    paths = [change.path for change in changes]
    if len(set(paths)) < len(paths):
        raise Unreadable("the diff has a file twice")
    if moved := next((change for change in changes if change.old and change.new and change.old != change.new), None):
        raise Unreadable(f"the diff renames {moved.old}; delete the old file and write the new one")
    return changes


def _check_between(line: str, named: str) -> None:
    """Refuse what a line outside of all hunks adds to a diff, because nothing else would tell that it is lost."""
    if why := next((why for start, why in REFUSED.items() if line.startswith(start)), ""):
        raise Unreadable(f"the diff {why}")
    if line.startswith(("@@", "+", "-")):
        raise Unreadable(f'the diff has lines that belong to no file: "{one_line(line, 60)}"')
    if line.startswith(NEXT) and named:  # an empty file, for instance
        raise Unreadable(f'the diff changes no lines of a file that it names: "{one_line(named, 60)}"; write that file')


def apply_diff(text: str, tree: Mapping[str, str]) -> dict[str, str | None]:
    """The files that a diff changes, each with its new text, or None if it is deleted."""
    changed: dict[str, str | None] = {}
    for change in parse_diff(text):
        before = tree.get(change.path)
        if change.old is not None and before is None:
            raise Unreadable(f"the diff changes {change.path}, which does not exist; write the whole file")
        if change.old is None and before is not None:
            raise Unreadable(f"the diff makes {change.path}, which exists already")
        changed[change.path] = None if change.new is None else _patch(change, before or "")
    return changed


def _begins_file(lines: list[str], at: int) -> bool:
    return lines[at].startswith("--- ") and at + 1 < len(lines) and lines[at + 1].startswith("+++ ")


def _name(line: str) -> str | None:
    named = line[4:].partition("\t")[0].strip()
    if named == NOWHERE:
        return None
    return check_path(re.sub(r"^[ab]/", "", named))


def _read_hunk(lines: list[str], at: int, change: FileChange, first: int) -> int:
    hunk = Hunk(first)
    while at < len(lines) and not _begins_file(lines, at) and not lines[at].startswith(("@@", NEXT)):
        line, at = lines[at], at + 1
        if line.startswith(NO_NEWLINE[:2]):
            continue
        sign, rest = line[:1] or " ", line[1:]
        if sign not in " +-":
            raise Unreadable(f'a line of the diff begins with none of "+", "-" and a space: "{one_line(line, 60)}"')
        if sign in " -":
            hunk.old.append(rest)
        if sign in " +":
            hunk.new.append(rest)
    while hunk.old and hunk.new and not hunk.old[-1] and not hunk.new[-1]:  # blank lines after the hunk
        hunk.old.pop()
        hunk.new.pop()
    change.hunks.append(hunk)
    return at


def _patch(change: FileChange, before: str) -> str:
    """The text with all hunks applied, from the top down. A text that ended with a line break still does."""
    text = _Lines(before.removesuffix("\n").split("\n") if before else [])
    made, done = list[str](), 0
    for number, hunk in enumerate(change.hunks, 1):
        places = list(islice(text.find(hunk, done), 1 if hunk.at else 2))
        if len(places) != 1:
            why = _explain_misfit(hunk, {*made, *text.lines[done:]}, places)
            raise Unreadable(f"hunk {number} of {change.path} {why}")
        made += [*text.lines[done : places[0]], *hunk.new]
        done = places[0] + len(hunk.old)
    made += text.lines[done:]
    return "\n".join(made) + "\n" if made else ""


class _Lines:
    """The lines of a text, and where each of them is. Hunks that fit nearly everywhere are refused, once looking for
    them has taken as long as `MOST_COMPARED` allows: a stranger may have written both the text and the diff.
    """

    def __init__(self, lines: list[str]) -> None:
        self.lines, self.left = lines, MOST_COMPARED
        self.places: dict[str, list[int]] = {}
        for place, line in enumerate(lines):
            self.places.setdefault(line, []).append(place)

    def find(self, hunk: Hunk, done: int) -> Iterator[int]:
        """Where the hunk fits after the lines that are done: the place nearest to the one that it says comes first."""
        if not hunk.old:
            yield len(self.lines)
            return
        counted = [(len(self.places.get(line, ())), at) for at, line in enumerate(hunk.old)]
        rarest = min(counted)[1]
        known = self.places.get(hunk.old[rarest], [])
        first, nearest = done + rarest, (hunk.at - 1 if hunk.at else done) + rarest
        middle = bisect_right(known, max(nearest, first - 1))
        above = (known[at] for at in range(middle, len(known)))
        below = takewhile(lambda place: place >= first, (known[at] for at in range(middle - 1, -1, -1)))
        for place in merge(below, above, key=lambda place: abs(place - nearest)):
            self.left -= len(hunk.old)
            if self.left < 0:
                raise Unreadable("the diff nearly fits in too many places; write the whole file")
            if self.lines[place - rarest : place - rarest + len(hunk.old)] == hunk.old:
                yield place - rarest


def _explain_misfit(hunk: Hunk, lines: Collection[str], places: list[int]) -> str:
    if places:
        return "fits in several places; say the line, as in @@ -12,3 +12,4 @@"
    missing = next((line for line in hunk.old if line not in lines), None)
    why = f'the line "{one_line(missing, 60)}" is not there' if missing is not None else "its lines are not together"
    return f"does not fit: {why}"
