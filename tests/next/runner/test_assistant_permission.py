"""What an assistant may run without asking: the commands that only read, to the byte, and nothing that is like them."""

from __future__ import annotations

import shlex
from pathlib import Path
from typing import Any

import pytest

from council.next.runner.assistant import hooks
from tests.next.runner.debating import begun, settings

ID = "20261119-074343-1bdd968f"
TURN = "01-positions/architect"
CHOSEN = "tokens-2027"  # a session that is there

ALLOWED = [
    f"council next {ID}",
    f"council status {ID}",
    f"council verify {ID}",
    f"council show {ID}",
    f"council show {ID} {TURN}",
    f"council show {ID} synthesis",
    f"council brief {ID} {TURN}",
    f"council brief {ID} {TURN}.2",
    f"council next {CHOSEN}",
]
HOSTILE = [
    # not the command alone
    f"council next {ID}; rm -rf ~", f"council next {ID};", f"council next {ID} && id", f"council next {ID} || id",
    f"council next {ID} | sh", f"council next {ID} |& tee x", f"council next {ID} &", f"council next {ID} & id",
    f"council next {ID}\nid", f"council next {ID}\n", f"\ncouncil next {ID}", f"council next {ID}\r\nid",
    f"council next \\\n{ID}", f"(council next {ID})", f"{{ council next {ID}; }}", f"! council next {ID}",
    f"time council next {ID}", f"exec council next {ID}", f"command council next {ID}", f"sudo council next {ID}",
    f"eval council next {ID}", f"id; council next {ID}", f"env council next {ID}",
    # redirected, or with a document
    f"council next {ID} > x", f"council next {ID} >x", f"council next {ID} 2>&1", f"council next {ID} >> ~/.bashrc",
    f"council next {ID} < /etc/passwd", f"council brief {ID} {TURN} <<'X'\nX", f"council next {ID} <<<x",
    # what a shell replaces
    "council next $(id)", "council next `id`", f"council next {ID}$(id)", "council next $ID", "council next ${ID}",
    f"council next {ID} $'\\n'", f"council show {ID} <(id)", f"council next {ID[:-1]}?", f"council next {ID[:-2]}*",
    "council next [0-9]*", f"council next {{{ID},x}}", "council next ~", f"council show {ID} ~/x", "council next !!",
    # quotes and escapes
    f'council next "{ID}"', f"council next '{ID}'", f"council 'next' {ID}", f"coun\\cil next {ID}",
    f"'council' next {ID}",
    f"council next {ID}''", f"council next {ID} #x", f"council next {ID}#",
    # another program, variable or function
    f"COUNCIL_VENV=/tmp/x council next {ID}", f"PATH=/tmp/x council next {ID}", f"/tmp/x/council next {ID}",
    f"./council next {ID}", f"bin/council next {ID}", f"~/council next {ID}", f"council.sh next {ID}",
    f"council() {{ id; }}; council next {ID}", f"alias council=id; council next {ID}", f"Council next {ID}",
    f"council-hook next {ID}", f"councilx next {ID}",
    # other commands and options
    f"council record {ID} {TURN} --file -", f"council recover {ID}", "council run topic", "council start topic",
    f"council next {ID} --json", f"council next --json {ID}", "council next --help", f"council --debug next {ID}",
    f"council show {ID} -o /tmp/x", f"council show {ID} --html", f"council verify {ID} --head x", "council next -",
    f"council next -- {ID}", f"council rebuild {ID}", f"council archive {ID}", "council install-skill --undo",
    # other things than one session and one turn
    "council next", "council next last", "council next latest", "council next 1bdd968f", f"council next {ID[:-1]}",
    f"council next {ID}0", "council next tokens", "council next 2027", f"council next {ID} {ID}",
    f"council brief {ID} {TURN} {TURN}", f"council brief {ID} ../../etc/passwd", f"council brief {ID} 01-x/../y",
    f"council brief {ID} synthesis", f"council next {ID} synthesis", f"council show {ID} Synthesis",
    f"council show ../{ID}", f"council show /tmp/{ID}", f"council brief {ID} /etc/passwd",
    f"council brief {ID} 01-a/b/c",
    # what looks alike, and what cannot be seen
    f"council  next {ID}", f"council next  {ID}", f"council\tnext {ID}", f" council next {ID}", f"council next {ID} ",
    f"council next\u00a0{ID}", f"council\u2003next {ID}", f"c\u043euncil next {ID}", f"council next {ID}\u200b",
    "council next \u0662\u0660261119-074343-1bdd968f", f"council brief {ID} \u0660\u0661-positions/architect",
    f"\u200bcouncil next {ID}", f"council next {ID}\x00", f"council next {ID}\x1b[2K", f"council next {ID}\u2028id",
    f"council next {ID}\x0b", f"council next {ID}\x85", f"\ufeffcouncil next {ID}", f"council next {ID.upper()}", "",
    f"council next {'a' * 100_000}",
]  # fmt: skip
ODD: list[Any] = [None, 3, ["council", "next", ID], {"command": f"council next {ID}"}, True]


@pytest.fixture(scope="module")
def home(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("home")
    for id in (ID, CHOSEN):
        with begun(folder, id=id):
            pass
    return folder


@pytest.fixture(scope="module")
def program(tmp_path_factory: pytest.TempPathFactory) -> str:
    path = tmp_path_factory.mktemp("a folder") / "council"
    path.write_text("#!/bin/sh\n")
    path.chmod(0o755)
    return str(path)


def answer(home: Path, program: str, **tool: Any) -> Any:
    """The input with which the command may run. None if the hook says nothing, and so leaves it to the user."""
    event = {"hook_event_name": "PreToolUse", "tool_name": "Bash", "tool_input": {"description": "x", **tool}}
    said = hooks.answer(event, settings(home), program)
    if said is None:
        return None
    assert said["hookSpecificOutput"]["permissionDecision"] == "allow"
    return said["hookSpecificOutput"]["updatedInput"]


@pytest.mark.parametrize("command", ALLOWED)
def test_what_only_reads_may_run_and_is_this_very_program(home: Path, program: str, command: str) -> None:
    expected = {"description": "x", "command": command.replace("council", shlex.quote(program), 1)}
    assert answer(home, program, command=command) == expected


@pytest.mark.parametrize("command", [*HOSTILE, *ODD], ids=lambda line: ascii(line)[:50])
def test_what_resembles_it_is_left_to_the_user(home: Path, program: str, command: Any) -> None:
    assert answer(home, program, command=command) is None


def test_the_table_is_long_enough() -> None:
    assert len(set(HOSTILE)) == len(HOSTILE) >= 110


def test_a_session_that_is_not_here_is_left_to_the_user(tmp_path: Path, program: str) -> None:
    assert answer(tmp_path, program, command=ALLOWED[0]) is None


@pytest.mark.parametrize("more", [{"dangerouslyDisableSandbox": True}, {"run_in_background": True}, {"new": {"x": 1}}])
def test_a_command_that_would_run_otherwise_is_left_to_the_user(home: Path, program: str, more: dict[str, Any]) -> None:
    assert answer(home, program, command=ALLOWED[0], **more) is None
    assert answer(home, program, command=ALLOWED[0], timeout=5000, **dict.fromkeys(more, False)) is not None


@pytest.mark.parametrize("program", ["council", "bin/council", "", "/nowhere/council", "/", __file__])
def test_a_program_that_cannot_be_run_is_not_put_in_its_place(home: Path, program: str) -> None:
    assert answer(home, program, command=ALLOWED[0]) is None
