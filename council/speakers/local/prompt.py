"""Shortens a brief for the small model, which spent nearly half its time on reading. Pure.

The brief on disk stays the record of what was asked. The words of others are kept exactly, in shorter marks. What
the grammar of the reply forces anyway is left out: the form of the answers, and the character of a seat whose sentences
begin as its persona says.
"""

from __future__ import annotations

import re
from string import ascii_lowercase

from council.replies.parse import describe
from council.replies.quotes import KEY, passages
from council.speakers.base import Brief

CLOSED = re.compile(r'</said by="[^"\n]*" (key="[a-z]+")>')
# Of a key: 37 bits. A guess cannot be tried twice, because every text has a key of its own.
LETTERS = 8
FORCED = ("choice", "list", "text")  # the grammar forces their form, and the task says what they mean


def condense(brief: Brief) -> str:
    """The brief as the model reads it."""
    pieces, place = [], 0
    for passage in passages(brief.text):
        pieces += [_shorten(brief.text[place : passage.start], brief), brief.text[passage.start : passage.end]]
        place = passage.end
    return "".join([*pieces, _shorten(brief.text[place:], brief)])


def _shorten(text: str, brief: Brief) -> str:
    """Shorten what the program wrote: the text between passages, with their marks."""
    form = describe(brief.reply)
    if form and form in text and all(kind.type in FORCED for _, kind in brief.reply):
        before, _, after = text.partition(form)
        text = before.rstrip().rpartition("\n\n")[0] + after  # also without the paragraph that introduces the form
    if brief.openings and brief.persona:
        text = text.replace(f"\n\n{brief.persona}\n", "\n", 1)
    text = KEY.sub(lambda found: f'key="{shorten_key(found[1])}"', text)
    return CLOSED.sub(r"</said \1>", text)


def shorten_key(key: str) -> str:
    """The same key in letters. The tokens of the model hold two letters, but only one digit."""
    number = int(key, 16)
    return "".join(ascii_lowercase[number // 26**place % 26] for place in range(LETTERS))
