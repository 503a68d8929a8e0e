"""The list of commands: the core's, those of optional rooms, and one for each workflow. It imports nothing heavy."""

from __future__ import annotations

from functools import cache

from council.next import rooms
from council.next.cli.group import Entry

HERE = "council.next.cli"
DEBATE, FOLLOW_UP, BY_HAND, SET_UP, OWN = "Debate", "Follow up", "By hand", "Set up", "Your own"
UNLISTED = ""  # the section of a command that programs call, and people do not
START = {
    'council run "Queue or table?"': "debate a question",
    "council show": "read what the last one came to",
    "council doctor": "see what is set up, and who would speak",
}
CORE = {
    "run": Entry(
        f"{HERE}.run:run",
        DEBATE,
        "Debate a question with any workflow.",
        (
            'council run "Redis or PostgreSQL for the job queue?"',
            'council run --with security --file spec.md "Is this spec ready?"',
            'council delphi --max-cost 0.50 "Drop the old clients?"',
        ),
        spends=True,
    ),
    "recover": Entry(
        f"{HERE}.run:recover",
        DEBATE,
        "Continue an interrupted or paused debate.",
        ("council recover", "council recover 1a2b3c4d --speaker claude"),
        spends=True,
    ),
    "pause": Entry(f"{HERE}.run:pause", DEBATE, "Ask a run in another process to stop.", ("council pause",)),
    "answer": Entry(
        f"{HERE}.by_hand:answer",
        FOLLOW_UP,
        "Answer the question that a session asks you.",
        ("council answer", 'council answer last --answer "gate=approve"'),
    ),
    "list": Entry(f"{HERE}.sessions:list_", FOLLOW_UP, "List your sessions, newest first.", ("council list",)),
    "status": Entry(f"{HERE}.sessions:status", FOLLOW_UP, "Show how far a session is.", ("council status",)),
    "show": Entry(
        f"{HERE}.sessions:show",
        FOLLOW_UP,
        "Show a session's transcript, or a part of it.",
        ("council show", "council show last synthesis", "council show last --html -o debate.html"),
    ),
    "verify": Entry(
        f"{HERE}.sessions:verify",
        FOLLOW_UP,
        "Check the files of a session, also against a head that you noted.",
        ("council verify", "council verify last --head 0f3c…"),
    ),
    "build": Entry(f"{HERE}.sessions:build", FOLLOW_UP, "Make a session's derived files again.", ("council build",)),
    "start": Entry(
        f"{HERE}.by_hand:start",
        BY_HAND,
        "Start a debate whose replies you collect yourself.",
        ('council start "Redis or PostgreSQL?"',),
    ),
    "next": Entry(f"{HERE}.by_hand:next_", BY_HAND, "List the turns that are due.", ("council next last",)),
    "brief": Entry(
        f"{HERE}.by_hand:brief",
        BY_HAND,
        "Print the brief of a turn, and how to store its answer.",
        ("council brief last 01-positions/architect",),
    ),
    "record": Entry(
        f"{HERE}.by_hand:record",
        BY_HAND,
        "Store a reply as a turn of a session.",
        ("council record last 01-positions/architect --file reply.md",),
    ),
    "hook": Entry(f"{HERE}.hook:hook", UNLISTED, "Answer an event of Claude Code's hooks."),
}


CORE |= {
    "doctor": Entry(f"{HERE}.setup:doctor", SET_UP, "See what is set up, and who would speak.", ("council doctor",)),
    "config": Entry(
        f"{HERE}.setup:config",
        SET_UP,
        "Show the settings in force, and where each is from.",
        ("council config", "council config consensus"),
    ),
    "cost": Entry(
        f"{HERE}.own:cost",
        SET_UP,
        "Estimate what a debate costs before you begin it.",
        ("council cost", 'council cost board "Monolith or services?" --with security'),
    ),
    "install-skill": Entry(
        f"{HERE}.skill:install_skill",
        SET_UP,
        "Let AI assistants find council.",
        ("council install-skill", "council install-skill --project --copy", "council install-skill --undo"),
    ),
    "completion": Entry(
        f"{HERE}.setup:completion",
        SET_UP,
        "Print a completion script for your shell.",
        ("council completion bash > ~/.local/share/bash-completion/completions/council",),
    ),
    "help": Entry(
        f"{HERE}.setup:help_",
        SET_UP,
        "Explain a command, or list all of them.",
        ("council help run", "council help all", "council help keys"),
    ),
    "new-workflow": Entry(
        f"{HERE}.own:new_workflow",
        OWN,
        "Write a workflow to start from.",
        ("council new-workflow weigh", "council new-workflow weigh --from delphi --user"),
    ),
    "lint": Entry(
        f"{HERE}.own:lint", OWN, "Check workflows, and name each mistake.", ("council lint", "council lint weigh")
    ),
    "diagram": Entry(f"{HERE}.own:diagram", OWN, "Draw a workflow as a flowchart.", ("council diagram board",)),
    "specialists": Entry(
        f"{HERE}.own:specialists",
        OWN,
        "List, draft or copy the specialists that Consensus chooses from.",
        (
            "council specialists",
            "council specialists draft --to .council/Specialists.md",
            "council specialists use web-service",
        ),
    ),
}


@cache
def entries() -> dict[str, Entry]:
    """Every command that is not a workflow."""
    return {**CORE, **of_rooms()}


def of_rooms() -> dict[str, Entry]:
    """The commands of the optional rooms that are here, as their `room.py` lists them."""
    found = {}
    for name, room in rooms.names("command").items():
        found[name] = Entry(**rooms.entry(room, "command", name))
    return found


def workflows() -> tuple[str, ...]:
    """The workflows that have no command of another kind."""
    from council.next.config import places

    return tuple(name for name in places.workflow_names() if name not in entries())


def sections() -> dict[str, list[str]]:
    found: dict[str, list[str]] = {}
    for name, entry in entries().items():
        if entry.section != UNLISTED:
            found.setdefault(entry.section, []).append(name)
    found[DEBATE] += workflows()
    return found
