"""How people call a council in words: "Council with security: …", "Just architect and engineer: …".

The hook that routes prompts loads this file alone, with any Python since 3.7: it needs only the standard library.
"""

from __future__ import annotations

import difflib
import re
import unicodedata
from typing import Collection, NamedTuple  # noqa: UP035 (Python 3.7 needs it from here)

MODES = ("deliberative", "patchlist")
PLAIN = ("full", "debate")  # kinds that mean the usual debate
SESSION = r"\d{8}-\d{6}-[0-9a-f]{8}"
COLON = "[:\uff1a\ufe55]"  # the usual one, the full-width one and the small one
LEAD = r"(?:(?:hey|okay|ok|please)[,!]?\s+)*@?"
CALL = re.compile(rf"{LEAD}(?:(?P<kind>[\w-]+)\s+)?council(?![\w-])(?P<rest>.*)", re.I | re.S)
# The words before the first colon; nobody names members for longer than that.
HEAD = re.compile(rf"\s*(?P<head>[^:\uff1a\ufe55\n]{{1,300}}){COLON} ?(?P<topic>.*)", re.S)
JUST = re.compile(r"(?:just|only)\s+(?P<names>.+)", re.I)
RECOVERY = re.compile(
    rf"\s*{LEAD}council\s+recovery(?:\s*{COLON}(?P<words>.*)|(?:\s+(?:of\s+)?(?:session\s+)?"
    rf"(?P<id>{SESSION}|[0-9a-f]{{8}}|last|latest))?\s*[.!]?\s*)",
    re.I | re.S,
)
ID = re.compile(r"[a-z0-9][a-z0-9-]{2,62}[a-z0-9]")  # one that a caller chose, or a part of one
SLASH = re.compile(r"\s*/(?:council:)?council(?![\w./-])(?P<rest>.*)", re.S)
CLAUSE = re.compile(
    r"(?:^|[\s,]+)(?:(?:but|and)\s+)?(without|minus|plus|of|(?:with\s+)?(?:just|only)|with"
    r"|(?:in|for)(?=\s+[\w-]+[\s-]+rounds?\b))\s+",
    re.I,
)
ROUNDS = re.compile(r"(\d{1,3}|one|two|three|third|four|five)-rounds?")
NUMBERS = {"one": 1, "two": 2, "three": 3, "third": 3, "four": 4, "five": 5}
EMPHASIS = re.compile(rf"\s*(\*\*|__|\*|_)([^*_:\uff1a\ufe55\n]{{1,300}})(?:({COLON})\1|\1({COLON}))(.*)", re.S)
WRAPS = ("**", "**"), ("__", "__"), ("*", "*"), ("_", "_"), ('"', '"'), ("'", "'"), ("\u201c", "\u201d")
# What this program prints begins like a call, and people paste it.
PRINTED = re.compile(r"\s*council: (?:first use: |[^\n]*\n(?:kept: |nothing was |`council ))")


class Invocation(NamedTuple):
    """What was asked for. The topic is the text without the call; it is not changed otherwise."""

    topic: str
    with_: tuple[str, ...] = ()
    only: tuple[str, ...] = ()
    words: tuple[str, ...] = ()
    recover: str | None = None
    rounds: int | None = None
    without: tuple[str, ...] = ()


def is_call(text: str, seats: Collection[str], workflows: Collection[str]) -> bool:
    """Whether a prompt is meant as a call: one name of each of its lists is known, or nearly. An assistant loads the
    skill for a prompt with a slash by itself.
    """
    if SLASH.fullmatch(text):
        return False
    call = read_call(text, seats, workflows)
    if call is None:
        just = read_just(strip_marks(text), seats)
        return just is not None and sum(name in seats for name in just.only) > 1
    known = {*workflows, *MODES}
    lists = (call.with_, call.without, call.only)
    return (not call.words or any(word in known for word in call.words)) and all(
        any(is_like(name, seats) for name in names) for names in lists if names
    )


def read(text: str, seats: Collection[str], workflows: Collection[str]) -> Invocation | None:
    """The call at the beginning of a text. Its names are not checked, and some may be unknown."""
    slash = SLASH.fullmatch(text)
    if slash and slash["rest"].strip():
        rest = slash["rest"]
        return read(rest, seats, workflows) or read(f"council {rest}", seats, workflows) or Invocation(rest.strip())
    return read_call(text, seats, workflows) or read_just(strip_marks(text), seats)


def read_call(text: str, seats: Collection[str], workflows: Collection[str]) -> Invocation | None:
    """A text that begins with "council", or with the kind of it."""
    text = strip_marks(text)
    recovery = RECOVERY.fullmatch(text)
    if recovery:
        words = (recovery["words"] or "").strip()
        found = re.search(SESSION, words) or ID.fullmatch(words)
        return Invocation("", recover=(recovery["id"] or (found.group() if found else "last")).lower())
    cut = HEAD.fullmatch(text)
    call = read_head(cut["head"], seats, workflows) if cut and not PRINTED.match(text) else None
    if cut is None or call is None:
        return None
    inner = read_just(cut["topic"], seats)
    if inner and not call.only:
        return call._replace(topic=inner.topic, only=inner.only, rounds=call.rounds or inner.rounds)
    return call._replace(topic=cut["topic"])


def read_head(head: str, seats: Collection[str], workflows: Collection[str]) -> Invocation | None:
    """The words before the colon: a kind or workflow, modes in brackets, and who is in it."""
    found = CALL.fullmatch(unicodedata.normalize("NFKC", head).strip())
    if not found:
        return None
    modes = re.findall(r"\(([^()]{1,60})\)", found["rest"])
    first, *clauses = CLAUSE.split(re.sub(r"\([^()]{1,60}\)", " ", found["rest"]))
    kinds, rounds = split_rounds([*split_names(found["kind"] or ""), *split_names(first)])
    kinds = [name if name in workflows else re.sub("-debate$", "", name) for name in kinds if name not in PLAIN]
    if re.search(r"[()]", first) or not all(is_like(kind, workflows) for kind in kinds):
        return None
    words = [*kinds, *(name for mode in modes for name in split_names(mode))]
    lists: dict[str, list[str]] = {"with": [], "without": [], "only": []}
    for keyword, listed in zip(clauses[::2], clauses[1::2]):  # noqa: B905 (Python 3.7 has no strict)
        names, more = split_rounds(split_names(listed))
        rounds = rounds or more
        kind = MEANINGS.get(keyword.lower(), "only")
        if kind == "only" and not any(name in seats for name in names):
            return None
        lists[kind] += names
    with_, without, only = (tuple(dict.fromkeys(names)) for names in lists.values())
    return Invocation("", with_, only, tuple(words), None, rounds, without)


MEANINGS = {"with": "with", "plus": "with", "in": "with", "for": "with", "without": "without", "minus": "without"}


def read_just(text: str, seats: Collection[str]) -> Invocation | None:
    """`Just architect and engineer: …`. It is a call only if it names a seat: a topic may begin like that too."""
    cut = HEAD.fullmatch(text)
    found = JUST.fullmatch(unicodedata.normalize("NFKC", cut["head"]).strip()) if cut else None
    names, rounds = split_rounds(split_names(found["names"])) if found else ([], None)
    if cut is None or not any(name in seats for name in names):
        return None
    return Invocation(cut["topic"], only=tuple(dict.fromkeys(names)), rounds=rounds)


def split_names(text: str) -> list[str]:
    """Names separated by commas or `and`, as council writes them."""
    words = re.split(r"\s*(?:[,\u3001&+]|(?<![\w-])(?:and|und)(?![\w-]))\s*", text.strip())
    return [re.sub(r"^(?:the|an?)\s+", "", word.strip().lower()).replace(" ", "-") for word in words if word.strip()]


def split_rounds(names: list[str]) -> tuple[list[str], int | None]:
    """The names, and the number of rounds that stood among them."""
    rounds = [found[1] for found in map(ROUNDS.fullmatch, names) if found]
    number = (NUMBERS.get(rounds[0]) or int(rounds[0])) if rounds else None
    return [name for name in names if not ROUNDS.fullmatch(name)], number


def strip_marks(text: str) -> str:
    """The text without the quotation marks or the emphasis around it or its call. A second line with emphasis is one of
    a list or a transcript.
    """
    bold = EMPHASIS.fullmatch(text)
    if bold and f"\n{bold[1]}" not in bold[5]:
        return f"{bold[2]}{bold[3] or bold[4]}{bold[5]}"
    line = text.strip()
    for first, last in WRAPS:
        inner = line[len(first) : -len(last)]
        if line == first + inner + last and not re.search(f"\n|{re.escape(first)}|{re.escape(last)}", inner):
            return inner
    return text


def is_like(name: str, known: Collection[str]) -> bool:
    """Whether it is a known name or a mistyped one."""
    return name in known or bool(difflib.get_close_matches(name, known, 1, 0.8))
