"""The paths through a job or dataset, and its neighbours: over the API, now and as of a time."""

import json
from contextlib import closing
from pathlib import Path
from tempfile import TemporaryDirectory
from urllib.parse import urlencode
from uuid import NAMESPACE_URL, uuid5

import pytest
from hypothesis import given, settings
from starlette.testclient import TestClient

from headwater.graph.lineage import Graph
from headwater.service.knowledge.knowledge import Knowledge
from headwater.service.views.lineage import lineage
from headwater.service.views.path import path as path_of
from headwater.store.sqlite import SqliteStore
from tests.component.service.test_service_kept_answers import finished, fresh, learn, nodes
from tests.support.app import Body, dataset, event, facet, get, post
from tests.support.logs import logs

PAIR = {"in0": "out0", "in1": "out1"}
MANY = 1_000
HOUR_BEFORE = "2026-05-22T13:23:11Z"


def ran(job: str, reads: list[str], writes: list[Body], **changes: object) -> Body:
    inputs = [dataset(name) for name in reads]
    return event(
        eventType="COMPLETE",
        run={"runId": str(uuid5(NAMESPACE_URL, job))},
        job={"namespace": "etl", "name": job},
        inputs=inputs,
        outputs=writes,
        **changes,
    )


def made_from(name: str, source: str) -> Body:
    fields = {"x": {"inputFields": [{"namespace": "lake", "name": source, "field": "x"}]}}
    return dataset(name, columnLineage=facet(fields=fields))


PAIRED = ran("pair", [*PAIR], [made_from(target, source) for source, target in PAIR.items()])
UNPAIRED = ran("pair", [*PAIR], [dataset(target) for target in PAIR.values()], eventTime=HOUR_BEFORE)


def path(client: TestClient, node_id: str, **query: object) -> set[tuple[str, str]]:
    answer = get(client, f"/api/v1/path?{urlencode({'nodeId': node_id, **query})}")
    return {(edge["origin"].rpartition(":")[2], edge["destination"].rpartition(":")[2]) for edge in answer["edges"]}


def neighbours(client: TestClient, node_id: str, direction: str, kind: str, **query: object) -> Body:
    return get(client, f"/api/v1/neighbours?{urlencode({'nodeId': node_id, 'way': direction, 'type': kind, **query})}")


def test_a_path_follows_only_the_data_flow_that_events_report(client: TestClient) -> None:
    post(client, PAIRED)

    assert path(client, "dataset:lake:out0") == {("in0", "pair"), ("pair", "out0")}
    assert path(client, "datasetField:lake:in1:x") == {("in1", "pair"), ("pair", "out1")}
    assert path(client, "job:etl:pair") == {
        *((name, "pair") for name in PAIR),
        *(("pair", name) for name in PAIR.values()),
    }


def test_a_path_as_of_a_time_is_the_one_known_then(client: TestClient) -> None:
    post(client, UNPAIRED)
    both = {("in0", "pair"), ("in1", "pair"), ("pair", "out0")}
    assert path(client, "dataset:lake:out0") == both
    post(client, PAIRED)

    assert path(client, "dataset:lake:out0") == {("in0", "pair"), ("pair", "out0")}
    assert path(client, "dataset:lake:out0", asOf=HOUR_BEFORE) == both


def test_a_path_that_was_cut_is_reported_as_cut(client: TestClient) -> None:
    post(client, ran("first", ["a"], [dataset("b")]), ran("second", ["b"], [dataset("c")]))

    answers = [get(client, f"/api/v1/path?nodeId=dataset:lake:a{more}") for more in ("", "&limit=1", "&depth=0")]

    assert [answer["isCut"] for answer in answers] == [False, True, True]
    assert [len(answer["edges"]) for answer in answers] == [4, 2, 2]


def test_neighbours_are_listed_by_name_in_pages_with_their_count(client: TestClient) -> None:
    post(client, *(ran(f"reader-{at}", ["hub"], []) for at in range(5)), ran("load", [], [dataset("hub")]))

    page = neighbours(client, "dataset:lake:hub", "downstream", "JOB", limit=2, offset=2)

    assert page["totalCount"] == 5
    assert page["neighbours"] == [
        {"nodeId": f"job:etl:reader-{at}", "namespace": "etl", "name": f"reader-{at}"} for at in (2, 3)
    ]
    assert [each["name"] for each in neighbours(client, "dataset:lake:hub", "upstream", "job")["neighbours"]] == [
        "load"
    ]


def test_neighbours_are_a_jobs_datasets_and_datasets_linked_without_a_job(client: TestClient) -> None:
    aliased = dataset("t", symlinks=facet(identifiers=[{"namespace": "glue", "name": "db.t", "type": "TABLE"}]))
    view = dataset("view", lineage=facet(inputs=[{"namespace": "lake", "name": "t", "type": "DATASET"}]))
    declared = {"eventTime": "2026-05-22T14:23:11Z", "producer": "p", "dataset": view}
    post(client, ran("load", ["raw"], [aliased]), declared)

    ((table,), (raw,)) = (
        neighbours(client, "job:etl:load", direction, "DATASET")["neighbours"]
        for direction in ("downstream", "upstream")
    )

    assert {each["name"] for each in (table, *table["symlinks"])} == {"t", "db.t"}
    assert (raw["nodeId"], raw["symlinks"]) == ("dataset:lake:raw", [])
    for node_id, direction, other in (
        (table["nodeId"], "downstream", "view"),
        ("dataset:lake:view", "upstream", table["name"]),
    ):
        assert [each["name"] for each in neighbours(client, node_id, direction, "DATASET")["neighbours"]] == [other]
        assert neighbours(client, node_id, direction, "JOB")["totalCount"] == 0


def test_a_deleted_dataset_is_not_a_neighbour(client: TestClient) -> None:
    post(client, PAIRED)
    client.delete("/api/v1/namespaces/lake/datasets/out1").raise_for_status()

    assert neighbours(client, "job:etl:pair", "downstream", "DATASET")["totalCount"] == 1


@pytest.mark.parametrize(
    ("start", "is_followed"),
    [("a", False), ("b", False), ("told", True), ("made", True)],
    ids=["down", "up", "down", "up"],
)
def test_of_a_deleted_job_only_its_column_lineage_is_followed(
    client: TestClient, start: str, is_followed: bool
) -> None:
    post(client, ran("load", ["a"], [dataset("b")]), ran("make", ["told"], [made_from("made", "told")]))
    for job in ("load", "make"):
        client.delete(f"/api/v1/namespaces/etl/jobs/{job}").raise_for_status()

    edges = get(client, f"/api/v1/path?nodeId=dataset:lake:{start}")["edges"]

    assert edges == ([{"origin": "dataset:lake:told", "destination": "dataset:lake:made"}] if is_followed else [])


@pytest.mark.parametrize("query", ["", "&way=up&type=JOB", "&way=upstream&type=RUN"])
def test_a_request_without_the_kind_of_neighbours_is_refused_with_what_is_missing(
    client: TestClient, query: str
) -> None:
    post(client, PAIRED)

    response = client.get(f"/api/v1/neighbours?nodeId=job:etl:pair{query}")

    assert response.status_code == 400
    assert "way" in response.text or "type" in response.text


@given(logs)
@settings(deadline=None, max_examples=40)
def test_each_edge_of_a_path_is_in_the_lineage_graph_of_its_start(log: list[bytes]) -> None:
    with TemporaryDirectory() as folder, closing(SqliteStore(Path(folder) / "headwater.db")) as store:
        learn(store, Knowledge(store, Graph(store.content)), log)
        knowledge = fresh(store)
        for node in nodes(knowledge):
            around = json.loads(finished(lineage(knowledge, node, MANY)))["graph"]
            edges = {(edge["origin"], edge["destination"]) for each in around for edge in each["inEdges"]}

            path_edges = finished(path_of(knowledge, node, MANY, MANY))["edges"]

            assert {(edge["origin"], edge["destination"]) for edge in path_edges} <= edges
