"""A webhook on this machine, for tests of notifications."""

from __future__ import annotations

import json
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

from tests.helpers import PATIENCE


class Hook:
    """A webhook on this machine: what it was sent, and what it answers."""

    def __init__(self) -> None:
        self.got: list[dict[str, str]] = []
        self.paths: list[str] = []
        self.code, self.location = 204, ""
        self.arrived = threading.Semaphore(0)
        hook = self

        class Handler(BaseHTTPRequestHandler):
            def do_POST(self) -> None:
                hook.paths.append(self.path)
                hook.got.append(json.loads(self.rfile.read(int(self.headers["Content-Length"]))))
                self.send_response(hook.code)
                if hook.location:
                    self.send_header("Location", hook.location)
                self.end_headers()
                hook.arrived.release()

            def log_message(self, *_: object) -> None: ...

        self.server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.url = f"http://127.0.0.1:{self.server.server_port}/hook"

    def wait(self, number: int) -> list[dict[str, str]]:
        for _ in range(number):
            assert self.arrived.acquire(timeout=PATIENCE)
        return self.got
