"""A whole consensus of eight rounds: a concern is opened, answered, opened again, and accepted by a person."""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Any
from unittest import mock

import pytest

from council.engine import planner
from council.mcp_server import debate, states
from council.record import session as sessions
from council.reports.concerns import list_shown
from council.web import views
from tests import schemas
from tests.debates import brief, facts, record
from tests.helpers import User, script

PII = "PII is logged in clear by the gateway."
SEATS = ("database", "observability", "operations", "test", "security")
APPEAL = "01-debate-r07-3-appeal/human"
ACCEPTED = (
    "## Decision\ncontinue\n\n## Option\nnone\n\n## Grant\n0\n\n## Reason\nI accept C1: the log is deleted daily.\n"
)
CLERK = """## Overview
Mute state is in the database.

## Responsibilities
none

## Interfaces
none

## Performance targets
none

## Implementation notes
none

## Open questions
none

## Dissents
- Security: PII is logged in clear by the gateway, in the traces too.
"""
BLOCKING = {
    "security": {1: PII, 2: f"C1: {PII}", 5: "C1: in the traces too", 6: "C1", 7: "C1", 8: "C1"},
    "operations": {6: "No runbook exists for a full disk.", 7: "C2"},
}
RATIONALE = {("security", 3): "C1 is answered by Database: the fields are hashed.", ("database", 3): "C1: I hash them."}


def propose(seat: str, round: int) -> str:
    blocking = BLOCKING.get(seat, {}).get(round, "")
    score = 92 if round == 8 else 62 + 3 * min(round, 6)
    return "\n\n".join(
        f"## {title}\n{text}"
        for title, text in {
            "Proposal": f"Version {round} of {seat}: rows are kept for {round} days.", "Satisfaction score": score,
            "Rationale": RATIONALE.get((seat, round), f"Reason {round}."),
            "Blocking": f"- {blocking}" if blocking else "none", "Suggested changes": "none",
            "Performance impact": "none", "Fundamental": "no", "Gist": f"Version {round}.",
        }.items()
    )  # fmt: skip


@pytest.fixture(scope="module")
def user(tmp_path_factory: pytest.TempPathFactory) -> User:
    made = User(tmp_path_factory.mktemp("user"))
    said = {f"01-debate-r{n:02}-1-propose/{seat}": propose(seat, n) for seat in SEATS for n in range(1, 9)}
    said["01-debate-r07-2-escalate/clerk"] = "## Tension\nHash or delete.\n\n## Options\n- A) Hash\n- B) Delete\n"
    said["01-debate-r07-2-escalate/clerk"] += "\n## Recommendation\nA.\n"
    said |= {"02-synthesis-r01/clerk": CLERK, "02-synthesis-r02/clerk": CLERK}
    replay = ("--speaker", "replay", "--from", script(made, said))
    assert made.council("consensus", "Where is mute state?", "--only=database", *replay).code == 8
    (made.root / "waiting.json").write_bytes((made.session / "state.json").read_bytes())
    record(made, APPEAL, ACCEPTED)
    ended = made.council("recover", *replay)
    assert ended.code == 0, ended.text
    return made


@pytest.fixture
def session(user: User) -> Path:
    return user.session


def ledger(session: Path) -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = json.loads((session / "convergence.json").read_text("utf-8"))["ledger"]
    return found


def test_the_ledger_has_the_whole_course_of_each_concern(session: Path) -> None:
    first, second = ledger(session)
    assert [(one["what"], one["round"], one["seat"]) for one in first["history"]] == [
        ("opened", 1, "security"), ("repeated", 2, "security"), ("answered", 3, "security"),
        ("reopened", 5, "security"), ("repeated", 6, "security"), ("repeated", 7, "security"),
        ("accepted", 7, "human"), ("repeated", 8, "security"),
    ]  # fmt: skip
    assert first["history"][2]["by"] == "01-debate-r03-1-propose/database"
    assert (first["status"], first["settled"]["turn"]) == ("accepted", APPEAL)
    assert (second["id"], second["owner"], second["status"]) == ("C2", "operations", "withdrawn")


def test_a_brief_lists_what_is_open_and_from_round_8_on_what_blocks(session: Path) -> None:
    assert "concerns" not in brief(session, "01-debate-r01-1-propose/database")
    assert f"C1 (blocking): {PII}\n" in brief(session, "01-debate-r02-1-propose/database")
    assert "# Open concerns" not in brief(session, "01-debate-r04-1-propose/database")
    assert "(now: in the traces too)\n" in brief(session, "01-debate-r06-1-propose/database")
    last = brief(session, "01-debate-r08-1-propose/database")
    assert "# Blocking concerns: what is in the way of agreement" in last
    assert "C2 (blocking): No runbook exists for a full disk.\n" in last
    assert "C1 (blocking)" not in last


def test_an_owner_who_repeats_the_words_of_the_ledger_is_no_echo(session: Path) -> None:
    own = brief(session, "01-debate-r08-1-propose/operations")
    marked = own[own.index("C2 (blocking)") - 60 : own.index("C2 (blocking)")]
    key = marked.partition('key="')[2].partition('"')[0]
    assert f'key="{key}"' in own[own.rindex("Your own words are those marked") :]


def test_the_outcome_follows_from_the_ledger(session: Path) -> None:
    found = facts(session)
    assert (found["outcome"], found["blocking"], found["converged"]) == ("consensus", {}, True)
    document = (session / "decision.md").read_text("utf-8")
    assert "accepted by consensus after 8 rounds; Security blocked, which a person accepted\n" in document
    assert "2 concerns: 2 blocking (1 withdrawn, 1 accepted by a person).\n" in document
    row = next(line for line in document.splitlines() if line.startswith("| C1 |"))
    assert row.endswith(f"| accepted by a person (it was opened again before): `{APPEAL}` |")
    assert row.startswith(f"| C1 | {PII} (now: in the traces too) (blocking) | ")
    assert "`01-debate-r01-1-propose/security`" in row
    assert f"accepted by a person (it was opened again before): `{APPEAL}` |" in (session / "transcript.md").read_text(
        "utf-8"
    )


def test_a_rise_is_explained_by_a_concern_that_was_settled(user: User, session: Path) -> None:
    moves = {(one["seat"], one["round"]): one for one in facts(session)["flips"]}
    assert (moves["operations", 8]["kind"], moves["operations", 8]["concerns"]) == ("explained", ["C2"])
    assert moves["database", 8]["kind"] == "unexplained"
    shown = user.council("show", session.name, "--json").json
    schemas.check("show", shown)
    assert shown["ledger"] == ledger(session)


def test_the_state_says_the_same(user: User, session: Path) -> None:
    waiting, state = (
        json.loads(path.read_text("utf-8")) for path in (user.root / "waiting.json", session / "state.json")
    )
    schemas.state().validate(waiting)
    schemas.state().validate(state)
    assert state["ledger"] == ledger(session)
    assert (waiting["status"], waiting["current_round"], len(waiting["rounds"])) == ("checkpoint", 7, 6)
    assert (waiting["outcome"], waiting["synthesis"]) == (None, None)
    assert (state["status"], state["current_round"], state["max_rounds"]) == ("complete", 8, 10)
    assert [one["seat"] for one in state["perspectives"]] == list(SEATS)
    third = state["rounds"][2]
    assert (len(third["arguments"]), len(third["rebuttals"])) == (0, 5)
    assert third["rebuttals"][-1]["responding_to"] == ["database"]
    assert "I accept C1" in state["rounds"][6]["human_guidance"]
    assert state["scores"] == dict.fromkeys(SEATS, 92)


def test_pages_show_it_with_links_to_the_turns(user: User, session: Path) -> None:
    shown = views.session(session)
    assert shown["concerns"]["summary"] == "2 concerns: 2 blocking (1 withdrawn, 1 accepted by a person)."
    first, second = shown["concerns"]["rows"]
    assert (first["id"], first["label"], first["turn"], first["round"]) == (
        "C1", "Security (Rook)", "01-debate-r01-1-propose/security", 1,
    )  # fmt: skip
    assert (first["ended"], first["settled"], first["more"]) == ("accepted by", APPEAL, "opened again before")
    assert (second["ended"], second["settled"]) == ("withdrawn by", "01-debate-r08-1-propose/operations")
    text = user.council("show", session.name, "--html").out
    assert '<details class="round" id="concerns">' in text, "folded, since nothing is open"
    place = text.index('id="concerns"')
    for part in (PII, f'accepted by <a href="#{APPEAL}">', "opened again before", "No runbook"):
        place = text.index(part, place)


def test_an_assistant_is_told_the_counts_and_what_is_open(user: User, session: Path) -> None:
    with mock.patch.dict(os.environ, user.environment):
        told = debate.status({"session": session.name}, mock.Mock())
    assert (told.facts["concerns"], told.facts["open_concerns"]) == ({"accepted": 1, "withdrawn": 1}, [])
    assert "concerns: 1 accepted, 1 withdrawn\n" in told.text
    over = sessions.open_(session)
    over.read_turns()
    said = {id: turn for id, turn in over.said.items() if id < "01-debate-r02"}
    begun = states.describe_concerns(over, planner.plan(over.workflow, said, over.metadata["seed"]))
    assert begun == {"concerns": {"open": 1}, "open_concerns": [f"C1 (blocking), Security (Rook): {PII}"]}


def test_an_objection_that_is_only_an_id_is_written_out(session: Path) -> None:
    found = views.session(session)["verdict"]
    assert found["dissent"]["text"] == PII
    document = (session / "decision.md").read_text("utf-8")
    assert "C1”" not in document
    assert "02-synthesis-r02" not in str(list(session.glob("turns/*"))), (
        "the synthesis keeps it, and need not be asked again"
    )


def test_what_is_open_comes_first_and_of_that_what_blocks() -> None:
    def concern(number: int, kind: str, status: str) -> dict[str, Any]:
        turn = {"turn": f"01-positions/{number}", "round": 1, "by": None}
        return {
            "id": f"C{number}", "kind": kind, "status": status, "text": "Why?", "wordings": ["Why?"], "owner": "a",
            "label": "A", "opened": turn, "settled": turn if status != "open" else None, "held_by": [], "history": [],
        }  # fmt: skip

    raised = [("risk", "answered"), ("risk", "open"), ("blocking", "open"), ("blocking", "withdrawn")]
    shown = list_shown([concern(number, *one) for number, one in enumerate(raised, 1)], {"01-positions/1": "Ada"})
    assert [(one.id, one.tone) for one in shown] == [
        ("C3", "disagree"), ("C2", "mixed"), ("C1", "agree"), ("C4", "agree"),
    ]  # fmt: skip
    assert (shown[2].ended, shown[2].settled_by, shown[0].settled) == ("answered, says", "Ada", "")
