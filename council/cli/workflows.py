"""About workflows: `new-workflow` writes one to begin with, `lint` says what is wrong in one, `diagram` draws it."""

from __future__ import annotations

import os
import re
from pathlib import Path
from typing import TYPE_CHECKING

import click

from council.config import overlays
from council.errors import UsageError
from council.terminal.output import echo

if TYPE_CHECKING:
    from council.workflow.model import Workflow

STARTER = Path(__file__).resolve().with_name("starter.md")
# In the starter, this word is the workflow's name wherever it stands.
NAME = "starter"
NEXT = """The next steps:
  council lint {name}                          # what is wrong in it
  council cost {name}                          # what it may take
  council diagram {name}                       # how it goes, as a picture
  council run --workflow {name} "A question"
What can stand in it is told in {guide}"""


@click.command("new-workflow")
@click.argument("name")
@click.option("--from", "source", metavar="WORKFLOW", help="Begin with a copy of this one, and of its templates.")
@click.option("--user", is_flag=True, help="For all your projects, not for this one alone.")
def new_workflow(name: str, source: str | None, user: bool) -> None:
    """Write a workflow to begin with: a small one that runs, with a remark on each of its lines.

    It is written into this project's .council folder. No file is ever overwritten.
    """
    from council.config import overlays
    from council.record import files

    refuse_taken(name)
    folder = overlays.user_folder() if user else overlays.project_folder() or Path.cwd() / ".council"
    made = {f"Workflows/{name}.md": STARTER.read_text("utf-8").replace(NAME, name)}
    if source:
        made = copied(source, name)
    paths = {folder / path: text for path, text in made.items()}
    for path in paths:
        if os.path.lexists(overlays.inside(path, folder)):
            raise UsageError(f"{shown(path)} is there already, and no file is overwritten; choose another name")
    for path, text in paths.items():
        path.parent.mkdir(parents=True, exist_ok=True)
        with path.open("x", encoding="utf-8", newline="") as file:
            file.write(text)
        echo(f"wrote {shown(path)}")
    guide = overlays.kit_folder() / "docs" / "workflows.md"
    echo(NEXT.format(name=name, guide=files.tilde(guide)))


def refuse_taken(name: str) -> None:
    from council.workflow import model as workflow

    if not workflow.NAME.fullmatch(name) or len(name) > workflow.LONGEST_NAME:
        raise UsageError(f'"{name}" is no name: small letters, digits and hyphens, {workflow.LONGEST_NAME} at most')
    if name in overlays.GUIDES:
        raise UsageError(f'"{name}" is taken: {overlays.GUIDES[name]}; choose another name')
    if name in (there := overlays.workflows()):
        raise UsageError(f'there is a workflow "{name}" already, {shown(there[name])}; choose another name')


def copied(source: str, name: str) -> dict[str, str]:
    """Another workflow under a new name, with those of its templates that are its own: they go by its name."""
    from council.workflow.loader import load

    text, where = overlays.workflow_text(source)
    found = load(text, where)
    renamed, count = re.subn(r"^name:[ \t]*\S+", f"name: {name}", text, count=1, flags=re.M)
    if not count:
        raise UsageError(f"{where}: no line begins with `name:`, so it cannot be copied under another name")
    own = {step.prompt: f"templates/{found.name}/{step.prompt}.md.j2" for _, step in found.steps()}
    templates = {prompt: next(overlays.overlaid(path), None) for prompt, path in own.items()}
    return {f"Workflows/{name}.md": renamed} | {
        f"templates/{name}/{prompt}.md.j2": overlays.read(path) for prompt, path in templates.items() if path
    }


def shown(path: Path) -> str:
    """A path as it is typed from here."""
    from council.record import files

    here = Path.cwd()
    return str(path.relative_to(here)) if path.is_relative_to(here) else files.tilde(path)


@click.command()
@click.argument("workflows", nargs=-1)
def lint(workflows: tuple[str, ...]) -> None:
    """Say what is wrong in WORKFLOWS (names or files; all, if none is named), where, and what to do.

    A note is about what is allowed and hardly meant. The exit code is 2 if anything is wrong; notes do not count.
    """

    count = 0
    for name in workflows or sorted(overlays.workflows()):
        wrong, notes = checked(name)
        told = [*wrong, *notes]
        if not wrong:
            told.append(f"{name}: nothing is wrong")
        echo("\n".join(told))
        count += len(wrong)
    if count:
        raise UsageError(f"{count} problem{'s' if count > 1 else ''}, see above")


def checked(name: str) -> tuple[list[str], list[str]]:
    """What is wrong in a workflow and what is worth a note, each with the file and the line."""
    from council import speakers
    from council.checks.hints import remarks
    from council.checks.lint import Known
    from council.checks.lint import lint as problems_of
    from council.checks.templates import examine
    from council.config import personas, settings
    from council.prompts.templates import prompts
    from council.workflow.loader import load

    try:
        text, where = overlays.workflow_text(name)
    except UsageError as refusal:
        return [str(refusal)], []
    try:
        workflow = load(text, where)
    except UsageError as refusal:
        return [placed(str(refusal).removeprefix(f"{where}: "), text, where)], []
    examined = examine(workflow)
    known = Known(settings.load().tiers, prompts(workflow.name), personas.load(), speakers.names())
    wrong = [one.removeprefix(f"{workflow.name}: ") for one in problems_of(workflow, known)]
    notes = [*remarks(workflow, examined.options), *examined.remarks, *misnamed(workflow, where)]
    if Path(where).is_relative_to(overlays.kit_folder() / "Workflows"):
        notes = []  # they are for whoever writes a workflow
    return (
        [placed(one, text, where) for one in (*wrong, *examined.problems)],
        [placed(one, text, where, "note: ") for one in notes],
    )


def misnamed(workflow: Workflow, where: str) -> list[str]:
    if (stem := Path(where).stem.lower()) == workflow.name:
        return []
    return [f'name: it is called by its file, so it is "{stem}" on the command line; let both be the same']


def placed(problem: str, text: str, where: str, kind: str = "") -> str:
    """`.council/Workflows/mine.md:12: phase talk: when: …`: what is wrong behind the line that it is about."""
    from council.checks.lines import line_of

    line = line_of(problem, text)
    if at := re.match(r"line (\d+): ", problem):
        line, problem = int(at.group(1)), problem[at.end() :]
    return f"{shown(Path(where))}:{f'{line}:' if line else ''} {kind}{problem}"


@click.command()
@click.argument("workflow")
@click.option("--format", type=click.Choice(["mermaid"]), default="mermaid", expose_value=False, help="How to draw it.")
def diagram(workflow: str) -> None:
    """Draw WORKFLOW (a name or a file) as a flowchart: a text that GitHub and many editors show as a picture."""
    from council.checks.diagram import mermaid
    from council.workflow.loader import load

    echo(mermaid(load(*overlays.workflow_text(workflow))).rstrip("\n"))


COMMANDS = (new_workflow, lint, diagram)
