"""Who waits for a person, or has ended, says so: by the user's own command, with nothing that was said."""

from __future__ import annotations

import json
import sys
import time
from http.server import BaseHTTPRequestHandler, HTTPServer
from pathlib import Path
from typing import Any

import pytest

from council.next.engine.planner import Plan
from council.next.errors import Paused, Waiting
from council.next.runner import notify
from council.next.runner.budget import Budget
from council.next.runner.loop import Run
from tests.next.runner.debating import Scripted, begun, held, settings
from tests.next.speakers.test_programs import gone, wait_until

WRITES = """
import os, pathlib, sys
pathlib.Path(sys.argv[1], os.environ["COUNCIL_STATE"]).write_bytes(sys.stdin.buffer.read())
"""


def told(folder: Path, state: str) -> dict[str, str]:
    """The notification, which a process of its own delivers."""
    until = time.monotonic() + 30
    while not (folder / state).exists() or not (folder / state).read_bytes():
        assert time.monotonic() < until, "nobody was told"
        time.sleep(0.01)
    found: dict[str, str] = json.loads((folder / state).read_bytes())
    return found


def command(folder: Path) -> dict[str, Any]:
    folder.mkdir()
    return {"command": [sys.executable, "-c", WRITES, str(folder)]}


@pytest.mark.parametrize("content", [False, True])
def test_a_person_who_is_needed_is_called_and_the_end_is_told(tmp_path: Path, content: bool) -> None:
    folder = tmp_path / "told"
    given = settings(tmp_path, notify={**command(folder), "content": content})
    with begun(tmp_path, gates=("synthesis",)) as session:
        assert isinstance(held(Run(session, Scripted(given), given)), Waiting)
    facts = told(folder, "waiting")
    assert (facts["event"], facts["session"]) == ("needed", session.id)
    assert ("Redis" in json.dumps(facts)) == content


def test_the_end_of_a_debate_and_a_pause_are_told(tmp_path: Path) -> None:
    folder = tmp_path / "told"
    given = settings(tmp_path, notify=command(folder))
    with begun(tmp_path) as session:
        assert isinstance(held(Run(session, Scripted(given, most=0.01), given, Budget(max_calls=2))), Paused)
        assert told(folder, "stopped")["event"] == "ended"
        assert isinstance(held(Run(session, Scripted(given), given)), Plan)
    assert told(folder, "complete")["event"] == "ended"


def test_a_command_that_is_not_there_fails_no_run(tmp_path: Path) -> None:
    given = settings(tmp_path, notify={"command": ["/nowhere/at-all"], "webhook": "http://127.0.0.1:9/"})
    with begun(tmp_path) as session:
        assert isinstance(held(Run(session, Scripted(given), given)), Plan)


class Hook(BaseHTTPRequestHandler):
    """Takes what it is sent, and redirects requests for `/away`."""

    def do_POST(self) -> None:
        body = self.rfile.read(int(self.headers["content-length"]))
        self.server.seen.append((self.path, json.loads(body)))  # type: ignore[attr-defined]
        self.send_response(302 if self.path == "/away" else 200)
        self.send_header("location", f"http://127.0.0.1:{self.server.server_port}/other")  # type: ignore[attr-defined]
        self.send_header("content-length", "0")
        self.end_headers()

    def log_message(self, format: str, *args: Any) -> None:  # noqa: A002
        pass


@pytest.mark.parametrize("path", ["/here", "/away"])
def test_a_webhook_is_sent_the_facts_once_and_leads_nowhere_else(tmp_path: Path, path: str) -> None:
    with HTTPServer(("127.0.0.1", 0), Hook) as server:
        server.seen = []  # type: ignore[attr-defined]
        server.timeout = 30
        given = settings(tmp_path, notify={"webhook": f"http://127.0.0.1:{server.server_port}{path}"})
        with begun(tmp_path) as session:
            assert isinstance(held(Run(session, Scripted(given), given)), Plan)
        server.handle_request()
        ((found, facts),) = server.seen  # type: ignore[attr-defined]
        server.timeout = 0.2  # a redirect would be followed at once
        server.handle_request()
        assert len(server.seen) == 1  # type: ignore[attr-defined]
    assert (found, facts["event"], facts["state"]) == (path, "ended", "complete")
    assert "Redis" not in json.dumps(facts)


def test_a_command_that_never_ends_is_killed_with_what_it_started(tmp_path: Path) -> None:
    """Nobody waits for it: neither the run, nor its process for longer than some seconds."""
    pids = tmp_path / "pids"
    program = (
        "import os, pathlib, subprocess, sys, time\n"
        "child = subprocess.Popen([sys.executable, '-c', 'import time; time.sleep(600)'])\n"
        f"new = pathlib.Path({str(pids)!r} + '.new'); new.write_text(f'{{os.getpid()}} {{child.pid}}')\n"
        f"new.rename({str(pids)!r}); time.sleep(600)\n"
    )
    given = settings(tmp_path, notify={"command": [sys.executable, "-c", program]})
    began = time.monotonic()
    with begun(tmp_path) as session:
        assert isinstance(held(Run(session, Scripted(given), given)), Plan)
    assert time.monotonic() - began < notify.PATIENCE
    wait_until(pids.exists)
    for pid in map(int, pids.read_text().split()):
        wait_until(lambda pid=pid: gone(pid))  # type: ignore[misc]
