"""Every file that is derived from a session's record. They can be deleted, and are rebuilt byte for byte."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping
from functools import cached_property, partial
from pathlib import Path

from council.engine import contributions
from council.engine.planner import Plan
from council.protocols import outcome
from council.record import files
from council.record.session import Session
from council.reports import did_it_help, markdown, produce, state
from council.reports.concerns import read_concerns
from council.reports.documents import frozen_templates
from council.reports.model import Transcript
from council.reports.transcript import compose, compose_round, read_record

DERIVED = ("convergence.json", state.NAME, "synthesis.md", "transcript.md", *produce.NAMES)


class Derivation(Mapping[str, bytes]):
    """Every derived file of the session in its current state, by name. Each is made when it is looked up: of a debate
    that is not over, few ever are."""

    def __init__(self, session: Session, plan: Plan, composed: Transcript | None = None) -> None:
        session.refuse_kept()
        self.session, self.plan, self.composed = session, plan, composed
        self.made: dict[str, bytes] = {}

    def __getitem__(self, name: str) -> bytes:
        if name not in self.made:
            self.made[name] = files.encode(self.texts[name]()) if name in self.texts else self.artifacts[name]
        return self.made[name]

    def __contains__(self, name: object) -> bool:
        return name in self.texts or name in self.artifacts

    def __iter__(self) -> Iterator[str]:
        yield from {**self.texts, **self.artifacts}

    def __len__(self) -> int:
        return len({*self.texts, *self.artifacts})

    @property
    def debate(self) -> Transcript:
        if self.composed is None:
            self.composed = compose(self.session, self.plan)
        return self.composed

    @cached_property
    def texts(self) -> dict[str, Callable[[], str]]:
        """What writes each file that is text. Only the names of a finished debate's depend on what was said in it."""
        session, plan = self.session, self.plan
        made: dict[str, Callable[[], str]] = {
            f"round-{number}.md": partial(self.write_round, number, *key)
            for key, number in outcome.number_rounds(plan).items()
        }
        if outcome.was_checked(plan):
            made["convergence.json"] = self.write_convergence
        made[state.NAME] = partial(state.as_json, session, plan)
        if plan.done:
            if self.debate.synthesis:
                made["synthesis.md"] = partial(markdown.synthesis, self.debate.synthesis, self.debate.overlaid)
            for name, section in self.debate.sections.items():
                made[f"{name}.md"] = partial(markdown.section, section, self.debate.overlaid)
            made |= {name: text.__str__ for name, text in produce.derive(self.debate, session, plan).items()}
        made["transcript.md"] = lambda: markdown.whole(self.debate)
        return made

    @cached_property
    def artifacts(self) -> dict[str, bytes]:
        record = read_record(self.session, self.plan)
        made = (function(record) for function in contributions.artifact.known.values())
        return {name: data for one in made for name, data in one.items()}

    def write_round(self, number: int, phase: str, round: int) -> str:
        known = (one for one in self.composed.rounds if one.number == number) if self.composed else ()
        made = next(iter(known), None) or compose_round(self.session, self.plan, phase, round)
        return markdown.one_round(made, frozen_templates(self.session))

    def write_convergence(self) -> str:
        facts = outcome.convergence(self.plan) or {}
        facts |= did_it_help.facts(self.session, self.plan)
        facts["ledger"] = read_concerns(self.session, self.plan)
        return json.dumps(facts, indent=2, ensure_ascii=False) + "\n"


def derive(session: Session, plan: Plan) -> dict[str, bytes]:
    """Every derived file of the session in its current state, by name."""
    return dict(Derivation(session, plan, compose(session, plan)))


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


def build(session: Session, plan: Plan, known: Mapping[str, bytes] | None = None) -> list[Path]:
    """Write the derived files, and remove those that no longer follow from the record. `known` are the files, if they
    were just derived."""
    made = derive(session, plan) if known is None else known
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
