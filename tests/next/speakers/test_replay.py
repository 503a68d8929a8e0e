"""Replays: the turns of a session or of a script, marked as what they are."""

from __future__ import annotations

import asyncio
from dataclasses import replace
from pathlib import Path

import pytest

from council.next.config.settings import Settings
from council.next.engine.planner import Due
from council.next.errors import UsageError, Waiting
from council.next.record.session import Session
from council.next.speakers.base import Speaker, Spoken, speakers
from council.next.workflow.model import HUMAN, Seat
from tests.next.record.sessions import born, hold
from tests.next.speakers.apis import CLIENTS, brief, fixed


def settings() -> Settings:
    return fixed(CLIENTS[0].model("http://127.0.0.1:9"))


def replay(source: object) -> Speaker:
    made: Speaker = speakers["replay"](settings(), str(source))
    return made


def speak(speaker: Speaker, turn: str, told: list[str] | None = None, due: Due | None = None) -> Spoken:
    asked = brief()
    about = replace(asked, due=replace(due or asked.due, id=turn))
    return asyncio.run(speaker.speak(about, (told if told is not None else []).append))


def script(folder: Path, text: str | bytes) -> Path:
    path = folder / "turns.yaml"
    path.write_bytes(text.encode() if isinstance(text, str) else text)
    return path


def test_a_script_speaks_and_says_that_it_is_one(tmp_path: Path) -> None:
    path = script(tmp_path, "01-positions/ada: |\n  Yes.\n01-positions/bo: 'absent: on leave'\n")
    told: list[str] = []
    spoken = speak(replay(path), "01-positions/ada", told)
    assert (spoken.body, spoken.replayed, spoken.usd, spoken.input) == ("Yes.\n", "turns.yaml", 0.0, 0)
    assert told == ["Yes.\n"]
    gone = speak(replay(path), "01-positions/bo")
    assert (gone.body, gone.absent) == ("", "on leave")


def test_a_session_speaks_again_without_what_its_machines_did(tmp_path: Path) -> None:
    with born(tmp_path) as session:
        pass
    hold(session, turns=3)
    first = Session(session.folder)
    for turn, said in first.said.items():
        spoken = speak(replay(session.folder), turn)
        assert (spoken.body, spoken.replayed, spoken.machine, spoken.by) == (said.body, session.id, None, None)


def test_a_missing_turn_is_named_and_so_is_a_second_try(tmp_path: Path) -> None:
    speaker = replay(script(tmp_path, "01-positions/ada: Yes."))
    with pytest.raises(UsageError, match=r"turns\.yaml has no turn 01-positions/cy; add it to the script"):
        speak(speaker, "01-positions/cy")
    again = replace(brief().due, problems=('"## Signs": the heading is missing',))
    with pytest.raises(UsageError, match=r"because of 01-positions/ada: \"## Signs\".*; .*|because of") as caught:
        speak(speaker, "01-positions/ada.2", due=again)
    assert "Correct 01-positions/ada, or add 01-positions/ada.2" in str(caught.value)


def test_a_person_who_is_missing_in_a_script_is_waited_for(tmp_path: Path) -> None:
    with born(tmp_path) as session:
        pass
    asked = replace(brief(), session=session, due=replace(brief().due, id="02-x/human", seat=Seat(HUMAN)))
    with pytest.raises(Waiting, match="has no person's reply for 02-x/human"):
        asyncio.run(replay(script(tmp_path, "a: b")).speak(asked, lambda _: None))


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("- a\n- b\n", "a script is turns with their replies"),
        ("a: [1]\n", "a script is turns with their replies"),
        ("a: {b: c}\n", "a script is turns with their replies"),
        ("a: 'open\n", "not valid YAML"),
        (b"a: caf\xe9\n", "cannot be read: .utf-8."),
        ("a: " + "[" * 60 + "]" * 60, "nested deeper"),
        ("a: b\n" * 2, 'the key "a" is repeated'),
    ],
)
def test_a_script_that_is_none_is_refused_by_name(text: str | bytes, says: str, tmp_path: Path) -> None:
    with pytest.raises(UsageError, match=says) as caught:
        replay(script(tmp_path, text))
    assert "turns.yaml" in str(caught.value)


@pytest.mark.parametrize(
    ("source", "why"),
    [("", "the id of a session, or a file of turns"), ("/nowhere/at-all", 'no session is called "/nowhere/at-all"')],
)
def test_a_replay_needs_a_source(source: str, why: str) -> None:
    with pytest.raises(UsageError, match=why):
        replay(source)


def test_only_a_replay_takes_a_source() -> None:
    with pytest.raises(UsageError, match="--from is for a replay, and api is none"):
        speakers["api"](settings(), "turns.yaml")


def test_at_its_own_pace_every_letter_comes_in_order(tmp_path: Path) -> None:
    path = script(tmp_path, "01-positions/ada: ' One  two\n\n  three '\n")
    speaker, told = replay(path), list[str]()
    speaker.pace = 0.001  # type: ignore[attr-defined]
    spoken = speak(speaker, "01-positions/ada", told)
    assert len(told) > 1
    assert "".join(told) == spoken.body
