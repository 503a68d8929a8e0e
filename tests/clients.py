"""Other assistants for real, each with a home, a project and a scripted API of its own: what tests and proofs share.

A variable such as COUNCIL_TEST_OPENCODE names a program. The model of each client follows the text that `council`
prints (`tests/portable.py`); a `Client` turns its actions into calls of the client's tools.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path

from tests import portable
from tests.fakeapi import Answer, FakeApi, Request, ToolUse, said
from tests.helpers import User
from tests.portable import Action, Ask, Load, Save, Say, Shell, Talk

ROOT = Path(__file__).parent.parent
PATIENCE = 180.0


class Client:
    """What council has to know of a client to test it: where its program is, how it is set up, asked and answered."""

    name: str
    listing: tuple[str, ...]  # what asks it for its skills, without a model; empty if nothing does
    listed: str  # how the answer, or else what its model reads, names ours
    api: type[FakeApi] = FakeApi
    user: type[User] = User
    refused = ""  # the characters that may be in no command
    at_once = 4  # how many members it asks at the same time
    homes: str | None = None  # the folder for homes, where its sandbox writes to that for temporary files

    @property
    def variable(self) -> str:
        return f"COUNCIL_TEST_{self.name.upper()}"

    @property
    def program(self) -> str:
        return os.environ.get(self.variable, "")

    def set_up(self, user: User, url: str) -> dict[str, str]:
        """Write its settings, and give the environment, in which it asks the API at this address."""
        raise NotImplementedError

    def arguments(self, prompt: str) -> list[str]:
        """Of one prompt without a terminal."""
        raise NotImplementedError

    def tool(self, action: Load | Shell | Save | Ask) -> ToolUse:
        raise NotImplementedError

    def talk(self, request: Request) -> Talk:
        return Talk(said(request.messages[0]["content"]), request.last, request.text)

    def carry_on(self, request: Request) -> Answer | None:
        """What the host does before it looks at what it was shown, if the client works in steps of its own."""
        return None

    def answer(self, actions: Sequence[Action], request: Request) -> Answer:
        said = "".join(action.text for action in actions if isinstance(action, Say))
        return Answer(said, tools=tuple(self.tool(action) for action in actions if not isinstance(action, Say)))


class Model:
    """What a client's model does, as host and as member. A member of a turn in `silent` reads its brief, and no more.

    Nobody of the first positions answers before as many are asked as the client asks at once, so a client that asks one
    after the other waits for ever.
    """

    def __init__(self, client: Client, act: portable.Council, silent: Sequence[str] = ()) -> None:
        self.client, self.act, self.silent = client, act, silent
        self.opened: set[str] = set()
        self.held: set[str] = set()

    def __call__(self, request: Request) -> Answer:
        if not request.tools:
            return Answer("A council")  # the title of the conversation, or the like
        talk = self.client.talk(request)
        if not talk.turn:
            return self.client.carry_on(request) or self.client.answer(self.act(talk), request)
        answer = self.client.answer(self.act(talk), request)
        self.opened.add(talk.turn)
        if talk.turn in self.silent and portable.STORE.search(talk.shown):
            self.held.add(talk.turn)
            return replace(answer, once=lambda: False)
        first = talk.turn.startswith("01-positions/")
        return replace(answer, once=lambda: len(self.opened) >= self.client.at_once) if first else answer


class Room:
    """A home with the skill linked into it, an empty project, and the script's API."""

    def __init__(self, user: User, client: Client, api: FakeApi, model: Model) -> None:
        self.user, self.client, self.api, self.model = user, client, api, model

    def run(self, *arguments: str) -> subprocess.Popen[bytes]:
        streams = {"stdin": subprocess.DEVNULL, "stdout": subprocess.PIPE, "stderr": subprocess.PIPE}
        command, env = [self.client.program, *arguments], self.user.environment
        return subprocess.Popen(command, cwd=self.user.work, env=env, start_new_session=True, **streams)  # type: ignore[call-overload, no-any-return]

    def to_its_end(self, *arguments: str) -> str:
        """What it printed."""
        with self.run(*arguments) as process:
            try:
                out, err = process.communicate(timeout=PATIENCE)
            finally:
                process.kill()
        assert process.returncode == 0, (out + err).decode(errors="replace")
        return out.decode(errors="replace") or err.decode(errors="replace")

    def hold(self, topic: str) -> str:
        return self.to_its_end(*self.client.arguments(topic))

    def requests_of(self, members: bool) -> Iterator[tuple[Talk, str]]:
        """The conversations of the members, or the host's, each with all that was sent to the model."""
        for request in self.api.prompts:
            if request.tools and bool((talk := self.client.talk(request)).turn) is members:
                yield talk, json.dumps(request.body, ensure_ascii=False)


@contextmanager
def room(
    folder: Path, client: Client, topic: str, words: Mapping[str, str], silent: Sequence[str] = (), begin: str = ""
) -> Iterator[Room]:
    user = client.user(folder)
    programs = user.root / ".local" / "bin"
    programs.mkdir(parents=True)
    link(user.root / ".agents" / "skills" / "council", ROOT)
    link(programs / "council", ROOT / "bin" / "council")
    path = os.pathsep.join([str(programs), *beside(client.program), os.defpath])
    model = Model(client, portable.Council(topic, words, begin), silent=silent)
    with client.api(model) as api:
        env = {"PATH": path, "NO_COLOR": "1", "COUNCIL_VENV": sys.prefix, **client.set_up(user, api.url)}
        yield Room(client.user(folder, env), client, api, model)


def beside(program: str) -> list[str]:
    """The folders of what a client runs: Node, and ripgrep, without which OpenCode lists no skills."""
    found = os.environ.get("COUNCIL_TEST_CLIENTS_PATH", "")
    return [*filter(None, found.split(os.pathsep)), str(Path(program).parent)]


def link(path: Path, to: Path) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.symlink_to(to)


def write(path: Path, settings: Mapping[str, object]) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(json.dumps(settings))
