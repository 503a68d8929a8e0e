"""Calls git in a repository that a stranger may have made: none of its settings runs a program.

Git would run filters, text conversions, a file system monitor, hooks, an external diff and transports that the
repository's own configuration names. So only commands that read objects, or list the index, are called in it, never one
that looks at its work tree, and what git compares is compared outside of it.
"""

from __future__ import annotations

import os
import subprocess
from collections.abc import Iterator, Mapping
from pathlib import Path
from tempfile import TemporaryDirectory
from types import MappingProxyType

from council.errors import UsageError

LARGEST = 16_000_000  # bytes of an earlier state of a file
NONE: Mapping[str, str] = MappingProxyType({})
PATIENCE = 120.0  # seconds that one command may take
OPTIONS = (
    "--no-pager", "--literal-pathspecs", "--no-replace-objects", "--no-optional-locks",
    "-c", "core.fsmonitor=false", "-c", "core.hooksPath=/dev/null", "-c", "safe.bareRepository=explicit",
)  # fmt: skip
# Which of the user's own files git reads; they say, for example, whose repositories it may read (safe.directory).
KEPT = ("GIT_CONFIG_GLOBAL", "GIT_CONFIG_SYSTEM", "GIT_CONFIG_NOSYSTEM")
SET = {
    "GIT_ALLOW_PROTOCOL": "", "GIT_NO_LAZY_FETCH": "1", "GIT_TERMINAL_PROMPT": "0", "GIT_ATTR_NOSYSTEM": "1",
    "GIT_GRAFT_FILE": os.devnull,
}  # fmt: skip


def environment(cwd: Path | None, env: Mapping[str, str] = os.environ) -> dict[str, str]:
    """The user's, without what may name another repository or program; none is looked for above `cwd`'s parent."""
    own = {name: value for name, value in env.items() if not name.startswith("GIT_") or name in KEPT}
    return own | SET | ({"GIT_CEILING_DIRECTORIES": str(cwd.resolve().parent)} if cwd else {})


def run(
    *words: str, cwd: Path | None = None, stdin: bytes = b"", variables: Mapping[str, str] = NONE
) -> subprocess.CompletedProcess[bytes]:
    """One git command to its end. `variables` are further ones of its environment."""
    try:
        return subprocess.run(
            ["git", *OPTIONS, *words], cwd=cwd, env=environment(cwd) | {**variables}, input=stdin, capture_output=True,
            check=False, timeout=PATIENCE,
        )  # fmt: skip
    except FileNotFoundError:
        raise UsageError("git is not on PATH; install it") from None
    except subprocess.TimeoutExpired:
        raise UsageError(f"git {words[0]} did not end within {PATIENCE:.0f} seconds") from None


def read(*words: str, cwd: Path | None = None, stdin: bytes = b"", variables: Mapping[str, str] = NONE) -> bytes:
    """What a git command prints; its first complaint is an error."""
    done = run(*words, cwd=cwd, stdin=stdin, variables=variables)
    if done.returncode:
        said = done.stderr.decode("utf-8", "replace").strip().splitlines()
        raise UsageError(said[0] if said else "git failed")
    return done.stdout


def repository(start: Path) -> Path:
    """The top of the repository around a folder. Outside of one, or where it would lie at or above the user's home or
    on another file system, the folder itself."""
    home = Path(os.environ.get("HOME") or "~").expanduser()
    for folder in (start, *start.parents):
        if os.path.lexists(folder / ".git"):
            return folder
        if folder.parent in (folder, home) or folder == home or os.path.ismount(folder):
            break
    return start


def find_repositories(folder: Path) -> Iterator[Path]:
    """The top of each repository around a folder, up to the root of the file system, as git itself would find them."""
    for top in (folder, *folder.parents):
        mark = top / ".git"
        if mark.is_file() or os.path.lexists(mark / "HEAD"):
            yield top


def tracks(top: Path, path: Path) -> bool:
    """Whether the index or the last commit of a repository has anything at that path or below it, in capitals or not.

    The index is listed, and never compared with the work tree. An error if git cannot tell.
    """
    name = f":(icase,literal){path.relative_to(top).as_posix()}"
    begun = run("rev-parse", "--verify", "--quiet", "HEAD", cwd=top).returncode == 0
    words = ("ls-files", "-z", "--cached", *(("--with-tree=HEAD",) if begun else ()), "--", name)
    return bool(read("--no-literal-pathspecs", *words, cwd=top))


def diff(revision: str, path: Path) -> str:
    """How the file in the work tree differs from that revision; of `A...B`, from where they parted."""
    top = repository(path.parent.absolute())
    name = str((path.parent.resolve() / path.name).relative_to(top.resolve()))
    listed = read("ls-tree", "-lz", "--full-tree", _base(revision, top), "--", name, cwd=top).split()
    before = b""
    if listed:
        if listed[1] != b"blob" or int(listed[3]) > LARGEST:
            raise UsageError(f"{name} was no file, or one of more than {LARGEST:,} bytes")
        before = read("cat-file", "blob", listed[2].decode(), cwd=top)
    return compare(name, before if listed else None, path.read_bytes()).decode("utf-8", "replace")


def _base(revision: str, top: Path) -> str:
    first, dots, second = revision.partition("...")
    if dots:
        return read("merge-base", "--end-of-options", first or "HEAD", second or "HEAD", cwd=top).decode().strip()
    commit = read("rev-parse", "--verify", f"{revision.partition('..')[0] or 'HEAD'}^{{tree}}", cwd=top)
    return commit.decode().strip()


def compare(name: str, before: bytes | None, after: bytes) -> bytes:
    """The unified diff of two states of a file, made in a folder that is no repository."""
    with TemporaryDirectory(prefix="council-") as place:
        for side, data in (("a", before), ("b", after)):
            if data is not None:
                (path := Path(place) / side / name).parent.mkdir(parents=True, exist_ok=True)
                path.write_bytes(data)
        old = f"a/{name}" if before is not None else os.devnull
        flags = ("--no-index", "--no-ext-diff", "--no-textconv", "--no-color", "--no-prefix", "--unified=3")
        return run("diff", *flags, "--", old, f"b/{name}", cwd=Path(place)).stdout
