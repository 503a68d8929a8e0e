"""Real assistants hold whole debates by the portable loop: members apart, byte for byte, finished by a shell."""

from __future__ import annotations

from prove import Outcome

from tests.client_promises import CELLS, CLIENTS, LISTED, examine, version_of

WHAT = "clients"
BEFORE = {
    "claude": "no: in a project's own folder, `council` was not found",
    "codex": "no: `council start` could not write",
    "opencode": "no: members could not read their briefs",
}
NOTES = [
    "Not shown: whether a real model follows what `council next` and `council brief` print, and leaves the other files "
    "of the session alone. The models here are scripts that follow that text.",
    "Not shown: a login, and what a client does only on a terminal.",
    "`claude` is Claude Code with the skill alone, without hooks.",
    "Gemini CLI refuses a command with a backtick or `$(` outside of single quotes, Claude Code one with control "
    "characters or spaces that are not ASCII. The brief then has the member save its answer in a file. In Gemini CLI "
    "that was run. Claude Code asks the user before it writes a file, so its members said nothing that it refuses.",
]


def parts() -> list[str]:
    return list(CLIENTS)


def prove(part: str) -> Outcome:
    client = CLIENTS[part]
    before = {cell: "yes" if cell == LISTED else BEFORE.get(part, "not run") for cell in CELLS}
    if not client.program:
        now = dict.fromkeys(CELLS, f"not run: {client.variable} names no program")
        return Outcome([(WHAT, f"{part}: {cell}", before[cell], now[cell], "yes") for cell in CELLS])
    found, case = examine(client), f"{part} ({version_of(client)})"
    rows = [(WHAT, f"{case}: {cell}", before[cell], "no" if found[cell] else "yes", "yes") for cell in CELLS]
    wrong = [f"{case}, {cell}: {what}" for cell in CELLS for what in found[cell]]
    return Outcome(rows, wrong, NOTES if part == parts()[-1] else ())
