"""Files that choose for a test runner or for Python's start, and files that run outside of the sandbox. Pure.

No member may write the first kind: else a trial would run what the member chose, or the branch would not be what the
trial ran. The second kind is honest work too, so it is only named, wherever the result is shown.
"""

from __future__ import annotations

import re
import tomllib
from collections.abc import Iterable, Mapping
from typing import Any

from council.candidates.paths import fold_path

# Files that steer pytest or Python's start, wherever they are.
STEERING = (
    "conftest.py", "pytest.ini", ".pytest.ini", "pytest.toml", ".pytest.toml", "tox.ini", "sitecustomize.py",
    "usercustomize.py",
)  # fmt: skip
ENDINGS = (".pth", ".pyc")
PACKAGES = (".dist-info", ".egg-info")  # folders that register plugins
INSTALLED = ("node_modules", "site-packages", "__pycache__")
RUNNERS = ("pytest", "_pytest", "pluggy", "iniconfig", "unittest", "coverage")  # what no file may take the place of
OTHER_RUNNERS = re.compile(
    r"(?:jest|vitest|playwright|cypress|karma|ava|wtr|web-test-runner)\.(?:config|conf)\.\w+"
    r"|\.(?:mocharc|taprc|nycrc|c8rc)(?:\.\w+)?|node\.config\.json"
)
SECTION = re.compile(r"\s*\[[^\]]*pytest", re.I)  # begins one, however a program reads it

BUILDS, INSTALLS, ASSISTANTS = "builds run it", "says what is installed", "coding assistants obey it"
CHECKS = "steers a checker, and the checkers of this session used the project's own"
# Names of files that programs run or obey by themselves, in lower case; and what runs them.
LATER = {
    **dict.fromkeys(
        "makefile gnumakefile bsdmakefile justfile taskfile.yml taskfile.yaml rakefile gruntfile.js gulpfile.js "
        "cmakelists.txt meson.build sconstruct wscript configure configure.ac build.gradle build.gradle.kts "
        "settings.gradle settings.gradle.kts gradlew mvnw pom.xml build.xml build build.bazel workspace module.bazel "
        "build.rs binding.gyp setup.py setup.cfg hatch_build.py noxfile.py dodo.py fabfile.py lerna.json turbo.json "
        "nx.json".split(),
        BUILDS,
    ),
    **dict.fromkeys(
        "pyproject.toml package.json deno.json deno.jsonc bunfig.toml composer.json gemfile cargo.toml go.mod".split(),
        f"{INSTALLS}, and holds commands and settings of tools",
    ),
    **dict.fromkeys(
        "pipfile pipfile.lock poetry.lock uv.lock pdm.lock package-lock.json npm-shrinkwrap.json yarn.lock "
        "pnpm-lock.yaml pnpm-workspace.yaml bun.lock gemfile.lock cargo.lock go.sum go.work environment.yml "
        "environment.yaml pip.conf".split(),
        INSTALLS,
    ),
    **dict.fromkeys(
        "jenkinsfile azure-pipelines.yml azure-pipelines.yaml bitbucket-pipelines.yml appveyor.yml cloudbuild.yaml "
        "cloudbuild.yml buildspec.yml action.yml action.yaml lefthook.yml lefthook.yaml".split(),
        "CI or git runs it",
    ),
    **dict.fromkeys(
        "dockerfile containerfile vagrantfile procfile docker-compose.yml docker-compose.yaml compose.yml compose.yaml "
        "docker-bake.hcl devcontainer.json skaffold.yaml tiltfile netlify.toml vercel.json fly.toml".split(),
        "containers are made from it, or it is deployed",
    ),
    **dict.fromkeys("agents.md claude.md gemini.md skill.md mcp.json agent.md llms.txt".split(), ASSISTANTS),
    **dict.fromkeys("mypy.ini ruff.toml pylintrc tslint.json biome.json pyrightconfig.json".split(), CHECKS),
}
PATTERNS = (
    (re.compile(r"(?:.*/)?requirements[^/]*\.(?:txt|in)|(?:.*/)?requirements/[^/]+\.(?:txt|in)"), INSTALLS),
    (re.compile(r"tasks\.py|build\.py|docs?/(?:.*/)?conf\.py"), BUILDS),
    (re.compile(r"(?:.*/)?(?:pre|post)-(?:commit|push|merge|checkout|receive)"), "git runs it"),
    (re.compile(r"(?:.*/)?(?:dockerfile|containerfile)\.[^/]+|.*\.dockerfile"), "containers are made from it"),
    (re.compile(r".*\.(?:mk|cmake|csproj|vcxproj|props|targets|gemspec|bzl)"), BUILDS),
    (re.compile(r".*\.(?:tf|tfvars)"), "it is deployed"),
    (re.compile(r".*\.code-workspace"), "an editor obeys it"),
    (re.compile(r"(?:.*/)?[^/]+\.(?:config|conf)\.(?:[cm]?[jt]sx?|json)"), "a tool runs it"),
)
HIDDEN_PLACES = {
    ".github": "CI runs it, or it steers GitHub", ".gitlab-ci.yml": "CI runs it", ".circleci": "CI runs it",
    ".claude": ASSISTANTS, ".mcp.json": ASSISTANTS, ".cursor": ASSISTANTS, ".cursorrules": ASSISTANTS,
    ".codex": ASSISTANTS, ".gemini": ASSISTANTS, ".vscode": "an editor obeys it", ".idea": "an editor obeys it",
    ".envrc": "a shell runs it", ".husky": "git runs it", ".githooks": "git runs it",
    ".pre-commit-config.yaml": "git runs it", ".devcontainer": "containers are made from it", ".npmrc": INSTALLS,
}  # fmt: skip


def explain_steering(path: str, before: Mapping[str, bytes], after: bytes | None) -> str:
    """Why no member may change this file of a project to `after` (None if it is deleted); empty if it may."""
    old = before.get(path)
    if old == after:
        return ""
    *folders, name = fold_path(path).split("/")  # as it is found where case does not matter
    if name in STEERING or name.endswith(ENDINGS) or any(folder.endswith(PACKAGES) for folder in folders):
        return f"{path} steers the test runner or Python's start; no member may write or delete it"
    if old is None and (place := next((folder for folder in folders if folder in INSTALLED), "")):
        return f"{path} would be in {place}, which holds what was installed; no member may write there"
    if old is None and OTHER_RUNNERS.fullmatch(name):
        return f"{path} would steer a test runner, and the project has no such file; no member may write one"
    if old is None and (module := _find_module(path)) in RUNNERS and not _has_module(module, before):
        return f"{path} would take the place of {module}; no member may write it"
    if name in READERS and READERS[name](old) != READERS[name](after):
        return f"{path} changes the settings of pytest, which no member may; leave them as they are"
    return ""


def is_steering(path: str) -> bool:
    """Whether a file steers pytest or Python's start by its name alone."""
    name = fold_path(path).rpartition("/")[2]
    return name in STEERING or name.endswith(ENDINGS)


def _find_module(path: str) -> str:
    """The name by which a file at the top, or in `src`, is imported."""
    first, _, rest = fold_path(path).removeprefix("src/").partition("/")
    return first if rest else first.removesuffix(".py")


def _has_module(module: str, files: Iterable[str]) -> bool:
    return any(_find_module(path) == module for path in files)


def _read_pyproject(data: bytes | None) -> Any:
    """What a `pyproject.toml` says to pytest; None if nothing, or if it cannot be read."""
    try:
        return tomllib.loads((data or b"").decode()).get("tool", {}).get("pytest")
    except (ValueError, RecursionError, AttributeError):
        return None


def _read_sections(data: bytes | None) -> list[str]:
    """The lines of a `setup.cfg` in sections that name pytest: programs differ in how they read such a file."""
    found, inside = [], False
    for line in (data or b"").decode("utf-8", "replace").splitlines():
        inside = SECTION.match(line) is not None or (inside and not line.startswith("["))
        found += [line.rstrip()] if inside and line.strip() else []
    return found


READERS = {"pyproject.toml": _read_pyproject, "setup.cfg": _read_sections}


# ---- what runs outside of the sandbox ----


def explain_later(path: str) -> str:
    """What runs or obeys this file outside of the sandbox, without being told to; empty if nothing is known to."""
    lower = path.lower()
    for part in lower.split("/"):
        if part.startswith("."):
            return HIDDEN_PLACES.get(part, "tools read hidden files by themselves")
    if why := LATER.get(lower.rpartition("/")[2]):
        return why
    if OTHER_RUNNERS.fullmatch(lower.rpartition("/")[2]):
        return "it steers a test runner"
    return next((why for pattern, why in PATTERNS if pattern.fullmatch(lower)), "")


def find_later(paths: Iterable[str]) -> dict[str, str]:
    """Those of the paths that run or are obeyed outside of the sandbox, each with what does so."""
    return {path: why for path in paths if (why := explain_later(path))}
