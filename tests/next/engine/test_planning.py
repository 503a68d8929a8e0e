"""Plans: what is due, in which order, and that a plan from the files is the plan that went on."""

from __future__ import annotations

import random
import sys
from collections import Counter
from collections.abc import Callable
from types import FrameType
from typing import Any

import pytest

from council.next.engine import planner, views
from council.next.engine.planner import Due, Plan
from council.next.engine.scene import Recorded
from council.next.errors import UsageError
from council.next.workflow import gates
from council.next.workflow.model import Workflow
from tests.next.debates import any_reply, babble, facts, form, hold, replay, workflow_of

POLL = {"ready": "yes | no"}
LOOP = workflow_of(
    [
        {"name": "positions", "sees": "nothing", "reply": {"view": "text"}},
        {
            "name": "talk",
            "rounds": ["2", "most"],
            "steps": [
                {"name": "argue", "order": {"shuffle": {"every": "2"}}, "reply": {"score": "0-100", "gist": "text ?"}},
                {"name": "poll", "when": {"from_round": "2"}, "sees": "gists", "reply": POLL},
                {"name": "steer", "seats": "human", "when": "last_round", "reply": {"grant": "0-3"}},
            ],
            "until": {
                "agreed": {"share": {"ready": "yes", "at": "2/3"}},
                "stuck": {"stuck": {"field": "score", "gain": "5"}},
            },
        },
        {"name": "repair", "when": {"ended": {"talk": "limit"}}, "sees": ["own", {"recent": {"rounds": "1"}}]},
        {"name": "synthesis", "role": "synthesis", "seats": "chair", "reply": {"answer": "text", "names": "list"}},
        {"name": "guests", "seats": {"from": "synthesis.names"}, "sees": {"anonymous": ["talk", "synthesis"]}},
    ],
    options={"most": "4"},
    halt={"costly": {"spent": {"tokens": "6000"}}},
)
VOTES = workflow_of(
    [
        {"name": "propose", "sees": "nothing", "reply": {"names": "list+", "ranking": "list+", "sure": "0-100"}},
        {
            "name": "choose",
            "rounds": ["1", "3"],
            "order": "sequential",
            "sees": {"fading": {"keep": {"1": "all", "2": "1"}}},
            "reply": {"ranking": "list+", "sure": "0-100", "pick": "a | b | c"},
            "until": {
                "chosen": {"vote": {"field": "pick", "method": "majority"}},
                "ranked": {
                    "all": [
                        {"not": {"split": "pick"}},
                        {"vote": {"field": "ranking", "method": "auto", "sure": "sure"}},
                    ]
                },
                "echo": {"repeats": {"seats": "every"}},
            },
        },
        {
            "name": "last",
            "when": [{"not": {"moved": "pick"}}, {"option": "always"}],
            "order": "by_group",
            "seats": ["chair", "members"],
        },
    ],
    options={"always": False},
)
WORKFLOWS = {"loop": LOOP, "votes": VOTES, "gated": gates.insert(LOOP, ["positions", "synthesis"])}


@pytest.mark.parametrize("name", WORKFLOWS)
@pytest.mark.parametrize("seed", range(60))
def test_a_plan_from_the_files_is_the_plan_that_went_on(name: str, seed: int) -> None:
    """Whatever is said, by whom it is missing, and in which order replies come in. Nothing is asked for twice."""
    workflow, rng = WORKFLOWS[name], random.Random(f"{name} {seed}")
    plan, said = Plan(workflow, "seed"), dict[str, Recorded]()
    plan.advance(said)
    while plan.due:
        assert not {due.id for due in plan.due} & said.keys()
        due = rng.choice(plan.due)
        said[due.id] = any_reply(due, rng)
        plan.advance(said)
        assert len(said) < 500
        if rng.random() < 0.3:
            assert facts(plan) == facts(replay(workflow, said))
    assert facts(plan) == facts(replay(workflow, said))
    assert sorted(said) == sorted(id for batch in plan.batches for id in batch)


@pytest.mark.parametrize("name", WORKFLOWS)
@pytest.mark.parametrize("seed", range(10))
def test_every_cut_of_a_record_plans_what_was_due_there(name: str, seed: int) -> None:
    """A lost turn is due again, with the view that it had; what was decided before stays decided."""
    workflow, rng = WORKFLOWS[name], random.Random(f"cut {name} {seed}")
    order: list[str] = []
    views: dict[str, Any] = {}
    said: dict[str, Recorded] = {}

    def speak(due: Due) -> Recorded:
        order.append(due.id)
        views[due.id] = [(seen.turn.id, seen.gist, seen.label) for seen in due.sees]
        said[due.id] = any_reply(due, rng)
        return said[due.id]

    whole = hold(workflow, speak)
    for length in range(len(order)):
        cut = replay(workflow, {id: said[id] for id in order[:length]})
        assert order[length] in {due.id for due in cut.due}
        for due in cut.due:
            assert views[due.id] == [(seen.turn.id, seen.gist, seen.label) for seen in due.sees]
        assert cut.notes == whole.notes[: len(cut.notes)]
        assert cut.batches == whole.batches[: len(cut.batches)]


@pytest.mark.parametrize("seed", range(40))
def test_nobody_reads_what_is_said_later_or_at_the_same_time(seed: int) -> None:
    rng, moments = random.Random(seed), dict[str, int]()
    plan, said = Plan(WORKFLOWS["gated"], "seed"), dict[str, Recorded]()
    batch = 0
    while plan.advance(said).due:
        batch += 1
        for due in plan.due:
            first = due.id.removesuffix(".2")
            assert all(moments[seen.turn.id] < moments.get(first, batch) for seen in due.sees)
            if due.phase.name == "positions":
                assert not due.sees
            moments.setdefault(first, batch)
            said[due.id] = any_reply(due, rng)


def test_what_cannot_be_read_is_asked_for_once_more_and_both_tries_count() -> None:
    workflow = workflow_of([{"name": "talk", "reply": {"pick": "a | b", "score": "0-100", "why": "text"}}])
    plan, said = Plan(workflow), dict[str, Recorded]()
    plan.advance(said)
    first = "Talk.\n\n## Pick\na\n\n## Score\n101\n\n## Why\nfirst"
    for due in plan.due:
        said[due.id] = Recorded(first)
    plan.advance(said)
    assert [due.id for due in plan.due] == ["01-talk/ada.2", "01-talk/bo.2", "01-talk/cy.2"]
    assert plan.due[0].problems == ('"## Score": it must be a number from 0 to 100, alone',)
    assert plan.due[0].first == Recorded(first)
    said["01-talk/ada.2"] = Recorded("Again.\n\n## Score\n80\n\n## Why\nsecond")
    said["01-talk/bo.2"] = Recorded("I will not.")
    said["01-talk/cy.2"] = Recorded("", absent="gone")
    assert plan.advance(said).done
    ada, bo, cy = plan.scene.turns
    assert (dict(ada.answers), ada.problems) == ({"pick": "a", "score": 80, "why": "second"}, ())
    assert (dict(bo.answers), len(bo.problems)) == ({"pick": "a", "why": "first"}, 1)
    assert bo.silence("score") == "spoke, score unreadable"
    assert (dict(cy.answers), cy.absent) == ({"pick": "a", "why": "first"}, None)
    assert ada.text.count("Talk.") == ada.text.count("Again.") == 1


def test_the_record_counts_for_more_than_a_reader_that_was_changed() -> None:
    """A later version may read more strictly, or less, than the one that held the debate."""
    phases = [{"name": "talk", "reply": {"pick": "a | b"}}, {"name": "end", "reply": {"pick": "a | b"}}]
    workflow, good, bad = workflow_of(phases), "Talk.\n\n## Pick\na", "Talk.\n\n## Pick\nc"
    said = {f"{folder}/{seat}": Recorded(good) for folder in ("01-talk", "02-end") for seat in ("ada", "bo", "cy")}
    strict = Plan(workflow).advance(said | {"01-talk/ada.2": Recorded(good)})
    assert (strict.done, strict.strays()) == (True, [])
    assert strict.scene.turns[0].first == Recorded(good)
    lax = Plan(workflow).advance(said | {"01-talk/bo": Recorded(bad)})
    assert (lax.done, lax.strays()) == (True, [])
    assert lax.scene.turns[1].silence("pick") == "spoke, pick unreadable"
    # The last batch may still be under way, so it is asked.
    last = Plan(workflow).advance(said | {"02-end/cy": Recorded(bad)})
    assert [due.id for due in last.due] == ["02-end/cy.2"]


def test_a_copied_reply_gives_no_answer() -> None:
    workflow = workflow_of([{"name": "talk", "order": "sequential", "reply": {"pick": "a | b", "why": "text"}}])
    words = "Twelve words and more that nobody else would write by chance, as they are."
    whole = f"{words}\n\n## Pick\na\n\n## Why\nbecause of the index"
    plan = hold(workflow, lambda due: whole)
    assert [sorted(turn.answers) for turn in plan.scene.turns] == [["pick", "why"], [], []]


def speaker(**by_name: Any) -> Any:
    """Each seat gives the same answers every time; others fill in the form with anything."""
    rng = random.Random(1)

    def speak(due: Due) -> str:
        given = {name: value for name, value in by_name.get(due.seat.name, {}).items() if name in due.step.reply}
        rest = {
            "pick": "a",
            "score": 50,
            "ready": "no",
            "grant": 0,
            "view": "x",
            "answer": "y",
            "names": (),
            "gate": "approve",
        }
        return form(due, **({name: rest[name] for name in due.step.reply if name in rest} | given))

    del rng
    return speak


def test_a_phase_ends_by_its_first_rule_that_holds_and_not_before_its_least_rounds() -> None:
    ready = {name: {"ready": "yes", "score": 60} for name in ("ada", "bo")}
    plan = hold(LOOP, speaker(**ready))
    assert plan.scene.ended == {"positions": "done", "talk": "agreed", "synthesis": "done", "guests": "done"}
    assert [turn.id for turn in plan.scene.named("poll")] == [
        f"02-talk-r02-2-poll/{one}" for one in ("ada", "bo", "cy")
    ]


def test_a_phase_that_no_rule_ends_reaches_its_limit_and_a_person_may_grant_rounds() -> None:
    rising = {"ada": 0}

    def speak(due: Due) -> str:
        rising["ada"] += 1
        return str(speaker(ada={"score": min(100, 10 * due.round)}, bo={"score": min(100, 10 * due.round)})(due))

    plan = hold(LOOP, speak)
    assert plan.scene.ended["talk"] == "limit"
    assert len(plan.scene.named("repair")) == 3

    def granting(due: Due) -> str:
        return form(due, grant=2) if due.step.name == "steer" and due.round == 4 else speak(due)

    granted = hold(LOOP, granting)
    assert {turn.round for turn in granted.scene.named("argue")} == {1, 2, 3, 4, 5, 6}


def test_models_cannot_grant_rounds() -> None:
    phases = [{"name": "talk", "rounds": ["1", "2"], "reply": {"grant": "0-3"}, "until": {"never": {"option": "off"}}}]
    plan = hold(workflow_of(phases, options={"off": False}), lambda due: form(due, grant=3))
    assert len(plan.scene.turns) == 6


def test_seats_are_cast_by_a_reply_and_take_nobodys_place() -> None:
    names = ("**Security:** what can be attacked", "Ada: an impostor", "Größe und Preis", "Security: once more", "!!!")
    plan = hold(LOOP, speaker(chair={"names": names}))
    guests = plan.scene.named("guests")
    assert [turn.seat.name for turn in guests] == ["security", "the-ada", "grosse-und-preis"]
    assert (guests[0].seat.title, guests[0].seat.get("stands_for")) == ("Security", "what can be attacked")


def test_a_reply_cannot_seat_a_person_or_take_the_name_of_the_shared_brief() -> None:
    plan = hold(LOOP, speaker(chair={"names": ("Human: the user", "Shared: all")}))
    assert [turn.seat.name for turn in plan.scene.named("guests")] == ["the-human", "the-shared"]


def test_a_plan_that_failed_is_not_a_debate_that_is_over() -> None:
    plan = Plan(workflow_of([{"name": "a"}, {"name": "b", "when": {"option": "nope"}}]))
    said = {due.id: Recorded("words") for due in plan.advance({}).due}
    for _ in range(2):
        with pytest.raises(UsageError):
            plan.advance(said)
        assert not plan.done
    assert len(plan.advance({}).due) == 3


def test_a_halt_ends_the_debate_at_once() -> None:
    plan = hold(LOOP, lambda due: Recorded(speaker()(due), tokens=2_500))
    assert plan.halted == plan.scene.ended["positions"] == "costly"
    assert len(plan.scene.turns) == 3
    assert "7500 tokens spent" in plan.notes[-1].verdict.reason


@pytest.mark.parametrize(("word", "ending"), [("veto", "vetoed"), ("reject", "rejected")])
def test_a_person_who_does_not_approve_ends_the_debate(word: str, ending: str) -> None:
    plan = hold(WORKFLOWS["gated"], lambda due: form(due, gate=word) if due.phase.gates else speaker()(due))
    assert (plan.halted, len(plan.scene.turns)) == (ending, 4)


def test_a_gate_that_nobody_answers_approves_nothing() -> None:
    gone = Recorded("", absent="nobody was there")
    plan = hold(WORKFLOWS["gated"], lambda due: gone if due.phase.gates else speaker()(due))
    assert (plan.halted, len(plan.scene.turns)) == ("unanswered", 4)
    assert plan.notes[-1].verdict.reason == "Human absent: nobody was there"


@pytest.mark.parametrize(
    ("phases", "problem"),
    [
        ([{"name": "a", "when": "opposde"}], 'no rule "opposde"'),
        ([{"name": "a", "order": "paralell"}], 'no order "paralell"; did you mean "parallel"?'),
        ([{"name": "a", "sees": "nothign"}], 'no view "nothign"; did you mean "nothing"?'),
        ([{"name": "a", "when": {"option": "nope"}}], 'no option "nope"'),
        (
            [{"name": "a", "reply": {"x": "text"}, "until": {"b": {"vote": {"field": "x", "method": "most"}}}}],
            'no voting method "most"',
        ),
        ([{"name": "a", "until": {"b": {"share": {"x": "y"}}}}], "either at: (at least) or over:"),
        ([{"name": "a", "until": {"b": "some"}}], "needs the name of an answer"),
        (
            [{"name": "a", "reply": {"x": "yes | no"}, "until": {"b": {"share": {"x": "yes", "at": "3/2"}}}}],
            "not a share from 0 to 1",
        ),
        ([{"name": "a", "until": {"b": "split"}}], 'the rule "split" needs the argument "field"'),
        ([{"name": "a", "when": {"last_round": "x"}}], 'the rule "last_round" takes no arguments'),
        ([{"name": "a", "when": {"stuck": {"field": "x", "over": "0"}}}], '"0" is not a whole number from 1 to 99'),
        ([{"name": "a", "when": {"moved": {"field": ["x"]}}}], "field: ['x'] is not a word"),
        ([{"name": "a", "order": {"shuffle": "x"}}], 'the order "shuffle" takes arguments by name'),
        ([{"name": "a", "order": {"shuffle": {"every": "0"}}}], '"0" is not a whole number from 1 to 99'),
        ([{"name": "a", "sees": {"fading": {"keep": "3"}}}], "keep: '3' is not keys with values"),
        ([{"name": "a", "sees": {"fading": {"keep": {}}}}], "keep: {} is not keys with values"),
        ([{"name": "a", "rounds": []}], '"rounds" must be a number or [least, most]'),
    ],
)
def test_a_name_that_nobody_registered_is_refused_with_what_was_meant(
    phases: list[dict[str, Any]], problem: str
) -> None:
    with pytest.raises(UsageError) as refused:
        hold(workflow_of(phases), lambda due: form(due, **dict.fromkeys(due.step.reply, "yes")))
    assert problem in str(refused.value)


def big(rounds: int) -> Workflow:
    """Six members who talk for the given number of rounds, in every order and with every rule that looks back."""
    names = [f"seat-{number}" for number in range(6)]
    reply = {"pick": "a | b", "score": "0-100", "gist": "text"}
    steps = [
        {"name": "argue", "order": {"shuffle": {"every": "3"}}, "sees": "own"},
        {"name": "answer", "sees": {"recent": {"rounds": "1"}}, "when": [{"split": "pick"}, {"moved": "score"}]},
        {"name": "person", "seats": "human", "sees": "nothing", "reply": {"grant": "0-3"}},
    ]
    until = {
        "same": {"every": {"pick": "neither"}},
        "stuck": {"stuck": {"field": "score", "gain": "0", "over": "4"}},
        "echo": {"repeats": {"seats": "every", "over": "1"}},
        "voted": {"vote": {"field": "pick", "method": "unanimous"}},
    }
    phases = [{"name": "talk", "rounds": str(rounds), "reply": reply, "steps": steps, "until": until}]
    return workflow_of(phases, seats={"members": names}, halt={"costly": {"spent": {"calls": "99999"}}})


def count_steps(work: Callable[[], object]) -> int:
    """How many lines of Python run, each turn of a loop counted. Seconds would depend on the machine."""
    lines = [0]

    def trace(frame: FrameType, event: str, about: Any) -> Any:
        lines[0] += event == "line"
        return trace

    before = sys.gettrace()
    sys.settrace(trace)
    try:
        work()
    finally:
        sys.settrace(before)
    return lines[0]


@pytest.mark.parametrize("alive", [True, False], ids=["turn by turn", "from the files"])
def test_the_work_of_planning_grows_with_the_turns(alive: bool) -> None:
    """Twice the rounds are twice the steps, and not four times, in a debate that goes on as in one that is read."""

    def steps(rounds: int) -> int:
        workflow, replies = big(rounds), dict[str, Recorded]()
        rng = random.Random(3)

        def speak(due: Due) -> Recorded:
            answers = {"pick": rng.choice("ab"), "score": rng.randint(0, 100), "gist": babble(rng, 5), "grant": 0}
            replies[due.id] = Recorded(form(due, **{name: answers[name] for name in due.step.reply}))
            return replies[due.id]

        hold(workflow, speak)
        return count_steps(lambda: hold(workflow, lambda due: replies[due.id]) if alive else replay(workflow, replies))

    few, many = steps(12), steps(24)
    assert many < 2.2 * few


def test_a_reply_is_read_once_and_a_view_looked_up_once_a_batch(monkeypatch: pytest.MonkeyPatch) -> None:
    calls: Counter[str] = Counter()
    for module, name in ((planner, "read"), (views, "look")):
        original = getattr(module, name)

        def counting(*args: Any, of: Any = original, name: str = name) -> Any:
            calls[name] += 1
            return of(*args)

        monkeypatch.setattr(module, name, counting)
    workflow = workflow_of([{"name": "talk", "rounds": "5", "reply": {"pick": "a | b"}}])
    plan, said = Plan(workflow), dict[str, Recorded]()
    while plan.advance(said).due:
        said[plan.due[-1].id] = Recorded(form(plan.due[-1], pick="a"))
    assert calls == {"read": 15, "look": 15}
    Plan(workflow).advance(said)
    assert calls == {"read": 30, "look": 15}
