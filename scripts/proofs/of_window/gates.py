"""Only a person's plain yes opens a gate, after every phase of the kit; no notification delays or fails a run."""

from __future__ import annotations

import socket
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from itertools import product
from pathlib import Path
from tempfile import TemporaryDirectory

from prove import Outcome

from council.config import overlays
from council.engine.planner import Plan, plan
from council.engine.scene import RecordedTurn
from council.errors import UsageError
from council.prompts.answers import read_answer
from council.prompts.question import APPROVAL, Option, Question, find_fields
from council.protocols import outcome
from council.replies import parse
from council.runner import notifier
from council.workflow import gates
from council.workflow.loader import load
from council.workflow.model import Workflow
from tests import scripted
from tests.helpers import User, agreed, script
from tests.scripted import Script
from tests.webhook import Hook

NOTIFICATIONS = 50
YES, NO, NEVER = (f"## Gate\n{word}\n\n## Reason\nI read it.\n" for word in gates.ANSWERS)
ODD = (RecordedTurn("Looks fine?"), RecordedTurn("Well, approve it if you must."))
ANSWERS = {
    "approve": ((RecordedTurn(YES),), ""),
    "reject": ((RecordedTurn(NO),), gates.REJECTED),
    "veto": ((RecordedTurn(NEVER),), gates.VETOED),
    "absent": ((RecordedTurn("", absent="nobody answered within 1800 s"),), gates.NOT_APPROVED),
    "unreadable twice": (ODD, gates.NOT_APPROVED),
}


def parts() -> list[str]:
    return [*PARTS]


def prove(part: str) -> Outcome:
    return PARTS[part]()


# ---- every gate of the kit ----


def prove_gates() -> Outcome:
    """Every debate that is scripted, and the workflows without a script as seats that give no answers."""
    tried, held, wrong = dict.fromkeys(ANSWERS, 0), dict.fromkeys(ANSWERS, 0), list[str]()
    for asked in find_scripts():
        plain, order = play(asked, asked.workflow, ())
        for workflow, (how, (answers, ended)) in product(put_gates(asked.workflow), ANSWERS.items()):
            found, spoken = play(asked, workflow, answers)
            at = next((place for place, turn in enumerate(spoken) if turn not in order), len(spoken))
            gate = [turn for turn in spoken if turn not in order]
            same = [turn for turn in spoken if turn in order] == (order if not ended or not gate else order[:at])
            last = len(gate) == 1 and spoken[-1] == gate[0]
            known = {ended} if ended and gate else {outcome.outcome(plain), *(["approved"] if last else [])}
            right = outcome.outcome(found) in known
            tried[how] += 1
            held[how] += same and right
            if not (same and right):
                name = next(phase.gates for phase in workflow.phases if phase.gates)
                wrong.append(f"{asked.name}, after {name}, {how}: {outcome.outcome(found)}, {len(spoken)} turns")
    ends = {how: ended or "as without a gate, or approved at the end" for how, (_, ended) in ANSWERS.items()}
    rows = [
        ("a gate opens to a yes alone", f"{how}, at every phase of every workflow", f"{ends[how]}; no other turn moves",
         f"{held[how]} times", tried[how], held[how])
        for how in ANSWERS
    ]  # fmt: skip
    return Outcome(rows, wrong)


def find_scripts() -> Iterator[Script]:
    kit = sorted(overlays.workflows([overlays.kit_folder()]))
    scripts = [scripted.script(name) for name in scripted.names() if name.split("/")[0] in kit]
    yield from scripts
    for name in set(kit) - {one.name.split("/")[0] for one in scripts}:
        yield Script(name, "", load(*overlays.workflow_text(name)), "seed", 0.0, {})


def put_gates(workflow: Workflow) -> Iterator[Workflow]:
    for phase in workflow.phases:
        try:
            yield workflow.with_options({gates.AFTER: phase.name})
        except UsageError as why:
            assert "a person decides already" in str(why)  # noqa: PT017


def play(asked: Script, workflow: Workflow, answers: tuple[RecordedTurn, ...]) -> tuple[Plan, list[str]]:
    """The debate to its end with these answers at its gate, and the turns in the order in which they were due."""
    said: dict[str, RecordedTurn] = {}
    left = iter(answers)
    while not (now := plan(workflow, said, asked.seed)).done:
        said |= {due.id: next(left) if due.phase.gates else asked.said(due) for due in now.due}
    return now, list(said)


# ---- how an answer is read ----

PLAIN = (
    "approve", "Approve", "APPROVE.", "**approve**", "a", "A", "A.", "(a)", "option A", "app", "1", "approve!",
    "approve: I read the diff", "A, because it is tested", "approve because the tests pass", "approve, and thanks",
    "\uff41pprove",
)  # fmt: skip
BEFORE = (
    "do not ", "don't ", "never ", "no, ", "not ", "I cannot ", "I won't ", "why ", "should I ", "❌ ", "dis", "un",
    "re-", "who would ",
)  # fmt: skip
WORDS = ("approve", "approved", "Approve", "APPROVE", "approving", "A")
AFTER = (
    ", but only if it is tested", " if the tests pass", ", provided that it is small", " unless it is slow", "? No.",
    "? no", " once it is reviewed", " only after the review", ": not", ", not", ", never", " or reject", "/reject",
    " and reject", " as long as nobody objects", "❌", " ❌", "-ish", "?", "??", " when it is done", ", no wait",
    ", assuming it works",
)  # fmt: skip
ODD_LINES = (
    "", " ", "yes", "ok", "y", "LGTM", "👍", "✅", "sure", "fine by me", "looks good to me", "approuvé",
    "\u0430pprove", "a\u200bpprove", "approve\u202e", "\u202eevorppa", "approve\nreject", "reject\napprove", "A\nR",
    "veto. approve", "reject, I cannot approve", "## Reason\napprove", "gate=approve", "<approve>", "4", "0", "-1",
    "approve" * 2, "approve" * 3_000, "approve reject veto", "approve or veto", "the boss approves",
    "a diff like this is bad",
)  # fmt: skip


def prove_answers() -> Outcome:
    """Typed as one line, and as the whole reply of a turn."""
    options = tuple(Option(word[0].upper(), word, "", {gates.GATE: word}) for word in gates.ANSWERS)
    fields = tuple(find_fields(gates.REPLY, {}))
    question = Question("s", "01-x-gate/human", APPROVAL, "X", "", "", (), options, fields, reply=gates.REPLY)

    def typed(line: str) -> bool:
        try:
            return read_answer(question, line).get(gates.GATE) == gates.APPROVE
        except UsageError:
            return False

    def written(line: str) -> bool:
        found = parse.read(gates.REPLY, f"## Gate\n{line}\n\n## Reason\nI read it.\n", "").found
        return found.get(gates.GATE) == gates.APPROVE

    around = ((BEFORE, WORDS), (WORDS, AFTER), (BEFORE, WORDS, AFTER))
    hostile = [*ODD_LINES, *("".join(pieces) for lists in around for pieces in product(*lists))]
    rows, wrong = [], list[str]()
    for how, reads, lines, wanted in (
        ("typed", typed, hostile, False), ("typed", typed, PLAIN, True), ("a whole reply", written, hostile, False),
    ):  # fmt: skip
        good = [line for line in lines if reads(line) is wanted]
        wrong += [f"{how}: {line[:60]!r}" for line in lines if line not in good]
        what = "plain yeses" if wanted else "odd and hostile lines"
        rows.append((
            "nothing but a plain yes approves", f"{what}, {how}", "approves" if wanted else "approves nothing",
            f"{len(good)} times", len(lines), len(good),
        ))  # fmt: skip
    return Outcome(rows, wrong)


# ---- notifications that go nowhere ----


@contextmanager
def down() -> Iterator[str]:
    hook = Hook()
    hook.server.server_close()
    yield hook.url


@contextmanager
def hanging() -> Iterator[str]:
    """It takes connections, and never answers."""
    with socket.create_server(("127.0.0.1", 0), backlog=2 * NOTIFICATIONS) as wire:
        yield f"http://127.0.0.1:{wire.getsockname()[1]}/"


@contextmanager
def redirecting() -> Iterator[str]:
    hook = Hook()
    hook.code, hook.location = 307, f"{hook.url}/elsewhere"
    thread = threading.Thread(target=hook.server.serve_forever, kwargs={"poll_interval": 0.01})
    thread.start()
    try:
        yield hook.url
        assert set(hook.paths) == {"/hook"}, "a redirect was followed"
    finally:
        hook.server.shutdown()
        thread.join()
        hook.server.server_close()


def prove_notifications() -> Outcome:
    rows = []
    for webhook in (down, hanging, redirecting):
        with TemporaryDirectory(prefix="council-proof-") as place, webhook() as url:
            user, times, good = User(Path(place)), list[float](), 0
            script(user, agreed())
            user.configure(f"notify: {{webhook: '{url}'}}")
            for _ in range(NOTIFICATIONS):
                began = time.monotonic()
                code = user.council("run", "Shall we?", "--speaker", "replay", "--from", "script.yaml").code
                times.append(time.monotonic() - began)
                good += code == 0 and times[-1] < notifier.PATIENCE
        rows.append((
            "a notification delays and fails no run", f"runs with a webhook that is {webhook.__name__}",
            f"exit code 0, in less than the {notifier.PATIENCE:g} s that a notification has",
            f"{good} times; the slowest took {max(times):.1f} s", NOTIFICATIONS, good,
        ))  # fmt: skip
    return Outcome(rows)


PARTS: dict[str, Callable[[], Outcome]] = {
    "every gate of the kit": prove_gates,
    "how an answer is read": prove_answers,
    "notifications that go nowhere": prove_notifications,
}
