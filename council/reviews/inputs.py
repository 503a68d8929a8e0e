"""The input of a review: files by name or pattern, what changed in them, and the limit on their size."""

from __future__ import annotations

import os
from pathlib import Path

from council import git
from council.errors import UsageError
from council.text import CHARS_A_TOKEN

MAX_TOKENS = 100_000


class NothingToReview(UsageError):
    """No file matches, or nothing changed."""


def expand(specs: tuple[str, ...], allow_empty: bool = False) -> tuple[Path, ...]:
    """The named files, each once. Patterns that the shell did not expand are expanded here: a file that a pattern
    finds is passed over if it is not a document of the project."""
    found: list[Path] = []
    for spec in specs:
        if Path(spec).exists():
            if fault := find_fault(Path(spec)):
                raise UsageError(f"{spec} {fault}")
            found.append(Path(spec))
        elif not set(spec) & set("*?["):
            raise UsageError(f"{spec}: no such file")
        else:
            matching = [path for path in match(spec) if not find_fault(path)]
            if not matching and not allow_empty:
                raise NothingToReview(f"{spec}: no such file")
            found += matching
    if not found:
        raise NothingToReview(f"no file matches {', '.join(specs)}")
    return tuple(dict.fromkeys(found))


def match(pattern: str) -> list[Path]:
    try:
        return sorted(Path("/").glob(pattern.lstrip("/")) if pattern.startswith("/") else Path().glob(pattern))
    except (ValueError, NotImplementedError) as wrong:
        raise UsageError(f"{pattern}: not a pattern ({wrong})") from None


def find_fault(path: Path) -> str:
    """Why a file is not reviewed; empty if it may be. A stranger may have written the project: no file in it sends
    what is elsewhere to a model, or keeps the reader waiting."""
    if path.is_dir():
        return f"is a directory; name the files in it, as in '{path}/*.md'"
    top, given, real = git.repository(Path.cwd()), Path(os.path.normpath(Path.cwd() / path)), path.resolve()
    if not given.is_relative_to(top):
        return ""  # the user named it, and no pattern of the project leads there
    if not real.is_relative_to(top) or ".git" in real.relative_to(top).parts:
        return f"leads out of the project, to {real}; name that file itself, or copy it"
    return "" if path.is_file() else "is not a regular file"


def topic_of(files: tuple[Path, ...], revision: str | None) -> str:
    names = ", ".join(map(str, files))
    if revision is None:
        return f"Review {names}"
    if revision.startswith("-") or "\0" in revision:
        raise UsageError(f"--diff {revision}: not a revision")
    try:
        changes = "".join(git.diff(revision, path) for path in files)
    except UsageError as wrong:
        raise UsageError(f"--diff {revision}: {wrong}") from None
    if not changes.strip():
        raise NothingToReview(f"--diff {revision}: nothing changed in {names}")
    return (
        f"Review what changed in {names} since {revision}. The documents follow in their current state; findings are "
        f"about what changed, and about what the change breaks elsewhere.\n\n{changes}"
    )


def check_size(files: tuple[Path, ...], text: str, most: int) -> None:
    """Refuse an input that is too large, before anything is spent."""
    size = len(text) + sum(path.stat().st_size for path in files if path.is_file())
    if size // CHARS_A_TOKEN > most:
        raise UsageError(
            f"the input has about {size // CHARS_A_TOKEN:,} tokens, more than --max-tokens {most:,}; "
            "review fewer files at a time"
        )
