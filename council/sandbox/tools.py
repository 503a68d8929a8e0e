"""The interpreter and the tools of a trial, which the sandbox sees read-only at their own places."""

from __future__ import annotations

import sys
from dataclasses import dataclass
from pathlib import Path


@dataclass(frozen=True)
class Python:
    program: str
    mounts: tuple[tuple[Path, str], ...] = ()
    site: tuple[str, ...] = ()


def find(env: Path | None = None) -> Python:
    prefix = env or Path(sys.prefix)
    program = prefix / "bin" / "python"
    real = program.resolve()
    base = real.parent.parent
    places = [prefix] + ([] if base.is_relative_to("/usr") else [base])
    return Python(str(program), tuple((place, str(place)) for place in places), ())
