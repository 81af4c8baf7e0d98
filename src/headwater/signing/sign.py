"""Sign an event."""

from typing import Any, NamedTuple

from headwater.errors import InvalidEventError
from headwater.signing import canonical
from headwater.signing.chain import CHAIN, Link, chain_facet
from headwater.signing.facet import SIGNATURE, as_event, run_facets, signature_facet
from headwater.signing.keys import NodeKey


def sign_event(raw: bytes, key: NodeKey) -> bytes:
    """Return the event in canonical form with its signature in `run.facets.signature`, replacing any other.

    The event gets no position in a chain, as in the test vectors that all implementations share; our own programs use
    `sign_in_chain`. The signature covers the canonical form without that facet, and with `"facets":{}` if the run has
    no other.

    Raises:
        MalformedJsonError: not JSON.
        InvalidEventError: a duplicate key, a missing producer, or no run: job events and dataset events cannot carry a
            signature and are sent without one.
    """
    return _signed(as_event(canonical.read(raw)), key)


class Linked(NamedTuple):
    """A signed event with a position in a chain."""

    raw: bytes
    payload_hash: str


def sign_in_chain(raw: bytes, key: NodeKey, link: Link) -> Linked | None:
    """Sign a run event with its position in the node's chain, replacing any that it claims.

    Returns:
        None for a job event or dataset event, which can carry neither.

    Raises:
        MalformedJsonError, InvalidEventError: as `sign_event`, except for a missing run.
    """
    event = as_event(canonical.read(raw))
    facets = run_facets(event)
    if facets is None:
        return None
    facets[CHAIN] = chain_facet(link, event.get("producer"))
    signed = _signed(event, key)
    return Linked(signed, facets[SIGNATURE]["payloadHash"])


def _signed(event: dict[str, Any], key: NodeKey) -> bytes:
    facets = run_facets(event)
    if facets is None:
        raise InvalidEventError("run: missing; only the events of runs can be signed")
    producer = event.get("producer")
    if not isinstance(producer, str):
        raise InvalidEventError("producer: expected a string")
    facets.pop(SIGNATURE, None)
    facets[SIGNATURE] = signature_facet(canonical.write(event), producer, key)
    return canonical.write(event)
