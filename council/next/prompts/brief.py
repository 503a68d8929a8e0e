"""The brief of a due turn: the part that its whole batch shares, and the seat's own.

Its template was frozen when the session began, so a brief depends on the session's files alone: any process renders the
same bytes. A brief that is stored already is used as it is.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import accumulate
from pathlib import Path

from council.next.config import places
from council.next.config.places import TEMPLATE
from council.next.engine.planner import Due
from council.next.errors import Damaged, UsageError
from council.next.prompts import said, table
from council.next.prompts.facts import Context, facts
from council.next.record import files
from council.next.record.session import Session
from council.next.text import did_you_mean, encode
from council.next.workflow.model import Workflow

REGISTERED = (said, table)  # importing them makes the core's facts known to templates
TASK = "_task.md.j2"  # the frame around a prompt that stands in the workflow's own body


@dataclass(frozen=True)
class Brief:
    """What a seat is asked, exactly. `cuts` are the ends, in characters, of beginnings that are worth caching."""

    session: Session
    due: Due
    shared: str
    own: str
    cuts: tuple[int, ...] = ()
    hash: str = ""

    @property
    def text(self) -> str:
        return self.shared + self.own


def write(session: Session, due: Due) -> Brief:
    """The brief of a due turn, stored before anybody is asked. The caller holds the session."""
    if found := stored(session, due):
        return found
    brief = render(session, due)
    session.write_brief(due.id, brief.shared, brief.own)
    return brief


def stored(session: Session, due: Due) -> Brief | None:
    """The brief that an earlier run stored for this turn, if any. Where caching may cut it is no longer known."""
    place = session.folder / "briefs" / f"{due.id}.md"
    if not place.exists():
        return None
    whole, own = session.brief(due.id), files.read(place)
    shared = whole[: len(whole) - len(own)].decode()
    return Brief(session, due, shared, own.decode(), (len(shared),), files.sha256(whole))


def render(session: Session, due: Due) -> Brief:
    """The brief as the frozen templates make it. Nothing is written."""
    from council.next.prompts.sandbox import FAILURES, explain, sandbox

    templates = session.program.get("templates")
    if not isinstance(templates, dict) or not all(isinstance(text, str) for text in templates.values()):
        raise Damaged(session.folder / "program.json", "it holds no templates; restore it from a backup")
    if not (name := choose(session.workflow, due.step.prompt, templates.get)):
        raise Damaged(session.folder / "program.json", f'it holds no template for the prompt "{due.step.prompt}"')
    cut = session.key("cut", due.id)  # nobody outside of this session knows it, so no reply can hold it
    context = Context(session, due)
    environment = sandbox(frozenset(templates.items()))
    try:
        names = environment.names(name) - {"cut"}
    except FAILURES as wrong:
        raise UsageError(f"{explain(wrong, name)} (for {due.id})") from None
    # The facts are computed outside of the template, so an error of ours is not taken for one of the template.
    values = {one: facts.value(one, context) for one in sorted(names) if facts.knows(one)}
    try:
        text = environment.render(name, {**values, "cut": cut})
    except FAILURES as wrong:
        raise UsageError(f"{explain(wrong, name)} (for {due.id})") from None
    *pieces, own = text.split(cut)
    shared = "".join(pieces)
    digest = files.sha256(encode(shared), encode(own))
    return Brief(session, due, shared, own, tuple(accumulate(map(len, pieces))), digest)


def freeze(workflow: Workflow, folders: Sequence[Path]) -> dict[str, str]:
    """The text of every template that the workflow's steps can reach, each from the first folder that has it."""
    from council.next.prompts.sandbox import FAILURES, explain, references

    def find(name: str) -> str | None:
        path = places.find_template(name, folders)
        return places.read(path) if path else None

    texts: dict[str, str] = {}
    waiting = {}
    for step in workflow.steps():
        seats = workflow.seats(one for one in step.seats if isinstance(one, str))
        for_machines = bool(seats) and all(seat.get("speaker") and not seat.is_person for seat in seats)
        name = choose(workflow, step.prompt, find)
        if name or not for_machines:  # nobody reads a brief where each seat names a speaker that is no person
            waiting[name or f"{step.prompt}{TEMPLATE}"] = f"{workflow.name}, step {step.name}"
    while waiting:
        name, by = waiting.popitem()
        if (text := find(name)) is None:
            near = did_you_mean(name, places.templates(folders))
            raise UsageError(f"{by}: there is no template {name}; {near}")
        texts[name] = text
        try:
            waiting |= {one: f"the template {name}" for one in references(text) if one not in texts}
        except FAILURES as wrong:
            raise UsageError(explain(wrong, name)) from None
    return dict(sorted(texts.items()))


def choose(workflow: Workflow, prompt: str, find: Callable[[str], str | None]) -> str:
    """The template of a prompt: the workflow's own, the frame around a section of its body, or the one for all."""
    frame = [TASK] if prompt in workflow.tasks else []
    names = [f"{workflow.name}/{prompt}{TEMPLATE}", *frame, f"{prompt}{TEMPLATE}"]
    return next((name for name in names if find(name) is not None), "")
