"""A person at the table: the form on a real terminal, and the same answers given by hand."""

from __future__ import annotations

import contextlib
import os
import re
from collections.abc import Mapping
from contextlib import contextmanager
from typing import Any
from unittest import mock

import pytest
from hypothesis import given
from hypothesis import strategies as st

from council import text_width
from council.errors import UsageError
from council.prompts import question
from council.record import session
from council.replies import entry, parse
from council.workflow.loader import load
from council.workflow.model import Kind
from tests.fakeapi import FakeApi
from tests.helpers import Table, User, limited, no_traceback, script
from tests.scenes import declared
from tests.terminal import Running, Shell, Terminal

STEERED = """---
name: steered
seats: {members: [architect, engineer], chair: chair}
options: {checkpoint_timeout: none}
phases:
  - name: debate
    rounds: [1, 4]
    steps:
      - {name: argue, sees: [checkpoint, own]}
      - {name: evaluate, seats: chair, reply: {reading: settled | open}}
      - name: checkpoint
        seats: human
        when: {some: {reading: open}}
        reply: {decision: continue | guide | end, guidance: text}
    until: {settled: {some: {reading: settled}}, ended: {some: {decision: end}}}
  - {name: synthesis, seats: chair}
---
"""
TEMPLATE = '{% include "_head.md.j2" %}\nSay it, in round {{ round }}.\n{% include "_tail.md.j2" %}\n'
ASKING = '{% include "_head.md.j2" %}\n# Now: your turn\n\nShall it **go on**?\n{% include "_tail.md.j2" %}\n'
EVIL = "Words \x1b[2J\x1b[3A\x1b]0;owned\x07 and more."
OPEN = "Arguments are diverging on operational complexity.\n\n## Reading\nopen\n"
CHECKPOINT = "01-debate-r01-3-checkpoint/human"
TOPIC = "Shall we?"
MENU = r"\[C\]ontinue  \[G\]uide  \[E\]nd\r\n> "


def words(**changed: str) -> dict[str, str]:
    found = {"02-synthesis/chair": "Keep one database."}
    for round in range(1, 5):
        found |= {f"01-debate-r{round:02}-1-argue/{seat}": f"My case {round}." for seat in ("architect", "engineer")}
        found[f"01-debate-r{round:02}-2-evaluate/chair"] = OPEN
    return {**found, **changed}


@pytest.fixture
def user(tmp_path) -> User:
    user = User(tmp_path, {"ANTHROPIC_API_KEY": "sk-ant-of-the-tests"})
    user.write(".council/Workflows/Steered.md", STEERED)
    for name in ("argue", "evaluate", "synthesis"):
        user.write(f".council/templates/steered/{name}.md.j2", TEMPLATE)
    user.write(".council/templates/steered/checkpoint.md.j2", ASKING)
    return user


@contextmanager
def answering(user: User, changed: Mapping[str, str] = {}, **how: Any):
    """An API that answers for the members."""
    with FakeApi(Table(user, {**words(), **changed}, **how)) as api:
        user.configure(f"endpoints:\n  anthropic: {{base_url: {api.url}}}\nretry: {{budget: 0}}")
        yield


@contextmanager
def run(user: User, *options: str, **how: Any):
    """Such a debate on a terminal."""
    with answering(user, **how), Running(user, *RUN, *options) as console:
        yield console


def body(user: User, turn: str = CHECKPOINT) -> str:
    return (user.session / f"turns/{turn}.md").read_text("utf-8").split("\n---\n", 1)[1]


QUESTION = """Round 1 complete ═══

Chair: Arguments are diverging on operational complexity.

- Architect (Serena): My case 1.
- Engineer (Marcus): My case 1.

Your turn

Shall it go on?

Enter: continue

[C]ontinue  [G]uide  [E]nd
>"""
RUN = ("run", "-w", "steered", TOPIC)
GUIDANCE = r"Your guidance \(an empty line ends it; Enter for none\): "


# ---- the form on a terminal ----


def test_a_person_steers_by_letter_word_and_number(user):
    with run(user) as console:
        asked = console.until(MENU)
        assert "═══ Round 1 complete ═══" in asked
        screen = Terminal(80)
        screen.write(asked)
        assert screen.text[screen.text.index("Round 1 complete") :] == QUESTION
        assert not re.search("<said|Human|exactly one word", asked)
        console.type("g\n")
        console.until(GUIDANCE)
        console.type("Think of our experience with PostgreSQL.\n")
        console.until(r"\.\.\. ")
        console.type("\n")
        assert "═══ Round 2 complete ═══" in console.until(MENU)
        console.type("Continue\n")
        assert "guidance" not in console.until(MENU), "who goes on has nothing to add"
        console.type("3\n")
        assert "ended (1 of 1 say decision end)" in text_width.STYLE.sub("", console.end()[1])
    assert body(user) == "## Decision\nguide\n\n## Guidance\nThink of our experience with PostgreSQL.\n"
    assert body(user, CHECKPOINT.replace("r01", "r02")) == "## Decision\ncontinue\n\n## Guidance\nnone\n"
    assert not list(user.session.glob("turns/*/*.2.md")), "nobody is asked once more"
    brief = (user.session / "briefs/01-debate-r02-1-argue/engineer.md").read_text("utf-8")
    assert "Think of our experience with PostgreSQL." in brief
    assert "exactly one word" in (user.session / f"briefs/{CHECKPOINT}.md").read_text("utf-8"), (
        "the brief is kept whole"
    )
    assert user.council("verify").code == 0


def test_a_wrong_entry_is_asked_again_at_once(user):
    with run(user) as console:
        console.until(MENU)
        for wrong in ("x", "0", "4", "continue or end", "\x1b[D"):
            console.type(f"{wrong}\n")
            assert "continue, guide or end.\r\n" in console.until(MENU)
        console.type("👍\n")
        assert "an answer is required: continue, guide or end." in console.until(MENU)
        console.type("e\n")
        console.until("archive:")
    assert body(user).startswith("## Decision\nend\n")


def test_what_is_pasted_stays_whole(user):
    pasted = "Erstens: Größe zählt.\n\n  日本語 🚀\n## Decision\nDecision: end\n> quoted\n.5 is half\n"
    with run(user) as console:
        console.until(MENU)
        console.type("g\n")
        console.until(GUIDANCE)
        console.type(f"{pasted}\n")
        console.until(MENU)
        console.type("e\n")
        console.until("archive:")
    kept = "Erstens: Größe zählt.\n\n  日本語 🚀\n\\## Decision\nDecision\\: end\n\\> quoted\n.5 is half"
    assert body(user) == f"## Decision\nguide\n\n## Guidance\n{kept}\n"
    declared = load(STEERED, "s.md").phases[0].steps[2].reply
    assert parse.read(declared, body(user)).found == {"decision": "guide", "guidance": kept}


def test_a_line_that_the_terminal_cuts_is_asked_for_again(user):
    with run(user) as console:
        console.until(MENU)
        console.type("g\n")
        console.until(GUIDANCE)
        console.type("x" * 5000)
        console.until("x{100}")
        console.type("\n\n")
        assert "the terminal cut it" in console.until(GUIDANCE)
        console.type("Shorter.\n\n")
        console.until(MENU)
        console.type("e\n")
        console.until("archive:")
    assert body(user).endswith("\nShorter.\n")


def test_keys_typed_while_models_speak_are_no_answer(user):
    opened: list[bool] = []
    with run(user, once=lambda: opened) as console:
        console.until("[⠋⠙⠹⠸⠼⠴⠦⠧⠇⠏]")
        console.type("e\n")
        opened.append(True)
        console.until(MENU)
        console.type("c\n")
        console.until(MENU)
        console.type("e\n")
        console.until("archive:")
    assert body(user).startswith("## Decision\ncontinue\n")


@pytest.mark.parametrize(
    ("key", "code", "told"), [("\x04", 8, "the input ended before"), ("\x03", 130, "stopped by SIGINT")]
)
def test_a_person_who_leaves_is_asked_again_later(key, code, told, user):
    with answering(user, {"01-debate-r01-2-evaluate/chair": f"{EVIL} {OPEN}"}):
        with Running(user, *RUN, columns=40) as console:
            console.until(MENU)
            console.type("g\n")
            console.until("Enter for none\\): ")
            console.type(f"{key}")
            ended, text = console.end()
        assert ended == code
        assert told in text
        assert "Traceback" not in text
        assert not (user.session / f"turns/{CHECKPOINT}.md").exists()
        assert user.council("status").out.split()[1] == "waiting"
        with Running(user, "recover", columns=40) as console:
            asked = console.until(MENU)
            console.type("e\n")
            console.until("archive:")
        assert "Chair: Words and more. Arguments are" in " ".join(asked.split()), "a new terminal does not show it yet"
        assert "owned" not in asked
        rows = asked[asked.index("═══") :].split("\r\n")
        assert max(map(len, rows)) < 40
    assert body(user).startswith("## Decision\nend\n")


def test_put_aside_and_back_a_person_is_asked_once_more(user):
    with answering(user), Shell(user) as console:
        console.type("./council run -w steered 'Shall we?'\n")
        console.until(MENU)
        console.type("g\n")
        console.until(GUIDANCE)
        console.type("lost ke\x1a")
        console.until("ready> ")
        assert console.echoes
        console.type("fg\n")
        console.until(GUIDANCE)
        console.type("Think.\n\n")
        console.until(MENU)
        console.type("e\n")
        console.until("archive:")
    assert body(user).endswith("\nThink.\n")


def test_a_person_who_stays_silent_is_waited_for(user):
    with run(user, "-o", "checkpoint_timeout=0.2") as console:
        code, text = console.end()
    assert code == 8
    told = f"nobody answered {CHECKPOINT} within 0.2 s; run council recover to be asked again"
    assert told in " ".join(text.split())
    assert user.council("status").out.split()[1] == "waiting"


def test_nobody_is_asked_with_no_input(user):
    with run(user, "--no-input") as console:
        assert f"waiting for {CHECKPOINT}" in console.end()[1]


ASKED = """---
name: asked
seats: {members: [architect, engineer]}
phases:
  - name: positions
    sees: nothing
    seats: [members, human]
    reply: {risks: list, must: list+, sure: 0-100, note: text}
---
"""


def test_who_speaks_beside_a_person_is_heard_when_the_person_is_done(user):
    user.write(".council/Workflows/Asked.md", ASKED)
    user.write(".council/templates/asked/positions.md.j2", TEMPLATE)
    said = "A case of mine.\n\n## Risks\nnone\n\n## Must\n- be\n\n## Sure\n70\n\n## Note\nnone\n"
    changed = {f"01-positions/{seat}": said for seat in ("architect", "engineer")}
    with answering(user, changed), Running(user, "run", "-w", "asked", TOPIC) as console:
        console.until("═══ Round 1: Positions ═══")
        console.until(r"Your risks, one item per line \(an empty line ends it; Enter for none\): ")
        console.type("- It burns.\n2. It floods.\n\n")
        console.until("Your must, one item per line \\(an empty line ends it\\): ")
        console.type("none\n\n")
        assert '"none" is not a valid answer: write items, one per line.' in console.until("ends it\\): ")
        console.type("It lasts.\n\n")
        console.until("Sure \\(0-100\\): ")
        for wrong in ("sure", "101", ""):
            console.type(f"{wrong}\n")
            assert "a number from 0 to 100." in console.until("Sure \\(0-100\\): ")
        console.type("75 %\n")
        console.until("Your note .*: ")
        with limited():
            while len(list(user.session.glob("turns/*/*.md"))) < 2:
                pass
        assert "A case of mine." not in console.raw, "a blind round stays blind, and the line that is typed whole"
        console.type("\n")
        assert console.until("archive:").count("A case of mine.") == 2
    kept = "## Risks\n- It burns.\n- It floods.\n\n## Must\n- It lasts.\n\n## Sure\n75 %\n\n## Note\nnone\n"
    assert body(user, "01-positions/human") == kept


def test_a_person_may_speak_for_everybody(user):
    with run(user, "--speaker", "human") as console:
        for seat in ("Architect \\(Serena\\)", "Engineer \\(Marcus\\)"):
            asked = console.until("only a full stop.\r\n")
            assert re.search(f"═══ Round 1, Debate: {seat} ═══", asked)
            assert "Say it, in round 1." in asked
            console.type("A case.\n\nAnd more.\n.\n")
        assert "═══ Round 1, Debate: Chair ═══" in console.until(r"\[S\]ettled  \[O\]pen\r\n> ")
        console.type("s\n")
        console.until("only a full stop.\r\n")
        console.type("All is said.\n.\n")
        console.until("archive:")
    assert body(user, "01-debate-r01-1-argue/engineer") == "A case.\n\nAnd more."
    assert body(user, "01-debate-r01-2-evaluate/chair") == "## Reading\nsettled\n"


def test_a_terminal_without_unicode(user):
    plain = {"LANG": "C", "LC_ALL": "C", "PYTHONCOERCECLOCALE": "0", "PYTHONUTF8": "0"}
    with answering(user), Running(user, *RUN, **plain) as console:
        assert "=== Round 1 complete ===" in console.until(MENU)
        console.type("e\n")
        console.until("archive:")


# ---- the same by hand ----


@pytest.fixture
def waiting(user) -> User:
    """A session that waits for a person, and a script with the words of everybody else."""
    script(user, {turn: said for turn, said in words().items() if not turn.endswith("human")})
    ended = user.council("run", "-w", "steered", "Shall we?", *REPLAY)
    no_traceback(ended)
    assert ended.code == 8
    assert f"waiting for {CHECKPOINT}: script.yaml has no person's reply for it" in ended.err
    assert ended.last.endswith(f"go on with: council next {user.session.name}")
    assert user.council("status").out.endswith(f": waiting (for {CHECKPOINT})\n")
    return user


REPLAY = ("--speaker", "replay", "--from", "script.yaml")


def test_next_says_what_a_person_is_asked_and_how_it_is_recorded(waiting):
    told = waiting.council("next").out
    command = f'council record {waiting.session.name} {CHECKPOINT} --answer "decision=…" --answer "guidance=…"'
    assert f'  decision: continue, guide or end\n  guidance: your own words, or "none"\n  {command}\n' in told
    (row,) = waiting.council("next", "--json").json["due"]
    assert row["record"] == command
    assert list(row["answers"]) == ["decision", "guidance"]


def test_answers_by_name_are_the_reply(waiting):
    given = ("--answer", "decision=guide", "--answer", "Guidance=Think: a = b.")
    ended = waiting.council("record", "last", CHECKPOINT, *given)
    assert ended.code == 0, ended.err
    assert body(waiting) == "## Decision\nguide\n\n## Guidance\nThink: a = b.\n"
    assert 'speaker: "human"' in (waiting.session / f"turns/{CHECKPOINT}.md").read_text("utf-8")
    assert waiting.council("recover", *REPLAY).code == 8, "the next round asks again"
    last = CHECKPOINT.replace("r01", "r02")
    assert waiting.council("record", "last", last, "--answer", "decision=end").code == 0
    assert waiting.council("recover", *REPLAY).code == 0
    assert waiting.council("verify").code == 0


@pytest.mark.parametrize(
    ("given", "why"),
    [
        (["decision=perhaps"], 'decision: "perhaps" is not a valid answer: write continue, guide or end'),
        (["decision="], "decision: an answer is required: continue, guide or end"),
        (["guidance=Think."], "decision: an answer is required: continue, guide or end"),
        (["decision=guide", "decision=end"], "decision is given twice"),
        (["decision"], "write NAME=VALUE"),
        (["decision=end", "advice=x"], 'this turn does not ask for an answer "advice"'),
        (["decison=end"], 'did you mean "decision"?'),
    ],
)
def test_an_answer_that_cannot_be_read_is_refused(given, why, waiting):
    before = sorted(waiting.session.rglob("turns/*/*"))
    ended = waiting.council("record", "last", CHECKPOINT, *(part for one in given for part in ("--answer", one)))
    no_traceback(ended)
    assert ended.code == 2
    assert why in ended.err
    assert sorted(waiting.session.rglob("turns/*/*")) == before


def test_answers_by_name_are_for_a_reply_that_has_some(waiting):
    assert waiting.council("start", "-w", "steered", "Shall we?").code == 0
    ended = waiting.council("record", "last", "01-debate-r01-1-argue/engineer", "--answer", "x=y")
    assert ended.code == 2
    assert "asks for no named answers" in ended.err
    ended = waiting.council("record", "last", CHECKPOINT, "--answer", "decision=end", "--file", "x.md")
    assert ended.code == 2
    assert "leave out --file" in ended.err


def test_a_script_with_the_persons_words_speaks_them(user):
    given = {CHECKPOINT: "## Decision\nend\n\n## Guidance\nnone\n"}
    script(user, words(**given))
    assert user.council("run", "-w", "steered", "Shall we?", *REPLAY).code == 0
    assert body(user) == given[CHECKPOINT]


# ---- what a person reads ----

LONG = "It was not settled, and whoever reads this has to say what is to hold from here on, and in so many words:"
TOLD = f"""{{% include "_head.md.j2" %}}
# Now: your **turn**

{LONG}
a line that goes on.
- An item.

One answer, in this form:

{{{{ format }}}}

- Decision: what it means.
"""


def shown(user: User):
    with mock.patch.dict(os.environ, user.environment), contextlib.chdir(user.work):
        found = session.open_(user.session)
        found.read_turns()
        (due,) = found.plan().due
        return question.build(found, due)


def test_a_person_reads_the_task_without_what_is_for_models(user):
    user.write(".council/templates/steered/checkpoint.md.j2", TOLD)
    script(user, words())
    assert user.council("run", "-w", "steered", "Shall we?", *REPLAY).code == 8
    read = shown(user)
    assert read.title == "Round 1 complete"
    assert read.task == f"Your turn\n\n{LONG} a line that goes on.\n- An item."
    assert [field.about for field in read.fields] == ["what it means.", ""]
    assert read.tension == "Chair: Arguments are diverging on operational complexity."


def test_a_person_who_answers_in_words_is_told_so(user):
    free = STEERED.replace("reply: {decision: continue | guide | end, guidance: text}", "")
    user.write(".council/Workflows/Steered.md", free.replace(", ended: {some: {decision: end}}", ""))
    script(user, words())
    assert user.council("run", "-w", "steered", "Shall we?", *REPLAY).code == 8
    assert shown(user).task.startswith("Your turn\n\nShall it go on?")
    told = user.council("next").out
    assert f"  council record {user.session.name} {CHECKPOINT} --file answer.md\n" in told
    ended = user.council("record", "last", CHECKPOINT, "--answer", "decision=end")
    assert "asks for no named answers" in ended.err


VOTED = """---
name: voted
seats: {members: [engineer, writer, designer]}
phases:
  - {name: choice, reply: {pick: a | b}, until: {winner: {vote: {field: pick, method: majority}}}}
  - {name: approval, seats: human, when: {outcome: {choice: winner}}, reply: {approve: yes | no}}
  - {name: synthesis, seats: writer}
---
# Prompts
## choice
Choose.
## approval
Shall we do it?
## synthesis
Sum it up.
"""


def test_a_person_who_is_to_approve_reads_what_won(user):
    user.write(".council/Workflows/Voted.md", VOTED)
    script(user, {f"01-choice/{seat}": f"So.\n\n## Pick\n{pick}\n" for seat, pick in zip(SEATS, "aab", strict=True)})
    assert user.council("run", "-w", "voted", "Which?", *REPLAY).code == 8
    read = shown(user)
    assert read.tension == "Choice ended (winner): a with 2 of 3."
    assert (read.kind, read.task) == ("approval", "Approval\n\nShall we do it?")
    assert read.recommended is None, "nobody approves by pressing Enter"


SEATS = ("engineer", "writer", "designer")


# ---- what an entry means ----

KINDS = {
    "decision": "continue | guide | end",
    "guidance": "text",
    "risks": "list",
    "must": "list+",
    "sure": "0-100",
    "grant": "integer",
    "patch": "code",
}


ALL = declared(**KINDS)
GOOD = {
    "decision": "c",
    "guidance": "",
    "risks": "",
    "must": "- one\n- two",
    "sure": "7",
    "grant": "2",
    "patch": "x = 1",
}


def test_all_kinds_are_read_back():
    body = entry.build_reply(ALL, GOOD.items(), "")
    assert parse.read(ALL, body).found == {
        "decision": "continue", "guidance": "none", "risks": (), "must": ("one", "two"), "sure": 7, "grant": 2,
        "patch": "x = 1",
    }  # fmt: skip


LINES = [
    "",
    "## Guidance",
    "### Risks: none",
    "**Must:** x",
    "- Must: y",
    "Sure: 3",
    "> q",
    "```",
    "~~~",
    "1. **Decision** no",
    "#!",
    "__Grant__",
    "_Sure_: 2",
    "none",
    " - deep",
    "word",
]


@given(
    st.lists(st.sampled_from(LINES) | st.text(max_size=12), max_size=6), st.sampled_from(["guidance", "risks", "patch"])
)
def test_no_words_of_a_person_become_another_answer(lines, name):
    """Whatever is typed under one answer, the others are read as they were given; or it is refused."""
    given = {**GOOD, name: "\n".join(lines)}
    try:
        body = entry.build_reply(ALL, given.items(), "")
    except UsageError:
        assert name == "patch" or not any(map(str.isalnum, given[name]))
        return
    read = parse.read(ALL, body)
    assert not read.problems
    plain = parse.read(ALL, entry.build_reply(ALL, GOOD.items(), "")).found
    assert {key: value for key, value in read.found.items() if key != name} == {
        key: value for key, value in plain.items() if key != name
    }
    assert read.prose == ""


def test_the_marks_of_a_brief_are_refused_in_an_answer():
    brief = '<said by="Chair" key="0123456789abcdef">\nWords.\n</said by="Chair" key="0123456789abcdef">'
    with pytest.raises(UsageError, match="marks copied from the brief"):
        entry.build_reply(declared(guidance="text"), [("guidance", brief)], brief)


@pytest.mark.parametrize(
    ("options", "menu"),
    [
        ("continue | guide | end", "[C]ontinue  [G]uide  [E]nd"),
        ("continue | cancel", "[Co]ntinue  [Ca]ncel"),
        ("go | go on | stop", "[Go]  [Go o]n  [S]top"),
        ("new ground | none", "[Ne]w ground  [No]ne"),
        ("1 | 2", "[1]  [2]"),
    ],
)
def test_the_shortest_letters_that_tell_options_apart(options, menu):
    ((_, kind),) = declared(x=options)
    assert entry.format_menu(kind) == menu
    for option, letters in entry.find_shortcuts(kind.options).items():
        assert entry.match_option(kind, letters.upper()) == option
        assert entry.match_option(kind, option) == option


@pytest.mark.parametrize(
    ("typed", "means"), [("c", ""), ("can", "cancel"), ("2", "cancel"), ("3", ""), ("", ""), ("-", "")]
)
def test_what_could_be_two_options_is_none(typed, means):
    ((_, kind),) = declared(x="continue | cancel")
    assert entry.match_option(kind, typed) == means


@pytest.mark.parametrize(
    ("kinds", "entries", "asked"),
    [
        ({"decision": "continue | guide | end", "guidance": "text"}, {"decision": "end"}, False),
        ({"decision": "continue | guide | end", "guidance": "text"}, {"decision": "guide"}, True),
        ({"decision": "continue | guide | end", "guidance": "list+"}, {"decision": "end"}, True),
        ({"decision": "adopt | continue", "reason": "text"}, {"decision": "adopt"}, True),
        ({"ready": "yes | no", "notes": "text"}, {"ready": "yes"}, True),
    ],
)
def test_an_answer_that_belongs_to_an_option_is_asked_with_it_only(kinds, entries, asked):
    found = declared(**kinds)
    name, kind = found[-1]
    assert entry.applies(name, kind, found, entries) is asked


def test_a_choice_is_named_where_it_does_not_speak_for_itself():
    def asked(**kinds: str) -> str:
        found = declared(**kinds)
        return entry.format_question(*found[0], found)

    assert asked(decision="continue | guide | end", guidance="text") == "[C]ontinue  [G]uide  [E]nd\n> "
    assert asked(create_workflow="yes | no") == "Create workflow: [Y]es  [N]o\n> "
    assert asked(reading="up | down", other="a | b") == "Reading: [U]p  [D]own\n> "


def test_a_list_may_be_given_item_by_item():
    declared = (("stance", Kind("choice", options=("agree", "disagree"))), ("blocking", Kind("list")))
    made = entry.build_reply(declared, [("blocking", "the restore"), ("Stance", "agree"), ("blocking", "the cost")], "")
    assert parse.read(declared, made).found == {"stance": "agree", "blocking": ("the restore", "the cost")}
    with pytest.raises(UsageError, match="stance is given twice"):
        entry.build_reply(declared, [("stance", "agree"), ("stance", "agree")], "")
