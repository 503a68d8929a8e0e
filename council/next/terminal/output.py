"""Prints results. Words of members and files may hold escape sequences: none of them reaches a terminal."""

from __future__ import annotations

import json
import sys
from collections.abc import Sequence
from typing import Any

from council.next.text import printable


def echo(text: str = "") -> None:
    """A result, on standard output."""
    sys.stdout.write(f"{printable(text)}\n")


def note(text: str) -> None:
    """A remark beside the result, on standard error."""
    sys.stderr.write(f"{printable(text)}\n")
    sys.stderr.flush()


def print_json(value: Any) -> None:
    """JSON escapes control characters itself."""
    sys.stdout.write(json.dumps(value, ensure_ascii=False, indent=2) + "\n")


def print_columns(rows: Sequence[Sequence[str]]) -> None:
    """Rows below one another, each column as wide as its longest cell."""
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    for row in rows:
        echo("  ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True)).rstrip())
