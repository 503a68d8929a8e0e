"""How this program was called, and therefore what the commands that it prints begin with."""

from __future__ import annotations

import os
import re
import shlex
import shutil
import sys
from pathlib import Path

from council.config import overlays

NAME = "council"
CALLED_AS = "COUNCIL_CALLED_AS"  # how bin/council was called, from where it hands over to the package
OWN = re.compile(r"(?<=`)council(?= [^`\n]+`)|(?<=: )council(?= [a-z][^;\n]*$)", re.M)
_called = NAME


def note_call(path: str) -> None:
    global _called  # noqa: PLW0603 (a fact about this process)
    _called = path


def program() -> str:
    """What runs this program again: `council` if PATH finds it, else the path that it was called by, for a shell."""
    if os.sep not in _called:
        return NAME
    path = Path(_called).absolute()
    found = shutil.which(NAME)
    if found and is_own(found, path):
        return NAME
    return f"{quote(sys.executable)} -m {NAME}" if path.name == "__main__.py" else quote(str(path))


def is_own(found: str, *paths: Path) -> bool:
    """Whether what PATH found is this program: the console script, or the launcher of the kit."""
    ours = (*paths, overlays.kit_folder() / "bin" / NAME, Path(sys.prefix, "bin", NAME))
    return os.path.realpath(found) in map(os.path.realpath, ours)


def name_commands(text: str) -> str:
    """The text with its commands of this program as they can be run."""
    return text if (own := program()) == NAME else OWN.sub(lambda _: own, text)


def quote(path: str) -> str:
    """The path as a word of a shell. Assistants allow commands by their text, so there is one way to write each path:
    as it is, or in double quotes.
    """
    return path if shlex.quote(path) == path else shlex.quote(path) if re.search(r'["$`\\!]', path) else f'"{path}"'
