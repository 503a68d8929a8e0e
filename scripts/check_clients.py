"""Usage: scripts/check-clients [--in FOLDER] [CLIENT ...]

Holds a council in other assistants' own programs, or in those named, and prints what works in a table. npm installs the
versions that scripts/clients pins (1.4 GB, for Linux on x64), checked against their hashes and without running any
script of theirs, into a temporary folder, or into FOLDER, where they stay. Each client has a home of its own and a
scripted model on loopback: nobody logs in, and no model is asked.

It is not part of scripts/test. Exits 1 if something does not work that was tried, 2 if nothing could be tried.
"""

from __future__ import annotations

import argparse
import os
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Mapping
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
sys.path[:0] = [str(ROOT)]

from tests.client_promises import CELLS, CLIENTS, examine, version_of  # noqa: E402

PINNED = ROOT / "scripts" / "clients"
PATIENCE = 900
PROGRAMS = {
    "claude": "@anthropic-ai/claude-code-*/claude",
    "codex": "@openai/codex-*/vendor/*/bin/codex",
    "copilot": "@github/copilot-*/copilot",
    "gemini": "@google/gemini-cli/bundle/gemini.js",
    "opencode": "opencode-*/bin/opencode",
}
HELPERS = ("node-*/bin", "@vscode/ripgrep-*/bin")  # Gemini CLI runs on Node; OpenCode finds skills with ripgrep


def main() -> int:
    known = [name for name in PROGRAMS if name in CLIENTS]
    parser = argparse.ArgumentParser(
        prog="scripts/check-clients", description=__doc__, formatter_class=argparse.RawTextHelpFormatter
    )
    parser.add_argument("clients", nargs="*", metavar="CLIENT", help=f"one of {', '.join(known)}")
    parser.add_argument("--in", dest="folder", type=Path, metavar="FOLDER", help="install here, and keep it")
    options = parser.parse_args()
    if strangers := set(options.clients) - set(known):
        parser.error(f"unknown client {', '.join(sorted(strangers))}; known: {', '.join(known)}")
    with tempfile.TemporaryDirectory(prefix="council-clients-") as temporary:
        modules = install(options.folder or Path(temporary, "programs"))
        versions = {name: provide(name, modules) for name in options.clients or known}
        found = {name: examine(CLIENTS[name]) if versions[name] else {} for name in versions}
    print("\n".join(table(versions, found)))
    if not any(found.values()):
        return 2
    return int(any(wrong for cells in found.values() for wrong in cells.values()))


def install(folder: Path) -> Path:
    """Where the pinned packages are, as far as npm could install them."""
    folder.mkdir(parents=True, exist_ok=True)
    for name in ("package.json", "package-lock.json"):
        (folder / name).write_bytes((PINNED / name).read_bytes())
    command = ["npm", "ci", "--ignore-scripts", "--no-audit", "--no-fund", "--loglevel=error"]
    try:
        subprocess.run(command, cwd=folder, stdout=sys.stderr, timeout=PATIENCE, check=False)
    except (OSError, subprocess.TimeoutExpired) as failure:
        print(f"npm: {failure}", file=sys.stderr)
    return folder / "node_modules"


def provide(name: str, modules: Path) -> str:
    """Name the program where the tests look for it, and give its version; empty if it does not run here."""
    folders = [str(folder.resolve()) for pattern in HELPERS for folder in modules.glob(pattern)]
    os.environ["COUNCIL_TEST_CLIENTS_PATH"] = os.pathsep.join(folders)
    for program in modules.resolve().glob(PROGRAMS[name]):
        os.environ[CLIENTS[name].variable] = str(program)
        return version_of(CLIENTS[name])
    return ""


def table(versions: Mapping[str, str], found: Mapping[str, Mapping[str, list[str]]]) -> Iterator[str]:
    """A row for each client, and below what was wrong."""
    yield f"| client | version | {' | '.join(CELLS)} |"
    yield f"|{'---|' * (len(CELLS) + 2)}"
    for name, version in versions.items():
        cells = (("NO" if found[name][cell] else "yes") if found[name] else "not run" for cell in CELLS)
        yield f"| {name} | {version or 'not installed'} | {' | '.join(cells)} |"
    for name, examined in found.items():
        yield from (f"\n{name}, {cell}: {what}" for cell, wrong in examined.items() for what in wrong)


if __name__ == "__main__":
    sys.exit(main())
