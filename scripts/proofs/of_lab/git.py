"""No program that a repository names is run on the host, and nothing of the user's changes but one new branch."""

from __future__ import annotations

import os
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from tempfile import TemporaryDirectory
from unittest import mock

from prove import Outcome

from council.errors import UsageError
from council.lab.gather import Wishes, gather
from council.lab.repository import open_repository, read_commit
from tests import repositories
from tests.repositories import FILES, git, go_through, picture, undo

PROMISE = "hostile repositories run nothing"
KINDS = [*repositories.KINDS]
SETUPS = [f"{kind} repository" for kind in KINDS]
OTHERS = ["environment", "borrowed repositories", "sprung by others"]
# Variables of the environment that name a program, another repository or further settings.
VARIABLES = {
    "GIT_EXTERNAL_DIFF": "{}", "GIT_SSH_COMMAND": "{}", "GIT_SSH": "{}", "GIT_EDITOR": "{}", "GIT_PAGER": "{}",
    "GIT_ASKPASS": "{}", "GIT_PROXY_COMMAND": "{}", "GIT_SEQUENCE_EDITOR": "{}", "GIT_EXEC_PATH": "{}.d",
    "GIT_TEMPLATE_DIR": "{}.d", "GIT_DIR": "{}.git", "GIT_WORK_TREE": "/", "GIT_INDEX_FILE": "{}.index",
    "GIT_OBJECT_DIRECTORY": "{}.objects", "GIT_ALTERNATE_OBJECT_DIRECTORIES": "{}.objects",
    "GIT_COMMON_DIR": "{}.git", "GIT_NAMESPACE": "evil", "GIT_ATTR_SOURCE": "HEAD",
    "GIT_CONFIG_PARAMETERS": "'core.fsmonitor={}'", "GIT_CEILING_DIRECTORIES": "/", "GIT_TRACE": "{}.trace",
}  # fmt: skip
SETTINGS = {"GIT_CONFIG_COUNT": "1", "GIT_CONFIG_KEY_0": "core.fsmonitor", "GIT_CONFIG_VALUE_0": "{}"}


def parts() -> list[str]:
    return [*SETUPS, *OTHERS]


def prove(part: str) -> Outcome:
    if part in SETUPS:
        return _try_traps(part, part.removesuffix(" repository"))
    return {"environment": _try_environment, "borrowed repositories": _try_borrowers, "sprung by others": _spring}[
        part
    ]()


@contextmanager
def _place() -> Iterator[Path]:
    with TemporaryDirectory(prefix="council-proof-") as folder:
        yield Path(folder)


def _use(folder: Path) -> None:
    """All that council does with a repository, from gathering it to removing its branch."""
    gather(folder, Wishes(worktree=not open_repository(folder).bare))
    gather(folder, Wishes())
    undo(go_through(folder))


def _try_traps(part: str, kind: str) -> Outcome:
    wrong, ran, refused = [], 0, 0
    for trap in repositories.TRAPS:
        with _place() as place:
            folder = repositories.KINDS[kind](place)
            own = open_repository(folder).folder
            mark = repositories.plant(folder, trap)
            before = _look(folder, own)
            try:
                _use(folder)
            except UsageError:  # the trap made it a folder that leads elsewhere
                refused += 1
            ran += mark.exists()
            wrong += [f"{part}, {trap}: {mark.read_text()}"] if mark.exists() else []
            wrong += [f"{part}, {trap}: something of the user's changed"] if _look(folder, own) != before else []
    tried = len(repositories.TRAPS)
    seen = f"{ran} commands run" + (f", {refused} refused" if refused else "")
    row = (PROMISE, f"{part}, each trap", "no command run, nothing changed", seen)
    return Outcome([(*row, tried, tried - len(wrong))], wrong)


def _look(folder: Path, own: Path) -> dict[str, object]:
    """What may not change, read without git: it would spring the trap."""
    names = ("HEAD", "index", "config", "packed-refs", "logs/HEAD", "logs/refs/stash", "refs/stash")
    found = {name: (own / name).read_bytes() for name in names if (own / name).is_file()}
    heads = {str(path): path.read_bytes() for path in (own / "refs").rglob("*") if path.is_file()}
    work = {
        str(path): path.read_bytes()
        for path in folder.rglob("*")
        if ".git" not in path.relative_to(folder).parts and path.is_file() and not path.is_symlink()
    }
    return {**found, **heads, **({} if own == folder else work)}


def _try_environment() -> Outcome:
    wrong = []
    cases: dict[str, dict[str, str]] = {name: {name: value} for name, value in VARIABLES.items()}
    cases["GIT_CONFIG_COUNT"] = SETTINGS
    for name, variables in cases.items():
        with _place() as place:
            folder = repositories.make(place / "project")
            mark = repositories.plant(folder, "replaced objects")
            program = place / "evil"
            before = picture(folder)
            with mock.patch.dict(os.environ, {key: value.format(program) for key, value in variables.items()}):
                _use(folder)
                right = read_commit(open_repository(folder)).files == FILES
            wrong += [f"{name}: {mark.read_text()}"] if mark.exists() else []
            wrong += [f"{name}: another content, or another place"] if not right or picture(folder) != before else []
    row = (
        "hostile repositories",
        "variables that name programs or places",
        "no command run, the same files",
        "as expected",
    )
    return Outcome([(*row, len(cases), len(cases) - len(wrong))], wrong)


def _try_borrowers() -> Outcome:
    wrong = []
    for way, borrow in repositories.BORROWERS.items():
        with _place() as place:
            secret, folder = repositories.make(place / "secret"), repositories.make(place / "project")
            borrow(folder, secret)
            try:
                read_commit(open_repository(folder))
                wrong.append(f"{way}: the other repository was read")
            except UsageError:
                pass
    tried = len(repositories.BORROWERS)
    row = (
        "hostile repositories",
        "a folder that leads to another repository",
        "refused",
        f"{tried - len(wrong)} refused",
    )
    return Outcome([(*row, tried, tried - len(wrong))], wrong)


def _spring() -> Outcome:
    """The traps are real: git as the user runs it springs them."""
    commit = ("commit", "-q", "--allow-empty", "-m", "again")
    springs = {
        "hooks": commit, "hooks path": ("update-ref", "refs/heads/x", "HEAD"), "fsmonitor": ("status",),
        "include": ("status",), "filter": ("add", "-A"), "lfs": ("add", "data/image.bin"), "textconv": ("diff",),
        "external diff": ("diff",), "worktree settings": ("status",), "signatures": commit,
    }  # fmt: skip
    wrong = []
    for trap, words in springs.items():
        with _place() as place:
            folder = repositories.make(place / "project")
            mark = repositories.plant(folder, trap)
            (folder / "src/app.py").write_text("changed\n")
            (folder / "data/image.bin").write_bytes(b"changed\0")
            with suppress(subprocess.CalledProcessError):  # git may complain of what the trap did
                git(folder, *words)
            wrong += [] if mark.exists() else [f"{trap}: git {words[0]} did not spring it"]
    row = (
        "hostile repositories",
        "the same traps, git as users run it",
        "sprung",
        f"{len(springs) - len(wrong)} sprung",
    )
    return Outcome([(*row, len(springs), len(springs) - len(wrong))], wrong)
