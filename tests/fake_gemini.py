"""A Gemini API of our own on loopback, beside the Messages API of `tests/fakeapi.py`: the same server and answers.

It streams text and calls of tools; of the faults it knows none.
"""

from __future__ import annotations

import json
from dataclasses import replace
from typing import Any

from tests.fakeapi import Answer, FakeApi, Request, Responder, fingerprint, usage


class GeminiRequest(Request):
    """What a client asked. Its contents are read as messages, so all that a `Request` says of itself holds here."""

    @property
    def is_prompt(self) -> bool:
        return self.method == "POST" and ":streamGenerateContent" in self.path

    @property
    def messages(self) -> list[dict[str, Any]]:
        contents = self.body.get("contents", []) if isinstance(self.body, dict) else []
        return [{"role": role(content), "content": [block(part) for part in content["parts"]]} for content in contents]

    @property
    def system(self) -> str:
        return "".join(part.get("text", "") for part in self.body.get("systemInstruction", {}).get("parts", []))

    @property
    def tools(self) -> set[str]:
        groups = self.body.get("tools") or []
        return {tool["name"] for group in groups for tool in group.get("functionDeclarations", [])}


def role(content: dict[str, Any]) -> str:
    return "assistant" if content.get("role") == "model" else "user"


def block(part: dict[str, Any]) -> dict[str, Any]:
    """A part as a block of the Messages API: a text, a tool that is called, or the text of its result."""
    if "functionCall" in part:
        return {"type": "tool_use", "name": part["functionCall"]["name"], "input": part["functionCall"].get("args", {})}
    if "functionResponse" in part:
        response = part["functionResponse"].get("response", {})
        return {"type": "tool_result", "content": str(response.get("output") or json.dumps(response))}
    return {"type": "text", "text": part.get("text", "")}


class FakeGemini(FakeApi):
    kind = GeminiRequest

    def __init__(self, responder: Responder) -> None:
        super().__init__(lambda request: worded(request, responder(request)))


def worded(request: Request, answer: Answer) -> Answer:
    """The answer as this API streams it: one event that holds all of it."""
    assert answer.fault is None, f"a stream of the Gemini API has no fault {answer.fault!r} here"
    own, counts = fingerprint(request), usage(request, answer)
    calls = [
        {"functionCall": {"id": f"call_{own}{at:02}", "name": tool.name, "args": tool.input}}
        for at, tool in enumerate(answer.tools)
    ]
    parts = [*([{"text": answer.text}] if answer.text or not calls else []), *calls]
    counted = {"promptTokenCount": counts["input_tokens"], "candidatesTokenCount": counts["output_tokens"]}
    event = {
        "candidates": [{"content": {"role": "model", "parts": parts}, "finishReason": "STOP", "index": 0}],
        "usageMetadata": {**counted, "totalTokenCount": sum(counted.values())},
        "modelVersion": "gemini-answered-1",
        "responseId": own,
    }
    return replace(answer, fault="body", status=200, body=f"data: {json.dumps(event)}\r\n\r\n".encode())
