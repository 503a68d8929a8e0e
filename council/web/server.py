"""Listening: the socket, the address that is printed, and an end at the first Ctrl-C, whatever is still streaming."""

from __future__ import annotations

import asyncio
import os
import re
import secrets
import signal
import socket
import sys
import threading
import webbrowser
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager, suppress
from ipaddress import ip_address
from pathlib import Path
from tempfile import TemporaryDirectory

import h11
import uvicorn
from uvicorn.protocols.http.h11_impl import H11Protocol

from council.errors import UsageError
from council.web import app, guard

TOKEN = "COUNCIL_TOKEN"
SHORTEST_TOKEN = 32  # characters
SLOWEST_HEAD = 10.0  # seconds in which a request's first lines must arrive
MOST_CONNECTIONS = 256
MOST_SILENT = 64  # connections that have asked for nothing yet: of more, the oldest are closed
LOOPBACK = ("127.0.0.1", "localhost")
DISPLAYS = ("DISPLAY", "WAYLAND_DISPLAY", "WSL_DISTRO_NAME", "BROWSER")
SIGNALS = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)


def listen(address: str, port: int) -> socket.socket:
    """The socket that the server accepts connections on."""
    try:
        family = socket.AF_INET6 if ip_address(address).version == 6 else socket.AF_INET
    except ValueError:
        raise UsageError(f"--bind {address}: write an IP address, such as 127.0.0.1 or 192.168.1.5") from None
    listener = socket.socket(family)
    try:
        listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        listener.bind((address, port))
    except OSError as failure:
        listener.close()
        raise UsageError(f"cannot listen on {address}, port {port}: {os.strerror(failure.errno or 0)}") from None
    return listener


def serve(listener: socket.socket, names: tuple[str, ...], address: str, read_only: bool, opens: bool | None) -> int:
    """Serve until a signal ends it; the exit code."""
    access = grant(listener.getsockname()[1], names, address, read_only)
    made, hub = app.build(access)
    config = uvicorn.Config(
        made, http=_Protocol, ws="none", lifespan="off", interface="asgi3", loop="asyncio", log_config=None,
        log_level="critical", access_log=False, proxy_headers=False, server_header=False, date_header=False,
        h11_max_incomplete_event_size=guard.LARGEST_HEAD, limit_concurrency=MOST_CONNECTIONS,
        timeout_graceful_shutdown=1,
    )  # fmt: skip
    host = next(iter(guard.name_hosts(names[:1], access.port)), f"{bracket(address)}:{access.port}")
    scheme = "https" if names and names[0].endswith(":443") else "http"
    page = f"{scheme}://{host}/#token={access.token}"  # what is behind the # is sent to no server
    server = _Server(config, hub.close)
    listener.listen(128)
    print(page, flush=True)
    with ExitStack() as ends:
        if opens if opens is not None else sys.stdout.isatty() and has_display():
            with suppress(OSError, RuntimeError):  # there is no home to write in; the address is printed
                ends.enter_context(open_browser(page))
        # The loop is not closed: that would wait for threads, and an answer that one still waits for is on disk.
        asyncio.Runner().run(server.serve([listener]))
    return 128 + server.ended_by if server.ended_by else 0


@contextmanager
def open_browser(page: str) -> Iterator[None]:
    """Start the browser with a file that leads to the page: other users of the machine can read what a program is
    started with, but not this file. It is in the home, in a folder that is not hidden, because a browser that is
    confined (a snap) can read no other.
    """
    with TemporaryDirectory(prefix="council-serve-", dir=Path.home()) as folder:
        file = Path(folder, "open.html")
        file.write_text(
            f'<!DOCTYPE html><meta http-equiv="refresh" content="0; url={page}"><a href="{page}">council</a>'
        )
        threading.Thread(target=webbrowser.open, args=(file.as_uri(),), daemon=True).start()  # it may wait for it
        yield


def has_display() -> bool:
    """Whether a browser can have a window. On Linux it might otherwise be one in this terminal."""
    return sys.platform != "linux" or any(map(os.environ.get, DISPLAYS))


def grant(port: int, names: tuple[str, ...], address: str, read_only: bool) -> guard.Access:
    """What the server answers to. Beyond this machine, the names are the user's to say."""
    where = ip_address(address)
    if not (where.is_loopback or names):
        raise UsageError(f"--bind {address} lets other machines in: add --allow-host with the name that they use")
    own = (bracket(address), *(LOOPBACK if where.is_loopback or where.is_unspecified else ()))
    try:
        hosts = guard.name_hosts((*names, *own), port)
    except ValueError as name:
        raise UsageError(f"--allow-host {name}: write a name, or name:port, without a scheme or a path") from None
    fixed = os.environ.pop(TOKEN, "")  # no process that is started from here inherits it
    if fixed and (len(fixed) < SHORTEST_TOKEN or not re.fullmatch(r"[A-Za-z0-9_-]+", fixed)):
        raise UsageError(f"{TOKEN} must have at least {SHORTEST_TOKEN} letters, digits, hyphens or underscores")
    return guard.Access(port, hosts, secrets.token_urlsafe(32), fixed, read_only)


def bracket(address: str) -> str:
    return f"[{address}]" if ":" in address else address


class _Server(uvicorn.Server):
    """Ends at the first signal. Streams would otherwise keep it alive for as long as a page is open."""

    def __init__(self, config: uvicorn.Config, close: Callable[[], None]) -> None:
        super().__init__(config)
        self.close, self.ended_by = close, 0

    @contextmanager
    def capture_signals(self) -> Iterator[None]:
        loop = asyncio.get_running_loop()
        for number in SIGNALS:
            loop.add_signal_handler(number, self._stop, number)
        yield

    def _stop(self, number: int) -> None:
        self.ended_by, self.should_exit, self.force_exit = number, True, True
        self.close()


class _Protocol(H11Protocol):
    """HTTP/1.1 that does not wait for ever for the first lines of a request, nor lets those who send none lock others
    out."""

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        super().connection_made(transport)
        self._known, self.began = self.cycle, self.loop.time()
        self._timer = self.loop.call_later(SLOWEST_HEAD, self._end_if_silent)
        known = (one for one in self.connections if isinstance(one, _Protocol))
        silent = [one for one in known if one.cycle is None and not one.transport.is_closing()]
        if len(silent) > MOST_SILENT:
            min(silent, key=lambda one: one.began).transport.abort()

    def connection_lost(self, exc: Exception | None) -> None:
        self._timer.cancel()
        super().connection_lost(exc)

    def _end_if_silent(self) -> None:
        """Between two looks, a new request must have begun, or the last one must still be running."""
        if self.conn.their_state is h11.IDLE and self.cycle is self._known:
            self.transport.abort()
            return
        self._known = self.cycle
        self._timer = self.loop.call_later(SLOWEST_HEAD, self._end_if_silent)
