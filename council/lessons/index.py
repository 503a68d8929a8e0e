"""Finds lessons by words: SQLite's FTS5 over a copy of their words in the user's cache, which may be deleted.

The index is never changed in place: a new one is renamed over it. So any number of processes may search and renew it, a
killed one leaves it whole, and what is damaged is made again. It only finds lessons: their words are read from their
files.

Whether it is up to date is asked of every file, or of the folder alone where that is enough: see `read_mark`.
"""

from __future__ import annotations

import hashlib
import os
import secrets
import shutil
import sqlite3
import time
from collections.abc import Iterator, Mapping
from contextlib import closing, suppress
from dataclasses import dataclass
from pathlib import Path

from council.errors import CouncilError, Damaged
from council.lessons import words
from council.lessons.lesson import FILE, Lesson, read
from council.record import files

FORMAT = 2  # of the index; an older one is made again
SETTLED = 2_000_000_000  # nanoseconds after which a folder's time tells whether anything in it has changed since
FAILURES = (sqlite3.Error, OSError, CouncilError, TypeError, ValueError)  # whatever a damaged index leads to
SCHEMA = """
    CREATE TABLE folder (mark INTEGER);
    CREATE TABLE lessons (number INTEGER PRIMARY KEY, id TEXT UNIQUE, changed INTEGER, size INTEGER, sunk INTEGER);
    CREATE VIRTUAL TABLE texts USING fts5(words, tokenize = "unicode61 remove_diacritics 0");
    CREATE VIRTUAL TABLE vocabulary USING fts5vocab(texts, row);
"""
RANKED = """
    SELECT id, number FROM texts JOIN lessons ON lessons.number = texts.rowid WHERE texts MATCH ?
    ORDER BY sunk, bm25(texts), id
"""
State = Mapping[str, tuple[int, int]]  # when the file of each lesson was changed, and its size


@dataclass(frozen=True)
class LessonIndex:
    """The index of one folder of lessons."""

    folder: Path
    path: Path

    def search(self, asked: tuple[str, ...], most: int) -> list[str]:
        """The ids of the nearest lessons, nearest first. What is found does not depend on when the index was made."""
        mark = read_mark(self.folder)
        with suppress(*FAILURES):
            if asked and mark and (found := self._search_settled(asked, most, mark)) is not None:
                return found
        state = scan(self.folder)
        if not asked or not state:
            return []
        for source in (self.path, None):  # renewed from what is there, or else from nothing
            with suppress(*FAILURES):
                current = _connect_current(source, state, mark) if source else None
                with closing(current or self.renew(state, mark, source)) as index:
                    return _take(_rank(index, asked), asked, most)
        return search_plainly(self.folder, state, asked, most)

    def _search_settled(self, asked: tuple[str, ...], most: int, mark: int) -> list[str] | None:
        """The answer of the index, if no file came or went since it was made, and those found are as they were."""
        with closing(_connect(self.path)) as index:
            if _read_mark(index) != mark:
                return None
            ids = _take(_rank(index, asked), asked, most)
            lookup = "SELECT changed, size FROM lessons WHERE id = ?"
            there = (_look(os.lstat(self.folder / f"{id}.md")) for id in ids)
            known = (index.execute(lookup, (id,)).fetchone() for id in ids)
            return ids if list(there) == list(known) else None

    def renew(self, state: State, mark: int, source: Path | None) -> sqlite3.Connection:
        """Make the index of these files: from `source`, or from nothing. Others may replace it at once with theirs."""
        files.make_folder(self.path.parent)
        temp = self.path.with_name(f"{self.path.name}.{os.getpid()}-{secrets.token_hex(4)}{files.TEMP}")
        try:
            if source is not None:
                shutil.copyfile(source, temp)
            self._fill(temp, state, mark)
            made = _connect(temp)
            temp.replace(self.path)
            return made
        finally:
            temp.unlink(missing_ok=True)

    def _fill(self, temp: Path, state: State, mark: int) -> None:
        with closing(sqlite3.connect(temp, isolation_level=None)) as made:
            made.execute("PRAGMA journal_mode = OFF")
            if made.execute("PRAGMA user_version").fetchone()[0] != FORMAT:
                made.executescript(SCHEMA)
                made.execute(f"PRAGMA user_version = {FORMAT}")
            made.execute("BEGIN")
            made.execute("DELETE FROM folder")
            made.execute("INSERT INTO folder VALUES (?)", (mark,))
            before = _read_state(made)
            gone = [(id,) for id, about in before.items() if state.get(id) != about]
            made.executemany("DELETE FROM texts WHERE rowid = (SELECT number FROM lessons WHERE id = ?)", gone)
            made.executemany("DELETE FROM lessons WHERE id = ?", gone)
            for id, (changed, size) in state.items():
                if before.get(id) != (changed, size):
                    lesson = read_if_whole(self.folder / f"{id}.md")
                    row = (id, changed, size, lesson is not None and lesson.sunk)
                    number = made.execute("INSERT INTO lessons VALUES (NULL, ?, ?, ?, ?)", row).lastrowid
                    if lesson is not None:
                        text = " ".join(words.split(lesson.text))
                        made.execute("INSERT INTO texts (rowid, words) VALUES (?, ?)", (number, text))
            made.execute("COMMIT")


def _connect(path: Path) -> sqlite3.Connection:
    """The index, read without locks: nobody changes it, and it stays readable if it is replaced."""
    index = sqlite3.connect(f"{path.as_uri()}?mode=ro&immutable=1", uri=True)
    try:
        if index.execute("PRAGMA user_version").fetchone()[0] != FORMAT:
            raise sqlite3.DatabaseError("another format")
    except BaseException:
        index.close()
        raise
    return index


def _connect_current(path: Path, state: State, mark: int) -> sqlite3.Connection | None:
    """The index, if it is whole and of these files, and need not look at each of them the next time."""
    with suppress(*FAILURES):
        index = _connect(path)
        with suppress(*FAILURES):
            if (not mark or _read_mark(index) == mark) and _read_state(index) == state:
                return index
        index.close()
    return None


def _read_mark(index: sqlite3.Connection) -> int:
    (mark,) = index.execute("SELECT mark FROM folder").fetchone()
    return int(mark)


def _read_state(index: sqlite3.Connection) -> State:
    return {id: (changed, size) for id, changed, size in index.execute("SELECT id, changed, size FROM lessons")}


def _rank(index: sqlite3.Connection, asked: tuple[str, ...]) -> Iterator[tuple[str, list[str]]]:
    """Every lesson that has one of the rarest words, nearest first."""
    lookup = "SELECT doc FROM vocabulary WHERE term = ?"
    having = {word: sum(count for (count,) in index.execute(lookup, (word,))) for word in asked}
    for id, number in index.execute(RANKED, (" OR ".join(f'"{word}"' for word in words.choose_rarest(having)),)):
        (text,) = index.execute("SELECT words FROM texts WHERE rowid = ?", (number,)).fetchone()
        yield id, str(text).split()


def _take(ranked: Iterator[tuple[str, list[str]]], asked: tuple[str, ...], most: int) -> list[str]:
    found: list[str] = []
    for id, text in ranked:
        if words.is_near(asked, text):
            found.append(id)
        if len(found) == most:
            break
    return found


def search_plainly(folder: Path, state: State, asked: tuple[str, ...], most: int) -> list[str]:
    """The same answer without an index, for a SQLite without FTS5 and a cache that cannot be written: slower."""
    lessons = {id: lesson for id in state if (lesson := read_if_whole(folder / f"{id}.md"))}
    texts = {id: words.split(lesson.text) for id, lesson in lessons.items()}
    scores = words.score(asked, texts)
    nearest = sorted(scores, key=lambda id: (lessons[id].sunk, scores[id], id))
    return _take(((id, texts[id]) for id in nearest), asked, most)


def read_mark(folder: Path) -> int:
    """The time of the folder, which changes when a file in it comes, goes or is replaced; 0 if it is too new to tell.

    Council only replaces lessons. What somebody edits in place is noticed when it is found, or when the folder changes.
    """
    with suppress(OSError):
        changed = folder.stat().st_mtime_ns
        return changed if 0 < changed < time.time_ns() - SETTLED else 0
    return 0


def scan(folder: Path) -> State:
    """Every file that is named as a lesson is."""
    found = {}
    with suppress(FileNotFoundError), os.scandir(folder) as entries:
        for entry in entries:
            if FILE.fullmatch(entry.name):
                with suppress(OSError):
                    found[entry.name.removesuffix(".md")] = _look(entry.stat(follow_symlinks=False))
    return found


def _look(about: os.stat_result) -> tuple[int, int]:
    return about.st_mtime_ns, about.st_size


def read_if_whole(path: Path) -> Lesson | None:
    try:
        return read(path)
    except (OSError, Damaged):
        return None


def place(folder: Path, env: Mapping[str, str] = os.environ) -> Path:
    """Where the index of this folder is cached."""
    cache = Path(env.get("XDG_CACHE_HOME") or "")
    if not cache.is_absolute():
        cache = Path(env.get("HOME") or "~").expanduser() / ".cache"
    return cache / "council" / f"lessons-{hashlib.sha256(os.fsencode(folder)).hexdigest()[:12]}.sqlite"
