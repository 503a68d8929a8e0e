"""Who is at the other end of a connection from this machine: Linux lists every socket with the user it belongs to."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path

TABLES = (Path("/proc/net/tcp"), Path("/proc/net/tcp6"))
CONNECTED, CLOSED = (
    "01",
    "0",
)  # a state, and the inode of a socket that no process has any more, whose user reads as root
ROOT = 0


def is_own_user(port: int, server_port: int) -> bool | None:
    """Whether the connection from that port belongs to this process's user, to the one who became root to start it,
    or to root. None where nobody can tell.
    """
    lines = list(read_tables())
    if not lines:
        return None
    users = {find_user(line.split(), port, server_port) for line in lines} - {None}
    return bool(users) and users <= list_own_users()


def list_own_users() -> set[int]:
    behind = os.environ.get("SUDO_UID", "") if os.geteuid() == ROOT else ""
    return {os.geteuid(), ROOT, *([int(behind)] if behind.isdecimal() else [])}


def read_tables() -> Iterator[str]:
    for table in TABLES:
        with suppress(OSError):
            yield from table.read_text("ascii").splitlines()[1:]


def find_user(fields: list[str], port: int, server_port: int) -> int | None:
    """The user of a socket, if it is one between the two ports that is in use."""
    ports = [int(address.rpartition(":")[2], 16) for address in fields[1:3]]
    if ports != [port, server_port] or fields[3] != CONNECTED or fields[9] == CLOSED:
        return None
    return int(fields[7])
