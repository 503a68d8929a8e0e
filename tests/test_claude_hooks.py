"""Council's hooks in the real Claude Code: what its host sees, what its members read, and what happens if a hook fails.

It is run where COUNCIL_TEST_CLAUDE names the program, like `test_claude_code.py`.
"""

from __future__ import annotations

import json
import sys
from collections import Counter
from pathlib import Path

import pytest

from tests.assistant import Assistant, Rule, ask, bash, by_hand, is_member, rule
from tests.claude_code import CLAUDE, ROOT, Room, as_bytes, long, room
from tests.claude_terminal import client
from tests.fakeapi import Answer, Request
from tests.helpers import User, agreed, disputed, quick

pytestmark = pytest.mark.skipif(not CLAUDE, reason="COUNCIL_TEST_CLAUDE names no claude program")
TOPIC = "Queue or table?"


def of_host(here: Room) -> list[Request]:
    return [request for request in here.api.prompts if not is_member(request) and request.tools]


@long  # its screen alone takes 20 s of a processor; `scripts/prove assistants` does it too
def test_on_a_terminal_the_host_is_woken_once_a_batch_and_hears_nobodys_words(tmp_path: Path) -> None:
    """There Claude Code runs all agents in the background, and reports each in its own words. Those are held back."""
    words = {turn: f"{text}\nZEBRA-{turn}." for turn, text in disputed().items()}
    started = {"COUNCIL_VENV": sys.prefix}  # its two hooks run side by side, and in the time that they take a user
    with room(tmp_path, by_hand(f"Council: {TOPIC}"), words, env=started) as here:
        with client(here, f"Council: {TOPIC}") as running:
            running.wait(lambda: running.wrote("The council has spoken."))
        assert here.spoken() == as_bytes(words)
        assert Counter(here.members.asked) == dict.fromkeys(words, 1)
        calls = of_host(here)
        batches = {turn.partition("/")[0] for turn in words}
        assert len(calls) <= 3 + 2 * len(batches), "it ends its turn after each launch, and is woken"
        assert "ZEBRA" not in json.dumps([request.messages for request in calls])


def test_a_debate_that_is_resumed_asks_for_no_permission(tmp_path: Path) -> None:
    """What the skill asks for ends with its turn. `council` alone is allowed later, and nothing that resembles it."""
    with room(tmp_path, [], quick()) as here:
        assert here.user.council("start", "--workflow", "quick", TOPIC).code == 0
        id = here.user.session.name
        tries = [f"council status {id}; touch PWNED", f"council next {id} --json", f"council record {id} x --absent y"]
        here.api.responder = Assistant([rule(r"hello", Answer("Hello.\n"))], here.members)
        here.to_its_end("hello")
        here.api.responder = Assistant([*hostile(tries), *by_hand("", begin=f"council next {id}")], here.members)
        ended = here.to_its_end("go on with the council", "-c")
        assert [one["tool_input"]["command"] for one in ended["permission_denials"]] == tries
        assert not (here.user.work / "PWNED").exists()
        here.api.responder = Assistant([rule(r"^go on", bash(f"council next {id}")), *by_hand("")], here.members)
        ended = here.to_its_end("go on with the council", "-c")
        assert (ended["result"], ended["permission_denials"]) == ("The council has spoken.\n", [])
        assert here.spoken() == as_bytes(quick())
        assert here.user.council("verify").code == 0


@pytest.mark.parametrize("rule_", ["deny", "ask", ""])
def test_the_users_own_rules_come_before_what_the_hook_allows(rule_: str, tmp_path: Path) -> None:
    """The hook puts the path of its program into the command, so a rule must be about the command as it was given.
    Council is started here, as a user's hooks do, and not forked.
    """
    with room(tmp_path, [], agreed(), env={"COUNCIL_VENV": sys.prefix}) as here:
        assert here.user.council("start", TOPIC).code == 0
        rules = {"permissions": {rule_: ["Bash(council next:*)"]}} if rule_ else {}
        (here.user.root / ".claude" / "settings.json").write_text(json.dumps(rules))
        here.api.responder = Assistant(hostile([f"council next {here.user.session.name}"]), here.members)
        here.to_its_end("hello")
        assert ("turns are due" in json.dumps(here.api.prompts[-1].messages)) == (not rule_)


def hostile(tries: list[str]) -> list[Rule]:
    """One command after the other, whatever the answers are; then the end."""

    def act(_: object, request: Request) -> Answer:
        done = json.dumps(request.messages[-2 * len(tries) :]).count('"tool_use"')
        return bash(tries[done]) if done < len(tries) else Answer("Denied.\n")

    return [rule(r".", act)]


def test_without_python_no_member_is_asked_and_the_host_hears_why(tmp_path: Path) -> None:
    with room(tmp_path / "room", [], agreed()) as here:
        told = here.user.council("start", TOPIC).out
        programs = tmp_path / "bin"
        programs.mkdir()
        for name in ("sh", "bash", "cat", "cksum"):
            (programs / name).symlink_to(f"/bin/{name}" if Path(f"/bin/{name}").exists() else f"/usr/bin/{name}")
        poor = {**here.user.env, "PATH": str(programs), "COUNCIL_VENV": str(tmp_path / "none")}
        rules = [rule(r"hook error", Answer("Denied.\n")), rule(r".", ask(told, general=False))]
        here.api.responder = Assistant(rules, here.members)
        there = Room(User(here.user.root, poor), here.api, here.members)
        assert there.to_its_end("go")["result"] == "Denied.\n"
        assert here.members.asked == []
        assert of_host(here)[-1].last.count("Python 3.11 or newer is needed") == 4


@long
def test_a_hook_that_is_too_slow_loses_nothing(tmp_path: Path) -> None:
    """The members are asked without a brief, say so in two words, and are asked again once the hook works."""
    skill, slow = tmp_path / "council", tmp_path / "slow"
    (skill / "hooks").mkdir(parents=True)
    for path in ROOT.iterdir():
        if path.name not in ("hooks", ".git"):
            (skill / path.name).symlink_to(path)
    for path in (ROOT / "hooks").glob("council-hook.py"):
        (skill / "hooks" / path.name).symlink_to(path)
    script = (ROOT / "hooks" / "council-hook").read_text("utf-8")
    waits = f'[ "$1" != ask ] || [ ! -e "{slow}" ] || sleep 60\n'
    (skill / "hooks" / "council-hook").write_text(script.replace("\n\n", f"\n{waits}\n", 1))
    listed = (ROOT / "hooks" / "hooks.json").read_text("utf-8")
    (skill / "hooks" / "hooks.json").write_text(
        listed.replace('council-hook\\" ask", "timeout": 60', 'council-hook\\" ask", "timeout": 15')
    )
    slow.touch()
    with room(tmp_path / "room", [], agreed(), skill=skill) as here:
        told = here.user.council("start", TOPIC).out
        heard: list[str] = []

        def again(_: object, request: Request) -> Answer:
            heard.append(request.last)
            slow.unlink(missing_ok=True)
            return ask(told, general=False)

        rules = [rule(r"no brief", again), *by_hand(""), rule(r".", ask(told, general=False))]
        here.api.responder = Assistant(rules, here.members)
        ended = here.to_its_end("go")
        assert ended["result"] == "The council has spoken.\n"
        assert "no brief" in heard[0]
        assert here.spoken() == as_bytes(agreed())
        assert Counter(here.members.asked) == dict.fromkeys(agreed(), 1)
