"""What no member may write, because it would choose how it is tested or cannot be laid out; and what is only named."""

from __future__ import annotations

import pytest

from council.candidates.base import Base
from council.candidates.paths import find_clash
from council.candidates.steering import explain_later
from council.candidates.versions import explain_misfit

PYPROJECT = b'[project]\nname = "sums"\n\n[tool.pytest.ini_options]\naddopts = "-q"\n'
SETUP = b"[metadata]\nname = sums\n\n[tool:pytest]\naddopts = -q\n\n[flake8]\nmax-line-length = 100\n"
PROJECT = Base(
    tree={"src/app.py": b"x = 1\n", "pyproject.toml": PYPROJECT, "setup.cfg": SETUP, "jest.config.js": b"1\n"},
    visible={"tests/test_calc.py": b"def test_a(): ...\n", "tests/conftest.py": b"import pytest\n"},
    hidden={"checks/test_secret.py": b"def test_b(): ...\n"},
    facts={"left_out": {"assets": "a symbolic link", "data/big.bin": "in Git LFS"}},
)


def misfit(**changed: bytes | None) -> str:
    """What is said of the project with these files; None deletes one."""
    laid = {path: data for path, data in {**PROJECT.tree, **changed}.items() if data is not None}
    return explain_misfit(laid, PROJECT)


@pytest.mark.parametrize(
    "path",
    [
        "conftest.py", "src/conftest.py", "tests/conftest.py", "pytest.ini", "tests/pytest.ini", "tox.ini",
        "pytest.toml", "sitecustomize.py", "src/usercustomize.py", "x.pth", "Conftest.py", "src/SITECUSTOMIZE.PY",
        "PyTest.py", "a/Node_Modules/b.js", "src/a.pyc", "x.egg-info/entry_points.txt", "x-1.dist-info/METADATA",
        "pytest.py", "_pytest/__init__.py", "src/pluggy/__init__.py", "unittest.py", "node_modules/left/index.js",
        "lib/site-packages/a.py", ".mocharc.json", "web/vitest.config.ts",
    ],
)  # fmt: skip
def test_a_file_that_steers_a_test_runner_is_refused(path: str) -> None:
    assert misfit(**{path: b"# mine\n"}).startswith(f"{path} ")


def test_the_settings_of_pytest_are_the_projects_and_other_settings_are_anybodys() -> None:
    for path, data, why in (
        ("pyproject.toml", PYPROJECT.replace(b"-q", b"-p evil"), True),
        ("pyproject.toml", PYPROJECT.partition(b"[tool")[0], True),
        ("pyproject.toml", None, True),
        ("pyproject.toml", PYPROJECT.replace(b'"sums"', b'"sum"') + b"[tool.ruff]\n", False),
        ("docs/pyproject.toml", b"[tool.pytest]\nx = 1\n", True),
        ("docs/pyproject.toml", b"[project]\n", False),
        ("docs/PyProject.toml", b"[tool.pytest]\nx = 1\n", True),
        ("setup.cfg", SETUP.replace(b"-q", b"-p evil"), True),
        ("setup.cfg", SETUP + b"[pytest]\naddopts = -p evil\n", True),
        ("setup.cfg", SETUP.replace(b"100", b"120").replace(b"sums", b"sum"), False),
    ):
        said = f"{path} changes the settings of pytest, which no member may; leave them as they are" if why else ""
        assert misfit(**{path: data}) == said, (path, data)
    assert misfit(**{"jest.config.js": b"2\n"}) == ""  # the trial runs the very same file, and the result names it
    itself = Base(tree={"src/_pytest/main.py": b"x = 1\n"})
    assert explain_misfit({**itself.tree, "src/_pytest/new.py": b"x = 2\n"}, itself) == ""


@pytest.mark.parametrize(
    ("path", "why"),
    [
        ("tests", "tests is a file, so there can be no tests/"),
        ("tests/test_calc.py/x.py", "tests/test_calc.py is a file, so there can be no tests/test_calc.py/x.py"),
        ("tests/Test_Calc.py", "tests/test_calc.py and tests/Test_Calc.py are the same file on some systems"),
        ("assets/logo.svg", "assets is a file, so there can be no assets/logo.svg"),
        ("assets", "assets is a symbolic link in the project, so no member may write it"),
        ("data/big.bin", "data/big.bin is in Git LFS in the project, so no member may write it"),
        ("data", "data is a file, so there can be no data/big.bin"),
        ("checks", "there can be no file checks in this project"),
        ("checks/test_secret.py/x.py", "there can be no file checks/test_secret.py/x.py in this project"),
    ],
)
def test_a_file_where_the_project_has_something_else_is_refused(path: str, why: str) -> None:
    assert misfit(**{path: b"x\n"}).startswith(why)


def test_a_project_may_clash_with_itself_and_a_folder_may_become_a_file() -> None:
    assert find_clash(["new.py"], ["Readme", "README", "a", "a/b"]) == ""
    assert find_clash(["a/B/c"], ["a/b"]) == "a/b is a file, so there can be no a/B/c"
    assert misfit(**{"src/app.py": None, "src": b"x = 1\n"}) == ""
    assert misfit(**{"tests/test_calc.py": b"mine\n", "tests/test_more.py": b"mine\n"}) == ""


@pytest.mark.parametrize(
    "path",
    [
        ".github/workflows/ci.yml", ".claude/settings.json", ".mcp.json", ".envrc", ".vscode/tasks.json",
        ".husky/pre-push", ".pre-commit-config.yaml", "Makefile", "setup.py", "justfile", "package.json",
        "noxfile.py", "Dockerfile", "docker/api.Dockerfile", ".devcontainer/devcontainer.json",
        ".idea/workspace.xml", "AGENTS.md", "CLAUDE.md", ".cursor/rules", "pyproject.toml", "web/vite.config.ts",
        "requirements-dev.txt", "jest.config.js", "docs/conf.py",
    ],
)  # fmt: skip
def test_a_file_that_runs_later_is_known(path: str) -> None:
    assert explain_later(path)
    assert not explain_later(f"src/{path.rpartition('/')[2].strip('.').replace('.', '_')}_of_ours.py")
