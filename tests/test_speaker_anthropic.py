"""The `anthropic` speaker: the real SDK over real HTTP against `tests/fakeapi.py`."""

from __future__ import annotations

import asyncio
import email.utils
import gzip
import json
import signal
import socket
import ssl
import subprocess
import sys
import time
import urllib.request
from dataclasses import replace
from unittest import mock

import httpcore2
import pytest
from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st

from council.config.models import Endpoint, Model, Price
from council.errors import NOTHING, CallFailed, Denied
from council.speakers.anthropic import AnthropicSpeaker, failures
from council.speakers.anthropic.failures import read_wait
from council.speakers.base import Brief, Spoken, Usage
from tests.fakeapi import Answer, FakeApi, Request, Rules, sequence

MANY = False
KEY = "sk-ant-test-0123456789"
PRICE = Price(input=2.0, output=10.0, cache_read=0.1, cache_write=2.5)


@pytest.fixture(autouse=True)
def environment(monkeypatch, tmp_path):
    """One key of ours, and a home where the SDK finds nothing else."""
    for name in ("ANTHROPIC_AUTH_TOKEN", "ANTHROPIC_BASE_URL", "ANTHROPIC_CUSTOM_HEADERS", "ANTHROPIC_PROFILE"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("ANTHROPIC_API_KEY", KEY)
    monkeypatch.setenv("HOME", str(tmp_path))


@pytest.fixture(autouse=True, params=[False, True], ids=["usual", "many"])
def transport(request, monkeypatch):
    """Whatever is said of the speaker is true of both transports."""
    monkeypatch.setattr(sys.modules[__name__], "MANY", request.param)


def brief_for(api: FakeApi, deadline: float = 20.0, key: str | None = "ANTHROPIC_API_KEY", **model) -> Brief:
    asked = Model("sonnet", Endpoint("anthropic", api.url, key), "claude-sonnet-5-5", price=PRICE)
    return Brief("01-positions/engineer", "engineer", "The topic. ", "Your part.", replace(asked, **model), deadline)


def speak(brief: Brief, tell=lambda _: None, stall: float = 10.0) -> Spoken:
    """One call in a loop of its own."""

    async def once() -> Spoken:
        speaker = AnthropicSpeaker(stall, MANY)
        try:
            return await speaker.speak(brief, tell)
        finally:
            await speaker.close()

    return asyncio.run(once())


# ---- what is asked ----


def test_the_request_is_what_the_brief_and_its_model_say():
    with FakeApi() as api:
        speak(brief_for(api))
    (request,) = api.requests
    assert (request.method, request.path) == ("POST", "/v1/messages")
    assert request.body == {
        "model": "claude-sonnet-5-5",
        "max_tokens": 8000,
        "messages": [
            {
                "role": "user",
                "content": [{"type": "text", "text": "The topic. "}, {"type": "text", "text": "Your part."}],
            }
        ],
        "stream": True,
        "output_config": {"effort": "low"},
    }


@pytest.mark.parametrize(("shared", "own"), [("", "Alone."), ("Alone.", ""), ("Alone.", " \n")])
def test_an_empty_part_of_a_brief_is_no_block_of_its_own(shared, own):
    with FakeApi() as api:
        speak(replace(brief_for(api), shared=shared, own=own))
    assert api.requests[0].body["messages"][0]["content"] == [{"type": "text", "text": shared + own}]


def test_a_model_without_effort_is_asked_without():
    with FakeApi() as api:
        speak(brief_for(api, effort=None, name="qwen3", max_tokens=123))
    body = api.requests[0].body
    assert "output_config" not in body
    assert (body["model"], body["max_tokens"]) == ("qwen3", 123)


def test_bytes_that_were_no_utf8_do_not_stop_a_call():
    with FakeApi() as api:
        speak(replace(brief_for(api), shared=b"caf\xe9 ".decode("utf-8", "surrogateescape"), own="é"))
    assert api.requests[0].text == "caf? é"


# ---- keys ----


def sent_with(api: FakeApi) -> str:
    return api.requests[0].headers.get("x-api-key") or api.requests[0].headers["authorization"].removeprefix("Bearer ")


@pytest.mark.parametrize(
    ("variables", "endpoint", "sent"),
    [
        ({"ANTHROPIC_API_KEY": "one"}, ("anthropic", "ANTHROPIC_API_KEY"), "one"),
        ({"ANTHROPIC_API_KEY": " one\n"}, ("anthropic", "ANTHROPIC_API_KEY"), "one"),
        ({"ANTHROPIC_API_KEY": "one", "ANTHROPIC_AUTH_TOKEN": "two"}, ("anthropic", "ANTHROPIC_API_KEY"), "one"),
        ({"ANTHROPIC_API_KEY": "", "ANTHROPIC_AUTH_TOKEN": "two"}, ("anthropic", "ANTHROPIC_API_KEY"), "two"),
        ({"OPENROUTER_API_KEY": "three"}, ("openrouter", "OPENROUTER_API_KEY"), "three"),
        ({"ANTHROPIC_AUTH_TOKEN": "two"}, ("ollama", None), "none"),
    ],
)
def test_only_the_variable_that_the_endpoint_names_is_read(variables, endpoint, sent, monkeypatch):
    for name, value in variables.items():
        monkeypatch.setenv(name, value)
    with FakeApi() as api:
        speak(brief_for(api, endpoint=Endpoint(endpoint[0], api.url, endpoint[1])))
    assert sent_with(api) == sent


def test_nothing_else_is_taken_from_the_environment_or_the_disk(monkeypatch, tmp_path):
    monkeypatch.setenv("ANTHROPIC_BASE_URL", "http://127.0.0.1:9")
    monkeypatch.setenv("ANTHROPIC_CUSTOM_HEADERS", f"authorization: Bearer {KEY}\nx-gateway: secret")
    monkeypatch.setenv("ANTHROPIC_CONFIG_DIR", str(tmp_path))
    with FakeApi() as api:
        speak(brief_for(api, key=None))
    assert sent_with(api) == "none"
    assert "x-gateway" not in api.requests[0].headers
    assert KEY not in str(api.requests[0].headers)


@pytest.mark.parametrize(("name", "key"), [("anthropic", "ANTHROPIC_API_KEY"), ("openrouter", "OPENROUTER_API_KEY")])
def test_a_missing_key_is_refused_by_the_name_of_its_variable(name, key, monkeypatch):
    monkeypatch.delenv("ANTHROPIC_API_KEY")
    with FakeApi() as api, pytest.raises(Denied, match=f"{name}.*set {key} in the environment"):
        speak(brief_for(api, endpoint=Endpoint(name, api.url, key)))
    assert api.requests == []


@pytest.mark.parametrize("key", ["sk-one\nsk-two", "sk-\u201cquoted\u201d", "sk-\x1b[0m"])
def test_a_key_that_no_header_can_carry_is_not_quoted(key, monkeypatch):
    monkeypatch.setenv("ANTHROPIC_API_KEY", key)
    with FakeApi() as api, pytest.raises(Denied, match="ANTHROPIC_API_KEY contains characters") as caught:
        speak(brief_for(api))
    assert "sk-" not in str(caught.value)


@pytest.mark.parametrize("status", [401, 500])
@pytest.mark.parametrize("fault", ["status", "error_event"])
def test_an_echoed_key_is_hidden(status, fault):
    kind = {401: "authentication_error", 500: "api_error"}[status]
    message = "x" * 280 + f" invalid key {KEY} for you"
    answer = Answer(fault=fault, status=status, error=kind, message=message)
    with FakeApi(sequence(answer)) as api, pytest.raises((Denied, CallFailed)) as caught:
        speak(brief_for(api))
    assert KEY[:8] not in str(caught.value)
    assert "[key]" in str(caught.value)
    assert caught.value.__suppress_context__


# ---- what comes back ----


def test_the_answer_and_its_receipt():
    counted = {
        "input_tokens": 1000,
        "cache_creation_input_tokens": 200,
        "cache_read_input_tokens": 300,
        "output_tokens": 50,
    }
    told: list[str] = []
    answer = Answer("Yes, and no.\n", thinking="Hm.", chunks=4, model="claude-sonnet-5-5-20260901", usage=counted)
    with FakeApi(sequence(answer)) as api:
        spoken = speak(brief_for(api), told.append)
    assert spoken == Spoken(
        "Yes, and no.\n",
        model="claude-sonnet-5-5-20260901",
        stop="end_turn",
        usage=Usage(input=1000, cache_read=300, cache_write=200, output=50),
        usd=pytest.approx((1000 * 2 + 50 * 10 + 300 * 0.1 + 200 * 2.5) / 1e6),
        call=spoken.call,
    )
    assert str(spoken.call).startswith("msg_")
    assert "".join(told) == spoken.body
    assert [bool(piece) for piece in told] == [False, True, True, True, True], "first of all, that it has begun"


@pytest.mark.parametrize("usage", [{}, {"input_tokens": 7}])
def test_missing_counts_are_unknown(usage):
    """The start of the stream says one token of output, which is not what the answer took."""
    with FakeApi(sequence(Answer(usage=usage))) as api:
        spoken = speak(brief_for(api))
    assert spoken.usage == Usage(input=usage.get("input_tokens"), output=None)
    assert spoken.usd is None


def test_counts_of_zero_are_known():
    with FakeApi(sequence(Answer(usage={"input_tokens": 0, "output_tokens": 0}))) as api:
        spoken = speak(brief_for(api))
    assert (spoken.usage, spoken.usd) == (Usage(), 0.0)


@pytest.mark.parametrize("text", ["", "I would rather"])
def test_a_refusal_is_an_absent_seat(text):
    with FakeApi(sequence(Answer(text, stop="refusal"))) as api:
        spoken = speak(brief_for(api))
    assert (spoken.body, spoken.stop, spoken.absent) == (text, "refusal", "refused by the model")


def test_an_answer_cut_at_max_tokens_is_an_answer():
    with FakeApi(sequence(Answer("Because", stop="max_tokens"))) as api:
        spoken = speak(brief_for(api))
    assert (spoken.body, spoken.stop, spoken.absent) == ("Because", "max_tokens", None)


@pytest.mark.parametrize("fault", ["no_stop", None])
def test_a_stream_that_gave_its_stop_reason_is_whole(fault):
    with FakeApi(sequence(Answer("All of it.", fault=fault))) as api:
        assert speak(brief_for(api)).body == "All of it."


def test_unicode_arrives_as_it_was_sent():
    text = "Café ☕ 日本語\u2028and\u0085on\r\n\tend "
    with FakeApi(sequence(Answer(text, chunks=9))) as api:
        assert speak(brief_for(api)).body == text


# ---- what may pass: CallFailed ----


@pytest.mark.parametrize(
    ("answer", "why"),
    [
        *[(Answer(fault="status", status=code), str(code)) for code in (408, 409, 429, 500, 502, 503, 504, 529)],
        (Answer(fault="reset"), "connection to anthropic failed"),
        (Answer(fault="reset_after_headers"), "connection to anthropic failed"),
        (Answer("one two three", chunks=3, fault="cut", after=0), "connection to anthropic failed"),
        (Answer("one two three", chunks=3, fault="cut", after=2), "connection to anthropic failed"),
        (Answer("one two three", chunks=3, fault="end", after=2), "ended its stream before the answer was complete"),
        (Answer("whole", stop=None), "ended its stream before the answer was complete"),
        (Answer(fault="html"), "did not send Messages API events: check the base_url"),
        (Answer(fault="malformed"), "an invalid Messages API event"),
        (Answer(fault="error_event", error="overloaded_error", message="Overloaded"), "Overloaded"),
        (Answer(fault="error_event", error="api_error"), "a scripted fault"),
        (Answer(fault="error_event", error="rate_limit_error"), "a scripted fault"),
        (Answer(""), "empty answer"),
        (Answer(" \n"), "empty answer"),
        (Answer("", thinking="Hm.", stop="max_tokens"), r"thinking used up max_tokens \(8000\): .* tier 'sonnet'"),
    ],
)
def test_what_may_pass(answer, why):
    with FakeApi(sequence(answer)) as api:
        with pytest.raises(CallFailed, match=why):
            speak(brief_for(api))
        assert len(api.requests) == 1, "trying again is not the speaker's business"


def test_nobody_listens():
    """On this machine, waiting does not help; and nothing was sent, so nothing was billed."""
    with FakeApi() as api:
        brief = brief_for(api)
    with pytest.raises(
        CallFailed, match=rf"nothing answers at 127.0.0.1:{api.port}.*: is its server running"
    ) as caught:
        speak(brief)
    assert (caught.value.retries, caught.value.used) == (0, NOTHING)


@pytest.mark.parametrize(("port", "name"), [(11434, "Ollama"), (1234, "LM Studio"), (9, "its server")])
def test_the_server_that_is_probably_meant_is_named(port, name):
    error = ConnectionRefusedError()
    refused = failures._unreachable(Endpoint("mine", f"http://me:secret@localhost:{port}"), "refused", error)
    assert f"is {name} running?" in str(refused)
    assert "secret" not in str(refused)


NOT_FOUND = "no address was found for far.example (are you online?)"


@pytest.mark.parametrize(
    ("error", "why", "retries"),
    [(ConnectionRefusedError(), "why", 4), (socket.gaierror(), NOT_FOUND, 4), (TimeoutError(), "why", None)],
)
def test_elsewhere_a_refusal_or_an_unknown_name_is_tried_for_seconds_only(error, why, retries):
    failure = failures._unreachable(Endpoint("far", "https://far.example"), "why", error)
    assert (str(failure), failure.retries) == (f"the connection to far failed: {why}", retries)


def test_a_certificate_that_is_not_trusted_is_no_silence():
    error = ssl.SSLCertVerificationError()
    assert str(failures._unreachable(Endpoint("near", "https://localhost"), "self-signed", error)) == (
        "the connection to near failed: self-signed"
    )


@pytest.mark.parametrize("variable", ["https_proxy", "HTTPS_PROXY", "ALL_PROXY"])
def test_a_proxy_that_does_not_answer_is_named_without_its_password(variable, monkeypatch):
    far, error = Endpoint("far", "https://far.example"), ConnectionRefusedError()
    monkeypatch.setenv(variable, "http://me:secret@127.0.0.1:3128")
    failure = failures._unreachable(far, "refused", error)
    assert (str(failure), failure.retries) == (
        f"nothing answers at 127.0.0.1:3128, the proxy in {variable}: is it running?", 0,
    )  # fmt: skip
    monkeypatch.setenv(variable, "me:secret@proxy.example:3128")
    assert str(failures._unreachable(far, "refused", error)) == (
        f"the connection to far failed through the proxy in {variable}: refused"
    )
    assert "no address was found for proxy.example" in str(failures._unreachable(far, "", socket.gaierror()))
    monkeypatch.setenv("NO_PROXY", "far.example")
    assert str(failures._unreachable(far, "refused", error)) == "the connection to far failed: refused"


@pytest.mark.parametrize("answer", [Answer(latency=60), Answer("one two", chunks=2, fault="stall")])
def test_a_silence_is_borne_for_so_long(answer):
    with FakeApi(sequence(answer)) as api, pytest.raises(CallFailed, match="anthropic did not send anything"):
        speak(brief_for(api), stall=0.1)


def test_only_silence_counts_not_length():
    with FakeApi(sequence(Answer("one two three four five", chunks=5, delay=0.4))) as api:
        assert speak(brief_for(api), stall=1.5).body == "one two three four five"


@pytest.mark.parametrize("answer", [Answer(latency=60), Answer("long" * 1000, chunks=4000, delay=0.02)])
def test_the_deadline_holds_whatever_comes(answer):
    began = time.monotonic()
    with FakeApi(sequence(answer)) as api, pytest.raises(CallFailed, match=r"deadline of 0\.2 s"):
        speak(brief_for(api, deadline=0.2))
    assert time.monotonic() - began < 30


def test_a_web_page_of_an_error_is_one_short_line():
    answer = Answer(fault="status", status=502, message="<p>Bad\ngateway</p>\n" * 1000)
    with FakeApi(sequence(answer)) as api, pytest.raises(CallFailed) as caught:
        speak(brief_for(api))
    assert "\n" not in str(caught.value)
    assert len(str(caught.value)) < 400


@pytest.mark.parametrize(
    ("header", "seconds"), [("7", 7.0), ("0.05", 0.05), ("-3", 0.0), ("soon", None), ("nan", None), (None, None)]
)
def test_retry_after_is_handed_on(header, seconds):
    answer = Answer(fault="status", status=429, retry_after=header)
    with FakeApi(sequence(answer)) as api, pytest.raises(CallFailed) as caught:
        speak(brief_for(api))
    assert caught.value.retry_after == seconds


def test_retry_after_may_be_a_date():
    assert read_wait(email.utils.formatdate(time.time() + 100, usegmt=True)) == pytest.approx(100, abs=5)
    assert read_wait(email.utils.formatdate(time.time() - 100, usegmt=True)) == 0


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture])  # the environment fixture changes nothing here
@given(st.text() | st.from_regex(r"\w{3}, \d+ (Jan|Feb|Dec) \d+ \d+:\d+:\d+ (GMT|[+-]\d+)", fullmatch=True))
@example("Mon, 01 Jan 99999 00:00:00 GMT")
def test_no_retry_after_does_harm(header):
    seconds = read_wait(header)
    assert seconds is None or 0 <= seconds < float("inf")


# ---- what will not pass: Denied ----


@pytest.mark.parametrize("fault", ["status", "error_event"])
@pytest.mark.parametrize(
    ("status", "kind", "names"),
    [
        (400, "invalid_request_error", ["claude-sonnet-5-5", "effort", "max_tokens", "tier 'sonnet'"]),
        (401, "authentication_error", ["ANTHROPIC_API_KEY", "endpoint 'anthropic'"]),
        (402, "billing_error", ["ANTHROPIC_API_KEY", "credit"]),
        (403, "permission_error", ["ANTHROPIC_API_KEY", "tier 'sonnet'"]),
        (404, "not_found_error", ["claude-sonnet-5-5", "tier 'sonnet'", "endpoint 'anthropic'", "base_url"]),
        (413, "request_too_large", ["too long", "tier 'sonnet'"]),
    ],
)
def test_what_will_not_pass_names_the_setting(status, kind, names, fault):
    for said in ("what the API said", "what the API said."):
        answer = Answer(fault=fault, status=status, error=kind, message=said)
        with FakeApi(sequence(answer)) as api, pytest.raises(Denied) as caught:
            speak(brief_for(api))
        for part in (f"anthropic answered {status}: what the API said. ", *names):
            assert part in str(caught.value)


@pytest.mark.parametrize("status", [405, 422])
def test_any_other_4xx_will_be_said_again(status):
    with FakeApi(sequence(Answer(fault="status", status=status))) as api, pytest.raises(Denied, match="Check model"):
        speak(brief_for(api))


def test_an_endpoint_that_wants_a_key_after_all():
    with (
        FakeApi(sequence(Answer(fault="status", status=401))) as api,
        pytest.raises(Denied, match="called with no key"),
    ):
        speak(brief_for(api, key=None))


# ---- an endpoint that misbehaves ----

BOMB = gzip.compress(b"A" * 50_000_000)


def body(data: bytes, status: int = 200, **headers: str) -> Answer:
    return Answer(fault="body", status=status, body=data, headers=tuple(headers.items()))


def test_a_redirect_is_not_followed():
    """It would carry the whole brief to another host."""
    with FakeApi() as other:
        away = Answer(fault="status", status=307, location=f"{other.url}/v1/messages")
        with FakeApi(sequence(away)) as api, pytest.raises(Denied, match="redirects to another address"):
            speak(brief_for(api))
        assert (len(api.requests), other.requests) == (1, [])


@pytest.mark.parametrize("status", [200, 400, 500])
def test_a_body_that_was_compressed_unasked_is_not_unpacked(status):
    with FakeApi(sequence(body(BOMB, status, content_encoding="gzip"))) as api:
        with pytest.raises(CallFailed, match=r"compressed \(gzip\)"):
            speak(brief_for(api))
        assert api.requests[0].headers["accept-encoding"] == "identity"


def test_of_an_error_only_the_beginning_is_read():
    with FakeApi(sequence(body(b"<html>" + b"A" * 5_000_000, 400))) as api, pytest.raises(Denied, match="answered 400"):
        speak(brief_for(api))


EVENT = b'event: ping\ndata: {"type": "ping", "pad": "' + b"A" * 900_000 + b'"}\n\n'


@pytest.mark.parametrize("data", [b"data: " + b"A" * 3_000_000, b"data: A\n" * 130_000, EVENT * 20])
def test_a_stream_without_end_is_cut_off(data):
    with FakeApi(sequence(body(data))) as api, pytest.raises(CallFailed, match="it sent more than"):
        speak(brief_for(api), stall=30)


def test_an_answer_with_numbers_for_names_can_be_put_on_record():
    """It is paid for, and a receipt with a number for a name could not be read again."""
    message = {"type": "message", "role": "assistant", "id": 5, "model": 7, "content": [], "usage": {}}
    block = {"index": 0, "content_block": {"type": "text", "text": "Yes."}}
    told = [
        {"type": "message_start", "message": message},
        {"type": "content_block_start", **block},
        {"type": "message_delta", "delta": {"stop_reason": 1}, "usage": {"output_tokens": 3}},
        {"type": "message_stop"},
    ]
    data = "".join(f"event: {event['type']}\ndata: {json.dumps(event)}\n\n" for event in told).encode()
    with FakeApi(sequence(body(data))) as api:
        spoken = speak(brief_for(api))
    assert (spoken.body, spoken.call, spoken.model, spoken.stop) == ("Yes.", None, None, "1")


@pytest.mark.parametrize(
    ("answer", "usd"),
    [
        (Answer(fault="status", status=429), 0.0),
        (Answer(fault="status", status=503), 0.0),
        (Answer(fault="status", status=529), 0.0),
        (Answer(fault="status", status=500), None),
        (Answer(fault="status", status=504), None),
        (Answer(fault="status", status=408), None),
        (Answer(fault="reset"), None),
        (Answer(fault="html"), None),
        (Answer("one two", chunks=2, fault="cut"), None),
        (Answer("", usage={"input_tokens": 1000, "output_tokens": 100}), 0.003),
        (Answer("", usage={"input_tokens": 1000, "output_tokens": 100}, stop="max_tokens"), 0.003),
        (Answer("", usage={"input_tokens": 1000}), None),
    ],
)
def test_a_call_that_fails_says_what_it_cost(answer, usd):
    with FakeApi(sequence(answer)) as api, pytest.raises(CallFailed) as caught:
        speak(brief_for(api))
    assert caught.value.used["usd"] == usd


# ---- whose errors are whose, cancellation, clients ----


@pytest.mark.parametrize("error", [TimeoutError("mine"), ValueError("mine"), BrokenPipeError("mine")])
def test_an_error_of_the_listener_is_its_own(error):
    def tell(_: str) -> None:
        raise error

    with FakeApi() as api, pytest.raises(type(error), match="mine"):
        speak(brief_for(api), tell)


@pytest.mark.parametrize("answer", [Answer(latency=60), Answer("one two", chunks=2, fault="stall")])
def test_cancellation_goes_through_at_once(answer):
    async def cancelled() -> float:
        speaker, loop, under_way = AnthropicSpeaker(many=MANY), asyncio.get_running_loop(), asyncio.Event()

        def respond(_: Request) -> Answer:
            if answer.latency:
                loop.call_soon_threadsafe(under_way.set)
            return answer

        api.responder = respond
        task = asyncio.create_task(speaker.speak(brief_for(api), lambda _: under_way.set()))
        await under_way.wait()
        began = time.monotonic()
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task
        await speaker.close()
        return time.monotonic() - began

    with FakeApi() as api:
        assert asyncio.run(cancelled()) < 30


def test_an_endpoint_has_one_client_for_all_its_calls():
    async def many() -> tuple[int, int]:
        speaker = AnthropicSpeaker(many=MANY)
        briefs = [brief_for(api) for _ in range(8)] + [brief_for(api, endpoint=Endpoint("other", api.url))]
        spoken = await asyncio.gather(*(speaker.speak(brief, lambda _: None) for brief in briefs))
        clients = len(speaker._clients)
        await speaker.close()
        return len(spoken), clients

    with FakeApi() as api:
        assert asyncio.run(many()) == (9, 2)


def test_certificates_are_read_only_where_there_is_tls_and_elsewhere_nobody_is_trusted():
    with mock.patch("httpcore2.default_ssl_context", wraps=httpcore2.default_ssl_context) as trusted:
        with FakeApi() as api:
            speak(brief_for(api))
        assert not trusted.called
        endpoint = replace(brief_for(api).model.endpoint, base_url=api.url.replace("http://", "HTTPS://"))
        with pytest.raises(CallFailed):
            speak(brief_for(api, endpoint=endpoint))
        assert trusted.called


def test_the_sdk_is_imported_only_where_it_speaks():
    code = "import sys, council.speakers.anthropic; sys.exit('anthropic' in sys.modules or 'httpx2' in sys.modules)"
    subprocess.run([sys.executable, "-c", code], check=True)


# ---- the fake itself ----


def test_faults_come_first_and_for_each_prompt_by_itself():
    fault = {"fault": "status", "status": 429, "retry_after": "0.05", "times": 2}
    rules = Rules([{"match": "topic", "text": "On it.", "faults": [fault]}, {"text": "Anything."}])
    with FakeApi(rules) as api:
        other = replace(brief_for(api), shared="Else. ")
        for _ in range(2):
            with pytest.raises(CallFailed):
                speak(brief_for(api))
        assert speak(brief_for(api)).body == "On it."
        assert speak(other).body == "Anything."


def test_the_fake_as_a_process(tmp_path):
    port, log, replies = tmp_path / "port", tmp_path / "log.jsonl", tmp_path / "replies.json"
    replies.write_text(json.dumps([{"match": "topic", "text": "On it."}]))
    options = ["--port-file", str(port), "--log", str(log), "--replies", str(replies)]
    process = subprocess.Popen([sys.executable, "-m", "tests.fakeapi", *options])
    try:
        while not port.exists():
            assert process.poll() is None
            time.sleep(0.01)
        url = f"http://127.0.0.1:{port.read_text()}"
        asked = {"model": "m", "messages": [{"role": "user", "content": "the topic"}]}
        with urllib.request.urlopen(f"{url}/v1/messages", json.dumps(asked).encode()) as answer:
            assert json.load(answer)["content"] == [{"type": "text", "text": "On it."}]
    finally:
        process.send_signal(signal.SIGTERM)
        assert process.wait(10) == 0
    (line,) = log.read_text().splitlines()
    assert json.loads(line)["text"] == "the topic"
