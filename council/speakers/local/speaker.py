"""A small model on this machine: llama.cpp inside this process, without a key or a network.

One call at a time: two at once gain nothing on few cores, and a call that begins like the one before it need not read
that beginning again. It downloads nothing: `download` does.
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
from council.speakers.local.prompt import condense
from council.workflow.types import answer_types

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
    "logit_bias": [["none", 3.0]],  # otherwise a model this small always finds something that blocks
}
# A seat without openings reports what others said, so it may repeat phrases and must find agreement.
REPORTING = {"temperature": 0.4, "dry_allowed_length": 12, "logit_bias": []}
# Code repeats itself and its task to the letter: with a penalty for that, a model this small misspells names.
CODING = {"temperature": 0.6, "repeat_penalty": 1.0, "dry_multiplier": 0.0, "logit_bias": []}


class LocalSpeaker(Speaker):
    """Uses one model, whatever the tier. The first call loads it, and it stays loaded."""

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
        """The deadline begins when the call does: waiting for the one before it does not count."""
        async with self.turn:
            try:
                async with asyncio.timeout(brief.deadline) as clock:
                    return await self._listen(brief, tell)
            except TimeoutError:
                if not clock.expired():
                    raise
                raise CallFailed(f"no complete answer within the deadline of {brief.deadline:g} s") from None

    async def close(self) -> None:
        """A cancelled call ends within a few tokens; then the model is freed."""
        await self.idle.wait()
        self.server = None

    async def _listen(self, brief: Brief, tell: Callable[[str], None]) -> Spoken:
        if self.server is None:
            self.server = await self._in_thread(lambda: _loaded(self.place))
        server, loop = self.server, asyncio.get_running_loop()
        answer = _Answer(lambda piece: loop.call_soon_threadsafe(tell, piece))
        try:
            await self._in_thread(lambda: server.handle_chat_completions(_request(brief), answer.take))
        finally:
            answer.cancelled = True
        return answer.spoken(self.model)

    async def _in_thread(self, work: Callable[[], T]) -> T:
        """A thread of its own that nothing waits for, so that a cancelled call ends at once."""
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
            with suppress(RuntimeError):  # nobody waits for it any more
                loop.call_soon_threadsafe(settle, result, failure)

        self.idle.clear()
        threading.Thread(target=run, daemon=True).start()
        return await done


def _loaded(place: download.ModelFolder) -> Any:
    """Load the model, which takes seconds. The settings were measured, for a few busy cores."""
    llama = download.llama(place)
    params = llama.CommonParams()
    params.model.path = str(place.gguf)
    params.n_ctx, params.n_parallel = CONTEXT, 1
    params.n_batch = 128  # it checks for a cancelled call once per batch
    params.cpuparams.n_threads, params.cpuparams_batch.n_threads = 1, 2
    params.no_extra_bufts, params.warmup, params.cache_ram_mib, params.verbosity = True, False, 0, -1
    params.ui, params.endpoint_slots = False, False
    params.api_keys = [secrets.token_hex(16)]  # the library opens a local port, which nobody may use
    try:
        return llama.Server(params)
    except RuntimeError:
        raise Denied(f"{place.gguf} cannot be loaded as a model; {download.OTHERWISE}") from None


def _request(brief: Brief) -> dict[str, Any]:
    free = any(kind.type in answer_types() and not answer_types()[kind.type].grammar for _, kind in brief.reply)
    grammar = {} if free else {"grammar": gbnf(brief.reply, brief.openings, brief.text, brief.casts)}
    return {
        "messages": [
            {"role": "system", "content": SYSTEM},
            {"role": "user", "content": _plain(brief.text if free else condense(brief))},
        ],
        **grammar,
        "max_tokens": brief.model.max_tokens,
        "seed": zlib.crc32(brief.text.encode("utf-8", "replace")),
        "stream": True,
        "stream_options": {"include_usage": True},
        "return_progress": True,  # otherwise nothing can be cancelled while it reads the prompt
        **SAMPLING,
        **(CODING if free else {} if brief.openings else REPORTING),
    }


def _plain(text: str) -> str:
    """No quoted text may end the user's message: what could be a chat marker is broken up."""
    return text.encode("utf-8", "replace").decode("utf-8").replace("<|", "< |")


@dataclass
class _Answer:
    """The answer so far. `take` runs in the model's thread and stops it by returning True."""

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
            raise CallFailed(f"{model} ended before its answer was complete")
        return Spoken(self.body, model, "max_tokens" if self.stop == "length" else "end_turn", self.usage, usd=0.0)


def _verdict(failure: dict[str, Any], model: str) -> CallFailed | CouncilError:
    if failure.get("type") == "exceed_context_size_error":
        tokens, most = failure.get("n_prompt_tokens"), failure.get("n_ctx")
        return Denied(
            f"the brief has {tokens} tokens and {model} reads {most} here: attach less, seat fewer members, "
            f"or {download.OTHERWISE}"
        )
    if failure.get("code") == 400:
        return Denied(f"{model} cannot do what was asked ({failure.get('message')}): {download.OTHERWISE}")
    return CallFailed(f"{model} failed: {failure.get('message')}")
