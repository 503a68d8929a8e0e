"""An API whose members take all that they may: what a bound has to withstand."""

from __future__ import annotations

import math
import re

from council.checks import sizes
from tests.fakeapi import Answer, Request
from tests.helpers import AGREES, SUMMARY, Table, User

MOST = 600  # tokens a reply: few, so that a frame that was reckoned too small would show


TIERS = ", ".join(f"{name}: {{max_tokens: {MOST}}}" for name in ("sonnet", "haiku", "opus"))


BLOCKS = "## Stance\ndisagree\n\n## Blocking\n- The restore of {} is untested, and it was never timed.\n"


READABLE = {"challenges": BLOCKS, "closing": BLOCKS, "positions": "## Blocking\n- {} is late.\n"}


LEFT_OUT = SUMMARY.format("Keep one database.", "none")


class Glutton(Table):
    """Takes all that it may: no reply can be read at first, each is as long as it may be, nobody agrees, the synthesis
    leaves all of it out, every token of a prompt is written to the cache, and a token has few bytes.
    """

    def __init__(self, user: User) -> None:
        super().__init__(user, {})

    def __call__(self, request: Request) -> Answer:
        turn = self.turn(request.text)
        self.asked.append(turn)
        prompt = math.ceil(len(request.text.encode()) / sizes.BYTES_A_TOKEN)
        usage = {"input_tokens": 0, "cache_creation_input_tokens": prompt, "output_tokens": MOST}
        answers = self.answers(turn) if turn.endswith(".2") else ""
        padding = "word " * (int(MOST * sizes.BYTES_A_TOKEN - len(answers)) // 5)
        return Answer(f"{padding}\n\n{answers}", usage=usage)

    def answers(self, turn: str) -> str:
        folder, seat = turn.removesuffix(".2").split("/")
        step = re.sub(r"^\d\d-|-r\d\d", "", folder)
        return LEFT_OUT if step == "synthesis" else READABLE.get(step, AGREES).format(seat)
