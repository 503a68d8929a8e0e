"""Finds what a workflow's templates read, and what is wrong in them."""

from __future__ import annotations

from collections.abc import Collection, Iterator
from dataclasses import dataclass
from typing import Any

import jinja2
from jinja2 import meta, nodes
from jinja2.exceptions import SecurityError

from council.config import overlays
from council.engine.facts import fact
from council.prompts import sandbox, templates
from council.text import did_you_mean
from council.workflow.model import Workflow


@dataclass(frozen=True)
class Examined:
    """For all steps: the options that templates read, the problems, and what is probably unintended."""

    options: frozenset[str]
    problems: tuple[str, ...]
    remarks: tuple[str, ...]


def examine(workflow: Workflow) -> Examined:
    there = set(templates.Overlays().list_templates())
    options: set[str] = set()
    problems: list[str] = []
    remarks: list[str] = []
    for phase, step in workflow.steps():
        first = next((name for name in templates.candidates(workflow, step.prompt) if name in there), "")
        reading = _Reading(there)
        problems += [f"phase {phase.name}, step {step.name}: prompt: {why}" for why in reading.all(first)]
        options |= reading.options
        if step.prompt in workflow.tasks and first.startswith(f"{workflow.name}/"):
            remarks.append(f'the section "{step.prompt}" below "Prompts" is not used: templates/{first} replaces it')
    problems += [f"templates/{why}" for why in _broken(workflow, there)]
    return Examined(frozenset(options), tuple(problems), tuple(dict.fromkeys(remarks)))


def _broken(workflow: Workflow, there: Collection[str]) -> Iterator[str]:
    """What is no template among the workflow's documents and its remarks."""
    found = templates.environment()
    for name in sorted(there):
        if name.startswith((f"{overlays.DOCUMENTS}/", f"{workflow.name}/")):
            try:
                found.parse(templates.Overlays().get_source(found, name)[0], name)
            except jinja2.TemplateSyntaxError as wrong:
                yield f"{name}, line {wrong.lineno}: {wrong.message}"
            except RecursionError:
                yield f"{name}: it is nested too deeply"


class _Reading:
    """Reads one template and those that it includes. `lint` reports a missing first one."""

    def __init__(self, there: Collection[str]) -> None:
        self.there = there
        self.environment = templates.environment()
        self.options: set[str] = set()
        self.made: set[str] = set()
        self.read: dict[str, str] = {}

    def all(self, first: str) -> Iterator[str]:
        waiting, seen = [first], {""}
        while waiting:
            name = waiting.pop()
            if name in seen:
                continue
            seen.add(name)
            if name not in self.there:
                yield f'there is no template "{name}" to include; {did_you_mean(name, self.there)}'
                continue
            try:
                tree = self.environment.parse(templates.Overlays().get_source(self.environment, name)[0], name)
                self.take(tree, name)
            except jinja2.TemplateSyntaxError as wrong:
                yield f"templates/{name}, line {wrong.lineno}: {wrong.message}"
                continue
            except RecursionError:
                yield f"templates/{name}: it is nested too deeply"
                continue
            yield from (f"templates/{name}, line {line}: {why}" for line, why in _growths(tree))
            waiting += filter(None, meta.find_referenced_templates(tree))
        yield from self.unknown()

    def unknown(self) -> Iterator[str]:
        known = {*fact.known, "cut", *self.environment.globals, *self.made}
        for variable, name in sorted(self.read.items()):
            if variable not in known:
                yield f'templates/{name} reads "{variable}"; {did_you_mean(variable, fact.known)}'

    def take(self, tree: nodes.Template, where: str) -> None:
        self.made |= {name.name for name in tree.find_all(nodes.Name) if name.ctx == "store"}
        for variable in meta.find_undeclared_variables(tree):
            self.read.setdefault(variable, where)
        self.options |= set(_options(tree))


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
    with sandbox.metered(sandbox.Meter()):
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
