"""Rights that a process gives up, for itself and for whatever it starts."""

from __future__ import annotations

import ctypes

OVERRIDES = (1, 2)  # of permissions of files, to write and to read: CAP_DAC_OVERRIDE, CAP_DAC_READ_SEARCH
VERSION, DROP_FROM_BOUNDS = 0x20080522, 24
PROGRAM = "from tests import rights; rights.give_up_overrides()\n"


def give_up_overrides() -> None:
    """From here on root is refused what the permissions of a file refuse."""
    libc = ctypes.CDLL(None, use_errno=True)
    header, sets = (ctypes.c_uint32 * 2)(VERSION, 0), (ctypes.c_uint32 * 6)()
    failed = any(libc.prctl(DROP_FROM_BOUNDS, number, 0, 0, 0) for number in OVERRIDES) or libc.capget(header, sets)
    for which in range(3):  # effective, permitted, inheritable
        sets[which] &= ~sum(1 << number for number in OVERRIDES)
    if failed or libc.capset(header, sets):
        raise OSError(ctypes.get_errno(), "rights cannot be given up")
