"""The commands of this room, for the list of commands."""

from __future__ import annotations

from council.cli.command import FOLLOW_UP, PLUMBING, Entry

HERE = "council.index"
COMMANDS = {
    "list": Entry(
        FOLLOW_UP, "List your sessions, newest first.", f"{HERE}.list:list_",
        ("council list", "council list -n 5 --json", "council list --all --workflow board --since 30d"),
    ),
    "search": Entry(
        FOLLOW_UP, "Search everything that was said.", f"{HERE}.search:search",
        (
            "council search job queue",
            "council search --in decisions 'postgres*' --since 6m",
            "council search '\"exactly once\"' --json",
        ),
    ),
    "stats": Entry(
        FOLLOW_UP, "Count sessions, turns, tokens and money.", f"{HERE}.stats:stats",
        ("council stats", "council stats --by model --since 30d"),
    ),
    "index": Entry(
        PLUMBING, "Bring the index of your sessions up to date.", f"{HERE}.index:index_",
        ("council index", "council index --rebuild", "council index --path"),
    ),
    "metrics": Entry(
        PLUMBING, "Print metrics in the OpenMetrics format.", f"{HERE}.metrics:metrics",
        ("council metrics > /var/lib/node_exporter/council.prom",),
    ),
}  # fmt: skip
