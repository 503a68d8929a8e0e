"""A Messages API of our own on loopback: real HTTP, real server-sent events, scripted answers and faults.

It records every request it gets. In a test: `with FakeApi(sequence(Answer("yes"))) as api: api.url, api.requests`.
As a process of its own: `python -m tests.fakeapi --port-file F --replies R.json --log L.jsonl`.
It checks no keys, counts no real tokens, knows nothing of councils and talks to nobody but its clients.
"""

from __future__ import annotations

import argparse
import asyncio
import contextlib
import hashlib
import json
import re
import signal
import socket
import struct
import threading
import time
from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from types import TracebackType
from typing import Any

FAULTS = {
    "status": "an error status with the API's JSON body",
    "reset": "the connection is reset before any header",
    "reset_after_headers": "the connection is reset after the headers",
    "html": "a web page with status 200",
    "cut": "the connection closes after some pieces",
    "end": "the stream ends properly after some pieces, but without its last events",
    "no_stop": "the connection closes just before message_stop",
    "stall": "nothing more comes after some pieces, and the connection stays open",
    "error_event": "an error event after some pieces",
    "malformed": "an event that is not JSON after some pieces",
    "wrong_type": "a piece of text that is a number, after some pieces",
    "body": "a body and headers of the test's own",
}
ERROR_TYPES = {
    400: "invalid_request_error",
    401: "authentication_error",
    402: "billing_error",
    403: "permission_error",
    404: "not_found_error",
    413: "request_too_large",
    422: "invalid_request_error",
    429: "rate_limit_error",
    504: "timeout_error",
    529: "overloaded_error",
}


@dataclass(frozen=True)
class ToolUse:
    """A tool that an answer calls: its input is a text in some clients. The id is made of the request, so that a retry
    gets the same.
    """

    name: str
    input: dict[str, Any] | str


@dataclass(frozen=True)
class Request:
    """What a client asked. `text` is all that its user messages say, `last` what the newest of them says."""

    method: str
    path: str
    headers: dict[str, str]
    body: Any

    @property
    def is_prompt(self) -> bool:
        """Whether a model is asked to speak."""
        return self.method == "POST" and self.path.partition("?")[0].endswith("/v1/messages")

    @property
    def text(self) -> str:
        return "".join(said(message["content"]) for message in self.messages if message.get("role") == "user")

    @property
    def messages(self) -> list[dict[str, Any]]:
        return list(self.body.get("messages", [])) if isinstance(self.body, dict) else []

    @property
    def last(self) -> str:
        """All that was said since the model's newest answer, results of tools included."""
        spoken = [at for at, message in enumerate(self.messages) if message.get("role") == "assistant"]
        return "\n".join(said(message["content"]) for message in self.messages[max(spoken, default=-1) + 1 :])

    @property
    def step(self) -> int:
        """How often the model has answered in this conversation: a script's place, which a retry does not move."""
        return sum(message.get("role") == "assistant" for message in self.messages)

    @property
    def system(self) -> str:
        return said(self.body.get("system", "")) if isinstance(self.body, dict) else ""

    @property
    def tools(self) -> set[str]:
        return {tool["name"] for tool in self.body.get("tools") or []}

    @property
    def agent(self) -> bool:
        """Whether a subagent of Claude Code asks."""
        return "x-claude-code-agent-id" in self.headers


@dataclass(frozen=True)
class Answer:
    """What the server does with one request; `times` is how often, in a sequence. `after` counts pieces of text.

    It begins after `latency`, and not before `once` is true; a stream does not end before `until` is. `body` and
    `headers` are those of the fault "body". It is billed as `charged` says.
    """

    text: str = "ok"
    tools: tuple[ToolUse, ...] = ()
    thinking: str = ""
    chunks: int = 1
    latency: float = 0.0
    once: Callable[[], bool] | None = None
    until: Callable[[], bool] | None = None
    delay: float = 0.0
    model: str | None = None
    stop: str | None = "end_turn"
    usage: dict[str, Any] | None = None
    fault: str | None = None
    after: int = 1
    status: int = 500
    error: str | None = None
    message: str = "a scripted fault"
    retry_after: str | None = None
    location: str | None = None
    times: int = 1
    charged: bool | None = None
    body: bytes | None = None
    headers: tuple[tuple[str, str], ...] = ()

    @property
    def billed(self) -> bool:
        """Whether a model worked for it: usually for all that is neither refused nor comes from somebody else."""
        return self.fault not in ("reset", "status", "html", "body") if self.charged is None else self.charged

    def __post_init__(self) -> None:
        if self.fault is not None and self.fault not in FAULTS:
            raise ValueError(f"no fault {self.fault!r}: use one of {', '.join(FAULTS)}")


@dataclass(frozen=True)
class Bill:
    """What the owner of the key pays for one request, whatever the client was told of it."""

    model: str
    counts: dict[str, int]
    text: str
    path: str


Responder = Callable[[Request], Answer]


def said(content: Any) -> str:
    """The text of a message, which may be a string or a list of blocks."""
    if isinstance(content, str):
        return content
    return "".join(block.get("text", "") or said(block.get("content", "")) for block in content)


def sequence(*answers: Answer) -> Responder:
    """One answer after the other, each as often as it says; the last one for ever."""
    queue = [answer for answer in answers for _ in range(answer.times)]

    def respond(_: Request) -> Answer:
        return queue.pop(0) if len(queue) > 1 else queue[0]

    return respond


@dataclass(frozen=True)
class Match:
    """Which requests a rule is for: by all that was said, by what was said last, by who asks (a subagent or not)."""

    text: str = ""
    last: str = ""
    agent: bool | None = None

    def __call__(self, request: Request) -> bool:
        found = re.search(self.text, request.text, re.DOTALL) and re.search(self.last, request.last, re.DOTALL)
        return found is not None and self.agent in (None, request.agent)


class Rules:
    """The first rule that matches the prompt answers it. Its faults come first, counted for each prompt by itself."""

    def __init__(self, rules: list[dict[str, Any]]) -> None:
        self.rules = [self.read(dict(rule)) for rule in rules]
        self.asked: Counter[str] = Counter()

    @staticmethod
    def read(rule: dict[str, Any]) -> tuple[Match, list[Answer]]:
        match = Match(rule.pop("match", ""), rule.pop("last", ""), rule.pop("agent", None))
        rule["tools"] = tuple(ToolUse(**tool) for tool in rule.pop("tools", []))
        answers = [Answer(**fault) for fault in rule.pop("faults", [])] + [Answer(**rule)]
        return match, [answer for answer in answers for _ in range(answer.times)]

    def __call__(self, request: Request) -> Answer:
        for match, answers in self.rules:
            if match(request):
                turn = self.asked[request.text]
                self.asked[request.text] += 1
                return answers[min(turn, len(answers) - 1)]
        return Answer(fault="status", status=400, message="no rule matches this prompt")


LOOKBACK = 20  # blocks before a breakpoint in which the API looks for an entry
LEAST = 1024  # tokens: no shorter prefix is kept


class Cache:
    """Prompt caching: entries of a model, keyed by the blocks up to a breakpoint. None of them ever expires here."""

    def __init__(self) -> None:
        self.entries: set[tuple[str, str]] = set()

    def read(self, request: Request) -> int:
        """The length of the longest kept prefix: one that ends with a block, at a breakpoint or not far before one."""
        blocks = prefixes(request)
        near = (blocks[max(0, at - LOOKBACK) : at + 1] for at, (_, _, marked) in enumerate(blocks) if marked)
        return max((size for found in near for key, size, _ in found if key in self.entries), default=0)

    def usage(self, request: Request, answer: Answer) -> dict[str, int]:
        read = self.read(request)
        marked = [size for _, size, marked in prefixes(request) if marked and size >= LEAST * 4]
        written = max([read, *marked]) - read
        counted = {"cache_creation_input_tokens": written // 4, "cache_read_input_tokens": read // 4}
        return {**usage(request, answer), **counted, "input_tokens": tokens(request.text[read + written :])}

    def write(self, request: Request) -> None:
        self.entries |= {key for key, size, marked in prefixes(request) if marked and size >= LEAST * 4}


def prefixes(request: Request) -> list[tuple[tuple[str, str], int, bool]]:
    """Every prefix of the prompt that ends with a block: its key, its length, and whether it is a breakpoint."""
    found, text = [], ""
    for message in request.body["messages"]:
        content = message["content"]
        for block in content if isinstance(content, list) else [{"text": content}]:
            text += block.get("text", "")
            key = (request.body["model"], hashlib.sha256(text.encode()).hexdigest())
            found.append((key, len(text), "cache_control" in block))
    return found


def is_accepting(task: asyncio.Task[Any]) -> bool:
    return getattr(task.get_coro(), "__name__", "") == "_accept_connection2"


class FakeApi:
    """The server. As a context manager it runs on a thread of its own and is gone when the block ends.

    Another API is a subclass with its own kind of requests and its own events.
    """

    kind: type[Request] = Request

    def __init__(self, responder: Responder | None = None, log: Path | None = None, cache: Cache | None = None) -> None:
        self.cache = cache
        self.times: list[tuple[str, str, float]] = []
        self.bills: list[Bill] = []
        self.responder = responder or sequence(Answer())
        self.log = log
        self.port = 0
        self._requests: list[Request] = []
        self._lock = threading.Lock()
        self._failures: list[BaseException] = []
        self._connections: set[asyncio.Task[None]] = set()

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.port}"

    @property
    def requests(self) -> list[Request]:
        """All requests so far, in the order of their arrival."""
        with self._lock:
            return list(self._requests)

    @property
    def prompts(self) -> list[Request]:
        """Those that asked a model to speak."""
        return [request for request in self.requests if request.is_prompt]

    def __enter__(self) -> FakeApi:
        ready = threading.Event()
        self._thread = threading.Thread(target=lambda: asyncio.run(self.serve(ready.set)), name="fakeapi")
        self._thread.start()
        ready.wait()
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        self._loop.call_soon_threadsafe(self.stop)
        self._thread.join()
        if self._failures and error is None:
            raise self._failures[0]

    async def serve(self, ready: Callable[[], object]) -> None:
        """Listen, say so, and answer until told to stop."""
        self._loop, self._stop = asyncio.get_running_loop(), asyncio.Event()
        server = await asyncio.start_server(self._accept, "127.0.0.1", self.port)
        self.port = server.sockets[0].getsockname()[1]
        ready()
        await self._stop.wait()
        # A connection that came a moment ago is still being accepted by a task of the loop's own, which a closed server
        # would leave open for ever. So nobody new is let in first.
        for listening in server.sockets:
            self._loop.remove_reader(listening.fileno())
        while tasks := {*self._connections, *filter(is_accepting, asyncio.all_tasks())}:
            for task in self._connections:
                task.cancel()
            await asyncio.wait(tasks)
        server.close()

    def stop(self) -> None:
        """On the server's own loop only."""
        self._stop.set()

    def _accept(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        task = asyncio.ensure_future(self._converse(reader, writer))
        self._connections.add(task)
        task.add_done_callback(self._connections.discard)
        task.add_done_callback(lambda _: writer.transport.abort())  # one that was cancelled before it began, too

    async def _converse(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        """Request after request on one connection, until either side has had enough of it."""
        try:
            while (request := await read_request(reader, self.kind)) is not None:
                self._record(request)
                if not await self._answer(request, writer):
                    break
        except (ConnectionError, asyncio.IncompleteReadError):
            pass  # the client went away, which is its right
        except Exception as error:  # noqa: BLE001 (whatever it is, the test must hear of it: it is raised at the end)
            self._failures.append(error)
        except asyncio.CancelledError:
            writer.transport.abort()
            raise
        finally:
            writer.close()
            with contextlib.suppress(ConnectionError):
                await writer.wait_closed()

    def _record(self, request: Request) -> None:
        with self._lock:
            self._requests.append(request)
            if self.log is not None:
                line = json.dumps({**asdict(request), "text": request.text, "at": time.time()}) + "\n"
                with self.log.open("a", encoding="utf-8") as log:
                    log.write(line)

    async def _answer(self, request: Request, writer: asyncio.StreamWriter) -> bool:
        """Answer one request; False where the connection must not be used again."""
        if not request.is_prompt:
            send_json(writer, *small_talk(request))
            return True
        answer = self.responder(request)
        self.times.append(("asked", request.text, time.monotonic()))
        if self.cache is not None and answer.usage is None:
            answer = replace(answer, usage=self.cache.usage(request, answer))  # looked up when it is asked
        if answer.billed:
            said = {
                name: count for name, count in (answer.usage or {}).items() if isinstance(count, int) and count >= 0
            }
            counts = usage(request, replace(answer, usage=None)) | said
            self.bills.append(Bill(request.body["model"], counts, request.text, request.path))
        await asyncio.sleep(answer.latency)
        await wait_for(answer.once)
        if answer.fault in ("reset", "status", "html", "body"):
            return send_early_fault(writer, answer)
        if self.cache is not None:
            self.cache.write(request)  # to be read from here on, for now the first byte goes out
        self.times.append(("began", request.text, time.monotonic()))
        if request.body.get("stream"):
            return await send_stream(writer, self.events(request, answer), answer)
        send_json(writer, 200, message(request, answer))
        return True

    def events(self, request: Request, answer: Answer) -> Iterator[dict[str, Any]]:
        """The events of a stream that goes well."""
        return events(request, answer)


def small_talk(request: Request) -> tuple[int, dict[str, Any]]:
    """What clients ask besides: harmless answers that commit to nothing."""
    path = request.path.partition("?")[0]
    if path == "/":
        return 200, {}
    if path.endswith("/v1/messages/count_tokens"):
        return 200, {"input_tokens": tokens(request.text)}
    if path.endswith("/v1/models"):
        return 200, {"data": [], "has_more": False, "first_id": None, "last_id": None}
    return 404, error_body("not_found_error", f"no such path: {path}")


# ---- HTTP, as much of it as is needed ----


async def read_request(reader: asyncio.StreamReader, kind: type[Request]) -> Request | None:
    """The next request on a connection, None where there is no next one."""
    try:
        head = (await reader.readuntil(b"\r\n\r\n")).decode("latin-1")
    except asyncio.IncompleteReadError:
        return None
    first, *lines = head.strip().split("\r\n")
    method, path, _ = first.split(" ")
    headers = {name.lower(): value.strip() for name, _, value in (line.partition(":") for line in lines)}
    body = await read_body(reader, headers)
    return kind(method, path, headers, json.loads(body) if body else None)


async def read_body(reader: asyncio.StreamReader, headers: dict[str, str]) -> bytes:
    if headers.get("transfer-encoding") != "chunked":
        return await reader.readexactly(int(headers.get("content-length", 0)))
    body = b""
    while size := int(await reader.readline(), 16):
        body += (await reader.readexactly(size + 2))[:-2]
    await reader.readline()
    return body


def send_head(writer: asyncio.StreamWriter, status: int, **headers: str) -> None:
    lines = [f"{name.replace('_', '-')}: {value}" for name, value in headers.items()]
    writer.write("\r\n".join([f"HTTP/1.1 {status} Scripted", *lines, "", ""]).encode("latin-1"))


def send_body(writer: asyncio.StreamWriter, status: int, kind: str, body: bytes, **headers: str) -> None:
    send_head(writer, status, content_type=kind, content_length=str(len(body)), **headers)
    writer.write(body)


def send_json(writer: asyncio.StreamWriter, status: int, body: dict[str, Any], **headers: str) -> None:
    send_body(writer, status, "application/json", json.dumps(body).encode(), **headers)


def send_chunk(writer: asyncio.StreamWriter, data: bytes) -> None:
    """One chunk of a chunked body; the empty one ends it."""
    writer.write(b"%x\r\n%s\r\n" % (len(data), data))


def reset(writer: asyncio.StreamWriter) -> bool:
    """Drop the connection the rude way: the client sees a reset, not an end."""
    writer.get_extra_info("socket").setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
    writer.transport.abort()
    return False


# ---- the Messages API ----


def tokens(text: str) -> int:
    """No real count, but the same for the same text, and more for more of it."""
    return len(text) // 4 + 1


def usage(request: Request, answer: Answer) -> dict[str, Any]:
    counted = {
        "input_tokens": tokens(request.text),
        "cache_creation_input_tokens": 0,
        "cache_read_input_tokens": 0,
        "output_tokens": tokens(answer.thinking + answer.text),
    }
    return counted if answer.usage is None else answer.usage


def message(request: Request, answer: Answer) -> dict[str, Any]:
    return {
        "id": f"msg_{fingerprint(request)}",
        "type": "message",
        "role": "assistant",
        "model": answer.model or request.body["model"],
        "content": [*([{"type": "text", "text": answer.text}] if answer.text else []), *tool_uses(request, answer)],
        "stop_reason": "tool_use" if answer.tools else answer.stop,
        "stop_sequence": None,
        "usage": usage(request, answer),
    }


def error_body(kind: str, text: str) -> dict[str, Any]:
    return {"type": "error", "error": {"type": kind, "message": text}, "request_id": "req_fake"}


def send_early_fault(writer: asyncio.StreamWriter, answer: Answer) -> bool:
    """The faults that come in place of an answer."""
    if answer.fault == "reset":
        return reset(writer)
    if answer.fault == "html":
        send_body(writer, 200, "text/html", b"<html><body>Sign in to the network: please</body></html>")
        return True
    if answer.fault == "body":
        send_body(writer, answer.status, "text/event-stream", answer.body or b"", **dict(answer.headers))
        return True
    headers = {} if answer.retry_after is None else {"retry_after": answer.retry_after}
    if answer.location is not None:
        headers["location"] = answer.location
    kind = answer.error or ERROR_TYPES.get(answer.status, "api_error")
    send_json(writer, answer.status, error_body(kind, answer.message), **headers)
    return True


def pieces(text: str, count: int) -> list[str]:
    """The text in so many pieces, as even as they get; fewer where it is shorter than that."""
    size = -(-len(text) // count) or 1
    return [text[at : at + size] for at in range(0, len(text), size)]


def block(index: int, kind: str, parts: list[str]) -> Iterator[dict[str, Any]]:
    yield {"type": "content_block_start", "index": index, "content_block": {"type": kind, kind: ""}}
    for part in parts:
        yield {"type": "content_block_delta", "index": index, "delta": {"type": f"{kind}_delta", kind: part}}
    yield {"type": "content_block_stop", "index": index}


def fingerprint(request: Request) -> str:
    """Claude Code takes two messages of one id for two pieces of one message, so each needs its own."""
    return hashlib.sha256(json.dumps([request.system, request.messages]).encode()).hexdigest()[:20]


def tool_uses(request: Request, answer: Answer) -> list[dict[str, Any]]:
    """The blocks of a message that call tools; the ids follow from what was asked."""
    return [
        {"type": "tool_use", "id": f"toolu_{fingerprint(request)}{at:02}", "name": tool.name, "input": tool.input}
        for at, tool in enumerate(answer.tools)
    ]


def tool_block(index: int, use: dict[str, Any]) -> Iterator[dict[str, Any]]:
    yield {"type": "content_block_start", "index": index, "content_block": {**use, "input": {}}}
    for part in pieces(json.dumps(use["input"]), 2):
        yield {
            "type": "content_block_delta",
            "index": index,
            "delta": {"type": "input_json_delta", "partial_json": part},
        }
    yield {"type": "content_block_stop", "index": index}


def events(request: Request, answer: Answer) -> Iterator[dict[str, Any]]:
    """The events of a stream that goes well."""
    counted = usage(request, answer)
    start = {**message(request, answer), "content": [], "stop_reason": None}
    yield {"type": "message_start", "message": {**start, "usage": {**counted, "output_tokens": 1}}}
    yield {"type": "ping"}
    if answer.thinking:
        yield from block(0, "thinking", [answer.thinking])
    index = int(bool(answer.thinking))
    if answer.text or not (answer.thinking or answer.tools):
        yield from block(index, "text", pieces(answer.text, answer.chunks))
        index += 1
    for at, use in enumerate(tool_uses(request, answer)):
        yield from tool_block(index + at, use)
    done = {"stop_reason": "tool_use" if answer.tools else answer.stop, "stop_sequence": None}
    ended = {name: count for name, count in counted.items() if name == "output_tokens"}
    yield {"type": "message_delta", "delta": done, "usage": ended}
    yield {"type": "message_stop"}


def reached(answer: Answer, sent: int, event: dict[str, Any]) -> bool:
    """Whether the stream's fault is due now, before this event."""
    if answer.fault == "no_stop":
        return bool(event["type"] == "message_stop")
    if event["type"] == "content_block_delta":
        return answer.fault is not None and sent == answer.after
    return answer.fault is not None and event["type"] == "message_delta"


def send_event(writer: asyncio.StreamWriter, event: dict[str, Any]) -> None:
    send_chunk(writer, f"event: {event['type']}\ndata: {json.dumps(event)}\n\n".encode())


async def wait_for(holds: Callable[[], bool] | None) -> None:
    pause = 0.005
    while holds and not holds():
        await asyncio.sleep(pause)
        pause = min(1.2 * pause, 0.05)


async def send_stream(writer: asyncio.StreamWriter, events: Iterator[dict[str, Any]], answer: Answer) -> bool:
    """The stream, as far as its fault lets it come."""
    send_head(writer, 200, content_type="text/event-stream; charset=utf-8", transfer_encoding="chunked")
    if answer.fault == "reset_after_headers":
        return reset(writer)
    sent = 0
    for event in events:
        if reached(answer, sent, event):
            return await send_late_fault(writer, answer)
        if event["type"] == "content_block_delta":
            await asyncio.sleep(answer.delay)
            sent += 1
        if event["type"] == "message_delta":
            await wait_for(answer.until)
        send_event(writer, event)
        await writer.drain()
    send_chunk(writer, b"")
    return True


async def send_late_fault(writer: asyncio.StreamWriter, answer: Answer) -> bool:
    """The faults of a stream that began well. What was sent before stays sent."""
    if answer.fault == "stall":
        await asyncio.Event().wait()
    if answer.fault == "error_event":
        send_event(writer, error_body(answer.error or "overloaded_error", answer.message))
    if answer.fault == "malformed":
        send_chunk(writer, b'event: content_block_delta\ndata: {"type": "content_blo\n\n')
    if answer.fault == "wrong_type":
        send_event(writer, {"type": "content_block_delta", "index": 0, "delta": {"type": "text_delta", "text": 5}})
    if answer.fault in ("end", "error_event", "malformed", "wrong_type"):
        send_chunk(writer, b"")
    return False


# ---- as a process of its own ----


def write_port(path: Path, port: int) -> None:
    """By rename, so that whoever waits for the file never reads half a number."""
    draft = path.with_name(path.name + ".new")
    draft.write_text(str(port))
    draft.replace(path)


async def run(api: FakeApi, port_file: Path) -> None:
    def ready() -> None:
        for number in (signal.SIGTERM, signal.SIGINT):
            asyncio.get_running_loop().add_signal_handler(number, api.stop)
        write_port(port_file, api.port)

    await api.serve(ready)


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m tests.fakeapi", description="A scripted Messages API.")
    parser.add_argument("--port-file", type=Path, required=True, help="gets the port, once the server listens")
    parser.add_argument("--replies", "--script", type=Path, help="JSON list of rules; without it the answer is: ok")
    parser.add_argument("--log", type=Path, help="gets one JSON line a request")
    parser.add_argument("--cache", action="store_true", help="simulate prompt caching")
    options = parser.parse_args()
    rules = json.loads(options.replies.read_text(encoding="utf-8")) if options.replies else [{}]
    asyncio.run(run(FakeApi(Rules(rules), options.log, Cache() if options.cache else None), options.port_file))


if __name__ == "__main__":
    main()
