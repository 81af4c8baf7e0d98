"""An answer that does not end by itself: given only as long as whoever asked for it would still be let in."""

import asyncio
from collections.abc import AsyncGenerator, AsyncIterator, Awaitable, Callable
from contextlib import aclosing
from typing import Final

from fastapi import Request

from headwater.errors import HeadwaterError

ADMITTED_AGAIN: Final = "headwater.admitted_again"
"""Where a request's scope has how to let it in once more; nowhere without access control."""
_EVERY_S: Final = 1.0


async def while_admitted(request: Request, told: AsyncGenerator[bytes, None]) -> AsyncIterator[bytes]:
    """What is told, until a key is revoked or a token has run out; looked at each second in which anything is told."""
    admit: Callable[[], Awaitable[object]] | None = request.scope.get(ADMITTED_AGAIN)
    now_s = asyncio.get_running_loop().time
    admitted_s = now_s()
    async with aclosing(told):
        async for each in told:
            if admit is not None and now_s() - admitted_s >= _EVERY_S:
                try:
                    await admit()
                except HeadwaterError:
                    return
                admitted_s = now_s()
            yield each
