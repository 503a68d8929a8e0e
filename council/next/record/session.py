"""A session: the folder that is the debate. Its files are its only state.

Fixed at birth: program.json, workflow.md, topic.md, attached/, frozen/ and the first facts of metadata.json. Written
as the debate goes on: briefs/, turns/ and attempts/. Everything else in the folder can be deleted and made again.
"""

from __future__ import annotations

import json
import time
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import replace
from functools import cached_property
from itertools import count
from pathlib import Path
from typing import Any

from council.next.engine.planner import Plan
from council.next.engine.scene import Recorded, Scene
from council.next.errors import Damaged, UsageError
from council.next.protocols.outcome import Outcome, outcome
from council.next.record import files, lock, turn_file
from council.next.record.turn_file import Receipt
from council.next.text import encode
from council.next.workflow import gates, loader
from council.next.workflow.model import Workflow

SCHEMA = 1
FIXED = ("session_id", "topic", "started_at", "members", "output_mode", "rounds_planned")
LEFT_BEHIND = (".swp", ".swo", "~", ".tmp", ".bak", ".orig", "Thumbs.db", "desktop.ini")  # by editors and systems


def now() -> str:
    return time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime())


class Session:
    """A session's folder as an object. Who writes to it holds it first."""

    def __init__(self, folder: Path) -> None:
        self.folder, self.id = folder, folder.name
        if not (folder / "program.json").exists():
            raise Damaged(folder, "it is not a session: it has no program.json")
        self.program = files.read_json(folder / "program.json")
        if self.program.get("schema") != SCHEMA:
            raise UsageError(f"{self.id} was written by another version of council; read {folder / 'transcript.md'}")
        files.refuse_links(folder, ("turns", "briefs", "attempts", "desk", "attached", "frozen"))
        for names in (self.program.get(key) for key in ("attached", "frozen", "files")):
            if not isinstance(names, dict) or not all(isinstance(name, str) for name in names.values()):
                raise Damaged(folder / "program.json", "it was edited; restore it from a backup")
        self._receipts: dict[str, Receipt] = {}
        self._said: dict[str, Recorded] = {}
        self._hashes: dict[str, str] = {}
        self._held: lock.Held | None = None
        self._heads: list[str] = []

    @contextmanager
    def hold(self, wait: float = 0.25) -> Iterator[None]:
        """Hold the session, and read what others wrote to it meanwhile."""
        with lock.hold(self.folder, wait) as held, self.held_by(held):
            self.refresh()
            yield

    @contextmanager
    def held_by(self, held: lock.Held) -> Iterator[None]:
        self._held = held
        try:
            yield
        finally:
            self._held = None

    # ---- what was fixed at birth ----

    @cached_property
    def workflow(self) -> Workflow:
        program = self.program
        try:
            plain = loader.load(self._read_given("workflow.md").decode(), "workflow.md")
            seated = plain.with_options(program["options"]).with_members(program["members"])
            return gates.insert(seated, program["gates"]).with_personas(program["personas"])
        except (KeyError, TypeError, AttributeError, UsageError) as wrong:
            raise Damaged(self.folder / "program.json", f"it does not fit workflow.md: {wrong}") from None

    @cached_property
    def topic(self) -> str:
        return self._read_given("topic.md").decode()

    @cached_property
    def attached(self) -> dict[str, str]:
        """The documents that the debate was given, by the path that was given."""
        return {path: self._read_given(name).decode() for path, name in self.program["attached"].items()}

    def read_frozen(self, path: str) -> bytes:
        """A file that the session begins from, by its path."""
        return self._read_given(self.program["frozen"][path])

    def _read_given(self, name: str) -> bytes:
        """A file that was fixed at birth. What has another hash than then is damage."""
        path = self.folder / name
        if name.rpartition("/")[0] not in ("", "attached", "frozen") or "\0" in name:
            raise Damaged(self.folder / "program.json", f'"{name}" leads out of the session')
        try:
            data = files.read(path)
        except FileNotFoundError:
            raise Damaged(path, "it is missing; restore it from a backup") from None
        if files.sha256(data) != self.program.get("files", {}).get(name):
            raise Damaged(path, "it was changed since the session began; restore it from a backup")
        return data

    def key(self, *about: str) -> str:
        """A secret that nobody outside this session can know, the same in every process."""
        return files.sha256(encode("\x1f".join((str(self.program["seed"]), *about))))[:16]

    # ---- what was said ----

    @property
    def receipts(self) -> Mapping[str, Receipt]:
        """The receipt of each turn, by its id."""
        self.plan  # noqa: B018 (it reads the turns)
        return self._receipts

    @property
    def said(self) -> Mapping[str, Recorded]:
        """What each turn said, by its id."""
        self.plan  # noqa: B018 (it reads the turns)
        return self._said

    @cached_property
    def plan(self) -> Plan:
        """The plan of the recorded turns. `advance` takes it further."""
        self._read_turns()
        scene = Scene(self.workflow, str(self.program["seed"]), self.topic, self.attached, self.program["frozen"])
        return Plan(self.workflow, scene=scene).advance(self._said)

    @cached_property
    def outcome(self) -> Outcome:
        return outcome(self.plan)

    def refresh(self) -> Plan:
        """Read what others wrote meanwhile, and plan again."""
        return self.advance() if "plan" in self.__dict__ and self._read_turns() else self.plan

    def advance(self) -> Plan:
        """Plan again, after turns were recorded."""
        self.__dict__.pop("outcome", None)
        return self.plan.advance(self._said)

    def record(self, receipt: Receipt, body: bytes) -> bool:
        """Store a turn. False if it is there already: the first answer stays."""
        self._check()
        path = self.folder / "turns" / f"{receipt.turn}.md"
        receipt = replace(receipt, after=receipt.after or self.head)
        data = turn_file.write(receipt, body)
        files.make_folder(path.parent)
        if not files.write_once(path, data):
            self._keep(receipt.turn, path)
            return False
        self._remember(receipt, body, data)
        return True

    def _read_turns(self) -> bool:
        """Read the turn files that are new. What editors and systems leave beside them stops nothing."""
        before = len(self._said)
        for step in sorted((self.folder / "turns").glob("*")):
            for path in sorted(step.glob("*")) if step.is_dir() else [step]:
                if path.name.startswith(".") or path.name.endswith(LEFT_BEHIND):
                    continue
                if path.parent != step or path.suffix != ".md":
                    raise Damaged(path, "it is no turn; move it away")
                id = f"{step.name}/{path.stem}"
                if id not in self._said:
                    self._keep(id, path)
        return len(self._said) > before

    def _keep(self, id: str, path: Path) -> None:
        data = files.read(path)
        receipt, body = turn_file.read(data, path)
        if receipt.turn != id:
            raise Damaged(path, f"it holds the turn {receipt.turn}; {turn_file.REMEDY}")
        self._remember(receipt, body, data)

    def _remember(self, receipt: Receipt, body: bytes, data: bytes) -> None:
        called = receipt.speaker not in ("human", "replay") and not receipt.machine and not receipt.absent
        self._receipts[receipt.turn], self._hashes[receipt.turn] = receipt, files.sha256(data)
        self._said[receipt.turn] = Recorded(
            body=body.decode(),
            absent=receipt.absent,
            by=receipt.by or "",
            model=receipt.answered or receipt.asked or "",
            calls=int(called),
            tokens=receipt.tokens,
            usd=receipt.usd,
            most=receipt.most,
        )

    # ---- what was asked ----

    def write_brief(self, id: str, shared: str, own: str) -> str:
        """Store a brief as two files: what a batch shares is stored once. Returns the hash of the whole."""
        self._check()
        folder, seat = self._brief_place(id)
        files.make_folder(folder)
        first, second = encode(shared), encode(own)
        if not files.write_once(folder / "shared.md", first) and files.read(folder / "shared.md") != first:
            files.replace(folder / f"{seat}.shared.md", first)  # in a sequence, everybody has read something else
        files.replace(folder / f"{seat}.md", second)
        return files.sha256(first, second)

    def brief(self, id: str) -> bytes:
        """What was asked, exactly. A brief that is not the one which a turn answered is damage."""
        folder, seat = self._brief_place(id)
        shared = folder / f"{seat}.shared.md"
        try:
            data = files.read(shared if shared.exists() else folder / "shared.md") + files.read(folder / f"{seat}.md")
        except FileNotFoundError as missing:
            raise Damaged(str(missing.filename), "this brief is missing; restore it from a backup") from None
        if id in self.receipts and self.receipts[id].brief not in ("", files.sha256(data)):
            raise Damaged(folder / f"{seat}.md", "this is not the brief that was answered; restore it from a backup")
        return data

    def _brief_place(self, id: str) -> tuple[Path, str]:
        step, _, seat = id.partition("/")
        return self.folder / "briefs" / step, seat

    # ---- calls that may have been billed ----

    def begin_attempt(self, id: str, **facts: Any) -> Path:
        """Put a call on record before it is made. Whatever becomes of it, it may have been billed."""
        self._check()
        folder = files.make_folder(self.folder / "attempts" / id.partition("/")[0])
        for number in count(1):
            path = folder / f"{id.partition('/')[2]}~{number:03}.json"
            if files.write_once(path, files.to_json({"turn": id, "number": number, "began": now(), **facts})):
                break
        return path

    def end_attempt(self, path: Path, **facts: Any) -> None:
        """What became of a call: how it failed, and what it used."""
        self._check()
        files.write(path, files.to_json({**files.read_json(path), "ended": now(), **facts}))

    def attempts(self) -> list[dict[str, Any]]:
        """Every call that was begun, the oldest first. An empty folder is what a kill left, and no damage."""
        paths = sorted((self.folder / "attempts").glob("*/*.json"))
        return sorted((files.read_json(path) for path in paths), key=lambda one: str(one.get("began")))

    # ---- metadata and the head ----

    @property
    def metadata(self) -> dict[str, Any]:
        return files.read_json(self.folder / "metadata.json")

    def merge_metadata(self, **facts: Any) -> None:
        """Add facts. What was fixed at birth cannot change."""
        self._check()
        if wrong := next((name for name in facts if name in FIXED), ""):
            raise ValueError(f"{wrong} is fixed at birth")
        files.replace(self.folder / "metadata.json", files.to_json({**self.metadata, **facts}))

    @cached_property
    def birth(self) -> str:
        """The hash of everything that is fixed. The hashes of all given files are in program.json."""
        metadata = self.metadata
        fixed = json.dumps([metadata.get(key) for key in FIXED], ensure_ascii=False, sort_keys=True)
        for name in self.program.get("files", {}):
            self._read_given(name)
        return files.sha256(encode(fixed), files.read(self.folder / "program.json"))

    @property
    def head(self) -> str:
        """The hash of all that is fixed and of every batch that is whole. A receipt names the head before its batch."""
        return self.heads[-1]

    @property
    def heads(self) -> list[str]:
        """The head after each batch, from birth on. A link is over the turns of its batch in the order of their ids."""
        self._heads = self._heads or [self.birth]
        for batch in self.plan.batches[len(self._heads) - 1 :]:
            self._heads.append(link(self._heads[-1], ((id, self._hashes[id]) for id in batch)))
        return self._heads

    def _check(self) -> None:
        if self._held is None:
            raise RuntimeError("hold the session before writing to it")
        self._held.check()


def link(head: str, turns: Iterable[tuple[str, str]]) -> str:
    return files.sha256(head.encode(), *(f"\n{id} {digest}".encode() for id, digest in sorted(turns)))
