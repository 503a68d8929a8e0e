"""Who may speak: every command that could begin or continue a debate, where nothing is set up, or too little.

Each user has a home of their own, no terminal, and a package index that nobody serves: whatever tried to fetch the
model would leave its folder behind, and take longer.
"""

from __future__ import annotations

import subprocess
import sys
import time
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path

from council.cli.commands import built_in
from council.config import overlays
from council.speakers.local import download
from tests.helpers import CODE, Ended, User

NOWHERE = {"PIP_INDEX_URL": "http://127.0.0.1:9/", "PIP_RETRIES": "0"}
QUESTION = "Shall we keep one database?"
FLAGS = ((), ("-q",), ("--json",), ("--no-input",), ("-q", "--json", "--no-input"), ("--speaker", "auto"))
API = {
    "run": f"council.run({QUESTION!r})",
    "run auto": f"council.run({QUESTION!r}, speaker='auto')",
    "review": "council.review('spec.md')",
    "recover": "council.recover()",
}
BY_HAND = (
    ("start", QUESTION),
    ("start", "-w", "patchlist", "Review spec.md"),
    ("next",),
    ("record", "last", "01-findings/engineer", "--file", "spec.md"),
    ("next", "--json"),
    ("status",),
    ("mcp",),
)
OURS = "http://127.0.0.1:9"
ALL_TIERS = "tiers:\n" + "".join(f"  {tier}: {{{{endpoint: {{0}}}}}}\n" for tier in ("sonnet", "haiku", "opus"))


@dataclass(frozen=True)
class Setting:
    """A configuration that nobody can speak with: `config` is YAML, and `key` the variable that is missing."""

    name: str
    key: str
    config: str = ""
    env: Mapping[str, str] = field(default_factory=dict)
    words: tuple[str, ...] = ()


SETTINGS = (
    Setting(
        "every tier at an endpoint",
        "OUR_API_KEY",
        f"endpoints:\n  ours: {{base_url: '{OURS}', key: OUR_API_KEY}}\n{ALL_TIERS.format('ours')}",
    ),
    Setting(
        "one tier at an endpoint",
        "OUR_API_KEY",
        f"endpoints:\n  ours: {{base_url: '{OURS}', key: OUR_API_KEY}}\ntiers:\n  haiku: {{endpoint: ours}}\n",
        {"ANTHROPIC_API_KEY": "k"},
    ),
    Setting("the kit's openrouter", "OPENROUTER_API_KEY", ALL_TIERS.format("openrouter")),
    Setting(
        "another variable for the key",
        "WORK_KEY",
        "endpoints:\n  anthropic: {key: WORK_KEY}\n",
        {"ANTHROPIC_API_KEY": "k"},
    ),
    Setting("another address", "ANTHROPIC_API_KEY", env={"ANTHROPIC_BASE_URL": OURS}),
    Setting("a speaker by configuration", "ANTHROPIC_API_KEY", "speaker: anthropic"),
    Setting("a speaker by variable", "ANTHROPIC_API_KEY", env={"COUNCIL_SPEAKER": "anthropic"}),
    Setting("a speaker by option", "ANTHROPIC_API_KEY", words=("--speaker", "anthropic")),
    Setting("a model by option", "OPENROUTER_API_KEY", words=("--tier-map", "sonnet=openrouter/some-model")),
)


@dataclass(frozen=True)
class Attempt:
    """How one command ended, in seconds, and what is wrong with that."""

    what: str
    ended: Ended
    seconds: float
    wrong: tuple[str, ...]


def clean_user(root: Path) -> User:
    """With nothing set up, a document to review, and a debate begun by hand, which `recover` would continue."""
    user = User(root, NOWHERE)
    user.write("spec.md", "# Spec\n\nEverything is stored for ever.\n")
    assert user.process("start", QUESTION).code == 0
    return user


def commands() -> Iterator[tuple[str, ...]]:
    """Every command that could begin or continue a debate by calling a model, with every flag that could silence it."""
    reviews = {"patchlist"}
    debates = [("run", QUESTION), ("run", "Council recovery:"), ("run", f"Quick council: {QUESTION}"), ("recover",)]
    debates += [("review", "spec.md"), ("run", "Council (patchlist): Review spec.md")]
    for name in sorted(overlays.workflows([overlays.kit_folder()])):
        call = ("run", "--workflow", name) if name in built_in() else (name,)
        debates.append((*call, QUESTION, *(("--file", "spec.md") if name in reviews else ())))
    for words in debates:
        for flags in FLAGS:
            yield *words, *flags


def try_command(user: User, *words: str, key: str = "", **env: str) -> Attempt:
    """Nobody may speak: exit 4 with a sentence, no session, nothing fetched. `key` is what that sentence names."""
    sessions, began = len(user.sessions), time.monotonic()
    ended = user.process(*words, env=env)
    seconds = time.monotonic() - began
    checks = {
        f"it exits {ended.code}, not 4": ended.code != 4,
        "it does not say what to set up": (key or "ANTHROPIC_API_KEY") not in ended.err,
        "it ends in a traceback": "Traceback" in ended.text,
        "it leaves a session behind": len(user.sessions) != sessions,
        "it fetches something": (model_folder(user) / ".lock").exists(),
    }
    return Attempt(f"council {' '.join(words)}", ended, seconds, tuple(why for why, failed in checks.items() if failed))


def try_api(user: User, name: str, **env: str) -> Attempt:
    """The Python API ends with the same error, and prints nothing."""
    code = f"import sys, council\ntry: {API[name]}\nexcept council.CouncilError as error: sys.exit(error.code)"
    command = [sys.executable, "-c", code]
    environment = {**user.environment, "PYTHONPATH": str(CODE), **env}
    began = time.monotonic()
    done = subprocess.run(
        command, cwd=user.work, env=environment, stdin=subprocess.DEVNULL, capture_output=True, text=True, check=False
    )
    checks = {
        f"it exits {done.returncode}, not 4": done.returncode != 4,
        "it prints something": bool(done.stdout + done.stderr),
        "it touches the folder of the model": model_folder(user).exists(),
    }
    ended = Ended(done.returncode, done.stdout, done.stderr)
    wrong = tuple(why for why, failed in checks.items() if failed)
    return Attempt(f"Python: {API[name]}", ended, time.monotonic() - began, wrong)


def try_by_hand(user: User, *words: str) -> Attempt:
    """An assistant speaks: the command succeeds, and nothing is fetched."""
    began = time.monotonic()
    ended = user.process(*words)
    checks = {
        f"it exits {ended.code}, not 0": ended.code != 0,
        "it touches the folder of the model": model_folder(user).exists(),
    }
    wrong = tuple(why for why, failed in checks.items() if failed)
    return Attempt(f"council {' '.join(words)}", ended, time.monotonic() - began, wrong)


def model_folder(user: User) -> Path:
    return download.place({"HOME": str(user.root)}).folder


def fetch_for_nothing(user: User) -> None:
    """Where the model is there already, `auto` may still not use it."""
    here = download.place({"HOME": str(user.root)})
    (here.library / download.LIBRARY).mkdir(parents=True)
    here.gguf.write_bytes(b"GGUF")


def program_that_is_logged_in(user: User) -> Path:
    """A `claude` that is logged in; whoever has it speak leaves a note beside it."""
    program = user.write(
        "bin/claude",
        '#!/bin/sh\ncase "$*" in *"auth status"*) echo \'{"loggedIn": true}\';; *) touch "$0.spoke"; exit 1;; esac\n',
    )
    program.chmod(0o755)
    return program
