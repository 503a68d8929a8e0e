"""A Responses API of our own on loopback, beside the Messages API of `tests/fakeapi.py`: the same server and answers.

It streams text and calls of tools. Of the faults it knows those that come in place of an answer.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

from tests.fakeapi import Answer, FakeApi, Request, ToolUse, fingerprint, pieces, usage

OF_THE_MODEL = ("function_call", "custom_tool_call", "reasoning")


class ResponsesRequest(Request):
    """What a client asked. Its items are read as messages, so that all that a `Request` says of itself holds here."""

    @property
    def is_prompt(self) -> bool:
        return self.method == "POST" and self.path.partition("?")[0].endswith("/responses")

    @property
    def tools(self) -> set[str]:
        """The names of the client's tools; those that are in a namespace follow its name and a dot."""
        added = [tool for item in self.items if item["type"] == "additional_tools" for tool in item["tools"]]
        return {name for tool in [*self.body.get("tools", []), *added] for name in names(tool)}

    @property
    def items(self) -> list[dict[str, Any]]:
        return list(self.body["input"]) if isinstance(self.body, dict) else []

    @property
    def messages(self) -> list[dict[str, Any]]:
        return [{"role": role(item), "content": content(item)} for item in self.items]


def names(tool: dict[str, Any], space: str = "") -> Iterator[str]:
    own = f"{space}{tool.get('name', tool['type'])}"
    if tool["type"] != "namespace":
        yield own
    for each in tool.get("tools", []):
        yield from names(each, f"{own}.")


def role(item: dict[str, Any]) -> str:
    """Results of tools and words of other agents come from outside, as a user's do."""
    return "assistant" if item["type"] in OF_THE_MODEL else str(item.get("role", "user"))


def content(item: dict[str, Any]) -> str:
    """The text of an item: it is in `content` or `output`, a string or a list of parts."""
    held = item.get("content") or item.get("output") or item.get("arguments") or item.get("input") or ""
    return (
        held
        if isinstance(held, str)
        else "".join(part.get("text") or part.get("encrypted_content", "") for part in held)
    )


class FakeResponses(FakeApi):
    kind = ResponsesRequest

    def events(self, request: Request, answer: Answer) -> Iterator[dict[str, Any]]:
        assert answer.fault is None, f"a stream of the Responses API has no fault {answer.fault!r} here"
        response = {"id": f"resp_{fingerprint(request)}", "object": "response", "model": request.body["model"]}
        yield {"type": "response.created", "response": {**response, "status": "in_progress"}}
        for index, item in enumerate(output(request, answer)):
            at = {"output_index": index, "item_id": item["id"]}
            yield {"type": "response.output_item.added", "output_index": index, "item": begun(item)}
            if item["type"] == "message":
                for part in pieces(answer.text, answer.chunks):
                    yield {"type": "response.output_text.delta", **at, "content_index": 0, "delta": part}
            yield {"type": "response.output_item.done", "output_index": index, "item": item}
        yield {
            "type": "response.completed",
            "response": {**response, "status": "completed", "usage": counted(request, answer)},
        }


def output(request: Request, answer: Answer) -> list[dict[str, Any]]:
    """The items of an answer; their ids follow from what was asked."""
    own = fingerprint(request)
    parts = [{"type": "output_text", "text": answer.text, "annotations": []}]
    text = {"type": "message", "id": f"msg_{own}", "role": "assistant", "status": "completed", "content": parts}
    calls = [call(tool, f"{own}{at:02}") for at, tool in enumerate(answer.tools)]
    return [text, *calls] if answer.text else calls


def call(tool: ToolUse, own: str) -> dict[str, Any]:
    """A tool in a namespace is named `namespace.name`; one whose input is a text is a custom tool."""
    space, _, name = tool.name.rpartition(".")
    named = {"name": name, "call_id": f"call_{own}", "status": "completed", **({"namespace": space} if space else {})}
    if isinstance(tool.input, str):
        return {"type": "custom_tool_call", "id": f"ctc_{own}", **named, "input": tool.input}
    return {"type": "function_call", "id": f"fc_{own}", **named, "arguments": json.dumps(tool.input)}


def begun(item: dict[str, Any]) -> dict[str, Any]:
    """The item before anything of it was sent."""
    empty = {"content": [], "arguments": "", "input": ""}
    return {**item, "status": "in_progress", **{key: empty[key] for key in empty if key in item}}


def counted(request: Request, answer: Answer) -> dict[str, Any]:
    """The usage as this API words it."""
    counts = usage(request, answer)
    read, written = counts["input_tokens"], counts["output_tokens"]
    details = {"input_tokens_details": {"cached_tokens": 0}, "output_tokens_details": {"reasoning_tokens": 0}}
    return {"input_tokens": read, "output_tokens": written, "total_tokens": read + written, **details}
