"""The commands that council prints can be run as they are printed, however it was called."""

from __future__ import annotations

import ast
import os
import shlex
import subprocess
import sys
from pathlib import Path

import pytest

from council.config import command_line
from tests import warm
from tests.helpers import CODE, User
from tests.portable import SENTENCE, STORE


@pytest.fixture
def user(tmp_path: Path) -> User:
    return User(tmp_path, {"COUNCIL_VENV": warm.venv()})


def run(user: User, program: str | Path, *words: str, path: Path | None = None, stdin: str = "") -> str:
    env = {**user.environment, "PATH": f"{path}:{os.defpath}" if path else os.defpath}
    done = subprocess.run(
        [program, *words], env=env, cwd=user.work, input=stdin, capture_output=True, text=True, timeout=60, check=False
    )
    assert done.returncode == 0, done.stderr
    return done.stdout


def linked(user: User, name: str) -> Path:
    """The program as a skill has it that is installed in this folder."""
    skill = user.work / name
    skill.parent.mkdir(parents=True, exist_ok=True)
    skill.symlink_to(CODE)
    return skill / "bin" / "council"


@pytest.mark.parametrize("folder", [".claude/skills/council", "with a space/council", "a $x (y)/council"])
def test_a_debate_by_the_commands_as_they_are_printed(user: User, folder: str) -> None:
    program = linked(user, folder)
    printed = run(user, program, "start", "Q?")
    asked = SENTENCE.findall(printed)
    assert len(asked) == 4
    for fetch, _, _ in asked:
        brief = run(user, "/bin/sh", "-c", fetch)
        assert str(program) in brief
        (store,) = STORE.finditer(brief)
        command = f"{store['command']}\nYes.\n{store['end']}\n"
        assert "recorded" in run(user, "/bin/sh", "-c", command)
    assert "Round 1 (positions) is closed" in run(user, program, "next")


@pytest.mark.parametrize("folder", [".claude/skills/council", "with a space/council"])
def test_a_path_is_written_as_the_skill_allows_it(user: User, folder: str) -> None:
    """Claude Code compares the text of a command with the skill's rules, so it matters how a path is quoted."""
    program = linked(user, folder)
    ((command, *_), *_) = SENTENCE.findall(run(user, program, "start", "Q?"))
    assert command.startswith((f"{program} brief ", f'"{program}" brief '))
    assert shlex.split(command)[0] == str(program)


def test_a_relative_path_is_printed_whole(user: User) -> None:
    program = linked(user, ".claude/skills/council")
    printed = run(user, ".claude/skills/council/bin/council", "start", "Q?")
    assert f"Run `{program} brief " in printed


def test_where_path_finds_the_same_program_its_name_is_enough(user: User) -> None:
    program, other = linked(user, "one/council"), linked(user, "other/council")
    assert "Run `council brief " in run(user, program, "start", "Q?", path=program.parent)
    assert "Run `council brief " in run(user, program, "next", path=other.parent), "another link to it"
    assert "Run `council brief " in run(user, "council", "next", path=program.parent)


def test_another_program_of_that_name_is_not_taken_for_it(user: User) -> None:
    program = linked(user, "one/council")
    other = user.write("other/council", "#!/bin/sh\necho of the city\n")
    other.chmod(0o755)
    assert f"Run `{program} brief " in run(user, program, "start", "Q?", path=other.parent)


def test_called_as_a_module(user: User) -> None:
    env = {**user.environment, "PYTHONPATH": str(CODE)}
    done = subprocess.run(
        [sys.executable, "-m", "council", "start", "Q?"],
        env=env, cwd=user.work, capture_output=True, text=True, check=True, timeout=60,
    )  # fmt: skip
    assert f"Run `{sys.executable} -m council brief " in done.stdout


def test_an_error_names_commands_that_can_be_run(user: User) -> None:
    program = linked(user, ".claude/skills/council")
    done = subprocess.run([program, "next"], env=user.environment, capture_output=True, text=True, check=False)
    why = (
        f'council: there is no session in {user.home}/STATE/council-sessions yet; `{program} run "topic"` starts one\n'
    )
    assert (done.returncode, done.stderr) == (2, why)


def test_what_council_starts_does_not_inherit_how_it_was_called(user: User) -> None:
    program = linked(user, ".claude/skills/council")
    claude = user.write("claude", '#!/bin/sh\nenv >"$0.env"\n[ "$1" = --version ] && echo 1\n')
    claude.chmod(0o755)
    env = {**user.environment, "COUNCIL_CLAUDE": str(claude)}
    subprocess.run([program, "doctor"], env=env, cwd=user.work, capture_output=True, check=False, timeout=60)
    assert "COUNCIL_CALLED_AS" not in claude.with_name("claude.env").read_text()


def test_what_is_advised_beside_a_result_can_be_run_too(user: User) -> None:
    program = linked(user, ".claude/skills/council")
    env = {**user.environment, "PATH": os.defpath}
    for words, told in (
        (["list"], f'no sessions yet; start one with: {program} run "QUESTION"\n'),
        (["list", "--state", "paused"], f"no session matches; `{program} list` shows all of them\n"),
    ):
        done = subprocess.run([program, *words], env=env, cwd=user.work, capture_output=True, text=True, check=True)
        assert done.stderr == told


def test_no_command_is_printed_under_a_name_that_may_not_be_found() -> None:
    """`advise` prints what names a command of ours; `echo` and its like print results."""
    found = [
        f"{path}:{one.lineno}: {text}"
        for path in sorted((CODE / "council").rglob("*.py"))
        if "next" not in path.relative_to(CODE).parts  # its output names the program in one place
        for one in ast.walk(ast.parse(path.read_bytes()))
        if isinstance(one, ast.Call) and getattr(one.func, "attr", getattr(one.func, "id", "")) in ("echo", "print")
        for text in map(_read_text, one.args)
        if command_line.OWN.search(text)
    ]
    assert found == []


def _read_text(node: ast.AST) -> str:
    """The text of a literal, with a letter for each of its values."""
    if isinstance(node, ast.JoinedStr):
        return "".join(map(_read_text, node.values))
    return str(node.value) if isinstance(node, ast.Constant) else "x"
