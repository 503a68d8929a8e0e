"""Where things are: the kit, the user's files, a project's overlay, and the folders of sessions, archive and cache.

A stranger may have written a project. Its `.council` folder is found only inside the repository, and only what the user
or root owns, and nobody else may write, is obeyed. It counts only where a caller hands it in: without it, everything
here looks at the user's files and the kit, which are trusted.
"""

from __future__ import annotations

import errno
import os
import stat
import tempfile
from collections.abc import Iterator, Sequence
from contextlib import suppress
from pathlib import Path, PurePosixPath
from typing import TYPE_CHECKING

from council.next.errors import StorageError, UsageError
from council.next.record import catalog, files
from council.next.text import did_you_mean

if TYPE_CHECKING:
    from council.next.record.session import Session

KIT = Path(__file__).resolve().parents[1] / "kit"
PROJECT = ".council"
OVERLAY = ("Workflows", "templates", "AgentPersonalities.md", "Specialists.md", "Config.md")
TEMPLATE = ".md.j2"
LARGEST = 4_000_000  # bytes of a file that people edit
UNWRITABLE = (errno.EROFS, errno.EACCES, errno.EPERM)  # a full disk is another matter
IGNORED = b"*\n"  # the `.gitignore` of each folder of sessions in a project
GUIDES = ("recovery",)  # among the kit's workflows, but for people and assistants to read


def expand(path: str) -> Path:
    """A path of the user's, which may begin with `~`."""
    try:
        return Path(path).expanduser().absolute()
    except RuntimeError:
        raise UsageError(f"{path}: this user has no home folder; set the variable HOME") from None


def user_folder(variable: str = "XDG_CONFIG_HOME", default: str = ".config") -> Path:
    """Council's folder in a base directory of the XDG specification, which says that a relative path is ignored."""
    named = Path(os.environ.get(variable, ""))
    return (named if named.is_absolute() else expand("~") / default) / "council"


def cache() -> Path:
    """What can be made again. It need not exist, or be writable."""
    return user_folder("XDG_CACHE_HOME", ".cache")


def overlays(project: Path | None = None) -> tuple[Path, ...]:
    """Where workflows, personas and templates are looked up: the first folder that has one is used."""
    return (*(() if project is None else (project,)), user_folder(), KIT)


# ---- the project ----


def project(wanted: bool | None = None) -> Path | None:
    """The project's `.council` folder, if this command may use it. `wanted` is `--overlays` or `--no-overlays`; without
    either it counts, except in CI, where a pull request may have written it."""
    folder, problem = judge_project(wanted)
    if problem and wanted:
        raise UsageError(problem)
    return None if problem else folder


def project_top() -> Path | None:
    """The project that this command is in, for what is filed there: a git repository, or a folder with a `.council`."""
    top = next(iter(project_steps()[-1:]), None)
    return top if top and (os.path.lexists(top / ".git") or judge_project(None)[0]) else None


def judge_project(wanted: bool | None = None) -> tuple[Path | None, str]:
    """The nearest `.council` folder with something to obey, and a remark where this command does not use it."""
    folders = [step / PROJECT for step in project_steps()]
    folder = next((one for one in folders if any(os.path.lexists(one / name) for name in OVERLAY)), None)
    if folder is None or wanted is False:
        return None, ""
    if problem := find_fault(folder, folder):
        return folder, f"{folder} is not used: {problem}"
    in_ci = os.environ.get("CI", "").lower() not in ("", "0", "false")
    return folder, f"{folder} is not used in CI; --overlays uses it" if in_ci and wanted is None else ""


def project_steps() -> list[Path]:
    """The current folder and those above it, up to the top of its git repository; outside of a repository, only the
    current folder. The search does not leave the file system, and does not enter the user's home from below."""
    try:
        here = Path.cwd()
    except FileNotFoundError:
        return []
    steps = []
    for step in (here, *here.parents):
        steps.append(step)
        if os.path.lexists(step / ".git"):
            return steps
        if step.parent == expand("~") or os.path.ismount(step):
            break
    return [here]


def find_fault(path: Path, folder: Path) -> str:
    """Why a file in a project's folder is not obeyed. Empty if it may be: no link leads out of the folder, and each
    step on the way belongs to the user or root, and nobody else may write to it."""
    real, top = Path(os.path.realpath(path)), Path(os.path.realpath(folder))
    if folder.is_symlink() or not real.is_relative_to(top):
        return f"{path} leads out of {folder.parent}; copy the files instead of linking them"
    for step in (path, *path.parents, real, *real.parents):
        if os.path.lexists(step) and (step.is_relative_to(folder) or step.is_relative_to(top)):
            about = os.lstat(step)
            if about.st_uid not in (os.geteuid(), 0):
                return f"{step}: it belongs to another user ({about.st_uid}); only yours and those of root are obeyed"
            if about.st_mode & stat.S_IWOTH and not stat.S_ISLNK(about.st_mode):
                return f"{step}: everybody may write to it; run `chmod o-w` on it"
    return f"{top.parent}: everybody may write to it" if top.parent.stat().st_mode & stat.S_IWOTH else ""


# ---- files ----

# Other than those of Path they raise nothing, for a loop of links or in a closed folder.
is_file, is_folder, is_link = os.path.isfile, os.path.isdir, os.path.islink


def find(name: str, folders: Sequence[Path] = ()) -> Iterator[Path]:
    """The files of that name in the overlays, nearest first. One that must not be obeyed is refused."""
    for folder in folders or overlays():
        if is_file(folder / name):
            if folder.name == PROJECT and (problem := find_fault(folder / name, folder)):
                raise UsageError(problem)
            yield folder / name


def read(path: Path) -> str:
    """The text of a file that people edit. They may have put a link in its place."""
    if not is_file(path):
        raise UsageError(f"{path}: it is missing, or it is not a regular file")
    try:
        with path.open("rb") as file:
            data = file.read(LARGEST + 1)
        if len(data) > LARGEST:
            raise UsageError(f"{path}: it is larger than {LARGEST:,} bytes")
        return data.decode("utf-8").replace("\r\n", "\n")
    except (OSError, UnicodeDecodeError) as wrong:
        raise UsageError(f"{path}: it cannot be read: {wrong}") from None


def workflows(folders: Sequence[Path] = ()) -> dict[str, Path]:
    """Every workflow by its lowercase name, sorted. What is no file, or is in a folder that leads out, is left out."""
    found: dict[str, Path] = {}
    for folder in folders or overlays():
        top = folder / "Workflows"
        if folder.name == PROJECT and find_fault(top, folder):
            continue
        for path in sorted(top.glob("*.md")):
            if is_file(path) and not (folder == KIT and path.stem.lower() in GUIDES):
                found.setdefault(path.stem.lower(), path)
    return dict(sorted(found.items()))


def find_workflow(name: str, folders: Sequence[Path] = ()) -> Path:
    """The file of a workflow. A name with a slash or `.md` is a path that the user gave."""
    if "/" in name or name.endswith(".md"):
        return Path(name)
    known = workflows(folders)
    if not (path := known.get(name.lower())):
        raise UsageError(f'there is no workflow "{name}"; {did_you_mean(name.lower(), known)}')
    return next(find(f"Workflows/{path.name}", [path.parent.parent]))


def find_template(name: str, folders: Sequence[Path] = ()) -> Path | None:
    """The nearest template of that name. A template names others, so no name leads out of `templates/`."""
    parts = PurePosixPath(name).parts
    fits = name.endswith(TEMPLATE) and ".." not in parts and name == "/".join(parts)
    return next(find(f"templates/{name}", folders), None) if fits else None


def templates(folders: Sequence[Path]) -> set[str]:
    tops = [folder / "templates" for folder in folders]
    return {path.relative_to(top).as_posix() for top in tops for path in top.rglob(f"*{TEMPLATE}")}


# ---- sessions ----


def sessions(home: Path) -> Path:
    return home / "STATE" / "council-sessions"


def archive_for(folder: Path, home: Path) -> Path:
    """Where the transcript of a session goes: beside the sessions of its project, or else into the home."""
    if folder.parts[-3:-1] != (PROJECT, "sessions"):
        return home / "RESEARCH"
    place = folder.parent.with_name("archive")
    for path in (place, *place.glob("*")):
        if os.path.lexists(path) and (problem := find_fault(path, place.parent)):
            raise UsageError(f"no transcript is kept in {place}: {problem}")
    return place


def marks(home: Path) -> Path:
    """Where council notes which sessions began on this machine."""
    return home / "STATE" / "council-marks"


def choose_home(home: Path, chosen_by: str = "") -> tuple[Path, str]:
    """The folder of new sessions, proven to be writable: in the home, or in the project where the default home cannot
    be written, as in a sandbox; and why. A home that the user chose is never replaced: its sessions would be missing
    there."""
    try:
        writable(home / "RESEARCH")
        return writable(sessions(home)), ""
    except StorageError as failure:
        problem = failure.__cause__
        if not isinstance(problem, OSError) or problem.errno not in UNWRITABLE:
            raise
        if chosen_by:
            raise StorageError(f"{failure}; {chosen_by} chose this folder, so no other is used instead") from problem
        for step in dict.fromkeys(project_steps()[-1:] + project_steps()[:1]):  # a sandbox may allow only one of them
            with suppress(StorageError):
                project_place(step, "archive")
                why = f"{files.tilde(home)} cannot be written ({os.strerror(problem.errno)})"
                return project_place(step, "sessions"), why
        raise StorageError(f"{failure}; nor can a session be kept in the project") from problem


def writable(folder: Path) -> Path:
    files.make_folder(folder)
    with files.explained(folder), tempfile.TemporaryFile(dir=folder):
        return folder


def project_place(step: Path, name: str) -> Path:
    """A folder for sessions in a project's `.council`: the user's own, and ignored by git."""
    place = step / PROJECT / name
    if os.path.lexists(step / PROJECT) and (problem := find_fault(place, step / PROJECT)):
        raise UsageError(f"no session is kept in {place}: {problem}")
    mark = writable(place) / ".gitignore"
    if not files.write_once(mark, IGNORED) and not IGNORED.startswith(files.read(mark)):
        raise UsageError(f"{mark} must be one line, `*`, so that no commit takes a session along")
    files.replace(mark, IGNORED)  # it may have been left empty
    return place


def find_session(home: Path, word: str) -> Session:
    """A session, as `find_folder` finds it."""
    from council.next.record.session import Session  # with the engine: 100 ms that other places need not wait for

    return Session(find_folder(home, word))


def find_folder(home: Path, word: str) -> Path:
    """A session in the home, by its id, a part of it or `last`; in the project by its whole id alone, because a
    repository may bring sessions, and none of those is picked by chance."""
    root, is_id = sessions(home), catalog.ID.fullmatch(word) and word not in catalog.NEWEST
    there = find_in_project(word) if is_id and not catalog.is_session(root / word) else None
    if there is None:
        return catalog.find_folder(root, word)
    with suppress(StorageError):  # a sandbox may close the home, and then nothing is meant there
        if also := [id for id, _ in catalog.rows(root) if word in id]:
            raise UsageError(
                f'"{word}" is the session {files.tilde(there)}, and also a part of {also[0]}; use more of that id'
            )
    return there


def find_in_project(id: str) -> Path | None:
    """The session with this whole id in a `.council` from here up. One that others may change is refused."""
    for folder in (step / PROJECT for step in project_steps()):
        there = folder / "sessions" / id
        if is_link(there) or (is_folder(there) and catalog.is_session(there)):
            if problem := "it is a link" if is_link(there) else find_fault(there, folder):
                raise UsageError(f"{there} is not used: {problem}")
            if id in (one for one, _ in catalog.rows(there.parent)):
                return there
    return None


def session_folders(home: Path) -> list[Path]:
    """The folders of sessions: the home's, then those of the project that nobody else may change."""
    own = (step / PROJECT for step in project_steps())
    roots = (folder / "sessions" for folder in own if not find_fault(folder / "sessions", folder))
    return [sessions(home), *(root for root in roots if is_folder(root) and os.access(root, os.R_OK | os.X_OK))]
