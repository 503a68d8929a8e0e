"""Makes a private environment at VENV with what LOCK pins: whole or not at all. Standard library only.

It is made beside its place and renamed last, so its existence means that it is complete.
"""

from __future__ import annotations

import contextlib
import errno
import fcntl
import importlib.util
import os
import re
import shutil
import signal
import subprocess
import sys
from pathlib import Path
from typing import IO

ELSEWHERE = (
    "make it a directory that can be written, or set XDG_DATA_HOME to one (in an assistant's sandbox: run this once in "
    "a terminal)"
)
ROOM = "free some space, or set XDG_DATA_HOME to a directory that has it and can be written"
LEAST = (
    120_000_000  # bytes that no environment of ours does without: 85 MB in the end, and beside that what pip unpacks
)
FEW = ("--retries", "2", "--timeout", "10")
WORK = "--work"
ERROR, USAGE, STORAGE, STOPPED = 1, 2, 6, 130  # council's exit codes


class Refused(Exception):
    """What is wrong and what to do, in a sentence, and the exit code."""


def main(venv: Path, lock: Path) -> None:
    try:
        provide(venv, lock)
    except Refused as refusal:
        sentence, code = refusal.args
    except OSError as error:
        advice = ROOM if error.errno in (errno.ENOSPC, errno.EDQUOT) else ELSEWHERE
        sentence, code = f"{error.filename or venv.parent}: {error.strerror}: {advice}", STORAGE
    except KeyboardInterrupt:
        sentence, code = "stopped; run the same command again to start over", STOPPED
    else:
        return
    say(sentence)
    sys.exit(code)


def watch(venv: Path, lock: Path) -> int:
    """Have the work done in a session of its own, and wait for it. An assistant kills a command that takes too long,
    with all that it started: the work goes on, and the next command finds it done.
    """
    command = [sys.executable, "-I", __file__, WORK, str(venv), str(lock)]
    quiet = subprocess.DEVNULL  # an assistant may wait until nobody holds its pipes
    with subprocess.Popen(
        command, stdin=quiet, stdout=quiet, stderr=subprocess.PIPE, start_new_session=True, text=True, errors="replace"
    ) as worker:
        assert worker.stderr is not None
        try:
            for line in worker.stderr:
                print(line, end="", file=sys.stderr, flush=True)
        except KeyboardInterrupt:
            os.killpg(worker.pid, signal.SIGINT)
            print(worker.stderr.read(), end="", file=sys.stderr, flush=True)
    if worker.returncode < 0:
        say("the first use was killed; run the same command again to start over")
        return ERROR
    return worker.returncode


def provide(venv: Path, lock: Path) -> None:
    venv.parent.mkdir(parents=True, exist_ok=True)
    mutex = beside(venv, "lock")
    with mutex.open("a") as held:
        acquire(held)
        if not os.access(venv / "bin" / "python", os.X_OK):
            make(venv, lock, held)
        mutex.unlink(missing_ok=True)  # anyone who waits for it, or makes it again, finds the environment there


def beside(venv: Path, what: str) -> Path:
    """Hidden, so that no search for environments takes it for one."""
    return venv.with_name(f".{venv.name}.{what}")


def acquire(mutex: IO[str]) -> None:
    """The kernel lets go of it however its holder dies."""
    try:
        fcntl.flock(mutex, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        say("waiting for another first use to finish")
        fcntl.flock(mutex, fcntl.LOCK_EX)


def make(venv: Path, lock: Path, mutex: IO[str]) -> None:
    if importlib.util.find_spec("ensurepip") is None:
        python = "python{}.{}".format(*sys.version_info)
        raise Refused(
            f"{python} lacks its venv package: install it (Debian and Ubuntu: apt install {python}-venv)", USAGE
        )
    make_way(venv, lock)
    new = beside(venv, "new")
    shutil.rmtree(new, ignore_errors=True)  # a first use that was killed
    check_room(venv.parent)
    say(f"first use: installing the locked dependencies into {venv}")
    try:
        (new / "tmp").mkdir(parents=True)
        run(mutex, new, sys.executable, "-I", "-m", "venv", "--prompt", "council", new)
        # Wheels only: building one would run code that no hash covers.
        # Few retries: without a network, an assistant hears of it within its time limit.
        pip = (new / "bin" / "python", "-I", "-m", "pip", "--quiet", "--disable-pip-version-check", "--no-input", *FEW)
        run(mutex, new, *pip, "install", "--no-user", "--require-hashes", "--only-binary=:all:", "-r", lock)
        shutil.rmtree(new / "tmp")
        shutil.copy(lock, new)  # says that council made it
        mend(new, venv)
        new.rename(venv)
    finally:
        shutil.rmtree(new, ignore_errors=True)


def make_way(venv: Path, lock: Path) -> None:
    """An environment of ours whose Python is gone makes way; anything else is somebody's."""
    if (venv / lock.name).exists():
        shutil.rmtree(venv)
    elif venv.exists() and any(venv.iterdir()):
        raise Refused(f"{venv} is in the way and has no working bin/python: remove it, or change COUNCIL_VENV", USAGE)


def check_room(folder: Path) -> None:
    if (free := shutil.disk_usage(folder).free) < LEAST:
        raise Refused(
            f"the first use takes {LEAST // 10**6} MB for council's dependencies, and {folder} has {free // 10**6} MB "
            f"free: {ROOM}",
            STORAGE,
        )


def run(mutex: IO[str], new: Path, *command: str | Path) -> None:
    """The child holds the mutex too: should this process be killed, the next one waits until the child has ended. Its
    own scratch goes where room was found."""
    done = subprocess.run(
        command, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True,
        errors="replace", env={**os.environ, "TMPDIR": str(new / "tmp")}, pass_fds=[mutex.fileno()], check=False,
    )  # fmt: skip
    if done.returncode:
        raise Refused(*verdict(done.stdout, shutil.disk_usage(new).free))


def verdict(printed: str, free: int) -> tuple[str, int]:
    """What the last words of venv or pip mean for a person. venv does not always say that the disk is full."""
    lines = printed.splitlines()
    causes = re.findall(r"\[Errno -?\d+\] [\w ]+", printed) + [line for line in lines if line.startswith("ERROR")]
    said = "".join((causes or lines[-1:])[:1])[:200] or "it said nothing"
    if "No space left" in printed or "Disk quota" in printed or free < LEAST // 4:
        return f"the disk became full while the dependencies were installed: {ROOM}", STORAGE
    if "DO NOT MATCH THE HASHES" in printed:
        return (
            f"what was fetched is not what council pins, so it was not used: check pip's mirror settings ({said})",
            ERROR,
        )
    return (
        "the dependencies could not be installed: check the network (and pip's proxy or mirror settings, if you need "
        "them; an assistant's sandbox may have no network, so do this once in a terminal), then run this again "
        f"({said})",
        ERROR,
    )


def mend(new: Path, venv: Path) -> None:
    """Scripts name the place where they were made."""
    for script in (new / "bin").iterdir():
        if not script.is_symlink() and bytes(new) in (content := script.read_bytes()):
            script.write_bytes(content.replace(bytes(new), bytes(venv)))


def say(sentence: str) -> None:
    with contextlib.suppress(BrokenPipeError):  # the command that waited for this was killed
        print(f"council: {sentence}", file=sys.stderr, flush=True)


if __name__ == "__main__":
    *kind, venv_, lock_ = sys.argv[1:]
    if kind == [WORK]:
        main(Path(venv_), Path(lock_))
    else:
        sys.exit(watch(Path(venv_).absolute(), Path(lock_)))
