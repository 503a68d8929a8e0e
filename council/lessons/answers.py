"""The answers that the program reads: what a seat says that draws a lesson, and what a shelf says."""

from __future__ import annotations

from council.workflow import declare

LESSON = declare.answer(
    "lesson", "what to do differently next time, in general words: kept if the session's own tests turned green"
)
CAUSE = declare.answer("cause", "beside a lesson: why the first attempt failed, in general words")
APPLIES = declare.answer("applies", "beside a lesson: the kind of task that it is for")
LESSONS = declare.answer("lessons", "from a shelf: the lessons of earlier sessions that are nearest", types=("list",))

SHOWN = "shown"  # in the receipt of a shelf's turn: the ids of its lessons
