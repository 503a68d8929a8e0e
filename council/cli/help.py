"""`help`: the same as `-h`."""

from __future__ import annotations

import click

from council.cli import command as kinds
from council.cli.completion import commands

ALL = "all"


@kinds.command("help")
@click.argument("command", default="", shell_complete=commands)
@click.pass_context
def help_(context: click.Context, command: str) -> None:
    """Show the help of COMMAND; without one, the most important commands. `council help all` lists every command."""
    program = context.parent
    assert program is not None
    group = program.command
    assert isinstance(group, kinds.Group)
    if not command:
        click.echo(program.get_help())
        return
    if command == ALL:
        formatter = program.make_formatter()
        group.format_all(program, formatter)
        click.echo(formatter.getvalue().rstrip("\n"))
        return
    _, found, _ = group.resolve_command(program, [command])
    assert found is not None
    click.echo(found.get_help(click.Context(found, info_name=command, parent=program)))
