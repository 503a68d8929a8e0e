"""Promises that the new program broke once, found with tests of the old one that are not carried themselves."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from tests import voices
from tests.fakeapi import Answer, FakeApi
from tests.helpers import Table, agreed, drive, no_traceback, script
from tests.next.cli.users import User


@pytest.fixture(autouse=True)
def next_program() -> Iterator[None]:
    """The words of the helpers are those that the new program reads."""
    with drive("next"):
        yield


KEY = {"ANTHROPIC_API_KEY": "sk-ant-of-the-tests"}


def test_a_debate_begun_by_hand_is_ended_by_a_replay(tmp_path: Path) -> None:
    user, words = User(tmp_path), agreed()
    assert user.council("start", "Shall we?").code == 0
    assert user.council("record", "last", "01-positions/engineer", stdin=words["01-positions/engineer"]).code == 0
    ended = user.council("recover", "--speaker", "replay", "--from", script(user, words))
    no_traceback(ended)
    assert ended.code == 0


def test_an_address_of_ones_own_is_not_replaced(tmp_path: Path) -> None:
    user = User(tmp_path)
    program = voices.program_that_is_logged_in(user)
    env = {"ANTHROPIC_BASE_URL": "http://127.0.0.1:9", "COUNCIL_CLAUDE": str(program)}
    ended = user.council("doctor", **env)
    assert "claude speaks" not in ended.out
    assert ended.code == 4


def test_a_wait_without_an_end_is_a_pause(tmp_path: Path) -> None:
    user, words = User(tmp_path, KEY), agreed()
    endless = Answer(fault="status", status=429, retry_after="9" * 12)
    with FakeApi(Table(user, words, {"02-challenges/engineer": [endless] * 9})) as api:
        user.configure(f"endpoints:\n  anthropic: {{base_url: {api.url}}}\nretry: {{budget: 600}}")
        ended = user.council("run", "Shall we?")
    no_traceback(ended)
    assert ended.code == 3


@pytest.mark.parametrize(
    ("line", "offered"),
    [
        ("council run --with securi", "security"),
        ("council run --workflow del", "delphi"),
        ("council help rec", "recover"),
    ],
)
def test_the_shell_completes(line: str, offered: str, tmp_path: Path) -> None:
    words = line.split(" ")
    asked = {"_COUNCIL_COMPLETE": "bash_complete", "COMP_WORDS": line, "COMP_CWORD": str(len(words) - 1)}
    rows = User(tmp_path).council(**asked).out.splitlines()
    assert offered in [row.partition(",")[2] for row in rows]


def test_status_says_that_a_session_is_damaged(tmp_path: Path) -> None:
    user = User(tmp_path)
    assert user.replay(script(user, agreed()), "Shall we?").code == 0
    turn = user.session / "turns" / "01-positions" / "engineer.md"
    turn.write_bytes(turn.read_bytes() + b"More.")
    assert user.council("status").code == 1
