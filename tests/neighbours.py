"""Others who share the machine with `council serve`: a server on another port, and a proxy that another user runs."""

from __future__ import annotations

import os
import subprocess
import sys
import threading
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

from tests.helpers import User
from tests.webserver import WebServer

NOBODY = 65534
ODD_COOKIES = ('theme={"dark": true, "list": [1, 2]}', "two words=a b", "name=é", "plain")
LONG_COOKIES = tuple(f"session.{part}={'x' * 4000}" for part in range(5))
# Run as root, it becomes another user; else it is the same user's, and still another process. A browser or a program
# sees one proxy; the server sees each request with the names that it was sent to, and a connection of its own.
PROXY = """
import asyncio, concurrent.futures.thread, os, sys

async def pipe(source, target):
    while part := await source.read(65536):
        target.write(part)
        await target.drain()
    target.close()

async def handle(reader, writer):
    try:
        first, *lines = (await reader.readuntil(b"\\r\\n\\r\\n")).split(b"\\r\\n")[:-2]
        kept = [line for line in lines if not line.lower().startswith(b"connection:")]
        await known.wait()  # a request may come before the port does
        there, on = await asyncio.open_connection("127.0.0.1", server)
        added = [b"X-Forwarded-For: 192.0.2.7", b"Via: 1.1 tests", b"Connection: close"]
        on.write(b"\\r\\n".join([first, *kept, *added, b"", b""]))
        await asyncio.gather(pipe(reader, on), pipe(there, writer))
    except (OSError, asyncio.IncompleteReadError):
        writer.close()

async def main():
    global server, known
    known = asyncio.Event()
    listening = await asyncio.start_server(handle, "127.0.0.1", 0)
    if os.getuid() == 0:
        os.setgroups([])
        os.setgid(65534)
        os.setuid(65534)
    print(listening.sockets[0].getsockname()[1], flush=True)
    server = int(await asyncio.to_thread(sys.stdin.readline))
    known.set()
    await listening.serve_forever()

asyncio.run(main())
"""


@dataclass
class Proxy:
    """A reverse proxy, which passes everything on as it comes."""

    process: subprocess.Popen[str]
    port: int

    def lead_to(self, port: int) -> None:
        assert self.process.stdin
        print(port, file=self.process.stdin, flush=True)


@contextmanager
def run_proxy() -> Iterator[Proxy]:
    words = [sys.executable, "-I", "-c", PROXY]
    with subprocess.Popen(words, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as process:
        try:
            assert process.stdout
            proxy = Proxy(process, int(process.stdout.readline()))
            if os.geteuid() == 0 and sys.platform == "linux":
                assert Path(f"/proc/{process.pid}").stat().st_uid == NOBODY
            yield proxy
        finally:
            process.kill()


@contextmanager
def serve_behind(user: User, proxy: Proxy, *words: str) -> Iterator[WebServer]:
    """A server that answers to its own name, which it prints, and to the proxy's."""
    with WebServer(user, "--allow-host", "127.0.0.1", "--allow-host", f"127.0.0.1:{proxy.port}", *words) as server:
        proxy.lead_to(server.port)
        yield server


@dataclass
class Neighbour:
    """A server on another port. `heard` has the head of each request: all that a browser sends by itself."""

    port: int
    heard: list[str] = field(default_factory=list)


@contextmanager
def run_neighbour(cookies: Iterable[str]) -> Iterator[Neighbour]:
    """Its answers set cookies, which a browser sends to every port of the host."""

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            neighbour.heard.append(f"{self.requestline}\r\n{self.headers}")
            self.send_response(200)
            self.send_header("Content-Type", "text/html")
            for cookie in cookies:
                self.send_header("Set-Cookie", cookie.encode().decode("latin-1"))
            self.end_headers()
            self.wfile.write(b"<!DOCTYPE html><title>another server</title>")

        def log_message(self, format: str, *args: object) -> None:  # noqa: A002 (its base calls it so)
            pass

    with ThreadingHTTPServer(("127.0.0.1", 0), Handler) as server:
        neighbour = Neighbour(server.server_address[1])
        thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01})
        thread.start()
        try:
            yield neighbour
        finally:
            server.shutdown()
            thread.join()
