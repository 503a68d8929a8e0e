"""Claude Code as a person uses it: in a terminal, with keys."""

from __future__ import annotations

import contextlib
import fcntl
import json
import os
import pty
import re
import signal
import struct
import subprocess
import termios
import threading
import time
from collections.abc import Callable, Iterator
from pathlib import Path

from tests.claude_code import CLAUDE, KEY, PATIENCE, Room

ESCAPE = b"\x1b"
RETURN = b"\r"
FOREGROUND = "CLAUDE_CODE_DISABLE_BACKGROUND_TASKS"  # in a terminal, members run in the background else
SEQUENCE = re.compile(rb"\x1b\[[0-9;?<>=]*[A-Za-z]|\x1b\][^\x07\x1b]*(?:\x07|\x1b\\)|\x1b.")


class Client:
    """A client that runs in a terminal. What it draws is read all the time, since a full terminal would stop it."""

    def __init__(self, process: subprocess.Popen[bytes], terminal: int, home: Path) -> None:
        self.process, self.terminal, self.home = process, terminal, home
        self.drawn = b""
        self.reader = threading.Thread(target=self.read)
        self.reader.start()

    def read(self) -> None:
        with contextlib.suppress(OSError):
            while data := os.read(self.terminal, 65_536):
                self.drawn += data

    @property
    def text(self) -> str:
        return re.sub(r"\s+", " ", SEQUENCE.sub(b" ", self.drawn).decode("utf-8", "replace"))

    def wrote(self, words: str) -> bool:
        """Whether the words are in the client's own transcript: what it draws is changed in pieces."""
        paths = (self.home / ".claude" / "projects").glob("*/*.jsonl")
        return any(words.encode() in path.read_bytes() for path in paths)

    def press(self, keys: bytes) -> None:
        os.write(self.terminal, keys)

    def say(self, prompt: str) -> None:
        """A prompt, then the return key by itself, until it is taken: what comes in one piece counts as pasted."""
        self.press(prompt.encode())
        due = 0.0

        def taken() -> bool:
            nonlocal due
            if time.monotonic() > due:
                self.press(RETURN)
                due = time.monotonic() + 1
            return self.wrote(prompt)

        self.wait(taken)

    def wait(self, until: Callable[[], bool]) -> None:
        end = time.monotonic() + PATIENCE
        while not until():
            assert self.process.poll() is None, self.text[-2_000:]
            assert time.monotonic() < end, self.text[-2_000:]
            time.sleep(0.1)  # it reads whole transcripts


@contextlib.contextmanager
def client(here: Room, prompt: str, *options: str) -> Iterator[Client]:
    """In the room's project, which is trusted already; it is killed when the block ends."""
    project = {"hasTrustDialogAccepted": True, "hasCompletedProjectOnboarding": True}
    settings = {
        "hasCompletedOnboarding": True,
        "theme": "dark",
        "customApiKeyResponses": {"approved": [KEY[-20:]], "rejected": []},
        "projects": {str(here.user.work): project},
    }
    (here.user.root / ".claude.json").write_text(json.dumps(settings))
    ours, theirs = pty.openpty()
    fcntl.ioctl(theirs, termios.TIOCSWINSZ, struct.pack("HHHH", 50, 160, 0, 0))
    command = [CLAUDE, "--permission-mode", "default", "--allowedTools", "Skill(council)", *options, "--", prompt]
    env = {**here.user.environment, "TERM": "xterm-256color"}
    streams = dict.fromkeys(("stdin", "stdout", "stderr"), theirs)
    process = subprocess.Popen(command, cwd=here.user.work, env=env, start_new_session=True, **streams)  # type: ignore[call-overload]
    os.close(theirs)
    running = Client(process, ours, here.user.root)
    try:
        yield running
    finally:
        with contextlib.suppress(ProcessLookupError):
            os.killpg(process.pid, signal.SIGKILL)
        process.wait()
        running.reader.join()
        os.close(ours)
