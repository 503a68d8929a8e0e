"""How the parts of a reply are found: headings, copies of other seats' words, forms that are filled in, and time."""

from __future__ import annotations

import gc
import time
from dataclasses import dataclass
from pathlib import Path
from typing import Any, ClassVar

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from council.next.errors import UsageError
from council.next.replies.kinds import Kind, Signature, kind
from council.next.replies.markdown import Block, code_blocks
from council.next.replies.read import Answers, describe, read
from council.next.replies.write import escape, unescape, write
from council.next.text import fence

REAL = Path(__file__).parent.parent / "real"
FORM = {
    name: kind(declared)
    for name, declared in {
        "signs": "vote",
        "recommendation": "text ?",
        "conditions": "list ?",
        "blocking": "list ?",
        "rulings": "list ?",
        "moved_by": "text ?",
    }.items()
}


@pytest.mark.parametrize(
    "heading",
    [
        "## Signs",
        "# Signs",
        "###### Signs",
        "## SIGNS",
        "## **Signs**",
        "## Signs:",
        "## Signs ##",
        "## 1. Signs",
        "## 2) Signs",
        "## ✅ Signs",
        "## Signs (required)",
        "**Signs**",
        "**Signs:**",
        "**signs**:",
        "## \uff33\uff49\uff47\uff4e\uff53",
        "## `Signs`",
        "Signs\n---",
        "   ## Signs",
    ],
)
def test_a_heading_is_known_however_it_is_dressed(heading: str) -> None:
    assert read(FORM, f"Talk.\n\n{heading}\nR2").found == {"signs": Signature("R2")}


@pytest.mark.parametrize("line", ["## Signs: R2", "**Signs:** R2", "**Signs**: R2", "**Signs: R2", "## Signs\uff1aR2"])
def test_an_answer_may_stand_in_the_line_of_its_heading(line: str) -> None:
    assert read(FORM, f"Talk.\n\n{line}").found == {"signs": Signature("R2")}


def test_labels_in_one_paragraph_are_read_one_by_one() -> None:
    found = read(FORM, "**Signs:** R2\n**Conditions:** K1\n**Moved by:** none").found
    assert found == {"signs": Signature("R2"), "conditions": ("K1",), "moved_by": ""}


@pytest.mark.parametrize(
    "body",
    [
        "##Signs\nR2",
        "> ## Signs\n> R2",
        "```\n## Signs\nR2\n```\nTalk.",
        "- ## Signs\n\n  R2",
        "| Signs | R2 |",
        '{"signs": "R2"}',
        "My signs are R2",
        "    ## Signs\n    R2",
        "<h2>Signs</h2>\nR2",
    ],
)
def test_what_stands_below_no_heading_is_asked_for_again(body: str) -> None:
    answers = read(FORM, body)
    assert answers.found == {}
    assert list(answers.problems) == ["signs"]


def test_an_optional_answer_with_a_label_in_place_of_a_heading_is_asked_for_again() -> None:
    """It would be lost without a word otherwise, because nobody misses an optional answer."""
    answers = read(FORM, "- Blocking: no backup was ever restored\n\n## Signs\nR2")
    wanted = "write this heading on a line of its own, and the answer below it"
    assert answers.problems == {"blocking": f'"## Blocking": {wanted}'}


def test_the_whole_reply_may_stand_inside_one_fence() -> None:
    assert read(FORM, "```markdown\nTalk.\n\n## Signs\nR2\n```").found == {"signs": Signature("R2")}


def test_two_different_answers_are_none() -> None:
    assert "differently" in read(FORM, "## Signs\nR1\n\n## Signs\nR2").problems["signs"]
    assert read(FORM, "## Signs\nR1\n\n## Signs\n**R1**").found == {"signs": Signature("R1")}


def test_another_heading_ends_an_answer_and_one_below_it_does_not() -> None:
    found = read(FORM, "## Recommendation\nText.\n\n### Part\nmore\n\n## Thanks\nBye.\n\n## Signs\nR1")
    assert found.found["recommendation"] == "Text.\n\n### Part\nmore"
    assert found.prose == "## Thanks\nBye."


def test_talk_is_what_stands_below_no_answers_heading() -> None:
    assert read(FORM, "I doubt R1.\n\n> quoted\n\n## Signs\nR2\n").prose == "I doubt R1.\n\n> quoted"
    assert read({}, "  All of it.\n").prose == "All of it."


PEER = """The cache hides the fault and keeps it, and nobody has measured why the queries are slow.

## Signs
R2

## Conditions
- K1

## Blocking
- no backup was ever restored
"""


def copies_of(*replies: str) -> set[int]:
    return {passage for reply in replies for passage in read(FORM, reply).passages}


@pytest.mark.parametrize(
    "reply",
    [PEER, f"I read this:\n\n{PEER}", PEER.replace("\n\n", "\n\n\n"), PEER.upper().replace("SIGNS", "Signs")],
)
def test_a_copied_reply_is_nobodys_answer(reply: str) -> None:
    seen = copies_of(PEER)
    found = read(FORM, reply, seen.__contains__).found
    assert found == {}


def test_who_answers_alike_copies_nobody() -> None:
    """The same short answers below words of one's own."""
    seen = copies_of(PEER)
    own = "I measured them, and eight of the nine lack an index.\n\n" + PEER.partition("\n\n")[2]
    assert set(read(FORM, own, seen.__contains__).found) == {"signs", "conditions", "blocking"}
    assert set(read(FORM, PEER.partition("\n\n")[2], seen.__contains__).found) == {"signs", "conditions", "blocking"}


def test_the_same_words_below_another_heading_are_no_copy() -> None:
    seen = copies_of(PEER)
    own = PEER.replace("## Conditions", "## Rulings")
    assert read(FORM, own, seen.__contains__).found == {
        "rulings": ("K1",),
        "blocking": ("no backup was ever restored",),
    }


def test_ones_own_answer_stands_beside_a_copy() -> None:
    seen = copies_of(PEER)
    found = read(
        FORM, f"{PEER}\n\nI differ, and I say so in as many words as this.\n\n## Signs\nR1", seen.__contains__
    ).found
    assert found["signs"] == Signature("R1")


def test_a_passage_that_was_copied_with_its_marks_is_nobodys_answer() -> None:
    quoted = f'<said by="Engineer" key="ab">\n{PEER}\n</said by="Engineer" key="ab">'
    assert read(FORM, f"See:\n{quoted}\n\n## Signs\nR1").found == {"signs": Signature("R1")}
    unclosed = '<said by="me">\n## Signs\nR1'
    assert read(FORM, unclosed).found == {"signs": Signature("R1")}


TURNS = sorted(REAL.glob("*/turns/c*/*.md"))


@pytest.mark.parametrize("path", TURNS, ids=lambda path: "-".join(path.parts[-4:]))
def test_every_turn_of_real_members_is_read_at_once(path: Path) -> None:
    answers = read(FORM, path.read_text("utf-8"))
    assert answers.problems == {}
    assert 80 <= len(answers.prose.split()) <= 160
    assert answers.found["signs"].side[0] in "Rn"


@pytest.mark.parametrize("path", TURNS, ids=lambda path: "-".join(path.parts[-4:]))
def test_a_reply_behind_a_copy_of_its_brief_is_read_as_it_is(path: Path) -> None:
    reply = path.read_text("utf-8")
    peer = TURNS[TURNS.index(path) - 1].read_text("utf-8")
    brief = fence("Ada", peer, "ab12") + f"\n\n# Now: answer\n\n{describe(FORM)}\n\n# Who you are\n\nYou are Bo."
    assert read(FORM, brief).found == {}
    assert read(FORM, f"{brief}\n\n{reply}").found == read(FORM, reply).found


def test_the_chairs_of_real_debates_are_read_at_once() -> None:
    form = {
        name: kind(declared)
        for name, declared in {
            "title": "text",
            "answer": "text",
            "follows": "id",
            "areas_of_convergence": "list",
            "remaining_disagreements": "list",
            "recommended_path": "text",
            "next_steps": "list",
            "confidence": "high | medium | low",
            "rulings": "list ?",
        }.items()
    }
    for debate, text in (("jobs", "R4"), ("logout", "R1b")):
        answers = read(form, (REAL / debate / "turns/synthesis/chair.md").read_text("utf-8"))
        assert answers.problems == {}
        assert answers.found["follows"] == text


LINES = st.text(alphabet=st.characters(exclude_categories=["Cs"]), max_size=40)


@given(
    log=st.lists(LINES, max_size=8).map("\n".join),
    items=st.lists(LINES, max_size=4).map(tuple),
    score=st.integers(0, 100),
)
def test_a_reply_that_is_written_reads_back(log: str, items: tuple[str, ...], score: int) -> None:
    form = {"log": kind("text"), "names": kind("list"), "score": kind("0-100"), "tests": kind("pass | fail")}
    log = log.replace("\r", "\n").replace("\0", "?")
    escaped = tuple(escape(item) for item in items)
    body = write(form, {"log": log, "names": escaped, "score": score, "tests": "pass"})
    found = read(form, body).found
    assert found == {"log": log, "names": escaped, "score": score, "tests": "pass"}
    assert tuple(map(unescape, found["names"])) == items


def test_what_a_kind_cannot_say_is_not_written() -> None:
    for declared, value in (("yes | no", "perhaps"), ("0-100", 101), ("vote", Signature("agree")), ("list+", ())):
        with pytest.raises(UsageError, match="is not an answer"):
            write({"it": kind(declared)}, {"it": value})


def test_every_fence_of_a_text_is_found_by_one_reader() -> None:
    text = "```py a.py\nx\n```\n~~~\n```\ny\n```\n~~~\n- ```\n  no\n  ```\n````\nunclosed"
    assert list(code_blocks(text)) == [("py a.py", "x\n"), ("", "```\ny\n```\n"), ("", "unclosed")]


REPEATED = (
    "\u0301\u0316",  # accents of one letter, in the wrong order
    "\u200b",
    "\u202e",
    "\ufdfa",  # one sign that stands for eighteen letters
    "\uff11\uff1a",
    "[",
    "「",
    '<said by="a" key="b">\n',
    '<said by="a" key="b">\n</said by="a" key="b">\n',
    '<said by="a">\n</said>\n</said>\n',
    "Signs: R2\n",
    "- Signs: R2\n",
    "| Signs | R2 |\n",
    "R2\n---\n",
    "---\n",
    "- ## Signs\n",
    " - ",
    "a\r\n",
    "\0",
    ">",
    "- yes\n",
    "yes\n",
    "> ",
    "- ",
    "**signs:** a\n",
    "</said\n",
    '<said by="\n',
    "#",
    "## Signs\nyes\n",
    "`",
    "```\n",
    "* a\n  * b\n",
    "\t",
    "_",
    "1. ",
    "> - ",
    "[a]: b\n",
    "- a\n\n",
    "|",
    "a: ",
    "R1 ",
    "\\",
    "<",
    "&amp;",
    "**",
    "none: ",
    "\r",
    "K1: ",
    "“",
    "\n",
)


@pytest.mark.parametrize("unit", REPEATED, ids=repr)
def test_the_time_of_reading_grows_with_the_reply_and_not_with_its_square(unit: str) -> None:
    """Four times the text must cost far less than sixteen times the processor time."""

    def cost(characters: int) -> float:
        half = unit * (characters // 2 // len(unit))
        body = f"{half}\n\n## Conditions\n- {half}"
        times = []
        for _ in range(3):
            began = time.process_time()
            read(FORM, body)
            times.append(time.process_time() - began)
        return min(times)

    gc.disable()  # its passes over a large heap are nobody's fault here
    try:
        assert cost(32_000) <= 11 * cost(8_000) + 0.05
    finally:
        gc.enable()


NESTED = "\n".join(f"{'  ' * depth}- a" for depth in range(1_000))
HOSTILE = {
    "items": "- yes\n" * 2_700,
    "lines": "yes\n" * 16_000,
    "a megabyte of backticks": "`" * 1_000_000,
    "a megabyte of brackets": "[" * 1_000_000,
    "a megabyte of quotation marks": "> " * 500_000,
    "a megabyte of NULs": "\0" * 1_000_000,
    "accents": "\u0301\u0316" * 50_000,
    "old line ends": "yes\r" * 16_000,
    "nested lists": NESTED,
    "nested quotations": f"{'>' * 1_000} a",
    "lists in quotations in lists": f"{'- > ' * 1_000}a",
}


@pytest.mark.parametrize("body", HOSTILE.values(), ids=HOSTILE)
def test_a_hostile_reply_is_no_signature(body: str) -> None:
    assert read(FORM, f"## Signs\n{body}").found == {}
    assert read(FORM, f"## Signs\nR2\n\n## Thanks\n{body}").found == {"signs": Signature("R2")}


def test_a_label_in_a_copy_is_nobodys_answer() -> None:
    """Behind a heading that both wrote, a label belongs to whoever wrote the words above it."""
    form = {"moved_by": kind("text"), "signs": kind("vote")}
    peer = "The cache hides the fault and keeps it, and nobody has measured why the queries are slow.\n\n"
    peer += "## Moved by\n“Nobody measured.”\n\nSigns: R2"
    first = read(form, peer)
    assert first.found["signs"] == Signature("R2")
    assert read(form, peer, set(first.passages).__contains__).found == {}


@dataclass(frozen=True)
class Whole(Kind):
    whole: ClassVar[bool] = True

    def wanted(self) -> str:
        return "all items"

    def read(self, block: Block) -> tuple[str, tuple[str, ...], tuple[str, ...]]:
        if not block.items:
            raise self.unreadable()
        return block.own, tuple(block.items), tuple(block.code)


def test_a_kind_may_read_all_that_is_below_no_other_answers_heading() -> None:
    form = {"findings": Whole(), "signs": kind("vote")}
    body = "Talk.\n\n## Findings\n- a\n\n**HIGH:**\n\n## Others\n- b\n\n```\nx\n```\n\n> - quoted\n\n## Signs\nR2"
    found = read(form, body).found
    text = "Talk.\n\n- a\n\n**HIGH:**\n\n## Others\n- b\n\n```\nx\n```"
    assert found == {"findings": (text, ("a", "b"), ("x\n",)), "signs": Signature("R2")}
    assert read(form, "## Signs\n- R2").problems == {"findings": '"## Findings": it must be all items'}


def test_a_value_is_plain_data_in_the_state() -> None:
    assert kind("list").data(("a", "b")) == ["a", "b"]
    assert kind("text").data("a") == "a"
    assert kind("vote").data(Signature("none", "too dear")) == {"side": "none", "why": "too dear"}


def test_a_kind_says_all_that_a_form_needs() -> None:
    forms = [(one.type, one.options, one.low, one.high, one.optional) for one in map(kind, FORMS)]
    assert forms == [
        ("text", (), 0, None, False),
        ("list", (), 0, None, True),
        ("code", (), 0, None, False),
        ("number", (), 0, None, False),
        ("number", (), 1, 5, False),
        ("choice", ("yes", "no"), 0, None, True),
        ("vote", ("own", "none", "undecided"), 0, None, False),
        ("text", (), 0, None, False),
    ]


FORMS = ("text", "list ?", "code", "integer", "1-5", "yes | no ?", "vote", "id")


def test_what_a_member_is_told() -> None:
    form = {
        "signs": kind("vote"),
        "score": kind("0-100"),
        "ready": kind("yes | no"),
        "follows": kind("id | none"),
        "risks": kind("list"),
        "gist": kind("text+"),
        "title": kind("text"),
        "patch": kind("code"),
        "names": kind("list+"),
    }
    body = (
        "## Signs\nR2, if K1\n\n## Score\nhigh\n\n## Ready\nyes, but\n\n## Follows\nours\n\n## Risks\nMany.\n\n"
        "## Gist\nnone\n\n## Title\n\n## Patch\nx = 1\n\n## Names\nnone"
    )
    assert list(read(form, body).problems.values()) == [
        '"## Signs": it must be one id and nothing else, as in R2; or "own"; or "none: why"; or "undecided: what is '
        'missing"',
        '"## Score": it must be a number from 0 to 100, alone',
        '"## Ready": it must be exactly one of these, and nothing else: yes or no',
        '"## Follows": it must be one id from the lists above, such as R1, or "none", and nothing else',
        '"## Risks": it must be one item a line, each beginning with "- ", or "none"; other words go above the first '
        "heading",
        '"## Gist": "none" is no answer here; write your answer in your own words',
        '"## Title": there is nothing below the heading; write your answer, or "none"',
        '"## Patch": it must be one block of code between two lines of ```',
        '"## Names": there is no item; write one item a line, each beginning with "- "',
    ]


WORDS = st.text(alphabet=st.characters(exclude_categories=["Cs"], exclude_characters="\r\0"), max_size=60)
MARKDOWN = st.text(alphabet="#*>- `~\n:RKCnone12=\\[]()|<_ab", max_size=60)
TRICKY = st.sampled_from(
    ["```", "~~~", "## Other", "**Signs:** R2", "Signs: R2", "- Names: x", "Title\n---", "---", "    code", "none"]
) | st.sampled_from(
    [
        '<said by="a">',
        "</said>",
        '</said by="a">',
        '[your answer, or "none"]',
        "> quoted",
        "\ufeff",
        "<div>",
        "|a|b|",
        "\\u{61}",
    ]
)
TEXTS = st.lists(WORDS | MARKDOWN | TRICKY, max_size=5).map("\n".join)
ITEMS = st.lists(WORDS | MARKDOWN | TRICKY, max_size=4).map(tuple)
EVERY = {
    "log": kind("text"),
    "names": kind("list"),
    "signs": kind("vote ?"),
    "other": kind("text ?"),
    "patch": kind("code ?"),
    "score": kind("0-100 ?"),
    "follows": kind("id | none ?"),
    "tests": kind("pass | fail ?"),
}


@given(
    answers=st.fixed_dictionaries(
        {"log": TEXTS, "names": ITEMS},
        optional={
            "other": TEXTS,
            "patch": TEXTS.map("{}\n".format),
            "signs": st.sampled_from([Signature("R2b"), Signature("own"), Signature("none", "too dear: for us")]),
            "score": st.integers(0, 100) | st.just(92.5),
            "follows": st.sampled_from(["R1", "K3", "none"]),
            "tests": st.sampled_from(["pass", "fail"]),
        },
    ),
    prose=TEXTS,
)
@settings(max_examples=400)
def test_whatever_a_machine_writes_reads_back_or_is_refused(answers: dict[str, Any], prose: str) -> None:
    written = answers | {"names": tuple(map(escape, answers["names"]))}
    answered = read(EVERY, write(EVERY, written, prose))
    assert answered.found == written
    assert answered.problems == {}
    assert tuple(map(unescape, answered.found["names"])) == answers["names"]


def test_a_log_with_marks_fences_and_headings_reads_back() -> None:
    """Each is harmless alone. The mark of one answer must not be taken for the end of another one's passage."""
    for log, other in (
        ('<said by="a">\nx\n</said by="a">', "z"),
        ('<said by="a">', "</said>"),
        ("x\n```\ny", "z"),
        ("x\n## Other\ny", "z"),
        ("Signs: R2", "z"),
        ("x", "**Signs:** R2"),
        ("Patch: none", "z"),
    ):
        answers = {"log": log, "other": other}
        for prose in ("", "```", '<said by="b">', "Signs: R2", "- Patch: x", "## Log\nz"):
            answered = read(EVERY, write(EVERY, answers, prose))
            assert answered.found == answers
            assert list(answered.problems) == ["names"]


def test_a_form_names_every_answer_with_its_format() -> None:
    assert describe({"signs": kind("vote"), "moved_by": kind("text ?")}) == (
        '## Signs\n[one id and nothing else, as in R2; or "own"; or "none: why"; or "undecided: what is missing"]\n\n'
        "## Moved by\n[optional; your answer in your own words]"
    )
    assert read({}, "x") == Answers(prose="x")
