"""`index`: brings the index up to date, makes it again, or says where it is."""

from __future__ import annotations

import click

from council.cli.command import command
from council.index.options import open_for_user, show_remarks, update
from council.terminal.output import echo


@command("index")
@click.option("--rebuild", is_flag=True, help="Begin with an empty index.")
@click.option("--path", "only_path", is_flag=True, help="Print the path of the index, once it is up to date.")
def index_(rebuild: bool, only_path: bool) -> None:
    """Bring the index of your sessions up to date, as every search does.

    It is a SQLite file in your cache, which may be deleted at any time. Other tools may read it.
    """
    from council.config import places, settings

    with open_for_user(places.list_roots(settings.load())) as index:
        if rebuild:
            index.store.renew()
        update(index)
        show_remarks(index)
        ((sessions, turns),) = index.store.rows("SELECT (SELECT count(*) FROM session), (SELECT count(*) FROM turn)")
        if only_path and index.path:
            echo(str(index.path))
        elif not only_path:
            size = f", {index.path.stat().st_size / 1e6:,.1f} MB in {index.path}" if index.path else ""
            echo(f"{sessions:,} sessions with {turns:,} turns{size}")
