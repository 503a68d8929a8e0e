"""What can go wrong, and the exit code with which it ends a command."""

from __future__ import annotations

from pathlib import Path


class CouncilError(Exception):
    """An error with a sentence for the user, which says what is wrong and what to do."""

    code = 1
    session_id = ""  # the session that it is about, for callers of the Python API


class Damaged(CouncilError):
    """A file of a session is torn, was edited, or is not council's. Council never changes such a file."""

    def __init__(self, path: Path | str, problem: str) -> None:
        super().__init__(f"{path}: {problem}")
        self.path = str(path)


class UsageError(CouncilError):
    """The request cannot be carried out. Nothing was spent."""

    code = 2


class Paused(CouncilError):
    """The debate cannot go on now; `council recover` continues it."""

    code = 3


class AuthError(CouncilError):
    """Nobody can speak: a key is missing or was rejected."""

    code = 4


class Unmet(CouncilError):
    """The debate is over and did not reach what was required of it."""

    code = 5


class StorageError(CouncilError):
    """The disk is full, or a path cannot be written."""

    code = 6


class Busy(CouncilError):
    """Another process holds the session."""

    code = 7


class Waiting(CouncilError):
    """A person has to answer next."""

    code = 8


class Interrupted(CouncilError):
    """A signal ended the run. What was said is on record."""

    def __init__(self, signal: int) -> None:
        super().__init__("interrupted")
        self.code = 128 + signal
