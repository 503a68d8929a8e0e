"""What a debate can cost at most, and what it is likely to cost, before anything is spent.

The most: every step speaks in the most rounds, every reply takes all the tokens that it may and is asked for twice, and
each byte of a brief is a token. That bound holds if

- a token that a model wrote is at most `BYTES_A_TOKEN` bytes of the next brief, and there a token for each of them;
- a template shows nothing of a reply but the reply, its gist, and its items as lines of a list, fewer than a hundred of
  one member;
- a reply casts no more perspectives than the program accepts, a person grants no rounds and writes no more than a
  model may, and no call fails: nobody knows what a failed call costs.

The likely sum: every step, in the fewest rounds, once, with replies of the usual length.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, replace

from council.next.checks import imagine
from council.next.checks.imagine import INSIDE, ITEM, TOPIC, WHOLE, Call
from council.next.config.settings import Settings
from council.next.prompts.brief import Brief, freeze
from council.next.prompts.said import LONGEST_LINE
from council.next.speakers.api import find_price
from council.next.speakers.base import Speaker, speakers
from council.next.text import encode
from council.next.workflow.model import MOST_ROUNDS, Workflow

BYTES_A_TOKEN = 4  # English prose has between four and five, and such a word is one token again; an emoji has four
CHARACTERS_A_TOKEN = 4  # of prose, about
TRIES = 2  # of a turn: a reply that cannot be read is asked for once more, and readers may see both


@dataclass(frozen=True)
class Bound:
    """Calls, tokens and US dollars. `usd` is None where a price is unknown. `phases` has the parts."""

    calls: int = 0
    input: int = 0
    output: int = 0
    usd: float | None = 0.0
    phases: tuple[tuple[str, Bound], ...] = ()

    def __add__(self, other: Bound) -> Bound:
        usd = None if self.usd is None or other.usd is None else self.usd + other.usd
        return Bound(self.calls + other.calls, self.input + other.input, self.output + other.output, usd)


def bound(
    workflow: Workflow,
    topic: int,
    settings: Settings,
    speaker: Speaker | None = None,
    templates: Mapping[str, str] | None = None,
) -> Bound:
    """The most. `topic` is the size of the question and of all documents, in bytes. Without a speaker, the models of
    the settings speak; without templates, those of the overlays are used."""
    speaker = speaker or speakers["api"](settings)
    templates = freeze(workflow, settings.overlays) if templates is None else templates
    reply = BYTES_A_TOKEN * longest_reply(workflow, speaker)
    beside = sum(len(encode(text)) for text in templates.values())  # what other branches of the templates might print

    def cost(call: Call) -> Bound:
        brief = call.again or call.brief
        size = measure(brief.text, topic, reply) + beside
        most = speaker.price_limit(Brief(brief.session, call.due, "x" * size, ""))
        tokens = (speaker.voice(call.due) or speaker).settings.model(call.due.tier).max_tokens
        one = Bound(1, size, tokens, most)
        return one + one if call.again else one

    return add_up(cost, imagine.hold(workflow, templates, imagine.MARKED, MOST_ROUNDS))


def measure(text: str, topic: int, reply: int) -> int:
    """The bytes of a brief whose marks stand for the topic, and for replies and items as long as they may be."""
    items = text.count(ITEM) - text.count(INSIDE)
    line = TRIES * min(BYTES_A_TOKEN * LONGEST_LINE, reply)  # an item may stand beside the one that replaced it
    return len(encode(text)) + text.count(TOPIC) * topic + text.count(WHOLE) * TRIES * reply + max(0, items) * line


def longest_reply(workflow: Workflow, speaker: Speaker) -> int:
    """The most tokens that any reply can have."""
    tiers = {step.tier for step in workflow.steps()} | {seat.get("tier") for seat in workflow.all_seats().values()}
    tiers |= {str(one.get("tier") or "") for one in workflow.personas.values()}  # of those who may be cast
    known = {*speaker.settings.tiers} & tiers
    return max((speaker.settings.model(tier).max_tokens for tier in known), default=0)


def likely(
    workflow: Workflow,
    topic: int,
    settings: Settings,
    speaker: Speaker | None = None,
    templates: Mapping[str, str] | None = None,
) -> Bound:
    """The likely sum, with the same arguments as the bound."""
    speaker = speaker or speakers["api"](settings)
    templates = freeze(workflow, settings.overlays) if templates is None else templates

    def cost(call: Call) -> Bound:
        brief, voice = call.brief, speaker.voice(call.due) or speaker
        size = (len(brief.text) + brief.text.count(TOPIC) * topic) // CHARACTERS_A_TOKEN
        written = len(call.body) // CHARACTERS_A_TOKEN
        usd = speaker.price_limit(Brief(brief.session, call.due, "x", ""))
        if usd:
            price = find_price(voice.settings.model(call.due.tier))
            usd = price.usd(size, written) if price else None
        return Bound(1, size, written, usd)

    return add_up(cost, imagine.hold(workflow, templates, imagine.USUAL))


def add_up(cost: Callable[[Call], Bound], calls: Iterable[Call]) -> Bound:
    """The costs of all calls, also by phase. Nobody calls a model for a person."""
    phases: dict[str, Bound] = {}
    for call in calls:
        if not call.due.seat.is_person:
            phases[call.due.phase.name] = phases.get(call.due.phase.name, Bound()) + cost(call)
    whole = sum(phases.values(), Bound())
    return replace(whole, phases=tuple(phases.items()))
