"""A member's list of findings, read as people write: what stands there, and what cannot be read as it stands. Pure."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator
from dataclasses import replace
from functools import lru_cache

from council.replies.quotes import remove_own_passages
from council.reviews.model import (
    FORMAT,
    RULING_FORMAT,
    SEVERITIES,
    Anchor,
    Finding,
    Findings,
)
from council.reviews.parse.duplicates import judged, paired
from council.reviews.parse.items import (
    Draft,
    Gatherer,
    json_blocks,
    listed_json,
    values_in,
    words_of,
)
from council.reviews.parse.rulings import RULING, STRICTLY
from council.reviews.parse.tally import in_known_words, tally_of
from council.reviews.parse.vocabulary import (
    ABSENT,
    ARROW,
    BARE,
    BRACKETED,
    BUT,
    CHANGED,
    CLOSES,
    DENIED,
    HOST,
    IN_PROSE,
    LABEL,
    LETTERS,
    LINE,
    LINED,
    NAMED,
    NOUN,
    PLACED,
    QUOTED,
    RANGE,
    REFERRED,
    SECTIONED,
    SEVERITY,
    SIGN,
    SIGN_OF_ARROW,
    SIGNS,
    SPANS,
    TAG,
    WITHIN,
    is_nothing,
    own_lines,
    severity_of,
    tagged,
)
from council.text import overlap

# From what was gathered to findings.


def read(text: str, brief: str = "") -> Findings:
    """A member's list. `brief` is what the member was given: what stands in there is nobody's finding.

    An item without a severity, or without an issue, is kept as it stands among the unparsed. The number's letter and
    the heading must not contradict each other; what the item itself says of its severity goes before both. A heading
    that names two severities means the more severe, unless the letter says which.
    """
    lines = in_known_words(own_lines(text, brief))
    gatherer = Gatherer(lines)
    drafts = gatherer.gather()
    left: list[str] = []
    opening: list[str] = []  # bullets of an introduction: with a list behind them they are none of its items
    for block in json_blocks(lines):
        values, rest = values_in(block)
        drafts.extend(draft for value in values for draft in listed_json(value, None))
        left.extend([rest] if rest and (drafts or values) else [])
    seated = {id(draft.section) for draft in drafts if draft.section and draft.style not in ("bare", "prose")}
    numbers = {draft.lead.number for draft in drafts if not (draft.aside or draft.again)}
    echo = _echo(brief)
    # Who rules and has a list of its own speaks of the others' entries before it: "B4 names a wrong line".
    rules = echo.asks and any(draft.own for draft in drafts)
    items: list[Finding] = []
    begun = False
    for draft in drafts:
        if _is_ruling(draft, echo.asks) or echo.has(draft) or (draft.style == "bare" and id(draft.section) in seated):
            continue
        if _is_beside_the_list(draft, numbers):
            continue
        finding = _finding(draft)
        if isinstance(finding, Finding) and rules and draft.opening:
            left.append(" ".join([draft.lead.number, *(piece for _, piece in draft.pieces)]).strip())
        elif isinstance(finding, Finding):
            items.append(replace(finding, repeats=_repeated(finding.issue)) if draft.own and echo.asks else finding)
            begun = begun or draft.opening
        elif finding and draft.opening and draft.style == "bullet" and not (draft.lead.number or _parted(draft)[1]):
            opening.append(finding)
        elif finding:
            left.append(finding)
    tally, approved = tally_of(lines, echo.line)
    cleared = approved or dict(tally).get(SEVERITIES[0]) == 0
    found = tuple(_checked(item, cleared) for item in _single(items))
    prose = [line.text for line in lines if line.kind == "text"]
    left = left if found and not begun else [*opening, *left]
    none = not found and not left and (approved or _says_none(prose, gatherer.nothing))
    if not (found or left or none) and not judged(text, brief):
        left = ["\n".join(line for line in prose if not echo.line(line)).strip()]
    unparsed = tuple(dict.fromkeys(piece.strip() for piece in left if piece.strip()))
    return Findings(found, unparsed, none, tally, approved)


def _is_beside_the_list(draft: Draft, numbers: Collection[str]) -> bool:
    """Whether an item under a summary or a list of strengths repeats one of the list, or is none."""
    if (draft.aside or draft.again) and _points_at(draft, numbers):
        return True
    return draft.aside and not (draft.lead.number or draft.lead.severity)


def _points_at(draft: Draft, numbers: Collection[str]) -> bool:
    """Whether what is written under a summary only names an item of the list, by its number or by CRITICAL-3."""
    text = " ".join([draft.lead.text, *(piece for _, piece in draft.pieces)])
    named = {draft.lead.number, *re.findall(r"\b[A-Z]{1,8}-?\d{1,3}\b", text)}
    named |= {f"{severity_of(one['severity'])[0].upper()}{one['count']}" for one in REFERRED.finditer(text)}
    return not named.isdisjoint(set(numbers) - {""})


def _checked(item: Finding, cleared: bool) -> Finding:
    """Where the author says that nothing blocks, a BLOCKING finding contradicts its author."""
    return replace(item, inferred=True) if cleared and item.severity == SEVERITIES[0] else item


PLACEHOLDER = re.compile(r"\W{0,4}\[[^\[\]]{1,60}\]\W{0,4}(?:\s\W{0,4}\[[^\[\]]{1,60}\]\W{0,4})?")


@lru_cache(maxsize=8)
def _echo(brief: str) -> _Echo:
    """Members of a round are often given the same."""
    return _Echo(remove_own_passages(brief))


class _Echo:
    """Knows what others have in the brief, and what stands in the format itself, by its words."""

    def __init__(self, brief: str) -> None:
        self.known = f" {words_of(brief)} {words_of(FORMAT)} {words_of(RULING_FORMAT)} "
        self.lines = {words_of(line) for line in f"{brief}\n{FORMAT}\n{RULING_FORMAT}".splitlines()}
        # Whether the author was asked for rulings too: else what looks like one is what the author has to say.
        self.asks = not brief or words_of(RULING_FORMAT.partition("\n")[2]) in words_of(brief)

    def has(self, draft: Draft) -> bool:
        """Whether the whole item was copied, with its number, or enough of it without: of one's own words all count."""
        number, first = words_of(draft.lead.number), words_of(draft.lead.text)
        if not first or PLACEHOLDER.fullmatch(draft.lead.text):
            return bool(first)
        whole = [part for part in map(words_of, "\n".join(_parted(draft)).split("\n")) if part]
        if not all(f" {part} " in self.known for part in whole):
            return False
        least = 4 if ARROW.search(draft.lead.text) else 8
        size = sum(part.count(" ") + 1 for part in whole)
        return bool(number and f" {number} {first} " in self.known) or size >= least or first in self.lines

    def line(self, text: str) -> bool:
        return words_of(text) in self.lines


def _is_ruling(draft: Draft, asked: bool) -> bool:
    """`B1: agree` says something of a finding and is none; nor is `H3: same as B2`, unless it proposes a change. In its
    author's own list only a ruling in the format's words is one: "Agree on a format" is what has to be done.
    """
    words = draft.lead.text or next((text for _, text in draft.pieces), "")
    if not asked:
        return False
    changes = draft.replacement is not None or bool(_split(words.lstrip("-=>→⇒ "))[1])
    if draft.own:
        return not changes and STRICTLY.match(words) is not None
    if not changes:
        begins = f"{draft.lead.number}: {words}" if draft.lead.number else words
        if any(paired(begins)):
            return True
    if draft.style == "prose" and not draft.lead.number:
        return False
    if any(kind == "ruling" for kind, _ in draft.pieces):
        return True
    titled = re.match(r"[^.:\n]{1,80}:[*_]{0,3}\s", words) if draft.lead.number else None
    return RULING.match(words) is not None or (titled is not None and RULING.match(words, titled.end()) is not None)


def _repeated(issue: str) -> str:
    """The one entry of the list that an item begins by naming as the same: "same as B2"."""
    named = {one.other for one in paired(f"L999: {issue}") if one.same}
    return named.pop() if len(named) == 1 else ""


def _finding(draft: Draft) -> Finding | str:
    """The item as a finding; where it cannot be one, its text as it stands; empty where it is only prose, or a heading
    over items.
    """
    severity = _severity(draft)
    issue, change = _parted(draft)
    raw = "\n".join(
        [f"{draft.lead.number} {text}".strip() if not n else text for n, (_, text) in enumerate(draft.pieces)]
    )
    raw = raw or draft.lead.number
    if draft.style in ("prose", "bare") and not (severity and _is_prose_item(draft, issue)):
        return ""
    if severity and _is_told(issue, change):
        anchor = _anchor(draft, issue, change)
        told = _without_passage(issue, anchor.quote)
        return Finding(draft.lead.number, severity, told, change, anchor, draft.replacement, draft.style == "prose")
    return raw if any(map(str.isalnum, raw)) and not draft.over else ""


def _without_passage(issue: str, quote: str) -> str:
    """What the author says of the passage, less the passage itself where it stands first, as the format has it."""
    begun = re.match(r"[\"“”„«\u201a']", issue)
    if not quote or not begun or not issue[1:].startswith(quote):
        return issue
    rest = issue[1 + len(quote) :].lstrip("\"“”»\u2018'").lstrip(" :,—–-")
    return rest if any(map(str.isalnum, rest)) else issue


def _is_told(issue: str, change: str) -> bool:
    """Whether there is an issue: a single word by itself is none, as a text that breaks off leaves it."""
    words = len(re.findall(r"\w+", issue))
    return words > 1 or (words == 1 and bool(change))


def _is_prose_item(draft: Draft, issue: str) -> bool:
    return draft.style == "prose" or (len(issue.split()) > 2 and not issue.endswith(":") and not CLOSES.match(issue))


def _severity(draft: Draft) -> str:
    if draft.lead.severity:
        return draft.lead.severity
    for kind, text in draft.pieces:
        if kind == "severity":
            return _stated(text)
    first = next((text for kind, text in draft.pieces if kind == "issue"), "")
    if tags := {tagged(tag) for tag in TAG.finditer(first[:400])}:
        return tags.pop() if len(tags) == 1 else ""
    letter = LETTERS.get(draft.lead.number[:1].lower(), "") if draft.lead.number[1:].isdigit() else ""
    if section := draft.section if draft.style != "prose" else None:
        fits = not letter or letter in section.severities
        if not fits and draft.lead.number[:1].upper() not in section.initials:
            return ""
        return letter if letter and letter in section.severities else section.severities[0]
    return letter or _in_prose(first[:600])


def _stated(text: str) -> str:
    """The severity that a field or a cell names; nothing where it names two."""
    plain = text.strip(" *_`[]().")
    if sign := SIGN.match(plain):
        plain = plain[sign.end() :].strip(" *_") or sign.group(1)
    if plain in SIGNS:
        return SIGNS[plain]
    if re.fullmatch(r"P[0-3]", plain):
        return SEVERITIES[int(plain[1])]
    word = re.match(rf"{SEVERITY}{NOUN}(?=$|[*_\s]{{0,3}}(?:[(.,;:—–]|-\s))", plain, re.I)
    return severity_of(word.group("severity")) if word else ""


def _in_prose(text: str) -> str:
    """The one severity that a sentence gives to its subject."""
    found = {
        severity_of(match.group("severity"))
        for pattern in IN_PROSE
        for match in pattern.finditer(text)
        if not DENIED.search(text[max(0, match.start() - 16) : match.start()])
    }
    return found.pop() if len(found) == 1 else ""


def _parted(draft: Draft) -> tuple[str, str]:
    """The issue and the change, of an item that is complete."""
    if draft.parted is None:
        draft.parted = _part(draft)
    return draft.parted


def _part(draft: Draft) -> tuple[str, str]:
    """By the fields that the author named, else at the arrow."""
    issue: list[str] = []
    change: list[str] = []
    for kind, text in draft.pieces:
        if kind == "change":
            change.append(text)
        elif kind == "code":
            (change if change and not issue else issue).append(text)
        elif kind == "issue" and change and draft.style != "row" and not any(k == "change" for k, _ in draft.pieces):
            change.append(text)
        elif kind == "issue":
            before, after = _split(text) if draft.style != "row" else (text, "")
            issue.append(before)
            change.extend([after] if after else [])
    told = [piece for piece in map(_clean, issue) if piece]
    if told and (place := BRACKETED.match(told[0])) and _pointed(place.group(1)):
        told[0] = told[0][place.end() :].strip(" :—–-")
    elif told and (at := PLACED.match(told[0].lstrip("`"))) and draft.style != "row":
        told[0] = told[0].lstrip("`")[at.end() :].lstrip("`").strip(" :—–-|,")
    nothing = [piece for piece in map(_clean, change) if any(map(str.isalnum, piece))]
    return "\n".join(piece for piece in told if piece), "\n".join(nothing)


def _split(text: str) -> tuple[str, str]:
    """The text before and behind the arrow or the label of a change; within code and quotations there is none."""
    masked = SPANS.sub(lambda span: span.group()[0] + "x" * (len(span.group()) - 2) + span.group()[-1], text)
    label = CHANGED.search(masked)
    found = ARROW.finditer(masked) if SIGN_OF_ARROW.search(masked) else ()
    arrows = [arrow for arrow in found if not label or arrow.start() < label.start()]
    if arrows:
        ended = (
            arrow
            for arrow in arrows
            if re.search(r"[.!?:;)\]][\s*_]{0,3}$", masked[max(0, arrow.start() - 5) : arrow.start()])
        )
        arrow = next(ended, arrows[0])
        after = text[arrow.end() :].lstrip()
        again = LABEL.match(after)
        return text[: arrow.start()], after[again.end() :] if again and again.group("end").strip("*_ ") else after
    return (text[: label.start()], text[label.end() :]) if label else (text, "")


EMPHASIS = re.compile(r"(?<![\w*])\*(?=[^\s*])([^*\n]{1,300})(?<=\S)\*(?![\w*])")


def _clean(text: str) -> str:
    """Less the marks of bold type outside of code, and less what is left hanging at its ends."""
    if "\n" not in text:
        parts = re.split(r"(`[^`\n]*`)", text)
        text = "".join(
            part if n % 2 else EMPHASIS.sub(r"\1", part.replace("**", "").replace("__", ""))
            for n, part in enumerate(parts)
        )
    return text.strip(" \n\t*_—–")


# Where a finding is.


def _pointed(text: str) -> re.Match[str] | None:
    """A place in brackets: a file, lines, or both."""
    plain = text.strip("` ")
    path = re.match(NAMED + r"(?=$|[,;\s§#])", plain)
    return PLACED.match(plain) or re.match(rf"(?:{LINE}){RANGE}", plain, re.I) or path or SECTIONED.match(plain)


def _anchor(draft: Draft, issue: str, change: str) -> Anchor:
    path, first, last = "", 0, 0
    named = [text for kind, text in draft.pieces if kind == "place"]
    told = [text for kind, text in draft.pieces if kind == "issue"]
    for text in named:
        path, first, last = _lines_of(text, named=True)
        if path or first:
            break
    else:
        for text in [*told, change]:
            path, first, last = _lines_of(text)
            if path or first:
                break
    given = [text for kind, text in draft.pieces if kind == "passage"]
    quote = next((_bare(text) for text in given), "") or "\n".join(_passage(draft.quotes))
    quote = quote or _quoted(named, 2) or _quoted([issue], 3)
    return Anchor(path, first, last, quote, "" if first else _section_of(named, told))


def _section_of(named: list[str], told: list[str]) -> str:
    """The number of the section: in the place, in brackets, as the first word, or "in section 3"."""
    for text in (*named, *told[:1]):
        inside = [text] if text in named else BRACKETED.findall(text[:240])
        given = next((match for part in inside if (match := BARE.search(part) or SECTIONED.search(part))), None)
        if match := given or SECTIONED.match(text.lstrip("(*_ ")) or WITHIN.search(text[:240]):
            return match["section"]
    return ""


def _passage(quotes: list[str]) -> list[str]:
    """A block is a passage by itself; the lines of a quotation go together."""
    return quotes[:1] if quotes and "\n" in quotes[0] else quotes


def _bare(text: str) -> str:
    match = QUOTED.fullmatch(text.strip())
    return next(filter(None, match.groups()), "") if match else text.strip()


def _lines_of(text: str, named: bool = False) -> tuple[str, int, int]:
    for match in PLACED.finditer(text):
        if not HOST.search(match.group("path")):
            return (match.group("path"), *_span(match))
    for inside in [text] if named else BRACKETED.findall(text):
        path = re.match(NAMED + r"(?=$|[,;\s§#])", inside.strip("` "))
        lines = LINED.search(inside) if named or LINED.match(inside) or path else None
        if path or lines:
            return (path.group("path") if path else "", *(_span(lines) if lines else (0, 0)))
    lines = LINED.match(text)
    return ("", *_span(lines)) if lines else ("", 0, 0)


def _span(match: re.Match[str]) -> tuple[int, int]:
    first, last = int(match.group("first")), int(match.group("last") or match.group("first"))
    return (first, last) if last >= first else (first, first)


def _quoted(texts: list[str], least: int) -> str:
    """The first quotation of some words: a single word in marks is a name, and no passage."""
    for text in texts:
        nested = [text[slice(*span)] for span in _nested(text)]
        for words in (*nested, *(next(filter(None, match.groups()), "") for match in QUOTED.finditer(text))):
            if len(words.split()) >= least and not PLACED.fullmatch(words):
                return words.strip()
    return ""


def _nested(text: str) -> Iterator[tuple[int, int]]:
    """Straight quotation marks with others inside: from the outer one to its end."""
    opened: list[int] = []
    deep = False
    for mark in re.finditer(r'"', text[:2000]):
        before, after = text[: mark.start()][-1:], text[mark.end() : mark.end() + 1]
        if (not before or before in " \t\n([—–") and after and not after.isspace():
            opened.append(mark.end())
            deep = deep or len(opened) > 1
        elif opened:
            start = opened.pop()
            if not opened and deep:
                yield start, mark.start()
            deep = deep and bool(opened)


# One list out of all that was said.


def _single(items: list[Finding]) -> tuple[Finding, ...]:
    """A list that is given twice is one list: the same issue, or the same number with fewer of its words, unless they
    name different places, changes or new texts.
    """
    kept: list[Finding] = []
    numbered: dict[tuple[str, str], list[int]] = {}
    worded: dict[tuple[str, str], list[int]] = {}
    for item in items:
        alike = numbered.setdefault((item.severity, item.number), [])
        same = worded.setdefault((item.severity, words_of(item.issue)), [])
        again = [n for n in alike[-4:] if item.number and _within(kept[n].issue, item.issue)]
        place = next((n for n in (*same[-4:], *again) if _fit(kept[n], item)), None)
        if place is None:
            same.append(len(kept))
            alike.append(len(kept))
            kept.append(item)
        else:
            kept[place] = _fuller(kept[place], item)
    return tuple(kept)


def _fit(one: Finding, other: Finding) -> bool:
    """Whether nothing that both say is said of two things."""
    a, b = one.anchor, other.anchor
    lines = not (a.first and b.first) or (a.first <= max(b.first, b.last) and b.first <= max(a.first, a.last))
    path = not (a.path and b.path) or a.path == b.path
    quote = (
        not (a.quote and b.quote) or words_of(a.quote) in words_of(b.quote) or words_of(b.quote) in words_of(a.quote)
    )
    change = not (one.change and other.change) or _alike(one.change, other.change)
    texts = {one.replacement, other.replacement} - {None}
    return lines and path and quote and change and len(texts) < 2


def _within(one: str, other: str) -> bool:
    """Whether the words of the one stand in the other, in a row."""
    first, second = (f" {words_of(text)} " for text in (one, other))
    return first in second or second in first


def _alike(one: str, other: str) -> bool:
    return max(overlap(one[:600], other[:600]), overlap(other[:600], one[:600])) >= 0.6


def _fuller(one: Finding, other: Finding) -> Finding:
    """Of two forms of one finding the one that says more; what only the other says is kept."""
    best, rest = (other, one) if len(other.issue + other.change) > len(one.issue + one.change) else (one, other)
    anchor = best.anchor if best.anchor != Anchor() else rest.anchor
    replacement = rest.replacement if best.replacement is None else best.replacement
    return replace(best, change=best.change or rest.change, anchor=anchor, replacement=replacement)


def _says_none(prose: list[str], under_headings: bool) -> bool:
    """Whether it is said in so many words that there is nothing, and not taken back afterwards."""
    text = "\n".join(prose)
    match = ABSENT.search(text)
    if match is None and is_nothing(text):
        return any(map(str.isalnum, text))
    if match is None:
        return under_headings and not BUT.search(text)
    return not BUT.search(text, match.end())
