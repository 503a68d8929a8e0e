"""Lists of specialists: which file counts, what a debate takes from it, the kit's lists, and drafts of one."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from council.config import drafting, personas, specialists
from council.config.personas import FIELDS
from council.errors import UsageError
from council.record import session
from council.runner import start
from council.runner.seating import find_workflow
from council.runner.start import Request
from tests.helpers import User

SHOP = """# Ours

## payments

- **Title:** Payments
- **Touches:** invoices, refunds
- **Paths:** billing/
- **Features:** checkout

You refuse a refund without a reason.

## security

- **Focus:** card data

You never store a card number.
"""


@pytest.fixture
def user(tmp_path: Path) -> User:
    return User(tmp_path)


# ---- the kit's lists ----


def test_the_default_list_is_what_the_workflow_names_itself():
    found, listed = find_workflow("consensus").workflow, specialists.load()
    plain = start.load(*start.overlays.workflow_text("consensus"))
    assert listed.path == specialists.kits()["conferencing"]
    assert {name: {seat.name for seat in seats} for name, seats in found.groups.items()} == {
        name: {seat.name for seat in seats} for name, seats in plain.groups.items()
    }


@pytest.mark.parametrize("kit", specialists.kits())
def test_each_specialist_of_a_kit_says_what_it_looks_at_and_refuses(kit):
    found = specialists.load(kit)
    known = found.personas(personas.load())
    assert len(found.sections) >= 5
    for name, section in found.sections.items():
        assert {"touches", "keywords", "features"} <= set(section), name
        assert known[name]["focus"]
        assert kit == specialists.DEFAULT or "You refuse" in section["perspective"], name


@pytest.mark.parametrize("kit", specialists.kits())
def test_a_debate_is_held_with_each_kit(kit):
    request = Request("Shall we?", "consensus", options={"specialists": kit})
    found = start.lay_table(request, start_settings()).workflow
    assert [seat.name for seat in found.members] == [*specialists.load(kit).sections]
    assert [seat.name for seat in found.table[-4:]] == ["observability", "operations", "test", "security"]


def start_settings():
    from council.config import settings as config

    return config.load()


# ---- whose list counts ----


def test_a_projects_list_is_frozen_with_the_session(user):
    user.write(".council/Specialists.md", SHOP)
    assert user.council("start", "-w", "consensus", "Shall we?").code == 0
    (user.work / ".council/Specialists.md").unlink()
    found = session.open_(user.session)
    (seat,) = found.workflow.members
    assert (seat.name, seat.attributes["perspective"]) == ("payments", "You refuse a refund without a reason.")
    assert seat.attributes["paths"] == "billing/"
    security = found.workflow.table[-1]
    assert (security.name, security.attributes["focus"]) == ("security", "card data")
    assert security.attributes["name"] == "Rook Blackburn", "what the section does not say is the persona's"
    (overlay,) = found.metadata["overlays"]
    assert (overlay["whose"], [*overlay["files"]]) == ("project", ["Specialists.md"])


def test_types_of_features_are_those_of_the_list(user):
    user.write(".council/Specialists.md", SHOP)
    assert user.council("start", "-w", "consensus", "--feature-type", "checkout", "Shall we?").code == 0
    assert session.open_(user.session).workflow.options["analysis"] is False
    refused = user.council("start", "-w", "consensus", "--feature-type", "api-endpoint", "Shall we?")
    assert 'consensus has no feature type "api-endpoint"; known: checkout' in refused.err
    in_ci = replace(user, env={"CI": "true"}).council("specialists")
    assert "conferencing.md" in in_ci.out
    assert "Not used: " in in_ci.out


@pytest.mark.parametrize(
    ("text", "why"),
    [
        ("# Nothing\n", "there are no specialists"),
        ("## Payments Team\n\nx\n", '"Payments Team" cannot be a name'),
        ("## human\n\nx\n", '"human" means the person in every workflow'),
        ("## payments\n\n- **Owns:** x\n", 'unknown field "owns"'),
        ("## clerk\n\nx\n", "clerk has another role in consensus; rename the section"),
        ("## security\n\nx\n", "it names only security, who sit in every consensus"),
        ("## a\n\n- **Features:** a\n", '"a" is a specialist and a type of feature'),
        ("## a\n\n- **Features:** domain\n", '"domain" cannot be a type of feature'),
    ],
)
def test_what_is_wrong_with_a_list_is_said(text, why):
    with pytest.raises(UsageError) as refused:
        specialists.seat(find_workflow("consensus").workflow, specialists.parse(text, Path("Specialists.md")))
    assert f"Specialists.md: {why}" in str(refused.value) or why in str(refused.value)


def test_a_list_that_does_not_exist_is_refused():
    with pytest.raises(UsageError, match='no list of specialists has the name "web"; did you mean "web-service"'):
        specialists.load("web")


# ---- commands ----


def test_a_kits_list_is_copied_once(user):
    copied = user.council("specialists", "use", "library")
    assert copied.out == "wrote .council/Specialists.md; edit it, then: council specialists\n"
    shown = user.council("specialists").out
    assert shown.startswith(".council/Specialists.md\n\n  public-api ")
    again = user.council("specialists", "use", "web-service")
    assert (again.code, "already exists and is never overwritten" in again.err) == (2, True)
    assert user.council("specialists").out == shown


# ---- drafts ----


def repository(place: Path, *names: str, owners: str = "") -> Path:
    for name in names:
        (place / name).parent.mkdir(parents=True, exist_ok=True)
        (place / name).write_text("")
    if owners:
        (place / "CODEOWNERS").write_text(owners)
    return place


def test_a_draft_names_the_parts_that_the_folders_show_and_the_teams(tmp_path):
    owners = "# ours\n/billing/ @acme/payments-team\n/billing/tax/ @acme/payments-team @ada\n/search/ @ada\n* @ada\n"
    names = ("app/migrations/0001.sql", "Dockerfile", "proto/a.proto", "node_modules/x/migrations/y", "web/App.tsx")
    text, unused = drafting.draft(repository(tmp_path, *names, owners=owners))
    found = specialists.parse(text, tmp_path)
    assert [*found.sections] == ["protocol", "frontend", "database", "platform", "payments", "search"]
    assert found.sections["database"]["paths"] == "app/migrations/"
    assert found.sections["payments"]["paths"] == "billing/"
    assert "ada" not in found.sections
    assert unused == 1


def test_a_link_in_the_place_of_codeowners_is_not_followed(tmp_path):
    (tmp_path / "secret").write_text("/x/ @a/team\n")
    (tmp_path / "repo").mkdir()
    (tmp_path / "repo" / "CODEOWNERS").symlink_to(tmp_path / "secret")
    with pytest.raises(UsageError, match="neither its folders nor a CODEOWNERS"):
        drafting.draft(tmp_path / "repo")


HOSTILE = st.text(st.sampled_from("/*#@ab-_.: \n\t`<>[]{}%\\\x1b\u202e’é"), max_size=200)


@settings(max_examples=60, deadline=None)
@given(st.lists(st.tuples(HOSTILE, HOSTILE), max_size=6))
def test_nothing_in_codeowners_becomes_more_than_a_name_or_a_path(tmp_path_factory, pairs):
    place = tmp_path_factory.mktemp("hostile")
    lines = "".join(f"{path} @org/{owner}\n## clerk\n- **Name:** Eve\n" for path, owner in pairs)
    repository(place, "Dockerfile", owners=lines + "/ok/ @org/fine\n")
    text, _ = drafting.draft(place)
    found = specialists.parse(text, place)
    assert found.sections["platform"]
    for name, section in found.sections.items():
        assert set(section) <= {*FIELDS, *specialists.FIELDS, "perspective"}
        assert "Eve" not in str(section), name
    assert text.isascii() or "🏗" in text
    assert not any(ord(char) < 32 and char != "\n" for char in text)
