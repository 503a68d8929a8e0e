"""The real GitHub Copilot CLI: its settings, and the tools that it offers."""

from __future__ import annotations

import re

from tests.clients import Client
from tests.fakeapi import ToolUse
from tests.helpers import User
from tests.portable import Ask, Load, Save, Shell


class Copilot(Client):
    """With a provider of the user's own and no GitHub account; `council` is the only program that it may run."""

    name = "copilot"
    listing = ("skill", "list")
    listed = r"^\s*council\b"

    def set_up(self, user: User, url: str) -> dict[str, str]:
        own = {"TYPE": "anthropic", "BASE_URL": url, "API_KEY": "sk-ant-dummy"}
        provider = {f"COPILOT_PROVIDER_{key}": value for key, value in own.items()}
        return {
            **provider,
            "COPILOT_MODEL": "claude-sonnet-4.5",
            "COPILOT_OFFLINE": "true",
            "COPILOT_AUTO_UPDATE": "false",
        }

    def arguments(self, prompt: str) -> list[str]:
        return ["--allow-tool", "shell(council:*)", "-p", prompt]

    def tool(self, action: Load | Shell | Save | Ask) -> ToolUse:
        match action:
            case Load():
                return ToolUse("skill", {"skill": "council"})
            case Shell(command):
                return ToolUse("bash", {"command": command, "description": "council"})
            case Save(name, text):
                return ToolUse("create", {"path": name, "file_text": text})
            case Ask(name, _, prompt):
                words = {"name": re.sub(r"\W+", "-", name.lower()), "description": name, "prompt": prompt}
                return ToolUse("task", {**words, "agent_type": "general-purpose", "mode": "sync"})
