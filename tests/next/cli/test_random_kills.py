"""Debates over an API whose process is killed at random moments lose nothing, and ask nobody for what is on record."""

from __future__ import annotations

import json
import random
import re
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.fakeapi import Answer, FakeApi, Request
from tests.next.cli.users import User

WORDS = "Keep one database until the load of a year is measured, because a second store is one more thing to repair."
SYNTHESIS = """## Title
One database

## Answer
Keep one.

## Follows
R1

## Areas of convergence
- One database.

## Remaining disagreements
none

## Recommended path
One.

## Next steps
- Measure the load.

## Confidence
high
"""
LATEST = 1.2  # seconds: a debate that nobody kills takes about one


def answer(request: Request) -> Answer:
    """The reply to a brief, a little later."""
    turn = turn_of(request)
    seat = turn.partition("/")[2]
    if seat == "chair":
        text = SYNTHESIS
    elif turn.startswith("02"):
        text = f"The {seat} has read them. {WORDS}\n\n## Signs\nR1\n"
    else:
        text = f"The {seat} begins. {WORDS}\n\n## Recommendation\nThe {seat} would keep one.\n\n## Normative\nno\n"
    return Answer(text, chunks=3, latency=0.02, delay=0.01)


def turn_of(request: Request) -> str:
    """The id of the turn that a request asks for."""
    if "## Follows" in request.text:
        return "04-synthesis/chair"
    found = re.search(r"Reply now, as (\w+)", request.text)
    assert found
    return f"{'02-challenges' if '## Signs' in request.text else '01-positions'}/{found[1].lower()}"


@pytest.fixture
def api() -> Iterator[FakeApi]:
    with FakeApi(answer) as api:
        yield api


@pytest.mark.parametrize("kills", [6, pytest.param(200, marks=pytest.mark.full)])
def test_kills_at_random_moments(kills: int, api: FakeApi, tmp_path: Path) -> None:
    dice, done, debates = random.Random(kills), 0, 0
    while done < kills:
        env = {"ANTHROPIC_API_KEY": "k", "ANTHROPIC_BASE_URL": api.url}
        user = User(tmp_path / str(debates), env)
        done += killed_until_over(user, api, dice)
        debates += 1
    assert debates > kills / 30


def killed_until_over(user: User, api: FakeApi, dice: random.Random) -> int:
    """A debate that goes on after each kill, until it is over; how often it was killed."""
    asked, kept, kills = len(api.prompts), dict[str, bytes](), 0
    first = asked
    while True:
        words = ("recover", "last") if born(user) else ("run", "Shall we?")
        running = user.spawn(*words, "--speaker", "api", "-q")
        try:
            _, said = running.communicate(timeout=dice.uniform(0.2, LATEST))
        except subprocess.TimeoutExpired:
            running.kill()
            _, said = running.communicate()
            kills += 1
        else:
            assert running.returncode == 0, said.decode()
        new = [turn_of(request) for request in api.prompts[asked:]]
        asked += len(new)
        assert not {*new} & {*kept}, "a turn on record was asked for again"
        assert len(new) == len({*new}), "a turn was asked for twice in one run"
        for id, data in kept.items():
            assert turns(user)[id] == data
        kept = turns(user)
        if running.returncode == 0:
            break
    verified = user.council("verify", "last")
    assert verified.code == 0, verified.out
    (session,) = born(user)
    state = json.loads((session / "state.json").read_text())
    assert (state["status"], state["outcome"]["kind"], len(kept)) == ("complete", "agreed", 9)
    assert asked - first <= state["totals"]["calls"] <= 9 + 4 * kills
    assert len([*user.home.glob("RESEARCH/*/*.md")]) == 1
    return kills


def born(user: User) -> list[Path]:
    """The session, unless its process died before it was whole, in a hidden folder."""
    return [path for path in user.sessions if not path.name.startswith(".")]


def turns(user: User) -> dict[str, bytes]:
    found = (path for session in born(user) for path in session.glob("turns/*/*.md"))
    return {f"{path.parent.name}/{path.stem}": path.read_bytes() for path in found}
