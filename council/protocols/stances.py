"""The outcome of a debate, computed only from the stances that the members gave.

A stance is a member's opinion of where the council is heading: agree, mixed, disagree. Or it answers the question
itself, in words such as yes and no: then the members with the most frequent answer agree, and the others do not.
If members were asked how satisfied they are instead, the workflow's own rules decide the outcome.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace

from council.engine.facts import PromptContext, fact
from council.engine.scene import Scene, Turn
from council.protocols.consensus import find_escalations
from council.protocols.ledger import ACCEPTED, BLOCKS, OPEN, is_beside, read_ledger
from council.replies.values import CONDITIONAL
from council.text import join_words, one_line
from council.workflow import declare
from council.workflow.registry import load

AGREED = "agreed"
AGREED_WITH_DISSENT = "agreed with dissent"
SPLIT = "split"  # nobody was asked twice, so nobody can have moved or stayed
OPPOSED = "disagreement"  # the same, where all who were heard disagree
UNDECIDED = "undecided"
STABLE = "stable disagreement"
MOVING = "still moving"
INSUFFICIENT = "insufficient"
ANSWERED = "answered"  # no vote was taken, and none was wanted
AGREE, MIXED, DISAGREE = "agree", CONDITIONAL, "disagree"
STANCE = declare.answer(
    "stance",
    "agree, mixed or disagree: the convergence check counts it, and every disagree is dissent. Other words, as in "
    "`yes | mixed | no`, answer the question itself: the most frequent answer is the agreed one, any other is dissent",
    types=("choice",),
)
BLOCKING = declare.answer(
    "blocking", "what must be settled first: it counts as dissent, and is kept word for word", types=("list",),
    also=("blocking concerns", "blocking issues", "blockers"), concern=BLOCKS, lapses=True,
)  # fmt: skip
SCORE = declare.answer(
    "satisfaction_score", "how satisfied a seat is: a decision record shows it round by round", types=("range",),
    also=("satisfaction",),
)  # fmt: skip
CONSENSUS = "consensus"
CONSENSUS_WITH_DISSENT = "consensus with dissent"  # all are satisfied, and yet something blocks
NUMBERS = ("no", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine")


@dataclass(frozen=True)
class Standing:
    """`stances` (or else `scores`) has every seat that was asked, with None for a seat without one: it was absent, or
    it is `unreadable`, because it spoke and its answer could not be read."""

    outcome: str
    reason: str
    stances: dict[str, str | None]
    blocking: dict[str, tuple[str, ...]]
    moved: tuple[str, ...]
    scores: Mapping[str, float | int | None] = field(default_factory=dict)
    answer: str = AGREE
    unreadable: tuple[str, ...] = ()
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
    blocking: dict[str, tuple[str, ...]] = {}
    for turn, item in find_blocking(scene):
        blocking[turn.seat.name] = (*blocking.get(turn.seat.name, ()), item)
    if scored := next(scene.rounds_that_ask(SCORE), ()) if not rounds else ():
        return _by_scores(scene, scored, blocking)
    if not rounds:
        return Standing(ANSWERED, "no vote was taken", {}, blocking, ())
    now = {turn.seat.name: turn.answers.get(STANCE) for turn in rounds[0]}
    before = {turn.seat.name: turn.answers.get(STANCE) for turn in rounds[1]} if len(rounds) > 1 else {}
    twice = [name for name, stance in now.items() if stance and before.get(name)]
    moved = tuple(name for name in twice if now[name] != before[name])
    unreadable = _find_unreadable(rounds[0], STANCE)
    standing = Standing("", "", now, blocking, moved, answer=find_leading_answer(scene), unreadable=unreadable)
    outcome, reason = _outcome(standing, bool(twice), bool(find_opposed(scene)))
    return replace(standing, outcome=outcome, reason=reason)


def find_blocking(scene: Scene, accepted: bool = False) -> list[tuple[Turn, str]]:
    """What blocks: the items that each seat last named and that are open; or also those that a person `accepted`. And
    what a seat keeps open in other words than such an item, as in "C2 is not answered"."""
    wanted = (OPEN, ACCEPTED) if accepted else (OPEN,)
    concerns = [one for one in read_ledger(scene) if one.status in wanted]
    standing = {(event.turn, event.text): one.id for one in concerns for event in one.history}
    named = [(turn, str(item)) for turn, items in scene.last_words(BLOCKING).values() for item in items]
    found = [(turn, item) for turn, item in named if (turn.id, item) in standing or is_beside(turn, scene)]
    listed = {(turn.seat.name, standing.get((turn.id, item), "")) for turn, item in found}
    turns = {turn.id: turn for turn in scene.turns}
    for one in concerns:
        kept = {event.seat: event for event in one.history}  # the newest of each
        holders = (seat for seat in one.holders if one.kind == BLOCKS and (seat, one.id) not in listed)
        found += [(turns[kept[seat].turn], kept[seat].text) for seat in holders]
    return found


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
    silence = {turn.seat.name: turn.describe_silence(SCORE) for turn in turns}
    each = ", ".join(f"{name} {silence[name] if score is None else f'{score:g}'}" for name, score in scores.items())
    reason = f"mean {mean:.1f} in round {turns[0].round}: {each}"
    decided = [one for one in find_escalations(scene) if (one.phase, one.round) == (turns[0].phase, turns[0].round)]
    if decided and decided[0].adopted:
        choice = one_line(decided[0].choice, len(decided[0].choice))  # nobody's words are cut short
        reason += f"; a person decided: {choice}" if choice else "; a person ended it and chose no option"
    outcome = scene.outcomes.get(turns[0].phase, MOVING)
    if outcome == CONSENSUS and blocking:
        outcome, reason = CONSENSUS_WITH_DISSENT, f"{reason}; {_count_blocking(blocking)}"
    unreadable = _find_unreadable(turns, SCORE)
    return Standing(outcome, reason, {}, blocking, (), scores, unreadable=unreadable)


def _find_unreadable(turns: Iterable[Turn], name: str) -> tuple[str, ...]:
    return tuple(turn.seat.name for turn in turns if not turn.absent and name not in turn.answers)


def _outcome(standing: Standing, asked_twice: bool, opposed: bool) -> tuple[str, str]:
    now, answer = standing.stances, standing.answer
    heard = [stance for stance in now.values() if stance]
    agree, said = heard.count(answer), _counts(standing)
    if len(heard) < 2 or 2 * len(heard) <= len(now):
        what = "stances could be read" if standing.unreadable else "members were heard"
        return INSUFFICIENT, f"only {len(heard)} of {len(now)} {what}; {said}"
    if 2 * agree > len(now):
        dissent = opposed or standing.blocking or set(heard) != {answer}
        return (AGREED_WITH_DISSENT if dissent else ", ".join([AGREED, *_lacking(standing)])), said
    if set(heard) == {MIXED}:
        return UNDECIDED, said
    if standing.moved:
        return MOVING, f"{said}; {join_words(standing.moved)} moved in the last round"
    if not asked_twice:
        return OPPOSED if set(heard) == {DISAGREE} else SPLIT, f"{said}; nobody was asked twice"
    return STABLE, f"{said}; nobody moved in the last round"


def _lacking(standing: Standing) -> Iterator[str]:
    """`one absent`, `two unreadable`"""
    unreadable = len(standing.unreadable)
    for number, word in ((len(standing.missing) - unreadable, "absent"), (unreadable, "unreadable")):
        if number:
            yield f"{NUMBERS[number] if number < len(NUMBERS) else number} {word}"


def _counts(standing: Standing) -> str:
    """`3/4 agree, designer disagrees, 1 blocking item from designer, writer was not heard`, or `3/4 say no, …`."""
    now, answer = standing.stances, standing.answer
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
    if standing.blocking:
        parts.append(_count_blocking(standing.blocking))
    if unheard := [name for name in by_stance.get("", ()) if name not in standing.unreadable]:
        parts.append(f"{join_words(unheard)} {'was' if len(unheard) == 1 else 'were'} not heard")
    if standing.unreadable:
        parts.append(f"{join_words(standing.unreadable)} spoke, stance unreadable")
    return ", ".join(parts)


def _count_blocking(blocking: Mapping[str, tuple[str, ...]]) -> str:
    items = sum(map(len, blocking.values()))
    return f"{items} blocking item{'s' if items > 1 else ''} from {join_words(list(blocking))}"
