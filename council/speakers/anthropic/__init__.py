"""The Messages API: Anthropic's own, or any endpoint that speaks it.

One streamed call, its failures sorted into temporary and permanent ones. It never retries, uses no credentials other
than those in the variable that the endpoint names, and does not look at what its briefs ask for.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from functools import partial
from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit

from council.config.models import Endpoint
from council.errors import CallFailed
from council.speakers.anthropic.answer import StreamedAnswer
from council.speakers.anthropic.keys import HOME, OWN_ENDPOINT, TOKEN, Secret, find_key, read_key
from council.speakers.base import (
    AutoOrder,
    Billing,
    Brief,
    Check,
    NotSetUp,
    Speaker,
    SpeakerType,
    Spoken,
)
from council.text import join_words

if TYPE_CHECKING:
    import anthropic

    from council.config.settings import Config


def _obstacle(config: Config, env: Mapping[str, str]) -> str:
    """Which keys are missing of the endpoints that the tiers use. An endpoint may need none."""
    missing: dict[Endpoint, list[str]] = {}
    for tier, model in config.tiers.items():
        endpoint = model.endpoint
        bearer = endpoint.name == OWN_ENDPOINT and find_key(TOKEN, env)
        if endpoint.key and not find_key(endpoint.key, env) and not bearer:
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
        f"{key if find_key(key, env) else TOKEN} is set" for key in sorted(one.key or TOKEN for one in endpoints)
    )


def _checks(config: Config) -> Iterable[Check]:
    for name, endpoint in config.endpoints.items():
        if endpoint.key:
            yield f"endpoint {name}", partial(_key_state, endpoint.key)


def _key_state(key: str) -> str:
    if not find_key(key):
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

    async def _listen(self, brief: Brief, tell: Callable[[str], None]) -> StreamedAnswer:
        """Read the whole stream. `tell` is called outside of `api_errors`: its errors are not the API's."""
        from council.speakers.anthropic.failures import api_errors

        answer, secret = StreamedAnswer(), read_key(brief.model.endpoint)
        with api_errors(brief.model, secret):
            if (endpoint := brief.model.endpoint) not in self._clients:
                self._clients[endpoint] = _new_client(endpoint, secret, self.stall, self.many)
            stream: anthropic.AsyncStream[Any] = await self._clients[endpoint].messages.create(**_request(brief))
        async with stream:
            while not answer.over:
                begun = answer.model is not None
                with api_errors(brief.model, secret, answer):
                    answer.take(await anext(stream, None))
                if answer.piece or (answer.model is not None and not begun):
                    tell(answer.piece)
        return answer


def _new_client(endpoint: Endpoint, secret: Secret, stall: float, many: bool) -> anthropic.AsyncAnthropic:
    """What is not given here, the SDK would look for in the environment and on disk."""
    import ssl

    import anthropic

    from council.speakers.anthropic.bodies import bound_body

    url = endpoint.base_url or HOME
    transport = anthropic.DefaultAioHttpClient if many else anthropic.DefaultAsyncHttpxClient
    # Without TLS nobody needs this machine's certificates, which take longer to read than all the rest.
    trust = urlsplit(url).scheme != "http" or ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
    client = anthropic.AsyncAnthropic(
        base_url=url,
        api_key=None if secret.bearer else secret.value,
        auth_token=secret.value if secret.bearer else None,
        max_retries=0,
        timeout=stall,
        http_client=transport(
            timeout=stall, verify=trust, follow_redirects=False, event_hooks={"response": [bound_body]}
        ),
    )
    # Else ANTHROPIC_CUSTOM_HEADERS, which may hold credentials, would go to every endpoint; there is no other switch.
    client._custom_headers = {"Accept-Encoding": "identity"}  # noqa: SLF001
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
