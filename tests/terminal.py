"""A terminal for tests: what a person sees after all that was written, in a window of some columns.

It knows what council may send (line ends, colours, cursor up, clearing) and refuses every other sequence.
"""

from __future__ import annotations

import contextlib
import fcntl
import os
import pty
import re
import select
import signal
import struct
import subprocess
import sys
import termios
from pathlib import Path
from typing import Self

from council import text_width
from tests import warm
from tests.helpers import CODE, PATIENCE, User, run_line

CONTROLLED = "import fcntl, termios; fcntl.ioctl(0, termios.TIOCSCTTY, 0)"  # for a process that leads a session
PIECE = re.compile(r"\x1b\[(\d*(?:;\d+)*)([A-Za-z])|(\x1b.?.?)|(.)", re.S)


class Terminal:
    """`rows` holds the screen and everything that has scrolled out of it."""

    def __init__(self, columns: int) -> None:
        self.columns = columns
        self.rows: list[list[str]] = [[]]
        self.row = self.column = 0
        self.colours = 0

    @property
    def text(self) -> str:
        return "\n".join("".join(row).rstrip() for row in self.rows).rstrip()

    def write(self, text: str) -> None:
        for found in PIECE.finditer(text):
            argument, command, strange, char = found.groups()
            assert strange is None, f"a sequence that no terminal should get: {strange!r}"
            self.obey(command, argument) if command else self.put(char)

    def obey(self, command: str, argument: str) -> None:
        if command == "m":
            self.colours += 1
        elif command == "A":
            assert int(argument or 1) <= self.row, "the cursor was moved above what council wrote"
            self.row -= int(argument or 1)
        elif command in "JK":
            assert argument in ("", "0")
            del self.rows[self.row][self.column :]
            if command == "J":
                del self.rows[self.row + 1 :]
        else:
            raise AssertionError(f"a sequence that no terminal should get: {argument}{command}")

    def put(self, char: str) -> None:
        if char == "\r":
            self.column = 0
        elif char == "\n":
            self.down()
            self.column = 0
        elif char == text_width.EMOJI_STYLE or text_width.of(char) == 0:
            pass  # it belongs to the sign before it
        else:
            self.show(char, text_width.of(char))

    def show(self, char: str, wide: int) -> None:
        if self.column + wide > self.columns:
            self.down()
            self.column = 0
        row = self.rows[self.row]
        row += [" "] * (self.column - len(row))
        row[self.column : self.column + wide] = [char, *[""] * (wide - 1)]
        self.column += wide

    def down(self) -> None:
        self.row += 1
        if self.row == len(self.rows):
            self.rows.append([])


class Shown:
    """What a command wrote to a terminal, piece by piece, and how it ended."""

    def __init__(self, user: User, words: tuple[str | Path, ...], columns: int, rows: int, **env: str) -> None:
        self.columns = columns
        ours, theirs = pty.openpty()
        fcntl.ioctl(theirs, termios.TIOCSWINSZ, struct.pack("HHHH", rows, columns, 0, 0))
        stdout = env.pop("stdout", "terminal")
        process = user.spawn(
            *words,
            stdin=theirs,
            stdout=theirs if stdout == "terminal" else subprocess.PIPE,
            stderr=theirs,
            env={"TERM": "xterm", **env},
        )
        os.close(theirs)
        self.raw = _all(ours)
        os.close(ours)
        self.out = process.communicate(timeout=60)[0] or b""
        self.code = process.returncode

    @property
    def screen(self) -> Terminal:
        """The screen at the end."""
        terminal = Terminal(self.columns)
        terminal.write(self.raw)
        return terminal

    def moments(self) -> list[str]:
        """The screen each time that the live block is about to be drawn anew, and at the end."""
        terminal, moments = Terminal(self.columns), []
        for piece in re.split(r"(?=\r(?:\x1b\[\d+A)?(?:\x1b\[J|\x1b\[\d*m?|[⠋⠙⠹⠸⠼⠴⠦⠧⠇⠏]))", self.raw):
            terminal.write(piece)
            moments.append(terminal.text)
        return moments


class Console:
    """A terminal at which somebody types. It edits no lines, but echoes them."""

    process: subprocess.Popen[bytes]

    def __init__(self, columns: int, rows: int) -> None:
        self.ours, self.theirs = pty.openpty()
        fcntl.ioctl(self.theirs, termios.TIOCSWINSZ, struct.pack("HHHH", rows, columns, 0, 0))
        self.raw = ""
        self.seen = 0

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *failure: object) -> None:
        os.close(self.ours)

    def type(self, keys: str) -> None:
        os.write(self.ours, keys.encode())

    def until(self, pattern: str) -> str:
        """All that was written up to this and not looked at before."""
        while not (found := re.compile(pattern).search(self.raw, self.seen)):
            ready, _, _ = select.select([self.ours], [], [], PATIENCE)
            assert ready, f"{pattern!r} never came: {self.raw[self.seen :]!r}"
            piece = _read(self.ours)
            assert piece, f"{pattern!r} never came, and nobody writes any more: {self.raw[self.seen :]!r}"
            self.raw += piece.decode("utf-8", "replace")
        text, self.seen = self.raw[self.seen : found.end()], found.end()
        return text


class Running(Console):
    """One command of council that is controlled by a terminal, without a shell."""

    def __init__(self, user: User, *words: str | Path, columns: int = 80, rows: int = 30, **env: str) -> None:
        super().__init__(columns, rows)
        env = {**user.environment, "PYTHONPATH": str(CODE), "TERM": "xterm", **env}
        command = [sys.executable, "-c", f"{CONTROLLED}; {run_line()}", *map(str, words)]
        at = self.theirs
        self.process = warm.start(
            command, cwd=user.work, env=env, start_new_session=True, stdin=at, stdout=at, stderr=at
        )
        os.close(self.theirs)

    def __exit__(self, *failure: object) -> None:
        self.process.kill()
        self.process.wait()
        super().__exit__(*failure)

    def end(self) -> tuple[int, str]:
        """Its exit code, and all that it wrote to its end and that was not looked at before."""
        self.raw += _all(self.ours)
        text, self.seen = self.raw[self.seen :], len(self.raw)
        return self.process.wait(PATIENCE), text


class Shell(Console):
    """A shell on a terminal of its own, in which somebody calls council: for job control and the like. Each start of
    council is a cold one.
    """

    def __init__(self, user: User, columns: int = 80, rows: int = 30, **env: str) -> None:
        super().__init__(columns, rows)
        program = user.write("council", f"#!/bin/sh\nexec {sys.executable} -c '{run_line()}' \"$@\"\n")
        program.chmod(0o755)
        own = {**user.environment, "PYTHONPATH": str(CODE), "TERM": "xterm", "PS1": "ready> ", **env}
        begin = 'exec sh -i <"$0" >"$0" 2>&1'  # who leads a session and opens a terminal is controlled by it
        command = ["sh", "-c", begin, os.ttyname(self.theirs)]
        self.process = subprocess.Popen(command, cwd=user.work, env=own, start_new_session=True)

    def __enter__(self) -> Self:
        self.until("ready> ")
        return self

    def __exit__(self, *failure: object) -> None:
        with contextlib.suppress(ProcessLookupError):
            os.killpg(os.tcgetpgrp(self.ours), signal.SIGKILL)
        self.process.kill()
        self.process.wait()
        os.close(self.theirs)
        super().__exit__(*failure)

    @property
    def echoes(self) -> bool:
        return bool(termios.tcgetattr(self.theirs)[3] & termios.ECHO)


def _all(terminal: int) -> str:
    return b"".join(iter(lambda: _read(terminal), b"")).decode()


def _read(terminal: int) -> bytes:
    try:
        return os.read(terminal, 65536)
    except OSError:  # nobody writes to it any more
        return b""
