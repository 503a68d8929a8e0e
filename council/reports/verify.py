"""Verifies a session (receipts, hashes, briefs, derived files) and determines its status from files and lock."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

from council import __version__
from council.engine.planner import Plan
from council.errors import CouncilError, Damaged
from council.protocols import outcome
from council.record import chain, desk, files, lock, session, signature
from council.record.session import Session
from council.record.turn_file import sha256
from council.reports import archive, derived, provenance
from council.speakers import registry
from council.speakers.assistant import transcripts
from council.text import join_words, one_line
from council.workflow.model import Seat

OURS = {*session.RECORD, *session.PLACES, lock.LOCK, lock.NOTE, transcripts.NOTES, signature.NAME}


@dataclass(frozen=True)
class Outdated:
    """Files that another version derived from the same turns. They are correct, and a command renews them.

    Without such a command, this version reads the replies differently, and the files are kept.
    """

    path: Path
    names: tuple[str, ...]
    by: str
    renew: str

    def __str__(self) -> str:
        """Which files, which version made them, and what renews them."""
        kept = "kept, because this version reads the replies differently"
        renew = f"run `{self.renew}` to renew" if self.renew else kept
        return f"{self.path}: {join_words(self.names)}: made by council {self.by}; {renew}"


@dataclass(frozen=True)
class Status:
    """`state` is complete, running, waiting, paused, interrupted or damaged."""

    state: str
    why: str
    session: Session | None = None
    plan: Plan | None = None


def status(folder: Path) -> Status:
    """The state of a session. It is complete only if nothing is missing and nothing is wrong."""
    try:
        found = session.open_(folder)
        seen = _see_derived(found)
        found.read_turns()
        plan = found.plan()
        running = lock.is_held(folder)
        findings = [] if running else list(_findings(found, plan, seen))
    except (CouncilError, OSError) as failure:
        return Status("damaged", str(failure))
    if wrong := [one for one in findings if isinstance(one, Damaged)]:
        return Status("damaged", "; ".join(map(str, wrong)), found, plan)
    state, why = _state(found, plan, running)
    versions = {one.by for one in findings if isinstance(one, Outdated)} if state == "complete" else set()
    return Status(state, "; ".join([why, *(f"made by council {by}" for by in sorted(versions))]), found, plan)


def _see_derived(found: Session) -> Mapping[str, bytes | None]:
    """The derived files that are there; during a debate, those of rounds with what is in them. This looks before the
    turns are read: a run that goes on derives files from turns that were not there yet.
    """
    final = "completed_at" in found.metadata
    names = derived.find(found.folder)
    return {name: None if final or not _is_round(name) else _read(found.folder / name) for name in names}


def _is_round(name: str) -> bool:
    return name.startswith("round-")


def _findings(found: Session, plan: Plan, seen: Mapping[str, bytes | None]) -> Iterator[Damaged | Outdated]:
    """What `check_derived` finds. Files that are unchanged since this version wrote them are not derived again."""
    yield from transcripts.check_notes(found.folder)
    yield from desk.check(found.folder)
    if found.kept_from:
        yield from _check_kept(found, seen)
    elif "completed_at" in found.metadata and provenance.is_current(found, [*seen]):
        yield from _check_completion(found, plan)
    else:
        yield from check_derived(found, plan, derived.Derivation(found, plan), seen)


def _check_kept(found: Session, there: Iterable[str]) -> Iterator[Damaged | Outdated]:
    """The files of a debate that this version would end in another way: as they were, if their hashes are known."""
    stamped = found.metadata.get("derived", {}).get("files", {})
    for name in sorted({*there, *stamped} if stamped else ()):
        data = _read(found.folder / name)
        if data is None or sha256(data) != stamped.get(name):
            yield Damaged(found.folder / name, "changed since council wrote it; restore it from a backup")
    yield Outdated(found.folder, tuple(sorted(there)) or ("the outcome",), str(found.kept_from), "")


def _state(found: Session, plan: Plan, running: bool) -> tuple[str, str]:
    note = lock.read_note(found.folder)
    if running:
        return "running", "; ".join([lock.describe(note), *_outlook(found, plan)])
    if found.kept_from:
        return "complete", str(found.metadata.get("outcome", "finished"))
    if plan.done:
        if found.metadata.get("completed_at"):
            return "complete", outcome.outcome(plan)
        return "interrupted", "all turns are recorded, but the results were not written"
    due = ", ".join(one.id for one in plan.due)
    by_hand = registry.describe(found.speaker).manual
    if all(one.of_a_person or (by_hand and not registry.machine_of(one.seat)) for one in plan.due):
        return "waiting", f"for {due}"
    if isinstance(note.get("paused"), str):
        return "paused", note["paused"]
    return "interrupted", f"before {due}" + (f"; `council next {found.id}` makes it" if by_hand else "")


def can_wait(folder: Path) -> bool:
    """Whether a person may ever be due in a session, by its program alone: no turn is read. Where this is false, the
    session is not waiting."""
    try:
        found = session.open_(folder)
    except (CouncilError, OSError):
        return False
    flow = found.workflow
    named = {name for _, step in flow.steps() for name in step.seats}
    cast = (Seat(name, "", persona) for name, persona in flow.catalog.items())
    by_hand = registry.describe(found.speaker).manual
    return by_hand or any(seat.is_person for seat in (*flow.declared_seats(named), *cast))


def _outlook(found: Session, plan: Plan) -> Iterator[str]:
    """What a run will do next, as far as the files tell."""
    if (by := desk.read_pause(found.folder)) is not None:
        yield f"pauses before its next turns, as {one_line(by, 100)} asked"
    if plan.due and all(one.of_a_person for one in plan.due):
        yield f"waits for {join_words(one.id for one in plan.due)}"


def verify(folder: Path) -> Iterator[Damaged | Outdated]:
    """What is wrong or outdated in a session, file by file. The record comes first: derived files follow from it."""
    try:
        found = session.open_(folder)
    except Damaged as wrong:
        yield wrong
        return
    from council.reports import briefs  # renders templates, which no state needs

    seen, asked = _see_derived(found), briefs.find(folder)
    record = [*found.check_turns(), *transcripts.check_notes(folder), *desk.check(folder)]
    yield from record
    if record:
        return
    found.read_turns()
    plan = found.plan()
    if found.kept_from:
        yield from _findings(found, plan, seen)
        return
    yield from briefs.check(found, plan, asked)
    made = derived.Derivation(found, plan)
    yield from check_derived(found, plan, made, seen)
    if plan.done:
        yield from _check_stamps(found, made)
        yield from _check_archive(found, made)


def check_derived(
    found: Session, plan: Plan, made: derived.Derivation, seen: Mapping[str, bytes | None]
) -> Iterator[Damaged | Outdated]:
    """Derived files (of those `seen` before the turns were read) and completion metadata that do not follow from the
    record.

    During a debate they may lag behind the turns; only the file of a finished round is final.
    """
    complete = "completed_at" in found.metadata
    outdated: dict[str, list[str]] = {}
    for name in sorted({*made, *seen} if complete else seen):
        path, there = found.folder / name, name in seen
        if name in made and not complete and not _is_round(name):
            continue
        data = _read(path) if complete or not _is_round(name) else seen[name]
        if data is not None and data == made.get(name):
            continue
        if (data is not None or not there) and (by := provenance.made_by(found, name, data)):
            outdated.setdefault(by, []).append(name)
        elif name not in made:
            yield Damaged(path, f"this file does not follow from the turns; `council build {found.id}` removes it")
        else:
            why = "it does not follow from the turns" if there else "it is missing"
            yield Damaged(path, f"{why}; `council build {found.id}` rebuilds it")
    for by, names in outdated.items():
        yield Outdated(found.folder, tuple(names), by, f"council build {found.id}")
    if complete:
        yield from _check_completion(found, plan)
    elif early := [name for name in chain.COMPUTED if name in found.metadata]:
        path = found.folder / "metadata.json"
        yield Damaged(path, f"{join_words(early)}: the debate was not finished; restore the file from a backup")


def _check_completion(found: Session, plan: Plan) -> Iterator[Damaged | Outdated]:
    path = found.folder / "metadata.json"
    facts = archive.completion(found, plan) if plan.done else {"completed_at": None}
    wrong = [name for name, value in facts.items() if found.metadata.get(name) != value]
    if wrong and "completed_at" not in wrong and (by := provenance.finished_before(found)):
        yield Outdated(path, tuple(wrong), by, f"council archive {found.id}")
    elif wrong:
        yield Damaged(path, f"{', '.join(wrong)} do not follow from the turns; `council recover {found.id}`")


def _check_stamps(found: Session, made: derived.Derivation) -> Iterator[Damaged]:
    """What the metadata says of the files that this version derived. Another version's is not compared."""
    for key, stamp in archive.stamps(found, made).items():
        there = found.metadata.get(key)
        if there is not None and there["council"] == __version__ and there != stamp:
            path = found.folder / "metadata.json"
            yield Damaged(path, f"{key} does not follow from the turns; `council archive {found.id}` renews it")


def _check_archive(found: Session, made: derived.Derivation) -> Iterator[Damaged | Outdated]:
    if not (path := archive.find_copy(found)):
        return
    name = "transcript.md"
    data = _read(path)
    if data == made[name]:
        return
    if data is not None and (by := provenance.made_by(found, name, data, "archived")):
        yield Outdated(path, ("the archived transcript",), by, f"council archive {found.id}")
    else:
        yield Damaged(path, f"the archived copy is missing or changed; `council archive {found.id}` rebuilds it")


def _read(path: Path) -> bytes | None:
    """The bytes of a regular file; None if there is none."""
    try:
        return files.read(path)
    except (OSError, Damaged):
        return None


def find_foreign_files(folder: Path, frozen: Collection[str] = ()) -> list[str]:
    """Files in the session's folder that are not council's. They are harmless, and they prove nothing. `frozen` are
    those that a room froze.
    """
    ours = {*OURS, *frozen}
    return sorted(path.name for path in folder.iterdir() if path.name not in ours and not derived.is_derived(path.name))
