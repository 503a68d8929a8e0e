"""The rules that every protocol can use: what seats answered (some, every, a share, a vote), and the state of the
debate (rounds, options, outcomes, cost, and whether positions still change).

A seat that is silent, absent or unreadable agrees to nothing, and stays in every denominator.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from fractions import Fraction
from itertools import chain
from typing import Any

from council.engine import voting
from council.engine.conditions import ANSWERS, OPTIONS, PHASES, fraction, judge, matches, number, rule
from council.engine.scene import Scene, Turn, Verdict, describe_silent
from council.errors import UsageError
from council.text import did_you_mean, join_words, one_line, overlap
from council.workflow import gates
from council.workflow.model import Ref, Seat


@rule(further=OPTIONS)
def option(scene: Scene, name: str = "", **values: Any) -> Verdict:
    """An option is on, or has the given value."""
    wanted = values or {str(name): True}
    for key in wanted:
        if key not in scene.options:
            raise UsageError(f'the rule "option" asks for "{key}", which the workflow does not have')
    flags = {True: "on", False: "off"}
    written = {key: flags[value] if isinstance(value := scene.options[key], bool) else str(value) for key in wanted}
    holds = all(
        scene.options[key] is value if isinstance(value, bool) else matches(written[key], value)
        for key, value in wanted.items()
    )
    return Verdict(holds, "option " + ", ".join(f"{key} is {value}" for key, value in written.items()))


@rule(further=PHASES)
def outcome(scene: Scene, **phases: Any) -> Verdict:
    """A finished phase had one of these outcomes."""
    holds = all(matches(scene.outcomes.get(phase), wanted) for phase, wanted in phases.items())
    said = ", ".join(f"{phase} ended {scene.outcomes.get(phase, 'not at all')}" for phase in phases)
    return Verdict(holds, said)


@rule(in_round=True)
def last_round(scene: Scene) -> Verdict:
    """This is the last round that the phase may have."""
    return Verdict(scene.round >= scene.cap, f"round {scene.round} of at most {scene.cap}")


@rule(in_round=True, since="number", numbers=("number",))
def from_round(scene: Scene, number: Any) -> Verdict:
    """This is round `number` of the phase, or a later one."""
    if not re.fullmatch(r"[1-9]\d?", str(number)):
        raise UsageError(f'the rule "from_round": "{number}" is not a round')
    return Verdict(scene.round >= int(number), f"round {scene.round}, from round {number} on")


@rule(numbers=("usd", "tokens", "calls"))
def spent(scene: Scene, *, usd: Any = None, tokens: Any = None, calls: Any = None) -> Verdict:
    """The debate has spent at least this much money, this many tokens or this many calls.

    The money and tokens of calls that failed count; an unknown cost counts as the most it can have been."""
    calls_made = [said for turn in scene.turns for said in (turn.first, turn.said) if said]
    prices = [said.most if said.usd is None else said.usd for said in calls_made]
    sums = {
        "usd": sum(price or 0.0 for price in prices),
        "tokens": sum(said.tokens for said in calls_made),
        "calls": len(calls_made),
    }
    limits = {"usd": usd, "tokens": tokens, "calls": calls}
    passed = [name for name, limit in limits.items() if limit is not None and sums[name] >= number(limit)]
    figures = ", ".join(f"{sums[name]:g} {name}" for name, limit in limits.items() if limit is not None)
    unpriced = prices.count(None)
    unknown = f" ({unpriced} of {len(calls_made)} calls have no known price)" if unpriced and usd is not None else ""
    return Verdict(bool(passed), f"{figures} spent{unknown}", tally={**sums, "unpriced": unpriced})


@rule(reads=("field",), escalates="stalemate", numbers=("gain", "over"))
def stuck(scene: Scene, *, field: str, gain: Any = 1, over: Any = 3) -> Verdict:
    """For `over` rounds of this phase, the mean of a number rose by less than `gain`, or no answer changed.

    A number counts for the seats that were heard in the first and in the last of these rounds."""
    least, window = Fraction(str(number(gain))), int(number(over))
    if window < 2:
        raise UsageError('the rule "stuck" compares rounds: over must be 2 or more')
    rounds = [turns for turns in scene.rounds_that_ask(field) if turns[0].phase == scene.phase][:window]
    if scene.round <= window or len(rounds) < window:
        return Verdict(False, f"too early to tell whether {field} is stuck")
    values = [{turn.seat.name: turn.answers.get(field) for turn in turns} for turns in reversed(rounds)]
    if all(isinstance(value, (int, float)) for row in values for value in row.values() if value is not None):
        return _gained(field, values, least)
    same = all(row == values[0] for row in values)
    reason = f"{field} {'stayed the same' if same else 'changed'} over {over} rounds"
    return Verdict(same, reason, tally={field: values[-1]})


def _gained(field: str, values: list[dict[str, Any]], least: Fraction) -> Verdict:
    """Whether a number rose by less than `least`. A seat that was not heard neither rose nor fell."""
    first, last = ({seat: value for seat, value in row.items() if value is not None} for row in (values[0], values[-1]))
    both = sorted(first.keys() & last.keys())
    silent = [seat for seat in {**values[0], **values[-1]} if seat not in both]
    unheard = f" ({join_words(silent)} not heard in both)" if silent else ""
    if not both and any(value is not None for row in values for value in row.values()):
        return Verdict(False, f"no seat gave {field} in the first and the last of {len(values)} rounds")
    # Exact: a gain of just `least` is progress.
    means = [sum(Fraction(str(row[seat])) for seat in both) / max(len(both), 1) for row in (first, last)]
    gained = means[1] - means[0]
    return Verdict(
        gained < least,
        f"{field} gained {round(float(gained), 2):g} in {len(values)} rounds{unheard}",
        tally={"means": [round(float(mean), 2) for mean in means], "not_heard": silent},
    )


@rule(numbers=("over",))
def repeats(scene: Scene, *, over: Any = 0.6, seats: str = "some") -> Verdict:
    """Some seats (or every seat) repeat more than this share of the words of their own turn in the previous round."""
    most = number(over)
    if seats not in ("some", "every"):
        raise UsageError(f'the rule "repeats": seats must be some or every, not "{seats}"')
    rounds = [turns for turns in scene.moments() if turns[0].phase == scene.phase]
    if not rounds:
        return Verdict(False, "nothing to compare")
    last = rounds[-1]
    likeness = {
        turn.seat.name: round(share, 2) for turn in last if (share := measure_repetition(turn, scene)) is not None
    }
    repeating = [name for name, like in likeness.items() if like > most]
    holds = len(repeating) == len(last) if seats == "every" else bool(repeating)
    reason = f"{join_words(repeating) if repeating else 'nobody'} repeated most of the previous round"
    return Verdict(holds, reason, tally={"repeats": likeness})


def measure_repetition(turn: Turn, scene: Scene) -> float | None:
    """The share of a turn that repeats the seat's turn in the same step a round earlier; None if there is none."""
    moment = (turn.phase, turn.round - 1, turn.step)
    same = (one for one in reversed(scene.turns) if one.moment == moment and one.seat.name == turn.seat.name)
    before = next(same, None)
    return None if before is None or turn.absent else overlap(turn.body, before.body)


def _counted(scene: Scene, fields: Mapping[str, Any]) -> tuple[list[Turn], tuple[Turn, ...], dict[str, Any], str]:
    if not fields:
        raise UsageError("the rules some, every and share need the name of an answer, as in {some: {stance: disagree}}")
    turns = scene.latest(*fields)
    matching = [turn for turn in turns if all(matches(turn.answers.get(name), value) for name, value in fields.items())]
    silent = [turn.seat.name for turn in turns if not set(fields) <= {*turn.answers, *turn.optional}]
    wanted = ", ".join(f"{name} {_format_wanted(matching, name, value)}" for name, value in fields.items())
    reason = f"{len(matching)} of {len(turns)} say {wanted}" if turns else f"nobody was asked for {join_words(fields)}"
    reason += f" ({describe_silent(turns, *fields)})" if silent else ""
    tally = {"for": [turn.seat.name for turn in matching], "of": len(turns), "not_heard": silent}
    return matching, turns, {"/".join(fields): tally}, reason


def _format_wanted(matching: list[Turn], name: str, wanted: Any) -> str:
    """The values that were asked for; of a list, those that were given, if any were."""
    if not isinstance(wanted, list):
        return str(wanted)
    given = {str(turn.answers[name]) for turn in matching}
    return " or ".join([str(value) for value in wanted if str(value) in given] or map(str, wanted))


@rule(places=("at",), final=True)
def denied(scene: Scene, *, at: Any, how: str) -> Verdict:
    """At one of these gates, a person has not approved: they `rejected` or `vetoed`, or it was `not approved`, by
    silence or by an answer that cannot be read."""
    places = at if isinstance(at, list) else [at]
    said = {gates.REJECT: gates.REJECTED, gates.VETO: gates.VETOED}
    for turn in reversed(scene.turns):
        if turn.phase in places and turn.seat.is_person:
            answer = turn.answers.get(gates.GATE)
            if answer != gates.APPROVE:
                ended = said.get(str(answer), gates.NOT_APPROVED)
                reason = one_line(str(turn.answers.get(gates.REASON) or turn.absent or ""), 200)
                stated = f": “{reason}”" if reason not in ("", "none") else ""
                return Verdict(ended == how, f"{turn.seat.label} at {turn.phase.replace('-', ' ')}: {ended}{stated}")
    return Verdict(False, "nothing was denied at a gate")


@rule(further=ANSWERS, counts=True)
def some(scene: Scene, **fields: Any) -> Verdict:
    """At least one seat gave this answer when it was last asked for."""
    found, _, tally, reason = _counted(scene, fields)
    return Verdict(bool(found), reason, tally=tally)


@rule(further=ANSWERS, counts=True)
def every(scene: Scene, **fields: Any) -> Verdict:
    """Every seat that was asked gave this answer. An absent seat did not."""
    found, turns, tally, reason = _counted(scene, fields)
    return Verdict(bool(turns) and len(found) == len(turns), reason, tally=tally)


def _over_all(arguments: Mapping[str, Any]) -> str:
    return "a share cannot be over 1; write `at: 1` for all seats" if arguments.get("over") == "1" else ""


@rule(
    further=ANSWERS,
    counts=True,
    numbers=("at", "over"),
    never=_over_all,
    escalates="fundamental disagreement",
)
def share(scene: Scene, *, at: Any = None, over: Any = None, **fields: Any) -> Verdict:
    """At least `at`, or more than `over`, of the seats that were asked gave this answer."""
    found, turns, tally, reason = _counted(scene, fields)
    part = Fraction(len(found), len(turns)) if turns else Fraction(0)
    if (at is None) == (over is None):
        raise UsageError('the rule "share" needs either at: (at least) or over: (more than), as in at: 2/3')
    holds = part > fraction(over) if at is None else part >= fraction(at)
    return Verdict(bool(turns) and holds, reason if holds or not found else f"only {reason}", tally=tally)


@rule(
    reads=("field", "sure"),
    choices={"field": "among"},
    counts=True,
    equal=True,
    informs=True,
    inner="among",
    chooses=True,
)
def vote(
    scene: Scene,
    *,
    field: str,
    method: str = "plurality",
    among: Any = (),
    sure: str = "",
    scored: Any = False,
    ties: str = "",
) -> Verdict:
    """The seats chose one option. A tie is not a choice.

    The table of vote methods lists the methods. An answer is a choice, a ranking (a list, best first) or, with
    `scored: true`, a list of `option: 80`. `among` lists the only options that count, or is a rule that says which, as
    in `{passes: trial}`. A seat's `weight` applies to every method. `ties` names an option: if it is on, the session's
    seed decides a tie, and the verdict says so."""
    options, unelected = _list_options(scene, among)
    if not isinstance(scored, bool) or not all(options):
        raise UsageError('the rule "vote" takes scored: true or false, and among: a list of options')
    if ties and ties not in scene.options:
        raise UsageError(f'the rule "vote": ties: there is no option "{ties}"; {did_you_mean(ties, scene.options)}')
    turns = scene.latest(*filter(None, (field, sure)))
    weights = {seat.name: _weight(seat) for seat in (*chain(*scene.groups.values()), *(turn.seat for turn in turns))}
    ballots = {
        turn.seat.name: voting.read(
            turn.answers.get(field),
            options or ([NOTHING_COUNTS] if unelected else ()),
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
    summary = unelected or result.summary
    if ties and scene.options[ties] is True and result.outcome == "tie":
        winner = scene.rng("tie", *result.leading).choice(result.leading)
        tally |= {"outcome": "winner", "winner": winner, "broken": True}
        return Verdict(True, f"{summary}; the session's seed decided for {winner}", tally=tally)
    return Verdict(result.outcome == "winner", summary, tally=tally)


NOTHING_COUNTS = "\n"  # as the only option: no ballot can name it


def _list_options(scene: Scene, among: Any) -> tuple[list[str], str]:
    """The only options that count, all if there are none; and why nothing counts, if a rule says so."""
    if not isinstance(among, dict):
        listed = among if isinstance(among, (list, tuple)) else [among]
        return [voting.normalize_option(str(one)) for one in listed], ""
    name, *more = map(str, among) if among else [""]
    if more or not rule.traits(name).elects:
        guess = did_you_mean(name, rule.with_trait("elects"))
        raise UsageError(f'the rule "vote": among: the rule "{name}" does not say which options count; {guess}')
    verdict = judge(Ref(name, among[name]), scene)
    options = [voting.normalize_option(str(one)) for one in verdict.tally.get(name, {}).get("for", ())]
    return options, "" if options else f"no option counts: {verdict.reason}"


def _weight(seat: Seat) -> Fraction:
    text = str(seat.attributes.get("weight", 1))
    if not re.fullmatch(r"\d{1,6}(?:\.\d{1,6})?", text):
        raise UsageError(f'the seat {seat.name}: its weight "{text}" is not a number')
    return Fraction(text)
