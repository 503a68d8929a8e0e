"""Shell completion of sessions, turns, workflows, members, speakers and tiers. Unreadable ones are left out."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from contextlib import suppress
from functools import wraps
from typing import TYPE_CHECKING

import click
from click.shell_completion import CompletionItem

from council.errors import CouncilError

if TYPE_CHECKING:
    from council.record.session import Session

Complete = Callable[[click.Context, click.Parameter, str], list[CompletionItem]]
Offered = Iterable[str] | Mapping[str, str]
NEWEST = 30


def completes(find: Callable[[click.Context], Offered]) -> Complete:
    """Offer what `find` returns if it starts with the typed text. In a comma-separated list, complete the last word."""

    @wraps(find)
    def complete(context: click.Context, _: click.Parameter, typed: str) -> list[CompletionItem]:
        found: Offered = ()
        with suppress(CouncilError, OSError):
            found = find(context)
        helps = found if isinstance(found, Mapping) else dict.fromkeys(found, "")
        before, comma, word = typed.rpartition(",")
        return [CompletionItem(f"{before}{comma}{name}", help=helps[name]) for name in helps if name.startswith(word)]

    return complete


@completes
def commands(_: click.Context) -> Offered:
    from council.cli.commands import summaries

    return {name: summary for _, rows in summaries() for name, summary in rows.items()}


@completes
def sessions(_: click.Context) -> Offered:
    """The newest, by their whole ids."""
    from council.config import settings
    from council.record import catalog, metadata
    from council.text import one_line

    root = settings.load().sessions
    found = {"last": "the newest session"}
    for id in catalog.all_ids(root)[:NEWEST]:
        with suppress(CouncilError, OSError):
            found[id] = one_line(metadata.read_metadata(root / id)["topic"], 60)
    return found


def _open(context: click.Context) -> Session:
    """The session that was given before."""
    from council.config import places, settings
    from council.record import session

    opened = session.open_(places.find(settings.load(), context.params["session"]))
    opened.read_turns()
    return opened


@completes
def turns(context: click.Context) -> Offered:
    """The ready turns of the session that was given before."""
    return [due.id for due in _open(context).plan().due]


@completes
def parts(context: click.Context) -> Offered:
    """The recorded turns of the session that was given before, and its synthesis."""
    return [*sorted(_open(context).said), "synthesis"]


@completes
def workflows(_: click.Context) -> Offered:
    from council.config import overlays

    return sorted(overlays.workflows())


@completes
def members(_: click.Context) -> Offered:
    from council.config import personas

    return {name: str(persona.get("title") or "") for name, persona in personas.load().items()}


@completes
def speaker_names(_: click.Context) -> Offered:
    from council import speakers

    return [speakers.AUTO, *speakers.for_members()]


@completes
def tiers(_: click.Context) -> Offered:
    """`haiku=` followed by each tier and each model that has a price."""
    from council.config import settings

    config = settings.load()
    return [f"{tier}={target}" for tier in config.tiers for target in (*config.tiers, *config.prices) if target != tier]


@completes
def feature_types(context: click.Context) -> Offered:
    """The feature types of the workflow that was given before."""
    from council.cli import options
    from council.runner.seating import find_workflow

    name = context.params.get("workflow") or context.info_name or ""
    return sorted(options.feature_types(find_workflow(name).workflow))
