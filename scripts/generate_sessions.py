"""Usage: scripts/generate-sessions COUNT FOLDER [--seed N]

Writes COUNT sessions into FOLDER, for benches of what works on many of them. They are copies of a few debates that are
really held first, with words, times, prices and receipts of their own; every seal and the chain are right, so
`council status` calls them complete. Of a hundred, five are not finished, and one is damaged. Their derived files are
those of the debates that they were copied from.
"""

from __future__ import annotations

import argparse
import json
import math
import random
import shutil
import sys
import tempfile
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT))

from council.record import chain, files, metadata, turn_file  # noqa: E402
from council.record import session as sessions  # noqa: E402
from council.record.turn_file import Receipt, sha256  # noqa: E402
from council.reports import derived  # noqa: E402
from tests.helpers import User, agreed, disputed, script  # noqa: E402
from tests.recordings import RECORDED  # noqa: E402

REPLAYED = ("consensus-granted-0.4.0", "planning-1-complete", "delphi-complete", "patchlist-complete-0.4.0")
NEWEST = datetime(2026, 11, 1, tzinfo=UTC)
MODELS = (("claude-sonnet-5-5", 2.0, 10.0), ("claude-haiku-5-5", 0.1, 0.5), ("claude-opus-5-5", 4.0, 20.0))
COMMON = "the we a is of and to it that for this would be not on with as one in".split()
SUBJECTS = (
    "Redis or a table for the job queue?", "Should the API be GraphQL or REST?", "One repository or many?",
    "Do we store the tokens?", "Is the spec of the import ready?", "Which cache for the sessions?", "Café or kitchen?",
    "SQLite or Postgres for the first year?", "Retry in the client or in the server?", "数据库 oder Dateien?",
)  # fmt: skip
UNFINISHED, DAMAGED = 20, 100  # one of that many


@dataclass(frozen=True)
class Pattern:
    """A debate that was really held, and for each of its turns the turns before it."""

    facts: Mapping[str, Any]
    frozen: Mapping[str, bytes]
    derived: Mapping[str, bytes]
    turns: Sequence[tuple[Receipt, str, bytes, tuple[str, ...]]]


def hold_debates(folder: Path, names: Sequence[str] = REPLAYED) -> list[Pattern]:
    """The patterns: two debates, and what was recorded of other workflows, replayed by this version."""
    user = User(folder)
    for number, words in enumerate((agreed(), disputed())):
        _run(user, "--from", script(user, words, f"{number}.yaml"), "Shall we keep one database?")
    for name in names:
        recorded = RECORDED / name / "session"
        source = user.sessions[0].parent / json.loads((recorded / "metadata.json").read_text("utf-8"))["session_id"]
        shutil.copytree(recorded, source)
        _run(user, "--from", source.name)
        shutil.rmtree(source)
    return [read_pattern(path) for path in user.sessions]


def _run(user: User, *words: str | Path) -> None:
    ended = user.council("run", "--speaker", "replay", *words)
    if ended.code:
        raise SystemExit(f"generate-sessions: the debate to copy could not be held: {ended.err}")


def read_pattern(folder: Path) -> Pattern:
    found = sessions.open_(folder)
    found.read_turns()
    plan = found.plan()
    turns = []
    for turn, before in plan.expected.items():
        past = tuple(chain.find_past(found, turn, plan.scene.turns[:before]))
        turns.append((found.receipts[turn], found.said[turn].body, found.brief(turn) or b"", past))
    frozen = {name: files.read(folder / name) for name in found.metadata["files"]}
    made = {name: files.read(folder / name) for name in derived.find(folder)}
    return Pattern(found.metadata, frozen, made, turns)


class Writer:
    """Writes sessions into a folder, `apart` minutes from one to the next. The same seed writes the same sessions."""

    def __init__(
        self, root: Path, patterns: Sequence[Pattern], seed: int = 0, words: int = 110, apart: float = 37
    ) -> None:
        longest = sorted(patterns, key=lambda one: len(one.turns))[-2:]
        self.root, self.patterns, self.words = root, [*patterns, *longest], words
        self.apart = timedelta(minutes=apart)
        self.dice = random.Random(seed)
        self.vocabulary = [*COMMON * 12, *(self._invent() for _ in range(6_000))]

    def _invent(self) -> str:
        return "".join(self.dice.choice(SYLLABLES) for _ in range(self.dice.randint(2, 4)))

    def prose(self) -> str:
        """A few sentences. Some words are in nearly every one, most in very few."""
        dice, count = self.dice, len(self.vocabulary)
        chosen = [
            self.vocabulary[int(count * dice.random() ** 3)] for _ in range(int(self.words * dice.uniform(0.6, 1.4)))
        ]
        lines = [" ".join(chosen[at : at + 14]).capitalize() + "." for at in range(0, len(chosen), 14)]
        return " ".join(lines)

    def write(self, number: int) -> Path:
        """One session, as old as its number is small."""
        dice, pattern = self.dice, self.patterns[number % len(self.patterns)]
        began = NEWEST + self.apart * number + timedelta(seconds=dice.randint(0, 59))
        id = f"{began:%Y%m%d-%H%M%S}-{dice.getrandbits(32):08x}"
        topic = (
            f"{SUBJECTS[number % len(SUBJECTS)]} Case {number}: {' '.join(self.vocabulary[-1 - number % 6000 :][:3])}"
        )
        frozen = {**pattern.frozen, "topic.md": topic.encode()}
        facts = {key: value for key, value in pattern.facts.items() if key not in chain.COMPUTED}
        facts |= {
            "session_id": id, "started_at": began.isoformat(timespec="microseconds"), "topic": topic,
            "seed": f"{dice.getrandbits(128):032x}", "files": {name: sha256(data) for name, data in frozen.items()},
        }  # fmt: skip
        folder = self.root / id
        finished = number % UNFINISHED != UNFINISHED - 1
        turns = pattern.turns if finished else pattern.turns[: max(1, len(pattern.turns) - dice.randint(1, 5))]
        written = self._write_turns(folder, facts, pattern, turns, began)
        made = pattern.derived if finished else {}
        if finished:
            facts |= _completion(pattern, written, made)
        for name, data in {**frozen, **made, "metadata.json": metadata.seal(facts)}.items():
            _write(folder / name, data)
        if number % DAMAGED == DAMAGED - 1:
            _damage(folder / "turns" / f"{written[-1][0].turn}.md")
        return folder

    def _write_turns(
        self, folder: Path, facts: Mapping[str, Any], pattern: Pattern, turns: Sequence[Any], began: datetime
    ) -> list[tuple[Receipt, str]]:
        base, hashes, written = chain.base(facts), dict[str, str](), []
        shift = began - datetime.fromisoformat(pattern.facts["started_at"])
        for receipt, body, brief, past in turns:
            name, sent_price, price = MODELS[self.dice.choice((0, 0, 0, 1, 1, 2))]
            text = f"{self.prose()}\n\n{body}"
            sent, received = len(brief) // 4 + 400, len(text) // 4
            own = replace(
                receipt, speaker="anthropic", asked=name, answered=name, replayed=None, recorded_by=None,
                started=(datetime.fromisoformat(receipt.started) + shift).isoformat(timespec="milliseconds"),
                seconds=round(self.dice.uniform(2, 40), 3), input=sent, cache_read=0, cache_write=0, output=received,
                usd=(sent * sent_price + received * price) / 1e6,
                after=chain.link(base, {turn: hashes[turn] for turn in past}),
            )  # fmt: skip
            data = turn_file.encode(own, text)
            hashes[receipt.turn] = sha256(data)
            written.append((own, hashes[receipt.turn]))
            _write(folder / "turns" / f"{receipt.turn}.md", data)
            _write(folder / "briefs" / f"{receipt.turn}.md", brief)
        return written


SYLLABLES = "ka lo mi ren tas vor el ish un da pre com ter fi gra ble sto nu za hep wol qui".split()


def _completion(pattern: Pattern, written: Sequence[tuple[Receipt, str]], made: Mapping[str, bytes]) -> dict[str, Any]:
    """What the metadata say of a debate that is over."""
    ended = max(datetime.fromisoformat(one.started) + timedelta(seconds=one.seconds) for one, _ in written)
    usd = round(math.fsum(one.usd or 0.0 for one, _ in written), 6)
    lines = [f"{one.turn} {digest}" for one, digest in sorted(written, key=lambda pair: pair[0].turn)]
    stamp = {"council": pattern.facts["derived"]["council"], "turns": sha256("\n".join(lines).encode())}
    return {
        "completed_at": ended.isoformat(timespec="seconds"),
        **{key: pattern.facts[key] for key in ("rounds_completed", "outcome", "absent")},
        "totals": {
            "calls": len(written), "failed_calls": 0, "input_tokens": sum(one.input or 0 for one, _ in written),
            "output_tokens": sum(one.output or 0 for one, _ in written), "usd": usd, "usd_at_least": usd,
        },
        "derived": {**stamp, "files": {name: sha256(data) for name, data in sorted(made.items())}},
    }  # fmt: skip


def _write(path: Path, data: bytes) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(data)


def _damage(path: Path) -> None:
    data = bytearray(path.read_bytes())
    data[-2] ^= 1
    path.write_bytes(data)


def generate(count: int, root: Path, seed: int = 0, names: Sequence[str] = REPLAYED, words: int = 110) -> list[Path]:
    """Write that many sessions below `root`; their folders, oldest first."""
    with tempfile.TemporaryDirectory(prefix="council-patterns-") as place:
        writer = Writer(root, hold_debates(Path(place), names), seed, words)
    return [writer.write(number) for number in range(count)]


def main() -> int:
    parser = argparse.ArgumentParser(prog="scripts/generate-sessions", description=__doc__)
    parser.add_argument("count", type=int, metavar="COUNT")
    parser.add_argument("folder", type=Path, metavar="FOLDER")
    parser.add_argument("--seed", type=int, default=0, metavar="N")
    options = parser.parse_args()
    generate(options.count, options.folder, options.seed)
    return 0


if __name__ == "__main__":
    sys.exit(main())
