"""The small model embedded on this machine: fetched once, held to a grammar.

It is chosen by name or after asking a person, never as a fallback.
"""

from __future__ import annotations

from collections.abc import Iterable
from functools import partial

from council.record.files import tilde
from council.speakers.base import AutoOrder, Billing, Check, Download, NotSetUp, Offer, Setup, Speaker, SpeakerType
from council.speakers.local import download

FETCHING = "about two minutes at 10 MB/s"
DEBATING = "a debate takes one to seven minutes on two cores"  # as measured, idle and busy


def _make(_: Setup) -> Speaker:
    from council.speakers.local.speaker import LocalSpeaker

    return LocalSpeaker()


def _download() -> Download | None:
    here = download.place()
    if here.complete:
        return None
    fetch = partial(download.fetch, download.source(), here)
    return Download("the embedded model", download.weight(here), FETCHING, here.folder, fetch)


def _offer() -> Offer:
    """Where it is not here yet, the time that the download takes comes first."""
    missing = _download()
    fetching = f"to download {missing.size}, once, {missing.time}; " if missing else ""
    return Offer("the embedded model", _note(download.place().gguf.stem), f"{fetching}{DEBATING}")


def _checks(_: object) -> Iterable[Check]:
    yield "embedded model", _state


def _state() -> str:
    """Whether it is here, could be fetched, or cannot run on this machine."""
    source, here = download.source(), download.place()
    if why := download.obstacle():
        raise NotSetUp(f"cannot run here: {why}")
    if here.complete:
        size = download.gigabytes(here.gguf.stat().st_size)
        return f"{here.gguf.stem}, {size}, at {tilde(here.gguf)}"
    room = download.room_for(source, here)
    advice = "`council run --speaker local` fetches it" if room.enough else room.advice
    raise NotSetUp(f"not fetched; that takes {room}; {advice}")


def _note(model: str | None) -> str:
    return download.SMALL_PRINT if model in (None, download.NAME) else f"{model}, run on this machine"


SPEAKER = SpeakerType(
    name="local",
    about="a small model embedded on this machine: no key, no price, one size for all tiers",
    make=_make,
    billing=Billing.FREE,
    ignores_tiers=True,
    small=True,
    one_at_a_time=True,
    on_this_machine=True,
    auto=AutoOrder.EMBEDDED,
    obstacle=lambda *_: download.obstacle(),
    offer=_offer,
    setup="add `--speaker local`, which fetches a small model (1.1 GB, once): fine for trying council, "
    "not for decisions",
    checks=_checks,
    download=_download,
    own_model=lambda: download.place().gguf.stem,
    note=_note,
)
