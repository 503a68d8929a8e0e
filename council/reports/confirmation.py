"""The confirmation of a document: what it promises, by specialist, and what each found in the changes since.

Pure over texts and a plan. What specialists wrote is put into the document as one line each, disarmed, and a line of a
file that they cite and that the changes do not have is marked.
"""

from __future__ import annotations

import re
import shlex
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

from council.engine.contributions import Record, following
from council.engine.planner import Plan
from council.engine.scene import Turn
from council.protocols.casting import MARKS, NAME_END, find_mentioned
from council.replies.values import BULLET
from council.reports.words import contain_line
from council.text import fold, mark_code, one_line, slug
from council.workflow import declare
from council.workflow.model import LONGEST_NAME, is_name

KEPT = declare.answer("kept", "in a confirmation: whether a promise was kept", types=("choice",), concludes=True)
EVIDENCE = declare.answer(
    "evidence", "in a confirmation: where the changes show it, as `path:line: what`", types=("list",)
)
MISSING = declare.answer("missing", "in a confirmation: what was promised and is not there", types=("list",))
RESULTS = {"kept": "kept", "partly": "partly kept", "broken": "broken", "untouched": "untouched by these changes"}
MARK, DIGEST = "Document: ", " (sha256 "  # the line of the topic that names the document and its state
TITLE = "Confirmation"
OUTCOME = "Decision Outcome"  # in a document in the form of MADR, its section has the confirmation
RECORD = "Record"  # how an ADR of council came about, at its end
RESPONSIBILITIES = re.compile(r"responsibilit|who owns what", re.I)
HEADING = re.compile(r" {0,3}(#{1,6})\s+(.*)")
CLOSING = "# \t\r"  # what may end a heading's line
BOLD = re.compile(r"\*\*([^*]+)\*\*:?\s*$")
HUNK = re.compile(r"@@ -\d+(?:,\d+)? \+(\d+)(?:,\d+)? @@")
CITED = re.compile(r"(?<![\w/])((?:[\w.@+-]+/)*[\w.@+-]+):(\d{1,7})(?:-(\d{1,7}))?")
LONGEST = 600  # characters of an item
SHOWN_COMMIT = 10


# ---- what was promised ----


def find_promises(text: str, titles: Mapping[str, str]) -> dict[str, list[str]]:
    """What each specialist owns, by the document's section on responsibilities. Without `titles`, which are the seats
    that may be named, each name that the section itself gives is one."""
    promises: dict[str, list[str]] = {}
    above: list[str] = []  # whom the last heading names
    owners: list[str] = []  # whose item the last line belongs to
    for line in _read_section(text):
        named, words = _read_line(line, titles)
        if words is None:
            above = owners = named or above
            continue
        inside = line[0].isspace() and not named
        owners = owners if inside else named or above
        for seat in owners if words else ():
            items = promises.setdefault(seat, [])
            if inside and items and not BULLET.match(line):
                words = f"{items.pop()} {words}"
            items.append(one_line(words, LONGEST))
    return promises


def _read_section(text: str) -> Iterator[str]:
    """The lines of the section on responsibilities, without blocks of code and with its subheadings."""
    level = 0
    for line, code in mark_code(text.split("\n")):
        heading = None if code else HEADING.match(line)
        if heading and (not level or len(heading[1]) <= level):
            level = len(heading[1]) if RESPONSIBILITIES.search(heading[2]) else 0
        elif level and not code and line.strip():
            yield line


def _read_line(line: str, titles: Mapping[str, str]) -> tuple[list[str], str | None]:
    """The seats that a line names, and what it says of them; None if it only names them, as a heading does."""
    heading = HEADING.match(line) or BOLD.match(line.strip())
    if heading:
        return _find_seats(heading[heading.lastindex or 1].rstrip(CLOSING), titles), None
    row = [cell.strip() for cell in line.strip().strip("|").split("|")] if line.lstrip().startswith("|") else []
    if row and (set("".join(row)) <= set(":- ") or len(row) < 2):
        return [], ""
    if row:
        return _find_seats(row[0], titles), "; ".join(filter(None, row[1:]))
    item = BULLET.sub("", line, count=1).strip()
    head, *rest = NAME_END.split(item, maxsplit=1)
    named = _find_seats(head, titles) if rest else []
    return named, "".join(rest).strip(f"{MARKS}: ") if named else item


def _find_seats(head: str, titles: Mapping[str, str]) -> list[str]:
    if not titles:
        name = slug(head.strip(MARKS), LONGEST_NAME)
        return [name] if is_name(name) and len(head.split()) <= 4 else []
    found = find_mentioned(head, titles) | find_mentioned(head, {name: name for name in titles})
    return [name for name in titles if name in found]


def describe_question(title: str, promises: Mapping[str, Iterable[str]], labels: Mapping[str, str]) -> str:
    """The topic of the debate that checks the promises."""
    parts = [f"Do the changes keep what was promised in “{one_line(title, 120)}”?"]
    for seat, items in promises.items():
        parts.append(f"What {labels.get(seat, seat)} promised:\n\n" + "\n".join(f"- {item}" for item in items))
    return "\n\n".join(parts) + "\n"


@following
def add_to_document(record: Record, folder: Path) -> Iterator[str]:
    """How the result gets into the document, wherever the specialists were asked."""
    line = next((one for one in str(record.facts.get("topic", "")).splitlines() if one.startswith(MARK)), "")
    if line and record.plan.done and any(KEPT in turn.asked for turn in record.plan.scene.turns):
        name = one_line(line.removeprefix(MARK).partition(DIGEST)[0], LONGEST)
        yield f"add it to the document: council confirm {shlex.quote(name)} --session {folder.name}"


# ---- what was found ----


def list_lines(diff: str) -> dict[str, set[int]]:
    """The lines of each file that a diff shows, by their numbers after the change."""
    lines: dict[str, set[int]] = {}
    path, number = "", 0
    for line in diff.split("\n"):
        if line.startswith("diff --git "):
            path, number = line.rpartition(" b/")[2], 0
            lines.setdefault(path, set())
        elif hunk := HUNK.match(line):
            number = int(hunk[1])
        elif number and line[:1] in ("+", " ", "-"):
            lines[path].add(number)  # of a removed line, the place where it was
            number += line[0] != "-"
    return lines


def mark_citations(text: str, lines: Mapping[str, set[int]]) -> str:
    """The text; behind each `path:line` that the changes do not have, it says so."""

    def mark(found: re.Match[str]) -> str:
        whole, path, first = found[0], found[1], int(found[2])
        if path not in lines and not {".", "/"} & set(path):
            return whole  # such as a time of day
        numbers = lines.get(path) or next((own for name, own in lines.items() if name.endswith(f"/{path}")), set())
        cited = range(first, min(int(found[3] or first), first + 10_000) + 1)
        return whole if any(number in numbers for number in cited) else f"{whole} *(not in the changes)*"

    return CITED.sub(mark, text)


@dataclass(frozen=True)
class ConfirmationSource:
    """What a confirmation was made from: the commits, the session that checked them, and what was not shown to it."""

    day: str
    first: str
    second: str
    session: str
    head: str
    cut: tuple[str, ...] = ()
    note: str = ""


def has_entry(text: str, session: str) -> bool:
    """Whether a document has the entry of this session."""
    return f"\nChecked in session {session} (head " in text


def compose_entry(plan: Plan, diff: str, source: ConfirmationSource, level: int) -> str:
    """The dated entry of a confirmation, with a heading of this level."""
    lines = list_lines(diff)
    span = f"`{source.first[:SHOWN_COMMIT]}..{source.second[:SHOWN_COMMIT]}`"
    parts = [f"{'#' * level} {source.day}: {span}"]
    note = f" {contain_line(one_line(source.note, 4 * LONGEST))}" if source.note else ""
    parts += [f"Checked in session {source.session} (head {source.head}).{note}"]
    checked = (turn for turn in plan.scene.turns if KEPT in turn.asked)
    parts.append("\n".join(line for turn in checked for line in _describe_turn(turn, lines)))
    if source.cut:
        parts.append("Not shown to them:\n\n" + "\n".join(f"- {_put(one)}" for one in source.cut))
    return "\n\n".join(parts) + "\n"


def _describe_turn(turn: Turn, lines: Mapping[str, set[int]]) -> Iterator[str]:
    said = turn.describe_silence(KEPT) or RESULTS.get(str(turn.answers[KEPT]), "")
    yield f"- **{_put(turn.seat.label)}:** {said}"
    for item in turn.answers.get(EVIDENCE, ()):
        yield f"  - {mark_citations(_put(str(item)), lines)}"
    for item in turn.answers.get(MISSING, ()):
        yield f"  - missing: {mark_citations(_put(str(item)), lines)}"


def _put(words: str) -> str:
    return contain_line(one_line(words, LONGEST))


# ---- into the document ----


def add_entry(text: str, plan: Plan, diff: str, source: ConfirmationSource) -> str:
    """The document with the entry in its confirmation: an existing section, that of MADR, or a new one at its end."""
    if "\r\n" in text and text.count("\r\n") == text.count("\n"):  # as an editor on Windows writes it
        return add_entry(text.replace("\r\n", "\n"), plan, diff, source).replace("\n", "\r\n")
    found = _find_place(text)
    level, at, title = found or (2, len(text), f"## {TITLE}")
    entry = compose_entry(plan, diff, source, min(level + 1, 6))
    before, after = text[:at].rstrip("\n"), text[at:].lstrip("\n")
    added = "\n\n".join(filter(None, [before, title, entry.rstrip("\n")])) + "\n"
    return added + (f"\n{after}" if after else "")


def _find_place(text: str) -> tuple[int, int, str] | None:
    """The level of the section, where it ends, and the heading that it still needs; None if there is no such place."""
    headings: list[tuple[int, str, int]] = []
    at = 0
    for line, code in mark_code(text.split("\n")):
        if not code and (found := HEADING.match(line)):
            headings.append((len(found[1]), fold(found[2].rstrip(CLOSING)), at))
        at += len(line) + 1
    for title, needed in ((TITLE, ""), (OUTCOME, f"### {TITLE}"), (RECORD, f"## {TITLE}")):
        for number, (level, name, start_of) in enumerate(headings):
            if name == fold(title) and title == RECORD:
                return 2, start_of, needed
            if name == fold(title):
                end = next((start for other, _, start in headings[number + 1 :] if other <= level), len(text))
                return (3, end, needed) if needed else (level, end, "")
    return None
