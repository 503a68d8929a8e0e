"""The scripts for contributors: they run from a checkout, and say what they measured."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

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
