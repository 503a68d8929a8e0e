"""A room that is optional can be deleted: its command is gone, and everything else works."""

from __future__ import annotations

import json
import re
import shutil
from collections.abc import Iterator
from typing import Any

import pytest

from council.cli import commands
from council.config import overlays
from tests.copies import Copy, driven
from tests.helpers import CODE, User, disputed, script

KIT = ("Workflows", "templates", "Config.md", "AgentPersonalities.md", "SKILL.md", "docs/workflows.md")
WINDOW = ("index", "web")  # without these, nobody searches, and there is no page
CODE_LAB = ("candidates", "sandbox", "lessons", "lab")  # without these, nobody writes code
OPTIONAL = {
    "reviews": ("review",),
    "mcp_server": ("mcp",),
    **dict.fromkeys((*CODE_LAB, *WINDOW), ()),
    "web": ("serve",),
    "index": ("list", "search", "stats", "index", "metrics"),
    "planning": ("planning",),
    "lab": ("code", "apply", "lessons", "sandbox", "lab"),
}  # with the commands that go with each


def test_the_architecture_page_calls_the_same_rooms_optional() -> None:
    page = (CODE / "ARCHITECTURE.md").read_text("utf-8")
    assert set(re.findall(r"^\| `(\w+)` \| .* Optional \|", page, re.M)) == set(OPTIONAL)


def test_the_architecture_page_names_each_place_that_mentions_an_optional_room() -> None:
    """An import, also inside a function, or the name of a room by itself."""
    page = (CODE / "ARCHITECTURE.md").read_text("utf-8")
    listed = re.findall(r"`(\w+/[\w/.]*)`", page.partition("are still mentioned in")[2].partition("\n\n")[0])
    rooms = "|".join(OPTIONAL)
    words = re.compile(rf'council\.({rooms})\b|from council import [^\n]*\b({rooms})\b|"({rooms})"')
    package = CODE / "council"
    found = {
        path.relative_to(package).as_posix()
        for path in package.glob("*/**/*.py")
        if path.relative_to(package).parts[0] not in (*OPTIONAL, "next") and words.search(path.read_text("utf-8"))
    }
    assert {name for name in found if not name.startswith(tuple(listed))} == set()
    assert {one for one in listed if not any(name.startswith(one) for name in found)} == set()


@pytest.fixture(
    params=[("reviews",), CODE_LAB, ("reviews", "mcp_server", *CODE_LAB, *WINDOW, "planning")],
    ids="+".join,
    scope="module",
)
def without(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Any]:
    root = tmp_path_factory.mktemp("without")
    folder, user = root / "copy", User(root)
    shutil.copytree(CODE / "council", folder / "council", ignore=shutil.ignore_patterns("kit"))
    for name in KIT:
        (folder / name).parent.mkdir(exist_ok=True)
        (shutil.copytree if (CODE / name).is_dir() else shutil.copy)(CODE / name, folder / name)
    for room in request.param:
        shutil.rmtree(folder / "council" / room)
    with driven(folder, user) as copy:
        yield request.param, copy


def test_everything_else_works(without: tuple[tuple[str, ...], Copy]) -> None:
    rooms, copy = without
    words = script(copy.user, disputed())
    assert "agreed with dissent" in copy.ok("run", "Shall we?", "--speaker", "replay", "--from", words)
    id = copy.user.session.name
    assert copy.ok("verify").startswith(f"{id}: every receipt, hash, brief and derived file is correct\nhead: ")
    assert "index" in rooms or json.loads(copy.ok("list", "--json"))[0]["state"] == "complete"
    assert copy.ok("status") == f"{id}: complete (agreed with dissent)\n"
    assert "Keep one database." in copy.ok("show")
    assert copy.ok("show", "--html").startswith("<!DOCTYPE html>")
    assert "restore is untested" in copy.ok("show", "--json")
    assert "has no findings" in copy.run("show", "--format", "sarif").err
    for path in copy.user.session.glob("round-*.md"):
        path.unlink()
    assert len(copy.ok("build").splitlines()) >= 3
    assert "no problems found" in copy.ok("lint", "debate", "delphi", "board")
    assert "9 to 14 calls" in copy.ok("cost")
    assert copy.ok("diagram", "debate").startswith("flowchart")
    copy.ok("start", "Shall we?")
    assert "01-positions/engineer" in copy.ok("next", "--json")
    assert copy.run("recover", "--speaker", "replay", "--from", words).code == 0
    assert copy.ok() == "agreed with dissent\n"
    for command in (name for room in rooms for name in OPTIONAL[room]):
        assert copy.run(command).code == 2
    written = copy.run("lint", "tree", "code")
    assert "tree: no problems found" in written.out
    assert (written.code, '"files" is not a type' in written.out) == ((2, True) if CODE_LAB[0] in rooms else (0, False))


def test_its_command_is_gone_and_every_other_is_there(without: tuple[tuple[str, ...], Copy]) -> None:
    rooms, copy = without
    out = copy.ok("help", "all")
    gone = {name for room in rooms for name in OPTIONAL[room]}
    kept = set(overlays.workflows([overlays.kit_folder()]))  # `code` is a workflow, too
    assert {name for name in commands.built_in() if f"\n  {name} " not in out} == gone - kept
    assert not (gone - kept) & set(re.findall(r"[\w-]+", copy.ok("-h").partition("\nCommands:\n")[2]))
    for name in set(commands.built_in()) - gone:
        assert copy.ok(name, "-h").startswith(f"Usage: council {name}")
