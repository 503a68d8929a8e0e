"""The way to an endpoint: one HTTP client for each, the events of a stream, and what a failure of either means.

Nothing is retried and no redirect is followed, because a key belongs to its endpoint. Whatever an endpoint sends has a
largest size. Loopback is never asked through a proxy.
"""

from __future__ import annotations

import asyncio
import json
import math
import os
import socket
import ssl
import time
from collections.abc import AsyncGenerator, AsyncIterator, Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from email.utils import parsedate_to_datetime
from ipaddress import ip_address
from typing import TYPE_CHECKING, Any, cast
from urllib.parse import urlsplit

from council.next.config.models import Model
from council.next.errors import AuthError, CouncilError, UsageError
from council.next.speakers.base import CallFailed
from council.next.text import one_line

if TYPE_CHECKING:
    import httpx2

MOST_ERROR = 100_000  # bytes of the body of an error, whose rest is not read
MOST_ANSWER = 16_000_000  # bytes of a stream
MOST_EVENT = 1_000_000  # bytes of a stream without an end of an event
CONNECT, GOODBYE = 20.0, 1.0  # seconds
PASSING = {408, 409, 425, 429, 499}  # any other 4xx would fail again
UNANSWERED = {408, 499, *range(500, 600)} - {503, 529}  # a proxy may say so of a call that a model did answer
END = {"type": "message_stop"}  # what `[DONE]` of the one dialect is called in the other
REFUSALS = 4  # times that a refused connection or an unknown name is worth another try: seconds, not minutes
ONCE = 1
SERVERS = {11434: "Ollama", 1234: "LM Studio", 8080: "llama.cpp", 8000: "vLLM"}  # by their usual ports
STATUS = {  # the type of an error inside a stream, and the status that it would have had
    "invalid_request_error": 400,
    "authentication_error": 401,
    "billing_error": 402,
    "permission_error": 403,
    "not_found_error": 404,
    "request_too_large": 413,
    "rate_limit_error": 429,
    "overloaded_error": 529,
}
NO_CREDIT = ("insufficient_quota", "billing_hard_limit_reached", "billing_not_active")  # OpenAI's 429 that stays


@dataclass(frozen=True)
class Call:
    """One call: the model that is asked, and the key with which."""

    model: Model
    key: str = field(default="", repr=False)
    bearer: bool = False

    @property
    def at(self) -> str:
        return self.model.endpoint.name

    def hide(self, text: object) -> str:
        """One line of what somebody else wrote, without the key."""
        words = str(text)
        return one_line(words.replace(self.key, "[key]") if self.key else words, 300)


# ---- the client ----


def make_client(base_url: str, stall: float) -> httpx2.AsyncClient:
    """Without TLS nobody needs this machine's certificates, which take longer to read than all the rest."""
    import httpx2

    url = urlsplit(base_url)
    return httpx2.AsyncClient(
        timeout=httpx2.Timeout(stall, connect=min(stall, CONNECT), pool=None),
        limits=httpx2.Limits(max_connections=None, max_keepalive_connections=64),
        verify=ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT) if url.scheme == "http" else httpx2.create_ssl_context(),
        headers={"accept-encoding": "identity"},
        follow_redirects=False,
        trust_env=not is_local(url.hostname or ""),
        event_hooks={"response": [bound_body]},
    )


def is_local(host: str) -> bool:
    with suppress(ValueError):
        return ip_address(host).is_loopback
    return host == "localhost" or host.endswith(".localhost")


async def bound_body(response: httpx2.Response) -> None:
    """A hook that bounds what is read of a response. Nothing compressed was asked for, so nothing is unpacked."""
    import httpx2

    if (encoding := response.headers.get("content-encoding", "identity")) != "identity":
        raise httpx2.DecodingError(f"it sent a body that is compressed ({encoding[:20]}), which was not asked for")
    pieces, failed = cast("httpx2.AsyncByteStream", response.stream), response.status_code >= 300
    has_events = "eventstream" not in response.headers.get("content-type", "")  # Amazon's frames have no blank lines

    class Bounded(httpx2.AsyncByteStream):
        async def __aiter__(self) -> AsyncIterator[bytes]:
            size, event, before = 0, 0, b""
            async for piece in pieces:
                await asyncio.sleep(0)  # other tasks run, so a deadline is noticed in time
                seen = before + piece  # a blank line may come in two pieces
                ended = max(seen.rfind(end) for end in (b"\n\n", b"\r\r", b"\n\r\n"))
                event = event + len(piece) if ended < 0 else len(seen) - ended
                size, before = size + len(piece), seen[-2:]
                if failed and size > MOST_ERROR:
                    return
                for bound, reached in ((MOST_ANSWER, size), (MOST_EVENT, event if has_events else 0)):
                    if reached > bound:
                        raise httpx2.DecodingError(f"it sent more than {bound:,} bytes")
                yield piece

        async def aclose(self) -> None:
            await pieces.aclose()

    response.stream = Bounded()


async def events(
    client: httpx2.AsyncClient, path: str, headers: Mapping[str, str], body: Any, call: Call
) -> AsyncGenerator[Any, None]:
    """The events of one streamed call, as they come. Raises what a failure means."""
    import httpx2

    try:
        url = httpx2.URL(call.model.endpoint.base_url)
        root = url.path.rstrip("/")
        path = path.removeprefix("/v1") if root.endswith("/v1") else path
        async with client.stream("POST", url.copy_with(path=root + path), json=body, headers=headers) as response:
            if response.status_code != 200:
                raise read_refusal(response.status_code, response.headers, await response.aread(), call)
            async for data in read_events(response.aiter_raw()):
                yield END if data == b"[DONE]" else json.loads(data)
    except (httpx2.HTTPError, httpx2.InvalidURL, httpx2.StreamError, OSError, ValueError, RecursionError) as error:
        raise broken(error, call) from None


async def read_events(pieces: AsyncIterator[bytes]) -> AsyncIterator[bytes]:
    """The data of each server-sent event. One that no blank line ends was cut off, and is none."""
    buffer, data = bytearray(), list[bytes]()
    async for piece in pieces:
        buffer += piece
        if b"\n" not in piece and b"\r" not in piece:
            continue
        lines = bytes(buffer).splitlines(keepends=True)
        # An unended line waits for its rest, and a carriage return for the line feed that may follow it.
        rest = lines.pop() if not lines[-1].endswith(b"\n") else b""
        if rest.endswith(b"\r") and lines and not rest.strip():
            lines, rest = [*lines, b"\n"], b""
        buffer = bytearray(rest)
        for line in (line.rstrip(b"\r\n") for line in lines):
            if line.startswith(b"data:"):
                data.append(line[5:].strip())
            elif not line and data:
                yield b"\n".join(data)
                data.clear()


# ---- what a failure means ----


def read_refusal(status: int, headers: Mapping[str, str], body: bytes, call: Call) -> CouncilError:
    """The error for a response that is no stream. Its body may be the API's own words, or any web page."""
    try:
        error = json.loads(body)
        error = error.get("error", error) if isinstance(error, dict) else error
    except (ValueError, RecursionError):
        error = body.decode("utf-8", "replace")
    return refusal(status, error, call, read_wait(headers.get("retry-after")))


def refusal(status: int, error: Any, call: Call, wait: float | None = None, spent: bool = False) -> CouncilError:
    """What the API's own error means. In a stream, its type or code stands for the status.

    `spent` says that the model had begun, so something may be billed.
    """
    about: Mapping[str, Any] = error if isinstance(error, dict) else {}
    code = about.get("code")
    if status == 200:
        status = code if isinstance(code, int) and 400 <= code < 600 else STATUS.get(str(about.get("type")), 500)
    if str(code or about.get("type")) in NO_CREDIT:
        status = 402
    said = call.hide(about.get("message") or error or "no reason given").rstrip(".")
    words = f"{call.at} answered {status}: {said}"
    passing = status in PASSING or not 400 <= status < 500
    if 300 <= status < 400:
        return UsageError(f"{call.at} redirects to another address: correct the base_url of this endpoint")
    if passing or spent:
        usd = None if spent or status in UNANSWERED or status < 300 else 0.0
        return CallFailed(words, passing, wait, usd, ONCE if status < 300 else None)
    kind = AuthError if status in (401, 402, 403) else UsageError
    return kind(f"{words}. {advice(status, call)}")


def advice(status: int, call: Call) -> str:
    """Which setting to change."""
    model, endpoint = call.model, f'the endpoint "{call.at}"'
    key = f"the key in {model.endpoint.key}" if model.endpoint.key else "a key that a command printed"
    key = key if call.key else "no key (`key` of the endpoint names its variable)"
    return {
        401: f"It was called with {key}: set one that {endpoint} accepts",
        402: f'It was called with {key}: add credit to its account, or give the tier "{model.tier}" another endpoint',
        403: f'It was called with {key}: give the tier "{model.tier}" a model that it may use, or use another key',
        404: f'Give the tier "{model.tier}" a model that {endpoint} has (now "{model.name}"), or correct its base_url',
        413: f'The brief is too long: shorten the documents, or give the tier "{model.tier}" another model',
    }.get(
        status,
        f'Check model ("{model.name}"), effort ({model.effort}) and max_tokens ({model.max_tokens}) '
        f'of the tier "{model.tier}"',
    )


def broken(error: BaseException, call: Call) -> CallFailed:
    """The error for a call that got no answer, or only a part of one."""
    import httpx2

    said = call.hide(error) or type(error).__name__
    if isinstance(error, httpx2.ConnectTimeout):
        return unreachable(None, "it did not answer", call)
    if isinstance(error, httpx2.ConnectError | httpx2.ProxyError):
        return unreachable(find_cause(error), said, call)
    if isinstance(error, httpx2.UnsupportedProtocol | httpx2.InvalidURL):
        return CallFailed(f"{call.at} has no address that can be called: correct its base_url ({said})", again=False)
    if isinstance(error, httpx2.TimeoutException):
        return CallFailed(f"{call.at} did not send anything for too long", True, usd=None)
    if isinstance(error, httpx2.DecodingError):
        return CallFailed(f"the connection to {call.at} was closed: {said}", True, usd=None, tries=ONCE)
    if isinstance(error, httpx2.HTTPError | httpx2.StreamError | OSError):
        return CallFailed(f"the connection to {call.at} was interrupted{via(call)}: {said}", True, usd=None)
    return CallFailed(
        f"{call.at} sent an event that cannot be read ({type(error).__name__})", True, usd=None, tries=ONCE
    )


def unreachable(cause: BaseException | None, said: str, call: Call) -> CallFailed:
    """Nothing was sent. On this machine, a server that does not listen will not begin to while we wait. Elsewhere, one
    that refuses, or a name that is not found, may be back in seconds, or needs another network or setting.
    """
    proxy, url = find_proxy(call.model.endpoint.base_url) or ("", call.model.endpoint.base_url)
    address = urlsplit(url if "://" in url else f"http://{url}")
    host, port = address.hostname or "", address.port or {"http": 80, "https": 443}.get(address.scheme, 1080)
    failed = f"the connection to {call.at} failed{via(call)}"
    if isinstance(cause, socket.gaierror):
        return CallFailed(f"{failed}: no address was found for {host} (are you online?)", True, tries=REFUSALS)
    if isinstance(cause, ssl.SSLCertVerificationError):
        return CallFailed(f"{failed}: the certificate of {host} is not trusted ({cause.verify_message})", again=False)
    if isinstance(cause, ssl.SSLError):
        return CallFailed(
            f"{failed}: no secure connection with {host} ({call.hide(cause.reason or cause)})", again=False
        )
    refused = isinstance(cause, ConnectionRefusedError)
    if refused and is_local(host):
        server = "it" if proxy else SERVERS.get(port, "its server")
        what = f"the proxy in {proxy}" if proxy else f'the base_url of the endpoint "{call.at}"'
        return CallFailed(f"nothing answers at {host}:{port}, {what}: is {server} running?", again=False)
    return CallFailed(f"{failed}: {said}", True, tries=REFUSALS if refused else None)


def find_cause(error: BaseException | None) -> BaseException | None:
    """Why there is no connection, below what the HTTP library says of it."""
    while error is not None and not isinstance(error, ConnectionRefusedError | socket.gaierror | ssl.SSLError):
        several = error.exceptions if isinstance(error, BaseExceptionGroup) else ()
        error = several[0] if several else error.__cause__ or error.__context__
    return error


def via(call: Call) -> str:
    """` through the proxy in HTTPS_PROXY`, without its address, which may hold a password; empty without a proxy."""
    proxy = find_proxy(call.model.endpoint.base_url)
    return f" through the proxy in {proxy[0]}" if proxy else ""


def find_proxy(base_url: str) -> tuple[str, str] | None:
    """The environment variable that sends calls to this address through a proxy, and its value."""
    from urllib.request import proxy_bypass

    url = urlsplit(base_url)
    if is_local(url.hostname or "") or proxy_bypass(url.hostname or ""):
        return None
    names = (f"{url.scheme}_proxy", f"{url.scheme}_proxy".upper(), "all_proxy", "ALL_PROXY")
    return next(((name, value) for name in names if (value := os.environ.get(name))), None)


def read_wait(header: str | None) -> float | None:
    """Retry-After in seconds or as a date. None if it is missing or neither."""
    with suppress(ValueError):
        seconds = float(header or "")
        return max(0.0, seconds) if math.isfinite(seconds) else None
    with suppress(ValueError, OverflowError, TypeError):
        return max(0.0, parsedate_to_datetime(header or "").timestamp() - time.time())
    return None
