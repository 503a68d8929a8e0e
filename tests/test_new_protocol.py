"""A protocol is a workflow and its templates: a red team, from an empty project to a filed document, without Python."""

from __future__ import annotations

import re
import signal
import time
from pathlib import Path

import pytest

from tests.helpers import CODE, PATIENCE, User, no_traceback, script

PROGRAM = ".council/Workflows/redteam.md"
TEMPLATES = ".council/templates/redteam"
WORKFLOW = """---
name: redteam
description: Two attackers try to break a plan, its owner answers, and a referee rules what is still open.
seats:
  members: [security, {owner: {persona: engineer}}, contrarian]
  attackers: [security, contrarian]
  referee: chair
options: {max_rounds: 2}
document: {kind: risks, open: still_open}
phases:
  - {name: attack, seats: attackers, sees: nothing, reply: {attacks: list+}}
  - name: exchange
    rounds: [1, max_rounds]
    steps:
      - {name: defence, seats: owner, reply: {mitigations: list+, accepted: list}}
      - {name: strike, seats: attackers, reply: {stance: agree | disagree, danger: 0-100}}
    until: {held: {every: {stance: agree}}}
  - {name: ruling, role: synthesis, seats: referee, reply: {recommended_path: text, still_open: list}}
---
# Red team

# Prompts
## attack
Say how you would break it.
## ruling
Rule what is still open.
"""
DEFENCE = """{% include "_head.md.j2" %}
# Now: defend it, attempt {{ round }}
{% include "_tail.md.j2" %}
"""
STRIKE = DEFENCE.replace("defend it", "strike again")
DOCUMENT = """# Risks: {{ title }}

**Path:** {{ answers.recommended_path }}

## Open
{% for item in parts.open %}
- {{ item }}
{% endfor %}

## The exchange
{% for stage in stages if stage.phase == "exchange" %}
{% for round in stage.rounds %}
{% for turn in round.statements %}
- {{ round.title }} {{ round.number }}, {{ turn.label }}{{ ": " ~ turn.absent if turn.absent }}
{% endfor %}
{% endfor %}
{% endfor %}
"""
REMARKS = """{% if turn.step == "strike" and turn.answers.stance == "agree" and turn.answers.danger > 50 %}
agrees, and still sees a danger of {{ turn.answers.danger }}
{% endif %}
{% if turn.step == "strike" and not turn.answers.stance %}
gives no verdict
{% endif %}
"""
WORDS = {
    "01-attack/security": "I steal them.\n\n## Attacks\n- Steal the tokens.",
    "01-attack/contrarian": "I fill it.\n\n## Attacks\n- Fill the cache.",
    "02-exchange-r01-1-defence/owner": "We encrypt.\n\n## Mitigations\n- Encrypt.\n\n## Accepted\n- A slow cache.",
    "02-exchange-r01-2-strike/security": "It holds.\n\n## Stance\nagree\n\n## Danger\n70",
    "02-exchange-r01-2-strike/contrarian": "No.\n\n## Stance\ndisagree\n\n## Danger\n90",
    "02-exchange-r02-1-defence/owner": "We measure.\n\n## Mitigations\n- Measure.\n\n## Accepted\nnone",
    "02-exchange-r02-2-strike/security": "Fine.\n\n## Stance\nagree\n\n## Danger\n20",
    "02-exchange-r02-2-strike/contrarian": "I would rather not say.",
    "02-exchange-r02-2-strike/contrarian.2": "Not even now.",
    "03-ruling/chair": "So be it.\n\n## Recommended path\nEncrypt, then measure.\n\n## Still open\n- Who pays?",
}
UNDECIDED = 3  # the contrarian's stance cannot be read, so nothing is decided
RUN = ("redteam", "Shall we cache tokens?", "--speaker", "replay")


@pytest.fixture
def user(tmp_path: Path) -> User:
    """In a project: its documents are filed in `docs/decisions`."""
    user = User(tmp_path)
    user.write(PROGRAM, WORKFLOW)
    files = {"defence": DEFENCE, "strike": STRIKE, "risks": DOCUMENT, "remarks": REMARKS}
    for name, text in files.items():
        user.write(f"{TEMPLATES}/{name}.md.j2", text)
    return user


def succeed(user: User, *words: str | Path) -> str:
    ended = user.council(*words)
    no_traceback(ended)
    assert ended.code in (0, UNDECIDED), ended.text
    return ended.out


def test_the_package_does_not_know_it() -> None:
    sources = [path.read_text("utf-8") for path in (CODE / "council").rglob("*.py")]
    assert [word for word in ("redteam", "still_open", "mitigations") if any(word in text for text in sources)] == []


def test_it_is_checked_before_it_runs(user: User) -> None:
    assert succeed(user, "lint", "redteam") == "redteam: no problems found\n"
    assert "6 to 9 calls" in succeed(user, "cost", "redteam")
    diagram = succeed(user, "diagram", "redteam")
    assert "referee (chair)" in diagram
    assert '-->|"held: every stance agree"|' in diagram
    assert "still open" in user.council("help", "redteam").out


def test_interrupted_recovered_and_read(user: User) -> None:
    path = script(user, WORDS)
    with user.spawn(*RUN, "--from", path, "--pace", "real") as process:
        ends = time.monotonic() + PATIENCE
        while not (user.sessions and list(user.session.glob("turns/01-attack/*.md"))):
            assert time.monotonic() < ends, "no turn was spoken"
            time.sleep(0.02)
        process.send_signal(signal.SIGINT)
        process.communicate(timeout=PATIENCE)
    assert process.returncode == 130
    first = next(user.session.glob("turns/01-attack/*.md"))
    before = first.read_bytes()
    succeed(user, "recover", "--from", path)
    assert first.read_bytes() == before
    assert {f"{one.parent.name}/{one.stem}" for one in user.session.glob("turns/*/*.md")} == set(WORDS)
    brief = (user.session / "briefs/02-exchange-r02-1-defence/owner.md").read_text("utf-8")
    assert "# Now: defend it, attempt 2" in brief
    assert "You are Owner.\nYour perspective focuses on: implementation reality" in brief
    readable = [succeed(user, "show"), (user.session / "transcript.md").read_text("utf-8")]
    readable.append(succeed(user, "show", "--html"))
    for text in readable:
        assert text.count("agrees, and still sees a danger of 70") == 1
        assert text.count("gives no verdict") == 1, "an answer that is missing is empty for a template"
        assert "could not be rendered" not in text
    (filed,) = (user.work / "docs" / "decisions").glob("*.md")
    document = re.sub(r"^written_sha256: .*\n", "", filed.read_text("utf-8"), flags=re.M)
    front, _, body = document.removeprefix("---\n").partition("\n---\n")
    assert f'session: "{user.session.name}"' in front.splitlines()
    title, overlays, text = body.strip("\n").split("\n\n", 2)
    assert title == "# Risks: Shall we cache tokens?"
    assert overlays.startswith("> **Overlays:** project (Workflows/redteam.md, ")
    assert "> **Replay of:** script.yaml (recorded replies, not a new debate)" in overlays
    assert text.startswith("**Path:** Encrypt, then measure.\n\n## Open\n- Who")
    assert re.findall(r"^- Exchange \d, (.+)$", document, re.M) == [
        *("Owner", "Security (Rook)", "Contrarian", "Owner", "Security (Rook)", "Contrarian"),
    ]  # fmt: skip
    assert (user.session / "decision.md").read_text("utf-8") == document
    succeed(user, "verify")


@pytest.mark.parametrize(
    ("file", "text", "fault"),
    [
        (
            "risks",
            DOCUMENT.replace("round.title", "round.headline"),
            "line 14: 'dict object' has no attribute 'headline'",
        ),
        ("risks", DOCUMENT.replace("parts.open", "parts.opened"), "line 6: 'dict object' has no attribute 'opened'"),
        (
            "remarks",
            REMARKS.replace("answers.danger > 50", "answers.risk > 50"),
            "line 1: 'dict object' has no attribute",
        ),
        ("remarks", "\n{{ turn.answers.stanze }}", "line 2: 'dict object' has no attribute 'stanze'"),
    ],
)
def test_lint_renders_its_document_and_its_remarks(file: str, text: str, fault: str, user: User) -> None:
    """A session keeps its templates, so a mistake that only shows at the end could not be put right."""
    user.write(f"{TEMPLATES}/{file}.md.j2", text)
    ended = user.council("lint", "redteam")
    assert ended.code == 2
    assert f"templates/redteam/{file}.md.j2, {fault}" in ended.out
    held = user.council(*RUN, "--from", script(user, WORDS))
    assert held.code == UNDECIDED, "it costs no debate"
    assert f"could not be rendered: {fault}" in "".join(one.read_text("utf-8") for one in user.session.glob("*.md"))
