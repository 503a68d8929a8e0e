"""Who speaks: what the user named, else what is configured, else what `auto` finds; and other speakers for some seats.

`auto` takes the configured endpoints and only those; else an endpoint whose key is set; a program that is logged in; at
a terminal a server on this machine or the embedded model, after asking. It never falls below what is configured.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping

from council.next import rooms
from council.next.config.settings import Settings
from council.next.engine.planner import Due
from council.next.errors import AuthError, UsageError
from council.next.speakers.base import Offer, Rank, Speaker, speakers, using
from council.next.text import join_words
from council.next.workflow.model import HUMAN

AUTO, API, REPLAY = "auto", "api", "replay"
Say = Callable[[str], None]
Ask = Callable[[str], bool]  # a question that is answered with yes or no; None where nobody can be asked


def choose(settings: Settings, wanted: str = "", source: str = "", ask: Ask | None = None, say: Say = print) -> Speaker:
    """The speaker of a debate. One line says who it is, what it costs, and who else is here."""
    name = wanted or (REPLAY if source else settings.speaker) or AUTO
    if name != AUTO:
        speaker: Speaker = speakers[name](settings, source)
        if speaker.machine:
            raise UsageError(f"{name} speaks only for seats that a workflow gives it; name another speaker")
        if why := speaker.obstacle():
            raise AuthError(f"{name} cannot speak: {why}")
        say(describe(speaker, "named" if wanted or source else "configured"))
        return speaker
    if source:
        raise UsageError("--from is for a replay: leave --speaker out, or write --speaker replay")
    return choose_first(settings, ask, say)


def choose_first(settings: Settings, ask: Ask | None, say: Say) -> Speaker:
    """The first that can speak. Servers and embedded models are looked for only where a person can agree to them."""
    reasons: list[str] = []
    for terminal in (False, True) if ask else (False,):
        found = offers(settings, terminal)
        for offer in found:
            if offer.speaker is None or (terminal and not offer.question):
                continue  # it is only named, or was asked in the first round
            if why := offer.speaker.obstacle():
                reasons.append(why)
                if offer.rank == Rank.CONFIGURED:
                    raise AuthError(f"{why}, or name another speaker with --speaker")
            elif not offer.question or (ask and ask(offer.question)):
                others = [f"{one.words} ({one.why})" for one in found if one is not offer]
                say(describe(offer.speaker, offer.why, others))
                return offer.speaker
    named = [f"{one.words} ({one.why})" for one in offers(settings, False) if one.speaker is None]
    also = f". Not chosen by itself: {join_words(named)}" if named else ""
    why = f" ({'; '.join(reasons)})" if reasons else ""
    keys = join_words(sorted({one.key for one in settings.endpoints.values() if one.key}))
    remedies = f"set {keys or 'a key'}, log in to `claude`, or replay with --from"
    raise AuthError(f"nobody can speak here{why}{also}. You can {remedies}; `council help keys` says more")


def offers(settings: Settings, terminal: bool) -> list[Offer]:
    """What `auto` may choose, the best first. Rooms are asked only at a terminal: what they have must be agreed to."""
    for name in rooms.names("speaker") if terminal else ():
        rooms.load("speaker", name)
    found = [offer for one in speakers.types() for offer in one.offers(settings, terminal)]
    return sorted(found, key=lambda offer: offer.rank)


def describe(speaker: Speaker, why: str, others: list[str] | None = None) -> str:
    """The line that says who speaks."""
    about = "; ".join(filter(None, (why, speaker.price())))
    return f"{speaker.name} speaks ({about})" + (f"; also here: {join_words(others)}" if others else "")


# ---- others for some seats ----


class Mix(Speaker):
    """One speaker for most seats, and others for those that the user gives one of their own."""

    def __init__(self, settings: Settings, usual: Speaker, seats: Mapping[str, Speaker]) -> None:
        super().__init__(settings)
        self.usual, self.seats = usual, seats

    def voice(self, due: Due, named: Speaker | None = None) -> Speaker | None:
        own = self.seats.get(due.seat.name)
        return own.voice(due) if own else self.usual.voice(due, named)

    def obstacle(self) -> str:
        return "; ".join(dict.fromkeys(filter(None, (one.obstacle() for one in (self.usual, *self.seats.values())))))

    async def close(self) -> None:
        for one in (self.usual, *self.seats.values()):
            await one.close()


def read_seats(settings: Settings, given: Mapping[str, str]) -> dict[str, Speaker]:
    """`--seat architect=openai/NAME`, `=NAME`, `=claude` or `=claude/NAME`: the speaker of each seat."""
    found: dict[str, Speaker] = {}
    for seat, word in given.items():
        name, slash, model = word.partition("/")
        if seat == HUMAN:
            raise UsageError(f"--seat {seat}={word}: only a person speaks there")
        if name not in settings.endpoints and speakers.knows(name):
            speaker: Speaker = speakers[name](using(settings, model) if slash else settings)
        else:
            speaker = speakers[API](using(settings, word))
        if why := speaker.obstacle():
            raise AuthError(f"--seat {seat}={word}: {why}")
        found[seat] = speaker
    return found
