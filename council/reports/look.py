"""The look of pages: of a debate as one page, and of `council serve`."""

from __future__ import annotations

from functools import cache
from pathlib import Path


@cache
def stylesheet() -> str:
    """For a page and the pictures on it."""
    here = Path(__file__).parent
    return (here / "page.css").read_text("utf-8") + (here / "pictures" / "pictures.css").read_text("utf-8")
