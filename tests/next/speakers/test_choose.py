"""Who speaks: what the user named, else what is configured, else what is here; and a line that says so."""

from __future__ import annotations

import asyncio
import shutil
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import replace
from http.server import BaseHTTPRequestHandler, HTTPServer
from pathlib import Path
from threading import Thread
from typing import Any

import pytest

import council.next
from council.next.config.models import Endpoint, Price
from council.next.config.settings import Settings, load
from council.next.engine.planner import Due
from council.next.errors import AuthError, UsageError
from council.next.speakers.api import Api
from council.next.speakers.assistant import Assistant
from council.next.speakers.base import Speaker, Spoken, is_same_model, sources, speaker, speakers
from council.next.speakers.choose import Mix, choose, read_seats
from council.next.speakers.programs import Claude
from council.next.speakers.replay import Replay
from council.next.workflow.model import HUMAN, Seat
from tests.next.speakers.apis import due

PRICE = Price(2, 10)
MODELS = {"sonnet": "one", "haiku": "two"}
ENDPOINTS = {
    "anthropic": Endpoint("anthropic", "https://a.example", key="A_KEY", models=MODELS),
    "openai": Endpoint("openai", "https://o.example/v1", "chat", key="O_KEY", models=MODELS),
    "mistral": Endpoint("mistral", "https://m.example/v1", "chat", key="M_KEY"),
}


@pytest.fixture(autouse=True)
def environment(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """Nothing is here: no key, no program."""
    for name in ("A_KEY", "O_KEY", "M_KEY", "COUNCIL_CLAUDE", "COUNCIL_CODEX"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("PATH", str(tmp_path))


def here(**more: Any) -> Settings:
    """The kit's settings, but for who may be called."""
    tiers: dict[str, Any] = {"sonnet": {}, "haiku": {}}
    prices = {"one": PRICE, "two": Price(1, 5)}
    kit = load()
    return replace(kit, **{"values": {**kit.values, "tiers": tiers}, "endpoints": ENDPOINTS, "prices": prices, **more})


class Said(list[str]):
    def __call__(self, line: str) -> None:
        self.append(line)


def program(folder: Path, name: str, is_in: bool = True) -> None:
    file = folder / name
    out = '{"loggedIn": true}' if is_in else "{}"
    file.write_text(f"#!/bin/sh\necho '{out}'\nexit {int(not is_in)}\n")
    file.chmod(0o755)


# ---- named ----


@pytest.mark.parametrize(
    ("name", "kind"), [("api", Api), ("anthropic", Api), ("claude", Claude), ("assistant", Assistant)]
)
def test_what_the_user_names_speaks(
    name: str, kind: type[Speaker], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("A_KEY", "k")
    program(tmp_path, "claude")
    said = Said()
    assert type(choose(here(), name, say=said)) is kind
    assert len(said) == 1
    assert type(choose(here(speaker=name), say=said)) is kind


def test_a_name_that_nobody_has() -> None:
    with pytest.raises(UsageError, match='there is no speaker "claud"; did you mean "claude"'):
        choose(here(), "claud")


def test_a_named_speaker_that_cannot_speak_says_why(tmp_path: Path) -> None:
    says = "api cannot speak: sonnet and haiku cannot be asked: A_KEY is not set, which the endpoint anthropic needs"
    with pytest.raises(AuthError, match=says):
        choose(here(), "api")
    with pytest.raises(AuthError, match="claude cannot speak: the `claude` program is not installed"):
        choose(here(), "claude")
    program(tmp_path, "claude", is_in=False)
    with pytest.raises(AuthError, match="claude cannot speak: claude is not logged in: run `claude`"):
        choose(here(), "claude")


def test_a_source_is_for_a_replay(tmp_path: Path) -> None:
    script = tmp_path / "turns.yaml"
    script.write_text("01-positions/ada: Yes.")
    said = Said()
    assert type(choose(here(), source=str(script), say=said)) is Replay
    assert said == ["replay speaks (named; free)"]
    with pytest.raises(UsageError, match="--from is for a replay"):
        choose(here(), "auto", str(script))
    with pytest.raises(UsageError, match="--from is for a replay, and assistant is none"):
        choose(here(), "assistant", str(script))


# ---- auto ----


def test_a_key_comes_first_and_one_line_names_the_price_and_the_others(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in ("A_KEY", "O_KEY", "M_KEY"):
        monkeypatch.setenv(name, "k")
    for name in ("claude", "codex"):
        program(tmp_path, name)
    said = Said()
    chosen = choose(here(), say=said)
    assert type(chosen) is Api
    assert chosen.settings.model("sonnet").endpoint.name == "anthropic"
    assert said == [
        "api speaks (A_KEY is set; one $2/$10, two $1/$5 per million tokens); also here: "
        "--model openai/ (O_KEY is set), "
        "--model mistral/NAME (M_KEY is set), --speaker claude (the `claude` program is installed) and "
        "--speaker codex (the `codex` program is installed)"
    ]


def test_an_endpoint_whose_bearer_token_is_set_speaks(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ANTHROPIC_AUTH_TOKEN", "k")
    for one in load().endpoints.values():
        monkeypatch.delenv(one.key or "NO_KEY", raising=False)
    assert load().with_key == ("anthropic",)


def test_the_first_endpoint_whose_key_is_set_speaks(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("O_KEY", "k")
    chosen = choose(here(), say=Said())
    assert chosen.settings.model("haiku").full_name == "openai/two"


def test_then_a_program_that_is_logged_in_and_never_codex_by_itself(tmp_path: Path) -> None:
    program(tmp_path, "codex")
    with pytest.raises(AuthError, match=r"nobody can speak here.*Not chosen by itself: --speaker codex"):
        choose(here(), say=Said())
    program(tmp_path, "claude", is_in=False)
    with pytest.raises(AuthError, match="claude is not logged in"):
        choose(here(), say=Said())
    program(tmp_path, "claude")
    said = Said()
    assert type(choose(here(), say=said)) is Claude
    assert "on your subscription" in said[0]
    assert "--speaker codex" in said[0]


def test_nothing_weaker_takes_the_place_of_what_is_configured(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    program(tmp_path, "claude")
    monkeypatch.setenv("O_KEY", "k")
    model = {"model": "anthropic/one"}
    settings = here(values={**here().values, "tiers": {"sonnet": model, "haiku": model}})
    with pytest.raises(AuthError, match="A_KEY is not set, which the endpoint anthropic needs: set it, or name"):
        choose(settings, say=Said())
    monkeypatch.setenv("A_KEY", "k")
    said = Said()
    assert choose(settings, say=said).settings.model("haiku").name == "one"
    assert said[0].startswith("api speaks (configured: anthropic; one $2/$10 per million tokens); also here:")


class Models(BaseHTTPRequestHandler):
    def do_GET(self) -> None:
        body = b'{"data": [{"id": "llama"}, {"id": "qwen"}]}'
        self.send_response(200)
        self.send_header("content-length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, format: str, *args: Any) -> None:  # noqa: A002
        pass


@pytest.fixture
def ollama() -> Iterator[Endpoint]:
    """A server of models on this machine."""
    server = HTTPServer(("127.0.0.1", 0), Models)
    thread = Thread(target=server.serve_forever)
    thread.start()
    yield Endpoint("ollama", f"http://127.0.0.1:{server.server_port}", "chat")
    server.shutdown()
    thread.join()
    server.server_close()


def test_a_server_on_this_machine_is_asked_for_at_a_terminal_only(ollama: Endpoint) -> None:
    """Anybody on the machine may listen on that port."""
    settings = here(endpoints={**ENDPOINTS, "ollama": ollama})
    with pytest.raises(AuthError, match="nobody can speak here"):
        choose(settings, say=Said())
    asked, said = list[str](), Said()

    def agree(question: str) -> bool:
        asked.append(question)
        return True

    chosen = choose(settings, ask=agree, say=said)
    assert asked == [f"Ask llama on this machine (ollama at {ollama.base_url[7:]})?"]
    assert chosen.settings.model("sonnet").full_name == "ollama/llama"
    assert "; free)" in said[0]
    with pytest.raises(AuthError, match="nobody can speak here"):
        choose(settings, ask=lambda _: False, say=Said())


def test_a_server_is_never_asked_where_something_else_can_speak(
    ollama: Endpoint, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("A_KEY", "k")
    settings = here(endpoints={**ENDPOINTS, "ollama": ollama})

    def refuse(question: str) -> bool:
        raise AssertionError(question)

    assert type(choose(settings, ask=refuse, say=Said())) is Api


# ---- seats ----


def at(name: str) -> Due:
    return replace(due(), seat=Seat(name))


class Toy(Speaker):
    name = "toy"
    machine = True

    async def speak(self, brief: Any, began: Any) -> Spoken:
        return Spoken("beep")


@pytest.fixture
def toy() -> Iterator[type[Speaker]]:
    speakers.types()
    yield speaker(Toy)
    del speakers["toy"]


def test_seats_may_have_speakers_of_their_own(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("O_KEY", "k")
    monkeypatch.setenv("A_KEY", "k")
    program(tmp_path, "claude")
    settings = here()
    seats = read_seats(settings, {"ada": "openai/gpt", "bo": "claude", "cy": "claude/anthropic/one"})
    usual = Api(settings)
    mix = Mix(settings, usual, seats)
    ada, bo, cy = (seats[name] for name in ("ada", "bo", "cy"))
    assert (type(ada), type(bo), type(cy)) == (Api, Claude, Claude)
    assert ada.settings.model("sonnet").full_name == "openai/gpt"
    assert cy.settings.model("sonnet").full_name == "anthropic/one"
    named = Toy(settings)
    assert [mix.voice(at(name), named) for name in seats] == [ada, bo, cy], "the user's word goes before the workflow's"
    assert (mix.voice(at("dee"), named), mix.voice(at("dee"))) == (named, usual)
    assert mix.obstacle() == ""
    monkeypatch.delenv("O_KEY")
    assert "O_KEY is not set" in mix.obstacle()
    asyncio.run(mix.close())


def test_by_hand_only_the_seats_that_the_user_names_are_called(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("O_KEY", "k")
    settings = here()
    mix = Mix(settings, Assistant(settings), read_seats(settings, {"ada": "openai/gpt"}))
    assert type(mix.voice(at("ada"))) is Api
    assert mix.voice(at("bo")) is mix.voice(at("bo"), Toy(settings)) is None


def test_a_machine_speaks_for_no_whole_debate(toy: Any) -> None:
    with pytest.raises(UsageError, match="toy speaks only for seats that a workflow gives it"):
        choose(here(), "toy")


@pytest.mark.parametrize(
    ("given", "kind", "says"),
    [
        ({"ada": "openai/gpt"}, AuthError, "--seat ada=openai/gpt: .* O_KEY is not set"),
        ({"ada": "nobody/gpt"}, UsageError, "nobody"),
        ({HUMAN: "openai/gpt"}, UsageError, "only a person speaks there"),
    ],
)
def test_a_seat_that_cannot_speak_is_refused(given: dict[str, str], kind: type[Exception], says: str) -> None:
    with pytest.raises(kind, match=says):
        read_seats(here(), given)


# ---- models, sources, removal ----


@pytest.mark.parametrize(
    ("asked", "answered", "same"),
    [
        ("claude-sonnet-5-5", "claude-sonnet-5-5", True),
        ("claude-sonnet-5-5", "claude-sonnet-5-5-20260901", True),
        ("us.anthropic.claude-opus-5-5-20260901-v1:0", "claude-opus-5-5-20260901", True),
        ("anthropic/claude-opus-5-5", "claude-opus-5-5@20260901", True),
        ("gpt-5", "gpt-5-2025-08-07", True),
        ("mistral-large-latest", "mistral-large-2512", True),
        ("gpt-4", "gpt-4-0613", True),
        ("GPT-5", "gpt-5", True),
        ("gpt-5", "gpt-5-mini", False),
        ("gpt-5", "gpt-5-mini-2025-08-07", False),
        ("gpt-5", "gpt-5-vision", False),
        ("gpt-4", "gpt-4.1-2025-04-14", False),
        ("grok-4", "grok-4.20-0309", False),
        ("claude-sonnet-5", "claude-sonnet-5-5", False),
        ("claude-sonnet-5", "claude-sonnet-5-5-20260901", False),
        ("claude-sonnet-5-5", "claude-haiku-5-5", False),
        ("a", "b", False),
    ],
)
def test_another_model_is_told_from_a_dated_name(asked: str, answered: str, same: bool) -> None:
    assert is_same_model(asked, answered) is same
    assert Spoken("", asked, answered).is_swapped is not same


def test_a_source_that_nobody_has_is_named() -> None:
    with pytest.raises(UsageError, match='there is no source "fil"'):
        sources["fil"]


MODULES = {"api": "api", "programs": "claude", "person": "human", "assistant": "assistant", "replay": "replay"}


@pytest.mark.parametrize("removed", MODULES)
def test_each_speaker_can_be_removed_and_the_others_still_speak(removed: str, tmp_path: Path) -> None:
    """The copy without it imports, lists the others, and replays a script."""
    package = tmp_path / "council"
    package.mkdir()
    (package / "__init__.py").touch()
    shutil.copytree(Path(council.next.__file__).parent, package / "next", symlinks=True)
    place = package / "next" / "speakers" / removed
    shutil.rmtree(place) if place.is_dir() else place.with_suffix(".py").unlink()
    (tmp_path / "turns.yaml").write_text("01-positions/ada: Yes.")
    code = f"""if True:
        from council.next.errors import UsageError
        from council.next.speakers.base import speakers
        from council.next.speakers.choose import choose, Mix
        names = {{one.name for one in speakers.types()}}
        assert {MODULES[removed]!r} not in names and len(names) >= 4, names
        class Settings:
            speaker, endpoints, tiers, configured, with_key, usual, stall, deadline = "auto", {{}}, (), (), (), "", 1, 1
        try:
            print(choose(Settings(), source="turns.yaml").name)
        except UsageError as wrong:
            print(wrong)
        try:
            choose(Settings())
        except Exception as error:
            print(type(error).__name__, error)
    """
    done = subprocess.run([sys.executable, "-c", code], cwd=tmp_path, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    lines = done.stdout.splitlines()
    assert lines[-1].startswith("AuthError nobody can speak here"), lines
    expected = 'there is no speaker "replay"' if removed == "replay" else "replay"
    assert lines[-2].startswith(expected), lines
