"""Writes the derived files of a session. They can be deleted, and building them again gives the same bytes."""

from __future__ import annotations

from collections.abc import Mapping
from contextlib import suppress
from pathlib import PurePosixPath
from typing import Any

from council.next.errors import Damaged
from council.next.record import files
from council.next.record.session import Session
from council.next.reports.listing import STATE
from council.next.reports.render import render
from council.next.reports.section import added_by_rooms
from council.next.reports.state import convergence, state
from council.next.text import encode

CONVERGENCE, TRANSCRIPT, SYNTHESIS = "convergence.json", "transcript.md", "synthesis.md"
RECORD = ("turns", "briefs", "attempts", "desk", "attached", "frozen")
FIXED = ("metadata.json", "program.json", "workflow.md", "topic.md", "runner.json")
OWN = (STATE, CONVERGENCE, TRANSCRIPT, SYNTHESIS)


def build(session: Session) -> dict[str, Any]:
    """Write what follows from the record now, remove what does not any more, and return the state."""
    now = state(session)
    added = {name: data for _, section in added_by_rooms(session) for name, data in section.files.items()}
    if wrong := next((name for name in added if not is_safe(name)), ""):
        raise ValueError(f"{wrong} is not a name for a derived file")
    made = {**added, **derive(session, now)}
    top = session.folder.resolve()
    before = {SYNTHESIS, *(path.name for path in top.glob("round-*.md") if is_round(path.name))}
    with suppress(OSError, Damaged):  # the last state names the files of rooms, if it can be read
        listed = files.read_json(top / STATE).get("files")
        names = listed if isinstance(listed, list) else ()
        before |= {name for name in names if isinstance(name, str) and is_safe(name)}
    for path in (top / name for name in (*before, *made)):
        if path.parent.resolve() != path.parent:  # a session from elsewhere may bring any link, and name any file
            raise Damaged(path, "its folder is a link; move the link away")
    for name in before - {*made}:
        with suppress(OSError):
            (top / name).unlink()
    for name, data in made.items():
        files.make_folder((top / name).parent)
        files.replace(top / name, data)
    return now


def derive(session: Session, now: Mapping[str, Any]) -> dict[str, bytes]:
    """The core's own derived files. state.json comes last: it names those of the rooms."""
    data = view(now)
    numbered = [one for one in now["rounds"] if one["round_number"]]
    texts = {f"round-{one['round_number']}.md": render("round.md.j2", {**data, "round": one}) for one in numbered}
    if now["synthesis"]:
        texts[SYNTHESIS] = render("synthesis.md.j2", data)
    texts[TRANSCRIPT] = render("transcript.md.j2", data)
    return {
        **{name: encode(text) for name, text in texts.items()},
        CONVERGENCE: files.to_json(convergence(session)),
        STATE: files.to_json(now),
    }


def view(now: Mapping[str, Any]) -> dict[str, Any]:
    """The state as templates read it: with all turns by their ids."""
    groups = (one[name] for one in now["rounds"] for name in ("arguments", "rebuttals", "others"))
    return {**now, "turns": {turn["turn"]: turn for group in groups for turn in group}}


def is_round(name: str) -> bool:
    return name.startswith("round-") and name.removeprefix("round-").removesuffix(".md").isdecimal()


def is_safe(name: str) -> bool:
    """Whether a room may have a file of this name: below the session, and nothing of the record or the core."""
    parts = PurePosixPath(name).parts
    hidden = any(part in ("..", "/") or part.startswith(".") for part in parts)
    return bool(parts) and not hidden and parts[0] not in (*RECORD, *FIXED, *OWN) and not is_round(parts[0])


def page(session: Session) -> str:
    """The debate as one HTML page, which loads nothing and runs nothing."""
    return render("page.html.j2", view(state(session)))
