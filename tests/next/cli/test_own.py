"""Workflows and lists of one's own, by the command line: lint, cost, diagram, new-workflow, specialists."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from council.next.checks.lint import NEEDED
from council.next.config import places
from tests.helpers import Ended, no_traceback, picture
from tests.next.cli.users import User
from tests.next.protocols.held import KIT

TALK = """---
name: {name}
seats: {{members: [architect, engineer]}}
phases: [{{name: positions, reply: {{recommendation: text}}}}]
---
"""
ALL = sorted({path.stem.lower() for path in KIT.glob("*.md")} - {*places.GUIDES})


@pytest.fixture
def user(tmp_path: Path) -> User:
    made = User(tmp_path / "user")
    (made.work / ".git").mkdir()
    return made


def ok(ended: Ended) -> Ended:
    assert ended.code == 0, ended.text
    no_traceback(ended)
    return ended


def refused(ended: Ended, words: str, code: int = 2) -> None:
    assert words in ended.err
    assert (ended.code, ended.out) == (code, "")
    no_traceback(ended)


# ---- lint ----


def test_all_workflows_of_the_kit_are_checked(user: User) -> None:
    ended = ok(user.council("lint"))
    lines = dict(line.split(": ", 1) for line in ended.out.splitlines())
    assert sorted(lines) == ALL
    assert {name for name, said in lines.items() if said == "no problems found"} == {*ALL} - {*NEEDED}
    assert all("which is not installed" in lines[name] for name in NEEDED)
    assert sorted(path.name for path in user.root.iterdir()) == ["work"], "nothing is written"


def test_a_mistake_has_its_line_and_the_code_of_a_usage_error(user: User) -> None:
    user.write(".council/Workflows/weigh.md", TALK.format(name="weigh").replace("reply", "replay"))
    for words in (("lint", "weigh"), ("lint",), ("lint", ".council/Workflows/weigh.md")):
        ended = user.council(*words)
        assert ended.code == 2
        assert 'line 4: phases[0]: unknown key "replay"; did you mean "reply"?\n' in ended.out
    assert "debate: no problems found" in user.council("lint").out


def test_a_note_alone_is_no_mistake(user: User) -> None:
    user.write(".council/Workflows/weigh.md", TALK.format(name="weigh").replace("engineer", "poet"))
    ended = ok(user.council("lint", "weigh"))
    assert ended.out.startswith('weigh: note: line 3: seats: no persona is called "poet"')


def test_lint_as_json(user: User) -> None:
    user.write("mine.md", TALK.format(name="mine").replace("text", "txet"))
    ended = user.council("lint", "--json", "mine.md", "debate")
    assert ended.code == 2
    (problem,) = ended.json["mine.md"]
    assert (problem["line"], problem["is_mistake"]) == (4, True)
    assert '"txet" is not a kind of answer' in problem["text"]
    assert ended.json["debate"] == []


def test_what_is_no_workflow_is_refused(user: User) -> None:
    refused(user.council("lint", "debtae"), 'there is no workflow "debtae"; did you mean "debate"?')
    refused(user.council("lint", "absent.md"), "absent.md: it is missing")
    refused(user.council("lint", "recovery"), 'there is no workflow "recovery"')
    refused(user.council("lint", "--jsn"), "No such option")


def test_a_hostile_project_stops_no_check(user: User) -> None:
    """Odd files of a project are passed over or named, and no escape sequence reaches the terminal."""
    folder = user.work / ".council" / "Workflows"
    folder.mkdir(parents=True)
    os.mkfifo(folder / "pipe.md")
    (folder / "loop.md").symlink_to("loop.md")
    (folder / "out.md").symlink_to("/etc/passwd")
    (folder / "latin.md").write_bytes(b"\xff\xfe")
    (folder / "red\x1b[31m.md").write_text(TALK.format(name="red"))
    (folder / "huge.md").write_bytes(b"x" * 5_000_000)
    (folder / "--help.md").write_text("---\n" + "[" * 50_000)
    ended = user.council("lint")
    assert ended.code == 2
    no_traceback(ended)
    assert "debate: no problems found" in ended.out
    assert "\x1b" not in ended.text
    for name in ("latin", "out", "huge", "--help"):
        assert any(line.startswith(f"{name}: ") for line in ended.out.splitlines()), name


def test_a_project_counts_on_a_machine_and_not_in_ci(user: User) -> None:
    user.write(".council/Workflows/weigh.md", TALK.format(name="weigh"))
    assert "weigh: " in ok(user.council("lint")).out
    assert "weigh: " not in ok(user.council("lint", CI="true")).out
    assert "weigh: " in ok(user.council("lint", "--overlays", CI="true")).out
    assert "weigh: " not in ok(user.council("lint", "--no-overlays")).out


# ---- cost ----


def test_what_a_debate_costs_fits_80_columns(user: User) -> None:
    for name in sorted({*ALL} - {*NEEDED}):
        ended = ok(user.council("cost", name))
        assert max(map(len, ended.out.splitlines())) <= 80, name
        assert ended.out.startswith("phase ")
        assert "Likely: $" in ended.out
        assert "At most: $" in ended.out
    assert not user.home.exists(), "nothing is written"


def test_what_is_added_costs_more(user: User) -> None:
    user.write("spec.md", "word " * 20_000)

    def likely(*words: str) -> float:
        return float(ok(user.council("cost", "--json", *words)).json["likely"]["usd"])

    plain = likely("debate", "Redis or PostgreSQL?")
    assert likely("debate", "--with", "security", "Redis?") > plain
    assert likely("debate", "--file", "spec.md", "Redis?") > 2 * plain
    assert likely("debate", "--only", "architect,engineer", "Redis?") < plain
    assert likely("debate", "--model", "opus", "Redis?") > plain
    assert likely("quick") < plain
    found = ok(user.council("cost", "--json", "board", "-o", "max_rounds=3")).json
    assert found["members"] == ["ceo", "cto", "cfo", "coo"]
    assert [one["phase"] for one in found["phases"]] == ["positions", "challenge", "synthesis"]
    assert found["at_most"]["calls"] == sum(one["at_most"]["calls"] for one in found["phases"])


def test_an_unknown_price_is_called_unknown(user: User) -> None:
    ended = ok(user.council("cost", "--model", "deepseek/deepseek-flash"))
    assert "Likely: unknown." in ended.out
    assert "At most: unknown." in ended.out
    found = ok(user.council("cost", "--json", "--model", "deepseek/deepseek-flash")).json
    assert (found["likely"]["usd"], found["at_most"]["usd"]) == (None, None)
    assert found["likely"]["calls"] == 13


@pytest.mark.parametrize(
    ("words", "why"),
    [
        (("bord",), 'there is no workflow "bord"; did you mean "board"?'),
        (("debate", "--with", "securty"), 'there is no member "securty"; did you mean "security"?'),
        (("debate", "-o", "wrods=1"), 'debate has no option "wrods"; did you mean "words"?'),
        (("debate", "-o", "words"), "-o words: write NAME=VALUE"),
        (("debate", "--gate", "chalenges"), 'debate has no phase "chalenges"'),
        (("debate", "--file", "absent.md"), "absent.md: No such file or directory"),
        (("debate", "--model", "nobody/x"), 'there is no endpoint "nobody"'),
        (("debate", "--rounds", "7"), "--rounds 7"),
    ],
)
def test_what_cannot_be_priced_is_refused(user: User, words: tuple[str, ...], why: str) -> None:
    refused(user.council("cost", *words), why)


# ---- diagram ----


def test_a_workflow_is_drawn(user: User) -> None:
    ended = ok(user.council("diagram", "board"))
    assert ended.out == (Path(__file__).parents[1] / "checks/goldens/board.mmd").read_text("utf-8")
    gated = ok(user.council("diagram", "debate", "--gate", "synthesis")).out
    assert "Approval of synthesis" in gated
    refused(user.council("diagram", "bord"), 'did you mean "board"?')
    refused(user.council("diagram", "debate", "--gate", "x"), 'debate has no phase "x"')


# ---- new-workflow ----


def test_the_starter_has_no_fault_and_the_next_commands_work(user: User) -> None:
    ended = ok(user.council("new-workflow", "mine"))
    assert ended.out.startswith("wrote ~/work/.council/Workflows/mine.md\n")
    assert ok(user.council("lint", "mine")).out == "mine: no problems found\n"
    assert "Likely: $" in ok(user.council("cost", "mine")).out
    assert ok(user.council("diagram", "mine")).out.startswith("flowchart TD\n")
    for command in ("lint", "cost", "diagram"):
        assert f"  council {command} mine\n" in ended.out
    assert '  council run --workflow mine "A question"\n' in ended.out


def test_it_goes_to_the_top_of_the_repository_or_to_the_user(user: User) -> None:
    inner = user.work / "a" / "b"
    inner.mkdir(parents=True)
    assert ok(user.process("new-workflow", "mine", cwd=inner)).code == 0
    assert (user.work / ".council/Workflows/mine.md").is_file()
    ok(user.council("new-workflow", "ours", "--user"))
    assert (user.settings / "Workflows/ours.md").is_file()


@pytest.mark.parametrize("source", sorted({*ALL} - {*NEEDED}))
def test_a_copy_of_each_workflow_of_the_kit_has_no_fault(user: User, source: str) -> None:
    ok(user.council("new-workflow", "mine", "--from", source))
    assert ok(user.council("lint", "mine")).out == "mine: no problems found\n"
    templates = {path.name for path in (user.work / ".council/templates/mine").glob("*")}
    assert bool(templates) == (source in ("confirm", "consensus", "delphi", "perspectives", "planning-2"))


def test_a_copy_uses_its_own_templates(user: User) -> None:
    ok(user.council("new-workflow", "mine", "--from", "consensus"))
    text = (user.work / ".council/templates/mine/propose.md.j2").read_text("utf-8")
    assert '"consensus/' not in text
    (user.work / ".council/templates/mine/_so_far.md.j2").write_text("{{ tpoic }}")
    assert 'there is no fact "tpoic"; did you mean "topic"?' in user.council("lint", "mine").out


def test_no_file_is_ever_overwritten(user: User) -> None:
    ok(user.council("new-workflow", "mine"))
    before = picture(user.root)
    for words in (("mine",), ("mine", "--from", "board"), ("mine", "--user")):
        refused(user.council("new-workflow", *words), 'a workflow "mine" already exists; choose another name')
    user.write(".council/templates/again/positions.md.j2", "own")
    refused(user.council("new-workflow", "again", "--from", "delphi"), "already exists and is never overwritten")
    assert not (user.work / ".council/Workflows/again.md").exists()
    assert before.items() <= picture(user.root).items()


@pytest.mark.parametrize(
    ("name", "why"),
    [
        ("../evil", '"../evil" is not a valid name'),
        ("Mine", '"Mine" is not a valid name'),
        ("a" * 41, "40 at most"),
        ("", "is not a valid name"),
        ("tür", "is not a valid name"),
        ("board", 'a workflow "board" already exists'),
        ("recovery", '"recovery" is taken'),
        ("lint", '"lint" is taken'),
    ],
)
def test_a_name_that_cannot_be_is_refused(user: User, name: str, why: str) -> None:
    refused(user.council("new-workflow", "--", name), why)
    assert not (user.work / ".council").exists()


def test_nothing_is_written_through_a_link_of_the_project(user: User) -> None:
    elsewhere = user.root / "elsewhere"
    elsewhere.mkdir()
    (user.work / ".council").symlink_to(elsewhere)
    refused(user.council("new-workflow", "mine"), "nothing was written: ")
    (user.work / ".council").unlink()
    (user.work / ".council").mkdir()
    (user.work / ".council" / "Workflows").symlink_to(elsewhere)
    refused(user.council("new-workflow", "mine"), "leads out of")
    refused(user.council("specialists", "use", "nothing"), 'no list is called "nothing"')
    assert list(elsewhere.iterdir()) == []


def test_a_place_that_cannot_be_written_is_named(user: User) -> None:
    user.write("../config", "a file in the way")
    refused(user.council("new-workflow", "mine", "--user"), "make it writable, then run this again", code=6)


# ---- specialists ----


def test_the_list_in_force_and_where_it_is_from(user: User) -> None:
    ended = ok(user.council("specialists"))
    assert ended.out.splitlines()[0].endswith("Specialists/conferencing.md")
    assert "  meeting-controller  " in ended.out
    assert "The kit's lists: conferencing*, data-platform, library, web-service" in ended.out
    ok(user.council("specialists", "use", "web-service"))
    shown = ok(user.council("specialists", "list")).out
    assert shown.splitlines()[0] == "~/work/.council/Specialists.md"
    assert ok(user.council("specialists", CI="1")).out.splitlines()[0].endswith("Specialists/conferencing.md")


def test_a_list_is_copied_once(user: User) -> None:
    ok(user.council("specialists", "use", "library", "--user"))
    assert (user.settings / "Specialists.md").is_file()
    refused(user.council("specialists", "use", "library", "--user"), "already exists and is never overwritten")
    refused(user.council("specialists", "use", "libary"), 'no list is called "libary"; did you mean "library"?')
    refused(user.council("specialists", "draft", "library"), "draft takes no area")
    refused(user.council("specialists", "copy"), "'copy' is not one of")


def test_a_draft_is_printed_or_written(user: User) -> None:
    user.write("api/openapi.yaml", "")
    user.write("migrations/0001.sql", "")
    user.write(".github/CODEOWNERS", "billing/ @acme/payments\n* \x1b[31m\n")
    ended = ok(user.council("specialists", "draft"))
    assert "## payments" in ended.out
    assert "## database" in ended.out
    assert "1 line of CODEOWNERS could not be used" in ended.err
    ok(user.council("specialists", "draft", "--to", "draft.md"))
    assert (user.work / "draft.md").read_text("utf-8") == ended.out
    refused(user.council("specialists", "draft", "--to", "draft.md"), "never overwritten")
    refused(user.council("specialists", "draft", "--repo", "absent"), "there is no such folder")
    ok(user.council("specialists", "draft", "--to", ".council/Specialists.md"))
    assert ok(user.council("lint", "consensus")).out == "consensus: no problems found\n"
