"""The registry of speakers: its files say which there are, and each says what it can do."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from council import speakers
from council.errors import UsageError
from council.speakers import registry
from council.speakers.base import Billing, SpeakerType, Spoken
from council.speakers.select import speaker_of
from council.workflow.model import HUMAN, Seat
from tests.helpers import CODE, User


def test_the_names_are_those_of_the_files() -> None:
    assert speakers.names() == ("anthropic", "assistant", "claude", "human", "local", "replay", "shelf", "shell")


@pytest.mark.parametrize("name", speakers.names())
def test_every_speaker_declares_itself(name: str) -> None:
    found = registry.find(name)
    assert found.name == name
    assert found.about
    assert (found.make is None) == found.manual, "whatever is not called is recorded by hand"
    assert not found.auto or (found.make and found.setup), "what auto chooses says how to make it available"


def test_auto_tries_them_in_the_order_of_the_design() -> None:
    assert [one.name for one in registry.automatic()] == ["anthropic", "claude", "local"]


def test_what_each_can_do() -> None:
    types = registry.all_types()
    assert {one.name for one in types if one.free} == {"human", "local", "replay", "shelf", "shell"}
    assert {one.name for one in types if one.on_this_machine} == {"local", "replay", "shelf", "shell"}
    assert {one.name for one in types if one.machine} == {*speakers.MACHINES} == {"shelf", "shell"}
    assert {one.name for one in types if one.caches_prompts} == {"anthropic"}
    assert {one.name for one in types if one.speaks_for_all} == {"assistant", "replay"}
    assert [one.name for one in types if one.is_person] == [HUMAN]
    assert registry.manual().name == "assistant"


def test_an_unknown_name_suggests_another() -> None:
    with pytest.raises(UsageError, match='unknown speaker "clade"; did you mean "claude"'):
        registry.find("clade")


def test_a_receipt_may_name_a_speaker_that_is_gone() -> None:
    gone = registry.describe("gone")
    assert (gone.name, gone.free, gone.is_person, gone.manual, gone.make) == ("gone", False, False, False, None)
    assert gone.usd(Spoken("words"), None) is None, "its price is unknown, not nothing"


@pytest.mark.parametrize("name", speakers.MACHINES)
def test_no_machine_speaks_for_everybody(name: str, tmp_path: Path) -> None:
    ended = User(tmp_path).council("run", "--speaker", name, "Shall we?")
    assert ended.code == 2
    assert f"{name} speaks only for seats that a workflow gives to it" in ended.err
    assert not list((tmp_path / "memory").rglob("metadata.json"))


def test_a_seat_that_names_a_speaker_goes_first_but_for_who_speaks_for_all() -> None:
    seat = Seat("guest", "members", {"speaker": HUMAN})
    assert speaker_of(seat, "claude").is_person
    assert [speaker_of(seat, everybody).name for everybody in ("replay", "assistant")] == ["replay", "assistant"]
    assert speaker_of(Seat("guest", "members"), "claude").name == "claude"


def test_a_price_that_was_reported_goes_first() -> None:
    free = SpeakerType("one", "", billing=Billing.FREE)
    assert (free.usd(Spoken(""), None), free.usd(Spoken("", usd=0.5), None)) == (0.0, 0.5)
    assert SpeakerType("two", "", billing=Billing.PRICES).usd(Spoken(""), None) is None


@pytest.mark.parametrize(
    ("code", "heavy"),
    [
        ("from council import speakers; speakers.names()", ["asyncio", "council.speakers.base", "yaml"]),
        ("from council.speakers import registry; registry.find('anthropic')", ["anthropic", "asyncio", "httpx2"]),
        ("from council.speakers import registry; registry.all_types()", ["anthropic", "xllamacpp", "ctypes"]),
    ],
)
def test_asking_is_cheap(code: str, heavy: list[str]) -> None:
    """In a process of its own, for what other tests have imported is loaded already."""
    seen = f"{code}; import sys; print([name for name in {heavy!r} if name in sys.modules])"
    done = subprocess.run([sys.executable, "-c", seen], cwd=CODE, capture_output=True, text=True, check=True)
    assert done.stdout == "[]\n"
