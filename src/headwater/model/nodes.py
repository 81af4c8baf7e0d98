"""The reports of a node about itself: the position of an event in its chain, heartbeats, and dropped events.

`ChainLink.statements` is JSON with sorted keys, each only if there is a value:

    follows     [[epoch, sequence, payload hash]…]: epochs that ended before
    unsigned    [digest…] of events sent since the one before that cannot carry a signature
    heartbeat   {"intervalSeconds", "isLast"}
    dropped     {"events", "reasons", "firstAt", "lastAt"}
"""

from collections.abc import Sequence
from typing import Any, Final, NamedTuple

import orjson

from headwater.model.digest import hash_of
from headwater.model.events import Facets, RunEvent
from headwater.model.facets.own import ChainFacet, Head, HeartbeatFacet, SignatureFacet
from headwater.model.facts import ChainLink
from headwater.model.heartbeat import HEARTBEAT, NODES
from headwater.model.producer import SIGNATURE_MEMBERS

_MAX_SEQUENCE: Final = 2**53
_MAX_NAME: Final = 200
_ERASED: Final = {"_deleted": True}
"""Replaces an erased facet; a signature sent like this was never verified."""
ERASED_HASH: Final = bytes(32)
"""Replaces an erased payload hash; no event has it."""


class Arrival(NamedTuple):
    """The arrival of an event: the time, in microseconds since 1970, and the verdict on its signature, with the key."""

    received_us: int
    verdict: str
    key_id: str | None = None


def chain_link(event: RunEvent, arrival: Arrival) -> ChainLink | None:
    """The event's position in its node's chain.

    Returns:
        None if it names none, or none that counts: a signature must cover the event, or anybody could have written it,
        and a key speaks only for its own node. If the signature was erased since, the payload hash is `ERASED_HASH`.
    """
    if arrival.verdict not in ("ok", "unknown-key") or ChainFacet.key not in event.run_facets:
        return None
    claim = _fast_claim(event.run_facets) or _claim(event.run_facets, arrival.key_id)
    if claim is None or not _is_sound(claim):
        return None
    payload_hash = ERASED_HASH if claim.payload_hash is None else hash_of(claim.payload_hash)
    previous_hash = b"" if claim.previous_hash is None else hash_of(claim.previous_hash)
    if payload_hash is None or previous_hash is None:
        return None
    return ChainLink(
        claim.node_id,
        claim.epoch,
        claim.sequence,
        event.stamp.digest,
        payload_hash,
        previous_hash,
        event.stamp.time_us,
        arrival.received_us,
        arrival.verdict == "ok",
        _statements(event, claim),
    )


class _ChainClaim(NamedTuple):
    """The contents of the chain and signature facets."""

    node_id: str
    epoch: str
    sequence: int
    previous_hash: str | None
    key_id: str
    payload_hash: str | None
    """None where it was erased with the signature."""
    follows: Sequence[Head] = ()
    unsigned: Sequence[str] = ()


_TEXTS: Final = ("nodeId", "epoch", "previousHash", "_producer", "_schemaURL")
_CHECKPOINT: Final = (dict, type(None))
_CHAIN: Final = frozenset({*_TEXTS, "sequence"})


def _fast_claim(run_facets: Facets) -> _ChainClaim | None:
    """The fast path of `_claim`, ten times as fast, for facets exactly as our signers write them; else None."""
    chain, signature = run_facets[ChainFacet.key], run_facets.get(SignatureFacet.key)
    is_plain = (
        signature is not None
        and chain.keys() - {"lastCheckpoint"} == _CHAIN
        and signature.keys() == SIGNATURE_MEMBERS
        and type(chain.get("lastCheckpoint")) in _CHECKPOINT
        and type(chain["sequence"]) is int
        and {type(chain[member]) for member in _TEXTS} == {*map(type, signature.values())} == {str}
    )
    if signature is None or not is_plain:
        return None
    node_id, epoch, previous_hash = chain["nodeId"], chain["epoch"], chain["previousHash"]
    return _ChainClaim(node_id, epoch, chain["sequence"], previous_hash, signature["keyId"], signature["payloadHash"])


def _claim(run_facets: Facets, key_id: str | None) -> _ChainClaim | None:
    chain, signature = ChainFacet.read(run_facets), SignatureFacet.read(run_facets)
    payload_hash: str | None = None
    if isinstance(signature, SignatureFacet):
        key_id, payload_hash = signature.key_id, signature.payload_hash
    elif run_facets.get(SignatureFacet.key) != _ERASED:
        return None
    if not isinstance(chain, ChainFacet) or key_id is None:
        return None
    return _ChainClaim(
        chain.node_id,
        chain.epoch,
        chain.sequence,
        chain.previous_hash,
        key_id,
        payload_hash,
        chain.follows,
        chain.unsigned,
    )


def is_of_node(event: RunEvent, link: ChainLink) -> bool:
    """Whether the event is about the node itself, not about a job's run."""
    return event.job == (NODES, link.node) and event.run_id == link.epoch and HEARTBEAT in event.run_facets


def _is_sound(claim: _ChainClaim) -> bool:
    is_of_key = 0 < len(claim.node_id) <= _MAX_NAME and claim.key_id.startswith(f"node:{claim.node_id}#")
    return is_of_key and _is_place(claim.epoch, claim.sequence) and all(map(_is_head, claim.follows))


def _is_place(epoch: str, sequence: int) -> bool:
    return 0 < len(epoch) <= _MAX_NAME and 0 <= sequence < _MAX_SEQUENCE


def _is_head(head: Head) -> bool:
    return _is_place(head.epoch, head.sequence) and hash_of(head.payload_hash) is not None


def _statements(event: RunEvent, claim: _ChainClaim) -> bytes:
    if not (claim.follows or claim.unsigned or HEARTBEAT in event.run_facets):
        return b""
    statements: dict[str, Any] = {}
    if claim.follows:
        statements["follows"] = [[head.epoch, head.sequence, head.payload_hash] for head in claim.follows]
    if claim.unsigned:
        statements["unsigned"] = claim.unsigned
    heartbeat = HeartbeatFacet.read(event.run_facets)
    if isinstance(heartbeat, HeartbeatFacet):
        is_last = event.event_type == "COMPLETE"
        statements["heartbeat"] = {"intervalSeconds": heartbeat.interval_seconds, "isLast": is_last}
        if heartbeat.gap is not None:
            members = {"events", "reasons", "firstAt", "lastAt"}
            dropped = heartbeat.gap.model_dump(by_alias=True)
            statements["dropped"] = {member: dropped[member] for member in members}
    return orjson.dumps(statements, option=orjson.OPT_SORT_KEYS) if statements else b""
