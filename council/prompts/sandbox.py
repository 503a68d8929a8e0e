"""A sandbox for templates that anybody wrote: plain data in, a bounded text out.

Nothing here reads a clock: the same record gives the same bytes on a slow machine. Whatever a template makes or reads
whole is weighed and charged to its meter before anything of that size exists, and loops and macros count steps. So no
template makes a long text, a huge list or a long computation.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from contextvars import ContextVar
from types import CodeType
from typing import Any

import jinja2
from jinja2 import filters, nodes, pass_context, pass_environment, pass_eval_context
from jinja2.bccache import Bucket
from jinja2.exceptions import SecurityError
from jinja2.runtime import Context
from jinja2.sandbox import ImmutableSandboxedEnvironment

from council.prompts.meter import CELL, Meter

LARGEST = 2_000_000  # characters of a rendered text, beyond what it quotes
LARGEST_NUMBER = 256  # bits
WIDEST = 1000  # of what is padded, indented or cut into batches

# Methods of text, lists and mappings that a template may call; all others could grow without a bound.
METHODS = frozenset(
    "capitalize casefold count endswith find get index isalnum isalpha isdecimal isdigit islower isnumeric isspace "
    "istitle isupper items join keys lower lstrip partition removeprefix removesuffix replace rfind rindex rpartition "
    "rsplit rstrip split splitlines startswith strip swapcase title upper values".split()
)  # fmt: skip
# Jinja's filters that a template may use.
FILTERS = (
    "abs attr batch capitalize count d default dictsort e escape first float groupby indent int items join last length "
    "list lower map max min reject rejectattr replace reverse round safe select selectattr slice sort string sum title "
    "tojson trim truncate unique upper wordcount"
).split()  # fmt: skip
PLAIN = (str, bytes, int, float, list, tuple, Mapping, set, frozenset, range)
PADDED = re.compile(r"%(?:\([^()]*\))?[^%a-zA-Z(]*(\d{3}|\*)|%\([^()]*\(")  # or brackets in the name of a value
CHARGE, STEP = "charge it", "take a step"  # filters of ours, under names that no template can write


# None while one of our own templates is rendered, whose loops end and whose text is as long as the record makes it.
_meter: ContextVar[Meter | None] = ContextVar("meter", default=None)


@contextmanager
def metered(meter: Meter | None) -> Iterator[None]:
    token = _meter.set(meter)
    try:
        yield
    finally:
        _meter.reset(token)


def render(load: Callable[[], jinja2.Template], data: Mapping[str, Any], material: int) -> str:
    """Compile and render a template of strangers, and stop as soon as its text is longer than it may be. `material` is
    the size of what it may have to quote.
    """
    pieces, left = list[str](), LARGEST + 2 * material
    with metered(Meter(material)):
        for piece in load().generate(data):
            pieces.append(piece)
            left -= len(piece)
            if left < 0:
                raise SecurityError(f"its text is longer than {LARGEST:,} characters")
    return "".join(pieces)


def _take(amount: int) -> None:
    if meter := _meter.get():
        meter.take(amount)


def _charge(value: Any, times: int = 1) -> None:
    if meter := _meter.get():
        meter.take(meter.weigh(value) * times)


class Compiled(jinja2.BytecodeCache):
    """Templates that were compiled in this process: many sessions have the same ones."""

    def __init__(self) -> None:
        self._known: dict[tuple[str, str], CodeType] = {}

    def load_bytecode(self, bucket: Bucket) -> None:
        bucket.code = self._known.get((bucket.key, bucket.checksum))

    def dump_bytecode(self, bucket: Bucket) -> None:
        assert bucket.code is not None
        self._known[bucket.key, bucket.checksum] = bucket.code


# ---- what templates may do ----


class Sandbox(ImmutableSandboxedEnvironment):
    """Templates reach plain data, and whatever could grow is charged before it does; unless all of them are ours."""

    intercepted_binops = frozenset({"+", "*", "**", "%"})
    ours = Compiled()  # a subclass with filters or a context of its own needs its own

    def __init__(self, *args: Any, metered: bool = True, **kwargs: Any) -> None:
        super().__init__(*args, bytecode_cache=None if metered else self.ours, **kwargs)
        self.metered = metered
        del self.globals["lipsum"]  # it throws dice
        self.filters = {name: self.filters[name] for name in FILTERS} | GUARDED
        self.filters |= {CHARGE: charge, STEP: step}

    def _parse(self, source: str, name: str | None, filename: str | None) -> nodes.Template:
        tree = super()._parse(source, name, filename)
        if self.metered:
            _metered(tree)
            tree.set_environment(self)
        return tree

    def wrap_str_format(self, value: Any) -> None:  # noqa: ARG002 (Jinja's own; without it, format is a method as others)
        return None

    def is_safe_attribute(self, obj: Any, attr: str, value: Any) -> bool:
        return super().is_safe_attribute(obj, attr, value) and (not isinstance(obj, PLAIN) or attr in METHODS)

    def call(self, context: Context, obj: Any, /, *args: Any, **kwargs: Any) -> Any:
        text = getattr(obj, "__self__", None)
        if isinstance(text, str) and args:
            if obj.__name__ == "join":
                args = (_pieces(text, args[0]),)
            elif obj.__name__ == "replace":
                _charge_replacing(text, *map(str, args[:2]))
        if isinstance(text, str) and obj.__name__ in ("split", "rsplit", "splitlines"):
            _take(CELL * len(text) // 2)  # the most pieces that there can be
        return super().call(context, obj, *args, **kwargs)

    def call_binop(self, context: Context, operator: str, left: Any, right: Any) -> Any:
        BOUNDS[operator](left, right)
        return super().call_binop(context, operator, left, right)


def _bound_sum(left: Any, right: Any) -> None:
    if isinstance(left, (str, list, tuple)):
        _charge([left, right])


def _bound_product(left: Any, right: Any) -> None:
    for value, times in ((left, right), (right, left)):
        if isinstance(times, int) and isinstance(value, (str, bytes)):
            _take(len(value) * max(times, 0))
        elif isinstance(times, int) and isinstance(value, (list, tuple)):
            _charge(value, max(times, 0))
    if isinstance(left, int) and isinstance(right, int):
        _check_bits(left.bit_length() + right.bit_length())


def _bound_power(left: Any, right: Any) -> None:
    if isinstance(left, int) and isinstance(right, int):
        _check_bits(left.bit_length() * abs(right))


def _check_bits(bits: int) -> None:
    if bits > LARGEST_NUMBER:
        raise SecurityError("a number is too large")


def _bound_format(left: Any, right: Any) -> None:
    if isinstance(left, (str, bytes)):
        text = left if isinstance(left, str) else left.decode("latin-1")
        if PADDED.search(text):
            raise SecurityError("a number is padded to a hundred characters or more")
        _take(len(text))
        _charge(right, text.count("%"))


BOUNDS: dict[str, Callable[[Any, Any], None]] = {
    "+": _bound_sum, "*": _bound_product, "**": _bound_power, "%": _bound_format,
}  # fmt: skip


# ---- filters ----


@pass_context
def charge(_: Context, value: Any) -> Any:
    _charge(value)
    return value


@pass_context
def step(_: Context, size: int) -> None:
    if meter := _meter.get():
        meter.step(size)


def _pieces(between: str, values: Any) -> list[Any]:
    pieces = list(values)
    _charge(pieces)
    _take(len(between) * len(pieces))
    return pieces


def _charge_replacing(text: str, old: str, new: str) -> None:
    _take(len(text) + text.count(old) * len(new))


@pass_eval_context
def _join(eval_ctx: Any, value: Any, d: str = "", attribute: Any = None) -> str:
    return filters.sync_do_join(eval_ctx, _pieces(str(d), value), d, attribute)


@pass_eval_context
def _replace(eval_ctx: Any, s: str, old: str, new: str, count: int | None = None) -> str:
    _charge_replacing(str(s), str(old), str(new))
    return filters.do_replace(eval_ctx, s, old, new, count)


def _indent(s: str, width: int | str = 4, first: bool = False, blank: bool = False) -> str:
    size = len(width) if isinstance(width, str) else _narrow(width)
    _take(len(s) + size * (1 + len(s.splitlines())))
    return filters.do_indent(s, width, first, blank)


def _batch(value: Any, linecount: int, fill_with: Any = None) -> Any:
    _take(CELL * _narrow(linecount))
    return filters.do_batch(value, linecount, fill_with)


def _slice(value: Any, slices: int, fill_with: Any = None) -> Any:
    _take(CELL * _narrow(slices))
    return filters.sync_do_slice(value, slices, fill_with)


@pass_environment
def _sum(environment: Any, iterable: Any, attribute: Any = None, start: Any = 0) -> Any:
    """Lists are put together in one go: adding them one by one would copy each of them again and again."""
    if not isinstance(start, list):
        return filters.sync_do_sum(environment, iterable, attribute, start)
    lists = [*(map(filters.make_attrgetter(environment, attribute), iterable) if attribute else iterable)]
    _charge([start, lists])
    return [*start, *(item for one in lists for item in one)]


@pass_eval_context
def _tojson(eval_ctx: Any, value: Any) -> Any:
    return filters.do_tojson(eval_ctx, value)


@pass_context
def _map(context: Context, value: Any, *args: Any, **kwargs: Any) -> Iterator[Any]:
    """Each item is charged as it is made: what reads them may be such a filter again."""
    for item in filters.sync_do_map(context, value, *args, **kwargs):
        _charge(item)
        yield item


def _round(value: Any, precision: int = 0, method: Any = "common") -> Any:
    _narrow(abs(precision))
    return filters.do_round(value, precision, method)


def _int(value: Any, default: int = 0, base: int = 10) -> int:
    if isinstance(value, str) and len(value) > LARGEST_NUMBER:
        raise SecurityError("a number is too large")
    return filters.do_int(value, default, base)


def _narrow(width: int) -> int:
    if width > WIDEST:
        raise SecurityError(f"{width} is wider than {WIDEST:,}")
    return width


GUARDED: dict[str, Callable[..., Any]] = {
    "join": _join, "replace": _replace, "indent": _indent, "batch": _batch, "slice": _slice, "sum": _sum,
    "tojson": _tojson, "map": _map, "round": _round, "int": _int,
}  # fmt: skip


# ---- where values are charged ----

# The parts of an expression or a statement that are charged: what is printed, compared, filtered, passed on or walked.
CHARGED: dict[type[nodes.Node], tuple[str, ...]] = {
    nodes.Output: ("nodes",), nodes.Concat: ("nodes",), nodes.Compare: ("expr",), nodes.Operand: ("expr",),
    nodes.Test: ("node", "args"), nodes.Filter: ("node", "args"), nodes.Call: ("args",), nodes.Keyword: ("value",),
    nodes.For: ("iter",), nodes.Getitem: ("arg",),
}  # fmt: skip
MADE = (nodes.List, nodes.Dict, nodes.Tuple, nodes.Call, nodes.Filter)  # and what makes a value
# The compiler wants to see these parts as they are.
BARE = {
    (nodes.CallBlock, "call"),
    *((one, "template") for one in (nodes.Extends, nodes.Include, nodes.Import, nodes.FromImport)),
}
REPEATED = (nodes.For, nodes.Macro, nodes.CallBlock, nodes.Block, nodes.Template)  # bodies that begin with a step


def _metered(node: nodes.Node) -> nodes.Node:
    """The tree with a charge around each such value, and a step in each body that may run again."""
    if isinstance(node, nodes.Const) and isinstance(node.value, int):
        _check_bits(node.value.bit_length())
    for name, value in node.iter_fields():
        charged = name in CHARGED.get(type(node), ()) or (
            name == "node" and isinstance(getattr(node, "arg", 0), nodes.Slice)
        )
        if isinstance(value, list):
            value[:] = [_part(one, charged) for one in value]
        elif (type(node), name) in BARE:
            _metered(value)
        else:
            setattr(node, name, _part(value, charged))
    if isinstance(node, REPEATED):
        for body in filter(None, (node.body, getattr(node, "else_", None))):
            size = sum(len(one.data) for part in body for one in part.find_all(nodes.TemplateData))
            body.insert(0, nodes.ExprStmt(_call(STEP, nodes.Const(size, lineno=node.lineno)), lineno=node.lineno))
    return node


def _part(part: Any, charged: bool) -> Any:
    if not isinstance(part, nodes.Node):
        return part
    made = isinstance(part, MADE) and getattr(part, "ctx", "load") == "load"
    part = _metered(part)
    plain = isinstance(part, (nodes.Const, nodes.TemplateData, nodes.Slice))
    return _call(CHARGE, part) if isinstance(part, nodes.Expr) and not plain and (made or charged) else part


def _call(name: str, value: nodes.Expr) -> nodes.Filter:
    return nodes.Filter(value, name, [], [], None, None, lineno=value.lineno)
