"""Runs a program in each of some folders, and reports what it printed. A plan on stdin says which."""

from __future__ import annotations

import json
import os
import subprocess
import sys


def main() -> None:
    report = int(os.environ.pop("COUNCIL_REPORT"))
    os.set_inheritable(report, False)
    plan = json.load(sys.stdin)
    found = {}
    for place in plan["places"]:
        os.makedirs(f"/job/{place}", exist_ok=True)  # noqa: PTH103 - it may have no file
        there = [path for path in plan["files"] if os.path.isfile(f"/job/{place}/{path}")]  # noqa: PTH113
        if plan["files"] and not there:
            found[place] = {"exit": 0, "printed": ""}
            continue
        done = subprocess.run(
            [*plan["argv"], *there], cwd=f"/job/{place}", input=plan.get("input", "").encode(), stdout=subprocess.PIPE,
            env={**os.environ, **plan.get("variables", {})}, check=False,
        )  # fmt: skip
        found[place] = {"exit": done.returncode, "printed": done.stdout.decode("utf-8", "replace")}
    with os.fdopen(report, "w") as file:
        json.dump(found, file)
