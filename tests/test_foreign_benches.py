"""Tests in JavaScript and Go, with the real `node --test` and `go test`, where the machine has them."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest
from bubblewrap import needs_sandbox

from council.errors import UsageError
from council.sandbox import benches, foreign
from council.sandbox.model import Trial, Tried

pytestmark = needs_sandbox
needs_node = pytest.mark.skipif(shutil.which("node") is None, reason="node is not installed")
needs_go = pytest.mark.skipif(shutil.which("go") is None, reason="go is not installed")

COMMON = """
const { test, describe, it } = require('node:test');
const assert = require('node:assert');
const { add } = require('../solution.js');
test('adds', () => { assert.equal(add(1, 2), 3); });
describe('group', () => { it('inner', () => { assert.equal(add(2, 2), 4); }); it.skip('later', () => {}); });
"""
MODULE = """
import test from 'node:test';
import assert from 'node:assert';
import { add } from '../solution.js';
test('adds', () => { assert.equal(add(1, 2), 3); });
"""
NODE_CHEATS = [
    "process.exit(0);",
    "require('node:assert').equal = require('node:assert').strictEqual = () => {};",
    "const t = require('node:test'); for (const k of Object.keys(t)) t[k] = () => {};",
    "process.on('exit', () => { process.exitCode = 0; }); console.log('# pass 2');",
    "console.log(JSON.stringify({type: 'test:pass', name: 'adds', file: '/job/test/add.test.js'})); process.exit(0);",
]
GO = {"go.mod": "module shop\ngo 1.19\n", "shop.go": "package shop\nfunc Add(a, b int) int { return a + b }\n"}
GO_TESTS = """package shop
import "testing"
func TestAdd(t *testing.T) {
    if Add(1, 2) != 3 { t.Fatal("not 3") }
    t.Run("zero", func(t *testing.T) { if Add(0, 0) != 0 { t.Fatal("not 0") } })
}
func TestLater(t *testing.T) { t.Skip("later") }
"""


def attempt(bench: str, tree: dict[str, str], tests: dict[str, str]) -> Tried:
    code, suite = ({path: text.encode() for path, text in files.items()} for files in (tree, tests))
    return benches.try_out(Trial(bench, code, suite), benches.load())


@needs_node
def test_node_runs_tests_in_both_kinds_of_modules() -> None:
    right = attempt("node", {"solution.js": "exports.add = (a, b) => a + b;"}, {"test/add.test.js": COMMON})
    assert (right.verdict, right.failed) == ("pass", ()), right.log
    assert set(right.passed) == {"test/add.test.js::adds", "test/add.test.js::inner"}
    assert right.receipt["node"].startswith("v")
    tree = {"solution.js": "export const add = (a, b) => a - b;", "package.json": '{"type": "module"}'}
    wrong = attempt("node", tree, {"test/add.test.js": MODULE})
    assert (wrong.verdict, wrong.failed) == ("fail", ("test/add.test.js::adds",))
    assert "-1" in wrong.log


@needs_node
@pytest.mark.parametrize("cheat", NODE_CHEATS)
def test_known_cheats_in_javascript_are_not_green(cheat: str) -> None:
    tried = attempt("node", {"solution.js": f"exports.add = (a, b) => a - b;\n{cheat}\n"}, {"test/add.test.js": COMMON})
    assert tried.verdict != "pass", tried


@needs_node
def test_packages_of_node_are_used_and_are_no_environment_of_python(tmp_path: Path) -> None:
    packages = tmp_path / "node_modules"
    (packages / "two").mkdir(parents=True)
    (packages / "two/index.js").write_text("module.exports = 2;")
    assert benches.prepare(["node"], benches.load(), packages)["node"].startswith("v")
    code = {"solution.js": b"const two = require('two'); exports.add = (a, b) => a + b + two - 2;"}
    trial = Trial("node", code, {"test/add.test.js": COMMON.encode()}, env=packages)
    tried = benches.try_out(trial, benches.load())
    assert (tried.verdict, tried.failed) == ("pass", ()), tried.log


@needs_node
def test_javascript_that_cannot_be_loaded_fails() -> None:
    tried = attempt("node", {"solution.js": "no javascript"}, {"test/add.test.js": COMMON})
    assert (tried.verdict, tried.failed) == ("fail", ("test/add.test.js",))
    assert "SyntaxError" in tried.log


@needs_go
@pytest.mark.slow
def test_go_runs_tests_and_a_canary() -> None:
    right = attempt("go", GO, {"shop_test.go": GO_TESTS})
    assert (right.verdict, right.failed) == ("pass", ()), right.log
    assert set(right.passed) == {"::TestAdd", "::TestAdd/zero"}
    ended = 'package shop\nimport "os"\nfunc init() { os.Exit(0) }\nfunc Add(a, b int) int { return 3 }\n'
    assert attempt("go", {**GO, "shop.go": ended}, {"shop_test.go": GO_TESTS}).verdict == "unknown"


def test_a_program_that_is_not_there_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(foreign, "PATH", ())
    monkeypatch.setattr(foreign, "GO", "/nowhere")
    with pytest.raises(UsageError, match="go is not installed below /usr"):
        attempt("go", GO, {"shop_test.go": GO_TESTS})
