"""Every way that council stops before it is done. Raised anywhere, turned into an exit code in `cli` alone."""

from __future__ import annotations

from pathlib import Path


class CouncilError(Exception):
    """Something a person has to know. The message says what is wrong and what to do; `advice` names what helps."""

    code = 1
    advice = ""
    session_id: str | None = None  # set by the Python API, for `council.recover`


class Damaged(CouncilError):
    """A file of a session is torn, edited or foreign. It is named, and never touched."""

    def __init__(self, path: Path | str, why: str) -> None:
        super().__init__(f"{path}: {why}")
        self.path = str(path)


class UsageError(CouncilError):
    """A mistake by the user, in a workflow or in the configuration. Nothing was spent."""

    code = 2


class Paused(CouncilError):
    """The debate stopped on purpose, or a call could not be had; it can go on later."""

    code = 3
    advice = "nothing is lost; `council list` shows your sessions"


class Denied(CouncilError):
    """The API said no and will say no again: credentials, permission, an unknown model, a bad request."""

    code = 4
    advice = "`council doctor` shows what is set up"


class Unproven(CouncilError):
    """`verify` found something."""

    code = 5


class Found(CouncilError):
    """A review found what its gate does not let through."""

    code = 5


class StorageError(CouncilError):
    """The disk is full, or a path may not be written."""

    code = 6
    advice = "`council doctor` shows which folders are writable"


class Busy(CouncilError):
    """Another runner holds this session."""

    code = 7
    advice = "nothing was changed; try again when the other runner is done"


class Waiting(CouncilError):
    """A person, or the assistant, has to speak next."""

    code = 8


class CallFailed(Exception):
    """One call to a model failed in a way that may pass: the next try is the retry's business, not the user's."""

    def __init__(self, why: str, retry_after: float | None = None) -> None:
        super().__init__(why)
        self.retry_after = retry_after
