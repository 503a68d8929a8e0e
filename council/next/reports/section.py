"""What an optional room adds to a session's state: words, data, files, and why a debate missed its goal."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

from council.next import rooms
from council.next.engine import registry
from council.next.record.session import Session
from council.next.workflow import loader


@dataclass(frozen=True)
class Section:
    """Asked for at any time: before the end it may have only `data` and `files`."""

    title: str = ""
    text: str = ""  # Markdown, shown before the synthesis; nothing is shown if it is empty
    answer: str = ""  # the sentence that answers the debate, where the section is what it was for
    tone: str = ""
    data: Any = None  # put into state.json as it is
    files: Mapping[str, bytes] = field(default_factory=dict)  # derived files, by their names in the session
    next: tuple[str, ...] = ()  # commands that may follow
    unmet: str = ""  # why a debate that is over did not reach its goal

    def as_data(self) -> dict[str, Any]:
        return {name: value for name, value in vars(self).items() if name != "files"} | {"next": [*self.next]}


def rooms_of(session: Session) -> list[str]:
    """The optional rooms that a session uses. A default debate uses none, and looks at none."""
    workflow = session.workflow
    core = (registry.rules, registry.orders, registry.views)
    words = {word for word in workflow.words() if not any(known.is_core(word) for known in core)}
    words -= {*workflow.places(), *loader.SEAT_KEYS}
    kinds = {kind.room for step in workflow.steps() for kind in step.reply.values() if kind.room}
    named = session.program.get("rooms", {})
    return rooms.used(words, kinds, named) if words or kinds or named else []


def added_by_rooms(session: Session) -> Iterator[tuple[str, Section]]:
    """The sections of the rooms that a session uses, by their names."""
    for room in rooms_of(session):
        for name in rooms.of_kind("section", room):
            found = registry.sections[name](session)
            if found is not None:
                yield name, found
