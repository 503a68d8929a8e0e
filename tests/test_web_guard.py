"""What the server refuses, over raw sockets, and what it lets through."""

from __future__ import annotations

import re
import signal
import socket
import stat
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from urllib.parse import urlsplit

import pytest

from council.web import guard, routes
from council.web import server as servers
from tests import gates
from tests.helpers import PATIENCE, User
from tests.hostile_requests import REQUESTS, Hostile
from tests.neighbours import run_proxy, serve_behind
from tests.webserver import WebServer, opened


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[WebServer]:
    with WebServer(User(tmp_path_factory.mktemp("guarded"))) as server:
        yield server


@pytest.mark.parametrize("request_", REQUESTS, ids=lambda one: one.what)
def test_a_hostile_request_is_refused(server: WebServer, request_: Hostile) -> None:
    answer = server.send_raw(request_.encode(server))
    status = re.match(rb"HTTP/1.1 (\d{3}) ", answer)
    assert status, answer[:200]
    assert int(status[1]) in request_.refused, answer[:500]
    assert b"sessions" not in answer.partition(b"\r\n\r\n")[2]


def test_an_honest_request_passes(server: WebServer) -> None:
    honest = Hostile("honest", (200,), adds={"Origin": "http://{host}", "Sec-Fetch-Site": "same-origin"})
    assert server.send_raw(honest.encode(server)).startswith(b"HTTP/1.1 200 ")
    assert server.ask("GET", "/api/sessions").status == 200
    assert server.ask("HEAD", "/api/sessions").body == b""


def test_every_answer_has_the_headers(server: WebServer) -> None:
    for path, token, status in (("/", "", 200), ("/api/sessions", "wrong", 401), ("/nowhere", server.token, 404)):
        answer = server.ask("GET", path, token=token)
        assert answer.status == status
        assert {name: answer.headers.get(name) for name in guard.HEADERS} == guard.HEADERS
        assert "set-cookie" not in answer.headers


def test_all_but_the_page_and_its_files_needs_the_token(server: WebServer) -> None:
    for route in routes.ROUTES:
        assert not guard.is_public(route.path)
        answer = server.ask(route.method, route.path.replace("{id}", "x"), token="")
        assert (answer.status, b"council serve" in answer.body) == (401, True), route.path
    assert server.ask("GET", "/", token="").status == 200
    assert server.ask("GET", "/nowhere", token="").status == 401


def test_a_link_elsewhere_leads_to_the_page_and_to_nothing_else(server: WebServer) -> None:
    linked = {"Sec_Fetch_Site": "cross-site", "Sec_Fetch_Mode": "navigate", "Sec_Fetch_Dest": "document"}
    assert server.ask("GET", "/", token="", **linked).status == 200
    assert server.ask("GET", "/api/sessions", **linked).status == 403


def test_a_token_of_the_users_own_outlives_the_server(tmp_path: Path) -> None:
    """The printed one does not: another user may listen on the port later, and an open page would send it there."""
    user, fixed = User(tmp_path), "a-token-that-is-known-to-the-tests-only"
    printed = []
    for _ in range(2):
        with WebServer(user, fixed=fixed) as server:
            assert server.ask("GET", "/api/sessions", token=fixed).status == 200
            assert server.ask("GET", "/api/sessions", token="", X_Council_Token=fixed).status == 200
            assert server.ask("GET", "/api/sessions").status == 200
            assert [server.ask("GET", "/api/sessions", token=one).status for one in printed] == [401] * len(printed)
            printed.append(server.token)
    assert fixed not in printed


@pytest.mark.parametrize("fixed", ["short", "x" * 31, "x" * 31 + " ", "x" * 31 + "é", "x" * 32 + "\n"])
def test_a_token_that_is_too_simple_is_refused(tmp_path: Path, fixed: str) -> None:
    done = User(tmp_path, {"COUNCIL_TOKEN": fixed}).council("serve", "--no-open")
    assert (done.code, "must have at least 32 letters" in done.err) == (2, True), done.err


def test_who_sends_nothing_is_not_waited_for(server: WebServer, monkeypatch: pytest.MonkeyPatch) -> None:
    """The time-outs are measured by scripts/prove; here, that a connection which stays silent harms nobody."""
    with socket.create_connection(("127.0.0.1", server.port)) as slow:
        slow.sendall(b"GET / HTTP/1.1\r\nHost: ")
        assert server.ask("GET", "/api/sessions").status == 200


def test_the_browser_is_started_with_a_file_that_nobody_else_can_read(tmp_path: Path) -> None:
    """What a program is started with is no secret: neither the token nor anything that is worth it is there."""
    user = User(tmp_path)
    with opened(user) as (served, printed, given):
        parts = urlsplit(given)
        assert (parts.scheme, parts.netloc, parts.query, parts.fragment) == ("file", "", "", "")
        file = Path(parts.path)
        assert f"url={printed}" in file.read_text()
        assert (stat.S_IMODE(file.parent.stat().st_mode), file.parent.parent) == (0o700, user.root)
        assert not file.parent.name.startswith("."), "a browser that is confined reads nothing that is hidden"
        served.send_signal(signal.SIGTERM)
        served.wait(PATIENCE)
        assert not file.parent.exists()


# From an address and a port of its choice; what it sends and its end come in one segment.
STRANGER = """
import os, socket, sys
wire = socket.socket()
wire.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
if os.getuid() == 0:
    os.setuid(65534)
wire.bind(("127.0.0.2", int(sys.argv[2])))
wire.connect(("127.0.0.1", int(sys.argv[1])))
if sys.argv[3] == "at once":
    wire.setsockopt(socket.IPPROTO_TCP, socket.TCP_CORK, 1)
wire.sendall(sys.stdin.buffer.read())
if sys.argv[3] == "at once":
    wire.shutdown(socket.SHUT_WR)
while part := wire.recv(65536):
    sys.stdout.buffer.write(part)
"""


@pytest.mark.skipif(sys.platform != "linux", reason="only Linux has all of 127.0.0.0/8 on the loopback")
def test_another_user_with_the_port_of_the_browser_gets_nothing(tmp_path: Path) -> None:
    """Another user with the same port on 127.0.0.2, and with every header that a browser sends by itself."""
    user = gates.make(tmp_path)
    assert user.council("start", "-w", "gated", "--id", "gated", "Shall we?").code == 0
    with WebServer(user) as server:
        for first, sent in (
            ("GET /api/sessions", b""),
            ("GET /api/sessions/gated/events", b""),
            ("POST /api/sessions/gated/approve", b'{"reason": "x"}'),
        ):
            head = (
                f"{first} HTTP/1.1\r\nHost: {server.host}\r\nOrigin: http://{server.host}\r\n"
                f"Sec-Fetch-Site: same-origin\r\nCookie: council-{server.port}=x; token=y\r\nX-Council: 1\r\n"
                f"Connection: close\r\nContent-Type: application/json\r\nContent-Length: {len(sent)}\r\n\r\n"
            ).encode()
            for how in ("slowly", "at once"):
                with socket.create_connection((server.ip, server.port)) as victim:
                    own = victim.getsockname()[1]
                    words = [sys.executable, "-I", "-c", STRANGER, str(server.port), str(own), how]
                    came = subprocess.run(words, input=head + sent, capture_output=True, check=True).stdout
                # The end of what a client sends may close the connection before it is answered.
                assert came.startswith(b"HTTP/1.1 401 ") or (how, came) == ("at once", b""), came
        assert server.ask("GET", "/api/gates").json["gates"], "nobody has approved it"
    assert not list((user.session / "turns").rglob("human.md"))


def test_a_proxy_of_another_user_passes_everything_on(tmp_path: Path) -> None:
    user = gates.make(tmp_path)
    assert user.council("start", "-w", "gated", "--id", "gated", "Shall we?").code == 0
    with run_proxy() as proxy, serve_behind(user, proxy) as server:
        server.port = proxy.port  # from here on, everything goes through the proxy
        with server.stream("/api/sessions/gated/events") as events:
            assert next(events)["event"] == "due"
            answer = server.ask("POST", "/api/sessions/gated/approve", {"reason": "x"})
            assert (answer.status, answer.json["recorded"]) == (200, True)
            assert next(event for event in events if event["event"] == "turn")["data"]["turn"] == gates.GATE
        assert server.ask("GET", "/api/sessions", token="").status == 401


@pytest.mark.parametrize("address", ["127.0.0.3", "0.0.0.0"])
@pytest.mark.skipif(sys.platform != "linux", reason="only Linux has all of 127.0.0.0/8 on the loopback")
def test_another_address_is_answered(tmp_path: Path, address: str) -> None:
    with WebServer(User(tmp_path), "--bind", address, "--allow-host", "127.0.0.3") as server:
        assert (server.ip, server.ask("GET", "/api/sessions").status) == ("127.0.0.3", 200)
        assert server.ask("GET", "/api/sessions", token="").status == 401


def test_a_name_with_the_port_of_https_is_printed_as_one(tmp_path: Path) -> None:
    served = User(tmp_path).spawn("serve", "--no-open", "--allow-host", "council.example:443")
    try:
        assert served.stdout
        assert served.stdout.readline().startswith(b"https://council.example/#token=")
    finally:
        served.kill()
        served.communicate()


def test_names_are_allowed_with_their_ports() -> None:
    assert guard.name_hosts(["Box.local", "box:443", "[::1]", "127.0.0.1:9"], 80) == {
        "box.local", "box", "[::1]", "127.0.0.1:9",
    }  # fmt: skip
    assert servers.grant(81, (), "127.0.0.1", False).hosts == {"127.0.0.1:81", "localhost:81"}
    assert servers.grant(81, ("box",), "192.0.2.1", False).hosts == {"box:81", "192.0.2.1:81"}
    assert servers.grant(81, (), "::1", False).hosts == {"[::1]:81", "127.0.0.1:81", "localhost:81"}


@pytest.mark.parametrize("name", ["a b", "http://a", "a/", "*", ":1", "a:b", "a@b", "é"])
def test_other_names_are_refused(name: str) -> None:
    with pytest.raises(ValueError, match=re.escape(name)):
        guard.name_hosts([name], 80)
