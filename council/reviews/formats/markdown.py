"""A review as Markdown."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Iterator

from council.reviews.entries import Merged
from council.reviews.formats.common import HOW, Review, flat, safe
from council.reviews.locate import Place
from council.reviews.model import SEVERITIES, Anchor
from council.reviews.rule import plain_id
from council.text import join_words, one_line

UNPARSED = "These pieces could not be read. They stand here as they were written."


def markdown(review: Review) -> str:
    """The list by severity; then what could not be read, who was not heard, and the chair's words."""
    parts = [f"# {title_of(review)}", counted(review)]
    parts += [f"## {heading}\n\n{text}" for heading, text in groups(review)]
    return "\n\n".join(parts) + "\n"


def title_of(review: Review) -> str:
    return _words(review.title) or "Review"


def groups(review: Review) -> Iterator[tuple[str, str]]:
    """The parts of the list, each with its heading."""
    for severity in SEVERITIES:
        if findings := [finding for finding in review.open if finding.severity == severity]:
            yield severity.capitalize(), "\n\n".join(_item(finding) for finding in findings)
    if review.set_aside:
        yield "Set aside", "\n\n".join(_item(finding) for finding in review.set_aside)
    if review.unparsed:
        pieces = [f"- {_words(seat)}:\n\n{_fenced(text, '  ')}" for seat, text in review.unparsed]
        yield "Unparsed", "\n\n".join([UNPARSED, *pieces])
    lists = (("Not heard", review.silent), ("No findings", review.none), ("Remarks", review.remarks))
    for heading, entries in lists:
        if entries:
            yield heading, "\n".join(f"- {_words(entry) or '(empty)'}" for entry in entries)
    if flat(review.summary):
        yield "Summary", _quoted(review.summary)


def counted(review: Review) -> str:
    counts = Counter(finding.severity for finding in review.open)
    said = [f"{counts[severity]} {severity}" for severity in SEVERITIES if counts[severity]]
    total = len(review.open)
    head = f"{total} finding{'s' if total != 1 else ''}" + (f": {join_words(said)}" if said else "") + "."
    head += "".join(
        f" {_words(part.id)} ({part.severity}) is listed under {_words(finding.id)}."
        for finding in review.open
        for part in finding.parts[1:]
    )
    return head + (f" Outcome: {outcome}." if (outcome := _words(review.outcome)) else "")


def _item(finding: Merged) -> str:
    change = f" \u2192 {words}" if (words := _words(finding.change)) else ""
    status = "" if finding.status == "open" else f" ({finding.status})"
    lines = [f"- **{_words(finding.id)}**{status}: {_words(finding.issue) or '(no words)'}{change}"]
    lines += [f"  - {line}" for line in _details(finding)]
    texts = [(said.seat, said.finding.replacement) for said in finding.members]
    for text in dict.fromkeys(text for _, text in texts if text is not None):
        by = _names(seat for seat, other in texts if other == text)
        lines.append(
            f"  - replacement by {by}:\n\n{_fenced(text, '    ')}"
            if text
            else f"  - replacement by {by}: none, the passage goes"
        )
    return "\n".join(lines)


def _details(finding: Merged) -> Iterator[str]:
    place = finding.place
    yield f"place: {_where(place, _anchor(finding))}"
    if place.passage.strip():
        yield f"text: \u201c{_words(one_line(safe(place.passage), 200))}\u201d"
    if finding.also:
        yield f"also: {_words(join_words(finding.also))}, which members said is the same"
    yield from map(_wording, finding.wordings[1:])
    if finding.inferred:
        yield f"severity inferred: nobody said plainly that it is {finding.severity}, so it fails no gate"
    yield f"raised by: {_names(said.seat for said in finding.members)}"
    if set(finding.supporters) != set(finding.seats):
        yield f"supporters: {_names(finding.supporters)}"
    if finding.disputed:
        said = [f"{severity} ({_names(seats)})" for severity, seats in _distribution(finding)]
        yield f"severity disputed: {join_words(said)}"
    for seat, ruling in finding.rulings:
        if ruling.word == "agree" and not _words(ruling.why):
            continue  # it is among the supporters
        of = f" of {_words(plain_id(ruling.id))}" if len(finding.wordings) > 1 else ""
        yield f"{_words(seat)}{of}: {_words(ruling.word)}" + (f": {why}" if (why := _words(ruling.why)) else "")
    for seat, pair in finding.pairings:
        said_of = f"{_words(seat)} of {_words(pair.id)}: {pair.word} {_words(pair.other)}"
        yield said_of + (f": {why}" if (why := _words(pair.why)) else "")


def _wording(one: Merged) -> str:
    change = f" \u2192 {words}" if (words := _words(one.change)) else ""
    about = f"{_words(one.id)}, {one.severity}; {_where(one.place, _anchor(one))}"
    return f"also put as, by {_names(one.seats)} ({about}): {_words(one.issue) or '(no words)'}{change}"


def _names(seats: Iterable[str]) -> str:
    names = [_words(seat) for seat in dict.fromkeys(seats)]
    return join_words(names) if names else "nobody"


def _distribution(finding: Merged) -> Iterator[tuple[str, list[str]]]:
    for severity in SEVERITIES:
        if seats := [seat for seat, said in finding.severities.items() if said == severity]:
            yield severity, seats


def _where(place: Place, anchor: Anchor) -> str:
    if place.how in HOW:
        return f"{_words(place.path)}, {_range(place.first, place.last)} ({HOW[place.how]})"
    if place.how == "missing":
        return f"**not found in the text**: {_words(_named(anchor)) or 'what the author names'}"
    return f"{_words(place.path)}, no passage named" if place.path else "none named"


def _anchor(finding: Merged) -> Anchor:
    """What the author named of a place that is not there."""
    named = (said.finding.anchor for said in finding.members if said.place == finding.place)
    return next(named, Anchor())


def _named(anchor: Anchor) -> str:
    lines = _range(anchor.first, max(anchor.first, anchor.last)) if anchor.first else ""
    passage = f"\u201c{one_line(quoted, 200)}\u201d" if (quoted := flat(anchor.quote)) else ""
    return ", ".join(part for part in (flat(anchor.path), lines, passage) if part)


def _range(first: int, last: int) -> str:
    return f"line {first}" if first == last else f"lines {first}\u2013{last}"


# A name in code, as people write it: nothing in it is a mark. One that holds an address is no name.
CODE = re.compile(r"(?<!`)(`(?! )(?![^`]{0,80}(?:https?:|ftp:|mailto:|www\.))[^`|]{1,80}(?<! )`)(?!`)", re.I)


def _words(text: str) -> str:
    """Words in one line of Markdown: what would be a mark is written with a backslash before it."""
    return "".join(part if at % 2 else _escaped(part, not at) for at, part in enumerate(CODE.split(flat(text))))


def _escaped(text: str, first: bool) -> str:
    plain = re.sub(r"[\\`*_\[\]<>#|~&$]", r"\\\g<0>", text)
    plain = re.sub(r"(?i)(https?|ftp|mailto|www)([:.])", r"\1\\\2", plain)  # else a bare address becomes a link
    return re.sub(r"^([-+=:]|\d{1,9}(?=[.)]))", _escape_first, plain) if first else plain


def _escape_first(match: re.Match[str]) -> str:
    return f"\\{match.group()}" if not match.group().isdigit() else f"{match.group()}\\"


def _fenced(text: str, margin: str) -> str:
    """A text as it stands, in a fence longer than any run of backticks in it."""
    lines = safe(text).strip("\n").split("\n")
    longest = max(map(len, re.findall(r"`+", "\n".join(lines))), default=0)
    fence = "`" * max(3, longest + 1)
    return "\n".join(f"{margin}{line}".rstrip() for line in (f"{fence}text", *lines, fence))


def _quoted(text: str) -> str:
    """Somebody's paragraphs, line by line, in a quotation that nothing in them can end."""
    return "\n".join(f"> {_words(line)}".rstrip() for line in safe(text).strip().split("\n"))
