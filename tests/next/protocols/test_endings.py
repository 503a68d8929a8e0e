"""What a debate came to: one test for each ending. A, D, E and R recommend R1 to R4; `R1 if` names a condition."""

from __future__ import annotations

from typing import Any

import pytest

from council.next.errors import UsageError
from council.next.protocols.ids import Quote
from council.next.protocols.outcome import Outcome
from tests.next.debates import workflow_of
from tests.next.protocols.held import Held, debate, kit, signs, standing
from tests.next.protocols.test_kit import stubs  # noqa: F401

R1 = signs("R1")
IF1 = signs("R1", conditions="the load is measured first")
NONE = signs("none", "nobody is on call")
OPEN = signs("undecided", "the load at the end of the month")


def words(found: Outcome) -> list[tuple[str, str]]:
    return [(one.seat, one.text) for one in found.dissents]


def terms(found: Outcome) -> dict[str, str]:
    return {term.item.id: term.standing for term in found.conditions}


def test_01_all_sign_one_text() -> None:
    found = debate({"all": R1})
    assert (found.kind, found.status, found.proceed_to_round3, found.converged) == ("agreed", "accepted", False, True)
    assert (found.reason, found.decided_by, found.follows, found.rounds) == ("4 of 4 sign R1", "models", "R1", 2)


def test_02_one_signs_its_own_text() -> None:
    found = debate({"all": R1, "R": signs("own")})
    assert (found.kind, found.status, found.proceed_to_round3) == ("agreed with dissent", "accepted with dissent", True)
    assert words(found) == [("researcher", "R4: What researcher would do.")]


def test_03_two_texts_with_two_signatures_each() -> None:
    def condition(side: str, words: str) -> dict[str, Any]:
        return signs(side, conditions=words)

    found = debate(
        {"A": condition("R1", "a"), "D": condition("R1", "b"), "E": condition("R3", "c"), "R": condition("R3", "d")}
    )
    assert (found.kind, found.status, found.follows, found.converged) == ("split", "proposed", "", False)
    assert [one.conditions for one in found.count.voices] == [("K1",), ("K2",), ("K3",), ("K4",)]
    assert terms(found) == {}


def test_04_four_texts_with_one_signature_each() -> None:
    found = debate({"all": signs("own")})
    assert found.dissents == (), "where no text leads, nobody dissents from one"
    assert (found.kind, found.reason) == ("split", "no text leads: 1 for R1, 1 for R2, 1 for R3 and 1 for R4")


def rejecting(*ids: str, **answers: Any) -> dict[str, Any]:
    return signs("R1", rulings=tuple(f"{id}: reject: too dear" for id in ids), **answers)


def test_05_three_conditions_that_half_of_the_signers_reject() -> None:
    challenges = {"A": R1, **{one: signs("R1", conditions=f"condition of {one}") for one in "DER"}}
    closing = {
        "A": rejecting("K1", "K2", "K3"),
        "D": rejecting("K2", "K3"),
        "E": rejecting("K1", "K3"),
        "R": rejecting("K1", "K2"),
    }
    found = debate(challenges, closing)
    assert (found.kind, found.reason) == ("undecided", "4 of 4 sign R1; 1 without a refused condition")
    assert terms(found) == {"K1": "refused", "K2": "refused", "K3": "refused"}
    assert all(len(term.rejections) == 3 and term.rejections[0].text == "reject: too dear" for term in found.conditions)


def test_05a_a_condition_is_refused_by_half_of_the_signers_and_by_nobody_else() -> None:
    challenges = {"all": R1, "D": IF1, "R": signs("R4")}
    half = debate(challenges, {"A": R1, "D": R1, "E": rejecting("K1"), "R": rejecting("K1")})
    assert (terms(half), half.kind) == ({"K1": "refused"}, "agreed with dissent")
    other = signs("R4", rulings="K1: reject: not for me")
    found = debate(challenges, {"A": R1, "D": R1, "E": rejecting("K1"), "R": other})
    assert (terms(found), found.status) == ({"K1": "stands"}, "accepted on conditions, with dissent")
    assert [one.text for one in found.conditions[0].rejections] == ["reject: too dear", "reject: not for me"]


def test_06_one_of_three_others_rejects_the_condition() -> None:
    found = debate({"all": R1, "D": IF1, "R": signs("R4")}, {"all": R1, "E": rejecting("K1")})
    assert (found.kind, found.status) == ("agreed on conditions", "accepted on conditions")
    assert [(term.standing, [one.seat for one in term.rejections]) for term in found.conditions] == [
        ("stands", ["engineer"])
    ]


def test_07_a_condition_that_both_others_refuse_beside_another_text() -> None:
    found = debate(
        {"A": R1, "D": IF1, "E": R1, "R": signs("own")},
        {"A": rejecting("K1"), "D": R1, "E": rejecting("K1"), "R": signs("R4")},
    )
    assert (found.kind, len(found.count.agreeing)) == ("undecided", 2)
    assert ("designer", "K1: the load is measured first") in words(found)
    assert not any(seat == "designer" and text.startswith("R1") for seat, text in words(found))


def test_08_all_sign_if() -> None:
    found = standing({"all": IF1})
    assert (found.kind, found.standing, found.proceed_to_round3) == ("", "agreed on conditions", True)


def test_09_a_condition_that_is_first_named_in_the_closing() -> None:
    found = debate({"all": R1, "R": signs("R4")}, {"all": R1, "D": IF1})
    assert (found.kind, terms(found)) == ("agreed on conditions", {"K1": "not ruled on"})


def test_10_a_dissenters_condition_is_no_term_of_the_leading_text() -> None:
    found = debate({"all": R1, "E": signs("R3", conditions="only at night")})
    assert (found.kind, terms(found)) == ("agreed with dissent", {})
    assert found.status == "accepted with dissent"


def test_11_a_text_that_its_owner_revises_while_three_sign_it() -> None:
    challenges = {"all": signs("R2"), "D": signs("own", recommendation="A shorter text.")}
    found = standing(challenges)
    assert (found.standing, found.follows, found.proceed_to_round3) == ("agreed with dissent", "R2", True)
    assert words(found) == [("designer", "R2b: A shorter text.")]
    later = debate(challenges, {"all": signs("R2b")})
    assert (later.kind, later.follows) == ("agreed", "R2b")


def test_11a_the_same_words_are_the_same_text() -> None:
    found = debate({"all": signs("R2"), "D": signs("own", recommendation="  What DESIGNER would do. ")})
    assert (found.kind, [one.id for one in found.recommendations]) == ("agreed", ["R1", "R2", "R3", "R4"])


def test_11b_a_new_text_beside_a_signature_for_another() -> None:
    held = Held(kit("Debate"), challenges={"all": R1, "D": signs("R1", recommendation="Something new.")}).until(
        "synthesis"
    )
    again = held.briefs["02-challenges/designer.2"].problems
    assert again == ('"## Signs": you give a new text and sign R1: which is it? For your new text, write own',)
    assert (held.outcome.standing, held.outcome.follows) == ("agreed", "R1")


def test_11c_three_revise_and_the_texts_that_nobody_signs_leave_the_list() -> None:
    new = {one: signs("own", recommendation=f"New text of {one}.") for one in "AER"}
    held = Held(kit("Debate"), challenges={**new, "D": signs("R4")}).until("closing")
    assert (held.outcome.standing, held.outcome.proceed_to_round3) == ("split", True)
    held.votes["closing"] = {"all": R1}
    held.until("synthesis")
    assert held.briefs["03-closing/engineer.2"].problems == (
        '"## Signs": there is no R1 to sign; the texts are R2, R4, R1b, R3b and R4b',
    )


def test_11d_its_author_signs_another_text() -> None:
    new = {one: signs("own", recommendation=f"New text of {one}.") for one in "AER"}
    found = debate(
        {**new, "D": signs("R4")}, {"all": signs("R1b", conditions="a date"), "A": signs("R3b", conditions="a budget")}
    )
    assert (found.kind, found.status) == ("agreed with dissent", "accepted on conditions, with dissent")
    assert ("architect", "R3b: New text of E.") in words(found)
    assert found.movement == "moving"


BLOCKS = signs("R1", blocking="no backup was ever restored")


def test_12_a_blocking_item_that_is_repeated() -> None:
    found = debate({"all": R1, "D": BLOCKS})
    assert (found.kind, words(found)) == ("agreed with dissent", [("designer", "no backup was ever restored")])
    assert found.reason == "4 of 4 sign R1; designer blocks"


def test_13_a_blocking_item_whose_heading_is_left_out() -> None:
    assert debate({"all": R1, "D": BLOCKS}, {"all": R1}).kind == "agreed with dissent"


def test_14_a_blocking_item_that_is_withdrawn() -> None:
    found = debate({"all": R1, "D": BLOCKS}, {"all": R1, "D": signs("R1", blocking=())})
    assert (found.kind, found.blocking) == ("agreed", ())
    assert debate({"all": R1, "D": BLOCKS}, {"all": R1, "D": signs("R1", rulings="C1: withdrawn")}).kind == "agreed"


def test_14a_a_blocking_list_that_names_another_item() -> None:
    found = debate({"all": R1, "D": BLOCKS}, {"all": R1, "D": signs("R1", blocking="no rollback")})
    assert [(one.id, one.by.text) for one in found.blocking] == [("C2", "no rollback")]
    assert found.kind == "agreed with dissent"


def test_14b_conditions_whose_heading_is_left_out_or_empty() -> None:
    challenges = {"all": R1, "D": IF1, "R": signs("R4")}
    assert debate(challenges, {"all": R1}).kind == "agreed on conditions"
    assert debate(challenges, {"all": R1, "D": signs("R1", conditions=())}).kind == "agreed"
    assert debate(challenges, {"all": R1, "D": signs("R1", rulings="K1: withdrawn")}).kind == "agreed"


def test_14c_conditions_are_kept_and_adopted_by_id() -> None:
    challenges = {
        "A": signs("R1", conditions=("a", "b")),
        "D": signs("R1", conditions="c"),
        "E": signs("R3", conditions="d"),
        "R": R1,
    }
    closing = {
        "all": R1,
        "A": signs("R1", conditions="K1"),
        "D": signs("R1", conditions="K4: d, now for R1 as well"),
        "R": signs("R4"),
    }
    found = debate(challenges, closing)
    assert terms(found) == {"K1": "stands", "K4": "stands"}
    assert [one.text for one in found.conditions[1].item.adopted] == ["K4: d, now for R1 as well"]


def test_15_one_concern_in_three_wordings() -> None:
    challenges = {"A": R1, **{one: signs("R1", blocking=f"the backup, says {one}") for one in "DER"}}
    joined = {"rulings": "C2: same as C1: one fault"}
    closing = {
        "A": R1,
        "D": signs("R1"),
        "E": signs("R1", **joined),
        "R": signs("R1", rulings="C3: same as C1", blocking=()),
    }
    found = debate(challenges, {**closing, "E": signs("R1", blocking=(), **joined)})
    assert [one.id for one in found.blocking] == ["C1"]
    assert (found.kind, words(found)) == ("agreed with dissent", [("designer", "the backup, says D")])


def test_15a_nobody_joins_what_is_not_its_own() -> None:
    challenges = {"A": R1, **{one: signs("R1", blocking=f"the backup, says {one}") for one in "DER"}}
    found = debate(challenges, {"all": R1, "A": signs("R1", rulings="C2: same as C1")})
    assert [one.id for one in found.blocking] == ["C1", "C2", "C3"]


def test_16_three_of_four_block() -> None:
    found = debate({"all": BLOCKS, "A": R1})
    assert (found.kind, found.status) == ("undecided", "proposed")


def test_17_two_of_four_are_absent_in_the_last_vote() -> None:
    found = debate({"all": R1, "D": BLOCKS, "R": signs("R4")}, {"A": R1, "E": R1, "D": None, "R": None})
    assert (found.kind, found.exit_code, found.status) == ("insufficient", 3, "proposed")
    assert words(found) == [
        ("designer", "no backup was ever restored"),
        ("researcher", "R4: What researcher would do."),
    ]


def test_18_three_of_four_cannot_be_read() -> None:
    found = debate({"all": "I agree with everybody.", "A": R1})
    assert found.kind == "undecided"
    assert found.reason.endswith("designer, engineer and researcher spoke, signs unreadable")


def test_19_agreed_in_the_challenges_and_two_absent_in_the_closing() -> None:
    found = debate({"all": R1}, {"A": R1, "E": R1, "D": None, "R": None}, options={"three_rounds": True})
    assert found.kind == "insufficient"


def test_20_one_member() -> None:
    held = Held(kit("Debate").with_members(["architect"]), challenges={"all": R1}).until()
    assert held.outcome.kind == "answered"


def test_21_two_members_with_two_texts() -> None:
    held = Held(
        kit("Debate").with_members(["architect", "designer"]),
        challenges={"all": signs("own")},
        closing={"all": signs("own")},
    )
    assert held.until().outcome.kind == "split"


def test_22_all_are_undecided() -> None:
    found = debate({"all": OPEN})
    assert (found.kind, found.reason) == ("undecided", "nobody signs a text")
    assert {one.why for one in found.count.voices} == {"the load at the end of the month"}


def test_23_one_signs_none() -> None:
    found = debate({"all": R1, "D": NONE})
    assert (found.kind, words(found)) == ("agreed with dissent", [("designer", "nobody is on call")])


def test_23a_who_signs_none_is_on_no_side() -> None:
    found = debate({"all": R1, "E": NONE, "R": NONE})
    assert (found.kind, found.reason) == ("undecided", "2 of 4 sign R1")
    assert [one.seat for one in found.dissents] == ["engineer", "researcher"]


def test_24_an_unknown_id_or_two_are_asked_for_once_more() -> None:
    for wrong in ("## Signs\nR9", "## Signs\nR1 or R2"):
        found = debate({"all": R1, "D": f"Some talk that is long enough to be nobody else's.\n\n{wrong}"})
        assert (found.kind, len(found.count.agreeing), found.count.of) == ("agreed", 3, 4)
        assert found.reason == "3 of 4 sign R1; designer spoke, signs unreadable"


def test_25_workflows_that_take_no_vote() -> None:
    for name in ("Quick", "Confirm"):
        found = Held(kit(name)).until().outcome
        assert (found.kind, found.status, found.converged, found.exit_code) == ("answered", "proposed", None, 0)


def test_25_where_no_vote_is_taken_half_of_those_asked_in_the_last_round_must_be_heard() -> None:
    two: dict[str, Any] = {"all": {}, "A": None, "D": None}
    assert Held(kit("Quick"), positions={"all": {}, "A": None}).until().outcome.kind == "answered"
    for gone in (two, {**two, "E": None}):
        found = Held(kit("Quick"), positions=gone).until().outcome
        assert (found.kind, found.exit_code) == ("insufficient", 3)
    assert found.reason == "no vote was taken; architect, designer and engineer not heard"
    cast = {"all": {"perspectives": ("Cost: what it costs", "Safety: what can fail"), "opposed": ("Cost, Safety",)}}
    votes = {
        "analyze": cast,
        "argue": {"all": None},
        "rebut": {"all": None},
        "evaluate": {"all": {"reading": "agreement"}},
    }
    found = Held(kit("Perspectives", checkpoints=False), **votes).until().outcome
    assert (found.kind, found.reason) == ("insufficient", "no vote was taken; cost and safety not heard")
    for heard, lost in (("argue", "rebut"), ("rebut", "argue")):
        once = Held(kit("Perspectives", checkpoints=False), **{**votes, heard: {"all": {}}, lost: {"all": None}})
        assert once.until().outcome.kind == "answered", "who was heard once in a round was heard"


def test_25_a_person_who_is_a_member_is_heard_and_one_who_looks_on_is_not() -> None:
    phases: list[dict[str, Any]] = [{"name": "talk", "steps": [{"name": "say"}, {"name": "ask", "seats": "human"}]}]
    four = workflow_of(phases, seats={"members": ["ada", "bo", "cy", "di"]})
    gone: dict[str, Any] = {"all": {}, "ada": None, "bo": None}
    assert Held(four, say=gone).until().outcome.kind == "insufficient"
    three = workflow_of([{"name": "say"}], seats={"members": [{"ada": {"speaker": "human"}}, "bo", "cy"]})
    assert Held(three, say={"all": {}, "bo": None}).until().outcome.kind == "answered"


def test_25a_perspectives_take_no_vote_and_the_moderators_reading_is_beside_them() -> None:
    cast = {"all": {"perspectives": ("Cost: what it costs", "Safety: what can fail"), "opposed": ("Cost, Safety",)}}
    found = Held(kit("Perspectives", checkpoints=False), analyze=cast, evaluate={"all": {"reading": "stagnation"}})
    assert (found.until().outcome.kind, found.outcome.status, found.outcome.confidence) == (
        "answered",
        "proposed",
        "high",
    )
    assert found.outcome.ended["debate"] == "stagnation"


@pytest.mark.parametrize(
    ("number", "cast", "seated"),
    [
        ("auto", "ab", "abc"),  # nobody opposes anybody, so the first opposite of one of them is seated too
        ("3", "ab", "abc"),
        ("2", "ab", "ab"),
        ("2", "abd", "abd"),
        ("auto", "acd", "acd"),
        ("auto", "abde", "abde"),
        ("auto", "a", None),
    ],
)
def test_25a_an_opposite_from_the_catalog_is_seated_where_there_is_room(
    number: str, cast: str, seated: str | None
) -> None:
    catalog = {name: {"accepts": "something", "opposes": {"a": "zoo, c"}.get(name, "")} for name in "abcde"}
    workflow = kit("Perspectives", checkpoints=False, perspectives=number).with_personas(catalog)
    analysis = {"all": {"perspectives": tuple(f"{one}: a side" for one in cast)}}
    held = Held(workflow, analyze=analysis, evaluate={"all": {"reading": "agreement"}}).until()
    assert held.outcome.kind == ("answered" if seated else "stopped")
    for step in ("argue", "rebut"):
        assert "".join(turn.seat.name for turn in held.plan.scene.named(step)) == (seated or "")


@pytest.mark.parametrize("number", ["1", "5", "many"])
def test_25a_another_number_of_perspectives_is_refused(number: str) -> None:
    with pytest.raises(UsageError, match="perspectives must be auto, or a number from 2 to 4"):
        Held(kit("Perspectives", checkpoints=False, perspectives=number)).until()


def test_25a_where_no_vote_is_taken_a_debate_that_reached_its_limit_ends_with_low_confidence() -> None:
    cast = {"all": {"perspectives": ("Cost: what it costs", "Safety: what can fail"), "opposed": ("Cost, Safety",)}}
    reading = {"all": {"reading": "new-ground"}}
    found = Held(kit("Perspectives", checkpoints=False, max_rounds="2"), analyze=cast, evaluate=reading).until().outcome
    assert (found.kind, found.ended["debate"]) == ("answered", "limit")
    assert (found.confidence_said, found.confidence) == ("high", "low")
    poll = {"name": "talk", "reply": {"score": "0-100"}, "until": {"good": {"share": {"score": ">= 90", "at": "2/3"}}}}
    result = {
        "name": "synthesis",
        "role": "synthesis",
        "seats": "chair",
        "reply": {"confidence": "high | medium | low"},
    }
    for score, shown in ((89, "low"), (90, "high")):
        assert Held(workflow_of([poll, result]), talk={"all": {"score": score}}).until().outcome.confidence == shown


@pytest.mark.usefixtures("stubs")
@pytest.mark.parametrize("name", ["Patchlist", "Tree"])
def test_25b_workflows_of_optional_rooms_that_take_no_vote(name: str) -> None:
    found = Held(kit(name)).until().outcome
    assert (found.kind, found.status, found.converged, found.exit_code) == ("answered", "proposed", None, 0)


def says(**votes: str) -> dict[str, Any]:
    return {one: {"says": word} for one, word in votes.items()}


def test_26_delphi_three_to_two() -> None:
    votes = says(A="yes", D="yes", E="yes", R="no", S="no")
    found = Held(kit("Delphi"), positions=votes, challenge=votes).until().outcome
    assert (found.kind, found.follows, found.ended["challenge"]) == ("agreed with dissent", "yes", "stagnation")
    assert found.reason == "3 of 5 say yes"
    assert words(found) == [("researcher", "no"), ("security", "no")]


def test_27_delphi_two_to_two() -> None:
    votes = {**says(A="yes", D="yes", E="no", R="no"), "S": None}
    found = Held(kit("Delphi"), positions=votes, challenge=votes).until().outcome
    assert (found.kind, found.follows) == ("split", "")


def scores(value: float, **more: Any) -> dict[str, Any]:
    return {
        "satisfaction_score": value,
        "fundamental": "no",
        "proposal": "a design",
        "rationale": "r",
        "gist": "g",
        **more,
    }


def test_28_consensus_every_seat_reaches_the_target() -> None:
    found = Held(kit("Consensus"), propose={"all": scores(95)}).until().outcome
    assert (found.kind, found.ended["debate"], found.reason) == ("agreed", "consensus", "10 of 10 reach 90")


def test_28a_consensus_with_a_blocking_item() -> None:
    votes = {"all": scores(95), "database": scores(95, blocking=("no backup",))}
    found = Held(kit("Consensus"), propose=votes).until().outcome
    assert (found.kind, words(found)) == ("agreed with dissent", [("database", "no backup")])
    all_block = Held(kit("Consensus"), propose={"all": scores(95, blocking=("no backup",))}).until().outcome
    assert all_block.kind == "undecided"
    below = (
        Held(kit("Consensus", escalation=False), propose={"all": scores(95), "database": scores(80)}).until().outcome
    )
    assert (below.kind, below.reason, below.dissents) == ("undecided", "9 of 10 reach 90", ())


def test_28b_consensus_that_nobody_decides() -> None:
    found = Held(kit("Consensus", escalation=False), propose={"all": scores(50)}).until().outcome
    assert (found.kind, found.ended["debate"], found.dissents) == ("undecided", "stalemate", ())
    rising = [{"all": scores(min(85, 8 * round))} for round in range(1, 11)]
    assert Held(kit("Consensus", escalation=False), propose=rising).until().outcome.ended["debate"] == "limit"


OFFER = {"escalate": {"all": {"options": ("keep the queue", "use a table"), "tension": "t"}}}


def test_29_consensus_that_a_person_decides() -> None:
    person = {"human": {"decision": "adopt", "option": "B", "reason": "the runway is 9 months"}}
    found = Held(kit("Consensus"), propose={"all": scores(50)}, appeal=person, **OFFER).until().outcome
    assert (found.kind, found.status, found.decided_by) == ("decided by a person", "accepted", "person")
    (act,) = found.acts
    assert (act.what, act.option, act.option_text, act.by.text) == (
        "decided",
        "B",
        "use a table",
        "the runway is 9 months",
    )


def test_30_the_same_with_most_specialists_absent() -> None:
    person = {"human": {"decision": "adopt", "option": "A"}}
    votes = [{"all": scores(50)}] * 3 + [{"all": None, "database": scores(50), "security": scores(50)}]
    assert Held(kit("Consensus"), propose=votes, appeal=person, **OFFER).until().outcome.kind == "decided by a person"


def test_31_a_person_grants_a_round() -> None:
    person = [{"human": {"decision": "continue", "grant": 1}}]
    rising = [{"all": scores(8 * round)} for round in range(1, 11)] + [{"all": scores(95)}]
    found = Held(kit("Consensus"), propose=rising, appeal=person, **OFFER).until().outcome
    assert (found.kind, found.rounds) == ("agreed", 11)
    assert [(act.what, act.by.seat) for act in found.acts] == [("continue", "human")]


def test_32_vetoed_after_the_synthesis() -> None:
    gate = {"human": {"gate": "veto", "reason": "not this year"}}
    found = debate({"all": R1}, None, "synthesis", synthesis_gate=gate)
    assert (found.kind, found.status, found.decided_by, found.exit_code) == ("vetoed", "rejected", "person", 0)
    assert found.reason == "Human: veto: not this year"


def test_33_rejected_before_the_synthesis() -> None:
    found = debate({"all": R1}, None, "challenges", challenges_gate={"human": {"gate": "reject"}})
    assert (found.kind, found.status, found.synthesis) == ("rejected", "rejected", "")


def test_34_a_gate_that_waits_and_one_that_nobody_answers() -> None:
    waiting = Held(kit("Debate", "challenges"), challenges={"all": R1}).until("challenges-gate").outcome
    assert (waiting.kind, waiting.standing) == ("", "agreed")
    found = debate({"all": R1}, None, "challenges", challenges_gate={"human": None})
    assert (found.kind, found.status, found.exit_code) == ("stopped", "", 3)
    assert found.synthesis == ""


def test_35_the_workflows_own_budget() -> None:
    workflow = kit("Debate")
    from dataclasses import replace

    from council.next.workflow.model import Ref

    halting = replace(workflow, halt={"costly": Ref("spent", {"calls": "6"})})
    found = Held(halting, challenges={"all": R1}).until().outcome
    assert (found.kind, found.status, found.exit_code, found.reason) == ("stopped", "", 3, "8 calls spent")


def test_35a_a_synthesis_that_its_when_skips() -> None:
    phases = [
        {"name": "talk", "reply": {"says": "yes | no"}},
        {"name": "synthesis", "role": "synthesis", "when": {"every": {"says": "yes"}}, "seats": "chair"},
    ]
    found = Held(workflow_of(phases), talk={"all": {"says": "yes"}, "cy": {"says": "no"}}).until().outcome
    assert (found.kind, found.status, found.exit_code) == ("stopped", "", 3)
    assert found.reason == "2 of 3 say says yes"


def test_35b_a_person_who_is_absent_before_the_synthesis_but_not_after_it() -> None:
    phases: list[dict[str, Any]] = [
        {"name": "talk", "reply": {"says": "yes | no"}},
        {"name": "before", "seats": "human", "reply": {"guidance": "text"}},
        {"name": "synthesis", "role": "synthesis", "seats": "chair"},
        {"name": "after", "seats": "human", "reply": {"guidance": "text"}},
    ]
    votes = {"all": {"says": "yes"}}
    stopped = Held(workflow_of(phases), talk=votes, before={"human": None}).until()
    assert [turn.phase for turn in stopped.plan.scene.turns if turn.seat.name == "chair"] == [], "nobody pays for that"
    before = stopped.outcome
    after = Held(workflow_of(phases), talk=votes, after={"human": None}).until().outcome
    assert (before.kind, before.reason, before.exit_code) == ("stopped", "Human absent: no answer", 3)
    assert (after.kind, after.reason, after.exit_code) == ("agreed", "3 of 3 say yes", 0)


def test_36_the_chairs_step_stays_due_until_it_is_written() -> None:
    held = Held(kit("Debate"), challenges={"all": R1}).until("synthesis")
    assert [due.id for due in held.plan.due] == ["04-synthesis/chair"]
    assert (held.outcome.kind, held.outcome.standing, held.outcome.synthesis) == ("", "agreed", "")


def test_37_a_persons_decision_is_shown_while_the_clerk_is_due() -> None:
    person = {"human": {"decision": "adopt", "option": "A"}}
    held = Held(kit("Consensus"), propose={"all": scores(50)}, appeal=person, **OFFER).until("synthesis")
    assert (held.outcome.kind, held.outcome.standing) == ("", "decided by a person")
    assert [(act.what, act.option_text) for act in held.outcome.acts] == [("decided", "keep the queue")]
    assert (held.outcome.status, held.outcome.exit_code) == ("", 0)


def board(**more: Any) -> Outcome:
    respond = {"all": {**signs("R1"), "challenges": ("R2: too dear",), "ready": "no", "gist": "g"}}
    return Held(kit("Board"), **{"respond": respond, "position": recommended(), **more}).until().outcome


def recommended() -> dict[str, Any]:
    return {seat: {"recommendation": f"What the {seat} wants."} for seat in ("ceo", "cto", "cfo", "coo", "contrarian")}


def test_38_a_board_that_goes_in_circles() -> None:
    gate = [{"gate-reviewer": {"ruling": "halt", "repeating_rounds": 9}}]
    found = board(review=gate)
    assert (found.kind, found.ended["challenge"], found.rounds) == ("agreed", "circular", 3)


ESCALATES = {"gate-reviewer": {"ruling": "escalate", "repeating_rounds": 0, "options": ("buy", "build")}}


def test_39_a_board_that_a_person_decides() -> None:
    person = {"human": {"decision": "adopt", "option": "A", "guidance": "only until the runway is 9 months"}}
    found = board(review=ESCALATES, guidance=person)
    assert (found.kind, found.ended["challenge"], found.decided_by) == ("decided by a person", "fundamental", "person")
    assert [(act.option, act.option_text, act.by.text) for act in found.acts] == [
        ("A", "buy", "only until the runway is 9 months")
    ]


def test_40_a_board_that_a_person_guides() -> None:
    found = board(review=ESCALATES, guidance={"human": {"decision": "guide", "guidance": "mind the runway"}})
    assert (found.kind, found.decided_by) == ("agreed", "models")
    assert [(act.what, act.by.text) for act in found.acts] == [("guide", "mind the runway")]


def test_41_a_document_that_its_checkers_find_inaccurate() -> None:
    no = {"accurate": "no", "correction": ("it was R2",)}
    found = board(check={"all": no, "ceo": {"accurate": "yes"}})
    assert (found.kind, found.status) == ("agreed", "proposed")
    assert (found.check["of"], found.check["accurate"], len(found.check["corrections"])) == (6, 1, 5)
    yes = {"accurate": "yes"}
    half = board(check={"all": no, "ceo": yes, "cto": yes, "cfo": yes})
    most = board(check={"all": no, "ceo": yes, "cto": yes, "cfo": yes, "coo": yes})
    assert (half.status, most.status) == ("proposed", "accepted")


def test_42_split_and_approved_after_the_synthesis() -> None:
    votes = {"A": R1, "D": R1, "E": signs("R3"), "R": signs("R3")}
    found = debate(votes, None, "synthesis", synthesis_gate={"human": {"gate": "approve"}})
    assert (found.kind, found.status, found.decided_by) == ("decided by a person", "accepted", "person")
    assert found.reason == "Human approved; no text leads: 2 for R1 and 2 for R3"


def test_43_agreed_and_approved_with_a_remark() -> None:
    found = debate(
        {"all": R1}, None, "synthesis", synthesis_gate={"human": {"gate": "approve", "reason": "with three hires"}}
    )
    assert (found.kind, found.decided_by, found.acts[0].by.text) == ("agreed", "both", "with three hires")


@pytest.mark.parametrize(
    ("ballots", "kind", "elected", "reason"),
    [
        (
            {"ada": "Alder", "bo": "alder", "cy": "birch"},
            "answered",
            "alder",
            "alder with 2 by majority",
        ),
        (
            {"ada": "alder", "bo": "birch", "cy": "cedar"},
            "undecided",
            "",
            "no choice: alder, birch and cedar with 1 by majority",
        ),
    ],
)
def test_44_a_ranked_vote_among_candidates(ballots: dict[str, str], kind: str, elected: str, reason: str) -> None:
    until = {"chosen": {"vote": {"field": "ranking", "method": "majority"}}}
    workflow = workflow_of([{"name": "choose", "reply": {"ranking": "list"}, "until": until}])
    held = Held(workflow, choose={seat: {"ranking": (one,)} for seat, one in ballots.items()}).until("choose")
    assert (held.outcome.kind, held.outcome.standing) == ("", "")
    found = held.until().outcome
    assert (found.kind, found.elected, found.reason, found.status) == (kind, elected, reason, "proposed")


def test_45_what_moved_a_member_is_quoted_or_not() -> None:
    talk = "Nobody has measured why these nine queries are slow."
    closing = {
        "A": signs("R1", moved_by="“measured why  these NINE queries”"),
        "D": signs("R1", moved_by='"the cache is cheap and safe"'),
        "E": signs("R1", moved_by="the others"),
        "R": R1,
    }
    found = debate({"all": signs("own"), "R": {**signs("own"), "talk": talk}}, closing)
    moves = {one.seat: one.move for one in found.count.voices}
    assert moves["architect"] == Quote(
        "researcher", "Researcher", "02-challenges/researcher", "measured why  these NINE queries"
    )
    assert moves["designer"] == Quote("", "", "", '"the cache is cheap and safe"')
    assert moves["engineer"] == Quote("", "", "", "the others")
    assert moves["researcher"] is None
    assert found.movement == "moving"


def test_46_a_decision_of_models_alone_is_proposed_where_a_person_must_accept() -> None:
    assert debate({"all": R1}, options={"accept": "person"}).status == "proposed"
    gate = {"human": {"gate": "approve"}}
    assert (
        debate({"all": R1}, None, "synthesis", options={"accept": "person"}, synthesis_gate=gate).status == "accepted"
    )


def test_a_member_for_whom_a_person_spoke_is_a_person() -> None:
    assert debate({"all": R1, "D": {**R1, "by": "ada"}}).decided_by == "both"
    assert debate({"all": {**R1, "by": "ada"}}).decided_by == "person"


def test_converged_and_moving() -> None:
    agreed = debate({"all": R1, "D": IF1}, options={"three_rounds": True})
    assert (agreed.kind, agreed.converged, agreed.proceed_to_round3) == ("agreed on conditions", True, True)
    dissenting, none = debate({"all": R1, "D": NONE}), debate({"all": OPEN})
    assert (dissenting.converged, dissenting.movement, none.converged) == (False, "stable", False)
    assert debate({"all": R1}).movement is None, "nobody voted twice"
    late = debate({"all": R1, "D": None, "R": signs("R4")}, {"all": R1, "R": signs("R4")})
    assert late.movement == "stable", "who was not heard before has not moved"


def test_the_third_round_is_the_vote_that_follows_the_first_one() -> None:
    phases = [
        {"name": "first", "when": {"option": "on"}},
        {"name": "vote", "reply": {"signs": "vote"}},
        {"name": "again", "when": "opposed", "reply": {"signs": "vote"}},
    ]
    held = Held(workflow_of(phases, options={"on": True}), vote={"all": OPEN}).until("vote")
    assert held.outcome.proceed_to_round3 is None
    assert held.until().outcome.proceed_to_round3 is False


def test_confidence_is_capped_by_what_was_counted() -> None:
    for votes, shown in (({"all": R1}, "high"), ({"all": R1, "D": NONE}, "medium"), ({"all": OPEN}, "low")):
        found = debate(votes, synthesis={"chair": {"confidence": "high"}})
        assert (found.confidence, found.confidence_said) == (shown, "high")


def test_the_chair_rules_on_each_blocking_item_and_follows_the_leading_text() -> None:
    held = Held(
        kit("Debate"), challenges={"all": R1, "D": BLOCKS}, closing={"all": R1}, synthesis={"chair": {"follows": "R2"}}
    )
    held.until()
    assert held.briefs["04-synthesis/chair.2"].problems == (
        '"## Follows": the members\' text is R1: write your title and answer to it',
        '"## Rulings": C1: say what becomes of it, as in "- C1: stands: why"',
    )


def test_the_outcome_is_plain_data() -> None:
    import json

    found = debate({"all": IF1, "D": BLOCKS})
    assert json.loads(json.dumps(found.as_data()))["kind"] == found.kind
