"""Runs the tests of `unittest` classes."""

from __future__ import annotations

import traceback
import unittest
from typing import Any

from council.sandbox.harness.imports import import_file


def run(paths: list[str], options: list[str], voice: Any) -> None:
    del options
    check = voice.remember()
    for path in paths:
        try:
            module = import_file(path)
        except BaseException as error:
            voice.say(error=path, text="".join(traceback.format_exception(error))[-20_000:])
            continue
        unittest.defaultTestLoader.loadTestsFromModule(module).run(_result(path, voice.say, check))


def _result(path: str, say: Any, check: Any) -> unittest.TestResult:
    outcomes: dict[str, tuple[str, str]] = {}

    class Listener(unittest.TestResult):
        def addSuccess(self, test: Any) -> None:
            outcomes.setdefault(_name(test), ("passed", ""))

        def addFailure(self, test: Any, err: Any) -> None:
            outcomes[_name(test)] = ("failed", "".join(traceback.format_exception(err[1]))[-20_000:])

        addError = addFailure

        def addSubTest(self, test: Any, subtest: Any, err: Any) -> None:
            if err is not None:
                self.addFailure(test, err)

        def addSkip(self, test: Any, reason: str) -> None:
            outcomes.setdefault(_name(test), ("skipped", reason))

        def addExpectedFailure(self, test: Any, err: Any) -> None:
            outcomes.setdefault(_name(test), ("skipped", ""))

        def addUnexpectedSuccess(self, test: Any) -> None:
            outcomes[_name(test)] = ("failed", "it was expected to fail")

        def stopTest(self, test: Any) -> None:
            check()
            outcome, text = outcomes.pop(_name(test), ("failed", "it said nothing"))
            say(result=f"{path}::{_name(test)}", outcome=outcome, text=text)

    def _name(test: Any) -> str:
        return f"{type(test).__name__}::{getattr(test, '_testMethodName', test)}"  # or what prepares a class or module

    return Listener()
