"""A child of the warm process ends, obeys and dies as a process that was started: nearly all other tests rely on it."""

from __future__ import annotations

import json
import os
import signal
import socket
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from tests import warm
from tests.helpers import CODE

ENV = {"PATH": os.defpath, "LANG": "C.UTF-8", "PYTHONPATH": str(CODE)}
SEEN = """
import json, os, sys
seen = {"argv": sys.argv, "cwd": os.getcwd(), "env": dict(os.environ), "pid": os.getpid(), "stdin": sys.stdin.read()}
print(json.dumps(seen))
print("and \\udcff", file=sys.stderr)
"""


def start(program: str, *words: str, env: dict[str, str] = ENV, **how: Any) -> subprocess.Popen[bytes]:
    streams = dict.fromkeys(("stdin", "stdout", "stderr"), subprocess.PIPE)
    return warm.start([sys.executable, "-c", program, *words], env=env, **{**streams, **how})


def test_it_has_its_own_words_folder_environment_and_streams(tmp_path: Path) -> None:
    long = "ü" * 100_000
    env = {**ENV, "WHO": "a child"}
    with start(SEEN, "one", long, env=env, cwd=tmp_path) as process:
        out, err = process.communicate(b"typed\n", timeout=60)
    assert isinstance(process, warm.Forked)
    seen = json.loads(out)
    assert seen == {
        "argv": ["-c", "one", long], "cwd": str(tmp_path), "env": env, "pid": process.pid, "stdin": "typed\n",
    }  # fmt: skip
    assert (process.returncode, err) == (0, b"and \\udcff\n")


@pytest.mark.parametrize(("program", "code", "said"), [
    ("import sys; sys.exit(7)", 7, b""),
    ("import sys; sys.exit('a sentence')", 1, b"a sentence\n"),
    ("import os; os._exit(3)", 3, b""),
    ("1 / 0", 1, b"ZeroDivisionError: division by zero\n"),
    ("import atexit, sys; atexit.register(print, 'bye', file=sys.stderr)", 0, b"bye\n"),
    ("import os, signal; os.kill(os.getpid(), signal.SIGKILL)", -signal.SIGKILL, b""),
    ("import threading, time, sys; threading.Thread(target=sys.stderr.write, args=['last']).start()", 0, b"last"),
])  # fmt: skip
def test_it_ends_as_an_interpreter_ends(program: str, code: int, said: bytes) -> None:
    for env in (ENV, {**ENV, "PYTHONHASHSEED": "0"}):  # forked, and started
        with start(program, env=env) as process:
            _, err = process.communicate(timeout=60)
        assert isinstance(process, warm.Forked) is (env is ENV)
        assert (process.returncode, err.endswith(said), bool(err)) == (code, True, bool(said))


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM, signal.SIGKILL])
def test_a_signal_reaches_it(number: signal.Signals) -> None:
    with start("import sys, time\nprint('here', flush=True)\ntime.sleep(60)") as process:
        assert process.stdout is not None
        assert process.stdout.readline() == b"here\n"
        assert process.poll() is None
        process.send_signal(number)
        assert process.wait(timeout=60) == -number


def test_what_cannot_be_written_is_an_error() -> None:
    for env in (ENV, {**ENV, "PYTHONHASHSEED": "0"}):
        with Path("/dev/full").open("wb") as full, start("print('lost')", env=env, stdout=full) as process:
            _, err = process.communicate(timeout=60)
        assert (process.returncode, b"No space left" in err) == (120, True)


def test_who_is_killed_while_it_asks_ends_nobody_else(tmp_path: Path) -> None:
    """An assistant kills the commands that it called. All other tests of this process need the warm one afterwards."""
    order = {"program": "pass", "words": [], "env": ENV, "leads": False, "isolated": True, "cwd": str(tmp_path)}
    text = json.dumps(order).encode()
    with Path(os.devnull).open("r+b") as nothing:
        for said in (b"", warm.NUMBER.pack(len(text)), warm.NUMBER.pack(len(text)) + text[:9]):
            with socket.socket(socket.AF_UNIX) as line:
                line.connect(warm.warm_process())
                if said:
                    socket.send_fds(line, [said], [nothing.fileno()] * 3)
        for _ in range(20):
            warm.ask(warm.warm_process(), order, [nothing.fileno()] * 3).close()
    with start("print('here')") as process:
        assert process.communicate(timeout=60)[0] == b"here\n"
