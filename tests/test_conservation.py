"""Nothing that a member writes is hidden: every item of a reply is in the list by itself, or stands beside the entry
that it repeats, or is shown as it was written.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from council.reviews import formats
from council.reviews.entries import Merged
from council.reviews.formats.common import Review
from council.reviews.model import SEVERITIES
from tests.challenges import FOLDER, SEATS, SPEC_FILE, reviewed
from tests.helpers import User
from tests.raised import PAIRS, labelled
from tests.similar import SIMILAR

REPLIES = {f"{path.parent.name}/{path.stem}": path.read_text("utf-8") for path in sorted(FOLDER.glob("0*/*.md"))}
ITEM = re.compile(r"^- ([BHML]\d+): (.*)$", re.M)
RULING = re.compile(r"^- ([BHML]\d+[a-z]?): (.*)$", re.M)


def parts(reply: str) -> tuple[str, str]:
    """The rulings and the findings of a reply in the format that is asked for."""
    before, _, findings = reply.partition("## Findings\n")
    return before, findings


def unlisted(found: Review, replies: Mapping[str, str]) -> Iterator[str]:
    """The items that are neither in the list nor shown as unread. Told without the code that reads."""
    listed = {(said.turn, said.finding.number): said for one in found.findings for said in one.members}
    for turn, reply in replies.items():
        rulings, findings = parts(reply)
        for number, text in ITEM.findall(findings):
            said = listed.get((turn, number))
            shown = any(text[-20:] in piece for _, piece in found.unparsed)
            if not shown and not (said and said.finding.issue.split()[-1] in text):
                yield f"{turn}: {number}: {text}"
        seat = turn.partition("/")[2]
        heard = {(who, ruling.id) for one in found.findings for who, ruling in one.rulings}
        heard |= {(who, id) for one in found.findings for who, pair in one.pairings for id in (pair.id, pair.other)}
        for id, text in RULING.findall(rulings):
            shown = any(who == seat and f"{id}: {text}"[:20] in piece for who, piece in found.unparsed)
            if not shown and (seat, id) not in heard:
                yield f"{turn}: {id}: {text}"


def added(found: Review) -> list[Merged]:
    """The entries that have anything from the challenge."""
    return [one for one in found.findings if any(said.step == "02-challenges" for said in one.members)]


def test_every_item_and_every_ruling_of_eight_replies_is_in_the_list() -> None:
    found = reviewed(REPLIES)
    assert sum(len(ITEM.findall(parts(reply)[1])) for reply in REPLIES.values()) == 62
    assert list(unlisted(found, REPLIES)) == []


def test_what_is_raised_in_the_challenge_is_an_entry_of_its_own() -> None:
    """Four members add 25 items, of which several stand at the place of an entry about something else."""
    found = reviewed(REPLIES)
    late = [said for one in added(found) for said in one.members if said.step == "02-challenges"]
    assert len(late) == len(added(found)) == 25
    assert all(one.supporters == (one.members[0].seat,) for one in added(found)), (
        "and nobody is counted who did not see it"
    )


def test_what_is_said_of_an_entry_above_the_list_is_no_finding() -> None:
    """ "B4 “If B3 is accepted” means B1" is a remark on somebody's B4, and would block as a finding."""
    found = reviewed(REPLIES)
    assert [text for _, text in found.unparsed] == ['B4 "If B3 is accepted" and M3b "With B3" mean B1.']
    assert "B5" not in {one.id for one in found.findings}


def test_every_format_shows_what_was_added_as_a_finding_of_its_own(tmp_path: Path) -> None:
    user = User(tmp_path)
    user.write("sessions.md", SPEC_FILE.read_text("utf-8"))
    path = user.write("script.json", json.dumps({**REPLIES, "04-synthesis/chair": "## Summary\n\nTake them up.\n"}))
    ended = user.council("review", "sessions.md", "--speaker", "replay", "--from", path, "--format", "json")
    assert ended.code == 5, ended.err
    report = ended.json
    late = [one for one in report["findings"] if any("02-challenges" in said["turn"] for said in one["members"])]
    assert len(late) == 25
    printed = {
        form: user.council("review", "--session", "last", "--format", form, "--fail-on", "never").out
        for form in ("md", "sarif", "rdjson", "github")
    }
    for one in late:
        assert one["supporters"] == [one["members"][0]["seat"]]
        assert f"\n- **{one['id']}**: " in printed["md"]
        assert f"title={one['id']} ({one['severity']}) by {one['supporters'][0]}::{one['id']}: " in printed["github"]
    (run,) = json.loads(printed["sarif"])["runs"]
    assert {one["id"] for one in late} <= {result["properties"]["id"] for result in run["results"]}
    diagnostics = json.loads(printed["rdjson"])["diagnostics"]
    assert len(diagnostics) == len(run["results"]) == len(report["findings"])
    listed = (user.session / "patchlist.md").read_text("utf-8")
    assert all(f"\n- **{one['id']}**: " in listed for one in late)


# ---- what a member says of its own addition ----

FIRST = {
    f"01-findings/{SEATS[0]}": "## Findings\n\n**HIGH:**\n- H1: The queue has no limit of size. → Bound it.\n"
    "- H2: Nobody is on call. → Name a rota.\n\n**LOW:**\n- L1: The footer is grey on grey. → Darken it.\n",
}


def adding(item: str, *more: tuple[str, str]) -> list[Merged]:
    said = {f"02-challenges/{SEATS[1]}": f"## Rulings\n\nnone\n\n## Findings\n\n**LOW:**\n- L1: {item}\n"}
    return list(reviewed({**FIRST, **said, **dict(more)}).findings)


@pytest.mark.parametrize(
    "words", ["same as H1: it is in the list.", "Same as **H1**.", "duplicate of H1: it is there."]
)
def test_a_member_names_the_entry_that_an_addition_repeats(words: str) -> None:
    one, other, footer = adding(words)
    assert (one.id, one.also, one.supporters) == ("H1", ("L2",), SEATS[:2])
    assert [said.finding.issue for said in one.members][1].lower().startswith(words[:4].lower())
    assert (other.id, footer.id, footer.also, footer.supporters) == ("H2", "L1", (), SEATS[:1]), (
        "the number is its author's, and not the id of another entry"
    )


@pytest.mark.parametrize(
    "words",
    [
        "The queue has no limit of size at all. → Bound the queue.",
        "H1 is right, and the dead letters have no limit of size either. → Bound them too.",
        "different from H1: this one is about dead letters.",
        "same as H1 and H2: nobody looks.",
        "same as H1: but it is also true of the dead letters.",
        "same as H9: it is in the list.",
        "Agree on a limit of size with the operators. → Write it down.",
        "Agree on a limit of size with the operators.",
    ],
)
def test_without_that_it_is_an_entry_of_its_own(words: str) -> None:
    found = adding(words)
    assert [(one.id, one.also, one.supporters) for one in found] == [
        ("H1", (), SEATS[:1]),
        ("H2", (), SEATS[:1]),
        ("L1", (), SEATS[:1]),
        ("L2", (), SEATS[1:2]),
    ]


def test_the_very_same_words_of_the_same_place_are_no_new_finding() -> None:
    found = adding("The footer is grey on grey. → Darken it.")
    assert [(one.id, one.supporters) for one in found][-1] == ("L1", SEATS[:2])


def test_a_later_round_joins_and_splits_what_was_added() -> None:
    addition = "The queue can grow for ever. → Bound it."
    closing = f"03-closing/{SEATS[2]}", "## Rulings\n\n- L2: same as H1: one limit fixes both.\n"
    another = f"03-closing/{SEATS[1]}", "## Rulings\n\n- L2: same as H1: I see it now.\n"
    assert [one.id for one in adding(addition, closing)] == ["H1", "H2", "L1", "L2"], "who found neither does not join"
    assert [one.id for one in adding(addition, closing, another)] == ["H1", "H2", "L1"]
    named = "same as H1: it is in the list."
    split = f"03-closing/{SEATS[2]}", "## Rulings\n\n- L2: different from H1: it is about another queue.\n"
    assert [one.id for one in adding(named)] == ["H1", "H2", "L1"]
    assert [one.id for one in adding(named, split)] == ["H1", "H2", "L1", "L2"]


def test_findings_that_come_first_in_the_challenge_are_entries_of_their_own_too() -> None:
    item = "## Rulings\n\nnone\n\n## Findings\n\n**LOW:**\n- L1: The queue has no limit of size{}. → Bound it.\n"
    nothing = {f"01-findings/{seat}": "## Findings\n\nNo findings.\n" for seat in SEATS}
    late = {f"02-challenges/{seat}": item.format(" at all" * at) for at, seat in enumerate(SEATS)}
    assert len(reviewed({**nothing, **late}).findings) == len(SEATS)


def test_a_ruling_on_an_entry_that_did_not_stand_in_the_list_yet_is_shown_and_counts_for_nothing() -> None:
    guess = f"02-challenges/{SEATS[2]}", "## Rulings\n\n- L2: agree: I saw it too.\n- H2: same as H9: one fault.\n"
    said = {f"02-challenges/{SEATS[1]}": "## Findings\n\n**LOW:**\n- L1: Nothing is logged. → Log it.\n"}
    found = reviewed({**FIRST, **said, **dict([guess])})
    assert [one.supporters for one in found.findings if one.id == "L2"] == [SEATS[1:2]]
    assert [text for _, text in found.unparsed] == ["L2: agree: I saw it too.", "H2: same as H9: one fault."]


def test_two_items_under_one_number_are_two_unless_one_says_nothing_more() -> None:
    for pair in SIMILAR:
        for how in ("quote", "lines", "none"):
            both = f"## Findings\n\n{pair.item(0, how)}{pair.item(1, how).partition(chr(10))[2]}"
            found = reviewed({f"01-findings/{SEATS[0]}": both}, pair.document)
            assert {one.issue for one in found.findings} == {f"{issue}." for issue in pair.issues}


# ---- generated replies ----

WORDS = [f"{one.said.finding.issue} → {one.said.finding.change}" for path in PAIRS for one in labelled(path)]
WORDS += [f"{issue}. → {change}." for pair in SIMILAR for issue, change in zip(pair.issues, pair.changes, strict=True)]
OPENINGS = [
    "", "", "", '(sessions.md) "A token never expires" ', "(sessions.md:21) ", "same as B1: ", "different from H1: ",
    "Agree on this: ", "Disagreement is likely. ", "withdrawn tokens are kept. ", "Verdict: ",
]  # fmt: skip
ITEMS = st.lists(
    st.tuples(st.sampled_from(SEVERITIES), st.sampled_from(OPENINGS), st.sampled_from(WORDS)),
    max_size=6,
    unique_by=lambda one: one[2],
)
SPOKEN = st.lists(
    st.tuples(
        st.sampled_from(["B1", "B2", "H1", "H2b", "M1", "L1", "L9"]),
        st.sampled_from(
            ["agree", "disagree with concern: it costs", "same as B1: one", "different from H1", "perhaps"]
        ),
    ),
    max_size=5,
    unique_by=lambda one: one[0],
)


def reply(items: list[tuple[str, str, str]], spoken: list[tuple[str, str]] | None) -> str:
    lines = [] if spoken is None else ["## Rulings", "", *(f"- {id}: {words}" for id, words in spoken), ""]
    lines += ["## Findings", ""]
    for severity in SEVERITIES:
        own = [f"{opening}{words}" for grave, opening, words in items if grave == severity]
        lines += [f"**{severity.upper()}:**"] if own else []
        lines += [f"- {severity[0].upper()}{number}: {words}" for number, words in enumerate(own, 1)] + [""]
    return "\n".join([*lines, *(["No findings."] if not items else []), ""])


@given(
    first=st.fixed_dictionaries(dict.fromkeys(SEATS, ITEMS)),
    second=st.fixed_dictionaries(dict.fromkeys(SEATS, st.tuples(ITEMS, SPOKEN))),
)
@settings(max_examples=60, deadline=None)
def test_nothing_of_a_generated_reply_is_hidden(
    first: dict[str, list[tuple[str, str, str]]],
    second: dict[str, tuple[list[tuple[str, str, str]], list[tuple[str, str]]]],
) -> None:
    replies = {f"01-findings/{seat}": reply(items, None) for seat, items in first.items()}
    replies |= {f"02-challenges/{seat}": reply(*said) for seat, said in second.items()}
    found = reviewed(replies)
    assert list(unlisted(found, replies)) == []
    text = formats.render("md", Review("Review", "s", findings=found.findings, unparsed=found.unparsed))
    assert all(f"**{one.id}**" in text for one in found.findings)
