"""Usage: scripts/check-mcp [PYTEST-ARGUMENTS]

Runs tests/test_mcp_clients.py with the MCP inspector and the client of the Python SDK. npm and pip install the versions
that scripts/mcp pins into a temporary folder, checked against their hashes and without running any script of theirs.
Claude Code is among them where COUNCIL_TEST_CLAUDE names it. What cannot be installed here is skipped, and counted.

It is not part of scripts/test.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import tempfile
import venv
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
PINNED = ROOT / "scripts" / "mcp"
PATIENCE = 900
TESTS = "tests/test_mcp_clients.py"


def main() -> int:
    if {"-h", "--help"} & {*sys.argv[1:]}:
        print(__doc__)
        return 0
    with tempfile.TemporaryDirectory(prefix="council-mcp-") as place:
        found = {
            "COUNCIL_TEST_INSPECTOR": install_inspector(Path(place)),
            "COUNCIL_TEST_MCP_SDK": install_sdk(Path(place)),
        }
        env = {**os.environ, **{name: command for name, command in found.items() if command}}
        command = [sys.executable, "-m", "pytest", "-q", "-rs", TESTS, *sys.argv[1:]]
        return subprocess.run(command, cwd=ROOT, env=env, check=False).returncode


def install_inspector(place: Path) -> str:
    """How the inspector is started, with a Node of its own on Linux; empty if it cannot be installed."""
    for name in ("package.json", "package-lock.json"):
        (place / name).write_bytes((PINNED / name).read_bytes())
    installed = run(["npm", "ci", "--ignore-scripts", "--no-audit", "--no-fund", "--loglevel=error"], place)
    own = (str(path) for path in place.glob("node_modules/node-*/bin/node"))
    node = next((path for path in own if run([path, "--version"], place)), shutil.which("node"))
    return f"{node} {place / 'node_modules' / '.bin' / 'mcp-inspector'}" if installed and node else ""


def install_sdk(place: Path) -> str:
    """A Python that has the SDK; empty if it cannot be installed."""
    venv.create(place / "sdk", with_pip=True)
    python = str(place / "sdk" / "bin" / "python")
    pip = [python, "-m", "pip", "install", "--quiet", "--require-hashes", "--only-binary=:all:", "--no-deps"]
    return python if run([*pip, "-r", str(PINNED / "requirements.txt")], place) else ""


def run(command: list[str], place: Path) -> bool:
    try:
        return subprocess.run(command, cwd=place, stdout=sys.stderr, timeout=PATIENCE, check=False).returncode == 0
    except (OSError, subprocess.TimeoutExpired) as failure:
        print(f"{command[0]}: {failure}", file=sys.stderr)
        return False


if __name__ == "__main__":
    sys.exit(main())
