"""The way to an endpoint: one HTTP client for each, the events of a stream, and what a failure of either means.

Nothing is retried and no redirect is followed, because a key belongs to its endpoint. Whatever an endpoint sends has a
largest size. Loopback is never asked through a proxy.
"""

from __future__ import annotations

import asyncio
import json
import math
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
from urllib.request import getproxies, proxy_bypass

from council.next.config.models import Model
from council.next.errors import AuthError, CouncilError, UsageError
from council.next.speakers.api.dialects import DIALECTS, Dialect
from council.next.speakers.base import PASSING, CallFailed
from council.next.text import one_line

if TYPE_CHECKING:
    import httpx2

MOST_ERROR = 100_000  # bytes of the body of an error, whose rest is not read
MOST_ANSWER = 16_000_000  # bytes of a stream
MOST_EVENT = 1_000_000  # bytes of a stream without an end of an event
CONNECT = 20.0  # seconds
UNANSWERED = {408, 499, *range(500, 600)} - {503, 529}  # a proxy may say so of a call that a model did answer
END = {"type": "message_stop"}  # what `[DONE]` of the one dialect is called in the other
REFUSALS = 4  # times that a refused connection or an unknown name is worth another try: seconds, not minutes
ONCE = 1
PORTS = {"http": 80, "https": 443}
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
ADVICE = {  # which setting to change
    401: 'It was called with {key}: set one that the endpoint "{at}" accepts',
    402: 'It was called with {key}: add credit to its account, or give the tier "{model.tier}" another endpoint',
    403: 'It was called with {key}: give the tier "{model.tier}" a model that it may use, or use another key',
    404: 'Give the tier "{model.tier}" a model that "{at}" has (now "{model.name}"), or correct the base_url of "{at}"',
    413: 'The brief is too long: shorten the documents, or give the tier "{model.tier}" another model',
}
CHECK = 'Check model ("{model.name}"), effort ({model.effort}) and max_tokens ({model.max_tokens}) of "{model.tier}"'
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

    @property
    def dialect(self) -> Dialect:
        return DIALECTS[self.model.endpoint.dialect]

    def hide(self, text: object) -> str:
        """One line of what somebody else wrote, without the key."""
        words = str(text)
        return one_line(words.replace(self.key, "[key]") if self.key else words, 300)


# ---- the client ----


def make_client(base_url: str, stall: float) -> httpx2.AsyncClient:
    """Without TLS nobody needs this machine's certificates, which take longer to read than all the rest."""
    import httpx2

    plain = urlsplit(base_url).scheme == "http"
    try:
        return httpx2.AsyncClient(
            timeout=httpx2.Timeout(stall, connect=min(stall, CONNECT), pool=None),
            limits=httpx2.Limits(max_connections=None, max_keepalive_connections=64),
            verify=ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT) if plain else httpx2.create_ssl_context(),
            headers={"accept-encoding": "identity"},
            follow_redirects=False,
            trust_env=not is_local(base_url),
            event_hooks={"response": [bound_body]},
        )
    except (ValueError, ImportError) as wrong:  # another kind of proxy than it knows, or than is installed
        variable = find_proxy(base_url)[0] or "the environment"
        raise UsageError(f"the proxy in {variable} cannot be used: {one_line(str(wrong), 300)}") from None


def is_local(address: str) -> bool:
    """Whether it is on this machine."""
    host = urlsplit(address).hostname or ""
    with suppress(ValueError):
        return ip_address(host).is_loopback or ip_address(host).is_unspecified
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


async def events(client: httpx2.AsyncClient, body: Any, call: Call) -> AsyncGenerator[Any, None]:
    """The events of one streamed call, as they come. Raises what a failure means."""
    import httpx2

    headers = call.dialect.headers(call.key, call.bearer)
    try:
        url = httpx2.URL(call.model.endpoint.base_url)
        path = (url.path.rstrip("/") + call.dialect.path).replace("/v1/v1/", "/v1/")  # an address may hold its version
        async with client.stream("POST", url.copy_with(path=path), json=body, headers=headers) as response:
            if response.status_code != 200:
                await response.aread()
                raise read_refusal(response, call)
            response.headers["content-type"] = "text/event-stream"  # a stream is known by its events
            async for event in httpx2.EventSource(response):
                if data := event.data.strip():
                    yield END if data == "[DONE]" else json.loads(data)
    except (httpx2.HTTPError, httpx2.InvalidURL, httpx2.StreamError, OSError, ValueError, RecursionError) as error:
        raise broken(error, call) from None


# ---- what a failure means ----


def read_refusal(response: httpx2.Response, call: Call) -> CouncilError:
    """The error for a response that is no stream. Its body may be the API's own words, or any web page."""
    try:
        error = json.loads(response.content)
        error = error.get("error", error) if isinstance(error, dict) else error
    except (ValueError, RecursionError):
        error = response.content.decode("utf-8", "replace")
    return refusal(response.status_code, error, call, read_wait(response.headers.get("retry-after")))


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
    passing = status in PASSING or not 400 <= status < 500
    words = f"{call.at} answered {status}: {call.hide(about.get('message') or error or 'no reason given').rstrip('.')}"
    if 300 <= status < 400:
        return UsageError(f"{call.at} redirects to another address: correct the base_url of this endpoint")
    if passing or spent:
        usd = None if spent or status in UNANSWERED or status < 300 else 0.0
        return CallFailed(words, passing, wait, usd, ONCE if status < 300 else None)
    key = f"the key in {call.model.endpoint.key}" if call.model.endpoint.key else "a key that a command printed"
    key = key if call.key else "no key (`key` of the endpoint names its variable)"
    kind = AuthError if status in (401, 402, 403) else UsageError
    return kind(f"{words}. {ADVICE.get(status, CHECK).format(key=key, at=call.at, model=call.model)}")


def broken(error: BaseException, call: Call) -> CallFailed:
    """The error for a call that got no answer, or only a part of one."""
    import httpx2

    if isinstance(error, httpx2.ConnectError | httpx2.ProxyError):
        return unreachable(error, call)
    if isinstance(error, httpx2.InvalidURL):
        return CallFailed(f"{call.at} has an address that cannot be called: correct its base_url", again=False)
    said, to = call.hide(error) or type(error).__name__, f"the connection to {call.at}"
    table: list[tuple[Any, str, float | None, int | None]] = [  # what it cost, and how many more tries make sense
        (httpx2.ConnectTimeout, f"{to} failed{via(call)}: it did not answer", 0.0, None),
        (httpx2.TimeoutException, f"{call.at} did not send anything for too long", None, None),
        (httpx2.DecodingError, f"{to} was closed: {said}", None, ONCE),
        ((httpx2.HTTPError, httpx2.StreamError, OSError), f"{to} was interrupted{via(call)}: {said}", None, None),
        (BaseException, f"{call.at} sent an event that cannot be read ({type(error).__name__})", None, ONCE),
    ]
    _, why, usd, tries = next(row for row in table if isinstance(error, row[0]))
    return CallFailed(why, True, usd=usd, tries=tries)


def unreachable(error: BaseException, call: Call) -> CallFailed:
    """Nothing was sent. On this machine, a server that does not listen will not begin to while we wait. Elsewhere, one
    that refuses, or a name that is not found, may be back in seconds, or needs another network or setting.
    """
    proxy, url = find_proxy(call.model.endpoint.base_url)
    url = url if "://" in url else f"http://{url}" if url else call.model.endpoint.base_url
    address = urlsplit(url)
    host, port = address.hostname or "", address.port or PORTS.get(address.scheme, 1080)
    said, again = call.hide(error) or type(error).__name__, True
    match cause := find_cause(error):
        case ConnectionRefusedError() if is_local(url):
            server = "it" if proxy else SERVERS.get(port, "its server")
            what = f"the proxy in {proxy}" if proxy else f'the base_url of the endpoint "{call.at}"'
            return CallFailed(f"nothing answers at {host}:{port}, {what}: is {server} running?", again=False)
        case socket.gaierror():
            said = f"no address was found for {host} (are you online?)"
        case ssl.SSLCertVerificationError():
            said, again = f"the certificate of {host} is not trusted ({cause.verify_message})", False
        case ssl.SSLError():
            said, again = f"no secure connection with {host} ({call.hide(cause.reason or cause)})", False
    tries = REFUSALS if isinstance(cause, ConnectionRefusedError | socket.gaierror) else None
    return CallFailed(f"the connection to {call.at} failed{via(call)}: {said}", again, tries=tries)


def find_cause(error: BaseException | None) -> BaseException | None:
    """Why there is no connection, below what the HTTP library says of it."""
    while error is not None and not isinstance(error, ConnectionRefusedError | socket.gaierror | ssl.SSLError):
        several = error.exceptions if isinstance(error, BaseExceptionGroup) else ()
        error = several[0] if several else error.__cause__ or error.__context__
    return error


def via(call: Call) -> str:
    """` through the proxy in HTTPS_PROXY`, without its address, which may hold a password; empty without a proxy."""
    proxy, _ = find_proxy(call.model.endpoint.base_url)
    return f" through the proxy in {proxy}" if proxy else ""


def find_proxy(base_url: str) -> tuple[str, str]:
    """The variable that sends calls to this address through a proxy, and its value. Both are empty without one."""
    url = urlsplit(base_url)
    proxies = {} if is_local(base_url) or proxy_bypass(url.hostname or "") else getproxies()
    name = next((name for name in (url.scheme, "all") if proxies.get(name)), "")
    return (f"{name.upper()}_PROXY", proxies[name]) if name else ("", "")


def read_wait(header: str | None) -> float | None:
    """Retry-After in seconds or as a date. None if it is missing or neither."""
    with suppress(ValueError):
        seconds = float(header or "")
        return max(0.0, seconds) if math.isfinite(seconds) else None
    with suppress(ValueError, OverflowError, TypeError):
        return max(0.0, parsedate_to_datetime(header or "").timestamp() - time.time())
    return None
