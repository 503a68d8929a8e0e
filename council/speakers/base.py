"""What a speaker is: it turns a brief into a reply, and declares what it can do. It knows no sessions and no plans."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Mapping
from dataclasses import asdict, dataclass, field
from enum import Enum, IntEnum
from pathlib import Path
from typing import TYPE_CHECKING, Any, Protocol

from council.config.models import Model, Price
from council.errors import Used
from council.record.desk import Desk
from council.workflow.model import Reply

if TYPE_CHECKING:
    from council.config.settings import Config
    from council.engine.planner import Due
    from council.engine.scene import Turn
    from council.record.session import Session


@dataclass(frozen=True)
class Shown:
    """What a person reads in place of the brief: `fit` lays it out for a number of columns and rows.

    `read` turns a line into answers by name, where there are options to choose from: `menu` names them. `missing` are
    the answers that are still needed then.
    """

    fit: Callable[[int, int], str]
    read: Callable[[str], Mapping[str, str]]
    missing: Callable[[Mapping[str, str]], Iterable[str]]
    menu: str = ""


@dataclass(frozen=True)
class Brief:
    """The prompt of a turn: `shared` is the same for every seat of a batch, `own` is this seat's part.

    `marks` are offsets into `shared`, the ends of prefixes that later briefs may repeat. `keep` are the offsets up to
    which this call asks the API to cache it. `reply`, `openings` and `casts` are for a speaker that can force its model
    to follow them: the answers that the prompt asks for, how the seat begins its sentences, and the known seats for an
    answer that names seats. `persona` is the text about the seat that the prompt contains. `person` means that no model
    may speak here; `shown` is what that person reads, `refuse` says what is wrong with the answers that they gave so
    far, on the `desk` is what they answer elsewhere, and `lapses` means that they are recorded as absent when the
    deadline passes. `work` is what a machine needs. Where a model `writes` the result of the debate, its refusal is a
    failed call: nobody else writes it.
    """

    turn: str
    seat: str
    shared: str
    own: str
    model: Model
    deadline: float = 300.0
    reply: Reply = ()
    openings: tuple[str, ...] = ()
    persona: str = ""
    marks: tuple[int, ...] = ()
    keep: tuple[int, ...] = ()
    person: bool = False
    shown: Shown | None = None
    lapses: bool = False
    writes: bool = False
    casts: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    refuse: Callable[[Mapping[str, Any]], str] = field(default=lambda _: "", compare=False)
    desk: Desk | None = None
    work: Any = None
    problems: tuple[str, ...] = ()  # why the first reply could not be read, where this one is asked for again

    @property
    def text(self) -> str:
        return self.shared + self.own


@dataclass(frozen=True)
class Usage:
    """Tokens as the API counts them. `input` were neither read from the cache nor written to it.

    None is a count that the API did not report, which is not zero.
    """

    input: int | None = 0
    cache_read: int = 0
    cache_write: int = 0
    output: int | None = 0

    def __add__(self, other: Usage) -> Usage:
        sent = None if self.input is None or other.input is None else self.input + other.input
        received = None if self.output is None or other.output is None else self.output + other.output
        return Usage(sent, self.cache_read + other.cache_read, self.cache_write + other.cache_write, received)


COUNTS = {  # ours, and what the Messages API calls them
    "input": "input_tokens",
    "cache_read": "cache_read_input_tokens",
    "cache_write": "cache_creation_input_tokens",
    "output": "output_tokens",
}
MOST_TOKENS = 100_000_000  # no call has more; a larger count is no count


def usage_of(counts: Mapping[str, Any]) -> Usage:
    """The usage that the API reports under its own names. An API without a cache does not mention it."""
    found = {ours: read_count(counts.get(theirs)) for ours, theirs in COUNTS.items()}
    return Usage(found["input"], found["cache_read"] or 0, found["cache_write"] or 0, found["output"])


def read_count(value: object) -> int | None:
    """A number of tokens as an API reports it; None if it is missing, or no such number."""
    return value if isinstance(value, int) and not isinstance(value, bool) and 0 <= value <= MOST_TOKENS else None


def used(usage: Usage, usd: float | None) -> Used:
    """What a call used, for the error that it ends in."""
    return {**asdict(usage), "usd": usd}


def read_name(value: object) -> str | None:
    """A model or an id as an API reports it; None if it is missing, or no text."""
    return value if isinstance(value, str) else None


@dataclass(frozen=True)
class Spoken:
    """What came back. `model` is the one that really answered and `call` its id for the answer; None if unknown. `by`
    is the person who answered, and `via` where. `recorded_by` is for replies that an assistant's members gave, `trial`
    for what a machine did.
    """

    body: str
    model: str | None = None
    stop: str = "end_turn"
    usage: Usage = field(default_factory=Usage)
    usd: float | None = None
    absent: str | None = None
    call: str | None = None
    by: str | None = None
    via: str | None = None
    recorded_by: str | None = None
    trial: Mapping[str, Any] | None = None


class Speaker(Protocol):
    """Raises CallFailed where another attempt may succeed, Denied where it cannot. Both say what the call used.

    Any other exception ends the run as a bug would. A speaker that inherits from this needs a name and `speak`.
    """

    name: str

    async def speak(self, brief: Brief, tell: Callable[[str], None]) -> Spoken:
        """Answer the brief. `tell` is called with pieces of the text as they arrive, if they arrive in pieces.

        An empty piece says that the answer has begun.
        """
        ...

    async def close(self) -> None:
        """Release what outlives a call."""
        return None  # noqa: RET501 (a body, so that a speaker with nothing to release inherits it)


class Billing(Enum):
    """How a speaker's calls are paid for, and so who knows what they cost."""

    FREE = "costs nothing"
    PRICES = "the prices in Config.md: a call is bounded before it is made"
    REPORTED = "known after each call, when the speaker reports it"
    UNKNOWN = "unknown"


class AutoOrder(IntEnum):
    """When `auto` tries a speaker: the lowest first, speakers of the same place by name."""

    KEY = 1  # an API key, or an endpoint that the user configured
    VENDOR_KEY = 2  # another vendor's API key
    PROGRAM = 3  # a program that is logged in
    SERVER = 4  # a model server on this machine
    EMBEDDED = 5  # a model that runs inside council


@dataclass
class Setup:
    """What a speaker may need when it is made.

    Without a `keyboard`, persons answer elsewhere. `source` is the session or script that a replay takes its words
    from, at the original speed if `paced`.
    """

    config: Config
    keyboard: bool = True
    source: str = ""
    paced: bool = False


@dataclass(frozen=True)
class Download:
    """What has to be fetched once before a speaker can speak. `fetch` is given a function that says a sentence, and one
    that shows how many bytes are here, of how many.
    """

    what: str
    size: str
    time: str
    folder: Path
    fetch: Callable[[Callable[[str], None], Callable[[int, int], None]], None]


class NotSetUp(Exception):
    """Something optional that `doctor` looked for is not there."""


@dataclass(frozen=True)
class Offer:
    """What a person must know before `auto` uses a speaker that it never uses unasked."""

    what: str
    quality: str
    time: str


@dataclass(frozen=True)
class Caption:
    """What a machine did, in a few words, and whether it went well: agree, disagree or mixed."""

    text: str = ""
    tone: str = ""


Check = tuple[str, Callable[[], str]]


@dataclass(frozen=True)
class SpeakerType:
    """What a speaker says of itself. Each speaker's file declares one as SPEAKER; `registry` finds it there.

    The rest of council asks these questions and never compares names, so a new speaker is one new file. The file is
    imported to answer any of them: keep its imports light, and import an SDK or a model where a call needs it.
    """

    name: str  # as in --speaker NAME; the file is called the same
    about: str  # one line, for the reference
    make: Callable[[Setup], Speaker] | None = None  # None: no program can call it
    billing: Billing = Billing.UNKNOWN
    caches_prompts: bool = False  # a prompt that begins as an earlier one costs less
    is_person: bool = False
    manual: bool = False  # replies are recorded with `council record`: an assistant asks the members
    machine: bool = False  # its seats' turns are made by council itself, by whatever speaker the others are
    replays: bool = False  # speaks the words of another session or of a script, for every seat
    calls_endpoints: bool = False  # calls the endpoints that the tiers name
    ignores_tiers: bool = False  # uses one model, whatever model the tiers name
    small: bool = False  # too small a model for answers that need a careful reader
    one_at_a_time: bool = False  # a call waits until the one before it has ended, in all debates of a process
    on_this_machine: bool = False  # slow but never lost, so a workflow's default time limits do not apply
    imports: tuple[str, ...] = ()  # modules worth importing in the background before the first call

    auto: AutoOrder | None = None  # None: `auto` never chooses it
    obstacle: Callable[[Config, Mapping[str, str]], str] = lambda *_: ""  # why it cannot speak here, or ""; cheap
    login: Callable[[], str] = lambda: ""  # why it is not logged in, or ""; slower, and only `auto` asks
    reason: Callable[[Config, Mapping[str, str]], str] = lambda *_: ""  # why `auto` can use it, as a clause
    terms: str = ""  # what its calls cost, where no price in Config.md says so
    offer: Callable[[], Offer | None] = lambda: None  # not None: `auto` uses it only after asking a person
    setup: str = ""  # what the user can do to make it available, as a clause
    checks: Callable[[Config], Iterable[Check]] = lambda _: ()  # what `doctor` looks at; may raise NotSetUp
    download: Callable[[], Download | None] = lambda: None  # None: there is nothing to fetch

    # A machine that tries candidates: the names that `run` may have for its seats. None: it runs nothing of that kind.
    benches: Callable[[Config], Collection[str]] | None = None
    # A machine's brief, from the session and the turn that is due, with what it needs for the job (`Brief.work`).
    job: Callable[[Session, Due], tuple[str, Any]] | None = None
    caption: Callable[[Mapping[str, Any]], Caption] = lambda _: Caption()  # what a receipt's `trial` says to readers
    shorten: Callable[[Turn], str] = lambda turn: turn.body  # what other seats read of a machine's turn

    own_model: Callable[[], str | None] = lambda: None  # the model it always uses, whatever the tier
    note: Callable[[str | None], str] = lambda _: ""  # what a reader of the transcript must know of that model

    @property
    def is_called(self) -> bool:
        """Whether its turns are calls of a model."""
        return not (self.is_person or self.machine)

    @property
    def free(self) -> bool:
        return self.billing is Billing.FREE

    @property
    def costs(self) -> bool:
        """Whether council pays for its calls: not for what an assistant's own members say."""
        return not (self.free or self.is_person or self.manual)

    @property
    def speaks_for_all(self) -> bool:
        """Whether it takes every turn, even of a seat that names a speaker of its own, but for a machine's."""
        return self.manual or self.replays

    def usd(self, spoken: Spoken, price: Price | None) -> float | None:
        """What a call cost, None if unknown: as reported, or by the way that this speaker is paid."""
        if spoken.usd is not None or self.billing not in (Billing.FREE, Billing.PRICES):
            return spoken.usd
        return 0.0 if self.free else cost(price, spoken.usage)


def cost(price: Price | None, usage: Usage) -> float | None:
    """The price of one call in US dollars, None if the model's price or its usage is unknown."""
    if price is None or usage.input is None or usage.output is None:
        return None
    prompt = usage.input + usage.cache_read + usage.cache_write
    long = price.long_over is not None and prompt > price.long_over
    per_input, per_output = (price.long_input, price.long_output) if long else (price.input, price.output)
    total = (
        usage.input * per_input
        + usage.output * per_output
        + usage.cache_read * price.cache_read
        + usage.cache_write * price.cache_write
    )
    return total / 1_000_000
