"""The templates of prompts: found in the overlays when a session begins, frozen with it, and rendered in a sandbox."""

from __future__ import annotations

from functools import lru_cache
from typing import Any

import jinja2
from jinja2 import meta
from jinja2.sandbox import ImmutableSandboxedEnvironment
from jinja2.utils import missing

from council.config import overlays
from council.errors import UsageError
from council.record.program import Program
from council.record.session import Session
from council.workflow.model import Workflow

DOCUMENTS = "documents"  # the folder of what a debate is written up in
PARTS = {"transcript", "round", "synthesis", "section", "issue"}  # those in it that are no document of their own
FRAME = "_task"  # the template around a prompt that stands in a workflow's body


class Overlays(jinja2.BaseLoader):
    """A template by its name: the project's, the user's, the kit's."""

    def get_source(self, environment: jinja2.Environment, template: str) -> tuple[str, str, Any]:
        path = next(overlays.overlaid(f"templates/{template}"), None)
        if path is None:
            raise jinja2.TemplateNotFound(template)
        return overlays.read(path), str(path), None

    def list_templates(self) -> list[str]:
        folders = [folder / "templates" for folder in overlays.overlays()]
        return sorted({path.relative_to(top).as_posix() for top in folders for path in top.rglob("*.md.j2")})


FACTS = "council.facts"  # no name that a template could write


class FactContext(jinja2.runtime.Context):
    """Where a template reads a name that it did not set itself, it may be a fact: then that is computed now."""

    def resolve_or_missing(self, key: str) -> Any:
        found = super().resolve_or_missing(key)
        facts = self.parent.get(FACTS, ())
        return facts[key] if found is missing and key in facts else found


class Sandbox(ImmutableSandboxedEnvironment):
    """Templates are written by others: they reach plain data and nothing else."""

    context_class = FactContext


def environment(loader: jinja2.BaseLoader | None = None) -> jinja2.Environment:
    """A sandbox for the templates of today, or for those that the loader has."""
    return Sandbox(
        loader=loader or Overlays(),
        undefined=jinja2.StrictUndefined,
        autoescape=False,
        trim_blocks=True,
        lstrip_blocks=True,
        keep_trailing_newline=True,
    )


def prompts(workflow: str) -> set[str]:
    """The names that a step's `prompt` may have: the templates of this workflow and those for all."""
    names = {name.removesuffix(".md.j2") for name in Overlays().list_templates()}
    own = {name.removeprefix(f"{workflow}/") for name in names if name.startswith(f"{workflow}/")}
    return own | {name for name in names if "/" not in name and not name.startswith("_")}


def documents(workflow: str) -> set[str]:
    """The kinds of documents that a workflow can end in: its own templates, and those for all."""
    names = [name.removesuffix(".md.j2").split("/") for name in Overlays().list_templates()]
    found = {rest[0] for folder, *rest in names if folder in (DOCUMENTS, workflow) and rest}
    return {name for name in found if not name.startswith("_")} - PARTS


def candidates(workflow: Workflow, prompt: str) -> list[str]:
    """The templates for a prompt: the workflow's own, the frame for what its body says, the one for all."""
    frame = [f"{FRAME}.md.j2"] if prompt in workflow.tasks else []
    return [f"{workflow.name}/{prompt}.md.j2", *frame, f"{prompt}.md.j2"]


# ---- a session's own templates ----


def freeze(workflow: Workflow) -> dict[str, str]:
    """Every template that the workflow's steps can reach today, by its name.

    Where a template computes the name of what it includes, nobody can say what it will need, so all are frozen. One
    that does not exist is left out: it may stand where it is never included, and rendering names it otherwise.
    """
    found, there = environment(), set(Overlays().list_templates())
    prompts = dict.fromkeys(step.prompt for _, step in workflow.steps())
    firsts = (next((name for name in candidates(workflow, prompt) if name in there), None) for prompt in prompts)
    waiting = [name for name in firsts if name]
    texts: dict[str, str] = {}
    while waiting:
        name = waiting.pop()
        try:
            texts[name] = Overlays().get_source(found, name)[0]
            included = [*meta.find_referenced_templates(found.parse(texts[name], name))]
        except jinja2.TemplateNotFound:
            continue
        except (jinja2.TemplateError, RecursionError) as wrong:
            raise UsageError(f"the template {name}: {wrong}") from None
        waiting += [one for one in (there if None in included else included) if one and one not in texts]
    return texts


def program_of(session: Session) -> Program:
    """The session's frozen program. One that began without has the templates of today, and keeps them in memory."""
    if session.program is None:
        session.program = Program(freeze(session.workflow), session.metadata["seats"])
    return session.program


def template(session: Session, prompt: str) -> jinja2.Template:
    """The first template that there is for a prompt, as this session has it."""
    return _compiled(program_of(session)).select_template(candidates(session.workflow, prompt))


@lru_cache(maxsize=8)
def _compiled(program: Program) -> jinja2.Environment:
    """Compiled templates belong to one program: another session's may have the same names."""
    return environment(jinja2.DictLoader(dict(program.templates)))
