"""The words that call a council, checked: what is meant as a call is never debated as a topic."""

from __future__ import annotations

import re
from collections.abc import Collection

from council.errors import UsageError
from council.prompts import phrases
from council.prompts.phrases import Invocation
from council.text import did_you_mean, nearest
from council.workflow import declare

PATCHLIST = declare.option(
    "patchlist", "`--mode patchlist` turns it on: the kit's prompts then ask for lists of changes"
)
MODES = phrases.MODES
AS_TOPIC = 'to debate the words as they are, put "Council: " before them'
BEGUN = re.compile(r"(?:(?P<kind>[\w-]+)\s+council|council\s+with(?:out)?\s+(?:the\s+)?(?P<seat>[\w-]+))\b", re.I)


def parse(text: str, known: Collection[str], workflows: Collection[str]) -> Invocation:
    """The call at the beginning of a text, if there is one; `known` are the seats that it may name."""
    call = phrases.read(text, known, workflows)
    if call is None:
        refuse_unfinished(text, known, workflows)
    return call or Invocation(text)


def refuse_unfinished(text: str, known: Collection[str], workflows: Collection[str]) -> None:
    """Refuse what was meant as a call and would be debated as a topic."""
    words = text.strip()
    alone = None if re.search(f"\n|{phrases.COLON}", words) else phrases.read(f"{words}:", known, workflows)
    if words.lower() == "/council" or (alone and is_known(alone, known, workflows)):
        raise UsageError(f'the topic is missing: write "{words}: …", with your question after the colon')
    begun = BEGUN.match(words)
    if begun and ((begun["kind"] or "").lower() in workflows or (begun["seat"] or "").lower() in known):
        raise UsageError(f'write a colon between the call and the question, as in "{begun.group()}: …"; {AS_TOPIC}')


def is_known(call: Invocation, known: Collection[str], workflows: Collection[str]) -> bool:
    members = {*call.with_, *call.without, *call.only}
    return members <= {*known} and {*call.words} <= {*workflows, *MODES}


def check_named(call: Invocation, known: Collection[str]) -> None:
    """Ask back about members that a call names and nobody knows."""
    for name in (*call.with_, *call.without, *call.only):
        if name not in known:
            raise UsageError(f"{describe_unknown(name, known)}; {AS_TOPIC}")


def seats(text: str, known: Collection[str]) -> tuple[str, ...]:
    """Names separated by commas or `and`; each must be known."""
    names = phrases.split_names(text)
    for name in names:
        if name not in known:
            raise UsageError(describe_unknown(name, known))
    return tuple(dict.fromkeys(names))


def describe_unknown(name: str, known: Collection[str]) -> str:
    listed = f" (known: {', '.join(sorted(known))})" if nearest(name, known) else ""
    return f'unknown member "{name}"; {did_you_mean(name, known)}{listed}'
