"""The rules that every protocol can use: what seats answered (some, every, a share, a vote), and how the debate stands
(rounds, options, outcomes, cost, and whether it still moves).

Whoever is silent, absent or unreadable agrees to nothing and stays in every denominator.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from fractions import Fraction
from itertools import chain
from typing import Any

from council.engine import voting
from council.engine.conditions import ANSWERS, OPTIONS, PHASES, fraction, matches, number, rule
from council.engine.scene import Scene, Turn, Verdict
from council.errors import UsageError
from council.text import join_words, overlap
from council.workflow.model import Seat


@rule(further=OPTIONS)
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


@rule(further=PHASES)
def outcome(scene: Scene, **phases: Any) -> Verdict:
    """A phase that is over ended so."""
    holds = all(matches(scene.outcomes.get(phase), wanted) for phase, wanted in phases.items())
    said = ", ".join(f"{phase} ended {scene.outcomes.get(phase, 'not at all')}" for phase in phases)
    return Verdict(holds, said)


@rule(in_round=True)
def last_round(scene: Scene) -> Verdict:
    """This is the last round that the phase may have."""
    return Verdict(scene.round >= scene.cap, f"round {scene.round} of at most {scene.cap}")


@rule(in_round=True, since="number")
def from_round(scene: Scene, number: Any) -> Verdict:
    """This is that round of the phase, or a later one."""
    return Verdict(scene.round >= _round(number), f"round {scene.round}, from round {number} on")


def _round(number: Any) -> int:
    if not re.fullmatch(r"[1-9]\d?", str(number)):
        raise UsageError(f'the rule "from_round": "{number}" is no round')
    return int(number)


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


@rule(reads=("field",))
def stuck(scene: Scene, *, field: str, gain: Any = 1, over: Any = 3) -> Verdict:
    """For `over` rounds of this phase the mean of a number gained less than `gain`, or nobody changed a word answer."""
    least, window = Fraction(str(number(gain))), int(number(over))
    if window < 2:
        raise UsageError('the rule "stuck" compares rounds: over must be 2 or more')
    rounds = [turns for turns in scene.rounds_that_ask(field) if turns[0].phase == scene.phase][:window]
    if scene.round <= window or len(rounds) < window:
        return Verdict(False, f"too early to tell whether {field} is stuck")
    values = [{turn.seat.name: turn.answers.get(field) for turn in turns} for turns in reversed(rounds)]
    if all(isinstance(value, (int, float)) for row in values for value in row.values() if value is not None):
        means = [_mean(row) for row in values]
        gained = means[-1] - means[0]
        return Verdict(
            gained < least,
            f"{field} gained {_tidy(float(gained)):g} in {over} rounds",
            tally={"means": [_tidy(float(mean)) for mean in means]},
        )
    return Verdict(all(row == values[0] for row in values), f"{field} in {over} rounds", tally={field: values[-1]})


def _mean(row: Mapping[str, Any]) -> Fraction:
    """A seat that gave no number counts as zero: silence is no satisfaction. Exact: 5 gained are not 4.9999."""
    return Fraction(sum(Fraction(str(value or 0)) for value in row.values()), len(row))


def _tidy(value: float) -> float:
    return round(value, 2)


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
    likeness = {turn.seat.name: _tidy(share) for turn in last if (share := measure_repetition(turn, scene)) is not None}
    repeating = [name for name, like in likeness.items() if like > most]
    holds = len(repeating) == len(last) if seats == "every" else bool(repeating)
    reason = (
        f"{join_words(repeating)} said again what they had said" if repeating else "nobody repeats the round before"
    )
    return Verdict(holds, reason, tally={"repeats": likeness})


def measure_repetition(turn: Turn, scene: Scene) -> float | None:
    """How much of a turn is the seat's own, of the same step a round earlier; None where there is none to compare."""
    moment = (turn.phase, turn.round - 1, turn.step)
    before = next((one for one in scene.turns if one.moment == moment and one.seat.name == turn.seat.name), None)
    return None if before is None or turn.absent else overlap(turn.body, before.body)


def _matching(turns: Iterable[Turn], fields: Mapping[str, Any]) -> list[Turn]:
    return [turn for turn in turns if all(matches(turn.answers.get(name), wanted) for name, wanted in fields.items())]


def _counted(scene: Scene, fields: Mapping[str, Any]) -> tuple[list[Turn], tuple[Turn, ...], dict[str, Any], str]:
    if not fields:
        raise UsageError("the rules some, every and share need an answer to look at, as in {some: {stance: disagree}}")
    turns = scene.latest(*fields)
    found = _matching(turns, fields)
    silent = [turn.seat.name for turn in turns if not set(fields) <= set(turn.answers)]
    wanted = ", ".join(f"{name} {_spoken(_given(found, name, value))}" for name, value in fields.items())
    reason = f"{len(found)} of {len(turns)} say {wanted}" if turns else f"nobody was asked for {join_words(fields)}"
    reason += f" ({join_words(silent)} not heard)" if silent else ""
    tally = {"for": [turn.seat.name for turn in found], "of": len(turns), "not_heard": silent}
    return found, turns, {"/".join(fields): tally}, reason


def _given(found: list[Turn], name: str, wanted: Any) -> Any:
    """Of several words that would do, those that were said."""
    said = {str(turn.answers[name]) for turn in found}
    given = [one for one in wanted if str(one) in said] if isinstance(wanted, list) else []
    return given or wanted


def _spoken(value: Any) -> str:
    return " or ".join(map(str, value)) if isinstance(value, list) else str(value)


@rule(further=ANSWERS, counts=True)
def some(scene: Scene, **fields: Any) -> Verdict:
    """At least one seat gave such an answer when it was last asked for."""
    found, _, tally, reason = _counted(scene, fields)
    return Verdict(bool(found), reason, tally=tally)


@rule(further=ANSWERS, counts=True)
def every(scene: Scene, **fields: Any) -> Verdict:
    """Every seat that was asked gave such an answer; one that is absent did not."""
    found, turns, tally, reason = _counted(scene, fields)
    return Verdict(bool(turns) and len(found) == len(turns), reason, tally=tally)


def _over_all(arguments: Mapping[str, Any]) -> str:
    return "no share is over 1; all of them are `at: 1`" if arguments.get("over") == "1" else ""


@rule(further=ANSWERS, counts=True, never=_over_all)
def share(scene: Scene, *, at: Any = None, over: Any = None, **fields: Any) -> Verdict:
    """At least `at`, or more than `over`, of the seats that were asked gave such an answer."""
    found, turns, tally, reason = _counted(scene, fields)
    part = Fraction(len(found), len(turns)) if turns else Fraction(0)
    if (at is None) == (over is None):
        raise UsageError('the rule "share" needs either at: (at least) or over: (more than), as in at: 2/3')
    holds = part > fraction(over) if at is None else part >= fraction(at)
    return Verdict(bool(turns) and holds, reason if holds or not found else f"only {reason}", tally=tally)


@rule(reads=("field", "sure"), choices={"field": "among"}, counts=True, equal=True, informs=True)
def vote(
    scene: Scene, *, field: str, method: str = "plurality", among: Any = (), sure: str = "", scored: Any = False
) -> Verdict:
    """The seats chose one option; a tie is no choice.

    Methods: `plurality` (most first choices), `majority`, `2/3` and `unanimous` (of all who were asked), `weighted`
    (each choice for as much as the answer `sure` says, or the sum of scores), `borda`, `condorcet` (Borda where nobody
    beats all others), `auto` (unanimous below 3 seats, weighted below 6, else Borda). An answer is a choice, a ranking
    (a list, the best first) or, with `scored: true`, a list of `option: 80`; `among` lists the options where no other
    may count. A seat's `weight` counts in every method."""
    options = [voting.normalize_option(str(one)) for one in (among if isinstance(among, (list, tuple)) else [among])]
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
    return Verdict(result.outcome == "winner", result.summary, tally=tally)


def _weight(seat: Seat) -> Fraction:
    text = str(seat.attributes.get("weight", 1))
    if not re.fullmatch(r"\d{1,6}(?:\.\d{1,6})?", text):
        raise UsageError(f'the seat {seat.name}: its weight "{text}" is no number')
    return Fraction(text)
