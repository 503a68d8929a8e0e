"""The page of a debate: whoever wrote something into it wrote text, it loads nothing, and it is made the same twice."""

from __future__ import annotations

import base64
import hashlib
import html
import re
from pathlib import Path

import pytest

from council.record import session
from council.reports import html as page
from council.reports.model import Answer
from tests.helpers import User, disputed, limited, script, summary
from tests.strict_html import EVIL, parsed


@pytest.fixture
def user(tmp_path) -> User:
    return User(tmp_path)


def debate(user: User, words: dict[str, str], topic: str = "Shall we?", *more: str) -> str:
    ended = user.council("run", topic, "--speaker", "replay", "--from", script(user, words), *more)
    assert ended.code == 0, ended.err
    ended = user.council("show", "--html")
    assert ended.code == 0, ended.err
    return ended.out


# ---- nothing that was written is markup ----


@pytest.mark.parametrize("evil", EVIL)
def test_whatever_was_written_stays_text(evil):
    parser = parsed(page.markup(evil))
    shown = re.sub(r"\W", "", "".join(parser.text))
    assert re.sub(r"\W", "", evil) in shown, "no word is lost"
    inside = parsed(f'<p class="{page.clean(evil)}">{page.clean(evil)}</p>')
    assert "".join(inside.text) == evil


def test_a_page_of_evil_words_is_ours_alone(user):
    words = disputed()
    for turn, evil in zip(words, EVIL, strict=False):
        words[turn] = f"{evil}\n\n{words[turn]}"
    words["02-challenges/designer"] = f"absent: {EVIL[1]}"
    text = debate(user, words, f"Shall we {' '.join(EVIL)}?", "--quorum", "2")
    parser = parsed(text)
    assert parser.seen >= {"details", "blockquote", "pre", "article", "table", "svg"}
    assert text.count("<style>") == text.count("</style>") == 1
    assert not re.search(r"<[^>]*\b(?:src|on\w+|style|url)\s*=", text)
    assert not re.search(r"<[^>]*\bhref\s*=(?!\"#[a-z0-9/.-]+\">)", text)
    assert "@import" not in text
    assert "url(" not in text


def test_nothing_turns_the_reading_direction_of_what_follows():
    for char in "\u202e\u202d\u2066\u2067\u2069":
        assert char not in page.clean(f"a{char}b")
        assert char not in page.markup(f"a{char}b")
    assert page.clean("\x00\x1b[2Ja\x07\ud800") == "a?"
    assert "שלום" in page.markup("שלום")


def test_the_page_forbids_what_it_does_not_hold(user):
    text = debate(user, disputed())
    (policy,) = re.findall(r'Content-Security-Policy" content="([^"]*)"', text)
    (style,) = re.findall(r"<style>(.*)</style>", text, re.S)
    digest = base64.b64encode(hashlib.sha256(style.encode()).digest()).decode()
    assert policy == f"default-src 'none'; style-src 'sha256-{digest}'; base-uri 'none'; form-action 'none'"
    assert "prefers-color-scheme: dark" in style
    assert "@media print" in style
    assert 'name="viewport"' in text


# ---- what it shows ----


def test_the_page_of_a_debate(user):
    words = disputed() | {"04-synthesis-r01/chair": summary(), "04-synthesis-r02/chair": summary()}
    words["02-challenges/designer"] = "absent: on holiday"
    text = debate(user, words, "Shall we?", "--quorum", "2")
    shown = " ".join("".join(parsed(text).text).split())
    for told in (
        f"Session ID{user.session.name}", "Architect (Serena), Designer (Aditi)", "Degraded: absent: Designer (Aditi)",
        "Replay of: script.yaml (recorded replies, not a new debate)", "Round 1: Initial Positions",
        "Round 2: Responses & Challenges", "Convergence check: split", "Round 3 needed: ",
        "Round 3: Synthesis", "absent: on holiday",
        "Stance: disagree", "Blocking: The restore is untested.", "Council Synthesis", "Keep one database.",
        "Dissent on record", "Receipts", "02-challenges/engineer", "cost $0.0000", "Outcome: ",
    ):  # fmt: skip
        assert told in shown, told
    order = [
        shown.index(word, shown.index("The debate") if word.startswith("Round") else 0)
        for word in (
            "Replay of:",
            "Who stood where",
            "Round 1:",
            "Round 2:",
            "Convergence check:",
            "Round 3:",
            "Receipts",
        )
    ]
    assert order == sorted(order)


def test_a_badge_says_something() -> None:
    shown = [text for text in ("agree", "90", "no", "none", "None.") if Answer("impact", "Impact", text).short]
    assert shown == ["agree", "90", "no"]


def test_the_verdict_comes_first(user):
    words = disputed() | {"04-synthesis-r01/chair": summary(), "04-synthesis-r02/chair": summary()}
    text = debate(user, words, "Shall we?")
    page_ = parsed(text)
    shown = " ".join("".join(page_.text).split())
    order = ["Keep one database.", "Who stood where", "The strongest dissent", "Council Synthesis", "The debate"]
    places = [shown.index(told, shown.index("Council Debate")) for told in ["Shall we?", *order]]
    assert places == sorted(places)
    assert len(page_.places) == len(set(page_.places))
    assert page_.links <= set(page_.places), "no link leads nowhere"
    assert {"01-positions/engineer", "02-challenges/engineer", "03-closing/engineer"} <= page_.links
    folded = re.findall(r'<details class="round" id="(round-\d)">', text)
    assert folded == ["round-1", "round-2", "round-3"]
    assert " lang=" not in text, "nobody knows in which language a debate is held"


def test_a_debate_that_is_not_over_says_so(user):
    assert user.council("run", "Shall we?", "--speaker", "assistant").code == 8
    text = user.council("show", "--html").out
    assert "This debate is not finished: positions waits for Architect (Serena)" in "".join(parsed(text).text)


def test_what_was_spoken_in_an_open_round_is_named(user):
    assert user.council("run", "Shall we?", "--speaker", "assistant").code == 8
    assert user.council("record", "last", "01-positions/engineer", stdin="One database.").code == 0
    text = user.council("show", "--html").out
    assert "Spoken already, and shown once all have: 01-positions/engineer." in "".join(parsed(text).text)


def test_a_long_question_can_be_read_whole(user):
    topic = "Shall we? " + "Because of this. " * 40
    text = debate(user, disputed(), topic)
    assert "The whole question" in text
    assert html.unescape(text).count("Because of this.") >= 40


def test_the_same_record_gives_the_same_bytes(user):
    text = debate(user, disputed())
    there = user.root / "page.html"
    for _ in range(2):
        assert user.council("show", "--html", "-o", there).code == 0
        assert there.read_text() == text.removesuffix("\n")
    moved = user.session.rename(user.session.with_name("20200101-000000-00000000"))
    with pytest.raises(Exception, match="20200101"):
        session.open_(moved)  # it is the record that tells the id


def test_an_output_file_that_cannot_be_written(user):
    debate(user, disputed())
    ended = user.council("show", "--html", "-o", Path("missing") / "page.html")
    assert ended.code == 6
    assert "missing/page.html" in ended.err


# ---- the little Markdown that is understood ----


@pytest.mark.parametrize(
    ("text", "made"),
    [
        ("One\ntwo\n\nthree", "<p>One<br>\ntwo</p>\n<p>three</p>"),
        ("## Title ##", "<h4>Title</h4>"),
        ("- a\n  more\n- b", "<ul>\n<li>a<br>\nmore</li>\n<li>b</li>\n</ul>"),
        ("3. a\n4. b", '<ol start="3">\n<li>a</li>\n<li>b</li>\n</ol>'),
        ("Text:\n- a", "<p>Text:</p>\n<ul>\n<li>a</li>\n</ul>"),
        (
            "```py\nif a < b:\n    **c**\n```\nafter",
            '<pre><span class="language">py</span><code>if a &lt; b:\n    **c**</code></pre>\n<p>after</p>',
        ),
        ("```\nnever closed", "<pre><code>never closed</code></pre>"),
        ("> a\n> b", "<blockquote>\n<p>a<br>\nb</p>\n</blockquote>"),
        ("**a** *b* `**c**` 2 * 3 *", "<p><strong>a</strong> <em>b</em> <code>**c**</code> 2 * 3 *</p>"),
        (r"table \`reset\_tokens\`", "<p>table `reset_tokens`</p>"),
        (
            "| a | b |\n|:--|--:|\n| <i> | **c** \\| d |",
            '<div class="scroll"><table>\n<thead>\n<tr>\n<th>a</th>\n<th>b</th>\n</tr>\n</thead>\n<tbody>\n'
            "<tr>\n<td>&lt;i&gt;</td>\n<td><strong>c</strong> | d</td>\n</tr>\n</tbody>\n</table></div>",
        ),
        ("| a | b |\n|---|---|\n| c | d | e |", "<p>| a | b |<br>\n|---|---|<br>\n| c | d | e |</p>"),
        ("| a | b |\n| c | d |\n| e | f |", "<p>| a | b |<br>\n| c | d |<br>\n| e | f |</p>"),
        ("[a]: https://evil.example 'b'", "<p>[a]: https://evil.example 'b'</p>"),
        ("", ""),
    ],
)
def test_markup(text, made):
    assert page.markup(text) == made


@pytest.mark.parametrize("words", [("--html",), ()])
def test_its_own_file_is_written_again_and_no_other(words, user):
    debate(user, disputed())
    own, mine = user.work / "own", user.write("mine", "<!DOCTYPE html>\n## Council of Elrond\nMy notes.\n")
    for _ in range(2):
        assert user.council("show", *words, "-o", own).code == 0
    ended = user.council("show", *words, "-o", mine)
    assert (ended.code, mine.read_text()[-10:]) == (2, "My notes.\n")
    assert f"{mine} already exists and council did not write it; choose another file, or add --force" in ended.err
    assert user.council("show", *words, "-o", mine, "--force").code == 0
    assert mine.read_bytes() == own.read_bytes()
    assert user.council("show", *words, "-o", user.write("empty", "")).code == 0, "there is nothing to lose"
    assert user.council("show", *words, "-o", "/dev/null").code == 0


def test_a_list_inside_of_an_item_stays_inside():
    assert page.markup("- one\n  - inner\n    goes on\n  - second\n- two\n  more").replace("\n", "") == (
        "<ul><li>one<ul><li>inner<br>goes on</li><li>second</li></ul></li><li>two<br>more</li></ul>"
    )
    assert (
        page.markup("1. one\n   - inner\n2. two").replace("\n", "")
        == "<ol><li>one<ul><li>inner</li></ul></li><li>two</li></ol>"
    )


def test_what_markdown_would_leave_out_stands_as_it_was_written():
    endless = page.markup("\n".join("  " * depth + "- x" for depth in range(3000)))
    assert endless.startswith("<pre>- x\n  - x\n")
    assert endless.count("- x") == 3000


def test_a_long_reply_takes_no_minutes():
    tables = "|a|b|\n|-|-|\n" * 4000 + "|x|y|z|\n"
    with limited(20):
        assert "<table>" not in page.markup(tables)
        assert page.markup("word\n" * 200_000).startswith("<pre>word")
