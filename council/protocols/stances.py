"""The outcome of a debate, computed only from the stances that the members gave.

A stance is a member's opinion of where the council is heading: agree, mixed, disagree. Or it answers the question
itself, in words such as yes and no: then the members with the most frequent answer agree, and the others do not.
If members were asked how satisfied they are instead, the workflow's own rules decide the outcome.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field

from council.engine.facts import PromptContext, fact
from council.engine.scene import Scene, Turn
from council.protocols.consensus import find_escalations
from council.text import join_words, one_line
from council.workflow import declare
from council.workflow.registry import load

AGREED = "agreed"
AGREED_WITH_DISSENT = "agreed with dissent"
STABLE = "stable disagreement"
MOVING = "still moving"
INSUFFICIENT = "insufficient"
AGREE, MIXED, DISAGREE = "agree", "mixed", "disagree"
STANCE = declare.answer(
    "stance",
    "agree, mixed or disagree: the convergence check counts it, and every disagree is dissent. Other words, as in "
    "`yes | mixed | no`, answer the question itself: the most frequent answer is the agreed one, any other is dissent",
    types=("choice",),
)
BLOCKING = declare.answer(
    "blocking", "what must be settled first: it counts as dissent, and is kept word for word", types=("list",),
    also=("blocking concerns", "blocking issues", "blockers"),
)  # fmt: skip
SCORE = declare.answer(
    "satisfaction_score", "how satisfied a seat is: a decision record shows it round by round", types=("range",),
    also=("satisfaction",),
)  # fmt: skip
CONSENSUS = "consensus"


@dataclass(frozen=True)
class Standing:
    """`stances` (or else `scores`) has every seat that was asked, with None for a seat that was not heard."""

    outcome: str
    reason: str
    stances: dict[str, str | None]
    blocking: dict[str, tuple[str, ...]]
    moved: tuple[str, ...]
    scores: Mapping[str, float | int | None] = field(default_factory=dict)
    answer: str = AGREE
    own: bool = False  # assessed by the protocol itself, which outranks how the phases ended

    @property
    def missing(self) -> list[str]:
        return [name for name, said in {**self.stances, **self.scores}.items() if said is None]

    @property
    def converged(self) -> bool:
        """All were heard, most agree, nobody disagrees and nothing blocks. With scores, the workflow's rules decide."""
        if self.scores:
            return self.outcome == CONSENSUS and not self.missing
        agreed = self.outcome in (AGREED, AGREED_WITH_DISSENT)
        return agreed and not self.blocking and set(self.stances.values()) <= {self.answer, MIXED}


_readings: list[Callable[[Scene], Standing | None]] = []


def register_reading(function: Callable[[Scene], Standing | None]) -> Callable[[Scene], Standing | None]:
    """Register how a protocol assesses its debates. The function returns None for debates of other protocols."""
    _readings.append(function)
    return function


def assess(scene: Scene) -> Standing:
    """The standing by the protocol's own assessment if there is one, else by the stances or scores."""
    load()
    own = (function(scene) for function in _readings)
    return next(filter(None, own), None) or assess_stances(scene)


def assess_stances(scene: Scene) -> Standing:
    """The standing by the last round that asked for a stance. The round before it only shows who moved."""
    rounds = list(scene.rounds_that_ask(STANCE))
    blocking = {name: items for name, (_, items) in scene.last_words(BLOCKING).items() if items}
    if scored := next(scene.rounds_that_ask(SCORE), ()) if not rounds else ():
        return _by_scores(scene, scored, blocking)
    if not rounds:
        return Standing(INSUFFICIENT, "no round asked the members for their stance", {}, blocking, ())
    now = {turn.seat.name: turn.answers.get(STANCE) for turn in rounds[0]}
    before = {turn.seat.name: turn.answers.get(STANCE) for turn in rounds[1]} if len(rounds) > 1 else {}
    moved = tuple(name for name, stance in now.items() if stance and before.get(name) not in (None, stance))
    answer = find_leading_answer(scene)
    return Standing(*_outcome(now, blocking, moved, len(rounds), answer), now, blocking, moved, answer=answer)


@fact
def tally(context: PromptContext) -> str:
    """The members' last stances, counted by the program."""
    return assess_stances(context.scene).reason


def find_leading_answer(scene: Scene) -> str:
    """The stance that means agreement: `agree`, or the most frequent answer of the last round; empty for a tie."""
    ever = [str(stance) for _, stance in scene.last_words(STANCE).values()]
    if set(ever) <= {AGREE, MIXED, DISAGREE}:
        return AGREE
    last = [str(turn.answers[STANCE]) for turn in next(scene.rounds_that_ask(STANCE)) if STANCE in turn.answers]
    counts = Counter(stance for stance in last or ever if stance != MIXED).most_common(2)
    return "" if not counts or len({count for _, count in counts}) < len(counts) else counts[0][0]


def find_opposed(scene: Scene) -> list[Turn]:
    """The turns of the seats that still disagree, by their newest stances. If no answer leads, that is all of them."""
    answer = find_leading_answer(scene)
    against = (turn for turn, stance in scene.last_words(STANCE).values() if stance not in (answer, MIXED))
    return list(against)


def _by_scores(scene: Scene, turns: tuple[Turn, ...], blocking: dict[str, tuple[str, ...]]) -> Standing:
    """The standing by scores: the outcome of the phase that asked for them. A missing score counts as 0."""
    scores = {turn.seat.name: turn.answers.get(SCORE) for turn in turns}
    mean = sum(score or 0 for score in scores.values()) / len(scores)
    each = ", ".join(f"{name} {'not heard' if score is None else f'{score:g}'}" for name, score in scores.items())
    reason = f"mean {mean:.1f} in round {turns[0].round}: {each}"
    decided = [one for one in find_escalations(scene) if (one.phase, one.round) == (turns[0].phase, turns[0].round)]
    if decided and decided[0].adopted:
        reason += f"; a person decided{one_line(f': {decided[0].choice}' if decided[0].choice else '', 200)}"
    return Standing(scene.outcomes.get(turns[0].phase, MOVING), reason, {}, blocking, (), scores)


def _outcome(
    now: dict[str, str | None],
    blocking: dict[str, tuple[str, ...]],
    moved: tuple[str, ...],
    rounds: int,
    answer: str,
) -> tuple[str, str]:
    heard = [stance for stance in now.values() if stance]
    agree = heard.count(answer)
    said = _counts(now, blocking, answer)
    if len(heard) < 2 or 2 * len(heard) <= len(now):
        return INSUFFICIENT, f"only {len(heard)} of {len(now)} members were heard; {said}"
    if agree == len(now) and not blocking:
        return AGREED, said
    if 2 * agree > len(now):
        return AGREED_WITH_DISSENT, said
    if moved:
        return MOVING, f"{said}; {join_words(moved)} moved in the last round"
    if rounds < 2:
        return MOVING, f"{said}; one round cannot show whether anyone moves"
    return STABLE, f"{said}; nobody moved in the last round"


def _counts(now: dict[str, str | None], blocking: dict[str, tuple[str, ...]], answer: str) -> str:
    """`3/4 agree, designer disagrees, 1 blocking item, writer was not heard`, or `3/4 say no, designer says yes`."""
    by_stance: dict[str, list[str]] = {}
    for name, stance in now.items():
        by_stance.setdefault(stance or "", []).append(name)
    verb = "" if answer == AGREE else "say "
    parts = [f"{len(by_stance.get(answer, []))}/{len(now)} {verb}{answer}"] if answer else ["no answer leads"]
    for stance, names in by_stance.items():
        if stance not in (answer, MIXED, ""):
            plural, singular = ("disagree", "disagrees") if stance == DISAGREE else (f"say {stance}", f"says {stance}")
            parts.append(f"{join_words(names)} {plural if len(names) > 1 else singular}")
    if mixed := by_stance.get(MIXED):
        parts.append(f"{join_words(mixed)} {'is' if len(mixed) == 1 else 'are'} undecided")
    if items := sum(map(len, blocking.values())):
        parts.append(f"{items} blocking item{'s' if items > 1 else ''}")
    if unheard := by_stance.get(""):
        parts.append(f"{join_words(unheard)} {'was' if len(unheard) == 1 else 'were'} not heard")
    return ", ".join(parts)
