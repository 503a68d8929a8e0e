"""The loop that works in every client: a member runs `council brief`, and stores its answer by the command there."""

from __future__ import annotations

from council.config import command_line
from council.config.settings import Config
from council.errors import UsageError
from council.record import tracked
from council.record.session import Session
from council.runner import manual
from council.speakers.assistant import handouts, transcripts

PLACEHOLDER = "YOUR ANSWER"
ENDING = f"""

---

This is how to store your answer. Run this one command, once, with your whole answer in place of {PLACEHOLDER}, in the
form that the brief asks for. Change nothing else in it:

{{command}} <<'{{end}}'
{PLACEHOLDER}
{{end}}

If your shell refuses it, save your answer in a new file and run: {{command}} < FILE

Run nothing else, and open no other file. Then reply only with the line that the command printed.
"""
READ_ON = """

---

This is part {part} of {parts} of your brief. Do not answer yet. Run `{command}` and do what it prints.
"""
LARGEST_PART = 16_000  # bytes: clients cut longer output of a command, in the middle or at the end, where the ending is
TO_A_PERSON = """

---

A person answers this. They can do it themselves, in a terminal: {answer}
Or store their words, exactly as they are, with: {command}
"""
IN_FLIGHT = """

---

A member was launched for this turn already, and its answer is still to come. Do not answer it a second time.
"""


def format_sentence(found: Session, turn: str) -> str:
    """The prompt of a member, the same for every client."""
    return f"Run `{command_line.program()} brief {found.id} {turn}` and do what it prints."


def hand_out(found: Session, settings: Config, turn: str, part: int | None = None) -> bytes:
    """The brief of a turn, byte for byte; and how to store the answer, if the turn is due and can be recorded.

    With a part's number, only that part of a long one, and then how to go on; it is noted that a member has the brief.
    """
    found.read_turns()
    if turn in found.said:
        return found.brief(turn) or b""
    due = manual.due_turn(found, found.plan(), turn)
    if found.brief(turn) is None:
        with found.hold():
            manual.advance(found, settings, turn)
    brief = found.brief(turn) or b""
    if tracked.explain(found.folder):
        return brief
    if due.of_a_person:
        answer = f"{command_line.program()} answer {found.id}"
        return brief + TO_A_PERSON.format(answer=answer, command=manual.record_command(found, due)).encode()
    if turn in transcripts.find_in_flight(found.folder, found.said):
        return brief + IN_FLIGHT.encode()
    parts = split(brief) if part else [brief]
    if (part or 1) > len(parts):
        raise UsageError(f"the brief of {turn} has {'only 1 part' if len(parts) == 1 else f'only {len(parts)} parts'}")
    if part and part < len(parts):
        command = f"{command_line.program()} brief {found.id} {turn} --part {part + 1}"
        return parts[part - 1] + READ_ON.format(part=part, parts=len(parts), command=command).encode()
    if part:
        handouts.write_note(found.folder, turn)  # with the last part: who has read less was not handed the brief
    # No text that the member has read before can hold the line that ends the command.
    end = f"ANSWER-{found.key('answer', turn)}"
    command = f"{command_line.program()} record {found.id} {turn} --file -"
    return parts[-1] + ENDING.format(command=command, end=end).encode()


def split(brief: bytes) -> list[bytes]:
    """A brief in parts that every client shows whole: each ends with a line, or at least with a character."""
    parts = []
    while len(brief) > LARGEST_PART:
        end = brief.rfind(b"\n", 0, LARGEST_PART) + 1 or LARGEST_PART
        while brief[end] & 0xC0 == 0x80:  # inside a character
            end -= 1
        parts.append(brief[:end])
        brief = brief[end:]
    return [*parts, brief]
