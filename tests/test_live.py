"""What a seat says can be read by others while it says it, and nothing of the debate depends on that."""

from __future__ import annotations

import asyncio
import os
import signal
from pathlib import Path
from unittest import mock

import pytest

from council.record import live, turn_file
from council.reports import verify
from council.runner.live import LiveWords
from tests.coding import wait_until
from tests.fakeapi import Answer, FakeApi
from tests.helpers import Table, User, agreed, picture, script

TURN = "01-positions/architect"


@pytest.fixture
def user(tmp_path: Path) -> User:
    return User(tmp_path, {"ANTHROPIC_API_KEY": "sk-ant-of-the-tests"})


def say(words: LiveWords, *pieces: str, turn: str = TURN) -> None:
    """Pieces that arrive together."""

    async def add() -> None:
        for piece in pieces:
            words.add(turn, piece)
        words._write()

    asyncio.run(add())


def left(folder: Path) -> list[Path]:
    return [*folder.rglob("*.council-temp")]


def test_words_can_be_read_on_from_where_one_was(tmp_path: Path) -> None:
    words = LiveWords(tmp_path, pytest.fail)
    assert live.find_speaking(tmp_path) == []
    assert live.read_words(tmp_path, TURN) is None
    say(words, "Keep ", "one — ")
    assert live.find_speaking(tmp_path) == [TURN]
    first = live.read_words(tmp_path, TURN)
    assert first is not None
    assert (first.at, first.text, first.next) == (0, "Keep one — ", 13)
    say(words, "database.\ud800")
    assert live.read_words(tmp_path, TURN, first.key, first.next) == live.LivePiece(
        first.key, 13, "database.\\ud800", 28
    )
    assert live.read_words(tmp_path, TURN, first.key, 28) == live.LivePiece(first.key, 28, "", 28)
    words.end(TURN)
    assert live.read_words(tmp_path, TURN, first.key, 28) is None
    assert left(tmp_path) == []


def test_half_a_letter_is_read_once_it_is_whole(tmp_path: Path) -> None:
    words = LiveWords(tmp_path, pytest.fail)
    say(words, "a—b")
    path = words.written[TURN].path
    path.write_bytes(whole := path.read_bytes()[:-2])
    assert (found := live.read_words(tmp_path, TURN)) is not None
    assert (found.text, found.next) == ("a", 1)
    path.write_bytes(whole + "—".encode()[-1:])
    assert live.read_words(tmp_path, TURN, found.key, 1) == live.LivePiece(found.key, 1, "—", 4)


def test_a_seat_that_begins_anew_is_read_from_the_beginning(tmp_path: Path) -> None:
    words = LiveWords(tmp_path, pytest.fail)
    say(words, "The first attempt, which was cut off")
    assert (first := live.read_words(tmp_path, TURN)) is not None
    words.end(TURN)
    say(words, "The second")
    assert (second := live.read_words(tmp_path, TURN, first.key, first.next)) is not None
    assert (second.at, second.text) == (0, "The second")
    assert second.key != first.key


@pytest.mark.parametrize("hostile", ["link", "fifo", "folder"])
def test_a_reader_follows_no_link_and_waits_for_no_pipe(tmp_path: Path, hostile: str) -> None:
    path = tmp_path / "turns" / "01-positions" / ".architect.live.council-temp"
    path.parent.mkdir(parents=True)
    {"link": lambda: path.symlink_to("/etc/passwd"), "fifo": lambda: os.mkfifo(path), "folder": path.mkdir}[hostile]()
    assert live.read_words(tmp_path, TURN) is None


@pytest.mark.parametrize("key", ["x\nevent: turn\n\nx", "\nid: 1\ndata: {}\n\n", "0123456789abcdef0"])
def test_what_council_did_not_write_has_no_words(tmp_path: Path, key: str) -> None:
    """A key, and the name of a turn, become lines of an event."""
    place = tmp_path / "turns" / "01-positions"
    place.mkdir(parents=True)
    for name in ("architect", "a\nevent: turn\n\n"):
        (place / f".{name}{live.SUFFIX}").write_text(f"{key}\nwords")
    assert live.find_speaking(tmp_path) == [TURN]
    assert live.read_words(tmp_path, TURN) is None


@pytest.mark.parametrize("failing", ["open", "write"])
def test_the_first_file_that_cannot_be_written_ends_it_with_one_remark(tmp_path: Path, failing: str) -> None:
    told: list[str] = []
    words = LiveWords(tmp_path, told.append)
    say(words, "Before. ")
    with mock.patch.object(os, failing, side_effect=OSError(28, "No space left on device")):
        say(words, "Now.", turn="01-positions/engineer")
    say(words, "Later.")
    assert len(told) == 1
    assert "No space left" in told[0]
    assert left(tmp_path) == []


def test_words_of_a_killed_run_are_swept_and_change_nothing(user: User) -> None:
    """It is killed while one seat is still speaking, and all others are done."""
    begun = Answer("The architect would keep", chunks=3, fault="stall", after=2)
    with FakeApi(Table(user, agreed(), faults={TURN: [begun]})) as api:
        user.configure(f"endpoints:\n  anthropic: {{base_url: {api.url}}}")
        with user.spawn("run", "-q", "Should we keep one database?") as run:
            assert wait_until(lambda: bool(user.sessions and live.read_words(user.session, TURN)))
            assert wait_until(lambda: len([*user.session.glob("turns/01-positions/*.md")]) == 3)
            found = live.read_words(user.session, TURN)
            assert found is not None
            assert begun.text.startswith(found.text)
            assert wait_until(lambda: live.find_speaking(user.session) == [TURN]), "words of stored turns are left"
            run.send_signal(signal.SIGKILL)
        assert verify.status(user.session).state == "interrupted"
        assert left(user.session) != []
        assert user.council("recover", "-q").code == 0
    assert left(user.session) == []
    assert user.council("verify").code == 0


def test_the_record_is_the_same_without_live_files(user: User, tmp_path: Path) -> None:
    """A disk that refuses them costs a remark."""
    replay = ("run", "-q", "Should we keep one database?", "--speaker", "replay", "--pace", "real", "--from")
    other, opened = User(tmp_path / "other"), mock.Mock(side_effect=live.LiveFile)
    with mock.patch.multiple("council.runner.live", EVERY=0.001, LiveFile=opened):
        ended = user.council(*replay, script(user, agreed()))
    assert ended.code == 0
    assert opened.call_count == len(agreed())
    refused = mock.Mock(side_effect=OSError(30, "Read-only file system"))
    with mock.patch.multiple("council.runner.live", EVERY=0.001, LiveFile=refused):
        without = other.council(*replay, script(other, agreed()))
    assert without.code == 0
    assert refused.call_count == 1
    assert without.err.count("Read-only file system") == 1
    assert said(user.session) == said(other.session)
    assert picture(user.session).keys() == picture(other.session).keys()


def said(session: Path) -> dict[str, str]:
    """What was answered, by turn, without the receipts: these say when it was."""
    turns = {path.parent.name + "/" + path.stem: path for path in session.glob("turns/*/*.md")}
    return {turn: turn_file.decode(path.read_bytes(), path)[1] for turn, path in turns.items()}
