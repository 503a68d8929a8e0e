"""What a trial says: the answers of its turn, its receipt, its caption, and what members read of it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from council.candidates import complaints
from council.candidates.versions import COMPLAINTS, FAILED, PASSED, TESTS, ids_of
from council.replies.write import clean, escape, fence
from council.sandbox.model import FAIL, PASS, TAMPERED, TIMEOUT, UNKNOWN, Tried
from council.speakers.base import Caption
from council.text import CHARS_A_TOKEN, one_line

if TYPE_CHECKING:
    from council.engine.scene import Turn
    from council.speakers.shell.work import Work

LOG = "log"
LONGEST_LOG = 32_000  # characters in the record
LONGEST_SHOWN = 2_000 * CHARS_A_TOKEN  # of a trial, in another seat's brief
MOST_IDS, LONGEST_ID = 30, 160
WORST_FIRST = (TAMPERED, TIMEOUT, UNKNOWN, FAIL, PASS)


def join(tried: Sequence[Tried], names: Sequence[str]) -> Tried:
    """The trial of several benches as one: the worst verdict, and all that they said."""
    if len(tried) == 1:
        return tried[0]
    verdict = min((one.verdict for one in tried), key=WORST_FIRST.index, default=UNKNOWN)
    logs = [f"{name}: {one.verdict}\n{one.log}".strip() for name, one in zip(names, tried, strict=True)]
    receipts = [one.receipt for one in tried]
    receipt = {"seconds": round(sum(one.get("seconds") or 0 for one in receipts), 3), "runs": receipts}
    joined = Tried(verdict, log="\n\n".join(logs), receipt=receipt)
    for one in tried:
        joined = replace(
            joined, passed=(*joined.passed, *one.passed), failed=(*joined.failed, *one.failed),
            findings=(*joined.findings, *one.findings), survivors=(*joined.survivors, *one.survivors),
            metrics={**joined.metrics, **one.metrics},
        )  # fmt: skip
    return joined


def give_answers(tried: Tried) -> dict[str, Any]:
    """Every answer that a step may ask for."""
    findings = [complaints.write(one) for one in tried.findings]
    return {
        **tried.metrics, TESTS: tried.verdict, PASSED: tried.passed, FAILED: tried.failed,
        LOG: keep_end(tried.log, LONGEST_LOG), COMPLAINTS: findings, "survivors": tried.survivors,
    }  # fmt: skip


def keep_end(text: str, most: int) -> str:
    """The end of a log: what failed last, and the summary."""
    return text if len(text) <= most else f"… {len(text) - most:,} characters left out\n{text[-most:]}"


def make_receipt(work: Work, tried: Tried, rig: str) -> dict[str, Any]:
    """What was run on what, and how it ended. `rig` is the hash of benches and tools."""
    due = work.due
    cut = max(0, len(tried.log) - LONGEST_LOG)
    optional = {
        "misfit": due.misfit, "log_cut": cut, "metrics": dict(tried.metrics), COMPLAINTS: len(tried.findings),
    }  # fmt: skip
    return {
        "bench": ",".join(work.benches), "kind": due.kind, "candidate": due.candidate,
        "version": due.version.id if due.version else None, "tree": work.tree, "test_files": work.tests,
        "inputs": work.inputs, "rig": rig,
        "verdict": tried.verdict, PASSED: len(tried.passed), FAILED: len(tried.failed),
        **{name: value for name, value in optional.items() if value}, **tried.receipt,
    }  # fmt: skip


def caption(trial: Mapping[str, Any]) -> Caption:
    """As in `3 of 5 tests pass, 0.4 s`."""
    verdict = trial.get("verdict", "")
    seconds, cached = trial.get("seconds"), trial.get("cached")
    took = f", the same as {cached}" if cached else f", {seconds:.1f} s" if isinstance(seconds, (int, float)) else ""
    tone = {PASS: "agree", FAIL: "disagree", TAMPERED: "disagree"}.get(verdict, "mixed")
    return Caption(_say(trial, verdict) + took, tone)


def _say(trial: Mapping[str, Any], verdict: str) -> str:
    passed, failed = trial.get(PASSED) or 0, trial.get(FAILED) or 0
    killed = (trial.get("metrics") or {}).get("killed")
    if trial.get("misfit"):
        return "not run: the files do not fit"
    if verdict in (TAMPERED, TIMEOUT, UNKNOWN):
        return {TAMPERED: "tampered with the tests", TIMEOUT: "ran out of time", UNKNOWN: "no verdict"}[verdict]
    if killed is not None:
        return f"the tests notice {killed} % of {trial['metrics'].get('mutants', '')} mistakes"
    if passed or failed:
        count = passed + failed
        return f"{passed} of {count} test{'s' * (count != 1)} {'passes' if 1 in (passed, count) else 'pass'}"
    found = trial.get(COMPLAINTS) or 0
    return f"{found} finding{'s' * (found != 1)}" if found else "nothing found" if verdict == PASS else str(verdict)


def shorten(turn: Turn) -> str:
    """What members read of a trial: all of a short one; of a long one the verdict, what failed, and the log's end."""
    if len(turn.body) <= LONGEST_SHOWN:
        return turn.body
    passed, failed = ids_of(turn, PASSED), ids_of(turn, FAILED)
    ids = [f"- {one_line(escape(id), LONGEST_ID)}" for id in failed[:MOST_IDS]]
    ids += [f"… and {len(failed) - MOST_IDS:,} more"] if len(failed) > MOST_IDS else []
    rest = [
        f"## {name.capitalize()}\n\n{value}" for name, value in turn.answers.items()
        if isinstance(value, (str, int, float)) and name not in (TESTS, LOG)
    ]  # fmt: skip
    head = [f"## Tests\n\n{turn.answers.get(TESTS, UNKNOWN)}: {len(passed)} passed, {len(failed)} failed", *rest]
    head += [f"## Failed\n\n{fence(chr(10).join(ids))}"] if ids else []
    left = LONGEST_SHOWN - sum(map(len, head))
    log = clean(str(turn.answers.get(LOG) or "")).strip("`\n")
    return "\n\n".join([*head, f"## Log\n\n{fence(keep_end(log, left))}"]) + "\n"
