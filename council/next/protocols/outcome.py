"""What a debate came to: one pure function of its plan. Every file and message is a view of the result."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass
from typing import Any

from council.next.engine.planner import Plan
from council.next.engine.scene import Scene, Turn
from council.next.protocols.details import (
    DONE,
    Act,
    Term,
    open_items,
    read_acts,
    read_check,
    read_dissents,
    read_terms,
)
from council.next.protocols.ids import Item, Register, Said, said
from council.next.protocols.voices import Count, Voice, count, vote_field, votes_of
from council.next.workflow.model import AllOf, AnyOf, Condition, Not, Workflow

VETOED, REJECTED, STOPPED, INSUFFICIENT = "vetoed", "rejected", "stopped", "insufficient"
BY_PERSON, ANSWERED, WITH_DISSENT = "decided by a person", "answered", "agreed with dissent"
ON_CONDITIONS, AGREED, SPLIT, UNDECIDED_ = "agreed on conditions", "agreed", "split", "undecided"
STATUS = {
    AGREED: "accepted",
    BY_PERSON: "accepted",
    ON_CONDITIONS: "accepted on conditions",
    WITH_DISSENT: "accepted with dissent",
    **dict.fromkeys((SPLIT, UNDECIDED_, ANSWERED, INSUFFICIENT), "proposed"),
    **dict.fromkeys((VETOED, REJECTED), "rejected"),
    STOPPED: "",  # nothing is filed
}
EXIT = {INSUFFICIENT: 3, STOPPED: 3}  # of a debate that is over; 0 for every other kind
LEVELS = ("low", "medium", "high")


@dataclass(frozen=True)
class Outcome:
    """`kind` is empty while a turn is due; `standing` is what the votes so far would give."""

    kind: str
    standing: str
    reason: str
    status: str
    decided_by: str
    title: str
    answer: str
    follows: str
    count: Count
    votes: tuple[tuple[Voice, ...], ...]
    recommendations: tuple[Item, ...]
    conditions: tuple[Term, ...]
    blocking: tuple[Item, ...]
    dissents: tuple[Said, ...]
    acts: tuple[Act, ...]
    check: Mapping[str, Any]
    absent: tuple[Said, ...]
    models: Mapping[str, int]
    confidence: str
    confidence_said: str
    ended: Mapping[str, str]
    elected: str
    movement: str | None
    rounds: int
    synthesis: str
    converged: bool | None
    proceed_to_round3: bool | None

    @property
    def exit_code(self) -> int:
        return EXIT.get(self.kind, 0)

    def as_data(self) -> dict[str, Any]:
        """The outcome as plain data, for state.json."""
        return {**asdict(self), "exit_code": self.exit_code}


def outcome(plan: Plan) -> Outcome:
    scene = plan.scene
    register, counted, acts = Register.of(scene), count(scene), tuple(read_acts(scene))
    written = synthesis_of(scene)
    terms = tuple(read_terms(counted, register))
    dissents = tuple(read_dissents(scene, counted, register))
    standing = find_kind(plan, counted, acts, terms, dissents) if plan.done or counted.of else ""
    answers = written.answers if written else {}
    confidence = str(answers.get("confidence") or "")
    checked = read_check(scene)
    votes = tuple(votes_of(scene))
    kind = standing if plan.done else ""
    took_vote = bool(counted.of)
    return Outcome(
        kind=kind,
        standing=standing,
        reason=explain(plan, standing, counted, acts),
        status=find_status(plan, kind, terms, checked, acts),
        decided_by=who_decided(standing, counted, acts),
        title=str(answers.get("title") or ""),
        answer=str(answers.get("answer") or ""),
        follows=counted.leading,
        count=counted,
        votes=votes,
        recommendations=tuple(register.of_letter("R")),
        conditions=terms,
        blocking=tuple(open_items(register)),
        dissents=dissents,
        acts=acts,
        check=checked,
        absent=tuple(said(turn, turn.absent) for turn in scene.turns if turn.absent),
        models=models_of(scene),
        confidence=cap(confidence, standing, bool(dissents)),
        confidence_said=confidence,
        ended=dict(scene.ended),
        elected=scene.elected,
        movement=movement_of(votes),
        rounds=rounds_of(plan),
        synthesis=written.id if written else "",
        converged=standing in (AGREED, ON_CONDITIONS) if took_vote else None,
        proceed_to_round3=third_round(plan),
    )


def find_kind(
    plan: Plan, counted: Count, acts: tuple[Act, ...], terms: tuple[Term, ...], dissents: tuple[Said, ...]
) -> str:
    """The first kind that holds."""
    decided = any(act.what == "decided" for act in acts)
    approved = any(act.what == "approved" and act.at == "synthesis" for act in acts)
    ranked = ranks(plan.workflow) and not counted.of
    kinds = {
        VETOED: plan.halted == VETOED,
        REJECTED: plan.halted == REJECTED,
        STOPPED: is_stopped(plan),
        INSUFFICIENT: not decided and too_few(plan, counted),
        BY_PERSON: decided or (approved and not counted.carried),
        UNDECIDED_: ranked and plan.done and not plan.scene.elected,
        ANSWERED: counted.of < 2,
        WITH_DISSENT: counted.carried and bool(dissents),
        ON_CONDITIONS: counted.carried and any(term.standing != "refused" for term in terms),
        AGREED: counted.carried,
        SPLIT: len(counted.sides) > 1 and counted.target is None and not leads_by_majority(counted),
    }
    return next((kind for kind, holds in kinds.items() if holds), UNDECIDED_)


def leads_by_majority(counted: Count) -> bool:
    """Whether a majority signs one text, though too many of them block or had a condition refused."""
    return 2 * len(counted.sides.get(counted.leading, ())) > counted.of


def is_stopped(plan: Plan) -> bool:
    """The debate was ended from outside of itself: by a budget, by an absent person, or by a synthesis not held."""
    scene, writer = plan.scene, plan.workflow.phase("synthesis")
    if plan.halted not in ("", VETOED, REJECTED):
        return True
    after = writer.number if writer else 99
    numbers = {phase.name: phase.number for phase in plan.workflow.phases}
    gates = {phase.name for phase in plan.workflow.phases if phase.gates}
    persons = (turn for turn in scene.turns if turn.seat.is_person and turn.absent)
    if any(turn.phase in gates or numbers[turn.phase] < after for turn in persons):
        return True
    return writer is not None and any(note.kind == "skipped" and note.phase == writer.name for note in plan.notes)


def too_few(plan: Plan, counted: Count) -> bool:
    """At most half of those who were asked last were heard. Who spoke and could not be read was heard."""
    if counted.of:
        return 2 * counted.heard <= counted.of
    writer = plan.workflow.phase("synthesis")
    talk = [
        turns
        for (phase, _, _), turns in plan.scene.moments.items()
        if not (writer and phase == writer.name) and not any(turn.seat.is_person for turn in turns)
    ]
    last = talk[-1] if talk else []
    return bool(last) and 2 * sum(not turn.absent for turn in last) <= len(last)


def ranks(workflow: Workflow) -> bool:
    """Whether an ending of the workflow is a vote among candidates."""

    def finds(condition: Condition) -> bool:
        if isinstance(condition, AnyOf | AllOf):
            return any(map(finds, condition.of))
        return finds(condition.of) if isinstance(condition, Not) else condition.name == "vote"

    return any(finds(condition) for phase in workflow.phases for condition in phase.until.values())


def explain(plan: Plan, standing: str, counted: Count, acts: tuple[Act, ...]) -> str:
    """Why it ended as it did, in counted facts."""
    if plan.halted:
        return next(note.verdict.reason for note in plan.notes if note.kind == "halted")
    if standing == STOPPED:
        gone = [turn for turn in plan.scene.turns if turn.seat.is_person and turn.absent]
        skipped = [note.verdict.reason for note in plan.notes if note.kind == "skipped" and not note.step]
        return f"{gone[-1].seat.label} absent: {gone[-1].absent}" if gone else skipped[-1]
    parts = [f"{act.by.label} {act.what} {act.option}".strip() for act in acts if act.what in DONE.values()]
    if plan.scene.elected:
        parts.append(f"{plan.scene.elected} elected")
    return "; ".join([*parts[-1:], counted.sentence])


def find_status(
    plan: Plan, kind: str, terms: tuple[Term, ...], checked: Mapping[str, Any], acts: tuple[Act, ...]
) -> str:
    status = STATUS.get(kind, "")
    if kind == WITH_DISSENT and any(term.standing != "refused" for term in terms):
        status = "accepted on conditions, with dissent"
    inaccurate = checked and 2 * checked["accurate"] <= checked["of"]
    unapproved = plan.workflow.options.get("accept") == "person" and not any(act.what in DONE.values() for act in acts)
    return "proposed" if status.startswith("accepted") and (inaccurate or unapproved) else status


def who_decided(standing: str, counted: Count, acts: tuple[Act, ...]) -> str:
    """`models`, `person` or `both`. A seat for which a person spoke counts as a person."""
    if standing in (VETOED, REJECTED, BY_PERSON):
        return "person"
    if standing not in (AGREED, ON_CONDITIONS, WITH_DISSENT):
        return ""
    by_hand = sum(bool(one.by) for one in counted.agreeing)
    if by_hand and by_hand == len(counted.agreeing):
        return "person"
    approved = any(act.what == "approved" and act.at == "synthesis" for act in acts)
    return "both" if by_hand or approved else "models"


def synthesis_of(scene: Scene) -> Turn | None:
    """The newest text of the seat that writes the result."""
    phase = scene.workflow.phase("synthesis")
    turns = [turn for turn in scene.named(phase.name) if turn.step == phase.steps[0].name] if phase else []
    return next((turn for turn in reversed(turns) if not turn.absent), None)


def models_of(scene: Scene) -> dict[str, int]:
    """How many turns each model spoke."""
    names = [turn.said.model for turn in scene.turns if turn.said.model]
    return {name: names.count(name) for name in sorted({*names})}


def cap(confidence: str, standing: str, dissent: bool) -> str:
    """The writer's word, but never above what was counted."""
    if confidence not in LEVELS:
        return ""
    most = 0 if standing in (SPLIT, UNDECIDED_, INSUFFICIENT) else 1 if dissent else 2
    return LEVELS[min(LEVELS.index(confidence), most)]


def movement_of(votes: tuple[tuple[Voice, ...], ...]) -> str | None:
    """Whether somebody signs another text than in the vote before. None where nobody voted twice."""
    if len(votes) < 2:
        return None
    before = {one.seat: one.side for one in votes[-2] if not one.silence}
    changed = (before.get(one.seat, one.side) != one.side for one in votes[-1] if not one.silence)
    return "moving" if any(changed) else "stable"


def rounds_of(plan: Plan) -> int:
    """How many rounds of the debate were spoken: those of its numbered phases, without the synthesis."""
    writer = plan.workflow.phase("synthesis")
    numbered = {
        phase.name for phase in plan.workflow.phases if phase.numbered and phase is not writer and not phase.gates
    }
    return len({(phase, round) for phase, round, _ in plan.scene.moments if phase in numbered})


def third_round(plan: Plan) -> bool | None:
    """Whether the vote called another round. None before that was decided, or where nothing asks."""
    field = vote_field(plan.scene)
    votes = [*plan.scene.moments_that_ask(field)] if field else []
    first = plan.scene.turns.index(votes[-1][0]) if votes else len(plan.scene.turns)
    decided = (note for note in plan.notes if note.kind in ("entered", "skipped") and not note.step)
    return next((note.kind == "entered" for note in decided if note.turns > first), None)
