"""The debates whose derived files are kept as goldens. Each is read by somebody before it is committed."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

from council.next.engine.planner import Due
from council.next.engine.scene import Recorded
from council.next.protocols.outcome import Outcome
from council.next.record.session import Session
from council.next.replies.kinds import Choice, Items, Number, Signature, Text
from council.next.replies.write import write
from tests.next.reports.debates import Speak, begin, hold, real

Said = Mapping[str, Mapping[str, Any]]  # by `step/seat` or `step/seat/round`: the answers, and the talk under ""


def script(session: Session, said: Said) -> Speak:
    """Speaks what a script says; where it is silent, the least that a step asks for."""

    def speak(due: Due) -> Recorded:
        place = f"{due.step.name}/{due.seat.name}"
        given = dict(said.get(f"{place}/{due.round}", said.get(place, said.get(due.step.name, {}))))
        talk, by = str(given.pop("", "")), str(given.pop("by", ""))
        for name, kind in due.step.reply.items():
            if name not in given and not kind.optional:
                given[name] = least(kind, name, session)
        return Recorded(write(due.step.reply, given, talk) if due.step.reply else talk or "Nothing to add.", by=by)

    return speak


def least(kind: Any, name: str, session: Session) -> Any:
    if name == "follows":
        return Outcome(session.plan).follows or "none"
    if isinstance(kind, Choice):
        return "no" if "no" in kind.options else kind.options[0]
    if isinstance(kind, Number):
        return kind.low
    if isinstance(kind, Items):
        return ("Nothing else.",) if kind.filled else ()
    return "none" if not isinstance(kind, Text) or not kind.filled else "Nothing else."


def dissent(root: Path) -> Session:
    return real(root, "logout")


def conditions(root: Path) -> Session:
    return real(root, "jobs")


def consensus(root: Path) -> Session:
    """Two specialists stay below the target, and a person adopts one of the options that the clerk names."""
    topic = "Where does the state of a muted participant live?\n"
    low = {
        "rationale": "The permission check is missing.",
        "suggested_changes": ("Check the role in the meeting controller, not in the client.",),
        "performance_impact": "One more lookup for each mute, about 2 ms.",
        "gist": "needs a permission check",
    }
    said: Said = {
        "analyze": {},
        "propose": {
            "proposal": "Keep the state in Redis, and write each change to PostgreSQL.",
            "satisfaction_score": 92,
            "rationale": "Redis is fast enough, and the log can be audited.",
            "suggested_changes": (),
            "performance_impact": "Below 10 ms.",
            "gist": "Redis for the state, PostgreSQL for the log",
        },
        "propose/security": {
            "proposal": "Nobody may mute somebody else without a role that allows it.",
            "satisfaction_score": 60,
            "blocking": ("Anybody in a meeting can mute the host.",),
            **low,
            "performance_impact": "A check of roles costs less than 1 ms.",
            "suggested_changes": ("Only hosts mute others.",),
        },
        "propose/database": {
            "proposal": "Store the state in PostgreSQL alone.",
            "satisfaction_score": 75,
            **low,
            "rationale": "Two stores can disagree.",
            "gist": "one store",
        },
        "escalate": {
            "tension": "One store is simpler; two are faster. Security blocks until roles are checked.",
            "options": ("Redis and PostgreSQL, with a check of roles.", "PostgreSQL alone, with a check of roles."),
            "preferred": "A",
        },
        "appeal": {
            "decision": "adopt",
            "option": "B",
            "reason": "Only until the load test in March; then we look again.",
            "by": "Grace Hopper",
        },
        "synthesis": {
            "title": "The state of a muted participant lives in PostgreSQL until March",
            "answer": "In PostgreSQL alone, with a check of roles, until the load test in March.",
            "overview": "The meeting controller checks the role, and then writes the state to PostgreSQL.",
            "responsibilities": ("Meeting controller: checks roles.", "Database: stores the state."),
            "interfaces": ("MuteParticipant, ParticipantMuted.",),
            "performance_targets": ("Mute within 100 ms for 99 of 100 calls.",),
            "implementation_notes": ("Write the migration first.",),
            "open_questions": ("What does the load test measure?",),
            "confidence": "high",
            "rulings": ("C1: withdrawn: the role is checked in the meeting controller",),
        },
    }
    session = begin(root, "Consensus", ["database", "protocol"], topic, options={"max_rounds": "4", "analysis": False})
    return hold(session, script(session, said))


def board(root: Path) -> Session:
    """A board that agrees, but for its contrarian, whose concern stands; two of six find the document inaccurate."""
    topic = "Do we open an office in Lisbon?\n"
    agreed = {
        "challenges": ("R2: who runs it in the first year?",),
        "signs": Signature("R1"),
        "gist": "open it small",
        "ready": "yes",
    }
    said: Said = {
        "position/ceo": {
            "": "We hire there already.",
            "recommendation": "Open a small office in Lisbon in the spring.",
        },
        "position": {"": "The numbers are thin.", "recommendation": "Rent desks for a year before we sign a lease."},
        "position/cfo": {"": "Cash is tight.", "recommendation": "Wait until the third quarter is closed."},
        "position/coo": {"": "Somebody has to run it.", "recommendation": "Open it once an office manager is hired."},
        "position/contrarian": {"": "Nobody asked the team.", "recommendation": "Do not open it; hire remotely."},
        "two-versions": {
            "recommendation": "Move the whole company to Lisbon.",
            "moonshot": "Everybody moves.",
            "stepping_stone": "A quarter for volunteers.",
        },
        "respond": {"": "A small office is what we can undo.", **agreed},
        "respond/cfo": {
            "": "I can live with it if the lease can be ended.",
            **agreed,
            "conditions": ("The lease can be ended after twelve months.",),
        },
        "respond/contrarian": {
            "": "Four of the five people there asked to stay remote.",
            **agreed,
            "challenges": ("R1: four of the five people there asked to stay remote.",),
            "signs": Signature("none", "nobody there wants an office"),
            "blocking": ("The five people there were not asked.",),
            "ready": "no",
        },
        "poll": {"move_on": "yes"},
        "poll/contrarian": {"move_on": "no"},
        "review": {"ruling": "continue", "repeating_rounds": 0},
        "synthesize": {
            "title": "Open a small office in Lisbon, with a lease that can be ended",
            "answer": "Yes, a small one in the spring, on a lease that can be ended after twelve months.",
            "recommended_path": "Rent for ten people. Look again after a year.",
            "rejected": ("Waiting for the third quarter: it costs the two hires we have.",),
            "risks": ("The five people there may leave.",),
            "confidence": "high",
            "rulings": ("C1: stands: they are asked before the lease is signed",),
        },
        "check": {"accurate": "yes"},
        "check/contrarian": {
            "accurate": "no",
            "correction": ("It does not say that four of five want to stay remote.",),
        },
        "check/cfo": {"accurate": "no", "correction": ("The spring depends on the lease.",)},
    }
    session = begin(root, "Board", ["ceo", "cto", "cfo", "coo"], topic)
    return hold(session, script(session, said))


def perspectives(root: Path) -> Session:
    topic = "Redis or PostgreSQL for caching?\n"
    said: Said = {
        "analyze": {
            "question": "Where do cached pages live?",
            "clear": "yes",
            "ask": "none",
            "perspectives": ("Performance: latency, throughput", "Simplicity: fewer parts, debugging"),
            "opposed": ("Performance, Simplicity",),
        },
        "frame": {"": "Where do cached pages live? Say what you would accept."},
        "argue/performance": {"": "Redis answers in less than a millisecond."},
        "argue/simplicity": {"": "One more service is one more pager."},
        "rebut/performance": {"": "A pager is cheap; slow pages are not."},
        "rebut/simplicity": {"": "Our pages are slow because two indexes are missing."},
        "evaluate": {"reading": "agreement", "gist": "both want the indexes first"},
        "synthesis": {
            "arguments": ("Performance: Redis is faster.", "Simplicity: one more service to run."),
            "trade_offs": ("Performance: accepts slower pages for a month.", "Simplicity: accepts a cache later."),
            "agreement": ("Add the two indexes first.",),
            "tensions": ("Whether a cache is needed afterwards.",),
            "title": "Indexes first, and no cache yet",
            "answer": "Neither yet: add the two missing indexes, and measure for a month.",
            "recommended_path": "Add the indexes this week.",
            "confidence": "medium",
            "caveats": ("If the page stays above 300 ms, decide again.",),
            "dissent": "none",
            "acceptance": ("The page takes less than 300 ms.",),
        },
        "follow-up": {"create_workflow": "yes", "by": "Ada Lovelace"},
    }
    session = begin(root, "Perspectives", ["moderator"], topic)
    return hold(session, script(session, said))


def vetoed(root: Path) -> Session:
    """Everybody signs one text, and a person vetoes what came of it."""
    said: Said = {
        "positions": {"": "A cache helps.", "recommendation": "Put Redis in front of the nine slow queries."},
        "challenges": {"": "Agreed.", "signs": Signature("R1")},
        "synthesis": {
            "title": "Redis in front of the nine slow queries",
            "answer": "Yes, in front of the nine slow queries.",
            "recommended_path": "Start with the product page.",
            "next_steps": ("Run EXPLAIN on the nine queries.",),
            "confidence": "high",
        },
        "synthesis-gate": {"gate": "veto", "reason": "No new service before the audit in May.", "by": "Ada Lovelace"},
    }
    session = begin(root, "Debate", ["architect", "engineer", "designer"], "Redis or not?\n", gates=["synthesis"])
    return hold(session, script(session, said))


SESSIONS: dict[str, Callable[[Path], Session]] = {
    one.__name__: one for one in (dissent, conditions, consensus, board, perspectives, vetoed)
}
