"""Wrong arguments: exit 2 with a sentence that helps, and no session."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.next.cli.users import User

Q = "Redis or PostgreSQL?"
WRONG = [
    (("rnu", Q), 'did you mean "run"?'),
    (("Should we sell?",), 'council run "QUESTION"'),
    (("run",), "the topic is empty"),
    (("run", "  "), "the topic is empty"),
    (("run", Q, "--modle", "x"), "--model"),
    (("run", Q, "--max-cost", "free"), "not a valid float"),
    (("run", Q, "--max-cost", "nan"), "no amount"),
    (("run", Q, "--max-cost", "-1"), "x>=0"),
    (("run", Q, "--max-calls", "1.5"), "not a valid integer"),
    (("run", Q, "--quorum", "0"), "x>=1"),
    (("run", Q, "-w", "deabte"), 'did you mean "debate"?'),
    (("run", Q, "-o", "words"), "write NAME=VALUE"),
    (("run", Q, "-o", "wrods=50-60"), 'did you mean "words"?'),
    (("run", Q, "-o", "words=abc"), "a number or a range"),
    (("run", Q, "-o", "words=150-50"), "a number or a range"),
    (("run", Q, "-o", "accept=maybe"), "members or person"),
    (("run", Q, "--with", "security", "--without", "security"), "both added and left out"),
    (("run", Q, "--rounds", "7"), "--rounds 7"),
    (("run", Q, "--mode", "prose"), "deliberative"),
    (("run", Q, "--with", "archtect"), 'did you mean "architect"?'),
    (("run", Q, "--without", "security"), "not a member"),
    (("run", Q, "--only", "architect"), "at least two members"),
    (("run", Q, "--gate", "postions"), 'did you mean "positions"?'),
    (("run", Q, "--feature-type", "x"), 'no type of feature is called "x"'),
    (("run", Q, "--seat", "architect"), "write SEAT=MODEL"),
    (("run", Q, "--seat", "archtect=opus"), 'did you mean "architect"?'),
    (("run", Q, "--speaker", "clude"), 'did you mean "claude"?'),
    (("run", Q, "--speaker", "replay"), "needs --from"),
    (("run", Q, "--speaker", "replay", "--from", "nowhere.yaml"), "nowhere.yaml"),
    (("run", Q, "--from", "20200101"), 'no session is called "20200101"'),
    (("run", Q, "--id", "Bad Id"), "is not an id"),
    (("run", Q, "--id", "last"), "is not an id"),
    (("run", Q, "--require", "agree"), 'did you mean "agreed"?'),
    (("run", Q, "--pace", "slow"), "none"),
    (("run", "Quick council with security"), "the topic is missing"),
    (("recover",), "there is no session yet"),
    (("recover", "20200101"), "no session is called"),
    (("show", "20200101"), "no session is called"),
    (("status", "20200101"), "no session is called"),
    (("verify", "last"), "there is no session yet"),
    (("answer",), "no session waits for a person"),
    (("list", "-n", "0"), "x>=1"),
    (("list", "--state", "done"), "complete"),
    (("list", "--outcome", "agree"), 'did you mean "agreed"?'),
    (("list", "-w", "deabte"), 'did you mean "debate"?'),
    (("brief", "last"), "TURN"),
    (("record", "last"), "TURN"),
    (("help", "rnu"), 'did you mean "run"?'),
    (("serve",), "optional room web"),
    (("review", "x.md"), "optional room reviews"),
]


@pytest.mark.parametrize(("words", "why"), WRONG, ids=lambda value: " ".join(value) if isinstance(value, tuple) else "")
def test_wrong_arguments_are_explained_and_nothing_is_spent(user: User, words: tuple[str, ...], why: str) -> None:
    ended = user.council(*words)
    assert ended.code == 2, ended
    assert why in ended.err
    assert ended.out == ""
    assert ended.err.startswith("council: ")
    assert len(ended.err.splitlines()) <= 2
    if words[0] == "run":
        assert "nothing was spent" in ended.err
    assert user.sessions == []


@pytest.mark.parametrize(
    "words", [("run", Q), ("run", Q, "-q"), ("run", Q, "--json"), ("quick", Q), ("run", Q, "--speaker", "auto")]
)
def test_without_anybody_to_speak_it_says_who_could(user: User, words: tuple[str, ...]) -> None:
    ended = user.council(*words)
    assert ended.code == 4
    assert "nobody can speak here" in ended.err
    assert "nothing was spent" in ended.err
    assert "council help keys" in ended.err
    assert user.sessions == []


@pytest.mark.parametrize("name", ["caf\udce9", "a\x1b[31mb"])
def test_words_that_are_no_text_are_kept_as_visible_escapes(user: User, agreed: Path, name: str) -> None:
    ended = user.replay(agreed, "--json", f"Is {name} open?")
    assert ended.code == 0
    assert "\x1b" not in user.council("list").out
    assert "\x1b" not in user.council("show").out
    assert user.council("verify").code == 0


def test_a_topic_is_kept_to_the_byte(user: User) -> None:
    topic = "\n\ufeff  Redis\u2028or\r\nPostgreSQL?  \n\n"
    assert user.council("start", "-", stdin=f"{topic}\n").code == 0  # the last line feed is the shell's
    assert (user.session / "topic.md").read_bytes() == topic.encode()


@pytest.mark.parametrize(("topic", "why"), [(b"\xff\xfe", "not UTF-8"), (b"a\0b", "NUL"), (b"x" * 1_000_001, "1 MB")])
def test_a_topic_that_is_no_text_is_refused(user: User, topic: bytes, why: str) -> None:
    ended = user.council("run", "-", stdin=topic)
    assert ended.code == 2
    assert why in ended.err


def test_the_program_alone_prints_its_help(user: User) -> None:
    alone = user.council()
    assert (alone.code, alone.out) == (2, "")
    assert alone.err.startswith("Usage: council")
