"""What `council apply` would put on a branch: it follows from the session and the commit on which that began."""

from __future__ import annotations

import shlex
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

from council.candidates import base, patch
from council.candidates.approval import Approval, describe_refusal, find_approval
from council.candidates.artifacts import RESULT
from council.candidates.base import Base
from council.candidates.results import Winner, explain_no_winner, find_winner, lay_result, lay_tests
from council.candidates.steering import find_later
from council.candidates.versions import FAILED, HIDDEN, LEFT_OUT, PASSED, bench_of, follow, ids_of, kind_of, lay
from council.errors import UsageError
from council.lab import branch
from council.lab.branch import NewCommit
from council.lab.repository import Repository, read_commit
from council.record.session import Session
from council.reports.totals import ended_at
from council.text import one_line

# Facts of a base: where it came from, and tests that are not committed.
REPOSITORY, COMMIT, WORKTREE, OUTSIDE = "repository", "commit", "worktree", "outside"
LONGEST_TITLE = 72


@dataclass(frozen=True)
class Proposal:
    """The winner of a session that is over, and all that a person should know before it is put on a branch."""

    session: Session
    project: Base
    winner: Winner
    approval: Approval | None

    @property
    def ref(self) -> str:
        return f"refs/heads/council/{self.session.id}"

    @property
    def result_patch(self) -> Path:
        return self.session.folder / RESULT

    @property
    def when(self) -> str:
        return f"{int(ended_at(self.session).timestamp())} +0000"

    @property
    def commit(self) -> str:
        return str(self.project.facts.get(COMMIT) or "")

    @property
    def left_out(self) -> Mapping[str, str]:
        """The paths that members were not given, each with the reason. They stay as they are."""
        return self.project.facts.get(LEFT_OUT) or {}

    @cached_property
    def changes(self) -> list[patch.Change]:
        return patch.measure(lay(None, self.project), lay_result(self.winner, self.project))

    @property
    def later(self) -> dict[str, str]:
        """The changed files that run or are obeyed outside of the sandbox, each with what does so."""
        return find_later(one.path for one in self.changes)

    @property
    def tree(self) -> str:
        """The hash of the winner's files, as an approval names it."""
        return base.hash_files(lay(self.winner.version, self.project))

    def list_commits(self, repository: Repository) -> Iterator[NewCommit]:
        """The commits of the branch: the uncommitted changes, if the session began with them, then the winner's."""
        files = {
            path: data for path, data in read_commit(repository, self.commit).files.items() if path not in self.left_out
        }
        if self.project.facts.get(WORKTREE):
            outside = set(self.project.facts.get(OUTSIDE) or ())
            together = {**self.project.tree, **self.project.visible, **self.project.hidden}
            files = {path: data for path, data in together.items() if path not in outside}
            title = "Uncommitted changes"
            yield NewCommit(files, f"{title}\n\nAs they were when the session {self.session.id} began.\n", self.when)
        changed = {change.path: change.after for change in self.changes}
        kept = {path: data for path, data in files.items() if path not in changed}
        written = {path: data for path, data in changed.items() if data is not None}
        yield NewCommit({**kept, **written}, self._message(), self.when)

    def _message(self) -> str:
        won = self.winner.version
        title = one_line(str(self.session.metadata["topic"]), LONGEST_TITLE)
        trials = "".join(f"{line}\n" for line in self.list_trials())
        return (
            f"{title}\n\nWritten in the council session {self.session.id}:\n"
            f"{won.candidate}, version {won.number} ({self.winner.why}).\n\n{trials}Tree: {self.tree}\n"
        )

    def make(self, repository: Repository) -> str:
        """Write the commits; the name of the last. No branch leads there yet."""
        left_out = {*read_commit(repository, self.commit).left_out, *self.left_out}
        return branch.make_commits(repository, self.commit, left_out, list(self.list_commits(repository)))

    def list_trials(self) -> Iterator[str]:
        """One line for each bench: which tests it ran, what it said, and how many passed."""
        for one in self.winner.newest_trials:
            passed, failed = (len(ids_of(one.turn, answer)) for answer in (PASSED, FAILED))
            counted = f", {passed} of {passed + failed} passed" if passed + failed else ""
            doubt = "" if one.turn.said.trial is not None else " (not run by council)"
            yield f"{kind_of(one.turn.seat).capitalize()} tests ({bench_of(one.turn)}): {one.verdict}{counted}{doubt}"
        if not any(kind_of(one.turn.seat) == HIDDEN for one in self.winner.newest_trials) and self.project.hidden:
            yield "Hidden tests: not run"

    def describe_approval(self) -> str:
        """Whether a person approved exactly these files."""
        if self.approval is None:
            return "nobody was asked to approve"
        by = self.approval.turn.seat.label
        if not self.approval.covers:
            return f"{by} approved other files than these"
        tests = ", without the tests that were written" if lay_tests(self.winner, self.project) else ""
        return f"{by} approved exactly these files{tests}"

    def check(self) -> None:
        """Refuse what no branch can be made of."""
        id = self.session.id
        if not self.commit:
            patched = shlex.quote(str(self.result_patch))
            raise UsageError(
                f"{id} began in a folder that is not a git repository; in that folder: patch -p1 < {patched}"
            )
        if not self.changes:
            raise UsageError(f"{self.winner.version.candidate} won without changing a file; there is nothing to apply")

    def facts(self) -> dict[str, Any]:
        """For --json."""
        won = self.winner.version
        return {
            "session_id": self.session.id, "branch": branch.shorten(self.ref), "base": self.commit,
            "candidate": won.candidate, "version": won.number, "why": self.winner.why, "tree": self.tree,
            "files": [_describe_change(one) for one in self.changes],
            "trials": [
                {"tests": kind_of(one.turn.seat), "bench": bench_of(one.turn), "verdict": one.verdict,
                 "passed": len(ids_of(one.turn, PASSED)), "failed": len(ids_of(one.turn, FAILED)),
                 "turn": one.turn.id, "run_by_council": one.turn.said.trial is not None}
                for one in self.winner.newest_trials
            ],
            "approval": self.approval and {
                "by": self.approval.turn.seat.name, "approved": self.approval.given, "covers": self.approval.covers,
            },
            "doubts": self.winner.doubts,
            "runs_later": [{"path": path, "why": why} for path, why in self.later.items()],
        }  # fmt: skip


def _describe_change(change: patch.Change) -> Mapping[str, Any]:
    kind = "added" if change.before is None else "deleted" if change.after is None else "changed"
    return {"path": change.path, "kind": kind, "added": change.added, "removed": change.removed}


def propose(session: Session) -> Proposal:
    """The proposal of a session whose turns were read. If nothing can be applied, the error says why."""
    plan = session.plan()
    ledger, project = follow(plan.scene), base.read(session.extra)
    if not (ledger.versions or project.facts):
        raise UsageError(f"{session.id} has no code in it: it is not a session of `council code`")
    if not plan.done:
        raise UsageError(f"{session.id} is not over; continue it: council recover {session.id}")
    if not ledger.versions:
        raise UsageError(f"nobody wrote code in {session.id}; there is nothing to apply")
    if refusal := describe_refusal(plan.scene):
        raise UsageError(f"nothing of {session.id} is applied: {refusal}")
    winner = find_winner(plan.scene, ledger)
    if winner is None:
        raise UsageError(f"nobody won: {explain_no_winner(ledger)}; the patches are in {session.folder}/candidates")
    tree = base.hash_files(lay(winner.version, project))
    return Proposal(session, project, winner, find_approval(plan.scene, winner.version, tree))
