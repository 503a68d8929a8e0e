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
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import click

import council
from council.cli.command import command
from council.cli.context import State
from council.config import overlays
from council.errors import StorageError, UsageError
from council.terminal.output import echo

NAME = "council"
MANIFEST = ".council-copy.json"
MADE_LATER = ("__pycache__", ".in_use")  # by Python and by assistants, inside a copy
# The files of a checkout that form the skill; a wheel carries exactly these in its kit.
KIT = (
    "SKILL.md", "Config.md", "AgentPersonalities.md", "LICENSE", "Specialists", "Workflows", "templates", "agents",
    "hooks", ".claude-plugin", "bin", "requirements.lock", "requirements-bench.lock", "requirements-local.lock",
    "scripts/setup", "scripts/environment.py", "docs/workflows.md",
)  # fmt: skip


@dataclass(frozen=True)
class SkillFolder:
    """A place where an assistant looks for the skill."""

    whose: str
    path: Path

    @property
    def shown(self) -> str:
        from council.record.files import tilde

        return tilde(self.path)


def places(project: bool = False, env: Mapping[str, str] = os.environ) -> dict[str, SkillFolder]:
    """The places, by the name of their option. Codex, Gemini CLI, OpenCode, Copilot CLI and Cursor read the second."""
    base = Path.cwd() if project else Path.home()
    claude = base / ".claude" if project or not env.get("CLAUDE_CONFIG_DIR") else Path(env["CLAUDE_CONFIG_DIR"])
    return {
        "claude": SkillFolder("Claude Code", claude.absolute() / "skills" / NAME),
        "agents": SkillFolder("other assistants", base / ".agents" / "skills" / NAME),
    }


# ---- the state of a place ----


def is_kit(folder: Path) -> bool:
    """Whether the folder is a council kit, of any version."""
    plugin = read_facts(folder / ".claude-plugin" / "plugin.json")
    return plugin.get("name") == NAME and (folder / "AgentPersonalities.md").is_file()


def read_facts(path: Path) -> dict[str, Any]:
    """The JSON object in a file; empty if it has none. A stranger may have written it: a project brings its skills."""
    try:
        found = json.loads(path.read_text("utf-8"))
    except (OSError, ValueError, RecursionError):
        return {}
    return found if isinstance(found, dict) else {}


def inspect_place(path: Path, kit: Path) -> str:
    """What is there: nothing, here (a link to this kit), elsewhere (a link to another kit), itself, copy or foreign."""
    if path.is_symlink():
        if path.resolve() == kit:
            return "here"
        # A wheel's kit disappears with the Python it was installed for; the dangling link is still ours.
        lost = not path.exists() and path.readlink().parts[-2:] == (NAME, "kit")
        return "elsewhere" if lost or is_kit(path) else "foreign"
    if not path.exists():
        return "nothing"
    if path.resolve() == kit:
        return "itself"
    return "copy" if (path / MANIFEST).is_file() and is_kit(path) else "foreign"


def find_changes(copy: Path) -> list[str]:
    """The files of a copy that were edited or added."""
    known = read_facts(copy / MANIFEST).get("files")
    if not isinstance(known, dict):
        return [MANIFEST]
    there = {str(path.relative_to(copy)): path for path in files_of(copy)}
    return sorted(name for name, path in there.items() if name != MANIFEST and known.get(name) != digest(path))


def files_of(folder: Path) -> Iterator[Path]:
    for path in sorted(folder.rglob("*")):
        if not path.is_dir() and not set(path.relative_to(folder).parts) & set(MADE_LATER):
            yield path


def digest(path: Path) -> str:
    return str(path.readlink()) if path.is_symlink() else hashlib.sha256(path.read_bytes()).hexdigest()


# ---- installing ----


def refuse_outside(place: SkillFolder) -> None:
    """Refuse a place that is not in the project: a repository brings its links along."""
    folder = place.path.parent
    if not folder.resolve().is_relative_to(Path.cwd().resolve()):
        raise UsageError(f"{place.shown}: {folder} is a link that leads out of the project, so it was left alone")


def refuse_foreign(place: SkillFolder, kit: Path) -> None:
    """Refuse to replace what council did not create, or what was edited since. Nothing has changed yet."""
    found = inspect_place(place.path, kit)
    if found == "foreign":
        raise UsageError(
            f"{place.shown} was not created by council and was left alone; move it away, then run this again "
            f"(--claude or --agents installs in only one place)"
        )
    if found == "copy" and (edited := find_changes(place.path)):
        raise UsageError(
            f"{place.shown}: {', '.join(edited[:5])} was changed by hand; keep your changes elsewhere (your own "
            f"personas, workflows and templates go into ~/.config/council), remove the folder, then run this again"
        )


def install(place: SkillFolder, kit: Path, copy: bool) -> str:
    """Install the skill; return a line that says what was done."""
    found = inspect_place(place.path, kit)
    if found == "itself":
        return f"{place.shown} is this kit itself"
    if found == "here" and not copy:
        return f"{place.shown} is already linked"
    place.path.parent.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(prefix=f".{NAME}-", dir=place.path.parent) as room:
        new = Path(room) / NAME
        if copy:
            write_copy(new, kit)
        else:
            new.symlink_to(kit)
        if found != "nothing":
            place.path.rename(Path(room) / "old")
        new.rename(place.path)
    verb = "copied to" if copy else "linked"
    return f"{verb} {place.shown}{'' if found == 'nothing' else ', replacing an older installation'}"


def write_copy(new: Path, kit: Path) -> None:
    """Copy the kit and the package. The copy is self-contained: its bin/council makes its own environment."""
    for name in KIT:
        copy_one(kit / name, new / name)
    package = Path(council.__file__).resolve().parent
    copy_one(package, new / NAME, leave=("kit",))
    facts = {
        "council": council.__version__,
        "files": {str(path.relative_to(new)): digest(path) for path in files_of(new)},
    }
    (new / MANIFEST).write_text(json.dumps(facts, indent=1), "utf-8")


def copy_one(source: Path, target: Path, leave: tuple[str, ...] = ()) -> None:
    target.parent.mkdir(parents=True, exist_ok=True)
    if source.is_dir():
        shutil.copytree(source, target, ignore=shutil.ignore_patterns("__pycache__", *leave))
    else:
        shutil.copy(source, target)


def uninstall(place: SkillFolder, kit: Path) -> str:
    found = inspect_place(place.path, kit)
    if found in ("here", "elsewhere"):
        place.path.unlink()
        return f"removed the link {place.shown}"
    if found == "copy":
        shutil.rmtree(place.path)
        return f"removed the copy {place.shown}"
    if found == "itself":
        return f"{place.shown} is the kit itself, so it was left alone"
    return (
        f"{place.shown}: not installed"
        if found == "nothing"
        else f"{place.shown} was not created by council and was left alone"
    )


@command("install-skill")
@click.option("--claude", is_flag=True, help="Install only for Claude Code (~/.claude/skills/council).")
@click.option("--agents", is_flag=True, help="Install only for assistants that read ~/.agents/skills/council.")
@click.option(
    "--project", is_flag=True, help="Install into this directory's .claude and .agents, for this project only."
)
@click.option("--copy", is_flag=True, help="Copy the skill instead of linking it.")
@click.option("--undo", is_flag=True, help="Remove what install-skill has installed.")
@click.pass_obj
def install_skill(state: State, claude: bool, agents: bool, project: bool, copy: bool, undo: bool) -> None:
    """Let AI assistants find council: link its folder into the places where they look for skills.

    Safe to run again at any time. Files that council did not create are never touched.
    """

    state.next_step = "nothing was changed; `council doctor` shows what is installed"
    if copy and undo:
        raise UsageError("--copy and --undo cannot be combined; --undo removes links and copies")
    kit = overlays.kit_folder()
    every = places(project)
    chosen = [every[name] for name, wanted in (("claude", claude), ("agents", agents)) if wanted] or [*every.values()]
    for place in chosen:
        if project:
            refuse_outside(place)
        if not undo or inspect_place(place.path, kit) == "copy":
            refuse_foreign(place, kit)
    for place in chosen:
        try:
            echo(uninstall(place, kit) if undo else install(place, kit, copy))
        except OSError as failure:
            raise StorageError(f"{place.shown}: {failure.strerror}; make it writable, then run this again") from None
    if not undo:
        print_next_steps(kit, project or every["agents"] in chosen)


def print_next_steps(kit: Path, found_by_path: bool) -> None:
    """Print how to use the skill. Only Claude Code's own skills, not those of a project, put the program on PATH."""
    echo('In a new session of your assistant, type "Council: " and a question.')
    if found_by_path and not shutil.which(NAME):
        print(
            f"council: `council` is not on your PATH, where assistants look for it first; they go on with "
            f"bin/council in the skill's folder. To spare them that, {advise_link(kit)}",
            file=sys.stderr,
        )


def advise_link(kit: Path) -> str:
    """How to put this program on PATH, with a command that works as it is."""
    from council.record.files import tilde

    folder, installed = Path.home() / ".local" / "bin", Path(sys.prefix, "bin", NAME)
    first = "" if str(folder) in os.get_exec_path() else f"put {tilde(folder)} on your PATH, and "
    make = "" if folder.is_dir() else f"mkdir -p {tilde(folder)} && "
    return f"{first}run: {make}ln -s {tilde(installed if installed.is_file() else kit / 'bin' / NAME)} {tilde(folder)}/"


# ---- for doctor ----


def describe_state(place: SkillFolder, kit: Path) -> tuple[bool, str]:
    """Whether an assistant finds this kit there, and a sentence that says so."""
    found = inspect_place(place.path, kit)
    if found in ("here", "itself"):
        return True, f"{place.shown} is linked to this kit" if found == "here" else f"{place.shown} is this kit"
    if found == "copy":
        version = read_facts(place.path / MANIFEST).get("council")
        if edited := find_changes(place.path):
            return False, f"{place.shown} is a copy of {version}, changed by hand: {', '.join(edited[:5])}"
        same = version == council.__version__
        return same, f"{place.shown} is a copy of {version}{'' if same else RENEW}"
    if found == "elsewhere":
        return False, f"{place.shown} is linked to {place.path.readlink()}{RENEW}"
    return False, {"nothing": "not installed; `council install-skill` links it"}.get(
        found, f"{place.shown} was not created by council"
    )


RENEW = "; `council install-skill` renews it"
