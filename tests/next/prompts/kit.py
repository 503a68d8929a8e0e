"""Sessions with the kit's workflows, templates and personas, whose briefs are written as a run writes them."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from council.next.config import places
from council.next.engine.planner import Due
from council.next.engine.scene import Recorded
from council.next.prompts.brief import Brief, freeze, write
from council.next.record.create import Birth, create
from council.next.record.session import Session
from council.next.record.turn_file import Receipt
from council.next.text import encode
from council.next.workflow.gates import insert
from council.next.workflow.loader import load
from tests.next.protocols.held import KIT

TEMPLATES = KIT.parent / "templates"
KIT_TEMPLATES = {str(path.relative_to(TEMPLATES)): path.read_text("utf-8") for path in TEMPLATES.rglob("*.j2")}
ID = "20260101-120000-aaaaaaaa"
TOPIC = "Redis or PostgreSQL for the cache?"
# What config will read from AgentPersonalities.md: enough of it for every kind of seat.
PERSONAS: dict[str, dict[str, Any]] = {
    "architect": {
        "title": "Architect",
        "name": "Serena Blackwood",
        "focus": "system design",
        "perspective": "You look.",
    },
    "engineer": {"title": "Engineer", "name": "Marcus Webb", "focus": "implementation reality", "perspective": "Dull."},
    "chair": {"title": "Chair", "focus": "a fair account", "perspective": "You weigh arguments."},
    "simplicity": {"title": "Simplicity", "focus": "few parts", "accepts": "slowness", "opposes": "performance"},
    "performance": {"title": "Performance", "focus": "speed", "accepts": "more parts", "opposes": "simplicity"},
}
Speak = Callable[[Due, Brief], str | Recorded]


@contextmanager
def begun(root: Path, name: str = "Debate", own: Mapping[str, str] | None = None, **more: Any) -> Iterator[Session]:
    """A new session of one of the kit's workflows, or of the text `workflow`.

    `own` are a user's templates, which come before the kit's."""
    text = more.pop("workflow", "") or (KIT / f"{name}.md").read_text("utf-8")
    options, gates, id = more.pop("options", {}), more.pop("gates", []), more.pop("id", ID)
    workflow = insert(load(text, f"{name}.md").with_options(options), gates)
    members = more.pop("members", [seat.name for seat in workflow.members])
    program = {
        "options": options,
        "gates": gates,
        "members": members,
        "personas": more.pop("personas", PERSONAS),
        "templates": freeze(workflow, overlays(root, own or {})),
        **more.pop("program", {}),
    }
    facts = {"members": members, "output_mode": "deliberative", "rounds_planned": "adaptive"}
    with create(root, Birth(text, more.pop("topic", TOPIC), program, facts, **more), id) as session:
        yield session


def overlays(root: Path, own: Mapping[str, str]) -> tuple[Path, ...]:
    """The kit, with these templates of a user before it."""
    for name, text in own.items():
        path = root / "overlay" / "templates" / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, "utf-8")
    return root / "overlay", places.KIT


def record(session: Session, due: Due, reply: str | Recorded, brief: str = "") -> None:
    said = reply if isinstance(reply, Recorded) else Recorded(reply)
    about = {"turn": due.id, "seat": due.seat.name, "step": due.step.name, "round": due.round, "speaker": "replay"}
    session.record(Receipt(**about, brief=brief, absent=said.absent, by=said.by or None), encode(said.body))  # type: ignore[arg-type]


def hold(session: Session, speak: Speak, most: int = 2_000) -> dict[str, Brief]:
    """Hold the debate to its end. Returns every brief, by its turn."""
    briefs: dict[str, Brief] = {}
    while session.advance().due:
        for due in session.plan.due:
            briefs[due.id] = write(session, due)
            record(session, due, speak(due, briefs[due.id]), briefs[due.id].hash)
        assert len(briefs) < most, "the debate does not end"
    return briefs
