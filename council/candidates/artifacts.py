"""The files that are derived from candidates: a patch of each version, the numbers, and the winner's patch."""

from __future__ import annotations

import json
from collections.abc import Mapping

from council.candidates import base, patch
from council.candidates.base import Base
from council.candidates.results import find_winner, lay_result, measure
from council.candidates.versions import EXECUTABLE, Version, follow, lay
from council.engine.contributions import Record, artifact

FOLDER, METRICS, RESULT = "candidates", "metrics.json", "result.patch"


@artifact(files=(METRICS, RESULT), folders=(FOLDER,))
def candidate_files(record: Record) -> Mapping[str, bytes]:
    """`candidates/SEAT/vN.patch` from the base, `vN-from-vM.patch` from the version that it was written on,
    `metrics.json`, and `result.patch` once the debate is over and somebody has won, with the tests of the session."""
    ledger, project = follow(record.plan.scene), base.read(record.frozen)
    made, metrics = {}, {}
    for name, versions in ledger.versions.items():
        for version in versions:
            place = f"{FOLDER}/{name}/v{version.number}"
            made[f"{place}.patch"] = write_patch(project, version)
            if version.parent:
                made[f"{place}-from-v{version.parent.number}.patch"] = write_patch(project, version, version.parent)
        metrics[name] = [measure(ledger, version, project) for version in versions]
    if not made:
        return {}
    winner = find_winner(record.plan.scene, ledger) if record.plan.done else None
    facts = {
        "candidates": metrics,
        "winner": winner
        and {
            "candidate": winner.version.candidate, "version": winner.version.number, "why": winner.why,
            "green": winner.green,
        },
    }  # fmt: skip
    made[METRICS] = (json.dumps(facts, indent=2, ensure_ascii=False) + "\n").encode("utf-8", "backslashreplace")
    if winner:
        made[RESULT] = _write(project, lay(None, project), lay_result(winner, project))
    return made


def write_patch(project: Base, version: Version, before: Version | None = None) -> bytes:
    """The patch of a version, from the base or from an earlier version."""
    return _write(project, lay(before, project), lay(version, project))


def _write(project: Base, before: Mapping[str, bytes], after: Mapping[str, bytes]) -> bytes:
    executable, hash_name = project.facts.get(EXECUTABLE, ()), str(project.facts.get("hash", "sha1"))
    return patch.write(before, after, executable, hash_name)
