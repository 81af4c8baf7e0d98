"""How routes get at the service: everything a route needs is in one place, put there by `create_app`."""

from dataclasses import dataclass
from typing import Annotated

from fastapi import Depends, Request

from headwater.service.ahead import Ahead
from headwater.service.feed import Feed
from headwater.service.intake import Intake
from headwater.service.knowledge import Knowledge
from headwater.service.metrics import Metrics


@dataclass(frozen=True, slots=True)
class Service:
    """One lineage service."""

    knowledge: Knowledge
    intake: Intake
    feed: Feed
    metrics: Metrics
    ahead: Ahead
    body_limit: int


def service_of(request: Request) -> Service:
    """The service that the request came to."""
    service: Service = request.app.state.service
    return service


async def _service(request: Request) -> Service:  # async: a plain function would be run in another thread
    return service_of(request)


async def _knowledge(request: Request) -> Knowledge:
    return service_of(request).knowledge


ServiceHere = Annotated[Service, Depends(_service)]
Known = Annotated[Knowledge, Depends(_knowledge)]
