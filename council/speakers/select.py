"""The choice of a speaker when the user named none, and who speaks for each seat."""

from __future__ import annotations

import importlib
import os
import threading
from collections.abc import Iterable, Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass

from council.config.models import Endpoint
from council.config.settings import Config
from council.errors import CouncilError, Denied, UsageError
from council.speakers import AUTO, registry
from council.speakers.base import Billing, Setup, Speaker, SpeakerType
from council.speakers.human import at_a_terminal
from council.text import join_words
from council.workflow.model import Seat, Workflow
from council.workflow.types import answer_types

# Keys of vendors whose APIs no speaker calls: somebody who has set one is told so.
NOT_CALLED = (
    "OPENAI_API_KEY", "GEMINI_API_KEY", "GOOGLE_API_KEY", "MISTRAL_API_KEY", "GROQ_API_KEY", "DEEPSEEK_API_KEY",
    "XAI_API_KEY", "AZURE_OPENAI_API_KEY", "CEREBRAS_API_KEY", "COHERE_API_KEY", "FIREWORKS_API_KEY",
    "PERPLEXITY_API_KEY", "TOGETHER_API_KEY",
)  # fmt: skip


@dataclass(frozen=True)
class Choice:
    """Who speaks, and why. Where there is a `question`, a person must agree first."""

    speaker: SpeakerType
    why: str
    price: str = ""
    others: tuple[str, ...] = ()
    question: str = ""

    @property
    def name(self) -> str:
        return self.speaker.name

    def __str__(self) -> str:
        """The line that says who speaks."""
        also = f"; also here: {join_words(self.others)}" if self.others else ""
        return f"{self.name} ({'; '.join(filter(None, [self.why, self.price]))}){also}"


def choose(
    wanted: str | None,
    config: Config,
    env: Mapping[str, str] = os.environ,
    *,
    workflow: Workflow | None = None,
    can_ask: bool = False,
) -> Choice:
    """The speaker that the user named, in the command or in the configuration; for `auto`, the first that is available.

    The tiers of `config` are those that the debate uses. `can_ask`: whether somebody can answer a question.
    """
    name = wanted or config.speaker
    if name == AUTO:
        choice = _first_available(config, workflow, env, can_ask)
    else:
        where = "--speaker" if wanted else "COUNCIL_SPEAKER" if env.get("COUNCIL_SPEAKER") else "Config.md"
        choice = Choice(_usable(name, config, env), f"named by {where}", _price(registry.find(name), config))
    _check_fit(choice.speaker, workflow)
    return choice


def check_seats(choice: Choice, config: Config, workflow: Workflow, env: Mapping[str, str] = os.environ) -> None:
    """Refuse a new debate in which a seat names a speaker that is not set up, before the others are paid for."""
    for seat in workflow.all_seats():
        one = speaker_of(seat, choice.name)
        if one.name != choice.name and (why := one.obstacle(config, env)):
            raise Denied(f"the seat {seat.name} speaks with {one.name}: {why}")


def keep(name: str, config: Config, *, workflow: Workflow, can_ask: bool = False) -> Choice:
    """The speaker that a session had before. What it needs is not fetched again unasked."""
    speaker = _usable(name, config, os.environ)
    _check_fit(speaker, workflow)
    missing = speaker.download()
    if missing and not can_ask:
        raise Denied(f"{missing.what} ({missing.size}) is not here: add `--speaker {name}` to fetch it")
    question = _ask(speaker, f"{missing.what} spoke in this session, and is not here", workflow) if missing else ""
    return Choice(speaker, "it spoke in this session before", _price(speaker, config), question=question)


def _usable(name: str, config: Config, env: Mapping[str, str]) -> SpeakerType:
    speaker = registry.find(name)
    if speaker.machine:
        raise UsageError(f"{name} speaks only for seats that a workflow gives to it; name another speaker")
    if why := speaker.obstacle(config, env):
        raise Denied(f"{name} cannot speak: {why}")
    return speaker


def _first_available(config: Config, workflow: Workflow | None, env: Mapping[str, str], can_ask: bool) -> Choice:
    """Never one that would ignore the endpoints or the models that the user configured."""
    why_not = []
    allowed = [one for one in registry.automatic() if _honours(one, config) and not _too_hard(one, workflow)]
    for number, speaker in enumerate(allowed, 1):
        price = _price(speaker, config)
        if why := speaker.obstacle(config, env) or speaker.login():
            why_not.append(why)
        elif speaker.offer() is None and speaker.download() is None:
            return Choice(speaker, speaker.reason(config, env), price, _others(allowed[number:], config, env))
        elif can_ask:
            why = f"no other speaker is available: {join_words(why_not)}"
            question = _ask(speaker, why, workflow, _unused_keys(config, env))
            return Choice(speaker, "you agreed", price, question=question)
    if config.has_own_endpoints:
        raise Denied(f"{'; '.join(why_not)}: set it, or name another speaker with --speaker")
    why = f"no speaker is available: {join_words(why_not)}. You can {'; or '.join(_remedies(workflow))}"
    raise Denied("\n".join([why, *_unused_keys(config, env)]))


def _unused_keys(config: Config, env: Mapping[str, str]) -> tuple[str, ...]:
    """One line that names the other keys that are set, and what can be done with them; never a key itself."""
    told = []
    for one in _spare_endpoints(config, env):
        mapped = ",".join(f"{tier}={one.name}/MODEL" for tier in config.tiers)
        told.append(f"{one.key} is set: add `--tier-map {mapped}`")
    own = {one.key for one in config.endpoints.values()}
    if others := [name for name in NOT_CALLED if env.get(name, "").strip() and name not in own]:
        verb, whose = ("is", "that vendor's API") if len(others) == 1 else ("are", "those vendors' APIs")
        told.append(
            f"{join_words(others)} {verb} set, but council cannot call {whose} yet: "
            "docs/speakers.md says how to use OpenRouter, Ollama and others"
        )
    return ("; ".join(told),) if told else ()


def _honours(speaker: SpeakerType, config: Config) -> bool:
    if config.has_own_endpoints:
        return speaker.calls_endpoints
    return not (config.has_own_models and speaker.ignores_tiers)


def _others(later: Iterable[SpeakerType], config: Config, env: Mapping[str, str]) -> tuple[str, ...]:
    """What else could speak here, as far as a quick look shows, and how to choose it."""
    ready = [one.name for one in later if _is_here(one) and not one.obstacle(config, env)]
    return (
        *(f"{name} (--speaker {name})" for name in ready),
        *(f"{one.name} ({one.key} is set; --tier-map TIER={one.name}/MODEL)" for one in _spare_endpoints(config, env)),
    )


def _spare_endpoints(config: Config, env: Mapping[str, str]) -> list[Endpoint]:
    """Those that no tier uses, and whose key is set."""
    used = {model.endpoint for model in config.tiers.values()}
    return [one for one in config.endpoints.values() if one.key and env.get(one.key, "").strip() and one not in used]


def _is_here(speaker: SpeakerType) -> bool:
    with suppress(CouncilError):  # such as a model of the user's own that is not there
        return speaker.download() is None
    return False


def _price(speaker: SpeakerType, config: Config) -> str:
    """What the calls cost, in words."""
    if speaker.terms or speaker.free:
        return speaker.terms or "free"
    if speaker.billing is not Billing.PRICES:
        return ""
    own = speaker.own_model()
    models = {own} if own else {model.name for model in config.tiers.values()}
    known = {name: config.prices.get(name) for name in sorted(models)}
    rates = [f"{name} {_dollars(one.input)}/{_dollars(one.output)}" for name, one in known.items() if one]
    unknown = [name for name, one in known.items() if one is None]
    return ", ".join(
        [
            *([f"{', '.join(rates)} per million tokens"] if rates else []),
            *([f"{join_words(unknown)} at an unknown price"] if unknown else []),
        ]
    )


def _dollars(amount: float) -> str:
    return f"${amount:.2f}".removesuffix(".00")


def _ask(speaker: SpeakerType, why: str, workflow: Workflow | None, unused: Iterable[str] = ()) -> str:
    """Why, how good, how long, and what else there is; then the question."""
    offer, missing = speaker.offer(), speaker.download()
    what = offer.what if offer else missing.what if missing else speaker.name
    known = [f"  How good: {offer.quality}", f"  How long: {offer.time}"] if offer else []
    instead = [f"  - {remedy}" for remedy in _remedies(workflow, speaker.name)]
    question = f"Fetch {what} ({missing.size}, once) and use it?" if missing else f"Use {what}?"
    first = f"{why[0].upper()}{why[1:]}. There is {what}." if offer else f"{why[0].upper()}{why[1:]}."
    return "\n".join([first, *known, *unused, "Instead, you can:", *instead, question])


def _remedies(workflow: Workflow | None, but: str = "") -> Iterator[str]:
    yield from (
        one.setup for one in registry.all_types() if one.setup and one.name != but and not _too_hard(one, workflow)
    )


def _check_fit(speaker: SpeakerType, workflow: Workflow | None) -> None:
    """Refuse a speaker, also of a single seat, that cannot do what the workflow asks, or that is not here."""
    seats = workflow.all_seats() if workflow else ()
    for one in {speaker, *(speaker_of(seat, speaker.name) for seat in seats)}:
        if why := _too_hard(one, workflow):
            raise UsageError(f"{one.name} cannot speak here: {why}; name another speaker with --speaker")
        if one is not speaker and (missing := one.download()):
            fetch = f"`council run --speaker {one.name}` fetches it"
            raise Denied(f"a seat speaks with {one.name}, and {missing.what} ({missing.size}) is not here: {fetch}")


def _too_hard(speaker: SpeakerType, workflow: Workflow | None) -> str:
    """Why the workflow's answers need more than a small model, or nothing."""
    if workflow is None or not speaker.small:
        return ""
    asked = {kind.type for _, step in workflow.steps() for _, kind in step.reply}
    return next((one.careful for one in answer_types().values() if one.name in asked and one.careful), "")


def warm_up(name: str) -> None:
    """Import what is heavy beside the work that comes before the first call. Who needs it sooner waits for it."""
    for module in registry.find(name).imports:
        threading.Thread(target=importlib.import_module, args=(module,), daemon=True).start()


def speaker_of(seat: Seat, everybody: str) -> SpeakerType:
    """Who speaks for a seat in a session of that speaker: the one that the seat names goes first."""
    usual, machine = registry.describe(everybody), registry.machine_of(seat)
    if machine and not usual.replays:
        return machine
    return usual if usual.speaks_for_all or not seat.speaker else registry.describe(seat.speaker)


def check_machines(workflow: Workflow, everybody: str, config: Config, env: Mapping[str, str] = os.environ) -> None:
    """Refuse a debate before anybody is called for it, if one of its machines cannot work here."""
    if not registry.describe(everybody).replays:
        for machine in {one.name: one for one in map(registry.machine_of, workflow.all_seats()) if one}.values():
            if why := machine.obstacle(config, env):
                raise Denied(why)


class Voices:
    """The speaker for each seat, made once, when it is first needed. Persons are asked at the terminal unless `ask`
    is False. With `wait`, a run waits for their answers even without one.
    """

    def __init__(self, name: str, setup: Setup, ask: bool = True, wait: bool = False) -> None:
        self.name = name
        self.setup = setup
        self.setup.keyboard = ask and at_a_terminal()
        self.wait = wait
        self.made: dict[str, Speaker] = {}

    def __call__(self, seat: Seat) -> Speaker | None:
        """None if nobody can be asked from here: the turn is recorded by hand."""
        who = speaker_of(seat, self.name)
        if who.manual or (who.is_person and not (self.wait or self.setup.keyboard)):
            return None
        if who.name not in self.made:
            if who.make is None:
                raise UsageError(f'speaker "{who.name}" cannot be called automatically')
            self.made[who.name] = who.make(self.setup)
        return self.made[who.name]

    async def close(self) -> None:
        for speaker in self.made.values():
            await speaker.close()
