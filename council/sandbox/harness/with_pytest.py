"""Runs tests with pytest, whose settings and plugins the candidate cannot choose."""

from __future__ import annotations

import os
from collections.abc import Callable
from typing import Any

import pytest

OFF = (
    "cacheprovider doctest junitxml pastebin stepwise setuponly setupplan faulthandler threadexception "
    "unraisableexception terminalprogress"
).split()


def run(paths: list[str], options: list[str], voice: Any) -> None:
    os.environ["PYTEST_DISABLE_PLUGIN_AUTOLOAD"] = "1"  # a folder in the tree could be one
    switches = [word for name in OFF for word in ("-p", f"no:{name}")]
    pytest.main(
        ["--assert=plain", "--rootdir=/job", "--tb=short", "-q", "--no-header", "--no-summary", "-o", "addopts=",
         *switches, *options, *paths],
        plugins=[_reporter(voice)],
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
            if report.failed:
                say(error=report.nodeid, text=str(report.longrepr)[-20_000:])

        @pytest.hookimpl(tryfirst=True)
        def pytest_runtest_logreport(self, report: Any) -> None:
            phases.setdefault(report.nodeid, []).append(report)
            if report.when == "teardown":
                checks[0]()
                parts = phases.pop(report.nodeid)
                say(result=report.nodeid, outcome=_outcome(parts), text=_text(parts))

    return Reporter()


def _outcome(parts: list[Any]) -> str:
    if any(part.failed for part in parts):
        return "failed"
    if any(part.skipped or hasattr(part, "wasxfail") for part in parts):
        return "skipped"
    return "passed" if [part.when for part in parts if part.passed] == ["setup", "call", "teardown"] else "failed"


def _text(parts: list[Any]) -> str:
    failed = next((part for part in parts if part.failed), None)
    if failed is None:
        return ""
    printed = "".join(f"\n{title}:\n{text[-2000:]}" for title, text in failed.sections if text)
    return (str(failed.longrepr) + printed)[-20_000:]
