"""One list out of everybody's: what is one finding and what is two, ids that stay, and who may take a finding away."""

from __future__ import annotations

import difflib
import random
import subprocess
import sys
from collections.abc import Iterator, Sequence
from dataclasses import replace
from itertools import combinations
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from council.reviews.entries import Merged, RaisedFinding
from council.reviews.locate import Place, place
from council.reviews.merge import merge
from council.reviews.model import SEVERITIES, WORDS, Document, Finding, Ruling
from council.reviews.rule import plain_id, ruled
from council.reviews.similarity import stems
from tests.growth import compare
from tests.raised import CHOSEN_ON, HELD_OUT, LINE, PAIRS, SEATS, Labelled, everyone, expiry, labelled, said
from tests.similar import APART, SIMILAR

# -- same or different -------------------------------------------------------------------------------------------------


def pairs(path: Path) -> Iterator[tuple[Labelled, Labelled]]:
    return combinations(labelled(path), 2)


def test_the_labelled_pairs_are_many_and_hard() -> None:
    everything = [pair for path in PAIRS for pair in pairs(path)]
    same = [(one.said, other.said) for one, other in everything if one.fault == other.fault]
    other = [(one.said, other.said) for one, other in everything if one.fault != other.fault]
    assert len(PAIRS) >= 6
    assert len(same) >= 70
    assert len(other) >= 90
    assert sum(one.place.found and one.place.first == two.place.first for one, two in other) >= 100
    assert sum(one.place.found != two.place.found for one, two in same) >= 60


def test_what_words_join_is_the_same_and_much_of_what_is_the_same_they_miss() -> None:
    """By the first hand (2 to 8) precision is 0.99 and recall 0.82; by another hand, which did not know the code (10 to
    16), they are 0.92 and 0.42. Longer lists of kindred words do not help there. The rest is for the members to say.
    """
    right, wrong, missed = measured(HELD_OUT, 6)
    precision, recall = right / (right + wrong), right / (right + missed)
    print(f"\nheld out: precision {precision:.3f}, recall {recall:.3f} of {right + missed} pairs that are the same")
    assert precision >= 0.95
    assert recall >= 0.55  # 0.61


def test_the_threshold_is_right_for_the_half_that_it_was_chosen_on() -> None:
    right, wrong, _ = measured(CHOSEN_ON, 6)
    assert right / (right + wrong) >= 0.95  # 0.952; recall there is 0.93 by the first hand, 0.47 by the third


def measured(paths: Sequence[Path], most: int) -> tuple[int, int, int]:
    """Pairs that are rightly one finding, wrongly one, and wrongly two; for every council of so many members."""
    counts = [0, 0, 0]
    for path in paths:
        members = sorted({one.said.seat for one in labelled(path)})
        for council in combinations(members, min(most, len(members))):
            findings = [one for one in labelled(path) if one.said.seat in council]
            home = {id(member): one.id for one in merge([one.said for one in findings]) for member in one.members}
            for one, other in combinations(findings, 2):
                same, joined = one.fault == other.fault, home[id(one.said)] == home[id(other.said)]
                counts[0] += same and joined
                counts[1] += joined and not same
                counts[2] += same and not joined
    return counts[0], counts[1], counts[2]


def test_opposite_changes_of_the_same_words_are_two() -> None:
    longer = said("architect", "The lock of 15 minutes is too short.", "Raise the lock to one hour.", line=3)
    shorter = said("designer", "The lock of 15 minutes is too long.", "Lower the lock to one minute.", line=3)
    assert len(merge([longer, shorter])) == 2


def test_a_seat_that_names_two_in_one_reply_means_two_unless_they_are_the_same_text() -> None:
    one, other = expiry("engineer"), expiry("engineer")
    nearly = replace(other, finding=replace(other.finding, issue="The refresh token never expires at all."))
    assert len(merge([one, nearly])) == 2
    (both,) = merge([one, other])
    assert both.severities == {"engineer": "high"}


def test_only_the_very_same_words_join_what_is_raised_later() -> None:
    one = expiry("engineer")
    other = replace(one, finding=replace(one.finding, issue="The refresh token never expires at all."))
    for seat in ("engineer", "designer"):
        assert len(merge([one, replace(other, seat=seat, turn=f"02-challenges/{seat}")])) == 2
        (both,) = merge([one, replace(one, seat=seat, turn=f"02-challenges/{seat}")])
        assert len(both.members) == 2


def test_what_can_be_used_by_everybody_is_no_matter_of_permission() -> None:
    assert stems("accessible accessibility").keys().isdisjoint(stems("access permission privilege"))
    assert len({*stems("access"), *stems("accessed"), *stems("permissions")}) == 1
    colour = said("researcher", "Status by colour only is not accessible.", "Use symbols.", line=3)
    rights = said("security", "Anybody may have access.", "Ask for a permission.", line=3)
    assert len(merge([colour, rights])) == 2


def test_groups_do_not_chain() -> None:
    words = "index lookup cursor batch lease heartbeat vault quota tenant digest locale payload".split()
    chain = [said(f"seat{at}", " ".join(words[at : at + 5]), line=3) for at in range(7)]
    for one in merge(chain):
        ends = [words.index(member.finding.issue.split()[0]) for member in one.members]
        assert max(ends) - min(ends) < 5, "these share no word"


def test_findings_that_stand_elsewhere_in_the_same_words_of_an_outline_are_not_one() -> None:
    outline = "This section is vague.", "Say what happens on error."
    apart = [said("engineer", *outline, line=3), replace(said("architect", *outline, line=90))]
    assert [one.place.first for one in merge(apart)] == [3, 90]
    unlike = [said("engineer", "The salt is shared.", line=3), said("architect", "No index on status.", line=3)]
    assert len(merge(unlike)) == 2


@pytest.mark.parametrize("how", ["quote", "lines"])
def test_two_found_places_that_do_not_meet_are_two_findings(how: str) -> None:
    for pair in SIMILAR:
        merged = merge([pair.raised(0, how), pair.raised(1, how)])
        assert [(one.issue, one.place.first) for one in merged] == [
            (f"{pair.issues[0]}.", 2),
            (f"{pair.issues[1]}.", 2 + APART),
        ]


def test_two_sentences_of_one_line_are_two_places() -> None:
    for pair in SIMILAR:
        line = Document("s.md", f"# Specification\n\n{pair.lines[0]} So it was. {pair.lines[1]}\n")
        raised = [pair.raised(which, "quote") for which in (0, 1)]
        assert len(merge([replace(one, place=place(one.finding, [line])) for one in raised])) == 2


def test_a_finding_without_a_place_joins_no_two_places() -> None:
    for pair in SIMILAR:
        nowhere = replace(pair.raised(0, "none"), seat="writer")
        merged = merge([pair.raised(0, "quote"), nowhere, pair.raised(1, "quote")])
        assert [one.place.first for one in merged if one.place.found] == [2, 2 + APART]


def test_two_files_are_two_places() -> None:
    one = expiry("engineer")
    other = replace(expiry("architect"), place=Place("other.md"))
    assert len(merge([one, other])) == 2
    assert len(merge([one, replace(other, place=Place(how="missing"))])) == 1


def test_what_words_cannot_tell_apart_shows_both() -> None:
    for pair in SIMILAR:
        merged = merge([pair.raised(0, "none"), pair.raised(1, "none")])
        shown = [put.issue for one in merged for put in one.wordings]
        assert sorted(shown) == sorted(f"{issue}." for issue in pair.issues)


def test_words_and_place_are_of_one_member() -> None:
    for path in PAIRS:
        for one in merge(everyone(path)):
            for put in one.wordings:
                said_ = (put.issue, put.change, put.place)
                assert any((m.finding.issue, m.finding.change, m.place) == said_ for m in put.members)
            shown = (one.issue, one.change, one.place)
            assert any((m.finding.issue, m.finding.change, m.place) == shown for m in one.members)


def test_a_severity_that_was_given_goes_before_one_that_is_inferred() -> None:
    guessed = expiry("engineer", "blocking")
    guessed = replace(guessed, finding=replace(guessed.finding, inferred=True))
    (alone,) = merge([guessed])
    assert (alone.severity, alone.inferred) == ("blocking", True)
    (both,) = merge([guessed, expiry("architect", "medium")])
    assert (both.severity, both.inferred) == ("medium", False)


# -- ids and fingerprints ----------------------------------------------------------------------------------------------


@pytest.mark.slow
@pytest.mark.parametrize("path", PAIRS, ids=lambda path: path.stem)
def test_who_speaks_first_changes_nothing(path: Path) -> None:
    first = merge(everyone(path))
    for seed in range(3):
        shuffled = everyone(path)
        random.Random(seed).shuffle(shuffled)
        assert merge(shuffled) == first


@pytest.mark.parametrize("path", PAIRS, ids=lambda path: path.stem)
def test_a_later_step_changes_no_id_no_fingerprint_and_no_words(path: Path) -> None:
    everything = everyone(path)
    early = [one for one in everything if one.seat in ("architect", "engineer", "writer")]
    late = [replace(one, turn=f"02-challenges/{one.seat}") for one in everything if one not in early]
    before = merge(early)
    after = {one.id: one for one in merge(early + late)}
    for one in before:
        same = after[one.id]
        assert (same.fingerprint, same.issue, same.change) == (one.fingerprint, one.issue, one.change)
        assert set(one.members) <= set(same.members)
    assert len(after) > len(before), "something new was said"


def test_ids_are_by_gravity_and_then_by_place() -> None:
    merged = merge(
        [
            said("engineer", "No index on status.", severity="low", line=2),
            said("engineer", "Tokens never expire.", severity="blocking", line=9),
            said("engineer", "The salt is shared.", severity="blocking", line=4),
            said("engineer", "Nobody is named for the rota.", severity="blocking"),
        ]
    )
    assert [(one.id, one.place.first) for one in merged] == [("B1", 4), ("B2", 9), ("B3", 0), ("L1", 2)]


def test_an_id_keeps_its_letter_when_a_later_step_sees_it_more_gravely() -> None:
    (one,) = merge([expiry("engineer", "low"), expiry("architect", "blocking", "02-challenges")])
    assert (one.id, one.severity) == ("L1", "blocking")


@pytest.mark.parametrize("path", PAIRS, ids=lambda path: path.stem)
def test_fingerprints_are_one_each(path: Path) -> None:
    found = [one.fingerprint for one in merge(everyone(path))]
    assert len(set(found)) == len(found)
    assert all(len(one) == 16 and int(one, 16) >= 0 for one in found)


def test_other_words_for_the_same_passage_have_the_same_fingerprint() -> None:
    (one,) = merge([expiry("engineer")])
    other = replace(expiry("writer"), finding=Finding("B7", "low", "A stolen token is good for ever!", "Rotate."))
    (second,) = merge([other])
    moved = replace(other, place=replace(other.place, first=7, last=7, passage=LINE.upper().replace(" ", "  ")))
    assert one.fingerprint == second.fingerprint == merge([moved])[0].fingerprint


def test_two_on_one_passage_are_told_apart_by_the_words_of_the_issue() -> None:
    fault = said("writer", "Nothing says who may see it.", line=4, passage=LINE)
    first, second = merge([expiry("engineer"), fault])
    assert first.fingerprint != second.fingerprint
    again = replace(
        fault, finding=replace(fault.finding, issue="nothing SAYS who may see it", change="Name the roles.")
    )
    assert {one.fingerprint for one in merge([expiry("engineer"), again])} == {first.fingerprint, second.fingerprint}


@pytest.mark.slow
def test_another_process_says_the_same() -> None:
    code = (
        "from tests.raised import PAIRS, everyone\nfrom council.reviews.merge import merge\n"
        "for path in PAIRS:\n    for one in merge(everyone(path)):\n"
        "        print(one.id, one.fingerprint, [member.seat for member in one.members])"
    )
    runs = {
        subprocess.run(
            [sys.executable, "-c", code],
            cwd=Path(__file__).parent.parent,
            env={"PYTHONHASHSEED": seed, "PYTHONPATH": "."},
            capture_output=True,
            check=True,
        ).stdout
        for seed in ("1", "2")
    }
    assert len(runs) == 1


# -- severities --------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("given_", "merged"),
    [
        (("high", "low", "low"), "low"),
        (("high", "low"), "high"),
        (("medium", "low", "medium", "low"), "medium"),
        (("blocking", "low", "low", "low"), "blocking"),
        (("low",), "low"),
    ],
)
def test_the_severity_is_the_most_frequent_and_of_two_the_graver(given_: tuple[str, ...], merged: str) -> None:
    (one,) = merge([expiry(seat, severity) for seat, severity in zip(SEATS, given_, strict=False)])
    assert one.severity == merged
    assert one.severities == dict(zip(SEATS, given_, strict=False))
    assert one.disputed == (len(set(given_)) > 1)
    assert one.supporters == SEATS[: len(given_)]


def test_the_distribution_is_shown_gravest_first() -> None:
    (one,) = merge(
        [expiry(seat, severity) for seat, severity in zip(SEATS, ("low", "high", "low", "medium"), strict=True)]
    )
    assert one.distribution == (("high", 1), ("medium", 1), ("low", 2))


def test_saying_it_again_more_mildly_withdraws_nothing() -> None:
    (one,) = merge([expiry("engineer", "blocking"), expiry("engineer", "low", "02-challenges")])
    assert (one.severity, one.severities) == ("blocking", {"engineer": "blocking"})


def test_nothing_said_is_nothing_found() -> None:
    assert merge([]) == ()
    assert ruled((), [("engineer", "02-challenges/engineer", Ruling("B1", "agree"))], ["B1"]) == ()


# -- rulings -----------------------------------------------------------------------------------------------------------


def rule(seat: str, word: str, id_: str = "B1", step: str = "02-challenges") -> tuple[str, str, Ruling]:
    return seat, f"{step}/{seat}", Ruling(id_, word, "because")


def blocking(*owners: str) -> tuple[Merged, ...]:
    return merge([expiry(seat, "blocking") for seat in owners])


def test_only_its_owner_withdraws() -> None:
    (forged,) = ruled(blocking("engineer"), [rule("architect", "withdrawn")])
    assert (forged.status, forged.severity, forged.supporters) == ("open", "blocking", ("engineer",))
    assert [seat for seat, _ in forged.rulings] == ["architect"], "it is kept as a remark"
    (own,) = ruled(blocking("engineer"), [rule("engineer", "withdrawn")])
    assert (own.status, own.supporters) == ("withdrawn", ())


def test_a_withdrawal_takes_only_ones_own_support_away() -> None:
    mixed = merge([expiry("engineer", "blocking"), expiry("architect", "medium"), expiry("designer", "medium")])
    (one,) = ruled(mixed, [rule("engineer", "withdrawn")])
    assert (one.status, one.severity, one.supporters) == ("open", "medium", ("architect", "designer"))
    (two,) = ruled(mixed, [rule("architect", "withdrawn"), rule("designer", "withdrawn")])
    assert (two.status, two.severity, two.supporters) == ("open", "blocking", ("engineer",))


def test_the_last_word_of_a_seat_counts() -> None:
    words = [rule("engineer", "withdrawn"), rule("engineer", "agree", step="03-closing")]
    assert ruled(blocking("engineer"), words)[0].status == "open"
    assert ruled(blocking("engineer"), words[::-1])[0].status == "withdrawn"


def test_who_says_it_again_has_taken_the_withdrawal_back() -> None:
    again = merge([expiry("engineer", "blocking"), expiry("engineer", "blocking", "10-closing")])
    assert ruled(again, [rule("engineer", "withdrawn", step="9-challenges")])[0].status == "open"
    assert ruled(again, [rule("engineer", "withdrawn", step="11-last")])[0].status == "withdrawn"


@pytest.mark.parametrize("word", ["disagree with evidence", "disagree with concern"])
def test_contested_by_somebody_else(word: str) -> None:
    assert ruled(blocking("engineer"), [rule("architect", word)])[0].status == "contested"
    assert ruled(blocking("engineer"), [rule("engineer", word)])[0].status == "open"
    assert ruled(blocking("engineer"), [rule("architect", word), rule("architect", "agree")])[0].status == "open"


def test_who_agrees_supports() -> None:
    (one,) = ruled(
        blocking("engineer"), [rule("designer", "agree"), rule("engineer", "agree"), rule("architect", "agree")]
    )
    assert one.supporters == ("engineer", "designer", "architect")


@pytest.mark.parametrize("written", ["b1", "**B1**", "[B1]", "`b-1`", "B01:", " B1. ", "(B 1)", "#b1", "\uff221"])
def test_an_id_is_known_in_whatever_dress(written: str) -> None:
    assert plain_id(written) == "B1"
    assert ruled(blocking("engineer"), [rule("engineer", "withdrawn", written)])[0].status == "withdrawn"
    assert ruled(blocking("engineer"), [], [written])[0].status == "dismissed"


@pytest.mark.parametrize(
    "written", ["B11", "B", "1", "", "B1 B2", "B1x", "BB1", "B0", "B1.5", "B-", "\u0412" + "1", "B\u0661"]
)
def test_what_is_no_id_is_nobodys(written: str) -> None:
    (one,) = ruled(blocking("engineer"), [rule("engineer", "withdrawn", written)], [written])
    assert (one.status, one.rulings) == ("open", ())


SPOKEN = st.lists(
    st.tuples(
        st.sampled_from([*SEATS, "chair", "Engineer", "engineer ", ""]),
        st.sampled_from(["02-challenges", "03-closing"]),
        st.sampled_from(["B1", "b1", "**B1**", "B2", "b-2", "H1", "B9", "all", "", "B1, B2", "B1\nB2"]),
        st.sampled_from([*WORDS, "Withdrawn", "withdrawn by its owner", ""]),
    ),
    max_size=40,
)


@given(
    owners=st.sets(st.sampled_from(SEATS), min_size=1),
    spoken=SPOKEN,
    dismissed=st.sets(st.sampled_from(["b1", "B7", ""])),
)
@settings(max_examples=400, deadline=None)
def test_what_blocks_leaves_only_by_all_its_owners_or_by_a_person(
    owners: set[str], spoken: list[tuple[str, str, str, str]], dismissed: set[str]
) -> None:
    merged = (*blocking(*sorted(owners)), *merge([said("chair", "No index.", line=9, severity="high")]))
    rulings = [(seat, f"{step}/{seat}", Ruling(id_, word)) for seat, step, id_, word in spoken]
    one, other = ruled(merged, rulings, dismissed)
    # Told again without the code under test: of each seat its last word on B1 in one of the ways to write it.
    last = {seat: word for seat, _, id_, word in spoken if id_ in ("B1", "b1", "**B1**")}
    gone = {seat for seat in owners if last.get(seat) == "withdrawn"}
    assert (one.status == "dismissed") == ("b1" in dismissed)
    assert (one.status == "withdrawn") == (gone == owners and "b1" not in dismissed)
    assert one.severity == "blocking"
    assert other.id == "H1"
    assert (one.id, one.members, one.fingerprint) == (merged[0].id, merged[0].members, merged[0].fingerprint)
    assert set(one.supporters) == (owners - gone) | {seat for seat, word in last.items() if word == "agree"}


@given(
    severities=st.dictionaries(st.sampled_from(SEATS), st.sampled_from(SEVERITIES), min_size=1),
    gone=st.sets(st.sampled_from(SEATS)),
)
@settings(max_examples=200, deadline=None)
def test_blocking_stays_blocking_as_long_as_one_who_said_so_stands_by_it(
    severities: dict[str, str], gone: set[str]
) -> None:
    merged = merge([expiry(seat, severity) for seat, severity in severities.items()])
    (one,) = ruled(merged, [rule(seat, "withdrawn", merged[0].id) for seat in sorted(gone)])
    standing = [severity for seat, severity in severities.items() if seat not in gone] or list(severities.values())
    assert (one.severity == "blocking") == ("blocking" in standing)
    assert one.severity in standing


TEXTS = st.sampled_from([one.said for path in PAIRS[:2] for one in labelled(path)]) | st.builds(
    lambda issue, seat: said(seat, issue), st.text(max_size=30), st.sampled_from(SEATS)
)


@given(first=st.lists(TEXTS, max_size=12), second=st.lists(TEXTS, max_size=8))
@settings(max_examples=150, deadline=None)
def test_nothing_said_is_lost_or_doubled(first: list[RaisedFinding], second: list[RaisedFinding]) -> None:
    later = [replace(one, turn=f"02-challenges/{one.seat}") for one in second]
    before, after = merge(first), merge(first + later)
    kept = [id(member) for one in after for member in one.members]
    assert sorted(kept) == sorted(map(id, first + later))
    assert len({one.id for one in after}) == len({one.fingerprint for one in after}) == len(after)
    names = {one.id: one.fingerprint for one in after}
    assert all(names[one.id] == one.fingerprint for one in before)


# -- speed -------------------------------------------------------------------------------------------------------------


def test_two_hundred_findings_of_six_seats_take_less_than_the_plain_way() -> None:
    """The floor: `difflib` on each pair of the first forty, which is a twenty-fifth of the pairs of two hundred."""
    findings = [one for path in PAIRS for one in everyone(path)][:200]
    merge(findings)  # the words' stems are kept

    def plainly() -> None:
        for one, other in combinations(findings[:40], 2):
            difflib.SequenceMatcher(None, one.finding.issue, other.finding.issue).ratio()

    assert compare(lambda: merge(findings), plainly, most=6) <= 6
