"""The Python of a trial: the tools' environment, a project's own, and what of the machine the sandbox sees."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest
from bubblewrap import needs_sandbox

from council.errors import UsageError
from council.sandbox import benches, tools
from council.sandbox.model import Job, Trial
from council.sandbox.run import run

SOLUTION = {"solution.py": b"import lib\ndef add(a, b):\n    return lib.plus(a, b)\n"}
TESTS = {"test_add.py": b"import pytest\nfrom solution import add\ndef test_add():\n    assert add(1, 2) == 3\n"}


@pytest.fixture
def nothing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A machine without the tools, whose council was installed without pytest."""
    monkeypatch.setenv("XDG_DATA_HOME", str(tmp_path / "data"))
    monkeypatch.setattr(sys, "prefix", str(tmp_path / "council"))
    return tmp_path


@pytest.fixture(scope="module")
def env(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A project's environment with a package of its own, and without pytest."""
    env = tmp_path_factory.mktemp("project") / ".venv"
    subprocess.run([sys.executable, "-m", "venv", "--without-pip", env], check=True)
    site = next(env.glob("lib/python3*/site-packages"))
    (site / "lib.py").write_text("def plus(a, b): return a + b\n")
    return env


def test_without_tools_the_message_says_what_to_do(nothing: Path) -> None:
    with pytest.raises(tools.ToolsMissing, match="tools of the benches are not installed") as missing:
        tools.equip("pytest")
    assert "--env DIR" in str(missing.value)
    assert "not installed" in tools.describe()


def test_tools_that_cannot_be_installed_are_told_so(nothing: Path) -> None:
    """The real installer, and something in its way."""
    tools.place().mkdir(parents=True)
    (tools.place() / "notes.txt").write_text("mine")
    with pytest.raises(tools.ToolsMissing, match=r"could not be installed \(.*is in the way.*--env DIR"):
        tools.provide(lambda _: None)
    assert not tools.are_here()


@needs_sandbox
def test_unittest_needs_no_tools(nothing: Path) -> None:
    suite = b"import unittest, x\nclass TestIt(unittest.TestCase):\n    def test_it(self): self.assertEqual(x.y, 1)\n"
    trial = Trial("unittest", {"x.py": b"y = 1\n"}, {"test_it.py": suite})
    tried = benches.try_out(trial, benches.load())
    assert tried.verdict == "pass", tried.log
    assert tried.receipt["python"].startswith("CPython")


@needs_sandbox
def test_a_projects_environment_brings_its_packages_and_the_tools_bring_pytest(env: Path) -> None:
    tried = benches.try_out(Trial("pytest", SOLUTION, TESTS, env=env), benches.load())
    assert tried.verdict == "pass", tried.log
    assert tried.receipt["env"] == tools.fingerprint(env)
    assert tried.receipt["env"] != tried.receipt["tools"]
    without = benches.try_out(Trial("pytest", SOLUTION, TESTS), benches.load())
    assert "No module named 'lib'" in without.log


@needs_sandbox
def test_an_interpreter_elsewhere_is_seen_and_nothing_beside_it(env: Path, tmp_path: Path) -> None:
    """As uv and pyenv make environments: its `python` is a link to a link, in a folder far away."""
    real = Path(sys.executable).resolve()
    (tmp_path / "pythons" / "now").mkdir(parents=True)
    (tmp_path / "pythons" / "now" / "bin").symlink_to(real.parent)
    (tmp_path / "secret").write_text("key")
    far = tmp_path / "project" / ".venv"
    (far / "bin").mkdir(parents=True)
    (far / "bin" / "python").symlink_to(tmp_path / "pythons" / "now" / "bin" / real.name)
    (far / "lib").symlink_to(env / "lib")
    (far / "pyvenv.cfg").write_text((env / "pyvenv.cfg").read_text())
    python = tools.equip("unittest", far)
    code = f"import sys, os; print(sys.prefix, os.path.exists({str(tmp_path / 'secret')!r}))"
    ran = run(Job((python.program, "-I", "-c", code), mounts=python.mounts))
    assert ran.output.decode().split() == [str(far), "False"]


def test_an_environment_whose_python_shares_its_folder_with_the_home_is_refused(
    env: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "bin").mkdir()
    (tmp_path / "bin" / "python3").write_bytes(b"")
    far = tmp_path / ".venv"
    (far / "bin").mkdir(parents=True)
    (far / "bin" / "python").symlink_to(Path(sys.executable).resolve())
    (far / "pyvenv.cfg").write_text(f"home = {tmp_path / 'bin'}\n")
    monkeypatch.setenv("HOME", str(tmp_path))
    with pytest.raises(UsageError, match="would have to be readable"):
        tools.equip("unittest", far)


@pytest.mark.parametrize(("make", "why"), [(False, "there is no bin/python"), (True, "not a virtual environment")])
def test_what_is_no_environment_is_refused(tmp_path: Path, make: bool, why: str) -> None:
    if make:
        (tmp_path / "bin").mkdir()
        (tmp_path / "bin" / "python").symlink_to(sys.executable)
    with pytest.raises(UsageError, match=why):
        tools.equip("unittest", tmp_path)


def test_the_fingerprint_changes_with_what_is_installed(env: Path) -> None:
    before = tools.fingerprint(env)
    assert tools.fingerprint(env) == before
    (next(env.glob("lib/python3*/site-packages")) / "more.py").write_text("x = 1\n")
    assert tools.fingerprint(env) != before
