"""Processes that need not import what they run: a warm process has done so once, and forks a child for each.

A start of council takes a quarter of a second of a processor, and more than a whole one where a speaker needs its SDK.
A child of a warm process is a process like any other: it has its own pid, environment, folder and streams, obeys
signals, can be killed, and ends as every interpreter ends. Only how a program is found, started and imported cannot be
seen of it: tests of that start a program themselves.
"""

from __future__ import annotations

import atexit
import contextlib
import io
import json
import os
import selectors
import shlex
import shutil
import signal
import socket
import struct
import subprocess
import sys
import tempfile
import threading
import types
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path
from typing import Any, NoReturn

ROOT = Path(__file__).parent.parent
LANG = "C.UTF-8"
READ_ONCE = ("LC_ALL", "LC_CTYPE", "TZ")  # and LANG: by the interpreter, when it starts
NUMBER = struct.Struct("!i")
OURS = {"stdin", "stdout", "stderr", "cwd", "env", "start_new_session"}


def start(command: Sequence[str], **how: Any) -> subprocess.Popen[bytes]:
    """Start a process; from a warm one, where nobody could tell the difference."""
    env = how.get("env") or os.environ
    plain = env.get("LANG") == LANG and not any(name in env for name in READ_ONCE)
    own = {name: env[name] for name in env if name.startswith("PYTHON")}
    program = [*command[:2]] == [sys.executable, "-c"] and own == {"PYTHONPATH": str(ROOT)}
    warm = program and plain and how.keys() <= OURS and hasattr(os, "fork")
    return Forked(command, **how) if warm else subprocess.Popen(command, **how)


def python(program: str, *words: object, **how: Any) -> subprocess.Popen[bytes]:
    """Start a program of Python that finds the code, and nothing else of who starts it."""
    env = {"PATH": os.environ["PATH"], "LANG": LANG, "PYTHONPATH": str(ROOT)}
    return start([sys.executable, "-c", program, *map(str, words)], env=env, **how)


class Forked(subprocess.Popen[bytes]):
    """A process whose parent is the warm one, which tells how it ended. All else is as the standard library has it."""

    _waitpid_lock: threading.Lock
    _close_pipe_fds: Callable[..., None]
    _handle_exitstatus: Callable[[int], None]

    def _execute_child(self, args: Sequence[str], *how: Any) -> None:
        names = ("executable", "preexec_fn", "close_fds", "pass_fds", "cwd", "env", "startupinfo", "flags", "shell")
        given, pipes = dict(zip(names, how, strict=False)), how[len(names) : len(names) + 6]
        theirs = [end if end != -1 else number for number, end in enumerate((pipes[0], pipes[3], pipes[5]))]
        order = {
            "program": args[2], "words": list(args[3:]), "cwd": os.fspath(given["cwd"] or Path.cwd()),
            "env": {**(given["env"] or os.environ)}, "leads": how[-2], "isolated": False,
        }  # fmt: skip
        self._line = ask(warm_process(), order, theirs)
        self._close_pipe_fds(*pipes)
        (self.pid,) = NUMBER.unpack(self._line.recv(NUMBER.size, socket.MSG_WAITALL))
        self._child_created = True

    def _try_wait(self, wait_flags: int) -> tuple[int, int]:
        try:
            told = self._line.recv(NUMBER.size, socket.MSG_DONTWAIT if wait_flags & os.WNOHANG else 0)
        except BlockingIOError:
            return 0, 0
        self._line.close()
        return self.pid, NUMBER.unpack(told)[0]

    def _internal_poll(self, _deadstate: int | None = None, **_: Any) -> int | None:
        if self.returncode is None and self._waitpid_lock.acquire(blocking=False):
            try:
                pid, status = self._try_wait(os.WNOHANG)
                if pid and self.returncode is None:
                    self._handle_exitstatus(status)
            finally:
                self._waitpid_lock.release()
        return self.returncode


def ask(address: str, order: Mapping[str, Any], streams: Sequence[int]) -> socket.socket:
    """Order a child. On this line come its pid, and the status that it ended with."""
    line = socket.socket(socket.AF_UNIX)
    line.connect(address)
    text = json.dumps(order).encode()
    socket.send_fds(line, [NUMBER.pack(len(text))], streams)
    line.sendall(text)
    return line


@cache
def warm_process() -> str:
    """The address of this process's own, which ends with it."""
    folder = tempfile.mkdtemp(prefix="council-warm-")
    env = {"PATH": os.environ["PATH"], "LANG": LANG, "PYTHONPATH": str(ROOT)}
    command = [sys.executable, "-m", "tests.warm", f"{folder}/line"]
    process = subprocess.Popen(
        command, cwd=ROOT, env=env, start_new_session=True, stdin=subprocess.PIPE, stdout=subprocess.PIPE
    )

    def end() -> None:
        process.communicate()
        shutil.rmtree(folder)

    atexit.register(end)
    assert process.stdout is not None
    assert process.stdout.readline(), "the warm process did not start"
    return f"{folder}/line"


@cache
def venv() -> str:
    """An environment for COUNCIL_VENV whose Python is forked from the warm process: what calls council through a shell
    or an assistant calls it often.
    """
    address = warm_process()
    python = Path(address).with_name("venv") / "bin" / "python"
    python.parent.mkdir(parents=True)
    words = [sys.executable, "-IS", ROOT / "tests" / "warm_python.py", address, sys.executable]
    python.write_text(f'#!/bin/sh\nexec {shlex.join(map(str, words))} "$@"\n')
    python.chmod(0o755)
    return str(python.parent.parent)


# ---- in the warm process ----


@dataclass
class Warm:
    """It has one thread, and waits for orders and for the ends of its children."""

    listener: socket.socket
    waiting: selectors.BaseSelector = field(default_factory=selectors.DefaultSelector)
    lines: dict[int, socket.socket] = field(default_factory=dict)

    def serve(self) -> dict[str, Any]:
        """It returns in each child, with its order."""
        ends, wake = os.pipe2(os.O_NONBLOCK | os.O_CLOEXEC)
        signal.signal(signal.SIGCHLD, lambda *_: None)
        signal.set_wakeup_fd(wake)
        for one in (self.listener, 0, ends):
            self.waiting.register(one, selectors.EVENT_READ)
        while True:
            for key, _ in self.waiting.select():
                if key.fd == 0:
                    os._exit(0)
                elif key.fd == ends:
                    os.read(ends, 1024)
                    self.tell_ends()
                elif key.data:  # nobody waits for that child any more
                    if key.data in self.lines:  # else it has just ended by itself
                        self.waiting.unregister(key.fileobj)
                        os.kill(key.data, signal.SIGKILL)
                elif order := self.fork():
                    return order

    def fork(self) -> dict[str, Any] | None:
        line, _ = self.listener.accept()
        size, streams, *_ = socket.recv_fds(line, NUMBER.size, 3)
        try:
            (length,) = NUMBER.unpack(size)
            order: dict[str, Any] = json.loads(line.recv(length, socket.MSG_WAITALL))
        except (OSError, ValueError, struct.error):  # who asked was killed before all of it was said
            for one in streams:
                os.close(one)
            line.close()
            return None
        if pid := os.fork():
            for one in streams:
                os.close(one)
            self.lines[pid] = line
            if order["isolated"]:
                self.waiting.register(line, selectors.EVENT_READ, pid)
            with contextlib.suppress(OSError):  # who asked was killed meanwhile; the line's end tells
                line.send(NUMBER.pack(pid))
            return None
        signal.set_wakeup_fd(-1)
        signal.signal(signal.SIGCHLD, signal.SIG_DFL)
        for number, one in enumerate(streams):
            os.dup2(one, number)
        self.waiting.close()
        for held in (self.listener, line, *self.lines.values()):
            held.detach()
        os.closerange(3, os.sysconf("SC_OPEN_MAX"))
        return order

    def tell_ends(self) -> None:
        while self.lines:
            pid, status = os.waitpid(-1, os.WNOHANG)
            if not pid:
                break
            line = self.lines.pop(pid)
            if line.fileno() in self.waiting.get_map():
                self.waiting.unregister(line)
            with contextlib.suppress(OSError):  # nobody waits for it
                line.send(NUMBER.pack(status))
            line.close()


def live(order: Mapping[str, Any]) -> NoReturn:
    """In the child: what an interpreter does that was called with this program."""
    if order["leads"]:
        os.setsid()
    os.chdir(order["cwd"])
    os.environ.clear()
    os.environ.update(order["env"])
    sys.argv[:] = ["-c", *order["words"]]
    sys.path[:] = [one for one in sys.path if one != str(ROOT)] if order["isolated"] else ["", *sys.path[1:]]
    for number, (name, mode) in enumerate((("stdin", "rb"), ("stdout", "wb"), ("stderr", "wb"))):
        binary = open(number, mode, closefd=False)  # noqa: SIM115 (it is a standard stream)
        at_once = number == 2 or binary.isatty()
        stream = io.TextIOWrapper(binary, "utf-8", getattr(sys, name).errors, "\n", line_buffering=at_once)
        setattr(sys, name, stream)
        setattr(sys, f"__{name}__", stream)
    main = sys.modules["__main__"] = types.ModuleType("__main__")
    try:
        exec(compile(order["program"], "<string>", "exec"), main.__dict__)
    except SystemExit as ended:
        end(ended)
    end(SystemExit())


def end(ended: SystemExit) -> NoReturn:
    """As an interpreter does, but without freeing one by one the many things that were imported."""
    if ended.code is not None and not isinstance(ended.code, int):
        raise ended
    threading._shutdown()  # type: ignore[attr-defined]
    atexit._run_exitfuncs()
    try:
        for stream in (sys.stdout, sys.stderr):
            stream.flush()
    except (OSError, ValueError):
        raise ended from None
    os._exit((ended.code or 0) & 0xFF)


def prepare(address: str) -> Warm:
    from tests import faults

    faults.prepare()
    signal.signal(signal.SIGINT, signal.default_int_handler)
    listener = socket.socket(socket.AF_UNIX)
    listener.bind(address)
    listener.listen(100)
    print("ready", flush=True)
    return Warm(listener)


if __name__ == "__main__":
    live(prepare(sys.argv[1]).serve())
