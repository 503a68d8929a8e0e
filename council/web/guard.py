"""Who may ask the server anything: checked before routing, and the same for every path. No switch turns a check off.

The server trusts three things about a request: the name that it was sent to, where a browser says it came from, and a
secret. A page of another origin has none of them, also when its own name resolves to this machine.
"""

from __future__ import annotations

import asyncio
import hashlib
import hmac
import re
import secrets
import time
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from http.cookies import CookieError, SimpleCookie
from itertools import chain
from urllib.parse import parse_qs

from starlette.responses import PlainTextResponse, RedirectResponse, Response
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from council.web import peer

SAFE = ("GET", "HEAD")
METHODS = (*SAFE, "POST")
LARGEST_BODY = 1_000_000  # bytes
LARGEST_HEAD = 16_384  # bytes
SLOWEST_BODY = 10.0  # seconds
CODE_LASTS = 300.0  # seconds: a browser may take long to start
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
    """What the server answers to. `hosts` are names with their ports, as browsers send them. `codes` are good for one
    login each, with the moment until which they are.
    """

    port: int
    hosts: frozenset[str]
    token: str
    read_only: bool = False
    codes: dict[str, float] = field(default_factory=dict)

    @property
    def cookie(self) -> tuple[str, str]:
        """Its name, with the port, since browsers send it to every port; and its value, which is not the token."""
        return f"council-{self.port}", hashlib.sha256(f"cookie {self.port} {self.token}".encode()).hexdigest()

    def make_code(self) -> str:
        """A code in place of the token for the address that a browser is started with: other users of the machine can
        read it there. So it is good once, soon, and for a browser of the same user."""
        code = secrets.token_urlsafe(24)
        self.codes[code] = time.monotonic() + CODE_LASTS
        return code

    def accepts_login(self, given: str, client: int | None = None) -> bool:
        """Whether that is the token, or a code that nobody has used. `client` is the port that it comes from."""
        for code, until in list(self.codes.items()):
            if is_same(given, code):
                if client is None or peer.is_own_user(client, self.port) is False:
                    return False
                del self.codes[code]
                return time.monotonic() < until
        return is_same(given, self.token)


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
            answer = check(scope, self.access)
            if answer is None and scope["method"] not in SAFE:
                receive = replay(await read_body(scope, receive))
        except Rejected as refused:
            answer = PlainTextResponse(f"{refused.why}\n", refused.status, {"connection": "close"})
        await (answer or self.app)(scope, receive, send_guarded)


def check(scope: Scope, access: Access) -> Response | None:
    """Raise what is wrong with a request; the answer to a login, None to all that may pass."""
    method, path = scope["method"], scope["path"]
    if method not in METHODS:
        raise Rejected(405, f"{' and '.join(METHODS)} are the only methods here")
    if not path.startswith("/") or _values(scope, "upgrade"):
        raise Rejected(400, "only plain requests for a path are answered")
    if _size(scope) > LARGEST_HEAD:
        raise Rejected(431, f"the headers are larger than {LARGEST_HEAD:,} bytes")
    check_origin(scope, access)
    query = parse_qs(scope["query_string"].decode("latin-1"))
    if method == "GET" and path == "/" and "token" in query:  # a look with HEAD must not use up a code
        client = scope.get("client")
        return log_in(query["token"], access, client[1] if client else None)
    check_secret(scope, access)
    if method not in SAFE and access.read_only:
        raise Rejected(403, "this server is read-only; start `council serve` without --read-only")
    if _values(scope, "transfer-encoding"):
        raise Rejected(411, "send the length of the body, and the body in one piece")
    if method in SAFE and _only(scope, "content-length") not in ("", "0"):
        raise Rejected(400, f"{method} takes no body")
    return None


def check_origin(scope: Scope, access: Access) -> None:
    """A page of another origin gets nothing, not even if its name was made to resolve to this machine."""
    hosts = _values(scope, "host")
    if len(hosts) != 1 or hosts[0].lower() not in access.hosts:
        raise Rejected(421, "this server does not answer to that name; `council serve --allow-host NAME` adds one")
    if any(site not in ("same-origin", "none") for site in _values(scope, "sec-fetch-site")):
        raise Rejected(403, "requests from other sites are refused")
    own = {f"{scheme}://{hosts[0].lower()}" for scheme in ("http", "https")}
    if any(origin.lower() not in own for origin in _values(scope, "origin")):
        raise Rejected(403, "requests from other origins are refused")


def log_in(given: Sequence[str], access: Access, client: int | None) -> Response:
    """Exchange the token for a cookie, and take it out of the address bar."""
    if len(given) != 1 or not access.accepts_login(given[0], client):
        raise Rejected(401, f"that token is not valid here; {ASK_FOR_TOKEN}")
    name, value = access.cookie
    answer = RedirectResponse("/", 303)
    answer.set_cookie(name, value, httponly=True, samesite="strict", path="/")
    return answer


def check_secret(scope: Scope, access: Access) -> None:
    """A browser shows the cookie, and to change anything also a header that forms of other pages cannot send; a program
    shows the token. Browsers send the cookie to servers on other ports, too, which may be another user's.
    """
    if scheme_and_token := _only(scope, "authorization"):
        scheme, _, given = scheme_and_token.partition(" ")
        if scheme.lower() != "bearer" or not is_same(given.strip(), access.token):
            raise Rejected(401, f"that token is not valid here; {ASK_FOR_TOKEN}")
        return
    name, value = access.cookie
    try:
        jar = SimpleCookie("; ".join(_values(scope, "cookie")))
    except CookieError:
        jar = SimpleCookie()
    if name not in jar or not is_same(jar[name].value, value):
        raise Rejected(401, ASK_FOR_TOKEN)
    if scope.get("client") and peer.is_own_user(scope["client"][1], access.port) is False:
        raise Rejected(401, "this cookie was given to another user of this machine")
    if scope["method"] not in SAFE and _only(scope, "x-council") != "1":
        raise Rejected(403, "a request that changes something needs the header X-Council: 1")


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
