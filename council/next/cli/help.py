"""`help`: the help of a command, or the list of all."""

from __future__ import annotations

import click

from council.next.cli import EPILOG, commands
from council.next.cli.group import Context
from council.next.errors import UsageError
from council.next.terminal.output import echo
from council.next.text import did_you_mean

KEYS = """Who speaks, in this order:
  1. what your Config.md configures, and only that
  2. an endpoint whose key is in the environment
  3. the `claude` program, if it is logged in; `codex` with --speaker codex
  4. on a terminal, a server on this machine or the small embedded model, after asking

  export ANTHROPIC_API_KEY=…     or OPENAI_API_KEY, OPENROUTER_API_KEY, GEMINI_API_KEY, …
  council run --model openai/NAME "…"              one model for all
  council run --seat security=openai/NAME "…"      another one for a single member

Without any of them:
  council start "…"                                an assistant or you give the replies
  council run --speaker replay --from SESSION      a debate that was held is shown again
"""


@click.command("help")
@click.argument("name", default="", metavar="[COMMAND|all|keys|exit-codes]")
@click.pass_obj
def help_(context: Context, /, name: str) -> None:
    """Show the help of a command. `all` lists every command, `keys` says how to have a speaker."""
    click_context = click.get_current_context()
    parent = click_context.find_root()
    group = parent.command
    assert isinstance(group, click.Group)
    topics = {"": parent.get_help(), "keys": KEYS.rstrip(), "exit-codes": EPILOG}
    if name in topics or name == "all":
        echo(topics.get(name) or all_commands())
        return
    command = group.get_command(parent, name)
    if command is None:
        raise UsageError(
            f'there is no command "{name}"; {did_you_mean(name, ["all", *topics, *group.list_commands(parent)])}'
        )
    echo(command.get_help(click.Context(command, info_name=name, parent=parent, obj=context)))


def all_commands() -> str:
    formatter = click.HelpFormatter(max_width=100)
    for section, names in commands.sections().items():
        with formatter.section(section):
            formatter.write_dl([(name, commands.summary(name)) for name in names])
    formatter.write_paragraph()
    formatter.write_text("council --version prints the version, and council --debug COMMAND the traceback of an error.")
    formatter.write_paragraph()
    formatter.write_text(EPILOG)
    return formatter.getvalue().strip("\n")
