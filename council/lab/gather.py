"""Gathers what members work on: the files of a commit or a folder, and which of them are tests.

Members change the tree, and never the tests: a trial lays those over whatever was written.
"""

from __future__ import annotations

import os
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path, PurePosixPath

from council import git
from council.candidates.steering import is_steering
from council.candidates.versions import TEST_FILE
from council.errors import UsageError
from council.lab import worktree
from council.lab.repository import MOST_BYTES, MOST_FILES, OVERHEAD, OWN, explain_path, open_repository, read_commit
from council.text import join_words

FOLDERS = ("tests", "test", "__tests__", "spec")
SKIPPED = ("__pycache__", "node_modules", "site-packages")
BENCHES = {".py": "pytest", ".go": "go", ".js": "node", ".mjs": "node", ".cjs": "node"}


@dataclass(frozen=True)
class Wishes:
    """What the user asked for: files and folders with tests, those that are hidden, and whether the changes that are
    not committed count."""

    tests: tuple[Path, ...] = ()
    hidden: tuple[Path, ...] = ()
    worktree: bool = False


@dataclass(frozen=True)
class ProjectFiles:
    """Files as they were found. `fresh` are the paths of those that are not committed: only tests among them are
    taken, and the others are not even read."""

    top: Path
    files: Mapping[str, bytes]
    left_out: Mapping[str, str]
    executable: tuple[str, ...] = ()
    commit: str = ""
    hash_name: str = "sha1"
    fresh: frozenset[str] = frozenset()

    def read_fresh(self, path: str) -> bytes | None:
        return worktree.read_below(self.top, path)


@dataclass(frozen=True)
class Gathered:
    """What a session is about: the files that members change, and the tests. `outside` are tests that are not in the
    commit, and `notes` are lines for the user."""

    source: ProjectFiles
    tree: Mapping[str, bytes]
    visible: Mapping[str, bytes]
    hidden: Mapping[str, bytes]
    left_out: Mapping[str, str]
    outside: tuple[str, ...]
    notes: tuple[str, ...]

    @property
    def tests(self) -> list[str]:
        """The test files that members may see."""
        return sorted(filter(TEST_FILE.search, self.visible))


def gather(place: Path, wishes: Wishes) -> Gathered:
    """What is in the repository around a folder, or in the folder itself if it is in none."""
    place = place.absolute()
    if not place.is_dir():
        raise UsageError(f"{place}: no such folder")
    found = _read_folder(place) if is_plain(place) else _read_repository(place, wishes.worktree)
    pointers = {path: "in Git LFS" for path, data in found.files.items() if data.startswith(worktree.POINTER)}
    given = {path: data for path, data in found.files.items() if path not in pointers}
    hidden = dict(_read_hidden(found, given, wishes.hidden))
    chosen = [_locate(found.top, named, given.keys() | found.fresh, "--tests") for named in wishes.tests]

    def is_test(path: str) -> bool:
        return any(_is_below(place, path) for place in chosen) if chosen else _looks_like_test(path)

    wanted = sorted(path for path in found.fresh if path not in hidden and is_test(path))
    fresh = {path: data for path in wanted if (data := found.read_fresh(path)) is not None}
    visible = {path: data for path, data in given.items() if is_test(path) or is_steering(path)}
    visible = {path: data for path, data in {**visible, **fresh}.items() if path not in hidden}
    tree = {path: data for path, data in given.items() if path not in visible and path not in hidden}
    if hidden:  # they may need what is beside the visible ones
        hidden |= {path: data for path, data in visible.items() if not TEST_FILE.search(path)}
    outside = [path for path, data in {**visible, **hidden}.items() if found.files.get(path) != data]
    size = sum(len(data) + OVERHEAD for files in (tree, visible, hidden) for data in files.values())
    if size > MOST_BYTES:
        raise UsageError(
            f"the files have {size:,} bytes with the tests that are not committed; council takes at most "
            f"{MOST_BYTES:,}: name fewer with --tests"
        )
    left_out = {**found.left_out, **pointers}
    notes = tuple(_describe(found, left_out, sorted(fresh)))
    return Gathered(found, tree, visible, hidden, left_out, tuple(sorted(outside)), notes)


def guess_bench(tests: Collection[str]) -> str:
    """The bench for these test files, by what most of them are written in."""
    kinds = [BENCHES[suffix] for path in tests if (suffix := PurePosixPath(path).suffix) in BENCHES]
    return max(sorted(set(kinds)), key=kinds.count, default="pytest")


def _looks_like_test(path: str) -> bool:
    return TEST_FILE.search(path) is not None or not set(FOLDERS).isdisjoint(path.split("/")[:-1])


def _locate(top: Path, named: Path, paths: Collection[str], option: str) -> str:
    """A file or folder that the user named, from where they are or else from the top, as a path of the project."""
    here, top = named.resolve(), top.resolve()
    for place in ([here.relative_to(top)] if here.is_relative_to(top) else []) + [named]:
        path = PurePosixPath(place).as_posix()
        if any(path in (".", one) or one.startswith(f"{path}/") for one in paths):
            return path
    raise UsageError(f"{option} {named}: the project has no file there")


def _is_below(place: str, path: str) -> bool:
    return place in (".", path) or path.startswith(f"{place}/")


def _read_hidden(found: ProjectFiles, given: Mapping[str, bytes], named: Sequence[Path]) -> Iterator[tuple[str, bytes]]:
    """The hidden tests: of the project, or of a folder elsewhere, which then keeps its name."""
    for one in named:
        here = one.resolve()
        if not here.exists() or here.is_relative_to(found.top.resolve()):
            paths = given.keys() | found.fresh
            place = _locate(found.top, one, paths, "--hidden")
            files = {
                path: found.read_fresh(path) if path in found.fresh else given[path]
                for path in sorted(paths) if _is_below(place, path)
            }  # fmt: skip
        else:
            files = {here.name: worktree.read_below(here.parent, here.name)} if here.is_file() else {
                f"{here.name}/{path}": worktree.read_below(here, path) for path in _walk(here, {})
            }  # fmt: skip
        yield from ((path, data) for path, data in files.items() if data is not None)


def _describe(found: ProjectFiles, left_out: Mapping[str, str], fresh: Sequence[str]) -> Iterator[str]:
    """What the user should know of what was taken, and what was not."""
    kept = sorted(found.fresh - set(fresh))
    parts = [f"{_shorten(fresh)}, taken as a test"] if fresh else []
    parts += [f"{_shorten(kept)}, left out (--worktree takes it too)"] if kept else []
    if parts:
        yield f"not committed: {'; '.join(parts)}"
    reasons = {why: [path for path, one in left_out.items() if one == why] for why in left_out.values()}
    if reasons:
        yield f"left out: {'; '.join(f'{_shorten(paths)} ({why})' for why, paths in reasons.items())}"


def _shorten(paths: Sequence[str], most: int = 3) -> str:
    return join_words([*paths] if len(paths) <= most else [*paths[: most - 1], f"{len(paths) - most + 1} more"])


# ---- where files come from ----


def is_plain(place: Path) -> bool:
    """Whether a folder is in no repository, and is none."""
    top = git.repository(place)
    return not os.path.lexists(top / ".git") and not all(os.path.lexists(place / name) for name in OWN[:3])


def _read_repository(place: Path, with_changes: bool) -> ProjectFiles:
    repository = open_repository(place)
    commit = read_commit(repository)
    found = worktree.find_uncommitted(repository, commit)
    fresh: frozenset[str] = frozenset()
    if with_changes:
        commit = worktree.add_uncommitted(repository, commit, found)
    else:
        paths = {path for path, data in found.changed.items() if data is not None}.union(found.untracked)
        fresh = frozenset(path for path in paths if set(SKIPPED).isdisjoint(path.split("/")))
    return ProjectFiles(
        repository.top, commit.files, commit.left_out, commit.executable, commit.commit, repository.hash_name, fresh
    )


def _read_folder(top: Path) -> ProjectFiles:
    """The files of a folder that is no repository. What begins with a full stop is left out: it may hold secrets."""
    files: dict[str, bytes] = {}
    left_out: dict[str, str] = {}
    executable: list[str] = []
    total = 0
    for path in _walk(top, left_out):
        data = worktree.read_below(top, path)
        if data is None:
            left_out[path] = "a symbolic link, or no file"
            continue
        files[path], total = data, total + len(data) + OVERHEAD
        executable += [path] if os.access(top / path, os.X_OK) else []
        if len(files) > MOST_FILES or total > MOST_BYTES:
            raise UsageError(
                f"{top} is too large: council takes at most {MOST_FILES:,} files and {MOST_BYTES:,} bytes; name a "
                "smaller folder with --repo"
            )
    return ProjectFiles(top, files, left_out, tuple(executable))


def _walk(top: Path, left_out: dict[str, str]) -> Iterator[str]:
    for folder, folders, names in os.walk(top):
        place = Path(folder).relative_to(top)
        kept = [name for name in sorted(folders) if name[0] != "." and name not in SKIPPED]
        folders[:] = [name for name in kept if not Path(folder, name, "pyvenv.cfg").exists()]
        links = [name for name in folders if Path(folder, name).is_symlink()]
        for name in sorted([*names, *links]):
            path = (place / name).as_posix()
            if name[0] != "." and not (why := explain_path(path)):
                yield path
            else:
                left_out[path] = why if name[0] != "." else "hidden"
