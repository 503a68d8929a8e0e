"""The real Gemini CLI: its settings, and the tools that it offers."""

from __future__ import annotations

from collections.abc import Sequence

from tests.clients import Client, write
from tests.fake_gemini import FakeGemini
from tests.fakeapi import Answer, Request, ToolUse
from tests.helpers import User
from tests.portable import Action, Ask, Load, Save, Shell

MODEL = "gemini-2.5-pro"  # named, so that no other model is asked which one it should be
KEY = "GEMINI_API_KEY"
POLICY = """\
[[rule]]
toolName = ["activate_skill", "write_file"]
decision = "allow"
priority = 100

[[rule]]
toolName = "run_shell_command"
commandPrefix = "council"
allowRedirection = true
decision = "allow"
priority = 100
"""


class Gemini(Client):
    """With an API key. It may run `council` and write files: it refuses a command that contains a backtick."""

    name = "gemini"
    listing = ("skills", "list")
    listed = r"^council \[Enabled\]"
    api = FakeGemini

    def set_up(self, user: User, url: str) -> dict[str, str]:
        quiet = {"privacy": {"usageStatisticsEnabled": False}, "general": {"enableAutoUpdate": False}}
        write(
            user.root / ".gemini" / "settings.json", {"security": {"auth": {"selectedType": "gemini-api-key"}}, **quiet}
        )
        policy = user.root / ".gemini" / "policies" / "council.toml"
        policy.parent.mkdir()
        policy.write_text(POLICY)
        return {KEY: "dummy", "GOOGLE_GEMINI_BASE_URL": url}

    def arguments(self, prompt: str) -> list[str]:
        return ["--skip-trust", "-m", MODEL, "-p", prompt]

    def tool(self, action: Load | Shell | Save | Ask) -> ToolUse:
        match action:
            case Load():
                return ToolUse("activate_skill", {"name": "council"})
            case Shell(command):
                return ToolUse("run_shell_command", {"command": command, "description": "council"})
            case Save(name, text):
                return ToolUse("write_file", {"file_path": name, "content": text})
            case Ask(_, _, prompt):
                return ToolUse("invoke_agent", {"agent_name": "generalist", "prompt": prompt})

    def answer(self, actions: Sequence[Action], request: Request) -> Answer:
        """A subagent ends with a tool."""
        answer = super().answer(actions, request)
        if answer.tools or "complete_task" not in request.tools:
            return answer
        return Answer("", tools=(ToolUse("complete_task", {"result": {"response": answer.text}}),))
