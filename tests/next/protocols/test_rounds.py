"""What the kit's longer protocols promise of their rounds: who sits, who reads what, and what ends them."""

from __future__ import annotations

from typing import Any

import pytest

from council.next.engine.planner import Due
from council.next.engine.scene import Recorded
from council.next.errors import UsageError
from tests.next.protocols.held import Held, debate, kit, signs, standing
from tests.next.protocols.test_endings import BLOCKS, ESCALATES, IF1, R1, board, scores

# ---- a debate ----


@pytest.mark.parametrize(
    "words", ["Error: 429", "", "   ", "I cannot say I agree yet.", "HTTP 529 overloaded_error", "I agree: R1.", "R1"]
)
def test_words_that_are_no_answer_agree_to_nothing(words: str) -> None:
    found = debate({"all": words, "A": R1})
    assert (found.kind, len(found.count.agreeing), found.count.of) == ("undecided", 1, 4)
    none = debate({"all": words})
    assert (none.kind, none.count.agreeing, none.converged) == ("undecided", (), False)


def test_what_a_member_called_blocking_stands_while_it_is_away() -> None:
    found = debate({"all": R1, "D": BLOCKS}, {"all": R1, "D": None})
    assert (found.kind, [one.text for one in found.dissents]) == (
        "agreed with dissent",
        ["no backup was ever restored"],
    )


@pytest.mark.parametrize("taken", ["C1", "C1: nor was a table"])
def test_what_its_author_withdrew_is_the_objection_of_who_took_it_over(taken: str) -> None:
    closing = {"all": R1, "D": signs("R1", blocking=()), "E": signs("R1", blocking=taken)}
    found = debate({"all": R1, "D": BLOCKS}, closing)
    assert [one.seat for one in found.count.agreeing] == ["architect", "designer", "researcher"]
    assert [(one.seat, one.turn, one.text) for one in found.dissents] == [
        ("engineer", "03-closing/engineer", "C1: no backup was ever restored")
    ]


def test_two_camps_that_stay_as_they_are_have_not_converged() -> None:
    camps = {"A": R1, "D": R1, "E": signs("R3"), "R": signs("R3")}
    found = debate(camps, camps)
    assert (found.kind, found.converged, found.movement) == ("split", False, "stable")


def normative(yes: int) -> dict[str, Any]:
    return {seat: {"normative": "yes" if number < yes else "no"} for number, seat in enumerate("ADER")}


@pytest.mark.parametrize(
    ("votes", "more", "third"),
    [
        ({"all": R1}, {}, False),
        ({"all": R1, "D": IF1}, {}, False),
        ({"all": IF1}, {}, True),
        ({"all": IF1, "A": R1, "D": R1}, {}, True),
        ({"all": R1, "D": signs("own")}, {}, True),
        ({"all": R1, "D": BLOCKS}, {}, True),
        ({"all": R1, "D": signs("none", "no")}, {}, True),
        ({"all": R1, "D": signs("undecided", "the load")}, {}, False),
        ({"all": R1}, {"options": {"normative": True}}, True),
        ({"all": R1}, {"options": {"three_rounds": True}}, True),
        ({"all": R1}, {"positions": normative(1)}, False),
        ({"all": R1}, {"positions": normative(2)}, False),
        ({"all": R1}, {"positions": normative(3)}, True),
    ],
)
def test_what_calls_for_the_third_round(votes: dict[str, Any], more: dict[str, Any], third: bool) -> None:
    options = more.pop("options", {})
    held = Held(kit("Debate", **options), challenges=votes, closing=votes, **more).until()
    assert held.outcome.proceed_to_round3 is third
    assert bool(held.plan.scene.named("closing")) is third
    if not more and not options:
        assert standing(votes).proceed_to_round3 is third


# ---- a consensus ----


def consensus(*rounds: dict[str, Any], **more: Any) -> Held:
    options = more.pop("options", {})
    return Held(kit("Consensus", analysis=False, **options), propose=list(rounds), **more).until()


def test_a_consensus_reads_less_of_old_rounds_the_longer_it_lasts() -> None:
    """Rounds 1 to 3 whole, then the last two, and from the eighth on the last one. Of the others a line each."""
    held = consensus({"all": scores(50)}, options={"escalation": False, "min_progress": "0"})
    assert held.outcome.rounds == 10
    for due in held.briefs.values():
        if due.step.name != "propose":
            continue
        earlier = [one for one in due.sees if one.turn.step == "propose" and one.turn.round < due.round]
        whole = {one.turn.round for one in earlier if not one.gist}
        first = 1 if due.round <= 3 else due.round - 2 if due.round <= 7 else due.round - 1
        assert whole == {*range(first, due.round)}, due.id
        lines = {one.turn.round for one in earlier if one.gist}
        assert not lines & whole


def test_a_consensus_ends_as_fundamental_stalemate_or_limit_and_offers_its_options() -> None:
    offer = {"escalate": {"all": {"options": ("keep the queue", "use a table"), "tension": "t"}}}
    adopt = {"human": {"decision": "adopt", "option": "B"}}
    third = {
        "all": scores(50),
        **{seat: scores(50, fundamental="yes") for seat in ("database", "S", "test", "protocol")},
    }
    rising = [{"all": scores(8 * round)} for round in range(1, 11)]
    for rounds, ending in (([third], "fundamental"), ([{"all": scores(50)}], "stalemate"), (rising, "limit")):
        found = consensus(*rounds, appeal=adopt, **offer).outcome
        assert (found.ended["debate"], found.kind) == (ending, "decided by a person")
        assert [(act.option, act.option_text) for act in found.acts] == [("B", "use a table")]
        held = consensus(*rounds, options={"escalation": False})
        assert not [turn for turn in held.plan.scene.turns if turn.seat.is_person], "nobody is asked"


def test_nobody_who_is_silent_is_satisfied() -> None:
    for gone in (None, "I am quite satisfied."):
        found = consensus({"all": scores(95), "database": gone}, options={"escalation": False}).outcome
        assert found.kind != "agreed"
        assert len(found.count.agreeing) == 9


# ---- a board ----


def test_a_board_lasts_two_to_ten_rounds_and_ends_as_soon_as_two_thirds_move_on() -> None:
    ready = {"all": {**signs("R1"), "challenges": ("R2: too dear",), "ready": "yes", "gist": "g"}}
    assert board().rounds == 10
    for yes, rounds in ((4, 2), (3, 10)):
        seats = ("ceo", "cto", "cfo", "coo", "contrarian", "moonshot")
        poll = {seat: {"move_on": "yes" if number < yes else "no"} for number, seat in enumerate(seats)}
        found = board(respond=ready, poll=poll)
        assert (found.rounds, found.ended["challenge"]) == (rounds, "agreed" if rounds == 2 else "limit")


def test_a_board_goes_in_circles_only_if_the_gate_says_so_of_two_rounds() -> None:
    for ruling, repeating, ending in (("halt", 2, "circular"), ("halt", 1, "limit"), ("continue", 5, "limit")):
        found = board(review={"gate-reviewer": {"ruling": ruling, "repeating_rounds": repeating}})
        assert found.ended["challenge"] == ending
    assert board(review=ESCALATES).ended["challenge"] == "fundamental"


def test_a_challenge_names_what_it_challenges() -> None:
    """One without an id is sent back once, and so is a moonshot with one version."""
    rubber = {**signs("R1"), "challenges": ("all of it is fine",), "ready": "no", "gist": "g"}
    good = {**rubber, "challenges": ("R1: too dear",)}
    votes = {"all": good, "ceo": rubber}
    held = Held(kit("Board", max_rounds="2"), respond=votes, position={"all": {"recommendation": "Buy it."}}).until()
    again = {id: due.problems for id, due in held.briefs.items() if id.endswith(".2") and "respond" in id}
    assert {*again} == {"02-challenge-r01-1-respond/ceo.2", "02-challenge-r02-1-respond/ceo.2"}
    assert again["02-challenge-r01-1-respond/ceo.2"][0].startswith(
        '"## Challenges": begin each with the id that it challenges, as in R1'
    )
    one_version = {"two_versions": {"moonshot": "## Recommendation\nOnly this."}}
    held = Held(kit("Board", max_rounds="2"), respond={"all": good}, **one_version).until()
    assert "01-positions-2-two-versions/moonshot.2" in held.briefs


# ---- delphi ----


def test_delphi_counts_no_control_and_only_delphi_has_one() -> None:
    votes = {"all": {"says": "yes"}}
    held = Held(kit("Delphi", control=True), positions=votes, challenge=votes).until()
    control = [due for due in held.briefs.values() if due.phase.name not in ("positions", "challenge", "synthesis")]
    assert control
    assert all(not due.sees for due in control), "it reads the question alone"
    assert held.outcome.count.of == 5
    with pytest.raises(UsageError, match='no option "control"'):
        kit("Debate", control=True)


def test_in_delphi_silence_is_no_vote_and_no_change_of_mind() -> None:
    first = {"all": {"says": "yes"}, "S": {"says": "no"}}
    found = Held(kit("Delphi"), positions=first, challenge={**first, "S": None}).until().outcome
    voices = {one.seat: (one.side, one.silence) for one in found.count.voices}
    assert voices["security"] == ("", "not heard")
    assert (found.count.of, len(found.count.agreeing), found.movement) == (5, 4, "stable")


# ---- perspectives ----

GOOD = ("Cost: what it costs", "Safety: what can fail")


def perspectives(casting: Any, **more: Any) -> Held:
    votes = {"analyze": casting, "evaluate": {"all": {"reading": "new-ground"}}, **more}
    return Held(kit("Perspectives", checkpoints=False, max_rounds=votes.pop("max_rounds", "2")), **votes).until()


def casts(*names: str, opposed: str = "Cost, Safety") -> dict[str, Any]:
    return {"all": {"perspectives": names, "opposed": (opposed,)}}


def seats(held: Held, round: int = 1) -> list[str]:
    return [turn.seat.name for turn in held.plan.scene.named("argue") if turn.round == round]


def test_two_to_four_are_cast_and_two_of_them_are_opposed() -> None:
    assert seats(perspectives(casts(*GOOD))) == ["cost", "safety"]
    four = (*GOOD, "Speed: how soon", "People: who does it")
    assert len(seats(perspectives(casts(*four)))) == 4
    for wrong in (("Cost: what it costs",), (*four, "Law: what is allowed")):
        held = perspectives(casts(*wrong))
        assert len(held.plan.scene.named("analyze")) == 3, "it is asked again, twice"
        assert (seats(held), held.outcome.kind, held.outcome.status) == ([], "stopped", "")
    later = perspectives([casts("Cost: what it costs"), casts(*GOOD)])
    assert seats(later) == ["cost", "safety"]


def test_who_is_muted_is_silent_from_then_on_and_two_always_stay() -> None:
    three = (*GOOD, "Speed: how soon")
    mutes = [
        {"all": {"reading": "new-ground", "muted": ("Speed",)}},
        {"all": {"reading": "new-ground", "muted": ("Cost", "Safety")}},
        {"all": {"reading": "new-ground"}},
    ]
    held = perspectives(casts(*three), evaluate=mutes, max_rounds="4")
    assert [seats(held, round) for round in (1, 2, 3, 4)] == [
        ["cost", "safety", "speed"],
        ["cost", "safety"],
        ["cost", "safety"],
        ["cost", "safety"],
    ]


def test_guidance_reaches_everybody_in_the_next_round() -> None:
    held = Held(
        kit("Perspectives", max_rounds="2"),
        analyze={"all": {"perspectives": GOOD, "opposed": ("Cost, Safety",), "clear": "yes"}},
        evaluate={"all": {"reading": "new-ground"}},
        checkpoint={"human": {"decision": "guide", "guidance": "mind the runway"}},
    ).until()

    def reads(due: Due) -> bool:
        return any(one.turn.step == "checkpoint" for one in due.sees)

    second = [due for due in held.briefs.values() if due.round == 2 and due.step.name in ("frame", "argue")]
    assert second
    assert all(map(reads, second))


def test_an_absence_is_recorded_with_its_reason() -> None:
    held = Held(kit("Debate"), challenges={"all": R1, "D": None}, closing={"all": R1, "D": None}).until()
    assert held.said["02-challenges/designer"] == Recorded("", absent="no answer")
    assert [(one.seat, one.text) for one in held.outcome.absent] == [("designer", "no answer")]


@pytest.mark.parametrize(("option", "refused"), [("A", False), ("b", False), ("C", True), ("A or B", True), ("", True)])
def test_an_option_that_was_not_offered_is_refused_before_it_is_recorded(option: str, refused: bool) -> None:
    offer = {"escalate": {"all": {"options": ("keep the queue", "use a table"), "tension": "t"}}}
    held = Held(kit("Consensus", analysis=False), propose={"all": scores(50)}, **offer).until("appeal")
    (due,) = held.plan.due
    body = f"## Decision\nadopt\n\n## Option\n{option}\n\n## Grant\n0\n"
    problems = held.plan.check(due, body)
    assert bool(problems) is refused
    why = "name one of A and B by its letter" if option else "there is nothing below the heading"
    assert not refused or why in problems[0]
