"""Sign an event."""

from typing import Any, NamedTuple

from headwater.errors import InvalidEventError
from headwater.signing import canonical
from headwater.signing.chain import CHAIN, Link, chain_facet
from headwater.signing.facet import SIGNATURE, as_event, run_facets, signature_facet
from headwater.signing.keys import NodeKey


def sign_event(raw: bytes, key: NodeKey) -> bytes:
    """Return the event in canonical form with its signature in `run.facets.signature`, in place of any other there.

    The event claims no place in a chain. So sign those who keep none, as the vectors have it that all implementations
    share; what our own programs send is signed by `sign_in_chain`.

    The signature covers the canonical form without that facet, and with `"facets":{}` if the run has no other.

    Raises:
        MalformedJsonError: no JSON.
        InvalidEventError: a key stands twice, the producer is missing, or there is no run: the events of jobs and
            datasets have no place for a signature and are sent without one.
    """
    return _signed(as_event(canonical.read(raw)), key)


class Linked(NamedTuple):
    """A signed event that has its place in a chain."""

    raw: bytes
    payload_hash: str


def sign_in_chain(raw: bytes, key: NodeKey, link: Link) -> Linked | None:
    """Sign an event of a run with its place in the node's chain, in place of any that it claims.

    Returns:
        None for an event of a job or a dataset, which has no place for either.

    Raises:
        MalformedJsonError, InvalidEventError: as `sign_event`, but for a run that is missing.
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
