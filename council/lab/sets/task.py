"""A task of a set: what is asked, what it is written on, and answers that are known to be right or wrong."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field

from council.candidates.base import EMPTY, Base
from council.candidates.facts import WRITE

Tree = Mapping[str, bytes]
BENCH = "bench"  # the fact of a base that names a bench
Say = Callable[[str], None]


@dataclass(frozen=True)
class Task:
    """`bench` runs the tests of `base`. The trees are whole candidates: `canonical` is the set's own solution, `empty`
    does nothing, `cheating` ends the process that tests it, and `alias` is the canonical one under the name that
    another task asks for. A multiple-choice task has no tests, but the right `choice` of `choices`.
    """

    id: str
    topic: str
    base: Base = EMPTY
    bench: str = "pytest"
    canonical: Tree = field(default_factory=dict)
    empty: Tree = field(default_factory=dict)
    cheating: Tree = field(default_factory=dict)
    entry_point: str = ""
    choice: str = ""
    choices: tuple[str, ...] = ()

    @property
    def is_code(self) -> bool:
        return not self.choice

    @property
    def hash(self) -> str:
        """Of all that decides the task: a set that changed is another set."""
        parts = [self.id.encode(), self.topic.encode(), self.choice.encode(), *self.base.encode().values()]
        return hashlib.sha256(b"\0".join(parts)).hexdigest()

    def take_from(self, other: Task) -> Tree:
        """The other task's canonical solution, offered for this one under the name that this one asks for."""
        if not (self.entry_point and other.entry_point):
            return other.canonical
        renamed = f"\n\n{self.entry_point} = {other.entry_point}\n".encode()
        return {path: data + renamed for path, data in other.canonical.items()}


SOLUTION = "solution.py"


def of_function(id: str, prompt: str, solution: str, entry_point: str, visible: str, hidden: str, topic: str) -> Task:
    """A task about one Python function in one file. `prompt` ends inside the function, or is empty."""
    stub = prompt or f"def {entry_point}(*args):\n"
    tree = {SOLUTION: prompt.encode()} if prompt else {}
    tests = {"test_examples.py": visible.encode()}, {"test_hidden.py": hidden.encode()}
    return Task(
        id, topic, Base(tree, *tests, {WRITE: SOLUTION, BENCH: "pytest"}),
        canonical={SOLUTION: solution.encode()},
        empty={SOLUTION: f"{stub}    return None\n".encode()},
        cheating={SOLUTION: f"{stub}    import os\n    os._exit(0)\n".encode()},
        entry_point=entry_point,
    )  # fmt: skip
