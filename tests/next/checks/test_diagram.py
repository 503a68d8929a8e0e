"""A workflow as a flowchart: every phase, step, rule and ending is in it, and no text is read as a sign of Mermaid."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
from pathlib import Path

import pytest

from council.next.checks.diagram import draw
from council.next.checks.lint import NEEDED
from council.next.config import places
from council.next.workflow import gates
from council.next.workflow.model import refs
from tests.next.debates import workflow_of
from tests.next.protocols.held import KIT, kit

GOLDENS = Path(__file__).parent / "goldens"
CORE = sorted({path.stem for path in KIT.glob("*.md") if path.stem.lower() not in {*NEEDED, *places.GUIDES}})
# The lines that a drawing may have: boxes, subgraphs and arrows whose labels hold letters, digits and numbers of signs.
LABEL = r"\"(?:[\w .,:;/%+*=()'·-]|<br>|#\d+;)*\""
LINE = re.compile(
    rf"flowchart TD|    over\(\[{LABEL}\]\)|    begin\(\[{LABEL}\]\)|    halt\{{\{{{LABEL}\}}\}} -\.-> over"
    rf"|    p\d+when\{{{LABEL}\}}|    subgraph p\d+\[{LABEL}\]|    end"
    rf"|        p\d+s\d+(?:\[{LABEL}\]|\(\[{LABEL}\]\))|        p\d+s\d+(?: --> p\d+s\d+)+"
    rf"|    (?:begin|p\d+(?:when|s\d+)?) -->(?:\|(?:yes|no|limit|next round|{LABEL})\|)? (?:over|p\d+(?:when|s\d+)?)"
)


@pytest.mark.parametrize("name", ["Debate", "Board"])
def test_it_is_drawn_as_somebody_read_it(name: str) -> None:
    assert draw(kit(name)) == (GOLDENS / f"{name.lower()}.mmd").read_text("utf-8")


@pytest.mark.parametrize("name", CORE)
def test_every_phase_step_rule_answer_and_ending_is_in_it(name: str) -> None:
    workflow = gates.insert(kit(name), [phase.name for phase in kit(name).phases[:1] if name != "Confirm"])
    drawn = draw(workflow)
    text = re.sub(r"#(\d+);", lambda sign: chr(int(sign[1])), drawn.replace("<br>", " "))
    assert [line for line in drawn.splitlines() if not LINE.fullmatch(line)] == []
    for phase in workflow.phases:
        assert (phase.title or phase.name) in text
        conditions = [phase.when, *phase.until.values(), *(step.when for step in phase.steps)]
        for ref in (ref for one in conditions if one for ref in refs(one)):
            assert ref.name.replace("_", " ") in text
        for ending in (*phase.until, *workflow.halt):
            assert f"{ending}:" in text or f"{ending}, at any time:" in text
        for step in phase.steps:
            assert step.name in text
            assert all(answer.replace("_", " ") in text for answer in step.reply)
    targets = {*re.findall(r"\b(p\d+(?:when|s\d+)?)\b", drawn)}
    made = {*re.findall(r"(?:subgraph |^ +)(p\d+(?:when|s\d+)?)[\[({]", drawn, re.M)}
    assert targets == made, "an arrow leads to what is not there"


def test_no_sign_of_a_title_or_an_argument_is_read_by_mermaid() -> None:
    hostile = 'a"]; click p1 "javascript:x" <script> `b` |c| {d} [e] #quot; %% \\'
    drawn = draw(
        workflow_of([{"name": "talk", "title": hostile, "rounds": "2", "until": {"over": {"share": {hostile: "x"}}}}])
    )
    assert [line for line in drawn.splitlines() if not LINE.fullmatch(line)] == []
    assert "<script>" not in drawn
    assert "javascript:x" in drawn


def test_a_long_condition_goes_on_in_further_lines() -> None:
    longest = max(
        (part for line in draw(kit("Consensus")).splitlines() for part in re.split(r"<br>|\"", line)), key=len
    )
    assert len(re.sub(r"#\d+;", "#", longest)) <= 50


def test_mermaid_itself_reads_all_of_them(tmp_path: Path) -> None:
    folder, node = os.environ.get("COUNCIL_MERMAID", ""), shutil.which("node")
    if not folder or not node:
        pytest.skip("COUNCIL_MERMAID names no folder in which `npm i mermaid jsdom` was run")
    for name in CORE:
        (tmp_path / f"{name}.mmd").write_text(draw(kit(name)), "utf-8")
    script = Path(__file__).parents[2] / "mermaid.mjs"
    subprocess.run([node, script, folder, *tmp_path.glob("*.mmd")], check=True)
