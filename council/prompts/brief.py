"""From a due turn to the prompt that it is given. Templates are files, rendered in a sandbox with plain data.

What somebody else wrote (the topic, another seat) is fenced, with a key that its author could not know; what the fence
says of its author comes from the record, never from the text.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from functools import lru_cache
from itertools import accumulate
from typing import Any

import jinja2
from jinja2.sandbox import ImmutableSandboxedEnvironment

from council.checks import cost
from council.config import settings as config
from council.engine.anonymity import relabelled, with_names
from council.engine.planner import Due
from council.engine.scene import Scene, Seen, Turn, Verdict
from council.errors import UsageError
from council.protocols import escalation, judge
from council.protocols import perspectives as casting
from council.protocols.metrics import measured
from council.protocols.stances import standing
from council.record.session import Session
from council.replies import parse as reply
from council.replies import quotes as quoted
from council.reviews import state as contest
from council.text import one_line, slug
from council.workflow import limits
from council.workflow.model import Cast, Seat, Workflow

FRAME = "_task"  # the template around a prompt that stands in a workflow's body
# What an expression in a template may raise, besides Jinja's own errors.
BROKEN = (ArithmeticError, AttributeError, LookupError, RecursionError, TypeError, ValueError)


class Overlays(jinja2.BaseLoader):
    """A template by its name: the project's, the user's, the kit's."""

    def get_source(self, environment: jinja2.Environment, template: str) -> tuple[str, str, Any]:
        path = next(config.overlaid(f"templates/{template}"), None)
        if path is None:
            raise jinja2.TemplateNotFound(template)
        return config.read(path), str(path), None

    def list_templates(self) -> list[str]:
        folders = [folder / "templates" for folder in config.overlays()]
        return sorted({path.relative_to(top).as_posix() for top in folders for path in top.rglob("*.md.j2")})


@lru_cache(maxsize=1)
def environment() -> jinja2.Environment:
    return ImmutableSandboxedEnvironment(
        loader=Overlays(),
        undefined=jinja2.StrictUndefined,
        autoescape=False,
        trim_blocks=True,
        lstrip_blocks=True,
        keep_trailing_newline=True,
    )


def prompts(workflow: str) -> set[str]:
    """The names that a step's `prompt` may have: the templates of this workflow and those for all."""
    names = {name.removesuffix(".md.j2") for name in environment().list_templates()}
    own = {name.removeprefix(f"{workflow}/") for name in names if name.startswith(f"{workflow}/")}
    return own | {name for name in names if "/" not in name and not name.startswith("_")}


def candidates(workflow: str, prompt: str, told: bool) -> list[str]:
    """The templates for a prompt: the workflow's own, the frame for what its body has told, the one for all."""
    return [f"{workflow}/{prompt}.md.j2", *([f"{FRAME}.md.j2"] if told else []), f"{prompt}.md.j2"]


@lru_cache
def template(workflow: str, prompt: str, told: bool = False) -> jinja2.Template:
    """The first of them that there is. Remembered: one that is missing would be looked for each time."""
    return environment().select_template(candidates(workflow, prompt, told))


def render(session: Session, due: Due) -> tuple[str, str, tuple[int, ...]]:
    """The brief in two parts: what is the same for every seat of the batch, and what is this seat's own.

    The last cut of the template stands between them. The others mark the ends of prefixes that are worth caching; they
    come as offsets into the first part.
    """
    cut = session.key("cut", due.id)
    name = f"{due.step.prompt}.md.j2"
    try:
        told = due.step.prompt in session.workflow.tasks
        text = template(session.workflow.name, due.step.prompt, told).render(_context(session, due), cut=cut)
    except jinja2.TemplatesNotFound:
        raise UsageError(f'there is no template "{name}" for the step {due.step.name}') from None
    except (jinja2.TemplateError, *BROKEN) as wrong:
        raise UsageError(f"the template {name}: {wrong}") from None
    *pieces, own = text.split(cut)
    return "".join(pieces), own, tuple(accumulate(map(len, pieces[:-1])))


def _context(session: Session, due: Due) -> dict[str, Any]:
    """All that a template may use: plain data, no objects of ours."""
    options = dict(session.workflow.options)
    return {
        "topic": fence(session, "topic", session.topic, "topic"),
        "seat": _seat(due.seat),
        "members": [_seat(seat) for seat in session.workflow.table],
        "workflow": session.workflow.name,
        "phase": due.phase.name,
        "step": due.step.name,
        "round": due.round,
        "rounds": due.scene.cap,
        "options": options,
        "words": options.get("words", ""),
        "budget": _budget(session, due),
        "task": session.workflow.tasks.get(due.step.prompt, ""),
        "transcript": transcript(session, due),
        "format": reply.describe(due.step.reply),
        "again": _again(session, due),
        "yours": _yours(session, due),
        "measured": measured(due.scene, session.workflow),
        "because": _because(due),
        "lettered": _lettered(session, due),
        "left_out": _lacked(due.scene, session.workflow),
        "not_cited": _lacked(due.scene, session.workflow, "not_cited"),
        "tally": standing(due.scene).reason,
        "unmet": _unmet(due.scene, session.workflow),
        "catalog": _catalog(due.seat),
        "cast": casting.table(due.scene, session.workflow),
        "outcomes": dict(due.scene.outcomes),
        "findings": _findings(session, due),
    }


def _seat(seat: Seat) -> dict[str, str]:
    fields = ("name", "focus", "accepts", "perspective", "about", "icon")
    known = {key: str(seat.attributes.get(key) or "") for key in fields}
    known["about"] = known["about"].strip("*_` ")  # what is left of `**Name:** what it stands for`
    return {**known, "seat": seat.name, "title": seat.title, "label": seat.label, "person": known["name"]}


def _budget(session: Session, due: Due) -> int:
    """The words that the reply has room for, where the workflow bounds its tokens; 0 is no bound."""
    share = limits.share(session.workflow, due.phase.steps, due.step, due.seat)
    return int((share or 0) / cost.TOKENS_A_WORD) // 10 * 10


def openings(due: Due) -> tuple[str, ...]:
    """How the seat's persona begins its sentences: before it has heard anybody, in its answer, and later.

    `{other}` is one of those who were heard, and goes round the table, so that not everybody answers the same member.
    """
    heard = {seen.turn.seat.name: _called(seen) for seen in due.sees}
    place = [*heard, due.seat.name].index(due.seat.name)
    others = [called for name, called in heard.items() if name != due.seat.name]
    spoken = sum(turn.seat.name == due.seat.name for turn in due.scene.turns)
    kind = "openings" if not others else "answers" if spoken < 2 else "closing"
    text = str(due.seat.attributes.get(kind) or "")
    while others and "{other}" in text:
        text = text.replace("{other}", others[(place + spoken) % len(others)], 1)
        place += 1
    return tuple(part.strip(" .…") for part in text.split("|") if part.strip(" .…"))


def _called(seen: Seen) -> str:
    """What a member calls another: by the label, where the view hides the name, else by first name, or by title."""
    seat = seen.turn.seat
    return seen.label or next(iter(str(seat.attributes.get("name") or "").split()), seat.title)


def _again(session: Session, due: Due) -> dict[str, Any] | None:
    if due.first is None:
        return None
    own = fence(session, "you", due.first.body, due.id)
    return {"problems": list(due.problems), "reply": own}


def _yours(session: Session, due: Due) -> str:
    """Which of the passages in the brief the seat wrote itself: what it says again is no echo of anybody."""
    own = [seen for seen in due.sees if seen.turn.seat.name == due.seat.name]
    keys = [_key(session, _shown(session, due, seen), seen.turn.id) for seen in own]
    return quoted.yours([*keys, *([_key(session, due.first.body, due.id)] if due.first else [])])


def _findings(session: Session, due: Due) -> str:
    """The merged list of a review: written by its members, so it stands between marks as what they say does."""
    labels = {seat.name: seat.label for seat in session.workflow.all_seats()}
    return fence(session, "the members", contest.listed(contest.reviewed(due.scene), labels), due.step.name)


def _because(due: Due) -> dict[str, Any]:
    """Why the step is spoken in this round: the rules of its `when` that hold, as before any of its turns."""
    before = tuple(turn for turn in due.scene.turns if turn.moment != (due.phase.name, due.round, due.step.name))
    why = judge(due.step.when, replace(due.scene, turns=before)) if due.step.when else Verdict(True)
    return {"fired": list(why.fired), "reason": why.reason}


def _lettered(session: Session, due: Due) -> str:
    """The options that a person is to choose from, each with its letter; empty where nobody put any."""
    turn, options = escalation.put(due.scene)
    if turn is None or not options:
        return ""
    return fence(session, turn.seat.label, "\n".join(f"{key}) {text}" for key, text in options.items()), turn.id)


def _lacked(scene: Scene, workflow: Workflow, kind: str = "left_out") -> list[str]:
    """What the last try at this phase lacked, where its `until` rule says so."""
    phase = next(phase for phase in workflow.phases if phase.name == scene.phase)
    if scene.round < 2:
        return []
    found = [judge(condition, scene).tally.get(kind, []) for _, condition in phase.until]
    return [one_line(item, 600) for items in found for item in items]


def _unmet(scene: Scene, workflow: Workflow) -> list[str]:
    """What was wrong with whom the last round of this phase cast, where its `until` rule says so."""
    phase = next(phase for phase in workflow.phases if phase.name == scene.phase)
    if scene.round < 2:
        return []
    return [one for _, condition in phase.until for one in judge(condition, scene).tally.get("unmet", [])]


def casts(workflow: Workflow, due: Due) -> dict[str, tuple[str, ...]]:
    """The answers of the turn that name who is to sit down, each with the names that the catalog has."""
    sources = {one.source for _, step in workflow.steps() for one in step.seats if isinstance(one, Cast)}
    titles = tuple(str(one["title"]) for one in _catalog(due.seat))
    return {answer: titles for step, answer in sources if step == due.step.name and titles}


def _catalog(seat: Seat) -> list[dict[str, Any]]:
    """The perspectives that the seat may cast, each by the title that leads back to its section."""
    catalog: Mapping[str, Mapping[str, Any]] = seat.attributes.get("catalog", {})

    def title(name: str) -> str:
        own = str(catalog.get(name, {}).get("title", ""))
        return own if slug(own) == name else name.replace("-", " ").title()

    return [
        {
            "title": title(name),
            "focus": str(one.get("focus", "")),
            "accepts": str(one.get("accepts", "")),
            "opposes": [title(other) for other in casting.opponents(one)],
        }
        for name, one in catalog.items()
    ]


def transcript(session: Session, due: Due) -> list[dict[str, str]]:
    """What the seat may read, oldest first: each turn under a heading of its round, whole or as a gist."""
    shown = []
    for seen in due.sees:
        turn = seen.turn
        label = seen.label or turn.seat.label
        place = (
            f"{turn.phase.replace('-', ' ')}, round {turn.round}" if _repeats(session.workflow, turn) else turn.phase
        )
        text = fence(session, label, _shown(session, due, seen), turn.id)
        shown.append({"round": place.capitalize(), "by": label, "text": text, "id": turn.id})
    return shown


def _shown(session: Session, due: Due, seen: Seen) -> str:
    turn = seen.turn
    text = turn.gist if seen.gist else (turn.body if not turn.absent else f"(absent: {turn.absent})")
    if seen.label:
        return relabelled(text, turn, due.seat, session.workflow, due.scene)
    return with_names(text, turn, session.workflow, due.scene)


def _repeats(workflow: Workflow, turn: Turn) -> bool:
    return any(phase.most > 1 for phase in workflow.phases if phase.name == turn.phase)


def fence(session: Session, by: str, text: str, about: str) -> str:
    """The text between two marks that nothing inside of it can forge."""
    mark = f'said by="{one_line(by).replace(chr(34), chr(39))}" key="{_key(session, text, about)}"'
    return f"<{mark}>\n{text}\n</{mark}>"


def _key(session: Session, text: str, about: str) -> str:
    return session.key("fence", about, text)
