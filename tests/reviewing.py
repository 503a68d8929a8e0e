"""A review to repeat: what four members say of a specification with planted faults."""

from __future__ import annotations

import json
from pathlib import Path

from tests.helpers import Ended, User

SPEC = (Path(__file__).parent / "specs" / "sessions.md").read_text()
PLAIN = '(sessions.md) "Tokens are stored in plain text in the table `sessions`, one row a device."'
LOGGED = (
    """(sessions.md) "Every attempt is logged with the user's name and the password that was typed, for support.\""""
)
FIRST = {
    "architect": f"""## Findings

**BLOCKING:**
- B1: {PLAIN} Tokens lie in the database in plain text: whoever reads a backup is signed in as everybody. → Store a
  SHA-256 of each token.

  ```suggestion
  Of each token the table `sessions` holds the SHA-256, one row a device.
  ```

**HIGH:**
- H1: (sessions.md:24) "There is no way back: the old column is dropped in the same step." A failed migration cannot be
  undone. → Drop the old column a release later.
""",
    "designer": """## Findings

**MEDIUM/LOW:**
- M1: (sessions.md:20) Signing out everywhere takes a request for each row, and can end half done. → Delete all rows in
  one statement.
""",
    "engineer": f"""## Findings

**BLOCKING:**
- B1: {PLAIN} The tokens are stored in plain text, so a leaked backup signs everybody in. → Store only a
  hash of the token.
- B2: {LOGGED} Passwords are written to the log. → Log the name and the outcome, never what was typed.

  ```suggestion
  Every attempt is logged with the user's name and its outcome, for support.
  ```

**HIGH:**
- H1: (sessions.md) "The table audit has no index on its first column." Looking up an audit takes minutes. → Index it.
""",
    "researcher": "## Findings\n\nNo findings.\n",
}
SECOND = {
    "architect": "## Rulings\n\n- B2: agree. I looked it up.\n\n## Findings\n\nNo findings.\n",
    "designer": "## Rulings\n\n- B1: disagree with concern. Support needs it.\n- B2: agree\n\n## Findings\n\nNone.\n",
    "engineer": "## Rulings\n\n- H1: agree\n\n## Findings\n\nNo findings.\n",
    "researcher": """## Rulings

- B1: agree
- M1: disagree with evidence. There are two rows on average.

## Findings

**HIGH:**
- H1: (sessions.md) "After a wrong password the user may try again at once, as often as they like." Wrong passwords may
  be tried without limit. → Allow five attempts in ten minutes.
""",
}
THIRD = {
    "architect": "## Rulings\n\n- B1: agree. It stays.\n",
    "designer": "## Rulings\n\n- B1: disagree with concern. Still.\n",
    "engineer": "## Rulings\n\n- B1: agree\n",
    "researcher": "## Rulings\n\n- B1: agree\n",
}
SUMMARY = "## Summary\n\nTake up B1 and B2 first: both give accounts away. Aditi contests B1.\n"


def words(**changed: str) -> dict[str, str]:
    rounds = {"01-findings": FIRST, "02-challenges": SECOND, "03-closing": THIRD}
    said = {f"{step}/{seat}": text for step, table in rounds.items() for seat, text in table.items()}
    return {**said, "04-synthesis/chair": SUMMARY, **{key.replace("_", "/", 1): text for key, text in changed.items()}}


def review(user: User, *options: str | Path, said: dict[str, str] | None = None, code: int = 5) -> Ended:
    script = user.write("script.json", json.dumps(words() if said is None else said))
    ended = user.council("review", *options, "--speaker", "replay", "--from", script)
    assert ended.code == code, ended.err
    return ended
