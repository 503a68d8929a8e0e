"""Usage: scripts/count [PATH]

Counts the functions of a checkout (default: this one) and how long they are, the modules, and what one turn of a model
goes through: the functions and files of council that it enters, the calls between them, and the hops, which are the
different pairs of caller and called. The turn is a real one: the second answer of a round in a debate over the API of
`tests/fakeapi.py`, traced from the moment when the turn before it is stored until it is stored itself.

It measures any version of council that can run such a debate. There is no target: compare two versions.
"""

from __future__ import annotations

import argparse
import ast
import json
import os
import signal
import statistics
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from types import FrameType
from typing import Any

ROOT = Path(__file__).resolve().parent.parent
TURN = "/turns/02-challenges/"
WORKFLOW = """---
name: counted
description: Two members speak twice, one after the other.
seats: {members: [architect, engineer], chair: chair}
phases:
  - {name: positions, sees: nothing, order: sequential}
  - {name: challenges, order: sequential, reply: {stance: agree | mixed | disagree, blocking: list}}
---
"""
REPLY = "The {} would keep one database.\n\n## Stance\nagree\n\n## Blocking\nnone\n"
PATIENCE = 120


# ---- the code, as it is written ----


def written(checkout: Path) -> Iterator[tuple[str, str]]:
    """What can be counted without running anything. A line of code is neither blank nor a comment."""
    package = checkout / "council"
    paths = sorted(package.rglob("*.py"))
    lines, code, lengths = 0, 0, list[int]()
    for path in paths:
        text = path.read_text(encoding="utf-8")
        lines += len(text.splitlines())
        code += sum(1 for line in text.splitlines() if line.strip() and not line.strip().startswith("#"))
        for node in ast.walk(ast.parse(text)):
            if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef) and node.end_lineno:
                lengths.append(node.end_lineno - node.lineno + 1)
    lengths.sort()
    yield "modules", f"{len(paths)}"
    yield "modules at the top", f"{len(list(package.glob('*.py')))}"
    yield "lines, and lines of code", f"{lines:,}, {code:,}"
    yield "functions", f"{len(lengths):,}"
    yield "functions per 100 lines of code", f"{100 * len(lengths) / code:.1f}"
    yield (
        "lines of a function: median, p90, max",
        f"{statistics.median(lengths):.0f}, {lengths[int(0.9 * len(lengths))]}, {lengths[-1]}",
    )


# ---- one turn, as it runs ----


def spoken(checkout: Path) -> Iterator[tuple[str, str]]:
    """What one turn goes through."""
    with tempfile.TemporaryDirectory(prefix="council-count-") as folder:
        place = Path(folder)
        (place / "counted.md").write_text(WORKFLOW)
        with api(place) as url:
            traced(checkout, place, url)
        found = json.loads((place / "traced.json").read_text())
    yield "functions that one turn enters", f"{found['functions']}"
    yield "files that one turn enters", f"{found['files']}"
    yield "hops of one turn (pairs of caller and called)", f"{found['hops']}"
    yield "calls of one turn", f"{found['calls']:,}"


@contextmanager
def api(place: Path) -> Iterator[str]:
    """Our own API. No two members say the same, which would be an echo."""
    port, replies = place / "port", place / "replies.json"
    rules = [{"match": f"You are the {seat}", "text": REPLY.format(seat)} for seat in ("Architect", "Engineer")]
    replies.write_text(json.dumps([*rules, {"text": REPLY.format("member")}]))
    command = [sys.executable, "-m", "tests.fakeapi", "--port-file", str(port), "--replies", str(replies)]
    with subprocess.Popen(command, cwd=ROOT) as process:
        try:
            end = time.monotonic() + PATIENCE
            while not port.exists():
                if process.poll() is not None or time.monotonic() > end:
                    sys.exit("count: the API of tests/fakeapi.py did not start")
                time.sleep(0.01)
            yield f"http://127.0.0.1:{port.read_text()}"
        finally:
            process.send_signal(signal.SIGTERM)


def traced(checkout: Path, place: Path, url: str) -> None:
    """A debate of that checkout in a process of its own, which counts itself (`Trace` below)."""
    own = {"HOME": str(place), "COUNCIL_HOME": str(place / "memory"), "XDG_CONFIG_HOME": str(place / "config")}
    keys = {"ANTHROPIC_API_KEY": "k", "ANTHROPIC_BASE_URL": url}
    env = {**own, **keys, "PATH": os.defpath, "LANG": "C.UTF-8", "PYTHONPATH": str(checkout), "PYTHONSAFEPATH": "1"}
    debate = ["run", "--workflow", str(place / "counted.md"), "--speaker", "anthropic", "Shall we?"]
    command = [sys.executable, "-P", __file__, "--trace", str(checkout), str(place / "traced.json"), *debate]
    done = subprocess.run(command, env=env, cwd=place, capture_output=True, text=True, check=False, timeout=PATIENCE)
    if done.returncode:
        sys.exit(f"count: the debate ended with {done.returncode}: {done.stderr.strip()[-2000:]}")


Called = tuple[str, str, int]


class Trace:
    """What council's own code does from the moment when one turn of the round is stored until the next one is."""

    def __init__(self, package: Path) -> None:
        self.package = f"{package}{os.sep}"
        self.entered: set[Called] = set()
        self.hops: set[tuple[Called, Called]] = set()
        self.frames: dict[int, FrameType] = {}  # kept, so that no other frame gets the id of one that was counted
        self.stored = 0

    def see(self, frame: FrameType, event: str, _: object) -> None:
        """A profile function. Comprehensions are no functions, and a coroutine that goes on is no further call."""
        if self.stored == 1 and event == "call" and self.ours(frame) and id(frame) not in self.frames:
            self.frames[id(frame)] = frame
            self.entered.add(called(frame))
            self.hops.add((self.caller(frame), called(frame)))

    def watch(self, event: str, arguments: tuple[Any, ...]) -> None:
        """An audit hook: a turn is stored when its file is renamed into place."""
        if event == "os.rename" and TURN in str(arguments[1]):
            self.stored += 1

    def ours(self, frame: FrameType) -> bool:
        return frame.f_code.co_filename.startswith(self.package) and not frame.f_code.co_name.startswith("<")

    def caller(self, frame: FrameType) -> Called:
        """The nearest function of council above it: asyncio and the SDK in between are not counted."""
        above = frame.f_back
        while above is not None and not self.ours(above):
            above = above.f_back
        return called(above) if above is not None else ("", "", 0)

    def numbers(self) -> dict[str, int]:
        if self.stored != 2:
            sys.exit(f"{self.stored} turns of the round were stored in place of 2")
        files = {file for file, _, _ in self.entered}
        return {
            "functions": len(self.entered), "files": len(files), "hops": len(self.hops), "calls": len(self.frames),
        }  # fmt: skip


def called(frame: FrameType) -> Called:
    code = frame.f_code
    return code.co_filename, code.co_qualname, code.co_firstlineno


def trace(checkout: Path, to: Path, words: list[str]) -> int:
    """Run `council WORDS` in this process, and write what its turn went through."""
    from council.cli import main as council

    seen = Trace(checkout / "council")
    sys.argv = ["council", *words]
    sys.addaudithook(seen.watch)
    threading.setprofile(seen.see)
    sys.setprofile(seen.see)
    try:
        code = int(council() or 0)
    except SystemExit as ended:
        code = 0 if ended.code is None else 1
    sys.setprofile(None)
    if not code:
        to.write_text(json.dumps(seen.numbers()))
    return code


def main() -> int:
    if sys.argv[1:2] == ["--trace"]:
        return trace(Path(sys.argv[2]), Path(sys.argv[3]), sys.argv[4:])
    parser = argparse.ArgumentParser(
        prog="scripts/count", description=__doc__, formatter_class=argparse.RawTextHelpFormatter
    )
    parser.add_argument("path", nargs="?", type=Path, default=ROOT, metavar="PATH")
    checkout = parser.parse_args().path.resolve()
    if not (checkout / "council" / "__init__.py").is_file():
        parser.error(f"{checkout} is not a checkout of council: it has no council/__init__.py")
    for name, number in (*written(checkout), *spoken(checkout)):
        print(f"{name:<48} {number:>14}", flush=True)
    return 0


if __name__ == "__main__":
    sys.exit(main())
