"""Who should sit: what an analysis says of the list of specialists, and who speaks and is named because of it."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from council.errors import UsageError
from council.protocols.specialists import read_seating
from council.runner import start
from council.runner.start import Request
from council.workflow.model import Seat, Workflow
from tests.debates import brief, text
from tests.helpers import User, derived_of, script, without_head
from tests.scenes import absent, scene, turn
from tests.scripted import Played, Script, play, workflow

ALWAYS = ["observability", "operations", "test", "security"]
LIST = (
    Seat("database", "domain"),
    Seat("media-handler", "domain"),
    Seat("payments", "domain", {"title": "Payments and billing"}),
)
SATISFIED: dict[str, Any] = {
    "proposal": "So.", "satisfaction_score": 95, "rationale": "Good.", "blocking": [], "suggested_changes": [],
    "performance_impact": "none", "fundamental": "no", "gist": "Good.",
}  # fmt: skip


def analysed(*specialists: str, of: Workflow | None = None, **turns: Any) -> Played:
    """A debate that begins with this analysis, and in which all are satisfied at once unless `turns` says otherwise."""
    said = {"parts": ["Signaling: a message"], "specialists": list(specialists), "why": "It is a message."}
    lines = {"impact/clerk": said, "propose/*": SATISFIED, **turns}
    return play(Script("analysed", "", of or workflow("consensus"), "seed", 0.0, lines))


def proposers(debate: Played) -> dict[int, list[str]]:
    rounds: dict[int, list[str]] = {}
    for due in (due for batch in debate.batches for due in batch if due.step.name == "propose"):
        rounds.setdefault(due.round, []).append(due.seat.name)
    return rounds


# ---- what an analysis says ----


@pytest.mark.parametrize(
    ("items", "seated", "unknown"),
    [
        (("Database: it stores the state",), {"database": "it stores the state"}, ()),
        (("**Database**: rows", "media handler - sends it"), {"database": "rows", "media-handler": "sends it"}, ()),
        (("Payments (invoices change)",), {"payments": "invoices change"}, ()),
        (("payments and billing",), {"payments": ""}, ()),
        (("Database and Media Handler: both",), dict.fromkeys(("database", "media-handler"), "both"), ()),
        (("Database: rows", "Database: again"), {"database": "rows"}, ()),
        (("Database: rows", "Blockchain: why not"), {"database": "rows"}, ("Blockchain",)),
        (("Database: rows", "Security: always"), {"database": "rows"}, ()),
        (("Data: rows", "Database: rows"), {"database": "rows"}, ("Data",)),
    ],
)  # fmt: skip
def test_what_an_analysis_says_of_a_list(items, seated, unknown):
    found = read_seating(LIST, with_groups(turn("clerk", "impact/impact", specialists=items)), "impact.specialists")
    assert found is not None
    assert (dict(found.seated), found.unknown, found.all_of) == (seated, unknown, "")
    assert {seat.name for seat in found.left_out} == {seat.name for seat in LIST} - set(seated)


@pytest.mark.parametrize(
    ("said", "why"),
    [
        (turn("clerk", "impact/impact", specialists=("Blockchain: why not",)), "names nobody on the list"),
        (turn("clerk", "impact/impact", specialists=()), "names nobody on the list"),
        (turn("clerk", "impact/impact", asked="specialists"), "spoke, specialists unreadable"),
        (absent("clerk", "impact/impact", asked="specialists"), "was not heard"),
    ],
)
def test_an_analysis_that_names_nobody_seats_all_and_says_why(said, why):
    found = read_seating(LIST, with_groups(said), "impact.specialists")
    assert found is not None
    assert [*found.seated] == [seat.name for seat in LIST]
    assert (found.left_out, found.all_of) == ((), f"the analysis {why}")


def test_without_an_analysis_nothing_is_said():
    assert read_seating(LIST, with_groups(), "impact.specialists") is None


def with_groups(*turns: Any) -> Any:
    return replace(scene(*turns), groups={"domain": LIST, "crosscutting": (Seat("security", "crosscutting"),)})


# ---- who speaks ----


def test_only_those_who_were_named_speak_and_the_four_after_them():
    debate = analysed("Protocol: defines it", "Media Handler: reacts")
    (seats,) = proposers(debate).values()
    assert (set(seats[:-4]), seats[-4:]) == ({"protocol", "media-handler"}, ALWAYS)
    assert debate.end.scene.outcomes == {"impact": "chosen", "debate": "consensus", "synthesis": "complete"}
    (said,) = [note.verdict.reason for note in debate.end.notes if note.kind == "ended" and note.phase == "impact"]
    assert said == "media-handler and protocol, of 6 on the list"


def test_those_who_sit_are_shuffled_like_the_whole_group():
    unhappy = {**SATISFIED, "satisfaction_score": 50}
    rising = {f"propose/{round}/*": {**unhappy, "satisfaction_score": 50 + 3 * round} for round in range(1, 5)}
    short = workflow("consensus").with_options({"max_rounds": "4", "escalation": False})
    rounds = proposers(analysed("Protocol: a", "Database: b", "Meeting Controller: c", of=short, **rising))
    assert [now for now in range(2, 5) if rounds[now] != rounds[now - 1]] == [4]
    assert {tuple(sorted(seats[:-4])) for seats in rounds.values()} == {("database", "meeting-controller", "protocol")}


@pytest.mark.parametrize("silent", [{"absent": "gone"}, "I would rather not say."])
def test_whoever_cannot_be_heard_leaves_the_whole_list_seated(silent):
    debate = analysed(**{"impact/clerk": silent, "impact/clerk.2": silent})
    (seats,) = proposers(debate).values()
    assert (len(seats), debate.end.scene.outcomes["impact"]) == (10, "everybody")


def test_turns_are_named_as_without_an_analysis():
    plain = analysed(of=workflow("consensus").with_options({"analysis": False}))
    assert {*analysed("Protocol: x").said} - {*plain.said} == {"00-impact/clerk"}


# ---- who says who sits ----


def asked(**given: Any) -> Workflow:
    return start.workflow_of(Request("Shall we?", "consensus", **given))


@pytest.mark.parametrize(
    ("given", "analysis", "members"),
    [
        ({}, True, 6),
        ({"with_": ("security",)}, True, 6),
        ({"with_": ("engineer",)}, False, 7),
        ({"only": ("database,test",)}, False, 1),
        ({"only": ("deployment",)}, False, 1),
        ({"options": {"analysis": False}}, False, 6),
        ({"without": ("database",)}, True, 5),
        ({"with_": ("engineer",), "options": {"analysis": True}}, True, 7),
    ],
)
def test_who_names_the_seats_needs_no_analysis(given, analysis, members):
    found = asked(**given)
    assert (found.options["analysis"], len(found.members)) == (analysis, members)
    assert [seat.name for seat in found.table[-4:]] == ALWAYS


def test_the_four_alone_are_no_debate_of_specialists():
    with pytest.raises(
        UsageError, match="security and test: these sit in every consensus; name another member with --only"
    ):
        asked(only=("security,test",))


# ---- on disk ----


@pytest.fixture
def user(tmp_path: Path) -> User:
    return User(tmp_path)


def test_a_session_names_only_those_who_sit_and_replays_from_its_files(user):
    debate = analysed("Protocol: defines it", "Media Handler: reacts", "Blockchain: why not")
    script(user, {id: one.body for id, one in debate.said.items()})
    replay = ("--speaker", "replay", "--from", user.work / "script.yaml")
    begun = user.council("run", "-w", "consensus", *replay, "Shall we?")
    assert begun.code == 0, begun.err
    assert "and those whom an analysis chooses from Global Controller, Meeting Controller" in begun.out
    told = "media-handler and protocol, of 6 on the list; not on the list, so not seated: Blockchain"
    assert f"**Impact ended (chosen):** {told}." in begun.out
    session = user.session
    assert "- Database: " in brief(session, "00-impact/clerk")
    asked = brief(session, "01-debate-r01-1-propose/protocol")
    assert "The members: Media Handler, Protocol, Observability, Operations, Test, Security (Rook)." in asked
    assert "**Council Members:** Media Handler, Protocol, Observability" in text(session, "transcript.md")
    assert {path.name for path in session.glob("round-*.md")} == {"round-1.md"}
    decision = text(session, "decision.md")
    assert f": {told}. It is a message.\n\n- Media Handler: reacts\n- Protocol: defines it\n" in decision
    assert "\nWhat the topic touches:\n\n- Signaling: a message\n" in decision
    whole = without_head(derived_of(session))
    for lost in session.glob("turns/*/*.md"):
        lost.unlink()
    assert user.council("recover", *replay).code == 0
    assert without_head(derived_of(session)) == whole
