"""`install-skill`: links or copies the kit to where assistants look for skills, and removes it again.

It touches only its own files, and no settings.
"""

from __future__ import annotations

import hashlib
import json
import os
import shutil
import sys
import tempfile
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import click

from council.next.cli.options import flag
from council.next.errors import StorageError, UsageError
from council.next.record.files import tilde
from council.next.terminal.output import TIE, echo, note, say

COUNCIL = sys.modules[__name__.partition(".")[0]]  # the package is imported before this module
VERSION, PACKAGE = str(COUNCIL.__version__), Path(str(COUNCIL.__file__)).resolve().parent
NAME, MANIFEST = "council", ".council-copy.json"
MADE_LATER = {"__pycache__", ".in_use"}  # by Python and by assistants, inside a copy
# The files of a checkout that form the skill. A wheel carries the same.
KIT = (
    "SKILL.md", "Config.md", "AgentPersonalities.md", "LICENSE", "Specialists", "Workflows", "templates", "agents",
    "hooks", ".claude-plugin", "bin", "requirements.lock", "requirements-bench.lock", "requirements-local.lock",
    "scripts/setup", "scripts/environment.py", "docs/workflows.md",
)  # fmt: skip
# What is found in a place, for doctor: whether it is as it should be, and in words.
FOUND = {
    "nothing": (False, "not installed; `council install-skill` links it"),
    "link": (True, "{} is linked to this kit"),
    "other link": (False, "{} is a link to another kit; `council install-skill` renews it"),
    "kit": (True, "{} is this kit"),
    "copy": (True, f"{{}} is a copy of {VERSION}"),
    "other copy": (False, "{} is a copy of another version; `council install-skill` renews it"),
    "edited": (False, "{} was changed by hand"),
    "foreign": (False, "{} was not created by council"),
}


@dataclass(frozen=True)
class Place:
    """A folder in which an assistant looks for the skill."""

    whose: str
    path: Path
    kit: Path

    @property
    def shown(self) -> str:
        return tilde(self.path)

    @property
    def found(self) -> str:
        """What is there, by its name in FOUND."""
        if not os.path.lexists(self.path):
            return "nothing"
        if self.path.resolve() == self.kit:
            return "link" if self.path.is_symlink() else "kit"
        if self.path.is_symlink():
            # The kit of a wheel goes with its Python. The link that is left is still ours.
            lost = not self.path.exists() and self.path.readlink().parts[-2:] == (NAME, "kit")
            return "other link" if lost or is_kit(self.path) else "foreign"
        if not (self.path / MANIFEST).is_file() or not is_kit(self.path):
            return "foreign"
        if self.changes():
            return "edited"
        return "copy" if read_facts(self.path / MANIFEST).get("council") == VERSION else "other copy"

    def changes(self) -> list[str]:
        """The files of a copy that somebody edited or added."""
        known = read_facts(self.path / MANIFEST).get("files")
        if not isinstance(known, dict):
            return [MANIFEST]
        there = digests(self.path)
        return sorted(name for name in there if name != MANIFEST and known.get(name) != there[name])


def places(project: bool = False) -> list[Place]:
    """Claude Code's place, and the one that Codex, Gemini CLI, OpenCode, Copilot CLI and Cursor read."""
    # The kit is beside the package in a checkout, inside it where it is installed.
    kit = PACKAGE.parent if (PACKAGE.parent / "SKILL.md").is_file() else PACKAGE / "kit"
    base, own = Path.cwd() if project else Path.home(), os.environ.get("CLAUDE_CONFIG_DIR")
    claude = Path(own).absolute() if own and not project else base / ".claude"
    return [
        Place("Claude Code", claude / "skills" / NAME, kit),
        Place("other assistants", base / ".agents" / "skills" / NAME, kit),
    ]


def is_kit(folder: Path) -> bool:
    """Whether the folder is a kit of any version."""
    plugin = read_facts(folder / ".claude-plugin" / "plugin.json")
    return plugin.get("name") == NAME and (folder / "AgentPersonalities.md").is_file()


def read_facts(path: Path) -> dict[str, Any]:
    """The JSON object in a file. Empty if there is none: a stranger may have written it."""
    try:
        found = json.loads(path.read_text("utf-8"))
    except (OSError, ValueError, RecursionError):
        return {}
    return found if isinstance(found, dict) else {}


def digests(folder: Path) -> dict[str, str]:
    """Each file of a folder with its hash; a link with its target."""
    found = {}
    for path in sorted(folder.rglob("*")):
        name = path.relative_to(folder)
        if path.is_symlink() or (path.is_file() and MADE_LATER.isdisjoint(name.parts)):
            link = path.is_symlink()
            found[str(name)] = str(path.readlink()) if link else hashlib.sha256(path.read_bytes()).hexdigest()
    return found


# ---- the command ----


@click.command("install-skill")
@flag("--claude", "Install only for Claude Code (~/.claude/skills/council).")
@flag("--agents", "Install only for assistants that read ~/.agents/skills/council.")
@flag("--project", "Install into this directory's .claude and .agents.")
@flag("--copy", "Copy the skill instead of linking it.")
@flag("--undo", "Remove what install-skill has installed.")
def install_skill(claude: bool, agents: bool, project: bool, copy: bool, undo: bool) -> None:
    """Let AI assistants find council. It links its folder into the places where they look for skills.

    Safe to run again at any time. Files that council did not create are never touched.

    \b
    Examples:
      council install-skill
      council install-skill --project --copy
      council install-skill --undo
    """
    if copy and undo:
        raise UsageError("--copy and --undo cannot be combined; --undo removes links and copies")
    both = places(project)
    chosen = [place for place, wanted in zip(both, (claude, agents), strict=True) if wanted] or both
    for place in chosen:  # all are checked before anything is changed
        refuse(place, project, undo)
    for place in chosen:
        try:
            echo(uninstall(place) if undo else install(place, copy))
        except OSError as failure:
            raise StorageError(f"{place.shown}: {failure.strerror}; make it writable, then run this again") from None
    if undo:
        return
    say('In a new session of your assistant, type "Council: " and a question.')
    # Only Claude Code's skills of the user put their program on PATH.
    if (project or both[1] in chosen) and not shutil.which(NAME):
        note(f"`council` is not on your PATH, where assistants look for it first. {advise_link(both[0].kit)}")


def refuse(place: Place, project: bool, undo: bool) -> None:
    """Refuse to replace or remove what council did not create, or what was edited since."""
    folder = place.path.parent
    if project and not folder.resolve().is_relative_to(Path.cwd().resolve()):
        raise UsageError(f"{place.shown}: {folder} is a link that leads out of the project, so it was left alone")
    found = place.found
    if found == "foreign" and not undo:
        raise UsageError(
            f"{place.shown} was not created by council and was left alone; move it away, then run this again "
            "(--claude or --agents installs in only one place)"
        )
    if found == "edited":
        raise UsageError(
            f"{place.shown}: {', '.join(place.changes()[:5])} was changed by hand; keep your changes elsewhere (your "
            "own personas, workflows and templates go into ~/.config/council), remove the folder, then run this again"
        )


def install(place: Place, copy: bool) -> str:
    """Install the skill, and say so. What is there is replaced as a whole."""
    found = place.found
    if found == "kit":
        return f"{place.shown} is this kit itself"
    if found == "link" and not copy:
        return f"{place.shown} is already linked"
    place.path.parent.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(prefix=f".{NAME}-", dir=place.path.parent) as room:
        new = Path(room) / NAME
        if copy:
            write_copy(new, place.kit)
        else:
            new.symlink_to(place.kit)
        if found != "nothing":
            place.path.rename(Path(room) / "old")
        new.rename(place.path)
    older = "" if found == "nothing" else ", replacing an older installation"
    return f"{'copied to' if copy else 'linked'} {place.shown}{older}"


def write_copy(new: Path, kit: Path) -> None:
    """Copy the kit and the package. The copy needs nothing else: its bin/council makes its own environment."""
    for source, target in ((kit / name, new / name) for name in KIT):
        target.parent.mkdir(parents=True, exist_ok=True)
        if source.is_dir():
            shutil.copytree(source, target, ignore=shutil.ignore_patterns("__pycache__"))
        else:
            shutil.copy(source, target)
    leave = shutil.ignore_patterns("__pycache__", *(["kit"] if kit.parent == PACKAGE else []))
    shutil.copytree(PACKAGE, new / NAME, ignore=leave, symlinks=True)
    (new / MANIFEST).write_text(json.dumps({"council": VERSION, "files": digests(new)}, indent=1), "utf-8")


def uninstall(place: Place) -> str:
    match place.found:
        case "link" | "other link":
            place.path.unlink()
            return f"removed the link {place.shown}"
        case "copy" | "other copy":
            shutil.rmtree(place.path)
            return f"removed the copy {place.shown}"
        case "nothing":
            return f"{place.shown}: not installed"
        case "kit":
            return f"{place.shown} is the kit itself, so it was left alone"
    return f"{place.shown} was not created by council and was left alone"


def advise_link(kit: Path) -> str:
    """How to put this program on PATH, as a command that works as it is."""
    folder, installed = Path.home() / ".local" / "bin", kit.parent.parent.parent / "bin" / NAME
    program = kit / "bin" / NAME if not installed.is_file() else installed
    first = "" if str(folder) in os.get_exec_path() else f"Put {tilde(folder)} on your PATH, and run: "
    make = "" if folder.is_dir() else f"mkdir -p {tilde(folder)} && "
    return (first or "Run: ") + f"{make}ln -s {tilde(program)} {tilde(folder)}/".replace(" ", TIE)
