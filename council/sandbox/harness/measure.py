"""Which lines of the candidate's files the tests run."""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterator, Mapping
from typing import Any

MOST_SHOWN = 40


def start(files: list[str]) -> Callable[[], dict[str, list[int]]]:
    """Begin to look; what comes back ends it, and says which lines were run."""
    from coverage import Coverage  # type: ignore[import-not-found,unused-ignore]

    looking = Coverage(data_file=None, config_file=False, include=files, messages=False)
    looking.start()

    def end() -> dict[str, list[int]]:
        looking.stop()
        data = looking.get_data()
        return {file: sorted(data.lines(file) or ()) for file in data.measured_files()}

    return end


def conclude(sources: Mapping[str, str], lines: Mapping[str, list[int]]) -> dict[str, Any]:
    """The percentage of statements that were run, and those that were not. The statements are those of the files as
    they were before anything ran.
    """
    total, missed, notes = 0, 0, []
    for path, source in sources.items():
        try:
            statements = set(_statements(ast.parse(source)))
        except (SyntaxError, ValueError, RecursionError):
            continue
        missing = sorted(statements - set(lines.get(f"/job/{path}", ())))
        total, missed = total + len(statements), missed + len(missing)
        if missing:
            more = ", …" if len(missing) > MOST_SHOWN else ""
            notes.append(f"{path}: not run: lines {', '.join(map(str, missing[:MOST_SHOWN]))}{more}")
    percent = round(100 * (total - missed) / total, 1) if total else 100.0
    return {"metrics": {"coverage": percent}, "log": "\n".join([f"{percent} % of {total} statements were run", *notes])}


def _statements(tree: ast.Module) -> Iterator[int]:
    for node in ast.walk(tree):
        constant = isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant)
        if isinstance(node, ast.stmt) and not constant and not isinstance(node, ast.Global | ast.Nonlocal):
            yield node.lineno
