"""What a member says of two entries of the list: that they are one finding, or that they differ. Pure.

It is read where it is said of an id in so many words. A doubt, a question, an "if" or a "but" says neither.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Iterator
from itertools import combinations

from council.reviews.model import Pairing, Ruling
from council.reviews.parse.rulings import (
    IFS,
    WITHDRAWS,
    fields,
    ids_of,
    own_units,
    ruling_lines,
    rulings,
    why_of,
)

ID = r"[\[(]?[BHML]-?\d{1,3}[a-z]?(?!\w)[\])]?"
IDS = rf"{ID}(?:\s{{0,2}}(?:,|&|/|\+|,?\s?(?:and|und|et|y)(?:\sto|\swith)?)\s{{0,2}}{ID}){{0,12}}"
THING = r"(?:finding|fault|issue|problem|point|thing|entry|item|defect|bug|befund|problème|chose|hallazgo|problema)s?"
WHOSE = rf"(?:(?:the|my|our|own|mein(?:e|em)?|{THING}|\w{{1,20}}['’]s)\s){{0,3}}"
IS = r"(?:(?:(?:it|this|that|das|dies)\s)?(?:is|are|ist|sind|est|sont|es|son)|it['’]s)\s(?:both\s|all\s|beide\s)?"
SURELY = (
    r"(?:(?:exactly|basically|essentially|really|just|simply|clearly|also|genau|an?|the|eine?|une?|le|la|el)\s){0,3}"
)
PLAINLY = (
    rf"(?:the\s)?same\s{THING}\s(?:as|with)|one(?:\sand\sthe\ssame)?(?:\s{THING})?\swith|repeats|restates|duplicates"
    r"|(?:duplicate|dup[el]?|duplikat|dublette|doublon|duplicado|repeat)(?:\s(?:of|to|with|von|zu|de|du))?"
    r"|(?:identical|identisch|identique|idéntico)(?:\s(?:to|with|mit|zu|à|a))?"
    r"|(?:merge|join|combine|fold)d?(?:\s(?:it|this|them))?\s(?:with|into)"
    r"|(?:dasselbe|dieselbe|derselbe|das gleiche|gleich)\swie|même\schose\sque|lo mismo que"
)
# After another verdict this may as well mean the same verdict, for the same reason.
SHORTLY = r"same(?:\sas)?"
DIFFERS = (
    rf"(?:differs|different|distinct|separate|verschieden)(?:\s{THING})?(?:\s(?:from|to|than|von))?"
    rf"|not\s(?:(?:the|an?|one)\s)?(?:same(?:\s{THING})?(?:\sas)?|duplicates?(?:\sof)?|identical(?:\s(?:to|with))?)"
    r"|nicht\s(?:dasselbe|dieselbe|das gleiche)\swie|keine?\s(?:duplikat|dublette)\s(?:von|zu)"
)
# What may follow on the ids: the end, or the reason. "Same as B2 in the export" is another finding.
ENDS = (
    r"(?=\s{0,3}(?:$|[.,;:!()\[—–→⇒|\n]|-{1,2}[\s>]|=>|(?:because|since|as|both|for|which|weil|denn|da|beide|above)\b"
    r"|in (?:other words|substance|essence|effect)\b|and (?:should|can|could|both)\b))"
    r"(?!\W{0,4}(?:but|except|only|although|though|apart from|aber|jedoch|nur|mais|pero|sauf)\b)"
)
LED = re.compile(
    rf"[\W_]{{0,8}}(?:(?:(?:I|we)\s(?:think|believe|find|say|hold)(?:\sthat)?|in my view|to me|ich finde),?\s)?{WHOSE}"
    rf"(?P<ids>{IDS})(?:\s?\((?![^()]{{0,40}}[BHML]\d)[^()\n]{{1,40}}\))?",
    re.I,
)
TOLD = re.compile(
    rf"(?P<is>{IS})?{SURELY}(?:(?P<differs>{DIFFERS})|(?P<plainly>{PLAINLY})|(?P<shortly>{SHORTLY}))[\s:(]{{1,3}}{WHOSE}"
    rf"(?P<others>{IDS}){ENDS}",
    re.I,
)
SIGNED = re.compile(rf"\s{{0,3}}(?:(?P<differs>≠|!=)|={{1,3}}|≡)\s{{0,3}}(?P<others>{IDS}){ENDS}", re.I)
SEEN = re.compile(
    rf"(?:see|siehe|cf|vgl|voir)\s{WHOSE}(?P<others>{IDS})\s{{0,2}}[(\[,:;—–-]\s?{SURELY}"
    r"(?:same|dup(?:licate|e)?|identical|dasselbe|gleich|identisch|dublette|duplikat|doublon)\b",
    re.I,
)
# Of two ids or more at once: "H3 and B2 are the same".
ALL = re.compile(
    rf"(?:{IS})?{SURELY}(?:(?P<differs>different|distinct|separate|verschieden|not\s(?:the\s)?(?:same|duplicates|one"
    rf"|identical))|same|one(?:\sand\sthe\ssame)?|duplicates|identical|dasselbe|identisch)(?:\s{THING})?(?!\s?[BHML]\d)"
    rf"(?!\s(?:as|with|to|of)\b){ENDS}",
    re.I,
)
PARTS = re.compile(r"(?:[\s:.|,;>(–—-]|[^\w\s\x00-\x7f“”„«»\u2018\u2019≠≡]){0,8}")  # marks, and pictures
OPENS = re.compile(rf"(?P<label>\b(?:ruling|verdict|urteil)\s?:)|(?P<gone>\b{WITHDRAWS})|[.;:,!(—–]|\s-(?=\s)", re.I)
MOST = 1000  # characters of a sentence that are looked at
SENTENCE = re.compile(r"(?<=[.!?;])\s+(?=[\W_]{0,4}[A-ZÄÖÜ])")


def judged(text: str, brief: str = "") -> tuple[Ruling | Pairing, ...]:
    """All that a reply says of the list's entries, by their ids."""
    return (*rulings(text, brief), *pairings(text, brief))


def unread(text: str, brief: str, read: Collection[str]) -> Iterator[str]:
    """The lines that rule on an id of which nothing is among `read`."""
    for _, unit in own_units(ruling_lines(text, brief), brief):
        led = LED.match(plain := _plain(unit))
        if led and re.match(r"\s*:", plain[led.end() :]) and not set(ids_of(led["ids"])).intersection(read):
            yield unit


def pairings(text: str, brief: str = "") -> tuple[Pairing, ...]:
    """Which entries are one, and which differ, two by two. Who says both of two entries says neither."""
    lines = ruling_lines(text, brief)
    said: dict[frozenset[str], list[Pairing]] = {}
    for one in (*_in_fields(fields(lines)), *(one for _, unit in own_units(lines, brief) for one in paired(unit))):
        said.setdefault(frozenset((one.id, one.other)), []).append(one)
    single = (given for given in said.values() if len({one.same for one in given}) == 1)
    return tuple(max(given, key=lambda one: len(one.why)) for given in single)


def _in_fields(entries: Iterable[tuple[list[str], str, str]]) -> Iterator[Pairing]:
    for ids, said, more in entries:
        for one in _of(ids, _plain(said), "", True):
            yield Pairing(one.id, one.other, one.same, one.why or more.strip())


def paired(unit: str) -> Iterator[Pairing]:
    """From one piece of a reply. A sentence is about the ids that it begins with, or else those of the first one."""
    sentences = SENTENCE.split(_plain(unit))
    leads = [LED.match(sentence) for sentence in sentences]
    about = ids_of(leads[0]["ids"]) if leads[0] else []
    for number, (sentence, led) in enumerate(zip(sentences, leads, strict=True)):
        after = " ".join(_following(sentences, leads, number + 1))
        if led:
            yield from _of(ids_of(led["ids"]), sentence[led.end() :], after, True)
        elif about:
            yield from _of(about, sentence, after, False)


def _following(sentences: list[str], leads: list[re.Match[str] | None], number: int) -> Iterator[str]:
    """Up to three sentences that go on with what was said."""
    for at in range(number, min(number + 3, len(sentences))):
        if leads[at]:
            return
        yield sentences[at]


def _plain(text: str) -> str:
    """Less the marks of bold type and of code, and less the points of abbreviations, which end no sentence."""
    text = re.sub(r"[*`]|(?<!\w)_{1,3}|_{1,3}(?!\w)", "", text)
    return re.sub(r"\b(dup[el]?|cf|vgl)\.", r"\1", text, flags=re.I)


def _of(ids: list[str], said: str, after: str, first: bool) -> Iterator[Pairing]:
    """What a sentence says of ids: by its first words, or behind a mark; short forms only by the first."""
    begins = PARTS.match(said)
    start = begins.end() if begins else 0
    if first and len(ids) > 1 and (match := ALL.match(said, start)):
        yield from _made(combinations(ids, 2), match, said, after)
    elif first and (match := SIGNED.match(said) or SEEN.match(said, start)):
        yield from _made(_beside(ids, match), match, said, after)
    else:
        for match in _told(said, start, first):
            yield from _made(_beside(ids, match), match, said, after)


def _told(said: str, start: int, first: bool) -> Iterator[re.Match[str]]:
    places = {start: first}
    for mark in OPENS.finditer(said[:MOST]):
        begins = PARTS.match(said, mark.end())
        places.setdefault(begins.end() if begins else mark.end(), bool(mark["label"] or (mark["gone"] and first)))
    for place, leads in places.items():
        if (match := TOLD.match(said, place)) and (leads or match["is"] or not match["shortly"]):
            yield match


def _beside(ids: list[str], match: re.Match[str]) -> Iterator[tuple[str, str]]:
    return ((id, other) for id in ids for other in ids_of(match["others"]))


def _made(pairs: Iterable[tuple[str, str]], match: re.Match[str], said: str, after: str) -> Iterator[Pairing]:
    if not IFS.search(said[: match.end()]):
        why = why_of(f"{said[match.end() :]} {after}").lstrip(") ")
        same = not match.groupdict().get("differs")
        yield from (Pairing(id, other, same, why) for id, other in pairs if id != other)
