"""Settings: which value is in force, where it is from, and what is refused."""

from __future__ import annotations

import os
import re
from collections.abc import Callable
from dataclasses import fields
from pathlib import Path

import pytest

from council.next.config import keys, places, settings
from council.next.config.models import Endpoint
from council.next.errors import UsageError
from tests.next.config.homes import put

KIT = str(places.KIT / "Config.md")


def user(home: Path, config: str) -> str:
    return str(put(home / ".config" / "council", Config=config) / "Config.md")


def test_the_kit_alone_is_enough(home: Path) -> None:
    found = settings.load()
    assert found.home == home / ".claude" / "MEMORY"
    assert (found.speaker, found.deadline, found.stall, found.concurrency) == ("auto", 300, 180, 8)
    assert found.retry == settings.Retry(1, 60, 600)
    assert (found.cache_from, found.ask_above) == (2000, 1)
    assert found.tiers == ("sonnet", "haiku", "opus")
    assert (found.gates, found.notify, found.limits) == ((), {}, {})
    assert set(found.sources.values()) == {KIT}
    assert found.overlays == (home / ".config" / "council", places.KIT)


def test_the_user_before_the_kit_the_environment_before_both_the_command_line_before_all(
    home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = user(home, "home: /srv/mine\nspeaker: api\nstall: 5\nretry: {budget: 30}")
    found = settings.load()
    assert (found.home, found.speaker, found.stall) == (Path("/srv/mine"), "api", 5)
    assert found.retry == settings.Retry(1, 60, 30)
    assert found.chosen_by("retry", "budget") == path
    assert found.chosen_by("retry", "first_wait") == ""
    monkeypatch.setenv("COUNCIL_HOME", "~/debates")
    monkeypatch.setenv("COUNCIL_SPEAKER", "claude")
    found = settings.load()
    assert (found.home, found.chosen_by("home")) == (home / "debates", "COUNCIL_HOME")
    assert (found.speaker, found.chosen_by("speaker")) == ("claude", "COUNCIL_SPEAKER")
    found = settings.load(flags={"speaker": "replay", "deadline": 10.0})
    assert (found.speaker, found.chosen_by("speaker")) == ("replay", "--speaker")
    assert (found.deadline, found.chosen_by("deadline")) == (10, "--deadline")


def test_an_empty_variable_is_not_a_setting(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COUNCIL_HOME", " \n")
    monkeypatch.setenv("ANTHROPIC_BASE_URL", "")
    assert set(settings.load().sources.values()) == {KIT}


def test_two_users_of_one_machine_share_nothing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for name, stall in (("ada", "7"), ("ben", "9")):
        put(tmp_path / name / "council", Config=f"stall: {stall}")
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path / "ada"))
    ada = settings.load()
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path / "ben"))
    assert (ada.stall, settings.load().stall, ada.stall) == (7, 9, 7)


# ---- models ----


@pytest.mark.parametrize(
    ("variables", "endpoint", "model"),
    [
        ({}, "anthropic", "claude-sonnet-5-5"),
        ({"OPENAI_API_KEY": "k"}, "openai", "gpt-6.1-sol"),
        ({"OPENAI_API_KEY": "k", "ANTHROPIC_API_KEY": "k"}, "anthropic", "claude-sonnet-5-5"),
        ({"XAI_API_KEY": "k", "GEMINI_API_KEY": "k"}, "gemini", "gemini-3.8-flash"),
        ({"OPENROUTER_API_KEY": "k", "ANTHROPIC_API_KEY": " \n"}, "openrouter", "anthropic/claude-sonnet-5.5"),
        ({"OPENAI_BASE_URL": "http://proxy:1/v1"}, "openai", "gpt-6.1-sol"),
    ],
)
def test_the_first_endpoint_with_a_key_serves_the_tiers(
    variables: dict[str, str], endpoint: str, model: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name, value in variables.items():
        monkeypatch.setenv(name, value)
    found = settings.load()
    assert (found.model("sonnet").endpoint.name, found.model("sonnet").name) == (endpoint, model)
    assert found.configured == ({endpoint} if "OPENAI_BASE_URL" in variables else set())
    assert (endpoint in found.with_key) == bool(variables)


def test_what_is_configured_is_never_replaced_by_a_key_that_is_there(
    home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", "k")
    for config, endpoint in (
        ("endpoints: {anthropic: {key: WORK_KEY}}", "anthropic"),
        ("endpoints: {anthropic: {base_url: 'https://proxy.example'}}", "anthropic"),
        ("tiers: {sonnet: {endpoint: ollama, model: llama3.3}}", "ollama"),
        ("tiers: openrouter/openai/gpt-6.1-sol", "openrouter"),
        ("tiers: claude-opus-5-5", "anthropic"),
        ("endpoints: {mine: {base_url: 'http://localhost:9', models: {sonnet: big}}}", "mine"),
    ):
        user(home, config)
        found = settings.load()
        assert found.model("sonnet").endpoint.name == endpoint, config
        assert endpoint in found.configured, config


def test_of_several_that_are_configured_the_first_with_a_key_is_usual(
    home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    user(home, "endpoints: {anthropic: {key: WORK_KEY}, openai: {key: OTHER_KEY}}")
    assert settings.load().usual == "anthropic"
    monkeypatch.setenv("OTHER_KEY", "k")
    monkeypatch.setenv("GROQ_API_KEY", "k")
    assert settings.load().usual == "openai"


def test_a_model_is_named_in_one_word(home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    found = settings.load()
    names = {
        "opus": "anthropic/claude-opus-5-5",
        "claude-3-opus": "anthropic/claude-3-opus",
        "gpt-6.1-sol": "openai/gpt-6.1-sol",
        "openai/gpt-9": "openai/gpt-9",
        "openai/haiku": "openai/gpt-6-luna",
        "openai/": "openai/gpt-6.1-sol",
        "openai": "openai/gpt-6.1-sol",
        "openrouter/meta-llama/llama-4": "openrouter/meta-llama/llama-4",
        "ollama/llama3.3:70b": "ollama/llama3.3:70b",
    }
    assert {word: found.named(word).full_name for word in names} == names
    monkeypatch.setenv("MISTRAL_API_KEY", "k")
    assert settings.load().named("ministral-3b").full_name == "mistral/ministral-3b"
    user(home, "tiers: {opus: xai/grok-9, gold: {model: openai/gpt-9, max_tokens: 64000}}")
    found = settings.load()
    assert found.named("opus").full_name == found.model("opus").full_name == "xai/grok-9"
    assert (found.model("gold").full_name, found.model("gold").max_tokens) == ("openai/gpt-9", 64000)
    assert found.model("gold").tier == "gold"
    assert found.named("gold").full_name == "openai/gpt-9"


def test_one_option_gives_every_tier_another_model(home: Path) -> None:
    user(home, "tiers: {gold: {model: ollama/llama3.3, max_tokens: 500}}")
    found = settings.load(flags={"tiers": "openai/gpt-9"})
    assert {found.model(tier).full_name for tier in found.tiers} == {"openai/gpt-9"}
    assert found.model("gold").max_tokens == 500
    assert found.chosen_by("tiers", "opus", "model") == "--model"
    found = settings.load(flags={"tiers": {"haiku": "opus"}})
    assert (found.model("haiku").name, found.model("sonnet").name) == ("claude-opus-5-5", "claude-sonnet-5-5")
    assert settings.load(flags={"tiers": "opus"}).model("opus").name == "claude-opus-5-5"


def test_a_model_without_a_name_is_asked_for_only_where_it_is_used(home: Path) -> None:
    user(home, "tiers: {opus: {endpoint: ollama}}")
    found = settings.load()
    assert found.model("sonnet").name == "claude-sonnet-5-5"
    assert found.configured == {"ollama"}
    with pytest.raises(UsageError, match=r"--model ollama/NAME.*Config\.md"):
        found.model("opus")
    user(home, "endpoints: {mine: {base_url: 'http://localhost:9'}}")
    for word in ("opus", "mine", "mine/opus"):  # the word of a tier is no model's name
        with pytest.raises(UsageError, match="the endpoint mine has no model for the tier"):
            settings.load().named(word)
    user(home, "tiers: {opus: {endpoint: ollama}}")
    for flags in ({"tiers": "ollama"}, {"tiers": "lm-studio/"}):
        found = settings.load(flags=flags)
        assert found.configured <= {"ollama", "lm-studio"}
        with pytest.raises(UsageError, match="has no model for the tier"):
            found.model("sonnet")


def test_unknown_tiers_and_endpoints_are_refused(home: Path) -> None:
    found = settings.load()
    with pytest.raises(UsageError, match='no tier "sonet"; did you mean "sonnet"'):
        found.model("sonet")
    with pytest.raises(UsageError, match=r'no endpoint "opena" in Config.md; did you mean "openai"'):
        found.named("opena/gpt-9")
    with pytest.raises(UsageError, match="openrouter/meta-llama/MODEL"):
        found.named("meta-llama/llama-4")


def test_effort_is_sent_to_endpoints_that_know_it_or_if_the_user_says_so(home: Path) -> None:
    assert settings.load().model("opus").effort == "low"
    assert settings.load().named("openai/gpt-9", "opus").effort == "none"
    user(home, "tiers: {opus: {effort: high}}")
    assert settings.load().named("openai/gpt-9", "opus").effort == "high"
    assert settings.load().model("sonnet").effort == "low"


def test_the_sdk_is_for_the_kits_own_address(home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    assert settings.load().endpoints["anthropic"].client == "sdk"
    assert {one.client for one in settings.load().endpoints.values() if one.name != "anthropic"} == {"own"}
    monkeypatch.setenv("ANTHROPIC_BASE_URL", "http://localhost:8080/")
    found = settings.load()
    assert (found.endpoints["anthropic"].client, found.endpoints["anthropic"].base_url) == (
        "own",
        "http://localhost:8080",
    )
    assert found.chosen_by("endpoints", "anthropic", "base_url") == "ANTHROPIC_BASE_URL"
    user(home, "endpoints: {anthropic: {client: sdk}}")
    assert settings.load().endpoints["anthropic"].client == "sdk"
    monkeypatch.delenv("ANTHROPIC_BASE_URL")
    user(home, "endpoints: {anthropic: {client: own}}")
    assert settings.load().endpoints["anthropic"].client == "own"


def test_an_endpoint_of_the_users_own(home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    user(
        home,
        "endpoints:\n  mine: {base_url: 'https://llm.example/v1', address: MINE_URL, key_command: [pass, show, llm], "
        "dialect: chat, models: {sonnet: big}}\nprices: {mine/big: {input: 1, output: 2}}",
    )
    found = settings.load()
    mine = found.endpoints["mine"]
    assert (mine.key, mine.key_command, mine.dialect, mine.client) == ("", ("pass", "show", "llm"), "chat", "own")
    assert found.usual == "mine"
    price = found.model("sonnet").price
    assert price is not None
    assert price.usd(1_000_000, 0) == 1
    monkeypatch.setenv("MINE_URL", "http://127.0.0.1:1")
    assert settings.load().endpoints["mine"].base_url == "http://127.0.0.1:1"


def test_a_price_of_the_users_replaces_the_kits_as_a_whole(home: Path) -> None:
    user(home, "prices: {anthropic/claude-haiku-5-5: {input: 9, output: 9}, claude-9: {input: 1, output: 1}}")
    found = settings.load()
    price = found.model("haiku").price
    assert price is not None
    assert (price.input, price.cache_read, price.long_input) == (9, None, None)
    other = found.named("openrouter/claude-9").price
    assert other is not None
    assert other.input == 1
    assert found.named("openai/claude-nine").price is None


def test_no_key_is_ever_part_of_the_settings(home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ANTHROPIC_API_KEY", "sk-secret-1")
    found = settings.load()
    shown = f"{found} {found.values} {found.sources} {found.model('opus')}"
    assert "sk-secret-1" not in shown
    assert found.model("opus").endpoint.key == "ANTHROPIC_API_KEY"


@pytest.mark.parametrize("make", [Path.mkdir, lambda path: path.symlink_to("nowhere"), os.mkfifo])
def test_a_file_of_the_users_that_cannot_be_read_is_an_error(home: Path, make: Callable[[Path], None]) -> None:
    folder = put(home / ".config" / "council")
    make(folder / "Config.md")
    with pytest.raises(UsageError, match=r"Config\.md: it "):
        settings.load()


@pytest.mark.parametrize("text", ["", "speaker: api\n", "# Settings\n\n---\nspeaker: api\n---\n", "\xff"])
def test_a_file_without_settings_is_no_configuration(text: str, home: Path, project: Path) -> None:
    """Its author believes that it is in force."""
    for folder in (home / ".config/council", project):
        put(folder)
        (folder / "Config.md").write_text(text, "utf-8")
        with pytest.raises(UsageError, match=r"Config\.md: write the settings between two lines of three hyphens"):
            settings.load(project)
        (folder / "Config.md").write_text("\ufeff---\r\n---\r\nNothing is set.\n", "utf-8")
        assert settings.load(project).speaker == "auto"


def test_the_users_own_files_are_trusted_and_may_be_links(home: Path) -> None:
    path = Path(user(home, "stall: 5"))
    path.rename(home / "dotfiles.md").chmod(0o666)
    path.symlink_to(home / "dotfiles.md")
    assert settings.load().stall == 5


# ---- limits ----


def test_the_lowest_limit_counts_whoever_sets_it(home: Path, project: Path) -> None:
    path = user(home, "limits: {max_cost: 5, max_calls: 10, deadline: 120}")
    put(project, Config="limits: {max_cost: 2, max_calls: 99}")
    found = settings.load(project, {"limits": {"max_cost": "3", "max_calls": "7"}})
    assert dict(found.limits) == {"max_cost": 2, "max_calls": 7, "deadline": 120}
    assert found.chosen_by("limits", "max_cost") == str(project / "Config.md")
    assert found.chosen_by("limits", "max_calls") == "--max-calls"
    assert found.chosen_by("limits", "deadline") == path
    assert found.deadline == 120
    assert settings.load(flags={"deadline": "400"}).deadline == 120
    assert settings.load(flags={"deadline": "20"}).deadline == 20


# ---- what is refused ----


@pytest.mark.parametrize(
    ("config", "sentence"),
    [
        ("stal: 5", 'unknown key "stal"; did you mean "stall"?'),
        ("retry: {budgt: 5}", 'retry: unknown key "budgt"; did you mean "budget"?'),
        ("tiers: {sonnet: {modle: x}}", 'tiers: sonnet: unknown key "modle"; did you mean "model"?'),
        ("endpoints: {openai: {keys: X}}", 'endpoints: openai: unknown key "keys"; did you mean "key"?'),
        ("endpoints: {openai: {dialect: talk}}", "dialect: 'talk' must be messages or chat"),
        ("endpoints: {openai: {client: sdk}}", "the client sdk speaks only the dialect messages"),
        ("endpoints: {openai: {base_url: 'ftp://x'}}", "base_url must be an address"),
        ("endpoints: {openai: {base_url: 'https://a b'}}", "must be an address"),
        ("endpoints: {openai: {base_url: 'https://x:99999'}}", "must be an address"),
        ("endpoints: {openai: {key: [a]}}", "key must be the name of an environment variable"),
        ("endpoints: {mine: {key: X}}", "endpoints: mine: it needs a base_url"),
        ("endpoints: {openai: {key_command: 'pass show'}}", None),
        ("endpoints: {openai: {key_command: [pass, {a: b}]}}", "must be a list of words"),
        ("prices: {x: {input: 1}}", 'prices: x: "output" is missing'),
        ("prices: {x: {input: 1, output: 1, until: soon}}", "until: 'soon' must be a day, as in 2026-12-31"),
        ("prices: {x: {input: -1, output: 1}}", "input: '-1' must be a number of at least 0"),
        ("deadline: 0", "deadline: '0' must be a number of at least 0.001"),
        ("stall: nan", "stall: 'nan' must be a number"),
        ("stall: inf", "stall: 'inf' must be a number"),
        ("stall: true", "stall: True must be a number"),
        ("concurrency: 0", "must be a whole number of at least 1"),
        ("concurrency: 2.5", "must be a whole number"),
        ("limits: {max_calls: 1.5}", "must be a whole number"),
        ("limits: {max_money: 1}", 'limits: unknown key "max_money"'),
        ("limits: 5", "limits: must be keys with values"),
        ("notify: {bell: loud}", "bell: 'loud' must be true or false"),
        ("notify: {command: [say, [x]]}", "must be a list of words"),
        ("notify: {webhook: 'http://example.org/hook'}", "http is only for this machine"),
        ("home: [a]", "home: ['a'] must be text"),
        ("gates: {a: b}", "must be names of phases"),
        ("gates: Nowhere at all", "must be names of phases"),
        ("stall: 5\nstall: 6", 'the key "stall" is repeated'),
        ("home: &a /x\nspeaker: *a", "anchors and aliases are not allowed"),
        ("home: !!python/object x", "tags are not allowed"),
        ("benches: {pytest: {kind: pytest}}", '"benches" is a setting of the room sandbox, which is not installed'),
        ("- a", "must be keys with values"),
    ],
)
def test_a_wrong_file_is_refused_with_its_name_and_a_hint(home: Path, config: str, sentence: str | None) -> None:
    path = user(home, config)
    if sentence is None:
        settings.load()
        return
    with pytest.raises(UsageError) as refused:
        settings.load()
    assert str(refused.value).startswith(path)
    assert sentence in str(refused.value)


def test_an_address_that_may_hold_a_secret_is_not_repeated(home: Path) -> None:
    for config in ("notify: {webhook: 'hooks.example/T0P-SECRET'}", "endpoints: {openai: {base_url: 'x/T0P-SECRET'}}"):
        user(home, config)
        with pytest.raises(UsageError) as refused:
            settings.load()
        assert "T0P-SECRET" not in str(refused.value)


def test_an_address_in_the_environment_is_checked_too(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OPENAI_BASE_URL", "localhost:8080")
    with pytest.raises(UsageError, match=r"^OPENAI_BASE_URL must be an address"):
        settings.load()


@pytest.mark.parametrize(
    ("variable", "value", "url"),
    [
        ("ANTHROPIC_BASE_URL", "https://gateway.example/anthropic/", "https://gateway.example/anthropic"),
        ("OPENAI_BASE_URL", "https://gateway.example/v1/", "https://gateway.example/v1"),
        ("GOOGLE_GEMINI_BASE_URL", "https://gateway.example/g", "https://gateway.example/g/v1beta/openai"),
        ("GROQ_BASE_URL", "https://gateway.example/", "https://gateway.example/openai/v1"),
        ("GROQ_BASE_URL", "https://gateway.example/openai/v1", "https://gateway.example/openai/v1"),
        ("OLLAMA_HOST", "https://gpu.example", "https://gpu.example/v1"),
        ("OLLAMA_HOST", "http://gpu:9/v1", "http://gpu:9/v1"),
        ("OLLAMA_HOST", "gpu", "http://gpu:11434/v1"),
        ("OLLAMA_HOST", "0.0.0.0:9", "http://0.0.0.0:9/v1"),
        ("OLLAMA_HOST", ":9", "http://localhost:9/v1"),
        ("OLLAMA_HOST", "::", "http://[::]:11434/v1"),
        ("OLLAMA_HOST", "[::1]:9", "http://[::1]:9/v1"),
    ],
)
def test_the_variable_of_the_vendors_own_client_moves_the_address(
    variable: str, value: str, url: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """What such a client adds to the variable's value, we add too."""
    monkeypatch.setenv(variable, value)
    found = settings.load()
    (moved,) = (one for one in found.endpoints.values() if one.address == variable)
    assert moved.base_url == url
    assert found.chosen_by("endpoints", moved.name, "base_url") == variable
    assert (moved.name in found.with_key) == bool(moved.key), "the address of a local server alone does not choose it"


@pytest.mark.parametrize("client", ["profile", "bedrock", "vertex", "foundry"])
def test_a_login_of_a_cloud_needs_no_address(client: str, home: Path) -> None:
    user(home, f"endpoints: {{cloud: {{client: {client}, models: {{sonnet: m}}}}}}")
    cloud = settings.load().endpoints["cloud"]
    assert (cloud.client, cloud.base_url, cloud.dialect) == (client, "", "messages")
    user(home, f"endpoints: {{cloud: {{client: {client}, dialect: chat}}}}")
    with pytest.raises(UsageError, match=f"the client {client} speaks only the dialect messages"):
        settings.load()


def test_wrong_options_name_the_command_line(home: Path) -> None:
    with pytest.raises(UsageError, match=r"^the command line: deadline: 'soon' must be a number"):
        settings.load(flags={"deadline": "soon"})


def test_a_home_that_cannot_be_found_is_said(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COUNCIL_HOME", "~nobody-of-that-name/x")
    with pytest.raises(UsageError, match="set the variable HOME"):
        settings.load()


def test_notifications_are_read(home: Path) -> None:
    user(home, "notify: {bell: true, command: [say, hello there], webhook: 'http://localhost:1/x', content: true}")
    assert settings.load().notify == {
        "bell": True, "command": ("say", "hello there"), "webhook": "http://localhost:1/x", "content": True,
    }  # fmt: skip


def test_settings_of_a_room_come_from_kit_and_user(home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("council.next.rooms.names", lambda kind: {"benches": "sandbox"} if kind == "setting" else {})
    user(home, "benches: {mine: {kind: command, argv: [make, test]}}")
    found = settings.load()
    assert found.room("benches").values == {"mine": {"kind": "command", "argv": ["make", "test"]}}
    assert found.chosen_by("benches", "mine") == str(home / ".config/council/Config.md")
    assert found.room("engines").values == {}


NAMES = [one.name for one in fields(Endpoint) if one.name != "name"] + ["date", "until", "max_tokens"]


def test_every_key_is_explained_and_in_its_order() -> None:
    text = (places.KIT / "Config.md").read_text("utf-8")
    explained = re.findall(r"^- \*\*(\w+)\*\*|\*\*(stall|limits)\*\*:", text, re.M)
    assert {one or other for one, other in explained} == {*keys.KEYS}
    for name in (*keys.LIMITS, *NAMES):
        assert f"`{name}" in text or f"**{name}" in text, name


def test_every_example_in_the_file_is_a_whole_configuration(home: Path) -> None:
    block = (places.KIT / "Config.md").read_text("utf-8").split("```yaml\n")[1].split("```")[0]
    examples = block.strip().splitlines()
    assert len(examples) >= 4
    for line in examples:
        user(home, line)
        found = settings.load()
        assert found.configured
        assert all(found.model(tier).name for tier in found.tiers)
