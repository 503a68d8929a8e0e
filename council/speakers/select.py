"""The speakers by name, and the choice between them when nobody chose."""

from __future__ import annotations

import importlib
import os
import threading
from collections.abc import Callable, Container, Mapping

from council.config.settings import Config
from council.errors import Denied, UsageError
from council.speakers.base import Speaker
from council.speakers.human import HumanSpeaker, at_a_terminal
from council.text import did_you_mean
from council.workflow.model import Seat

NAMES = ("anthropic", "claude", "local", "assistant", "human", "replay")
OTHERS = "set ANTHROPIC_API_KEY, log in with `claude`, or add --speaker assistant and record the replies by hand"
NOBODY = """nobody can speak. Do one of these, then run it again:
  - set ANTHROPIC_API_KEY in the environment (or add an endpoint of your own to Config.md);
  - install the `claude` program and log in with it;
  - add `--speaker local`: council fetches a small model (1.1 GB, once), fine for trying council, not for decisions;
  - add `--speaker assistant`, and record the replies by hand with `council next` and `council record`."""


def choose(wanted: str, config: Config, env: Mapping[str, str] = os.environ) -> str:
    """The name of the speaker: the one asked for, or for `auto` the first that can speak here."""
    if wanted != "auto":
        if wanted not in NAMES:
            raise UsageError(f'there is no speaker "{wanted}"; {did_you_mean(wanted, (*NAMES, "auto"))}')
        return wanted
    if has_key(config, env):
        return "anthropic"
    from council.speakers import claude_cli
    from council.speakers.local import download

    if claude_cli.find() and claude_cli.logged_in():
        return "claude"
    if why := download.obstacle():
        raise Denied(f"nobody can speak: {why}; or {OTHERS}")
    return "local"


def has_key(config: Config, env: Mapping[str, str] = os.environ) -> bool:
    """Whether the endpoints that the tiers use have their keys, or need none."""
    used = {model.endpoint.name: model.endpoint for model in config.tiers.values()}
    token = bool(env.get("ANTHROPIC_AUTH_TOKEN"))
    return all(one.key is None or env.get(one.key) or (name == "anthropic" and token) for name, one in used.items())


def warm_up(name: str) -> None:
    """Import what is heavy beside the work that comes before the first call. Whoever needs it sooner waits for it."""
    if name == "anthropic":
        threading.Thread(target=lambda: importlib.import_module("anthropic"), daemon=True).start()


def make(name: str, config: Config) -> Speaker:
    """The speaker itself. What is heavy is imported by the speaker that needs it."""
    if name == "anthropic":
        from council.speakers.anthropic import AnthropicSpeaker

        return AnthropicSpeaker(config.stall)
    if name == "claude":
        from council.speakers.claude_cli import ClaudeSpeaker

        return ClaudeSpeaker()
    if name == "local":
        from council.speakers.local.speaker import LocalSpeaker

        return LocalSpeaker()
    raise UsageError(f'"{name}" is nobody that a program could ask')


class Voices:
    """Who speaks for each seat: whom the seat names, else the session's own speaker. Each is made once, when needed.

    A person is asked unless `ask` says no; `seen` are the turns that the terminal shows anyway.
    """

    def __init__(
        self, name: str, config: Config, replay: Callable[[], Speaker] | None = None, ask: bool = True
    ) -> None:
        self.name = name
        self.config = config
        self.replay = replay
        self.ask = ask
        self.seen: Container[str] = ()
        self.made: dict[str, Speaker] = {}

    def __call__(self, seat: Seat) -> Speaker | None:
        """None where nobody can be asked from here: the turn is recorded by hand."""
        name = self.name if self.name in ("replay", "assistant") else seat.speaker or self.name
        if name == "assistant" or (name == "human" and not (self.ask and at_a_terminal())):
            return None
        if name not in self.made:
            self.made[name] = self.new(name)
        return self.made[name]

    def new(self, name: str) -> Speaker:
        if name == "human":
            return HumanSpeaker(self.seen)
        return self.replay() if name == "replay" and self.replay else make(name, self.config)

    async def close(self) -> None:
        for speaker in self.made.values():
            await speaker.close()
