"""The input of a review: files by name or pattern, what changed in them, and the limit on their size."""

from __future__ import annotations

import subprocess
from pathlib import Path

from council.errors import UsageError
from council.text import CHARS_A_TOKEN

MAX_TOKENS = 100_000


def expand(specs: tuple[str, ...]) -> tuple[Path, ...]:
    """The named files, each once. Patterns that the shell did not expand are expanded here."""
    found: list[Path] = []
    for spec in specs:
        exact = Path(spec).exists()
        matching = [Path(spec)] if exact else sorted(Path().glob(spec)) if set(spec) & set("*?[") else []
        if not matching:
            raise UsageError(f"{spec}: no such file")
        found += matching
    for path in found:
        if path.is_dir():
            raise UsageError(f"{path} is a directory; name the files in it, as in '{path}/*.md'")
    return tuple(dict.fromkeys(found))


def topic_of(files: tuple[Path, ...], revision: str | None) -> str:
    names = ", ".join(map(str, files))
    if revision is None:
        return f"Review {names}"
    if revision.startswith("-"):
        raise UsageError(f"--diff {revision}: not a revision")
    command = ["git", "diff", "--no-ext-diff", "--no-color", "--unified=3", revision, "--", *map(str, files)]
    done = subprocess.run(command, capture_output=True, check=False)
    if done.returncode:
        said = done.stderr.decode("utf-8", "replace").strip().splitlines()
        raise UsageError(f"--diff {revision}: {said[0] if said else 'git failed'}")
    if not done.stdout.strip():
        raise UsageError(f"--diff {revision}: nothing changed in {names}")
    changes = done.stdout.decode("utf-8", "replace")
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
