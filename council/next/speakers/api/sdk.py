"""The same calls by Anthropic's SDK: the usual client for Anthropic's own address, and the only one for Bedrock,
Vertex, Foundry and profiles, whose logins it knows.

It is given our HTTP client, so proxies, certificates, bounds and redirects are the same; and it retries nothing.
"""

from __future__ import annotations

from collections.abc import AsyncGenerator, Mapping
from typing import TYPE_CHECKING, Any

from council.next.config.models import Endpoint
from council.next.errors import AuthError
from council.next.speakers.api.http import Call, broken, read_refusal

if TYPE_CHECKING:
    import anthropic
    import httpx2

# The clients that find a login by themselves, by what `client` says in Config.md.
LOGINS = {
    "profile": "AsyncAnthropic",
    "bedrock": "AsyncAnthropicBedrock",
    "vertex": "AsyncAnthropicVertex",
    "foundry": "AsyncAnthropicFoundry",
}


def make_client(http: httpx2.AsyncClient, call: Call) -> Any:
    """Nothing else is taken from the environment or from disk than the login that `client` names."""
    import anthropic

    endpoint = call.model.endpoint
    usual: dict[str, Any] = {"max_retries": 0, "timeout": http.timeout, "http_client": http, "open_telemetry": False}
    if endpoint.base_url:
        usual["base_url"] = endpoint.base_url
    if endpoint.client in LOGINS:
        client = getattr(anthropic, LOGINS[endpoint.client])(**usual)
    else:
        key: dict[str, Any] = {"auth_token": call.key} if call.bearer else {"api_key": call.key or "none"}
        client = anthropic.AsyncAnthropic(**key, **usual)
    # Else ANTHROPIC_CUSTOM_HEADERS, which may hold credentials, would go to every endpoint; there is no other switch.
    client._custom_headers = {"Accept-Encoding": "identity"}  # noqa: SLF001
    return client


async def events(
    clients: dict[Endpoint, Any], http: httpx2.AsyncClient, body: Mapping[str, Any], call: Call
) -> AsyncGenerator[Any, None]:
    """The events of one streamed call as plain data. Raises what a failure means."""
    import anthropic
    import httpx2

    endpoint = call.model.endpoint
    try:
        try:
            if endpoint not in clients:  # it keeps a login's token
                clients[endpoint] = make_client(http, call)
            stream: anthropic.AsyncStream[Any] = await clients[endpoint].messages.create(**body)
        except (TypeError, ValueError, RuntimeError, anthropic.AnthropicError) as lost:
            if isinstance(lost, anthropic.APIError):
                raise
            why = call.hide(lost)  # no login was found, or the package that finds it is not installed
            raise AuthError(f'no login for the endpoint "{call.at}" ({endpoint.client}): {why}') from None
        async with stream:
            async for event in stream:
                yield event.model_dump(warnings=False) if hasattr(event, "model_dump") else event
    except anthropic.APIStatusError as error:
        if error.status_code == 200:  # an error inside the stream
            yield error.body if isinstance(error.body, dict) else {"error": error.body or str(error)}
            return
        raise read_refusal(error.response, call) from None
    except (anthropic.APIError, httpx2.HTTPError, httpx2.StreamError, OSError, ValueError, RecursionError) as error:
        cause = error.__cause__ if isinstance(error, anthropic.APIError) else None
        raise broken(cause or error, call) from None
