"""A session: a folder of plain files that is the debate. This module is the only writer of its record.

It derives nothing from the record (rounds, synthesis, transcript): `reports` does. `lock` decides who may write.
"""

from __future__ import annotations

import hashlib
import hmac
import os
import re
from collections.abc import Iterator, Mapping
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from council import __version__
from council.engine.planner import Plan, is_possible, plan
from council.engine.scene import RecordedTurn
from council.errors import Damaged, StorageError, UsageError
from council.record import attempts, chain, desk, files, tracked, turn_file
from council.record import program as programs
from council.record.attempts import Attempt
from council.record.lock import Lock, hold
from council.record.metadata import FROZEN, read_existing, read_metadata, seal
from council.record.program import Program
from council.record.turn_file import TURN, Receipt, sha256
from council.workflow.model import Workflow

TEMPORARY = rf"|.*{re.escape(files.TEMP)}"
FILE = re.compile(rf"{TURN.pattern}\.md{TEMPORARY}", re.S)
PLACES = {  # what a session's folders may hold
    "turns": FILE,
    "briefs": FILE,
    desk.FOLDER: re.compile(rf"{FILE.pattern}|{desk.PAUSE}", re.S),
    attempts.FOLDER: re.compile(rf"{TURN.pattern}{re.escape(attempts.SUFFIX)}{TEMPORARY}", re.S),
}
RECORD = ("metadata.json", *FROZEN)


@dataclass
class Session:
    """A session as it is on disk. `said` fills as turn files are read or written, and so does `hashes`, with the hash
    of each file.

    `program` is None in a session that an earlier version began: `current` then has the templates of today, once
    `prompts` has read them. `extra` are the further files that it froze, by name.
    `pending` are the attempts at turns that are not recorded yet. `kept_from` is the version that finished the debate,
    if this one reads its replies differently. `moved` says why a new session is not in the home. `notices` are what
    the user should know at the end. `planned` is the newest plan, with the turns that it is for. `lock` is set while
    this process may write. A session that is held from its birth on has its lock in `birth`.
    """

    folder: Path
    metadata: dict[str, Any]
    workflow: Workflow
    topic: str
    program: Program | None = None
    current: Program | None = None
    extra: Mapping[str, bytes] = field(default_factory=dict)
    said: dict[str, RecordedTurn] = field(default_factory=dict)
    receipts: dict[str, Receipt] = field(default_factory=dict)
    pending: dict[str, tuple[Attempt, ...]] = field(default_factory=dict)
    kept_from: str | None = None
    moved: str = ""
    notices: list[str] = field(default_factory=list)
    hashes: dict[str, str] = field(default_factory=dict)
    planned: tuple[dict[str, RecordedTurn], Plan] | None = None
    lock: Lock | None = None
    birth: tuple[Lock, ExitStack] | None = None

    @property
    def id(self) -> str:
        return self.folder.name

    @property
    def speaker(self) -> str:
        """Who speaks for the seats: the speaker that the session began with, or another that it went on with."""
        return str(self.metadata.get("continued_by", self.metadata["speaker"]))

    @property
    def reproducible(self) -> bool:
        """Whether this version renders each brief as before: it began the session and froze its templates."""
        return programs.NAME in self.metadata["files"] and self.metadata.get("council") == __version__

    def snapshot(self) -> Session:
        """A copy to read while turns are still being recorded."""
        return replace(
            self,
            said=dict(self.said),
            receipts=dict(self.receipts),
            pending=dict(self.pending),
            hashes=dict(self.hashes),
        )

    def plan(self) -> Plan:
        """The plan of these turns, made once: as long as nothing was recorded, the same turns give the same plan."""
        if self.planned is None or self.planned[0] != self.said:
            self.planned = dict(self.said), plan(self.workflow, self.said, self.metadata["seed"])
        return self.planned[1]

    @contextmanager
    def hold(self, kept_too: bool = False) -> Iterator[None]:
        """Lock the session, and read again what was recorded before. A kept one is refused, but for `kept_too`."""
        with ExitStack() as stack:
            (born, birth), self.birth = self.birth or (None, ExitStack()), None
            stack.enter_context(birth)
            tracked.refuse(self.folder)
            self.lock = born or stack.enter_context(hold(self.folder))
            try:
                self.metadata = read_metadata(self.folder)
                self.read_turns()
                if not kept_too:
                    self.refuse_kept()
                for turn in attempts.find(self.folder).keys() & self.said.keys():
                    attempts.remove(self.attempts_path(turn))  # left by a run that was killed: the receipt has them
                desk.clear_late(self.folder, self.said)
                yield
            finally:
                self.lock = None
                files.remove_empty(self.folder / attempts.FOLDER)

    def read_turns(self) -> None:
        """Read every turn on disk, and raise the first one that is damaged."""
        for wrong in self.check_turns():
            raise wrong

    def check_turns(self) -> Iterator[Damaged]:
        """Read every turn on disk, and yield what is wrong with each file."""
        self.said, self.receipts, self.pending, self.hashes = {}, {}, {}, {}
        yield from self._foreign_files()
        turns, unreadable = self.folder / "turns", False
        for path in sorted(turns.glob("*/*.md")):  # a folder of that name too, to refuse it
            try:
                self._read_turn(f"{path.parent.name}/{path.stem}", path)
            except Damaged as wrong:
                unreadable = True
                yield wrong
        yield from self._read_attempts()
        plan = self.plan()
        self.kept_from = self._find_kept(plan)
        if self.kept_from:
            return
        for turn in self.said:
            if not is_possible(turn, self.workflow) or (plan.done and turn not in plan.expected):
                why = "does not fit the other turns of this debate; move it away, or restore the turns that changed"
                yield Damaged(self.turn_path(turn), why)
        if not unreadable:  # else every later turn would be reported too
            yield from chain.check(self, plan)

    def _find_kept(self, plan: Plan) -> str | None:
        """The other version that finished the debate with these very turns, where this one would not end with them."""
        if "completed_at" not in self.metadata or (plan.done and plan.expected.keys() == self.said.keys()):
            return None
        stamp, totals = self.metadata.get("derived"), self.metadata.get("totals")
        calls = totals.get("calls") if isinstance(totals, dict) else None
        same = stamp["turns"] == self.hash_turns() if stamp else calls == len(self.said)
        by = stamp["council"] if stamp else self.metadata.get("council")
        return str(by) if by and by != __version__ and same else None

    def hash_turns(self) -> str:
        """A hash over every turn: when a turn is lost or replaced, earlier derived files no longer match."""
        hashes = [f"{turn} {self.hashes[turn]}" for turn in sorted(self.said)]
        return sha256("\n".join(hashes).encode())

    def refuse_kept(self) -> None:
        """A debate that this version reads differently is neither continued nor derived again."""
        if self.kept_from:
            raise UsageError(
                f"{self.id} was finished by council {self.kept_from}, and this version reads its replies differently, "
                f"so it is kept as it is; `council show {self.id}` prints its transcript"
            )

    def _read_attempts(self) -> Iterator[Damaged]:
        """Read the attempts at turns that are not recorded; those of recorded turns are in their receipts."""
        for turn, path in attempts.find(self.folder).items():
            try:
                if turn not in self.said:
                    self.pending[turn] = attempts.read(path)
            except Damaged as wrong:
                yield wrong

    def _read_turn(self, turn: str, path: Path) -> None:
        data = files.read(path)
        receipt, body = turn_file.decode(data, path)
        if receipt.turn != turn:
            raise Damaged(path, f"holds the turn {receipt.turn}; move it back to that name")
        brief = self.brief(turn)
        if brief is None:
            raise Damaged(self.brief_path(turn), "the brief of a recorded turn is missing; restore it from a backup")
        if sha256(brief) != receipt.brief:
            raise Damaged(
                self.brief_path(turn),
                f"not the brief that {path} answered: one of the two was changed, or belongs to another session; "
                "restore it from a backup",
            )
        self.remember(receipt, body, brief, sha256(data))

    def remember(self, receipt: Receipt, body: str, brief: bytes, file: str) -> None:
        tokens = sum((one.sent or 0) + (one.output or 0) for one in receipt.calls)
        usd = attempts.add([one.usd for one in receipt.calls])
        most = attempts.add([one.at_most for one in receipt.calls])
        text = brief.decode("utf-8", "replace")
        known = (receipt.absent, tokens, usd, receipt.answered, most, receipt.trial)
        self.said[receipt.turn] = RecordedTurn(body, text, *known)
        self.receipts[receipt.turn] = receipt
        self.hashes[receipt.turn] = file
        self.pending.pop(receipt.turn, None)

    def _foreign_files(self) -> Iterator[Damaged]:
        """Links anywhere in the session, and files under turns/ and briefs/ that are neither."""
        start = len(str(self.folder)) + 1
        for entry in files.scan(str(self.folder)):
            top, _, rest = entry.path[start:].partition(os.sep)
            if entry.is_symlink():
                yield Damaged(Path(entry.path), files.LINK)
            elif top in PLACES and not PLACES[top].fullmatch(rest):
                yield Damaged(Path(entry.path), f"council did not write this file; move it out of {top}/")

    def turn_path(self, turn: str) -> Path:
        return self.folder / "turns" / f"{turn}.md"

    def brief_path(self, turn: str) -> Path:
        return self.folder / "briefs" / f"{turn}.md"

    def attempts_path(self, turn: str) -> Path:
        return attempts.path_of(self.folder, turn)

    def brief(self, turn: str) -> bytes | None:
        try:
            return files.read(self.brief_path(turn))
        except FileNotFoundError:
            return None

    def write_briefs(self, texts: Mapping[str, str]) -> None:
        """Write briefs before they are sent. A brief that is already there must be the same."""
        new = {}
        for turn, text in texts.items():
            data, written = files.encode(text), self.brief(turn)
            if written is not None and written != data:
                why = "edited after council wrote it; remove it, and `council recover` writes it again"
                raise Damaged(self.brief_path(turn), why)
            if written is None:
                new[self.brief_path(turn)] = data
        self._commit(new)

    def calls(self) -> list[Attempt]:
        """Every call that was made for the session, as far as it has ended or was interrupted."""
        return [call for one in self.receipts.values() for call in one.calls] + [
            call for one in self.pending.values() for call in one
        ]

    def begin_attempt(self, turn: str, attempt: Attempt) -> int:
        """Put a call on record that is about to be made; returns its number."""
        self._check_held()
        before = attempts.read(self.attempts_path(turn))
        attempts.write(self.attempts_path(turn), (*before, attempt))
        return len(before)

    def end_attempt(self, turn: str, number: int, attempt: Attempt) -> None:
        """Record how a call failed."""
        self._check_held()
        found = list(attempts.read(self.attempts_path(turn)))
        found[number : number + 1] = [attempt]  # somebody may have removed the file meanwhile
        attempts.write(self.attempts_path(turn), found)
        self.pending[turn] = tuple(found)

    def record(self, receipt: Receipt, body: str) -> None:
        """Record a turn. It is refused if it was recorded before."""
        self.remember(*self.store(receipt, body))

    def store(self, receipt: Receipt, body: str, answered: int | None = None) -> tuple[Receipt, str, bytes, str]:
        """The part of `record` that writes: the caller passes what it returns to `remember`.

        The receipt gets the hash of the brief that is on the disk now, and the attempts at this turn. `answered` is
        the number of the one that became the reply.
        """
        brief = self.brief(receipt.turn)
        if brief is None:
            raise Damaged(self.brief_path(receipt.turn), "the brief disappeared while it was being answered")
        earlier = enumerate(attempts.read(self.attempts_path(receipt.turn)))
        failed = tuple(attempt for number, attempt in earlier if number != answered)
        receipt = replace(receipt, brief=sha256(brief), attempts=failed)
        data = turn_file.encode(receipt, body)
        path = self.turn_path(receipt.turn)
        kept = turn_file.decode(data, path)  # what could never be read again is not written
        self._commit({path: data})
        with suppress(StorageError):  # the turn is stored: what is left is removed when the session is next held
            attempts.remove(self.attempts_path(receipt.turn))
            desk.Desk(self.folder, receipt.turn).clear()
        return *kept, brief, sha256(data)

    def _commit(self, new: Mapping[Path, bytes]) -> None:
        self._check_held()
        for folder in {path.parent for path in new}:
            files.make_folder(folder)
        files.create_all(new)

    def replace(self, path: Path, data: bytes) -> None:
        """Write a file that is beside the record, such as a signature of it."""
        self._check_held()
        files.replace(path, data)

    def merge(self, **facts: Any) -> None:
        """Add facts to the metadata; None removes one."""
        self._check_held()
        removed = [key for key, value in facts.items() if value is None]
        merged = {**read_metadata(self.folder), **facts}
        kept = {key: value for key, value in merged.items() if key not in removed}
        files.replace(self.folder / "metadata.json", seal(kept))
        self.metadata = kept  # not before it is on the disk: a debate whose end could not be written has none

    def _check_held(self) -> None:
        if self.lock is None:
            raise AssertionError("a session may be written only while it is locked")
        self.lock.check()

    def key(self, *about: str) -> str:
        """A key for the marks around a text that the author of the text cannot know."""
        return derive_key(self.metadata["seed"], *about)


def derive_key(seed: str, *about: str) -> str:
    words = "\x1f".join(about).encode("utf-8", "surrogatepass")
    return hmac.new(seed.encode(), words, hashlib.sha256).hexdigest()[:16]


def open_(folder: Path) -> Session:
    """The session, with its turns not read yet. If it is damaged, the error names the file."""
    if folder.is_symlink():
        raise Damaged(folder, "a symbolic link, which council does not follow to a session")
    metadata = read_metadata(folder)
    frozen = {name: read_existing(folder / name) for name in metadata["files"]}
    for name, data in frozen.items():
        if sha256(data) != metadata["files"][name]:
            raise Damaged(folder / name, "changed since the session began; restore it from a backup")
    program = programs.decode(frozen[programs.NAME], folder / programs.NAME) if programs.NAME in frozen else None
    text, topic = (frozen[name].decode("utf-8", "replace") for name in ("workflow.md", "topic.md"))
    try:
        workflow = programs.load_workflow(text, str(folder / "workflow.md"), metadata, program)
    except UsageError as bad:
        raise Damaged(folder / "workflow.md", str(bad)) from None
    extra = {name: data for name, data in frozen.items() if name not in FROZEN}
    return Session(folder, metadata, workflow, topic, program, extra=extra)
