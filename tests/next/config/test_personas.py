"""Personas, lists of specialists and their drafts."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

import pytest

from council.next.config import drafting, personas, places, specialists
from council.next.errors import UsageError
from council.next.workflow.loader import load as load_workflow
from council.next.workflow.model import HUMAN
from tests.next.config.homes import put

WHERE = "AgentPersonalities.md"


# ---- personas ----


def test_a_section_is_facts_and_a_perspective() -> None:
    found = personas.parse(
        "# Notes\n\n- a list\n\n## architect\n\n- **Title:** Architect\n-   **Name:** Ada B. C\n- **Focus:** a: b\n\n"
        "One.\n\n- a point\n- **Bold:** not a fact here\n### Below\nTwo.\n\n## empty\n",
        WHERE,
    )
    assert found == {
        "architect": {
            "title": "Architect",
            "name": "Ada B. C",
            "focus": "a: b",
            "perspective": "One.\n\n- a point\n- **Bold:** not a fact here\n### Below\nTwo.",
        },
        "empty": {"perspective": ""},
    }


@pytest.mark.parametrize(
    ("text", "sentence"),
    [
        ("## a\n- **Titel:** A", 'line 2: unknown fact "titel"; did you mean "title"?'),
        ("\n## a\n\n- **Title:** A\n- **Title:** B", "line 5: title belongs into the list below the heading, once"),
        ("## a\nText.\n- **Tier:** opus", "line 3: tier belongs into the list below the heading, once"),
        ("## a\n## b\n## a", 'line 3: "a" is there twice'),
        ("## ../etc", 'line 1: "../etc" cannot be a name'),
        ("## Two Words", 'line 1: "Two Words" cannot be a name: use a-z, 0-9 and hyphens'),
        ("## ", 'line 1: "" cannot be a name'),
        ("## \x1b[31mred", "line 1:"),
    ],
)
def test_a_mistake_is_named_with_file_and_line(text: str, sentence: str) -> None:
    with pytest.raises(UsageError) as refused:
        personas.parse(text, WHERE)
    assert str(refused.value).startswith(f"{WHERE}: {sentence}")
    assert "\x1b" not in str(refused.value)


def test_a_large_file_is_read_in_time_that_is_linear() -> None:
    text = "".join(f"## p{number}\n- **Title:** T\n" + "words\n" * 50 for number in range(4_000))
    assert len(personas.parse(text, WHERE)) == 4_000


def test_a_section_of_an_overlay_replaces_the_one_below_as_a_whole(home: Path, project: Path) -> None:
    kits = personas.load()["architect"]
    put(home / ".config/council", AgentPersonalities="## architect\n- **Title:** Mine\n\n## mine\n\nMe.\n")
    put(project, AgentPersonalities="## architect\n- **Title:** Ours\n")
    assert personas.load()["architect"] == {"title": "Mine", "perspective": ""}
    both = personas.load(places.overlays(project))
    assert both["architect"] == {"title": "Ours", "perspective": ""}
    assert both["mine"] == {"perspective": "Me."}
    assert both["engineer"] == personas.load()["engineer"]
    assert kits["name"] == "Serena Blackwood"


def test_the_kit_has_a_persona_for_every_seat_of_its_workflows() -> None:
    known = personas.load()
    listed = specialists.load()
    for name in ("debate", "quick", "delphi", "board", "consensus", "planning-1", "planning-2"):
        workflow = load_workflow(places.read(places.find_workflow(name)), name)
        seats = {seat.persona for seat in workflow.all_seats().values()}
        assert seats - {HUMAN} <= {*listed.personas(known)}, name
    tiers = {persona["tier"] for persona in known.values() if "tier" in persona}
    assert tiers <= {"sonnet", "haiku", "opus"}


def test_a_member_is_called_by_name_title_or_first_name() -> None:
    named = personas.called(personas.load())
    for word in ("architect", "serena-blackwood", "serena"):
        assert named[word] == "architect"
    assert named["quality-specialist"] == "quality-specialist"
    two = {
        "a": {"name": "Sam Smith", "title": "Lead"},
        "b": {"name": "Sam Jones", "title": "Lead"},
        "sam": {"name": "Kim Sam"},
    }
    assert personas.called(two) == {
        "a": "a", "b": "b", "sam": "sam", "sam-smith": "a", "sam-jones": "b", "kim-sam": "sam", "kim": "sam",
    }  # fmt: skip


# ---- specialists ----


PAYMENTS = "## payments\n- **Title:** Payments\n- **Features:** checkout, ledger-change\n\nMoney.\n"


def test_the_nearest_list_counts_as_a_whole(home: Path, project: Path) -> None:
    assert specialists.load().path == places.KIT / "Specialists" / "conferencing.md"
    mine = put(home / ".config/council", Specialists=PAYMENTS)
    assert specialists.load().path == mine / "Specialists.md"
    put(project, Specialists=PAYMENTS.replace("payments", "billing"))
    assert [*specialists.load(folders=places.overlays(project)).sections] == ["billing"]
    assert specialists.load("library").path == places.KIT / "Specialists" / "library.md"
    with pytest.raises(UsageError, match='"libary"; did you mean "library"'):
        specialists.load("libary")


def test_each_area_of_the_kit_has_a_list_that_can_be_read() -> None:
    assert [*specialists.areas()] == ["conferencing", "data-platform", "library", "web-service"]
    known = personas.load()
    for area in specialists.areas():
        found = specialists.load(area)
        assert found.sections
        assert all(one["perspective"] for name, one in found.personas(known).items() if name in found.sections), area


def test_features_name_the_specialists_who_take_part() -> None:
    found = specialists.parse(PAYMENTS + "## ledger\n- **Features:** ledger-change\n", Path("x"))
    assert found.features() == {"checkout": ["payments"], "ledger-change": ["payments", "ledger"]}


def test_what_a_section_leaves_out_is_its_personas() -> None:
    found = specialists.parse("## security\n- **Focus:** cards\n", Path("x"))
    security = found.personas(personas.load())["security"]
    assert (security["focus"], security["name"]) == ("cards", "Rook Blackburn")
    assert security["perspective"]


def test_the_members_are_those_of_the_list_and_the_fixed_seats_stay() -> None:
    workflow = load_workflow(places.read(places.find_workflow("consensus")), "Consensus.md")
    found = specialists.parse(PAYMENTS + "## security\n\nCards.\n", Path("x"))
    assert found.members(workflow) == ["payments"]
    changed = workflow.with_members(found.members(workflow))
    assert [seat.name for seat in changed.members] == ["payments"]
    assert {seat.name for seat in changed.groups["crosscutting"]} >= {"security", "test"}
    with pytest.raises(UsageError, match="takes part in every consensus"):
        specialists.parse("## security\n\nCards.\n", Path("x")).members(workflow)


@pytest.mark.parametrize(
    ("text", "sentence"),
    [
        ("# Specialists\n", "there are no specialists"),
        ("## human\n", '"human" is also a name that council itself uses'),
        ("## a\n- **Features:** b\n## b\n", '"b" is also a type of feature'),
        ("## a\n- **Features:** b, \x1b[31mc\n", '"c" cannot be a type of feature'),
        ("## a\n- **Feature:** b\n", 'unknown fact "feature"; did you mean "features"'),
    ],
)
def test_a_list_with_mistakes_is_refused(text: str, sentence: str) -> None:
    with pytest.raises(UsageError) as refused:
        specialists.parse(text, Path("Specialists.md"))
    assert sentence in str(refused.value)


# ---- drafts ----


def repository(top: Path, *names: str, owners: str = "") -> Path:
    top.mkdir()
    for name in names:
        path = top / name
        (path if name.endswith("/") else path.parent).mkdir(parents=True, exist_ok=True)
        if not name.endswith("/"):
            path.write_text("x")
    if owners:
        (top / "CODEOWNERS").write_text(owners)
    return top


def sections_of(text: str) -> dict[str, str]:
    return {name: one.get("paths", "") for name, one in specialists.parse(text, Path("draft")).sections.items()}


def test_a_draft_has_the_parts_that_folders_show(tmp_path: Path) -> None:
    top = repository(tmp_path / "r", "svc/migrations/", "Dockerfile", "proto/a.proto", "node_modules/api/", ".x/api/")
    text, unused = drafting.draft(top)
    assert sections_of(text) == {"protocol": "proto/", "database": "svc/migrations/", "platform": "Dockerfile"}
    assert unused == 0
    assert "from its folders." in text
    assert specialists.parse(text, Path("draft")).sections["database"]["perspective"]


def test_teams_of_codeowners_become_sections_and_persons_do_not(tmp_path: Path) -> None:
    owners = """
        # comment @acme/nobody
        /billing/   @acme/payments @ada
        /billing/vat/ @acme/payments
        /search/    ada@example.org
        *           @ada
        /people/    @acme/human
        nothing
        /$(touch x)/ @acme/shell
    """
    text, unused = drafting.draft(repository(tmp_path / "r", owners=owners))
    assert sections_of(text) == {"payments": "billing/", "search": "search/"}
    assert unused == 4
    assert "ada" not in text
    assert "from CODEOWNERS." in text


def test_nothing_is_run_and_no_link_is_followed(tmp_path: Path) -> None:
    outside = repository(tmp_path / "outside", "migrations/", owners="/x/ @acme/evil\n")
    top = repository(tmp_path / "r", "api/", "{{ 7 * 7 }}/api/", "x\x1b[31m/api/", "$(id)/jobs/")
    (top / "linked").symlink_to(outside)
    (top / "CODEOWNERS").symlink_to(outside / "CODEOWNERS")
    os.mkfifo(top / "schema.rb")
    text, _ = drafting.draft(top)
    assert sections_of(text) == {"api": "api/", "database": "schema.rb"}
    (top / "CODEOWNERS").unlink()
    (top / ".github").symlink_to(outside)
    assert drafting.draft(top)[0] == text
    os.mkfifo(top / "CODEOWNERS")
    assert drafting.draft(top)[0] == text


def test_a_huge_repository_is_looked_at_in_part(tmp_path: Path) -> None:
    top = repository(tmp_path / "r", "a/b/c/d/e/api/", "z/api/", owners="/x/ @acme/t\n" * 100_000)
    text, _ = drafting.draft(top)
    assert sections_of(text) == {"api": "z/api/", "t": "x/"}
    many = "".join(f"/p{number}/ @acme/team{number:03}\n" for number in range(30))
    found = sections_of(drafting.draft(repository(tmp_path / "m", owners=many))[0])
    assert len(found) == drafting.MOST_OWNERS


def test_no_path_of_many_is_compared_with_all_the_others() -> None:
    class Folder(str):
        def startswith(self, tops: Any, *_: Any) -> bool:
            assert len(tops) <= drafting.MOST_PATHS
            return super().startswith(tops)

    paths: list[str] = [Folder(f"web{number:05}/") for number in range(drafting.MOST_ENTRIES)]
    assert drafting.join_paths(paths) == "web00000/, web00001/, web00002/, web00003/, web00004/, web00005/"


def test_where_nothing_shows_the_parts_the_kits_lists_are_named(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="conferencing, data-platform, library, web-service"):
        drafting.draft(repository(tmp_path / "r", "notes.txt"))
    with pytest.raises(UsageError, match="no such folder"):
        drafting.draft(tmp_path / "missing")


def test_the_same_repository_gives_the_same_draft(tmp_path: Path) -> None:
    names = ["api/", "jobs/", "b/api/", "c/routes/", "Dockerfile", "a/Dockerfile.x"]
    one, other = repository(tmp_path / "one", *names), repository(tmp_path / "two", *reversed(names))
    assert drafting.draft(one) == drafting.draft(other)
