"""What is in force: the kit's Config.md, then the user's, the environment, a project's file and the command line.

A project's file is read only where the caller hands it in. It may set options of workflows, and limits, which it can
only lower.
"""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import dataclass, replace
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
NOTHING: Mapping[str, Any] = MappingProxyType({})
ENVIRONMENT = {"COUNCIL_HOME": "home", "COUNCIL_SPEAKER": "speaker"}
# How deep a file's values are merged with those before it. Below that they replace them: a price is one whole.
DEPTH = {"tiers": 2, "endpoints": 3, "prices": 1, "retry": 1, "notify": 1, "limits": 1, "protocols": 2}
OWN_NAMES = 1  # the depth of a room's setting
HERE = ("localhost", "127.0.0.1", "::1")
MARK = " > "  # between the names of a place, because names contain dots and slashes


@dataclass(frozen=True)
class Retry:
    """Seconds: the first wait, the longest, and all waits of one run together."""

    first_wait: float
    most_wait: float
    budget: float


@dataclass(frozen=True)
class Notify:
    """How the user hears that a person is needed or that a debate has ended. No shell reads `command`. Without
    `content`, no word of the debate leaves the machine."""

    bell: bool = False
    command: tuple[str, ...] = ()
    webhook: str = ""
    content: bool = False


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
    notify: Notify
    protocols: Mapping[str, Mapping[str, Any]]
    limits: Mapping[str, float]  # the lowest that any source sets

    def chosen_by(self, *place: str) -> str:
        """Who chose a setting, if the kit did not: a file, a variable or an option. Empty if nobody did."""
        source = self.sources.get(MARK.join(place), "")
        return "" if source == str(kit_file()) else source

    def room(self, key: str) -> Table:
        """What the kit and the user set for an optional room, such as `benches`."""
        return Table(self.values.get(key, NOTHING), f"{FILE}: {key}")

    @property
    def tiers(self) -> tuple[str, ...]:
        return tuple(self.values["tiers"])

    @cached_property
    def with_key(self) -> tuple[str, ...]:
        """The endpoints whose key is there, or whose address is in the environment."""
        return tuple(
            name
            for name, one in self.endpoints.items()
            if one.key_command or any(os.environ.get(variable, "").strip() for variable in (one.key, one.address))
        )

    @cached_property
    def set_up(self) -> tuple[str, ...]:
        """The endpoints that the user's file sets up."""
        mine = str(places.user_folder() / FILE)
        places_of_mine = [place.split(MARK) for place, source in self.sources.items() if source == mine]
        named = [place[1] for place in places_of_mine if place[0] == "endpoints"]
        return tuple(name for name in self.endpoints if name in named)

    @property
    def usual(self) -> str:
        """The endpoint of a model that names none: of those that the user set up, else of all, the first with a key, or
        the first of them if none has one."""
        candidates = self.set_up or tuple(self.endpoints)
        return next((name for name in candidates if name in self.with_key), candidates[0])

    @property
    def configured(self) -> set[str]:
        """The endpoints that the user asked for. Where there are any, no other speaker takes their place."""
        own = [tier for tier in self.tiers if self.chosen_by("tiers", tier, "model")]
        return {*self.set_up, *(self.model(tier).endpoint.name for tier in own)}

    def model(self, tier: str) -> Model:
        """What a tier means."""
        if tier not in self.tiers:
            raise UsageError(f'{FILE} has no tier "{tier}"; {did_you_mean(tier, self.tiers)}')
        return self.named(self.values["tiers"][tier].get("model") or f"{self.usual}/", tier)

    def named(self, word: str, tier: str = "") -> Model:
        """What `--model`, `--seat` or a session names: a model or a tier's word, with or without `endpoint/` before it.
        The tier says how many tokens a reply may have, and how much the model thinks."""
        tiers: Mapping[str, Mapping[str, Any]] = self.values["tiers"]
        tier = tier or (word if word in tiers else "sonnet")
        at, slash, name = (tiers.get(word, NOTHING).get("model") or word).partition("/")
        if not slash:
            at, name = self.endpoint_of(at), at
        endpoint = self.endpoint(at)
        name = endpoint.models.get(name or tier, name)
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

    def endpoint_of(self, model: str) -> str:
        """Where a model is called that names no endpoint: one that lists it, if possible the usual one."""
        listing = [one.name for one in self.endpoints.values() if model in one.models.values()]
        return self.usual if self.usual in listing or not listing else listing[0]

    def endpoint(self, name: str) -> Endpoint:
        if name not in self.endpoints:
            raise UsageError(
                f'there is no endpoint "{name}" in {FILE}; {did_you_mean(name, self.endpoints)} If a slash is part of '
                f"a model's own name, put its endpoint before it, as in openrouter/{name}/MODEL"
            )
        return self.endpoints[name]


def kit_file() -> Path:
    return places.KIT / FILE


def load(project: Path | None = None, flags: Mapping[str, Any] = NOTHING) -> Settings:
    """All settings. `project` is a project's folder whose file counts; `flags` are keys and values as in Config.md."""
    values: dict[str, Any] = {}
    sources: dict[str, str] = {}
    user_file = places.user_folder() / FILE
    merge(values, sources, read_file(kit_file(), keys.KIT, NOTHING), str(kit_file()))
    if places.is_file(user_file):
        merge(values, sources, read_file(user_file, keys.USER, values["tiers"]), str(user_file))
    read_environment(values, sources)
    if project is not None and places.is_file(project / FILE):
        path = places.obeyed(project / FILE, project)
        merge(values, sources, read_file(path, keys.PROJECT, NOTHING), str(path))
    given = Table(with_tiers(flags, values["tiers"]), "the command line")
    merge(values, sources, keys.check(given, keys.FLAG), "")
    plain = ("speaker", "stall", "concurrency", "cache_from", "ask_above")
    return Settings(
        values=values,
        sources=sources,
        overlays=places.overlays(project),
        home=places.expand(values["home"]),
        deadline=min(values["deadline"], values.get("limits", NOTHING).get("deadline", values["deadline"])),
        endpoints={name: make_endpoint(name, one, sources) for name, one in values["endpoints"].items()},
        prices={name: make_price(name, one) for name, one in values["prices"].items()},
        retry=Retry(**values["retry"]),
        gates=tuple(values.get("gates", ())),
        notify=make_notify(values.get("notify", NOTHING)),
        protocols=values.get("protocols", NOTHING),
        limits=values.get("limits", NOTHING),
        **{key: values[key] for key in plain},
    )


def read_file(path: Path, source: str, tiers: Mapping[str, Any]) -> dict[str, Any]:
    table, _ = read_markdown(places.read(path), str(path))
    return keys.check(Table(with_tiers(table.values, tiers), str(path)), source)


def with_tiers(values: Mapping[str, Any], tiers: Mapping[str, Any]) -> dict[str, Any]:
    """The values with each tier in its long form. `tiers: NAME` is one model for all, `tiers: {opus: NAME}` is a model
    as `--model` takes it, and an endpoint is a part of the model's name."""
    told = values.get("tiers", {})
    if isinstance(told, str):
        told = dict.fromkeys(tiers, told)
    if not isinstance(told, Mapping) or not told:
        return dict(values)
    long = {
        tier: {"model": tiers.get(one, NOTHING).get("model", one)} if isinstance(one, str) else one
        for tier, one in told.items()
    }
    for tier, one in long.items():
        if isinstance(one, Mapping) and isinstance(one.get("endpoint"), str):
            name = {"model": f"{one['endpoint']}/{one.get('model', '')}"}
            long[tier] = {key: value for key, value in one.items() if key != "endpoint"} | name
    return {**values, "tiers": long}


def read_environment(values: dict[str, Any], sources: dict[str, str]) -> None:
    for variable, key in ENVIRONMENT.items():
        if told := os.environ.get(variable, "").strip():
            values[key], sources[key] = told, variable
    for name, one in values["endpoints"].items():
        if told := os.environ.get(one.get("address", ""), "").strip():
            one["base_url"] = told
            sources[MARK.join(("endpoints", name, "base_url"))] = one["address"]


def merge(values: dict[str, Any], sources: dict[str, str], layer: Mapping[str, Any], source: str) -> None:
    """Lay the values of one source over those before it. Those of the command line are from the option of that name."""

    def lay(into: dict[str, Any], place: tuple[str, ...], value: Any, depth: int) -> None:
        name = place[-1]
        if depth and isinstance(value, Mapping):
            for key, one in value.items():
                lay(into.setdefault(name, {}), (*place, key), one, depth - 1)
        elif place[0] != "limits" or name not in into or value < into[name]:
            into[name] = value
            sources[MARK.join(place)] = source or f"--{name.replace('_', '-')}"

    for key, value in layer.items():
        lay(values, (key,), value, DEPTH.get(key, 0 if key in keys.SHAPES else OWN_NAMES))


def make_endpoint(name: str, one: Mapping[str, Any], sources: Mapping[str, str]) -> Endpoint:
    """The kit's own endpoints have no mistakes, so an error is about the user's file or a variable."""
    user_file = str(places.user_folder() / FILE)
    where = f"{user_file}: endpoints: {name}"
    address_from, client_from = (sources.get(MARK.join(("endpoints", name, key))) for key in ("base_url", "client"))
    endpoint = Endpoint(name, **{**one, "key_command": tuple(one.get("key_command", ()))})
    if client_from == str(kit_file()) != address_from:
        endpoint = replace(endpoint, client="own")  # the kit chose a client for its own address alone
    if endpoint.client == "sdk" and endpoint.dialect != "messages":
        raise UsageError(f"{where}: the client sdk speaks only the dialect messages; use own")
    if endpoint.key and not endpoint.key.isidentifier():
        raise UsageError(f"{where}: key: write the name of a variable, and never the key itself")
    base_url = keys.check_address(endpoint.base_url, f"{address_from or user_file}: endpoints: {name}: base_url")
    return replace(endpoint, base_url=base_url)


def make_price(name: str, one: Mapping[str, Any]) -> Price:
    if not {"input", "output"} <= {*one}:
        where = f"{places.user_folder() / FILE}: prices: {name}"
        raise UsageError(f"{where}: it needs input and output, in US dollars per million tokens")
    return Price(**one)


def make_notify(told: Mapping[str, Any]) -> Notify:
    """Refuse an address to which messages would be sent in the clear."""
    notify = Notify(**{**told, "command": tuple(told.get("command", ()))})
    where = f"{places.user_folder() / FILE}: notify: webhook"
    url = urlsplit(keys.check_address(notify.webhook, where)) if notify.webhook else None
    if url and url.scheme == "http" and url.hostname not in HERE:
        raise UsageError(f"{where}: http is only for this machine; use https")
    return notify
