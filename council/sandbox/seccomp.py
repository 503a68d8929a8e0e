"""The system calls that no job may make, as a filter that bubblewrap loads.

Namespaces and the lack of capabilities stop most things. This stops what they do not: key rings and virtual sockets,
which all namespaces share; parts of the kernel with a bad record; memory that no process seems to use; and tracing
another process, which protects a harness from the code that it runs.
"""

from __future__ import annotations

import errno
import platform
import struct
from collections.abc import Iterator, Sequence
from functools import cache

# Numbers on x86_64, and on the architectures that share one table.
REFUSED = {
    "keyctl": (250, 219), "add_key": (248, 217), "request_key": (249, 218),
    "bpf": (321, 280), "perf_event_open": (298, 241), "userfaultfd": (323, 282),
    "ptrace": (101, 117), "process_vm_readv": (310, 270), "process_vm_writev": (311, 271),
    "pidfd_getfd": (438, 438), "kcmp": (312, 272),
    "shmget": (29, 194), "msgget": (68, 186), "semget": (64, 190), "unshare": (272, 97), "setns": (308, 268),
}  # fmt: skip
# Programs do without these where they seem to be unknown.
UNKNOWN = {
    "io_uring_setup": (425, 425), "io_uring_enter": (426, 426), "io_uring_register": (427, 427),
    "memfd_create": (319, 279), "memfd_secret": (447, 447), "clone3": (435, 435),
}  # fmt: skip
CLONE, IOCTL, SOCKET, PRCTL = (56, 220), (16, 29), (41, 198), (157, 167)
MACHINES = {
    "x86_64": (0xC000003E, 0), "aarch64": (0xC00000B7, 1), "riscv64": (0xC00000F3, 1), "loongarch64": (0xC0000102, 1)
}  # fmt: skip
NEW_NAMESPACES = 0x7E020000
TERMINAL_INPUT = (0x5412, 0x541C)  # TIOCSTI, TIOCLINUX
DEATH_SIGNAL, SIGKILL = 1, 9
FAMILIES = (1, 2, 10, 16)  # local sockets, IPv4, IPv6, netlink: those that a network namespace isolates

LOAD, EQUAL, AT_LEAST, ANY_BIT, RETURN = 0x20, 0x15, 0x35, 0x45, 0x06
ALLOW, KILL, ERROR = 0x7FFF0000, 0x80000000, 0x00050000
NUMBER, MACHINE, FIRST, SECOND = 0, 4, 16, 24  # offsets in what the kernel shows to a filter
Instruction = tuple[int, int, int, int]


def is_supported() -> bool:
    return platform.machine() in MACHINES


@cache
def compile_filter() -> bytes:
    """The filter for this machine, as bubblewrap's --seccomp reads it."""
    machine, column = MACHINES[platform.machine()]
    return b"".join(struct.pack("<HBBI", *step) for step in _list_steps(machine, column))


def _list_steps(machine: int, column: int) -> Iterator[Instruction]:
    yield from ((LOAD, 0, 0, MACHINE), (EQUAL, 1, 0, machine), (RETURN, 0, 0, KILL), (LOAD, 0, 0, NUMBER))
    if column == 0:  # the calls of the x32 ABI
        yield from ((AT_LEAST, 0, 1, 0x40000000), (RETURN, 0, 0, ERROR | errno.ENOSYS))
    for calls, error in ((REFUSED, errno.EPERM), (UNKNOWN, errno.ENOSYS)):
        for numbers in calls.values():
            yield from ((EQUAL, 0, 1, numbers[column]), (RETURN, 0, 0, ERROR | error))
    yield from _look_at(CLONE[column], FIRST, ANY_BIT, [NEW_NAMESPACES], wanted=False, error=errno.EPERM)
    yield from _look_at(IOCTL[column], SECOND, EQUAL, TERMINAL_INPUT, wanted=False, error=errno.EPERM)
    yield from _look_at(SOCKET[column], FIRST, EQUAL, FAMILIES, wanted=True, error=errno.EAFNOSUPPORT)
    yield from _keep_death_signal(PRCTL[column])
    yield RETURN, 0, 0, ALLOW


def _keep_death_signal(number: int) -> Iterator[Instruction]:
    """A job can write to the memory of the first process of its sandbox, which bubblewrap made to die with us. A
    process that asks for another signal than SIGKILL is told that it worked.
    """
    yield from ((EQUAL, 0, 6, number), (LOAD, 0, 0, FIRST), (EQUAL, 0, 3, DEATH_SIGNAL), (LOAD, 0, 0, SECOND))
    yield from ((EQUAL, 1, 0, SIGKILL), (RETURN, 0, 0, ERROR), (RETURN, 0, 0, ALLOW))


def _look_at(
    number: int, argument: int, test: int, values: Sequence[int], wanted: bool, error: int
) -> Iterator[Instruction]:
    """The filter for one call: an argument that passes the test with any of the values is wanted, or refused."""
    found, other = (ALLOW, ERROR | error) if wanted else (ERROR | error, ALLOW)
    yield from ((EQUAL, 0, 2 * len(values) + 2, number), (LOAD, 0, 0, argument))
    for value in values:
        yield from ((test, 0, 1, value), (RETURN, 0, 0, found))
    yield RETURN, 0, 0, other
