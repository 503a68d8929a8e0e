"""A request while it is answered: what it waits for, and how it is cancelled.

Requests wait side by side and work one at a time, so that the tools need to know nothing about threads.
"""

from __future__ import annotations

import itertools
import threading
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from council.errors import Busy, UsageError
from council.mcp_server.protocol import BAD_PARAMS, Client, Refused
from council.text import one_line

if TYPE_CHECKING:
    from council.record.session import Session

PAUSE = 0.05  # seconds between two looks at a session that is in use
SIGN_OF_LIFE = 10.0  # seconds between progress notifications while a person is asked
Message = dict[str, Any]
_numbers = itertools.count(1)


class Cancelled(Exception):
    """The client wants no answer any more, or is gone."""


class InputRequired(Exception):
    """The client must ask its user, and repeat the request with the answer."""

    def __init__(self, requests: Mapping[str, Any]) -> None:
        super().__init__()
        self.requests = requests


@dataclass
class OpenForm:
    """A request of ours to the client, and its response, once there is one."""

    id: str = field(default_factory=lambda: f"council-{next(_numbers)}")
    ended: threading.Event = field(default_factory=threading.Event)
    response: Mapping[str, Any] | None = None


@dataclass
class ClientCall:
    """One request. `working` is held while it works, and free while it waits. `question` is what it asks the client;
    once the connection is `closed`, nobody answers it.
    """

    id: str | int
    method: str
    params: dict[str, Any]
    client: Client
    send: Callable[[Message], None]
    working: threading.Lock
    closed: threading.Event
    cancelled: threading.Event = field(default_factory=threading.Event)
    question: OpenForm | None = None
    reports: int = 0

    def cancel(self) -> None:
        self.cancelled.set()
        if self.question is not None:
            self.question.ended.set()

    def check(self) -> None:
        if self.cancelled.is_set():
            raise Cancelled

    def report(self, what: str) -> None:
        """Say what the request waits for, if the client asked for progress."""
        meta = self.params.get("_meta")
        token = meta.get("progressToken") if isinstance(meta, dict) else None
        if isinstance(token, str | int) and not isinstance(token, bool):
            self.reports += 1
            progress = {"progressToken": token, "progress": self.reports, "message": what}
            self.send({"jsonrpc": "2.0", "method": "notifications/progress", "params": progress})

    @contextmanager
    def hold(self, found: Session) -> Iterator[None]:
        """Hold the session, as soon as no other process does."""
        from council.record import lock

        began = time.monotonic()
        while lock.is_held(found.folder):
            note = lock.read_note(found.folder)
            if time.monotonic() - began > lock.longest_wait(note):
                raise Busy(f"{found.id} is in use by {lock.describe(note)}")
            if not self.reports:
                self.report(f"waiting for {found.id}, which is in use by {lock.describe(note)}")
            with self._waiting():
                self.cancelled.wait(PAUSE)
            self.check()
        with found.hold():
            self.check()  # also if it was cancelled before it waited, and the session is free by now
            yield

    def fill_form(self, name: str, message: str, schema: Mapping[str, Any]) -> Mapping[str, Any] | None:
        """What the client's user wrote into a form; None if they declined, or closed it."""
        form = {"message": message, "requestedSchema": schema}
        answer = self._ask_again(name, {"mode": "form", **form}) if self.client.stateless else self._ask(form)
        action, content = answer.get("action"), answer.get("content")
        if action in ("decline", "cancel"):
            return None
        if action != "accept" or not isinstance(content, dict):
            raise UsageError("the client's answer to the form cannot be read, so nothing was recorded")
        return content

    def _ask_again(self, name: str, form: Mapping[str, Any]) -> Mapping[str, Any]:
        """Without a connection that lasts, the client repeats its request, and adds the answer."""
        given = self.params.get("inputResponses") or {}
        if not isinstance(given, dict):
            raise Refused(BAD_PARAMS, "inputResponses must be an object")
        if name not in given:
            raise InputRequired({name: {"method": "elicitation/create", "params": form}})
        return given[name] if isinstance(given[name], dict) else {}

    def _ask(self, form: Mapping[str, Any]) -> Mapping[str, Any]:
        self.question = asked = OpenForm()
        self.check()
        self.send({"jsonrpc": "2.0", "id": asked.id, "method": "elicitation/create", "params": form})
        self.report("a person is being asked")
        with self._waiting():
            while not (self.closed.is_set() or asked.ended.wait(SIGN_OF_LIFE)):
                self.report("a person is still being asked")
        self.question = None
        if asked.response is None:
            why = {"requestId": asked.id, "reason": "the request that asked was cancelled"}
            self.send({"jsonrpc": "2.0", "method": "notifications/cancelled", "params": why})
            raise Cancelled
        if isinstance(error := asked.response.get("error"), dict):
            raise UsageError(f"the client could not ask the person: {one_line(str(error.get('message')), 200)}")
        answer = asked.response.get("result")
        return answer if isinstance(answer, dict) else {}

    @contextmanager
    def _waiting(self) -> Iterator[None]:
        """Let other requests work meanwhile."""
        self.working.release()
        try:
            yield
        finally:
            self.working.acquire()
