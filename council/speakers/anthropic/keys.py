"""The key of an endpoint, and where it came from."""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import dataclass

from council.config.models import Endpoint
from council.errors import Denied

HOME = "https://api.anthropic.com"
OWN_ENDPOINT, TOKEN = "anthropic", "ANTHROPIC_AUTH_TOKEN"  # the one endpoint that takes a bearer token too


@dataclass(frozen=True)
class Secret:
    """A key and the variable that it came from; None if the endpoint needs no key."""

    value: str
    variable: str | None = None
    bearer: bool = False

    def hide(self, text: str) -> str:
        return text.replace(self.value, "[key]") if self.variable else text


def find_key(variable: str, env: Mapping[str, str] = os.environ) -> str:
    """The key in a variable; empty if that is not set, or blank."""
    return env.get(variable, "").strip()


def read_key(endpoint: Endpoint) -> Secret:
    if endpoint.key is None:
        return Secret("none")
    token = TOKEN if endpoint.name == OWN_ENDPOINT else endpoint.key
    for variable in (endpoint.key, token):
        if value := find_key(variable):
            if not (value.isascii() and value.isprintable()):  # the HTTP library's error would quote it, whole
                wrong = "contains characters that are not valid in an API key; set it again on one line"
                raise Denied(f"{variable} {wrong}")
            return Secret(value, variable, bearer=variable != endpoint.key)
    raise Denied(f"no key for the endpoint {endpoint.name!r}: set {endpoint.key} in the environment")
