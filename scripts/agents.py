"""Writes agents/*.md from AgentPersonalities.md: `python scripts/agents.py`. `tests/test_skill.py` compares them."""

from __future__ import annotations

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

from council.cli.install_skill import agent_files
from council.config import personas

ROOT = Path(__file__).resolve().parent.parent


def write() -> None:
    folder = ROOT / "agents"
    folder.mkdir(exist_ok=True)
    made = agent_files(personas.parse((ROOT / "AgentPersonalities.md").read_text("utf-8"), "AgentPersonalities.md"))
    for path in folder.glob("council-*.md"):
        if path.name not in made:
            path.unlink()
    for name, text in made.items():
        (folder / name).write_text(text, "utf-8")


if __name__ == "__main__":
    write()
