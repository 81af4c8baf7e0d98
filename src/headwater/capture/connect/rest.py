"""Connect's REST API, for the version, which is not in its topics."""

import logging

import httpx

log = logging.getLogger(__name__)

_TIMEOUT_S = 3.0


def version_at(url: str, network: httpx.BaseTransport | None = None) -> str | None:
    """The version of Kafka Connect from a worker; None if it does not answer, since events can do without.

    Source: Kafka documentation, Connect REST API, `GET /`
    """
    try:
        with httpx.Client(transport=network, timeout=_TIMEOUT_S) as client:
            version = client.get(url).raise_for_status().json()["version"]
    except (httpx.HTTPError, httpx.InvalidURL, ValueError, LookupError, TypeError) as fault:
        log.warning("cannot read the version of Kafka Connect from its REST API", extra={"fault": type(fault).__name__})
        return None
    return version if isinstance(version, str) else None
