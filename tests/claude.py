"""The real Claude Code as a client that has the skill alone, without hooks, as it is in a project's own folder."""

from __future__ import annotations

from tests import warm
from tests.clients import ROOT, Client, link
from tests.fakeapi import ToolUse
from tests.helpers import User
from tests.portable import Ask, Load, Save, Shell

QUIET = (
    "CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC", "DISABLE_TELEMETRY", "DISABLE_ERROR_REPORTING", "DISABLE_AUTOUPDATER",
)  # fmt: skip


class Claude(Client):
    """Its members are of its general kind; `council` is the only program that it may run."""

    name = "claude"
    refused = "\r\u2028"  # control characters, and spaces that are not ASCII
    listing = ()
    listed = "- council: Hold a real debate"

    def set_up(self, user: User, url: str) -> dict[str, str]:
        link(user.work / ".claude" / "skills" / "council", ROOT)
        own = {"ANTHROPIC_API_KEY": "sk-ant-dummy", "ANTHROPIC_BASE_URL": url, "COUNCIL_VENV": warm.venv()}
        return {**own, **dict.fromkeys(QUIET, "1")}

    def arguments(self, prompt: str) -> list[str]:
        return ["-p", prompt, "--allowedTools", "Skill(council)", "Bash(council:*)"]

    def tool(self, action: Load | Shell | Save | Ask) -> ToolUse:
        match action:
            case Load():
                return ToolUse("Skill", {"skill": "council"})
            case Shell(command):
                return ToolUse("Bash", {"command": command, "description": "council"})
            case Save(name, text):
                return ToolUse("Write", {"file_path": name, "content": text})
            case Ask(name, model, prompt):
                asked = {"description": name, "prompt": prompt, "subagent_type": "general-purpose", "model": model}
                return ToolUse("Agent", {**asked, "run_in_background": False})
