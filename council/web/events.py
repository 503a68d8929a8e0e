"""Live: what changes in sessions, as server-sent events. Files are looked at ten times a second while somebody watches.

That needs nothing of the process that runs a debate, works on any file system, and costs nothing while nobody looks.
One watch looks at a session, however many watch it.
"""

from __future__ import annotations

import asyncio
import json
import os
import sys
import time
from collections.abc import AsyncGenerator, Callable, Iterator
from contextlib import aclosing
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from starlette.responses import StreamingResponse
from starlette.types import Receive, Scope, Send

from council.errors import CouncilError
from council.record import live, lock
from council.web import cursor
from council.web.cursor import Cursor, Json, SeenSession, SeenWords

TICK = 0.1  # seconds between two looks
HELD_EVERY = 10  # looks between two questions whether a process holds the session
SETTLED = 1.0  # seconds after which a folder's time tells whether something in it has changed since
SILENCE = 15.0  # seconds after which a stream without events says that it is there
HEARTBEAT = b": \n\n"
RETRY = b"retry: 500\n\n"  # milliseconds until a browser comes back
BESIDE = ("metadata.json", lock.NOTE)


@dataclass
class Looker:
    """Looks at one session, and remembers what it saw."""

    folder: Path
    snapshot: SeenSession = field(default_factory=SeenSession)
    names: dict[str, tuple[int, tuple[str, ...]]] = field(default_factory=dict)
    mark: object = None
    held: bool = False
    looks: int = 0
    view: Json = field(default_factory=dict)
    said: dict[str, SeenWords] = field(default_factory=dict)

    def look(self) -> SeenSession:
        """The session as it is now; the same object as before if nothing has changed."""
        mark, held = self._mark(), self.held
        if self.looks % HELD_EVERY == 0 or mark != self.mark:
            held = lock.is_held(self.folder)
        self.looks += 1
        changed = mark != self.mark or held != self.held
        if changed:
            self.held, self.view = held, read_view(self.folder)
            self.mark = mark if self._mark() == mark else None  # it may have changed while it was read
        said = self._read_live()
        if changed or said != self.said:
            self.said = said
            cards = {card["turn"]: card for card in list_cards(self.view)}
            digests = {turn: cursor.digest(card) for turn, card in cards.items()}
            speaking = {turn: words for turn, words in said.items() if turn not in cards}
            self.snapshot = SeenSession(cards, speaking, describe_due(self.view), as_state(self.view), digests)
        return self.snapshot

    def _mark(self) -> object:
        """Changes with each turn, and with what is beside the turns."""
        return tuple(self._list_turns()), tuple(_stat(self.folder / name) for name in BESIDE), _stat(self.folder)

    def _list_turns(self) -> Iterator[tuple[str, tuple[str, ...]]]:
        """The turns of each place. Only folders that have changed, or changed so recently that their time may not tell,
        are listed again."""
        try:
            places = sorted(os.scandir(self.folder / "turns"), key=lambda entry: entry.name)
        except OSError:
            return
        for place in places:
            try:
                changed = place.stat(follow_symlinks=False).st_mtime_ns
                known, names = self.names.get(place.name, (0, ()))
                if known != changed or changed > (time.time() - SETTLED) * 1e9:
                    names = tuple(sorted(name for name in os.listdir(place.path) if name.endswith(".md")))
                    self.names[place.name] = changed, names
            except OSError:
                continue
            yield place.name, names

    def _read_live(self) -> dict[str, SeenWords]:
        """What seats are saying. While a person of the same batch has not answered, nobody reads the others' words."""
        due = {card["turn"]: card for card in (self.view.get("open") or {}).get("cards", ()) if card["state"] == "due"}
        if any(card.get("person") for card in due.values()):
            return {}
        found = {}
        speaking = live.find_speaking(self.folder)
        self.held = self.held or (bool(speaking) and lock.is_held(self.folder))
        for turn in speaking:
            before = self.said.get(turn)
            new = live.read_words(self.folder, turn, *((before.key, len(before.data)) if before else ()))
            if new is None:
                continue
            data = (before.data[: new.at] if before and new.at else b"") + new.text.encode("utf-8", "replace")
            seat = due.get(turn, {})
            name = turn.partition("/")[2]
            found[turn] = SeenWords(new.key, seat.get("seat", name), seat.get("label", name), data, not self.held)
        return found


def _stat(path: Path) -> tuple[int, int, int] | None:
    try:
        about = os.stat(path, follow_symlinks=False)
    except OSError:
        return None
    return about.st_mtime_ns, about.st_size, about.st_ino


def read_view(folder: Path) -> Json:
    """The session as the page shows it. Whatever is wrong with it, the stream goes on."""
    from council.web import views  # which a server that only lists sessions does without

    try:
        return views.session(folder)
    except Exception as failure:  # noqa: BLE001 (a mistake of ours must not end the stream)
        why = str(failure) if isinstance(failure, CouncilError | OSError) else f"{type(failure).__name__}: {failure}"
        return {"session_id": folder.name, "state": "damaged", "why": why, "readable": False}


def list_cards(view: Json) -> Iterator[Json]:
    """Every turn that is recorded, in the order of the debate."""
    for stage in view.get("stages", ()):
        for round in stage["rounds"]:
            yield from round["cards"]
    for card in (view.get("open") or {}).get("cards", ()):
        if card["state"] not in ("due", "waits"):
            yield card
    if made := view.get("synthesis"):
        yield made["card"]


def describe_due(view: Json) -> Json:
    """Who has to speak now, and where in the protocol that is."""
    opened = view.get("open") or {}
    cards = [card for card in opened.get("cards", ()) if card["state"] in ("due", "waits")]
    return {
        "turns": [card["turn"] for card in cards if card["state"] == "due"], "cards": cards,
        "phase": opened.get("phase"), "round": opened.get("round"), "reason": opened.get("before", []),
    }  # fmt: skip


ROW = (
    "session_id", "state", "why", "started_at", "completed_at", "topic", "workflow", "members", "outcome", "turns",
    "due", "usd", "totals",
)  # fmt: skip


def as_state(view: Json) -> Json:
    """The row of the list, as far as it changes only with the session."""
    return {name: view.get(name) for name in ROW}


@dataclass
class Watch:
    """Something that several viewers watch: one task looks, and wakes them all."""

    look: Callable[[], Any]
    every: float = TICK
    seen: Any = None
    viewers: int = 0
    version: int = 0
    closed: bool = False
    changed: asyncio.Condition = field(default_factory=asyncio.Condition)
    task: asyncio.Task[None] | None = None

    async def run(self) -> None:
        complaint = ""
        while not self.closed:
            try:
                await self.step()
            except Exception as failure:  # noqa: BLE001 (whatever it is, it may be over at the next look)
                if (now := f"council: {type(failure).__name__}: {failure}") != complaint:
                    print(now, file=sys.stderr, flush=True)
                complaint = now
            await asyncio.sleep(self.every)

    async def step(self) -> None:
        seen = await asyncio.to_thread(self.look)
        if seen is not self.seen:
            async with self.changed:
                self.seen, self.version = seen, self.version + 1
                self.changed.notify_all()

    async def end(self) -> None:
        async with self.changed:
            self.closed = True
            self.changed.notify_all()

    async def wait(self, version: int) -> bool:
        """Whether there is something newer than that; False after a while, so that the stream can say it is there."""
        try:
            async with asyncio.timeout(SILENCE), self.changed:
                await self.changed.wait_for(lambda: self.version != version or self.closed)
        except TimeoutError:
            return False
        return True


class Watches:
    """The watches that somebody needs now, by what they look at."""

    def __init__(self) -> None:
        self.all: dict[object, Watch] = {}
        self.ending: list[asyncio.Future[None]] = []

    def join(self, key: object, make: Callable[[], Watch]) -> Watch:
        watch = self.all.get(key) or self.all.setdefault(key, make())
        watch.viewers += 1
        if watch.task is None:
            watch.task = asyncio.create_task(watch.run())
        return watch

    def leave(self, key: object, watch: Watch) -> None:
        watch.viewers -= 1
        if not watch.viewers and self.all.get(key) is watch:
            del self.all[key]
            watch.closed = True

    def close(self) -> None:
        """End every stream."""
        self.ending = [asyncio.ensure_future(watch.end()) for watch in self.all.values()]

    async def follow(self, folder: Path, last: str) -> AsyncGenerator[bytes, None]:
        """The events of one session for one viewer, after the event with the id `last`."""
        watch = self.join(folder, lambda: Watch(Looker(folder).look))
        sent: Cursor | None = None
        try:
            yield RETRY
            while not watch.closed:
                version = watch.version
                if version and sent is None:
                    sent = cursor.decode(last, watch.seen)
                if sent is not None:
                    for name, data, id in cursor.advance(sent, watch.seen):
                        yield format_event(name, data, id)
                if not await watch.wait(version):
                    yield HEARTBEAT
        finally:
            self.leave(folder, watch)


class EventStream(StreamingResponse):
    """Server-sent events. However the connection ends, what they come from is closed at once."""

    def __init__(self, events: AsyncGenerator[bytes, None]) -> None:
        super().__init__(events, media_type="text/event-stream")
        self.events = events

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        async with aclosing(self.events):
            await super().__call__(scope, receive, send)


def format_event(name: str, data: Json, id: str = "") -> bytes:
    lines = [*([f"id: {id}"] if id else ()), f"event: {name}", f"data: {json.dumps(data)}"]
    return ("\n".join(lines) + "\n\n").encode()
