"""`council serve`: one address with a token, the list and a session as JSON, and an end at once."""

from __future__ import annotations

import re
import signal
import socket
import subprocess
import sys
from collections.abc import Iterator
from contextlib import ExitStack, closing, suppress
from pathlib import Path
from threading import Event
from typing import Any

import pytest

from council.index import facts
from council.index.query import Filters, Index, open_index
from council.lessons.store import FOLDER, Lessons
from council.web.app import STATIC
from council.web.freshness import Freshness
from council.web.server import MOST_CONNECTIONS, MOST_SILENT
from tests.helpers import CODE, PATIENCE, User, disputed, script
from tests.learned import made
from tests.webserver import WebServer


@pytest.fixture(scope="module")
def user(tmp_path_factory: pytest.TempPathFactory) -> User:
    user = User(tmp_path_factory.mktemp("served"))
    done = user.council("run", "--speaker", "replay", "--from", script(user, disputed()), "Shall we keep one database?")
    assert done.code == 0, done.err
    return user


@pytest.fixture(scope="module")
def server(user: User) -> Iterator[WebServer]:
    with WebServer(user) as server:
        yield server


def test_the_list_and_a_session_are_json(user: User, server: WebServer) -> None:
    (row,) = server.ask("GET", "/api/sessions").json["sessions"]
    assert (row["session_id"], row["state"], row["waiting"]) == (user.session.name, "complete", [])
    found = server.ask("GET", f"/api/sessions/{row['session_id']}").json
    assert [round["place"] for stage in found["stages"] for round in stage["rounds"]] == [
        "round-1",
        "round-2",
        "round-3",
    ]
    assert server.ask("GET", "/api/sessions?q=database").json["total"] == 1
    assert server.ask("GET", "/api/sessions?q=elephants").json["total"] == 0
    assert server.ask("GET", "/api/sessions/20200101-000000-00000000").status == 404
    assert server.ask("GET", "/api/sessions?limit=-1").status == 400


def test_decisions_are_the_syntheses_of_what_is_complete(user: User, server: WebServer) -> None:
    (decided,) = server.ask("GET", "/api/decisions").json["decisions"]
    said = (user.session / "synthesis.md").read_text("utf-8")
    assert (decided["session_id"], decided["hits"], decided["decision"]) == (user.session.name, [], said)
    word = re.findall(r"[a-z]{6,}", said)[-1]
    (found,) = server.ask("GET", f"/api/decisions?q={word}").json["decisions"]
    assert {hit["kind"] for hit in found["hits"]} == {"decision"}
    assert server.ask("GET", "/api/decisions?q=elephants").json["decisions"] == []


def test_lessons_are_found_by_their_words(user: User, server: WebServer) -> None:
    lesson, store = made(1), Lessons(user.home / FOLDER)
    with store.hold():
        store.add([lesson])
    (found,) = server.ask("GET", "/api/lessons?q=loop+bounds").json["lessons"]
    assert (found["kind"], found["id"], found["text"]) == ("lesson", lesson.id, lesson.sentence)
    assert server.ask("GET", "/api/lessons?q=elephants").json["lessons"] == []
    assert server.ask("GET", "/api/lessons").status == 400


def test_a_long_build_goes_on_behind_the_request(user: User, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    reading, go_on, freshness = Event(), Event(), Freshness()

    def read_slowly(*given: Any) -> Any:
        reading.set()
        assert go_on.wait(PATIENCE)
        return read_session(*given)

    read_session = facts.read_session
    monkeypatch.setattr(facts, "read_session", read_slowly)
    with closing(open_index([user.session.parent], tmp_path / "cache" / "index.sqlite")) as index:
        assert freshness.update(index, True) == 0.0
        assert reading.wait(PATIENCE)
        assert index.page(Filters("database")).rows == []
        thread = freshness.thread
        assert thread
        go_on.set()
        thread.join(PATIENCE)
        assert freshness.update(index, True) is None
        assert len(index.page(Filters("database")).rows) == 1


def test_connections_that_ask_for_nothing_lock_nobody_out(server: WebServer) -> None:
    with ExitStack() as stack:
        wires = [
            stack.enter_context(socket.create_connection(("127.0.0.1", server.port))) for _ in range(MOST_SILENT + 2)
        ]
        wires[0].settimeout(PATIENCE)
        with suppress(ConnectionError):
            assert wires[0].recv(1) == b""
        assert server.ask("GET", "/api/openapi.json").status == 200


def test_nor_do_those_that_come_all_at_once(server: WebServer) -> None:
    """The server meets them in one turn of its loop, in which none of those that it closes is gone yet."""
    with ExitStack() as stack:
        server.process.send_signal(signal.SIGSTOP)
        try:
            for _ in range(MOST_CONNECTIONS + MOST_SILENT):
                wire = stack.enter_context(socket.socket())
                wire.setblocking(False)
                wire.connect_ex(("127.0.0.1", server.port))
        finally:
            server.process.send_signal(signal.SIGCONT)
        assert server.ask("GET", "/api/openapi.json").status == 200


def test_a_large_build_is_left_to_a_process(user: User, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("council.web.freshness.SOME", 0)
    monkeypatch.setattr("council.web.freshness.PATIENCE", PATIENCE)
    freshness = Freshness()
    with closing(open_index([user.session.parent], tmp_path / "cache" / "index.sqlite")) as index:
        assert freshness.update(index, True) is None
        assert (freshness.read, freshness.of) == (1, 1)
        assert len(index.page(Filters("database")).rows) == 1


def test_an_index_that_somebody_makes_again_is_being_built(
    user: User, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """As `council index --rebuild` does: until it has read everything, what is missing is not said to be nowhere."""
    monkeypatch.setattr("council.web.freshness.PATIENCE", PATIENCE)
    freshness, path = Freshness(), tmp_path / "cache" / "index.sqlite"
    with closing(open_index([user.session.parent], path)) as index:
        assert freshness.update(index, True) is None
        index.store.renew()
        with index.store.refreshing():
            assert freshness.update(index, True) == 0.0
            assert freshness.update(index, False) == 0.0
        assert freshness.update(index, True) is None
        assert len(index.page(Filters("database")).rows) == 1


def test_a_build_whose_process_fails_is_done_here(user: User, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("council.web.freshness.SOME", 0)
    monkeypatch.setattr("council.web.freshness.PATIENCE", PATIENCE)
    monkeypatch.setattr("council.index.build.PROGRAM", "raise SystemExit(1)")
    with closing(open_index([user.session.parent], tmp_path / "cache" / "index.sqlite")) as index:
        assert Freshness().update(index, True) is None
        assert len(index.page(Filters("database")).rows) == 1


def test_a_search_does_not_take_what_lists_need_for_all(
    user: User, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It is asked while the list that the page showed first is still being brought up to date."""
    began, go_on, freshness = Event(), Event(), Freshness()
    refresh = Index.refresh

    def wait(index: Index, deep: bool, *more: Any) -> Any:
        began.set()
        assert go_on.wait(PATIENCE)
        return refresh(index, deep, *more)

    with closing(open_index([user.session.parent], tmp_path / "cache" / "index.sqlite")) as index:
        monkeypatch.setattr(Index, "refresh", wait)
        assert freshness.update(index, False) == 0.0
        assert began.wait(PATIENCE)
        monkeypatch.setattr("council.web.freshness.PATIENCE", PATIENCE)
        go_on.set()
        assert freshness.update(index, True) is None
        assert len(index.page(Filters("untested")).rows) == 1


@pytest.mark.parametrize("id", ["..%2f..%2fetc", "%2e%2e", "last", "x" * 3000, "a%00b"])
def test_only_whole_ids_name_a_session(server: WebServer, id: str) -> None:
    assert server.ask("GET", f"/api/sessions/{id}").status == 404


def test_the_page_and_what_it_loads_are_there_before_it_can_show_a_token(server: WebServer) -> None:
    page = server.ask("GET", "/", token="").body.decode()
    assert "<title>council</title>" in page
    named = set(re.findall(r'(?:src|href)="(/[^"#]+)"', page))
    assert {"/static/page.css", "/static/app.js"} <= named
    named |= {f"/static/{path.name}" for path in STATIC.iterdir()}
    kinds = {"css": "text/css", "js": "text/javascript", "html": "text/html", "svg": "image/svg+xml"}
    for path in named:
        answer = server.ask("GET", path, token="")
        assert "set-cookie" not in answer.headers
        kind = answer.headers["content-type"].partition(";")[0]
        assert (answer.status, kind) == (200, kinds[path.rpartition(".")[2]]), path


@pytest.mark.parametrize(("number", "code"), [(signal.SIGINT, 130), (signal.SIGTERM, 143)])
def test_a_signal_ends_it_at_once(user: User, number: signal.Signals, code: int) -> None:
    with WebServer(user) as server:
        server.process.send_signal(number)
        assert server.process.wait(PATIENCE) == code


def test_mistakes_are_named_before_anything_listens(user: User, server: WebServer) -> None:
    for words, why in (
        (("--bind", "0.0.0.0"), "add --allow-host"),
        (("--bind", "here"), "write an IP address"),
        (("--allow-host", "http://box/"), "write a name"),
        (("--port", str(server.port)), "Address already in use"),
    ):
        done = user.council("serve", "--no-open", *words)
        assert (done.code, why in done.err) == (2, True), done.err


def test_without_the_extra_it_says_what_to_install(user: User) -> None:
    blocked = "import sys; sys.modules.update(dict.fromkeys(['uvicorn', 'starlette'])); "
    code = blocked + "from council.cli import main; sys.exit(main())"
    done = subprocess.run(
        [sys.executable, "-c", code, "serve"], env={**user.environment, "PYTHONPATH": str(CODE)}, check=False,
        capture_output=True, text=True, cwd=user.work,
    )  # fmt: skip
    assert (done.returncode, 'pip install ".[web]" in a checkout' in done.stderr) == (2, True), done.stderr


def test_nothing_of_the_web_is_imported_by_other_commands(user: User, tmp_path: Path) -> None:
    script = "import sys; from council.cli import main; main(); print(*sys.modules)"
    for words in (("-h",), ("list",), ("serve", "-h")):
        done = subprocess.run(
            [sys.executable, "-c", script, *words], env={**user.environment, "PYTHONPATH": str(CODE)}, check=True,
            capture_output=True, text=True, cwd=user.work,
        )  # fmt: skip
        loaded = set(done.stdout.rpartition("\n")[0].rpartition("\n")[2].split())
        assert "sys" in loaded
        assert not loaded & {"starlette", "uvicorn", "h11", "anyio", "council.web.app", "council.web.server"}
