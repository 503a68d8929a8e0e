"""All that a workflow names is checked before anything is spent. What passes never fails in a later round."""

from __future__ import annotations

import random
from typing import Any

import pytest

from council.next.checks.names import check, find_problems
from council.next.engine.planner import Plan
from council.next.engine.scene import Recorded
from council.next.errors import UsageError
from council.next.workflow import gates
from council.next.workflow.loader import load
from council.next.workflow.model import Workflow
from tests.next.checks.mutants import ODD, mutate, read
from tests.next.debates import any_reply, workflow_of
from tests.next.protocols.held import kit

NAMES = ("Debate", "Quick", "Delphi", "Board", "Consensus", "Perspectives", "Planning-1", "Confirm")
FIRST = {
    "name": "first",
    "reply": {"names": "list", "pick": "a | b", "score": "0-100"},
    "until": {"done": "last_round"},
}
LAST = {"name": "last", "reply": {"late": "text"}}


def talk(**keys: Any) -> list[dict[str, Any]]:
    """Three phases, of which the middle one is looked at."""
    return [FIRST, {"name": "talk", "rounds": ["1", "3"], "reply": {"ready": "yes | no"}, **keys}, LAST]


WRONG: dict[str, tuple[dict[str, Any], str]] = {
    "rule": ({"when": "opposde"}, 'when: there is no rule "opposde"; did you mean "opposed"?'),
    "order": ({"order": "paralell"}, 'order: there is no order "paralell"; did you mean "parallel"?'),
    "view": ({"sees": "nothign"}, 'sees: there is no view "nothign"; did you mean "nothing"?'),
    "voting method": (
        {"until": {"over": {"vote": {"field": "ready", "method": "brda"}}}},
        'until over: there is no voting method "brda"; did you mean "borda"?',
    ),
    "argument": ({"when": {"split": {"fild": "pick"}}}, 'the rule "split" has no argument "fild"'),
    "argument that is missing": ({"when": "split"}, 'the rule "split" needs the argument "field"'),
    "arguments for none": ({"when": {"last_round": "2"}}, 'the rule "last_round" takes no arguments'),
    "option": ({"when": {"option": "quik"}}, 'there is no option "quik"; did you mean "quick"?'),
    "option that is no word": ({"when": {"option": True}}, "True is not a word"),
    "option for ties": (
        {"until": {"over": {"vote": {"field": "ready", "ties": "chance"}}}},
        'ties: there is no option "chance"',
    ),
    "answer": (
        {"until": {"over": {"some": {"redy": "yes"}}}},
        'until over: some: "redy" is no answer asked for so far; did you mean "ready"?',
    ),
    "answer of a later phase": ({"until": {"over": {"split": "late"}}}, '"late" is no answer asked for so far'),
    "answer asked for first afterwards": (
        {"when": {"some": {"ready": "yes"}}},
        '"ready" is no answer asked for so far',
    ),
    "value that nobody gives": (
        {"until": {"over": {"every": {"ready": "yse"}}}},
        'until over: every: "yse" is no answer to ready; did you mean "yes"?',
    ),
    "one of several values": ({"when": {"some": {"pick": ["a", "c"]}}}, '"c" is no answer to pick; known: a, b'),
    "value of another kind": (
        {"when": {"some": {"pick": ">= 90"}}},
        'pick: ">= 90" compares a word; it is one of a, b',
    ),
    "limit in words": (
        {"when": {"every": {"score": ">= ninety"}}},
        'when: "ninety" is neither a number nor an option with one; known: target',
    ),
    "limit among several": (
        {"when": {"every": {"score": ["5", "> lots"]}}},
        '"lots" is neither a number nor an option',
    ),
    "infinite limit": ({"when": {"every": {"score": ">= inf"}}}, '"inf" is neither a number'),
    "share": ({"until": {"over": {"share": {"ready": "yes", "at": "3/2"}}}}, '"3/2" is not a share from 0 to 1'),
    "share without an end": ({"until": {"over": {"share": {"ready": "yes", "at": "1e-99999999"}}}}, "is not a share"),
    "share of nothing": ({"until": {"over": {"share": {"ready": "yes"}}}}, "either at: (at least) or over:"),
    "no answer at all": ({"until": {"over": "some"}}, "needs the name of an answer"),
    "answer called like the scene": ({"when": {"some": {"scene": "x"}}}, 'some: "scene" is no answer asked for so far'),
    "field that is a list": ({"when": {"split": {"field": ["pick"]}}}, "field: ['pick'] is not a word"),
    "flag in words": (
        {"until": {"over": {"vote": {"field": "ready", "scored": "perhaps"}}}},
        "scored: 'perhaps' is not true or false",
    ),
    "phase": (
        {"when": {"ended": {"frist": "done"}}},
        'ended: "frist" is no phase before this one; did you mean "first"?',
    ),
    "phase that is not over": ({"when": {"ended": {"talk": "any"}}}, '"talk" is no phase before this one'),
    "later phase": ({"when": {"ended": {"last": "any"}}}, '"last" is no phase before this one'),
    "ending": ({"when": {"ended": {"first": "dnoe"}}}, '"dnoe" is no ending of first; did you mean "done"?'),
    "view of a later phase": ({"sees": "last"}, 'sees: "last" comes later, so it shows nothing'),
    "view of a later phase without names": ({"sees": {"anonymous": ["first", "lst"]}}, 'there is no view "lst"'),
    "rounds of a view": ({"sees": {"recent": {"rounds": "-1"}}}, '"-1" is neither a number nor'),
    "schedule": ({"sees": {"fading": {"keep": {"1": "all", "3": "some"}}}}, '"some" is neither a number nor'),
    "schedule of no rounds": ({"sees": {"fading": {"keep": {}}}}, "keep: {} is not keys with values"),
    "epoch": ({"order": {"shuffle": {"every": "0"}}}, '"0" is not a whole number from 1 to 99'),
    "window": ({"when": {"stuck": {"field": "score", "over": "100"}}}, '"100" is not a whole number from 1 to 99'),
    "gain": ({"when": {"stuck": {"field": "score", "gain": "little"}}}, '"little" is neither a number nor'),
    "distance": ({"when": {"moved": {"field": "score", "by": "nan"}}}, '"nan" is neither a number nor'),
    "repetition": ({"until": {"over": {"repeats": {"seats": "most"}}}}, 'seats must be some or every, not "most"'),
    "repetition in words": ({"until": {"over": {"repeats": {"over": "half"}}}}, '"half" is neither a number nor'),
    "round": ({"until": {"over": {"from_round": "third"}}}, '"third" is neither a number nor'),
    "step whose author does not review": ({"order": {"others": {"than": "frist"}}}, '"frist" is no phase or step'),
    "two keys in among": (
        {"until": {"over": {"vote": {"field": "ready", "among": {"some": {}, "every": {}}}}}},
        "among must be options or one rule",
    ),
    "rule in among": (
        {"until": {"over": {"vote": {"field": "ready", "among": {"passes_all": "talk"}}}}},
        'there is no rule "passes_all"',
    ),
    "answer in among": (
        {"until": {"over": {"vote": {"field": "ready", "among": {"some": {"redy": "yes"}}}}}},
        '"redy" is no answer asked for so far',
    ),
    "cast without an answer": ({"seats": {"from": "first"}}, "must be a step and one of its answers"),
    "cast by nobody": ({"seats": {"from": "frist.names"}}, '"frist" is no phase or step before the end of this one'),
    "cast by another answer": (
        {"seats": {"from": "first.nams"}},
        '"nams" is no answer asked for in first; did you mean',
    ),
    "cast by a later step": ({"seats": {"from": "last.late"}}, '"last" is no phase or step before the end of this one'),
    "cast by a word": ({"seats": {"from": "first.pick"}}, '"first.pick" must be a list of names'),
    "left out by nobody": ({"seats": {"from": "first.names", "without": "talk.mutes"}}, '"mutes" is no answer'),
    "analysis without an answer": (
        {"order": {"seated": {"by": "first.list", "group": "members"}}},
        'seated: "list" is no answer asked for in first',
    ),
    "group that is not there": (
        {"until": {"over": {"names_seats": {"of": "first.names", "group": "membres"}}}},
        'there is no group "membres"; did you mean "members"?',
    ),
    "number of perspectives": (
        {"until": {"over": {"cast": {"of": "first.names", "number": "several"}}}},
        "must be auto, or a number from 2 to 4, not 'several'",
    ),
    "order inside an order": (
        {"seats": {"from": "first.names"}, "order": {"unmuted": {"by": "first.names", "then": "sequentially"}}},
        'there is no order "sequentially"; did you mean "sequential"?',
    ),
    "phase called like a view": ({"name": "recent"}, '"recent" is the name of a view; give it another name'),
    "halt": ({}, 'halt costly: "lots" is neither a number nor'),
}


@pytest.mark.parametrize(("keys", "problem"), WRONG.values(), ids=WRONG)
def test_a_mistake_is_named_with_its_place_before_the_debate_begins(keys: dict[str, Any], problem: str) -> None:
    halt = {} if keys else {"costly": {"spent": {"usd": "lots"}}}
    workflow = workflow_of(talk(**keys), options={"quick": False, "target": "90"}, halt=halt)
    with pytest.raises(UsageError) as refused:
        check(workflow)
    line, *more = str(refused.value).splitlines()
    assert line.startswith(f"test: phase {keys.get('name', 'talk')}: " if keys else "test: halt")
    assert problem in "\n".join([line, *more])
    assert all(one.startswith("test: ") for one in more)


def test_all_mistakes_are_named_at_once() -> None:
    problems = find_problems(workflow_of(talk(when="no", order="no", sees="no", until={"a": "no", "b": "no"})))
    assert [one.partition(": there")[0] for one in problems] == [
        "phase talk: when",
        "phase talk: order",
        "phase talk: sees",
        "phase talk: until a",
        "phase talk: until b",
    ]


def test_what_a_step_says_of_its_own_phase_is_no_mistake() -> None:
    steps = [
        {"name": "ask", "sees": ["tell", "talk"], "when": [{"not": {"some": {"ready": "no"}}}, "last_round"]},
        {
            "name": "tell",
            "seats": {"from": "first.names", "without": "ask.muted"},
            "order": {"others": {"than": "ask"}},
        },
    ]
    phases = talk(
        steps=steps, reply={"ready": "yes | no", "muted": "list"}, when={"ended": {"first": ["done", "limit"]}}
    )
    assert find_problems(workflow_of(phases)) == []


@pytest.mark.parametrize("name", NAMES)
def test_a_gate_of_the_user_is_no_mistake(name: str) -> None:
    plain = kit(name)
    names = [phase.name for phase in plain.phases if phase.steps[0].seats != ("human",)]
    assert find_problems(gates.insert(plain, names)) == []


@pytest.mark.parametrize(
    ("name", "option", "value"),
    [
        ("Consensus", "target", "ninety"),
        ("Consensus", "min_progress", "nan"),
        ("Consensus", "context", "-1"),
        ("Perspectives", "perspectives", "several"),
        ("Perspectives", "perspectives", "1e400"),
    ],
)
def test_an_option_of_the_user_is_checked_where_it_is_used(name: str, option: str, value: str) -> None:
    with pytest.raises(UsageError, match=f"{name.lower()}: phase .*{value}"):
        check(kit(name, **{option: value}))


def test_a_message_is_one_line_that_moves_no_cursor() -> None:
    with pytest.raises(UsageError) as refused:
        check(workflow_of(talk(when={"some": {"\x1b[2J\n" + "x" * 9_000: "\u202e"}})))
    assert len(str(refused.value)) < 700
    assert str(refused.value).isprintable()


def attempt(seed: int) -> bool:
    """Load, check and hold a workflow with mistakes. Whatever is wrong is said before anybody speaks."""
    rng = random.Random(f"mistakes {seed}")
    text = mutate(read(NAMES[seed % len(NAMES)]), rng)
    try:
        workflow = load(text, "mine.md")
        if workflow.options and rng.random() < 0.3:
            workflow = workflow.with_options({rng.choice([*workflow.options]): rng.choice(ODD)})
        check(workflow)
    except UsageError:
        return False
    hold(workflow, rng)
    return True


def hold(workflow: Workflow, rng: random.Random) -> None:
    plan, said = Plan(workflow, "seed"), dict[str, Recorded]()
    while plan.advance(said).due and len(said) < 300:
        for due in plan.due:
            said[due.id] = any_reply(due, rng)


@pytest.mark.parametrize("block", range(5))
def test_no_mistake_in_a_workflow_is_found_later(block: int) -> None:
    held = sum(attempt(100 * block + seed) for seed in range(100))
    assert 5 < held < 95, "some are workflows all the same"


@pytest.mark.full
@pytest.mark.parametrize("block", range(100))
def test_no_mistake_of_twenty_thousand_is_found_later(block: int) -> None:
    for seed in range(200):
        attempt(1_000 + 200 * block + seed)


TIMES = ("round_timeout", "total_timeout", "checkpoint_timeout")


@pytest.mark.parametrize("name", [*TIMES, "token_budget"])
@pytest.mark.parametrize("value", ["soon", "-1", "1e3", "nan", "inf", "", "99999999999", "٣", "1.5.2", "none of it"])
def test_a_limit_that_means_nothing_is_refused(name: str, value: str) -> None:
    (problem,) = find_problems(workflow_of(talk(), options={name: value}))
    assert problem.startswith(f'options: {name}: "{value}": write a number of ')


def test_a_limit_is_a_number_or_none_at_all() -> None:
    for name, values in (*((time, ("1.5", "300", 20)) for time in TIMES), ("token_budget", ("400", 2000, "0"))):
        for value in (*values, "unlimited"):
            assert find_problems(workflow_of(talk(), options={name: value})) == []
    assert "at least 400" in find_problems(workflow_of(talk(), options={"token_budget": "399"}))[0]
    assert find_problems(workflow_of(talk(), options={"round_timeout": "0"}))
