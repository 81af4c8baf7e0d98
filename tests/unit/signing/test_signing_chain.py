"""The chain's vectors, written by another implementation: signed bytes, and the problems if some are missing."""

import json
from pathlib import Path
from typing import Any

import pytest

from headwater.graph.nodes import Nodes, troubles
from headwater.signing.chain import Checkpoint, Head, Link
from headwater.signing.keys import NodeKey
from headwater.signing.sign import sign_in_chain
from headwater.signing.verify import verify_event
from tests.support.chains import link_of

VECTORS: dict[str, Any] = json.loads((Path(__file__).resolve().parents[3] / "conformance" / "chain.json").read_text())
KEY = NodeKey.from_seed(VECTORS["nodeId"], bytes.fromhex(VECTORS["privateSeedHex"]))
BY_ID = {vector["id"]: vector for vector in VECTORS["vectors"]}


def link(facet: dict[str, Any]) -> Link:
    checkpoint = facet["lastCheckpoint"]
    return Link(
        node_id=facet["nodeId"],
        epoch=facet["epoch"],
        sequence=facet["sequence"],
        previous_hash=facet["previousHash"],
        last_checkpoint=checkpoint and Checkpoint(checkpoint["origin"], checkpoint["size"], checkpoint["rootHash"]),
        follows=tuple(Head(head["epoch"], head["sequence"], head["payloadHash"]) for head in facet.get("follows", ())),
        unsigned=tuple(facet.get("unsigned", ())),
    )


@pytest.mark.parametrize("vector", VECTORS["vectors"], ids=lambda vector: vector["id"])
def test_an_event_signed_with_its_link_has_the_same_bytes(vector: dict[str, Any]) -> None:
    signed = sign_in_chain(vector["event"].encode(), KEY, link(vector["facet"]))

    assert signed is not None
    assert (signed.raw.decode(), signed.payload_hash) == (vector["signedEvent"], vector["payloadHash"])
    assert verify_event(signed.raw, {KEY.key_id: KEY.public_key}).verdict == "ok"


@pytest.mark.parametrize("record", VECTORS["records"], ids=lambda record: record["id"])
def test_a_record_has_the_expected_problems(record: dict[str, Any]) -> None:
    nodes = Nodes()
    for name in record["events"]:
        nodes.add(link_of(BY_ID[name]["signedEvent"].encode(), received_us=2_000_000_000_000_000))

    problems = [
        [each.kind, each.epoch, each.events, each.first, each.last]
        for each in troubles(nodes.epochs[VECTORS["nodeId"]], now_us=0)
    ]

    assert problems == record["expect"]
