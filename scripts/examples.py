"""Usage: scripts/examples [NAME …]

Holds the debates of docs/examples as their index says, and writes the documents that they end in: two over a scripted
API to their ends, one by hand, one that is killed and recovered, one that waits for a person. A page whose debate gives
what is there already is not written again, so its session's head and its costs stay.
"""

from __future__ import annotations

import sys
import tempfile
import time
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT))

from council.workflow import frontmatter  # noqa: E402
from tests import examples  # noqa: E402
from tests.examples import EXAMPLES, Example  # noqa: E402
from tests.fakeapi import Answer, FakeApi  # noqa: E402
from tests.helpers import PATIENCE, Table, User  # noqa: E402

MODEL = "a-script"  # what the API says that has answered
PERSON = "a person"
KILLED_AT = "02-challenge-r02-1-respond/moonshot"


def main() -> None:
    wanted = sys.argv[1:] or [one.name for one in EXAMPLES]
    if "-h" in wanted or "--help" in wanted:
        print(__doc__)
        return
    if unknown := set(wanted) - {one.name for one in EXAMPLES}:
        sys.exit(f"no example {', '.join(sorted(unknown))}: use {', '.join(one.name for one in EXAMPLES)}")
    for example in (one for one in EXAMPLES if one.name in wanted):
        with tempfile.TemporaryDirectory() as place:
            user = User(Path(place), {"ANTHROPIC_API_KEY": "sk-ant-of-the-examples"})
            with examples.held_in(user):
                HOW[example.how](user, example, frontmatter.load_yaml(example.script.read_text("utf-8"), example.name))
            made = examples.read(user)
        if not example.page.exists() or examples.strip(example.page.read_text("utf-8")) != examples.strip(made):
            example.page.write_text(made, "utf-8")
            print(f"written: {example.page.relative_to(ROOT)}")


def hold_over_api(user: User, example: Example, words: dict[str, str], killed_at: str = "") -> None:
    """Everybody but a person is asked over HTTP. A person answers as soon as the debate waits for them."""
    table = Table(user, words, {killed_at: [Answer(fault="stall")]} if killed_at else None, model=MODEL)
    with FakeApi(table) as api:
        user.configure(f"endpoints:\n  anthropic: {{base_url: {api.url}}}")
        command = ("run", "--id", example.name, *example.options, example.topic)
        if killed_at:
            with user.spawn(*command) as run:
                deadline = time.monotonic() + PATIENCE
                while killed_at not in table.asked and time.monotonic() < deadline:
                    time.sleep(0.05)
                run.kill()
            command = ("recover", example.name)
        ended = user.council(*command)
        while ended.code == examples.WAITING:
            answer(user, example, words)
            ended = user.council("recover", example.name)
        assert ended.code == 0, ended.text


def hold_by_hand(user: User, example: Example, words: dict[str, str]) -> None:
    """Every turn is recorded by a command, as an assistant does it."""
    started = user.council("start", "--id", example.name, *example.options, "-", stdin=example.topic)
    assert started.code == 0, started.text
    while due := user.council("next", example.name, "--json").json["due"]:
        for turn in due:
            if turn["person"]:
                answer(user, example, words)
                continue
            told = user.council(
                "record", example.name, turn["turn"], "--model", MODEL, "--file", "-", stdin=words[turn["turn"]]
            )
            assert told.code == 0, told.text


def hold_and_kill(user: User, example: Example, words: dict[str, str]) -> None:
    hold_over_api(user, example, words, KILLED_AT)


def answer(user: User, example: Example, words: dict[str, str]) -> None:
    (turn,) = (one["turn"] for one in user.council("next", example.name, "--json").json["due"])
    told = user.council("record", example.name, turn, "--by", PERSON, "--file", "-", stdin=words[turn])
    assert told.code == 0, told.text


HOW = {"api": hold_over_api, "by hand": hold_by_hand, "killed": hold_and_kill}


if __name__ == "__main__":
    main()
