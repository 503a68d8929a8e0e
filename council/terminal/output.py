"""Results on standard output."""

from __future__ import annotations

import json
import sys
from typing import Any

from council.text import harmless


def echo(text: str) -> None:
    """A result. Much of what is printed was written by others, so nothing in it may command the terminal."""
    put(harmless(text))


def put(text: str) -> None:
    """A result that is harmless already, and may have colours of ours."""
    encoding = sys.stdout.encoding or "utf-8"
    print(text.encode(encoding, "backslashreplace").decode(encoding))


def print_json(value: Any) -> None:
    print(as_text(value), flush=True)


def as_text(value: Any) -> str:
    return json.dumps(value, indent=2, default=str)
