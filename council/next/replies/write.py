"""Writes a reply as Markdown that reads back exactly: what a machine did, and what a person entered in a form."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import replace
from itertools import groupby
from typing import Any

from council.next.errors import UsageError
from council.next.replies.kinds import Kind, Signature, is_nothing
from council.next.replies.read import Reply, heading, read

ESCAPED = re.compile(r"\\u\{([0-9a-f]{0,6})\}")


def write(reply: Reply, answers: Mapping[str, Any], prose: str = "") -> str:
    """The reply that gives these answers. Raises UsageError for a value that an answer of its kind cannot have."""
    body = "\n\n".join(write_answer(name, reply[name], value, reply) for name, value in answers.items())
    alone = read(reply, body)
    for talk in (prose.strip(), fenced(prose)):
        whole = f"{talk}\n\n{body}".strip("\n")
        answered = read(reply, whole)
        if answered.found == dict(answers) and answered.problems == alone.problems:
            return whole
    raise UsageError(f"no reply can hold these words beside its answers: {prose[:80]!r}")


def write_answer(name: str, kind: Kind, value: Any, reply: Reply | None = None) -> str:
    """One answer below its heading. Words that would be read as something else are put inside a fence."""
    text = as_text(value)
    others = {one: replace(other, optional=True) for one, other in (reply or {}).items() if one != name}
    for written in (text or "none", fenced(text), fenced(text.removesuffix("\n"))):  # code ends with a line end
        part = f"## {heading(name)}\n{written}"
        # Twice, because a fence that nobody closes would take in whatever is written below it.
        answers = read({name: kind, **others}, f"{part}\n\n{part}")
        if answers.found == {name: value} and not answers.problems and not has_mark(written):
            return part
    raise UsageError(f'"{heading(name)}": {value!r} is not an answer: it must be {kind.wanted()}')


def has_mark(text: str) -> bool:
    """Whether a line may begin or end a passage of somebody else's words."""
    return any(line.startswith(("<said", "</said")) for line in text.split("\n"))


def as_text(value: Any) -> str:
    if isinstance(value, tuple):
        return "\n".join(f"- {item}" for item in value)
    if isinstance(value, Signature):
        return f"{value.side}: {value.why}" if value.why else value.side
    return str(value)


def fenced(text: str) -> str:
    """The text inside a fence that nothing in it can close, and indented if a mark in it would be read as one."""
    longest = max((len([*run]) for sign, run in groupby(text) if sign == "`"), default=0)
    ticks = "`" * max(3, longest + 1)
    indent = " " if has_mark(text) else ""
    return "\n".join(f"{indent}{line}" for line in (ticks, *text.split("\n"), ticks))


def escape(item: str) -> str:
    """An item of any characters as one visible line. `unescape` gives it back."""
    signs = [sign if sign.isprintable() and sign != "\\" else code(sign) for sign in item]
    if item and (is_nothing(item) or item[0] in " -*+"):
        signs[0] = code(item[0])
    if item.endswith(" "):
        signs[-1] = code(" ")
    return "".join(signs) or "\\u{}"


def unescape(item: str) -> str:
    return ESCAPED.sub(lambda found: chr(int(found[1], 16)) if found[1] else "", item)


def code(sign: str) -> str:
    return f"\\u{{{ord(sign):x}}}"
