"""What `council cost` bounds is never passed, whatever members say and however long they go on."""

from __future__ import annotations

import random
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from council.next.checks.cost import BYTES_A_TOKEN, Bound, bound, likely
from council.next.config import settings as config
from council.next.config.settings import Settings
from council.next.engine.planner import Due
from council.next.engine.scene import Recorded
from council.next.errors import UsageError
from council.next.prompts.brief import Brief, write
from council.next.record.session import Session
from council.next.replies.kinds import Items, Text
from council.next.replies.write import write_answer
from council.next.speakers.base import speakers
from tests.next.debates import answer, workflow_of
from tests.next.prompts.kit import begun, record
from tests.next.protocols.held import kit

MOST = 300  # tokens of a reply: few, so that a frame which was reckoned too small would show
ALPHABETS = {
    "digits": "0123456789",
    "prose": "abcdefghijklmnopqrstuvwxyz    ",
    "cjk": "議論委員会決定費用上限返答確認検証記録会議",
    "emoji": "😀🧠🔥🏛🗳🪙🧾🪜",
}
IDS = ("R1", "R2", "R3", "R1b", "K1", "K2", "C1")
OPTIONS: dict[str, dict[str, Any]] = {
    "Debate": {"three_rounds": True},
    "Quick": {},
    "Delphi": {},
    "Board": {"max_rounds": "3"},
    "Consensus": {"max_rounds": "2"},
    "Perspectives": {"max_rounds": "2"},
}


@pytest.fixture
def settings(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Settings:
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.delenv("XDG_CONFIG_HOME", raising=False)
    return config.load(None, {"tiers": {tier: {"max_tokens": str(MOST)} for tier in ("sonnet", "haiku", "opus")}})


class Glutton:
    """Takes all that it may: each reply is as long as it can be, each byte of a brief is a token that is written to the
    cache, and an answer is often missing, so that it is asked for again."""

    def __init__(self, settings: Settings, alphabet: str, seed: int) -> None:
        self.settings, self.alphabet, self.rng = settings, alphabet, random.Random(seed)
        self.took = Bound()

    def hold(self, session: Session) -> None:
        while session.advance().due:
            for due in session.plan.due:
                brief = write(session, due)
                if not due.seat.is_person:
                    self.pay(brief)
                record(session, due, Recorded(self.reply(due)), brief.hash)
            assert self.took.calls < 500, "the debate does not end"

    def pay(self, brief: Brief) -> None:
        price, size = self.settings.model(brief.due.tier).price, len(brief.text.encode())
        assert price is not None
        usd = price.usd(0, MOST, cache_write=size) or price.bound(size, MOST)
        self.took += Bound(1, size, MOST, usd)

    def reply(self, due: Due) -> str:
        """Its answers first, some of them very long, and what is left of the tokens as talk."""
        left, parts = BYTES_A_TOKEN * MOST, []
        for name, kind in due.step.reply.items():
            value: Any = answer(kind, self.rng, IDS)
            if name == "grant":
                value = 0  # a round that a person grants is beyond every bound
            elif name == "perspectives":
                value = tuple(f"Side {number}: {self.words(40)}" for number in range(4))
            elif isinstance(kind, Text) and self.rng.random() < 0.5:
                value = self.words(self.rng.choice((60, left // 2)))
            elif isinstance(kind, Items) and self.rng.random() < 0.5:
                value = tuple(self.words(self.rng.choice((8, left // 4))) for _ in range(self.rng.randint(1, 6)))
            if self.rng.random() < 0.9:
                parts.append(written := self.write(due, name, value))
                left -= len(written.encode()) + 2
        body = "\n\n".join([self.words(max(1, left)), *parts])
        return body.encode()[: BYTES_A_TOKEN * MOST].decode("utf-8", "ignore")

    def write(self, due: Due, name: str, value: object) -> str:
        try:
            return write_answer(name, due.step.reply[name], value)
        except UsageError:  # what one of these alphabets cannot say
            return write_answer(name, due.step.reply[name], answer(due.step.reply[name], self.rng, IDS))

    def words(self, size: int) -> str:
        """Text that is no longer than this in bytes."""
        text = "".join(self.rng.choices(self.alphabet, k=max(1, size)))
        return text.encode()[:size].decode("utf-8", "ignore").strip() or "1"


def check_bound(tmp_path: Path, settings: Settings, name: str, alphabet: str, seed: int) -> None:
    topic = "".join(random.Random(seed).choices(ALPHABETS[alphabet], k=500))
    with begun(tmp_path / f"{name}-{alphabet}-{seed}", name, options=OPTIONS[name], topic=topic) as session:
        glutton = Glutton(settings, ALPHABETS[alphabet], seed)
        glutton.hold(session)
        most = bound(session.workflow, len(topic.encode()), settings, templates=session.program["templates"])
    took = glutton.took
    assert (took.calls <= most.calls, took.input <= most.input, took.output <= most.output) == (True, True, True)
    assert took.usd is not None
    assert most.usd is not None
    assert took.calls > most.calls // 8, "it was no glutton"
    assert took.usd <= most.usd


@pytest.mark.parametrize("alphabet", ALPHABETS)
@pytest.mark.parametrize("name", ["Debate", "Delphi", "Perspectives"])
def test_gluttons_never_pass_the_bound(tmp_path: Path, settings: Settings, name: str, alphabet: str) -> None:
    check_bound(tmp_path, settings, name, alphabet, seed=1)


@pytest.mark.full
@pytest.mark.parametrize("seed", range(2, 8))
@pytest.mark.parametrize("alphabet", ALPHABETS)
@pytest.mark.parametrize("name", OPTIONS)
def test_no_glutton_of_any_seed_passes_it(
    tmp_path: Path, settings: Settings, name: str, alphabet: str, seed: int
) -> None:
    check_bound(tmp_path, settings, name, alphabet, seed)


def test_a_template_of_the_users_own_counts_with_all_that_it_repeats(tmp_path: Path, settings: Settings) -> None:
    bounds = []
    for times in (1, 3):
        text = (
            "{% for turn in transcript %}"
            + times * "{{ turn.text }}"
            + "{% endfor %}{{ topic }}{{ cut }}{{ step.form }}"
        )
        own = {"closing.md.j2": text + '{% include "_again.md.j2" %}'}
        with begun(tmp_path / str(times), "Debate", own=own, options={"three_rounds": True}) as session:
            glutton = Glutton(settings, ALPHABETS["cjk"], 3)
            glutton.hold(session)
            bounds.append(bound(session.workflow, len(session.topic), settings, None, session.program["templates"]))
        assert glutton.took.usd is not None
        assert bounds[-1].usd is not None
        assert glutton.took.input <= bounds[-1].input
        assert glutton.took.usd <= bounds[-1].usd
    once, thrice = (dict(one.phases)["closing"].input for one in bounds)
    assert 2 * once < thrice < 3 * once


# ---- what counts ----


def test_the_default_debate_is_likely_to_cost_some_cents(settings: Settings) -> None:
    usual = likely(kit("Debate"), 100, settings)
    assert usual.calls == 13
    assert usual.usd is not None
    assert 0.04 < usual.usd < 0.20
    assert [name for name, _ in usual.phases] == ["positions", "challenges", "closing", "synthesis"]
    assert usual.usd == pytest.approx(sum(one.usd or 0 for _, one in usual.phases))


@pytest.mark.parametrize("name", ["Debate", "Board", "Consensus", "Perspectives", "Delphi", "Planning-1"])
def test_the_likely_sum_is_far_below_the_bound_which_asks_everybody_twice(settings: Settings, name: str) -> None:
    workflow = kit(name)
    usual, most = likely(workflow, 100, settings), bound(workflow, 100, settings)
    assert usual.usd is not None
    assert most.usd is not None
    assert 0 < usual.usd < most.usd
    assert usual.calls < most.calls
    assert dict(usual.phases).keys() == dict(most.phases).keys()


def test_every_byte_of_the_topic_is_paid_for_in_every_brief(settings: Settings) -> None:
    small, large = (bound(kit("Debate"), size, settings) for size in (0, 1_000_000))
    assert large.input - small.input == 1_000_000 * small.calls
    some, more = (likely(kit("Debate"), size, settings) for size in (0, 1_000_000))
    assert 249_000 * some.calls <= more.input - some.input <= 251_000 * some.calls


def test_an_unknown_price_is_never_zero(settings: Settings) -> None:
    mute = replace(settings, prices={})
    for one in (bound(kit("Debate"), 10, mute), likely(kit("Debate"), 10, mute)):
        assert one.usd is None
        assert one.calls > 0
    claude = speakers["claude"](settings)
    assert bound(kit("Quick"), 10, settings, claude).usd is None
    assert likely(kit("Quick"), 10, settings, claude).usd is None


def test_who_is_free_costs_nothing_and_is_counted(settings: Settings) -> None:
    by_hand = speakers["assistant"](settings)
    assert (bound(kit("Quick"), 10, settings, by_hand).usd, likely(kit("Quick"), 10, settings, by_hand).usd) == (0, 0)
    assert bound(kit("Quick"), 10, settings, by_hand).calls == 10


def test_nobody_pays_for_a_person_and_a_gate_takes_no_call(settings: Settings) -> None:
    assert bound(kit("Debate", "challenges"), 10, settings).calls == bound(kit("Debate"), 10, settings).calls
    gated = likely(kit("Debate", "challenges"), 10, settings)
    assert "challenges-gate" not in dict(gated.phases)


def test_what_the_options_rule_out_is_not_counted(settings: Settings) -> None:
    with_, without = (likely(kit("Consensus", analysis=value), 10, settings) for value in (True, False))
    assert with_.calls == without.calls + 1
    few, many = (bound(kit("Board", max_rounds=value), 10, settings) for value in ("2", "3"))
    assert few.calls < many.calls


def test_a_long_prompt_costs_its_surcharge(settings: Settings) -> None:
    """A model whose long prompts cost five times as much."""
    workflow = workflow_of(
        [{"name": "talk", "prompt": "positions", "tier": "haiku", "reply": {"recommendation": "text"}}]
    )
    short, long = (bound(workflow, size, settings) for size in (1_000, 200_000))
    assert short.usd is not None
    assert long.usd is not None
    per_token = (long.usd - short.usd) / (long.input - short.input)
    assert per_token > 0.5e-6, "the price of a long prompt"
