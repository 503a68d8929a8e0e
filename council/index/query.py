"""What is asked of the index: which sessions there are, and where words are. Nothing that it answers is shown
before the files have confirmed it."""

from __future__ import annotations

import base64
import json
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from pathlib import Path
from typing import Any

from council.errors import CouncilError, UsageError
from council.index import confirm, facts, words
from council.index.refresh import Refreshed, refresh
from council.index.states import OPEN, REAL, STATES
from council.index.store import Store, storable
from council.index.words import Term
from council.record import catalog, files, lock, turn_file
from council.record.turn_file import TURN

Row = dict[str, Any]
HITS = 3  # shown of one session
MOST_RANKED = 20_000  # texts that are ranked; of more, the newest come first
CHUNK = 500  # hits that are grouped by session at a time


@dataclass(frozen=True)
class Filters:
    """Which sessions are wanted. `place` is one of `words.PLACES`; `growing` if the last word is still being typed."""

    q: str = ""
    place: str | None = None
    workflow: str | None = None
    outcome: str | None = None
    state: str | None = None
    since: datetime | None = None
    growing: bool = False

    def __post_init__(self) -> None:
        words.check_place(self.place)
        if self.state is not None and self.state not in STATES:
            raise UsageError(f'"{self.state}" is not a state; known: {", ".join(STATES)}')

    @property
    def empty(self) -> bool:
        return self == Filters()

    @property
    def narrowed(self) -> bool:
        """Whether it is about some sessions only."""
        return any((self.workflow, self.outcome, self.state, self.since))

    def fit(self, row: Row) -> bool:
        """Whether the session is wanted, now that its files have been asked. What was not checked may be."""
        if row["state"] is None:
            return True
        wanted = {"workflow": self.workflow, "outcome": self.outcome}
        if self.state in REAL:
            wanted["state"] = self.state
        began = datetime.fromisoformat(row["started_at"])
        return all(value is None or row[name] == value for name, value in wanted.items()) and (
            self.since is None or began >= self.since.replace(microsecond=0)
        )

    @property
    def terms(self) -> tuple[Term, ...]:
        return words.split(self.q, self.growing)


@dataclass(frozen=True)
class Page:
    """Rows as `list --json` has them, with `waiting`, and with `hits` where words were searched. `next` is the cursor
    of the page after it."""

    rows: list[Row] = field(default_factory=list)
    next: str | None = None


class Index:
    """The sessions of some roots."""

    def __init__(self, roots: Sequence[Path], path: Path | None = None) -> None:
        self.store = Store(roots, path)

    @property
    def path(self) -> Path | None:
        """The file; None if the index is in memory."""
        return self.store.path

    @property
    def remarks(self) -> list[str]:
        return self.store.remarks

    def close(self) -> None:
        self.store.close()

    def refresh(
        self, deep: bool = True, most: int | None = None, progress: Callable[[int, int], object] | None = None
    ) -> Refreshed:
        """Read what is new: of each session its metadata or, `deep`, every turn. `most` bounds the sessions."""

        def action() -> Refreshed:
            return refresh(self.store, deep, most, progress)

        return self.store.heal(action, lambda: None)

    def ask(self, action: Callable[[], Any], deep: bool = True) -> Any:
        """The answer to a question; if the index proves to be damaged, that of a new one."""
        return self.store.heal(action, lambda: refresh(self.store, deep))

    def page(
        self, filters: Filters = Filters(), before: str | None = None, limit: int = 30, patience: float | None = None
    ) -> Page:
        """Sessions, newest first; where words are searched, the best first. Each is confirmed by its files. Those that
        would take longer than `patience` seconds together come with None as their state."""
        until = None if patience is None else time.monotonic() + patience
        if filters.terms:
            page: Page = self.ask(lambda: self._search(filters, before, limit, until))
        elif filters.q.strip():
            return Page()  # nothing in it is a word
        else:
            page = self.ask(lambda: self._list(filters, before, limit, until), deep=False)
        return page

    def facets(self, filters: Filters = Filters()) -> dict[str, Any]:
        """How many sessions there are of each workflow and outcome, and how many are finished: as the index knows it,
        for a choice of filters. No state follows from it."""
        if filters.q.strip() and not filters.terms:  # nothing in it is a word, so nothing is found
            return {"workflow": {}, "outcome": {}, "state": {}, "total": 0}
        return dict(self.ask(lambda: self._facets(filters), deep=bool(filters.terms)))

    def rows_of(self, folders: Sequence[Path], patience: float | None = None) -> list[Row]:
        """The confirmed rows of these sessions."""
        until = None if patience is None else time.monotonic() + patience
        return list(self.ask(lambda: confirm.confirm(self.store, folders, until), deep=False))

    # ---- lists ----

    def _list(self, filters: Filters, before: str | None, limit: int, until: float | None) -> Page:
        rows: list[Row] = []
        cursor = _decode(before, (str, int, str))
        while len(rows) < limit:
            wanted = limit - len(rows)
            batch = self._newest(filters, cursor, wanted)
            kept = [one for one in batch if _may_fit(one[3], filters)]
            folders = [folder for *_, folder in kept]
            confirmed = confirm.confirm(self.store, folders, until, _can_wait if filters.state == "waiting" else None)
            rows += [row for row in confirmed if filters.fit(row)]
            if len(batch) < wanted:
                return Page(rows)
            cursor = list(batch[-1][:3])
        return Page(rows, _encode(cursor) if cursor and self._newest(filters, cursor, 1) else None)

    def _newest(self, filters: Filters, cursor: list[Any] | None, most: int) -> list[tuple[str, int, str, Path]]:
        """The sessions after the cursor, which may be the ones that are wanted."""
        where, values = self.where(filters)
        if cursor:
            where, values = f"{where} AND (started, written, id) < (?, ?, ?)", [*values, *cursor]
        order = "ORDER BY started DESC, written DESC, id DESC LIMIT ?"
        # From the table, whose rows are sealed: an index of SQLite's has copies, which nobody would check.
        query = f"SELECT started, written, id, root FROM session NOT INDEXED WHERE {where} {order}"
        found = self.store.rows(query, [*values, most])
        return [(started, written, id, self._folder(root, id)) for started, written, id, root in found]

    def _folder(self, place: str, id: str) -> Path:
        if not catalog.ID.fullmatch(id):
            raise ValueError("the index names a session that nobody can have")
        return self.store.places[place] / id

    def where(self, filters: Filters) -> tuple[str, list[Any]]:
        """The filters as SQL: what the index knows, which is confirmed later."""
        parts = [f"session.root IN ({', '.join('?' * len(self.store.roots))})"]
        values: list[Any] = [*map(str, self.store.roots)]
        for column, value in (("workflow", filters.workflow), ("outcome", filters.outcome)):
            if value is not None:
                parts.append(f"session.{column} = ?")
                values.append(storable(value))
        if filters.since is not None:
            parts.append("session.started >= ?")
            values.append(facts.as_moment(filters.since))
        if filters.state in ("complete", "finished"):
            parts.append("session.completed IS NOT NULL")
        elif filters.state == "damaged":
            parts.append("session.fault IS NOT NULL")
        elif filters.state is not None:
            parts.append("session.completed IS NULL AND session.fault IS NULL")
        return " AND ".join(parts), values

    def _facets(self, filters: Filters) -> dict[str, Any]:
        where, values = self.where(filters)
        if filters.terms:
            hits = "SELECT session FROM words JOIN piece ON piece.number = words.rowid WHERE words MATCH ?"
            where += f" AND number IN ({hits})"
            values.append(words.match(filters.terms, words.check_place(filters.place)))
        state = (
            "CASE WHEN fault IS NOT NULL THEN 'damaged' WHEN completed IS NULL THEN 'unfinished' ELSE 'finished' END"
        )
        query = f"SELECT workflow, outcome, {state}, count(*) FROM session WHERE {where} GROUP BY 1, 2, 3"
        counts: dict[str, dict[str, int]] = {"workflow": {}, "outcome": {}, "state": {}}
        total = 0
        for *names, number in self.store.rows(query, values):
            total += number
            for kind, name in zip(counts, names, strict=True):
                if name is not None:
                    counts[kind][name] = counts[kind].get(name, 0) + number
        ordered = {kind: dict(sorted(of.items(), key=lambda one: (-one[1], one[0]))) for kind, of in counts.items()}
        return {**ordered, "total": total}

    # ---- words ----

    def _search(self, filters: Filters, before: str | None, limit: int, until: float | None) -> Page:
        """The sessions with the best hits. A hit is shown once its file was read and has the words."""
        (skip,) = _decode(before, (int,)) or [0]
        position = skip
        rows: list[Row] = []
        for folder, hits in self._sessions_with(filters, skip):
            if len(rows) == limit:
                return Page(rows, _encode([position]))
            position += 1
            if shown := [hit for one in hits if (hit := read_hit(folder, one, filters.terms))][:HITS]:
                (row,) = confirm.confirm(self.store, [folder], until)
                if filters.fit(row):
                    rows.append(row | {"hits": shown})
        return Page(rows)

    def _sessions_with(self, filters: Filters, skip: int) -> Iterator[tuple[Path, list[tuple[str, str]]]]:
        """The sessions with these words, the best or the newest first, each with its first hits: turn and kind."""
        where, values = self.where(filters)
        order = f"bm25(words, {words.weights()})" if self._can_rank(filters.terms) else "words.rowid DESC"
        query = f"""SELECT session.root, session.id, piece.turn, piece.kind FROM words
            CROSS JOIN piece ON piece.number = words.rowid CROSS JOIN session ON session.number = piece.session
            WHERE words MATCH ? AND {where} ORDER BY {order}"""
        asked = words.match(filters.terms, words.check_place(filters.place))
        found = self.store.db.execute(query, [asked, *values])
        grouped: dict[Path, list[tuple[str, str]]] = {}
        while chunk := found.fetchmany(CHUNK):
            known = len(grouped)
            for root, id, turn, kind in chunk:
                hits = grouped.setdefault(self._folder(root, id), [])
                if len(hits) < HITS * 2:
                    hits.append((str(turn), str(kind)))
            yield from list(grouped.items())[max(known, skip) :]

    def _can_rank(self, terms: tuple[Term, ...]) -> bool:
        """Whether few enough texts have the rarest of the words: ranking reads them all."""
        lookup = "SELECT coalesce(sum(doc), 0) FROM vocabulary WHERE term >= ? AND term <= ?"
        counts = []
        for term in terms:
            for word in term.folded.split():
                ((count,),) = self.store.rows(lookup, (word, word + "\U0010ffff" if term.prefix else word))
                counts.append(int(count))
        return min(counts, default=0) <= MOST_RANKED


def open_index(roots: Sequence[Path], path: Path | None = None) -> Index:
    """The index of the sessions below these roots, the home's first. It may be out of date: see `Index.refresh`."""
    return Index(roots, path)


def read_hit(folder: Path, where: tuple[str, str], terms: tuple[Term, ...]) -> Row | None:
    """The passage with the words, from the file itself; None if it is damaged, gone, or no longer says that."""
    turn, kind = where
    try:
        if not turn:
            text = files.read(folder / "topic.md").decode("utf-8", "replace")
        elif TURN.fullmatch(turn):
            path = folder / "turns" / f"{turn}.md"
            _, text = turn_file.decode(files.read(path), path)
        else:
            return None
    except (CouncilError, OSError):
        return None
    snippet = words.cut_snippet(text, terms)
    if snippet is None:
        return None
    return {
        "turn": turn or None,
        "kind": kind,
        "snippet": snippet.text,
        "marks": [list(mark) for mark in snippet.marks],
    }


def _may_fit(folder: Path, filters: Filters) -> bool:
    """Whether a session can have the wanted state, as far as its lock tells."""
    return filters.state not in OPEN or lock.is_held(folder) is (filters.state == "running")


def _can_wait(folder: Path) -> bool:
    """Whether a session can be waiting, as far as its program tells, which is much less to read than its turns."""
    from council.reports.verify import can_wait

    return can_wait(folder)


def _encode(cursor: Sequence[Any]) -> str:
    return base64.urlsafe_b64encode(json.dumps(list(cursor)).encode()).decode().rstrip("=")


def _decode(cursor: str | None, kinds: tuple[type, ...]) -> list[Any] | None:
    """What `_encode` made; anybody may have written the cursor of a page."""
    if cursor is None:
        return None
    try:
        found = json.loads(base64.urlsafe_b64decode(cursor[:2_000] + "=" * (-len(cursor) % 4)))
    except (ValueError, RecursionError):
        found = None
    if not isinstance(found, list) or [type(one) for one in found] != list(kinds) or [*map(storable, found)] != found:
        raise UsageError("this is not the cursor of a page")
    return found
