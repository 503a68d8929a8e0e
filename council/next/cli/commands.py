"""The list of commands: the core's, those of optional rooms, and one for each workflow. It imports nothing heavy."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache
from types import ModuleType

from council.next import rooms
from council.next.cli.group import Entry
from council.next.errors import CouncilError
from council.next.text import one_line, printable, slug

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
    "confirm": Entry(
        f"{HERE}.confirm:confirm",
        FOLLOW_UP,
        "Check whether changes keep what a document promises.",
        ("council confirm docs/adr-0007-x.md", "council confirm docs/adr-0007-x.md --diff v1.2..HEAD"),
        spends=True,
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
    "decision": Entry(
        f"{HERE}.sessions:decision",
        FOLLOW_UP,
        "File a session's document, such as an ADR, in your project.",
        ("council decision", "council decision last --to docs/adr"),
    ),
    "build": Entry(f"{HERE}.sessions:build", FOLLOW_UP, "Make a session's derived files again.", ("council build",)),
    "archive": Entry(
        f"{HERE}.sessions:archive", FOLLOW_UP, "Copy a transcript to the archive again.", ("council archive",)
    ),
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
        (
            "council record last 01-positions/architect --file reply.md",
            'council record last 01-positions/designer --absent "on holiday"',
        ),
    ),
    "hook": Entry(f"{HERE}.hook:hook", UNLISTED, "Answer an event of Claude Code's hooks."),
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


# The commands of council's own optional rooms, to name the room where it is not here.
OF_ROOMS = {
    "review": "reviews",
    "apply": "lab",
    "code": "lab",
    "lab": "lab",
    "lessons": "lessons",
    "mcp": "mcp_server",
    "planning": "planning",
    "sandbox": "sandbox",
    "search": "index",
    "serve": "web",
    "stats": "index",
}


@cache
def entries() -> dict[str, Entry]:
    """Every command that is not a workflow. Those of other people's rooms are left out: to find them takes 20 ms."""
    return {**of_rooms(rooms.of_the_kit()), **CORE}


def of_rooms(found: Mapping[str, ModuleType]) -> dict[str, Entry]:
    """The commands that these rooms list in their `room.py`: each name with the fields of an Entry."""
    listed = ((module, getattr(module, "command", {})) for module in found.values())
    return {
        name: Entry(**{**entry, "where": f"{module.__package__}.{entry['where']}"})
        for module, entries_ in listed
        for name, entry in entries_.items()
    }


def find(name: str) -> Entry | None:
    return entries().get(name) or (None if name in workflows() else of_rooms(rooms.of_others()).get(name))


def workflows() -> tuple[str, ...]:
    """The workflows that have no command of another kind. A project may bring a `--help.md`: it is none."""
    from council.next.config import places

    names = places.workflow_names(places.overlays(places.project()))
    return tuple(name for name in names if name not in entries() and slug(name) == name)


def read_workflow(name: str) -> str:
    from council.next.config import places

    return places.read(places.find_workflow(name, places.overlays(places.project())))


def summary(name: str) -> str:
    """The first sentence about a command. That of a workflow is its description."""
    if entry := entries().get(name):
        return entry.summary
    return one_line(describe(name).partition(". ")[0].rstrip(".") + ".", 90)


def describe(workflow: str) -> str:
    from council.next.schema import read_markdown

    try:
        table, _ = read_markdown(read_workflow(workflow), workflow)
        return printable(table.text("description"))
    except CouncilError as wrong:
        return f"It cannot be run: {wrong}"


def options_of(workflow: str) -> str:
    """The options that this workflow has, with what holds if nobody sets them, and an example."""
    from council.next.workflow import loader

    try:
        options = loader.load(read_workflow(workflow), workflow).options
    except CouncilError:
        return ""  # the command itself says what is wrong
    shown = [
        f"  -o {name}={str(value).lower() if isinstance(value, bool) else one_line(str(value))}"
        for name, value in options.items()
    ]
    lines = ["Its own options, with their defaults:", *shown, "", "\b"] if shown else []
    return "\n".join(["\b", *lines, "Example:", f'  council {workflow} "Redis or PostgreSQL for the job queue?"'])


def sections() -> dict[str, list[str]]:
    found: dict[str, list[str]] = {}
    for name, entry in entries().items():
        if entry.section != UNLISTED:
            found.setdefault(entry.section, []).append(name)
    found[DEBATE] += workflows()
    return found
