"""What `council cost` bounds beforehand is not passed: not in debates that take all they can, in every workflow."""

from __future__ import annotations

import json
import re
from dataclasses import replace

import pytest

from council.checks import cost
from council.checks.sizes import bound_any_tokens
from council.config import overlays
from council.config.models import Endpoint, Model, Price
from council.record import catalog
from council.runner import evidence
from council.workflow.loader import load
from tests import coding
from tests.fakeapi import FakeApi
from tests.glutton import TIERS, Glutton
from tests.helpers import MEMBERS, Table, User, agreed

RATE = cost.Rates("one", 2.0, 10.0, 1000, cache_write=2.5, long_over=5000, long_input=10.0, long_output=50.0)


@pytest.fixture
def user(tmp_path) -> User:
    return User(tmp_path, {"ANTHROPIC_API_KEY": "k"})


def gorged(user: User, *words: str) -> dict:
    """How a debate ended that took all it could."""
    with FakeApi(Glutton(user)) as api:
        user.configure(f"endpoints: {{anthropic: {{base_url: {api.url}}}}}\ntiers: {{{TIERS}}}")
        ended = user.council("run", *words, "--speaker", "anthropic", "--json")
    assert ended.code in (0, 3), ended.err  # 3: without a stance that can be read there is no decision
    return ended.json


def within(found: dict) -> None:
    """Nothing passed its bound, and the bound is no idle number."""
    for name, most in found["bound"].items():
        assert found["totals"][name] <= most, name
        assert found["totals"][name] > 0.3 * most, name


# ---- whole debates ----

TURNS = "name: turns\nseats: {members: [engineer, {writer: {tier: opus}}], chair: chair}\nphases:\n"
STEP = "- {{name: challenges, rounds: 3, order: {}, reply: {{stance: agree | mixed | disagree, blocking: list}}}}\n"
CASES = {
    "debate": ("Shall we?",),
    "a big table": ("Shall we?", "--with", "security,intern,writer", "--mode", "patchlist"),
    "two": ("Shall we?", "--only", "engineer,intern", "--rounds", "3"),
    "a document": ("Shall we?", "--file", "long.txt"),
    "quick": ("Shall we?", "--workflow", "quick", "--mode", "patchlist"),
    "dearer": ("Shall we?", "--tier-map", "haiku=opus,sonnet=claude-haiku-5-5"),
    "one after the other": ("Shall we?", "--workflow", "turns.md"),
}


@pytest.mark.parametrize("words", CASES.values(), ids=CASES)
def test_no_debate_passes_its_bound(words, user):
    user.write("long.txt", "日本語の文書、そして more of it.\n" * 2000)
    user.write("turns.md", f"---\n{TURNS}{STEP.format('sequential')}---\n")
    found = gorged(user, *words)
    within(found)
    assert found["totals"]["calls"] == found["bound"]["calls"], "every reply was asked for twice, in every round"


@pytest.mark.parametrize("workflow", sorted(overlays.workflows()))
def test_no_workflow_passes_its_bound(workflow, user):
    """Where what it asks for is unknown here, its replies stay unreadable; where it waits for a person, so far.

    The presets of the board are its program with another table, so the board alone goes through all of its rounds.
    """
    rounds = ("-o", "max_rounds=3") if workflow.startswith("planning-") else ()
    document = ("--file", user.write("spec.md", "# A spec\n")) if workflow == "patchlist" else ()
    with FakeApi(Glutton(user)) as api:
        user.configure(f"endpoints: {{anthropic: {{base_url: {api.url}}}}}\ntiers: {{{TIERS}}}")
        if coding.tries_code(workflow):
            coding.start_kit(user, workflow, speaker="anthropic")
            ended = user.council("recover", "--json")
        else:
            named = ("--speaker", "anthropic", "--workflow", workflow, *rounds)
            ended = user.council("run", "Shall we?", *named, "--json", *document)
    assert ended.code in (0, 3, 5, 8), ended.err
    found = user.council("status", "--json").json
    for name, most in found["bound"].items():
        assert found["totals"][name] <= most, name


def test_a_usual_debate_is_told_beside_its_bound(user):
    counts = {"input_tokens": 900, "cache_read_input_tokens": 100, "output_tokens": 1}
    with FakeApi(Table(user, agreed(), usage=counts)) as api:
        user.configure(f"endpoints: {{anthropic: {{base_url: {api.url}}}}}")
        ended = user.council("run", "Shall we?", "--speaker", "anthropic")
    assert ended.code == 0, ended.err
    pattern = (
        r"9 calls of at most 24, 9,000 tokens in of at most [\d,]+ \(900 from the cache\), 9 out, "
        r"cost \$0\.0095 \(likely \$0\.\d\d, at most \$\d\.\d\d\), \d+ s"
    )
    assert re.search(pattern, ended.err), ended.err
    again = user.council("status")
    assert re.search(pattern.removesuffix(r", \d+ s"), again.err), again.err
    status = user.council("status", "--json").json
    assert (status["totals"]["calls"], status["bound"]["calls"], status["cache_read_tokens"]) == (9, 24, 900)


def test_the_bound_of_the_command_is_the_bound_of_the_debate(user):
    """`council cost` knows no session; of the same question to the same table it says the same."""
    rows = user.council("cost", "debate", "Shall we?", "--json").json["steps"]
    with FakeApi(Table(user, agreed())) as api:
        user.configure(f"endpoints: {{anthropic: {{base_url: {api.url}}}}}")
        bound = user.council("run", "Shall we?", "--speaker", "anthropic", "--json").json["bound"]
    assert sum(row["most"] + row["again"] for row in rows) == bound["calls"]
    assert sum(row["most_output"] for row in rows) == bound["output_tokens"]


def test_the_bound_of_the_command_has_what_is_attached(user):
    """Files, facts and an earlier debate count as they do in the debate itself, and a log has a token a byte."""
    user.write("log.txt", "2026-11-19 21:08:24.118 0x7f3a [17] {200}\n" * 400)
    more = ("--file", user.write("spec.md", "# A spec\n\nIt is long.\n" * 50), "--evidence", user.work / "log.txt")
    with FakeApi(Table(user, agreed())) as api:
        user.configure(f"endpoints: {{anthropic: {{base_url: {api.url}}}}}")
        held = user.council("run", "Shall we?", "--speaker", "anthropic", "--json", *more).json
    after = (*more, "--from", held["session_id"])
    plain, found, later = (
        user.council("cost", "debate", "Shall we?", "--json", *one).json["totals"] for one in ((), more, after)
    )
    assert 0 <= found["most_input"] - held["bound"]["input_tokens"] < 24 * 100, "the keys of the marks are random"
    assert found["bound"] == pytest.approx(held["bound"]["usd"], rel=0.01)
    assert found["most_input"] - plain["most_input"] > 24 * 400 * 30
    assert later["most_input"] > found["most_input"]
    assert len(api.requests) == 9, "nobody was asked for an estimate"
    dearer = user.council("cost", "debate", "Shall we?", "--json", "--tier-map", "haiku=opus").json["totals"]
    assert dearer["bound"] > plain["bound"]


def test_a_command_counts_at_its_maximum_and_is_not_run(user):
    ran = user.work / "ran"
    words = ("cost", "quick", "Shall we?")
    found = user.council(*words, "--evidence-command", f"touch {ran}", "--evidence-command", "true")
    assert (found.code, ran.exists()) == (0, False)
    assert "What a command prints counts at its maximum." in found.out
    most = evidence.bound_output(1, []).max_
    plain, one = (user.council(*words, "--json", *more).json for more in ((), ("--evidence-command", "true")))
    calls = plain["totals"]["most"] + plain["totals"]["again"]
    assert one["totals"]["most_input"] - plain["totals"]["most_input"] >= calls * most
    for text in ("\n" * 99_999 + "x", "😀" * 100_000, "1" * 100_000, "1\n" * 50_000, "x" * 300_000):
        fact = evidence.make("commands", "😀" * 400, b"", text)
        assert bound_any_tokens("".join(evidence.write([fact], lambda by, words: "f" * 64))) <= most


GATE = ("--gate", "challenges")


def test_a_gate_takes_no_call_and_only_what_follows_reads_it(user):
    plain, gated = (user.council("cost", "debate", "Shall we?", "--json", *more).json for more in ((), GATE))
    before, (gate, *after) = gated["steps"][:2], gated["steps"][2:]
    assert (gate["phase"], gate["most"], gate["again"], gate["bound"]) == ("challenges-gate", 0, 0, 0)
    assert before == plain["steps"][:2]
    for with_gate, without in zip(after, plain["steps"][2:], strict=True):
        assert (with_gate["most"], with_gate["most_output"]) == (without["most"], without["most_output"])
        assert with_gate["bound"] > without["bound"]
    user.configure("gates: [challenges]")
    assert user.council("cost", "debate", "Shall we?", "--json").json == gated
    assert user.council("cost", "debate", "Shall we?", "--json", "--gate", "none").json == plain
    assert 'did you mean "challenges"?' in user.council("cost", "debate", "--gate", "chalenges").err


def test_others_than_the_api_have_no_bound(user):
    script = user.write("script.yaml", json.dumps(agreed(MEMBERS)))
    ended = user.council("run", "Shall we?", "--speaker", "replay", "--from", script, "--json")
    assert (ended.json["bound"], ended.json["cache_read_tokens"]) == (None, 0)


# ---- one call, and the line ----


def test_a_long_prompt_pays_its_surcharge_and_a_kept_one_its_own():
    assert RATE.most_usd(5000, 100) == pytest.approx((5000 * 2.5 + 100 * 10) / 1e6)
    assert RATE.most_usd(5001, 100) == pytest.approx((5001 * 10 + 100 * 50) / 1e6)
    assert RATE.usd(5001, 100) == pytest.approx((5001 * 2 + 100 * 10) / 1e6)


def test_rates_are_those_of_a_model():
    price = Price(2.0, 10.0, 0.1, 2.5, 5000, 10.0, 50.0)
    model = Model("sonnet", Endpoint("anthropic"), "one", max_tokens=1000, price=price)
    assert cost.Rates.of(model) == replace(RATE, effort=model.effort)
    assert cost.Rates.of(replace(model, price=None)).most_usd(1, 1) is None


def test_everybody_reads_the_topic_also_in_the_blind_round():
    workflow = load(overlays.workflow_text("quick")[0], "quick")
    short, long = (cost.bound_steps(workflow, topic, {"sonnet": RATE})[0] for topic in ("", "x" * 4000))
    assert long.input - short.input == 4 * 1000
    assert long.most_input - short.most_input == 8 * 1600, "and once more, where they are asked again"


def test_the_line():
    taken = cost.DebateCost(13, 41_200, 3_900, 0.0123, cached=31_000)
    assert cost.format_usage(taken) == "13 calls, 41,200 tokens in (31,000 from the cache), 3,900 out, cost $0.0123"
    assert cost.format_usage(taken, cost.DebateCost(18, 120_000, 9_000, 0.045)) == (
        "13 calls of at most 18, 41,200 tokens in of at most 120,000 (31,000 from the cache), 3,900 out, "
        "cost $0.0123 (at most $0.05)"
    )
    assert cost.format_usage(taken, cost.DebateCost(12, 120_000, 9_000, 0.045)) == cost.format_usage(taken), (
        "a person granted more"
    )
    assert cost.format_usage(cost.DebateCost(1, 2, 3, None)) == "1 call, 2 tokens in, 3 out, cost unknown"


def test_a_session_whose_endpoint_is_configured_no_more_has_no_bound(user):
    with FakeApi(Table(user, agreed())) as api:
        user.configure(f"endpoints: {{mine: {{base_url: {api.url}}}}}\ntiers: {{sonnet: {{endpoint: mine}}}}")
        words = ("run", "Shall we?", "--speaker", "anthropic", "--tier-map", "haiku=sonnet", "--json")
        assert user.council(*words).json["bound"] is not None
    user.configure("speaker: auto")
    assert catalog.find(user.session.parent, "last") == user.session
    status = user.council("status", "--json")
    assert (status.code, status.json["bound"]) == (0, None)


def test_what_was_taken_is_within_a_bound_that_it_reaches_and_no_further() -> None:
    most = cost.DebateCost(5, 100, 20, 0.5)
    assert most.within(most)
    for passed in ({"calls": 6}, {"input": 101}, {"output": 21}, {"usd": 0.51}):
        assert not replace(most, **passed).within(most), passed
        assert most.within(replace(most, **passed)), passed
    assert replace(most, usd=None).within(most)
    assert most.within(replace(most, usd=None))
    assert replace(most, cached=1_000).within(most)


@pytest.mark.parametrize(
    ("when", "calls"),
    [
        ("last_round", 5),
        ("{from_round: 2}", 4),
        ("{all: [{from_round: 3}, {from_round: 2}, last_round]}", 3),
        ("[{from_round: 3}, {from_round: 4}]", 3),
        ("[{from_round: 3}, last_round]", 5),
        ("{not: {from_round: 3}}", 5),
        ("{from_round: 9}", 0),
    ],
)
def test_a_step_that_waits_for_a_round_takes_no_call_before_it(when: str, calls: int) -> None:
    text = (
        f"name: x\nseats: {{m: a}}\nphases: [{{name: p, rounds: 5, steps: [{{name: q}}, {{name: r, when: {when}}}]}}]"
    )
    rows = cost.bound_steps(load(f"---\n{text}\n---\n", "x.md"), "", {"sonnet": cost.Rates("m", 1.0, 1.0, 100)})
    assert [(row.step, row.least, row.most) for row in rows] == [("q", 5, 5), ("r", 0, calls)]
