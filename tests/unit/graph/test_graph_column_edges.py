"""Column edges kept as numbers are the edges that the facets tell of."""

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
def test_edges_kept_as_numbers_are_the_edges_of_the_facet_in_its_order(log: list[bytes]) -> None:
    found = [fact for raw in log for fact in facts(parse_event(raw))]
    bodies = {fact.digest: json.loads(fact.body) for fact in found if isinstance(fact, Content)}
    told = {(fact.target, fact.content) for fact in found if isinstance(fact, ColumnEvidence)}
    kept = ColumnEdges(bodies.__getitem__)
    for target, digest in told:
        kept.note(target, digest)

    read = {(target, digest): tuple(kept.edges(target, digest)) for target, digest in told}

    assert read == {(target, digest): tuple(edges_into(target, bodies[digest])) for target, digest in told}
    for (target, _), edges in read.items():
        assert all(target in kept.fed_by(edge.source) for edge in edges)


def test_a_facet_is_read_once_and_not_before_somebody_asks() -> None:
    asked: list[bytes] = []

    def content(digest: bytes) -> dict[str, Any]:
        asked.append(digest)
        return FACET

    kept = ColumnEdges(content)
    kept.note(TARGET, b"1")
    kept.note(TARGET, b"2")

    before = list(asked)
    feeds = [set(kept.fed_by(DatasetId("lake", "raw"))) for _ in range(2)]
    kept.note(TARGET, b"1")

    assert before == []
    assert feeds == [{TARGET}, {TARGET}]
    assert sorted(asked) == [b"1", b"2"]
    assert not kept.read_some(1)
