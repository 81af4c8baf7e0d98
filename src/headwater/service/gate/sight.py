"""What a request's caller may see; without access control there is none, and everybody sees everything."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Annotated, Final

from fastapi import Depends, Header, Request

from headwater.access.callers import Caller
from headwater.access.redaction import Redactor
from headwater.errors import ForbiddenError
from headwater.service.request.access import WhyNotThen
from headwater.store.entries import Entry

SIGHT: Final = "headwater.sight"
"""Where a request's scope has it."""


@dataclass(frozen=True, slots=True)
class Sight:
    """Who asks, and what they may not know."""

    caller: Caller
    covers: Callable[[str], bool] | None
    """Whether a namespace is among those that the answer may name; None: all are."""
    redactor: Redactor | None
    """What is laid over the answer; None: nothing is hidden from them."""
    may_bring: Callable[[Entry], ForbiddenError | None] | None = None
    """Why an event may not be brought by them, if it may not."""
    may_see: WhyNotThen | None = None
    """Why what was known then may not be seen by them, if it may not."""
    wrote: Mapping[str, str] = field(default_factory=dict)
    """What they wrote, by what the request has instead of it."""


def sight_of(request: Request) -> Sight | None:
    """Who asks; None where everybody may."""
    sight: Sight | None = request.scope.get(SIGHT)
    return sight


async def _sees(request: Request) -> Callable[[str], bool] | None:
    sight = sight_of(request)
    return None if sight is None else sight.covers


_User = Annotated[
    str | None, Header(alias="x-headwater-user", description="Who says it; kept in the log with what was said.")
]


async def _by(request: Request, told: _User = None) -> str | None:
    sight = sight_of(request)
    return told or None if sight is None else sight.caller.name


async def _is_redacted(request: Request) -> bool:
    sight = sight_of(request)
    return sight is not None and sight.redactor is not None


Sees = Annotated[Callable[[str], bool] | None, Depends(_sees)]
"""Which namespaces a list may name; None for all."""
By = Annotated[str | None, Depends(_by)]
"""Who says it: the caller who is known, else whom the header names."""
IsRedacted = Annotated[bool, Depends(_is_redacted)]
"""Whether names are taken out of the answer."""
