"""What reaches a member in Codex beside its brief: nothing of the host's conversation, but the AGENTS.md files."""

from __future__ import annotations

import tempfile
from collections.abc import Sequence
from pathlib import Path

from prove import Outcome

from tests import clients, portable
from tests.client_promises import version_of
from tests.codex import Codex
from tests.helpers import agreed

WHAT = "a member's context in Codex"
TOPIC = "Council: Queue or table?"
EMPTY, WHOLE = 'begun with `fork_turns: "none"`, as the skill asks', "begun as Codex does by itself"
PROJECT, HOME = "PROJECT-RULE-777", "HOME-RULE-888"
NOTES = [
    "Codex gives the AGENTS.md files of the project and of the user's `~/.codex` to every subagent. Council cannot "
    "prevent it, and docs/skill.md says so.",
    "Not shown: that a real host begins its members as the skill asks. Codex's own default is the other way.",
]


def parts() -> list[str]:
    return [EMPTY, WHOLE]


def prove(part: str) -> Outcome:
    client = Codex(fork="none" if part == EMPTY else "all")
    if not client.program:
        return Outcome([(WHAT, part, "not run", f"not run: {client.variable} names no program", "0")])
    sent = hold(client)
    case = f"{part} ({version_of(client)}): requests with"
    knows = count(sent, portable.SKILL)
    rows = [
        (WHAT, f"{case} the host's conversation", "not run", f"{knows} of {len(sent)}", "0" if part == EMPTY else "-"),
        (WHAT, f"{case} the project's AGENTS.md", "not run", f"{count(sent, PROJECT)} of {len(sent)}", "-"),
        (WHAT, f"{case} the user's AGENTS.md", "not run", f"{count(sent, HOME)} of {len(sent)}", "-"),
    ]
    wrong = [f"{case} the host's conversation: {knows}"] if part == EMPTY and (knows or not sent) else []
    return Outcome(rows, wrong, NOTES if part == EMPTY else ())


def hold(client: Codex) -> list[str]:
    """A debate of two rounds, and all that its members were sent."""
    with (
        tempfile.TemporaryDirectory(prefix="council-codex-", dir=client.homes) as folder,
        clients.room(Path(folder).resolve(), client, TOPIC, agreed()) as room,
    ):
        room.user.write("AGENTS.md", f"{PROJECT}\n")
        (room.user.root / ".codex" / "AGENTS.md").write_text(f"{HOME}\n")
        room.hold(TOPIC)
        return [sent for _, sent in room.requests_of(members=True)]


def count(sent: Sequence[str], text: str) -> int:
    return sum(text in one for one in sent)
