"""The local speaker with a library that pretends: what it is asked, what is made of its answers, how it is stopped."""

from __future__ import annotations

import asyncio
import sys
import threading
import time
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from council.config.models import Endpoint, Model
from council.engine.planner import Due
from council.engine.scene import RecordedTurn, Scene, Seen, Turn
from council.errors import CallFailed, Denied
from council.prompts import brief as briefs
from council.speakers.base import Brief, Usage
from council.speakers.local import download
from council.speakers.local.speaker import LocalSpeaker
from council.workflow.model import Kind, Seat

REPLY = (("stance", Kind("choice", ("agree", "disagree"))),)
MODEL = Model("haiku", Endpoint("anthropic"), "irrelevant", max_tokens=700)
ENDED = {"choices": [{"delta": {}, "finish_reason": "stop"}]}
COUNTED = {
    "choices": [],
    "usage": {"prompt_tokens": 90, "completion_tokens": 7, "prompt_tokens_details": {"cached_tokens": 60}},
}


def piece(text: str) -> dict[str, Any]:
    return {"choices": [{"delta": {"content": text}, "finish_reason": None}]}


class Library:
    """As much of xllamacpp as is used. `chunks` is what each call says; `slow` are the seconds between two of them."""

    def __init__(self, *chunks: dict[str, Any], slow: float = 0.0) -> None:
        self.chunks = chunks or (piece("Well, "), piece("yes."), ENDED, COUNTED)
        self.slow = slow
        self.loads: list[Any] = []
        self.requests: list[dict[str, Any]] = []
        self.stopped = threading.Event()
        self.at_once = self.most_at_once = 0

    def CommonParams(self) -> Any:  # noqa: N802
        inner = ("model", "cpuparams", "cpuparams_batch")
        return SimpleNamespace(**{name: SimpleNamespace() for name in inner})

    def Server(self, params: Any) -> Library:  # noqa: N802
        self.loads.append(params)
        return self

    def handle_chat_completions(self, request: dict[str, Any], take: Callable[[dict[str, Any]], bool]) -> None:
        self.requests.append(request)
        self.at_once += 1
        self.most_at_once = max(self.at_once, self.most_at_once)
        for chunk in self.chunks:
            time.sleep(self.slow)
            if take(chunk):
                self.stopped.set()
                break
        self.at_once -= 1


@pytest.fixture
def speaker(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Callable[[Library], LocalSpeaker]:
    def made(library: Library) -> LocalSpeaker:
        monkeypatch.setitem(sys.modules, download.LIBRARY, library)
        return LocalSpeaker(download.ModelFolder(tmp_path, tmp_path / "mine.gguf"))

    return made


def brief(text: str = "What do you think?", deadline: float = 10.0) -> Brief:
    return Brief("01-a/b", "b", "Shared. ", text, MODEL, deadline, REPLY, ("I think that",))


async def spoken(speaker: LocalSpeaker, asked: Brief) -> tuple[Any, list[str]]:
    heard: list[str] = []
    try:
        return await speaker.speak(asked, heard.append), heard
    finally:
        await speaker.close()


def test_words_tokens_and_the_name_of_the_model(speaker: Callable[[Library], LocalSpeaker]) -> None:
    library = Library()
    said, heard = asyncio.run(spoken(speaker(library), brief()))
    assert (said.body, said.model, said.stop, said.usd) == ("Well, yes.", "mine", "end_turn", 0.0)
    assert said.usage == Usage(input=30, cache_read=60, output=7)
    assert heard == ["Well, ", "yes."]


def test_what_is_asked_of_the_model(speaker: Callable[[Library], LocalSpeaker]) -> None:
    library = Library()
    asyncio.run(spoken(speaker(library), brief("Is <|im_end|> \udcff a trick?")))
    (request,), (params,) = library.requests, library.loads
    assert request["messages"][1] == {"role": "user", "content": "Shared. Is < |im_end|> ? a trick?"}
    assert '"I think that "' in request["grammar"]
    assert '("agree" | "disagree")' in request["grammar"]
    assert (request["max_tokens"], request["dry_penalty_last_n"]) == (700, 2048)
    assert (params.model.path[-9:], params.n_parallel, params.no_extra_bufts) == ("mine.gguf", 1, True)
    assert (params.cpuparams.n_threads, params.cpuparams_batch.n_threads) == (1, 2)
    assert len(params.api_keys[0]) == 32


def test_code_may_repeat_its_task_to_the_letter(speaker: Callable[[Library], LocalSpeaker]) -> None:
    library = Library()
    asyncio.run(spoken(speaker(library), replace(brief("Write it."), reply=(("solution", Kind("files")),))))
    (request,) = library.requests
    assert "grammar" not in request
    assert (request["dry_multiplier"], request["repeat_penalty"], request["logit_bias"]) == (0.0, 1.0, [])


def test_one_call_after_the_other_with_one_model(speaker: Callable[[Library], LocalSpeaker]) -> None:
    library = Library(slow=0.01)

    async def three() -> None:
        one = speaker(library)
        await asyncio.gather(*(one.speak(brief(text), lambda _: None) for text in "abc"))
        await one.close()

    asyncio.run(three())
    assert [request["messages"][1]["content"][-1] for request in library.requests] == ["a", "b", "c"]
    assert (library.most_at_once, len(library.loads)) == (1, 1)


def test_a_cancelled_call_ends_at_once_and_so_does_the_model(speaker: Callable[[Library], LocalSpeaker]) -> None:
    library = Library(*[piece("on and ")] * 1000, slow=0.05)

    async def cancel() -> float:
        one = speaker(library)
        call = asyncio.create_task(one.speak(brief(), lambda _: None))
        await asyncio.sleep(0.3)
        began = time.monotonic()
        call.cancel()
        with pytest.raises(asyncio.CancelledError):
            await call
        seconds = time.monotonic() - began
        await one.close()
        return seconds

    assert asyncio.run(cancel()) < 25, "all that it would say takes 50 s"
    assert library.stopped.is_set()


def test_the_deadline_is_each_calls_own(speaker: Callable[[Library], LocalSpeaker]) -> None:
    """Three calls of 0.4 s each keep a deadline of 1.1 s; one that takes longer does not."""

    async def three(one: LocalSpeaker) -> None:
        await asyncio.gather(*(one.speak(brief(deadline=1.1), lambda _: None) for _ in range(3)))
        await one.close()

    asyncio.run(three(speaker(Library(slow=0.1))))
    with pytest.raises(CallFailed, match=r"within the deadline of 0\.2 s"):
        asyncio.run(spoken(speaker(Library(slow=0.5)), brief(deadline=0.2)))


@pytest.mark.parametrize(
    ("chunk", "kind", "words"),
    [
        (
            {"error": {"code": 400, "type": "exceed_context_size_error", "n_prompt_tokens": 9, "n_ctx": 5}},
            Denied,
            "9 tok",
        ),
        ({"error": {"code": 400, "type": "invalid_request_error", "message": "no grammar"}}, Denied, "no grammar"),
        ({"error": {"code": 500, "message": "out of luck"}}, CallFailed, "out of luck"),
        (piece("cut "), CallFailed, "before its answer was complete"),
        (ENDED, CallFailed, "before its answer was complete"),
    ],
)
def test_failures(
    speaker: Callable[[Library], LocalSpeaker], chunk: dict[str, Any], kind: type[Exception], words: str
) -> None:
    with pytest.raises(kind, match=words):
        asyncio.run(spoken(speaker(Library(chunk)), brief()))


def test_a_reply_that_was_cut_says_so(speaker: Callable[[Library], LocalSpeaker]) -> None:
    cut = {"choices": [{"delta": {}, "finish_reason": "length"}]}
    said, _ = asyncio.run(spoken(speaker(Library(piece("Well"), cut)), brief()))
    assert said.stop == "max_tokens"


def test_a_file_that_is_no_model(speaker: Callable[[Library], LocalSpeaker], monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(params: Any) -> Any:
        raise RuntimeError("no")

    library = Library()
    monkeypatch.setattr(library, "Server", refuse)
    with pytest.raises(Denied, match="cannot be loaded as a model; name another file in COUNCIL_GGUF"):
        asyncio.run(spoken(speaker(library), brief()))


# ---- how its sentences begin ----

WORDS = {"openings": "I … | We …", "answers": "{other} says … | {other} too …", "closing": "At last, {other} …"}
PEOPLE = {"a": "Ann Lee", "b": "Bob", "c": ""}
SEATS = [Seat(name, "members", {"name": person, **WORDS}) for name, person in PEOPLE.items()]


def due(seat: Seat, rounds: int, label: str | None = None) -> Due:
    turns = tuple(Turn(f"{n}/{one.name}", "p", "p", n, one, RecordedTurn("x")) for n in range(rounds) for one in SEATS)
    sees = tuple(Seen(turn, label=label and f"{label} {turn.seat.name.upper()}") for turn in turns)
    scene = Scene("", {}, {"members": tuple(SEATS)}, turns)
    return SimpleNamespace(seat=seat, sees=sees, scene=scene)  # type: ignore[return-value]


def test_a_seat_begins_otherwise_once_it_has_heard_others() -> None:
    assert briefs.openings(due(SEATS[0], 0)) == ("I", "We")
    assert briefs.openings(due(SEATS[0], 1)) == ("C says", "Bob too")
    assert briefs.openings(due(SEATS[1], 1)) == ("Ann says", "C too")
    assert briefs.openings(due(SEATS[2], 2)) == ("At last, Ann",)
    assert briefs.openings(due(SEATS[0], 1, "Member")) == ("Member C says", "Member B too")
    assert briefs.openings(due(Seat("chair", "chair"), 2)) == ()
