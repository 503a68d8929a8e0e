"""A page of somebody else, in a real Chromium whose user is logged in: it reads nothing and changes nothing, not even
with the token.
"""

from __future__ import annotations

import tempfile
import threading
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

from playwright.sync_api import Page, sync_playwright
from prove import Outcome

from tests import gates
from tests.webserver import WebServer

EVIL = "evil.example"
PAGE = b"<!DOCTYPE html><title>evil</title><p>Hello."
# Each runs in the page of somebody else. It returns what it could read or do; an error is a refusal.
LOADED = "new Promise((done, fail) => {{ const one = {}; one.{} = () => done('yes'); one.onerror = fail; {} }})"
TEXT = "then((answer) => answer.text()).then((text) => text || Promise.reject())"
SENT = "fetch(server + '{}', {{credentials: 'include', {}}})." + TEXT
OURS = "'X-Council-Token': token"
APPROVE = "/api/sessions/gated/approve"
BODY = "body: JSON.stringify({reason: 'x'})"
ATTACKS = {
    "fetch": SENT.format("/api/sessions", "headers: {" + OURS + "}"),
    "a script": LOADED.format(
        "document.createElement('script')", "onload", "one.src = server + '/static/dom.js'; document.head.append(one)"
    ),
    "a picture": LOADED.format("new Image()", "onload", "one.src = server + '/static/mark.svg'"),
    "events": LOADED.format("new EventSource(server + '/api/events', {withCredentials: true})", "onopen", ""),
    "fetch without CORS": SENT.format("/api/sessions", "mode: 'no-cors', headers: {" + OURS + "}"),
    "a WebSocket": LOADED.format("new WebSocket(server.replace('http', 'ws') + '/api/events')", "onopen", ""),
    "a POST with our header": SENT.format(
        APPROVE, "method: 'POST', headers: {'Content-Type': 'application/json', " + OURS + "}, " + BODY
    ),
    "a POST as plain text": SENT.format(APPROVE, "method: 'POST', mode: 'no-cors', " + BODY),
}
HARMLESS = tuple(ATTACKS)[:3]  # what the server's own page may do


class _Evil(BaseHTTPRequestHandler):
    def do_GET(self) -> None:
        self.send_response(200)
        self.send_header("Content-Type", "text/html")
        self.end_headers()
        self.wfile.write(PAGE)

    def log_message(self, format: str, *args: object) -> None:  # noqa: A002 (its base calls it so)
        pass


@contextmanager
def evil_server() -> Iterator[int]:
    server = ThreadingHTTPServer(("127.0.0.1", 0), _Evil)
    thread = threading.Thread(target=server.serve_forever)
    thread.start()
    try:
        yield server.server_address[1]
    finally:
        server.shutdown()
        thread.join()
        server.server_close()


def attack(page: Page, target: str, token: str, names: Iterable[str] = ATTACKS) -> list[str]:
    """The attacks that got somewhere."""
    found = []
    for name in names:
        raced = f"Promise.race([{ATTACKS[name]}, new Promise((_, fail) => setTimeout(fail, 3000))])"
        if page.evaluate(f"([server, token]) => {raced}.then(() => true, () => false)", [target, token]):
            found.append(name)
    return found


def parts() -> list[str]:
    return ["a page of somebody else", "a name that is made to mean this machine"]


def prove(part: str) -> Outcome:
    rebound = part == parts()[1]
    with (
        tempfile.TemporaryDirectory(prefix="council-window-") as folder,
        evil_server() as port,
        sync_playwright() as playwright,
    ):
        user = gates.make(Path(folder))
        user.council("start", "-w", "gated", "--id", "gated", "Shall we?")
        with WebServer(user) as server:
            rules = f"--host-resolver-rules=MAP {EVIL} 127.0.0.1"
            browser = playwright.chromium.launch(executable_path="/usr/bin/chromium", args=["--no-sandbox", rules])
            context = browser.new_context()
            own = context.new_page()
            own.goto(server.address)  # the user is logged in
            allowed = attack(own, f"http://{server.host}", server.token, HARMLESS)
            page = context.new_page()
            target = f"http://{EVIL}:{server.port}" if rebound else f"http://{server.host}"
            status = page.goto(f"{target}/#token={server.token}").status if rebound else 421  # type: ignore[union-attr]
            page.goto(f"http://{EVIL}:{port}/")
            found = attack(page, target, server.token)
            browser.close()
        turns = list((user.session / "turns").rglob("*.md"))
    sound = not turns and status == 421 and allowed == [*HARMLESS]
    held = len(ATTACKS) - len(found) if sound else 0
    row = ("other origins", f"{part}, in Chromium", "nothing is read or changed", f"{len(found)} got through",
           len(ATTACKS), held)  # fmt: skip
    why = f"{part}: {', '.join(found)}; status {status}, turns {turns}, allowed {allowed}"
    return Outcome([row], [] if held == len(ATTACKS) else [why])
