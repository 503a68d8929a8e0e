"""Prints docs/workflows.md: the text beside this file, with all that the code knows of the language put in.

What the page says about a rule, an order, a view, a key, a type or an option is what the code says, and
every example is taken from an existing workflow. `tests/test_docs.py` compares the page with this.
"""

from __future__ import annotations

import inspect
import re
import sys
from collections.abc import Callable, Iterator
from dataclasses import fields, replace
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

import jinja2

from council.checks.cost import Rates, bound_steps
from council.checks.diagram import mermaid
from council.cli.workflows import STARTER
from council.config import overlays, personas
from council.config.personas import parse
from council.engine import voting
from council.engine.conditions import rule
from council.engine.facts import describe_facts
from council.engine.orders import order
from council.engine.positions import find_conditions, find_refs
from council.engine.views import view
from council.prompts import sandbox
from council.reports import model
from council.workflow import declare, frontmatter, vocabulary
from council.workflow.loader import load
from council.workflow.model import Ref, Workflow
from council.workflow.registry import Hook

ROOT = Path(__file__).resolve().parent.parent
SHAPES = {
    "stages": model.Stage, "stages.rounds": model.Round, "rounds.statements": model.Statement,
    "statements.answers": model.Answer, "verdict": model.DebateVerdict, "synthesis": model.Synthesis,
}  # fmt: skip
EXAMPLE = ROOT / "tests" / "fixtures" / "premortem.md"
TOPOLOGIES = ROOT / "tests" / "fixtures" / "topologies.md"
CODE = ROOT / "tests" / "fixtures" / "fix-until-green.md"


def page() -> str:
    example = load(EXAMPLE.read_text("utf-8"), EXAMPLE.name)
    environment = jinja2.Environment(undefined=jinja2.StrictUndefined, trim_blocks=True, keep_trailing_newline=True)
    text = (Path(__file__).with_suffix(".md.j2")).read_text("utf-8")
    return environment.from_string(text).render(
        example=EXAMPLE.read_text("utf-8").strip(),
        lines=len(EXAMPLE.read_text("utf-8").splitlines()),
        code=CODE.read_text("utf-8").strip(),
        starter=STARTER.read_text("utf-8").strip(),
        diagram=mermaid(example).strip(),
        draw=draw,
        steps=steps,
        calls=calls(example),
        turns=turns(example),
        language=vocabulary,
        declare=declare,
        shapes={name: ", ".join(f"`{one.name}`" for one in fields(shape)) for name, shape in SHAPES.items()},
        about=about,
        rules=list(hooks(rule)),
        methods={name: method.about for name, method in voting.METHODS.items()} | {voting.AUTO: voting.AUTO_ABOUT},
        orders=list(hooks(order)),
        views=list(hooks(view)),
        variables=describe_facts(),
        filters=", ".join(f"`{name}`" for name in sandbox.FILTERS),
        prompts=dict(prompts()),
        people=parse((ROOT / "AgentPersonalities.md").read_text("utf-8"), "AgentPersonalities.md"),
        fields=personas.FIELDS,
        tiers=list(frontmatter.split((ROOT / "Config.md").read_text("utf-8"), "Config.md")[0]["tiers"]),
    )


def about(words: declare.Words) -> dict[str, str]:
    return {name: word.about for name, word in sorted(words.known.items())}


def draw(name: str, *phases: str) -> str:
    """The diagram of some phases of a workflow."""
    whole = read(name)
    return mermaid(replace(whole, phases=tuple(phase for phase in whole.phases if phase.name in phases))).strip()


def steps(name: str, phase: str) -> str:
    """A phase as its workflow has it."""
    lines = path_of(name).read_text("utf-8").splitlines()
    first = next(place for place, line in enumerate(lines) if re.match(rf"  - (?:{{)?name: {phase}\b", line))
    rest = (place for place, line in enumerate(lines[first + 1 :], first + 1) if re.match(r"  - |---", line))
    return "\n".join(lines[first : next(rest)])


def read(name: str) -> Workflow:
    return load(path_of(name).read_text("utf-8"), name)


def path_of(name: str) -> Path:
    return TOPOLOGIES if name == TOPOLOGIES.stem else ROOT / "Workflows" / f"{name}.md"


def calls(workflow: Workflow) -> str:
    free = {step.tier: Rates("", None, None, 0) for _, step in workflow.steps()}
    rows = bound_steps(workflow, "", free)
    return f"{sum(row.least for row in rows)} to {sum(row.most for row in rows)} calls"


def turns(workflow: Workflow) -> list[str]:
    """The names of the first turn of each step, as files and as in a script."""
    seats = [(phase, step, workflow.seats(str(name) for name in step.seats)[0]) for phase, step in workflow.steps()]
    return [f"{phase.folder(1, step)}/{seat.name}" for phase, step, seat in seats]


def hooks(known: Hook[Callable[..., Any]]) -> Iterator[str]:
    """A line each: its name, its arguments with what they are without a word, what it says, and where it is used."""
    used = dict(reversed(list(uses(known))))
    for name, function in sorted(known.known.items()):
        takes = list(map(argument, list(inspect.signature(function).parameters.values())[known.leading :]))
        told = " ".join((function.__doc__ or "").split())
        shown = f" As in `{used[name]}`." if name in used and used[name] != name else ""
        yield f"`{name}`{' (' * bool(takes)}{', '.join(takes)}{')' * bool(takes)}: {told}{shown}"


def argument(parameter: inspect.Parameter) -> str:
    if parameter.kind is parameter.VAR_KEYWORD:
        return "names with values"
    if parameter.default is parameter.empty:
        return f"**`{parameter.name}`**"
    if parameter.default in (None, "", ()):
        return f"`{parameter.name}`"
    return f"`{parameter.name}`: {flow(parameter.default)}"


def uses(known: Hook[Callable[..., Any]]) -> Iterator[tuple[str, str]]:
    """How the kit's workflows and the example use rules, orders and views: each by its name, written as in YAML."""
    paths = [path for path in sorted((ROOT / "Workflows").glob("*.md")) if path.stem.lower() not in overlays.GUIDES]
    for workflow in (load(path.read_text("utf-8"), path.name) for path in (EXAMPLE, *paths, STARTER)):
        for ref in everything(workflow):
            if ref.name in known.known:
                yield ref.name, flow(ref)


def everything(workflow: Workflow) -> Iterator[Ref]:
    for _, condition in find_conditions(workflow):
        yield from find_refs(condition)
    for _, step in workflow.steps():
        yield from (step.order, *step.sees)


def flow(value: Any) -> str:
    """A value of a workflow as YAML in one line."""
    if isinstance(value, Ref):
        return value.name if value.args is None else f"{{{value.name}: {flow(value.args)}}}"
    if isinstance(value, dict):
        return f"{{{', '.join(f'{name}: {flow(one)}' for name, one in value.items())}}}"
    if isinstance(value, list):
        return f"[{', '.join(map(flow, value))}]"
    if isinstance(value, bool):
        return str(value).lower()
    return str(value) if re.fullmatch(r"[\w./ -]+", str(value)) else f'"{value}"'


def prompts() -> Iterator[tuple[str, str]]:
    """The prompts that every workflow may use, each with the heading of its task."""
    for path in sorted((ROOT / "templates").glob("[!_]*.md.j2")):
        found = re.search(r"^# Now: ([^,{\n]*)", path.read_text("utf-8"), re.M)
        yield path.name.removesuffix(".md.j2"), found.group(1).strip() if found else ""


if __name__ == "__main__":
    print(page(), end="")
