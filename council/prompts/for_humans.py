"""A question as a person reads it: on one screen, at a terminal, in `council answer` and in a client's form. Pure.

What does not fit is shortened, the longest parts first: the positions, then what is approved. Nothing that has to be
chosen or written is left out.
"""

from __future__ import annotations

import re
import sys
from collections.abc import Callable, Iterator
from functools import partial

from council import text_width
from council.engine.contributions import Exhibit
from council.engine.planner import Due
from council.prompts import answers
from council.prompts import question as questions
from council.prompts.answers import SUFFIX
from council.prompts.question import Option, Position, Question
from council.record.session import Session
from council.speakers.base import Shown
from council.text import harmless, one_line

WIDEST, NARROWEST = 100, 20
ROWS = 40  # where nobody says how many there are
LINES = (6, 3, 1, 0)  # how many a position gets, until the screen is full
MOST_PATHS = 6


def summarize(session: Session, due: Due, shared: str, own: str) -> Shown:
    """`shared` and `own` are the brief's two parts."""
    question = questions.build(session, due, (shared, own))
    return Shown(
        fit=partial(fit, question),
        read=partial(answers.read_answer, question),
        missing=lambda given: [field.name for field in answers.find_missing(question, given)],
        menu=answers.format_menu(question),
    )


def fit(question: Question, columns: int = WIDEST, rows: int = ROWS) -> str:
    """The question in lines of at most `columns`, and if that is possible in at most `rows` of them."""
    columns = max(min(columns, WIDEST), NARROWEST)
    text = ""
    for lines in LINES:
        text = "\n".join(_screen(question, columns, lines))
        if text.count("\n") < rows:
            break
    return text


def _screen(question: Question, columns: int, lines: int) -> Iterator[str]:
    wrap = partial(_wrap, columns=columns)
    bar = "═══" if (sys.stderr.encoding or "").lower().startswith("utf") else "==="
    yield from wrap(f"{bar} {question.title} {bar}")
    if question.tension:
        yield from ("", *_shorten(wrap(question.tension), max(2 * lines, 2)))
    yield from _list_positions(question.positions, lines, wrap)
    for artifact in question.artifacts:
        yield from ("", *_describe_artifact(artifact, lines, wrap))
    if question.task:
        yield from ("", *(line for part in question.task.split("\n") for line in wrap(part)))
    explained = question.kind == questions.APPEAL or any(option.text for option in question.options)
    if question.recommended and not explained:
        yield from ("", *wrap(f"Enter: {question.recommended.label}"))
    if explained and question.options:
        yield ""
    for option in question.options if explained else ():
        yield from _shorten(_describe_option(option, question.kind == questions.APPEAL, wrap), max(lines, 2))
    if len(question.recommendation.split()) > 1:
        yield from ("", *_shorten(wrap(f"Recommended: {question.recommendation}"), max(lines, 2)))


def _list_positions(positions: tuple[Position, ...], lines: int, wrap: Callable[..., list[str]]) -> Iterator[str]:
    if not positions:
        return
    yield ""
    if not lines:
        yield from wrap(f"Positions: {', '.join(_name(one) for one in positions)}")
    for one in positions if lines else ():
        yield from _shorten(wrap(f"- {_name(one)}: {one_line(one.text, 1_000)}", then="  "), lines)


def _name(position: Position) -> str:
    return f"{position.label} ({position.stance})" if position.stance else position.label


def _describe_artifact(artifact: Exhibit, lines: int, wrap: Callable[..., list[str]]) -> Iterator[str]:
    """Its name and hash are always whole: they are what is approved."""
    yield from wrap(f"{artifact.title}: {artifact.state}")
    paths = [*artifact.paths[:MOST_PATHS], *(["…"] if len(artifact.paths) > MOST_PATHS else [])]
    if paths and lines:
        yield from _shorten(wrap(f"  files: {', '.join(paths)}", then="  "), lines)
    if artifact.tests:
        counts = ", ".join(f"{count} {verdict}" for verdict, count in artifact.tests.items())
        failing = [*artifact.failing[:MOST_PATHS], *(["…"] if len(artifact.failing) > MOST_PATHS else [])]
        told = f"  tests: {counts}" + (f": {one_line(', '.join(failing), 1_000)}" if failing else "")
        yield from _shorten(wrap(told, then="  "), max(lines, 1))
    if artifact.scores and lines:
        scores = ", ".join(f"{name} {value:g}" for name, value in artifact.scores.items())
        yield from _shorten(wrap(f"  scores: {scores}", then="  "), lines)
    if artifact.hash:
        yield from wrap(f"  tree {artifact.hash}")


def _describe_option(option: Option, lettered: bool, wrap: Callable[..., list[str]]) -> list[str]:
    """`A) Keep one database` or `[C]ontinue: another round`, and which of them Enter chooses."""
    initial = option.label[:1].upper() == option.letter and not lettered
    name = f"[{option.letter}]{option.label[1:]}" if initial else f"{option.letter}) {option.label}"
    if not initial and re.match(rf"{re.escape(option.label)}(?!\w)", option.text):
        name = f"{option.letter}) {option.text}"
    elif option.text:
        name += f": {option.text}"
    return wrap(name + (f" {SUFFIX}" if option.recommended else ""), then="   ")


def _wrap(text: str, columns: int, then: str = "") -> list[str]:
    text = harmless(text)
    lines = text.split("\n")
    return [row for line in lines for row in (text_width.wrap(line, columns, _indent(line), then) if line else [""])]


def _indent(line: str) -> str:
    return " " * (len(line) - len(line.lstrip(" ")))


def _shorten(lines: list[str], most: int) -> list[str]:
    return lines if len(lines) <= most else [*lines[: most - 1], f"{lines[most - 1]} …"]
