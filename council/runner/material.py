"""What a debate is about: its topic, the documents beside it, and the outcome of the debate before it."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING

from council.errors import UsageError
from council.protocols import outcome
from council.record.session import Session
from council.reports import markdown
from council.runner import attachments, evidence
from council.runner.attachments import LARGEST, LARGEST_WORDS
from council.runner.evidence import FrozenFact
from council.text import fence
from council.workflow.model import Workflow
from council.workflow.types import answer_types

if TYPE_CHECKING:
    from council.runner.start import Request


def check_topic(text: str) -> str:
    if not text.strip():
        raise UsageError("the topic is empty; say what the council should debate")
    if "\0" in text:
        raise UsageError("the topic contains a NUL character; it must be text")
    if len(text) > LARGEST:
        raise UsageError(
            f"the topic is larger than {LARGEST_WORDS}; ask the question, and attach the part it is about with --file"
        )
    return text


@dataclass(frozen=True)
class Material:
    """What members are given: the names of what is attached, and the whole text, with the attachments and the facts."""

    attached: tuple[str, ...]
    text: str


def compose(
    request: Request, documents: Iterable[tuple[str, str]], facts: list[FrozenFact], key: Callable[[str, str], str]
) -> Material:
    """The text of a debate's topic.md. Each attachment and each fact is between marks with a key of its own."""
    attached = [*read_outcome(request.after), *documents]
    fenced = "".join(f"\n\n{fence(f'file {name}', words, key(name, words))}" for name, words in attached)
    if len(fenced) > LARGEST:
        raise UsageError(f"the attachments are larger than {LARGEST_WORDS} together; attach the parts that matter")
    fenced += "".join(evidence.write(facts, key))
    return Material(tuple(name for name, _ in attached), request.topic + fenced)


def needs_documents(workflow: Workflow) -> str:
    """Why a debate of this workflow is refused without a document; empty if it is about none."""
    asked = {kind.type for _, step in workflow.steps() for _, kind in step.reply}
    return next((one.documents for one in answer_types().values() if one.name in asked and one.documents), "")


def read_documents(request: Request, workflow: Workflow) -> list[tuple[str, str]]:
    """The attached documents by name. A workflow whose answers are about documents is refused without any."""
    found, needs = list_documents(request, workflow), needs_documents(workflow)
    if needs and not found and request.after is None:
        missing = attachments.find_missing(request.topic) if request.find_files else ""
        raise UsageError(f"{missing}: no such file; {needs}" if missing else needs)
    return found


def list_documents(request: Request, workflow: Workflow) -> list[tuple[str, str]]:
    """The documents that are attached, and in a debate about documents, those that the topic names."""
    given = {path.absolute() for path in request.files}
    named = attachments.find(request.topic) if needs_documents(workflow) and request.find_files else ()
    paths = (*request.files, *(path for path in named if path.absolute() not in given))
    return [*request.documents, *((attachments.format_name(path), attachments.read(path)) for path in paths)]


def read_outcome(before: Session | None) -> Iterator[tuple[str, str]]:
    """What an earlier debate came to, as a document that the next one has before it."""
    if before is not None:
        plan = before.plan()
        if not (plan.done and outcome.find_syntheses(plan)):
            raise UsageError(f"--from {before.id}: that debate has no synthesis yet; `council recover {before.id}`")
        yield f"synthesis of session {before.id}", markdown.synthesis_of(before, plan)
