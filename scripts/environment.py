"""Makes a private environment at VENV with what LOCK pins: whole or not at all. Standard library only.

It is made beside its place and renamed last, so its existence means that it is complete.
"""

from __future__ import annotations

import fcntl
import importlib.util
import os
import shutil
import subprocess
import sys
from pathlib import Path
from typing import IO


def main(venv: Path, lock: Path) -> None:
    try:
        provide(venv, lock)
    except subprocess.CalledProcessError as error:
        print(reason(error), file=sys.stderr)
        sys.exit(
            "council: the dependencies could not be installed: check the network (and pip's proxy or mirror settings, "
            "if you need them), then run this again"
        )
    except OSError as error:
        sys.exit(f"council: {error}: free some space, or set XDG_DATA_HOME to a directory that can be written")
    except KeyboardInterrupt:
        sys.exit(130)


def provide(venv: Path, lock: Path) -> None:
    venv.parent.mkdir(parents=True, exist_ok=True)
    mutex = beside(venv, "lock")
    with mutex.open("a") as held:
        acquire(held)
        if not os.access(venv / "bin" / "python", os.X_OK):
            make(venv, lock, held)
        mutex.unlink(missing_ok=True)  # whoever waits for it, or makes it anew, finds the environment there


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
        sys.exit(f"council: {python} lacks its venv package: install it (Debian and Ubuntu: apt install {python}-venv)")
    make_room(venv, lock)
    say(f"first use: installing the locked dependencies into {venv}")
    new = beside(venv, "new")
    shutil.rmtree(new, ignore_errors=True)  # a first use that was killed
    try:
        run(mutex, sys.executable, "-I", "-m", "venv", "--prompt", "council", new)
        # Wheels only: building one would run code that no hash covers.
        pip = (new / "bin" / "python", "-I", "-m", "pip", "--quiet", "--disable-pip-version-check", "--no-input")
        run(mutex, *pip, "install", "--no-user", "--require-hashes", "--only-binary=:all:", "-r", lock)
        shutil.copy(lock, new)  # says that council made it
        mend(new, venv)
        new.rename(venv)
    finally:
        shutil.rmtree(new, ignore_errors=True)


def make_room(venv: Path, lock: Path) -> None:
    """An environment of ours whose Python is gone makes way; anything else is somebody's."""
    if (venv / lock.name).exists():
        shutil.rmtree(venv)
    elif venv.exists() and any(venv.iterdir()):
        sys.exit(f"council: {venv} is in the way and has no working bin/python: remove it, or change COUNCIL_VENV")


def run(mutex: IO[str], *command: str | Path) -> None:
    """The child holds the mutex too: should this process be killed, the next one waits until the child has ended."""
    subprocess.run(command, check=True, capture_output=True, text=True, pass_fds=[mutex.fileno()])


def mend(new: Path, venv: Path) -> None:
    """Scripts name the place where they were made."""
    for script in (new / "bin").iterdir():
        if not script.is_symlink() and bytes(new) in (content := script.read_bytes()):
            script.write_bytes(content.replace(bytes(new), bytes(venv)))


def say(sentence: str) -> None:
    print(f"council: {sentence}", file=sys.stderr, flush=True)


def reason(error: subprocess.CalledProcessError) -> str:
    lines = f"{error.stdout}{error.stderr}".splitlines()
    return "\n".join([line for line in lines if line.startswith("ERROR")] or lines[-1:])


if __name__ == "__main__":
    main(Path(sys.argv[1]).absolute(), Path(sys.argv[2]))
