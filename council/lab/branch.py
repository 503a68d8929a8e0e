"""Puts a tree on a new branch of the user's repository, and removes that branch again.

All of it is plumbing: an index of its own outside of the repository, objects written without filters, and at the end
one reference that is created only if it does not exist. The user's branches, index, work tree and stash are never
touched. Until that last call there is nothing to see, so whatever stops it leaves nothing, or the whole branch.

The commits follow from the session alone: made twice, they have the same names. So it is known what `undo` may remove.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory

from council import git
from council.candidates.patch import PLAIN, name_object
from council.errors import UsageError
from council.lab.repository import Repository, list_tree

AUTHOR = "council"
EMAIL = "council@localhost"
# What a repository may ask git to write beside the files that it is told to write; and what is on the disk is durable.
QUIET = (
    "-c", "core.splitIndex=false", "-c", "index.sparse=false", "-c", "core.untrackedCache=false",
    "-c", "core.fsync=all", "-c", "i18n.commitEncoding=UTF-8", "-c", "core.protectNTFS=false",
)  # fmt: skip


@dataclass(frozen=True)
class NewCommit:
    """A commit of the branch: the files as they are after it, and what it says. `when` is a time that git reads."""

    files: Mapping[str, bytes]
    message: str
    when: str


def make_commits(repository: Repository, base: str, left_out: Collection[str], commits: Sequence[NewCommit]) -> str:
    """Write the commits on top of the base, with all their objects; the name of the last. No branch leads there yet.

    What was `left_out` of the files that members saw stays as it is.
    """
    if not repository.find(f"{base}^{{commit}}"):
        raise UsageError(f"{repository.top} no longer has the commit {base[:12]} on which the session began")
    tip = base
    for new in commits:
        tip = _commit(repository, tip, left_out, new)
    return tip


def _commit(repository: Repository, parent: str, left_out: Collection[str], new: NewCommit) -> str:
    before = {entry.path: entry for entry in list_tree(repository, f"{parent}^{{tree}}")}
    wanted = {path: name_object(data, repository.hash_name) for path, data in new.files.items()}
    changed = [path for path, name in wanted.items() if path not in before or before[path].name != name]
    gone = [path for path in before if path not in wanted and path not in left_out]
    _check_places(changed, left_out)
    with TemporaryDirectory(prefix="council-") as place:
        _write_objects(repository, Path(place), [new.files[path] for path in changed])
        own = {"GIT_INDEX_FILE": str(Path(place, "index"))}
        lines = [f"0 {'0' * len(parent)}\t{path}\0" for path in gone]
        lines += [f"{before[path].mode if path in before else PLAIN} {wanted[path]}\t{path}\0" for path in changed]
        repository.read(*QUIET, "read-tree", parent, variables=own)
        repository.read(*QUIET, "update-index", "-z", "--index-info", stdin="".join(lines).encode(), variables=own)
        tree = repository.word(*QUIET, "write-tree", variables=own)
    made = {entry.path: entry.name for entry in list_tree(repository, tree) if entry.path not in left_out}
    if made != wanted:
        raise UsageError(f"{repository.top}: git did not store the files as they are; no branch was made")
    words = (*QUIET, "commit-tree", "--no-gpg-sign", "-p", parent, tree)
    return repository.word(*words, stdin=new.message.encode(), variables=_sign(new.when))


def _check_places(changed: Iterable[str], left_out: Collection[str]) -> None:
    """Members saw no links, no submodules and no huge files, so they may have written where one is."""
    for path in changed:
        parts = path.split("/")
        for place in ("/".join(parts[:length]) for length in range(1, len(parts) + 1)):
            if place in left_out:
                raise UsageError(f"{path}: {place} was not among the files that members saw, so it is not replaced")


def _write_objects(repository: Repository, place: Path, contents: Sequence[bytes]) -> None:
    """Store the contents as they are; no filter of the repository sees them."""
    paths = [place / f"{number}" for number in range(len(contents))]
    for path, data in zip(paths, contents, strict=True):
        path.write_bytes(data)
    listed = "".join(f"{path}\n" for path in paths).encode()
    repository.read(*QUIET, "hash-object", "-w", "--no-filters", "--stdin-paths", stdin=listed)


def _sign(when: str) -> dict[str, str]:
    roles = ("AUTHOR", "COMMITTER")
    return {
        f"GIT_{role}_{kind}": value
        for role in roles
        for kind, value in (("NAME", AUTHOR), ("EMAIL", EMAIL), ("DATE", when))
    }


def create(repository: Repository, ref: str, tip: str, when: str) -> bool:
    """Let a new reference lead to the commits. False if it is there already and leads to the very same."""
    if there := repository.find(ref):
        if there == tip:
            return False
        raise UsageError(f"there is a branch {shorten(ref)} already, and it is not what apply makes; rename it first")
    words = ("update-ref", "-m", "council apply", ref, tip, "0" * len(tip))
    done = repository.run(*QUIET, *words, variables=_sign(when))
    if done.returncode == 0:
        return True
    if repository.find(ref) == tip:  # another apply of the same session was faster
        return False
    raise git.complain(done.stderr, f"the branch {shorten(ref)} was not created: ")


def remove(repository: Repository, ref: str, tip: str, when: str) -> None:
    """Remove the reference if it leads to what apply made, and nobody has it checked out."""
    there = repository.find(ref)
    if not there:
        raise UsageError(f"there is no branch {shorten(ref)}: nothing to undo")
    if there != tip:
        raise UsageError(f"{shorten(ref)} is not what apply made: {_compare(repository, there, tip)}; it is kept")
    if place := repository.word("for-each-ref", "--format=%(worktreepath)", ref):
        raise UsageError(f"{shorten(ref)} is checked out in {place}; switch to another branch there first")
    words = ("update-ref", "-m", "council apply --undo", "-d", ref, tip)
    done = repository.run(*QUIET, *words, variables=_sign(when))
    if done.returncode and repository.find(ref):
        raise git.complain(done.stderr, f"the branch {shorten(ref)} was not removed: ")


def _compare(repository: Repository, there: str, tip: str) -> str:
    more = [
        repository.word("rev-list", "--count", f"{first}..{second}") if repository.find(first) else "0"
        for first, second in ((tip, there), (there, tip))
    ]
    if more[1] == "0" and more[0] != "0":
        return f"it has {more[0]} more commit{'s' if more[0] != '1' else ''}"
    return f"it leads to {there[:12]}, and apply made {tip[:12]}"


def shorten(ref: str) -> str:
    return ref.removeprefix("refs/heads/")
