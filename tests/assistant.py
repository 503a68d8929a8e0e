"""A scripted Claude Code: what its main loop does next follows from what it was told last.

A responder for `FakeApi`. Each rule looks at what was said since the model's newest answer, which a retry does not
change. The members' requests carry a header of their own, so the two are never mixed up.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass

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


# What is printed is all that it follows, as a model would.
DUE = re.compile(r"^- (?P<name>.+?): model (?P<model>\S+), prompt: (?P<prompt>.+)$", re.M)
AGENT = re.compile(r"\(agent (\S+), if you have it\)")
GENERAL = "general-purpose"
NO_BRIEF = "no brief"
WITHOUT_BRIEF = re.compile(rf"^\s*(?:<result>)?{NO_BRIEF}(?:</result>)?\s*$", re.M)


def by_hand(topic: str, begin: str = "") -> list[Rule]:
    """From the skill to the end; `begin` is the first command, in place of a new session's."""
    start = begin or f"council start - <<'{DELIMITER}'\n{topic}\n{DELIMITER}"
    return [
        rule(r"council: command not found", lambda _, told: bash(start.replace("council", program_of(told), 1))),
        rule(r"Nothing is due: the debate is over", Answer("The council has spoken.\n")),
        rule(r"Launching skill|<command-name>", bash(start)),
        rule(
            r"\d+ turns? (?:is|are) due in .*",
            lambda found, told: ask(found[0], WITHOUT_BRIEF.search(told.text), program_of(told) != "council"),
        ),
        rule(r"Asked already, wait for them", Answer("The others still think.\n")),
        rule(
            r"Subagent hand-back|<task-notification>",
            lambda _, told: bash(f"{program_of(told)} next {session_of(told)}"),
        ),
        rule(r"Async agent launched", Answer("The members think.\n")),
        rule(r"Use the skill `council` for it now", calls(ToolUse("Skill", {"skill": "council", "args": topic}))),
    ]


def program_of(told: Request) -> str:
    """`council`, or the program in the skill's folder if the shell does not know that name."""
    folder = re.search(r"Base directory for this skill: ([^\n]+)", told.text)
    if "council: command not found" not in told.text or folder is None:
        return "council"
    path = f"{folder[1]}/bin/council"
    return f'"{path}"' if " " in path else path


def ask(told: str, general: object, by_path: bool = False) -> Answer:
    """All that is due, at once and once, each by its prompt alone; by the client's own agent, if ours get no briefs or
    the program is called by its path. In the foreground: the skill's permissions end with the turn.
    """
    agent = AGENT.search(told)
    assert agent
    due = {found["prompt"]: found for found in DUE.finditer(told)}
    return calls(*(member(GENERAL if general or by_path else agent[1], found) for found in due.values()))


def member(agent: str, line: re.Match[str]) -> ToolUse:
    asked: dict[str, object] = {
        "description": line["name"],
        "prompt": line["prompt"],
        "subagent_type": agent,
        "model": line["model"],
        "run_in_background": False,
    }
    return ToolUse("Agent", asked)


def session_of(request: Request) -> str:
    found = re.search(r"\d{8}-\d{6}-[0-9a-f]{8}", json.dumps(request.messages))
    assert found
    return found[0]
