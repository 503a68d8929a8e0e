"""The scripts for contributors: they run from a checkout, and say what they measured."""

from __future__ import annotations

import json
import re
import subprocess
import sys
import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent


def ran(name: str, *words: str, code: int = 0) -> str:
    """The script, as its wrapper runs it."""
    command = [sys.executable, str(ROOT / "scripts" / name), *words]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, timeout=300, check=False)
    assert done.returncode == code, done.stderr
    return done.stdout + done.stderr


def test_count_measures_the_code_and_one_turn() -> None:
    rows = dict(re.findall(r"^(.+?)  +([\d,. ]+)$", ran("count.py"), re.M))
    numbers = {name: float(value.split(", ")[0].replace(",", "")) for name, value in rows.items()}
    assert numbers["modules"] == len(list((ROOT / "council").rglob("*.py")))
    assert numbers["functions per 100 lines of code"] < 15
    entered, files = numbers["functions that one turn enters"], numbers["files that one turn enters"]
    assert numbers["modules"] > files > 10
    assert numbers["functions"] > entered > files
    assert numbers["calls of one turn"] >= numbers["hops of one turn (pairs of caller and called)"] >= entered


def test_count_names_what_is_no_checkout(tmp_path: Path) -> None:
    assert "council/__init__.py" in ran("count.py", str(tmp_path), code=2)


# ---- the audit of the lock files ----

LOCK = "# pinned\njinja2==2.4.1 \\\n    --hash=sha256:00\nanthropic[aiohttp]==2.0.0 ; python_version > '3'\n"


class Osv(BaseHTTPRequestHandler):
    """Knows of one vulnerability, unless it is told to answer with something else."""

    answer: bytes | None = None

    def do_POST(self) -> None:
        asked = json.loads(self.rfile.read(int(self.headers["Content-Length"])))["queries"]
        known = [
            {"vulns": [{"id": "GHSA-1"}]} if one["package"]["name"] == "jinja2" and one["version"] == "2.4.1" else {}
            for one in asked
        ]
        self.send_response(200)
        self.end_headers()
        self.wfile.write(json.dumps({"results": known}).encode() if self.answer is None else self.answer)

    def log_message(self, *_: object) -> None:
        pass


@pytest.fixture
def osv(monkeypatch: pytest.MonkeyPatch) -> Iterator[type[Osv]]:
    handler = type("OneOsv", (Osv,), {})
    with ThreadingHTTPServer(("127.0.0.1", 0), handler) as server:
        thread = threading.Thread(target=server.serve_forever)
        thread.start()
        monkeypatch.setenv("COUNCIL_AUDIT_URL", f"http://127.0.0.1:{server.server_address[1]}")
        yield handler
        server.shutdown()
        thread.join()


def test_audit_names_the_lock_the_version_and_the_vulnerability(osv: type[Osv], tmp_path: Path) -> None:
    (tmp_path / "requirements.lock").write_text(LOCK)
    (tmp_path / "clean.lock").write_text("click==8.1.0\n")
    told = ran("audit", str(tmp_path / "requirements.lock"), code=1)
    assert "requirements.lock pins jinja2 2.4.1: GHSA-1 (https://osv.dev/GHSA-1)" in told
    assert told.endswith("2 pinned versions, 1 with a known vulnerability\n")
    assert ran("audit", str(tmp_path / "clean.lock")) == "audit: 1 pinned versions, none with a known vulnerability\n"


def test_audit_reads_every_pin_of_our_lock_files(osv: type[Osv]) -> None:
    texts = [path.read_text() for path in ROOT.glob("requirements*.lock")]
    names = {name for text in texts for name in re.findall(r"^(\S+)==", text, re.M)}
    assert len(names) > 20
    (count,) = re.findall(r"audit: (\d+) pinned versions", ran("audit"))
    assert int(count) >= len(names)


@pytest.mark.parametrize("answer", [b"", b"<html>", b"[]", b'{"results": []}', b'{"results": [1, 2]}'])
def test_audit_says_in_a_line_that_it_could_not_ask(answer: bytes, osv: type[Osv], tmp_path: Path) -> None:
    (tmp_path / "requirements.lock").write_text(LOCK)
    osv.answer = answer
    told = ran("audit", str(tmp_path / "requirements.lock"), code=3)
    assert re.fullmatch(r"audit: 2 pinned versions were not checked: OSV could not be asked \(.+\)\n", told)


def test_audit_without_a_network_says_so_in_a_line(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COUNCIL_AUDIT_URL", "http://127.0.0.1:1")
    assert re.fullmatch(r"audit: \d+ pinned versions were not checked: .+Connection refused\)\n", ran("audit", code=3))
