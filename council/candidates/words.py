"""The rules, the orders and the views over candidates. They believe only benches about tests."""

from __future__ import annotations

from collections.abc import Iterable
from fractions import Fraction
from typing import Any

from council.candidates.results import find_winner
from council.candidates.versions import ATTACK, GREEN, RED, UNKNOWN, Ledger, follow
from council.engine.conditions import fraction, matches, number, rule
from council.engine.orders import Batches, order
from council.engine.scene import Scene, Seen, Verdict
from council.engine.views import View, view
from council.text import join_words
from council.workflow.model import Seat


@rule(informs=True, places=("step",), elects=True)
def passes(scene: Scene, step: str, *, share: Any = 1, least: Any = None) -> Verdict:
    """In the newest trial of each candidate in that step, at least this share passed, or `least` candidates.

    Whatever is not `pass` counts as red: `tampered`, `timeout`, `unknown`, and a bench that was absent. Only benches
    are believed. `vote` may name it in `among`."""
    part, count, ledger = fraction(share), least if least is None else int(number(least)), follow(scene)
    newest = {name: check for name in ledger.candidates if (check := ledger.latest(name, step))}
    green = [name for name, check in newest.items() if check.green]
    red = [f"{name}: {check.verdict}" for name, check in newest.items() if not check.green]
    reason = f"{len(green)} of {len(newest)} pass {step}" if newest else f"nothing was tried in {step}"
    reason += f" ({join_words(red)})" if red else ""
    enough = Fraction(len(green), max(len(newest), 1)) >= part if count is None else len(green) >= count
    holds = bool(newest) and enough
    return Verdict(holds, reason, tally={"passes": {"for": green, "of": len(newest)}})


@rule(in_round=True)
def dry(scene: Scene, *, rounds: Any = 1) -> Verdict:
    """For this many rounds of the phase, no attack was made that ran red and was not there before."""
    wanted, ledger = int(number(rounds)), follow(scene)
    first = scene.round - wanted + 1
    new = _new_attacks(ledger, scene.phase, first)
    asked = {turn.round for turn in scene.turns if turn.phase == scene.phase and ATTACK in turn.asked}
    if first < 1 or not asked:
        return Verdict(False, f"round {scene.round}, too early to tell whether the attacks run dry")
    reason = f"{len(new)} new attack{'s' * (len(new) != 1)} ran red in {wanted} round{'s' * (wanted != 1)}"
    return Verdict(not new, reason + (f" ({join_words(new)})" if new else ""), tally={"attacks": new})


def _new_attacks(ledger: Ledger, phase: str, first: int) -> list[str]:
    """The attacks since that round of the phase which ran red, and which no earlier one equals."""
    new = []
    for attacks in ledger.accepted.values():
        written = [attack.turn.answers[ATTACK] for attack in attacks]
        for place, turn in enumerate(attack.turn for attack in attacks):
            if turn.phase == phase and turn.round >= first and written[place] not in written[:place]:
                new.append(turn.id)
    return new


@order(parallel=True, places=("of",))
def still(seats: tuple[Seat, ...], scene: Scene, *, of: str, tests: Any = RED, exactly: Any = False) -> Batches:
    """Only the seats for whose candidate the newest trial in the step `of` said so, and those not tried yet.

    `fail` stands for whatever is not `pass`: nobody whose candidate is green is asked again. With `exactly: true`, only
    the seats for whose candidate it said just this, as in `{still: {of: assault, exactly: true}}`."""
    ledger = follow(scene)

    def is_meant(seat: Seat) -> bool:
        check = ledger.latest(seat.about, of)
        if exactly is True:
            return check is not None and matches(check.verdict, tests)
        verdict = check.verdict if check else UNKNOWN
        return check is None or matches(verdict, tests) or (verdict != GREEN and matches(RED, tests))

    chosen = tuple(filter(is_meant, seats))
    return [chosen] if chosen else []


@order(parallel=True)
def winner(seats: tuple[Seat, ...], scene: Scene) -> Batches:
    """Only the seats of the candidate that has won: the one that the newest vote chose, the only one, or the only one
    whose tests pass. If nobody has, none."""
    won = find_winner(scene, follow(scene))
    chosen = tuple(seat for seat in seats if won and seat.about == won.version.candidate)
    return [chosen] if chosen else []


@view(by_place=True, places=("steps",))
def mine(seat: Seat, scene: Scene, steps: Any = None) -> View:
    """The turns about this seat's candidate: its own, and those of seats `of` it. With `steps`, only of these."""
    named = _listed(steps)
    return tuple(
        Seen(turn)
        for turn in scene.turns
        if turn.seat.about == seat.about and (not named or {turn.phase, turn.step}.intersection(named))
    )


@view(one_each=True)
def standing(seat: Seat, scene: Scene) -> View:  # noqa: ARG001
    """The standing version of each candidate: the newest that passed its visible trial, else the newest."""
    ledger = follow(scene)
    return tuple(Seen(version.turn) for name in ledger.versions if (version := ledger.standing(name)))


def _listed(value: Any) -> Iterable[str]:
    return () if value is None else value if isinstance(value, list) else [value]
