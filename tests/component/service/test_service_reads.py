"""What the reads say about events whose truth is known."""

import json
from contextlib import closing
from pathlib import Path
from typing import Any
from urllib.parse import quote

import pytest
from starlette.testclient import TestClient

from headwater.model.events import parse_event
from headwater.store.entries import entry_of
from headwater.store.sqlite import SqliteStore
from tests.support.app import RUN, Body, dataset, event, facet, get, post, schema, served, serving
from tests.support.reads import read_everything

LAKE = "/api/v1/namespaces/lake/datasets"


def run_event(run: str, kind: str, second: int, **changes: object) -> dict[str, Any]:
    return event(eventType=kind, eventTime=f"2026-05-22T14:23:{second:02d}Z", run={"runId": run}, **changes)


def job(name: str) -> dict[str, str]:
    return {"namespace": "etl", "name": name}


def symlinks(*names: tuple[str, str]) -> dict[str, Any]:
    return facet(identifiers=[{"namespace": namespace, "name": name, "type": "TABLE"} for namespace, name in names])


@pytest.mark.parametrize(
    ("path", "status"),
    [
        ("/", 200),
        ("/api/v1/log/checkpoint", 200),
        ("/api/v1/namespaces", 200),
        ("/api/v1/namespaces/none", 404),
        ("/api/v1/search", 400),
        (f"/api/v1/jobs/runs/{RUN}", 200),
        ("/healthz", 200),
        ("/openapi.json", 200),
        ("/spec/none", 404),
    ],
)
def test_a_head_is_told_what_a_get_is_told_without_the_body(client: TestClient, path: str, status: int) -> None:
    post(client, event())

    head, whole = client.head(path), client.get(path)

    assert (head.status_code, head.content) == (whole.status_code, b"") == (status, b"")
    assert head.headers == whole.headers


# Runs


@pytest.mark.parametrize(
    ("kinds", "state"),
    [
        (["OTHER"], "NEW"),
        (["START"], "RUNNING"),
        (["RUNNING"], "RUNNING"),
        (["START", "COMPLETE"], "COMPLETED"),
        (["START", "FAIL"], "FAILED"),
        (["START", "ABORT"], "ABORTED"),
        (["COMPLETE", "RUNNING"], "COMPLETED"),
        (["FAIL", "COMPLETE"], "COMPLETED"),
    ],
)
def test_the_state_of_a_run_is_that_of_its_strongest_event(client: TestClient, kinds: list[str], state: str) -> None:
    post(client, *(run_event(RUN, kind, second) for second, kind in enumerate(kinds)))

    assert get(client, f"/api/v1/jobs/runs/{RUN}")["state"] == state


def test_a_run_lasts_from_its_first_event_to_the_one_that_ended_it(client: TestClient) -> None:
    post(client, run_event(RUN, "COMPLETE", 12), run_event(RUN, "START", 10), run_event(RUN, "RUNNING", 14))

    run = get(client, f"/api/v1/jobs/runs/{RUN.upper()}")

    assert (run["startedAt"], run["endedAt"], run["durationMs"]) == (
        "2026-05-22T14:23:10.000Z",
        "2026-05-22T14:23:12.000Z",
        2000,
    )
    assert run["updatedAt"] == "2026-05-22T14:23:14.000Z"


def test_a_parent_known_by_name_only_runs_from_its_earliest_child_on(client: TestClient) -> None:
    parent = facet(run={"runId": "the-dag-run"}, job=job("dag"))
    for second, child in enumerate(("child-1", "child-2"), start=10):
        post(client, run_event(child, "COMPLETE", second, job=job(f"dag.{child}")))
        named = event(run={"runId": child, "facets": {"parent": parent}}, job=job(f"dag.{child}"))
        post(client, {**named, "eventTime": f"2026-05-22T14:23:0{second - 9}Z"})

    run = get(client, "/api/v1/jobs/runs/the-dag-run")
    child_job = get(client, "/api/v1/namespaces/etl/jobs/dag.child-1")

    assert (run["state"], run["startedAt"], run["signature"]) == ("RUNNING", "2026-05-22T14:23:01.000Z", None)
    assert [each["id"] for each in get(client, "/api/v1/namespaces/etl/jobs/dag/runs")["runs"]] == ["the-dag-run"]
    assert (child_job["parentJobName"], child_job["simpleName"]) == ("dag", "child-1")
    assert child_job["latestRun"]["args"] == {"run_id": "the-dag-run", "name": "dag", "namespace": "etl"}


def test_a_root_known_by_name_only_is_a_run_of_a_job_and_no_end_of_data(client: TestClient) -> None:
    root = {"run": {"runId": "the-trigger-run"}, "job": job("trigger")}
    parent = facet(run={"runId": "the-dag-run"}, job=job("dag"), root=root)
    post(client, event(run={"runId": "child", "facets": {"parent": parent}}, inputs=[dataset("a")]))
    get(client, "/api/v1/jobs")
    post(client, run_event("child", "COMPLETE", 30))

    of_root, of_parent = (get(client, f"/api/v1/jobs/runs/{run['runId']}") for run in (root["run"], parent["run"]))

    assert (of_root["state"], of_root["job"], of_root["root"]) == ("RUNNING", job("trigger"), None)
    child = get(client, "/api/v1/jobs/runs/child")
    assert of_parent["root"] == child["root"] == {"runId": "the-trigger-run", "job": job("trigger")}
    assert sorted(each["name"] for each in get(client, "/api/v1/jobs")["jobs"]) == ["dag", "load", "trigger"]
    (alone,) = get(client, "/api/v1/lineage?nodeId=job:etl:trigger")["graph"]
    assert (alone["inEdges"], alone["outEdges"]) == ([], [])


def test_a_parent_that_speaks_itself_is_what_it_says(client: TestClient) -> None:
    parent = facet(run={"runId": "the-dag-run"}, job=job("dag"))
    post(
        client,
        event(run={"runId": "child", "facets": {"parent": parent}}),
        run_event("the-dag-run", "FAIL", 30, job=job("dag")),
    )

    run = get(client, "/api/v1/jobs/runs/the-dag-run")

    assert (run["state"], run["startedAt"]) == ("FAILED", "2026-05-22T14:23:30.000Z")


def test_a_run_that_turns_out_to_be_of_another_job_leaves_the_first(client: TestClient) -> None:
    parent = facet(run={"runId": "p"}, job=job("dag"))
    post(client, run_event(RUN, "START", 1, job=job("ghost"), inputs=[dataset("a")]))
    get(client, "/api/v1/jobs")
    post(client, event(run={"runId": RUN, "facets": {"parent": parent}}, job=job("real")))

    jobs = get(client, "/api/v1/jobs")

    assert sorted(each["name"] for each in jobs["jobs"]) == ["dag", "real"]
    assert client.get("/api/v1/namespaces/etl/jobs/ghost").status_code == 404
    assert get(client, "/api/v1/namespaces/etl/jobs/real")["inputs"] == [{"namespace": "lake", "name": "a"}]


def test_runs_are_listed_newest_first_and_in_pages(client: TestClient) -> None:
    post(client, *(run_event(f"run-{number}", "START", number) for number in (3, 1, 4, 0, 2)))

    first = get(client, "/api/v1/namespaces/etl/jobs/load/runs?limit=2")
    second = get(client, "/api/v1/namespaces/etl/jobs/load/runs?limit=2&offset=2")

    assert [run["id"] for run in first["runs"] + second["runs"]] == ["run-4", "run-3", "run-2", "run-1"]
    assert first["totalCount"] == second["totalCount"] == 5


def test_counters_come_from_either_facet(client: TestClient) -> None:
    ours = facet(recordsIn=10, recordsOut=9, errorCount=1, durationMs=2.5, stopReason="end of input")
    theirs = facet(fields={"records_in": 7, "bytes_out": 2**70})
    post(
        client,
        event(run={"runId": "ours", "facets": {"headwater_run": ours}}),
        event(run={"runId": "theirs", "facets": {"expanso_run": theirs}}),
        event(run={"runId": "neither"}),
    )

    counters = {run: get(client, f"/api/v1/jobs/runs/{run}")["counters"] for run in ("ours", "theirs", "neither")}

    assert counters["ours"] == {
        "recordsIn": 10,
        "recordsOut": 9,
        "bytesIn": None,
        "bytesOut": None,
        "errorCount": 1,
        "durationMs": 2.5,
        "stopReason": "end of input",
    }
    assert counters["theirs"]["recordsIn"] == 7
    assert counters["theirs"]["bytesOut"] is None  # beyond 64 bits: in the facet
    assert counters["neither"] is None


def test_counters_of_nothing_are_zeros(client: TestClient) -> None:
    post(client, event(run={"runId": RUN, "facets": {"headwater_run": facet(recordsIn=0, errorCount=0, durationMs=0)}}))

    counters = get(client, f"/api/v1/jobs/runs/{RUN}")["counters"]

    assert (counters["recordsIn"], counters["errorCount"], counters["durationMs"]) == (0, 0, 0)


def test_job_facets_of_a_run_are_those_it_told_itself(client: TestClient) -> None:
    def sql(query: str) -> dict[str, Any]:
        return {**job("load"), "facets": {"sql": facet(query=query)}}

    post(client, run_event("old", "START", 1, job=sql("SELECT 1")), run_event("old", "RUNNING", 2, job=sql("SELECT 2")))
    post(client, run_event("new", "START", 3, job=sql("SELECT 3")))

    facets = get(client, "/api/v1/jobs/runs/old/facets?type=job")["facets"]

    assert facets["sql"]["query"] == "SELECT 2"
    assert get(client, "/api/v1/namespaces/etl/jobs/load")["facets"]["sql"]["query"] == "SELECT 3"


def test_the_events_of_a_run_are_listed_by_event_time_in_pages(client: TestClient) -> None:
    post(client, run_event(RUN, "COMPLETE", 5), run_event(RUN, "START", 1), run_event("other", "START", 2))

    page = get(client, f"/api/v1/jobs/runs/{RUN}/events?limit=1&offset=1")
    (first,) = get(client, f"/api/v1/jobs/runs/{RUN}/events?limit=1")["events"]

    assert (first["index"], first["eventType"], first["eventTime"]) == (1, "START", "2026-05-22T14:23:01.000Z")
    assert (page["events"][0]["index"], page["totalCount"]) == (0, 2)
    assert first["digest"].startswith("sha256:")


# Datasets


def test_a_dataset_is_one_under_all_its_names_also_when_the_evidence_comes_late(client: TestClient) -> None:
    post(client, run_event("w", "COMPLETE", 1, job=job("write"), outputs=[dataset("wh/orders", "s3://b")]))
    post(client, run_event("r", "COMPLETE", 2, job=job("read"), inputs=[dataset("sales.orders", "glue")]))
    apart = get(client, "/api/v1/lineage?nodeId=job:etl:read")["graph"]
    link = symlinks(("glue", "sales.orders"), ("hive", "sales.orders"))
    post(
        client,
        run_event("w2", "COMPLETE", 3, job=job("write"), outputs=[dataset("wh/orders", "s3://b", symlinks=link)]),
    )

    joined = get(client, "/api/v1/lineage?nodeId=job:etl:read")["graph"]
    by_name = {
        namespace: get(client, f"/api/v1/namespaces/{quote(namespace, safe='')}/datasets/{quote(name, safe='')}")
        for namespace, name in (("s3://b", "wh/orders"), ("glue", "sales.orders"), ("hive", "sales.orders"))
    }

    assert [node["id"] for node in apart] == ["dataset:glue:sales.orders", "job:etl:read"]
    assert [node["id"] for node in joined] == ["dataset:glue:sales.orders", "job:etl:read", "job:etl:write"]
    assert [each["name"] for each in by_name.values()] == ["wh/orders", "sales.orders", "sales.orders"]
    assert {each["physicalName"] for each in by_name.values()} == {"sales.orders"}
    assert len({each["currentVersion"] for each in by_name.values()}) == 1
    assert by_name["hive"]["symlinks"] == [
        {"namespace": "glue", "name": "sales.orders"},
        {"namespace": "s3://b", "name": "wh/orders"},
    ]
    assert get(client, "/api/v1/summary")["datasets"] == 1


def test_versions_go_from_one_change_of_schema_to_the_next_and_back(client: TestClient) -> None:
    for second, columns in ((1, "a"), (2, "a"), (3, "ab"), (5, "a")):
        post(client, run_event(f"r{second}", "COMPLETE", second, outputs=[dataset("t", schema=schema(*columns))]))

    versions = get(client, f"{LAKE}/t/versions")

    assert [(version["createdAt"][17:19], len(version["fields"])) for version in versions["versions"]] == [
        ("05", 1),
        ("03", 2),
        ("01", 1),
    ]
    assert [version["createdByRun"]["id"] for version in versions["versions"]] == ["r5", "r3", "r1"]
    assert versions["versions"][0]["version"] == versions["versions"][2]["version"]
    assert get(client, f"{LAKE}/t")["currentVersion"] == versions["versions"][0]["version"]


def test_a_late_event_falls_between_versions(client: TestClient) -> None:
    post(client, run_event("r1", "COMPLETE", 1, outputs=[dataset("t", schema=schema("a"))]))
    post(client, run_event("r9", "COMPLETE", 9, outputs=[dataset("t", schema=schema("a"))]))
    before = get(client, f"{LAKE}/t/versions")["totalCount"]
    post(client, run_event("late", "COMPLETE", 5, outputs=[dataset("t", schema=schema("b"))]))

    assert (before, get(client, f"{LAKE}/t/versions")["totalCount"]) == (1, 3)


def test_a_run_shows_the_version_it_met_not_the_newest(client: TestClient) -> None:
    post(client, run_event("w1", "COMPLETE", 1, outputs=[dataset("t", schema=schema("a"))]))
    post(client, run_event("reader", "COMPLETE", 2, job=job("read"), inputs=[dataset("t")]))
    post(client, run_event("w2", "COMPLETE", 3, outputs=[dataset("t", schema=schema("a", "b"))]))

    (met,) = get(client, "/api/v1/jobs/runs/reader")["inputDatasetVersions"]
    newest, oldest = get(client, f"{LAKE}/t/versions")["versions"]

    assert met["datasetVersionId"]["version"] == oldest["version"] != newest["version"]
    assert get(client, f"{LAKE}/t/versions/{oldest['version']}")["fields"][0]["name"] == "a"


def test_a_snapshot_id_makes_a_version_too(client: TestClient) -> None:
    for second in (1, 2):
        version = facet(datasetVersion=f"snapshot-{second}")
        written = dataset("t", schema=schema("a"), version=version)
        post(client, run_event(f"r{second}", "COMPLETE", second, outputs=[written]))

    versions = get(client, f"{LAKE}/t/versions")["versions"]

    assert [version["facets"]["version"]["datasetVersion"] for version in versions] == ["snapshot-2", "snapshot-1"]
    assert len({version["currentSchemaVersion"] for version in versions}) == 1


def test_reads_go_on_while_the_store_is_ahead_of_the_graph(tmp_path: Path) -> None:
    first = run_event("r", "START", 1, outputs=[dataset("t", schema=schema("a"))])
    written = [{**dataset("t", schema=schema("b")), "outputFacets": {"x": facet()}}, dataset("new", schema=schema("c"))]
    with closing(SqliteStore(tmp_path / "headwater.db")) as store, serving(store) as client:
        post(client, first)
        for run in ("r", "another"):
            body = run_event(run, "COMPLETE", 2, outputs=written, inputs=written)
            store.add([entry_of(parse_event(json.dumps(body).encode()), "unsigned", None, received_us=1)])

        read_everything(client)


def test_a_declared_dataset_has_the_version_that_was_declared(client: TestClient) -> None:
    post(
        client,
        {
            "eventTime": "2026-05-22T14:23:11Z",
            "producer": "p",
            "dataset": dataset("t", schema=schema("a"), documentation=facet(description="declared")),
        },
    )

    (version,) = get(client, f"{LAKE}/t/versions")["versions"]
    shown = get(client, f"{LAKE}/t")

    assert (version["createdByRun"], version["fields"][0]["name"]) == (None, "a")
    assert (shown["description"], shown["currentVersion"]) == ("declared", version["version"])


@pytest.mark.parametrize(("change", "deleted"), [("CREATE", False), ("DROP", True)])
def test_a_dropped_dataset_is_shown_as_deleted(client: TestClient, change: str, deleted: bool) -> None:
    written = dataset("t", lifecycleStateChange=facet(lifecycleStateChange=change))
    post(client, run_event(RUN, "COMPLETE", 1, outputs=[written]))

    shown = get(client, f"{LAKE}/t")

    assert (shown["lastLifecycleState"], shown["deleted"]) == (change, deleted)


def test_nested_columns_are_shown_inside_theirs(client: TestClient) -> None:
    nested = facet(fields=[{"name": "who", "type": "struct", "fields": [{"name": "id", "type": "int"}]}])
    post(client, event(inputs=[dataset("t", schema=nested)]))

    (field,) = get(client, f"{LAKE}/t")["fields"]

    assert (field["name"], field["fields"][0]["name"]) == ("who", "id")


# Lineage


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
def test_depth_counts_jobs_and_each_brings_all_it_reads_and_writes(
    client: TestClient, node: str, depth: int, jobs: list[str]
) -> None:
    chain(client, 5)

    graph = get(client, f"/api/v1/lineage?nodeId={node}&depth={depth}")["graph"]

    assert [each["data"]["name"] for each in graph if each["type"] == "JOB"] == jobs
    touched = {f"d{int(name[1]) + end}" for name in jobs for end in (0, 1)}
    assert {each["data"]["name"] for each in graph if each["type"] == "DATASET"} == touched


def test_every_edge_stands_at_both_its_ends_with_its_times(client: TestClient) -> None:
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


def test_what_an_earlier_run_read_stays_when_the_newest_did_not(client: TestClient) -> None:
    post(client, run_event("old", "COMPLETE", 1, inputs=[dataset("a")], outputs=[dataset("b")]))
    post(client, run_event("new", "FAIL", 2))

    graph = get(client, "/api/v1/lineage?nodeId=job:etl:load")["graph"]

    assert [node["id"] for node in graph] == ["dataset:lake:a", "dataset:lake:b", "job:etl:load"]
    assert graph[2]["data"]["latestRun"]["id"] == "new"


def test_a_dataset_alone_is_its_own_lineage(client: TestClient) -> None:
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
def test_a_node_id_means_the_name_that_is_known_wherever_its_colons_are(
    client: TestClient, namespace: str, name: str
) -> None:
    post(client, event(inputs=[dataset(name, namespace, schema=schema("id"))]))
    node_id = f"dataset:{namespace}:{name}"

    graph = get(client, f"/api/v1/lineage?nodeId={quote(node_id, safe='')}")["graph"]
    with_version = get(client, f"/api/v1/lineage?nodeId={quote(node_id + '#0198', safe='')}")["graph"]

    assert graph[0]["id"] == with_version[0]["id"] == node_id


def test_a_node_id_of_ten_thousand_colons_is_not_found_in_no_time(client: TestClient) -> None:
    answer = client.get("/api/v1/column-lineage?nodeId=datasetField" + ":" * 10_000)

    assert answer.status_code == 404
    assert answer.elapsed.total_seconds() < 2


# Columns


def lineage_facet(**columns: list[tuple[str, str, str]]) -> dict[str, Any]:
    """For each target column: sources as (dataset, column, type/subtype)."""
    return facet(
        fields={column: {"inputFields": [_source(*each) for each in found]} for column, found in columns.items()}
    )


def _source(name: str, column: str, how: str) -> dict[str, Any]:
    kind, _, subtype = how.partition("/")
    transformation = {"type": kind, "subtype": subtype, "description": "", "masking": False}
    return {"namespace": "lake", "name": name, "field": column, "transformations": [transformation]}


def post_columns(client: TestClient) -> None:
    wide = {**lineage_facet(total=[("b", "price", "DIRECT/AGGREGATION")], id=[("b", "id", "DIRECT/IDENTITY")])}
    wide["dataset"] = [_source("b", "day", "INDIRECT/FILTER")]
    first = lineage_facet(price=[("a", "price", "DIRECT/IDENTITY")])
    post(
        client,
        run_event("1", "COMPLETE", 1, job=job("ab"), inputs=[dataset("a", schema=schema("price"))]),
        run_event(
            "1",
            "COMPLETE",
            2,
            job=job("ab"),
            outputs=[dataset("b", schema=schema("id", "price", "day"), columnLineage=first)],
        ),
        run_event(
            "2",
            "COMPLETE",
            3,
            job=job("bc"),
            inputs=[dataset("b")],
            outputs=[dataset("c", schema=schema("id", "total"), columnLineage=wide)],
        ),
    )


def columns(answer: Body) -> dict[str, list[str]]:
    """For each column node: where its inEdges lead, which is where the data comes from."""
    return {
        node["id"].removeprefix("datasetField:lake:"): [
            edge["destination"].removeprefix("datasetField:lake:") for edge in node["inEdges"]
        ]
        for node in answer["graph"]
    }


def test_what_feeds_a_column_is_found_through_all_datasets(client: TestClient) -> None:
    post_columns(client)

    found = columns(get(client, "/api/v1/column-lineage?nodeId=datasetField:lake:c:total"))

    assert found == {"a:price": [], "b:day": [], "b:price": ["a:price"], "c:total": ["b:day", "b:price"]}


def test_depth_counts_hops_between_columns(client: TestClient) -> None:
    post_columns(client)

    found = columns(get(client, "/api/v1/column-lineage?nodeId=datasetField:lake:c:total&depth=1"))

    assert found == {"b:day": [], "b:price": [], "c:total": ["b:day", "b:price"]}


def test_what_a_column_feeds_is_found_on_demand(client: TestClient) -> None:
    post_columns(client)

    upstream = columns(get(client, "/api/v1/column-lineage?nodeId=datasetField:lake:a:price"))
    both = columns(get(client, "/api/v1/column-lineage?nodeId=datasetField:lake:a:price&withDownstream=true"))

    assert upstream == {"a:price": []}
    assert both == {"a:price": [], "b:price": ["a:price"], "c:total": ["b:price"]}


def test_a_filter_counts_for_every_column_of_what_it_filters(client: TestClient) -> None:
    post_columns(client)

    answer = get(client, "/api/v1/column-lineage?nodeId=dataset:lake:c&depth=1")
    inputs = {node["data"]["field"]: node["data"]["inputFields"] for node in answer["graph"]}

    for column in ("id", "total"):
        by_field = {each["field"]: each["transformations"] for each in inputs[column]}
        assert by_field["day"] == [{"type": "INDIRECT", "subtype": "FILTER", "description": "", "masking": False}]
    sources = get(client, f"{LAKE}/c")["columnLineage"]
    assert [(each["name"], [field["field"] for field in each["inputFields"]]) for each in sources] == [
        ("id", ["day", "id"]),
        ("total", ["day", "price"]),
    ]


def test_the_columns_of_a_job_are_those_it_writes(client: TestClient) -> None:
    post_columns(client)

    found = columns(get(client, "/api/v1/column-lineage?nodeId=job:etl:ab"))

    assert found == {"a:price": [], "b:day": [], "b:id": [], "b:price": ["a:price"]}


@pytest.mark.parametrize(
    ("node_id", "message"),
    [
        ("dataset:lake:none", "Dataset 'none' not found."),
        ("datasetField:lake:c:none", "Field 'none' of dataset 'c' not found."),
        ("job:etl:none", "Job 'none' not found."),
        ("run:5", "Run '5' not found."),
        ("", "HTTP 404 Not Found"),
    ],
)
def test_an_unknown_node_is_not_found(client: TestClient, node_id: str, message: str) -> None:
    post_columns(client)

    answers = [client.get(f"/api/v1/{route}?nodeId={node_id}") for route in ("lineage", "column-lineage")]

    assert [(answer.status_code, answer.json()["message"]) for answer in answers] == [(404, message)] * 2


# Events, search, namespaces, summary


def test_events_come_by_event_time_between_two_times_in_pages(client: TestClient) -> None:
    post(client, *(run_event(f"run-{second}", "START", second) for second in (2, 0, 4, 3, 1)))
    path = "/api/v1/events/lineage?after=2026-05-22T14:23:01Z&before=2026-05-22T16:23:04%2B02:00"

    newest = get(client, f"{path}&limit=2")
    oldest = get(client, f"{path}&sortDirection=asc&limit=2&offset=1")

    assert [each["run"]["runId"] for each in newest["events"]] == ["run-3", "run-2"]
    assert [each["run"]["runId"] for each in oldest["events"]] == ["run-2", "run-3"]
    assert newest["totalCount"] == oldest["totalCount"] == 3


def test_search_finds_by_a_part_of_any_name_in_either_case(client: TestClient) -> None:
    link = symlinks(("glue", "table/Sales/Orders"))
    post(
        client,
        event(
            job=job("load_orders"),
            inputs=[dataset("raw_ORDERS", "kafka")],
            outputs=[dataset("wh/o1", "s3", symlinks=link)],
        ),
    )

    def found(query: str) -> list[tuple[str, str]]:
        return [(hit["type"], hit["name"]) for hit in get(client, f"/api/v1/search?{query}")["results"]]

    assert found("q=orders") == [("JOB", "load_orders"), ("DATASET", "raw_ORDERS"), ("DATASET", "wh/o1")]
    assert found("q=orders&filter=DATASET") == [("DATASET", "raw_ORDERS"), ("DATASET", "wh/o1")]
    assert found("q=orders&filter=JOB") == [("JOB", "load_orders")]
    assert found("q=orders&namespace=glue") == [("DATASET", "wh/o1")]
    assert found("q=orders&limit=1") == [("JOB", "load_orders")]
    assert found("q=dataset:s3:wh/o1") == [("DATASET", "wh/o1")]
    assert found("q=nothing") == []
    (hit,) = get(client, "/api/v1/search?q=sales")["results"]
    assert hit["nodeId"] == "dataset:s3:wh/o1"
    assert hit["symlinks"] == [{"namespace": "glue", "name": "table/Sales/Orders"}]


def test_search_can_put_the_latest_first(client: TestClient) -> None:
    post(client, *(run_event(name, "START", second, job=job(name)) for second, name in enumerate(("b", "c", "a"))))

    hits = get(client, "/api/v1/search?q=&sort=UPDATE_AT")["results"]

    assert [hit["name"] for hit in hits] == ["a", "c", "b"]


def test_namespaces_are_those_of_jobs_datasets_and_their_other_names(client: TestClient) -> None:
    link = symlinks(("glue", "t"))
    post(client, event(inputs=[dataset("t", "s3://b/c", symlinks=link)]))

    page = get(client, "/api/v1/namespaces?limit=2&offset=2")

    assert [each["name"] for each in page["namespaces"]] == ["glue", "s3://b/c"]
    assert page["totalCount"] == 4
    assert get(client, "/api/v1/namespaces/s3%3A%2F%2Fb%2Fc")["name"] == "s3://b/c"
    assert get(client, "/api/v1/namespaces/glue/datasets")["totalCount"] == 0
    assert client.get("/api/v1/namespaces/none/datasets").status_code == 404
    assert client.get("/api/v1/namespaces/none/jobs").status_code == 404


def test_the_summary_counts_what_there_is(client: TestClient) -> None:
    post_columns(client)
    client.post("/api/v1/lineage", content="{")

    summary = get(client, "/api/v1/summary")

    assert summary == {
        "jobs": 2,
        "runs": 2,
        "datasets": 3,
        "columns": 6,
        "edges": 4,
        "columnEdges": 4,
        "quarantined": 0,
        "events": {
            "stored": 3,
            "verified": 0,
            "unsigned": 3,
            "unknownKey": 0,
            "tampered": 0,
            "malformed": 0,
            "refused": 1,
        },
    }


def test_every_answer_is_the_same_for_any_order_of_the_events(tmp_path: Path) -> None:
    answers = []
    for order in (1, -1):
        folder = tmp_path / str(order)
        folder.mkdir()
        with served(folder) as client:
            events = [
                run_event("1", "START", 1, inputs=[dataset("a", schema=schema("x", "y"))]),
                run_event(
                    "1", "COMPLETE", 2, outputs=[dataset("b", columnLineage=lineage_facet(x=[("a", "x", "DIRECT/")]))]
                ),
                run_event("2", "START", 3, outputs=[dataset("b", schema=schema("x"))]),
                run_event("2", "COMPLETE", 4, inputs=[dataset("a2", symlinks=symlinks(("lake", "a")))]),
            ]
            post(client, *events[::order])
            paths = ("lineage?nodeId=job:etl:load", "jobs", "namespaces/lake/datasets", "jobs/runs/1", "summary")
            told = [client.get(f"/api/v1/{path}").json() for path in paths]
        mended = told[3].pop("mended")
        assert [each["rule"] for each in mended] == ([] if order == 1 else ["started-after-its-end"])  # of the order
        answers.append(told)

    assert answers[0] == answers[1]


def test_a_name_in_a_path_may_hold_anything_that_is_encoded(client: TestClient) -> None:
    namespace, name = "s3://b%2F/c d", "a/b?c#d%41:\u00fc\U0001f600"
    post(client, event(job={"namespace": namespace, "name": name}))

    shown = get(client, f"/api/v1/namespaces/{quote(namespace, safe='')}/jobs/{quote(name, safe='')}")

    assert shown["id"] == {"namespace": namespace, "name": name}


def test_facets_are_shown_as_they_were_stored_also_where_no_program_reads_them(client: TestClient) -> None:
    post(client, event(run={"runId": RUN, "facets": {"big": facet(number=10**40, text="\u2028<&>", nothing=None)}}))

    raw = client.get(f"/api/v1/jobs/runs/{RUN}/facets?type=run").content

    assert json.loads(raw)["facets"]["big"] == facet(number=10**40, text="\u2028<&>", nothing=None)
