"""Options in place of numbers: `">= target"` in a rule, `gain: min_progress` in an argument that takes a number.

They are put in when a workflow's options are set, so that every rule, check and report sees the number itself.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from council.errors import UsageError
from council.text import did_you_mean
from council.workflow.model import AllOf, AnyOf, Condition, Not, Ref, Step
from council.workflow.registry import CheckedHook

NAMED = re.compile(r"(>=|<=|>|<)\s*([a-z][\w-]*)")
WORD = re.compile(r"[a-z][\w-]*")
NUMBER = re.compile(r"-?\d{1,12}(?:\.\d{1,12})?")
SHARE = re.compile(rf"{NUMBER.pattern}|\d{{1,6}}/[1-9]\d{{0,5}}")


def fill_condition(condition: Condition, options: Mapping[str, Any]) -> Condition:
    if isinstance(condition, Not):
        return Not(fill_condition(condition.of, options))
    if isinstance(condition, (AnyOf, AllOf)):
        return replace(condition, of=tuple(fill_condition(one, options) for one in condition.of))
    return fill(condition, "rule", options)


def fill_step(step: Step, options: Mapping[str, Any]) -> Step:
    return replace(
        step,
        when=None if step.when is None else fill_condition(step.when, options),
        order=fill(step.order, "order", options),
        sees=tuple(fill(ref, "view", options) for ref in step.sees),
    )


def fill(ref: Ref, kind: str, options: Mapping[str, Any]) -> Ref:
    """The rule, order or view with numbers for the options that it names."""
    written = ref.args if ref.written is None else ref.written
    filled = _fill_args(Ref(ref.name, written), kind, options)
    return ref if filled == ref.args else replace(ref, args=filled, written=written)


def _fill_args(ref: Ref, kind: str, options: Mapping[str, Any]) -> Any:
    hook = CheckedHook.of_kind(kind)
    traits = hook.traits(ref.name)
    what = f'the {kind} "{ref.name}"'
    if not isinstance(ref.args, dict):
        takes_number = next(iter(hook.parameters(ref.name)), "") in traits.numbers
        return _fill_number(ref.args, what, options) if takes_number else ref.args
    filled = {}
    for name, value in ref.args.items():
        if name in traits.numbers:
            filled[name] = _fill_number(value, f"{what}: {name}", options)
        elif name == getattr(traits, "inner", ""):
            filled[name] = _fill_inner(value, kind, options)
        else:
            filled[name] = _fill_comparisons(value, f"{what}: {name}", options) if kind == "rule" else value
    return filled


def _fill_inner(value: Any, kind: str, options: Mapping[str, Any]) -> Any:
    """The rules or views inside another: names, or names with their arguments."""
    if isinstance(value, list):
        return [_fill_inner(one, kind, options) for one in value]
    if isinstance(value, dict) and len(value) == 1:
        ((name, args),) = value.items()
        return {name: _fill_args(Ref(str(name), args), kind, options)}
    return value


def _fill_number(value: Any, what: str, options: Mapping[str, Any]) -> Any:
    if not isinstance(value, str) or not WORD.fullmatch(value):
        return value  # the rule itself refuses what is no number
    return _find(value, what, options, SHARE)


def _fill_comparisons(value: Any, what: str, options: Mapping[str, Any]) -> Any:
    if isinstance(value, list):
        return [_fill_comparisons(one, what, options) for one in value]
    if isinstance(value, str) and (found := NAMED.fullmatch(value.strip())):
        return f"{found[1]} {_find(found[2], what, options)}"
    return value


def _find(name: str, what: str, options: Mapping[str, Any], form: re.Pattern[str] = NUMBER) -> str:
    if name not in options:
        known = [one for one, value in options.items() if form.fullmatch(str(value))]
        raise UsageError(f'{what}: there is no option "{name}"; {did_you_mean(name, known)}')
    if not form.fullmatch(value := str(options[name])):
        raise UsageError(f'the option {name} must be a number, because {what} reads it; not "{value}"')
    return value
