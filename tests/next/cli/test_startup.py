"""What is heavy is imported by the command that needs it."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from tests.next.cli.users import User

HEAVY = ("anthropic", "asyncio", "httpx", "jinja2", "markdown_it", "council.next.engine", "council.next.speakers")
SHOWN = "import sys; from council.next.cli import main; main(); print(*sys.modules, file=sys.stderr)"


@pytest.mark.parametrize(
    ("words", "more"),
    [
        (("--help",), ("yaml", "council.next.config.settings")),
        (("--version",), ("yaml", "council.next.config.settings")),
        (("list",), ()),
        (("list", "--json"), ()),
        (("status",), ()),
    ],
)
def test_a_look_imports_nothing_heavy(user: User, agreed: Path, words: tuple[str, ...], more: tuple[str, ...]) -> None:
    assert user.replay(agreed, "Redis or PostgreSQL?").code == 0
    env = {**user.environment, "PYTHONPATH": str(Path(__file__).parents[3])}
    command = [sys.executable, "-c", SHOWN, *words]
    ended = subprocess.run(command, env=env, cwd=user.work, capture_output=True, timeout=60, check=True)
    assert ended.stdout
    imported = ended.stderr.decode().split()
    assert "click" in imported
    assert {*HEAVY, *more}.isdisjoint(imported)
