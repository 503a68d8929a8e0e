"""A project with dependencies, some of them compiled, is fixed in one command, on a branch, its own tests green."""

from __future__ import annotations

import json
import subprocess
from pathlib import Path
from tempfile import TemporaryDirectory

from prove import Outcome

from tests import dependent
from tests.fakeapi import FakeApi
from tests.helpers import User
from tests.repositories import git, lay, picture

PROMISE = "one command makes a green branch"
WAYS = {
    "packages from PyPI": ("pytest",),
    "more compiled packages": ("pytest", "msgpack", "regex"),
    "the project itself installed with -e": ("pytest", "-e", "."),
}
COMPILED_TOO = b"""import msgpack
import msgpack._cmsgpack
import regex
import regex._regex


def test_more():
    assert regex.fullmatch(r"\\p{Lu}+", msgpack.unpackb(msgpack.packb("ADA")))
"""


def parts() -> list[str]:
    return list(WAYS)


def prove(part: str) -> Outcome:
    """Each claim is checked from outside: git, and the project's own pytest on the branch."""
    with TemporaryDirectory(prefix="council-proof-") as place:
        folder = dependent.make(Path(place, "greetings"))
        dependent.install_packages(folder, *WAYS[part])
        tests = 5
        if "msgpack" in WAYS[part]:
            tests += 1
            lay(folder, {"tests/test_more.py": COMPILED_TOO})
            git(folder, "add", "-A")
            git(folder, "commit", "-qm", "more")
        before = picture(folder, "council/")
        user = User(Path(place, "user"), {"ANTHROPIC_API_KEY": "sk-ant-of-the-proof"})
        with FakeApi(dependent.answer) as api:
            url = {"ANTHROPIC_BASE_URL": api.url}
            ended = user.process("code", "Escape the name.", "--json", cwd=folder, env=url)
            asked = len(api.prompts)
        if ended.code:
            return Outcome([], [f"{part}: {ended.text}"])
        branch, winner = f"council/{user.session.name}", ended.json["winner"]
        applied = user.process("apply", "--yes", cwd=folder)
        base = json.loads((user.session / "base.json").read_text())
        checks = {
            "the unchanged tests fail": base["before"]["verdict"] == "fail",
            "the winner is green": winner["doubts"] == [] and winner["trials"][0]["passed"] == tests,
            "the branch is made": applied.code == 0,
            "nothing else changes": picture(folder, "council/") == before,
            "it verifies": user.process("verify", cwd=folder).code == 0,
            "the branch is green outside of council": _run_own_tests(folder, branch, tests),
            "undo removes it": user.process("apply", "--undo", cwd=folder).code == 0,
            "all is as it was": picture(folder, "nothing") == before,
        }
    wrong = [f"{part}: not so: {what}" for what, holds in checks.items() if not holds]
    row = (PROMISE, part, f"{len(checks)} facts", f"version {winner['version']} after {asked} calls")
    return Outcome([(*row, len(checks), len(checks) - len(wrong))], wrong)


def _run_own_tests(folder: Path, branch: str, tests: int) -> bool:
    """The project's own pytest, on the branch, in a work tree beside the user's."""
    place = folder.parent / "look"
    git(folder, "worktree", "add", "-q", str(place), branch)
    words = [str(folder / ".venv/bin/python"), "-m", "pytest", "-q", "-p", "no:cacheprovider"]
    env = {"PATH": "/usr/bin:/bin", "PYTHONPATH": str(place / "src")}
    done = subprocess.run(words, cwd=place, env=env, capture_output=True, text=True, check=False)
    git(folder, "worktree", "remove", "--force", str(place))
    return done.returncode == 0 and f"{tests} passed" in done.stdout
