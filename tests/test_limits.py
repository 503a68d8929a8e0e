"""Limits of a workflow: a round, a run and a person take no longer than they may, and who debates says no more."""

from __future__ import annotations

import asyncio
import contextlib
import re
import time
from collections.abc import Iterator
from unittest import mock

import pytest

from council.checks import cost
from council.config.models import limit_tokens
from council.errors import UsageError
from council.runner import clock
from council.runner.clock import Clock
from council.workflow import limits
from council.workflow.loader import load
from council.workflow.model import Cast, Seat, Workflow
from tests.fakeapi import Answer, FakeApi, Request
from tests.helpers import Ended, Table, User, no_traceback, script

TIMED = """---
name: timed
seats: {members: [architect, engineer], chair: chair}
options: {round_timeout: 300, total_timeout: 1800, token_budget: 2000}
phases:
  - name: debate
    rounds: [1, 2]
    steps:
      - {name: frame, seats: chair, reply: {sides: list}}
      - {name: argue, seats: {from: frame.sides}}
      - {name: rebut, seats: {from: frame.sides}, order: sequential}
    until: {framed: {some: {sides: any}}}
  - {name: positions, seats: members}
  - {name: synthesis, seats: chair}
---
"""
TEMPLATE = '{% include "_head.md.j2" %}\nSay it.\n{% include "_tail.md.j2" %}\n'
LONG = 900  # seconds that a round may take
STEPS = ("frame", "argue", "rebut", "positions", "synthesis")
WORDS = {
    "01-debate-r01-1-frame/chair": "## Sides\n- Cost: pay little.\n- Speed: wait little.\n",
    **{f"01-debate-r01-{step}/{seat}": "A case." for step in ("2-argue", "3-rebut") for seat in ("cost", "speed")},
    **{f"02-positions/{seat}": "A position." for seat in ("architect", "engineer")},
    "03-synthesis/chair": "Keep one database.",
}


class Deaf(Table):
    """Never answers one turn, or all. If it is one, its round is out of time as soon as these turns are recorded."""

    def __init__(self, user: User, turn: str, after: tuple[str, ...] = ()) -> None:
        super().__init__(user, WORDS)
        self.never, self.after = turn, after
        self.timers: list[tuple[asyncio.AbstractEventLoop, asyncio.Timeout]] = []
        self.passed = 0.0

    def __call__(self, request: Request) -> Answer:
        answer = super().__call__(request)
        deaf = self.never in ("all", self.asked[-1])
        return Answer(answer.text, once=self.end_round) if deaf else answer

    def end_round(self) -> bool:
        if self.never != "all" and not self.passed and turns(self.user) >= {*self.after}:
            self.passed = LONG
            for loop, timer in self.timers:
                loop.call_soon_threadsafe(end_now, timer, loop)
        return False

    def timeout_at(self, when: float | None) -> asyncio.Timeout:
        timer = asyncio.Timeout(when and when - self.passed)
        self.timers.append((asyncio.get_running_loop(), timer))
        return timer


def end_now(timer: asyncio.Timeout, loop: asyncio.AbstractEventLoop) -> None:
    with contextlib.suppress(RuntimeError):  # it has ended already
        timer.reschedule(loop.time())


@contextlib.contextmanager
def deaf(user: User, turn: str, *after: str) -> Iterator[tuple[Deaf, FakeApi]]:
    """An API in whose time a round may end before its time: no test waits for it."""
    table, real = Deaf(user, turn, after), time.monotonic
    passing = mock.Mock(monotonic=lambda: real() + table.passed)
    with (
        mock.patch.object(clock, "time", passing),
        mock.patch.object(asyncio, "timeout_at", table.timeout_at),
        FakeApi(table) as api,
    ):
        yield table, api


@pytest.fixture
def user(tmp_path) -> User:
    user = User(tmp_path, {"ANTHROPIC_API_KEY": "sk-ant-of-the-tests"})
    user.write(".council/Workflows/Timed.md", TIMED)
    for step in STEPS:
        user.write(f".council/templates/timed/{step}.md.j2", TEMPLATE)
    return user


def debate(
    user: User, api: FakeApi, *words: str, command: tuple[str, ...] = ("run", "-w", "timed", "Shall we?")
) -> Ended:
    user.configure(f"endpoints:\n  anthropic: {{base_url: {api.url}}}\nretry: {{budget: 0}}")
    ended = user.council(*command, *words)
    no_traceback(ended)
    return ended


def turns(user: User) -> set[str]:
    return {str(path.relative_to(user.session / "turns").with_suffix("")) for path in user.session.glob("turns/*/*.md")}


# ---- time ----


def test_a_round_that_takes_too_long_pauses_and_goes_on_later(user):
    """What came is recorded, and who comes then is not asked; who recovers the session has all the time again."""
    with deaf(user, "01-debate-r01-3-rebut/cost") as (table, api):
        ended = debate(user, api, "-o", f"round_timeout={LONG}", "--quorum", "1")
        assert ended.code == 3
        assert "Cost is not heard: the round took longer than 900 s" in ended.err
        told = (
            "council: the round took longer than 900 s, and Speed had not answered; run `council recover` to continue"
        )
        assert told in ended.err
        assert ended.last.endswith(f"go on with: council recover {user.session.name}")
        assert user.council("status").out.split()[1] == "paused"
        assert "01-debate-r01-3-rebut/speed" not in table.asked
        assert turns(user) == {turn for turn in WORDS if turn.startswith("01")} - {"01-debate-r01-3-rebut/speed"}
        asked = len(table.asked)
        assert debate(user, api, command=("recover",)).code == 0
    assert turns(user) == set(WORDS)
    assert len(table.asked) == asked + 4, "nothing is asked twice"


def test_with_a_quorum_who_had_no_time_is_absent(user):
    with deaf(user, "02-positions/engineer", "02-positions/architect") as (_, api):
        ended = debate(user, api, "-o", f"round_timeout={LONG}", "--quorum", "1")
    assert ended.code == 0, ended.err
    assert 'absent: "the round took longer than 900 s"' in (user.session / "turns/02-positions/engineer.md").read_text()
    assert "absent: null" in (user.session / "turns/02-positions/architect.md").read_text()


@pytest.mark.parametrize("step", ["2-argue", "3-rebut"])
def test_a_quorum_counts_those_who_were_cast(step, user):
    lost = {f"01-debate-r01-{step}/speed": [Answer(fault="status", status=500)]}
    for quorum, code in (("2", 3), ("1", 0)):
        with FakeApi(Table(user, WORDS, {turn: list(faults) for turn, faults in lost.items()})) as api:
            command = ("run", "-w", "timed", "Shall we?") if code else ("recover",)
            assert debate(user, api, "--quorum", quorum, command=command).code == code
    assert 'absent: "anthropic answered 500' in (user.session / f"turns/01-debate-r01-{step}/speed.md").read_text()


@pytest.mark.parametrize(
    ("name", "told"),
    [
        (
            "round_timeout",
            "the round took longer than 0.05 s, and Chair had not answered; run `council recover` to continue",
        ),
        ("total_timeout", "the run took longer than 0.05 s; run `council recover` to continue"),
    ],
)
def test_a_server_that_never_answers_is_not_waited_for(name, told, user):
    with FakeApi(Deaf(user, "all")) as api:
        ended = debate(user, api, "-o", f"{name}=0.05")
    assert ended.code == 3
    assert f"council: {told}" in ended.err
    assert turns(user) == set()


def test_a_limit_of_the_workflow_is_for_services_and_one_of_the_user_for_all(user):
    """A replay in its own rhythm takes its time, as a machine of one's own does, unless somebody says how long."""
    user.write(".council/Workflows/Timed.md", TIMED.replace("300", "0.001").replace("1800", "0.001"))
    replay = ("run", "-w", "timed", "Shall we?", "--speaker", "replay", "--from", script(user, WORDS), "--pace", "real")
    ended = user.council(*replay, "-o", "total_timeout=0.002")
    assert ended.code == 3
    assert "the run took longer than 0.002 s" in ended.err
    assert user.council(*replay).code == 0


def test_people_think_as_long_as_they_like():
    """Only the time of calls is counted: from the beginning of their batch to the end of the last of them."""
    found = Clock()
    times = iter([100.0, 103.0, 105.0, 200.0, 900.0, 901.0, 902.0])
    tick = time.monotonic
    time.monotonic = lambda: next(times)  # type: ignore[assignment]
    try:
        found.begin("debate", 1)
        found.end()
        found.end()
        found.begin("debate", 1)
        assert (found.run, found.round) == (5.0, 5.0)
        found.begin("debate", 1)
        assert (found.run, found.round) == (5.0, 5.0), "a batch of people alone"
        found.end()
        found.begin("debate", 2)
        assert (found.run, found.round) == (6.0, 0.0)
    finally:
        time.monotonic = tick


@pytest.mark.parametrize("name", limits.TIMES)
@pytest.mark.parametrize("value", ["soon", "-1", "0", "1e3", "nan", "inf", "", "99999999999"])
def test_what_is_no_time_is_refused_before_anything_is_spent(name, value, user):
    user.write(".council/Workflows/Timed.md", TIMED.replace("options: {", "options: {checkpoint_timeout: none, "))
    ended = user.council("run", "-w", "timed", "Shall we?", "-o", f"{name}={value}", "--speaker", "assistant")
    no_traceback(ended)
    assert ended.code == 2
    assert f"{name} must be a number of seconds above 0, or none" in ended.err
    assert not user.sessions


def test_a_limit_is_a_word_and_no_yes_or_no(user):
    for given in ("round_timeout", "round_timeout=false", "token_budget"):
        ended = user.council("run", "-w", "timed", "Shall we?", "-o", given, "--speaker", "assistant")
        assert ended.code == 2
        assert "takes a word" in ended.err
    user.write(".council/Workflows/Timed.md", TIMED.replace("round_timeout: 300", "round_timeout: true"))
    lint = user.council("lint", "timed")
    assert lint.code == 2
    assert 'round_timeout must be a number of seconds above 0, or none; not "True"' in lint.text


def test_a_limit_that_the_workflow_does_not_have_cannot_be_set(user):
    ended = user.council("run", "-w", "debate", "Shall we?", "-o", "round_timeout=4", "--speaker", "assistant")
    assert ended.code == 2
    assert 'no option "round_timeout"' in ended.err


# ---- tokens ----


def test_who_debates_says_no_more_than_the_budget(user):
    table = Table(user, WORDS)
    with FakeApi(table) as api:
        assert debate(user, api).code == 0
        most = {turn: request.body["max_tokens"] for turn, request in zip(table.asked, api.prompts, strict=True)}
    told = {turn: re.findall(r"below (\d+) words", (user.session / f"briefs/{turn}.md").read_text()) for turn in WORDS}
    for turn in WORDS:
        step = re.sub(r"^.*-", "", turn.partition("/")[0])
        assert most[turn] == {"argue": 5000, "rebut": 5000, "positions": 6000}.get(step, 8000), "4000 to think"
        assert told[turn] == {"argue": ["660"], "rebut": ["660"], "positions": ["1330"]}.get(step, [])


@pytest.mark.parametrize("value", ["0", "none", "unlimited"])
def test_a_budget_can_be_taken_away(value, user):
    with FakeApi(Table(user, WORDS)) as api:
        assert debate(user, api, "-o", f"token_budget={value}").code == 0
        assert {request.body["max_tokens"] for request in api.prompts} == {8000}
    assert "cut off" not in (user.session / "briefs/02-positions/engineer.md").read_text()


def test_a_reply_that_was_cut_says_so(user):
    cut = {"02-positions/engineer": [Answer("A position that", stop="max_tokens")]}
    with FakeApi(Table(user, WORDS, cut)) as api:
        ended = debate(user, api)
    assert ended.code == 0
    assert "Engineer (Marcus): cut off" in ended.err
    assert "cut off" in (user.session / "transcript.md").read_text()


def test_the_budget_is_in_the_bound(user):
    with FakeApi(Table(user, WORDS)) as api:
        limited = debate(user, api, "--json").json
        free = debate(user, api, "--json", "-o", "token_budget=none").json
    calls = {
        "frame": 2,
        "argue": 8,
        "rebut": 8,
        "positions": 2,
        "synthesis": 1,
    }  # two rounds; the frame may be asked again
    assert free["bound"]["output_tokens"] - limited["bound"]["output_tokens"] == (
        3000 * (calls["argue"] + calls["rebut"]) + 2000 * calls["positions"]
    )
    assert free["bound"]["usd"] > limited["bound"]["usd"] > limited["totals"]["usd"]
    assert free["bound"]["input_tokens"] > limited["bound"]["input_tokens"] > limited["totals"]["input_tokens"]


def test_a_budget_without_room_for_a_reply_is_refused(user):
    ended = user.council("run", "-w", "timed", "Shall we?", "-o", "token_budget=399", "--speaker", "assistant")
    assert (ended.code, user.sessions) == (2, [])
    assert "token_budget must be at least 400, or none: 399 tokens leave no room" in ended.err


def test_only_a_model_that_thinks_has_tokens_to_think():
    assert limit_tokens(1000, 8000, None) == 1000
    assert limit_tokens(1000, 8000, "medium") == 8000
    assert limit_tokens(1000, 99_000, "utmost") == 17_000
    assert limit_tokens(None, 8000, "low") == 8000


@pytest.mark.parametrize("value", ["-5", "many", "1.5", ""])
def test_what_is_no_budget_is_refused(value, user):
    ended = user.council("run", "-w", "timed", "Shall we?", "-o", f"token_budget={value}", "--speaker", "assistant")
    assert ended.code == 2
    assert f'token_budget must be a whole number of tokens, or none; not "{value}"' in ended.err


def step_of(found: Workflow, name: str):
    return next((phase, step) for phase, step in found.steps() if step.name == name)


@pytest.mark.parametrize(
    ("seats", "share"),
    [
        ("members", 30),
        ("[members, chair]", 30),
        ("chair", None),
        ("architect", None),
    ],
)
def test_the_share_of_a_member(seats, share):
    """Of 30 tokens, who speaks beside others has as many parts as steps; who speaks alone is not limited."""
    text = TIMED.replace("2000", "30").replace(
        "{name: positions, seats: members}", f"{{name: positions, seats: {seats}}}"
    )
    found = load(text, "t.md")
    phase, step = step_of(found, "positions")
    assert limits.bound_reply(found, phase.steps, step, Seat("architect", "members")) == share


def test_no_share_is_nothing():
    found = load(TIMED.replace("2000", "1"), "t.md")
    phase, step = step_of(found, "argue")
    assert any(isinstance(one, Cast) for one in step.seats)
    assert limits.bound_reply(found, phase.steps, step, Seat("cost", "frame")) == 1
    rates = {"sonnet": cost.Rates("m", 1.0, 1.0, 8000)}
    assert next(row for row in cost.bound_steps(found, "t", rates) if row.step == "argue").most_output == 8


def test_limits_are_read_from_options():
    assert limits.read_seconds({}, "round_timeout") is None
    assert limits.read_seconds({"round_timeout": "none"}, "round_timeout") is None
    assert limits.read_seconds({"round_timeout": "1.5"}, "round_timeout") == 1.5
    assert limits.read_budget({}) is None
    assert limits.read_budget({"token_budget": "12"}) == 12
    with pytest.raises(UsageError):
        limits.check({"total_timeout": True})
