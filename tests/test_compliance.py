"""docs/compliance.md says of each row where it is and what shows it, and the tests, proofs and pages it names exist."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from council.config import personas

ROOT = Path(__file__).resolve().parent.parent
PAGE = (ROOT / "docs" / "compliance.md").read_text("utf-8")
STATES = {"yes", "otherwise", "partly", "no"}
ROWS = [
    tuple(cell.strip() for cell in line.strip("|").split(" | "))
    for line in PAGE.splitlines()
    if line.startswith("| ") and not line.startswith(("| the request | |", "| what | |"))
]


@pytest.mark.parametrize("row", ROWS, ids=lambda row: row[0][:40])
def test_every_row_says_where_and_how(row: tuple[str, ...]) -> None:
    assert len(row) == 4, row
    assert all(row), "no cell is empty"
    asked, state, council, shown = row
    assert state in STATES
    assert find_named(shown), f"nothing shows it: {asked}"
    assert [one for one in (*find_named(shown), *find_links(council)) if not exists(one)] == []


def find_links(cell: str) -> list[str]:
    return re.findall(r"\]\(([^)]+)\)", cell)


def find_named(cell: str) -> list[str]:
    """Every page, test, script and proof that the last cell of a row names: it has nothing else."""
    named = [one.strip() for one in cell.split(";")]
    return [find_links(one)[0] if one.startswith("[") else one.strip("`") for one in named]


def exists(name: str) -> bool:
    if name.startswith("proof "):
        return (ROOT / "scripts" / "proofs" / "of_lab" / f"{name[6:]}.py").is_file()
    if name.startswith("test_"):
        module, _, test = name.partition("::")
        path = ROOT / "tests" / f"{module}.py"
        return path.is_file() and (not test or re.search(rf"^def {test}\(", path.read_text("utf-8"), re.M) is not None)
    return (ROOT / name).is_file() if name.startswith("scripts/") else (ROOT / "docs" / name).is_file()


def test_each_section_of_the_request_has_rows() -> None:
    sections = re.split(r"^## ", PAGE, flags=re.M)[1:]
    assert [title[0] for title in sections[1:10]] == [*"123456789"]
    assert [title.splitlines()[0] for title in sections if title.count("\n| ") < 5] == []
    assert len(ROWS) > 100


def test_what_does_not_exist_is_found() -> None:
    for name in ("test_compliance::test_nothing", "test_nowhere", "proof nothing", "nowhere.md", "scripts/nothing.py"):
        assert not exists(name)


def test_the_ten_roles_are_there() -> None:
    roles = "generator refactorer performance-analyzer code-security teacher compiler executor judge implementer"
    assert {*roles.split(), "system-designer"} <= personas.load().keys()
