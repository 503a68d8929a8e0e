"""How much work the core does, counted and not timed: replies are read once, plans are made once, and files that nobody
looks at are not written.
"""

from __future__ import annotations

import signal
import threading
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from council import text
from council.engine.planner import plan
from council.engine.scene import RecordedTurn
from council.record import session as record
from council.replies import parse
from council.reports import derived, verify
from tests import long_debate
from tests.fakeapi import Answer, FakeApi, Request
from tests.helpers import Table, User, derived_of, disputed, script
from tests.terminal import Shown

TURNS = 13


@pytest.fixture
def user(tmp_path: Path) -> User:
    return User(tmp_path, {"ANTHROPIC_API_KEY": "k"})


@pytest.fixture
def counted(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """The calls of what is expensive, by name."""
    calls: list[str] = []

    def count(module: Any, name: str) -> None:
        real = getattr(module, name)
        monkeypatch.setattr(module, name, lambda *a, **k: (calls.append(name), real(*a, **k))[1])

    count(record, "plan")
    count(derived, "derive")
    return calls


def replayed(user: User) -> None:
    ended = user.council("run", "--speaker", "replay", "--from", script(user, disputed()), "Shall we?")
    assert ended.code == 0, ended.text


# ---- replies and plans ----


def test_each_reply_is_read_once(user: User) -> None:
    parse.read.cache_clear()
    replayed(user)
    assert parse.read.cache_info().misses == TURNS
    verify.status(user.session)
    assert parse.read.cache_info().misses == TURNS


def test_a_plan_over_many_turns_reads_only_what_is_new() -> None:
    workflow, said = long_debate.debate(200)
    plan(workflow, said)
    newest = [*said][-1]
    said[newest] = replace(said[newest], body=f"{said[newest].body}\n\nAnd one thing more.")
    before = parse.read.cache_info().misses, text.content_words.cache_info().misses
    assert len(plan(workflow, said).due) == 4
    assert parse.read.cache_info().misses - before[0] == 1
    assert text.content_words.cache_info().misses - before[1] <= 2


def test_what_is_remembered_belongs_to_the_words_alone() -> None:
    """Another process, or a turn that was read again from its file, plans the same."""
    workflow, said = long_debate.debate(60)
    again = {id: RecordedTurn("".join([*turn.body]), "".join([*turn.brief])) for id, turn in said.items()}
    first = plan(workflow, said)
    parse.read.cache_clear()
    text.content_words.cache_clear()
    assert plan(workflow, again) == first


def test_a_status_makes_one_plan(user: User, counted: list[str]) -> None:
    replayed(user)
    counted.clear()
    assert verify.status(user.session).state == "complete"
    assert counted.count("plan") == 1


def test_a_session_plans_again_after_each_turn(user: User) -> None:
    assert user.council("start", "Shall we?").code == 0
    found = record.open_(user.session)
    found.read_turns()
    before = found.plan()
    assert found.plan() is before
    due = before.due[0].id
    found.said[due] = RecordedTurn("Words.", "A brief.")
    assert due not in {one.id for one in found.plan().due}
    del found.said[due]
    assert found.plan() == before


# ---- derived files ----


def test_nobody_watches_and_the_files_are_written_at_the_end(user: User, counted: list[str]) -> None:
    replayed(user)
    assert counted.count("derive") == 1
    assert {"round-1.md", "round-3.md", "synthesis.md", "transcript.md"} <= set(derived_of(user.session))


WORDS = ("run", "--speaker", "anthropic", "Shall we?")


@pytest.mark.parametrize(("flags", "kept"), [((), True), (("-q",), False), (("-q", "--watch"), True), (None, False)])
def test_on_a_terminal_they_keep_up(flags: tuple[str, ...] | None, kept: bool, user: User) -> None:
    """The API looks at the folder when the last turn is asked for. None is for a pipe."""
    seen: list[str] = []
    table = Table(user, disputed())

    def answer(request: Request) -> Answer:
        reply = table(request)
        if table.asked[-1].startswith("04"):
            seen.extend(derived_of(user.session))
        return reply

    with FakeApi(answer) as api:
        if flags is None:
            assert user.process(*WORDS, env={"ANTHROPIC_BASE_URL": api.url}).code == 0
        else:
            assert Shown(user, (*WORDS, *flags), 80, 24, ANTHROPIC_BASE_URL=api.url).code == 0
    assert {"round-1.md", "round-2.md"} <= set(seen) if kept else seen == []


def test_whoever_stops_a_debate_finds_them(user: User) -> None:
    table, asked = Table(user, disputed()), threading.Event()

    def answer(request: Request) -> Answer:
        reply = table(request)
        if not table.asked[-1].startswith("04"):
            return reply
        asked.set()
        return replace(reply, latency=60.0)

    with FakeApi(answer) as api, user.spawn(*WORDS, env={"ANTHROPIC_BASE_URL": api.url}) as process:
        assert asked.wait(60)
        process.send_signal(signal.SIGTERM)
        process.communicate()
    assert process.returncode == 143
    assert {"round-1.md", "round-2.md", "round-3.md", "transcript.md"} <= set(derived_of(user.session))


def test_a_pause_writes_them(user: User) -> None:
    ended = user.council(
        "run", "--speaker", "replay", "--from", script(user, disputed()), "--max-calls", "4", "Shall we?"
    )
    assert ended.code == 3
    assert "round-1.md" in derived_of(user.session)
