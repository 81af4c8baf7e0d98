"""Columns of files and partitions come from the folder that the event lists as an input."""

import json
from collections.abc import Sequence
from typing import Any

import orjson
import pytest

from headwater.model.events import RunEvent, parse_event
from headwater.model.extract import facts
from headwater.model.facts import ColumnEvidence, Content
from headwater.model.folders import with_folders


def event(lineage: object, *inputs: tuple[str, str], is_sorted: bool = True) -> RunEvent:
    written = {"namespace": "file", "name": "/data/out", "facets": {"columnLineage": lineage}}
    body: dict[str, Any] = {
        "eventType": "COMPLETE",
        "eventTime": "2026-11-21T09:24:28Z",
        "producer": "https://github.com/OpenLineage/OpenLineage/tree/1.53.0/integration/spark",
        "run": {"runId": "01a1fd6b-bd40-7c03-80ef-009bc9d98bbf"},
        "job": {"namespace": "dev", "name": "load"},
        "inputs": [{"namespace": namespace, "name": name} for namespace, name in inputs],
        "outputs": [written],
    }
    parsed = parse_event(json.dumps(body, sort_keys=is_sorted, separators=(",", ":")).encode())
    assert isinstance(parsed, RunEvent)
    return parsed


def lineage_of(*names: str, namespace: str = "file") -> dict[str, Any]:
    """Lineage of one column from files with these names."""
    return {"fields": {"id": {"inputFields": [{"namespace": namespace, "name": name, "field": "i"} for name in names]}}}


def sources(event: RunEvent) -> Sequence[str]:
    all_facts = facts(event)
    bodies = {fact.digest: orjson.loads(fact.body) for fact in all_facts if isinstance(fact, Content)}
    [evidence] = [fact for fact in all_facts if isinstance(fact, ColumnEvidence)]
    return [each["name"] for each in bodies[evidence.content]["fields"]["id"]["inputFields"]]


@pytest.mark.parametrize("is_sorted", [True, False])
@pytest.mark.parametrize("folder", ["/data/in", "/data/in/"])
def test_a_column_of_files_in_a_listed_folder_comes_from_the_folder_once(folder: str, is_sorted: bool) -> None:
    lineage = lineage_of("/data/in/part-1.csv", "/data/in/day=1/part-2.csv", folder)

    assert sources(event(lineage, ("file", folder), is_sorted=is_sorted)) == [folder]


def test_of_two_listed_folders_the_deeper_is_the_source() -> None:
    assert sources(event(lineage_of("/data/in/a/b"), ("file", "/data"), ("file", "/data/in"))) == ["/data/in"]


def test_paths_in_a_bucket_can_begin_with_a_slash_and_the_folder_can_be_the_bucket() -> None:
    lineage = lineage_of("/in/a", namespace="s3://b")

    assert sources(event(lineage, ("s3://b", "in"))) == ["in"]
    assert sources(event(lineage, ("s3://b", "/"))) == ["/"]


@pytest.mark.parametrize(
    ("name", "inputs"),
    [
        ("/data/in2/a", [("file", "/data/in")]),
        ("/data/in/a", [("file", "/data/in"), ("file", "/data/in/a")]),
        ("/data/in/a", [("file://host", "/data/in")]),
        ("/data/out", [("file", "/data")]),
        ("/data", [("file", "/data/in")]),
        ("/data/in/a", []),
    ],
)
def test_a_listed_file_or_one_elsewhere_is_unchanged(name: str, inputs: list[tuple[str, str]]) -> None:
    parsed = event(lineage_of(name), *inputs)

    assert sources(parsed) == [name]


def test_names_that_are_not_paths_are_unchanged() -> None:
    parsed = event(lineage_of("shop/a", namespace="postgres://db:5432"), ("postgres://db:5432", "shop"))

    assert with_folders(parsed) is parsed


def test_an_event_whose_sources_are_all_listed_is_returned_as_it_is() -> None:
    parsed = event(lineage_of("/data/in"), ("file", "/data/in"))

    assert with_folders(parsed) is parsed


def test_filters_and_transformations_remain_and_invalid_sources_are_unchanged() -> None:
    source = {"namespace": "file", "name": "/in/a", "field": "i", "transformations": [{"type": "INDIRECT"}]}
    parsed = event({"fields": {"id": {"inputFields": [7, source]}, "x": None}, "dataset": [source]}, ("file", "/in"))

    (output,) = with_folders(parsed).outputs

    expected = {**source, "name": "/in"}
    assert output.facets["columnLineage"] == {
        "fields": {"id": {"inputFields": [7, expected]}, "x": None},
        "dataset": [expected],
    }
    assert output.facets["headwater_folder_reads"]["folders"] == [{"namespace": "file", "name": "/in", "named": 1}]


def test_a_deleted_facet_is_unchanged() -> None:
    parsed = event({**lineage_of("/in/a"), "_deleted": True}, ("file", "/in"))

    assert with_folders(parsed).outputs == parsed.outputs
