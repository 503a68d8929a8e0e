"""A regular expression without one of its alternatives: an alternative that no example needs can never match."""

from __future__ import annotations

import re
from collections.abc import Iterator


def cuts(pattern: str) -> Iterator[tuple[str, str]]:
    """Each alternative of each group, with the pattern that remains without it."""
    for begin, ends in _branches(pattern):
        for place, end in enumerate(ends):
            start = begin if place == 0 else ends[place - 1] + 1
            rest = (
                pattern[:start] + pattern[end + 1 :] if place < len(ends) - 1 else pattern[: start - 1] + pattern[end:]
            )
            yield pattern[start:end], rest


def _branches(pattern: str) -> list[tuple[int, list[int]]]:
    """Where the alternatives of every group that has several begin, and where each of them ends."""
    opened: list[tuple[int, list[int]]] = [(0, [])]
    found: list[tuple[int, list[int]]] = []
    at = 0
    while at < len(pattern):
        sign = pattern[at]
        if sign == "\\":
            at += 1
        elif sign == "[":
            at = pattern.index("]", at + 2 + pattern.startswith("^", at + 1))
        elif sign == "(":
            kind = re.match(r"\((?:\?(?:[:>=!]|<[=!]|P<\w+>))?", pattern[at:])
            assert kind is not None
            opened.append((at + kind.end(), []))
        elif sign == "|":
            opened[-1][1].append(at)
        elif sign == ")":
            begin, ends = opened.pop()
            found.append((begin, [*ends, at]))
        at += 1
    found.append((0, [*opened[0][1], len(pattern)]))
    return [(begin, ends) for begin, ends in found if len(ends) > 1]
