"""Bounds what an endpoint may send: a body that unpacks to gigabytes, or that never ends, is cut off."""

from __future__ import annotations

from collections.abc import AsyncIterator
from typing import Any

MOST_ERROR = 100_000  # bytes of the body of an error, whose rest is not read
MOST_ANSWER = 16_000_000  # bytes of a stream
MOST_EVENT = 1_000_000  # bytes of a stream without an end of an event


async def bound_body(response: Any) -> None:
    """A hook for the HTTP client. Nothing compressed was asked for, so nothing is unpacked."""
    import asyncio

    import httpx2

    if (encoding := response.headers.get("content-encoding", "identity")) != "identity":
        raise httpx2.DecodingError(f"it sent a body that is compressed ({encoding[:20]}), which was not asked for")

    class BoundedBody(httpx2.AsyncByteStream):
        """The body in pieces. Other tasks run between them, so a deadline is noticed in time."""

        def __init__(self, body: Any, cut: bool) -> None:
            self.body, self.cut = body, cut

        async def __aiter__(self) -> AsyncIterator[bytes]:
            size = event = 0
            async for piece in self.body:
                await asyncio.sleep(0)
                size += len(piece)
                ended = max(piece.rfind(end) for end in (b"\n\n", b"\r\r", b"\r\n\r\n"))
                event = event + len(piece) if ended < 0 else len(piece) - ended
                if self.cut and size > MOST_ERROR:
                    return
                if size > MOST_ANSWER or event > MOST_EVENT:
                    raise httpx2.DecodingError(f"it sent more than {min(size, MOST_ANSWER):,} bytes")
                yield piece

        async def aclose(self) -> None:
            await self.body.aclose()

    response.stream = BoundedBody(response.stream, response.status_code != 200)
