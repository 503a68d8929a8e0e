"""What a debate puts into the context of the assistant that hosts it, in bytes, and how often its main loop is called.

All of it is in the last request of the main loop: every request repeats the conversation so far.
"""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from tests.assistant import by_hand, is_member, rule
from tests.claude_code import as_bytes, room
from tests.claude_terminal import client
from tests.fakeapi import Answer, Request, said
from tests.helpers import disputed

CALL = "Council: Redis in front of PostgreSQL?"
CONSENSUS = "Council (consensus): Redis in front of PostgreSQL?"
SKILL = "Base directory for this skill"
HOOK = re.compile(rb"^\S+ hook (?:success|additional context|error|stopped)[^\n]*", re.M)
PROSE = "{turn} says once more, in sentence {number}, what it would do with the cache and what that would cost.\n"
PROPOSAL = """## Proposal
{prose}

## Satisfaction score
95

## Rationale
It is enough.

## Blocking
none

## Suggested changes
none

## Performance impact
none

## Fundamental
no

## Gist
Keep it.
"""
DESIGN = """## Overview
{prose}

## Responsibilities
- One service keeps the state.

## Interfaces
- One.

## Performance targets
- None.

## Implementation notes
- None.

## Open questions
none

## Dissents
none
"""


def prose(turn: str, size: int) -> str:
    """About `size` bytes of sentences that nobody else says."""
    lines = (PROSE.format(turn=turn, number=number) for number in range(1, size // 80 + 2))
    return "".join(lines)[:size].rpartition("\n")[0]


def debate(size: int) -> dict[str, str]:
    """Four members, three rounds and a chair; every reply is about `size` bytes long."""
    return {turn: f"{prose(turn, size - len(text))}\n\n{text}" for turn, text in disputed().items()}


class Consensus(dict[str, str]):
    """Every specialist is satisfied in the first round, and the clerk writes the design."""

    def __init__(self, size: int) -> None:
        super().__init__()
        self.size = size

    def __missing__(self, turn: str) -> str:
        form = DESIGN if turn.endswith("/clerk") else PROPOSAL
        self[turn] = form.format(prose=prose(turn, self.size - len(form)))
        return self[turn]


@dataclass(frozen=True)
class Footprint:
    """`calls` of the main loop, one after the other, and the bytes that the debate added, by what added them."""

    calls: int
    sizes: Counter[str]

    @property
    def put(self) -> int:
        """What was put into the host's context: what its tools answered and what hooks told it."""
        return sum(self.sizes[kind] for kind in ("results", "hooks", "notices"))

    @property
    def total(self) -> int:
        """With what the host itself wrote to its tools, and SKILL.md."""
        return self.put + self.sizes["inputs"] + self.sizes["skill"]


def measure(requests: Iterable[Request]) -> Footprint:
    """From the first request of the main loop to the last, which repeats the whole conversation."""
    main = [one for one in requests if one.is_prompt and not is_member(one)]
    opening, whole = main[0].messages, main[-1].messages
    sizes = Counter(hooks=sum(map(len, HOOK.findall("\n".join(said(one["content"]) for one in opening).encode()))))
    for message in whole[len(opening) :]:
        content = message["content"]
        for block in [{"type": "text", "text": content}] if isinstance(content, str) else content:
            sizes[kind_of(message["role"], block)] += size_of(block)
    return Footprint(len(main), sizes)


def kind_of(role: str, block: dict[str, Any]) -> str:
    """`notices` say that a member in the background is over; `answers` are what the host says, `client` the rest."""
    if block["type"] in ("tool_use", "tool_result"):
        return {"tool_use": "inputs", "tool_result": "results"}[block["type"]]
    if role == "assistant":
        return "answers"
    if SKILL in block["text"]:
        return "skill"
    if "<task-notification>" in block["text"]:
        return "notices"
    return "hooks" if HOOK.search(block["text"].encode()) else "client"


def size_of(block: dict[str, Any]) -> int:
    if block["type"] == "tool_use":
        return len(json.dumps(block["input"], ensure_ascii=False).encode())
    return len((said(block["content"]) if block["type"] == "tool_result" else block["text"]).encode())


def opening(request: Request) -> int:
    """All that one request says, the prompt among it."""
    parts = {name: request.body.get(name) for name in ("system", "messages", "tools")}
    return len(json.dumps(parts, ensure_ascii=False).encode())


# ---- held in the real client ----


def hold(place: Path, words: Mapping[str, str], call: str = CALL) -> Footprint:
    """One debate, headless, to its end."""
    with room(place, by_hand(call), words) as here:
        ended = here.to_its_end(call)
        assert ended["result"] == "The council has spoken.\n", ended["result"]
        verified = here.user.council("verify", "--json")
        assert (verified.code, verified.json["findings"]) == (0, []), verified.text
        assert here.spoken() == as_bytes({turn: words[turn] for turn in here.members.asked})
        return measure(here.api.requests)


def hold_in_a_terminal(place: Path, words: Mapping[str, str], **env: str) -> Footprint:
    with room(place, by_hand(CALL), words, env=env) as here:
        with client(here, CALL) as terminal:
            terminal.wait(lambda: terminal.wrote("The council has spoken"))
        return measure(here.api.requests)


def first_request(place: Path, skill: Path | None) -> int:
    """The size of the first request of a conversation that calls no council."""
    with room(place, [rule("Hello", Answer("Hello."))], {}, skill=skill) as here:
        here.to_its_end("Hello")
        return opening(next(one for one in here.api.requests if one.tools))
