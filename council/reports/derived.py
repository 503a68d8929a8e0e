"""Every file that is derived from a session's record. They can be deleted, and are rebuilt byte for byte."""

from __future__ import annotations

import json
from pathlib import Path

from council.engine import contributions
from council.engine.planner import Plan
from council.protocols import outcome
from council.record import files
from council.record.session import Session
from council.reports import did_it_help, markdown, produce, state
from council.reports.concerns import read_concerns
from council.reports.transcript import compose, read_record

DERIVED = ("convergence.json", state.NAME, "synthesis.md", "transcript.md", *produce.NAMES)


def derive(session: Session, plan: Plan) -> dict[str, bytes]:
    """Every derived file of the session in its current state, by name."""
    debate = compose(session, plan)
    made = {f"{one.place}.md": markdown.one_round(one, debate.overlaid) for one in debate.rounds if one.number}
    if (facts := outcome.convergence(plan)) is not None:
        facts |= did_it_help.facts(session, plan)
        facts["ledger"] = read_concerns(session, plan)
        made["convergence.json"] = json.dumps(facts, indent=2, ensure_ascii=False) + "\n"
    made[state.NAME] = state.as_json(session, plan)
    if debate.synthesis:
        made["synthesis.md"] = markdown.synthesis(debate.synthesis, debate.overlaid)
    made |= {f"{name}.md": markdown.section(one, debate.overlaid) for name, one in debate.sections.items()}
    made |= produce.derive(debate, session, plan)
    made["transcript.md"] = markdown.whole(debate)
    record = read_record(session, plan)
    artifacts = (function(record) for function in contributions.artifact.known.values())
    return {name: files.encode(text) for name, text in made.items()} | {
        name: data for one in artifacts for name, data in one.items()
    }


def is_derived(name: str) -> bool:
    """Whether a name in a session's folder is that of a derived file, or of a folder of them."""
    if name in DERIVED or (name.startswith("round-") and name.endswith(".md")):
        return True
    return name in _artifacts("files", "folders") or name.removesuffix(".md") in contributions.section.known


def _artifacts(*kinds: str) -> set[str]:
    traits = map(contributions.artifact.traits, contributions.artifact.known)
    return {name for one in traits for kind in kinds for name in getattr(one, kind)}


def find(folder: Path) -> list[str]:
    """Every derived file of a session that is there, by name; also what is there in place of one."""
    found, folders = [], _artifacts("folders")
    for path in folder.iterdir():
        if is_derived(path.name):
            is_folder = path.name in folders and path.is_dir() and not path.is_symlink()
            found += [one.relative_to(folder).as_posix() for one in (files.walk(path) if is_folder else [path])]
    return found


def build(session: Session, plan: Plan) -> list[Path]:
    """Write the derived files, and remove those that no longer follow from the record."""
    made = derive(session, plan)
    if session.lock:
        session.lock.check()  # deriving takes a while: another runner may have taken over
    stale = [session.folder / name for name in find(session.folder) if name not in made]
    for path in stale:
        files.remove(path)
    above = {folder for path in stale for folder in path.parents if session.folder in folder.parents}
    for folder in sorted(above, reverse=True):
        files.remove_empty(folder)
    for folder in sorted({(session.folder / name).parent for name in made}):
        files.make_folder(folder)
    files.replace_all({session.folder / name: data for name, data in made.items()})
    return [session.folder / name for name in made]
