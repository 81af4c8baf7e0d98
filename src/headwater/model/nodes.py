"""What a node says of itself: the place of an event in its record, heartbeats, and what it had to drop.

`ChainLink.said` is JSON with sorted keys, each only where there is something to say:

    follows     [[epoch, sequence, payload hash]…]: epochs that ended before
    unsigned    [digest…] of events that went out since the one before and have no place for a signature
    heartbeat   {"intervalSeconds", "isLast"}
    dropped     {"events", "reasons", "firstAt", "lastAt"}
"""

from typing import Any, Final, NamedTuple

import orjson

from headwater.model.digest import hash_of
from headwater.model.events import RunEvent
from headwater.model.facets.own import ChainFacet, HeartbeatFacet, SignatureFacet
from headwater.model.facts import ChainLink
from headwater.model.heartbeat import HEARTBEAT, NODES

_MAX_SEQUENCE: Final = 2**53
_MAX_NAME: Final = 200


class Arrival(NamedTuple):
    """How an event came: when, in microseconds since 1970, and what its signature proved then."""

    received_us: int
    verdict: str


def chain_link(event: RunEvent, arrival: Arrival) -> ChainLink | None:
    """The event's place in its node's record.

    Returns:
        None if it names none, or none that counts: without a signature that fits the event anybody could have said it,
        and a key speaks for its own node only.
    """
    if arrival.verdict not in ("ok", "unknown-key") or ChainFacet.key not in event.run_facets:
        return None
    chain, signature = ChainFacet.read(event.run_facets), SignatureFacet.read(event.run_facets)
    if not isinstance(chain, ChainFacet) or not isinstance(signature, SignatureFacet):
        return None
    payload_hash = hash_of(signature.payload_hash)
    previous_hash = b"" if chain.previous_hash is None else hash_of(chain.previous_hash)
    if payload_hash is None or previous_hash is None or not _is_sound(chain, signature):
        return None
    return ChainLink(
        chain.node_id,
        chain.epoch,
        chain.sequence,
        event.stamp.digest,
        payload_hash,
        previous_hash,
        event.stamp.time_us,
        arrival.received_us,
        arrival.verdict == "ok",
        _said(event, chain),
    )


def is_of_node(event: RunEvent, link: ChainLink) -> bool:
    """Whether the node speaks for itself there, and not of any job's run."""
    return event.job == (NODES, link.node) and event.run_id == link.epoch and HEARTBEAT in event.run_facets


def _is_sound(chain: ChainFacet, signature: SignatureFacet) -> bool:
    is_short = 0 < len(chain.epoch) <= _MAX_NAME and 0 < len(chain.node_id) <= _MAX_NAME
    return is_short and 0 <= chain.sequence < _MAX_SEQUENCE and signature.key_id.startswith(f"node:{chain.node_id}#")


def _said(event: RunEvent, chain: ChainFacet) -> bytes:
    said: dict[str, Any] = {}
    if chain.follows:
        said["follows"] = [[head.epoch, head.sequence, head.payload_hash] for head in chain.follows]
    if chain.unsigned:
        said["unsigned"] = chain.unsigned
    heartbeat = HeartbeatFacet.read(event.run_facets)
    if isinstance(heartbeat, HeartbeatFacet):
        is_last = event.event_type == "COMPLETE"
        said["heartbeat"] = {"intervalSeconds": heartbeat.interval_seconds, "isLast": is_last}
        if heartbeat.gap is not None:
            members = {"events", "reasons", "firstAt", "lastAt"}
            dropped = heartbeat.gap.model_dump(by_alias=True)
            said["dropped"] = {member: dropped[member] for member in members}
    return orjson.dumps(said, option=orjson.OPT_SORT_KEYS) if said else b""
