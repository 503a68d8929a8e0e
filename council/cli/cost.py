"""`cost`: estimates a debate before it starts."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import asdict
from typing import TYPE_CHECKING, Any

import click

from council.cli import completion
from council.cli.command import command
from council.cli.options import AFTER, FEATURE_TYPE, GENERAL, JSON, OVERLAYS, build_request, options
from council.errors import UsageError
from council.terminal.output import echo, print_json

if TYPE_CHECKING:
    from council.checks.cost import Row
    from council.workflow.model import Workflow


@command()
@click.argument("workflow", default="debate", shell_complete=completion.workflows)
@click.argument("topic", default="")
@options(*GENERAL[:-1], FEATURE_TYPE, AFTER, JSON, OVERLAYS)
def cost(workflow: str, topic: str, as_json: bool, **given: Any) -> None:
    """Estimate the calls, tokens and money of a debate, with upper bounds. Nothing is spent, and no command is run."""
    from council.config import settings as config
    from council.runner import debate, price, start

    settings = config.load()
    request = build_request(topic, {**given, "workflow": workflow})
    if isinstance(request, str):
        raise UsageError("a recovery asks for what is missing; `council status` has the bounds of a session")
    request, _ = debate.with_source(request, settings.speaker, given["source"], settings)
    found = start.workflow_of(start.with_settings(request, settings))
    rows = price.bound(request, found, settings)
    if as_json:
        print_json(as_data(found, rows))
        return
    print_table(rows)
    if request.evidence_commands:
        echo("What a command prints counts at its maximum. For a closer bound, save it and use --evidence FILE.")


def as_data(workflow: Workflow, rows: list[Row]) -> dict[str, Any]:
    """As docs/cli.schema.json describes it."""
    from council.checks.cost import sum_bounds, sum_usual

    bound, expected = sum_bounds(rows), sum_usual(rows)
    totals = {
        "least": sum(row.least for row in rows), "most": sum(row.most for row in rows),
        "again": sum(row.again for row in rows), "input": expected.input, "output": expected.output,
        "usd": expected.usd, "likely": bound.likely, "bound": bound.usd,
        "most_input": bound.input, "most_output": bound.output, "runs": sum(row.runs for row in rows),
    }  # fmt: skip
    members = [seat.name for seat in workflow.table]
    return {"workflow": workflow.name, "members": members, "steps": [asdict(row) for row in rows], "totals": totals}


def print_table(rows: list[Row]) -> None:
    from council.checks.cost import format_bounds, sum_bounds

    for line in format_table(rows):
        echo(line)
    least, most, more = (sum(getattr(row, name) for row in rows) for name in ("least", "most", "again"))
    calls = f"{most} call{'s' * (most != 1)}" if least == most else f"{least} to {most} calls"
    echo(f"{calls}, and up to {more} more if every reply had to be asked for again.")
    if runs := sum(row.runs for row in rows):
        echo(f"At most {runs} run{'s' * (runs > 1)} on this machine, which {'cost' if runs > 1 else 'costs'} nothing.")
    if (bound := sum_bounds(rows)).usd is not None:
        echo(f"Cost: {format_bounds(bound)}.")
        echo("Calls that fail can be billed too; --max-cost counts them.")
    echo("Likely: every step, in the fewest rounds, with replies of the usual length.")
    echo("Usual: the same in the most rounds.")
    echo("At most: every reply takes all the tokens it may.")


def format_table(rows: list[Row]) -> Iterator[str]:
    """A line for each step, below their header: narrow enough for 80 columns, unless a step has a long name."""
    table = [("step", "calls", "again", "tokens in / out", "usual $", "at most $")]
    for row in rows:
        calls = str(row.most) if row.least == row.most else f"{row.least}-{row.most}"
        calls = " + ".join([calls] * (row.most > 0) + [f"{row.runs} run{'s' * (row.runs > 1)}"]) if row.runs else calls
        name = row.phase if row.step == row.phase else f"{row.phase}: {row.step}"
        again, tokens = f"+{row.again}" if row.again else "-", f"{row.input:,} / {row.output:,}"
        table.append((name, calls, again, tokens, money(row.usd), money(row.bound)))
    first, *others = (max(map(len, column)) for column in zip(*table, strict=True))
    for name, *figures in table:
        cells = (figure.rjust(width + 2) for figure, width in zip(figures, others, strict=True))
        yield "".join([name.ljust(first), *cells])


def money(usd: float | None) -> str:
    return "unknown" if usd is None else f"{usd:.4f}"
