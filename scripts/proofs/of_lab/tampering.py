"""Ways to cheat that the harness has to stop, with every runner; and honest code, which no guard may take for cheating.

There are others that it does not stop: docs/benches.md says which.
"""

from __future__ import annotations

from collections.abc import Mapping
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace

from prove import Outcome

from council.config.benches import Bench
from council.sandbox import benches
from council.sandbox.model import Trial, Tried
from tests.honest import PROJECTS, Honest
from tests.tampering import CHEATS, SUITES, Cheat

AT_ONCE = 2
SECONDS = 5.0  # for who never ends


def parts() -> list[str]:
    return [*SUITES, "honest"]


def prove(part: str) -> Outcome:
    known = {name: replace(bench, limits={"seconds": SECONDS}) for name, bench in benches.load().items()}
    if part == "honest":
        with ThreadPoolExecutor(AT_ONCE) as pool:
            fair = [*pool.map(lambda project: _try_honest(project, benches.load()), PROJECTS)]
        missed = [
            f"{project.name}: {tried.verdict}, {len(tried.passed)} of {project.passed}: {tried.log[:200]}"
            for project, tried in zip(PROJECTS, fair, strict=True)
            if tried.verdict != "pass" or len(tried.passed) != project.passed
        ]
        row = ("honest code is green", "projects as people write them", "pass", _count(fair))
        return Outcome([(*row, len(fair), len(fair) - len(missed))], missed)

    def cheat(one: Cheat) -> Tried:
        bench, tests = SUITES[part]
        return benches.try_out(Trial(bench, one.tree(), {"tests/test_add.py": (one.tests or tests).encode()}), known)

    with ThreadPoolExecutor(AT_ONCE) as pool:
        tried = [*pool.map(cheat, CHEATS)]
    green = [f"{one.name}: green with {part}" for one, it in zip(CHEATS, tried, strict=True) if it.verdict == "pass"]
    row = ("these ways to cheat are not green", f"known ways, with {part}", "not one pass", _count(tried))
    return Outcome([(*row, len(tried), len(tried) - len(green))], green)


def _try_honest(project: Honest, known: Mapping[str, Bench]) -> Tried:
    tree, tests, base = (
        {path: text.encode() for path, text in files.items()} for files in (project.tree, project.tests, project.base)
    )
    return benches.try_out(Trial(project.bench, tree, tests, base=base), known)


def _count(tried: list[Tried]) -> str:
    verdicts = [one.verdict for one in tried]
    return ", ".join(f"{verdicts.count(verdict)} {verdict}" for verdict in sorted(set(verdicts)))
