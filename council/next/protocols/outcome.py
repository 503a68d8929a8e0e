"""What a debate came to: one pure function of its plan. Every file and message is a view of the result."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterator
from dataclasses import asdict, dataclass
from typing import Any

from council.next.engine.planner import LIMIT, Plan
from council.next.engine.scene import Scene
from council.next.protocols.checks import letters_of
from council.next.protocols.ids import Quote, Register, Voice, quote
from council.next.protocols.voices import Count, count, open_items, read_dissents, read_terms, settle
from council.next.text import fold, join_reasons
from council.next.workflow.model import HUMAN

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
LEVELS = ("low", "medium", "high")
DONE = {"approve": "approved", "reject": "rejected", "veto": "vetoed", "adopt": "decided"}


@dataclass(frozen=True)
class Act:
    """What a person did: approved, rejected, vetoed, decided, guided or said something, and in which words."""

    what: str
    by: Quote
    at: str
    option: str = ""
    option_text: str = ""


class Outcome:
    """`kind` is empty while a turn is due; `standing` is what the votes so far would give."""

    def __init__(self, plan: Plan) -> None:
        scene, register = plan.scene, Register.of(plan.scene)
        results = (turn for turn in reversed(scene.turns) if plan.workflow.writes_result(turn.phase, turn.step))
        written = next((turn for turn in results if not turn.absent), None)
        answers = written.answers if written else {}
        # What was said and counted.
        self.count = count(scene)
        votes = [tuple(settle(one, register) for one in vote) for vote in register.votes.values()]
        self.votes = (*votes[:-1], self.count.voices) if votes else ()
        self.recommendations = tuple(register.by_letter["R"])
        self.conditions = tuple(read_terms(self.count, register))
        self.blocking = tuple(open_items(register, "C"))
        self.dissents = tuple(read_dissents(self.count, register))
        self.acts = tuple(read_acts(scene))
        self.check = read_check(scene)
        self.absent = tuple(quote(turn, turn.absent) for turn in scene.turns if turn.absent)
        self.models = dict(sorted(Counter(turn.said.model for turn in scene.turns if turn.said.model).items()))
        self.movement = movement_of(self.votes)
        self.follows = self.count.leading
        self.ended, self.elected = dict(scene.ended), scene.elected
        debate = [phase.name for phase in plan.workflow.phases if plan.workflow.is_of_the_debate(phase)]
        self.rounds = sum(phase in debate for phase, _ in scene.rounds)
        self.proceed_to_round3 = third_round(plan, self.votes)
        # What that comes to.
        self.standing = self._kind(plan) if plan.done or self.count.of else ""
        self.kind = self.standing if plan.done else ""
        self.reason = self._reason(plan)
        self.decided_by = self._decided_by({turn.id for turn in scene.turns if turn.said.unknown})
        self.status = self._status(plan)
        self.exit_code = 3 if self.kind in (INSUFFICIENT, STOPPED) else 0  # of a debate that is over
        self.converged = self.standing in (AGREED, ON_CONDITIONS) if self.count.of else None
        # What the writer of the result made of it.
        self.synthesis = written.id if written else ""
        self.title, self.answer = str(answers.get("title", "")), str(answers.get("answer", ""))
        self.confidence_said = str(answers.get("confidence") or "")
        at_limit = any(self.ended.get(phase) == LIMIT for phase in debate)
        self.confidence = self._cap(self.confidence_said, at_limit)

    def as_data(self) -> dict[str, Any]:
        """The outcome as plain data, for state.json."""
        return dict(json.loads(json.dumps(vars(self), default=asdict)))

    def _kind(self, plan: Plan) -> str:
        """The first kind that holds."""
        heard = [why != "not heard" for why in asked_last(plan.scene, self.count).values()]  # or unreadable
        decided = any(act.what == "decided" for act in self.acts)
        ranked = not self.count.of and any(ref.name == "vote" for ref in plan.workflow.endings())
        kinds = {
            VETOED: plan.halted == VETOED,
            REJECTED: plan.halted == REJECTED,
            STOPPED: bool(why_ended(plan)),
            INSUFFICIENT: not decided and 2 * sum(heard) <= len(heard) > 0,
            BY_PERSON: decided or (self._approved and not self.count.carried),
            UNDECIDED_: ranked and plan.done and not plan.scene.elected,
            ANSWERED: self.count.of < 2,
            WITH_DISSENT: self.count.carried and bool(self.dissents),
            ON_CONDITIONS: self.count.carried and any(term.standing != "refused" for term in self.conditions),
            AGREED: self.count.carried,
            # A text that a majority signs, but that too many block or want otherwise, is undecided.
            SPLIT: len(self.count.sides) > 1 and 2 * len(self.count.signers) <= self.count.of,
        }
        return next((kind for kind, holds in kinds.items() if holds), UNDECIDED_)

    @property
    def _approved(self) -> bool:
        """Whether a person approved the result."""
        return any(act.what == "approved" and act.at == "synthesis" for act in self.acts)

    def _reason(self, plan: Plan) -> str:
        """Why it ended as it did, in counted facts."""
        if self.standing in (VETOED, REJECTED, STOPPED):
            return why_ended(plan)
        done = [f"{act.by.label} {act.what} {act.option}".strip() for act in self.acts if act.what in DONE.values()]
        ranked = [note.verdict.reason for note in plan.notes if "votes" in note.verdict.tally]
        counted = ranked[-1] if ranked and not self.count.of else self.count.sentence
        silent = join_reasons(asked_last(plan.scene, self.count).items()) if not self.count.of else ""
        return "; ".join(filter(None, [*done[-1:], counted, silent]))

    def _decided_by(self, unknown: set[str]) -> str:
        """`models`, `person` or `both`. A seat for which a person spoke counts as a person. It is `unknown` where the
        record does not say who wrote what somebody signs with."""
        if self.standing in (VETOED, REJECTED, BY_PERSON):
            return "person"
        if self.standing not in (AGREED, ON_CONDITIONS, WITH_DISSENT):
            return ""
        by_hand = [bool(one.by) for one in self.count.agreeing]
        if by_hand and all(by_hand):
            return "person"
        if any(one.turn in unknown for one in self.count.agreeing):
            return "unknown"
        return "both" if any(by_hand) or self._approved else "models"

    def _status(self, plan: Plan) -> str:
        status = STATUS.get(self.kind, "")
        if self.kind == WITH_DISSENT and any(term.standing != "refused" for term in self.conditions):
            status = "accepted on conditions, with dissent"
        inaccurate = self.check and 2 * self.check["accurate"] <= self.check["of"]
        by_person = any(act.what in DONE.values() for act in self.acts)
        is_open = inaccurate or (plan.workflow.options.get("accept") == "person" and not by_person)
        return "proposed" if status.startswith("accepted") and is_open else status

    def _cap(self, confidence: str, at_limit: bool) -> str:
        """The writer's word, but never above what was counted. Without a vote, a debate that no rule ended is open."""
        is_open = self.standing in (SPLIT, UNDECIDED_, INSUFFICIENT) or (self.standing == ANSWERED and at_limit)
        most = 0 if is_open else 1 if self.dissents else 2
        return LEVELS[min(LEVELS.index(confidence), most)] if confidence in LEVELS else ""


def why_ended(plan: Plan) -> str:
    """What ended the debate before its result: a rule, an absent person, or a condition. Empty if nothing did."""
    writer = plan.workflow.phase("synthesis")
    for note in plan.notes:
        skips = writer and note.kind == "skipped" and (note.phase, note.step) == (writer.name, "")
        if note.kind == "halted" or skips:
            return note.verdict.reason or note.kind
    return ""


def asked_last(scene: Scene, counted: Count) -> dict[str, str]:
    """Why each of those who were asked last was silent: in the last vote or, where none is taken, the last round."""
    silence = {one.seat: one.silence for one in counted.voices}
    writer = scene.workflow.phase("synthesis")
    talk = [turn for turn in scene.turns if turn.seat.name != HUMAN and not (writer and turn.phase == writer.name)]
    for turn in talk if not counted.of else ():
        if (turn.phase, turn.round) == (talk[-1].phase, talk[-1].round) and silence.get(turn.seat.name) != "":
            silence[turn.seat.name] = turn.silence()
    return silence


def read_acts(scene: Scene) -> Iterator[Act]:
    """What persons did at their own seats, the oldest first. An option is one of those that were offered last."""
    places = {phase.name: phase.gates or phase.name for phase in scene.workflow.phases}
    options: dict[str, str] = {}
    for turn in scene.turns:
        if "options" in turn.asked:
            options = letters_of(turn)
        if not turn.seat.is_person:
            continue
        given = turn.answers.get("gate") or turn.answers.get("decision") or "said"
        letter = fold(turn.answers.get("option", "")).upper() if given == "adopt" else ""
        words = [turn.answers[name] for name in ("guidance", "reason") if turn.answers.get(name)]
        is_of_result = scene.workflow.phase(places[turn.phase]) is scene.workflow.phase("synthesis")
        at = "synthesis" if is_of_result else places[turn.phase]
        what = "absent" if turn.absent else DONE.get(given, given)
        yield Act(what, quote(turn, "\n\n".join(words) or turn.prose), at, letter, options.get(letter, ""))


def read_check(scene: Scene) -> dict[str, Any]:
    """What the members found when they last checked the document. Empty if nobody did."""
    turns = next(scene.moments_that_ask("accurate"), [])
    wrong = [turn for turn in turns if turn.answers.get("accurate") == "no"]
    corrections = [asdict(quote(turn, "\n".join(turn.answers.get("correction", ())))) for turn in wrong]
    accurate = sum(turn.answers.get("accurate") == "yes" for turn in turns)
    return {"of": len(turns), "accurate": accurate, "corrections": corrections} if turns else {}


def movement_of(votes: tuple[tuple[Voice, ...], ...]) -> str | None:
    """Whether somebody signs another text than in the vote before. None where nobody voted twice."""
    if len(votes) < 2:
        return None
    before, after = ({one.seat: one.side for one in vote if not one.silence} for vote in votes[-2:])
    return "moving" if any(before.get(seat, side) != side for seat, side in after.items()) else "stable"


def third_round(plan: Plan, votes: tuple[tuple[Voice, ...], ...]) -> bool | None:
    """Whether the vote called another round. None before that was decided, or where nothing asks."""
    voted = [turn.id for turn in plan.scene.turns].index(votes[0][0].turn) if votes else len(plan.scene.turns)
    decided = (note for note in plan.notes if note.kind in ("entered", "skipped") and not note.step)
    return next((note.kind == "entered" for note in decided if note.turns > voted), None)
