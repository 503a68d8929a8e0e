"""Where a finding stands: what its author names, looked up in the documents' own text. Pure.

A passage is found, or it is not: what a place says of a line was seen there. Whether its author is right is not asked.
"""

from __future__ import annotations

import re
import unicodedata
from bisect import bisect_right
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from difflib import SequenceMatcher
from functools import cached_property, lru_cache

from council.reviews.model import Anchor, Document, Finding

# Letters and digits that a quote must have. Fewer ("id", "5 s") stand everywhere, so to find them says nothing.
SHORTEST = 4
# A quote with fewer than this may be any of several words: it must stand once, or the author's lines must say which.
PLAIN = 8
# The share of a quote's characters that must stand in the passage too, in the same order and by whole words. Of 200
# quotes with a slip in every eight words it finds 198, and 0.9 would 154; below 0.7 half-invented lines are found too.
FUZZY = 0.8
FUZZY_SHORTEST = 20  # letters and digits: a shorter quote that is nearly there may as well be something else
LONGEST = 400  # words: a longer quote that is not there to the letter is no quote
COMMON = 60  # a word that stands more often does not help to find a passage
GAP = 2_000  # characters that the dots of "this … that" may stand for
TRIES = 50  # places from which such a quote is tried

FOUND = ("exact", "folded", "fuzzy", "lines", "section")
TOKEN = re.compile(r"\w+|[^\w\s]")
DOTS = re.compile(r"[\[(]? ?\.{3,} ?[\])]?")  # of a folded text, where an ellipsis is three dots
MARKS = ("**", "__", "*", "_", "`")
SAME = str.maketrans(
    dict.fromkeys("\u2018\u2019\u201a\u201b\u2032\u2039\u203a", "'")
    | dict.fromkeys("\u201c\u201d\u201e\u201f\u2033\u00ab\u00bb", '"')
    | dict.fromkeys("\u2010\u2011\u2012\u2013\u2014\u2015\u2212", "-")
    | dict.fromkeys("*_`")
)
NUMBER = r"(?P<number>\d{1,3}(?:\.\d{1,3}){0,4})"
HEADED = re.compile(rf"^(?P<marks>#{{1,6}})[ \t]+(?:(?:§|section|chapter)?[ \t]*{NUMBER}\.?(?=[ \t):.]))?", re.M | re.I)
CLAUSED = re.compile(rf"^[ \t]*(?:§[ \t]*)?{NUMBER}[.):]?(?=[ \t]+\S)", re.M)
Span = tuple[int, int]


@dataclass(frozen=True)
class Place:
    """Where a finding stands, in the document's own lines and words.

    `how` is exact, folded or fuzzy for a quote; `lines` where only lines were given, and exist; `section` for a
    numbered section or clause, whole; `missing` where what
    the author names is not there (the lines are kept where at least they exist); `none` where no passage was named.
    `stretch` is where a found passage begins and ends in the document's text.
    """

    path: str = ""
    first: int = 0
    last: int = 0
    passage: str = ""
    how: str = "none"
    stretch: Span | None = field(default=None, compare=False, repr=False)

    @property
    def found(self) -> bool:
        return self.how in FOUND


def place(finding: Finding, documents: Sequence[Document]) -> Place:
    """Where the documents have what the finding names."""
    anchor = finding.anchor
    named = _named(anchor.path, documents)
    if anchor.quote.strip():
        return _quoted(anchor, named, documents) or _by_lines(anchor, named, quoted=True)
    if anchor.first:
        return _by_lines(anchor, named)
    if anchor.path.strip() and not named:
        return Place(how="missing")
    if anchor.section and (section := _section(anchor.section, named)):
        return section
    return Place(named[0].path if len(named) == 1 and anchor.path.strip() else "")


def span(place: Place, document: Document) -> Span | None:
    """Where a found passage begins and ends in its document's text."""
    text = _text(document.text)
    if not place.found or not place.passage or not 1 <= place.first <= text.count:
        return None
    start = document.text.find(place.passage, text.starts[place.first - 1])
    return (start, start + len(place.passage)) if start >= 0 and text.line(start) == place.first else None


def parts(quote: str) -> list[str]:
    """What a quote has before, between and after its dots, folded."""
    pieces = (piece.strip(" '\"") for piece in DOTS.split(_fold(quote)[0]))
    return [piece for piece in pieces if piece]


def lines(document: Document) -> int:
    """How many lines a document has, as an editor counts them."""
    return _text(document.text).count


def position(document: Document, offset: int) -> Span:
    """The line and the column of a character, both from 1; what follows the last line break is a line more."""
    text = _text(document.text)
    if offset == len(text.text) and text.text.endswith("\n"):
        return text.count + 1, 1
    line = text.line(offset)
    return line, offset - text.starts[line - 1] + 1


# --- files


def _named(path: str, documents: Sequence[Document]) -> list[Document]:
    """The documents that a path may mean: as it is written, in another case, or by the end of it alone."""
    wanted = _parts(path)
    if not wanted:
        return list(documents)
    folded = [part.casefold() for part in wanted]
    for same in (_equal, _tail):
        for parts, fold in ((wanted, False), (folded, True)):
            if hits := [document for document in documents if same(parts, _parts(document.path, fold))]:
                return hits
    return []


def _parts(path: str, fold: bool = False) -> list[str]:
    plain = unicodedata.normalize("NFC", path).strip().strip("`'\"*<>").replace("\\", "/")
    return [part for part in (plain.casefold() if fold else plain).split("/") if part not in ("", ".")]


def _equal(wanted: list[str], has: list[str]) -> bool:
    return wanted == has


def _tail(wanted: list[str], has: list[str]) -> bool:
    most = min(len(wanted), len(has))
    return bool(most) and wanted[-most:] == has[-most:]


# --- lines


def _by_lines(anchor: Anchor, named: list[Document], quoted: bool = False) -> Place:
    """The author's lines, where it is clear of which file they are. A quote that is not there stays missing."""
    path = named[0].path if len(named) == 1 else ""
    first, last = anchor.first, max(anchor.last, anchor.first)
    if not path or not 1 <= first <= last <= lines(named[0]):
        return Place(path, how="missing")
    if quoted and _size(anchor.quote) >= SHORTEST:
        return Place(path, first, last, "", "missing")
    text = _text(named[0].text)
    stretch = text.starts[first - 1], text.end(last)
    return Place(path, first, last, text.text[slice(*stretch)], "lines", stretch)


# --- sections


def _section(number: str, named: Sequence[Document]) -> Place | None:
    """The one section or clause that has this number, up to the next that is not below it."""
    for pattern in (HEADED, CLAUSED):
        found = [(document, at) for document in named for at in _numbered(document.text, pattern) if at[1] == number]
        if len(found) == 1:
            document, (start, _, level) = found[0]
            later = (at for at, other, depth in _numbered(document.text, pattern) if at > start and depth <= level)
            text = _text(document.text)
            first = text.line(start)
            last = text.line(next(later, len(document.text)) - 1)
            stretch = text.starts[first - 1], text.end(last)
            return Place(document.path, first, last, document.text[slice(*stretch)], "section", stretch)
    return None


@lru_cache(maxsize=64)
def _numbered(text: str, pattern: re.Pattern[str]) -> tuple[tuple[int, str, int], ...]:
    """Where each numbered section begins, its number, and how deep it is; headings without a number end one too."""
    return tuple(
        (match.start(), match["number"] or "", len(match["marks"]) if "marks" in match.groupdict() else _depth(match))
        for match in pattern.finditer(text)
    )


def _depth(match: re.Match[str]) -> int:
    return match["number"].count(".") + 1


# --- quotes


def _quoted(anchor: Anchor, named: list[Document], documents: Sequence[Document]) -> Place | None:
    """The quote in the files that are named; else to the word in any other."""
    if _size(anchor.quote) < SHORTEST:
        return None
    others = [document for document in documents if document not in named]
    for how, look in (("exact", _exact), ("folded", _folded), ("fuzzy", _fuzzy)):
        for document in named:
            if found := _nearest(look(_text(document.text), anchor.quote), anchor, document):
                return _place(document, found, how)
    for how, look in (("exact", _exact), ("folded", _folded)):
        for document in others:
            if found := _nearest(look(_text(document.text), anchor.quote), Anchor(quote=anchor.quote), document):
                return _place(document, found, how)
    return None


def _place(document: Document, found: Span, how: str) -> Place:
    start, end = found
    text = _text(document.text)
    return Place(document.path, text.line(start), text.line(end - 1), document.text[start:end], how, found)


def _nearest(spans: list[Span], anchor: Anchor, document: Document) -> Span | None:
    """Of the places where a quote stands the nearest to the given lines, else the first."""
    if len(spans) > 1 and not anchor.first and _size(anchor.quote) < PLAIN:
        return None
    text = _text(document.text)
    if not anchor.first:
        return spans[0] if spans else None
    return min(spans, key=lambda found: abs(text.line(found[0]) - anchor.first), default=None)


def _size(quote: str) -> int:
    return sum(map(str.isalnum, quote))


def _exact(text: _Text, quote: str) -> list[Span]:
    wanted = quote.strip()
    return _bounded(text.text, list(_everywhere(text.text, wanted)), _size(wanted) < PLAIN)


def _everywhere(text: str, wanted: str) -> Iterator[Span]:
    at = text.find(wanted) if wanted else -1
    while at >= 0:
        yield at, at + len(wanted)
        at = text.find(wanted, at + len(wanted))


def _bounded(text: str, spans: list[Span], only: bool) -> list[Span]:
    """Those that begin and end with a word; others only if there are none, and never for a short quote."""
    whole = [found for found in spans if not _cuts(text, found[0]) and not _cuts(text, found[1])]
    return whole if whole or only else spans


def _cuts(text: str, at: int) -> bool:
    return 0 < at < len(text) and text[at - 1].isalnum() and text[at].isalnum()


def _folded(text: _Text, quote: str) -> list[Span]:
    """But for case, spacing, Unicode form, the shape of quotes and dashes, and emphasis; or with dots in it."""
    plain = _fold(quote)[0].strip()
    pieces = parts(quote)
    for wanted in dict.fromkeys((plain, plain.strip(" '\""), *(pieces if len(pieces) == 1 else ()))):
        spans = list(_everywhere(text.folded, wanted))
        if spans := _bounded(text.folded, spans, _size(wanted) < PLAIN):
            return [text.source(*found) for found in spans]
    return [text.source(*found) for found in _elided(text.folded, pieces)]


def _elided(text: str, pieces: list[str]) -> Iterator[Span]:
    """`this … that`: the pieces after one another, each one near. The first and the last must mean something."""
    sizes = list(map(_size, pieces))
    if len(pieces) < 2 or min(sizes[0], sizes[-1]) < SHORTEST or sum(sizes) < PLAIN:
        return
    for (start, end), _ in zip(_everywhere(text, pieces[0]), range(TRIES), strict=False):
        at = end
        for piece in pieces[1:]:
            found = text.find(piece, at, at + GAP + len(piece))
            if found < 0:
                break
            at = found + len(piece)
        else:
            yield start, at


# --- nearly


def _fuzzy(text: _Text, quote: str) -> list[Span]:
    """The passages that are most like the quote, and enough."""
    words = TOKEN.findall(_fold(quote)[0].strip(" '\""))
    if _size(quote) < FUZZY_SHORTEST or len(words) > LONGEST:
        return []
    matcher = SequenceMatcher(None, autojunk=False)
    matcher.set_seq2(words)
    likes = [_like(text, matcher, words, *window) for window in _windows(text, words)]
    best = max((ratio for ratio, _ in likes), default=0.0)
    if best < FUZZY:
        return []
    return sorted({found for ratio, found in likes if ratio == best})


def _windows(text: _Text, words: list[str]) -> Iterator[Span]:
    """Stretches of the document that share many of the quote's rarer words, in about the same order."""
    step = max(2, len(words) // 4)
    votes: Counter[int] = Counter()
    for number, word in enumerate(words):
        places = text.index.get(word, ()) if len(word) > 2 else ()
        for at in places if len(places) <= COMMON else ():
            votes[(at - number) // step] += len(word)
    scores = {bucket: votes[bucket] + votes.get(bucket + 1, 0) for bucket in list(votes)}
    enough = 0.3 * sum(map(len, words))
    for bucket, score in sorted(scores.items(), key=lambda pair: (-pair[1], pair[0]))[:4]:
        if score >= enough:
            yield max(0, (bucket - 1) * step), (bucket + 3) * step + len(words)


def _like(text: _Text, matcher: SequenceMatcher[str], words: list[str], lo: int, hi: int) -> tuple[float, Span]:
    """How like the quote the best part of a stretch is, and where that part is in the source."""
    window = [text.folded[start:end] for start, end in text.tokens[lo:hi]]
    matcher.set_seq1(window)
    blocks = [block for block in matcher.get_matching_blocks() if block.size]
    whole = sum(map(len, words))
    best, kept, inner, outer = 0.0, 0, (0, 0), (0, 0)
    for number, one in enumerate(blocks):
        same = 0
        for other in blocks[number:]:
            same += sum(map(len, window[other.a : other.a + other.size]))
            taken = sum(map(len, window[one.a : other.a + other.size]))
            if (ratio := 2 * same / (whole + taken)) > best:
                before, after = one.b, len(words) - other.b - other.size
                best, kept, inner = ratio, same, (lo + one.a, lo + other.a + other.size)
                outer = (inner[0] - before, inner[1] + after)
    if not best:
        return 0.0, inner
    first, last = _grown(text, inner, outer)
    taken = sum(end - start for start, end in text.tokens[first:last])
    return 2 * kept / (whole + taken), text.source(text.tokens[first][0], text.tokens[last - 1][1])


def _grown(text: _Text, inner: Span, outer: Span) -> Span:
    """The part with the words at its ends that stand for other words of the quote, if they are of its sentence."""
    first, last = inner
    while first > max(0, outer[0]) and not text.breaks(first - 1, first):
        first -= 1
    while last < min(len(text.tokens), outer[1]) and not text.breaks(last - 1, last):
        last += 1
    return first, last


# --- a document, ready to be searched


class _Folds(dict[int, str]):
    """What each character is folded to. Empty for what takes no room, or only dresses the text."""

    def __missing__(self, code: int) -> str:
        char = chr(code)
        plain = unicodedata.normalize("NFKD", char).casefold().translate(SAME)
        hidden = unicodedata.category(char) in ("Cf", "Cs") or char == "\u00ad"
        self[code] = "" if hidden else " " if plain.isspace() else plain
        return self[code]


FOLDS = _Folds()


def _fold(text: str) -> tuple[str, list[int]]:
    """The text with nothing in it that a copyist may change, and for each of its characters where it was."""
    out: list[str] = []
    places: list[int] = []
    before = " "
    for at, char in enumerate(text):
        for one in FOLDS[ord(char)]:
            if one != " " or before != " ":
                out.append(one)
                places.append(at)
                before = one
    return "".join(out), places


class _Text:
    def __init__(self, text: str) -> None:
        self.text = text
        self.starts = [0, *(match.end() for match in re.finditer("\n", text))]
        if self.starts[-1] == len(text):
            self.starts.pop()  # a last line break begins no line
        self.count = len(self.starts)

    def line(self, offset: int) -> int:
        return max(1, bisect_right(self.starts, offset))

    def end(self, line: int) -> int:
        """Where a line ends, before its line break."""
        end = self.starts[line] - 1 if line < self.count else len(self.text) - self.text.endswith("\n")
        return end - (self.text[end : end + 1] == "\n" and self.text.endswith("\r", self.starts[line - 1], end))

    @cached_property
    def _both(self) -> tuple[str, list[int]]:
        return _fold(self.text)

    @property
    def folded(self) -> str:
        return self._both[0]

    def source(self, start: int, end: int) -> Span:
        """Where a stretch of the folded text is in the source, with the emphasis that begins or ends at its edges."""
        places = self._both[1]
        first, last = places[start], places[end - 1] + 1
        for mark in MARKS:
            if self.text.count(mark, first, last) % 2:
                if self.text.endswith(mark, 0, first):
                    first -= len(mark)
                elif self.text.startswith(mark, last):
                    last += len(mark)
        return first, last

    @cached_property
    def tokens(self) -> list[Span]:
        return [match.span() for match in TOKEN.finditer(self.folded)]

    @cached_property
    def index(self) -> dict[str, list[int]]:
        found: dict[str, list[int]] = {}
        for number, (start, end) in enumerate(self.tokens):
            found.setdefault(self.folded[start:end], []).append(number)
        return found

    def breaks(self, one: int, other: int) -> bool:
        """Whether a sentence or a line ends between two neighbouring words."""
        places = self._both[1]
        start, end = self.tokens[one][1], self.tokens[other][0]
        return self.folded[start - 1] in ".!?" or "\n" in self.text[places[start - 1] : places[end]]


@lru_cache(maxsize=256)
def _text(text: str) -> _Text:
    return _Text(text)
