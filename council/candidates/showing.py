"""Which files of a project the members see in their briefs: chosen once, before the first call, and frozen. Pure."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from fnmatch import fnmatchcase
from pathlib import PurePosixPath

from council.errors import UsageError
from council.text import join_words

MOST_TOKENS = 8_000  # of all files that were not named
MOST_NAMED = 60_000
CHARACTERS_A_TOKEN = 4
WORD = re.compile(r"[A-Za-z][a-z]{2,}|[A-Z]{3,}")
IMPORT = re.compile(r"^\s*(?:from\s+([\w.]+)\s+import\b|import\s+([\w., ]+))", re.M)
PATH = re.compile(r"[\w./-]*\w")
WHY = ("named", "in the task", "in the failing tests", "by their words")


def choose(files: Mapping[str, bytes], named: Sequence[str], task: str, log: str = "") -> dict[str, str]:
    """The paths to show, each with the reason, most wanted first.

    Those that the user named come whole, whatever their size. Then, as far as they fit: what the task mentions, what
    the failing tests mention in their log, with what the tests import, and what has the words of the task.
    """
    texts = {path: len(data) for path, data in files.items() if is_text(data)}
    chosen = dict.fromkeys(_find_named(texts, named), WHY[0])
    if sum(texts[path] for path in chosen) > MOST_NAMED * CHARACTERS_A_TOKEN:
        raise UsageError(f"the files named with --show are larger than {MOST_NAMED:,} tokens together; name fewer")
    left = MOST_TOKENS * CHARACTERS_A_TOKEN
    mentioned = list(find_mentioned(texts, task))
    blamed = list(find_mentioned(texts, log))
    blamed += [path for test in (*mentioned, *blamed) for path in find_imported(texts, files[test])]
    alike = _rank(texts, files, task)
    for why, paths in zip(WHY[1:], (mentioned, blamed, alike), strict=True):
        for path in paths:
            if path not in chosen and texts[path] <= left:
                chosen[path], left = why, left - texts[path]
    return chosen


def is_text(data: bytes) -> bool:
    if b"\0" in data[:8_000]:
        return False
    try:
        data.decode()
    except UnicodeDecodeError:
        return False
    return True


def _find_named(texts: Iterable[str], named: Iterable[str]) -> Iterator[str]:
    for wanted in named:
        clean = str(PurePosixPath(wanted))
        found = [path for path in texts if path == clean or fnmatchcase(path, clean) or path.startswith(f"{clean}/")]
        if not found:
            raise UsageError(f"--show {wanted}: the commit has no text file of that name")
        yield from sorted(found)


def find_mentioned(paths: Iterable[str], text: str) -> Iterator[str]:
    """The paths that a text mentions, in its order: whole, at the end of a longer one, or by a name that is unique."""
    by_end: dict[str, list[str]] = {}
    for path in paths:
        parts = path.split("/")
        for size in range(1, len(parts) + 1):
            by_end.setdefault("/".join(parts[-size:]), []).append(path)
    for match in PATH.finditer(text):
        parts = match.group().strip("./-").split("/")
        for start in range(len(parts)):  # a path of another machine ends in one of ours
            found = by_end.get("/".join(parts[start:]), [])
            if len(found) == 1 and "." in parts[-1]:
                yield found[0]
                break


def find_imported(paths: Iterable[str], code: bytes) -> Iterator[str]:
    """The files of the project that a Python file imports."""
    known = {_module(path): path for path in paths if path.endswith(".py")}
    for match in IMPORT.finditer(code.decode("utf-8", "replace")):
        for name in re.split(r"[,\s]+", match.group(1) or match.group(2)):
            found = [path for module, path in known.items() if name and f".{module}".endswith(f".{name}")]
            yield from found[:1] if len(found) == 1 else ()


def _module(path: str) -> str:
    return path.removesuffix(".py").removesuffix("/__init__").replace("/", ".")


def _rank(texts: Mapping[str, int], files: Mapping[str, bytes], task: str) -> list[str]:
    """The paths that share words with the task, those with the most first. A word of the path counts three times."""
    wanted = _words(task)
    score = {}
    for path in texts:
        shared = 3 * len(wanted & _words(path)) + len(wanted & _words(files[path].decode()[:40_000]))
        if shared > len(wanted) // 2:
            score[path] = shared
    return sorted(score, key=lambda path: (-score[path], texts[path], path))


def _words(text: str) -> set[str]:
    return {word.lower() for word in WORD.findall(text)}


def describe(chosen: Mapping[str, str]) -> str:
    """One line for the user: which files the members see, and why."""
    if not chosen:
        return "members see no file of the project; name some with --show PATH"
    groups = {why: [path for path, reason in chosen.items() if reason == why] for why in WHY}
    return "members see " + "; ".join(
        f"{join_words(_shorten(paths))} ({why})" for why, paths in groups.items() if paths
    )


def _shorten(paths: Sequence[str], most: int = 4) -> list[str]:
    return [*paths] if len(paths) <= most else [*paths[: most - 1], f"{len(paths) - most + 1} more"]
