"""Documents are templates under `templates/documents/`, which users overlay like prompts.

A session freezes the overlays that exist when it begins; a later version may word the kit's own templates differently.
A template gets plain data and renders in a sandbox. No template is ever built from a topic or a reply.
"""

from __future__ import annotations

import re
import traceback
from collections.abc import Callable, Mapping
from functools import lru_cache
from types import MappingProxyType
from typing import TYPE_CHECKING, Any

from council.config import overlays
from council.engine.planner import Plan
from council.engine.scene import Turn
from council.record.session import Session
from council.reports.outline import as_tasks, drop_bullet, is_nothing
from council.reports.words import contain, contain_line, place_below
from council.text import one_line
from council.workflow.model import Reply, Workflow

if TYPE_CHECKING:
    from council.prompts.sandbox import Sandbox

FOLDER = overlays.DOCUMENTS
REMARKS = "remarks"
LONGEST_REMARK = 300
MOST_MATERIAL = 1_000_000_000  # more characters than a session has
Overlaid = Mapping[str, str]  # templates that replace the kit's, by name
NOTHING: Overlaid = MappingProxyType({})


def freeze(workflow: Workflow) -> dict[str, str]:
    """The overlaid documents and remarks that a new session of this workflow has to keep."""
    texts = {}
    for name in sorted(overlays.own_templates()):
        if name.startswith((f"{FOLDER}/", f"{workflow.name}/")) and (path := overlays.find_template(name)):
            texts[name] = overlays.read(path)
    return texts


def frozen_templates(session: Session) -> Overlaid:
    """The templates that the session froze, without those that are the kit's, word for word. A session begun by an
    earlier version has none and uses the kit's.
    """
    own, kit = (f"{FOLDER}/", f"{session.workflow.name}/"), overlays.kit_templates()
    templates = session.program.templates if session.program else NOTHING
    return {name: text for name, text in templates.items() if name.startswith(own) and kit.get(name) != text}


def render(name: str, overlaid: Overlaid, **data: Any) -> str:
    """Render the template of that name. If an overlay fails, the kit's template is used instead."""
    try:
        return try_render(name, overlaid, data)
    except Exception as wrong:
        if not overlaid:
            raise
        if f"{name}.md.j2" not in overlays.kit_templates():
            return f"*(The template {name}.md.j2 could not be rendered: {describe_fault(wrong)}.)*\n"
        return render(name, NOTHING, **data)


def try_render(name: str, overlaid: Overlaid, data: Mapping[str, Any]) -> str:
    """Render the template of that name, or raise whatever goes wrong in it."""
    environment = _environment(tuple(overlaid.items()))
    if not overlaid:  # ours, and as long as the record makes it
        return environment.get_template(f"{name}.md.j2").render(data)
    from council.prompts import meter, sandbox

    return sandbox.render(lambda: environment.get_template(f"{name}.md.j2"), data, meter.weigh(data, MOST_MATERIAL))


def describe_fault(wrong: Exception) -> str:
    """What went wrong in a template, and in which line of it."""
    lines = [frame.lineno for frame in traceback.extract_tb(wrong.__traceback__) if frame.filename == "<template>"]
    return f"{f'line {lines[-1]}: ' if lines else ''}{one_line(str(wrong), 300)}"


def remarks(session: Session, plan: Plan, turn: Turn) -> list[str]:
    """What the workflow's template `remarks` says about a turn: its lines that are not empty."""
    overlaid = frozen_templates(session)
    if not (name := find(overlaid, f"{session.workflow.name}/{REMARKS}")):
        return []
    at = [one.id for one in plan.scene.turns].index(turn.id)
    *earlier, now = [describe_turn(one, session.workflow) for one in plan.scene.turns[: at + 1]]
    text = render(name, overlaid, turn=now, earlier=earlier, options=dict(session.workflow.options))
    return [one_line(line, LONGEST_REMARK) for line in text.splitlines() if line.strip()]


def describe_turn(turn: Turn, workflow: Workflow) -> dict[str, Any]:
    """A turn as plain data. Each answer of the workflow is there: an empty one where this turn did not give it."""
    answers = {name: list(value) if isinstance(value, tuple) else value for name, value in turn.answers.items()}
    plain = {name: value for name, value in answers.items() if isinstance(value, str | int | float | list)}
    return {
        "id": turn.id, "seat": turn.seat.name, "label": turn.seat.label, "phase": turn.phase, "step": turn.step,
        "round": turn.round, "text": turn.body, "prose": turn.prose, "absent": turn.absent or "",
        "answers": {**step_blanks(workflow, turn.step), **plain},
    }  # fmt: skip


def step_blanks(workflow: Workflow, step: str) -> dict[str, Any]:
    """An empty answer for each that the workflow asks for, of the type that it has in this step."""
    steps = sorted((one for _, one in workflow.steps()), key=lambda one: one.name == step)
    return {name: blank for one in steps for name, blank in blanks(one.reply).items()}


def blanks(reply: Reply) -> dict[str, Any]:
    """An empty answer for each of a reply: a template can test it, and it is never a yes."""
    return {name: [] if kind.type == "list" else "" for name, kind in reply}


def find(overlaid: Overlaid, *names: str) -> str:
    """The first of these templates that exists; empty if none does."""
    known = {*overlaid, *overlays.kit_templates()}
    return next((name for name in names if f"{name}.md.j2" in known), "")


@lru_cache(maxsize=4)
def _environment(overlaid: tuple[tuple[str, str], ...]) -> Sandbox:
    import jinja2  # not needed to look at sessions whose files are unchanged

    from council.prompts.sandbox import Sandbox

    found = Sandbox(
        loader=jinja2.ChoiceLoader([jinja2.DictLoader(dict(overlaid)), jinja2.DictLoader(overlays.kit_templates())]),
        undefined=jinja2.StrictUndefined,
        autoescape=False,
        trim_blocks=True,
        lstrip_blocks=True,
        keep_trailing_newline=True,
        auto_reload=False,
        metered=bool(overlaid),
    )
    found.filters |= FILTERS
    return found


def quote(words: str) -> str:
    """Quote a text unchanged. None of its lines can be mistaken for a line of the document."""
    return "\n".join(f"> {line}".rstrip() for line in words.splitlines())


FOLDED = re.compile(r"^<details>\n<summary>(.*)</summary>$|^</details>$|^<!-- .*\bmarkdownlint\b.* -->$", re.M)


def unfold(document: str) -> str:
    """A document of ours without the HTML of its folded parts and its comment for markdownlint, its only HTML."""
    return FOLDED.sub(lambda found: f"**{found[1]}**" if found[1] else "", document)


def cell(words: str) -> str:
    """A text that fits into one cell of a table, disarmed."""
    return contain_line(one_line(words, 300).replace("\\", "\\\\").replace("|", "\\|"))


FILTERS: dict[str, Callable[..., Any]] = {
    "quoted": quote,
    "cell": cell,
    "one_line": one_line,
    "contain": contain,
    "below": place_below,
    "nothing": is_nothing,
    "tasks": as_tasks,
    "bare": drop_bullet,
}
