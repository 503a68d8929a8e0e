"""What a member says of others' findings, by their ids. Pure."""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import lru_cache
from typing import Any

from council.replies.quotes import remove_own_passages
from council.reviews.model import Ruling
from council.reviews.parse.items import (
    cells_of,
    column_of,
    json_blocks,
    values_in,
    words_of,
)
from council.reviews.parse.vocabulary import (
    LISTED,
    SEPARATES,
    TITLED,
    Line,
    in_own_list,
    lead_of,
    own_lines,
)

# Rulings.

AGREES = (
    r"(?:I\s|we\s)?(?:(?:fully|strongly|completely|also|do|entirely|still)\s)?(?:agree[ds]?|concur"
    r"|zustimmung|einverstanden|stimme zu|d['’]accord|de acuerdo)\b|I (?:endorse|support)\b|\+1\b"
)
DISAGREES = (
    r"(?:I\s|we\s)?(?:(?:strongly|respectfully|still)\s)?(?:disagree[ds]?|(?:do not|don['’]t|cannot|can['’]t) agree"
    r"|widerspruch|pas d['’]accord|en desacuerdo)\b|I (?:reject|object)\b|[-\u2212]1(?=\W|$)"
)
WITHDRAWS = (
    r"(?:I\s|we\s|ich\s)?(?:(?:hereby|also|therefore)\s)?(?:withdrawn?|withdrawing|ziehe\s[^.:;]{0,20}zurück|zurückgezogen"
    r"|retiré|retirado)\b"
)
WORD_SAID = re.compile(rf"(?P<disagree>{DISAGREES})|(?P<withdraw>{WITHDRAWS})|(?P<agree>{AGREES})", re.I)
AFTERWARDS = re.compile(rf"[.!?:][*_]{{0,3}}\s[*_`]{{0,3}}(?:{WORD_SAID.pattern})", re.I)
RULING = re.compile(
    rf"(?:\([^()\n]{{1,40}}\))?[\W_]{{0,8}}(?:(?:{DISAGREES}|{WITHDRAWS}|{AGREES})(?=\s{{0,2}}(?:$|[\n.,:;!?(*_\"`\])—–→⇒=-]|"
    r"(?:with|mit|because|on|as|but|though|if|in|my|or|about|since)\b|[BHML]\d))"
    r"|(?:I\s|we\s)?(?:would|could|might|can|not|no longer|do not|don['’]t|cannot)\s(?:dis)?agree\b"
    r"|(?:partial|part|most|broad)ly (?:dis)?agree\b|not sure\b|unsure\b|abstain\b|neutral\b|no opinion\b)",
    re.I,
)
# In the words of the format, with nothing behind them but the reason.
STRICTLY = re.compile(
    rf"[\W_]{{0,8}}(?:{DISAGREES}|{WITHDRAWS}|{AGREES})(?:\s\(?with\s(?:evidence|concerns?)\)?)?[*_\s]{{0,4}}"
    r"(?:$|[.:,;(—–]|-\s)",
    re.I,
)
IDS = r"(?:[*_`\[(]{0,4}[BHMLbhml]-?\d{1,3}[a-z]?(?!\w)[\])`*_]{0,4}(?:\s{0,2}(?:,|&|/|\+|and|und|et|y)\s{0,2}"
IDS += r"(?:and\s|with\s){0,2}){0,2})+"
RULED_ON = re.compile(
    rf"[\s*_#]{{0,8}}(?:details on\s)?(?P<ids>{IDS})\s?(?:\([^()\n]{{1,40}}\))?"
    rf"(?:[\s*_:.|–—→⇒=>]|-(?!1)){{0,8}}[^\w\s+\u2212-]{{0,3}}\s?(?P<rest>.*)",
    re.I | re.S,
)
ID_SAID = re.compile(r"(?<![\w-])([BHML])-?(\d{1,3})([a-z]?)(?!\w)", re.I)
OF_WORD = re.compile(
    rf"(?:^|(?<=[.!?;,:]\s)|(?<=\n)|\b(?=I\s|we\s|ich\s))[\W_]{{0,4}}(?P<word>{DISAGREES}|{WITHDRAWS}|{AGREES})"
    rf"(?P<kind>\s\(?with (?:evidence|concerns?)\)?|\s\((?:evidence|concerns?)\))?"
    rf"[:\s]{{1,3}}(?:(?:with|on|to|about|my|own|the|findings?|\w{{1,20}}['’]s)\s){{0,4}}(?P<ids>{IDS})",
    re.I | re.M,
)
AS_TO = re.compile(
    rf"(?:with|on|as to|as for|regarding|re|concerning)\s(?P<ids>{IDS}),?\s(?P<word>I (?:\w+\s)?(?:dis)?agree)\b", re.I
)
IFS = re.compile(r"\b(?:if|unless|until|provided|except|once|wenn|falls|or)\b", re.I)
PROVES = re.compile(r"(?<!no )(?<!without )\b(?:evidence|proof)\b|\bbeleg", re.I)
FEARS = re.compile(r"\bconcerns?\b|\bbedenken\b", re.I)
KIND = re.compile(r"[\s*_]{0,3}(?:\(?(?:with|mit)?\s?\(?)?(?P<kind>evidence|concerns?|beleg\w*|bedenken)\)?", re.I)


def rulings(text: str, brief: str = "") -> tuple[Ruling, ...]:
    """What the reply says of others' findings, in the order in which it speaks of them.

    Two different words on one id are no ruling at all; the same word twice is one. `disagree` alone is the weaker of
    its kinds, unless evidence is named; a partial agreement, or one with an `if`, is none.
    """
    said: dict[str, list[Ruling]] = {}
    lines = ruling_lines(text, brief)
    ruled = [ruling for entry in fields(lines) for ruling in _ruled(*entry)]
    for ruling in [*ruled, *_in_units(lines, brief)]:
        said.setdefault(ruling.id, []).append(ruling)
    single = (given for given in said.values() if len({ruling.word for ruling in given}) == 1)
    return tuple(max(given, key=lambda r: len(r.why)) for given in single)


def ruling_lines(text: str, brief: str) -> list[Line]:
    """The author's lines, but for those of the author's own list: what stands there is said of no entry, unless it is a
    ruling in the format's words.
    """
    lines = own_lines(text, brief)
    return [
        line
        for line, listed in zip(lines, in_own_list(lines), strict=True)
        if not (listed and line.kind == "text") or STRICTLY.match(lead_of(line.text).text)
    ]


def ids_of(text: str) -> list[str]:
    """The ids in a text: B1, and B1b for one of its wordings."""
    return [f"{letter.upper()}{number}{wording.lower()}" for letter, number, wording in ID_SAID.findall(text)]


def fields(lines: list[Line]) -> Iterator[tuple[list[str], str, str]]:
    """From JSON and from tables: the ids, what is said of them, and why."""
    for block in json_blocks(lines):
        for value in values_in(block)[0]:
            for entry in _objects(value, 0):
                named = {column_of(str(name)): str(text) for name, text in entry.items() if isinstance(text, str)}
                yield ids_of(named.get("number", "")), named.get("ruling", ""), named.get("more", "")
    yield from _in_tables(lines)


def _objects(value: Any, depth: int) -> Iterator[dict[str, Any]]:
    if depth < 6 and isinstance(value, dict):
        yield value
    if depth < 6 and isinstance(value, dict | list):
        for entry in value.values() if isinstance(value, dict) else value:
            yield from _objects(entry, depth + 1)


def _in_tables(lines: list[Line]) -> Iterator[tuple[list[str], str, str]]:
    columns: list[str] = []
    for line in lines:
        if line.kind != "text" or not line.text.lstrip().startswith("|"):
            columns = columns if line.text.strip().startswith("|") else []
        elif not columns:
            columns = [column_of(name) for name in cells_of(line.text)]
        elif "ruling" in columns and not SEPARATES.match(line.text):
            cells = cells_of(line.text)
            at = columns.index("ruling")
            why = next((cell for name, cell in zip(columns, cells, strict=False) if name == "more"), "")
            yield ids_of(cells[0]), cells[at] if at < len(cells) else "", why


def _ruled(ids: list[str], said: str, why: str) -> Iterator[Ruling]:
    """A field that holds a ruling and nothing else but its kind."""
    if (match := WORD_SAID.match(said.strip(" *_`✅❌"))) and not IFS.search(said):
        word = _word(match, said.strip(" *_`✅❌")[match.end() :], "")
        yield from (Ruling(id, word, why.strip()) for id in ids if word)


def _word(match: re.Match[str], rest: str, context: str) -> str:
    """Which of the four words it is; empty where it breaks off in the middle."""
    if match.group("withdraw"):
        return "withdrawn"
    if match.group("agree"):
        return "agree"
    kind = KIND.match(rest)
    if kind:
        return "disagree with concern" if FEARS.search(kind.group()) else "disagree with evidence"
    if re.match(r"\s+with(?:\s\w*)?$", rest):
        return ""
    told = rest + context
    return "disagree with evidence" if PROVES.search(told) and not FEARS.search(told) else "disagree with concern"


def own_units(lines: list[Line], brief: str) -> Iterator[tuple[str, str]]:
    """The pieces that the author wrote. A long one that somebody else has in the brief was copied; short ones are what
    everybody writes.
    """
    known = _words_given(brief)
    plain = [line for line in lines if line.kind != "text" or not line.text.lstrip().startswith("|")]
    for group, unit in _units(plain):
        words = words_of(unit)
        if words.count(" ") < 5 or f" {words} " not in known:
            yield group, unit


@lru_cache(maxsize=8)
def _words_given(brief: str) -> str:
    """What the author was given to read, as words. Rulings and pairings are both read against it."""
    return f" {words_of(remove_own_passages(brief))} "


def _units(lines: list[Line]) -> Iterator[tuple[str, str]]:
    """The reply in pieces that are about one thing, each with the ruling's word that stands over it as a heading."""
    unit: list[str] = []
    group = ""
    titled = False
    for line in [*lines, Line("")]:
        text = line.text.strip()
        over = re.fullmatch(
            r"[#*_\s]{0,8}("
            + f"{DISAGREES}|{WITHDRAWS}|{AGREES}"
            + r")(?P<kind>\s?\(?(?:(?:with|mit)\s)?(?:evidence|concerns?|beleg|bedenken)\)?)?[:*_\s]{0,6}",
            text,
            re.I,
        )
        starts = bool(TITLED.match(text) or LISTED.match(line.text) or RULED_ON.match(text) or over)
        if (starts or (not text and not titled)) and unit:
            yield group, "\n".join(unit)
            unit = []
        if over and line.kind == "text":
            group, titled = text, False
        elif line.kind == "text" and text:
            bullet = LISTED.match(line.text)
            if (TITLED.match(text) and not RULED_ON.match(text)) or (
                not bullet and not RULED_ON.match(text) and not unit
            ):
                group = ""
            titled = bool(unit and titled) or TITLED.match(text) is not None
            unit.append(line.text[bullet.end() :] if bullet else text)
    if unit:
        yield group, "\n".join(unit)


def _in_units(lines: list[Line], brief: str) -> Iterator[Ruling]:
    """From each piece, by the ids that it begins with, or else from its sentences."""
    for group, unit in own_units(lines, brief):
        led = RULED_ON.match(unit)
        if led and group and (over := WORD_SAID.search(group)) and not WORD_SAID.match(led.group("rest")):
            word = _word(over, group[over.end() :].rstrip(" :*_"), "")
            yield from (Ruling(id, word, why_of(led.group("rest"))) for id in ids_of(led.group("ids")) if word)
        elif led and (match := WORD_SAID.match(led.group("rest"))):
            yield from _said(ids_of(led.group("ids")), match, led.group("rest")[match.end() :])
        else:
            yield from _in_sentences(unit, ids_of(led.group("ids")) if led else [])


def _said(ids: list[str], match: re.Match[str], rest: str) -> Iterator[Ruling]:
    sentence = re.split(r"[.:;!]\s|\n|\s[—–-]\s", rest, maxsplit=1)[0]
    word = _word(match, rest, "")
    if word and not IFS.search(sentence):
        kind = KIND.match(rest) if word.startswith("disagree") else None
        yield from (Ruling(id, word, why_of(rest[kind.end() :] if kind else rest)) for id in ids)


def _in_sentences(unit: str, about: list[str]) -> Iterator[Ruling]:
    """Rulings in prose: by the ids that follow on the word, or that stand before it."""
    found = False
    for pattern in (OF_WORD, AS_TO):
        matches = list(pattern.finditer(unit))
        ends = [*(match.start() for match in matches[1:]), len(unit)]
        for match, end in zip(matches, ends, strict=False):
            word_match = WORD_SAID.search(match.group("word"))
            rest = unit[match.end() : end]
            sentence = re.split(r"[.;!]\s", rest, maxsplit=1)[0]
            if word_match is None or (IFS.search(sentence.split(",")[0])):
                continue
            kind = (match.groupdict().get("kind") or "").strip(" ()")
            word = _word(word_match, f" {kind}" if kind else rest[:400], "")
            found = True
            yield from (Ruling(id, word, why_of(rest)) for id in ids_of(match.group("ids")) if word)
    if about and not found:
        words = list(AFTERWARDS.finditer(unit))
        if len(words) == 1:
            yield from _said(about, words[0], unit[words[0].end() :])


def why_of(text: str) -> str:
    return " ".join(text.split()).strip(" *_`:.,;—–→⇒=>|-").strip()
