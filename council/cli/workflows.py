"""Workflows of your own: `new-workflow` writes one to start from, `lint` checks it, `diagram` draws it."""

from __future__ import annotations

import os
import re
from pathlib import Path
from typing import TYPE_CHECKING

import click

from council.cli import commands, completion
from council.cli.command import command
from council.cli.options import GATES, OVERLAYS, workflow_options
from council.config import overlays, project
from council.errors import UsageError
from council.terminal.output import echo

if TYPE_CHECKING:
    from council.checks.templates import FoundTemplates
    from council.workflow.model import Workflow

STARTER = Path(__file__).resolve().with_name("starter.md")
# The starter uses this word wherever the workflow's name goes.
NAME = "starter"
NEXT = """Next steps:
  council lint {name}                          # check it for mistakes
  council cost {name}                          # estimate its cost
  council diagram {name}                       # draw it as a flowchart
  council {name} "A question"
The workflow language is described in {guide}"""


@command("new-workflow")
@click.argument("name")
@click.option(
    "--from", "source", metavar="WORKFLOW", shell_complete=completion.workflows,
    help="Start from a copy of this workflow and its templates.",
)  # fmt: skip
@click.option("--user", is_flag=True, help="Write it for all your projects instead of only this one.")
def new_workflow(name: str, source: str | None, user: bool) -> None:
    """Write a new workflow to start from: a small one that runs, with a comment on each line.

    It goes into this project's .council folder. Existing files are never overwritten.
    """
    from council.config import overlays
    from council.record import files

    refuse_taken(name)
    folder = overlays.user_folder() if user else own_folder()
    made = {f"Workflows/{name}.md": STARTER.read_text("utf-8").replace(NAME, name)}
    if source:
        made = copy_workflow(source, name)
    paths = {folder / path: text for path, text in made.items()}
    for path in paths:
        if os.path.lexists(overlays.check_inside(path, folder)):
            raise UsageError(f"{shorten_path(path)} already exists and is never overwritten; choose another name")
    for path, text in paths.items():
        path.parent.mkdir(parents=True, exist_ok=True)
        with path.open("x", encoding="utf-8", newline="") as file:
            file.write(text)
        echo(f"wrote {shorten_path(path)}")
    guide = overlays.kit_folder() / "docs" / "workflows.md"
    echo(NEXT.format(name=name, guide=files.tilde(guide)))


def own_folder() -> Path:
    """The project's folder for new files, whether this command uses what is in it or not."""
    folder = project.find()
    if folder and (fault := project.find_fault(folder)):
        raise UsageError(f"{folder}: nothing is written there: {fault}")
    return folder or Path.cwd() / project.NAME


def refuse_taken(name: str) -> None:
    from council.workflow import model as workflow

    if not workflow.is_name(name):
        raise UsageError(
            f'"{name}" is not a valid name; use lower-case letters, digits and hyphens, {workflow.LONGEST_NAME} at most'
        )
    if name in overlays.GUIDES:
        raise UsageError(f'"{name}" is taken: {overlays.GUIDES[name]}; choose another name')
    if name in commands.names():
        raise UsageError(f'"{name}" is a command of council; choose another name')
    if name in (there := overlays.workflows()):
        raise UsageError(f'a workflow "{name}" already exists ({shorten_path(there[name])}); choose another name')


def copy_workflow(source: str, name: str) -> dict[str, str]:
    """Copy a workflow under a new name, with the templates in its own folder, which has its name."""
    from council.workflow.loader import load

    text, where = overlays.workflow_text(source)
    found = load(text, where)
    renamed, count = re.subn(r"^name:[ \t]*\S+", f"name: {name}", text, count=1, flags=re.M)
    if not count:
        raise UsageError(f"{where}: it has no line that starts with `name:`, so it cannot be copied under a new name")
    own = {step.prompt: f"{found.name}/{step.prompt}.md.j2" for _, step in found.steps()}
    templates = {prompt: overlays.find_template(path) for prompt, path in own.items()}
    return {f"Workflows/{name}.md": renamed} | {
        f"templates/{name}/{prompt}.md.j2": overlays.read(path) for prompt, path in templates.items() if path
    }


def shorten_path(path: Path) -> str:
    """A path as you would type it from here."""
    from council.record import files

    here = Path.cwd()
    return str(path.relative_to(here)) if path.is_relative_to(here) else files.tilde(path)


@command()
@click.argument("workflows", nargs=-1, shell_complete=completion.workflows)
@OVERLAYS
def lint(workflows: tuple[str, ...]) -> None:
    """Check WORKFLOWS (names or files; default: all) and report each mistake with its line and how to fix it.

    Notes flag constructs that are valid but probably unintended. Exits 2 on a mistake, not on a note.
    """

    from council.checks.templates import FoundTemplates

    count, found = 0, FoundTemplates()
    for name in workflows or sorted(overlays.workflows()):
        wrong, notes = check_workflow(name, found)
        echo("\n".join([*wrong, *notes] if wrong else [*notes, f"{name}: no problems found"]))
        count += len(wrong)
    if count:
        raise UsageError(f"{count} problem{'s' if count > 1 else ''}, see above")


def check_workflow(name: str, found: FoundTemplates) -> tuple[list[str], list[str]]:
    """The mistakes and the notes of a workflow, each with file and line."""
    from council import speakers
    from council.checks.hints import find_hints
    from council.checks.lint import Known
    from council.checks.lint import lint as problems_of
    from council.checks.templates import examine
    from council.config import personas, settings
    from council.prompts.templates import documents, prompts
    from council.reports.try_out import find_faults
    from council.speakers import registry
    from council.workflow.loader import load

    try:
        text, where = overlays.workflow_text(name)
    except UsageError as refusal:
        return [str(refusal)], []
    try:
        workflow = load(text, where)
    except UsageError as refusal:
        return [add_place(str(refusal).removeprefix(f"{where}: "), text, where)], []
    examined = examine(workflow, found)
    broken = examined.problems or find_faults(workflow)
    config, own = settings.load(), documents(workflow.name)
    benches = registry.find_benches(workflow, config)
    known = Known(config.tiers, prompts(workflow.name), personas.load(), speakers.names(), own, benches)
    wrong = [one.removeprefix(f"{workflow.name}: ") for one in problems_of(workflow, known)]
    if workflow.name in commands.names() - set(overlays.workflows([overlays.kit_folder()])):
        wrong.append(f'name: "{workflow.name}" is a command of council; give the workflow another name')
    notes = [*find_hints(workflow, examined.options), *examined.remarks, *check_name(workflow, where)]
    if Path(where).is_relative_to(overlays.kit_folder() / "Workflows"):
        notes = []  # notes are for authors, and the kit's workflows are ours
    return (
        [add_place(one, text, where) for one in (*wrong, *broken)],
        [add_place(one, text, where, "note: ") for one in notes],
    )


def check_name(workflow: Workflow, where: str) -> list[str]:
    if (stem := Path(where).stem.lower()) == workflow.name:
        return []
    return [f'name: on the command line the workflow has its file\'s name, "{stem}"; make both the same']


def add_place(problem: str, text: str, where: str, kind: str = "") -> str:
    """Put the place in front of a problem: `.council/Workflows/mine.md:12: phase talk: when: …`."""
    from council.checks.lines import line_of

    line = line_of(problem, text)
    if at := re.match(r"line (\d+): ", problem):
        line, problem = int(at.group(1)), problem[at.end() :]
    return f"{shorten_path(Path(where))}:{f'{line}:' if line else ''} {kind}{problem}"


@command()
@click.argument("workflow", shell_complete=completion.workflows)
@click.option("--format", type=click.Choice(["mermaid"]), default="mermaid", expose_value=False, help="Output format.")
@GATES
@OVERLAYS
def diagram(workflow: str, **given: tuple[str, ...]) -> None:
    """Draw WORKFLOW (a name or a file) as a Mermaid flowchart, which GitHub and many editors render."""
    from council.checks.diagram import mermaid
    from council.workflow.loader import load

    found = load(*overlays.workflow_text(workflow)).with_options(workflow_options(given))
    echo(mermaid(found).rstrip("\n"))
