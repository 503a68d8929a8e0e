"""Models behind an API: any endpoint of Config.md that speaks Anthropic's Messages or OpenAI's chat completions.

A call is one streamed request. Whatever it may have cost is told, with the reply or with the failure; a reply counts
only if the stream said why it ended.
"""

from __future__ import annotations

import asyncio
import json
import os
import socket
import subprocess
from collections.abc import Callable, Iterator
from contextlib import aclosing, suppress
from typing import TYPE_CHECKING, Any, ClassVar
from urllib.error import URLError
from urllib.parse import urlsplit
from urllib.request import ProxyHandler, build_opener

from council.next.config.models import Endpoint, Model, Price
from council.next.config.settings import Settings
from council.next.errors import AuthError
from council.next.prompts.brief import Brief
from council.next.speakers.api import sdk
from council.next.speakers.api.dialects import Heard
from council.next.speakers.api.http import END, ONCE, PORTS, Call, broken, events, is_local, make_client, refusal
from council.next.speakers.base import CallFailed, Offer, Rank, Refused, Speaker, Spoken, deadline, speakers, using
from council.next.text import join_reasons, join_words, one_line

if TYPE_CHECKING:
    import httpx2

FORM = 100  # tokens that an API may add to a prompt for the form of the conversation
MOST_REPLY = 2_000_000  # characters
# Seconds: for a command that prints a key, for a server on this machine, and for the end of a stream.
PATIENCE, LOOK, GOODBYE = 30.0, 1.0, 1.0
MOST_LISTED = 1_000_000  # bytes
FREE = Price(0, 0, 0, 0)
WHOLE = ("end_turn", "stop_sequence", "max_tokens")  # the last is cut as was asked: its receipt says so
WHY = {  # other reasons to stop, in words, and whether another try may help
    "model_context_window_exceeded": ("the brief and its answer are too long for this model", False),
    "pause_turn": ("the model paused in the middle of its answer", True),
}


@speakers.register
class Api(Speaker):
    name: ClassVar[str] = "api"
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
            async with deadline(self.settings, model.endpoint.name):
                call = await self.authorize(model)
                await self.listen(call, brief, heard, began)
        except CallFailed:
            if not heard.stop:  # with a reason to stop, a reply is whole and paid for, also without a goodbye
                raise
        return self.finish(call, brief, heard)

    async def authorize(self, model: Model) -> Call:
        """The call with its key: from the variable that the endpoint names, or printed by its command. Several calls at
        once ask the command once."""
        endpoint = model.endpoint
        if endpoint.key_command:
            if endpoint not in self._printed:
                self._printed[endpoint] = asyncio.ensure_future(asyncio.to_thread(print_key, endpoint))
            key, place = await asyncio.shield(self._printed[endpoint]), " ".join(endpoint.key_command)
        else:
            key, place = find_key(endpoint)
            if endpoint.key and not key:
                raise AuthError(f'no key for the endpoint "{endpoint.name}": set {endpoint.key} in the environment')
        if not (key.isascii() and key.isprintable()):  # the HTTP library's error would quote it, whole
            raise AuthError(f"{place} holds characters that are not valid in an API key; set it again on one line")
        return Call(model, key, bearer=place != "" and place == endpoint.token)

    async def listen(self, call: Call, brief: Brief, heard: Heard, began: Callable[[str], None]) -> None:
        """Read the stream to its end, by the client that the endpoint names."""
        endpoint, body, told = call.model.endpoint, call.dialect.body(call.model, brief), False
        if endpoint not in self._http:
            self._http[endpoint] = make_client(endpoint.base_url, self.settings.stall)
        http = self._http[endpoint]
        own = endpoint.client == "own"
        async with aclosing(events(http, body, call) if own else sdk.events(self._sdk, http, body, call)) as stream:
            async for event in stream:
                piece = hear(event, call, heard)
                if piece or (heard.begun and not told):
                    told = True
                    began(piece)
                if heard.over:
                    break
            with suppress(TimeoutError, CallFailed):
                async with asyncio.timeout(GOODBYE):  # a connection can be used again once it was read to its end
                    await anext(stream, None)

    def finish(self, call: Call, brief: Brief, heard: Heard) -> Spoken:
        """The reply with what it cost; or the failure, with the same."""
        model, body = call.model, heard.text.getvalue()
        if heard.stop is None:
            other = f"did not send events of the dialect {model.endpoint.dialect}: check the base_url and the dialect"
            what = "ended its stream before the answer was complete" if heard.begun else other
            raise CallFailed(f"{call.at} {what}", True, usd=None, tries=None if heard.begun else ONCE)
        used, price = call.dialect.tokens(heard.usage), find_price(model)
        known = [one for one in used if one is not None]
        usd = price.usd(*known) if price and len(known) == len(used) else None
        if heard.stop == "refusal":
            raise Refused(f"{call.at}: the model refused to answer", usd)
        if heard.stop in WHOLE and body.strip():
            most = self.price_limit(brief) if usd is None else usd
            return Spoken(body, model.name, heard.model, *used, usd, most, heard.stop, heard.call)
        if heard.stop == "max_tokens":
            raised = f'raise max_tokens of the tier "{model.tier}", or the token budget of the workflow'
            raise CallFailed(f"thinking used up max_tokens ({model.max_tokens}): {raised}", False, usd=usd)
        empty, other = f"{model.name} gave an empty answer", "the model ended its answer for another reason"
        unknown = f"{empty if heard.stop in WHOLE else other} ({one_line(heard.stop)})"
        why, again = WHY.get(heard.stop, (unknown, True))
        raise CallFailed(f"{call.at}: {why}", again, usd=usd, tries=ONCE)

    def place(self, brief: Brief) -> str:
        return self.settings.model(brief.due.tier).endpoint.name

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
        """Which tiers cannot be asked: their key is missing, or their server on this machine does not listen."""
        endpoints = {tier: self.settings.model(tier).endpoint for tier in self.settings.tiers}
        return join_reasons((tier, find_obstacle(endpoint)) for tier, endpoint in endpoints.items())

    def price(self) -> str:
        prices = {model.name: find_price(model) for model in map(self.settings.model, self.settings.tiers)}
        rates = [f"{name} ${one.input:g}/${one.output:g}" for name, one in prices.items() if one and one != FREE]
        known = f"{', '.join(rates)} per million tokens" if rates else ""
        names = [name for name, one in prices.items() if one is None]
        unknown = f"{join_words(names)} at an unknown price" if names else ""
        return ", ".join(filter(None, (known, unknown))) or "free"

    @classmethod
    def offers(cls, settings: Settings, terminal: bool) -> Iterator[Offer]:
        """The usual endpoint, if it was configured or its key is there; then the others; at a terminal also the servers
        on this machine."""
        if settings.configured:
            why = f"configured: {join_words(sorted(settings.configured))}"
            yield Offer(Rank.CONFIGURED, "--speaker api", why, cls(settings))
        for name, endpoint in settings.endpoints.items():
            if name in settings.with_key and name not in settings.configured:
                variable = find_key(endpoint)[1]
                why = f"{variable} is set" if variable else "it is set up"
                knows = all(endpoint.models.get(tier) for tier in settings.tiers)
                one = cls(using(settings, f"{name}/")) if knows else None
                yield Offer(Rank.KEY, f"--model {name}/{'' if knows else 'NAME'}", why, one)
            elif terminal and not endpoint.key and is_local(endpoint.base_url):
                for model in list_models(endpoint)[:1]:
                    words = f"{name}/{model}"
                    ask = f"Ask {model} on this machine ({name} at {place_of(endpoint)})?"
                    why = f"{name} answers at {place_of(endpoint)}"
                    yield Offer(Rank.SERVER, f"--model {words}", why, cls(using(settings, words)), question=ask)


speakers["anthropic"] = Api  # the name that it had


def hear(event: Any, call: Call, heard: Heard) -> str:
    """Take in one event. Returns its text."""
    try:
        if event.get("type") == "error" or event.get("error"):
            raise refusal(200, event.get("error"), call, spent=heard.begun)
        heard.over = event.get("type") == END["type"]
        piece = call.dialect.hear(event, heard)
        heard.text.write(piece)
    except (TypeError, AttributeError, LookupError, ValueError) as wrong:
        raise broken(wrong, call) from None
    if heard.text.tell() > MOST_REPLY:
        raise CallFailed(f"{call.at} sent a reply of more than {MOST_REPLY:,} characters", False, usd=None)
    return str(piece)


# ---- what is known of an endpoint before it is called ----


def find_key(endpoint: Endpoint) -> tuple[str, str]:
    """The key, and the variable that holds it. Both are empty if the endpoint needs none, or none is set."""
    for variable in (endpoint.key, endpoint.token):
        if value := os.environ.get(variable, "").strip():
            return value, variable
    return "", ""


def print_key(endpoint: Endpoint) -> str:
    """Ask the command of an endpoint for its key. What it prints is never shown."""
    how: dict[str, Any] = {"stdin": subprocess.DEVNULL, "capture_output": True, "timeout": PATIENCE}
    try:
        ended = subprocess.run(endpoint.key_command, **how, check=False)
        key: str = ended.stdout.decode("utf-8", "replace").strip()
        if key and not ended.returncode:
            return key
        said = one_line(ended.stderr.decode("utf-8", "replace"), 200) or "it printed nothing"
        why = f"ended with code {ended.returncode} ({said})"
    except (OSError, subprocess.TimeoutExpired) as failure:
        why = f"cannot be run: {getattr(failure, 'strerror', 'it took too long')}"
    raise AuthError(f'no key for the endpoint "{endpoint.name}": `{" ".join(endpoint.key_command)}` {why}')


def find_obstacle(endpoint: Endpoint) -> str:
    """Why it cannot be called, as the end of a sentence. Only a server on this machine is tried: one elsewhere is not
    asked before it is called."""
    if endpoint.key and not (endpoint.key_command or find_key(endpoint)[0]):
        return f"cannot be asked: {endpoint.key} is not set, which the endpoint {endpoint.name} needs: set it"
    url = urlsplit(endpoint.base_url)
    try:
        if is_local(endpoint.base_url):
            socket.create_connection((url.hostname, url.port or PORTS[url.scheme]), LOOK).close()
    except OSError:
        where = f"{place_of(endpoint)}, the endpoint {endpoint.name}"
        return f"cannot be asked: nothing answers at {where}: start its server"
    return ""


def place_of(endpoint: Endpoint) -> str:
    """Host and port, without a password that the address may hold."""
    return urlsplit(endpoint.base_url).netloc.rpartition("@")[2]


def find_price(model: Model) -> Price | None:
    """A server on this machine asks for no money."""
    return model.price or (FREE if not model.endpoint.key and is_local(model.endpoint.base_url) else None)


def list_models(endpoint: Endpoint) -> list[str]:
    """The models of a server on this machine. None if nothing answers there."""
    root = endpoint.base_url.rstrip("/").removesuffix("/v1")
    with suppress(URLError, OSError, ValueError, LookupError, TypeError):
        with build_opener(ProxyHandler({})).open(f"{root}/v1/models", timeout=LOOK) as answer:
            found = json.loads(answer.read(MOST_LISTED))["data"]
        return [one["id"] for one in found if isinstance(one["id"], str)]
    return []
