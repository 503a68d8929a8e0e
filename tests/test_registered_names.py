"""A registered name is written in the room that registers it, and nowhere else: other code asks what it can do.

A row is a room, the names it registers, and the literals elsewhere that are allowed, each with its reason.
"""

from __future__ import annotations

import ast
import re
from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path

import pytest

import council
from council import speakers
from council.engine.conditions import rule
from council.engine.orders import order
from council.engine.views import view
from council.workflow import declare

PACKAGE = Path(council.__file__).parent
FILES = sorted(path for path in PACKAGE.rglob("*.py") if not {"kit", "next"} & {*path.relative_to(PACKAGE).parts})


@dataclass(frozen=True)
class Row:
    """`allowed` maps a file and a name to the reason why that literal is not the registered thing. `words` are names
    that mean something else wherever they are written."""

    room: str
    names: tuple[str, ...]
    allowed: Mapping[tuple[str, str], str] = field(default_factory=dict)
    words: Mapping[str, str] = field(default_factory=dict)

    def __str__(self) -> str:
        return self.room


def hooks_of(room: str) -> tuple[str, ...]:
    """The rules, orders and views that a room registers."""
    functions = [*rule.known.items(), *order.known.items(), *view.known.items()]
    return tuple(name for name, function in functions if function.__module__.startswith(f"council.{room}."))


DEFAULT = "what the language means where a step says nothing"
TEMPLATE = "a variable of a template"
ROWS = [
    Row(
        "engine",
        hooks_of("engine"),
        {
            ("workflow/loader.py", "parallel"): DEFAULT,
            ("workflow/loader.py", "so_far"): DEFAULT,
            ("workflow/gates.py", "parallel"): DEFAULT,
            ("workflow/gates.py", "some"): "a gate is written in the language, like any phase",
            ("workflow/gates.py", "denied"): "the same",
            ("protocols/perspectives.py", "parallel"): "the order that `unmuted` keeps to where it names none",
            ("protocols/consensus.py", "repeats"): TEMPLATE,
            ("protocols/consensus.py", "share"): "the same",
            ("speakers/local/download.py", "share"): "a folder below ~/.local",
        },
        {
            "outcome": "a key of convergence.json and of --json",
            "nothing": "a word in a sentence",
            "tree": "the files of a project, wherever candidates are written",
            "up": "how a score moved",
            "down": "the same",
            "option": "a kind of word that workflow/declare.py collects",
        },
    ),
    Row(
        "protocols",
        hooks_of("protocols"),
        {
            ("terminal/markdown.py", "split"): "an outcome, and its colour",
            ("prompts/sandbox.py", "split"): "a method of strings",
            ("terminal/markdown.py", "disagreement"): "an outcome, and its colour",
            ("index/facts.py", "moved"): "a key of convergence.json",
        },
        {"cast": "a variable of a template, and a kind of seat"},
    ),
    Row("reviews", hooks_of("reviews"), words={"contested": "how a finding stands"}),
    Row(
        "speakers",
        speakers.names(),
        {
            ("workflow/model.py", "human"): "a word of the workflow language, declared there: a seat that is a person",
            ("config/settings.py", "anthropic"): "an endpoint of Config.md, whose address ANTHROPIC_BASE_URL changes",
            ("cli/install_skill.py", "claude"): "a folder for skills, chosen with --claude",
            ("cli/doctor.py", "shell"): "the argument of a command: bash, zsh or fish",
            ("candidates/blocks.py", "shell"): "the language of a block of code",
        },
    ),
]


@cache
def source_of(path: Path) -> str:
    return path.read_text("utf-8")


@cache
def literals(source: str) -> tuple[tuple[int, str], ...]:
    """Every string in the code, with its line; a part of an f-string is one too."""
    constants = (node for node in ast.walk(ast.parse(source)) if isinstance(node, ast.Constant))
    return tuple((node.lineno, node.value) for node in constants if isinstance(node.value, str))


def uses(row: Row) -> Iterator[tuple[str, int, str]]:
    """Where a name of the row is written outside its room: file, line and name."""
    for path in FILES:
        file = path.relative_to(PACKAGE).as_posix()
        if not file.startswith(f"{row.room}/"):
            names = set(row.names) - set(row.words)
            yield from ((file, line, text) for line, text in literals(source_of(path)) if text in names)


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


# Answers, options, seats and roles are declared where they are read, and read by what the declaration gives back.

# How code asks for one of them: the attribute that is looked into, and the methods that take a name.
HELD = {"answers", "asked", "options", "role", "phase", "seat"}
METHODS = {"rounds_that_ask", "latest", "last_words", "newest", "role", "phase_of"}


def reads(source: str) -> Iterator[tuple[int, str]]:
    """Every literal by which code looks for an answer, an option, a seat, a phase or a role."""
    for node in ast.walk(ast.parse(source)):
        found: list[ast.expr] = []
        if isinstance(node, ast.Subscript) and _held(node.value) in HELD:
            found = [node.slice]
        elif isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute):
            of_held = node.func.attr == "get" and _held(node.func.value) in HELD
            declares = isinstance(node.func.value, ast.Name) and node.func.value.id == "declare"
            found = node.args[:1] if of_held else node.args if node.func.attr in METHODS and not declares else []
        elif isinstance(node, ast.Compare):
            sides = [node.left, *node.comparators]
            named = {_held(side) for side in sides} | {_held(getattr(side, "value", side)) for side in sides}
            found = sides if named & HELD else []
        literal = (one for one in found if isinstance(one, ast.Constant) and isinstance(one.value, str) and one.value)
        yield from ((one.lineno, one.value) for one in literal)


def _held(node: ast.expr) -> str:
    return node.attr if isinstance(node, ast.Attribute) else ""


# Files in which a literal read is something else, with the literal.
ELSEWHERE = {("cli/from_workflow.py", "three_rounds"): "an option that --rounds sets, where a workflow has it"}


def test_answers_options_seats_and_roles_are_read_by_their_declarations() -> None:
    found = [(path.relative_to(PACKAGE).as_posix(), *one) for path in FILES for one in reads(source_of(path))]
    assert [one for one in found if (one[0], one[2]) not in ELSEWHERE] == []


def test_every_declared_word_has_a_home_that_uses_it() -> None:
    """A declaration that no code reads would promise what the program does not do."""
    source = "".join(map(source_of, FILES))
    assigned = {name: word for word, name in re.findall(r"\b([A-Z_]+) = declare\.\w+\(\s*\"([^\"]+)\"", source)}
    read = Counter(re.findall(r"\b[A-Z_]+\b", source))
    for words in (declare.answer, declare.option, declare.role):
        assert words.known
        for name in words.known:
            if words.known[name].concern:
                continue  # the ledger reads every answer that is declared with a kind of concern
            assert name in assigned
            assert read[assigned[name]] > 1, name


@pytest.mark.parametrize(
    ("source", "seen"),
    [
        ("turn.answers.get('stance')", ["stance"]),
        ("turn.answers['stance']", ["stance"]),
        ("'stance' in turn.answers", ["stance"]),
        ("'findings' in turn.asked", ["findings"]),
        ("scene.rounds_that_ask('stance')", ["stance"]),
        ("turn.phase == 'synthesis'", ["synthesis"]),
        ("phase.name == 'synthesis'", []),
        ("turn.seat.name == 'moonshot'", ["moonshot"]),
        ("workflow.options.get('words', '')", ["words"]),
        ("workflow.role('control')", ["control"]),
        ("turn.answers.get(STANCE)", []),
        ("facts['stance']", []),
    ],
)
def test_reads_are_seen(source: str, seen: list[str]) -> None:
    assert [name for _, name in reads(source)] == seen
