"""The interpreter and the tools of a trial, which the sandbox sees read-only at their own places.

The tools are in an environment of their own, made once from a lock and never changed; until it is made, the one that
council itself runs in may have them. A project's virtual environment is used as it is. Nothing is installed during a
trial.
"""

from __future__ import annotations

import hashlib
import os
import subprocess
import sys
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import Any

from council.config.benches import CHECKERS
from council.config.overlays import kit_folder
from council.errors import CouncilError, UsageError
from council.record.files import tilde

LOCK = "requirements-bench.lock"
NEEDS = {  # what the benches of a kind import
    "pytest": ("pytest",), "coverage": ("pytest", "coverage"), "ruff": ("ruff",), "ruff-format": ("ruff",),
    "mypy": ("mypy",), "bandit": ("bandit",),
}  # fmt: skip
STEERED_BY = ("PIP_", "PYTHON", "LD_", "DYLD_")  # variables that put other code into an environment
MOST_LINKS = 12
WITHOUT = "without them, pytest and unittest still work for a project whose own environment has pytest: --env DIR"


class ToolsMissing(CouncilError):
    """The environment of the tools is not there, or could not be made."""

    advice = "`council doctor` says what is there"


@dataclass(frozen=True)
class Python:
    """`site` are folders of packages that come after the interpreter's own. `facts` say what it was, by hashes."""

    program: str
    mounts: tuple[tuple[Path, str], ...]
    site: tuple[str, ...]
    facts: Mapping[str, Any]


# ---- the kit's tools ----


def place(env: Mapping[str, str] = os.environ) -> Path:
    """Where the tools are. A new lock or another Python has another place."""
    data = Path(env.get("XDG_DATA_HOME") or "")
    if not data.is_absolute():
        data = Path(env.get("HOME") or "~").expanduser() / ".local/share"
    return data / "council" / f"bench-{_hash(kit_folder() / LOCK)[:12]}-{sys.version_info[0]}.{sys.version_info[1]}"


def are_here() -> bool:
    return os.access(place() / "bin" / "python", os.X_OK)


def provide(say: Callable[[str], None]) -> None:
    """Make the tools' environment, if it is not there: whole or not at all, also if two do it at once."""
    if are_here():
        return
    script = kit_folder() / "scripts" / "environment.py"
    environment = {name: value for name, value in os.environ.items() if not name.startswith(STEERED_BY)}
    last = ""
    with subprocess.Popen(
        [sys.executable, "-I", str(script), str(place()), str(kit_folder() / LOCK)], env=environment,
        stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True, errors="replace",
    ) as worker:  # fmt: skip
        assert worker.stderr is not None
        for line in worker.stderr:
            last = line.strip().removeprefix("council: ")
            say(last)
    if worker.returncode or not are_here():
        raise ToolsMissing(f"the tools of the benches could not be installed ({last}); {WITHOUT}")


def describe() -> str:
    """For `doctor`."""
    if are_here():
        return f"pytest, coverage, ruff, mypy and bandit at {tilde(place())}"
    return f"not installed; the first bench that needs them installs them into {tilde(place())}"


# ---- what a trial sees ----


def equip(kind: str, env: Path | None = None) -> Python:
    """The Python of a trial by a bench of this kind: the project's own environment if it has one, with the kit's tools
    where that lacks them. Checkers are always the kit's, and see the project's packages.
    """
    if env is not None:
        _check(env)
    needs = NEEDS.get(kind, ())
    tools = _find_tools(needs) if needs and (kind in CHECKERS or env is None or not _has(env, needs)) else None
    prefix = tools if kind in CHECKERS else env or tools
    if prefix is None:
        program = Path(sys._base_executable).resolve()  # type: ignore[attr-defined]  # noqa: SLF001 - venv needs it too
        return Python(str(program), tuple(_mount(program.parent.parent, program)), (), {"python": _version(program)})
    program = prefix / "bin" / "python"
    mounts = dict(_mount(prefix, program))
    facts: dict[str, Any] = {"python": _version(program.resolve())}
    for name, other in (("env", env), ("tools", tools)):
        if other is not None:
            facts[name] = fingerprint(other)
            mounts |= dict(_mount(other, other / "bin" / "python"))
    site = (str(_packages(tools)),) if tools is not None and prefix != tools else ()
    return Python(str(program), tuple(mounts.items()), site, facts)


def _find_tools(needs: tuple[str, ...]) -> Path:
    own = Path(sys.prefix)
    if are_here():
        return place()
    if sys.prefix != sys.base_prefix and _has(own, needs):
        return own
    raise ToolsMissing(f"the tools of the benches are not installed; {WITHOUT}")


def _check(env: Path) -> None:
    if not os.access(env / "bin" / "python", os.X_OK):
        raise UsageError(f"--env {tilde(env)}: there is no bin/python; give the folder of a virtual environment")
    if not (env / "pyvenv.cfg").is_file() and not (env / "conda-meta").is_dir():
        raise UsageError(f"--env {tilde(env)}: this is not a virtual environment; make one with `python3 -m venv`")


def _packages(prefix: Path) -> Path:
    return next(iter(sorted(prefix.glob("lib/python3*/site-packages"))), prefix / "lib")


def _has(env: Path, modules: tuple[str, ...]) -> bool:
    return all((_packages(env) / module).is_dir() for module in modules)


def _mount(prefix: Path, program: Path) -> Iterator[tuple[Path, str]]:
    """What has to be seen so that a Python starts: its environment, and each place to which its links lead."""
    places = [prefix]
    for _ in range(MOST_LINKS):
        if not program.is_symlink():
            break
        program = Path(os.path.normpath(program.parent / program.readlink()))
        places.append(program.parent.parent)
    places.append(program.resolve().parent.parent)
    if home := _read_settings(prefix).get("home"):
        places.append(Path(home).parent)
    seen: list[Path] = [Path("/usr")]
    for one in places:
        if not any(one.is_relative_to(other) for other in seen):
            if Path.home().is_relative_to(one) or one == one.parent:
                raise UsageError(
                    f"{tilde(prefix)}: its Python is {program}, so all of {one} would have to be readable in the "
                    "sandbox; use an environment whose Python has a folder of its own"
                )
            seen.append(one)
            yield one.resolve(), str(one)


def _read_settings(prefix: Path) -> dict[str, str]:
    path = prefix / "pyvenv.cfg"
    lines = path.read_text("utf-8", "replace").splitlines() if path.is_file() else []
    return {key.strip(): value.strip() for key, _, value in (line.partition("=") for line in lines)}


# ---- what it was ----


def fingerprint(prefix: Path) -> str:
    """The hash of what is installed: the packages' lists of their files with hashes, and files beside the packages."""
    packages = _packages(prefix)
    return _fingerprint(packages, packages.stat().st_mtime_ns if packages.is_dir() else 0)


@lru_cache
def _fingerprint(packages: Path, _changed: int) -> str:
    paths = [*packages.glob("*.dist-info/RECORD"), *packages.glob("*.pth"), *packages.glob("*.py")]
    lines = sorted(f"{path.relative_to(packages)} {_hash(path)}\n" for path in paths if path.is_file())
    return hashlib.sha256("".join(lines).encode("utf-8", "surrogateescape")).hexdigest()


def _hash(path: Path) -> str:
    return hashlib.sha256(path.read_bytes()).hexdigest()


@lru_cache
def _version(program: Path) -> str:
    code = "import platform; print(platform.python_implementation(), platform.python_version())"
    done = subprocess.run([program, "-I", "-S", "-c", code], capture_output=True, text=True, check=False)
    return done.stdout.strip() or "unknown"
