"""The command line: one thin function per command. Errors become exit codes here, and nowhere else."""

from __future__ import annotations

import os
import signal
import sys
from contextvars import copy_context
from types import FrameType

import click

from council import __version__
from council.cli.command import Group
from council.cli.context import State, Stopped
from council.config import command_line
from council.errors import CouncilError, StorageError, UsageError
from council.text import nearest

SETTINGS = {"help_option_names": ["-h", "--help"], "max_content_width": 100}
SIGNALS = [signal.SIGINT, signal.SIGTERM, signal.SIGHUP]

EPILOG = """Exit codes: 0 done, 1 error, 2 usage or configuration (nothing spent), 3 paused or interrupted and
resumable, 4 authentication failed or request permanently rejected, 5 findings, a failed verify, or code whose tests
fail, 6 disk or permission, 7 busy (another runner), 8 waiting for a person, 130 and 143 on signals."""


@click.group(cls=Group, context_settings=SETTINGS, epilog=EPILOG)
@click.version_option(__version__, "--version", "-V", message="council %(version)s")
@click.option("--debug", is_flag=True, help="Show the traceback of an error.")
@click.pass_obj
def council(state: State, debug: bool) -> None:
    """Members with different views debate your question. You get an answer, and every dissent on record."""
    state.debug = debug


def main() -> int:
    """Run a command and return its exit code. Tracebacks are shown only with --debug."""
    state = State()
    command_line.note_call(os.environ.pop(command_line.CALLED_AS, "") or sys.argv[0])
    _open_streams()
    for number in SIGNALS:
        signal.signal(number, _stop)
    try:
        # In a context of its own: what one command decides about overlays does not outlive it.
        # A command may return an exit code.
        code = copy_context().run(council.main, standalone_mode=False, obj=state, prog_name="council") or 0
        state.show_notices()
    except (CouncilError, click.ClickException, click.exceptions.Exit, Stopped, OSError) as failure:
        if state.debug and not isinstance(failure, (click.exceptions.Exit, Stopped)):
            raise
        code = report(state, failure)
    except Exception as unexpected:
        if state.debug:
            raise
        code = state.close(f"{type(unexpected).__name__}: {unexpected} (`council --debug …` shows where)", 1)
    return finish(code)


def _open_streams() -> None:
    """Replace streams that the caller closed; otherwise the next file we open would take their place."""
    for number, name in enumerate(("stdin", "stdout", "stderr")):
        if getattr(sys, name) is None:
            setattr(sys, name, os.fdopen(os.open(os.devnull, os.O_RDWR), "w" if number else "r"))


def _stop(number: int, _: FrameType | None) -> None:
    raise Stopped(number)


def report(state: State, failure: BaseException) -> int:
    """Print what went wrong, what is kept and how to continue; return the exit code."""
    if isinstance(failure, click.exceptions.Exit):
        return failure.exit_code
    if isinstance(failure, Stopped):
        return state.close(f"stopped by {signal.Signals(failure.number).name}", 128 + failure.number)
    if isinstance(failure, BrokenPipeError):
        return 0  # the reader of our output has closed the pipe
    if isinstance(failure, click.exceptions.NoArgsIsHelpError):
        print(failure.format_message(), file=sys.stderr)
        return UsageError.code
    if isinstance(failure, click.ClickException):
        return state.close(_explain(failure), UsageError.code, state.usage())
    if isinstance(failure, CouncilError):
        return state.close(str(failure), failure.code, failure.advice)
    return state.close(str(failure), 6 if isinstance(failure, OSError) else 1)


def _explain(failure: click.ClickException) -> str:
    """click suggests every similar option; one that starts with what was typed is the most likely."""
    if not isinstance(failure, click.NoSuchOption) or failure.ctx is None:
        return failure.format_message()
    known = {name for param in failure.ctx.command.get_params(failure.ctx) for name in param.opts}
    near = nearest(failure.option_name, {name for name in known if name.startswith("--")})
    return f"there is no option {failure.option_name}{f'; did you mean {near}?' if near else ''}"


def finish(code: int) -> int:
    """Flush both streams, so that buffered text does not raise when the interpreter exits."""
    for stream in (sys.stdout, sys.stderr):
        try:
            stream.flush()
        except (OSError, ValueError) as failure:
            if code == 0 and stream is sys.stdout and not isinstance(failure, BrokenPipeError):
                print(f"council: the result could not be written: {failure}", file=sys.stderr)
                code = StorageError.code
            os.dup2(os.open(os.devnull, os.O_WRONLY), stream.fileno())
    if code > 128:
        os._exit(code)  # a thread that is still resolving a host name must not delay the exit
    return code
