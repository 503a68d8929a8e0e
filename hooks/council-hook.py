"""Claude Code's way into council. It runs at every prompt and every call of an agent, so it decides at once, with the
standard library of any Python 3, what is none of council's; what is goes on to `council hook`.

An error of ours never blocks a prompt, and a member whose brief cannot be given is not asked.
"""

import json
import os
import re
import runpy
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
SESSION = re.compile(r"\d{8}-\d{6}-[0-9a-f]{8} \d\d-")
ROUTED = """The person calls a council. Use the skill `council` for it now, by the Skill tool, with their words as\
 they stand; do not answer in the members' place."""


def main() -> None:
    data = sys.stdin.buffer.read()
    try:
        call = json.loads(data)
    except (ValueError, RecursionError):
        call = None
    if not isinstance(call, dict):
        refuse("the event is not a JSON object")
    elif call.get("hook_event_name") == "UserPromptSubmit":
        prompt = call.get("prompt")
        if isinstance(prompt, str) and is_call(prompt):
            print(ROUTED)
    elif is_ours(call):
        pass_on(data, call)


def refuse(why: str) -> None:
    """Say what is wrong. Claude Code shows it, and goes on: what cannot be read is no member of ours."""
    print(f"council: {why}", file=sys.stderr)
    sys.exit(1)


def is_call(prompt: str) -> bool:
    """Whether the prompt begins as people call a council: the words that the command line takes too."""
    package = ROOT / "council" if (ROOT / "council").is_dir() else ROOT.parent
    phrases = runpy.run_path(str(package / "prompts" / "phrases.py"))
    seats, workflows = set(), set()
    base = os.environ.get("XDG_CONFIG_HOME") or Path.home() / ".config"
    for folder in (ROOT, Path(base) / "council"):  # of the kit and the user; a project's names go after "Council: "
        personas = folder / "AgentPersonalities.md"
        if personas.is_file():
            seats.update(re.findall(r"^## (\S+)", personas.read_text("utf-8", "replace"), re.M))
        workflows.update(path.stem.lower() for path in (folder / "Workflows").glob("*.md"))
    return phrases["is_call"](prompt, seats, workflows - {"recovery"})


def is_ours(call: dict) -> bool:
    """A marker, an agent of ours, or a description that our own answer to an earlier event has set."""
    asked = call.get("tool_input")
    asked = asked if isinstance(asked, dict) else {}
    kind = str(call.get("agent_type") or asked.get("subagent_type") or "")
    words = f"{str(asked.get('prompt', ''))[:200]} {asked.get('description', '')}"
    return kind.startswith("council:council-") or SESSION.search(words) is not None


def pass_on(data: bytes, call: dict) -> None:
    done = subprocess.run([str(ROOT / "bin" / "council"), "hook"], input=data, capture_output=True, check=False)
    sys.stdout.write(done.stdout.decode())
    sys.stderr.write(done.stderr.decode("utf-8", "replace"))
    if done.returncode and call.get("hook_event_name") == "PreToolUse":
        why = f"council could not give this member its brief: {done.stderr.decode('utf-8', 'replace').strip()[:500]}"
        told = {"permissionDecision": "deny", "permissionDecisionReason": why}
        print(json.dumps({"hookSpecificOutput": {"hookEventName": "PreToolUse", **told}}))
    elif done.returncode:
        sys.exit(1)


if __name__ == "__main__":
    main()
