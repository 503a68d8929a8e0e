"""Requests that nobody honest sends: bytes for the wire, and the statuses that refuse them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from tests.webserver import WebServer

SESSIONS = "/api/sessions"
TOKEN = "X-Council-Token"
NAVIGATED = {"Sec-Fetch-Site": "cross-site", "Sec-Fetch-Mode": "navigate", "Sec-Fetch-Dest": "document"}


@dataclass(frozen=True)
class Hostile:
    """`leaves` are headers that are left out, `adds` those that are added or changed; {host} and {token} are filled."""

    what: str
    refused: tuple[int, ...]
    first: str = f"GET {SESSIONS} HTTP/1.1"
    adds: Mapping[str, str] | None = None
    leaves: tuple[str, ...] = ()
    more: str = ""
    body: bytes = b""

    def encode(self, server: WebServer) -> bytes:
        usual = {"Host": "{host}", TOKEN: "{token}", "Connection": "close"}
        if self.body:
            usual |= {"Content-Type": "application/json", "Content-Length": str(len(self.body))}
        headers = {name: value for name, value in (usual | dict(self.adds or {})).items() if name not in self.leaves}
        lines = [self.first, *(f"{name}: {value}" for name, value in headers.items())]
        head = "\r\n".join(lines) + "\r\n" + self.more + "\r\n"
        for word, real in (("{host}", server.host), ("{token}", server.token)):
            head = head.replace(word, real)
        return head.encode("latin-1") + self.body


POST = f"POST {SESSIONS} HTTP/1.1"
REQUESTS = (
    Hostile("no token", (401,), leaves=(TOKEN,)),
    Hostile("an empty token", (401,), adds={TOKEN: ""}),
    Hostile("a wrong token", (401,), adds={TOKEN: "x"}),
    Hostile("the token and another", (400,), more=f"{TOKEN}: x\r\n"),
    Hostile("a wrong token beside a right bearer", (401,), adds={TOKEN: "x", "Authorization": "Bearer {token}"}),
    Hostile("the token as a cookie", (401,), adds={"Cookie": "council={token}"}, leaves=(TOKEN,)),
    Hostile("a wrong bearer", (401,), adds={"Authorization": "Bearer x"}, leaves=(TOKEN,)),
    Hostile("another scheme", (401,), adds={"Authorization": "Basic {token}"}, leaves=(TOKEN,)),
    Hostile("the token in the address", (401,), f"GET {SESSIONS}?token={{token}} HTTP/1.1", leaves=(TOKEN,)),
    Hostile("HEAD without a token", (401,), f"HEAD {SESSIONS} HTTP/1.1", leaves=(TOKEN,)),
    Hostile("POST without a token", (401,), POST, leaves=(TOKEN,), body=b"{}"),
    Hostile("POST to the page without a token", (401,), "POST / HTTP/1.1", leaves=(TOKEN,), body=b"{}"),
    Hostile("two slashes", (401,), f"GET /{SESSIONS} HTTP/1.1", leaves=(TOKEN,)),
    Hostile("out of the page's files", (404,), f"GET /static/..{SESSIONS} HTTP/1.1", leaves=(TOKEN,)),
    Hostile("out of them, encoded", (404,), f"GET /static/%2e%2e{SESSIONS} HTTP/1.1", leaves=(TOKEN,)),
    Hostile("a file whose name begins like theirs", (401,), "GET /statics HTTP/1.1", leaves=(TOKEN,)),
    Hostile("the page by a rebound name", (421,), "GET / HTTP/1.1", {"Host": "evil.example"}, (TOKEN,)),
    Hostile("the page in a frame", (403,), "GET / HTTP/1.1", NAVIGATED | {"Sec-Fetch-Dest": "iframe"}, (TOKEN,)),
    Hostile("the page fetched elsewhere", (403,), "GET / HTTP/1.1", NAVIGATED | {"Sec-Fetch-Mode": "cors"}, (TOKEN,)),
    Hostile("a form of another site", (403,), "POST / HTTP/1.1", NAVIGATED, body=b"{}"),
    Hostile("a link of another site to more than the page", (403,), adds=NAVIGATED),
    Hostile("its script on another site", (403,), "GET /static/app.js HTTP/1.1", {"Sec-Fetch-Site": "cross-site"}),
    Hostile("a rebound name", (421,), adds={"Host": "evil.example"}),
    Hostile("a rebound name, with our port", (421,), adds={"Host": "evil.example:1"}),
    Hostile("another port", (421,), adds={"Host": "127.0.0.1:1"}),
    Hostile("no port", (421,), adds={"Host": "127.0.0.1"}),
    Hostile("a name with a dot at its end", (421,), adds={"Host": "localhost."}),
    Hostile("IPv6, which is not listened on", (421,), adds={"Host": "[::1]:1"}),
    Hostile("another spelling of the address", (421,), adds={"Host": "2130706433"}),
    Hostile("no name", (400, 421), leaves=("Host",)),
    Hostile("no name, in HTTP/1.0", (421,), f"GET {SESSIONS} HTTP/1.0", leaves=("Host",)),
    Hostile("two names", (400, 421), more="Host: evil.example\r\n"),
    Hostile("a user in the name", (421,), adds={"Host": "{host}@evil.example"}),
    Hostile("a whole address", (400, 421), f"GET http://evil.example{SESSIONS} HTTP/1.1"),
    Hostile("a whole address that is ours", (400,), f"GET http://{{host}}{SESSIONS} HTTP/1.1"),
    Hostile("a foreign origin", (403,), adds={"Origin": "http://evil.example"}),
    Hostile("the origin null", (403,), adds={"Origin": "null"}),
    Hostile("another port's origin", (403,), adds={"Origin": "http://127.0.0.1:1"}),
    Hostile("another name of ours as the origin", (403,), adds={"Origin": "http://localhost:1"}),
    Hostile("another site", (403,), adds={"Sec-Fetch-Site": "cross-site"}),
    Hostile("the same site, another port", (403,), adds={"Sec-Fetch-Site": "same-site"}),
    Hostile(
        "a bearer from another site",
        (403,),
        adds={"Authorization": "Bearer {token}", "Origin": "null"},
        leaves=(TOKEN,),
    ),
    Hostile("POST of a form", (415,), POST, {"Content-Type": "application/x-www-form-urlencoded"}, body=b"a=b"),
    Hostile("POST of plain text", (415,), POST, {"Content-Type": "text/plain"}, body=b"{}"),
    Hostile("a body of 2 MB", (413,), POST, body=b" " * 2_000_000),
    Hostile("a body in a GET", (400,), body=b"{}"),
    Hostile("two lengths", (400,), POST, more="Content-Length: 5\r\n", body=b"{}"),
    Hostile("a length and chunks", (400, 411), POST, {"Transfer-Encoding": "chunked"}, body=b"0\r\n\r\n"),
    Hostile("DELETE", (405,), f"DELETE {SESSIONS} HTTP/1.1"),
    Hostile("PUT", (405,), f"PUT {SESSIONS} HTTP/1.1"),
    Hostile("OPTIONS, before a request from elsewhere", (405,), f"OPTIONS {SESSIONS} HTTP/1.1"),
    Hostile("TRACE", (405,), "TRACE / HTTP/1.1"),
    Hostile("CONNECT", (400, 405), "CONNECT evil.example:443 HTTP/1.1"),
    Hostile("an invented method", (405,), "GETS / HTTP/1.1"),
    Hostile("a WebSocket", (400,), adds={"Upgrade": "websocket", "Connection": "Upgrade"}),
    Hostile("HTTP/2 in the clear", (400,), adds={"Upgrade": "h2c", "Connection": "Upgrade"}),
    Hostile("a header of 1 MB", (400, 431), adds={"X-Long": "x" * 1_000_000}),
    Hostile("a target of 100 KB", (400, 414, 431), f"GET /{'x' * 100_000} HTTP/1.1"),
    Hostile("a line that is no header", (400,), more="no colon\r\n"),
    Hostile("a header folded over two lines", (400, 421), adds={"Host": "evil.example\r\n {host}"}),
    Hostile("no HTTP", (400,), "hello"),
    Hostile("a path out of the folder", (404,), "GET /static/../guard.py HTTP/1.1"),
    Hostile("an encoded path out of the folder", (404,), "GET /static/..%2fguard.py HTTP/1.1"),
    Hostile("an absolute path", (404,), "GET /static//etc/passwd HTTP/1.1"),
    Hostile("an encoded session outside", (404,), f"GET {SESSIONS}/..%2f..%2fConfig.md HTTP/1.1"),
)
