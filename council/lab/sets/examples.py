"""The examples in a docstring, as tests: those after `>>>`, calls such as `f(1) == 2` or `f(1) ➞ 2`, and sentences such
as "For x = 1 the output should be 2".
"""

from __future__ import annotations

import ast
import doctest
import re
from collections.abc import Collection, Iterator

EQUALS = re.compile(r"\s*(?:#\s*)?(?:=+>?|->|➞|→|(?:should\s+)?returns?\b:?)\s*", re.I)
WORDS = {"true": "True", "false": "False", "none": "None", "null": "None"}
SAID = re.compile(r"\bfor (?:\w+ = )?(\S.*?),? (?:the )?(?:output|result) (?:should|would) be (\S.*)", re.I)
AFTER = re.compile(r"\s*$|\s*[#.,;)]|\s+(?![-+*/%=<>])")
LONGEST = 2_000  # characters of a call or a value


def write_tests(docstring: str, entry_point: str, wrong: Collection[str] = ()) -> str:
    """A test file with one function for each example but the `wrong` ones; at least, the function must be there."""
    found = list(_find_prompts(docstring)) or list(_find_calls(docstring, entry_point))
    found = found or list(_find_sentences(docstring, entry_point))
    bodies = [body for body in dict.fromkeys(found) if not any(one in body for one in wrong)]
    tests = [f"def test_example_{number}():\n{body}" for number, body in enumerate(bodies, 1)]
    there = f"def test_function():\n    assert callable({entry_point})\n"
    return "\n\n".join([f"from solution import {entry_point}\n", *(tests or [there])])


def _find_prompts(docstring: str) -> Iterator[str]:
    """The body of a test for each example with a value. Lines without one prepare those that follow."""
    try:
        examples = doctest.DocTestParser().get_examples(docstring)
    except ValueError:
        return
    before = ""
    for example in examples:
        want = example.want.strip()
        expression = _unparse(example.source)
        if not want and expression and isinstance(ast.parse(expression, mode="eval").body, ast.Compare):
            yield f"{before}    assert {expression}\n"
        elif not want:
            before += "".join(f"    {line}\n" for line in example.source.splitlines())
        elif expression and (value := _literal(want)):
            yield f"{before}    assert {expression} == {value}\n"
        elif expression and not want.startswith("Traceback"):
            yield f"{before}    assert repr({expression}) == {want!r}\n"


def _find_calls(docstring: str, entry_point: str) -> Iterator[str]:
    """The body of a test for each call of the function that a sign of equality and a value follow."""
    for match in re.finditer(rf"\b{re.escape(entry_point)}\(", docstring):
        text = docstring[match.start() : match.start() + LONGEST]
        call = next((text[: end.end()] for end in re.finditer(r"\)", text) if _is_call(text[: end.end()])), "")
        equals = EQUALS.match(text, len(call))
        if call and equals and (value := _first_value(text[equals.end() :])):
            yield f"    assert {_unparse(call)} == {value}\n"


def _find_sentences(docstring: str, entry_point: str) -> Iterator[str]:
    for given, rest in SAID.findall(docstring):
        if (argument := _literal(given)) and (value := _first_value(rest.rstrip().removesuffix("."))):
            yield f"    assert {entry_point}({argument}) == {value}\n"


def _first_value(text: str) -> str:
    """The longest value with which a line begins, if neither a calculation nor more text follows."""
    line = text.partition("\n")[0]
    found = ((_literal(line[:end]), line[end:]) for end in range(len(line), 0, -1))
    value, rest = next((one for one in found if one[0]), ("", ""))
    return value if AFTER.match(rest) else ""


def _unparse(source: str) -> str:
    """An expression on one line; empty if it is none."""
    try:
        return ast.unparse(ast.parse(source.strip(), mode="eval").body)
    except (SyntaxError, ValueError):
        return ""


def _is_call(text: str) -> bool:
    """Whether it is a whole call, with values alone."""
    try:
        node = ast.parse(text, mode="eval").body
    except (SyntaxError, ValueError):
        return False
    given = (*node.args, *(word.value for word in node.keywords)) if isinstance(node, ast.Call) else (node,)
    return all(_literal(ast.unparse(one)) for one in given)


def _literal(text: str) -> str:
    """A value as Python writes it; empty if it is none."""
    plain = WORDS.get(text.strip().lower(), text.strip())
    try:
        return repr(ast.literal_eval(plain))
    except (ValueError, SyntaxError, MemoryError, RecursionError):
        return ""
