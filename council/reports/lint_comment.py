"""The comment at the end of a document that tells markdownlint which of its rules the words of others break.

What the kit writes breaks none but the length of lines, and the one on HTML, for the folded parts. What an author wrote
stays as it was written, so a rule that it may break is off in this one document. Each check here finds at least what
markdownlint finds; a rule that is off without need does no harm.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from itertools import pairwise
from typing import Any

from council.reports.front_matter import MATTER
from council.text import fold, mark_code

MARK = "<!-- markdownlint -->"  # where the comment belongs, at the end of a template
ABOUT = (
    "<!-- For markdownlint: the words of others stay as they were written, and parts of this document are folded. -->"
)
FOLDED = ("details", "summary")
LONGEST_LINE = 80
SPAN = re.compile(r"(`+)(?!`)(.*?[^`])\1(?!`)")
START = r"^[\s>]*(?:(?:[-*+]|\d+[.)])\s+)*"  # of a line, in quotations and lists
HEADING = re.compile(rf"{START}(#{{1,6}})(?:\s+(.*?))?\s*$")
ITEM = re.compile(r"^([\s>]*)([-*+]|(\d+)[.)])(\s+|$)")
RULED = re.compile(r"^[\s>]*(?:\|\s*)?:?-+:?\s*(?:\|\s*:?-+:?\s*)*(?:\|\s*)?$")  # the line below a table's heading
FENCE = re.compile(r"^[\s>]*(?:(?:[-*+]|\d+[.)])\s+)*(`{3,}|~{3,})(.*)$")
COMPACT = re.compile(r"\|(?: (?:[^|\\]|\\.)*?\S \|| \|)+")

# What a line outside of code may break, and what one outside of spans of code may break.
LINES = {
    "MD003": rf"{START}#{{1,6}}\s.*#\s*$|^[\s>]*(?:=+|-+)\s*$",
    "MD014": r"^[\s>]*\$\s",
    "MD018": rf"{START}#{{1,6}}[^#\s]",
    "MD019": rf"{START}#{{1,6}}(?:\s{{2,}}|\t)",
    "MD020": rf"{START}#{{1,6}}.*#\s*$",
    "MD021": rf"{START}#{{1,6}}.*#\s*$",
    "MD023": r"^[\s>]*\s{1,3}#{1,6}(?:\s|$)",
    "MD026": rf"{START}#{{1,6}}\s.*[.,;:!\u3002\uff0c\uff1b\uff1a\uff01]\W*$",
    "MD027": r"^[\s>]*>(?:\s{2,}|\t)",
    "MD030": r"^[\s>]*(?:[-*+]|\d+[.)])(?:\s{2,}|\t)",
    "MD035": r"^[\s>]*(?!-{3}\s*$)(?:[-*_][ \t]*){3,}$",
    "MD036": rf"{START}(\*\*?|__?)[^*_`\[<]*[^.,;:!?]\1\s*$",
    "MD053": r"^\s*\[[^\]]+\]:",
}
WORDS = {
    "MD011": r"\([^()]*\)\[[^\]]*\]",
    "MD033": rf"(?<!\\)<(?!/?(?:{'|'.join(FOLDED)})>|!--)[A-Za-z/!?]",
    "MD034": r"://|\bwww\.|\S@\S",
    "MD037": r"\s[*_]+(?=[\s.,;:!?)\]]|$)|(?:^|[\s(\[\"'])[*_]+\s",
    "MD038": r"`",  # what is left of a span that goes on in the next line, or that begins or ends with a space
    "MD039": r"\[\s[^\]]*\]\(|\s\]\(",
    "MD042": r"\]\(\s*(?:#|<>)?\s*\)",
    "MD045": r"!\[",
    "MD049": r"(?<!\w)_(?=\S)",
    "MD050": r"(?<!\w)__(?=\S)",
    "MD051": r"\]\(#(?!implementation-notes\)|tasks\))",
    "MD052": r"\]\s?\[",
    "MD059": r"(?i)\[\s*(?:click here|here|link|more)\s*\]\(",
}


def put_comment(document: str) -> str:
    """The document with the comment in place of its mark; one without a mark stays as it is."""
    text = document.rstrip("\n")
    if not text.endswith(MARK):
        return document
    text = text.removesuffix(MARK).rstrip("\n")
    rules: dict[str, Any] = dict.fromkeys(sorted(set(find_rules(MATTER.sub("", text, count=1)))), False)
    if "<details>" in text and "MD033" not in rules:
        rules["MD033"] = {"allowed_elements": list(FOLDED)}
    configured = json.dumps(dict(sorted(rules.items())))
    return f"{text}\n\n{ABOUT}\n<!-- markdownlint-configure-file {configured} -->\n"


def find_rules(text: str) -> Iterator[str]:
    """The rules that the text may break, some of them several times."""
    lines = list(mark_code(text.split("\n")))
    plain = ["" if code else line for line, code in lines]
    bare = [SPAN.sub(_hide_span, line) for line in plain]
    yield from (rule for rule, pattern in LINES.items() if any(re.search(pattern, line) for line in plain))
    yield from (rule for rule, pattern in WORDS.items() if any(re.search(pattern, line) for line in bare))
    yield from _check_spaces([line for line, _ in lines])
    yield from _check_headings(plain)
    yield from _check_lists(plain)
    yield from _check_quotations(plain)
    yield from _check_code(lines)
    yield from _check_tables(plain)


def _hide_span(span: re.Match[str]) -> str:
    """A span of code as a word. One that begins or ends with a space keeps its signs, which a rule is about."""
    return "code" if span[2] == span[2].strip() else "`"


def _check_spaces(lines: list[str]) -> Iterator[str]:
    if any(len(line) > LONGEST_LINE for line in lines):
        yield "MD013"
    if any(line != line.rstrip() for line in lines):
        yield "MD009"
    if any("\t" in line for line in lines):
        yield "MD010"
    if any(not one.strip() and not two.strip() for one, two in pairwise(lines)):
        yield "MD012"


def _check_headings(lines: list[str]) -> Iterator[str]:
    found = [(place, match) for place, line in enumerate(lines) if (match := HEADING.match(line))]
    depths = [len(match[1]) for _, match in found]
    titles = [fold(match[2] or "") for _, match in found]
    if any(after > before + 1 for before, after in pairwise(depths)):
        yield "MD001"
    if len(set(titles)) < len(titles):
        yield "MD024"
    if depths.count(1) > 1:
        yield "MD025"
    around = (lines[near] for place, _ in found for near in (place - 1, place + 1) if 0 <= near < len(lines))
    if any(line.strip(" >\t") for line in around) or any(not title for title in titles):
        yield "MD022"


def _check_lists(lines: list[str]) -> Iterator[str]:
    """Lists of the kit have hyphens, and two spaces for each level. Any other may break a rule."""
    items = [(place, match) for place, line in enumerate(lines) if (match := ITEM.match(line))]
    if any(match[2] in "*+" for _, match in items):
        yield "MD004"
    yield from _check_numbers(lines)
    yield from _check_depth([match for _, match in items])
    places = {place for place, _ in items}
    for place, _ in items:
        for near in (place - 1, place + 1):
            line = lines[near] if 0 <= near < len(lines) else ""
            if line.strip(" >\t") and near not in places and not line[0].isspace():
                yield "MD032"


def _check_numbers(lines: list[str]) -> Iterator[str]:
    """Below each heading, the numbers of items go on from 1."""
    before = 0
    for line in lines:
        match = ITEM.match(line)
        if HEADING.match(line):
            before = 0
        elif match and match[3]:
            if int(match[3][:9]) != before + 1 or ")" in match[2] or match[1]:
                yield "MD029"
            before = int(match[3][:9])


def _check_depth(items: list[re.Match[str]]) -> Iterator[str]:
    before = -2
    for match in items:
        indent = len(match[1].replace("\t", "    "))
        if ">" in match[1] or indent % 2 or indent > before + 2 or (indent and match[3]):
            yield from ("MD005", "MD007", "MD029", "MD032")
        before = indent if not match[3] else -2


def _check_quotations(lines: list[str]) -> Iterator[str]:
    quoted = [line.lstrip().startswith(">") for line in lines]
    for place in range(1, len(lines) - 1):
        if quoted[place - 1] and not lines[place].strip() and quoted[place + 1]:
            yield "MD028"


def _check_code(lines: list[tuple[str, bool]]) -> Iterator[str]:
    opened = False
    for place, (line, code) in enumerate(lines):
        before = lines[place - 1][0] if place else ""
        if re.match(r"(?: {4}|\t)", line) and not code and not before.strip():
            yield "MD046"
        found = FENCE.match(line)
        if found is None:
            continue
        if not code or line[:1] not in "`~":  # in a list or a quotation, or one that looks like a fence
            yield from ("MD031", "MD040", "MD046", "MD048")
        if found[1].startswith("~"):
            yield "MD048"
        if not opened and not found[2].strip():
            yield "MD040"
        near = before if not opened else lines[place + 1][0] if place + 1 < len(lines) else ""
        if near.strip():
            yield "MD031"
        opened = not opened
    if any(re.match(r"[\s>]*\$\s", line) for line, code in lines if code):
        yield "MD014"


def _check_tables(lines: list[str]) -> Iterator[str]:
    """Tables of the kit have a sign at both ends of each line, and a space around each cell."""
    for ruled in (place for place, line in enumerate(lines) if place and RULED.match(line) and "|" in line):
        end = next((place for place in range(ruled, len(lines)) if not lines[place].strip(" >")), len(lines))
        rows = lines[ruled - 1 : end]
        if any(not (row.startswith("|") and row.endswith("|")) for row in rows):
            yield from ("MD055", "MD056", "MD058")
        if len({len(re.findall(r"(?<!\\)\|", row)) for row in rows}) > 1:
            yield "MD056"
        if any(not COMPACT.fullmatch(row) for row in rows):
            yield "MD060"
        if ruled > 1 and lines[ruled - 2].strip():
            yield "MD058"
