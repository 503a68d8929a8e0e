"""What members were given with the question: attached documents and facts, each out of the marks that it is between."""

from __future__ import annotations

import re
from dataclasses import dataclass

# The key of a mark is not known to those who wrote the text, so none of its lines can end it.
FENCED = re.compile(
    r'\n\n<said by="(?P<by>[^"\n]*)" key="(?P<key>[0-9a-f]+)">\n'
    r'(?P<text>.*?)\n</said by="(?P=by)" key="(?P=key)">',
    re.S,
)
TITLE = re.compile(r"^(?:(E\d+), )?(?:file|text|command) ")


@dataclass(frozen=True)
class GivenText:
    """One text, and what it is called: `E1, load-test.txt` for a fact."""

    title: str
    text: str


def split_question(question: str, topic: str) -> tuple[str, tuple[GivenText, ...]]:
    """The question as it was asked, and what was attached to it."""
    if not question.startswith(topic):
        return question, ()
    found = FENCED.finditer(question, len(topic))
    given = tuple(GivenText(TITLE.sub(_shorten, one["by"], count=1), one["text"].rstrip("\n")) for one in found)
    return (topic, given) if given else (question, ())


def _shorten(kind: re.Match[str]) -> str:
    return f"{kind[1]}, " if kind[1] else ""
