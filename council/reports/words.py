"""Somebody's words inside a Markdown document of ours: nothing in them can be taken for a part of the document.

A backslash is put before what would be; Markdown does not show it. All else stays as it was written.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator

from council.text import FENCE

HEADINGS = r"(?:Round \d+|Council|Receipts|Did the debate help|Patchlist)\b"
LABELS = (
    r"Answer|Outcome|Convergence check|Degraded|Session ID|Council Members|Model|Replay of|Dissent on record|"
    r"Citations not in order|Checked by|Halted|Round \d+ \w+|[\w ]+ ended"
)
# Forms that only the program writes: its headings and labels, a speaker's name, a remark, an address by reference.
OURS = re.compile(
    rf"^( {{0,3}})(?=#{{1,6}}[ \t]+{HEADINGS}|(?:\*\*|__)(?:{LABELS})\b|(?:\*\*|__)[^*_\n]*\):"
    r"|[*_]\(.*\)[*_]\s*$|\[[^\]\n]+\]:)",
    re.M | re.I,
)
UNDERLINED = re.compile(rf"^( {{0,3}}{HEADINGS}.*\n {{0,3}})(?=(?:=+|-+)\s*$)", re.M | re.I)
HTML = re.compile(r"<(?=[!?/a-zA-Z])|!(?=\[)")
TICKS = re.compile(r"(`+)")


def contain(words: str) -> str:
    """The words, with their HTML, pictures and imitations of the program disarmed, and an open block of code closed."""
    return "\n".join(_blocks(words.split("\n")))


def _blocks(lines: list[str]) -> Iterator[str]:
    fence = ""
    block: list[str] = []
    for line in lines:
        found = FENCE.match(line)
        if fence or found:
            if block:
                yield _disarm("\n".join(block))
                block = []
            yield line
            if found and not fence:
                fence = found.group(1)
            elif found and found.group(1).startswith(fence) and not found.group(2).strip():
                fence = ""
        elif line.strip():
            block.append(line)
        else:
            yield from [_disarm("\n".join(block))] if block else []
            yield line
            block = []
    yield from [_disarm("\n".join(block))] if block else []
    yield from [fence] if fence else []


def _disarm(block: str) -> str:
    """A paragraph, a list or a heading. What is code inside of it is code already."""
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
    return OURS.sub(r"\1\\", UNDERLINED.sub(r"\1\\", "".join(shown)))
