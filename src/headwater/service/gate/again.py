"""An endless answer (a stream), which continues only while its caller would still be admitted."""

import asyncio
from collections.abc import AsyncGenerator, AsyncIterator, Awaitable, Callable
from contextlib import aclosing
from typing import Final

from fastapi import Request

from headwater.errors import HeadwaterError

ADMITTED_AGAIN: Final = "headwater.admitted_again"
"""The key in a request's scope for the function that admits it again; absent without access control."""
_EVERY_S: Final = 1.0


async def while_admitted(request: Request, stream: AsyncGenerator[bytes, None]) -> AsyncIterator[bytes]:
    """The stream, until a key is revoked or a token expires; re-checked once per second in which anything is sent."""
    admit: Callable[[], Awaitable[object]] | None = request.scope.get(ADMITTED_AGAIN)
    now_s = asyncio.get_running_loop().time
    admitted_s = now_s()
    async with aclosing(stream):
        async for each in stream:
            if admit is not None and now_s() - admitted_s >= _EVERY_S:
                try:
                    await admit()
                except HeadwaterError:
                    return
                admitted_s = now_s()
            yield each
