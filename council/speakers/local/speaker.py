"""A seat spoken for by a small model on this machine: llama.cpp inside this process, no key and no network.

One call after the other, because two at once gain nothing on few cores, and because a call that begins as the one
before it began does not have that beginning to read again. It fetches nothing: that is `embedded`'s.
"""

from __future__ import annotations

import asyncio
import secrets
import threading
import zlib
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass, field
from typing import Any, TypeVar

from council.errors import CallFailed, CouncilError, Denied
from council.speakers.base import Brief, Speaker, Spoken, Usage
from council.speakers.local import SPEAKER, download
from council.speakers.local.grammar import gbnf

T = TypeVar("T")

CONTEXT = 12288  # tokens: three rounds of seven members and some pages of documents; each costs 28 KB of memory
SYSTEM = "You take a seat in a council. Answer the user's message, and be concrete about its topic."
SAMPLING = {
    "temperature": 0.7,
    "top_p": 0.95,
    "min_p": 0.05,
    "repeat_penalty": 1.05,
    "repeat_last_n": 1024,
    "dry_multiplier": 1.0,
    "dry_allowed_length": 4,
    "dry_penalty_last_n": 2048,  # with the usual 64, a third round copies the second
    "logit_bias": [["none", 3.0]],  # asked what blocks, a model this small else finds something each time
}
# A seat without openings reports what others said: it may repeat a phrase, and must find what they agree on.
REPORTING = {"temperature": 0.4, "dry_allowed_length": 12, "logit_bias": []}


class LocalSpeaker(Speaker):
    """Speaks with one model, whatever the tier. The first call loads it, and it stays."""

    name = SPEAKER.name
    model: str

    def __init__(self, place: download.ModelFolder | None = None) -> None:
        self.place = place or download.place()
        self.model = self.place.gguf.stem
        self.server: Any = None
        self.turn = asyncio.Lock()
        self.idle = asyncio.Event()
        self.idle.set()

    async def speak(self, brief: Brief, tell: Callable[[str], None]) -> Spoken:
        """The deadline begins when the call does: waiting for the one before it is not the model's time."""
        async with self.turn:
            try:
                async with asyncio.timeout(brief.deadline) as clock:
                    return await self._hear(brief, tell)
            except TimeoutError:
                if not clock.expired():
                    raise
                raise CallFailed(f"no whole answer within the deadline of {brief.deadline:g} s") from None

    async def close(self) -> None:
        """What was cancelled ends after the few tokens that it is at; then the model leaves the memory."""
        await self.idle.wait()
        self.server = None

    async def _hear(self, brief: Brief, tell: Callable[[str], None]) -> Spoken:
        if self.server is None:
            self.server = await self._in_thread(lambda: _loaded(self.place))
        server, loop = self.server, asyncio.get_running_loop()
        heard = _Heard(lambda piece: loop.call_soon_threadsafe(tell, piece))
        try:
            await self._in_thread(lambda: server.handle_chat_completions(_request(brief), heard.take))
        finally:
            heard.cancelled = True
        return heard.spoken(self.model)

    async def _in_thread(self, work: Callable[[], T]) -> T:
        """A thread of its own, which nothing has to wait for: whoever is cancelled is so at once."""
        loop = asyncio.get_running_loop()
        done: asyncio.Future[T] = loop.create_future()

        def settle(result: T | None, failure: Exception | None) -> None:
            self.idle.set()
            if not done.done():
                done.set_exception(failure) if failure else done.set_result(result)  # type: ignore[arg-type]

        def run() -> None:
            result, failure = None, None
            try:
                result = work()
            except Exception as error:  # noqa: BLE001 (it is raised where the work is waited for)
                failure = error
            with suppress(RuntimeError):  # nobody waits any more
                loop.call_soon_threadsafe(settle, result, failure)

        self.idle.clear()
        threading.Thread(target=run, daemon=True).start()
        return await done


def _loaded(place: download.ModelFolder) -> Any:
    """The model in memory, some seconds later. The settings are measured ones, for few cores that are busy."""
    llama = download.llama(place)
    params = llama.CommonParams()
    params.model.path = str(place.gguf)
    params.n_ctx, params.n_parallel = CONTEXT, 1
    params.n_batch = 128  # it looks up as often: how long a cancelled call may take to notice
    params.cpuparams.n_threads, params.cpuparams_batch.n_threads = 1, 2
    params.no_extra_bufts, params.warmup, params.cache_ram_mib, params.verbosity = True, False, 0, -1
    params.ui, params.endpoint_slots = False, False
    params.api_keys = [secrets.token_hex(16)]  # the library opens a port of this machine, which is for nobody
    try:
        return llama.Server(params)
    except RuntimeError:
        raise Denied(f"{place.gguf} cannot be loaded as a model; {download.OTHERWISE}") from None


def _request(brief: Brief) -> dict[str, Any]:
    return {
        "messages": [{"role": "system", "content": SYSTEM}, {"role": "user", "content": _plain(brief.text)}],
        "grammar": gbnf(brief.reply, brief.openings, brief.text, brief.casts),
        "max_tokens": brief.model.max_tokens,
        "seed": zlib.crc32(brief.text.encode("utf-8", "replace")),
        "stream": True,
        "stream_options": {"include_usage": True},
        "return_progress": True,  # else nothing is heard, and nothing can be cancelled, while it reads
        **SAMPLING,
        **({} if brief.openings else REPORTING),
    }


def _plain(text: str) -> str:
    """No text of others may end the user's message: what could be a mark of the chat is pulled apart."""
    return text.encode("utf-8", "replace").decode("utf-8").replace("<|", "< |")


@dataclass
class _Heard:
    """The answer as far as it has come. `take` runs in the model's thread, and ends it by answering True."""

    tell: Callable[[str], object]
    body: str = ""
    stop: str | None = None
    usage: Usage = field(default_factory=Usage)
    failure: dict[str, Any] = field(default_factory=dict)
    cancelled: bool = False

    def take(self, chunk: dict[str, Any]) -> bool:
        if self.cancelled:
            return True
        self.failure = chunk.get("error") or self.failure
        for choice in chunk.get("choices", ()):
            self.stop = choice.get("finish_reason") or self.stop
            if piece := choice.get("delta", {}).get("content"):
                self.body += piece
                with suppress(RuntimeError):  # nobody listens any more
                    self.tell(piece)
        if counts := chunk.get("usage"):
            cached = counts.get("prompt_tokens_details", {}).get("cached_tokens", 0)
            self.usage = Usage(counts["prompt_tokens"] - cached, cached, output=counts["completion_tokens"])
        return False

    def spoken(self, model: str) -> Spoken:
        if self.failure:
            raise _verdict(self.failure, model)
        if self.stop is None or not self.body.strip():
            raise CallFailed(f"{model} ended before its answer was whole")
        return Spoken(self.body, model, "max_tokens" if self.stop == "length" else "end_turn", self.usage, usd=0.0)


def _verdict(failure: dict[str, Any], model: str) -> CallFailed | CouncilError:
    if failure.get("type") == "exceed_context_size_error":
        tokens, most = failure.get("n_prompt_tokens"), failure.get("n_ctx")
        return Denied(
            f"the brief has {tokens} tokens and {model} reads {most} here: attach less, seat fewer members, "
            f"or {download.OTHERWISE}"
        )
    if failure.get("code") == 400:
        return Denied(f"{model} was asked for what it cannot do ({failure.get('message')}): {download.OTHERWISE}")
    return CallFailed(f"{model} failed: {failure.get('message')}")
