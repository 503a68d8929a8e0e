"""The list of commands: those of the rooms, and one for each workflow. Imports nothing heavy."""

from __future__ import annotations

import re
from functools import cache
from importlib import import_module
from pathlib import Path

import council
from council.cli.command import (
    ASSISTANTS,
    DEBATE,
    FOLLOW_UP,
    OWN,
    PLUMBING,
    REVIEWS,
    SECTIONS,
    SETUP,
    Command,
    Entry,
)

SESSIONS = "`council list` shows your sessions"
WORKFLOWS = "`council help all` lists the workflows"
# Built-in names win over workflows, and so do these: not commands yet, or part of an assistant's prompts.
RESERVED = ("turn",)
HERE = "council.cli"
# What `council -h` shows: a screen of 24 lines. `council help all` lists every command.
START = {
    'run "Queue or table?"': "debate a question (usually 3 to 8 cents)",
    "review spec.md": "list what is wrong with a document",
    "code": "have failing tests fixed, in a sandbox",
    "serve": "watch and steer debates in your browser",
    "doctor": "see what is set up, and who would speak",
}
FRONT = {
    "Debates": ("run", "quick", "perspectives", "delphi", "consensus", "board", "planning"),
    "Afterwards": ("show", "list", "search", "answer", "recover", "status", "serve"),
    "Review, code": ("review", "confirm", "code", "apply", "lab"),
    "Set up": ("doctor", "config", "cost", "install-skill", "help"),
    "Your own": ("new-workflow", "lint", "specialists"),
}
MOST = 34  # commands in `council -h`
LONGEST_FRONTMATTER = 64_000  # bytes that help searches for a description

COMMANDS = {
    "run": Entry(
        DEBATE, "Debate a question with any workflow.", f"{HERE}.run:run",
        (
            'council run "Redis or PostgreSQL for the job queue?"',
            'council run --with security --file spec.md "Is this spec ready?"',
            'council run --workflow delphi --max-cost 0.50 "Drop the old clients?"',
        ),
        spends=True,
    ),
    "cost": Entry(
        DEBATE, "Estimate calls, tokens and money before you run.", f"{HERE}.cost:cost",
        ("council cost", 'council cost board "Monolith or services?" --with security'), WORKFLOWS,
    ),
    "recover": Entry(
        FOLLOW_UP, "Continue an interrupted or paused debate.", f"{HERE}.run:recover",
        ("council recover", "council recover 1a2b3c4d --speaker claude"), SESSIONS, spends=True,
    ),
    "pause": Entry(
        FOLLOW_UP, "Ask a run in another process to stop.", f"{HERE}.run:pause",
        ("council pause", "council pause 1a2b3c4d --now"), SESSIONS,
    ),
    "answer": Entry(
        FOLLOW_UP, "Answer the question that a session asks you.", f"{HERE}.answer:answer",
        ("council answer", 'council answer last --choose A --because "It can be undone."'), SESSIONS,
    ),
    "status": Entry(
        FOLLOW_UP, "Show the state of a session.", f"{HERE}.sessions:status",
        ("council status", "council status 1a2b3c4d --json"), SESSIONS,
    ),
    "show": Entry(
        FOLLOW_UP, "Show a session's transcript, or a part of it.", f"{HERE}.sessions:show",
        ("council show", "council show last synthesis", "council show last --html -o debate.html"), SESSIONS,
    ),
    "decision": Entry(
        FOLLOW_UP, "Write a session's decision document into your project.", f"{HERE}.sessions:decision",
        ("council decision", "council decision last --to docs/adr"), SESSIONS,
    ),
    "confirm": Entry(
        FOLLOW_UP, "Check changes against what a decision promised.", f"{HERE}.confirm:confirm",
        ("council confirm docs/decisions/adr-0007-x.md", "council confirm adr-0007-x.md --diff v1.2..HEAD --yes"),
        spends=True,
    ),
    "verify": Entry(
        FOLLOW_UP, "Check the files of a session, also against a noted head.", f"{HERE}.proof:verify",
        ("council verify", "council verify 1a2b3c4d --signers ~/.ssh/allowed_signers"), SESSIONS,
    ),
    "attest": Entry(
        FOLLOW_UP, "Print a session's head for you to note, or sign it.", f"{HERE}.proof:attest",
        ("council attest", "council attest 1a2b3c4d --sign ~/.ssh/id_ed25519"), SESSIONS,
    ),
    "build": Entry(
        FOLLOW_UP, "Rebuild a session's derived files.", f"{HERE}.sessions:build",
        ("council build", "council build 1a2b3c4d"), SESSIONS,
    ),
    "archive": Entry(
        FOLLOW_UP, "Copy a finished transcript to the archive again.", f"{HERE}.sessions:archive",
        ("council archive", "council archive 1a2b3c4d"), SESSIONS,
    ),
    "review": Entry(
        REVIEWS, "Review documents and list the findings.", f"{HERE}.review:review",
        (
            "council review spec.md",
            "council review 'docs/*.md' --fail-on high --format sarif --output council.sarif",
            'council review --session last --dismiss "B1=it is behind a flag"',
        ),
        spends=True, room="reviews",
    ),
    "new-workflow": Entry(
        OWN, "Write a new workflow to start from.", f"{HERE}.workflows:new_workflow",
        ("council new-workflow weigh", "council new-workflow weigh --from delphi --user"),
    ),
    "lint": Entry(
        OWN, "Check workflows for mistakes.", f"{HERE}.workflows:lint",
        ("council lint", "council lint weigh"), WORKFLOWS,
    ),
    "diagram": Entry(
        OWN, "Draw a workflow as a Mermaid flowchart.", f"{HERE}.workflows:diagram",
        ("council diagram board",), WORKFLOWS,
    ),
    "specialists": Entry(
        OWN, "Show, draft or copy the list of specialists.", f"{HERE}.specialists:specialists",
        (
            "council specialists",
            "council specialists draft --to .council/Specialists.md",
            "council specialists use web-service",
        ),
    ),
    "install-skill": Entry(
        ASSISTANTS, "Install council as a skill for AI assistants.", f"{HERE}.install_skill:install_skill",
        ("council install-skill", "council install-skill --project --copy", "council install-skill --undo"),
    ),
    "start": Entry(
        ASSISTANTS, "Start a debate whose replies you collect yourself.", f"{HERE}.manual:start",
        ('council start "Redis or PostgreSQL for the job queue?"', "council start --json -w quick - < question.txt"),
    ),
    "next": Entry(
        ASSISTANTS, "Collect finished replies and list the turns that are ready.", f"{HERE}.manual:next_",
        ("council next", "council next 1a2b3c4d --json"), SESSIONS,
    ),
    "brief": Entry(
        ASSISTANTS, "Print the brief of a turn, and how to store its answer.", f"{HERE}.manual:brief",
        ("council brief last 01-positions/engineer",), "`council next` lists the turns that are ready",
    ),
    "record": Entry(
        ASSISTANTS, "Store a reply as a turn of a session.", f"{HERE}.manual:record",
        (
            "council record last 01-positions/engineer --file reply.md",
            'council record last 02-ruling/human --answer "ruling=go"',
            'council record last 01-positions/designer --absent "on holiday"',
        ),
        "`council next` lists the turns that are ready",
    ),
    "doctor": Entry(SETUP, "Check that a debate can run here.", f"{HERE}.doctor:doctor", ("council doctor",)),
    "config": Entry(
        SETUP, "Show the options and limits that Config.md sets.", f"{HERE}.config:config",
        ("council config", "council config consensus"), WORKFLOWS,
    ),
    "completion": Entry(
        SETUP, "Print the shell's completion script.", f"{HERE}.doctor:completion",
        ("council completion bash > ~/.local/share/bash-completion/completions/council",),
    ),
    "help": Entry(
        SETUP, "Show the help of a command.", f"{HERE}.help:help_",
        ("council help", "council help run", "council help all"),
    ),
    "hook": Entry(
        PLUMBING, "Answer a hook event of Claude Code.", f"{HERE}.hook:hook", ("council hook < event.json",)
    ),
}  # fmt: skip


@cache
def built_in() -> dict[str, Entry]:
    """The commands of every room that has a `commands` module. A removed room has none."""
    found: dict[str, Entry] = {}
    for top in map(Path, council.__path__):
        rooms = {path.parent.name for path in top.glob("*/__init__.py")}
        for path in sorted(top.glob("*/commands.py")):
            listed: dict[str, Entry] = import_module(f"council.{path.parent.name}.commands").COMMANDS
            found |= {name: entry for name, entry in listed.items() if not entry.room or entry.room in rooms}
    return found


def names() -> set[str]:
    """Names that no workflow may have."""
    return {*built_in(), *RESERVED}


def workflows() -> dict[str, Path]:
    """The workflows that are commands."""
    from council.config import overlays
    from council.errors import CouncilError
    from council.workflow.model import is_name

    try:
        found = overlays.workflows()
    except (CouncilError, OSError):  # what is wrong there is reported by the commands that read it
        found = overlays.workflows([overlays.kit_folder()])
    return {name: path for name, path in found.items() if name not in names() and is_name(name)}


def from_workflow(name: str) -> Command | None:
    if name not in workflows():
        return None
    from council.cli.from_workflow import command_of

    return command_of(name)


def front_page() -> dict[str, list[str]]:
    """The commands of `council -h` in their groups, with workflows of the user's own as far as there is room."""
    known = workflows()
    shown = {title: [name for name in group if name in built_in() or name in known] for title, group in FRONT.items()}
    kit = kit_workflows()
    own = sorted(name for name in known if name not in kit)
    shown["Your own"] += own[: MOST - sum(map(len, shown.values()))]
    return shown


def kit_workflows() -> set[str]:
    from council.config import overlays

    return {path.stem.lower() for path in (overlays.kit_folder() / "Workflows").glob("*.md")}


def summaries() -> list[tuple[str, dict[str, str]]]:
    """Every command with its summary, section by section."""
    listed: dict[str, dict[str, str]] = {section: {} for section in SECTIONS}
    kit = kit_workflows()
    for name, entry in built_in().items():
        listed[entry.section][name] = entry.summary
    for name, path in sorted(workflows().items()):
        listed[DEBATE if name in kit else OWN][name] = summary_of(name, path)
    return [(section, rows) for section, rows in listed.items() if rows]


def summary_of(name: str, path: Path) -> str:
    """The first sentence of a workflow's description. If it is on one line, no YAML parser is needed."""
    from council.config import overlays
    from council.errors import CouncilError
    from council.text import one_line

    try:
        with overlays.check_inside(path, path.parent.parent).open("rb") as file:
            text = file.read(LONGEST_FRONTMATTER).decode("utf-8", "ignore")
        head = text.partition("\n---")[0]
        line = re.search(r"^description:[ \t]+(?P<plain>[^\s\"'|>&*!\[{#][^\n#]*)$(?!\n[ \t])", head, re.M)
        description = line["plain"] if line else _read_description(text)
    except (CouncilError, OSError):
        description = ""
    first = re.match(r".*?[.!?](?=\s|$)", one_line(description, 300))
    return (first.group() if first else one_line(description, 300)) or f"Run the workflow {name}."


def _read_description(text: str) -> str:
    from council.workflow import frontmatter

    return str(frontmatter.split(text, "")[0].get("description", ""))
