"""The Messages API: Anthropic's own, or any endpoint that speaks it.

One streamed call, its failures sorted into temporary and permanent ones. It never retries, uses no credentials other
than those in the variable that the endpoint names, and does not look at what its briefs ask for.
"""

from __future__ import annotations

import math
import os
import time
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from functools import partial
from typing import TYPE_CHECKING, Any

from council.config.models import Endpoint, Model
from council.errors import CallFailed, Denied
from council.speakers.base import (
    COUNTS,
    AutoOrder,
    Billing,
    Brief,
    Check,
    NotSetUp,
    Speaker,
    SpeakerType,
    Spoken,
    Usage,
    cost,
)
from council.text import join_words

if TYPE_CHECKING:
    import anthropic

    from council.config.settings import Config

HOME = "https://api.anthropic.com"
OWN_ENDPOINT, TOKEN = "anthropic", "ANTHROPIC_AUTH_TOKEN"  # the one endpoint that takes a bearer token too
PASSING = {408, 409, 425, 429, 499}  # any other 4xx would fail again
FINAL = {  # the type of an error event, and the status that it would have had
    "invalid_request_error": 400,
    "authentication_error": 401,
    "billing_error": 402,
    "permission_error": 403,
    "not_found_error": 404,
    "request_too_large": 413,
}


def _obstacle(config: Config, env: Mapping[str, str]) -> str:
    """Which keys are missing of the endpoints that the tiers use. An endpoint may need none."""
    missing: dict[Endpoint, list[str]] = {}
    for tier, model in config.tiers.items():
        endpoint = model.endpoint
        bearer = endpoint.name == OWN_ENDPOINT and env.get(TOKEN)
        if endpoint.key and not env.get(endpoint.key) and not bearer:
            missing.setdefault(endpoint, []).append(tier)
    if not missing:
        return ""
    if not config.has_own_endpoints:
        return join_words(f"{endpoint.key} is not set" for endpoint in missing)
    return "; ".join(
        f"{endpoint.key} is not set, which the endpoint {endpoint.name} of the tier{'s' if len(tiers) > 1 else ''} "
        f"{join_words(tiers)} needs"
        for endpoint, tiers in missing.items()
    )


def _reason(config: Config, env: Mapping[str, str]) -> str:
    endpoints = {model.endpoint for model in config.tiers.values()}
    if config.has_own_endpoints:
        return f"your tiers use {join_words(sorted(endpoint.name for endpoint in endpoints))}"
    return join_words(
        f"{key if env.get(key) else TOKEN} is set" for key in sorted(one.key or TOKEN for one in endpoints)
    )


def _checks(config: Config) -> Iterable[Check]:
    for name, endpoint in config.endpoints.items():
        if endpoint.key:
            yield f"endpoint {name}", partial(_key_state, endpoint.key)


def _key_state(key: str) -> str:
    if not os.environ.get(key):
        raise NotSetUp(f"{key} is not set")
    return f"{key} is set"


SPEAKER = SpeakerType(
    name="anthropic",
    about="the Messages API: Anthropic's own, or any endpoint in Config.md that speaks it",
    make=lambda setup: AnthropicSpeaker(setup.config.stall),
    billing=Billing.PRICES,
    caches_prompts=True,
    imports=("anthropic",),
    calls_endpoints=True,
    auto=AutoOrder.KEY,
    obstacle=_obstacle,
    reason=_reason,
    setup="set ANTHROPIC_API_KEY in the environment (or add an endpoint of your own to Config.md)",
    checks=_checks,
)


class AnthropicSpeaker(Speaker):
    """Calls the SDK, with one client per endpoint. `stall` is the longest silence in seconds.

    `many` is for a process that runs many sessions at once. It needs the extra of that name, whose transport takes a
    third of the time there; for a single session it is no faster.
    """

    name = SPEAKER.name

    def __init__(self, stall: float = 60.0, many: bool = False) -> None:
        self.stall = stall
        self.many = many
        self._clients: dict[Endpoint, anthropic.AsyncAnthropic] = {}

    async def speak(self, brief: Brief, tell: Callable[[str], None]) -> Spoken:
        import asyncio  # late: to ask what this speaker can do must be cheap

        try:
            async with asyncio.timeout(brief.deadline) as clock:
                answer = await self._listen(brief, tell)
        except TimeoutError:
            if not clock.expired():
                raise
            raise CallFailed(f"no complete answer within the deadline of {brief.deadline:g} s") from None
        return answer.spoken(brief.model)

    async def close(self) -> None:
        while self._clients:
            _, client = self._clients.popitem()
            await client.close()

    async def _listen(self, brief: Brief, tell: Callable[[str], None]) -> _Answer:
        """Read the whole stream. `tell` is called outside of `_api_errors`: its errors are not the API's."""
        answer, secret = _Answer(), _secret(brief.model.endpoint)
        with _api_errors(brief.model, secret):
            if (endpoint := brief.model.endpoint) not in self._clients:
                self._clients[endpoint] = _new_client(endpoint, secret, self.stall, self.many)
            stream: anthropic.AsyncStream[Any] = await self._clients[endpoint].messages.create(**_request(brief))
        async with stream:
            while not answer.over:
                begun = answer.model is not None
                with _api_errors(brief.model, secret, answer):
                    answer.take(await anext(stream, None))
                if answer.piece or (answer.model is not None and not begun):
                    tell(answer.piece)
        return answer


def _new_client(endpoint: Endpoint, secret: _Secret, stall: float, many: bool) -> anthropic.AsyncAnthropic:
    """What is not given here, the SDK would look for in the environment and on disk."""
    import anthropic

    client = anthropic.AsyncAnthropic(
        base_url=endpoint.base_url or HOME,
        api_key=None if secret.bearer else secret.value,
        auth_token=secret.value if secret.bearer else None,
        max_retries=0,
        timeout=stall,
        http_client=anthropic.DefaultAioHttpClient(timeout=stall) if many else None,
    )
    # Else ANTHROPIC_CUSTOM_HEADERS, which may hold credentials, would go to every endpoint; there is no other switch.
    client._custom_headers = {}  # noqa: SLF001
    return client


def _request(brief: Brief) -> dict[str, Any]:
    model, blocks = brief.model, _blocks(brief)
    effort = {} if model.effort is None else {"output_config": {"effort": model.effort}}
    return {
        "model": model.name,
        "max_tokens": model.max_tokens,
        "messages": [{"role": "user", "content": blocks}],
        "stream": True,
        **effort,
    }


def _blocks(brief: Brief) -> list[dict[str, Any]]:
    """The brief's text, split where it may be cached: the API finds an entry only at the end of a block.

    The API refuses a block of white space alone. Such a piece is joined to the next one, or the last to the one before
    it, so that every byte of the brief is sent.
    """
    blocks: list[dict[str, Any]] = []
    begin = 0
    for end in (*(brief.marks if brief.keep else ()), len(brief.shared), len(brief.text)):
        piece = brief.text[begin:end]
        if piece.strip():
            keep = {"cache_control": {"type": "ephemeral"}} if end in brief.keep else {}
            blocks.append({"type": "text", "text": _sendable(piece), **keep})
            begin = end
    if blocks and (rest := brief.text[begin:]):
        blocks[-1]["text"] += _sendable(rest)
    return blocks


def _sendable(text: str) -> str:
    """Without lone surrogates, which stand for invalid UTF-8 and cannot be sent as JSON."""
    return text.encode("utf-8", "replace").decode("utf-8")


# ---- keys ----


@dataclass(frozen=True)
class _Secret:
    """A key and the variable that it came from; None if the endpoint needs no key."""

    value: str
    variable: str | None = None
    bearer: bool = False

    def hide(self, text: str) -> str:
        return text.replace(self.value, "[key]") if self.variable else text


def _secret(endpoint: Endpoint) -> _Secret:
    if endpoint.key is None:
        return _Secret("none")
    token = TOKEN if endpoint.name == OWN_ENDPOINT else endpoint.key
    for variable in (endpoint.key, token):
        if value := os.environ.get(variable, "").strip():
            if not (value.isascii() and value.isprintable()):  # the HTTP library's error would quote it, whole
                wrong = "contains characters that are not valid in an API key; set it again on one line"
                raise Denied(f"{variable} {wrong}")
            return _Secret(value, variable, bearer=variable != endpoint.key)
    raise Denied(f"no key for the endpoint {endpoint.name!r}: set {endpoint.key} in the environment")


# ---- the answer ----


@dataclass
class _Answer:
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
                self.model, self.call = event.message.model, event.message.id
                self.count(event.message)
            case "content_block_start":
                self.piece = getattr(event.content_block, "text", None) or ""
            case "content_block_delta":
                self.piece = getattr(event.delta, "text", None) or ""
            case "message_delta":
                self.stop = event.delta.stop_reason
                self.count(event)
        self.body += self.piece

    def count(self, part: Any) -> None:
        """The API's counts only grow, and may be missing, so the largest is the newest."""
        for ours, theirs in COUNTS.items():
            value = getattr(getattr(part, "usage", None), theirs, None) or 0
            self.counts[ours] = max(value, self.counts.get(ours, 0))

    def spoken(self, model: Model) -> Spoken:
        usage, refused = Usage(**self.counts), self.stop == "refusal"
        if self.stop is None and self.model is None:
            raise CallFailed(
                f"{model.endpoint.name} did not send Messages API events: check the base_url of this endpoint"
            )
        if self.stop is None:
            raise CallFailed(f"{model.endpoint.name} ended its stream before the answer was complete")
        if not self.body.strip() and not refused:
            raise CallFailed(_why_empty(self.stop, model))
        absent = "refused by the model" if refused else None
        return Spoken(self.body, self.model, self.stop, usage, cost(model.price, usage), absent, self.call)


def _why_empty(stop: str, model: Model) -> str:
    if stop == "max_tokens":
        raised = f"raise max_tokens of the tier {model.tier!r}, or the workflow's token_budget where it has one"
        return f"thinking used up max_tokens ({model.max_tokens}): {raised}"
    return f"{model.name} gave an empty answer ({stop})"


# ---- errors ----


@contextmanager
def _api_errors(model: Model, secret: _Secret, answer: _Answer | None = None) -> Iterator[None]:
    """Turn what the SDK and its HTTP library raise into CallFailed or Denied, without the key."""
    import anthropic
    import httpx2

    name = model.endpoint.name
    try:
        yield
    except anthropic.APIStatusError as error:
        raise _verdict(error, model, secret) from None
    except (anthropic.APITimeoutError, httpx2.TimeoutException):
        _unless_complete(answer, f"{name} did not send anything for too long")
    except (anthropic.AnthropicError, httpx2.HTTPError) as error:
        _unless_complete(
            answer, f"the connection to {name} failed: {_short(secret.hide(str(error.__cause__ or error)))}"
        )
    except (ValueError, TypeError, AttributeError) as error:
        _unless_complete(answer, f"{name} sent an invalid Messages API event ({type(error).__name__})")


def _unless_complete(answer: _Answer | None, why: str) -> None:
    """An answer with a stop reason is complete and paid for: only the end of the stream was lost."""
    if answer is None or answer.stop is None:
        raise CallFailed(why) from None
    answer.piece, answer.over = "", True


def _verdict(error: anthropic.APIStatusError, model: Model, secret: _Secret) -> CallFailed | Denied:
    """Whether a retry may help. An error event comes with status 200 and is judged by its type."""
    status = error.status_code if error.status_code != 200 else FINAL.get(str(error.type), 500)
    words = f"{model.endpoint.name} answered {status}: {_short(secret.hide(str(error.api_message or error.message)))}"
    if status in PASSING or not 400 <= status < 500:
        return CallFailed(words, _seconds(error.response.headers.get("retry-after")))
    return Denied(f"{words.rstrip('.')}. {_advice(status, model, secret)}")


def _advice(status: int, model: Model, secret: _Secret) -> str:
    """Which setting to change."""
    key = f"the key in {secret.variable}" if secret.variable else "no key (`key` of the endpoint names its variable)"
    tier, endpoint = f"the tier {model.tier!r}", f"the endpoint {model.endpoint.name!r}"
    sentences = {
        401: f"It was called with {key}: set one that {endpoint} accepts.",
        402: f"It was called with {key}: add credit to its account, or give {tier} another endpoint.",
        403: f"It was called with {key}: give {tier} a model that this key may use, or use another key.",
        404: f"Give {tier} a model that {endpoint} has (now {model.name!r}), or correct the endpoint's base_url.",
        413: f"The brief is too long for it: shorten the documents, or give {tier} another model than {model.name!r}.",
    }
    default = f"Check model ({model.name!r}), effort ({model.effort}) and max_tokens ({model.max_tokens}) of {tier}."
    return sentences.get(status, default)


def _short(text: str) -> str:
    """One line, of what may be a whole web page."""
    line = " ".join(text.split())
    return line if len(line) <= 300 else f"{line[:300]}…"


def _seconds(header: str | None) -> float | None:
    """Retry-After, which may be seconds, a date or invalid; None if it is missing or invalid."""
    import email.utils

    with suppress(ValueError):
        seconds = float(header or "")
        return max(0.0, seconds) if math.isfinite(seconds) else None
    with suppress(ValueError, OverflowError):
        return max(0.0, email.utils.parsedate_to_datetime(header or "").timestamp() - time.time())
    return None
