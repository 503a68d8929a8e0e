"""A session: the folder that is the debate. Its files are its only state.

Fixed at birth: program.json, workflow.md, topic.md, attached/, frozen/ and the first facts of metadata.json. Written
as the debate goes on: briefs/, turns/ and attempts/. Everything else in the folder can be deleted and made again.
"""

from __future__ import annotations

import json
import os
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import replace
from functools import cached_property
from itertools import count
from pathlib import Path
from typing import Any

from council.next.engine.planner import Plan
from council.next.engine.scene import Recorded, Scene
from council.next.errors import Damaged, UsageError
from council.next.protocols.outcome import Outcome
from council.next.record import catalog, files, lock, turn_file
from council.next.record.turn_file import MOMENT, Receipt
from council.next.text import encode, join_words
from council.next.workflow import gates, loader
from council.next.workflow.model import Workflow

SCHEMA = files.SCHEMA
FOLDERS = ("turns", "briefs", "attempts", "desk", "attached", "frozen")
FIXED = ("session_id", "topic", "started_at", "members", "output_mode", "rounds_planned")
LEFT_BEHIND = (".swp", ".swo", "~", ".tmp", ".bak", ".orig", "Thumbs.db", "desktop.ini")  # by editors and systems


def now() -> str:
    return time.strftime(MOMENT, time.gmtime())


class Session:
    """A session's folder as an object. Who writes to it holds it first."""

    def __init__(self, folder: Path, held: lock.Held | None = None) -> None:
        self.folder, self.id, self._held = folder, folder.name, held
        self.program = files.read_json(folder / "program.json")
        schema = self.program.get("schema")
        if type(schema) is not int or schema != SCHEMA:  # true and 1.0 are equal to 1
            raise UsageError(f"{self.id} was written by another version of council; read {folder / 'transcript.md'}")
        tables = [self.program.get(key) for key in ("attached", "frozen", "files", "templates")]
        words = [self.program.get("seed"), *(word for one in tables if isinstance(one, dict) for word in one.values())]
        if not all(isinstance(one, dict) for one in tables) or not all(isinstance(one, str) for one in words):
            raise Damaged(folder / "program.json", f"it was edited; {files.RESTORE}")
        files.refuse_links(folder, FOLDERS)
        self._receipts: dict[str, Receipt] = {}
        self._said: dict[str, Recorded] = {}
        self._hashes: dict[str, str] = {}
        self._heads: list[str] = []

    @contextmanager
    def hold(self, wait: float = 0.25, work: str = "") -> Iterator[None]:
        """Hold the session, and read what others wrote to it meanwhile. `work` says what for, to others who wait."""
        catalog.refuse_tracked(self.folder)
        with lock.hold(self.folder, wait, work) as self._held:
            self.refresh()
            yield

    # ---- what was fixed at birth ----

    @cached_property
    def workflow(self) -> Workflow:
        program, text = self.program, self._read_text("workflow.md")
        try:
            seated = loader.load(text, "workflow.md").with_options(program["options"]).with_members(program["members"])
            return gates.insert(seated, program["gates"]).with_personas(program["personas"])
        except (KeyError, TypeError, ValueError, AttributeError, UsageError) as wrong:
            raise Damaged(self.folder / "program.json", f"it does not fit workflow.md: {wrong}") from None

    @cached_property
    def topic(self) -> str:
        return self._read_text("topic.md")

    @cached_property
    def attached(self) -> dict[str, str]:
        """The documents that the debate was given, by the path that was given."""
        return {path: self._read_text(name) for path, name in self.program["attached"].items()}

    def read_frozen(self, path: str) -> bytes:
        """A file that the session begins from, by its path."""
        return self._read_given(self.program["frozen"][path])

    def _read_text(self, name: str) -> str:
        return files.decode(self._read_given(name), self.folder / name)

    def _read_given(self, name: str) -> bytes:
        """A file that was fixed at birth. What has another hash than then is damage."""
        path = self.folder / name
        if name.rpartition("/")[0] not in ("", "attached", "frozen") or "\0" in name:
            raise Damaged(self.folder / "program.json", f'"{name}" leads out of the session')
        data = files.read(path)
        if files.sha256(data) != self.program["files"].get(name):
            raise Damaged(path, f"it was changed since the session began; {files.RESTORE}")
        return data

    def key(self, *about: str) -> str:
        """A secret that nobody outside this session can know, the same in every process."""
        return files.sha256(encode("\x1f".join((self.program["seed"], *about))))[:16]

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
        scene = Scene(self.workflow, self.program["seed"], self.topic, self.attached, self.program["frozen"])
        return self._follow(Plan(self.workflow, scene=scene).advance(self._said))

    @cached_property
    def outcome(self) -> Outcome:
        return Outcome(self.plan)

    def refresh(self) -> Plan:
        """Plan again with every turn there is: those that others wrote meanwhile, too."""
        self.advance()
        return self._follow(self.plan)

    def advance(self) -> Plan:
        """Plan again, after turns were recorded."""
        self.__dict__.pop("outcome", None)
        return self.plan.advance(self._said)

    def record(self, receipt: Receipt, body: bytes) -> bool:
        """Store a turn. False if it is there already: the first answer stays."""
        self._check()
        if receipt.turn not in self.plan.open and receipt.turn not in self._said:
            raise UsageError(f"{receipt.turn} is not due; `council next {self.id}` shows what is")
        path = self._turn_path(receipt.turn)
        data = turn_file.write(replace(receipt, after=self.head), body)
        files.make_folder(path.parent)
        written = files.write_once(path, data)
        self._keep(receipt.turn, path)
        return written

    def _follow(self, plan: Plan) -> Plan:
        """Plan with the turns that are new, and prove that the debate asked for each of them, in this order.

        A process may record turns while their folders are listed one by one. So look until nothing is new.
        """
        while self._read_turns():
            self.__dict__.pop("outcome", None)
            plan.advance(self._said)
        for id in plan.strays():
            what = f"{plan.due[0].id} comes first: restore that turn from a backup" if plan.due else "it is over"
            raise Damaged(
                self._turn_path(id), f"the debate has not asked for this turn; {what}, or move this file away"
            )
        self._link(plan)
        return plan

    def _read_turns(self) -> bool:
        """Read the turn files that are new. What editors and systems leave beside them stops nothing."""
        before = len(self._said)
        for path in entries(self.folder / "turns"):
            if path.suffix != ".md":
                raise Damaged(path, "it is no turn; move it away")
            if (id := f"{path.parent.name}/{path.stem}") not in self._said:
                self._keep(id, path)
        return len(self._said) > before

    def _turn_path(self, id: str) -> Path:
        return self.folder / "turns" / f"{id}.md"

    def _keep(self, id: str, path: Path) -> None:
        data = files.read(path)
        receipt, body = turn_file.read(data, path)
        if receipt.turn != id:
            raise Damaged(path, f"it holds the turn {receipt.turn}; {turn_file.REMEDY}")
        called = receipt.speaker not in ("human", "replay") and not receipt.machine and not receipt.absent
        self._receipts[id], self._hashes[id] = receipt, files.sha256(data)
        self._said[id] = Recorded(
            body=body.decode(),
            absent=receipt.absent,
            by=receipt.by or "",
            model=receipt.answered or receipt.asked or "",
            unknown=receipt.speaker == "assistant" and not (receipt.by or receipt.answered or receipt.absent),
            calls=int(called),
            tokens=receipt.tokens,
            usd=receipt.usd,
            most=receipt.most,
        )

    # ---- what was asked ----

    def write_brief(self, id: str, shared: str, own: str) -> str:
        """Store a brief in two files: what a batch shares is stored once. Returns the hash of the whole."""
        self._check()
        common, special, mine = self.brief_files(id)
        first, second = encode(shared), encode(own)
        with suppress(Damaged):
            if self._read_brief(id) == first + second:
                return files.sha256(first, second)
        if id in self._said:
            raise ValueError(f"{id} has been spoken: its brief cannot change")
        files.make_folder(common.parent)
        files.remove(mine)  # it is written last: where it is, the brief is whole
        if files.write_once(common, first) or files.read(common) == first:
            files.remove(special)
        else:  # in a sequence, everybody has read something else
            files.write(special, first)
        files.write(mine, second)
        return files.sha256(first, second)

    def brief(self, id: str) -> bytes:
        """What was asked, exactly. A brief that is not the one which a turn answered is damage."""
        data, mine = self._read_brief(id), self.brief_files(id)[-1]
        files.decode(data, mine)
        if id in self.receipts and self.receipts[id].brief not in ("", files.sha256(data)):
            raise Damaged(mine, f"this is not the brief that was answered; {files.RESTORE}")
        return data

    def _read_brief(self, id: str) -> bytes:
        common, special, mine = self.brief_files(id)
        return files.read(special if os.path.lexists(special) else common) + files.read(mine)

    def brief_files(self, id: str) -> tuple[Path, Path, Path]:
        """The file that the turn's batch shares, the one in its place if this turn read something else, and its own."""
        step, _, seat = id.partition("/")
        folder = self.folder / "briefs" / step
        return folder / "shared.md", folder / f"{seat}.shared.md", folder / f"{seat}.md"

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
        """What became of a call: how it failed, and what it used. It stays on record if its file was removed or emptied
        meanwhile."""
        self._check()
        seat, _, number = path.stem.rpartition("~")
        begun: dict[str, Any] = {"turn": f"{path.parent.name}/{seat}", "number": int(number), "began": now()}
        with suppress(Damaged):
            begun = files.read_json(path)
        files.make_folder(path.parent)
        files.write(path, files.to_json({**begun, "ended": now(), **facts}))

    def attempts(self) -> list[dict[str, Any]]:
        """Every call that was begun, the oldest first. An empty folder is what a kill left, and no damage."""
        found = {path: files.read_json(path) for path in entries(self.folder / "attempts")}
        for path, one in found.items():
            sums = all(one.get(key) is None or files.is_amount(one[key]) for key in ("number", "usd", "most"))
            place = f"{one.get('turn')}~{str(one.get('number')).zfill(3)}.json"
            if not sums or place != f"{path.parent.name}/{path.name}" or not isinstance(one.get("began"), str):
                raise Damaged(path, f"it is no attempt that council wrote; {files.RESTORE}")
        return sorted(found.values(), key=lambda one: str(one["began"]))

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
        return self._link(self.plan)

    def _link(self, plan: Plan) -> list[str]:
        """The heads. Damage, if a turn was recorded after anything else than what is before it now."""
        self._heads = self._heads or [self.birth]
        for batch in (*plan.batches[len(self._heads) - 1 :], plan.open):
            past, head = len(self._heads) - 1, self._heads[-1]
            for id in batch:
                if id in self._receipts and self._receipts[id].after != head:
                    before = join_words(plan.batches[past - 1] if past else ("program.json", "metadata.json"))
                    problem = f"it was not recorded after {before} as they are: restore the changed file from a backup"
                    raise Damaged(self._turn_path(id), f"{problem}, or move this one away if it is foreign")
            if past < len(plan.batches):
                turns = (f"\n{id} {self._hashes[id]}" for id in sorted(batch))
                self._heads.append(files.sha256("".join((head, *turns)).encode()))
        return self._heads

    def _check(self) -> None:
        if self._held is None or self._held.file.closed:
            raise RuntimeError("hold the session before writing to it")
        self._held.check()


def entries(folder: Path) -> list[Path]:
    """The files in the folders of a folder, without what editors and systems leave there."""
    return [path for inner in kept(folder) for path in kept(inner)]


def kept(folder: Path) -> list[Path]:
    found = files.list_folder(folder)
    return [path for path in found if not path.name.startswith(".") and not path.name.endswith(LEFT_BEHIND)]
