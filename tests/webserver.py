"""`council serve` in a process of its own, and requests to it as a browser or a program sends them."""

from __future__ import annotations

import http.client
import json
import socket
import subprocess
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from types import TracebackType
from typing import Any
from urllib.parse import urlsplit

from tests.coding import wait_until
from tests.helpers import PATIENCE, User


@dataclass(frozen=True)
class WebAnswer:
    status: int
    headers: Mapping[str, str]
    body: bytes

    @property
    def json(self) -> Any:
        return json.loads(self.body)


class WebServer:
    """A server that has printed its address. As a context manager it is gone when the block ends."""

    def __init__(self, user: User, *words: str, fixed: str = "") -> None:
        self.user = user
        self.process: subprocess.Popen[bytes] = user.spawn(
            "serve", "--no-open", *words, env={"COUNCIL_TOKEN": fixed}, stderr=subprocess.DEVNULL
        )
        assert self.process.stdout
        self.address = self.process.stdout.readline().decode().strip()
        parts = urlsplit(self.address)
        assert parts.port, self.address
        assert parts.fragment.startswith("token="), self.address
        self.ip, self.port, self.token = parts.hostname or "", parts.port, parts.fragment.removeprefix("token=")
        self.host = parts.netloc

    def __enter__(self) -> WebServer:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        self.process.kill()
        self.process.communicate()

    def ask(self, method: str, path: str, body: Any = None, token: str | None = None, **headers: str) -> WebAnswer:
        """One request; by default that of a program with the token."""
        token = self.token if token is None else token
        sent = {name.replace("_", "-"): value for name, value in headers.items()}
        if token:
            sent["Authorization"] = f"Bearer {token}"
        data = None if body is None else json.dumps(body)
        if data is not None:
            sent.setdefault("Content-Type", "application/json")
        connection = http.client.HTTPConnection(self.ip, self.port, timeout=PATIENCE)
        try:
            connection.request(method, path, data, sent)
            answer = connection.getresponse()
            return WebAnswer(answer.status, {key.lower(): value for key, value in answer.getheaders()}, answer.read())
        finally:
            connection.close()

    def send_raw(self, data: bytes) -> bytes:
        """Bytes as they are, and everything that comes back until the server closes."""
        with socket.create_connection((self.ip, self.port), PATIENCE) as wire:
            answer = b""
            with suppress(ConnectionError):  # it may be refused before all of it was sent
                wire.sendall(data)
            with suppress(ConnectionError):
                while part := wire.recv(65536):
                    answer += part
            return answer

    @contextmanager
    def stream(self, path: str, **headers: str) -> Iterator[Iterator[dict[str, Any]]]:
        """The events of a stream, as they come; comments are left out."""
        connection = http.client.HTTPConnection(self.ip, self.port, timeout=PATIENCE)
        sent = {name.replace("_", "-"): value for name, value in headers.items()}
        connection.request("GET", path, headers={"Authorization": f"Bearer {self.token}", **sent})
        answer = connection.getresponse()
        assert answer.status == 200, answer.read()
        try:
            yield read_events(answer)
        finally:
            connection.close()


@contextmanager
def opened(user: User) -> Iterator[tuple[subprocess.Popen[bytes], str, str]]:
    """A server that starts a browser, the address that it prints, and what the browser was started with."""
    seen = user.root / "seen"
    browser = user.write("browser", f'#!/bin/sh\nprintf %s "$1" > {seen}.new && mv {seen}.new {seen}\n')
    browser.chmod(0o700)
    served = user.spawn("serve", "--open", env={"BROWSER": f"{browser} %s"})
    try:
        assert served.stdout
        printed = served.stdout.readline().decode().strip()
        assert wait_until(seen.exists)
        yield served, printed, seen.read_text()
    finally:
        served.kill()
        served.communicate()
        seen.unlink(missing_ok=True)


def read_events(answer: http.client.HTTPResponse) -> Iterator[dict[str, Any]]:
    fields: dict[str, str] = {}
    for line in answer:
        name, _, value = line.decode().rstrip("\n").partition(": ")
        if name and value:
            fields[name] = value
        elif not name and "event" in fields:
            yield {**fields, "data": json.loads(fields["data"])}
            fields = {}


class Reader:
    """What a page makes of the events, and a complaint where it would have lost or doubled words."""

    def __init__(self) -> None:
        self.cards: dict[str, Any] = {}
        self.words: dict[str, bytes] = {}
        self.last = ""

    def read(self, name: str, data: dict[str, Any], id: str) -> None:
        self.last = id
        if name == "turn":
            self.cards[data["turn"]] = data
            self.words.pop(data["turn"], None)
        elif name == "words":
            before = self.words.get(data["turn"], b"") if data["at"] else b""
            assert len(before) == data["at"], "words were lost or came twice"
            self.words[data["turn"]] = before + data["text"].encode()
