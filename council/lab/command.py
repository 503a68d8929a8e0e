"""`lab`: compare workflows on sets of tasks."""

from __future__ import annotations

import json
import os
from dataclasses import replace
from pathlib import Path
from typing import Any

import click

from council.cli import completion
from council.cli.command import command
from council.cli.options import JSON, SPEAKER, YES, Amount
from council.errors import UsageError
from council.terminal.output import echo, print_json
from council.text import join_words


@command()
@click.argument("action", type=click.Choice(["check", "run", "report"]), metavar="ACTION")
@click.argument("target", metavar="TARGET")
@click.option("--limit", type=click.IntRange(1), metavar="N", help="Only N tasks: the first of the shuffled set.")
@click.option(
    "-j", "--jobs", type=click.IntRange(1, 64), metavar="N",
    help="How much is done at once (default: the processors; for `run`, 8 tasks, or 1 with a model on this machine).",
)  # fmt: skip
@click.option(
    "-w", "--workflow", metavar="NAME", shell_complete=completion.workflows, help="run: the workflow to be compared."
)
@click.option(
    "--against", default="single,best-of-n", show_default=True, metavar="ARMS", help="run: what to compare it with."
)
@click.option("-o", "--option", "options", multiple=True, metavar="NAME=VALUE", help="run: an option of the workflow.")
@click.option(
    "--max-cost", type=Amount(0), metavar="USD", help="run: stop before a call that could exceed this budget."
)
@YES
@SPEAKER
@click.option("--folder", type=click.Path(path_type=Path), metavar="DIR", help="run: where the sessions are kept.")
@click.option(
    "--to", type=click.Path(path_type=Path), metavar="NAME", help="report: write NAME.md, NAME.json and NAME.svg."
)
@click.option("--seed", type=int, default=0, show_default=True, metavar="N", help="run: shuffles the tasks.")
@JSON
def lab(action: str, target: str, **given: Any) -> int:
    """Compare workflows on sets of tasks.

    `check SET` tries answers that are known to be right or wrong, which proves the harness itself. `run SET` has every
    task solved by the workflow, by a single call, and by the best of as many calls as the workflow took. It can be
    stopped and run again, also by several at once. `report FOLDER` says what was found, as far as it goes.

    SET is humaneval, pypi:NAME@OLD..NEW or file:TASKS.jsonl.
    """
    if action == "report":
        return report(Path(target), given["to"], given["as_json"])
    if action == "check":
        return check(target, given["limit"], given["jobs"] or os.cpu_count() or 1, given["as_json"])
    return run(target, given)


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
        if not checked.of:
            echo("nothing was tried: the set has no known answers")
        else:
            echo("not as it must be: see `wrong`" if wrong else "all known answers ended as they must")
    return 1 if wrong or not checked.of else 0


def run(name: str, given: dict[str, Any]) -> int:
    """Plan the comparison, or continue the one in the folder."""
    import asyncio

    from council.cli.run import agree, provide
    from council.config import settings as config
    from council.config.notifications import SILENT
    from council.lab import arms, experiment, sets
    from council.lab.run import LabRun
    from council.runner import debate, price
    from council.runner.start import Request
    from council.sandbox import benches
    from council.speakers import select
    from council.speakers.base import Setup

    if not given["workflow"]:
        raise UsageError("--workflow: say what is to be compared, as in --workflow reflexion")
    settings, tasks = replace(config.load(), gates=(), notify=SILENT), sets.load(name, say)
    code = {task.is_code for task in tasks}
    if len(code) > 1:
        raise UsageError(f"{name} has both code and questions; keep them in two files")
    workflow = arms.check_workflow(given["workflow"], code == {True})
    if code == {True}:
        benches.prepare({task.bench for task in tasks}, benches.load(settings), say=say)
    base = tasks[0].base if tasks[0].is_code else None
    request = Request(tasks[0].topic, given["workflow"], find_files=False, base=base)
    choice = debate.choose_speaker(request, given["speaker"], settings)
    provide(settings, choice)
    options = arms.choose_options(workflow, given["options"])
    against = arms.check_baselines(list(filter(None, given["against"].split(","))))
    plan = experiment.plan(
        name, tasks, given["seed"], given["limit"], workflow=given["workflow"], options=options, speaker=choice.name,
        arms=arms.order(workflow.name, against),
    )  # fmt: skip
    folder = (given["folder"] or Path(f"lab-{workflow.name}")).absolute()
    most = price.bound_start(replace(request, options=options), settings, choice.name)
    agree(
        most and most.times(experiment.count_new(folder, plan)), settings, {**given, "no_input": False, "quiet": False}
    )
    plan = experiment.settle(folder, plan)
    say(f"speaker: {choice}")
    say(f"{len(plan.tasks)} of {plan.of} tasks, {len(plan.arms)} arms each, in {folder}")
    jobs = given["jobs"] or (1 if choice.speaker.on_this_machine else 8)
    voices = select.Voices(choice.name, Setup(settings), ask=False)
    known = {task.id: task for task in tasks}
    running = LabRun(folder, plan, known, settings, voices, jobs, given["max_cost"], say)
    asyncio.run(running.run())
    if left := sorted(running.elsewhere):
        say(
            f"not done here, because another run is at them: {join_words(left)}; `council lab report` says what is done"
        )
    return 0


def report(folder: Path, to: Path | None, as_json: bool) -> int:
    """Print the report, or write it with its plot."""
    from council.lab import plot
    from council.lab import report as reports
    from council.record import files

    found = reports.compose(folder.absolute())
    if to is None:
        print_json(found.encode()) if as_json else echo(reports.write_markdown(found).rstrip("\n"))
        return 0
    made = {
        ".md": reports.write_markdown(found, f"{to.name}.svg"), ".svg": plot.draw(found),
        ".json": json.dumps(found.encode(), indent=2, ensure_ascii=False) + "\n",
    }  # fmt: skip
    for ending, text in made.items():
        files.export(to.with_name(to.name + ending), text.encode("utf-8", "replace"))
        say(f"wrote {to.with_name(to.name + ending)}")
    return 0


def say(what: str) -> None:
    click.echo(what, err=True)
