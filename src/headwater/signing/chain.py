"""The chain facet: an event's position in its node's chain, within the signed bytes.

A signature shows that an event was changed. It does not show that one is missing, repeated or out of order: the chain
does. Each emitter writes its own *epoch*, whose events are numbered from 0 without gaps, each naming the payload hash
of the one before; the first names the heads of the epochs that it follows.

Source: docs/decisions/0011-a-chain-for-each-emitter.md
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Final, NamedTuple

from headwater.model.producer import HEADWATER_FACETS

CHAIN: Final = "headwater_chain"
CHAIN_SCHEMA: Final = f"{HEADWATER_FACETS}/headwater_chain.json"


class Head(NamedTuple):
    """The last event of an epoch, as far as known."""

    epoch: str
    sequence: int
    payload_hash: str


class Checkpoint(NamedTuple):
    """A state of a service's log, from a receipt."""

    origin: str
    size: int
    root_hash: str
    """Base64 of 32 bytes, as in the checkpoint's text."""


@dataclass(frozen=True, slots=True)
class Link:
    """The chain members of one event.

    Attributes:
        previous_hash: of the event before it in the epoch; None for the first.
        last_checkpoint: of the newest receipt that the emitter has; None if it has none.
        follows: the heads of epochs that ended before this one began.
        unsigned: `sha256:` and hex of the events sent since the event before that cannot carry a signature: job events
            and dataset events.
    """

    node_id: str
    epoch: str
    sequence: int
    previous_hash: str | None
    last_checkpoint: Checkpoint | None = None
    follows: tuple[Head, ...] = ()
    unsigned: tuple[str, ...] = ()


def chain_facet(link: Link, producer: object) -> Mapping[str, Any]:
    """The facet `headwater_chain` for a link; `producer` is that of the event, as in its signature."""
    facet: dict[str, Any] = {
        "_producer": producer,
        "_schemaURL": CHAIN_SCHEMA,
        "nodeId": link.node_id,
        "epoch": link.epoch,
        "sequence": link.sequence,
        "previousHash": link.previous_hash,
        "lastCheckpoint": None,
    }
    if link.last_checkpoint is not None:
        origin, size, root_hash = link.last_checkpoint
        facet["lastCheckpoint"] = {"origin": origin, "size": size, "rootHash": root_hash}
    if link.follows:
        facet["follows"] = [
            {"epoch": head.epoch, "sequence": head.sequence, "payloadHash": head.payload_hash} for head in link.follows
        ]
    if link.unsigned:
        facet["unsigned"] = list(link.unsigned)
    return facet
