"""How each kind of answer is read: what is taken, and what is asked for again. Nothing is guessed."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from council.next.errors import UsageError
from council.next.replies.kinds import Choice, Number, Signature, Vote, find_id, kind, split_id
from council.next.replies.read import describe, read

MISSING = object()


def answer(declared: str, block: str) -> Any:
    """What is read of a block below its heading, as this kind."""
    return read({"it": kind(declared)}, f"Some talk.\n\n## It\n{block}").found.get("it", MISSING)


SIGNED = {
    **dict.fromkeys(
        [
            "R2",
            "r2",
            "**R2**",
            "`R2`",
            "R2.",
            "[R2]",
            "(R2)",
            '"R2"',
            "“R2”",
            "- R2",
            "* R2",
            "  R2  ",
            "**R2.**",
            "_R2_",
            "R2:",
            "R2\n",
            "\n\nR2",
            "\uff32\uff12",
            "```\nR2\n```",
            "> R1\n\nR2",
            "• R2",
            "«R2»",
            "„R2“",
            "'R2'",
            "1. R2",
        ],
        Signature("R2"),
    ),
    **dict.fromkeys(["R2b", "r2B", "**R2b**"], Signature("R2b")),
    **dict.fromkeys(["own", "Own", "**own**", "own.", '"own"', "- own"], Signature("own")),
    "none: nobody is on call": Signature("none", "nobody is on call"),
    "None: nobody is on call.": Signature("none", "nobody is on call."),
    "**none**: nobody is on call": Signature("none", "nobody is on call"),
    "**none:** nobody is on call": Signature("none", "nobody is on call"),
    "none\uff1a没有人值班": Signature("none", "没有人值班"),
    "none: R1 and R2 both cost too much": Signature("none", "R1 and R2 both cost too much"),
    "none: two\nlines": Signature("none", "two lines"),
    "none: two\n\nparagraphs": Signature("none", "two paragraphs"),
    "- none: nobody is on call": Signature("none", "nobody is on call"),
    "```\nnone: nobody is on call\n```": Signature("none", "nobody is on call"),
    "none – nobody – ever": Signature("none", "nobody – ever"),
    "**None** — nobody is on call": Signature("none", "nobody is on call"),
    "none - nobody: ever": Signature("none", "nobody: ever"),
    "undecided\uff1a缺少数据。": Signature("undecided", "缺少数据。"),
    "none: R1": Signature("none", "R1"),
    "none": Signature("none"),
    "undecided: the load at the end of the month": Signature("undecided", "the load at the end of the month"),
    "Undecided": Signature("undecided"),
    "undecided: faltan las cifras": Signature("undecided", "faltan las cifras"),
}
NOT_SIGNED = [
    "R1 or R2",
    "R1, R2",
    "R2, if K1 holds",
    "R2 (with K1)",
    "R2 – but not yet",
    "I sign R2",
    "R2 because it is cheap",
    "R",
    "R0",
    "R2bc",
    "R٢",
    "2",
    "K2 and R2",
    "none of these",
    "none, nobody is on call",
    "none (nobody is on call)",
    "none because nobody is on call",
    "own: see below",
    "R2: because it is cheap",
    "R2 - cheap",
    "[ ] R2",
    "- [ ] R2",
    "- R2\n\nIt is cheap.",
    "undecided\n\nFigures are missing.",
    "none\n- R2",
    "R\u200b2",
    "R2\u0336",
    "~~R1~~ R2",
    "none, I sign my new text",
    "own text",
    "mine",
    "agree",
    "yes",
    "R2\nR3",
    "- R2\n- R3",
    "undecided about R2",
    "R2 ✅",
    "❌ R2",
    "keiner: zu teuer",
    "同意",
    "",
    "---",
    "> R2",
    "| R2 |",
    '[one id, as in R2; or "own"; or "none: why"; or "undecided: what is missing"]',
]


@pytest.mark.parametrize(("block", "wanted"), SIGNED.items())
def test_a_signature_is_read_however_it_is_dressed(block: str, wanted: Signature) -> None:
    assert answer("vote", block) == wanted


@pytest.mark.parametrize("block", NOT_SIGNED)
def test_what_is_no_signature_is_asked_for_again(block: str) -> None:
    assert answer("vote", block) is MISSING


CHOSEN = {
    **dict.fromkeys(
        [
            "yes",
            "Yes",
            "YES",
            "yEs",
            "**yes**",
            "*yes*",
            "__yes__",
            "_yes_",
            "***yes***",
            "`yes`",
            "yes.",
            "yes!",
            "yes,",
            "yes:",
            "yes;",
            "Yes.",
            "**Yes.**",
            "**yes**.",
            '"yes"',
            "'yes'",
            "“yes”",
            "„yes“",
            "«yes»",
            "« yes »",
            "\u2018yes’",
            "[yes]",
            "(yes)",
            "**[yes]**",
            "「yes」",
            "『yes』",
            "【yes】",
            "yes。",
            "- yes",
            "* yes",
            "+ yes",
            "1. yes",
            "• yes",
            "– yes",
            "- **yes**",
            "\uff59\uff45\uff53",
            "\n\nyes",
            "  yes  ",
            "yes\n\n---",
            "```\nyes\n```",
            "~~~\nyes\n~~~",
            "> no\n\nyes",
            "\u200byes",
            "yes\u00a0",
            "\ufeffyes",
            "yes\r\n",
        ],
        "yes",
    ),
    **dict.fromkeys(["no", "No.", "**NO**", "- no", "“No.”", "`no`", "[no]", "no!", "NO\n---"], "no"),
}
NOT_CHOSEN = [
    "yes, but the cost is open",
    "yes (mostly)",
    "yes\nno",
    "- yes\n- no",
    "yes or no",
    "yes | no",
    "yes, no",
    "no. Wait: yes",
    "yes yes",
    "yeah",
    "y",
    "yes?",
    "yes…",
    "yes...",
    "yes!?",
    "ja",
    "yes 👎",
    "❌ yes",
    "yes ✅",
    "not yes",
    "~~no~~ yes",
    "~~yes~~",
    "yes: if K2",
    "yes, because it is cheap",
    "yes - pending the audit",
    "sí",
    "oui",
    "是",
    "да",
    "y\u0435s",  # with a Cyrillic letter
    "ye\u0301s",
    "ye\u200bs",
    "\u202eyes",
    "y e s",
    "[ ] yes",
    "[] yes",
    "[x] yes",
    "- [ ] yes",
    "- [x] yes\n- [ ] no",
    "[yes",
    "(yes",
    "(yesx",
    "[yes] [no]",
    "> yes",
    "",
    "yes/no",
    "true",
    "1",
    "| yes |",
    "<b>yes</b>",
    "&#121;es",
    "yes\n\nThat is all.",
    "- yes\n\nThat is all.",
    "That is:\n- yes",
    "- yes\n  - mostly",
]


@pytest.mark.parametrize(("block", "wanted"), CHOSEN.items())
def test_a_choice_is_one_word_and_nothing_else(block: str, wanted: str) -> None:
    assert answer("yes | no", block) == wanted


def test_a_choice_may_have_several_words() -> None:
    declared = "agree | agree if | disagree"
    assert [answer(declared, block) for block in ("Agree if", "**agree if**.", "agree  IF:", "agree")] == [
        "agree if",
        "agree if",
        "agree if",
        "agree",
    ]
    assert answer(declared, "agree if K1 holds") is MISSING


IDENTS = {
    **dict.fromkeys(
        [
            "R2",
            "r2",
            "**R2**",
            "*R2*",
            "_R2_",
            "__R2__",
            "`R2`",
            "R2.",
            "R2:",
            "R2;",
            "R2,",
            "R2!",
            "R2。",
            "[R2]",
            "(R2)",
            '"R2"',
            "'R2'",
            "“R2”",
            "„R2“",
            "«R2»",
            "« R2 »",
            "\u2018R2’",
            "「R2」",
            "【R2】",
            "- R2",
            "* R2",
            "1. R2",
            "• R2",
            "- **R2**",
            "**R2.**",
            "**R2**.",
            "**[R2]**",
            "\uff32\uff12",
            "\n\nR2\n",
            "```\nR2\n```",
            "R2\n\n---",
            "> R1\n\nR2",
            "\u200bR2",
            "R2\u00a0",
            "R2 –",
            "R2\r\n",
        ],
        "R2",
    ),
    **dict.fromkeys(["R2b", "r2B", "R2B", "**r2b**"], "R2b"),
    **dict.fromkeys(["K12", "k12.", "[K12]", "\u041a12", "\u039a12", "\u043a12"], "K12"),
    **dict.fromkeys(["C3", "(c3)", "\u04213", "\u0441\uff13"], "C3"),
    **dict.fromkeys(["R9999", "r9999"], "R9999"),
    **dict.fromkeys(["none", "None.", "**none**", "- none", '"None"', "[none]"], "none"),
}
NO_IDENTS = [
    "R1 or R2",
    "R1, R2",
    "R1/R2",
    "R1-R4",
    "R2 (Architect)",
    "R2, by Architect",
    "R2: the cache",
    "R2 – the cache",
    "the R2",
    "Recommendation 2",
    "R 2",
    "R-2",
    "R#2",
    "#2",
    "2",
    "R",
    "R0",
    "R02",
    "R2a",
    "R2bc",
    "R2x9",
    "R12345",
    "R2.5",
    "X2",
    "R٢",
    "\u042f2",
    "R\u200b2",
    "R\u03012",
    "R2\u0336",
    "~~R2~~",
    "R2 ✅",
    "[ ] R2",
    "[R2] [R3]",
    "R2\nR3",
    "- R2\n- R3",
    "> R2",
    "| R2 |",
    "own",
    "none of them",
    "none, R2 is dear",
    "undecided",
    "",
]


@pytest.mark.parametrize(("block", "wanted"), IDENTS.items())
def test_an_id_is_read_however_it_is_dressed(block: str, wanted: str) -> None:
    assert answer("id | none", block) == wanted
    assert answer("id", block) == (MISSING if wanted == "none" else wanted)


@pytest.mark.parametrize("block", NO_IDENTS)
def test_what_is_no_id_is_asked_for_again(block: str) -> None:
    assert answer("id | none", block) is MISSING


@pytest.mark.parametrize("block", NOT_CHOSEN)
def test_a_choice_with_a_remark_may_be_another_one(block: str) -> None:
    assert answer("yes | no", block) is MISSING


@pytest.mark.parametrize(
    ("declared", "block", "wanted"),
    [
        ("0-100", "85", 85),
        ("0-100", "**85**", 85),
        ("0-100", "85%", 85),
        ("0-100", "85 %", 85),
        ("0-100", "85/100", 85),
        ("0-100", "85 out of 100", 85),
        ("0-100", "92,5", 92.5),
        ("0-100", "92.5", 92.5),
        ("0-100", "0", 0),
        ("0-100", "100", 100),
        ("0-100", "1", 1),
        ("0-1", "0.9", 0.9),
        ("0-1", "1", 1),
        ("0-3", "2", 2),
        ("integer", "12", 12),
        ("integer", "0", 0),
    ],
)
def test_a_number_is_read(declared: str, block: str, wanted: float) -> None:
    assert answer(declared, block) == wanted


@pytest.mark.parametrize(
    ("declared", "block"),
    [
        ("0-100", "95 % (only if TLS is on)"),
        ("0-100", "0.9"),
        ("0-100", "101"),
        ("0-100", "-5"),
        ("0-100", "85-90"),
        ("0-100", "about 85"),
        ("0-100", "85 or 90"),
        ("0-100", "17/20"),
        ("0-100", "85 🎯"),
        ("0-100", "٨٥"),
        ("0-100", "1,000"),
        ("0-100", "eighty"),
        ("0-100", "8 5"),
        ("0-100", "nan"),
        ("0-100", "1e2"),
        ("0-3", "50 %"),
        ("0-3", "2 %"),
        ("0-1", "1%"),
        ("0-3", "4"),
        ("integer", "2.5"),
        ("integer", "99 repeating rounds"),
        ("integer", "-1"),
        ("integer", "3%"),
        ("integer", "1" * 400),
    ],
)
def test_a_number_with_anything_beside_it_is_asked_for_again(declared: str, block: str) -> None:
    assert answer(declared, block) is MISSING


@pytest.mark.parametrize(
    ("block", "wanted"),
    [
        ("- a\n- b", ("a", "b")),
        ("* a\n* b", ("a", "b")),
        ("1. a\n2. b", ("a", "b")),
        ("• a\n• b", ("a", "b")),
        ("- one that goes\n  on here\n- b", ("one that goes on here", "b")),
        ("- a\n\n- b", ("a", "b")),
        ("none", ()),
        ("- none", ()),
        ("None.", ()),
        ("—", ()),
        ("n/a", ()),
        ("**none**", ()),
        ("Nothing", ()),
        ("K2: reject: too dear\nK5: withdrawn", ("K2: reject: too dear", "K5: withdrawn")),
        ("- **K2**: reject", ("**K2**: reject",)),
        ("- a\n  - part\n  - part", ("a\n- part\n- part",)),
        ("- a\n  ```\n  x\n  ```", ("a\n```\nx\n```",)),
        ("- a\n> - a quotation\n\n- b", ("a", "b")),
    ],
)
def test_the_items_of_a_list(block: str, wanted: tuple[str, ...]) -> None:
    assert answer("list", block) == wanted


@pytest.mark.parametrize(
    "block",
    [
        "One sentence that\nwas wrapped by somebody",
        "a single line",
        "Nothing blocks.",
        "Two things:\n- a\n- b",
        "I drop these:\n- a",
        "- a\n\nThat is all.",
        "- a\n\n```\nmake\n```",
        "### Needed\n- a",
        "none\n- a",
        "- a\n- none",
        "a\n\nb",
        "",
        "-",
        "> - a",
        "***",
    ],
)
def test_a_list_with_other_lines_or_without_items_is_asked_for_again(block: str) -> None:
    """Lines without a mark may be one sentence or several, or say something about the items: nobody knows."""
    assert answer("list", block) is MISSING


def test_an_answer_that_must_not_be_empty() -> None:
    assert answer("list+", "none") is MISSING
    assert answer("text+", "none") is MISSING
    assert [answer("text", nothing) for nothing in ("none", "- none", "(None.)", "—", "N/A")] == [""] * 5
    assert answer("text+", "None of us measured it.") == "None of us measured it."


def test_a_text_keeps_its_words() -> None:
    words = "First.\n\n- an item\n\n> a quotation\n\n```\n## It\n```\n\n### Below\n\n| a | b |\n\n[x]: y\n\n---\n\nlast"
    assert answer("text", words) == words


def test_code_is_one_block() -> None:
    assert answer("code", "Here:\n```python\nx = 1\n```") == "x = 1\n"
    assert answer("code", "```\na\n```\n```\nb\n```") is MISSING
    assert answer("code", "x = 1") is MISSING


@pytest.mark.parametrize(
    ("item", "wanted"),
    [
        ("K2: reject: too dear", ("K2", "reject: too dear")),
        ("**K2**: withdrawn", ("K2", "withdrawn")),
        ("k12", ("K12", "")),
        ("K12, now also for R4: this", ("K12", "now also for R4: this")),
        ("[C1] stands", ("C1", "stands")),
        ("K5 – kept", ("K5", "kept")),
        ("C1\uff1astands", ("C1", "stands")),
        ("R2b: no", ("R2b", "no")),
        ("Kubernetes first", ("", "Kubernetes first")),
        ("K2x9: a product", ("", "K2x9: a product")),
        ("K0: none", ("", "K0: none")),
        ("the K2", ("", "the K2")),
        ("", ("", "")),
    ],
)
def test_an_item_may_begin_with_an_id(item: str, wanted: tuple[str, str]) -> None:
    assert split_id(item) == wanted


def test_an_id_is_written_in_one_way() -> None:
    assert [find_id(words) for words in ("r2B", "K1.", "(c3)", "R2 and R3", "R", "")] == ["R2b", "K1", "C3", "", "", ""]


@pytest.mark.parametrize(
    "declared",
    [
        "txt",
        "a |",
        "100-0",
        "5-5",
        "a | A",
        "list++",
        "| b",
        "",
        "vote | vote",
        "--",
        "go! | stop",
        "(a) | b",
        "a: | b",
        "0-" + "9" * 5_000,
    ],
)
def test_an_unknown_kind_is_refused(declared: str) -> None:
    with pytest.raises(UsageError, match="is not a kind of answer"):
        kind(declared)


def test_the_kind_that_was_meant_is_suggested() -> None:
    with pytest.raises(UsageError, match='did you mean "list"'):
        kind("lists")


def test_a_declaration_in_words() -> None:
    assert kind("yes | no ?") == Choice(optional=True, options=("yes", "no"))
    assert kind("0-100") == Number(low=0, high=100)
    assert kind("vote") == Vote()
    assert kind("list+").filled
    assert kind("text+ ?").optional


DECLARED = ("text", "list", "list+", "code", "integer", "0-100", "yes | no", "id", "vote", "text ?", "list ?", "vote ?")


@pytest.mark.parametrize("declared", DECLARED)
def test_the_form_itself_is_no_answer(declared: str) -> None:
    form = {"it": kind(declared)}
    assert read(form, describe(form)).found == {}
    assert read(form, f"Talk.\n\n{describe(form)}\n").found == {}


@pytest.mark.parametrize("declared", DECLARED)
@given(body=st.text(max_size=300) | st.text(alphabet="#*>- `\n:RKCnone12=\\[]()", max_size=300))
@example(body="\x00\r\n\x1c\u2028")
def test_no_reply_breaks_the_reader(declared: str, body: str) -> None:
    form = {"it": kind(declared)}
    for reply in (body, f"## It\n{body}"):
        answers = read(form, reply)
        assert set(answers.found).isdisjoint(answers.problems)
