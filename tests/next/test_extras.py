"""Without `extras` the core is whole, and a room of somebody else's package adds what it names."""

from __future__ import annotations

import os
import shutil
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

import council.next
from tests.next.cli import scripts

Q = "Redis or PostgreSQL?"


def council_in(root: Path) -> Path:
    """A copy of the core, in which nothing else of the package is."""
    package = root / "copy" / "council"
    package.mkdir(parents=True)
    (package / "__init__.py").write_text('__version__ = "1"\n')
    shutil.copytree(Path(council.next.__file__).parent, package / "next")
    return package / "next"


def start(root: Path, *words: str, path: tuple[Path, ...] = ()) -> subprocess.Popen[str]:
    environment = {
        "HOME": str(root),
        "COUNCIL_HOME": str(root / "memory"),
        "PATH": os.defpath,
        "PYTHONPATH": os.pathsep.join(map(str, (root / "copy", *path))),
    }
    command = [sys.executable, "-m", "council.next", *words]
    return subprocess.Popen(
        command, cwd=root, env=environment, text=True, stdout=subprocess.PIPE, stderr=subprocess.PIPE
    )


def call(root: Path, *words: str, path: tuple[Path, ...] = (), code: int = 0) -> str:
    process = start(root, *words, path=path)
    out, err = process.communicate(timeout=120)
    assert process.returncode == code, err
    return out + err


def test_without_extras_a_debate_is_held_killed_recovered_verified_and_shown(tmp_path: Path) -> None:
    shutil.rmtree(council_in(tmp_path) / "extras")
    script = scripts.script(tmp_path / "agreed.yaml")
    slow = script.with_name("slow.yaml")
    slow.write_text(script.read_text("utf-8").replace("at some length", "at some length" + " word" * 2_000), "utf-8")
    process = start(tmp_path, "run", "--speaker", "replay", "--pace", "real", "--from", str(slow), Q)
    root = tmp_path / "memory" / "STATE" / "council-sessions"
    while not [*root.glob("*/turns/*/*.md")]:
        assert process.poll() is None, process.communicate()
        time.sleep(0.01)
    process.send_signal(signal.SIGKILL)
    process.communicate()
    assert "Outcome     agreed" in call(tmp_path, "recover", "--speaker", "replay", "--from", str(script))
    call(tmp_path, "verify")
    assert "Keep PostgreSQL." in call(tmp_path, "show")
    assert "is a command of the optional room web, which is not here" in call(tmp_path, "serve", code=2)
    assert "  run " in call(tmp_path, "help", "all")


ROOM = """speaker = {"parrot": "words"}
rule = {"squawked": "words"}
"""
WORDS = """
from council.next.engine.registry import rule
from council.next.engine.scene import Scene, Verdict
from council.next.replies.write import write
from council.next.speakers.base import Speaker, Spoken, speaker


@rule
def squawked(scene: Scene) -> Verdict:
    \"\"\"Whether anybody has spoken.\"\"\"
    return Verdict(bool(scene.turns), "somebody squawked")


@speaker
class Parrot(Speaker):
    name = "parrot"

    def price(self):
        return "seeds"

    async def speak(self, brief, began):
        return Spoken("Squawk.\\n\\n## Recommendation\\nSeeds.", usd=0.0)
"""
WORKFLOW = """---
name: loud
seats: {members: [architect, engineer]}
phases:
  - {name: positions, rounds: [1, 3], reply: {recommendation: text}, until: {over: squawked}}
---
"""


@pytest.fixture
def plugin(tmp_path: Path) -> Path:
    """A package that is installed beside council, and names its room."""
    place = tmp_path / "site"
    (place / "noisy").mkdir(parents=True)
    for name, text in (("__init__", ""), ("room", ROOM), ("words", WORDS)):
        (place / "noisy" / f"{name}.py").write_text(text)
    about = place / "noisy-1.0.dist-info"
    about.mkdir()
    (about / "METADATA").write_text("Metadata-Version: 2.1\nName: noisy\nVersion: 1.0\n")
    (about / "entry_points.txt").write_text("[council.rooms]\nnoisy = noisy\n")
    return place


def test_a_room_of_another_package_adds_a_speaker_and_a_rule(tmp_path: Path, plugin: Path) -> None:
    council_in(tmp_path)
    (tmp_path / "loud.md").write_text(WORKFLOW)
    words = ("run", "-w", "./loud.md", "--speaker", "parrot", Q)
    assert 'there is no rule "squawked"' in call(tmp_path, *words, code=2)
    assert 'there is no speaker "parrot"' in call(tmp_path, "run", "--speaker", "parrot", Q, code=2)
    assert "parrot speaks" in call(tmp_path, *words, path=(plugin,), code=0)
    assert "no problems found" in call(tmp_path, "lint", "./loud.md", path=(plugin,))
    turns = [*(tmp_path / "memory").rglob("turns/*/*.md")]
    assert len(turns) == 2
    assert "Squawk." in call(tmp_path, "show", path=(plugin,))


def test_a_session_outlives_the_package_of_its_speaker(tmp_path: Path, plugin: Path) -> None:
    """Its words are there without the package, as far as its workflow needs none of it."""
    council_in(tmp_path)
    (tmp_path / "loud.md").write_text(WORKFLOW.replace(", until: {over: squawked}", "").replace("[1, 3]", "1"))
    call(tmp_path, "run", "-w", "./loud.md", "--speaker", "parrot", Q, path=(plugin,))
    assert "Squawk." in call(tmp_path, "show")
    call(tmp_path, "verify")
    call(tmp_path, "build")
