"""The verdict: one answer that never claims more than the count, and who stood where, drawn the same everywhere."""

from __future__ import annotations

from pathlib import Path

import pytest

from council import text_width
from council.protocols.stances import Standing
from council.record.session import open_
from council.reports.model import Transcript
from council.reports.tally import find_wrong_claim, split_sentences
from council.reports.transcript import compose
from council.reports.verdict import opening
from council.terminal.markdown import Paint
from council.terminal.transcript import card
from tests.growth import compare
from tests.helpers import User, agreed, disputed, script, summary
from tests.recordings import composed as recorded


def held(tmp_path: Path, words: dict[str, str]) -> Transcript:
    """A debate of these words, composed."""
    user = User(tmp_path)
    ended = user.council("run", "Shall we?", "--speaker", "replay", "--from", script(user, words))
    assert ended.code == 0, ended.err
    found = open_(user.session)
    found.read_turns()
    return compose(found, found.plan())


def stances(words: dict[str, str], **said: str) -> dict[str, str]:
    """The same words with other stances in the second and the third round."""
    changed = dict(words)
    for seat, stance in said.items():
        for turn in (f"02-challenges/{seat}", f"03-closing/{seat}"):
            if turn in changed:
                changed[turn] = f"I say so.\n\n## Stance\n{stance}\n\n## Blocking\nnone"
    return changed


# ---- the answer ----


def test_a_majority_is_answered_in_the_words_of_the_synthesis(tmp_path):
    verdict = recorded("debate-complete", tmp_path).verdict
    assert (verdict.answer, verdict.carried) == ("Keep one database.", True)
    assert (verdict.outcome, verdict.tally) == ("agreed with dissent", "3 of 4 agree")
    assert (verdict.dissent.label, verdict.dissent.turn) == ("Engineer (Marcus)", "03-closing/engineer")
    assert [one.text for one in verdict.blocking] == ["The restore is untested."]


@pytest.mark.parametrize("said", ["disagree", "mixed"])
def test_without_a_majority_no_answer_leads_whatever_the_synthesis_claims(said, tmp_path):
    words = disputed() | {"04-synthesis-r01/chair": summary(), "04-synthesis-r02/chair": summary()}
    words = stances(words, architect=said, designer=said, engineer=said, researcher="agree")
    verdict = held(tmp_path, words).verdict
    assert "Keep one database." in verdict.path
    assert not verdict.carried
    lack = "Most disagree" if said == "disagree" else "No answer leads"
    assert verdict.answer == f"{lack}: 1 agree and 3 {said}, of 4."
    assert verdict.tally == "no majority"
    assert verdict.path_title == "What the chair thinks, though no majority does"


def test_an_answer_of_their_own_begins_with_it(tmp_path):
    verdict = recorded("delphi-complete", tmp_path).verdict
    assert verdict.answer == "No: All of them say no now."
    assert (verdict.tally, verdict.confidence) == ("5 of 5 say no", "high")


def test_where_nobody_voted_the_verdict_says_so(tmp_path):
    verdict = recorded("quick-replayed", tmp_path).verdict
    assert (verdict.answer, verdict.tally, verdict.tone) == (
        "Look for another one.",
        "no stance was asked for",
        "silent",
    )


def test_a_review_is_answered_by_what_is_still_open(tmp_path):
    debate = recorded("patchlist-complete", tmp_path)
    assert debate.verdict.answer == "3 findings: 2 blocking and 1 high; B2 is contested."
    assert [part.tone for part in debate.sections["patchlist"].parts][:2] == ["blocking", "high"]


def test_a_debate_that_is_not_over_has_decided_nothing(tmp_path):
    verdict = recorded("debate-by-hand", tmp_path).verdict
    assert verdict.answer == "Not decided yet: challenges is waiting for Architect (Serena)."
    assert (verdict.outcome, verdict.carried) == ("not finished", False)


@pytest.mark.parametrize(
    ("said", "wrong"),
    [
        ("All four agree: keep one database.", True),
        ("We all agreed to keep one database.", True),
        ("All of the members agree.", True),
        ("Not all four agree.", False),
        ("Almost all agree.", False),
        ("All three agree on one database.", False),
        ("All but one agree.", False),
    ],
)
def test_agreement_of_all_is_claimed_in_other_words_too(said, wrong):
    now = Standing("", "", {"a": "agree", "b": "agree", "c": "agree", "d": "disagree"}, {}, ())
    assert bool(find_wrong_claim(now, said)) is wrong


def test_before_the_first_vote_nothing_says_that_none_was_taken(tmp_path):
    assert recorded("debate-between-rounds", tmp_path).verdict.tally == ""


# ---- who stood where ----


def test_the_grid_shows_who_moved_and_how(tmp_path):
    grid = recorded("delphi-complete", tmp_path).verdict.grid
    rows = {
        row.seat: [(cell.text, cell.tone, cell.moved_from, cell.moved_how) for cell in row.cells] for row in grid.rows
    }
    assert rows["architect"] == [("yes", "disagree", "", ""), ("no", "agree", "yes", "persuaded")]
    assert rows["engineer"] == [("no", "agree", "", ""), ("no", "agree", "", "")]
    assert grid.columns == ("Positions", "Challenge")


def test_scores_stand_in_the_grid_as_they_were_given(tmp_path):
    grid = recorded("consensus-granted", tmp_path).verdict.grid
    assert [cell.text for cell in grid.rows[0].cells] == ["40", "40", "40", "70", "95"]


def test_who_was_absent_is_in_the_grid(tmp_path):
    grid = recorded("quick-quorum", tmp_path).verdict.grid
    assert {row.seat: row.cells[0].tone for row in grid.rows} == {
        "architect": "spoke", "designer": "absent", "engineer": "spoke", "researcher": "absent",
    }  # fmt: skip


# ---- the card ----


@pytest.mark.parametrize("name", ["debate-complete", "delphi-complete", "consensus-granted", "planning-1-complete"])
@pytest.mark.parametrize("columns", [40, 80, 120])
@pytest.mark.parametrize("colour", [True, False])
def test_the_card_fits_the_window(name, columns, colour, tmp_path):
    debate = recorded(name, tmp_path)
    shown = card(debate, Paint(columns, colour))
    plain = text_width.STYLE.sub("", shown)
    assert max(map(text_width.width, plain.splitlines())) < columns
    assert (shown != plain) is colour
    assert "Verdict" in plain
    assert " ".join(debate.verdict.answer.split()) in " ".join(plain.split())
    assert all(row.label in plain for row in debate.verdict.grid.rows)
    assert len(plain.splitlines()) <= 24


def test_the_card_says_the_same_in_signs_as_in_colours(tmp_path):
    shown = card(recorded("delphi-complete", tmp_path), Paint(80)).splitlines()
    assert "  Architect (Serena)  ○ →●" in shown
    assert "  Engineer (Marcus)   ●  ●" in shown
    assert "  ● no, ○ yes, → moved" in shown
    assert "Outcome: agreed · 5 of 5 say no · confidence: high" in shown


def test_a_run_ends_with_the_card_on_a_terminal_alone(tmp_path):
    user = User(tmp_path)
    ended = user.council("run", "Shall we?", "--speaker", "replay", "--from", script(user, agreed()))
    assert "**Outcome:** agreed (4/4 agree)" in ended.out
    assert "Verdict" not in ended.out


# ---- sentences ----


STEPS = "1. Run EXPLAIN on them.\n2. Put Redis in front."


@pytest.mark.parametrize(
    ("text", "first"),
    [
        ("Keep it. Then measure.", "Keep it. Then measure."),
        ("Keep it.\nThen measure.\n\nNobody asked why.", "Keep it. Then measure."),
        ("## Path\n\n**Keep** `redis`, e.g. for reads.\n### Why\nIt is there.", "Keep redis, e.g. for reads."),
        (STEPS, "1. Run EXPLAIN on them. 2. Put Redis in front."),
        (STEPS.replace("\n", "\n\n") + "\n\nThat is all.", "1. Run EXPLAIN on them. 2. Put Redis in front."),
        (f"In this order:\n\n{STEPS}\n\nThat is all.", "In this order: 1. Run EXPLAIN on them. 2. Put Redis in front."),
        ("no end at all", "no end at all"),
        ("word " * 500, ("word " * 500).strip()),
        ("```\nmake\n```\n\nThat is all.", ""),
        ("As in this table:\n\n| a | b |\n|---|---|", ""),
        ("## Path", ""),
        ("", ""),
    ],
)
def test_an_answer_is_a_whole_paragraph_or_none(text, first):
    assert opening(text) == first


def test_a_sentence_does_not_begin_in_one_paragraph_and_end_in_another():
    text = "## All agree\n\nThis is\none.\n\nOn what\n- four of them\n- agree\n\n| x |\nis open"
    assert list(split_sentences(text)) == ["This is one.", "On what", "four of them", "agree", "is open"]


@pytest.mark.parametrize("text", ["word ", "どれも。", "A. ", ". ", "- x\n"])
def test_ten_times_as_long_a_text_takes_about_ten_times_as_long(text):
    """Wherever its sentences end, and if none ever does."""

    def read(times: int) -> None:
        assert list(split_sentences(text * times))

    assert compare(lambda: read(4_000), lambda: read(400), most=30) <= 30


def test_sentences_lose_no_word():
    text = "One. Two is e.g. this.\nThree\n\n- four. Five"
    assert " ".join(split_sentences(text)).split() == text.replace("- ", "").split()


# ---- what the transcript says ----


def test_a_synthesis_without_a_majority_is_an_opinion(tmp_path):
    words = disputed() | {"04-synthesis-r01/chair": summary(), "04-synthesis-r02/chair": summary()}
    held(tmp_path, stances(words, architect="mixed", designer="mixed", engineer="mixed", researcher="agree"))
    session = User(tmp_path).session
    counted = "No answer leads: 1 agree and 3 mixed, of 4."
    head = (session / "transcript.md").read_text("utf-8").partition("### Round 1")[0]
    assert f"**Answer:** {counted}\n**Outcome:** " in head
    synthesis = (session / "synthesis.md").read_text("utf-8")
    assert f"### Council Synthesis\n\n*({counted} This synthesis is the chair's opinion.)*\n\n" in synthesis


def test_a_synthesis_with_a_majority_needs_no_preface(tmp_path):
    debate = recorded("debate-complete", tmp_path)
    assert debate.synthesis.preface == ""
