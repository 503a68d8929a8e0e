"""The real OpenCode: its settings, and the tools that it offers."""

from __future__ import annotations

from tests.clients import Client, write
from tests.fakeapi import ToolUse
from tests.helpers import User
from tests.portable import Ask, Load, Save, Shell


class OpenCode(Client):
    """With its default permissions, under which a headless run rejects what it would ask the user for."""

    name = "opencode"
    listing = ("debug", "skill")
    listed = r'"name": "council"'

    def set_up(self, user: User, url: str) -> dict[str, str]:
        settings = {
            "model": "anthropic/claude-sonnet-4-5",
            "provider": {"anthropic": {"options": {"baseURL": f"{url}/v1"}}},
        }
        write(user.settings.parent / "opencode" / "opencode.json", settings)
        quiet = ("OPENCODE_DISABLE_MODELS_FETCH", "OPENCODE_DISABLE_AUTOUPDATE", "OPENCODE_DISABLE_LSP_DOWNLOAD")
        return {"ANTHROPIC_API_KEY": "sk-ant-dummy", **dict.fromkeys(quiet, "1")}

    def arguments(self, prompt: str) -> list[str]:
        return ["run", prompt]

    def tool(self, action: Load | Shell | Save | Ask) -> ToolUse:
        match action:
            case Load():
                return ToolUse("skill", {"name": "council"})
            case Shell(command):
                return ToolUse("bash", {"command": command, "description": "council"})
            case Save(name, text):
                return ToolUse("write", {"filePath": name, "content": text})
            case Ask(name, _, prompt):
                return ToolUse("task", {"description": name, "prompt": prompt, "subagent_type": "general"})
