"""Debates over real APIs that fail: what they were told to cost is what was billed, the cap holds, and they go on."""

from __future__ import annotations

import asyncio
import inspect
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import pytest

from council.next.config.settings import Retry, Settings
from council.next.engine.planner import Plan
from council.next.errors import CouncilError
from council.next.prompts.brief import Brief
from council.next.record.session import Session
from council.next.reports.state import totals
from council.next.runner.budget import Budget
from council.next.runner.loop import Run, hold
from council.next.runner.prepare import Request, prepare
from council.next.speakers.api import Api
from council.next.speakers.base import CallFailed, Refused, Spoken
from tests.next.runner.debating import usual_reply
from tests.next.speakers.apis import CLIENTS, COST, IDS, KEY, Client, Talk, fixed
from tests.next.speakers.test_faults import FAULTS, Case

EVERY_RUN = ["401", "429", "429 for ever", "500", "reset", "closed in the middle", "a refusal", "an empty answer"]
TURNS, FAULT_AT = 9, 3  # the fault meets the third call, while three others are under way


@pytest.fixture(autouse=True)
def key(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TEST_KEY", KEY)


class Known(Api):
    """Calls the API as it is, and leaves the usual reply to each brief for the server."""

    def __init__(self, settings: Settings, replies: dict[str, str]) -> None:
        super().__init__(settings)
        self.replies = replies

    async def speak(self, brief: Brief, began: Callable[[str], None]) -> Spoken:
        self.replies[brief.text] = usual_reply(brief)
        return await super().speak(brief, began)


@dataclass
class Biller:
    """A server's books: what each call was billed, and the most that it may have been billed where nobody can know."""

    case: Case
    replies: dict[str, str] = field(default_factory=dict)
    asked: list[str] = field(default_factory=list)
    sure: float = 0.0
    unsure: int = 0

    async def act(self, talk: Talk) -> None:
        words = said_in(talk.request.body["messages"][0]["content"])
        brief = next(text for text in self.replies if text in words)
        self.asked.append(brief)
        if len(self.asked) == FAULT_AT:
            usd = self.case.usd if issubclass(self.case.kind, CallFailed) else 0.0  # no API bills what it turned away
            self.sure += usd or 0.0
            self.unsure += usd is None
            done = self.case.act(talk)
            if inspect.isawaitable(done):
                await done
        else:
            self.sure += COST
            talk.answer(self.replies[brief])


def said_in(content: str | list[dict[str, Any]]) -> str:
    return content if isinstance(content, str) else "".join(block["text"] for block in content)


@pytest.mark.parametrize("client", CLIENTS, ids=IDS)
@pytest.mark.parametrize(
    "name", [pytest.param(one, marks=() if one in EVERY_RUN else pytest.mark.full) for one in FAULTS]
)
def test_what_is_told_is_what_was_billed(name: str, client: Client, tmp_path: Path) -> None:
    biller = Biller(FAULTS[name])
    session = asyncio.run(debate(client, biller, tmp_path))
    budget = Budget.of(session)
    refused = biller.case.kind is Refused  # which is recorded, and not asked again
    assert len(session.said) == TURNS
    assert sum(one.usd or 0.0 for one in session.receipts.values()) == pytest.approx((TURNS - refused) * COST)
    if biller.unsure:  # it counts at its most, and no total claims to know it
        assert budget.unknown
        assert budget.spent >= biller.sure + biller.unsure * COST
        assert totals(session)["usd"] is None
    else:
        assert budget.spent == pytest.approx(biller.sure)
        assert totals(session)["usd"] == pytest.approx(biller.sure)
    assert budget.calls == len(biller.asked) == TURNS + (not refused)
    again = [brief for number, brief in enumerate(biller.asked) if brief in biller.asked[:number]]
    assert again == ([] if refused else [biller.asked[FAULT_AT - 1]]), "only the brief whose call failed is asked twice"


async def debate(client: Client, biller: Biller, home: Path) -> Session:
    """A debate whose cap is raised by the price of one call whenever it is reached, and that is recovered after all."""
    async with client.serve(biller.act) as server:
        settings = replace(fixed(client.model(server.url)), home=home, retry=Retry(0.001, 5.0, 5.0))
        with prepare(Request("Redis or PostgreSQL?"), settings) as session:
            cap, ended = 0.0, None
            for _ in range(200):
                ended = await attempt(session, biller, settings, cap)
                check_cap(session, biller, cap)
                if isinstance(ended, Plan):
                    return session
                cap += 0.05
    raise AssertionError(f"it does not end: {ended}")


async def attempt(session: Session, biller: Biller, settings: Settings, cap: float) -> Plan | CouncilError:
    speaker = Known(settings, biller.replies)
    try:
        return await hold(Run(session, speaker, settings, Budget.of(session, max_cost=cap)))
    except CouncilError as stopped:
        return stopped
    finally:
        await speaker.close()


def check_cap(session: Session, biller: Biller, cap: float) -> None:
    assert biller.sure + biller.unsure * COST <= Budget.of(session).spent + 1e-9
    assert Budget.of(session).spent <= cap + 1e-9
