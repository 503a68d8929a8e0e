"""Lists of findings as members really write them: each reply in tests/replies/ beside the answers that a person read.

Every third reply was held out: the reader was written without looking at it. Both figures are printed.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from council.reviews.model import (
    FORMAT,
    RULING_FORMAT,
    SEVERITIES,
    WORDS,
    Finding,
)
from council.reviews.parse.duplicates import judged, pairings
from council.reviews.parse.findings import read
from council.reviews.parse.rulings import rulings
from council.reviews.parse.tally import approves, counts_in
from council.text import fold
from tests.growth import compare
from tests.review_shapes import SHAPES, Shape, Written, replies

FOLDER = Path(__file__).parent / "replies"
NAMES = sorted(path.stem for path in FOLDER.glob("*.md"))
HELD_OUT = NAMES[2::3]
BRIEF = f"A specification:\n\nRetries are limited to five.\n\n{FORMAT}\n{RULING_FORMAT}"


def reply(name: str) -> tuple[str, dict[str, Any]]:
    return (FOLDER / f"{name}.md").read_text(encoding="utf-8"), json.loads(
        (FOLDER / f"{name}.json").read_text(encoding="utf-8")
    )


def plain(text: str) -> str:
    return fold(re.sub(r"[*`]|\\", "", text))


def is_told(finding: Finding, told: dict[str, Any], others: list[dict[str, Any]]) -> bool:
    """Whether the finding is what the person read: its own words in its own fields, and nobody else's."""
    issue, change = plain(finding.issue), plain(finding.change)
    wanted = plain(told.get("change", ""))
    if plain(told["issue"]) not in issue or finding.severity != told["severity"]:
        return False
    if wanted not in change or bool(wanted) != bool(change) or (len(wanted) > 12 and wanted in issue):
        return False
    if told.get("number", finding.number).upper() != finding.number.upper():
        return False
    return not any(len(other["issue"]) > 12 and plain(other["issue"]) in issue for other in others if other is not told)


def places(finding: Finding, told: dict[str, Any]) -> list[str]:
    """What is wrong with the finding's place or replacement."""
    anchor = finding.anchor
    read_ = {
        "path": anchor.path,
        "lines": [anchor.first, anchor.last],
        "quote": anchor.quote,
        "replacement": finding.replacement,
    }
    wrong = [
        f"{key}: {value!r} in place of {told[key]!r}" for key, value in read_.items() if told.get(key, value) != value
    ]
    return wrong + (["a replacement"] if finding.replacement is not None and "replacement" not in told else [])


def compared(name: str) -> tuple[int, list[str], list[str]]:
    """How many findings of a reply were read right; which were not; and what was read that nobody wrote."""
    text, told = reply(name)
    items = list(read(text, BRIEF).items)
    right, missed = 0, []
    for answer in told.get("findings", []):
        match = next((item for item in items if is_told(item, answer, told["findings"])), None)
        if match is None:
            missed.append(answer["issue"])
        else:
            right += 1
            items.remove(match)
    return right, missed, [f"{item.severity} {item.issue}" for item in items]


def figures(names: list[str]) -> tuple[int, int, list[str], list[str]]:
    right, missed, invented = 0, [], []
    for name in names:
        found, lost, new = compared(name)
        right += found
        missed += [f"{name}: {piece}" for piece in lost]
        # What was read otherwise than by the person is missed, not invented: its words stand in the reply.
        invented += [f"{name}: {piece}" for piece in new[len(lost) :]]
    return right, right + len(missed), missed, invented


@pytest.mark.parametrize("names", [NAMES, HELD_OUT], ids=["all", "held-out"])
def test_what_members_write_is_read(names: list[str]) -> None:
    right, total, missed, invented = figures(names)
    print(f"\n{len(names)} replies: {right} of {total} findings right ({right / total:.1%}), {len(invented)} invented")
    assert right / total >= 0.98, missed
    assert not invented


def test_there_is_enough_to_read() -> None:
    told = [reply(name)[1] for name in NAMES]
    assert len(NAMES) >= 90
    assert sum(len(answers.get("findings", [])) for answers in told) >= 300
    assert sum(bool(answers.get("rulings")) for answers in told) >= 15


@pytest.mark.parametrize("name", NAMES)
def test_each_reply(name: str) -> None:
    """What is no figure: places, replacements, rulings, what could not be read, and who says that there is nothing."""
    text, told = reply(name)
    found = read(text, BRIEF)
    wrong = [
        problem
        for answer in told.get("findings", [])
        for item in found.items
        if is_told(item, answer, told["findings"])
        for problem in places(item, answer)
    ]
    assert not wrong
    left = [plain(piece) for piece in found.unparsed]
    assert len(left) == len(told.get("unparsed", [])), found.unparsed
    assert all(any(plain(piece) in text for text in left) for piece in told.get("unparsed", []))
    assert found.none == told["none"]
    ruled = rulings(text, BRIEF)
    assert {(ruling.id, ruling.word) for ruling in ruled} == {(r["id"], r["word"]) for r in told.get("rulings", [])}
    reasons = {ruling.id: plain(ruling.why) for ruling in ruled}
    assert all(plain(r.get("why", "")) in reasons[r["id"]] for r in told.get("rulings", []))


@pytest.mark.parametrize("brief", ["", BRIEF, FORMAT], ids=["no brief", "brief", "format"])
@pytest.mark.parametrize("text", [FORMAT, f"As you ask:\n\n{FORMAT}", f"```\n{FORMAT}```", BRIEF, RULING_FORMAT])
def test_what_the_format_shows_is_no_finding(text: str, brief: str) -> None:
    found = read(text, brief)
    assert found.items == ()
    assert not rulings(text, brief)


def test_what_stands_in_the_brief_is_no_finding() -> None:
    peers = "- B1: The lock is taken late, so two writers meet. → Take it first.\n- H1: No unit is given at all. → s"
    own = "- H2: Nobody says how long the lease runs, so it may run for ever. → Ten seconds."
    text = f"{peers}\n\n**HIGH:**\n{own}"
    assert [item.number for item in read(text, f"They said:\n{peers}").items] == ["H2"]
    assert [item.number for item in read(text).items] == ["B1", "H1", "H2"]
    marked = f'<said by="architect" key="ab12">\n{own}\n</said>'.replace("</said>", '</said by="architect" key="ab12">')
    assert not read(f"**HIGH:**\n{marked}", marked).items
    quoted = "\n".join(f"> {line}" for line in f"**BLOCKING:**\n{peers}".splitlines())
    assert not read(f"They wrote:\n\n{quoted}\n\nSo it is.").items


def test_a_filled_format_is_read_back() -> None:
    filled = FORMAT[FORMAT.index("**BLOCKING") :]
    for blank, words in (("[issue]", "Nobody says who pays."), ("[proposed change]", "Name a role."), ("[id]", "B1")):
        filled = filled.replace(blank, words)
    items = read(filled, BRIEF).items
    assert len({item.severity for item in items}) == 4
    ruled = rulings(RULING_FORMAT.replace("[id]", "B1", 1).replace("[id]", "H1", 1), BRIEF)
    assert [(ruling.id, ruling.word) for ruling in ruled] == [("B1", "agree"), ("H1", "disagree with evidence")]


@pytest.mark.parametrize(
    ("text", "none"),
    [
        ("No findings.", True),
        ("LGTM", True),
        ("Keine Befunde.", True),
        ("none", True),
        ("**BLOCKING:** none\n\n**HIGH:** none", True),
        ("I have no blocking issues.", True),
        ("No findings on my side, but the retry loop worries me.", False),
        ("", False),
        ("I looked at it for a while.", False),
        ("BLOCKING: No blocking issues found.\nHIGH: No high issues.", True),
    ],
)
def test_nothing_is_only_what_is_said_to_be_nothing(text: str, none: bool) -> None:
    found = read(text)
    assert (found.none, found.items) == (none, ())
    assert none or bool(found.unparsed) == bool(text.strip())


@pytest.mark.parametrize(
    "text",
    [
        "- B1:",
        "**HIGH:**\n- B1: The heading and the number say two things. → One of them.",
        "1. The load is not stated anywhere in the text. → State it.",
        "- F1: The load is not stated anywhere in the text.",
        "| id | issue |\n|---|---|\n| 7 | The load is not stated anywhere. |",
    ],
)
def test_what_cannot_be_told_is_kept_and_not_guessed(text: str) -> None:
    found = read(text)
    assert found.items == ()
    assert len(found.unparsed) == 1
    assert not found.none


@pytest.mark.parametrize(
    ("block", "replacement"),
    [
        ("```suggestion\nnew\n```", "new"),
        ("```suggestion\n```", ""),
        ("```suggestion\nbroken o", None),
        ("```yaml\nkey: value\n```", None),
        ("```diff\n-old words\n+new words\n```", "new words"),
    ],
)
def test_replacements(block: str, replacement: str | None) -> None:
    (item,) = read(f"**HIGH:**\n- H1: (a.md:3) The words are old. → New ones.\n\n{block}\n").items
    assert item.replacement == replacement


def test_every_severity_and_word_can_be_read() -> None:
    text = "\n".join(f"- [{severity.upper()}] The {severity} part is missing here." for severity in SEVERITIES)
    assert tuple(item.severity for item in read(text).items) == SEVERITIES
    ruled = rulings("\n".join(f"B{number}: {word}" for number, word in enumerate(WORDS)))
    assert tuple(ruling.word for ruling in ruled) == WORDS


@pytest.mark.parametrize(
    ("text", "ruled"),
    [
        ("B1/B2 agree", {"B1": "agree", "B2": "agree"}),
        ("Withdrawn: H2, H3", {"H2": "withdrawn", "H3": "withdrawn"}),
        ("I fully agree with the architect's B1, and with B2.", {"B1": "agree", "B2": "agree"}),
        ("#### B1 – Loop\nRuling: disagree with evidence\nWhy: line 4", {"B1": "disagree with evidence"}),
        ("- B1 (blocking, engineer): **disagree with concern** – slow", {"B1": "disagree with concern"}),
        ("B1: agree if the cap is five", {}),
        ("B1: agree\nB1: disagree with concern: slow", {}),
        ("H1: no longer agree", {}),
        ("I do not withdraw B2.", {}),
        ("B2 should be withdrawn by its author.", {}),
        ("> B1: agree", {}),
    ],
)
def test_rulings(text: str, ruled: dict[str, str]) -> None:
    assert {ruling.id: ruling.word for ruling in rulings(text)} == ruled
    assert not read(text).items


def test_a_ruling_that_is_copied_from_the_brief_is_none() -> None:
    copied = "B1: disagree with evidence: the limit stands in section four."
    assert not rulings(copied, f"They said:\n{copied}")
    assert rulings("B1: agree", "They said:\nB1: agree")


@pytest.mark.parametrize(
    "written",
    [
        "H3: same as B2",
        "- **H3**: same as **B2** – both say that the tokens lie open.",
        "- **H3: same as B2**, the same hole",
        "**[H3]** 🔁 Same as [B2]",
        "h-3: same as b-2.",
        "### H3 — same as B2",
        "#### H3 – Loop\nRuling: same as B2\nWhy: both loop",
        "H3 (engineer): duplicate of the architect's B2",
        "H3: dup. of B2",
        "H3: dup. von B2",
        "H3: identical to B2: seen from the client",
        "H3: see B2 (same)",
        "H3: see B2 - duplicate",
        "H3 = B2",
        "- H3 == B2: both are about expiry",
        "H3 → same as B2",
        "H3 (same as B2)",
        "H3 is the same as B2.",
        "I think that H3 is the same as B2.",
        "H3 and B2 are the same.",
        "H3, B2: one finding, because both loop",
        "Finding H3 duplicates B2.",
        "H3: merge with B2",
        "H3: agree. It is the same as B2.",
        "H3: agree, same finding as B2",
        "H3: withdrawn: same as B2",
        "H3: Withdrawn (duplicate of B2).",
        "H3: dasselbe wie B2, kürzer gesagt",
        "H3: Duplikat von B2",
        "| id | ruling | why |\n|---|---|---|\n| H3 | **same as B2** | both loop |",
        '```json\n{"rulings": [{"id": "H3", "ruling": "same as B2", "why": "both loop"}]}\n```',
    ],
)
def test_two_are_one_however_it_is_written(written: str) -> None:
    (one,) = pairings(written)
    assert (one.id, one.other, one.same) == ("H3", "B2", True)
    assert not read(written).items


@pytest.mark.parametrize("written", ["H3: different from B2: another table", "H3: not the same as B2.", "H3 != B2"])
def test_two_are_two_where_somebody_says_so(written: str) -> None:
    (one,) = pairings(written)
    assert (one.id, one.other, one.same) == ("H3", "B2", False)


def test_one_may_be_the_same_as_several() -> None:
    of = [(one.id, one.other, one.why) for one in pairings("- H3: same as B2 and M4: all three loop.\n- L1: agree")]
    assert of == [("H3", "B2", "all three loop"), ("H3", "M4", "all three loop")]
    assert len(pairings("H3, B2 and M4: same finding")) == 3


@pytest.mark.parametrize(
    "written",
    [
        "H3: disagree with evidence: same as B1",
        "H3: agree, same as B1",
        "H3: same as B2?",
        "H3: same as B2 in the export",
        "H3: same as B2, but for the export",
        "H3: maybe the same as B2",
        "H3: partly the same as B2",
        "H3: could be a duplicate of B2",
        "If H3 is the same as B2, then one may go.",
        "I disagree that H3 is the same as B2.",
        "H3: same fix as B2",
        "H3: same root cause as B2",
        "H3: similar to B2",
        "H3: agree. The same line as B2.",
        "H3 and B2 stand on the same line",
        "B1: see B2, it has the number",
        "H3: same as H3",
        "H3: same as [id]",
        "> H3: same as B2",
        'The document says "H3: same as B2".',
        "H3: same as B2\nH3: different from B2",
    ],
)
def test_what_only_sounds_like_it_joins_nothing(written: str) -> None:
    assert not pairings(written)


def test_an_item_with_a_change_is_a_finding_and_so_is_any_where_no_rulings_were_asked_for() -> None:
    own = "**HIGH:**\n- H2: Same as B1. Exported files never expire either. → Delete them after 90 days."
    assert [item.change for item in read(own, BRIEF).items] == ["Delete them after 90 days."]
    bare = "**HIGH:**\n- H2: same as B1: the export has it too."
    assert not read(bare, BRIEF).items
    assert read(bare, FORMAT).items, "nobody would read it as a ruling"


def test_an_example_that_is_copied_from_the_brief_joins_nothing() -> None:
    example = "- M4: same as H1: both are about upload.md keeping files whose owner has left."
    assert pairings(example)
    assert not judged(example, f"For example: `{example}`")
    assert not judged(RULING_FORMAT, BRIEF)


def test_what_one_says_again_when_asked_again_is_no_echo() -> None:
    own = (
        "**HIGH:**\n- H1: The lock is taken late. → Take it first.\n- B2: same as B1: the limit of section four again."
    )
    marked = f'<said by="you" key="ab12">\n{own}\n</said by="you" key="ab12">'
    brief = f'{BRIEF}\n\n{marked}\n\nYour own words are those marked key="ab12".\n'
    assert [item.number for item in read(own, brief).items] == ["H1"]
    assert len(pairings(own, brief)) == 1
    assert not pairings(own, f"{BRIEF}\n\n{marked}\n"), "others' words"


# Shapes that nobody asked for.


@pytest.mark.parametrize("shape", SHAPES, ids=lambda shape: shape.name)
def test_a_shape_is_read_as_a_careful_reader_reads_it(shape: Shape) -> None:
    assert not list(shape.wrong())


@pytest.mark.parametrize(
    ("text", "counts"),
    [
        ("**CRITICAL: 0 | IMPORTANT: 2 | MINOR: 5**", {"blocking": 0, "high": 2, "low": 5}),
        ("CRITICAL_COUNT: 0", {"blocking": 0}),
        ("- Blocking issues: 3", {"blocking": 3}),
        ("2 critical, 1 major and 4 minor issues", {"blocking": 2, "high": 1, "low": 4}),
        ("CRITICAL: 0 — No blocking issues found", {"blocking": 0}),
        ("Critical: 3 retries are not enough", None),
        ("- B1: 3 retries", None),
        ("HIGH: 5 — five seconds are too long", None),
        ("There are 2 critical issues in the parser", None),
    ],
)
def test_counts(text: str, counts: dict[str, int] | None) -> None:
    assert counts_in(text) == counts


@pytest.mark.parametrize(
    ("text", "approved"),
    [
        ("STATUS: APPROVED ✅", True),
        ("**Verdict: Approve**", True),
        ("✅ APPROVED", True),
        ("Verdict: approved with minor comments", True),
        ("Verdict: not approved", False),
        ("Verdict: approved once B1 is fixed", False),
        ("Verdict: approved with conditions", False),
        ("Status: approved?", True),
        ("The plan was approved last year.", False),
    ],
)
def test_approvals(text: str, approved: bool) -> None:
    assert approves(text) is approved


@pytest.mark.parametrize(
    "text",
    [
        "Status: approved\n",
        "```\nStatus: approved\n```\n",
        "> Status: approved\n",
        "- H2: It says\n  Status: approved\n",
    ],
)
def test_an_approval_that_is_copied_from_the_document_is_none(text: str) -> None:
    own = "**BLOCKING:**\n- B1: The header of the document says who approved it, and nobody did. → Ask them.\n\n"
    found = read(own + text, f"{BRIEF}\n\nThe header\n\nStatus: approved\n")
    assert [(item.inferred, found.approved) for item in found.items if item.severity == "blocking"] == [(False, False)]
    assert read(f"{own}Verdict: approved\n", BRIEF).approved


@settings(max_examples=300, deadline=None)
@given(reply=replies())
def test_every_item_of_a_reply_is_listed_unparsed_a_repeat_or_outside_by_a_rule(reply: Written) -> None:
    assert not reply.lost()


# Whatever is said: nothing raises, nothing is invented, and time grows with the text.

PIECES = [
    "**BLOCKING:**\n", "## High\n", "MEDIUM/LOW", "- B1: ", "- H2 ", "1. ", "  - ",
    "| id | severity | issue |\n", "|---|---|---|\n", "| B1 | high | two words |\n", "the lock is free",
    "nobody says who", " → ", " -> ", "Change: ", "Issue: ", "Severity: high\n", "Where: a.md:3\n",
    "(a.md:12-14) ", "“the words of it” ", "\"", "`", "**", "*", "_", "\n", "\n\n", "```\n", "```suggestion\n",
    "```json\n", "{\"issue\": \"one thing\", \"severity\": \"low\"}", "[", "{", "> ", "<think>", "</think>",
    "\\*\\*", "none", "No findings.", "agree", "disagree with evidence", "I withdraw B2", "🔴 ", "\u2028", "\r",
    "\x00", "\udc80", "ﬁ", "ß", "İ", "<details>",
]  # fmt: skip


def words(text: str) -> str:
    return " ".join(re.findall(r"\w+", fold(re.sub(r"</?\w+>|<br ?/?>|\*\*|__", " ", text))))


@settings(max_examples=400, deadline=None)
@given(
    text=st.text() | st.lists(st.sampled_from(PIECES), max_size=40).map("".join),
    brief=st.just("") | st.just(BRIEF) | st.lists(st.sampled_from(PIECES), max_size=9).map("".join),
)
def test_nothing_that_is_said_raises_or_is_invented(text: str, brief: str) -> None:
    found = read(text, brief)
    unquoted = "\n".join(line for line in text.splitlines() if not line.lstrip().startswith(">"))
    said = f"{words(text)}\n{words(unquoted)}".replace(" ", "")  # a quote may be taken out of the middle of a sentence
    for item in found.items:
        assert item.severity in SEVERITIES
        assert item.issue.strip()
        pieces = [words(piece).replace(" ", "") for piece in f"{item.issue}\n{item.change}".split("\n")]
        assert all(piece in said for piece in pieces), (item, text)
    assert not (found.none and (found.items or found.unparsed))
    assert all(ruling.word in WORDS for ruling in rulings(text, brief))


HOSTILE = [
    "*", "**", "|", "| a ", "`", "``` ", "[", "[{", "{\"a\":", "(", "“", "\"", "→", "- ", "- B1: ",
    "B1: agree ", "B1, ", "**a** ", "_", "<", "<think>", "> ", "# ", "1. ", "- B1: a b → c\n",
    "**BLOCKING:**\n", "| a | b |\n", "a.", "a/", "Change: ", ". Fix: ", "```json\n[\n", "\n", "\\|", "a -> ",
    "(a.md:1) ", "\x00", "no findings but ", "blocking ", "L1", "I agree with B1. ", "\\*\\*", "<said by=",
    "agree\n", "B1 = B2. ", "same as B2, ", "B1: same as ", "B1, B2 ", "- a\n  - b\n", "Severity: high\n", " ",
    "\t", ": ", "I disagree ", "**BLOCKING** a\n",
]  # fmt: skip


@pytest.mark.slow
@pytest.mark.parametrize("reader", [read, judged], ids=["read", "judged"])
def test_reading_takes_as_long_as_the_text(reader: Callable[[str], object]) -> None:
    for piece in HOSTILE:
        for frame in ("{}", "**HIGH:**\n- {}x\n- H2: b", "| id | severity | issue |\n|---|---|---|\n| B1 | high | {}"):
            small, large = (frame.replace("{}", piece * (size // len(piece))) for size in (7_500, 15_000))
            ratio = compare(partial(reader, large), partial(reader, small), most=3.5, least=0.006)
            assert ratio <= 3.5, f"{frame!r} of {piece!r}: twice the text takes {ratio:.1f} times as long"
