"""What every speaker is: it takes a brief and gives a reply, or says why there is none. The runner decides the rest."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from council.next.engine.planner import Due
from council.next.errors import CouncilError
from council.next.prompts.brief import Brief
from council.next.record.session import Session
from council.next.workflow.model import Workflow


@dataclass(frozen=True)
class Spoken:
    """A reply, and what it took. None is unknown: of tokens, and of `usd`, which `most` then bounds.

    `absent` says why there is no reply although the call came to its end, as where a model declines to answer."""

    body: str
    absent: str | None = None
    asked: str | None = None
    answered: str | None = None
    input: int | None = None
    output: int | None = None
    cache_read: int | None = None
    cache_write: int | None = None
    usd: float | None = None
    most: float | None = None
    stop: str | None = None
    call: str | None = None
    by: str | None = None
    via: str | None = None
    replayed: str | None = None
    machine: Mapping[str, Any] | None = None


class CallFailed(CouncilError):
    """A call gave no reply. `again` says whether another try may help, `wait` what the other side asked for, in
    seconds. `usd` is what it cost; None is unknown, and counts as the most that it can have cost."""

    def __init__(self, reason: str, again: bool, wait: float | None = None, usd: float | None = 0.0) -> None:
        super().__init__(reason)
        self.reason, self.again, self.wait, self.usd = reason, again, wait, usd


class Speaker:
    name = ""
    machine = False  # council itself: free, no call, speaks only for seats that name it

    def obstacle(self) -> str:
        """Why it cannot speak here, and what to do; or empty. Asked before anything is written, and by doctor."""
        return ""

    def problems(self, workflow: Workflow) -> Iterator[str]:  # noqa: ARG002
        """What lint says of a workflow that seats this speaker."""
        yield from ()

    def place(self, brief: Brief) -> str:  # noqa: ARG002
        """Where a call goes. Calls to one place share a limit, and wait together."""
        return self.name

    def price_limit(self, brief: Brief) -> float | None:  # noqa: ARG002
        """The most that one call can cost. None if that is unknown."""
        return 0.0

    def brief(self, session: Session, due: Due) -> str:
        """Machines only, in place of a template: what was asked, as names and hashes."""
        raise NotImplementedError

    async def speak(self, brief: Brief, began: Callable[[str], None]) -> Spoken:
        """The reply. `began` is called with each piece of text as it arrives. Raises CallFailed."""
        raise NotImplementedError

    async def close(self) -> None:
        """Close connections and files. The code that made the speaker calls it once."""
