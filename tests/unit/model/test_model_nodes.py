"""Which events have a place in a node's chain, and which of them are about the node itself."""

import json
from typing import Any

import pytest

from headwater.model.events import RunEvent, parse_event
from headwater.model.facts import ChainLink
from headwater.model.nodes import ERASED_HASH, Arrival, chain_link, is_of_node
from headwater.signing.chain import Link
from tests.support.app import event
from tests.support.chains import KEY, NODE, erased, heartbeat, in_place

EPOCH = "018f0000-0000-7000-8000-000000000001"
HASH = f"sha256:{'ab' * 32}"
Facets = dict[str, Any]


def parsed(body: object) -> RunEvent:
    found = parse_event(json.dumps(body).encode())
    assert isinstance(found, RunEvent)
    return found


def link_with(verdict: str = "ok", **changes: Facets) -> ChainLink | None:
    """The link of an event in the middle of a chain, with these members of its facets changed."""
    body = json.loads(in_place(event(), Link(NODE, EPOCH, 1, HASH)).raw)
    for facet, members in changes.items():
        body["run"]["facets"][facet] |= members
    return chain_link(parsed(body), Arrival(7, verdict, KEY.key_id))


@pytest.mark.parametrize("verdict", ["unsigned", "tampered", "malformed"])
def test_an_event_without_a_valid_signature_has_no_place_in_a_chain(verdict: str) -> None:
    assert link_with(verdict) is None


@pytest.mark.parametrize(
    "chain",
    [
        {"sequence": -1},
        {"sequence": 2**53},
        {"sequence": "1"},
        {"sequence": True},
        {"epoch": ""},
        {"epoch": "e" * 201},
        {"epoch": 7},
        {"nodeId": "another-node"},
        {"previousHash": ""},
        {"previousHash": HASH.upper()},
        {"previousHash": f"{HASH}00"},
        {"lastCheckpoint": []},
        {"follows": None},
        {"follows": [{"epoch": "before", "sequence": -8, "payloadHash": HASH}]},
        {"follows": [{"epoch": "before", "sequence": 2**53, "payloadHash": HASH}]},
        {"follows": [{"epoch": "", "sequence": 4, "payloadHash": HASH}]},
        {"follows": [{"epoch": "before", "sequence": 4, "payloadHash": "ab"}]},
        {"_deleted": True},
    ],
)
def test_an_event_with_an_invalid_chain_facet_has_no_place(chain: Facets) -> None:
    assert link_with(headwater_chain=chain) is None


@pytest.mark.parametrize(
    "signature",
    [
        {"payloadHash": "sha256:ab"},
        {"payloadHash": None},
        {"keyId": NODE},
        {"keyId": f"node:{NODE}0#sha256:x"},
        {"keyId": 7},
        {"_deleted": True},
    ],
)
def test_an_event_with_an_invalid_signature_facet_or_another_nodes_key_has_no_place(signature: Facets) -> None:
    assert link_with(signature=signature) is None


@pytest.mark.parametrize("name", ["", "n" * 201])
def test_a_node_with_an_empty_or_overlong_name_has_no_chain(name: str) -> None:
    assert link_with(headwater_chain={"nodeId": name}, signature={"keyId": f"node:{name}#sha256:x"}) is None


@pytest.mark.parametrize(
    "chain", [{"sequence": 2**53 - 1}, {"epoch": "e" * 200}, {"sequence": 0, "lastCheckpoint": {}}]
)
def test_a_place_at_its_limits_is_valid(chain: Facets) -> None:
    link = link_with("unknown-key", headwater_chain=chain)

    assert link is not None
    assert (link.sequence, link.epoch) == (chain.get("sequence", 1), chain.get("epoch", EPOCH))
    assert (link.previous_hash, link.received_us, link.is_proved) == (bytes.fromhex("ab" * 32), 7, False)


@pytest.mark.parametrize(
    ("chain", "statements"),
    [
        ({"follows": [{"epoch": "before", "sequence": 4, "payloadHash": HASH}]}, {"follows": [["before", 4, HASH]]}),
        ({"unsigned": [HASH]}, {"unsigned": [HASH]}),
    ],
)
def test_other_statements_of_an_event_about_its_chain_are_kept(chain: Facets, statements: Facets) -> None:
    link = link_with(headwater_chain=chain)

    assert link is not None
    assert json.loads(link.statements) == statements


@pytest.mark.parametrize(
    ("key_id", "has_place"), [(KEY.key_id, True), (f"node:{NODE}0#sha256:x", False), (None, False)]
)
def test_an_event_with_an_erased_signature_has_a_place_if_its_nodes_key_is_known_to_have_signed_it(
    key_id: str | None, has_place: bool
) -> None:
    event_erased = parsed(json.loads(erased(in_place(event(), Link(NODE, EPOCH, 1, HASH))).raw))

    link = chain_link(event_erased, Arrival(7, "ok", key_id))

    assert (link is not None) is has_place
    assert link is None or link.payload_hash == ERASED_HASH


@pytest.mark.parametrize(
    ("member", "other"),
    [
        ("job", {"namespace": "headwater-nodes", "name": "another-node"}),
        ("job", {"namespace": "etl", "name": NODE}),
        ("run", {"runId": "018f0000-0000-7000-8000-000000000002", "facets": {"headwater_heartbeat": {}}}),
        ("run", {"runId": EPOCH, "facets": {}}),
    ],
)
def test_only_a_heartbeat_in_the_run_of_its_epoch_is_about_the_node_itself(member: str, other: Facets) -> None:
    beat = heartbeat(EPOCH, 1, HASH).raw
    link = chain_link(parsed(json.loads(beat)), Arrival(7, "ok"))
    assert link is not None

    assert is_of_node(parsed(json.loads(beat)), link)
    assert not is_of_node(parsed({**json.loads(beat), member: other}), link)
