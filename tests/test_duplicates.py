"""Two entries that members call one finding are one; and no word of theirs takes anything off the list that way."""

from __future__ import annotations

from dataclasses import replace
from itertools import combinations, permutations
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from council.reviews.entries import Merged, RaisedFinding, rank
from council.reviews.merge import merge
from council.reviews.model import (
    SEVERITIES,
    WORDS,
    Anchor,
    Document,
    Finding,
    Pairing,
    Ruling,
)
from council.reviews.parse.duplicates import pairings
from council.reviews.patch import propose
from council.reviews.report import Review, failing
from council.reviews.rule import ruled
from council.reviews.state import listed
from tests.raised import HELD_OUT, SEATS, labelled, said
from tests.similar import SIMILAR

FAULTS = {
    "architect": said("architect", "Tokens lie open in the table.", "Hash them.", "blocking", 4),
    "engineer": said("engineer", "A stolen backup signs everybody in.", "Store digests.", "high", 9),
    "designer": said("designer", "The footer is grey on grey.", "Darken it.", "low", 20),
}
LIST = merge(list(FAULTS.values()))  # B1 is the architect's, H1 the engineer's, L1 the designer's
Turn = tuple[str, str, Ruling | Pairing]


def same(seat: str, id_: str = "H1", other: str = "B1", step: str = "02-challenges", *, is_: bool = True) -> Turn:
    return seat, f"{step}/{seat}", Pairing(id_, other, is_, "both are about a leak")


def rule(seat: str, word: str, id_: str, step: str = "02-challenges") -> Turn:
    return seat, f"{step}/{seat}", Ruling(id_, word, "because")


def ids(*spoken: Turn) -> list[str]:
    return [one.id for one in ruled(LIST, spoken)]


BOTH = (same("researcher"), same("designer"))


@pytest.mark.parametrize(
    ("spoken", "joined"),
    [
        ((), False),
        ((same("researcher"),), False),
        ((same("researcher"), same("researcher", "B1", "H1", "03-closing")), False),
        ((same("engineer"),), True),
        ((same("architect"),), True),
        ((same("engineer"), same("researcher", is_=False)), False),
        ((same("architect"), same("engineer", is_=False)), False),
        (BOTH, True),
        ((same("researcher", "b-1", "**H1**"), same("designer")), True),
        ((*BOTH, same("engineer", is_=False)), True),
        ((*BOTH, same("engineer", is_=False), same("architect", is_=False)), False),
        ((*BOTH, same("researcher", step="03-closing", is_=False)), False),
        ((rule("designer", "agree", "H1"), rule("designer", "agree", "B1")), False),
        ((rule("researcher", "agree", "H1"), same("researcher")), False),
        ((*BOTH, rule("engineer", "agree", "H1"), rule("engineer", "disagree with concern", "B1")), True),
        ((same("engineer", "H1", "B7"), same("designer", "H1", "B7")), False),
        ((same("engineer", "H1", "H1"),), False),
    ],
)
def test_two_say_so_or_one_who_found_one_of_them_and_nobody_denies_it(spoken: tuple[Turn, ...], joined: bool) -> None:
    assert ids(*spoken) == (["B1", "L1"] if joined else ["B1", "H1", "L1"])


def test_what_was_not_in_the_list_that_was_read_was_guessed() -> None:
    late = merge([*FAULTS.values(), said("researcher", "No index.", "", "high", 2, "02-challenges")])
    assert "H2" in [one.id for one in late]
    for step, joined in (("02-challenges", False), ("03-closing", True)):
        found = ruled(late, [same("engineer", "H2", "B1", step), same("designer", "H2", "B1", step)])
        assert ("H2" not in [one.id for one in found]) is joined


def test_nothing_of_either_is_lost() -> None:
    words = [*BOTH, rule("researcher", "agree", "H1"), rule("designer", "disagree with concern", "B1")]
    (one, other) = ruled(LIST, words)
    first, second, _ = LIST
    assert (one.id, one.also, one.fingerprint) == ("B1", ("H1",), first.fingerprint)
    assert one.fingerprints == (first.fingerprint, second.fingerprint)
    assert one.members == (*first.members, *second.members)
    assert one.severities == {"architect": "blocking", "engineer": "high"}
    assert one.distribution == (("blocking", 1), ("high", 1))
    assert set(one.supporters) == {"architect", "engineer", "researcher"}
    assert {(seat, ruling.id) for seat, ruling in one.rulings} == {("researcher", "H1"), ("designer", "B1")}
    assert {seat for seat, _ in one.pairings} == {"researcher", "designer"}
    assert (one.severity, one.status, other.id) == ("blocking", "contested", "L1")
    told = listed((one, other), {"engineer": "Engineer (Marcus)"})
    for part in (
        "also H1",
        "Also put as, by Engineer (Marcus) (H1, HIGH): A stolen backup signs everybody in. → Store",
        ":9:",
    ):
        assert part in told
    assert "researcher (of H1): same as B1. both are about a leak" in told


def test_a_claim_that_is_not_carried_out_stands_beside_its_entry() -> None:
    told = listed(ruled(LIST, [same("researcher")]), {})
    assert told.count("researcher (of H1): same as B1") == 1
    assert "also" not in told


@pytest.mark.parametrize("order", [*permutations(("B1", "H1", "L1"), 2)], ids="-".join)
def test_the_graver_one_keeps_its_id_and_its_words_whichever_way_it_is_said(order: tuple[str, str]) -> None:
    graver, milder = sorted(order, key=rank)
    one = next(one for one in ruled(LIST, [same("researcher", *order), same("chair", *order)]) if one.also)
    before = next(one for one in LIST if one.id == graver)
    assert (one.id, one.also) == (graver, (milder,))
    assert (one.issue, one.change, one.place) == (before.issue, before.change, before.place)


def test_three_are_one_but_not_over_two_that_differ() -> None:
    chain = [*BOTH, same("engineer", "L1", "H1")]
    assert ids(*chain) == ["B1"]
    assert ids(*chain, same("architect", "L1", "B1", is_=False)) == ["B1", "L1"], (
        "the two that more say are joined first"
    )


# -- what words joined, members split ----------------------------------------------------------------------------------


def alike() -> tuple[Merged, ...]:
    """One entry of two faults, B1 and B1b, which words alone took for one."""
    return merge([SIMILAR[0].raised(0, "none"), SIMILAR[0].raised(1, "none", "high")])


def apart(*spoken: Turn) -> list[tuple[str, str]]:
    return [(one.id, one.issue) for one in ruled(alike(), spoken)]


FIRST, SECOND = (f"{issue}." for issue in SIMILAR[0].issues)


def test_one_different_from_splits_what_words_joined() -> None:
    assert apart() == [("B1", FIRST)]
    for id, other in (("B1b", "B1"), ("B1", "B1b"), ("**b1b**", "[B1a]")):
        assert apart(same("researcher", id, other, is_=False)) == [("B1", FIRST), ("B1b", SECOND)]


def test_what_was_split_stays_apart() -> None:
    split = same("researcher", "B1b", "B1", is_=False)
    later = same("architect", "B1b", "B1", "03-closing")
    assert len(apart(split, later)) == 2, "one who says so does not outweigh one who denies it"
    assert len(apart(split, later, same("engineer", "B1", "B1b", "03-closing"))) == 1
    again = replace(SIMILAR[0].raised(1, "none"), turn="03-closing/designer")
    (first, second) = ruled(merge([*(one for entry in alike() for one in entry.members), again]), [split])
    assert (first.id, second.id, len(second.members)) == ("B1", "B1b", 2)


def test_each_half_of_a_split_has_its_own_severity_finder_fingerprint_and_rulings() -> None:
    spoken = [
        rule("writer", "disagree with evidence", "B1"),
        same("researcher", "B1b", "B1", is_=False),
        rule("engineer", "agree", "B1b"),
        rule("engineer", "agree", "B1", "03-closing"),
        rule("designer", "withdrawn", "B1b", "03-closing"),
    ]
    (first, second) = ruled(alike(), spoken[:3])
    assert (first.severity, second.severity) == ("blocking", "high")
    assert (list(first.severities), list(second.severities)) == (["architect"], ["designer"])
    assert first.fingerprint == alike()[0].fingerprint != second.fingerprint
    assert (first.status, second.status) == ("contested", "contested"), "it was said of both when they were one"
    assert (first.supporters, second.supporters) == (("architect",), ("designer", "engineer"))
    (first, second) = ruled(alike(), spoken)
    assert (first.supporters, second.status) == (("architect", "engineer"), "withdrawn")
    assert [one.status for one in ruled(alike(), spoken[:3], ["B1b"])] == ["contested", "dismissed"]


def test_a_wording_may_be_withdrawn_by_itself_and_takes_nothing_else_along() -> None:
    (one,) = ruled(alike(), [rule("designer", "withdrawn", "B1b")])
    assert (one.status, one.severity, one.owners) == ("open", "blocking", ("architect",))
    (one,) = ruled(alike(), [rule("architect", "withdrawn", "B1")])
    assert (one.status, one.severity, one.owners) == ("open", "high", ("designer",))


def test_the_challenge_shows_every_wording_with_the_id_that_splits_it() -> None:
    told = listed(alike(), {"designer": "Designer (Aditi)"})
    assert f"Issue: {FIRST}" in told
    assert f"Also put as, by Designer (Aditi) (B1b, HIGH): {SECOND}" in told
    split = listed(ruled(alike(), [same("researcher", "B1b", "B1", is_=False)]), {})
    assert "- B1b (HIGH, open; found or supported by designer)" in split
    assert "researcher (of B1b): different from B1" in split


@pytest.mark.parametrize(
    "text",
    [
        "- B1b: different from B1: one is about orders.",
        "B1: different from **B1b**",
        "B1b ≠ B1",
        "B1 and B1b are different.",
    ],
)
def test_different_from_is_read(text: str) -> None:
    (one,) = pairings(f"## Rulings\n\n{text}\n")
    assert ({one.id, one.other}, one.same) == ({"B1", "B1b"}, False)


def test_a_baseline_knows_an_entry_only_by_each_of_its_members() -> None:
    for pair in SIMILAR:
        for how in ("none", "quote", "lines"):
            known = merge([pair.raised(0, how)])[0].known_by
            new = failing(Review("", "", findings=merge([pair.raised(0, how), pair.raised(1, how)])), "blocking", known)
            assert len(new) == 1, pair
            both = frozenset().union(*(one.known_by for one in merge([pair.raised(0, how), pair.raised(1, how)])))
            assert not failing(Review("", "", findings=merge([pair.raised(1, how), pair.raised(0, how)])), "low", both)


def test_what_is_only_inferred_fails_no_gate() -> None:
    one = SIMILAR[0].raised(0, "none")
    guessed = replace(one, finding=replace(one.finding, inferred=True))
    assert failing(Review("", "", findings=merge([guessed])), "low") == []
    stated = replace(one, seat="designer", turn="01-findings/designer")
    assert len(failing(Review("", "", findings=merge([guessed, stated])), "blocking")) == 1


# -- nobody gets anything off the list that way ------------------------------------------------------------------------


def test_a_withdrawal_is_of_ones_own_words_alone() -> None:
    before = [rule("engineer", "withdrawn", "H1"), *BOTH]
    (one, _) = ruled(LIST, before)
    assert (one.status, one.severity, one.owners) == ("open", "blocking", ("architect",))
    after = [*BOTH, rule("engineer", "withdrawn", "B1", "03-closing")]
    (one, _) = ruled(LIST, after)
    assert (one.status, one.severity, one.supporters) == ("open", "blocking", ("architect",))
    (one, _) = ruled(LIST, [*after, rule("architect", "withdrawn", "B1", "03-closing")])
    assert one.status == "withdrawn"


def test_who_found_both_withdraws_both_only_by_the_list_that_shows_them_as_one() -> None:
    own = merge(
        [said("engineer", "Tokens lie open.", "", "blocking", 4), said("engineer", "Backups leak.", "", "high", 9)]
    )
    (one,) = ruled(own, [rule("engineer", "withdrawn", "H1"), same("engineer")])
    assert (one.status, one.severity, one.supporters) == ("open", "blocking", ("engineer",))
    (one,) = ruled(own, [same("engineer"), rule("engineer", "withdrawn", "B1", "03-closing")])
    assert one.status == "withdrawn"


def test_a_ruling_on_the_old_id_is_a_ruling_on_the_whole() -> None:
    (one, _) = ruled(LIST, [*BOTH, rule("researcher", "disagree with evidence", "H1", "03-closing")])
    assert one.status == "contested"
    (part, other) = one.parts
    assert part.rulings == other.rulings
    assert len(one.rulings) == 1


def test_of_two_ids_of_one_finding_each_keeps_what_was_said_of_it_by_name() -> None:
    both = [
        rule("researcher", "agree", "B1", "03-closing"),
        rule("researcher", "disagree with concern", "H1", "03-closing"),
    ]
    for order in (both, both[::-1]):
        (one, _) = ruled(LIST, [*BOTH, *order])
        assert [part.rulings[0][1].word for part in one.parts] == ["agree", "disagree with concern"]
        assert {ruling.id for _, ruling in one.rulings} == {"B1", "H1"}


def test_where_the_graver_one_names_no_place_the_other_ones_place_stays_with_its_own_words() -> None:
    two = merge([said("architect", "Tokens lie open.", "", "blocking"), FAULTS["engineer"]])
    (one,) = ruled(two, [same("engineer")])
    assert (one.id, one.place.first, one.fingerprint) == ("B1", 0, two[0].fingerprint)
    assert [(put.id, put.issue, put.place.first) for put in one.wordings] == [
        ("B1", "Tokens lie open.", 0),
        ("H1", "A stolen backup signs everybody in.", 9),
    ]


def test_what_a_person_dismissed_takes_nothing_along_that_is_joined_to_it_later() -> None:
    for gone, status in (({"H1"}, "open"), ({"B1"}, "open"), ({"B1", "H1"}, "dismissed")):
        (one, _) = ruled(LIST, BOTH, gone)
        assert one.status == status
    (one, _) = ruled(LIST, BOTH, {"B1"})
    assert one.severity == "high", "what is left of it"


def test_a_gate_lets_nothing_new_through_because_it_is_called_old() -> None:
    two = merge([FAULTS["architect"], said("engineer", "A stolen backup leaks.", "", "blocking", 9)])
    (one,) = ruled(two, [same("engineer", "B2", "B1")])
    found = Review("", "", findings=(one,))
    assert failing(found, "blocking", frozenset([two[0].fingerprint])) == [one]
    assert failing(found, "blocking", frozenset(one.fingerprints)) == []


def test_the_edits_of_a_part_that_was_withdrawn_are_not_proposed() -> None:
    document = Document("spec.md", "One.\nTwo.\n")

    def edit(seat: str, line: int, text: str) -> RaisedFinding:
        one = said(seat, f"Line {line} is wrong: {text}", "", "high", line, passage=text)
        finding = Finding("H1", "high", one.finding.issue, "", Anchor("spec.md", line, line, text), f"{text} And more.")
        return RaisedFinding(seat, one.turn, finding, one.place)

    two = merge([edit("engineer", 1, "One."), edit("engineer", 2, "Two.")])
    claim = same("engineer", "H1", "H2")
    assert [edit.first for edit in propose(ruled(two, [claim]), [document]).edits] == [1, 2]
    (one,) = ruled(two, [claim, rule("engineer", "withdrawn", "H2")])
    assert [edit.first for edit in propose([one], [document]).edits] == [1]
    (second,) = (part for part in two if part.id == "H2")
    stands = said("architect", second.issue, "", "high", 2, passage="Two.")
    (one,) = ruled(merge([*two[0].members, *second.members, stands]), [claim, rule("engineer", "withdrawn", "H2")])
    assert (one.parts[1].owners, one.owners) == (("architect",), ("engineer", "architect"))
    assert [edit.first for edit in propose([one], [document]).edits] == [1], "its author withdrew it, though it stands"


WRITTEN = st.lists(
    st.tuples(
        st.sampled_from([*SEATS, "chair", ""]),
        st.sampled_from(["02-challenges", "03-closing"]),
        st.builds(
            Pairing,
            st.sampled_from(["B1", "B2", "H1", "L1", "**b1**", "X", ""]),
            st.sampled_from(["B1", "B2", "H1", "L1", "B9"]),
            st.booleans(),
        )
        | st.builds(Ruling, st.sampled_from(["B1", "B2", "H1", "L1"]), st.sampled_from(WORDS)),
    ),
    max_size=30,
)


@given(
    written=WRITTEN,
    graver=st.lists(st.sampled_from(SEVERITIES), min_size=4, max_size=4),
    gone=st.sets(st.sampled_from(["B1", "B2", "H1"])),
)
@settings(max_examples=400, deadline=None)
def test_a_join_loses_nothing_lowers_nothing_and_takes_nothing_off(
    written: list[tuple[str, str, Ruling | Pairing]], graver: list[str], gone: set[str]
) -> None:
    faults = ["Tokens lie open.", "No index on status.", "The footer is grey.", "Nobody is on call."]
    entries = merge(
        [
            said(seat, fault, "", one, 3 * at + 1)
            for at, (seat, fault, one) in enumerate(zip(SEATS, faults, graver, strict=True))
        ]
    )
    spoken = [(seat, f"{step}/{seat}", one) for seat, step, one in sorted(written, key=lambda one: one[1])]
    alone = {one.id: one for one in ruled(entries, [one for one in spoken if isinstance(one[2], Ruling)], gone)}
    found = ruled(entries, spoken, gone)
    assert sorted(member.finding.issue for one in found for member in one.members) == sorted(faults)
    assert {part.id for one in found for part in one.entries} == set(alone)
    assert [one.id for one in found] == sorted((one.id for one in found), key=rank)
    for one in found:
        assert one.id == one.entries[0].id == min((part.id for part in one.entries), key=rank)
        open_ = [part for part in one.entries if part.status in ("open", "contested")]
        assert (one.status in ("open", "contested")) is bool(open_)
        assert all(SEVERITIES.index(one.severity) <= SEVERITIES.index(part.severity) for part in open_)
        assert set(one.supporters) >= {seat for part in open_ for seat in part.supporters}
        for part in one.entries:
            owner = part.members[0].seat
            words = [said.word for seat, _, said in spoken if seat == owner and isinstance(said, Ruling)]
            assert part.status != "withdrawn" or "withdrawn" in words
            assert (part.status == "dismissed") == (part.id in gone)
            assert not one.also or part.fingerprint in one.fingerprints


def test_who_speaks_first_changes_nothing() -> None:
    spoken = [*BOTH, same("engineer", "L1", "H1"), same("architect", "L1", "B1", is_=False)]

    def shape(order: tuple[Turn, ...]) -> list[tuple[str, tuple[str, ...], str, tuple[str, ...]]]:
        return [(one.id, one.also, one.status, one.supporters) for one in ruled(LIST, order)]

    assert len({str(shape(order)) for order in permutations(spoken)}) == 1


@pytest.mark.parametrize("path", HELD_OUT, ids=lambda path: path.stem)
def test_what_words_miss_is_joined_where_two_say_so(path: Path) -> None:
    """No measurement of what members would say: here they say all of it, and the list has to carry it out."""
    merged = merge([one.said for one in labelled(path)])
    faults: dict[str, list[Merged]] = {}
    for one in merged:
        names = {told.fault for told in labelled(path) if told.said in one.members}
        faults.setdefault(min(names), []).append(one)
    spoken = [
        same(seat, one.id, other.id)
        for entries in faults.values()
        for one, other in combinations(entries, 2)
        for seat in ("critic", "chair")
    ]
    found = ruled(merged, spoken)
    assert len(found) == len(faults) < len(merged)
    assert sum(len(one.members) for one in found) == len(labelled(path))
