"""`council code`: members write code for a task in the user's own project, and their code is really run."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

import click

from council.cli import completion
from council.cli.command import command
from council.cli.context import State
from council.cli.options import FILE, GENERAL, OUTPUT, OVERLAYS, SPEAKER, build_request, options, read_topic
from council.errors import UsageError

if TYPE_CHECKING:
    from council.config.settings import Config
    from council.runner.start import Request

TASK = "Make the failing tests pass."
WORKFLOW = "reflexion"


@command()
@options(
    click.argument("topic", nargs=-1, metavar="[TASK]"),
    click.option(
        "--repo", type=FILE, default=".", metavar="DIR", help="The project (default: the repository of this folder)."
    ),
    click.option("--worktree", is_flag=True, help="Begin with your uncommitted changes, too."),
    click.option("--tests", multiple=True, type=FILE, metavar="PATH", help="Tests to run (default: all of them)."),
    click.option("--hidden", multiple=True, type=FILE, metavar="PATH", help="Tests that members never see, run once."),
    click.option("--bench", metavar="NAME", help="What runs the tests: pytest, unittest, node, go, or one of yours."),
    click.option("--env", type=FILE, metavar="DIR", help="The project's virtual environment (default: .venv or venv)."),
    click.option("--show", multiple=True, metavar="PATH", help="Show members this file or folder, whole."),
    click.option("--history", multiple=True, metavar="PATH", help="Give members the history and the blame of this."),
    click.option("--after", multiple=True, metavar="STEP=BENCH", help="Also run this checker after that step."),
    click.option(
        "-w", "--workflow", metavar="NAME", shell_complete=completion.workflows,
        help=f"The workflow to run (default: the one that TASK names, as in \"Council code: …\", or {WORKFLOW}).",
    ),
    click.option("--although-tests-pass", "green", is_flag=True, help="Go on if no test fails before any change."),
    click.option(
        "--although-tests-break", "broken", is_flag=True, help="Go on if the tests give no verdict before any change."
    ),
    click.option("--apply", "wants_branch", is_flag=True, help="If the tests pass, go on with `council apply`."),
    click.option("--yes", is_flag=True, help="Begin, and create the branch of --apply, without asking."),
    *GENERAL, SPEAKER, *OUTPUT, OVERLAYS,
)  # fmt: skip
@click.pass_obj
def code(state: State, /, **given: Any) -> None:
    """Let members solve TASK in your project until its tests pass (default task: make the failing tests pass).

    They work on a copy of the newest commit, and each attempt is run in a sandbox. Your files and branches stay as they
    are: `council apply` puts the result on a branch of its own.
    """
    from council.cli.run import begin, carry_on
    from council.config import settings as config
    from council.lab import apply, opening
    from council.lab.proposal import propose
    from council.runner.start import lay_table
    from council.terminal.screen import Screen

    if given["wants_branch"] and given["as_json"]:
        raise UsageError("--apply and --json cannot be combined; call `council apply --json` afterwards")
    settings = config.load()
    screen = Screen(quiet=given["quiet"] or given["as_json"])
    task = read_topic(given["topic"]) or TASK
    request = build_request(task, {**given, "otherwise": WORKFLOW})
    if isinstance(request, str):
        raise UsageError(f"to continue a session: council recover {request}")
    given |= {"workflow": request.workflow}
    opening.load_workflow(request.workflow)
    lay_table(request, settings)  # what is wrong with seats or options is said before the tests are run
    check_speaker(request, settings, given)
    opened = opening.open_task(task, given, settings, lambda line: screen.say(line, "dim"))
    chosen = {**opened.options, **(request.options or {})}
    request = replace(request, base=opened.base, options=chosen, documents=opened.documents)
    given |= {"source": None, "pace": "none"}
    choice = begin(state, request, settings, given)
    carry_on(state, settings, None, given, choice, also=lambda: _list_facts(state))
    if given["wants_branch"]:
        assert state.session is not None
        proposal = propose(state.session)
        repository = apply.find_repository(proposal, given["repo"])
        apply.put_on_branch(proposal, repository, given["yes"], False, given["as_json"])


def check_speaker(request: Request, settings: Config, given: dict[str, Any]) -> None:
    """Refuse a speaker that cannot write the code before the tests are run, which may take a while."""
    from council.candidates.base import EMPTY
    from council.cli.run import can_ask
    from council.runner import debate

    choice = debate.choose_speaker(replace(request, base=EMPTY), given["speaker"], settings, can_ask(given))
    if choice.speaker.replays:
        raise UsageError(
            f"--speaker {choice.name} writes no new code; to replay a session: "
            f"council run --speaker {choice.name} --from SESSION"
        )


def _list_facts(state: State) -> dict[str, Any]:
    """What --json says beside the facts of any session."""
    from council.lab.proposal import propose
    from council.reports.transcript import list_following

    assert state.session is not None
    following = list_following(state.session, state.session.plan())
    try:
        return {"winner": propose(state.session).facts(), "following": following}
    except UsageError as nothing:
        return {"winner": None, "why": str(nothing), "following": following}
