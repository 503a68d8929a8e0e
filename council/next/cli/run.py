"""`run`, `recover` and `pause`: hold a debate, go on with one, and ask one to stop."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import click

from council.next.cli.group import Context
from council.next.cli.options import LIMITS, OUTPUT, REQUEST, SESSION, SPEAKER, load_settings, options, request_from
from council.next.errors import Unmet, UsageError

if TYPE_CHECKING:
    from council.next.config.settings import Settings
    from council.next.record.session import Session
    from council.next.speakers.base import Speaker


@click.command()
@options(*REQUEST, SPEAKER, *LIMITS, *OUTPUT)
@click.pass_obj
def run(context: Context, /, **given: Any) -> None:
    """Debate TOPIC. `-` reads it from standard input.

    The sentences that call a council in an assistant work here too: "Council with security: …", "Quick council: …",
    "Just architect and engineer: …", "Council recovery".
    """
    from council.next.runner.prepare import Request, prepare
    from council.next.terminal import start

    settings = load_settings(given)
    request = request_from(given, settings, context.workflow)
    if not isinstance(request, Request):
        return go_on(context, request, settings, given)
    speaker, request = start.choose_speaker(request, settings, given)
    start.agree_to_price(request, settings, speaker, given)
    with prepare(request, settings) as session:
        context.session = session
        hold(session, speaker, settings, given)
    finish(session, given)


@click.command()
@SESSION
@options(SPEAKER, click.option("--model", default="", metavar="NAME", help="Use this model for every tier."))
@options(*LIMITS, *OUTPUT)
@click.pass_obj
def recover(context: Context, /, session: str, **given: Any) -> None:
    """Continue SESSION (default: the newest) where it stopped. What was said is never asked or billed again."""
    from council.next.config import places

    settings = load_settings(given)
    go_on(context, places.find_session(settings.home, session), settings, given)


def go_on(context: Context, session: Session, settings: Settings, given: dict[str, Any]) -> None:
    from council.next.terminal import start

    context.session = session
    with session.hold():
        if session.plan.due:
            speaker = start.speaker_of(session, settings, given)
            hold(session, speaker, settings, given)
    finish(session, given)


def hold(session: Session, speaker: Speaker, settings: Settings, given: dict[str, Any]) -> None:
    """Have everything spoken that is due, and show it as it comes."""
    from council.next.runner import loop
    from council.next.runner.budget import Budget
    from council.next.terminal import start
    from council.next.terminal.watch import Watch

    watch = Watch(session, quiet=given["quiet"] or given["as_json"])
    limits = settings.limits
    budget = Budget.of(
        [session], lower(given["max_cost"], limits.get("max_cost")), lower(given["max_calls"], limits.get("max_calls"))
    )
    run = loop.Run(
        session,
        speaker,
        settings,
        budget,
        watch,
        person=start.person(settings, given),
        quorum=given["quorum"],
        wait=given["wait"],
    )

    async def debate() -> Any:
        try:
            return await loop.hold(run)
        finally:
            await speaker.close()

    with watch:
        loop.run(debate)


def lower(asked: Any, set_: Any) -> Any:
    """The lower of two limits, each of which may be missing."""
    return min((one for one in (asked, set_) if one is not None), default=None)


def finish(session: Session, given: dict[str, Any]) -> None:
    """Print what the debate came to."""
    from council.next.reports.state import state
    from council.next.terminal.output import echo, print_json
    from council.next.terminal.show import result

    if given["as_json"]:
        print_json(state(session))
    else:
        echo(result(session))
    kind = session.outcome.kind
    wanted = [one.strip() for one in given["require"].split(",") if one.strip()]
    if wanted and kind not in wanted:
        raise Unmet(f"it came to: {kind}; required: {given['require']}")
    if code := session.outcome.exit_code:
        raise click.exceptions.Exit(code)


@click.command()
@SESSION
@click.option("--by", metavar="NAME", default="", help="Who asks (default: Git's user.name, or the login).")
@click.pass_obj
def pause(context: Context, /, session: str, by: str) -> None:
    """Ask the run of SESSION, in another terminal, to stop before its next turns. `council recover` continues."""
    from council.next.config import identity, places
    from council.next.record import desk
    from council.next.terminal.output import echo

    found = places.find_session(load_settings({}).home, session)
    if not desk.pause(found.folder, by or identity.user_name()):
        raise UsageError(f"{found.id} is not running; nothing to pause")
    echo(f"{found.id} pauses before its next turns; `council recover {found.id}` continues it")
