"""Who may set what: the table in SECURITY.md is made of the data that the code obeys, and each cell is tried."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

from council.next.config import keys, personas, places, settings, specialists
from council.next.config.keys import ENVIRONMENT, FLAG, KEYS, KIT, PROJECT, SOURCES, USER
from council.next.errors import UsageError
from council.next.schema import read_markdown
from tests.next.config.homes import put

GOLDEN = Path(__file__).parent / "trust-table.md"
TRUST = {key: (KIT, USER, *others) for key, (_, others) in KEYS.items()}
TITLES = ("the kit", "your file", "the environment", "the command line", "a project")
FILES = dict.fromkeys(("workflows", "templates", "personas", "specialists"), (KIT, USER, PROJECT))
OWN_KEYS = {"an API key": (ENVIRONMENT,)}  # a file holds the name of its variable, or a command that prints it
SAMPLES = {
    "home": "/srv/x",
    "speaker": "replay",
    "tiers": "{opus: openai/x}",
    "endpoints": "{openai: {key: X}}",
    "prices": "{x: {input: 1, output: 1}}",
    "deadline": "10",
    "stall": "10",
    "concurrency": "1",
    "retry": "{budget: 1}",
    "cache_from": "1",
    "ask_above": "2",
    "gates": "[synthesis]",
    "notify": "{bell: true}",
    "protocols": "{consensus: {target: 80}}",
    "limits": "{max_cost: 1}",
}
VARIABLES = {"home": "COUNCIL_HOME", "speaker": "COUNCIL_SPEAKER", "endpoints": "OPENAI_BASE_URL"}


def table() -> str:
    rows: list[tuple[str, ...]] = [("what", *TITLES), ("---",) * 6]
    for what, trusted in {**TRUST, **FILES, **OWN_KEYS}.items():
        name = f"`{what}`" if what in TRUST else what
        rows.append((name, *("yes" if source in trusted else "" for source in SOURCES)))
    return "".join(f"| {' | '.join(row)} |\n".replace("|  |", "| |").replace("|  |", "| |") for row in rows)


def test_the_table_is_that_of_the_code() -> None:
    assert GOLDEN.read_text("utf-8") == table(), "`python -m tests.next.config.test_trust` writes it again"


@pytest.mark.parametrize("source", [USER, PROJECT, FLAG])
@pytest.mark.parametrize("key", SAMPLES)
def test_a_key_is_obeyed_from_where_the_table_says_and_refused_from_elsewhere(
    key: str, source: str, home: Path, project: Path
) -> None:
    assert {*SAMPLES} == {*TRUST}
    config = f"{key}: {SAMPLES[key]}"
    before = settings.load()
    given: Mapping[str, Any] = {}
    if source == FLAG:
        given = read_markdown(f"---\n{config}\n---\n", "flags")[0].values
    else:
        put(home / ".config/council" if source == USER else project, Config=config)
    used = project if source == PROJECT else None
    if source in TRUST[key]:
        found = settings.load(used, given)
        assert found.values.get(key) != before.values.get(key)
        assert any(found.chosen_by(*place.split(settings.MARK)) for place in found.sources if place.startswith(key))
    else:
        with pytest.raises(UsageError, match="may set only"):
            settings.load(used, given)


@pytest.mark.parametrize("key", SAMPLES)
def test_the_environment_sets_what_the_table_says(key: str, monkeypatch: pytest.MonkeyPatch) -> None:
    before = settings.load()
    monkeypatch.setenv(VARIABLES.get(key, f"COUNCIL_{key.upper()}"), "http://localhost:1/x")
    assert (settings.load().values != before.values) == (ENVIRONMENT in TRUST[key])


def test_the_kit_sets_no_more_than_the_table_says() -> None:
    table, _ = read_markdown(places.read(places.KIT / "Config.md"), "Config.md")
    assert {*keys.read(table, KIT)} == {*table.values}
    assert all(KIT in TRUST[key] for key in table.values)


def test_files_come_from_kit_user_and_project(home: Path, project: Path) -> None:
    for folder in (project, home / ".config/council"):
        put(folder, AgentPersonalities="## mine\n", Specialists="## mine\n")
        put(folder / "Workflows", mine="x")
        (folder / "templates").mkdir()
        (folder / "templates" / "mine.md.j2").write_text("x")
        both = places.overlays(project if folder == project else None)
        assert places.find_workflow("mine", both).is_relative_to(folder)
        assert (places.find_template("mine.md.j2", both) or Path()).is_relative_to(folder)
        assert "mine" in personas.load(both)
        assert specialists.load(folders=both).path == folder / "Specialists.md"


def test_an_api_key_is_read_from_the_environment_alone(home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    put(home / ".config/council", Config="endpoints: {openai: {key: WORK_KEY}}")
    monkeypatch.setenv("OPENAI_API_KEY", "sk-1234")
    assert settings.load().with_key == ()  # the user named another variable
    monkeypatch.setenv("WORK_KEY", "sk-1234")
    assert settings.load().with_key == ("openai",)
    put(home / ".config/council", Config="endpoints: {openai: {key: sk-proj-1234}}")
    with pytest.raises(UsageError, match="never the key itself") as refused:
        settings.load()
    assert "1234" not in str(refused.value)


if __name__ == "__main__":
    GOLDEN.write_text(table(), "utf-8")
