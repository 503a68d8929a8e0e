"""`council apply`: put the winner of a code session on a new branch, and remove that branch again."""

from __future__ import annotations

import shlex
from pathlib import Path
from typing import TYPE_CHECKING

import click

from council.cli.command import command
from council.cli.context import State
from council.cli.options import FILE, JSON, SESSION
from council.errors import UsageError
from council.terminal.output import advise, echo, print_json

if TYPE_CHECKING:
    from council.lab.proposal import Proposal
    from council.lab.repository import Repository

RED = "--although-tests-fail"
REPO = click.option(
    "--repo", type=FILE, default=".", metavar="DIR", help="The repository (default: the one of this folder)."
)


@command()
@SESSION
@click.option("--yes", is_flag=True, help="Create the branch without asking.")
@click.option("--undo", is_flag=True, help="Remove the branch again, if it is still as apply made it.")
@REPO
@click.option(RED, "red", is_flag=True, help="Also a winner whose tests fail, or were not run.")
@JSON
@click.pass_obj
def apply(state: State, session: str, yes: bool, undo: bool, repo: Path, red: bool, as_json: bool) -> None:
    """Put the winner of SESSION (default: the newest) on the new branch council/SESSION, after your yes.

    Nothing of the repository is run, and your branches, index, stash and files stay as they are.
    """
    from council.lab import branch
    from council.lab.proposal import propose
    from council.record import tracked

    found = state.open(session)
    tracked.refuse(found.folder)  # a stranger may have written it
    found.read_turns()
    proposal = propose(found)
    state.next_step = f"council show {found.id}"
    repository = find_repository(proposal, repo)
    if undo:
        if repository.find(proposal.ref):  # else there is nothing to compare it with
            branch.remove(repository, proposal.ref, proposal.make(repository), proposal.when)
        else:
            branch.remove(repository, proposal.ref, "", proposal.when)
        _tell(as_json, {**proposal.facts(), "state": "removed"}, f"removed the branch {branch.shorten(proposal.ref)}")
        return
    put_on_branch(proposal, repository, yes, red, as_json)


def put_on_branch(proposal: Proposal, repository: Repository, yes: bool, red: bool, as_json: bool) -> None:
    """Say what will be done, and do it after a yes. Where there is such a branch already, nothing will be done."""
    from council.lab import branch

    there = repository.find(proposal.ref)
    if not (as_json or there):
        echo("\n".join(describe(proposal, repository)))
    check(proposal, red)
    if not (there or yes or _confirm(proposal, as_json)):
        raise UsageError("you said no; nothing was changed")
    tip = proposal.make(repository)
    new = branch.create(repository, proposal.ref, tip, proposal.when)
    facts = {**proposal.facts(), "state": "created" if new else "unchanged", "commit": tip}
    _tell(as_json, facts, "\n".join(describe_next(proposal, repository, tip, new)))


def find_repository(proposal: Proposal, place: Path) -> Repository:
    """The repository that the session is about: the one where the user is, or that the user names. The session does not
    decide it, because a stranger may have made the session."""
    from council.lab.proposal import REPOSITORY
    from council.lab.repository import open_repository

    proposal.check()
    began = proposal.project.facts.get(REPOSITORY)
    advice = f"the session began in {began}; name it with --repo, or go there"
    try:
        repository = open_repository(place)
    except UsageError as wrong:
        raise UsageError(f"{wrong} ({advice})" if began else str(wrong)) from None
    if not repository.find(f"{proposal.commit}^{{commit}}"):
        if str(repository.top) == began:
            advice = (
                f"its history was rewritten; take the changes over: git apply {shlex.quote(str(proposal.result_patch))}"
            )
        raise UsageError(f"{repository.top} has no commit {proposal.commit[:12]}: {advice}")
    return repository


def check(proposal: Proposal, red: bool) -> None:
    """Refuse what is not known to be green, unless the user insists."""
    doubts = proposal.winner.doubts
    if doubts and not red:
        raise UsageError(f"the winner is not green ({'; '.join(doubts)}); {RED} applies it nevertheless")


def describe(proposal: Proposal, repository: Repository) -> list[str]:
    """What apply will do, before it does it."""
    from council.lab import branch
    from council.record.files import tilde

    won, commits = proposal.winner.version, 1 + bool(proposal.project.facts.get("worktree"))
    made = f"{commits} commit{'s' if commits > 1 else ''} on {proposal.commit[:12]}"
    lines = [f"{branch.shorten(proposal.ref)}, a new branch of {repository.top}: {made}", ""]
    width = max(len(one.path) for one in proposal.changes)
    for one in proposal.changes:
        counts = "binary" if one.binary else f"+{one.added} -{one.removed}"
        kind = " (new)" if one.before is None else " (deleted)" if one.after is None else ""
        lines.append(f"  {one.path:<{width}}  {counts}{kind}")
    lines += ["", f"  {won.candidate}, version {won.number}: {proposal.winner.why}"]
    lines += [f"  {line}" for line in proposal.list_trials()]
    lines += [f"  Approval: {proposal.describe_approval()}", f"  Tree: {proposal.tree}"]
    lines += [f"  Patch: {tilde(proposal.result_patch)}", ""]
    if proposal.later:
        lines += ["  READ THESE FIRST: programs outside of the sandbox run or obey them"]
        lines += [*(f"  {path}: {why}" for path, why in proposal.later.items()), ""]
    return lines


def describe_next(proposal: Proposal, repository: Repository, tip: str, new: bool) -> list[str]:
    from council.lab import branch

    name, elsewhere = branch.shorten(proposal.ref), name_repository(repository)
    return [
        f"created the branch {name} ({tip[:12]}); nothing else was changed"
        if new
        else f"the branch {name} ({tip[:12]}) is there already; nothing was changed",
        f"look at it: git diff {proposal.commit[:12]} {name}",
        f"use it: git merge {name}",
        f"remove it: council apply --undo {proposal.session.id}{elsewhere}",
    ]


def name_repository(repository: Repository) -> str:
    """The option that leads a later command to the repository, if it is not the one around the current folder."""
    from council import git

    return "" if git.repository(Path.cwd()) == repository.top else f" --repo {shlex.quote(str(repository.top))}"


def _confirm(proposal: Proposal, as_json: bool) -> bool:
    from council.lab import branch
    from council.speakers.human import at_a_terminal

    if as_json or not at_a_terminal():
        raise UsageError("nothing was changed: this needs a yes. Pass --yes, or call it on a terminal")
    try:
        return click.confirm(f"Create the branch {branch.shorten(proposal.ref)}?", default=False, err=True)
    except click.Abort:
        click.echo(err=True)
        return False


def _tell(as_json: bool, facts: dict[str, object], text: str) -> None:
    if as_json:
        print_json(facts)
    else:
        advise(text)
