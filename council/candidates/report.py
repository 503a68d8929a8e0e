"""What a code session ended with, for its transcript and the terminal: who won, what changed, and what was run."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from council.candidates import base, patch
from council.candidates.approval import describe_refusal
from council.candidates.results import Winner, explain_no_winner, find_winner, lay_result
from council.candidates.steering import find_later
from council.candidates.versions import COMPLAINTS, CheckedVersion, Ledger, bench_of, follow, kind_of, lay
from council.engine.contributions import Part, Record, ReportSection
from council.text import join_words, one_line

MEGABYTE = 1_000_000
LONGEST_PATH = 60
LATER_TITLE = "Read These First"
LATER = "Programs outside of the sandbox run or obey these files:"
LEVELS = {"cgroup": "Control groups bounded memory and processes", "watchdog": "A watchdog bounded memory"}


def describe(record: Record) -> ReportSection | None:
    """The section of a session that is over; None if nobody wrote code in it."""
    ledger = follow(record.plan.scene)
    if not (record.plan.done and ledger.versions):
        return None
    winner, project = find_winner(record.plan.scene, ledger), base.read(record.frozen)
    refusal = describe_refusal(record.plan.scene)
    tone = "agree" if winner and winner.green and not refusal else "disagree"
    changes = patch.measure(lay(None, project), lay_result(winner, project)) if winner else []
    parts = [Part("Changes", "\n".join(_list_changes(changes)), tone)] if winner else []
    if later := find_later(one.path for one in changes):
        lines = (f"- `{one_line(path, LONGEST_PATH)}`: {why}" for path, why in later.items())
        parts.append(Part(LATER_TITLE, "\n".join([LATER, "", *lines]), "disagree"))
    checks = [one for name in ledger.candidates for one in ledger.checks.get(name, [])]
    if checks:
        parts.append(Part("Runs", "\n".join(_list_runs(checks, record.trials)), ""))
    said = _tell(winner, ledger, refusal)
    return ReportSection("Result", said, tuple(parts), said, tone)


def _tell(winner: Winner | None, ledger: Ledger, refusal: str) -> str:
    if refusal:
        return f"Nothing is applied: {refusal}."
    if winner is None:
        return f"Nobody won: {explain_no_winner(ledger)}."
    said = "all its tests pass" if winner.green else "its tests do not pass"
    return f"{winner.version.candidate}, version {winner.version.number} ({winner.why}): {said}."


def _list_changes(changes: list[patch.Change]) -> Iterator[str]:
    for one in changes:
        counts = "binary" if one.binary else f"+{one.added} -{one.removed}"
        kind = ", new" if one.before is None else ", deleted" if one.after is None else ""
        yield f"- `{one_line(one.path, LONGEST_PATH)}`: {counts}{kind}"
    if not changes:
        yield "- no file was changed"


def _list_runs(checks: list[CheckedVersion], trials: Mapping[str, Mapping[str, Any]]) -> Iterator[str]:
    """Each run of a bench, and below them how they were bounded."""
    for one in checks:
        what = f"{one.candidate}, version {one.version.number}" if one.version else f"{one.candidate}, nothing written"
        trial = trials.get(one.turn.id)
        how = _describe_run(trial) if trial is not None else "not run by council"
        ran = f"{bench_of(one.turn)}, {kind_of(one.turn.seat)} tests" if one.ran_tests else bench_of(one.turn)
        yield f"- {what}: {ran}: {one.verdict} ({how})"
    levels = {str(trial["level"]) for one in checks if "level" in (trial := trials.get(one.turn.id, {}))}
    if levels:
        kept = join_words(LEVELS.get(level, level) for level in sorted(levels))
        yield ""
        yield f"Each run was in a sandbox of its own: no network, no home folder, a copy of the files. {kept}."


def _describe_run(trial: Mapping[str, Any]) -> str:
    """As in `3 of 5 passed, 0.4 s, 31 MB`."""
    passed, failed = trial.get("passed", 0), trial.get("failed", 0)
    facts = [f"{passed} of {passed + failed} passed"] if passed + failed else []
    facts += [f"{found} finding{'s' * (found != 1)}"] if (found := trial.get(COMPLAINTS)) else []
    facts += [f"{trial['seconds']:.1f} s"] if "seconds" in trial else []
    facts += [f"{trial['peak'] / MEGABYTE:.0f} MB"] if trial.get("peak") else []
    facts += [f"stopped: {trial['stopped']}"] if trial.get("stopped") else []
    return ", ".join(facts) or "no more is known"
