"""Columns of files and partitions come from the folder that the event says was read."""

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


def of(*names: str, namespace: str = "file") -> dict[str, Any]:
    """Lineage of one column from these."""
    return {"fields": {"id": {"inputFields": [{"namespace": namespace, "name": name, "field": "i"} for name in names]}}}


def sources(event: RunEvent) -> Sequence[str]:
    all_facts = facts(event)
    bodies = {fact.digest: orjson.loads(fact.body) for fact in all_facts if isinstance(fact, Content)}
    [evidence] = [fact for fact in all_facts if isinstance(fact, ColumnEvidence)]
    return [each["name"] for each in bodies[evidence.content]["fields"]["id"]["inputFields"]]


@pytest.mark.parametrize("is_sorted", [True, False])
@pytest.mark.parametrize("folder", ["/data/in", "/data/in/"])
def test_a_column_of_files_in_a_folder_that_is_listed_comes_from_the_folder_once(folder: str, is_sorted: bool) -> None:
    told = of("/data/in/part-1.csv", "/data/in/day=1/part-2.csv", "/data/in")

    assert {*sources(event(told, ("file", folder), is_sorted=is_sorted))} <= {folder, "/data/in"}


def test_of_two_folders_around_a_file_it_comes_from_the_deeper() -> None:
    assert sources(event(of("/data/in/a/b"), ("file", "/data"), ("file", "/data/in"))) == ["/data/in"]


def test_paths_in_a_bucket_may_begin_with_a_slash_or_not_and_a_whole_bucket_be_read() -> None:
    named = of("/in/a", namespace="s3://b")

    assert sources(event(named, ("s3://b", "in"))) == ["in"]
    assert sources(event(named, ("s3://b", "/"))) == ["/"]


@pytest.mark.parametrize(
    ("named", "inputs"),
    [
        ("/data/in2/a", [("file", "/data/in")]),
        ("/data/in/a", [("file", "/data/in"), ("file", "/data/in/a")]),
        ("/data/in/a", [("file://host", "/data/in")]),
        ("/data/out", [("file", "/data")]),
        ("/data", [("file", "/data/in")]),
        ("/data/in/a", []),
    ],
)
def test_what_is_listed_or_lies_elsewhere_stays_as_it_was_told(named: str, inputs: list[tuple[str, str]]) -> None:
    told = event(of(named), *inputs)

    assert sources(told) == [named]


def test_names_that_are_no_paths_stay_as_they_were_told() -> None:
    told = event(of("shop/a", namespace="postgres://db:5432"), ("postgres://db:5432", "shop"))

    assert with_folders(told) is told


def test_columns_that_come_from_what_is_listed_are_not_even_read() -> None:
    told = event(of("/data/in"), ("file", "/data/in"))

    assert with_folders(told) is told


def test_filters_and_transformations_are_kept_and_what_is_no_source_stays() -> None:
    source = {"namespace": "file", "name": "/in/a", "field": "i", "transformations": [{"type": "INDIRECT"}]}
    told = event({"fields": {"id": {"inputFields": [7, source]}, "x": None}, "dataset": [source]}, ("file", "/in"))

    (output,) = with_folders(told).outputs

    meant = {**source, "name": "/in"}
    assert output.facets["columnLineage"] == {
        "fields": {"id": {"inputFields": [7, meant]}, "x": None},
        "dataset": [meant],
    }
    assert output.facets["headwater_folder_reads"]["folders"] == [{"namespace": "file", "name": "/in", "named": 1}]


def test_a_facet_that_is_taken_back_stays_so() -> None:
    told = event({**of("/in/a"), "_deleted": True}, ("file", "/in"))

    assert with_folders(told).outputs == told.outputs
