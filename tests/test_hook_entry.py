"""The shell script through which Claude Code comes: what it lets pass, what it costs, and how it fails.

It is run as `hooks/hooks.json` has it run. `test_claude_debate.py` has the real client run it.
"""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from tests.helpers import User, no_traceback
from tests.prompts import CALLS, QUESTIONS, Typed

ROOT = Path(__file__).parent.parent
ENTRY = ROOT / "hooks" / "council-hook"
HOOKS = json.loads((ROOT / "hooks" / "hooks.json").read_text("utf-8"))["hooks"]
ID = "20200101-000000-00000000"
SENTENCE = f"Run `council brief {ID} 01-positions/architect` and do what it prints."
MEMBER = {"subagent_type": "council:council-member", "prompt": SENTENCE}
BASH = shutil.which("bash")


def commands(event: str, tool: str = "Agent") -> list[str]:
    """The commands that hooks.json has for an event."""
    listed = [one for one in HOOKS[event] if one.get("matcher") in (None, tool, "council:.*")]
    return [hook["command"] for one in listed for hook in one["hooks"]]


def run(event: str, data: bytes, tool: str = "Agent", shell: str = "/bin/sh", wake: bool = False, **env: str) -> Any:
    (command,) = (one for one in commands(event, tool) if one.endswith(" wake") == wake)
    given = {"PATH": os.defpath, "LANG": "C.UTF-8", "CLAUDE_PLUGIN_ROOT": str(ROOT), **env}
    command = command.replace("sh ", f"{shell} ", 1)
    return subprocess.run(["/bin/sh", "-c", command], input=data, env=given, capture_output=True, check=False)


def written(event: str, **facts: Any) -> bytes:
    """As Claude Code writes it: without spaces, and without escapes for what is not ASCII."""
    return json.dumps({"hook_event_name": event, **facts}, ensure_ascii=False, separators=(",", ":")).encode()


def tool_event(event: str, **asked: Any) -> bytes:
    facts = {"tool_calls": [{"tool_name": "Agent", "tool_input": asked}]} if event == "PostToolBatch" else {}
    return written(event, tool_name="Agent", tool_input=asked, **facts)


@pytest.fixture
def stub(tmp_path: Path) -> Path:
    """A folder with the programs that the script needs, and a Python that says only that it was started."""
    for name in ("sh", "cat", "bash"):
        if found := shutil.which(name):
            (tmp_path / name).symlink_to(found)
    (tmp_path / "python3").write_text("#!/bin/sh\ncat >/dev/null; echo started\n")
    (tmp_path / "python3").chmod(0o755)
    return tmp_path


# ---- what is none of council's ----


def test_every_command_is_the_script_and_names_what_it_filters() -> None:
    words = {
        command.rpartition(" ")[2] for event in HOOKS for tool in ("Agent", "Bash") for command in commands(event, tool)
    }
    assert words == {"prompt", "wake", "ask", "command", "told", "ended"}
    assert os.access(ENTRY, os.X_OK)
    (permission,) = [hook for one in HOOKS["PreToolUse"] if one["matcher"] == "Bash" for hook in one["hooks"]]
    assert permission["if"] == "Bash(council *)"


def test_what_is_none_of_ours_starts_no_python(stub: Path) -> None:
    asked = {"prompt": "Look for the bug", "description": "Explore", "subagent_type": "Explore"}
    events = [
        (event, tool_event(event, **asked)) for event in HOOKS if event not in ("UserPromptSubmit", "SubagentStop")
    ]
    for event, data in [*events, ("UserPromptSubmit", written("UserPromptSubmit", prompt="Fix the parser: it fails"))]:
        done = run(event, data, PATH=str(stub), HOME="/nowhere")
        assert (done.returncode, done.stdout, done.stderr) == (0, b"", b""), event


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


def routed(prompt: str, **env: str) -> bytes:
    done = run("UserPromptSubmit", written("UserPromptSubmit", prompt=prompt), **env)
    assert (done.returncode, done.stderr) == (0, b"")
    return bytes(done.stdout)


@pytest.mark.parametrize(("prompt", "called"), [*((one, True) for one in PHRASES), *((one, False) for one in MENTIONS)])
def test_a_call_is_routed_and_a_mention_is_not(prompt: str, called: bool) -> None:
    told = routed(prompt)
    assert (b"Use the skill `council`" in told) is called
    assert called or told == b""


@pytest.mark.parametrize("shell", ["/bin/sh", *([BASH] if BASH else [])])
def test_every_phrase_passes_the_filter(stub: Path, shell: str) -> None:
    meant = [
        *(one for one, what in CALLS.items() if not isinstance(what, Typed)),
        *(one for one in QUESTIONS if QUESTIONS[one].routed),
    ]
    assert [one for one in meant if routed(one, shell=shell, PATH=str(stub)) != b"started\n"] == []


def test_a_python_that_cannot_run_it_is_passed_over(stub: Path) -> None:
    (stub / "python3").write_text("#!/bin/sh\nexit 72\n")
    (stub / "python3.13").symlink_to(sys.executable)
    assert b"Use the skill `council`" in routed("Council: Redis?", PATH=str(stub))


def test_without_any_python_a_prompt_goes_on(stub: Path) -> None:
    (stub / "python3").unlink()
    assert routed("Council: Redis?", PATH=str(stub)) in (
        b"",
        routed("Council: Redis?"),
    )  # there may be /usr/bin/python3


# ---- what fails ----


def test_without_python_a_member_is_not_asked_and_the_host_hears_why(stub: Path) -> None:
    """The call would go on with the bare sentence, and be paid for. 2 is the code that stops it."""
    (stub / "python3").unlink()
    for name in ("dirname", "readlink", "cksum", "env"):
        (stub / name).symlink_to(shutil.which(name) or "/bin/false")
    for asked in (MEMBER, {**MEMBER, "subagent_type": "general-purpose"}):
        done = run("PreToolUse", tool_event("PreToolUse", **asked), PATH=str(stub), HOME=str(stub))
        assert (done.returncode, done.stdout) == (2, b"")
        assert done.stderr.count(b"\n") == 1
        assert b"Python 3.11 or newer is needed" in done.stderr


def broken(folder: Path) -> dict[str, str]:
    """An environment in which council cannot start, because there is no Python."""
    for name in ("sh", "cat"):
        if not (folder / name).exists():
            (folder / name).symlink_to(f"/bin/{name}")
    return {"HOME": str(folder), "COUNCIL_VENV": str(folder / "none"), "PATH": str(folder)}


@pytest.mark.parametrize(("event", "code"), [
    ("PreToolUse", 2), ("PostToolUse", 2), ("PostToolUseFailure", 1), ("SubagentStop", 1), ("PostToolBatch", 1),
])  # fmt: skip
def test_a_failure_is_told_and_stops_nothing_but_a_member(event: str, code: int, tmp_path: Path) -> None:
    """2 would stop a prompt, and have a member that has answered go on."""
    done = run(event, tool_event(event, **MEMBER), **broken(tmp_path))
    assert (done.returncode, done.stdout) == (code, b"")
    assert done.stderr.startswith(b"council: ")


def test_a_prompt_and_a_command_go_on_if_council_fails(tmp_path: Path) -> None:
    notice = f'<task-notification>\n<summary>Agent "A, b · {ID} 01-positions/architect" finished</summary>'
    for event, data in (
        ("UserPromptSubmit", written("UserPromptSubmit", prompt=notice)),
        ("PreToolUse", written("PreToolUse", tool_name="Bash", tool_input={"command": f"council next {ID}"})),
    ):
        done = run(event, data, "Bash", **broken(tmp_path))
        assert (done.returncode, done.stdout, done.stderr) == (0, b"", b"")
    woken = run("UserPromptSubmit", written("UserPromptSubmit", prompt=notice), wake=True, **broken(tmp_path))
    assert (woken.returncode, woken.stdout) == (2, b"")
    assert woken.stderr.startswith(b"council: "), "rather a host that hears of it than one that sleeps"


# ---- odd events ----

ODD_EVENTS = [
    b"", b"null", b"[]", b"3", b'"words"', b"{", b"\xff\xfe", b"[" * 100_000,
    b'{"hook_event_name": "UserPromptSubmit"}', b'{"hook_event_name": "UserPromptSubmit", "prompt": null}',
    b'{"hook_event_name": "UserPromptSubmit", "prompt": ["Council: x"]}', b'{"hook_event_name": ["PreToolUse"]}',
    b'{"hook_event_name": "PreToolUse"}', b'{"hook_event_name": "PreToolUse", "tool_input": null}',
    b'{"hook_event_name": "PreToolUse", "tool_input": [1]}',
    b'{"hook_event_name": "PreToolUse", "tool_input": {"prompt": 3, "description": {}, "subagent_type": []}}',
    b'{"hook_event_name": "PostToolUseFailure"}',
    b'{"hook_event_name": "PostToolUse", "tool_input": {"description": 7}}',
    b'{"hook_event_name": "SubagentStop", "agent_transcript_path": 7}',
    b'{"hook_event_name": "PostToolBatch"}', b'{"hook_event_name": "PostToolBatch", "tool_calls": {"a": 1}}',
    b'{"hook_event_name": "PostToolBatch", "tool_calls": [1, null, {"tool_input": [2]}]}',
    b'{"hook_event_name": "PostToolBatch", "tool_calls": [{"tool_input": {"prompt": 3}}]}',
    b'{"hook_event_name": "PostToolUse", "tool_input": {}, "tool_response": {"status": "completed", "content": 3}}',
    b'{"hook_event_name": "PreToolUse", "tool_name": "Bash", "tool_input": {"command": ["council next"]}}',
    b'{"hook_event_name": "EVENT", "tool_name": ["Agent"], "tool_input": {"description": "x", "prompt": "\\ud800"}}',
    b'{"hook_event_name": "UserPromptSubmit", "prompt": "<task-notification>\\n<summary>Agent \\"x\\" finished"}',
]  # fmt: skip


@pytest.mark.parametrize("given", ["", "null", "[]", "{}", '{"tool_input": 1}', "\xff", "[" * 100_000])
def test_nonsense_is_refused_in_a_sentence(tmp_path: Path, given: str) -> None:
    ended = User(tmp_path).council("hook", stdin=given)
    assert ended.code == (0 if given == "{}" else 2)
    assert "Traceback" not in ended.err


@pytest.mark.parametrize("event", [*HOOKS, "Unknown"])
def test_an_event_that_is_none_breaks_nothing(event: str, tmp_path: Path) -> None:
    user = User(tmp_path)
    for data in ODD_EVENTS:
        if event in HOOKS:
            done = run(event, data, HOME=str(tmp_path), COUNCIL_VENV=sys.prefix)
            assert (done.returncode, done.stdout) == (0, b""), (data[:60], done.stderr)
        ended = user.council("hook", stdin=data.replace(b"EVENT", event.encode()))
        assert ended.code in (0, 2), ended.text
        assert ended.out == ""
        no_traceback(ended)


@pytest.mark.parametrize(
    "prompt", [["Run `council brief"], None, 7, {"a": "b"}, "Run `council brief x y` and do what it prints."]
)
def test_a_member_that_is_called_in_an_odd_way_is_not_asked(tmp_path: Path, prompt: Any) -> None:
    event = tool_event("PreToolUse", subagent_type="council:council-member", prompt=prompt)
    done = run("PreToolUse", event, HOME=str(tmp_path), COUNCIL_VENV=sys.prefix)
    said = json.loads(done.stdout)["hookSpecificOutput"]
    assert (done.returncode, said["permissionDecision"]) == (0, "deny")


def test_an_event_of_megabytes_is_read_whole(tmp_path: Path) -> None:
    told = {"status": "completed", "content": [{"type": "text", "text": "x" * 5_000_000}]}
    data = written("PostToolUse", tool_input=MEMBER, tool_response=told)
    done = run("PostToolUse", data, HOME=str(tmp_path), COUNCIL_VENV=sys.prefix)
    (text,) = json.loads(done.stdout)["hookSpecificOutput"]["updatedToolOutput"]["content"]
    assert text["text"].startswith("no brief\n")
    assert f"`council next {ID}`" in text["text"]
