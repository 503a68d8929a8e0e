"""A sandbox in which no template runs for ever, whatever its loops and macros do."""

from __future__ import annotations

from jinja2 import nodes
from jinja2.exceptions import SecurityError
from jinja2.sandbox import ImmutableSandboxedEnvironment

MOST_STEPS = 50_000  # passes of loops and calls of macros: many times what a debate of ten rounds takes


class Bounded(ImmutableSandboxedEnvironment):
    """It counts steps, and reads no clock: the same record gives the same bytes on a slow machine."""

    steps = 0

    def count_step(self) -> None:
        self.steps += 1
        if self.steps > MOST_STEPS:
            raise SecurityError(f"its loops take more than {MOST_STEPS:,} steps")

    def _parse(self, source: str, name: str | None, filename: str | None) -> nodes.Template:
        tree = super()._parse(source, name, filename)
        repeated: list[nodes.For | nodes.Macro] = [*tree.find_all(nodes.For), *tree.find_all(nodes.Macro)]
        for loop in repeated:
            call = nodes.Call(nodes.EnvironmentAttribute("count_step"), [], [], None, None)
            loop.body.insert(0, nodes.ExprStmt(call).set_lineno(loop.lineno))
        return tree
