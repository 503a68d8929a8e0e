"""The command line of a sandbox. Every word of it holds against something that was tried."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path

from council.sandbox.model import Bounds, Job

NOBODY = "65534"
JOB, INPUT = "/job", "/stdin"
# Root is not bound by --nproc, not even in a user namespace: it becomes nobody before there is a sandbox.
DROP = ("setpriv", "--reuid", NOBODY, "--regid", NOBODY, "--clear-groups", "--")
# Nobody may be unable to reach a folder of root's: root binds it below /mnt first, where only this sandbox sees it.
REACH = (
    "unshare", "--mount", "--propagation", "private", "--", "/bin/sh", "-c",
    'mount -t tmpfs -o mode=755 tmpfs /mnt && n=0 && while [ "$1" != -- ]; do mkdir "/mnt/$n" && mount --bind "$1" '
    '"/mnt/$n" && n=$((n + 1)) && shift || exit; done; shift; exec "$@"', "sh",
)  # fmt: skip
ISOLATE = (
    "bwrap", "--unshare-all", "--unshare-user", "--disable-userns", "--die-with-parent", "--new-session", "--clearenv",
    "--cap-drop", "ALL", "--uid", NOBODY, "--gid", NOBODY, "--hostname", "box",
)  # fmt: skip
SYSTEM = (
    "--ro-bind", "/usr", "/usr", "--symlink", "usr/bin", "/bin", "--symlink", "usr/lib", "/lib",
    "--symlink", "usr/lib64", "/lib64", "--symlink", "usr/sbin", "/sbin", "--proc", "/proc", "--dev", "/dev",
)  # fmt: skip
# The stream of the tree is also the signal to start: it ends early if the runner dies, and then nothing is run.
UNPACK = f'umask 022; tar -xf - -C {JOB} || exit 125; exec prlimit "$@" < {INPUT}'


def compose(job: Job, files: Mapping[str, int], status: int, report: int | None) -> list[str]:
    """The words that start a job. `files` are descriptors whose content is put at a path, read-only."""
    scratch = str(job.bounds.scratch)
    words = [*ISOLATE, *SYSTEM]
    for place in ("/dev/shm", "/tmp", JOB):
        words += ["--size", scratch, "--tmpfs", place]
    words += ["--remount-ro", "/dev"]  # a file system of its own, which has no bound
    for source, place in job.mounts:
        words += ["--ro-bind", str(source), place]
    for place, descriptor in files.items():
        words += ["--ro-bind-data", str(descriptor), place]
    words += ["--chdir", JOB, "--setenv", "PATH", ":".join(job.path), "--setenv", "HOME", "/tmp"]
    words += ["--setenv", "LANG", "C.UTF-8"]
    words += ["--setenv", "COUNCIL_REPORT", str(report)] if report is not None else []
    words += ["--json-status-fd", str(status), "--remount-ro", "/"]
    return [*words, "--", "/bin/sh", "-c", UNPACK, "sh", *limit(job.bounds), "--", *job.argv]


def become_nobody(job: Job) -> tuple[Job, tuple[str, ...]]:
    """For root: what starts before bubblewrap, and the job with its folders where nobody can reach them."""
    if not job.mounts:
        return job, DROP
    places = tuple((Path(f"/mnt/{number}"), place) for number, (_, place) in enumerate(job.mounts))
    return replace(job, mounts=places), (*REACH, *(str(source) for source, _ in job.mounts), "--", *DROP)


def limit(bounds: Bounds) -> list[str]:
    """What the kernel bounds for each process. The rest is bounded for all of them together."""
    return [
        f"--nproc={bounds.processes}", f"--nofile={bounds.open_files}", f"--fsize={bounds.scratch}", "--core=0",
        f"--cpu={bounds.cpu + 1}", f"--data={bounds.memory}",
    ]  # fmt: skip
