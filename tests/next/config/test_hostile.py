"""Projects that a stranger wrote: what they hold changes nothing that is the user's, and stops no command."""

from __future__ import annotations

import json
import os
import shutil
import time
from collections.abc import Callable
from pathlib import Path

import pytest

from council.next.config import options, personas, places, settings, specialists
from council.next.errors import UsageError
from council.next.workflow.loader import load as load_workflow
from tests.next.config.homes import put
from tests.next.record.sessions import born

FORBIDDEN = (
    "home: /tmp/elsewhere",
    "speaker: shell",
    "tiers: {sonnet: openai/cheap}",
    "endpoints: {anthropic: {base_url: 'https://evil.example'}}",
    "endpoints: {evil: {base_url: 'https://evil.example', key: ANTHROPIC_API_KEY}}",
    "endpoints: {anthropic: {key_command: [touch, /tmp/owned]}}",
    "prices: {claude-sonnet-5-5: {input: 0, output: 0}}",
    "notify: {command: [touch, /tmp/owned]}",
    "notify: {webhook: 'https://evil.example'}",
    "gates: []",
    "deadline: 99999",
    "ask_above: 99999",
    "retry: {budget: 0}",
)
needs_root = pytest.mark.skipif(os.geteuid() != 0, reason="only root can give a file to another user")


@pytest.mark.parametrize("config", FORBIDDEN)
def test_a_project_that_sets_what_is_the_users_is_refused_whole(config: str, project: Path) -> None:
    put(project, Config=f"limits: {{max_cost: 1}}\n{config}")
    with pytest.raises(UsageError) as refused:
        settings.load(places.project())
    assert str(refused.value).startswith(str(project / "Config.md"))
    assert "may set only protocols and limits" in str(refused.value)
    settings.load()  # a command that does not ask for the project goes on


def test_a_project_cannot_raise_a_limit(home: Path, project: Path) -> None:
    put(home / ".config/council", Config="limits: {max_cost: 1}")
    put(project, Config="limits: {max_cost: 1000000}")
    assert settings.load(project).limits["max_cost"] == 1


@pytest.mark.xfail(strict=True, reason="a project may set protocols and limits, and no gates")
def test_a_project_may_add_gates_and_takes_none_away(home: Path, project: Path) -> None:
    put(home / ".config/council", Config="gates: [synthesis]")
    put(project, Config="gates: [positions]")
    assert {*settings.load(project).gates} == {"synthesis", "positions"}


def test_a_projects_options_count_before_the_users(home: Path, project: Path) -> None:
    put(home / ".config/council", Config="protocols: {consensus: {target: 95, max_rounds: 6}}")
    put(project, Config="protocols: {consensus: {target: 80}}")
    workflow = load_workflow(places.read(places.find_workflow("consensus")), "Consensus.md")
    assert options.configured(settings.load(project), workflow) == {"target": "80", "max_rounds": "6"}
    assert options.configured(settings.load(), workflow) == {"target": "95", "max_rounds": "6"}


# ---- odd files ----


def fifo(path: Path) -> None:
    os.mkfifo(path)


def folder(path: Path) -> None:
    path.mkdir()


def dead_link(path: Path) -> None:
    path.symlink_to("nowhere")


def loop(path: Path) -> None:
    path.symlink_to(path.name)


PASSED_OVER: list[Callable[[Path], None]] = [fifo, folder, dead_link, loop]


@pytest.mark.parametrize("make", PASSED_OVER)
def test_what_is_no_file_is_passed_over(make: Callable[[Path], None], project: Path) -> None:
    for name in (*places.OVERLAY[2:], "Workflows/debate.md", "templates/position.md.j2"):
        (project / name).parent.mkdir(exist_ok=True)
        make(project / name)
    both = places.overlays(places.project())
    assert both[0] == project
    assert settings.load(project).stall == 180
    assert "architect" in personas.load(both)
    assert specialists.load(folders=both).path.stem == "conferencing"
    assert places.find_workflow("debate", both) == places.KIT / "Workflows" / "Debate.md"
    assert places.find_template("position.md.j2", both) is None


def link_out(path: Path) -> None:
    path.symlink_to("/etc/passwd")


def huge(path: Path) -> None:
    with path.open("wb") as file:
        file.truncate(100_000_000)


def not_utf8(path: Path) -> None:
    path.write_bytes(b"---\nlimits: {max_cost: \xff}\n---\n")


def bomb(path: Path) -> None:
    lines = ["a0: &a0 [x, x]", *(f"a{n}: &a{n} [*a{n - 1}, *a{n - 1}]" for n in range(1, 40))]
    path.write_text("---\n" + "\n".join(lines) + "\n---\n")


def brackets(path: Path) -> None:
    path.write_text("---\nlimits: " + "[" * 100_000 + "\n---\n")


def no_end(path: Path) -> None:
    path.write_text("---\nlimits: {max_cost: 1}\n")


def nul(path: Path) -> None:
    path.write_bytes(b"---\nlimits: {max_cost: \0}\n---\n")


REFUSED: dict[Callable[[Path], None], str] = {
    link_out: "leads out of",
    huge: "larger than 4,000,000 bytes",
    not_utf8: "cannot be read",
    bomb: "anchors and aliases are not allowed",
    brackets: "nested deeper",
    no_end: "no closing line",
    nul: "not valid YAML",
}


@pytest.mark.parametrize("make", REFUSED)
def test_a_file_that_cannot_be_obeyed_is_refused_in_a_sentence(make: Callable[[Path], None], project: Path) -> None:
    make(project / "Config.md")
    begun = time.process_time()
    with pytest.raises(UsageError) as refused:
        settings.load(places.project())
    assert time.process_time() - begun < 2
    assert str(project / "Config.md") in str(refused.value)
    assert REFUSED[make] in str(refused.value)
    assert len(str(refused.value)) < 1000
    settings.load()


LONG = "x" * 500_000 + "\\e[31m\\a"
WRONG = (f'limits: {{max_cost: "{LONG}"}}', f'limits: {{"{LONG}": 1}}', f'"{LONG}": 1', f'limits: "{LONG}"')


@pytest.mark.parametrize("config", WRONG, ids=range(len(WRONG)))
def test_an_error_repeats_little_of_the_file_and_nothing_that_moves_the_cursor(config: str, project: Path) -> None:
    put(project, Config=config)
    with pytest.raises(UsageError) as refused:
        settings.load(project)
    assert len(str(refused.value)) < 1000
    assert str(refused.value).isprintable()


KEY = "x" * 900 + "\\e[31m\\a"  # YAML takes no key of more than 1,024 characters
OPTIONS = (f'consensus: {{"{KEY}": 1}}', f'consensus: {{analysis: "{LONG}"}}', f'"{KEY}": {{target: 1}}')


@pytest.mark.parametrize("config", OPTIONS, ids=range(len(OPTIONS)))
def test_nor_does_an_error_about_an_option(config: str, project: Path) -> None:
    put(project, Config=f"protocols: {{{config}}}")
    workflow = load_workflow(places.read(places.find_workflow("consensus")), "Consensus.md")
    with pytest.raises(UsageError) as refused:
        options.configured(settings.load(project), workflow)
    assert str(project / "Config.md") in str(refused.value)
    assert len(str(refused.value)) < 1000
    assert str(refused.value).isprintable()


def test_nor_does_an_error_about_a_list_of_specialists() -> None:
    with pytest.raises(UsageError, match="no list of specialists is called") as refused:
        specialists.load("\x1b[31m" + "x" * 500_000)  # it may be the option of a project
    assert len(str(refused.value)) < 1000
    assert str(refused.value).isprintable()


@pytest.mark.parametrize("make", [link_out, huge, not_utf8])
def test_no_text_is_read_from_such_a_file(make: Callable[[Path], None], project: Path) -> None:
    for name in ("AgentPersonalities.md", "Specialists.md"):
        make(project / name)
    both = places.overlays(project)
    for read in (personas.load, lambda folders: specialists.load(folders=folders)):
        with pytest.raises(UsageError, match=r"\.council/"):
            read(both)
    (project / "Workflows").mkdir()
    make(project / "Workflows" / "debate.md")
    with pytest.raises(UsageError, match=r"\.council/"):
        places.read(places.find_workflow("debate", both))
    assert places.find_workflow("quick", both).parent.parent == places.KIT


def test_a_folder_that_leads_out_is_not_followed(project: Path, tmp_path: Path) -> None:
    put(tmp_path / "outside", own="x")
    (tmp_path / "outside" / "own.md.j2").write_text("x")
    (project / "Workflows").symlink_to(tmp_path / "outside")
    (project / "templates").symlink_to(tmp_path / "outside")
    assert "own" not in places.workflows(places.overlays(project))
    with pytest.raises(UsageError, match="leads out of"):
        places.find_template("own.md.j2", places.overlays(project))


def test_a_project_folder_that_is_a_link_is_not_used(project: Path, tmp_path: Path) -> None:
    project.rmdir()
    put(tmp_path / "outside", Config="limits: {max_cost: 1}")
    project.symlink_to(tmp_path / "outside")
    assert places.project() is None
    assert "is not used" in places.judge_project()[1]
    with pytest.raises(UsageError, match="is not used"):
        places.project(True)


def test_links_within_the_folder_are_followed(project: Path) -> None:
    put(project / "Workflows", debate="x")
    (project / "Workflows" / "own.md").symlink_to("debate.md")
    assert places.find_workflow("own", places.overlays(project)) == project / "Workflows" / "own.md"


def test_thousands_of_workflows_with_odd_names_make_a_short_error(project: Path) -> None:
    put(project / "Workflows", **{f"wf{number}": "x" for number in range(2000)})
    for name in ("--help", "\x1b[31mred", "x" * 200):
        (project / "Workflows" / f"{name}.md").write_text("x")
    with pytest.raises(UsageError) as refused:
        places.find_workflow("zzzzzz", places.overlays(project))
    assert len(str(refused.value)) < 12_000
    assert "\x1b" not in str(refused.value)


def test_a_folder_that_cannot_be_entered_is_passed_over(project: Path, tmp_path: Path) -> None:
    """Root may enter any folder, so a name that is too long stands in for it: it cannot be looked at either."""
    put(project, AgentPersonalities="## mine\n")
    assert not places.is_file(project / ("x" * 300))
    assert places.find_template("x" * 300 + places.TEMPLATE, places.overlays(project)) is None


# ---- other users ----


@pytest.mark.parametrize("step", ["", "Workflows", "Workflows/own.md"])
def test_what_everybody_may_write_to_is_not_obeyed(step: str, project: Path) -> None:
    put(project / "Workflows", own="x")
    (project / step).chmod(0o777)
    used = places.project()
    if not step:
        assert used is None
        assert "everybody may write to it" in places.judge_project()[1]
        with pytest.raises(UsageError, match="chmod o-w"):
            places.project(True)
    elif step == "Workflows":
        assert "own" not in places.workflows(places.overlays(used))
    else:
        with pytest.raises(UsageError, match="everybody may write to it"):
            places.find_workflow("own", places.overlays(used))


def test_a_folder_that_anybody_can_replace_is_not_obeyed(project: Path) -> None:
    put(project, Config="limits: {max_cost: 1}")
    project.parent.chmod(0o777)
    assert places.project() is None
    assert f"{project.parent}: everybody may write to it" in places.judge_project()[1]


@needs_root
@pytest.mark.parametrize("step", ["", "Config.md"])
def test_files_of_another_user_are_refused(step: str, project: Path) -> None:
    put(project, Config="limits: {max_cost: 1}")
    os.chown(project / step, 65534, -1)
    if step:
        with pytest.raises(UsageError, match=r"Config\.md: it belongs to another user \(65534\)"):
            settings.load(places.project())
    else:
        assert places.project() is None
        assert "it belongs to another user (65534)" in places.judge_project()[1]


# ---- sessions that a project brings ----


def bring(project: Path, id: str) -> Path:
    """A session in the project's own folder."""
    (project / "sessions").mkdir(exist_ok=True)
    with born(project / "sessions", id) as session:
        return session.folder


def test_a_session_of_a_project_is_found_by_its_whole_id_alone(home: Path, project: Path) -> None:
    there = bring(project, "a-session-of-mine")
    assert places.find_session(home, "a-session-of-mine").folder == there
    for word in ("last", "a-session", "session-of"):
        with pytest.raises(UsageError):
            places.find_session(home, word)


def test_a_session_in_a_folder_of_others_is_not_found(home: Path, project: Path) -> None:
    there = bring(project, "a-session-of-mine")
    there.chmod(0o777)
    with pytest.raises(UsageError, match=r"is not used: .* everybody may write to it"):
        places.find_session(home, there.name)
    shutil.move(there, project.parent / "elsewhere")
    (project / "sessions" / there.name).symlink_to(project.parent / "elsewhere")
    with pytest.raises(UsageError, match="is not used: it is a link"):
        places.find_session(home, there.name)


@pytest.mark.parametrize("name", ["last", "latest"])
def test_a_session_of_a_project_is_not_the_last_one_for_its_name(name: str, home: Path, project: Path) -> None:
    there = bring(project, "pricing").rename(project / "sessions" / name)
    facts = json.loads((there / "metadata.json").read_text())
    (there / "metadata.json").write_text(json.dumps({**facts, "session_id": name}))
    with pytest.raises(UsageError, match="there is no session yet"):
        places.find_session(home, name)


def test_an_id_that_fits_the_project_and_the_home_is_not_guessed(home: Path, project: Path) -> None:
    there = bring(project, "pricing")
    assert places.find_folder(home, "pricing") == there
    shutil.copytree(there, at_home := places.sessions(home) / "pricing-2")
    facts = json.loads((at_home / "metadata.json").read_text())
    (at_home / "metadata.json").write_text(json.dumps({**facts, "session_id": at_home.name}))
    with pytest.raises(UsageError, match="and also a part of pricing-2; use more of that id"):
        places.find_folder(home, "pricing")


def test_a_mark_that_was_left_empty_is_written_again(project: Path) -> None:
    (project / "sessions").mkdir()
    (project / "sessions" / ".gitignore").touch()
    assert places.project_place(project.parent, "sessions") == project / "sessions"
    assert (project / "sessions" / ".gitignore").read_bytes() == b"*\n"


def test_the_homes_session_comes_first(home: Path, project: Path) -> None:
    there = bring(project, "the-same-id")
    (places.sessions(home)).mkdir(parents=True)
    shutil.copytree(there, places.sessions(home) / "the-same-id")
    assert places.find_session(home, "the-same-id").folder == places.sessions(home) / "the-same-id"


def test_no_session_is_kept_in_a_folder_that_git_could_take_along(project: Path) -> None:
    assert places.project_place(project.parent, "sessions") == project / "sessions"
    (project / "sessions" / ".gitignore").write_text("!*\n")
    with pytest.raises(UsageError, match="must be one line"):
        places.project_place(project.parent, "sessions")
    (project / "archive").symlink_to("/tmp")
    with pytest.raises(UsageError, match="leads out of"):
        places.project_place(project.parent, "archive")
