"""What the server refuses, over raw sockets, and what it lets through."""

from __future__ import annotations

import os
import re
import shutil
import socket
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any
from urllib.parse import parse_qs, urlsplit

import pytest

from council.web import guard, peer
from council.web import server as servers
from tests.coding import wait_until
from tests.helpers import User
from tests.hostile_requests import REQUESTS, Hostile
from tests.webserver import WebServer


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
    cookie = "=".join(server.cookie)
    for path, token, status in (("/", "", 200), ("/api/sessions", "wrong", 401), ("/nowhere", server.token, 404)):
        answer = server.ask("GET", path, token=token, **({"Cookie": cookie} if not token else {}))
        assert answer.status == status
        assert {name: answer.headers.get(name) for name in guard.HEADERS} == guard.HEADERS


def test_a_login_takes_the_token_out_of_the_address(server: WebServer) -> None:
    answer = server.ask("GET", f"/?token={server.token}", token="")
    assert (answer.status, answer.headers["location"]) == (303, "/")
    name, value = server.cookie
    assert answer.headers["set-cookie"] == f"{name}={value}; HttpOnly; Path=/; SameSite=strict"
    assert server.token not in answer.headers["set-cookie"]


def test_who_sends_nothing_is_not_waited_for(server: WebServer, monkeypatch: pytest.MonkeyPatch) -> None:
    """The time-outs are measured by scripts/prove; here, that a connection which stays silent harms nobody."""
    with socket.create_connection(("127.0.0.1", server.port)) as slow:
        slow.sendall(b"GET / HTTP/1.1\r\nHost: ")
        assert server.ask("GET", "/api/sessions").status == 200


def test_a_code_is_good_for_one_login_and_not_for_long(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(guard.peer, "TABLES", ())  # where nobody can tell whose a connection is
    access = guard.Access(1, frozenset(), "t" * 32)
    code = access.make_code()
    assert [access.accepts_login(one, 2) for one in (code, code, "")] == [True, False, False]
    late = access.make_code()
    access.codes[late] -= guard.CODE_LASTS
    assert not access.accepts_login(late, 2)


def test_whose_a_connection_is(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """A socket that is closed, or not connected, reads as root's: it counts for nobody."""

    def line(uid: int, state: str = "01", inode: int = 5, port: int = 0x1000) -> str:
        return f" 0: 0100007F:{port:04X} 0100007F:2000 {state} 0:0 00:0 0  {uid} 0 {inode} 1 0 20 4 30 10 -1\n"

    table = tmp_path / "tcp"
    monkeypatch.setattr(peer, "TABLES", (table, tmp_path / "none"))
    own, other = os.geteuid(), os.geteuid() + 1
    for lines, ours in (
        ([line(own)], True), ([line(peer.ROOT)], True), ([line(other)], False), ([line(own), line(other)], False),
        ([line(peer.ROOT, inode=0)], False), ([line(own, state="06")], False), ([line(own, port=0x1001)], False),
    ):  # fmt: skip
        table.write_text("".join(["  sl  local_address\n", *lines]))
        assert peer.is_own_user(0x1000, 0x2000) is ours, lines
    table.unlink()
    assert peer.is_own_user(0x1000, 0x2000) is None


@pytest.mark.parametrize(("user", "sudo", "own"), [(0, "1000", {0, 1000}), (0, "", {0}), (7, "1000", {0, 7})])
def test_whoever_became_root_is_meant(user: int, sudo: str, own: set[int], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(os, "geteuid", lambda: user)
    monkeypatch.setenv("SUDO_UID", sudo)
    assert peer.list_own_users() == own


ASK = """exec 3<>/dev/tcp/127.0.0.1/$0
printf 'GET /?%s HTTP/1.1\\r\\nHost: 127.0.0.1:%s\\r\\nConnection: close\\r\\n\\r\\n' "$1" "$0" >&3
read -r _ status _ <&3; echo "$status" """


@pytest.mark.skipif(not shutil.which("bash"), reason="bash is not installed, which opens the connections")
def test_the_browser_gets_a_code_that_nobody_else_can_use(tmp_path: Path) -> None:
    """A browser's command line is no secret: it has no token, and its code is worth nothing to another user."""
    user, seen = User(tmp_path), tmp_path / "seen"
    browser = user.write("browser", f'#!/bin/sh\nprintf %s "$1" > {seen}.new && mv {seen}.new {seen}\n')
    browser.chmod(0o700)
    served = user.spawn("serve", "--open", env={"BROWSER": f"{browser} %s"})
    try:
        assert served.stdout
        printed = urlsplit(served.stdout.readline().decode().strip())
        assert wait_until(seen.exists)
        given = urlsplit(seen.read_text())
        assert (given.netloc, given.path) == (printed.netloc, printed.path)
        assert parse_qs(printed.query)["token"][0] not in seen.read_text()

        def ask(**how: Any) -> str:
            words = ["bash", "-c", ASK, str(given.port), given.query]
            return subprocess.run(words, capture_output=True, text=True, check=True, **how).stdout.strip()

        if os.geteuid() == 0 and sys.platform == "linux":
            assert ask(user=65534, cwd="/") == "401"
        assert [ask(), ask()] == ["303", "401"]
    finally:
        served.kill()
        served.communicate()


COOKIE = """exec 3<>/dev/tcp/127.0.0.1/$0
printf 'GET /api/sessions HTTP/1.1\\r\\nHost: 127.0.0.1:%s\\r\\nConnection: close\\r\\n' "$0" >&3
printf 'Cookie: %s=%s\\r\\n\\r\\n' "$1" "$2" >&3
read -r _ status _ <&3; echo "$status" """


@pytest.mark.skipif(
    os.geteuid() != 0 or sys.platform != "linux" or not shutil.which("bash"), reason="needs root, Linux and bash"
)
def test_the_cookie_is_worth_nothing_to_another_user(server: WebServer) -> None:
    """A browser sends it to every port of this machine, and what listens there may be another user's."""

    def ask(**how: Any) -> str:
        words = ["bash", "-c", COOKIE, str(server.port), *guard.Access(server.port, frozenset(), server.token).cookie]
        return subprocess.run(words, capture_output=True, text=True, check=True, **how).stdout.strip()

    assert [ask(user=65534, cwd="/"), ask()] == ["401", "200"]


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
