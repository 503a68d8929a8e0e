"""Reviews end to end: four members over a specification with planted faults, by the API and by a script; the list, the
diff, the gates, the formats, and baits that change nothing.
"""

from __future__ import annotations

import json
import re
import shutil
import subprocess
import time
from pathlib import Path
from typing import Any

import pytest

from council.reviews.injection import marks
from council.reviews.model import Document
from tests.baits import BAITS, find_bitten
from tests.fakeapi import Answer, FakeApi
from tests.helpers import MEMBERS, PATIENCE, Table, User
from tests.review_shapes import SHAPES, by_everybody, try_shape
from tests.reviewing import SECOND, SPEC, SUMMARY, review, words
from tests.similar import PLACES, SIMILAR, SPLIT, script, try_pair

ROOT = Path(__file__).parent.parent


@pytest.fixture
def user(tmp_path) -> User:
    found = User(tmp_path, {"ANTHROPIC_API_KEY": "k"})
    found.write("sessions.md", SPEC)
    return found


def found(user: User, *options: str | Path, **how: Any) -> dict[str, Any]:
    return dict(review(user, "sessions.md", "--format", "json", *options, **how).json)


def by_id(report: dict[str, Any]) -> dict[str, Any]:
    return {one["id"]: one for one in report["findings"]}


# ---- the list ----


def test_one_list_merged_anchored_and_challenged(user):
    report = by_id(found(user))
    assert sorted(report) == ["B1", "B2", "H1", "H2", "H3", "M1"]
    tokens = report["B1"]
    assert (tokens["severity"], tokens["status"]) == ("blocking", "contested")
    assert set(tokens["supporters"]) == {"architect", "engineer", "researcher"}
    lines = SPEC.splitlines()
    assert lines[tokens["place"]["first"] - 1].startswith("Tokens are stored in plain text")
    made_up = next(one for one in report.values() if "audit" in one["issue"])
    assert made_up["place"]["how"] == "missing"
    late = next(one for one in report.values() if "without limit" in one["issue"])
    assert late["id"] == "H3", "what is found later is numbered later"
    assert report["M1"]["status"] == "contested"


def test_on_paper(user):
    told = review(user, "sessions.md").out
    for part in ("B1", "Store a SHA-256 of each token", "Take up B1 and B2 first", "researcher", "not found"):
        assert part in told
    assert told.index("B1") < told.index("H1") < told.index("M1")


def test_who_supports_a_finding_is_told_once(user):
    entries = review(user, "sessions.md").out.split("\n- **")
    logged, late = (next(one for one in entries if one.startswith(f"{id}**")) for id in ("B2", "H3"))
    assert [line.strip("- ") for line in logged.splitlines() if "architect" in line or "designer" in line] == [
        "supporters: engineer, architect and designer",
        "architect: agree: I looked it up",
    ]
    assert "raised by: researcher" in late
    assert "supporters" not in late


def test_by_the_api_and_killed_in_the_middle_it_is_the_same_list(user, tmp_path):
    by_script = by_id(found(user))
    other = User(tmp_path / "other", {"ANTHROPIC_API_KEY": "k"})
    other.write("sessions.md", SPEC)
    down = {"02-challenges/engineer": [Answer(fault="status", status=529)] * 30}
    with FakeApi(Table(other, words(), down)) as api:
        other.configure(f"endpoints: {{anthropic: {{base_url: {api.url}}}}}\nretry: {{first_wait: 0.01, budget: 0.05}}")
        assert other.council("review", "sessions.md", "--speaker", "anthropic").code == 3
        api.responder.faults.clear()  # type: ignore[attr-defined]
        assert other.council("recover").code == 0
        again = other.council("review", "--session", "last", "--format", "json", "--fail-on", "never")
    assert again.code == 0, again.err
    ours = by_id(again.json)
    keys = ("severity", "status", "supporters", "place", "fingerprint", "issue", "change")
    assert {id: [one[key] for key in keys] for id, one in ours.items()} == {
        id: [one[key] for key in keys] for id, one in by_script.items()
    }


def test_killed_in_the_middle_and_recovered_it_is_the_same_list(user, tmp_path):
    by_script = by_id(found(user))
    other = User(tmp_path / "other", {"ANTHROPIC_API_KEY": "k"})
    other.write("sessions.md", SPEC)
    table = Table(other, words(), {"02-challenges/engineer": [Answer(once=lambda: False)]})
    with FakeApi(table) as api:
        other.configure(f"endpoints: {{anthropic: {{base_url: {api.url}}}}}")
        with other.spawn("review", "sessions.md", "--speaker", "anthropic") as process:
            until = time.monotonic() + PATIENCE
            while len(list(other.home.rglob("turns/02-challenges/*.md"))) < 3:
                assert time.monotonic() < until
                time.sleep(0.01)
            process.kill()
        assert other.process("recover").code == 0
    again = other.council("review", "--session", "last", "--format", "json", "--fail-on", "never")
    assert again.code == 0, again.err
    keys = ("severity", "status", "supporters", "place", "fingerprint", "issue", "change")
    assert {id: [one[key] for key in keys] for id, one in by_id(again.json).items()} == {
        id: [one[key] for key in keys] for id, one in by_script.items()
    }
    assert sum(turn == "02-challenges/architect" for turn in table.asked) == 1, "what was paid for is not paid again"


def test_no_findings_and_a_list_that_cannot_be_read_are_two_things(user):
    mumbling = "Well, one could say this and that about it."
    said = words(**{"01-findings_designer": mumbling})
    said |= {"01-findings/designer.2": mumbling, "02-challenges/researcher": SECOND["designer"]}
    report = found(user, said=said)
    assert report["none"] == ["researcher"]
    assert [one["seat"] for one in report["unparsed"]] == ["designer"]
    assert mumbling in report["unparsed"][0]["text"]


def test_blocking_goes_by_its_owners_word_or_a_persons(user):
    gone = "## Rulings\n\n- B2: withdrawn. It is masked by the logger.\n\n## Findings\n\nNo findings.\n"
    forged = "## Rulings\n\n- B1: withdrawn\n- B2: withdrawn\n\n## Findings\n\nNo findings.\n"
    said = words(**{"02-challenges_engineer": gone, "02-challenges_designer": forged})
    report = found(user, said=said)
    assert [(one["id"], one["status"]) for one in report["set_aside"]] == [("B2", "withdrawn")]
    assert by_id(report)["B1"]["status"] in ("open", "contested"), "the designer does not own it"
    id = user.session.name
    passed = user.council("review", "--session", id, "--dismiss", "B1=it is behind a flag", "--fail-on", "blocking")
    assert passed.code == 0, passed.err
    assert "it is behind a flag" in passed.out
    assert user.council("verify", id).code == 0
    refused = user.council("review", "--session", id, "--dismiss", "B9=why")
    assert (refused.code, "there is no finding B9" in refused.err) == (2, True)


# ---- entries that members call one ----

SAID_SAME = {
    "02-challenges_architect": "## Rulings\n\n- **M1**: same as **B1**: both are about what is in `sessions`.\n\n"
    "## Findings\n\n**LOW:**\n- L1: same as H1, it is in the list already.\n\nNo other findings.\n",
    "02-challenges_researcher": "## Rulings\n\n- B1: agree\n- M1 = B1\n\n## Findings\n\nNo findings.\n",
    "02-challenges_designer": "## Rulings\n\n- B1: disagree with concern. Support needs it.\n- B2: agree\n\n"
    "## Findings\n\nNone.\n",
}


def test_entries_that_members_call_one_are_one_for_the_closing_round_the_chair_and_the_reader(user):
    report = found(user, said=words(**SAID_SAME))
    listed = by_id(report)
    assert sorted(listed) == ["B1", "B2", "H1", "H2"], "and what points at another entry is no finding of its own"
    one = listed["B1"]
    assert (one["also"], one["severity"], one["status"]) == (["M1"], "blocking", "contested")
    assert {"architect", "engineer", "researcher", "designer"} == set(one["supporters"])
    assert one["severities"]["designer"] == "medium"
    assert any(member["issue"].startswith("Signing out everywhere") for member in one["members"])
    for turn in ("03-closing/engineer", "04-synthesis/chair"):
        brief = (user.session / "briefs" / f"{turn}.md").read_text()
        assert "also M1)" in brief
        assert "Also put as, by Designer (Aditi) (M1, MEDIUM): Signing out everywhere" in brief
        assert "\n- M1 (" not in brief
    assert "- M1 (MEDIUM" in (user.session / "briefs/02-challenges/engineer.md").read_text()
    assert user.council("verify", user.session.name).code == 0


def test_a_person_dismisses_what_was_joined_by_either_id(user):
    found(user, said=words(**SAID_SAME))
    ended = user.council(
        "review", "--session", "last", "--dismiss", "M1=behind a flag", "--format", "json", "--fail-on", "never"
    )
    assert ended.code == 0, ended.err
    assert [(one["id"], one["also"], one["status"]) for one in ended.json["set_aside"]] == [("B1", ["M1"], "dismissed")]
    assert [line for line in ended.json["remarks"] if "dismissed" in line] == [
        "B1 was dismissed by a person: behind a flag"
    ]


def test_a_baseline_knows_what_was_joined_by_all_its_fingerprints(user):
    review(user, "sessions.md", "--format", "json", "--output", "joined.json", said=words(**SAID_SAME))
    apart = words(**{key: text.replace("M1", "M7") for key, text in SAID_SAME.items()})
    review(user, "sessions.md", "--baseline", "joined.json", "--fail-on", "low", said=apart, code=0)


# ---- findings that only look alike ----


@pytest.mark.parametrize("how", PLACES)
def test_a_finding_that_looks_like_a_known_one_is_shown_and_fails(tmp_path, how):
    for pair in SIMILAR[3:5]:
        assert not list(try_pair(tmp_path / str(pair.number), pair, how))


def test_a_baseline_of_both_passes_both(user):
    pair = SIMILAR[4]
    user.write("s.md", pair.document.text)
    said = script(pair, "none", (0, 1))
    review(user, "s.md", "--format", "json", "--output", "known.json", said=said)
    review(user, "s.md", "--baseline", "known.json", "--fail-on", "low", said=said, code=0)


def test_a_member_splits_what_words_joined_and_sees_all_of_it_before(user):
    pair = SIMILAR[4]
    user.write("s.md", pair.document.text)
    said = script(pair, "none", (0, 1), researcher=SPLIT)
    report = dict(review(user, "s.md", "--format", "json", said=said).json)
    assert [one["id"] for one in report["findings"]] == ["B1", "B1b"]
    assert {one["issue"] for one in report["findings"]} == {f"{issue}." for issue in pair.issues}
    brief = (user.session / "briefs/02-challenges/researcher.md").read_text()
    assert all(issue in brief for issue in pair.issues)
    ended = user.council("review", "--session", "last", "--dismiss", "b1b=known", "--fail-on", "never")
    assert (ended.code, "B1b was dismissed by a person: known" in ended.out) == (0, True), ended.err
    assert user.council("verify").code == 0


# ---- replies in shapes that nobody asked for ----


@pytest.mark.parametrize("shape", SHAPES[::4], ids=lambda shape: shape.name)
def test_the_exit_code_is_what_a_careful_reader_says(tmp_path, shape):
    assert not list(try_shape(tmp_path, shape))


def test_four_approvals_never_fail_and_what_contradicts_them_is_marked_and_said(user):
    text = "**Verdict: APPROVED**\n\nOne **CRITICAL** thing to watch after the merge is the size of the log.\n"
    report = review(user, "sessions.md", "--format", "json", said=by_everybody(text), code=0).json
    assert [(one["severity"], one["inferred"]) for one in report["findings"]] == [("blocking", True)]
    assert [line for line in report["remarks"] if "approves" in line] == [
        f"{seat} approves in findings, and lists 1 blocking" for seat in MEMBERS
    ]
    shown = user.council("review", "--session", "last").out
    assert "severity inferred: nobody said plainly that it is blocking, so it fails no gate" in shown


def test_a_count_that_differs_from_what_was_read_is_said(user):
    text = "CRITICAL: 2\n\n**BLOCKING:**\n- B1: Tokens lie in the table in plain text. → Hash them.\n"
    report = review(user, "sessions.md", "--format", "json", said=by_everybody(text)).json
    assert "architect counts 2 blocking findings in findings, and 1 could be read" in report["remarks"]


def test_rulings_and_nothing_else_are_read_and_not_asked_for_again(user):
    text = "**BLOCKING:**\n- B1: Tokens lie in the table in plain text. → Hash them.\n"
    only = dict.fromkeys(MEMBERS, "## Rulings\n\nB1: agree. I looked.\n")
    report = review(user, "sessions.md", "--format", "json", said=by_everybody(text, **only)).json
    assert report["unparsed"] == []
    assert len(report["findings"][0]["rulings"]) == len(MEMBERS)
    assert not [line for line in report["remarks"] if "nobody challenged" in line]


def test_a_list_says_that_nobody_challenged_it_and_that_it_has_no_summary(user):
    text = "**BLOCKING:**\n- B1: Tokens lie in the table in plain text. → Hash them.\n"
    said = {**by_everybody(text), "04-synthesis/chair": "## Summary\n", "04-synthesis/chair.2": "## Summary\n"}
    report = review(user, "sessions.md", "--format", "json", said=said).json
    assert "nobody challenged the findings: no ruling could be read" in report["remarks"]
    assert "there is no summary" in report["remarks"]


# ---- gates ----


@pytest.mark.parametrize(("gate", "code"), [("never", 0), ("blocking", 5), ("high", 5), ("medium", 5), ("low", 5)])
def test_a_gate(user, gate, code):
    ended = review(user, "sessions.md", "--fail-on", gate, code=code)
    if code:
        assert ended.last.endswith(f"read it with: council review --session {user.session.name}")
        above = "" if gate == "blocking" else " or above"
        assert re.search(rf"\d open findings are {gate}{above}: B1, B2", ended.err), (
            "whoever gave no gate reads of none"
        )


def test_a_gate_that_nothing_reaches(user):
    nothing = {
        f"{step}/{seat}": "## Rulings\n\nnone\n\n## Findings\n\nNo findings.\n"
        for step in ("01-findings", "02-challenges")
        for seat in MEMBERS
    }
    ended = review(user, "sessions.md", "--fail-on", "low", said={**nothing, "04-synthesis/chair": SUMMARY}, code=0)
    assert "no findings" in ended.out.lower()


def test_only_what_is_new_fails(user):
    review(user, "sessions.md", "--format", "json", "--output", "review.json")
    review(user, "sessions.md", "--baseline", "review.json", "--fail-on", "low", code=0)
    review(user, "sessions.md", "--baseline", user.write("empty.json", '{"findings": []}'))
    for text in ("", "[]", "{", '{"findings": [1]}'):
        ended = user.council("review", "--session", "last", "--baseline", user.write("bad.json", text))
        assert (ended.code, "--baseline" in ended.err) == (2, True)


# ---- formats and edits ----


@pytest.mark.parametrize("form", ["md", "json", "sarif", "rdjson", "github"])
def test_each_format_goes_to_a_file_too(user, form):
    printed = review(user, "sessions.md", "--format", form).out
    again = user.council("review", "--session", "last", "--format", form, "--output", "out", "--fail-on", "never")
    assert again.code == 0, again.err
    assert (user.work / "out").read_text().rstrip("\n") == printed.rstrip("\n")


def test_a_second_run_has_the_same_fingerprints(user):
    first = {one["fingerprint"] for one in found(user)["findings"]}
    assert {one["fingerprint"] for one in found(user)["findings"]} == first


@pytest.mark.skipif(shutil.which("git") is None, reason="needs git")
def test_the_diff_is_taken_by_git(user):
    git(user, "init", "-q", ".")
    review(user, "sessions.md", "--patch", "review.patch")
    assert (user.work / "sessions.md").read_text() == SPEC, "nothing is applied without being asked"
    git(user, "apply", "review.patch")
    changed = (user.work / "sessions.md").read_text()
    assert "Of each token the table `sessions` holds the SHA-256, one row a device." in changed
    assert "Every attempt is logged with the user's name and its outcome, for support." in changed
    assert len(changed.splitlines()) == len(SPEC.splitlines())


def git(user: User, *command: str) -> str:
    own = ["-c", "user.name=a", "-c", "user.email=a@example.invalid"]
    return subprocess.run(["git", *own, *command], cwd=user.work, check=True, capture_output=True, text=True).stdout


@pytest.mark.skipif(shutil.which("git") is None, reason="needs git")
def test_what_changed_since_a_revision(user):
    git(user, "init", "-q", ".")
    user.write("sessions.md", SPEC.replace("never expires", "expires after a year"))
    git(user, "add", ".")
    git(user, "commit", "-qm", "one")
    ended = user.council("review", "sessions.md", "--diff", "HEAD")
    assert (ended.code, "nothing changed" in ended.err) == (2, True)
    user.write("sessions.md", SPEC)
    review(user, "sessions.md", "--diff", "HEAD")
    topic = (user.session / "topic.md").read_text()
    assert "-A token expires after a year" in topic
    assert "+A token never expires" in topic
    assert user.council("review", "sessions.md", "--diff", "nowhere").code == 2
    assert user.council("review", "sessions.md", "--diff", "--output=x").code == 2


# ---- what is refused ----


def test_bad_input_is_refused_before_anything_is_spent(user):
    user.write("empty.md", "")
    user.write("binary.bin", b"\x00\x01\xff" * 100)
    user.write("long.md", "word " * 100_000)
    (user.work / "folder").mkdir()
    for spec, why in {
        "missing.md": "no such file", "empty.md": "empty", "binary.bin": "not a text file", "folder": "is a directory",
        "long.md": "--max-tokens", "*.none": "no such file",
    }.items():  # fmt: skip
        ended = user.council("review", spec, "--speaker", "anthropic")
        assert (ended.code, why in ended.err) == (2, True), ended.err
    assert user.sessions == []
    assert user.council("review").code == 2
    assert user.council("review", "sessions.md", "--session", "last").code == 2


def test_globs_and_several_files(user):
    user.write("docs/other.md", "# Other\n\nNothing here.\n")
    report = dict(review(user, "*.md", "docs/*.md", "sessions.md", "--format", "json").json)
    assert [one["path"] for one in report["documents"]] == ["sessions.md", "docs/other.md"]


def test_a_debate_is_no_review(user):
    script = user.write("script.json", json.dumps({}))
    assert user.council("start", "Shall we?").code == 0
    ended = user.council("review", "--session", "last")
    assert (ended.code, "is not a review" in ended.err) == (2, True)
    assert script.exists()


# ---- baits ----


@pytest.mark.parametrize("name", [*BAITS][::5])
def test_a_bait_changes_nothing_and_is_reported(user, name):
    """Some of each kind; `scripts/prove trust` has them all."""
    assert find_bitten(user, name) == []


def test_every_bait_is_a_mark_of_its_own():
    assert [name for name, bait in BAITS.items() if not marks([Document("sessions.md", f"{SPEC}\n\n{bait}\n")])] == []


def test_an_ordinary_document_has_no_marks():
    assert marks([Document("sessions.md", SPEC)]) == ()
    for heading in ("## Security", "# Security considerations", "**Security:**", "### 4. Security", "## Summary"):
        text = f"{SPEC}\n\n{heading}\n\nTokens are stored as hashes. Nobody can read them.\n"
        assert marks([Document("sessions.md", text)]) == ()


def test_the_list_stands_in_the_session_the_transcript_and_the_page(user):
    found(user)
    listed = user.council("review", "--session", "last", "--fail-on", "never").out
    assert (user.session / "patchlist.md").read_text("utf-8") == listed
    transcript = (user.session / "transcript.md").read_text("utf-8")
    assert "### Review sessions.md\n\n6 findings: 2 blocking, 3 high and 1 medium." in transcript
    assert transcript.index("### Review sessions.md") < transcript.index("### Council Synthesis")
    facts = json.loads((user.session / "convergence.json").read_text("utf-8"))
    assert (facts["outcome"], facts["converged"]) == ("reviewed, contested", False)
    assert facts["reason"] == "6 findings: 2 blocking, 3 high and 1 medium; B1 and M1 are contested"
    assert "<strong>B1</strong> (contested)" in user.council("show", "--html").out


def test_what_a_person_dismisses_is_published_too(user):
    found(user)
    assert user.council("review", "--session", "last", "--dismiss", "B1=behind a flag", "--fail-on", "never").code == 0
    assert "B1 was dismissed by a person: behind a flag" in (user.session / "transcript.md").read_text("utf-8")
    (archived,) = user.home.glob("RESEARCH/*/*.md")
    assert archived.read_bytes() == (user.session / "transcript.md").read_bytes()
    assert user.council("verify").code == 0
