"""Datasets made from others while no job is known between: `/lineage` draws them, and every question walks them."""

from typing import Any

import pytest
from starlette.testclient import TestClient

from tests.support.app import Body, dataset, event, facet, get, post, schema

VIEW = "dataset:lake:report_view"


def source(name: str, **members: object) -> dict[str, Any]:
    return {"namespace": "lake", "name": name, "type": "DATASET", **members}


def told(second: int, name: str, **facets: object) -> dict[str, Any]:
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
    found = set()
    for node in graph.values():
        for edge in node["outEdges"]:
            assert edge in graph[edge["destination"]]["inEdges"]
            found.add((edge["origin"].rpartition(":")[2], edge["destination"].rpartition(":")[2]))
        assert all(edge in graph[edge["origin"]]["outEdges"] for edge in node["inEdges"])
    return found


def a_view_between_two_jobs(client: TestClient) -> None:
    post(client, ran(10, "load", ["raw"], ["orders"]))
    post(client, told(11, "report_view", schema=schema("id"), lineage=facet(inputs=[source("orders")])))
    post(client, ran(12, "report", ["report_view"], ["mart"]))


def test_a_source_that_only_column_lineage_names_is_an_edge_between_datasets_for_every_question(
    client: TestClient,
) -> None:
    fed = [{"namespace": "lake", "name": name, "field": "id"} for name in ("orders", "rates")]
    told = facet(fields={"id": {"inputFields": fed}})
    made = dataset("report", schema=schema("id"), columnLineage=told)
    post(client, {**ran(10, "report", ["orders"], []), "outputs": [made]})

    around = {start: edges(client, f"dataset:lake:{start}") for start in ("report", "rates")}
    reached = get(client, "/api/v1/impact?nodeId=dataset:lake:rates")["reached"]
    columns = get(client, "/api/v1/column-lineage?nodeId=dataset:lake:rates&withDownstream=true")["graph"]

    pasts = ({"asOf": "2026-05-22T14:23:10Z"}, {"logSize": 1})
    past = [client.get("/api/v1/lineage", params={"nodeId": "dataset:lake:rates", **then}).json() for then in pasts]

    # by the facet rates feeds report; by its inputs the job does not read it: "Precedence rules" 2 and 3 of the guide
    assert around["report"] == {("orders", "report"), ("report", "report"), ("rates", "report")}
    assert around["rates"] == {("rates", "report"), ("orders", "report"), ("report", "report")}
    assert past == [get(client, "/api/v1/lineage?nodeId=dataset:lake:rates")] * 2
    assert {"dataset:lake:report", "datasetField:lake:report:id"} <= {each["id"] for each in reached}
    assert [node["id"] for node in columns] == ["datasetField:lake:rates:id", "datasetField:lake:report:id"]


def test_such_an_edge_goes_once_the_job_is_told_to_read_the_source(client: TestClient) -> None:
    told = facet(fields={"id": {"inputFields": [{"namespace": "lake", "name": "rates", "field": "id"}]}})
    made = dataset("out", schema=schema("id"), columnLineage=told)
    post(client, {**ran(10, "load", [], []), "outputs": [made]})
    before = edges(client, "dataset:lake:out")

    post(client, {**ran(10, "load", ["rates"], []), "eventType": "START"})

    assert before == {("rates", "out"), ("load", "out")}
    assert edges(client, "dataset:lake:out") == {("rates", "load"), ("load", "out")}


@pytest.mark.parametrize("start", ["dataset:lake:raw", "dataset:lake:orders", VIEW, "job:etl:report"])
def test_a_view_joins_what_it_is_made_from_to_those_who_read_it(client: TestClient, start: str) -> None:
    a_view_between_two_jobs(client)

    assert edges(client, start) == {
        ("raw", "load"),
        ("load", "orders"),
        ("orders", "report_view"),
        ("report_view", "report"),
        ("report", "mart"),
    }


def test_such_an_edge_says_which_facet_tells_of_it_and_since_when(client: TestClient) -> None:
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
def test_column_lineage_of_a_dataset_event_is_such_an_edge_too(client: TestClient, facets: Body) -> None:
    post(client, ran(10, "load", [], ["orders"]), told(11, "report_view", **facets))

    assert edges(client, VIEW) == {("load", "orders"), ("orders", "report_view")}


def test_a_source_of_which_nobody_told_anything_is_drawn_and_can_be_asked_about(client: TestClient) -> None:
    post(client, told(11, "report_view", lineage=facet(inputs=[source("orders")])))

    assert edges(client, VIEW) == edges(client, "dataset:lake:orders") == {("orders", "report_view")}


def test_where_a_job_takes_the_data_its_edges_say_so_whatever_came_first(client: TestClient) -> None:
    post(client, told(11, "mart", lineage=facet(inputs=[source("orders"), source("rates")])))
    assert edges(client, "dataset:lake:mart") == {("orders", "mart"), ("rates", "mart")}

    post(client, ran(12, "report", ["orders"], ["mart"]))

    assert edges(client, "dataset:lake:mart") == {("orders", "report"), ("report", "mart"), ("rates", "mart")}


def test_a_view_that_is_declared_anew_without_sources_has_none(client: TestClient) -> None:
    a_view_between_two_jobs(client)
    post(client, told(20, "report_view", lineage=facet(inputs=[])))

    assert edges(client, VIEW) == {("report_view", "report"), ("report", "mart")}


def test_such_an_edge_ends_at_the_name_that_the_dataset_is_shown_by_now(client: TestClient) -> None:
    same = facet(identifiers=[{"namespace": "lake", "name": "t1", "type": "TABLE"}])
    post(client, told(10, "t0"), told(10, "t2", symlinks=same))
    post(client, told(11, "t3", symlinks=same, lineage=facet(inputs=[source("t0")])))
    before = edges(client, "dataset:lake:t0", depth=0)

    post(client, ran(12, "load", [], ["t1"]))

    assert before == {("t0", "t2")}
    assert edges(client, "dataset:lake:t0", depth=0) == {("t0", "t1")}


def test_a_job_that_tells_of_datasets_it_does_not_touch_makes_such_edges(client: TestClient) -> None:
    entries = facet(entries=[{**source("mart"), "inputs": [source("orders")]}])
    post(client, ran(12, "sync", [], [], facets={"lineage": entries}))

    assert edges(client, "dataset:lake:mart") == {("orders", "mart")}


def test_jobs_that_hand_data_over_without_a_dataset_have_an_edge(client: TestClient) -> None:
    other = {"namespace": "etl", "name": "extract", "type": "JOB"}
    entries = facet(entries=[{"type": "JOB", "inputs": [other]}])
    post(client, ran(12, "load", [], ["orders"], facets={"lineage": entries}))

    assert edges(client, "dataset:lake:orders") == {("extract", "load"), ("load", "orders")}


def test_a_deleted_view_is_drawn_nowhere(client: TestClient) -> None:
    a_view_between_two_jobs(client)
    client.delete("/api/v1/namespaces/lake/datasets/report_view")

    assert edges(client, "dataset:lake:orders") == {("raw", "load"), ("load", "orders")}


def test_an_impact_goes_through_the_view(client: TestClient) -> None:
    a_view_between_two_jobs(client)

    reached = get(client, "/api/v1/impact?nodeId=dataset:lake:orders")

    assert {VIEW, "job:etl:report", "dataset:lake:mart"} <= {place["id"] for place in reached["reached"]}


def test_a_root_cause_is_looked_for_through_the_view(client: TestClient) -> None:
    a_view_between_two_jobs(client)

    of_mart = get(client, "/api/v1/root-cause?nodeId=dataset:lake:mart")
    of_view = get(client, f"/api/v1/root-cause?nodeId={VIEW}")

    assert [visit["run"]["job"]["name"] for visit in of_mart["lookedAt"]] == ["report", "load"]
    assert [visit["run"]["job"]["name"] for visit in of_view["lookedAt"]] == ["load"]


def test_a_failed_run_behind_the_view_is_what_is_wrong_with_those_who_read_it(client: TestClient) -> None:
    post(client, ran(10, "load", ["raw"], ["orders"]))
    post(client, told(11, "report_view", schema=schema("id"), lineage=facet(inputs=[source("orders")])))
    post(client, {**ran(12, "load", ["raw"], ["orders"]), "eventType": "FAIL"})
    post(client, ran(13, "report", ["report_view"], ["mart"]))

    found = get(client, "/api/v1/root-cause?nodeId=dataset:lake:mart")["findings"]

    assert [(each["kind"], each["nodeId"]) for each in found] == [("failed-run", "job:etl:load")]


def test_graphql_says_which_ends_are_datasets(client: TestClient) -> None:
    a_view_between_two_jobs(client)
    query = (
        '{ lineageFromJob(namespace: "etl", name: "load") { graph { ... on DatasetLineageEntry { name '
        "outEdges { name type } } } } }"
    )

    answer = client.post("/api/v1-beta/graphql", json={"query": query}).json()

    assert {"name": "orders", "outEdges": [{"name": "report_view", "type": "DATASET"}]} in (
        answer["data"]["lineageFromJob"]["graph"]
    )
