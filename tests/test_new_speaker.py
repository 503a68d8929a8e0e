"""A speaker is one file: `echo.py`, put into a copy of the package, is chosen, probed, priced, linted and completed."""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
import sys
import threading
from collections.abc import Iterator
from functools import cache
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import pytest

from council.record import turn_file
from tests.helpers import CODE, Ended, User, no_traceback

ECHO = Path(__file__).parent / "fixtures" / "speakers" / "echo.py"
KIT = ("Workflows", "templates", "agents", "Config.md", "AgentPersonalities.md", "requirements-local.lock")
WORKFLOW = """---
name: aside
seats: {members: [architect, {guest: {speaker: WHO}}]}
phases:
  - {name: positions, sees: nothing}
---
"""


# Several commands, one after the other.
EACH = """
import sys
from council.cli import main
for command in sys.argv[1:]:
    sys.argv[1:] = [command]
    if code := main():
        sys.exit(f"{command}: {code}")
"""


@cache
def program(beside: Path) -> Path:
    """A copy of the whole program, with what Python has made of it: nothing has to be compiled again."""
    code = beside / "program"
    shutil.copytree(CODE / "council", code / "council", ignore=shutil.ignore_patterns("kit"))
    for name in KIT:
        copy = shutil.copytree if (CODE / name).is_dir() else shutil.copy
        copy(CODE / name, code / name)
    return code


class Copy:
    """A copy of the whole program with one more file, and a user of it. Every command is a process of its own."""

    def __init__(self, place: Path, source: str, speaker: str = "echo") -> None:
        self.code = shutil.copytree(program(place.parent), place / "code", copy_function=os.link)
        self.file = self.code / "council" / "speakers" / f"{speaker}.py"
        self.file.write_text(source)
        self.user = User(place / "user")

    def council(self, *words: str | Path, **env: str) -> Ended:
        ended = self.user.process(*words, env={"PYTHONPATH": str(self.code), **env})
        no_traceback(ended)
        return ended

    def run(self, *words: str) -> dict[str, Any]:
        """A whole debate, and what it printed as JSON."""
        ended = self.council("run", "Shall we?", "--json", *words)
        assert ended.code == 0, ended.text
        result: dict[str, Any] = json.loads(ended.out)
        return result

    def receipts(self) -> list[turn_file.Receipt]:
        paths = sorted((self.user.session / "turns").rglob("*.md"))
        return [turn_file.decode(path.read_bytes(), path)[0] for path in paths]


@pytest.fixture
def copy(tmp_path: Path) -> Copy:
    return Copy(tmp_path, ECHO.read_text())


def test_it_holds_a_whole_debate(copy: Copy) -> None:
    result = copy.run("--speaker", "echo", "--max-cost", "0")
    assert (result["state"], result["missing"]) == ("complete", [])
    stances = json.loads((copy.user.session / "convergence.json").read_text())["stances"]
    assert list(stances.values()) == ["agree"] * 4, "its headings are read as answers"
    assert {(one.speaker, one.answered, one.usd) for one in copy.receipts()} == {("echo", "echo-1", 0.0)}
    assert result["totals"]["usd"] == 0, "a free speaker need not say what a call cost"
    assert copy.council("verify").code == 0


def test_auto_chooses_it_where_it_says_so(copy: Copy) -> None:
    ended = copy.council("run", "Shall we?")
    assert ended.code == 0, ended.text
    assert "speaker: echo (free)\n" in ended.err


def test_auto_leaves_it_alone_where_it_does_not(tmp_path: Path) -> None:
    copy = Copy(tmp_path, ECHO.read_text().replace("auto=AutoOrder.VENDOR_KEY", "auto=None"))
    assert "speaker: echo" not in copy.council("doctor").out
    assert copy.run("--speaker", "echo")["state"] == "complete"


@pytest.mark.parametrize(
    ("billing", "spoken", "usd"),
    [
        ("Billing.REPORTED", "Spoken(body, usd=0.25, ", 0.25),
        ("Billing.REPORTED", "Spoken(body, ", None),
        ("Billing.PRICES", "Spoken(body, ", (1000 * 2.0 + 100 * 10.0) / 1e6),
    ],
)
def test_its_price_is_the_one_it_declares(tmp_path: Path, billing: str, spoken: str, usd: float | None) -> None:
    source = ECHO.read_text().replace("Billing.FREE", billing).replace("Spoken(body, ", spoken)
    copy = Copy(tmp_path, source)
    copy.user.configure("prices: {ours: {input: 2, output: 10}}\ntiers: {sonnet: {model: ours}, haiku: {model: ours}}")
    result = copy.run("--speaker", "echo", "--only", "architect,engineer")
    assert {one.usd for one in copy.receipts()} == {usd}
    calls = len(copy.receipts())
    assert result["totals"]["usd"] == (None if usd is None else pytest.approx(calls * usd))
    assert (result["bound"] is None) == (billing != "Billing.PRICES"), "only configured prices bound a debate"


def test_doctor_probes_it(copy: Copy) -> None:
    out = copy.council("doctor").out
    assert "ok    echo chamber: it answers\n" in out
    assert "ok    speaker: echo (free)\n" in out


def test_a_misspelt_name_suggests_it(copy: Copy) -> None:
    ended = copy.council("run", "Shall we?", "--speaker", "ech")
    assert ended.code == 2
    assert 'unknown speaker "ech"; did you mean "echo"?' in ended.err


def test_lint_knows_it(copy: Copy) -> None:
    assert copy.council("lint", copy.user.write("right.md", WORKFLOW.replace("WHO", "echo"))).code == 0
    wrong = copy.council("lint", copy.user.write("wrong.md", WORKFLOW.replace("WHO", "ech")))
    assert wrong.code == 2
    assert 'did you mean "echo"?' in wrong.text


def test_help_lists_it(copy: Copy) -> None:
    assert "claude, echo, human" in copy.council("run", "--help").out


def test_the_shell_completes_it(copy: Copy) -> None:
    asked = {"_COUNCIL_COMPLETE": "bash_complete", "COMP_WORDS": "council run --speaker ec", "COMP_CWORD": "3"}
    assert copy.council(**asked).out == "plain,echo\n"


def test_sessions_outlive_a_speaker_that_is_removed(copy: Copy) -> None:
    folder = Path(copy.run("--speaker", "echo")["folder"])
    before = (folder / "transcript.md").read_bytes()
    copy.file.unlink()
    (folder / "transcript.md").unlink()
    commands = [sys.executable, "-c", EACH, "build", "status", "list", "show", "verify"]
    env = {**copy.user.environment, "PYTHONPATH": str(copy.code)}
    done = subprocess.run(commands, env=env, cwd=copy.user.work, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
    assert (folder / "transcript.md").read_bytes() == before
    for path in folder.glob("turns/04-synthesis-*/chair.md"):
        path.unlink()
    assert 'unknown speaker "echo"' in copy.council("recover").err


# ---- the speaker of docs/speakers.md ----

REPLY = "I would wait.\n\n## Stance\nagree\n\n## Blocking\nnone\n\n## Recommended path\nWait."


class Parrot(BaseHTTPRequestHandler):
    """The server that the page's speaker asks."""

    def do_POST(self) -> None:
        assert json.loads(self.rfile.read(int(self.headers["Content-Length"])))["prompt"]
        body = json.dumps({"text": REPLY, "tokens_in": 1000, "tokens_out": 100}).encode()
        self.send_response(200)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *_: Any) -> None:
        return


@pytest.fixture
def parrot(tmp_path: Path) -> Copy:
    page = (CODE / "docs" / "speakers.md").read_text("utf-8")
    (source,) = re.findall(r"```python\n(.*?)```", page, re.S)
    return Copy(tmp_path, source, "parrot")


@pytest.fixture
def address() -> Iterator[str]:
    with ThreadingHTTPServer(("127.0.0.1", 0), Parrot) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        yield f"http://127.0.0.1:{server.server_port}"
        server.shutdown()


def test_the_pages_speaker_pays_for_its_own_model(parrot: Copy, address: str) -> None:
    """Not for the model of the tier, which never spoke: the limit and the receipts have the same price."""
    run = ("run", "Shall we?", "--speaker", "parrot", "--only", "architect,engineer")
    assert "ok    parrot: it answers\n" in parrot.council("doctor", PARROT=address).out
    unpriced = parrot.council(*run, "--max-cost", "1", PARROT=address)
    assert (unpriced.code, "--max-cost needs the price of parrot-1" in unpriced.err) == (2, True)
    assert parrot.user.sessions == []
    parrot.user.configure("prices: {parrot-1: {input: 2, output: 10}}")
    ended = parrot.council(*run, "--max-cost", "1", "--json", PARROT=address)
    assert ended.code == 0, ended.text
    result, receipts = ended.json, parrot.receipts()
    assert {(one.asked, one.answered, one.usd) for one in receipts} == {("parrot-1", "parrot-1", 0.003)}
    assert result["totals"]["usd"] == pytest.approx(0.003 * len(receipts))
    assert result["bound"]["usd"] < 5, "at the price of the parrot"


def test_the_pages_speaker_is_tried_again_and_doctor_goes_on_without_it(parrot: Copy) -> None:
    nowhere = "http://127.0.0.1:9"
    parrot.user.configure("retry: {first_wait: 0, most_wait: 0, budget: 0}")
    doctor = parrot.council("doctor", PARROT=nowhere)
    assert "-     parrot: the parrot does not answer: " in doctor.out
    assert "skill for Claude Code" in doctor.out
    ended = parrot.council("run", "Shall we?", "--speaker", "parrot", PARROT=nowhere)
    assert ended.code == 3, ended.text
    assert "the parrot does not answer" in ended.err


def test_doctor_makes_every_check_though_one_breaks(tmp_path: Path) -> None:
    source = ECHO.read_text().replace('lambda: "it answers"', "lambda: open('/no/such/file').read()")
    doctor = Copy(tmp_path, source).council("doctor")
    assert doctor.code == 1
    assert "FAIL  echo chamber: FileNotFoundError: " in doctor.out
    assert "speaker: echo (free)\n" in doctor.out, "what comes after it is looked at too"
