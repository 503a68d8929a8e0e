"""What the index keeps of a session in which members wrote code: its versions, and what was learned from trials."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import PurePosixPath
from typing import Any

from council.candidates import base
from council.candidates.results import measure
from council.candidates.versions import Version, follow, list_paths
from council.engine.contributions import IndexEntry, Record, indexed

LESSON_OF = "change_next"  # the answer that makes a turn a reflection
LANGUAGES = {
    ".py": "python", ".js": "javascript", ".ts": "typescript", ".go": "go", ".rs": "rust", ".java": "java", ".c": "c",
    ".cpp": "c++", ".rb": "ruby", ".sh": "bash", ".sql": "sql",
}  # fmt: skip


@indexed(types=("files",))
def code_versions(record: Record) -> Iterator[IndexEntry]:
    """Each version of each candidate, with its numbers and its patch."""
    ledger, project = follow(record.plan.scene), base.read(record.frozen)
    for name, versions in ledger.versions.items():
        for version in versions:
            metrics = measure(ledger, version, project)
            yield IndexEntry("version", version.id, "", _describe(name, version, metrics))


def _describe(name: str, version: Version, metrics: dict[str, Any]) -> dict[str, Any]:
    rates = [trial["pass_rate"] for trial in metrics["trials"] if trial.get("pass_rate") is not None]
    before = f"-from-v{version.parent.number}" if version.parent else ""
    endings = (PurePosixPath(path).suffix for path in list_paths(version.files))
    return {
        "candidate": name,
        "number": version.number,
        "language": next((LANGUAGES[ending] for ending in endings if ending in LANGUAGES), None),
        "test_pass_rate": rates[-1] if rates else None,
        "patch": f"candidates/{name}/v{version.number}.patch",
        "diff": f"candidates/{name}/v{version.number}{before}.patch",
        "metrics": metrics,
    }


@indexed(answers=(LESSON_OF,))
def reflections(record: Record) -> Iterator[IndexEntry]:
    """What a seat made of a trial that failed."""
    for turn in record.plan.scene.turns:
        if LESSON_OF in turn.answers:
            yield IndexEntry("reflection", turn.id, "", {name: turn.answers.get(name) for name in turn.asked})
