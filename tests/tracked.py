"""Sessions that git tracks, in every way, and every way to write to one or to pay for one."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
from collections.abc import Callable
from pathlib import Path
from typing import Any

from tests import reviewing
from tests.fakeapi import Answer, FakeApi
from tests.helpers import PACKAGES, Ended, User, brief_of, package, picture, script
from tests.sandboxes import end

ID, REVIEW = "pricing-2026", "review-2026"
TURN = "01-positions/engineer"
REFUSED = "git tracks it in "
UNTOLD = "git cannot tell whether it is tracked ("


def git(place: Path, *words: str, code: int = 0) -> str:
    own = ["-c", "user.name=Ada", "-c", "user.email=ada@example.org", "-c", "protocol.file.allow=always"]
    done = subprocess.run(["git", *own, *words], cwd=place, capture_output=True, text=True, check=False)
    assert done.returncode == code, done.stderr
    return done.stdout


def bring(user: User, id: str = ID, place: str = ".") -> Path:
    """A session in the project, half-finished."""
    began = user.council("start", "--id", id, "Shall we?")
    assert began.code == 0, began.err
    assert user.council("record", id, "01-positions/architect", stdin="Keep it.").code == 0
    return move(user, id, place)


def move(user: User, id: str, place: str = ".") -> Path:
    session = user.work / place / ".council" / "sessions" / id
    session.parent.mkdir(parents=True, exist_ok=True)
    (user.home / "STATE" / "council-sessions" / id).rename(session)
    (session / ".lock").unlink(missing_ok=True)
    return session


def track(session: Path) -> None:
    git(session.parent, "add", "--force", str(session))


# What each command does with a tracked session; {} is its id. A command that takes a session must be here.
REFUSING = {
    "run": ["Council recovery: {}"],
    "recover": ["{}", "--speaker", "anthropic"],
    "next": ["{}"],
    "pause": ["{}"],
    "answer": ["{}", "--choose", "A"],
    "record": ["{}", TURN],
    "build": ["{}"],
    "archive": ["{}"],
    "attest": ["{}"],
    "apply": ["{}", "--yes"],
    "decision": ["{}"],
    "review": ["--session", REVIEW, "--dismiss", "B1=it is behind a flag"],
}
# What each tool of MCP does with it.
TOOLS: dict[str, dict[str, Any]] = {
    "council_next": {"session": ID},
    "council_brief": {"session": ID, "turn": TURN},
    "council_record": {"session": ID, "turn": TURN, "reply": "My answer."},
}
EVENTS = ("PreToolUse", "SubagentStop", "PostToolUse", "PostToolUseFailure")
TRIES = (*REFUSING, *TOOLS, *EVENTS)


def bring_all(root: Path) -> tuple[User, Path]:
    """A user in a repository with a half-finished debate and a finished review."""
    user = User(root)
    git(user.work, "init", "--quiet")
    session = bring(user)
    if package() != PACKAGES["old"]:  # it holds no reviews yet
        return user, session
    source = script(user, reviewing.words())
    user.write("sessions.md", reviewing.SPEC)
    words = ("--id", REVIEW, "--speaker", "replay", "--from", source, "--fail-on", "never", "--quiet")
    assert user.council("review", "sessions.md", *words).code == 0
    move(user, REVIEW)
    return user, session


def try_once(user: User, name: str, **env: str) -> Ended:
    """A command, a tool or an event of a hook, for the tracked session."""
    if name in REFUSING:
        return user.council(name, *(word.format(ID) for word in REFUSING[name]), stdin="My answer.", **env)
    if name in TOOLS:
        return call_tool(user, name, TOOLS[name])
    return send_event(user, name)


def find_wrong(user: User, name: str, refusal: str) -> list[str]:
    """What a command, a tool or an event did other than to refuse, in sentences."""
    before = picture(user.root, ("client",))
    with FakeApi(lambda _: Answer("Paid for.")) as api:
        ended = try_once(user, name, ANTHROPIC_API_KEY="sk-x", ANTHROPIC_BASE_URL=api.url)
        calls = len(api.requests)
    after = picture(user.root, ("client",))
    changed = sorted(path for path in {*before, *after} if before.get(path) != after.get(path))
    wrong = [f"{name} called a model {calls} times"] if calls else []
    wrong += [f"{name} changed {', '.join(changed)}"] if changed else []
    wrong += [] if refusal in ended.text else [f"{name} did not say why: {ended.text}"]
    return wrong + ([f"{name} failed: {ended.text}"] if "Traceback" in ended.text or "--debug" in ended.err else [])


def call_tool(user: User, name: str, given: dict[str, Any]) -> Ended:
    asked = {"protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": {"name": "test", "version": "1"}}
    methods = [("initialize", asked), ("tools/call", {"name": name, "arguments": given})]
    lines = [
        json.dumps({"jsonrpc": "2.0", "id": number, "method": method, "params": params}) + "\n"
        for number, (method, params) in enumerate(methods)
    ]
    return end(user.spawn("mcp", stdin=subprocess.PIPE), "".join(lines))


def send_event(user: User, kind: str) -> Ended:
    """What a hook is told of a member of this session, who has answered."""
    path = user.root / "client" / "subagents" / "agent-1.jsonl"
    path.parent.mkdir(parents=True, exist_ok=True)
    about = {"description": f"Engineer \u00b7 {ID} {TURN}", "subagent_type": "council:council-member"}
    given = {**about, "prompt": brief_of(user.work / f".council/sessions/{ID}", TURN).decode()}
    path.with_suffix(".meta.json").write_text(json.dumps({"toolUseId": "toolu_1", **about}))
    words = [{"type": "text", "text": "Yes."}]
    reply = {"type": "assistant", "message": {"id": "m", "content": words, "stop_reason": "end_turn"}}
    path.write_text("".join(json.dumps(line) + "\n" for line in ({"type": "user", "message": {"content": "?"}}, reply)))
    sentence = f"Run `council brief {ID} {TURN}` and do what it prints."
    facts: dict[str, dict[str, Any]] = {
        "PreToolUse": {"tool_input": {**about, "prompt": sentence}, "tool_use_id": "toolu_1"},
        "SubagentStop": {"agent_transcript_path": str(path), "agent_type": "council:council-member"},
        "PostToolUse": {
            "tool_input": given,
            "tool_response": {"status": "completed", "content": words, "agentId": "a"},
        },
        "PostToolUseFailure": {"tool_input": given},
    }
    told = {"hook_event_name": kind, "transcript_path": str(user.root / "client.jsonl"), "tool_name": "Agent"}
    return user.council("hook", stdin=json.dumps(told | facts[kind]), CLAUDE_PID=str(os.getpid()))


# ---- what git tracks, and how ----


def commit(session: Path) -> None:
    track(session)
    git(session.parent, "commit", "--quiet", "--message", "A session")


def forget(session: Path) -> None:
    """No longer in the index, and still in the last commit."""
    commit(session)
    git(session.parent, "rm", "--quiet", "-r", "--cached", str(session))


def lose_index(session: Path) -> None:
    commit(session)
    (session.parents[2] / ".git" / "index").unlink()


def track_capitals(session: Path) -> None:
    """On a file system without capitals, git writes this file into the session."""
    blob = git(session, "hash-object", "-w", "topic.md").strip()
    path = f".COUNCIL/Sessions/{session.name.title()}/topic.md"
    git(session.parents[2], "update-index", "--add", "--cacheinfo", f"100644,{blob},{path}")


def hide(session: Path) -> None:
    commit(session)
    for name in git(session, "ls-files").split():
        git(session, "update-index", "--skip-worktree", "--assume-unchanged", name)


def conflict(session: Path) -> None:
    track(session)
    blob = git(session, "hash-object", "-w", "topic.md").strip()
    path = f".council/sessions/{session.name}/topic.md"
    lines = "".join(f"100644 {blob} {stage}\t{path}\n" for stage in (1, 2, 3))
    git(session.parents[2], "read-tree", "--empty")
    subprocess.run(["git", "update-index", "--index-info"], cwd=session.parents[2], input=lines.encode(), check=True)


def sparse(session: Path) -> None:
    """An index that has a folder in place of the files in it, which are there nevertheless."""
    top = session.parents[2]
    (top / "docs").mkdir()
    (top / "docs" / "a.md").write_text("a")
    git(top, "add", "docs")
    commit(session)
    shutil.copytree(top / ".council", kept := top.parent / "kept")
    shutil.rmtree(top / ".council")  # what is not tracked would keep git from doing so
    git(top, "checkout", "--", ".council")
    git(top, "sparse-checkout", "set", "--cone", "--sparse-index", "docs")
    assert ".council/" in git(top, "ls-files", "--sparse").split()
    shutil.copytree(kept, top / ".council", dirs_exist_ok=True)


def nest(session: Path) -> None:
    """A repository in the project's, which alone tracks it."""
    git(session.parents[1], "init", "--quiet")
    track(session)
    assert git(session.parents[2], "ls-files") == ""


def track_from_outside(session: Path) -> None:
    """The repository around the one that is nearest."""
    commit(session)
    git(session.parents[1], "init", "--quiet")


def submodule(session: Path) -> None:
    top = session.parents[2]
    other = top.parent / "other"
    shutil.move(session.parent, other)
    git(other, "init", "--quiet")
    git(other, "add", "--all")
    git(other, "commit", "--quiet", "--message", "Sessions")
    git(top, "submodule", "--quiet", "add", str(other), ".council/sessions")
    assert (session.parent / ".git").is_file()


def worktree(session: Path) -> None:
    """The project is a worktree of a repository that is elsewhere."""
    top = session.parents[2]
    commit(session)
    main = top.rename(top.parent / "main")
    git(main, "worktree", "add", "--quiet", str(top))


def gitlink(session: Path) -> None:
    """The session itself is a commit of another repository, as far as the index says."""
    path = f".council/sessions/{session.name}"
    git(session.parents[2], "update-index", "--add", "--cacheinfo", f"160000,{'1' * 40},{path}")


def upgrade(session: Path) -> None:
    commit(session)
    git(session, "update-index", "--split-index", "--index-version", "4")


WAYS: dict[str, Callable[[Path], object]] = {
    "added": track,
    "committed": commit,
    "one file": lambda session: git(session, "add", "--force", "turns/01-positions/architect.md"),
    "intended": lambda session: git(session, "add", "--force", "--intent-to-add", "topic.md"),
    "removed from the index": forget,
    "without an index": lose_index,
    "in capitals": track_capitals,
    "hidden": hide,
    "in conflict": conflict,
    "sparse": sparse,
    "another index": upgrade,
    "a nested repository": nest,
    "an outer repository": track_from_outside,
    "a submodule": submodule,
    "a worktree": worktree,
    "a link to a commit": gitlink,
}


def break_index(session: Path) -> None:
    (session.parents[2] / ".git" / "index").write_bytes(b"DIRC nonsense")


def break_head(session: Path) -> None:
    (session.parents[2] / ".git" / "HEAD").write_text("nonsense")


def lead_nowhere(session: Path) -> None:
    shutil.rmtree(session.parents[2] / ".git")
    (session.parents[2] / ".git").write_text("gitdir: /nowhere\n")


def give_away(session: Path) -> None:
    os.chown(session.parents[2] / ".git", 4711, 4711)
    os.chown(session.parents[2], 4711, 4711)


UNKNOWN: dict[str, Callable[[Path], object]] = {
    "a broken index": break_index,
    "a broken HEAD": break_head,
    "a file that leads nowhere": lead_nowhere,
}
if os.geteuid() == 0:
    UNKNOWN["another owner"] = give_away
