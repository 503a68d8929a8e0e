"""A review has documents: those that it was given, and those that its topic names. Without any it is not begun."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

from council.runner import attachments
from tests.fakeapi import FakeApi
from tests.helpers import CODE, User

SPEC = "# Spec\n\nEverything is stored for ever.\n"
PHRASE = "Council (patchlist): Review spec.md"
NEEDS = "a review needs a document: name a file that exists, or attach one with --file"


@pytest.fixture
def user(tmp_path: Path) -> User:
    return User(tmp_path, {"ANTHROPIC_API_KEY": "k"})


def attached(user: User) -> list[str]:
    found: list[str] = json.loads((user.session / "metadata.json").read_text("utf-8"))["attachments"]
    return found


@pytest.mark.parametrize(
    "words",
    [
        ("start", PHRASE),
        ("start", "-w", "patchlist", "Review spec.md, please."),
        ("start", "-w", "patchlist", 'Is "my spec.md" ready?'),
        ("start", "-w", "patchlist", "Review `docs/rfc.txt` (see @spec.md)."),
        ("start", "-w", "patchlist", "--file", "spec.md", "Review ./spec.md"),
        ("start", "--mode", "patchlist", "-w", "patchlist", "Review (spec.md)!"),
    ],
)
def test_a_file_that_is_named_and_exists_is_attached(words: tuple[str, ...], user: User) -> None:
    for name in ("spec.md", "my spec.md", "docs/rfc.txt"):
        user.write(name, SPEC)
    ended = user.council(*words)
    assert ended.code == 0, ended.text
    wanted = [name for name in ("docs/rfc.txt", "my spec.md", "spec.md") if name in words[-1] and name != "my spec.md"]
    wanted = ["my spec.md", "spec.md"] if "my spec.md" in words[-1] else wanted
    assert attached(user) == wanted
    assert f"attached: {', '.join(wanted)}\n" in ended.out
    assert SPEC in (user.session / "topic.md").read_text("utf-8")


WITHOUT = [
    ("run", "--speaker", "anthropic", PHRASE),
    ("run", "--speaker", "anthropic", "-w", "patchlist", "Review everything"),
    ("run", "--speaker", "anthropic", "-w", "patchlist", "--mode", "patchlist", "Review https://here.example/spec.md"),
    ("run", "--speaker", "local", "-w", "patchlist", "Review"),
    ("patchlist", "--speaker", "anthropic", "Review spec.md"),
    ("start", PHRASE),
    ("start", "-w", "patchlist", "Review"),
]


@pytest.mark.parametrize("words", WITHOUT)
def test_a_review_without_a_document_is_refused_before_a_call(words: tuple[str, ...], user: User) -> None:
    with FakeApi() as api:
        ended = user.council(*words, ANTHROPIC_BASE_URL=api.url)
    assert ended.code == 2
    assert NEEDS in ended.err
    assert ("spec.md: no such file; " in ended.err) is ("spec.md" in words[-1])
    assert user.sessions == []
    assert api.requests == []


def test_a_topic_that_is_a_text_of_its_own_names_no_files(user: User) -> None:
    """What somebody pasted says nothing of which files may be read."""
    user.write("spec.md", SPEC)
    ended = user.council("start", "-w", "patchlist", "-", stdin="See spec.md. " + "More words. " * 200)
    assert ended.code == 2
    assert NEEDS in ended.err


@pytest.mark.parametrize(
    "topic", ["~nobody-here/spec.md", "x" * 5000, "a/" * 900, "\x00", "", "``", "docs", "/dev/null"]
)
def test_words_that_are_no_files(topic: str) -> None:
    assert attachments.find(topic) == ()


def test_a_debate_needs_no_document(user: User) -> None:
    assert user.council("start", "Shall spec.md be split?").code == 0
    assert attached(user) == []


@pytest.mark.parametrize(
    "call", ["council.run('Review it', workflow='patchlist', speaker='anthropic')", "council.review('spec.md')"]
)
def test_from_python(call: str, user: User) -> None:
    code = f"import sys, council\ntry: {call}\nexcept council.CouncilError as error: sys.exit(error.code)"
    env = {**user.environment, "PYTHONPATH": str(CODE)}
    done = subprocess.run([sys.executable, "-c", code], cwd=user.work, env=env, capture_output=True, check=False)
    assert (done.returncode, done.stdout, done.stderr) == (2, b"", b"")
    assert user.sessions == []


@pytest.mark.parametrize("words", [("review", "spec.md"), ("run", PHRASE), ("patchlist", "Review spec.md")])
def test_the_embedded_model_is_refused_for_reviews(words: tuple[str, ...], user: User) -> None:
    user.write("spec.md", SPEC)
    ended = user.council(*words, "--speaker", "local")
    assert ended.code == 2
    assert ended.err.splitlines()[0] == (
        "council: local cannot speak here: it is too small for reviews: it overlooks faults that are there and invents "
        "others; name another speaker with --speaker"
    )
    assert user.sessions == []


def test_a_review_is_not_handed_to_it_later(user: User) -> None:
    user.write("spec.md", SPEC)
    assert user.council("start", PHRASE).code == 0
    ended = user.council("recover", "--speaker", "local")
    assert ended.code == 2
    assert "too small for reviews" in ended.err
