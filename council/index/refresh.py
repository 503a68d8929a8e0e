"""Brings the index up to date with the files. A transaction adds a few sessions, so a killed refresh loses no more."""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from council.config import project
from council.index import facts, scan
from council.index.facts import SessionFacts, TurnFacts
from council.index.store import DAMAGE, LARGE_CACHE, SEALED, Store, seal_row, storable

FORMER = ".list.json"  # what earlier versions kept beside the sessions
BATCH = 200  # sessions in one transaction
MOST_DEAD = 0.2  # of all texts: a table without their content cannot remove one
OF_TURN = (
    "turn", "seat", "phase", "step", "round", "kind", "speaker", "tier", "model", "started", "seconds", "calls",
    "failed", "input", "output", "usd", "known_usd", "stop", "absent", "by", "trial", "confidence", "answers", "fault",
    "mark",
)  # fmt: skip
LAST = "SELECT coalesce(max(seq), 0) FROM sqlite_sequence WHERE name = 'piece'"
WORN = "SELECT seq, (SELECT count(*) FROM piece) FROM sqlite_sequence WHERE name = 'piece'"


@dataclass(frozen=True)
class Refreshed:
    """What a refresh did. `busy`: another process is doing it. `left` sessions are still to be read."""

    read: int = 0
    left: int = 0
    busy: bool = False


@dataclass(frozen=True)
class _Found:
    """A session that is new or has changed, with its mark."""

    root: Path
    id: str
    mark: str
    known: bool  # to the index, which has a row of it


def refresh(
    store: Store, deep: bool, most: int | None = None, progress: Callable[[int, int], object] | None = None
) -> Refreshed:
    """Read what is new or changed. Without `deep` only what lists need: of each session its metadata."""
    with store.refreshing() as mine:
        if not mine:
            return Refreshed(busy=True)
        if deep and any(used and used - there > MOST_DEAD * used for used, there in store.rows(WORN)):
            store.renew()
        for root in store.roots:
            with suppress(OSError):
                (root / FORMER).unlink()
        changed, gone = _compare(store, deep)
        if gone:
            with store.writing() as db:
                for number, place, id in gone:
                    _remove(db, number, place, id)
        todo = changed[:most]
        if len(todo) > BATCH:
            store.rows(f"PRAGMA cache_size = -{LARGE_CACHE}")
        for start in range(0, len(todo), BATCH):
            _add(store, todo[start : start + BATCH], deep)
            if progress:
                progress(min(start + BATCH, len(todo)), len(todo))
        return Refreshed(len(todo), len(changed) - len(todo))


def _compare(store: Store, deep: bool) -> tuple[list[_Found], list[tuple[int, str, str]]]:
    """The sessions to be read, oldest first, and those that are gone."""
    known: dict[tuple[str, str], tuple[int, str, str | None]] = {}
    with store.lock:  # row by row: together they are much more than what is kept of them
        for number, seal, *sealed in store.db.execute(f"SELECT number, seal, {', '.join(SEALED)} FROM session"):
            if seal != seal_row(sealed):
                raise ValueError("a row of the index was changed")
            known[sealed[0], sealed[1]] = (number, sealed[-2], sealed[-1])
    changed, there = [], set()
    for place, root in store.places.items():
        for id, mark in scan.list_sessions(root):
            if root != store.roots[0] and project.find_own_fault(root / id):
                continue  # a repository may bring sessions: only the user's own are read
            before = known.get((place, id))
            there.add((place, id))
            if before is None or before[1] != mark or (deep and _has_new_turns(root / id, before[2])):
                changed.append(_Found(root, id, mark, before is not None))
    gone = [
        (number, root, id)
        for (root, id), (number, *_) in known.items()
        if (root, id) not in there and (root in store.places or not Path(root).is_dir())
    ]
    return sorted(changed, key=lambda one: one.id), gone


def read_progress(store: Store) -> int:
    """A number that grows with what is read, and begins again with an index that is made again."""
    try:
        ((last,),) = store.rows(LAST)
    except DAMAGE:
        return 0
    return int(last)


def _has_new_turns(folder: Path, turns_mark: str | None) -> bool:
    """A finished session has none: council adds nothing to it."""
    return turns_mark != facts.FINISHED and (not turns_mark or turns_mark != scan.mark_turns(folder))


def _add(store: Store, changed: Sequence[_Found], deep: bool) -> None:
    read = []
    for one in changed:
        known = (_known_turns(store, one) if one.known else {}) if deep else None
        read.append((one, facts.read_session(one.root, one.id, one.mark, known)))
    with store.writing() as db:
        batch = _Batch(db)
        for one, found in read:
            if found is None:
                _forget(db, one)
            else:
                batch.add_session(found)
        batch.write()


def _known_turns(store: Store, one: _Found) -> Mapping[str, str]:
    """The mark of each turn that is in the index. Damaged ones are read again: somebody may have restored them."""
    query = """SELECT turn.turn, turn.mark FROM turn JOIN session ON session.number = turn.session
        WHERE session.root = ? AND session.id = ? AND turn.fault IS NULL"""
    return dict(store.rows(query, (str(one.root), one.id)))


def _forget(db: sqlite3.Connection, one: _Found) -> None:
    query = "SELECT number FROM session WHERE root = ? AND id = ?"
    for (number,) in db.execute(query, (str(one.root), one.id)).fetchall():
        _remove(db, number, str(one.root), one.id)


def _remove(db: sqlite3.Connection, number: int, root: str, id: str) -> None:
    db.execute("DELETE FROM session WHERE number = ?", (number,))
    db.execute("DELETE FROM turn WHERE session = ?", (number,))
    db.execute("DELETE FROM piece WHERE session = ?", (number,))
    db.execute("DELETE FROM confirmed WHERE root = ? AND id = ?", (root, id))


class _Batch:
    """What a transaction adds. Its rows are written together, which takes half as long as one by one."""

    def __init__(self, db: sqlite3.Connection) -> None:
        self.db = db
        ((last,),) = db.execute(LAST).fetchall()
        self.last: int = last  # the number of a piece is never given again: its words cannot be removed
        ((self.known,),) = db.execute("SELECT coalesce(max(number), 0) FROM session").fetchall()  # the rows before
        self.turns: list[tuple[Any, ...]] = []
        self.pieces: list[tuple[int, int, str, str, str | None]] = []
        self.words: list[tuple[int | str | None, ...]] = []  # in the order of their numbers, or the file grows

    def add_session(self, found: SessionFacts) -> None:
        row = {name: storable(value) for name, value in found.row.items()}
        row |= {"seal": seal_row([row[name] for name in SEALED])}
        names = list(row)
        updates = ", ".join(f"{name} = excluded.{name}" for name in names if name not in ("root", "id"))
        query = f"""INSERT INTO session ({", ".join(names)}) VALUES ({_marks(names)})
            ON CONFLICT (root, id) DO UPDATE SET {updates} RETURNING number"""
        ((number,),) = self.db.execute(query, list(row.values())).fetchall()
        new = number > self.known  # nothing is under the number of a new row
        known = "SELECT 1 FROM piece WHERE session = ? AND kind = ?"
        if found.topic and (new or not self.db.execute(known, (number, facts.TOPIC)).fetchone()):
            self.add_piece(number, "", facts.TOPIC, facts.TOPIC, found.topic)
        if found.turns is not None:
            if not new:
                self.remove_turns(number, found, found.turns)
            self.add_turns(number, found, found.turns)

    def remove_turns(self, session: int, found: SessionFacts, turns: Mapping[str, TurnFacts]) -> None:
        """Those that are gone or read again, and what follows from all of them."""
        before = {turn for (turn,) in self.db.execute("SELECT turn FROM turn WHERE session = ?", (session,))}
        for turn in (before - found.present) | (before & turns.keys()):
            self.db.execute("DELETE FROM turn WHERE session = ? AND turn = ?", (session, turn))
            self.db.execute("DELETE FROM piece WHERE session = ? AND turn = ?", (session, turn))
        self.db.execute("DELETE FROM piece WHERE session = ? AND kind NOT IN (?, ?, ?)", (session, *facts.OF_TURNS))

    def add_turns(self, session: int, found: SessionFacts, turns: Mapping[str, TurnFacts]) -> None:
        for turn, read in turns.items():
            self.turns.append((session, *map(read.row.get, OF_TURN)))
            if read.text.strip():
                column = facts.DECISION if read.row["kind"] == facts.SYNTHESIS else facts.TURN
                self.add_piece(session, turn, column, column, read.text)
        for entry in found.entries:
            data = json.dumps(entry.facts, ensure_ascii=False, default=str)
            column = facts.FINDING if entry.kind == facts.FINDING else ""
            self.add_piece(session, entry.turn, entry.kind, column, entry.text, data)

    def add_piece(self, session: int, turn: str, kind: str, column: str, text: str, data: str | None = None) -> None:
        """What can be found gets a number, and its words are put under it; without a `column` it is only counted."""
        self.last += 1
        self.pieces.append((self.last, session, turn, kind, data))
        if column:
            found = facts.spread(text)
            self.words.append((self.last, *(found if name == column else None for name in facts.COLUMNS)))

    def write(self) -> None:
        for table, names, rows in (
            ("turn", ("session", *OF_TURN), self.turns),
            ("piece", ("number", "session", "turn", "kind", "facts"), self.pieces),
            ("words", ("rowid", *facts.COLUMNS), self.words),
        ):
            query = f"INSERT INTO {table} ({', '.join(names)}) VALUES ({_marks(names)})"
            self.db.execute("SAVEPOINT rows")
            try:
                self.db.executemany(query, rows)
            except (UnicodeEncodeError, OverflowError):  # so few rows need it that asking every value takes longer
                self.db.execute("ROLLBACK TO rows")
                self.db.executemany(query, (tuple(map(storable, row)) for row in rows))
            self.db.execute("RELEASE rows")


def _marks(names: Sequence[str]) -> str:
    return ", ".join("?" * len(names))
