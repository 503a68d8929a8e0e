"""Over MCP no host plays a member, a debate costs its host little, and real clients hold debates in every version."""

from __future__ import annotations

import json
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

from prove import Outcome

from council.mcp_server import protocol
from tests.claude_code import CLAUDE
from tests.forgery import GATE
from tests.helpers import CODE, User, disputed
from tests.mcp_client import Server, measure_host, serving, speak
from tests.mcp_programs import (
    INSPECTOR,
    NEWEST,
    SDK,
    differing,
    hold_with_claude,
    hold_with_sdk,
    inspect,
    inspected,
)

WHAT = "MCP"
LARGEST_LIST, LARGEST_CONTEXT, SLOWEST = 4_800, 12_000, 0.3
REPLY = "A reason that is worth reading. " * 32  # 1 KB
STARTS = 9
NOTES = [
    "MCP: “before” is council 0.3.0, which returned each brief to the host and took each reply from it. That the host "
    "passed each brief on to a subagent and got the reply back is not in its 123,131 bytes; with that it was 235,794.",
    "MCP: tools are counted in bytes of the compact JSON of tools/list; four bytes are about one token.",
    "MCP, not shown: whether a real model gives each brief to a separate subagent. The server cannot see it, and the "
    "receipt claims nothing about it.",
    "MCP: in Claude Code without a terminal a form is closed at once, so a person's turn stays due. A form that was "
    "filled in was shown with the client of the SDK.",
]


def parts() -> list[str]:
    return list(PARTS)


def prove(part: str) -> Outcome:
    with tempfile.TemporaryDirectory(prefix="council-mcp-", ignore_cleanup_errors=True) as place:
        return PARTS[part](User(Path(place)))


def prove_sizes(user: User) -> Outcome:
    words = {turn: f"{REPLY}\n\n{said}" for turn, said in disputed().items()}
    with serving(user) as server:
        listed = server.ask("tools/list")["result"]["tools"]
        size = len(json.dumps(listed, separators=(",", ":"), ensure_ascii=False).encode())
        context, calls = measure_host(server, words)
    rows = [
        (WHAT, "bytes of the tools", "3,640 (no schemas of results)", f"{size:,}", f"≤ {LARGEST_LIST:,}"),
        (WHAT, "4 x 3, 1 KB replies: bytes in the host's context", "123,131", f"{context:,}", f"≤ {LARGEST_CONTEXT:,}"),
        (WHAT, "4 x 3: the host's calls of tools", "19", f"{calls}", ""),
    ]
    wrong = [f"the tools take {size:,} bytes"] if size > LARGEST_LIST else []
    wrong += [f"the debate takes {context:,} bytes"] if context > LARGEST_CONTEXT else []
    return Outcome(rows, [*wrong, *differing(user, words)], NOTES)


def prove_versions(user: User) -> Outcome:
    """A whole debate in each version."""
    rows, wrong = [], []
    for version in protocol.VERSIONS:
        own = User(user.root / version)
        with serving(own, version=version if version in protocol.STATELESS else "") as server:
            found = negotiate(server, version)
            speak(server, server.told("start", topic="Shall we?")["session_id"], disputed(), key=True)
        held = found == version and not differing(own, disputed()) and own.council("verify").code == 0
        before = "no" if version in protocol.STATELESS else "yes"
        rows.append((WHAT, f"a debate in version {version}", before, "yes" if held else "no", "yes"))
        wrong += [] if held else [f"no debate in version {version}"]
    return Outcome(rows, wrong)


def negotiate(server: Server, version: str) -> str:
    if version not in protocol.STATELESS:
        return str(server.shake_hands(version)["protocolVersion"])
    return version if version in server.ask("server/discover")["result"]["supportedVersions"] else ""


def prove_start(user: User) -> Outcome:
    """The fastest of several, which says least about what else the machine does."""
    ours = min(time_initialize(user) for _ in range(STARTS))
    floor = min(time_python() for _ in range(STARTS))
    now = f"{ours:.2f} s, {ours / floor:.1f} times an empty Python"
    wrong = [f"it takes {ours:.2f} s until initialize is answered"] if ours > SLOWEST else []
    return Outcome([(WHAT, "from start to the answer to initialize", "0.21-0.27 s", now, f"≤ {SLOWEST} s")], wrong)


def time_initialize(user: User) -> float:
    began = time.perf_counter()
    with serving(user) as server:
        server.shake_hands()
        return time.perf_counter() - began


def time_python() -> float:
    began = time.perf_counter()
    subprocess.run([sys.executable, "-c", ""], cwd=CODE, check=True)
    return time.perf_counter() - began


# ---- real clients ----


def prove_inspector(user: User) -> Outcome:
    case = "the inspector, in each era: strict check of the tools, a start, a prompt, a resource"
    if not INSPECTOR:
        return not_run(case, "COUNCIL_TEST_INSPECTOR")
    wrong = []
    strict = inspect(user, "--method", "tools/list", "--strict")
    if strict.code or "uggestion" in strict.err:
        wrong.append(f"the inspector's strict check: {strict.err}")
    for era in ("legacy", "modern", "auto"):
        id = inspected(user, "start", "topic=Shall we?", era=era)["session_id"]
        if len(inspected(user, "next", f"session={id}", era=era)["due"]) != 4:
            wrong.append(f"{era}: not four members are due")
        uri = f"council://session/{id}/transcript"
        for words in (["prompts/get", "--prompt-name", "recover"], ["resources/read", "--uri", uri]):
            ended = inspect(user, "--protocol-era", era, "--method", *words)
            wrong += [f"{era}, {words[0]}: {ended.text}"] if ended.code else []
    return Outcome([(WHAT, case, "tools of 2025 only", "no" if wrong else "yes", "yes")], wrong)


def prove_sdk(user: User) -> Outcome:
    rows, wrong = [], []
    for mode, version in NEWEST.items():
        for follow in ("data", "text"):
            case = f"the SDK's client, mode {mode}, following the {follow}: a whole debate"
            if not SDK:
                return not_run(case, "COUNCIL_TEST_MCP_SDK")
            own = User(user.root / f"{mode}-{follow}")
            seen = hold_with_sdk(own, mode=mode, follow=follow, words=disputed())
            held = seen["version"] == version and not differing(own, disputed()) and own.council("verify").code == 0
            rows.append((WHAT, case, "not tried", f"{'yes' if held else 'no'}, in {seen['version']}", "yes"))
            wrong += [] if held else [case]
    return Outcome(rows, wrong)


def prove_claude(user: User) -> Outcome:
    debate, person = "Claude Code: members apart, words byte for byte", "Claude Code, headless: nothing for a person"
    if not CLAUDE:
        return not_run(debate, "COUNCIL_TEST_CLAUDE")
    words = {turn: said if "chair" in turn else f"MARKER {said}" for turn, said in disputed().items()}
    model, _ = hold_with_claude(user, words)
    wrong = [f"{turn} is stored otherwise than said" for turn in differing(user, words)]
    wrong += ["words of members were in the host's context"] if any("MARKER" in text for text in model.host) else []
    own = User(user.root / "person")
    own.write(".council/Workflows/Gate.md", GATE)
    proposals = {f"01-proposals/{seat}": "Let us begin." for seat in ("architect", "designer")}
    hold_with_claude(own, proposals, workflow="gate")
    recorded = (own.session / "turns" / "02-decision").exists()
    rows = [
        (WHAT, debate, "no: the host held all briefs and replies", "no" if wrong else "yes", "yes"),
        (WHAT, person, "not tried", "no" if recorded else "yes", "yes"),
    ]
    return Outcome(rows, [*wrong, *(["a person's turn was recorded"] if recorded else [])])


def not_run(case: str, variable: str) -> Outcome:
    return Outcome([(WHAT, case, "", f"not run: {variable} names no program", "yes")])


PARTS: dict[str, Callable[[User], Outcome]] = {
    "sizes": prove_sizes,
    "versions": prove_versions,
    "start": prove_start,
    "inspector": prove_inspector,
    "the SDK's client": prove_sdk,
    "Claude Code": prove_claude,
}
