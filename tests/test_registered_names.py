"""A registered name is written in the room that registers it, and nowhere else: other code asks what it can do.

A row is a room, the names it registers, and the literals elsewhere that are allowed, each with its reason.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path

import pytest

import council
from council import speakers

PACKAGE = Path(council.__file__).parent
FILES = sorted(path for path in PACKAGE.rglob("*.py") if "kit" not in path.relative_to(PACKAGE).parts)


@dataclass(frozen=True)
class Row:
    """`allowed` maps a file and a name to the reason why that literal is not the registered thing."""

    room: str
    names: tuple[str, ...]
    allowed: Mapping[tuple[str, str], str] = field(default_factory=dict)

    def __str__(self) -> str:
        return self.room


ROWS = [
    Row(
        "speakers",
        speakers.names(),
        {
            ("workflow/model.py", "human"): "a word of the workflow language, declared there: a seat that is a person",
            ("config/settings.py", "anthropic"): "an endpoint of Config.md, whose address ANTHROPIC_BASE_URL changes",
            ("cli/install_skill.py", "claude"): "a folder for skills, chosen with --claude",
        },
    ),
]


def literals(source: str) -> Iterator[tuple[int, str]]:
    """Every string in the code, with its line; a part of an f-string is one too."""
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.Constant) and isinstance(node.value, str):
            yield node.lineno, node.value


def uses(row: Row) -> Iterator[tuple[str, int, str]]:
    """Where a name of the row is written outside its room: file, line and name."""
    for path in FILES:
        file = path.relative_to(PACKAGE).as_posix()
        if not file.startswith(f"{row.room}/"):
            yield from ((file, line, text) for line, text in literals(path.read_text("utf-8")) if text in row.names)


@pytest.mark.parametrize("row", ROWS, ids=str)
def test_a_name_is_written_only_in_the_room_that_registers_it(row: Row) -> None:
    wrong = [f"{file}:{line}: {name}" for file, line, name in uses(row) if (file, name) not in row.allowed]
    assert wrong == [], "ask what it can do, or allow the literal above with its reason"


@pytest.mark.parametrize("row", ROWS, ids=str)
def test_every_exception_is_still_needed(row: Row) -> None:
    assert set(row.allowed) == {(file, name) for file, _, name in uses(row)}


@pytest.mark.parametrize("row", ROWS, ids=str)
def test_every_room_has_names(row: Row) -> None:
    assert row.names
    assert (PACKAGE / row.room).is_dir()


@pytest.mark.parametrize(
    ("source", "seen"),
    [
        ("if speaker == 'local': pass", ["local"]),
        ("def f(name='replay'):\n    'the local speaker'", ["replay", "the local speaker"]),
        ("f'{one}human'", ["human"]),
        ("local = 1", []),
    ],
)
def test_literals_are_seen(source: str, seen: list[str]) -> None:
    assert [text for _, text in literals(source)] == seen
