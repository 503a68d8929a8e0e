"""What a build of the index, and a server that lists and searches, do without."""

from __future__ import annotations

import shutil
import subprocess
import sys
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

from council.index import confirm, facts
from council.index.query import Filters, Index
from council.protocols import ledger
from council.record import program
from council.replies import parse
from council.workflow.model import Workflow
from tests.helpers import User, agreed, script
from tests.recordings import RECORDED

ROOT = Path(__file__).resolve().parent.parent
# What only showing, steering or beginning a debate needs.
HEAVY = ("jinja2", "markdown_it", "tarfile", "council.web.views", "council.web.begin", "council.runner.debate")


@pytest.fixture(scope="module")
def three(tmp_path_factory: pytest.TempPathFactory) -> Path:
    user = User(tmp_path_factory.mktemp("three"))
    words = ("--only", "architect,engineer", "--speaker", "replay")
    for id in ("first", "second", "third"):
        assert user.council("run", "--id", id, *words, "--from", script(user, agreed()), f"The {id}?").code == 0
    return user.sessions[0].parent


@pytest.fixture
def index(three: Path, tmp_path: Path) -> Iterator[Index]:
    facts._load.cache_clear()
    program._decode.cache_clear()
    program._load_again.cache_clear()
    with closing(Index([three], tmp_path / "cache" / "index.sqlite")) as index:
        yield index


def count(monkeypatch: pytest.MonkeyPatch, owner: Any, name: str, counted: Counter[str]) -> None:
    real: Callable[..., Any] = getattr(owner, name)

    def call(*about: Any, **named: Any) -> Any:
        counted[name] += 1
        return real(*about, **named)

    monkeypatch.setattr(owner, name, call)


def test_sessions_of_one_workflow_share_what_it_tells(index: Index, monkeypatch: pytest.MonkeyPatch) -> None:
    counted: Counter[str] = Counter()
    count(monkeypatch, Workflow, "with_options", counted)
    index.refresh()
    assert counted["with_options"] == 1
    assert len(index.page(Filters(q="database")).rows) == 3
    assert counted["with_options"] == 2, "one that knows the members, for the rows"


def test_options_and_workflows_that_differ_are_not_mixed_up(three: Path, tmp_path: Path) -> None:
    root = tmp_path / "sessions"
    shutil.copytree(three, root)
    user = User(tmp_path / "other")
    assert user.council("start", "--id", "other", "-o", "three_rounds=true", "Another?").code == 0
    shutil.copytree(user.session, root / "other")
    name = "consensus-granted"
    shutil.copytree(RECORDED / name / "session", root / Path(_id_of(name)))
    with closing(Index([root], tmp_path / "cache" / "index.sqlite")) as index:
        index.refresh()
        rows = {row["session_id"]: row for row in index.page().rows}
        asked = dict(index.store.rows("SELECT id, options FROM session"))
    assert {rows["first"]["workflow"], rows[_id_of(name)]["workflow"]} == {"debate", "consensus"}
    assert '"three_rounds": true' in asked["other"]
    assert '"three_rounds": true' not in asked["first"]


def _id_of(name: str) -> str:
    import json

    return str(json.loads((RECORDED / name / "session" / "metadata.json").read_text("utf-8"))["session_id"])


def test_what_was_read_of_many_sessions_is_forgotten(index: Index, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(confirm, "FEW", 1)
    index.refresh()
    assert len(index.page().rows) == 3
    assert [cache.cache_info().currsize for cache in (parse.read, parse._normalize)] == [0, 0]
    assert (ledger._read, ledger._reading) == ([], [])


def test_a_server_does_not_import_what_lists_and_searches_do_not_need() -> None:
    loaded = "import sys, council.web.server; from council.reports import listing, verify, summary; " \
        "from council.workflow import registry; registry.load(); " \
        f"print(*(name for name in {HEAVY} if name in sys.modules))"  # fmt: skip
    found = subprocess.run([sys.executable, "-c", loaded], cwd=ROOT, capture_output=True, text=True, check=True)
    assert found.stdout.split() == []
