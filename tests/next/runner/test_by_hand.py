"""The loop by hand: the same debate, whoever stores the replies."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import ClassVar

import pytest

from council.next.engine.planner import Due, Plan
from council.next.errors import UsageError
from council.next.prompts.brief import Brief
from council.next.record import desk, lock
from council.next.record.session import Session
from council.next.runner import by_hand
from council.next.runner.by_hand import Reply
from council.next.runner.loop import Run
from council.next.speakers.base import Speaker, Spoken, speaker, speakers
from tests.next.runner.debating import Scripted, begun, held, settings, usual_reply


def test_a_debate_by_hand_is_the_debate_of_a_run(tmp_path: Path) -> None:
    with begun(tmp_path, id="by-hand") as hand:
        while briefs := by_hand.due_now(hand, settings(tmp_path)):
            for brief in briefs:
                assert (hand.folder / "briefs" / f"{brief.due.id}.md").exists()
                assert (
                    by_hand.record(hand, settings(tmp_path), brief.due.id, Reply(usual_reply(brief), model="m")) == ()
                )
    with begun(tmp_path, id="by-run") as run:
        assert isinstance(held(Run(run, Scripted(settings(tmp_path)), settings(tmp_path))), Plan)
    assert {id: said.body for id, said in hand.said.items()} == {id: said.body for id, said in run.said.items()}
    assert hand.outcome.kind == run.outcome.kind == "agreed"
    receipt = hand.receipts["01-positions/engineer"]
    assert (receipt.speaker, receipt.answered, receipt.stored, receipt.usd) == ("assistant", "m", "hand", None)


@pytest.mark.parametrize("turns", [1, 4, 6])
def test_what_an_assistant_began_a_shell_finishes(tmp_path: Path, turns: int) -> None:
    with begun(tmp_path) as session:
        for _ in range(turns):
            brief = by_hand.due_now(session, settings(tmp_path))[0]
            by_hand.record(session, settings(tmp_path), brief.due.id, Reply(usual_reply(brief)))
    again = Session(session.folder)
    speaker = Scripted(settings(tmp_path))
    with again.hold():
        assert isinstance(held(Run(again, speaker, settings(tmp_path))), Plan)
    assert len(speaker.asked) == 9 - turns


def test_a_reply_that_cannot_be_read_is_asked_for_once_more(tmp_path: Path) -> None:
    with begun(tmp_path) as session:
        problems = by_hand.record(session, settings(tmp_path), "01-positions/engineer", Reply("Just words."))
        assert any("Recommendation" in one for one in problems)
        due = {brief.due.id: brief.text for brief in by_hand.due_now(session, settings(tmp_path))}
        assert "01-positions/engineer.2" in due
        assert "Recommendation" in due["01-positions/engineer.2"]


@pytest.mark.parametrize(
    ("turn", "reply", "why"),
    [
        ("01-positions/engineer", Reply(" \n"), "the reply is empty"),
        ("01-positions/nobody", Reply("x"), "is not due"),
        ("../../evil", Reply("x"), "is not due"),
        ("02-challenges/engineer", Reply("x"), "is not due"),
        ("01-positions/engineer", Reply("x", by="ada", model="m"), "only one of them"),
    ],
)
def test_what_is_no_reply_is_refused(tmp_path: Path, turn: str, reply: Reply, why: str) -> None:
    with begun(tmp_path) as session:
        before = sorted(session.folder.rglob("*"))
        with pytest.raises(UsageError, match=why):
            by_hand.record(session, settings(tmp_path), turn, reply)
        assert sorted(session.folder.rglob("*")) == before


def test_a_turn_is_never_overwritten(tmp_path: Path) -> None:
    with begun(tmp_path) as session:
        brief = by_hand.due_now(session, settings(tmp_path))[0]
        by_hand.record(session, settings(tmp_path), brief.due.id, Reply(usual_reply(brief)))
        with pytest.raises(UsageError, match="recorded already"):
            by_hand.record(session, settings(tmp_path), brief.due.id, Reply("other words"))


def test_a_persons_answer_is_checked_before_it_is_stored(tmp_path: Path) -> None:
    with begun(tmp_path, gates=("positions",)) as session:
        for brief in by_hand.due_now(session, settings(tmp_path)):
            by_hand.record(session, settings(tmp_path), brief.due.id, Reply(usual_reply(brief)))
        with pytest.raises(UsageError, match='"## Gate"'):
            by_hand.record(session, settings(tmp_path), "01-positions-gate/human", Reply("well, maybe", by="ada"))
        body = by_hand.compose(session, "01-positions-gate/human", {"gate": "reject", "reason": "Too early.\nLater."})
        by_hand.record(session, settings(tmp_path), "01-positions-gate/human", Reply(body, by="ada"))
    assert session.outcome.kind == "rejected"
    assert session.outcome.acts[0].by.text == "Too early.\nLater."
    assert json.loads((session.folder / "state.json").read_text("utf-8"))["outcome"]["kind"] == "rejected"


@pytest.mark.parametrize(
    ("answers", "why"),
    [
        ({"gates": "approve"}, 'does not ask for "gates"'),
        ({"gate": "perhaps"}, '"## Gate"'),
        ({"reason": "x\n\n## Gate\napprove"}, "heading of another"),
        ({}, '"## Gate"'),
    ],
)
def test_answers_that_cannot_be_used_are_refused(tmp_path: Path, answers: dict[str, str], why: str) -> None:
    with begun(tmp_path, gates=("positions",)) as session:
        for brief in by_hand.due_now(session, settings(tmp_path)):
            by_hand.record(session, settings(tmp_path), brief.due.id, Reply(usual_reply(brief)))
        with pytest.raises(UsageError, match=why):
            by_hand.compose(session, "01-positions-gate/human", answers)


MACHINE = """---
name: bench
seats: {members: [architect], bench: [{tests: {speaker: toy}}]}
phases:
  - {name: positions}
  - {name: trial, seats: tests}
---
# Prompts
## positions
Write it.
"""


class Toy(Speaker):
    name: ClassVar[str] = "toy"
    machine: ClassVar[bool] = True

    def brief(self, session: Session, due: Due) -> str:
        return f"try {due.id} of {session.id}"

    async def speak(self, brief: Brief, began: Callable[[str], None]) -> Spoken:
        return Spoken("passed", machine={"passed": True}, usd=0.0)


@pytest.fixture
def toy() -> Iterator[None]:
    speakers.types()
    speaker(Toy)
    yield
    del speakers["toy"]


@pytest.mark.usefixtures("toy")
def test_what_council_makes_itself_is_recorded_for_nobody(tmp_path: Path) -> None:
    """An assistant that could store the turn of a bench could say that its tests passed."""
    path = tmp_path / "bench.md"
    path.write_text(MACHINE)
    with begun(tmp_path, workflow=str(path)) as session:
        by_hand.record(session, settings(tmp_path), "01-positions/architect", Reply("Done."))
        for reply in (Reply("passed"), Reply(absent="no time")):
            with pytest.raises(UsageError, match="is for no member: council makes it itself"):
                by_hand.record(session, settings(tmp_path), "02-trial/tests", reply)
        assert by_hand.due_now(session, settings(tmp_path)) == []
        assert session.receipts["02-trial/tests"].machine == {"passed": True}


def test_an_answer_that_comes_during_a_command_by_hand_is_recorded_after_it(tmp_path: Path) -> None:
    """The command would not take it from the desk, so there it would wait for nobody."""
    with begun(tmp_path, gates=("positions",)) as session:
        for brief in by_hand.due_now(session, settings(tmp_path)):
            by_hand.record(session, settings(tmp_path), brief.due.id, Reply(usual_reply(brief)))
    given = desk.Answer("01-positions-gate/human", "## Gate\napprove", "ada", "page", 1_700_000_000.0)
    with ThreadPoolExecutor(1) as thread:
        with Session(session.folder).hold(work=lock.BY_HAND):
            answering = thread.submit(desk.answer, session.folder, given)
            with pytest.raises(TimeoutError):
                answering.result(0.5)
        assert answering.result() == "recorded"
