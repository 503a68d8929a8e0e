"""The command that Claude Code's hooks run: what it lets pass, what it costs, and how it fails."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from council.next.cli.hook import concerns_council
from council.next.runner.assistant import hooks
from tests.next.runner.clients import MEMBER, Client, running
from tests.next.runner.debating import settings

ID = "20200101-000000-00000000"
TURN = "01-positions/architect"
ASKED = {"subagent_type": MEMBER, "prompt": f"Run `council brief {ID} {TURN}` and do what it prints."}
EVENTS = ("PreToolUse", "PostToolUse", "PostToolUseFailure", "PostToolBatch", "SubagentStop", "UserPromptSubmit")
HEAVY = ("council.next.engine", "council.next.runner", "council.next.record", "jinja2", "yaml", "asyncio")


def run(home: Path, data: bytes, *words: str, **env: str) -> subprocess.CompletedProcess[bytes]:
    """The command as a hook runs it."""
    given = {"PATH": os.environ["PATH"], "LANG": "C.UTF-8", "HOME": str(home), "COUNCIL_HOME": str(home / "home")}
    given |= {"PYTHONPATH": os.environ.get("PYTHONPATH", str(Path.cwd())), "CLAUDE_PID": running(), **env}
    command = [sys.executable, "-m", "council.next", "hook", *words]
    return subprocess.run(command, input=data, env=given, capture_output=True, check=False)


def event(kind: str, **facts: Any) -> bytes:
    """As Claude Code writes it: without spaces, and without escapes for what is not ASCII."""
    return json.dumps({"hook_event_name": kind, **facts}, ensure_ascii=False, separators=(",", ":")).encode()


def of_tool(kind: str, **asked: Any) -> bytes:
    calls = {"tool_calls": [{"tool_name": "Agent", "tool_input": asked}]} if kind == "PostToolBatch" else {}
    return event(kind, tool_name="Agent", tool_input=asked, **calls)


# ---- what is none of council's ----

OTHERS = [
    *(of_tool(kind, prompt="Look for the bug", subagent_type="Explore") for kind in EVENTS[:4]),
    event("SubagentStop", agent_type="Explore", agent_transcript_path="/x"),
    event("UserPromptSubmit", prompt="Fix the parser: it fails"),
    event("PreToolUse", tool_name="Bash", tool_input={"command": "ls"}),
    event("SessionStart"),
    b"{}",
]


@pytest.mark.parametrize("data", OTHERS, ids=range(len(OTHERS)))
def test_what_is_none_of_ours_is_let_pass_and_imports_nothing(tmp_path: Path, data: bytes) -> None:
    code = (
        "import sys; from council.next.cli import main; code = main(['hook']);"
        "print(code, *sorted(sys.modules), file=sys.stderr)"
    )
    done = subprocess.run([sys.executable, "-c", code], input=data, capture_output=True, check=True, cwd=Path.cwd())
    code_, *modules = done.stderr.decode().split()
    assert (code_, done.stdout) == ("0", b"")
    assert not [name for name in modules if name.startswith(HEAVY)]


# ---- which prompts call a council ----

PHRASES = [
    "Council: Redis or not?",
    "council: redis or not?",
    "COUNCIL: Redis?",
    "  Council: with leading space",
    "Council : a space before the colon",
    "Council:no space after it",
    "Council:\nThe topic stands\non the next lines.",
    'Council: "quotes", $(touch P), `ticks` and ☕',
    "Council (patchlist): Review spec.md",
    "Council (deliberative): Shall we?",
    "Council(patchlist): no space before it",
    "Council with security: Do we store the tokens?",
    "Council with security and intern: Queue or table?",
    "Council with security, writer: Name it.",
    "Council with security (patchlist): Review spec.md",
    "Council (patchlist) with security: Review spec.md",
    "Council recovery: 20261118-145118-d31870ac",
    "Council recovery: the last one",
    "Quick council: Does this make sense?",
    "Council: Just architect and engineer: Queue or table?",
]
MENTIONS = [
    "What did the council say about Redis?",
    "The council: who sits on it?",
    "Please ask the council: Redis or not?",
    "council",
    "Council",
    "Council of Trent: when was it?",
    "council tax: how much is it in Leeds?",
    "City council: list its members",
    "Councils: a history",
    "Councillor: what does one do?",
    "Our council with security guards met. Summarise this: ...",
    "I'd like a council with security. Topic: tokens",
    "> Council: a quoted line",
    "Fix the bug in council: it prints too much",
    "/council Redis or not?",
    "<task-notification>\nCouncil: finished\n</task-notification>",
    "Write a README section on `Council: topic`",
    "# Council: a heading",
    "council.py: what does it do?",
    "",
]


@pytest.mark.parametrize(("prompt", "called"), [*((one, True) for one in PHRASES), *((one, False) for one in MENTIONS)])
def test_a_call_is_routed_and_a_mention_is_not(tmp_path: Path, prompt: str, called: bool) -> None:
    given = {"hook_event_name": "UserPromptSubmit", "prompt": prompt}
    said = hooks.answer(given, settings(tmp_path), "council")
    assert bool(said) is called
    assert not called or concerns_council(given)
    if said:
        assert "Use the skill `council`" in said["hookSpecificOutput"]["additionalContext"]


def test_a_call_is_routed_by_the_command(tmp_path: Path) -> None:
    done = run(tmp_path, event("UserPromptSubmit", prompt="\uff23ouncil\uff1a Redis?"))
    assert (done.returncode, done.stderr) == (0, b"")
    assert b"Use the skill `council`" in done.stdout
    assert not (tmp_path / "home").exists()


# ---- what fails ----


@pytest.mark.parametrize("data", [b"", b"null", b"[]", b"3", b'"words"', b"{", b"\xff\xfe", b"[" * 100_000])
def test_nonsense_is_refused_in_a_sentence(tmp_path: Path, data: bytes) -> None:
    done = run(tmp_path, data)
    assert (done.returncode, done.stdout) == (1, b"")
    words = "council: expected the JSON of one hook event; Claude Code calls this command, not people\n"
    assert done.stderr.decode() == words


@pytest.mark.parametrize(
    ("data", "words", "code"),
    [
        *((of_tool(kind, **ASKED), (), 2 if kind == "PreToolUse" else 1) for kind in EVENTS[:4]),
        (of_tool("PreToolUse", **{**ASKED, "subagent_type": "general-purpose"}), (), 2),
        (event("SubagentStop", agent_type=MEMBER), (), 1),
        (event("PreToolUse", tool_name="Bash", tool_input={"command": f"council next {ID}"}), (), 1),
        (event("UserPromptSubmit", prompt="Council: Redis?"), (), 1),
        (event("UserPromptSubmit", prompt=f'<task-notification>\n<summary>Agent "A · {ID} {TURN}" x'), ("--wake",), 2),
    ],
)
def test_a_failure_is_told_and_stops_nothing_but_a_member(
    tmp_path: Path, data: bytes, words: tuple[str, ...], code: int
) -> None:
    """2 would hold a prompt back, and have a member go on that has answered. A host that hears of a failure is better
    than one that sleeps."""
    config = tmp_path / ".config" / "council"
    config.mkdir(parents=True)
    (config / "Config.md").write_text("---\nstall: never\n---\n")
    done = run(tmp_path, data, *words)
    assert (done.returncode, done.stdout) == (code, b"")
    assert done.stderr.startswith(b"council: ")
    assert b"Config.md" in done.stderr
    assert b"Traceback" not in done.stderr


def test_a_member_of_no_session_is_not_asked_and_the_host_hears_why(tmp_path: Path) -> None:
    done = run(tmp_path, of_tool("PreToolUse", **ASKED))
    said = json.loads(done.stdout)["hookSpecificOutput"]
    assert (done.returncode, said["permissionDecision"]) == (0, "deny")
    assert f'no session is called "{ID}"' in said["permissionDecisionReason"]


# ---- odd events ----

ODD: list[dict[str, Any]] = [
    {},
    {"prompt": None},
    {"prompt": ["Council: x"]},
    {"prompt": '<task-notification>\n<summary>Agent "x" finished council'},
    {"prompt": f'<task-notification>\n<summary>Agent "x · {ID}" council'},
    {"tool_input": None},
    {"tool_input": [1]},
    {"tool_input": {"prompt": 3, "description": {}, "subagent_type": []}},
    {"tool_input": {"description": 7}, "tool_response": {"status": "completed", "content": 3}},
    {"tool_input": {"description": "a b"}, "tool_response": {"status": "completed", "content": [3, {"text": 4}]}},
    {"tool_name": "Bash", "tool_input": {"command": ["council next"]}},
    {"tool_name": ["Agent"], "tool_input": {"description": "x", "prompt": "\ud800"}},
    {"tool_calls": {"a": 1}},
    {"tool_calls": [1, None, {"tool_input": [2]}, {"tool_input": {"prompt": 3}}]},
    {"agent_transcript_path": 7},
    {"agent_transcript_path": "/dev/zero"},
    {"agent_transcript_path": "a\0b"},
    {"transcript_path": 7, "tool_response": "x"},
]


@pytest.mark.parametrize("kind", [*EVENTS, "Unknown"])
def test_an_event_that_is_none_breaks_nothing(tmp_path: Path, kind: str) -> None:
    for odd in ODD:
        given = {"hook_event_name": kind, **odd}
        assert hooks.answer(given, settings(tmp_path), "council") is None, odd
        assert hooks.wake(given, settings(tmp_path)) == ""
    assert hooks.answer({"hook_event_name": [kind]}, settings(tmp_path), "council") is None


@pytest.mark.parametrize("prompt", [["Run `council brief"], None, 7, {"a": "b"}, "Run `council brief x y` and do it"])
def test_a_member_that_is_called_in_an_odd_way_is_not_asked(tmp_path: Path, prompt: Any) -> None:
    said = hooks.answer(json.loads(of_tool("PreToolUse", subagent_type=MEMBER, prompt=prompt)), settings(tmp_path), "x")
    assert said
    assert said["hookSpecificOutput"]["permissionDecision"] == "deny"


def test_an_event_of_megabytes_is_read_whole(tmp_path: Path) -> None:
    response = {"status": "completed", "content": [{"type": "text", "text": "x" * 5_000_000}]}
    done = run(tmp_path, event("PostToolUse", tool_input=ASKED, tool_response=response))
    (text,) = json.loads(done.stdout)["hookSpecificOutput"]["updatedToolOutput"]["content"]
    assert text["text"].startswith("no brief\n")
    assert f"`council next {ID}`" in text["text"]


def test_the_assistant_is_woken_on_standard_error(tmp_path: Path) -> None:
    """The exit code wakes it: it says nothing on standard output, where Claude Code would take it for JSON."""
    client = Client(tmp_path / "home")
    given = ""
    for turn in client.open():
        given = client.speak(turn)["description"]
    notice = event("UserPromptSubmit", prompt=f'<task-notification>\n<summary>Agent "{given}" finished</summary>')
    woken = run(tmp_path, notice, "--wake")
    assert (woken.returncode, woken.stdout) == (2, b"")
    assert woken.stderr.startswith(b"4 turns are due in ")
    held_back = run(tmp_path, notice)
    assert held_back.returncode == 0
    assert json.loads(held_back.stdout)["decision"] == "block"
