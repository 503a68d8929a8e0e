"""The list: which sessions there are, filtered as the page asks."""

from __future__ import annotations

import re
from collections.abc import AsyncGenerator, Mapping
from contextlib import closing, suppress
from dataclasses import asdict, dataclass, field, replace
from pathlib import Path
from typing import Any

from council.config import places
from council.config import settings as config
from council.engine.contributions import elsewhere
from council.errors import CouncilError, UsageError
from council.index import counts
from council.index.query import Filters, open_index
from council.index.scan import mark_file, mark_turns
from council.index.words import split
from council.record import catalog, files, lock
from council.record.metadata import read_metadata
from council.text import did_you_mean, one_line
from council.web.events import HEARTBEAT, RETRY, Watch, Watches, format_event
from council.web.freshness import FRESHNESS

MOST, USUAL = 200, 30
LONGEST_TITLE = 300  # characters
MONTH = re.compile(r"[1-9]\d{3}-(0[1-9]|1[0-2])")
MOST_FOLLOWED = 100  # sessions that a page may name, whose changes are told
WATCHED = 50  # sessions, the newest, whose changes are told
PATIENCE = 0.3  # seconds in which sessions are checked whether they wait
LIST_EVERY = 1.0  # seconds between two looks at them


def find_sessions(query: Mapping[str, str], place: str | None = None) -> dict[str, Any]:
    """Newest first, or best first for words. `before` is the `next` of the page before. `building`, the share that was
    read, is there while there may be more."""
    limit = read_limit(query.get("limit", ""))
    words = query.get("q", "")
    filters = Filters(
        words, place, workflow=query.get("workflow") or None, outcome=query.get("outcome") or None,
        state=query.get("state") or None, growing=True,
    )  # fmt: skip
    with closing(open_index(places.list_roots(config.load()))) as index:
        building = FRESHNESS.update(index, deep=bool(words))
        page, facets = index.page(filters, query.get("before") or None, limit), index.facets(filters)
        if filters.state:  # the choice of states says how many there are of each, whichever is chosen
            facets["state"] = index.facets(replace(filters, state=None))["state"]
    total = facets.pop("total")
    more = {} if building is None else {"building": round(building, 3)}
    return {"sessions": list(map(add_title, page.rows)), "next": page.next, "total": total, "facets": facets, **more}


def add_title(row: dict[str, Any]) -> dict[str, Any]:
    """The row, with a longer topic as its title where its own is cut."""
    if str(row.get("topic") or "").endswith("…"):
        with suppress(CouncilError, OSError):
            topic = str(read_metadata(Path(row["folder"]))["topic"])
            return row | {"title": one_line(topic, LONGEST_TITLE)}
    return row


def find_waiting() -> list[Path]:
    """The folders of the newest debates in which a person has to answer. Of many that have never been checked, some
    are checked now, and the others when this is asked again."""
    with closing(open_index(places.list_roots(config.load()))) as index:
        FRESHNESS.update(index, deep=False)
        rows = index.page(Filters(state="unfinished"), limit=WATCHED, patience=PATIENCE).rows
    return [Path(row["folder"]) for row in rows if row.get("waiting")]


def add_up(by: str) -> dict[str, Any]:
    """The sums of all sessions, by one thing that they differ in."""
    if by not in counts.KEYS:
        raise UsageError(f"by={by[:40]}: {did_you_mean(by, counts.KEYS)}")
    with closing(open_index(places.list_roots(config.load()))) as index:
        building = FRESHNESS.update(index, deep=True)
        more: dict[str, Any] = {} if building is None else {"building": round(building, 3)}
        rows = counts.count(index, by)
        if by == "month":
            ends = counts.count_outcomes(index)
            rows = [row | {"outcomes": ends.get(row["name"], {})} for row in rows]
            more["picture"] = draw(rows)
        return {"by": by, "rows": rows, **more}


def draw(rows: list[dict[str, Any]]) -> str:
    """The months as a picture."""
    from council.reports.pictures import Month, draw_months

    known = (row for row in rows if MONTH.fullmatch(row["name"] or ""))
    return draw_months([Month(row["name"], row["outcomes"], row["usd"], row["usd_at_least"]) for row in known])


def list_decisions(query: Mapping[str, str]) -> dict[str, Any]:
    """What finished debates decided, newest first, each in the words of its synthesis. `q` narrows them to those that
    have the words."""
    found = find_sessions({**query, "state": "complete"}, place="decisions" if query.get("q", "").strip() else None)
    decided = [
        {name: row[name] for name in ("session_id", "topic", "workflow", "outcome", "completed_at")}
        | {"hits": row.get("hits", []), "decision": read_decision(Path(row["folder"]))}
        for row in found.pop("sessions")
    ]
    return {"decisions": decided, **{name: value for name, value in found.items() if name in ("next", "building")}}


def read_decision(folder: Path) -> str | None:
    """The synthesis of a complete debate, whose files were just checked; None if it has none."""
    try:
        return files.read(folder / "synthesis.md").decode("utf-8", "replace")
    except (CouncilError, OSError):
        return None


def list_lessons(query: Mapping[str, str]) -> dict[str, Any]:
    """The lessons that are nearest to the words of `q`, from each room that keeps some."""
    limit, words = read_limit(query.get("limit", "")), split(query.get("q", ""))
    if not words:
        raise UsageError("q: say what the lessons are to be about")
    asked = tuple(one.text for one in words)
    home = config.load().home
    found = [asdict(one) for search in elsewhere.known.values() for one in search(home, asked, limit)]
    return {"lessons": found[:limit]}


def read_limit(text: str) -> int:
    if not text:
        return USUAL
    if not text.isdecimal() or len(text) > 9 or not 0 < int(text) <= MOST:
        raise UsageError(f"limit={text[:20]}: write a number from 1 to {MOST}")
    return int(text)


@dataclass
class ListLooker:
    """Looks at the newest sessions, and remembers what it saw. New ones are noticed by the folder that they are in."""

    wanted: tuple[str, ...] = ()  # ids of sessions that are looked at too, as old as they may be
    roots: tuple[object, ...] = ()
    marks: dict[Path, object] = field(default_factory=dict)
    seen: dict[str, dict[str, Any]] = field(default_factory=dict)

    def look(self) -> dict[str, dict[str, Any]]:
        """The rows by their ids; the same object as before if nothing has changed."""
        places_of = places.list_roots(config.load())
        roots = tuple(mark_file(str(root)) for root in places_of)
        folders = list(self.marks)
        with closing(open_index(places_of)) as index:
            if roots != self.roots:
                if not index.refresh(deep=False).busy:  # else what is new may not be in the index yet
                    self.roots = roots
                folders = [Path(row["folder"]) for row in index.page(limit=WATCHED).rows]
                named = (root / id for id in self.wanted for root in places_of)
                folders = list(dict.fromkeys([*folders, *(one for one in named if one.is_dir())]))
            marks = {folder: mark_session(folder) for folder in folders}
            changed = [folder for folder, mark in marks.items() if self.marks.get(folder) != mark]
            rows = {row["session_id"]: row for row in index.rows_of(changed)} if changed else {}
        if changed or len(marks) != len(self.marks):
            there = {folder.name for folder in marks}
            self.seen = {id: row for id, row in (self.seen | rows).items() if id in there}
        self.marks = marks
        return self.seen


def mark_session(folder: Path) -> object:
    """Changes with each turn, and when a process takes the session or lets it go."""
    files = (mark_file(f"{folder}/{name}") for name in ("metadata.json", lock.NOTE))
    return (*files, mark_turns(folder), lock.is_held(folder))


def read_ids(text: str) -> tuple[str, ...]:
    """The ids of sessions, with commas between them."""
    ids = tuple(filter(None, text.split(",")))
    if len(ids) > MOST_FOLLOWED or not all(map(catalog.ID.fullmatch, ids)):
        raise UsageError(f"ids: write at most {MOST_FOLLOWED} ids of sessions, with commas between them")
    return ids


async def follow_list(watches: Watches, ids: tuple[str, ...] = ()) -> AsyncGenerator[bytes, None]:
    """The rows that changed, and on connecting all that are followed: the newest, and those with these ids."""
    key = ("list", ids)
    watch = watches.join(key, lambda: Watch(ListLooker(ids).look, LIST_EVERY))
    sent: dict[str, Any] = {}
    try:
        yield RETRY
        while not watch.closed:
            version = watch.version
            now = watch.seen or {}
            if new := [row for id, row in now.items() if sent.get(id) != row | {"age": sent.get(id, {}).get("age")}]:
                yield format_event("list", {"sessions": new})
            sent = now
            if not await watch.wait(version):
                yield HEARTBEAT
    finally:
        watches.leave(key, watch)
