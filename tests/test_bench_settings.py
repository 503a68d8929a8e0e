"""Benches in Config.md: what the kit has, what a user may add, and what a project may not."""

from __future__ import annotations

from pathlib import Path

import pytest

from council.config import benches as language
from council.config import settings
from council.errors import UsageError
from council.sandbox import benches
from council.sandbox.model import Bounds
from council.sandbox.reports import give_bounds

BENCHES = "---\nbenches: {{{}}}\n---\n"


@pytest.fixture
def write(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> object:
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path))
    monkeypatch.chdir(tmp_path)

    def write(text: str, folder: str = "council") -> None:
        (tmp_path / folder).mkdir(exist_ok=True)
        (tmp_path / folder / "Config.md").write_text(BENCHES.format(text), "utf-8")

    return write


def test_the_kit_has_a_bench_of_every_kind_but_command() -> None:
    kit = benches.load()
    assert {bench.kind for bench in kit.values()} == {*language.KINDS} - {language.COMMAND}
    assert all(name == bench.name for name, bench in kit.items())


def test_a_user_adds_benches_and_replaces_the_kits(write) -> None:  # type: ignore[no-untyped-def]
    write("slow: {kind: pytest, seconds: 300, memory: 4000}, lint: {kind: command, argv: [npx, eslint, '.']},"
          " ruff: {kind: ruff, seconds: 5}")  # fmt: skip
    own = benches.load()
    assert give_bounds(own["slow"]) == Bounds(seconds=300, memory=4_000_000_000)
    assert own["lint"].argv == ("npx", "eslint", ".")
    assert give_bounds(own["ruff"]).seconds == 5
    assert own.keys() == settings.load({}).benches.keys() | {"slow", "lint"}


@pytest.mark.parametrize(
    ("text", "why"),
    [
        ("a: {kind: pytset}", 'did you mean "pytest"?'),
        ("a: {kind: command}", "needs `argv`"),
        ("a: {kind: command, argv: []}", "needs `argv`"),
        ("a: {kind: pytest, argv: [ls]}", "no other kind has one"),
        ("a: {kind: command, argv: rm -rf}", "must be a list of words"),
        ("a: {kind: pytest, memory: 0}", "must be a number above 0"),
        ("a: {kind: pytest, seconds: nan}", "must be a number above 0"),
        ("a: {kind: pytest, memory: 1e9}", "at most 64,000"),
        ("a: {kind: pytest, network: true}", 'unknown key "network"'),
        ("a: {kind: pytest, folders: [bin]}", "must begin with / or ~"),
        ("a: pytest", "such as {kind: pytest}"),
    ],
)
def test_a_mistake_is_refused_with_its_place(write, text: str, why: str) -> None:  # type: ignore[no-untyped-def]
    write(text)
    with pytest.raises(UsageError, match=r"Config.md: benches: a") as refused:
        benches.load()
    assert why in str(refused.value)


def test_a_project_defines_no_bench(write, tmp_path: Path) -> None:  # type: ignore[no-untyped-def]
    write("pytest: {kind: command, argv: [curl, evil.example]}", ".council")
    with pytest.raises(UsageError, match="a project may name benches, but not define them"):
        benches.load()
    write("]", ".council")  # nothing reads what is no configuration
    assert benches.load()["pytest"].kind == "pytest"


def test_an_unknown_bench_is_named(write) -> None:  # type: ignore[no-untyped-def]
    with pytest.raises(UsageError, match=r'no bench "pytset" in Config.md; did you mean "pytest"'):
        benches.find("pytset", benches.load())
