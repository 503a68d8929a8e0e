"""Errors of the SDK and its HTTP library as CallFailed or Denied: may a retry help, and what did the call use?"""

from __future__ import annotations

import math
import os
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from socket import gaierror
from ssl import SSLCertVerificationError
from typing import TYPE_CHECKING
from urllib.parse import urlsplit

from council.config.models import Endpoint, Model
from council.errors import NOTHING, UNKNOWN, CallFailed, Denied, Used
from council.speakers.anthropic.answer import ONCE, StreamedAnswer
from council.speakers.anthropic.keys import HOME, Secret
from council.speakers.base import used

if TYPE_CHECKING:
    import anthropic

PASSING = {408, 409, 425, 429, 499}  # any other 4xx would fail again
UNANSWERED = {408, 499, *range(500, 600)} - {503, 529}  # a proxy may say so of a call that a model did answer
SERVERS = {11434: "Ollama", 1234: "LM Studio", 8080: "llama.cpp", 8000: "vLLM"}  # by their usual ports
REFUSALS = 4  # times that a refused connection is tried again: some fifteen seconds
FINAL = {  # the type of an error event, and the status that it would have had
    "invalid_request_error": 400,
    "authentication_error": 401,
    "billing_error": 402,
    "permission_error": 403,
    "not_found_error": 404,
    "request_too_large": 413,
}


@contextmanager
def api_errors(model: Model, secret: Secret, answer: StreamedAnswer | None = None) -> Iterator[None]:
    """Turn what the SDK and its HTTP library raise into CallFailed or Denied, without the key.

    An answer with a stop reason is complete and paid for: only the end of the stream was lost.
    """
    import anthropic
    import httpx2

    try:
        yield
    except (anthropic.AnthropicError, httpx2.HTTPError, ValueError, TypeError, AttributeError) as error:
        if answer is None or answer.stop is None:
            raise _failure(error, model, secret, answer) from None
        answer.piece, answer.over = "", True


def _failure(error: Exception, model: Model, secret: Secret, answer: StreamedAnswer | None) -> CallFailed | Denied:
    """What went wrong, in a sentence, and what the call used as far as it was reported."""
    import anthropic
    import httpx2

    endpoint, cause = model.endpoint, error.__cause__ or error
    spent = used(answer.usage, None) if answer else UNKNOWN
    if isinstance(error, anthropic.APIStatusError):
        return _verdict(error, model, secret, spent)
    if unsent := _find_unsent(cause):
        return _unreachable(endpoint, _short(secret.hide(str(cause))), unsent)
    if isinstance(error, anthropic.APITimeoutError | httpx2.TimeoutException):
        return CallFailed(f"{endpoint.name} did not send anything for too long", used=spent)
    if isinstance(error, anthropic.AnthropicError | httpx2.HTTPError):
        why = f"the connection to {endpoint.name} failed{_via(endpoint)}: {_short(secret.hide(str(cause)))}"
        return CallFailed(why, retries=ONCE if isinstance(cause, httpx2.DecodingError) else None, used=spent)
    why = f"{endpoint.name} sent an invalid Messages API event ({type(error).__name__})"
    return CallFailed(why, retries=ONCE, used=spent)


def _find_unsent(error: BaseException | None) -> BaseException | None:
    """Why it is certain that nothing was sent, if it is. A transport may call a connection that was cut a failed one
    too."""
    import httpx2

    certain = (ConnectionRefusedError, gaierror, SSLCertVerificationError, httpx2.ConnectTimeout)
    while error is not None and not isinstance(error, certain):
        several = error.exceptions if isinstance(error, BaseExceptionGroup) else ()
        error = several[0] if several else error.__cause__ or error.__context__
    return error


def _unreachable(endpoint: Endpoint, why: str, unsent: BaseException) -> CallFailed:
    """Nothing was sent. On this machine, a server that does not listen will not begin to while we wait; elsewhere, one
    that refuses, or a name that is not found, may be back in seconds, or needs another network or setting.
    """
    proxy = _find_proxy(endpoint)
    variable, url = proxy or ("", endpoint.base_url or HOME)
    address = urlsplit(url if "://" in url else f"http://{url}")
    host, port = address.hostname or "", address.port or {"http": 80, "https": 443}.get(address.scheme, 1080)
    failed = f"the connection to {endpoint.name} failed{_via(endpoint)}"
    if isinstance(unsent, gaierror):
        online = f"no address was found for {host} (are you online?)"
        return CallFailed(f"{failed}: {online}", retries=REFUSALS, used=NOTHING)
    refused = isinstance(unsent, ConnectionRefusedError)
    if isinstance(unsent, SSLCertVerificationError) or not (host in ("localhost", "::1") or host.startswith("127.")):
        return CallFailed(f"{failed}: {why}", retries=REFUSALS if refused else None, used=NOTHING)
    server = "it" if proxy else SERVERS.get(port, "its server")
    what = f"the proxy in {variable}" if proxy else f"the base_url of the endpoint {endpoint.name!r}"
    return CallFailed(f"nothing answers at {host}:{port}, {what}: is {server} running?", retries=0, used=NOTHING)


def _via(endpoint: Endpoint) -> str:
    """` through the proxy in HTTPS_PROXY`, without its address, which may hold a password; empty without a proxy."""
    proxy = _find_proxy(endpoint)
    return f" through the proxy in {proxy[0]}" if proxy else ""


def _find_proxy(endpoint: Endpoint) -> tuple[str, str] | None:
    """The environment variable that sends calls to this endpoint through a proxy, and its value."""
    from urllib.request import proxy_bypass

    address = urlsplit(endpoint.base_url or HOME)
    if proxy_bypass(address.hostname or ""):
        return None
    names = (f"{address.scheme}_proxy", f"{address.scheme}_proxy".upper(), "all_proxy", "ALL_PROXY")
    return next(((name, value) for name in names if (value := os.environ.get(name))), None)


def _verdict(error: anthropic.APIStatusError, model: Model, secret: Secret, spent: Used) -> CallFailed | Denied:
    """Whether a retry may help. An error event comes with status 200 and is judged by its type."""
    event = error.status_code == 200
    status = FINAL.get(str(error.type), 500) if event else error.status_code
    if not event and status not in UNANSWERED:
        spent = NOTHING  # refused
    words = f"{model.endpoint.name} answered {status}: {_short(secret.hide(str(error.api_message or error.message)))}"
    if 300 <= status < 400:
        return Denied(f"{model.endpoint.name} redirects to another address: correct the base_url of this endpoint")
    if status in PASSING or not 400 <= status < 500:
        return CallFailed(words, read_wait(error.response.headers.get("retry-after")), used=spent)
    return Denied(f"{words.rstrip('.')}. {_advice(status, model, secret)}", spent)


def _advice(status: int, model: Model, secret: Secret) -> str:
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


def read_wait(header: str | None) -> float | None:
    """Retry-After, which may be seconds, a date or invalid; None if it is missing or invalid."""
    import email.utils

    with suppress(ValueError):
        seconds = float(header or "")
        return max(0.0, seconds) if math.isfinite(seconds) else None
    with suppress(ValueError, OverflowError):
        return max(0.0, email.utils.parsedate_to_datetime(header or "").timestamp() - time.time())
    return None
