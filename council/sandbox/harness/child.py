"""The process in which the candidate's code is run."""

from __future__ import annotations

import marshal
import os
import sys
import sysconfig
import types
from collections.abc import Callable
from typing import Any

from council.sandbox.harness import audit, guard, library, measure, signals, suite


def main(read_end: int, write_end: int) -> None:
    leave = os._exit
    with os.fdopen(read_end, "rb") as pipe:
        payload = marshal.load(pipe)
    library.load(payload["imports"])
    signals.shield()
    own: guard.Own = []
    trusted, tests = trusted_folders(), frozenset(payload["codes"])
    find_replaced = library.keep(payload["imports"], frozenset(payload["named"]), tests, judge_files(trusted))
    is_trusted = judge_classes(trusted, tests, frozenset(payload["mentions"]))
    voice = guard.raise_voice(write_end, payload["secret"], is_trusted, own, find_replaced)
    words = {payload["words"][name]: getattr(voice, name) for name in suite.WORDS}
    codes = {path: guard.bind(marshal.loads(data), words) for path, data in payload["codes"].items()}
    guard.hide(codes, own)
    sys.meta_path.insert(0, guard.TestImporter(payload["names"]))
    run = load(payload["runner"])
    sys.path.remove("/harness")
    sys.path[:0] = [place for place in ("/job/src", "/job") if os.path.isdir(place)]  # noqa: PTH112 - pathlib is slow
    audit.watch(voice.say, trusted, tests, payload["parent"])
    for name in [name for name in sys.modules if name == "__main__" or name.split(".")[0] == "council"]:
        del sys.modules[name]
    sys.modules["__main__"] = types.ModuleType("__main__")
    arguments = payload["run"], payload["options"]
    stop = measure.start(payload["measure"]) if payload["measure"] else None
    del payload, codes, words, own, find_replaced
    try:
        run(*arguments, voice)
        voice.settle()
        if stop:
            voice.say(lines=stop())
        voice.say(end=True)
        sys.stdout.flush()  # which leaving so does not do
    finally:
        leave(0)


def judge_files(trusted: tuple[str, ...]) -> Callable[[str], bool]:
    """Whether a file is of a package of the environment."""
    python = tuple(f"{sysconfig.get_path(name)}/" for name in ("stdlib", "platstdlib"))

    def is_package(file: str) -> bool:
        inside = "/site-packages/" in file or "/dist-packages/" in file
        return file.startswith(trusted) and (inside or not file.startswith(python))

    return is_package


COMPARING = "__eq__ __lt__ __le__ __gt__ __ge__ __sub__ __rsub__ __abs__ __round__".split()


def judge_classes(trusted: tuple[str, ...], tests: frozenset[str], mentions: frozenset[str]) -> Callable[[type], bool]:
    """Whether how a class compares is decided by C code, by the tests, or by a package that the tests name."""
    slots, function = (types.WrapperDescriptorType, types.MethodDescriptorType), types.FunctionType

    def is_trusted(kind: type) -> bool:
        package = kind.__module__.partition(".")[0]
        named = "ANY" in mentions if package == "unittest" else package in mentions
        for name in COMPARING:
            method = getattr(kind, name, None)
            if type(method) is function:
                file = method.__code__.co_filename
                if file not in tests and not (file.startswith(trusted) and named):
                    return False
            elif method is not None and type(method) not in slots:
                return False
        return True

    return is_trusted


def load(runner: str) -> Callable[[list[str], list[str], Any], None]:
    if runner == "pytest":
        from council.sandbox.harness import with_pytest

        return with_pytest.run
    if runner == "unittest":
        from council.sandbox.harness import with_unittest

        return with_unittest.run
    from council.sandbox.harness import plain

    return plain.run


def trusted_folders() -> tuple[str, ...]:
    """Where Python's own code and the tools' is."""
    places = {*sysconfig.get_paths().values(), sys.prefix, sys.base_prefix, "/usr", "/harness"}
    places |= {place for place in sys.path if place and not place.startswith("/job")}
    return tuple(place.rstrip("/") + "/" for place in places)
