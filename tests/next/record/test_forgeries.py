"""Forgeries by somebody with a text editor, with our source, and with all the time in the world.

Each is applied to a finished debate and to one that stands in the middle of a batch. A head that was noted finds each
forgery of what it covers. Without one, what was written anew to the end cannot be told from what happened.
"""

from __future__ import annotations

import json
import shutil
from collections.abc import Callable
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import pytest

from council.next.record import files, turn_file
from council.next.record.proof import problems
from council.next.record.session import FIXED, Session
from tests.next.record.sessions import ID, born, hold

ENGINEER, ARCHITECT = "01-positions/engineer", "01-positions/architect"
FIRST = f"turns/{ENGINEER}.md"
ATTEMPT = "attempts/01-positions/engineer~001.json"
SHARED, OWN = "briefs/01-positions/shared.md", "briefs/01-positions/engineer.md"


@dataclass(frozen=True)
class Forgery:
    """What somebody does to a session. `alone` says whether it is found without a head: finished, and in a batch."""

    act: Callable[[Path], None]
    alone: tuple[bool, bool] = (True, True)
    noted: tuple[bool, bool] = (True, True)


# ---- the forger's tools ----


def place(folder: Path, id: str) -> Path:
    return folder / "turns" / f"{id}.md"


def newest(folder: Path) -> str:
    path = max((folder / "turns").glob("*/*.md"))
    return f"{path.parent.name}/{path.stem}"


def remove(name: str) -> Callable[[Path], None]:
    return lambda folder: (folder / name).unlink()


def edit(path: Path, old: str, new: str) -> None:
    data = path.read_text("utf-8")
    assert old in data
    path.write_text(data.replace(old, new, 1), "utf-8")


def reword(folder: Path, id: str, **facts: Any) -> None:
    """Write a turn anew, with a receipt that fits."""
    receipt, body = turn_file.read(place(folder, id).read_bytes(), Path(id))
    place(folder, id).write_bytes(turn_file.write(replace(receipt, **facts), b"Indeed.\n\n" + body))


def put(name: str, change: Callable[[bytes], bytes]) -> Callable[[Path], None]:
    """Change the bytes of a file. One that is not there is empty before."""

    def act(folder: Path) -> None:
        path = folder / name
        path.parent.mkdir(exist_ok=True)
        path.write_bytes(change(path.read_bytes() if path.exists() else b""))

    return act


def restate(name: str, *keys: str) -> Callable[[Path], None]:
    """Change a value in a JSON file, at the place to which the keys lead."""

    def act(folder: Path) -> None:
        data = json.loads((folder / name).read_bytes())
        inner = data
        for key in keys[:-1]:
            inner = inner[key]
        inner[keys[-1]] = "forged" if isinstance(inner.get(keys[-1]), str) else {"forged": "value"}
        (folder / name).write_bytes(files.to_json(data))

    return act


def regive(name: str) -> Callable[[Path], None]:
    """Change a given file, and its hash in program.json."""

    def act(folder: Path) -> None:
        data = json.loads((folder / "program.json").read_bytes())
        path = next(path for path in sorted(folder.rglob("*")) if str(path.relative_to(folder)).startswith(name))
        path.write_bytes(path.read_bytes() + b"\nMore.\n")
        data["files"][str(path.relative_to(folder))] = files.sha256(path.read_bytes())
        (folder / "program.json").write_bytes(files.to_json(data))

    return act


def rechain(act: Callable[[Path], None]) -> Callable[[Path], None]:
    """A forgery after which every turn is recorded again, so that each hash in the session fits."""

    def forge(folder: Path) -> None:
        act(folder)
        turns = {}
        for path in (folder / "turns").glob("*/*.md"):
            receipt, body = turn_file.read(path.read_bytes(), path)
            turns[receipt.turn] = replace(receipt, after=""), body
        shutil.rmtree(folder / "turns")
        session = Session(folder)
        with session.hold():
            while known := [turns[due.id] for due in session.advance().due if due.id in turns]:
                for receipt, body in known:
                    session.record(receipt, body)
        assert set(session.said) == set(turns)

    return forge


def turn_bytes(old: bytes, new: bytes) -> Callable[[Path], None]:
    def change(data: bytes) -> bytes:
        assert old in data
        return data.replace(old, new, 1)

    return put(FIRST, change)


def swap(folder: Path) -> None:
    """Two members of one batch change places, with receipts that fit."""
    (one, body), (two, other) = (
        turn_file.read(place(folder, id).read_bytes(), Path(id)) for id in (ENGINEER, ARCHITECT)
    )
    place(folder, ENGINEER).write_bytes(turn_file.write(one, other))
    place(folder, ARCHITECT).write_bytes(turn_file.write(two, body))


def swap_files(folder: Path) -> None:
    one, two = place(folder, ENGINEER), place(folder, ARCHITECT)
    data = one.read_bytes()
    one.write_bytes(two.read_bytes())
    two.write_bytes(data)


def add(id: str) -> Callable[[Path], None]:
    """A turn that nobody asked for, with a receipt that fits."""

    def act(folder: Path) -> None:
        session = Session(folder)
        step, _, seat = id.partition("/")
        receipt = replace(session.receipts[ENGINEER], turn=id, seat=seat, step=step[3:], after=session.head)
        place(folder, id).parent.mkdir(exist_ok=True)
        place(folder, id).write_bytes(turn_file.write(receipt, b"## Signs\nR1\n"))

    return act


def from_another(id: str) -> Callable[[Path], None]:
    """The same turn of another session with the same program and topic."""

    def act(folder: Path) -> None:
        with born(folder.parent, "another"):
            pass
        hold(Session(folder.parent / "another"), 3)
        shutil.copyfile(place(folder.parent / "another", id), place(folder, id))

    return act


def move(folder: Path) -> None:
    place(folder, newest(folder)).rename(folder / "turns/01-positions/ada.md")


def move_with_its_name(folder: Path) -> None:
    move(folder)
    path = folder / "turns/01-positions/ada.md"
    receipt, body = turn_file.read(path.read_bytes(), path)
    path.write_bytes(turn_file.write(replace(receipt, turn="01-positions/ada"), body))


def rebrief(folder: Path) -> None:
    """Another brief, and a receipt that names it."""
    edit(folder / OWN, "own", "my own")
    reword(folder, ENGINEER, brief=files.sha256((folder / SHARED).read_bytes(), (folder / OWN).read_bytes()))


def cut_last_batch(folder: Path) -> None:
    shutil.rmtree(place(folder, newest(folder)).parent)


def cut(*names: str) -> Callable[[Path], None]:
    def act(folder: Path) -> None:
        for name in names:
            shutil.rmtree(folder / name)

    return act


def replace_last(folder: Path) -> None:
    """The newest turn was never said: another one takes its place, recorded by council itself."""
    id = newest(folder)
    receipt, _ = turn_file.read(place(folder, id).read_bytes(), Path(id))
    place(folder, id).unlink()
    session = Session(folder)
    with session.hold():
        assert session.record(replace(receipt, after=""), b"Something else.\n")


def leave_empty_folders(folder: Path) -> None:
    for name in ("attempts/09-x", "desk/09-x~y"):
        (folder / name).mkdir(parents=True)


FORGED = b"forged".__add__


def shorten(data: bytes) -> bytes:
    return data[:-9]


def by_a_head(act: Callable[[Path], None]) -> Forgery:
    return Forgery(act, alone=(False, False))


def newest_batch(act: Callable[[Path], None]) -> Forgery:
    """A head covers whole batches, and in a batch that is not whole nothing was said after the turn yet."""
    return Forgery(act, alone=(False, False), noted=(True, False))


def never(act: Callable[[Path], None]) -> Forgery:
    return Forgery(act, alone=(False, False), noted=(False, False))


FORGERIES = {
    "a byte of a reply": Forgery(turn_bytes(b"What", b"Whut")),
    "a byte at the end of a reply": Forgery(put(FIRST, lambda data: data + b" ")),
    "what a turn cost": Forgery(turn_bytes(b"usd: 0.01", b"usd: 0.02")),
    "who spoke": Forgery(turn_bytes(b"by: null", b'by: "ada"')),
    "the order of a receipt's keys": Forgery(turn_bytes(b"input: 3\ncache_read: null", b"cache_read: null\ninput: 3")),
    "the same receipt in other words": Forgery(turn_bytes(b"usd: 0.01", b"usd: 1e-2")),
    "a reply": Forgery(lambda folder: reword(folder, ENGINEER)),
    "a member that was absent": Forgery(lambda folder: reword(folder, ENGINEER, absent="gone")),
    "the newest reply": newest_batch(lambda folder: reword(folder, newest(folder))),
    "the newest turn, spoken again": newest_batch(replace_last),
    "a turn cut short": Forgery(put(FIRST, lambda data: data[:99])),
    "the end of a turn": Forgery(put(FIRST, shorten)),
    "swapped words": Forgery(swap),
    "swapped files": Forgery(swap_files),
    "a turn moved": Forgery(move),
    "a turn moved, with its name": Forgery(move_with_its_name),
    "a turn of another session": Forgery(from_another(ENGINEER)),
    "a turn of another session in the newest batch": Forgery(from_another("02-challenges/architect")),
    "a seat that does not sit": Forgery(add("01-positions/ada")),
    "a seat that does not sit, in the newest batch": Forgery(add("02-challenges/ada")),
    "a phase that does not exist": Forgery(add("09-extra/x")),
    "a second try that nobody asked for": Forgery(add(f"{ENGINEER}.2")),
    "a second try in the newest batch": Forgery(add("02-challenges/architect.2")),
    "a turn removed in the middle": Forgery(remove(FIRST)),
    "the newest turn removed": newest_batch(lambda folder: place(folder, newest(folder)).unlink()),
    "the last batch removed": newest_batch(cut_last_batch),
    "all turns removed": Forgery(cut("turns")),
    "all turns removed, with their briefs": by_a_head(cut("turns", "briefs")),
    "the brief of a seat": Forgery(lambda folder: edit(folder / OWN, "own", "my own")),
    "the shared part of a brief": Forgery(lambda folder: edit(folder / SHARED, "shared", "shored")),
    "another shared part": Forgery(put("briefs/01-positions/engineer.shared.md", FORGED)),
    "a brief removed": Forgery(remove(OWN)),
    "a brief that no turn had": Forgery(put("briefs/01-positions/ada.md", FORGED)),
    "a brief, and its hash": Forgery(rebrief),
    "the topic": Forgery(lambda folder: edit(folder / "topic.md", "Redis", "Valkey")),
    "the topic, and its hash": Forgery(regive("topic.md")),
    "a document": Forgery(put("attached/01-spec.md", FORGED)),
    "a document, and its hash": Forgery(regive("attached/")),
    "a document more": Forgery(put("attached/02-more.md", FORGED)),
    "a frozen file, and its hash": Forgery(regive("frozen/")),
    "a frozen file more": Forgery(put("frozen/more", FORGED)),
    "the workflow": Forgery(lambda folder: edit(folder / "workflow.md", "Synthesis", "Summary")),
    "the workflow, and its hash": Forgery(regive("workflow.md")),
    "program.json cut short": Forgery(put("program.json", shorten)),
    **{
        f"{key} of program.json": Forgery(restate("program.json", *key.split("/")))
        for key in ("templates/a.md.j2", "personas/engineer", "options/words", "seed", "attached/docs", "unknown")
    },
    **{f"{key} of metadata.json": Forgery(restate("metadata.json", key)) for key in FIXED},
    "metadata.json removed": Forgery(remove("metadata.json")),
    "an attempt of other types": Forgery(restate(ATTEMPT, "usd")),
    "everything written anew after a reply": by_a_head(rechain(lambda folder: reword(folder, ENGINEER))),
    "everything written anew after a brief": by_a_head(rechain(rebrief)),
    "everything written anew after the topic": by_a_head(rechain(regive("topic.md"))),
    "everything written anew after a template": by_a_head(rechain(restate("program.json", "templates", "a.md.j2"))),
    "everything written anew after the start": by_a_head(rechain(restate("metadata.json", "started_at"))),
    # What may change at any time, so that neither a head nor anything else says that it has not.
    "a fact that metadata.json gained": never(restate("metadata.json", "completed_at")),
    "what an attempt cost": never(lambda folder: edit(folder / ATTEMPT, "0.01", "0.02")),
    "a derived file": never(put("transcript.md", FORGED)),
    "what an editor left": never(put("turns/01-positions/.engineer.md.swp", FORGED)),
    "folders that a kill left empty": never(leave_empty_folders),
    "nothing": never(lambda folder: None),
}


@pytest.fixture(scope="module")
def held(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, Path]:
    """A finished debate, and one in which a batch of two lacks one turn."""
    found = []
    for turns in (99, 3):
        root = tmp_path_factory.mktemp("held")
        with born(root, program={"personas": {"engineer": {"focus": "cost"}}}):
            pass
        hold(Session(root / ID), turns)
        found.append(root / ID)
    finished, begun = found
    assert Session(finished).plan.done
    assert (len(Session(begun).said), len(Session(begun).plan.due)) == (3, 1)
    return finished, begun


@pytest.mark.parametrize("state", [0, 1], ids=["finished", "in a batch"])
@pytest.mark.parametrize("name", FORGERIES)
def test_a_forgery(held: tuple[Path, Path], name: str, state: int, tmp_path: Path) -> None:
    forgery, original, folder = FORGERIES[name], held[state], tmp_path / ID
    shutil.copytree(original, folder)
    noted = Session(original).head
    forgery.act(folder)
    alone, against = [*problems(folder)], [*problems(folder, noted)]
    assert bool(alone) is forgery.alone[state], alone
    assert bool(against) is forgery.noted[state], against
    assert all(str(folder) in one for one in against), "each problem names its file"


@pytest.mark.parametrize("state", [0, 1], ids=["finished", "in a batch"])
def test_each_byte_of_what_a_head_covers(held: tuple[Path, Path], state: int, tmp_path: Path) -> None:
    """A bit flipped anywhere in a file that the head covers is found, by a head or without."""
    folder = tmp_path / ID
    shutil.copytree(held[state], folder)
    noted, covered = Session(folder).head, {"program.json", "workflow.md", "topic.md"}
    open_batch = Session(folder).plan.open
    for path in sorted(folder.rglob("*")):
        name = str(path.relative_to(folder))
        turn = name.startswith("turns/") and name[6:-3] not in open_batch
        if not path.is_file() or not (turn or name in covered or name.startswith(("attached/", "frozen/"))):
            continue
        data = path.read_bytes()
        for at in range(0, len(data), 1 + len(data) // 40):
            path.write_bytes(data[:at] + bytes([data[at] ^ 1]) + data[at + 1 :])
            assert [*problems(folder, noted)], (name, at)
        path.write_bytes(data)
    assert not [*problems(folder, noted)]


def test_a_head_that_was_noted_on_the_way_stays_valid(held: tuple[Path, Path]) -> None:
    finished, begun = held
    heads = Session(finished).heads
    assert len({*heads}) == len(heads) > 3
    for head in heads:
        assert not [*problems(finished, head)]
    assert [*problems(begun, heads[-1])], "the head of another session proves nothing"
