"""The branch of `council apply` has exactly the files that the trial of the winner ran."""

from __future__ import annotations

import hashlib
import re
import shutil
from pathlib import Path

import pytest

from tests.bubblewrap import needs_sandbox
from tests.code_sessions import MEND, RIGHT, write_file
from tests.fakeapi import Answer, FakeApi
from tests.helpers import User
from tests.repositories import git, lay

pytestmark = [needs_sandbox, pytest.mark.skipif(shutil.which("git") is None, reason="needs git")]
LIST = """
import hashlib, os
def list_files():
    found = [os.path.join(folder, name)[2:] for folder, _, names in os.walk(".") for name in names]
    return "\\n".join(f"= {path} {hashlib.sha256(open(path, 'rb').read()).hexdigest()}" for path in sorted(found))
"""
BY_PYTEST = f"{LIST}\ndef test_tree():\n    raise AssertionError(list_files())\n"
BY_UNITTEST = f"""{LIST}
import unittest
class TestTree(unittest.TestCase):
    def test_tree(self):
        raise AssertionError(list_files())
"""
BY_NODE = """
const test = require('node:test'), fs = require('fs'), crypto = require('crypto');
test('tree', () => {
  const found = fs.readdirSync('.', {recursive: true}).filter(path => fs.statSync(path).isFile());
  const hash = path => crypto.createHash('sha256').update(fs.readFileSync(path)).digest('hex');
  throw new Error(found.sort().map(path => `= ${path} ${hash(path)}`).join('\\n'));
});
"""
BY_COMMAND = (
    "for path in $(find . -type f | cut -c3- | sort); do echo = $path $(sha256sum < $path | cut -c-64); done; "
    "./run.sh; tests/run.sh; test -x src/app.py || echo app is no program"
)
TESTS = {
    "pytest": ("tests/test_tree.py", BY_PYTEST), "unittest": ("tests/test_tree.py", BY_UNITTEST),
    "node": ("tests/tree.test.js", BY_NODE), "shell": ("tests/test_tree.py", BY_PYTEST),
}  # fmt: skip
PROGRAMS = {"run.sh": b"#!/bin/sh\necho it ran\n", "tests/run.sh": b"#!/bin/sh\necho a test ran\n"}
FILES = {
    **PROGRAMS,
    "src/app.py": b"x = 1\n", "docs/old.md": b"# Old\n", "tests/data/one.txt": b"1\n", "tests/conftest.py": b"x = 1\n",
    "pyproject.toml": b'[project]\nname = "a"\n\n[tool.pytest.ini_options]\naddopts = "-q"\n',
    "setup.cfg": b"[metadata]\nname = a\n\n[tool:pytest]\naddopts = -q\n", "package.json": b'{"scripts": {}}\n',
    "jest.config.js": b"module.exports = {};\n",
}  # fmt: skip
WRITTEN = {
    "run.sh": b"#!/bin/sh\necho it still ran\n",
    "src/app.py": RIGHT, "tests/helper.py": b"y = 1\n", "tests/data/one.txt": b"2\n", "Makefile": b"all:\n",
    "pyproject.toml": FILES["pyproject.toml"].replace(b'"a"', b'"b"') + b"\n[tool.ruff]\nline-length = 100\n",
    "setup.cfg": FILES["setup.cfg"].replace(b"= a", b"= b"), ".github/workflows/ci.yml": b"on: push\n",
    "package.json": b'{"scripts": {"test": "true"}}\n', "jest.config.js": b"module.exports = {bail: true};\n",
}  # fmt: skip


@pytest.fixture
def user(tmp_path: Path) -> User:
    made = User(tmp_path, {"ANTHROPIC_API_KEY": "sk-ant-of-the-tests"})
    (made.settings / "Workflows").mkdir(parents=True)
    chosen = MEND.replace("run: pytest", "run: bench").replace("options: {", "options: {bench: pytest, ")
    (made.settings / "Workflows/mend.md").write_text(chosen)
    made.configure(f"benches:\n  shell: {{kind: command, argv: [sh, -c, '{BY_COMMAND}; exit 1']}}")
    return made


def read_branch(folder: Path, branch: str) -> dict[str, str]:
    names = git(folder, "ls-tree", "-r", "-z", "--name-only", branch).decode().split("\0")[:-1]
    return {name: hashlib.sha256(git(folder, "show", f"{branch}:{name}")).hexdigest() for name in names}


@pytest.mark.parametrize("bench", [name for name in TESTS if name != "node" or shutil.which("node")])
def test_the_branch_has_the_files_that_the_trial_ran(user: User, bench: str) -> None:
    test, text = TESTS[bench]
    lay(user.work, {**FILES, test: text.encode()})
    git(user.work, "init", "-q", "-b", "main")
    for path in PROGRAMS:
        (user.work / path).chmod(0o755)
    git(user.work, "add", "-A")
    git(user.work, "commit", "-qm", "first")
    reply = "".join(write_file(path, data) for path, data in {**WRITTEN, test: b"# mine\n"}.items())
    with FakeApi(lambda _: Answer(f"{reply}\ndelete docs/old.md\n")) as api:
        ended = user.council("code", "-w", "mend", "--bench", bench, ANTHROPIC_BASE_URL=api.url)
    assert ended.code == 5, ended.text  # the test that lists the files fails
    trial = next((user.session / "turns").glob("*trial/*.md")).read_text()
    ran = dict(re.findall(r"= (\S+) ([0-9a-f]{64})", trial))
    assert user.council("apply", "--yes", "--although-tests-fail").code == 0
    branch = read_branch(user.work, f"council/{user.session.name}")
    assert {path for path, data in WRITTEN.items() if branch.get(path) == hashlib.sha256(data).hexdigest()} == (
        {*WRITTEN} - {"tests/data/one.txt"}  # which is one of the tests
    )
    assert "docs/old.md" not in branch
    listed = git(user.work, "ls-tree", "-r", f"council/{user.session.name}").decode().splitlines()
    assert [line.partition("\t")[2] for line in listed if line.startswith("100755")] == [*PROGRAMS]
    if bench == "shell":
        assert trial.count("it still ran\n") == trial.count("a test ran\n") == 1
        assert "app is no program\n" in trial
    for tree in (ran, branch) if bench != "shell" else ():
        tree.pop(test)  # the harness runs a copy of its own, with a canary
    assert {path: name for path, name in ran.items() if "__pycache__" not in path} == branch
