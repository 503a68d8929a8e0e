"""The command line as a newcomer meets it: commands from workflows, grouped help, examples, completion, suggestions."""

from __future__ import annotations

import re
import shlex
import subprocess
import sys
from pathlib import Path

import click
import pytest

from council import cli
from council.cli import commands
from council.cli.command import OWN, SECTIONS, Command
from council.cli.context import State
from council.config import overlays
from council.workflow.loader import load
from tests.helpers import CODE, User, agreed, disputed, run_line, script

PROGRAM_CONTEXT = click.Context(cli.council, info_name="council", obj=State())
NAMES = cli.council.list_commands(PROGRAM_CONTEXT)
KIT = sorted(set(overlays.workflows([overlays.kit_folder()])) - set(commands.built_in()))
WEIGH = """---
name: weigh
description: Weigh two options against each other. Members answer once.
seats: {members: [architect, engineer], chair: chair}
options: {cautious: false, loud: true, depth: deep, json: no, size: 3}
phases:
  - {name: positions, when: {option: cautious}}
  - {name: synthesis, seats: chair}
---
"""


@pytest.fixture
def user(tmp_path: Path) -> User:
    return User(tmp_path)


@pytest.fixture
def project(user: User) -> User:
    user.write(".council/Workflows/weigh.md", WEIGH)
    return user


def command_named(name: str) -> Command:
    command = cli.council.get_command(PROGRAM_CONTEXT, name)
    assert isinstance(command, Command)
    return command


# ---- a workflow is a command ----


def flags(command: click.Command) -> set[str]:
    return {flag for param in command.params for flag in (*param.opts, *param.secondary_opts) if flag.startswith("--")}


GENERAL = {
    "--with", "--without", "--only", "--mode", "--option", "--tier-map", "--file", "--speaker", "--json", "--quiet",
    "--no-input", "--watch", "--id", "--quorum", "--max-cost", "--max-calls", "--from", "--pace", "--overlays",
    "--gate", "--wait", "--evidence", "--evidence-command", "--yes",
}  # fmt: skip


@pytest.mark.parametrize("name", KIT)
def test_a_workflows_command_has_exactly_the_options_that_it_declares(name: str) -> None:
    declared = set()
    for option, default in load(*overlays.workflow_text(name)).options.items():
        flag = option.replace("_", "-")
        declared |= {f"--{flag}", f"--no-{flag}"} if isinstance(default, bool) else {f"--{flag}"}
    assert flags(command_named(name)) - GENERAL - {"--rounds", "--feature-type"} == declared
    assert flags(command_named(name)) >= GENERAL


def test_an_option_that_a_workflow_does_not_declare_is_not_offered(user: User) -> None:
    ended = user.council("delphi", "--perspectives", "3", "Q?", "--speaker", "assistant")
    assert ended.code == 2
    assert "there is no option --perspectives" in ended.err
    assert "`council delphi -h`" in ended.last
    assert not user.sessions


def test_a_workflow_is_run_by_its_name(user: User) -> None:
    words = {turn: f"{text}\n\n## Blocking\nnone\n" for turn, text in agreed().items() if turn.startswith("01")}
    words |= {"02-synthesis-r01/chair": agreed()["04-synthesis-r01/chair"]}
    ended = user.council("quick", "Shall we?", "--words", "20-40", "--speaker", "replay", "--from", script(user, words))
    assert ended.code == 0, ended.err
    facts = (user.session / "metadata.json").read_text("utf-8")
    assert '"workflow": "quick"' in facts
    assert '"options": {\n    "words": "20-40"\n  }' in facts


@pytest.mark.parametrize(
    ("words", "chosen"),
    [
        ((), "{}"),
        (("--cautious", "--no-loud"), '"cautious": true, "loud": false'),
        (("--depth", "flat", "--size=7"), '"depth": "flat", "size": "7"'),
        (("-o", "json=yes"), '"json": "yes"'),
    ],
)
def test_a_projects_workflow_is_a_command_with_its_own_options(
    words: tuple[str, ...], chosen: str, project: User
) -> None:
    assert project.council("weigh", "Q?", *words, "--speaker", "assistant").code == 8
    facts = " ".join((project.session / "metadata.json").read_text("utf-8").split())
    assert all(pair in facts for pair in chosen.split(", "))


def test_the_help_of_a_projects_workflow(project: User) -> None:
    told = " ".join(project.council("weigh", "-h").out.split())
    assert "Weigh two options against each other. Members answer once." in told
    assert "--cautious / --no-cautious An option of this workflow. [default: off]" in told
    assert "--depth VALUE An option of this workflow. [default: deep]" in told
    assert "--json Print only one JSON object" in told, "a general option keeps its meaning"
    assert "  weigh          Weigh two options against each other." in sections(project.council("help", "all").out)[OWN]
    assert "  Your own      new-workflow  lint  specialists  weigh\n" in project.council("-h").out


@pytest.mark.parametrize("value", ["true", "1", "yes"])
def test_in_ci_a_projects_workflow_is_no_command(value: str, project: User) -> None:
    ended = project.council("weigh", "Q?", "--speaker", "assistant", CI=value)
    assert (ended.code, 'there is no command "weigh"' in ended.err) == (2, True)
    assert "weigh" not in project.council("-h", CI=value).out + project.council("help", "all", CI=value).out
    ended = project.council("run", "-w", "weigh", "Q?", "--speaker", "assistant", CI=value)
    assert (ended.code, "(--overlays uses it)" in ended.err) == (2, True)
    assert project.council("run", "-w", "weigh", "Q?", "--speaker", "assistant", "--overlays", CI=value).code == 8
    assert project.council("weigh", "Q?", "--speaker", "assistant", CI="false").code == 8


def test_a_users_workflow_is_a_command_in_ci_too(user: User) -> None:
    user.configure("")
    (user.settings / "Workflows").mkdir()
    (user.settings / "Workflows" / "weigh.md").write_text(WEIGH)
    assert user.council("weigh", "Q?", "--speaker", "assistant", CI="true").code == 8


@pytest.mark.parametrize("name", ["list", "turn", "mcp"])
def test_a_built_in_command_wins_over_a_workflow_of_its_name(name: str, user: User) -> None:
    user.write(f".council/Workflows/{name}.md", WEIGH.replace("name: weigh", f"name: {name}"))
    linted = user.council("lint", name)
    assert linted.code == 2
    assert f'.council/Workflows/{name}.md:2: name: "{name}" is a command of council' in linted.out
    assert user.council("list").err.startswith("no sessions yet")
    assert f'"{name}" is a command of council' in user.council("new-workflow", name).err


@pytest.mark.parametrize("text", ["no frontmatter", "---\nname: weigh\n---\n", "---\n[\n---\n"])
def test_a_broken_workflow_breaks_its_own_command_alone(text: str, user: User) -> None:
    user.write(".council/Workflows/weigh.md", text)
    assert "weigh.md" in user.council("weigh", "Q?").err
    assert "  weigh          Run the workflow weigh.\n" in user.council("help", "all").out
    assert user.council("list").code == 0


def test_a_workflow_that_leads_out_of_its_folder_breaks_no_command(user: User) -> None:
    user.write("elsewhere.md", WEIGH)
    (user.work / ".council" / "Workflows").mkdir(parents=True)
    (user.work / ".council" / "Workflows" / "weigh.md").symlink_to(user.work / "elsewhere.md")
    assert [user.council(*words).code for words in (("help", "all"), ("list",), ("help", "show"), ("weigh",))] == [
        0,
        0,
        0,
        2,
    ]


# ---- help ----


def test_the_first_help_fits_a_screen_and_leaves_rare_commands_to_the_whole_list(user: User) -> None:
    out = user.council("-h").out
    assert out.count("\n") < 24
    assert [line for line in out.splitlines() if len(line) > 79] == []
    shown = [name for group in commands.front_page().values() for name in group]
    assert len(shown) == len(set(shown)) <= commands.MOST
    assert re.findall(r"[\w-]+", out.partition("\nCommands:\n")[2].partition("\n\n")[0]) == words_of(shown)
    assert {line.split()[1] for line in sections(out)["Start"]} <= set(shown) <= set(NAMES)
    everything = user.council("help", "all").out
    assert [name for name in NAMES if f"\n  {name} " not in everything] == []
    assert "8 waiting for a person" in " ".join(everything.split())


def words_of(shown: list[str]) -> list[str]:
    """The names with the titles before them, as they are printed."""
    rows = [(title, *group) for title, group in commands.front_page().items()]
    assert [name for row in rows for name in row[1:]] == shown
    return [word for title, *names in rows for word in (*re.findall(r"[\w-]+", title), *names)]


def test_the_first_help_has_as_many_own_workflows_as_there_is_room_for(user: User) -> None:
    for number in range(20):
        user.write(f".council/Workflows/own-{number:02}.md", WEIGH.replace("weigh", f"own-{number:02}"))
    out = user.council("-h").out
    assert [line for line in out.splitlines() if len(line) > 79] == []
    listed = out.partition("\nCommands:\n")[2].partition("\n\n")[0]
    own = re.findall(r"own-\d\d", listed)
    assert own == [f"own-{number:02}" for number in range(len(own))]
    assert 0 < len(own) < 20
    assert re.findall(r"own-\d\d", user.council("help", "all").out) == [f"own-{number:02}" for number in range(20)]


def test_help_lists_each_command_once_with_a_whole_sentence(project: User) -> None:
    out = project.council("help", "all").out
    assert [line for line in out.splitlines() if len(line) > 79] == []
    rows = [line for title, section in sections(out).items() if title in SECTIONS for line in section]
    assert len(rows) == len({row.split()[0] for row in rows}) == len(NAMES) + 1
    assert [row for row in rows if not row.startswith("  ") or row[2] == " " or not row.endswith(".")] == []


def sections(out: str) -> dict[str, list[str]]:
    return {title: found.splitlines() for title, found in re.findall(r"^(\w[\w ]+):\n((?:  .+\n)+)", out, re.M)}


def test_the_commands_are_grouped_with_the_plumbing_last(user: User) -> None:
    found = sections(user.council("help", "all").out)
    assert [title for title in found if title in SECTIONS] == list(SECTIONS)
    assert list(found)[list(found).index("Plumbing") + 1 :] == ["Options"]
    assert [row.split()[0] for row in found["Plumbing"]] == ["hook", "index", "metrics", "mcp"]
    assert found["Debate"][0].startswith("  run ")


@pytest.mark.parametrize("name", NAMES)
def test_help_ends_with_examples_that_parse(name: str, user: User) -> None:
    examples = command_named(name).examples
    assert 1 <= len(examples) <= 4
    assert user.council(name, "-h").out.endswith("".join(f"  {example}\n" for example in examples))
    for example in examples:
        words = shlex.split(re.split(r" [<>] ", example)[0].replace("claude mcp add council -- ", ""))
        assert words.pop(0) == "council"
        called, command, rest = cli.council.resolve_command(PROGRAM_CONTEXT, words)
        assert called == name
        assert command is not None
        command.make_context(called, rest, parent=PROGRAM_CONTEXT)


def test_help_is_a_command(user: User) -> None:
    assert user.council("help").out == user.council("-h").out
    assert user.council("help", "run").out == user.council("run", "-h").out
    assert user.council("help", "quick").out == user.council("quick", "-h").out
    assert 'there is no command "runn"; did you mean run?' in user.council("help", "runn").err


# ---- usage errors ----


@pytest.mark.parametrize(
    ("words", "says", "last"),
    [
        (("run", "--round", "3", "Q?"), "did you mean --rounds?", "nothing was spent; `council run -h` shows"),
        (("run", "--tier-map", "haiku", "Q?"), "write haiku=TARGET", "nothing was spent; `council run -h` shows"),
        (("run", "--only", "architect", "Q?"), "at least two members", "nothing was spent; `council run -h` shows"),
        (("run", "--quorum", "9", "Q?"), "4 members", "nothing was spent; `council run -h` shows"),
        (("quick", "--word", "9", "Q?"), "did you mean --words?", "nothing was spent; `council quick -h` shows"),
        (("Should we?",), 'council run "QUESTION"', "`council help all` lists the commands"),
        (("hlep",), "did you mean help?", "`council help all` lists the commands"),
        (("show", "--htlm"), "did you mean --html?", "`council show -h` shows how to call it"),
        (("show", "2026"), "there is no session", "`council list` shows your sessions"),
        (("lint", "debat"), "1 problem", "`council help all` lists the workflows"),
        (("review", "none.md"), "none.md: no such file", "nothing was spent; `council review -h` shows"),
        (("review", "/bin/ls"), "council: /bin/ls: ", "nothing was spent; `council review -h` shows"),
    ],
)
def test_a_usage_error_suggests_what_helps(words: tuple[str, ...], says: str, last: str, user: User) -> None:
    ended = user.council(*words, ANTHROPIC_API_KEY="k")
    assert ended.code == 2
    assert says in ended.err
    assert ended.last.startswith(last)
    assert not user.sessions


def test_of_many_sessions_that_fit_the_number_is_told(user: User) -> None:
    for _ in range(6):
        assert user.council("start", "Q?").code == 0
    year = user.sessions[0].name[:4]
    ended = user.council("show", year)
    assert f'"{year}" matches 6 sessions: ' in ended.err
    assert " and 2 more; " in ended.err


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="needs /dev/full")
@pytest.mark.parametrize("words", [("-q",), ("--json",), ()])
def test_a_debate_that_cannot_be_written_out_is_kept_and_says_so(words: tuple[str, ...], user: User) -> None:
    with Path("/dev/full").open("w") as full:
        replay = ("--speaker", "replay", "--from", script(user, disputed()))
        ended = user.process("run", *words, "Shall we?", *replay, stdout=full)
    assert ended.code == 6
    assert "No space left on device" in ended.err
    assert f"council show {user.session.name}" in ended.err
    assert user.council("status").out.split()[1] == "complete"


# ---- completion, as bash asks for it ----


@pytest.fixture
def begun(project: User) -> User:
    assert project.council("start", "Shall we complete?").code == 0
    return project


def completed(user: User, line: str) -> list[str]:
    words = line.split(" ")
    env = {
        **user.environment, "PYTHONPATH": str(CODE), "_COUNCIL_COMPLETE": "bash_complete",
        "COMP_WORDS": line, "COMP_CWORD": str(len(words) - 1),
    }  # fmt: skip
    command = [sys.executable, "-c", run_line()]
    done = subprocess.run(command, cwd=user.work, env=env, capture_output=True, text=True, timeout=60, check=False)
    assert done.stderr == ""
    return [row.partition(",")[2] for row in done.stdout.splitlines() if row]


@pytest.mark.parametrize(
    ("line", "offered"),
    [
        ("council we", ["weigh"]),
        ("council help rec", ["recover", "record"]),
        ("council run --with securi", ["security", "security-advocate"]),
        ("council run --with security,wri", ["security,writer"]),
        ("council run --workflow w", ["weigh"]),
        ("council run --speaker cla", ["claude"]),
        ("council run --tier-map haiku=so", ["haiku=sonnet"]),
        ("council lint del", ["delphi"]),
        ("council cost del", ["delphi"]),
        ("council delphi --con", ["--control"]),
        ("council weigh --no-l", ["--no-loud"]),
        ("council run -w consensus --feature-type data", ["database-schema"]),
        ("council record last 01-positions/e", ["01-positions/engineer"]),
        ("council show la", ["last"]),
    ],
)
def test_the_shell_completes(line: str, offered: list[str], begun: User) -> None:
    assert completed(begun, line) == offered


def test_the_shell_completes_sessions_newest_first(begun: User) -> None:
    id = begun.session.name
    for command in ("show", "status", "recover", "verify", "next", "record", "build", "archive", "decision"):
        assert completed(begun, f"council {command} {id[:8]}") == [id]
    assert completed(begun, f"council run --from {id[:4]}") == [id]


def test_what_cannot_be_read_completes_nothing(begun: User) -> None:
    (begun.session / "metadata.json").write_text("{")
    begun.configure("enpoints: {}")
    assert completed(begun, "council show 2") == []
    assert completed(begun, "council run --tier-map h") == []
    assert completed(begun, "council record last 0") == []


# ---- how soon it starts ----

HEAVY = (
    "anthropic", "jinja2", "frontmatter", "yaml", "council.record.session", "council.reports.verify", "council.engine",
)  # fmt: skip


@pytest.mark.parametrize(
    ("words", "allowed"), [(("-h",), ()), (("run", "-h"), ()), (("list",), ("frontmatter", "yaml"))]
)
def test_what_is_heavy_is_imported_by_the_command_that_needs_it(
    words: tuple[str, ...], allowed: tuple[str, ...], user: User
) -> None:
    command = [sys.executable, "-c", run_line().replace("sys.exit(main())", "main(); print(*sys.modules)"), *words]
    env = {**user.environment, "PYTHONPATH": str(CODE)}
    done = subprocess.run(command, cwd=user.work, env=env, capture_output=True, text=True, timeout=60, check=True)
    assert sorted({*HEAVY} & {*done.stdout.split()} - {*allowed}) == []
