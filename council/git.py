"""Calls git in a repository that a stranger may have made: none of its settings runs a program.

Git would run filters, text conversions, a file system monitor, hooks, an external diff and transports that the
repository's own configuration names. So only commands that read objects, or list the index, are called in it, never one
that looks at its work tree, and what git compares is compared outside of it.
"""

from __future__ import annotations

import os
import re
import subprocess
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory
from types import MappingProxyType

from council.errors import CouncilError, StorageError, UsageError

LARGEST = 16_000_000  # bytes of an earlier state of a file
NONE: Mapping[str, str] = MappingProxyType({})
LARGEST_SHOWN = 1_000_000  # bytes of a file whose changes are shown
MOST_FILES, MOST_SHOWN, LONGEST_FILE, LONGEST_LINE = 400, 3_000, 800, 400  # files, lines, lines of a file, characters
PATIENCE = 120.0  # seconds that one command may take
OPTIONS = (
    "--no-pager", "--literal-pathspecs", "--no-replace-objects", "--no-optional-locks",
    "-c", "core.fsmonitor=false", "-c", "core.hooksPath=/dev/null", "-c", "safe.bareRepository=explicit",
    "-c", "advice.graftFileDeprecated=false",
)  # fmt: skip
SAID_BESIDE = ("hint:", "warning:")
FULL = ("No space left on device", "Disk quota exceeded")
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
        raise complain(done.stderr)
    return done.stdout


def complain(stderr: bytes, what: str = "") -> CouncilError:
    """The first thing that git complains of, after `what` did not work; hints and warnings are no complaints."""
    said = [line for line in stderr.decode("utf-8", "replace").splitlines() if not line.startswith(SAID_BESIDE)]
    text = what + next(filter(None, map(str.strip, said)), "git gave no reason")
    return StorageError(text) if any(words in text for words in FULL) else UsageError(text)


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


def name_in(top: Path, path: Path) -> str:
    """What a file is called in a repository. An error if a link leads out of it: git knows nothing of what is there."""
    folder = path.parent.resolve()
    if not folder.is_relative_to(top.resolve()):
        raise UsageError(f"{path} is not in the repository {top}: a link leads out of it, to {folder}")
    return (folder / path.name).relative_to(top.resolve()).as_posix()


def diff(revision: str, path: Path) -> str:
    """How the file in the work tree differs from that revision; of `A...B`, from where they parted."""
    top = repository(path.parent.absolute())
    name = name_in(top, path)
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


@dataclass(frozen=True)
class CommitDiff:
    """What changed between two commits, and for each file of which something is not shown, what that is."""

    first: str
    second: str
    text: str
    cut: tuple[str, ...]


def diff_commits(revisions: str, top: Path) -> CommitDiff:
    """The changes of `A..B`, or of `A...B` since they parted, bounded in size. Only objects are read."""
    first, _, second = (revisions if ".." in revisions else f"{revisions}..").partition("..")
    if second.startswith("."):
        shared = _commit(first, top), _commit(second[1:], top)
        before, after = read("merge-base", *shared, cwd=top).decode().strip(), shared[1]
    else:
        before, after = _commit(first, top), _commit(second, top)
    entries = _list_changed(before, after, top)
    small = [name for name, size in entries if size <= LARGEST_SHOWN][:MOST_FILES]
    cut = [f"{name}: {size:,} bytes, not shown" for name, size in entries if size > LARGEST_SHOWN]
    if more := len(entries) - len(cut) - len(small):
        cut.append(f"{more} more files, not shown")
    flags = ("-r", "-p", "--no-renames", "--no-ext-diff", "--no-textconv", "--no-color", "--unified=3")
    shown = ("-c", "core.quotePath=false", "diff-tree", *flags, before, after, "--", *small)
    made = read(*shown, cwd=top) if small else b""
    text, shortened = shorten_diff(made.decode("utf-8", "replace"))
    return CommitDiff(before, after, text, (*cut, *shortened))


def find_first_commit(path: Path, top: Path) -> str:
    """The commit that brought a file into the history of HEAD; empty if none did."""
    name = name_in(top, path)
    return read("rev-list", "HEAD", "--", name, cwd=top).decode().strip().rpartition("\n")[2]


def _commit(name: str, top: Path) -> str:
    found = run("rev-parse", "--verify", "--quiet", f"{name or 'HEAD'}^{{commit}}", cwd=top)
    if found.returncode or name.startswith("-"):
        raise UsageError(f'"{name or "HEAD"}" names no commit of {top}')
    return found.stdout.decode().strip()


def _list_changed(before: str, after: str, top: Path) -> list[tuple[str, int]]:
    """Each changed file with the size of the larger side of it."""
    listed = read("diff-tree", "-r", "-z", "--raw", "--no-renames", "--no-abbrev", before, after, cwd=top)
    fields = listed.decode("utf-8", "surrogateescape").split("\0")[:-1]
    changed = {name: about.split()[2:4] for about, name in zip(fields[::2], fields[1::2], strict=True)}
    ids = [one for sides in changed.values() for one in sides]
    asked = "".join(f"{one}\n" for one in ids).encode()
    sizes = {}
    for line in (
        read("cat-file", "--batch-check=%(objectname) %(objectsize)", cwd=top, stdin=asked).decode().splitlines()
    ):
        one, _, size = line.partition(" ")
        sizes[one] = int(size) if size.isdigit() else 0  # a submodule, or the missing side of a new file
    return [(name, max(sizes.get(one, 0) for one in sides)) for name, sides in changed.items()]


def shorten_diff(text: str) -> tuple[str, list[str]]:
    """The diff within its bounds, and what each file lost. Every file keeps its beginning as long as there is room."""
    shown, cut, left = list[str](), list[str](), MOST_SHOWN
    for part in re.split(r"^(?=diff --git )", text, flags=re.M)[text.startswith("diff --git ") :]:
        lines = [line if len(line) <= LONGEST_LINE else f"{line[:LONGEST_LINE]}… (cut)" for line in part.split("\n")]
        kept = lines[: max(min(LONGEST_FILE, left), 0)]
        while len("\n".join(kept)) > left * 80:
            kept = kept[: len(kept) // 2]
        left -= len(kept)
        shown += kept
        if len(kept) < len(lines):
            name = lines[0].removeprefix("diff --git ").rpartition(" b/")[2]
            cut.append(f"{name}: {len(lines) - len(kept):,} lines of its diff are not shown")
    return "\n".join(shown), cut


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
