"""The events of a stream, put together to an answer."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from council.config.models import Model
from council.errors import CallFailed
from council.speakers.base import COUNTS, Spoken, Usage, cost, read_count, read_name, used

ONCE = 1  # the attempts that are worth making after a failure that is probably not a passing one


@dataclass
class StreamedAnswer:
    """The answer so far. `piece` is the text of the last event."""

    body: str = ""
    piece: str = ""
    model: str | None = None
    call: str | None = None
    stop: str | None = None
    over: bool = False
    counts: dict[str, int] = field(default_factory=dict)

    def take(self, event: Any) -> None:
        self.piece = ""
        match event.type if event is not None else None:
            case None:
                self.over = True
            case "message_start":
                self.model, self.call = read_name(event.message.model), read_name(event.message.id)
                self.count(event.message)
            case "content_block_start":
                self.piece = getattr(event.content_block, "text", None) or ""
            case "content_block_delta":
                self.piece = getattr(event.delta, "text", None) or ""
            case "message_delta":
                self.stop = None if event.delta.stop_reason is None else str(event.delta.stop_reason)
                self.count(event, final=True)
        self.body += self.piece

    def count(self, part: Any, final: bool = False) -> None:
        """The API's counts only grow, and may be missing, so the largest is the newest. Output is known at the end."""
        for ours, theirs in COUNTS.items():
            value = read_count(getattr(getattr(part, "usage", None), theirs, None))
            if value is not None and (final or ours != "output"):
                self.counts[ours] = max(value, self.counts.get(ours, 0))

    @property
    def usage(self) -> Usage:
        found = self.counts.get
        return Usage(found("input"), found("cache_read", 0), found("cache_write", 0), found("output"))

    def spoken(self, model: Model) -> Spoken:
        name, usage, refused = model.endpoint.name, self.usage, self.stop == "refusal"
        if self.stop is None and self.model is None:
            why = f"{name} did not send Messages API events: check the base_url of this endpoint"
            raise CallFailed(why, retries=ONCE)
        if self.stop is None:
            why = f"{name} ended its stream before the answer was complete"
            raise CallFailed(why, used=used(usage, None))
        usd = cost(model.price, usage)
        if not self.body.strip() and not refused:
            retries = 0 if self.stop == "max_tokens" else ONCE
            raise CallFailed(_why_empty(self.stop, model), retries=retries, used=used(usage, usd))
        absent = "refused by the model" if refused else None
        return Spoken(self.body, self.model, self.stop, usage, usd, absent, self.call)


def _why_empty(stop: str, model: Model) -> str:
    if stop == "max_tokens":
        raised = f"raise max_tokens of the tier {model.tier!r}, or the workflow's token_budget where it has one"
        return f"thinking used up max_tokens ({model.max_tokens}): {raised}"
    return f"{model.name} gave an empty answer ({stop})"
