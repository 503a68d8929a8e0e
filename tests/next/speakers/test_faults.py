"""Every way in which an API fails, for each dialect and client: what is raised, may it pass, and what did it cost."""

from __future__ import annotations

import asyncio
import email.utils
import gzip
import time
from collections.abc import Callable
from dataclasses import dataclass

import pytest

from council.next.errors import AuthError, CouncilError, UsageError
from council.next.speakers.base import CallFailed, Refused
from tests.next.speakers.apis import CLIENTS, COST, IDS, KEY, Act, Client, Talk

UNKNOWN, NOTHING = None, 0.0


@pytest.fixture(autouse=True)
def environment(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TEST_KEY", KEY)
    for name in ("HTTP_PROXY", "HTTPS_PROXY", "ALL_PROXY", "NO_PROXY", "ANTHROPIC_CUSTOM_HEADERS"):
        monkeypatch.delenv(name, raising=False)
        monkeypatch.delenv(name.lower(), raising=False)


@pytest.fixture(params=CLIENTS, ids=IDS)
def client(request: pytest.FixtureRequest) -> Client:
    found: Client = request.param
    return found


@dataclass(frozen=True)
class Case:
    """A fault, and what is raised of it. `usd` None is unknown: it counts as the most that the call can have cost."""

    act: Act
    says: str
    again: bool = True
    usd: float | None = UNKNOWN
    wait: float | None = None
    kind: type[CouncilError] = CallFailed
    tries: int | None = None


def refuses(status: int, kind: str = "", message: str = "what the API said", **headers: str) -> Act:
    return lambda talk: talk.reply(status, talk.error(kind or "some_error", message), **headers)


def steps(*taken: Callable[[Talk], object]) -> Act:
    def act(talk: Talk) -> None:
        for step in taken:
            step(talk)

    return act


def then(*more: Callable[[Talk], object]) -> Act:
    """A stream that begins well, and goes on as the steps say."""
    return steps(Talk.begin, lambda talk: talk.text("half of it"), *more)


def close(talk: Talk) -> None:
    talk.writer.close()


async def stall(talk: Talk) -> None:
    talk.begin()
    talk.text("half of it")
    await talk.silence()


async def drip(talk: Talk) -> None:
    """A byte at a time, for ever: never silent, never whole."""
    talk.begin()
    while not talk.over.is_set():
        talk.chunk(b": ")
        await talk.writer.drain()
        await asyncio.sleep(0.001)


async def flood(talk: Talk) -> None:
    """Text for ever."""
    talk.begin()
    while not talk.over.is_set():
        talk.text("more and more " * 1000)
        await talk.writer.drain()


def bytes_(data: bytes, kind: str = "text/event-stream", status: int = 200, **headers: str) -> Act:
    return lambda talk: talk.reply(status, data, kind, **headers)


def event(data: bytes) -> Callable[[Talk], None]:
    return lambda talk: talk.chunk(b"event: message_delta\ndata: " + data + b"\n\n")


BOMB = gzip.compress(b"A" * 20_000_000)
HTML = b"<html><body>Sign in to the network, please</body></html>"

FAULTS: dict[str, Case] = {
    # refused by a status
    "400": Case(refuses(400), "test answered 400: what the API said", kind=UsageError),
    "401": Case(refuses(401), "the key in TEST_KEY: set one that", kind=AuthError),
    "401 with the key echoed": Case(refuses(401, "", f"no {KEY} here"), r"no \[key\] here", kind=AuthError),
    "402": Case(refuses(402), "add credit", kind=AuthError),
    "403": Case(refuses(403), "a model that it may use", kind=AuthError),
    "404": Case(refuses(404), 'Give the tier "sonnet" a model', kind=UsageError),
    "408": Case(refuses(408), "answered 408"),
    "409": Case(refuses(409), "answered 409", usd=NOTHING),
    "413": Case(refuses(413), "shorten the documents", kind=UsageError),
    "422": Case(refuses(422), "Check model", kind=UsageError),
    "429": Case(refuses(429), "answered 429: what the API said", usd=NOTHING),
    "429 with seconds": Case(refuses(429, retry_after="7"), "answered 429", usd=NOTHING, wait=7.0),
    "429 with a wait that is over": Case(refuses(429, retry_after="-3"), "answered 429", usd=NOTHING, wait=0.0),
    "429 with nonsense": Case(refuses(429, retry_after="soon"), "answered 429", usd=NOTHING),
    "429 for ever": Case(refuses(429, retry_after="inf"), "answered 429", usd=NOTHING),
    "429 without credit": Case(refuses(429, "insufficient_quota"), "add credit", kind=AuthError),
    "500": Case(refuses(500), "answered 500"),
    "500 with the key echoed": Case(refuses(500, "", f"{'x' * 280} {KEY}"), r"x \[key\]"),
    "500 with escapes": Case(refuses(500, "", "\x1b[31mred\x07 \u202e"), "answered 500: red$"),
    "502, a web page": Case(bytes_(HTML * 1000, "text/html", 502), "answered 502: <html>"),
    "503": Case(refuses(503), "answered 503", usd=NOTHING),
    "504": Case(refuses(504), "answered 504"),
    "529": Case(refuses(529), "answered 529", usd=NOTHING),
    "204": Case(bytes_(b"", status=204), "answered 204|did not send events", tries=1),
    "an error without a body": Case(bytes_(b"", status=500), "answered 500: no reason given"),
    "an error of no UTF-8": Case(bytes_(b"caf\xe9", status=500), "answered 500: caf"),
    "an error that is a number": Case(bytes_(b"5", status=500), "answered 500: 5"),
    "an error without an end": Case(bytes_(b"A" * 3_000_000, "text/html", 400), "answered 400: AAA", kind=UsageError),
    # no answer at all
    "reset": Case(Talk.reset, "connection to test was interrupted"),
    "reset behind the headers": Case(steps(Talk.head, Talk.reset), "was interrupted|did not send events"),
    "closed before the headers": Case(close, "was interrupted"),
    "no HTTP": Case(steps(lambda talk: talk.raw(b"SSH-2.0-OpenSSH\r\n"), close), "was interrupted"),
    "a web page": Case(bytes_(HTML, "text/html"), "did not send events of the dialect", tries=1),
    "an empty stream": Case(bytes_(b""), "did not send events of the dialect", tries=1),
    "JSON in place of a stream": Case(bytes_(b'{"ok": true}', "application/json"), "did not send events", tries=1),
    "an error with status 200": Case(refuses(200, "rate_limit_error"), "did not send events", tries=1),
    "a bomb": Case(bytes_(BOMB, content_encoding="gzip"), r"compressed \(gzip\)", tries=1),
    "a bomb in an error": Case(bytes_(BOMB, status=500, content_encoding="gzip"), r"compressed \(gzip\)", tries=1),
    # a stream that is cut, broken or odd
    "reset in the middle": Case(then(Talk.reset), "was interrupted"),
    "closed in the middle": Case(then(close), "was interrupted"),
    "an end in the middle": Case(then(lambda talk: talk.chunk(b"")), "before the answer was complete"),
    "a goodbye without a reason": Case(then(Talk.end), "before the answer was complete"),
    "no reason to stop": Case(then(lambda talk: talk.stop(None), Talk.end), "before the answer was complete"),
    "an event that is no JSON": Case(then(event(b'{"type": "cont'), Talk.end), "that cannot be read", tries=1),
    "an event that is a list": Case(bytes_(b"event: message_delta\ndata: [1]\n\n"), "cannot be read", tries=1),
    "an event of no UTF-8": Case(then(event(b'"\xff"')), "cannot be read", tries=1),
    "a nested event": Case(then(event(b"[" * 100_000)), "cannot be read", tries=1),
    "text that is a number": Case(then(lambda talk: talk.text(5)), "cannot be read", tries=1),
    "a huge event": Case(bytes_(b"data: " + b"A" * 3_000_000), "it sent more than 1,000,000 bytes", tries=1),
    "a huge event of lines": Case(bytes_(b"data: A\n" * 200_000), "it sent more than 1,000,000 bytes", tries=1),
    "an error in the stream": Case(then(lambda talk: talk.event(talk.error("overloaded_error"))), "answered 529: what"),
    "a rate limit in the stream": Case(then(lambda talk: talk.event(talk.error("rate_limit_error"))), "answered 429"),
    "a refused request in the stream": Case(
        then(lambda talk: talk.event(talk.error("invalid_request_error"))), "answered 400", again=False
    ),
    "an error of a type of its own": Case(then(lambda talk: talk.event(talk.error("odd"))), "answered 500"),
    "the key echoed in the stream": Case(
        then(lambda talk: talk.event(talk.error("api_error", f"bad {KEY}"))), r"bad \[key\]"
    ),
    # a whole answer that is none
    "a refusal": Case(
        lambda talk: talk.answer("I would rather", reason="refusal"), "refused", False, COST, kind=Refused
    ),
    "a pause": Case(lambda talk: talk.answer("half", reason="pause_turn"), "paused in the middle", True, COST, tries=1),
    "a full context": Case(
        lambda talk: talk.answer("half", reason="model_context_window_exceeded"), "too long for", False, COST, tries=1
    ),
    "an unknown reason": Case(lambda talk: talk.answer("half", reason="tool_use"), "tool_use", True, COST, tries=1),
    "an empty answer": Case(lambda talk: talk.answer(""), "gave an empty answer", True, COST, tries=1),
    "an answer of blanks": Case(lambda talk: talk.answer(" \n"), "gave an empty answer", True, COST, tries=1),
    "thinking alone": Case(lambda talk: talk.answer("", reason="max_tokens"), "thinking used up", False, COST),
}  # fmt: skip


@pytest.mark.parametrize("name", FAULTS)
def test_a_fault_is_told_as_what_it_is(name: str, client: Client) -> None:
    case = FAULTS[name]
    with pytest.raises(CouncilError, match=case.says) as caught:
        client.call(case.act)
    check(caught.value, case)


def check(error: CouncilError, case: Case) -> None:
    assert type(error) is case.kind
    assert KEY[:10] not in str(error)
    assert not {*"\n\x1b\x07\u202e"} & {*str(error)}
    assert len(str(error)) < 600
    assert error.__suppress_context__ or error.__context__ is None
    if isinstance(error, CallFailed):
        assert (error.again, error.wait, error.tries) == (case.again, case.wait, case.tries)
        assert error.usd == (None if case.usd is None else pytest.approx(case.usd))


@pytest.mark.parametrize(
    ("act", "says"), [(stall, "did not send anything for too long"), (Talk.silence, "did not send anything")]
)
def test_silence_is_borne_for_so_long(act: Act, says: str, client: Client) -> None:
    with pytest.raises(CallFailed, match=says) as caught:
        client.call(act, stall=0.05)
    check(caught.value, Case(act, says))


@pytest.mark.parametrize("act", [stall, Talk.silence, drip])
def test_a_call_has_a_deadline_whatever_comes(act: Act, client: Client) -> None:
    with pytest.raises(CallFailed, match=r"no whole answer within the deadline of 0\.3 s") as caught:
        client.call(act, deadline=0.3)
    check(caught.value, Case(act, ""))


def test_a_reply_without_an_end_is_cut_off(client: Client) -> None:
    with pytest.raises(CallFailed, match="more than 2,000,000 characters") as caught:
        client.call(flood)
    check(caught.value, Case(flood, "", again=False))


def test_retry_after_may_be_a_date(client: Client) -> None:
    date = email.utils.formatdate(time.time() + 3600, usegmt=True)
    with pytest.raises(CallFailed) as caught:
        client.call(refuses(429, retry_after=date))
    assert caught.value.wait == pytest.approx(3600, abs=60)


@pytest.mark.parametrize("status", [301, 302, 303, 307, 308])
def test_a_redirect_is_not_followed(status: int, client: Client) -> None:
    """It would carry the whole brief and the key to another host."""

    async def run() -> tuple[int, int]:
        async with client.serve(Talk.answer) as other:
            away = refuses(status, location=f"{other.url}/v1/messages")
            async with client.serve(away) as server:
                with pytest.raises(UsageError, match="test redirects to another address: correct the base_url"):
                    await client.ask(client.model(server.url))
                return len(server.requests), len(other.requests)

    assert asyncio.run(run()) == (1, 0)


def test_nobody_listens(client: Client) -> None:
    """On this machine, waiting does not help; and nothing was sent, so nothing was billed."""

    async def run() -> int:
        async with client.serve(Talk.answer) as server:
            return server.port

    port = asyncio.run(run())
    says = rf'nothing answers at 127\.0\.0\.1:{port}, the base_url of the endpoint "test": is its server running\?'
    with pytest.raises(CallFailed, match=says) as caught:
        asyncio.run(client.ask(client.model(f"http://127.0.0.1:{port}")))
    check(caught.value, Case(Talk.answer, "", again=False, usd=NOTHING))


def test_a_name_that_is_not_found_is_tried_for_seconds_only(client: Client) -> None:
    with pytest.raises(CallFailed, match=r"no address was found for nobody\.invalid \(are you online\?\)") as caught:
        asyncio.run(client.ask(client.model("http://nobody.invalid:1")))
    check(caught.value, Case(Talk.answer, "", usd=NOTHING, tries=4))


def test_a_proxy_that_is_gone_is_named_without_its_password(client: Client, monkeypatch: pytest.MonkeyPatch) -> None:
    async def run() -> int:
        async with client.serve(Talk.answer) as server:
            return server.port

    port = asyncio.run(run())
    monkeypatch.setenv("HTTP_PROXY", f"http://me:secret@127.0.0.1:{port}")
    says = rf"nothing answers at 127\.0\.0\.1:{port}, the proxy in HTTP_PROXY: is it running\?"
    with pytest.raises(CallFailed, match=says) as caught:
        asyncio.run(client.ask(client.model("http://api.example.invalid")))
    check(caught.value, Case(Talk.answer, "", again=False, usd=NOTHING))
    assert "secret" not in str(caught.value)


def test_a_proxy_is_asked_for_hosts_elsewhere_and_never_for_this_machine(
    client: Client, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def run() -> tuple[list[str], int]:
        async with client.serve(Talk.answer) as proxy, client.serve(Talk.answer) as server:
            monkeypatch.setenv("HTTP_PROXY", proxy.url)
            assert (await client.ask(client.model("http://api.example.invalid"))).body == "Yes, and no.\n"
            assert (await client.ask(client.model(server.url))).body == "Yes, and no.\n"
            return [request.path for request in proxy.requests], len(server.requests)

    through, directly = asyncio.run(run())
    assert [path.startswith("http://api.example.invalid/v1/") for path in through] == [True]
    assert directly == 1
