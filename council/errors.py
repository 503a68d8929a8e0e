"""Every way in which council stops early. Raised anywhere; only `cli` turns them into exit codes."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime
from pathlib import Path

Used = Mapping[str, float | None]  # tokens and dollars, by the names of a receipt's keys; None is unknown
UNKNOWN: Used = {"input": None, "cache_read": None, "cache_write": None, "output": None, "usd": None}
NOTHING: Used = {"input": 0, "cache_read": 0, "cache_write": 0, "output": 0, "usd": 0.0}


class CouncilError(Exception):
    """An error for the user. The message says what is wrong and what to do; `advice` names a command that helps."""

    code = 1
    advice = ""
    session_id: str | None = None  # set by the Python API, for `council.recover`


class Damaged(CouncilError):
    """A file of a session is truncated, edited or foreign. The error names it; council never changes it."""

    def __init__(self, path: Path | str, why: str) -> None:
        super().__init__(f"{path}: {why}")
        self.path = str(path)


class UsageError(CouncilError):
    """A mistake in what the user typed, in a workflow or in the configuration. Nothing was spent."""

    code = 2


class Paused(CouncilError):
    """The debate stopped on purpose, or a call failed; it can be continued."""

    code = 3
    advice = "nothing is lost; `council list` shows your sessions"


class OverBudget(Paused):
    """The next call could exceed what the user allowed."""


class RateLimited(Paused):
    """The API asks for a longer wait than one run may take. `until` is the local time at which it takes calls again,
    None if that is more than a year away. `on_record` always has the date: it is read on other days.
    """

    def __init__(self, why: str, until: datetime | None, again: str = "run `council recover`") -> None:
        self.why, self.until = why, until
        today = until is not None and until.date() == datetime.now(until.tzinfo).date()
        brief, whole = (
            f"{why}: paused until {until:{form}}, nothing is lost; then {again}"
            if until
            else f"{why}: paused, nothing is lost; later, {again}"
            for form in ("%H:%M", "%Y-%m-%d %H:%M")
        )
        super().__init__(brief if today else whole)
        self.on_record = whole


class Undecided(CouncilError):
    """The debate is over and complete, without a decision, and no person could be asked for one."""

    code = 3


class Denied(CouncilError):
    """The API rejected a call permanently: credentials, permission, an unknown model, a bad request.

    `used` is what the call used, as in CallFailed. Usually that is nothing.
    """

    code = 4
    advice = "`council doctor` shows what is set up"

    def __init__(self, why: str, used: Used = NOTHING) -> None:
        super().__init__(why)
        self.used = used


class Unproven(CouncilError):
    """`verify` found something wrong."""

    code = 5


class OpenFindings(CouncilError):
    """A review has open findings at or above --fail-on."""

    code = 5


class NotAsWanted(CouncilError):
    """The debate is over, and did not reach what it was for: code whose tests fail."""

    code = 5


class StorageError(CouncilError):
    """The disk is full, or a path cannot be written."""

    code = 6
    advice = "`council doctor` shows which folders are writable"


class Busy(CouncilError):
    """Another process holds the lock of this session."""

    code = 7
    advice = "nothing was changed; try again when the other process is done"


class Waiting(CouncilError):
    """A person or the assistant has to answer next."""

    code = 8


class CallFailed(Exception):
    """One call to a model failed, and another attempt may succeed.

    `retry_after` is how many seconds the API asks to wait. `retries` is how many more attempts are worth making after
    this kind of failure, None if time alone decides. `used` is what the call used: without it, nobody knows.
    """

    def __init__(
        self, why: str, retry_after: float | None = None, retries: int | None = None, used: Used = UNKNOWN
    ) -> None:
        super().__init__(why)
        self.retry_after = retry_after
        self.retries = retries
        self.used = used
