"""The tests themselves: what two test modules share is in a helper module, so each can be read and run alone."""

from __future__ import annotations

import ast
from pathlib import Path

import pytest

from tests import rooms

ROOT = Path(__file__).parent.parent
FILES = [*ROOT.glob("tests/**/*.py"), *ROOT.glob("scripts/**/*.py")]


@pytest.mark.parametrize("path", FILES, ids=lambda path: path.relative_to(ROOT).as_posix())
def test_nobody_imports_a_test_module(path: Path) -> None:
    assert imported_tests(path.read_text("utf-8")) == []


def imported_tests(code: str) -> list[str]:
    """The test modules that this code imports, also those imported late."""
    found = list[str]()
    for node in ast.walk(ast.parse(code)):
        names = list[str]()
        if isinstance(node, ast.Import):
            names = [alias.name for alias in node.names]
        elif isinstance(node, ast.ImportFrom):
            names = [node.module or "", *(f"{node.module}.{alias.name}" for alias in node.names)]
        found += [name for name in names if name.startswith(("tests.test_", "test_"))]
    return found


@pytest.mark.parametrize(
    "code",
    [
        "from tests.test_x import y",
        "from tests import test_x",
        "import tests.test_x",
        "def f():\n    from tests.test_x import y",
    ],
)
def test_such_an_import_is_seen(code: str) -> None:
    assert imported_tests(code)


def test_every_module_of_a_room_is_there() -> None:
    named = {rooms.module(name) for name in (*sum(rooms.ROOMS.values(), ()), *rooms.PURE)}
    assert [path.name for path in named if not path.is_file()] == []
    package = {path.name for path in (ROOT / "council").iterdir() if (path / "__init__.py").is_file()}
    assert rooms.ROOMS.keys() <= package
