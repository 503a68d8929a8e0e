"""Who can speak for a seat: one file per speaker, which also says what that speaker can do (see `base.SpeakerType`).

A speaker turns one brief into one reply. It records nothing and retries nothing.
"""

from functools import cache
from pathlib import Path

AUTO = "auto"  # in place of a name: the first speaker that is available
MACHINES = ("shelf", "shell")  # those that speak only for seats of their own
MACHINERY = ("base", "registry", "select")  # files of this room that are not speakers
ROOMS = {"shelf": "lessons", "shell": "sandbox"}  # of speakers that go with a room that may be removed


@cache
def names() -> tuple[str, ...]:
    """Every speaker by name, as the files of this room say. It imports none of them, so help and completion may call
    it.
    """
    found = (
        path for path in Path(__file__).parent.iterdir() if path.suffix == ".py" or (path / "__init__.py").exists()
    )
    files = (path.stem for path in found if path.stem not in MACHINERY and path.name[0] not in "_.")
    rooms = {path.parent.name for path in Path(__file__).parents[1].glob("*/__init__.py")}
    return tuple(sorted(file.replace("_", "-") for file in files if ROOMS.get(file, "speakers") in rooms))


def for_members() -> list[str]:
    """Every speaker that can answer for the members of a debate."""
    return [name for name in names() if name not in MACHINES]
