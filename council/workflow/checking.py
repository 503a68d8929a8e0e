"""What rooms add to `council lint`: what no key of the language can say by itself."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import TYPE_CHECKING

from council.workflow.registry import Hook

if TYPE_CHECKING:
    from council.workflow.model import Workflow

# Yields each problem in a sentence that begins with its place, as in "phase draft, step trial: reply: …".
check: Hook[Callable[[Workflow], Iterable[str]]] = Hook("check", leading=1)
