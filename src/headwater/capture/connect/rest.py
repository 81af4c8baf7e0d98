"""Connect's REST API, for the version, which is not in its topics."""

import logging

import httpx

from headwater.errors import SetupError
from headwater.http_client import opened_client

log = logging.getLogger(__name__)

_TIMEOUT_S = 3.0


def version_at(url: str, network: httpx.BaseTransport | None = None) -> str | None:
    """The version of Kafka Connect from a worker; None if it does not answer, since events can do without.

    Source: Kafka documentation, Connect REST API, `GET /`
    """
    try:
        with opened_client(transport=network, timeout=_TIMEOUT_S) as client:
            version = client.get(url).raise_for_status().json()["version"]
    except (SetupError, httpx.HTTPError, httpx.InvalidURL, ValueError, LookupError, TypeError) as fault:
        why = str(fault) if isinstance(fault, SetupError) else type(fault).__name__
        log.warning("cannot read the version of Kafka Connect from its REST API", extra={"fault": why})
        return None
    return version if isinstance(version, str) else None
