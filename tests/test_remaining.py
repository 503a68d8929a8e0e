"""How long the rest takes: told after the first answer, and counted from the calls that are still to come."""

from __future__ import annotations

import itertools
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from council.checks import cost
from council.config.overlays import kit_folder
from council.runner import calls
from council.terminal import remaining
from council.terminal.remaining import Remaining
from council.terminal.screen import Screen
from council.terminal.watch import Speech, Watcher
from tests import scripted
from tests.fakeapi import FakeApi
from tests.helpers import Table, User, agreed, disputed, script
from tests.recordings import opened

RATE = cost.Rates("one", 2.0, 10.0, 1000)
WORKFLOWS = sorted(path.stem for path in (kit_folder() / "Workflows").glob("*.md") if path.stem != "Recovery")
MEMBERS = ("architect", "designer", "engineer", "researcher")


@pytest.fixture
def clock(monkeypatch: pytest.MonkeyPatch) -> SimpleNamespace:
    now = SimpleNamespace(seconds=1000.0)
    monkeypatch.setattr(remaining, "time", SimpleNamespace(monotonic=lambda: now.seconds))
    return now


def guess(name: str, slots: int, seconds: float = 60.0) -> Guess:
    workflow = scripted.workflow(name)
    tiers = {step.tier for _, step in workflow.steps()}
    tiers |= {str(seat.attributes["tier"]) for seat in workflow.all_seats() if seat.attributes.get("tier")}
    rates = dict.fromkeys(tiers, RATE)
    return Guess(Remaining(workflow, lambda: cost.bound_steps(workflow, "Shall we?", rates), slots), seconds)


class Guess:
    """What is guessed while the members answer, each in so many seconds."""

    def __init__(self, made: Remaining, seconds: float) -> None:
        self.made, self.seconds, self.recorded = made, seconds, []

    def after(self, place: str, unanswered: int, speaker: str = "anthropic", absent: str | None = None) -> str:
        """`place` is a phase, and its step if that has another name."""
        phase, _, step = place.partition("/")
        turn = f"{place}-{len(self.recorded)}"
        receipt: Any = SimpleNamespace(
            turn=turn, phase=phase, step=step or phase, speaker=speaker, seconds=self.seconds, absent=absent
        )
        self.recorded.append(receipt)
        due: Any = SimpleNamespace(phase=SimpleNamespace(name=phase), step=SimpleNamespace(name=step or phase))
        self.made.answered(due, receipt, self.recorded, unanswered)
        return str(self.made)


@pytest.mark.usefixtures("clock")
def test_one_at_a_time_every_call_counts() -> None:
    """Four positions, four challenges, perhaps four closing statements, and a synthesis that may be written again."""
    debate = guess("debate", slots=1)
    assert debate.after("positions", 3) == "about 8 to 13 min left"
    assert [debate.after("positions", left) for left in (2, 1, 0)][-1] == "about 5 to 10 min left"
    assert [debate.after("challenges", left) for left in (3, 2, 1, 0)][-1] == "about 1 to 6 min left"
    assert debate.after("closing", 3) == "about 4 to 5 min left", "the round that was not sure is held"


@pytest.mark.usefixtures("clock")
def test_calls_at_once_are_waited_for_once() -> None:
    debate = guess("debate", slots=4)
    assert debate.after("positions", 3) == "about 3 to 5 min left"
    assert [debate.after("positions", left) for left in (2, 1, 0)][-1] == "about 2 to 4 min left"


@pytest.mark.usefixtures("clock")
def test_a_round_that_was_skipped_is_not_waited_for() -> None:
    debate = guess("debate", slots=1)
    for place in ("positions", "challenges"):
        for left in (3, 2, 1, 0):
            debate.after(place, left)
    assert debate.after("synthesis", 1) == "about 1 min left", "it is asked for once more"


def test_between_answers_it_counts_down_and_ends(clock: SimpleNamespace) -> None:
    debate = guess("debate", slots=1)
    told = [debate.after("positions", 3)]
    for passed in (60, 465, 765):
        clock.seconds = 1000.0 + passed
        told.append(str(debate.made))
    assert told == ["about 8 to 13 min left", "about 7 to 12 min left", "up to about 5 min left", ""]


@pytest.mark.usefixtures("clock")
def test_quick_ones_and_those_that_nobody_called_are_not_measured() -> None:
    assert guess("debate", slots=4, seconds=1.0).after("positions", 3) == ""
    quick = guess("debate", slots=1, seconds=0.9)
    assert quick.after("positions", 3) == ""
    assert not quick.made.took
    assert guess("debate", slots=1).after("positions", 3, speaker="human") == ""
    assert guess("debate", slots=1).after("positions", 3, absent="no answer") == ""


@pytest.mark.usefixtures("clock")
@pytest.mark.parametrize("name", WORKFLOWS)
def test_every_workflow_of_the_kit_can_be_guessed(name: str) -> None:
    made = guess(name, slots=4)
    first = made.made.workflow.phases[0]
    made.after(f"{first.name}/{first.steps[0].name}", 0)
    least, most = made.made.left
    assert 0 <= least <= most


def test_without_a_count_nothing_is_guessed() -> None:
    """An endpoint of the session may no longer be configured."""
    assert Guess(Remaining(scripted.workflow("debate"), lambda: None, slots=1), 60.0).after("positions", 3) == ""


def ticking(monkeypatch: pytest.MonkeyPatch) -> None:
    """Each call takes 30 seconds, by its own clock."""
    monkeypatch.setattr(calls, "time", SimpleNamespace(monotonic=itertools.count(0, 30).__next__))


def test_a_run_says_it_once_after_the_first_answer(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    ticking(monkeypatch)
    user = User(tmp_path, {"ANTHROPIC_API_KEY": "k"})
    with FakeApi(Table(user, disputed())) as api:
        user.configure(f"endpoints: {{anthropic: {{base_url: {api.url}}}}}\nconcurrency: 1")
        ended = user.council("run", "Shall we?", "--speaker", "anthropic")
        quiet = user.council("run", "Shall we?", "--speaker", "anthropic", "--quiet")
    assert (ended.code, quiet.code) == (0, 0), ended.err
    assert [line for line in ended.err.splitlines() if "left" in line] == ["about 4 to 6 min left"]
    assert "\x1b" not in ended.err
    assert "left" not in quiet.err


def test_a_replay_is_not_measured(tmp_path: Path) -> None:
    user = User(tmp_path)
    ended = user.council("run", "Shall we?", "--speaker", "replay", "--from", script(user, agreed()))
    assert ended.code == 0
    assert " left" not in ended.err


def test_the_block_shows_who_speaks_and_counts_who_waits(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(Screen, "room", lambda _: (99, 12))
    watcher = Watcher(opened("debate-complete", tmp_path), Screen())
    watcher.remaining = guess("debate", slots=1).made
    watcher.remaining.left, watcher.remaining.at = (200.0, 300.0), remaining.time.monotonic()
    batch = [
        SimpleNamespace(id=f"01-positions/{name}", seat=SimpleNamespace(name=name, label=name)) for name in MEMBERS
    ]
    monkeypatch.setattr(Watcher, "typing", lambda _: False)
    for due in batch:
        watcher.speaking[due.id] = Speech(due)
    (alone,) = watcher.block("⠋")
    assert "waiting" not in alone
    watcher.call_began(batch[1])
    row, facts = watcher.block("⠋")
    assert row == "⠋ designer  …"
    assert facts.endswith(" · about 3 to 5 min left · 3 waiting")
    monkeypatch.setattr(Screen, "room", lambda _: (40, 12))
    assert len(watcher.block("⠋")) == 1
