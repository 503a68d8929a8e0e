"""A checkout that is the launcher and a program that only says how it was called; and a PATH of a few programs."""

from __future__ import annotations

import shutil
from pathlib import Path

REPO = Path(__file__).parent.parent

STAND_IN = """
import json, os, sys, time

def main():
    print(json.dumps({"argv": sys.argv, "pid": os.getpid(), "path": sys.path, "env": dict(os.environ)}), flush=True)
    if sys.argv[1:] == ["wait"]:
        time.sleep(60)
    return 7 if sys.argv[1:] == ["fail"] else 0
"""


def make_checkout(root: Path) -> Path:
    for name in ("bin/council", "scripts/setup", "scripts/environment.py"):
        (root / name).parent.mkdir(parents=True, exist_ok=True)
        shutil.copy(REPO / name, root / name)
    (root / "requirements.lock").write_text("# nothing is needed\n")
    (root / "council").mkdir()
    (root / "council" / "cli.py").write_text(STAND_IN)
    return root


def tools(path: Path, **programs: str) -> str:
    """A PATH that knows these programs, and no Python beside them."""
    path.mkdir()
    for name in ("cksum", "readlink"):
        (path / name).symlink_to(shutil.which(name) or name)
    for name, program in programs.items():
        (path / name).symlink_to(program)
    return str(path)
