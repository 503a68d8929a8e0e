"""docs/compliance.md and the page of each request: every row says where it is and what shows it, and that exists."""

from __future__ import annotations

import re
from collections import Counter
from pathlib import Path

import pytest

from council.config import personas

ROOT = Path(__file__).resolve().parent.parent
INDEX = (ROOT / "docs" / "compliance.md").read_text("utf-8")
FOLDER = ROOT / "docs" / "compliance"
PAGES = {path.stem: path.read_text("utf-8") for path in sorted(FOLDER.glob("*.md"))}
STATES = ("yes", "otherwise", "partly", "no")
HEADS = ("| the request | |", "| what | |")
PARTS = {  # of each request, a word of each of its parts, in their order
    "consensus": [
        *("takes part", "configuration", "answers", "loop", "order", "read", "progress", "design", "escalation"),
        *("examples", "practices", "record", "software"),
    ],
    "code": [*"123456789"],
    "board": [
        *("phases", "synthesis", "members", "rounds", "mandatory", "prohibited", "circular", "convergence"),
    ],
    "debate": [
        *("configuration", "initialize", "announce", "round 1", "round 2", "convergence", "round 3"),
        *("council synthesis", "archive", "agent types", "interruption"),
    ],
    "perspectives": [
        *("overview", "moderator", "rounds", "state", "document", "command", "dashboard", "architecture"),
        *("perspectives", "guardrails", "configuration"),
    ],
}


def rows_of(page: str) -> list[tuple[str, ...]]:
    lines = (line for line in page.splitlines() if line.startswith("| ") and not line.startswith(HEADS))
    return [tuple(cell.strip() for cell in line.strip("|").split(" | ")) for line in lines]


ROWS = [(name, row) for name, page in PAGES.items() for row in rows_of(page)]


@pytest.mark.parametrize("name", PAGES)
def test_every_row_says_where_and_how(name: str) -> None:
    for row in rows_of(PAGES[name]):
        assert len(row) == 4, row
        assert all(row), f"no cell is empty: {row}"
        asked, state, council, shown = row
        assert state in STATES, row
        assert find_named(shown), f"nothing shows it: {asked}"
        assert [one for one in (*find_named(shown), *find_links(council)) if not exists(one)] == [], asked


def find_links(cell: str) -> list[str]:
    return re.findall(r"\]\(([^)]+)\)", cell)


def find_named(cell: str) -> list[str]:
    """Every page, test, script and proof that the last cell of a row names: it has nothing else."""
    named = [one.strip() for one in cell.split(";")]
    return [find_links(one)[0] if one.startswith("[") else one.strip("`") for one in named]


def exists(name: str) -> bool:
    if name.startswith("proof "):
        return bool([*(ROOT / "scripts" / "proofs").rglob(f"{name[6:]}.py")])
    if name.startswith("test_"):
        module, _, test = name.partition("::")
        path = ROOT / "tests" / f"{module}.py"
        return path.is_file() and (not test or re.search(rf"^def {test}\(", path.read_text("utf-8"), re.M) is not None)
    return (ROOT / name).is_file() if name.startswith("scripts/") else (FOLDER / name.partition("#")[0]).is_file()


@pytest.mark.parametrize("name", PAGES)
def test_each_part_of_a_request_has_rows(name: str) -> None:
    sections = [section for section in re.split(r"^## ", PAGES[name], flags=re.M)[1:] if section.strip()]
    titles = iter(section.splitlines()[0].lower() for section in sections)
    assert [part for part in PARTS[name] if not any(part in title for title in titles)] == [], "in this order"
    assert [section.splitlines()[0] for section in sections if len(rows_of(section)) < 5] == []
    rows = [row[0] for row in rows_of(PAGES[name])]
    assert [row for row, times in Counter(rows).items() if times > 1] == []
    assert len(rows) > 50


def test_the_index_counts_the_rows_of_every_page() -> None:
    for name, page in PAGES.items():
        counts = Counter(row[1] for row in rows_of(page))
        told = " | ".join(str(counts[state]) for state in STATES)
        assert re.search(rf"^\| \[\w+\]\(compliance/{name}\.md\) \| .+ \| {re.escape(told)} \|$", INDEX, re.M), told
    assert len(PAGES) == INDEX.count("](compliance/") == len(PARTS)


def test_what_does_not_exist_is_found() -> None:
    for name in ("test_compliance::test_nothing", "test_nowhere", "proof nothing", "nowhere.md", "scripts/nothing.py"):
        assert not exists(name)


def test_the_ten_roles_are_there() -> None:
    roles = "generator refactorer performance-analyzer code-security teacher compiler executor judge implementer"
    assert {*roles.split(), "system-designer"} <= personas.load().keys()
