"""Reads of the lineage of jobs and datasets whose correct answers are known."""

from urllib.parse import quote

import pytest
from starlette.testclient import TestClient

from tests.support.app import dataset, event, facet, get, post, schema
from tests.support.lineage_events import job, run_event


def chain(client: TestClient, length: int) -> None:
    """Jobs j0, j1, …, each reading the dataset that the one before it wrote."""
    for number in range(length):
        ends = {"inputs": [dataset(f"d{number}")], "outputs": [dataset(f"d{number + 1}")]}
        post(client, run_event(f"r{number}", "COMPLETE", number, job=job(f"j{number}"), **ends))


@pytest.mark.parametrize(
    ("node", "depth", "jobs"),
    [
        ("job:etl:j2", 0, ["j2"]),
        ("job:etl:j2", 1, ["j1", "j2", "j3"]),
        ("job:etl:j2", 20, ["j0", "j1", "j2", "j3", "j4"]),
        ("dataset:lake:d2", 0, ["j1", "j2"]),
        ("dataset:lake:d2", 1, ["j0", "j1", "j2", "j3"]),
    ],
)
def test_depth_counts_jobs_each_with_all_its_inputs_and_outputs(
    client: TestClient, node: str, depth: int, jobs: list[str]
) -> None:
    chain(client, 5)

    graph = get(client, f"/api/v1/lineage?nodeId={node}&depth={depth}")["graph"]

    assert [each["data"]["name"] for each in graph if each["type"] == "JOB"] == jobs
    touched = {f"d{int(name[1]) + end}" for name in jobs for end in (0, 1)}
    assert {each["data"]["name"] for each in graph if each["type"] == "DATASET"} == touched


@pytest.mark.parametrize("side", ["inputs", "outputs"])
def test_jobs_with_an_input_or_output_in_common_are_neighbours(client: TestClient, side: str) -> None:
    other = {"inputs": "outputs", "outputs": "inputs"}[side]
    for number in range(2):
        ends = {side: [dataset("shared")], other: [dataset(f"own{number}")]}
        post(client, run_event(f"r{number}", "COMPLETE", number, job=job(f"j{number}"), **ends))

    far, near = (get(client, f"/api/v1/lineage?nodeId=job:etl:j0&depth={depth}")["graph"] for depth in (1, 0))

    assert [each["data"]["name"] for each in far] == ["own0", "own1", "shared", "j0", "j1"]
    assert [each["data"]["name"] for each in near] == ["own0", "shared", "j0"]


def test_every_edge_is_at_both_its_ends_with_its_times(client: TestClient) -> None:
    chain(client, 2)
    post(client, run_event("r9", "COMPLETE", 9, job=job("j0"), inputs=[dataset("d0")]))

    graph = {node["id"]: node for node in get(client, "/api/v1/lineage?nodeId=job:etl:j0")["graph"]}

    (edge,) = graph["job:etl:j0"]["inEdges"]
    assert edge == {
        "origin": "dataset:lake:d0",
        "destination": "job:etl:j0",
        "firstSeen": "2026-05-22T14:23:00.000Z",
        "lastSeen": "2026-05-22T14:23:09.000Z",
        "runs": 2,
    }
    assert graph["dataset:lake:d0"]["outEdges"] == [edge]
    assert graph["dataset:lake:d1"]["inEdges"] == graph["job:etl:j0"]["outEdges"]


def test_an_input_of_an_earlier_run_stays_when_the_newest_has_none(client: TestClient) -> None:
    post(client, run_event("old", "COMPLETE", 1, inputs=[dataset("a")], outputs=[dataset("b")]))
    post(client, run_event("new", "FAIL", 2))

    graph = get(client, "/api/v1/lineage?nodeId=job:etl:load")["graph"]

    assert [node["id"] for node in graph] == ["dataset:lake:a", "dataset:lake:b", "job:etl:load"]
    assert graph[2]["data"]["latestRun"]["id"] == "new"


def test_the_lineage_of_an_isolated_dataset_is_the_dataset_alone(client: TestClient) -> None:
    post(client, {"eventTime": "2026-05-22T14:23:11Z", "producer": "p", "dataset": dataset("alone")})

    graph = get(client, "/api/v1/lineage?nodeId=dataset:lake:alone")["graph"]

    assert [(node["id"], node["inEdges"], node["outEdges"]) for node in graph] == [("dataset:lake:alone", [], [])]


def test_a_job_and_a_dataset_of_one_name_are_two_nodes(client: TestClient) -> None:
    post(client, event(job={"namespace": "lake", "name": "x"}, inputs=[dataset("x")]))

    graph = get(client, "/api/v1/lineage?nodeId=job:lake:x")["graph"]

    assert [(node["id"], len(node["inEdges"]), len(node["outEdges"])) for node in graph] == [
        ("dataset:lake:x", 0, 1),
        ("job:lake:x", 1, 0),
    ]


@pytest.mark.parametrize(
    ("namespace", "name"),
    [("kafka://broker:9092", "orders"), ("a", "b:c:d"), ("a:b", "c:d"), ("urn:x:y", "t#1"), ("n", "t#v:1")],
)
def test_a_node_id_is_split_at_the_colon_that_gives_a_known_name(client: TestClient, namespace: str, name: str) -> None:
    post(client, event(inputs=[dataset(name, namespace, schema=schema("id"))]))
    node_id = f"dataset:{namespace}:{name}"

    graph = get(client, f"/api/v1/lineage?nodeId={quote(node_id, safe='')}")["graph"]
    with_version = get(client, f"/api/v1/lineage?nodeId={quote(node_id + '#0198', safe='')}")["graph"]

    assert graph[0]["id"] == with_version[0]["id"] == node_id


def test_a_node_id_of_ten_thousand_colons_is_quickly_not_found(client: TestClient) -> None:
    response = client.get("/api/v1/column-lineage?nodeId=datasetField" + ":" * 10_000)

    assert response.status_code == 404
    assert response.elapsed.total_seconds() < 2


def test_a_run_that_used_two_names_of_a_dataset_counts_once(client: TestClient) -> None:
    alias = {"namespace": "trino://warehouse", "name": "sales.orders", "type": "TABLE"}
    names = [dataset("orders", symlinks=facet(identifiers=[alias])), dataset("sales.orders", "trino://warehouse")]
    for minute, name in enumerate(names):
        post(client, run_event("r1", "RUNNING", minute, inputs=[dataset("raw")], outputs=[name]))
    post(client, run_event("r2", "COMPLETE", 9, job=job("mart"), inputs=names, outputs=[dataset("totals")]))

    (load, mart) = (
        node for node in get(client, "/api/v1/lineage?nodeId=dataset:lake:orders")["graph"] if node["type"] == "JOB"
    )
    flows = [get(client, f"/api/v1/flow?nodeId=dataset:lake:{name}")["sources"] for name in ("orders", "totals")]

    assert [edge["runs"] for node in (load, mart) for edge in (*node["inEdges"], *node["outEdges"])] == [1, 1, 1, 1]
    assert [[(each["dataset"]["name"], each["runs"]) for each in sources] for sources in flows] == [
        [("raw", 1)],
        [("orders", 1)],
    ]


def test_a_run_whose_column_lineage_grew_counts_once(client: TestClient) -> None:
    for minute, columns in enumerate(("a", "ab", "abc")):
        made = {column: {"inputFields": [{"namespace": "lake", "name": "raw", "field": column}]} for column in columns}
        total = dataset("totals", columnLineage=facet(fields=made))
        post(client, run_event("r1", "RUNNING", minute, outputs=[total]))
    post(client, run_event("r2", "COMPLETE", 9, outputs=[total]))

    (source,) = get(client, "/api/v1/flow?nodeId=dataset:lake:totals")["sources"]
    graph = get(client, "/api/v1/lineage?nodeId=dataset:lake:totals&depth=0")["graph"]
    (derived,) = (edge for node in graph for edge in node["inEdges"] if edge["origin"] == "dataset:lake:raw")

    assert [edge["runs"] for edge in (source, derived)] == [2, 2]
