"""The real Codex: its settings, its tools, and subagents that work by themselves.

Its sandbox is the default in a folder that the user trusts: commands may write to the project and to temporary files,
not to the home, and have no network.
"""

from __future__ import annotations

import json
import re
import subprocess
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from tests import portable
from tests.clients import Client
from tests.fake_responses import FakeResponses, ResponsesRequest, content
from tests.fakeapi import Answer, Request, ToolUse
from tests.helpers import User
from tests.portable import Action, Ask, Load, Save, Say, Shell, Talk

HOST = "/root"
PROFILE = 'PATH="$HOME/.local/bin:$PATH"\n'
SETTINGS = """\
model = "gpt-6.1-sol"
model_provider = "loopback"

[model_providers.loopback]
name = "Loopback"
base_url = "{url}/v1"
wire_api = "responses"
env_key = "LOOPBACK_KEY"
request_max_retries = 0
stream_max_retries = 0
"""
TRUST = """
[projects."{project}"]
trust_level = "trusted"
"""
# The model writes JavaScript. A command may take longer than Codex waits for it by itself.
SCRIPT = """\
// @exec: {{"yield_time_ms": 100000}}
let run = await tools.exec_command({{cmd: {command}, yield_time_ms: 30000}});
let printed = run.output;
while (run.session_id) {{
    run = await tools.write_stdin({{session_id: run.session_id, yield_time_ms: 30000}});
    printed += run.output;
}}
text(printed);
"""
SKILL = re.compile(r"^- council(?::council)?: .*\(file: (?P<root>r\d+)/(?P<path>[^)]+)\)$", re.M)


class Sandboxed(User):
    """A user whose home cannot be written by what the client runs, so the sessions are in the project."""

    @property
    def environment(self) -> dict[str, str]:
        return {name: value for name, value in super().environment.items() if name != "COUNCIL_HOME"}

    @property
    def sessions(self) -> list[Path]:
        folder = self.work / ".council" / "sessions"
        return sorted(folder.glob("2*")) if folder.is_dir() else []


class Codex(Client):
    """Its subagents work by themselves: the host starts one after the other, three at most at a time, and waits.

    The history of a member begins with its task, unless `fork` says "all".
    """

    name = "codex"
    listing = ("debug", "prompt-input", "hello")
    listed = r"- (?:council:)?council: "
    api = FakeResponses
    user = Sandboxed
    at_once = 3
    homes = "/var/tmp"

    def __init__(self, fork: str = "none", trust: str = TRUST, profile: str = PROFILE) -> None:
        self.fork, self.trust, self.profile = fork, trust, profile

    def set_up(self, user: User, url: str) -> dict[str, str]:
        """The shell that it runs commands in begins with the PATH of the system, and reads the user's profile."""
        subprocess.run(["git", "init", "-q", str(user.work)], check=True)
        (user.root / ".profile").write_text(self.profile)
        (user.root / ".codex").mkdir()
        (user.root / ".codex" / "config.toml").write_text((SETTINGS + self.trust).format(url=url, project=user.work))
        return {"LOOPBACK_KEY": "none"}

    def arguments(self, prompt: str) -> list[str]:
        return ["exec", prompt]

    def talk(self, request: Request) -> Talk:
        """A member's conversation opens with its task, which comes behind the history that it inherits, if any."""
        name = agent_of(request)
        tasks = [content(item) for item in items_of(request) if item.get("recipient") == name != HOST]
        return Talk(tasks[0] if tasks else "", request.last, request.text)

    def carry_on(self, request: Request) -> Answer | None:
        """The host calls one tool at a time: it starts all members that are due, some when others have finished, and
        waits for them.
        """
        items = items_of(request)
        shown = [at for at, item in enumerate(items) if item["type"] == "custom_tool_call_output"]
        since = items[shown[-1] :] if shown else []
        due = list(portable.DUE.finditer(content(since[0]))) if since else []
        starts = starts_of(since)
        refused = bool(starts) and since[-1] is starts[-1] and not began(starts[-1])
        if starts and not refused and len(begun := list(filter(began, starts))) < len(due):
            return self.ask(request, due[len(begun)]["prompt"])
        return calls("collaboration.wait_agent", {"timeout_ms": 60_000}) if at_work(items) else None

    def ask(self, request: Request, prompt: str) -> Answer:
        """It has other models than those of the tiers, so a member gets the host's."""
        nth = sum(item.get("name") == "spawn_agent" for item in items_of(request))
        task = {"task_name": f"member_{nth}", "message": prompt, "fork_turns": self.fork}
        return calls("collaboration.spawn_agent", task)

    def answer(self, actions: Sequence[Action], request: Request) -> Answer:
        """It has no tool that loads a skill: its model reads the file that the list of skills names."""
        match actions[0]:
            case Say(text):
                return Answer(text)
            case Ask(_, _, prompt):
                return self.ask(request, prompt)
            case Shell(command):
                return calls("exec", SCRIPT.format(command=json.dumps(command)))
            case Load():
                return calls("exec", SCRIPT.format(command=json.dumps(f"cat '{skill_of(request)}'")))
            case Save():
                raise AssertionError("its shell refused a command")


def calls(name: str, given: dict[str, Any] | str) -> Answer:
    return Answer("", tools=(ToolUse(name, given),))


def items_of(request: Request) -> list[dict[str, Any]]:
    assert isinstance(request, ResponsesRequest)
    return request.items


def agent_of(request: Request) -> str:
    return str(json.loads(request.headers["x-codex-turn-metadata"])["agent_name"])


def starts_of(items: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """What came of each attempt to start an agent."""
    made = {item["call_id"] for item in items if item.get("name") == "spawn_agent"}
    return [item for item in items if item.get("call_id") in made and "output" in item]


def began(start: dict[str, Any]) -> bool:
    """A refusal is a sentence."""
    return content(start).startswith("{")


def at_work(items: list[dict[str, Any]]) -> set[str]:
    """The agents that were started and have not given their last answer."""
    started = {json.loads(content(start))["task_name"] for start in starts_of(items) if began(start)}
    words = [item for item in items if item["type"] == "agent_message"]
    return started - {item["author"] for item in words if "Message Type: FINAL_ANSWER" in content(item)}


def skill_of(request: Request) -> str:
    """The path of the council skill in the list that the model is given; empty if it is not there."""
    told = "\n".join(content(item) for item in items_of(request) if item.get("role") == "developer")
    found = SKILL.search(told)
    root = found and re.search(rf"^- `{found['root']}` = `(?P<folder>[^`]+)`$", told, re.M)
    return f"{root['folder']}/{found['path']}" if found and root else ""
