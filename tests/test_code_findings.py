"""What checkers found in the code that won, in the formats of a review: what a build shows beside its lines."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from council.engine.planner import Due
from council.replies.write import write
from council.sandbox.model import Tried
from council.speakers.shell.reply import give_answers
from tests import code_sessions, schemas
from tests.code_sessions import base_of
from tests.helpers import User

TRIED = "{tests: pass | fail | tampered | timeout | unknown, passed: list, failed: list, log: text}"
LOOKED = "{tests: pass | fail | tampered | timeout | unknown, findings: list, log: text}"
WORKFLOW = f"""---
name: mend
description: One seat drafts until its tests pass, and checkers look at it.
seats:
  team: [engineer]
  benches: {{tester: {{of: team, speaker: shell, run: pytest}}}}
  checkers: [{{linter: {{of: team, speaker: shell, run: ruff}}}}, {{guard: {{of: team, speaker: shell, run: bandit}}}}]
options: {{gate: false}}
phases:
  - name: loop
    rounds: [1, 2]
    order: {{still: {{of: trial}}}}
    steps:
      - {{name: draft, seats: team, prompt: code-draft, sees: nothing, reply: {{solution: files}}}}
      - {{name: trial, seats: benches, prompt: positions, sees: nothing, reply: {TRIED}}}
      - {{name: check, seats: checkers, prompt: positions, order: parallel, sees: nothing, reply: {LOOKED}}}
    until: {{green: {{passes: trial}}}}
---
"""
CODE = "import os\n\n\ndef add(a, b):\n    return a + b\n"


def find(path: str, line: int, severity: str, rule: str, message: str, tool: str = "ruff") -> dict[str, Any]:
    return {"tool": tool, "path": path, "line": line, "severity": severity, "rule": rule, "message": message}


FOUND = (
    find("src/app.py", 1, "medium", "F401", "`os` imported but unused: [here](x) {0}"),
    find("src/app.py", 6, "low", "W391", "no line\u2028there\x1b[2J"),
    find("other [x].py", 3, "medium", "E999", "in a file that is not shown (high): b.py:1: c"),
)
SAID = {
    "linter": Tried("fail", log="look above", findings=FOUND),
    "guard": Tried("fail", findings=(find("src/app.py", 4, "high", "B602", "a shell", "bandit"),)),
}


@pytest.fixture
def hold(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Any:
    """Holds a session; each seat's words may be given by the name that its own begins with."""
    monkeypatch.setattr(code_sessions, "MEND", WORKFLOW)
    user = User(tmp_path)

    def hold(**said: Any) -> tuple[User, str]:
        def say(due: Due) -> str:
            word = {**SAID, **said}.get(due.seat.name.partition("-")[0])
            if due.step.name == "check":
                tried = word[due.round - 1] if isinstance(word, list) else word
                return write(due.step.reply, give_answers(tried)) if isinstance(tried, Tried) else str(tried)
            if due.step.name == "trial":
                return code_sessions.verdict(word or "pass")
            return f"src/app.py\n```python\n{CODE}# {due.round}\n```\n"

        return user, code_sessions.hold(user, BASE, say, run=False).id

    return hold


BASE = base_of(code_sessions.Snapshot("", {"src/app.py": b"x = 1\n", "tests/test_app.py": b""}, {}, ()), Path("/x"))


def test_sarif_has_a_rule_a_place_and_a_mark_for_each(hold: Any) -> None:
    user, id = hold()
    shown = user.council("show", id, "--format", "sarif")
    assert (shown.code, shown.err) == (0, "")
    found = json.loads(shown.out)
    schemas.sarif_schema().validate(found)
    (run,) = found["runs"]
    listed = {one["ruleId"]: one for one in run["results"]}
    assert list(listed) == ["bandit/B602", "ruff/E999", "ruff/F401", "ruff/W391"]
    assert [one["level"] for one in listed.values()] == ["warning", "warning", "warning", "note"]
    for one in run["results"]:
        assert run["tool"]["driver"]["rules"][one["ruleIndex"]]["id"] == one["ruleId"]
    place = listed["ruff/F401"]["locations"][0]["physicalLocation"]
    assert place["artifactLocation"]["uri"] == "src/app.py"
    assert (place["region"]["startLine"], place["region"]["snippet"]["text"]) == (1, "import os")
    other = listed["ruff/E999"]["locations"][0]["physicalLocation"]
    assert (other["artifactLocation"], other["region"]["startLine"]) == ({"uri": "other%20%5Bx%5D.py"}, 3)
    assert listed["ruff/F401"]["properties"]["supporters"] == ["linter-engineer"]
    assert len({one["partialFingerprints"]["council/v1"] for one in run["results"]}) == 4
    assert "invocations" not in run


def test_every_format_has_all_of_them(hold: Any) -> None:
    user, id = hold()
    shown = {form: user.council("show", id, "--format", form).out for form in ("md", "json", "rdjson", "github")}
    schemas.published().validate(json.loads(shown["json"]))
    schemas.RDJSON.validate(diagnostics := json.loads(shown["rdjson"]))
    assert [one["code"]["value"] for one in diagnostics["diagnostics"]] == [
        "bandit/B602", "ruff/E999", "ruff/F401", "ruff/W391",
    ]  # fmt: skip
    assert diagnostics["diagnostics"][2]["location"]["range"]["start"] == {"line": 1}
    assert len(shown["github"].splitlines()) == 4
    assert (
        "::warning file=src/app.py,line=1,endLine=1,title=M2 (medium) by linter-engineer::M2: ruff/F401: "
        in shown["github"]
    )
    assert "4 findings: 1 high, 2 medium and 1 low." in shown["md"]
    assert all("\x1b" not in text and "\u2028" not in text for text in shown.values())


def test_it_is_written_to_a_file_and_again(hold: Any) -> None:
    user, id = hold()
    for _ in range(2):
        assert user.council("show", id, "--format", "sarif", "-o", "found.sarif").code == 0
    written = (user.work / "found.sarif").read_text()
    assert written == user.council("show", id, "--format", "sarif").out
    (user.work / "own.json").write_text("{}\n")
    assert user.council("show", id, "--format", "sarif", "-o", "own.json").code == 2


def test_only_the_version_that_won_counts(hold: Any) -> None:
    """The member writes it again, and what was found in the first version is gone with it."""
    user, id = hold(linter=[SAID["linter"], Tried("pass")], guard=[Tried("pass"), SAID["guard"]], tester="fail")
    found = json.loads(user.council("show", id, "--format", "json").out)
    schemas.published().validate(found)
    assert [one["issue"] for one in found["findings"]] == ["bandit/B602: a shell"]


def test_a_checker_without_an_answer_is_not_taken_for_a_clean_one(hold: Any) -> None:
    user, id = hold(linter=Tried("timeout"), guard="## Tests\nfail\n## Findings\n- by hand\n## Log\nnone\n")
    found = json.loads(user.council("show", id, "--format", "sarif").out)
    schemas.sarif_schema().validate(found)
    (invoked,) = found["runs"][0]["invocations"]
    assert invoked["executionSuccessful"] is False
    assert invoked["toolExecutionNotifications"][0]["message"]["text"] == "Not heard: ruff (timeout)"
    listed = json.loads(user.council("show", id, "--format", "json").out)
    assert (listed["silent"], listed["unparsed"][0]["text"]) == (["ruff (timeout)"], "by hand")


def test_where_nothing_was_checked_there_is_no_empty_list(hold: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    nobody = WORKFLOW.replace("      - {name: check,", "      - {name: check, when: {option: gate},")
    monkeypatch.setattr(code_sessions, "MEND", nobody)
    user, id = hold()
    shown = user.council("show", id, "--format", "sarif")
    assert (shown.code, shown.out) == (2, "")
    assert "no checker looked at the code that won" in shown.err
    assert user.council("show", id, "--format", "sarif", "--json").code == 2
