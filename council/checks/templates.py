"""Finds what a workflow's templates read, and what is wrong in them."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import lru_cache
from typing import Any, TypeVar

import jinja2
from jinja2 import meta, nodes
from jinja2.exceptions import SecurityError

from council.config import overlays
from council.engine.facts import fact
from council.prompts import sandbox, templates
from council.prompts.meter import Meter
from council.text import did_you_mean
from council.workflow.model import Workflow

_T = TypeVar("_T")


@dataclass(frozen=True)
class Examined:
    """For all steps: the options that templates read, the problems, and what is probably unintended."""

    options: frozenset[str]
    problems: tuple[str, ...]
    remarks: tuple[str, ...]


def examine(workflow: Workflow, found: FoundTemplates | None = None) -> Examined:
    """What its templates read and what is wrong in them. A caller with many workflows looks up each template once."""
    found = found or FoundTemplates()
    options: set[str] = set()
    problems: list[str] = []
    remarks: list[str] = []
    for phase, step in workflow.steps():
        first = next((name for name in templates.candidates(workflow, step.prompt) if name in found.names), "")
        reading = _Reading(found)
        problems += [f"phase {phase.name}, step {step.name}: prompt: {why}" for why in reading.all(first)]
        options |= reading.options
        if step.prompt in workflow.tasks and first.startswith(f"{workflow.name}/"):
            remarks.append(f'the section "{step.prompt}" below "Prompts" is not used: templates/{first} replaces it')
    problems += [f"templates/{why}" for why in _broken(workflow, found)]
    return Examined(frozenset(options), tuple(problems), tuple(dict.fromkeys(remarks)))


@dataclass(frozen=True)
class _Read:
    """What one template reads, sets and includes, and what rendering it is sure to refuse."""

    variables: frozenset[str]
    made: frozenset[str]
    options: frozenset[str]
    included: tuple[str | None, ...]
    growths: tuple[tuple[int, str], ...]


@lru_cache(maxsize=1024)
def _read(name: str, text: str) -> _Read:
    """Read a template, once for all the steps and workflows that use it."""
    tree = templates.environment().parse(text, name)
    made = frozenset(one.name for one in tree.find_all(nodes.Name) if one.ctx == "store")
    variables = frozenset(meta.find_undeclared_variables(tree))
    included = tuple(meta.find_referenced_templates(tree))
    return _Read(variables, made, frozenset(_options(tree)), included, tuple(_growths(tree)))


@lru_cache(maxsize=1024)
def _parse(name: str, text: str) -> str:
    """All that can be said of a template with other filters than those of prompts: nothing, if it is one."""
    templates.environment().parse(text, name)
    return ""


class FoundTemplates:
    """The templates that there are now, each looked up once."""

    def __init__(self) -> None:
        self.names = set(templates.Overlays().list_templates())
        self.environment = templates.environment()
        self.texts: dict[str, str] = {}

    def take(self, name: str, how: Callable[[str, str], _T]) -> _T | str:
        """What is in it, or why it is no template."""
        if name not in self.texts:
            self.texts[name] = templates.Overlays().get_source(self.environment, name)[0]
        try:
            return how(name, self.texts[name])
        except jinja2.TemplateSyntaxError as wrong:
            return f"{name}, line {wrong.lineno}: {wrong.message}"
        except RecursionError:
            return f"{name}: it is nested too deeply"


def _broken(workflow: Workflow, found: FoundTemplates) -> Iterator[str]:
    """What is no template among the workflow's documents and its remarks."""
    for name in sorted(found.names):
        if name.startswith((f"{overlays.DOCUMENTS}/", f"{workflow.name}/")) and (why := found.take(name, _parse)):
            yield why


class _Reading:
    """Reads one template and those that it includes. `lint` reports a missing first one."""

    def __init__(self, found: FoundTemplates) -> None:
        self.found = found
        self.options: set[str] = set()
        self.made: set[str] = set()
        self.variables: dict[str, str] = {}

    def all(self, first: str) -> Iterator[str]:
        waiting, seen = [first], {""}
        while waiting:
            name = waiting.pop()
            if name in seen:
                continue
            seen.add(name)
            if name not in self.found.names:
                yield f'there is no template "{name}" to include; {did_you_mean(name, self.found.names)}'
                continue
            one = self.found.take(name, _read)
            if isinstance(one, str):
                yield f"templates/{one}"
                continue
            self.made |= one.made
            self.options |= one.options
            for variable in one.variables:
                self.variables.setdefault(variable, name)
            yield from (f"templates/{name}, line {line}: {why}" for line, why in one.growths)
            waiting += filter(None, one.included)
        yield from self.unknown()

    def unknown(self) -> Iterator[str]:
        known = {*fact.known, "cut", *self.found.environment.globals, *self.made}
        for variable, name in sorted(self.variables.items()):
            if variable not in known:
                yield f'templates/{name} reads "{variable}"; {did_you_mean(variable, fact.known)}'


def _growths(tree: nodes.Template) -> Iterator[tuple[int, str]]:
    """What rendering is sure to refuse: a constant that is too large, a method that templates may not call."""
    for one in tree.find_all((nodes.BinExpr, nodes.Getattr)):
        try:
            _fold(one)
        except SecurityError as refused:
            yield one.lineno, str(refused)
        except (nodes.Impossible, ArithmeticError, TypeError, ValueError):
            continue


def _fold(node: nodes.Node) -> Any:
    """The value of an expression made of constants."""
    if isinstance(node, nodes.Const):
        return node.value
    if isinstance(node, nodes.Getattr) and node.attr not in sandbox.METHODS and hasattr(_fold(node.node), node.attr):
        raise SecurityError(f"templates cannot use the method {node.attr}")
    if not isinstance(node, nodes.BinExpr) or node.operator not in sandbox.BOUNDS:
        raise nodes.Impossible
    left, right = _fold(node.left), _fold(node.right)
    with sandbox.metered(Meter()):
        sandbox.BOUNDS[node.operator](left, right)
    return sandbox.Sandbox.default_binop_table[node.operator](left, right)


def _options(tree: nodes.Template) -> Iterator[str]:
    """`options.name`, `options["name"]` and `options.get("name")`."""
    for call in tree.find_all(nodes.Call):
        if isinstance(call.node, nodes.Getattr) and call.node.attr == "get" and _is_options(call.node.node):
            yield from (str(one.value) for one in call.args[:1] if isinstance(one, nodes.Const))
    for item in tree.find_all(nodes.Getitem):
        if _is_options(item.node) and isinstance(item.arg, nodes.Const):
            yield str(item.arg.value)
    yield from (one.attr for one in tree.find_all(nodes.Getattr) if _is_options(one.node))


def _is_options(node: nodes.Node) -> bool:
    return isinstance(node, nodes.Name) and node.name == "options"
