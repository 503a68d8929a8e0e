"""No phase, step or answer needs a magic name: a workflow says what its phases are for, and what its document takes."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.helpers import Ended, User, no_traceback, script

# Nothing here is called synthesis, control, recommendation or dissents.
OWN = """---
name: own
description: Two think, one writes, one answers alone.
seats: {thinkers: [architect, engineer], pen: pen, alone: control}
document: DOCUMENT
phases:
  - {name: thoughts, prompt: positions, reply: {stance: yes | mixed | no, blocking: list}}
  - name: verdict
    role: synthesis
    rounds: [1, 2]
    prompt: sum-up
    seats: pen
    reply: {advice: text, if_only: list, unsure: list, against: list}
    until: {complete: {all: [dissent_kept, cites]}}
  - {name: aside, role: control, prompt: positions, seats: alone, sees: nothing, reply: {answer: yes | mixed | no}}
---
# Prompts
## sum-up
Sum up.
"""
WORDS = {
    "01-thoughts/architect": "Yes.\n\n## Stance\nyes\n\n## Blocking\nnone",
    "01-thoughts/engineer": "No.\n\n## Stance\nyes\n\n## Blocking\n- Nobody is on call at night.",
    "02-verdict-r01/pen": "Nothing yet.\n\n## Advice\nGo.\n\n## If only\nnone\n\n## Unsure\nnone\n\n## Against\nnone",
    "02-verdict-r02/pen": "We rest on 01-thoughts/engineer.\n\nEngineer: nobody is on call at night.\n\n"
    "## Advice\nGo, once somebody is on call.\n\n## If only\n- the load stays\n\n## Unsure\n- when\n\n## Against\nnone",
    "03-aside/control": "It is so.\n\n## Answer\nyes",
}


DOCUMENTS = {
    "decision": "{kind: decision, recommendation: advice, caveats: if_only}",
    "adr": "{kind: adr, open_questions: unsure, dissents: against}",
}


def run(user: User, kind: str, *more: str) -> Ended:
    own = OWN.replace("DOCUMENT", DOCUMENTS[kind])
    path = user.write(".council/Workflows/own.md", own)
    ended = user.council("lint", path)
    assert ended.code == 0, ended.text
    assert "note:" not in ended.text, ended.text
    said = ("--speaker", "replay", "--from", script(user, WORDS))
    ended = user.council("run", "-w", path, *more, *said, "Shall we?")
    assert ended.code == 0, ended.text
    no_traceback(ended)
    return ended


@pytest.fixture
def user(tmp_path: Path) -> User:
    return User(tmp_path)


def test_the_synthesis_and_the_control_may_have_any_name(user: User) -> None:
    run(user, "decision")
    synthesis = (user.session / "synthesis.md").read_text("utf-8")
    assert "Go, once somebody is on call." in synthesis
    assert "Dissent on record" not in synthesis
    transcript = (user.session / "transcript.md").read_text("utf-8")
    assert "Round 1: Thoughts" in transcript
    assert "Verdict" not in transcript  # no round of the debate
    assert "Round 2" not in transcript
    facts = json.loads((user.session / "convergence.json").read_text("utf-8"))
    assert facts["helped"]["control"]["answer"] == "yes"
    assert facts["after_round"] == 1


def test_a_decision_takes_the_answers_that_the_workflow_names(user: User) -> None:
    run(user, "decision")
    text = (user.session / "decision.md").read_text("utf-8")
    recommendation = text.partition("## Recommendation\n\n")[2].partition("\n## ")[0]
    assert "The count is: 2 of 2 say yes. The pen does not name this answer." in recommendation
    assert "\n\nGo, once somebody is on call." in recommendation
    assert "**Caveats:** the load stays" in text


def test_a_record_takes_the_answers_that_the_workflow_names(user: User) -> None:
    run(user, "adr")
    text = (user.session / "decision.md").read_text("utf-8")
    assert "## Open Questions\n\n- when" in text
    assert "### Against" not in text
    assert "## Advice\n\nGo, once somebody is on call." in text


def test_one_debate_may_leave_the_document_out(user: User) -> None:
    run(user, "adr", "-o", "document=none")
    assert not (user.session / "decision.md").exists()


def test_lint_looks_for_the_answers_of_a_document(user: User) -> None:
    path = user.write("own.md", OWN.replace("DOCUMENT", "{kind: decision, recommendation: advise}"))
    ended = user.council("lint", path)
    wrong = 'own.md:5: document: recommendation: the answer "advise" does not exist; did you mean "advice"?'
    assert ended.code == 2
    assert wrong in ended.text
