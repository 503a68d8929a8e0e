"""The process in which the candidate's code is run."""

from __future__ import annotations

import marshal
import os
import sys
import sysconfig
import types
from collections.abc import Callable
from typing import Any

from council.sandbox.harness import audit, guard


def main(read_end: int, write_end: int) -> None:
    leave = os._exit
    with os.fdopen(read_end, "rb") as pipe:
        payload = marshal.load(pipe)
    voice = guard.raise_voice(write_end, payload["secret"])
    words = {payload["words"][name]: getattr(voice, name) for name in ("done", "compare", "tell")}
    codes = {path: guard.bind(marshal.loads(data), words) for path, data in payload["codes"].items()}
    sys.meta_path.insert(0, guard.TestImporter(codes, payload["names"]))
    run = load(payload["runner"])
    sys.path.remove("/harness")
    sys.path[:0] = [place for place in ("/job/src", "/job") if os.path.isdir(place)]  # noqa: PTH112 - pathlib is slow
    audit.watch(voice.say, trusted_folders(), frozenset(codes), payload["parent"])
    for name in [name for name in sys.modules if name == "__main__" or name.split(".")[0] == "council"]:
        del sys.modules[name]
    sys.modules["__main__"] = types.ModuleType("__main__")
    arguments = payload["run"], payload["options"]
    del payload, codes, words
    try:
        run(*arguments, voice)
        voice.say(end=True)
    finally:
        leave(0)


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
