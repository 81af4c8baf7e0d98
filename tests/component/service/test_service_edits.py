"""Edits over the API: they hold from then on, also after a restart, and all of them are in the log."""

import json
from collections.abc import Iterator, Mapping
from contextlib import closing
from functools import partial
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from starlette.testclient import TestClient

from headwater.graph.walk import reachable
from headwater.store.sqlite import SqliteStore
from tests.support.app import Body, Response, dataset, event, facet, get, post, schema, served, serving
from tests.support.logs import logs
from tests.support.reads import read_everything

LAKE = "/api/v1/namespaces/lake"
ORDERS = f"{LAKE}/datasets/orders"
LOAD = "/api/v1/namespaces/etl/jobs/load"


@pytest.fixture
def client(tmp_path: Path) -> Iterator[TestClient]:
    with served(tmp_path) as client:
        post(client, loaded(11))
        yield client


def loaded(second: int, **changes: object) -> dict[str, Any]:
    orders = dataset("orders", schema=schema("id", "price"))
    return event(eventTime=f"2026-05-22T14:23:{second:02d}Z", outputs=[orders], **changes)


def ok(response: Response) -> Body:
    assert response.status_code == 200, response.text
    body: Body = response.json()
    return body


def test_tags_keep_the_order_in_which_they_were_put_and_can_be_removed(client: TestClient) -> None:
    for word in ("GOLD", "A", "Mine"):
        ok(client.post(f"{ORDERS}/tags/{word}"))

    after = ok(client.delete(f"{ORDERS}/tags/A"))

    assert after["tags"] == get(client, ORDERS)["tags"] == ["GOLD", "Mine"]
    assert get(client, f"{ORDERS}/versions")["versions"][0]["tags"] == ["GOLD", "Mine"]


def test_columns_and_jobs_have_tags_too(client: TestClient) -> None:
    ok(client.post(f"{ORDERS}/fields/price/tags/secret"))
    ok(client.post(f"{ORDERS}/fields/id/tags/PII"))
    ok(client.delete(f"{ORDERS}/fields/id/tags/pii"))
    job = ok(client.post(f"{LOAD}/tags/nightly"))

    assert {field["name"]: field["tags"] for field in get(client, ORDERS)["fields"]} == {"id": [], "price": ["SECRET"]}
    assert job["tags"] == get(client, LOAD)["tags"] == ["nightly"]
    assert ok(client.delete(f"{LOAD}/tags/nightly"))["tags"] == []


def test_a_tag_put_under_one_name_of_a_dataset_is_shown_under_every_name(client: TestClient) -> None:
    symlinks = facet(identifiers=[{"namespace": "glue", "name": "table/orders", "type": "TABLE"}])
    post(client, loaded(12, inputs=[dataset("orders", symlinks=symlinks)]))
    other = "/api/v1/namespaces/glue/datasets/table%2Forders"

    ok(client.post(f"{other}/tags/GOLD"))
    ok(client.post(f"{other}/fields/id/tags/PII"))

    assert get(client, ORDERS)["tags"] == get(client, other)["tags"] == ["GOLD"]
    assert get(client, ORDERS)["fields"][0]["tags"] == ["PII"]
    assert ok(client.delete(f"{ORDERS}/tags/GOLD"))["tags"] == get(client, other)["tags"] == []


def test_all_tags_are_listed_with_their_descriptions(client: TestClient) -> None:
    ok(client.put("/api/v1/tags/GOLD", json={"description": "the best"}))
    ok(client.put("/api/v1/tags/GOLD", json={}))
    ok(client.put("/api/v1/tags/PII", json={"description": ""}))
    ok(client.post(f"{ORDERS}/tags/used"))

    listed = get(client, "/api/v1/tags")["tags"]

    assert {tag["name"]: tag["description"] for tag in listed} == {
        "GOLD": "the best",
        "PII": "",
        "SENSITIVE": "Contains sensitive information",
        "used": None,
    }
    assert [tag["name"] for tag in get(client, "/api/v1/tags?limit=2&offset=1")["tags"]] == ["PII", "SENSITIVE"]


@pytest.mark.parametrize(
    ("path", "message"),
    [
        ("lake/datasets/none/tags/A", "Dataset 'none' not found."),
        ("lake/datasets/orders/fields/none/tags/A", "Field 'none' not found for dataset 'orders'."),
        ("etl/jobs/none/tags/A", "Job 'none' not found."),
    ],
)
def test_a_tag_of_something_unknown_is_not_found(client: TestClient, path: str, message: str) -> None:
    for method in ("POST", "DELETE"):
        response = client.request(method, f"/api/v1/namespaces/{path}")

        assert (response.status_code, response.json()["message"]) == (404, message)
    assert get(client, "/api/v1/edits")["totalCount"] == 0


# Deleting


def test_a_deleted_dataset_is_hidden_until_an_event_names_it(client: TestClient) -> None:
    gone = ok(client.delete(ORDERS))

    assert gone["name"] == "orders"
    assert client.get(ORDERS).json() == {"code": 404, "message": "Dataset 'orders' not found."}
    assert client.delete(ORDERS).status_code == 404
    assert get(client, f"{LAKE}/datasets")["totalCount"] == 0
    assert get(client, "/api/v1/search?q=orders")["totalCount"] == 0
    assert client.get("/api/v1/lineage?nodeId=dataset:lake:orders").status_code == 404
    (node,) = get(client, "/api/v1/lineage?nodeId=job:etl:load")["graph"]
    assert (node["id"], node["outEdges"]) == ("job:etl:load", [])

    post(client, event(eventTime="2026-05-22T14:20:00Z", job={"namespace": "etl", "name": "other"}))
    assert client.get(ORDERS).status_code == 404

    post(client, loaded(1))  # its time is before all others, but it arrived later, which counts
    assert get(client, ORDERS)["name"] == "orders"
    assert len(get(client, "/api/v1/lineage?nodeId=job:etl:load")["graph"]) == 2


def test_columns_of_a_deleted_dataset_are_hidden(client: TestClient) -> None:
    sources = [{"namespace": "lake", "name": name, "field": "id"} for name in ("orders", "never-seen")]
    made_from = facet(fields={"total": {"inputFields": sources}})
    post(client, loaded(12, inputs=[dataset("mart", columnLineage=made_from)]))
    ok(client.delete(ORDERS))

    columns = get(client, "/api/v1/column-lineage?nodeId=dataset:lake:mart")["graph"]

    assert [node["id"] for node in columns] == ["datasetField:lake:mart:total", "datasetField:lake:never-seen:id"]
    assert client.get("/api/v1/column-lineage?nodeId=datasetField:lake:orders:id").status_code == 404


def test_the_column_lineage_of_a_dataset_omits_deleted_sources(client: TestClient) -> None:
    made_from = facet(fields={"total": {"inputFields": [{"namespace": "lake", "name": "orders", "field": "id"}]}})
    post(client, loaded(12), event(outputs=[dataset("mart", columnLineage=made_from)]))
    (before,) = get(client, f"{LAKE}/datasets/mart")["columnLineage"]
    ok(client.delete(ORDERS))

    assert [each["field"] for each in before["inputFields"]] == ["id"]
    assert get(client, f"{LAKE}/datasets/mart")["columnLineage"] is None


def test_a_job_in_the_graph_has_no_deleted_inputs_or_outputs(client: TestClient) -> None:
    of_job = "/api/v1/lineage?nodeId=job:etl:load"
    (before,) = (node["data"]["outputs"] for node in get(client, of_job)["graph"] if node["type"] == "JOB")
    ok(client.delete(ORDERS))

    (job,) = get(client, of_job)["graph"]

    assert before == [{"namespace": "lake", "name": "orders"}]
    assert (job["data"]["outputs"], job["outEdges"]) == ([], [])
    (listed,) = get(client, "/api/v1/jobs")["jobs"]
    assert listed["outputs"] == get(client, LOAD)["outputs"] == []
    post(client, loaded(12))
    assert len(get(client, of_job)["graph"]) == 2
    assert get(client, LOAD)["outputs"] == before


def test_versions_of_a_job_still_list_a_deleted_dataset(client: TestClient) -> None:
    post(client, loaded(12, eventType="COMPLETE"))
    ok(client.delete(ORDERS))

    (version,) = get(client, f"{LOAD}/versions")["versions"]

    assert version["outputs"] == [{"namespace": "lake", "name": "orders"}]


@pytest.mark.parametrize(
    ("gone", "around"),
    [(f"{LAKE}/datasets/b", {"a", "first"}), ("/api/v1/namespaces/etl/jobs/second", {"a", "first", "b"})],
    ids=["dataset", "job"],
)
def test_graph_path_and_impact_all_end_at_something_deleted(tmp_path: Path, gone: str, around: set[str]) -> None:
    with served(tmp_path) as client:
        for run, (reads, job, writes) in enumerate([("a", "first", "b"), ("b", "second", "c"), ("c", "third", "d")]):
            members = {
                "inputs": [dataset(reads)],
                "outputs": [dataset(writes)],
                "job": {"namespace": "etl", "name": job},
            }
            post(client, event(run={"runId": f"0198f7d0-0000-7000-8000-00000000000{run}"}, **members))
        ok(client.delete(gone))

        of_a = "nodeId=dataset:lake:a"
        graph = {node["data"]["name"] for node in get(client, f"/api/v1/lineage?{of_a}")["graph"]}
        reached = {each["name"] for each in get(client, f"/api/v1/impact?{of_a}")["reached"]}
        edges = get(client, f"/api/v1/path?{of_a}")["edges"]
        flow = get(client, f"/api/v1/flow?{of_a}&depth=20")["graph"]

    assert graph == reached | {"a"} == around
    assert {end.rpartition(":")[2] for edge in edges for end in (edge["origin"], edge["destination"])} == around
    assert {each["dataset"]["name"] for each in flow} == around - {"first"}


_DELETED = st.sampled_from([*(f"lake/datasets/t{number}" for number in range(4)), "etl/jobs/mart"])


@settings(max_examples=20, suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large])
@given(log=logs, gone=st.sets(_DELETED, min_size=1))
def test_a_graph_is_connected_and_agrees_with_the_details_and_neighbours_of_each_job(
    log: list[bytes], gone: set[str]
) -> None:
    with TemporaryDirectory() as folder, served(Path(folder)) as client:
        for raw in log:
            client.post("/api/v1/lineage", content=raw)
        for each in gone:
            client.delete(f"/api/v1/namespaces/{each}")

        jobs = get(client, "/api/v1/jobs")["jobs"]
        graphs = [get(client, f"/api/v1/lineage?nodeId=job:etl:{job['name']}")["graph"] for job in jobs]
        neighbours = [[_neighbours(client, job["name"], way) for way in ("upstream", "downstream")] for job in jobs]

    assert [[job["inputs"], job["outputs"]] for job in jobs] == neighbours
    for job, graph in zip(jobs, graphs, strict=True):
        by_id = {node["id"]: node for node in graph}
        node_data = by_id[f"job:etl:{job['name']}"]["data"]
        assert (node_data["inputs"], node_data["outputs"]) == (job["inputs"], job["outputs"])
        assert reachable([f"job:etl:{job['name']}"], partial(_ends, by_id), len(graph)).keys() == by_id.keys()


def _neighbours(client: TestClient, job: str, way: str) -> list[Body]:
    found = get(client, f"/api/v1/neighbours?nodeId=job:etl:{job}&way={way}&type=DATASET")["neighbours"]
    names = sorted((each["namespace"], each["name"]) for each in found)
    return [{"namespace": namespace, "name": name} for namespace, name in names]


def _ends(by_id: Mapping[str, Body], node_id: str) -> set[str]:
    node = by_id[node_id]
    return {edge[end] for edge in (*node["inEdges"], *node["outEdges"]) for end in ("origin", "destination")}


@pytest.mark.parametrize("route", ["lineage", "column-lineage", "impact", "path", "root-cause", "containment"])
def test_a_run_of_a_deleted_job_is_not_found_as_a_node(client: TestClient, route: str) -> None:
    of_run = f"/api/v1/{route}?nodeId=run:{get(client, LOAD)['latestRun']['id']}"
    before = client.get(of_run)
    ok(client.delete(LOAD))

    after = client.get(of_run)

    assert before.status_code == 200
    assert (after.status_code, after.json()["message"]) == (404, "Job 'load' not found.")


def test_a_deleted_job_is_hidden_until_an_event_names_it(client: TestClient) -> None:
    ok(client.delete(LOAD))

    assert client.get(LOAD).json()["message"] == "Job 'load' not found."
    assert get(client, "/api/v1/jobs")["totalCount"] == 0
    assert get(client, "/api/v1/search?q=load")["totalCount"] == 0
    post(client, loaded(12))
    assert get(client, LOAD)["name"] == "load"


def test_a_dataset_that_came_back_can_be_deleted_again(client: TestClient) -> None:
    for second in (12, 13):
        ok(client.delete(ORDERS))
        post(client, loaded(second))
    ok(client.delete(ORDERS))

    assert client.get(ORDERS).status_code == 404
    assert get(client, "/api/v1/edits")["totalCount"] == 3


def test_a_dataset_is_deleted_and_comes_back_under_all_its_names(client: TestClient) -> None:
    symlinks = facet(identifiers=[{"namespace": "glue", "name": "table/orders", "type": "TABLE"}])
    post(client, loaded(12, inputs=[dataset("orders", symlinks=symlinks)]))
    other = "/api/v1/namespaces/glue/datasets/table%2Forders"

    ok(client.delete(other))
    assert [client.get(path).status_code for path in (ORDERS, other)] == [404, 404]

    post(client, loaded(13, inputs=[dataset("table/orders", "glue")]))
    assert [client.get(path).status_code for path in (ORDERS, other)] == [200, 200]


def test_a_deleted_namespace_is_hidden_with_all_its_content(client: TestClient) -> None:
    ok(client.put(LAKE, json={"ownerName": "ann"}))

    ok(client.delete(LAKE))

    listed = {each["name"]: each for each in get(client, "/api/v1/namespaces")["namespaces"]}
    assert listed["lake"] == get(client, LAKE)
    assert {name for name, each in listed.items() if each["isHidden"]} == {"lake"}
    assert get(client, f"{LAKE}/datasets") == {"datasets": [], "totalCount": 0}
    assert client.get(ORDERS).status_code == 404
    assert get(client, LOAD)["name"] == "load"

    ok(client.put(LAKE, json={"ownerName": "ann"}))
    assert get(client, LAKE)["isHidden"] is False
    assert client.get(ORDERS).status_code == 404, "putting the namespace does not restore its content"
    post(client, loaded(12))
    assert client.get(ORDERS).status_code == 200


@pytest.fixture
def two_names(client: TestClient) -> TestClient:
    """A dataset with two names in different namespaces; it is listed in `glue`."""
    symlinks = facet(identifiers=[{"namespace": "glue", "name": "table/t", "type": "TABLE"}])
    written, read = dataset("t", "wh", symlinks=symlinks), dataset("table/t", "glue")
    jobs = ({"run": {"runId": name}, "job": {"namespace": "jobs", "name": name}} for name in "wr")
    for job, ends in zip(jobs, ({"outputs": [written]}, {"inputs": [read]}), strict=True):
        post(client, event(eventTime="2026-05-22T14:20:00Z", **job, **ends))
    assert _listed(client, "glue", "wh") == [["table/t"], []]
    return client


def _listed(client: TestClient, *namespaces: str) -> list[list[str]]:
    listed = (get(client, f"/api/v1/namespaces/{name}/datasets")["datasets"] for name in namespaces)
    return [[each["name"] for each in datasets] for datasets in listed]


def test_the_datasets_of_all_namespaces_are_paged_by_namespace_and_name(two_names: TestClient) -> None:
    others = [dataset("z", "a"), dataset("y", "wh"), dataset("b", "glue"), dataset("gone", "empty")]
    post(two_names, event(inputs=others, outputs=[]))
    ok(two_names.delete("/api/v1/namespaces/empty/datasets/gone"))
    expected = ["a z", "glue b", "glue table/t", "lake orders", "wh y"]

    for limit in range(6):
        for offset in range(6):
            page = get(two_names, f"/api/v1/datasets?limit={limit}&offset={offset}")
            names = [f"{each['namespace']} {each['name']}" for each in page["datasets"]]
            assert (names, page["totalCount"]) == (expected[offset:][:limit], 5)


def test_a_deleted_namespace_hides_the_datasets_listed_in_it_under_all_their_names(two_names: TestClient) -> None:
    ok(two_names.delete("/api/v1/namespaces/glue"))

    assert _listed(two_names, "glue", "wh") == [[], []]
    paths = ("glue/datasets/table%2Ft", "wh/datasets/t")
    assert [two_names.get(f"/api/v1/namespaces/{path}").status_code for path in paths] == [404, 404]
    graph = get(two_names, "/api/v1/lineage?nodeId=job:jobs:w")["graph"]
    assert {node["type"] for node in graph} == {"JOB"}


def test_a_deleted_namespace_does_not_hide_a_dataset_listed_in_another(two_names: TestClient) -> None:
    ok(two_names.delete("/api/v1/namespaces/glue/datasets/table%2Ft"))
    again = {"run": {"runId": "r"}, "job": {"namespace": "jobs", "name": "r"}, "inputs": [dataset("t", "wh")]}
    post(two_names, event(eventTime="2026-05-22T14:22:00Z", **again))

    ok(two_names.delete("/api/v1/namespaces/wh"))

    assert _listed(two_names, "glue", "wh") == [["table/t"], []]
    assert get(two_names, "/api/v1/namespaces/wh")["isHidden"] is True


# Namespaces and sources


def test_a_namespace_has_its_owner_description_and_times(client: TestClient) -> None:
    first = ok(client.put("/api/v1/namespaces/s3%3A%2F%2Fb", json={"ownerName": "ann", "description": "ours"}))
    second = ok(client.put("/api/v1/namespaces/s3%3A%2F%2Fb", json={"ownerName": "bob"}))
    third = ok(client.put("/api/v1/namespaces/s3%3A%2F%2Fb", json={"ownerName": "bob", "description": ""}))

    assert (first["name"], first["ownerName"], first["description"]) == ("s3://b", "ann", "ours")
    assert (second["ownerName"], second["description"]) == ("bob", "ours"), "it holds until it is replaced"
    assert third["description"] == ""
    assert second["createdAt"] == first["createdAt"] < second["updatedAt"]
    assert get(client, "/api/v1/namespaces/s3%3A%2F%2Fb/datasets") == {"datasets": [], "totalCount": 0}


def test_the_default_namespace_always_exists(tmp_path: Path) -> None:
    with served(tmp_path) as client:
        assert [each["name"] for each in get(client, "/api/v1/namespaces")["namespaces"]] == ["default"]


def test_sources_are_those_put_and_those_named_by_datasets(client: TestClient) -> None:
    source = facet(name="kafka://broker:9092", uri="kafka://broker:9092")
    post(client, loaded(12, inputs=[dataset("clicks", "kafka://broker:9092", dataSource=source)]))
    address = "jdbc:postgresql://ann:s3cret@db:5432/shop?password=s3cret&ssl=true"

    ok(client.put("/api/v1/sources/pg", json={"type": "POSTGRESQL", "connectionUrl": address, "description": "shop"}))

    listed = get(client, "/api/v1/sources")
    assert [(each["name"], each["type"], each["connectionUrl"]) for each in listed["sources"]] == [
        ("default", "POSTGRESQL", ""),
        ("kafka://broker:9092", "KAFKA", "kafka://broker:9092"),
        ("pg", "POSTGRESQL", "jdbc:postgresql://db:5432/shop?ssl=true"),
    ]
    assert get(client, "/api/v1/sources/kafka%3A%2F%2Fbroker%3A9092") == listed["sources"][1]
    assert "s3cret" not in client.get("/api/v1/edits").text
    assert client.get("/api/v1/sources/none").json() == {"code": 404, "message": "Source 'none' not found."}


def test_the_default_source_exists_from_the_first_dataset_without_a_source(tmp_path: Path) -> None:
    elsewhere = dataset("clicks", dataSource=facet(name="pg", uri="postgres://db"))
    with served(tmp_path) as client:
        post(client, event(inputs=[elsewhere]))
        before = client.get("/api/v1/sources/default")

        post(client, loaded(12), loaded(13))

        known = get(client, "/api/v1/sources/default")
        ok(client.delete(ORDERS))
        names = [each["name"] for each in get(client, "/api/v1/sources")["sources"]]

    assert (before.status_code, before.json()) == (404, {"code": 404, "message": "Source 'default' not found."})
    assert known == {
        "type": "POSTGRESQL",
        "name": "default",
        "createdAt": "2026-05-22T14:23:12.000Z",
        "updatedAt": "2026-05-22T14:23:13.000Z",
        "connectionUrl": "",
        "description": None,
    }
    assert names == ["pg"]


# The log


def test_every_edit_is_in_the_log_with_its_author(client: TestClient) -> None:
    client.post(f"{ORDERS}/tags/GOLD", headers={"x-headwater-user": "ann"})

    (edit,) = get(client, "/api/v1/edits")["edits"]

    assert edit["index"] == 1
    assert edit["entry"]["by"] == "ann"
    assert edit["entry"]["edits"] == [{"target": ["dataset", "lake", "orders"], "what": "tag:GOLD", "value": True}]


def test_edits_are_not_events(client: TestClient) -> None:
    ok(client.post(f"{ORDERS}/tags/GOLD"))
    edit = json.dumps(get(client, "/api/v1/edits")["edits"][0]["entry"])

    assert get(client, "/api/v1/events/lineage") == {"events": [loaded(11)], "totalCount": 1}
    assert get(client, "/api/v1/summary")["events"]["stored"] == 1
    assert client.post("/api/v1/lineage", content=edit).status_code == 422


def test_all_edits_hold_after_a_restart(tmp_path: Path) -> None:
    paths = (
        ORDERS,
        "/api/v1/datasets",
        f"{LAKE}/datasets",
        "/api/v1/tags",
        "/api/v1/sources",
        "/api/v1/namespaces",
        "/api/v1/jobs",
    )
    with closing(SqliteStore(tmp_path / "headwater.db")) as store, serving(store) as client:
        post(client, loaded(11), loaded(12, inputs=[dataset("gone"), dataset("back")]))
        for request in (
            client.post(f"{ORDERS}/tags/GOLD"),
            client.post(f"{ORDERS}/fields/id/tags/PII"),
            client.put("/api/v1/sources/pg", json={"type": "POSTGRESQL", "connectionUrl": "pg://db"}),
            client.put(LAKE, json={"ownerName": "ann"}),
            client.delete(f"{LAKE}/datasets/gone"),
            client.delete(f"{LAKE}/datasets/back"),
        ):
            ok(request)
        post(client, loaded(13, inputs=[dataset("back")]))
        before = [get(client, path) for path in paths]
        read_everything(client)

    with closing(SqliteStore(tmp_path / "headwater.db")) as store, serving(store) as client:
        after = [get(client, path) for path in paths]

    assert after == before
    assert [each["name"] for each in after[1]["datasets"]] == ["back", "orders"]


def test_reads_of_the_past_have_the_edits_up_to_then(client: TestClient) -> None:
    ok(client.post(f"{ORDERS}/tags/GOLD"))
    ok(client.delete(ORDERS))
    post(client, loaded(1))
    ok(client.delete(ORDERS))

    tags_after = {size: client.get(f"{ORDERS}?logSize={size}").json().get("tags") for size in range(1, 6)}

    assert tags_after == {1: [], 2: ["GOLD"], 3: None, 4: ["GOLD"], 5: None}
    assert client.get(f"{ORDERS}?asOf=2026-05-22T14:23:11Z").json()["tags"] == []
    assert client.get(f"{ORDERS}?asOf=2026-05-22T14:23:12Z").status_code == 404


def test_the_stream_reports_an_edit(client: TestClient) -> None:
    feed = client.app.state.service.feed  # type: ignore[attr-defined]

    ok(client.post(f"{ORDERS}/tags/GOLD"))

    assert b'"datasets":["dataset:lake:orders"]' in feed._recent[-1].text


def test_a_service_that_requires_signatures_refuses_edits(tmp_path: Path) -> None:
    with (
        closing(SqliteStore(tmp_path / "headwater.db")) as store,
        serving(store, require_signed=True) as client,
    ):
        edit = client.put("/api/v1/tags/GOLD", json={})
        put = client.put("/api/v1/namespaces/default/jobs/load", json={"type": "BATCH"})

        assert (edit.status_code, put.status_code) == (403, 403)
        assert store.size() == 0


@pytest.mark.parametrize(
    ("path", "body", "status", "message"),
    [
        ("namespaces/n", "{", 400, "body: not JSON at line 1"),
        ("namespaces/n", '{"ownerName": "a", "ownerName": "b"}', 400, "ownerName: duplicate key"),
        ("namespaces/n", '{"ownerName": NaN}', 400, "ownerName: NaN is not JSON"),
        ("namespaces/n", "", 422, "body must not be null"),
        ("namespaces/n", "[]", 422, "body must be a JSON object"),
        ("namespaces/n", "{}", 422, "ownerName must not be null"),
        ("namespaces/n", '{"ownerName": 5}', 422, "ownerName "),
        ("namespaces/n", '{"ownerName": " "}', 422, "ownerName must not be blank"),
        ("sources/s", '{"type": "", "connectionUrl": "a://b"}', 422, "type must not be blank"),
        ("sources/s", '{"type": "A"}', 422, "connectionUrl must not be null"),
        ("tags/t", '{"description": []}', 422, "description "),
        ("namespaces/default/datasets/d", '{"type": "TABLE"}', 422, "type must be 'DB_TABLE' or 'STREAM'"),
        ("namespaces/default/jobs/j", '{"type": "BATCH", "inputs": [{"name": "a"}]}', 422, "inputs.0.namespace must "),
    ],
)
def test_an_invalid_body_is_refused_with_its_first_bad_field(
    client: TestClient, path: str, body: str, status: int, message: str
) -> None:
    response = client.put(f"/api/v1/{path}", content=body, headers={"content-type": "application/json"})

    assert response.status_code == response.json()["code"] == status
    assert response.json()["message"].startswith(message)
    assert get(client, "/api/v1/edits")["totalCount"] == 0


def test_a_lone_surrogate_is_read_as_a_replacement_character(client: TestClient) -> None:
    headers = {"content-type": "application/json"}

    tag = ok(client.put("/api/v1/tags/t", content=r'{"description": "\ud800x"}', headers=headers))

    assert tag["description"] == "\ufffdx"


def test_a_body_beyond_the_limit_is_refused(tmp_path: Path) -> None:
    with closing(SqliteStore(tmp_path / "headwater.db")) as store, serving(store, body_limit=100) as client:
        response = client.put("/api/v1/tags/t", json={"description": "x" * 100})

    assert response.status_code == 413


@pytest.mark.parametrize("kind", [None, "application/json", "Application/JSON; charset=utf-8", "application/ld+json"])
def test_a_json_body_is_accepted_with_or_without_a_content_type(client: TestClient, kind: str | None) -> None:
    headers = {} if kind is None else {"content-type": kind}

    assert client.put("/api/v1/namespaces/n", content=b'{"ownerName":"ann"}', headers=headers).status_code == 200


@pytest.mark.parametrize("kind", ["text/plain", "application/x-www-form-urlencoded", "application/jsonl"])
def test_a_body_with_another_content_type_is_refused_with_advice(client: TestClient, kind: str) -> None:
    response = client.put("/api/v1/namespaces/n", content=b'{"ownerName":"ann"}', headers={"content-type": kind})

    assert response.status_code == 415
    assert response.json()["message"] == f"content-type: {kind!r} is not supported; send application/json"
