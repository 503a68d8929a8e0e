"""A review as a person, a program or a build reads it: Markdown, JSON, SARIF, rdjson, GitHub's annotations. Pure.

What a member wrote is text in all of them, and never structure: each format has one function that makes it so.
"""

from collections.abc import Callable, Mapping

from council.reviews.formats.common import Review
from council.reviews.formats.github import github
from council.reviews.formats.json import as_json
from council.reviews.formats.markdown import markdown
from council.reviews.formats.rdjson import rdjson
from council.reviews.formats.sarif import sarif

KINDS: Mapping[str, Callable[[Review], str]] = {
    "md": markdown,
    "json": as_json,
    "sarif": sarif,
    "rdjson": rdjson,
    "github": github,
}


def render(kind: str, review: Review) -> str:
    """The review in one of the formats KINDS."""
    return KINDS[kind](review)
