"""The ledger of concerns: what is raised, who owns it, and what settles it."""

from __future__ import annotations

from dataclasses import replace
from unittest import mock

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from council.engine.scene import RecordedTurn, Turn
from council.protocols import ledger
from council.protocols.concerns import count_items
from council.protocols.dissent import find_dissent
from council.protocols.dissenters import find_dissenters
from council.protocols.ledger import ACCEPTED, ANSWERED, OPEN, WITHDRAWN, Concern, read_ledger
from council.protocols.settling import split_ids
from council.protocols.stances import assess_stances
from council.workflow.model import Seat
from tests.scenes import absent, scene, turn

PII = "PII is logged in clear by the gateway."
HUMAN = Seat("human", "human")


def said(seat: str, round: int, *blocking: str, words: str = "", **answers: object) -> Turn:
    made = turn(seat, "debate/propose", round, blocking=blocking, **answers)
    return replace(made, prose=words)


def person(round: int, words: str, **answers: object) -> Turn:
    return replace(turn(HUMAN, "debate/appeal", round, **answers), prose=words)


def read(*turns: Turn) -> tuple[Concern, ...]:
    return read_ledger(scene(*turns))


def course(concern: Concern) -> list[str]:
    return [f"{event.what} {event.round} {event.seat}" for event in concern.history]


def test_a_concern_is_kept_by_its_id_or_by_its_words() -> None:
    (one,) = read(
        said("engineer", 1, PII), said("engineer", 2, "PII is still logged in the clear, by the gateway"),
        said("engineer", 3, "C1: and in the traces too"), said("engineer", 4, "**C1**"), said("engineer", 5, "c1:"),
    )  # fmt: skip
    assert (one.id, one.kind, one.owner.name, one.status) == ("C1", "blocking", "engineer", OPEN)
    assert one.opened.turn == "debate-1-propose/engineer"
    assert course(one)[-1] == "repeated 5 engineer"
    assert one.text == "and in the traces too"
    assert one.history[0].text == PII


def test_what_is_not_named_again_is_withdrawn_and_answered_if_a_peer_took_it_up() -> None:
    silent, answered = read(
        said("engineer", 1, "It has no rollback.", PII),
        said("architect", 1, words="PII logged by the gateway is hashed now, never in clear."),
        said("engineer", 2),
    )
    assert (silent.status, course(silent)[-1]) == (WITHDRAWN, "withdrawn 2 engineer")
    assert answered.status == ANSWERED
    assert answered.settled is not None
    assert answered.settled.by == "debate-1-propose/architect"


def test_a_blocking_item_that_names_a_challenge_is_a_concern_that_blocks() -> None:
    raised = said("engineer", 1, challenges=(PII,))
    for item, text in (("C1: not in my release", "C1: not in my release"), ("C1", f"C1: {PII}")):
        mild, hard = read(raised, said("architect", 2, item), said("architect", 3, item))
        assert (mild.kind, mild.status, mild.holders) == ("challenge", OPEN, ("engineer",))
        assert (hard.kind, hard.owner.name, hard.text, hard.status) == ("blocking", "architect", text, OPEN)
        assert course(hard) == ["opened 2 architect", "repeated 3 architect"]
    mild, hard = read(raised, said("engineer", 2, "C1: now it blocks"), said("engineer", 3))
    assert (mild.status, hard.status) == (OPEN, WITHDRAWN)


def test_each_item_about_one_concern_blocks() -> None:
    items = ("C1: no rollback", "C1: and no backup")
    turns = (said("engineer", 1, PII), said("engineer", 2, *items))
    assert course(read(*turns)[0]) == ["opened 1 engineer", "repeated 2 engineer", "repeated 2 engineer"]
    assert assess_stances(scene(*turns)).blocking == {"engineer": items}


@pytest.mark.parametrize(
    "kept", [said("engineer", 2, words="Still, C1 is not answered."), said("engineer", 2, challenges=("C1",))]
)
def test_what_its_owner_keeps_open_in_other_words_blocks_whatever_its_list_says(kept: Turn) -> None:
    turns = (said("engineer", 1, PII), kept)
    (one,) = read(*turns)
    assert (one.kind, one.status) == ("blocking", OPEN)
    assert list(assess_stances(scene(*turns)).blocking) == ["engineer"]
    (dissenter,) = find_dissenters(scene(*turns))
    assert [(item.text, item.concern) for item in dissenter.items] == [(PII, "C1")]


def test_an_absent_or_unreadable_seat_settles_nothing() -> None:
    (one,) = read(said("engineer", 1, PII), absent("engineer", "debate/propose", 2, asked="blocking"))
    assert one.status == OPEN
    (one,) = read(said("engineer", 1, PII), turn("engineer", "debate/propose", 2, asked="blocking"))
    assert one.status == OPEN


def test_its_owner_says_what_settled_it_and_may_open_it_again() -> None:
    (one,) = read(
        said("engineer", 1, PII),
        said("architect", 2),
        said("engineer", 2, "C1 answered: the Architect's plan hashes it"),
        said("engineer", 3, "C1: the hash has no salt"),
        said("engineer", 4, rationale="I withdraw C1, because the field is gone."),
    )
    assert course(one) == [
        "opened 1 engineer", "answered 2 engineer", "reopened 3 engineer", "withdrawn 4 engineer",
    ]  # fmt: skip
    assert one.history[1].by == "debate-2-propose/architect"
    assert one.history[3].text == "I withdraw C1, because the field is gone."


def test_nobody_else_settles_a_concern() -> None:
    (one,) = read(
        said("engineer", 1, PII),
        said("architect", 2, "C1 withdrawn", words="C1 is answered. C1 is withdrawn. We accept C1."),
        person(2, "I do not accept C1."),
        person(2, "C1 is answered."),
    )
    assert (one.status, course(one)) == (OPEN, ["opened 1 engineer"])


def test_a_peer_who_names_it_joins_and_owns_nothing() -> None:
    first = (said("engineer", 1, PII), said("architect", 2, "C1: for us as well"))
    (one,) = read(*first)
    assert (one.owner.name, one.holders, one.text) == ("engineer", ("engineer", "architect"), PII)
    (one,) = read(*first, said("engineer", 3))
    assert (one.status, one.holders) == (OPEN, ("architect",))
    (one,) = read(*first, said("engineer", 3), said("architect", 3))
    assert one.status == WITHDRAWN


def test_a_person_accepts_by_id_or_by_adopting_and_then_nothing_opens_it_again() -> None:
    raised = (said("engineer", 1, PII, "It has no rollback."), said("architect", 1, "It costs too much."))
    one, two, three = read(*raised, person(1, "Go on. I accept C1, and C3 is accepted; not C2."))
    assert [one.status, two.status, three.status] == [ACCEPTED, OPEN, ACCEPTED]
    assert one.settled is not None
    assert one.settled.turn == "debate-1-appeal/human"
    one, *_ = read(*raised, person(1, "I accept C1."), said("engineer", 2, PII))
    assert (one.status, course(one)[-1]) == (ACCEPTED, "repeated 2 engineer")
    assert {one.status for one in read(*raised, person(1, "", decision="adopt", option="A"))} == {ACCEPTED}
    assert {one.status for one in read(*raised, person(1, "Let it go on: I accept all of them."))} == {ACCEPTED}
    assert {one.status for one in read(*raised, turn("designer", decision="adopt"))} == {OPEN}


def test_challenges_and_risks_stay_until_somebody_takes_them_up() -> None:
    raised = turn("engineer", "c/respond", 1, challenges=("CFO: the saving leaves out the migration",), risks=("Fire",))
    later = turn("engineer", "c/respond", 2, challenges=("CTO: nine services need nine pagers",), risks=())
    answer = replace(turn("architect", "c/respond", 2), prose="The saving leaves out the migration, true: 40,000.")
    assert [(one.kind, one.status) for one in read(raised, later)] == [
        ("challenge", OPEN), ("risk", OPEN), ("challenge", OPEN),
    ]  # fmt: skip
    assert read(raised, answer, later)[0].status == OPEN, "to repeat a challenge is not to answer it"
    answer = replace(answer, prose="C1: true, that is another 40,000.")
    challenge, *_ = read(raised, answer, later)
    assert challenge.status == ANSWERED
    assert challenge.settled is not None
    assert challenge.settled.by == "c-2-respond/architect"


def test_what_was_said_beside_it_in_the_same_step_cannot_answer_it() -> None:
    beside = replace(said("architect", 1), prose="PII is logged in clear by the gateway, of course.")
    beside = replace(beside, said=RecordedTurn("…", brief="Nobody has spoken yet."))
    (one,) = read(said("engineer", 1, PII), beside, said("engineer", 2))
    assert one.status == WITHDRAWN


def test_a_number_of_its_own_is_no_id_unless_the_brief_shows_that_id() -> None:
    mine = said("architect", 1, "C1: the cost")
    unseen = replace(mine, said=RecordedTurn("…", brief="The topic, without any ledger."))
    assert [one.owner.name for one in read(said("engineer", 1, PII), unseen)] == ["engineer", "architect"]
    seen = replace(mine, said=RecordedTurn("…", brief=f"C1 (blocking): {PII}"))
    assert [one.holders for one in read(said("engineer", 1, PII), seen)] == [("engineer", "architect")]


@pytest.mark.parametrize(
    "item", ["C999", "C999: no such thing", "C0: zero", "C-1", "C00001x", "C4 diagrams are missing"]
)
def test_an_id_that_does_not_exist_is_only_text(item: str) -> None:
    found = read(said("engineer", 1, PII), said("architect", 1, item))
    assert [(one.id, one.text) for one in found] == [("C1", PII), ("C2", item)]


def test_several_ids_in_an_item_name_several_concerns() -> None:
    found = read(said("engineer", 1, PII, "It has no rollback."), said("engineer", 2, "C1 C2"))
    assert [one.status for one in found] == [OPEN, OPEN]
    assert split_ids("**C1**, C2 and c3: as before") == (["C1", "C2", "C3"], "as before", True)


def test_an_owner_who_calls_it_open_keeps_it_whatever_the_list_says() -> None:
    raised, later = (said("engineer", 1, PII), said("architect", 1)), said("engineer", 2, words="C1 is not answered.")
    (one,) = read(*raised, later)
    assert (one.status, one.text, course(one)[-1]) == (OPEN, PII, "repeated 2 engineer")
    (one,) = read(*raised, said("engineer", 2, words="C1 is answered."), said("engineer", 3, words="I reopen C1."))
    assert (one.status, course(one)[-1]) == (OPEN, "reopened 3 engineer")
    (one,) = read(*raised, said("engineer", 2), said("architect", 3, words="C1 is not answered."))
    assert (one.status, one.holders) == (WITHDRAWN, ()), "nobody else keeps it by a sentence"


def test_a_line_that_begins_with_a_peers_name_is_the_peers() -> None:
    raised = (said("engineer", 1, PII), said("architect", 1))
    quoted = "**Architect:** C1 is answered.\nThe plan of the Architect has no hash."
    (one,) = read(*raised, said("engineer", 2, "C1: still there", words=quoted))
    assert one.status == OPEN
    challenge = turn("engineer", "c/respond", 1, challenges=("CFO: the saving leaves out the migration",))
    beside, later = turn("architect", "c/respond", 1), replace(turn("engineer", "c/respond", 2), prose=quoted)
    assert read(challenge, beside, later)[0].status == OPEN
    own = replace(later, prose="Verdict: C1 is answered.")
    assert read(challenge, beside, own)[0].status == ANSWERED


def test_an_item_that_begins_like_a_settlement_is_a_concern() -> None:
    (one,) = read(said("engineer", 1, "Packets are lost."), said("engineer", 2, "C1: drops packets under load"))
    assert (one.status, one.text) == (OPEN, "drops packets under load")


def test_a_target_that_is_reached_with_an_open_concern_is_consensus_with_dissent() -> None:
    reached = [said("engineer", 1, PII, satisfaction_score=90), said("architect", 1, satisfaction_score=95)]

    def outcome(*turns: Turn) -> tuple[str, dict[str, tuple[str, ...]]]:
        now = assess_stances(scene(*reached, *turns, outcomes={"debate": "consensus"}))
        return now.outcome, now.blocking

    assert outcome() == ("consensus with dissent", {"engineer": (PII,)})
    assert outcome(person(1, "I accept C1.")) == ("consensus", {})
    assert outcome(replace(turn("engineer", "debate/closing"), prose="I withdraw C1.")) == ("consensus", {})
    again = (said("engineer", 2, "C1 withdrawn", satisfaction_score=90), said("architect", 2, satisfaction_score=95))
    assert outcome(*again) == ("consensus", {})
    assert find_dissent(scene(*reached, *again)) == []


def test_new_items_are_counted_round_by_round() -> None:
    found = scene(
        turn("engineer", "c/respond", 1, blocking=(PII,), challenges=("CTO: one", "CFO: two things")),
        turn("engineer", "c/respond", 2, blocking=(PII,), challenges=("CTO: one",)),
    )
    assert count_items(found, "c") == [
        {"round": 1, "new": 3, "again": 0, "settled": 0}, {"round": 2, "new": 0, "again": 2, "settled": 0},
    ]  # fmt: skip


ITEMS = st.sampled_from(
    [
        PII,
        "It has no rollback.",
        "C1",
        "C2: the same",
        "c1:",
        "C999",
        "C1 C2",
        "C1 withdrawn",
        "C2 answered by Architect",
        "…",
    ]
)
WORDS = st.sampled_from(["", "C1 is answered.", "I withdraw C2.", "accept C1", "I accept C2; go on.", PII])
SPOKEN = st.tuples(st.sampled_from(["architect", "engineer", "human", "absent"]), st.lists(ITEMS, max_size=3), WORDS)


def _spoken(number: int, seat: str, items: list[str], words: str) -> Turn:
    if seat == "absent":
        return absent("engineer", "debate/propose", number, asked="blocking")
    return person(number, words) if seat == "human" else said(seat, number, *items, words=words)


@settings(max_examples=60, deadline=None)
@given(st.lists(SPOKEN, max_size=9))
def test_what_is_said_later_changes_nothing_earlier(spoken: list[tuple[str, list[str], str]]) -> None:
    turns = [_spoken(number, *one) for number, one in enumerate(spoken, 1)]
    whole = read(*turns)
    assert [one.id for one in whole] == [f"C{number}" for number in range(1, len(whole) + 1)]
    for cut in range(len(turns)):
        for earlier, later in zip(read(*turns[:cut]), whole, strict=False):
            assert (earlier.id, earlier.owner, earlier.opened) == (later.id, later.owner, later.opened)
            assert earlier.history == later.history[: len(earlier.history)]
    for one in whole:
        assert one.owner.name != "human" or one.opened.seat == "human"
        assert (one.status == OPEN) == bool(one.holders)
        ended = [event for event in one.history if event.what in (ANSWERED, WITHDRAWN)]
        named = {event.seat for event in one.history if event.what not in (ANSWERED, WITHDRAWN, ACCEPTED)}
        assert {event.seat for event in ended} <= named


def test_many_items_are_each_compared_with_few_others(monkeypatch: pytest.MonkeyPatch) -> None:
    many = [f"Part{place} is missing here, in line {place}" for place in range(1_000)]
    ids = tuple(f"C{place}: yes" for place in range(1, 1_001))
    compared = mock.Mock(side_effect=ledger.likeness)
    monkeypatch.setattr(ledger, "likeness", compared)
    found = read(
        said("engineer", 1, *many), said("architect", 1, *ids, words=" ".join(ids)), said("engineer", 2, *many[::-1]),
        said("engineer", 3, " ".join(ids), "C1 " * 99, words="C1 but " * 999 + "C1 is answered " * 999),
    )  # fmt: skip
    assert len(found) == 1_000
    assert found[0].holders == ("engineer", "architect")
    assert compared.call_count <= 1_000 * ledger.MOST_COMPARED * 2
