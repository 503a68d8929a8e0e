"""Runs the tests of a candidate and says what became of each. `main` is called with a plan on stdin.

This process reads the plan, and holds the descriptor of the report. The candidate's code is run by a child, which has
neither. The child says what happened over a pipe; what it says is believed only as far as the tests' code says so too.
"""

from __future__ import annotations

import base64
import ctypes
import json
import marshal
import os
import select
import sys
import time
from typing import Any

from council.sandbox.harness import measure, suite, verdict

NOT_DUMPABLE = 4


def main() -> None:
    report = int(os.environ.pop("COUNCIL_REPORT"))
    os.set_inheritable(report, False)
    plan = json.load(sys.stdin)
    tests = {path: base64.b64decode(data) for path, data in plan.pop("tests").items()}
    # From here on no process of the same user can read this one's memory or descriptors, nor the child's.
    ctypes.CDLL(None).prctl(NOT_DUMPABLE, 0, 0, 0, 0)
    try:
        files = read(tests)
    except SyntaxError as error:
        tell(report, {"verdict": "unknown", "log": f"{error.filename}:{error.lineno}: {error.msg}"})
        return
    chosen = [file for file in files if file.path in plan["run"]]
    runner = choose(plan["runner"], chosen, files)
    prepare(runner, plan)
    ours, theirs = os.pipe()
    read_end, write_end = os.pipe()
    child = os.fork()
    if child == 0:
        for descriptor in (report, ours, write_end):
            os.close(descriptor)
        os.dup2(os.open(os.devnull, os.O_RDONLY), 0)
        from council.sandbox.harness import child as inside

        inside.main(read_end, theirs)
        os._exit(0)
    os.close(theirs)
    os.close(read_end)
    began = time.monotonic()
    payload = compose(files, chosen, plan, runner)
    with os.fdopen(write_end, "wb") as pipe:
        marshal.dump(payload, pipe)
    judge = verdict.Judge(
        [case for file in chosen for case in file.cases], plan["void"], payload["secret"], plan["allowed"]
    )
    ended = follow(child, ours, judge)
    said = judge.conclude(ended) | {"seconds": time.monotonic() - began, "runner": runner}
    if plan["measure"]:
        said |= measure.conclude(plan["measure"], judge.lines)
    tell(report, said)


def read(tests: dict[str, bytes]) -> list[suite.TestFile]:
    return [suite.read(path, data) for path, data in tests.items() if path.endswith(".py")]


def choose(runner: str, chosen: list[suite.TestFile], files: list[suite.TestFile]) -> str:
    """Plain functions need no pytest, which takes longer to start than most of them to run."""
    fixtures = any(file.path.endswith("conftest.py") for file in files)
    if runner == "pytest" and not fixtures and chosen and all(file.plain for file in chosen):
        return "plain"
    return runner


def prepare(runner: str, plan: dict[str, Any]) -> None:
    """Import what decides before anything of the candidate can be found."""
    if plan["measure"] or runner == "pytest":
        sys.path.extend(plan["tools"])
    if plan["measure"]:
        import coverage  # type: ignore[import-not-found,unused-ignore]  # noqa: F401
    if runner == "pytest":
        from council.sandbox.harness import with_pytest  # noqa: F401
    elif runner == "unittest":
        from council.sandbox.harness import with_unittest  # noqa: F401
    else:
        from council.sandbox.harness import plain  # noqa: F401
    from council.sandbox.harness import child  # noqa: F401


def compose(
    files: list[suite.TestFile], chosen: list[suite.TestFile], plan: dict[str, Any], runner: str
) -> dict[str, Any]:
    """What the child is given: code, and no sources; it does not know which tests are canaries."""
    words = {word: suite.make_key() for word in suite.WORDS}
    mentions, named, imports = (  # before the files become what is run
        sorted(set().union(*map(read, files))) for read in (suite.list_mentions, suite.list_named, suite.list_imports)
    )
    codes = {f"/job/{file.path}": suite.weave(file, words, canaries=file in chosen) for file in files}
    names: dict[str, list[str]] = {}
    for file in sorted(files, key=lambda file: file in chosen):
        for name in suite.module_names(file.path):
            names.setdefault(name, []).append(f"/job/{file.path}")
    return {
        "runner": runner, "secret": suite.make_key(), "words": words, "codes": codes, "names": names,
        "mentions": mentions, "named": named,
        "imports": [name for name in imports if name.partition(".")[0] not in plan["shadows"]],
        "run": [file.path for file in chosen], "options": plan["options"],
        "measure": [f"/job/{path}" for path in plan["measure"]], "parent": os.getpid(),
    }  # fmt: skip


def follow(child: int, pipe: int, judge: verdict.Judge) -> str:
    """Hear the child until its end, which is told in words if it was none."""
    done = os.pidfd_open(child)
    rest = b""
    while True:
        ready, _, _ = select.select([pipe, done], [], [])
        if pipe in ready and (data := os.read(pipe, 65536)):
            *lines, rest = (rest + data).split(b"\n")
            for line in lines:
                judge.hear(line)
            continue
        if done in ready or pipe in ready:
            break
    _, status = os.waitpid(child, 0)
    if rest:
        judge.hear(rest)
    code = os.waitstatus_to_exitcode(status)
    how = f"by signal {-code}" if code < 0 else f"with exit code {code}"
    return "" if judge.ended else f"the process ended {how} before the tests did"


def tell(report: int, facts: dict[str, Any]) -> None:
    with os.fdopen(report, "w") as file:
        json.dump(facts, file)
