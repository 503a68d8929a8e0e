"""`help`: the same as `-h`, for those who type it first."""

from __future__ import annotations

import click

from council.cli.command import Group, command
from council.cli.completion import commands


@command("help")
@click.argument("name", metavar="[COMMAND]", default="", shell_complete=commands)
@click.pass_context
def help_(context: click.Context, name: str) -> None:
    """Show the help of COMMAND, or the list of commands."""
    program = context.parent
    assert program is not None
    group = program.command
    assert isinstance(group, Group)
    if not name:
        click.echo(program.get_help())
        return
    _, found, _ = group.resolve_command(program, [name])
    assert found is not None
    click.echo(found.get_help(click.Context(found, info_name=name, parent=program)))
