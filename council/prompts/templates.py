"""The templates of prompts: found in the overlays when a session begins, frozen with it, and rendered in a sandbox."""

from __future__ import annotations

from functools import lru_cache
from typing import Any

import jinja2
from jinja2 import meta
from jinja2.utils import missing

from council.config import overlays
from council.engine.facts import fact
from council.errors import UsageError
from council.prompts.sandbox import Compiled, Sandbox
from council.record.program import Program
from council.record.session import Session
from council.workflow.model import Workflow

PARTS = {"transcript", "round", "synthesis", "section", "issue"}  # templates in it that are part of other documents
FRAME = "_task"  # the template around a prompt that is a section of a workflow's body


class Overlays(jinja2.BaseLoader):
    """Loads a template by its name: the project's, the user's or the kit's."""

    def get_source(self, environment: jinja2.Environment, template: str) -> tuple[str, str, Any]:
        path = overlays.find_template(template)
        if path is None:
            raise jinja2.TemplateNotFound(template)
        return overlays.read(path), str(path), None

    def list_templates(self) -> list[str]:
        return sorted({*overlays.own_templates(), *overlays.kit_templates()})


FACTS = "council.facts"  # no name that a template could write


class FactContext(jinja2.runtime.Context):
    """A name that the template did not set may be a fact, which is computed when it is first read."""

    def resolve_or_missing(self, key: str) -> Any:
        found = super().resolve_or_missing(key)
        if found is missing and FACTS in self.parent and key in fact.known:
            return self.parent[FACTS][key]
        return found


class PromptSandbox(Sandbox):
    """The sandbox of prompts, whose variables are facts."""

    context_class = FactContext
    ours = Compiled()


def environment(loader: jinja2.BaseLoader | None = None, metered: bool = True) -> PromptSandbox:
    """A sandbox for the current templates, or for those of the loader."""
    return PromptSandbox(
        metered=metered,
        loader=loader or Overlays(),
        undefined=jinja2.StrictUndefined,
        autoescape=False,
        trim_blocks=True,
        lstrip_blocks=True,
        keep_trailing_newline=True,
    )


def prompts(workflow: str) -> set[str]:
    """The names that a step's `prompt` may have: the templates of this workflow, and those for all workflows."""
    names = {name.removesuffix(".md.j2") for name in Overlays().list_templates()}
    own = {name.removeprefix(f"{workflow}/") for name in names if name.startswith(f"{workflow}/")}
    return own | {name for name in names if "/" not in name and not name.startswith("_")}


def documents(workflow: str) -> set[str]:
    """The kinds of documents that a workflow can end in: its own templates, and those for all."""
    names = [name.removesuffix(".md.j2").split("/") for name in Overlays().list_templates()]
    found = {rest[0] for folder, *rest in names if folder in (overlays.DOCUMENTS, workflow) and rest}
    return {name for name in found if not name.startswith("_")} - PARTS


def candidates(workflow: Workflow, prompt: str) -> list[str]:
    """The templates for a prompt, of which the first one is used: the workflow's own, the frame for a section of
    its body, the one for all workflows."""
    frame = [f"{FRAME}.md.j2"] if prompt in workflow.tasks else []
    return [f"{workflow.name}/{prompt}.md.j2", *frame, f"{prompt}.md.j2"]


# ---- a session's own templates ----


def freeze(workflow: Workflow) -> dict[str, str]:
    """The current text of every template that the workflow's steps can reach, by its name.

    If a template computes the name of what it includes, any template may be needed, so all are frozen. A template that
    does not exist is left out: it may be in a branch that is never rendered; if not, rendering reports it.
    """
    existing = {*Overlays().list_templates()}
    prompts = dict.fromkeys(step.prompt for _, step in workflow.steps())
    firsts = (next((name for name in candidates(workflow, prompt) if name in existing), None) for prompt in prompts)
    waiting = [name for name in firsts if name]
    texts: dict[str, str] = {}
    while waiting:
        name = waiting.pop()
        path = overlays.find_template(name)
        if path is None:
            continue
        texts[name] = overlays.read(path)
        try:
            included = _list_included(texts[name], name)
        except (jinja2.TemplateError, RecursionError) as wrong:
            raise UsageError(f"the template {name}: {wrong}") from None
        waiting += [other for other in (existing if None in included else included) if other and other not in texts]
    return texts


@lru_cache(maxsize=500)
def _list_included(text: str, name: str) -> tuple[str | None, ...]:
    """The templates that one names; None for one whose name it computes."""
    return tuple(meta.find_referenced_templates(environment(metered=False).parse(text, name)))


def load_program(session: Session) -> Program:
    """The session's frozen program. For its prompts, a session that has none uses the current templates, read once."""
    if session.program is not None:
        return session.program
    if session.current is None:
        session.current = Program(freeze(session.workflow), session.metadata["seats"])
    return session.current


@lru_cache(maxsize=8)
def load_environment(program: Program) -> PromptSandbox:
    """The sandbox that compiles the templates of one program: another program's may have the same names."""
    return environment(jinja2.DictLoader(dict(program.templates)), metered=not overlays.are_ours(program.templates))
