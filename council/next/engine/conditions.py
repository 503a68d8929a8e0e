"""Judges the conditions of a workflow, and compares answers with the values that it names."""

from __future__ import annotations

import operator
from collections.abc import Mapping
from fractions import Fraction
from typing import Any

from council.next.engine.registry import rules
from council.next.engine.scene import Scene, Verdict
from council.next.errors import UsageError
from council.next.text import fold
from council.next.workflow.model import AllOf, AnyOf, Condition, Not

LONGEST_SHARE = 20  # characters; `1e-99999999` would be exact, and take all memory
COMPARISONS = {">=": operator.ge, "<=": operator.le, ">": operator.gt, "<": operator.lt}


def judge(condition: Condition, scene: Scene) -> Verdict:
    if isinstance(condition, Not):
        inner = judge(condition.of, scene)
        return Verdict(not inner.holds, inner.reason, () if inner else ("not",), inner.tally)
    if isinstance(condition, AnyOf | AllOf):
        return combine([judge(one, scene) for one in condition.of], all_of=isinstance(condition, AllOf))
    found: Verdict = rules.call(condition, scene)
    return Verdict(found.holds, found.reason, (condition.name,) if found else (), found.tally, found.elected)


def combine(verdicts: list[Verdict], all_of: bool = False) -> Verdict:
    """Several verdicts as one, with the reasons of those that decided it."""
    holds = all(verdicts) if all_of else any(verdicts)
    reasons = dict.fromkeys(one.reason for one in verdicts if one.holds == holds and one.reason)
    fired = tuple(name for one in verdicts for name in one.fired) if holds else ()
    tally: dict[str, Any] = {}
    for one in verdicts:
        tally |= one.tally
    elected = next((one.elected for one in verdicts if one.holds and one.elected), "") if holds else ""
    return Verdict(holds, "; ".join(reasons), fired, tally, elected)


def matches(value: Any, wanted: Any, scene: Scene) -> bool:
    """Whether an answer is the value in a workflow: equal, one of a list, `any`, or a comparison as in ">= 90".

    A comparison that cannot be read is refused even beside no answer, so it is found when a workflow is checked."""
    if isinstance(wanted, list):
        found = [matches(value, one, scene) for one in wanted]
        return any(found)
    wanted = str(wanted).lower() if isinstance(wanted, bool) else str(wanted)
    sign, _, limit = wanted.partition(" ")
    least = scene.workflow.number(limit.strip()) if sign in COMPARISONS else 0
    if value is None:
        return False
    if wanted == "any":
        return bool(value) or isinstance(value, int | float)
    if isinstance(value, tuple):
        return any(fold(str(item)) == fold(wanted) for item in value)
    if sign in COMPARISONS:
        return isinstance(value, int | float) and bool(COMPARISONS[sign](value, least))
    return fold(str(value)) == fold(wanted)


def fraction(value: Any, options: Mapping[str, Any]) -> Fraction:
    """`2/3`, `0.6`, `1`, or an option with one of these, exactly."""
    words = str(options.get(str(value), value)).replace(" ", "")
    try:
        part = Fraction(words if len(words) <= LONGEST_SHARE and "e" not in words.lower() else -1)
    except (ValueError, ZeroDivisionError):
        part = Fraction(-1)
    if not 0 <= part <= 1:
        raise UsageError(f'"{value}" is not a share from 0 to 1, as in 2/3 or 0.6')
    return part
