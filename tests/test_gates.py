"""Gates by name: after any phase a person approves, and only that lets the debate go on."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from council.config import overlays
from council.engine.planner import Plan, plan
from council.engine.scene import RecordedTurn
from council.errors import UsageError
from council.protocols import outcome
from council.replies import parse
from council.workflow import gates
from council.workflow.loader import load
from council.workflow.model import Workflow
from tests import scripted
from tests.fakeapi import FakeApi
from tests.helpers import Table, User, agreed, script
from tests.terminal import Running

DEBATE = "debate"
GATE = "02-challenges-gate/human"
YES, NO, NEVER = (f"## Gate\n{word}\n\n## Reason\nI read it.\n" for word in gates.ANSWERS)


def gated(name: str = DEBATE, *after: str) -> Workflow:
    workflow = load(*overlays.workflow_text(name))
    return workflow.with_options({gates.AFTER: ",".join(after or ("challenges",))})


def play(workflow: Workflow, gate: RecordedTurn | None, said: dict[str, str]) -> Plan:
    """The plan after everybody else has said all that is due."""
    recorded = {turn: RecordedTurn(body) for turn, body in said.items()}
    if gate:
        recorded[GATE] = gate
    return plan(workflow, recorded)


def test_a_gate_moves_no_other_turn_and_asks_one_person() -> None:
    plain, with_gate = load(*overlays.workflow_text(DEBATE)), gated()
    assert [phase.name for phase in with_gate.phases] == [
        "positions", "challenges", "challenges-gate", "closing", "synthesis",
    ]  # fmt: skip
    assert {phase.name: phase.number for phase in plain.phases}.items() <= {
        phase.name: phase.number for phase in with_gate.phases
    }.items()
    assert [due.id for due in play(with_gate, None, agreed()).due] == [GATE]


def test_gates_are_set_anew_each_time_and_can_be_taken_away() -> None:
    again = gated().with_options({gates.AFTER: "positions,synthesis"})
    assert [phase.gates for phase in again.phases if phase.gates] == ["positions", "synthesis"]
    assert len(again.halt) == 3
    none = again.with_options({gates.AFTER: "none"})
    assert none.phases == load(*overlays.workflow_text(DEBATE)).phases
    assert none.halt == ()


@pytest.mark.parametrize(
    ("gate", "ended"),
    [
        (RecordedTurn(NO), "rejected"),
        (RecordedTurn(NEVER), "vetoed"),
        (RecordedTurn("", absent="nobody answered within 1800 s"), "not approved"),
    ],
    ids=["reject", "veto", "silence"],
)
def test_anything_but_an_approval_ends_the_debate_and_says_so(gate: RecordedTurn, ended: str) -> None:
    found = play(gated(), gate, agreed())
    assert found.done
    assert outcome.outcome(found) == ended
    assert outcome.convergence(found) is not None
    assert outcome.convergence(found)["converged"] is False  # type: ignore[index]
    assert not any(turn.phase == "synthesis" for turn in found.scene.turns)


def test_an_unreadable_answer_is_asked_again_and_approves_nothing() -> None:
    workflow = gated()
    said = {turn: RecordedTurn(body) for turn, body in agreed().items()} | {GATE: RecordedTurn("Looks fine?")}
    assert [due.id for due in plan(workflow, said).due] == [f"{GATE}.2"]
    ended = plan(workflow, said | {f"{GATE}.2": RecordedTurn("Well.")})
    assert (ended.done, outcome.outcome(ended)) == (True, "not approved")


def test_after_an_approval_the_debate_goes_on() -> None:
    found = play(gated(), RecordedTurn(YES), agreed())
    assert [turn.phase for turn in found.scene.turns][-1] == "synthesis"
    assert outcome.outcome(found) == outcome.outcome(play(load(*overlays.workflow_text(DEBATE)), None, agreed()))


def test_an_approved_phase_is_no_end_of_the_debate() -> None:
    """What the protocol itself says of its end counts; the approval, where nothing else says how it ended."""
    debate = scripted.script("code/phases")
    said = dict(scripted.played(debate.name).said)
    plain = plan(debate.workflow, said, debate.seed)
    number = next(phase.number for phase in debate.workflow.phases if phase.name == "convergence")
    approved = said | {f"{number:02d}-convergence-gate/human": RecordedTurn(YES)}
    found = plan(debate.workflow.with_options({gates.AFTER: "convergence"}), approved, debate.seed)
    assert {turn.id for turn in found.scene.turns} == set(approved)
    assert outcome.outcome(found) == outcome.outcome(plain) != "approved"


@pytest.mark.parametrize("line", ["❌ approve", "approve❌", "approve\nreject", "approve 👎", "✗ approve"])
def test_a_yes_beside_a_no_is_none(line: str) -> None:
    assert gates.GATE not in parse.read(gates.REPLY, f"## Gate\n{line}\n\n## Reason\nNone.\n", "").found


def test_an_approval_hides_no_disagreement_of_the_step_before_it() -> None:
    debate = scripted.script("debate/disagreement-in-words")
    said = {GATE: RecordedTurn(YES)} | dict(scripted.played(debate.name).said)
    found = plan(debate.workflow.with_options({gates.AFTER: "challenges"}), said, debate.seed)
    assert {turn.id for turn in found.scene.turns} == set(said), "the closing round is held as without a gate"


@pytest.mark.parametrize(
    ("workflow", "after", "why"),
    [
        (DEBATE, "chalenges", 'debate has no phase "chalenges" to put a gate after; did you mean "challenges"?'),
        (DEBATE, "challenges,none", 'no phase "none"'),
        ("board", "guidance", "in guidance, a person decides already"),
        ("code", "approval", "in approval, a person decides already"),
    ],
)
def test_a_gate_that_would_mean_nothing_is_refused(workflow: str, after: str, why: str) -> None:
    with pytest.raises(UsageError, match=why.replace("?", r"\?")):
        gated(workflow, after)


@pytest.mark.parametrize("name", sorted(overlays.workflows([overlays.kit_folder()])))
def test_every_phase_of_the_kit_can_have_a_gate(name: str) -> None:
    workflow = load(*overlays.workflow_text(name))
    for phase in workflow.phases:
        try:
            one = workflow.with_options({gates.AFTER: phase.name})
        except UsageError as why:
            assert "a person decides already" in str(why)  # noqa: PT017
            continue
        assert [found.gates for found in one.phases if found.gates] == [phase.name]


# ---- as a user ----

REPLAY = ("--speaker", "replay", "--from", "script.yaml")


@pytest.fixture
def user(tmp_path: Path) -> User:
    user = User(tmp_path)
    script(user, agreed())
    return user


def test_a_misspelt_phase_is_refused_before_anything_is_spent(user: User) -> None:
    ended = user.council("run", "--gate", "chalenges", "Shall we?", *REPLAY)
    assert (ended.code, user.sessions) == (2, [])
    assert 'did you mean "challenges"?' in ended.err


def test_a_run_stops_at_its_gate_and_goes_on_after_a_yes(user: User) -> None:
    assert user.council("run", "--gate", "challenges", "Shall we?", *REPLAY).code == 8
    (row,) = user.council("next", "--json").json["due"]
    assert row["turn"] == GATE
    assert user.council("record", "last", GATE, "--answer", "gate=approve", "--answer", "reason=Go on.").code == 0
    assert user.council("recover").code == 0
    assert user.council("status", "--json").json["state"] == "complete"
    assert user.council("verify").code == 0


@pytest.mark.parametrize(
    ("given", "ended"), [(("--answer", "gate=veto"), "vetoed"), (("--absent", "away"), "not approved")]
)
def test_a_no_and_silence_end_it_and_everything_says_so(user: User, given: tuple[str, ...], ended: str) -> None:
    assert user.council("run", "--gate", "challenges", "Shall we?", *REPLAY).code == 8
    told = user.council("record", "last", GATE, *given)
    assert told.code == 0
    facts = json.loads((user.session / "convergence.json").read_text("utf-8"))
    assert (facts["outcome"], facts["converged"]) == (ended, False)
    assert f"**Outcome:** {ended}" in user.council("next").out
    assert user.council("list", "--json").json[0]["outcome"] == ended
    assert ended in user.council("show").out
    assert user.council("verify").code == 0


def test_a_replay_repeats_the_gate_and_its_answer(user: User) -> None:
    user.council("run", "--gate", "challenges", "Shall we?", *REPLAY)
    assert user.council("record", "last", GATE, "--answer", "gate=reject").code == 0
    first = user.session.name
    again = user.council("run", "--speaker", "replay", "--from", first, "--json")
    assert again.code == 0, again.err
    assert again.json["outcome"] == "rejected"


def test_a_workflow_with_a_gate_of_its_own_lints(user: User) -> None:
    text, _ = overlays.workflow_text(DEBATE)
    own = text.replace("name: debate", "name: mine", 1).replace(
        "options: {", f"options: {{{gates.AFTER}: challenges, ", 1
    )
    assert own.count(gates.AFTER) == 1
    path = user.write("mine.md", own)
    ended = user.council("lint", path)
    assert (ended.code, ended.out.endswith("mine.md: no problems found\n")) == (0, True), ended.out + ended.err


def test_gates_of_the_users_configuration_hold_where_the_phase_is_and_can_be_waived(user: User) -> None:
    user.configure("gates: [challenges, nowhere]")
    assert user.council("run", "Shall we?", *REPLAY).code == 8
    assert user.council("run", "--gate", "none", "Shall we?", *REPLAY).code == 0
    user.configure("gates: Nowhere at all")
    assert "is not the name of a phase" in user.council("run", "Shall we?", *REPLAY).err


def test_a_gate_that_nobody_answers_in_time_ends_as_not_approved(user: User) -> None:
    user = User(user.root, {"ANTHROPIC_API_KEY": "sk-ant-of-the-tests"})
    with FakeApi(Table(user, agreed())) as api:
        user.configure(f"endpoints:\n  anthropic: {{base_url: {api.url}}}\nretry: {{budget: 0}}")
        with Running(user, "run", "--gate", "challenges", "-o", "gate_timeout=0.2", "Shall we?") as console:
            shown = console.until("archive:")
    assert "You have 0.2 seconds for each line that you type" in shown
    assert json.loads((user.session / "convergence.json").read_text("utf-8"))["outcome"] == "not approved"
