"""Every promise of the old suite has one fate, and the tests that are said to hold it exist."""

from __future__ import annotations

import ast
from functools import lru_cache
from pathlib import Path

import pytest

HERE = Path(__file__).parent
ROOT = HERE.parents[2]
FATES = ("kept", "changed", "gone", "later", "open")
ROWS = [
    (path.stem, *(cell.strip() for cell in line.strip("|").split("|")))
    for path in sorted(HERE.glob("*.md"))
    for line in path.read_text("utf-8").splitlines()
    if line.startswith(("| P", "| N"))
]


@lru_cache(maxsize=200)
def functions(path: str) -> frozenset[str]:
    tree = ast.parse((ROOT / path).read_text("utf-8"))
    return frozenset(one.name for one in ast.walk(tree) if isinstance(one, ast.FunctionDef | ast.AsyncFunctionDef))


def test_each_promise_is_listed_once() -> None:
    ids = [row[1] for row in ROWS]
    assert sorted({*ids}) == sorted(ids)
    assert all(len(id) in (3, 4) and id[1:].isdecimal() for id in ids)
    assert len(ids) > 100


@pytest.mark.parametrize("row", ROWS, ids=lambda row: row[1])
def test_a_promise_has_its_fate_and_what_holds_it(row: tuple[str, ...]) -> None:
    _, _, fate, why = row
    assert fate in FATES
    assert why
    named = [word.strip("`,;.") for word in why.split() if "::" in word]
    assert named or fate != "kept"
    for path, _, function in (one.partition("::") for one in named):
        assert function in functions(path), f"{path} has no {function}"
