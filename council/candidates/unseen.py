"""Characters that a reader cannot see, or that change how the text around them looks. Pure.

In code, such a character hides a name, a branch or words for a model. Some of them join emoji into one picture. Such
sequences are allowed: a reader sees them, and no name in Python, JavaScript or Go can contain one.
"""

from __future__ import annotations

import re
import unicodedata

# Controls, formatting characters, unpaired surrogates, and line ends that an editor does not show as such.
CATEGORIES = ("Cc", "Cf", "Cs", "Zl", "Zp")
VISIBLE = "\t\n\f\r"
# The Unicode property Default_Ignorable_Code_Point, without what the categories have. Python does not know it.
IGNORED = re.compile(
    "[\u034f\u115f\u1160\u17b4\u17b5\u180b-\u180f\u2065\u3164\ufe00-\ufe0f\uffa0\ufff0-\ufff8\U000e0000-\U000e0fff]"
)
PICTURE = (
    "[\u00a9\u00ae\u203c\u2049\u2122\u2190-\u21ff\u2300-\u23ff\u24c2\u25a0-\u27bf\u2900-\u297f\u2b00-\u2bff\u3030\u303d"
    "\u3297\u3299\U0001f000-\U0001faff]\ufe0f?[\U0001f3fb-\U0001f3ff]?"
)
FLAGS = "\U0001f3f4\U000e0067\U000e0062(?:{})\U000e007f".format(  # of England, Scotland and Wales: there are no others
    "|".join("".join(chr(0xE0000 + ord(sign)) for sign in name) for name in ("eng", "sct", "wls"))
)
EMOJI = re.compile(f"{FLAGS}|{PICTURE}(?:\u200d{PICTURE})*|[0-9#*]\ufe0f\u20e3")


def is_unseen(sign: str) -> bool:
    """Whether a reader cannot see this character by itself."""
    return (unicodedata.category(sign) in CATEGORIES and sign not in VISIBLE) or IGNORED.match(sign) is not None


def find_unseen(text: str, known: str = "") -> list[str]:
    """The characters that cannot be seen, each once, of which there are more than in the text that was there before."""
    if not any(map(is_unseen, set(text))):
        return []
    text, known = EMOJI.sub("", text), EMOJI.sub("", known)
    return [sign for sign in sorted(filter(is_unseen, set(text))) if text.count(sign) > known.count(sign)]
