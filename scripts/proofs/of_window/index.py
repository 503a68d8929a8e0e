"""The index: what it costs at 5,000 sessions, and what kills, other writers and changed bytes do to it."""

from __future__ import annotations

import os
import resource
import shutil
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import closing
from pathlib import Path

from generate_sessions import generate
from prove import ROOT, Outcome

from council.index.counts import count
from council.index.query import Filters, Index
from tests import indexing

SESSIONS = int(os.environ.get("COUNCIL_PROOF_SESSIONS", "5000"))
TIMES = int(os.environ.get("COUNCIL_PROOF_ROUNDS", "50"))
KILLS, WRITERS, SLICES = 4 * TIMES, 8, 4
STRIDE = int(os.environ.get("COUNCIL_PROOF_STRIDE", "1"))  # 1 changes every byte
REPEATS = 7
SEARCHES = ("redis case", "untested restore", "the", "the we", "ka*")
Row = tuple[str, str, str, str, int, int]


def parts() -> list[str]:
    return ["figures", "kills", "writers", *(f"bytes, {part + 1} of {SLICES}" for part in range(SLICES))]


def prove(part: str) -> Outcome:
    with tempfile.TemporaryDirectory(prefix="council-index-") as place:
        folder = Path(place)
        if part.startswith("bytes"):
            return Outcome(list(flips(folder, int(part.split()[1]) - 1)))
        return Outcome(list({"figures": figures, "kills": kills, "writers": writers}[part](folder)))


def figures(place: Path) -> Iterator[Row]:
    """CPU seconds are of this process, or of a process over those of an interpreter that does nothing."""
    root, path = place / "STATE" / "council-sessions", place / "cache" / "index.sqlite"
    generate(SESSIONS, root)
    what = f"{SESSIONS:,} sessions"
    with closing(Index([root], path)) as index:
        spent = cpu(index.refresh)
        turns = index.store.rows("SELECT count(*) FROM turn")[0][0]
        what += f", {turns:,} turns"
        yield bound("a build costs little", what, "at most 3 ms of CPU a session", spent / SESSIONS * 1000, 3.0, "ms")
        size = path.stat().st_size / turns / 1024
        yield bound("it is small", what, "at most 1 KiB a turn", size, 1.0, "KiB")
        yield bound("nothing new costs little", what, "at most 0.25 s of CPU", best(index.refresh), 0.25, "s")
        index.page()  # the first time, the files of the rows are read
        yield bound("a list is quick", "30 rows", "at most 0.1 s of CPU", best(index.page), 0.1, "s")
        for typed in SEARCHES:
            filters = Filters(typed)
            index.page(filters, limit=10)
            spent = best(lambda filters=filters: index.page(filters, limit=10))  # type: ignore[misc]
            yield bound("a search is quick", typed, "at most 0.2 s of CPU", spent, 0.2, "s")
        for by in ("workflow", "model"):
            spent = best(lambda by=by: count(index, by))  # type: ignore[misc]
            yield bound("sums are quick", f"by {by}", "at most 0.2 s of CPU", spent, 0.2, "s")
    yield from commands(place, what)


def commands(place: Path, what: str) -> Iterator[Row]:
    """Whole commands, in processes of their own."""
    env = {"COUNCIL_HOME": str(place), "XDG_CACHE_HOME": str(place / "cached"), "HOME": str(place), "PATH": os.defpath}
    floor = min(spawn([sys.executable, "-c", "pass"], env) for _ in range(REPEATS))
    for words in (["list"], ["search", "redis", "case"], ["stats"]):
        command = [sys.executable, "-m", "council", *words]
        spawn(command, env)
        spent = min(spawn(command, env) for _ in range(REPEATS)) - floor
        tried = f"council {' '.join(words)}: {what}"
        yield bound("a command answers at once", tried, "at most 0.35 s over an interpreter", spent, 0.35, "s")


def spawn(command: list[str], env: dict[str, str]) -> float:
    began = cpu_of(resource.RUSAGE_CHILDREN)
    subprocess.run(command, cwd=ROOT, env=env, stdout=subprocess.DEVNULL, check=True)
    return cpu_of(resource.RUSAGE_CHILDREN) - began


def cpu_of(who: int) -> float:
    used = resource.getrusage(who)
    return used.ru_utime + used.ru_stime


def cpu(work: Callable[[], object]) -> float:
    began = time.process_time()
    work()
    return time.process_time() - began


def best(work: Callable[[], object]) -> float:
    return min(cpu(work) for _ in range(REPEATS))


def bound(promise: str, tried: str, expected: str, seen: float, most: float, unit: str) -> Row:
    return promise, tried, expected, f"{seen:.2f} {unit}", 1, int(seen <= most)


def kills(place: Path) -> Iterator[Row]:
    """A build is killed at a random moment, and the next one completes it."""
    root, path = _sixty(place)
    whole = indexing.clean(root, path)
    took = statistics.median(_wall(root, path) for _ in range(3))
    held = hit = 0
    for after in indexing.moments(KILLS, took):
        indexing.remove(path)
        hit += indexing.kill_once(root, path, after)
        indexing.run(indexing.build(root, path))
        held += indexing.dump(path) == whole
    expected = "after the next one, every row and word as in an index that nobody disturbed"
    tried = f"kill -9 at a random moment; {hit} hit it at work"
    yield "a killed build is completed", tried, expected, f"{held} equal", KILLS, held


def _wall(root: Path, path: Path) -> float:
    indexing.remove(path)
    began = time.monotonic()
    indexing.run(indexing.build(root, path))
    return time.monotonic() - began


def writers(place: Path) -> Iterator[Row]:
    root, path = _sixty(place)
    whole, held, wrong = indexing.clean(root, path), 0, 0
    for _ in range(TIMES):
        indexing.remove(path)
        failed = indexing.write_at_once(root, path, WRITERS)
        wrong += bool(failed)
        held += not failed and indexing.dump(path) == whole
    expected = "no error, and one index as if there had been one writer"
    seen = f"{held} equal, {wrong} with errors"
    yield "first builds at once agree", f"{WRITERS} processes", expected, seen, TIMES, held


def _sixty(place: Path) -> tuple[Path, Path]:
    generate(60, place / "sessions", words=20)
    (place / "cache").mkdir(mode=0o700)
    return place / "sessions", place / "cache" / "index.sqlite"


def flips(place: Path, part: int) -> Iterator[Row]:
    """A part of the bytes, so that several processes share them. One complete and one unfinished session, and a file
    with small pages, so that there are not too many bytes."""
    generate(20, place / "all", names=(), words=6)
    path = place / "cache" / "index.sqlite"
    path.parent.mkdir(mode=0o700)
    generated = sorted((place / "all").iterdir())
    for folder in (generated[0], generated[-1]):
        shutil.copytree(folder, place / "few" / folder.name)
    indexing.clean(place / "few", path, small=True)
    size = path.stat().st_size
    found = indexing.flip_bytes(place / "few", path, range(part * STRIDE, size, SLICES * STRIDE), "restore")
    which = f"every {SLICES * STRIDE}th byte, from the {part * STRIDE + 1}th on,"
    expected = "no error, and every row and passage as the files say it"
    seen = found.wrong[0] if found.wrong else "nothing else"
    held = found.tried - len(found.wrong)
    yield "no changed byte is believed", f"{which} of {size:,}, one at a time", expected, seen, found.tried, held
