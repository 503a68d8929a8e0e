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


# ---- proofs and mutants, in a checkout of a few files ----

PROOF = '''"""What is proven here."""

from pathlib import Path

from prove import Outcome

COLUMNS = ("part", "points")
PLACE = Path(__file__).parents[2]


def parts() -> list[str]:
    return ["first", "second", "third"]


def prove(part: str) -> Outcome:
    with (PLACE / "log").open("a") as log:
        log.write(f"{part} ")
    if part == "second" and not (PLACE / "ready").exists():
        raise RuntimeError("not ready")
    return Outcome([(part, 7)], ["it is odd"] if part == "third" else [], [f"a remark on the {part}"])
'''


def checkout(root: Path, files: dict[str, str]) -> None:
    for name, text in files.items():
        (root / name).parent.mkdir(parents=True, exist_ok=True)
        (root / name).write_text(text)


def ran_there(root: Path, name: str, *words: str) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, str(root / "scripts" / name), *words]
    return subprocess.run(command, cwd=root, capture_output=True, text=True, timeout=300, check=False)


@pytest.mark.slow
def test_a_proof_that_was_interrupted_goes_on_where_it_was(tmp_path: Path) -> None:
    script = (ROOT / "scripts" / "prove.py").read_text()
    checkout(tmp_path, {"scripts/prove.py": script, "scripts/proofs/a_sample.py": PROOF, "docs/index.md": ""})
    checkout(tmp_path, {"council/__init__.py": '__version__ = "9.9"\n'})
    assert ran_there(tmp_path, "prove.py", "--list").stdout == "a-sample       What is proven here.\n"
    assert "not ready" in ran_there(tmp_path, "prove.py", "a-sample", "--jobs", "1").stderr
    (tmp_path / "ready").touch()
    ended = ran_there(tmp_path, "prove.py", "a-sample", "--jobs", "1")
    assert ended.returncode == 1, "something was wrong"
    log = (tmp_path / "log").read_text().split()
    assert sorted(log) == ["first", "second", "second", "third"], "what was done is not done again"
    page = (tmp_path / "docs/proofs/a-sample.md").read_text()
    assert page.rstrip() == ended.stdout.rstrip()
    assert re.search(r"^\d{4}-\d\d-\d\d, council 9\.9", page, re.M)
    assert "| first | 7 |\n| second | 7 |\n| third | 7 |\n| all | 21 |\n\n**Wrong: 1**\n\n- it is odd\n" in page
    assert "- a remark on the second\n" in page
    again = ran_there(tmp_path, "prove.py", "a-sample")
    assert len((tmp_path / "log").read_text().split()) == 4
    assert again.stdout.partition("| part")[2] == ended.stdout.partition("| part")[2]
    checkout(tmp_path, {"council/__init__.py": '__version__ = "10"\n'})
    ran_there(tmp_path, "prove.py", "a-sample")
    assert len((tmp_path / "log").read_text().split()) == 7, "of other code everything is done anew"


def test_every_proof_says_what_it_proves_and_of_which_parts() -> None:
    listed = dict(line.split(maxsplit=1) for line in ran("prove.py", "--list").splitlines())
    assert listed.keys() >= {"core-mutants", "kill-points", "mutations", "startup"}
    pages = {path.stem for path in (ROOT / "docs" / "proofs").glob("*.md")}
    pages -= {path.stem for path in (ROOT / "docs" / "proofs").glob("*.svg")}  # reports that `council lab` makes
    assert pages <= listed.keys(), "a page without its proof"


ORDERS = """def first(a: int, b: int) -> bool:
    return a < b


def both(a: bool, b: bool) -> bool:
    return a and b
"""
NOTICES = """import pytest
from council.engine.orders import both, first


@pytest.mark.parametrize("broken", [True])
def test_of_another(broken):
    assert not broken


def test_first():
    assert first(1, 2)
    assert not first(2, 1)


def test_both():
    assert both(True, True)
    assert not both(True, False)
"""


@pytest.mark.slow
def test_mutants_that_no_test_notices_are_named(tmp_path: Path) -> None:
    nothing = "def test_nothing():\n    pass\n"
    checkout(tmp_path, {"scripts/mutate.py": (ROOT / "scripts" / "mutate.py").read_text()})
    checkout(tmp_path, {"council/engine/orders.py": ORDERS, "tests/test_orders.py": NOTICES})
    checkout(tmp_path, {f"tests/test_{name}.py": nothing for name in ("plan", "lint", "consensus")})
    checkout(tmp_path, {"pyproject.toml": '[tool.pytest.ini_options]\npythonpath = ["."]\nmarkers = ["slow"]\n'})
    before = {path: path.read_bytes() for path in tmp_path.rglob("*.py")}
    found = ran_there(tmp_path, "mutate.py")
    assert "left out, because it fails without any change: tests/test_orders.py::test_of_another[True]" in found.stderr
    assert "| engine/orders.py | 6 | 4 | 0 | 2 | 66.7 % |" in found.stdout
    survivors = re.findall(r"^- `(.+)`$", found.stdout, re.M)
    assert survivors == [
        "engine/orders.py:2: a < b  ->  a <= b",
        "engine/orders.py:6: a and b  ->  (b)",
    ]
    assert {path: path.read_bytes() for path in before} == before, "the checkout is left as it is"
    checkout(tmp_path, {"tests/conftest.py": "raise SystemExit('what is known is not run again')\n"})
    assert ran_there(tmp_path, "mutate.py").stdout == found.stdout
