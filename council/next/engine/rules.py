"""The rules that every protocol can use.

A seat that is silent, absent or unreadable agrees to nothing, and stays in every denominator.
"""

from __future__ import annotations

from collections import Counter
from fractions import Fraction
from itertools import islice
from typing import Any

from council.next.engine import voting
from council.next.engine.conditions import fraction, judge, matches
from council.next.engine.registry import Answer, Ending, rule
from council.next.engine.scene import Scene, Turn, Verdict
from council.next.errors import UsageError
from council.next.text import did_you_mean, fold, join_reasons, join_words, overlap
from council.next.workflow.model import Condition, Ref

# ---- where the debate stands ----


@rule
def option(scene: Scene, name: str = "", /, **values: Any) -> Verdict:
    """An option is on, or has the given value."""
    wanted = values or {name: True}
    for key in wanted:
        if key not in scene.options:
            raise UsageError(f'the rule "option": there is no option "{key}"; {did_you_mean(key, scene.options)}')
    words = {key: {True: "on", False: "off"}.get(scene.options[key], str(scene.options[key])) for key in wanted}
    holds = all(scene.options[key] == value or matches(words[key], value, scene) for key, value in wanted.items())
    return Verdict(holds, ", ".join(f"option {key} is {value}" for key, value in words.items()))


@rule
def ended(scene: Scene, /, **phases: Ending) -> Verdict:
    """A phase is over, and ended so."""
    holds = all(matches(scene.ended.get(phase), wanted, scene) for phase, wanted in phases.items())
    return Verdict(holds, ", ".join(f"{phase}: {scene.ended.get(phase, 'not held')}" for phase in phases))


@rule
def last_round(scene: Scene) -> Verdict:
    """This is the last round that the phase may have."""
    return Verdict(scene.round >= scene.cap, f"round {scene.round} of at most {scene.cap}")


@rule
def from_round(scene: Scene, number: Any) -> Verdict:
    """This is round `number` of the phase, or a later one."""
    return Verdict(scene.round >= scene.workflow.number(number), f"round {scene.round}, from round {number} on")


@rule
def spent(scene: Scene, *, usd: Any = None, tokens: Any = None, calls: Any = None) -> Verdict:
    """The debate has used at least this much. A call whose cost is unknown counts as the most that it can have cost."""
    used = dict(scene.used)
    limits = {"usd": usd, "tokens": tokens, "calls": calls}
    most = {name: scene.workflow.number(limit) for name, limit in limits.items() if limit is not None}
    reason = ", ".join(f"{used[name]:g} {name}" for name in most) + " spent"
    return Verdict(any(used[name] >= limit for name, limit in most.items()), reason, tally=used)


@rule
def denied(scene: Scene, *, how: str) -> Verdict:
    """At the last gate, a person answered `how`."""
    turn = next((turns[-1] for turns in scene.moments_that_ask("gate")), None)
    if turn is None or turn.answers.get("gate") != how:
        return Verdict(False, f"{how} was not the answer at a gate")
    return Verdict(True, f"{turn.seat.label}: {how}: {turn.answers.get('reason') or 'no reason given'}")


# ---- what seats answered ----


def tally(scene: Scene, fields: dict[str, Any]) -> tuple[list[Turn], list[Turn], Verdict]:
    """Who gave these answers, of whom; with the sentence and the numbers that say so."""
    if not fields:
        raise UsageError("a rule such as `some` needs the name of an answer, as in {some: {ready: yes}}")
    turns = scene.latest(*fields)
    found = [
        turn for turn in turns if all(matches(turn.answers.get(name), want, scene) for name, want in fields.items())
    ]
    words = ", ".join(f"{name} {want}" for name, want in fields.items())
    reason = f"{len(found)} of {len(turns)} say {words}" if turns else f"nobody was asked for {join_words(fields)}"
    silent = join_reasons((turn.seat.name, turn.silence(*fields)) for turn in turns)
    counted = {"for": [turn.seat.name for turn in found], "of": len(turns), "silent": silent}
    reason += f" ({silent})" if silent else ""
    return found, turns, Verdict(bool(found), reason, tally={"/".join(fields): counted})


@rule
def some(scene: Scene, /, **fields: Answer) -> Verdict:
    """At least one seat gave this answer when it was last asked for."""
    return tally(scene, fields)[2]


@rule
def every(scene: Scene, /, **fields: Answer) -> Verdict:
    """Every seat that was asked gave this answer. An absent seat did not."""
    found, turns, verdict = tally(scene, fields)
    return Verdict(bool(turns) and len(found) == len(turns), verdict.reason, tally=verdict.tally)


@rule
def share(scene: Scene, /, *, at: Any = None, over: Any = None, **fields: Answer) -> Verdict:
    """At least the share `at`, or more than the share `over`, of the seats that were asked gave this answer."""
    if (at is None) == (over is None):
        raise UsageError('the rule "share" needs either at: (at least) or over: (more than), as in at: 2/3')
    found, turns, verdict = tally(scene, fields)
    part = Fraction(len(found), len(turns) or 1)
    holds = part > fraction(over, scene.options) if at is None else part >= fraction(at, scene.options)
    return Verdict(bool(turns) and holds, verdict.reason, tally=verdict.tally)


@rule
def split(scene: Scene, field: Answer) -> Verdict:
    """The seats' newest answers differ. A seat that falls silent keeps its last answer."""
    counts = Counter(fold(str(turn.answers[field])) for turn in scene.last_words(field).values())
    said = join_words(f"{number} {answer}" for answer, number in counts.most_common()) or "nothing"
    return Verdict(len(counts) > 1, f"{field}: {said}", tally={field: dict(counts)})


@rule
def moved(scene: Scene, field: Answer, *, by: Any = 10) -> Verdict:
    """Some seat changed its answer since it was last asked. A number has to change by at least `by`."""
    least = scene.workflow.number(by)
    names = []
    for turn in scene.latest(field):
        old, new = scene.before(turn, field), turn.answers.get(field)
        are_numbers = isinstance(new, int | float) and isinstance(old, int | float)
        if None not in (old, new) and (abs(new - old) >= least if are_numbers else old != new):
            names.append(turn.seat.name)
    return Verdict(bool(names), f"{join_words(names) or 'nobody'} moved", tally={"moved": names})


@rule
def stuck(scene: Scene, *, field: Answer, gain: Any = 1, over: Any = 3) -> Verdict:
    """For `over` rounds of this phase, the mean of a number rose by less than `gain`, or no answer changed.

    A number counts for the seats that were heard in both the first and the last of these rounds."""
    window, least = scene.workflow.whole(over), Fraction(str(scene.workflow.number(gain)))
    own = (turns for turns in scene.moments_that_ask(field) if turns[0].phase == scene.phase)
    rounds = [*islice(own, window)]
    if scene.round <= window or len(rounds) < window:
        return Verdict(False, f"too early to tell whether {field} is stuck")
    last, first = ({turn.seat.name: turn.answers.get(field) for turn in turns} for turns in (rounds[0], rounds[-1]))
    both = [name for name in last if last[name] is not None and first.get(name) is not None]
    if not all(isinstance(one[name], int | float) for one in (last, first) for name in both):
        same = all(turn.answers.get(field) == last.get(turn.seat.name) for turns in rounds for turn in turns)
        return Verdict(same, f"{field} {'stayed the same' if same else 'changed'} over {window} rounds")
    gained = sum(Fraction(str(last[name])) - Fraction(str(first[name])) for name in both) / max(len(both), 1)
    return Verdict(bool(both) and gained < least, f"{field} gained {float(gained):g} in {window} rounds")


@rule
def repeats(scene: Scene, *, over: Any = 0.6, seats: str = "some") -> Verdict:
    """Some seats (with `seats: every`, all) repeat more than this share of their own turn of the round before."""
    most = scene.workflow.number(over)
    if seats not in ("some", "every"):
        raise UsageError(f'the rule "repeats": seats must be some or every, not "{seats}"')
    last = next(reversed(scene.moments.values()), [])
    shares = {turn.seat.name: part for turn in last if (part := repetition(turn, scene)) is not None}
    names = [name for name, part in shares.items() if part > most]
    holds = bool(names) and (seats != "every" or len(names) == len(last))
    return Verdict(holds, f"{join_words(names) or 'nobody'} repeated the round before", tally={"repeats": shares})


def repetition(turn: Turn, scene: Scene) -> float | None:
    """The share of a turn's words that stood in the seat's turn one round earlier. None if there was none."""
    earlier = scene.moments.get((turn.phase, turn.round - 1, turn.step), [])
    same = next((one for one in earlier if one.seat.name == turn.seat.name and not one.absent), None)
    return None if same is None or turn.absent else round(overlap(turn.said.body, same.said.body), 2)


@rule
def vote(
    scene: Scene,
    *,
    field: Answer,
    method: str = "plurality",
    among: Condition | list[str] | str = "",
    sure: Answer = "",
    scored: bool = False,
    ties: str = "",
) -> Verdict:
    """The seats chose one option. A tie chooses nothing, unless the option `ties` is on: then the seed decides.

    An answer is a choice, a list with the best first or, with `scored: true`, a list of `option: 80`. `among` names the
    only options that count, or a rule whose verdict says which, as in `{passes: trial}`. A seat's `weight` counts."""
    if ties and ties not in scene.options:
        raise UsageError(f'the rule "vote": ties: there is no option "{ties}"; {did_you_mean(ties, scene.options)}')
    options, why = options_among(scene, among)
    ballots: dict[str, voting.Ballot] = {}
    for turn in scene.latest(*filter(None, (field, sure))):
        given, certain = turn.answers.get(field), turn.answers.get(sure) if sure else voting.FULL
        weight = turn.seat.get("weight") or 1
        ballots[turn.seat.name] = voting.read(None if why else given, options, scored, certain, weight)
    result = voting.count([*ballots.values()], method)
    silent = [name for name, ballot in ballots.items() if not ballot.places]
    unknown = {name: ballot.unknown for name, ballot in ballots.items() if ballot.unknown}
    votes = {option: float(number) for option, number in result.counts.items()}
    counted = {"votes": votes, "of": float(result.of), "silent": silent, "unknown": unknown, "method": result.method}
    if result.is_tie and scene.options.get(ties) is True:
        winner = scene.rng("tie", *result.leading).choice(result.leading)
        return Verdict(True, f"{result.summary}; the session's seed chose {winner}", tally=counted, elected=winner)
    return Verdict(bool(result.winner), why or result.summary, tally=counted, elected=result.winner)


def options_among(scene: Scene, among: Any) -> tuple[list[str], str]:
    """The only options that count, which are all if there are none; and why nothing counts, if a rule says so."""
    if not isinstance(among, dict):
        return [str(one) for one in (among if isinstance(among, list) else [among] if among else [])], ""
    if len(among) != 1:
        raise UsageError('the rule "vote": among must be options or one rule, as in {passes: trial}')
    verdict = judge(Ref(*next(iter(among.items()))), scene)
    options = [
        str(one) for counted in verdict.tally.values() if isinstance(counted, dict) for one in counted.get("for", ())
    ]
    return options, "" if options else f"no option counts: {verdict.reason}"
