"""Which paths a member may write: relative, plain, and the same file on every system."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Callable, Iterable

from council.candidates.unseen import is_unseen
from council.text import one_line
from council.workflow.types import Unreadable

LONGEST_PATH, LONGEST_PART = 240, 100  # bytes; file systems take more, and no real project needs it
# Of these, no member may write any: the repository's own files, and what council reads.
RESERVED = {".git", ".council", ".hg", ".svn", ".gitmodules", ".gitattributes"}
DEVICES = re.compile(r"(?:con|prn|aux|nul|com[0-9¹²³]|lpt[0-9¹²³]|conin\$|conout\$|clock\$)(?:\.|$)", re.I)
SHORT_NAME = re.compile(r"git~\d+", re.I)  # what Windows may call .git too
UNSAFE = set('<>:"|?*\\')


def check_path(path: str) -> str:
    """The path, or Unreadable with the reason why no file may be written there."""
    if why := _refusal(path):
        raise Unreadable(f'the path "{one_line(path)}" {why}; write it relative to the project, as in src/parser.py')
    return path


def fold_path(path: str) -> str:
    """The path as a file system sees it that ignores case: two paths that fold alike are one file there."""
    return unicodedata.normalize("NFC", path).casefold()


def find_clash(paths: Iterable[str], known: Iterable[str] = ()) -> str:
    """Why these files cannot be in one tree, as a clause: two are one file on some systems, or a file is a folder.
    What is `known` is there already, and may clash with itself."""
    seen = {fold_path(path): path for path in known}
    folders = {folder: path for folded, path in seen.items() for folder in _list_folders(folded)}
    for path in paths:
        folded = fold_path(path)
        other = seen.setdefault(folded, path)
        if other != path:
            return f"{other} and {path} are the same file on some systems"
        if below := folders.get(folded):
            return f"{path} is a file, so there can be no {below}"
        if above := next((seen[folder] for folder in _list_folders(folded) if folder in seen), ""):
            return f"{above} is a file, so there can be no {path}"
        folders |= dict.fromkeys(_list_folders(folded), path)
    return ""


def _list_folders(path: str) -> list[str]:
    parts = path.split("/")
    return ["/".join(parts[:size]) for size in range(1, len(parts))]


def _refusal(path: str) -> str:
    if why := next((why for is_wrong, why in OF_PATHS if is_wrong(path)), ""):
        return why
    for part in path.split("/"):
        if why := next((why for is_wrong, why in OF_PARTS if is_wrong(part)), ""):
            return f'has the part "{one_line(part)}", which {why}'
    return ""


def _is_absolute(path: str) -> bool:
    return not path or path.startswith(("/", "~")) or re.match(r"[A-Za-z]:", path) is not None


def _has_unsafe(path: str) -> bool:
    """What cannot be seen, odd spaces, and what Windows does not take."""
    odd = (is_unseen(sign) or (unicodedata.category(sign)[0] in "CZ" and sign != " ") for sign in path)
    return any(odd) or bool(UNSAFE.intersection(path))


def _is_reserved(part: str) -> bool:
    """As file systems see it that ignore case, or that give long names a short one too."""
    folded = unicodedata.normalize("NFKC", part).casefold()
    return folded in RESERVED or SHORT_NAME.fullmatch(folded) is not None


OF_PATHS: tuple[tuple[Callable[[str], bool], str], ...] = (
    (_is_absolute, "is not relative"),
    (lambda path: path.startswith("-"), "begins as an option of a command does"),
    (lambda path: ".." in path.split("/"), "leads out of the project"),
    (lambda path: not {"", "."}.isdisjoint(path.split("/")), "has an empty part"),
    (_has_unsafe, "has characters that not every file system takes"),
    (lambda path: unicodedata.normalize("NFC", path) != path, "is not in the Unicode form NFC"),
    (lambda path: len(path.encode()) > LONGEST_PATH, "is too long"),
)
OF_PARTS: tuple[tuple[Callable[[str], bool], str], ...] = (
    (lambda part: len(part.encode()) > LONGEST_PART, "is too long"),
    (lambda part: part != part.strip() or part.endswith("."), "begins or ends with a space, or ends with a full stop"),
    (lambda part: DEVICES.match(part) is not None, "is a device on Windows"),
    (_is_reserved, "no member may write"),
)
