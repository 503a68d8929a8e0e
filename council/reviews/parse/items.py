"""Items as they are gathered from the lines of a reply, and from its tables and JSON. Pure."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

from council.reviews.parse.tally import counts_in
from council.reviews.parse.vocabulary import (
    ARROW,
    CLOSES,
    EMBOLDENED,
    FIELD,
    HOLDS,
    LABEL,
    LEAVES,
    LISTED,
    MENDED,
    ORDINAL,
    RULED,
    RULES,
    SEPARATES,
    TAG,
    TITLED,
    Lead,
    Line,
    Section,
    grouped,
    in_own_list,
    is_nothing,
    lead_of,
    severity_of,
)
from council.text import fold

# Items as they are gathered from the lines.


CHAPTER = 5  # words: a numbered heading over other items that has more says something itself
SHORT = ("place", "severity", "passage", "aside")  # fields that one paragraph fills


@dataclass
class Draft:
    lead: Lead
    section: Section | None
    margin: int = 0
    style: str = "bullet"  # bullet | heading | paragraph | bare | prose
    level: int = 7
    pieces: list[tuple[str, str]] = field(default_factory=list)  # what it is, and its text
    now: str = "issue"
    gap: bool = False
    quotes: list[str] = field(default_factory=list)
    replacement: str | None = None
    aside: bool = False  # it is under a heading that leaves the list: strengths, a summary
    again: bool = False  # it is under a heading of what to do, so it may only repeat what is written elsewhere
    over: bool = False  # it is a heading with items of their own under it
    own: bool = False  # it is under a heading "Findings", or a row of a list: the number is its author's own
    opening: bool = False  # it is written before anything that looks like the heading of a list
    parted: tuple[str, str] | None = None  # the issue and the change, once they were told apart

    def add(self, text: str, joined: bool = False) -> None:
        """More of the item: a new piece, or the last one's going on."""
        labelled = LABEL.match(text)
        arrow = ARROW.match(text.lstrip(" *_"))
        if labelled and labelled.group("end").strip("*_ "):
            self.now, text, joined = FIELD[labelled.group("name").lower()], text[labelled.end() :].strip(), False
            self.now = {"more": "issue", "title": "issue", "new": "change"}.get(self.now, self.now)
        elif arrow:
            self.now, text, joined = "change", text.lstrip(" *_")[arrow.end() :].strip(), False
            text = text[again.end() :] if (again := LABEL.match(text)) else text
        if joined and self.pieces and self.pieces[-1][0] == self.now:
            self.tail.append(text.strip())
        else:
            self.settle()
            if not (labelled or arrow) and self.now in SHORT and self.pieces and self.pieces[-1][1]:
                self.now = "issue"
            self.pieces.append((self.now, text.strip()))

    def settle(self) -> None:
        """Writes what was joined to the last piece into it, once for all of its lines."""
        if self.tail and self.pieces:
            kind, text = self.pieces[-1]
            self.pieces[-1] = (kind, " ".join([text, *self.tail]))
        self.tail.clear()

    tail: list[str] = field(default_factory=list)

    def code(self, name: str, text: str) -> None:
        """A block of code: a replacement, the passage that it replaces, both, or an illustration."""
        self.settle()
        if name in ("suggestion", "replace", "replacement"):
            self.replacement = text if self.replacement is None else self.replacement
        elif name in ("passage", "original", "quote"):
            self.quotes.insert(0, text)
        elif name == "diff" and (edit := _edit(text)) and self.replacement is None:
            self.quotes.insert(0, edit[0])
            self.replacement = edit[1]
        else:
            self.pieces.append(("code" if self.now == "issue" else self.now, text))


def _edit(diff: str) -> tuple[str, str] | None:
    """A block in the manner of `diff`, as what it takes away and what it puts there."""
    lines = [line for line in diff.split("\n") if not line.startswith(("---", "+++", "@@", "diff ", "index "))]
    if not any(line.startswith("-") for line in lines) or any(line[:1] not in ("-", "+", " ", "") for line in lines):
        return None
    wide = all(line[1:2] in ("", " ") for line in lines)
    before, after = ([line[1 + wide :] for line in lines if line[:1] != sign] for sign in "+-")
    return "\n".join(before), "\n".join(after)


class Gatherer:
    """Goes through the lines once: which section they stand under, and which item they belong to."""

    def __init__(self, lines: list[Line]) -> None:
        self.lines = lines
        self.following = _following(lines)
        self.owned = in_own_list(lines)
        self.own = False
        self.drafts: list[Draft] = []
        self.item: Draft | None = None
        self.section: Section | None = None
        self.ignored = self.ruling = self.repeating = self.mended = False
        self.left = 0  # the level of the heading under which lines are ignored
        self.bare = False
        self.gap = True
        self.nothing = self.headed = False
        self.table: list[str] = []

    def gather(self) -> list[Draft]:
        for number, line in enumerate(self.lines):
            self.own = self.owned[number]
            if line.kind == "text" and line.text.strip():
                self.told(line.text, number)
                self.gap = False
            elif line.kind == "text":
                self.gap = True
            elif line.kind == "quote":
                self.quoted(line.text)
            elif line.block:
                self.coded(line)
        self.rows()
        for draft in self.drafts:
            draft.settle()
        return self.drafts

    def told(self, text: str, number: int) -> None:
        under = SEPARATES.match(self.following[number]) and "|" in self.following[number]
        if text.lstrip().startswith("|") or (text.count("|") > 1 and (self.table or under)):
            self.item = None
            self.table.append(text)
            return
        self.rows()
        if RULED.fullmatch(text):
            self.item, self.bare = None, False
        elif counts := counts_in(text):
            self.counted(text, number, counts)
        elif not (self.severity(text, number) or self.heading(text) or self.started(text)):
            self.continued(text)

    def counted(self, text: str, number: int, counts: dict[str, int]) -> None:
        """A line that only counts is no item; with a list under it, it is the heading of that list."""
        self.item, self.bare, self.headed = None, False, True
        (severity, size), *others = counts.items()
        if not others and not LISTED.match(text):
            titled = TITLED.match(text.strip())
            listed = size and self.leads(number)
            level = len(titled.group(1)) if titled else 7
            self.section = Section((severity,), severity[0].upper(), level, "", True) if listed else None
            self.ignored = False

    def severity(self, text: str, number: int) -> bool:
        """A severity's heading, or an item that begins with its severity and so looks like one."""
        group = grouped(text)
        if group is None or lead_of(text).number:
            return False
        self.headed = True
        listed = LISTED.match(text) is not None
        if group.rest and not is_nothing(group.rest):
            titles = ORDINAL.match(text) and len(group.rest.split()) > CHAPTER
            gloss = not listed and not titles and not ARROW.search(group.rest) and self.leads(number)
            gloss = gloss or (group.heading and group.rest.startswith("("))
            if not gloss:
                if not group.heading and not listed and not lead_of(text).severity:
                    return False
                if group.heading and group.level < 7:  # one of several, each with its own, says nothing of the next
                    self.section = None if ORDINAL.match(text) else group
                self.begin(Lead("", group.severities[0], group.rest, listed), text, group)
                return True
        if listed and self.item and self.item.style == "heading":
            return False
        if self.mended and self.left < group.level < 7:
            return True
        self.nothing = self.nothing or bool(group.rest and is_nothing(group.rest))
        self.section, self.item, self.ignored, self.bare = group, None, False, True
        return True

    def leads(self, number: int) -> bool:
        """Whether the next line with words begins a list, so that this one is its heading."""
        text = self.following[number]
        if text.lstrip().startswith("|"):
            return True
        lead = lead_of(text)
        return bool(lead.number) or (lead.bullet and not LABEL.match(lead.text))

    def begin(self, lead: Lead, line: str, group: Section | None = None) -> None:
        titled = TITLED.match(line.strip())
        style = "heading" if titled else "bullet" if lead.bullet else "paragraph"
        margin = len(line) - len(line.lstrip())
        level = len(titled.group(1)) if titled else 7
        if self.item and self.item.style == "heading" and len(self.item.pieces) < 2 and (lead.severity or lead.number):
            self.item.over = not self.item.lead.severity and len(self.item.lead.text.split()) <= CHAPTER
        self.item = Draft(lead, group or self.section, margin, style, level, aside=self.ignored)
        self.item.again, self.item.own = self.repeating, self.own
        self.item.opening = not self.headed
        self.drafts.append(self.item)
        if lead.text:
            self.item.add(lead.text)

    def heading(self, text: str) -> bool:
        """A heading that is an item's title, or one of an item's fields, or that ends the section."""
        titled = TITLED.match(text.strip())
        bold = EMBOLDENED.match(text.strip())
        plain = re.fullmatch(r"[^\W\d][\w' ]{2,40}:", text.strip())
        if not (titled or bold or (plain and self.gap)) or LISTED.match(text):
            return False
        self.headed = self.headed or not plain
        if plain and not bold and self.item and self.holding(self.item) and not LEAVES.search(text):
            return False
        words = titled.group(2) if titled else bold.group(2) if bold else text.strip()
        owner = self.item if self.item and self.item.style != "prose" else None
        if owner and (label := LABEL.match(words.rstrip(":") + ":")) and label.end() == len(words.rstrip(":")) + 1:
            owner.add(words.rstrip(":") + ":")
            return True
        if plain and not bold and LABEL.match(text.strip()):
            return False
        lead = lead_of(words)
        level = len(titled.group(1)) if titled else 7
        below = self.section is not None and level > self.section.level
        leaves = LEAVES.search(words) is not None and (len(words.split()) < 5 or not (bold or below))
        mended = MENDED.search(words) is not None
        under = below and not leaves and not mended
        if lead.number or lead.severity or ORDINAL.match(words) or (under and not self.ignored and not plain):
            body = re.sub(r"^\d{1,3}[.)]\s+", "", lead.text)
            self.ignored = self.ignored and level > self.left
            self.begin(Lead(lead.number, lead.severity, body, False), text)
            if self.item and not titled:
                self.item.style = "heading"
            return True
        if self.item and titled and level > self.item.level:
            return False
        self.item, self.section, self.bare = None, None, False
        self.ruling = RULES.search(words) is not None or mended
        self.ignored = self.ruling or (leaves and not HOLDS.search(words))
        self.mended, self.left = mended, level
        self.repeating = ACTS.search(words) is not None
        return True

    def started(self, text: str) -> bool:
        """A line that begins an item: a bullet, a number, or the first of its fields."""
        lead = lead_of(text)
        margin = len(text) - len(text.lstrip())
        label = LABEL.match(lead.text)
        name = FIELD[label.group("name").lower()] if label and label.group("end").strip("*_ ") else ""
        tag = lead.severity and not lead.bullet and TAG.match(text.strip(" *_"))
        tag = tag or (not lead.bullet and UNKNOWN.match(text))
        if self.ignored and not ((lead.number or lead.severity) and not self.ruling):
            self.item = None if lead.bullet or tag else self.item
            return bool(lead.bullet or tag)
        if lead.number or tag:
            if self.item and lead.bullet and margin > self.item.margin and not self.item.lead.number:
                self.nested()
            self.begin(lead, text)
            return True
        if label and name == "number" and lead.bullet:
            self.begin(Lead(lead.text[label.end() :].strip(), "", "", True), text)
            return True
        if name and self.item and self.item.style != "bare" and (margin > self.item.margin or self.fits(name)):
            self.item.add(lead.text)
            return True
        if name in ("severity", "issue", "place") and not self.ignored and (self.section is None or lead.bullet):
            self.begin(Lead("", "", "", lead.bullet), text)
            if self.item:
                self.item.add(lead.text)
            return True
        return lead.bullet and self.bulleted(lead, text, margin)

    def fits(self, name: str) -> bool:
        """Whether a field may go on with the item: a second severity or issue is the next item's."""
        item = self.item
        if item is None or item.style == "bullet":
            return item is not None and name != "severity"
        return name != "severity" or not any(kind == "severity" for kind, _ in item.pieces)

    def nested(self) -> None:
        """The item turns out to be a title over items of its own."""
        if self.item and self.drafts and self.drafts[-1] is self.item and self.item.now == "issue":
            self.drafts.pop()

    def bulleted(self, lead: Lead, text: str, margin: int) -> bool:
        item = self.item
        if item and not lead.severity:
            deeper = margin >= item.margin + 2
            if deeper or item.style == "heading" or (item.style == "paragraph" and item.lead.number):
                item.add(lead.text)
                return True
        if not lead.severity and not lead.text.strip():
            return True
        if is_nothing(lead.text) and not lead.severity:
            self.nothing = self.nothing or self.section is not None
            self.item = None
            return True
        self.begin(lead, text)
        return True

    def continued(self, text: str) -> None:
        """A line of prose: it goes on with the item, or stands by itself."""
        item = self.item
        deeper = item is not None and len(text) - len(text.lstrip()) > item.margin
        arrow = ARROW.match(text.lstrip(" *_")) is not None
        label = LABEL.match(text)
        plainly = not self.gap or deeper or arrow or (label is not None and label.group("end").strip("*_ ") != "")
        if item and (plainly or (self.holding(item) and not CLOSES.match(text))):
            item.add(text, joined=not self.gap)
            return
        if is_nothing(text) and self.section:
            self.nothing, self.item = True, None
            return
        style = "bare" if self.section and self.bare and not self.ignored and not CLOSES.match(text) else "prose"
        self.item = Draft(Lead(text=text.strip()), self.section, 0, style)
        self.item.add(text)
        self.drafts.append(self.item)

    @staticmethod
    def holding(item: Draft) -> bool:
        return item.style == "heading" or (item.style == "paragraph" and bool(item.lead.number))

    def quoted(self, text: str) -> None:
        """A quotation inside of an item is the passage it speaks of, unless it is somebody's finding."""
        words = text.lstrip().lstrip("> ").strip()
        lead = lead_of(words)
        if self.item and words and not (lead.number or lead.severity or grouped(words)):
            self.item.settle()
            self.item.quotes.append(words)

    def coded(self, line: Line) -> None:
        name, text = line.block or ("", "")
        if self.item and self.item.style != "prose":
            self.item.code(name, text)
        self.gap = True

    def rows(self) -> None:
        """Ends a table: each of its rows is an item."""
        table, self.table = self.table, []
        if table:
            self.drafts.extend(_rows(table, None if self.ignored else self.section))


UNKNOWN = re.compile(r"[*_]{0,3}\[[A-Za-z][A-Za-z -]{2,20}\][*_]{0,3}\s+\w")  # [Question] Who pays for it?
# Headings over what is to be done: it may be the same again as in the list.
ACTS = re.compile(r"\b(?:next steps?|action(?:s| items?)?|recommend\w*|to-?dos?|priorit\w*|checklist)\b", re.I)


def _following(lines: list[Line]) -> list[str]:
    """For each line the next one that has words."""
    after: list[str] = []
    text = ""
    for line in reversed(lines):
        after.append(text)
        text = line.text if line.kind == "text" and line.text.strip() else text
    return after[::-1]


# Tables and JSON.


def _rows(table: list[str], section: Section | None) -> Iterator[Draft]:
    cells = [cells_of(row) for row in table if not SEPARATES.match(row)]
    columns = [column_of(name) for name in cells[0]] if cells else []
    if "ruling" in columns:
        return
    if "issue" not in columns:
        columns = ["issue" if name in ("title", "more") else name for name in columns]
    if "issue" not in columns:
        yield from _unknown_rows(cells)
        return
    for row in cells[1:]:
        fields = [
            (name, cell) for name, cell in zip(columns, row, strict=False) if name and any(map(str.isalnum, cell))
        ]
        number = next((cell for name, cell in fields if name == "number"), "")
        lead = Lead(lead_of(f"{number}: x").number if number else "", "", "", True)
        draft = Draft(lead, section, style="row", own=True)
        draft.pieces = [
            ({"more": "issue", "title": "issue"}.get(name, name), re.sub(r"<br ?/?>", " ", cell, flags=re.I))
            for name, cell in fields
            if name != "number"
        ]
        yield draft


def _unknown_rows(cells: list[list[str]]) -> Iterator[Draft]:
    """The rows of a table whose columns say nothing; one of numbers only counts."""
    for row in cells[1:]:
        if any(not severity_of(cell) and re.search(r"[^\W\d_]", cell) for cell in row):
            yield Draft(Lead(text=" | ".join(row)), None, style="row", pieces=[("issue", " | ".join(row))])


def column_of(name: str) -> str:
    words = fold(re.sub(r"[^\w#№ ]+", " ", name))
    return FIELD.get(words, "") or FIELD.get(words.removesuffix("s"), "")


def cells_of(row: str) -> list[str]:
    """A row's cells. A sign behind a backslash, or within code, parts nothing."""
    text = row.strip().removeprefix("|")
    text = text[:-1] if text.endswith("|") and not text.endswith("\\|") else text
    masked = re.sub(r"`[^`\n]*`", lambda code: "x" * len(code.group()), text.replace("\\|", "xx"))
    ends = [place for place, sign in enumerate(masked) if sign == "|"]
    parts = [text[first:last] for first, last in zip([0, *(end + 1 for end in ends)], [*ends, len(text)], strict=True)]
    return [part.replace("\\|", "|").strip() for part in parts]


def values_in(text: str) -> tuple[list[Any], str]:
    """The JSON values of a text, and what is left over where it breaks off."""
    decoder = json.JSONDecoder()
    found: list[Any] = []
    place = failed = 0
    left = ""
    while failed < 40 and (start := OPENS.search(text, place)):
        try:
            value, place = decoder.raw_decode(text, start.start())
            found.append(value)
            left = ""
        except (ValueError, RecursionError):
            left = left or text[start.start() :]
            failed, place = failed + 1, start.end()
            left = text[start.start() :]
    return found, left if failed else ""


OPENS = re.compile(r"[{\[]")


def listed_json(value: Any, section: Section | None, depth: int = 0) -> Iterator[Draft]:
    """The items of a JSON value: objects with an issue, or lists under a severity's name."""
    if depth > 6:
        return
    if isinstance(value, list):
        for entry in value:
            yield from listed_json(entry, section, depth + 1)
    elif isinstance(value, str) and section and value.strip():
        draft = Draft(Lead(text=value), section, style="row")
        draft.pieces = [("issue", value)]
        yield draft
    elif isinstance(value, dict):
        fields = [(column_of(str(name).replace("_", " ")), entry) for name, entry in value.items()]
        if any(name in ("issue", "title") and isinstance(entry, str) for name, entry in fields):
            yield _object(fields, value, section)
            return
        for name, entry in value.items():
            severity = severity_of(str(name))
            inner = Section((severity,), str(name)[0].upper()) if severity else section
            if isinstance(entry, list | dict):
                yield from listed_json(entry, inner, depth + 1)


def _object(fields: list[tuple[str, Any]], value: dict[str, Any], section: Section | None) -> Draft:
    texts = [(name, str(entry)) for name, entry in fields if isinstance(entry, str | int) and str(entry).strip()]
    number = next((text for name, text in texts if name == "number"), "")
    draft = Draft(Lead(lead_of(f"{number}: x").number if number else ""), section, style="row", own=True)
    names = {"more": "issue", "title": "issue"}
    known = ("issue", "more", "title", "change", "severity", "passage")
    draft.pieces = [(names.get(name, name), text) for name, text in texts if name in known]
    draft.pieces.append(("place", _place(value)))
    new = next((entry for name, entry in fields if name == "new" and isinstance(entry, str)), None)
    draft.replacement = new
    return draft


def _place(value: dict[str, Any]) -> str:
    """The place that an object names, in the words of a line: file.md:4-9."""
    inner = value.get("location")
    flat = {**value, **inner} if isinstance(inner, dict) else value

    def given(*names: str) -> str:
        return next((str(flat[name]) for name in names if isinstance(flat.get(name), str | int)), "")

    path = given("path", "file", "location", "where", "place")
    lines = given("lines", "line", "start_line", "first")
    last = given("end_line", "last")
    return f"{path}:{lines}-{last}" if lines and last and "-" not in lines else f"{path}:{lines}" if lines else path


WORDS = re.compile(r"\w+")


def json_blocks(lines: list[Line]) -> Iterator[str]:
    whole = "\n".join(line.text for line in lines if line.kind == "text").strip()
    if whole[:1] in ("{", "[") and re.match(r"[{\[]\s*[\"{\[]", whole):
        yield whole
    for line in lines:
        if (
            line.block
            and line.block[0].split()[:1] in (["json"], ["unclosed"], [])
            and line.block[1].lstrip()[:1] in "{["
        ):
            yield line.block[1]


def words_of(text: str) -> str:
    return " ".join(WORDS.findall(text.lower() if text.isascii() else fold(text)))
