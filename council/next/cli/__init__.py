"""The command line: one thin function a command. Errors become exit codes here, and nowhere else."""

from __future__ import annotations

import os
import sys

import click

from council.next.cli.commands import Context, Group
from council.next.errors import CouncilError, Interrupted, StorageError, UsageError
from council.next.terminal.output import note

VERSION = sys.modules[__name__.partition(".")[0]].__version__  # the package is imported before this module
EPILOG = """Exit codes: 0 the debate is over, whatever it came to; 1 error; 2 usage, nothing was spent; 3 paused, so
`council recover` goes on once the cause is gone, or too few were heard; 4 authentication; 5 findings, a failed check,
or --require not met; 6 disk; 7 in use by another process; 8 waits for a person; 130 and 143 on signals."""


@click.group(
    cls=Group, context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 100}, epilog=EPILOG
)
@click.version_option(VERSION, "--version", "-V", message="council %(version)s")
@click.option(
    "--debug",
    is_flag=True,
    is_eager=True,
    expose_value=False,
    callback=lambda ctx, _, wanted: setattr(ctx.obj, "debug", wanted),
    help="Show the traceback of an error.",
)
def cli() -> None:
    """Members with different perspectives debate your question. You get an answer, and every dissent on record."""


def main(arguments: list[str] | None = None) -> int:
    """Run a command, and return its exit code."""
    context = Context()
    open_streams()
    code = call(context, arguments)
    try:
        sys.stdout.flush()
    except OSError as failure:
        code = give_up_output(failure, context) or code
    return code


def call(context: Context, arguments: list[str] | None) -> int:
    """Run a command. Each error is a sentence and an exit code."""
    failure: BaseException
    try:
        return int(cli.main(arguments, standalone_mode=False, obj=context, prog_name="council") or 0)
    except click.exceptions.Exit as ended:
        return ended.exit_code
    except BrokenPipeError as closed:
        return give_up_output(closed, context)
    except (KeyboardInterrupt, click.Abort):  # click makes the second of the first
        failure = Interrupted(2)
    except Exception as problem:  # noqa: BLE001 (a traceback is no sentence; --debug prints it)
        failure = problem
    if context.debug:
        raise failure
    return explain(failure, context)


def give_up_output(failure: OSError, context: Context) -> int:
    """Write nothing more to an output that takes nothing more. It is no error if the reader has seen enough."""
    os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
    if isinstance(failure, BrokenPipeError):
        return 0
    return explain(StorageError(f"the result could not be written: {failure.strerror}"), context)


def explain(failure: BaseException, context: Context) -> int:
    """Say what went wrong, what is kept and what to type next. Returns the exit code."""
    code, words = getattr(failure, "code", 1), str(failure)
    if isinstance(failure, click.exceptions.NoArgsIsHelpError):
        note(failure.format_message())
        return UsageError.code
    if isinstance(failure, click.ClickException):
        code, words = UsageError.code, failure.format_message()
    elif isinstance(failure, OSError):
        code = StorageError.code
    elif not isinstance(failure, CouncilError):
        code, words = 1, f"{type(failure).__name__}: {failure} (`council --debug …` shows where)"
    note(f"council: {words}")
    if advice := context.advice(code, words):
        note(advice)
    return code


def open_streams() -> None:
    """Replace streams that the caller closed. Otherwise the next file that is opened takes their place."""
    for number, name in enumerate(("stdin", "stdout", "stderr")):
        if getattr(sys, name) is None:
            setattr(sys, name, os.fdopen(os.open(os.devnull, os.O_RDWR), "w" if number else "r"))
