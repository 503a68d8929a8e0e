"""Known ways to cheat are not green, and honest code is: samples. `scripts/prove lab` tries all with every runner."""

from __future__ import annotations

import fractions
import json
import math
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from pathlib import Path

import pytest
from bubblewrap import needs_sandbox

from council.lab.opening import try_unchanged
from council.sandbox import benches
from council.sandbox.harness import library, suite
from council.sandbox.model import Trial, Tried
from tests.honest import ASYNC_PLUGIN, PROJECTS, WITH_PLUGIN, Honest
from tests.tampering import CHEATS, NOT_HELD, SUITES, Cheat

pytestmark = needs_sandbox
SAMPLE = (  # one of each kind, with the runner that it is about
    ("exit when called", "plain"), ("TestReport says passed", "pytest"), ("unittest compares nothing", "unittest"),
    ("pytest.ini with a plugin", "pytest"), ("the importer of the tests knows their code", "plain"),
    ("a signal's frame leads to the one that compares", "plain"), ("mock.ANY", "unittest"),
    ("helpers of the test file are replaced", "plain"),
    ("a part of json is replaced until it was called", "plain"), ("open is replaced", "unittest"),
    ("a method of paths is replaced", "pytest"), ("chance is replaced until it was asked", "plain"),
    ("another module in the place of random", "plain"), ("small integers are changed through libc", "unittest"),
)  # fmt: skip
KINDS = (
    "conftest.py and packages of tests", "libraries that look at frames", "two conftest.py without packages",
    "a package of tests in a folder that is none",
    "classes that are not collected beside those that are",
    "programs and tests that replace parts of the library", "a module named like one of the library",
    "subtests, inherited tests and skipped classes with pytest", "signatures of functions of the tests",
)  # fmt: skip


def cheat(cheat: Cheat, runner: str) -> Tried:
    bench, tests = SUITES[runner]
    return benches.try_out(
        Trial(bench, cheat.tree(), {"tests/test_add.py": (cheat.tests or tests).encode()}), benches.load()
    )


def be_honest(project: Honest, env: Path | None = None) -> Tried:
    tree, tests, base = (
        {path: text.encode() for path, text in files.items()} for files in (project.tree, project.tests, project.base)
    )
    return benches.try_out(Trial(project.bench, tree, tests, env=env, base=base), benches.load())


def test_no_known_cheat_is_green() -> None:
    known = {one.name: one for one in CHEATS}
    assert len(known) == len(CHEATS)
    with ThreadPoolExecutor(2) as pool:
        tried = [*pool.map(lambda one: cheat(known[one[0]], one[1]), SAMPLE)]
    assert [name for (name, _), one in zip(SAMPLE, tried, strict=True) if one.verdict == "pass"] == []
    assert {one.verdict for one in tried} == {"unknown", "tampered", "fail"}


def test_the_cheat_that_the_docs_admit_is_green() -> None:
    """If it no longer is, docs/benches.md claims too little."""
    tried = cheat(Cheat("a forged report", NOT_HELD), "plain")
    assert (tried.verdict, len(tried.passed)) == ("pass", 3), tried.log


def test_a_canary_is_only_where_a_runner_looks_for_tests() -> None:
    """Elsewhere it would not be run, and the verdict would be a matter of chance."""
    (project,) = (one for one in PROJECTS if one.name == "classes that are not collected beside those that are")
    words = {word: suite.make_key() for word in suite.WORDS}
    for _ in range(50):
        file = suite.read("test_add.py", project.tests["tests/test_add.py"].encode())
        suite.weave(file, words, canaries=True)
        canaries = [case.id.split("::")[1] for case in file.cases if case.canary]
        assert (len(canaries), {"Only", "TestMore"}.issuperset(canaries)) == (2, True)


def test_an_honest_add_passes_what_the_cheats_are_tried_with() -> None:
    right = Cheat("none", "def add(a, b):\n    return a + b\n")
    for runner in SUITES:
        tried = cheat(right, runner)
        assert (tried.verdict, tried.failed) == ("pass", ()), tried.log


def test_what_the_unchanged_project_replaces_is_not_held_against_it() -> None:
    tree = {"solution.py": b"import random\nrandom.choice = lambda many: 1\ndef pick(): return random.choice([])\n"}
    tests = {"test_it.py": b"import random\nfrom solution import pick\ndef test_it():\n    assert pick() == 1\n"}
    trial, known = Trial("pytest", tree, tests, base=tree), benches.load()
    before = try_unchanged(trial, known)
    assert (before.verdict, before.replaced) == ("pass", ("random.choice",))
    cheating = {"solution.py": tree["solution.py"] + b"random.randint = lambda a, b: a\n"}
    tried = benches.try_out(replace(trial, tree=cheating, allowed=before.replaced), known)
    assert (tried.verdict, tried.log) == ("tampered", "random.randint was replaced")


def test_a_name_of_the_library_is_found_wherever_it_was_replaced(monkeypatch: pytest.MonkeyPatch) -> None:
    tests = frozenset({__file__})
    find = library.keep(["json", "fractions"], frozenset({"gcd"}), frozenset(), lambda file: False)

    class Ours(json.JSONDecoder):
        @staticmethod
        def __new__(cls: type) -> None: ...

    class OursToo(Ours):
        pass

    by_the_tests = library.keep(["json"], frozenset(), tests, lambda file: False)
    assert find(True) == []
    for owner, name, found in (
        (json, "loads", "json.loads"), (json.JSONDecoder, "decode", "json.decoder.JSONDecoder.decode"),
        (fractions.Fraction, "__add__", "fractions.Fraction.__add__"), (math, "gcd", "math.gcd"),
    ):  # fmt: skip
        with monkeypatch.context() as patch:
            patch.setattr(owner, name, lambda *args: 3)
            assert find(True) == [found]
            assert find(False) == ([] if name == "gcd" else [found])
            assert by_the_tests(True) == []
    with monkeypatch.context() as patch:
        patch.setattr(json, "JSONDecoder", OursToo)  # which pytest-socket does to sockets
        assert (find(True), by_the_tests(True)) == (["json.JSONDecoder"], [])
        patch.setattr(json, "JSONDecoder", json.JSONEncoder)
        assert by_the_tests(True) == ["json.JSONDecoder"]
    assert find(True) == []


@pytest.mark.parametrize("project", [one for one in PROJECTS if one.name in KINDS], ids=lambda one: one.name)
def test_honest_code_is_green(project: Honest) -> None:
    tried = be_honest(project)
    assert (tried.verdict, len(tried.passed)) == ("pass", project.passed), tried.log


def test_plugins_and_settings_are_those_of_the_project(tmp_path: Path) -> None:
    """The candidate's own `pytest.ini` is empty: without the base's, the plugin's setting would be missing."""
    env = tmp_path / ".venv"
    subprocess.run([sys.executable, "-m", "venv", "--without-pip", env], check=True)
    site = next(env.glob("lib/python3*/site-packages"))
    (site / "ran_async.py").write_text(ASYNC_PLUGIN)
    (site / "ran-1.dist-info").mkdir()
    (site / "ran-1.dist-info" / "METADATA").write_text("Metadata-Version: 2.1\nName: ran\nVersion: 1\n")
    (site / "ran-1.dist-info" / "entry_points.txt").write_text("[pytest11]\nran = ran_async\n")
    tried = be_honest(WITH_PLUGIN, env)
    assert tried.verdict == "pass", tried.log
    unset = be_honest(replace(WITH_PLUGIN, base={"pytest.ini": "[pytest]\nfilterwarnings = error\n"}), env)
    assert unset.verdict == "pass", unset.log
    assert be_honest(WITH_PLUGIN).verdict != "pass"  # without the plugin, nobody awaits the test
