"""Finds the files of the kit, the user and the project. If several have the same name, the nearest one is used."""

from __future__ import annotations

import io
import os
import stat
from collections.abc import Iterable, Iterator, Mapping
from contextlib import suppress
from functools import cache
from pathlib import Path, PurePosixPath

from council.config import project
from council.errors import UsageError
from council.text import did_you_mean

TEMPLATE = ".md.j2"
DOCUMENTS = "documents"  # the folder of the templates of documents
DEEPEST = 8  # folders in folders
LARGEST = 64_000_000  # bytes of a file that people edit
# Files among the kit's workflows that are guides for people and assistants, and not workflows.
GUIDES = {"recovery": "a guide to interrupted sessions; `council recover` continues one"}


@cache
def kit_folder() -> Path:
    """The folder of the kit's files: beside the package in a checkout, inside it when installed."""
    package = Path(__file__).resolve().parent.parent
    return package.parent if (package.parent / "Workflows").is_dir() else package / "kit"


def user_folder(env: Mapping[str, str] = os.environ) -> Path:
    base = env.get("XDG_CONFIG_HOME") or Path(env.get("HOME") or "~").expanduser() / ".config"
    return Path(base) / "council"


def project_folder() -> Path | None:
    """The project's `.council` folder if this command uses it: see `project`. One that was asked for is not ignored."""
    folder = project.find() if project.counts() else None
    fault = project.find_fault(folder) if folder else ""
    if fault and project.counts_explicitly():
        raise UsageError(f"{folder}: the project's files cannot be used: {fault}")
    return None if fault else folder


def unused_project() -> str:
    """The project's folder that this command does not use, and why; empty if there is none."""
    folder = project.find()
    if folder is None or not any((folder / name).exists() for name in project.KINDS):
        return ""
    if fault := project.find_fault(folder):
        return f"{folder} ({fault})"
    return "" if project.counts() else f"{folder} (--overlays uses it)"


def overlays() -> list[Path]:
    """The project's folder, the user's and the kit's. The first one that has a file is used."""
    return [folder for folder in (project_folder(), user_folder(), kit_folder()) if folder is not None]


def read_state() -> tuple[tuple[object, ...], ...]:
    """Changes whenever a file of an overlay does, or which overlays count. A link out of an overlay is not followed."""
    return tuple((folder, *_facts(folder, folder.resolve(), set())) for folder in overlays())


def _facts(folder: Path, top: Path, seen: set[Path]) -> Iterator[tuple[object, ...]]:
    real = folder.resolve()
    if real in seen or not real.is_relative_to(top):
        return
    depth = len(real.relative_to(top).parts)
    seen.add(real)
    with suppress(OSError), os.scandir(folder) as entries:
        for entry in entries:
            if depth or entry.name in project.KINDS:
                is_folder = False
                for linked in (False, True):  # what a link leads to is what is read
                    with suppress(OSError):
                        about = entry.stat(follow_symlinks=linked)
                        is_folder = stat.S_ISDIR(about.st_mode)
                        yield entry.name, about.st_ino, about.st_mode, about.st_uid, about.st_size, about.st_ctime_ns
                if is_folder and depth < DEEPEST:
                    yield from _facts(Path(entry.path), top, seen)


def find(name: str) -> Iterator[Path]:
    """The files of that name, nearest first. A file that leads out of its folder, or is not the user's, is refused."""
    for folder in overlays():
        path = folder / name
        if path.is_file():
            yield check_inside(path, folder)


def find_template(name: str) -> Path | None:
    """The nearest template of that name. A template names others: no such name leads out of `templates/`."""
    parts = PurePosixPath(name).parts
    if not name.endswith(TEMPLATE) or name.startswith("/") or ".." in parts or name != "/".join(parts):
        return None
    for folder in overlays():
        path = folder / "templates" / name
        if path.is_file():
            check_inside(path, folder)
            return check_inside(path, folder / "templates")
    return None


@cache
def kit_templates() -> Mapping[str, str]:
    """The kit's own templates, by name."""
    top = kit_folder() / "templates"
    return {path.relative_to(top).as_posix(): read(path) for path in sorted(top.rglob(f"*{TEMPLATE}"))}


def are_ours(templates: Mapping[str, str]) -> bool:
    """Whether each of these templates is the kit's, word for word."""
    return all(kit_templates().get(name) == text for name, text in templates.items())


def own_templates() -> set[str]:
    """The names of the templates that the project and the user have."""
    own = [folder for folder in overlays() if folder != kit_folder()]
    return {path.relative_to(top).as_posix() for top, path in list_files("templates", f"**/*{TEMPLATE}", own)}


def list_files(kind: str, pattern: str, folders: Iterable[Path] | None = None) -> Iterator[tuple[Path, Path]]:
    """The files in the folder `kind` of each overlay, each with that folder. A folder that is a link is passed over."""
    for folder in overlays() if folders is None else folders:
        top = folder / kind
        if top.resolve().is_relative_to(folder.resolve()):
            yield from ((top, path) for path in sorted(top.glob(pattern)) if path.is_file())


def check_inside(path: Path, folder: Path) -> Path:
    if not path.resolve().is_relative_to(folder.resolve()):
        raise UsageError(f"{path}: the path escapes {folder}; copy the file there instead of linking it")
    if folder.name == project.NAME and (fault := project.find_fault_inside(path, folder)):
        raise UsageError(f"{path}: {fault}; council obeys only files that nobody else can write")
    return path


def origin(path: Path) -> tuple[str, Path] | None:
    """Whose overlay a file is from, "project" or "user", and its folder; None for the kit's and for any other."""
    for whose, folder in (("project", project_folder()), ("user", user_folder())):
        if folder and path.is_relative_to(folder):
            return whose, folder
    return None


def workflows(folders: Iterable[Path] | None = None) -> dict[str, Path]:
    """Every workflow by its lower-case name: in these folders, nearest first, or in all overlays.

    What is not a file (a folder, a pipe, a link that leads nowhere) is passed over.
    """
    found: dict[str, Path] = {}
    for top, path in list_files("Workflows", "*.md", folders):
        if path.stem.lower() not in GUIDES or top.parent != kit_folder():
            found.setdefault(path.stem.lower(), path)
    return found


def workflow_text(name: str) -> tuple[str, str]:
    """The text of a workflow and the path it was read from. A name with `.md` or a slash is a path."""
    if name.endswith(".md") or os.sep in name:
        return read(Path(name)), name
    path = workflows().get(name.lower())
    if path is None and name.lower() in GUIDES:
        raise UsageError(f"{name} is not a workflow: {GUIDES[name.lower()]}")
    if path is None:
        hint = f"; not used: {unused}" if (unused := unused_project()) else ""
        raise UsageError(f'there is no workflow "{name}"; {did_you_mean(name.lower(), workflows())}{hint}')
    return read(check_inside(path, path.parent.parent)), str(path)


def read(path: Path) -> str:
    """The text of a file that people edit."""
    try:
        with open(path, "rb", opener=lambda name, flags: os.open(name, flags | os.O_NONBLOCK)) as file:  # a pipe too
            about = os.fstat(file.fileno())
            if not stat.S_ISREG(about.st_mode):
                raise UsageError(f"{path}: cannot be read: it is not a regular file")
            if about.st_size > LARGEST:
                raise UsageError(f"{path}: cannot be read: it is larger than {LARGEST:,} bytes")
            data = file.read(LARGEST)
        return io.TextIOWrapper(io.BytesIO(data), "utf-8").read()  # with the line ends of any system
    except (OSError, UnicodeDecodeError) as bad:
        raise UsageError(f"{path}: cannot be read: {bad}") from None
