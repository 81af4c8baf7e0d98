"""Metadata columns of Iceberg, which Spark's agent reports when rows are rewritten."""

import json
from collections.abc import Mapping, Sequence
from typing import Any

import orjson
import pytest

from headwater.model.events import RunEvent, parse_event
from headwater.model.extract import facts
from headwater.model.facts import Content, FacetReport, ObservedFacet
from headwater.model.iceberg import METADATA_COLUMNS, without_metadata_columns

STORAGE = {"storage": {"storageLayer": "iceberg", "fileFormat": ""}}
CATALOG = {"catalog": {"framework": "iceberg", "type": "hadoop", "name": "lake"}}


def table(name: str, *columns: str, facets: Mapping[str, Any] = STORAGE) -> dict[str, Any]:
    fields = [{"name": column, "type": "string"} for column in columns]
    return {"namespace": "file", "name": name, "facets": {"schema": {"fields": fields}, **facets}}


def event(inputs: Sequence[object], outputs: Sequence[object] = ()) -> RunEvent:
    body = {
        "eventType": "RUNNING",
        "eventTime": "2026-11-21T09:24:28Z",
        "producer": "https://github.com/OpenLineage/OpenLineage/tree/1.53.0/integration/spark",
        "run": {"runId": "01a1fd6b-bd40-7c03-80ef-009bc9d98bbf"},
        "job": {"namespace": "dev", "name": "orders.replace_data.agg"},
        "inputs": inputs,
        "outputs": outputs,
    }
    parsed = parse_event(json.dumps(body).encode())
    assert isinstance(parsed, RunEvent)
    return parsed


def facet_by_direction(event: RunEvent, facet: str) -> dict[str, Any]:
    """A facet's contents in the facts of an event, by the direction of its dataset."""
    all_facts = facts(event)
    bodies = {fact.digest: orjson.loads(fact.body) for fact in all_facts if isinstance(fact, Content)}
    observed = [fact for fact in all_facts if isinstance(fact, ObservedFacet) and fact.name == facet]
    return {fact.direction: bodies[fact.content] for fact in observed}


@pytest.mark.parametrize("evidence", [STORAGE, CATALOG])
@pytest.mark.parametrize("column", sorted(METADATA_COLUMNS))
def test_a_metadata_column_is_not_a_column_of_the_table(column: str, evidence: Mapping[str, Any]) -> None:
    read = table("/wh/agg", "customer", "total", column, facets=evidence)
    written = table("/wh/agg", "customer", "total", facets=evidence)

    schemas = facet_by_direction(event([read], [written]), "schema")

    assert schemas["input"] == schemas["output"] == written["facets"]["schema"]
    [(direction, left_out)] = facet_by_direction(event([read], [written]), "headwater_metadata_columns").items()
    assert (direction, left_out["columns"]) == ("input", [column])


def test_a_table_that_is_read_and_written_has_one_schema() -> None:
    both = facts(event([table("/wh/agg", "id", "_file", "_pos")], [table("/wh/agg", "id")]))

    assert len({fact.content for fact in both if isinstance(fact, FacetReport)}) == 1


def test_lineage_from_a_metadata_column_is_unchanged() -> None:
    source = [{"namespace": "file", "name": "/wh/agg", "field": "_file"}]
    lineage = {"fields": {"origin": {"inputFields": source}}, "dataset": source}
    written = table("/wh/report", "origin", facets={**STORAGE, "columnLineage": lineage})

    [stored] = facet_by_direction(event([table("/wh/agg", "customer", "_file")], [written]), "columnLineage").values()

    assert stored == lineage


@pytest.mark.parametrize(
    "inputs",
    [
        [table("/data/files", "id", "_file", facets={})],
        [table("/data/files", "id", "_file", facets={"storage": {"storageLayer": "delta"}})],
        [table("/wh/agg", "id", "file")],
        [table("/data/files", "id", "_file", facets={}), table("/wh/agg", "id")],
        [{"namespace": "file", "name": "/wh/agg", "facets": STORAGE}],
        [{"namespace": "file", "name": "/wh/agg", "facets": {**STORAGE, "schema": {"fields": {"name": "_file"}}}}],
        [{"namespace": "file", "name": "/wh/agg", "facets": {**STORAGE, "schema": {"fields": [None, {"name": 7}]}}}],
        [table("/wh/agg", "_file", facets={"storage": {"storageLayer": ["iceberg"]}})],
    ],
)
def test_an_event_without_evidence_of_a_metadata_column_is_unchanged(inputs: Sequence[object]) -> None:
    plain = event(inputs)

    assert without_metadata_columns(plain) == plain
