"""The two dialects: Anthropic's Messages, and OpenAI's chat completions, which most others speak too.

A dialect writes the request and reads the events of the stream. It neither calls nor judges.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, ClassVar
from urllib.parse import urlsplit

from council.next.config.models import Model
from council.next.prompts.brief import Brief
from council.next.speakers.base import count, table, text
from council.next.text import one_line

MOST_LABEL = 200  # characters of a model's name or a call's id
MOST_MARKS = 4  # the Messages API takes no more marks of the cache in one request
# Hosts whose newer models refuse `max_tokens`, where others do not know the name that these want; and hosts that refuse
# to be asked for the usage, and send it anyway.
COMPLETION_TOKENS = ("api.openai.com", ".openai.azure.com")
USAGE_UNASKED = ("api.mistral.ai",)


@dataclass
class Heard:
    """What a stream has brought so far. A count that came in an impossible form is None, which is unknown."""

    text: list[str] = field(default_factory=list)
    size: int = 0
    begun: bool = False  # the model has begun to answer
    over: bool = False  # the stream said that nothing more comes
    model: str | None = None
    call: str | None = None
    stop: str | None = None
    counts: dict[str, int | None] = field(default_factory=dict)

    def count(self, name: str, value: object) -> None:
        """Keep the largest count: they only grow. One that is not mentioned is no news."""
        if value is not None:
            before, now = self.counts.get(name, 0), count(value)
            self.counts[name] = None if before is None or now is None else max(before, now)

    def tokens(self, name: str) -> int | None:
        """An API without a cache does not mention it; of input and output, silence is no zero."""
        return self.counts.get(name, 0 if name.startswith("cache") else None)


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

    def hear(self, event: Mapping[str, Any], heard: Heard) -> str:
        """Take in one event. Returns its text."""
        piece = ""
        match event.get("type"):
            case "message_start":
                message = event["message"]
                heard.begun, heard.model, heard.call = (
                    True,
                    label(message.get("model")),
                    label(message.get("id")),
                )
                self.count(table(message.get("usage")), heard)
            case "content_block_start":
                piece = event["content_block"].get("text") or ""
            case "content_block_delta":
                piece = event["delta"].get("text") or ""
            case "message_delta":
                reason = event["delta"].get("stop_reason")
                heard.stop = heard.stop if reason is None else str(reason)
                usage = table(event.get("usage"))
                self.count(usage, heard)
                heard.count("output", usage.get("output_tokens"))  # the start says one token, whatever comes
        return keep(piece, heard)

    def count(self, usage: Mapping[str, Any], heard: Heard) -> None:
        heard.count("input", usage.get("input_tokens"))
        heard.count("cache_read", usage.get("cache_read_input_tokens"))
        heard.count("cache_write", usage.get("cache_creation_input_tokens"))


class Chat:
    path = "/chat/completions"
    STOPS: ClassVar[dict[str, str]] = {"stop": "end_turn", "length": "max_tokens", "content_filter": "refusal"}

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
        self.count(table(event.get("usage")), heard)
        return keep(piece, heard)

    def count(self, usage: Mapping[str, Any], heard: Heard) -> None:
        """The prompt's count includes what came from the cache; some leave the thinking out of the reply's count, and
        then only the total has it."""
        details, told = table(usage.get("prompt_tokens_details")), usage.get
        prompt, reply, total = (count(told(f"{one}_tokens")) for one in ("prompt", "completion", "total"))
        read, written = details.get("cached_tokens"), details.get("cache_write_tokens")
        heard.count("cache_read", read)
        heard.count("cache_write", written)
        heard.count("output", told("completion_tokens"))
        if prompt is None:
            heard.count("input", told("prompt_tokens"))
            return
        heard.count("input", prompt - (count(read) or 0) - (count(written) or 0))
        if reply is not None and total is not None:
            heard.count("output", max(reply, total - prompt))


DIALECTS: dict[str, Messages | Chat] = {"messages": Messages(), "chat": Chat()}


def label(value: object) -> str | None:
    """A model or an id as an API reports it, harmless and short. None if it is missing or no text."""
    return one_line(text(value), MOST_LABEL) or None


def keep(piece: object, heard: Heard) -> str:
    if not isinstance(piece, str):
        raise TypeError("a piece of text that is none")
    if piece:
        heard.text.append(piece)
        heard.size += len(piece)
    return piece


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
