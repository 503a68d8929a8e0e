"""The rooms are the layers: a room may import only rooms listed above it (below, and in AGENTS.md)."""

from __future__ import annotations

import ast
import os
import re
from collections.abc import Iterator
from pathlib import Path

import pytest

import council

PACKAGE = Path(council.__file__).parent
ROOT = Path(__file__).resolve().parent.parent
ROOMS = (
    *("workflow", "replies", "engine", "protocols", "reviews", "candidates", "record", "config", "sandbox", "lessons"),
    *(
        "speakers",
        "prompts",
        "checks",
        "reports",
        "runner",
        "terminal",
        "cli",
        "mcp_server",
        "index",
        "lab",
        "planning",
        "web",
    ),
)
LEAVES = ("__init__", "__main__", "errors", "git", "text", "text_width")
FILES = sorted(path for path in PACKAGE.rglob("*.py") if not {"kit", "next"} & {*path.relative_to(PACKAGE).parts})


def name_of(path: Path) -> str:
    return path.relative_to(PACKAGE).as_posix()


def room_of(path: Path) -> str:
    return path.relative_to(PACKAGE).with_suffix("").parts[0]


def imported(tree: ast.AST) -> Iterator[str]:
    """The rooms and leaf modules of ours that are imported anywhere in a file, inside functions too."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            yield from (name.name.split(".")[1] for name in node.names if name.name.startswith("council."))
        elif isinstance(node, ast.ImportFrom) and node.module == "council":
            yield from (name.name for name in node.names if not name.name.startswith("_"))
        elif isinstance(node, ast.ImportFrom) and (node.module or "").startswith("council."):
            yield (node.module or "").split(".")[1]


@pytest.mark.parametrize("path", FILES, ids=name_of)
def test_a_room_imports_only_rooms_above_it(path: Path) -> None:
    tree = ast.parse(path.read_text(encoding="utf-8"))
    relative = [node for node in ast.walk(tree) if isinstance(node, ast.ImportFrom) and node.level]
    assert not relative, "import by full name"
    own = room_of(path)
    above = {
        *LEAVES,
        *(ROOMS[: ROOMS.index(own) + 1] if own in ROOMS else ROOMS if own in ("__init__", "__main__") else ()),
    }
    wrong = {room for room in imported(tree) if room not in above}
    assert not wrong, f"{own} imports {wrong}"


def test_every_file_has_a_room() -> None:
    assert {room_of(path) for path in FILES} == {*ROOMS, *LEAVES}


def test_public_class_names_are_unique() -> None:
    """One name means one thing in the whole package. Names with an underscore belong to their file alone."""
    places: dict[str, list[str]] = {}
    for path in FILES:
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(node, ast.ClassDef) and not node.name.startswith("_"):
                places.setdefault(node.name, []).append(name_of(path))
    assert {name: found for name, found in places.items() if len(found) > 1} == {}


@pytest.mark.parametrize(
    ("line", "names"),
    [
        ("import council.engine", ["engine"]),
        ("import council.speakers.base as b, json", ["speakers"]),
        ("from council import errors, __version__", ["errors"]),
        ("from council.speakers.base import Brief", ["speakers"]),
        ("def f():\n    from council.runner import loop", ["runner"]),
        ("import councillor", []),
    ],
)
def test_imports_are_found(line: str, names: list[str]) -> None:
    assert list(imported(ast.parse(line))) == names


def lines_in(path: Path) -> int:
    return len(path.read_text("utf-8").splitlines())


def test_the_pages_for_contributors_list_the_same_rooms_in_the_same_order() -> None:
    for page in ("ARCHITECTURE.md", "AGENTS.md"):
        assert tuple(re.findall(r"^\| `(\w+)` \|", (ROOT / page).read_text("utf-8"), re.M)) == ROOMS, page


@pytest.mark.golden
def test_the_architecture_page_gives_the_size_of_each_room_and_of_the_core() -> None:
    """In hundreds of lines. A number that is wrong by more than a tenth, or by 300 lines, has to be updated."""
    page = ROOT / "ARCHITECTURE.md"
    text = page.read_text("utf-8")
    rows = re.findall(r"^\| `?\(?(\w+)\)?`? \| (.*) \| ([\d,]+) \|$", text, re.M)
    assert [room for room, _, _ in rows] == ["top", *ROOMS]
    real = {room: sum(lines_in(path) for path in FILES if room_of(path) == room) for room in ROOMS}
    real["top"] = sum(lines_in(path) for path in FILES if room_of(path) in LEAVES)
    core = [room for room, purpose, _ in rows if not purpose.endswith(" Optional")]
    sentence = re.search(r"about ([\d,]+) lines in (\d+) rooms; with the optional rooms it is about ([\d,]+)", text)
    assert sentence
    assert int(sentence[2]) == len(core) - 1
    stated = {f"`{room}`" if room != "top" else "(top)": (number, real[room]) for room, _, number in rows}
    stated["core"] = (sentence[1], sum(real[room] for room in core))
    stated["all"] = (sentence[3], sum(real.values()))
    if os.environ.get("COUNCIL_UPDATE_GOLDEN"):
        for name, (number, lines) in stated.items():
            after = {"core": "about ", "all": "rooms it is about "}.get(name) or f"| {name} "
            now = f"{round(lines, -2):,}"
            text = re.sub(rf"({re.escape(after)}(?:\|.*\| )?){number}\b", rf"\g<1>{now}", text, count=1)
        page.write_text(text, "utf-8")
        return
    for name, (number, lines) in stated.items():
        wrong = f"{name}: {number}, and it has {lines}; run scripts/update-golden"
        assert abs(int(number.replace(",", "")) - lines) <= max(300, lines / 10), wrong
