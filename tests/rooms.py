"""Which test modules belong to which room of the package. Those that are not named here test the whole program.

`scripts/test --fast` runs the pure rooms: their tests need no network, no session and no other process.
`scripts/mutate` asks the tests of a room whether they notice that something in it was changed.
"""

from __future__ import annotations

from pathlib import Path

TESTS = Path(__file__).parent
ROOMS = {
    "workflow": ("loader", "limits", "new_workflow"),
    "replies": ("replies", "compact", "quotes", "grammar"),
    "engine": ("plan", "rules", "orders", "views", "voting"),
    "protocols": (
        "stances", "mind_changes", "consensus_scores", "board", "consensus", "delphi", "perspectives",
        "golden_sessions",
    ),
    "reviews": ("parse_findings", "locate", "merge", "duplicates", "patch", "formats", "review"),
    "record": ("files", "lock", "mutations", "crash", "recorded_sessions"),
    "speakers": ("speaker_anthropic", "speaker_claude", "speaker_local", "local_download", "human"),
    "prompts": ("invocation", "prompt_cache"),
    "checks": ("lint", "diagram", "context_size", "cost"),
    "reports": ("adr", "decision", "filing", "html"),
    "runner": ("budget", "follow_up", "python_api", "subagents"),
    "terminal": ("errors_on_a_terminal", "terminal"),
    "mcp_server": ("mcp", "mcp_protocol", "mcp_clients"),
    "web": ("web_server", "web_guard", "web_cursor", "web_events", "web_control"),
    "cli": ("commands", "optional_rooms", "command_line", "cli_json", "doctor", "docs", "skill"),
}  # fmt: skip
PURE = (
    "layers", "loader", "replies", "compact", "quotes", "grammar", "plan", "rules", "orders", "views", "voting",
    "stances", "mind_changes", "consensus_scores", "parse_findings", "locate", "merge", "duplicates", "patch",
    "formats", "files", "invocation", "lint", "diagram", "context_size",
)  # fmt: skip


def module(name: str) -> Path:
    return TESTS / f"test_{name}.py"
