"""Sessions that an earlier version recorded: this version opens, verifies, rebuilds and finishes them.

`tests/recorded/` holds one folder per session. Only the command line and the files on disk are used here, so that these
tests outlive any change of the package. Briefs that are still to be written may be worded differently by a later
version; whatever lies on disk already must stay as it is.
"""

from __future__ import annotations

import json
import re
from collections import Counter
from pathlib import Path
from typing import Any

import pytest

from tests.recordings import Recorded, done, finish, sessions, spoken, turns_of

DERIVED = (
    "round-*.md", "convergence.json", "synthesis.md", "transcript.md", "decision.md", "issue.md", "patchlist.md",
)  # fmt: skip
STAMPS = ("derived", "deriving")  # the metadata's keys that say which version derived the files
OF_A_MACHINE = re.compile(rb"/(?:tmp|root|home|work|dev|var|private|Users)/|127\.0\.0\.1|localhost|https?://[\d.]+:\d+")


def named(found: Recorded) -> str:
    return found.folder.name


ALL = pytest.mark.parametrize("recorded", sessions(), ids=named)
KEPT = [one for one in sessions() if one.case.get("kept")]
DERIVED_AGAIN = pytest.mark.parametrize("recorded", [one for one in sessions() if one not in KEPT], ids=named)
INTERRUPTED = pytest.mark.parametrize("recorded", [one for one in sessions() if not one.complete], ids=named)


# ---- finishing one that was interrupted ----


# ---- what lies on disk ----


def record_of(session: Path) -> dict[str, bytes]:
    return {**spoken(session), "metadata.json": (session / "metadata.json").read_bytes()}


def derived_of(session: Path) -> dict[str, bytes]:
    return {path.name: path.read_bytes() for pattern in DERIVED for path in session.glob(pattern)}


def facts_of(session: Path) -> dict[str, Any]:
    """The metadata without their seal."""
    found = json.loads((session / "metadata.json").read_text("utf-8"))
    return {key: value for key, value in found.items() if key != "seal"}


# ---- the tests ----


@ALL
def test_it_opens_and_proves_itself(recorded: Recorded, tmp_path: Path) -> None:
    user = recorded.restore(tmp_path)
    before = record_of(user.session)
    status = done(user.council("status", "--json")).json
    assert {key: status[key] for key in ("state", "due")} == {
        "state": recorded.case["status"],
        "due": recorded.case["due"],
    }
    assert status["turns"] == len(turns_of(user.session))
    if recorded.complete:
        assert status["outcome"] == recorded.case["outcome"]
    done(user.council("verify"))
    shown = done(user.council("show")).out
    assert all(turn in shown for turn in turns_of(user.session))
    assert record_of(user.session) == before, "looking changes nothing"


@pytest.mark.parametrize("recorded", KEPT, ids=named)
def test_a_debate_that_is_read_differently_today_is_kept(recorded: Recorded, tmp_path: Path) -> None:
    """It is complete: nobody is asked again, and nothing is derived again."""
    user = recorded.restore(tmp_path)
    before = {path: path.read_bytes() for path in user.session.rglob("*") if path.is_file()}
    for command in ("recover", "build", "archive", "next"):
        ended = user.council(command)
        assert (ended.code, "this version reads its replies differently" in ended.err) == (2, True)
    assert f"made by council {recorded.metadata['council']}" in done(user.council("status")).out
    assert "council show" in user.council("show", "--html").err
    assert len(done(user.council("attest", "--json")).json["head"]) == 64
    assert done(user.council("show")).out.encode() == before[user.session / "transcript.md"]
    after = {path: path.read_bytes() for path in user.session.rglob("*") if path.is_file()}
    assert {path: after.get(path) for path in before} == before
    (user.session / "synthesis.md").write_text("Something else.\n")
    assert user.council("verify").code == 5
    assert done(user.council("list", "--json")).json[0]["state"] == "damaged"
    next((user.session / "turns").glob("04-*/*.md")).unlink()
    assert user.council("recover", "--speaker", "replay", "--from", "no.yaml").code != 0
    assert "is kept as it is" not in user.council("verify").err, "it is not the debate that was finished"


def test_what_is_over_is_not_to_be_recovered(tmp_path: Path) -> None:
    (recorded,) = (one for one in sessions() if named(one) == "debate-complete-0.4.0")
    refused = recorded.restore(tmp_path).council("decision")
    assert (refused.code, "read it with: council show " in refused.err) == (2, True)


@DERIVED_AGAIN
def test_its_derived_files_are_built_again(recorded: Recorded, tmp_path: Path) -> None:
    """Their wording may have changed since; from one record they are always the same bytes."""
    user = recorded.restore(tmp_path)
    session, before = user.session, record_of(user.session)
    facts = {key: value for key, value in facts_of(session).items() if key not in STAMPS}
    done(user.council("build"))
    built = derived_of(session)
    for name in built:
        (session / name).unlink()
    done(user.council("build"))
    assert derived_of(session) == built
    done(user.council("build"))
    assert derived_of(session) == built
    assert spoken(session) == {name: data for name, data in before.items() if name != "metadata.json"}
    assert {key: value for key, value in facts_of(session).items() if key not in STAMPS} == facts
    status, before_that = done(user.council("status", "--json")).json, recorded.case["status"]
    assert (status["state"], status["due"]) == (before_that, recorded.case["due"]), "building changes nothing"
    transcript = built["transcript.md"].decode("utf-8")
    assert [turn for turn in sorted(turns_of(session)) if turn not in transcript] == []
    if recorded.complete:
        done(user.council("archive"))
    done(user.council("verify"))
    assert spoken(session) == {name: data for name, data in before.items() if name != "metadata.json"}


@INTERRUPTED
def test_it_is_finished_and_nobody_is_asked_twice(recorded: Recorded, tmp_path: Path) -> None:
    user = recorded.restore(tmp_path)
    session = user.session
    before, facts, there = spoken(session), facts_of(session), turns_of(session)
    asked = finish(user, recorded.case)
    assert {turn: count for turn, count in Counter(asked).items() if count > 1 or turn in there} == {}
    after, facts_after = spoken(session), facts_of(session)
    assert [name for name in before if after.get(name) != before[name]] == []
    assert {key: facts_after.get(key) for key in facts} == facts, "facts are added, never changed"
    assert turns_of(session) == there | set(recorded.case["words"])
    status = done(user.council("status", "--json")).json
    assert (status["state"], status["outcome"]) == ("complete", recorded.case["outcome"])
    done(user.council("verify"))


@ALL
def test_it_names_no_machine(recorded: Recorded) -> None:
    texts = {path: path.read_bytes() for path in recorded.folder.rglob("*") if path.is_file()}
    found = {str(path): match[0] for path, data in texts.items() if (match := OF_A_MACHINE.search(data))}
    assert found == {}


def test_every_protocol_was_recorded() -> None:
    found = sessions()
    assert len(found) >= 16
    assert {one.case["workflow"] for one in found} >= {
        "debate", "quick", "patchlist", "delphi", "board", "consensus", "perspectives", "planning-1", "planning-2",
    }  # fmt: skip
