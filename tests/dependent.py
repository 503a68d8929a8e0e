"""A project with three dependencies, one of them compiled, and a bug that shows only with all of them."""

from __future__ import annotations

import importlib.metadata
import shutil
import subprocess
import sys
import venv
from pathlib import Path

from tests.fakeapi import Answer, Request
from tests.repositories import git, lay

COMPILED, PURE = "markupsafe", ("click", "filelock")
BUGGY = '''"""Prints a page with a name in it."""

import click
from filelock import FileLock
from markupsafe import Markup, escape


def greet(name):
    return Markup("<p>Hello, {}!</p>".format(name))


@click.command()
@click.argument("name")
@click.option("--lock", default="greet.lock")
def main(name, lock):
    with FileLock(lock):
        click.echo(greet(name))
'''
FIXED = BUGGY.replace('Markup("<p>Hello, {}!</p>".format(name))', 'Markup("<p>Hello, {}!</p>").format(escape(name))')
TESTS = """import markupsafe
import pytest
from click.testing import CliRunner

from greetings.page import greet, main


@pytest.fixture
def lock(tmp_path):
    return str(tmp_path / "lock")


def test_the_compiled_half_is_used():
    assert markupsafe._escape_inner.__module__ == "markupsafe._speedups"


def test_a_plain_name():
    assert greet("Ada") == "<p>Hello, Ada!</p>"


@pytest.mark.parametrize("sign", ["<", "&"])
def test_a_name_with_markup_is_escaped(sign):
    assert greet(sign) == f"<p>Hello, {markupsafe.escape(sign)}!</p>"


def test_the_command(lock):
    assert CliRunner().invoke(main, ["<b>", "--lock", lock]).output == "<p>Hello, &lt;b&gt;!</p>\\n"
"""
FILES = {
    "src/greetings/__init__.py": b"",
    "src/greetings/page.py": BUGGY.encode(),
    "tests/test_page.py": TESTS.encode(),
    "pyproject.toml": b'[project]\nname = "greetings"\nversion = "1"\n'
    b'dependencies = ["click", "filelock", "markupsafe"]\n\n[tool.pytest.ini_options]\naddopts = "-ra"\n',
    ".gitignore": b".venv/\n",
}


def make(folder: Path) -> Path:
    """The project, as a repository."""
    lay(folder, FILES)
    git(folder, "init", "-q", "-b", "main")
    git(folder, "add", "-A")
    git(folder, "commit", "-qm", "first")
    return folder


def borrow_packages(folder: Path) -> None:
    """An environment with copies of the packages that the tests' own has."""
    venv.create(folder / ".venv", with_pip=False, symlinks=True)
    site = next((folder / ".venv").glob("lib/python3*/site-packages"))
    for name in (COMPILED, *PURE):
        for file in importlib.metadata.files(name) or []:
            if ".." not in file.parts and "__pycache__" not in file.parts:
                (site / file).parent.mkdir(parents=True, exist_ok=True)
                shutil.copy(str(file.locate()), site / file)


def install_packages(folder: Path, *more: str) -> None:
    """An environment with packages from PyPI, as a user makes one."""
    subprocess.run([sys.executable, "-m", "venv", ".venv"], cwd=folder, check=True)
    pip = [".venv/bin/python", "-m", "pip", "install", "-q", COMPILED, *PURE, *more]
    subprocess.run(pip, cwd=folder, check=True)


def answer(request: Request) -> Answer:
    """A model that writes what the tests ask for, once it sees why its first idea was wrong."""
    if "# Now: find out what went wrong" in request.text:
        return Answer(
            "## Root cause\nescape() returns Markup, and str.format makes it a plain string again.\n\n"
            "## What went wrong\nI escaped at the wrong place.\n\n"
            "## Change next\nFormat the Markup, not the string.\n\n## Confidence\n95\n"
        )
    text = FIXED if "# Now: attempt 2" in request.text else BUGGY.replace(".format(name)", ".format(name.upper())")
    if "# Now: solve" in request.text or "# Now: attempt" in request.text:
        return Answer(f"src/greetings/page.py\n```python\n{text}```\n")
    return Answer("## Applies\nMarkup\n\n## Cause\nformat\n\n## Lesson\nFormat the Markup itself.\n")
