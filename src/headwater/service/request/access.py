"""The dependencies of routes: the service that `create_app` builds, and the read model that a request asks for."""

from asyncio import Lock
from collections.abc import Callable, Coroutine, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Annotated, Final, NamedTuple
from weakref import WeakValueDictionary

from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PublicKey
from fastapi import Depends, Request
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from headwater.errors import HeadwaterError
from headwater.model.facts import Fact
from headwater.service.background import IdleWorker, collect_in_slices
from headwater.service.feed.feed import Feed
from headwater.service.http.as_of import AsOf, AsOfTime, LogSize, begin_us, written
from headwater.service.ingest.intake import Intake
from headwater.service.knowledge.knowledge import Knowledge
from headwater.service.knowledge.touched import Touched
from headwater.service.log.proofs import Proofs
from headwater.service.metrics import Metrics
from headwater.service.past.pasts import Past, Pasts
from headwater.store.reader import AnotherReader
from headwater.store.until import ReaderUntil

Replaying = Coroutine[None, None, Knowledge]

WhyNotThen = Callable[[Knowledge], HeadwaterError | None]
"""Returns why the caller may not see a past, or None if they may."""
WHY_NOT_THEN: Final = "headwater.why_not_then"
"""The key for it in a request's scope; absent without access control."""
_STATED_BOUNDS: Final = "headwater.as_of"
"""The key in a request's scope for the bounds of the answer."""


class KeyStore(NamedTuple):
    """The keys trusted by configuration, and the folder of one-time tokens; None: tokens are not accepted."""

    configured: Mapping[str, Ed25519PublicKey]
    tokens: Path | None


@dataclass(frozen=True, slots=True, kw_only=True)
class Service:
    """One lineage service."""

    knowledge: Knowledge
    pasts: Pasts
    intake: Intake
    proofs: Proofs
    feed: Feed
    metrics: Metrics
    idle_workers: tuple[IdleWorker, ...]
    body_limit: int
    now_us: Callable[[], int]
    """The clock: microseconds since 1970, UTC."""
    key_store: KeyStore
    new_id: Callable[[], str]
    """Returns a unique id."""
    creating: WeakValueDictionary[str, Lock] = field(default_factory=WeakValueDictionary)
    """Locks by the ids of runs being created over the API."""
    on_learned: list[Callable[[Sequence[Fact], Touched], None]] = field(default_factory=list)
    """Called with the facts of each event and the nodes it touched, once the graph has learned it."""

    def another_reader(self, knowledge: Knowledge) -> AnotherReader | None:
        """Opens a reader of the log for another thread; None for a past, which reads through its own store."""
        return self.pasts.another_reader if knowledge is self.knowledge else None

    def another_log_reader(self, knowledge: Knowledge) -> AnotherReader | None:
        """Opens a reader for another thread, for the log only; None for a past with a temporary store of its own."""
        if isinstance(knowledge.store, ReaderUntil):
            return knowledge.store.another_log(self.pasts.another_reader)
        return self.another_reader(knowledge)


def service_of(request: Request) -> Service:
    """The service that the request came to."""
    service: Service = request.app.state.service
    return service


async def _service(request: Request) -> Service:  # async: a plain function would be run in another thread
    return service_of(request)


async def past_of(request: Request, bounds: AsOf, *, replayed: bool = False) -> Past:
    """The state within these bounds.

    Raises:
        ForbiddenError: the caller may not see it.
    """
    service = service_of(request)
    past = await service.pasts.past(bounds, replayed=replayed)
    why_not: WhyNotThen | None = request.scope.get(WHY_NOT_THEN)
    if why_not is not None and past.knowledge is not service.knowledge and (fault := why_not(past.knowledge)):
        raise fault
    return past


async def _known(request: Request, bounds: AsOf, *, replayed: bool = False) -> Knowledge:
    past = await past_of(request, bounds, replayed=replayed)
    state_bounds(request, past.as_of)
    return past.knowledge


async def _knowledge(request: Request, as_of: AsOfTime = None, log_size: LogSize = None) -> Knowledge:
    return await _known(request, AsOf(as_of, log_size))


async def _replay(request: Request, as_of: AsOfTime = None, log_size: LogSize = None) -> Callable[[], Replaying]:
    return lambda: _known(request, AsOf(as_of, log_size), replayed=True)


async def _until(request: Request, log_size: LogSize = None) -> Callable[[int], Replaying]:
    async def known_until(time_us: int) -> Knowledge:
        return await _read_through(await _known(request, AsOf(time_us, log_size)))

    return known_until


def state_bounds(request: Request, as_of: AsOf) -> None:
    """Set the bounds that the answer states in its headers."""
    request.scope[_STATED_BOUNDS] = as_of


ServiceHere = Annotated[Service, Depends(_service)]
Known = Annotated[Knowledge, Depends(_knowledge)]
"""The read model for now, or as of the request's `asOf` and `logSize`."""
Replay = Annotated[Callable[[], Replaying], Depends(_replay)]
"""Returns the same by replaying the log: for when `Known` cannot tell when names were last linked."""
Until = Annotated[Callable[[int], Replaying], Depends(_until)]
"""Returns the read model as of a time (microseconds since 1970) and the request's `logSize`, as `ReadThrough`."""


async def _now(request: Request, _: Known, as_of: AsOfTime = None) -> int:
    if as_of is not None:
        return begin_us(as_of)
    now_us, bounds = service_of(request).intake.now_us(), request.scope[_STATED_BOUNDS]
    until_us = max(now_us, bounds.time_us or now_us)  # not before an event that counts
    state_bounds(request, bounds._replace(time_us=until_us))
    return now_us


Now = Annotated[int, Depends(_now)]
"""The time of the request: its `asOf`, or now, which the answer then states. Microseconds since 1970, UTC."""


async def _summed(knowledge: Known) -> Knowledge:
    await collect_in_slices(knowledge.catch_up())
    return knowledge


async def _grouped(knowledge: Known) -> Knowledge:
    for tallies in (knowledge.job_tallies, knowledge.dataset_tallies):
        await collect_in_slices(tallies.catch_up_namespace_times())
    return knowledge


async def _counted(knowledge: Known) -> Knowledge:
    await collect_in_slices(knowledge.catch_up_times())
    return knowledge


async def _jobs_counted(knowledge: Known) -> Knowledge:
    await collect_in_slices(knowledge.job_tallies.catch_up_times())
    return knowledge


async def _datasets_counted(knowledge: Known) -> Knowledge:
    await collect_in_slices(knowledge.dataset_tallies.catch_up_times())
    return knowledge


async def _read_through(knowledge: Known) -> Knowledge:
    await collect_in_slices(knowledge.read_ahead())
    await collect_in_slices(knowledge.derive_ahead())
    return knowledge


Summed = Annotated[Knowledge, Depends(_summed)]
"""As `Known`, with all jobs and datasets counted; the work is done in time slices, also below."""
Grouped = Annotated[Knowledge, Depends(_grouped)]
"""As `Summed`; for a past, also the first and last event by then of each namespace is known."""
Counted = Annotated[Knowledge, Depends(_counted)]
"""As `Summed`; for a past, also the first and last event by then of each job and dataset is known."""
JobsCounted = Annotated[Knowledge, Depends(_jobs_counted)]
"""As `Counted`, for jobs only."""
DatasetsCounted = Annotated[Knowledge, Depends(_datasets_counted)]
"""As `Counted`, for datasets only."""
ReadThrough = Annotated[Knowledge, Depends(_read_through)]
"""As `Known`, with all column lineage facets parsed, which is needed to find what a column feeds."""


class SaysAsOf:
    """ASGI middleware: answers state their bounds in headers, which can be sent back as parameters."""

    def __init__(self, app: ASGIApp) -> None:
        self._app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Pass the request on."""

        async def saying(message: Message) -> None:
            if message["type"] == "http.response.start" and (bounds := scope.get(_STATED_BOUNDS)) is not None:
                message["headers"] = [*message["headers"], *_headers(bounds)]
            await send(message)

        await self._app(scope, receive, saying if scope.get("method") == "GET" else send)


def _headers(bounds: AsOf) -> list[tuple[bytes, bytes]]:
    return [
        (b"headwater-as-of", written(bounds.time_us or 0).encode()),
        (b"headwater-log-size", b"%d" % (bounds.log_size or 0)),
    ]
