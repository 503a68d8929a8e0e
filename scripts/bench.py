"""Usage: scripts/bench [--repeats N] [NAME…]

Measures council against floors of the same run, on a Messages API of our own in another process, and says which targets
hold. Names: debate start commands many cache store plan begin files sandbox lessons; without any, all of them. Every
figure is the median of the repeats with the smallest and the largest. It judges this machine's program, never a model
or a network.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import os
import resource
import signal
import sqlite3
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from functools import partial
from itertools import product
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT))

LATENCY = 0.2
STREAM = 1.5
CRITICAL = 4 * LATENCY  # three rounds of four and a synthesis
PIECES = 15
WORDS = "Keep one database until the load of a year is measured, because a second store is a second thing to repair. "
REPLY = WORDS * 6 + "\n\n## Stance\nagree\n\n## Blocking\nnone\n"
SYNTHESIS = (
    "## Areas of convergence\n- One database.\n\n## Remaining disagreements\nnone\n\n## Recommended path\nOne.\n"
)
SAID = list(product(("initial", "responses", "closing"), ("Architect", "Designer", "Engineer", "Researcher")))
TOPIC = "Should we keep one database? " + "The report says that it holds the load of a whole year. " * 357
PROGRAM = "import sys; from council.cli import main; sys.exit(main())"
BARE = """
import anthropic
anthropic.Anthropic(api_key="k", base_url={url!r}, max_retries=0).messages.create(
    model="one", max_tokens=9, messages=[{{"role": "user", "content": "x"}}])
"""
CALLS = """
import asyncio, sys, time
async def main(call):
    began = time.perf_counter()
    for number in ({calls}):
        await asyncio.gather(*(call() for _ in range(number)))
    print(time.perf_counter() - began)
"""
SDK = (
    CALLS
    + """
import anthropic
http_client = anthropic.DefaultAioHttpClient() if {aiohttp} else None
client = anthropic.AsyncAnthropic(api_key="k", base_url={url!r}, max_retries=0, http_client=http_client)
async def call():
    async for _ in await client.messages.create(
        model="one", max_tokens=9, stream=True, messages=[{{"role": "user", "content": "x"}}]):
        pass
asyncio.run(main(call))
"""
)
ASYNCIO = (
    CALLS
    + """
import urllib.parse
url = urllib.parse.urlsplit({url!r})
body = b'{{"model": "one", "max_tokens": 9, "stream": true, "messages": [{{"role": "user", "content": "x"}}]}}'
head = f"POST /v1/messages HTTP/1.1\\r\\nhost: x\\r\\nx-api-key: k\\r\\ncontent-length: {{len(body)}}\\r\\n\\r\\n"
async def call():
    reader, writer = await asyncio.open_connection(url.hostname, url.port)
    writer.write(head.encode() + body)
    await reader.readuntil(b'"message_stop"')
    writer.close()
asyncio.run(main(call))
"""
)


@dataclass(frozen=True)
class Figure:
    """What was measured, one value a repeat. `target` is the most that the median may be; None is for a look alone."""

    name: str
    values: list[float]
    target: float | None = None
    unit: str = "x"

    @property
    def holds(self) -> bool:
        return self.target is None or statistics.median(self.values) <= self.target

    def __str__(self) -> str:
        low, middle, high = min(self.values), statistics.median(self.values), max(self.values)
        verdict = "" if self.target is None else f"<= {self.target:g} {'holds' if self.holds else 'MISSED'}"
        return f"{self.name:<64} {middle:8.3f} {self.unit:<3} [{low:.3f} … {high:.3f}]  {verdict}"


# ---- the stage ----


@contextmanager
def api(place: Path, latency: float = LATENCY, stream: float = 0.0, cache: bool = False) -> Iterator[str]:
    """The fake API in a process of its own; its address."""
    port, replies = place / f"port-{time.monotonic_ns()}", place / "replies.json"
    pieces = PIECES if stream else 1
    shape = {"latency": latency, "chunks": pieces, "delay": stream / pieces}
    chair = {"match": "# Now: the council synthesis", "text": WORDS * 6 + "\n\n" + SYNTHESIS, **shape}
    rules = [chair, *({"match": f"# Now: {now}.*as {seat}", "text": said(now, seat), **shape} for now, seat in SAID)]
    new = [{"match": match, "text": text, **shape} for match, text in replies_of_next()]
    replies.write_text(json.dumps([*new, *rules, {"text": REPLY, **shape}]))
    options = ["--port-file", str(port), "--replies", str(replies), "--log", str(place / "log"), *["--cache"] * cache]
    with subprocess.Popen([sys.executable, "-m", "tests.fakeapi", *options], cwd=ROOT) as process:
        try:
            while not port.exists():
                time.sleep(0.01)
            yield f"http://127.0.0.1:{port.read_text()}"
        finally:
            process.send_signal(signal.SIGTERM)


def replies_of_next() -> Iterator[tuple[str, str]]:
    """What answers the briefs of the new core, by the words that tell them apart."""
    result = {"Title": "One", "Answer": "Keep one.", "Follows": "R1", "Confidence": "high", "Next steps": "- Measure."}
    yield "## Follows", SYNTHESIS + "".join(f"\n## {name}\n{text}\n" for name, text in result.items())
    for seat in ("Architect", "Designer", "Engineer", "Researcher"):
        yield f"## Signs.*Reply now, as {seat}", f"The {seat} has read them. {WORDS * 6}\n\n## Signs\nR1\n"
        yield (
            f"Reply now, as {seat}",
            (f"The {seat} begins. {WORDS * 6}\n\n## Recommendation\nThe {seat} would keep one.\n\n## Normative\nno\n"),
        )


def said(now: str, seat: str) -> str:
    """No two replies are the same: what was said before is an echo, and no answer."""
    return f"The {seat.lower()} says in the {now} round: {REPLY}"


def environment(place: Path, url: str = "", settings: str = "") -> dict[str, str]:
    own = place / "config" / "council"
    own.mkdir(parents=True, exist_ok=True)
    (own / "Config.md").write_text(f"---\nretry: {{first_wait: 1}}\n{settings}\n---\n")
    found = {"HOME": str(place), "COUNCIL_HOME": str(place / "memory"), "XDG_CONFIG_HOME": str(place / "config")}
    return {**found, "PATH": os.defpath, "LANG": "C.UTF-8", "ANTHROPIC_API_KEY": "k", "ANTHROPIC_BASE_URL": url}


def python(code: str, *words: str, env: dict[str, str] | None = None) -> str:
    """A program in a fresh interpreter, as a user would start it; what it printed."""
    path = {**(env or {"PATH": os.defpath}), "PYTHONPATH": str(ROOT)}
    done = subprocess.run([sys.executable, "-c", code, *words], env=path, cwd=ROOT, capture_output=True, check=False)
    if done.returncode:
        sys.exit(f"{words}: {done.stderr.decode()}")
    return done.stdout.decode()


def seconds(work: Callable[[], object]) -> float:
    began = time.perf_counter()
    work()
    return time.perf_counter() - began


def newest(place: Path) -> Path:
    return max((place / "memory" / "STATE" / "council-sessions").iterdir(), key=lambda path: path.stat().st_mtime_ns)


def head(path: Path) -> dict[str, Any]:
    lines = path.read_text().split("\n---\n")[0].splitlines()[1:]
    return {key: json.loads(value) for key, _, value in (line.partition(": ") for line in lines)}


def spoken(session: Path) -> list[dict[str, Any]]:
    return [head(path) for path in sorted(session.rglob("turns/*/*.md"))]


# ---- what is measured ----


def debate(place: Path, repeats: int) -> Iterator[Figure]:
    """From the first call to the last derived file, and beside it bare calls in the same shape."""
    walls, floors, bare = [], [], []
    with api(place) as url:
        env = environment(place, url)
        for _ in range(repeats):
            walls.append(loop_seconds(place, env))
            floors.append(float(python(SDK.format(url=url, calls="4, 4, 4, 1", aiohttp=False))))
            bare.append(float(python(ASYNCIO.format(url=url, calls="4, 4, 4, 1"))))
            (place / "log").unlink()
    yield Figure(
        "a  debate of 4x3+1, every file fsynced / critical path 0.8 s", [wall / CRITICAL for wall in walls], 1.06
    )
    yield Figure("   the same calls through the bare SDK / critical path", [floor / CRITICAL for floor in floors])
    yield Figure("   the same calls by bare asyncio / critical path", [floor / CRITICAL for floor in bare])
    yield Figure("   debate / the bare SDK's calls", [wall / floor for wall, floor in zip(walls, floors, strict=True)])


def loop_seconds(place: Path, env: dict[str, str]) -> float:
    """From the first call to the end of the last file: the loop, without the start of the program."""
    python(PROGRAM, "run", "-q", "--speaker", "anthropic", "--rounds", "3", "Shall we?", env=env)
    session = newest(place)
    turns = spoken(session)
    assert len(turns) == 13, f"{len(turns)} turns in place of 13"
    return (session / "metadata.json").stat().st_mtime - arrived(place)


def arrived(place: Path) -> float:
    """When the first request since the last look was there; the log is put back to nothing."""
    log = place / "log"
    first = json.loads(log.read_text().partition("\n")[0])
    log.unlink()
    return float(first["at"])


def start(place: Path, repeats: int) -> Iterator[Figure]:
    """Until the first request is there; a request that is refused ends the program at once."""
    ours, floors = [], []
    with api(place, latency=0.0) as url:
        env = environment(place, url)
        for _ in range(repeats):
            began = time.time()
            python(PROGRAM, "run", "-q", "--speaker", "anthropic", "--rounds", "3", "Shall we?", env=env)
            ours.append(arrived(place) - began)
            began = time.time()
            python(BARE.format(url=url))
            floors.append(time.time() - began)
            (place / "log").unlink()
    ratios = [one / floor for one, floor in zip(ours, floors, strict=True)]
    yield Figure("b  process start to the first call / import of the SDK + one call", ratios, 1.15)
    yield Figure("   the same in seconds", ours, unit="s")


def commands(place: Path, repeats: int) -> Iterator[Figure]:
    env = environment(place)
    script = place / "script.json"
    script.write_text(json.dumps(replayed()))
    python(PROGRAM, "run", "-q", "--speaker", "replay", "--from", str(script), "--rounds", "3", "Shall we?", env=env)
    for words in (["--help"], ["list"], ["status"]):
        added = []
        for _ in range(repeats):
            bare = seconds(partial(python, "pass"))
            added.append(seconds(partial(python, PROGRAM, *words, env=env)) - bare)
        yield Figure(f"c  council {words[0]} minus a bare interpreter", added, 0.15, "s")


def replayed() -> dict[str, str]:
    steps = {"initial": "01-positions", "responses": "02-challenges", "closing": "03-closing"}
    words = {f"{steps[now]}/{seat.lower()}": said(now, seat) for now, seat in SAID}
    return {**words, "04-synthesis-r01/chair": WORDS + "\n\n" + SYNTHESIS}


def many(place: Path, repeats: int) -> Iterator[Figure]:
    """A hundred debates in one process, with one speaker for all."""
    walls, sizes = [], []
    with api(place) as url:
        env = environment(place, url)
        for _ in range(repeats):
            wall, size = python(MANY, env=env).split()
            walls.append(float(wall) / CRITICAL)
            sizes.append(float(size))
        shape = {"url": url, "calls": "400, 400, 400, 100"}
        usual, aiohttp, bare = (
            [float(python(code.format(**shape, aiohttp=fast))) / CRITICAL for _ in range(repeats)]
            for code, fast in ((SDK, False), (SDK, True), (ASYNCIO, False))
        )
    yield Figure("d  100 debates at once in one process / critical path", walls, 2.5)
    yield Figure("   peak memory of it", sizes, 150, "MB")
    yield Figure("   the same 1,300 calls through the bare SDK, aiohttp / critical path", aiohttp)
    yield Figure("   the same through the bare SDK, its usual transport", usual)
    yield Figure("   the same by bare asyncio", bare)


MANY = "import runpy; runpy.run_path('scripts/bench.py', run_name='many')"


async def hundred() -> None:
    """What `many` runs in a process of its own: prints the seconds and the peak memory in MB."""
    from contextlib import ExitStack
    from dataclasses import replace

    from council.config import settings as config
    from council.runner import start
    from council.runner.debate import NoAudience
    from council.runner.loop import Runner
    from council.speakers.anthropic import AnthropicSpeaker

    settings = replace(config.load(), concurrency=1000)
    speaker = AnthropicSpeaker(many=True)
    sessions = [start.begin(start.Request("Shall we?", options={"three_rounds": True}), settings) for _ in range(100)]
    with ExitStack() as held:
        for session in sessions:
            held.enter_context(session.hold())
        runners = [Runner(one, lambda _: speaker, settings, NoAudience()) for one in sessions]
        began = time.perf_counter()
        await asyncio.gather(*(runner.run(settings.archive) for runner in runners))
        wall = time.perf_counter() - began
    await speaker.close()
    print(wall, resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024)


def cache(place: Path, repeats: int) -> Iterator[Figure]:
    """The API begins to answer after 200 ms and streams for 1.5 s, as real models do."""
    topic = place / "topic.md"
    topic.write_text(TOPIC)
    for name, words in (("the default tiers, two models", []), ("one model", ["--tier-map", "haiku=sonnet"])):
        tokens, money, walls = [], [], []
        for _ in range(repeats):
            cached, naive = (bill(place, least, words, topic) for least in (2000, 999_999_999))
            tokens.append(cached[0] / naive[0])
            money.append(cached[1] / naive[1])
            walls.append(cached[2] / naive[2])
        yield Figure(f"e  input tokens billed / no caching ({name})", tokens, 0.30)
        yield Figure("   price of the input / no caching", money)
        yield Figure("   wall time / everybody at once", walls, 1.10)


PRICES = {"claude-sonnet-5-5": 2.0, "claude-haiku-5-5": 0.10}


def bill(place: Path, least: int, words: list[str], topic: Path) -> tuple[float, float, float]:
    """Weighted input tokens, their price, and the seconds of the loop."""
    with api(place, stream=STREAM, cache=True) as url:
        env = environment(place, url, f"cache_from: {least}")
        options = ["-q", "--speaker", "anthropic", "--rounds", "3", "--yes", *words, "--file", str(topic)]
        python(PROGRAM, "run", *options, "Shall we?", env=env)
        session = newest(place)
    turns = spoken(session)
    weighed = [turn["input"] + 1.25 * turn["cache_write"] + 0.1 * turn["cache_read"] for turn in turns]
    price = sum(weight * PRICES[turn["asked"]] for weight, turn in zip(weighed, turns, strict=True))
    return sum(weighed), price, (session / "metadata.json").stat().st_mtime - arrived(place)


def store(place: Path, repeats: int) -> Iterator[Figure]:
    """One turn into the record, and the same bytes by bare system calls."""
    from council.config import settings as config
    from council.record.turn_file import encode
    from council.runner import loop
    from council.runner import start as begin
    from council.speakers.base import Spoken

    os.environ.update(environment(place))
    settings = config.load()
    ours, floors = [], []
    for _ in range(repeats):
        session = begin.begin(begin.Request("Shall we?"), settings)
        with session.hold():
            for due in session.plan().due:
                brief = loop.prepare(session, settings, due)
                session.write_briefs({due.id: brief.text})
                receipt = loop.receipt(session, due, brief.model, "human", Spoken(REPLY), now(), 0.0)
                ours.append(1000 * seconds(partial(session.record, receipt, REPLY)))
                bare = partial(bare_store, place / due.seat.name, encode(receipt, REPLY))
                floors.append(1000 * seconds(bare))
    yield Figure("f  a stored turn", ours, 2.0, "ms")
    yield Figure("   the same bytes by bare write, fsync, rename, fsync", floors, unit="ms")
    yield Figure("   stored turn / bare", [one / floor for one, floor in zip(ours, floors, strict=True)])


def plan(_: Path, repeats: int) -> Iterator[Figure]:
    """A plan over two hundred turns of which one is new, and the reading of that one. CPU, so load changes little."""
    from dataclasses import replace

    from council.engine import planner
    from council.replies import parse
    from tests import long_debate

    workflow, said = long_debate.debate(200)
    reply, newest = workflow.phases[1].steps[0].reply, [*said][-1]
    ours, floors = [], []
    for number in range(repeats):
        turn = said[newest] = replace(said[newest], body=f"{said[newest].body}\n\nOne thing more: {number}.")
        ours.append(1000 * cpu_seconds(partial(planner.plan, workflow, said)))
        floors.append(1000 * cpu_seconds(partial(parse.read.__wrapped__, reply, turn.body, turn.brief)))
    yield Figure("g  a plan over 200 turns, one of them new", ours, 10.0, "ms")
    yield Figure("   reading the new reply", floors, unit="ms")
    yield Figure("   a plan / reading one reply", [one / floor for one, floor in zip(ours, floors, strict=True)], 60)


def begin(place: Path, repeats: int) -> Iterator[Figure]:
    """The CPU that a session's beginning takes in a process that has begun others, and the same bytes by bare calls."""
    from council.config import settings as config
    from council.runner import start

    os.environ.update(environment(place))
    settings, ours, floors = config.load(), [], []
    start.begin(start.Request("Shall we?"), settings)
    for number in range(repeats):
        began = time.process_time()
        session = start.begin(start.Request(f"Shall we, {number}?"), settings)
        ours.append(1000 * (time.process_time() - began))
        files = [path.read_bytes() for path in session.folder.iterdir() if path.is_file()]
        bare = [partial(bare_store, place / f"{number}-{at}", data) for at, data in enumerate(files)]
        floors.append(1000 * cpu_seconds(lambda bare=bare: [store() for store in bare]))  # type: ignore[misc]
    yield Figure("h  the beginning of a session, CPU", ours, unit="ms")
    yield Figure("   the same bytes by bare write, fsync, rename, fsync, CPU", floors, unit="ms")


def files(_: Path, repeats: int) -> Iterator[Figure]:
    """A reply with as many files as one may have, and as many bytes."""
    from council.replies import parse
    from council.text import mark_code
    from council.workflow.model import Kind

    text = "    value = compute(first, second)  # as code usually is\n" * 86
    parts = (f"src/module_{number}.py\n```python\n{text}```" for number in range(200))
    body, reply = "\n\n".join(["## Solution", *parts]), (("solution", Kind("files")),)
    ours, floors = [], []
    for _number in range(repeats):
        ours.append(1000 * cpu_seconds(partial(parse.read.__wrapped__, reply, body, "")))
        floors.append(1000 * cpu_seconds(lambda: list(mark_code(body.split("\n")))))
    yield Figure(f"i  200 files of {len(body) / 1e6:.1f} MB, read from a reply, CPU", ours, 100.0, "ms")
    yield Figure("   finding the fences in the same lines", floors, unit="ms")
    yield Figure("   read / fences found", [one / floor for one, floor in zip(ours, floors, strict=True)], 25)


SEATS, ROUNDS = [f"m{number:02}" for number in range(1, 13)], 50
LONG = "import runpy; runpy.run_path('scripts/bench.py', run_name='long')"
TABLE = f"""---
name: long
seats: {{members: [{", ".join(SEATS)}]}}
phases:
  - {{name: positions, sees: nothing, reply: {{recommendation: text}}}}
  - {{name: challenges, rounds: [{ROUNDS - 1}, {ROUNDS - 1}], reply: {{signs: vote, blocking: list ?}}}}
---
"""


def long(place: Path, repeats: int) -> Iterator[Figure]:
    """A debate of twelve seats and fifty rounds in the record of the new core. Each brief repeats what was said."""
    found: dict[str, list[float]] = {}
    for number in range(repeats):
        root = place / str(number)
        for name, value in json.loads(python(LONG, str(root))).items():
            found.setdefault(name, []).append(value)
        data = [path.read_bytes() for path in sorted(root.rglob("*.md"))]
        targets = [root / f"floor-{at}" for at in range(len(data))]
        floor = seconds(lambda pairs=(targets, data): [*map(bare_store, *pairs)])  # type: ignore[misc]
        found.setdefault("floor", []).append(floor)
    ratios = [one / floor for one, floor in zip(found["wall"], found["floor"], strict=True)]
    yield Figure("l  12 seats, 50 rounds: briefs and turns written, a plan after each", found["wall"], unit="s")
    yield Figure("   the same files by bare write, fsync, rename, fsync", found["floor"], unit="s")
    yield Figure("   written and planned / bare", ratios, 2.0)
    yield Figure("   a plan after a turn, CPU", found["plan"], 3.0, "ms")
    yield Figure("   the last ten rounds / the first ten, CPU with longer briefs", found["growth"], 4.0)
    yield Figure("   the whole debate planned again from its files", found["again"], 2.0, "s")
    yield Figure("   peak memory", found["memory"], 80, "MB")
    yield Figure("   briefs on the disk", found["briefs"], 20, "MB")


def hold_long(root: Path) -> None:
    """What `long` runs in a process of its own: prints its figures as JSON."""
    from council.next.record.create import Birth, create
    from council.next.record.session import Session
    from council.next.record.turn_file import Receipt

    program = {"options": {}, "gates": [], "members": SEATS, "personas": {}, "templates": {}}
    words, plans, rounds = WORDS * 10, 0.0, []
    with create(root, Birth(TABLE, "Shall we?", program, {"members": SEATS}), "long") as session:
        began = time.perf_counter()
        while batch := session.advance().due:
            cpu = time.process_time()
            for due in batch:
                shared = "\n\n".join(f"{seen.turn.id}\n{seen.turn.text}" for seen in due.sees)
                asked = session.write_brief(due.id, shared, f"You are {due.seat.name}.")
                answer = f"## {next(iter(due.step.reply)).title()}\nundecided: {due.id} would wait."
                body = f"{due.id}: {words}\n\n{answer}\n".encode()
                receipt = Receipt(due.id, due.seat.name, due.step.name, due.round, "replay", brief=asked, usd=0.0)
                session.record(receipt, body)
                before = time.process_time()
                session.advance()
                plans += time.process_time() - before
            rounds.append(time.process_time() - cpu)
        wall = time.perf_counter() - began
    memory = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    again = seconds(lambda: Session(root / "long").head)
    briefs = sum(path.stat().st_size for path in (root / "long" / "briefs").rglob("*.md")) / 1e6
    growth = sum(rounds[-10:]) / sum(rounds[:10])
    plan = 1000 * plans / len(SEATS) / ROUNDS
    figures = {"wall": wall, "plan": plan, "growth": growth, "again": again, "memory": memory, "briefs": briefs}
    print(json.dumps(figures))


def sandbox(_: Path, repeats: int) -> Iterator[Figure]:
    """The start of a trial and bubblewrap alone, in turns: load slows down both."""
    from tests import starts

    for level, cgroups in (("a control group", True), ("a watchdog", False)):
        found = [starts.measure_starts(20, cgroups) for _ in range(repeats)]
        ours = [statistics.median(one.ours) for one in found]
        floors = [statistics.median(one.bare) for one in found]
        yield Figure(f"j  the start of a trial, with {level}", ours, unit="ms")
        yield Figure("   bubblewrap alone", floors, unit="ms")
        over = [one - floor for one, floor in zip(ours, floors, strict=True)]
        yield Figure("   a trial over bubblewrap alone", over, 30, "ms")


def lessons(place: Path, repeats: int) -> Iterator[Figure]:
    """A question to 10,000 lessons, and the same by the bare query of FTS5. CPU, so load changes little."""
    from council.lessons import index
    from council.lessons.words import choose
    from tests import learned

    os.environ["XDG_CACHE_HOME"] = str(place / "cache")
    known, questions = learned.fill(place / "LESSONS", 10_000, 20 * repeats)
    os.utime(known.folder, (1, 1))  # at rest, as it is unless a session has just ended
    made = seconds(partial(known.search, choose(questions[0]), 3))
    bare = sqlite3.connect(index.place(known.folder))
    query = "SELECT rowid FROM texts WHERE texts MATCH ? ORDER BY bm25(texts) LIMIT 3"
    ours, floors = [], []
    for asked in map(choose, questions):
        ours.append(1000 * cpu_seconds(partial(known.search, asked, 3)))
        floors.append(1000 * cpu_seconds(partial(bare.execute, query, (" OR ".join(asked),))))
    yield Figure("k  the index of 10,000 lessons", [made], 2.0, "s")
    yield Figure("   a question of 25 words to them", ours, 30.0, "ms")
    yield Figure("   the bare query of FTS5", floors, unit="ms")
    yield Figure("   a question / the bare query", [one / floor for one, floor in zip(ours, floors, strict=True)], 4.0)


NEXT = "import sys; from council.next.cli import main; sys.exit(main())"
NEXT_MANY = "import runpy; runpy.run_path('scripts/bench.py', run_name='next-many')"


def cores(place: Path, repeats: int) -> Iterator[Figure]:
    """The new core beside the old one, turn by turn, so that both meet the same machine."""
    programs = {"old": PROGRAM, "new": NEXT}
    with api(place, latency=0.0) as url:
        found = {
            name: [call_once(place / name, place, url, program) for _ in range(repeats)]
            for name, program in programs.items()
        }
    for name, runs in found.items():
        yield Figure(
            f"m  {name}: process start to the first request",
            [run[0] for run in runs],
            0.35 if name == "new" else None,
            "s",
        )
        yield Figure(
            f"   {name}: CPU of a whole run of 9 turns", [run[1] for run in runs], 0.5 if name == "new" else None, "s"
        )
    env = environment(place / "looks")
    python(NEXT_LIST, env=env)
    for words, target in ((["--help"], 0.05), (["list"], 0.12), (["status"], 0.12)):
        added = []
        for _ in range(repeats):
            bare = seconds(partial(python, "pass"))
            added.append(seconds(partial(python, NEXT, *words, env=env)) - bare)
        yield Figure(f"   new: council {words[0]} at 500 sessions, minus a bare interpreter", added, target, "s")
    for name, many in (("old", MANY), ("new", NEXT_MANY)):
        with api(place) as url:
            pairs = [python(many, env=environment(place / f"many-{name}", url)).split() for _ in range(repeats)]
        yield Figure(
            f"   {name}: 100 debates at once in one process / critical path",
            [float(wall) / CRITICAL for wall, _ in pairs],
        )
        yield Figure(f"   {name}: peak memory of it", [float(size) for _, size in pairs], unit="MB")
    bare = seconds(partial(crowd, "pass", [], environment(place / "bare")))
    for name, program in programs.items():
        walls = []
        for number in range(repeats):
            home = place / f"crowd-{name}-{number}"
            env = environment(home)
            (home / "script.json").write_text(json.dumps(replayed_by(name)))
            words = ["run", "-q", "--speaker", "replay", "--from", str(home / "script.json"), "Shall we?"]
            walls.append(seconds(partial(crowd, program, words, env)) / bare)
            assert len([*(home / "memory" / "STATE" / "council-sessions").glob("2*")]) == 100
        yield Figure(f"   {name}: 100 processes in one home / 100 bare interpreters", walls)


def call_once(home: Path, place: Path, url: str, program: str) -> tuple[float, float]:
    """Seconds until the first request of a debate is there, and the CPU that the whole process takes."""
    env, before = environment(home, url), resource.getrusage(resource.RUSAGE_CHILDREN)
    began = time.time()
    python(program, "run", "-q", "--speaker", "anthropic", "Shall we?", env=env)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return arrived(place) - began, sum(after[:2]) - sum(before[:2])


def crowd(program: str, words: list[str], env: dict[str, str]) -> None:
    path = {**env, "PYTHONPATH": str(ROOT)}
    command = [sys.executable, "-c", program, *words]
    null = subprocess.DEVNULL
    running = [subprocess.Popen(command, env=path, cwd=ROOT, stdout=null, stderr=null) for _ in range(100)]
    assert sum(process.wait() for process in running) == 0


def replayed_by(name: str) -> dict[str, str]:
    if name == "old":
        return replayed()
    (_, chair), *members = replies_of_next()
    steps = [
        (member, step)
        for member in ("architect", "designer", "engineer", "researcher")
        for step in ("02-challenges", "01-positions")
    ]
    words = {f"{step}/{member}": text for (member, step), (_, text) in zip(steps, members, strict=True)}
    return {**words, "04-synthesis/chair": chair}


NEXT_LIST = """
from council.next.config import settings as config
from council.next.runner.prepare import Request, prepare
settings = config.load()
for number in range(500):
    with prepare(Request(f"Shall we, {number}?"), settings):
        pass
"""


async def next_hundred() -> None:
    """What `cores` runs in a process of its own for the new core: prints the seconds and the peak memory in MB."""
    from contextlib import ExitStack
    from dataclasses import replace

    from council.next.config import settings as config
    from council.next.runner.loop import Run, hold
    from council.next.runner.prepare import Request, prepare
    from council.next.speakers.api import Api

    settings = replace(config.load(), concurrency=1000)
    speaker, request = Api(settings), Request("Shall we?", options={"three_rounds": True})
    with ExitStack() as held:
        sessions = [held.enter_context(prepare(request, settings)) for _ in range(100)]
        began = time.perf_counter()
        await asyncio.gather(*(hold(Run(one, speaker, settings)) for one in sessions))
        wall = time.perf_counter() - began
    await speaker.close()
    print(wall, resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024)


def cpu_seconds(work: Callable[[], object]) -> float:
    began = time.process_time()
    work()
    return time.process_time() - began


def now() -> Any:
    from datetime import UTC, datetime

    return datetime.now(UTC)


def bare_store(path: Path, data: bytes) -> None:
    draft = path.with_suffix(".new")
    for target, flags in ((draft, os.O_WRONLY | os.O_CREAT), (path.parent, os.O_RDONLY)):
        descriptor = os.open(target, flags, 0o600)
        if target is draft:
            os.write(descriptor, data)
        else:
            draft.rename(path)
        os.fsync(descriptor)
        os.close(descriptor)


ALL: dict[str, Callable[[Path, int], Iterator[Figure]]] = {
    "debate": debate,
    "start": start,
    "commands": commands,
    "many": many,
    "cache": cache,
    "store": store,
    "plan": plan,
    "begin": begin,
    "files": files,
    "long": long,
    "cores": cores,
    "sandbox": sandbox,
    "lessons": lessons,
}


def main() -> int:
    parser = argparse.ArgumentParser(
        prog="scripts/bench", description=__doc__, formatter_class=argparse.RawTextHelpFormatter
    )
    parser.add_argument("names", nargs="*", metavar="NAME")
    parser.add_argument("--repeats", type=int, default=5)
    options = parser.parse_args()
    if unknown := set(options.names) - set(ALL):
        parser.error(f"no such measurement: {', '.join(sorted(unknown))}; there are {', '.join(ALL)}")
    missed = 0
    print(f"{'what, with its floor':<64} {'median':>8}     [least … most]  target")
    for name in options.names or ALL:
        with tempfile.TemporaryDirectory(prefix="council-bench-") as place:
            for figure in ALL[name](Path(place), options.repeats):
                print(figure, flush=True)
                missed += not figure.holds
    print(f"\n{missed or 'no'} target{'' if missed == 1 else 's'} missed")
    print("Latency: 200 ms to the first byte; `cache` streams for 1.5 s after that, the others answer in one piece.")
    return int(missed > 0)


if __name__ == "many":
    asyncio.run(hundred())
if __name__ == "next-many":
    asyncio.run(next_hundred())
if __name__ == "long":
    hold_long(Path(sys.argv[1]))
if __name__ == "__main__":
    sys.exit(main())
