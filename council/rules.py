"""Rules: named pure functions over a scene. Each gives a verdict with its reason, and with what it counted.

Whoever is silent, absent or unreadable agrees to nothing and stays in every denominator.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping
from fractions import Fraction
from itertools import chain
from typing import Any

from council import voting
from council.errors import UsageError
from council.hooks import Hook
from council.scene import Scene, Turn, Verdict
from council.text import content_words, fold, listing, overlap
from council.workflow import AllOf, AnyOf, Condition, Not, Seat

rule: Hook[Callable[..., Verdict]] = Hook("rule", leading=1)

COMPARISON = re.compile(r"(>=|<=|>|<)\s*(-?\d+(?:\.\d+)?)")
OPPOSED = re.compile(
    r"\bI(?:['’]d| would| must| have to| do| will)?(?: (?:\w+ly|still|also))?"
    r" (?:disagree|object|challenge|oppose|dispute|reject)\b",
    re.I,
)
QUOTED = re.compile(r"^[ \t]*>.*$|“[^“”]*”|\"[^\"\n]*\"", re.M)


def judge(condition: Condition, scene: Scene) -> Verdict:
    """Whether a condition of a workflow holds of the scene."""
    if isinstance(condition, Not):
        inner = judge(condition.of, scene)
        fired = () if inner else ("not " + _called(condition.of),)
        return Verdict(not inner.holds, inner.reason, fired, inner.tally)
    if isinstance(condition, (AnyOf, AllOf)):
        return _joined([judge(one, scene) for one in condition.of], all_of=isinstance(condition, AllOf))
    verdict: Verdict = rule.call(condition, scene)
    return Verdict(verdict.holds, verdict.reason, (condition.name,) if verdict else (), verdict.tally)


def _joined(verdicts: list[Verdict], all_of: bool) -> Verdict:
    holds = all(verdicts) if all_of else any(verdicts)
    telling = [verdict for verdict in verdicts if verdict.holds == holds]
    fired = tuple(dict.fromkeys(name for verdict in verdicts for name in verdict.fired)) if holds else ()
    tally = {key: value for verdict in verdicts for key, value in verdict.tally.items()}
    return Verdict(holds, "; ".join(dict.fromkeys(verdict.reason for verdict in telling)), fired, tally)


def _called(condition: Condition) -> str:
    if isinstance(condition, Not):
        return "not " + _called(condition.of)
    if isinstance(condition, (AnyOf, AllOf)):
        return "(" + (" and " if isinstance(condition, AllOf) else " or ").join(map(_called, condition.of)) + ")"
    return condition.name


def matches(value: Any, wanted: Any) -> bool:
    """Whether an answer is what a workflow asks for: equal, one of a list, `any`, or a comparison as in ">= 90"."""
    if value is None:
        return False
    if isinstance(wanted, list):
        return any(matches(value, one) for one in wanted)
    wanted = {True: "true", False: "false"}.get(wanted, wanted) if isinstance(wanted, bool) else str(wanted)
    if wanted == "any":
        return bool(value) or isinstance(value, (int, float))
    if isinstance(value, (list, tuple)):
        return any(fold(str(item)) == fold(wanted) for item in value)
    if isinstance(value, (int, float)) and not isinstance(value, bool):
        return _compares(float(value), wanted)
    return fold(str(value)) == fold(wanted)


def _compares(value: float, wanted: str) -> bool:
    if match := COMPARISON.fullmatch(wanted.strip()):
        sign, number = match.group(1), float(match.group(2))
        return {">=": value >= number, "<=": value <= number, ">": value > number, "<": value < number}[sign]
    try:
        return value == float(wanted)
    except ValueError:
        return False


def fraction(value: Any) -> Fraction:
    """`2/3`, `0.6` or `1`, exactly."""
    text = str(value).replace(" ", "")
    if not re.fullmatch(r"\d{1,6}(?:\.\d{1,6}|/0*[1-9]\d{0,5})?", text) or (part := Fraction(text)) > 1:
        raise UsageError(f'"{value}" is no share; write it as 2/3 or 0.6')
    return part


def number(value: Any) -> float:
    if not re.fullmatch(r"-?\d{1,12}(?:\.\d{1,12})?", str(value)):
        raise UsageError(f'"{value}" is no number')
    return float(value)


def _matching(turns: Iterable[Turn], fields: Mapping[str, Any]) -> list[Turn]:
    return [turn for turn in turns if all(matches(turn.answers.get(name), wanted) for name, wanted in fields.items())]


def _counted(scene: Scene, fields: Mapping[str, Any]) -> tuple[list[Turn], tuple[Turn, ...], dict[str, Any], str]:
    if not fields:
        raise UsageError("the rules some, every and share need an answer to look at, as in {some: {stance: disagree}}")
    turns = scene.latest(*fields)
    found = _matching(turns, fields)
    silent = [turn.seat.name for turn in turns if not set(fields) <= set(turn.answers)]
    wanted = ", ".join(f"{name} {_spoken(value)}" for name, value in fields.items())
    reason = f"{len(found)} of {len(turns)} say {wanted}" if turns else f"nobody was asked for {listing(fields)}"
    reason += f" ({listing(silent)} not heard)" if silent else ""
    tally = {"for": [turn.seat.name for turn in found], "of": len(turns), "not_heard": silent}
    return found, turns, {"/".join(fields): tally}, reason


def _spoken(value: Any) -> str:
    return " or ".join(map(str, value)) if isinstance(value, list) else str(value)


@rule
def some(scene: Scene, **fields: Any) -> Verdict:
    """At least one seat gave such an answer when it was last asked for."""
    found, _, tally, reason = _counted(scene, fields)
    return Verdict(bool(found), reason, tally=tally)


@rule
def every(scene: Scene, **fields: Any) -> Verdict:
    """Every seat that was asked gave such an answer; one that is absent did not."""
    found, turns, tally, reason = _counted(scene, fields)
    return Verdict(bool(turns) and len(found) == len(turns), reason, tally=tally)


@rule
def share(scene: Scene, *, at: Any = None, over: Any = None, **fields: Any) -> Verdict:
    """At least `at`, or more than `over`, of the seats that were asked gave such an answer."""
    found, turns, tally, reason = _counted(scene, fields)
    part = Fraction(len(found), len(turns)) if turns else Fraction(0)
    if (at is None) == (over is None):
        raise UsageError('the rule "share" needs either at: (at least) or over: (more than), as in at: 2/3')
    holds = part > fraction(over) if at is None else part >= fraction(at)
    return Verdict(bool(turns) and holds, reason if holds or not found else f"only {reason}", tally=tally)


@rule
def stuck(scene: Scene, *, field: str, gain: Any = 1, over: Any = 3) -> Verdict:
    """For `over` rounds of this phase the mean of a number gained less than `gain`, or nobody changed a word answer."""
    least, window = number(gain), int(number(over))
    if window < 2:
        raise UsageError('the rule "stuck" compares rounds: over must be 2 or more')
    rounds = [turns for turns in scene.asking(field) if turns[0].phase == scene.phase][:window]
    if scene.round <= window or len(rounds) < window:
        return Verdict(False, f"too early to tell whether {field} is stuck")
    values = [{turn.seat.name: turn.answers.get(field) for turn in turns} for turns in reversed(rounds)]
    if all(isinstance(value, (int, float)) for row in values for value in row.values() if value is not None):
        means = [_mean(row) for row in values]
        gained = means[-1] - means[0]
        return Verdict(
            gained < least, f"{field} gained {_tidy(gained):g} in {over} rounds", tally={"means": [*map(_tidy, means)]}
        )
    return Verdict(all(row == values[0] for row in values), f"{field} in {over} rounds", tally={field: values[-1]})


def _mean(row: Mapping[str, Any]) -> float:
    """A seat that gave no number counts as zero: silence is no satisfaction."""
    return sum(value or 0 for value in row.values()) / len(row)


def _tidy(value: float) -> float:
    return round(value, 2)


@rule
def option(scene: Scene, name: str = "", **values: Any) -> Verdict:
    """An option is on, or has the value given."""
    wanted = values or {str(name): True}
    for key in wanted:
        if key not in scene.options:
            raise UsageError(f'the rule "option" asks for "{key}", which the workflow does not have')
    holds = all(_same_option(scene.options[key], value) for key, value in wanted.items())
    said = ", ".join(f"{key} is {_flag(scene.options[key])}" for key in wanted)
    return Verdict(holds, f"option {said}")


def _same_option(value: Any, wanted: Any) -> bool:
    return value is wanted if isinstance(wanted, bool) else matches(_flag(value), wanted)


def _flag(value: Any) -> str:
    return {True: "on", False: "off"}[value] if isinstance(value, bool) else str(value)


@rule
def outcome(scene: Scene, **phases: Any) -> Verdict:
    """A phase that is over ended so."""
    holds = all(matches(scene.outcomes.get(phase), wanted) for phase, wanted in phases.items())
    said = ", ".join(f"{phase} ended {scene.outcomes.get(phase, 'not at all')}" for phase in phases)
    return Verdict(holds, said)


@rule
def last_round(scene: Scene) -> Verdict:
    """This is the last round that the phase may have."""
    return Verdict(scene.round >= scene.cap, f"round {scene.round} of at most {scene.cap}")


@rule
def from_round(scene: Scene, number: Any) -> Verdict:
    """This is that round of the phase, or a later one."""
    return Verdict(scene.round >= _round(number), f"round {scene.round}, from round {number} on")


def _round(number: Any) -> int:
    if not re.fullmatch(r"[1-9]\d?", str(number)):
        raise UsageError(f'the rule "from_round": "{number}" is no round')
    return int(number)


@rule
def disagreement(scene: Scene) -> Verdict:
    """Someone says "I disagree", "I challenge" or the like, in words of their own, in what was spoken last."""
    turns = scene.moments()[-1] if scene.turns else ()
    found = [turn.seat.name for turn in turns if OPPOSED.search(QUOTED.sub("", turn.body))]
    reason = f"{listing(found)} disagreed in so many words" if found else "nobody disagreed in so many words"
    return Verdict(bool(found), reason, tally={"disagreed": found})


@rule
def spent(scene: Scene, *, usd: Any = None, tokens: Any = None, calls: Any = None) -> Verdict:
    """The receipts so far add up to at least so much money, so many tokens or so many calls."""
    every_said = [said for turn in scene.turns for said in (turn.first, turn.said) if said]
    sums = {
        "usd": sum(said.usd or 0.0 for said in every_said),
        "tokens": sum(said.tokens for said in every_said),
        "calls": len(every_said),
    }
    limits = {"usd": usd, "tokens": tokens, "calls": calls}
    passed = [name for name, limit in limits.items() if limit is not None and sums[name] >= number(limit)]
    said = ", ".join(f"{sums[name]:g} {name}" for name, limit in limits.items() if limit is not None)
    unpriced = sum(said.usd is None for said in every_said)
    unknown = f" ({unpriced} of {len(every_said)} calls have no known price)" if unpriced and usd is not None else ""
    return Verdict(bool(passed), f"{said} spent{unknown}", tally={**sums, "unpriced": unpriced})


@rule
def repeats(scene: Scene, *, over: Any = 0.6, seats: str = "some") -> Verdict:
    """Some seats' (or every seat's) words are, for more than `over`, those of their own turn a round earlier."""
    most = number(over)
    if seats not in ("some", "every"):
        raise UsageError(f'the rule "repeats" knows seats: some and every, not "{seats}"')
    rounds = [turns for turns in scene.moments() if turns[0].phase == scene.phase]
    if not rounds:
        return Verdict(False, "nothing to compare")
    last = rounds[-1]
    moment = (scene.phase, scene.round - 1, last[0].step)
    before = {turn.seat.name: turn for turn in scene.turns if turn.moment == moment}
    likeness = {
        turn.seat.name: _tidy(overlap(turn.body, before[turn.seat.name].body))
        for turn in last
        if turn.seat.name in before and not turn.absent
    }
    repeating = [name for name, like in likeness.items() if like > most]
    holds = len(repeating) == len(last) if seats == "every" else bool(repeating)
    reason = f"{listing(repeating)} said again what they had said" if repeating else "nobody repeats the round before"
    return Verdict(holds, reason, tally={"repeats": likeness})


@rule
def vote(
    scene: Scene, *, field: str, method: str = "plurality", among: Any = (), sure: str = "", scored: Any = False
) -> Verdict:
    """The seats chose one option; a tie is no choice.

    Methods: `plurality` (most first choices), `majority`, `2/3` and `unanimous` (of all who were asked), `weighted`
    (each choice for as much as the answer `sure` says, or the sum of scores), `borda`, `condorcet` (Borda where nobody
    beats all others), `auto` (unanimous below 3 seats, weighted below 6, else Borda). An answer is a choice, a ranking
    (a list, the best first) or, with `scored: true`, a list of `option: 80`; `among` lists the options where no other
    may count. A seat's `weight` counts in every method."""
    options = [voting.name(str(one)) for one in (among if isinstance(among, (list, tuple)) else [among])]
    if not isinstance(scored, bool) or not all(options):
        raise UsageError('the rule "vote" takes scored: true or false, and among: a list of options')
    turns = scene.latest(*filter(None, (field, sure)))
    weights = {seat.name: _weight(seat) for seat in (*chain(*scene.groups.values()), *(turn.seat for turn in turns))}
    ballots = {
        turn.seat.name: voting.read(
            turn.answers.get(field),
            options,
            scores=scored,
            sure=turn.answers.get(sure) if sure else voting.FULL,
            weight=weights[turn.seat.name],
        )
        for turn in turns
    }
    result = voting.count([*ballots.values()], method, options)
    silent = [name for name, ballot in ballots.items() if weights[name] and not ballot.heard]
    unknown = {name: list(ballot.unknown) for name, ballot in ballots.items() if ballot.unknown}
    tally = {**result.tally, "not_heard": silent, "unknown": unknown}
    return Verdict(result.outcome == "winner", result.told, tally=tally)


def _weight(seat: Seat) -> Fraction:
    text = str(seat.attributes.get("weight", 1))
    if not re.fullmatch(r"\d{1,6}(?:\.\d{1,6})?", text):
        raise UsageError(f'the seat {seat.name}: its weight "{text}" is no number')
    return Fraction(text)


@rule
def dissent_kept(scene: Scene, *, by: str = "synthesis") -> Verdict:
    """The last turn of the step `by` names everyone who still disagrees, and has every blocking item with its owner."""
    written = scene.named(by)
    if not written or written[-1].absent:
        return Verdict(False, "there is no synthesis")
    lost = lost_dissent(scene, written[-1].body)
    reason = f"{len(lost)} of the dissent left out" if lost else "all dissent is kept"
    return Verdict(not lost, reason, tally={"left_out": [f"{turn.seat.label}: {words}" for turn, words in lost]})


DISAGREES = "disagrees"
SAME_WORDS = 0.6
OPPOSES = re.compile(r"\b(disagree|dissent|oppos|object|reject|against|contest|disput|refus|unconvinced)")


def lost_dissent(scene: Scene, synthesis: str) -> list[tuple[Turn, str]]:
    """Each blocking item and each remaining `disagree` that the synthesis lacks, with the turn it comes from."""
    passages = _passages(synthesis)

    def kept(turn: Turn, words: str) -> bool:
        return any(_keeps(passage, turn, words) for passage in passages)

    return [(turn, words) for turn, words in standing_dissent(scene) if not kept(turn, words)]


def standing_dissent(scene: Scene) -> list[tuple[Turn, str]]:
    """What seats last said of it: their blocking items, and that they disagree."""
    found = [(turn, DISAGREES) for turn, stance in scene.last_words("stance").values() if stance == "disagree"]
    for turn, items in scene.last_words("blocking").values():
        found += [(turn, item) for item in items]
    return found


def _passages(text: str) -> list[str]:
    """List items and paragraphs, each whole: a name and what it is held to have said must stand in the same one."""
    return [part for part in re.split(r"\n\s*\n|\n\s*(?=[-*+•]\s|\d+[.)]\s|\|)", text) if part.strip()]


def _keeps(passage: str, turn: Turn, words: str) -> bool:
    called = {fold(turn.seat.name), fold(turn.seat.title), *content_words(str(turn.seat.attributes.get("name", "")))}
    named = any(re.search(rf"\b{re.escape(name)}\b", fold(passage)) for name in called if name)
    if words == DISAGREES:
        return named and _opposes(passage)
    return named and overlap(words, passage) >= SAME_WORDS


def _opposes(passage: str) -> bool:
    return OPPOSES.search(fold(passage)) is not None
