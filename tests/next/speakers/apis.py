"""APIs on real loopback sockets: each test says, piece by piece, what the server sends.

A server lives in the loop of the test. It knows both dialects, records every request, and waits for events only.
"""

from __future__ import annotations

import asyncio
import json
import socket
import ssl
import struct
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass, replace
from types import TracebackType
from typing import Any, cast

from council.next.config.models import Endpoint, Model, Price
from council.next.config.settings import Settings, load
from council.next.engine.planner import Due
from council.next.prompts.brief import Brief
from council.next.record.session import Session
from council.next.speakers.api import Api
from council.next.speakers.base import Spoken
from tests.next.debates import workflow_of

KEY = "sk-test-0123456789abcdef"
PRICE = Price(input=2.0, output=10.0, cache_read=0.1, cache_write=2.5)
USAGE = {"input": 1000, "output": 50, "cache_read": 300, "cache_write": 200}
COST = (1000 * 2 + 50 * 10 + 300 * 0.1 + 200 * 2.5) / 1e6
WORKFLOW = workflow_of([{"name": "positions", "prompt": "position", "reply": {"recommendation": "text"}}])


def fixed(one: Model, endpoints: Mapping[str, Endpoint] | None = None, **changed: Any) -> Settings:
    """The kit's settings, but with one model in every tier, and calls that may take two minutes."""
    kit = load()
    tier = {"model": one.full_name, "max_tokens": one.max_tokens, "effort": one.effort}
    return replace(
        kit,
        values={**kit.values, "tiers": dict.fromkeys(("sonnet", "haiku"), tier)},
        sources={**kit.sources, "tiers > sonnet > effort": "the test"},
        endpoints={one.endpoint.name: one.endpoint, **(endpoints or {})},
        prices={one.full_name: one.price} if one.price else {},
        **{"stall": 120.0, "deadline": 120.0, **changed},
    )


@dataclass(frozen=True)
class Request:
    path: str
    headers: dict[str, str]
    body: Any


@dataclass
class Talk:
    """One request, and what the server sends in answer to it. The stream is chunked, one event a chunk."""

    dialect: str
    request: Request
    reader: asyncio.StreamReader
    writer: asyncio.StreamWriter
    over: asyncio.Event

    def raw(self, data: bytes) -> None:
        self.writer.write(data)

    def head(self, status: int = 200, kind: str = "text/event-stream", **headers: str) -> None:
        more = "".join(f"{name.replace('_', '-')}: {value}\r\n" for name, value in headers.items())
        self.raw(f"HTTP/1.1 {status} Scripted\r\ncontent-type: {kind}\r\n{more}".encode())
        self.raw(b"" if "content_length" in headers else b"transfer-encoding: chunked\r\n")
        self.raw(b"\r\n")

    def reply(self, status: int, body: object, kind: str = "application/json", **headers: str) -> None:
        """A whole response that is no stream."""
        data = body if isinstance(body, bytes) else json.dumps(body).encode()
        self.head(status, kind, content_length=str(len(data)), **headers)
        self.raw(data)

    def chunk(self, data: bytes) -> None:
        self.raw(b"%x\r\n%s\r\n" % (len(data), data))

    def event(self, data: object) -> None:
        kind = data.get("type") if isinstance(data, dict) else None
        self.chunk((f"event: {kind}\n" if kind else "").encode() + b"data: " + json.dumps(data).encode() + b"\n\n")

    def begin(self, model: Any = "m-20260901", usage: Any = None, id: Any = "id_1") -> None:
        """The headers, and the first event of an answer."""
        self.head()
        if self.dialect == "messages":
            self.event(
                {"type": "message_start", "message": {"id": id, "model": model, "usage": usage or counted(USAGE)}}
            )
        else:
            self.event({"id": id, "model": model, "choices": [{"index": 0, "delta": {"role": "assistant"}}]})

    def text(self, *pieces: Any) -> None:
        for piece in pieces:
            if self.dialect == "messages":
                delta = {"type": "text_delta", "text": piece}
                self.event({"type": "content_block_delta", "index": 0, "delta": delta})
            else:
                self.event({"choices": [{"index": 0, "delta": {"content": piece}}]})

    def stop(self, reason: Any = "end_turn", usage: Any = None) -> None:
        """The reason to stop, and the usage. `reason` is in the words of the messages dialect."""
        if self.dialect == "messages":
            told = {"output_tokens": USAGE["output"]} if usage is None else usage
            delta = {"stop_reason": reason, "stop_sequence": None}
            self.event({"type": "message_delta", "delta": delta, "usage": told})
            return
        words = {"end_turn": "stop", "max_tokens": "length", "refusal": "content_filter"}
        finish = words.get(reason, reason) if isinstance(reason, str) else reason
        self.event({"choices": [{"index": 0, "delta": {}, "finish_reason": finish}]})
        if usage != {}:
            self.event({"choices": [], "usage": in_chat(USAGE) if usage is None else usage})

    def end(self) -> None:
        if self.dialect == "messages":
            self.event({"type": "message_stop"})
        else:
            self.chunk(b"data: [DONE]\n\n")
        self.chunk(b"")

    def answer(self, *pieces: str, reason: Any = "end_turn") -> None:
        self.begin()
        self.text(*(pieces or ("Yes, ", "and no.\n")))
        self.stop(reason)
        self.end()

    def error(self, kind: str, message: str = "what the API said") -> dict[str, Any]:
        error = {"type": kind, "message": message}
        return {"type": "error", "error": error} if self.dialect == "messages" else {"error": error}

    def reset(self) -> None:
        """Drop the connection the rude way: the client sees a reset, not an end."""
        own = self.writer.get_extra_info("socket")
        own.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
        self.writer.transport.abort()

    async def silence(self) -> None:
        """Nothing more, until the test is over."""
        await self.writer.drain()
        await self.over.wait()


def counted(usage: Mapping[str, Any]) -> dict[str, Any]:
    return {
        "input_tokens": usage["input"],
        "cache_read_input_tokens": usage["cache_read"],
        "cache_creation_input_tokens": usage["cache_write"],
        "output_tokens": 1,
    }


def in_chat(usage: Mapping[str, Any]) -> dict[str, Any]:
    prompt = usage["input"] + usage["cache_read"] + usage["cache_write"]
    details = {"cached_tokens": usage["cache_read"], "cache_write_tokens": usage["cache_write"]}
    return {
        "prompt_tokens": prompt,
        "completion_tokens": usage["output"],
        "total_tokens": prompt + usage["output"],
        "prompt_tokens_details": details,
    }


Act = Callable[[Talk], Any]


def is_accepting(task: asyncio.Task[Any]) -> bool:
    return getattr(task.get_coro(), "__name__", "") == "_accept_connection2"


class Server:
    """Answers every request by the act. `failures` are its own errors: a test hears of them."""

    def __init__(self, dialect: str, act: Act, host: str = "127.0.0.1", tls: ssl.SSLContext | None = None) -> None:
        self.dialect, self.act, self.host, self.tls = dialect, act, host, tls
        self.requests: list[Request] = []
        self.connections = 0
        self.failures: list[BaseException] = []

    async def __aenter__(self) -> Server:
        self.over = asyncio.Event()
        self._talks: set[asyncio.Task[None]] = set()
        self._server = await asyncio.start_server(self._accept, self.host, 0, ssl=self.tls, backlog=200)
        self.port: int = self._server.sockets[0].getsockname()[1]
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None
    ) -> None:
        self.over.set()
        # A connection that came a moment ago is still being accepted by a task of the loop's own, which a closed server
        # would leave open. So nobody new is let in first.
        for listening in self._server.sockets:
            asyncio.get_running_loop().remove_reader(listening.fileno())
        while tasks := {*self._talks, *filter(is_accepting, asyncio.all_tasks())}:
            for task in self._talks:
                task.cancel()
            await asyncio.wait(tasks)
        self._server.close()
        if self.failures and error is None:
            raise self.failures[0]

    @property
    def url(self) -> str:
        host = f"[{self.host}]" if ":" in self.host else self.host
        return f"http{'s' if self.tls else ''}://{host}:{self.port}"

    def _accept(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self.connections += 1
        task = asyncio.ensure_future(self._converse(reader, writer))
        self._talks.add(task)
        task.add_done_callback(self._talks.discard)
        task.add_done_callback(lambda _: writer.transport.abort())  # one that was cancelled before it began, too

    async def _converse(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        """Request after request, until the client has gone, which is its right."""
        try:
            while not writer.transport.is_closing():
                await self._talk(reader, writer)
            await writer.wait_closed()
        except (asyncio.IncompleteReadError, ConnectionError):
            pass
        except Exception as error:  # noqa: BLE001 (whatever it is, the test must hear of it)
            self.failures.append(error)

    async def _talk(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        first, *lines = (await reader.readuntil(b"\r\n\r\n")).decode("latin-1").strip().split("\r\n")
        headers = {name.lower(): value.strip() for name, _, value in (line.partition(":") for line in lines)}
        body = await reader.readexactly(int(headers.get("content-length", 0)))
        self.requests.append(Request(first.split(" ")[1], headers, json.loads(body) if body else None))
        done = self.act(Talk(self.dialect, self.requests[-1], reader, writer, self.over))
        if isinstance(done, Awaitable):
            await done
        if not writer.transport.is_closing():
            await writer.drain()


@dataclass
class Client:
    """One way of calling: a dialect and a client of the endpoint. The suite of faults holds for each."""

    dialect: str
    client: str

    def model(self, url: str, key: str = "TEST_KEY", token: str = "", **more: Any) -> Model:
        root = f"{url}/v1" if self.dialect == "chat" else url
        endpoint = Endpoint("test", root, self.dialect, self.client, key, token)
        return Model(**{"tier": "sonnet", "endpoint": endpoint, "name": "m", "price": PRICE, **more})

    def serve(self, act: Act, **more: Any) -> Server:
        return Server(self.dialect, act, **more)

    async def ask(
        self, model: Model, asked: Brief | None = None, began: Callable[[str], None] = lambda _: None, **limits: Any
    ) -> Spoken:
        api = Api(fixed(model, **limits))
        try:
            return await api.speak(asked or brief(), began)
        finally:
            await api.close()

    def call(
        self, act: Act, asked: Brief | None = None, began: Callable[[str], None] = lambda _: None, **more: Any
    ) -> Spoken:
        """One call to a server of its own."""
        limits = {name: more.pop(name) for name in ("stall", "deadline") if name in more}

        async def both() -> Spoken:
            async with self.serve(act) as server:
                return await self.ask(self.model(server.url, **more), asked, began, **limits)

        return asyncio.run(both())


CLIENTS = [Client("messages", "own"), Client("messages", "sdk"), Client("chat", "own")]
IDS = [f"{one.dialect}-{one.client}" for one in CLIENTS]


def due(tier: str = "sonnet") -> Due:
    phase = WORKFLOW.phases[0]
    return Due("01-positions/ada", phase, phase.steps[0], 1, WORKFLOW.seats(["ada"])[0])


def brief(shared: str = "The topic. ", own: str = "Your part.", cuts: tuple[int, ...] = ()) -> Brief:
    """A brief without a session: what calls a model does not look at it."""
    return Brief(cast("Session", None), due(), shared, own, cuts)
