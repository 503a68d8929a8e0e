"""Every sentence of SKILL.md is tied to a test that shows what it says: `fixtures/skill.txt` lists both.

What only a real model can show, that it obeys, is not shown by any of them. A sentence that tells the host what to do
names the tests of what the program does then.
"""

from __future__ import annotations

import ast
import os
import re
import shutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.helpers import CODE, User, agreed, run_line, script

ROOT = Path(__file__).parent.parent
SKILL = ROOT / "SKILL.md"
TABLE = ROOT / "tests" / "fixtures" / "skill.txt"
LARGEST = 8_192
BLOCK = re.compile(r"```\w*\n.*?```|(?:(?!```)[^\n]+\n?)+", re.S)
ITEM = re.compile(r"^(?:[-*] |\d+\. )", re.M)
SENTENCE = re.compile(r"(?<=[.!?:])\s+(?=[A-Z`*])|(?<=[.!?])\s+(?=\d)")


def sentences(text: str) -> list[str]:
    """Everything that the skill says, below its frontmatter: sentences, the rows of its table, its code."""
    return list(_split(text.split("---\n", 2)[2]))


def _split(body: str) -> Iterator[str]:
    for block in BLOCK.findall(body):
        if block.startswith("```"):
            yield " ".join(block.split())
        elif block.startswith("|"):
            yield from (row for row in block.splitlines()[2:] if row)
        elif not block.startswith("#"):
            for item in ITEM.split(block):
                yield from (" ".join(one.split()) for one in re.split(r"(?<=[.!?])\s+", item) if one.strip())


def table() -> dict[str, list[str]]:
    """Each sentence with the tests that show it."""
    found: dict[str, list[str]] = {}
    for line in TABLE.read_text("utf-8").splitlines():
        if line.startswith("    "):
            list(found.values())[-1].append(line.strip())
        elif line and not line.startswith("#"):
            assert line not in found, f"listed twice: {line}"
            found[line] = []
    return found


def functions(file: str) -> set[str]:
    tree = ast.parse((ROOT / "tests" / file).read_text("utf-8"))
    return {node.name for node in ast.walk(tree) if isinstance(node, ast.FunctionDef)}


def test_the_skill_is_no_longer_than_a_model_should_read() -> None:
    assert len(SKILL.read_bytes()) <= LARGEST


def test_every_sentence_is_in_the_table_and_nothing_else_is() -> None:
    said = sentences(SKILL.read_text("utf-8"))
    assert [one for one in said if one not in table()] == []
    assert [one for one in table() if one not in said] == []


@pytest.mark.parametrize("sentence", table())
def test_a_sentence_names_tests_that_exist(sentence: str) -> None:
    named = table()[sentence]
    assert named, "no test shows this"
    for one in named:
        file, _, function = one.partition("::")
        assert function.startswith("test_")
        assert function in functions(file), one


def test_a_sentence_that_is_left_out_or_added_is_found() -> None:
    text = SKILL.read_text("utf-8")
    assert len(sentences(text)) > 70
    assert "So it is." in sentences(text + "\n- So it is.\n")
    assert len(sentences(text.replace("Add nothing: ", "Say hello. ", 1))) == len(sentences(text)) + 1


# ---- what no other test shows ----


def test_a_debate_takes_as_many_calls_as_the_skill_says(tmp_path: Path) -> None:
    totals = User(tmp_path).council("cost", "--json").json["totals"]
    assert f"{totals['least']} to {totals['most']} model calls" in SKILL.read_text("utf-8")


@pytest.mark.skipif(shutil.which("bash") is None, reason="needs bash")
def test_the_way_to_begin_keeps_every_topic_from_the_shell(tmp_path: Path) -> None:
    """And what is printed begins with the heading to show, with the session's id and folder."""
    topic = "Council with security: `touch P` $(touch P) $HOME \\ 'x' \"y\"\nTOPIC-xxxxxxxx0\nEOF\n!! ☕"
    (block,) = re.findall(r"^```bash\n(.*?)```", SKILL.read_text("utf-8"), re.S | re.M)
    lines = re.sub(r"(?<=\n).*(?=\nTOPIC-)", lambda _: topic, block.replace("xxxxxxxx", "h4k9s2ma"), flags=re.S)
    user = User(tmp_path, {"PYTHONPATH": str(CODE), "PATH": f"{tmp_path}/bin{os.pathsep}{os.environ['PATH']}"})
    program = tmp_path / "bin" / "council"
    program.parent.mkdir()
    program.write_text(f"#!/bin/sh\nexec '{sys.executable}' -c '{run_line()}' \"$@\"\n")
    program.chmod(0o755)
    done = subprocess.run(
        ["bash"], input=lines.encode(), env=user.environment, cwd=user.work, capture_output=True, check=True
    )
    heading = done.stdout.decode().partition("\n\n")[2]
    assert f"**Session ID:** {user.session.name}\n" in heading
    assert f"/{user.session.name}/\n" in heading
    assert (user.session / "topic.md").read_text("utf-8") == topic.partition(": ")[2]
    assert list(user.work.iterdir()) == []


def test_the_end_names_what_the_user_is_told(tmp_path: Path) -> None:
    user = User(tmp_path)
    words = agreed() | {"02-challenges/designer": "absent: on holiday"}
    assert user.council("run", "Shall we?", "--speaker", "replay", "--from", script(user, words)).code == 0
    told = user.council("next").out
    for line in (r"\*\*Outcome:\*\* .+ \(3 of 4 agree\)", r"\*\*Degraded:\*\* absent: Designer \(Aditi\)"):
        assert re.search(f"^{line}$", told, re.M), told
    for name in ("head", "session", "archive"):
        assert re.search(f"^{name}: \\S+$", told, re.M), told
    assert told.splitlines()[-2:] == [
        f"The synthesis: council show {user.session.name} synthesis", "Nothing is due: the debate is over.",
    ]  # fmt: skip
