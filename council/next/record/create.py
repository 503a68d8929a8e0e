"""Creates a session: in a hidden folder, which is renamed once it is whole. A session that exists is complete."""

from __future__ import annotations

import os
import secrets
import time
from collections.abc import Iterator, Mapping
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from council.next.errors import CouncilError, UsageError
from council.next.record import files, lock
from council.next.record.catalog import check_id
from council.next.record.session import SCHEMA, Session
from council.next.text import encode, one_line, slug

BEGAN = "%Y-%m-%dT%H:%M:%S.%fZ"  # to the microsecond, because many sessions may begin in one second
BORN = {"workflow.md", "topic.md", "program.json", "metadata.json", "attached", "frozen", lock.LOCK, lock.NOTE}


@dataclass(frozen=True)
class Birth:
    """All that a session freezes. `program` holds options, gates, members, personas and templates."""

    workflow: str
    topic: str
    program: Mapping[str, Any]
    facts: Mapping[str, Any]
    attached: Mapping[str, bytes] = field(default_factory=dict)  # the documents, by the path that was given
    frozen: Mapping[str, bytes] = field(default_factory=dict)  # the files that a session begins from, by path

    def content(self, id: str, began: str) -> dict[str, bytes]:
        """The files of the session, by their names in its folder."""
        attached = {}
        for number, (path, data) in enumerate(self.attached.items(), 1):
            try:
                data.decode()
            except UnicodeDecodeError:
                raise UsageError(f"{one_line(path)} is not text in UTF-8; convert it first") from None
            name = Path(path.replace("\0", "").rpartition("/")[2])  # the path that was given may hold anything
            ending = ".md" if name.suffix == ".md" else ".txt"
            attached[path] = f"attached/{number:02}-{slug(name.stem, 40) or 'document'}{ending}"
        frozen = {path: f"frozen/{files.sha256(data)}" for path, data in self.frozen.items()}
        given = {
            "workflow.md": encode(self.workflow),
            "topic.md": encode(self.topic),
            **{attached[path]: data for path, data in self.attached.items()},
            **{frozen[path]: data for path, data in self.frozen.items()},
        }
        program = {
            "schema": SCHEMA,
            "seed": secrets.token_hex(16),
            **self.program,
            "attached": attached,
            "frozen": frozen,
            "files": {name: files.sha256(data) for name, data in given.items()},
        }
        metadata = {"session_id": id, "topic": given["topic.md"].decode(), "started_at": began, **self.facts}
        return {**given, "program.json": files.to_json(program), "metadata.json": files.to_json(metadata)}


@contextmanager
def create(root: Path, birth: Birth, id: str = "") -> Iterator[Session]:
    """Make a session, and hold it from its birth on. If that fails, nothing is there.

    The hidden folder is locked while it is filled, so that nobody takes it for one that a killed process left.
    """
    began = datetime.now(UTC)
    id = check_id(id) if id else f"{began:%Y%m%d-%H%M%S}-{secrets.token_hex(4)}"
    content = birth.content(id, began.strftime(BEGAN))
    sweep(files.make_folder(root))
    with ExitStack() as until_the_end:
        try:
            if os.path.lexists(root / id):  # also an empty folder, which a rename would replace
                raise FileExistsError
            with files.placed(root / id) as hidden:
                os.mkdir(hidden, 0o700)
                held = until_the_end.enter_context(lock.hold(hidden))
                files.fill_folder(hidden, content)
        except FileExistsError:
            raise UsageError(
                f'there is a session "{id}" already; choose another id; `council status {id}` says how far it is'
            ) from None
        held.folder = root / id
        yield Session(root / id, held)


def sweep(root: Path) -> None:
    """Remove what processes left that were killed while they made a session.

    Never what another process may still be filling: that one holds the lock. And never what holds anything else.
    """
    for hidden in (path for path in files.list_folder(root) if path.name.endswith(files.TEMP)):
        with suppress(OSError, CouncilError):
            old = not hidden.is_symlink() and time.time() - hidden.lstat().st_mtime > files.OLD
            if old and (locked := lock.claim(hidden / lock.LOCK)):
                with locked:
                    if {path.name for path in hidden.iterdir() if not path.name.endswith(files.TEMP)} <= BORN:
                        files.discard(hidden)
