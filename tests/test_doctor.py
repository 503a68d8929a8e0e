"""`council doctor`: what is there, what need not be, and what has to be put right."""

from __future__ import annotations

import socket
from pathlib import Path

import pytest

from council.speakers.local import download
from tests.helpers import User


@pytest.fixture
def user(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> User:
    monkeypatch.setattr(download, "obstacle", lambda: "")
    room(monkeypatch, 5_000_000_000)
    (tmp_path / ".local").mkdir()
    return User(tmp_path)


def room(monkeypatch: pytest.MonkeyPatch, free: int) -> None:
    """However much the machine has that the tests run on."""
    source = download.Source(download.source().lock, free=lambda _: free)
    monkeypatch.setattr(download, "source", lambda: source)


def line(user: User, what: str, **env: str) -> str:
    """The line of one check, without the check's name."""
    lines = user.council("doctor", **env).out.splitlines()
    (found,) = (line for line in lines if line[6:].startswith(f"{what}: "))
    return found[:6] + found[6:].removeprefix(f"{what}: ")


def fetched(user: User) -> download.ModelFolder:
    here = download.place({"HOME": str(user.root)})
    (here.library / download.LIBRARY).mkdir(parents=True)
    with here.gguf.open("wb") as file:
        file.write(b"GGUF")
        file.truncate(1_117_320_768)  # a hole takes no room
    return here


def test_the_model_is_there(user: User) -> None:
    here = fetched(user)
    path = f"~/{here.gguf.relative_to(user.root)}"
    assert line(user, "embedded model") == f"ok    {download.NAME}, 1.1 GB, at {path}"


def test_the_model_could_be_fetched(user: User) -> None:
    assert line(user, "embedded model") == (
        "-     not fetched; that takes 1.4 GB for a while, and ~/.local has 5.0 GB free; "
        "`council run --speaker local` fetches it"
    )


def test_what_an_unfinished_fetch_left_need_not_be_fetched(user: User) -> None:
    part = download.place({"HOME": str(user.root)}).parts / "one" / "part"
    part.parent.mkdir(parents=True)
    with part.open("wb") as file:
        file.truncate(1_000_000_000)
    assert "takes 0.4 GB for a while" in line(user, "embedded model")


def test_there_is_no_room_for_the_model(user: User, monkeypatch: pytest.MonkeyPatch) -> None:
    room(monkeypatch, 300_000_000)
    told = line(user, "embedded model")
    assert told.endswith(f" 1.4 GB for a while, and ~/.local has 0.3 GB free; {download.ROOM}")


def test_the_model_has_no_place_that_can_be_written(user: User, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(download.Room, "writable", False)
    assert line(user, "embedded model").endswith(f"~/.local cannot be written; {download.ELSEWHERE}")


def test_the_model_cannot_run_here(user: User, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(download, "obstacle", lambda: "it needs another machine")
    told = line(user, "embedded model", ANTHROPIC_API_KEY="k")
    assert told == "-     cannot run here: it needs another machine"


def test_a_model_of_the_users_that_is_none_fails(user: User) -> None:
    ended = user.council("doctor", COUNCIL_GGUF="/nothing/here", ANTHROPIC_API_KEY="k")
    assert ended.code == 2
    assert "FAIL  embedded model: COUNCIL_GGUF: /nothing/here" in ended.out


def test_what_need_not_be_there_is_no_failure(user: User) -> None:
    ended = user.council("doctor", ANTHROPIC_API_KEY="a-secret")
    assert ended.code == 0, ended.text
    assert "ok    endpoint anthropic: ANTHROPIC_API_KEY is set\n" in ended.out
    assert "-     endpoint openrouter: OPENROUTER_API_KEY is not set\n" in ended.out
    assert "-     claude program: not installed\n" in ended.out
    assert "ok    speaker: anthropic (ANTHROPIC_API_KEY is set; " in ended.out
    assert "a-secret" not in ended.text


def test_nobody_can_speak(user: User, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(download, "obstacle", lambda: "it needs another machine")
    ended = user.council("doctor")
    assert ended.code == 4
    assert "FAIL  speaker: no speaker is available: " in ended.out
    assert ended.last == "fix what failed above, then run `council doctor` again"


def test_nobody_can_speak_before_the_model_is_fetched(user: User) -> None:
    ended = user.council("doctor")
    assert ended.code == 4
    assert "FAIL  speaker: no speaker is available: " in ended.out
    assert "`--speaker local`, which fetches" in ended.out


def test_a_model_that_is_here_speaks_only_if_it_is_asked_for(user: User) -> None:
    fetched(user)
    assert user.council("doctor").code == 0
    assert line(user, "speaker") == "-     none, unless you ask for local: add `--speaker local`"


def test_a_server_on_this_machine_has_to_answer(user: User) -> None:
    with socket.create_server(("127.0.0.1", 0)) as server:
        port = server.getsockname()[1]
        user.configure(f"endpoints:\n  ollama: {{base_url: 'http://127.0.0.1:{port}'}}\n{TIERS}")
        assert user.council("doctor").code == 0
        assert line(user, "speaker").startswith("ok    anthropic (your tiers use ollama; ")
    ended = user.council("doctor")
    assert ended.code == 4
    assert f"FAIL  speaker: anthropic cannot speak: nothing answers at 127.0.0.1:{port}, " in ended.out


def test_a_program_that_was_named_has_to_be_logged_in(user: User) -> None:
    program = user.write("bin/claude", "#!/bin/sh\necho '{\"loggedIn\": false}'\nexit 1\n")
    program.chmod(0o755)
    ended = user.council("doctor", COUNCIL_CLAUDE=str(program), COUNCIL_SPEAKER="claude", ANTHROPIC_API_KEY="k")
    assert ended.code == 4
    assert "FAIL  speaker: claude cannot speak: " in ended.out


TIERS = "tiers:\n" + "".join(f"  {tier}: {{endpoint: ollama, model: m}}\n" for tier in ("sonnet", "haiku", "opus"))


@pytest.mark.parametrize(
    ("names", "told"),
    [
        (
            ("OPENAI_API_KEY",),
            "OPENAI_API_KEY is set, but council cannot call that vendor's API yet: docs/speakers.md ",
        ),
        (
            ("GEMINI_API_KEY", "XAI_API_KEY"),
            "GEMINI_API_KEY and XAI_API_KEY are set, but council cannot call those vendors' APIs yet: docs/",
        ),
        (("OPENROUTER_API_KEY",), "OPENROUTER_API_KEY is set: add `--tier-map "),
    ],
)
def test_a_key_that_nobody_uses_is_named_and_not_shown(user: User, names: tuple[str, ...], told: str) -> None:
    keys = dict.fromkeys(names, "a-secret")
    doctor, run = user.council("doctor", **keys), user.council("run", "Shall we?", **keys)
    assert (doctor.code, run.code) == (4, 4)
    (_, shown) = (one for one in doctor.out.split("FAIL  speaker: ")[1].splitlines())
    assert shown.strip().startswith(told)
    assert [one for one in run.err.splitlines() if one.startswith(told)]
    assert "a-secret" not in doctor.text + run.text


def test_a_blank_key_is_not_named(user: User) -> None:
    assert "OPENAI_API_KEY" not in user.council("doctor", OPENAI_API_KEY=" ").text


def test_folders_that_cannot_be_written_fail(user: User) -> None:
    user.write("in-the-way", "a file")
    ended = user.council("doctor", COUNCIL_HOME=str(user.work / "in-the-way"))
    assert ended.code == 6
    assert "FAIL  sessions: " in ended.out
