"""What a request's caller may see; absent without access control, where everybody sees everything."""

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
"""The key in a request's scope."""


@dataclass(frozen=True, slots=True)
class Sight:
    """The caller, and what they must not learn."""

    caller: Caller
    covers: Callable[[str], bool] | None
    """Whether the answer may name a namespace; None: all of them."""
    redactor: Redactor | None
    """The filter of the answer; None: nothing is hidden."""
    knows_restricted: bool
    """Whether the caller may know restricted columns."""
    may_bring: Callable[[Entry], ForbiddenError | None] | None = None
    """Returns why they may not post an event, if so."""
    may_see: WhyNotThen | None = None
    """Returns why they may not see a past, if so."""
    wrote: Mapping[str, str] = field(default_factory=dict)
    """What they wrote, by what replaced it in the request."""


def sight_of(request: Request) -> Sight | None:
    """The caller; None without access control."""
    sight: Sight | None = request.scope.get(SIGHT)
    return sight


async def _sees(request: Request) -> Callable[[str], bool] | None:
    sight = sight_of(request)
    return None if sight is None else sight.covers


_User = Annotated[
    str | None, Header(alias="x-headwater-user", description="The user who makes the change, recorded with it.")
]


async def _by(request: Request, user: _User = None) -> str | None:
    sight = sight_of(request)
    return user or None if sight is None else sight.caller.name


async def _is_redacted(request: Request) -> bool:
    sight = sight_of(request)
    return sight is not None and sight.redactor is not None


Sees = Annotated[Callable[[str], bool] | None, Depends(_sees)]
"""Which namespaces a list may name; None: all."""
By = Annotated[str | None, Depends(_by)]
"""The author of a write: the authenticated caller, else the name in the header."""
IsRedacted = Annotated[bool, Depends(_is_redacted)]
"""Whether names are removed from the answer."""
