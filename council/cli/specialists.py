"""`specialists`: shows the list of specialists in force, drafts one from a repository, or copies one of the kit's."""

from __future__ import annotations

import os
from pathlib import Path

import click

from council.cli.command import command
from council.cli.options import OVERLAYS
from council.cli.workflows import own_folder, shorten_path
from council.config import overlays
from council.errors import UsageError
from council.terminal.output import advise, echo
from council.text import did_you_mean, harmless, one_line

LIST, DRAFT, USE = ACTIONS = ("list", "draft", "use")
NEXT = "edit it, then: council specialists"


@command()
@click.argument("action", type=click.Choice(ACTIONS), default=LIST, metavar="ACTION")
@click.argument("kit", required=False)
@click.option("--repo", type=click.Path(path_type=Path), metavar="DIR", help="draft: the repository (default: here).")
@click.option("--to", type=click.Path(path_type=Path), metavar="FILE", help="draft: write a new file, not to stdout.")
@click.option("--user", is_flag=True, help="use: for all your projects instead of only this one.")
@OVERLAYS
def specialists(action: str, kit: str | None, repo: Path | None, to: Path | None, user: bool) -> None:
    """Show the specialists whom Consensus chooses from, and the file that they come from (ACTION `list`, the default).

    `draft` proposes a list from a repository's folders and CODEOWNERS, for you to edit. `use KIT` copies one of the
    kit's lists into this project. Existing files are never overwritten.
    """
    for name, given, goes_with in (("--repo", repo, DRAFT), ("--to", to, DRAFT), ("--user", user, USE)):
        if given and action != goes_with:
            raise UsageError(f"{name} goes with `council specialists {goes_with}`")
    if kit and action == DRAFT:
        raise UsageError(f"draft takes no list; for the folder {kit}: council specialists draft --repo {kit}")
    if action == DRAFT:
        write_draft(repo or Path.cwd(), to)
    elif action == USE:
        use_kit(kit, user)
    else:
        show(kit)


def show(name: str | None) -> None:
    """The list in force, or one of the kit's."""
    from council.config import specialists as lists
    from council.config.personas import load as load_personas

    found = lists.load(name) if name else lists.load()
    known = found.personas(load_personas())
    echo(f"{shorten_path(found.path)}\n")
    width = max(map(len, found.sections))
    for seat in found.sections:
        about = known[seat].get("touches") or known[seat].get("focus") or ""
        echo(f"  {seat:<{width}}  {one_line(harmless(str(about)), 100)}")
    if features := found.features():
        echo(f"\n--feature-type: {', '.join(sorted(features))}")
    others = [f"{kit}{'*' * (path == found.path)}" for kit, path in lists.kits().items()]
    advise(f"\nThe kit's lists: {', '.join(others)}; `council specialists use KIT` copies one into this project.")
    if unused := overlays.unused_project():
        echo(f"Not used: {unused}")


def use_kit(name: str | None, user: bool) -> None:
    from council.config import specialists as lists

    kits = lists.kits()
    if name not in kits:
        raise UsageError(f"use: name one of the kit's lists; {did_you_mean(name or '', kits)}")
    folder = overlays.user_folder() if user else own_folder()
    _write_new(overlays.check_inside(folder / lists.FILE, folder), overlays.read(kits[name]))


def write_draft(repository: Path, to: Path | None) -> None:
    from council.config.drafting import draft

    text, unused = draft(repository)
    if to is None:
        echo(text.rstrip("\n"))
    else:
        _write_new(to, text)
    if unused:
        click.echo(f"{unused} line{'s' * (unused > 1)} of CODEOWNERS could not be used", err=True)


def _write_new(path: Path, text: str) -> None:
    if os.path.lexists(path):
        raise UsageError(f"{shorten_path(path)} already exists and is never overwritten; remove it, or edit it")
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        with path.open("x", encoding="utf-8", newline="") as file:
            file.write(text)
    except OSError as wrong:
        raise UsageError(f"{path}: cannot be written: {wrong.strerror}") from None
    echo(f"wrote {shorten_path(path)}; {NEXT}")
