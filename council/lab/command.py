"""`lab`: compare workflows on sets of tasks."""

from __future__ import annotations

import os
from typing import Any

import click

from council.cli.command import command
from council.cli.options import JSON
from council.terminal.output import echo, print_json


@command()
@click.argument("action", type=click.Choice(["check"]), metavar="ACTION")
@click.argument("target", metavar="TARGET")
@click.option("--limit", type=click.IntRange(1), metavar="N", help="Only the first N tasks.")
@click.option(
    "-j", "--jobs", type=click.IntRange(1, 64), default=os.cpu_count() or 1, metavar="N",
    help="How much is done at once (default: one for each processor).",
)  # fmt: skip
@JSON
def lab(action: str, target: str, as_json: bool, **given: Any) -> int:
    """Compare workflows on sets of tasks.

    `check SET` tries answers that are known to be right or wrong, which proves the harness itself. SET is humaneval,
    pypi:NAME@OLD..NEW or file:TASKS.jsonl.
    """
    del action
    return check(target, given["limit"], given["jobs"], as_json)


def check(name: str, limit: int | None, jobs: int, as_json: bool) -> int:
    """Try the known answers, print how many of each kind pass, and each that should not have done what it did."""
    from council.lab import check as checks
    from council.lab import sets

    tasks = sets.load(name, say)[:limit]
    checked = checks.check(tasks, jobs, say)
    rows = {kind: (checked.green.get(kind, 0), checked.of.get(kind, 0)) for kind in checks.KINDS}
    wrong = [{"task": one.task, "kind": one.kind, "verdict": one.tried.verdict} for one in checked.wrong]
    if as_json:
        tried = {kind: {"pass": green, "of": of} for kind, (green, of) in rows.items()}
        print_json({"set": name, "tasks": len(tasks), "tried": tried, "wrong": wrong})
    else:
        echo(f"{name}: {len(tasks)} tasks; known answers that pass the hidden tests:")
        for kind, (green, of) in rows.items():
            echo(f"  {checks.ABOUT[kind]:46} {green:>4} of {of}")
        for one in wrong:
            echo(f"  wrong: {one['task']}: {checks.ABOUT[str(one['kind'])]}: {one['verdict']}")
        echo("the harness can be trusted with this set" if not wrong else "not as it must be: see `wrong`")
    return 1 if wrong else 0


def say(what: str) -> None:
    click.echo(what, err=True)
