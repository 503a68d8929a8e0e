"""Forgeries over all files of a session, by somebody who has our source: what finds them, with a head and without one.

`tests/test_forgeries.py` tries a sample, `scripts/prove trust` all of them.
"""

from __future__ import annotations

import itertools
import json
import os
import random
import shutil
import subprocess
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import Any
from unittest import mock

from council.errors import CouncilError
from council.record import signature
from council.record.program import Program, decode
from council.record.turn_file import Receipt, sha256
from council.reports import proof as proofs
from tests.forgery import GATE, LAST, LATER, WORDS, Change, Forger, hold, read, reseal
from tests.helpers import User, script

PERSON = "02-decision/human"
FINISHED, DECIDED, OPEN = "a finished debate", "a person's decision", "a debate that is not over"
SESSIONS = (FINISHED, DECIDED, OPEN)
Act = Callable[["Copy"], object]


@dataclass(frozen=True)
class Original:
    """A signed session, its head, and the file that names who may sign."""

    user: User
    head: str
    signers: Path


@dataclass(frozen=True)
class Copy:
    """A copy of the session, on which one forgery is done."""

    user: User

    @property
    def folder(self) -> Path:
        return self.user.session

    @property
    def forger(self) -> Forger:
        return Forger(self.folder)

    def facts(self) -> dict[str, Any]:
        found: dict[str, Any] = json.loads((self.folder / "metadata.json").read_bytes())
        return found

    def fit(self, briefs: bool = True) -> None:
        """Make everything fit the change: briefs, links, seals, derived files, stamps, the archived copy."""
        if briefs:
            self.forger.rebrief()
        self.forger.rechain()
        self.derive()

    def derive(self) -> None:
        self.user.council("archive" if "completed_at" in self.facts() else "build")


@dataclass(frozen=True)
class Forgery:
    """One change. `kind` is its row in the table, `what` the place."""

    kind: str
    what: str
    act: Act


@dataclass(frozen=True)
class Found:
    alone: bool
    by_head: bool
    by_signature: bool


# ---- the sessions ----


def make_key(folder: Path, name: str) -> Path:
    key = folder / name
    subprocess.run(["ssh-keygen", "-q", "-t", "ed25519", "-N", "", "-C", name, "-f", str(key)], check=True)
    return key


def allow(folder: Path, key: Path, options: str = "") -> Path:
    path = folder / f"signers-{key.name}"
    kind, public, *_ = key.with_suffix(".pub").read_text().split()
    path.write_text(f"{key.name}@example.org {options}{kind} {public}\n")
    return path


def prepare(name: str, root: Path) -> Original:
    """A session of that kind, signed."""
    root.mkdir(parents=True, exist_ok=True)
    user = {FINISHED: finished, DECIDED: decided, OPEN: half_done}[name](root / "user")
    key = make_key(root, "ann")
    for words in (("build",), ("attest", "--sign", key)):
        ended = user.council(*words)
        assert ended.code == 0, ended.text
    return Original(user, str(user.council("attest", "--json").json["head"]), allow(root, key))


def finished(root: Path) -> User:
    """Three rounds; one reply had to be asked for again."""
    unreadable = "We should.\n\n## Stance\nperhaps\n"
    return hold(root, {**WORDS, LATER: unreadable, f"{LATER}.2": WORDS[LATER]})


def decided(root: Path) -> User:
    user = User(root)
    user.write(".council/Workflows/Gate.md", GATE)
    words = {f"01-proposals/{seat}": f"The {seat} would begin." for seat in ("architect", "designer")}
    user.council("gate", "Do we?", "--speaker", "replay", "--from", script(user, words))
    ended = user.council("record", "last", PERSON, "--answer", "decision=no", "--by", "Ann Example")
    assert ended.code == 0, ended.text
    return user


def half_done(root: Path) -> User:
    return hold(root, {turn: said for turn, said in WORDS.items() if turn != LAST}, code=4)


# ---- the forgeries ----


def forgeries(original: Original) -> list[Forgery]:
    """All of them, for one session."""
    folder = original.user.session
    turns = sorted(read(folder).said)
    made = [*of_turns(turns), *of_receipts(turns), *of_briefs(turns), *of_program(folder), *of_metadata(folder)]
    return [*made, *of_derived(folder), *of_the_folder(folder, turns), *careless(folder)]


def of_turns(turns: list[str]) -> Iterator[Forgery]:
    for turn in turns:
        rewrite = partial(rewrite_turn, turn=turn, change=say_otherwise)
        yield Forgery("words of a turn; its seal", turn, rewrite)
        yield Forgery("words of a turn; seals, chain, derived files", turn, then_fit(rewrite, briefs=False))
        yield Forgery("words of a turn; briefs, seals, chain, derived files", turn, then_fit(rewrite))
        yield Forgery("an absence for a turn; briefs, seals, chain, derived files", turn, then_fit(
            partial(rewrite_turn, turn=turn, change=lambda receipt, _: (replace(receipt, absent="ill"), ""))
        ))  # fmt: skip
        yield Forgery("no links in the receipts; seals, derived files", turn, partial(strip_links, turn=turn))
        yield Forgery("the last turns cut off; completion removed, derived files", turn, partial(cut_off, turn=turn))
    for turn, other in itertools.pairwise(turns):
        swap = partial(swap_words, turn=turn, other=other)
        yield Forgery("words of two turns swapped; briefs, seals, chain, derived files", turn, then_fit(swap))


RECEIPT: dict[str, Any] = {
    "speaker": "anthropic", "tier": "opus", "asked": "claude-opus-5-5", "answered": "claude-opus-5-5",
    "started": "2026-01-01T00:00:00.000+00:00", "seconds": 4711.0, "input": 5, "output": 7, "usd": 0.5,
    "stop": "max_tokens", "call": "msg_0", "replayed": "another session", "by": "Eve", "most": 3.0,
    "recorded_by": "hook",
}  # fmt: skip


def of_receipts(turns: list[str]) -> Iterator[Forgery]:
    for turn in turns:
        for key, value in RECEIPT.items():
            change = partial(change_receipt, key=key, value=value)
            act = then_fit(partial(rewrite_turn, turn=turn, change=change), briefs=False)
            yield Forgery("a receipt's facts; seals, chain, derived files", f"{turn}: {key}", act)


def of_briefs(turns: list[str]) -> Iterator[Forgery]:
    for turn in turns:
        edit = partial(edit_file, name=f"briefs/{turn}.md")
        yield Forgery("a brief", turn, edit)
        yield Forgery("a brief; seals, chain, derived files", turn, then_fit(edit, briefs=False))


def of_program(folder: Path) -> Iterator[Forgery]:
    program = decode((folder / "program.json").read_bytes(), folder)
    for briefs in (False, True):
        kind = f"{'briefs, ' if briefs else ''}hashes, seals, chain, derived files"
        for name in ("workflow.md", "topic.md"):
            yield Forgery(f"{name}; {kind}", name, then_fit(partial(refreeze, name=name), briefs))
        for name in program.templates:
            act = then_fit(partial(edit_program, template=name), briefs)
            yield Forgery(f"a frozen template; {kind}", name, act)
        for name in program.personas:
            yield Forgery(f"a frozen persona; {kind}", name, then_fit(partial(edit_program, persona=name), briefs))


FIXED: dict[str, Any] = {
    "topic": "Shall they?", "started_at": "2026-01-01T00:00:00+00:00", "output_mode": "patchlist",
    "rounds_planned": "7", "seed": "0" * 32, "speaker": "anthropic", "attachments": ["spec.md"], "project": "/srv/x",
    "council": "0.2.0", "replay_of": "another", "after": "20260101-000000-00000000", "model": "large", "stranger": 1,
    "tiers": {"sonnet": {"endpoint": "anthropic", "model": "claude-opus-5-5"}}, "workflow": "board",
}  # fmt: skip
ADDED: dict[str, Any] = {"continued_by": "anthropic", "dismissed": {"B1": "it is fine"}}
COMPUTED: dict[str, Any] = {
    "completed_at": "2026-01-01T00:00:00+00:00", "rounds_completed": 9, "outcome": "agreed by all", "absent": ["chair"],
    "totals": {"calls": 1}, "archived_to": "/tmp/elsewhere.md", "derived": None, "archived": None,
    "deriving": {"council": "9.9.9", "turns": "", "files": {}},
}  # fmt: skip


def of_metadata(folder: Path) -> Iterator[Forgery]:
    for key, value in FIXED.items():
        act = partial(change_facts, **{key: value})
        yield Forgery("metadata fixed at birth; its seal", key, act)
        yield Forgery("metadata fixed at birth; briefs, seals, chain, derived files", key, then_fit(act))
    for key, value in ADDED.items():
        yield Forgery(
            "metadata that people add; seal, derived files", key, then_derive(partial(change_facts, **{key: value}))
        )
    facts = json.loads((folder / "metadata.json").read_bytes())
    for key, value in COMPUTED.items():
        if value is not None or key in facts:
            yield Forgery("metadata that follows from the turns; its seal", key, partial(change_facts, **{key: value}))
        if "derived" in facts and key not in ("derived", "archived", "deriving", "completed_at"):
            act = partial(change_facts, **{key: value}, derived={**facts["derived"], "council": "0.2.0"})
            yield Forgery("the same, presented as another version's", key, act)
    for how in ("BOM", "CRLF", "UTF-16", "line feed", "spaces"):
        yield Forgery("the bytes of the metadata, with the same meaning", how, partial(recode, how=how))


def of_derived(folder: Path) -> Iterator[Forgery]:
    for path in sorted(folder.glob("*.*")):
        if path.name.startswith(("round-", "convergence", "synthesis", "transcript")):
            yield Forgery("a derived file", path.name, partial(edit_file, name=path.name))
            yield Forgery("a derived file removed", path.name, partial(remove, name=path.name))
            for version in (None, "0.2.0"):
                whose = "another" if version else "this"
                act = partial(edit_derived, name=path.name, version=version)
                yield Forgery(f"a derived file, presented as {whose} version's", path.name, act)
    yield Forgery("a derived file too many", "round-9.md", partial(add, name="round-9.md"))
    yield Forgery("the archived copy", "transcript.md", edit_archive)


def of_the_folder(folder: Path, turns: list[str]) -> Iterator[Forgery]:
    for name in ("notes.txt", "decision.md.bak", "sub/notes.txt", ".lock"):
        yield Forgery("a foreign file, or words in the lock", name, partial(add, name=name))
    for name in ("briefs/01-positions/intern.md", "briefs/09-more/chair.md"):
        yield Forgery("a brief that nobody answered", name, partial(add, name=name))
    over = "completed_at" in json.loads((folder / "metadata.json").read_bytes())
    for name in (*(["runner.json"] if over else []), ".asked/x.json", f"attempts/{turns[0]}.jsonl"):
        yield Forgery("notes of a run that stopped", name, partial(add, name=name))
    yield Forgery("another session's id; folder, seals, chain, derived files", "session_id", rename)
    yield Forgery("a turn recorded later, by council itself", LAST, record_more)


def careless(folder: Path) -> Iterator[Forgery]:
    """A bit flipped somewhere in each file, and nothing computed again."""
    for path in sorted(folder.rglob("*")):
        name = path.relative_to(folder).as_posix()
        if path.is_file() and name not in (".lock", "runner.json", signature.NAME):
            for number in range(2):
                yield Forgery("any file, carelessly", name, partial(flip, name=name, number=number))


# ---- what they do ----


def then_fit(act: Act, briefs: bool = True) -> Act:
    def both(copy: Copy) -> None:
        act(copy)
        copy.fit(briefs)

    return both


def then_derive(act: Act) -> Act:
    def both(copy: Copy) -> None:
        act(copy)
        copy.derive()

    return both


def say_otherwise(receipt: Receipt, body: str) -> tuple[Receipt, str]:
    return receipt, f"I have changed my mind.\n\n{body}"


def change_receipt(receipt: Receipt, body: str, key: str, value: Any) -> tuple[Receipt, str]:
    return replace(receipt, **{key: value}), body


def rewrite_turn(copy: Copy, turn: str, change: Change) -> None:
    copy.forger.rewrite(turn, change)


def strip_links(copy: Copy, turn: str) -> None:
    """From this turn back to the first: what an earlier version recorded looks like that."""
    for one in sorted(read(copy.folder).said):
        if one <= turn:
            copy.forger.rewrite(one, lambda receipt, body: (replace(receipt, after=None), body))
    copy.fit()


def cut_off(copy: Copy, turn: str) -> None:
    step = turn.partition("/")[0]
    for top in ("turns", "briefs"):
        for path in (copy.folder / top).rglob("*.md"):
            if path.parent.name >= step:
                path.unlink()
    reseal(copy.folder, **dict.fromkeys(COMPUTED))
    for path in (*copy.folder.glob("round-*.md"), copy.folder / "synthesis.md", copy.folder / "convergence.json"):
        path.unlink(missing_ok=True)
    copy.fit()


def swap_words(copy: Copy, turn: str, other: str) -> None:
    said = read(copy.folder).said
    copy.forger.rewrite(turn, lambda receipt, _: (receipt, said[other].body))
    copy.forger.rewrite(other, lambda receipt, _: (receipt, said[turn].body))


def edit_file(copy: Copy, name: str) -> None:
    path = copy.folder / name
    path.write_bytes(path.read_bytes() + b"\nAnd one word more.\n")


def refreeze(copy: Copy, name: str) -> None:
    copy.forger.refreeze(name, (copy.folder / name).read_bytes() + b"\nAnd one word more.\n")


def edit_program(copy: Copy, template: str = "", persona: str = "") -> None:
    path = copy.folder / "program.json"
    program = decode(path.read_bytes(), path)
    templates = {name: text + " One word more." * (name == template) for name, text in program.templates.items()}
    personas = {
        name: {**about, "perspective": "You agree with everybody."} if name == persona else about
        for name, about in program.personas.items()
    }
    copy.forger.refreeze(path.name, Program(templates, personas).data)


def change_facts(copy: Copy, **facts: Any) -> None:
    reseal(copy.folder, **facts)


def recode(copy: Copy, how: str) -> None:
    path = copy.folder / "metadata.json"
    data = path.read_bytes()
    path.write_bytes({
        "BOM": b"\xef\xbb\xbf" + data,
        "CRLF": data.replace(b"\n", b"\r\n"),
        "UTF-16": data.decode().encode("utf-16"),
        "line feed": data + b"\n",
        "spaces": data.replace(b'": ', b'" : '),
    }[how])  # fmt: skip


def remove(copy: Copy, name: str) -> None:
    (copy.folder / name).unlink()


def add(copy: Copy, name: str) -> None:
    path = copy.folder / name
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text("" if path.suffix == ".jsonl" else '{"paused": "send money"}')


def edit_derived(copy: Copy, name: str, version: str | None) -> None:
    """The stamps say that these bytes are right."""
    edit_file(copy, name)
    stamp = copy.facts().get("derived") or {"council": "0.2.0", "turns": "", "files": {}}
    files = {**stamp["files"], name: sha256((copy.folder / name).read_bytes())}
    reseal(copy.folder, derived={**stamp, "council": version or stamp["council"], "files": files})


def edit_archive(copy: Copy) -> None:
    for path in (copy.user.home / "RESEARCH").rglob("*.md"):
        path.write_bytes(path.read_bytes() + b"\nEverybody agreed.\n")
    if "archived_to" not in copy.facts():
        reseal(copy.folder, archived_to="/elsewhere.md")


def rename(copy: Copy) -> None:
    folder = copy.folder.rename(copy.folder.with_name("20260101-000000-00000000"))
    reseal(folder, session_id=folder.name)
    copy.fit()


def record_more(copy: Copy) -> None:
    """Where the debate is over, another turn takes the last one's place."""
    due = copy.user.council("next", "--json").json["due"]
    if not due:
        rewrite_turn(copy, max(read(copy.folder).said), say_otherwise)
        copy.fit()
    for one in due:
        copy.user.council("record", "last", one["turn"], stdin=WORDS[one["turn"]])


def flip(copy: Copy, name: str, number: int) -> None:
    path = copy.folder / name
    data = bytearray(path.read_bytes())
    data[random.Random(f"{name} {number}").randrange(len(data))] ^= 1 << number
    path.write_bytes(bytes(data))


# ---- what finds them ----


def attempt(forgery: Forgery, original: Original, ground: Path) -> Copy:
    """Do it to a copy."""
    shutil.copytree(original.user.root, ground / "user", symlinks=True)
    copy = Copy(User(ground / "user"))
    before = picture(copy)
    with mock.patch.dict(os.environ, copy.user.environment, clear=True):
        forgery.act(copy)
    assert picture(copy) != before, f"{forgery.kind}: {forgery.what}: nothing was changed"
    return copy


def picture(copy: Copy) -> dict[str, bytes]:
    files = (path for path in copy.user.home.rglob("*") if path.is_file())
    return {path.relative_to(copy.user.home).as_posix(): path.read_bytes() for path in files}


def examine(copy: Copy, original: Original) -> Found:
    """What `verify` finds, `verify --head` and `verify --signers`. One examination is enough for all three."""
    with mock.patch.dict(os.environ, copy.user.environment, clear=True):
        proof = proofs.examine(copy.folder)
        wrong = bool(proof.findings)
        strict = wrong or bool(proof.unproven)
        signed = True
        try:
            signature.check(proof.session, original.signers) if proof.session else None
        except CouncilError:
            signed = False
        return Found(wrong, strict or any(proofs.compare(proof, original.head)), strict or not signed)


def ask(copy: Copy, original: Original, run: Callable[..., Any]) -> Found:
    """The same by the command line."""
    codes = [
        run("verify", *more).code for more in ((), ("--head", original.head), ("--signers", str(original.signers)))
    ]
    return Found(*(code == 5 for code in codes))


def links(folder: Path) -> list[str]:
    """The links in the receipts: heads that the session had before."""
    return [receipt.after for receipt in read(folder).receipts.values() if receipt.after]
