"""Rules, orders and views, each against what its workflow would expect."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

import pytest

from council.next.engine import orders, views
from council.next.engine.conditions import fraction, judge, matches
from council.next.engine.planner import Due, Plan
from council.next.engine.scene import Recorded, Scene, Turn
from council.next.errors import UsageError
from council.next.workflow.loader import read_condition
from council.next.workflow.model import Ref, Seat, Workflow
from tests.next.debates import form, hold, workflow_of

Given = dict[str, Any] | None  # the answers of a seat; None if it was absent
ASKED = {"pick": "a | b", "score": "0-100", "names": "list"}


def held(*rounds: dict[str, Given], seed: str = "seed", **keys: Any) -> Scene:
    """The scene after these rounds of one phase, in which each seat gave its answers."""
    given = {name for each in rounds for one in each.values() for name in one or ()}
    reply = {name: kind for name, kind in ASKED.items() if name in given}
    phases = [{"name": "talk", "rounds": str(len(rounds)), "reply": reply}]
    seats = {"members": keys.pop("members", [*rounds[0]])}
    workflow = workflow_of(phases, seats=seats, **keys)

    def speak(due: Due) -> Recorded:
        given = rounds[due.round - 1][due.seat.name]
        if given is None:
            return Recorded("", absent="gone")
        return Recorded(given["body"] if "body" in given else form(due, **given))

    return hold(workflow, speak, seed).scene


def asked(due: Due, **answers: Any) -> str:
    """A reply with those of the answers that the step asks for."""
    return form(due, **{name: value for name, value in answers.items() if name in due.step.reply})


def holds(condition: Any, scene: Scene) -> bool:
    return judge(read_condition(condition, None), scene).holds  # type: ignore[arg-type]


A, B = {"pick": "a"}, {"pick": "b"}
THREE = held({"ada": A, "bo": A, "cy": None})


@pytest.mark.parametrize(
    ("condition", "expected"),
    [
        ({"some": {"pick": "a"}}, True),
        ({"some": {"pick": "b"}}, False),
        ({"some": {"pick": "any"}}, True),
        ({"every": {"pick": "a"}}, False),  # who is absent said nothing
        ({"every": {"pick": "any"}}, False),
        ({"share": {"pick": "a", "at": "2/3"}}, True),
        ({"share": {"pick": "a", "over": "2/3"}}, False),
        ({"share": {"pick": ["a", "b"], "over": "1/2"}}, True),
        ({"share": {"pick": "a", "at": "0.7"}}, False),
        ({"split": "pick"}, False),
        ({"not": {"split": "pick"}}, True),
        ({"all": [{"some": {"pick": "a"}}, {"some": {"pick": "b"}}]}, False),
        ([{"some": {"pick": "b"}}, {"some": {"pick": "a"}}], True),
        ("last_round", True),
        ({"from_round": "1"}, True),
        ({"from_round": "2"}, False),
        ({"vote": {"field": "pick", "method": "2/3"}}, True),
        ({"vote": {"field": "pick", "method": "unanimous"}}, False),
        ({"vote": {"field": "pick", "among": ["b"]}}, False),
        ({"vote": {"field": "pick", "among": {"some": {"pick": "b"}}}}, False),
    ],
)
def test_what_holds_after_two_of_three_said_a(condition: Any, expected: bool) -> None:
    assert holds(condition, THREE) is expected


@pytest.mark.parametrize(
    ("scores", "condition", "expected"),
    [
        ([50, 60], {"moved": "score"}, True),
        ([50, 59], {"moved": "score"}, False),
        ([50, 59], {"moved": {"field": "score", "by": "9"}}, True),
        ([50], {"moved": "score"}, False),
        ([50, 50, 50], {"stuck": {"field": "score", "gain": "5"}}, False),  # too early
        ([50, 50, 50, 54], {"stuck": {"field": "score", "gain": "5"}}, True),
        ([50, 50, 50, 55], {"stuck": {"field": "score", "gain": "5"}}, False),
        ([10, 50, 50, 55], {"stuck": {"field": "score", "gain": "5"}}, False),
        ([10, 51, 52, 55], {"stuck": {"field": "score", "gain": "5"}}, True),
        ([90], {"every": {"score": ">= 90"}}, True),
        ([90], {"every": {"score": "> 90"}}, False),
        ([89], {"every": {"score": "<= 89"}}, True),
        ([89], {"every": {"score": "< 89"}}, False),
        ([90], {"every": {"score": ">= target"}}, True),
    ],
)
def test_what_holds_of_scores(scores: list[int], condition: Any, expected: bool) -> None:
    rounds: list[dict[str, Given]] = [{"ada": {"score": score}, "bo": {"score": score}} for score in scores]
    assert holds(condition, held(*rounds, options={"target": "90"})) is expected


def test_a_seat_that_was_silent_once_is_left_out_of_what_is_stuck() -> None:
    first: dict[str, Given] = {"ada": {"score": 50}, "bo": None}
    later: dict[str, Given] = {"ada": {"score": 50}, "bo": {"score": 90}}
    rounds = [first, later, later, later]
    stuck = {"stuck": {"field": "score", "gain": "5"}}
    assert holds(stuck, held(*rounds))
    assert not holds(stuck, held(*[{"ada": {"score": score}, "bo": None} for score in (1, 20, 40, 60)]))


def test_an_answer_that_changed_its_kind_is_no_error() -> None:
    """`confidence` may be a number in one step and a word in another."""
    phases = [
        {"name": "one", "reply": {"sure": "0-100"}},
        {"name": "two", "reply": {"sure": "low | high"}, "until": {"over": [{"moved": "sure"}, {"split": "sure"}]}},
    ]
    plan = hold(workflow_of(phases), lambda due: form(due, sure=50 if due.step.name == "one" else "low"))
    assert plan.scene.ended["two"] == "over"


@pytest.mark.parametrize(
    ("seats", "said", "expected"), [("some", "x", True), ("every", "x", False), ("every", "same", True)]
)
def test_who_repeats_the_round_before(seats: str, said: str, expected: bool) -> None:
    words = "the same words as in the round before, all of them"
    first: dict[str, Given] = {"ada": {"body": words}, "bo": {"body": words + " and more"}}
    last: dict[str, Given] = {"ada": {"body": words}, "bo": {"body": words if said == "same" else "entirely new"}}
    assert holds({"repeats": {"over": "0.6", "seats": seats}}, held(first, last)) is expected


def test_a_tie_is_broken_by_the_seed_only_if_an_option_says_so() -> None:
    rule = {"vote": {"field": "pick", "ties": "draw"}}
    tied: dict[str, Given] = {"ada": A, "bo": B}
    assert not holds(rule, held(tied, options={"draw": False}))
    drawn = (held(tied, seed=str(seed), options={"draw": True}) for seed in range(9))
    found = {judge(Ref("vote", rule["vote"]), scene).elected for scene in drawn}
    assert found == {"a", "b"}


def test_a_seats_weight_counts_as_so_many_votes() -> None:
    members = [{"ada": {"weight": "3"}}, "bo", "cy"]
    scene = held({"ada": A, "bo": B, "cy": B}, members=members)
    assert judge(Ref("vote", {"field": "pick", "method": "majority"}), scene).elected == "a"


def test_nothing_is_elected_by_a_rule_that_did_not_hold() -> None:
    vote = {"vote": {"field": "pick"}}
    assert judge(read_condition({"all": [vote, "last_round"]}, None), THREE).elected == "a"  # type: ignore[arg-type]
    never = {"all": [vote, {"from_round": "2"}]}
    assert judge(read_condition(never, None), THREE).elected == ""  # type: ignore[arg-type]


def test_what_was_spent_counts_every_try_and_an_unknown_price_at_its_most() -> None:
    workflow = workflow_of([{"name": "talk", "reply": {"pick": "a | b"}}], seats={"members": ["ada"]})
    said = {
        "01-talk/ada": Recorded("no", calls=2, tokens=10, usd=None, most=0.5),
        "01-talk/ada.2": Recorded("## Pick\na", calls=1, tokens=5, usd=0.25),
    }
    scene = Plan(workflow).advance(said).scene
    verdict = judge(Ref("spent", {"usd": "0.75"}), scene)
    assert (verdict.holds, dict(verdict.tally)) == (True, {"usd": 0.75, "tokens": 15, "calls": 3})
    assert not holds({"spent": {"usd": "0.76", "tokens": "16", "calls": "4"}}, scene)
    assert holds({"spent": {"usd": "9", "tokens": "15"}}, scene)


@pytest.mark.parametrize("value", ["2/3", "0.6", "1", "0", "most"])
def test_a_share_is_exact(value: str) -> None:
    exact = {"2/3": Fraction(2, 3), "0.6": Fraction(3, 5), "1": 1, "0": 0, "most": Fraction(1, 3)}
    assert fraction(value, {"most": "1/3"}) == exact[value]


@pytest.mark.parametrize(
    "value", ["3/2", "1/0", "-1/2", "1e9", "1e-9", "nan", "inf", "", "two", "0." + "1" * 30, True, ["1"]]
)
def test_what_is_no_share_is_refused(value: Any) -> None:
    with pytest.raises(UsageError, match="is not a share from 0 to 1"):
        fraction(value, {})


@pytest.mark.parametrize(
    ("value", "wanted", "expected"),
    [
        ("Yes", "yes", True),
        ("yes", True, False),
        (("a", "b"), "B", True),
        (("a", "b"), "c", False),
        ((), "any", False),
        (0, "any", True),
        (None, "any", False),
        (None, ["any", "x"], False),
        ("high", ">= 90", False),
        (90, ["x", ">= 90"], True),
    ],
)
def test_an_answer_is_compared_with_what_a_workflow_names(value: Any, wanted: Any, expected: bool) -> None:
    assert matches(value, wanted, THREE) is expected


# ---- orders ----


def order_in(round: int, seed: str = "seed", **args: Any) -> list[str]:
    workflow = workflow_of([{"name": "talk"}], seats={"domain": [*"abcde"], "always": ["x", "y"]})
    scene = Scene(workflow, seed, phase="talk", round=round)
    return [seat.name for (seat,) in orders.shuffle(workflow.seats(["domain", "always"]), scene, **args)]


def test_a_shuffle_changes_with_its_epoch_and_the_session_and_moves_its_group_alone() -> None:
    args = {"group": "domain", "every": "3"}
    assert order_in(1, **args) == order_in(2, **args) == order_in(3, **args) != order_in(4, **args)
    assert order_in(4, **args) == order_in(6, **args) != order_in(7, **args)
    assert all(order_in(round, **args)[5:] == ["x", "y"] for round in range(1, 9))
    assert len({tuple(order_in(1, seed=str(seed), **args)) for seed in range(30)}) > 20
    assert {*order_in(1)[5:]} != {"x", "y"} or order_in(1)[5:] != ["x", "y"]


def test_groups_speak_one_after_the_other_and_authors_do_not_review_themselves() -> None:
    workflow = workflow_of(
        [
            {"name": "write", "seats": "ada"},
            {
                "name": "talk",
                "steps": [{"name": "draft", "seats": "ada"}, {"name": "check", "order": {"others": {"than": "draft"}}}],
            },
            {"name": "end", "seats": ["members", "chair"], "order": "by_group"},
            {"name": "after", "order": {"others": {"than": "write"}}},
        ]
    )
    batches = hold(workflow, form).batches
    assert [[id.partition("/")[2] for id in batch] for batch in batches] == [
        ["ada"],
        ["ada"],
        ["bo", "cy"],
        ["ada", "bo", "cy"],
        ["chair"],
        ["ada", "bo", "cy"],  # another phase is another text
    ]


# ---- views ----


def five_rounds() -> Scene:
    """Two seats in five rounds, before a sixth. Each turn is 400 characters, which is about 100 tokens."""
    workflow = workflow_of([{"name": "talk", "rounds": "6"}], seats={"members": ["ada", "bo"]})
    plan, said = Plan(workflow, "seed"), dict[str, Recorded]()
    while plan.advance(said).due and plan.due[0].round < 6:
        said |= {due.id: Recorded(f"{due.id} ".ljust(400, "x")) for due in plan.due}
    return plan.scene


SCENE = five_rounds()
ADA = SCENE.workflow.members[0]


def seen(ref: Any, seat: Seat = ADA, round: int = 6) -> str:
    """The rounds that a seat sees, a capital letter where it sees the whole turn: `5aA` would be `5 as a gist`."""
    before, SCENE.round = SCENE.round, round
    try:
        found = views.look([ref if isinstance(ref, Ref) else Ref(ref)], seat, SCENE)
    finally:
        SCENE.round = before
    return " ".join(
        f"{one.turn.round}{one.turn.seat.name[0].lower() if one.gist else one.turn.seat.name[0].upper()}"
        for one in found
    )


ALL = "1A 1B 2A 2B 3A 3B 4A 4B 5A 5B"


@pytest.mark.parametrize(
    ("ref", "expected"),
    [
        (Ref("so_far"), ALL),
        (Ref("talk"), ALL),
        (Ref("nothing"), ""),
        (Ref("own"), "1A 2A 3A 4A 5A"),
        (Ref("gists"), ALL.lower()),
        (Ref("recent"), "5A 5B"),
        (Ref("recent", {"rounds": "2"}), "4A 4B 5A 5B"),
        (Ref("recent", {"rounds": "0"}), ""),
        (Ref("recent", {"rounds": "99"}), ALL),
        (Ref("fading", {"keep": {"9": "all"}}), ALL),
        (Ref("fading", {"keep": {"9": "2"}}), "1a 1b 2a 2b 3a 3b 4A 4B 5A 5B"),
        (Ref("fading", {"keep": {"3": "all", "9": "1"}}), "1a 1b 2a 2b 3a 3b 4a 4b 5A 5B"),
        (Ref("fading", {"keep": {"3": "all"}}), ALL),  # the last one goes on
        (Ref("fading", {"keep": {"9": "2"}, "digest": "5"}), "4A 4B 5A 5B"),
        (Ref("fading", {"keep": {"9": "2"}, "digest": "6"}), "1a 1b 2a 2b 3a 3b 4A 4B 5A 5B"),
        (Ref("fading", {"keep": {"9": "all"}, "tokens": "400"}), "1a 1b 2a 2b 3a 3b 4A 4B 5A 5B"),
        (Ref("fading", {"keep": {"9": "all"}, "tokens": "399"}), "1a 1b 2a 2b 3a 3b 4a 4b 5A 5B"),
        (Ref("fading", {"keep": {"9": "all"}, "tokens": "0"}), ALL.lower()),
    ],
)
def test_what_a_seat_reads(ref: Ref, expected: str) -> None:
    assert seen(ref) == expected


def test_what_one_view_shows_in_full_stays_in_full() -> None:
    for refs in ([Ref("gists"), Ref("own")], [Ref("own"), Ref("gists")]):
        found = views.look(refs, ADA, SCENE)
        assert [one.turn.seat.name for one in found if not one.gist] == ["ada"] * 5
        assert len(found) == 10


def labels(reader: str, seed: str = "seed") -> dict[str, str]:
    seats: dict[str, Given] = {name: {"pick": "a"} for name in ("ada", "bo", "cy", "dee")}
    scene = held(seats, seed=seed)
    found = views.look([Ref("anonymous")], Seat(reader), scene)
    assert [one.label for one in found] == sorted(
        (one.label for one in found), key=lambda label: (label != "You", label)
    )
    return {one.turn.seat.name: one.label for one in found}


def test_each_reader_has_labels_of_its_own_in_an_order_that_tells_nothing() -> None:
    assert labels("ada")["ada"] == labels("bo")["bo"] == "You"
    assert {*labels("ada").values()} == {"You", "Member A", "Member B", "Member C"}
    seen_of_dee = {labels(reader, seed)["dee"] for reader in ("ada", "bo") for seed in "0123456789"}
    assert seen_of_dee == {"Member A", "Member B", "Member C"}
    different = [seed for seed in "0123456789" if labels("ada", seed)["dee"] != labels("bo", seed)["dee"]]
    assert 2 <= len(different) <= 9


def test_many_seats_have_as_many_labels_which_stay_through_the_session() -> None:
    names = [f"m{number}" for number in range(40)]
    phases = [{"name": name, "seats": "members", "reply": {"pick": "a | b"}} for name in ("one", "two", "three")]
    workflow = workflow_of(phases, seats={"members": names, "chair": "chair"})
    plan, said, seen = Plan(workflow, "seed"), dict[str, Recorded](), list[dict[str, str]]()
    while plan.advance(said).due:
        found = views.look([Ref("anonymous")], workflow.members[0], plan.scene)
        seen.append({one.turn.seat.name: one.label for one in found})
        said |= {due.id: Recorded(form(due, pick="a")) for due in plan.due}
    assert seen[1] == seen[2]
    assert len({*seen[1].values()}) == len(names)
    assert seen[1]["m0"] == "You"


# ---- the walk ----


def test_a_rule_ends_no_phase_before_its_least_rounds() -> None:
    until = {"now": {"some": {"pick": "a"}}}
    phases = [{"name": "talk", "rounds": ["2", "4"], "reply": {"pick": "a | b"}, "until": until}]
    plan = hold(workflow_of(phases), lambda due: form(due, pick="a"))
    assert {turn.round for turn in plan.scene.turns} == {1, 2}
    assert plan.scene.ended == {"talk": "now"}


def test_a_phase_judges_only_what_its_own_round_was_asked() -> None:
    """A poll that is not held in a round does not end the phase with the answers of the round before."""
    steps = [
        {"name": "talk", "reply": {"pick": "a | b"}},
        {"name": "poll", "when": {"every": {"pick": "a"}}, "reply": {"close": "yes | no"}},
    ]
    until = {"closed": {"all": [{"some": {"close": "yes"}}, {"from_round": "2"}]}}
    phases = [{"name": "loop", "rounds": ["1", "3"], "steps": steps, "until": until}]
    plan = hold(workflow_of(phases), lambda due: asked(due, pick="b" if due.round == 2 else "a", close="yes"))
    assert {turn.round for turn in plan.scene.turns} == {1, 2, 3}


def test_who_was_elected_is_kept_after_the_phase() -> None:
    until = {"chosen": {"vote": {"field": "pick", "method": "majority"}}}
    phases: list[dict[str, Any]] = [{"name": "choose", "reply": {"pick": "a | b"}, "until": until}, {"name": "after"}]
    plan = hold(workflow_of(phases), lambda due: asked(due, pick="b"))
    assert (plan.scene.elected, plan.scene.ended["choose"]) == ("b", "chosen")


def test_the_same_turn_is_before_another_only_once() -> None:
    scene = held({"ada": {"score": 10}, "bo": None}, {"ada": {"score": 20}, "bo": {"score": 5}})
    last: list[Turn] = scene.latest("score")
    assert [scene.before(turn, "score") for turn in last] == [10, None]


def test_a_workflow_of_one_round_has_no_round_in_its_folders() -> None:
    workflow: Workflow = workflow_of([{"name": "ask", "seats": "human", "reply": {"grant": "0-3"}}])
    plan = Plan(workflow).advance({"01-ask/human": Recorded("## Grant\n1")})
    assert [due.id for due in plan.due] == ["01-ask-r02/human"]


@pytest.mark.parametrize(
    ("works", "more", "elected"),
    [
        (("ada", "bo"), {"sure": "sure"}, "ada"),
        (("ada", "bo"), {}, "bo"),
        (("bo", "cy"), {"sure": "sure"}, "bo"),
        (("cy",), {"sure": "sure"}, ""),
        ((), {"sure": "sure"}, ""),
    ],
)
def test_candidates_that_pass_a_rule_are_elected_by_how_sure_the_voters_are(
    works: tuple[str, ...], more: dict[str, str], elected: str
) -> None:
    """As members vote on each other's code: only those whose tests passed can be elected."""
    vote = {"field": "pick", "method": "auto", "among": {"some": {"works": "yes"}}, **more}
    reply = {"works": "yes | no", "pick": "text", "sure": "0-100"}
    said = {"ada": ("bo", 40), "bo": ("bo", 40), "cy": ("**Ada**", 90)}

    def speak(due: Due) -> str:
        pick, certain = said[due.seat.name]
        return form(due, works="yes" if due.seat.name in works else "no", pick=pick, sure=certain)

    plan = hold(workflow_of([{"name": "choose", "reply": reply, "until": {"chosen": {"vote": vote}}}]), speak)
    assert (plan.scene.elected, plan.scene.ended["choose"]) == (elected, "chosen" if elected else "limit")
    if not works:
        assert plan.notes[-1].verdict.reason == "no option counts: 0 of 3 say works yes"
