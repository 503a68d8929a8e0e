"""The index as a file: opening it, keeping it up to date, and making it again where anything is wrong with it.

It is derived from the sessions' files, so the cure for every fault is the same: remove it, and read the files again.
Where the cache cannot be used, the same tables are in memory, for as long as the process lasts.
"""

from __future__ import annotations

import sqlite3
import zlib
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path
from threading import RLock
from typing import Any, TypeVar

from council.index import schema
from council.index.place import BESIDE, Locked, Unusable, locate, prepare
from council.record import files

T = TypeVar("T")
PATIENCE = 10.0  # seconds to wait for another process's transaction, which takes a part of one
CACHE, LARGE_CACHE = 2_000, 32_000  # KiB of the file that are kept in memory, and while much is written
LARGEST = 2**63 - 1  # of SQLite's integers
SEALED = ("root", "id", "started", "written", "completed", "workflow", "outcome", "fault", "mark", "turns_mark")
# What a damaged file leads to: SQLite notices most of it, and the rest is values that nobody wrote.
DAMAGE = (sqlite3.DatabaseError, ValueError, TypeError, LookupError, OverflowError)


class Store:
    """A connection to the index of some roots. Any thread may use it."""

    def __init__(self, roots: Sequence[Path], path: Path | None = None) -> None:
        self.roots = tuple(dict.fromkeys(roots))
        self.places = {escape(str(root)): root for root in self.roots}  # as the index names them
        self.path: Path | None = path or locate(self.roots[0])
        self.remarks: list[str] = []
        self.lock = RLock()
        self._users: Locked | None = None
        self.db = self._open()

    def close(self) -> None:
        with self.lock:
            self.db.close()
            if self._users:
                self._users.release()
                self._users = None

    def _open(self) -> sqlite3.Connection:
        """The file's connection; if it is damaged, that of a new one; if the cache cannot be used, one in memory."""
        assert self.path
        try:
            prepare(self.path)
            self._users = Locked(self.path, "users")
            if not self._users.take(exclusive=False):
                raise Unusable(f"{self.path} is being made again by another process")
            try:
                return connect(self.path)
            except DAMAGE as failure:
                if isinstance(failure, sqlite3.OperationalError) and not is_damage(failure):
                    raise Unusable(f"{self.path}: {failure}") from failure
                return self._replace()
        except Unusable as why:
            return self._fall_back(str(why))

    def _replace(self) -> sqlite3.Connection:
        """Remove the file, if no other process has it open, and make a new one."""
        assert self.path
        assert self._users
        if not self._users.take(exclusive=True):
            raise Unusable(f"{self.path} is damaged, and another process uses it")
        try:
            for name in BESIDE:
                Path(f"{self.path}{name}").unlink(missing_ok=True)
            made = connect(self.path)
        except (OSError, sqlite3.Error) as failure:
            raise Unusable(f"{self.path}: {failure}") from failure
        self._users.take(exclusive=False)
        return made

    def _fall_back(self, why: str) -> sqlite3.Connection:
        if self._users:
            self._users.release()
        self.remarks.append(f"the index is kept in memory only, which is slower: {why}")
        self.path, self._users = None, None
        return connect(None)

    def heal(self, action: Callable[[], T], again: Callable[[], object]) -> T:
        """Do it; if the index turns out to be damaged, make it again first, and do `again` before the second time. If
        it cannot be written, go on in memory."""
        with self.lock:
            try:
                return action()
            except DAMAGE as failure:
                if not isinstance(failure, sqlite3.OperationalError) or is_damage(failure):
                    self.renew()
                elif self.path:
                    self.db.close()
                    self.db = self._fall_back(f"{self.path}: {failure}")
                else:
                    raise
                again()
                return action()

    def renew(self) -> None:
        """Begin with an empty index."""
        with self.lock:
            self.db.close()
            if self.path is None:
                self.db = connect(None)
                return
            try:
                self.db = self._replace()
            except Unusable as why:
                self.db = self._fall_back(str(why))

    @contextmanager
    def writing(self) -> Iterator[sqlite3.Connection]:
        """One transaction. What it depends on is looked up inside of it."""
        with self.lock:
            self.db.execute("BEGIN IMMEDIATE")
            try:
                yield self.db
                self.db.execute("COMMIT")
            except BaseException:
                with suppress(sqlite3.Error):
                    self.db.execute("ROLLBACK")
                raise

    @contextmanager
    def refreshing(self) -> Iterator[bool]:
        """Whether this process is the one that brings the index up to date. The others read what is there."""
        if self.path is None:
            yield True
            return
        lock = Locked(self.path, "refresh")
        try:
            try:
                mine = lock.take(exclusive=True)
            except Unusable:
                mine = True  # a file system without locks: each transaction looks at what is there
            yield mine
        finally:
            lock.release()

    def rows(self, query: str, values: Iterable[Any] = ()) -> list[tuple[Any, ...]]:
        with self.lock:
            return self.db.execute(query, tuple(values)).fetchall()


def is_damage(failure: sqlite3.OperationalError) -> bool:
    """Whether the file is to blame, rather than the disk, the lock or the permissions."""
    words = str(failure)
    return any(
        sign in words for sign in ("no such", "malformed", "decode", "has no column", "SQL logic", "already exists")
    )


class Connection(sqlite3.Connection):
    """UTF-8 cannot hold half of a surrogate pair, which bytes of no encoding become; it is kept as an escape, as files
    keep it."""

    def execute(self, query: str, values: Any = (), /) -> sqlite3.Cursor:
        try:
            return super().execute(query, values)
        except UnicodeEncodeError:
            return super().execute(query, [escape(value) for value in values])


def escape(value: Any) -> Any:
    return files.encode(value).decode() if isinstance(value, str) else value


def connect(path: Path | None) -> sqlite3.Connection:
    """A connection to a file that has this version's tables; they are made if it is empty."""
    if path is not None and not path.exists():
        with suppress(Exception):
            files.fill(path, b"")  # for this user alone
    db = sqlite3.connect(
        path or ":memory:", isolation_level=None, timeout=PATIENCE, check_same_thread=False, factory=Connection
    )
    try:
        db.execute("PRAGMA journal_mode = WAL")
        db.execute("PRAGMA synchronous = NORMAL")
        db.execute(f"PRAGMA cache_size = -{CACHE}")
        if _version(db) != schema.FORMAT:
            db.execute("BEGIN IMMEDIATE")
            if _version(db) == 0:  # nobody made them meanwhile
                for statement in _statements(schema.TABLES + schema.VIEWS):
                    db.execute(statement)
                db.execute(f"PRAGMA user_version = {schema.FORMAT}")
            db.execute("COMMIT")
            if _version(db) != schema.FORMAT:
                raise sqlite3.DatabaseError("another format")
    except BaseException:
        db.close()
        raise
    return db


def _version(db: sqlite3.Connection) -> int:
    return int(db.execute("PRAGMA user_version").fetchone()[0])


def _statements(script: str) -> Iterator[str]:
    """Each statement of a script. `executescript` would commit the transaction that they belong to."""
    statement = ""
    for line in script.splitlines(keepends=True):
        statement += line
        if sqlite3.complete_statement(statement):
            yield statement
            statement = ""


def storable(value: Any) -> Any:
    """The value as SQLite takes it: a text without lone surrogates, a number that fits, or none."""
    if isinstance(value, str):
        return value if value.isascii() else value.encode("utf-8", "backslashreplace").decode()
    return None if isinstance(value, int) and not -LARGEST <= value <= LARGEST else value


def seal_row(values: Sequence[Any]) -> int:
    """A checksum of what decides which sessions are listed: SQLite itself does not see a changed letter."""
    return zlib.crc32(repr(tuple(map(escape, values))).encode())
