"""Imports only point down: a module may use those of its own layer and of the layers below it."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from pathlib import Path

import pytest

import council

PACKAGE = Path(council.__file__).parent
LAYERS = (
    ("errors", "text", "cells", "markdown", "language", "workflow", "loading", "scene", "quoted"),
    (
        *("hooks", "rules", "orders", "views", "labels", "stances", "voting", "boardroom", "flips", "escalation"),
        *("findings", "wording", "gathering", "listing", "judging", "pairing", "anchors", "likeness", "merging"),
        *("edits", "joining", "contest", "marks", "casting"),
    ),
    (
        "limits",
        "form",
        "reply",
        "answers",
        "plan",
        "lint",
        "reach",
        "remarks",
        "where",
        "diagram",
        "cost",
        "hearing",
        "invocation",
        "measures",
        "ending",
    ),
    ("files", "holder", "receipts", "session", "briefs", "templates", "config", "personas", "speakers"),
    (
        "run",
        "recap",
        "publish",
        "hindsight",
        "documents",
        "adr",
        "decision",
        "page",
        "verify",
        "archive",
        "review",
        "formats",
        "start",
        "byhand",
        "members",
    ),
    ("cli", "ui", "screen", "paint", "mcp", "__main__"),
)
LAYER = {module: number for number, modules in enumerate(LAYERS) for module in modules}
FILES = sorted(path for path in PACKAGE.rglob("*.py") if path != PACKAGE / "__init__.py")


def module(path: Path) -> str:
    """What the list calls a file: `speakers` for any file of that folder."""
    return path.relative_to(PACKAGE).with_suffix("").parts[0]


def imported(tree: ast.AST) -> Iterator[str]:
    """The modules of ours that are imported anywhere in a file, also inside of functions."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            yield from (name.name.split(".")[1] for name in node.names if name.name.startswith("council."))
        elif isinstance(node, ast.ImportFrom) and node.module == "council":
            yield from (name.name for name in node.names if not name.name.startswith("_"))
        elif isinstance(node, ast.ImportFrom) and (node.module or "").startswith("council."):
            yield (node.module or "").split(".")[1]


@pytest.mark.parametrize("path", FILES, ids=lambda path: path.relative_to(PACKAGE).as_posix())
def test_imports_point_down(path: Path) -> None:
    own = module(path)
    assert own in LAYER, f"{own} is in no layer: say in tests/test_layers.py where it belongs"
    tree = ast.parse(path.read_text(encoding="utf-8"))
    assert not [node for node in ast.walk(tree) if isinstance(node, ast.ImportFrom) and node.level], (
        "import by full name"
    )
    upward = {name for name in imported(tree) if LAYER.get(name, len(LAYERS)) > LAYER[own]}
    assert not upward, f"{own} (layer {LAYER[own]}) imports {upward}"


def test_the_package_itself_imports_nothing() -> None:
    assert not list(imported(ast.parse((PACKAGE / "__init__.py").read_text(encoding="utf-8"))))


def test_each_module_is_in_one_layer() -> None:
    listed = [name for modules in LAYERS for name in modules]
    assert len(listed) == len(set(listed))


@pytest.mark.parametrize(
    ("line", "names"),
    [
        ("import council.plan", ["plan"]),
        ("import council.speakers.base as b, json", ["speakers"]),
        ("from council import files, __version__", ["files"]),
        ("from council.speakers.base import Brief", ["speakers"]),
        ("def f():\n    from council import run", ["run"]),
        ("import councillor", []),
    ],
)
def test_imports_are_found(line: str, names: list[str]) -> None:
    assert list(imported(ast.parse(line))) == names
