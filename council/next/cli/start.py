"""What is settled before a debate begins or goes on: who speaks, what it may cost, and who can be asked here."""

from __future__ import annotations

import sys
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import click

from council.next.checks.cost import likely
from council.next.cli.options import REPLAY
from council.next.config import places
from council.next.config.settings import Settings
from council.next.errors import UsageError
from council.next.record import catalog
from council.next.record.session import Session
from council.next.speakers.base import Speaker
from council.next.speakers.choose import Mix, choose, read_seats
from council.next.speakers.person import Person
from council.next.terminal.ask import Keyboard
from council.next.terminal.output import note
from council.next.text import join_words

if TYPE_CHECKING:
    from council.next.runner.prepare import Request, Table

PACES = {"none": 0.0, "real": 1.0}


def can_ask(given: Mapping[str, Any]) -> bool:
    """Whether a person is there to answer."""
    return sys.stdin.isatty() and sys.stderr.isatty() and not (given["no_input"] or given["as_json"])


def confirm(question: str) -> bool:
    return click.confirm(question, default=False, err=True)


def find_speaker(settings: Settings, given: Mapping[str, Any], wanted: str, seats: Mapping[str, str]) -> Speaker:
    """Who speaks, said in one line. `--from` names what a replay takes its words from."""
    replays = wanted == REPLAY
    source = source_of(settings, given.get("source") or "") if replays else ""
    speaker = choose(settings, wanted, source, confirm if can_ask(given) else None, note)
    if replays:
        speaker.pace = PACES[given.get("pace") or "none"]  # type: ignore[attr-defined]
        if seats:
            raise UsageError("a replay has the words of every seat, so --seat has no effect; leave it out")
    if not seats:
        return speaker
    note(f"{join_words(f'{seat} is {model}' for seat, model in seats.items())}")
    return Mix(settings, speaker, read_seats(settings, seats))


def name_of(speaker: Speaker) -> str:
    """The name under which a session notes who speaks. Speakers of single seats are noted beside it."""
    return speaker.usual.name if isinstance(speaker, Mix) else speaker.name


def source_of(settings: Settings, word: str) -> str:
    """The folder of the session, or the script, that `--from` names."""
    if not word or places.is_file(places.expand(word)):
        return word
    return str(places.find_session(settings.home, word).folder)


def goes_on_as(session: Session, settings: Settings) -> dict[str, Any]:
    """Who spoke so far: the speaker, the models and those of single seats. What a session from elsewhere says of that
    is not believed: it must not choose whom this machine calls."""
    if not catalog.is_ours(places.marks(settings.home), session):
        note(f"{session.id} began on another machine or was changed; your own settings say who speaks")
        return {}
    return {key: session.program.get(key) for key in ("speaker", "models", "seats") if session.program.get(key)}


def person(settings: Settings, given: Mapping[str, Any]) -> Person | None:
    """Somebody at this terminal who can be asked, if there is one."""
    if not can_ask(given):
        return None
    keyboard = Keyboard()
    return Person(settings, ask=keyboard.ask, agree=keyboard.agree)


def agree_to_price(
    table: Table, request: Request, speaker: Speaker, settings: Settings, given: Mapping[str, Any]
) -> None:
    """Say the price before a large sum. Nothing is asked where a limit or `--yes` says it already."""
    capped = given["max_cost"] is not None or "max_cost" in settings.limits
    if speaker.replays or (given["yes"] and not capped):
        return
    documents = sum(path.stat().st_size for path in request.files if path.is_file())
    size = len(request.topic) + documents + sum(len(data) for _, data in request.documents)
    usd = likely(table.workflow, size, settings, speaker, table.templates).usd
    if capped and usd is None:
        raise UsageError("the price of this speaker is unknown, so --max-cost cannot hold; --max-calls can")
    if capped or not (speaker.calls_models or isinstance(speaker, Mix)):
        return
    if usd is None:
        note("the price of these models is unknown, so what this costs is unknown too; --max-calls limits it")
    elif usd > settings.ask_above:
        about = f"this is likely to cost about ${usd:.2f}"
        if not can_ask(given):
            raise UsageError(f"{about}: add --max-cost USD to limit it, or --yes")
        if not confirm(f"{about}. Begin?"):
            raise UsageError("you answered no, so it was not begun")
