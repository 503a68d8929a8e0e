"""A session: a folder of plain files that is the debate. This module is the only writer of its record.

What is derived from the record (rounds, synthesis, transcript) is `publish`'s; who may write is `holder`'s.
"""

from __future__ import annotations

import hashlib
import hmac
import json
import os
import re
import secrets
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from council.engine.planner import Plan, plan
from council.engine.scene import Said
from council.errors import CouncilError, Damaged, UsageError
from council.record import files
from council.record import lock as holder
from council.record import turn_file as receipts
from council.record.turn_file import Receipt, sha256
from council.text import did_you_mean
from council.workflow.loader import load
from council.workflow.model import NAME, Seat, Workflow

SCHEMA = 1
ID = re.compile(r"\d{8}-\d{6}-[0-9a-f]{8}")
TURN = re.compile(r"\d{2}-[a-z0-9-]+/[a-z][a-z0-9-]*(\.2)?")
RECORD = ("metadata.json", "workflow.md", "topic.md")
NEEDED: dict[str, type | tuple[type, ...]] = {
    "schema": int, "session_id": str, "topic": str, "started_at": str, "members": list, "output_mode": str,
    "rounds_planned": (str, int), "workflow": str, "options": dict, "seed": str, "speaker": str, "tiers": dict,
    "seats": dict, "files": dict,
}  # fmt: skip


@dataclass
class Session:
    """A session as it stands on disk. `said` fills as turn files are read or written."""

    folder: Path
    metadata: dict[str, Any]
    workflow: Workflow
    topic: str
    said: dict[str, Said] = field(default_factory=dict)
    receipts: dict[str, Receipt] = field(default_factory=dict)
    holder: holder.Holder | None = None

    @property
    def id(self) -> str:
        return self.folder.name

    @property
    def seed(self) -> str:
        return str(self.metadata["seed"])

    def snapshot(self) -> Session:
        """The session as it stands now, for whoever reads it while others go on writing."""
        return replace(self, said=dict(self.said), receipts=dict(self.receipts))

    def plan(self) -> Plan:
        return plan(self.workflow, self.said, self.seed)

    @contextmanager
    def hold(self) -> Iterator[None]:
        """Work on the session: nobody else does meanwhile, and what was recorded before is read anew."""
        with holder.hold(self.folder) as mine:
            self.holder = mine
            try:
                self.metadata = _metadata(self.folder)
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
        receipt, body = receipts.decode(files.read(path), path)
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
        self.said[receipt.turn] = Said(body, text, receipt.absent, tokens, receipt.usd, receipt.answered)
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
                raise Damaged(
                    self.brief_path(turn),
                    "it is not what this debate asks now: it was edited, or council or a template changed since; "
                    "remove it, and it is made anew",
                )
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
        data = receipts.encode(receipt, body)
        if len(data) > files.LARGEST:
            raise UsageError(f"the reply is larger than {files.LARGEST:,} bytes, and could never be read again")
        self._commit({self.turn_path(receipt.turn): data})
        return *receipts.decode(data, self.turn_path(receipt.turn)), brief

    def _commit(self, new: Mapping[Path, bytes]) -> None:
        self._check_held()
        for folder in {path.parent for path in new}:
            files.make_folder(folder)
        files.create_all(new)

    def merge(self, **facts: Any) -> None:
        """Facts that are known later join the metadata; what stands there stays."""
        self._check_held()
        self.metadata = {**_metadata(self.folder), **facts}
        files.replace(self.folder / "metadata.json", _sealed(self.metadata))

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


def create(root: Path, workflow_text: str, topic: str, facts: Mapping[str, Any]) -> Session:
    """A new session. Its metadata is written last: a folder without it never began, and nothing was spent on it."""
    clear_unborn(root)
    now = datetime.now(UTC)
    folder = root / f"{now:%Y%m%d-%H%M%S}-{secrets.token_hex(4)}"
    texts = {"workflow.md": files.encode(workflow_text), "topic.md": files.encode(topic)}
    metadata = {
        "schema": SCHEMA,
        "session_id": folder.name,
        "started_at": now.isoformat(timespec="seconds"),
        **facts,
        "files": {name: sha256(data) for name, data in texts.items()},
    }
    files.make_folder(root)
    files.make_folder(folder)
    with holder.hold(folder) as mine:
        for name, data in texts.items():
            mine.check()
            files.create(folder / name, data)
        files.create(folder / "metadata.json", _sealed(metadata))
    return open_(folder)


def clear_unborn(root: Path) -> None:
    """Remove what is left of sessions whose making was cut off before they began; where there is more, nothing is."""
    for folder in _folders(root):
        if _unborn(folder):
            with suppress(CouncilError, OSError), holder.hold(folder):
                for name in (*RECORD, holder.LOCK):
                    files.remove(folder / name)
                folder.rmdir()


def _unborn(folder: Path) -> bool:
    """A damaged session still has turns or briefs, and a link leads to what is not ours: neither is a leftover."""
    names = set() if folder.is_symlink() else {path.name for path in folder.iterdir()}
    rest = {name for name in names if not name.endswith(files.TEMP)} - {"workflow.md", "topic.md"}
    return rest == {holder.LOCK}


def open_(folder: Path) -> Session:
    """The session as it is, with its turns not read yet. It may be damaged: then this says where."""
    if folder.is_symlink():
        raise Damaged(folder, "it is a symbolic link; council follows none to a session")
    metadata = _metadata(folder)
    texts = {name: _frozen(folder / name, str(metadata["files"].get(name))) for name in ("workflow.md", "topic.md")}
    try:
        workflow = seated(load(texts["workflow.md"], str(folder / "workflow.md")), metadata)
    except UsageError as bad:
        raise Damaged(folder / "workflow.md", str(bad)) from None
    return Session(folder, metadata, workflow, texts["topic.md"])


def seated(workflow: Workflow, metadata: Mapping[str, Any]) -> Workflow:
    """The frozen program with this session's members, options and personas."""
    members = [Seat(str(name), "") for name in metadata["members"]]
    return workflow.with_members(members).with_options(metadata["options"]).with_attributes(metadata["seats"])


def _frozen(path: Path, expected: str) -> str:
    data = _existing(path)
    if sha256(data) != expected:
        raise Damaged(path, "it is not as the session was begun with; put it back from a backup")
    return data.decode("utf-8", "replace")


def _existing(path: Path) -> bytes:
    try:
        return files.read(path)
    except OSError as failure:
        raise Damaged(
            path, f"it cannot be read ({os.strerror(failure.errno or 0)}); put it back from a backup"
        ) from None


def _sealed(metadata: Mapping[str, Any]) -> bytes:
    plain = {key: value for key, value in metadata.items() if key != "seal"}
    return files.encode(json.dumps({**plain, "seal": _seal(plain)}, indent=2, ensure_ascii=False) + "\n")


def _seal(plain: Mapping[str, Any]) -> str:
    return sha256(files.encode(json.dumps(plain, sort_keys=True, ensure_ascii=False)))


def _metadata(folder: Path) -> dict[str, Any]:
    path = folder / "metadata.json"
    try:
        found = json.loads(_existing(path), object_pairs_hook=_each_once)
    except (ValueError, RecursionError):
        raise Damaged(path, "it is no JSON any more; put it back from a backup") from None
    if isinstance(found, dict) and isinstance(found.get("schema"), int) and found["schema"] > SCHEMA:
        raise Damaged(
            path,
            f"it was written by a newer council (schema {found['schema']}, this one knows {SCHEMA}); update council",
        )
    if not isinstance(found, dict) or found.pop("seal", None) != _seal(found):
        raise Damaged(path, "it is not as council wrote it; put it back from a backup")
    wrong = [key for key, kind in NEEDED.items() if not isinstance(found.get(key), kind)] or list(_misshapen(found))
    if wrong or found["session_id"] != folder.name:
        raise Damaged(path, f"{', '.join(wrong) or 'session_id'} is missing or not what it must be")
    return found


def _each_once(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    """An object none of whose keys hides another."""
    found = dict(pairs)
    if len(found) < len(pairs):
        raise ValueError("a key stands twice")
    return found


def _misshapen(found: Mapping[str, Any]) -> Iterator[str]:
    """The keys whose values no session could have. A member's name becomes a path, so it must be a name."""
    if not found["members"] or not all(isinstance(name, str) and NAME.fullmatch(name) for name in found["members"]):
        yield "members"
    for key in ("seats", "tiers"):
        if not all(isinstance(inner, dict) for inner in found[key].values()):
            yield key
    try:
        if datetime.fromisoformat(found["started_at"]).tzinfo is None:
            yield "started_at"
    except ValueError:
        yield "started_at"


def _folders(root: Path) -> list[Path]:
    if not root.is_dir():
        return []
    return sorted(
        (path for path in root.iterdir() if ID.fullmatch(path.name) and path.is_dir()), key=_age, reverse=True
    )


def _age(folder: Path) -> tuple[str, int]:
    """When a session began: by its id to the second, and then by the one file that is written first and never again."""
    try:
        return folder.name[:15], os.stat(folder / "workflow.md", follow_symlinks=False).st_mtime_ns
    except OSError:
        return folder.name[:15], 0


def all_ids(root: Path) -> list[str]:
    """Every session that began, newest first."""
    return [
        folder.name for folder in _folders(root) if (folder / "metadata.json").exists() or (folder / "turns").exists()
    ]


def find(root: Path, word: str) -> Path:
    """The session of that id, or of an unmistakable part of it; `last` is the newest. Never a path elsewhere."""
    ids = all_ids(root)
    if word in ("last", "latest"):
        if not ids:
            raise UsageError(f'there is no session in {root} yet; `council run "topic"` begins one')
        return root / ids[0]
    if not re.fullmatch(r"[0-9a-f-]{4,}", word):
        raise UsageError(f'"{word[:60]}" is no session id; `council list` shows them')
    matching = [word] if word in ids else [id for id in ids if id.startswith(word) or id.endswith(word)]
    if len(matching) == 1:
        return root / matching[0]
    if matching:
        raise UsageError(f'"{word}" fits {len(matching)} sessions: {", ".join(matching[:4])}; give more of the id')
    raise UsageError(f'there is no session "{word}" in {root}; {did_you_mean(word, ids[:20])}')
