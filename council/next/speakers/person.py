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
from council.next.protocols.outcome import Outcome
from council.next.replies.kinds import Code, Items, Kind, Text, is_nothing
from council.next.replies.read import heading, read
from council.next.replies.write import fenced, write, write_answer
from council.next.speakers.base import Speaker, Spoken, speaker
from council.next.text import join_words


@dataclass(frozen=True)
class Question:
    """One declared answer. After an entry that could not be read, `problem` says why, and `typed` is offered again."""

    name: str
    title: str
    wanted: str
    kind: Kind
    problem: str = ""
    typed: str = ""


@dataclass(frozen=True)
class Situation:
    """What a person sees before the questions: the brief, and as lines what each side recommends and what blocks."""

    brief: Brief
    sides: tuple[str, ...] = ()
    blocking: tuple[str, ...] = ()
    conditions: tuple[str, ...] = ()


Ask = Callable[[Situation, Question], Awaitable[str]]  # what was typed; an empty entry leaves out what may be left out
# Shows the text that will be recorded, and what is wrong with it. Returns what to record, or None to ask again.
Agree = Callable[[Situation, str, str], Awaitable[str | None]]


@speaker
class Person(Speaker):
    """Without an `ask`, nobody can be asked from here, and the turn waits for `council answer`."""

    name: ClassVar[str] = "human"

    def __init__(
        self, settings: Settings, source: str = "", ask: Ask | None = None, agree: Agree | None = None
    ) -> None:
        super().__init__(settings, source)
        self.ask, self.agree = ask, agree
        self.one_turn = asyncio.Lock()  # a person who speaks for several seats is asked for one after the other

    async def speak(self, brief: Brief, began: Callable[[str], None]) -> Spoken:
        if self.ask is None:
            raise Waiting(f"{brief.due.id} waits for a person: council answer {brief.session.id}")
        async with self.one_turn:
            began("")
            body = await self.reply(brief)
        return Spoken(body, usd=0.0, most=0.0, by=user_name(), via="terminal")

    async def reply(self, brief: Brief) -> str:
        """What the person wants recorded, and has seen as it will be."""
        situation = describe(brief, brief.session.outcome)
        body, problem = await self.questions(situation), ""
        while self.agree:
            chosen = await self.agree(situation, body, problem)
            if chosen == body and not problem:
                break
            body = await self.questions(situation) if chosen is None else chosen
            problem = "; ".join(brief.session.plan.check(brief.due, body))
        return body

    async def questions(self, situation: Situation) -> str:
        """The reply, made of the answers to all questions."""
        assert self.ask is not None
        reply = situation.brief.due.step.reply
        found: dict[str, Any] = {}
        for name, kind in reply.items():
            if (value := await self.answer(situation, name, kind, found)) is not None:
                found[name] = value
        body = write(reply, found)
        question = Question("", "Your words", "your answer in your own words", Text())
        while not body.strip():
            body = await self.ask(situation, question)
            question = replace(question, problem="there is nothing in it")
        return body

    async def answer(self, situation: Situation, name: str, kind: Kind, found: dict[str, Any]) -> Any:
        """Ask until the answer reads back as it was meant. None if it was left out."""
        assert self.ask is not None
        question, due = Question(name, heading(name), kind.wanted(), kind), situation.brief.due
        while True:
            typed = await self.ask(situation, question)
            try:
                if kind.optional and not typed.strip():
                    return None
                value = value_of(name, kind, typed)
                write_answer(name, kind, value)
                problem = ""
                if name in registry.checks:
                    scene = situation.brief.session.plan.scene
                    problem = registry.checks[name]({**found, name: value}, scene, due.seat)
                if not problem:
                    return value
            except UsageError as wrong:
                problem = str(wrong)
            question = replace(question, problem=problem, typed=typed)


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


def describe(brief: Brief, outcome: Outcome) -> Situation:
    """What is known of the sides when the person is asked."""
    signers = outcome.count.sides
    sides = []
    for item in outcome.recommendations:
        by = f" (signed by {join_words(signers[item.id])})" if signers.get(item.id) else ""
        sides.append(f"{item.id}, {item.by.label}: {item.by.text}{by}")
    return Situation(
        brief,
        tuple(sides),
        tuple(f"{item.id}, {item.by.label}: {item.by.text}" for item in outcome.blocking),
        tuple(f"{term.item.id}, {term.item.by.label}: {term.item.by.text}" for term in outcome.conditions),
    )
