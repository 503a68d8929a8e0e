"""Models behind an API: any endpoint of Config.md that speaks Anthropic's Messages or OpenAI's chat completions.

A call is one streamed request. Whatever it may have cost is told, with the reply or with the failure; a reply counts
only if the stream said why it ended.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator, Callable, Iterator
from contextlib import aclosing, suppress
from typing import TYPE_CHECKING, Any, ClassVar
from urllib.parse import urlsplit

from council.next.config.models import Endpoint
from council.next.prompts.brief import Brief
from council.next.speakers.api.dialects import DIALECTS, Heard
from council.next.speakers.api.http import END, GOODBYE, ONCE, Call, broken, events, is_local, make_client, refusal
from council.next.speakers.api.keys import (
    authorize,
    describe_prices,
    find_key,
    find_obstacle,
    find_price,
    list_models,
    place_of,
)
from council.next.speakers.base import (
    CONFIGURED,
    KEY,
    SERVER,
    CallFailed,
    Offer,
    Refused,
    Settings,
    Speaker,
    Spoken,
    Using,
    speaker,
)
from council.next.text import join_words, one_line

if TYPE_CHECKING:
    import httpx2

FORM = 100  # tokens that an API may add to a prompt for the form of the conversation
MOST_REPLY = 2_000_000  # characters
WHOLE = ("end_turn", "stop_sequence", "max_tokens")  # the last is cut as was asked: its receipt says so
WHY = {  # other reasons to stop, in words, and whether another try may help
    "model_context_window_exceeded": ("the brief and its answer are too long for this model", False),
    "pause_turn": ("the model paused in the middle of its answer", True),
}


@speaker
class Api(Speaker):
    name: ClassVar[str] = "api"
    aliases: ClassVar[tuple[str, ...]] = ("anthropic",)
    calls_models: ClassVar[bool] = True

    def __init__(self, settings: Settings, source: str = "") -> None:
        super().__init__(settings, source)
        self._http: dict[Endpoint, httpx2.AsyncClient] = {}
        self._sdk: dict[Endpoint, Any] = {}
        self._printed: dict[Endpoint, asyncio.Future[str]] = {}  # keys, by commands

    # ---- a call ----

    async def speak(self, brief: Brief, began: Callable[[str], None]) -> Spoken:
        model, heard = self.settings.model(brief.due.tier), Heard()
        try:
            async with asyncio.timeout(self.settings.deadline) as clock:
                call = await authorize(model, self._printed)
                await self.listen(call, brief, heard, began)
        except TimeoutError:
            if not clock.expired():
                raise
            limit = f"within the deadline of {self.settings.deadline:g} s"
            raise CallFailed(f"{model.endpoint.name} gave no whole answer {limit}", True, usd=None) from None
        return self.finish(call, brief, heard)

    async def listen(self, call: Call, brief: Brief, heard: Heard, began: Callable[[str], None]) -> None:
        """Read the stream to its end. With a reason to stop, a reply is whole and paid for, also without a goodbye.
        Errors of `began` are not the API's."""
        dialect, told = DIALECTS[call.model.endpoint.dialect], False
        async with aclosing(self.open(call, brief)) as stream:
            while not heard.over:
                try:
                    event = await anext(stream, None)
                    if isinstance(event, dict) and (event.get("type") == "error" or event.get("error")):
                        raise refusal(200, event.get("error"), call, spent=heard.begun)
                except CallFailed:
                    if heard.stop:
                        return
                    raise
                if event is None:
                    return
                try:
                    heard.over = event.get("type") == END["type"]
                    piece = dialect.hear(event, heard)
                except (TypeError, AttributeError, LookupError, ValueError) as wrong:
                    raise broken(wrong, call) from None
                if heard.size > MOST_REPLY:
                    raise CallFailed(f"{call.at} sent a reply of more than {MOST_REPLY:,} characters", False, usd=None)
                if piece or (heard.begun and not told):
                    told = True
                    began(piece)
            with suppress(TimeoutError, CallFailed):
                async with asyncio.timeout(GOODBYE):  # a connection can be used again once it was read to its end
                    await anext(stream, None)

    def open(self, call: Call, brief: Brief) -> AsyncGenerator[Any, None]:
        """The events, by the client that the endpoint names."""
        endpoint = call.model.endpoint
        dialect = DIALECTS[endpoint.dialect]
        if endpoint not in self._http:
            self._http[endpoint] = make_client(endpoint.base_url, self.settings.stall)
        http, body = self._http[endpoint], dialect.body(call.model, brief)
        if endpoint.client == "own":
            return events(http, dialect.path, dialect.headers(call.key, call.bearer), body, call)
        from council.next.speakers.api import sdk

        return sdk.events(self._sdk, http, body, call)

    def finish(self, call: Call, brief: Brief, heard: Heard) -> Spoken:
        """The reply with what it cost; or the failure, with the same."""
        model, body = call.model, "".join(heard.text)
        if heard.stop is None and not heard.begun:
            what = f"{call.at} did not send events of the dialect {model.endpoint.dialect}"
            raise CallFailed(f"{what}: check the base_url and the dialect of this endpoint", True, usd=None, tries=ONCE)
        if heard.stop is None:
            raise CallFailed(f"{call.at} ended its stream before the answer was complete", True, usd=None)
        sent, received, read, written = map(heard.tokens, ("input", "output", "cache_read", "cache_write"))
        usd, price = None, find_price(model)
        if price and sent is not None and received is not None and read is not None and written is not None:
            usd = price.usd(sent, received, read, written)
        if heard.stop == "refusal":
            raise Refused(f"{call.at}: the model refused to answer", usd)
        if heard.stop not in WHOLE:
            other = f"the model ended its answer for another reason: {one_line(heard.stop)}"
            why, again = WHY.get(heard.stop, (other, True))
            raise CallFailed(f"{call.at}: {why}", again, usd=usd, tries=ONCE)
        if not body.strip() and heard.stop == "max_tokens":
            raised = f'raise max_tokens of the tier "{model.tier}", or the token budget of the workflow'
            raise CallFailed(f"thinking used up max_tokens ({model.max_tokens}): {raised}", False, usd=usd)
        if not body.strip():
            raise CallFailed(f"{model.name} gave an empty answer ({heard.stop})", True, usd=usd, tries=ONCE)
        most = self.price_limit(brief) if usd is None else usd
        return Spoken(body, model.name, heard.model, sent, received, read, written, usd, most, heard.stop, heard.call)

    def price_limit(self, brief: Brief) -> float | None:
        """One token a byte of the prompt, and all that the reply may have."""
        model = self.settings.model(brief.due.tier)
        price, size = find_price(model), len(brief.text.encode("utf-8", "replace"))
        return price.bound(size + FORM, model.max_tokens) if price else None

    async def close(self) -> None:
        while self._http:
            _, client = self._http.popitem()
            await client.aclose()

    # ---- before a call ----

    def obstacle(self) -> str:
        return find_obstacle(self.settings)

    def price(self) -> str:
        return describe_prices(self.settings)

    @classmethod
    def offers(cls, settings: Settings, terminal: bool) -> Iterator[Offer]:
        """The usual endpoint, if it was configured or its key is there; then the others; at a terminal also the servers
        on this machine."""
        if settings.configured:
            why = f"configured: {join_words(sorted(settings.configured))}"
            yield Offer(CONFIGURED, "--speaker api", why, cls(settings))
        for name, endpoint in settings.endpoints.items():
            if name in settings.with_key and name not in settings.configured:
                variable = find_key(endpoint)[1]
                why = f"{variable} is set" if variable else "it is set up"
                knows = all(endpoint.models.get(tier) for tier in settings.tiers)
                using = cls(Using(settings, f"{name}/")) if knows else None
                yield Offer(KEY, f"--model {name}/{'' if knows else 'NAME'}", why, using)
            elif terminal and not endpoint.key and is_local(urlsplit(endpoint.base_url).hostname or ""):
                for model in list_models(endpoint)[:1]:
                    words = f"{name}/{model}"
                    ask = f"Ask {model} on this machine ({name} at {place_of(endpoint)})?"
                    why = f"{name} answers at {place_of(endpoint)}"
                    yield Offer(SERVER, f"--model {words}", why, cls(Using(settings, words)), question=ask)
