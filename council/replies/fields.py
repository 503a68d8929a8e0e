"""The fields of items, as `**Status:** fixed` inside a list or below "### 2. Guards ignored": they answer nothing."""

from __future__ import annotations

import re
from collections.abc import Collection

from council.replies.values import BULLET, ReplyLine

Heading = tuple[str, int, str]  # the title, the level (7 for a label) and the rest of the line

# The heading of one item of many, as "### 2. Guards ignored" or "## CRITICAL-1", and not of a verdict on them all.
ITEM = re.compile(
    r"\s*#{1,6}\W+(?:[a-z]+\W{1,2})?\d{1,4}\b(?!.*\b(?:verdict|answers?|summary|conclusion|decision|vote|stance|position"
    r"|assessment|result|overall|final)\b)",
    re.I,
)


def clear_fields(lines: list[ReplyLine], headings: list[Heading], titles: Collection[str]) -> list[Heading]:
    """The headings of the lines, without those that have an answer's title but are the field of an item."""
    items = _Items(lines)
    each = zip(lines, headings, strict=True)
    return [("", 0, "") if items.has_field(line, found, found[0] in titles) else found for line, found in each]


class _Items:
    """Follows the lines of a reply. Below the last item's heading, a label that comes after other text is no field."""

    def __init__(self, lines: list[ReplyLine]) -> None:
        self.left = sum(_is_item(line) for line in lines)
        self.inside = self.only_fields = False
        self.margin: int | None = None  # of the bullet that the line may belong to
        self.fields: set[str] = set()

    def has_field(self, line: ReplyLine, heading: Heading, is_answer: bool) -> bool:
        title, level, _ = heading
        if line.code or not line.own or not line.text.strip():
            return False
        if 0 < level < 7:
            self.left -= _is_item(line)
            self.inside = self.only_fields = _is_item(line) and not is_answer
            self.margin = None
            return False
        indent = len(line.text) - len(line.text.lstrip())
        nested = self.margin is not None and indent > self.margin
        if is_answer and (nested or (self.inside and (self.left or self.only_fields or title in self.fields))):
            self.fields.add(title)
            return True
        self.only_fields = self.only_fields and level == 7
        if BULLET.match(line.text) and not nested:
            self.margin = None if is_answer or line.text.rstrip().endswith(":") else indent
        elif not indent:
            self.margin = None
        return False


def _is_item(line: ReplyLine) -> bool:
    return "#" in line.text and line.own and not line.code and ITEM.match(line.text) is not None
