"""Who may be called: the keys of endpoints, what their models cost, and which endpoints `auto` may choose."""

from __future__ import annotations

import asyncio
import json
import os
import socket
import subprocess
from contextlib import suppress
from urllib.error import URLError
from urllib.parse import urlsplit
from urllib.request import ProxyHandler, build_opener

from council.next.config.models import Endpoint, Model, Price
from council.next.errors import AuthError
from council.next.speakers.api.http import Call, is_local
from council.next.speakers.base import Settings
from council.next.text import join_words, one_line

OWN, TOKEN = "ANTHROPIC_API_KEY", "ANTHROPIC_AUTH_TOKEN"  # without the key, Anthropic's tools take the bearer token
PATIENCE, LOOK = 30.0, 1.0  # seconds: for a command that prints a key, and for a server on this machine
MOST_LISTED = 1_000_000  # bytes
FREE = Price(0, 0, 0, 0)


def find_key(endpoint: Endpoint) -> tuple[str, str]:
    """The key, and the variable that holds it. Both are empty if the endpoint needs none, or none is set."""
    for variable in (endpoint.key, TOKEN if endpoint.key == OWN else ""):
        if value := os.environ.get(variable, "").strip():
            return value, variable
    return "", ""


async def authorize(model: Model, printed: dict[Endpoint, asyncio.Future[str]]) -> Call:
    """The call with its key: from the variable that the endpoint names, or printed by its command, which several calls
    at once ask once."""
    endpoint = model.endpoint
    if endpoint.key_command:
        if endpoint not in printed:
            printed[endpoint] = asyncio.ensure_future(asyncio.to_thread(print_key, endpoint))
        key, place = await asyncio.shield(printed[endpoint]), " ".join(endpoint.key_command)
    else:
        key, place = find_key(endpoint)
        if endpoint.key and not key:
            raise AuthError(f'no key for the endpoint "{endpoint.name}": set {endpoint.key} in the environment')
    if not (key.isascii() and key.isprintable()):  # the HTTP library's error would quote it, whole
        raise AuthError(f"{place} holds characters that are not valid in an API key; set it again on one line")
    return Call(model, key, bearer=place == TOKEN)


def print_key(endpoint: Endpoint) -> str:
    """Ask the command of an endpoint for its key. What it prints is never shown."""
    shown = " ".join(endpoint.key_command)
    try:
        ended = subprocess.run(
            endpoint.key_command, stdin=subprocess.DEVNULL, capture_output=True, timeout=PATIENCE, check=False
        )
    except (OSError, subprocess.TimeoutExpired) as failure:
        why = "it took too long" if isinstance(failure, subprocess.TimeoutExpired) else str(failure.strerror)
        raise AuthError(f'no key for the endpoint "{endpoint.name}": `{shown}` cannot be run: {why}') from None
    key = ended.stdout.decode("utf-8", "replace").strip()
    if ended.returncode or not key:
        said = one_line(ended.stderr.decode("utf-8", "replace"), 200) or "it printed nothing"
        why = f"`{shown}` ended with code {ended.returncode} ({said})"
        raise AuthError(f'no key for the endpoint "{endpoint.name}": {why}')
    return key


def find_obstacle(settings: Settings) -> str:
    """Which keys are missing of the endpoints that the tiers use, and which servers on this machine do not listen."""
    tiers: dict[Endpoint, list[str]] = {}
    silent: list[str] = []
    for tier in settings.tiers:
        endpoint = settings.model(tier).endpoint
        if endpoint.key and not (endpoint.key_command or find_key(endpoint)[0]):
            tiers.setdefault(endpoint, []).append(tier)
        elif is_silent(endpoint):
            where = f"{place_of(endpoint)}, the endpoint {endpoint.name}"
            silent.append(f"nothing answers at {where}: start its server")
    return "; ".join(dict.fromkeys(silent)) or "; ".join(
        f"{endpoint.key} is not set, which the endpoint {endpoint.name} of the tier{'s' if len(names) > 1 else ''} "
        f"{join_words(names)} needs: set it"
        for endpoint, names in tiers.items()
    )


def place_of(endpoint: Endpoint) -> str:
    """Host and port, without a password that the address may hold."""
    return urlsplit(endpoint.base_url).netloc.rpartition("@")[2]


def is_silent(endpoint: Endpoint) -> bool:
    """Whether a server on this machine does not listen. One elsewhere is not asked before it is called."""
    url = urlsplit(endpoint.base_url)
    if is_local(url.hostname or ""):
        try:
            socket.create_connection((url.hostname, url.port or 80), LOOK).close()
        except OSError:
            return True
    return False


def find_price(model: Model) -> Price | None:
    """A server on this machine asks for no money."""
    local = not model.endpoint.key and is_local(urlsplit(model.endpoint.base_url).hostname or "")
    return model.price or (FREE if local else None)


def describe_prices(settings: Settings) -> str:
    """What the tiers' models cost, as one clause."""
    prices = {model.name: find_price(model) for model in map(settings.model, settings.tiers)}
    rates = [f"{name} ${one.input:g}/${one.output:g}" for name, one in prices.items() if one and one != FREE]
    unknown = [name for name, one in prices.items() if one is None]
    if not rates and not unknown:
        return "free"
    known = [f"{', '.join(rates)} per million tokens"] if rates else []
    return ", ".join([*known, *([f"{join_words(unknown)} at an unknown price"] if unknown else [])])


def list_models(endpoint: Endpoint) -> list[str]:
    """The models of a server on this machine. None if nothing answers there."""
    root = endpoint.base_url.rstrip("/").removesuffix("/v1")
    with suppress(URLError, OSError, ValueError, LookupError, TypeError):
        with build_opener(ProxyHandler({})).open(f"{root}/v1/models", timeout=LOOK) as answer:
            found = json.loads(answer.read(MOST_LISTED))["data"]
        return [one["id"] for one in found if isinstance(one["id"], str)]
    return []
