"""A scripted Claude Code: what its main loop does next follows from what it was told last.

A responder for `FakeApi`. Each rule looks at what was said since the model's newest answer, which a retry does not
change. The members' requests carry a header of their own, so the two are never mixed up.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

from tests.fakeapi import Answer, Request, Responder, ToolUse

Act = Callable[[re.Match[str], Request], Answer]
DELIMITER = "TOPIC-7c1f92ab"


@dataclass(frozen=True)
class Rule:
    """Where `told` is found in what the model was told last, `act` says what it does."""

    told: re.Pattern[str]
    act: Act


def rule(told: str, act: Act | Answer) -> Rule:
    return Rule(re.compile(told, re.DOTALL), act if callable(act) else lambda _match, _request: act)


def calls(*tools: ToolUse) -> Answer:
    return Answer("", tools=tools)


def bash(command: str) -> Answer:
    return calls(ToolUse("Bash", {"command": command, "description": "council"}))


def is_member(request: Request) -> bool:
    """A subagent says so in a header; what `council recover` sends has no tools, as the main loop's always has."""
    return request.agent or not request.tools


class Assistant:
    """The main loop by rules, the first that matches; the members by another responder."""

    def __init__(self, rules: Sequence[Rule], members: Responder) -> None:
        self.rules = rules
        self.members = members

    def __call__(self, request: Request) -> Answer:
        if is_member(request):
            return self.members(request)
        for one in self.rules:
            if found := one.told.search(request.last):
                return one.act(found, request)
        return Answer(fault="status", status=400, message="the script has no rule for what it was told last")


# ---- a council by hand, as SKILL.md tells it ----


def by_hand(topic: str, begin: str = "") -> list[Rule]:
    """From the skill to the end; `begin` is the first command, in place of a new session's."""
    start = begin or f"council start - <<'{DELIMITER}'\n{topic}\n{DELIMITER}"
    return [
        rule(r"Nothing is due: the debate is over", Answer("The council has spoken.\n")),
        rule(r"Launching skill|<command-name>", bash(start)),
        rule(r'\{\s*"session_id".*\}', ask),
        rule(r"\*\*Session ID:\*\* (\S+)", lambda found, _: bash(f"council next {found[1]} --json")),
        rule(
            r"Subagent hand-back|<task-notification>", lambda _, told: bash(f"council next {session_of(told)} --json")
        ),
        rule(r"Async agent launched", Answer("The members think.\n")),
        rule(r"Use the skill `council` for it now", calls(ToolUse("Skill", {"skill": "council", "args": topic}))),
    ]


def ask(found: re.Match[str], _: Request) -> Answer:
    """All that is due, at once, each by its marker alone; or the end."""
    state = json.loads(found[0])
    due = [row for row in state["due"] if row["state"] == "due"]
    if state["done"]:
        return bash(f"council next {state['session_id']}")
    return calls(*map(member, due)) if due else Answer("The others still think.\n")


def member(row: dict[str, Any]) -> ToolUse:
    asked = {
        "description": row["name"],
        "prompt": row["prompt"],
        "subagent_type": row["agent"],
        "model": row["agent_model"],
        "run_in_background": False,
    }
    return ToolUse("Agent", asked)


def session_of(request: Request) -> str:
    found = re.search(r"\d{8}-\d{6}-[0-9a-f]{8}", json.dumps(request.messages))
    assert found
    return found[0]
