"""Whatever stands in a file of settings, personas or specialists: it is read, or refused in a sentence."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import yaml
from hypothesis import HealthCheck, given
from hypothesis import settings as hypothesis
from hypothesis import strategies as st

from council.next.config import keys, personas, settings, specialists
from council.next.errors import UsageError

LEAVES = st.sampled_from([
    "anthropic", "openai/x", "ollama", "sonnet", "opus", "gold", "a/b/c", "/", "x/", "*", "~x", "", "1", "0.5", "-1",
    "nan", "1e400", "https://x", "http://[", "chat", "sdk", "own", "messages", "low", "2026-12-31", "2026-02-30",
    True, False,
])  # fmt: skip
ODD = LEAVES | st.text(max_size=3) | st.lists(LEAVES, max_size=2) | st.dictionaries(LEAVES.map(str), LEAVES, max_size=2)
NAMES = st.sampled_from(["sonnet", "opus", "gold", "anthropic", "openai", "ollama", "mine", "consensus", "*", "a > b"])
FIELDS = {
    "tiers": ("endpoint", "model", "max_tokens", "effort"),
    "endpoints": (
        "base_url",
        "address",
        "address_path",
        "key",
        "token",
        "key_command",
        "dialect",
        "client",
        "effort",
        "models",
    ),
    "prices": (*keys.AMOUNTS, *keys.LONG, "date", "until"),
    "retry": ("first_wait", "most_wait", "budget"),
    "notify": ("bell", "command", "webhook", "content"),
    "limits": tuple(keys.LIMITS),
}


def section(key: str) -> st.SearchStrategy[Any]:
    """Mostly values of the right form, so that what comes after their reading is tried too."""
    if key not in FIELDS:
        return ODD
    fields = st.dictionaries(st.sampled_from(FIELDS[key]), LEAVES | ODD, max_size=4)
    return ODD | (
        fields if key in ("retry", "notify", "limits") else st.dictionaries(NAMES, LEAVES | fields, max_size=3)
    )


files = st.lists(st.sampled_from([*keys.KEYS, "benches"]), max_size=2, unique=True).flatmap(
    lambda chosen: st.fixed_dictionaries({key: section(key) for key in chosen})
)
relaxed = hypothesis(suppress_health_check=[HealthCheck.function_scoped_fixture], deadline=None)


@relaxed
@given(told=files, flags=files)
def test_settings(home: Path, told: dict[str, Any], flags: dict[str, Any]) -> None:
    folder = home / ".config" / "council"
    folder.mkdir(parents=True, exist_ok=True)
    for given_flags in ({}, flags):
        (folder / "Config.md").write_text(f"---\n{yaml.safe_dump({} if given_flags else told)}---\n", "utf-8")
        try:
            found = settings.load(flags=given_flags)
            assert found.usual in found.endpoints
            assert found.set_up == () or found.usual in found.set_up
            for tier in found.tiers:
                model = found.model(tier)
                assert model.name
                assert found.named(model.full_name, tier) == model
                assert model.endpoint.name in found.configured or not found.chosen_by("tiers", tier, "model")
        except UsageError:
            continue


lines = st.sampled_from(
    ["## a", "## b", "## ", "- **Title:** x", "- **Features:** a, b", "-**:**", "text", "", "### c"]
)


@given(st.lists(lines | st.text(max_size=8), max_size=8).map("\n".join))
def test_personas_and_specialists(text: str) -> None:
    for parse in (lambda: personas.parse(text, "x.md"), lambda: specialists.parse(text, Path("x.md")).features()):
        try:
            assert all(isinstance(name, str) for name in parse())
        except UsageError:
            continue
