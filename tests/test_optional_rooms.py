"""A room that is optional can be deleted: its command is gone, and everything else works."""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from council.cli import commands
from council.config import overlays
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


@dataclass(frozen=True)
class Copy:
    """A copy of the repository without a room, and a user of it."""

    folder: Path
    user: User

    def run(self, *words: str | Path) -> subprocess.CompletedProcess[str]:
        command = [sys.executable, "-W", "error", "-m", "council", *map(str, words)]
        env = {**self.user.environment, "PYTHONPATH": str(self.folder), "PATH": os.environ["PATH"]}
        return subprocess.run(
            command, cwd=self.user.work, env=env, capture_output=True, text=True, timeout=120, check=False
        )

    def ok(self, *words: str | Path) -> str:
        done = self.run(*words)
        assert done.returncode == 0, done.stderr
        return done.stdout


@pytest.fixture(
    params=[("reviews",), CODE_LAB, ("reviews", "mcp_server", *CODE_LAB, *WINDOW, "planning")], ids="+".join
)
def without(request: pytest.FixtureRequest, tmp_path: Path) -> Any:
    folder = tmp_path / "copy"
    shutil.copytree(CODE / "council", folder / "council", ignore=shutil.ignore_patterns("__pycache__", "kit"))
    for name in KIT:
        (folder / name).parent.mkdir(exist_ok=True)
        (shutil.copytree if (CODE / name).is_dir() else shutil.copy)(CODE / name, folder / name)
    for room in request.param:
        shutil.rmtree(folder / "council" / room)
    return request.param, Copy(folder, User(tmp_path))


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
    assert "has no findings" in copy.run("show", "--format", "sarif").stderr
    for path in copy.user.session.glob("round-*.md"):
        path.unlink()
    assert len(copy.ok("build").splitlines()) >= 3
    assert "no problems found" in copy.ok("lint", "debate", "delphi", "board")
    assert "9 to 14 calls" in copy.ok("cost")
    assert copy.ok("diagram", "debate").startswith("flowchart")
    copy.ok("start", "Shall we?")
    assert "01-positions/engineer" in copy.ok("next", "--json")
    assert copy.run("recover", "--speaker", "replay", "--from", words).returncode == 0
    library = "import council; print(council.load_session('last').outcome)"
    done = subprocess.run(
        [sys.executable, "-c", library], cwd=copy.folder, env=copy.user.environment, capture_output=True, text=True,
        check=True, timeout=60,
    )  # fmt: skip
    assert done.stdout == "agreed with dissent\n"
    for command in (name for room in rooms for name in OPTIONAL[room]):
        assert copy.run(command).returncode == 2
    written = copy.run("lint", "tree", "code")
    assert "tree: no problems found" in written.stdout
    assert (written.returncode, '"files" is not a type' in written.stdout) == (
        (2, True) if CODE_LAB[0] in rooms else (0, False)
    )


def test_its_command_is_gone_and_every_other_is_there(without: tuple[tuple[str, ...], Copy]) -> None:
    rooms, copy = without
    out = copy.ok("-h")
    gone = {name for room in rooms for name in OPTIONAL[room]}
    kept = set(overlays.workflows([overlays.kit_folder()]))  # `code` is a workflow, too
    assert {name for name in commands.built_in() if f"\n  {name} " not in out} == gone - kept
    for name in set(commands.built_in()) - gone:
        assert copy.ok(name, "-h").startswith(f"Usage: council {name}")
