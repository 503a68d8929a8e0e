"""What a trial ends with: a job is run, and its report is believed as far as it goes."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from dataclasses import asdict, fields
from typing import Any

from council.config.benches import Bench
from council.sandbox.model import MEGABYTE, TIMEOUT, UNKNOWN, VERDICTS, Bounds, Job, Ran, Tried
from council.sandbox.run import run

IN_MEGABYTES = ("memory", "scratch")


def give_bounds(bench: Bench) -> Bounds:
    """The sandbox's bounds, but for those that the bench sets."""
    limits = {name: value * (MEGABYTE if name in IN_MEGABYTES else 1) for name, value in (bench.limits or {}).items()}
    return Bounds(**limits)  # type: ignore[arg-type]


def conclude(bench: Bench, job: Job, facts: Mapping[str, Any]) -> Tried:
    """Run a job whose report has the verdict in it."""
    ran = run(job)
    said = read_report(ran)
    verdict = said.get("verdict", TIMEOUT if ran.stopped == "seconds" else UNKNOWN)
    assert verdict in VERDICTS
    parts = [*said.get("strange", ()), said.get("ended", ""), said.get("log", "")]
    parts += [f"{test}\n{text}".strip() for test, text in said.get("texts", ())]
    if not said or verdict == UNKNOWN or said.get("silent"):
        parts += [f"stopped: {ran.stopped}" if ran.stopped else "", ran.output.decode("utf-8", "replace")]
    log = "\n\n".join(part for part in parts if part).strip()
    names = tuple(said.get("passed", ())), tuple(said.get("failed", ()))
    return Tried(
        verdict, *names, log, metrics=said.get("metrics", {}), receipt=make_receipt(bench, job, ran, facts),
        unasked=tuple(said.get("unasked", ())), replaced=tuple(said.get("replaced", ())),
    )  # fmt: skip


def read_report(ran: Ran) -> dict[str, Any]:
    """The report, {} if there is none or only a part of one."""
    try:
        said = json.loads(ran.report)
    except (ValueError, RecursionError):
        return {}
    return said if isinstance(said, dict) else {}


def make_receipt(bench: Bench, job: Job, ran: Ran, facts: Mapping[str, Any]) -> dict[str, Any]:
    """What was run and how it ended, as plain data."""
    bounds = asdict(job.bounds)
    usual = Bounds()
    changed = {
        field.name: bounds[field.name] for field in fields(Bounds) if bounds[field.name] != getattr(usual, field.name)
    }
    return {
        "bench": bench.name, "argv": job.argv, "exit": ran.exit, "signal": ran.signal, "seconds": round(ran.seconds, 3),
        "peak": ran.peak, "level": ran.level, "stopped": ran.stopped, "cut": ran.cut,
        "report": hashlib.sha256(ran.report).hexdigest(), "bounds": {"seconds": usual.seconds} | changed, **facts,
    }  # fmt: skip
