"""A forger who has our source and computes every hash again is found by a noted head, and by a signed one."""

from __future__ import annotations

import subprocess
import tempfile
from collections import Counter
from pathlib import Path

from prove import Outcome

from council.record.signature import NAME, NAMESPACE
from tests import forgeries
from tests.forgeries import Original

SIGNATURES, PROGRAM = "signatures", "the real program"
SAMPLE = 40  # every so many of the forgeries by the real program, a process for each command


def parts() -> list[str]:
    return [*forgeries.SESSIONS, SIGNATURES, PROGRAM]


def prove(part: str) -> Outcome:
    with tempfile.TemporaryDirectory() as folder:
        ground = Path(folder)
        if part == SIGNATURES:
            return prove_signatures(ground)
        if part == PROGRAM:
            return prove_by_processes(ground)
        return prove_forgeries(part, ground)


def prove_forgeries(name: str, ground: Path) -> Outcome:
    original = forgeries.prepare(name, ground / "original")
    honest = forgeries.examine(forgeries.Copy(original.user), original)
    wrong = [f"{name}: found something where nothing was changed: {honest}"] if any(vars(honest).values()) else []
    tried: Counter[str] = Counter()
    alone: Counter[str] = Counter()
    held: Counter[str] = Counter()
    for number, forgery in enumerate(forgeries.forgeries(original)):
        found = forgeries.examine(forgeries.attempt(forgery, original, ground / str(number)), original)
        tried[forgery.kind] += 1
        alone[forgery.kind] += found.alone
        held.update({"head": found.by_head, "signature": found.by_signature})
        if not (found.by_head and found.by_signature):
            wrong.append(f"{name}: {forgery.kind}: {forgery.what}: {found}")
    rows = [(f"a {how} finds every forgery", name, tried.total(), held[key]) for how, key in HOW.items()]
    tables = {True: "found", False: "not always found"}
    notes = [
        f"{name}, without a head, {word}: {'; '.join(f'{kind} ({alone[kind]} of {tried[kind]})' for kind in kinds)}"
        for all_found, word in tables.items()
        if (kinds := [kind for kind in tried if (alone[kind] == tried[kind]) is all_found])
    ]
    return Outcome(rows, wrong, [*notes, *(NOTES if name == forgeries.FINISHED else ())])


HOW = {"noted head": "head", "signed head": "signature"}
NOTES = [
    "no head covers where the archived copy is, the times and permissions of files, and the order of the keys in "
    "metadata.json, which means nothing",
    "while a debate is not over, its working files (runner.json, attempts at due turns) are named as not covered",
]


def prove_by_processes(ground: Path) -> Outcome:
    """A sample, with a process for each command."""
    wrong, tried = [], 0
    for name in forgeries.SESSIONS:
        original = forgeries.prepare(name, ground / name / "original")
        for number, forgery in enumerate(forgeries.forgeries(original)[::SAMPLE]):
            copy = forgeries.attempt(forgery, original, ground / name / str(number))
            by_process = forgeries.ask(copy, original, copy.user.process)
            tried += 1
            if by_process != forgeries.examine(copy, original) or not (by_process.by_head and by_process.by_signature):
                wrong.append(f"{name}: {forgery.kind}: {forgery.what}: {by_process}")
    return Outcome([("the program says the same", "forgeries", tried, tried - len(wrong))], wrong)


def prove_signatures(ground: Path) -> Outcome:
    """Signatures that are none of this session's head by somebody who is allowed to sign."""
    original = forgeries.prepare(forgeries.FINISHED, ground / "original")
    wrong = [] if verified(original) else ["the true signature was refused"]
    false = false_signatures(original, ground)
    for what, signature in false.items():
        (original.user.session / NAME).write_bytes(signature)
        wrong += [what] if verified(original) else []
    return Outcome([("no other signature verifies", "signatures", len(false), len(false) - len(wrong))], wrong)


def verified(original: Original) -> bool:
    return original.user.council("verify", "--signers", original.signers).code == 0


def false_signatures(original: Original, ground: Path) -> dict[str, bytes]:
    ann, eve = original.signers.with_name("ann"), forgeries.make_key(ground, "eve")
    head, earlier = original.head, next(filter(None, forgeries.links(original.user.session)))
    right = sign(ann, NAMESPACE, head)
    return {
        "a stranger's": sign(eve, NAMESPACE, head),
        "of another head": sign(ann, NAMESPACE, "0" * 64),
        "of an earlier head of this session": sign(ann, NAMESPACE, earlier),
        "in Git's namespace": sign(ann, "git", head),
        "in another namespace": sign(ann, f"{NAMESPACE}-2", head),
        "of the head without its line feed": sign(ann, NAMESPACE, head, end=""),
        "cut in the middle": right[: len(right) // 2],
        "empty": b"",
        "no signature at all": b"it is all right\n",
        "two, a stranger's first": sign(eve, NAMESPACE, head) + right,
    }


def sign(key: Path, namespace: str, head: str, end: str = "\n") -> bytes:
    command = ["ssh-keygen", "-Y", "sign", "-f", str(key), "-n", namespace]
    return subprocess.run(command, input=f"{head}{end}".encode(), capture_output=True, check=True).stdout
