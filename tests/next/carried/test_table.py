"""The table says of every test in its modules whether it runs against both programs, and why not."""

from __future__ import annotations

import ast
from pathlib import Path

import pytest

from tests.next.carried.table import CARRIED, FATES, LEFT, Carried

TESTS = Path(__file__).parents[2]


def functions(module: str) -> set[str]:
    text = (TESTS / f"test_{module}.py").read_text("utf-8")
    return {one.name for one in ast.parse(text).body if isinstance(one, ast.FunctionDef) and one.name[:5] == "test_"}


@pytest.mark.parametrize("one", CARRIED, ids=lambda one: one.module)
def test_each_test_runs_against_both_programs_or_has_a_reason(one: Carried) -> None:
    known = functions(one.module)
    assert {name.partition("[")[0] for name in one.apart} <= known, "there is no such test any more"
    assert all(why.partition(":")[0] in FATES for why in one.apart.values())
    assert len(known - one.apart.keys()) == one.both, "say of each new test whether it runs against both programs"


def test_each_module_that_drives_the_program_is_carried_or_has_a_reason() -> None:
    drives = {
        path.stem.removeprefix("test_") for path in TESTS.glob("test_*.py") if ".council(" in path.read_text("utf-8")
    }
    carried = [one.module for one in CARRIED]
    left = [module for modules in LEFT.values() for module in modules.split()]
    assert len({*carried, *left}) == len([*carried, *left]), "each is named once"
    assert drives <= {*carried, *left}
    assert all((TESTS / f"test_{module}.py").is_file() for module in (*carried, *left))
