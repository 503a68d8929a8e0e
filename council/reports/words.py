"""Somebody's words inside a Markdown document of ours: nothing in them can be taken for a part of the document.

A backslash is put before what would be; Markdown does not show it. All else stays as it was written.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Iterator

from council.text import FENCE, mark_code

HEADINGS = r"(?:Round \d+|Council|Receipts|Did the debate help|Patchlist)\b"
LABELS = (
    r"Answer|Outcome|Convergence check|Degraded|Session ID|Head|Council Members|Model|Replay of|Dissent on record|"
    r"Citations not in order|Checked by|Halted|Round \d+ \w+|[\w ]+ ended"
)
# Forms that only the program writes: its headings; its labels, a speaker's name, a remark.
TITLES = re.compile(rf"^( {{0,3}})(?=#{{1,6}}[ \t]+{HEADINGS})", re.M | re.I)
OURS = re.compile(rf"^( {{0,3}})(?=(?:\*\*|__)(?:{LABELS})\b|(?:\*\*|__)[^*_\n]*\):|[*_]\(.*\)[*_]\s*$)", re.M | re.I)
# The address of a link by reference: it is not shown, and it makes a link of the same words elsewhere.
ADDRESS = re.compile(r"^((?:[ \t>]|(?:[-*+]|\d{1,9}[.)])(?=[ \t]))*)(?=\[(?:\\.|[^\]\[\\])+\]:)", re.M | re.S)
UNDERLINED = re.compile(rf"^( {{0,3}}{HEADINGS}.*\n {{0,3}})(?=(?:=+|-+)\s*$)", re.M | re.I)
HTML = re.compile(r"<(?=[!?/a-zA-Z])|!(?=\[)")
TICKS = re.compile(r"(`+)")
HEADING = re.compile(r"((?: {0,3}(?:[-*+]|\d{1,9}[.)])[ \t]+)* {0,3})(#{1,6})(?=[ \t]|$)")
UNDERLINE = re.compile(r" {0,3}(=+|-+)[ \t]*")
NO_TITLE = re.compile(r"\s*$|\s{4}|\s*(?:[>|#]|[-*+][ \t]|\d{1,9}[.)][ \t]|(?:[-*_][ \t]*){3,}$)")
OPENED = re.compile(r"^((?:[ \t]|(?:[-*+>]|\d{1,9}[.)])(?=[ \t`~]))*)(?=`{3}|~{3})")
DEEPEST = 6


def contain(words: str) -> str:
    """The words, with their HTML, pictures and imitations of the program disarmed, and an open block of code closed."""
    return "\n".join(
        _blocks(words.split("\n"), lambda block: TITLES.sub(r"\1\\", UNDERLINED.sub(r"\1\\", _disarm(block))))
    )


def contain_line(words: str) -> str:
    """The words of an item, disarmed: one line that begins no block of code, so none of ours is inside of it."""
    return OPENED.sub(r"\1\\", _disarm(" ".join(words.split("\n"))))


def place_below(words: str, level: int) -> str:
    """The words, disarmed, with their headings below one of ours of this level."""
    lines = [(line, None if code else HEADING.match(line)) for line, code in _plain_headings(words.split("\n"))]
    shift = max(level + 1 - min((len(found[2]) for _, found in lines if found), default=DEEPEST), 0)
    lowered = [
        f"{found[1]}{'#' * min(len(found[2]) + shift, DEEPEST)}{line[found.end() :]}" if found else line
        for line, found in lines
    ]
    return "\n".join(_blocks(lowered, _disarm))


def tidy(text: str) -> str:
    """The document with no two empty lines in a row, other than in code, and with one end of line at its end."""
    lines: list[str] = []
    for line, code in mark_code(text.split("\n")):
        if code or line.strip() or (lines and lines[-1].strip()):
            lines.append(line)
    return "\n".join(lines).rstrip("\n") + "\n"


def _plain_headings(lines: list[str]) -> Iterator[tuple[str, bool]]:
    """Each line, and whether it is code. An underlined heading becomes one with number signs."""
    before: tuple[str, bool] | None = None
    for line, code in mark_code(lines):
        underline = None if code else UNDERLINE.fullmatch(line)
        if underline and before and not before[1] and not NO_TITLE.match(before[0]):
            title = before[0].lstrip()
            indent = before[0].removesuffix(title)
            before = (f"{indent}{'#' if underline[1][0] == '=' else '##'} {title}", False)
            continue
        if before:
            yield before
        before = (line, code)
    if before:
        yield before


def _blocks(lines: list[str], disarm: Callable[[str], str]) -> Iterator[str]:
    fence = ""
    block: list[str] = []
    for line in lines:
        found = FENCE.match(line)
        if fence or found:
            if block:
                yield disarm("\n".join(block))
                block = []
            yield line
            if found and not fence:
                fence = found.group(1)
            elif found and found.group(1).startswith(fence) and not found.group(2).strip():
                fence = ""
        elif line.strip():
            block.append(line)
        else:
            yield from [disarm("\n".join(block))] if block else []
            yield line
            block = []
    yield from [disarm("\n".join(block))] if block else []
    yield from [fence] if fence else []


def _disarm(block: str) -> str:
    """A paragraph, a list or a heading, in which nothing is HTML, a picture or a label of the program's.

    What is code inside of it is code already.
    """
    pieces, shown = TICKS.split(block), []
    left = Counter(pieces[1::2])
    place = 0
    while place < len(pieces):
        piece = pieces[place]
        if place % 2 == 0:
            shown.append(HTML.sub(lambda found: "\\<" if found[0] == "<" else "!\\", piece))
        else:
            left[piece] -= 1
            if left[piece]:
                end = pieces.index(piece, place + 1)
                left.subtract(pieces[place + 2 : end + 1 : 2])
                shown += pieces[place:end]
                place = end
                piece = pieces[place]
            shown.append(piece)
        place += 1
    return ADDRESS.sub(r"\1\\", OURS.sub(r"\1\\", "".join(shown)))
