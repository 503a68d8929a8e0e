"""Runs tests with pytest, whose settings and plugins the candidate cannot choose."""

from __future__ import annotations

import os
from collections.abc import Callable
from typing import Any

import pytest

# Not those that a project's configuration may have settings for.
OFF = "pastebin stepwise setuponly setupplan threadexception unraisableexception terminalprogress".split()


def _load_plugins() -> list[Any]:
    """The plugins of the environment. They are imported before anything of the candidate can be found."""
    from importlib import import_module, metadata

    found = {one.value.partition(":")[0] for one in metadata.entry_points(group="pytest11")}
    return [import_module(name) for name in sorted(found)]


PLUGINS = _load_plugins()


def run(paths: list[str], options: list[str], voice: Any) -> None:
    os.environ["PYTEST_DISABLE_PLUGIN_AUTOLOAD"] = "1"  # a folder in the tree could be one
    switches = [word for name in OFF for word in ("-p", f"no:{name}")]
    pytest.main(
        ["--assert=plain", "--rootdir=/job", "--tb=short", "-q", "--no-header", "--no-summary", "-o", "addopts=",
         "--continue-on-collection-errors",  # a file that cannot be imported says nothing about the others
         *switches, *options, *paths],
        plugins=[*PLUGINS, _reporter(voice)],
    )  # fmt: skip


def _reporter(voice: Any) -> Any:
    say, remember = voice.say, voice.remember
    checks: list[Callable[[], None]] = []
    phases: dict[str, list[Any]] = {}

    class Reporter:
        @pytest.hookimpl(tryfirst=True)
        def pytest_collection(self) -> None:
            checks.append(remember())  # plugins have changed what they change, and the candidate is not imported yet

        @pytest.hookimpl(tryfirst=True)
        def pytest_collectreport(self, report: Any) -> None:
            if not report.passed:
                skipped = {"skipped": True} if report.skipped else {}
                say(error=report.nodeid, text=str(report.longrepr)[-20_000:], **skipped)

        @pytest.hookimpl(tryfirst=True)
        def pytest_runtest_logreport(self, report: Any) -> None:
            phases.setdefault(report.nodeid, []).append(report)
            if report.when == "teardown":
                checks[0]()
                parts = phases.pop(report.nodeid)
                say(result=report.nodeid, outcome=_outcome(parts), text=_text(parts))

    return Reporter()


def _outcome(parts: list[Any]) -> str:
    """Of a test with its subtests, whose reports have a context."""
    if any(part.failed for part in parts):
        return "failed"
    if any(part.skipped or hasattr(part, "wasxfail") for part in parts):
        return "skipped"
    own = [part.when for part in parts if part.passed and not hasattr(part, "context")]
    return "passed" if own == ["setup", "call", "teardown"] else "failed"


def _text(parts: list[Any]) -> str:
    failed = next((part for part in parts if part.failed), None)
    if failed is None:
        return ""
    printed = "".join(f"\n{title}:\n{text[-2000:]}" for title, text in failed.sections if text)
    return (str(failed.longrepr) + printed)[-20_000:]
