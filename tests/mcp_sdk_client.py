"""A debate through the client of the Python SDK, which tests start with a Python that has it: `PYTHON this PLAN.json`.

The plan names the server's command, the mode of the client, what to follow (the data or the text of results), the words
by turn, and the person's answers. What the client saw is printed as JSON.
"""

from __future__ import annotations

import asyncio
import json
import re
import sys
from pathlib import Path
from typing import Any

from mcp import types
from mcp.client.client import Client
from mcp.client.stdio import StdioServerParameters

DUE = re.compile(r'^- .+: (?:model \S+, )?prompt: (.*session "([^"]+)" and turn "([^"]+)".*)$', re.M)
KEY = re.compile(r'key "([^"]+)"')


class Host:
    def __init__(self, plan: dict[str, Any]) -> None:
        self.plan, self.seen = plan, {"forms": 0, "progress": 0}

    async def fill_form(self, _: Any, params: Any) -> types.ElicitResult:
        self.seen["forms"] += 1
        return types.ElicitResult(action="accept", content=self.plan["form"])

    async def note_progress(self, *_: Any) -> None:
        self.seen["progress"] += 1

    async def call(self, client: Client, name: str, **given: str) -> Any:
        """The SDK validates the data against the schema that the server declared."""
        result = await client.call_tool(f"council_{name}", given, progress_callback=self.note_progress)
        assert not result.is_error, result.content
        if self.plan["follow"] == "data":
            return result.structured_content
        return result.content[0].text

    def list_due(self, told: Any) -> list[tuple[str, str, str]]:
        text = told if isinstance(told, str) else "\n".join(f"- x: prompt: {row['prompt']}" for row in told["due"])
        return [match.groups() for match in DUE.finditer(text)]

    async def speak(self, client: Client, prompt: str, session: str, turn: str) -> None:
        """A member does what its prompt says, and a person fills in a form."""
        if prompt.startswith("Call council_record"):
            await self.call(client, "record", session=session, turn=turn)
            return
        brief = await self.call(client, "brief", session=session, turn=turn)
        key = KEY.search(brief if isinstance(brief, str) else brief["then"])
        assert key
        await self.call(client, "record", session=session, turn=turn, reply=self.plan["words"][turn], key=key[1])

    async def hold(self) -> None:
        plan = self.plan
        server = StdioServerParameters(command=plan["command"], args=["mcp"], env=plan["env"], cwd=plan["cwd"])
        form = {"elicitation_callback": self.fill_form} if plan["form"] else {}
        async with Client(server, mode=plan["mode"], **form) as client:
            told = await self.call(client, "start", topic="Shall we?", workflow=plan["workflow"])
            while due := self.list_due(told) if isinstance(told, str) else not told["done"] and self.list_due(told):
                await asyncio.gather(*(self.speak(client, *one) for one in due))
                told = await self.call(client, "next", session="last")
            self.seen["end"] = told
            self.seen["version"] = client.protocol_version
            self.seen["instructions"] = client.instructions
            self.seen["prompts"] = [one.name for one in (await client.list_prompts()).prompts]
            resources = (await client.list_resources()).resources
            self.seen["resources"] = [str(one.uri) for one in resources]
            (content,) = (await client.read_resource(resources[1].uri)).contents
            self.seen["transcript"] = content.text


if __name__ == "__main__":
    host = Host(json.loads(Path(sys.argv[1]).read_text("utf-8")))
    asyncio.run(host.hold())
    print(json.dumps(host.seen))
