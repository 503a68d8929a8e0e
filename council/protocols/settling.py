"""What a text says about concerns by their ids: which it names, which it calls settled, and which a person accepts.

Reading is careful: the verb must be next to the id, and a sentence with a "not", an "if" or a "must" settles nothing.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass

from council.replies.values import TAKEN_BACK
from council.text import unwrap

ID = re.compile(r"(?<![\w-])[Cc](\d{1,5})(?![\w-])")
IDS = r"(?<![\w-])[Cc]\d{1,5}(?![\w-])(?:[\s,;:)\]*_/&+]{1,4}(?:(?:and|or)\s+)?[Cc]\d{1,5}(?![\w-])){0,20}"
LEADING = re.compile(rf"[\W_]*(?P<ids>{IDS})(?P<rest>.*)", re.S)
PARTED = re.compile(r"\s*(?:[:.,;)\]*_–—]|-\s|\(|$)")
SENTENCE = re.compile(r"(?<=[.!?…])\s+|[;\n]+")
CLAUSE = re.compile(rf"{SENTENCE.pattern}|,? but (?=[^.;\n]{{0,200}}\b[Cc]\d)")
QUOTED = re.compile(r"^[ \t]*>.*$|“[^“”]*”|\"[^\"\n]*\"", re.M)
WITHDRAWS = r"withdraw|withdraws|withdrew|withdrawn|drop|drops|dropped|retract|retracts|retracted"
SETTLES = (
    r"answers|answered|addresses|addressed|resolves|resolved|settles|settled|solves|solved|meets|met|fixes|fixed"
    r"|satisfies|satisfied|closes|closed|mitigates|mitigated|removes|removed"
)
ACCEPTS = r"accept|accepts|accepted|accepting"
LINKS = r"(?:(?:is|are|was|were|has|have|been|being|now|fully|thus|therefore|all|both|hereby|done and)\s+)*"
SETTLED_ITEM = re.compile(rf"{LINKS}(?:{WITHDRAWS}|{SETTLES})\b", re.I)  # behind its id, an item that ends a concern
WHAT_IS_OPEN = (
    r"(?:\s+(?:of|the|these|those|them|it|that|is|are|still|open|remain\w*|concerns?|items?|risks?|challenges?))*"
)
ALL_OPEN = re.compile(
    rf"\b(?:{ACCEPTS})\s+(?:(?:all|every(?:thing)?){WHAT_IS_OPEN}|what(?:ever)? is (?:still )?open)"
    r"(?=[\s*_]*(?:$|[.!,:;()–—]|- |(?:and|as|so|because|since|for)\b))",
    re.I,
)
LONGEST_SENTENCE = 2_000  # characters: a longer one is a dump, and is not read
HEAD_END = re.compile(r"[:(,–—]|\s-\s|\b(?:because|since|as|for)\b", re.I)
DOUBT = re.compile(
    r"\b(?:not|never|no|nobody|nothing|none|neither|nor|hardly|cannot|must|should|shall|would|could|may|might|will"
    r"|to be|needs?|has to|have to|want|when|as soon as|before|part(?:ly|ially)|half|mostly|almost|nearly|only|yet"
    r"|still|remains?|un\w+ed|doubt(?:s|ed)?|refus(?:es?|ed)|declin(?:es?|ed)|fail(?:s|ed)?|wrong|false|claim(?:s|ed)?)\b"
    r"|n['’]t\b",
    re.I,
)


@dataclass(frozen=True)
class Settled:
    """A concern that a sentence calls answered, or withdrawn."""

    id: str
    withdrawn: bool
    words: str


def find_ids(text: str) -> list[str]:
    """Every id in the text, as the ledger writes it."""
    return [f"C{int(match[1])}" for match in ID.finditer(text)]


def split_ids(item: str) -> tuple[list[str], str, bool]:
    """The ids that an item begins with, the rest of it, and whether a mark parts them, as in "C2: …"."""
    match = LEADING.fullmatch(item)
    if not match:
        return [], item, False
    return find_ids(match["ids"]), re.sub(r"^[\W_]+", "", match["rest"]), PARTED.match(match["rest"]) is not None


def ends_concern(item: str) -> bool:
    """Whether an item does not name a concern but ends one, as in "C2 withdrawn: …"."""
    ids, rest, _ = split_ids(item)
    return bool(ids) and SETTLED_ITEM.match(rest) is not None and any(find_settled(item))


def find_settled(text: str) -> Iterator[Settled]:
    """The concerns that a text calls settled, other than in quotations."""
    for withdrawn, verbs in ((True, WITHDRAWS), (False, SETTLES)):
        for ids, sentence in _find_said(verbs, r"my|our|the|concerns?|items?|blockers?|both|all of", text):
            yield from (Settled(id, withdrawn, sentence) for id in ids)


def find_accepted(text: str) -> dict[str, str]:
    """The concerns that a person's words accept, each with the sentence; `*` for all that are open."""
    found = {id: said for ids, said in _find_said(ACCEPTS, r"[\w'’-]+", text, most=6) for id in ids}
    for sentence in () if found else _split(text, SENTENCE):  # "all but C2" is not all
        if (match := ALL_OPEN.search(sentence)) and _is_plain(ALL_OPEN.sub("accept", sentence), match.start()):
            found["*"] = sentence.strip()
    return found


def _find_said(verbs: str, between: str, text: str, most: int = 3) -> Iterator[tuple[list[str], str]]:
    """The ids beside one of the verbs, and the sentence, wherever it is said without a doubt or a condition."""
    if not ID.search(text):
        return
    behind = rf"(?P<before>{IDS})[\W_]{{0,5}}{LINKS}(?:{verbs})\b"
    pattern = re.compile(rf"{behind}|\b(?:{verbs})(?:\s+(?:{between})){{0,{most}}}?[\W_]{{1,4}}(?P<after>{IDS})", re.I)
    for sentence in _split(text):
        for match in pattern.finditer(sentence):
            if _is_plain(sentence, match.end()):
                yield find_ids(match["before"] or match["after"]), sentence.strip()


def _split(text: str, ends: re.Pattern[str] = CLAUSE) -> Iterator[str]:
    """The sentences of a text that are no quotations."""
    return (one for one in ends.split(unwrap(QUOTED.sub("", text))) if len(one) <= LONGEST_SENTENCE)


def _is_plain(sentence: str, end: int) -> bool:
    """Whether nothing takes a statement back: no condition anywhere, and no doubt up to the end of its main clause."""
    rest = HEAD_END.search(sentence, end)
    head = sentence[: rest.start() if rest else len(sentence)]
    return not (TAKEN_BACK.search(sentence) or DOUBT.search(head) or sentence.rstrip(" *_").endswith("?"))
