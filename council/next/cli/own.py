"""Workflows and lists of your own: check them, price them, draw them, and write new ones to begin from."""

from __future__ import annotations

import math
import os
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import click

from council.next.checks import cost as costs
from council.next.checks import lint as checks
from council.next.checks.diagram import draw
from council.next.cli import commands, options
from council.next.cli.options import complete, load_settings
from council.next.config import drafting, places
from council.next.config import specialists as lists
from council.next.errors import StorageError, UsageError
from council.next.prompts.brief import freeze
from council.next.record.files import tilde
from council.next.runner.prepare import lay
from council.next.terminal.output import echo, note, print_columns, print_json, program, say
from council.next.text import did_you_mean, slug
from council.next.workflow import gates, loader

STARTER, STARTER_NAME = "Starter.md", "starter"
LONGEST_NAME = 40
QUESTION = 400  # bytes: of a question that was not given
NEXT = """Next:
  {council} lint {name}
  {council} cost {name}
  {council} diagram {name}
  {council} run --workflow {name} "A question\""""
WORKFLOW = click.argument("workflow", default="debate", shell_complete=complete)


@click.command()
@click.argument("workflows", nargs=-1, shell_complete=complete)
@options.OVERLAYS
@options.JSON
def lint(**given: Any) -> int:
    """Check workflows, and name each mistake. WORKFLOWS are names or files (default: all).

    Each mistake has its line and what to do. Notes are about what is allowed and probably not meant. Exits with 2 on a
    mistake, not on a note.
    """
    settings = load_settings(given)
    found: dict[str, list[checks.Problem]] = {}
    for name in given["workflows"] or places.workflows(settings.overlays):
        try:
            found[name] = checks.lint(places.find_workflow(name, settings.overlays), settings)
        except UsageError as wrong:
            if name in given["workflows"]:
                raise
            found[name] = [checks.Problem(str(wrong))]
    if given["as_json"]:
        print_json({name: [vars(one) for one in problems] for name, problems in found.items()})
    else:
        for name, problems in found.items():
            for one in problems:
                line = f"line {one.line}: " if one.line else ""
                say(f"{name}: {'' if one.is_mistake else 'note: '}{line}{one.text}")
            if not problems:
                echo(f"{name}: no problems found")
    return UsageError.code if any(one.is_mistake for problems in found.values() for one in problems) else 0


@click.command()
@WORKFLOW
@click.argument("topic", nargs=-1)
@options.TABLE
@options.MODEL
@options.OVERLAYS
@options.JSON
def cost(**given: Any) -> None:
    """Estimate what a debate costs before you begin it. The estimate has a likely and a highest sum; nothing is spent.

    \b
    Example:
      council cost board "Monolith or services?" --with security
    """
    settings = load_settings(given)
    request = options.request_from({**given, "topic": given["topic"] or ("?",), "source": "", "id": ""}, settings)
    if isinstance(request, str):
        raise UsageError("a recovery costs what is left of its debate: `council status` says how far it is")
    table = lay(request, settings)
    size = request.size if given["topic"] else request.size + QUESTION
    usual = costs.likely(table.workflow, size, settings, templates=table.templates)
    most = costs.bound(table.workflow, size, settings, templates=table.templates)
    phases = [(name, dict(usual.phases)[name], top) for name, top in most.phases]
    if given["as_json"]:
        listed = [{"phase": name, "likely": as_data(low), "at_most": as_data(top)} for name, low, top in phases]
        both = {"likely": as_data(usual), "at_most": as_data(most)}
        print_json({"workflow": table.workflow.name, "members": list(table.members), **both, "phases": listed})
        return
    rows = [("phase", "calls", "tokens in / out", "likely", "calls", "at most")]
    for name, low, top in (*phases, ("all", usual, most)):
        tokens = f"{low.input:,} / {low.output:,}"
        rows.append((name, str(low.calls), tokens, dollars(low.usd), str(top.calls), dollars(top.usd, up=True)))
    print_columns(rows)
    echo()
    say(f"Likely: {dollars(usual.usd)}. Every step, in the fewest rounds, with usual replies.")
    say(f"At most: {dollars(most.usd, up=True)}. The most rounds, every reply as long as it may be, twice.")
    say("Calls that fail can be billed too: --max-cost counts them, and holds.")


def as_data(one: costs.Bound) -> dict[str, Any]:
    return {"calls": one.calls, "input": one.input, "output": one.output, "usd": one.usd}


def dollars(usd: float | None, up: bool = False) -> str:
    if usd is None:
        return "unknown"
    if up:
        return f"${math.ceil(round(usd * 100, 6)) / 100:,.2f}"
    return f"${usd:,.2f}" if usd >= 0.10 or not usd else f"${usd:.4f}"


@click.command()
@WORKFLOW
@options.words("--gate gates_", "PHASE", "Pause for a person's approval after PHASE.")
@options.OVERLAYS
def diagram(**given: Any) -> None:
    """Draw a workflow as a flowchart. WORKFLOW is a name or a file. GitHub and many editors render the Mermaid text."""
    path = places.find_workflow(given["workflow"], load_settings(given).overlays)
    echo(draw(gates.insert(loader.load(places.read(path), path.name), given["gates_"])).rstrip("\n"))


# ---- new files ----


@click.command("new-workflow")
@click.argument("name")
@options.word("--from workflow", "WORKFLOW", "Start from a copy of this workflow.")
@options.flag("--user", "Write it for all your projects instead of only this one.")
def new_workflow(name: str, workflow: str, user: bool) -> None:
    """Write a workflow to start from. It is a small one that runs, with a comment on each line.

    It goes into this project's .council folder. Existing files are never overwritten.

    \b
    Examples:
      council new-workflow weigh
      council new-workflow weigh --from delphi --user
    """
    folders = places.overlays(places.project())
    if not name or slug(name, LONGEST_NAME) != name or not name.isascii():
        raise UsageError(f'"{name}" is not a valid name: use a-z, 0-9 and hyphens, {LONGEST_NAME} at most')
    if name in places.workflows(folders):
        raise UsageError(f'a workflow "{name}" already exists; choose another name')
    if name in commands.entries() or name in places.GUIDES:
        raise UsageError(f'"{name}" is taken; choose another name')
    made = {f"Workflows/{name}.md": places.read(places.KIT / STARTER).replace(STARTER_NAME, name)}
    if workflow:
        made = copy_workflow(workflow, name, folders)
    loader.load(made[f"Workflows/{name}.md"], name)
    write_new(own_folder(user), made)
    echo(NEXT.format(council=program(), name=name))
    say(f"The language is described in {places.KIT / 'Workflows'}, by example.")


def copy_workflow(source: str, name: str, folders: tuple[Path, ...]) -> dict[str, str]:
    """A workflow and the templates that are its own, under another name."""
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
    return places.user_folder() if user else (places.project_steps() or [Path.cwd()])[-1] / places.PROJECT


def write_new(folder: Path, made: Mapping[str, str]) -> None:
    """Write files that are not there yet: all of them, or none."""
    for path in (folder / name for name in made):
        there = [one for one in (path, *path.parents) if one.is_relative_to(folder) and os.path.lexists(one)]
        if folder.name == places.PROJECT and there and (problem := places.find_fault(there[0], folder)):
            raise UsageError(f"nothing was written: {problem}")
        if path in there:
            raise UsageError(f"{tilde(path)} already exists and is never overwritten; choose another name")
    try:
        for path, text in ((folder / name, text) for name, text in made.items()):
            path.parent.mkdir(parents=True, exist_ok=True)
            with path.open("x", encoding="utf-8", newline="") as file:
                file.write(text)
            echo(f"wrote {tilde(path)}")
    except OSError as failure:
        raise StorageError(f"{tilde(path)}: {failure.strerror}; make it writable, then run this again") from None


@click.command()
@click.argument("action", default="list", type=click.Choice(["list", "draft", "use"]))
@click.argument("area", default="")
@options.word("--repo", "DIR", "draft: the repository.", type=options.FILE, default=".")
@options.word("--to", "FILE", "draft: write a new file, not to stdout.", type=options.FILE, default=None)
@options.flag("--user", "use: for all your projects instead of only this one.")
@options.OVERLAYS
def specialists(**given: Any) -> None:
    """List, draft or copy the specialists that Consensus chooses from. `list` also says where the list comes from.

    `draft` proposes a list from a repository's folders and CODEOWNERS, for you to edit. `use AREA` copies one of the
    kit's lists into this project. Existing files are never overwritten.

    \b
    Examples:
      council specialists draft --to .council/Specialists.md
      council specialists use web-service
    """
    action, areas = given["action"], lists.areas()
    if action != "use" and given["area"]:
        raise UsageError(f"{action} takes no area; `council specialists use {given['area']}` copies a list")
    if action == "draft":
        text, unused = drafting.draft(given["repo"])
        if unused:
            note(f"{unused} line{'s' * (unused != 1)} of CODEOWNERS could not be used")
        if given["to"]:
            write_new(given["to"].parent, {given["to"].name: text})
        else:
            echo(text.rstrip("\n"))
    elif action == "use":
        if given["area"] not in areas:
            raise UsageError(f'no list is called "{given["area"]}"; {did_you_mean(given["area"], areas)}')
        write_new(own_folder(given["user"]), {lists.FILE: places.read(areas[given["area"]])})
    else:
        listed = lists.load(folders=load_settings(given).overlays)
        echo(f"{tilde(listed.path)}\n")
        print_columns([("", name, str(one.get("touches", ""))) for name, one in listed.sections.items()])
        say(f"\n--feature-type: {', '.join(sorted(listed.features())) or 'none'}")
        shown = [f"{name}{'*' * (path == listed.path)}" for name, path in areas.items()]
        say(f"\nThe kit's lists: {', '.join(shown)}; `council specialists use AREA` copies one into this project.")
        if listed.path.is_relative_to(places.KIT):
            say("`council specialists draft` proposes a list for this project.")
