"""What an API is asked, with which key, and what its answer is worth: for each dialect and client, on real sockets."""

from __future__ import annotations

import asyncio
import json
import os
import ssl
import subprocess
import sys
from collections.abc import Callable
from contextlib import suppress
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from council.next.config.models import Endpoint, Price
from council.next.config.settings import load
from council.next.errors import AuthError
from council.next.speakers.api import Api
from council.next.speakers.api.dialects import DIALECTS
from council.next.speakers.api.http import is_local, make_client, read_wait
from council.next.speakers.base import CallFailed
from tests.next.speakers.apis import (
    CLIENTS,
    COST,
    IDS,
    KEY,
    USAGE,
    Client,
    Talk,
    brief,
    counted,
    fixed,
    in_chat,
)


@pytest.fixture(autouse=True)
def environment(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """One key of ours, and a home where a client finds nothing else."""
    for name in ("API_KEY", "AUTH_TOKEN", "BASE_URL", "CUSTOM_HEADERS", "PROFILE"):
        monkeypatch.delenv(f"ANTHROPIC_{name}", raising=False)
    monkeypatch.setenv("TEST_KEY", KEY)
    monkeypatch.setenv("HOME", str(tmp_path))


@pytest.fixture(params=CLIENTS, ids=IDS)
def client(request: pytest.FixtureRequest) -> Client:
    found: Client = request.param
    return found


class Seen:
    """Answers everything, and keeps the requests."""

    def __init__(self) -> None:
        self.requests: list[Any] = []

    def __call__(self, talk: Talk) -> None:
        self.requests.append(talk.request)
        talk.answer()


# ---- what is asked ----


def test_the_request_is_what_the_brief_and_its_model_say(client: Client) -> None:
    seen = Seen()
    client.call(seen, effort="low", max_tokens=123)
    (request,) = seen.requests
    if client.dialect == "messages":
        content = [{"type": "text", "text": "The topic. "}, {"type": "text", "text": "Your part."}]
        more = {"output_config": {"effort": "low"}}
    else:
        content = "The topic. Your part."  # type: ignore[assignment]
        more = {"reasoning_effort": "low", "stream_options": {"include_usage": True}}  # type: ignore[dict-item]
    asked = {"model": "m", "max_tokens": 123, "stream": True, "messages": [{"role": "user", "content": content}]}
    assert request.body == {**asked, **more}
    assert request.path == ("/v1/messages" if client.dialect == "messages" else "/v1/chat/completions")
    assert request.headers["accept-encoding"] == "identity"


def test_a_model_without_effort_is_asked_without(client: Client) -> None:
    seen = Seen()
    client.call(seen)
    assert not {"output_config", "reasoning_effort", "temperature"} & {*seen.requests[0].body}


@pytest.mark.parametrize(
    ("url", "limit", "usage"),
    [
        ("https://api.openai.com/v1", "max_completion_tokens", True),
        ("https://mine.openai.azure.com/openai/v1", "max_completion_tokens", True),
        ("https://api.mistral.ai/v1", "max_tokens", False),
        ("https://openrouter.ai/api/v1", "max_tokens", True),
    ],
)
def test_some_hosts_refuse_what_others_want(url: str, limit: str, usage: bool) -> None:
    model = CLIENTS[2].model("", endpoint=Endpoint("test", url, "chat"))
    body = DIALECTS["chat"].body(model, brief())
    assert {"max_tokens", "max_completion_tokens"} & {*body} == {limit}
    assert ("stream_options" in body) is usage


@pytest.mark.parametrize("root", ["", "/", "/v1", "/v1/"])
def test_an_address_with_or_without_its_version_is_the_same(root: str) -> None:
    seen, client = Seen(), CLIENTS[0]

    async def run() -> None:
        async with client.serve(seen) as server:
            await client.ask(client.model(server.url + root))

    asyncio.run(run())
    assert seen.requests[0].path == "/v1/messages"


@pytest.mark.parametrize("client", [CLIENTS[0], CLIENTS[1]], ids=IDS[:2])
def test_the_beginnings_that_are_worth_it_are_marked_for_the_cache(client: Client) -> None:
    """The API takes four marks. A block of white space alone is refused, so its bytes go into the next one."""
    seen = Seen()
    shared, own = "one two three   four five", " six"
    client.call(seen, brief(shared, own, cuts=(3, 7, 13, 16, 20)))
    blocks = seen.requests[0].body["messages"][0]["content"]
    assert "".join(block["text"] for block in blocks) == shared + own
    assert [(block["text"], "cache_control" in block) for block in blocks] == [
        ("one two", True),
        (" three", True),
        ("   four", True),
        (" five", False),
        (" six", False),
    ]


@pytest.mark.parametrize(("shared", "own"), [("", "Alone."), ("Alone.", ""), ("Alone.", " \n"), (" ", "Alone.")])
def test_every_byte_of_a_brief_is_sent(shared: str, own: str, client: Client) -> None:
    seen = Seen()
    client.call(seen, brief(shared, own))
    content = seen.requests[0].body["messages"][0]["content"]
    assert shared + own in (content, "".join(one["text"] for one in content if isinstance(one, dict)))


def test_bytes_that_were_no_utf8_do_not_stop_a_call(client: Client) -> None:
    seen = Seen()
    client.call(seen, brief(b"caf\xe9 ".decode("utf-8", "surrogateescape"), "é"))
    assert "caf? " in json.dumps(seen.requests[0].body, ensure_ascii=False)


# ---- keys ----


def sent(request: Any) -> str:
    key: str = request.headers.get("x-api-key") or request.headers.get("authorization", "").removeprefix("Bearer ")
    return key


def test_only_the_variable_that_the_endpoint_names_is_read(client: Client, monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("ANTHROPIC_API_KEY", "ANTHROPIC_AUTH_TOKEN", "OPENAI_API_KEY"):
        monkeypatch.setenv(name, "another")
    monkeypatch.setenv("ANTHROPIC_BASE_URL", "http://127.0.0.1:9")
    monkeypatch.setenv("ANTHROPIC_CUSTOM_HEADERS", "authorization: Bearer another\nx-gateway: another")
    monkeypatch.setenv("TEST_KEY", f" {KEY}\n")
    seen = Seen()
    client.call(seen)
    assert sent(seen.requests[0]) == KEY
    assert "another" not in str(seen.requests[0].headers)


def test_an_endpoint_without_a_key_is_given_none(client: Client, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ANTHROPIC_API_KEY", "another")
    seen = Seen()
    client.call(seen, key="")
    assert sent(seen.requests[0]) in ("", "none")
    assert "another" not in str(seen.requests[0].headers)


@pytest.mark.parametrize("client", CLIENTS[:2], ids=IDS[:2])
def test_a_bearer_token_is_taken_where_the_key_is_not_set(client: Client, monkeypatch: pytest.MonkeyPatch) -> None:
    assert load().endpoints["anthropic"].token == "ANTHROPIC_AUTH_TOKEN"
    monkeypatch.setenv("TEST_TOKEN", "two")
    seen = Seen()
    client.call(seen, key="NO_KEY", token="TEST_TOKEN")
    assert seen.requests[0].headers["authorization"] == "Bearer two"
    assert "x-api-key" not in seen.requests[0].headers


def test_a_missing_key_is_named_and_nothing_is_sent(client: Client) -> None:
    seen = Seen()
    with pytest.raises(AuthError, match='no key for the endpoint "test": set NO_KEY in the environment'):
        client.call(seen, key="NO_KEY")
    assert seen.requests == []


@pytest.mark.parametrize("key", ["sk-one\nsk-two", "sk-\u201cquoted\u201d", "sk-\x1b[0m"])
def test_a_key_that_no_header_can_carry_is_not_quoted(
    key: str, client: Client, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("TEST_KEY", key)
    with pytest.raises(AuthError, match="TEST_KEY holds characters") as caught:
        client.call(Talk.answer)
    assert "sk-" not in str(caught.value)


def with_command(client: Client, url: str, *words: str) -> Endpoint:
    return Endpoint("test", url, client.dialect, client.client, key_command=words)


def test_a_command_may_print_the_key_and_is_asked_once(tmp_path: Path, client: Client) -> None:
    seen, log = Seen(), tmp_path / "log"
    script = f"open({str(log)!r}, 'a').write('x'); print({KEY!r})"

    async def run() -> None:
        async with client.serve(seen) as server:
            model = client.model(server.url)
            root = model.endpoint.base_url
            api = Api(
                fixed(client.model(server.url, endpoint=with_command(client, root, sys.executable, "-c", script)))
            )
            await asyncio.gather(*(api.speak(brief(), lambda _: None) for _ in range(3)))
            await api.speak(brief(), lambda _: None)
            await api.close()

    asyncio.run(run())
    assert [sent(request) for request in seen.requests] == [KEY] * 4
    assert log.read_text() == "x"


def test_a_server_on_this_machine_that_does_not_listen_is_an_obstacle() -> None:
    """Before anything is written, and for doctor."""
    client = CLIENTS[2]

    async def run() -> tuple[str, str]:
        async with client.serve(Talk.answer) as server:
            secret = server.url.replace("://", "://me:secret@")
            api = Api(fixed(client.model(secret, key="")))
            there = await asyncio.to_thread(api.obstacle)
        return there, api.obstacle()

    there, gone = asyncio.run(run())
    assert there == ""
    assert "nothing answers at 127.0.0.1:" in gone
    assert "secret" not in gone
    assert "the endpoint test: start its server" in gone


@pytest.mark.parametrize(
    ("script", "says"),
    [
        ("import sys; print('sk-secret'); sys.exit('sign in first')", r"ended with code 1 \(sign in first\)"),
        ("", r"ended with code 0 \(it printed nothing\)"),
    ],
)
def test_a_command_that_prints_no_key(script: str, says: str) -> None:
    client = CLIENTS[0]
    endpoint = with_command(client, "http://127.0.0.1:9", sys.executable, "-c", script)
    with pytest.raises(AuthError, match=says) as caught:
        asyncio.run(client.ask(client.model("", endpoint=endpoint)))
    assert "sk-secret" not in str(caught.value).rpartition("`")[2]


def test_a_command_that_is_none() -> None:
    client = CLIENTS[0]
    endpoint = with_command(client, "http://127.0.0.1:9", "/nowhere/at-all")
    with pytest.raises(AuthError, match="`/nowhere/at-all` cannot be run: No such file"):
        asyncio.run(client.ask(client.model("", endpoint=endpoint)))


# ---- logins that the SDK finds ----


@pytest.mark.parametrize("client", ["profile", "bedrock", "vertex", "foundry"])
def test_a_login_that_is_missing_is_named_and_nothing_is_sent(client: str, monkeypatch: pytest.MonkeyPatch) -> None:
    for name in [name for name in os.environ if name.startswith(("AWS_", "ANTHROPIC_", "GOOGLE_", "CLOUD_ML_"))]:
        monkeypatch.delenv(name)
    monkeypatch.setenv("AWS_EC2_METADATA_DISABLED", "true")
    seen = Seen()

    async def run() -> None:
        async with CLIENTS[0].serve(seen) as server:
            endpoint = Endpoint("cloud", server.url, client=client)
            await CLIENTS[0].ask(CLIENTS[0].model(server.url, endpoint=endpoint))

    with pytest.raises(AuthError, match=f'no login for the endpoint "cloud" \\({client}\\): '):
        asyncio.run(run())
    assert seen.requests == []


def test_a_login_of_a_cloud_is_used(monkeypatch: pytest.MonkeyPatch) -> None:
    """Foundry needs no package of its own: a key in its own variable is enough."""
    monkeypatch.setenv("ANTHROPIC_FOUNDRY_API_KEY", KEY)
    seen = Seen()

    async def run() -> Any:
        async with CLIENTS[0].serve(seen) as server:
            endpoint = Endpoint("cloud", server.url, client="foundry")
            return await CLIENTS[0].ask(CLIENTS[0].model(server.url, endpoint=endpoint))

    assert asyncio.run(run()).body == "Yes, and no.\n"
    assert KEY in str(seen.requests[0].headers)


# ---- what comes back ----


def test_the_answer_and_its_receipt(client: Client) -> None:
    told: list[str] = []
    spoken = client.call(Talk.answer, began=told.append)
    assert (spoken.body, spoken.asked, spoken.answered) == ("Yes, and no.\n", "m", "m-20260901")
    assert {name: getattr(spoken, name) for name in USAGE} == USAGE
    assert spoken.usd == spoken.most == pytest.approx(COST)
    assert (spoken.stop, spoken.call) == ("end_turn", "id_1")
    assert told == ["", "Yes, ", "and no.\n"], "first of all, that it has begun"


def test_an_answer_cut_at_max_tokens_is_an_answer_and_says_so(client: Client) -> None:
    spoken = client.call(lambda talk: talk.answer("Because", reason="max_tokens"))
    assert (spoken.body, spoken.stop) == ("Because", "max_tokens")


def lost(talk: Talk) -> None:
    talk.begin()
    talk.text("All of it.")
    talk.stop()


@pytest.mark.parametrize("goodbye", ["none", "closed", "reset", "an error"])
def test_an_answer_that_gave_its_reason_to_stop_is_whole(goodbye: str, client: Client) -> None:
    """It is paid for: only the end of the stream was lost."""

    async def act(talk: Talk) -> None:
        lost(talk)
        await talk.writer.drain()
        await asyncio.sleep(0.02)  # so that a reset does not overtake what was sent
        if goodbye == "closed":
            talk.writer.close()
        elif goodbye == "reset":
            talk.reset()
        else:
            if goodbye == "an error":
                talk.event(talk.error("api_error"))
            talk.chunk(b"")

    assert client.call(act).body == "All of it."


def test_an_answer_that_gave_its_reason_to_stop_is_whole_when_the_deadline_comes(client: Client) -> None:
    async def act(talk: Talk) -> None:
        lost(talk)
        await talk.silence()

    found = []
    for deadline in (0.3, 3.0, 30.0):  # a busy machine may not get as far as the reason at first
        with suppress(CallFailed):
            found.append(client.call(act, deadline=deadline))
            break
    assert [spoken.body for spoken in found] == ["All of it."]
    assert found[0].usd == pytest.approx(COST)


def test_a_stream_that_goes_on_after_its_end_is_left(client: Client) -> None:
    async def act(talk: Talk) -> None:
        talk.answer("All of it.")
        while not talk.over.is_set():
            talk.text("more")
            await talk.writer.drain()

    assert client.call(act).body == "All of it."


def test_unicode_arrives_as_it_was_sent_whatever_the_pieces(client: Client) -> None:
    text = "Café ☕ 日本語\u2028and\u0085on\r\n\tend "

    def act(talk: Talk) -> None:
        talk.begin()
        talk.text(*text)
        talk.stop()
        talk.end()

    assert client.call(act).body == text


@pytest.mark.parametrize("end", [b"\n", b"\r\n", b"\r"])
@pytest.mark.parametrize("size", [1, 2, 3, 7, 10_000])
def test_events_may_be_cut_anywhere_and_end_as_they_like(end: bytes, size: int, client: Client) -> None:
    """Comments, ids and fields that nobody knows are left out; data may stand on several lines."""
    sent: list[bytes] = []

    def act(talk: Talk) -> None:
        talk.head = lambda *_: None  # type: ignore[method-assign]
        talk.chunk = lambda data: sent.append(data.replace(b"\n", end))  # type: ignore[method-assign]
        talk.begin()
        talk.chunk(b": keep-alive\n\nid: 7\nretry: 5\n\n")
        talk.text("Yes, ", "and no.\n")
        talk.stop()
        talk.chunk(b'event: ping\ndata: {"type":\ndata: "ping"}\n\n')
        talk.end()
        body = b"".join(sent)
        del talk.head, talk.chunk
        talk.head()
        for at in range(0, len(body), size):
            talk.chunk(body[at : at + size])
        talk.chunk(b"")

    assert client.call(act).body == "Yes, and no.\n"


def test_a_long_stream_whose_blank_lines_come_in_two_pieces_is_not_cut_off(client: Client) -> None:
    async def act(talk: Talk) -> None:
        whole = talk.chunk

        def halves(data: bytes) -> None:
            whole(data[:-1])
            whole(data[-1:])

        talk.begin()
        talk.chunk = lambda data: halves(data) if data else whole(data)  # type: ignore[method-assign]
        for _ in range(30):
            talk.text("x" * 50_000)
            await talk.writer.drain()
        talk.stop()
        talk.end()

    assert len(client.call(act).body) == 1_500_000


@pytest.mark.parametrize("kind", ["text/plain", "application/octet-stream", "text/event-stream; charset=utf-8"])
def test_a_stream_is_known_by_its_events_not_by_its_type(kind: str, client: Client) -> None:
    def act(talk: Talk) -> None:
        head = talk.head
        talk.head = lambda *_: head(200, kind)  # type: ignore[method-assign]
        talk.answer()

    assert client.call(act).body == "Yes, and no.\n"


def test_events_that_come_twice_count_once(client: Client) -> None:
    """Of the text nobody could tell; the rest says the same."""

    def act(talk: Talk) -> None:
        whole = talk.event

        def twice(data: Any) -> None:
            whole(data)
            if "delta" not in str(data) or "stop_reason" in str(data):
                whole(data)

        talk.event = twice  # type: ignore[method-assign]
        talk.begin()
        talk.text("Yes.")
        talk.stop()
        talk.end()

    spoken = client.call(act)
    assert spoken.body == "Yes."
    assert spoken.usd == pytest.approx(COST)


def test_a_model_that_does_not_say_its_name_is_unknown(client: Client) -> None:
    def act(talk: Talk) -> None:
        talk.begin(model=None)
        talk.text("Yes.")
        talk.stop()
        talk.end()

    spoken = client.call(act)
    assert (spoken.body, spoken.answered, spoken.is_swapped) == ("Yes.", None, False)


def test_names_that_an_api_reports_are_made_harmless(client: Client) -> None:
    def act(talk: Talk) -> None:
        talk.begin(model="\x1b[31mm\n" + "x" * 5000, id="\x00")
        talk.text("Yes.")
        talk.stop()
        talk.end()

    spoken = client.call(act)
    assert (spoken.answered or "").startswith("m xxx")
    assert len(spoken.answered or "") == 200
    assert spoken.call is None


def test_text_in_parts_is_text() -> None:
    """As some models send it that think aloud."""
    parts = [{"type": "thinking", "thinking": [{"text": "Hm."}]}, {"type": "text", "text": "Yes."}]

    def act(talk: Talk) -> None:
        talk.begin()
        talk.text(parts)
        talk.stop()
        talk.end()

    assert CLIENTS[2].call(act).body == "Yes."


def test_an_answer_with_numbers_for_names_can_be_put_on_record(client: Client) -> None:
    def act(talk: Talk) -> None:
        talk.begin(model=7, id=[5])
        talk.text("Yes.")
        talk.stop()
        talk.end()

    spoken = client.call(act)
    assert (spoken.body, spoken.answered, spoken.call) == ("Yes.", None, None)


# ---- usage: what is told is what is billed, or it is unknown ----

ODD: tuple[Any, ...] = (-5, float("nan"), 1e300, 10**12, "12", True, [3], 12.5)


def usage(client: Client, **changed: Any) -> tuple[Any, Any]:
    """The usage of the first and of the last event."""
    told = {**USAGE, **changed}
    if client.dialect == "messages":
        return counted(told), {"output_tokens": told["output"]}
    found = in_chat(USAGE)
    found["completion_tokens"] = told["output"]
    found["prompt_tokens"] = told["input"] + 500 if type(told["input"]) is int else told["input"]
    found["prompt_tokens_details"] = {"cached_tokens": told["cache_read"], "cache_write_tokens": told["cache_write"]}
    found.pop("total_tokens")
    return None, found


def with_usage(client: Client, first: Any, last: Any) -> Callable[[Talk], None]:
    def act(talk: Talk) -> None:
        talk.begin(usage=first)
        talk.text("Yes.")
        talk.stop(usage=last)
        talk.end()

    return act


@pytest.mark.parametrize("value", ODD, ids=repr)
@pytest.mark.parametrize("name", USAGE)
def test_a_count_that_is_none_is_unknown_and_the_answer_is_kept(name: str, value: Any, client: Client) -> None:
    if client.client == "sdk" and value in ("12", True):
        return  # it takes these for numbers
    spoken = client.call(with_usage(client, *usage(client, **{name: value})))
    assert spoken.body == "Yes."
    if client.dialect == "chat" and (name, value) == ("input", -5):
        assert spoken.input is None or spoken.input >= 0
        return
    assert getattr(spoken, name) is None
    assert spoken.usd is None
    assert spoken.most == pytest.approx(((len(brief().text) + 100) * 2.5 + 8000 * 10) / 1e6)


@pytest.mark.parametrize("value", [{}, [], 5, "much"], ids=repr)
def test_no_usage_is_unknown(value: Any, client: Client) -> None:
    first = value or {"x": 1}
    spoken = client.call(with_usage(client, first, value))
    assert (spoken.body, spoken.usd, spoken.output) == ("Yes.", None, None)
    assert spoken.most is not None


def test_without_a_cache_nothing_was_read_from_it(client: Client) -> None:
    if client.dialect == "messages":
        act = with_usage(client, {"input_tokens": 7, "cache_read_input_tokens": None}, {"output_tokens": 0})
    else:
        act = with_usage(client, None, {"prompt_tokens": 7, "completion_tokens": 0})
    spoken = client.call(act)
    assert (spoken.input, spoken.output, spoken.cache_read, spoken.cache_write) == (7, 0, 0, 0)
    assert spoken.usd == pytest.approx(14e-6)


def test_a_count_that_the_end_takes_back_is_billed(client: Client) -> None:
    """Some gateways end a stream with zeros in place of what they said before."""
    first, last = usage(client)

    def act(talk: Talk) -> None:
        talk.begin(usage=first)
        talk.text("Yes.")
        talk.stop(usage=last)
        zeros = {"input_tokens": 0, "output_tokens": 0, "prompt_tokens": 0, "completion_tokens": 0}
        talk.event({"type": "message_delta", "delta": {"stop_reason": None}, "choices": [], "usage": zeros})
        talk.end()

    assert client.call(act).usd == pytest.approx(COST)


def test_thinking_that_only_the_total_counts_is_billed_too() -> None:
    told = {"prompt_tokens": 10, "completion_tokens": 5, "total_tokens": 115}
    spoken = CLIENTS[2].call(with_usage(CLIENTS[2], None, told))
    assert (spoken.input, spoken.output) == (10, 105)


def test_more_from_the_cache_than_was_sent_is_unknown() -> None:
    told = {"prompt_tokens": 10, "completion_tokens": 5, "prompt_tokens_details": {"cached_tokens": 11}}
    assert CLIENTS[2].call(with_usage(CLIENTS[2], None, told)).usd is None


def test_a_model_without_a_price_costs_an_unknown_sum(client: Client) -> None:
    async def run() -> Any:
        async with client.serve(Talk.answer) as server:
            return await client.ask(client.model(server.url, price=None))

    spoken = asyncio.run(run())
    assert (spoken.usd, spoken.most, spoken.input) == (None, None, 1000)


def test_a_server_on_this_machine_without_a_key_is_free(client: Client) -> None:
    assert client.call(Talk.answer, price=None, key="").usd == 0.0


def test_every_name_of_this_machine_is_this_machine() -> None:
    """0.0.0.0 is what OLLAMA_HOST often says."""
    here = ("localhost", "a.localhost", "127.0.0.1", "127.9.9.9", "[::1]", "0.0.0.0", "[::]")
    assert all(is_local(f"http://{host}:1/v1") for host in here)
    assert not any(is_local(f"http://{host}:1/v1") for host in ("10.0.0.1", "localhost.example", "gpu", "[::2]"))


LONG = Price(0.1, 0.5, 0.01, 0.125, long_over=100_000, long_input=0.5, long_output=2.5, long_cache_write=0.625)


@pytest.mark.parametrize("size", [10, 99_000, 99_950, 150_000])
def test_no_call_can_cost_more_than_its_bound(size: int) -> None:
    """Each byte may be a token, each of them may be written to the cache, and a long prompt costs more."""
    api = Api(fixed(CLIENTS[0].model("http://127.0.0.1:9", price=LONG)))
    limit = api.price_limit(brief("é" * (size // 2), ""))
    assert limit is not None
    for tokens in (size // 4, size):
        worst = LONG.usd(0, 8000, 0, tokens)
        assert worst is not None
        assert worst <= limit
    assert Api(fixed(CLIENTS[0].model("https://a.example", price=None))).price_limit(brief()) is None


def test_the_model_that_answered_is_compared(client: Client) -> None:
    def act(talk: Talk) -> None:
        talk.begin(model="another")
        talk.text("Yes.")
        talk.stop()
        talk.end()

    assert client.call(act).is_swapped
    assert not client.call(Talk.answer).is_swapped


# ---- connections ----


def test_calls_to_each_endpoint_wait_for_themselves() -> None:
    """A rate limit of one holds no call to another back."""
    settings = fixed(CLIENTS[0].model("http://127.0.0.1:9"), {"other": Endpoint("other", "http://127.0.0.1:10")})
    tiers = {"sonnet": {"model": "test/m"}, "haiku": {"model": "other/m"}}
    api, asked = Api(replace(settings, values={**settings.values, "tiers": tiers})), brief()
    there = replace(asked, due=replace(asked.due, step=replace(asked.due.step, tier="haiku")))
    assert (api.place(asked), api.place(there)) == ("test", "other")


def test_calls_one_after_the_other_share_a_connection(client: Client) -> None:
    async def run() -> int:
        async with client.serve(Talk.answer) as server:
            api = Api(fixed(client.model(server.url)))
            for _ in range(3):
                await api.speak(brief(), lambda _: None)
            await api.close()
            return server.connections

    assert asyncio.run(run()) == 1


def test_a_hundred_at_once(client: Client) -> None:
    """None of them answers before all have asked."""

    async def run() -> list[str]:
        everybody = asyncio.Event()

        async def act(talk: Talk) -> None:
            if len(server.requests) == 100:
                everybody.set()
            await everybody.wait()
            talk.answer()

        async with client.serve(act) as server:
            api = Api(fixed(client.model(server.url)))
            spoken = await asyncio.gather(*(api.speak(brief(), lambda _: None) for _ in range(100)))
            await api.close()
            return [one.body for one in spoken]

    assert asyncio.run(run()) == ["Yes, and no.\n"] * 100


def test_a_cancellation_goes_through_at_once_and_closes_the_connection(client: Client) -> None:
    async def run() -> None:
        begun, gone = asyncio.Event(), asyncio.Event()

        async def act(talk: Talk) -> None:
            talk.begin()
            talk.text("half")
            await talk.writer.drain()
            assert await talk.reader.read() == b""  # the client has closed the connection
            gone.set()

        async with client.serve(act) as server:
            api = Api(fixed(client.model(server.url)))
            task = asyncio.create_task(api.speak(brief(), lambda piece: begun.set() if piece else None))
            await begun.wait()
            task.cancel()
            with pytest.raises(asyncio.CancelledError):
                await task
            await gone.wait()
            await api.close()

    asyncio.run(asyncio.wait_for(run(), 30))


@pytest.mark.parametrize("error", [TimeoutError("mine"), ValueError("mine"), BrokenPipeError("mine")], ids=repr)
def test_an_error_of_the_listener_is_its_own(error: Exception, client: Client) -> None:
    def tell(_: str) -> None:
        raise error

    with pytest.raises(type(error), match="mine"):
        client.call(Talk.answer, began=tell)


def test_ipv6(client: Client) -> None:
    async def run() -> str:
        async with client.serve(Talk.answer, host="::1") as server:
            return (await client.ask(client.model(server.url))).body

    assert asyncio.run(run()) == "Yes, and no.\n"


@pytest.fixture(scope="session")
def certificate(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, Path]:
    """A certificate for localhost that nobody has signed."""
    folder = tmp_path_factory.mktemp("tls")
    names = ("-subj", "/CN=localhost", "-addext", "subjectAltName=DNS:localhost")
    files = ("-keyout", str(folder / "key.pem"), "-out", str(folder / "cert.pem"))
    command = ("openssl", "req", "-x509", "-newkey", "rsa:2048", "-nodes", "-days", "2", *names, *files)
    subprocess.run(command, check=True, capture_output=True)
    return folder / "cert.pem", folder / "key.pem"


def with_tls(client: Client, certificate: tuple[Path, Path], host: str = "localhost") -> Any:
    async def run() -> Any:
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        context.load_cert_chain(*certificate)
        async with client.serve(Talk.answer, tls=context) as server:
            return await client.ask(client.model(f"https://{host}:{server.port}"))

    return asyncio.run(run())


def test_a_certificate_that_nobody_signed_is_named_and_nothing_is_sent(
    client: Client, certificate: tuple[Path, Path]
) -> None:
    with pytest.raises(CallFailed, match="the certificate of localhost is not trusted") as caught:
        with_tls(client, certificate)
    assert (caught.value.again, caught.value.usd) == (False, 0.0)


def test_a_certificate_of_the_users_own_authority_is_trusted(
    client: Client, certificate: tuple[Path, Path], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("SSL_CERT_FILE", str(certificate[0]))
    assert with_tls(client, certificate).body == "Yes, and no.\n"
    with pytest.raises(CallFailed, match=r"the certificate of 127\.0\.0\.1 is not trusted"):
        with_tls(client, certificate, host="127.0.0.1")


def test_a_server_that_speaks_no_tls(client: Client) -> None:
    def refuse(_: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        writer.write(b"HTTP/1.1 400 Bad Request\r\n\r\n")
        writer.close()

    async def run() -> None:
        async with await asyncio.start_server(refuse, "127.0.0.1", 0) as server:
            port = server.sockets[0].getsockname()[1]
            await client.ask(client.model(f"https://127.0.0.1:{port}"))

    with pytest.raises(CallFailed, match=r"no secure connection with 127\.0\.0\.1 \(") as caught:
        asyncio.run(run())
    assert (caught.value.again, caught.value.usd) == (False, 0.0)


def test_a_server_that_is_silent_before_anything_is_sent(client: Client) -> None:
    async def run() -> None:
        async with client.serve(Talk.answer) as server:
            await client.ask(client.model(server.url.replace("http:", "https:")), stall=0.05)

    with pytest.raises(CallFailed, match="the connection to test failed: it did not answer") as caught:
        asyncio.run(run())
    assert (caught.value.again, caught.value.usd) == (True, 0.0)


def test_without_tls_no_certificate_is_read_and_nobody_is_trusted() -> None:
    plain, safe = make_client("http://127.0.0.1:9", 1.0), make_client("https://127.0.0.1:9", 1.0)

    def trusted(one: Any) -> int:
        return len(one._transport._pool._ssl_context.get_ca_certs())

    assert trusted(plain) == 0
    assert trusted(safe) > 0


def test_the_sdk_and_the_http_library_are_imported_only_where_a_call_needs_them() -> None:
    code = """if True:
        import sys
        from council.next.speakers.base import speakers
        speakers.types()
        heavy = {"anthropic", "httpx2", "click", "rich", "pydantic"} & set(sys.modules)
        sys.exit(f"imported: {heavy}" if heavy else 0)
    """
    subprocess.run([sys.executable, "-c", code], check=True)


@pytest.mark.parametrize("header", ["Mon, 01 Jan 99999 00:00:00 GMT", "", None, "1e999", "-inf", "2" * 5000, "٣"])
def test_no_retry_after_does_harm(header: str | None) -> None:
    seconds = read_wait(header)
    assert seconds is None or 0 <= seconds < float("inf")
