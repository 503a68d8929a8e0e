"""What is set up, by the command line: doctor, config, completion, help and install-skill."""

from __future__ import annotations

import json
import os
import shlex
import shutil
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import click
import pytest

from council.next.cli import cli, commands, skill
from tests.helpers import Ended, no_traceback, picture
from tests.next.cli.users import User

ROOT = Path(__file__).parents[3]


@pytest.fixture
def user(tmp_path: Path) -> User:
    made = User(tmp_path / "user")
    (made.work / ".git").mkdir()
    return made


def ok(ended: Ended) -> Ended:
    assert ended.code == 0, ended.text
    no_traceback(ended)
    return ended


def row(ended: Ended, check: str) -> str:
    return next(line for line in ended.out.splitlines() if line[6:].startswith(f"{check}: "))


def program(user: User, name: str, body: str) -> Path:
    path = user.write(f"bin/{name}", f"#!/bin/sh\n{body}\n")
    path.chmod(0o755)
    return path.parent


# ---- doctor ----


def test_where_nobody_can_speak_it_says_what_to_do(user: User) -> None:
    ended = user.council("doctor")
    assert ended.code == 4
    no_traceback(ended)
    assert row(ended, "speaker").startswith("FAIL  speaker: nobody can speak here. You can set ANTHROPIC_API_KEY")
    assert row(ended, "configuration") == "ok    configuration: ~/config/council/Config.md (none; the defaults apply)"
    assert row(ended, "sessions").endswith("council-sessions can be written, and locks work")
    assert row(ended, "keys") == "-     keys: none is set; `council help keys` names the variables"
    assert row(ended, "program claude").startswith("-     program claude: the `claude` program is not installed")
    assert row(ended, "tier haiku").endswith("claude-haiku-5-5 at anthropic, $0.1/$0.5 per million tokens")
    assert not any(path.name.startswith(".doctor") for path in user.home.rglob("*")), "the trial lock is gone"


def test_with_a_key_it_says_who_would_speak_and_at_which_price(user: User) -> None:
    ended = ok(user.council("doctor", OPENAI_API_KEY="sk-test-secret"))
    assert "api speaks (OPENAI_API_KEY is set; " in row(ended, "speaker")
    assert row(ended, "keys") == "ok    keys: OPENAI_API_KEY (openai)"
    assert "secret" not in ended.text


def test_a_program_that_is_logged_in_speaks(user: User) -> None:
    folder = program(user, "claude", "echo '{\"loggedIn\": true}'")
    ended = ok(user.council("doctor", PATH=f"{folder}:{os.defpath}"))
    assert row(ended, "program claude").startswith("ok    program claude: logged in")
    assert "claude speaks" in row(ended, "speaker")


def test_doctor_as_json(user: User) -> None:
    ended = user.council("doctor", "--json")
    assert ended.code == 4
    rows = {one["check"]: one for one in ended.json}
    assert rows["python"]["says"].startswith(sys.version.split()[0])
    assert {one["state"] for one in rows.values()} == {"ok", "-", "FAIL"}
    assert rows["speaker"]["state"] == "FAIL"


def test_a_configuration_that_is_wrong_is_named_and_the_rest_goes_on(user: User) -> None:
    user.configure("spaeker: api")
    ended = user.council("doctor")
    assert ended.code == 2
    assert 'Config.md: unknown key "spaeker"; did you mean "speaker"?' in row(ended, "configuration")
    assert row(ended, "python").startswith("ok ")


def test_a_home_that_cannot_be_written_is_named_and_the_rest_goes_on(user: User) -> None:
    user.home.write_text("a file in the way")
    ended = user.council("doctor", OPENAI_API_KEY="x")
    assert ended.code != 0
    assert row(ended, "sessions").startswith("FAIL  sessions: ")
    assert "a file is in the place of a folder; move it away" in row(ended, "sessions")
    assert "api speaks" in row(ended, "speaker")


def test_it_says_whether_a_project_counts(user: User) -> None:
    assert row(user.council("doctor"), "project").startswith("-     project: no .council folder here")
    user.write(".council/Config.md", "---\nlimits: {max_calls: 3}\n---\n")
    assert row(user.council("doctor"), "project") == "ok    project: ~/work/.council is used"
    assert "is not used in CI" in row(user.council("doctor", CI="true"), "project")
    (user.work / ".council").chmod(0o777)
    assert "everybody may write to it" in row(user.council("doctor"), "project")


def test_a_test_notification_needs_a_way(user: User, tmp_path: Path) -> None:
    ended = user.council("doctor", "--notify", OPENAI_API_KEY="x")
    assert ended.code == 2
    assert "Config.md has no `notify" in row(ended, "notification")
    pipe = tmp_path / "heard"
    os.mkfifo(pipe)
    user.configure(f'notify: {{command: [/bin/sh, -c, "cat > {pipe}"]}}')
    ok(user.council("doctor", "--notify", OPENAI_API_KEY="x"))
    assert json.loads(pipe.read_text())["event"] == "test"


def test_whether_path_finds_the_program(user: User) -> None:
    assert row(user.council("doctor"), "program").startswith("-     program: `council` is not on your PATH")
    folder = program(user, "council", "exit 1")
    assert row(user.council("doctor", PATH=str(folder)), "program") == "ok    program: ~/work/bin/council"


# ---- config ----


def test_what_is_in_force_and_where_it_is_from(user: User) -> None:
    assert ok(user.council("config", COUNCIL_HOME="")).out == "Nothing is set: the defaults apply.\n"
    user.configure("speaker: api\nprotocols: {consensus: {target: 95}}\nlimits: {max_cost: 2}")
    user.write(".council/Config.md", "---\nlimits: {max_cost: 1}\n---\n")
    ended = ok(user.council("config"))
    assert "speaker: api\n    from ~/config/council/Config.md\n" in ended.out
    assert "limits > max_cost: 1.0\n    from ~/work/.council/Config.md\n" in ended.out
    assert "home: " in ended.out
    assert "COUNCIL_HOME" in ended.out
    assert "ask_above: 1.0" in ok(user.council("config", "--all")).out
    found = {one["key"]: one for one in ok(user.council("config", "--json")).json}
    assert found["limits > max_cost"]["value"] == 1
    assert found["tiers > opus > max_tokens"]["value"] == 8000
    assert found["speaker"]["source"].endswith("config/council/Config.md")


def test_the_options_of_a_workflow_with_their_sources(user: User) -> None:
    user.configure("protocols: {consensus: {target_satisfaction: 95}}")
    ended = ok(user.council("config", "consensus"))
    assert 'target: "95"\n    from ~/config/council/Config.md\n' in ended.out.replace("target: 95", 'target: "95"')
    assert "max_rounds: 10\n" in ended.out
    found = {one["key"]: one for one in ok(user.council("config", "consensus", "--json")).json}
    assert found["max_rounds"]["source"].endswith("Consensus.md")


def test_what_may_hold_a_secret_is_not_shown(user: User) -> None:
    user.configure(
        'notify: {webhook: "https://hooks.example/T0/hush"}\n'
        "endpoints: {mine: {base_url: 'https://me:hush@example.org/v1', dialect: chat}}"
    )
    for words in (("config",), ("config", "--json"), ("config", "--all")):
        ended = ok(user.council(*words))
        assert "hush" not in ended.text
        assert "@example.org/v1" in ended.out


def test_a_setting_that_cannot_be_is_refused_with_its_place(user: User) -> None:
    user.configure("stall: soon")
    ended = user.council("config")
    assert (ended.code, ended.out) == (2, "")
    assert "Config.md: stall: 'soon' must be a number" in ended.err
    user.configure("stall: 5")
    assert 'there is no workflow "consesnus"' in user.council("config", "consesnus").err


# ---- completion and help ----


def test_completion_scripts_are_read_by_their_shells(user: User) -> None:
    for shell in ("bash", "zsh", "fish"):
        script = ok(user.council("completion", shell)).out
        assert "_COUNCIL_COMPLETE" in script
        if found := shutil.which(shell):
            subprocess.run([found, "-n"], input=script.encode(), check=True)
    assert user.council("completion", "tcsh").code == 2


def completed(user: User, typed: str) -> list[str]:
    words = ["council", *typed.split()]
    env = {"_COUNCIL_COMPLETE": "bash_complete", "COMP_WORDS": " ".join(words), "COMP_CWORD": str(len(words) - 1)}
    ended = user.process(env={**user.environment, **env})
    assert ended.err == ""
    return [line.removeprefix("plain,") for line in ended.out.splitlines() if line]


@pytest.mark.parametrize(
    ("typed", "wanted"),
    [
        ("doc", ["doctor"]),
        ("install", ["install-skill"]),
        ("delp", ["delphi"]),
        ("help rec", ["recover", "record"]),
        ("lint --js", ["--json"]),
        ("lint confi", ["confirm"]),
        ("new-workflow mine --from del", ["delphi"]),
        ("run --with securi", ["security", "security-advocate"]),
        ("run --with security,wri", ["security,writer"]),
        ("run -w consensus --feature-type data", ["database-schema"]),
        ("board -o max_r", ["max_rounds="]),
        ("run --workflow board -o max_r", ["max_rounds="]),
    ],
)
def test_a_shell_is_offered_what_fits(user: User, typed: str, wanted: list[str]) -> None:
    assert completed(user, typed) == wanted


def test_a_shell_is_offered_sessions_newest_first_and_turns_and_nothing_on_damage(user: User) -> None:
    for id in ("q-first", "q-second"):
        ok(user.council("start", "--id", id, "Redis or PostgreSQL?"))
    for words in ("show", "recover", "run --from"):
        assert completed(user, f"{words} q") == ["q-second", "q-first"]
    assert completed(user, "show la") == ["last"]
    assert completed(user, "record last 01-positions/e") == ["01-positions/engineer"]
    for session in user.sessions:
        (session / "metadata.json").write_text("{")
    assert completed(user, "record q-second 0") == []
    user.configure("enpoints: {}")
    assert completed(user, "show q") == []


def test_every_command_is_explained_and_listed(user: User) -> None:
    everything = ok(user.council("help", "all")).out
    assert max(map(len, everything.splitlines())) <= 80
    for name in (
        "doctor",
        "config",
        "cost",
        "install-skill",
        "completion",
        "help",
        "new-workflow",
        "lint",
        "diagram",
        "specialists",
    ):
        assert f"\n  {name} " in everything
        ended = ok(user.council("help", name))
        assert ended.out.startswith(f"Usage: council {name} ")
        assert ok(user.council(name, "--help")).out == ended.out
        assert max(map(len, ended.out.splitlines())) <= 80
    assert "Exit codes: 0 the debate is over" in everything
    assert ok(user.council("help")).out == ok(user.council("--help")).out


def test_every_example_is_a_command_that_can_be_read() -> None:
    context, examples = click.Context(cli, obj=commands.Context()), []
    for name in cli.list_commands(context):
        command = cli.get_command(context, name)
        assert command is not None
        shown = f"{command.help}\n{command.epilog}".partition("\b")[2]
        examples += [line.strip() for line in shown.splitlines() if line.strip().startswith("council ")]
    assert len(examples) > 30
    for example in examples:
        words = shlex.split(example.partition(" > ")[0])[1:]
        name_, found, arguments = cli.resolve_command(context, words)
        assert found is not None
        found.make_context(name_, arguments, parent=context)


def test_help_names_the_keys_and_shows_none(user: User) -> None:
    ended = ok(user.council("help", "keys", GROQ_API_KEY="gsk-secret"))
    assert "  ANTHROPIC_API_KEY   anthropic\n" in ended.out
    assert "  GROQ_API_KEY        groq (set)\n" in ended.out
    assert "secret" not in ended.out
    assert max(map(len, ended.out.splitlines())) <= 80


def test_help_of_what_is_not_there_names_what_is_meant(user: User) -> None:
    ended = user.council("help", "dcotor")
    assert ended.code == 2
    assert 'there is no command "dcotor"; did you mean "doctor"?' in ended.err


def test_help_imports_nothing_heavy(user: User) -> None:
    """`council --help` and completion stay quick: no YAML, no templates, no SDK, no event loop."""
    probe = (
        "import sys\nfrom council.next.cli import main\nmain(['--help'])\n"
        "heavy = {'yaml', 'jinja2', 'anthropic', 'asyncio', 'markdown_it', 'council.next.checks.lint', "
        "'council.next.cli.own', 'council.next.cli.setup', 'council.next.cli.skill'}\n"
        "sys.exit(', '.join(sorted(heavy & {*sys.modules})) or 0)"
    )
    env = {**user.environment, "PYTHONPATH": str(ROOT)}
    ended = subprocess.run([sys.executable, "-c", probe], env=env, cwd=user.work, capture_output=True, check=False)
    assert (ended.returncode, ended.stderr) == (0, b"")


# ---- install-skill ----


def links(user: User) -> list[Path]:
    return [user.root / name / "skills" / "council" for name in (".claude", ".agents")]


def install(user: User, *words: str, **env: str) -> Ended:
    return ok(user.council("install-skill", *words, **env))


def test_it_links_the_kit_and_says_what_to_do(user: User) -> None:
    ended = install(user)
    assert [link.resolve() for link in links(user)] == [ROOT, ROOT]
    assert "linked ~/.claude/skills/council\nlinked ~/.agents/skills/council\n" in ended.out
    assert 'type "Council: "' in ended.out
    assert "not on your PATH" in ended.err
    assert sorted(path.name for path in user.root.iterdir()) == [".agents", ".claude", "work"]
    before = picture(user.root)
    assert install(user).out.count("is already linked") == 2
    assert picture(user.root) == before


@pytest.mark.parametrize(("option", "there"), [("--claude", [True, False]), ("--agents", [False, True])])
def test_one_place_alone(user: User, option: str, there: list[bool]) -> None:
    install(user, option)
    assert [link.exists() for link in links(user)] == there


def test_for_one_project(user: User) -> None:
    install(user, "--project")
    assert [link.exists() for link in links(user)] == [False, False]
    assert [(user.work / name / "skills/council").resolve() for name in (".claude", ".agents")] == [ROOT, ROOT]
    shown = user.council("doctor")
    assert "~/work/.claude/skills/council is linked to this kit" in row(shown, "skill for Claude Code, in this project")
    install(user, "--project", "--undo")
    assert [path for path in user.work.rglob("council") if "skills" in path.parts] == []


def test_nothing_is_installed_through_a_link_that_leads_out_of_the_project(user: User) -> None:
    (user.root / "elsewhere").mkdir()
    (user.work / ".claude").symlink_to(user.root / "elsewhere")
    ended = user.council("install-skill", "--project")
    assert ended.code == 2
    assert "leads out of the project" in ended.err
    assert list((user.root / "elsewhere").iterdir()) == []
    assert not (user.work / ".agents").exists()


@pytest.mark.parametrize(
    ("words", "warned"), [((), True), (("--claude",), False), (("--claude", "--project"), True), (("--agents",), True)]
)
def test_path_is_explained_where_it_matters(user: User, words: tuple[str, ...], warned: bool) -> None:
    assert ("`council` is not on your PATH" in install(user, *words).err) is warned
    assert install(user, *words, PATH=str(program(user, "council", ""))).err == ""


def test_the_advice_on_path_can_be_followed_as_it_is_printed(user: User) -> None:
    told = install(user).err.strip()
    assert "Put ~/.local/bin on your PATH, and run: " in told
    subprocess.run(["/bin/sh", "-c", told.rpartition("run: ")[2]], env=user.environment, check=True)
    folder = user.root / ".local" / "bin"
    assert (folder / "council").resolve() == ROOT / "bin" / "council"
    assert install(user, PATH=str(folder)).err == ""


def test_where_the_assistant_keeps_its_settings_elsewhere(user: User) -> None:
    install(user, CLAUDE_CONFIG_DIR=str(user.root / "elsewhere"))
    assert (user.root / "elsewhere/skills/council").resolve() == ROOT
    assert not links(user)[0].exists()


def test_undo_takes_away_the_links_and_nothing_else(user: User) -> None:
    install(user)
    other = user.root / ".claude/skills/other"
    other.mkdir()
    assert install(user, "--undo").out.count("removed the link") == 2
    assert [link.is_symlink() for link in links(user)] == [False, False]
    assert other.is_dir()
    assert (ROOT / "SKILL.md").is_file()
    assert install(user, "--undo").out.count("not installed") == 2


def foreign_folder(path: Path) -> None:
    path.mkdir(parents=True)
    (path / "SKILL.md").write_text("mine")


def foreign_link(path: Path) -> None:
    path.parent.mkdir(parents=True)
    path.symlink_to(path.parents[2])


def dangling_link(path: Path) -> None:
    path.parent.mkdir(parents=True)
    path.symlink_to("/nowhere")


def forged_manifest(path: Path) -> None:
    foreign_folder(path)
    (path / skill.MANIFEST).write_text("[" * 100_000)


@pytest.mark.parametrize("words", [(), ("--copy",), ("--undo",)])
@pytest.mark.parametrize("make", [foreign_folder, foreign_link, dangling_link, forged_manifest])
def test_what_is_not_ours_is_left_alone(user: User, make: Callable[[Path], None], words: tuple[str, ...]) -> None:
    make(links(user)[1])
    before = picture(user.root)
    ended = user.council("install-skill", *words)
    assert picture(user.root) == before, "nothing at all is changed, in the other place neither"
    assert "~/.agents/skills/council was not created by council" in ended.text
    assert ended.code == (0 if words == ("--undo",) else 2)


def older(path: Path) -> Path:
    """A kit of another version."""
    (path / ".claude-plugin").mkdir(parents=True)
    (path / ".claude-plugin/plugin.json").write_text('{"name": "council", "version": "0.0.1"}')
    (path / "AgentPersonalities.md").write_text("")
    return path


def test_a_link_to_another_kit_of_ours_is_renewed(user: User) -> None:
    gone = user.root / "venv/lib/python3.9/site-packages/council/kit"
    for link, target in zip(links(user), (older(user.root / "old checkout"), gone), strict=True):
        link.parent.mkdir(parents=True)
        link.symlink_to(target)
    assert "is a link to another kit; `council install-skill` renews it" in row(
        user.council("doctor"), "skill for Claude Code"
    )
    assert install(user).out.count("replacing an older installation") == 2
    assert [link.resolve() for link in links(user)] == [ROOT, ROOT]
    assert (user.root / "old checkout/AgentPersonalities.md").is_file()
    assert [path.name for path in links(user)[0].parent.iterdir()] == ["council"]


def test_a_copy_is_whole_is_renewed_becomes_a_link_and_goes_away(user: User) -> None:
    install(user, "--claude", "--copy")
    copy = links(user)[0]
    assert not copy.is_symlink()
    assert {path.name for path in copy.iterdir()} == {
        *(Path(name).parts[0] for name in skill.KIT),
        "council",
        skill.MANIFEST,
    }
    assert "is a copy of" in row(user.council("doctor"), "skill for Claude Code")
    run = subprocess.run(
        [sys.executable, "-c", "import sys; from council.next.cli import main; sys.exit(main(['lint', 'debate']))"],
        env={**user.environment, "PYTHONPATH": str(copy)}, cwd=user.work, capture_output=True, check=True,
    )  # fmt: skip
    assert run.stdout == b"debate: no problems found\n"
    assert "replacing an older installation" in install(user, "--claude", "--copy").out
    assert "linked ~/.claude/skills/council, replacing an older" in install(user, "--claude").out
    install(user, "--claude", "--copy")
    assert "removed the copy" in install(user, "--claude", "--undo").out
    assert not copy.exists()


@pytest.mark.parametrize("words", [(), ("--copy",), ("--undo",)])
@pytest.mark.parametrize("edit", ["SKILL.md", "Workflows/Mine.md", skill.MANIFEST])
def test_a_copy_that_was_edited_is_not_destroyed(user: User, edit: str, words: tuple[str, ...]) -> None:
    install(user, "--claude", "--copy")
    (links(user)[0] / edit).write_text("years of work")
    before = picture(user.root)
    ended = user.council("install-skill", *words)
    assert ended.code == 2
    assert f"{edit} was changed by hand" in ended.err
    assert "~/.config/council" in ended.err
    assert picture(user.root) == before


def test_the_kit_in_its_very_place_is_left_alone(user: User) -> None:
    """Somebody cloned the repository to where skills are."""
    path = older(links(user)[0])
    place = skill.Place("Claude Code", path, path.resolve())
    before = picture(path)
    assert "is this kit itself" in skill.install(place, copy=False)
    assert "is the kit itself, so it was left alone" in skill.uninstall(place)
    assert picture(path) == before


def test_a_place_that_cannot_be_written_is_named(user: User) -> None:
    (user.root / ".claude").write_text("a file in the way")
    ended = user.council("install-skill", "--claude")
    assert ended.code == 6
    assert "~/.claude/skills/council: " in ended.err
    no_traceback(ended)


def test_copy_and_undo_exclude_each_other(user: User) -> None:
    ended: Any = user.council("install-skill", "--copy", "--undo")
    assert (ended.code, ended.out) == (2, "")
    assert "--copy and --undo cannot be combined" in ended.err
