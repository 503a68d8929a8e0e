"""Commands that try to get out of the sandbox, to see through it or to use up the machine: real ones, really run.

Each is run as root and as a normal user, with a control group and with only a watchdog. `python -m tests.probes` runs
some of them in one of these ways, in a process of its own, because a process that was root once is no normal user.
"""

from __future__ import annotations

import contextlib
import ctypes
import json
import os
import pwd
import re
import socket
import subprocess
import sys
import tempfile
import uuid
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
from functools import partial
from pathlib import Path

from council.sandbox import cgroup, run
from council.sandbox.model import MEGABYTE, Bounds, Job, Ran
from tests import probe_programs as programs
from tests.coding import wait_until

STRANGERS = 50_000  # from here on, users that no machine has
WAYS = {
    "root, control group": (True, True),
    "root, watchdog": (True, False),
    "user, control group": (False, True),
    "user, watchdog": (False, False),
}
DUMPABLE, OWN_HOST_NAME = 4, 0x04000000
SECRET, HOST = "sk-ant-never-to-be-seen", "machine-of-the-probes"
INSTANT = 256 * MEGABYTE  # what processes can take between two looks of a watchdog, on a busy machine
SMALL = Bounds(seconds=10, cpu=5, memory=128 * MEGABYTE, scratch=16 * MEGABYTE, processes=32)
SHORT = replace(SMALL, seconds=0.5)


@dataclass(frozen=True)
class Probe:
    """`group` and `tries` name it. It holds if `judge` says nothing of what its program came to."""

    group: str
    tries: str
    expected: str
    program: str
    judge: Callable[[Ran], str]
    bounds: Bounds = SMALL
    tree: Mapping[str, bytes] = field(default_factory=dict)


@dataclass(frozen=True)
class Found:
    """What came of a probe."""

    tries: str
    wrong: str
    seen: str
    peak: int


# ---- what to look for in what a program came to ----


def is_refused(ran: Ran) -> str:
    """The program says itself that it was refused, by an error of the system."""
    said = ran.output.decode("utf-8", "replace")
    if SECRET in said:
        return f"the secret was printed: {said[-300:]}"
    return "" if said.startswith("held") and ran.exit == 0 and not ran.stopped else f"{ran.stopped} {said[-500:]}"


def is_stopped(ran: Ran, by: str = "seconds", output: int = 0) -> str:
    if ran.stopped != by or len(ran.output) + ran.cut < output:
        return f"stopped by {ran.stopped or 'nobody'} after {len(ran.output) + ran.cut} bytes: {ran.output[-200:]!r}"
    return "" if len(ran.output) <= SMALL.output and ran.seconds < 5 else f"{len(ran.output)} bytes, {ran.seconds} s"


def counts(ran: Ran, least: int, most: int) -> str:
    """The last word is a number between these."""
    words = ran.output.split()
    number = int(words[-1]) if words and words[-1].isdigit() else -1
    return "" if least <= number <= most and not ran.stopped else f"{ran.stopped} {ran.output[-300:]!r}"


def ended(ran: Ran, signal: int) -> str:
    return "" if ran.signal == signal and not ran.stopped else f"exit {ran.exit}, signal {ran.signal}, {ran.stopped}"


def kept_all(ran: Ran, size: int) -> str:
    return "" if len(ran.output) == size and not ran.cut else f"{len(ran.output)} bytes, {ran.cut} cut"


def cut_output(ran: Ran, size: int) -> str:
    whole = len(ran.output) + ran.cut
    return "" if len(ran.output) == SMALL.output and whole == size else f"{len(ran.output)} of {whole} bytes"


def bounds_memory(ran: Ran) -> str:
    """Over all processes. A watchdog sees it after the fact, so a little more may have been in use for an instant."""
    kept = ran.stopped == "memory" or ran.output.split()[-1:] == [b"refused"]
    most = SMALL.memory + (0 if ran.level == "cgroup" else INSTANT)
    return "" if kept and (ran.peak or 0) <= most else f"{ran.stopped}, peak {ran.peak}, {ran.output[-200:]!r}"


def names_nothing(ran: Ran) -> str:
    """Nothing that the machine's users, hosts and folders are called is in what it printed."""
    said = ran.output.decode("utf-8", "replace")
    if not said.endswith("THE END\n") or ran.cut:
        return f"{ran.stopped} {ran.cut} cut: {said[-300:]}"
    found = {word: at.start() for word in list_names() if (at := re.search(rf"{re.escape(word)}\b", said))}
    return "; ".join(f"{word}: …{said[max(0, at - 60) : at + 60]!r}" for word, at in found.items())


def list_names() -> set[str]:
    """Words that only this machine has."""
    people = [one for one in pwd.getpwall() if one.pw_uid >= 1000 and one.pw_name != "nobody"]
    words = {SECRET, HOST, str(Path.cwd()), sys.prefix, str(Path(__file__).parent), tempfile.gettempdir() + "/council-"}
    words |= {one.pw_name for one in people} | {one.pw_dir for one in people}
    words |= {value for name in ("USER", "LOGNAME", "SUDO_USER", "HOME") if (value := os.environ.get(name))}
    return {word for word in words if len(word) > 5}


def refuse(name: str, program: str, group: str, expected: str = "refused") -> Probe:
    return Probe(group, name, expected, program, is_refused)


NET, READ, WRITE, USE, STRANGE, BEYOND = (
    "network", "reading", "writing", "using it up", "strange shapes", "beyond the list",
)  # fmt: skip
REFUSALS = {NET: programs.NETWORK, READ: programs.READING, WRITE: programs.WRITING}


def list_probes() -> list[Probe]:
    """The 40 of them."""
    stop, scratch = partial(is_stopped, by="seconds"), SMALL.scratch // MEGABYTE
    children = programs.CHILDREN.replace("SIZE", str(SMALL.memory // 5 * 2))
    return [
        *(refuse(name, program, group) for group, found in REFUSALS.items() for name, program in found.items()),
        Probe(USE, "an infinite loop", "killed in time", programs.LOOP, stop, SHORT),
        Probe(USE, "ignores SIGTERM", "killed in time", programs.IGNORE, stop, SHORT),
        Probe(USE, "a daemon that stays", "killed with it", programs.DAEMON, is_refused),
        Probe(USE, "2 GB of output", "128 kB kept", programs.MUCH, partial(cut_output, size=2000 * MEGABYTE)),
        Probe(USE, "endless output", "killed, 128 kB kept", programs.ENDLESS, partial(is_stopped, output=10**6), SHORT),
        Probe(USE, "fills /tmp and /job", f"{scratch} MB each", programs.FILL, partial(counts, least=28, most=32)),
        Probe(USE, "fills /dev/shm", f"{scratch} MB", programs.FILL_SHM, partial(counts, least=14, most=16)),
        Probe(USE, "a fork bomb", "at most 32", programs.FORKS, partial(counts, least=8, most=SMALL.processes)),
        Probe(USE, "memory of one process", "128 MB", programs.MEMORY, bounds_memory),
        Probe(USE, "memory of 8 children", "128 MB together", children, bounds_memory),
        Probe(STRANGE, "200,000 small files", "refused by size", programs.COUNT, is_refused,
              tree={f"f/{number}": b"x" for number in range(200_000)}),
        Probe(STRANGE, "names: newline, 4,096 characters, right to left", "the same inside", programs.NAMES,
              is_refused, tree=dict.fromkeys(programs.STRANGE, b"1")),
        Probe(STRANGE, "100 kB in one line", "whole", programs.LINE, partial(kept_all, size=100_000)),
        Probe(STRANGE, "ends by a signal", "signal 11", programs.CRASH, partial(ended, signal=11)),
        Probe(STRANGE, "stops itself", "killed in time", programs.STOP, stop, SHORT),
    ]  # fmt: skip


def list_more() -> list[Probe]:
    """What nobody asked for, and somebody will try."""
    wide = replace(SMALL, output=40 * MEGABYTE, memory=512 * MEGABYTE)
    return [
        Probe(BEYOND, "400,000 empty files", "128 MB", programs.EMPTY_FILES, bounds_memory),
        Probe(BEYOND, "keeps the first process alive", "refused", programs.FIRST_PROCESS, is_refused),
        Probe(BEYOND, "what namespaces do not contain", "refused", programs.KERNEL, is_refused),
        Probe(BEYOND, "names of users, hosts and folders", "none", programs.EVERYTHING, names_nothing, wide),
    ]


def join_refusals() -> Probe:
    """All that are simply refused, one after the other in one sandbox: quick, where a sample is enough."""
    texts = {name: text for found in REFUSALS.values() for name, text in found.items()}
    program = f"for name, text in {texts!r}.items():\n  print(name, end=': ')\n  exec(text)"
    return Probe("all", "all refusals", "refused", program, partial(all_refused, count=len(texts)))


def all_refused(ran: Ran, count: int) -> str:
    lines = ran.output.decode("utf-8", "replace").splitlines()
    held = [line for line in lines if line.partition(": ")[2].startswith("held")]
    return "" if len(held) == count == len(lines) else f"{ran.stopped} {[one for one in lines if one not in held]}"


# ---- running them ----


@contextlib.contextmanager
def beside(token: str) -> Iterator[dict[str, object]]:
    """What there is on the machine to be found: a server, sockets, a process, a file, a folder to write to."""
    with contextlib.ExitStack() as stack:
        folder = Path(stack.enter_context(tempfile.TemporaryDirectory(prefix="council-probes-")))
        folder.chmod(0o777)
        secret = folder / "secret"
        secret.write_text(SECRET)
        listening = []
        for family, address in (
            (socket.AF_INET, ("127.0.0.1", 0)), (socket.AF_UNIX, f"\0{token}"), (socket.AF_UNIX, f"{folder}/docker"),
        ):  # fmt: skip
            server = stack.enter_context(socket.socket(family))
            server.bind(address)
            server.listen()
            listening.append(server.getsockname())
        Path(folder, "docker").chmod(0o777)
        sleeper = stack.enter_context(subprocess.Popen(["sleep", "600"]))
        stack.callback(sleeper.kill)
        yield {
            "port": listening[0][1], "abstract": token, "docker": f"{folder}/docker", "folder": str(folder),
            "secret": str(secret), "process": sleeper.pid, "home": str(folder),
        }  # fmt: skip


def attempt(one: Probe, cgroups: bool) -> Found:
    token = f"probe-{uuid.uuid4().hex}"
    with beside(token) as facts:
        before = sorted(Path(str(facts["folder"])).iterdir())
        tree = {"facts.json": json.dumps(facts).encode(), **one.tree}
        job = Job(("/usr/bin/python3", "-c", programs.PRELUDE + one.program, token), tree, bounds=one.bounds)
        try:
            ran = run.run(job, cgroups=cgroups)
        except run.SandboxError as failure:
            held = "200,000" in one.tries and "the tree takes" in str(failure)
            return Found(one.tries, "" if held else str(failure), "refused" if held else "", 0)
        wrong = one.judge(ran)
        if (ran.level == "cgroup") != cgroups:
            wrong = f"its bounds were kept by a {ran.level}; {wrong}"
        if not wait_until(lambda: not find_processes(token)):
            wrong = f"{len(find_processes(token))} processes are left; {wrong}"
        if sorted(Path(str(facts["folder"])).iterdir()) != before:
            wrong = f"the machine's files changed; {wrong}"
        return Found(one.tries, wrong, describe(ran), ran.peak or 0)


def describe(ran: Ran) -> str:
    said = ran.output.decode("utf-8", "replace").strip().splitlines()
    if ran.stopped:
        return f"killed: {ran.stopped}"
    if ran.signal:
        return f"signal {ran.signal}"
    return said[-1][:60] if said and len(ran.output) < 10_000 else f"{len(ran.output):,} bytes"


def find_processes(token: str) -> list[int]:
    """Processes of this machine whose command line has the token."""
    found = []
    for path in Path("/proc").glob("[0-9]*/cmdline"):
        with contextlib.suppress(OSError):
            if token.encode() in path.read_bytes():
                found.append(int(path.parent.name))
    return found


def run_here(way: str, user: int, names: Sequence[str]) -> list[Found]:
    """In this process, which becomes a normal user for good if the way wants one."""
    as_root, cgroups = WAYS[way]
    os.environ["COUNCIL_TEST_SECRET"] = SECRET
    if os.geteuid() == 0:
        ctypes.CDLL(None).unshare(OWN_HOST_NAME)
        socket.sethostname(HOST)
    if not as_root and os.geteuid() == 0:
        become(user)
    known = [join_refusals(), *list_probes(), *list_more()]
    return [attempt(one, cgroups) for one in known if one.tries in names]


def become(user: int) -> None:
    os.setgroups([])
    os.setresgid(user, user, user)
    os.setresuid(user, user, user)
    ctypes.CDLL(None).prctl(DUMPABLE, 1, 0, 0, 0)  # else the kernel hides this process from itself
    os.environ["HOME"] = "/tmp"


def run_probes(way: str, names: Sequence[str]) -> list[Found]:
    """In a process of its own. Root prepares a control group for the user."""
    as_root, cgroups = WAYS[way]
    user = STRANGERS + os.getpid() % 10_000
    with prepared(user) if cgroups and not as_root and os.geteuid() == 0 else contextlib.nullcontext():
        words = [sys.executable, "-m", "tests.probes", way, str(user), *names]
        done = subprocess.run(words, cwd=Path(__file__).parent.parent, capture_output=True, text=True, check=False)
    if done.returncode:
        return [Found(name, f"the probes did not run: {done.stderr[-500:]}", "", 0) for name in names]
    return [Found(**one) for one in json.loads(done.stdout)]


@contextlib.contextmanager
def prepared(user: int) -> Iterator[None]:
    """Folders for control groups that belong to a user, as docs/sandbox.md says how root makes them."""
    tops = {found[0] for name in ("memory", "pids") if (found := cgroup.find_mount(name))}
    folders = [top / f"council-{user}" for top in tops]
    try:
        for folder in folders:
            folder.mkdir(exist_ok=True)
            for path in (folder, *folder.iterdir()):
                os.chown(path, user, user)
        yield
    finally:
        for folder in folders:
            for group in folder.glob("council-*"):
                group.rmdir()
            folder.rmdir()


def find_ways() -> dict[str, str]:
    """Each way, with the reason why this machine cannot do it, or nothing."""
    root = "" if os.geteuid() == 0 else "the tests are not run by root"
    groups = "" if (home := cgroup.find_home()) else "no control group can be made here"
    given = "" if not root and home and home[0] == 1 else "root can prepare groups of version 1 only"
    return {
        "root, control group": root or groups, "root, watchdog": root,
        "user, control group": groups if root else given, "user, watchdog": "",
    }  # fmt: skip


if __name__ == "__main__":
    print(json.dumps([asdict(found) for found in run_here(sys.argv[1], int(sys.argv[2]), sys.argv[3:])]))
