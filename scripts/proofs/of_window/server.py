"""The server: it refuses what is hostile, records each answer once, loses no word, and costs next to nothing."""

from __future__ import annotations

import os
import re
import resource
import signal
import socket
import statistics
import subprocess
import tempfile
import threading
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

from prove import Outcome

from council.record.live import LiveFile
from council.web.server import SLOWEST_HEAD
from tests import gates
from tests.fakeapi import FakeApi
from tests.gates import GATE
from tests.helpers import Table, User, disputed
from tests.hostile_requests import REQUESTS
from tests.webserver import Reader, WebServer

SESSIONS = int(os.environ.get("COUNCIL_PROOF_SESSIONS", "5000"))
GATES = int(os.environ.get("COUNCIL_PROOF_ROUNDS", "50"))
KILLS, VIEWERS, WORDS, SILENT = 60, 20, 200, 300
COLD = {"PYTHONNOUSERSITE": "1"}  # with it, no warm process forks what is measured: that would count as its own
APPROVED = {"decision": "approve", "reason": "It is tested."}


@contextmanager
def home() -> Iterator[Path]:
    with tempfile.TemporaryDirectory(prefix="council-window-") as folder:
        yield Path(folder)


def prove_hostile() -> Outcome:
    """Over raw sockets."""
    rows: list[tuple[str | int, ...]] = []
    with home() as folder, WebServer(User(folder)) as server:
        seen: dict[str, list[bool]] = {}
        for one in REQUESTS:
            answer = server.send_raw(one.encode(server))
            status = re.match(rb"HTTP/1.1 (\d{3}) ", answer)
            refused = status is not None and int(status[1]) in one.refused
            seen.setdefault("/".join(map(str, one.refused)), []).append(refused)
        for expected, held in seen.items():
            rows.append(("refusal", "hostile requests over raw sockets", expected, expected, len(held), sum(held)))
        rows.append(prove_slow(server))
    return Outcome(rows)


def prove_slow(server: WebServer) -> tuple[str | int, ...]:
    """Connections that never finish their first lines, while somebody else asks."""
    wires = [socket.create_connection(("127.0.0.1", server.port)) for _ in range(SILENT)]
    began, closed = time.monotonic(), 0
    for wire in wires:
        with suppress(ConnectionError):  # closed already
            wire.sendall(b"GET / HTTP/1.1\r\nHost: ")
    answered = server.ask("GET", "/api/sessions").status == 200
    for wire in wires:
        wire.settimeout(max(0.1, SLOWEST_HEAD * 2.5 - (time.monotonic() - began)))
        try:
            closed += wire.recv(1) == b""
        except ConnectionError:
            closed += 1
        except TimeoutError:
            pass
        wire.close()
    expected = f"closed within {SLOWEST_HEAD * 2.5:g} s; others are answered"
    return (
        "slow-loris",
        f"{SILENT} connections that never end",
        expected,
        f"{closed} closed",
        SILENT,
        closed * answered,
    )


def prove_gates() -> Outcome:
    """Two clients, `council record` and the answer desk of a terminal's run, at once on one gate."""
    held, wrong = 0, []
    for number in range(GATES):
        with home() as folder:
            user = gates.make(folder)
            with WebServer(user) as server, gates.waiting(user) as run:
                id = user.session.name
                with ThreadPoolExecutor(3) as pool:
                    asked = [pool.submit(post_answer, server, id, f"reader {one}") for one in range(2)]
                    said = ("--answer", "decision=approve", "--answer", "reason=x", "--by", "recorder")
                    recorded = pool.submit(user.process, "record", id, GATE, *said)
                    answers, third = [one.result() for one in asked], recorded.result()
                run.kill()
            winner = gates.receipts(user)[GATE].by
            others = [by for status, by in answers if status == 409]
            won = sum(status == 200 for status, _ in answers) + (winner == "recorder")
            good = (
                won == 1 and all(by == winner for by in others) and (winner == "recorder" or str(winner) in third.text)
            )
            held += good
            if not good:
                wrong.append(f"gate {number}: {winner}: {answers} {third.text[:200]}")
    row = (
        "one answer",
        "two clients and `council record` at once",
        "one turn; others are told who",
        f"{held}",
        GATES,
        held,
    )
    return Outcome([row], wrong)


def post_answer(server: WebServer, id: str, by: str) -> tuple[int, str]:
    body = {"turn": GATE, "answers": APPROVED, "by": by}
    answer = server.ask("POST", f"/api/sessions/{id}/answers", body)
    return answer.status, str(answer.json.get("by"))


def prove_kills() -> Outcome:
    """The server is killed at moments that are spread over an answer; then the answer is given again."""
    held, early, wrong = 0, 0, []
    for number in range(KILLS):
        with home() as folder:
            user = gates.make(folder)
            user.council("start", "-w", "gated", "--id", "gated", "Shall we?")
            with WebServer(user) as server:
                server.ask("GET", "/api/gates")
                killer = threading.Timer(number * 0.2 / KILLS, os.kill, (server.process.pid, signal.SIGKILL))
                killer.start()
                try:
                    said_ok = post_answer(server, "gated", "first")[0] == 200
                except OSError:
                    said_ok = False
                killer.join()
            turns = len(list((user.session / "turns").rglob("human.md")))
            early += not turns
            with WebServer(user) as server:
                again = post_answer(server, "gated", "second")
            after = len(list((user.session / "turns" / "01-gate").glob("*.md")))
            expected = (409, "first") if turns else (200, "second")
            good = turns == 1 or not said_ok
            good = good and after == 1 and again == expected
            held += good
            if not good:
                wrong.append(f"kill {number}: ok said: {said_ok}, turns: {turns}, then {again}")
    seen = f"{KILLS - early} were recorded, {early} were not"
    row = ("killed", "kill -9 of the server during an answer", "never two turns, no ok without one", seen, KILLS, held)
    return Outcome([row], wrong)


def prove_latency() -> Outcome:
    """Words that are written to a live file, until a client reads them; four seats, and many viewers of one session."""
    with home() as folder:
        user = User(folder)
        user.council("start", "Shall we?", "--id", "timed")
        written: dict[str, float] = {}
        with WebServer(user) as server:
            delays: list[list[float]] = [[] for _ in range(VIEWERS)]
            readers = [Reader() for _ in range(VIEWERS)]
            ready = threading.Barrier(VIEWERS + 1)

            def follow(number: int) -> None:
                with server.stream("/api/sessions/timed/events") as events:
                    for event in events:
                        readers[number].read(event["event"], event["data"], event["id"])
                        if event["event"] == "state":
                            ready.wait()
                        if event["event"] == "words":
                            now, text = time.monotonic(), event["data"]["text"]
                            found = re.findall(r"w\d+", text)
                            delays[number] += [now - written[word] for word in found]
                            if len(delays[number]) >= WORDS:
                                return

            threads = [threading.Thread(target=follow, args=(number,)) for number in range(VIEWERS)]
            for thread in threads:
                thread.start()
            ready.wait()
            files = [LiveFile(user.session, f"01-positions/{seat}") for seat in SEATS]
            for number in range(WORDS):
                written[f"w{number}"] = time.monotonic()
                files[number % len(files)].append(f"w{number} ")
                time.sleep(0.0125)
            for thread in threads:
                thread.join(30)
            for file in files:
                file.remove()
    flat = [delay * 1000 for one in delays for delay in one]
    middle, late = statistics.median(flat), statistics.quantiles(flat, n=20)[-1]
    counted = sum(len(one) == WORDS for one in delays)
    seen = f"median {middle:.0f} ms, p95 {late:.0f} ms; load {os.getloadavg()[0]:.1f}"
    what = f"{WORDS} words of 4 seats to {VIEWERS} viewers"
    return Outcome(
        [
            ("latency", what, "median at most 75 ms, p95 at most 150 ms", seen, 1, int(middle <= 75 and late <= 150)),
            ("no word lost", what, "every viewer reads every word once", f"{counted} viewers", VIEWERS, counted),
        ]
    )


SEATS = ("architect", "designer", "engineer", "researcher")


def prove_costs() -> Outcome:
    """Start, memory and idling over many sessions; and what a viewer costs a run."""
    rows = [*measure_server(), measure_run()]
    return Outcome(
        rows, notes=["Times and shares are of a machine whose load is named; CPU seconds are what to trust."]
    )


def measure_server() -> Iterator[tuple[str | int, ...]]:
    with home() as folder:
        user = User(folder, COLD)
        root = folder / "memory/STATE/council-sessions"
        script = Path(__file__).resolve().parents[2] / "generate-sessions"
        subprocess.run([script, str(SESSIONS), str(root)], check=True, stdout=subprocess.DEVNULL)
        user.council("list")
        user.council("index")
        starts = []
        for _ in range(5):
            began = time.monotonic()
            with WebServer(user) as server:
                server.ask("GET", "/api/workflows", token="x")
                starts.append(time.monotonic() - began)
        seen = f"{min(starts):.2f} s; load {os.getloadavg()[0]:.1f}"
        yield ("start", f"until it answers, {SESSIONS:,} sessions", "at most 0.5 s", seen, 1, int(min(starts) <= 0.5))
        with WebServer(user) as server:
            for path in ("/api/sessions", "/api/sessions?q=queue+table", "/api/gates"):
                server.ask("GET", path)
            kilobytes = read_memory(server)
            yield ("memory", "after the list and a search", "at most 60 MB", f"{kilobytes / 1000:.0f} MB", 1,
                   int(kilobytes <= 60_000))  # fmt: skip
            before = read_cpu(server)
            time.sleep(20)
            share = (read_cpu(server) - before) / 20
            yield ("idle", "20 s without a request", "at most 1 % CPU", f"{share:.2%}", 1, int(share <= 0.01))
            with server.stream("/api/events"), server.stream(f"/api/sessions/{user.sessions[-1].name}/events"):
                time.sleep(2)
                before = read_cpu(server)
                time.sleep(20)
                share = (read_cpu(server) - before) / 20
            yield ("watched", "20 s with the list and a session open", "at most 5 % CPU", f"{share:.2%}", 1,
                   int(share <= 0.05))  # fmt: skip


def read_memory(server: WebServer) -> int:
    status = Path(f"/proc/{server.process.pid}/status").read_text()
    found = re.search(r"VmRSS:\s+(\d+) kB", status)
    return int(found[1]) if found else 0


def read_cpu(server: WebServer) -> float:
    fields = Path(f"/proc/{server.process.pid}/stat").read_text().rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def measure_run() -> tuple[str | int, ...]:
    """The CPU seconds of whole debates, with and without a viewer, in turn."""
    with_, without = [], []
    for _ in range(8):
        without.append(run_once(watched=False))
        with_.append(run_once(watched=True))
    more = min(with_) / min(without) - 1
    seen = f"{more:+.1%} ({min(without):.2f} s without)"
    return (
        "a viewer",
        "CPU of `council run` with a viewer and without",
        "at most 2 % more",
        seen,
        1,
        int(more <= 0.02),
    )


def run_once(watched: bool) -> float:
    with home() as folder:
        user = User(folder, COLD)
        with FakeApi(Table(user, disputed(), chunks=10, delay=0.02)) as api, WebServer(user) as server:
            env = {"ANTHROPIC_API_KEY": "sk-test", "ANTHROPIC_BASE_URL": api.url}
            before = resource.getrusage(resource.RUSAGE_CHILDREN)
            run = user.spawn("run", "--id", "seen", "--no-input", "Shall we?", env=env)
            viewer = threading.Thread(target=view, args=(server,)) if watched else None
            if viewer:
                viewer.start()
            run.communicate()
            after = resource.getrusage(resource.RUSAGE_CHILDREN)
            if viewer:
                viewer.join()
    return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime


def view(server: WebServer) -> None:
    while server.ask("GET", "/api/sessions/seen").status == 404:
        time.sleep(0.05)
    with server.stream("/api/sessions/seen/events") as events:
        next(event for event in events if event["event"] == "state" and event["data"]["state"] == "complete")


PARTS: dict[str, Any] = {
    "hostile requests": prove_hostile,
    "one answer": prove_gates,
    "killed during an answer": prove_kills,
    "words": prove_latency,
    "costs": prove_costs,
}


def parts() -> list[str]:
    return list(PARTS)


def prove(part: str) -> Outcome:
    outcome: Outcome = PARTS[part]()
    return outcome
