"""Documents are templates under `templates/documents/`, which users overlay as they overlay prompts.

A template gets plain data of a debate and renders in a sandbox. None is ever made from a topic or a reply.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import lru_cache
from pathlib import Path
from typing import Any

import jinja2
from jinja2.sandbox import ImmutableSandboxedEnvironment

from council.config import overlays
from council.text import one_line

FOLDER = "documents"


def render(name: str, **data: Any) -> str:
    """The document of that name, with this data."""
    return environment(tuple(overlays.overlays())).get_template(f"{FOLDER}/{name}.md.j2").render(data)


@lru_cache(maxsize=4)
def environment(_: tuple[Path, ...]) -> jinja2.Environment:
    """Each set of overlay folders has its own, because an environment remembers templates by name."""
    found = ImmutableSandboxedEnvironment(
        loader=jinja2.FunctionLoader(_source),
        undefined=jinja2.StrictUndefined,
        autoescape=False,
        trim_blocks=True,
        lstrip_blocks=True,
        keep_trailing_newline=True,
        auto_reload=False,
    )
    found.filters |= FILTERS
    return found


def _source(name: str) -> str | None:
    path = next(overlays.overlaid(f"templates/{name}"), None)
    return None if path is None else overlays.read(path)


def quoted(words: str) -> str:
    """Somebody's words as they stand. No line of them can be taken for one of the document."""
    return "\n".join(f"> {line}".rstrip() for line in words.splitlines())


def cell(words: str) -> str:
    """Words in one cell of a table."""
    return one_line(words, 300).replace("\\", "\\\\").replace("|", "\\|")


FILTERS: dict[str, Callable[..., str]] = {"quoted": quoted, "cell": cell, "one_line": one_line}
