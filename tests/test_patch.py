"""What findings would write instead, as a patch that git takes; and what excludes each other, listed and not made."""

from __future__ import annotations

import subprocess
from collections.abc import Sequence
from itertools import pairwise
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from council.reviews import locate
from council.reviews import patch as edits
from council.reviews.entries import Merged, RaisedFinding
from council.reviews.model import Anchor, Document, Finding, Ruling
from council.reviews.patch import Edits, apply, diff, propose

TEXT = "".join(f"line {number} of the text\n" for number in range(1, 31))
DOCUMENT = Document("spec.md", TEXT)


def said(document: Document, replacement: str | None, seat: str = "engineer", **anchor: object) -> RaisedFinding:
    finding = Finding("B1", "high", "it is wrong", "", Anchor(document.path, **anchor), replacement)  # type: ignore[arg-type]
    return RaisedFinding(seat, f"01-findings/{seat}", finding, locate.place(finding, [document]))


def merged(
    *members: RaisedFinding, id: str = "H1", status: str = "open", rulings: tuple[tuple[str, Ruling], ...] = ()
) -> Merged:
    return Merged(
        id=id,
        severity="high",
        severities={member.seat: "high" for member in members},
        members=members,
        issue="it is wrong",
        change="",
        place=members[0].place,
        fingerprint="0" * 16,
        rulings=rulings,
        status=status,
    )


def each(*members: RaisedFinding) -> list[Merged]:
    """A finding for each."""
    return [merged(member, id=f"H{number}") for number, member in enumerate(members, 1)]


def git(folder: Path, *args: str) -> None:
    settings = ("-c", "core.autocrlf=false", "-c", "apply.whitespace=nowarn", "-c", "safe.directory=*")
    done = subprocess.run(["git", *settings, *args], cwd=folder, capture_output=True, check=False)
    assert not done.returncode, done.stderr.decode()


def made(folder: Path, documents: Sequence[Document], found: Edits) -> None:
    """Has git make the patch in a new repository, and compares every file with what `apply` says."""
    folder.mkdir(exist_ok=True)
    git(folder, "init", "-q", ".")
    for document in documents:
        path = folder / document.path
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(document.text.encode("utf-8", "surrogateescape"))
    (folder / ".git" / "patch").write_bytes(diff(found, documents).encode("utf-8", "surrogateescape"))
    git(folder, "apply", "--check", ".git/patch")
    git(folder, "apply", ".git/patch")
    for document in documents:
        after = (folder / document.path).read_bytes().decode("utf-8", "surrogateescape")
        assert after == apply(found.edits, document)


def quoted(document: Document, *pairs: tuple[str, str]) -> Edits:
    found = propose(each(*(said(document, new, quote=old) for old, new in pairs)), [document])
    assert not found.conflicts
    return found


CASES = {
    "one word": (TEXT, [("line 7 of", "row 7 of")]),
    "first line": (TEXT, [("line 1 of the text", "another first line")]),
    "last line": (TEXT, [("line 30 of the text", "another last line")]),
    "before the first": (TEXT, [("line 1 of the text", "a title\n\nline 1 of the text")]),
    "after the last": (TEXT, [("line 30 of the text", "line 30 of the text\nand an end")]),
    "two lines into one": (TEXT, [("line 7 of the text\nline 8 of the text", "seven")]),
    "one line into three": (TEXT, [("line 7 of the text", "7a\n7b\n7c")]),
    "two in one hunk": (TEXT, [("line 7 of", "row 7 of"), ("line 9 of", "row\n9 of")]),
    "two in one line": (TEXT, [("line 7 of", "row 7 of"), ("the text\nline 8", "TEXT\nline 8")]),
    "neighbouring lines": (TEXT, [("line 7 of the text", "seven"), ("line 8 of the text", "eight")]),
    "neighbouring lines go": (TEXT, [("line 7 of the text", ""), ("line 8 of the text", ""), ("line 9 of", "")]),
    "seven lines apart": (TEXT, [("line 7 of", "7"), ("line 14 of", "14"), ("line 22 of the text", "")]),
    "far apart, growing": (TEXT, [("line 2 of", "x\ny\nz of"), ("line 29 of the text", ""), ("line 15 of", "")]),
    "a line goes": (TEXT, [("line 7 of the text", "")]),
    "the first line goes": (TEXT, [("line 1 of the text", "")]),
    "the last line goes": (TEXT, [("line 30 of the text", "")]),
    "no final newline": ("one thing\ntwo things", [("two things", "three things")]),
    "no final newline, far": ("first\n" * 9 + "two things", [("first\nfirst", "second")]),
    "no final newline, goes": ("one thing\ntwo things", [("two things", "")]),
    "no final newline, grows": ("one thing\ntwo things", [("two things", "two things\nthree")]),
    "only line": ("the only line\n", [("the only line", "another")]),
    "all goes": ("the only line\n", [("the only line", "")]),
    "all goes, no final newline": ("the only line", [("the only line", "")]),
    "windows": (
        TEXT.replace("\n", "\r\n"),
        [("line 7 of", "row 7 of"), ("line 9 of the text", "x\ny"), ("line 30 of the text", "")],
    ),
    "windows, no final newline": ("one thing\r\ntwo things", [("two things", "two things\nthree")]),
    "mixed line ends": ("one thing\r\ntwo things\nthree things\r\n", [("two things\nthree", "x\ny")]),
    "lone returns and form feeds": ("one\rthing\n\ftwo things\x0b\nthree\u2028things\x85\n", [("two things", "x")]),
    "blank lines": ("\n\none thing\n\n\ntwo things\n\n", [("one thing", "x\n\ny"), ("two things", "")]),
    "trailing space": ("one thing \ntwo things\t\n", [("one thing", ""), ("two things", "x ")]),
    "looks like a patch": (
        "--- a/x\n+++ b/x\n@@ -1 +1 @@\n-old line\n+new line\n\\ No newline\n",
        [("-old line", "--- /dev/null"), ("+new line", "@@ -9 +9 @@\n diff --git")],
    ),
    "not ASCII": ("Prüfung läuft\nnächste Zeile\n", [("Prüfung läuft", "Prüfung läuft täglich – „immer“")]),
    "undecodable": ("bad \udcff byte\nanother line\n", [("another line", "a new line")]),
}


@pytest.mark.parametrize("name", CASES)
def test_git_takes_the_patch(name: str, tmp_path: Path) -> None:
    text, pairs = CASES[name]
    document = Document("spec.md", text)
    found = quoted(document, *pairs)
    assert len(found.edits) == len(pairs)
    made(tmp_path, [document], found)


NAMES = ["a b.md", "prüfung.md", 'the "spec".md', "back\\slash.md", "tab\there.md", "docs/deep er/spec.md",
         "./docs/x.md", "日本.md", "-dash.md", "line\nbreak.md", "b/a/x.md", "bad\udcff.md"]  # fmt: skip


@pytest.mark.parametrize("name", NAMES)
def test_git_takes_any_name(name: str, tmp_path: Path) -> None:
    document = Document(name, TEXT)
    made(tmp_path, [document], Edits(quoted(document, ("line 7 of", "row 7 of")).edits))


def test_the_patch_to_the_letter() -> None:
    """Git is patient with line numbers that are not right; other readers are not."""
    document = Document("a b.md", TEXT)
    found = quoted(
        document, ("line 2 of the text", "two\nand more"), ("line 15 of the text", ""), ("line 29 of", "29 of")
    )
    patch = diff(found, [document])
    assert patch.startswith(
        "diff --git a/a b.md b/a b.md\n--- a/a b.md\t\n+++ b/a b.md\t\n@@ -1,5 +1,6 @@\n line 1 of the text\n"
    )
    heads = [line for line in patch.split("\n") if line.startswith("@@")]
    assert heads == ["@@ -1,5 +1,6 @@", "@@ -12,7 +13,6 @@", "@@ -26,5 +26,5 @@"]
    gone = diff(quoted(Document("a", "all of it\n"), ("all of it", "")), [Document("a", "all of it\n")])
    assert gone.endswith("\n@@ -1,1 +0,0 @@\n-all of it\n")


def test_new_lines_end_as_the_document_has_it() -> None:
    document = Document("a", "one thing\r\ntwo things\r\n")
    assert apply(quoted(document, ("one thing", "x\ny")).edits, document) == "x\r\ny\r\ntwo things\r\n"


def test_several_files_in_one_patch(tmp_path: Path) -> None:
    documents = [Document(name, TEXT) for name in ("a.md", "untouched.md", "b c/ü.md")]
    wanted = each(
        said(documents[2], "x", quote="line 3 of"), said(documents[0], "", first=1, last=3),
        said(documents[0], "y", quote="line 20 of the text"),
    )  # fmt: skip
    found = propose(wanted, documents)
    assert [edit.path for edit in found.edits] == ["a.md", "a.md", "b c/ü.md"]
    assert diff(found, documents).count("diff --git ") == 2
    made(tmp_path, documents, found)


def test_lines_are_replaced_whole() -> None:
    found = propose([merged(said(DOCUMENT, "x\ny\n", first=2, last=3))], [DOCUMENT])
    assert apply(found.edits, DOCUMENT) == TEXT.replace("line 2 of the text\nline 3 of the text\n", "x\ny\n")
    gone = propose([merged(said(DOCUMENT, "", first=2, last=3))], [DOCUMENT])
    assert apply(gone.edits, DOCUMENT) == TEXT.replace("line 2 of the text\nline 3 of the text\n", "")


def test_a_passage_within_a_line_leaves_the_line() -> None:
    found = quoted(DOCUMENT, (" of the text\nline 8", ""))
    assert apply(found.edits, DOCUMENT) == TEXT.replace("7 of the text\nline 8", "7 ")


def test_the_indentation_is_not_doubled() -> None:
    document = Document("a.yaml", "a:\n    key: old value\n")
    for new in ("    key: new value", "key: new value"):
        assert apply(quoted(document, ("key: old value", new)).edits, document) == "a:\n    key: new value\n"


OPTIONS = "# Keys\n\n1. Copy = copy the words.\n  - Undo = take back the last step\n3. Redo = do it again.\n"
REPEATED = {
    "a number": ("Copy = copy the words.", "1. Copy = copy the line.", "1. Copy = copy the line."),
    "a mark with its indentation": ("Undo = take back", "  - Undo = revert", "  - Undo = revert the last step"),
    "a mark without its indentation": ("Undo = take back", "- Undo = revert", "  - Undo = revert the last step"),
    "another mark": ("Redo = do it again.", "- Redo = repeat.", "- Redo = repeat."),
    "a number, and dots for the rest": ("Undo = …", "- Undo = revert all steps", "  - Undo = revert all steps"),
    "the words before": ("do it again.", "3. Redo = repeat it.", "3. Redo = repeat it."),
    "the words behind": ("Undo = take back", "Undo = revert the last step", "  - Undo = revert the last step"),
    "the point": ("Redo = do it again", "Redo = repeat.", "3. Redo = repeat."),
    "nothing": ("take back", "revert", "  - Undo = revert the last step"),
    "several lines": ("Copy = copy the words.", "1. Copy = copy.\n2. Cut = cut.", "1. Copy = copy.\n2. Cut = cut."),
}


@pytest.mark.parametrize("name", REPEATED)
def test_what_a_suggestion_repeats_of_its_line_is_not_doubled(name: str, tmp_path: Path) -> None:
    quote, new, line = REPEATED[name]
    document = Document("keys.md", OPTIONS)
    found = quoted(document, (quote, new))
    (edit,) = found.edits
    before = OPTIONS.splitlines()[edit.first - 1]
    assert apply(found.edits, document) == OPTIONS.replace(before, line)
    made(tmp_path, [document], found)


def test_a_cell_and_a_row_of_a_table() -> None:
    document = Document("t.md", "| key | does |\n|---|---|\n| undo | takes back |\n")
    for new in ("| undo | reverts |", "reverts", "reverts |"):
        assert apply(quoted(document, ("takes back", new)).edits, document).endswith("\n| undo | reverts |\n")


def test_dots_that_may_stand_for_more_than_the_rest_of_a_line_are_not_replaced() -> None:
    document = Document("t.md", "Undo = take back. Redo = do it again.\nCopy = copy the words.\n")
    assert not quoted(document, ("Undo = ...", "Undo = revert")).edits
    assert not quoted(document, ("Copy = ...", "Copy all = ...")).edits


def test_a_folded_or_fuzzy_quote_replaces_what_stands_there() -> None:
    document = Document("a", "It is kept for **30 seconds** at least, then it is dropped.\nNext.\n")
    folded = quoted(document, ("is kept for 30 seconds", "is kept for *a minute*"))
    assert apply(folded.edits, document).startswith("It is kept for *a minute* at least")
    fuzzy = quoted(document, ("It is held for 30 seconds at least, then it is dropped.", "It is dropped."))
    assert apply(fuzzy.edits, document) == "It is dropped.\nNext.\n"


@pytest.mark.parametrize(
    ("replacement", "anchor"),
    [
        (None, {"quote": "line 7 of"}),
        ("x", {"quote": "this is nowhere in the text"}),
        ("x", {"quote": "this is nowhere in the text", "first": 7}),
        ("x", {"first": 99}),
        ("x", {}),
        ("line 7 of", {"quote": "line 7 of"}),
        ("line 7 … of the words", {"quote": "line 7 … text"}),
    ],
)
def test_no_edit(replacement: str | None, anchor: dict[str, object]) -> None:
    assert propose([merged(said(DOCUMENT, replacement, **anchor))], [DOCUMENT]) == Edits()
    assert diff(Edits(), [DOCUMENT]) == ""


def test_the_dots_of_a_quote_are_replaced_where_the_new_text_is_whole() -> None:
    assert apply(quoted(DOCUMENT, ("line 7 … text", "seven")).edits, DOCUMENT) == TEXT.replace(
        "line 7 of the text", "seven"
    )


@pytest.mark.parametrize("status", ["withdrawn", "dismissed"])
def test_what_was_set_aside_is_not_edited(status: str) -> None:
    assert propose([merged(said(DOCUMENT, "x", quote="line 7 of"), status=status)], [DOCUMENT]) == Edits()


def test_who_withdrew_edits_no_more() -> None:
    both = (said(DOCUMENT, "x", quote="line 7 of"), said(DOCUMENT, "y", "designer", quote="line 7 of"))
    finding = merged(*both, rulings=(("engineer", Ruling("H1", "withdrawn")),))
    assert [(edit.seats, edit.new) for edit in propose([finding], [DOCUMENT]).edits] == [(("designer",), "y")]


def test_contested_findings_still_propose_theirs() -> None:
    assert propose([merged(said(DOCUMENT, "x", quote="line 7 of"), status="contested")], [DOCUMENT]).edits


def conflict(*members: RaisedFinding) -> list[tuple[str, ...]]:
    found = propose(each(*members), [DOCUMENT])
    assert "x" not in "".join(edit.new for edit in found.edits)
    return [tuple(edit.new for edit in group) for group in found.conflicts]


def test_overlapping_edits_are_listed_and_not_made() -> None:
    assert conflict(said(DOCUMENT, "x1", quote="line 7 of"), said(DOCUMENT, "x2", quote="line 7 of")) == [("x1", "x2")]
    assert conflict(said(DOCUMENT, "x1", quote="line 7 of"), said(DOCUMENT, "x2", quote="7 of the text")) == [
        ("x1", "x2")
    ]
    assert conflict(said(DOCUMENT, "x1", first=5, last=9), said(DOCUMENT, "", quote="line 7 of the text")) == [
        ("x1", "")
    ]
    within = [said(DOCUMENT, f"x{at}", first=at, last=last) for at, last in ((5, 9), (6, 6), (8, 8))]
    assert conflict(*within) == [("x5", "x6", "x8")]
    chain = ((1, 3), (3, 5), (5, 7))
    edges = [said(DOCUMENT, f"x{first}", first=first, last=last) for first, last in chain]
    assert conflict(*edges, said(DOCUMENT, "free", first=8)) == [("x1", "x3", "x5")]


def test_one_finding_whose_authors_differ_is_a_conflict() -> None:
    both = merged(said(DOCUMENT, "x1", quote="line 7 of"), said(DOCUMENT, "x2", "designer", quote="line 7 of"))
    found = propose([both], [DOCUMENT])
    assert not found.edits
    assert [[edit.seats for edit in group] for group in found.conflicts] == [[("engineer",), ("designer",)]]


def test_what_touches_does_not_overlap() -> None:
    found = propose(
        each(said(DOCUMENT, "row", quote="line 7"), said(DOCUMENT, " in", quote=" of the text\nline 8")), [DOCUMENT]
    )
    assert len(found.edits) == 2
    assert not found.conflicts


def test_identical_edits_are_one() -> None:
    same = each(
        said(DOCUMENT, "line 7 of a text", quote="line 7 of the text"),
        said(DOCUMENT, "line 7 of a text", "designer", quote="line 7 of the text"),
        said(DOCUMENT, "of a text\n", "writer", quote="of the text", first=7),
    )
    [edit] = propose(same, [DOCUMENT]).edits
    assert (edit.ids, edit.seats) == (("H1", "H2", "H3"), ("engineer", "designer", "writer"))


def test_hidden_characters_of_a_replacement_are_dropped() -> None:
    [edit] = quoted(DOCUMENT, ("line 7 of", "row\x1b[31m 7\x00\u202e of\r")).edits
    assert edit.new == "row 7 of"


def test_a_document_that_is_given_twice_is_edited_once() -> None:
    found = propose([merged(said(DOCUMENT, "x", quote="line 7 of"))], [DOCUMENT, DOCUMENT])
    assert len(found.edits) == 1
    assert diff(found, [DOCUMENT, DOCUMENT]).count("diff --git") == 1


TEXTS = st.text(alphabet="ab \n\r\t-+@\\é", max_size=60)


@settings(max_examples=60, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(TEXTS, st.lists(st.tuples(st.integers(1, 12), st.integers(0, 3), TEXTS), max_size=5))
def test_git_takes_whatever_comes_out(
    tmp_path_factory: pytest.TempPathFactory, text: str, wanted: list[tuple[int, int, str]]
) -> None:
    document = Document("a", text)
    members = [said(document, new, first=first, last=first + more) for first, more, new in wanted]
    found = propose(each(*members), [document])
    if found.edits:
        made(tmp_path_factory.mktemp("repository"), [document], found)


@given(TEXTS, st.lists(st.tuples(st.integers(1, 12), st.integers(0, 3), TEXTS), max_size=6))
def test_no_two_edits_share_a_character(text: str, wanted: list[tuple[int, int, str]]) -> None:
    document = Document("a", text)
    found = propose(each(*(said(document, new, first=at, last=at + more) for at, more, new in wanted)), [document])
    spans = sorted((edit.start, edit.end) for edit in found.edits)
    assert all(one[1] <= other[0] for one, other in pairwise(spans))
    assert all(len(group) > 1 for group in found.conflicts)
    assert all(edit.old == text[edit.start : edit.end] for edit in (*found.edits, *sum(found.conflicts, ())))
    assert edits.apply((), document) == text
