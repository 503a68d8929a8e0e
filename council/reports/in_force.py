"""Says which overlays a session's program is from, and what a project's workflow sets that costs or decides."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from council.record import files
from council.record.session import Session
from council.text import one_line

SHOWN = 4  # file names in a line
MAIN = ("AgentPersonalities.md", "Specialists.md", "Workflows/")  # what decides seats, tiers and rounds


def describe(session: Session) -> Iterator[str]:
    """One line for each overlay in force, and one with what it decides."""
    for overlay in session.metadata.get("overlays", ()):
        folder, names = files.tilde(Path(overlay["folder"])), overlay["files"]
        count = f"{len(names)} file{'s' if len(names) != 1 else ''} in force"
        yield one_line(f"{overlay['whose']} overlay: {folder} ({count}: {_list(names)})", 600)
        if overlay["whose"] == "project" and any(name.startswith(MAIN) for name in names):
            yield one_line(f"it sets: {'; '.join(_settings(session))}", 600)


def describe_settings(session: Session) -> Iterator[str]:
    """One line for each Config.md that sets something for this debate."""
    for source in session.metadata.get("configured", ()):
        options = [f"{name} {_word(value)}" for name, value in source["options"].items()]
        limits = [f"{name} at most {value:g}" for name, value in source["limits"].items()]
        whose = "the project's Config.md" if source["whose"] == "project" else "your Config.md"
        yield one_line(f"{whose} sets: {', '.join([*options, *limits])}", 600)


def _word(value: str | bool) -> str:
    return {True: "on", False: "off"}[value] if isinstance(value, bool) else value


def describe_without_paths(session: Session) -> str:
    """The overlays in force, for documents; empty if there are none."""
    found = session.metadata.get("overlays", ())
    return one_line("; ".join(f"{overlay['whose']} ({_list(overlay['files'])})" for overlay in found), 600)


def _list(names: Mapping[str, Any]) -> str:
    shown = sorted(names, key=lambda name: (not name.startswith(MAIN), name))[:SHOWN]
    return ", ".join(shown) + (f" and {len(names) - SHOWN} more" if len(names) > SHOWN else "")


def _settings(session: Session) -> Iterator[str]:
    flow = session.workflow
    spoken = flow.declared_seats(name for _, step in flow.steps() for name in step.seats)
    yield f"seats {', '.join(dict.fromkeys(seat.name for seat in spoken))}"
    yield f"at most {sum(phase.max_rounds for phase in flow.phases)} rounds"
    models = [f"{tier} ({one.get('model')})" for tier, one in session.metadata["tiers"].items()]
    yield f"tiers {', '.join(models)}"
    if voices := {seat.name: seat.speaker for seat in flow.all_seats() if seat.speaker}:
        yield f"speakers {', '.join(f'{name}: {speaker}' for name, speaker in voices.items())}"
