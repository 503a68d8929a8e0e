"""The grammar of one reply, in llama.cpp's GBNF: what a small model may write, so that `replies` can read it. Pure.

The program decides the structure (a seat's sentence openings, then a heading an answer), the model writes the clauses.
Words are the unit, not characters: a sentence that runs into a limit then ends with a whole word.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Mapping

from council.replies.parse import format_heading
from council.workflow.model import Kind, Reply
from council.workflow.types import answer_types

NEW_LINE = "\n"
NAME = re.compile(r"\b[A-Za-z0-9]{0,20}[a-z][A-Z][A-Za-z0-9]{0,20}\b")
MOST_NAMES = 60
MOST_WORDS = 45  # of a clause. At this limit only a full stop or more letters may follow, and a model that is not done
# glues its next words together ("specificrequirements"): so it must be longer than what a model wants to say
NOBODY: Mapping[str, tuple[str, ...]] = {}
# Letters of alphabets that put spaces between words. Others are left out: small models slip into them unasked. Capitals
# stand first in a word: kept from repeating a phrase, a model writes it without the space ("inFront").
LOWER = r"a-z\u00C0-\u00D6\u00D8-\u00F6\u00F8-\u024F\u0386-\u03CE\u0400-\u0481"
# No mark of Markdown is part of a word, so nothing but the program's own headings can be read as one. An item begins
# with no letter that `none`, `no risks` or `keine` begin with: as an item, they would say that there is none.
RULES = rf"""
word ::= plain | name | [0-9]{{1,6}} "%"
plain ::= [$€£]? run (['’/-] run){{0,3}} ['’]?
run ::= [0-9A-Z]{{1,24}} [0-9{LOWER}]{{0,24}} | [0-9{LOWER}]{{1,24}}
gap ::= " " | ", " | "; "
clause ::= word rest
rest ::= (gap word){{4,{MOST_WORDS}}} "."
more ::= run? (['’/-] run){{0,3}}
sentence ::= [A-Z] more rest
sentences ::= sentence (" " sentence){{0,2}}
item ::= "- " [A-JLMO-Z\u0386-\u03CE\u0400-\u0481] more rest
items ::= item ("\n" item){{0,2}}
code ::= "```" [a-z]{{0,12}} "\n" [!-_a-}}] line ("\n" line){{0,39}} "\n```"
line ::= [ -_a-}}]{{0,120}}
"""


def gbnf(
    reply: Reply, openings: Iterable[str] = (), brief: str = "", casts: Mapping[str, tuple[str, ...]] = NOBODY
) -> str:
    """The grammar of a reply with these answers, by a seat whose sentences begin with these openings.

    Seats to be cast come from the catalog: a model this small finds no names, and no opposites.

    Words such as PostgreSQL can be said if the brief has them; one can in any case, since no rule may be empty.
    """
    values = ((name, _cast(casts[name]) if name in casts else _value(kind)) for name, kind in reply)
    answers = (f"{_literal(f'## {format_heading(name)}{NEW_LINE}')} {value}" for name, value in values)
    names = " | ".join(map(_literal, sorted({"JavaScript", *NAME.findall(brief)})[:MOST_NAMES]))
    between = f" {_literal(NEW_LINE * 2)} "
    return f"root ::= {between.join([*_prose(reply, openings), *answers])}\nname ::= {names}{RULES}"


def _prose(reply: Reply, openings: Iterable[str]) -> list[str]:
    """What comes before the answers. If some answer is text, a seat without openings says everything there."""
    begun = [_literal(f"{plain} ") + " clause" for plain in map(_plain, openings) if plain]
    if not begun:
        return [] if any(kind.type in ("text", "code") for _, kind in reply) else ["sentences"]
    return [f" {_literal(' ')} ".join(begun)]


def _plain(opening: str) -> str:
    """An opening without what Markdown, or the reader of replies, would take for a heading or a quotation."""
    return " ".join(re.sub(r"[^\w ,;'’()-]", "", opening).split()).strip("-")


def _cast(titles: tuple[str, ...]) -> str:
    """Two or three of these, each with what it stands for."""
    one = f'"- " ({" | ".join(map(_literal, titles))}) ": " clause'
    return f"{one} ({_literal(NEW_LINE)} {one}){{1,2}}"


def _value(kind: Kind) -> str:
    if kind.type == "choice":
        return f"({' | '.join(map(_literal, kind.options))})"
    if kind.type == "range":
        return f"({' | '.join(_literal(f'{mark:g}') for mark in _marks(int(kind.low), int(kind.high)))})"
    if kind.type == "list":
        return "items" if kind.required else '("none" | items)'
    if kind.type in answer_types():
        return answer_types()[kind.type].grammar.replace("NEW_LINE", _literal(NEW_LINE))
    return {"text": "sentences", "code": "code", "integer": '("0" | [1-9] [0-9]{0,5})'}[kind.type]


def _marks(low: int, high: int) -> list[float]:
    """Numbers of a range, a hundred or so at most; of one too narrow for whole numbers, tenths."""
    if high - low == 1:
        return [low + tenth / 10 for tenth in range(11)]
    return sorted({*range(low, high, max(1, (high - low) // 100)), high})


def _literal(text: str) -> str:
    """JSON writes all that GBNF would take for a mark of its own as GBNF reads it."""
    return json.dumps(text, ensure_ascii=False)
