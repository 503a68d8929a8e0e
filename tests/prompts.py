"""What people type, and what it means: a call with its members, a question back, or words that call nobody.

Each is run through the program and through the hook that routes prompts; see tests/test_calls.py.
"""

from __future__ import annotations

import json
import re
import subprocess
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from tests.helpers import User

HOOK = Path(__file__).parent.parent / "hooks" / "council-hook.py"
FOUR = "architect designer engineer researcher"
BOARD = "ceo cto cfo coo"  # and a group that sits in every one
SESSION = "20261118-145118-d31870ac"


@dataclass(frozen=True)
class Meant:
    """The session that a call begins."""

    members: str = FOUR
    workflow: str = "debate"
    topic: str = "Q?"
    mode: str = "deliberative"
    options: str = "{}"


@dataclass(frozen=True)
class Asks:
    """The program asks back, with these words; `routed` says whether the hook takes the prompt for a call."""

    words: str
    routed: bool = False


@dataclass(frozen=True)
class Recovers:
    session: str = "last"


@dataclass(frozen=True)
class Typed:
    """The assistant loads the skill for it by itself, so that the hook leaves it alone."""

    meant: Meant


THREE = '{"three_rounds": true}'
QUICK = Meant(workflow="quick")
REVIEW = Meant(workflow="patchlist", mode="patchlist", options='{"patchlist": true}')
SECURE = Meant(f"{FOUR} security")
TWO = Meant("architect engineer")

CALLS: dict[str, Meant | Recovers | Typed] = {
    "Council: Q?": Meant(),
    "council: Q?": Meant(),
    "COUNCIL:Q?": Meant(),
    "  Council : Q?": Meant(),
    "Council\uff1aQ?": Meant(),
    "Council\uff1a Q?": Meant(),
    "Council\ufe55Q?": Meant(),
    "\uff23ouncil\uff08quick\uff09\uff1aQ?": QUICK,
    "Council with security\u3001writer\uff1aQ?": Meant(f"{FOUR} security writer"),
    "Council: one\ntwo: three": Meant(topic="one\ntwo: three"),
    "Council:\nQ?": Meant(topic="\nQ?"),
    "Council: Council: Q?": Meant(topic="Council: Q?"),
    "Council: Council with John: notes": Meant(topic="Council with John: notes"),
    "Council: the council (UK): who pays?": Meant(topic="the council (UK): who pays?"),
    'Council: "quotes", $(touch P), `ticks` and \u2615': Meant(topic='"quotes", $(touch P), `ticks` and \u2615'),
    "Council debate: Q?": Meant(),
    "council Debate : Q?": Meant(),
    "Full council: Q?": Meant(),
    "Hey council: Q?": Meant(),
    "Hey, council: Q?": Meant(),
    "ok council: Q?": Meant(),
    "Please, council with security: Q?": SECURE,
    "@council: Q?": Meant(),
    "@Council with security: Q?": SECURE,
    '"Council: Q?"': Meant(),
    "\u201cQuick council: Q?\u201d": QUICK,
    "'Council with security: Q?'": SECURE,
    "**Council:** Q?": Meant(topic="Q?"),
    "**Council**: Q?": Meant(),
    "__Council with security:__ Q?": SECURE,
    "*Quick council:* Q?": QUICK,
    "**Council: Q?**": Meant(),
    "Quick council: Q?": QUICK,
    "quick   Council: Q?": QUICK,
    "Council quick: Q?": QUICK,
    "Council (quick): Q?": QUICK,
    "Council(quick): Q?": QUICK,
    "Quick council with security: Q?": Meant(f"{FOUR} security", "quick"),
    "Quick council without designer: Q?": Meant("architect engineer researcher", "quick"),
    "Council (patchlist): Q?": REVIEW,
    "Council patchlist: Q?": REVIEW,
    "Patchlist council: Q?": REVIEW,
    "Council with security (patchlist): Q?": Meant(
        f"{FOUR} security", "patchlist", "Q?", "patchlist", '{"patchlist": true}'
    ),
    "Council board: Q?": Meant(BOARD, "board"),
    "Council (board): Q?": Meant(BOARD, "board"),
    "Board council: Q?": Meant(BOARD, "board"),
    "Council board debate: Q?": Meant(BOARD, "board"),
    "Council (board) with security, but without the CFO: Q?": Meant("ceo cto coo security", "board"),
    "Council planning 1: Q?": Meant("architect designer engineer product", "planning-1"),
    "Council delphi: Q?": Meant(f"{FOUR} security", "delphi"),
    "Delphi council: Q?": Meant(f"{FOUR} security", "delphi"),
    "Council with security: Q?": SECURE,
    "Council, with security: Q?": SECURE,
    "Council plus security: Q?": SECURE,
    "Council with the security: Q?": SECURE,
    "Council with Security and the Writer: Q?": Meant(f"{FOUR} security writer"),
    "Council with security, writer & intern: Q?": Meant(f"{FOUR} security writer intern"),
    "Council with quality specialist: Q?": Meant(f"{FOUR} quality-specialist"),
    "Council without designer: Q?": Meant("architect engineer researcher"),
    "Council without the designer and the researcher: Q?": TWO,
    "Council minus designer: Q?": Meant("architect engineer researcher"),
    "Council with security without designer: Q?": Meant("architect engineer researcher security"),
    "Council with security and without designer: Q?": Meant("architect engineer researcher security"),
    "Council without designer (quick): Q?": Meant("architect engineer researcher", "quick"),
    "Council with 3 rounds: Q?": Meant(options=THREE),
    "Council with three rounds: Q?": Meant(options=THREE),
    "Council in three rounds: Q?": Meant(options=THREE),
    "Council for 3 rounds: Q?": Meant(options=THREE),
    "Council with a third round: Q?": Meant(options=THREE),
    "Three-round council: Q?": Meant(options=THREE),
    "Council with three rounds and security: Q?": Meant(f"{FOUR} security", options=THREE),
    "Council with security in 3 rounds: Q?": Meant(f"{FOUR} security", options=THREE),
    "Council with security, without designer, in 3 rounds: Q?": Meant(
        "architect engineer researcher security", options=THREE
    ),
    "Just architect and engineer: Q?": TWO,
    "just the Architect, an Engineer: Q?": TWO,
    "Just architect, engineer\uff1aQ?": TWO,
    "Only architect and engineer: Q?": TWO,
    "Just architect & engineer, 3 rounds: Q?": Meant("architect engineer", options=THREE),
    "**Just architect and engineer:** Q?": TWO,
    "Council: Just architect and engineer: Q?": TWO,
    "Quick council: only architect and engineer: Q?": Meant("architect engineer", "quick"),
    "Council just architect and engineer: Q?": TWO,
    "Council with only architect and engineer: Q?": TWO,
    "Council with just the architect and the engineer: Q?": TWO,
    "Council of architect and engineer: Q?": TWO,
    "Council with security: just architect: Q?": Meant("architect security"),
    "Council recovery": Recovers(),
    "council recovery.": Recovers(),
    "Council recovery:": Recovers(),
    "Council recovery\uff1a": Recovers(),
    "Council recovery: the last one": Recovers(),
    "Council recovery last": Recovers(),
    f"Council recovery {SESSION}": Recovers(SESSION),
    f"Council recovery of session {SESSION}.": Recovers(SESSION),
    "Council recovery d31870ac": Recovers("d31870ac"),
    f"Council recovery: Resume session {SESSION}": Recovers(SESSION),
    "Council recovery: pricing-2026": Recovers("pricing-2026"),
    "/council Should we: yes or no?": Typed(Meant(topic="Should we: yes or no?")),
    "/council with security: Q?": Typed(SECURE),
    "/council: Q?": Typed(Meant()),
    "/council quick: Q?": Typed(QUICK),
    "/council:council Just architect and engineer: Q?": Typed(TWO),
}

UNKNOWN = "unknown member"
QUESTIONS = {
    "Council:": Asks("the topic is empty", routed=True),
    "Quick council:   ": Asks("the topic is empty", routed=True),
    "Council": Asks('write "Council: …"'),
    "Quick council": Asks('write "Quick council: …"'),
    "Council with security": Asks("the topic is missing"),
    "Council with 3 rounds": Asks("the topic is missing"),
    "Council board without moonshot: Q?": Asks("moonshot sits in every board, so it cannot be left out", routed=True),
    "Just architect and engineer": Asks("the topic is missing"),
    "/council": Asks("the topic is missing"),
    "Quick council, shall we?": Asks("write a colon"),
    "Quick council \u2014 shall we?": Asks("write a colon"),
    "Council with security shall we?": Asks("write a colon"),
    "Council without designer - shall we?": Asks("write a colon"),
    "Council with securty: Q?": Asks('did you mean "security"? (known: architect, ceo', routed=True),
    "Council without the desinger: Q?": Asks('did you mean "designer"?', routed=True),
    "Council with security and John: Q?": Asks(f'{UNKNOWN} "john"', routed=True),
    "Just architect, engineer and the cat: Q?": Asks(f'{UNKNOWN} "cat"', routed=True),
    "Council: Just architect and engneer: Q?": Asks('did you mean "engineer"?', routed=True),
    "Council without security: Q?": Asks("security is not a member", routed=True),
    "Council with chair: Q?": Asks("chair has another role", routed=True),
    "Council without designer, engineer and researcher: Q?": Asks("at least two members", routed=True),
    "Council without architect, designer, engineer, researcher: Q?": Asks("at least two members", routed=True),
    "Only engineer: Q?": Asks("at least two members"),
    "Council with 5 rounds: Q?": Asks("--rounds takes 3", routed=True),
    "Quick council (board): Q?": Asks("several workflows: quick, board", routed=True),
    "Council perspectives with security: Q?": Asks("casts its members", routed=True),
    "Council with John: notes": Asks(f'{UNKNOWN} "john"'),
    "Council with the mayor: notes": Asks('put "Council: " before them'),
    "Council without a quorum: may it decide?": Asks(f'{UNKNOWN} "quorum"'),
    "Council with John and 3 rounds: notes": Asks(f'{UNKNOWN} "john"'),
    "Council (UK): who pays?": Asks('no workflow or mode "uk"'),
    "Council (quik): Q?": Asks('did you mean "quick"?'),
    "Council bord: Q?": Asks('did you mean "board"?'),
    "Quik council: Q?": Asks('did you mean "quick"?'),
    "Council planning: agenda": Asks('no workflow or mode "planning"'),
}

TOPICS = (
    "What did the council say about Redis?",
    "The council: who sits on it?",
    "the council: shall we have one?",
    "A council: what is it?",
    "My council (patchlist): shall we?",
    "Please ask the council: Redis or not?",
    "I'd like a council with security. Topic: tokens",
    "Fix the bug in council: it prints too much",
    "Why does `council run` say council: 3 errors?",
    "Council of Trent: when was it?",
    "Council of architects: yes or no?",
    "Council of Europe (1949): its founders",
    "Council tax: how much is it in Leeds?",
    "council housing: a history",
    "Council minutes: summarise these",
    "Council for Dummies: a book",
    "Council in session: notes",
    "Council only meets on Tuesdays: why?",
    "Council recovery plans",
    "Council recovery plan: what is in it?",
    "City council: list its members",
    "City council with security: is it safe?",
    "Dear council: my bin was not emptied",
    "Security Council: what is its veto?",
    "Student council election: who may stand?",
    "Councils: a history",
    "Councillor: what does one do?",
    "Our council with security guards met. Summarise this: ...",
    "Council?",
    "Council - minutes of 3 May",
    "Council, parish and borough: what is the difference?",
    "Council\n\nis a word: what?",
    "Council (): what?",
    "Council (one: two): what?",
    "council.py: what does it do?",
    "council/cli.py: what does it do?",
    "council-hook: why is it slow?",
    "@council/README.md: explain",
    "@council-member: who are you?",
    "/councils: list them",
    "/council-tax: how much?",
    "> Council: a quoted line",
    "> Council: a quoted line\n\nWhat does this mean?",
    "# Council: a heading",
    "- Council: an item",
    "```\nCouncil: in a block of code\n```",
    "`Council: topic` is how it is called, is it?",
    '"Council: topic" is how it is called, is it?',
    '"Council: a" and "Quick council: b"',
    "Write a README section on `Council: topic`",
    "**Council:** 3 May\n**Present:** all",
    "<task-notification>\nCouncil: finished\n</task-notification>",
    "[12:03:11] council: 3 errors",
    "2026-11-19 12:03:11 INFO council: started",
    '{"council": "debate"}',
    "council: first use: installing the locked dependencies into ~/.local/share/council",
    'council: unknown member "john"; known: architect\nnothing was spent; `council run -h` shows how to call it',
    "council: the API is overloaded\nkept: 3 turns in ~/x; go on with: council recover 1",
    "Just because: why not?",
    "Just architect and engineer, please",
    "Just\narchitect\nand engineer\n: what?",
    "Only time will tell: shall we wait?",
    "Only one thing: money",
    "Adjust architect and engineer: what?",
    "Quick: what is a council?",
    "Quickcouncil: what?",
    "Rat: sollen wir?",
    "\u0421ouncil: with a Cyrillic letter in front",
    "\ufeffCouncil: after a mark of byte order",
)


def routed_by_hook(prompts: Sequence[str], env: dict[str, str], python: str | Path = sys.executable) -> list[bool]:
    """What the hook's script says to each prompt, in one process for all of them."""
    done = subprocess.run(
        [python, "-I", "-c", DRIVER, str(HOOK)],
        input=json.dumps(list(prompts)), env=env, capture_output=True, text=True, check=True, timeout=60,
    )  # fmt: skip
    return list(map(bool, json.loads(done.stdout)))


# Runs the script from its first line for each prompt, with the event on standard input.
DRIVER = """
import contextlib, io, json, runpy, sys
said = []
for prompt in json.load(sys.stdin):
    event = json.dumps({"hook_event_name": "UserPromptSubmit", "prompt": prompt}).encode()
    sys.stdin, out = io.TextIOWrapper(io.BytesIO(event)), io.StringIO()
    with contextlib.redirect_stdout(out):
        runpy.run_path(sys.argv[1], run_name="__main__")
    said.append(out.getvalue())
print(json.dumps(said))
"""


def ask_program(user: User, prompt: str) -> Meant | Recovers | Asks:
    """What `council start` makes of a prompt. A document is attached, because a review needs one."""
    before = set(user.sessions)
    ended = user.council("start", "-", "--file", user.write("spec.md", "# Spec\n"), stdin=prompt)
    if found := re.search(r"continue it with `council next (\S+)`", ended.err):
        return Recovers(found[1])
    if ended.code:
        assert (ended.code, set(user.sessions)) == (2, before), ended.text
        return Asks(ended.err)
    (made,) = set(user.sessions) - before
    facts = json.loads((made / "metadata.json").read_text())
    topic = (made / "topic.md").read_text().partition("\n\n<said by=")[0]
    return Meant(
        " ".join(facts["members"]), facts["workflow"], topic, facts["output_mode"], json.dumps(facts["options"])
    )
