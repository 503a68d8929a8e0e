"""The command line of a sandbox. Every word of it holds against something that was tried."""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path, PurePosixPath

from council.sandbox.model import Bounds, Job

Mounts = Sequence[tuple[Path, str]]
NOBODY = "65534"
JOB, INPUT = "/job", "/stdin"
# Root is not bound by --nproc, not even in a user namespace: it becomes nobody before there is a sandbox.
DROP = ("setpriv", "--reuid", NOBODY, "--regid", NOBODY, "--clear-groups", "--")
ISOLATE = (
    "--unshare-all", "--unshare-user", "--disable-userns", "--die-with-parent", "--new-session", "--clearenv",
    "--cap-drop", "ALL", "--uid", NOBODY, "--gid", NOBODY, "--hostname", "box",
)  # fmt: skip
SYSTEM = (
    "--ro-bind", "/usr", "/usr", "--symlink", "usr/bin", "/bin", "--symlink", "usr/lib", "/lib",
    "--symlink", "usr/lib64", "/lib64", "--symlink", "usr/sbin", "/sbin", "--proc", "/proc", "--dev", "/dev",
    "--ro-bind-try", "/etc/alternatives", "/etc/alternatives", "--ro-bind-try", "/etc/ld.so.cache", "/etc/ld.so.cache",
)  # fmt: skip
PLAIN = {  # what programs look up: who runs them, and that localhost is here; and nothing of how the machine booted
    "/etc/passwd": f"nobody:x:{NOBODY}:{NOBODY}:nobody:/tmp:/bin/sh\n".encode(),
    "/etc/group": f"nogroup:x:{NOBODY}:\n".encode(),
    "/etc/hosts": b"127.0.0.1 localhost box\n::1 localhost\n",
    "/proc/cmdline": b"",
}
# A line says that the sandbox is there, and the runner sends the tree; another says that the command starts. If the
# runner dies, the tree ends early, and nothing is run.
UNPACK = f"""umask 022; echo; why=$(/usr/bin/tar -xf - -C {JOB} 2>&1) || {{ echo "$why"; exit 1; }}
echo; exec /usr/bin/prlimit "$@" < {INPUT}"""
STARTED = b"\n\n"
# Folders in places that only root may enter are bound where everybody may, in a mount namespace of their own.
STAGE = "/dev/shm"
BIND = f"""mount -t tmpfs -o mode=755,size=1M council {STAGE}
while [ "$1" != -- ]; do mkdir -p "$2" && mount --bind "$1" "$2" || exit 125; shift 2; done; shift; exec "$@" """


@dataclass(frozen=True)
class Descriptors:
    """What the sandbox gets: `files` are put at a path, read-only; `status` is what bubblewrap writes to; `seccomp` is
    a filter; `report` is the job's own.
    """

    files: Mapping[str, int]
    status: int
    seccomp: int
    report: int | None

    def list(self) -> list[int]:
        return [*self.files.values(), self.status, self.seccomp, *([] if self.report is None else [self.report])]


def list_files(job: Job) -> dict[str, bytes]:
    return {INPUT: job.stdin, **PLAIN, **job.files}


def compose(job: Job, prefix: Sequence[str], options: int, limits: Sequence[str]) -> list[str]:
    """The words that start a job. Any process of it can read them, so the options are in a file."""
    return [*prefix, "bwrap", "--args", str(options), "--", "/bin/sh", "-c", UNPACK, "sh", *limits, "--", *job.argv]


def write_options(job: Job, mounts: Mounts, given: Descriptors) -> bytes:
    scratch = str(job.bounds.scratch)
    words = [*ISOLATE, *SYSTEM]
    for place in ("/dev/shm", "/tmp", JOB):
        words += ["--size", scratch, "--tmpfs", place]
    words += ["--remount-ro", "/dev"]  # a file system of its own, which has no bound
    for source, place in mounts:
        words += ["--ro-bind", str(source), place]
    for folder in _list_folders(given.files):
        words += ["--size", scratch, "--tmpfs", folder]
    executable = {f"{JOB}/{path}" for path in job.executable}
    for place, descriptor in given.files.items():
        words += ["--perms", "0755"] if place in executable else []
        words += ["--ro-bind-data", str(descriptor), place]
    words += ["--chdir", JOB, "--setenv", "PATH", ":".join(job.path), "--setenv", "HOME", "/tmp"]
    words += ["--setenv", "LANG", "C.UTF-8"]
    words += ["--setenv", "COUNCIL_REPORT", str(given.report)] if given.report is not None else []
    words += ["--json-status-fd", str(given.status), "--seccomp", str(given.seccomp), "--remount-ro", "/"]
    return b"".join(os.fsencode(word) + b"\0" for word in words)


def _list_folders(files: Iterable[str]) -> list[str]:
    """The folders of the tree that have one of these files below. Each becomes a file system of its own: else it could
    be renamed with the read-only files in it, and another put in its place.
    """
    found = {str(folder) for file in files for folder in PurePosixPath(file).parents}
    return sorted(folder for folder in found if folder.startswith(f"{JOB}/"))


def stage(job: Job) -> tuple[list[str], Mounts]:
    """The words before bubblewrap's own, and what is to be mounted from where. Only root needs any."""
    if os.geteuid() != 0:
        return [], job.mounts
    hidden = [source.resolve() for source, _ in job.mounts if not _is_open(source.resolve())]
    staged = {source: Path(STAGE, str(number)) for number, source in enumerate(hidden)}
    mounts = tuple((staged.get(source.resolve(), source), place) for source, place in job.mounts)
    if not staged:
        return [*DROP], mounts
    pairs = [str(word) for pair in staged.items() for word in pair]
    return ["unshare", "--mount", "--propagation", "private", "/bin/sh", "-c", BIND, "sh", *pairs, "--", *DROP], mounts


def _is_open(path: Path) -> bool:
    """Whether everybody may enter each folder on the way."""
    return all(folder.stat().st_mode & 0o001 for folder in path.parents)


def limit(bounds: Bounds, alone: bool) -> list[str]:
    """What the kernel bounds for each process. The rest is bounded for all of them together; `alone` is for a machine
    where only a watchdog does that, which is not there at once.
    """
    words = [f"--nproc={bounds.processes}", f"--nofile={bounds.open_files}", f"--fsize={bounds.scratch}", "--core=0"]
    return [*words, f"--cpu={bounds.cpu + 1}", *([f"--data={bounds.memory}"] if alone else [])]
