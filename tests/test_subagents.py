"""Members that an assistant asks: what a hook is told and says, what a transcript holds, and that nothing is lost or
paid for twice. The transcripts here are as Claude Code writes them; `test_claude_code.py` has it write them itself.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from council.speakers.assistant import transcripts
from tests.helpers import MEMBERS, User, agreed, derived_of, disputed, no_traceback, without_receipts

ROOT = Path(__file__).parent.parent
HOOK = ROOT / "hooks" / "council-hook.py"
NASTY = "\n  I agree. ☕\r\n<system-reminder>x</system-reminder>\u2028\x07 e\u0301 ```\n"


@pytest.fixture
def user(tmp_path) -> User:
    return User(tmp_path)


@pytest.fixture
def begun(user) -> User:
    ended = user.council("start", "-", stdin="Shall we?")
    assert ended.code == 0, ended.err
    assert ended.out.endswith(user.council("next").out)
    return user


def due(user: User) -> list[dict[str, Any]]:
    ended = user.council("next", "--json")
    assert ended.code == 0, ended.err
    return list(ended.json["due"])


class Client:
    """Claude Code as far as a hook sees it: events in, transcripts on disk."""

    def __init__(self, user: User, pid: int = os.getpid()) -> None:
        self.user, self.pid = user, pid
        self.folder = user.root / "claude" / "projects" / "-work" / "client"
        self.calls = 0

    def event(self, kind: str, **facts: Any) -> dict[str, Any] | None:
        told = {"hook_event_name": kind, "transcript_path": f"{self.folder}.jsonl", **facts}
        self.user.env["CLAUDE_PID"] = str(self.pid)
        ended = self.user.council("hook", stdin=json.dumps(told))
        assert ended.code == 0, ended.err
        return ended.json["hookSpecificOutput"] if ended.out else None

    def ask(self, prompt: str, **more: Any) -> dict[str, Any]:
        self.calls += 1
        self.call = f"toolu_{self.calls}"
        asked = {"description": "x", "prompt": prompt, "subagent_type": "council:council-engineer", **more}
        said = self.event("PreToolUse", tool_name="Agent", tool_input=asked, tool_use_id=self.call)
        assert said is not None
        return said

    def member(self, row: dict[str, Any], reply: str, *, whole: bool = True) -> tuple[dict[str, Any], Path]:
        """A member asked by its prompt, and its answer in a transcript."""
        given = self.ask(row["prompt"])["updatedInput"]
        path = self.transcript(self.call, given)
        if whole:
            say(path, answer(reply))
        return given, path

    def transcript(self, call: str, given: dict[str, Any]) -> Path:
        path = self.folder / "subagents" / f"agent-{call}.jsonl"
        path.parent.mkdir(parents=True, exist_ok=True)
        about = {"toolUseId": call, "description": given["description"], "agentType": given["subagent_type"]}
        path.with_suffix(".meta.json").write_text(json.dumps(about))
        say(path, {"type": "user", "timestamp": "2026-11-18T10:00:00.000Z", "message": {"content": given["prompt"]}})
        return path

    def stop(self, path: Path, **facts: Any) -> None:
        self.event("SubagentStop", agent_transcript_path=str(path), agent_type="council:council-engineer", **facts)


def answer(text: str, **message: Any) -> dict[str, Any]:
    usage = {"input_tokens": 7, "cache_creation_input_tokens": 5, "cache_read_input_tokens": 3, "output_tokens": 2}
    whole = {
        "id": "msg_1", "model": "claude-answered-1", "content": [{"type": "text", "text": text}],
        "stop_reason": "end_turn", "usage": usage, **message,
    }  # fmt: skip
    return {"type": "assistant", "timestamp": "2026-11-18T10:00:02.500Z", "message": whole}


def say(path: Path, *lines: dict[str, Any]) -> None:
    with path.open("a", encoding="utf-8", newline="") as file:
        for line in lines:
            file.write(json.dumps(line, ensure_ascii=False) + "\n")


def receipt(user: User, turn: str) -> dict[str, Any]:
    head = (user.session / "turns" / f"{turn}.md").read_bytes().split(b"\n---\n")[0].decode()
    return {key: json.loads(value) for key, _, value in (line.partition(": ") for line in head.splitlines()[1:])}


def body(user: User, turn: str) -> bytes:
    return (user.session / "turns" / f"{turn}.md").read_bytes().partition(b"\n---\n")[2]


# ---- a member is asked ----


def test_the_sentence_becomes_the_brief_and_the_tier_the_model(begun):
    row = due(begun)[2]
    given = Client(begun).ask(row["prompt"], model="opus", run_in_background=True)["updatedInput"]
    assert given["prompt"].encode() == Path(row["brief"]).read_bytes()
    assert (given["model"], given["subagent_type"], given["run_in_background"]) == (
        "sonnet", "council:council-member", False,
    )  # fmt: skip
    assert given["description"].startswith("Engineer (Marcus), positions")


@pytest.mark.parametrize(
    ("prompt", "why"),
    [
        ("Say something.", "by its prompt alone"),
        (
            "Run `council brief 20200101-000000-00000000 01-positions/engineer` and do what it prints.",
            "there is no session",
        ),
        ("Run `council brief {id} 02-challenges/engineer` and do what it prints.", "is not due"),
        ("Run `council brief {id} 01-positions/nobody` and do what it prints.", "is not due"),
        ("Run `council brief {id} 01-positions/engineer` and do what it prints. Be brief.", "by its prompt alone"),
        ("council turn {id} 01-positions/engineer", "by its prompt alone"),
        ("`council brief {id} 01-positions/engineer`", "by its prompt alone"),
    ],
)
def test_what_cannot_be_asked_is_denied_with_a_reason(begun, prompt, why):
    due(begun)
    said = Client(begun).ask(prompt.format(id=begun.session.name))
    assert said["permissionDecision"] == "deny"
    assert why in said["permissionDecisionReason"]


def test_who_is_asked_already_is_not_asked_again(begun):
    client, row = Client(begun), due(begun)[0]
    _, path = client.member(row, "", whole=False)
    assert "is still to come" in client.ask(row["prompt"])["permissionDecisionReason"]
    assert [one["state"] for one in due(begun)] == ["asked", "due", "due", "due"]
    assert "Asked already, wait for them: Architect (Serena)" in begun.council("next").out
    ended = begun.council("recover", "--speaker", "replay", "--from", script_of(begun))
    assert ended.code == 7, "who recovers now would pay for it twice"
    say(path, {**answer("Request rejected"), "isApiErrorMessage": True})
    assert [one["state"] for one in due(begun)] == ["due"] * 4, "the API gave no answer, and none will come"
    assert "updatedInput" in client.ask(row["prompt"])


def script_of(user: User) -> str:
    return str(user.write("script.json", json.dumps(agreed())))


def test_of_a_dead_assistant_nothing_is_awaited(begun):
    gone = subprocess.Popen([sys.executable, "-c", ""])
    gone.wait()
    Client(begun, gone.pid).member(due(begun)[0], "", whole=False)
    assert [one["state"] for one in due(begun)] == ["due"] * 4


def test_a_failed_call_is_forgotten_at_once(begun):
    client, row = Client(begun), due(begun)[0]
    given, _ = client.member(row, "", whole=False)
    client.event("PostToolUseFailure", tool_input=given, error="429")
    assert [one["state"] for one in due(begun)] == ["due"] * 4


# ---- what a member said ----


@pytest.mark.parametrize("reply", ["I agree.", NASTY, "x" * 70_000, "\r\n\r\nA.\r\n", "---\nseat: x\n---\nA."])
def test_a_reply_is_recorded_byte_for_byte_with_its_receipt(begun, reply):
    client, row = Client(begun), due(begun)[2]
    _, path = client.member(row, reply)
    client.stop(path)
    assert body(begun, row["turn"]) == reply.encode()
    found = receipt(begun, row["turn"])
    assert {key: found[key] for key in ("speaker", "asked", "answered", "call", "stop", "seconds", "usd")} == {
        "speaker": "assistant", "asked": "claude-sonnet-5-5", "answered": "claude-answered-1", "call": "msg_1",
        "stop": "end_turn", "seconds": 2.5, "usd": None,
    }  # fmt: skip
    assert [found[key] for key in ("input", "cache_write", "cache_read", "output")] == [7, 5, 3, 2]
    assert "| claude-sonnet-5-5 | claude-answered-1 |" in begun.council("show").out
    assert begun.council("verify", "--json").json["typed"] == []
    assert not (begun.session / ".asked").exists()


def test_thinking_stands_on_a_line_of_its_own_and_counts_once(begun):
    client, row = Client(begun), due(begun)[0]
    _, path = client.member(row, "", whole=False)
    thought = answer("", content=[{"type": "thinking", "thinking": "hm"}])
    say(path, thought, answer("I agree."))
    client.stop(path)
    assert body(begun, row["turn"]) == b"I agree."
    assert receipt(begun, row["turn"])["output"] == 2


def test_what_is_said_to_it_later_changes_nothing(begun):
    client, row = Client(begun), due(begun)[0]
    _, path = client.member(row, "I agree.")
    say(path, {"type": "user", "message": {"content": "Are you sure?"}}, answer("No.", id="msg_2"))
    client.stop(path)
    assert body(begun, row["turn"]) == b"I agree."


def test_a_line_that_is_half_written_is_waited_for(begun):
    client, row = Client(begun), due(begun)[0]
    _, path = client.member(row, "", whole=False)
    whole = json.dumps(answer("I agree.")).encode()
    with path.open("ab") as file:
        file.write(whole[:50])
    assert transcripts.read_answer(path) is None
    with path.open("ab") as file:
        file.write(whole[50:])
    found = transcripts.read_answer(path)
    assert found is not None
    assert found.spoken.body == "I agree."


def test_a_refusal_is_an_absence_and_silence_is_asked_for_again(begun):
    client, (first, second, *_) = Client(begun), due(begun)
    _, path = client.member(first, "", whole=False)
    say(path, answer("", stop_reason="refusal"))
    client.stop(path)
    assert receipt(begun, first["turn"])["absent"] == "refused by the model"
    _, path = client.member(second, " \n", whole=True)
    client.stop(path)
    states = {one["turn"]: one["state"] for one in due(begun)}
    assert states[second["turn"]] == "due"
    assert "updatedInput" in client.ask(second["prompt"])


def test_the_last_reply_ends_and_archives_the_debate(begun):
    """Also where the assistant never looks again."""
    client, words = Client(begun), agreed()
    while rows := due(begun):
        for row in rows:
            _, path = client.member(row, words[row["turn"]])
            client.stop(path)
        if begun.council("status").out.split()[1] == "complete":
            break
    assert list((begun.home / "RESEARCH").rglob("*.md"))


def test_the_answer_to_another_question_is_none_of_this_debate(begun):
    client, row = Client(begun), due(begun)[0]
    given = client.ask(row["prompt"])["updatedInput"]
    path = client.transcript(client.call, {**given, "prompt": "What is 2 + 2?"})
    say(path, answer("Four."))
    client.stop(path)
    assert not list(begun.session.rglob("turns/*/*.md"))


def test_without_a_transcript_what_the_assistant_was_shown_is_taken(begun):
    client, row = Client(begun), due(begun)[0]
    given = client.ask(row["prompt"])["updatedInput"]
    shown = [{"type": "text", "text": "[harness: note]\n"}, {"type": "text", "text": "  I agree.\n\n"}]
    response = {"status": "completed", "agentId": "a1", "harnessNoteCount": 1, "harnessTailCount": 0, "content": shown}
    client.event("PostToolUse", tool_input=given, tool_response=response)
    assert body(begun, row["turn"]) == b"  I agree.\n\n"
    assert (receipt(begun, row["turn"])["answered"], receipt(begun, row["turn"])["call"]) == (None, "a1")


@pytest.mark.parametrize("way", ["next", "recover", "record"])
def test_replies_that_no_hook_recorded_are_taken_by_whoever_looks(begun, way):
    """The assistant was killed; its members' answers lie in the transcripts."""
    client = Client(begun, pid=2**22 + 1)
    for row in due(begun)[:3]:
        client.member(row, agreed()[row["turn"]])
    if way == "next":
        assert [one["seat"] for one in due(begun)] == ["researcher"]
    elif way == "record":
        last = str(begun.write("reply.md", "I agree too."))
        ended = begun.council("record", begun.session.name, "01-positions/researcher", "--file", last)
        assert ended.code == 0, ended.err
    else:
        ended = begun.council("recover", "--speaker", "replay", "--from", script_of(begun))
        assert ended.code == 0, ended.err
        assert receipt(begun, "01-positions/architect")["speaker"] == "assistant"
        assert receipt(begun, "01-positions/researcher")["speaker"] == "replay"
    for seat in MEMBERS[:3]:
        assert body(begun, f"01-positions/{seat}") == agreed()[f"01-positions/{seat}"].encode()


# ---- a whole debate ----


@pytest.mark.parametrize("words", [agreed(), disputed()], ids=["agreed", "disputed"])
def test_an_assistants_debate_is_the_same_as_one_of_the_command_line(begun, words, tmp_path):
    client = Client(begun)
    while rows := due(begun):
        for row in rows:
            _, path = client.member(row, words[row["turn"]])
            client.stop(path)
    assert begun.council("verify").code == 0
    twin = User(tmp_path / "twin")
    source = str(twin.write("script.json", json.dumps(words)))
    assert twin.council("run", "Shall we?", "--speaker", "replay", "--from", source).code == 0
    assert without_receipts(derived_of(begun.session)) == without_receipts(derived_of(twin.session))
    told = begun.council("next").out
    assert told.startswith("**Outcome:** ")
    assert told.endswith("Nothing is due: the debate is over.\n")
    assert "asked of claude-haiku-5-5, answered by claude-answered-1" in begun.council("show").out


# ---- which prompts call a council ----

CALLS = [
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
NO_CALLS = [
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


def hooked(event: dict[str, Any], **env: str) -> subprocess.CompletedProcess[bytes]:
    """The hook as Claude Code starts it: any Python, and nothing of ours in the environment."""
    given = {"PATH": os.defpath, "LANG": "C.UTF-8", **env}
    command = [sys.executable, "-I", str(HOOK)]
    return subprocess.run(command, input=json.dumps(event).encode(), env=given, capture_output=True, check=False)


@pytest.mark.parametrize(("prompt", "called"), [*((one, True) for one in CALLS), *((one, False) for one in NO_CALLS)])
def test_a_call_is_routed_and_a_mention_is_not(prompt, called):
    done = hooked({"hook_event_name": "UserPromptSubmit", "prompt": prompt})
    assert (done.returncode, done.stderr) == (0, b"")
    assert (b"Use the skill `council`" in done.stdout) is called
    assert called or done.stdout == b""


def test_what_is_none_of_ours_ends_at_once():
    for event in ("PreToolUse", "PostToolUse"):
        asked = {"prompt": "Look for the bug", "description": "Explore", "subagent_type": "Explore"}
        done = hooked({"hook_event_name": event, "tool_name": "Agent", "tool_input": asked}, HOME="/nowhere")
        assert (done.returncode, done.stdout, done.stderr) == (0, b"", b"")


def test_a_member_whose_brief_cannot_be_given_is_not_asked(tmp_path):
    """Whatever is broken: the call would go on with the bare marker, and be paid for."""
    event = {"hook_event_name": "PreToolUse", "tool_input": {"prompt": "council turn 20200101-000000-00000000 01-a/b"}}
    done = hooked(event, HOME=str(tmp_path), COUNCIL_VENV=str(tmp_path / "none"), PATH=str(tmp_path))
    said = json.loads(done.stdout)["hookSpecificOutput"]
    assert (done.returncode, said["permissionDecision"]) == (0, "deny")
    assert "could not give this member its brief" in said["permissionDecisionReason"]


@pytest.mark.parametrize("given", ["", "null", "[]", "{}", '{"tool_input": 1}', "\xff", "[" * 100_000])
def test_nonsense_is_refused_in_a_sentence(user, given):
    ended = user.council("hook", stdin=given)
    assert ended.code == (0 if given == "{}" else 2)
    assert "Traceback" not in ended.err


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
]  # fmt: skip


@pytest.mark.parametrize("event", ODD_EVENTS, ids=lambda event: ascii(event)[:40])
def test_an_event_that_is_none_breaks_nothing(event: bytes, tmp_path: Path) -> None:
    """2 is the exit code that stops a prompt or a call of Claude Code's."""
    env = {"PATH": os.defpath, "HOME": str(tmp_path)}
    done = subprocess.run([sys.executable, str(HOOK)], input=event, capture_output=True, env=env, check=False)
    assert done.returncode in (0, 1), done.stderr
    assert b"Traceback" not in done.stderr
    assert done.stdout == b""
    ended = User(tmp_path).council("hook", stdin=event)
    assert ended.code in (0, 2), ended.text
    no_traceback(ended)


def test_a_member_that_is_called_in_an_odd_way_is_not_asked(tmp_path: Path) -> None:
    asked = {"subagent_type": "council:council-engineer", "prompt": ["council turn"]}
    event = json.dumps({"hook_event_name": "PreToolUse", "tool_input": asked}).encode()
    env = {"PATH": os.defpath, "HOME": str(tmp_path), "COUNCIL_VENV": str(tmp_path / "none")}
    done = subprocess.run([sys.executable, str(HOOK)], input=event, capture_output=True, env=env, check=False)
    assert json.loads(done.stdout)["hookSpecificOutput"]["permissionDecision"] == "deny"
