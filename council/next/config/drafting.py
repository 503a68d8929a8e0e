"""Drafts a list of specialists from a repository's folders and its CODEOWNERS, for a person to edit.

A stranger may have written the repository. Only names of files and CODEOWNERS are looked at; what is taken from them
are names and paths of plain letters. Nothing is run, and no link is followed. The kit's Draft.md says which names show
that a repository needs a specialist of one of the kit's lists, and what a draft looks like.
"""

from __future__ import annotations

import os
import string
from contextlib import suppress
from fnmatch import fnmatchcase
from pathlib import Path

from council.next.config import places, specialists
from council.next.errors import CouncilError, UsageError
from council.next.record import files
from council.next.schema import read_markdown
from council.next.text import slug
from council.next.workflow.model import RESERVED

FORM = "Draft.md"
OWNERS = (".github/CODEOWNERS", "CODEOWNERS", "docs/CODEOWNERS", ".gitlab/CODEOWNERS")
LARGEST = 256_000  # bytes of CODEOWNERS that are read
MOST_ENTRIES, DEEPEST = 20_000, 4  # of the folders that are looked at
MOST_PATHS, MOST_OWNERS, LONGEST_PATH = 6, 10, 80
PASSED_OVER = ("node_modules", "vendor", "third_party", "dist", "build", "target", "__pycache__", "venv")
PLAIN = frozenset(string.ascii_letters + string.digits + "./_@+*-")


def draft(top: Path) -> tuple[str, int]:
    """The text of a list for this repository, and how many lines of its CODEOWNERS were not used."""
    if not top.is_dir():
        raise UsageError(f"{top}: there is no such folder")
    table, form = read_markdown(places.read(places.KIT / FORM), FORM, "signs")
    head, _, owner = form.partition("\n## ")
    names = sorted(filter(is_plain, list_names(top)))
    sections: dict[str, str] = {}
    for name, sign in table.mapping("signs").items():
        if paths := [path for path in names if any(fnmatchcase(f"/{path}", f"*/{shape}") for shape in sign["names"])]:
            known = specialists.load(sign["area"]).sections[name] | {"paths": join_paths(paths), "features": ""}
            facts = [f"- **{fact.capitalize()}:** {known[fact]}" for fact in specialists.FIELDS if known.get(fact)]
            sections[name] = "\n".join((f"## {name}", "", *facts, "", known["perspective"], ""))
    owned, unused = read_owners(top)
    sources = " and ".join(["its folders"] * bool(sections) + ["CODEOWNERS"] * bool(owned))
    for name, paths in owned.items():
        title = name.replace("-", " ").capitalize()
        sections.setdefault(name, f"## {owner.format(name=name, title=title, paths=join_paths(paths))}\n")
    if not sections:
        lists = ", ".join(specialists.areas())
        raise UsageError(f"{top}: nothing shows which parts it has; begin with one of council's lists: {lists}")
    return "\n".join((head.format(sources=sources), *sections.values())), unused


def list_names(top: Path) -> list[str]:
    """The paths of folders, with a slash, and of files near the top, in an order that does not depend on the disk."""
    found: list[str] = []
    for place, folders, others in os.walk(top):
        inside = Path(place).relative_to(top)
        here = sorted(name for name in folders if not name.startswith(".") and name not in PASSED_OVER)
        folders[:] = here if len(inside.parts) < DEEPEST else []
        found += [(inside / name).as_posix() + "/" for name in here]
        found += [(inside / name).as_posix() for name in sorted(others)]
        if len(found) > MOST_ENTRIES:
            break
    return found[:MOST_ENTRIES]


def is_plain(path: str) -> bool:
    return len(path) <= LONGEST_PATH and PLAIN.issuperset(path)


def read_owners(top: Path) -> tuple[dict[str, list[str]], int]:
    """The paths of each owner in CODEOWNERS, and how many of its lines say nothing that can be used. An owner is a
    team. Where only persons own a path, its first folder names them: a list has parts, not people."""
    top, text = Path(os.path.realpath(top)), ""
    for file in (top / name for name in OWNERS):
        with suppress(CouncilError):
            if not text and os.path.realpath(file) == str(file):  # no link is on the way to it
                text = files.read(file)[:LARGEST].decode("utf-8", "replace")
    owned: dict[str, list[str]] = {}
    unused = 0
    for path, *owners in filter(None, (line.partition("#")[0].split() for line in text.splitlines())):
        teams = [slug(owner.partition("/")[2], 40) for owner in owners if owner.startswith("@")]
        name = next(filter(None, teams), "") or slug(path.strip("/*").partition("/")[0], 40)
        fits = (name in owned or len(owned) < MOST_OWNERS) and name not in RESERVED
        if owners and fits and is_plain(path) and name.isascii() and name[:1].isalpha():
            owned.setdefault(name, []).append(path.lstrip("/"))
        else:
            unused += 1
    return owned, unused


def join_paths(paths: list[str]) -> str:
    """The highest paths: those inside of one of them are not named again."""
    tops: list[str] = []
    for path in sorted({*paths}, key=lambda path: (path.count("/"), path)):
        if len(tops) < MOST_PATHS and not path.startswith(tuple(top for top in tops if top.endswith("/"))):
            tops.append(path)
    return ", ".join(tops)
