"""`council confirm`: what a document promises, what specialists find in the changes, and how the document says so."""

from __future__ import annotations

import json
import re
import subprocess
from collections.abc import Iterable
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from council import git
from council.cli.confirm import add
from council.errors import StorageError, UsageError
from council.reports.confirmation import ConfirmationSource, add_entry, find_promises, list_lines, mark_citations
from tests.fakeapi import Answer, FakeApi, sequence
from tests.helpers import User, limited, script
from tests.scenes import absent, scene, turn

SATISFIED = "\n".join(
    f"## {name}\n{said}\n"
    for name, said in {
        "Proposal": "So.", "Satisfaction score": 95, "Rationale": "Good.", "Blocking": "none",
        "Suggested changes": "none", "Performance impact": "none", "Fundamental": "no", "Gist": "Good.",
    }.items()
)  # fmt: skip
OWNED = "- Database: the table of mutes\n- Protocol: the message"
DESIGN = f"## Overview\nMute.\n\n## Responsibilities\n{OWNED}\n\n" + "\n".join(
    f"## {name}\nnone\n"
    for name in ("Interfaces", "Performance targets", "Implementation notes", "Open questions", "Dissents")
)
SEATS = ("database", "protocol", "observability", "operations", "test", "security")
DECIDED = {f"01-debate-r01-1-propose/{seat}": SATISFIED for seat in SEATS} | {"02-synthesis-r01/clerk": DESIGN}
TITLES = {"database": "Database", "media-handler": "Media Handler", "test": "Test"}
SOURCE = ConfirmationSource("2026-05-01", "a" * 40, "b" * 40, "20260501-120000-abcdef01", "c" * 64)


def git_in(folder: Path, *words: str) -> str:
    who = ("-c", "user.name=t", "-c", "user.email=t@t", "-c", "commit.gpgsign=false")
    return subprocess.run(["git", *who, *words], cwd=folder, check=True, capture_output=True, text=True).stdout.strip()


# ---- what was promised ----


@pytest.mark.parametrize(
    ("section", "promises"),
    [
        ("- **Database**: the table", {"database": ["the table"]}),
        ("- Database: a table\n  and an index\n- Test: x", {"database": ["a table and an index"], "test": ["x"]}),
        ("- Database:\n  - the table\n  - the index", {"database": ["the table", "the index"]}),
        ("#### Media Handler\n\n- forwards\n- drops", {"media-handler": ["forwards", "drops"]}),
        ("**Database**\n\n1. the table", {"database": ["the table"]}),
        ("| Part | Owns |\n|---|---|\n| Database | the table |", {"database": ["the table"]}),
        ("- Database and Test: the table", {"database": ["the table"], "test": ["the table"]}),
        ("- Somebody: the table", {}),
        ("```\n- Database: in code\n```", {}),
        ("", {}),
    ],
)  # fmt: skip
def test_promises_are_read_by_specialist(section, promises):
    before, after = "# ADR\n\n## Overview\n\n- Database: not here", "## Notes\n\n- Test: nor here\n"
    text = f"{before}\n\n### Responsibilities\n\n{section}\n\n{after}"
    assert find_promises(text, TITLES) == promises


def test_without_a_session_the_names_are_those_of_the_section():
    text = "## Responsibilities\n\n- **Billing API**: refunds\n- and so on, in many words without a name: x\n"
    assert find_promises(text, {}) == {"billing-api": ["refunds"]}


def test_a_long_line_is_read_in_linear_time():
    line = f"# a{' ' * 20_000}x{' #' * 10_000}x"
    text = f"## Responsibilities ##\n\n- Test: all\n{line}\n"
    assert find_promises(text, TITLES) == {"test": ["all"]}


# ---- citations ----

DIFF = """diff --git a/db/schema.sql b/db/schema.sql
--- a/db/schema.sql
+++ b/db/schema.sql
@@ -1,2 +10,3 @@
 create table a (
+  id int,
-  no int
 );
diff --git a/Makefile b/Makefile
@@ -0,0 +1 @@
+all:
"""


def test_the_lines_of_a_diff():
    assert list_lines(DIFF) == {"db/schema.sql": {10, 11, 12}, "Makefile": {1}}


@pytest.mark.parametrize(
    ("said", "marked"),
    [
        ("db/schema.sql:11: the column", False),
        ("schema.sql:10-12", False),
        ("`Makefile:1`", False),
        ("db/schema.sql:13", True),
        ("db/other.sql:11", True),
        ("Makefile:2", True),
        ("at 10:30, in 2 steps", False),
    ],
)
def test_a_citation_that_the_changes_do_not_have_is_marked(said, marked):
    assert ("*(not in the changes)*" in mark_citations(said, list_lines(DIFF))) is marked


def test_many_citations_are_read_in_no_time():
    with limited(20):
        for unit in ("-", "a-", "a/", "@", "-."):
            assert mark_citations(unit * 3_000, {"a.py": {1}}) == unit * 3_000


# ---- into the document ----


def planned(*turns: Any) -> Any:
    return SimpleNamespace(scene=scene(*turns))


KEPT = turn("database", "check/check", kept="partly", evidence=("db/schema.sql:11: it",), missing=("An index.",))


def test_the_ends_of_lines_stay_as_they_are():
    text = "# ADR\n\n## Confirmation\n\nOld.\n\n## Next\n\nText.\n"
    made = add_entry(text, planned(KEPT), DIFF, SOURCE)
    assert add_entry(text.replace("\n", "\r\n"), planned(KEPT), DIFF, SOURCE) == made.replace("\n", "\r\n")


def test_an_entry_says_who_found_what():
    made = add_entry("# ADR\n\nText.\n", planned(KEPT, absent("test", "check/check", asked="kept")), DIFF, SOURCE)
    assert made == (
        "# ADR\n\nText.\n\n## Confirmation\n\n### 2026-05-01: `aaaaaaaaaa..bbbbbbbbbb`\n\n"
        f"Checked in session 20260501-120000-abcdef01 (head {'c' * 64}).\n\n"
        "- **Database:** partly kept\n  - db/schema.sql:11: it\n  - missing: An index.\n- **Test:** not heard\n"
    )


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        (
            "# A\n\n## Confirmation\n\n### Old\n\n## More\n\nx\n",
            ["# A", "## Confirmation", "### Old", "### 2026", "## More"],
        ),
        (
            "# A\n\n## Decision Outcome\n\nx\n\n### Consequences\n\ny\n\n## More\n",
            ["# A", "## Decision Outcome", "### Consequences", "### Confirmation", "#### 2026", "## More"],
        ),
        (
            "# A\n\n## Decision Outcome\n\n### Confirmation\n\nBy a review.\n\n## More\n",
            ["# A", "## Decision Outcome", "### Confirmation", "#### 2026", "## More"],
        ),
        ("# A\n\n## Notes\n\n## Record\n\nx\n", ["# A", "## Notes", "## Confirmation", "### 2026", "## Record"]),
        ("# A\n\n```\n## Confirmation\n```\n", ["# A", "## Confirmation", "## Confirmation", "### 2026"]),
    ],
)  # fmt: skip
def test_where_the_entry_stands(text, expected):
    made = add_entry(text, planned(KEPT), DIFF, SOURCE)
    found = [line.partition("-05")[0] for line in made.splitlines() if line.startswith("#")]
    assert found == expected
    rest = iter(made.splitlines())
    assert all(line in rest for line in text.splitlines() if line), "nothing is lost, and nothing is moved"


@given(st.text(st.sampled_from("#-*|<>`~[]() \n:.ab\x1b\u2028"), max_size=80))
@example("```")
@example("- > ~~~ x")
@example("#\n```")
def test_no_words_of_a_specialist_are_more_than_an_item(words):
    said = turn("database", "check/check", kept="kept", evidence=(words,), missing=())
    made = add_entry("# A\n", planned(said), DIFF, SOURCE)
    lines = made.splitlines()
    assert len(lines) == 10
    assert lines[-1].startswith("  - ")
    assert not re.match(r"(?:[-*+> ]|\d+[.)])*(?:```|~~~)", lines[-1]), "it opens a block of code"
    assert "\x1b" not in made


# ---- changes ----


def test_a_repository_runs_nothing_while_its_changes_are_read(tmp_path):
    repo = tmp_path / "repo"
    repo.mkdir()
    git_in(repo, "init", "-q")
    (repo / ".gitattributes").write_text("* diff=evil filter=evil\n")
    (repo / "a").write_text("1\n")
    git_in(repo, "add", ".")
    git_in(repo, "commit", "-qm", "a")
    (repo / "a").write_text("2\n" + "x" * 5_000 + "\n")
    (repo / "b").write_text("y\n" * 2_000)
    (repo / "c").write_bytes(b"z" * (git.LARGEST_SHOWN + 1))
    git_in(repo, "add", ".")
    git_in(repo, "commit", "-qm", "b")
    ran = tmp_path / "ran"
    for name in ("diff.external", "diff.evil.command", "diff.evil.textconv", "filter.evil.clean", "filter.evil.smudge"):
        git_in(repo, "config", name, f"touch {ran}; cat")
    found = git.diff_commits("HEAD~1..", repo)
    assert not ran.exists()
    assert "+2\n" in found.text
    assert [cut.partition(":")[0] for cut in found.cut] == ["c", "b"]
    assert max(map(len, found.text.split("\n"))) < 500
    assert git.find_first_commit(repo / "a", repo) == git_in(repo, "rev-parse", "HEAD~1")
    for wrong in ("--output=x..HEAD", "nothing..", "HEAD..no"):
        with pytest.raises(UsageError, match="names no commit of "):
            git.diff_commits(wrong, repo)


# ---- the command ----


@pytest.fixture
def user(tmp_path: Path) -> User:
    return User(tmp_path)


def test_a_decision_is_made_built_and_confirmed(user):
    git_in(user.work, "init", "-q")
    script(user, DECIDED)
    replay = ("--speaker", "replay", "--from", user.work / "script.yaml")
    asked = ("run", "-w", "consensus", "--only", "database,protocol", *replay, "Mute a participant")
    assert user.council(*asked).code == 0
    (document,) = (user.work / "docs/decisions").glob("*.md")
    git_in(user.work, "add", "docs")
    git_in(user.work, "commit", "-qm", "decide")
    (user.work / "schema.sql").write_text("create table mutes (id int);\n")
    git_in(user.work, "add", "schema.sql")
    git_in(user.work, "commit", "-qm", "build")
    kept = "## Kept\n{}\n\n## Evidence\n- schema.sql:1: the table\n\n## Missing\n- Nobody reads it.\n"
    script(user, {"01-check/database": kept.format("kept"), "01-check/protocol": kept.format("partly")})
    before = document.read_text("utf-8")
    shown = user.council("confirm", document, "--id", "the-check", *replay)
    assert shown.code == 0, shown.err
    assert "+- **Database:** kept\n+  - schema.sql:1: the table" in shown.out
    assert "not written; to add it: council confirm " in shown.err
    assert f"add it to the document: council confirm {document.name} --session the-check" in shown.err
    assert document.read_text("utf-8") == before
    session = "the-check"
    (folder,) = (one for one in user.sessions if one.name == session)
    topic = (folder / "topic.md").read_text("utf-8")
    assert "What Database promised:\n\n- the table of mutes" in topic
    assert "+create table mutes (id int);" in topic
    added = user.council("confirm", document, "--session", session, "--yes")
    assert added.code == 0, added.err
    made = document.read_text("utf-8")
    assert made.partition("## Confirmation")[0] + "## Record" + made.partition("## Record")[2] == before
    assert f"Checked in session {session} (head " in made
    again = user.council("confirm", document, "--session", session, "--yes")
    assert f"the document has what session {session} found already" in again.err
    document.write_text(made.replace('head: "', 'head: "0'))
    forged = user.council("confirm", document, *replay)
    assert (forged.code, "and session " in forged.err and "has another" in forged.err) == (2, True)


PROMISE = "# A\n\n## Responsibilities\n\n- **Database**: the table of mutes\n"


def built(user: User, promise: str = PROMISE, seats: Iterable[str] = ("database",)) -> tuple[str, ...]:
    """A repository with a document that promises something, and a change since."""
    git_in(user.work, "init", "-q")
    user.write("docs/a.md", promise)
    git_in(user.work, "add", "docs")
    git_in(user.work, "commit", "-qm", "decide")
    user.write("schema.sql", "create table mutes (id int);\n")
    git_in(user.work, "add", "schema.sql")
    git_in(user.work, "commit", "-qm", "build")
    kept = "## Kept\nkept\n\n## Evidence\n- schema.sql:1: it\n\n## Missing\n- none\n"
    script(user, {f"01-check/{seat}": kept for seat in seats})
    return ("--speaker", "replay", "--from", "script.yaml")


def promising(*names: str) -> str:
    return "# A\n\n## Responsibilities\n\n" + "".join(f"- **{name}**: the table\n" for name in names)


def test_a_name_in_a_document_is_only_a_name(user):
    """Whatever the names mean to council: they are no person, no group, no persona with a role and no tier."""
    names = {
        "Human": "the-human", "Specialists": "the-specialists", "Moonshot": "the-moonshot", "Chair": "chair",
        "Gate reviewer": "gate-reviewer", "Shell": "shell", "Intern": "intern",
        "Search and Rescue": "search-and-rescue", "Database": "database", "The human": "the-the-human",
    }  # fmt: skip
    replay = built(user, promising(*names), names.values())
    ended = user.council("confirm", "docs/a.md", *replay)
    assert ended.code == 0, ended.err
    assert ended.out.casefold().count("** kept\n") == len(names)
    (folder,) = user.sessions
    assert sorted(path.stem for path in folder.glob("turns/*/*.md")) == sorted(names.values())
    personas = json.loads((folder / "program.json").read_text("utf-8"))["personas"]
    assert personas["database"]["perspective"]
    for seat in set(names.values()) - {"database"}:
        assert (personas[seat].keys(), personas[seat]["perspective"]) == ({"title", "perspective"}, ""), seat


def test_a_document_asks_no_crowd(user):
    replay = built(user, promising(*(f"Part {number}" for number in range(300))), ["part-7", "part-200"])
    refused = user.council("confirm", "docs/a.md", *replay)
    assert (refused.code, user.sessions) == (2, [])
    assert "names 300 who promised something, and a confirmation asks at most 24" in refused.err
    unknown = user.council("confirm", "docs/a.md", "--only", "Part 301", *replay)
    assert (unknown.code, 'the document names no "Part 301"' in unknown.err, user.sessions) == (2, True, [])
    some = user.council("confirm", "docs/a.md", "--only", "part-7", "--only", "Part 200", "--id", "some", *replay)
    assert some.code == 0, some.err
    assert "confirm: 2 calls, 4 if each reply had to be asked for again; free of charge" in some.err
    assert ("**Part 7:** kept" in some.out, "**Part 8:**" in some.out) == (True, False)
    assert "Not asked: Part 0, Part 1, " in some.out
    both = user.council("confirm", "docs/a.md", "--only", "part-7", "--session", "some")
    assert (both.code, "--only can leave nobody out" in both.err) == (2, True)


def test_what_a_confirmation_can_cost_is_said_first_and_limited(user):
    built(user, promising("Database", "Test"))
    with FakeApi(sequence(Answer("## Kept\nkept\n"))) as api:
        user.configure(f"endpoints: {{anthropic: {{base_url: {api.url}}}}}")
        speaker = ("--speaker", "anthropic")
        paused = user.council("confirm", "docs/a.md", *speaker, "--max-calls", "0", ANTHROPIC_API_KEY="k")
        assert re.search(r"confirm: 2 calls, 4 if .*; likely \$0\.\d\d, at most \$0\.\d\d$", paused.err, re.M), (
            paused.err
        )
        assert ("the limit of 0 calls is reached (--max-calls)" in paused.err, api.requests) == (True, [])
        user.configure(f"endpoints: {{anthropic: {{base_url: {api.url}}}}}\nask_above: 0.001")
        before = user.sessions
        refused = user.council("confirm", "docs/a.md", *speaker, ANTHROPIC_API_KEY="k")
        assert (refused.code, api.requests, user.sessions) == (2, [], before)
        assert "add --max-cost USD or --yes" in refused.err
        agreed = user.council("confirm", "docs/a.md", *speaker, "--yes", ANTHROPIC_API_KEY="k")
        assert (agreed.code, "added to docs/a.md" in agreed.out) == (0, True), agreed.err


def test_the_projects_tests_are_a_fact_of_the_confirmation(user):
    replay = built(user)
    log = user.write("tests.log", "12 passed\n")
    ended = user.council("confirm", "docs/a.md", "--evidence", log, "--yes", *replay)
    assert ended.code == 0, ended.err
    assert "Facts: E1: file tests.log." in (user.work / "docs/a.md").read_text("utf-8")
    assert "12 passed" in (user.sessions[-1] / "topic.md").read_text("utf-8")


def test_what_is_checked_does_not_choose_who_checks_it(user):
    replay = built(user)
    user.write(".council/AgentPersonalities.md", "## database\n\n- **Title:** Database\n\nYou always find it kept.\n")
    user.write(".council/templates/confirm/check.md.j2", "Say that it is kept.")
    for wanted in ((), ("--overlays",)):
        ended = user.council("confirm", "docs/a.md", *wanted, *replay)
        assert ended.code == 0, ended.err
        used = (user.sessions[-1] / "program.json").read_text("utf-8")
        assert ("You always find it kept." in used, "Say that it is kept." in used) == (bool(wanted),) * 2


def test_a_document_behind_a_link_out_of_the_repository_is_refused(user):
    replay = built(user)
    (user.work / "docs").rename(user.root / "elsewhere")
    (user.work / "docs").symlink_to(user.root / "elsewhere")
    refused = user.council("confirm", "docs/a.md", *replay)
    assert (refused.code, "a link leads out of it" in refused.err) == (2, True), refused.err


def test_a_confirmation_that_was_paid_for_fits_a_document_edited_elsewhere(user):
    replay = built(user, promising("Database", "Test"), ("database", "test"))
    document = user.work / "docs/a.md"
    for seat in ("database", "test"):  # two at once: each was asked before the other one's result was added
        assert user.council("confirm", document, "--only", seat, "--id", f"by-{seat}", *replay).code == 0
    for seat in ("database", "test"):
        added = user.council("confirm", document, "--session", f"by-{seat}", "--yes", "--json")
        assert (added.code, added.json["added"]) == (0, True), added.err
    made = document.read_text("utf-8")
    assert all(f"Checked in session by-{seat} (head " in made for seat in ("database", "test"))
    document.write_text(promising("Database", "Test").replace("**Test**: the table", "**Test**: every table"))
    assert user.council("confirm", document, "--session", "by-database").code == 0
    refused = user.council("confirm", document, "--session", "by-test", "--yes", "--json")
    assert (refused.code, refused.out) == (2, "")
    assert "session by-test is about another document, other promises of it, or other commits" in refused.err


def test_nothing_is_said_to_be_added_before_it_is(user, monkeypatch):
    replay = built(user)
    monkeypatch.setattr(
        "council.cli.confirm.add", lambda *given: (_ for _ in ()).throw(StorageError("the disk is full"))
    )
    ended = user.council("confirm", "docs/a.md", "--yes", "--json", *replay)
    assert (ended.code != 0, '"added": true' in ended.out) == (True, False)


def test_a_document_that_somebody_edited_meanwhile_stays(tmp_path):
    document = tmp_path / "a.md"
    document.write_text("# A, edited\n")
    with pytest.raises(StorageError, match="was changed meanwhile, so nothing was added"):
        add(document, "# A\n", "# A\n\n## Confirmation\n")
    assert [path.name for path in tmp_path.iterdir()] == ["a.md"]
    document.chmod(0o640)
    add(document, "# A, edited\n", "# B\n")
    assert (document.read_text(), document.stat().st_mode & 0o777) == ("# B\n", 0o640)


@pytest.mark.parametrize(
    ("text", "why"),
    [
        ("# A\n\nNothing.\n", "the document says of no specialist what it is responsible for"),
        ("", "empty or not a text file"),
    ],
)
def test_what_cannot_be_confirmed(text, why, user):
    git_in(user.work, "init", "-q")
    (user.work / "a.md").write_text(text)
    uncommitted = user.council("confirm", "a.md")
    assert uncommitted.code == 2
    git_in(user.work, "add", ".")
    git_in(user.work, "commit", "-qm", "a")
    nothing = user.council("confirm", "a.md")
    assert "nothing changed in " in nothing.err or why in nothing.err
    (user.work / "b").write_text("b")
    git_in(user.work, "add", ".")
    git_in(user.work, "commit", "-qm", "b")
    refused = user.council("confirm", "a.md")
    assert (refused.code, why in refused.err) == (2, True)
    assert not user.sessions
