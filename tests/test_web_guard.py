"""What the server refuses, over raw sockets, and what it lets through."""

from __future__ import annotations

import re
import socket
from collections.abc import Iterator

import pytest

from council.web import guard
from council.web import server as servers
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


def test_a_code_is_good_for_one_login() -> None:
    access = guard.Access(1, frozenset(), "t" * 32, codes={"once"})
    assert [access.accepts_login("once"), access.accepts_login("once"), access.accepts_login("")] == [
        True,
        False,
        False,
    ]


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
