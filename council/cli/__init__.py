"""The command line: one thin function a command. Errors become exit codes here, and nowhere else."""

from __future__ import annotations

import os
import signal
import sys
from types import FrameType

import click

from council import __version__
from council.cli import doctor, hook, install_skill, manual, mcp, review, run, sessions, workflows
from council.cli.context import State, Stopped
from council.errors import CouncilError, StorageError, UsageError

SETTINGS = {"help_option_names": ["-h", "--help"], "max_content_width": 100}
SIGNALS = [signal.SIGINT, signal.SIGTERM, signal.SIGHUP]

EPILOG = """Exit codes: 0 done, 1 error, 2 usage or configuration (nothing spent), 3 paused or interrupted and
resumable, 4 credentials or a refusal by the API for good, 5 findings or a failed verify, 6 disk or permission, 7 busy
(another runner), 8 waiting for a person, 130 and 143 on signals."""


@click.group(context_settings=SETTINGS, epilog=EPILOG)
@click.version_option(__version__, "--version", "-V", message="council %(version)s")
@click.option("--debug", is_flag=True, help="Show the traceback of an error.")
@click.pass_obj
def council(state: State, debug: bool) -> None:
    """Members with different perspectives debate a question in rounds, and everything they say becomes files."""
    state.debug = debug


for module in (run, review, manual, hook, sessions, workflows, doctor, mcp, install_skill):
    for command in module.COMMANDS:
        council.add_command(command)


def main() -> int:
    """The exit code. It never shows a traceback unless it was asked to."""
    state = State()
    _open_streams()
    for number in SIGNALS:
        signal.signal(number, _stop)
    try:
        council.main(standalone_mode=False, obj=state, prog_name="council")
        code = 0
    except (CouncilError, click.ClickException, click.exceptions.Exit, Stopped, OSError) as failure:
        if state.debug and not isinstance(failure, (click.exceptions.Exit, Stopped)):
            raise
        code = told(state, failure)
    except Exception as unexpected:
        if state.debug:
            raise
        code = told(state, CouncilError(f"{type(unexpected).__name__}: {unexpected} (`council --debug …` shows where)"))
    return finished(code)


def _open_streams() -> None:
    """Who starts us with a stream closed wants nothing from it; without this, the next file would take its place."""
    for number, name in enumerate(("stdin", "stdout", "stderr")):
        if getattr(sys, name) is None:
            setattr(sys, name, os.fdopen(os.open(os.devnull, os.O_RDWR), "w" if number else "r"))


def _stop(number: int, _: FrameType | None) -> None:
    raise Stopped(number)


def told(state: State, failure: BaseException) -> int:
    """Say what went wrong, what is kept, and how to go on; the exit code."""
    if isinstance(failure, click.exceptions.Exit):
        return failure.exit_code
    if isinstance(failure, Stopped):
        return state.closing(f"stopped by {signal.Signals(failure.number).name}", 128 + failure.number)
    if isinstance(failure, BrokenPipeError):
        return 0  # whoever read our output has had enough of it
    if isinstance(failure, click.exceptions.NoArgsIsHelpError):
        print(failure.format_message(), file=sys.stderr)
        return UsageError.code
    if isinstance(failure, click.ClickException):
        command = failure.ctx.command_path if isinstance(failure, click.UsageError) and failure.ctx else "council"
        advice = f"nothing was spent; `{command} -h` shows how it is called"
        return state.closing(failure.format_message(), UsageError.code, advice)
    if isinstance(failure, CouncilError):
        return state.closing(str(failure), failure.code)
    return state.closing(str(failure), 6 if isinstance(failure, OSError) else 1)


def finished(code: int) -> int:
    """Nothing that is still buffered may raise once more when the interpreter ends."""
    for stream in (sys.stdout, sys.stderr):
        try:
            stream.flush()
        except (OSError, ValueError) as failure:
            if code == 0 and stream is sys.stdout and not isinstance(failure, BrokenPipeError):
                print(f"council: the result could not be written: {failure}", file=sys.stderr)
                code = StorageError.code
            os.dup2(os.open(os.devnull, os.O_WRONLY), stream.fileno())
    if code > 128:
        os._exit(code)  # a thread that still looks up a name must not hold up somebody who said stop
    return code
