"""Worlds for faults: a COUNCIL_HOME, commands done in it by processes of their own, and what is there afterwards."""

from __future__ import annotations

import contextlib
import importlib
import json
import os
import re
import shutil
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Protocol

from council.record import turn_file
from tests import faults, helpers
from tests.faults import Child, Ended, Fault, Job, Nursery

ID = re.compile(r"\d{8}-\d{6}-[0-9a-f]{8}")
MOMENT = re.compile(r"\d{4}-\d\d-\d\d-\d{6}_|\d{4}-\d\d/")
MONEY = re.compile(
    rb"^attempts: .*\n|^\|.*, (?:failed|interrupted) \|.*\n|Cost: .*| *\"(?:first_)?usd\": .*\n|^(?:cost|calls): .*\n",
    re.M,
)
DAY = re.compile(r"\b20\d\d-\d\d-\d\d\b")
HEAD = re.compile(r"((?:head|written_sha256):\W*)[0-9a-f]{64}", re.I)
CHANGING = ("seal", "started", "seconds", "after", "call")  # a call has a random name
CHANGING_FACTS = ("seal", "speaker", "continued_by", "started_at", "completed_at", "archived_to", "session_id")


class Answering(Protocol):
    """Who is asked over HTTP, and what of: the turns, by the address that a process was given."""

    @property
    def asked(self) -> Mapping[int, list[str]]: ...

    def address(self, memory: Path) -> str: ...


@dataclass(frozen=True)
class Running:
    """A child with what it was told to do."""

    job: Job
    child: Child

    @property
    def address(self) -> int:
        return int(self.job.env["ANTHROPIC_BASE_URL"].rpartition("/")[2])


# ---- a world: one COUNCIL_HOME, and what can be seen of it from outside ----


@dataclass
class World:
    """A user with a home of their own. `place` is where the commands see it, where that differs from where we do."""

    folder: Path
    nursery: Nursery
    api: Answering | None = None
    place: Path | None = None
    words: Mapping[str, str] = field(default_factory=faults.script)

    def __post_init__(self) -> None:
        self.folder.mkdir(exist_ok=True)
        self.script.write_text(faults.script_text(self.words), encoding="utf-8")

    @property
    def script(self) -> Path:
        return self.folder / "script.yaml"

    @property
    def memory(self) -> Path:
        return self.folder / "memory"

    @property
    def env(self) -> dict[str, str]:
        home = self.place or self.folder
        found = {"HOME": str(home), "COUNCIL_HOME": str(home / "memory"), "PATH": os.environ["PATH"]}
        if self.api:
            found |= {"ANTHROPIC_API_KEY": "key", "ANTHROPIC_BASE_URL": self.api.address(self.memory)}
        return found

    @property
    def sessions(self) -> list[Path]:
        """Those that began."""
        found = (path.parent for path in self.memory.glob("STATE/council-sessions/*/metadata.json"))
        return sorted(folder for folder in found if not folder.name.startswith("."))

    @property
    def session(self) -> Path:
        (only,) = self.sessions
        return only

    @property
    def turns(self) -> dict[str, bytes]:
        found = self.memory.glob("STATE/council-sessions/*/turns/*/*.md")
        return {f"{path.parent.name}/{path.stem}": path.read_bytes() for path in found}

    @property
    def archived(self) -> list[Path]:
        return [path for path in self.memory.glob("RESEARCH/**/*") if path.is_file() and path.suffix == ".md"]

    @property
    def temps(self) -> list[str]:
        found = [path for path in self.memory.rglob("*.council-temp") if path not in self.leftovers]
        return [str(path.relative_to(self.memory)) for path in found]

    @property
    def leftovers(self) -> list[Path]:
        """The hidden folders of sessions that were never born."""
        root = self.memory / "STATE" / "council-sessions"
        return sorted([*root.glob(".*.new"), *root.glob(".*.council-temp")])

    def job(self, *commands: Sequence[str], fault: Fault | None = None, naive: bool = False) -> Job:
        return Job(tuple(tuple(argv) for argv in commands), self.env, fault or Fault(), naive)

    def do(self, *argv: str, fault: Fault | None = None, stdin: str = "", naive: bool = False) -> Ended:
        return self.ended(self.start(self.job(argv, fault=fault, naive=naive), stdin))[0]

    def in_a_row(self, *commands: Sequence[str], naive: bool = False) -> list[Ended]:
        return self.ended(self.start(self.job(*commands, naive=naive)))

    def start(self, job: Job, stdin: str = "") -> Running:
        return Running(job, self.nursery.start(job, stdin))

    def ended(self, running: Running) -> list[Ended]:
        """What became of the commands; who was asked is told by the API, where there is one."""
        ended = running.child.wait_all()
        if self.api is None:
            return ended
        return [replace(one, asked=tuple(self.api.asked[running.address])) for one in ended]

    def copy(self, folder: Path) -> World:
        shutil.copytree(self.folder, folder, symlinks=True)
        return World(folder, self.nursery, self.api, None, self.words)

    def drop(self) -> None:
        shutil.rmtree(self.folder)


def snapshot(world: World) -> dict[str, bytes]:
    """Every file that is there after a debate, without what differs between two debates: their times and ids, and the
    money of one that was paid for: calls that a kill interrupted are on record (see tests/billing.py).

    What is left of a session that was never born is removed an hour later, and is not counted.
    """
    found = {}
    for path in sorted(world.memory.rglob("*")):
        unborn = any(folder in path.parents for folder in world.leftovers)
        if path.is_file() and not {".lock", "runner.json", "council-marks"} & {*path.parts} and not unborn:
            name = str(path.relative_to(world.memory))
            found[DAY.sub("<day>", MOMENT.sub("<time>", ID.sub("<id>", name)))] = (
                without_money(path.name, normal(path)) if world.api else normal(path)
            )
    return found


def normal(path: Path) -> bytes:
    data = path.read_bytes()
    if path.name == "metadata.json":
        with contextlib.suppress(ValueError):  # a torn one is shown as it is
            facts = {key: value for key, value in json.loads(data).items() if key not in CHANGING_FACTS}
            for key in {"derived", "archived"} & facts.keys():  # hashes of what has ids and times in it
                facts[key] = {**facts[key], "turns": "", "files": sorted(facts[key]["files"])}
            if "derived" in facts:
                stamped = json.loads(data)["derived"]["files"]
                there = {name for name in stamped if path.with_name(name).is_file()}
                right = [turn_file.sha256(path.with_name(name).read_bytes()) == stamped[name] for name in sorted(there)]
                facts["stamps are right"] = right
            return json.dumps(facts, sort_keys=True).encode()
    if path.parent.parent.name == "turns":
        head, *body = data.split(b"\n---\n", 1)
        lines = [line for line in head.decode().splitlines() if line.partition(":")[0] not in CHANGING]
        return b"\n---\n".join(["\n".join(lines).encode(), *body])
    if path.name in ("state.json", "transcript.md", "decision.md", "issue.md") or {"RESEARCH", "decisions"} & {
        *path.parts
    }:
        return DAY.sub("<day>", ID.sub("<id>", HEAD.sub(r"\1<head>", data.decode()))).encode()
    return data


def without_money(name: str, data: bytes) -> bytes:
    if name == "metadata.json":
        with contextlib.suppress(ValueError):
            return json.dumps({**json.loads(data), "totals": {}}, sort_keys=True).encode()
    return MONEY.sub(b"", data)


def body_of(data: bytes) -> bytes:
    try:
        if helpers.package() == "council":
            return turn_file.decode(data, Path("turn"))[1].encode()
        return importlib.import_module("council.next.record.turn_file").read(data, Path("turn"))[1]  # type: ignore[no-any-return]
    except Exception as damaged:  # noqa: BLE001 (whatever it is, it is no turn)
        return str(damaged).encode()


def differences(one: dict[str, bytes], other: dict[str, bytes]) -> list[str]:
    """The files that differ, and how: from the first byte that does."""
    names = sorted(name for name in one.keys() | other.keys() if one.get(name) != other.get(name))
    return [f"{name}: {parted(one.get(name, b''), other.get(name, b''))}" for name in names]


def parted(one: bytes, other: bytes) -> str:
    same = next((at for at, (a, b) in enumerate(zip(one, other, strict=False)) if a != b), min(len(one), len(other)))
    at = max(0, same - 40)
    return f"{one[at : at + 120]!r} and {other[at : at + 120]!r}"
