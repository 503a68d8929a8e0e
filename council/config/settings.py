"""Configuration: the kit's Config.md, then the user's, then the environment. Never a project's or a session's."""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from council.config import benches, notifications, protocols
from council.config.benches import Bench
from council.config.models import Endpoint, Model, Price
from council.config.notifications import SILENT, Notifications
from council.config.overlays import kit_folder, read, user_folder, workflows
from council.config.protocols import NOTHING, DebateSettings
from council.errors import UsageError
from council.record.files import tilde
from council.text import did_you_mean
from council.workflow import frontmatter
from council.workflow.model import is_name

KEYS = (
    "home", "speaker", "tiers", "endpoints", "prices", "deadline", "stall", "concurrency", "retry", "cache_from",
    "ask_above",
    "benches", "gates", "notify", *protocols.KEYS,
)  # fmt: skip
TIER_KEYS = ("endpoint", "model", "max_tokens", "effort")
ENDPOINT_KEYS = ("base_url", "key")
PRICE_KEYS = ("input", "output", "cache_read", "cache_write", "long_over", "long_input", "long_output")
RETRY_KEYS = ("first_wait", "most_wait", "budget")
NAMED = {"tiers": TIER_KEYS, "endpoints": ENDPOINT_KEYS, "prices": PRICE_KEYS}


@dataclass(frozen=True)
class Retry:
    """Seconds: the first wait, the longest, and all waits of one run together."""

    first_wait: float
    most_wait: float
    budget: float


@dataclass(frozen=True)
class Config:
    home: Path
    speaker: str
    tiers: Mapping[str, Model]
    endpoints: Mapping[str, Endpoint]
    prices: Mapping[str, Price]
    deadline: float
    stall: float
    concurrency: int
    retry: Retry
    cache_from: int
    ask_above: float  # US dollars: a debate that is likely to cost more is begun only if somebody agrees
    benches: Mapping[str, Bench]
    kit: Mapping[str, Model]  # the tiers as the kit has them, before the user's configuration and environment
    notify: Notifications = SILENT
    gates: tuple[str, ...] = ()  # phases after which a person must approve, in every workflow that has them
    debates: DebateSettings = NOTHING  # options of workflows, and limits
    longest: Mapping[str, float] = field(default_factory=dict)  # seconds, by the options of times: limits in force
    home_set_by: str = ""  # what names the home, if the user chose it

    @property
    def sessions(self) -> Path:
        return self.home / "STATE" / "council-sessions"

    @property
    def archive(self) -> Path:
        return self.home / "RESEARCH"

    @property
    def has_own_endpoints(self) -> bool:
        """Whether a tier is called at an address of the user's own choice."""
        kits = {model.endpoint for model in self.kit.values()}
        return any(model.endpoint not in kits for model in self.tiers.values())

    @property
    def has_own_models(self) -> bool:
        """Whether a tier means another model than in the kit."""
        return any(tier not in self.kit or model.name != self.kit[tier].name for tier, model in self.tiers.items())

    def model(self, tier: str, endpoint: str | None = None, name: str | None = None) -> Model:
        """The model of a tier, or the endpoint and model that a session recorded for it."""
        known = self.tiers.get(tier) or next(iter(self.tiers.values()))
        where = self.endpoint(endpoint or known.endpoint.name)
        model = name or known.name
        return replace(known, tier=tier, endpoint=where, name=model, price=self.prices.get(model))

    def endpoint(self, name: str) -> Endpoint:
        if name not in self.endpoints:
            raise UsageError(
                f'there is no endpoint "{name}" in Config.md; {did_you_mean(name, self.endpoints)} '
                f"Endpoints come from {user_folder() / 'Config.md'}, never from a session."
            )
        return self.endpoints[name]

    def map_tier(self, tier: str, target: str) -> Model:
        """`--tier-map tier=target`: another tier, a model with a price, or endpoint/model."""
        if target in self.tiers:
            return replace(self.tiers[target], tier=tier)
        endpoint, slash, model = target.partition("/")
        if slash and model and endpoint in self.endpoints:
            return self.model(tier, endpoint, model)
        if target in self.prices:
            return self.model(tier, None, target)
        known = {*self.tiers, *self.prices, *(f"{name}/MODEL" for name in self.endpoints)}
        wrong = f'"{target}" is not a tier, a model or endpoint/model'
        raise UsageError(f"--tier-map {tier}={target}: {wrong}; {did_you_mean(target, known)}")


def load(env: Mapping[str, str] = os.environ) -> Config:
    kit_file, user_file = kit_folder() / "Config.md", user_folder(env) / "Config.md"
    settings = _settings(kit_file)
    kit = _tiers(settings, str(kit_file))
    home_set_by, debates = "", NOTHING
    if user_file.is_file():
        own = _settings(user_file)
        debates = protocols.read(own, protocols.YOURS, user_file, read(user_file))
        settings = _merged(settings, own)
        home_set_by = f"`home` in {tilde(user_file)}" if "home" in own else ""
    if home := env.get("COUNCIL_HOME"):
        settings["home"], home_set_by = home, "COUNCIL_HOME"
    if speaker := env.get("COUNCIL_SPEAKER"):
        settings["speaker"] = speaker
    if (base_url := env.get("ANTHROPIC_BASE_URL")) and "anthropic" in settings["endpoints"]:
        settings["endpoints"]["anthropic"] = {**settings["endpoints"]["anthropic"], "base_url": base_url}
    return replace(_built(settings, str(user_file), kit), home_set_by=home_set_by, debates=debates)


def _settings(path: Path) -> dict[str, Any]:
    keys, _ = frontmatter.split(read(path), str(path))
    for key in keys:
        if key not in KEYS and (key in protocols.ALIASES or key in protocols.ELSEWHERE or key in workflows()):
            raise UsageError(
                f'{path}: "{key}" goes below `protocols`, as in `protocols: {{consensus: {{target: 95}}}}`'
            )
    _known(keys, KEYS, str(path), nested=(*NAMED, "retry", "benches", "gates", "notify", *protocols.KEYS))
    notifications.read(keys.get("notify", {}), f"{path}: notify")
    _names(keys.get("gates", []), f"{path}: gates")
    for section, allowed in NAMED.items():
        for name, inner in _mapping(keys.get(section, {}), f"{path}: {section}").items():
            _known(_mapping(inner, f"{path}: {section}: {name}"), allowed, f"{path}: {section}: {name}")
    _known(_mapping(keys.get("retry", {}), f"{path}: retry"), RETRY_KEYS, f"{path}: retry")
    benches.read(keys.get("benches", {}), f"{path}: benches")
    return keys


def _merged(kit: dict[str, Any], user: dict[str, Any]) -> dict[str, Any]:
    merged = kit | user
    for section in NAMED:
        names = {**kit.get(section, {}), **user.get(section, {})}
        merged[section] = {name: {**kit.get(section, {}).get(name, {}), **keys} for name, keys in names.items()}
    merged["retry"] = {**kit["retry"], **user.get("retry", {})}
    merged["benches"] = {**kit["benches"], **user.get("benches", {})}
    return merged


def _built(settings: dict[str, Any], where: str, kit: Mapping[str, Model]) -> Config:
    return Config(
        home=Path(str(settings["home"])).expanduser().absolute(),
        speaker=str(settings["speaker"]),
        tiers=_tiers(settings, where),
        endpoints=_endpoints(settings, where),
        prices=_prices(settings, where),
        deadline=_number(settings["deadline"], f"{where}: deadline"),
        stall=_number(settings["stall"], f"{where}: stall"),
        concurrency=max(1, int(_number(settings["concurrency"], f"{where}: concurrency"))),
        retry=Retry(**{key: _number(settings["retry"][key], f"{where}: retry: {key}") for key in RETRY_KEYS}),
        cache_from=int(_number(settings["cache_from"], f"{where}: cache_from")),
        ask_above=_number(settings["ask_above"], f"{where}: ask_above"),
        benches=benches.read(settings["benches"], f"{where}: benches"),
        kit=kit,
        notify=notifications.read(settings.get("notify", {}), f"{where}: notify"),
        gates=_names(settings.get("gates", []), f"{where}: gates"),
    )


def _tiers(settings: Mapping[str, Any], where: str) -> dict[str, Model]:
    endpoints, prices = _endpoints(settings, where), _prices(settings, where)
    tiers = {}
    for name, keys in settings["tiers"].items():
        what = f"{where}: tiers: {name}"
        if "model" not in keys or keys.get("endpoint") not in endpoints:
            raise UsageError(
                f"{what}: needs a model and an endpoint; {did_you_mean(str(keys.get('endpoint')), endpoints)}"
            )
        effort = None if keys.get("effort", "none") in ("none", "") else keys["effort"]
        most = int(_number(keys.get("max_tokens", "8000"), f"{what}: max_tokens"))
        tiers[name] = Model(name, endpoints[keys["endpoint"]], keys["model"], most, effort, prices.get(keys["model"]))
    return tiers


def _endpoints(settings: Mapping[str, Any], where: str) -> dict[str, Endpoint]:
    return {name: _endpoint(name, keys, where) for name, keys in settings["endpoints"].items()}


def _prices(settings: Mapping[str, Any], where: str) -> dict[str, Price]:
    return {name: _price(keys, f"{where}: prices: {name}") for name, keys in settings["prices"].items()}


def _endpoint(name: str, keys: Mapping[str, Any], where: str) -> Endpoint:
    url, key = str(keys.get("base_url") or ""), str(keys.get("key") or "")
    if not url.startswith(("http://", "https://")):
        raise UsageError(f'{where}: endpoints: {name}: base_url: "{url}" must begin with https:// or http://')
    return Endpoint(name, url, key or None)


def _price(keys: Mapping[str, Any], what: str) -> Price:
    if not {"input", "output"} <= set(keys):
        raise UsageError(f"{what}: needs input and output, in US dollars per million tokens")
    numbers = {key: _number(value, f"{what}: {key}") for key, value in keys.items()}
    return Price(**numbers)  # type: ignore[arg-type]


def _number(value: Any, what: str) -> float:
    try:
        number = float(str(value))
    except ValueError:
        raise UsageError(f'{what}: "{value}" must be a number') from None
    if not 0 <= number < 1e9:
        raise UsageError(f"{what}: {value} is out of range")
    return number


def _names(value: Any, what: str) -> tuple[str, ...]:
    listed = value if isinstance(value, list) else [value]
    if wrong := [name for name in listed if not (isinstance(name, str) and is_name(name))]:
        raise UsageError(
            f"{what}: {wrong[0]!r} is not the name of a phase; write a list, as in [challenges, synthesis]"
        )
    return tuple(listed)


def _mapping(value: Any, what: str) -> dict[str, Any]:
    if not isinstance(value, dict):
        raise UsageError(f"{what} must be keys with values")
    return value


def _known(keys: Mapping[str, Any], allowed: tuple[str, ...], what: str, nested: tuple[str, ...] = ()) -> None:
    for key, value in keys.items():
        if key not in allowed:
            raise UsageError(f'{what}: unknown key "{key}"; {did_you_mean(key, allowed)}')
        if key not in nested and not isinstance(value, str):
            raise UsageError(f"{what}: {key} must be a word or a number")
