"""The words of a debate that another process runs, as they are said; also when the server is killed meanwhile."""

from __future__ import annotations

import asyncio
import os
import signal
import subprocess
import time
from contextlib import chdir, closing
from dataclasses import replace
from pathlib import Path
from typing import Any
from unittest import mock

import pytest

from council.index.query import open_index
from council.web import finding
from council.web.events import Watches
from tests.fakeapi import Answer, FakeApi, Request
from tests.helpers import PATIENCE, Table, User, disputed
from tests.webserver import Reader, WebServer

MEMBERS = ("architect", "engineer")
KEYED = {"ANTHROPIC_API_KEY": "sk-test"}


def begin(user: User, api: FakeApi, id: str) -> subprocess.Popen[bytes]:
    env = {**KEYED, "ANTHROPIC_BASE_URL": api.url}
    return user.spawn("run", "--id", id, "--no-input", "--only", ",".join(MEMBERS), "Shall we?", env=env)


def wait_for(server: WebServer, id: str) -> None:
    while server.ask("GET", f"/api/sessions/{id}").status == 404:
        time.sleep(0.02)


def test_a_reader_follows_a_run_through_a_server_that_is_killed(tmp_path: Path) -> None:
    """The server is killed in the middle of the words of each of the first two rounds, and started again."""
    user, reader = User(tmp_path), Reader()
    sittings, ended, port = 0, False, "0"
    table = Table(user, disputed(MEMBERS), chunks=4, delay=0.06)

    def speak(request: Request) -> Answer:
        round = int(table.turn(request.text)[:2])
        return replace(table(request), once=lambda: sittings >= min(round, 3))

    with FakeApi(speak) as api, begin(user, api, "live") as run:
        while not ended:
            with WebServer(user, "--port", port) as server:
                wait_for(server, "live")
                port, sittings = str(server.port), sittings + 1
                with server.stream("/api/sessions/live/events", Last_Event_ID=reader.last) as events:
                    for event in events:
                        reader.read(event["event"], event["data"], event["id"])
                        ended = event["event"] == "state" and event["data"]["state"] == "complete"
                        killed = event["event"] in ("words", "turn") and event["data"]["turn"].startswith(
                            f"0{sittings}-"
                        )
                        if ended or (killed and sittings < 3):
                            break
        run.communicate()
    assert sittings == 3
    with WebServer(user) as server:
        view = server.ask("GET", "/api/sessions/live").json
    cards = [card for stage in view["stages"] for round in stage["rounds"] for card in round["cards"]]
    cards.append(view["synthesis"]["card"])
    assert reader.cards == {card["turn"]: card for card in cards}


def test_words_that_were_broken_off_are_called_so(tmp_path: Path) -> None:
    user, last = User(tmp_path), dict[str, Any]()
    table = Table(user, disputed(MEMBERS), chunks=4)

    def speak(request: Request) -> Answer:
        return replace(table(request), until=lambda: False)

    with FakeApi(speak) as api, WebServer(user) as server:
        run = begin(user, api, "cut")
        wait_for(server, "cut")
        with server.stream("/api/sessions/cut/events") as events:
            for event in events:
                if event["event"] == "words" and event["data"]["broken"]:
                    last = event["data"]
                    break
                if event["event"] == "words":
                    run.kill()
        run.communicate()
    assert last["turn"].startswith("01-positions/")


def test_a_session_that_is_damaged_meanwhile_says_so(tmp_path: Path) -> None:
    user = User(tmp_path)
    assert user.council("start", "Shall we?", "--id", "hurt").code == 0
    with WebServer(user) as server, server.stream("/api/sessions/hurt/events") as events:
        assert next(event for event in events if event["event"] == "state")["data"]["state"] == "waiting"
        (user.session / "metadata.json").write_text("{}")
        damaged = next(event for event in events if event["event"] == "state")
        assert (damaged["data"]["state"], "metadata.json" in damaged["data"]["why"]) == ("damaged", True)


def test_an_id_that_nobody_gave_starts_at_the_beginning(tmp_path: Path) -> None:
    user = User(tmp_path)
    assert user.council("start", "Shall we?", "--id", "odd").code == 0
    with WebServer(user) as server:
        for last in ("x", "9.00000000", "0.00000000;01-positions/../../x=00000000", "1" * 5000):
            with server.stream("/api/sessions/odd/events", Last_Event_ID=last) as events:
                due = next(event for event in events if event["event"] == "due")["data"]
                assert len(due["turns"]) == 4


def test_open_streams_do_not_keep_the_server(tmp_path: Path) -> None:
    user = User(tmp_path)
    assert user.council("start", "Shall we?", "--id", "open").code == 0
    with (
        WebServer(user) as server,
        server.stream("/api/events") as rows,
        server.stream("/api/sessions/open/events") as events,
    ):
        assert (next(rows)["event"], next(events)["event"]) == ("list", "due")
        server.process.send_signal(signal.SIGINT)
        assert server.process.wait(PATIENCE) == 130


def test_the_list_says_which_rows_changed(tmp_path: Path) -> None:
    user = User(tmp_path)
    assert user.council("start", "Shall we?", "--id", "first").code == 0
    with WebServer(user) as server, server.stream("/api/events") as events:
        assert [row["session_id"] for row in next(events)["data"]["sessions"]] == ["first"]
        assert user.council("start", "Shall we?", "--id", "second").code == 0
        assert {row["session_id"] for row in next(events)["data"]["sessions"]} == {"second"}
        assert user.council("record", "first", "01-positions/engineer", stdin="Yes.").code == 0
        (row,) = next(events)["data"]["sessions"]
        assert (row["session_id"], row["turns"]) == ("first", 1)
        assert server.ask("GET", "/api/events?ids=../first").status == 400


def test_the_list_follows_older_sessions_that_are_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    user = User(tmp_path)
    for id in ("old", "new"):
        assert user.council("start", "Shall we?", "--id", id).code == 0
    monkeypatch.setattr(finding, "WATCHED", 1)
    with mock.patch.dict(os.environ, user.environment), chdir(user.work):
        assert set(finding.ListLooker().look()) == {"new"}
        assert set(finding.ListLooker(("old", "gone")).look()) == {"new", "old"}


def test_a_session_that_another_process_was_reading_is_listed_later(tmp_path: Path) -> None:
    user = User(tmp_path)
    with mock.patch.dict(os.environ, user.environment), chdir(user.work):
        looker = finding.ListLooker()
        assert looker.look() == {}
        assert user.council("start", "Shall we?", "--id", "first").code == 0
        with closing(open_index([user.home / "STATE" / "council-sessions"])) as index, index.store.refreshing() as mine:
            assert mine
            assert looker.look() == {}
        assert set(looker.look()) == {"first"}


def test_a_stream_that_ends_before_its_first_event_is_watched_by_nobody(tmp_path: Path) -> None:
    async def begin_and_leave() -> None:
        watches = Watches()
        for stream in (watches.follow(tmp_path, ""), finding.follow_list(watches)):
            await anext(stream)
            assert len(watches.all) == 1
            await stream.aclose()
            assert not watches.all

    asyncio.run(begin_and_leave())
