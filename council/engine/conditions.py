"""The registry of rules, and the code that judges conditions and compares values."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from fractions import Fraction
from typing import Any

from council.engine.scene import Scene, Verdict
from council.errors import UsageError
from council.text import fold
from council.workflow.model import AllOf, AnyOf, Condition, Not
from council.workflow.registry import CheckedHook


@dataclass(frozen=True)
class RuleTraits:
    """What lint, cost and the other checks need to know of a rule. What is not declared is not checked."""

    reads: tuple[str, ...] = ()  # arguments that each name an answer
    numbers: tuple[str, ...] = ()  # arguments that are numbers, or options with one
    choices: Mapping[str, str] = field(default_factory=dict)  # for such an argument, the one that lists its values
    further: str = ""  # what its `**keywords` are: ANSWERS, PHASES or OPTIONS
    counts: bool = False  # in an `until`, it counts the answers of the round that has just ended
    equal: bool = False  # it compares answers word for word, which makes no sense for free text
    informs: bool = False  # its verdict is useful even if it ends nothing
    quoted: bool = False  # what it did not find is quoted in the briefs of the next round
    sources: tuple[str, ...] = ()  # arguments that name a step and its answer, as in analyze.perspectives
    author: str = ""  # the argument that names the phase or step it checks; by default, the synthesis
    in_round: bool = False  # it asks about the current round
    since: str = ""  # the argument with the first round in which it can hold
    places: tuple[str, ...] = ()  # arguments that name phases or steps
    inner: str = ""  # the argument that may hold another rule
    chooses: bool = False  # the answers that it reads are votes
    elects: bool = False  # its tally says for whom it holds, so that `vote` can name it in `among`
    never: Callable[[Mapping[str, Any]], str] | None = None  # explains why it can never hold with these arguments
    final: bool = False  # where it ends a debate, that is the outcome, whatever the stances
    escalates: str = ""  # what it means if it hands a question to a person, as in "stalemate"


ANSWERS, PHASES, OPTIONS = "answers", "phases", "options"
rule: CheckedHook[Callable[..., Verdict], RuleTraits] = CheckedHook("rule", 1, RuleTraits)

COMPARISON = re.compile(r"(>=|<=|>|<)\s*(-?\d+(?:\.\d+)?)")


def judge(condition: Condition, scene: Scene) -> Verdict:
    """Whether a condition of a workflow holds in the scene."""
    if isinstance(condition, Not):
        inner = judge(condition.of, scene)
        fired = () if inner else ("not " + _format(condition.of),)
        return Verdict(not inner.holds, inner.reason, fired, inner.tally)
    if isinstance(condition, (AnyOf, AllOf)):
        return combine([judge(inner, scene) for inner in condition.of], all_of=isinstance(condition, AllOf))
    verdict: Verdict = rule.call(condition, scene)
    return Verdict(verdict.holds, verdict.reason, (condition.name,) if verdict else (), verdict.tally)


def combine(verdicts: list[Verdict], all_of: bool = False) -> Verdict:
    """One verdict of several conditions, of which all or any must hold."""
    holds = all(verdicts) if all_of else any(verdicts)
    deciding = [verdict for verdict in verdicts if verdict.holds == holds]
    fired = tuple(dict.fromkeys(name for verdict in verdicts for name in verdict.fired)) if holds else ()
    tally = {key: value for verdict in verdicts for key, value in verdict.tally.items()}
    return Verdict(holds, "; ".join(dict.fromkeys(verdict.reason for verdict in deciding)), fired, tally)


def _format(condition: Condition) -> str:
    if isinstance(condition, Not):
        return "not " + _format(condition.of)
    if isinstance(condition, (AnyOf, AllOf)):
        return "(" + (" and " if isinstance(condition, AllOf) else " or ").join(map(_format, condition.of)) + ")"
    return condition.name


def matches(value: Any, wanted: Any) -> bool:
    """Whether an answer matches a value in a workflow: equal, one of a list, `any`, or a comparison as in ">= 90"."""
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
        raise UsageError(f'"{value}" is not a share; write it as 2/3 or 0.6')
    return part


def number(value: Any) -> float:
    if not re.fullmatch(r"-?\d{1,12}(?:\.\d{1,12})?", str(value)):
        raise UsageError(f'"{value}" is not a number')
    return float(value)
