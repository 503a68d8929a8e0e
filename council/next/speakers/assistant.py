"""Nobody: an assistant or a person holds the debate by hand, with `council next` and `council record`."""

from __future__ import annotations

from collections.abc import Callable
from typing import ClassVar

from council.next.errors import Waiting
from council.next.prompts.brief import Brief
from council.next.speakers.base import Speaker, Spoken, speaker


@speaker
class Assistant(Speaker):
    name: ClassVar[str] = "assistant"
    by_hand: ClassVar[bool] = True

    async def speak(self, brief: Brief, began: Callable[[str], None]) -> Spoken:  # noqa: ARG002
        words = f"`council next` prints what is asked, `council record {brief.due.id}` stores the reply"
        raise Waiting(f"{brief.due.id} is spoken by hand: {words}")
