"""Reads a commit of the user's repository, by plumbing alone: nothing that the repository configures is run, such as a
hook, a filter or a file system monitor, and no link is followed.

Where the repository is comes from the folder's own `.git`. One that names the files of another repository is refused:
a folder from elsewhere could otherwise have the user's private code read to a model.
"""

from __future__ import annotations

import os
import subprocess
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path

from council import git
from council.errors import UsageError

MOST_FILES = 20_000
MOST_BYTES = 24_000_000  # of all files together, with what an archive adds to each
OVERHEAD = 1_024
LINK, SUBMODULE, EXECUTABLE = "120000", "160000", "100755"
OWN = ("HEAD", "objects", "refs", "refs/heads", "packed-refs")
ELSEWHERE = "it belongs to a repository elsewhere that does not know this folder; name that one with --repo"


@dataclass(frozen=True)
class Repository:
    """A repository of the user. `top` is its work tree, or itself if it is `bare`; `folder` is where git keeps it.

    `hash_name` is what it names its objects by.
    """

    top: Path
    folder: Path
    bare: bool
    hash_name: str

    @property
    def place(self) -> dict[str, str]:
        """The variables that lead git here, whatever the repository's own settings say."""
        return {"GIT_DIR": str(self.folder)} | ({} if self.bare else {"GIT_WORK_TREE": str(self.top)})

    def run(
        self, *words: str, stdin: bytes = b"", variables: Mapping[str, str] = git.NONE
    ) -> subprocess.CompletedProcess[bytes]:
        """One git command to its end."""
        return git.run(*words, cwd=self.top, stdin=stdin, variables={**self.place, **variables})

    def read(self, *words: str, stdin: bytes = b"", variables: Mapping[str, str] = git.NONE) -> bytes:
        """What a git command prints; its first complaint is an error."""
        return git.read(*words, cwd=self.top, stdin=stdin, variables={**self.place, **variables})

    def word(self, *words: str, stdin: bytes = b"", variables: Mapping[str, str] = git.NONE) -> str:
        return self.read(*words, stdin=stdin, variables=variables).decode("utf-8", "surrogateescape").strip()

    def find(self, name: str) -> str:
        """The object that a name leads to; empty if there is none."""
        done = self.run("rev-parse", "--verify", "--quiet", "--end-of-options", name)
        return done.stdout.decode().strip() if done.returncode == 0 else ""


@dataclass(frozen=True)
class Snapshot:
    """The files of a commit. `left_out` are paths that members cannot be given, each with the reason."""

    commit: str
    tree: str
    files: Mapping[str, bytes]
    executable: tuple[str, ...] = ()
    left_out: Mapping[str, str] = field(default_factory=dict)


def open_repository(start: Path) -> Repository:
    """The repository around a folder, or the bare one that it is."""
    start = start.absolute()
    if not start.is_dir():
        raise UsageError(f"{start}: no such folder")
    top = git.repository(start)
    if os.path.lexists(top / ".git"):
        _check_own(top)
        words = git.read("rev-parse", "--git-dir", "--git-common-dir", cwd=top).decode().splitlines()
        folder, common = ((top / one).resolve() for one in words)
        _check_known(top, folder, common)
        place = {"GIT_DIR": str(folder), "GIT_WORK_TREE": str(top)}
    elif all(os.path.lexists(start / name) for name in OWN[:3]):
        top, folder, common, place = start, start, start, {"GIT_DIR": str(start)}
    else:
        raise UsageError(f"{start} is in no git repository; name one with --repo, or make one: git init")
    _check_links(folder, common)
    hash_name = git.read("rev-parse", "--show-object-format", cwd=top, variables=place).decode().strip()
    return Repository(top, folder, "GIT_WORK_TREE" not in place, hash_name)


def _check_own(top: Path) -> None:
    if (top / ".git").is_symlink():
        raise UsageError(f"{top / '.git'} is a symbolic link: {ELSEWHERE}")


def _check_known(top: Path, folder: Path, common: Path) -> None:
    """A `.git` that is a file is believed if what it names knows of it: a linked work tree, or a submodule."""
    mark, known = top / ".git", common == folder
    if mark.is_dir():
        known = known and folder == mark.resolve()
    elif folder.parent == common / "worktrees":
        known = _lead(folder, (folder / "gitdir").read_text("utf-8", "replace")) == mark.resolve()
    elif known:
        named = git.run("config", "--file", str(folder / "config"), "--get", "core.worktree", cwd=top).stdout
        known = bool(named) and _lead(folder, named.decode("utf-8", "replace")) == top.resolve()
    if not known:
        raise UsageError(f"{mark}: {ELSEWHERE}")


def _lead(folder: Path, words: str) -> Path:
    return (folder / words.strip()).resolve()


def _check_links(*folders: Path) -> None:
    for path in (folder / name for folder in folders for name in OWN):
        if path.is_symlink():
            raise UsageError(f"{path} is a symbolic link: {ELSEWHERE}")


def read_commit(repository: Repository, revision: str = "HEAD") -> Snapshot:
    """The files of a commit, within bounds; the largest are left out first where they are too much."""
    if revision == "HEAD":
        ref = repository.word("rev-parse", "--symbolic-full-name", "HEAD") if repository.find("HEAD") else ""
        if ref.startswith("refs/") and (repository.folder / ref).is_symlink():
            raise UsageError(f"{repository.folder / ref} is a symbolic link: {ELSEWHERE}")
    commit = repository.find(f"{revision}^{{commit}}")
    if not commit:
        raise UsageError(f"{repository.top} has no commit {revision}; commit the project first")
    tree = repository.word("rev-parse", "--verify", f"{commit}^{{tree}}")
    entries = list(list_tree(repository, tree))
    left_out = {one.path: one.why for one in entries if one.why}
    entries = [one for one in entries if not one.why]
    left_out |= {one.path: f"{one.size:,} bytes" for one in _find_too_much(entries)}
    entries = [one for one in entries if one.path not in left_out]
    files = dict(zip((one.path for one in entries), _read_blobs(repository, entries), strict=True))
    executable = tuple(one.path for one in entries if one.mode == EXECUTABLE)
    return Snapshot(commit, tree, files, executable, left_out)


@dataclass(frozen=True)
class TreeEntry:
    """A file in a tree. `why` says why members cannot be given it; empty if they can."""

    path: str
    mode: str
    name: str
    size: int
    why: str


def list_tree(repository: Repository, tree: str) -> Iterator[TreeEntry]:
    """Every file in a tree."""
    lines = repository.read("ls-tree", "-rlz", "--full-tree", tree).split(b"\0")[:-1]
    if len(lines) > MOST_FILES:
        raise UsageError(f"{repository.top} has {len(lines):,} files; council takes at most {MOST_FILES:,}")
    for line in lines:
        about, _, path_bytes = line.partition(b"\t")
        (mode, _, name, size), path = about.decode().split(), path_bytes.decode("utf-8", "surrogateescape")
        why = {LINK: "a symbolic link", SUBMODULE: "a submodule"}.get(mode) or explain_path(path)
        yield TreeEntry(path, mode, name, int(size) if size != "-" else 0, why)


def explain_path(path: str) -> str:
    """Why a path of a tree is not given to anybody; empty if it may be."""
    parts = path.split("/")
    if any(ord(letter) < 32 or 0xD800 <= ord(letter) < 0xE000 for letter in path):
        return "a name that is not plain text"
    if any(part in ("", ".", "..") or part.lower() == ".git" for part in parts):
        return "a name that git itself would refuse"
    return ""


def _find_too_much(entries: Iterable[TreeEntry]) -> list[TreeEntry]:
    """The largest files, as many as have to go for the others to fit."""
    by_size = sorted(entries, key=lambda one: (-one.size, one.path))
    total = sum(one.size + OVERHEAD for one in by_size)
    found: list[TreeEntry] = []
    while total > MOST_BYTES:
        found.append(by_size[len(found)])
        total -= found[-1].size + OVERHEAD
    return found


def _read_blobs(repository: Repository, entries: Iterable[TreeEntry]) -> Iterator[bytes]:
    names = [one.name for one in entries]
    data, at = repository.read("cat-file", "--batch", stdin="".join(f"{name}\n" for name in names).encode()), 0
    for name in names:
        end = data.index(b"\n", at)
        words = data[at:end].split()
        if words[1:2] != [b"blob"]:
            advice = "if it is a partial clone, fetch the whole of it"
            raise UsageError(f"{repository.top}: the object {name} is missing; {advice}")
        size = int(words[2])
        yield data[end + 1 : end + 1 + size]
        at = end + 1 + size + 1
