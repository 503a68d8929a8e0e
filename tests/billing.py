"""What an API billed, and what council says of it: debates over APIs that fail and still want money, and over kills."""

from __future__ import annotations

import contextlib
import math
import os
import signal
import threading
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any
from unittest import mock

from council.config import settings
from council.errors import CouncilError
from council.record import session as sessions
from council.reports.totals import totals
from council.runner.debate import Limits
from council.speakers.base import cost, usage_of
from tests import kills
from tests.fakeapi import Answer, Bill, FakeApi
from tests.faults import Fault, Nursery
from tests.helpers import MEMBERS, Table, User, agreed
from tests.worlds import World

CONFIG = """
endpoints: {{anthropic: {{base_url: {url}}}}}
stall: 0.4
deadline: 3
retry: {{first_wait: 0.01, most_wait: 0.02, budget: 0.3}}
"""
# Where no call stalls or takes too long, none is given up either, however busy the machine is.
PATIENT = CONFIG.replace("stall: 0.4", "stall: 60").replace("deadline: 3\n", "")
PRICES = settings.load({"HOME": "/nowhere"}).prices
TURN = "01-positions/engineer"
CAP = 0.30
HALF = "I have thought about it at some length, and I come to this."
COMPRESSED = (("content_encoding", "gzip"),)


def status(code: int, **how: Any) -> Answer:
    return Answer(fault="status", status=code, **how)


def proxy(code: int) -> Answer:
    """A proxy that gave up on a model that went on."""
    return Answer(fault="body", status=code, body=b"<html>Bad gateway</html>", charged=True)


THINKING = "Let me think. " * 400
ALWAYS = 60

KINDS: dict[str, list[Answer]] = {
    **{f"{code}, once": [status(code)] for code in (408, 409, 429, 500, 502, 503, 504, 529)},
    **{f"{code} for ever": [status(code)] * ALWAYS for code in (400, 401, 429, 500, 529)},
    "500 of a call that was billed": [status(500, charged=True)],
    "504 of a call that was billed, for ever": [status(504, charged=True)] * ALWAYS,
    "408 of a call that was billed": [status(408, charged=True)],
    "a proxy's 502": [proxy(502)],
    "a proxy's 524, for ever": [proxy(524)] * ALWAYS,
    "a reset before it was read": [Answer(fault="reset")],
    "a reset of a call that was billed": [Answer(fault="reset", charged=True)],
    "a reset after the headers": [Answer(fault="reset_after_headers")] * 2,
    "cut before the first word": [Answer(HALF, chunks=4, fault="cut", after=0)],
    "cut in the middle, three times": [Answer(HALF, chunks=4, fault="cut", after=2)] * 3,
    "cut for ever": [Answer(HALF, chunks=4, fault="cut", after=2)] * ALWAYS,
    "ended too soon": [Answer(HALF, chunks=4, fault="end", after=2)],
    "ended without its reason": [Answer(HALF, stop=None)],
    "the connection closed after the answer": [Answer(HALF, fault="no_stop")],
    "stalled": [Answer(HALF, chunks=4, fault="stall", after=2)],
    "stalled for ever": [Answer(HALF, chunks=4, fault="stall", after=2)] * ALWAYS,
    "silent until the deadline": [Answer(HALF, latency=3.2)],
    "an error event at once": [Answer(HALF, fault="error_event", after=0)],
    "an error event in the middle": [Answer(HALF, chunks=4, fault="error_event", after=2)],
    "an error event that is final": [Answer(HALF, fault="error_event", error="invalid_request_error")],
    "an event that is not JSON": [Answer(HALF, chunks=4, fault="malformed", after=2)],
    "an event of the wrong type": [Answer(HALF, chunks=4, fault="wrong_type", after=2)] * 2,
    "a web page": [Answer(fault="html")],
    "a web page for ever": [Answer(fault="html", charged=True)] * ALWAYS,
    "thinking used up max_tokens": [Answer("", thinking=THINKING, stop="max_tokens")],
    "thinking used up max_tokens, for ever": [Answer("", thinking=THINKING, stop="max_tokens")] * ALWAYS,
    "empty, once": [Answer("")],
    "empty for ever": [Answer(" \n")] * ALWAYS,
    "a refusal": [Answer("", stop="refusal")],
    "no usage": [Answer(HALF, usage={})],
    "no usage of an empty answer": [Answer("", usage={})],
    "only the input reported": [Answer(HALF, usage={"input_tokens": 700})],
    "usage of zero": [Answer(HALF, usage={"input_tokens": 0, "output_tokens": 0})],
    "usage in words": [Answer(HALF, usage={"input_tokens": "many", "output_tokens": "few"})],
    "usage below zero": [Answer(HALF, usage={"input_tokens": -5, "output_tokens": -1})],
    "a redirect": [status(307, location="http://127.0.0.1:9/v1/messages")],
    "a compressed body": [Answer(fault="body", headers=COMPRESSED, body=b"\x1f\x8b", charged=True)],
    "one after the other": [
        status(529), Answer(fault="reset", charged=True), Answer(HALF, chunks=4, fault="cut", after=1), Answer(""),
    ],
}  # fmt: skip


@dataclass
class Told:
    """What council says of a session: its totals, and what it counts toward `--max-cost`."""

    totals: dict[str, Any]
    counted: float

    @classmethod
    def of(cls, folder: Path) -> Told:
        found = sessions.open_(folder)
        found.read_turns()
        return cls(totals(found), Limits(usd=1.0).budget(found, settings.load({"HOME": "/nowhere"})).usd)


@dataclass
class Account:
    """What was billed for a session beside what council says of it. `wrong` is what does not agree."""

    billed: float
    calls: int
    sent: int
    received: int
    told: Told
    cap: float | None = None
    wrong: list[str] = field(default_factory=list)

    def __post_init__(self) -> None:
        took = self.told.totals
        self.demand(self.told.counted >= self.billed - 1e-9, f"the limit counts ${self.told.counted:.6f}")
        for name, billed in (("usd", self.billed), ("input_tokens", self.sent), ("output_tokens", self.received)):
            exact = took[name] is None or math.isclose(took[name], billed, abs_tol=1e-6)
            self.demand(exact, f"{name} is {took[name]} where {billed} was billed")
        self.demand(took["usd_at_least"] <= self.billed + 1e-6, f"at least ${took['usd_at_least']:.6f} is too much")
        known = took["calls"] + took["failed_calls"]
        self.demand(known >= self.calls, f"{known} calls are on record")
        if self.cap is not None:
            self.demand(self.billed <= self.cap, f"--max-cost {self.cap} was exceeded")

    def demand(self, holds: bool, what: str) -> None:
        if not holds:
            self.wrong.append(f"billed ${self.billed:.6f} in {self.calls} calls: {what}")

    @property
    def exact(self) -> bool:
        return self.told.totals["usd"] is not None


def account(bills: Sequence[Bill], folder: Path, cap: float | None = None) -> Account:
    usages = [usage_of(bill.counts) for bill in bills]
    usd = math.fsum(cost(PRICES[bill.model], usage) or 0.0 for bill, usage in zip(bills, usages, strict=True))
    sent = sum((one.input or 0) + one.cache_read + one.cache_write for one in usages)
    return Account(usd, len(bills), sent, sum(one.output or 0 for one in usages), Told.of(folder), cap)


# ---- an API that fails ----


def user_in(folder: Path) -> User:
    return User(folder, {"ANTHROPIC_API_KEY": "k"})


def try_kind(name: str, folder: Path, cap: float | None = None) -> list[Account]:
    """A debate with this fault, then a recovery with an API that is well again: what was billed after each."""
    user, limit = user_in(folder), () if cap is None else ("--max-cost", str(cap))
    with FakeApi(Table(user, agreed(), {TURN: list(KINDS[name])})) as api:
        user.configure(CONFIG.format(url=api.url))
        ended = user.council("run", "Shall we?", "--speaker", "anthropic", *limit)
        found = [account(api.bills, user.session, cap)]
        if ended.code:
            api.responder = Table(user, agreed())
            user.council("recover", *limit)
            found.append(account(api.bills, user.session, cap))
    return found


# ---- a process that is killed ----


def kill_in_a_call(folder: Path, runs: int) -> list[Account]:
    """Each of so many runs is killed while its calls are under way; then one goes to its end."""
    user, found = user_in(folder), []
    asked = threading.Semaphore(0)

    def hang(_: object) -> Answer:
        asked.release()
        return Answer(HALF, chunks=4, fault="stall", after=2)

    with FakeApi(hang) as api:
        user.configure(PATIENT.format(url=api.url))
        command: tuple[str, ...] = ("run", "Shall we?", "--speaker", "anthropic")
        for _ in range(runs):
            with user.spawn(*command) as process:
                for _ in MEMBERS:
                    asked.acquire()
                process.send_signal(signal.SIGKILL)
                process.communicate()
            found.append(account(api.bills, user.session))
            command = ("recover",)
        api.responder = Table(user, agreed())
        assert user.council("recover").code == 0
        found.append(account(api.bills, user.session))
    return found


@dataclass
class Points:
    """Kills at calls of the file system. `points` were reached; `wrong` says at which of them what did not agree."""

    points: int = 0
    wrong: list[str] = field(default_factory=list)

    def kill(self, kind: str, number: int, world: World, api: kills.Members) -> None:
        """Kill the debate at one call, let another process end it, and compare after each."""
        if world.do(*kills.begin(world), fault=Fault(kind, number)).code != -9:
            return  # this time, it made fewer calls
        self.points += 1
        for command in (("status",), kills.finish(world) if world.sessions else kills.begin(world)):
            ended = world.do(*command)
            if command[0] != "status" and ended.code:
                self.wrong.append(f"{kind} {number}: exit {ended.code}: {ended.err}")
            for session in world.sessions:
                bills = [bill for bill in api.bills if api.homes[int(bill.path.split("/")[1])] == world.memory]
                self.wrong += [f"{kind} {number}: {what}" for what in account(bills, session).wrong]


def money_calls(calls: Sequence[str]) -> list[int]:
    """The numbers of the calls that put an attempt or a turn on record, or remove one."""
    return [number for number, call in enumerate(calls, 1) if "/attempts" in call or "/turns/" in call]


def kill_at_calls(ground: Path, nursery: Nursery, kind: str, every: int, first: int = 0) -> Points:
    """Kill a debate at every Nth call that has to do with an attempt or a turn."""
    found = Points()
    with kills.Members() as api:
        whole = World(ground / "whole", nursery, api)
        numbers = money_calls(whole.do(*kills.begin(whole)).calls)
        for number in numbers[first::every]:
            world = World(ground / f"{kind}-{number}", nursery, api)
            found.kill(kind, number, world, api)
            world.drop()
        whole.drop()
    return found


# ---- debates at once, in the threads of one process ----


def hold_at_once(folder: Path, debates: int, faults: Iterable[Answer] = (), config: str = PATIENT) -> list[Account]:
    """Debates that share an API and fail at the same time, through the Python API."""
    user = user_in(folder)
    with FakeApi(Table(user, agreed(), {TURN: list(faults)})) as api:
        return hold_with(user, api, debates, config)


def hold_with(user: User, api: FakeApi, debates: int, config: str = PATIENT) -> list[Account]:
    """Debates in threads of this process. One that is refused or pauses has its account too."""
    import council

    def hold(topic: str) -> None:
        with contextlib.suppress(CouncilError):
            council.run(topic, speaker="anthropic")

    user.configure(config.format(url=api.url))
    with mock.patch.dict(os.environ, user.environment, clear=True), contextlib.chdir(user.work):
        threads = [threading.Thread(target=hold, args=(f"Shall we {number}?",)) for number in range(debates)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
    return list(_accounts(user, api.bills))


def _accounts(user: User, bills: Sequence[Bill]) -> Iterator[Account]:
    for session in user.sessions:
        briefs = {path.read_text() for path in (session / "briefs").rglob("*.md")}
        yield account([bill for bill in bills if bill.text in briefs], session)
