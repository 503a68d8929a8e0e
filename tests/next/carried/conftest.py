"""Tests of the old program's command line run again here, unchanged, against the new one. `table.py` says which."""

from __future__ import annotations

import functools
import importlib
from collections.abc import Callable, Generator, Iterator
from pathlib import Path
from types import ModuleType

import pytest

from tests.helpers import PACKAGES, drive, ran
from tests.next.carried.table import CARRIED, DEFECT, Carried

TESTS = Path(__file__).parents[2]


def pytest_collect_file(file_path: Path, parent: pytest.Collector) -> pytest.Collector | None:
    if file_path == Path(__file__).with_name("table.py"):
        table: Table = Table.from_parent(parent, path=file_path)
        return table
    return None


class Table(pytest.File):
    def collect(self) -> Iterator[pytest.Collector]:
        for one in CARRIED:
            path = TESTS / f"test_{one.module}.py"
            yield Again.from_parent(self, path=path, nodeid=f"tests/next/carried/{path.name}", carried=one)


class Again(pytest.Module):
    """A module of the old suite, less what the table leaves out."""

    def __init__(self, carried: Carried, **how: object) -> None:
        super().__init__(**how)  # type: ignore[arg-type]
        self.carried = carried

    def _getobj(self) -> ModuleType:
        """A copy of its own, because pytest registers the fixtures of a module only once."""
        found = importlib.import_module(f"tests.{self.path.stem}")  # as it is for the old program, which shares it
        copy = ModuleType(found.__name__, found.__doc__)
        copy.__dict__.update(vars(found))
        return copy

    def collect(self) -> Iterator[pytest.Item | pytest.Collector]:
        for one in super().collect():
            assert isinstance(one, pytest.Function)
            fate = self.carried.apart.get(one.name) or self.carried.apart.get(one.originalname)
            if fate and not fate.startswith(DEFECT):
                continue
            if fate:
                one.add_marker(pytest.mark.xfail(reason=fate, strict=True))
            if self.carried.slow:
                one.add_marker("full")
            one.obj = runs_the_program(one.obj)
            yield one


def runs_the_program(test: Callable[..., None]) -> Callable[..., None]:
    """A test that passes without the new program shows nothing of it."""

    @functools.wraps(test)
    def checked(**given: object) -> None:
        test(**given)
        assert ran[PACKAGES["next"]], "this test does not run the program: the table must say so"

    return checked


@pytest.hookimpl(wrapper=True)
def pytest_runtest_protocol(item: pytest.Item) -> Generator[None, object, object]:
    """Fixtures of every scope are made for the new program, too."""
    if item.getparent(Again) is None:
        return (yield)
    ran.clear()
    with drive("next"):
        return (yield)
