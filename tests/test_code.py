"""`council code`: from a failing test in a repository to a green patch on a branch. Git, the sandbox, the tests and
HTTP are real; the model is a script."""

from __future__ import annotations

import json
import shlex
import shutil
import subprocess
from pathlib import Path

import pytest

from tests import dependent
from tests.bubblewrap import needs_sandbox
from tests.code_sessions import MEND, RIGHT, write_file
from tests.fakeapi import Answer, FakeApi, Request
from tests.helpers import CODE, Ended, User
from tests.repositories import git, lay, picture

pytestmark = [needs_sandbox, pytest.mark.skipif(shutil.which("git") is None, reason="needs git")]
WRONG = b"def add(a, b):\n    return a - b\n"
TESTS = b"""from app import add


def test_add():
    assert add(1, 2) == 3


def test_nothing():
    assert add(0, 0) == 0
"""
SECRET = b"from app import add\n\n\ndef test_secret():\n    assert add(5, 5) == 10\n"
FILES = {"src/app.py": WRONG, "tests/test_app.py": TESTS, "docs/add.md": b"# Add\n"}


@pytest.fixture
def user(tmp_path: Path) -> User:
    """A user whose working folder is a repository with a bug."""
    made = User(tmp_path, {"ANTHROPIC_API_KEY": "sk-ant-of-the-tests"})
    (made.settings / "Workflows").mkdir(parents=True)
    (made.settings / "Workflows/mend.md").write_text(MEND)
    lay(made.work, FILES)
    git(made.work, "init", "-q", "-b", "main")
    git(made.work, "add", "-A")
    git(made.work, "commit", "-qm", "first")
    return made


def second(request: Request) -> Answer:
    """A model that is wrong at first, and right once it saw what the tests said."""
    right = "test_add" in request.text and "Tester of" in request.text
    return Answer(write_file("src/app.py", RIGHT if right else b"def add(a, b):\n    return a * b\n"))


def right(_: Request) -> Answer:
    return Answer(write_file("src/app.py", RIGHT))


def code(user: User, *words: str | Path, responder: object = right) -> tuple[Ended, FakeApi]:
    with FakeApi(responder) as api:  # type: ignore[arg-type]
        return user.council("code", *words, "-w", "mend", ANTHROPIC_BASE_URL=api.url), api


def test_one_command_makes_a_green_branch_and_one_more_removes_it(user: User) -> None:
    lay(user.work, {"src/app.py": WRONG + b"# mine\n", "notes.txt": b"mine\n"})
    before = picture(user.work, "council/")
    ended, api = code(user, "Fix add.", "--apply", "--yes", responder=second)
    assert ended.code == 0, ended.text
    id = user.session.name
    for line in (
        "2 files and 1 test file",
        "not committed: notes.txt and src/app.py, left out (--worktree takes it too)",
        "before any change: 1 of 2 tests fails (pytest, ",
        "members see tests/test_app.py and src/app.py (in the failing tests)",
        f"put it on a branch: council apply {id}",
        f"and remove it again: council apply --undo {id}",
    ):
        assert line in ended.err, line
    for line in (
        "engineer, version 2 (the only candidate): all its tests pass.",
        "- `src/app.py`: +1 -1",
        "- engineer, version 1: pytest, visible tests: fail (1 of 2 passed, ",
        "Each run was in a sandbox of its own: no network, no home folder, a copy of the files",
        "Visible tests (pytest): pass, 2 of 2 passed",
        f"created the branch council/{id}",
    ):
        assert line in ended.out, line
    assert "assert add(1, 2) == 3" in api.prompts[0].text  # members see the failing test before they write
    assert "def add(a, b):\n    return a - b" in api.prompts[0].text
    assert picture(user.work, "council/") == before
    assert git(user.work, "show", f"council/{id}:src/app.py") == RIGHT
    base = json.loads((user.session / "base.json").read_text())
    assert (base["bench"], base["before"]["verdict"], base["before"]["failed"]) == (
        "pytest", "fail", ["tests/test_app.py::test_add"],
    )  # fmt: skip
    assert user.council("verify").code == user.council("next").code == 0
    assert user.council("apply", "--undo", id).code == 0
    assert picture(user.work, "council/") == before


def test_a_test_that_is_not_committed_counts(user: User) -> None:
    git(user.work, "rm", "-q", "--cached", "tests/test_app.py")
    git(user.work, "commit", "-qm", "without its test")
    ended, _ = code(user, "--json")
    assert ended.code == 0, ended.text
    assert (ended.json["state"], ended.json["winner"]["doubts"]) == ("complete", [])
    assert [one["path"] for one in ended.json["winner"]["files"]] == ["src/app.py"]
    applied = user.council("apply", "--yes")
    assert applied.code == 0
    branch = f"council/{user.session.name}"
    assert git(user.work, "diff", "--name-only", f"HEAD..{branch}") == b"src/app.py\n"


@pytest.mark.parametrize(("words", "workflow"), [("Council code: ", "code"), ("", "reflexion")])
def test_an_assistant_begins_one_with_the_users_own_words(user: User, words: str, workflow: str) -> None:
    ended = user.council("code", "--speaker", "assistant", "-o", "lessons=false", "-", stdin=f"{words}Fix `add`.\n")
    assert (ended.code, f"## Council {workflow.capitalize()}: Fix `add`.\n" in ended.out) == (8, True), ended.text
    metadata = json.loads((user.session / "metadata.json").read_text("utf-8"))
    assert (metadata["workflow"], metadata["topic"]) == (workflow, "Fix `add`.")
    assert (user.session / "base.tar").stat().st_size
    assert "1 turn is due" in user.council("next").out


def test_why_there_is_no_test_is_said(user: User) -> None:
    for option, named, why in (
        ("--tests", "src/app.py", "--tests src/app.py: no file there is named like a test"),
        ("--hidden", "tests", "all tests are hidden"),
    ):
        ended, api = code(user, option, named)
        assert (ended.code, why in ended.err, api.prompts) == (2, True, []), ended.err
    lay(user.work, {"tests/test_new.py": b"def test_new(:\n"})
    ended, api = code(user)
    assert (ended.code, "tests/test_new.py:1: " in ended.err, api.prompts) == (2, True, []), ended.err
    assert "Members cannot change tests, so no attempt could pass; fix the file first" in ended.err
    (user.work / "tests/test_new.py").unlink()
    git(user.work, "rm", "-rq", "tests")
    git(user.work, "commit", "-qm", "second")
    assert "has no tests: no file is named test_* or *_test. Write one" in code(user)[0].err


def test_tests_that_pass_already_tell_nothing(user: User) -> None:
    git(user.work, "mv", "tests/test_app.py", "tests/app_checks.py")
    lay(user.work, {"src/app.py": RIGHT, "tests/test_app.py": TESTS})
    git(user.work, "add", "-A")
    git(user.work, "commit", "-qm", "second")
    lay(user.work, {"src/app.py": WRONG})
    ended, api = code(user)
    assert (ended.code, api.prompts, user.sessions) == (2, [], [])
    assert "all tests pass already" in ended.err
    assert "not committed count with --worktree" in ended.err
    with_mine, _ = code(user, "--worktree", "--although-tests-pass")
    assert (with_mine.code, "1 of 2 tests fails" in with_mine.err) == (0, True)


ENDS = b"import os\nfrom app import add\n\n\ndef test_end():\n    os._exit(0)\n"
WALKS = b"import gc\n\n\ndef add(a, b):\n    gc.get_objects()\n    return a - b\n"


@pytest.mark.parametrize(
    ("files", "said", "why"),
    [
        ({"tests/test_app.py": b"import time\n\n\ndef test_a():\n    time.sleep(1000)\n"}, "the tests say: timeout",
         "timeout: the tests did not end in time (stopped: seconds)"),
        ({"tests/test_app.py": ENDS}, "unknown; 1 of 1 test fails",
         "unknown: the tests ended early, or did not start (the process ended with exit code 0 before the tests did)"),
        ({"src/app.py": WALKS}, "tampered; 1 of 2 tests fails",
         "tampered: the bench takes something that the project or its tests do for cheating (the candidate called gc."),
    ],
)  # fmt: skip
def test_where_no_attempt_could_pass_nothing_is_spent(user: User, files: dict[str, bytes], said: str, why: str) -> None:
    user.configure("benches:\n  pytest: {kind: pytest, seconds: 5}")
    lay(user.work, files)
    git(user.work, "commit", "-qam", "second")
    ended, api = code(user)
    assert (ended.code, api.prompts, user.sessions) == (2, [], []), ended.text
    for line in (f"before any change: {said}", why, "--although-tests-break", "nothing was spent"):
        assert line in ended.err, line
    if "src/app.py" in files:  # it is what members are to change
        assert code(user, "--although-tests-break")[0].code == 0


def test_the_failing_tests_are_listed_and_can_be_chosen(user: User) -> None:
    """Otherwise a test that needs the network makes the right code red."""
    lay(
        user.work,
        {"tests/test_net.py": b"def test_net():\n    raise OSError('no network')\n", "tests/test_ok.py": SECRET},
    )
    git(user.work, "add", "-A")
    git(user.work, "commit", "-qm", "second")
    red, _ = code(user)
    assert red.code == 5
    before = red.err.partition("before any change: 3 of 4 tests fail (pytest")[2].splitlines()
    assert before[1:4] == [
        f"  tests/test_{name}" for name in ("app.py::test_add", "net.py::test_net", "ok.py::test_secret")
    ]
    advice = "an attempt has to pass all tests; to choose some, name their files: "
    assert before[4] == f"{advice}--tests tests/test_app.py --tests tests/test_net.py --tests tests/test_ok.py"
    green, _ = code(user, *before[4].removeprefix(advice).split()[:2])
    assert (green.code, "1 of 2 tests fails" in green.err, advice in green.err) == (0, True, False), green.text


def test_code_that_stays_red_is_no_success(user: User) -> None:
    ended, api = code(user, "--hidden", "tests", responder=lambda _: Answer(write_file("src/app.py", WRONG)))
    assert (ended.code, len(api.prompts)) == (2, 0)  # no visible test is left
    ended, api = code(user, responder=lambda _: Answer(write_file("src/new.py", b"x = 1\n")))
    assert (ended.code, len(api.prompts)) == (5, 3)
    assert "the code is not green (visible tests: fail)" in ended.err
    again = user.council("recover")
    assert (again.code, "the code is not green (visible tests: fail)" in again.err) == (5, True), again.text
    assert user.council("next").code == 5
    assert f"council apply {user.session.name} --although-tests-fail" in ended.err


def test_a_session_that_was_stopped_is_continued(user: User) -> None:
    paused, api = code(user, "--max-calls", "1", responder=second)
    assert (paused.code, len(api.prompts)) == (3, 1), paused.text
    with FakeApi(second) as api:
        ended = user.council("recover", "--max-calls", "9", ANTHROPIC_BASE_URL=api.url)
    assert (ended.code, len(api.prompts)) == (0, 1), ended.text
    assert "engineer, version 2 (the only candidate): all its tests pass." in ended.out
    assert f"put it on a branch: council apply {user.session.name}" in ended.err


@pytest.mark.parametrize(
    ("path", "why"),
    [
        ("tests", "tests is a file, so there can be no tests/test_app.py"),
        ("tests/test_app.py/x.py", "tests/test_app.py is a file, so there can be no tests/test_app.py/x.py"),
        ("conftest.py", "conftest.py steers the test runner or Python's start; no member may write or delete it"),
        ("pytest.ini", "pytest.ini steers"), ("sitecustomize.py", "sitecustomize.py steers"), ("x.pth", "x.pth steers"),
        ("pyproject.toml", "pyproject.toml changes the settings of pytest, which no member may"),
        ("link/app.py", "link is a file, so there can be no link/app.py"),
    ],
)  # fmt: skip
def test_files_that_cannot_be_tried_cost_an_attempt_and_not_the_session(user: User, path: str, why: str) -> None:
    (user.work / "link").symlink_to("src")
    git(user.work, "add", "-A")
    git(user.work, "commit", "-qm", "a link")
    steered = "File: `{}`\n```\n[tool.pytest.ini_options]\naddopts = '-p evil'\n```\n"
    bad = write_file("src/app.py", RIGHT) + steered.format(path)
    paused, _ = code(user, "--max-calls", "1", responder=lambda _: Answer(bad))
    assert paused.code == 3, paused.text
    with FakeApi(right) as api:
        ended = user.council("recover", "--max-calls", "9", ANTHROPIC_BASE_URL=api.url)
    assert (ended.code, len(api.prompts)) == (0, 1), ended.text
    assert f"Nothing was run, because the files do not fit: {why}" in api.prompts[0].text
    assert "engineer, version 2 (the only candidate): all its tests pass." in ended.out
    assert user.council("apply", "--yes").code == 0
    assert git(user.work, "diff", "--name-only", f"HEAD..council/{user.session.name}") == b"src/app.py\n"


def test_a_file_may_take_the_place_of_a_folder(user: User) -> None:
    reply = f"{write_file('src/app.py', RIGHT)}\ndelete docs/add.md\n\nFile: `docs`\n```\nmine\n```\n"
    assert code(user, responder=lambda _: Answer(reply))[0].code == 0
    assert user.council("apply", "--yes").code == 0
    changed = git(user.work, "diff", "--name-status", f"HEAD..council/{user.session.name}").decode().split()
    assert changed == ["A", "docs", "D", "docs/add.md", "M", "src/app.py"]


def test_hidden_tests_are_run_once_and_seen_by_nobody(user: User, tmp_path: Path) -> None:
    lay(
        tmp_path / "checks",
        {"test_more.py": SECRET},
    )
    ended, api = code(user, "--hidden", tmp_path / "checks", "-o", "examine", responder=second)
    assert ended.code == 0, ended.text
    assert "hidden tests: pass (1 of 1 passed" in ended.out
    assert not any("test_secret" in request.text for request in api.prompts)
    facts = json.loads((user.session / "base.json").read_text())
    assert facts["outside"] == ["checks/test_more.py"]


def test_a_plain_folder_works_up_to_the_patch(user: User) -> None:
    shutil.rmtree(user.work / ".git")
    ended, _ = code(user)
    assert ended.code == 0, ended.text
    assert "no git repository" in ended.err
    assert f"take it over: patch -p1 < {user.session}/result.patch" in ended.err
    assert b"+    return a + b" in (user.session / "result.patch").read_bytes()


@pytest.mark.parametrize(
    ("words", "why"),
    [
        (["--repo", "nowhere"], "no such folder"),
        (["--repo", "docs", "--tests", "none"], "--tests none: the project has no file there"),
        (["--bench", "pytets"], 'there is no bench "pytets" in Config.md; did you mean "pytest"?'),
        (["--env", "docs"], "there is no bin/python"),
        (["--after", "draft=ruff"], "mend has no such steps"),
        (["--show", "none.py"], "the commit has no text file of that name"),
        (["--history", "none.py"], "--history none.py: no commit has a file or folder of that name"),
        (["--speaker", "nobody"], 'unknown speaker "nobody"'),
        (["--speaker", "replay"], "council run --speaker replay --from SESSION"),
        (["-o", "colour=red"], "colour"),
        (["--with", "nobody-known"], "nobody-known"),
    ],
)
def test_what_cannot_be_begun_is_refused_before_anything_is_spent(user: User, words: list[str], why: str) -> None:
    ended, api = code(user, *words)
    assert (ended.code, why in ended.err, "nothing was spent" in ended.err) == (2, True, True), ended.err
    assert words[0] == "--show" or "running" not in ended.err
    assert (api.prompts, user.sessions) == ([], [])


def test_a_large_sum_needs_a_word(user: User) -> None:
    user.configure("ask_above: 0.001")
    ended, api = code(user, "Fix add.")
    assert (ended.code, "add --max-cost USD or --yes" in ended.err, user.sessions) == (2, True, []), ended.text
    assert api.prompts == []
    ended, _ = code(user, "Fix add.", "--yes")
    assert ended.code == 0, ended.text


def test_a_workflow_whose_members_write_no_code_is_refused(user: User) -> None:
    ended = user.council("code", "-w", "debate")
    assert (ended.code, "members of debate write no code" in ended.err) == (2, True)


@pytest.mark.parametrize(
    "words", ["run -w mend --speaker anthropic", "run -w evolve --speaker anthropic", "start -w mend"]
)
def test_code_without_a_project_is_refused_before_anything_is_spent(user: User, words: str) -> None:
    """No attempt could pass a test, whoever speaks."""
    with FakeApi() as api:
        user.configure(f"endpoints:\n  anthropic: {{base_url: {api.url}}}")
        ended = user.council(*words.split(), "Mend it.")
    assert (ended.code, f"council code --workflow {words.split()[2]}" in ended.err) == (2, True), ended.text
    assert (api.prompts, user.sessions) == ([], [])


def test_the_readmes_own_commands_work(user: User) -> None:
    section = (CODE / "README.md").read_text("utf-8").partition("\n## Fix a failing test\n")[2].partition("\n## ")[0]
    begin, apply, undo = (shlex.split(line, comments=True)[1:] for line in section.splitlines() if line[:4] == "    ")
    with FakeApi(right) as api:
        ended = user.council(*begin, ANTHROPIC_BASE_URL=api.url)
    assert (ended.code, "all its tests pass" in ended.out, len(api.prompts)) == (0, True, 1), ended.text
    assert user.council(*apply, "--yes").code == 0
    assert git(user.work, "show", f"council/{user.session.name}:src/app.py") == RIGHT
    assert user.council(*undo).code == 0
    assert git(user.work, "for-each-ref", "refs/heads/council") == b""


def test_a_project_with_a_compiled_dependency_is_fixed(user: User, tmp_path: Path) -> None:
    folder = dependent.make(tmp_path / "greetings")
    dependent.borrow_packages(folder)
    with FakeApi(dependent.answer) as api:
        ended = user.council("code", "Escape the name.", "--repo", folder, "--json", ANTHROPIC_BASE_URL=api.url)
    assert ended.code == 0, ended.text
    (trial,) = ended.json["winner"]["trials"]
    assert (trial["verdict"], trial["passed"], ended.json["winner"]["version"]) == ("pass", 5, 2)
    assert json.loads((user.session / "base.json").read_text())["env"] == str(folder / ".venv")
    assert user.council("apply", "--yes", "--repo", folder).code == 0
    git(folder, "switch", "-q", f"council/{user.session.name}")
    own = [folder / ".venv/bin/python", "-c", "import greetings.page as page; print(page.greet('<'))"]
    printed = subprocess.run(own, cwd=folder / "src", capture_output=True, text=True, check=True).stdout
    assert printed == "<p>Hello, &lt;!</p>\n"
