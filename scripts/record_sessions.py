"""Usage: scripts/record-sessions [NAME…]

Records sessions with the program of this checkout into tests/recorded/NAME-VERSION. tests/test_recorded_sessions.py
opens them. A session that is there already is never recorded again: it stands for the version that wrote it. Without
names, all that are missing are recorded. An interrupted one is also finished, in a copy, so that its words and its
outcome are known.
"""

from __future__ import annotations

import getpass
import json
import shutil
import socket
import sys
import tempfile
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT))

from council import __version__  # noqa: E402
from tests import faults, kills, scripted  # noqa: E402
from tests.fakeapi import Answer, FakeApi  # noqa: E402
from tests.faults import Nursery  # noqa: E402
from tests.helpers import AGREES, Ended, Table, User, agreed, disputed  # noqa: E402
from tests.recordings import RECORDED, Recorded, finish, record, turns_of  # noqa: E402
from tests.worlds import World  # noqa: E402

LEFT_OUT = (".lock", "runner.json", "*.council-temp")
QUESTION = "Should we keep one database, or give each service its own?"
FORGOT = "The {0} would keep one database, and forgets the form of the answer.\n"
FORGETFUL = {
    "02-challenges/designer": FORGOT.format("designer"),
    "02-challenges/designer.2": f"The designer, asked again, sees no reason against it.\n\n{AGREES}",
}
OVERLOADED = [Answer(fault="status", status=529)]
PATIENCE = 60.0

GARDEN = """---
name: garden
description: Two plans for a garden, answers to them, and what a person who knows the soil says.
seats: {members: [gardener, engineer], chair: chair}
options: {words: 20-80}
phases:
  - {name: plans, sees: nothing}
  - {name: answers, reply: {stance: agree | mixed | disagree, season: text}}
  - {name: soil, seats: human, reply: {decision: plant | wait, reason: text}}
  - {name: synthesis, seats: chair, reply: {recommended_path: text}}
---

# Garden

Two members plan a garden, answer each other, and a person who knows the soil decides.
"""
PERSONAS = """## gardener

- **Title:** Gardener
- **Name:** Flora Lindqvist
- **Focus:** soil, seasons, patience

You know what grows where, and you say when it is too early.

## engineer

- **Title:** Engineer
- **Name:** Ines Okafor
- **Focus:** beds, water, tools

You build the beds, and you count the buckets.
"""
TEMPLATES = {
    "plans": "Plan the garden in {{ words }} words.",
    "answers": "Answer the other plan. Say in which season you would begin.",
    "soil": "You know the soil. Shall it be planted now?",
    "synthesis": "Write down what will be planted, and where.",
}
TEMPLATE = '{{% include "_head.md.j2" %}}\n# Now: {0}\n\n{1}\n{{% include "_tail.md.j2" %}}\n'
GARDENED = {
    "01-plans/gardener": "I would begin with beans, because the bed by the wall is warm.",
    "01-plans/engineer": "I would begin with a barrel, because nothing grows without water.",
    "02-answers/gardener": "The barrel first.\n\n## Stance\nagree\n\n## Season\nMay, after the last frost.\n",
    "02-answers/engineer": "Beans it is.\n\n## Stance\nagree\n\n## Season\nApril, in the greenhouse.\n",
    "03-soil/human": "## Decision\nplant\n\n## Reason\nThe soil by the wall has rested for a year.\n",
    "04-synthesis/chair": "A barrel, and then beans by the wall.\n\n## Recommended path\nBuild the barrel in April.\n",
}
LATER = {"Enter the market": "Open a shop", "enter it in spring": "open it in June", "one customer": "one neighbour"}
LATER |= {"a customer": "a neighbour", "Wait a year": "Rent a stall", "Old numbers": "High rent"}
LATER |= {"numbers are old": "rents are high", "enter the market": "open a shop", "competitor": "bakery"}


SPEC = ROOT / "tests" / "specs" / "sessions.md"
PLAIN = '(sessions.md) "Tokens are stored in plain text in the table `sessions`, one row a device."'
LOGGED = (
    """(sessions.md) "Every attempt is logged with the user's name and the password that was typed, for support.\""""
)
REVIEWED = {
    "01-findings/architect": f"""## Findings

**BLOCKING:**
- B1: {PLAIN} Whoever reads a backup is signed in as everybody. → Store a SHA-256 of each token.

  ```suggestion
  Of each token the table `sessions` holds the SHA-256, one row a device.
  ```

**HIGH:**
- H1: (sessions.md:24) A failed migration cannot be undone. → Drop the old column a release later.
""",
    "01-findings/engineer": f"""## Findings

**BLOCKING:**
- B1: {PLAIN} A leaked backup signs everybody in. → Store only a hash of the token.
- B2: {LOGGED} Passwords are written to the log. → Log the name and the outcome.

**MEDIUM/LOW:**
- M1: (sessions.md:20) Signing out everywhere can end half done. → Delete all rows in one statement.
""",
    "02-challenges/architect": "## Rulings\n\n- B2: disagree with concern. Support reads the log.\n"
    "- M1: disagree with evidence. There are two rows.\n\n## Findings\n\nNo findings.\n",
    "02-challenges/engineer": "## Rulings\n\n- B1: agree\n- H1: agree\n\n## Findings\n\nNo findings.\n",
    "03-closing/architect": "## Rulings\n\n- B2: disagree with concern. Support reads it.\n",
    "03-closing/engineer": "## Rulings\n\n- B2: agree. It stays.\n",
    "04-synthesis/chair": "## Summary\n\nTake up B1 and B2 first: both give accounts away.\n",
}


@dataclass(frozen=True)
class Held:
    """A session as it was left: its words, spoken or not, and how it is finished where it was interrupted."""

    user: User
    words: Mapping[str, str] = field(default_factory=dict)
    finish: str = ""


@dataclass(frozen=True)
class Case:
    about: str
    hold: Callable[[Path], Held]


def main(wanted: Sequence[str]) -> None:
    if {"-h", "--help"} & set(wanted):
        print(__doc__)
        return
    if unknown := set(wanted) - CASES.keys():
        raise SystemExit(f"there is no case {', '.join(sorted(unknown))}; there are {', '.join(CASES)}")
    for name in wanted or CASES:
        versioned = f"{name}-{__version__}"
        if (RECORDED / versioned).exists():
            print(f"{versioned}: kept as it is")
        else:
            write(versioned, CASES[name])


def write(name: str, case: Case) -> None:
    """The session, the overlay and what is expected, put in place once all of it is known."""
    with tempfile.TemporaryDirectory() as folder:
        held = case.hold(Path(folder) / "home")
        session = held.user.sessions[-1]
        made = Path(folder) / name
        shutil.copytree(session, made / "session", ignore=shutil.ignore_patterns(*LEFT_OUT))
        if (overlay := held.user.work / ".council").is_dir():
            shutil.copytree(overlay, made / "overlay")
        status = done(held.user.council("status", session.name, "--json")).json
        missing = {turn: said for turn, said in held.words.items() if turn not in turns_of(session)}
        complete = status["state"] == "complete"
        facts = {
            "about": case.about,
            "workflow": json.loads((session / "metadata.json").read_text("utf-8"))["workflow"],
            "state": "complete" if complete else "interrupted",
            "status": "interrupted" if status["state"] == "paused" else status["state"],
            "due": status["due"],
            "outcome": status["outcome"],
            "finish": "" if complete else held.finish,
            "words": {} if complete else missing,
        }
        put(made, facts)
        if not complete:
            facts |= finished(Recorded(made), Path(folder) / "copy")
            put(made, facts)
        refuse_traces(made, (folder, socket.gethostname()))
        shutil.copytree(made, RECORDED / name)
    print(f"{name}: {facts['status']}, {len(turns_of(RECORDED / name / 'session'))} turns, {size(RECORDED / name)} KB")


def finished(recorded: Recorded, root: Path) -> dict[str, Any]:
    """What a copy comes to, and the words that it took."""
    user = recorded.restore(root)
    before = turns_of(user.session)
    finish(user, recorded.case)
    outcome = done(user.council("status", "--json")).json["outcome"]
    return {
        "outcome": outcome,
        "words": {turn: recorded.case["words"][turn] for turn in sorted(turns_of(user.session) - before)},
    }


def put(folder: Path, facts: Mapping[str, Any]) -> None:
    (folder / "case.json").write_text(json.dumps(facts, indent=2, ensure_ascii=False) + "\n", "utf-8")


def refuse_traces(folder: Path, traces: Sequence[str]) -> None:
    """No recorded file may name the machine or the account that it was recorded with."""
    user = getpass.getuser()
    wanted = [*traces, *([user] if user != "root" else [])]
    for path in folder.rglob("*"):
        for trace in wanted if path.is_file() else ():
            if trace.encode() in path.read_bytes():
                raise SystemExit(f"{path.relative_to(folder)} names {trace}")


def size(folder: Path) -> int:
    return sum(path.stat().st_size for path in folder.rglob("*") if path.is_file()) // 1024


def done(ended: Ended, code: int = 0) -> Ended:
    if ended.code != code:
        raise SystemExit(f"exit {ended.code} in place of {code}:\n{ended.text}")
    return ended


# ---- ways to hold a session ----


def somebody(home: Path) -> User:
    return User(home, {"ANTHROPIC_API_KEY": "key"})


def over_api(user: User, table: Table, *command: str | Path, code: int = 0) -> Ended:
    """A command whose seats answer over HTTP, to its end."""
    with FakeApi(table) as api:
        configure(user, api)
        return done(user.council(*command, "--speaker", "anthropic"), code)


def configure(user: User, api: FakeApi) -> None:
    user.configure(f"endpoints: {{anthropic: {{base_url: {api.url}}}}}\nretry: {{budget: 0}}")


def debate(home: Path, words: Mapping[str, str], paused_at: str = "", *command: str) -> Held:
    """Over the API; where a turn is named, its call fails, and the run pauses."""
    user = somebody(home)
    table = Table(user, words, {paused_at: OVERLOADED})
    over_api(user, table, "run", *command, QUESTION, code=PAUSED if paused_at else 0)
    return Held(user, words, "api")


def killed_mid_batch(home: Path) -> Held:
    """Three of four have answered the second round when the process is killed; the fourth call is under way."""
    user, words, silent = somebody(home), disputed(), "02-challenges/researcher"
    others = {turn for turn in words if turn.startswith(("01-", "02-")) and turn != silent}
    table = Table(user, words, {silent: [Answer(words[silent], fault="stall", chunks=2)]})
    with FakeApi(table) as api:
        configure(user, api)
        with user.spawn("run", QUESTION, "--speaker", "anthropic") as process:
            end = time.monotonic() + PATIENCE
            while not (user.sessions and turns_of(user.session) == others and silent in table.asked):
                if time.monotonic() > end or process.poll() is not None:
                    process.kill()
                    raise SystemExit("the run did not come to where it should have been killed")
                time.sleep(0.05)
            time.sleep(0.5)  # what is derived is written beside the calls
            process.kill()
            process.communicate()
    return Held(user, words, "api")


def killed_after(pattern: str) -> Callable[[Path], Held]:
    """A replay of a script whose process is killed after the last call that changes a file of this name."""

    def hold(home: Path) -> Held:
        with Nursery() as nursery:
            world = World(home, nursery)
            kills.killed_at(pattern)(world)
        return Held(User(home), faults.script(), "replay")

    return hold


def by_hand(home: Path) -> Held:
    """Started and recorded by hand: one round, an absent member, and one answer to the second round."""
    user = User(home)
    words = {
        **disputed(("architect", "engineer", "researcher")),
        "02-challenges/researcher": "absent: was not to be had",
    }
    words["03-closing/researcher"] = "absent: was not to be had"
    done(user.council("start", "--only", "architect,engineer,researcher", QUESTION))
    done(user.council("next"))
    for turn in sorted(turn for turn in words if turn.startswith("01-")):
        record(user, turn, words)
    done(user.council("next"))
    for turn in ("02-challenges/engineer", "02-challenges/researcher"):
        record(user, turn, words)
    return Held(user, words, "by hand")


def script_words(debate: scripted.Played) -> dict[str, str]:
    return {turn: one.body if one.absent is None else f"absent: {one.absent}" for turn, one in debate.said.items()}


def protocol(name: str, to_the_end: bool = True) -> Callable[[Path], Held]:
    """A scripted debate of a protocol over the API; a person's turns are recorded where it waits for them."""

    def hold(home: Path) -> Held:
        user, debate = somebody(home), scripted.played(name)
        workflow, words = debate.script.workflow, script_words(debate)
        only = [f"--only={seat.name}" for seat in workflow.members] if name.startswith(("board", "consensus")) else []
        options = [f"-o{key}={str(value).lower()}" for key, value in workflow.options.items()]
        table = Table(user, words)
        with FakeApi(table) as api:
            configure(user, api)
            command = ("run", "-w", workflow.name, *only, *options, "--speaker", "anthropic", QUESTION)
            while (ended := user.council(*command)).code == WAITING and to_the_end:
                for turn in user.council("status", "--json").json["due"]:
                    record(user, turn, words)
                command = ("recover",)
        done(ended, 0 if to_the_end else WAITING)
        return Held(user, words, "api")

    return hold


def quick_words() -> dict[str, str]:
    return script_words(scripted.played("quick/synthesis"))


def replayed(home: Path) -> Held:
    """A quick debate over the API, and then its words once more."""
    user = somebody(home)
    over_api(user, Table(user, quick_words()), "run", "-w", "quick", QUESTION)
    time.sleep(1.1)  # so that the replay, by its id, is the newer one
    done(user.council("run", "--speaker", "replay", "--from", user.session.name))
    return Held(user)


def with_a_quorum(home: Path) -> Held:
    """One member's call fails, another refuses; two are left, as many as the quorum asks for."""
    user, words = somebody(home), quick_words()
    missing = {"01-positions/designer": OVERLOADED, "01-positions/researcher": [Answer("", stop="refusal")]}
    over_api(user, Table(user, words, missing), "run", "-w", "quick", "--quorum", "2", QUESTION)
    return Held(user)


def reviewed(home: Path) -> Held:
    """A specification with planted faults, and a finding that a person dismisses."""
    user = somebody(home)
    user.write("sessions.md", SPEC.read_bytes())
    command = ("review", "sessions.md", "--only", "architect", "--only", "engineer")
    over_api(user, Table(user, REVIEWED), *command, code=FINDINGS)
    done(user.council("review", "--session", "last", "--dismiss", "M1=it is one statement already"), FINDINGS)
    return Held(user)


def planned(number: int) -> dict[str, str]:
    """What a planning board says, which is what the board says that agrees."""
    script = scripted.script("board/agreed")
    debate = scripted.play(replace(script, workflow=scripted.workflow(f"Planning-{number}")))
    return script_words(debate)


def planning(home: Path) -> Held:
    user = somebody(home)
    over_api(user, Table(user, planned(1)), "run", "-w", "planning-1", "Should we enter the market?")
    return Held(user, planned(1))


def planning_after_another(home: Path) -> Held:
    """`--from` the session before it; one call of the first challenges fails."""
    user = planning(home).user
    words = planned(2)
    for before, after in LATER.items():  # what stands in a brief already is no answer
        words = {turn: said.replace(before, after) for turn, said in words.items()}
    time.sleep(1.1)
    table = Table(user, words, {"02-challenge-r01-1-respond/security": OVERLOADED})
    command = ("run", "-w", "planning-2", "--from", user.session.name, "And how do we build it?")
    over_api(user, table, *command, code=PAUSED)
    return Held(user, words, "api")


def overlaid(home: Path) -> Held:
    """A project's own workflow, templates and personas; one of two answers is there, and a person comes after it."""
    user = somebody(home)
    user.write(".council/Workflows/Garden.md", GARDEN)
    user.write(".council/AgentPersonalities.md", PERSONAS)
    for step, text in TEMPLATES.items():
        user.write(f".council/templates/garden/{step}.md.j2", TEMPLATE.format(step, text))
    table = Table(user, GARDENED, {"02-answers/engineer": OVERLOADED})
    over_api(user, table, "run", "-w", "garden", "What shall we plant?", code=PAUSED)
    return Held(user, GARDENED, "api")


PAUSED, FINDINGS, WAITING = 3, 5, 8
CASES = {
    "debate-complete": Case(
        "Three rounds; the designer forgot the form and was asked again; the engineer disagrees to the end.",
        lambda home: debate(home, disputed() | FORGETFUL),
    ),
    "debate-mid-batch": Case("Killed in the second round while the fourth call was under way.", killed_mid_batch),
    "debate-between-rounds": Case(
        "Killed when the first round was over, before a brief of the second was written.",
        killed_after(r"rename .*/turns/01-positions/"),
    ),
    "debate-asked-again": Case(
        "Paused while a member was asked again: its first reply is there, and the brief of the second.",
        lambda home: debate(home, agreed() | FORGETFUL, "02-challenges/designer.2"),
    ),
    "debate-not-archived": Case(
        "Killed when everything was said, before the results were written and archived.",
        killed_after(kills.SPOKEN),
    ),
    "debate-by-hand": Case("Held with start, next and record; in the second round one answer is missing.", by_hand),
    "quick-replayed": Case("The words of another session, spoken again.", replayed),
    "quick-quorum": Case("Two of four members are absent, one by refusal, and the quorum is two.", with_a_quorum),
    "patchlist-complete": Case("A review of one document; a person dismissed a finding.", reviewed),
    "delphi-complete": Case(
        "Two members are persuaded in the first round of challenges.", protocol("delphi/persuaded")
    ),
    "board-guided": Case("The gate escalated, and a person gave guidance.", protocol("board/fundamental")),
    "consensus-granted": Case("A person granted two more rounds; it ends in an ADR.", protocol("consensus/granted")),
    "perspectives-at-the-gate": Case(
        "Waiting at the checkpoint for a person.", protocol("perspectives/guided", to_the_end=False)
    ),
    "planning-1-complete": Case("A planning board whose poll carries.", planning),
    "planning-2-after-another": Case(
        "Begun with what another session came to, and paused in the middle of a batch.", planning_after_another
    ),
    "overlay-mid-batch": Case(
        "With a project's own workflow, templates and personas; a person's turn is to come.", overlaid
    ),
}

if __name__ == "__main__":
    main(sys.argv[1:])
