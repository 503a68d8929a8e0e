"""`council lab check`: proves a set and the harness with answers that are known to be right or wrong."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field

from council.config.benches import Bench
from council.lab.sets.task import Say, Task, Tree
from council.sandbox import benches
from council.sandbox.model import PASS, Trial, Tried

CANONICAL, EXAMPLES, EMPTY, CHEATING, NEIGHBOUR = KINDS = ("canonical", "examples", "empty", "cheating", "neighbour")
ABOUT = {
    CANONICAL: "the set's own solution",
    EXAMPLES: "the same, with the visible tests",
    EMPTY: "a solution that does nothing",
    CHEATING: "one that ends the process (`os._exit(0)`)",
    NEIGHBOUR: "the next task's solution, renamed",
}


@dataclass(frozen=True)
class KnownAnswer:
    """One known answer to one task, and how it did."""

    task: str
    kind: str
    tried: Tried


@dataclass
class Checked:
    """How many known answers of each kind were tried, and how many passed. `wrong` are those that should not have."""

    of: dict[str, int] = field(default_factory=dict)
    green: dict[str, int] = field(default_factory=dict)
    wrong: list[KnownAnswer] = field(default_factory=list)

    def add(self, attempt: KnownAnswer) -> None:
        passed = attempt.tried.verdict == PASS
        self.of[attempt.kind] = self.of.get(attempt.kind, 0) + 1
        self.green[attempt.kind] = self.green.get(attempt.kind, 0) + passed
        if passed != (attempt.kind in (CANONICAL, EXAMPLES)):
            self.wrong.append(attempt)


def list_answers(tasks: Sequence[Task]) -> Iterator[tuple[Task, str, Tree, Tree]]:
    """Every known answer with the task, its kind, and the tests that it is tried with."""
    code = [task for task in tasks if task.is_code]
    for task, neighbour in zip(code, [*code[1:], *code[:1]], strict=True):
        yield task, CANONICAL, task.canonical, task.base.hidden
        yield task, EXAMPLES, task.canonical, task.base.visible
        yield task, EMPTY, task.empty, task.base.hidden
        yield task, CHEATING, task.cheating, task.base.hidden
        if neighbour is not task:
            yield task, NEIGHBOUR, task.take_from(neighbour), task.base.hidden


def check(tasks: Sequence[Task], jobs: int, say: Say = lambda _: None) -> Checked:
    """Try every known answer, `jobs` at once."""
    known = benches.load()
    benches.prepare({task.bench for task in tasks if task.is_code}, known, say=say)

    def attempt(answer: tuple[Task, str, Tree, Tree]) -> KnownAnswer:
        task, kind, tree, tests = answer
        return KnownAnswer(task.id, kind, try_tree(task, tree, tests, known))

    checked = Checked()
    with ThreadPoolExecutor(jobs) as pool:
        for done in pool.map(attempt, list_answers(tasks)):
            checked.add(done)
    return checked


def try_tree(task: Task, tree: Tree, tests: Tree, known: Mapping[str, Bench]) -> Tried:
    return benches.try_out(Trial(task.bench, tree, tests), known)
