"""What the sandbox is given and what it says afterwards."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

MEGABYTE = 1_000_000
WHY_STOPPED = {
    "seconds": "it took too long",
    "cpu": "it used too much processor time",
    "memory": "it used too much memory",
    "cancelled": "cancelled",
}


@dataclass(frozen=True)
class Bounds:
    """What one command may use. `memory` is the sum over all its processes; `scratch` is each file system that it may
    write to; `output` is how much of what it prints is kept, half from the beginning and half from the end.
    """

    seconds: float = 60.0
    cpu: int = 30
    memory: int = 512 * MEGABYTE
    processes: int = 64
    scratch: int = 64 * MEGABYTE
    open_files: int = 256
    output: int = 128_000
    report: int = 4 * MEGABYTE


@dataclass(frozen=True)
class Job:
    """A command for the sandbox.

    `tree`, a folder or files by path, is copied to /job, where the command starts and may write; nothing comes back.
    `files` are read-only, each at an absolute path of the sandbox. `executable` are the paths below /job with that
    mode. `mounts` are folders of the host, read-only, each at the given path. Commands are searched in `path`. `report`
    gives a descriptor, named in COUNCIL_REPORT; the command has to close it before it starts what it does not trust.
    """

    argv: tuple[str, ...]
    tree: Path | Mapping[str, bytes] | None = None
    files: Mapping[str, bytes] = field(default_factory=dict)
    executable: Collection[str] = ()
    mounts: tuple[tuple[Path, str], ...] = ()
    path: tuple[str, ...] = ("/usr/local/bin", "/usr/bin")
    stdin: bytes = b""
    bounds: Bounds = field(default_factory=Bounds)
    report: bool = False


@dataclass(frozen=True)
class Ran:
    """How a command ended: by itself, by a signal, or `stopped` by a bound (`seconds`, `cpu`, `memory`) or `cancelled`.

    An exit code of 128 and the number of a signal counts as that signal, as in a shell. `output` is what it printed,
    stdout and stderr together; `cut` is how many bytes in the middle of it were left out. `peak` is the most memory
    that was seen, None if unknown. `level` says how the bounds were kept: `cgroup` or `watchdog`. A report that is too
    long is empty.
    """

    exit: int | None
    signal: int | None
    seconds: float
    peak: int | None
    output: bytes
    cut: int
    stopped: str
    level: str
    report: bytes = b""


@dataclass(frozen=True)
class Trial:
    """A candidate to be tried. `tree` has every file of it; `tests` are laid over it, and it cannot change them.

    `executable` are the paths with that mode. `run` are the test files to run, all of `tests` if empty. `void` are
    tests that do not count, by id. `env` is a virtual environment of the project. `base` is the tree that the candidate
    was written on: it has the settings that count, and what a checker found there already is no news. `allowed` names
    what the project itself replaces of Python's own library.
    """

    bench: str
    tree: Mapping[str, bytes]
    tests: Mapping[str, bytes] = field(default_factory=dict)
    run: tuple[str, ...] = ()
    void: tuple[str, ...] = ()
    env: Path | None = None
    base: Mapping[str, bytes] = field(default_factory=dict)
    allowed: tuple[str, ...] = ()
    executable: Collection[str] = ()


PASS, FAIL, TAMPERED, TIMEOUT, UNKNOWN = "pass", "fail", "tampered", "timeout", "unknown"
VERDICTS = (PASS, FAIL, TAMPERED, TIMEOUT, UNKNOWN)


@dataclass(frozen=True)
class Tried:
    """What a bench says of a candidate. Tests are named by id.

    `unasked` are those of the failed that were skipped although the test file does not say so, as where something is
    not installed. `replaced` names what was replaced of Python's own library. `findings` are what a checker found,
    `metrics` numbers by name, `survivors` the mistakes that no test noticed where mutants were tried (then `metrics`
    has the percentage `killed`). `receipt` is what was run and how: argv, tree, exit, signal, seconds, peak, bounds,
    level, report, tools.
    """

    verdict: str
    passed: tuple[str, ...] = ()
    failed: tuple[str, ...] = ()
    log: str = ""
    findings: tuple[Mapping[str, Any], ...] = ()
    metrics: Mapping[str, float] = field(default_factory=dict)
    receipt: Mapping[str, Any] = field(default_factory=dict)
    survivors: tuple[str, ...] = ()
    unasked: tuple[str, ...] = ()
    replaced: tuple[str, ...] = ()
