"""Creates a session: in a hidden folder, which is renamed once it is whole. A session that exists is complete."""

from __future__ import annotations

import errno
import os
import re
import secrets
import time
from collections.abc import Mapping
from contextlib import ExitStack, suppress
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from council.errors import CouncilError, UsageError
from council.record import catalog, files, lock, tracked
from council.record.lock import Lock
from council.record.metadata import FROZEN, SCHEMA, is_extra, seal
from council.record.program import Program
from council.record.session import Session, open_
from council.record.turn_file import sha256

HIDDEN = re.compile(rf"\.{catalog.ID.pattern}\.[0-9a-f]{{8}}\.new")
OLD = 3600.0  # seconds after which a hidden folder that nobody holds is a leftover
TAKEN = (errno.EEXIST, errno.ENOTEMPTY, errno.ENOTDIR)


@dataclass(frozen=True)
class Content:
    """What a session freezes: its workflow, its topic, its program, and further files that a room adds, by name."""

    workflow: str
    topic: str
    program: Program
    extra: Mapping[str, bytes] = field(default_factory=dict)

    def encode(self) -> dict[str, bytes]:
        ours = (files.encode(self.workflow), files.encode(self.topic), self.program.data)
        if wrong := [name for name in self.extra if not is_extra(name)]:
            raise AssertionError(f"a session cannot freeze files of these names: {wrong}")
        return {**dict(zip(FROZEN, ours, strict=True)), **self.extra}


def create(
    root: Path, content: Content, facts: Mapping[str, Any], id: str | None = None, held: bool = False
) -> Session:
    """A new session; without `id`, its name is the time and a random number. If it fails, nothing is there.

    With `held` it is locked from its birth until its first `hold` ends, so that no other process can come between.
    """
    now = datetime.now(UTC)
    name = catalog.check_id(id) if id is not None else f"{now:%Y%m%d-%H%M%S}-{secrets.token_hex(4)}"
    frozen = content.encode()
    metadata = {
        "schema": SCHEMA,
        "session_id": name,
        "started_at": now.isoformat(timespec="microseconds"),
        **facts,
        "files": {file: sha256(data) for file, data in frozen.items()},
    }
    for file, data in frozen.items():
        files.check_size(data, f"the session's {file}")
    if why := tracked.explain(root / name):  # else it could be begun, and not continued
        raise UsageError(f"no session can be kept in {root}: {why}")
    remove_leftovers(root)
    with ExitStack() as birth:
        made = _make(root, name, {**frozen, "metadata.json": seal(metadata)}, birth)
        session = open_(root / name)
        if held:
            session.birth = made, birth.pop_all()
    return session


def _make(root: Path, name: str, content: Mapping[str, bytes], birth: ExitStack) -> Lock:
    """Write the files into a hidden folder, and rename it. Of two that want the same name, one is refused.

    The hidden folder is locked meanwhile, so that no other process takes it for a leftover.
    """
    refused = UsageError(f'there is a session "{name}" already; choose another id, or `council recover {name}`')
    if os.path.lexists(root / name):
        raise refused
    hidden = root / f".{name}.{secrets.token_hex(4)}.new"
    files.make_folder(root)
    try:
        os.mkdir(hidden, 0o700)
        held = birth.enter_context(lock.hold(hidden))
        files.fill_folder(hidden, content)
        os.rename(hidden, root / name)
        files.sync_folder(root)
        return Lock(root / name, held.inode)
    except BaseException as failure:
        with suppress(OSError):
            _remove(hidden)
        if isinstance(failure, OSError):
            raise (refused if failure.errno in TAKEN else files.storage_error(root / name, failure)) from failure
        raise


def remove_leftovers(root: Path) -> None:
    """Remove what was left by programs that were killed while they made a session, an hour later.

    Never what another process may still be writing: that one holds the lock, and what it renamed is gone from here.
    """
    for name in os.listdir(root) if root.is_dir() else ():
        if HIDDEN.fullmatch(name) and _is_old(root / name):
            with suppress(CouncilError, OSError):  # another process may be removing it too
                files.remove_empty(root / name)
                with lock.try_hold(root / name) as held:
                    if held:
                        held.check()
                        _remove(root / name)


def _is_old(folder: Path) -> bool:
    try:
        about = folder.lstat()
    except OSError:
        return False
    return not folder.is_symlink() and time.time() - about.st_mtime > OLD


def _remove(folder: Path) -> None:
    """Remove a hidden folder and the files of a new session, the lock last. Anything else in it stays."""
    extra = [name for name in os.listdir(folder) if is_extra(name)]
    for name in (*extra, *FROZEN, "metadata.json", lock.LOCK):
        with suppress(FileNotFoundError):
            os.unlink(folder / name)
    os.rmdir(folder)
