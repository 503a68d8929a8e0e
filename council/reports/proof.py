"""What the files of a session prove: by themselves, and against a head that somebody noted or signed.

By themselves they show accidents and careless edits. A forger who computes every hash again is found only by a head
that he could not change. With a head, everything in the folder must follow from what it covers.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from council import __version__
from council.engine.planner import Plan
from council.errors import CouncilError, Damaged
from council.record import attempts, chain, desk, files, lock, signature
from council.record import session as sessions
from council.record.session import Session
from council.reports import archive, derived, provenance
from council.reports.verify import Outdated, find_foreign_files, verify
from council.speakers import registry
from council.speakers.assistant import transcripts
from council.text import join_words

NOTES = (lock.NOTE, transcripts.NOTES, attempts.FOLDER, desk.FOLDER)  # what a run leaves for the next one


@dataclass(frozen=True)
class Proof:
    """What was found. `unproven` is what a head does not cover, and must be empty where one is given; `notes` are the
    working files of a debate that is not over. Somebody entered the `typed` turns by hand; members stored those that
    are `by_member` themselves; council made those that are `by_machine`. `unchained` are the turns whose receipts have
    no link.
    """

    findings: tuple[str, ...]
    outdated: tuple[str, ...] = ()
    foreign: tuple[str, ...] = ()
    unproven: tuple[str, ...] = ()
    notes: tuple[str, ...] = ()
    typed: tuple[str, ...] = ()
    by_member: tuple[str, ...] = ()
    by_machine: tuple[str, ...] = ()
    unchained: tuple[str, ...] = ()
    session: Session | None = None
    head: str | None = None

    @property
    def signed(self) -> bool:
        return self.session is not None and signature.path_of(self.session.folder).exists()


def examine(folder: Path) -> Proof:
    """Check every file of a session."""
    found = list(verify(folder))
    wrong = tuple(str(one) for one in found if isinstance(one, Damaged))
    outdated = tuple(str(one) for one in found if isinstance(one, Outdated))
    try:
        session = sessions.open_(folder)
        session.read_turns()
    except CouncilError:
        return Proof(wrong, outdated, tuple(find_foreign_files(folder)))
    foreign = tuple(find_foreign_files(folder, session.extra))
    plan, receipts = session.plan(), sorted(session.receipts.items())
    left, over = tuple(_find_notes(session)), plan.done and not wrong
    swept = [path for turn, path in attempts.find(folder).items() if turn in session.said]
    unproven = [*outdated, *(f"{folder / name}: not part of the session" for name in foreign)]
    unproven += _find_unproven(session, plan)
    recover = f"left by a run that stopped; `council recover {session.id}` removes it"
    unproven += [f"{path}: {recover}" for path in (*(left if over else ()), *swept)]
    return Proof(
        findings=wrong,
        outdated=outdated,
        foreign=foreign,
        unproven=tuple(dict.fromkeys(unproven)),
        notes=() if over else tuple(path.name for path in left),
        typed=tuple(turn for turn, receipt in receipts if registry.typed_in(receipt)),
        by_member=tuple(turn for turn, receipt in receipts if registry.is_from_member(receipt)),
        by_machine=tuple(turn for turn, receipt in receipts if receipt.trial is not None),
        unchained=tuple(turn for turn, receipt in receipts if not receipt.after),
        session=session,
        head=chain.head(session),
    )


def compare(proof: Proof, noted: str) -> Iterator[str]:
    """What keeps the session from being the one whose head was noted."""
    if proof.session is None or proof.head == noted:
        return
    followed = sorted(turn for turn, receipt in proof.session.receipts.items() if receipt.after == noted)
    if followed:
        yield f"the noted head is the one before {join_words(followed)}; what followed is not covered by it"
    else:
        why = "something that it covers was changed, or turns were added since"
        yield f"the head is {proof.head}, not the noted {noted}: {why}"


def _find_notes(session: Session) -> Iterator[Path]:
    for path in (session.folder / name for name in NOTES):
        if path.is_file() or (path.is_dir() and any(path.iterdir())):
            yield path


def _find_unproven(session: Session, plan: Plan) -> Iterator[str]:
    """What `verify` lets pass, because it may lag behind the turns or be the work of another version."""
    if session.kept_from:
        return  # all of it is the work of another version
    complete = "completed_at" in session.metadata
    build = f"`council build {session.id}` renews it"
    for name, data in derived.derive(session, plan).items() if not complete else ():
        if _read(session.folder / name) != data:
            yield f"{session.folder / name}: does not follow from the turns that are recorded now; {build}"
    if _read(session.folder / lock.LOCK):
        yield f"{session.folder / lock.LOCK}: council wrote nothing into it; empty it"
    for path in files.walk(session.folder):
        if path.name.endswith(files.TEMP) and path.parent != session.folder:  # there, it is foreign
            yield f"{path}: left by a run that stopped; {build}"
    if complete:
        yield from _check_stamps(session)


def _check_stamps(session: Session) -> Iterator[str]:
    """What the metadata says of the derived files and the archived copy."""
    path, renew = session.folder / "metadata.json", f"`council archive {session.id}` renews it"
    for key in archive.STAMPS:
        version = session.metadata.get(key, {}).get("council", "an earlier version")
        if version != __version__:
            yield f"{path}: {key}: by council {version}, which this version cannot check; {renew}"
    if provenance.INTENT in session.metadata:
        yield f"{path}: {provenance.INTENT}: a renewal was interrupted; {renew}"
    copy = Path(session.metadata.get("archived_to", ""))
    if not any(copy.parts[-2:] == place.parts for place in archive.places(session)):
        yield f"{path}: archived_to: not where council archives this debate; {renew}"


def _read(path: Path) -> bytes | None:
    try:
        return files.read(path)
    except (OSError, Damaged):
        return None
