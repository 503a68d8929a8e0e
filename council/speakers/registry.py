"""Which speakers there are. The files of this room say so: each declares a SpeakerType as SPEAKER.

Looking up one speaker imports its file and no other.
"""

from __future__ import annotations

from functools import cache
from importlib import import_module
from typing import TYPE_CHECKING

from council.errors import CouncilError, UsageError
from council.record.turn_file import HOOK, MEMBER, Receipt
from council.speakers import AUTO, names
from council.speakers.base import AutoOrder, SpeakerType
from council.text import did_you_mean
from council.workflow.model import Cast, Seat, Step, Workflow

if TYPE_CHECKING:
    from council.config.settings import Config


@cache
def find(name: str) -> SpeakerType:
    """The speaker of that name, or a refusal that suggests another."""
    if name not in names():
        raise UsageError(f'unknown speaker "{name}"; {did_you_mean(name, (*names(), AUTO))}')
    path = f"council.speakers.{name.replace('-', '_')}"
    try:
        module = import_module(path)
    except (ImportError, SyntaxError) as wrong:
        raise CouncilError(f"the speaker {name} cannot be loaded: {path}: {wrong}") from wrong
    declared = getattr(module, "SPEAKER", None)
    if not isinstance(declared, SpeakerType) or declared.name != name:
        raise CouncilError(f'{module.__file__}: it must declare SPEAKER = SpeakerType(name="{name}", …)')
    return declared


def describe(name: str) -> SpeakerType:
    """The speaker that a receipt or a session names: one that is gone is only a name, of which nothing is known."""
    return find(name) if name in names() else SpeakerType(name, "no longer available")


def machine_of(seat: Seat) -> SpeakerType | None:
    """The machine that speaks for this seat, whatever speaker the others have; None for every other seat."""
    named = describe(seat.speaker) if seat.speaker else None
    return named if named and named.machine else None


def find_benches(workflow: Workflow, config: Config) -> frozenset[str] | None:
    """The names that `run` may have in this workflow; None if none of its speakers runs benches here."""
    named = {seat.speaker for seat in workflow.all_seats() if seat.speaker in names()}
    lists = [one.benches(config) for one in map(find, filter(None, sorted(map(str, named)))) if one.benches]
    return frozenset().union(*lists) if lists else None


def needs_prompt(workflow: Workflow, step: Step) -> bool:
    """Whether a step has a seat that reads a prompt: a machine reads none."""
    cast = any(isinstance(one, Cast) for one in step.seats)
    return cast or not all(map(machine_of, workflow.declared_seats(step.seats)))


def typed_in(receipt: Receipt) -> bool:
    """Whether somebody entered the reply by hand, and nothing shows that a member gave it."""
    by_hand = receipt.call is None and receipt.recorded_by not in (HOOK, MEMBER)
    return by_hand and describe(receipt.speaker).manual and receipt.absent is None


def is_from_member(receipt: Receipt) -> bool:
    """Whether the member stored the reply itself, as far as the commands show: its brief was fetched, and the reply
    came on standard input.
    """
    return receipt.recorded_by == MEMBER and receipt.absent is None


def all_types() -> list[SpeakerType]:
    """Every speaker: those that `auto` tries, in its order, then the others."""
    return sorted(map(find, names()), key=lambda one: (one.auto or len(AutoOrder) + 1, one.name))


def automatic() -> list[SpeakerType]:
    """The speakers that `auto` tries, in its order."""
    return [one for one in all_types() if one.auto is not None]


def manual() -> SpeakerType:
    """The speaker of a session whose replies are recorded by hand."""
    return next(one for one in all_types() if one.manual)
