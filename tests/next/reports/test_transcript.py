"""The transcript: a card that says no more than was counted, everybody's words, and who was not heard."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from council.next.engine.planner import Due
from council.next.engine.scene import Recorded
from council.next.record.session import Session
from council.next.reports.build import build
from tests.next.protocols.held import signs
from tests.next.reports.debates import begin, held, hold

MEMBERS = ["architect", "designer", "engineer", "researcher"]
ONE = {"all": signs("R1")}


def transcript(session: Session) -> str:
    build(session)
    return (session.folder / "transcript.md").read_text("utf-8")


def debate(root: Path, most: int = 999, topic: str = "Redis or not?\n", **votes: Any) -> str:
    session = begin(root, "Debate", MEMBERS, topic)
    return transcript(hold(session, held(session, **votes), most))


def test_who_is_absent_and_who_cannot_be_read_is_named(tmp_path: Path) -> None:
    votes = {**ONE, "R": None, "D": "I agree with everybody.\n\n## Signs\nR1 or R2"}
    text = debate(tmp_path, challenges=votes, closing=votes)
    assert "- **Researcher (Ava) was absent:** no answer (02-challenges/researcher)" in text
    assert "- **Designer (Aditi):** spoke, signs unreadable (" in text
    assert "*(absent: no answer)*" in text
    # What could not be read as an answer is still there as words.
    assert "\\## Signs\nR1 or R2" in text
    assert '*(Still wrong after one more try: "## Signs": ' in text


def test_a_first_reply_with_other_words_is_kept(tmp_path: Path) -> None:
    session = begin(tmp_path, "Debate", MEMBERS)
    whole = held(session, challenges=ONE)

    def speak(due: Due) -> Recorded:
        if due.id == "02-challenges/engineer":
            return Recorded("My long argument about queues.\n\n## Signs\nwhatever is best")
        return Recorded("Sorry.\n\n## Signs\nR1") if due.id == "02-challenges/engineer.2" else whole(due)

    text = transcript(hold(session, speak))
    for words in ("My long argument about queues.", "\\## Signs\nwhatever is best", "Sorry.", "↳ signs R1\n"):
        assert words in text


@pytest.mark.parametrize(
    ("votes", "label", "confidence"),
    [
        ({"challenges": {"A": signs("R1"), "D": signs("R1"), "E": signs("R3"), "R": signs("R3")}},
         "The writer's opinion, as no answer leads", "low (the writer says high;"),
        ({"challenges": {"all": signs("undecided", "all of it")}},
         "The writer's opinion, as no majority agrees", "low (the writer says high;"),
        ({"challenges": {**ONE, "R": signs("R4")}}, "Answer", "medium (the writer says high;"),
        ({"challenges": ONE}, "Answer", "high\n"),
    ],
)  # fmt: skip
def test_the_card_says_no_more_than_was_counted(
    votes: dict[str, Any], label: str, confidence: str, tmp_path: Path
) -> None:
    written = {"chair": {"answer": "Take Redis.", "confidence": "high"}}
    text = debate(tmp_path, **votes, closing=votes["challenges"], synthesis=written)
    assert f"**{label}:** Take Redis." in text
    assert f"- **Confidence:** {confidence}" in text


def test_whether_a_third_round_was_needed_is_said_with_its_reason(tmp_path: Path) -> None:
    assert "**Round 3 skipped: nobody opposes; 4 of 4 sign R1 without a condition" in debate(
        tmp_path / "1", challenges=ONE
    )
    text = debate(tmp_path / "2", challenges={**ONE, "R": signs("R4")})
    assert "**Round 3 needed: researcher opposes" in text
    assert "### Round 3: Closing" in text


def test_what_moved_a_member_is_quoted_with_its_turn(tmp_path: Path) -> None:
    true = "architect speaks in round 1 of positions"
    challenges = {**ONE, "D": signs("R1", moved_by=true), "E": signs("R1", moved_by="nobody ever said this here")}
    text = debate(tmp_path, challenges=challenges)
    assert f"↳ signs R1; moved by Architect (Serena) (01-positions/architect): {true}" in text
    assert "↳ signs R1; moved by words that nobody had said: nobody ever said this here" in text


def test_a_move_without_a_reason_is_called_that(tmp_path: Path) -> None:
    text = debate(tmp_path, challenges={**ONE, "R": signs("R4")}, closing=ONE)
    assert "| Researcher (Ava) | recommends R4; normative no | signs R4 | signs R1; moved, no reason given |" in text


def test_a_debate_that_goes_on_says_what_is_to_come(tmp_path: Path) -> None:
    text = debate(tmp_path, most=8, challenges={**ONE, "R": signs("R4")})
    assert "- **Outcome:** none yet, 4 turns to come (03-closing/architect, " in text
    assert "the votes so far give: agreed with dissent" in text
    assert "**Answer:**" not in text


def test_a_question_of_several_lines_is_whole_and_its_first_line_is_the_heading(tmp_path: Path) -> None:
    text = debate(tmp_path, topic="\n# Redis, or not?\n\nOur page is slow.\n", challenges=ONE)
    assert text.startswith("## Council Debate: \\# Redis, or not?\n")
    assert "### Question\n\n\\# Redis, or not?\n\nOur page is slow.\n" in text


def test_a_replay_is_called_one_and_a_debate_is_not(tmp_path: Path) -> None:
    assert "*(This is a replay: 9 of 9 turns are recorded replies" in debate(tmp_path / "1", challenges=ONE)
    session = begin(tmp_path / "2", "Debate", MEMBERS, replay_of="20260101-120000-bbbbbbbb")
    speak = held(session, challenges=ONE)
    assert "replay" not in transcript(hold(session, speak, speaker="api")).replace("| replay", "")
