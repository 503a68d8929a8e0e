"""The loop: everything that is due is asked once, recorded at once, and whatever ends a run, nothing is lost."""

from __future__ import annotations

import asyncio
import json
import math
import os
import signal
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from council.next.config import places
from council.next.config.settings import Settings
from council.next.engine.planner import Due, Plan
from council.next.errors import AuthError, Busy, Interrupted, Paused, StorageError, UsageError, Waiting
from council.next.prompts import brief as briefs
from council.next.prompts.brief import Brief
from council.next.record import desk, lock
from council.next.record.catalog import is_ours
from council.next.record.session import Session
from council.next.record.turn_file import Receipt
from council.next.runner import loop, process
from council.next.runner.budget import Budget
from council.next.runner.loop import Run, hold, limit_of
from council.next.speakers.assistant import Assistant
from council.next.speakers.base import CallFailed, Refused, Speaker, Spoken, speakers
from council.next.speakers.choose import Mix
from council.next.speakers.replay import Replay
from tests.next.runner.debating import Scripted, Told, begun, held, settings, until, usual_reply

FIRST = ["architect", "designer", "engineer", "researcher"]


def finish(session: Session, home: Path) -> Plan:
    with session.hold():
        plan = held(Run(session, Scripted(settings(home)), settings(home)))
    assert isinstance(plan, Plan)
    assert plan.done
    return plan


def test_a_debate_is_held_to_its_end(tmp_path: Path) -> None:
    told = Told()
    with begun(tmp_path) as session:
        speaker = Scripted(settings(tmp_path))
        plan = held(Run(session, speaker, settings(tmp_path), listener=told))
    assert isinstance(plan, Plan)
    assert plan.done
    assert len(speaker.asked) == len({*speaker.asked}) == len(session.said) == 9
    assert told.spoken == [*session.said]
    assert session.outcome.kind == "agreed"
    assert all(receipt.brief and receipt.answered == "m-20261101" for receipt in session.receipts.values())
    assert {"state.json", "convergence.json"} <= {path.name for path in session.folder.iterdir()}


def test_members_of_a_round_speak_at_once_and_read_nobody_of_it(tmp_path: Path) -> None:
    together = asyncio.Event()
    under_way: list[str] = []

    async def instead(brief: Brief) -> None:
        if brief.due.phase.name == "positions":
            under_way.append(brief.due.seat.name)
            if len(under_way) == len(FIRST):
                together.set()
            await together.wait()

    with begun(tmp_path) as session:
        speaker = Scripted(settings(tmp_path), instead)
        assert isinstance(held(Run(session, speaker, settings(tmp_path))), Plan)
    for seat in FIRST:
        assert not any(f"What {other} would do" in speaker.briefs[f"01-positions/{seat}"] for other in FIRST)
        assert all(
            f"What {other} would do" in speaker.briefs[f"02-challenges/{seat}"] for other in FIRST if other != seat
        )


@pytest.mark.parametrize("stop_after", [1, 2, 5, 6, 8])
def test_an_ended_run_goes_on_where_it_stopped(tmp_path: Path, stop_after: int) -> None:
    """The limit on calls stops it anywhere. The whole is the same as that of an unbroken run."""
    with begun(tmp_path) as session:
        broken = Scripted(settings(tmp_path), most=0.01)
        ended = held(Run(session, broken, settings(tmp_path), Budget(max_calls=stop_after)))
    assert isinstance(ended, Paused)
    assert f"limit of {stop_after} calls" in str(ended)
    assert len(session.said) == len(broken.asked) == stop_after
    again = Session(session.folder)
    second = Scripted(settings(tmp_path), most=0.01)
    with again.hold():
        assert isinstance(held(Run(again, second, settings(tmp_path), Budget.of(again))), Plan)
    assert not {*broken.asked} & {*second.asked}
    assert len(again.said) == 9
    assert again.outcome.kind == "agreed"
    assert Budget.of(again).calls == 9
    assert Budget.of(again).spent == pytest.approx(0.09)


def test_a_call_that_fails_for_now_is_tried_again_and_said_once(tmp_path: Path) -> None:
    failures = iter([*[CallFailed("overloaded (529)", again=True, wait=0.05, usd=0.0)] * 4])

    def instead(brief: Brief) -> BaseException | str:
        return next(failures, None) or usual_reply(brief)

    told = Told()
    with begun(tmp_path) as session:
        speaker = Scripted(settings(tmp_path), instead, most=0.01)
        assert isinstance(held(Run(session, speaker, settings(tmp_path), listener=told)), Plan)
    assert told.lines == ["overloaded (529); trying again in 1 s"]
    assert len(speaker.asked) == 13
    failed = [one for one in session.attempts() if "failed" in one]
    assert [one["usd"] for one in failed] == [0.0] * 4


def test_an_hour_is_not_waited_for(tmp_path: Path) -> None:
    """The run pauses at once, with one message, and nobody else is called. Calls under way come to their end."""
    told = Told()

    async def instead(brief: Brief) -> BaseException | None:
        if brief.due.seat.name == "engineer":
            return CallFailed("rate limit (429)", again=True, wait=3600)
        return None

    with begun(tmp_path) as session:
        speaker = Scripted(settings(tmp_path), instead, most=0.01)
        ended = held(Run(session, speaker, settings(tmp_path), listener=told))
    assert isinstance(ended, Paused)
    assert str(ended).startswith("rate limit (429). It asks to wait until ")
    assert told.lines == []
    assert speaker.asked == [f"01-positions/{seat}" for seat in FIRST]
    assert [*session.said] == [f"01-positions/{seat}" for seat in FIRST if seat != "engineer"]
    finish(Session(session.folder), tmp_path)


def test_one_cause_is_one_sentence(tmp_path: Path) -> None:
    with begun(tmp_path) as session:
        speaker = Scripted(settings(tmp_path), lambda brief: CallFailed("the context is full", again=False))
        ended = held(Run(session, speaker, settings(tmp_path)))
    assert isinstance(ended, Paused)
    assert str(ended).count("the context is full") == 1
    assert not session.said


@pytest.mark.parametrize(("quorum", "done"), [(2, True), (3, True), (4, False), (None, False)])
def test_the_quorum_decides_whether_a_lost_member_ends_the_run(tmp_path: Path, quorum: int | None, done: bool) -> None:
    def instead(brief: Brief) -> BaseException | None:
        lost = brief.due.seat.name == "designer"
        return CallFailed("the prompt is refused (400)", again=False) if lost else None

    with begun(tmp_path) as session:
        speaker = Scripted(settings(tmp_path), instead)
        ended = held(Run(session, speaker, settings(tmp_path), quorum=quorum))
    assert isinstance(ended, Plan if done else Paused)
    absences = [one.absent for one in session.receipts.values() if one.absent]
    assert absences == (["the prompt is refused (400)"] * 2 if done else [])
    if done:
        assert {voice.seat: voice.silence for voice in session.outcome.count.voices}["designer"] == "not heard"


def test_nobody_can_do_without_the_writer(tmp_path: Path) -> None:
    for failure in (Spoken("", absent="the model declined", usd=0.0), CallFailed("full", again=False)):

        def declines(brief: Brief, failure: Spoken | CallFailed = failure) -> Spoken | CallFailed | None:
            return failure if brief.due.seat.name == "chair" else None

        with begun(tmp_path) as session:
            speaker = Scripted(settings(tmp_path), declines)
            ended = held(Run(session, speaker, settings(tmp_path), quorum=1))
        assert isinstance(ended, Paused)
        assert [due.seat.name for due in session.plan.due] == ["chair"]
        finish(Session(session.folder), tmp_path)


def test_a_member_that_declines_is_absent(tmp_path: Path) -> None:
    def declines(brief: Brief) -> Spoken | None:
        return Spoken("", absent="the model declined", usd=0.0) if brief.due.seat.name == "designer" else None

    with begun(tmp_path) as session:
        assert isinstance(held(Run(session, Scripted(settings(tmp_path), declines), settings(tmp_path))), Plan)
    assert [one.absent for one in session.receipts.values() if one.absent] == ["the model declined"] * 2


def test_a_member_that_refuses_is_absent_and_the_writer_is_asked_again(tmp_path: Path) -> None:
    def refuses(brief: Brief) -> Refused | None:
        return Refused("the model refused to answer", 0.01) if brief.due.seat.name in ("designer", "chair") else None

    with begun(tmp_path) as session:
        ended = held(Run(session, Scripted(settings(tmp_path), refuses, most=0.01), settings(tmp_path)))
    assert isinstance(ended, Paused)
    assert [one.absent for one in session.receipts.values() if one.absent] == ["the model refused to answer"] * 2
    assert [due.seat.name for due in session.plan.due] == ["chair"]
    assert Budget.of(session).spent == pytest.approx(0.09)  # six replies and three refusals


def test_another_model_than_the_one_that_was_asked_is_said_once(tmp_path: Path) -> None:
    def other(brief: Brief) -> Spoken:
        return Spoken(usual_reply(brief), asked="large-5", answered="small-5", usd=0.0)

    told = Told()
    with begun(tmp_path) as session:
        assert isinstance(
            held(Run(session, Scripted(settings(tmp_path), other), settings(tmp_path), listener=told)), Plan
        )
    assert told.lines == ["large-5 was asked, and small-5 answered"]


def test_a_refused_key_ends_the_run_and_is_no_failure_of_a_member(tmp_path: Path) -> None:
    with begun(tmp_path) as session:
        speaker = Scripted(settings(tmp_path), lambda brief: AuthError("the key was rejected"), most=0.01)
        ended = held(Run(session, speaker, settings(tmp_path), quorum=1))
    assert isinstance(ended, AuthError)
    assert not session.said
    assert Budget.of(session).spent == 0.0


def test_a_reply_that_cannot_be_stored_is_handed_over(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The disk is full: what was paid for goes to the listener, of every member that was under way."""
    told = Told()
    with begun(tmp_path) as session:
        full = StorageError("disk is full")
        monkeypatch.setattr(session, "record", lambda *_: (_ for _ in ()).throw(full))
        ended = held(Run(session, Scripted(settings(tmp_path)), settings(tmp_path), listener=told))
    assert isinstance(ended, StorageError)
    assert [*told.lost] == [f"01-positions/{seat}" for seat in FIRST]
    assert all("What" in body for body in told.lost.values())


def test_a_pause_stops_before_the_next_turns(tmp_path: Path) -> None:
    with begun(tmp_path) as session:

        def instead(brief: Brief) -> None:
            if brief.due.id == "01-positions/engineer":
                desk.pause(session.folder, "ada")

        ended = held(Run(session, Scripted(settings(tmp_path), instead), settings(tmp_path)))
        assert isinstance(ended, Paused)
        assert "ada asked for a pause" in str(ended)
        assert len(session.said) == 4
        assert not desk.is_paused(session.folder)
    finish(Session(session.folder), tmp_path)


def test_time_limits_count_calls_and_keep_what_came(tmp_path: Path) -> None:
    async def instead(brief: Brief) -> None:
        if brief.due.seat.name == "designer":
            await asyncio.Event().wait()

    given = settings(tmp_path, limits={"round_timeout": 1.5})
    with begun(tmp_path) as session:
        ended = held(Run(session, Scripted(given, instead), given))
    assert isinstance(ended, Paused)
    assert str(ended) == "Designer (Aditi) did not answer: the round took longer than 1.5 s"
    assert [*session.said] == [f"01-positions/{seat}" for seat in FIRST if seat != "designer"]
    finish(Session(session.folder), tmp_path)


def test_a_workflows_own_limit_of_time_counts(tmp_path: Path) -> None:
    with begun(tmp_path, workflow="perspectives", options={"checkpoints": False}) as session:
        assert limit_of(session, settings(tmp_path), "round_timeout") == 300
        assert limit_of(session, settings(tmp_path, limits={"round_timeout": 20.0}), "round_timeout") == 20
        assert limit_of(session, settings(tmp_path), "no_timeout") == math.inf


def test_a_gate_waits_and_is_answered_from_elsewhere(tmp_path: Path) -> None:
    with begun(tmp_path, gates=("positions",)) as session:
        ended = held(Run(session, Scripted(settings(tmp_path)), settings(tmp_path)))
        assert isinstance(ended, Waiting)
        assert "council answer" in str(ended)
        gate = session.plan.due[0].id
    answer = desk.Answer(gate, "## Gate\napprove", "ada", "page", 1_700_000_000.0)
    assert desk.answer(session.folder, answer) == "recorded"
    finish(Session(session.folder), tmp_path)


def test_a_run_that_waits_takes_the_answer_from_the_desk(tmp_path: Path) -> None:
    with begun(tmp_path, gates=("positions",)) as session:
        run = Run(session, Scripted(settings(tmp_path)), settings(tmp_path), wait=True)

        async def both() -> Plan:
            holding = asyncio.create_task(hold(run))
            await until(lambda: [due.id for due in session.plan.due] == ["01-positions-gate/human"])
            answer = desk.Answer("01-positions-gate/human", "## Gate\napprove", "ada", "page", 1_700_000_000.0)
            assert await asyncio.to_thread(desk.answer, session.folder, answer) == "left"
            return await holding

        assert asyncio.run(both()).done
    assert session.receipts["01-positions-gate/human"].via == "page"


class Person(Speaker):
    name = "human"

    def __init__(self, body: str) -> None:
        self.body = body

    async def speak(self, brief: Brief, began: object) -> Spoken:
        if not self.body:
            await asyncio.Event().wait()
        return Spoken(self.body, by="ada", via="terminal", usd=0.0)


def test_a_person_is_asked_here_and_costs_no_call(tmp_path: Path) -> None:
    with begun(tmp_path, gates=("positions",)) as session:
        run = Run(session, Scripted(settings(tmp_path), most=0.01), settings(tmp_path), Budget(max_calls=9))
        run.person = Person("## Gate\nveto\n\n## Reason\nNot now.")
        assert isinstance(held(run), Plan)
    assert session.outcome.kind == "vetoed"
    assert session.receipts["01-positions-gate/human"].by == "ada"


SEATS = """---
name: seats
description: Three members, two of whom have speakers of their own.
seats: {members: [architect, {engineer: {speaker: guest}}, {researcher: {speaker: clockwork}}]}
phases:
  - {name: positions, sees: nothing, reply: {recommendation: text}}
---
"""


class Guest(Scripted):
    name = "guest"

    def __init__(self, settings: Settings) -> None:
        super().__init__(settings, lambda brief: "## Recommendation\nMine.")


class Clockwork(Guest):
    """A machine of council itself, which writes its own brief."""

    name = "clockwork"
    machine = True

    def brief(self, session: Session, due: Due) -> str:
        return due.id


@pytest.fixture
def seats(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """A workflow of the user's, and two speakers that it names."""
    folder = tmp_path / "council" / "Workflows"
    folder.mkdir(parents=True)
    (folder / "Seats.md").write_text(SEATS)
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path))
    speakers.types()
    for one in (Guest, Clockwork):
        speakers.register(one)
    yield
    for one in (Guest, Clockwork):
        del speakers[one.name]


@pytest.mark.usefixtures("seats")
def test_a_seat_that_names_its_speaker_is_asked_there_unless_the_user_names_another(tmp_path: Path) -> None:
    usual, mine = (Scripted(settings(tmp_path), lambda brief: "## Recommendation\nOurs.") for _ in range(2))
    expected = {"architect": "scripted", "engineer": "guest", "researcher": "clockwork"}
    mix = Mix(settings(tmp_path), usual, {"engineer": mine, "researcher": mine})
    for given, who in ((usual, "guest"), (mix, "scripted")):
        with begun(tmp_path / who, workflow="seats") as session:
            assert isinstance(held(Run(session, given, settings(tmp_path))), Plan)
        assert {one.seat: one.speaker for one in session.receipts.values()} == {**expected, "engineer": who}
    assert mine.asked == ["01-positions/engineer"], "nobody takes the place of a machine"


@pytest.mark.usefixtures("seats")
@pytest.mark.parametrize("named", [True, False])
def test_by_hand_machines_alone_are_asked(tmp_path: Path, named: bool) -> None:
    hand = Assistant(settings(tmp_path)) if named else None
    with begun(tmp_path, workflow="seats") as session:
        assert isinstance(held(Run(session, hand, settings(tmp_path))), Waiting)
    assert [*session.said] == ["01-positions/researcher"]


@pytest.mark.usefixtures("seats")
def test_a_replay_speaks_for_every_seat(tmp_path: Path) -> None:
    script = tmp_path / "turns.yaml"
    words = "'## Recommendation\n\n  Again.'"
    script.write_text("".join(f"01-positions/{seat}: {words}\n" for seat in ("architect", "engineer", "researcher")))
    with begun(tmp_path, workflow="seats") as session:
        assert isinstance(held(Run(session, Replay(settings(tmp_path), str(script)), settings(tmp_path))), Plan)
    assert {one.speaker for one in session.receipts.values()} == {"replay"}


def test_the_first_answer_counts_while_a_person_is_asked_here(tmp_path: Path) -> None:
    with begun(tmp_path, gates=("positions",)) as session:
        run = Run(session, Scripted(settings(tmp_path)), settings(tmp_path), person=Person(""))

        async def both() -> Plan:
            holding = asyncio.create_task(hold(run))
            await until(lambda: [due.id for due in session.plan.due] == ["01-positions-gate/human"])
            answer = desk.Answer("01-positions-gate/human", "## Gate\napprove", "bo", "page", 1_700_000_000.0)
            await asyncio.to_thread(desk.answer, session.folder, answer)
            return await holding

        assert asyncio.run(both()).done
    assert session.receipts["01-positions-gate/human"].by == "bo"


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM, signal.SIGHUP])
def test_a_signal_ends_a_run_at_once(tmp_path: Path, number: int) -> None:
    """Members that hang are not waited for, and everything that was said is on record."""

    async def instead(brief: Brief) -> None:
        if brief.due.phase.name == "challenges":
            os.kill(os.getpid(), number)
            await asyncio.Event().wait()

    with begun(tmp_path) as session:
        run = Run(session, Scripted(settings(tmp_path), instead), settings(tmp_path))
        with pytest.raises(Interrupted) as ended:
            process.run(run)
    assert ended.value.code == 128 + number
    assert len(session.said) == 4
    assert (session.folder / "state.json").exists()
    finish(Session(session.folder), tmp_path)


def test_a_signal_that_the_caller_ignores_or_handles_is_left_to_it(tmp_path: Path) -> None:
    """Under nohup a closed terminal ends nothing. A program keeps the handlers that it had."""
    heard: list[int] = []

    def instead(brief: Brief) -> None:
        if brief.due.id == "01-positions/engineer":
            os.kill(os.getpid(), signal.SIGHUP)
            os.kill(os.getpid(), signal.SIGTERM)

    before = signal.signal(signal.SIGHUP, signal.SIG_IGN), signal.signal(signal.SIGTERM, lambda *_: heard.append(1))
    try:
        own = signal.getsignal(signal.SIGTERM)
        with begun(tmp_path) as session:
            assert process.run(Run(session, Scripted(settings(tmp_path), instead), settings(tmp_path))).done
        assert (signal.getsignal(signal.SIGHUP), signal.getsignal(signal.SIGTERM)) == (signal.SIG_IGN, own)
    finally:
        signal.signal(signal.SIGHUP, before[0])
        signal.signal(signal.SIGTERM, before[1])
    assert heard == [1]
    assert signal.getsignal(signal.SIGINT) is signal.default_int_handler


# ---- a person is needed: the user is told once ----


@pytest.fixture
def told_of(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """The events of which the user is told, in place of the processes that tell."""
    events: list[str] = []
    monkeypatch.setattr(loop, "notify", lambda how, session, event: events.append(event))
    return events


class Leaves(Person):
    """Presses Ctrl-D."""

    async def speak(self, brief: Brief, began: object) -> Spoken:
        raise Waiting(f"{brief.due.id} waits for you")


def test_who_leaves_a_question_is_called_once(tmp_path: Path, told_of: list[str]) -> None:
    with begun(tmp_path, gates=("positions",)) as session:
        run = Run(session, Scripted(settings(tmp_path)), settings(tmp_path), person=Leaves(""))
        assert isinstance(held(run), Waiting)
        assert told_of == ["needed"]
        assert isinstance(held(Run(session, Scripted(settings(tmp_path)), settings(tmp_path))), Waiting)
        assert told_of == ["needed"] * 2, "once more, by the next run"


def test_who_is_waited_for_is_called_when_the_wait_begins(tmp_path: Path, told_of: list[str]) -> None:
    given = settings(tmp_path, limits={"checkpoint_timeout": 0.0})
    with begun(tmp_path, gates=("positions",)) as session:
        ended = held(Run(session, Scripted(given), given, wait=True))
    assert isinstance(ended, Waiting)
    assert str(ended).startswith("nobody answered 01-positions-gate/human within 0 s")
    assert told_of == ["needed"]


def test_a_replay_that_has_the_persons_answer_calls_nobody(tmp_path: Path, told_of: list[str]) -> None:
    with begun(tmp_path / "first", gates=("positions",)) as first:
        run = Run(first, Scripted(settings(tmp_path)), settings(tmp_path), person=Person("## Gate\napprove"))
        assert isinstance(held(run), Plan)
    told_of.clear()
    with begun(tmp_path / "again", gates=("positions",)) as again:
        replay = Replay(settings(tmp_path), str(first.folder))
        assert isinstance(held(Run(again, replay, settings(tmp_path))), Plan)
    assert told_of == ["ended"]


# ---- a run that ends: what is under way is paid for ----


def test_what_fails_between_two_turns_costs_no_reply(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The brief of a second try cannot be written while others still speak: their replies are stored all the same."""
    full = asyncio.Event()

    async def instead(brief: Brief) -> str | None:
        if brief.due.seat.name == "architect":
            return "unreadable"
        await full.wait()
        return None

    with begun(tmp_path) as session:
        write = session.write_brief

        def fails(id: str, shared: str, own: str) -> str:
            if id.endswith(".2"):
                full.set()
                raise StorageError("disk is full")
            return write(id, shared, own)

        monkeypatch.setattr(session, "write_brief", fails)
        ended = held(Run(session, Scripted(settings(tmp_path), instead, most=0.01), settings(tmp_path)))
    assert isinstance(ended, StorageError)
    assert [*session.said] == [f"01-positions/{seat}" for seat in FIRST]


def test_a_reply_that_cannot_be_stored_matters_more_than_a_pause(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    told = Told()
    with begun(tmp_path) as session:
        run = Run(session, Scripted(settings(tmp_path), most=0.01), settings(tmp_path), listener=told)
        record = session.record

        def fails(receipt: Receipt, body: bytes) -> bool:
            if receipt.seat != "architect":
                raise StorageError("disk is full")
            desk.pause(session.folder, "ada")
            return record(receipt, body)

        async def instead(brief: Brief) -> None:
            if brief.due.seat.name != "architect":
                await until(lambda: run._caller.ends)

        run.speaker.instead = instead  # type: ignore[union-attr]
        monkeypatch.setattr(session, "record", fails)
        ended = held(run)
    assert isinstance(ended, StorageError)
    assert sorted(told.lost) == [f"01-positions/{seat}" for seat in FIRST[1:]]


def test_nothing_is_tried_again_once_a_run_ends(tmp_path: Path) -> None:
    with begun(tmp_path) as session:
        run = Run(session, Scripted(settings(tmp_path), most=0.01), settings(tmp_path))

        async def instead(brief: Brief) -> BaseException | None:
            if brief.due.seat.name == "architect":
                desk.pause(session.folder, "ada")
                return None
            await until(lambda: run._caller.ends)
            return CallFailed("overloaded (529)", again=True, wait=0.001)

        run.speaker.instead = instead  # type: ignore[union-attr]
        assert isinstance(held(run), Paused)
        assert run.speaker.asked == [f"01-positions/{seat}" for seat in FIRST]  # type: ignore[union-attr]
    assert [*session.said] == ["01-positions/architect"]


# ---- one after the other ----

QUEUE = """---
name: queue
description: Four who speak one after the other.
seats: {members: [architect, designer, engineer, researcher]}
phases:
  - {name: positions, order: sequential, reply: {recommendation: text}}
---
# Prompts
## positions
Speak.
"""


@pytest.mark.parametrize(("quorum", "done"), [(1, True), (3, True), (4, False), (None, False)])
def test_the_quorum_counts_those_who_remain_not_those_who_spoke(tmp_path: Path, quorum: int | None, done: bool) -> None:
    """The first of four fails. Three remain, though nobody has spoken yet."""
    (tmp_path / "queue.md").write_text(QUEUE)

    def instead(brief: Brief) -> CallFailed | str:
        lost = brief.due.seat.name == "architect"
        return CallFailed("too long (400)", again=False) if lost else "## Recommendation\nWait."

    with begun(tmp_path, workflow=str(tmp_path / "queue.md")) as session:
        ended = held(Run(session, Scripted(settings(tmp_path), instead), settings(tmp_path), quorum=quorum))
    assert isinstance(ended, Plan if done else Paused)
    assert [one.seat for one in session.receipts.values() if one.absent] == (["architect"] if done else [])
    assert len(session.said) == (4 if done else 0)


def test_when_the_time_is_used_up_no_further_call_is_begun(tmp_path: Path) -> None:
    """A quorum lets the round go on without who was too slow, and not with calls that nobody would wait for."""
    (tmp_path / "queue.md").write_text(QUEUE)

    async def instead(brief: Brief) -> None:
        await asyncio.Event().wait()

    given = settings(tmp_path, limits={"round_timeout": 0.3})
    with begun(tmp_path, workflow=str(tmp_path / "queue.md")) as session:
        speaker = Scripted(given, instead, most=0.01)
        ended = held(Run(session, speaker, given, quorum=1))
    assert isinstance(ended, Paused)
    assert "the round took longer than 0.3 s" in str(ended)
    assert speaker.asked == ["01-positions/architect"]
    assert len(session.attempts()) == 1
    assert len(session.said) == 3, "the last one would leave nobody"


# ---- what others see of a run ----


def test_words_are_left_on_the_desk_while_somebody_watches(tmp_path: Path) -> None:
    seen: list[dict[str, str]] = []
    with begun(tmp_path) as session:

        def instead(brief: Brief) -> None:
            if brief.due.phase.name == "challenges":
                desk.watch(session.folder)

        class Speaks(Scripted):
            async def speak(self, brief: Brief, began: Callable[[str], None]) -> Spoken:
                def both(text: str) -> None:
                    began(text)
                    seen.append(desk.words(session.folder))

                return await super().speak(brief, both)

        assert isinstance(held(Run(session, Speaks(settings(tmp_path), instead), settings(tmp_path))), Plan)
    first = next(words for words in seen if words)
    assert [*first] == ["02-challenges/architect"], "nobody watched before"
    assert first["02-challenges/architect"] == session.said["02-challenges/architect"].body
    assert desk.words(session.folder) == {}, "what is on record is not left there"
    os.utime(session.folder / "desk" / "watch", (1, 1))
    desk.add_words(session.folder, "02-challenges/architect", "x")
    assert desk.words(session.folder) == {}, "who watched has gone"


def test_the_words_of_a_call_that_failed_are_not_those_of_the_next(tmp_path: Path) -> None:
    class Breaks(Scripted):
        async def speak(self, brief: Brief, began: Callable[[str], None]) -> Spoken:
            if brief.due.id == "01-positions/engineer":
                before.append(desk.words(session.folder).get(brief.due.id))
                began("The first words")
                assert desk.words(session.folder)[brief.due.id] == "The first words"
                if len(before) == 1:
                    raise CallFailed("cut off", again=True, wait=0.001)
            return await super().speak(brief, began)

    before: list[str | None] = []
    with begun(tmp_path) as session:
        desk.watch(session.folder)
        assert isinstance(held(Run(session, Breaks(settings(tmp_path)), settings(tmp_path))), Plan)
    assert before == [None, None]


@pytest.mark.parametrize("odd", ["link", "folder", "pipe"])
def test_what_lies_in_the_place_of_words_ends_no_run(tmp_path: Path, odd: str) -> None:
    with begun(tmp_path) as session:
        desk.watch(session.folder)
        place = session.folder / "desk" / "words" / "01-positions~engineer"
        place.parent.mkdir()
        target = tmp_path / "target"
        target.write_text("mine")
        if odd == "link":
            place.symlink_to(target)
        elif odd == "folder":
            place.mkdir()
        else:
            os.mkfifo(place)
        desk.words(session.folder)
        desk.add_words(session.folder, "01-positions/engineer", "x")
        assert isinstance(held(Run(session, Scripted(settings(tmp_path)), settings(tmp_path))), Plan)
    assert target.read_text() == "mine"


def test_only_the_process_that_holds_a_session_is_stopped(tmp_path: Path) -> None:
    with begun(tmp_path) as session:
        note = json.loads((session.folder / "runner.json").read_text())
        for other in ({"host": "elsewhere"}, {"pid": 0}, {"pid": -1}, {"pid": True}, {"pid": "1"}, {"pid": None}):
            (session.folder / "runner.json").write_text(json.dumps({**note, **other}))
            assert not desk.stop(session.folder)
        (session.folder / "runner.json").write_text(json.dumps(note))
        with pytest.raises(KeyboardInterrupt):
            desk.stop(session.folder)
    assert not desk.stop(session.folder), "nobody holds it"


def test_the_plan_before_a_turn_is_what_its_speaker_could_know(tmp_path: Path) -> None:
    def instead(brief: Brief) -> str | None:
        return "unreadable" if brief.due.id == "02-challenges/engineer" else None

    with begun(tmp_path) as session:
        assert isinstance(held(Run(session, Scripted(settings(tmp_path), instead), settings(tmp_path))), Plan)
    for turn in session.said:
        plan, due = session.plan.before(turn)
        assert due.id == turn
        assert briefs.render(replaced(session, plan), due).text.encode() == session.brief(turn)
    plan, due = session.plan.before("02-challenges/engineer.2")
    assert due.first
    assert due.first.body == "unreadable"
    assert {turn.phase for turn in plan.scene.turns} == {"positions"}
    with pytest.raises(UsageError, match="never asked for"):
        session.plan.before("02-challenges/nobody")


def replaced(session: Session, plan: Plan) -> Session:
    """The session as it was when this was its plan."""
    past = Session(session.folder)
    past.__dict__["plan"] = plan
    return past


# ---- two at once ----


def test_of_two_runs_one_works_and_the_other_says_who(tmp_path: Path) -> None:
    with begun(tmp_path) as session:
        for work in ("", lock.BY_HAND):  # nobody waits for a run
            with pytest.raises(Busy, match=f"process {os.getpid()} on "), Session(session.folder).hold(work=work):
                raise AssertionError
        with pytest.raises(RuntimeError, match="hold the session"):
            held(Run(Session(session.folder), Scripted(settings(tmp_path)), settings(tmp_path)))
    finish(Session(session.folder), tmp_path)


def test_sessions_that_begin_here_are_ours(tmp_path: Path) -> None:
    with begun(tmp_path) as session:
        pass
    assert is_ours(places.marks(tmp_path), session)


@pytest.mark.xfail(strict=True, reason="each run has limiters of its own")
def test_debates_of_one_process_share_the_limit_of_a_place(tmp_path: Path) -> None:
    """Two debates at once make no more calls at a time than one may."""
    under_way, most = 0, 0

    async def instead(brief: Brief) -> None:
        nonlocal under_way, most
        under_way += 1
        most = max(most, under_way)
        await asyncio.sleep(0.01)
        under_way -= 1

    given = settings(tmp_path, concurrency=2)

    async def both() -> None:
        with begun(tmp_path) as one, begun(tmp_path) as two:
            await asyncio.gather(*(hold(Run(each, Scripted(given, instead), given)) for each in (one, two)))

    asyncio.run(both())
    assert most == 2
