"""Values of any type, as APIs and programs report them. What has no possible form is unknown, which is None."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

MOST_TOKENS = 100_000_000  # no call has more: a larger count is no count
# Input, output, and what was read from the cache and written to it: as the Messages API names them, and `claude`.
MESSAGES = ("input_tokens", "output_tokens", "cache_read_input_tokens", "cache_creation_input_tokens")
Tokens = tuple[int | None, int | None, int | None, int | None]


def count(value: object) -> int | None:
    """A number of tokens. None if it is none."""
    return value if isinstance(value, int) and not isinstance(value, bool) and 0 <= value <= MOST_TOKENS else None


def table(value: object) -> Mapping[str, Any]:
    return value if isinstance(value, dict) else {}


def text(value: object) -> str:
    return value if isinstance(value, str) else ""


def tokens(usage: object, names: tuple[str, str, str, str], includes_cache: bool = False) -> Tokens:
    """The four counts, by their names. Where there is no cache, it is not mentioned; of input and output, silence is no
    zero. `includes_cache` says that the input counts what came from the cache, or went into it, once more.
    """
    told = table(usage)
    sent, received = (count(told.get(name)) for name in names[:2])
    read, written = (0 if told.get(name) is None else count(told[name]) for name in names[2:])
    if includes_cache and sent is not None:
        sent = None if read is None or written is None else count(sent - read - written)
    return sent, received, read, written
