"""Rules about what seats answered: some, every, a share, a vote."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from fractions import Fraction
from itertools import chain
from typing import Any

from council.engine import voting
from council.engine.conditions import fraction, matches, rule
from council.engine.scene import Scene, Turn, Verdict
from council.errors import UsageError
from council.text import listing
from council.workflow.model import Seat


def _matching(turns: Iterable[Turn], fields: Mapping[str, Any]) -> list[Turn]:
    return [turn for turn in turns if all(matches(turn.answers.get(name), wanted) for name, wanted in fields.items())]


def _counted(scene: Scene, fields: Mapping[str, Any]) -> tuple[list[Turn], tuple[Turn, ...], dict[str, Any], str]:
    if not fields:
        raise UsageError("the rules some, every and share need an answer to look at, as in {some: {stance: disagree}}")
    turns = scene.latest(*fields)
    found = _matching(turns, fields)
    silent = [turn.seat.name for turn in turns if not set(fields) <= set(turn.answers)]
    wanted = ", ".join(f"{name} {_spoken(_given(found, name, value))}" for name, value in fields.items())
    reason = f"{len(found)} of {len(turns)} say {wanted}" if turns else f"nobody was asked for {listing(fields)}"
    reason += f" ({listing(silent)} not heard)" if silent else ""
    tally = {"for": [turn.seat.name for turn in found], "of": len(turns), "not_heard": silent}
    return found, turns, {"/".join(fields): tally}, reason


def _given(found: list[Turn], name: str, wanted: Any) -> Any:
    """Of several words that would do, those that were said."""
    said = {str(turn.answers[name]) for turn in found}
    given = [one for one in wanted if str(one) in said] if isinstance(wanted, list) else []
    return given or wanted


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
