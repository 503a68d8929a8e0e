"""The debates of docs/examples: how each of them was held, and their documents as the code makes them now."""

from __future__ import annotations

import re
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from unittest import mock

from tests.helpers import CODE, User

PLACE = CODE / "docs" / "examples"
SEED = "0" * 32
WAITING = 8
LASTING = ("kind", "workflow", "outcome")  # of the front matter: the rest says when and by whom it was spoken


@dataclass(frozen=True)
class Example:
    """A debate whose words are in docs/examples/scripts/NAME.yaml; the name is the session's id, too."""

    name: str
    topic: str
    options: tuple[str, ...]
    how: str = "api"

    @property
    def page(self) -> Path:
        return PLACE / f"{self.name}.md"

    @property
    def script(self) -> Path:
        return PLACE / "scripts" / f"{self.name}.yaml"


EXAMPLES = (
    Example(
        "webhook-outbox",
        "Should webhooks be delivered from an outbox?\n\n"
        "Today the order service calls the customers' endpoints inside the request. We send 400 events a second at "
        "peak; about 0.3 % of them are lost, and one slow endpoint held all the others for 50 minutes last month.",
        ("--workflow=consensus",),
    ),
    Example(
        "api-v1-end",
        "Do we switch API v1 off, and when?\n\n"
        "212 customers still use it, who pay $6.1 million a year. Three people keep its 61 endpoints alive beside v2.",
        ("--workflow=board", "--only=cto,cfo", "-o", "document=madr"),
    ),
    Example(
        "tenant-limits",
        "How do we limit what one tenant may ask of the public API?\n\n"
        "1,180 tenants share 12 machines. In March one of them took 70 % of the capacity for two hours.",
        ("--workflow=perspectives",),
        "by hand",
    ),
    Example(
        "job-queue",
        "How do we build the queue for background jobs?\n\n"
        "Decided: 23 cron scripts and 40 uses of a thread pool become jobs. 90 a second at peak, PostgreSQL is there.",
        ("--workflow=planning-2", "--only=language-specialist,data-specialist"),
        "killed",
    ),
    Example(
        "money-amounts",
        "In which type do we store amounts of money?\n\n"
        "Today they are double precision in 14 tables, 610 million rows. One statement in 900 is off by up to 0.03.",
        ("--workflow=consensus", "--only=database"),
    ),
)


@contextmanager
def held_in(user: User) -> Iterator[None]:
    """A project of this user's, with the kit's list for a web service, in which every session has the same seed."""
    user.write(".git/HEAD", "ref: refs/heads/main\n")
    used = user.council("specialists", "use", "web-service")
    assert used.code == 0, used.text
    with mock.patch("secrets.token_hex", return_value=SEED):
        yield


def replay(user: User, example: Example) -> str:
    """The document of a debate whose words are replayed."""
    with held_in(user):
        words = ("--speaker=replay", "--from", example.script)
        ended = user.council("run", "--id", example.name, *example.options, *words, example.topic)
    assert ended.code == 0, ended.text
    return read(user)


def read(user: User) -> str:
    """The one document in the user's project."""
    (filed,) = (user.work / "docs" / "decisions").glob("*.md")
    return filed.read_text("utf-8")


def strip(document: str) -> str:
    """What follows from the words alone: not when it was, who was asked, and what that cost."""
    _, matter, text = document.split("---\n", 2)
    kept = "".join(line for line in matter.splitlines(keepends=True) if line.startswith(LASTING))
    text = re.sub(r"\n>\n> \*\*Replay of:.*|^> \*\*Replay of:.*\n\n", "", text, flags=re.M)
    return kept + re.sub(r"^\*\*Date:\*\* .*\n", "", text, flags=re.M)
