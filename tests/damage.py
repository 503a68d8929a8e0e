"""Damage to the files of a session: each mutation, what must come of it, and what holds whatever was done."""

from __future__ import annotations

import json
import os
import re
import shutil
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

from council.record import files, metadata, turn_file
from tests.helpers import Ended, User, disputed, no_traceback, picture, script

TOPIC = "Should we split the database?"
RECORD = ("metadata.json", "workflow.md", "topic.md", "program.json")
DERIVED = ("round-1.md", "round-2.md", "round-3.md", "convergence.json", "synthesis.md", "transcript.md")
HOLDER = ("runner.json", ".lock")
SPOKEN = ("01-positions/architect", "02-challenges/engineer", "04-synthesis-r01/chair")
MEMBERS = ("architect", "engineer")
WORDS = disputed(MEMBERS)
OPEN_TURN = "03-closing/engineer"
HALF_DONE = {
    turn: said for turn, said in WORDS.items() if turn != OPEN_TURN
}  # one turn of the closing round is missing
DEEP = b"[" * 100_000

# What a mutation does to a session: the record is damaged; a derived file is, which `build` mends; `recover` asks for
# what was lost; nothing is; or the system refuses what council wants to do.
DAMAGED, MENDED, ASKED_AGAIN, HARMLESS, REFUSED = "damaged", "mended", "asked again", "harmless", "refused"


# ---- the two sessions that everything starts from ----


def begin(root: Path, words: dict[str, str]) -> User:
    user = User(root)
    members = [word for member in MEMBERS for word in ("--only", member)]
    ended = user.council("run", TOPIC, *members, "--speaker", "replay", "--from", script(user, words))
    assert ended.code in (0, 4), ended.err
    script(user, WORDS)
    return user


def copy(of: User, to: Path) -> User:
    shutil.copytree(of.root, to / "user", symlinks=True)
    user = User(to / "user")
    (user.session / "runner.json").write_text('{"pid": 1, "host": "elsewhere", "since": "yesterday"}')
    return user


# ---- mutations: each does one thing to one path ----

Mutation = Callable[[Path], object]


def bytes_changed(change: Callable[[bytes], bytes]) -> Mutation:
    def mutate(path: Path) -> None:
        path.write_bytes(change(path.read_bytes()))

    return mutate


def flipped(share: float, bit: int = 0) -> Mutation:
    """One bit flipped, so far into the file."""

    def change(data: bytes) -> bytes:
        at = min(int(len(data) * share), len(data) - 1)
        return data[:at] + bytes([data[at] ^ (1 << bit)]) + data[at + 1 :]

    return bytes_changed(change)


def cut(share: float) -> Mutation:
    return bytes_changed(lambda data: data[: min(int(len(data) * share), len(data) - 1)])


def in_place_of_it(make: Callable[[Path], object]) -> Mutation:
    def mutate(path: Path) -> None:
        path.unlink()
        make(path)

    return mutate


def linked_outside(path: Path) -> None:
    outside = path_outside(path)
    outside.write_bytes(path.read_bytes())
    path.unlink()
    path.symlink_to(outside)


def path_outside(path: Path) -> Path:
    """A place beside all sessions, where a copy of the file lies that a link leads to."""
    return next(parent for parent in path.parents if parent.name == "memory") / "outside"


def filled_folder(path: Path) -> None:
    path.mkdir()
    (path / "inner.md").write_text("---\n---\n")


def sparse(path: Path) -> None:
    os.truncate(path, 33_000_000)


def duplicated(data: bytes) -> bytes:
    """The first key of the frontmatter or of the JSON once more, before itself and with another value."""
    if data.startswith(b"---\n"):
        key = data.split(b"\n")[1].partition(b":")[0]
        return data.replace(b"---\n", b"---\n" + key + b': "another"\n', 1)
    key = data.partition(b'"')[2].partition(b'"')[0]
    return data.replace(b"{", b'{"' + key + b'": "another",', 1)


CONTENT: dict[str, Mutation] = {
    "emptied": bytes_changed(lambda _: b""),
    "cut after a byte": bytes_changed(lambda data: data[:1]),
    "cut at a quarter": cut(0.25),
    "cut in the middle": cut(0.5),
    "cut by a byte": cut(1.0),
    "first bit flipped": flipped(0.0),
    "a bit near the front flipped": flipped(0.05, 3),
    "a bit in the middle flipped": flipped(0.5, 5),
    "a bit near the end flipped": flipped(0.9, 2),
    "last bit flipped": flipped(1.0, 6),
    "mark of byte order before it": bytes_changed(lambda data: b"\xef\xbb\xbf" + data),
    "line ends of another system": bytes_changed(lambda data: data.replace(b"\n", b"\r\n") + b"\r\n"),
    "invalid UTF-8 in it": bytes_changed(lambda data: data[:40] + b"\xff\xfe\x80" + data[40:]),
    "NULs behind it": bytes_changed(lambda data: data + b"\0" * 64),
    "NULs in place of it": bytes_changed(lambda data: b"\0" * len(data)),
    "deep brackets": bytes_changed(lambda _: DEEP),
    "deep YAML": bytes_changed(lambda _: b"---\na: " + DEEP + b"\n---\n"),
    "a key twice": bytes_changed(duplicated),
    "huge": sparse,
}
KINDS: dict[str, Mutation] = {
    "a link to a copy outside": linked_outside,
    "a link to itself": in_place_of_it(lambda path: path.symlink_to(path.name)),
    "a dangling link": in_place_of_it(lambda path: path.symlink_to("nowhere")),
    "a folder": in_place_of_it(lambda path: path.mkdir()),
    "a folder with a file": in_place_of_it(filled_folder),
    "a FIFO": in_place_of_it(os.mkfifo),
    "deleted": lambda path: path.unlink(),
}
LINKS = ("a link to a copy outside", "a link to itself", "a dangling link")
ALL = {**CONTENT, **KINDS}


@dataclass(frozen=True)
class Case:
    """A mutation of one file, and what has to come of it. `named` is what every message must name."""

    name: str
    file: str
    mutate: Mutation
    expected: str
    named: str = ""

    @property
    def pattern(self) -> str:
        """What was lost is noticed by what followed from it."""
        lost = "transcript.md" if self.expected == ASKED_AGAIN else ""
        return self.named or lost or re.escape(self.file)


def record_cases() -> Iterator[Case]:
    """Not a byte of the record may differ. A lost turn is asked for again if no turn followed it."""
    turns = [f"{top}/{turn}.md" for top in ("briefs", "turns") for turn in SPOKEN]
    for file in (*RECORD, *turns):
        for name, mutate in (some_of_all() if file in turns[1:3] else ALL).items():
            lost = file.startswith("turns/") and name == "deleted"
            expected = ASKED_AGAIN if lost and file == f"turns/{SPOKEN[-1]}.md" else DAMAGED
            named = file.removeprefix("turns/").removesuffix(".md") if lost and expected == DAMAGED else ""
            if name != "a key twice" or file.startswith(("metadata", "workflow", "turns")):
                yield Case(name, file, mutate, expected, named)


def some_of_all() -> dict[str, Mutation]:
    """Enough for a file that is read as another is, with which all is tried."""
    return {name: ALL[name] for name in ("emptied", "cut in the middle", "huge", *KINDS)}


def derived_cases(files: tuple[str, ...]) -> Iterator[Case]:
    for file in files:
        for name, mutate in (ALL if file in ("round-1.md", "convergence.json") else some_of_all()).items():
            expected = DAMAGED if name in LINKS else REFUSED if name.startswith("a folder") else MENDED
            if name != "a key twice":
                yield Case(name, file, mutate, expected)


def holder_cases() -> Iterator[Case]:
    """Who held the session is no part of the record: whatever stands there proves nothing and harms nothing."""
    for name, mutate in ALL.items():
        expected = DAMAGED if name in LINKS else REFUSED if name.startswith("a folder") else HARMLESS
        yield Case(name, "runner.json", mutate, expected)
        if name not in CONTENT:
            yield Case(name, ".lock", mutate, REFUSED if name in LINKS else expected)
    yield Case("filled", ".lock", bytes_changed(lambda _: DEEP), HARMLESS)


def other_turns_cases() -> Iterator[Case]:
    """Each of the turns and briefs once."""
    for turn in WORDS:
        for top in ("turns", "briefs"):
            yield Case("a bit two thirds in flipped", f"{top}/{turn}.md", flipped(0.66, 4), DAMAGED)


# ---- mutations of more than one file ----


def swapped(one: str, other: str) -> Mutation:
    def mutate(path: Path) -> None:
        first, second = path / f"{one}.md", path / f"{other}.md"
        data = first.read_bytes()
        first.write_bytes(second.read_bytes())
        second.write_bytes(data)

    return mutate


def moved(one: str, other: str) -> Mutation:
    def mutate(path: Path) -> None:
        (path / other).parent.mkdir(exist_ok=True, parents=True)
        (path / one).rename(path / other)

    return mutate


def added(name: str, data: bytes = b"words\n") -> Mutation:
    def mutate(path: Path) -> None:
        (path / name).parent.mkdir(exist_ok=True, parents=True)
        (path / name).write_bytes(data)

    return mutate


def copied(one: str, other: str) -> Mutation:
    def mutate(path: Path) -> None:
        (path / other).parent.mkdir(exist_ok=True, parents=True)
        shutil.copy(path / one, path / other)

    return mutate


def newer(path: Path) -> None:
    found = json.loads(path.read_text())
    path.write_text(json.dumps({**found, "schema": 3}))


def resealed(**changed: object) -> Mutation:
    """Metadata as a forger writes it, who knows how council seals it."""

    def mutate(path: Path) -> None:
        found = json.loads(path.read_text())
        path.write_bytes(metadata.seal({**found, **changed}))

    return mutate


def forged(line: str, instead: str) -> Mutation:
    """A turn's receipt as a forger writes it: one line another, and the seal right."""

    def mutate(path: Path) -> None:
        head, _, words = path.read_bytes().removeprefix(turn_file.OPEN).partition(turn_file.CLOSE)
        lines = head.rpartition(b"\nseal: ")[0].decode()
        lines = re.sub(rf"^{line}: .*$\n?", instead, lines, flags=re.M)
        seal = json.dumps(turn_file._seal(lines.encode(), words)).encode()
        path.write_bytes(turn_file.OPEN + lines.encode() + b"\nseal: " + seal + turn_file.CLOSE + words)

    return mutate


def in_place_of_them(make: Mutation) -> Mutation:
    def mutate(path: Path) -> None:
        shutil.rmtree(path)
        make(path)

    return mutate


def moved_outside(path: Path) -> None:
    path.rename(path_outside(path))
    path.symlink_to(path_outside(path))


A, B = "01-positions/architect", "01-positions/engineer"
SPECIAL = [
    Case("a newer schema", "metadata.json", newer, DAMAGED),
    Case("members who are paths", "metadata.json", resealed(members=["../../../evil", "engineer"]), DAMAGED),
    Case("members who are no words", "metadata.json", resealed(members=[{"a": 1}]), DAMAGED),
    Case("no members", "metadata.json", resealed(members=[]), DAMAGED),
    Case("an unknown option", "metadata.json", resealed(options={"zeal": True}), DAMAGED, "metadata|workflow"),
    Case("a start that is no date", "metadata.json", resealed(started_at="yesterday"), DAMAGED),
    Case("personas that are no keys", "metadata.json", resealed(seats={"engineer": "a word"}), DAMAGED),
    Case("tiers that are no keys", "metadata.json", resealed(tiers={"sonnet": "a word"}), DAMAGED),
    Case("another session's id", "metadata.json", resealed(session_id="20200101-000000-00000000"), DAMAGED),
    Case("a false completion", "metadata.json", resealed(completed_at="2020-01-01T00:00:00+00:00"), MENDED),
    Case("a receipt without a key", f"turns/{A}.md", forged("seconds", ""), DAMAGED),
    Case("a receipt with a word for a number", f"turns/{A}.md", forged("seconds", 'seconds: "one"\n'), DAMAGED),
    Case("a receipt with no end", f"turns/{A}.md", forged("seconds", "seconds: Infinity\n"), DAMAGED),
    Case("a receipt of no time", f"turns/{A}.md", forged("started", 'started: "noon"\n'), DAMAGED),
    Case("a receipt with a key too many", f"turns/{A}.md", forged("seconds", 'seconds: 1\nzeal: "x"\n'), DAMAGED),
    Case("a receipt of brackets", f"turns/{A}.md", forged("seconds", f"seconds: {DEEP.decode()}\n"), DAMAGED),
    Case("a receipt with a key twice", f"turns/{A}.md", forged("seconds", "seconds: 1\nseconds: 2\n"), DAMAGED),
    Case("two turns swapped", "turns", swapped(A, B), DAMAGED, f"turns/({A}|{B})"),
    Case("two briefs swapped", "briefs", swapped(A, B), DAMAGED, f"briefs/({A}|{B})"),
    Case("a turn renamed", "turns", moved(f"{A}.md", "01-positions/nobody.md"), DAMAGED, "01-positions/nobody"),
    Case("a turn in another round", "turns", moved(f"{A}.md", "03-closing/writer.md"), DAMAGED, "03-closing/writer"),
    Case("a turn without its ending", "turns", moved(f"{A}.md", A), DAMAGED),
    Case("a turn twice", "turns", copied(f"{A}.md", "01-positions/intern.md"), DAMAGED, "01-positions/intern"),
    Case("a stranger among the turns", "turns", added("01-positions/notes.txt"), DAMAGED, "notes.txt"),
    Case("a stranger that looks like a turn", "turns", added("01-positions/intern.md"), DAMAGED, "intern.md"),
    Case("a stranger in a folder of its own", "turns", added("mine/of/all.md"), DAMAGED, "all.md"),
    Case("a stranger beside the turns' folders", "turns", added("words.md"), DAMAGED, "words.md"),
    Case("a stranger among the briefs", "briefs", added("01-positions/notes.txt"), DAMAGED, "notes.txt"),
    Case("an empty folder", "turns/09-later", Path.mkdir, HARMLESS),
    Case("the turns a file", "turns", in_place_of_them(lambda path: path.write_text("x")), DAMAGED),
    Case("the turns elsewhere", "turns", moved_outside, DAMAGED),
    Case("the turns a link to themselves", "turns", in_place_of_them(lambda path: path.symlink_to("turns")), DAMAGED),
    Case("the briefs deleted", "briefs", shutil.rmtree, DAMAGED),
    Case("the turns deleted", "turns", shutil.rmtree, ASKED_AGAIN),
    Case("the last turn deleted", "turns/04-synthesis-r01/chair.md", lambda path: path.unlink(), ASKED_AGAIN),
    Case("a stranger beside the record", "notes.txt", lambda path: path.write_text("mine"), HARMLESS),
    Case("a round too many", "round-9.md", lambda path: path.write_text("### Round 9"), MENDED),
    Case("half a file of a killed writer", f"turns/{A}{files.TEMP}", Path.touch, HARMLESS),
]  # fmt: skip

ON_FINISHED = [*record_cases(), *derived_cases(DERIVED), *holder_cases(), *other_turns_cases(), *SPECIAL]


def name_of(case: Case) -> str:
    return f"{case.file}: {case.name}"


# ---- what must hold whatever was done ----


class Damaged:
    """A session with one mutation, and how it was before and after."""

    def __init__(self, user: User, case: Case) -> None:
        self.user, self.case = user, case
        self.golden = {name: (user.session / name).read_bytes() for name in DERIVED if (user.session / name).exists()}
        self.untouched = picture(user.home)
        case.mutate(user.session / case.file)
        self.before = picture(user.home)

    def council(self, *words: str | Path) -> Ended:
        ended = self.user.council(*words)
        no_traceback(ended)
        return ended

    def refused(self, *words: str, code: int | tuple[int, ...] = 1) -> Ended:
        """The command fails with that code, names what is wrong, and touches nothing."""
        ended = self.council(*words)
        assert ended.code in (code if isinstance(code, tuple) else (code,)), ended.text
        self.names(ended)
        self.unchanged()
        return ended

    def names(self, ended: Ended) -> None:
        assert re.search(self.case.pattern, ended.text), f"{self.case.pattern} is not named in: {ended.text}"

    def unchanged(self) -> None:
        assert picture(self.user.home) == self.before

    def record_stands(self, completed: bool = False) -> None:
        """Of the record nothing is dropped or overwritten, but what the mutation itself changed."""
        after = picture(self.user.home)
        for name, kind in self.before.items():
            relative = name.partition("council-sessions/")[2].partition("/")[2]
            mutated = relative.startswith(self.case.file)
            new_facts = relative == "metadata.json" and (completed or self.case.expected == ASKED_AGAIN)
            if relative.startswith(("turns/", "briefs/", *RECORD)) and not mutated and not new_facts:
                assert after.get(name) == kind, name
            if name == "outside" or name.startswith("outside/"):
                assert after.get(name) == kind, "what a link leads to was touched"

    def writers(self) -> list[tuple[str, ...]]:
        source = str(self.user.work / "script.yaml")
        reply = str(self.user.write("reply.md", "My words."))
        return [
            ("recover", "--from", source), ("build",), ("next",), ("record", "last", OPEN_TURN, "--file", reply),
            ("archive",),
        ]  # fmt: skip


def check(user: User, case: Case) -> None:
    damaged = Damaged(user, case)
    assert damaged.before != damaged.untouched, "the mutation did nothing"
    {
        DAMAGED: check_damaged,
        MENDED: check_mended,
        ASKED_AGAIN: check_asked_again,
        HARMLESS: check_harmless,
        REFUSED: check_refused,
    }[case.expected](damaged)
    damaged.record_stands()


def check_damaged(damaged: Damaged) -> None:
    damaged.refused("status")
    listed = damaged.council("list", "--json")
    assert listed.json[0]["state"] == "damaged"
    damaged.names(listed)
    damaged.refused("show")
    damaged.refused("verify", code=5)
    for command in damaged.writers():
        ended = damaged.refused(*command)
        assert "council verify" in ended.last or "nothing was changed" in ended.last


def check_mended(damaged: Damaged) -> None:
    """The record is whole: it can be shown, and one command makes right what follows from it."""
    damaged.refused("status")
    assert damaged.council("list", "--json").json[0]["state"] == "damaged"
    assert damaged.council("show").code == 0
    damaged.refused("verify", code=5)
    ended = damaged.council("recover", "--from", str(damaged.user.work / "script.yaml"))
    assert ended.code == 0, ended.err
    assert picture(damaged.user.home, (note(damaged),)) == {
        name: kind for name, kind in damaged.untouched.items() if name != note(damaged)
    }
    complete(damaged)


def note(damaged: Damaged) -> str:
    return str((damaged.user.session / "runner.json").relative_to(damaged.user.home))


def check_asked_again(damaged: Damaged) -> None:
    """What was lost is not passed over: it is due again, and once it is spoken the debate is what it was."""
    damaged.refused("status")
    damaged.refused("verify", code=5)
    assert damaged.council("show").code == 0
    ended = damaged.council("recover", "--from", str(damaged.user.work / "script.yaml"))
    assert ended.code == 0, ended.err
    complete(damaged)
    again = {name: (damaged.user.session / name).read_bytes() for name in damaged.golden}
    assert {name: without_head(data) for name, data in again.items()} == {
        name: without_head(data) for name, data in damaged.golden.items()
    }


def check_harmless(damaged: Damaged) -> None:
    complete(damaged)
    damaged.unchanged()
    for command in (("build",), ("recover", "--from", str(damaged.user.work / "script.yaml")), ("next",), ("archive",)):
        ended = damaged.council(*command)
        assert ended.code == 0, ended.err
    assert damaged.council("record", "last", OPEN_TURN, "--file", damaged.user.write("reply.md", "x")).code == 2
    complete(damaged)


def complete(damaged: Damaged) -> None:
    assert ": complete (" in damaged.council("status").out
    assert damaged.council("list", "--json").json[0]["state"] == "complete"
    assert damaged.council("show").code == 0
    ended = damaged.council("verify")
    assert ended.code == 0, ended.text


def check_refused(damaged: Damaged) -> None:
    """Something stands where council must write: readers say what they can, writers stop and name it."""
    for command in (("status",), ("list",), ("show",), ("verify",)):
        ended = damaged.council(*command)
        assert ended.code in (0, 1, 5)
        damaged.names(ended) if ended.code else None
    damaged.unchanged()
    ended = damaged.council("recover", "--from", str(damaged.user.work / "script.yaml"))
    assert ended.code in (1, 6)
    damaged.names(ended)
    for command in (("build",), ("next",), ("archive",)):
        ended = damaged.council(*command)
        assert ended.code in (0, 1, 6)
        if ended.code:
            damaged.names(ended)


# ---- a session that is not over ----

OPEN_BRIEF = f"briefs/{OPEN_TURN}.md"
A_FEW = ("emptied", "a bit in the middle flipped", "huge", *KINDS)


def half_done_cases() -> Iterator[Case]:
    for name in A_FEW:
        gone, link = name == "deleted", name in LINKS
        for file in ("metadata.json", "topic.md", f"turns/{A}.md", f"briefs/{A}.md"):
            yield Case(name, file, ALL[name], DAMAGED, A if gone and file.startswith("turns/") else "")
        yield Case(name, OPEN_BRIEF, ALL[name], DAMAGED if link else HARMLESS if gone else REFUSED)
        yield Case(name, "round-1.md", ALL[name], half_done_derived(name, HARMLESS if gone else MENDED))
        yield Case(name, "transcript.md", ALL[name], half_done_derived(name, HARMLESS))
    yield Case("a newer schema", "metadata.json", newer, DAMAGED)
    yield Case("two turns swapped", "turns", swapped(A, B), DAMAGED, f"turns/({A}|{B})")
    yield Case("a false completion", "metadata.json", resealed(completed_at="2020-01-01T00:00:00+00:00"), MENDED)
    yield Case("a pause that was none", "runner.json", lambda path: path.write_text('{"paused": ["x"]}'), HARMLESS)


def half_done_derived(name: str, otherwise: str) -> str:
    return DAMAGED if name in LINKS else REFUSED if name.startswith("a folder") else otherwise


def check_open(user: User, case: Case, finished: User) -> None:
    """The session is one that is not over; `finished` is what it must become."""
    damaged = Damaged(user, case)
    if case.expected == DAMAGED:
        check_damaged(damaged)
        damaged.record_stands()
        return
    readers_say_open(damaged)
    source = str(damaged.user.work / "script.yaml")
    if case.expected == REFUSED:
        reply = str(damaged.user.write("reply.md", WORDS[OPEN_TURN]))
        for command in (("next",), ("record", "last", OPEN_TURN, "--file", reply), ("recover", "--from", source)):
            ended = damaged.council(*command)
            assert ended.code in (1, 6)
            damaged.names(ended)
            damaged.record_stands()
        return
    assert damaged.council("next").code == 0
    ended = damaged.council("recover", "--from", source)
    assert ended.code == 0, ended.err
    complete(damaged)
    damaged.record_stands(completed=True)
    for name in DERIVED[:-1]:
        assert (damaged.user.session / name).read_bytes() == (finished.session / name).read_bytes()


def without_head(data: bytes) -> bytes:
    """A turn that is spoken again has another time, so the session has another head."""
    return re.sub(rb"(head:\W*)[0-9a-f]{64}", rb"\1", data, flags=re.I)


def readers_say_open(damaged: Damaged) -> None:
    """Whatever they say of it, it is not that the debate is over."""
    wrong = damaged.case.expected in (MENDED, ASKED_AGAIN)
    status, verified = damaged.council("status"), damaged.council("verify")
    assert ": complete (" not in status.out
    assert status.code == int(wrong) or damaged.case.expected == REFUSED
    assert verified.code == 5 * wrong or damaged.case.expected == REFUSED
    for ended in (status, verified):
        damaged.names(ended) if wrong else None
    assert damaged.council("list", "--json").json[0]["state"] != "complete"
    damaged.council("show")
    damaged.unchanged()
