"""What a bench is to try: which version of which candidate, on which tree, with which tests. Pure."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from council.candidates.base import Base
from council.candidates.paths import find_clash
from council.candidates.versions import (
    ATTACKS,
    HIDDEN,
    SUITE,
    VISIBLE,
    Ledger,
    Version,
    attack_tests,
    find_misfit,
    follow,
    kind_of,
    lay,
    take_tests,
    visible_tests,
)
from council.engine.planner import Due

# Facts of the base: tests that were skipped on it, as where something is not installed; and what it replaces of
# Python's own library, as an honest program may.
SKIPPED, REPLACED = "skipped", "replaced"


@dataclass(frozen=True)
class DueTrial:
    """A trial that is due. `tree` is the candidate's, with `tests` to be laid over it, of which `run` are run: all of
    them if it is empty. `void` are the ids of tests that do not count. `misfit` says why the version's files do not fit
    its tree.
    """

    kind: str
    candidate: str
    version: Version | None
    tree: Mapping[str, bytes]
    tests: Mapping[str, bytes]
    run: tuple[str, ...] = ()
    void: tuple[str, ...] = ()
    misfit: str = field(default="")


def find_trial(due: Due, base: Base) -> DueTrial:
    """What the bench of this seat is to try now. A bench that is `of` nobody tries the unchanged tree."""
    ledger = follow(due.scene, (due.phase.name, due.round, due.step.name))
    kind, name = kind_of(due.seat), due.seat.of
    if not name:
        tests = _new_tests(ledger, base) if kind == VISIBLE else base.hidden
        return DueTrial(kind, "", None, lay(None, base), tests)
    version = ledger.judged(due.seat)
    tree, misfit = lay(version, base), find_misfit(version, base)
    if kind == HIDDEN:
        return DueTrial(kind, name, version, tree, base.hidden, misfit=misfit)
    known = visible_tests(ledger, name, base)
    attacks = attack_tests(ledger, name, base) if kind == ATTACKS else {}
    if find_clash(sorted(attacks), tree):  # it is the attack that does not fit
        attacks = {path: data for path, data in attacks.items() if not find_clash([path], tree)}
    tests = {**attacks, **known.files}
    misfit = misfit or find_clash(sorted(tree.keys() - tests.keys()), tests)
    if kind == ATTACKS:
        return DueTrial(kind, name, version, tree, tests, tuple(attacks), misfit=misfit)
    void = (*known.void, *base.facts.get(SKIPPED, ()))
    return DueTrial(kind, name, version, tree, tests, void=void, misfit=misfit)


def _new_tests(ledger: Ledger, base: Base) -> dict[str, bytes]:
    """The newest suite with the base's own tests: which of them pass before any code is written?"""
    written = take_tests(ledger.suites[-1][0], SUITE, base) if ledger.suites else {}
    return {**written, **base.visible}
