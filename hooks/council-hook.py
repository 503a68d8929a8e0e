"""Tells Claude Code to use the skill for a prompt that calls a council. `hooks/council-hook` runs it, with the standard
library of any Python 3: before the first use there is no other.
"""

import json
import os
import re
import runpy
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
ROUTED = """The person calls a council. Use the skill `council` for it now, by the Skill tool, with their words as\
 they stand; do not answer in the members' place."""


def main() -> None:
    try:
        prompt = json.loads(sys.stdin.buffer.read()).get("prompt")
    except (AttributeError, ValueError, RecursionError):
        return
    if isinstance(prompt, str) and is_call(prompt):
        print(ROUTED)


def is_call(prompt: str) -> bool:
    """Whether the prompt begins as people call a council: the words that the command line takes too."""
    package = ROOT / "council" if (ROOT / "council").is_dir() else ROOT.parent
    phrases = runpy.run_path(str(package / "prompts" / "phrases.py"))
    seats, workflows = set(), set()
    base = os.environ.get("XDG_CONFIG_HOME") or Path.home() / ".config"
    for folder in (ROOT, Path(base) / "council"):  # of the kit and the user; a project's names go after "Council: "
        personas = folder / "AgentPersonalities.md"
        if personas.is_file():
            seats.update(re.findall(r"^## (\S+)", personas.read_text("utf-8", "replace"), re.M))
        workflows.update(path.stem.lower() for path in (folder / "Workflows").glob("*.md"))
    return phrases["is_call"](prompt, seats, workflows - {"recovery"})


if __name__ == "__main__":
    main()
