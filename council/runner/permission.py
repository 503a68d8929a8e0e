"""Which commands an assistant may run without asking its user: those that list, show, check and brief, and no other.

The `allowed-tools` of a skill end with the turn in which it was loaded, so a debate that is resumed later needs this.
"""

from __future__ import annotations

import re
import shlex
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from council.config.settings import Config
from council.record import catalog
from council.record.turn_file import TURN

COMMAND = re.compile(
    rf"council (?P<verb>next|status|show|verify|brief) (?P<session>{catalog.ID.pattern})"
    rf"(?: (?:{TURN.pattern}|(?P<part>synthesis)))?",
    re.ASCII,
)
# What else the tool may be told without running anything differently.
HARMLESS = {"command", "description", "timeout"}


def allow(tool: Mapping[str, Any], settings: Config, program: str) -> dict[str, Any] | None:
    """The tool's input with which the command may run; None if that is for its user to decide.

    The command names this very program instead of `council`, so no other of that name is ever run.
    """
    command = tool.get("command")
    if not isinstance(command, str) or not is_allowed(command, settings) or not is_program(program):
        return None
    if any(value for key, value in tool.items() if key not in HARMLESS):
        return None  # to run outside of the sandbox, for example
    return {**tool, "command": shlex.quote(program) + command.removeprefix("council")}


def is_allowed(command: str, settings: Config) -> bool:
    """Whether a command line is one of ours, to the byte, with the whole id of a session."""
    found = COMMAND.fullmatch(command)
    if found is None or (found["part"] and found["verb"] != "show"):
        return False
    id = found["session"]
    if catalog.GENERATED.fullmatch(id):
        return True
    return id not in catalog.NEWEST and catalog.exists(settings.sessions, id)


def is_program(path: str) -> bool:
    return Path(path).is_absolute() and Path(path).is_file()
