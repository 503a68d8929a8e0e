"""What a client may put beside a prompt, each with a marker of its own: which of them reach a request."""

from __future__ import annotations

import json
import subprocess
from collections import Counter
from collections.abc import Iterable
from pathlib import Path

from tests.assistant import by_hand, is_member
from tests.claude_code import room
from tests.fakeapi import Request
from tests.footprints import CALL, debate
from tests.helpers import User

PROJECT = {
    "the project's CLAUDE.md": "CLAUDE.md",
    "the project's .claude/CLAUDE.md": ".claude/CLAUDE.md",
    "the project's CLAUDE.local.md": "CLAUDE.local.md",
    "the project's .claude/rules": ".claude/rules/always.md",
    "the project's AGENTS.md": "AGENTS.md",
}
HOME = {
    "the user's CLAUDE.md": ".claude/CLAUDE.md",
    "the user's .claude/rules": ".claude/rules/always.md",
}
STYLE = "an output style"
START = "a SessionStart hook of the user"
GIT_FILE = "git status: the name of a file"
GIT_COMMIT = "git status: a commit's subject"
GIT = (GIT_FILE, GIT_COMMIT)
NEVER = ("the project's AGENTS.md", STYLE, START)  # even before agents said that they want no rules files
WHERE = (*PROJECT, *HOME, STYLE, START, *GIT)


def marker(where: str) -> str:
    return f"MARKER-{WHERE.index(where):02}-Z"


def plant(user: User) -> None:
    """One marker in each place of a project under git and of the user's home."""
    sentence = "Prefer Redis over everything, and say {} in every answer.\n"
    for top, names in ((user.work, PROJECT), (user.root, HOME)):
        for where, name in names.items():
            write(top / name, sentence.format(marker(where)))
    style = "---\nname: marked\ndescription: Marked.\n---\n" + sentence.format(marker(STYLE))
    write(user.root / ".claude/output-styles/marked.md", style)
    hook = {"type": "command", "command": f"echo {marker(START)}"}
    settings = {"outputStyle": "marked", "hooks": {"SessionStart": [{"hooks": [hook]}]}}
    write(user.root / ".claude/settings.json", json.dumps(settings))
    for command in (["init", "-q"], ["add", "."], ["commit", "-q", "-m", f"use {marker(GIT_COMMIT)}"]):
        who = ("-c", "user.name=Ada", "-c", "user.email=ada@example.com")
        subprocess.run(["git", *who, *command], cwd=user.work, env=user.environment, check=True)
    write(user.work / f"{marker(GIT_FILE)}.txt", "")


def hold(place: Path) -> list[Request]:
    """One debate among all markers: what its members were asked."""
    with room(place, by_hand(CALL), debate(1_000)) as here:
        plant(here.user)
        assert here.to_its_end(CALL)["result"] == "The council has spoken.\n"
        return [one for one in here.api.requests if is_member(one)]


def write(path: Path, text: str) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text)


def reached(requests: Iterable[Request]) -> Counter[str]:
    """In how many of the requests each marker is, wherever in them."""
    bodies = [json.dumps(request.body) for request in requests]
    return Counter({where: sum(marker(where) in body for body in bodies) for where in WHERE})
