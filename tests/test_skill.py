"""The repository as skill, plugin and marketplace: its files, its installation, its wheel.

With the real programs where they are: `agentskills`, and Claude Code where COUNCIL_TEST_CLAUDE names it.
"""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
import sys
import sysconfig
import zipfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import click
import pytest
import yaml

from council import __version__, cli
from council.cli import commands, install_skill
from council.config import overlays, personas
from council.config.command_line import quote
from tests.fakeapi import Answer, FakeApi, ToolUse
from tests.helpers import Ended, User, picture

ROOT = Path(__file__).resolve().parent.parent
SKILL = ROOT / "SKILL.md"
GUIDES = [SKILL, *sorted((ROOT / "Workflows").glob("*.md"))]
PAGES = [*GUIDES, ROOT / "docs" / "skill.md"]
REAL = os.environ.get("COUNCIL_TEST_CLAUDE", "")
real = pytest.mark.skipif(not REAL, reason="COUNCIL_TEST_CLAUDE names no claude program")


def named(path: Path) -> str:
    return path.name


def frontmatter(path: Path) -> str:
    """As it is written."""
    return path.read_text("utf-8").split("---\n", 2)[1]


# ---- the skill ----


def test_the_skill_has_the_six_standard_keys_and_no_other() -> None:
    keys = yaml.safe_load(frontmatter(SKILL))
    assert list(keys) == ["name", "description", "license", "compatibility", "metadata", "allowed-tools"]
    assert keys["name"] == "council"
    own = "${CLAUDE_SKILL_DIR}/bin/council"  # which Claude Code puts the folder into, and others pass over
    assert keys["allowed-tools"] == f'Bash(council:*) Bash({own}:*) Bash("{own}":*) Read'
    assert keys["metadata"] == {"version": __version__}
    assert len(keys["description"]) <= 1024
    assert len(keys["compatibility"]) <= 500
    assert "\ndescription: '" in frontmatter(SKILL), "an unquoted colon makes some clients drop the skill in silence"


def test_the_skill_is_short_and_asks_for_no_replacement() -> None:
    text = SKILL.read_text("utf-8")
    assert len(text.splitlines()) < 120
    body = text.replace(frontmatter(SKILL), "")
    assert re.findall(r"\$(?:\d|ARGUMENTS|\{)|!`", body) == [], "assistants would put something in its place"


@pytest.mark.parametrize("page", PAGES, ids=named)
def test_links_lead_to_something_that_the_kit_has(page: Path) -> None:
    targets = re.findall(r"\]\((?!https?:|#)([^)#]+)", page.read_text("utf-8"))
    assert [target for target in targets if not (page.parent / target).is_file()] == []
    if page in GUIDES:
        assert [target for target in targets if Path(target).parts[0] not in install_skill.KIT] == []


def test_every_workflow_is_named_by_the_skill() -> None:
    """By a link, or by how all of them are listed: a workflow more needs no change of the skill."""
    links = {Path(target).stem.lower() for target in re.findall(r"\]\(Workflows/([^)]+)\)", SKILL.read_text("utf-8"))}
    assert {"debate", "quick", "recovery"} <= links <= {*overlays.workflows(), *overlays.GUIDES}
    assert "`council lint` lists them all" in SKILL.read_text("utf-8")


def commands_in(text: str) -> Iterator[str]:
    """What is written as code and begins with `council`, up to the end of a command."""
    code = re.findall(r"^```\w*\n(.*?)^```", text, re.S | re.M)
    text = re.sub(r"^```\w*\n.*?^```", "", text, flags=re.S | re.M)
    code += re.findall(r"`([^`]+)`", text) + re.findall(r"^    (.+)$", text, re.M)
    for line in "\n".join(code).splitlines():
        if re.match(r"(bin/)?council [a-z]", line):
            yield re.split(r"<<|#|\|", line)[0].strip()


@pytest.mark.parametrize("page", PAGES, ids=named)
def test_commands_and_their_options_are_what_the_program_has(page: Path) -> None:
    wrong = []
    for line in commands_in(page.read_text("utf-8")):
        name, *words = line.partition("council ")[2].split()
        command = cli.council.get_command(click.Context(cli.council), name)
        known = {option for one in command.params for option in one.opts} if command else set()
        wrong += [line for word in words if word.startswith("--") and word.partition("=")[0] not in known]
        wrong += [] if command else [line]
    assert wrong == []


@pytest.mark.parametrize("page", GUIDES, ids=named)
def test_options_that_stand_alone_are_options_of_start_or_record(page: Path) -> None:
    known = {
        option for name in ("start", "record", "next", "recover") for one in commands.built_in()[name].load().params
        for option in one.opts
    }  # fmt: skip
    body = page.read_text("utf-8").split("---\n", 2)[-1]
    assert [word for word in re.findall(r"`(--[a-z-]+)", body) if word not in known] == []


def test_what_is_asked_for_by_words_is_what_the_table_says() -> None:
    """The calls in the skill's description are calls, and seats that it names exist."""
    from council.prompts.invocation import parse

    text = yaml.safe_load(frontmatter(SKILL))["description"]
    known = personas.parse((ROOT / "AgentPersonalities.md").read_text("utf-8"), "")
    calls = [call for call in re.findall(r'"([^"]+): …"', text) if call != "Council"]
    assert len(calls) == 5
    for call in calls:
        assert parse(f"{call}: Why?", known, overlays.workflows()).topic != f"{call}: Why?"


# ---- the guide that is no program ----


def test_recovery_is_a_guide_and_no_workflow(tmp_path: Path) -> None:
    user = User(tmp_path)
    assert set(overlays.GUIDES) == {"recovery"}
    assert (ROOT / "Workflows" / "Recovery.md").is_file()
    assert "recovery" not in user.council("lint").text.lower()
    for words in (("lint", "recovery"), ("cost", "Recovery"), ("start", "--workflow", "recovery", "Why?")):
        ended = user.council(*words)
        assert ended.code == 2
        assert "is not a workflow" in ended.text
        assert "`council recover`" in ended.text


def test_a_workflow_of_that_name_is_the_users_own_affair(tmp_path: Path) -> None:
    user = User(tmp_path)
    text = (ROOT / "Workflows" / "Quick.md").read_text("utf-8").replace("name: quick", "name: recovery")
    user.write(".council/Workflows/Recovery.md", text)
    assert user.council("lint", "recovery").out == "recovery: no problems found\n"


# ---- the plugin ----


def manifest(name: str) -> Any:
    return json.loads((ROOT / ".claude-plugin" / name).read_text("utf-8"))


def test_the_plugin_and_its_marketplace_name_this_folder() -> None:
    plugin, market = manifest("plugin.json"), manifest("marketplace.json")
    (entry,) = market["plugins"]
    assert plugin["version"] == __version__
    assert plugin["name"] == entry["name"] == market["name"] == "council"
    assert entry["source"] == "./"
    assert plugin["description"] == entry["description"]
    assert "version" not in entry, "the plugin says it"
    assert not (ROOT / "CLAUDE.md").exists(), "strict validation refuses one beside a plugin: it is in .claude"
    assert not (ROOT / "commands").exists(), "a command of that name would hide the skill"


# ---- installation ----


@pytest.fixture
def user(tmp_path: Path) -> User:
    return User(tmp_path)


def links(user: User) -> list[Path]:
    return [user.root / ".claude" / "skills" / "council", user.root / ".agents" / "skills" / "council"]


def install(user: User, *words: str, **env: str) -> Ended:
    ended = user.council("install-skill", *words, **env)
    assert ended.code == 0, ended.text
    return ended


def test_it_links_the_kit_and_says_what_to_do(user: User) -> None:
    ended = install(user)
    assert [link.resolve() for link in links(user)] == [ROOT, ROOT]
    assert "linked ~/.claude/skills/council\nlinked ~/.agents/skills/council\n" in ended.out
    assert 'type "Council: "' in ended.out
    assert "not on your PATH" in ended.err
    assert sorted(path.name for path in user.root.iterdir()) == [".agents", ".claude", "work"]


def test_once_more_changes_nothing(user: User) -> None:
    install(user)
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
    install(user, "--project", "--undo")
    assert list(user.work.rglob("council")) == []


@pytest.mark.parametrize(
    ("words", "warned"), [((), True), (("--claude",), False), (("--claude", "--project"), True), (("--agents",), True)]
)
def test_path_is_explained_where_it_matters(user: User, words: tuple[str, ...], warned: bool) -> None:
    """Claude Code puts the program of a skill of the user on PATH; for a skill of a project, nobody does."""
    assert ("`council` is not on your PATH" in install(user, *words).err) is warned
    program = user.write("bin/council", "#!/bin/sh\n")
    program.chmod(0o755)
    assert install(user, *words, PATH=str(program.parent)).err == ""


def test_doctor_says_whether_path_finds_the_program(user: User) -> None:
    assert "-     program: not on PATH, where assistants look for `council` before" in doctor(user)
    folder = user.write("bin/other", "").parent
    (folder / "council").symlink_to(ROOT / "bin" / "council")
    assert "ok    program: ~/work/bin/council\n" in doctor(user, PATH=str(folder))
    (folder / "council").unlink()
    user.write("bin/council", "#!/bin/sh\n").chmod(0o755)
    assert "-     program: PATH finds ~/work/bin/council, which is not this" in doctor(user, PATH=str(folder))


def test_the_advice_on_path_can_be_followed_as_it_is_printed(user: User) -> None:
    """A new home has no ~/.local/bin, and nothing has put that on PATH."""
    folder = user.root / ".local" / "bin"
    told = install(user).err.strip()
    assert "put ~/.local/bin on your PATH, and run: " in told
    assert "put ~/.local/bin on your PATH, and run: " in doctor(user)
    subprocess.run(["/bin/sh", "-c", told.rpartition("run: ")[2]], env=user.environment, check=True)
    assert (folder / "council").resolve() == ROOT / "bin" / "council"
    assert install(user, PATH=str(folder)).err == ""
    (folder / "council").unlink()
    told = install(user, PATH=str(folder)).err
    assert "To spare them that, run: ln -s " in told


def test_doctor_names_the_skill_of_the_project(user: User) -> None:
    assert "in this project" not in doctor(user)
    install(user, "--project", "--claude")
    shown = doctor(user)
    assert "ok    skill for Claude Code, in this project: ~/work/.claude/skills/council is linked to this kit" in shown
    assert "other assistants, in this project" not in shown


def test_where_the_assistant_keeps_its_settings_elsewhere(user: User) -> None:
    install(user, CLAUDE_CONFIG_DIR=str(user.root / "elsewhere"))
    assert (user.root / "elsewhere" / "skills" / "council").resolve() == ROOT
    assert not links(user)[0].exists()


def test_both_places_may_be_one(user: User) -> None:
    (user.root / ".agents" / "skills").mkdir(parents=True)
    (user.root / ".claude").mkdir()
    (user.root / ".claude" / "skills").symlink_to("../.agents/skills")
    assert "is already linked" in install(user).out
    install(user, "--undo")
    assert not links(user)[0].is_symlink()


def test_undo_takes_away_the_links_and_nothing_else(user: User) -> None:
    install(user)
    other = user.root / ".claude" / "skills" / "other"
    other.mkdir()
    ended = install(user, "--undo")
    assert ended.out.count("removed the link") == 2
    assert [link.is_symlink() for link in links(user)] == [False, False]
    assert other.is_dir()
    assert SKILL.is_file()
    assert install(user, "--undo").out.count("not installed") == 2


def foreign_folder(path: Path, root: Path) -> None:
    path.mkdir(parents=True)
    (path / "SKILL.md").write_text("---\nname: council\ndescription: of the city\n---\n")


def foreign_link(path: Path, root: Path) -> None:
    foreign_folder(root / "a city" / "council", root)
    path.parent.mkdir(parents=True)
    path.symlink_to(root / "a city" / "council")


def dangling_link(path: Path, root: Path) -> None:
    path.parent.mkdir(parents=True)
    path.symlink_to(root / "gone")


def a_file(path: Path, root: Path) -> None:
    path.parent.mkdir(parents=True)
    path.write_text("a note")


def false_manifest(path: Path, root: Path) -> None:
    foreign_folder(path, root)
    (path / install_skill.MANIFEST).write_text("{}")


@pytest.mark.parametrize("make", [foreign_folder, foreign_link, dangling_link, a_file, false_manifest])
@pytest.mark.parametrize("words", [(), ("--copy",), ("--undo",)])
def test_what_is_not_ours_is_left_alone(user: User, make: Any, words: tuple[str, ...]) -> None:
    make(links(user)[1], user.root)
    before = picture(user.root)
    ended = user.council("install-skill", *words)
    assert picture(user.root) == before, "nothing at all is changed, in the other place neither"
    assert "~/.agents/skills/council was not created by council" in ended.text
    assert ended.code == (0 if words == ("--undo",) else 2)


def older(path: Path) -> Path:
    """A kit of another version."""
    (path / ".claude-plugin").mkdir(parents=True)
    (path / ".claude-plugin" / "plugin.json").write_text('{"name": "council", "version": "0.0.1"}')
    (path / "AgentPersonalities.md").write_text("")
    return path


def test_a_link_to_another_kit_of_ours_is_renewed(user: User) -> None:
    kit = older(user.root / "old checkout")
    gone = user.root / "venv" / "lib" / "python3.9" / "site-packages" / "council" / "kit"
    for link, target in zip(links(user), (kit, gone), strict=True):
        link.parent.mkdir(parents=True)
        link.symlink_to(target)
    assert install(user).out.count("replacing an older installation") == 2
    assert [link.resolve() for link in links(user)] == [ROOT, ROOT]
    assert (kit / "AgentPersonalities.md").is_file()
    assert [path.name for path in links(user)[0].parent.iterdir()] == ["council"]


def test_a_copy_stands_for_itself(user: User, tmp_path: Path) -> None:
    install(user, "--claude", "--copy")
    copy = links(user)[0]
    assert not copy.is_symlink()
    assert install_skill.find_changes(copy) == []
    assert {path.name for path in copy.iterdir()} == {Path(name).parts[0] for name in install_skill.KIT} | {
        "council",
        install_skill.MANIFEST,
    }
    venv = tmp_path / "venv"
    (venv / "bin").mkdir(parents=True)
    (venv / "bin" / "python").write_text(f'#!/bin/sh\nexec {sys.executable} "$@"\n')
    (venv / "bin" / "python").chmod(0o755)
    env = {"PATH": os.defpath, "HOME": str(tmp_path), "COUNCIL_VENV": str(venv)}
    done = subprocess.run(
        [copy / "bin" / "council", "lint", "debate"],
        env=env,
        cwd=tmp_path,
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    assert "debate: no problems found" in done.stdout
    assert install_skill.find_changes(copy) == [], "what Python leaves behind does not count"


def test_a_copy_is_renewed_becomes_a_link_and_goes_away(user: User) -> None:
    install(user, "--claude", "--copy")
    copy = links(user)[0]
    listed = json.loads((copy / install_skill.MANIFEST).read_text())
    (copy / "older").mkdir()
    (copy / "older" / "old.md").write_text("a file of an older version")
    listed["files"]["older/old.md"] = install_skill.digest(copy / "older" / "old.md")
    (copy / install_skill.MANIFEST).write_text(json.dumps(listed))
    assert (
        "copied to ~/.claude/skills/council, replacing an older installation" in install(user, "--claude", "--copy").out
    )
    assert not (copy / "older").exists()
    assert "linked ~/.claude/skills/council, replacing an older installation" in install(user, "--claude").out
    assert copy.is_symlink()
    install(user, "--claude", "--copy")
    assert not copy.is_symlink()
    assert "removed the copy" in install(user, "--claude", "--undo").out
    assert list(copy.parent.iterdir()) == []


@pytest.mark.parametrize("words", [(), ("--copy",), ("--undo",)])
@pytest.mark.parametrize("edit", ["SKILL.md", "Workflows/Mine.md", install_skill.MANIFEST])
def test_a_copy_that_was_edited_is_not_destroyed(user: User, edit: str, words: tuple[str, ...]) -> None:
    install(user, "--claude", "--copy")
    (links(user)[0] / edit).write_text("years of work")
    before = picture(user.root)
    ended = user.council("install-skill", *words)
    assert ended.code == 2
    assert f"{edit} was changed by hand" in ended.err
    assert "~/.config/council" in ended.err
    assert picture(user.root) == before


def test_the_kit_in_its_very_place_is_left_alone(user: User, monkeypatch: pytest.MonkeyPatch) -> None:
    """Somebody who cloned the repository to where skills are."""
    kit = older(links(user)[0]).resolve()
    monkeypatch.setattr(overlays, "kit_folder", lambda: kit)
    before = picture(kit)
    assert "is this kit itself" in install(user, "--claude").out
    assert "is the kit itself, so it was left alone" in install(user, "--claude", "--undo").out
    assert picture(kit) == before


def test_a_folder_that_cannot_be_written(user: User) -> None:
    user.write("../.claude", "a file in the way")
    ended = user.council("install-skill", "--claude")
    assert ended.code == 6
    assert "~/.claude/skills/council: " in ended.err


def test_copy_and_undo_contradict_each_other(user: User) -> None:
    assert user.council("install-skill", "--copy", "--undo").code == 2


# ---- what doctor says of it ----


def doctor(user: User, **env: str) -> str:
    return user.council("doctor", ANTHROPIC_API_KEY="k", **env).out


def test_doctor_says_where_the_skill_is(user: User) -> None:
    assert "-     skill for Claude Code: not installed; `council install-skill` links it\n" in doctor(user)
    install(user)
    told = doctor(user)
    assert "ok    skill for Claude Code: ~/.claude/skills/council is linked to this kit\n" in told
    assert "ok    skill for other assistants: ~/.agents/skills/council is linked to this kit\n" in told


def test_doctor_says_what_else_is_there(user: User) -> None:
    kit = older(user.root / "old checkout")
    links(user)[0].parent.mkdir(parents=True)
    links(user)[0].symlink_to(kit)
    foreign_folder(links(user)[1], user.root)
    told = doctor(user)
    assert f"-     skill for Claude Code: ~/.claude/skills/council is linked to {kit}{install_skill.RENEW}\n" in told
    assert "-     skill for other assistants: ~/.agents/skills/council was not created by council\n" in told


def test_doctor_knows_a_copy_and_what_became_of_it(user: User) -> None:
    install(user, "--copy")
    (links(user)[0] / "SKILL.md").write_text("mine")
    listed = json.loads((links(user)[1] / install_skill.MANIFEST).read_text())
    (links(user)[1] / install_skill.MANIFEST).write_text(json.dumps({**listed, "council": "0.0.1"}))
    told = doctor(user)
    assert f"~/.claude/skills/council is a copy of {__version__}, changed by hand: " in told
    assert "is a copy of 0.0.1; `council install-skill` renews it\n" in told


def test_doctor_names_the_version_of_the_claude_program(user: User) -> None:
    program = user.write("claude", "#!/bin/sh\n[ $1 = --version ] && echo '2.1.327 (Claude Code)'\n")
    program.chmod(0o755)
    assert f"ok    claude program: {program}, 2.1.327 (Claude Code)\n" in doctor(user, COUNCIL_CLAUDE=str(program))
    program.write_text("#!/bin/sh\nexit 3\n")
    assert f"-     claude program: {program} --version fails" in doctor(user, COUNCIL_CLAUDE=str(program))


# ---- the wheel ----


@pytest.fixture(scope="module")
def wheel(tmp_path_factory: pytest.TempPathFactory) -> Path:
    pytest.importorskip("hatchling")
    folder = tmp_path_factory.mktemp("wheel")
    build = [sys.executable, "-m", "hatchling", "build", "-t", "wheel", "-d", str(folder)]
    done = subprocess.run(build, cwd=ROOT, capture_output=True, text=True, timeout=120, check=False)
    assert done.returncode == 0, done.stderr
    (made,) = folder.glob("*.whl")
    return made


def test_the_wheel_holds_the_kit(wheel: Path) -> None:
    with zipfile.ZipFile(wheel) as archive:
        names = archive.namelist()
    for name in install_skill.KIT:
        there = [path for path in names if f"{path}/".startswith(f"council/kit/{name}/")]
        wanted = list(install_skill.files_of(ROOT / name)) if (ROOT / name).is_dir() else [ROOT / name]
        assert len(there) == len(wanted), name
    assert {Path(name).parts[2] for name in names if name.startswith("council/kit/")} == {
        Path(name).parts[0] for name in install_skill.KIT
    }


@pytest.fixture
def installed(wheel: Path, tmp_path: Path) -> Path:
    """A virtual environment with the wheel in it."""
    venv = tmp_path / "a venv"
    subprocess.run([sys.executable, "-m", "venv", "--without-pip", venv], check=True, timeout=120)
    pip = [sys.executable, "-m", "pip", "--python", venv, "--disable-pip-version-check", "install", "-q"]
    subprocess.run([*pip, "--no-index", "--no-deps", "--no-compile", wheel], check=True, timeout=120)
    share_dependencies(venv)
    return venv


def share_dependencies(venv: Path) -> None:
    """With those of the tests, so that nothing has to be fetched."""
    (site,) = (venv / "lib").glob("python*/site-packages")
    (site / "dependencies.pth").write_text(sysconfig.get_path("purelib") + "\n")


def test_the_wheel_works_without_the_repository(installed: Path, tmp_path: Path) -> None:
    """What it links works as its own program does, and a copy of it makes itself an environment."""
    env = {"HOME": str(tmp_path), "PATH": os.defpath, "LANG": "C.UTF-8"}

    def run(*words: str | Path, code: int = 0) -> subprocess.CompletedProcess[str]:
        done = subprocess.run(words, env=env, cwd=tmp_path, capture_output=True, text=True, timeout=60, check=False)
        assert done.returncode == code, done.stderr
        return done

    done = run(installed / "bin" / "council", "install-skill")
    assert f"ln -s ~/{(installed / 'bin' / 'council').relative_to(tmp_path)} " in done.stderr
    link = tmp_path / ".claude" / "skills" / "council"
    assert link.resolve().parts[-2:] == ("council", "kit")
    assert (link / "SKILL.md").read_text() == SKILL.read_text()
    for program in (link / "bin" / "council", tmp_path / ".agents" / "skills" / "council" / "bin" / "council"):
        assert f"Run `{quote(str(program))} brief " in run(program, "start", "Q?").stdout, "as it was called"
    run(installed / "bin" / "council", "install-skill", "--claude", "--copy")
    assert (link / "council" / "cli" / "__init__.py").is_file()
    assert not (link / "council" / "kit").exists()
    assert install_skill.find_changes(link) == []
    (link / "requirements.lock").write_text("# those of the tests\n")
    assert "first use: installing" in run(link / "bin" / "council", "--version", code=1).stderr
    (made,) = (tmp_path / ".local" / "share" / "council").glob("venv-*")
    share_dependencies(made)
    for program, name in ((installed / "bin" / "council", "mine"), (link / "bin" / "council", "another")):
        done = run(program, "new-workflow", name)
        assert run(program, "lint", name).stdout == f"{name}: no problems found\n"
        guide = done.stdout.strip().rpartition(" described in ")[2].replace("~", str(tmp_path), 1)
        assert Path(guide).is_file()


def test_a_kit_whose_package_is_gone_says_so(tmp_path: Path) -> None:
    program = tmp_path / "kit" / "bin" / "council"
    program.parent.mkdir(parents=True)
    shutil.copy(ROOT / "bin" / "council", program)
    env = {"PATH": f"{program.parent}:{os.defpath}", "HOME": str(tmp_path)}
    done = subprocess.run([program, "lint"], env=env, capture_output=True, text=True, timeout=60, check=False)
    assert done.returncode == 2
    assert "install it again" in done.stderr
    assert done.stderr.count("\n") == 1


# ---- with the real programs ----


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """The repository by the name that the standard asks for."""
    link = tmp_path / "plugins" / "council"
    link.parent.mkdir()
    link.symlink_to(ROOT)
    return link


def test_the_standards_own_validator_passes(folder: Path) -> None:
    program = shutil.which("agentskills", path=f"{Path(sys.executable).parent}:{os.environ.get('PATH', '')}")
    if program is None:
        pytest.skip("agentskills (PyPI: skills-ref) is not installed")
    done = subprocess.run([program, "validate", folder], capture_output=True, text=True, timeout=60, check=False)
    assert done.returncode == 0, done.stdout + done.stderr


QUIET = [
    "CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC",
    "DISABLE_TELEMETRY",
    "DISABLE_ERROR_REPORTING",
    "DISABLE_AUTOUPDATER",
]


class Claude:
    """The real client with a home of its own."""

    def __init__(self, root: Path) -> None:
        self.home, self.project = root / "home", root / "project"
        self.home.mkdir()
        self.project.mkdir()

    def __call__(self, *words: str | Path, url: str = "http://127.0.0.1:9", code: int = 0) -> str:
        env = {
            "HOME": str(self.home), "PATH": os.defpath, "LANG": "C.UTF-8", "ANTHROPIC_BASE_URL": url,
            "ANTHROPIC_API_KEY": "sk-ant-dummy", "COUNCIL_VENV": sys.prefix, **dict.fromkeys(QUIET, "1"),
        }  # fmt: skip
        done = subprocess.run(
            [REAL, *words], env=env, cwd=self.project, stdin=subprocess.DEVNULL, capture_output=True, text=True,
            timeout=120, check=False,
        )  # fmt: skip
        assert done.returncode == code, done.stdout + done.stderr
        return done.stdout


@pytest.fixture
def claude(tmp_path: Path) -> Claude:
    return Claude(tmp_path)


@real
def test_real_strict_validation_passes(claude: Claude, folder: Path) -> None:
    told = json.loads(claude("plugin", "validate", "--strict", "--json", folder))
    assert told["success"] is True, told


@real
def test_real_marketplace_and_plugin_are_installed(claude: Claude, folder: Path) -> None:
    claude("plugin", "marketplace", "add", folder)
    claude("plugin", "install", "council@council")
    (found,) = json.loads(claude("plugin", "list", "--json"))
    assert (found["id"], found["version"], found["enabled"]) == ("council@council", __version__, True)
    details = claude("plugin", "details", "council@council")
    for part in ("council-member", "council-chair", "SubagentStop", "council"):
        assert part in details


def asked(claude: Claude, *words: str) -> str:
    """All that the client told its model."""
    with FakeApi(lambda _: Answer("Yes.")) as api:
        claude("-p", *words, "--output-format", "json", url=api.url)
    return json.dumps([prompt.body["messages"] for prompt in api.prompts], ensure_ascii=False)


@real
def test_real_linked_skill_is_found_with_its_agents(claude: Claude) -> None:
    install_for(claude)
    told = asked(claude, "hello")
    assert told.count("- council: Hold a real debate") == 1
    assert told.count("- council:council-member: A member of a council debate.") == 1
    assert told.count("- council:council-chair: The chair of a council debate.") == 1
    assert told.count("council:council-") == 2, "two agents, whatever the number of personas"
    assert "council@skills-dir" in claude("plugin", "list")


@real
def test_real_slash_command_hands_over_the_topic(claude: Claude) -> None:
    install_for(claude)
    topic = 'Redis "or" $(touch P) not?\nA second line with `x` and $1.'
    told = asked(claude, f"/council {topic}")
    assert json.dumps(topic, ensure_ascii=False)[1:-1] in told
    assert "You are the host of a debate" in told
    assert not (claude.project / "P").exists()


@real
def test_real_skill_may_run_what_it_says(claude: Claude) -> None:
    """The skill's own way to begin, with a topic that a shell would obey. Its `allowed-tools` is all the permission."""
    topic = "Is it \"$(touch P)\" or `touch P`; touch P\n\N{HOT BEVERAGE} $HOME \\n 'x' <<EOF &"
    (block,) = re.findall(r"^```bash\n(.*?)```", SKILL.read_text("utf-8"), re.S | re.M)
    command = re.sub(r"(?<=\n).*(?=\nTOPIC-)", lambda _: topic, block.replace("xxxxxxxx", "h4k9s2ma"), flags=re.S)
    install_for(claude)
    calls = [
        Answer("", tools=(ToolUse("Skill", {"skill": "council", "args": topic}),)),
        Answer("", tools=(ToolUse("Bash", {"command": command, "description": "Begin a council"}),)),
        Answer("Begun."),
    ]
    with FakeApi(lambda request: calls[min(request.step, 2)]) as api:
        claude("-p", f"Council: {topic}", "--allowedTools", "Skill(council)", url=api.url)
    assert "**Session ID:**" in api.prompts[-1].last
    (found,) = (claude.home / ".claude" / "MEMORY" / "STATE" / "council-sessions").iterdir()
    assert topic in (found / "topic.md").read_text("utf-8")
    assert not (claude.project / "P").exists()


def install_for(claude: Claude) -> None:
    User(claude.home.parent / "user", {"HOME": str(claude.home)}).council("install-skill", "--claude")
