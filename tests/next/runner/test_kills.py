"""A run that is killed at any call that changes a file goes on as if nothing had happened, and asks nobody twice."""

from __future__ import annotations

import asyncio
import os
import random
import shutil
from collections.abc import Callable
from pathlib import Path

import pytest

from council.next.engine.planner import Plan
from council.next.errors import StorageError
from council.next.prompts.brief import Brief
from council.next.record.session import Session
from council.next.runner.budget import Budget
from council.next.runner.loop import Run, hold
from council.next.runner.prepare import Request, prepare
from council.next.speakers.base import Spoken
from tests.next.record import strikes
from tests.next.runner.debating import Scripted, Told, held, settings

ID = "a-debate"


class Counted(Scripted):
    """Notes each call in a file, in which a killed process leaves what it had asked."""

    def __init__(self, home: Path) -> None:
        super().__init__(settings(home), most=0.01)
        self.notes = os.open(home / "asked", os.O_RDWR | os.O_CREAT | os.O_APPEND, 0o600)

    async def speak(self, brief: Brief, began: Callable[[str], None]) -> Spoken:
        os.pwrite(self.notes, f"{brief.due.id}\n".encode(), 0)
        return await super().speak(brief, began)


def begin(home: Path) -> None:
    with prepare(Request("Redis or PostgreSQL?", id=ID), settings(home)):
        pass


def go_on(home: Path) -> None:
    """What `recover` does."""
    session = Session(home / "STATE" / "council-sessions" / ID)
    with session.hold():
        assert isinstance(held(Run(session, Counted(home), settings(home), Budget.of(session))), Plan)


def result(home: Path) -> dict[str, str]:
    """What must be the same after every kill: the words, the briefs, the outcome, and one copy in the archive."""
    folder = home / "STATE" / "council-sessions" / ID
    session = Session(folder)
    assert session.outcome.kind == "agreed"
    assert len(list((home / "RESEARCH").rglob("*.md"))) == 1
    left = [path for path in folder.rglob("*") if path.name.endswith(".council-temp")]
    assert not left
    words = {id: said.body for id, said in session.said.items()}
    return words | {id: session.brief(id).decode() for id in session.said}


@pytest.fixture(scope="module")
def whole(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, int]:
    """A debate that nobody killed, and how many calls it made."""
    home = tmp_path_factory.mktemp("whole")
    begin(home)
    shutil.copytree(home, home.with_name("begun"))
    return home, strikes.count(go_on, home).number


def check_kill(begun: Path, home: Path, kind: str, at: int) -> None:
    shutil.copytree(begun, home)
    strikes.die(go_on, home, kind, at)
    folder = home / "STATE" / "council-sessions" / ID
    kept = {path: path.read_bytes() for path in (folder / "turns").glob("*/*.md")}
    asked = asked_in(home)
    go_on(home)
    assert all(path.read_bytes() == data for path, data in kept.items()), (kind, at)
    again = asked_in(home)[len(asked) :]
    assert not {*again} & {f"{path.parent.name}/{path.stem}" for path in kept}, (kind, at)
    session = Session(folder)
    assert Budget.of(session).calls == len(session.attempts()) >= 9, (kind, at)


def asked_in(home: Path) -> list[str]:
    notes = home / "asked"
    return notes.read_text("utf-8").split() if notes.exists() else []


def points(calls: int, some: int) -> list[tuple[str, int]]:
    rng = random.Random(7)
    return [(rng.choice(strikes.DEATHS), rng.randint(1, calls)) for _ in range(some)]


def test_a_run_that_is_killed_goes_on(whole: tuple[Path, int], tmp_path: Path) -> None:
    home, calls = whole
    for number, (kind, at) in enumerate(points(calls, 12)):
        check_kill(home.with_name("begun"), tmp_path / str(number), kind, at)
        assert result(tmp_path / str(number)) == result(home), (kind, at)


@pytest.mark.full
@pytest.mark.parametrize("kind", strikes.DEATHS)
def test_a_run_is_killed_at_every_call(whole: tuple[Path, int], kind: str, tmp_path: Path) -> None:
    home, calls = whole
    for at in range(1, calls + 1):
        one = tmp_path / str(at)
        check_kill(home.with_name("begun"), one, kind, at)
        assert result(one) == result(home), (kind, at)
        shutil.rmtree(one)


@pytest.mark.parametrize("kind", [*strikes.ERRORS])
def test_a_disk_that_fails_ends_the_run_and_hands_over_every_reply(
    whole: tuple[Path, int], kind: str, tmp_path: Path
) -> None:
    home, calls = whole
    for number, (_, at) in enumerate(points(calls, 8)):
        one = tmp_path / str(number)
        shutil.copytree(home.with_name("begun"), one)
        folder = one / "STATE" / "council-sessions" / ID
        told = Told()
        session = Session(folder)
        speaker = Counted(one)
        with strikes.struck(strikes.Strike(kind, at)):
            try:
                with session.hold():
                    asyncio.run(hold(Run(session, speaker, settings(one), Budget.of(session), told)))
            except StorageError:
                pass
        answered = {*speaker.asked}
        assert answered <= {*told.spoken, *told.lost}, (kind, at)
        go_on(one)
        assert result(one) == result(home), (kind, at)


@pytest.mark.parametrize(
    "offset", [0, pytest.param(1, marks=pytest.mark.full), pytest.param(2, marks=pytest.mark.full)]
)
def test_a_run_that_is_cancelled_anywhere_leaves_nothing_open_and_goes_on(tmp_path: Path, offset: int) -> None:
    """Ctrl-C at each third step of the event loop, with a cap that lets calls wait for one another."""
    begin(tmp_path / "begun")

    async def cut(run: Run, steps: int) -> bool:
        holding = asyncio.create_task(hold(run))
        for _ in range(steps):
            await asyncio.sleep(0)
        ended = holding.done()
        holding.cancel()
        await asyncio.gather(holding, return_exceptions=True)
        assert asyncio.all_tasks() == {asyncio.current_task()}
        return ended

    for number in range(200):
        home = tmp_path / str(number)
        shutil.copytree(tmp_path / "begun", home)
        session, speaker = Session(home / "STATE" / "council-sessions" / ID), Counted(home)
        budget = Budget(max_cost=0.095)  # nine calls, of which two are under way at most at the end
        with session.hold():
            ended = asyncio.run(cut(Run(session, speaker, settings(home), budget), 3 * number + offset))
        assert budget.calls == len(session.attempts()) == len(asked_in(home))
        assert budget._reserved == []
        assert budget.spent == pytest.approx(Budget.of(session).spent)
        if ended:
            break
        said = {*session.said}
        go_on(home)
        assert not said & {*asked_in(home)[len(speaker.asked) :]}
        assert result(home)
    assert ended
    assert number >= 5
