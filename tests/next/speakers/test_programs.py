"""`claude` and `codex`: small programs in their place, and the real `claude` where COUNCIL_TEST_CLAUDE names it.

The real one has a home of its own and talks to an API of ours on loopback.
"""

from __future__ import annotations

import asyncio
import json
import os
import sys
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import suppress
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from council.next.config.models import Endpoint, Model
from council.next.errors import AuthError, UsageError
from council.next.speakers import programs
from council.next.speakers.base import CallFailed, Speaker, Spoken, speakers
from tests.fakeapi import Answer, FakeApi, sequence
from tests.next.speakers.apis import brief, fixed

REAL = os.environ.get("COUNCIL_TEST_CLAUDE", "")
real = pytest.mark.skipif(not REAL, reason="COUNCIL_TEST_CLAUDE names no claude program")
ANTHROPIC = Endpoint("anthropic", "https://api.anthropic.com", models={"sonnet": "claude-sonnet-5-5"})
OPENAI = Endpoint("openai", "https://api.openai.com/v1", "chat", models={"sonnet": "gpt-5"})
ENDPOINTS = {"anthropic": ANTHROPIC, "openai": OPENAI}
MODEL = Model("sonnet", ANTHROPIC, "claude-sonnet-5-5", effort="low")
FINE: dict[str, Any] = {
    "type": "result",
    "subtype": "success",
    "is_error": False,
    "api_error_status": None,
    "num_turns": 1,
    "stop_reason": "end_turn",
    "session_id": "abc",
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
CODEX: tuple[dict[str, Any], ...] = (
    {"type": "thread.started", "thread_id": "abc"},
    {"type": "turn.started"},
    {"type": "item.completed", "item": {"type": "reasoning", "text": "Hm."}},
    {"type": "item.completed", "item": {"type": "agent_message", "text": "Yes.\n"}},
    {"type": "turn.completed", "usage": {"input_tokens": 100, "cached_input_tokens": 30, "output_tokens": 5}},
)
# Every stand-in says that it is logged in, unless its folder holds a file `out`.
STATUS = """
import json, os, pathlib, signal, subprocess, sys, time
here = pathlib.Path(__file__).parent
if "status" in sys.argv:
    out = (here / "out").exists()
    print(json.dumps({"loggedIn": not out}))
    sys.exit(int(out))
"""


def made(name: str = "claude", model: Model = MODEL, **limits: Any) -> Speaker:
    speaker: Speaker = speakers[name](fixed(model, endpoints=ENDPOINTS, **limits))
    return speaker


def speak(name: str = "claude", shared: str = "The topic. ", own: str = "Your part.", **more: Any) -> Spoken:
    told: list[str] = []
    spoken = asyncio.run(made(name, **more).speak(brief(shared, own), told.append))
    assert "".join(told) == spoken.body
    return spoken


@pytest.fixture
def stand_in(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Callable[..., Path]:
    """Writes a program that is called in place of the real one."""

    def write(code: str, name: str = "claude") -> Path:
        folder = tmp_path / "bin"
        folder.mkdir(exist_ok=True)
        program = folder / name
        program.write_text(f"#!{sys.executable}\n{STATUS}\n{code}\n")
        program.chmod(0o755)
        monkeypatch.setenv(f"COUNCIL_{name.upper()}", str(program))
        return folder

    return write


@pytest.fixture
def printing(stand_in: Callable[..., Path]) -> Callable[..., Path]:
    def write(out: str, code: int = 0, err: str = "", name: str = "claude") -> Path:
        return stand_in(f"sys.stdin.read(); print({out!r}); print({err!r}, file=sys.stderr); sys.exit({code})", name)

    return write


def result(**changed: object) -> str:
    return json.dumps({**FINE, **changed})


def failing(**changed: object) -> str:
    return result(**{"is_error": True, "stop_reason": "stop_sequence", **changed})


# ---- how the program is called ----

SHOW = """
shown = {"argv": sys.argv[1:], "stdin": sys.stdin.buffer.read().decode(), "cwd": os.getcwd(), "files": os.listdir()}
shown |= {"mode": os.stat(".").st_mode & 0o777, "env": dict(os.environ), "session": os.getsid(0) == os.getpid()}
(here / "shown.json").write_text(json.dumps(shown))
print(%r)
"""


@pytest.fixture(params=["claude", "codex"])
def shown(request: pytest.FixtureRequest, stand_in: Callable[..., Path]) -> Callable[..., dict[str, Any]]:
    """Speaks once, and says how the program was called."""
    name = request.param
    out = result() if name == "claude" else "\n".join(map(json.dumps, CODEX))

    def call(**more: Any) -> dict[str, Any]:
        folder = stand_in(SHOW % out, name)
        assert speak(name, **more).body == "Yes.\n"
        found: dict[str, Any] = json.loads((folder / "shown.json").read_text())
        return {"name": name, **found}

    return call


def test_the_brief_goes_in_by_stdin_and_nothing_of_it_by_argv(shown: Callable[..., dict[str, Any]]) -> None:
    call = shown()
    assert call["stdin"] == "The topic. Your part."
    assert "topic" not in " ".join(call["argv"])
    model = call["argv"][call["argv"].index("--model") + 1]
    assert model == {"claude": "claude-sonnet-5-5", "codex": "gpt-5"}[call["name"]]


def test_the_program_runs_alone_in_an_empty_private_folder_that_goes_away(
    shown: Callable[..., dict[str, Any]],
) -> None:
    call = shown()
    assert (call["files"], call["mode"], call["session"]) == ([], 0o700, True)
    assert not Path(call["cwd"]).exists()


@pytest.mark.parametrize("text", ["/clear", "/tmp/x is a path"])
def test_a_brief_is_never_a_command(text: str, shown: Callable[..., dict[str, Any]]) -> None:
    assert shown(shared="", own=text)["stdin"] == f"\n{text}"


def test_bytes_that_were_no_utf8_do_not_stop_a_call(shown: Callable[..., dict[str, Any]]) -> None:
    assert shown(shared=b"caf\xe9 ".decode("utf-8", "surrogateescape"), own="é")["stdin"] == "caf? é"


@pytest.mark.parametrize(("effort", "said"), [("high", "high"), ("none", "max")])
def test_effort_is_the_models_and_else_the_users(
    effort: str, said: str, stand_in: Callable[..., Path], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("CLAUDE_CODE_EFFORT_LEVEL", "max")
    folder = stand_in(SHOW % result())
    speak(model=replace(MODEL, effort=effort))
    env = json.loads((folder / "shown.json").read_text())["env"]
    assert (env["CLAUDE_CODE_EFFORT_LEVEL"], env["CLAUDE_CODE_MAX_RETRIES"]) == (said, "0")


@pytest.mark.parametrize("cloud", ["", "CLAUDE_CODE_USE_BEDROCK"])
def test_it_is_given_the_environment_that_it_needs(
    cloud: str, shown: Callable[..., dict[str, Any]], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Other vendors' keys are no business of a program that sends what it reads over the network."""
    needed = {"HOME": str(tmp_path), "https_proxy": "p", "LC_ALL": "C", "XDG_CACHE_HOME": "x"}
    own = {"claude": "ANTHROPIC_API_KEY", "codex": "OPENAI_API_KEY"}
    secret = ("OPENROUTER_API_KEY", "GITHUB_TOKEN", "AWS_SECRET_ACCESS_KEY", "NODE_OPTIONS", "LD_PRELOAD")
    for name, value in {**needed, **dict.fromkeys((*secret, *own.values()), "")}.items():
        monkeypatch.setenv(name, value)
    if cloud:
        monkeypatch.setenv(cloud, "1")
    call = shown()
    assert needed.items() <= call["env"].items()
    assert set(secret) & set(call["env"]) == ({"AWS_SECRET_ACCESS_KEY"} if cloud else set())
    assert set(own.values()) & set(call["env"]) == {own[call["name"]]}


# ---- what it prints ----


def test_the_answer_and_its_receipt(printing: Callable[..., Path]) -> None:
    printing(result())
    spoken = speak()
    assert (spoken.body, spoken.asked, spoken.answered) == ("Yes.\n", "claude-sonnet-5-5", "claude-sonnet-5-5")
    assert (spoken.input, spoken.output, spoken.cache_read, spoken.cache_write) == (10, 40, 30, 20)
    assert (spoken.usd, spoken.most, spoken.stop, spoken.call) == (0.25, 0.25, "end_turn", "abc")
    assert spoken.via == "claude: no tools"


def test_the_answer_of_codex_and_its_receipt(printing: Callable[..., Path]) -> None:
    """It tells neither its model nor its price, and its count of the input includes the cache."""
    printing("\n".join(["a line of its own", *map(json.dumps, CODEX)]), name="codex")
    spoken = speak("codex")
    assert (spoken.body, spoken.asked, spoken.answered) == ("Yes.\n", "gpt-5", None)
    assert (spoken.input, spoken.output, spoken.cache_read, spoken.usd) == (70, 5, 30, None)
    assert "read-only sandbox" in str(spoken.via)


def test_what_is_not_counted_is_not_known(printing: Callable[..., Path]) -> None:
    printing(json.dumps({"type": "result", "result": "Yes."}))
    spoken = speak()
    assert (spoken.answered, spoken.input, spoken.output, spoken.usd) == (None, None, None, None)


STRANGE: dict[str, Any] = {
    "session_id": 5,
    "stop_reason": ["x"],
    "modelUsage": [1],
    "num_turns": "2",
    "usage": 3,
    "total_cost_usd": True,
    "api_error_status": "odd",
}


@pytest.mark.parametrize("key", STRANGE)
def test_what_has_another_type_is_unknown_and_the_answer_is_kept(key: str, printing: Callable[..., Path]) -> None:
    printing(result(**{key: STRANGE[key]}))
    spoken = speak()
    known = {"session_id": spoken.call, "modelUsage": spoken.answered, "total_cost_usd": spoken.usd}
    assert (spoken.body, spoken.stop) == ("Yes.\n", "end_turn")
    assert known.get(key) is None


def test_a_verbose_program_prints_a_list_that_ends_with_the_result(printing: Callable[..., Path]) -> None:
    printing(f'[{{"type": "system"}}, {result()}]')
    assert speak().body == "Yes.\n"


FAILURES: Mapping[str, tuple[str, int, str, float | None]] = {
    "429": (failing(api_error_status=429, result="Request rejected (429)"), 1, "Request rejected", 0.25),
    "529": (failing(api_error_status=529, result="Overloaded"), 1, "Overloaded", 0.25),
    "a key": (failing(api_error_status=500, result="sk-dummy-key is odd"), 1, r"\[key\] is odd", 0.25),
    "dropped": (failing(result="API Error: Connection dropped", total_cost_usd=None), 1, "Connection dropped", None),
    "is_error": (failing(result="Overloaded", total_cost_usd=-1), 0, "Overloaded", None),
    "a code": (result(result="Yes.", total_cost_usd="much"), 1, "claude failed: Yes", None),
    "two": (result(num_turns=2), 0, "in several messages", 0.25),
    "empty": (result(result=""), 0, "empty answer", 0.25),
    "null": (result(result=None), 0, "empty answer", 0.25),
    "blank": (result(result=" \n"), 0, "empty answer", 0.25),
    "nothing": ("", 0, "code 0 without a readable answer: it printed nothing", None),
    "crash": ("Segmentation fault", 139, "code 139 .* Segmentation fault", None),
    "half": ('{"type": "resu', 0, "without a readable answer", None),
    "list": ("[]", 0, "without a readable answer", None),
    "numbers": ("[1, 2]", 0, "without a readable answer", None),
    "system": ('{"type": "system"}', 0, "without a readable answer", None),
    "nested": ("[" * 100_000, 0, "without a readable answer", None),
}


@pytest.mark.parametrize("name", FAILURES)
def test_what_may_pass(name: str, printing: Callable[..., Path], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ANTHROPIC_API_KEY", "sk-dummy-key")
    out, code, why, usd = FAILURES[name]
    printing(out, code)
    with pytest.raises(CallFailed, match=why) as caught:
        speak()
    assert (caught.value.again, caught.value.usd) == (True, usd)
    assert "sk-dummy" not in str(caught.value)


def test_a_refusal_is_not_asked_for_again(printing: Callable[..., Path]) -> None:
    printing(failing(stop_reason="refusal", result="safeguards flagged this message", num_turns=2), 1)
    with pytest.raises(CallFailed, match="the model refused to answer") as caught:
        speak()
    assert (caught.value.again, caught.value.usd) == (False, 0.25)


@pytest.mark.parametrize(
    ("out", "kind", "names"),
    [
        (failing(api_error_status=401, result="Failed: sk-dummy-key"), AuthError, ["and then /login", "[key]"]),
        (failing(api_error_status=403, result="Failed to authenticate"), AuthError, ["and then /login"]),
        (failing(api_error_status=404, result="an issue"), UsageError, ["claude-sonnet-5-5", 'tier "sonnet"']),
        (failing(api_error_status=400, result="bad request"), UsageError, ["bad request", "claude-sonnet-5-5"]),
    ],
)
def test_what_will_not_pass_says_what_to_do(
    out: str, kind: type[Exception], names: list[str], printing: Callable[..., Path], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("ANTHROPIC_API_KEY", "sk-dummy-key")
    printing(out, 1)
    with pytest.raises(kind) as caught:
        speak()
    assert all(part in str(caught.value) for part in names)
    assert "sk-dummy" not in str(caught.value)


@pytest.mark.parametrize("name", ["claude", "codex"])
def test_a_failure_without_a_kind_is_a_missing_login_if_the_program_says_so(
    name: str, printing: Callable[..., Path]
) -> None:
    """Nobody reads its sentences: it is asked."""
    out = (
        failing(result="Hm.") if name == "claude" else json.dumps({"type": "turn.failed", "error": {"message": "Hm."}})
    )
    folder = printing(out, 1, name=name)
    with pytest.raises(CallFailed, match="Hm"):
        speak(name)
    (folder / "out").touch()
    with pytest.raises(AuthError, match=rf"{name} is not logged in: run `{name}"):
        speak(name)


@pytest.mark.parametrize(
    "events",
    [
        [*CODEX[:-1], {"type": "turn.failed", "error": {"message": "usage limit"}}],
        [*CODEX[:-1], {"type": "error", "message": "usage limit"}],
        [{"type": "error", "error": "usage limit"}],
    ],
)
def test_a_turn_that_codex_did_not_complete_is_none(events: list[Any], printing: Callable[..., Path]) -> None:
    printing("\n".join(map(json.dumps, events)), 1, name="codex")
    with pytest.raises(CallFailed, match=r"codex failed: (usage limit|no reason)") as caught:
        speak("codex")
    assert (caught.value.again, caught.value.usd) == (True, None)


def test_a_connection_that_codex_tried_again_is_no_failure(printing: Callable[..., Path]) -> None:
    """It prints the same event for that as for an error that ends the turn."""
    lost = {"type": "error", "message": "Reconnecting... 2/5 (stream disconnected before completion)"}
    printing("\n".join(map(json.dumps, [*CODEX[:2], lost, *CODEX[2:]])), name="codex")
    assert speak("codex").body == "Yes.\n"


@pytest.mark.parametrize("events", [CODEX[:-1], CODEX[:1], ()])
def test_a_stream_of_codex_that_ends_too_soon(events: tuple[Any, ...], printing: Callable[..., Path]) -> None:
    printing("\n".join(map(json.dumps, events)), name="codex")
    with pytest.raises(CallFailed, match="without a readable answer"):
        speak("codex")


def test_an_old_program_is_to_be_updated(printing: Callable[..., Path]) -> None:
    printing("", code=1, err="error: unknown option '--restricted'")
    with pytest.raises(UsageError, match="this claude is too old: update it"):
        speak()


def test_a_program_that_dies_before_it_reads(stand_in: Callable[..., Path]) -> None:
    stand_in("os.kill(os.getpid(), signal.SIGKILL)")
    with pytest.raises(CallFailed, match="code -9"):
        speak(own="x" * 1_000_000)


def test_a_program_that_is_none(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("COUNCIL_CLAUDE", raising=False)
    monkeypatch.setenv("PATH", str(tmp_path))
    with pytest.raises(UsageError, match="`claude` program is not installed; COUNCIL_CLAUDE may name it"):
        speak()
    assert "not installed" in made().obstacle()
    broken = tmp_path / "claude"
    broken.write_bytes(b"\x7fELF nothing")
    broken.chmod(0o755)
    with pytest.raises(UsageError, match="cannot be started"):
        speak()


# ---- its end ----

FAMILY = """
child = subprocess.Popen([sys.executable, "-c", "import time; time.sleep(600)"])
(here / "pids.new").write_text(f"{os.getpid()} {child.pid}")
os.replace(here / "pids.new", here / "pids")
time.sleep(600)
"""


def gone(pid: int) -> bool:
    """Dead; a grandchild of ours may remain as a zombie until its new parent looks."""
    with suppress(OSError):
        os.kill(pid, 0)
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] == "Z"
    return True


def wait_until(holds: Callable[[], bool]) -> None:
    until = time.monotonic() + 30
    while not holds():
        assert time.monotonic() < until
        time.sleep(0.01)


def test_a_cancellation_ends_the_whole_family(stand_in: Callable[..., Path]) -> None:
    note = stand_in(FAMILY) / "pids"

    async def cancelled() -> None:
        task = asyncio.create_task(made().speak(brief(), lambda _: None))
        await asyncio.to_thread(wait_until, note.exists)
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task

    asyncio.run(cancelled())
    for pid in map(int, note.read_text().split()):
        wait_until(lambda pid=pid: gone(pid))  # type: ignore[misc]


def test_the_deadline_ends_a_call(stand_in: Callable[..., Path]) -> None:
    stand_in("time.sleep(600)")
    with pytest.raises(CallFailed, match=r"gave no whole answer within the deadline of 0\.3 s") as caught:
        speak(deadline=0.3)
    assert (caught.value.again, caught.value.usd) == (True, None)


# ---- finding it ----


@pytest.mark.parametrize("by", ["variable", "path"])
def test_a_place_below_the_current_folder_is_found_from_the_empty_one_too(
    by: str, stand_in: Callable[..., Path], monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = stand_in(SHOW % result())
    monkeypatch.chdir(folder.parent)
    monkeypatch.setenv("PATH", f"bin{os.pathsep}{os.environ['PATH']}")
    monkeypatch.setenv("COUNCIL_CLAUDE", "bin/claude" if by == "variable" else "")
    assert made().obstacle() == ""
    assert speak().body == "Yes.\n"


def test_find_looks_at_the_variable_first_and_then_at_path(
    stand_in: Callable[..., Path], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = stand_in("")
    monkeypatch.delenv("COUNCIL_CLAUDE")
    monkeypatch.setenv("PATH", str(folder))
    assert programs.Claude.find() == str(folder / "claude")
    monkeypatch.setenv("COUNCIL_CLAUDE", str(tmp_path / "nothing"))
    assert programs.Claude.find() is None


@pytest.mark.parametrize(
    ("out", "code", "expected"),
    [
        ('{"loggedIn": true}', 0, True),
        ('{"loggedIn": false}', 1, False),
        ('{"loggedIn": true}', 1, False),
    ],
)
def test_logged_in_takes_the_programs_word(
    out: str, code: int, expected: bool, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    program = tmp_path / "claude"
    program.write_text(f"#!/bin/sh\necho '{out}'\nexit {code}\n")
    program.chmod(0o755)
    monkeypatch.setenv("COUNCIL_CLAUDE", str(program))
    assert (made().obstacle() == "") is expected


# ---- the real program ----


@pytest.fixture
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A home of its own with a dummy key, and none of the variables that this test run may have come with."""
    for name in list(os.environ):
        if name.startswith(("ANTHROPIC_", "CLAUDE")):
            monkeypatch.delenv(name)
    home = tmp_path / "home"
    (home / ".claude").mkdir(parents=True)
    quiet = ("CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC", "DISABLE_TELEMETRY", "DISABLE_ERROR_REPORTING")
    given = {"HOME": str(home), "ANTHROPIC_API_KEY": "sk-ant-dummy", "COUNCIL_CLAUDE": REAL}
    for name, value in {**given, **dict.fromkeys(quiet, "1")}.items():
        monkeypatch.setenv(name, value)
    return home


@pytest.fixture
def api(home: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[FakeApi]:
    with FakeApi() as api:
        monkeypatch.setenv("ANTHROPIC_BASE_URL", api.url)
        yield api


def bodies(api: FakeApi) -> str:
    return json.dumps([request.body for request in api.requests])


@real
def test_real_answer_and_receipt(api: FakeApi) -> None:
    usage = dict(zip(FINE["usage"], (1000, 7, 3, 50), strict=True))
    api.responder = sequence(Answer("Yes ☕\n and no.", usage=usage))
    spoken = speak()
    assert (spoken.body, spoken.answered, spoken.stop) == ("Yes ☕\n and no.", "claude-sonnet-5-5", "end_turn")
    assert (spoken.input, spoken.cache_write, spoken.cache_read, spoken.output) == (1000, 7, 3, 50)
    assert (spoken.usd or 0) > 0


@real
def test_real_request_holds_the_brief_and_little_else(api: FakeApi) -> None:
    speak(shared="  The topic:\n\n", own="\té ☕ your part.\n\n")
    (asked,) = api.prompts
    assert asked.body["messages"][0] == {"role": "user", "content": "  The topic:\n\n\té ☕ your part.\n\n"}
    assert asked.body["tools"] == []
    assert asked.body["output_config"] == {"effort": "low"}
    assert len(bodies(api)) < 4000


@real
@pytest.mark.parametrize("text", ["/clear", "/help me", "!touch it", "# note", "& go", "exit"])
def test_real_briefs_are_never_commands(text: str, api: FakeApi) -> None:
    assert speak(shared="", own=text).body == "ok"
    assert api.prompts[0].body["messages"][0]["content"].strip() == text


@real
def test_real_mentions_open_no_file(api: FakeApi, home: Path, tmp_path: Path) -> None:
    (home / "secret.txt").write_text("SECRET-OF-HOME")
    (tmp_path / "SECRET-NAME.txt").write_text("SECRET-ABSOLUTE")
    absolute = tmp_path / "SECRET-NAME.txt"
    speak(own="\n".join(["Look at", f"@{absolute}", f'@"{absolute}"', "@~/secret.txt", f"@{home}/secret.txt"]))
    sent = bodies(api)
    assert "SECRET-OF-HOME" not in sent
    assert "SECRET-ABSOLUTE" not in sent


@real
@pytest.mark.parametrize("status", [429, 500, 529])
def test_real_failures_that_may_pass(status: int, api: FakeApi) -> None:
    api.responder = sequence(Answer(fault="status", status=status, message="try later"))
    with pytest.raises(CallFailed, match="claude failed"):
        speak()
    assert len(api.prompts) == 1, "trying again is not the program's business"


@real
@pytest.mark.parametrize(
    ("status", "kind", "says"),
    [(400, UsageError, "refused the request"), (401, AuthError, "/login"), (404, UsageError, "another model")],
)
def test_real_failures_that_will_not_pass(status: int, kind: type[Exception], says: str, api: FakeApi) -> None:
    api.responder = sequence(Answer(fault="status", status=status))
    with pytest.raises(kind, match=says):
        speak()


@real
@pytest.mark.parametrize("answer", [Answer(fault="reset"), Answer(fault="html"), Answer(""), Answer(stop="max_tokens")])
def test_real_answers_that_are_none(answer: Answer, api: FakeApi) -> None:
    api.responder = sequence(answer)
    with pytest.raises(CallFailed):
        speak()


@real
def test_real_refusal(api: FakeApi) -> None:
    api.responder = sequence(Answer("I would rather", stop="refusal"))
    with pytest.raises(CallFailed, match="refused to answer"):
        speak()


@real
def test_real_subscription_is_used_and_seen(api: FakeApi, home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("ANTHROPIC_API_KEY")
    assert "not logged in" in made().obstacle()
    with pytest.raises(AuthError, match="/login"):
        speak()
    in_a_day = int((time.time() + 86400) * 1000)
    login: dict[str, Any] = {"accessToken": "sk-ant-oat01-dummy", "refreshToken": "sk-ant-ort01-dummy"}
    login |= {"expiresAt": in_a_day, "scopes": ["user:inference"], "subscriptionType": "max"}
    (home / ".claude" / ".credentials.json").write_text(json.dumps({"claudeAiOauth": login}))
    assert made().obstacle() == ""
    assert speak().body == "ok"
    assert api.prompts[-1].headers["authorization"] == "Bearer sk-ant-oat01-dummy"
