"""Datasets derived from others without a job between them: `/lineage` shows the edges, every question follows them."""

from typing import Any

import pytest
from starlette.testclient import TestClient

from tests.support.app import Body, dataset, event, facet, get, post, schema

VIEW = "dataset:lake:report_view"


def source(name: str, **members: object) -> dict[str, Any]:
    return {"namespace": "lake", "name": name, "type": "DATASET", **members}


def dataset_event(second: int, name: str, **facets: object) -> dict[str, Any]:
    """A dataset event."""
    return {
        "eventTime": f"2026-05-22T14:23:{second:02d}Z",
        "producer": "https://example.org/producer",
        "schemaURL": "https://openlineage.io/spec/2-0-2/OpenLineage.json#/$defs/DatasetEvent",
        "dataset": dataset(name, **facets),
    }


def ran(second: int, job: str, reads: list[str], writes: list[str], **changes: object) -> dict[str, Any]:
    return event(
        eventType="COMPLETE",
        eventTime=f"2026-05-22T14:23:{second:02d}Z",
        run={"runId": f"0198f7d0-0000-7000-8000-0000000000{second:02d}"},
        job={"namespace": "etl", "name": job, **changes},
        inputs=[dataset(name, schema=schema("id")) for name in reads],
        outputs=[dataset(name, schema=schema("id")) for name in writes],
    )


def edges(client: TestClient, node_id: str, depth: int = 20) -> set[tuple[str, str]]:
    """Each edge by the ends of its node ids; both nodes must have it."""
    graph = {node["id"]: node for node in get(client, f"/api/v1/lineage?nodeId={node_id}&depth={depth}")["graph"]}
    ends = set()
    for node in graph.values():
        for edge in node["outEdges"]:
            assert edge in graph[edge["destination"]]["inEdges"]
            ends.add((edge["origin"].rpartition(":")[2], edge["destination"].rpartition(":")[2]))
        assert all(edge in graph[edge["origin"]]["outEdges"] for edge in node["inEdges"])
    return ends


def a_view_between_two_jobs(client: TestClient) -> None:
    post(client, ran(10, "load", ["raw"], ["orders"]))
    post(client, dataset_event(11, "report_view", schema=schema("id"), lineage=facet(inputs=[source("orders")])))
    post(client, ran(12, "report", ["report_view"], ["mart"]))


def test_a_source_named_only_by_column_lineage_is_an_edge_between_datasets_everywhere(
    client: TestClient,
) -> None:
    fields = [{"namespace": "lake", "name": name, "field": "id"} for name in ("orders", "rates")]
    lineage = facet(fields={"id": {"inputFields": fields}})
    report = dataset("report", schema=schema("id"), columnLineage=lineage)
    post(client, {**ran(10, "report", ["orders"], []), "outputs": [report]})

    around = {start: edges(client, f"dataset:lake:{start}") for start in ("report", "rates")}
    reached = get(client, "/api/v1/impact?nodeId=dataset:lake:rates")["reached"]
    columns = get(client, "/api/v1/column-lineage?nodeId=dataset:lake:rates&withDownstream=true")["graph"]

    pasts = ({"asOf": "2026-05-22T14:23:10Z"}, {"logSize": 1})
    past = [client.get("/api/v1/lineage", params={"nodeId": "dataset:lake:rates", **then}).json() for then in pasts]

    # The facet names rates as a source, the job's inputs do not: "Precedence rules" 2 and 3 of the guide.
    assert around["report"] == {("orders", "report"), ("report", "report"), ("rates", "report")}
    assert around["rates"] == {("rates", "report"), ("orders", "report"), ("report", "report")}
    assert past == [get(client, "/api/v1/lineage?nodeId=dataset:lake:rates")] * 2
    assert {"dataset:lake:report", "datasetField:lake:report:id"} <= {each["id"] for each in reached}
    assert [node["id"] for node in columns] == ["datasetField:lake:rates:id", "datasetField:lake:report:id"]


def test_a_derived_edge_is_gone_once_the_job_reads_the_source(client: TestClient) -> None:
    lineage = facet(fields={"id": {"inputFields": [{"namespace": "lake", "name": "rates", "field": "id"}]}})
    output = dataset("out", schema=schema("id"), columnLineage=lineage)
    post(client, {**ran(10, "load", [], []), "outputs": [output]})
    before = edges(client, "dataset:lake:out")

    post(client, {**ran(10, "load", ["rates"], []), "eventType": "START"})

    assert before == {("rates", "out"), ("load", "out")}
    assert edges(client, "dataset:lake:out") == {("rates", "load"), ("load", "out")}


@pytest.mark.parametrize("start", ["dataset:lake:raw", "dataset:lake:orders", VIEW, "job:etl:report"])
def test_a_view_joins_its_sources_to_its_readers(client: TestClient, start: str) -> None:
    a_view_between_two_jobs(client)

    assert edges(client, start) == {
        ("raw", "load"),
        ("load", "orders"),
        ("orders", "report_view"),
        ("report_view", "report"),
        ("report", "mart"),
    }


def test_a_derived_edge_has_its_facet_and_times(client: TestClient) -> None:
    a_view_between_two_jobs(client)

    graph = {node["id"]: node for node in get(client, f"/api/v1/lineage?nodeId={VIEW}&depth=0")["graph"]}

    assert graph[VIEW]["inEdges"] == [
        {
            "origin": "dataset:lake:orders",
            "destination": VIEW,
            "firstSeen": "2026-05-22T14:23:11.000Z",
            "lastSeen": "2026-05-22T14:23:11.000Z",
            "runs": 0,
            "derivation": "lineage",
        }
    ]


@pytest.mark.parametrize(
    "facets",
    [
        {"columnLineage": facet(fields={}, dataset=[source("orders", field="id")])},
        {"columnLineage": facet(fields={"id": {"inputFields": [source("orders", field="id")]}})},
    ],
)
def test_column_lineage_of_a_dataset_event_is_a_derived_edge_too(client: TestClient, facets: Body) -> None:
    post(client, ran(10, "load", [], ["orders"]), dataset_event(11, "report_view", **facets))

    assert edges(client, VIEW) == {("load", "orders"), ("orders", "report_view")}


def test_a_source_without_events_of_its_own_is_in_the_graph(client: TestClient) -> None:
    post(client, dataset_event(11, "report_view", lineage=facet(inputs=[source("orders")])))

    assert edges(client, VIEW) == edges(client, "dataset:lake:orders") == {("orders", "report_view")}


def test_where_a_job_moves_the_data_its_edges_replace_an_earlier_derived_one(client: TestClient) -> None:
    post(client, dataset_event(11, "mart", lineage=facet(inputs=[source("orders"), source("rates")])))
    assert edges(client, "dataset:lake:mart") == {("orders", "mart"), ("rates", "mart")}

    post(client, ran(12, "report", ["orders"], ["mart"]))

    assert edges(client, "dataset:lake:mart") == {("orders", "report"), ("report", "mart"), ("rates", "mart")}


def test_a_view_that_is_declared_again_without_sources_has_none(client: TestClient) -> None:
    a_view_between_two_jobs(client)
    post(client, dataset_event(20, "report_view", lineage=facet(inputs=[])))

    assert edges(client, VIEW) == {("report_view", "report"), ("report", "mart")}


def test_a_derived_edge_ends_at_the_name_by_which_the_dataset_is_shown(client: TestClient) -> None:
    same = facet(identifiers=[{"namespace": "lake", "name": "t1", "type": "TABLE"}])
    post(client, dataset_event(10, "t0"), dataset_event(10, "t2", symlinks=same))
    post(client, dataset_event(11, "t3", symlinks=same, lineage=facet(inputs=[source("t0")])))
    before = edges(client, "dataset:lake:t0", depth=0)

    post(client, ran(12, "load", [], ["t1"]))

    assert before == {("t0", "t2")}
    assert edges(client, "dataset:lake:t0", depth=0) == {("t0", "t1")}


def test_a_job_that_reports_lineage_of_datasets_it_does_not_use_makes_derived_edges(client: TestClient) -> None:
    entries = facet(entries=[{**source("mart"), "inputs": [source("orders")]}])
    post(client, ran(12, "sync", [], [], facets={"lineage": entries}))

    assert edges(client, "dataset:lake:mart") == {("orders", "mart")}


def test_jobs_that_pass_data_on_without_a_dataset_have_an_edge(client: TestClient) -> None:
    other = {"namespace": "etl", "name": "extract", "type": "JOB"}
    entries = facet(entries=[{"type": "JOB", "inputs": [other]}])
    post(client, ran(12, "load", [], ["orders"], facets={"lineage": entries}))

    assert edges(client, "dataset:lake:orders") == {("extract", "load"), ("load", "orders")}


def test_a_deleted_view_is_not_in_the_graph(client: TestClient) -> None:
    a_view_between_two_jobs(client)
    client.delete("/api/v1/namespaces/lake/datasets/report_view")

    assert edges(client, "dataset:lake:orders") == {("raw", "load"), ("load", "orders")}


def test_impact_goes_through_the_view(client: TestClient) -> None:
    a_view_between_two_jobs(client)

    reached = get(client, "/api/v1/impact?nodeId=dataset:lake:orders")

    assert {VIEW, "job:etl:report", "dataset:lake:mart"} <= {place["id"] for place in reached["reached"]}


def test_root_cause_goes_through_the_view(client: TestClient) -> None:
    a_view_between_two_jobs(client)

    of_mart = get(client, "/api/v1/root-cause?nodeId=dataset:lake:mart")
    of_view = get(client, f"/api/v1/root-cause?nodeId={VIEW}")

    assert [visit["run"]["job"]["name"] for visit in of_mart["lookedAt"]] == ["report", "load"]
    assert [visit["run"]["job"]["name"] for visit in of_view["lookedAt"]] == ["load"]


def test_a_failed_run_behind_the_view_is_a_finding_for_its_readers(client: TestClient) -> None:
    post(client, ran(10, "load", ["raw"], ["orders"]))
    post(client, dataset_event(11, "report_view", schema=schema("id"), lineage=facet(inputs=[source("orders")])))
    post(client, {**ran(12, "load", ["raw"], ["orders"]), "eventType": "FAIL"})
    post(client, ran(13, "report", ["report_view"], ["mart"]))

    findings = get(client, "/api/v1/root-cause?nodeId=dataset:lake:mart")["findings"]

    assert [(each["kind"], each["nodeId"]) for each in findings] == [("failed-run", "job:etl:load")]


def test_graphql_reports_which_ends_of_edges_are_datasets(client: TestClient) -> None:
    a_view_between_two_jobs(client)
    query = (
        '{ lineageFromJob(namespace: "etl", name: "load") { graph { ... on DatasetLineageEntry { name '
        "outEdges { name type } } } } }"
    )

    answer = client.post("/api/v1-beta/graphql", json={"query": query}).json()

    assert {"name": "orders", "outEdges": [{"name": "report_view", "type": "DATASET"}]} in (
        answer["data"]["lineageFromJob"]["graph"]
    )
