"""Programs that the user is logged in to, `claude` and `codex`: two small tables say how each is called and read.

A program may only answer. It runs in an empty folder with a small environment, gets the brief on stdin, and has its
tools off as far as it lets us; `stays_on` says what is left. It does not stream: the answer arrives as a whole.
"""

from __future__ import annotations

import asyncio
import json
import os
import shutil
import signal
import subprocess
from collections.abc import Callable, Iterator, Mapping
from contextlib import suppress
from dataclasses import replace
from subprocess import DEVNULL, CompletedProcess
from tempfile import TemporaryDirectory, TemporaryFile
from typing import Any, ClassVar

from council.next.config.models import Model
from council.next.config.settings import Settings
from council.next.errors import AuthError, UsageError
from council.next.prompts.brief import Brief
from council.next.speakers.base import PASSING, CallFailed, Offer, Rank, Refused, Speaker, Spoken, deadline, speaker
from council.next.speakers.values import MESSAGES, count, table, text, tokens
from council.next.text import one_line

MOST_PRINTED, MOST_USD = 16_000_000, 100_000  # bytes, and more than any call costs
USAGE = ("input_tokens", "output_tokens", "cached_input_tokens", "")  # of codex, which tells of no writing to a cache
PATIENCE = 5.0  # seconds for a program to say whether somebody is logged in
# What a program needs of the environment: the system's variables, how to reach the network, and its own. It gets no key
# of another vendor, but those of a cloud if the user has it ask there.
SYSTEM = (
    "ALL_PROXY HOME HTTPS_PROXY HTTP_PROXY LANG LANGUAGE LOGNAME NODE_EXTRA_CA_CERTS NO_PROXY PATH SHELL SSL_CERT_DIR "
    "SSL_CERT_FILE TEMP TERM TMP TMPDIR TZ USER"
).split()
CLOUDS = {
    "CLAUDE_CODE_USE_BEDROCK": ("AWS_",),
    "CLAUDE_CODE_USE_VERTEX": ("CLOUD_ML_", "CLOUDSDK_", "GCLOUD_", "GOOGLE_", "VERTEX_"),
    "CLAUDE_CODE_USE_FOUNDRY": ("AZURE_",),
}
SECRET = ("KEY", "SECRET", "TOKEN")  # how the names of variables end that hold one


class Program(Speaker):
    """Runs one process for each call."""

    status: ClassVar[tuple[str, ...]]  # the words that ask whether somebody is logged in
    login: ClassVar[str]  # how to log in
    vendor: ClassVar[str]  # the endpoint whose models it has
    families: ClassVar[tuple[str, ...]]  # of the variables that it gets besides the system's
    stays_on: ClassVar[str]
    chosen: ClassVar[bool] = True  # by `auto`

    def options(self, model: Model) -> tuple[tuple[str, ...], Mapping[str, str]]:
        """The words that it is called with, and variables that hold whatever the user's are."""
        raise NotImplementedError

    def read(self, printed: CompletedProcess[str], model: Model) -> Spoken:
        """The reply. Raises ValueError and the like where that is not what the program prints."""
        raise NotImplementedError

    @classmethod
    def offers(cls, settings: Settings, terminal: bool) -> Iterator[Offer]:  # noqa: ARG003
        if cls.find():
            why = f"the `{cls.name}` program is installed"  # only the chosen one is asked for its login
            yield Offer(Rank.PROGRAM, f"--speaker {cls.name}", why, cls(settings) if cls.chosen else None)

    @classmethod
    def find(cls) -> str | None:
        """The program that COUNCIL_CLAUDE or COUNCIL_CODEX names, or the one on PATH."""
        found = shutil.which(os.environ.get(f"COUNCIL_{cls.name.upper()}") or cls.name)
        return found and os.path.abspath(found)  # noqa: PTH100 (a link stays one); calls run in another folder

    def obstacle(self) -> str:
        """The program says itself whether somebody is logged in: it is asked as it would be called."""
        if not (path := self.find()):
            return f"the `{self.name}` program is not installed; COUNCIL_{self.name.upper()} may name it"
        quiet: dict[str, Any] = dict.fromkeys(("stdin", "stdout", "stderr"), DEVNULL)
        with suppress(OSError, subprocess.TimeoutExpired):
            if not subprocess.run([path, *self.status], **quiet, timeout=PATIENCE, check=False).returncode:
                return ""
        return f"{self.name} is not logged in: {self.login}"

    def price(self) -> str:
        return "on your subscription"

    def price_limit(self, brief: Brief) -> float | None:  # noqa: ARG002
        return None

    async def speak(self, brief: Brief, began: Callable[[str], None]) -> Spoken:
        model, path = self.settings.model(brief.due.tier), self.find()
        if model.endpoint.name != self.vendor:  # a model that this program does not have
            model = self.settings.named(f"{self.vendor}/", brief.due.tier)
        if path is None:
            raise UsageError(self.obstacle())
        words, variables = self.options(model)
        families = (*self.families, *(name for cloud in CLOUDS if os.environ.get(cloud) for name in CLOUDS[cloud]))
        own = {name: one for name, one in os.environ.items() if name.upper() in SYSTEM or name.startswith(families)}
        # A message that begins with a slash would be run as a command; an empty line before it prevents that.
        asked = f"\n{brief.text}" if brief.text.startswith("/") else brief.text
        async with deadline(self.settings, self.name):
            printed = await run([path, *words], asked, {**own, **variables})
        spoken = await self.judge(printed, model)
        began(spoken.body)
        return replace(spoken, most=spoken.usd, via=f"{self.name}: {self.stays_on}")

    async def judge(self, printed: CompletedProcess[str], model: Model) -> Spoken:
        """The reply, or why there is none. If a failure has no known kind, the program is asked for its login."""
        said = one_line(printed.stderr.strip() or printed.stdout, 300) or "it printed nothing"
        ended = f"{self.name} exited with code {printed.returncode}"
        try:
            spoken = self.read(printed, model)
            if printed.returncode:
                raise CallFailed(f"{ended}: {said}", True, usd=spoken.usd)
        except CallFailed as failed:
            if failed.again and (why := await asyncio.to_thread(self.obstacle)):
                raise AuthError(f"{why} ({failed.reason})") from None
            raise
        except (ValueError, LookupError, AttributeError, TypeError, RecursionError):
            if "unknown option" in printed.stderr or "unexpected argument" in printed.stderr:
                raise UsageError(f"this {self.name} is too old: update it ({said})") from None
            raise CallFailed(f"{ended} without a readable answer: {said}", True, usd=None) from None
        if not spoken.body.strip():
            raise CallFailed(f"{self.name} gave an empty answer ({spoken.stop})", True, usd=spoken.usd, tries=1)
        return spoken


@speaker
class Claude(Program):
    name: ClassVar[str] = "claude"
    status: ClassVar[tuple[str, ...]] = ("--setting-sources", "", "auth", "status")  # calls read no settings files
    login: ClassVar[str] = "run `claude` and then /login"
    vendor: ClassVar[str] = "anthropic"
    families: ClassVar[tuple[str, ...]] = ("ANTHROPIC_", "CLAUDE", "DISABLE_", "LC_", "XDG_")
    stays_on: ClassVar[str] = "no tools"
    # Two locks on each door: `@path` in a brief would be read and sent even without tools.
    alone: ClassVar[tuple[str, ...]] = (
        *("--print", "--output-format", "json", "--restricted", "--safe-mode", "--setting-sources", ""),
        *("--strict-mcp-config", "--disable-slash-commands", "--tools", "", "--no-session-persistence"),
        *("--settings", '{"permissions": {"deny": ["Read"]}}'),
        *("--system-prompt", "You take a seat in a council. Answer the user's message."),
    )

    def options(self, model: Model) -> tuple[tuple[str, ...], Mapping[str, str]]:
        """Its own retries are silent and many. The user's variable of the effort would override the option."""
        variables = {"CLAUDE_CODE_MAX_RETRIES": "0", "DISABLE_AUTOUPDATER": "1"}
        if model.effort != "none":
            variables["CLAUDE_CODE_EFFORT_LEVEL"] = model.effort
        return (*self.alone, "--model", model.name), variables

    def read(self, printed: CompletedProcess[str], model: Model) -> Spoken:
        """One result; with verbose output, a list of messages that ends with it. The return code and `is_error` say
        whether it failed; `subtype` says success even of a failure."""
        found = json.loads(printed.stdout)
        result = found[-1] if isinstance(found, list) else found
        if result["type"] != "result":
            raise ValueError
        usd = result.get("total_cost_usd")
        usd = float(usd) if type(usd) in (int, float) and 0 <= usd < MOST_USD else None
        # It may call small models for purposes of its own: the one that wrote most is the one that answered.
        wrote = {
            name: count(table(one).get("outputTokens")) or 0 for name, one in table(result.get("modelUsage")).items()
        }
        stop, call = text(result.get("stop_reason")) or "end_turn", text(result.get("session_id")) or None
        body, status = text(result.get("result")), count(result.get("api_error_status")) or 0
        if stop == "refusal":
            raise Refused("the model refused to answer", usd)
        if printed.returncode or result.get("is_error"):
            said = one_line(body or "no reason given", 300)
            if status in (401, 403):
                raise AuthError(f"claude is not logged in: {self.login} ({said})")
            if 400 <= status < 500 and status not in PASSING:
                what = f'give the tier "{model.tier}" another model than {model.name}'
                raise UsageError(f"claude refused the request: {said}; {what}")
            raise CallFailed(f"claude failed: {said}", again=True, usd=usd)
        if (count(result.get("num_turns")) or 1) > 1:
            why = "claude answered in several messages, and prints only the last"
            raise CallFailed(why, again=True, usd=usd, tries=1)
        answered, used = max(wrote, key=wrote.__getitem__, default=None), tokens(result.get("usage"), MESSAGES)
        return Spoken(body, model.name, answered, *used, usd=usd, stop=stop, call=call)


@speaker
class Codex(Program):
    name: ClassVar[str] = "codex"
    status: ClassVar[tuple[str, ...]] = ("login", "status")
    login: ClassVar[str] = "run `codex login`"
    vendor: ClassVar[str] = "openai"
    families: ClassVar[tuple[str, ...]] = ("CODEX_", "OPENAI_", "LC_", "XDG_")
    stays_on: ClassVar[str] = "the tools that it cannot turn off, in a read-only sandbox"
    chosen: ClassVar[bool] = False
    alone: ClassVar[tuple[str, ...]] = (
        *("exec", "--json", "--ephemeral", "--ignore-user-config", "--ignore-rules", "--skip-git-repo-check"),
        *("--sandbox", "read-only", "-c", 'approval_policy="never"', "-c", 'web_search="disabled"'),
        *("-c", "mcp_servers={}", "-c", "features.shell_tool=false", "-c", "features.unified_exec=false"),
    )

    def options(self, model: Model) -> tuple[tuple[str, ...], Mapping[str, str]]:
        effort = () if model.effort == "none" else ("-c", f'model_reasoning_effort="{model.effort}"')
        return (*self.alone, *effort, "--model", model.name, "-"), {}

    def read(self, printed: CompletedProcess[str], model: Model) -> Spoken:
        """One event a line. The last message is the answer, if the turn was completed. An error before that was only a
        connection that it tried again."""
        events = [table(json.loads(line)) for line in printed.stdout.splitlines() if line.startswith("{")]
        last = {str(event.get("type")): event for event in events}
        failed = last.get("turn.failed") or last.get("error")
        if failed and "turn.completed" not in last:
            said = table(failed.get("error")).get("message") or failed.get("message") or "no reason given"
            raise CallFailed(f"codex failed: {one_line(str(said), 300)}", again=True, usd=None)
        used = tokens(last["turn.completed"].get("usage"), USAGE, includes_cache=True)
        items = (table(event.get("item")) for event in events if event.get("type") == "item.completed")
        bodies = [text(item.get("text")) for item in items if item.get("type") == "agent_message"]
        call = text(table(last.get("thread.started")).get("thread_id")) or None
        return Spoken(bodies[-1] if bodies else "", model.name, None, *used, stop="end_turn", call=call)


# ---- the process ----


async def run(command: list[str], asked: str, environment: Mapping[str, str]) -> CompletedProcess[str]:
    """What it printed, without the secrets that it was given. With files in place of pipes, only the program itself has
    to end, not what it leaves running. In a session of its own, all of it can be killed, and an interrupt reaches it
    only through us."""
    folder = TemporaryDirectory(prefix="council-", ignore_cleanup_errors=True)
    with folder as empty, TemporaryFile() as into, TemporaryFile() as out, TemporaryFile() as err:
        into.write(asked.encode("utf-8", "replace"))
        into.seek(0)
        how: dict[str, Any] = {"stdin": into, "stdout": out, "stderr": err, "cwd": empty, "env": environment}
        try:
            process = await asyncio.create_subprocess_exec(*command, **how, start_new_session=True)
        except OSError as failure:
            raise UsageError(f"{command[0]} cannot be started ({failure.strerror})") from None
        try:
            code = await process.wait()
        finally:
            if process.returncode is None:  # after a deadline or a cancellation
                with suppress(ProcessLookupError):
                    os.killpg(process.pid, signal.SIGKILL)
                await process.wait()
        printed = []
        for file in (out, err):
            file.seek(0)
            printed.append(file.read(MOST_PRINTED).decode("utf-8", "replace"))
            for name, secret in environment.items():
                if name.endswith(SECRET) and len(secret) > 5:
                    printed[-1] = printed[-1].replace(secret, "[key]")
        return CompletedProcess(command, code, *printed)
