"""A session: a folder of plain files that is the debate. This module is the only writer of its record.

What is derived from the record (rounds, synthesis, transcript) is `publish`'s; who may write is `holder`'s.
"""

from __future__ import annotations

import hashlib
import hmac
import os
import re
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from council import __version__
from council.engine.planner import Plan, plan
from council.engine.scene import RecordedTurn
from council.errors import Damaged, UsageError
from council.record import files, lock, turn_file
from council.record import program as programs
from council.record.metadata import FROZEN, read_existing, read_metadata, sealed
from council.record.program import Program
from council.record.turn_file import Receipt, sha256
from council.workflow.loader import load
from council.workflow.model import Seat, Workflow

TURN = re.compile(r"\d{2}-[a-z0-9-]+/[a-z][a-z0-9-]*(\.2)?")
RECORD = ("metadata.json", *FROZEN)


@dataclass
class Session:
    """A session as it stands on disk. `said` fills as turn files are read or written.

    `program` is None in a session that an earlier version began, until `prompts` reads the templates of today for it.
    """

    folder: Path
    metadata: dict[str, Any]
    workflow: Workflow
    topic: str
    program: Program | None = None
    said: dict[str, RecordedTurn] = field(default_factory=dict)
    receipts: dict[str, Receipt] = field(default_factory=dict)
    holder: lock.Holder | None = None

    @property
    def id(self) -> str:
        return self.folder.name

    @property
    def seed(self) -> str:
        return str(self.metadata["seed"])

    @property
    def reproducible(self) -> bool:
        """Whether this version makes each brief again byte for byte: it began the session, and froze its templates."""
        return programs.NAME in self.metadata["files"] and self.metadata.get("council") == __version__

    def snapshot(self) -> Session:
        """The session as it stands now, for whoever reads it while others go on writing."""
        return replace(self, said=dict(self.said), receipts=dict(self.receipts))

    def plan(self) -> Plan:
        return plan(self.workflow, self.said, self.seed)

    @contextmanager
    def hold(self) -> Iterator[None]:
        """Work on the session: nobody else does meanwhile, and what was recorded before is read anew."""
        with lock.hold(self.folder) as mine:
            self.holder = mine
            try:
                self.metadata = read_metadata(self.folder)
                self.read_turns()
                yield
            finally:
                self.holder = None

    def read_turns(self) -> None:
        """Every turn on disk. One that is torn, edited or foreign stops everything, by name."""
        for wrong in self.check_turns():
            raise wrong

    def check_turns(self) -> Iterator[Damaged]:
        """Read every turn on disk, and say of each file that is not as it must be what is wrong with it."""
        self.said, self.receipts = {}, {}
        yield from self._strangers()
        for path in _turn_files(self.folder / "turns"):
            try:
                self._read_turn(str(path.relative_to(self.folder / "turns").with_suffix("")), path)
            except Damaged as wrong:
                yield wrong
        found = self.plan()
        for turn in self.said:
            if not _possible(turn, self.workflow) or (found.done and turn not in found.expected):
                why = "it is no turn of this debate as its other turns stand; move it away, or put back what changed"
                yield Damaged(self.turn_path(turn), why)

    def _read_turn(self, turn: str, path: Path) -> None:
        receipt, body = turn_file.decode(files.read(path), path)
        if receipt.turn != turn:
            raise Damaged(path, f"it is the turn {receipt.turn}, under another's name; move it back")
        brief = self.brief(turn)
        if brief is None:
            raise Damaged(self.brief_path(turn), "the brief of a recorded turn is missing; put it back from a backup")
        if sha256(brief) != receipt.brief:
            raise Damaged(
                self.brief_path(turn),
                f"it is not the brief that {path} answered: one of the two was changed, or is another session's; "
                "put it back from a backup",
            )
        self.remember(receipt, body, brief)

    def remember(self, receipt: Receipt, body: str, brief: bytes) -> None:
        tokens = receipt.input + receipt.cache_read + receipt.cache_write + receipt.output
        text = brief.decode("utf-8", "replace")
        self.said[receipt.turn] = RecordedTurn(body, text, receipt.absent, tokens, receipt.usd, receipt.answered)
        self.receipts[receipt.turn] = receipt

    def _strangers(self) -> Iterator[Damaged]:
        """Links are refused wherever they stand in a session, and so is what is no turn among the turns."""
        for path in files.walk(self.folder):
            top, _, rest = str(path.relative_to(self.folder)).partition(os.sep)
            if path.is_symlink():
                yield Damaged(path, "it is a symbolic link; council follows none inside a session. Remove it")
            elif top in ("turns", "briefs") and not _of_council(rest):
                yield Damaged(path, f"it is no file of council's; move it out of {top}/")

    def turn_path(self, turn: str) -> Path:
        return self.folder / "turns" / f"{turn}.md"

    def brief_path(self, turn: str) -> Path:
        return self.folder / "briefs" / f"{turn}.md"

    def brief(self, turn: str) -> bytes | None:
        try:
            return files.read(self.brief_path(turn))
        except FileNotFoundError:
            return None

    def write_briefs(self, texts: Mapping[str, str]) -> None:
        """Briefs are on disk before they are sent. One that stands there already must be the same."""
        new = {}
        for turn, text in texts.items():
            data, written = files.encode(text), self.brief(turn)
            if written is not None and written != data:
                why = "it was edited after council wrote it; remove it, and `council recover` writes it again"
                raise Damaged(self.brief_path(turn), why)
            if written is None:
                new[self.brief_path(turn)] = data
        self._commit(new)

    def record(self, receipt: Receipt, body: str) -> None:
        """The turn is spoken once this returns. It is refused if it was spoken before."""
        self.remember(*self.store(receipt, body))

    def store(self, receipt: Receipt, body: str) -> tuple[Receipt, str, bytes]:
        """The part of recording that works on the disk; what was written then has to be remembered.

        What the receipt says of the brief is what lies on the disk now.
        """
        brief = self.brief(receipt.turn)
        if brief is None:
            raise Damaged(self.brief_path(receipt.turn), "the brief went missing while it was being answered")
        receipt = replace(receipt, brief=sha256(brief))
        data = turn_file.encode(receipt, body)
        if len(data) > files.LARGEST:
            raise UsageError(f"the reply is larger than {files.LARGEST:,} bytes, and could never be read again")
        self._commit({self.turn_path(receipt.turn): data})
        return *turn_file.decode(data, self.turn_path(receipt.turn)), brief

    def _commit(self, new: Mapping[Path, bytes]) -> None:
        self._check_held()
        for folder in {path.parent for path in new}:
            files.make_folder(folder)
        files.create_all(new)

    def merge(self, **facts: Any) -> None:
        """Facts that are known later join the metadata; what stands there stays."""
        self._check_held()
        self.metadata = {**read_metadata(self.folder), **facts}
        files.replace(self.folder / "metadata.json", sealed(self.metadata))

    def _check_held(self) -> None:
        if self.holder is None:
            raise AssertionError("a session is written to only while it is held")
        self.holder.check()

    def key(self, *about: str) -> str:
        """A word for a fence that nobody knows who wrote what stands inside of it."""
        return fence_key(self.seed, *about)


def _of_council(name: str) -> bool:
    return name.endswith(files.TEMP) or (name.endswith(".md") and TURN.fullmatch(name.removesuffix(".md")) is not None)


def fence_key(seed: str, *about: str) -> str:
    words = "\x1f".join(about).encode("utf-8", "surrogatepass")
    return hmac.new(seed.encode(), words, hashlib.sha256).hexdigest()[:16]


def _turn_files(folder: Path) -> list[Path]:
    """Whatever is called like a turn: a folder of that name is read as one too, and so refused."""
    return sorted(folder.rglob("*.md")) if folder.is_dir() else []


def _possible(turn: str, workflow: Workflow) -> bool:
    """Whether the workflow could ever ask for this turn."""
    place = turn.partition("/")[0]
    for phase, step in workflow.steps():
        if place == phase.folder(1, step):
            return True
        match = re.match(rf"{phase.number:02}-{re.escape(phase.name)}-r(\d\d)", place)
        if match and place == phase.folder(int(match.group(1)), step):
            return True
    return False


def open_(folder: Path) -> Session:
    """The session as it is, with its turns not read yet. It may be damaged: then this says where."""
    if folder.is_symlink():
        raise Damaged(folder, "it is a symbolic link; council follows none to a session")
    metadata = read_metadata(folder)
    frozen = {name: _frozen(folder / name, str(digest)) for name, digest in metadata["files"].items() if name in FROZEN}
    program = programs.decode(frozen[programs.NAME], folder / programs.NAME) if programs.NAME in frozen else None
    personas = program.personas if program else metadata["seats"]
    text, topic = (frozen[name].decode("utf-8", "replace") for name in ("workflow.md", "topic.md"))
    try:
        workflow = seated(load(text, str(folder / "workflow.md")), metadata, personas)
    except UsageError as bad:
        raise Damaged(folder / "workflow.md", str(bad)) from None
    return Session(folder, metadata, workflow, topic, program)


def seated(workflow: Workflow, metadata: Mapping[str, Any], personas: Mapping[str, Mapping[str, Any]]) -> Workflow:
    """The frozen workflow with this session's members, options and personas."""
    members = [Seat(str(name), "") for name in metadata["members"]]
    return workflow.with_members(members).with_options(metadata["options"]).with_attributes(personas)


def _frozen(path: Path, expected: str) -> bytes:
    data = read_existing(path)
    if sha256(data) != expected:
        raise Damaged(path, "it is not as the session was begun with; put it back from a backup")
    return data
