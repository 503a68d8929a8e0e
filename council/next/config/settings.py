"""What is in force: the kit's Config.md, then the user's, the environment, a project's file and the command line.

A project's file is read only where the caller hands it in. It may set options of workflows, and limits, which it can
only lower.
"""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import dataclass, fields, replace
from functools import cached_property
from pathlib import Path
from types import MappingProxyType
from typing import Any
from urllib.parse import urlsplit

from council.next.config import keys, places
from council.next.config.models import Endpoint, Model, Price
from council.next.errors import UsageError
from council.next.schema import Table, read_markdown
from council.next.text import did_you_mean

FILE = "Config.md"
KIT_FILE = str(places.KIT / FILE)
NOTHING: Mapping[str, Any] = MappingProxyType({})
ENVIRONMENT = {"COUNCIL_HOME": "home", "COUNCIL_SPEAKER": "speaker"}
# How deep a file's values are merged with those before it. Below that they replace them: a price is one whole.
DEPTH = {"tiers": 2, "endpoints": 3, "prices": 1, "retry": 1, "notify": 1, "limits": 1, "protocols": 2}
MARK = " > "  # between the names of a place, because names contain dots and slashes


@dataclass(frozen=True)
class Retry:
    """Seconds: the first wait, the longest, and all waits of one run together."""

    first_wait: float
    most_wait: float
    budget: float


@dataclass(frozen=True)
class Settings:
    """`values` are all settings in the form of Config.md, and `sources` where each is from, by its place, such as
    `tiers > opus > model`. Workflows, personas and templates are looked up in the folders of `overlays`."""

    values: Mapping[str, Any]
    sources: Mapping[str, str]
    overlays: tuple[Path, ...]
    home: Path
    speaker: str
    endpoints: Mapping[str, Endpoint]  # in the order in which their keys are looked for
    prices: Mapping[str, Price]  # by `endpoint/model`, or by a model's name, which then holds at every endpoint
    deadline: float
    stall: float
    concurrency: int
    retry: Retry
    cache_from: float
    ask_above: float
    gates: tuple[str, ...]
    notify: Mapping[str, Any]  # how the user hears that a person is needed or that a debate has ended
    protocols: Mapping[str, Mapping[str, Any]]
    limits: Mapping[str, float]  # the lowest that any source sets

    def chosen_by(self, *place: str) -> str:
        """Who chose a setting, if the kit did not: a file, a variable or an option. Empty if nobody did."""
        source = self.sources.get(MARK.join(place), "")
        return "" if source == KIT_FILE else source

    def room(self, key: str) -> Table:
        """What the kit and the user set for an optional room, such as `benches`."""
        return Table(self.values.get(key, NOTHING), f"{FILE}: {key}")

    @property
    def tiers(self) -> tuple[str, ...]:
        return tuple(self.values["tiers"])

    @cached_property
    def with_key(self) -> tuple[str, ...]:
        """The endpoints whose key is there, or whose address is in the environment. Where no key is
        needed, an address alone chooses nothing: OLLAMA_HOST is often set for the server."""
        there = {name for name, value in os.environ.items() if value.strip()}
        return tuple(
            name
            for name, one in self.endpoints.items()
            if one.key_command or {one.key, one.token} & there or (one.key and one.address in there)
        )

    @cached_property
    def set_up(self) -> tuple[str, ...]:
        """The endpoints that the user's file sets up."""
        user_file = str(places.user_folder() / FILE)
        mine = [place.split(MARK)[:2] for place, source in self.sources.items() if source == user_file]
        return tuple(name for name in self.endpoints if ["endpoints", name] in mine)

    @property
    def usual(self) -> str:
        """The endpoint of a model that names none: of those that the user set up, else of all, the first with a key, or
        the first of them if none has one."""
        candidates = self.set_up or tuple(self.endpoints)
        return next((name for name in candidates if name in self.with_key), candidates[0])

    @property
    def configured(self) -> set[str]:
        """The endpoints that the user asked for, also by an address in the environment. Where there are any, no other
        speaker takes their place."""
        models = [one["model"] for one in self.values["tiers"].values() if "model" in one]
        addressed = [self.usual] if self.chosen_by("endpoints", self.usual, "base_url") else []
        return {*self.set_up, *addressed, *(self.split(model)[0] for model in models)}

    def model(self, tier: str) -> Model:
        """What a tier means."""
        if tier not in self.tiers:
            raise UsageError(f'{FILE} has no tier "{tier}"; {did_you_mean(tier, self.tiers)}')
        return self.named(tier)

    def named(self, word: str, tier: str = "") -> Model:
        """What `--model`, `--seat` or a session names: also a tier. The tier says how many tokens a reply may have, and
        how much the model thinks."""
        tiers: Mapping[str, Mapping[str, Any]] = self.values["tiers"]
        tier = tier or (word if word in tiers else "sonnet")
        at, name = self.split(tiers[word].get("model") or f"{self.usual}/{word}" if word in tiers else word)
        if at not in self.endpoints:
            raise UsageError(
                f'there is no endpoint "{at}" in {FILE}; {did_you_mean(at, self.endpoints)} If a slash is part of '
                f"a model's own name, put its endpoint before it, as in openrouter/{at}/MODEL"
            )
        endpoint = self.endpoints[at]
        name = endpoint.models.get(name or tier, "" if name in tiers else name)
        if not name:
            raise UsageError(
                f'the endpoint {at} has no model for the tier "{tier}"; name one, as in `--model {at}/NAME`, or set '
                f"`endpoints: {{{at}: {{models: {{{tier}: NAME}}}}}}` in {places.user_folder() / FILE}"
            )
        one = tiers.get(tier) or tiers["sonnet"]  # a session may name a tier that is gone
        effort = one.get("effort", "none") if endpoint.effort or self.chosen_by("tiers", tier, "effort") else "none"
        price = self.prices.get(f"{at}/{name}") or self.prices.get(name)
        price = price if price and price.holds() else None
        return Model(tier, endpoint, name, one.get("max_tokens", 8000), effort, price)

    def split(self, word: str) -> tuple[str, str]:
        """The endpoint and the model of `endpoint/model`, `endpoint`, a model that an endpoint lists, or any other
        model, which is then the usual endpoint's. The model is empty where the tier decides."""
        at, slash, name = word.partition("/")
        if slash or at in self.endpoints:
            return at, name
        listing = [one.name for one in self.endpoints.values() if word in one.models.values()]
        return self.usual if self.usual in listing or not listing else listing[0], word


def load(project: Path | None = None, flags: Mapping[str, Any] = NOTHING) -> Settings:
    """All settings. `project` is a project's folder whose file counts; `flags` are keys and values as in Config.md."""
    values: dict[str, Any] = {"gates": (), "notify": {}, "protocols": {}, "limits": {}}
    sources: dict[str, str] = {}
    layers = [(places.KIT / FILE, keys.KIT), (places.user_folder() / FILE, keys.USER)]
    layers += [(path, keys.PROJECT) for path in places.find(FILE, [project])] if project else []
    for path, source in layers:
        if os.path.lexists(path):  # one that cannot be read is an error: nothing else may be used in its place
            text = places.read(path)
            if not text.removeprefix("\ufeff").startswith("---\n"):
                raise UsageError(f"{path}: write the settings between two lines of three hyphens, above all other text")
            table, _ = read_markdown(text, str(path))
            merge(values, sources, keys.read(table, source), str(path))
    read_environment(values, sources)
    merge(values, sources, keys.read(Table(flags, "the command line"), keys.FLAG), "")
    made: dict[str, Any] = {
        "values": values,
        "sources": sources,
        "overlays": places.overlays(project),
        "home": places.expand(values["home"]),
        "endpoints": {name: make_endpoint(name, one, sources) for name, one in values["endpoints"].items()},
        "prices": {name: Price(**one) for name, one in values["prices"].items()},
        "deadline": min(values["deadline"], values["limits"].get("deadline", values["deadline"])),
        "retry": Retry(**values["retry"]),
    }
    made |= {one.name: values[one.name] for one in fields(Settings) if one.name not in made}
    return Settings(**made)


def read_environment(values: dict[str, Any], sources: dict[str, str]) -> None:
    for variable, key in ENVIRONMENT.items():
        if told := os.environ.get(variable, "").strip():
            values[key], sources[key] = told, variable
    for name, one in values["endpoints"].items():
        variable = one.get("address", "")
        if told := os.environ.get(variable, "").strip():
            path = one.get("address_path", "")
            one["base_url"] = keys.address(in_full(told, one.get("base_url", "")), variable).removesuffix(path) + path
            sources[MARK.join(("endpoints", name, "base_url"))] = variable


def in_full(told: str, usual: str) -> str:
    """A host alone, as in OLLAMA_HOST, gets the scheme and the port of the usual address, if that is plain http."""
    parts = urlsplit(usual)
    if "://" in told or parts.scheme != "http":
        return told
    host = f"[{told}]" if told.count(":") > 1 and "[" not in told else told
    host = f"{parts.hostname}{host}" if host.startswith(":") else host
    return f"http://{host}" if ":" in host.rpartition("]")[2] else f"http://{host}:{parts.port or 80}"


def merge(values: dict[str, Any], sources: dict[str, str], layer: Mapping[str, Any], source: str) -> None:
    """Lay the values of one source over those before it. Those of the command line are from the option of that name."""

    def lay(into: dict[str, Any], place: tuple[str, ...], value: Any, depth: int) -> None:
        name = place[-1]
        if depth and isinstance(value, Mapping):
            inner = into.setdefault(name, {})  # also where it is empty: an unknown name is refused later
            for key, one in value.items():
                lay(inner, (*place, key), one, depth - 1)
        elif place[0] != "limits" or name not in into or value < into[name]:
            into[name] = value
            sources[MARK.join(place)] = source or f"--{name.replace('_', '-')}"

    for key, value in {**layer, "tiers": spread(layer.get("tiers", {}), values.get("tiers", {}))}.items():
        lay(values, (key,), value, DEPTH.get(key, 0 if key in keys.KEYS else 1))


def spread(told: Mapping[str, Any] | str, known: Mapping[str, Any]) -> dict[str, Any]:
    """The tiers of one source. A model for every tier is one for each, and a tier's word is what it meant so far."""
    each = {tier: {"model": told} for tier in known} if isinstance(told, str) else told
    found = {}
    for tier, one in each.items():
        word = one.get("model", "")
        found[tier] = {**one, "model": known.get(word, {}).get("model", word)} if word else one
    return found


def make_endpoint(name: str, one: Mapping[str, Any], sources: Mapping[str, str]) -> Endpoint:
    address_from, client_from = (sources.get(MARK.join(("endpoints", name, key))) for key in ("base_url", "client"))
    where = f"{places.user_folder() / FILE}: endpoints: {name}"  # the kit's own have no mistakes
    if not address_from and one.get("client", "own") in ("own", "sdk"):  # the others have the address of their cloud
        raise UsageError(f"{where}: it needs a base_url")
    endpoint = Endpoint(name, **one)
    if client_from == KIT_FILE != address_from:
        endpoint = replace(endpoint, client="own")  # the kit chose a client for its own address alone
    if endpoint.client != "own" and endpoint.dialect != "messages":
        raise UsageError(f"{where}: the client {endpoint.client} speaks only the dialect messages; use own")
    return endpoint
