"""What is settled before a debate begins or goes on: who speaks, what it may cost, and whether a person can be asked."""

from __future__ import annotations

import sys
from collections.abc import Mapping
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import click

from council.next.config.settings import Settings
from council.next.record.session import Session
from council.next.speakers.base import Speaker
from council.next.terminal.output import note

if TYPE_CHECKING:
    from council.next.runner.prepare import Request


def can_ask(given: Mapping[str, Any]) -> bool:
    """Whether a person is there to answer."""
    return sys.stdin.isatty() and sys.stderr.isatty() and not (given["no_input"] or given["quiet"] or given["as_json"])


def confirm(question: str) -> bool:
    return click.confirm(question, default=False, err=True)


def choose_speaker(request: Request, settings: Settings, given: Mapping[str, Any]) -> tuple[Speaker, Request]:
    """Who speaks, said in one line; and the request, which notes it."""
    from council.next.speakers.choose import choose

    ask = confirm if can_ask(given) else None
    speaker = choose(settings, given["speaker"], "", ask, note)
    return speaker, replace(request, speaker=speaker.name)


def speaker_of(session: Session, settings: Settings, given: Mapping[str, Any]) -> Speaker:
    """Who goes on: who the command names, else the speaker with which the session began."""
    from council.next.speakers.choose import choose

    wanted = given["speaker"] or str(session.program.get("speaker", ""))
    return choose(settings, wanted, "", confirm if can_ask(given) else None, note)


def person(settings: Settings, given: Mapping[str, Any]) -> Speaker | None:
    """Somebody at this terminal who can be asked, if there is one."""
    if not can_ask(given):
        return None
    from council.next.speakers.person import Person
    from council.next.terminal.ask import ask

    return Person(settings, ask=ask)
