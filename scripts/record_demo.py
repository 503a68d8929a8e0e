"""Usage: scripts/record-demo

Holds one debate in three places (tests/relay.py) and writes what was run and printed to
docs/one-debate-three-places.md. COUNCIL_TEST_CLAUDE and COUNCIL_TEST_CODEX name the programs.
"""

from __future__ import annotations

import subprocess
import sys
import tempfile
from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT))

from tests import relay  # noqa: E402
from tests.claude_code import CLAUDE  # noqa: E402
from tests.client_promises import CLIENTS  # noqa: E402

PAGE = ROOT / "docs" / "one-debate-three-places.md"
CUT = "[…]"
MOST, FIRST, LAST = 14, 7, 5  # lines of one output: how many are shown whole, and of a longer one at each end
TITLES = {
    "Claude Code": """## Begun in Claude Code

Ada begins a debate with her own subagents as members, and stops after the first round. She notes the head that `verify`
prints, and packs the session's folder.
""",
    "Codex": """## Continued in Codex

Ben unpacks it where Codex's sandbox can write, and checks that it is what Ada noted. His members fetch their briefs and
store their answers themselves.
""",
    "CI": """## Finished in CI

A job without a terminal (`CI=true`, `ANTHROPIC_API_KEY`) gets the archive as an artifact, checks it against Ben's head,
and runs what is left. Then it looks for both earlier heads: each is found in the chain, and `verify` exits with 5
because the debate went on after it.
""",
}
OPENING = """# One debate, three places

A debate is a folder. This one was begun in one assistant, continued by a colleague in another, and finished by CI. Only
the folder travelled, and nobody was asked again for what was recorded already.

Recorded on {day} by `scripts/record-demo`, with {claude} and {codex}.
The models are scripted, so the words are too. Everything else is what the programs printed, with cuts marked `{cut}`.
The three homes were made for this, with `COUNCIL_HOME` at `~/memory`.
"""
CLOSING = """## How the folder travels

Any copy will do: `tar`, `rsync -a`, a shared drive, or an artifact of CI. Nothing in the folder is run. Send the head
by another way than the folder, such as a message: `council verify SESSION --head HEAD` then proves that the folder is
as it was when the head was noted.

- Hand over between rounds, or when nobody is being asked. Two who continue copies of one folder at the same time have
  two debates with one id.
- In a project, unpack into `.council/sessions/` and name the session by its full id. A session that git tracks can be
  shown and verified, but not continued: what is committed could come from anybody.
- What is not shown here: a real model as host. It follows the same text that the scripted hosts follow.
"""


def main() -> int:
    codex = CLIENTS["codex"]
    if not (CLAUDE and codex.program):
        print("record-demo: COUNCIL_TEST_CLAUDE and COUNCIL_TEST_CODEX must name the programs", file=sys.stderr)
        return 2
    with tempfile.TemporaryDirectory(prefix="council-demo-", dir=codex.homes) as place:
        held = relay.run(Path(place).resolve(), codex)
        if held.wrong:
            print("\n".join(held.wrong), file=sys.stderr)
            return 1
        versions = {"claude": f"Claude Code {version(CLAUDE)}", "codex": f"Codex {version(codex.program)}"}
        opening = OPENING.format(day=f"{datetime.now(UTC):%Y-%m-%d}", cut=CUT, **versions)
        receipts = "\n".join(compose_receipts(held))
        PAGE.write_text("\n".join([opening, *map(compose, held.legs), receipts, CLOSING]), "utf-8")
    return 0


def version(program: str) -> str:
    told = subprocess.run([program, "--version"], capture_output=True, text=True, check=True).stdout.split()
    return next(word for word in told if word[0].isdigit())


def compose(leg: relay.Leg) -> str:
    lines = [line for command, output in leg.steps for line in [f"$ {command}", *cut(output.splitlines()), ""]]
    return "\n".join([TITLES[leg.who], *(f"    {line}".rstrip() for line in lines[:-1]), ""])


def cut(lines: list[str]) -> list[str]:
    while lines and not lines[-1].strip():
        lines = lines[:-1]
    return lines if len(lines) <= MOST else [*lines[:FIRST], CUT, *lines[-LAST:]]


def compose_receipts(held: relay.Relay) -> Iterator[str]:
    """Who recorded what, from the receipts."""
    yield "## Who recorded what\n"
    yield "The receipts in the finished folder:\n"
    yield "| turns | speaker | recorded by |\n|---|---|---|"
    for folder in sorted((held.session / "turns").iterdir()):
        head = next(folder.iterdir()).read_text().splitlines()
        facts = dict(line.split(": ", 1) for line in head[1 : head.index("---", 1)])
        turns = len(list(folder.iterdir()))
        by = facts["recorded_by"].strip('"')
        yield f"| `{folder.name}/` ({turns}) | {facts['speaker'].strip(chr(34))} | {'' if by == 'null' else by} |"
    yield ""


if __name__ == "__main__":
    sys.exit(main())
