"""Mutants: the same code with one small mistake. Tests that let one pass do not test what it changed."""

from __future__ import annotations

import ast
import difflib
import math
from collections.abc import Callable, Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, replace
from functools import partial

from council.sandbox.model import PASS, Trial, Tried
from council.text import one_line

MOST = 40  # of one trial: each runs all tests
AT_ONCE = 2
SKIPPED = ("annotation", "returns", "decorator_list", "bases", "type_params")  # no test can tell these apart
OPERATORS: Mapping[type[ast.AST], type[ast.AST]] = {
    ast.Lt: ast.LtE, ast.LtE: ast.Lt, ast.Gt: ast.GtE, ast.GtE: ast.Gt, ast.Eq: ast.NotEq, ast.NotEq: ast.Eq,
    ast.Is: ast.IsNot, ast.IsNot: ast.Is, ast.In: ast.NotIn, ast.NotIn: ast.In, ast.And: ast.Or, ast.Or: ast.And,
    ast.Add: ast.Sub, ast.Sub: ast.Add, ast.Mult: ast.FloorDiv, ast.Div: ast.Mult, ast.FloorDiv: ast.Div,
    ast.Mod: ast.FloorDiv, ast.BitAnd: ast.BitOr, ast.BitOr: ast.BitAnd, ast.LShift: ast.RShift, ast.RShift: ast.LShift,
}  # fmt: skip


@dataclass(frozen=True)
class Mutant:
    """A file with one mistake: in which line, and what was changed to what."""

    path: str
    line: int
    change: str
    content: bytes

    def __str__(self) -> str:
        return f"{self.path}:{self.line}: {self.change}"


def find_mutants(before: bytes, after: bytes, path: str) -> list[Mutant]:
    """Every mutant of the lines that differ from `before`, in their order; none if the file is not valid Python."""
    try:
        tree = ast.parse(after)
    except (SyntaxError, ValueError, RecursionError):
        return []
    changed = _changed_lines(before, after)
    mutants = []
    for node, put in _places(tree):
        if not changed.isdisjoint(range(node.lineno, (node.end_lineno or node.lineno) + 1)):
            for other in _mistakes(node):
                put(other)
                content = ast.unparse(ast.fix_missing_locations(tree)).encode() + b"\n"
                change = one_line(f"`{ast.unparse(node)}` became `{ast.unparse(other)}`", 160)
                mutants.append(Mutant(path, node.lineno, change, content))
            put(node)
    return sorted(mutants, key=lambda mutant: mutant.line)


def _changed_lines(before: bytes, after: bytes) -> set[int]:
    lines = before.splitlines(), after.splitlines()
    blocks = difflib.SequenceMatcher(None, *lines, autojunk=False).get_opcodes()
    return {line + 1 for tag, _, _, first, last in blocks if tag != "equal" for line in range(first, last)}


def _places(tree: ast.AST) -> Iterator[tuple[ast.expr | ast.stmt, Callable[[ast.AST], None]]]:
    """Every expression and statement, with a function that puts another one in its place."""
    for parent in ast.walk(tree):
        for name, value in ast.iter_fields(parent):
            if name in SKIPPED or isinstance(parent, ast.JoinedStr):
                continue
            if isinstance(value, ast.expr):
                yield value, partial(setattr, parent, name)
            for place, item in enumerate(value if isinstance(value, list) else ()):
                if isinstance(item, (ast.expr, ast.stmt)):
                    yield item, partial(value.__setitem__, place)


def _mistakes(node: ast.AST) -> Iterator[ast.AST]:
    """What somebody could have written instead: another operator, a wrong constant, nothing returned, a lost call."""
    match node:
        case ast.Compare(left, [first, *more], values) if type(first) in OPERATORS:
            yield ast.Compare(left, [OPERATORS[type(first)](), *more], values)  # type: ignore[list-item]
        case ast.BinOp(left, op, right) if type(op) in OPERATORS:
            yield ast.BinOp(left, OPERATORS[type(op)](), right)  # type: ignore[arg-type]
        case ast.AugAssign(target, op, value) if type(op) in OPERATORS:
            yield ast.AugAssign(target, OPERATORS[type(op)](), value)  # type: ignore[arg-type]
        case ast.BoolOp(op, values):
            yield ast.BoolOp(OPERATORS[type(op)](), values)  # type: ignore[arg-type]
        case ast.UnaryOp(ast.Not() | ast.USub(), operand):
            yield operand
        case ast.Constant(bool() as value):
            yield ast.Constant(not value)
        case ast.Constant(int() | float() as value):
            yield ast.Constant(value + 1)
        case ast.Return(value) if value is not None and not (isinstance(value, ast.Constant) and value.value is None):
            yield ast.Return(ast.Constant(None))
        case ast.Expr(ast.Call()) | ast.Raise() | ast.Break():
            yield ast.Pass()


def try_mutants(trial: Trial, base: Mapping[str, bytes], run: Callable[[Trial], Tried], most: int = MOST) -> Tried:
    """Run the tests on mutants of the files that differ from `base`: `killed` is the percentage that the tests notice.

    Of more than `most` mutants, evenly spaced ones are tried. If the tests fail on the code itself, none is.
    """
    whole = run(trial)
    if whole.verdict != PASS:  # tests that fail anyway notice nothing
        return replace(whole, metrics={**whole.metrics, "mutants": 0, "killed": 0})
    changed = sorted(path for path, data in trial.tree.items() if path.endswith(".py") and base.get(path) != data)
    found = [mutant for path in changed for mutant in find_mutants(base.get(path, b""), trial.tree[path], path)]
    mutants = [found[place * len(found) // most] for place in range(most)] if len(found) > most else found
    trials = [replace(trial, tree={**trial.tree, mutant.path: mutant.content}) for mutant in mutants]
    with ThreadPoolExecutor(AT_ONCE) as pool:
        verdicts = [tried.verdict for tried in pool.map(run, trials)]
    survivors = tuple(str(mutant) for mutant, verdict in zip(mutants, verdicts, strict=True) if verdict == PASS)
    killed = math.floor(100 * (len(mutants) - len(survivors)) / len(mutants)) if mutants else 100
    log = f"{len(mutants) - len(survivors)} of {len(mutants)} mutants were noticed; {len(found)} were possible"
    metrics = {**whole.metrics, "mutants": len(mutants), "killed": killed}
    return replace(whole, log=log, metrics=metrics, survivors=survivors)
