"""Debates of every count, with a synthesis that claims more than it, and what each document then states.

The count is judged here by its letters alone: `y`es `n`o `m`ixed, `?` unreadable and `-` absent.
"""

from __future__ import annotations

import json
import os
import re
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from html import unescape
from itertools import combinations_with_replacement
from pathlib import Path
from typing import Any

import yaml

import council
from council.config import overlays
from council.record import session as sessions
from council.reports import html, markdown, summary
from council.reports.transcript import compose
from council.runner import next_step
from council.runner.manual import ManualState
from council.terminal.markdown import Paint
from council.terminal.transcript import card
from council.workflow.loader import load
from council.workflow.model import Seat
from tests.debates import everything
from tests.scripted import Script, play

LETTERS = "ynm?-"
CLAIMS = (
    "We should do it. Everybody agrees.",
    "The council unanimously recommends to do it at once.",
    "No, we should not do it.",
    "5 of 5 say yes: do it.",
)
AGREE = {"y": "agree", "n": "disagree", "m": "mixed"}
ANSWER = {"y": "yes", "n": "no", "m": "mixed"}
SCORE = {"y": 95, "n": 40, "m": 80}
SEATS = {
    "debate": ("architect", "designer", "engineer", "researcher", "security"),
    "board": ("contrarian", "moonshot", "ceo", "cto", "cfo"),
    "consensus": ("database", "protocol", "infrastructure", "media-handler", "meeting-controller"),
    "perspectives": ("freedom", "thrift", "calm", "growth"),
}
SEATS |= {"delphi": SEATS["debate"], "delphi with a decision": SEATS["debate"], "quick": SEATS["debate"]}
LACKS = ("No answer leads: ", "Most disagree: ", "No consensus: ", "Not settled: ")
SAID = (*LACKS, "No consensus. ", "Not settled. ")  # `next` leaves out a reason that may be in somebody's words
NO_STANCE = "No stance was asked for. "


@dataclass(frozen=True)
class Case:
    protocol: str
    votes: str
    claim: str

    @property
    def seats(self) -> tuple[str, ...]:
        return SEATS[self.protocol][: len(self.votes)]

    @property
    def workflow(self) -> str:
        return self.protocol.partition(" ")[0]

    @property
    def leading(self) -> str:
        """The letter of the answer that leads by the count, or nothing."""
        if self.protocol == "consensus":
            return "y" if set(self.votes) == {"y"} else ""
        if self.protocol == "perspectives":
            return "y" if len(self.votes.replace("-", "")) > 1 else ""
        options = "yn" if self.workflow == "delphi" else "y"
        return next((one for one in options if 2 * self.votes.count(one) > len(self.votes)), "")

    @property
    def contradicts(self) -> bool:
        """Whether the claim is of another count than this one."""
        voted, of = self.votes.count(self.leading), len(self.votes)
        if self.workflow not in ("debate", "board", "delphi") or not self.leading:
            return False
        if self.claim == CLAIMS[2]:
            return self.workflow == "delphi" and self.leading == "y"
        if self.claim == CLAIMS[3]:
            return self.leading == "y" and self.workflow == "delphi" and of == 5 and voted < 5
        return voted < of


def cases(protocol: str) -> Iterator[Case]:
    """Every count of up to five seats, each with one of the claims in turn."""
    number = 0
    if protocol == "perspectives":
        for size in (2, 3, 4):
            for absent in range(size + 1):
                yield from (Case(protocol, "y" * (size - absent) + "-" * absent, claim) for claim in CLAIMS)
        return
    for size in range(3 if protocol == "board" else 2, 6):
        for votes in combinations_with_replacement(LETTERS, size):
            yield Case(protocol, "".join(votes), CLAIMS[number % len(CLAIMS)])
            number += 1


# ---- holding it ----


def turns(case: Case) -> dict[str, Any]:
    """The script of a debate, as in tests/fixtures/scripts."""
    who = dict(zip(case.seats, case.votes, strict=True))
    names = [f"{seat} disagrees" for seat, vote in who.items() if vote not in "ym"]
    made: dict[str, Any] = {"*/*": "I wonder."} | dict(_turns_of_seat(case.workflow, "*", "y"))
    made |= {address: "I wonder." for address in made if not address.startswith("propose/")}
    for seat, vote in who.items():
        made |= dict(_turns_of_seat(case.workflow, seat, vote))
    sums = {
        "debate": {"areas_of_convergence": [], "remaining_disagreements": names, "recommended_path": case.claim},
        "delphi": {
            "conclusion": case.claim, "grounds": [f"It is so [01-positions/{case.seats[0]}]."], "dissents": names,
            "open_questions": [], "confidence": "high",
        },
        "board": {"chosen": case.claim, "rejected": [], "dissents": names, "risks": [], "confidence": "high"},
        "consensus": {
            "overview": case.claim, "responsibilities": [], "interfaces": [], "performance_targets": [],
            "implementation_notes": [], "open_questions": [], "dissents": [],
        },
        "perspectives": {
            "arguments": [], "trade_offs": [], "agreement": [], "tensions": [], "recommendation": case.claim,
            "confidence": "high", "caveats": [], "dissent": "none", "acceptance": [],
        },
    }  # fmt: skip
    sums["quick"] = sums["debate"]
    return made | {"synthesis/*": sums[case.workflow], "synthesize/*": sums[case.workflow]} | _around(case)


def _turns_of_seat(workflow: str, seat: str, vote: str) -> Iterator[tuple[str, Any]]:
    steps = {
        "debate": ("challenges", "closing"), "delphi": ("positions", "challenge"), "board": ("respond",),
        "consensus": ("propose",), "perspectives": ("argue", "rebut"), "quick": ("positions",),
    }[workflow]  # fmt: skip
    extra: dict[str, dict[str, Any]] = {
        "debate": {"blocking": []},
        "delphi": {"blocking": [], "gist": "So."},
        "board": {"challenges": [f"The {seat} is wrong."], "risks": [], "blocking": [], "gist": "So.", "ready": "no"},
        "consensus": {
            "proposal": "So.", "rationale": "So.", "blocking": [], "suggested_changes": [],
            "performance_impact": "none", "fundamental": "no", "gist": "So.",
        },
        "perspectives": {},
        "quick": {"blocking": []},
    }  # fmt: skip
    more = extra[workflow]
    for step in steps:
        if vote == "-":
            yield f"{step}/{seat}", {"absent": "timeout"}
        elif vote == "?":
            yield f"{step}/{seat}", "I wonder."
        elif workflow in ("perspectives", "quick"):
            yield f"{step}/{seat}", {"says": "My case.", **more}
        else:
            name, words = ("satisfaction_score", SCORE) if workflow == "consensus" else ("stance", AGREE)
            value = (ANSWER if workflow == "delphi" else words)[vote]
            flaw = {"flaw": "none"} if step == "challenge" else {}
            yield f"{step}/{seat}", {"says": "I say so.", **more, **flaw, name: value}


def _around(case: Case) -> dict[str, Any]:
    if case.workflow == "board":
        checked = {"accurate": "yes", "correction": []}
        return {"review/*": {"ruling": "continue", "repeating_rounds": 0}, "check/*": checked}
    if case.workflow != "perspectives":
        return {}
    cast = [f"{seat.capitalize()}: {seat} first." for seat in case.seats]
    return {
        "analyze/*": {
            "question": "So?", "clear": "yes", "ask": "none", "assumed": [], "perspectives": cast,
            "opposed": f"{case.seats[0].capitalize()} against {case.seats[1].capitalize()}",
        },
        "evaluate/*": {"reading": "clear winner", "off_topic": [], "muted": [], "gist": "So."},
    }  # fmt: skip


OPTIONS: dict[str, dict[str, Any]] = {
    "board": {"max_rounds": 2},
    "consensus": {"max_rounds": 1, "escalation": False, "analysis": False},
    "perspectives": {"checkpoints": False},
}
DECIDED = "document: {kind: decision, recommendation: conclusion, dissent: dissents}\nphases:"


@contextmanager
def at_home(root: Path) -> Iterator[None]:
    """The environment of a user whose every file is below `root`. Delphi ends in a decision in one of two homes."""
    for home in ("plain", "decided"):
        (root / home / "config" / "council" / "Workflows").mkdir(parents=True, exist_ok=True)
    text = overlays.workflow_text("delphi")[0].replace("\nphases:", f"\n{DECIDED}", 1)
    (root / "decided" / "config" / "council" / "Workflows" / "Delphi.md").write_text(text, "utf-8")
    names = ("HOME", "COUNCIL_HOME", "XDG_CONFIG_HOME")
    before, here = {name: os.environ.get(name) for name in names}, Path.cwd()
    os.chdir(root)  # outside of any project: a document would be filed in it
    try:
        yield
    finally:
        os.chdir(here)
        for name, value in before.items():
            os.environ.pop(name, None) if value is None else os.environ.__setitem__(name, value)


def hold(case: Case, root: Path) -> Path:
    """The debate, held by the program from a script; its session's folder."""
    home = root / ("decided" if case.protocol.endswith("decision") else "plain")
    os.environ |= {"HOME": str(home), "COUNCIL_HOME": str(home), "XDG_CONFIG_HOME": str(home / "config")}
    sit_anyway = ("contrarian", "moonshot")
    only = () if case.workflow == "perspectives" else [seat for seat in case.seats if seat not in sit_anyway]
    program = load(*overlays.workflow_text(case.workflow)).with_options(OPTIONS.get(case.workflow, {}))
    program = program.with_members(Seat(name, "") for name in only) if only else program
    script = Script(case.protocol, "", program, "seed", 0.0, turns(case))
    path = home / "script.yaml"
    path.write_text(yaml.safe_dump(everything(play(script)), allow_unicode=True), "utf-8")
    ended = council.run(
        "Shall we?", workflow=case.workflow, only_members=only, options=OPTIONS.get(case.workflow, {}),
        speaker="replay", source=path,
    )  # fmt: skip
    assert ended.state == "complete", (case, ended.why)
    return ended.folder


# ---- what the documents state ----


def documents(folder: Path) -> dict[str, str]:
    """Everything that states the result, as text."""
    session = sessions.open_(folder)
    session.read_turns()
    plan = session.plan()
    debate, row = compose(session, plan), summary.summarize(folder)
    page = unescape(re.sub(r"<style>.*?</style>|<script>.*?</script>|<[^>]+>", "", html.page(debate), flags=re.S))
    made = {path.name: path.read_text("utf-8") for path in folder.iterdir() if path.suffix in (".md", ".json")}
    return {
        **{name: text for name, text in made.items() if name in ("synthesis.md", "transcript.md", "decision.md")},
        "convergence.json": made["convergence.json"],
        "show --json": json.dumps(summary.as_document(row)),
        "page": page,
        "terminal": card(debate, Paint(100)),
        "next": next_step.describe(session, ManualState(plan)),
        "MCP": markdown.synthesis_of(session, plan),
    }


def judge(case: Case, folder: Path) -> list[str]:
    """What a document states above its count, each in a sentence."""
    made = {name: " ".join(text.split()) for name, text in documents(folder).items()}
    shown: Mapping[str, Any] = json.loads(made["show --json"])
    checked = _judge_carried if case.leading else _judge_open
    if case.protocol == "quick":
        checked = _judge_no_stance
    return [f"{case.protocol}, {case.votes}, “{case.claim}”: {wrong}" for wrong in checked(case, made, shown)]


def _judge_open(case: Case, made: Mapping[str, str], shown: Mapping[str, Any]) -> Iterator[str]:
    verdict = shown["verdict"]
    if not verdict["path_title"].startswith("What the "):
        yield f"show --json calls the path “{verdict['path_title']}”"
    if verdict["carried"] or not verdict["answer"].startswith(LACKS):
        yield f"show --json answers “{verdict['answer']}”"
    if verdict["confidence"] not in (None, "low"):
        yield f"show --json has a confidence of {verdict['confidence']}"
    if json.loads(made["convergence.json"])["converged"]:
        yield "convergence.json says that it converged"
    for name, text in made.items():
        if name != "convergence.json" and not any(lack in text for lack in SAID):
            yield f"{name} does not say that nothing leads"
        if re.search(r"confidence:\**\s+(?:high|medium)", text, re.I):
            yield f"{name} states a confidence above the count"
    if "accepted by" in made.get("decision.md", ""):
        yield "decision.md is accepted"


def _judge_carried(case: Case, made: Mapping[str, str], shown: Mapping[str, Any]) -> Iterator[str]:
    verdict, voted = shown["verdict"], f"{case.votes.count(case.leading)} of {len(case.votes)}"
    if any(lack in text for lack in SAID for name, text in made.items() if name != "convergence.json"):
        yield "a document says that nothing leads, and something does"
    if case.workflow == "delphi" and not verdict["answer"].startswith((ANSWER[case.leading].capitalize(), voted)):
        yield f"the answer is “{verdict['answer']}”"
    if not case.contradicts:
        return
    if not verdict["answer"].startswith(f"{voted} "):
        yield f"the answer is “{verdict['answer']}”, which the count contradicts"
    for name in {"synthesis.md", "transcript.md", "decision.md", "page", "next", "MCP", "show --json"} & set(made):
        if f"The count is: {voted} " not in made[name]:
            yield f"{name} does not mark what contradicts the count"


def _judge_no_stance(case: Case, made: Mapping[str, str], shown: Mapping[str, Any]) -> Iterator[str]:
    if shown["verdict"]["tally"] != "no stance was asked for":
        yield f"show --json counts “{shown['verdict']['tally']}”"
    for name in ("synthesis.md", "transcript.md", "page", "next", "MCP", "show --json"):
        if NO_STANCE not in made[name]:
            yield f"{name} does not say that no stance was asked for"
