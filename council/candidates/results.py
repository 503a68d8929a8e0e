"""Who wins, and every version of each candidate in numbers. Everything follows from the record; nothing is run."""

from __future__ import annotations

import ast
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from council.candidates import base, patch
from council.candidates.approval import describe_refusal
from council.candidates.base import Base, hash_files
from council.candidates.versions import (
    COMPLAINTS,
    FAILED,
    MUTANTS,
    PASSED,
    SUITE,
    TESTS,
    VISIBLE,
    CheckedVersion,
    Ledger,
    Version,
    bench_of,
    follow,
    ids_of,
    kind_of,
    lay,
    take_tests,
)
from council.engine.contributions import Record
from council.engine.scene import Scene, Turn
from council.engine.voting import normalize_option
from council.text import join_words

CHECK = "check"  # the kind of a run that looked at code, and ran no tests
COUNTED = ("coverage", "survivors", "killed")  # numbers that a bench may say of a version
BRANCHES = (
    ast.If, ast.For, ast.AsyncFor, ast.While, ast.IfExp, ast.ExceptHandler, ast.Assert, ast.comprehension,
    ast.match_case,
)  # fmt: skip


@dataclass(frozen=True)
class Winner:
    """The version that a debate ends with, and why. `green` says that all its visible and hidden trials passed."""

    version: Version
    why: str
    green: bool
    trials: tuple[CheckedVersion, ...]

    @property
    def suite(self) -> Turn | None:
        """The tests that were written for it, if it passed them when they were last run."""
        ran = [one for one in self.trials if one.ran_tests and kind_of(one.turn.seat) in (VISIBLE, MUTANTS)]
        return ran[-1].suite if ran and ran[-1].green else None

    @property
    def newest_trials(self) -> list[CheckedVersion]:
        """The newest trial of it by each bench that runs tests."""
        return list({one.turn.seat.name: one for one in self.trials if one.ran_tests}.values())

    @property
    def doubts(self) -> list[str]:
        """Why it is not known to be green; empty if it is."""
        found = [f"{kind_of(one.turn.seat)} tests: {one.verdict}" for one in self.newest_trials if not one.green]
        found += [f"{one.turn.id} was not run by council" for one in self.newest_trials if one.turn.said.trial is None]
        return found or ([] if self.green else ["its tests were not run"])


def find_winner(scene: Scene, ledger: Ledger) -> Winner | None:
    """The standing version of the candidate that was elected; else of the only one, or of the only green one."""
    standing = {name: version for name in ledger.versions if (version := ledger.standing(name))}
    green = [name for name, version in standing.items() if is_green(ledger, version)]
    if elected := _find_elected(scene, standing):
        name, why = elected, "elected"
    elif len(standing) == 1:
        name, why = next(iter(standing)), "the only candidate"
    elif len(green) == 1:
        name, why = green[0], "the only candidate whose tests pass"
    else:
        return None
    version = standing[name]
    return Winner(version, why, name in green, tuple(trials_of(ledger, version)))


def explain_shortfall(record: Record) -> str:
    """Why a session that began with a project, and is over, has no code that is known to be green."""
    if not (record.plan.done and base.read(record.frozen).facts):
        return ""
    ledger = follow(record.plan.scene)
    if not ledger.versions:
        return "nobody wrote code"
    if refusal := describe_refusal(record.plan.scene):
        return f"nothing is applied: {refusal}"
    winner = find_winner(record.plan.scene, ledger)
    if winner is None:
        return f"nobody won: {explain_no_winner(ledger)}"
    return f"the code is not green ({'; '.join(winner.doubts)})" if winner.doubts else ""


def explain_no_winner(ledger: Ledger) -> str:
    """Why several candidates have no winner."""
    names = list(ledger.versions)
    green = [name for name in names if (version := ledger.standing(name)) and is_green(ledger, version)]
    if not green:
        return f"the tests of {join_words(names)} do not pass"
    return f"the tests of {join_words(green)} pass, and no vote chose one of them"


def _find_elected(scene: Scene, standing: Mapping[str, Version]) -> str:
    """Whom the newest vote chose, if it was a candidate."""
    names = {normalize_option(name): name for name in standing}
    return next((names[one] for one in reversed(scene.elected) if one in names), "")


def trials_of(ledger: Ledger, version: Version) -> Iterator[CheckedVersion]:
    """Every bench's turn about this version, oldest first."""
    yield from (one for one in ledger.checks.get(version.candidate, []) if one.version == version)


def is_green(ledger: Ledger, version: Version) -> bool:
    """Whether the newest trial of it by each bench that runs tests passed: visible ones, hidden ones and attacks."""
    ran = (one for one in trials_of(ledger, version) if one.ran_tests and kind_of(one.turn.seat) != MUTANTS)
    newest = {one.turn.seat.name: one.green for one in ran}
    return ledger.is_green(version) and all(newest.values())


def lay_tests(winner: Winner, project: Base) -> dict[str, bytes]:
    """The tests that were written for the winner. Where the project has a test, it is the project's that was run."""
    written = take_tests(winner.suite, SUITE, project) if winner.suite else {}
    return {path: data for path, data in written.items() if path not in {*project.visible, *project.hidden}}


def lay_result(winner: Winner, project: Base) -> dict[str, bytes]:
    """What a debate ends with: the winner's files, and the tests that were written for it."""
    return {**lay(winner.version, project), **lay_tests(winner, project)}


def measure(ledger: Ledger, version: Version, project: Base) -> dict[str, Any]:
    """The numbers of a version: its size, its tests, and what else was measured."""
    changes = patch.measure(lay(None, project), lay(version, project))
    code = {one.path: one.after for one in changes if one.after is not None}
    checks = list(trials_of(ledger, version))
    return {
        "version": version.number,
        "turn": version.id,
        "on": version.parent.number if version.parent else None,
        "tree": hash_files(lay(version, project)),
        "green": is_green(ledger, version),
        "current": ledger.standing(version.candidate) == version,
        "files": len(changes),
        "added": sum(one.added for one in changes),
        "removed": sum(one.removed for one in changes),
        "bytes": sum(map(len, code.values())),
        **measure_complexity(code),
        "trials": [_measure_trial(one) for one in checks],
    }


def _measure_trial(check: CheckedVersion) -> dict[str, Any]:
    turn = check.turn
    passed, failed = len(ids_of(turn, PASSED)), len(ids_of(turn, FAILED))
    kind = kind_of(turn.seat) if check.ran_tests else CHECK
    made: dict[str, Any] = {"turn": turn.id, "bench": bench_of(turn), "kind": kind, TESTS: check.verdict}
    if {PASSED, FAILED} <= {*turn.asked}:
        made |= {PASSED: passed, FAILED: failed}
        made["pass_rate"] = round(passed / (passed + failed), 4) if passed + failed else None
    complaints = turn.answers.get(COMPLAINTS)
    if isinstance(complaints, (tuple, list)):
        made[COMPLAINTS] = len(complaints)
    return made | {name: turn.answers[name] for name in COUNTED if name in turn.answers and name in turn.asked}


def measure_complexity(code: Mapping[str, bytes]) -> dict[str, Any]:
    """The cyclomatic complexity of the Python files that were written: of all functions together, and of the worst."""
    found: list[int] = []
    for path, data in code.items():
        if path.endswith(".py"):
            try:
                found += _functions(ast.parse(data))
            except (SyntaxError, ValueError, RecursionError, MemoryError):
                return {"complexity": None, "most_complex": None}
    return {"complexity": sum(found), "most_complex": max(found, default=0)}


def _functions(tree: ast.Module) -> Iterator[int]:
    for node in ast.walk(tree):
        if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef)):
            inside = list(ast.walk(node))
            paths = sum(isinstance(one, BRANCHES) for one in inside)
            yield 1 + paths + sum(len(one.values) - 1 for one in inside if isinstance(one, ast.BoolOp))
