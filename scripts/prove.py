"""Usage: scripts/prove NAME [--jobs N] [--restart]
       scripts/prove --list

Proves at full size what the tests show in samples: prints a table, and writes it with date and version to
docs/proofs/NAME.md. A proof has parts. A part that is done is not done again as long as the code stays as it is, so a
proof that was interrupted goes on where it was. Exits 1 if anything was wrong.

A proof is a file in scripts/proofs/ (dashes in its name are underscores in the file's):

    '''What is proven, in a sentence.'''
    COLUMNS = ("case", "points")
    def parts() -> list[str]: ...
    def prove(part: str) -> Outcome: ...
"""

from __future__ import annotations

import argparse
import hashlib
import importlib
import json
import os
import platform
import subprocess
import sys
import threading
import time
from collections.abc import Iterable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor, as_completed
from dataclasses import asdict, dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Protocol

ROOT = Path(__file__).resolve().parent.parent
sys.path[:0] = [str(ROOT), str(ROOT / "scripts")]

PROOFS = ROOT / "scripts" / "proofs"
PAGES = ROOT / "docs" / "proofs"
STATE = ROOT / ".proofs"
CODE = (
    "council", "templates", "Workflows", "scripts", "tests", "agents", "hooks", "bin", "SKILL.md",
    "AgentPersonalities.md", "Config.md", "Specialists",
)  # fmt: skip


@dataclass(frozen=True)
class Outcome:
    """What one part found: rows of the table, what was wrong, and what else is worth a line."""

    rows: Sequence[Sequence[str | int]]
    wrong: Sequence[str] = ()
    notes: Sequence[str] = ()


class Proof(Protocol):
    """What a file in scripts/proofs/ has."""

    __doc__: str | None
    COLUMNS: tuple[str, ...]

    def parts(self) -> list[str]: ...
    def prove(self, part: str) -> Outcome: ...


@dataclass(frozen=True)
class Promises:
    """A proof made of modules in a folder in scripts/proofs/, each with `parts` and `prove`. A part of the proof is
    "module: part". If its rows are `counted`, they end with how much was tried and how much of that held, and a row
    where less held is wrong, whether or not the module says so itself.
    """

    folder: str
    counted: bool = True

    def parts(self) -> list[str]:
        modules = sorted(path.stem for path in (PROOFS / self.folder).glob("[a-z]*.py"))
        return [f"{name}: {part}" for name in modules for part in self._load(name).parts()]

    def prove(self, part: str) -> Outcome:
        name, _, rest = part.partition(": ")
        outcome = self._load(name).prove(rest)
        if not self.counted or outcome.wrong:
            return outcome
        broken = [row for row in outcome.rows if row[-2] != row[-1]]
        wrong = [f"{row[0]}: {row[1]}: {row[-1]} of {row[-2]} held" for row in broken]
        return Outcome(outcome.rows, wrong, outcome.notes)

    def _load(self, name: str) -> Promise:
        module: Promise = importlib.import_module(f"proofs.{self.folder}.{name}")
        return module


class Promise(Protocol):
    """What a module in such a folder has."""

    def parts(self) -> list[str]: ...
    def prove(self, part: str) -> Outcome: ...


def names() -> list[str]:
    return sorted(path.stem.replace("_", "-") for path in PROOFS.glob("[a-z]*.py"))


def proof(name: str) -> Proof:
    found: Proof = importlib.import_module(f"proofs.{name.replace('-', '_')}")
    return found


# ---- what is done already ----


def fingerprint() -> str:
    """Of all that a proof depends on: a proof is repeated when that has changed."""
    seal = hashlib.sha256()
    for top in CODE:
        paths = sorted((ROOT / top).rglob("*")) if (ROOT / top).is_dir() else [ROOT / top]
        for path in paths:
            if path.is_file() and "__pycache__" not in path.parts:
                seal.update(f"{path.relative_to(ROOT)}\0".encode() + path.read_bytes())
    return seal.hexdigest()


def done(name: str, seal: str) -> dict[str, Outcome]:
    """The parts that are done, of the code as it is."""
    path = STATE / f"{name}.jsonl"
    lines = path.read_text(encoding="utf-8").splitlines() if path.exists() else []
    found = [json.loads(line) for line in lines]
    return {one["part"]: Outcome(**one["outcome"]) for one in found if one["seal"] == seal}


def remember(name: str, seal: str, part: str, outcome: Outcome) -> None:
    STATE.mkdir(exist_ok=True)
    with (STATE / f"{name}.jsonl").open("a", encoding="utf-8") as file:
        file.write(json.dumps({"seal": seal, "part": part, "outcome": asdict(outcome)}) + "\n")


# ---- proving ----


def proven(name: str, part: str) -> Outcome:
    """One part, in a process of its own: so that nothing one leaves behind affects another."""
    command = [sys.executable, __file__, name, "--part", part]
    done = subprocess.run(command, cwd=ROOT, stdout=subprocess.PIPE, text=True, check=False)
    if done.returncode:
        sys.exit(f"prove: {name}: {part}: it ended with {done.returncode}; what is done already is kept")
    return Outcome(**json.loads(done.stdout.splitlines()[-1]))


def outcomes(name: str, jobs: int, restart: bool) -> dict[str, Outcome]:
    """All parts, in their order. Each is remembered as soon as it is done, whatever becomes of the others."""
    seal, parts, one_at_a_time = fingerprint(), proof(name).parts(), threading.Lock()
    found = {} if restart else done(name, seal)

    def run(part: str) -> None:
        outcome = proven(name, part)
        with one_at_a_time:
            found[part] = outcome
            remember(name, seal, part, outcome)
            verdict = f"{len(outcome.wrong)} wrong" if outcome.wrong else "ok"
            print(f"{len(found)}/{len(parts)} {part}: {verdict}", file=sys.stderr, flush=True)

    with ThreadPoolExecutor(jobs) as pool:
        running = [pool.submit(run, part) for part in parts if part not in found]
        try:
            for ended in as_completed(running):
                ended.result()
        finally:
            pool.shutdown(cancel_futures=True)
    return {part: found[part] for part in parts}


def table(columns: Sequence[str], rows: Iterable[Sequence[str | int]]) -> Iterator[str]:
    numbers = [False] * len(columns)
    rows = list(rows)
    if rows:
        numbers = [isinstance(cell, int) for cell in rows[0]]
        total = [sum(int(row[at]) for row in rows) if numbers[at] else "" for at in range(len(columns))]
        rows += [["all", *total[1:]]] if any(numbers) else []
    yield f"| {' | '.join(columns)} |"
    yield f"|{'|'.join('---:' if right else '---' for right in numbers)}|"
    for row in rows:
        yield f"| {' | '.join(f'{cell:,}' if isinstance(cell, int) else str(cell) for cell in row)} |"


def page(name: str, found: dict[str, Outcome], seconds: float) -> str:
    asked = proof(name)
    title = name.replace("-", " ").capitalize()
    rows = [row for outcome in found.values() for row in outcome.rows]
    wrong = [what for outcome in found.values() for what in outcome.wrong]
    notes = [what for outcome in found.values() for what in outcome.notes]
    where = f"Python {platform.python_version()}, {platform.system()}, {os.cpu_count()} cores, {minutes(seconds)}"
    lines = [f"# {title}", "", (asked.__doc__ or "").strip(), ""]
    lines += [f"{datetime.now(UTC):%Y-%m-%d}, council {version()}; {where}. Made by `scripts/prove {name}`.", ""]
    lines += [*table(asked.COLUMNS, rows), ""]
    lines += [f"**Wrong: {len(wrong)}**", "", *(f"- {what}" for what in wrong)] if wrong else ["Nothing was wrong."]
    lines += ["", "## Notes", "", *(f"- {what}" for what in notes)] if notes else []
    return "\n".join(lines) + "\n"


def minutes(seconds: float) -> str:
    return f"{seconds / 60:.0f} minutes" if seconds >= 90 else f"{seconds:.0f} seconds"


def version() -> str:
    """The version of the package, and what tells whether a page is of the code as it is."""
    import council

    return f"{council.__version__}, code {fingerprint()[:12]}"


def main() -> int:
    parser = argparse.ArgumentParser(
        prog="scripts/prove", description=__doc__, formatter_class=argparse.RawTextHelpFormatter
    )
    parser.add_argument("name", nargs="?", choices=names(), metavar="NAME")
    parser.add_argument("--jobs", type=int, default=os.cpu_count() or 1, metavar="N")
    parser.add_argument("--restart", action="store_true", help="repeat what is already proved")
    parser.add_argument("--list", action="store_true", help="what can be proven")
    parser.add_argument("--part", help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.list:
        for name in names():
            print(f"{name:<14} {(proof(name).__doc__ or '').strip().splitlines()[0]}")
        return 0
    if options.name is None:
        parser.error(f"which proof? {', '.join(names())}")
    if options.part:
        print("\n" + json.dumps(asdict(proof(options.name).prove(options.part))))
        return 0
    began = time.monotonic()
    found = outcomes(options.name, options.jobs, options.restart)
    text = page(options.name, found, time.monotonic() - began)
    PAGES.mkdir(exist_ok=True)
    (PAGES / f"{options.name}.md").write_text(text, encoding="utf-8")
    print(text)
    return int(any(outcome.wrong for outcome in found.values()))


if __name__ == "__main__":
    sys.exit(main())
