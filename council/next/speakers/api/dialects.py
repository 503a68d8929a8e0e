"""The two dialects: Anthropic's Messages, and OpenAI's chat completions, which most others speak too.

A dialect writes the request and reads the events of the stream. It neither calls nor judges.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from io import StringIO
from typing import Any, ClassVar
from urllib.parse import urlsplit

from council.next.config.models import Model
from council.next.prompts.brief import Brief
from council.next.speakers.values import MESSAGES, Tokens, count, table, text, tokens
from council.next.text import one_line

MOST_LABEL = 200  # characters of a model's name or a call's id
MOST_MARKS = 4  # the Messages API takes no more marks of the cache in one request
# Hosts whose newer models refuse `max_tokens`, where others do not know the name that these want; and hosts that refuse
# to be asked for the usage, and send it anyway.
COMPLETION_TOKENS = ("api.openai.com", ".openai.azure.com")
USAGE_UNASKED = ("api.mistral.ai",)


@dataclass
class Heard:
    """What a stream has brought so far, with the usage as the API words it."""

    text: StringIO = field(default_factory=StringIO)
    begun: bool = False  # the model has begun to answer
    over: bool = False  # the stream said that nothing more comes
    model: str | None = None
    call: str | None = None
    stop: str | None = None
    usage: dict[str, Any] = field(default_factory=dict)

    def count(self, usage: object) -> None:
        """Keep the largest count of each kind: they only grow. One that is not mentioned is no news."""
        for name, value in table(usage).items():
            before = self.usage.get(name, value)
            less = type(before) is type(value) is int and value < before
            self.usage[name] = before if value is None or less else value


class Messages:
    path = "/v1/messages"

    def headers(self, key: str, bearer: bool) -> dict[str, str]:
        credentials = {"authorization": f"Bearer {key}"} if bearer else {"x-api-key": key}
        return {"anthropic-version": "2023-06-01", **(credentials if key else {})}

    def body(self, model: Model, brief: Brief) -> dict[str, Any]:
        return {
            "model": model.name,
            "max_tokens": model.max_tokens,
            "messages": [{"role": "user", "content": blocks(brief)}],
            "stream": True,
            **({} if model.effort == "none" else {"output_config": {"effort": model.effort}}),
        }

    def hear(self, event: Mapping[str, Any], heard: Heard) -> Any:
        """Take in one event. Returns its text, if it is a text."""
        piece = ""
        match event.get("type"):
            case "message_start":
                message = event["message"]
                heard.begun = True
                heard.model, heard.call = label(message.get("model")), label(message.get("id"))
                # The start says one token of output, whatever comes.
                heard.count({**table(message.get("usage")), "output_tokens": None})
            case "content_block_start":
                piece = event["content_block"].get("text") or ""
            case "content_block_delta":
                piece = event["delta"].get("text") or ""
            case "message_delta":
                reason = event["delta"].get("stop_reason")
                heard.stop = heard.stop if reason is None else str(reason)
                heard.count(event.get("usage"))
        return piece

    def tokens(self, usage: Mapping[str, Any]) -> Tokens:
        return tokens(usage, MESSAGES)


class Chat:
    path = "/chat/completions"
    STOPS: ClassVar[dict[str, str]] = {"stop": "end_turn", "length": "max_tokens", "content_filter": "refusal"}
    USAGE: ClassVar = ("prompt_tokens", "completion_tokens", "cached_tokens", "cache_write_tokens")

    def headers(self, key: str, bearer: bool) -> dict[str, str]:  # noqa: ARG002
        return {"authorization": f"Bearer {key}"} if key else {}

    def body(self, model: Model, brief: Brief) -> dict[str, Any]:
        host = urlsplit(model.endpoint.base_url).hostname or ""
        limit = "max_completion_tokens" if host.endswith(COMPLETION_TOKENS) else "max_tokens"
        return {
            "model": model.name,
            limit: model.max_tokens,
            "messages": [{"role": "user", "content": sendable(brief.text)}],
            "stream": True,
            **({} if host.endswith(USAGE_UNASKED) else {"stream_options": {"include_usage": True}}),
            **({} if model.effort == "none" else {"reasoning_effort": model.effort}),
        }

    def hear(self, event: Mapping[str, Any], heard: Heard) -> str:
        """Take in one event. Returns its text."""
        piece = ""
        heard.begun = heard.begun or "choices" in event
        heard.model, heard.call = label(event.get("model")) or heard.model, label(event.get("id")) or heard.call
        for choice in event.get("choices") or ():
            delta = choice.get("delta") or {}
            said = delta.get("content") or ""
            piece += "".join(text(one.get("text")) for one in said) if isinstance(said, list) else said
            if delta.get("refusal"):
                heard.stop = "refusal"
            elif (reason := choice.get("finish_reason")) is not None and heard.stop != "refusal":
                heard.stop = self.STOPS.get(reason, str(reason))
        heard.count(event.get("usage"))
        return piece

    def tokens(self, usage: Mapping[str, Any]) -> Tokens:
        """Some leave the thinking out of the reply's count, and then only the total has it."""
        told = {**usage, **table(usage.get("prompt_tokens_details"))}
        sent, received, read, written = tokens(told, self.USAGE, includes_cache=True)
        prompt, total = count(told.get("prompt_tokens")), count(told.get("total_tokens"))
        if received is not None and prompt is not None and total is not None:
            received = max(received, total - prompt)
        return sent, received, read, written


Dialect = Messages | Chat
DIALECTS: dict[str, Dialect] = {"messages": Messages(), "chat": Chat()}


def label(value: object) -> str | None:
    """A model or an id as an API reports it, harmless and short. None if it is missing or no text."""
    return one_line(text(value), MOST_LABEL) or None


def blocks(brief: Brief) -> list[dict[str, Any]]:
    """The brief, split where it may be cached: the API finds an entry only at the end of a block.

    The API refuses a block of white space alone. Such a piece is joined to the next one, or the last to the one before
    it, so that every byte of the brief is sent.
    """
    whole, found, begin = brief.text, list[dict[str, Any]](), 0
    marks = set(sorted(cut for cut in brief.cuts if cut > 0)[-MOST_MARKS:])
    for end in sorted({*marks, len(brief.shared), len(whole)}):
        if (piece := whole[begin:end]).strip():
            mark = {"cache_control": {"type": "ephemeral"}} if end in marks else {}
            found.append({"type": "text", "text": sendable(piece), **mark})
            begin = end
    if found and begin < len(whole):
        found[-1]["text"] += sendable(whole[begin:])
    return found


def sendable(words: str) -> str:
    """Without lone surrogates, which JSON cannot carry."""
    return words.encode("utf-8", "replace").decode("utf-8")
