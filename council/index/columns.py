"""What the columns of the index's views mean, for docs/search.md. A test compares them with the views themselves."""

from __future__ import annotations

from collections.abc import Iterator

ID, WHEN = "the session's id", "ISO 8601, in UTC"
COLUMNS = {
    "debate_sessions": {
        "id": ("text", ID),
        "debate_id": ("text", "the same"),
        "topic": ("text", "on one line, cut to 300 characters"),
        "status": ("text", "finished, unfinished or unreadable: what the metadata say, and not a state"),
        "topology_type": ("text", "graph_mesh, chain or tree: who speaks when"),
        "coordination_protocol": ("text", "CPDE or DPDE, in a tree whose planning was chosen"),
        "config": ("json", "the options"),
        "initiated_by": ("text", "the owner of the folder"),
        "created_at": ("text", WHEN),
        "updated_at": ("text", "when the last turn began"),
        "completed_at": ("text", WHEN),
        "total_rounds": ("integer", "rounds completed"),
        "final_consensus_score": ("real", "0 to 1: the mean score, or the share that agrees"),
        "outcome": ("json", "the outcome, its reason, stances, scores and changes of mind"),
        "workflow": ("text", "its name"),
        "folder": ("text", "the session's folder"),
    },
    "debate_turns": {
        "id": ("text", "session and turn"),
        "session_id": ("text", ID),
        "round": ("integer", "within its phase"),
        "phase": ("text", "of the workflow"),
        "agent_id": ("text", "the seat"),
        "agent_role": ("text", "member, person, machine or synthesis"),
        "provider": ("text", "the speaker"),
        "model": ("text", "that answered; NULL in a replay"),
        "content": ("text", "NULL: the words are in `file`"),
        "confidence": ("real", "0 to 1, where the seat was asked for a score"),
        "tool_calls": ("json", "NULL: seats call no tools"),
        "test_results": ("json", "what a bench ran, and how it ended"),
        "reflections": ("json", "what the seat learned from a failed trial"),
        "metadata": ("json", "step, tier, by, absent, stop, calls, tokens, dollars, a person's answers"),
        "created_at": ("text", "with the offset from UTC"),
        "response_time_ms": ("integer", "milliseconds"),
        "file": ("text", "the turn's file"),
    },
    "code_versions": {
        "id": ("text", "session, turn and candidate"),
        "session_id": ("text", ID),
        "turn_id": ("text", "in debate_turns"),
        "language": ("text", "by the names of its files"),
        "code": ("text", "NULL: it is in the patch"),
        "version_number": ("integer", "of this candidate"),
        "quality_score": ("real", "NULL: nobody measures one"),
        "test_pass_rate": ("real", "0 to 1, of the last trial"),
        "metrics": ("json", "size, complexity, trials"),
        "diff_from_previous": ("text", "the patch's file"),
        "created_at": ("text", WHEN),
        "candidate": ("text", "the seat"),
    },
    "debates": {
        "debate_id": ("text", ID),
        "prompt": ("text", "the topic"),
        "status": ("text", "as in debate_sessions"),
        "perspectives": ("json", "the members"),
        "current_round": ("integer", "rounds completed"),
        "max_rounds": ("text", "the option"),
        "human_guidance": ("json", "the turns of persons"),
        "synthesis": ("text", "its file, once there is one"),
    },
    "debate_rounds": {
        "debate_id": ("text", ID),
        "phase": ("text", "of the workflow"),
        "round_number": ("integer", "within its phase"),
        "arguments": ("json", "the turns of members"),
        "human_guidance": ("json", "the turns of persons"),
        "started_at": ("text", "when its first turn began"),
        "usd_at_least": ("real", "dollars, as far as known"),
    },
    "findings": {
        "session_id": ("text", ID),
        "turn_id": ("text", "where it was raised first"),
        "finding": ("text", "as in B1"),
        "severity": ("text", "blocking, high, medium or low"),
        "path": ("text", "of the document"),
        "line": ("integer", "the first"),
        "ruling": ("text", "open, contested and so on"),
        "issue": ("text", "what is wrong"),
        "change": ("text", "what is proposed"),
        "seats": ("json", "who raised it"),
    },
    "changes_of_mind": {
        "session_id": ("text", ID),
        "agent_id": ("text", "the seat"),
        "stance_before": ("any", "a stance or a score"),
        "stance_after": ("any", "the same"),
        "why": ("text", "persuaded, explained or unexplained"),
        "turn_id": ("text", "in debate_turns"),
    },
    "gates": {
        "session_id": ("text", ID),
        "turn_id": ("text", "in debate_turns"),
        "phase": ("text", "of the workflow"),
        "decision": ("text", "such as approve or reject; NULL if nobody answered"),
        "absent": ("text", "why nobody did"),
        "reviewer": ("text", "who answered"),
        "decided_at": ("text", WHEN),
    },
}
RELATIONS = (
    ("debate_sessions", "debate_turns", "session_id"), ("debate_turns", "code_versions", "turn_id"),
    ("debate_turns", "findings", "turn_id"), ("debate_turns", "changes_of_mind", "turn_id"),
    ("debate_turns", "gates", "turn_id"), ("debate_sessions", "debates", "debate_id"),
    ("debates", "debate_rounds", "debate_id"),
)  # fmt: skip


def draw() -> Iterator[str]:
    """The views and how they belong together, as a Mermaid diagram."""
    yield "```mermaid"
    yield "erDiagram"
    for one, many, by in RELATIONS:
        yield f"    {one} ||--{'||' if many == 'debates' else 'o{'} {many} : {by}"
    for view, columns in COLUMNS.items():
        yield f"    {view} {{"
        yield from (f"        {kind} {name}" for name, (kind, _) in columns.items())
        yield "    }"
    yield "```"


def explain() -> Iterator[str]:
    """Each column with its meaning."""
    for view, columns in COLUMNS.items():
        yield from (f"| `{view}` | |", "|---|---|")
        yield from (f"| `{name}` | {meaning} |" for name, (_, meaning) in columns.items())
        yield ""
