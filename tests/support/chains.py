"""A node's record for tests: a chain of signed events, and their links."""

import json
from typing import Any

from headwater.model.events import RunEvent, parse_event
from headwater.model.facts import ChainLink
from headwater.model.nodes import Arrival, chain_link
from headwater.signing.chain import Head, Link
from headwater.signing.keys import NodeKey
from headwater.signing.sign import Linked, sign_in_chain
from tests.support.app import event, facet

NODE = "11111111-1111-1111-1111-111111111111"
KEY = NodeKey.from_seed(NODE, bytes(32))


def record(
    epoch: str, length: int, *, follows: tuple[Head, ...] = (), key: NodeKey = KEY, salt: str = ""
) -> list[Linked]:
    """The events of an epoch, in order; another `salt` gives other events with the same sequence numbers."""
    signed: list[Linked] = []
    for sequence in range(length):
        body = event(eventTime=f"2026-05-22T14:00:{sequence:02d}Z", job={"namespace": "etl", "name": f"load{salt}"})
        previous = signed[-1].payload_hash if signed else None
        signed.append(in_place(body, Link(key.node_id, epoch, sequence, previous, None, follows), key))
        follows = ()
    return signed


def heartbeat(epoch: str, sequence: int, previous: str | None, *, is_last: bool = False, **members: object) -> Linked:
    """A heartbeat in the chain; `members` go into its facet."""
    of_heartbeat = facet(**{"intervalSeconds": 60, "gap": None, **members})
    body = event(
        eventType="COMPLETE" if is_last else "RUNNING",
        job={"namespace": "headwater-nodes", "name": NODE},
        run={"runId": epoch, "facets": {"headwater_heartbeat": of_heartbeat}},
    )
    return in_place(body, Link(NODE, epoch, sequence, previous), KEY)


def in_place(body: dict[str, Any], link: Link, key: NodeKey = KEY) -> Linked:
    """The event, signed with this link."""
    signed = sign_in_chain(json.dumps(body).encode(), key, link)
    assert signed is not None
    return signed


def head(epoch: str, events: list[Linked]) -> Head:
    """The head of a record."""
    return Head(epoch, len(events) - 1, events[-1].payload_hash)


def erased(linked: Linked) -> Linked:
    """The event as in the log after its signature was erased."""
    body = json.loads(linked.raw)
    body["run"]["facets"]["signature"] = {"_deleted": True}
    return linked._replace(raw=json.dumps(body, separators=(",", ":")).encode())


def link_of(raw: bytes, received_us: int = 0, verdict: str = "ok") -> ChainLink:
    """The link of an event."""
    parsed = parse_event(raw)
    assert isinstance(parsed, RunEvent)
    link = chain_link(parsed, Arrival(received_us, verdict, KEY.key_id))
    assert link is not None
    return link
