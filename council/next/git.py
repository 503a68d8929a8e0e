"""Calls git in a repository that a stranger may have made: none of its settings runs a program.

Git would run filters, text conversions, a file system monitor, hooks, an external diff and transports that the
repository's own configuration names. So only commands that read objects or list the index are called in it, and none
that looks at its work tree.
"""

from __future__ import annotations

import os
import subprocess
from collections.abc import Mapping
from pathlib import Path

from council.next.errors import UsageError

PATIENCE = 120.0  # seconds that one command may take
OPTIONS = (
    "--no-pager", "--literal-pathspecs", "--no-replace-objects", "--no-optional-locks",
    "-c", "core.fsmonitor=false", "-c", "core.hooksPath=/dev/null", "-c", "core.quotePath=false",
    "-c", "safe.bareRepository=explicit",
)  # fmt: skip
# Which of the user's own files git reads. They say, for example, whose repositories it may read (safe.directory).
KEPT = ("GIT_CONFIG_GLOBAL", "GIT_CONFIG_SYSTEM", "GIT_CONFIG_NOSYSTEM")
SET = {
    "GIT_ALLOW_PROTOCOL": "", "GIT_NO_LAZY_FETCH": "1", "GIT_TERMINAL_PROMPT": "0", "GIT_ATTR_NOSYSTEM": "1",
    "GIT_GRAFT_FILE": os.devnull, "LC_ALL": "C",
}  # fmt: skip


def environment(top: Path, env: Mapping[str, str] = os.environ) -> dict[str, str]:
    """The user's, without what may name another repository or a program. None is looked for above `top`."""
    own = {name: value for name, value in env.items() if not name.startswith("GIT_") or name in KEPT}
    return own | SET | {"GIT_CEILING_DIRECTORIES": str(top.resolve().parent)}


def run(*words: str, top: Path) -> subprocess.CompletedProcess[bytes]:
    """One git command to its end."""
    try:
        return subprocess.run(
            ["git", *OPTIONS, *words],
            cwd=top,
            env=environment(top),
            stdin=subprocess.DEVNULL,
            capture_output=True,
            check=False,
            timeout=PATIENCE,
        )
    except FileNotFoundError:
        raise UsageError("git is not on PATH; install it") from None
    except subprocess.TimeoutExpired:
        raise UsageError(f"git {words[0]} did not end within {PATIENCE:.0f} seconds") from None


def read(*words: str, top: Path) -> str:
    """What a git command prints. Its first complaint is an error; hints and warnings are no complaints."""
    done = run(*words, top=top)
    if done.returncode:
        said = done.stderr.decode("utf-8", "replace").splitlines()
        found = [line.strip() for line in said if line.strip() and not line.startswith(("hint:", "warning:"))]
        raise UsageError((found or ["git gave no reason"])[0])
    return done.stdout.decode("utf-8", "replace")


def repository(start: Path) -> Path:
    """The top of the repository around a folder, or the folder itself. None is looked for at or above the user's home,
    or on another file system."""
    home = Path(os.environ.get("HOME") or "~").expanduser()
    for folder in (start, *start.parents):
        if os.path.lexists(folder / ".git"):
            return folder
        if folder.parent in (folder, home) or folder == home or os.path.ismount(folder):
            break
    return start


def commit(name: str, top: Path) -> str:
    found = run("rev-parse", "--verify", "--quiet", "--end-of-options", f"{name or 'HEAD'}^{{commit}}", top=top)
    if found.returncode:
        raise UsageError(f'"{name or "HEAD"}" names no commit of {top}')
    return found.stdout.decode().strip()


def range_of(revisions: str, top: Path) -> tuple[str, str]:
    """The two commits that `A..B` compares. Those of `A...B` are the one where they parted, and B."""
    first, _, second = (revisions if ".." in revisions else f"{revisions}..").partition("..")
    if not second.startswith("."):
        return commit(first, top), commit(second, top)
    sides = commit(first, top), commit(second[1:], top)
    return read("merge-base", *sides, top=top).strip(), sides[1]


def diff(before: str, after: str, top: Path) -> str:
    """What changed between two commits."""
    flags = ("-r", "-p", "--no-renames", "--no-ext-diff", "--no-textconv", "--no-color", "--unified=3")
    return read("diff-tree", *flags, before, after, top=top)


def first_commit(path: Path, top: Path) -> str:
    """The commit that brought a file into the history of HEAD. Empty if none did."""
    folder = path.parent.resolve()
    if not folder.is_relative_to(top.resolve()):
        raise UsageError(f"{path} is not in the repository {top}: a link leads out of it, to {folder}")
    name = (folder / path.name).relative_to(top.resolve()).as_posix()
    return read("rev-list", "HEAD", "--", name, top=top).strip().rpartition("\n")[2]


def why_foreign(folder: Path) -> str:
    """Why somebody else may have brought a folder: a repository around it has something there, in its index or in its
    last commit, in capitals or not; or git cannot tell. Empty if none of this holds."""
    for top in (folder, *folder.parents):
        if not ((top / ".git").is_file() or os.path.lexists(top / ".git" / "HEAD")):
            continue
        name = f":(icase,literal){folder.relative_to(top).as_posix()}"
        try:
            begun = run("rev-parse", "--verify", "--quiet", "HEAD", top=top).returncode == 0
            commit = ("--with-tree=HEAD",) if begun else ()
            if read("--no-literal-pathspecs", "ls-files", "-z", "--cached", *commit, "--", name, top=top):
                return f"git tracks it in {top}"
        except (UsageError, OSError) as failure:
            return f"git cannot tell whether it is tracked ({failure})"
    return ""
