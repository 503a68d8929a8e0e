"""Where a finding stands: by its quote, however it was copied; by its lines; or nowhere, and then it says so."""

from __future__ import annotations

import random
import unicodedata

import pytest
from hypothesis import given
from hypothesis import strategies as st

from council.reviews import locate
from council.reviews.locate import Place, place
from council.reviews.model import Anchor, Document, Finding
from council.reviews.parse.findings import read

SPEC = """# The cache

Entries are kept for **30 seconds**, unless the caller asks for more.
A miss is answered from the origin; the origin's answer is stored.

The client retries three times, with a pause of “one second” – no longer.
Each try has the timeout of the first.
* `max_entries` is 10\u00a0000

## Purging

A purge removes the entry at once, and only on this node.
The client retries three times, with a pause of “one second” – no longer.
"""
DOCUMENT = Document("docs/cache.md", SPEC)
OTHER = Document("docs/queue.md", "# The queue\n\nA worker takes a job and holds a lease of ten minutes on it.\n")


def put(documents: list[Document] | None = None, **anchor: object) -> Place:
    finding = Finding("B1", "blocking", "it is wrong", anchor=Anchor(**anchor))  # type: ignore[arg-type]
    return place(finding, [DOCUMENT] if documents is None else documents)


@pytest.mark.parametrize(
    ("quote", "how", "line", "passage"),
    [
        ("A miss is answered from the origin", "exact", 4, "A miss is answered from the origin"),
        ("  kept for **30 seconds**,\n", "exact", 3, "kept for **30 seconds**,"),
        ("Entries are kept for 30 seconds, unless", "folded", 3, "Entries are kept for **30 seconds**, unless"),
        ("**30 seconds**", "exact", 3, "**30 seconds**"),
        ("*30 seconds*", "exact", 3, "*30 seconds*"),
        ("30 seconds, unless the caller", "folded", 3, "**30 seconds**, unless the caller"),
        ("entries   are\n kept", "folded", 3, "Entries are kept"),
        ('pause of "one second" - no longer', "folded", 6, "pause of “one second” – no longer"),
        ("pause of «one second» — no longer", "folded", 6, "pause of “one second” – no longer"),
        ("max_entries is 10 000", "folded", 8, "`max_entries` is 10\u00a0000"),
        ("max\u200b_entries is 10\ufeff 000", "folded", 8, "`max_entries` is 10\u00a0000"),
        ("“Each try has the timeout”", "folded", 7, "Each try has the timeout"),
        ("Each try … of the first.", "folded", 7, "Each try has the timeout of the first."),
        ("Each try [...] of the first.", "folded", 7, "Each try has the timeout of the first."),
        (
            "A miss is answered … stored.",
            "folded",
            4,
            "A miss is answered from the origin; the origin's answer is stored.",
        ),
        ("...removes the entry at once...", "folded", 12, "removes the entry at once"),
        ("A purge deletes the entry at once, and only on this node.", "fuzzy", 12, None),
        ("A purge will remove the entry at once and only on this node", "fuzzy", 12, None),
        ("Every try has the timeout of the first.", "fuzzy", 7, "Each try has the timeout of the first."),
    ],
)
def test_a_quote_is_found(quote: str, how: str, line: int, passage: str | None) -> None:
    found = put(quote=quote)
    assert (found.how, found.first, found.path) == (how, line, "docs/cache.md")
    assert found.passage in SPEC
    assert passage is None or found.passage == passage


@pytest.mark.parametrize(
    "quote",
    [
        "Sessions are encrypted with a key of the tenant",
        "The entry removes a purge",
        "on",  # it stands there, but says nothing
        "the …",
        "30",
        "stored. … A miss is answered",  # the wrong way round
        "retr",  # a part of a word
        "The client holds the lease and renews it after a pause of one second",
    ],
)
def test_a_quote_that_is_not_there_is_missing(quote: str) -> None:
    assert put(quote=quote) == Place("docs/cache.md", how="missing")


def test_a_quote_that_is_not_there_is_missing_with_lines_too() -> None:
    """Its lines are shown, but they are not what the author speaks of."""
    assert put(quote="Sessions are encrypted", first=3, last=4) == Place("docs/cache.md", 3, 4, "", "missing")
    assert put(quote="Sessions are encrypted", first=3, last=40) == Place("docs/cache.md", how="missing")


def test_a_quote_that_is_too_short_leaves_it_to_the_lines() -> None:
    found = put(quote="30", first=3)
    assert (found.how, found.first, found.last) == ("lines", 3, 3)


def test_a_quote_that_stands_twice_is_the_nearest_or_the_first() -> None:
    quote = "The client retries three times"
    assert [put(quote=quote, first=line).first for line in (0, 1, 6, 8, 11, 99)] == [6, 6, 6, 6, 13, 13]
    assert [put(quote=quote.upper(), first=line).first for line in (0, 5, 12)] == [6, 6, 13]


def test_a_short_quote_that_stands_twice_needs_its_lines() -> None:
    assert put(quote="entry").how == "exact"
    twice = [Document("a.md", "the manager\nthe manager\n")]
    assert put(twice, quote="manager").how == "missing"
    assert put(twice, quote="manager", first=2) == Place("a.md", 2, 2, "manager", "exact")


def test_lines() -> None:
    assert put(first=3) == Place("docs/cache.md", 3, 3, SPEC.split("\n")[2], "lines")
    assert put(first=3, last=4).passage == "\n".join(SPEC.split("\n")[2:4])
    assert put(first=13).how == "lines"


@pytest.mark.parametrize(("first", "last"), [(14, 14), (13, 14), (999, 0), (10**9, 10**9), (-1, 3)])
def test_lines_out_of_range_are_missing(first: int, last: int) -> None:
    assert put(first=first, last=last) == Place("docs/cache.md", how="missing")


@pytest.mark.parametrize(
    ("text", "count", "second"),
    [
        ("a\nb\nc", 3, "b"),
        ("a\nb\nc\n", 3, "b"),
        ("a\r\nb\r\n", 2, "b"),
        ("a\r\nb", 2, "b"),
        ("a\fa\u2028a\x85a\x0ba\nb\n", 2, "b"),
        ("a\n\n", 2, ""),
        ("a\n\r\n", 2, ""),
    ],
)
def test_lines_are_those_of_an_editor(text: str, count: int, second: str) -> None:
    document = Document("a", text)
    assert locate.lines(document) == count
    assert put([document], first=2).passage == second
    assert put([document], first=count + 1).how == "missing"


def test_an_empty_document_has_no_lines() -> None:
    assert locate.lines(Document("a", "")) == 0
    assert put([Document("a", "")], first=1).how == "missing"
    assert put([Document("a", "")], quote="something").how == "missing"


def test_nothing_named_is_none_and_a_file_alone_too() -> None:
    assert put() == Place()
    assert put(path="cache.md") == Place("docs/cache.md")
    assert put(path="unknown.md") == Place(how="missing")
    assert put([], quote="something") == Place(how="missing")


PATHS = (
    *("docs/cache.md", "./docs/cache.md", "cache.md", "Cache.MD", "DOCS/cache.md", "`docs/cache.md`", "docs\\cache.md"),
    *("/repository/docs/cache.md", " docs//cache.md "),
)


@pytest.mark.parametrize("path", PATHS)
def test_a_path_is_read_as_people_write_it(path: str) -> None:
    assert put([OTHER, DOCUMENT], path=path, first=3).path == "docs/cache.md"


def test_a_path_in_another_unicode_form() -> None:
    document = Document(unicodedata.normalize("NFD", "prüfung.md"), "eins\nzwei\n")
    assert put([document], path=unicodedata.normalize("NFC", "prüfung.md"), first=2).passage == "zwei"


def test_an_ambiguous_path_is_the_exact_one_or_decided_by_the_quote() -> None:
    same = [
        Document("a/spec.md", "one line here\n"),
        Document("b/spec.md", "another line here\n"),
        Document("spec.md", "x\n"),
    ]
    assert put(same, path="spec.md", first=1).path == "spec.md"
    assert put(same[:2], path="spec.md", first=1) == Place(how="missing")
    assert put(same[:2], path="spec.md", quote="another line").path == "b/spec.md"
    assert put(same[:2], path="SPEC.md", quote="one line here").path == "a/spec.md"
    assert put([Document("A.md", "x\ny\n"), Document("a.md", "z\n")], path="a.md", first=1).passage == "z"


def test_the_end_of_a_name_is_no_name() -> None:
    assert put(path="che.md", first=1).how == "missing"


def test_a_quote_is_found_in_another_file_to_the_word_alone() -> None:
    both = [DOCUMENT, OTHER]
    assert put(both, path="docs/cache.md", quote="holds a lease of ten minutes").path == "docs/queue.md"
    assert put(both, path="nowhere.md", quote="Holds a LEASE of ten minutes").path == "docs/queue.md"
    nearly = "A worker grabs a job and holds a lease of ten minutes on it."
    assert put(both, path="docs/queue.md", quote=nearly).how == "fuzzy"
    assert put(both, path="docs/cache.md", quote=nearly).how == "missing"
    assert put(both, quote=nearly).how == "fuzzy"


def test_a_line_number_does_not_say_where_a_quote_is_in_another_file() -> None:
    text = "the same passage\n" * 3
    documents = [DOCUMENT, Document("b.md", text)]
    assert put(documents, path="docs/cache.md", first=3, quote="the same passage").first == 1


def test_windows_line_ends_are_no_part_of_a_passage() -> None:
    document = Document("a", "one line\r\nand the next one\r\nlast line\r\n")
    assert put([document], quote="one line\nand the next one").passage == "one line\r\nand the next one"
    assert put([document], quote="and the next one").passage == "and the next one"
    assert put([document], first=1, last=2).passage == "one line\r\nand the next one"


def test_composed_and_decomposed_letters_are_the_same() -> None:
    document = Document("a", unicodedata.normalize("NFD", "Die Prüfung läuft täglich.\n"))
    found = put([document], quote="Die Prüfung läuft")
    assert found.how == "folded"
    assert unicodedata.normalize("NFC", found.passage) == "Die Prüfung läuft"


def test_a_quote_in_other_capitals_that_grow() -> None:
    """Folding may make one character into two: the passage is still whole characters of the text."""
    document = Document("a", "Die Straße ist gesperrt: ﬁnal.\n")
    assert put([document], quote="STRASSE IST GESPERRT: FINAL").passage == "Straße ist gesperrt: ﬁnal"


@pytest.mark.parametrize("text", ["aaaa " * 50_000, "a" * 200_000, "ab… " * 50_000, "x y " * 50_000])
@pytest.mark.parametrize(
    "quote",
    [
        "aaaa " * 5_000,
        "a…" * 5_000,
        "a" + " " * 50_000 + "b",
        "a " + "( " * 20_000,
        "aaaa … ab … xxxx",
        "y x " * 90 + "quite different",
    ],
)
def test_hostile_repetition_ends_soon(text: str, quote: str) -> None:
    assert put([Document("a", text)], quote=quote).how in ("exact", "folded", "fuzzy", "missing")


@given(st.text(max_size=200), st.text(max_size=60), st.integers(-3, 30), st.integers(-3, 30))
def test_what_is_found_stands_there(text: str, quote: str, first: int, last: int) -> None:
    document = Document("a", text)
    found = put([document], quote=quote, first=first, last=last)
    assert found.passage in text
    if found.found and found.passage:
        at = locate.span(found, document)
        assert at is not None
        assert text[slice(*at)] == found.passage
        assert locate.position(document, at[0])[0] == found.first
        assert found.last == found.first + found.passage.rstrip("\n").count("\n") or found.how == "fuzzy"


@given(st.text(alphabet="ab \n\r*_`“é", min_size=1, max_size=80), st.data())
def test_whatever_is_copied_is_found(text: str, data: st.DataObject) -> None:
    start = data.draw(st.integers(0, len(text)))
    quote = text[start : data.draw(st.integers(start, len(text)))]
    if sum(map(str.isalnum, quote)) >= locate.PLAIN:
        assert put([Document("a", text)], quote=quote).how == "exact"


def spec(seed: int, lines: int, words: int = 10) -> str:
    """A text as wordy as a specification: some words in every line, most of them rare."""
    dice = random.Random(seed)
    pool = ["".join(dice.choices("abcdefghijklmnoprstuvw", k=dice.randint(3, 11))) for _ in range(1_500)]
    common = "the a of and is must be in to for not it".split()
    return "".join(
        " ".join(dice.choice(common if dice.random() < 0.35 else pool) for _ in range(words)) + ".\n"
        for _ in range(lines)
    )


def slipped(quote: str, dice: random.Random) -> str:
    """One word in eight another, left out or put in: what a model does that quotes from memory."""
    words = quote.split()
    for _ in range(max(1, len(words) // 8)):
        at = dice.randrange(len(words))
        words[at : at + 1] = dice.choice(([], ["otherwise"], [words[at], "also"]))
    return " ".join(words)


def test_the_threshold_finds_slips_and_refuses_strangers() -> None:
    """Measured on 200 quotes with slips and 200 of another text of the same words' shapes; see FUZZY."""
    dice = random.Random(5)
    document, stranger = Document("a", spec(1, 2_000)), spec(2, 2_000).split("\n")
    lines = document.text.split("\n")
    right = strange = 0
    for _ in range(200):
        at = dice.randrange(1_990)
        right += put([document], quote=slipped(" ".join(lines[at : at + 2]), dice)).first == at + 1
        strange += put([document], quote=" ".join(stranger[at : at + 2])).found
    print(f"with slips: {right}/200 placed on their line; of another text: {strange}/200 placed")
    assert right >= 190
    assert strange == 0


def test_a_passage_that_is_nearly_there_stays_in_its_sentence() -> None:
    document = Document("a", "It ends here. The cache keeps every single entry for an hour. Next one.\n")
    found = put([document], quote="Surely the cache keeps every single entry for an hour, always")
    assert found.passage == "The cache keeps every single entry for an hour."


def test_what_follows_the_last_line_break_is_on_the_next_line() -> None:
    assert [locate.position(Document("a", "x\n"), at) for at in (0, 1, 2)] == [(1, 1), (1, 2), (2, 1)]


def test_a_rule_is_not_taken_for_its_neighbour() -> None:
    document = Document("a", "A session expires after 10 minutes.\nA lock is held for one hour at most.\n")
    assert put([document], quote="A session expires after 5 seconds").how == "missing"


NUMBERED = Document(
    "rfc.md",
    "# The protocol\n\n## 2 Messages\n\n### 2.1 Order\n\nMessages come in order.\n\n"
    "### 2.3 Retention\n\nThey are kept.\nFor 7 days.\n\n## 3. Keys\n\nOne key.\n\n"
    "## Appendix\n\n23.1 The archive keeps 3 days.\n23.2 Nobody reads it.\n",
)


@pytest.mark.parametrize(
    ("text", "lines"),
    [
        ("(§2.3) They are kept too long.", (9, 13)),
        ("(2.3) They are kept too long.", (9, 13)),
        ("(rfc.md, section 2.3) They are kept too long.", (9, 13)),
        ("Section 2 says nothing about size.", (3, 13)),
        ("(clause 23.1) Three days are too few.", (20, 20)),
        ("The key of section 3 never changes.", (14, 17)),
        ("(§9.9) Nobody says who pays for it.", (0, 0)),
        ("(2.3 seconds) They are kept too long.", (0, 0)),
        ("They are kept too long; section 3 even says so.", (0, 0)),
    ],
)
def test_the_number_of_a_section_is_a_place(text: str, lines: tuple[int, int]) -> None:
    (item,) = read(f"**HIGH:**\n- H1: {text} → Say so.\n").items
    found = place(item, [NUMBERED])
    assert (found.first, found.last) == lines
    assert found.how == ("section" if lines[0] else "none") or (found.path and not lines[0])


def test_a_quotation_in_a_quotation_is_read_to_the_outer_one() -> None:
    document = Document("a.md", 'Intro.\nThe field "at" is the time of the event.\n')
    (item,) = read('**HIGH:**\n- H1: "The field "at" is the time of the event." Which zone? → UTC.\n').items
    assert item.anchor.quote == 'The field "at" is the time of the event.'
    assert place(item, [document]).first == 2
    (item,) = read('**HIGH:**\n- H1: "The field of it" and "the other field of it" differ. → One.\n').items
    assert item.anchor.quote == "The field of it"
