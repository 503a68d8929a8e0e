"""The sandbox in which templates render: plain data goes in, text comes out, and every computation ends.

A template may be a stranger's. It reaches nothing of Python, and all that it makes or computes with is counted in
steps: each item of a loop, each call, each piece of a value. What it only quotes costs next to nothing.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from functools import lru_cache, wraps
from math import prod
from traceback import walk_tb
from typing import Any

import jinja2
from jinja2 import meta, nodes
from jinja2.exceptions import TemplateError, TemplateRuntimeError
from jinja2.sandbox import ImmutableSandboxedEnvironment
from jinja2.visitor import NodeTransformer

from council.next.text import one_line

MOST_STEPS = 200_000  # the longest brief of a debate takes a few thousand
MOST_CHARACTERS = 8_000_000  # of a brief: no model reads more
PIECE = 500  # characters that cost a step
LARGEST, HIGHEST_POWER, WIDEST = 10**18, 64, 999
LONG_FORMAT = 4  # digits of a width that is more than WIDEST
# Neither list names anything that can make a long text of a short one.
METHODS = """capitalize count cycle endswith get items keys lower lstrip removeprefix removesuffix replace rstrip split
    splitlines startswith strip title upper values""".split()
FILTERS = """capitalize count d default first items last length list lower map max min reject rejectattr reverse
    select selectattr sort string sum title trim unique upper""".split()
# All that a template can raise. The last three are what Python's compiler says of one that is nested too deeply.
PLAIN = (TemplateError, ArithmeticError, AttributeError, LookupError, TypeError, ValueError)
FAILURES = (*PLAIN, RecursionError, MemoryError, SyntaxError)


class Marker(NodeTransformer):
    """Sends through the counter what jinja does without asking the sandbox: loops, comparisons, and values in place."""

    def visit(self, node: nodes.Node, *_: Any, **__: Any) -> Any:
        self.generic_visit(node)
        if isinstance(node, nodes.For):
            node.iter = mark(node.iter, "looped")
        elif isinstance(node, nodes.Compare | nodes.Operand):
            node.expr = mark(node.expr)
        is_slice = isinstance(node, nodes.Getitem) and isinstance(node.arg, nodes.Slice)
        is_value = isinstance(node, nodes.Tuple) and node.ctx == "load"
        return mark(node) if is_slice or is_value or isinstance(node, nodes.List | nodes.Dict | nodes.Concat) else node


def mark(node: nodes.Node, name: str = "counted") -> nodes.Filter:
    return nodes.Filter(node, name, [], [], None, None, lineno=node.lineno)


class Sandbox(ImmutableSandboxedEnvironment):
    intercepted_binops = frozenset(ImmutableSandboxedEnvironment.default_binop_table)

    def __init__(self, templates: Mapping[str, str]) -> None:
        super().__init__(
            loader=jinja2.DictLoader(templates),
            undefined=jinja2.StrictUndefined,
            trim_blocks=True,
            lstrip_blocks=True,
            keep_trailing_newline=True,
            optimized=False,  # the compiler would compute constants before anything is counted
        )
        self.templates, self.steps = templates, 0
        self.globals = {"range": self.globals["range"]}
        self.filters = {name: self.counting(self.filters[name]) for name in FILTERS}
        self.filters |= {"join": self.concat, "replace": self.replace, "counted": self.count, "looped": self.loop}
        self.tests = {name: self.counting(test) for name, test in self.tests.items()}
        self.used: dict[str, set[str]] = {}

    def names(self, template: str) -> set[str]:
        """Every name that a template and those which it includes read from outside."""
        if template not in self.used:
            seen, waiting, found = set[str](), {template}, set[str]()
            while waiting:
                seen.add(name := waiting.pop())
                if (text := self.templates.get(name)) is None:
                    raise jinja2.TemplateNotFound(name)
                found |= meta.find_undeclared_variables(self.parse(text))
                waiting |= references(text) - seen
            self.used[template] = found
        return self.used[template]

    def render(self, template: str, facts: Mapping[str, Any]) -> str:
        """The text. Raises one of FAILURES."""
        self.steps, size, pieces = 0, 0, []
        found = self.get_template(template)
        for piece in found.root_render_func(found.new_context(dict(facts))):
            size += len(piece)
            pieces.append(piece)
            if size > MOST_CHARACTERS:
                raise TemplateRuntimeError(f"it makes more than {MOST_CHARACTERS:,} characters")
        return "".join(pieces)

    # ---- the counter ----

    def step(self, number: int = 1) -> None:
        self.steps += number
        if self.steps > MOST_STEPS:
            raise TemplateRuntimeError("it does not come to an end, or makes too much text")

    def count(self, value: Any) -> Any:
        """The value. Its size counts, with all that is inside it."""
        value = [*value] if isinstance(value, Iterator) else value
        waiting = [value]
        while waiting:
            one = waiting.pop()
            self.step(1 + len(one) // PIECE if isinstance(one, str) else 1)
            if isinstance(one, dict):
                waiting += [*one, *one.values()]
            elif isinstance(one, list | tuple):
                waiting += one
        return value

    def counting(self, function: Any) -> Callable[..., Any]:
        """The function, with a count of what it reads and what it makes."""

        @wraps(function)
        def call(*args: Any, **keys: Any) -> Any:
            self.count([args, keys])
            return self.count(function(*args, **keys))

        return call

    def loop(self, items: Iterable[Any]) -> list[Any]:
        found = [*items]
        self.step(1 + len(found))  # and not what is inside of them: a loop only quotes it
        return found

    def concat(self, pieces: Iterable[Any], by: str = "") -> str:
        """The filter `join`, and what a macro or a block `set` makes of its pieces."""
        texts = [*map(str, pieces)]
        self.step(len(texts) + (sum(map(len, texts)) + len(texts) * len(by)) // PIECE)
        return by.join(texts)

    def replace(self, text: str, old: str, new: str) -> str:
        self.step(1 + (len(text) + text.count(old) * len(new)) // PIECE)
        return text.replace(old, new)

    # ---- what jinja asks the sandbox ----

    def _generate(self, source: nodes.Template, *args: Any, **keys: Any) -> str:
        return super()._generate(Marker().visit(source), *args, **keys)

    def _load_template(self, name: str, *args: Any) -> jinja2.Template:
        self.step()  # templates that include each other twice
        return super()._load_template(name, *args)

    def is_safe_attribute(self, obj: Any, attr: str, value: Any) -> bool:
        is_plain = isinstance(obj, str | int | float | list | tuple | dict | bytes)
        return super().is_safe_attribute(obj, attr, value) and (not is_plain or attr in METHODS)

    def wrap_str_format(self, value: Any) -> None:
        """Nothing wraps `str.format`, so it is refused like every method that is not in METHODS."""

    def getitem(self, obj: Any, argument: Any) -> Any:
        return super().getitem(obj, self.count(argument))

    def call(self, context: Any, obj: Any, *args: Any, **keys: Any) -> Any:
        owner = getattr(obj, "__self__", None)
        if isinstance(owner, str) and obj.__name__ == "replace":
            return self.replace(owner, *args)
        self.count([owner, args, keys])
        return self.count(super().call(context, obj, *args, **keys))

    def call_binop(self, context: Any, operator: str, left: Any, right: Any) -> Any:
        numbers = [abs(one) for one in (left, right) if isinstance(one, int | float)]
        sizes = [len(one) for one in (left, right) if isinstance(one, str | list | tuple)]
        if max(numbers, default=0) > LARGEST or (operator == "**" and numbers[-1] > HIGHEST_POWER):
            raise TemplateRuntimeError("it computes with too large a number")
        if operator == "*":
            self.step(int(prod(sizes + numbers)) if sizes else 1)
        elif operator == "%" and isinstance(left, str):
            if "*" in left or any(left[at : at + LONG_FORMAT].isdigit() for at in range(len(left) - LONG_FORMAT + 1)):
                raise TemplateRuntimeError(f"a format may be at most {WIDEST} wide")
            self.step(left.count("%") * (WIDEST + len(str(right))) // PIECE)
        return self.count(super().call_binop(context, operator, left, right))


def references(text: str) -> set[str]:
    """The names of the templates that a template includes or imports."""
    found = {*meta.find_referenced_templates(jinja2.Environment().parse(text))}
    if None in found:
        raise TemplateRuntimeError("write the name of each template that it includes, so that it can be frozen")
    return {name for name in found if name}


@lru_cache(maxsize=16)
def sandbox(templates: frozenset[tuple[str, str]]) -> Sandbox:
    """The sandbox of these templates. Sessions that froze the same ones share it, so each is compiled once."""
    return Sandbox(dict(templates))


def explain(wrong: BaseException, template: str) -> str:
    """What is wrong, and in which template: the innermost one that was running."""
    running = (frame.f_globals for frame, _ in walk_tb(wrong.__traceback__))
    names = [str(one["name"]) for one in running if isinstance(one.get("environment"), Sandbox) and "name" in one]
    name = getattr(wrong, "name", None) if isinstance(wrong, jinja2.TemplateSyntaxError) else None
    what = "it is nested too deeply" if isinstance(wrong, RecursionError | MemoryError) else str(wrong)
    return f"the template {name or (names or [template])[-1]}: {one_line(what, 300)}"
