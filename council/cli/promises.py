"""Who promised what in a document, and how they are seated to check it.

A document may come from anybody. Its names and its session choose what is asked, and never who answers: no speaker, no
seat that means something to the program, and no persona but those of specialists.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from council.errors import UsageError
from council.text import did_you_mean, fold, join_words, one_line

if TYPE_CHECKING:
    from council.config.settings import Config
    from council.record.session import Session

MOST_ASKED = 24  # each is a call with all of the changes: a document must not make hundreds of them
SPECIALISTS = "consensus"  # the workflow whose members a document may name
NOTES = ("The document names no ", "The session of the document ", "Not asked: ")


@dataclass(frozen=True)
class Promised:
    """What a document promises: by seat, with the personas of the seats, and a note on where it was read."""

    promises: Mapping[str, list[str]]
    personas: Mapping[str, Mapping[str, Any]]
    note: str = ""
    left_out: tuple[str, ...] = ()

    @property
    def titles(self) -> dict[str, str]:
        return {name: str(self.personas[name]["title"]) for name in self.promises}

    def limit_to(self, wanted: Iterable[str]) -> Promised:
        """Those who are wanted, or all. Refused if they are too many to be asked."""
        names = {fold(word): name for name, title in self.titles.items() for word in (name, title)}
        for word in (wanted := tuple(wanted)):
            if fold(word) not in names:
                raise UsageError(f'the document names no "{word}"; {did_you_mean(word, self.promises)}')
        chosen = {names[fold(word)] for word in wanted} or set(self.promises)
        if len(chosen) > MOST_ASKED:
            raise UsageError(
                f"the document names {len(chosen)} who promised something, and a confirmation asks at most "
                f"{MOST_ASKED}, with a call for each; choose some of them with --only NAME"
            )
        kept = {name: items for name, items in self.promises.items() if name in chosen}
        left_out = tuple(title for name, title in self.titles.items() if name not in chosen)
        return replace(self, promises=kept, left_out=left_out)

    def notes(self) -> Iterator[str]:
        if self.note:
            yield self.note
        if self.left_out:
            yield f"Not asked: {one_line(join_words(self.left_out), 2_000)}."


def find(text: str, settings: Config) -> Promised:
    """The promises, from the document as it is now; from the debate's session if the document lists none."""
    session, note = find_session(text, settings)
    promises, personas = read_alone(text) if session is None else read_with(text, session)
    if not promises:
        raise UsageError("the document says of no specialist what it is responsible for, so nothing can be confirmed")
    return seat_owners(Promised(promises, personas, note))


def read_alone(text: str) -> tuple[dict[str, list[str]], dict[str, dict[str, Any]]]:
    """The promises of those whom the document names. One on the list of specialists is seated as described there."""
    from council.reports import confirmation
    from council.runner.seating import find_workflow

    found = find_workflow(SPECIALISTS)
    listed = {seat.name for seat in found.workflow.table}
    promises = confirmation.find_promises(text, {})
    personas = {}
    for name in promises:
        known = found.personas.get(name, {})
        title = str(known.get("title") or name.replace("-", " ").capitalize())
        personas[name] = {**known, "title": title} if name in listed else {"title": title, "perspective": ""}
    return promises, personas


def read_with(text: str, session: Session) -> tuple[dict[str, list[str]], dict[str, dict[str, Any]]]:
    """The promises of those who took part in the session, as they were described there."""
    from council.config.personas import FIELDS
    from council.protocols import outcome
    from council.protocols.specialists import list_table
    from council.reports import confirmation

    plan = session.plan()
    seats = {seat.name: seat for seat in list_table(session.workflow, plan.scene)}
    titles = {name: seat.title for name, seat in seats.items()}
    texts = (text, outcome.synthesis_whole(plan))
    promises = next(filter(None, (confirmation.find_promises(one, titles) for one in texts)), {})
    personas = {}
    for name in promises:
        described = seats[name].attributes
        plain = {field: described[field] for field in (*FIELDS, "perspective") if field in described}
        personas[name] = {**plain, "title": titles[name]}
    return promises, personas


def seat_owners(promised: Promised) -> Promised:
    """The same with other names for seats that mean something: an owner called "Human" is not the person here."""
    from council.runner.seating import find_workflow
    from council.workflow import declare

    taken = {*declare.seat.known, *find_workflow("confirm").workflow.groups}
    seats: dict[str, str] = {}
    for name in promised.promises:
        seat = name
        while seat in taken or seat in seats.values():
            seat = f"the-{seat}"
        seats[name] = seat
    promises = {seats[name]: items for name, items in promised.promises.items()}
    return replace(promised, promises=promises, personas={seats[name]: promised.personas[name] for name in seats})


def find_session(text: str, settings: Config) -> tuple[Session | None, str]:
    """The session that the document came from, if it is here; else why it is not read."""
    from council.config import places
    from council.record import chain
    from council.record import session as sessions
    from council.reports import front_matter

    facts = front_matter.read(text)
    if "session" not in facts:
        return None, "The document names no session: the promises are as it says them."
    try:
        session = sessions.open_(places.find(settings, str(facts["session"])))
    except UsageError:
        session = None
    if session is None or session.id != facts["session"]:  # a document may say `last`
        return None, "The session of the document is not on this machine: the promises are as the document says them."
    session.read_turns()
    if facts.get("head") not in (None, chain.head(session)):
        raise UsageError(
            f"the document names the head {facts['head']}, and session {session.id} has another: one of them was "
            f"changed; `council verify {session.id}` says more"
        )
    return session, ""
