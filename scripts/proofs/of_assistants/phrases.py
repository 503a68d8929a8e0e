"""A prompt means the same to the program and to the hook that routes prompts; unknown names lead to a question."""

from __future__ import annotations

import json
import subprocess
import tempfile
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from prove import Outcome

from tests.helpers import User
from tests.prompts import CALLS, HOOK, QUESTIONS, TOPICS, Asks, Meant, Typed, ask_program

WHAT = "phrases"
NOTES = [
    'A prompt such as "Council: 3 errors", from somebody\'s log, is taken for a call. Only output of council is not.',
    "Not shown: what a real model makes of prompts that the hook does not route, from the skill's description.",
]


def parts() -> list[str]:
    return ["hook", "program"]


def prove(part: str) -> Outcome:
    with tempfile.TemporaryDirectory() as folder:
        user = User(Path(folder))
        return prove_hook(user) if part == "hook" else prove_program(user)


def prove_hook(user: User) -> Outcome:
    """Each prompt by a process of its own, through the entry that Claude Code calls."""
    called = [prompt for prompt, meant in CALLS.items() if not isinstance(meant, Typed)]
    called += [prompt for prompt, asks in QUESTIONS.items() if asks.routed]
    others = [*TOPICS, *({**CALLS, **QUESTIONS}.keys() - called)]

    def is_routed(prompt: str) -> bool:
        event = json.dumps({"hook_event_name": "UserPromptSubmit", "prompt": prompt}, ensure_ascii=False).encode()
        entry = ["sh", str(HOOK.with_suffix("")), "prompt"]
        done = subprocess.run(entry, input=event, env=user.environment, capture_output=True, check=True)
        return b"Use the skill" in done.stdout

    with ThreadPoolExecutor(2) as pool:
        missed = [prompt for prompt, yes in zip(called, pool.map(is_routed, called), strict=True) if not yes]
        taken = [prompt for prompt, yes in zip(others, pool.map(is_routed, others), strict=True) if yes]
    rows = [
        (WHAT, "calls that the hook routes", "52 of 112", count(called, missed), f"{len(called)}"),
        (WHAT, "other prompts that it routes", "8 of 94", f"{len(taken)} of {len(others)}", "0"),
    ]
    wrong = [f"not routed: {prompt!r}" for prompt in missed] + [f"routed: {prompt!r}" for prompt in taken]
    return Outcome(rows, wrong, NOTES)


def prove_program(user: User) -> Outcome:
    calls = {prompt: meant.meant if isinstance(meant, Typed) else meant for prompt, meant in CALLS.items()}
    misread = [prompt for prompt, meant in calls.items() if ask_program(user, prompt) != meant]
    unasked = [prompt for prompt, asks in QUESTIONS.items() if not is_asked(ask_program(user, prompt), asks)]
    changed = [prompt for prompt in TOPICS if ask_program(user, prompt) != Meant(topic=prompt)]
    rows = [
        (WHAT, "calls that begin what they name", "43 of 103", count(calls, misread), f"{len(calls)}"),
        (WHAT, "questions asked before anything begins", "20 of 34", count(QUESTIONS, unasked), f"{len(QUESTIONS)}"),
        (WHAT, "topics debated word for word", "66 of 69", count(TOPICS, changed), f"{len(TOPICS)}"),
    ]
    return Outcome(rows, [f"misread: {prompt!r}" for prompt in (*misread, *unasked, *changed)])


def is_asked(answer: object, asks: Asks) -> bool:
    return isinstance(answer, Asks) and asks.words in answer.words


def count(all_: object, wrong: list[str]) -> str:
    assert isinstance(all_, (dict, list, tuple))
    return f"{len(all_) - len(wrong)} of {len(all_)}"
