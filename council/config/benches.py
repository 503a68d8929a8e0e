"""Benches, as Config.md names them: which program tries a candidate, and what it may use.

They come from the kit and the user, and never from a project: a cloned repository must not choose what is run.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from council.config import project
from council.errors import UsageError
from council.text import did_you_mean, one_line
from council.workflow import frontmatter

TESTERS = ("pytest", "unittest", "coverage", "node", "go")
CHECKERS = ("ruff", "ruff-format", "mypy", "bandit")
COMMAND = "command"
KINDS = (*TESTERS, *CHECKERS, COMMAND)
LIMITS = {"seconds": 3600, "cpu": 3600, "memory": 64_000, "processes": 4096, "scratch": 16_000, "open_files": 65_536}
KEYS = ("kind", "argv", "folders", *LIMITS)


@dataclass(frozen=True)
class Bench:
    """`kind` is what it does. `argv` is the command of the kind `command`. `folders` are programs of this machine that
    a trial may read, each with its `bin`. `limits` are the bounds that differ from the sandbox's own.
    """

    name: str
    kind: str
    argv: tuple[str, ...] = ()
    folders: tuple[Path, ...] = ()
    limits: Mapping[str, float] | None = None

    @property
    def tests(self) -> bool:
        """Whether it runs tests. The others look at code without running it."""
        return self.kind not in CHECKERS


def read(keys: Any, where: str) -> dict[str, Bench]:
    """The benches of a configuration file."""
    if not isinstance(keys, Mapping):
        raise UsageError(f"{where} must be names, each with a `kind`")
    return {name: _read_bench(name, inner, f"{where}: {name}") for name, inner in keys.items()}


def _read_bench(name: str, keys: Any, where: str) -> Bench:
    if not isinstance(keys, Mapping):
        raise UsageError(f"{where} must be keys with values, such as {{kind: pytest}}")
    for key, value in keys.items():
        if key not in KEYS:
            raise UsageError(f'{where}: unknown key "{key}"; {did_you_mean(key, KEYS)}')
        if key in ("argv", "folders"):
            if not isinstance(value, list) or not all(isinstance(word, str) and word for word in value):
                raise UsageError(f"{where}: {key} must be a list of words in square brackets: no shell reads them")
        elif not isinstance(value, str):
            raise UsageError(f"{where}: {key} must be a word or a number")
    kind = str(keys.get("kind", ""))
    if kind not in KINDS:
        raise UsageError(f'{where}: kind: "{kind}"; {did_you_mean(kind, KINDS)}')
    if (kind == COMMAND) != ("argv" in keys) or keys.get("argv") == []:
        raise UsageError(f"{where}: a bench of the kind {COMMAND} needs `argv`, and no other kind has one")
    folders = tuple(_read_folder(str(word), where) for word in keys.get("folders", ()))
    limits = {key: _read_limit(str(keys[key]), key, where) for key in LIMITS if key in keys}
    return Bench(name, kind, tuple(keys.get("argv", ())), folders, limits)


def _read_folder(word: str, where: str) -> Path:
    folder = Path(word).expanduser()
    if not folder.is_absolute():
        raise UsageError(f"{where}: folders: {word} must begin with / or ~")
    return folder


def _read_limit(word: str, key: str, where: str) -> float:
    most = LIMITS[key]
    try:
        number = float(word)
    except ValueError:
        number = 0
    if not 0 < number <= most:
        raise UsageError(f"{where}: {key}: {one_line(word, 40)} must be a number above 0, at most {most:,}")
    return number if key == "seconds" else int(number)


def refuse_project() -> None:
    """Refuse a project that defines benches, so that nobody believes that they are used."""
    for folder in project.find_all():
        path = folder / "Config.md"
        if not path.is_file() or path.stat().st_size > frontmatter.MAX_CHARACTERS:
            continue
        try:
            keys, _ = frontmatter.split(path.read_text("utf-8", "replace"), str(path))
        except UsageError:
            continue  # nothing reads it
        if "benches" in keys:
            raise UsageError(
                f"{path}: benches: a project may name benches, but not define them: they run programs. Put them into "
                "your own ~/.config/council/Config.md"
            )
