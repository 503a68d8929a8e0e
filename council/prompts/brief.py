"""The brief of a due turn, rendered from a template in a sandbox with plain data.

What others wrote (the topic, another seat) is fenced with a key that its author could not know. The author's name in
the fence comes from the record, never from the text.
"""

from __future__ import annotations

from itertools import accumulate
from typing import Any

import jinja2

from council.engine.facts import Facts, PromptContext
from council.engine.planner import Due
from council.errors import UsageError
from council.prompts import sandbox
from council.prompts.templates import FACTS, candidates, load_environment, load_program
from council.protocols.casting import list_catalog
from council.record.session import Session
from council.speakers import registry
from council.workflow.model import Cast, Workflow

# What an expression in a template may raise besides Jinja's own errors.
BROKEN = (ArithmeticError, AttributeError, LookupError, RecursionError, SyntaxError, TypeError, ValueError)


def find_job(session: Session, due: Due) -> tuple[str | None, Any]:
    """The brief of a machine, and what it needs for its job; None for every other seat."""
    machine = registry.machine_of(due.seat)
    return machine.job(session, due) if machine and machine.job else (None, None)


def render(session: Session, due: Due, job: str | None = None) -> tuple[str, str, tuple[int, ...]]:
    """The brief in two parts: the one that all seats of the batch share, and this seat's own.

    The template's last cut separates them. The other cuts are the ends of prefixes that are worth caching, returned as
    offsets into the first part. A brief that another version wrote is used as it is: it may have been sent already.
    `job` is a machine's brief, if it was found before.
    """
    written = None if session.reproducible else session.brief(due.id)
    if written is not None and written.strip():
        return written.decode("utf-8", "replace"), "", ()
    if (job := find_job(session, due)[0] if job is None else job) is not None:
        return job, "", ()
    cut = session.key("cut", due.id)
    name = f"{due.step.prompt}.md.j2"
    try:
        environment = load_environment(load_program(session))
        names = candidates(session.workflow, due.step.prompt)
        data = {FACTS: Facts(prompt_context(session, due)), "cut": cut}
        if environment.metered:
            text = sandbox.render(lambda: environment.select_template(names), data, size_of_material(session, due))
        else:
            text = environment.select_template(names).render(data)
    except jinja2.TemplatesNotFound:
        raise UsageError(f'there is no template "{name}" for the step {due.step.name}') from None
    except (jinja2.TemplateError, *BROKEN) as wrong:
        raise UsageError(f"the template {name}: {wrong}") from None
    *pieces, own = text.split(cut)
    return "".join(pieces), own, tuple(accumulate(map(len, pieces[:-1])))


def size_of_material(session: Session, due: Due) -> int:
    """The characters that a brief may have to quote: they make it long, and no template is to blame."""
    return len(session.topic) + sum(len(turn.body) for turn in due.scene.turns)


def prompt_context(session: Session, due: Due) -> PromptContext:
    """What the facts of a brief are computed from. The keys of its fences are the session's own."""
    return PromptContext(
        due, session.workflow, session.topic, lambda text, about: session.key("fence", about, text), session.extra
    )


def openings(due: Due) -> tuple[str, ...]:
    """How the seat's persona begins its sentences: before it has heard anybody, in its answer, and later.

    `{other}` becomes a different member for each seat, so that not everybody answers the same one. A member is called
    by the label that hides its name, or by its first name, or by its title.
    """
    heard = {}
    for seen in due.sees:
        seat = seen.turn.seat
        first_name = next(iter(str(seat.attributes.get("name") or "").split()), seat.title)
        heard[seat.name] = seen.label or first_name
    place = [*heard, due.seat.name].index(due.seat.name)
    others = [called for name, called in heard.items() if name != due.seat.name]
    spoken = sum(turn.seat.name == due.seat.name for turn in due.scene.turns)
    kind = "openings" if not others else "answers" if spoken < 2 else "closing"
    text = str(due.seat.attributes.get(kind) or "")
    while others and "{other}" in text:
        text = text.replace("{other}", others[(place + spoken) % len(others)], 1)
        place += 1
    return tuple(part.strip(" .…") for part in text.split("|") if part.strip(" .…"))


def casts(workflow: Workflow, due: Due) -> dict[str, tuple[str, ...]]:
    """The answers of the turn that name seats to add, each with the seats in the catalog."""
    sources = {one.source for _, step in workflow.steps() for one in step.seats if isinstance(one, Cast)}
    titles = tuple(str(one["title"]) for one in list_catalog(due.seat))
    return {answer: titles for step, answer in sources if step == due.step.name and titles}
