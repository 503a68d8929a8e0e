"""Debates with loops, gates, a person and replies that are stored by hand, killed at any call that changes a file."""

from __future__ import annotations

import asyncio
import random
import shutil
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from typing import Any

import pytest

from council.next.engine.planner import Due, Plan
from council.next.errors import StorageError
from council.next.prompts.brief import Brief
from council.next.record.session import Session
from council.next.runner import by_hand
from council.next.runner.budget import Budget
from council.next.runner.by_hand import Reply
from council.next.runner.loop import Run, hold
from council.next.runner.prepare import Request, prepare
from council.next.speakers.base import Speaker, Spoken
from tests.next.protocols.held import Held, signs
from tests.next.record import strikes
from tests.next.runner.debating import settings

ID = "a-debate"
VOTES: dict[str, Any] = {"challenges": {"all": signs("R1"), "designer": "I will not say.", "engineer": None}}
REQUESTS: dict[str, dict[str, Any]] = {
    "a debate with gates": {"gates": ("positions", "synthesis"), "options": {"three_rounds": True}},
    "a consensus that a person decides": {"workflow": "consensus", "options": {"max_rounds": "2"}},
    "a board": {"workflow": "board", "options": {"max_rounds": "3"}},
    "delphi, with a gate": {"workflow": "delphi", "gates": ("synthesis",)},
    "perspectives that are cast": {"workflow": "perspectives"},
    "a debate by hand": {},
}


class Everybody(Speaker):
    """Gives the usual answers of any step, and notes each turn in a file, in which a killed process leaves them."""

    name = "scripted"

    def __init__(self, home: Path) -> None:
        super().__init__(settings(home))
        self.notes = (home / "asked").open("ab", buffering=0)  # no strike falls on it

    def price_limit(self, brief: Brief) -> float | None:
        return 0.01

    async def speak(self, brief: Brief, began: Callable[[str], None]) -> Spoken:
        self.notes.write(f"{brief.due.id}\n".encode())
        await asyncio.sleep(0)
        body = reply(brief.session, brief.due)
        if brief.due.seat.is_person:
            return Spoken(body, by="Ada", via="terminal", usd=0.0)
        return Spoken(body, asked="m", answered="m", usd=0.01, absent=None if body else "the model declined")


class Person(Everybody):
    name = "human"


def reply(session: Session, due: Due) -> str:
    held = Held(session.workflow, **VOTES)
    held.plan = session.plan
    return held.reply(due).body


@contextmanager
def at_work(home: Path, name: str) -> Iterator[Callable[[], object]]:
    """What `recover` does or, by hand, what `next` and `record` do until nothing is due."""
    session = Session(home / "STATE" / "council-sessions" / ID)
    model, person = Everybody(home), Person(home)

    def by_a_run() -> object:
        return asyncio.run(hold(Run(session, model, settings(home), Budget.of(session), person=person)))

    def hand() -> object:
        while briefs := by_hand.due_now(session, settings(home)):
            for due in [brief.due for brief in briefs]:
                body = reply(session, due)
                by_hand.record(session, settings(home), due.id, Reply(body, absent="" if body else "gone"))
        return session.plan

    try:
        with session.hold():
            yield hand if name == "a debate by hand" else by_a_run
    finally:
        for one in (model, person):
            one.notes.close()


def go_on(name: str, home: Path) -> None:
    with at_work(home, name) as work:
        assert isinstance(work(), Plan)


def result(home: Path) -> dict[str, Any]:
    session = Session(home / "STATE" / "council-sessions" / ID)
    assert session.plan.done
    assert len([*(home / "RESEARCH").rglob("*.md")]) == 1
    assert not [path for path in session.folder.rglob("*") if path.name.endswith(".council-temp")]
    found: dict[str, Any] = {id: (said.body, said.absent, session.brief(id)) for id, said in session.said.items()}
    return found | {"outcome": session.outcome.as_data()}


@pytest.fixture(scope="module")
def wholes(tmp_path_factory: pytest.TempPathFactory) -> dict[str, tuple[Path, Path, int]]:
    """Of each debate: as it was begun, as it ended where nobody killed it, and how many calls it made."""
    found = {}
    for name, request in REQUESTS.items():
        home = tmp_path_factory.mktemp("whole")
        with prepare(Request("Redis or PostgreSQL?", id=ID, **request), settings(home)):
            pass
        begun = home.with_name(f"{home.name}-begun")
        shutil.copytree(home, begun)
        found[name] = (begun, home, strikes.count(partial(go_on, name), home).number)
    return found


def points(name: str, calls: int, all_: bool) -> list[tuple[str, int]]:
    dice = random.Random(name)
    if all_:
        return [(kind, at) for kind in strikes.DEATHS for at in range(1, calls + 1, 11)]
    return [(dice.choice(strikes.DEATHS), dice.randint(1, calls)) for _ in range(3)]


@pytest.mark.parametrize("all_", [False, pytest.param(True, marks=pytest.mark.full)], ids=["some", "all"])
@pytest.mark.parametrize("name", REQUESTS)
def test_it_goes_on_after_every_kill(
    wholes: dict[str, tuple[Path, Path, int]], name: str, all_: bool, tmp_path: Path
) -> None:
    begun, whole, calls = wholes[name]
    expected = result(whole)
    for number, (kind, at) in enumerate(points(name, calls, all_)):
        home = tmp_path / str(number)
        shutil.copytree(begun, home)
        strikes.die(partial(go_on, name), home, kind, at)
        turns = home / "STATE" / "council-sessions" / ID / "turns"
        kept = {f"{path.parent.name}/{path.stem}": path.read_bytes() for path in turns.glob("*/*.md")}
        asked = (home / "asked").read_text().split() if (home / "asked").exists() else []
        go_on(name, home)
        again = (home / "asked").read_text().split()[len(asked) :]
        assert not {*again} & {*kept}, (kind, at)
        assert all((turns / f"{id}.md").read_bytes() == data for id, data in kept.items()), (kind, at)
        assert result(home) == expected, (kind, at)
        shutil.rmtree(home)


@pytest.mark.parametrize("all_", [False, pytest.param(True, marks=pytest.mark.full)], ids=["some", "all"])
@pytest.mark.parametrize("kind", strikes.ERRORS)
@pytest.mark.parametrize("name", REQUESTS)
def test_a_disk_that_fails_from_then_on_is_told_and_loses_nothing(
    wholes: dict[str, tuple[Path, Path, int]], name: str, kind: str, all_: bool, tmp_path: Path
) -> None:
    begun, whole, calls = wholes[name]
    for number, (_, at) in enumerate(points(name, calls, all_)[:30]):
        home = tmp_path / str(number)
        shutil.copytree(begun, home)
        with (
            strikes.struck(strikes.Strike(kind, at, for_good=True)),
            pytest.raises(StorageError),
            at_work(home, name) as work,
        ):
            work()
        go_on(name, home)
        assert result(home) == result(whole), (kind, at)
        shutil.rmtree(home)
