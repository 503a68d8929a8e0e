"""What is printed between quotation marks is one passage of what its author wrote."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from council.protocols.dissent import find_dissent
from council.text import stands_in
from tests.debates import hold
from tests.helpers import User, agreed, script, summary
from tests.scenes import scene, turn

ROOT = Path(__file__).resolve().parent.parent
QUOTATION = re.compile(r"“([^“”]+)”")


def said(session: Path) -> list[str]:
    return [path.read_text("utf-8").split("\n---\n", 1)[1] for path in session.rglob("turns/*/*.md")]


MARKS = str.maketrans(dict.fromkeys('“”"\u2018\u2019', "'"))  # inside a quotation, single marks stand for double ones


def misquoted(text: str, turns: list[str]) -> list[str]:
    """The quotations in a text that are a passage of no turn."""
    quoted = (found.rstrip("…").translate(MARKS) for found in QUOTATION.findall(text))
    return [one for one in quoted if not any(stands_in(one, body.translate(MARKS)) for body in turns)]


@pytest.fixture
def user(tmp_path: Path) -> User:
    return User(tmp_path)


PARTED = "I disagree with the plan\n\n## Blocking\nnone\n\n## Stance\ndisagree\n\n## Why\nNobody measured."


def test_words_on_either_side_of_an_answer_are_not_put_together(user: User) -> None:
    """The prose of such a reply is two pieces; each alone may be quoted."""
    words = agreed()
    words["02-challenges/researcher"] = PARTED
    words |= {id.replace("02-challenges", "03-closing"): body for id, body in words.items() if id.startswith("02-")}
    words |= {f"04-synthesis-r0{number}/chair": summary() for number in (1, 2)}
    ended = user.council("run", "--speaker", "replay", "--from", script(user, words), "Q?")
    assert ended.code == 0, ended.err
    shown = [(user.session / name).read_text("utf-8") for name in ("transcript.md", "synthesis.md")]
    shown.append(user.council("decision", "last", "--as", "adr", "--dry-run").out)
    turns = said(user.session)
    for text in shown:
        assert "“I disagree with the plan" in text
        assert misquoted(text, turns) == []


def test_each_concern_that_an_item_only_names_is_a_dissent_of_its_own() -> None:
    first = turn("security", round=1, blocking=("The key is in the log.", "The port is open to all."))
    again = turn("security", round=2, blocking=("C1, C2",))
    assert [words for _, words in find_dissent(scene(first, again))] == [
        "The key is in the log.",
        "The port is open to all.",
    ]


@pytest.mark.parametrize("name", ["debate/moving", "delphi/persuaded", "delphi/unexplained", "board/dissent-left-out"])
def test_no_report_of_a_debate_misquotes_it(user: User, name: str) -> None:
    session = hold(user, name)
    turns = said(session)
    for text in [
        (session / "transcript.md").read_text("utf-8"),
        user.council("decision", "last", "--as", "adr", "--dry-run").out,
    ]:
        assert misquoted(text, turns) == []


def test_the_example_in_the_docs_quotes_whole_passages() -> None:
    page = (ROOT / "docs" / "example.md").read_text("utf-8")
    debate, _, report = page.partition("### Did the debate help?")
    quoted = QUOTATION.findall(report)
    assert quoted
    assert [one for one in quoted if not stands_in(one, debate)] == []
