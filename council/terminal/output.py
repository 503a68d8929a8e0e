"""Results on standard output."""

from __future__ import annotations

import json
import sys
from typing import Any

from council.config import command_line
from council.text import harmless


def echo(text: str) -> None:
    """Print a result. Much of it was written by others, so its control sequences are removed."""
    put(harmless(text))


def put(text: str) -> None:
    """Print a result that is safe already and may contain our own colours."""
    encoding = sys.stdout.encoding or "utf-8"
    print(text.encode(encoding, "backslashreplace").decode(encoding))


def advise(text: str, err: bool = False) -> None:
    """Print what to do next, with commands of ours as this user can run them; with `err`, beside a result."""
    told = command_line.name_commands(text)
    if err:
        print(harmless(told), file=sys.stderr)
    else:
        echo(told)


def print_json(value: Any) -> None:
    print(as_text(value), flush=True)


def as_text(value: Any) -> str:
    return json.dumps(value, indent=2, default=str)
