"""The templates of prompts: found in the overlays and rendered in a sandbox."""

from __future__ import annotations

from functools import lru_cache
from typing import Any

import jinja2
from jinja2.sandbox import ImmutableSandboxedEnvironment

from council.config import overlays

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
