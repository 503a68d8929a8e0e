"""One debate in three places: begun in Claude Code, continued by a colleague in another client, finished in CI.

Only the session's folder travels, as an archive. Each of the three has a home, a project and an API of its own, and
checks the folder against the head that the one before noted. `scripts/record-demo` writes down what they see.
"""

from __future__ import annotations

import re
import shlex
import subprocess
from dataclasses import dataclass, field
from pathlib import Path

from tests import clients, portable
from tests.assistant import Assistant, by_hand, rule
from tests.claude_code import as_bytes, room
from tests.clients import Client
from tests.codex import Sandboxed
from tests.fakeapi import Answer, FakeApi
from tests.helpers import Ended, Table, User, disputed

TOPIC = "Council: Should we put Redis in front of PostgreSQL?"
WORDS = disputed()
CLOSED = r"Round {} \(\w+\) is closed"
STOP = "Round {} is closed. We stop here for today.\n"
ARCHIVE = "debate.tar.gz"
AFTER = ("02-challenges/architect", "03-closing/architect")  # what follows the first two heads
BY = {"01": 'recorded_by: "hook"', "02": 'recorded_by: "member"', "03": 'speaker: "anthropic"'}
BY["04"] = BY["03"]
HEAD = re.compile(r"^head: ([0-9a-f]{64})$", re.M)


@dataclass
class Leg:
    """What one of the three did: each command with what it printed. `head` is the session's afterwards."""

    who: str
    steps: list[tuple[str, str]] = field(default_factory=list)
    head: str = ""


@dataclass
class Relay:
    legs: list[Leg]
    session: Path
    user: User

    @property
    def wrong(self) -> list[str]:
        """What keeps the three from having held one debate."""
        files = sorted(self.session.glob("turns/*/*.md"))
        parts = {f"{path.parent.name}/{path.stem}": path.read_bytes().split(b"\n---\n", 1) for path in files}
        words = {turn: body.rstrip(b"\n") for turn, (_, body) in parts.items()}
        receipts = {turn: head.decode() for turn, (head, _) in parts.items()}
        chained = {turn[:2]: leg.head in receipts[turn] for leg, turn in zip(self.legs, AFTER, strict=False)}
        by = {turn: BY[turn[:2]] in receipt for turn, receipt in receipts.items()}
        found = {
            "other words": words != {turn: body.rstrip(b"\n") for turn, body in as_bytes(WORDS).items()},
            "it does not verify": self.user.council("verify", self.session.name).code != 0,
            f"a head that is not in the chain: {chained}": not all(chained.values()),
            f"recorded by somebody else: {by}": not all(by.values()),
        }
        return [what for what, holds in found.items() if holds]


def run(place: Path, colleague: Client) -> Relay:
    """The three, one after the other. Each home lies below `place`, the colleague's where its client wants it."""
    first, second, third = Leg("Claude Code"), Leg(type(colleague).__name__), Leg("CI")
    id = begin(place / "ada", first)
    answer(place / "ben", colleague, id, place / "ada" / "work" / ARCHIVE, first.head, second)
    user = finish(place / "ci", id, place / "ben" / "work" / ARCHIVE, second.head, third)
    for leg, turn in zip((first, second), AFTER, strict=True):
        ended = step(user, third, "verify", id, "--head", leg.head, code=5)
        assert f"the noted head is the one before {turn}" in ended.text, ended.text
    return Relay([first, second, third], user.session, user)


def begin(place: Path, leg: Leg) -> str:
    """The first round, and the archive."""
    pause = rule(CLOSED.format(1), Answer(STOP.format("one")))
    with room(place, [], WORDS) as here:
        here.api.responder = Assistant([pause, *by_hand(TOPIC)], here.members)
        ended = here.to_its_end(TOPIC)
        leg.steps.append((f'claude -p "{TOPIC}" --allowedTools "Skill(council)"', str(ended["result"])))
        id = here.user.session.name
        leg.head = check(here.user, id, leg)
        pack(here.user, here.user.session, leg)
    return id


def answer(place: Path, client: Client, id: str, archive: Path, head: str, leg: Leg) -> None:
    """The second round, by the portable loop."""
    with clients.room(place, client, f"Council recovery: {id}", WORDS, begin=f"council next {id}") as here:
        here.model.act = Pausing(f"Council recovery: {id}", WORDS, f"council next {id}")
        sandboxed = isinstance(here.user, Sandboxed)
        folder = (
            here.user.work / ".council" / "sessions" if sandboxed else here.user.home / "STATE" / "council-sessions"
        )
        unpack(here.user, archive, folder, leg)
        check(here.user, id, leg, "--head", head)
        prompt = f"Council recovery: {id}"
        leg.steps.append((f"{client.name} {shlex.join(client.arguments(prompt))}", here.hold(prompt)))
        assert {turn[:3] for turn in here.model.act.asked} == {"02-"}, "asked for what is recorded"
        leg.head = check(here.user, id, leg)
        pack(here.user, folder / id, leg)


class Pausing(portable.Council):
    """A host that stops once the second round is over."""

    def host(self, talk: portable.Talk) -> list[portable.Action]:
        if re.search(CLOSED.format(2), talk.shown):
            return [portable.Say(STOP.format("two"))]
        return super().host(talk)


def finish(place: Path, id: str, archive: Path, head: str, leg: Leg) -> User:
    """The rest, as CI does it: with a key, and with nobody watching."""
    user = User(place)
    table = Table(user, WORDS)
    with FakeApi(table) as api:
        user = User(place, {"CI": "true", "ANTHROPIC_API_KEY": "sk-ant-dummy", "ANTHROPIC_BASE_URL": api.url})
        unpack(user, archive, user.home / "STATE" / "council-sessions", leg)
        check(user, id, leg, "--head", head)
        step(user, leg, "recover", id)
    assert sorted(table.asked) == sorted(turn for turn in WORDS if turn[:3] in ("03-", "04-"))
    leg.head = check(user, id, leg)
    return user


def check(user: User, id: str, leg: Leg, *options: str) -> str:
    ended = step(user, leg, "verify", id, *options)
    assert ended.code == 0, ended.text
    found = HEAD.search(ended.out)
    assert found, ended.out
    return found[1]


def step(user: User, leg: Leg, *words: str, code: int = 0) -> Ended:
    ended = user.process(*words)
    leg.steps.append((" ".join(["council", *words]), ended.out + ended.err))
    assert ended.code == code, ended.text
    return ended


def pack(user: User, session: Path, leg: Leg) -> None:
    shell(user, leg, f"tar -C {tilde(user, session.parent)} -czf {ARCHIVE} {session.name}")


def unpack(user: User, archive: Path, folder: Path, leg: Leg) -> None:
    (user.work / ARCHIVE).write_bytes(archive.read_bytes())
    where = tilde(user, folder)
    shell(user, leg, f"mkdir -p {where} && tar -C {where} -xzf {ARCHIVE}")


def tilde(user: User, path: Path) -> str:
    inside = path.is_relative_to(user.work)
    return str(path.relative_to(user.work)) if inside else f"~/{path.relative_to(user.root)}"


def shell(user: User, leg: Leg, command: str) -> None:
    subprocess.run(["sh", "-c", command], cwd=user.work, env=user.environment, check=True)
    leg.steps.append((command, ""))
