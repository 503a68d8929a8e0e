"""What a debate is about: its topic, the documents beside it, and the outcome of the debate before it."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from council.errors import UsageError
from council.protocols import outcome
from council.record.session import Session
from council.reports import markdown
from council.runner import attachments
from council.runner.attachments import LARGEST, LARGEST_WORDS
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


def needs_documents(workflow: Workflow) -> str:
    """Why a debate of this workflow is refused without a document; empty if it is about none."""
    asked = {kind.type for _, step in workflow.steps() for _, kind in step.reply}
    return next((one.documents for one in answer_types().values() if one.name in asked and one.documents), "")


def read_documents(request: Request, workflow: Workflow) -> list[tuple[str, str]]:
    """The attached documents by name. A workflow whose answers are about documents is refused without any."""
    needs = needs_documents(workflow)
    given = {path.absolute() for path in request.files}
    named = attachments.find(request.topic) if needs and request.find_files else ()
    paths = (*request.files, *(path for path in named if path.absolute() not in given))
    found = [*request.documents, *((attachments.format_name(path), attachments.read(path)) for path in paths)]
    if needs and not found and request.after is None:
        missing = attachments.find_missing(request.topic) if request.find_files else ""
        raise UsageError(f"{missing}: no such file; {needs}" if missing else needs)
    return found


def read_outcome(before: Session | None) -> Iterator[tuple[str, str]]:
    """What an earlier debate came to, as a document that the next one has before it."""
    if before is not None:
        plan = before.plan()
        if not (plan.done and outcome.find_syntheses(plan)):
            raise UsageError(f"--from {before.id}: that debate has no synthesis yet; `council recover {before.id}`")
        yield f"synthesis of session {before.id}", markdown.synthesis_of(before, plan)
