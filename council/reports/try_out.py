"""Whether a workflow's own document and remarks can be rendered, tried with a made-up debate before one is held."""

from __future__ import annotations

import types
import typing
from collections.abc import Iterator, Mapping
from dataclasses import fields, is_dataclass
from datetime import UTC, datetime
from typing import Any

from council.protocols.dissent import SYNTHESIS
from council.reports import documents, produce
from council.reports.model import APART, Stage, Transcript
from council.workflow.model import Kind, Reply, Workflow

WORDS = "some words"


def find_faults(workflow: Workflow) -> list[str]:
    """What goes wrong in them, with the template and the line; each once."""
    overlaid = documents.freeze(workflow)
    faults: dict[str, None] = {}
    for name, data in _renderings(workflow, overlaid):
        try:
            documents.try_render(name, overlaid, data)
        except Exception as wrong:  # noqa: BLE001 (whatever a template does, lint goes on)
            faults[f"templates/{name}.md.j2, {documents.describe_fault(wrong)}"] = None
    return list(faults)


def _renderings(workflow: Workflow, overlaid: Mapping[str, str]) -> Iterator[tuple[str, dict[str, Any]]]:
    """The templates, each with what it might get: every choice once, and answers that are missing."""
    kind = workflow.document.kind if workflow.document else ""
    name = documents.find(overlaid, f"{workflow.name}/{kind}", f"{documents.FOLDER}/{kind}")
    if kind and kind not in produce.KINDS and name:
        for answers in _answers(_synthesis(workflow)):
            named = {part: answers.get(answer) for part, answer in workflow.document_answers.items()}
            written = {name: WORDS if value else "" for name, value in answers.items()}
            more = {"date": "2026-01-31", "session_id": WORDS, "answers": answers, "parts": named}
            more |= {"introduction": WORDS, "written": written}
            yield name, {**_sample(Transcript), **more, "stages": [_stage(phase.name) for phase in workflow.phases]}
    if name := documents.find(overlaid, f"{workflow.name}/{documents.REMARKS}"):
        earlier: list[dict[str, Any]] = []
        for phase, step in workflow.steps():
            for answers in _answers(step.reply):
                said = {"id": WORDS, "seat": WORDS, "label": WORDS, "phase": phase.name, "step": step.name, "round": 1}
                given = {**documents.step_blanks(workflow, step.name), **answers}
                turn = {**said, "text": WORDS, "prose": WORDS, "absent": "", "answers": given}
                yield name, {"turn": turn, "earlier": [*earlier], "options": dict(workflow.options)}
                earlier.append(turn)


def _stage(phase: str) -> dict[str, Any]:
    """A template may pick out phases by their names."""
    stage: dict[str, Any] = _sample(Stage)
    return {**stage, "phase": phase, "rounds": [{**one, "phase": phase} for one in stage["rounds"]]}


def _synthesis(workflow: Workflow) -> Reply:
    return next((step.reply for phase, step in workflow.steps() if phase.name == workflow.role(SYNTHESIS)), ())


def _answers(reply: Reply) -> Iterator[dict[str, Any]]:
    """The answers of a reply as they may come: with each choice, with the lowest and highest numbers, and none."""
    for variant in range(max([2, *(len(kind.options) for _, kind in reply)])):
        yield {name: _answer(kind, variant) for name, kind in reply}
    yield documents.blanks(reply)


def _answer(kind: Kind, variant: int) -> Any:
    if kind.options:
        return kind.options[variant % len(kind.options)]
    if kind.type == "list":
        return [WORDS]
    return WORDS if kind.type in ("text", "code") else (kind.low, kind.high)[variant % 2]


def _sample(kind: Any) -> Any:
    """Plain data with the shape of a type: of each list one, and nothing that is left out."""
    if is_dataclass(kind) and isinstance(kind, type):
        hints = typing.get_type_hints(kind)
        return {one.name: _sample(hints[one.name]) for one in fields(kind) if one.metadata != APART}
    origin, inner = typing.get_origin(kind), typing.get_args(kind)
    if origin is tuple:
        return [_sample(one) for one in inner if one is not ...]
    if origin is not None and isinstance(origin, type) and issubclass(origin, Mapping):
        return {WORDS: _sample(inner[1])}
    if origin in (types.UnionType, typing.Union):
        return _sample(next(one for one in inner if one is not type(None)))
    samples: dict[Any, Any] = {str: WORDS, int: 1, float: 1.0, bool: True}
    return datetime(2026, 1, 31, tzinfo=UTC).isoformat() if kind is datetime else samples[kind]
