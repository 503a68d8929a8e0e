"""Nobody: an assistant or a person holds the debate by hand, with `council next` and `council record`."""

from __future__ import annotations

from typing import ClassVar

from council.next.speakers.base import Speaker, speaker


@speaker
class Assistant(Speaker):
    name: ClassVar[str] = "assistant"
    by_hand: ClassVar[bool] = True
