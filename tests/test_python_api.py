"""The public Python API: its page runs as written, its names are those of `__all__`, and it is cheap to import."""

from __future__ import annotations

import asyncio
import dataclasses
import inspect
import json
import os
import re
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

import council
from council.errors import UsageError, Waiting
from tests import similar
from tests.fakeapi import Answer, FakeApi, Request
from tests.helpers import CODE, MEMBERS, Table, User, disputed, script

ROOT = Path(__file__).resolve().parent.parent
PAGE = ROOT / "docs" / "python.md"
SPEC = (ROOT / "tests" / "specs" / "sessions.md").read_text("utf-8")
STORED = """## Findings

**BLOCKING:**
- B1: (sessions.md) "Tokens are stored in plain text in the table `sessions`, one row a device." A leaked backup signs
  everybody in. → Store a hash of each token.
"""
LOGGED = """- B2: (sessions.md) "the user's name and the password that was typed, for support." Passwords are written to
  the log. → Log the name and the outcome.
"""


@pytest.fixture
def user(tmp_path: Path) -> User:
    user = User(tmp_path, {"ANTHROPIC_API_KEY": "k"})
    user.write("sessions.md", SPEC)
    return user


@pytest.fixture
def here(user: User, monkeypatch: pytest.MonkeyPatch) -> User:
    """This process is that user's."""
    for name in {*os.environ} - {"PATH"}:
        monkeypatch.delenv(name)
    for name, value in user.environment.items():
        monkeypatch.setenv(name, value)
    monkeypatch.chdir(user.work)
    return user


def reviewed() -> dict[str, str]:
    said = {f"01-findings/{seat}": "## Findings\n\nNo findings.\n" for seat in MEMBERS}
    said |= {"01-findings/architect": STORED, "01-findings/engineer": STORED + LOGGED}
    said |= {f"02-challenges/{seat}": "## Rulings\n\nnone\n\n## Findings\n\nNo findings.\n" for seat in MEMBERS}
    closing = {f"03-closing/{seat}": "## Rulings\n\nnone\n" for seat in MEMBERS}
    return said | closing | {"04-synthesis/chair": "## Summary\n\nTake up B1 first.\n"}


class EveryDebate(Table):
    """Speaks for every debate of the page."""

    def __call__(self, request: Request) -> Answer:
        chair = disputed()["04-synthesis-r01/chair"]
        debate = {**disputed(), "02-synthesis-r01/chair": chair}
        blind = {turn: f"{text}\n\n## Blocking\nnone\n" for turn, text in debate.items() if turn.startswith("01")}
        self.words = reviewed() if "Review sessions.md" in request.text else {**debate, **blind}
        return super().__call__(request)


@pytest.fixture
def api(user: User) -> Iterator[FakeApi]:
    with FakeApi(EveryDebate(user, {})) as api:
        user.configure(f"endpoints:\n  anthropic: {{base_url: {api.url}}}\nretry: {{budget: 0}}")
        yield api


def test_the_page_runs_as_it_is_written(user: User, api: FakeApi) -> None:
    env = {**user.environment, "PYTHONPATH": str(CODE)}
    command = [sys.executable, "-m", "doctest", "-o", "ELLIPSIS", str(PAGE)]
    done = subprocess.run(command, cwd=user.work, env=env, capture_output=True, text=True, timeout=120, check=False)
    assert (done.returncode, done.stdout) == (0, ""), done.stdout + done.stderr
    assert len(user.sessions) == 4


def test_the_page_names_all_that_is_public() -> None:
    page = PAGE.read_text("utf-8")
    assert [name for name in council.__all__ if name not in page and not name.startswith("__")] == ["Totals"]
    for function in (council.run, council.review, council.recover):
        takes = [name for name, one in inspect.signature(function).parameters.items() if one.kind is one.KEYWORD_ONLY]
        for name in takes:
            (whose,) = re.findall(rf"^\| `{name}=.* \| `.*` \| (.*) \|$", page, re.M)
            assert function.__name__ in whose.split(", ")
    for result in (council.DebateResult, council.ReviewResult, council.ReviewFinding):
        assert [field.name for field in dataclasses.fields(result) if f"`{field.name}`" not in page] == []


def test_importing_it_takes_the_standard_library_alone() -> None:
    code = (
        f"import sys; sys.path[:0] = [{str(CODE)!r}]; import council, council.prompts.invocation; print(*sys.modules)"
    )
    done = subprocess.run(
        [sys.executable, "-I", "-S", "-c", code, str(CODE)], capture_output=True, text=True, check=True
    )
    names = {name.partition(".")[0] for name in done.stdout.split()}
    assert names - set(sys.stdlib_module_names) - {"__main__"} == {"council"}


def test_all_public_names_are_there_and_others_are_not() -> None:
    assert all(getattr(council, name) for name in council.__all__)
    assert set(council.__all__) <= set(dir(council))
    with pytest.raises(AttributeError, match="has no attribute 'nothing'"):
        _ = council.nothing  # type: ignore[attr-defined]


def test_results_are_frozen(here: User) -> None:
    result = council.run("Shall we?", speaker="replay", source=script(here, disputed()))
    with pytest.raises(dataclasses.FrozenInstanceError):
        result.state = "running"  # type: ignore[misc]
    assert result.as_markdown() == (result.folder / "transcript.md").read_text("utf-8")
    assert result.archived_to is not None
    assert result.archived_to.is_file()


def test_it_is_what_the_command_line_does(here: User) -> None:
    """The same words by both ways: the same files, but for the receipts' clocks."""
    source = script(here, disputed())
    ours = council.run("Shall we?", speaker="replay", source=source)
    assert here.council("run", "Shall we?", "--speaker", "replay", "--from", source).code == 0
    theirs = council.load_session("last")
    assert ours.session_id != theirs.session_id
    for name in ("round-1.md", "round-2.md", "round-3.md", "convergence.json", "synthesis.md"):
        assert (ours.folder / name).read_bytes() == (theirs.folder / name).read_bytes()


def test_nothing_is_printed_and_no_handler_is_changed(here: User, capfd: pytest.CaptureFixture[str]) -> None:
    import signal

    before = [signal.getsignal(number) for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)]
    council.run("Shall we?", speaker="replay", source=script(here, disputed()))
    assert capfd.readouterr() == ("", "")
    assert [signal.getsignal(number) for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)] == before


def test_it_works_beside_a_loop_that_runs(here: User) -> None:
    async def notebook() -> str | None:
        return council.run("Shall we?", speaker="replay", source=script(here, disputed())).outcome

    assert asyncio.run(notebook()) == "agreed with dissent"


def test_an_error_names_the_session_where_there_is_one(here: User) -> None:
    with pytest.raises(Waiting) as waiting:
        council.run("Shall we?", speaker="assistant")
    assert waiting.value.session_id == here.session.name
    with pytest.raises(UsageError, match="only 4 members") as refused:
        council.run("Shall we?", speaker="replay", source=script(here, disputed()), quorum=9)
    assert refused.value.session_id is None
    with pytest.raises(council.CouncilError, match="no such file"):
        council.review("none.md")


def test_a_review(here: User) -> None:
    source = script(here, reviewed())
    found = council.review(["*.md"], speaker="replay", source=source)
    assert [(one.id, one.severity, one.path, one.found_by) for one in found.findings] == [
        ("B1", "blocking", "sessions.md", ("architect", "engineer")),
        ("B2", "blocking", "sessions.md", ("engineer",)),
    ]
    assert SPEC.splitlines()[found.findings[0].first_line - 1].startswith("Tokens are stored in plain text")
    assert found.summary == "Take up B1 first."
    assert found.session.workflow == "patchlist"
    assert (found.set_aside, found.unparsed) == ((), ())


def test_a_review_shows_every_wording(here: User) -> None:
    pair = similar.SIMILAR[4]
    here.write("s.md", pair.document.text)
    source = here.write("two.json", json.dumps(similar.script(pair, "none", (0, 1))))
    (one,) = council.review("s.md", speaker="replay", source=source).findings
    (other,) = one.wordings
    assert {one.issue, other.issue} == {f"{issue}." for issue in pair.issues}
    assert (other.id, other.inferred, other.wordings) == ("B1b", False, ())


@pytest.mark.parametrize(
    ("limit", "why"),
    [
        ({"quorum": 0}, "at least 1"),
        ({"max_calls": -1}, "must not be negative"),
        ({"max_cost": -0.5}, "in dollars"),
        ({"max_cost": float("nan")}, "in dollars"),
    ],
)
def test_an_impossible_limit_is_refused_before_anything_begins(here: User, limit: dict[str, Any], why: str) -> None:
    with pytest.raises(council.CouncilError, match=why):
        council.run("Shall we?", speaker="replay", source=script(here, disputed()), **limit)
    assert here.sessions == []


def test_one_name_is_one_member(here: User) -> None:
    with pytest.raises(council.CouncilError, match='unknown member "nobody"'):
        council.run("Shall we?", with_members="nobody", speaker="replay", source=script(here, disputed()))
