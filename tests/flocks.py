"""A process in which flock fails, or lies: a filter for system calls, which only Linux has."""

from __future__ import annotations

import ctypes
import platform

from tests.helpers import run_line

NUMBERS = {"x86_64": 73, "aarch64": 32}  # of the system call


def program() -> str:
    """The program where flock fails with the errno that its first word is."""
    return f"import sys; from tests import flocks; flocks.refuse(int(sys.argv.pop(1))); {run_line()}"


class Step(ctypes.Structure):
    _fields_ = (("code", ctypes.c_ushort), ("yes", ctypes.c_ubyte), ("no", ctypes.c_ubyte), ("k", ctypes.c_uint))


class Filter(ctypes.Structure):
    _fields_ = (("length", ctypes.c_ushort), ("steps", ctypes.POINTER(Step)))


def refuse(failure: int) -> None:
    """From here on every flock of this process fails with this errno; with 0, it succeeds and locks nothing."""
    no_new_privileges, set_filter, filtered = 38, 22, 2
    load, equals, give = 0x20, 0x15, 0x06
    refused, allowed = 0x00050000 | failure, 0x7FFF0000
    number = NUMBERS[platform.machine()]
    steps = (Step * 4)(
        Step(load, 0, 0, 0), Step(equals, 0, 1, number), Step(give, 0, 0, refused), Step(give, 0, 0, allowed)
    )
    program, libc = Filter(len(steps), steps), ctypes.CDLL(None, use_errno=True)
    if libc.prctl(no_new_privileges, 1, 0, 0, 0) or libc.prctl(set_filter, filtered, ctypes.byref(program), 0, 0):
        raise OSError(ctypes.get_errno(), "no filter for system calls")
