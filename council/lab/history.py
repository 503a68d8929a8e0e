"""The history of a commit as text: evidence that members may be given, in place of the repository itself."""

from __future__ import annotations

from collections.abc import Sequence

from council.errors import UsageError
from council.lab.repository import Repository
from council.text import harmless

COMMITS = 20
BLAMED_LINES = 400


def describe_history(repository: Repository, commit: str, paths: Sequence[str]) -> str:
    """The newest commits that lead to this one, and who wrote the lines of these files when."""
    newest = ("rev-list", f"--max-count={COMMITS}", "--no-commit-header", "--format=%h %as %an: %s", commit, "--")
    parts = ["The newest commits:", repository.word(*newest)]
    if paths:
        parts += [f"The newest commits that changed {', '.join(paths)}:", repository.word(*newest, *paths)]
    for path in paths:
        if not repository.word(*newest, path):
            raise UsageError(f"--history {path}: no commit has a file or folder of that name")
        words = ("blame", "--no-textconv", "-s", "--abbrev=9", commit, "--", path)
        done = repository.run("-c", "blame.ignoreRevsFile=", *words)
        lines = done.stdout.decode("utf-8", "replace").splitlines()[:BLAMED_LINES]
        if done.returncode == 0 and lines:
            parts += [f"The commit of each line of {path}:", "\n".join(lines)]
    return harmless("\n\n".join(parts)) + "\n"
