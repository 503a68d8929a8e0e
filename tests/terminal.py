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

from council import text_width
from tests.helpers import CODE, PATIENCE, PROGRAM, User

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


class Shell:
    """A shell on a terminal of its own, in which somebody types. It edits no lines: the terminal echoes them."""

    def __init__(self, user: User, columns: int = 80, rows: int = 30, **env: str) -> None:
        self.ours, self.theirs = pty.openpty()
        fcntl.ioctl(self.theirs, termios.TIOCSWINSZ, struct.pack("HHHH", rows, columns, 0, 0))
        program = user.write("council", f"#!/bin/sh\nexec {sys.executable} -c '{PROGRAM}' \"$@\"\n")
        program.chmod(0o755)
        own = {**user.environment, "PYTHONPATH": str(CODE), "TERM": "xterm", "PS1": "ready> ", **env}
        begin = 'exec sh -i <"$0" >"$0" 2>&1'  # who leads a session and opens a terminal is controlled by it
        command = ["sh", "-c", begin, os.ttyname(self.theirs)]
        self.process = subprocess.Popen(command, cwd=user.work, env=own, start_new_session=True)
        self.raw = ""
        self.seen = 0

    def __enter__(self) -> Shell:
        self.until("ready> ")
        return self

    def __exit__(self, *failure: object) -> None:
        with contextlib.suppress(ProcessLookupError):
            os.killpg(os.tcgetpgrp(self.ours), signal.SIGKILL)
        self.process.kill()
        self.process.wait()
        os.close(self.ours)
        os.close(self.theirs)

    def type(self, keys: str) -> None:
        os.write(self.ours, keys.encode())

    def until(self, pattern: str) -> str:
        """All that was written up to this and not looked at before."""
        while not (found := re.compile(pattern).search(self.raw, self.seen)):
            ready, _, _ = select.select([self.ours], [], [], PATIENCE)
            assert ready, f"{pattern!r} never came: {self.raw[self.seen :]!r}"
            self.raw += os.read(self.ours, 65536).decode("utf-8", "replace")
        text, self.seen = self.raw[self.seen : found.end()], found.end()
        return text

    @property
    def echoes(self) -> bool:
        return bool(termios.tcgetattr(self.theirs)[3] & termios.ECHO)


def _all(terminal: int) -> str:
    seen = b""
    while True:
        try:
            piece = os.read(terminal, 65536)
        except OSError:  # nobody writes to it any more
            return seen.decode()
        seen += piece
