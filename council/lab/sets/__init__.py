"""Sets of tasks by name: HumanEval, two releases of a package on PyPI, and rows of the user's own."""

from __future__ import annotations

from council.errors import UsageError
from council.lab.sets.task import Say, Task

KINDS = "humaneval, pypi:NAME@OLD..NEW and file:TASKS.jsonl"


def load(name: str, say: Say = lambda _: None) -> list[Task]:
    """The tasks of a set, in its own order. What has to be downloaded first is said."""
    kind, _, rest = name.partition(":")
    if name == "humaneval":
        from council.lab.sets import humaneval

        return humaneval.load(say)
    if kind == "pypi" and rest:
        from council.lab.sets import releases

        return releases.load(rest, say)
    if kind == "file" and rest:
        from council.lab.sets import rows

        return rows.load(rest)
    raise UsageError(f'there is no set "{name}"; sets are {KINDS}')
