"""Runs plain test functions: no fixtures, no classes. Ten times as fast to start as pytest."""

from __future__ import annotations

import contextlib
import io
import traceback
from types import FunctionType
from typing import Any

from council.sandbox.harness.imports import import_file


def run(paths: list[str], options: list[str], voice: Any) -> None:
    del options
    check = voice.remember()
    for path in paths:
        try:
            module = import_file(path)
        except BaseException as error:
            voice.say(error=path, text=_describe(error))
            continue
        for test, function in list(vars(module).items()):
            if test.startswith("test") and type(function) is FunctionType:
                outcome, text = _run(function)
                check()
                voice.say(result=f"{path}::{test}", outcome=outcome, text=text)


def _run(function: Any) -> tuple[str, str]:
    printed = io.StringIO()
    try:
        with contextlib.redirect_stdout(printed):
            function()
    except BaseException as error:
        return "failed", _describe(error) + (f"\nprinted:\n{printed.getvalue()[-2000:]}" if printed.getvalue() else "")
    return "passed", ""


def _describe(error: BaseException) -> str:
    lines = traceback.format_exception(error)
    return "".join(line for line in lines if '"/harness/' not in line)[-20_000:]
