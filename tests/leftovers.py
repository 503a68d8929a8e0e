"""Runners of sandboxes that are killed, and many sandboxes at once: what is left of them on the machine."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
import tempfile
import time
import uuid
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from pathlib import Path

from council.sandbox import bubblewrap, cgroup
from council.sandbox import leftovers as killed
from council.sandbox.model import Job
from council.sandbox.run import run
from tests.helpers import CODE, PATIENCE
from tests.probes import find_processes

SLEEP = ("/usr/bin/python3", "-c", "import os, time; os.fork(); open('/tmp/x', 'w').write('x' * 10**6); time.sleep(60)")
SLEEPING = 5  # processes with the token: two of the job, bubblewrap inside and outside, and the runner
RUNNER = f"""
import sys
from council.sandbox import cgroup
from council.sandbox.model import Job
from council.sandbox.run import run
cgroup.find_home()
print("ready", flush=True)
run(Job((*{SLEEP!r}, sys.argv[1])), cgroups=sys.argv[2] == "True")
"""
LOOKS = 3
NEXT = "from council.sandbox import cgroup, leftovers; cgroup.find_home(); leftovers.sweep()"


def start_runner(token: str, cgroups: bool) -> subprocess.Popen[bytes]:
    """A process that runs one sandbox, once it is ready to."""
    words = [sys.executable, "-c", RUNNER, token, str(cgroups)]
    runner = subprocess.Popen(words, env={"PYTHONPATH": str(CODE), "PATH": os.defpath}, stdout=subprocess.PIPE)
    assert runner.stdout is not None
    assert runner.stdout.readline() == b"ready\n"
    return runner


def kill_runner(cgroups: bool, after: float | None = None) -> list[str]:
    """What is left after a runner was killed with SIGKILL: some time after it began, or with all at work."""
    token = f"left-{uuid.uuid4().hex}"
    before = list_temporary()
    with start_runner(token, cgroups) as runner:
        if after is None:
            wait_for(lambda: len(find_processes(token)) >= SLEEPING)
        else:
            time.sleep(after)
        runner.kill()
    groups = [group for group in list_groups() if group.name.split("-")[2] == str(runner.pid)]

    def is_tidy() -> bool:
        if any(map(never_began, find_processes(token))):
            sweep()
        return not any(is_left(token, groups) for _ in range(LOOKS))

    wait_for(is_tidy)
    wrong = [f"process {process} is left" for process in find_processes(token)]
    wrong += [f"{path} is left" for path in sorted(list_temporary() - before)]
    return wrong + [f"{group} is not empty" for group in groups if not is_empty(group)]


def never_began(process: int) -> bool:
    """Whether it is the first process of a sandbox and waits for a bubblewrap that is gone: the next run removes it."""
    with suppress(OSError):
        status = Path(f"/proc/{process}/status").read_text()
        return bool(re.search(r"^NSpid:\t\d+\t1$", status, re.MULTILINE)) and "\nSeccomp:\t0\n" in status
    return False


def orphan(runner: str) -> int:
    """The first process of a sandbox of that runner, which died with bubblewrap before that let it begin: bubblewrap
    wants to say which process it is, and there is no room.
    """
    read, write = os.pipe()
    try:
        os.set_blocking(write, False)
        with suppress(BlockingIOError):
            while os.write(write, b"."):
                pass
        os.set_blocking(write, True)
        words = [*(bubblewrap.DROP if os.geteuid() == 0 else ()), "bwrap", *bubblewrap.ISOLATE, *bubblewrap.SYSTEM]
        words += ["--json-status-fd", str(write), "--", "/usr/bin/true"]
        environment = {"PATH": os.defpath, killed.WORD: runner}
        with subprocess.Popen(words, pass_fds=[write], cwd="/", env=environment, start_new_session=True) as process:
            children = Path(f"/proc/{process.pid}/task/{process.pid}/children")
            assert wait_for(lambda: bool(children.read_text()))
            first = int(children.read_text())
            assert wait_for(lambda: never_began(first) and "(bwrap) S" in Path(f"/proc/{process.pid}/stat").read_text())
            process.kill()
    finally:
        os.close(read)
        os.close(write)
    return first


def is_left(token: str, groups: Iterable[Path]) -> bool:
    """One look can miss a process that is just becoming another program, so it takes several."""
    time.sleep(0.01)
    return bool(find_processes(token)) or not all(map(is_empty, groups))


def is_empty(group: Path) -> bool:
    """A zombie of it may take a moment to go."""
    return not group.exists() or not group.joinpath("cgroup.procs").read_text()


def is_over(process: int) -> bool:
    """Whether it has ended, also if nobody has asked how."""
    try:
        return Path(f"/proc/{process}/stat").read_text("utf-8", "replace").rpartition(") ")[2].startswith("Z")
    except OSError:
        return True


def wait_for(holds: Callable[[], bool], seconds: float = PATIENCE) -> bool:
    latest = time.monotonic() + seconds
    while not (held := holds()) and time.monotonic() < latest:
        time.sleep(0.01)
    return held


def list_temporary() -> set[Path]:
    """What bubblewrap or we could have left in the folders for temporary files."""
    folders = {Path(tempfile.gettempdir()), Path("/tmp"), Path("/dev/shm"), Path("/run/user", str(os.geteuid()))}
    return {path for folder in folders if folder.is_dir() for path in folder.iterdir() if is_ours(path)}


def is_ours(path: Path) -> bool:
    return path.name.startswith(("bindfile", "newroot", "oldroot", ".bubblewrap", "council-sandbox"))


def list_groups() -> list[Path]:
    home = cgroup.find_home()
    return [group for folder in set(home[1].values()) for group in folder.glob("council-*-*-*-*")] if home else []


def sweep() -> list[Path]:
    """The groups of dead runners that are left once another process has run a sandbox."""
    subprocess.run([sys.executable, "-c", NEXT], env={"PYTHONPATH": str(CODE), "PATH": os.defpath}, check=True)
    return [group for group in list_groups() if not Path("/proc", group.name.split("-")[2]).exists()]


def run_many(count: int, cgroups: bool) -> list[str]:
    """That many sandboxes at once in one process: each has its own files, output and end."""

    def try_one(number: int) -> str:
        program = (
            "import json, os; print(json.dumps([os.listdir(), open('own').read(), os.listdir('/tmp')]), flush=True)"
        )
        program += f"; open('/tmp/x', 'w'); os._exit({number})"
        ran = run(Job(("/usr/bin/python3", "-c", program, token), {"own": str(number).encode()}), cgroups=cgroups)
        seen = json.loads(ran.output)
        return "" if (seen, ran.exit) == ([["own"], str(number), []], number) else f"{number}: {ran}"

    token = f"many-{uuid.uuid4().hex}"
    with ThreadPoolExecutor(count) as pool:
        wrong = [said for said in pool.map(try_one, range(count)) if said]
    mine = [group for group in list_groups() if group.name.split("-")[2] == str(os.getpid())]
    return [*wrong, *(f"{group} is left" for group in mine), *map("process {} is left".format, find_processes(token))]


def spread(count: int, seconds: float) -> Iterator[float]:
    """Times from none to these, evenly."""
    yield from (seconds * number / count for number in range(count))
