"""`verify` and `attest`: what the files of a session prove, and against which head."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

import click

from council.cli.command import command
from council.cli.context import State
from council.cli.options import FILE, JSON, SESSION
from council.errors import Damaged, Unproven, UsageError
from council.terminal.output import advise, echo, print_json
from council.text import join_words

if TYPE_CHECKING:
    from council.record.session import Session
    from council.reports.proof import Proof

FINDS = (
    "this finds what is damaged, edited, missing, swapped or foreign, and turns and derived files that do not follow "
    "from the turns before them"
)
MISSES = (
    "it does not find a forger who computes every hash again: note the head elsewhere and use --head, or sign it with "
    "`council attest --sign KEY`"
)


@command()
@SESSION
@click.option("--head", metavar="HASH", help="Check against the head that you noted before.")
@click.option("--signers", type=FILE, metavar="FILE", help="Check the signature of the head against these SSH keys.")
@JSON
@click.pass_obj
def verify(state: State, session: str, head: str | None, signers: Path | None, as_json: bool) -> None:
    """Check SESSION: every receipt, hash, brief and derived file. Exits 5 if anything is wrong.

    With --head or --signers, everything in the folder must follow from that head.
    """
    from council.reports import proof as proofs

    if head is not None and not re.fullmatch(r"[0-9a-f]{64}", head):
        raise UsageError(f"--head {head[:80]}: a head has 64 characters, 0-9 and a-f")
    folder = state.folder(session)
    found = proofs.examine(folder)
    by_signature, signer = check_signature(found, signers)
    wrong = [*found.findings, *(proofs.compare(found, head) if head else ()), *by_signature]
    strict = head is not None or signers is not None
    wrong += found.unproven if strict else ()
    if as_json:
        print_json(as_document(folder.name, found, wrong, signer))
    else:
        ignored = () if strict else (f"{folder / name}: not part of the session; ignored" for name in found.foreign)
        for line in dict.fromkeys((*wrong, *found.outdated, *ignored)):
            echo(line)
    if wrong:
        renewable = found.findings or (strict and found.unproven)
        state.next_step = f"council build {folder.name}" if renewable else None
        raise Unproven(f"{len(wrong)} finding{'s' if len(wrong) > 1 else ''} in {folder.name}")
    if not as_json and found.session:
        for line in (*describe_checks(found, found.session), *describe_proof(found, strict, signer)):
            echo(line)


def check_signature(found: Proof, signers: Path | None) -> tuple[list[str], str | None]:
    """What is wrong with the signature, and who signed."""
    from council.record import signature

    if signers is None or found.session is None:
        return [], None
    try:
        return [], signature.check(found.session, signers)
    except Damaged as wrong:
        return [str(wrong)], None


def as_document(id: str, found: Proof, wrong: list[str], signer: str | None) -> dict[str, object]:
    return {
        "session_id": id,
        "head": found.head,
        "findings": wrong,
        "outdated": found.outdated,
        "not_ours": found.foreign,
        "not_covered": found.notes,
        "typed": found.typed,
        "by_member": found.by_member,
        "by_machine": found.by_machine,
        "unchained": found.unchained,
        "signer": signer,
    }


def describe_checks(found: Proof, session: Session) -> Iterator[str]:
    """What was checked, and what could not be."""
    from council.reports import in_force

    files = "brief" if found.outdated else "brief and derived file"
    yield f"{session.id}: every receipt, hash{' and' if found.outdated else ','} {files} is correct"
    yield from in_force.describe(session)
    yield from in_force.describe_settings(session)
    if found.typed:
        number = "1 turn was" if len(found.typed) == 1 else f"{len(found.typed)} turns were"
        yield f"{number} entered by hand (no API receipt): {', '.join(found.typed)}"
    if found.by_member:
        number = "1 turn" if len(found.by_member) == 1 else f"{len(found.by_member)} turns"
        yield f"{number} recorded by: member (no API receipt): {', '.join(found.by_member)}"
    if found.by_machine:
        number = "1 turn is" if len(found.by_machine) == 1 else f"{len(found.by_machine)} turns are"
        yield f"{number} by council itself, which ran tests or looked something up: {', '.join(found.by_machine)}"
    if found.unchained:
        whole = len(found.unchained) == len(session.receipts)
        turns = "" if whole else f" for {join_words(found.unchained)}"
        yield f"no chain recorded{turns}: recorded by an earlier version of council"
    if not session.reproducible:
        by = session.metadata.get("council", "an earlier version")
        yield f"the briefs were not rendered again: the session was begun by council {by}"


def describe_proof(found: Proof, strict: bool, signer: str | None) -> Iterator[str]:
    """What that proves."""
    from council.record import signature

    yield f"head: {found.head}"
    if signer:
        yield f"signed by: {signer}"
    if strict:
        yield f"proven: the session is as it was when this head was {'signed' if signer else 'noted'}"
        if found.notes:
            yield f"not covered, because the debate is not over: {join_words(found.notes)}"
        return
    yield FINDS
    yield MISSES
    if found.signed:
        yield f"{signature.NAME} was not checked: --signers FILE checks by whom it is, and whether of this head"


@command()
@SESSION
@click.option("--sign", "key", type=FILE, metavar="KEY", help="Sign the head with this SSH key.")
@JSON
@click.pass_obj
def attest(state: State, session: str, key: Path | None, as_json: bool) -> None:
    """Print the head of SESSION for you to note, or sign it with `ssh-keygen -Y sign`.

    The head is a hash of the program, the topic, the options, and every brief and turn.
    """
    from council.record import chain, signature
    from council.reports import proof as proofs

    found = state.open(session)
    if wrong := proofs.examine(found.folder).findings:
        state.next_step = f"council verify {found.id}"
        raise Unproven(f"{found.id} is not attested: {wrong[0]}")
    if key is not None and not key.is_file():
        raise UsageError(f"--sign {key}: no such file; give an SSH key, such as ~/.ssh/id_ed25519")
    path = None
    with found.hold(kept_too=True):
        head = chain.head(found)
        if key:
            path = signature.sign(found, key)
    if as_json:
        print_json({"session_id": found.id, "head": head, "namespace": signature.NAMESPACE, "signature": path})
        return
    echo(f"session: {found.id}\nhead: {head}")
    if path:
        advise(f"signed: {path}\ncheck: council verify {found.id} --signers FILE")
    else:
        advise(f"check: council verify {found.id} --head {head}\nnote it where nobody else can change it")
