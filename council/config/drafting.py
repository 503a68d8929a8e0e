"""Drafts a list of specialists from a repository's folders and its CODEOWNERS, for a person to edit.

A stranger may have written the repository. Only names of files are looked at, and CODEOWNERS is data: what is taken
from it is letters of owners and paths, never a line of it. Nothing is run, and no link is followed.
"""

from __future__ import annotations

import os
import re
import stat
from collections.abc import Iterable, Iterator, Mapping
from fnmatch import fnmatchcase
from pathlib import Path, PurePosixPath

from council.config import specialists
from council.errors import UsageError
from council.text import slug

OWNERS = (".github/CODEOWNERS", "CODEOWNERS", "docs/CODEOWNERS", ".gitlab/CODEOWNERS")
LARGEST = 256_000  # bytes of CODEOWNERS that are read
MOST_ENTRIES, DEEPEST = 20_000, 4  # of the folders that are looked at
MOST_PATHS, MOST_OWNERS = 6, 10
PASSED_OVER = ("node_modules", "vendor", "third_party", "dist", "build", "target", "__pycache__", "venv")
PLAIN_PATH = re.compile(r"[\w./@+*-]{1,80}", re.ASCII)
TEAM = re.compile(r"@[\w.-]{1,60}/([\w.-]{1,60})", re.ASCII)
TEAM_WORDS = re.compile(r"^(team|squad|group)-|-(team|squad|group|owners|maintainers|reviewers|devs?)$")
# What speaks for a specialist of a kit's list: names of folders (with a slash) and of files.
SIGNS: Mapping[tuple[str, str], tuple[str, ...]] = {
    ("web-service", "api"): ("api/", "routes/", "controllers/", "graphql/", "openapi*.y*ml", "*.graphql"),
    ("conferencing", "protocol"): ("proto/", "protos/", "*.proto", "*.avsc", "*.thrift"),
    ("web-service", "backend"): ("server/", "backend/", "services/", "domain/", "manage.py", "go.mod", "pom.xml"),
    ("web-service", "frontend"): ("frontend/", "components/", "*.tsx", "*.vue", "*.svelte"),
    ("web-service", "database"): ("migrations/", "migrate/", "alembic/", "prisma/", "schema.sql", "schema.rb"),
    ("web-service", "jobs"): ("jobs/", "workers/", "tasks/", "queues/", "celery*.py", "crontab"),
    ("web-service", "platform"): (
        "terraform/", "helm/", "k8s/", "kubernetes/", "deploy/", "*.tf", "Dockerfile*", "docker-compose*.y*ml",
    ),
    ("data-platform", "processing"): ("dags/", "pipelines/", "airflow/", "spark/"),
    ("data-platform", "modelling"): ("dbt/", "dbt_project.yml", "warehouse/"),
    ("data-platform", "ml"): ("notebooks/", "training/", "*.ipynb", "ml/"),
    ("library", "public-api"): ("include/", "py.typed", "Cargo.toml", "setup.py", "*.gemspec", "*.podspec"),
    ("library", "documentation"): ("docs/", "examples/", "mkdocs.yml"),
    ("library", "performance"): ("benches/", "benchmarks/", "bench/"),
}  # fmt: skip
STUB = """## {name}

- **Title:** {title}
- **Touches:** what this owner answers for, in a few words
- **Paths:** {paths}

You own {paths}. Write here what you look at first, what you insist on, with numbers, and what you refuse.
"""
HEAD = """# Specialists of this project

A draft, made by `council specialists draft` from {sources}. Edit it before you use it: remove
who has no say in designs, correct the paths, and write what each of them insists on and refuses.
Test, Security, Observability and Operations sit in every debate and need no section.

"""


def draft(repository: Path) -> tuple[str, int]:
    """The text of a list for this repository, and how many lines of its CODEOWNERS were not used."""
    names = sorted(list_names(repository))
    owned, unused = read_owners(repository)
    signs = {key: [name for name in names if _fits(name, patterns)] for key, patterns in SIGNS.items()}
    found = {key: paths for key, paths in signs.items() if paths}
    sections = [_known(*key, paths) for key, paths in found.items()]
    taken = {name for _, name in found}
    sections += [_stub(owner, paths) for owner, paths in owned.items() if owner not in taken]
    if not sections:
        raise UsageError(
            f"{repository}: neither its folders nor a CODEOWNERS say which parts it has; begin with a kit's list: "
            f"council specialists use {next(iter(specialists.kits()))}"
        )
    sources = " and ".join(["its folders"] * bool(found) + ["CODEOWNERS"] * bool(owned))
    return HEAD.format(sources=sources) + "\n".join(sections), unused


def list_names(top: Path) -> Iterator[str]:
    """The paths of folders (with a slash) and files near the top, at most `MOST_ENTRIES`. No link is followed."""
    if not top.is_dir():
        raise UsageError(f"{top}: no such folder")
    seen = 0
    for place, folders, files in os.walk(top):
        inside = PurePosixPath(Path(place).relative_to(top).as_posix())
        kept = [name for name in folders if not name.startswith(".") and name not in PASSED_OVER]
        folders[:] = sorted(kept) if len(inside.parts) < DEEPEST else []
        for name in (*(f"{name}/" for name in kept), *sorted(files)):
            seen += 1
            if seen > MOST_ENTRIES:
                return
            yield f"{inside / name.rstrip('/')}{'/' * name.endswith('/')}"


def _fits(path: str, patterns: Iterable[str]) -> bool:
    name = f"{PurePosixPath(path).name}{'/' * path.endswith('/')}"
    return any(fnmatchcase(name, pattern) for pattern in patterns) and PLAIN_PATH.fullmatch(path) is not None


def read_owners(top: Path) -> tuple[dict[str, list[str]], int]:
    """The paths of each owner in CODEOWNERS, and how many of its lines say nothing that can be used.

    An owner is a team. Where only persons own a path, its first folder stands for them: a list names parts, not people.
    """
    text = next((text for name in OWNERS if (text := _read_plain(top / name))), "")
    lines = [line.partition("#")[0].split() for line in text.splitlines()]
    owned: dict[str, list[str]] = {}
    unused = 0
    for path, *owners in filter(None, lines):
        names = [name for owner in owners if (name := _name_owner(owner))] or [slug(path.strip("/*").split("/")[0], 40)]
        name = names[0]
        if not PLAIN_PATH.fullmatch(path) or not name or not name[0].isalpha() or not owners:
            unused += 1
        elif name in owned or len(owned) < MOST_OWNERS:
            owned.setdefault(name, []).append(path.lstrip("/"))
        else:
            unused += 1
    return owned, unused


def _name_owner(owner: str) -> str:
    team = TEAM.fullmatch(owner)
    return TEAM_WORDS.sub("", slug(team[1], 40)) if team else ""


def _read_plain(path: Path) -> str:
    """The beginning of a regular file; empty if there is none, or a link."""
    try:
        with open(path, "rb", opener=lambda name, flags: os.open(name, flags | os.O_NOFOLLOW | os.O_NONBLOCK)) as file:
            regular = stat.S_ISREG(os.fstat(file.fileno()).st_mode)
            return file.read(LARGEST).decode("utf-8", "replace") if regular else ""
    except OSError:
        return ""


def _known(kit: str, name: str, paths: list[str]) -> str:
    """A kit's section with the paths that were found. One that takes its text from a persona gets only the hints."""
    text = specialists.load(kit).text
    section = next(one for one in re.split(r"^(?=## )", text, flags=re.M) if one.startswith(f"## {name}\n"))
    section = re.sub(r"^- \*\*(Paths|Features):\*\*.*\n", "", section, flags=re.M).rstrip()
    return re.sub(r"^(- \*\*Touches:\*\*.*)$", rf"\1\n- **Paths:** {_join(paths)}", section, count=1, flags=re.M) + "\n"


def _stub(owner: str, paths: list[str]) -> str:
    return STUB.format(name=owner, title=owner.replace("-", " ").capitalize(), paths=_join(paths))


def _join(paths: list[str]) -> str:
    """The highest paths: what is inside one of them is not named again."""
    tops: list[str] = []
    for path in sorted(dict.fromkeys(paths), key=lambda path: (path.count("/"), path)):
        if not any(path != top and top.endswith("/") and path.startswith(top) for top in tops):
            tops.append(path)
    return ", ".join(tops[:MOST_PATHS])
