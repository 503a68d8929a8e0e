"""What becomes of ids that are joined, rejected or withdrawn, and of texts in the same words."""

from __future__ import annotations

import pytest

from council.next.errors import UsageError
from council.next.protocols.ids import Register
from council.next.protocols.outcome import outcome
from council.next.replies.kinds import Signature
from tests.next.debates import form, workflow_of
from tests.next.debates import hold as hold_any
from tests.next.protocols.held import Held, debate, kit, signs, standing


def test_many_conditions_are_each_looked_at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    looks = []
    canonical = Register.canonical
    monkeypatch.setattr(Register, "canonical", lambda self, id: looks.append(id) or canonical(self, id))
    many = signs("R1", conditions=[f"condition {number} holds" for number in range(500)])
    held = Held(kit("Debate"), challenges={"all": signs("R1"), "D": many}).until("closing")
    held.plan.scene.kept.clear()
    looks.clear()
    assert len(outcome(held.plan).conditions) == 500
    assert len(looks) < 10 * 500


def test_a_condition_is_refused_under_the_name_of_another_that_was_called_the_same() -> None:
    """The dissenter named the first wording; the one that a signer holds is refused, and so is its owner's yes."""
    first, second = signs("R4", conditions="a date is named"), signs("R4", conditions="a day is named")
    challenges = {"all": signs("R4"), "A": {**first, "signs": signs("R1")["signs"]}, "R": second}
    no = signs("R4", rulings="K2: reject: no")
    closing = {"A": signs("R1"), "D": no, "E": no, "R": signs("R4", rulings="K2: same as K1")}
    found = debate(challenges, closing)
    assert [one.seat for one in found.count.agreeing] == ["designer", "engineer"]
    assert [(term.item.id, term.standing) for term in found.conditions] == [("K1", "refused")]
    assert found.kind == "undecided"


def test_an_item_is_withdrawn_under_the_id_of_another_that_was_called_the_same() -> None:
    challenges = {
        "all": signs("R1"),
        "A": signs("R1", blocking="no backup"),
        "D": signs("R1", blocking="there is no backup"),
    }
    own = signs("R1", rulings=("C2: same as C1", "C1: withdrawn"))
    assert [one.holders for one in debate(challenges, {"all": signs("R1"), "D": own}).blocking] == [["architect"]]
    both = debate(challenges, {"all": signs("R1"), "A": signs("R1", rulings="C1: withdrawn"), "D": own})
    assert (both.kind, both.blocking) == ("agreed", ())


def test_a_withdrawn_wording_leaves_the_owners_other_one() -> None:
    challenges = {"all": signs("R1"), "A": signs("R1", blocking=("no backup", "there is no backup"))}
    closing = {"all": signs("R1"), "A": signs("R1", rulings=("C2: same as C1", "C2: withdrawn"))}
    assert [one.id for one in debate(challenges, closing).blocking] == ["C1"]


def test_own_beside_the_words_of_another_text_signs_that_text() -> None:
    taken = signs("own", recommendation="what Architect would do.")
    found = standing({"all": signs("R1"), "D": taken})
    assert [one.side for one in found.count.voices] == ["R1"] * 4
    assert found.standing == "agreed"


@pytest.mark.parametrize("reply", [{"signs": "vote"}, {"says": "yes | no"}])
def test_a_vote_may_be_asked_for_where_the_result_is_written(reply: dict[str, str]) -> None:
    workflow = workflow_of([{"name": "result", "role": "synthesis", "reply": reply}])
    answers = {"signs": Signature("undecided", "all of it")} if "signs" in reply else {"says": "yes"}
    found = outcome(hold_any(workflow, lambda due: form(due, **answers)))
    assert found.kind == ("undecided" if "signs" in reply else "agreed")


def test_a_signature_that_is_not_declared_as_a_vote_is_refused_in_a_sentence() -> None:
    workflow = workflow_of([{"name": "talk", "reply": {"signs": "yes | no"}}])
    with pytest.raises(UsageError, match="signs must be declared as a vote"):
        hold_any(workflow, lambda due: form(due, signs="yes"))


def test_words_that_are_declared_as_a_text_are_one_item() -> None:
    workflow = workflow_of([{"name": "talk", "reply": {"signs": "vote", "blocking": "text"}}])
    answers = {"signs": Signature("undecided", "all of it"), "blocking": "no backup"}
    found = outcome(hold_any(workflow, lambda due: form(due, **answers)))
    assert [one.by.text for one in found.blocking] == ["no backup"] * 3
    assert not any(turn.first for turn in hold_any(workflow, lambda due: form(due, **answers)).scene.turns)
