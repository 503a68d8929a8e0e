"""The `claude` speaker: against small programs that stand in for it, and against the real one.

The real one is asked where COUNCIL_TEST_CLAUDE names it. It then talks to `tests/fakeapi.py`, with a home of its own.
"""

from __future__ import annotations

import asyncio
import json
import os
import sys
import tempfile
import time
from contextlib import suppress
from dataclasses import replace
from pathlib import Path

import pytest

from council.config.models import Endpoint, Model
from council.errors import CallFailed, Denied
from council.speakers.base import Brief, Spoken, Usage
from council.speakers.claude import ClaudeSpeaker, find, logged_in
from tests.fakeapi import Answer, FakeApi, sequence

REAL = os.environ.get("COUNCIL_TEST_CLAUDE", "")
real = pytest.mark.skipif(not REAL, reason="COUNCIL_TEST_CLAUDE names no claude program")
MODEL = Model("sonnet", Endpoint("claude"), "claude-sonnet-5-5")
BRIEF = Brief("01-positions/engineer", "engineer", "The topic. ", "Your part.", MODEL, deadline=30.0)
FINE = {
    "type": "result",
    "subtype": "success",
    "is_error": False,
    "api_error_status": None,
    "num_turns": 1,
    "stop_reason": "end_turn",
    "result": "Yes.\n",
    "total_cost_usd": 0.25,
    "usage": {
        "input_tokens": 10,
        "cache_creation_input_tokens": 20,
        "cache_read_input_tokens": 30,
        "output_tokens": 40,
    },
    "modelUsage": {"claude-haiku-5-5": {"outputTokens": 3}, "claude-sonnet-5-5": {"outputTokens": 37}},
}


def speak(program: str | None, brief: Brief = BRIEF, tell=lambda _: None) -> Spoken:
    async def once() -> Spoken:
        speaker = ClaudeSpeaker(program)
        try:
            return await speaker.speak(brief, tell)
        finally:
            await speaker.close()

    return asyncio.run(once())


def stand_in(folder: Path, code: str) -> str:
    """A program called `claude` that does what the code says."""
    program = folder / "claude"
    program.write_text(f"#!{sys.executable}\nimport json, os, pathlib, signal, subprocess, sys, time\n{code}\n")
    program.chmod(0o755)
    return str(program)


def printing(folder: Path, out: str, code: int = 0, err: str = "") -> str:
    return stand_in(folder, f"sys.stdin.read(); print({out!r}); print({err!r}, file=sys.stderr); sys.exit({code})")


def result(**changed: object) -> str:
    return json.dumps({**FINE, **changed})


STRANGE = {
    "session_id": 5,
    "stop_reason": ["x"],
    "modelUsage": [1],
    "num_turns": "2",
    "usage": 3,
    "total_cost_usd": True,
}


@pytest.mark.parametrize("key", STRANGE)
def test_what_has_another_type_is_unknown(key, tmp_path):
    """The answer is paid for, and its receipt must be readable."""
    spoken = speak(printing(tmp_path, result(**{key: STRANGE[key]})))
    known = {"session_id": spoken.call, "modelUsage": spoken.model, "total_cost_usd": spoken.usd}
    assert spoken.body == "Yes.\n"
    assert known.get(key) is None
    assert spoken.stop == "end_turn"


# ---- how the program is called ----

SHOW = """
shown = {"argv": sys.argv[1:], "stdin": sys.stdin.buffer.read().decode(), "cwd": os.getcwd(), "files": os.listdir()}
shown |= {"mode": os.stat(".").st_mode & 0o777, "env": dict(os.environ), "session": os.getsid(0) == os.getpid()}
pathlib.Path(__file__).with_name("shown.json").write_text(json.dumps(shown))
print(%r)
"""


def shown(folder: Path, brief: Brief = BRIEF) -> dict:
    speak(stand_in(folder, SHOW % result()), brief)
    return json.loads((folder / "shown.json").read_text())


def test_the_brief_goes_in_by_stdin_and_nothing_of_it_by_argv(tmp_path):
    call = shown(tmp_path)
    assert call["stdin"] == "The topic. Your part."
    assert "topic" not in " ".join(call["argv"])
    assert call["argv"][-2:] == ["--model", "claude-sonnet-5-5"]


def test_the_program_runs_alone_in_an_empty_private_folder_that_goes_away(tmp_path):
    call = shown(tmp_path)
    assert (call["files"], call["mode"], call["session"]) == ([], 0o700, True)
    assert not Path(call["cwd"]).exists()


@pytest.mark.parametrize("text", ["/clear", "/tmp/x is a path"])
def test_a_brief_is_never_a_command(text, tmp_path):
    assert shown(tmp_path, replace(BRIEF, shared="", own=text))["stdin"] == f"\n{text}"


def test_bytes_that_were_no_utf8_do_not_stop_a_call(tmp_path):
    text = b"caf\xe9 ".decode("utf-8", "surrogateescape")
    assert shown(tmp_path, replace(BRIEF, shared=text, own="é"))["stdin"] == "caf? é"


@pytest.mark.parametrize(("effort", "said"), [("high", "high"), (None, "max")])
def test_effort_is_the_models_and_else_the_users(effort, said, tmp_path, monkeypatch):
    monkeypatch.setenv("CLAUDE_CODE_EFFORT_LEVEL", "max")
    call = shown(tmp_path, replace(BRIEF, model=replace(MODEL, effort=effort)))
    assert call["env"]["CLAUDE_CODE_EFFORT_LEVEL"] == said
    assert call["env"]["CLAUDE_CODE_MAX_RETRIES"] == "0"


@pytest.mark.parametrize("cloud", ["", "CLAUDE_CODE_USE_BEDROCK"])
def test_it_is_given_the_environment_that_it_needs(cloud, tmp_path, monkeypatch):
    """Other vendors' keys are no business of a program that sends what it reads over the network."""
    needed = {
        "HOME": str(tmp_path),
        "ANTHROPIC_API_KEY": "own",
        "CLAUDE_CONFIG_DIR": "c",
        "https_proxy": "p",
        "LC_ALL": "C",
    }
    secret = (
        "OPENROUTER_API_KEY",
        "OPENAI_API_KEY",
        "GITHUB_TOKEN",
        "AWS_SECRET_ACCESS_KEY",
        "NODE_OPTIONS",
        "LD_PRELOAD",
    )
    for name, value in {**needed, **dict.fromkeys(secret, "")}.items():
        monkeypatch.setenv(name, value)
    if cloud:
        monkeypatch.setenv(cloud, "1")
    seen = shown(tmp_path, BRIEF)["env"]
    assert needed.items() <= seen.items()
    assert set(secret) & set(seen) == ({"AWS_SECRET_ACCESS_KEY"} if cloud else set())


# ---- what it prints ----


def test_the_answer_and_its_receipt(tmp_path):
    told: list[str] = []
    spoken = speak(printing(tmp_path, result()), tell=told.append)
    usage = Usage(input=10, cache_read=30, cache_write=20, output=40)
    assert spoken == Spoken("Yes.\n", "claude-sonnet-5-5", "end_turn", usage, usd=0.25)
    assert told == ["Yes.\n"]


def test_what_is_not_counted_is_not_known(tmp_path):
    spoken = speak(printing(tmp_path, json.dumps({"type": "result", "result": "Yes."})))
    assert spoken == Spoken("Yes.", model=None, stop="end_turn", usage=Usage(None, 0, 0, None), usd=None)


def test_a_verbose_program_prints_a_list_that_ends_with_the_result(tmp_path):
    assert speak(printing(tmp_path, f'[{{"type": "system"}}, {result()}]')).body == "Yes.\n"


@pytest.mark.parametrize(
    ("changed", "usd"),
    [
        ({"is_error": True, "total_cost_usd": 0.07}, 0.07),
        ({"result": "", "total_cost_usd": 0.07}, 0.07),
        ({"num_turns": 2, "total_cost_usd": 0.07}, 0.07),
        ({"is_error": True, "total_cost_usd": None}, None),
        ({"is_error": True, "total_cost_usd": -1}, None),
        ({"is_error": True, "total_cost_usd": "much"}, None),
        ({"is_error": True, "api_error_status": 401, "total_cost_usd": 0.07}, 0.07),
        ({"is_error": True, "api_error_status": 401, "total_cost_usd": None}, 0.0),
    ],
)
def test_a_failure_says_what_it_cost(changed, usd, tmp_path):
    with pytest.raises((CallFailed, Denied)) as caught:
        speak(printing(tmp_path, result(**changed)))
    assert isinstance(caught.value, CallFailed | Denied)
    assert caught.value.used["usd"] == usd


def test_a_refusal_is_an_absent_seat(tmp_path):
    out = result(is_error=True, stop_reason="refusal", result="API Error: safeguards flagged this message", num_turns=2)
    spoken = speak(printing(tmp_path, out, code=1))
    assert (spoken.body, spoken.stop, spoken.absent) == ("", "refusal", "refused by the model")
    assert spoken.usd == 0.25


def failing(**changed: object) -> str:
    return result(**{"is_error": True, "stop_reason": "stop_sequence", **changed})


@pytest.mark.parametrize(
    ("out", "code", "why"),
    [
        (failing(api_error_status=429, result="Request rejected (429)"), 1, "Request rejected"),
        (failing(api_error_status=529, result="Overloaded"), 1, "Overloaded"),
        (failing(api_error_status=500, result="sk-ant-api03-abcdef is odd"), 1, r"\[key\] is odd"),
        (failing(result="API Error: Connection dropped"), 1, "Connection dropped"),
        (failing(result="Overloaded"), 0, "Overloaded"),
        (result(result="Yes."), 1, "claude failed: Yes"),
        (result(num_turns=2), 0, "in several messages"),
        (result(result=""), 0, "empty answer"),
        (result(result=None), 0, "empty answer"),
        (result(result=" \n"), 0, "empty answer"),
        ("", 0, "code 0 without a readable answer"),
        ("Segmentation fault", 139, "code 139 .* Segmentation fault"),
        ('{"type": "resu', 0, "without a readable answer"),
        ("[]", 0, "without a readable answer"),
        ("[1, 2]", 0, "without a readable answer"),
        ('{"type": "system"}', 0, "without a readable answer"),
    ],
)
def test_what_may_pass(out, code, why, tmp_path):
    with pytest.raises(CallFailed, match=why):
        speak(printing(tmp_path, out, code))


@pytest.mark.parametrize(
    ("out", "names"),
    [
        (failing(result="Not logged in · Please run /login"), ["run `claude` and then /login"]),
        (failing(result="Invalid API key · Fix external API key"), ["run `claude` and then /login"]),
        (
            failing(api_error_status=401, result="Failed: sk-ant-oat01-abcdef"),
            ["run `claude` and then /login", "[key]"],
        ),
        (failing(api_error_status=403, result="Failed to authenticate"), ["run `claude` and then /login"]),
        (failing(api_error_status=404, result="an issue"), ["claude-sonnet-5-5", "tier 'sonnet'"]),
        (failing(api_error_status=402, result="no credit"), ["no credit", "tier 'sonnet'"]),
        (failing(api_error_status=400, result="bad request"), ["bad request", "claude-sonnet-5-5"]),
    ],
)
def test_what_will_not_pass_says_what_to_do(out, names, tmp_path):
    with pytest.raises(Denied) as caught:
        speak(printing(tmp_path, out, code=1))
    for part in names:
        assert part in str(caught.value)
    assert "sk-ant" not in str(caught.value)


def test_an_old_program_is_to_be_updated(tmp_path):
    program = printing(tmp_path, "", code=1, err="error: unknown option '--restricted'")
    with pytest.raises(Denied, match="claude update"):
        speak(program)


def test_a_program_that_dies_before_it_reads(tmp_path):
    with pytest.raises(CallFailed, match="code -9"):
        speak(stand_in(tmp_path, "os.kill(os.getpid(), signal.SIGKILL)"), replace(BRIEF, own="x" * 1_000_000))


def test_a_program_that_is_none(tmp_path, monkeypatch):
    monkeypatch.delenv("COUNCIL_CLAUDE", raising=False)
    monkeypatch.setenv("PATH", str(tmp_path))
    with pytest.raises(Denied, match="install Claude Code, name it in COUNCIL_CLAUDE"):
        speak(None)
    with pytest.raises(Denied, match="cannot be started"):
        speak(str(tmp_path / "nothing"))


# ---- its end ----

FAMILY = """
child = subprocess.Popen([sys.executable, "-c", "import time; time.sleep(600)"])
note = pathlib.Path(__file__).with_name("pids")
note.with_name("pids.new").write_text(f"{os.getpid()} {child.pid}")
os.replace(note.with_name("pids.new"), note)
time.sleep(600)
"""


def gone(pid: int) -> bool:
    """Dead; a grandchild of ours may remain as a zombie until its new parent looks."""
    with suppress(OSError):
        os.kill(pid, 0)
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] == "Z"
    return True


def all_gone(note: Path) -> bool:
    pids = [int(pid) for pid in note.read_text().split()]
    until = time.monotonic() + 5
    while not all(gone(pid) for pid in pids) and time.monotonic() < until:
        time.sleep(0.01)
    return all(gone(pid) for pid in pids)


def test_the_deadline_ends_the_whole_family(tmp_path):
    with pytest.raises(CallFailed, match="deadline of 1 s"):
        speak(stand_in(tmp_path, FAMILY), replace(BRIEF, deadline=1.0))
    assert all_gone(tmp_path / "pids")


def test_a_cancellation_ends_the_whole_family_at_once(tmp_path):
    note = tmp_path / "pids"

    async def cancelled() -> float:
        task = asyncio.create_task(ClaudeSpeaker(stand_in(tmp_path, FAMILY)).speak(BRIEF, lambda _: None))
        await asyncio.to_thread(wait_for, note)
        began = time.monotonic()
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task
        return time.monotonic() - began

    assert asyncio.run(cancelled()) < 60
    assert all_gone(note)


def wait_for(file: Path) -> None:
    until = time.monotonic() + 20
    while not file.exists() and time.monotonic() < until:
        time.sleep(0.01)


# ---- finding it ----


def test_find_looks_at_the_variable_first_and_then_at_path(tmp_path, monkeypatch):
    (tmp_path / "bin").mkdir()
    here, there = stand_in(tmp_path, ""), stand_in(tmp_path / "bin", "")
    monkeypatch.setenv("PATH", str(tmp_path / "bin"))
    monkeypatch.delenv("COUNCIL_CLAUDE", raising=False)
    assert find() == there
    monkeypatch.setenv("COUNCIL_CLAUDE", here)
    assert find() == here
    monkeypatch.setenv("COUNCIL_CLAUDE", str(tmp_path / "nothing"))
    assert find() is None


@pytest.mark.parametrize(
    ("out", "code", "expected"),
    [
        ('{"loggedIn": true}', 0, True),
        ('{"loggedIn": false}', 1, False),
        ('{"loggedIn": true}', 1, False),
        ("You are logged in", 0, False),
        ("[]", 0, False),
    ],
)
def test_logged_in_takes_the_programs_word(out, code, expected, tmp_path):
    assert logged_in(printing(tmp_path, out, code)) is expected


def test_logged_in_asks_the_program_that_would_be_called(tmp_path, monkeypatch):
    monkeypatch.setenv("COUNCIL_CLAUDE", printing(tmp_path, '{"loggedIn": true}'))
    assert logged_in() is True


def test_no_program_is_no_login(tmp_path):
    assert logged_in(str(tmp_path / "nothing")) is False


# ---- the real program ----


@pytest.fixture
def home(tmp_path, monkeypatch) -> Path:
    """A home of its own with a dummy key, and none of the variables that this test run may have come with."""
    for name in list(os.environ):
        if name.startswith(("ANTHROPIC_", "CLAUDE")):
            monkeypatch.delenv(name)
    home = tmp_path / "home"
    (home / ".claude").mkdir(parents=True)
    quiet = ("CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC", "DISABLE_TELEMETRY", "DISABLE_ERROR_REPORTING")
    for name, value in {"HOME": str(home), "ANTHROPIC_API_KEY": "sk-ant-dummy", **dict.fromkeys(quiet, "1")}.items():
        monkeypatch.setenv(name, value)
    return home


@pytest.fixture
def api(home, monkeypatch):
    with FakeApi() as api:
        monkeypatch.setenv("ANTHROPIC_BASE_URL", api.url)
        yield api


def bodies(api: FakeApi) -> str:
    return json.dumps([request.body for request in api.requests])


@real
def test_real_answer_and_receipt(api):
    counted = {
        "input_tokens": 1000,
        "cache_creation_input_tokens": 7,
        "cache_read_input_tokens": 3,
        "output_tokens": 50,
    }
    api.responder = sequence(Answer("Yes ☕\n and no.", usage=counted))
    spoken = speak(REAL)
    assert (spoken.body, spoken.model, spoken.stop) == ("Yes ☕\n and no.", "claude-sonnet-5-5", "end_turn")
    assert spoken.usage == Usage(input=1000, cache_read=3, cache_write=7, output=50)
    assert spoken.usd is not None
    assert spoken.usd > 0


@real
def test_real_request_holds_the_brief_and_little_else(api):
    speak(REAL, replace(BRIEF, shared="  The topic:\n\n", own="\té ☕ your part.\n\n"))
    (asked,) = api.prompts
    assert asked.body["messages"][0] == {"role": "user", "content": "  The topic:\n\n\té ☕ your part.\n\n"}
    assert asked.body["tools"] == []
    assert asked.body["output_config"] == {"effort": "low"}
    assert asked.body["model"] == "claude-sonnet-5-5"
    assert len(bodies(api)) < 4000


@real
@pytest.mark.parametrize("text", ["/clear", "/help me", "/hi", "!touch it", "# note", "& go", "exit"])
def test_real_briefs_are_never_commands(text, api):
    assert speak(REAL, replace(BRIEF, shared="", own=text)).body == "ok"
    assert api.prompts[0].body["messages"][0]["content"].strip() == text


@real
def test_real_mentions_open_no_file(api, home, tmp_path):
    """Relative, absolute, home and folder, quoted or not; nothing of the files, nor of their folder, is sent."""
    (home / "secret.txt").write_text("SECRET-OF-HOME")
    (tmp_path / "SECRET-NAME.txt").write_text("SECRET-ABSOLUTE")
    absolute = tmp_path / "SECRET-NAME.txt"
    outward = os.path.relpath(absolute, Path(tempfile.gettempdir(), "council-any"))
    mentions = [
        f"@{absolute}",
        f'@"{absolute}"',
        f"@{outward}",
        "@~/secret.txt",
        f"@{home}/secret.txt",
        f"@{tmp_path}/",
    ]
    speak(REAL, replace(BRIEF, own="\n".join(["Look at", *mentions])))
    sent = bodies(api)
    assert "SECRET-OF-HOME" not in sent
    assert "SECRET-ABSOLUTE" not in sent
    assert sent.count("SECRET-NAME") == "".join(mentions).count("SECRET-NAME")


@real
def test_real_mentions_open_no_file_even_in_its_own_folder(api, home, tmp_path, monkeypatch):
    """The folder of a call is empty; the lock must hold without that."""
    monkeypatch.setattr("council.speakers.claude.TemporaryDirectory", lambda **_: FullFolder(tmp_path / "room"))
    speak(REAL, replace(BRIEF, own="Look at @secret.txt and @./secret.txt and @."))
    assert "SECRET-RELATIVE" not in bodies(api)


class FullFolder:
    def __init__(self, path: Path) -> None:
        self.path = path

    def __enter__(self) -> str:
        self.path.mkdir()
        (self.path / "secret.txt").write_text("SECRET-RELATIVE")
        return str(self.path)

    def __exit__(self, *_: object) -> None:
        assert (self.path / "secret.txt").exists()


MCP = """
import json, pathlib, sys
pathlib.Path(__file__).with_name("SIDE-EFFECT-MCP").touch()
answers = {
    "initialize": {"protocolVersion": "2025-06-18", "capabilities": {"resources": {}, "tools": {}},
                   "serverInfo": {"name": "mine", "version": "1"}, "instructions": "MARK-MCP"},
    "tools/list": {"tools": []},
    "resources/list": {"resources": [{"uri": "res://secret", "name": "secret"}]},
    "resources/read": {"contents": [{"uri": "res://secret", "text": "MARK-RESOURCE", "mimeType": "text/plain"}]},
}
for line in sys.stdin:
    message = json.loads(line)
    if "id" in message:
        answer = {"jsonrpc": "2.0", "id": message["id"], "result": answers.get(message["method"], {})}
        print(json.dumps(answer), flush=True)
"""


def configure_everything(home: Path) -> None:
    """All that a user may have set up, each with a mark of its own in what it says and does."""
    hook = {"hooks": [{"type": "command", "command": f"touch {home}/SIDE-EFFECT-HOOK; echo MARK-HOOK"}]}
    settings = {
        "hooks": {event: [hook] for event in ("SessionStart", "UserPromptSubmit", "Stop", "SessionEnd")},
        "outputStyle": "mine",
        "language": "MARK-LANGUAGE",
        "permissions": {"allow": ["Read", "Bash"], "additionalDirectories": [str(home)]},
    }
    files = {
        "CLAUDE.md": "MARK-MEMORY",
        "rules/mine.md": "MARK-RULE",
        "settings.json": json.dumps(settings),
        "output-styles/mine.md": "---\nname: mine\ndescription: x\n---\nMARK-STYLE",
        "commands/hi.md": "MARK-COMMAND $ARGUMENTS",
        "skills/mine/SKILL.md": "---\nname: mine\ndescription: MARK-SKILL, use always\n---\nMARK-SKILL",
        "agents/mine.md": "---\nname: mine\ndescription: MARK-AGENT\n---\nMARK-AGENT",
    }
    for name, text in files.items():
        (home / ".claude" / name).parent.mkdir(parents=True, exist_ok=True)
        (home / ".claude" / name).write_text(text)
    (home / "mcp.py").write_text(MCP)
    server = {"command": sys.executable, "args": [str(home / "mcp.py")]}
    (home / ".claude.json").write_text(json.dumps({"mcpServers": {"mine": server}}))


@real
def test_real_program_forgets_its_users_setup(api, home, tmp_path, monkeypatch):
    configure_everything(home)
    (tmp_path / "CLAUDE.md").write_text("MARK-PROJECT")  # above the folder of the call, where it would be looked for
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    speak(REAL, replace(BRIEF, shared="", own="/hi there, look at @mine:res://secret and @agent-mine"))
    assert "MARK" not in bodies(api)
    assert not list(home.glob("SIDE-EFFECT*"))
    assert not list(home.glob(".claude/projects/**/*.jsonl")), "no session is kept"


@real
@pytest.mark.parametrize("status", [429, 500, 529])
def test_real_failures_that_may_pass(status, api):
    api.responder = sequence(Answer(fault="status", status=status, message="try later"))
    with pytest.raises(CallFailed, match="claude failed"):
        speak(REAL)
    assert len(api.prompts) == 1, "trying again is not the program's business"


@real
@pytest.mark.parametrize("answer", [Answer(fault="reset"), Answer(fault="html"), Answer(""), Answer(stop="max_tokens")])
def test_real_answers_that_are_none(answer, api):
    api.responder = sequence(answer)
    with pytest.raises(CallFailed):
        speak(REAL)


@real
def test_real_answer_in_two_messages_is_not_taken_for_its_tail(api):
    api.responder = sequence(Answer("The head, ", stop="max_tokens"), Answer("the tail."))
    with pytest.raises(CallFailed, match="in several messages"):
        speak(REAL)


@real
@pytest.mark.parametrize(
    ("status", "says"), [(400, "check the model"), (401, "/login"), (403, "/login"), (404, "has no model")]
)
def test_real_failures_that_will_not_pass(status, says, api):
    api.responder = sequence(Answer(fault="status", status=status))
    with pytest.raises(Denied, match=says):
        speak(REAL)


@real
def test_real_refusal(api):
    api.responder = sequence(Answer("I would rather", stop="refusal"))
    spoken = speak(REAL)
    assert (spoken.body, spoken.absent) == ("", "refused by the model")


@real
@pytest.mark.parametrize("answer", [Answer(latency=600), Answer("one two", chunks=2, fault="stall")])
def test_real_silence_ends_at_the_deadline(answer, api):
    api.responder = sequence(answer)
    with pytest.raises(CallFailed, match="deadline of 2 s"):
        speak(REAL, replace(BRIEF, deadline=2.0))


@real
def test_real_subscription_is_used_and_seen(api, home, monkeypatch):
    monkeypatch.delenv("ANTHROPIC_API_KEY")
    assert logged_in(REAL) is False
    with pytest.raises(Denied, match="/login"):
        speak(REAL)
    in_a_day = int((time.time() + 86400) * 1000)
    login = {"accessToken": "sk-ant-oat01-dummy", "refreshToken": "sk-ant-ort01-dummy", "expiresAt": in_a_day}
    login |= {"scopes": ["user:inference"], "subscriptionType": "max"}
    (home / ".claude" / ".credentials.json").write_text(json.dumps({"claudeAiOauth": login}))
    assert logged_in(REAL) is True
    assert speak(REAL).body == "ok"
    assert api.prompts[-1].headers["authorization"] == "Bearer sk-ant-oat01-dummy"


@real
def test_real_login_that_lives_in_settings_is_no_login(home, monkeypatch):
    """Calls read no settings files, so this key would not be found."""
    monkeypatch.delenv("ANTHROPIC_API_KEY")
    (home / ".claude" / "settings.json").write_text(json.dumps({"apiKeyHelper": "echo sk-ant-dummy"}))
    assert logged_in(REAL) is False


@real
def test_real_program_may_be_verbose(api, home):
    (home / ".claude.json").write_text('{"verbose": true}')
    assert speak(REAL).body == "ok"


@real
def test_real_programs_side_by_side(api):
    async def four() -> list[Spoken]:
        speaker = ClaudeSpeaker(REAL)
        return await asyncio.gather(*(speaker.speak(BRIEF, lambda _: None) for _ in range(4)))

    assert [spoken.body for spoken in asyncio.run(four())] == ["ok"] * 4
