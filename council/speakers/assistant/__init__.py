"""An assistant such as Claude Code asks the members: `council next` prints the briefs, `council record` stores replies.

No program can call it. `transcripts` reads what its members said.
"""

from council.speakers.base import SpeakerType

SPEAKER = SpeakerType(
    name="assistant",
    about="you or your assistant: `council next` prints the briefs, `council record` stores the replies",
    manual=True,
    setup="add `--speaker assistant`, and record the replies by hand with `council next` and `council record`",
)
