"""What a text says about concerns by their ids: which it names, which it calls settled or open, and which a person
accepts.

Reading is careful. A sentence counts only in a plain form: the verb is next to the id, what follows does not make it
another statement ("C2 drops packets"), and nothing in it is a condition, a doubt, a question, a limit, or somebody
else's words. Of two sentences about one concern, the later one counts. In doubt, the concern stays open.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from functools import lru_cache
from itertools import islice

from council.protocols import settling_forms as forms
from council.text import mark_code, unwrap

LEADING = re.compile(rf"[\W_]*(?P<ids>{forms.IDS})(?P<rest>.*)", re.S)
PARTED = re.compile(r"\s*(?:[:.,;)\]*_–—]|-\s|\(|$)")
LONGEST_SENTENCE = 1_000  # characters: a longer one is a dump, and is not read
MOST_CLAUSES = 20  # of a sentence: what follows is read as one


@dataclass(frozen=True)
class Settled:
    """A concern that a sentence calls answered, or withdrawn."""

    id: str
    withdrawn: bool
    words: str


def find_ids(text: str) -> list[str]:
    """Every id in the text once, as the ledger writes it."""
    return list(dict.fromkeys(f"C{int(digits)}" for digits in dict.fromkeys(forms.ID.findall(text))))


def split_ids(item: str) -> tuple[list[str], str, bool]:
    """The ids that an item begins with, the rest of it, and whether a mark parts them, as in "C2: …"."""
    match = LEADING.fullmatch(item)
    if not match:
        return [], item, False
    return find_ids(match["ids"]), re.sub(r"^[\W_]+", "", match["rest"]), PARTED.match(match["rest"]) is not None


def ends_concern(item: str) -> bool:
    """Whether an item does not name a concern but ends one, as in "C2 withdrawn: …"."""
    ids, rest, _ = split_ids(item)
    return bool(ids) and forms.SETTLED_ITEM.match(rest) is not None and any(find_settled(item))


def find_settled(text: str) -> Iterator[Settled]:
    """The concerns that a text calls settled."""
    found: dict[str, Settled | None] = {}
    for sentence in _find_sentences(text):
        for withdrawn, form in ((True, forms.WITHDRAWS), (False, forms.ANSWERS)):
            for match in form.finditer(sentence):
                plain = _is_plain(sentence, match)
                for id in find_ids(match["before"] or match["after"]):
                    found[id] = Settled(id, withdrawn, sentence.strip()) if plain else None
        found |= dict.fromkeys(_read_kept(sentence))
    yield from filter(None, found.values())


def find_kept(text: str) -> dict[str, str]:
    """The concerns that a text calls open, each with the sentence: "C2 is not answered", "I reopen C2"."""
    found: dict[str, str] = {}
    for sentence in _find_sentences(text):
        found |= dict.fromkeys(_read_kept(sentence), sentence.strip())
    for one in find_settled(text):
        found.pop(one.id, None)
    return found


def find_accepted(text: str) -> dict[str, str]:
    """The concerns that a person's words accept, each with the sentence; `*` for all that are open."""
    found: dict[str, str] = {}
    for sentence in _find_sentences(text):
        for match in forms.ACCEPTS.finditer(sentence):
            for id in find_ids(match["before"] or match["after"]):
                found.pop(id, None)
                found |= {id: sentence.strip()} if _is_plain(sentence, match) else {}
        for match in forms.REFUSES.finditer(sentence):
            for id in find_ids(match["after"]):
                found.pop(id, None)
    for sentence in () if found else _split(text):  # "all but C2" is not all
        if (everything := forms.ALL_OPEN.search(sentence)) and _is_plain(sentence, everything):
            found["*"] = sentence.strip()
    return found


# ---- sentences ----


@lru_cache(maxsize=32)
def _find_sentences(text: str) -> tuple[str, ...]:
    """The author's own sentences that name a concern; those that say something of several, clause by clause. What is
    kept and what is settled is read from the same ones."""
    named = (one for one in _split(text) if forms.ID.search(one)) if forms.ID.search(text) else ()
    return tuple(clause for sentence in named for clause in _cut(sentence))


forget_sentences = _find_sentences.cache_clear


def _split(text: str) -> Iterator[str]:
    """The sentences of a text that are neither quotations nor code."""
    own = "\n".join("" if code else line for line, code in mark_code(text.split("\n")))
    sentences = forms.SENTENCE.split(unwrap(forms.QUOTED.sub("", own)))
    return (one for one in sentences if one and len(one) <= LONGEST_SENTENCE)


def _cut(sentence: str) -> Iterator[str]:
    """The clauses of "C2 is answered, but C3 is not", where none of them is part of what another says."""
    begin = 0
    cuts = () if forms.CONDITIONAL.search(sentence) else islice(forms.CUT.finditer(sentence), MOST_CLAUSES)
    for match in cuts:
        clause = sentence[begin : match.start()]
        first = forms.ID.search(clause)
        before = clause[: first.start()] if first else clause
        if forms.HAS_VERB.search(clause) and not (forms.DOUBT.search(before) or forms.REPORTED.search(before)):
            yield clause
            begin = match.end()
    yield sentence[begin:]


def _is_plain(sentence: str, match: re.Match[str]) -> bool:
    """Whether nothing takes a statement back: no condition anywhere, no doubt up to the end of its main clause, nobody
    else's words before it, and no second thought behind it."""
    before, ids = sentence[: match.start()], match.groupdict()
    if forms.TAKES_BACK.search(sentence) or forms.REPORTED.search(before) or _is_question(sentence):
        return False
    if forms.EITHER.search(ids.get("before") or ids.get("after") or ""):
        return False
    if ids.get("before") and forms.OF_IT.search(before) and not forms.ALL_OF_IT.search(before):
        return False
    rest = forms.HEAD_END.search(sentence, match.end())
    head = sentence[: rest.start() if rest else len(sentence)]
    if forms.DOUBT.search(head if ids else head.replace(match[0], "")):  # "accept what is still open" is no doubt
        return False
    revoked = forms.REVOKED.search if rest and rest[0] == "," else forms.DENIED.match
    return rest is None or not revoked(sentence, rest.end())


def _read_kept(sentence: str) -> Iterator[str]:
    for match in forms.KEEPS.finditer(sentence):
        before = sentence[: match.start()]
        limited = forms.TAKES_BACK.search(before) or forms.REPORTED.search(before) or forms.GONE.search(sentence)
        if not limited and not _is_question(sentence):
            yield from find_ids(match["before"] or match["after"])


def _is_question(sentence: str) -> bool:
    return sentence.rstrip(" *_)").endswith("?")
