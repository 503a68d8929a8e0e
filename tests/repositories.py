"""Real repositories, of every kind and with every trap: what is read from them and put on a branch, and what may not
happen meanwhile. The tests run a sample, `scripts/prove lab` all of it."""

from __future__ import annotations

import os
import subprocess
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import partial
from pathlib import Path

from council.lab import branch, history, worktree
from council.lab.branch import NewCommit
from council.lab.repository import Repository, Snapshot, open_repository, read_commit

WHEN = "1750000000 +0000"
REF = "refs/heads/council/20260101-000000-0123abcd"
FILES = {
    "src/app.py": b"def add(a, b):\n    return a - b\n",
    "tests/test_app.py": b"from src.app import add\n\n\ndef test_add():\n    assert add(1, 2) == 3\n",
    "run.sh": b"#!/bin/sh\necho run\n",
    "data/image.bin": bytes(range(256)) * 4,
    "dos.txt": b"one\r\ntwo\r\n",
    "a name with spaces \xc3\xbc.txt".encode("latin-1").decode(): b"text without an end",
}
FIXED = {**FILES, "src/app.py": b"def add(a, b):\n    return a + b\n", "src/new.py": b"x = 1\n"}
del FIXED["dos.txt"]


def git(folder: Path, *words: str, stdin: bytes = b"") -> bytes:
    """Git as the user runs it."""
    env = {
        "PATH": os.environ["PATH"], "HOME": str(folder.parent), "GIT_CONFIG_NOSYSTEM": "1",
        **{f"GIT_{role}_{kind}": value for role in ("AUTHOR", "COMMITTER")
           for kind, value in (("NAME", "Ada"), ("EMAIL", "ada@localhost"), ("DATE", WHEN))},
    }  # fmt: skip
    safe = ("-c", "protocol.file.allow=always", "-c", "advice.detachedHead=false")
    return subprocess.run(
        ["git", *safe, *words], cwd=folder, env=env, input=stdin, capture_output=True, check=True
    ).stdout


def lay(folder: Path, files: dict[str, bytes]) -> None:
    for path, data in files.items():
        (folder / path).parent.mkdir(parents=True, exist_ok=True)
        (folder / path).write_bytes(data)


def read_files(folder: Path) -> dict[str, bytes]:
    found = (path for path in folder.rglob("*") if path.is_file() and ".git" not in path.parts)
    return {path.relative_to(folder).as_posix(): path.read_bytes() for path in found}


def make(folder: Path, *options: str) -> Path:
    """A repository with two commits, a stash, something staged, something changed and something new."""
    folder.mkdir(parents=True)
    git(folder, "init", "-q", "-b", "main", *options)
    lay(folder, {"old.txt": b"old\n"})
    git(folder, "add", "-A")
    git(folder, "commit", "-qm", "first")
    (folder / "old.txt").unlink()
    lay(folder, FILES)
    (folder / "run.sh").chmod(0o755)
    git(folder, "add", "-A")
    git(folder, "commit", "-qm", "second")
    return folder


def disturb(folder: Path) -> None:
    """Leave work of the user's own in every place that git has for it."""
    lay(folder, {"src/app.py": b"stashed\n"})
    git(folder, "stash", "-q")
    lay(folder, {"staged.txt": b"staged\n"})
    git(folder, "add", "staged.txt")
    lay(folder, {"src/app.py": FILES["src/app.py"] + b"# not committed\n", "untracked.txt": b"untracked\n"})


# ---- kinds ----


def _plain(place: Path) -> Path:
    return make(place / "project")


def _worktree(place: Path) -> Path:
    git(make(place / "main"), "worktree", "add", "-q", "-b", "other", str(place / "project"))
    return place / "project"


def _detached(place: Path) -> Path:
    git(made := make(place / "project"), "checkout", "-q", "--detach")
    return made


def _bare(place: Path) -> Path:
    git(place, "clone", "-q", "--bare", str(make(place / "origin")), str(place / "project.git"))
    return place / "project.git"


def _sha256(place: Path) -> Path:
    return make(place / "project", "--object-format=sha256")


def _shallow(place: Path) -> Path:
    git(place, "clone", "-q", "--depth=1", f"file://{make(place / 'origin')}", str(place / "project"))
    return place / "project"


def _packed(place: Path) -> Path:
    git(made := make(place / "project"), "gc", "-q")
    return made


def _submodule(place: Path) -> Path:
    inner, made = make(place / "inner"), make(place / "project")
    git(made, "submodule", "--quiet", "add", str(inner), "vendored")
    git(made, "commit", "-qm", "with a submodule")
    return made


def _inside_submodule(place: Path) -> Path:
    return _submodule(place) / "vendored"


def _links(place: Path) -> Path:
    made = make(place / "project")
    (made / "link.py").symlink_to("src/app.py")
    (made / "outside").symlink_to("/etc")
    git(made, "add", "-A")
    git(made, "commit", "-qm", "with links")
    return made


def _shared(place: Path) -> Path:
    """Its objects are another repository's."""
    git(place, "clone", "-q", "--shared", str(make(place / "origin")), str(place / "project"))
    return place / "project"


def _packed_refs(place: Path) -> Path:
    git(made := make(place / "project"), "pack-refs", "--all")
    return made


KINDS: dict[str, Callable[[Path], Path]] = {
    "plain": _plain, "worktree": _worktree, "detached": _detached, "bare": _bare, "sha256": _sha256,
    "shallow": _shallow, "packed": _packed, "submodule": _submodule, "inside a submodule": _inside_submodule,
    "links": _links, "shared": _shared, "packed refs": _packed_refs,
}  # fmt: skip


# ---- what must stay as it is ----


def picture(folder: Path, besides: str = REF) -> dict[str, object]:
    """All that the user may see of a repository, but for one reference: status, index, branches, stash and files.

    Git's own index is refreshed by `status` itself, so its bytes come first.
    """
    own = open_repository(folder).folder
    index = (own / "index").read_bytes() if (own / "index").exists() else b""
    refs = [line for line in git(folder, "for-each-ref").splitlines() if besides.encode() not in line]
    bare = git(folder, "rev-parse", "--is-bare-repository").strip() == b"true"
    places = [own / name for name in ("HEAD", "config", "logs/HEAD", "logs/refs/stash", "ORIG_HEAD", "FETCH_HEAD")]
    return {
        "index": index,
        "refs": refs,
        "own files": {path.name: path.read_bytes() for path in places if path.is_file()},
        "in the folder": sorted(path.name for path in own.iterdir() if path.name != "logs"),
        "status": b"" if bare else git(folder, "--no-optional-locks", "status", "--porcelain=v2", "--branch"),
        "stash": b"" if bare else git(folder, "stash", "list"),
        "files": {} if bare else dict(_read(folder)),
    }


def _read(folder: Path) -> Iterator[tuple[str, object]]:
    for path in sorted(folder.rglob("*")):
        if ".git" not in path.relative_to(folder).parts and (path.is_symlink() or path.is_file()):
            about = path.lstat()
            content = str(path.readlink()) if path.is_symlink() else path.read_bytes()
            yield str(path.relative_to(folder)), (content, about.st_mode, about.st_mtime_ns)


# ---- what council does with them ----


@dataclass(frozen=True)
class Applied:
    """A branch that was made, and from what."""

    repository: Repository
    commit: Snapshot
    tip: str


def go_through(folder: Path) -> Applied:
    """Everything that council ever does with a repository: read, compare, tell its history, make a branch."""
    repository = open_repository(folder)
    commit = read_commit(repository)
    worktree.find_uncommitted(repository, commit)
    history.describe_history(repository, commit.commit, ["src/app.py"])
    tip = make_tip(repository, commit)
    assert branch.create(repository, REF, tip, WHEN)
    return Applied(repository, commit, tip)


def make_tip(repository: Repository, commit: Snapshot) -> str:
    changed = {path for path in FIXED.keys() | FILES.keys() if FIXED.get(path) != FILES.get(path)}
    wanted = {path: data for path, data in {**commit.files, **FIXED}.items() if path in FIXED or path not in changed}
    return branch.make_commits(repository, commit.commit, commit.left_out, [NewCommit(wanted, "Fix add\n", WHEN)])


def undo(applied: Applied) -> None:
    branch.remove(applied.repository, REF, applied.tip, WHEN)


# ---- traps ----

HOOKS = (
    "reference-transaction", "post-index-change", "post-checkout", "pre-commit", "post-commit", "commit-msg",
    "prepare-commit-msg", "post-update", "update", "pre-receive", "pre-auto-gc", "post-rewrite", "fsmonitor-watchman",
    "applypatch-msg", "pre-applypatch", "post-applypatch", "pre-merge-commit", "sendemail-validate", "push-to-checkout",
)  # fmt: skip
SETTINGS = {
    "fsmonitor": ["core.fsmonitor={}"],
    "hooks path": ["core.hooksPath={}.d"],
    "pager": ["core.pager={}", "pager.blame={}", "pager.rev-list={}", "pager.ls-tree={}"],
    "textconv": ["diff.evil.textconv={}", "diff.evil.cachetextconv=true"],
    "external diff": ["diff.external={}", "diff.evil.command={}"],
    "filter": ["filter.evil.clean={}", "filter.evil.smudge={}", "filter.evil.process={}", "filter.evil.required=true"],
    "lfs": ["filter.lfs.clean={}", "filter.lfs.smudge={}", "filter.lfs.process={}", "filter.lfs.required=true"],
    "merge driver": ["merge.evil.driver={}", "merge.default=evil"],
    "alias": [
        f"alias.{name}=!{{}}"
        for name in (
            "read-tree", "update-index", "hash-object", "write-tree", "commit-tree", "update-ref", "rev-parse",
            "rev-list", "ls-tree", "ls-files", "cat-file", "blame", "for-each-ref", "config",
        )
    ],
    "transport": [
        "extensions.partialClone=origin", "remote.origin.promisor=true", "remote.origin.url=ext::{}",
        "protocol.ext.allow=always", "core.sshCommand={}", "core.gitProxy={}",
    ],
    "asked programs": ["core.editor={}", "sequence.editor={}", "core.askPass={}", "credential.helper=!{}"],
    "signatures": [
        "gpg.program={}", "gpg.ssh.program={}", "commit.gpgSign=true", "log.showSignature=true", "user.signingKey=ABC",
    ],
    "submodule update": ["submodule.vendored.update=!{}", "submodule.recurse=true", "fetch.recurseSubmodules=true"],
    "upkeep": ["gc.auto=1", "maintenance.auto=true", "uploadpack.packObjectsHook={}", "core.alternateRefsCommand={}"],
    "work tree": ["core.worktree=/"],
    "odd index": ["core.splitIndex=true", "index.sparse=true", "core.untrackedCache=true", "feature.manyFiles=true"],
}  # fmt: skip
ATTRIBUTES = b"* filter=evil diff=evil merge=evil text eol=crlf ident working-tree-encoding=UTF-16\n*.bin filter=lfs\n"


def _set(folder: Path, program: Path, kind: str) -> None:
    own = open_repository(folder).folder
    lay(folder, {".gitattributes": ATTRIBUTES})
    lay(own, {"info/attributes": ATTRIBUTES})
    for setting in SETTINGS[kind]:
        name, _, value = setting.partition("=")
        git(folder, "config", "--file", str(own / "config"), name, value.format(program))


def _hooks(folder: Path, program: Path) -> None:
    place = open_repository(folder).folder / "hooks"
    place.mkdir(exist_ok=True)
    for name in HOOKS:
        (place / name).unlink(missing_ok=True)
        (place / name).symlink_to(program)


def _include(folder: Path, program: Path) -> None:
    lay(folder, {"shipped.cfg": f"[core]\n\tfsmonitor = {program}\n\thooksPath = {program}.d\n".encode()})
    git(folder, "config", "include.path", "../shipped.cfg")


def _worktree_settings(folder: Path, program: Path) -> None:
    git(folder, "config", "extensions.worktreeConfig", "true")
    lay(open_repository(folder).folder, {"config.worktree": f"[core]\n\tfsmonitor = {program}\n".encode()})


def _replaced(folder: Path, program: Path) -> None:
    """Replace references and grafts: other content under the names of the commit's."""
    other = git(folder, "hash-object", "-w", "--stdin", stdin=b"replaced\n").decode().strip()
    mine = git(folder, "rev-parse", "HEAD:src/app.py").decode().strip()
    git(folder, "replace", mine, other)
    common = git(folder, "rev-parse", "--path-format=absolute", "--git-common-dir").decode().strip()
    lay(Path(common), {"info/grafts": git(folder, "rev-parse", "HEAD")})


TRAPS: dict[str, Callable[[Path, Path], None]] = {
    "hooks": _hooks, "include": _include, "worktree settings": _worktree_settings, "replaced objects": _replaced,
    **{kind: partial(_set, kind=kind) for kind in SETTINGS},
}  # fmt: skip


def plant(folder: Path, trap: str) -> Path:
    """Set a trap in a repository; the mark that it leaves if it is sprung."""
    mark, program = folder.parent / "MARK", folder.parent / "evil"
    program.write_text(f'#!/bin/sh\necho "$0 $*" >> {mark}\ncat\n')
    program.chmod(0o755)
    (folder.parent / "evil.d").mkdir()
    for hook in HOOKS:
        (folder.parent / "evil.d" / hook).symlink_to(program)
    TRAPS[trap](folder, program)
    return mark


def _other_git(folder: Path, secret: Path) -> None:
    _remove_git(folder)
    (folder / ".git").write_text(f"gitdir: {secret}/.git\n")


def _false_worktree(folder: Path, secret: Path) -> None:
    """A linked work tree of its own making, whose objects and branches are another repository's."""
    _remove_git(folder)
    (folder / ".git").write_text("gitdir: own\n")
    content = {"HEAD": b"ref: refs/heads/main\n", "commondir": f"{secret}/.git\n".encode(), "gitdir": b"../.git\n"}
    lay(folder / "own", content)


def _common(folder: Path, secret: Path) -> None:
    lay(folder / ".git", {"commondir": f"{secret}/.git\n".encode()})


def _linked_git(folder: Path, secret: Path) -> None:
    _remove_git(folder)
    (folder / ".git").symlink_to(secret / ".git")


def _linked_parts(folder: Path, secret: Path) -> None:
    for name in ("refs", "objects"):
        subprocess.run(["rm", "-r", str(folder / ".git" / name)], check=True)
        (folder / ".git" / name).symlink_to(secret / ".git" / name)


def _linked_branch(folder: Path, secret: Path) -> None:
    (folder / ".git/refs/heads/main").unlink()
    (folder / ".git/refs/heads/main").symlink_to(secret / ".git/refs/heads/main")
    lay(folder / ".git", {"objects/info/alternates": f"{secret}/.git/objects\n".encode()})


def _remove_git(folder: Path) -> None:
    subprocess.run(["rm", "-r", str(folder / ".git")], check=True)


# A folder from elsewhere that would have the user's other repository read.
BORROWERS: dict[str, Callable[[Path, Path], None]] = {
    "a .git file": _other_git, "a false worktree": _false_worktree, "commondir": _common, "a linked .git": _linked_git,
    "linked parts": _linked_parts, "a linked branch": _linked_branch,
}  # fmt: skip
