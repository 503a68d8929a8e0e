"""A protocol by a stranger: the starter runs as it is written, and one file with its prompts in it is enough."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest

from council.config import overlays
from council.config.overlays import GUIDES
from council.engine.facts import Facts, describe_facts
from council.errors import UsageError
from council.prompts.brief import prompt_context
from council.record import session
from council.workflow import vocabulary
from council.workflow.loader import load
from tests.fakeapi import FakeApi
from tests.helpers import AGREES, Ended, Table, User, agreed, no_traceback, picture, script, summary

HERE = Path(__file__).parent
PREMORTEM = HERE / "fixtures" / "premortem.md"
GUIDE = HERE.parent / "docs" / "workflows.md"
STARTER = HERE.parent / "council" / "cli" / "starter.md"
MEMBERS = ("architect", "engineer", "researcher")


@pytest.fixture
def user(tmp_path: Path) -> User:
    return User(tmp_path)


def ok(ended: Ended) -> Ended:
    assert ended.code == 0, ended.text
    no_traceback(ended)
    return ended


def replay(user: User, words: dict[str, str], *command: str | Path) -> Ended:
    return user.council("run", *command, "--speaker", "replay", "--from", script(user, words), "Shall we move?")


def brief(user: User, turn: str) -> str:
    return (user.session / "briefs" / f"{turn}.md").read_text("utf-8")


# What is written to begin with


@pytest.fixture
def mine(user: User) -> User:
    ended = ok(user.council("new-workflow", "mine"))
    assert ended.out.startswith("wrote .council/Workflows/mine.md\n")
    return user


def test_the_starter_is_without_fault_and_the_next_commands_work(mine: User) -> None:
    told = ok(mine.council("new-workflow", "other")).out
    commands = re.findall(r"^  council (lint|cost|diagram) other(?: |$)", told, re.M)
    assert commands == ["lint", "cost", "diagram"]
    assert ok(mine.council("lint", "mine")).out == "mine: no problems found\n"
    assert "calls" in ok(mine.council("cost", "mine")).out
    assert ok(mine.council("diagram", "mine")).out.startswith("flowchart TD\n")
    guide = Path(told.rpartition(" ")[2].strip()).expanduser()
    assert (guide.is_file(), guide.name) == (True, "workflows.md")


def test_every_key_of_the_starter_has_its_remark() -> None:
    program = STARTER.read_text("utf-8").split("---\n")[1]
    keys = set(re.findall(r"^[ -]*([a-z]+):", program, re.M)) & {
        *vocabulary.WORKFLOW_KEYS, *vocabulary.PHASE_KEYS, *vocabulary.STEP_KEYS
    }  # fmt: skip
    assert {"seats", "options", "phases", "rounds", "steps", "until", "when", "order", "sees", "reply", "tier"} <= keys
    for key in keys - {"description"}:
        assert re.search(rf"^[ -]*{key}:.*\s# \w", program, re.M), key
    assert all(len(line) <= 120 for line in STARTER.read_text("utf-8").splitlines())


@pytest.mark.parametrize("doubtful", [False, True])
def test_the_starter_runs_as_it_is_written(mine: User, doubtful: bool) -> None:
    words = {f"01-positions/{seat}": f"The {seat} would stay." for seat in MEMBERS}
    words |= {f"02-discussion-r01-1-challenges/{seat}": f"The {seat} agrees.\n\n{AGREES}" for seat in MEMBERS}
    doubts = {
        f"02-discussion-r01-2-doubts/{seat}": f"## Worst\nThe {seat} is woken.\n\n## Sure\n70\n" for seat in MEMBERS
    }
    words |= (doubts if doubtful else {}) | {"03-synthesis-r01/chair": summary()}
    ended = ok(replay(mine, words, "-w", "mine", *(("-o", "cautious") if doubtful else ())))
    assert "Keep one database." in ended.out
    spoken = {str(path.relative_to(mine.session / "turns"))[:-3] for path in mine.session.glob("turns/*/*.md")}
    assert spoken == set(words)
    if doubtful:
        text = brief(mine, "02-discussion-r01-2-doubts/engineer")
        assert "# Now: doubts\n\nSomebody disagrees, or we were asked to be cautious." in text
        assert "\nIn 50-150 words.\n" in text
        assert "# Prompts" not in text


def test_no_file_is_ever_overwritten(mine: User) -> None:
    before = picture(mine.work)
    for words in (("mine",), ("mine", "--from", "board"), ("mine", "--user")):
        ended = mine.council("new-workflow", *words)
        assert ended.code == 2
        assert 'a workflow "mine" already exists (.council/Workflows/mine.md); choose another name' in ended.err
    mine.write(".council/templates/again/findings.md.j2", "own")
    ended = mine.council("new-workflow", "again", "--from", "patchlist")
    assert ended.code == 2
    assert ".council/templates/again/findings.md.j2 already exists" in ended.err
    assert {**picture(mine.work), **before} == picture(mine.work)
    assert not (mine.work / ".council/Workflows/again.md").exists()


@pytest.mark.parametrize(
    ("name", "why"),
    [
        ("../evil", '"../evil" is not a valid name'), ("Mine", '"Mine" is not a valid name'),
        ("a" * 41, "40 at most"), ("", "not a valid name"),
        ("board", 'a workflow "board" already exists'), ("recovery", '"recovery" is taken'),
    ],
)  # fmt: skip
def test_names_that_are_refused(user: User, name: str, why: str) -> None:
    ended = user.council("new-workflow", name)
    assert ended.code == 2
    assert why in ended.err
    assert list(user.work.rglob("*")) == []


def test_where_it_is_written(user: User) -> None:
    ok(user.council("new-workflow", "everywhere", "--user"))
    assert (user.settings / "Workflows" / "everywhere.md").is_file()
    assert list(user.work.rglob("*")) == []
    (user.work / ".council").mkdir()
    (user.work / ".git").mkdir()
    below = user.work / "src" / "deep"
    below.mkdir(parents=True)
    assert user.process("new-workflow", "here", cwd=below).code == 0
    assert (user.work / ".council" / "Workflows" / "here.md").is_file()
    assert ok(user.council("lint", "here", "everywhere")).out.count("no problems found") == 2


def test_a_folder_that_leads_out_is_refused(user: User, tmp_path: Path) -> None:
    (tmp_path / "elsewhere").mkdir()
    (user.work / ".council").mkdir()
    (user.work / ".council" / "Workflows").symlink_to(tmp_path / "elsewhere")
    ended = user.council("new-workflow", "mine")
    assert ended.code == 2
    assert "the path escapes" in ended.err
    assert list((tmp_path / "elsewhere").iterdir()) == []


def test_a_folder_that_cannot_be_made(user: User) -> None:
    user.write(".council", "a file")
    ended = user.council("new-workflow", "mine")
    assert ended.code == 6
    no_traceback(ended)
    assert picture(user.work).keys() == {".council"}


KIT = sorted(set(overlays.workflows()) - set(GUIDES))


@pytest.mark.parametrize("name", KIT)
def test_a_copy_of_any_workflow_is_without_fault(user: User, name: str) -> None:
    ok(user.council("new-workflow", "mine", "--from", name))
    assert "mine: no problems found\n" in ok(user.council("lint", "mine")).out
    copy = load((user.work / ".council/Workflows/mine.md").read_text("utf-8"), "mine.md")
    source = load(*overlays.workflow_text(name))
    assert (copy.name, copy.phases, copy.groups) == ("mine", source.phases, source.groups)


def test_a_copys_templates_are_its_own(user: User) -> None:
    ok(user.council("new-workflow", "mine", "--from", "patchlist"))
    path = user.work / ".council" / "templates" / "mine" / "findings.md.j2"
    assert path.read_bytes() == (HERE.parent / "templates" / "patchlist" / "findings.md.j2").read_bytes()
    path.write_text("Look for spelling only.\n")
    user.write("spec.md", "# Spec\n\nTokens are stored in plain text.\n")
    ok(user.council("start", "-w", "mine", "Review it.", "--file", "spec.md"))
    ok(user.council("next"))
    assert brief(user, "01-findings/architect") == "Look for spelling only.\n"


def test_what_cannot_be_copied_says_so(user: User) -> None:
    assert 'did you mean "board"?' in user.council("new-workflow", "mine", "--from", "baord").err
    user.write("odd.md", "---\n{name: odd, seats: {m: architect}, phases: [{name: positions}]}\n---\n")
    ended = user.council("new-workflow", "mine", "--from", "./odd.md")
    assert (ended.code, "it has no line that starts with `name:`" in ended.err) == (2, True)


# Prompts in the workflow's own text

TINY = """---
name: tiny
seats: {{members: [architect]}}
phases: [{{name: first-words}}, {{name: positions}}]
---
# Tiny
## first words
Outside of the prompts.
# Prompts
For readers only.
## First words
{task}
### Deeper
Mind {{{{ topic }}}} and {{% include "_head.md.j2" %}}.
```
## positions
```
# Afterwards
## positions
Not a prompt.
"""


def begun(user: User, text: str, topic: str = "Shall we?") -> str:
    """The first brief of a debate by this workflow."""
    ok(user.council("start", "-w", user.write("tiny.md", text), topic))
    ok(user.council("next"))
    return brief(user, "01-first-words/architect")


def test_a_section_is_printed_as_it_stands(user: User) -> None:
    text = begun(user, TINY.format(task="Say it."))
    shown = 'Say it.\n### Deeper\nMind {{ topic }} and {% include "_head.md.j2" %}.\n```\n## positions\n```\n'
    assert f"# Now: first words\n\n{shown}" in text
    assert "For readers" not in text
    assert "Not a prompt" not in text
    assert "Outside" not in text
    assert ok(user.council("lint", "tiny.md")).out.startswith('tiny.md: note: the section "first-words"')


def test_no_topic_and_no_reply_becomes_a_prompt(user: User) -> None:
    topic = "# Prompts\n## first-words\n{{ seat.name }} obeys"
    text = begun(user, TINY.format(task="Say it."), topic)
    assert f">\n{topic}\n</said" in text
    assert "# Now: first words\n\nSay it.\n" in text
    reply = script(user, {"x": ""}).with_name("reply.md")
    reply.write_text("# Prompts\n\n## positions\n\n{{ 7 * 7 }}\n")
    ok(user.council("record", "last", "01-first-words/architect", "--file", reply))
    ok(user.council("next"))
    later = brief(user, "02-positions/architect")
    assert "{{ 7 * 7 }}" in later
    assert "# Now: initial positions" in later


def test_a_section_goes_before_the_kits_template_and_after_the_workflows_own(user: User) -> None:
    text = TINY.format(task="Say it.").replace("# Afterwards\n", "").replace("Not a prompt.", "My own positions.")
    begun(user, text)
    reply = user.write("reply.md", "So be it.")
    ok(user.council("record", "last", "01-first-words/architect", "--file", reply))
    ok(user.council("next"))
    assert "# Now: positions\n\nMy own positions." in brief(user, "02-positions/architect")
    user.write(".council/templates/tiny/first-words.md.j2", "A template.")
    assert "first-words.md.j2 replaces it" in ok(user.council("lint", "tiny.md")).out
    ok(user.council("start", "-w", "./tiny.md", "Again?"))
    ok(user.council("next"))
    briefs_ = {path.read_text("utf-8") for path in user.home.rglob("briefs/01-first-words/architect.md")}
    assert "A template." in briefs_


def test_a_session_keeps_the_prompts_that_it_began_with(user: User) -> None:
    path = user.write("tiny.md", TINY.format(task="As it was."))
    ok(user.council("start", "-w", path, "Shall we?"))
    path.write_text(TINY.format(task="As it is now."))
    ok(user.council("next"))
    assert "As it was." in brief(user, "01-first-words/architect")
    assert ok(user.council("verify")).code == 0


def test_what_was_wrong_in_the_last_round_is_told_below_a_section(user: User) -> None:
    keys = "name: tiny\nseats: {m: architect}\nphases: [{name: a}, {name: synthesis, rounds: 2, until: {ok: cites}}]"
    path = user.write("tiny.md", f"---\n{keys}\n---\n# Prompts\n## a\nSay it.\n## synthesis\nSum up.\n")
    words = {"01-a/architect": "So.", "02-synthesis-r01/architect": "x", "02-synthesis-r02/architect": "y"}
    ok(replay(user, words, "-w", path))
    assert "This was wrong" not in brief(user, "02-synthesis-r01/architect")
    assert "Sum up.\n\nThis was wrong in the last one. Put it right:\n\n- " in brief(user, "02-synthesis-r02/architect")


@pytest.mark.parametrize(
    ("body", "tasks"),
    [
        ("## Prompts\n### a\nx\n#### b\ny\n## c\nz", {"a": "x\n#### b\ny"}),
        ("# PROMPTS #\n## A b! ##\nx", {"a-b": "x"}),
        ("# Prompts\n## a\n\n\n", {}),
        ("# Prompts\n### a\nx", {}),
        ("~~~\n# Prompts\n## a\nx\n~~~", {}),
        ("# Prompts\n## a\nx\n# Prompts\n## b\ny", {"a": "x", "b": "y"}),
        ("# My prompts\n## a\nx", {}),
        ("Prompts\n=======\n## a\nx", {}),
        ("# Prompts\n##a\nx\n## b", {}),
    ],
)
def test_which_sections_are_prompts(body: str, tasks: dict[str, str]) -> None:
    keys = "---\nname: t\nseats: {m: a}\nphases: [{name: p}]\n---\n"
    assert load(keys + body, "t.md").tasks == tasks


def test_two_sections_of_one_name_are_refused() -> None:
    keys = "---\nname: t\nseats: {m: a}\nphases: [{name: p}]\n---\n"
    with pytest.raises(UsageError, match=r't\.md: the body has two prompts "a-b"; give the section "a B"'):
        load(f"{keys}# Prompts\n## A b\nx\n## a B\ny", "t.md")


def test_a_long_section_is_in_the_bound(user: User) -> None:
    def most(task: str) -> float:
        path = user.write("tiny.md", TINY.format(task=task))
        (first, *_) = ok(user.council("cost", path, "--json")).json["steps"]
        return float(first["bound"])

    assert most("word " * 4000) > most("word") + 0.005


def test_a_template_may_use_what_the_guide_says_and_nothing_else(user: User) -> None:
    ok(user.council("start", "Shall we?"))
    found = session.open_(user.session)
    facts = Facts(prompt_context(found, found.plan().due[0]))
    guide = GUIDE.read_text("utf-8").partition("These variables are available:")[2].partition("\n\n#")[0]
    told = re.findall(r"^\| `(\w+)` \| ", guide, re.M)
    assert told == [*describe_facts()]
    for name in told:
        json.dumps(facts[name])  # plain data


# A stranger's protocol

AHEAD = {"architect": "a", "engineer": "b", "product": "a", "security": "b"}
BLOCKS = "The restore is tested before a row is moved."


def premortem() -> dict[str, str]:
    """In the first round nobody is ahead; in the second all see it alike. The chair leaves a dissent out at first."""
    words = {f"01-stories/{seat}": f"The {seat} saw it fail.\n\n## Causes\n- no restore\n" for seat in AHEAD}
    words["02-causes/chair"] = "## Clusters\n- a: nobody had tried the restore\n- b: nobody was asked\n"
    for seat, letter in AHEAD.items():
        vote = "So I think.\n\n## Likeliest\n{}\n\n## Sure\n{}\n"
        words[f"03-likelihood-r01/{seat}"] = vote.format(letter, 60)
        words[f"03-likelihood-r02/{seat}"] = vote.format("a", 80)
        blocking = f"- {BLOCKS}" if seat == "engineer" else "none"
        words[f"04-countermeasures/{seat}"] = f"## Measures\n- try the restore\n\n## Blocking\n{blocking}\n"
    written = "## Causes\n- a\n\n## Do now\n- {}\n\n## Watch\nnone\n"
    words["05-synthesis-r01/chair"] = written.format("Try things.")
    words["05-synthesis-r02/chair"] = written.format(f"Engineer (Marcus): {BLOCKS}")
    return words


@pytest.fixture
def stranger(user: User) -> User:
    """An empty folder, an empty home, and one file."""
    user.write("premortem.md", PREMORTEM.read_bytes())
    return user


def test_a_protocol_of_ones_own_is_one_short_file() -> None:
    text = PREMORTEM.read_text("utf-8")
    assert len(text.splitlines()) < 40
    assert "{%" not in text
    readme = (HERE.parent / "README.md").read_text("utf-8")
    assert f"a premortem of {len(text.splitlines())} lines" in readme
    assert text.strip() in (HERE.parent / "docs" / "workflows.md").read_text("utf-8")


def test_it_is_checked_bounded_and_drawn(stranger: User) -> None:
    assert ok(stranger.council("lint", "premortem.md")).out == "premortem.md: no problems found\n"
    assert "14 to 19 calls" in ok(stranger.council("cost", "./premortem.md")).out
    drawn = ok(stranger.council("diagram", "./premortem.md")).out.strip()
    assert drawn in (HERE.parent / "docs" / "workflows.md").read_text("utf-8")


def went_well(user: User, ended: Ended) -> None:
    folders = [path.name for path in sorted((user.session / "turns").iterdir())]
    assert folders == [
        "01-stories", "02-causes", "03-likelihood-r01", "03-likelihood-r02", "04-countermeasures",
        "05-synthesis-r01", "05-synthesis-r02",
    ]  # fmt: skip
    assert f"Engineer (Marcus): {BLOCKS}" in (user.session / "synthesis.md").read_text("utf-8")
    assert BLOCKS in ended.out
    assert "It is a year from now" in brief(user, "01-stories/security")
    assert "saw it fail" not in brief(user, "01-stories/security")
    assert "The security saw it fail." in brief(user, "03-likelihood-r01/security")
    assert "The engineer saw it fail." not in brief(user, "03-likelihood-r01/security")
    assert "The following was not found" not in brief(user, "05-synthesis-r01/chair")
    assert "was not found in your last version. Write the whole of it again, with each of these in it and its " \
        "owner's name:\n\n" \
        f"- Engineer (Marcus): {BLOCKS}" in brief(user, "05-synthesis-r02/chair")  # fmt: skip
    assert ok(user.council("verify")).code == 0


def test_it_runs_from_a_script(stranger: User) -> None:
    went_well(stranger, ok(replay(stranger, premortem(), "-w", "./premortem.md")))


def test_it_runs_from_a_projects_folder_over_the_api(stranger: User) -> None:
    stranger.write(".council/Workflows/premortem.md", PREMORTEM.read_bytes())
    table = Table(stranger, premortem())
    with FakeApi(table) as api:
        key = {"ANTHROPIC_API_KEY": "k", "ANTHROPIC_BASE_URL": api.url}
        ended = ok(stranger.council("run", "--workflow", "premortem", "Shall we move?", **key))
    went_well(stranger, ended)
    assert sorted(table.asked) == sorted(premortem())


def test_a_script_that_lacks_a_second_reply_says_why_it_is_asked_for(stranger: User) -> None:
    script(stranger, agreed() | {"02-challenges/engineer": "I like it."})
    ended = stranger.council("run", "--speaker", "replay", "--from", "script.yaml", "Q?")
    assert ended.code == 4
    why = 'because of what 02-challenges/engineer says: there is no "## Stance"; there is no "## Blocking"'
    assert (
        f"has no turn 02-challenges/engineer.2; it is asked for {why}. Correct 02-challenges/engineer, or add"
        in ended.err
    )
    assert "Replayed: Architect (Serena), Designer (Aditi)" in ended.err
    assert "claude-sonnet" not in ended.err


def test_a_script_that_lacks_a_turn_names_it_and_goes_on_when_it_is_there(stranger: User) -> None:
    words = premortem()
    missing = {turn: text for turn, text in words.items() if turn != "02-causes/chair"}
    ended = replay(stranger, missing, "-w", "./premortem.md")
    assert ended.code != 0
    assert "script.yaml has no turn 02-causes/chair" in ended.err
    went_well(stranger, ok(stranger.council("recover", "--from", script(stranger, words))))
