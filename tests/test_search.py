"""`search`, `stats`, `index` and `metrics`, as people and programs meet them."""

from __future__ import annotations

import json
import os
import re
import resource
import shutil
import sqlite3
from dataclasses import dataclass
from pathlib import Path
from types import SimpleNamespace
from typing import TextIO

import pytest

from council import text_width
from council.index import columns, metrics, place, search
from council.index.query import Filters
from council.terminal import screen
from tests.helpers import CODE, Ended, User, disputed, script
from tests.reviewing import SPEC, review
from tests.schemas import check

ESCAPES = "\x1b]0;owned\x07\x1b[2Jrestore\u202e"


@pytest.fixture(scope="module")
def two(tmp_path_factory: pytest.TempPathFactory) -> User:
    user = User(tmp_path_factory.mktemp("two"))
    speak = ("--speaker", "replay", "--from", script(user, disputed()))
    for id, topic in (("first", "Shall we keep one database?"), ("second", f"A\nname with {ESCAPES} codes?")):
        assert user.council("run", "--id", id, *speak, topic).code == 0
    return user


@pytest.fixture
def user(two: User, tmp_path: Path) -> User:
    shutil.copytree(two.root, tmp_path / "user")
    return User(tmp_path / "user")


def ok(ended: Ended) -> Ended:
    assert (ended.code, ended.err) == (0, "")
    return ended


def cache_of(user: User) -> Path:
    return place.locate(user.home / "STATE" / "council-sessions", user.environment)


def test_search_prints_passages_from_the_files(user: User) -> None:
    found = ok(user.council("search", "untested", "RESTORE")).out
    assert found.startswith(("first ", "second "))
    assert "  02-challenges/engineer: " in found
    assert "The restore is untested." in found
    assert "\x1b" not in ok(user.council("search", "codes")).out


def test_a_home_whose_name_is_no_text_is_searched(two: User, tmp_path: Path) -> None:
    """Bytes that are no UTF-8 reach a program as halves of surrogate pairs, which SQLite cannot hold."""
    shutil.copytree(two.root, tmp_path / "caf\udce9")
    user = User(tmp_path / "caf\udce9")
    assert {row["state"] for row in ok(user.council("list", "--json")).json} == {"complete"}
    assert "The restore is untested." in ok(user.council("search", "restore")).out
    assert user.council("search", "rest\udce9").err == "nothing was found\n"


def test_search_as_json(user: User) -> None:
    found = ok(user.council("search", "--json", "restore", "--in", "turns")).json
    check("search", found)
    assert {row["session_id"]: row["state"] for row in found["sessions"]} == {"first": "complete", "second": "complete"}
    for row in found["sessions"]:
        for hit in row["hits"]:
            words = [hit["snippet"][start:end] for start, end in hit["marks"]]
            assert words
            assert {word.casefold() for word in words} == {"restore"}


def test_search_within_some_sessions(user: User) -> None:
    assert user.council("search", "restore", "--workflow", "delphi").err == "nothing was found\n"
    for command in (["search", "restore"], ["list"], ["stats"]):
        assert user.council(*command, "--workflow", "delpi").err.endswith('; did you mean --workflow "delphi"?\n')
    assert len(ok(user.council("search", "--json", "restore", "--since", "1d")).json["sessions"]) == 2
    assert ok(user.council("search", "--json", "restore", "--outcome", "agreed with dissent", "-n", "1")).json[
        "sessions"
    ]
    refused = user.council("search", "restore", "--since", "yesterday")
    assert (refused.code, "write 2026-11-01, or 30d" in refused.err) == (2, True)
    assert "at least one word" in user.council("search", "--", "*-").err


def test_a_date_that_no_calendar_has_is_refused(user: User) -> None:
    for since in ("99999y", "99999-01-01", "0000-01-01", "9999-12-31T23:59:59-14:00"):
        refused = user.council("list", "--since", since)
        assert (refused.code, refused.err[:9]) == (2, "council: ")
        assert "is not a date" in refused.err


def test_any_number_of_sessions_can_be_listed(user: User) -> None:
    assert len(ok(user.council("list", "--json", "-n", "9" * 30)).json) == 2


def test_while_another_process_reads_nothing_is_claimed(user: User, monkeypatch: pytest.MonkeyPatch) -> None:
    """The index is empty, and not yet for this command to fill."""
    path = cache_of(user)
    place.prepare(path)
    other = place.Locked(path, "refresh")
    assert other.take(exclusive=True)
    for words in (("list",), ("list", "--workflow", "debate"), ("stats",)):
        found = user.council(*words)
        assert (found.code, found.out) == (0, "")
        assert found.err == "another process is reading new sessions; what it has not read yet is not found\n"
    monkeypatch.setattr(metrics, "PATIENCE", 0.0)
    refused = user.council("metrics")
    assert (refused.code, refused.out) == (7, "")
    assert "another process is reading" in refused.err
    other.release()
    assert len(ok(user.council("list", "--json")).json) == 2
    assert "council_turns_total" in ok(user.council("metrics")).out


@pytest.mark.parametrize("columns", [40, 80, 140])
def test_search_fits_the_terminal(user: User, columns: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(screen, "size", lambda _: (columns, 24))
    monkeypatch.setattr(screen, "has_colour", lambda _: True)
    rows = user.council("search", "--json", "restore", "untested").json["sessions"]
    with (user.work / "out").open("w+", encoding="utf-8") as out:
        monkeypatch.setattr(search, "sys", SimpleNamespace(stdout=Terminal(out)))
        monkeypatch.setattr("sys.stdout", out)
        search.show(rows, [], Filters("restore untested"))
        monkeypatch.undo()
        out.seek(0)
        lines = out.read().splitlines()
    assert max(map(text_width.width, lines)) < columns
    assert "\x1b[1;33muntested" in "\n".join(lines)


@dataclass(frozen=True)
class Terminal:
    file: TextIO

    def isatty(self) -> bool:
        return True


def test_stats(user: User) -> None:
    (row,) = ok(user.council("stats", "--json")).json
    check("stats", [row])
    listed = ok(user.council("list", "--json")).json
    assert (row["name"], row["sessions"], row["turns"]) == ("debate", 2, sum(one["turns"] for one in listed))
    by_seat = ok(user.council("stats", "--by", "seat", "--json")).json
    assert {one["name"]: one["sessions"] for one in by_seat}["chair"] == 2
    for by in ("model", "outcome", "month"):
        check("stats", ok(user.council("stats", "--by", by, "--json")).json)
    (replayed,) = ok(user.council("stats", "--by", "model", "--json")).json
    assert (replayed["name"], replayed["calls"]) == ("replay", 0)
    table = ok(user.council("stats")).out.splitlines()
    assert table[0].split()[:4] == ["WORKFLOW", "SESSIONS", "TURNS", "COST"]
    assert (
        user.council("stats", "--since", "2099-01-01").err == "no session matches; `council list` shows all of them\n"
    )


def test_a_lesson_is_found(user: User) -> None:
    from council.lessons.lesson import Lesson
    from council.lessons.store import Lessons

    store = Lessons(user.home / "LESSONS")
    lesson = Lesson(
        "Dates.", "Zones were ignored.", "Compare moments in UTC.", "first", "x/y", "2026-01-01", words=("zones",)
    )
    with store.hold():
        store.add([lesson])
    found = ok(user.council("search", "--json", "--in", "lessons", "zones")).json
    check("search", found)
    assert [one["command"] for one in found["elsewhere"]] == [f"council lessons show {lesson.id}"]
    assert "lesson " in ok(user.council("search", "zones", "ignored")).out


def test_the_index_can_be_asked_made_again_and_deleted(user: User) -> None:
    path = Path(ok(user.council("index", "--path")).out.strip())
    assert path == cache_of(user)
    assert path.stat().st_mode & 0o777 == 0o600
    before = ok(user.council("search", "restore", "--json")).json
    assert ok(user.council("index", "--rebuild")).out.startswith("2 sessions with ")
    for name in place.BESIDE:
        Path(f"{path}{name}").unlink(missing_ok=True)
    assert user.council("search", "restore", "--json").json["sessions"][0]["hits"] == before["sessions"][0]["hits"]


@pytest.mark.parametrize("trouble", ["read-only", "a link", "a file", "anybody's", "another user's", "no home"])
def test_without_a_cache_everything_works_and_one_line_says_so(user: User, trouble: str, tmp_path: Path) -> None:
    folder = cache_of(user).parent
    folder.parent.mkdir(exist_ok=True)
    if trouble == "read-only":
        folder.parent.rename(tmp_path / "aside")
        folder.parent.write_text("")
    elif trouble == "a link":
        (tmp_path / "elsewhere").mkdir()
        folder.symlink_to(tmp_path / "elsewhere")
    elif trouble == "a file":
        folder.write_text("")
    else:
        folder.mkdir(mode=0o700)
        if trouble == "anybody's":
            folder.chmod(0o777)
        elif trouble == "another user's":
            if os.geteuid():
                pytest.skip("only root can give a folder away")
            os.chown(folder, 12345, 12345)
    env = {"XDG_CACHE_HOME": "/proc/none"} if trouble == "no home" else {}
    found = user.council("search", "restore", "--json", **env)
    assert (found.code, len(found.json["sessions"])) == (0, 2)
    assert found.err.startswith("the index is kept in memory only, which is slower: ")
    assert len(found.err.splitlines()) == 1
    assert len(user.council("list", "--json", **env).json) == 2


def test_two_versions_do_not_share_a_file(user: User, monkeypatch: pytest.MonkeyPatch) -> None:
    ok(user.council("search", "restore"))
    from council.index import schema

    with sqlite3.connect(cache_of(user)) as db:
        assert db.execute("PRAGMA user_version").fetchone() == (schema.FORMAT,)
        db.execute("PRAGMA user_version = 99")
    assert len(ok(user.council("search", "--json", "restore")).json["sessions"]) == 2


def test_a_full_disk_does_not_stop_a_search(user: User) -> None:
    def few_bytes() -> None:
        resource.setrlimit(resource.RLIMIT_FSIZE, (20_000, 20_000))

    no_caches = {"PYTHONDONTWRITEBYTECODE": "1"}  # Python would keep modules that are cut off
    found = user.process("search", "restore", "--json", preexec_fn=few_bytes, env=no_caches)
    assert (found.code, len(found.json["sessions"])) == (0, 2)
    assert "the index is kept in memory only" in found.err
    assert "disk I/O error" in found.err


# ---- metrics ----

SAMPLE = re.compile(r'(?P<name>[a-z_]+)\{(?P<labels>(?:[a-z]+="(?:[^"\\\n]|\\[\\"n])*",?)+)\} (?P<value>[0-9.e+-]+)')


def read_metrics(text: str) -> dict[str, float]:
    """Every sample of an exposition that is as OpenMetrics 1.0 wants it."""
    *lines, end = text.removesuffix("\n").split("\n")
    assert end == "# EOF"
    family, kind, found, seen = "", "", {}, set[str]()
    for line in lines:
        if line.startswith("# TYPE "):
            _, _, family, kind = line.split(" ")
            assert family not in seen
            seen.add(family)
        elif line.startswith("# UNIT "):
            assert family.endswith("_" + line.split(" ")[3]), "the unit ends the name"
        elif line.startswith("# HELP "):
            assert line.split(" ")[2] == family
        else:
            sample = SAMPLE.fullmatch(line)
            assert sample, line
            assert sample["name"] == family + ("_total" if kind == "counter" else "")
            assert line.rpartition(" ")[0] not in found, "no sample twice"
            found[line.rpartition(" ")[0]] = float(sample["value"])
    return found


def test_metrics_are_open_metrics(user: User) -> None:
    found = read_metrics(ok(user.council("metrics")).out)
    assert found['council_sessions{workflow="debate"}'] == 2
    assert found['council_turns_total{workflow="debate"}'] == sum(
        row["turns"] for row in user.council("list", "--json").json
    )


def test_names_cannot_break_or_flood_the_metrics() -> None:
    sums = {"sessions": 1, "finished": 1, "turns": 2, "calls": 2, "failed_calls": 0, "input_tokens": None,
        "output_tokens": 3, "usd_at_least": 0.5, "seconds": 1e9}  # fmt: skip
    rows = [{"name": f'w{number}"\\\n{{}} # EOF', **sums} for number in range(500)] + [{"name": None, **sums}]
    found = read_metrics("\n".join(metrics.render(dict.fromkeys(("workflow", "outcome", "model"), rows))))
    assert sum(value for name, value in found.items() if name.startswith("council_sessions{")) == 501
    assert len(found) < 20 * 10 + 20
    assert json.dumps(sorted(found)).count("other") == 9


# ---- the views ----


@pytest.mark.golden
def test_the_page_draws_the_views_as_they_are(user: User) -> None:
    page = CODE / "docs" / "search.md"
    before, begin, rest = page.read_text("utf-8").partition("<!-- views -->\n")
    _, end, after = rest.partition("<!-- /views -->\n")
    drawn = "\n".join([*columns.draw(), "", *columns.explain(), ""])
    if os.environ.get("COUNCIL_UPDATE_GOLDEN"):
        page.write_text(before + begin + drawn + end + after, "utf-8")
    else:
        assert rest == drawn + end + after, "run scripts/update-golden"
    ok(user.council("index"))
    with sqlite3.connect(cache_of(user)) as db:
        views = [name for (name,) in db.execute("SELECT name FROM sqlite_schema WHERE type = 'view'")]
        found = {view: [name for _, name, *_ in db.execute(f"PRAGMA table_info({view})")] for view in views}
        assert found == {view: list(described) for view, described in columns.COLUMNS.items()}
        for view in views:
            db.execute(f"SELECT * FROM {view}").fetchall()
        (turn,) = db.execute("SELECT file FROM debate_turns WHERE id = 'first/02-challenges/engineer'").fetchone()
        assert "nobody tested the restore" in Path(turn).read_text("utf-8")
        assert db.execute("SELECT DISTINCT final_consensus_score, status FROM debate_sessions").fetchall() == [
            (0.75, "finished")
        ]


def test_a_review_s_findings_can_be_found_and_queried(user: User) -> None:
    review(user, user.write("sessions.md", SPEC))
    found = ok(user.council("search", "--json", "--in", "findings", "plain", "text")).json
    check("search", found)
    assert {hit["kind"] for row in found["sessions"] for hit in row["hits"]} == {"finding"}
    with sqlite3.connect(cache_of(user)) as db:
        rows = db.execute("SELECT finding, severity, line, ruling, seats FROM findings ORDER BY 1").fetchall()
    assert rows[0] == ("B1", "blocking", 9, "contested", '["architect","engineer"]')
    assert len(rows) > 4
