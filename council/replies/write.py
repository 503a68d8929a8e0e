"""Writes a reply for a program that answers for itself: `parse.read` reads exactly these answers back.

What they hold may be anybody's words, such as the output of tests. No word of them becomes an answer: lists and texts
are in blocks of code, whose fences are longer than any inside.
"""

from __future__ import annotations

import math
import re
import unicodedata
from collections.abc import Mapping
from typing import Any

from council.replies.parse import format_heading
from council.replies.values import ReplyLine, value_of
from council.text import harmless
from council.workflow.model import Kind, Reply

NONE = "none"
TICKS = re.compile("`{3,}")
ESCAPED = re.compile(r"\\u\{([0-9a-f]{0,6})\}")
MARKED = re.compile(r"(</?)said by=")


def write(reply: Reply, answers: Mapping[str, Any]) -> str:
    """The reply with these answers. Those that it does not ask for are left out."""
    given = [(name, kind) for name, kind in reply if answers.get(name) is not None]
    return (
        "\n\n".join(f"## {format_heading(name)}\n\n{_write_value(kind, answers[name])}" for name, kind in given) + "\n"
    )


def _write_value(kind: Kind, value: Any) -> str:
    if kind.type == "list":
        items = [f"- {escape(str(item))}" for item in value]
        return fence("\n".join(items)) if items else NONE
    if kind.type in ("integer", "range"):
        return str(math.floor(value))  # 0.5 of 100 would be read as a share
    if kind.type == "choice":
        return str(value)
    text = clean(str(value))
    return fence(text) if text.strip() else NONE


def fence(text: str) -> str:
    """The text in a block of code that nothing inside can close."""
    longest = max((len(ticks) for ticks in TICKS.findall(text)), default=2)
    marks = "`" * (longest + 1)
    return f"{marks}\n{text}\n{marks}"


def clean(text: str) -> str:
    """The text without escape sequences and control characters, its lines ended by line feeds alone. A mark like those
    around the quotations of a brief is none any more."""
    return MARKED.sub(r"\1said  by=", harmless("\n".join(text.splitlines())))


def escape(item: str) -> str:
    """The item of a list on one line, without any character that a reader cannot see, so that it is read back.

    `unescape` gives the item again. Most items stay as they are.
    """
    if not item:
        return "\\u{}"
    parts = [_code(sign) if _is_unsafe(sign, item, place) else sign for place, sign in enumerate(item)]
    if value_of(Kind("list"), [ReplyLine(f"- {''.join(parts)}", code=True)]) != ("".join(parts),):
        parts[0], parts[-1] = _code(item[0]), _code(item[-1])
    return "".join(parts)


def unescape(item: str) -> str:
    """The item that `escape` wrote."""
    return ESCAPED.sub(lambda found: chr(int(found[1], 16)) if found[1] else "", item)


def _is_unsafe(sign: str, item: str, place: int) -> bool:
    """Whether nobody sees the character, or it would begin what `unescape` reads."""
    unseen = unicodedata.category(sign)[0] in "CZ" and sign != " "
    return unseen or (sign == "\\" and item.startswith("u{", place + 1))


def _code(sign: str) -> str:
    return f"\\u{{{ord(sign):x}}}"
