"""The `claude` program, and so the subscription that its user is logged in to.

The program may only answer: no tools, no files, no memory, and nothing of its user's configuration but the login. It
does not stream, so the whole answer arrives at once, and it has no setting for max_tokens.
"""

from __future__ import annotations

import asyncio
import json
import os
import re
import shutil
import signal
import subprocess
from collections.abc import Callable, Iterable
from contextlib import suppress
from dataclasses import dataclass
from tempfile import TemporaryDirectory, TemporaryFile
from typing import IO, Any

from council.config.models import Model
from council.errors import NOTHING, CallFailed, Denied, Used
from council.speakers.base import (
    AutoOrder,
    Billing,
    Brief,
    Check,
    NotSetUp,
    Speaker,
    SpeakerType,
    Spoken,
    Usage,
    read_count,
    usage_of,
    used,
)
from council.text import one_line

ALONE = (  # two locks on each door: `@path` in a brief would be read and sent even without tools
    *("--restricted", "--safe-mode", "--setting-sources", "", "--strict-mcp-config", "--disable-slash-commands"),
    *("--tools", "", "--settings", '{"permissions": {"deny": ["Read"]}}', "--no-session-persistence"),
    *("--system-prompt", "You take a seat in a council. Answer the user's message."),
)
# Its own retries are silent and many, and updating it is up to its user.
QUIET = {"CLAUDE_CODE_MAX_RETRIES": "0", "DISABLE_AUTOUPDATER": "1"}
# What the program needs of the environment: its own settings, the system's, and how to reach the network. It gets
# no key of another vendor, but those of a cloud if the user has it ask there.
NEEDED = (
    "ALL_PROXY HOME HTTPS_PROXY HTTP_PROXY LANG LANGUAGE LOGNAME NODE_EXTRA_CA_CERTS NO_PROXY PATH SHELL SSL_CERT_DIR "
    "SSL_CERT_FILE TEMP TERM TMP TMPDIR TZ USER"
).split()  # fmt: skip
NEEDED_FAMILIES = ("ANTHROPIC_", "CLAUDE", "DISABLE_", "LC_", "XDG_")
CLOUDS = {
    "CLAUDE_CODE_USE_BEDROCK": ("AWS_",),
    "CLAUDE_CODE_USE_VERTEX": ("CLOUD_ML_", "CLOUDSDK_", "GCLOUD_", "GOOGLE_", "VERTEX_"),
    "CLAUDE_CODE_USE_FOUNDRY": ("AZURE_",),
}
MOST_USD = 100_000  # no call costs more
PASSING = {408, 409, 425, 429, 499}
LOGIN = re.compile(r"/login|log(?:ged)? in|api key|credential|authenticat", re.IGNORECASE)
KEY = re.compile(r"sk-[\w-]{6,}")


def find() -> str | None:
    """The program: the one that COUNCIL_CLAUDE names, or `claude` on PATH. None if there is none."""
    return shutil.which(os.environ.get("COUNCIL_CLAUDE") or "claude")


def logged_in(program: str | None = None) -> bool:
    """Whether a call would find a login. Logins in settings files do not count: no call reads those."""
    command = [program or find() or "claude", "--setting-sources", "", "auth", "status"]
    try:
        ended = subprocess.run(command, stdin=subprocess.DEVNULL, capture_output=True, timeout=5, check=False)
        return ended.returncode == 0 and json.loads(ended.stdout)["loggedIn"] is True
    except (OSError, subprocess.TimeoutExpired, ValueError, LookupError, TypeError):
        return False


def _obstacle(*_: object) -> str:
    return "" if find() else "the `claude` program is not installed"


def _login() -> str:
    return "" if logged_in() else "the `claude` program is not logged in"


def _checks(_: object) -> Iterable[Check]:
    yield "claude program", _version


def _version() -> str:
    program = find()
    if program is None:
        raise NotSetUp("not installed")
    try:
        done = subprocess.run(
            [program, "--version"], stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=10, check=True
        )
    except (OSError, subprocess.SubprocessError, UnicodeDecodeError) as failure:
        raise NotSetUp(f"{program} --version fails ({one_line(str(failure))}); install it again") from None
    return f"{program}, {one_line(done.stdout)}"


SPEAKER = SpeakerType(
    name="claude",
    about="the `claude` program, and so the subscription that its user is logged in to",
    make=lambda _: ClaudeSpeaker(),
    billing=Billing.REPORTED,
    auto=AutoOrder.PROGRAM,
    obstacle=_obstacle,
    login=_login,
    reason=lambda *_: "the `claude` program is logged in",
    terms="on your subscription",
    setup="install the `claude` program and log in with it",
    checks=_checks,
)


class ClaudeSpeaker(Speaker):
    """Runs one process per call."""

    name = SPEAKER.name

    def __init__(self, program: str | None = None) -> None:
        self.program = program

    async def speak(self, brief: Brief, tell: Callable[[str], None]) -> Spoken:
        try:
            async with asyncio.timeout(brief.deadline) as clock:
                ended = await _run(_command(self.program or find(), brief.model), _prompt(brief), _environment(brief))
        except TimeoutError:
            if not clock.expired():
                raise
            raise CallFailed(f"no answer within the deadline of {brief.deadline:g} s") from None
        spoken = _read(ended, brief.model)
        tell(spoken.body)
        return spoken


def _command(program: str | None, model: Model) -> list[str]:
    if program is None:
        raise Denied("no `claude` program: install Claude Code, name it in COUNCIL_CLAUDE, or choose another speaker")
    return [program, "--print", "--output-format", "json", *ALONE, "--model", model.name]


def _prompt(brief: Brief) -> bytes:
    """A message that begins with a slash would be run as a command; an empty line before it prevents that."""
    text = f"\n{brief.text}" if brief.text.startswith("/") else brief.text
    return text.encode("utf-8", "replace")


def _environment(brief: Brief) -> dict[str, str]:
    """Effort is set by the variable, because the user's own variable would override the flag."""
    effort = {} if brief.model.effort is None else {"CLAUDE_CODE_EFFORT_LEVEL": brief.model.effort}
    families = (*NEEDED_FAMILIES, *(name for cloud in CLOUDS if os.environ.get(cloud) for name in CLOUDS[cloud]))
    own = {name: value for name, value in os.environ.items() if name.upper() in NEEDED or name.startswith(families)}
    return {**own, **QUIET, **effort}


# ---- the process ----


@dataclass(frozen=True)
class _Ended:
    code: int
    out: str
    err: str


async def _run(command: list[str], prompt: bytes, environment: dict[str, str]) -> _Ended:
    """With files in place of pipes, only the program itself has to end, not what it leaves running."""
    with (
        TemporaryDirectory(prefix="council-", ignore_cleanup_errors=True) as empty,
        TemporaryFile() as asked,
        TemporaryFile() as out,
        TemporaryFile() as err,
    ):
        asked.write(prompt)
        asked.seek(0)
        process = await _start(command, stdin=asked, stdout=out, stderr=err, cwd=empty, env=environment)
        try:
            code = await process.wait()
        finally:
            await _end(process)
        return _Ended(code, _text(out), _text(err))


async def _start(command: list[str], **how: Any) -> asyncio.subprocess.Process:
    """In a session of its own: all of it can be killed, and an interrupt reaches it only through us."""
    try:
        return await asyncio.create_subprocess_exec(*command, start_new_session=True, **how)
    except OSError as error:
        raise Denied(
            f"{command[0]} cannot be started ({error.strerror}): name another program in COUNCIL_CLAUDE"
        ) from None


async def _end(process: asyncio.subprocess.Process) -> None:
    """After a deadline or a cancellation, kill the whole group."""
    if process.returncode is None:
        with suppress(ProcessLookupError):
            os.killpg(process.pid, signal.SIGKILL)
        await process.wait()


def _text(file: IO[bytes]) -> str:
    file.seek(0)
    return file.read().decode("utf-8", "replace")


# ---- what it printed ----

TYPES: dict[str, tuple[type, ...]] = {  # a value of another type is unknown
    "session_id": (str,), "stop_reason": (str,), "num_turns": (int,), "api_error_status": (int,),
    "total_cost_usd": (int, float), "usage": (dict,), "modelUsage": (dict,),
}  # fmt: skip


def _read(ended: _Ended, model: Model) -> Spoken:
    """The return code and `is_error` say whether it failed; `subtype` says success even of a failure."""
    result = _result(ended)
    spent = used(_usage(result), _usd(result))
    if result.get("stop_reason") == "refusal":
        return _spoken(result, "", "refused by the model")
    if ended.code != 0 or result.get("is_error"):
        raise _verdict(result, model, spent)
    if (result.get("num_turns") or 0) > 1:
        raise CallFailed("claude answered in several messages, and prints only the last", retries=1, used=spent)
    if not (body := str(result.get("result") or "")).strip():
        raise CallFailed(f"{model.name} gave an empty answer ({result.get('stop_reason')})", retries=1, used=spent)
    return _spoken(result, body)


def _result(ended: _Ended) -> dict[str, Any]:
    """What it printed: one result, or with verbose output a list of messages that ends with it."""
    with suppress(ValueError):
        printed = json.loads(ended.out)
        last = printed[-1] if isinstance(printed, list) and printed else printed
        if isinstance(last, dict) and last.get("type") == "result":
            return {key: value for key, value in last.items() if type(value) in TYPES.get(key, (type(value),))}
    said = _short(ended.err) or _short(ended.out) or "it printed nothing"
    if "unknown option" in ended.err:
        raise Denied(f"this claude is too old: run `claude update` ({said})")
    raise CallFailed(f"claude exited with code {ended.code} without a readable answer: {said}")


def _spoken(result: dict[str, Any], body: str, absent: str | None = None) -> Spoken:
    stop = result.get("stop_reason") or "end_turn"
    usage, usd = _usage(result), _usd(result)
    return Spoken(body, _answerer(result), stop, usage, usd, absent, result.get("session_id"))


def _usage(result: dict[str, Any]) -> Usage:
    return usage_of(result.get("usage", {}))


def _usd(result: dict[str, Any]) -> float | None:
    """What it says that the call cost, also of one that failed."""
    usd = result.get("total_cost_usd", -1)
    return float(usd) if 0 <= usd < MOST_USD else None


def _answerer(result: dict[str, Any]) -> str | None:
    """The program may call small models for its own purposes: the one that wrote most is the one that answered."""
    used = {name: one for name, one in result.get("modelUsage", {}).items() if isinstance(one, dict)}
    return max(used, key=lambda name: read_count(used[name].get("outputTokens")) or 0, default=None)


def _verdict(result: dict[str, Any], model: Model, spent: Used) -> CallFailed | Denied:
    status, said = result.get("api_error_status"), _short(str(result.get("result") or "no reason given"))
    if status in (401, 403) or (status is None and LOGIN.search(said)):
        why = f"claude is not logged in: run `claude` and then /login, or choose another speaker ({said})"
    elif status == 404:
        why = f"claude has no model {model.name!r}: give the tier {model.tier!r} another one ({said})"
    elif status is not None and 400 <= status < 500 and status not in PASSING:
        why = f"claude refused the request ({said}): check the model {model.name!r} of the tier {model.tier!r}"
    else:
        return CallFailed(f"claude failed: {said}", used=spent)
    return Denied(why, NOTHING if spent["usd"] is None else spent)


def _short(text: str) -> str:
    """One line, without any keys that were echoed."""
    line = " ".join(KEY.sub("[key]", text).split())
    return line if len(line) <= 300 else f"{line[:300]}…"
