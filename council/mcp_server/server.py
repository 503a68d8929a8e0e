"""`council mcp`: one JSON-RPC message per line on standard input and output.

What takes no time is answered at once. The rest is answered in threads, in which requests wait side by side, for a
session or a person, and work one at a time. So a `ping` is always answered, and a request that waits can be cancelled.
"""

from __future__ import annotations

import json
import os
import sys
import threading
from collections.abc import Iterable, Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager, redirect_stdout, suppress
from pathlib import Path
from typing import IO, Any

from council.mcp_server import methods, protocol
from council.mcp_server.calls import Cancelled, ClientCall, InputRequired, Message
from council.mcp_server.protocol import BUG, LARGEST_MESSAGE, NO_REQUEST, Client, Refused

THREADS = 32  # requests that can wait at the same time


class Server:
    """The requests of one client. `calls` are those that threads answer."""

    def __init__(self, answers: IO[bytes]) -> None:
        self.answers = answers
        self.client = Client()
        self.calls: dict[str | int, ClientCall] = {}
        self.writing, self.working, self.closed = threading.Lock(), threading.Lock(), threading.Event()

    def serve(self, asked: Iterable[bytes]) -> None:
        """Answer every line. What waits for an answer of the client ends with the last one."""
        with ThreadPoolExecutor(THREADS) as threads:
            try:
                for line in asked:
                    self.take(line, threads)
            finally:
                self.closed.set()
                for call in list(self.calls.values()):
                    if call.question is not None:
                        call.question.ended.set()

    def take(self, line: bytes, threads: ThreadPoolExecutor) -> None:
        id: str | int | None = None
        try:
            message = protocol.read_message(line)
            if "method" not in message and ("result" in message or "error" in message):
                self.end_question(message)
            elif "id" not in message and isinstance(message.get("method"), str):
                self.read_notification(message)
            else:
                id = protocol.read_id(message)
                self.begin(id, *protocol.read_call(message), threads)
        except Refused as refused:
            self.send(protocol.format_error(id, refused))

    def begin(self, id: str | int, method: str, params: dict[str, Any], threads: ThreadPoolExecutor) -> None:
        """Answer a request, or have a thread answer it."""
        client = protocol.read_envelope(params)
        if client is None and method == "initialize":
            self.client = protocol.shake_hands(params)
        client = client or self.client
        slow = methods.is_slow(method, client)
        if id in self.calls:
            raise Refused(NO_REQUEST, "a request with this id is still being answered")
        call = ClientCall(id, method, params, client, self.send, self.working, self.closed)
        if slow:
            self.calls[id] = call
            threads.submit(self.work, call)
        else:
            self.reply(call)

    def work(self, call: ClientCall) -> None:
        with self.working:
            self.reply(call)

    def reply(self, call: ClientCall) -> None:
        """Answer a request, unless it was cancelled. A bug in one must not end the others."""
        message: Message | None = None
        try:
            call.check()
            message = {"jsonrpc": "2.0", "id": call.id, "result": methods.answer(call)}
        except Cancelled:
            pass
        except InputRequired as asked:
            result = {"resultType": "input_required", "inputRequests": asked.requests}
            message = {"jsonrpc": "2.0", "id": call.id, "result": protocol.finish(call.method, result, call.client)}
        except Refused as refused:
            message = protocol.format_error(call.id, refused)
        except Exception as bug:  # noqa: BLE001 (see above)
            why = f"{type(bug).__name__}: {bug}"
            print(f"council mcp: a bug: {why!a}", file=sys.stderr, flush=True)
            message = protocol.format_error(call.id, Refused(BUG, why))
        self.calls.pop(call.id, None)
        if message is not None and not call.cancelled.is_set():
            self.send(message)

    def read_notification(self, message: Mapping[str, Any]) -> None:
        params = message.get("params")
        if message["method"] == "notifications/cancelled" and isinstance(params, dict):
            id = params.get("requestId")
            call = self.calls.get(id) if isinstance(id, str | int) and not isinstance(id, bool) else None
            if call is not None:
                call.cancel()

    def end_question(self, message: Mapping[str, Any]) -> None:
        """The client's answer to a request of ours; others are ignored."""
        for call in list(self.calls.values()):
            if (question := call.question) is not None and question.id == message.get("id"):
                question.response = message
                question.ended.set()

    def send(self, message: Message) -> None:
        line = json.dumps(message, separators=(",", ":")).encode() + b"\n"
        with self.writing:
            self.answers.write(line)
            self.answers.flush()


def serve() -> None:
    """Answer until the client closes our standard input."""
    with suppress(BrokenPipeError), pipes() as (asked, answers):  # the client is gone
        Server(answers).serve(lines(asked))


def lines(asked: IO[bytes]) -> Iterator[bytes]:
    """Read line by line; of an overlong line, keep only enough to reject it."""
    while line := asked.readline(LARGEST_MESSAGE + 1):
        rest = line
        while len(rest) > LARGEST_MESSAGE and not rest.endswith(b"\n"):
            rest = asked.readline(LARGEST_MESSAGE + 1)
        if line.strip():
            yield line


@contextmanager
def pipes() -> Iterator[tuple[IO[bytes], IO[bytes]]]:
    """Reserve the client's two pipes for the protocol; anything else that is printed goes to standard error."""
    with os.fdopen(os.dup(0), "rb") as asked, os.fdopen(os.dup(1), "wb") as answers, Path(os.devnull).open() as nothing:
        os.dup2(nothing.fileno(), 0)
        os.dup2(2, 1)
        with redirect_stdout(sys.stderr):
            yield asked, answers
