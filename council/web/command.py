"""`serve`: the page of this machine's debates."""

from __future__ import annotations

from importlib.util import find_spec

import click

from council.cli.command import command
from council.errors import UsageError

NEEDED = ("starlette", "uvicorn")


@command()
@click.option(
    "--port", type=click.IntRange(0, 65535), default=0, metavar="N", help="Listen on this port (default: a free one)."
)
@click.option(
    "--open/--no-open",
    "opens",
    default=None,
    help="Open the page in your browser (default: on a terminal with a display).",
)
@click.option("--read-only", is_flag=True, help="Show debates, and refuse to begin, answer or stop any.")
@click.option(
    "--allow-host", "names", multiple=True, metavar="NAME[:PORT]", help="Answer to this name too, as behind a tunnel."
)
@click.option(
    "--bind", "address", default="127.0.0.1", show_default=True, metavar="ADDRESS",
    help="Listen on this address, for other machines; needs --allow-host.",
)  # fmt: skip
def serve(port: int, opens: bool | None, read_only: bool, names: tuple[str, ...], address: str) -> int:
    """Serve a page that lists debates, shows them while they run, and takes people's answers.

    It prints one address with a token, and shows nothing of them to anybody without it. Only this machine can reach it,
    unless --bind says otherwise. It keeps no state: stop it with Ctrl-C at any time, and debates go on.
    """
    if missing := [name for name in NEEDED if find_spec(name) is None]:
        raise UsageError(
            f"`council serve` needs {' and '.join(missing)}: install the extra `web`, as in "
            'pip install ".[web]" in a checkout of council'
        )
    from council.web import server

    with server.listen(address, port) as listener:
        return server.serve(listener, names, address, read_only, opens)
