"""Column edges stored as numbers are the edges that the facets report."""

import json
from typing import Any

from hypothesis import given

from headwater.graph.column_edges import ColumnEdges
from headwater.graph.columns import edges_into
from headwater.model.events import parse_event
from headwater.model.extract import facts
from headwater.model.facts import ColumnEvidence, Content
from headwater.model.names import DatasetId
from tests.support.logs import logs

TARGET = DatasetId("lake", "mart")
FACET = {"fields": {"total": {"inputFields": [{"namespace": "lake", "name": "raw", "field": "price"}]}}}


@given(logs)
def test_stored_edges_are_the_edges_of_the_facet_in_its_order(log: list[bytes]) -> None:
    all_facts = [fact for raw in log for fact in facts(parse_event(raw))]
    bodies = {fact.digest: json.loads(fact.body) for fact in all_facts if isinstance(fact, Content)}
    reported = {(fact.target, fact.content) for fact in all_facts if isinstance(fact, ColumnEvidence)}
    stored = ColumnEdges(bodies.__getitem__)
    for target, digest in reported:
        stored.note(target, digest)

    read = {(target, digest): tuple(stored.edges(target, digest)) for target, digest in reported}

    assert read == {(target, digest): tuple(edges_into(target, bodies[digest])) for target, digest in reported}
    for (target, _), edges in read.items():
        assert all(target in stored.fed_by(edge.source) for edge in edges)


def test_a_facet_is_read_once_and_only_when_needed() -> None:
    reads: list[bytes] = []

    def content(digest: bytes) -> dict[str, Any]:
        reads.append(digest)
        return FACET

    stored = ColumnEdges(content)
    stored.note(TARGET, b"1")
    stored.note(TARGET, b"2")

    before = list(reads)
    feeds = [set(stored.fed_by(DatasetId("lake", "raw"))) for _ in range(2)]
    stored.note(TARGET, b"1")

    assert before == []
    assert feeds == [{TARGET}, {TARGET}]
    assert sorted(reads) == [b"1", b"2"]
    assert not stored.read_some(1)
