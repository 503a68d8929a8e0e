"""Benches: what tries a candidate, by name, and its verdict."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterable, Mapping
from pathlib import Path
from typing import Any

from council.config import benches as language
from council.config import settings as configuration
from council.config.benches import CHECKERS, COMMAND, Bench
from council.errors import UsageError
from council.sandbox import checkers, foreign, programs, suites, tools
from council.sandbox.model import Trial, Tried
from council.text import did_you_mean

KINDS: Mapping[str, Callable[[Bench, Trial], Tried]] = {
    **dict.fromkeys(("pytest", "unittest", "coverage"), suites.try_out),
    **dict.fromkeys(CHECKERS, checkers.try_out),
    **dict.fromkeys(("node", "go"), foreign.try_out),
    COMMAND: programs.try_out,
}


def load(settings: configuration.Config | None = None) -> dict[str, Bench]:
    """The benches of the kit and of the user, by name. A project that defines one is refused."""
    language.refuse_project()
    return dict((settings or configuration.load()).benches)


def find(name: str, benches: Mapping[str, Bench]) -> Bench:
    if name not in benches:
        raise UsageError(f'there is no bench "{name}" in Config.md; {did_you_mean(name, benches)}')
    return benches[name]


def announce(line: str) -> None:
    print(f"council: {line}", file=sys.stderr, flush=True)


def prepare(
    names: Iterable[str], benches: Mapping[str, Bench], env: Path | None = None, say: Callable[[str], None] = announce
) -> dict[str, Any]:
    """See that what these benches need is there, before anything is spent: the kit's tools are installed if one needs
    them. What comes back says which tools they are.
    """
    facts: dict[str, Any] = {}
    for name in names:
        facts |= identify(find(name, benches), env, say)
    facts.pop("bench", None)
    return facts


def identify(bench: Bench, env: Path | None = None, say: Callable[[str], None] = announce) -> dict[str, Any]:
    """The bench as it is defined now, with its tools: with another one, the same trial may end otherwise. Tools that
    are missing are installed now, and never during a trial.
    """
    own = {"bench": repr(bench), **foreign.identify(bench)}
    if KINDS[bench.kind] is foreign.try_out:  # whose packages are no environment of Python
        env = None
    try:
        return own | dict(tools.equip(bench.kind, env).facts)
    except tools.ToolsMissing:
        tools.provide(say)
        return own | dict(tools.equip(bench.kind, env).facts)


def try_out(trial: Trial, benches: Mapping[str, Bench]) -> Tried:
    """Try a candidate in the sandbox. What the tests say of themselves decides, and never an exit code."""
    bench = find(trial.bench, benches)
    return KINDS[bench.kind](bench, trial)
