"""What may come between the beginning and the end of a debate by hand, in the real Claude Code.

Each case holds a debate in a folder of its own and returns what was wrong afterwards: it must have ended, verify, and
hold every member's words, byte for byte, with nobody asked again whose answer had arrived.
"""

from __future__ import annotations

import json
import os
import re
import shutil
import signal
import time
from collections import Counter
from collections.abc import Callable, Iterable, Mapping
from dataclasses import replace
from pathlib import Path

from tests.assistant import Assistant, bash, by_hand, calls, is_member, rule, session_of
from tests.claude_code import PATIENCE, ROOT, Room, as_bytes, room
from tests.claude_terminal import ESCAPE, FOREGROUND, client
from tests.fakeapi import Answer, Request, ToolUse
from tests.helpers import disputed

TOPIC = "Council: Redis in front of PostgreSQL?"
WORDS = disputed()
HELD = ("02-challenges/designer", "02-challenges/researcher")
WINDOW = 100_000  # tokens: the smallest window that the client can be told of
SUMMARIZE = re.compile(r"an <analysis> block followed by a <summary> block")


def wrong_of(here: Room, session: Path, again: Iterable[str] = (), asked: Mapping[str, int] | None = None) -> list[str]:
    """What keeps a session from being a whole debate; `again` are the turns whose members may be asked twice."""
    verified = here.user.council("verify", session.name, "--json")
    turns = {str(path.relative_to(session / "turns").with_suffix("")): path for path in session.rglob("turns/*/*.md")}
    words = {turn: path.read_bytes().partition(b"\n---\n")[2].rstrip(b"\n") for turn, path in turns.items()}
    expected = {turn: body.rstrip(b"\n") for turn, body in as_bytes(WORDS).items()}
    counts = Counter(here.members.asked) if asked is None else asked
    often = {turn: count for turn, count in counts.items() if count > (2 if turn in again else 1)}
    wrong = {
        "it did not end": "completed_at" not in json.loads((session / "metadata.json").read_text()),
        f"verify: {verified.text}": verified.code != 0 or verified.json["findings"],
        f"other words: {sorted(words)}": words != expected,
        f"asked again: {often}": often,
    }
    return [what for what, holds in wrong.items() if holds]


def wait(until: Callable[[], bool]) -> None:
    end = time.monotonic() + PATIENCE
    while not until():
        assert time.monotonic() < end, "what was waited for did not come"
        time.sleep(0.05)  # it reads whole transcripts


class Hold:
    """Members of the second round who answer once `released`; the other two have answered before."""

    def __init__(self, here: Room) -> None:
        self.here, self.released, self.inner = here, False, here.members
        here.api.responder = self
        self.host: Callable[[Request], Answer] = Assistant(by_hand(TOPIC), self.member)

    def __call__(self, request: Request) -> Answer:
        return self.host(request)

    def member(self, request: Request) -> Answer:
        answer = self.inner(request)
        return replace(answer, once=lambda: self.released) if self.inner.asked[-1] in HELD else answer

    def wait(self) -> str:
        """Until six of the eight members have answered and two think; the session's id."""
        wait(lambda: self.here.whole() >= 6 and len(self.inner.asked) >= 8)
        return self.here.user.session.name

    def go_on(self, command: str) -> None:
        """From now on the host begins with this command, whatever it is told to begin with."""
        self.host = Assistant(by_hand(TOPIC, begin=command), self.member)


# ---- compaction ----


class Compacting:
    """The host's answer to its call number `at` is said to fill the window, so the client compacts before the next."""

    def __init__(self, inner: Assistant, at: int) -> None:
        self.inner, self.at = inner, at
        self.calls = self.compactions = 0

    def __call__(self, request: Request) -> Answer:
        if is_member(request):
            return self.inner(request)
        if SUMMARIZE.search(request.last):
            self.compactions += 1
            known = re.search(r"\d{8}-\d{6}-[0-9a-f]{8}", request.text)
            return Answer(f"<summary>The user calls a council: {TOPIC} Session: {known and known[0]}.</summary>")
        self.calls += 1
        answer = self.inner(without_reminders(request) if self.compactions else request)
        full = {"input_tokens": WINDOW - 1_000, "output_tokens": 100}
        return replace(answer, usage=full) if self.calls == self.at else answer


def without_reminders(request: Request) -> Request:
    """Without what the client says again after it has compacted, the text of the skill among it."""

    def kept(content: object) -> object:
        blocks = content if isinstance(content, list) else []
        return [one for one in blocks if not one.get("text", "").startswith("<system-reminder>")] or content

    told = [{**one, "content": kept(one["content"])} for one in request.messages if one["role"] != "system"]
    return replace(request, body={**request.body, "messages": told})


def compacted(place: Path, at: int) -> list[str]:
    """The client compacts by itself after the main loop's call number `at`."""
    look = rule(r"continued from a previous conversation", lambda _, told: bash(f"council next {session_of(told)}"))
    with room(place, [], WORDS, env={"CLAUDE_CODE_AUTO_COMPACT_WINDOW": str(WINDOW)}) as here:
        host = Compacting(Assistant([look, *by_hand(TOPIC)], here.members), at)
        here.api.responder = host
        here.to_its_end(TOPIC)
        compactions = [] if host.compactions == 1 else [f"{host.compactions} compactions"]
        return [*compactions, *wrong_of(here, here.user.session)]


def compacted_by_hand(place: Path) -> list[str]:
    """After the first round the host pauses, the user compacts and says: go on. Each is a process of its own."""
    pause = rule(r"Round 1 .* is closed", Answer("I wait.\n"))
    with room(place, [], WORDS) as here:
        here.api.responder = Compacting(Assistant([pause, *by_hand(TOPIC)], here.members), 0)
        here.to_its_end(TOPIC)
        compacting = here.api.responder
        here.to_its_end("/compact", "--continue")
        told = [rule("Go on with the council", bash(f"council next {here.user.session.name}"))]
        here.api.responder = Assistant([*told, *by_hand(TOPIC)], here.members)
        ended = here.to_its_end("Go on with the council", "--continue")
        wrong = [] if compacting.compactions == 1 else [f"{compacting.compactions} compactions"]
        wrong += [f"denied: {ended['permission_denials']}"] if ended["permission_denials"] else []
        return [*wrong, *wrong_of(here, here.user.session)]


# ---- the user interrupts ----


def escaped(place: Path, background: bool) -> list[str]:
    """Esc in the middle of round two, in a terminal. Members in the background go on, and so does the host when they
    have answered; others end, and "Council recovery: SESSION" in the same conversation asks them again.
    """
    env = {} if background else {FOREGROUND: "1"}
    with room(place, [], WORDS, env=env) as here:
        held = Hold(here)
        with client(here, TOPIC) as terminal:
            terminal.wait(lambda: here.whole() >= 6 and len(held.inner.asked) >= 8)
            if background:  # and the host has nothing to do
                terminal.wait(lambda: sum("Async agent launched" in one.last for one in here.api.requests) >= 2)
            id = here.user.session.name
            held.go_on(f"council next {id}")
            terminal.press(ESCAPE)
            held.released = background
            if not background:
                terminal.wait(lambda: terminal.wrote("Request interrupted by user"))
                held.released = True
                terminal.say(f"Council recovery: {id}")
            terminal.wait(lambda: terminal.wrote("The council has spoken"))
        return wrong_of(here, here.user.session, again=() if background else HELD)


def signalled(place: Path, number: int) -> list[str]:
    """A signal to the client in the middle of round two; then "Council recovery: SESSION" in a new process."""
    with room(place, [], WORDS) as here:
        held = Hold(here)
        with here.claude(TOPIC) as process:
            id = held.wait()
            os.killpg(process.pid, number)
        held.released = True
        held.go_on(f"council next {id}")
        here.to_its_end(f"Council recovery: {id}")
        return wrong_of(here, here.user.session, again=HELD)


# ---- what is installed goes away ----


def unlinked(place: Path) -> list[str]:
    """The skill's link is removed in the middle of round two: what was answered is kept, and a shell finishes it."""
    lost = rule(r"council: (?:command )?not found|No such file or dir", Answer("The program is gone.\n"))
    with room(place, [], WORDS) as here:
        held = Hold(here)
        held.host = Assistant([lost, *by_hand(TOPIC)], held.member)
        with here.claude(TOPIC) as process:
            held.wait()
            (here.user.root / ".claude" / "skills" / "council").unlink()
            held.released = True
            process.communicate(timeout=PATIENCE)
        ended = here.user.process("recover", "--speaker", "anthropic")
        return [*([ended.err] if ended.code else []), *wrong_of(here, here.user.session)]


def without_hooks(place: Path, how: str) -> list[str]:
    """No hook answers, for any seat: members without tools say so, and the client's own agents hold the debate."""
    with room(place, [], WORDS, skill=None) as here:
        skill = here.user.root / ".claude" / "skills" / "council"
        if how == "disabled":
            skill.symlink_to(ROOT)
            (here.user.root / ".claude" / "settings.json").write_text('{"disableAllHooks": true}')
        else:
            skill.mkdir()
            for path in ROOT.iterdir():
                if path.name not in ("hooks", ".git"):
                    (skill / path.name).symlink_to(path)
            shutil.copytree(ROOT / "hooks", skill / "hooks", symlinks=True)
            for path in (skill / "hooks").iterdir():
                if path.name != "hooks.json":
                    path.write_text("#!/bin/sh\nexit 1\n" if path.suffix != ".py" else "raise SystemExit(1)\n")
        load = rule(re.escape(TOPIC), calls(ToolUse("Skill", {"skill": "council", "args": TOPIC})))
        here.api.responder = Assistant([*by_hand(TOPIC), load], here.members)
        here.to_its_end(TOPIC)
        return wrong_of(here, here.user.session)


# ---- two at once ----


def two_debates(place: Path) -> list[str]:
    """Two clients in one project, each with a debate of its own."""
    topics = (TOPIC, TOPIC.replace("Redis", "Memcached"))
    with room(place, [], WORDS) as here:
        hosts = {topic: Assistant(by_hand(topic), here.members) for topic in topics}

        def respond(request: Request) -> Answer:
            return hosts[next(topic for topic in topics if topic.partition(": ")[2] in request.text)](request)

        here.api.responder = respond
        processes = [here.claude(topic) for topic in topics]
        for process in processes:
            process.communicate(timeout=PATIENCE)
        asked = {turn: count - 1 for turn, count in Counter(here.members.asked).items()}
        sessions = here.user.sessions
        wrong = [what for session in sessions for what in wrong_of(here, session, asked=asked)]
        return wrong if len(sessions) == 2 else [f"{len(sessions)} sessions", *wrong]


def one_debate_twice(place: Path) -> list[str]:
    """A second client is told to recover the debate that the first is in the middle of; nobody is asked twice."""
    with room(place, [], WORDS) as here:
        held = Hold(here)
        with here.claude(TOPIC) as first:
            id = held.wait()
            recovery = Assistant(by_hand(TOPIC, begin=f"council next {id}"), held.member)
            opening = Assistant(by_hand(TOPIC), held.member)
            held.host = lambda request: (recovery if "Council recovery" in request.text else opening)(request)
            here.to_its_end(f"Council recovery: {id}")
            held.released = True
            first.communicate(timeout=PATIENCE)
        return wrong_of(here, here.user.session)


CASES: dict[str, Callable[[Path], list[str]]] = {
    **{f"compaction after call {at} of the host": lambda place, at=at: compacted(place, at) for at in range(2, 7)},  # type: ignore[misc]
    "/compact after round one, then “go on”, each in a new process": compacted_by_hand,
    "Esc in the middle of round two, members in the background": lambda place: escaped(place, True),
    "Esc in the middle of round two, members in the foreground": lambda place: escaped(place, False),
    "SIGINT in the middle of round two": lambda place: signalled(place, signal.SIGINT),
    "SIGTERM in the middle of round two": lambda place: signalled(place, signal.SIGTERM),
    "SIGKILL in the middle of round two": lambda place: signalled(place, signal.SIGKILL),
    "the skill removed in the middle of round two": unlinked,
    "hooks disabled by the user": lambda place: without_hooks(place, "disabled"),
    "hooks that fail": lambda place: without_hooks(place, "failing"),
    "two assistants, two debates": two_debates,
    "two assistants, one debate": one_debate_twice,
}
