"""Writes a reply as Markdown that reads back exactly: what a machine did, and what a person entered in a form."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Mapping
from typing import Any

from council.next.errors import UsageError
from council.next.replies.kinds import Kind, Signature, is_nothing
from council.next.replies.read import Reply, heading, read

TICKS = re.compile("`{3,}")
ESCAPED = re.compile(r"\\u\{([0-9a-f]{0,6})\}")


def write(reply: Reply, answers: Mapping[str, Any], prose: str = "") -> str:
    """The reply that gives these answers. Raises UsageError for a value that an answer of its kind cannot have."""
    parts = [write_answer(name, reply[name], value) for name, value in answers.items()]
    return "\n\n".join([prose.strip(), *parts] if prose.strip() else parts)


def write_answer(name: str, kind: Kind, value: Any) -> str:
    """One answer below its heading. Words that would be read as something else are put inside a fence."""
    text = as_text(value)
    for written in (text or "none", fenced(text), fenced(text.removesuffix("\n"))):
        part = f"## {heading(name)}\n{written}"
        if read({name: kind}, part).found == {name: value}:
            return part
    raise UsageError(f'"{heading(name)}": {value!r} is not an answer: it must be {kind.wanted()}')


def as_text(value: Any) -> str:
    if isinstance(value, tuple):
        return "\n".join(f"- {item}" for item in value)
    if isinstance(value, Signature):
        return f"{value.side}: {value.why}" if value.why else value.side
    return str(value)


def fenced(text: str) -> str:
    """The text inside a fence that nothing in it can close."""
    marks = "`" * (max((len(ticks) for ticks in TICKS.findall(text)), default=2) + 1)
    return f"{marks}\n{text}\n{marks}"


def escape(item: str) -> str:
    """An item of any characters as one visible line. `unescape` gives it back."""
    signs = [code(sign) if is_unseen(sign) or sign == "\\" else sign for sign in item]
    if item and (is_nothing(item) or item[0] in " -*+"):
        signs[0] = code(item[0])
    if item.endswith(" "):
        signs[-1] = code(" ")
    return "".join(signs) or "\\u{}"


def unescape(item: str) -> str:
    return ESCAPED.sub(lambda found: chr(int(found[1], 16)) if found[1] else "", item)


def is_unseen(sign: str) -> bool:
    return unicodedata.category(sign)[0] in "CZ" and sign != " "


def code(sign: str) -> str:
    return f"\\u{{{ord(sign):x}}}"
