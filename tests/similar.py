"""Forty pairs of findings about the same kind of fault in two places of a document: what words alone take for one.

Each pair is two lines of a specification with what one member says of the first and another of the second. Whether the
two are given with a quote, with line numbers or without a place is for the caller to choose.
"""

from __future__ import annotations

import html
import json
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from council.reviews.entries import RaisedFinding
from council.reviews.locate import place
from council.reviews.model import Anchor, Document, Finding
from tests.helpers import MEMBERS, Ended, User

PLACES = ("quote", "lines", "none")
APART = 39  # lines between the two
TABLE = """
No index on users.email makes the lookup slow|Add an index|The table users is searched by email.
No index on orders.created makes the lookup slow|Add an index|The table orders is searched by created.

Admins may delete audit entries|Forbid it|Admins may delete entries of the audit log.
Admins may delete users|Forbid it|Admins may delete users at any time.

Backups are not encrypted|Say how backups are handled|Backups are copied to a disk in another building.
Backups are not tested|Say how backups are handled|Backups are made every night at three.

Old sessions must be invalidated after a password change|Say so|A password can be changed in the settings.
Old sessions must not be invalidated after a password change|Say so|A change of password ends the session.

SQL injection in the search|Bind parameters|The search builds its query from the text of the user.
SQL injection in the export|Bind parameters|The export builds its query from the chosen columns.

The upload has no limit of size|Limit the size|Photos can be uploaded by every member.
The import has no limit of size|Limit the size|Contacts can be imported from a file.

The retention of invoices is not defined|Define a retention period|Invoices are kept in the archive.
The retention of payslips is not defined|Define a retention period|Payslips are kept in the safe.

The webhook is retried for ever|Limit the retries to ten|A webhook that fails is sent again.
The mail is retried for ever|Limit the retries to ten|A mail that bounces is sent again.

The access token never expires|Let it expire after an hour|Clients keep their access token.
The refresh token never expires|Let it expire after a month|Clients keep their refresh token.

Phone numbers are logged in plain text|Mask them|Every call is logged with the phone number.
Addresses are logged in plain text|Mask them|Every delivery is logged with the address.

There is no rate limit on sign-in|Limit attempts by address|Users sign in with a name and a password.
There is no rate limit on password reset|Limit attempts by address|Users reset a password by mail.

Two clerks may edit a booking at the same time and lose changes|Use a version number|Clerks edit bookings.
Two clerks may edit a room at the same time and lose changes|Use a version number|Clerks edit rooms.

The error message of the payment form is unclear|Say what to do next|The payment form shows "Failed".
The error message of the address form is unclear|Say what to do next|The address form shows "Invalid".

Nobody is responsible for the rotation of the signing key|Name an owner|The signing key is rotated yearly.
Nobody is responsible for the rotation of the database key|Name an owner|The database key is rotated yearly.

The time zone of the start date is undefined|Use UTC|A course has a start date.
The time zone of the deadline is undefined|Use UTC|An exam has a deadline.

Cascade delete of a customer removes invoices|Forbid it|Deleting a customer deletes what belongs to it.
Cascade delete of a supplier removes invoices|Forbid it|Deleting a supplier deletes what belongs to it.

The cache of prices is never invalidated|Invalidate it on change|Prices are cached in memory.
The cache of permissions is never invalidated|Invalidate it on change|Permissions are cached in memory.

The queue of orders is unbounded|Bound it and push back|Orders wait in a queue.
The queue of refunds is unbounded|Bound it and push back|Refunds wait in a queue.

The migration of users cannot be rolled back|Keep the old column|The users are migrated in one step.
The migration of devices cannot be rolled back|Keep the old column|The devices are migrated in one step.

The name of a file is not escaped in the download header|Escape it|Downloads carry the name of the file.
The name of a file is not escaped in the preview page|Escape it|Previews show the name of the file.

The colour alone tells the status of an order|Add a symbol|An order is green or red.
The colour alone tells the status of a machine|Add a symbol|A machine is green or red.

The report has no paging and may be very long|Add paging|The report lists every sale.
The history has no paging and may be very long|Add paging|The history lists every change.

A lost device keeps access to the mail|Revoke it from the server|Devices hold a key for mail.
A lost device keeps access to the files|Revoke it from the server|Devices hold a key for files.

The public API has no version|Put a version into the path|Partners call the public API.
The partner API has no version|Put a version into the path|Shops call the partner API.

Rounding of the tax is not defined|Round half to even|The tax is computed for each line.
Rounding of the discount is not defined|Round half to even|The discount is computed for each order.

The consent to newsletters is assumed|Ask for it|New members get the newsletter.
The consent to tracking is assumed|Ask for it|New members are tracked.

The health check does not test the database|Test it|The health check answers 200.
The health check does not test the queue|Test it|The readiness check answers 200.

The password of the printer is in the manual|Remove it|The printer is set up as page 3 says.
The password of the router is in the manual|Remove it|The router is set up as page 9 says.

The fee for cancelling is shown only after payment|Show it before|A ticket can be cancelled for a fee.
The fee for rebooking is shown only after payment|Show it before|A ticket can be rebooked for a fee.

The stock may become negative when two people buy|Lock the row|Buying lowers the stock.
The stock may become negative when two people reserve|Lock the row|Reserving lowers the stock.

Import of duplicates creates two customers|Match by mail|Customers are imported on Mondays.
Import of duplicates creates two products|Match by number|Products are imported on Fridays.

Screen readers cannot use the date picker|Allow typing|A date is picked in a calendar.
Screen readers cannot use the colour picker|Allow typing|A colour is picked in a wheel.

The timeout of the search is not given|Give a timeout|A search asks three services.
The timeout of the checkout is not given|Give a timeout|A checkout asks three services.

Test data contains real names|Make up names|The staging server has data of March.
Test data contains real salaries|Make up salaries|The training server has data of March.

The alert for a full disk goes to nobody|Page the rota|An alert is raised at 90 percent of the disk.
The alert for a failed job goes to nobody|Page the rota|An alert is raised after a job fails.

Session ids are predictable|Use a random generator|A session id is the time of the sign-in.
Invoice ids are predictable|Use a random generator|An invoice id is the number of the day.

Deleting an account leaves photos behind|Delete them too|An account is deleted after a week.
Deleting an account leaves comments behind|Delete them too|A profile is deleted after a week.

The limit of 10 requests is too low|Raise it to 100|A client may send 10 requests a minute.
The limit of 10 uploads is too low|Raise it to 100|A client may send 10 uploads a minute.

The translation of the menu is missing|Translate it|The menu is in English.
The translation of the invoice is missing|Translate it|The invoice is in English.

A moderator can read private messages|Ask for a reason|Moderators open any message.
A moderator can read private notes|Ask for a reason|Moderators open any note.
"""


@dataclass(frozen=True)
class Similar:
    """Two findings that only look alike, each with the line of the document that it is about."""

    number: int
    issues: tuple[str, str]
    changes: tuple[str, str]
    lines: tuple[str, str]

    @property
    def document(self) -> Document:
        """A specification with the two lines far apart."""
        between = [f"Paragraph {number} says something else." for number in range(1, APART)]
        return Document("s.md", "\n".join(["# Specification", self.lines[0], *between, self.lines[1], ""]))

    def item(self, which: int, how: str, severity: str = "BLOCKING") -> str:
        """The finding as a member writes it into a list."""
        at = 2 if which == 0 else 2 + APART
        anchor = {"quote": f'(s.md) "{self.lines[which]}" ', "lines": f"(s.md:{at}) ", "none": ""}[how]
        said = f"{anchor}{self.issues[which]}. → {self.changes[which]}."
        return f"**{severity}:**\n- {severity[0]}1: {said}\n"

    def raised(self, which: int, how: str, severity: str = "blocking") -> RaisedFinding:
        """The finding of one seat, where it is found in the document."""
        at = 2 if which == 0 else 2 + APART
        anchor = {
            "quote": Anchor("s.md", quote=self.lines[which]),
            "lines": Anchor("s.md", at, at),
            "none": Anchor(),
        }[how]
        seat = ("architect", "designer")[which]
        finding = Finding("B1", severity, f"{self.issues[which]}.", f"{self.changes[which]}.", anchor)
        return RaisedFinding(seat, f"01-findings/{seat}", finding, place(finding, [self.document]))


def _parsed(number: int, block: str) -> Similar:
    first, second = (line.split("|") for line in block.splitlines())
    return Similar(number, (first[0], second[0]), (first[1], second[1]), (first[2], second[2]))


SIMILAR = tuple(_parsed(number, block) for number, block in enumerate(TABLE.strip().split("\n\n"), 1))


# ---- by the real program ----

FORMATS = ("md", "json", "sarif", "rdjson", "github")
NOTHING = "## Rulings\n\nnone\n\n## Findings\n\nNo findings.\n"
SPLIT = "## Rulings\n\n- B1b: different from B1: they are about two things.\n\n## Findings\n\nNo findings.\n"


def script(pair: Similar, how: str, which: tuple[int, ...], **challenges: str) -> dict[str, str]:
    """A review in which the architect reports the first of a pair, and the designer the second."""
    lists = {MEMBERS[at]: f"## Findings\n\n{pair.item(at, how)}" for at in which}
    said = {f"01-findings/{seat}": lists.get(seat, "## Findings\n\nNo findings.\n") for seat in MEMBERS}
    said |= {f"02-challenges/{seat}": challenges.get(seat, NOTHING) for seat in MEMBERS}
    return {**said, "04-synthesis/chair": "## Summary\n\nTake them up.\n"}


def review(user: User, said: dict[str, str], *options: str) -> Ended:
    path = user.write("script.json", json.dumps(said))
    return user.council("review", "s.md", "--speaker", "replay", "--from", path, *options)


def try_pair(root: Path, pair: Similar, how: str) -> Iterator[str]:
    """What is wrong with a pair in a whole review: its entries, what is shown of them, a baseline and a split."""
    user = User(root)
    user.write("s.md", pair.document.text)
    about = f"pair {pair.number} ({how})"
    first = review(user, script(pair, how, (0,)), "--format", "json", "--output", "known.json")
    both = review(user, script(pair, how, (0, 1)), "--baseline", "known.json")
    if (first.code, both.code) != (5, 5):
        yield f"{about}: exit codes {first.code} and {both.code} in place of 5: the baseline hides a new finding"
    texts = {
        form: user.council("review", "--session", "last", "--format", form, "--fail-on", "never").out
        for form in FORMATS
    }
    session = next(path for path in user.sessions if path.name == json.loads(texts["json"])["session"])
    texts |= {"page": html.unescape(user.council("show", "--html", session.name).out)}
    texts |= {"challenge": (session / "briefs/02-challenges/researcher.md").read_text("utf-8")}
    for name, text in texts.items():
        yield from (f"{about}: {name} does not show: {issue}" for issue in pair.issues if issue not in text)
    entries = json.loads(texts["json"])["findings"]
    if how != "none" and len(entries) != 2:
        yield f"{about}: {len(entries)} entries in place of 2"
    if how == "none" and len(entries) == 1:
        review(user, script(pair, how, (0, 1), researcher=SPLIT))
        apart = user.council("review", "--session", "last", "--format", "json", "--fail-on", "never").json["findings"]
        if [one["id"] for one in apart] != ["B1", "B1b"]:
            yield f'{about}: a member\'s "different from" does not split it: {[one["id"] for one in apart]}'
