"""Whose answer a person's turn is: in its receipt, the transcript and the JSON. A model's turn names nobody."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from tests.forgery import GATE
from tests.helpers import User, receipts_of, script
from tests.recordings import done

PROPOSALS = {f"01-proposals/{seat}": "Let us begin." for seat in ("architect", "designer")}
TURN = "02-decision/human"


@pytest.fixture
def user(tmp_path: Path) -> User:
    user = User(tmp_path)
    own = GATE.replace(", owner: human}", "}").replace("seats: owner", "seats: human")
    user.write(".council/Workflows/Gate.md", own)
    ended = user.council("gate", "Do we?", "--speaker", "replay", "--from", script(user, PROPOSALS))
    assert ended.code in (4, 8), ended.text
    return user


def by_of(user: User) -> dict[str, str | None]:
    return {turn: receipt["by"] for turn, receipt in receipts_of(user.session).items()}


def test_the_name_that_was_given_is_shown_everywhere(user: User) -> None:
    done(user.council("record", "last", TURN, "--answer", "decision=yes", "--by", "Ann\nExample"))
    assert by_of(user) == {**dict.fromkeys(PROPOSALS), TURN: "Ann Example"}
    assert "*(answered by Ann Example)*" in (user.session / "transcript.md").read_text()
    turns = done(user.council("show", "--json")).json["rounds"][-1]["turns"]
    assert [turn["by"] for turn in turns] == ["Ann Example"]
    assert "answered by Ann Example" in done(user.council("show", "--html")).out
    done(user.council("verify"))
    assert not (user.session / "runner.json").exists(), "the run that waited for the answer is over"


def test_without_a_name_it_is_gits_or_the_login(user: User) -> None:
    (user.root / ".gitconfig").write_text("[user]\n\tname = Bea Example\n")
    done(user.council("record", "last", TURN, "--answer", "decision=no"))
    assert by_of(user)[TURN] == "Bea Example"


def test_without_git_it_is_the_login(user: User) -> None:
    done(user.council("record", "last", TURN, "--answer", "decision=no", LOGNAME="carl", PATH=os.devnull))
    assert by_of(user)[TURN] == "carl"


def test_a_login_without_a_letter_is_no_name(user: User) -> None:
    done(user.council("record", "last", TURN, "--answer", "decision=no", LOGNAME="\x1b[0m", PATH=os.devnull))
    assert by_of(user)[TURN] == f"user {os.getuid()}"


def test_the_repository_does_not_say_who_answers(user: User) -> None:
    config = user.work / ".git" / "config"
    config.parent.mkdir()
    (config.parent / "HEAD").write_text("ref: refs/heads/main\n")
    config.write_text("[user]\n\tname = The owner\n")
    done(user.council("record", "last", TURN, "--answer", "decision=no", LOGNAME="carl"))
    assert by_of(user)[TURN] == "carl"


def test_nobody_is_named_for_a_models_turn(tmp_path: Path) -> None:
    user = User(tmp_path)
    done(user.council("start", "Do we?", "--only=architect", "--only=designer"))
    ended = user.council("record", "last", "01-positions/architect", "--by", "Ann", stdin="Yes.")
    assert ended.code == 2
    assert "is not a person's turn" in ended.err
    assert not (user.session / "turns").exists()
