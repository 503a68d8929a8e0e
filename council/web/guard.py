"""Who may ask the server anything: checked before routing, and the same for every path. No switch turns a check off.

The server trusts three things about a request: the name that it was sent to, where a browser says it came from, and a
token. A page of another origin has none of them, also when its own name resolves to this machine. Cookies are never
read: browsers send them to every port of a host, and take them from every port.
"""

from __future__ import annotations

import asyncio
import hmac
import re
from collections.abc import Iterable
from dataclasses import dataclass
from itertools import chain

from starlette.responses import PlainTextResponse
from starlette.types import ASGIApp, Message, Receive, Scope, Send

SAFE = ("GET", "HEAD")
METHODS = (*SAFE, "POST")
LARGEST_BODY = 1_000_000  # bytes
LARGEST_HEAD = 65_536  # bytes: browsers send the cookies of every other server on this host along
SLOWEST_BODY = 10.0  # seconds
PAGE_TOKEN = "x-council-token"  # the page's script sends the token in it; a proxy may need `Authorization` for itself
POLICY = (
    "default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'; img-src 'self'; base-uri 'none'; "
    "form-action 'none'; frame-ancestors 'none'"
)
HEADERS = {
    "content-security-policy": POLICY,
    "x-content-type-options": "nosniff",
    "referrer-policy": "no-referrer",
    "cross-origin-resource-policy": "same-origin",
    "cross-origin-opener-policy": "same-origin",
    "cache-control": "no-store",
}
ENCODED = [(name.encode(), value.encode()) for name, value in HEADERS.items()]
READ_ONLY = [(b"x-council-read-only", b"1")]  # the page offers nothing that would be refused
AUTHORITY = re.compile(r"(\[[0-9a-f:.]+\]|[a-z0-9](?:[a-z0-9.-]*[a-z0-9])?)(?::(\d{1,5}))?")
ASK_FOR_TOKEN = "open the address that `council serve` printed, which has the token"


@dataclass(frozen=True)
class Rejected(Exception):
    """Why a request is not answered."""

    status: int
    why: str


@dataclass(frozen=True)
class Access:
    """What the server answers to. `hosts` are names with their ports, as browsers send them. `token` is made at each
    start: another server may listen on this port later, and what it finds in the browser must be worth nothing. `fixed`
    is the user's own token, if there is one.
    """

    port: int
    hosts: frozenset[str]
    token: str
    fixed: str = ""
    read_only: bool = False

    def accepts(self, given: str) -> bool:
        return any(is_same(given, one) for one in (self.token, self.fixed) if one)


def name_hosts(names: Iterable[str], port: int) -> frozenset[str]:
    """The names with the port that browsers add: this server's, unless the name has its own. They add no 80 or 443."""
    found = set()
    for name in names:
        parts = AUTHORITY.fullmatch(name.lower())
        if parts is None:
            raise ValueError(name)
        host, other = parts[1], int(parts[2] or port)
        found.add(host if other in (80, 443) else f"{host}:{other}")
    return frozenset(found)


def is_same(given: str, secret: str) -> bool:
    return hmac.compare_digest(given.encode("utf-8", "surrogateescape"), secret.encode())


class Guard:
    """Comes before the routes. What it lets through has a name, an origin and a secret of ours, and a whole body."""

    def __init__(self, app: ASGIApp, access: Access) -> None:
        self.app, self.access = app, access

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            return

        async def send_guarded(message: Message) -> None:
            if message["type"] == "http.response.start":
                own = [(name, value) for name, value in message["headers"] if name.decode() not in HEADERS]
                kept = READ_ONLY if self.access.read_only else []
                message = {**message, "headers": [*own, *ENCODED, *kept]}
            await send(message)

        try:
            check(scope, self.access)
            if scope["method"] not in SAFE:
                receive = replay(await read_body(scope, receive))
        except Rejected as refused:
            answer = PlainTextResponse(f"{refused.why}\n", refused.status, {"connection": "close"})
            await answer(scope, receive, send_guarded)
        else:
            await self.app(scope, receive, send_guarded)


def check(scope: Scope, access: Access) -> None:
    """Raise what is wrong with a request."""
    method, path = scope["method"], scope["path"]
    if method not in METHODS:
        raise Rejected(405, f"{' and '.join(METHODS)} are the only methods here")
    if not path.startswith("/") or _values(scope, "upgrade"):
        raise Rejected(400, "only plain requests for a path are answered")
    if _size(scope) > LARGEST_HEAD:
        raise Rejected(431, f"the headers are larger than {LARGEST_HEAD:,} bytes")
    check_origin(scope, access)
    if method not in SAFE or not is_public(path):
        check_token(scope, access)
    if method not in SAFE and access.read_only:
        raise Rejected(403, "this server is read-only; start `council serve` without --read-only")
    if _values(scope, "transfer-encoding"):
        raise Rejected(411, "send the length of the body, and the body in one piece")
    if method in SAFE and _only(scope, "content-length") not in ("", "0"):
        raise Rejected(400, f"{method} takes no body")


def is_public(path: str) -> bool:
    """The page itself and its files, which are the same for everybody: a browser asks for them before any script runs
    that could send a token.
    """
    return path == "/" or path.startswith("/static/")


def check_origin(scope: Scope, access: Access) -> None:
    """A page of another origin gets nothing, not even if its name was made to resolve to this machine. It may lead to
    our page, as any link does.
    """
    hosts = _values(scope, "host")
    if len(hosts) != 1 or hosts[0].lower() not in access.hosts:
        raise Rejected(421, "this server does not answer to that name; `council serve --allow-host NAME` adds one")
    sites = _values(scope, "sec-fetch-site")
    if any(site not in ("same-origin", "none") for site in sites) and not is_link(scope):
        raise Rejected(403, "requests from other sites are refused")
    own = {f"{scheme}://{hosts[0].lower()}" for scheme in ("http", "https")}
    if any(origin.lower() not in own for origin in _values(scope, "origin")):
        raise Rejected(403, "requests from other origins are refused")


def is_link(scope: Scope) -> bool:
    """Whether a browser goes to our page in a tab of its own."""
    whole = _only(scope, "sec-fetch-mode") == "navigate" and _only(scope, "sec-fetch-dest") == "document"
    return whole and scope["method"] in SAFE and scope["path"] == "/"


def check_token(scope: Scope, access: Access) -> None:
    """The page sends the token in a header of its own, a program as a bearer: no browser adds either by itself."""
    given = _only(scope, PAGE_TOKEN)
    if not given:
        scheme, _, bearer = _only(scope, "authorization").partition(" ")
        given = bearer.strip() if scheme.lower() == "bearer" else ""
    if not given:
        raise Rejected(401, ASK_FOR_TOKEN)
    if not access.accepts(given):
        raise Rejected(401, f"that token is not valid here; {ASK_FOR_TOKEN}")


async def read_body(scope: Scope, receive: Receive) -> bytes:
    """The whole body, if it is JSON, not too large and does not come too slowly."""
    kind = _only(scope, "content-type").partition(";")[0].strip().lower()
    body = bytearray()
    try:
        async with asyncio.timeout(SLOWEST_BODY):
            while True:
                message = await receive()
                body += message.get("body", b"")
                if len(body) > LARGEST_BODY:
                    raise Rejected(413, f"the body is larger than {LARGEST_BODY:,} bytes")
                if not message.get("more_body"):
                    break
    except TimeoutError:
        raise Rejected(408, "the body came too slowly") from None
    if body and kind != "application/json":
        raise Rejected(415, "the body must be application/json")
    return bytes(body)


def replay(body: bytes) -> Receive:
    messages = [{"type": "http.request", "body": body, "more_body": False}]

    async def receive() -> Message:
        return messages.pop() if messages else {"type": "http.disconnect"}

    return receive


def _size(scope: Scope) -> int:
    return len(scope["raw_path"]) + len(scope["query_string"]) + sum(map(len, chain(*scope["headers"])))


def _values(scope: Scope, name: str) -> list[str]:
    return [value.decode("latin-1") for key, value in scope["headers"] if key == name.encode()]


def _only(scope: Scope, name: str) -> str:
    """The value of a header that may come once; empty without one."""
    values = _values(scope, name)
    if len(values) > 1:
        raise Rejected(400, f"the header {name} was sent {len(values)} times")
    return values[0] if values else ""
