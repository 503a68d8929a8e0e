"""A person, who is asked the declared answers one by one. The caller's `ask` says how that looks."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, replace
from typing import Any, ClassVar

from council.next.config.identity import user_name
from council.next.config.settings import Settings
from council.next.engine import registry
from council.next.errors import UsageError, Waiting
from council.next.prompts.brief import Brief
from council.next.replies.kinds import Code, Items, Kind, Text, is_nothing
from council.next.replies.read import heading, read
from council.next.replies.write import fenced, write, write_answer
from council.next.speakers.base import Speaker, Spoken, speaker


@dataclass(frozen=True)
class Question:
    """One declared answer. After an entry that could not be read, `problem` says why, and `typed` is offered again."""

    title: str
    wanted: str
    kind: Kind
    problem: str = ""
    typed: str = ""


Ask = Callable[[Brief, Question], Awaitable[str]]  # what was typed; an empty entry leaves out what may be left out
# Shows the text that will be recorded, and what is wrong with it. Returns what to record, or None to ask again.
Agree = Callable[[Brief, str, str], Awaitable[str | None]]


@speaker
class Person(Speaker):
    """Without an `ask`, nobody can be asked from here, and the turn waits for `council answer`."""

    name: ClassVar[str] = "human"

    def __init__(
        self, settings: Settings, source: str = "", ask: Ask | None = None, agree: Agree | None = None
    ) -> None:
        super().__init__(settings, source)
        self.ask, self.agree = ask, agree
        self.left = ""  # why the person answers no more in this run
        self.one_turn = asyncio.Lock()  # a person who speaks for several seats is asked for one after the other

    async def speak(self, brief: Brief, began: Callable[[str], None]) -> Spoken:
        if self.ask is None:
            id, turn = brief.session.id, brief.due.id
            how = f"`council answer {id}`"
            if not brief.due.seat.is_person:  # `answer` is for the seats of persons alone
                how = f"`council recover {id} --speaker human` at a terminal, or `council record {id} {turn}`"
            raise Waiting(f"{turn} waits for a person: {how}")
        async with self.one_turn:
            if self.left:
                raise Waiting(self.left)
            began("")
            try:
                body = await self.reply(brief, self.ask)
            except Waiting as left:  # the person is asked at no other seat either
                self.left = str(left)
                raise
        return Spoken(body, usd=0.0, most=0.0, by=user_name(), via="terminal")

    async def reply(self, brief: Brief, ask: Ask) -> str:
        """What the person wants recorded, and has seen as it will be."""
        body, problem = await ask_all(brief, ask), ""
        while self.agree:
            chosen = await self.agree(brief, body, problem)
            if chosen == body and not problem:
                break
            body = await ask_all(brief, ask) if chosen is None else chosen
            problem = "; ".join(brief.session.plan.check(brief.due, body))
        return body


async def ask_all(brief: Brief, ask: Ask) -> str:
    """The reply, made of the answers to all questions. Each is asked for until it reads back as it was meant."""
    found: dict[str, Any] = {}
    for name, kind in brief.due.step.reply.items():
        question = Question(heading(name), kind.wanted(), kind)
        while (typed := await ask(brief, question)).strip() or not kind.optional:
            try:
                value = value_of(name, kind, typed)
                write_answer(name, kind, value)
                problem = ""
                if check := registry.checks.get(name):
                    problem = check({**found, name: value}, brief.session.plan.scene, brief.due.seat)
            except UsageError as wrong:
                problem = str(wrong)
            if not problem:
                found[name] = value
                break
            question = replace(question, problem=problem, typed=typed)
    body = write(brief.due.step.reply, found)
    question = Question("Your words", "your answer in your own words", Text())
    while not body.strip():
        body = await ask(brief, question)
        question = replace(question, problem="there is nothing in it")
    return body


def value_of(name: str, kind: Kind, typed: str) -> Any:
    """The answer that was typed: a choice by its first letters, a list as one item a line."""
    text = typed.strip()
    if isinstance(kind, Text | Items):
        if is_nothing(text) and kind.filled:
            raise UsageError(f"it must be {kind.wanted()}")
        lines = [line.strip().removeprefix("- ").strip() for line in text.splitlines()]
        said = text if not is_nothing(text) else ""
        return said if isinstance(kind, Text) else tuple(line for line in lines if not is_nothing(line))
    near = [option for option in kind.options if text and option.casefold().startswith(text.casefold())]
    text = near[0] if len(near) == 1 else fenced(text) if isinstance(kind, Code) else text
    answers = read({name: kind}, f"## {heading(name)}\n{text}")
    if name not in answers.found:
        raise UsageError(answers.problems.get(name) or f"it must be {kind.wanted()}")
    return answers.found[name]
