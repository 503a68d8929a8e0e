"""Workflows and lists of your own: check them, price them, draw them, and write new ones to begin from."""

from __future__ import annotations

import math
import os
from collections.abc import Mapping
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from council.next.cli.options import JSON, OVERLAYS, REQUEST, load_settings, options, request_from
from council.next.errors import CouncilError, StorageError, UsageError
from council.next.text import did_you_mean, slug

if TYPE_CHECKING:
    from council.next.checks.cost import Bound
    from council.next.config.settings import Settings
    from council.next.runner.prepare import Request, Table

STARTER, STARTER_NAME = "Starter.md", "starter"
LONGEST_NAME = 40
QUESTION = 400  # bytes: of a question that was not given
NEXT = """Next:
  council lint {name}
  council cost {name}
  council diagram {name}
  council run --workflow {name} "A question\""""


def complete(context: click.Context, parameter: click.Parameter, typed: str) -> list[str]:  # noqa: ARG001
    """The workflows that a shell offers. Damage offers nothing."""
    from council.next.config import places

    with suppress(CouncilError, OSError):
        return [name for name in places.workflows(places.overlays(places.project())) if name.startswith(typed)]
    return []


# ---- lint ----


@click.command()
@click.argument("workflows", nargs=-1, shell_complete=complete)
@options(OVERLAYS, JSON)
def lint(**given: Any) -> int:
    """Check WORKFLOWS (names or files; default: all) and report each mistake with its line and what to do.

    Notes are about what is allowed and probably not meant. Exits 2 on a mistake, not on a note.
    """
    from council.next.checks.lint import Problem
    from council.next.checks.lint import lint as check
    from council.next.config import places
    from council.next.terminal.output import echo, print_json

    settings = load_settings(given)
    found: dict[str, list[Problem]] = {}
    for name in given["workflows"] or places.workflows(settings.overlays):
        try:
            found[name] = check(places.find_workflow(name, settings.overlays), settings)
        except UsageError as wrong:
            if name in given["workflows"]:
                raise
            found[name] = [Problem(str(wrong))]
    if given["as_json"]:
        print_json({name: [vars(one) for one in problems] for name, problems in found.items()})
    for name, problems in found.items() if not given["as_json"] else ():
        for one in problems:
            line = f"line {one.line}: " if one.line else ""
            echo(f"{name}: {'' if one.is_mistake else 'note: '}{line}{one.text}")
        if not problems:
            echo(f"{name}: no problems found")
    return UsageError.code if any(one.is_mistake for problems in found.values() for one in problems) else 0


# ---- cost ----


@click.command()
@click.argument("workflow", default="debate", shell_complete=complete)
@click.argument("topic", nargs=-1)
@options(*REQUEST[2:13])
@click.option("--model", default="", metavar="NAME", help="Use this model for every tier.")
@options(OVERLAYS, JSON)
def cost(**given: Any) -> None:
    """Estimate the calls, tokens and money of a debate, and bound them. Nothing is spent."""
    from council.next.checks.cost import bound, likely
    from council.next.terminal.output import print_json

    settings = load_settings(given)
    table, request = lay_table(given, settings)
    size = request.size if given["topic"] else request.size + QUESTION
    usual = likely(table.workflow, size, settings, templates=table.templates)
    most = bound(table.workflow, size, settings, templates=table.templates)
    if given["as_json"]:
        print_json({
            "workflow": table.workflow.name,
            "members": list(table.members),
            "likely": as_data(usual),
            "at_most": as_data(most),
            "phases": [
                {"phase": name, "likely": as_data(dict(usual.phases)[name]), "at_most": as_data(one)}
                for name, one in most.phases
            ],
        })  # fmt: skip
    else:
        print_cost(usual, most)


def lay_table(given: Mapping[str, Any], settings: Settings) -> tuple[Table, Request]:
    from council.next.runner.prepare import Request, lay

    topic = given["topic"] or ("?",)
    request = request_from({**given, "topic": topic, "source": "", "id": "", "seats": ()}, settings)
    if not isinstance(request, Request):
        raise UsageError("a recovery costs what is left of its debate: `council status` says how far it is")
    return lay(request, settings), request


def as_data(one: Bound) -> dict[str, Any]:
    return {"calls": one.calls, "input": one.input, "output": one.output, "usd": one.usd}


def print_cost(usual: Bound, most: Bound) -> None:
    from council.next.terminal.output import echo, print_columns

    rows = [("phase", "calls", "tokens in / out", "likely", "calls", "at most")]
    for name, top in (*most.phases, ("all", most)):
        low = dict(usual.phases).get(name, usual)
        tokens = f"{low.input:,} / {low.output:,}"
        rows.append((name, str(low.calls), tokens, dollars(low.usd), str(top.calls), dollars(top.usd, up=True)))
    print_columns(rows)
    echo()
    echo(f"Likely: {dollars(usual.usd)}. Every step, in the fewest rounds, with usual replies.")
    echo(f"At most: {dollars(most.usd, up=True)}. The most rounds, every reply as long as it may be, twice.")
    echo("Calls that fail can be billed too: --max-cost counts them, and holds.")


def dollars(usd: float | None, up: bool = False) -> str:
    if usd is None:
        return "unknown"
    if up:
        return f"${math.ceil(round(usd * 100, 6)) / 100:,.2f}"
    return f"${usd:,.2f}" if usd >= 0.10 or not usd else f"${usd:.4f}"


# ---- diagram ----


@click.command()
@click.argument("workflow", default="debate", shell_complete=complete)
@click.option("--gate", "gates", multiple=True, metavar="PHASE", help="Pause for a person's approval after PHASE.")
@options(OVERLAYS)
def diagram(**given: Any) -> None:
    """Draw WORKFLOW (a name or a file) as a Mermaid flowchart, which GitHub and many editors render."""
    from council.next.checks.diagram import draw
    from council.next.config import places
    from council.next.terminal.output import echo
    from council.next.workflow import gates, loader

    path = places.find_workflow(given["workflow"], load_settings(given).overlays)
    echo(draw(gates.insert(loader.load(places.read(path), path.name), given["gates"])).rstrip("\n"))


# ---- new workflows ----


@click.command("new-workflow")
@click.argument("name")
@click.option(
    "--from",
    "source",
    default="",
    metavar="WORKFLOW",
    shell_complete=complete,
    help="Start from a copy of this workflow.",
)
@click.option("--user", is_flag=True, help="Write it for all your projects instead of only this one.")
def new_workflow(name: str, source: str, user: bool) -> None:
    """Write a new workflow to start from: a small one that runs, with a comment on each line.

    It goes into this project's .council folder. Existing files are never overwritten.
    """
    from council.next.config import places
    from council.next.terminal.output import echo
    from council.next.workflow import loader

    check_name(name)
    made = copy_workflow(source, name) if source else {f"Workflows/{name}.md": start_workflow(name)}
    loader.load(made[f"Workflows/{name}.md"], name)
    write_new(own_folder(user), made)
    echo(NEXT.format(name=name))
    echo(f"The language is described in {places.KIT / 'Workflows'}, by example.")


def check_name(name: str) -> None:
    from council.next.cli import commands
    from council.next.config import places

    if not name or slug(name, LONGEST_NAME) != name or not name.isascii():
        raise UsageError(f'"{name}" is not a valid name: use a-z, 0-9 and hyphens, {LONGEST_NAME} at most')
    if name in places.workflows(places.overlays(places.project())):
        raise UsageError(f'a workflow "{name}" already exists; choose another name')
    if name in commands.entries() or name in places.GUIDES:
        raise UsageError(f'"{name}" is taken; choose another name')


def start_workflow(name: str) -> str:
    from council.next.config import places

    return places.read(places.KIT / STARTER).replace(STARTER_NAME, name)


def copy_workflow(source: str, name: str) -> dict[str, str]:
    """A workflow and the templates that are its own, under another name."""
    from council.next.config import places
    from council.next.prompts.brief import freeze
    from council.next.workflow import loader

    folders = places.overlays(places.project())
    text = places.read(places.find_workflow(source, folders))
    workflow = loader.load(text, source)
    own, new = f"{workflow.name}/", f"{name}/"
    made = {f"Workflows/{name}.md": text.replace(f"name: {workflow.name}", f"name: {name}", 1)}
    for path, template in freeze(workflow, folders).items():
        if path.startswith(own):
            made[f"templates/{new}{path.removeprefix(own)}"] = template.replace(f'"{own}', f'"{new}')
    return made


def own_folder(user: bool) -> Path:
    """Where new files go: the user's folder, or that of the project."""
    from council.next.config import places

    if user:
        return places.user_folder()
    folder = (places.project_steps() or [Path.cwd()])[-1] / places.PROJECT
    if os.path.lexists(folder) and (problem := places.find_fault(folder, folder)):
        raise UsageError(f"nothing was written: {problem}")
    return folder


def write_new(folder: Path, made: Mapping[str, str]) -> None:
    """Write files that are not there yet: all of them, or none."""
    from council.next.config import places
    from council.next.record.files import tilde
    from council.next.terminal.output import echo

    for path in (folder / name for name in made):
        parents = [one for one in path.parents if one.is_relative_to(folder) and os.path.lexists(one)]
        if folder.name == places.PROJECT and parents and (problem := places.find_fault(parents[0], folder)):
            raise UsageError(f"nothing was written: {problem}")
        if os.path.lexists(path):
            raise UsageError(f"{tilde(path)} already exists and is never overwritten; choose another name")
    try:
        for path, text in ((folder / name, text) for name, text in made.items()):
            path.parent.mkdir(parents=True, exist_ok=True)
            with path.open("x", encoding="utf-8", newline="") as file:
                file.write(text)
            echo(f"wrote {tilde(path)}")
    except OSError as failure:
        raise StorageError(f"{tilde(path)}: {failure.strerror}; make it writable, then run this again") from None


# ---- specialists ----


@click.command()
@click.argument("action", default="list", type=click.Choice(["list", "draft", "use"]))
@click.argument("area", default="")
@click.option("--repo", default=".", type=click.Path(path_type=Path), metavar="DIR", help="draft: the repository.")
@click.option("--to", type=click.Path(path_type=Path), metavar="FILE", help="draft: write a new file, not to stdout.")
@click.option("--user", is_flag=True, help="use: for all your projects instead of only this one.")
@options(OVERLAYS)
def specialists(**given: Any) -> None:
    """Show the specialists that Consensus chooses from, and where the list comes from (`list`, the default).

    `draft` proposes a list from a repository's folders and CODEOWNERS, for you to edit. `use AREA` copies one of the
    kit's lists into this project. Existing files are never overwritten.
    """
    from council.next.config import drafting, places
    from council.next.config import specialists as lists
    from council.next.terminal.output import echo, note

    action, areas = given["action"], lists.areas()
    if action != "use" and given["area"]:
        raise UsageError(f"{action} takes no area; `council specialists use {given['area']}` copies a list")
    if action == "list":
        show_specialists(load_settings(given))
    elif action == "use":
        if given["area"] not in areas:
            raise UsageError(f'no list is called "{given["area"]}"; {did_you_mean(given["area"], areas)}')
        write_new(own_folder(given["user"]), {lists.FILE: places.read(areas[given["area"]])})
    else:
        text, unused = drafting.draft(given["repo"])
        if unused:
            note(f"{unused} line{'s' * (unused != 1)} of CODEOWNERS could not be used")
        if given["to"]:
            write_new(given["to"].parent, {given["to"].name: text})
        else:
            echo(text.rstrip("\n"))


def show_specialists(settings: Settings) -> None:
    from council.next.config import places
    from council.next.config import specialists as lists
    from council.next.record.files import tilde
    from council.next.terminal.output import echo, print_columns

    listed, areas = lists.load(folders=settings.overlays), lists.areas()
    echo(f"{tilde(listed.path)}\n")
    print_columns([("", name, str(one.get("touches", ""))) for name, one in listed.sections.items()])
    echo(f"\n--feature-type: {', '.join(sorted(listed.features())) or 'none'}")
    shown = [f"{name}{'*' * (path == listed.path)}" for name, path in areas.items()]
    echo(f"\nThe kit's lists: {', '.join(shown)}; `council specialists use AREA` copies one into this project.")
    if listed.path.is_relative_to(places.KIT):
        echo("`council specialists draft` proposes a list for this project.")
