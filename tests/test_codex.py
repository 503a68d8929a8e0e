"""What only Codex does: its sandbox, members that inherit a conversation, and threads that commands can be told by."""

from __future__ import annotations

import json
import re
import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest

from council.record import turn_file
from tests import client_promises, clients, portable
from tests.client_promises import SEPARATE
from tests.clients import Room
from tests.codex import Codex
from tests.helpers import agreed
from tests.portable import Action, Say, Shell, Talk

pytestmark = pytest.mark.skipif(not Codex().program, reason=f"{Codex().variable} names no program")
TOPIC = "Council: Queue or table?"


@pytest.fixture
def folder() -> Iterator[Path]:
    with tempfile.TemporaryDirectory(prefix="council-codex-", dir=Codex.homes) as name:
        yield Path(name).resolve()


class Alone(portable.Council):
    """A host that answers one turn itself, and gives up after that, or where it is refused."""

    def host(self, talk: Talk) -> list[Action]:
        if portable.SKILL in talk.shown:
            return [Shell(self.begin)]
        if portable.SKILL not in talk.seen:
            return super().host(talk)
        if portable.STORE.search(talk.shown) or portable.DUE.search(talk.shown):
            return self.member(talk)
        return [Say(talk.shown)]


def begin_alone(room: Room) -> str:
    room.model.act = Alone(TOPIC, agreed())
    return room.hold(TOPIC)


def modes(room: Room) -> set[str]:
    return {json.loads(request.headers["x-codex-turn-metadata"])["sandbox_mode"] for request in room.api.prompts}


def test_members_that_inherit_the_conversation_are_not_separate(folder):
    """Why the skill asks for an empty history, which is not what Codex gives them by itself."""
    assert client_promises.debate(Codex(fork="all"), folder)[SEPARATE]


def test_without_the_program_on_the_path_the_skills_own_is_called(folder):
    own = folder / ".agents" / "skills" / "council" / "bin" / "council"
    begin = f"council --version || {own} start - <<'{portable.DELIMITER}'\n{TOPIC}\n{portable.DELIMITER}"
    words = client_promises.hard(agreed())
    with clients.room(folder, Codex(profile=""), TOPIC, words, begin=begin) as room:
        printed = room.hold(TOPIC)
        assert [*client_promises.check_words(room.user, words, dict.fromkeys(words, "member"))] == [], printed
        assert any("council: command not found" in sent for _, sent in room.requests_of(members=False))


def test_members_read_all_of_a_long_brief(folder):
    """Codex cuts the middle out of what a command prints if it is longer than about 40,000 bytes."""
    begin = f"council start --file plan.md - <<'{portable.DELIMITER}'\n{TOPIC}\n{portable.DELIMITER}"
    marks = [f"mark {number}." for number in range(70)]
    with clients.room(folder, Codex(), TOPIC, agreed(), begin=begin) as room:
        room.user.write("plan.md", "\n".join(f"{mark} {'☕ plan ' * 100}" for mark in marks))
        room.hold(TOPIC)
        read = {talk.turn: sent for talk, sent in room.requests_of(members=True)}
        assert set(read) == set(agreed())
        missed = {(turn, mark) for turn, sent in read.items() for mark in marks if mark not in sent}
        assert missed == set()


def test_a_turn_that_the_host_answers_itself_is_entered_by_hand(folder):
    """In the sandbox, where the home keeps nothing: the session is the project's."""
    with clients.room(folder, Codex(), TOPIC, agreed()) as room:
        begin_alone(room)
        assert modes(room) == {"workspace-write"}
        assert not (room.user.root / ".claude").exists()
        (path,) = room.user.session.glob("turns/*/*.md")
        receipt, _ = turn_file.decode(path.read_bytes(), path)
        assert receipt.recorded_by == "hand"


def test_a_folder_that_codex_may_only_read_is_refused_in_a_sentence(folder):
    """As it may read every folder until the user trusts it."""
    with clients.room(folder, Codex(trust=""), TOPIC, agreed()) as room:
        printed = begin_alone(room)
        assert modes(room) == {"read-only"}
        assert re.search(r"^council: .*: Read-only file system: .*; nor can a session be kept in ", printed, re.M), (
            printed
        )
        assert room.user.sessions == []


def test_a_first_use_in_the_sandbox_is_refused_in_a_sentence(folder):
    """The environment of council would be in the home, and the sandbox has no network to install from."""
    with clients.room(folder, Codex(), TOPIC, agreed()) as room:
        del room.user.env["COUNCIL_VENV"]  # type: ignore[attr-defined]
        printed = begin_alone(room)
        refusal = r"^council: .*: Read-only file system: .* \(in an assistant's sandbox: run this once in a terminal\)$"
        assert re.search(refusal, printed, re.M)
        assert not (room.user.root / ".local" / "share").exists()
