"""Carries a planning on: one council after the other, each an ordinary session, until a person has to answer or all are
approved.
"""

from __future__ import annotations

import os
import shlex
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace
from itertools import pairwise
from pathlib import Path
from typing import Any

from council.checks import cost
from council.cli.context import State
from council.cli.execute import execute
from council.cli.run import can_ask, provide
from council.config import places
from council.config.settings import Config
from council.errors import CouncilError, RateLimited, UsageError, Waiting
from council.planning import progress
from council.planning.progress import APPROVED, ENDED, GATED, CouncilStage
from council.planning.store import Planning
from council.record import files
from council.record.session import Session
from council.runner import debate as debates
from council.runner import price, start
from council.runner.debate import Limits
from council.runner.start import Request
from council.speakers import registry, replay
from council.speakers.select import Choice
from council.terminal import notices
from council.terminal.screen import Screen
from council.workflow import gates

LONG = 24_000  # characters of a document: about 4,000 words, which is more than most have


@dataclass
class Driver:
    """One command that carries a planning on. `given` are its options, as `run` has them."""

    state: State
    settings: Config
    planning: Planning
    given: Mapping[str, Any]
    screen: Screen = field(init=False)
    speaker: str = ""

    def __post_init__(self) -> None:
        silent = self.given["as_json"]
        self.screen = Screen(quiet=self.given["quiet"] or silent, silent_out=silent)
        self.speaker = self.given["speaker"] or self.planning.speaker

    def run(self) -> list[CouncilStage]:
        """Each council that is not approved yet, in order. What stops one of them is raised, with how to go on."""
        enter_folder(self.planning)
        stages = progress.read_stages(self.settings, self.planning)
        check_stages(stages)
        for stage in stages:
            if stage.state == APPROVED:
                continue
            if stage.state in ENDED:
                break
            try:
                self.hold(stage)
            except RateLimited as limited:
                self.say_how_to_go_on(stage, limited)
                again = f"run `council planning {self.planning.id}`"
                raise RateLimited(limited.why, limited.until, again) from limited
            except CouncilError as failure:
                self.say_how_to_go_on(stage, failure)
                raise
            if progress.read_stage(self.settings, stage.council, stage.session).state != APPROVED:
                break
        self.state.session = None
        self.file_last(stages[-1])
        return progress.read_stages(self.settings, self.planning)

    def hold(self, stage: CouncilStage) -> None:
        """Run one council to its end; it begins if it has not. Of two commands that begin it, one does."""
        session = progress.open_session(self.settings, stage.session)
        choice = None
        if session is None:
            session, choice = self.begin(stage)
        if session.workflow.name != stage.council:
            raise UsageError(
                f"the session {session.id} is not a {stage.council} of this planning; begin another planning"
            )
        self.state.session, self.state.next_step = session, f"council planning {self.planning.id}"
        choice = choice or debates.choose_again(
            session, self.given["speaker"], self.settings, can_ask(dict(self.given))
        )
        provide(self.settings, choice)
        self.screen.say(f"── {stage.council}: {session.id} ──")
        self.screen.say(f"speaker: {choice}", "dim")
        how = {"ask": not self.given["no_input"], "wait": self.given["wait"]}
        source = self.find_source(stage, choice.name)
        voices = debates.voices_for(session, choice.name, self.settings, source, **how)
        execute(session, self.settings, voices, self.screen, self.find_limits(stage), self.given["watch"])
        self.speaker = choice.name

    def begin(self, stage: CouncilStage) -> tuple[Session, Choice | None]:
        request = request_for(self.planning, stage.council, tuple(self.documents_for(stage)))
        request = replace(request, max_cost=self.find_limits(stage).usd)
        choice = debates.choose_speaker(request, self.speaker, self.settings, can_ask(dict(self.given)))
        provide(self.settings, choice)
        source = self.find_source(stage, choice.name)
        try:
            session = debates.begin(request, self.settings, choice.name, source)
        except UsageError:
            if (there := progress.open_session(self.settings, stage.session)) is None:
                raise
            return there, None  # another command has begun it meanwhile, and holds it
        notices.show_place(session)
        notices.show_overlays(session)
        return session, choice

    def file_last(self, stage: CouncilStage) -> None:
        """The document of the last council, once it is approved; the others are filed as the next one begins."""
        session = progress.open_session(self.settings, stage.session)
        if session and progress.read_stage(self.settings, stage.council, stage.session).state == APPROVED:
            progress.file_document(session)

    def documents_for(self, stage: CouncilStage) -> Iterator[tuple[str, str]]:
        """What a council starts from: the document of the one before it, or what was attached to the first."""
        before = self.find_before(stage)
        if not before:
            yield from self.planning.documents
            return
        session = progress.open_session(self.settings, before[-1])
        assert session is not None
        for path in progress.file_document(session):
            again = f"council planning --from {stage.council} --document {shlex.quote(str(path))}"
            self.screen.say(f"{files.tilde(path)} was edited; {stage.council} starts from what {session.id} wrote")
            self.screen.say(f"to start from the edited document: {again}")
        yield from progress.hand_on(session, session.plan())

    def find_before(self, stage: CouncilStage) -> list[str]:
        """The ids of the sessions before this one."""
        ids = list(self.planning.sessions.values())
        return ids[: ids.index(stage.session)]

    def find_limits(self, stage: CouncilStage) -> Limits:
        """The limits of the whole planning: what its earlier councils took counts. One that is given now replaces the
        one that it began with."""
        before = (progress.open_session(self.settings, id) for id in self.find_before(stage))
        names = ("quorum", "max_calls", "max_cost")
        began = {name: getattr(self.planning, name) for name in names}
        wanted = began | {name: self.given[name] for name in names if self.given[name] is not None}
        others = tuple(one for one in before if one)
        return Limits(wanted["quorum"], wanted["max_calls"], wanted["max_cost"], others=others)

    def find_source(self, stage: CouncilStage, speaker: str) -> str | None:
        folder = str(self.given["replies"] or self.planning.replies)
        return find_script(folder, stage.council) if registry.describe(speaker).replays else None

    def say_how_to_go_on(self, stage: CouncilStage, failure: CouncilError) -> None:
        """A planning is continued as a whole: the session alone would not lead to the next council."""
        again = f"council planning {self.planning.id}"
        if isinstance(failure, Waiting):
            again = f"answer with `council answer {stage.session}`, then go on with: {again}"
        else:
            again = f"go on with: {again}"
        self.state.session, self.state.next_step = None, again


def find_script(folder: str, council: str) -> str:
    """What a replay of this council says."""
    if not folder:
        raise UsageError("--speaker replay needs --replies, a folder with a script for each council, as board.yaml")
    path = Path(folder) / f"{council}.yaml"
    if not path.is_file():
        raise UsageError(f"{path}: no such file")
    return str(path)


def enter_folder(planning: Planning) -> None:
    """Each council begins where the planning began: its documents belong to that project."""
    try:
        os.chdir(planning.folder)
    except OSError as failure:
        raise UsageError(f"the folder in which this planning began: {planning.folder}: {failure.strerror}") from None


def request_for(planning: Planning, council: str, documents: tuple[tuple[str, str], ...] = ()) -> Request:
    """What one council is asked. Its gate waits as long as the person likes."""
    options = {**planning.options, gates.AFTER: GATED, gates.TIMEOUT: "none"}
    return Request(
        planning.topic, council, options=options, tier_map=planning.tier_map, documents=documents, find_files=False,
        speaker=planning.speaker, quorum=planning.quorum, max_cost=planning.max_cost, id=planning.sessions[council],
    )  # fmt: skip


def bound(planning: Planning, settings: Config) -> list[cost.Row]:
    """The calls of all councils together, if each document is as long as `LONG`."""
    rows: list[cost.Row] = []
    documents = planning.documents
    for council in planning.sessions:
        request = request_for(planning, council, documents)
        workflow = start.workflow_of(start.with_settings(request, settings))
        rows += price.bound(request, workflow, settings)
        documents = ((f"the document of {council}", "word " * (LONG // 5)),)
    return rows


def check(planning: Planning, settings: Config, wanted: str | None, ask: bool) -> Choice:
    """Refuse what is wrong with any of the councils before anything is written; who will speak in the first."""
    places.choose(settings)
    requests = [replace(request_for(planning, council), documents=planning.documents) for council in planning.sessions]
    for request in requests:
        start.lay_table(request, settings)  # before anybody is asked who should speak
    choice = debates.choose_speaker(requests[0], wanted, settings, ask)
    for request in requests:
        start.check_request(replace(request, speaker=choice.name), settings)
        if registry.describe(choice.name).replays:
            replay.of_script(Path(find_script(planning.replies, request.workflow)))
    return choice


def check_stages(stages: list[CouncilStage]) -> None:
    """Refuse to go on where a session is gone: its council would be held, and paid for, once more."""
    for before, after in pairwise(stages):
        if before.state == progress.NOT_BEGUN != after.state:
            raise UsageError(
                f"the session {before.session} is gone, and {after.council} has begun; restore it from a backup, or "
                f"begin another planning with `--from {before.council}`"
            )
