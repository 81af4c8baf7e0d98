"""Reads that Marquez's clients make beyond the recorded ones; the expected answers were written by hand."""

from typing import Any

import pytest
from starlette.testclient import TestClient

from tests.support.app import dataset, event, facet, get, post, schema

LOAD, MART, REPORT, OTHER, LATE = (f"0198f7d0-0000-7000-8000-00000000000{n}" for n in range(1, 6))
JOB = {"namespace": "etl", "type": "JOB"}


def run(run_id: str, job: str, minute: int, kind: str = "COMPLETE", **changes: object) -> dict[str, Any]:
    return event(
        eventType=kind,
        eventTime=f"2026-05-22T14:{minute:02d}:00Z",
        run={"runId": run_id},
        job={"namespace": "etl", "name": job},
        **changes,
    )


def chain() -> list[dict[str, Any]]:
    """orders is loaded twice; the mart is made from it after the first load, the report from the mart."""
    return [
        run(LOAD, "load", 10, outputs=[dataset("orders")]),
        run(MART, "mart", 20, inputs=[dataset("orders")], outputs=[dataset("mart")]),
        run(OTHER, "load", 30, outputs=[dataset("orders")]),
        run(REPORT, "report", 40, inputs=[dataset("mart"), dataset("rates")]),
    ]


def test_upstream_runs_are_the_newest_writers_at_the_time_of_the_read(client: TestClient) -> None:
    post(client, *reversed(chain()))

    runs = get(client, f"/api/v1/runlineage/upstream?runId={REPORT}")["runs"]

    assert [each["run"]["id"] for each in runs] == [REPORT, MART, LOAD]
    assert [(each["name"], each["producedByRunId"]) for each in runs[0]["inputs"]] == [("mart", MART), ("rates", None)]
    assert [(each["name"], each["producedByRunId"]) for each in runs[1]["inputs"]] == [("orders", LOAD)]
    assert (runs[2]["job"]["namespace"], runs[2]["job"]["name"], runs[2]["inputs"]) == ("etl", "load", [])
    assert runs[2]["run"] == {
        "id": LOAD,
        "start": None,
        "end": "2026-05-22T14:10:00.000Z",
        "status": "COMPLETED",
    }


def test_a_run_that_began_before_others_may_have_been_the_last_writer(client: TestClient) -> None:
    """A long run wrote until just before the read; the run that began last had ended before; another came too late."""
    orders = [dataset("orders")]
    began = run(LOAD, "load", 1, "START")
    short = [run(f"{OTHER[:-2]}{minute}", "load", minute, outputs=orders) for minute in (10, 12, 14, 18, 40)]
    read = run(MART, "mart", 20, inputs=orders)
    post(client, began, run(LOAD, "load", 19, outputs=orders), *short, read)

    (_, source) = get(client, f"/api/v1/runlineage/upstream?runId={MART}&depth=1")["runs"]

    assert source["run"]["id"] == LOAD

    post(client, run(f"{OTHER[:-2]}20", "load", 20, outputs=orders))
    (_, source) = get(client, f"/api/v1/runlineage/upstream?runId={MART}&depth=1")["runs"]

    assert source["run"]["id"] == f"{OTHER[:-2]}20"


def test_a_writer_before_1970_is_found(client: TestClient) -> None:
    post(
        client,
        {**run(LOAD, "load", 10, outputs=[dataset("orders")]), "eventTime": "1969-05-22T14:10:00Z"},
        {**run(MART, "mart", 20, inputs=[dataset("orders")]), "eventTime": "1969-05-22T14:20:00Z"},
    )

    assert [each["run"]["id"] for each in get(client, f"/api/v1/runlineage/upstream?runId={MART}")["runs"]] == [
        MART,
        LOAD,
    ]


def test_upstream_runs_end_at_the_given_depth(client: TestClient) -> None:
    post(client, *chain())

    ids = [
        [each["run"]["id"] for each in get(client, f"/api/v1/runlineage/upstream?runId={REPORT}&depth={n}")["runs"]]
        for n in range(3)
    ]

    assert ids == [[REPORT], [REPORT, MART], [REPORT, MART, LOAD]]


def test_upstream_of_runs_that_feed_each_other_ends(client: TestClient) -> None:
    post(
        client,
        run(LOAD, "load", 10, inputs=[dataset("mart")], outputs=[dataset("orders")]),
        run(MART, "mart", 10, inputs=[dataset("orders")], outputs=[dataset("mart")]),
    )

    assert len(get(client, f"/api/v1/runlineage/upstream?runId={MART}")["runs"]) == 2


def test_an_unknown_run_has_no_upstream(client: TestClient) -> None:
    response = client.get(f"/api/v1/runlineage/upstream?runId={LOAD}")

    assert (response.status_code, response.json()["message"]) == (404, f"Run '{LOAD}' not found.")


def test_a_single_version_of_a_job_is_the_same_as_in_the_list(client: TestClient) -> None:
    post(client, *chain())
    job = "/api/v1/namespaces/etl/jobs/mart"
    (version,) = get(client, f"{job}/versions")["versions"]

    assert get(client, f"{job}/versions/{version['version'].upper()}") == version
    missing = client.get(f"{job}/versions/none")
    assert (missing.status_code, missing.json()["message"]) == (404, "Job version 'none' not found.")


def test_a_job_that_an_event_declared_has_the_version_it_was_declared_with(client: TestClient) -> None:
    job = "/api/v1/namespaces/etl/jobs/mart"
    ends: dict[str, Any] = {"inputs": [dataset("orders")], "outputs": [dataset("mart")]}
    declared = event(job={"namespace": "etl", "name": "mart"}, **ends)
    del declared["run"], declared["eventType"]
    post(client, declared)
    before, current = get(client, f"{job}/versions"), get(client, job)["currentVersion"]

    post(client, run(MART, "mart", 30, **ends), run(OTHER, "mart", 40, outputs=[dataset("mart")]))

    (version,) = before["versions"]
    assert version == get(client, f"{job}/versions/{current}") | {"latestRun": None}
    assert version == {
        "id": {"namespace": "etl", "name": "mart", "version": current},
        "name": "mart",
        "namespace": "etl",
        "version": current,
        "createdAt": "2026-05-22T14:23:11.000Z",
        "inputs": [{"namespace": "lake", "name": "orders"}],
        "outputs": [{"namespace": "lake", "name": "mart"}],
        "location": None,
        "latestRun": None,
    }
    after = get(client, f"{job}/versions")["versions"]
    assert [each["latestRun"]["id"] for each in after] == [OTHER, MART]
    assert (after[1]["version"], get(client, job)["currentVersion"]) == (current, after[0]["version"])


def test_a_declared_version_has_an_input_whose_namespace_only_a_symlink_tells(client: TestClient) -> None:
    nameless = {"identifiers": [{"namespace": "", "name": "shop.orders", "type": "TABLE"}]}
    declared = event(job={"namespace": "etl", "name": "mart"}, inputs=[dataset("shop.orders", "")])
    del declared["run"], declared["eventType"]
    post(client, declared, run(OTHER, "load", 30, outputs=[dataset("orders", symlinks=facet(**nameless))]))

    (version,) = get(client, "/api/v1/namespaces/etl/jobs/mart/versions")["versions"]

    assert version["inputs"] == [{"namespace": "lake", "name": "orders"}]


STREAM = {"facets": {"jobType": facet(processingType="STREAMING", integration="FLINK")}}


def test_a_stream_has_a_version_while_it_runs(client: TestClient) -> None:
    job = "/api/v1/namespaces/etl/jobs/mart"
    stream = {"namespace": "etl", "name": "mart", **STREAM}
    post(client, run(LOAD, "mart", 10, "RUNNING", inputs=[dataset("orders")]))
    assert get(client, job)["currentVersion"] is None

    post(client, run(MART, "mart", 20, "START") | {"job": stream})
    (version,) = get(client, f"{job}/versions")["versions"]
    assert (version["latestRun"]["id"], get(client, job)["currentVersion"]) == (LOAD, version["version"])

    post(client, run(MART, "mart", 30, "RUNNING", inputs=[dataset("orders")], outputs=[dataset("mart")]))
    newest, before = get(client, f"{job}/versions")["versions"]
    assert (newest["latestRun"]["id"], newest["latestRun"]["state"]) == (MART, "RUNNING")
    assert newest["latestRun"]["jobVersion"] == newest["id"]
    assert [each["name"] for each in (*newest["inputs"], *newest["outputs"])] == ["orders", "mart"]
    assert get(client, job)["currentVersion"] == newest["version"]
    assert before == version
    then = get(client, f"{job}?asOf=2026-05-22T14:25:00Z")
    assert then["currentVersion"] == version["version"]
    for each in (newest, before):  # every version that is listed can be read
        get(client, f"/api/v1/column-lineage?nodeId=job:etl:mart%23{each['version']}")


def test_a_declared_version_stays_when_runs_do_something_else(client: TestClient) -> None:
    job = "/api/v1/namespaces/etl/jobs/mart"
    declared = event(job={"namespace": "etl", "name": "mart"}, inputs=[dataset("orders")])
    del declared["run"], declared["eventType"]

    post(client, declared, run(MART, "mart", 30, inputs=[dataset("rates")]))

    of_run, by_event = get(client, f"{job}/versions")["versions"]
    assert [each["inputs"][0]["name"] for each in (of_run, by_event)] == ["rates", "orders"]
    assert by_event["latestRun"] is None


def made_of(source: str, *columns: str) -> dict[str, Any]:
    """The mart with these columns; `total` is made from a column of orders."""
    inputs = [{"namespace": "lake", "name": "orders", "field": source}]
    return dataset("mart", schema=schema(*columns), columnLineage=facet(fields={"total": {"inputFields": inputs}}))


@pytest.fixture
def two_versions(client: TestClient) -> list[str]:
    """Versions of the mart, newest first: made from price; then from amount as well, with one more column."""
    orders = dataset("orders", schema=schema("price", "amount"))
    post(
        client,
        run(LOAD, "mart", 10, inputs=[orders], outputs=[made_of("price", "total")]),
        run(MART, "mart", 20, inputs=[orders], outputs=[made_of("amount", "total", "day"), dataset("log")]),
    )
    return [each["version"] for each in get(client, "/api/v1/namespaces/lake/datasets/mart/versions")["versions"]]


@pytest.mark.parametrize("node_id", ["dataset:lake:mart", "datasetField:lake:mart:total"])
def test_columns_of_a_version_are_those_it_had_with_their_versions(
    client: TestClient, two_versions: list[str], node_id: str
) -> None:
    orders = get(client, "/api/v1/namespaces/lake/datasets/orders")["currentVersion"]

    graphs = [
        get(client, f"/api/v1/column-lineage?nodeId={node_id}%23{version.upper()}")["graph"] for version in two_versions
    ]

    for graph, version, sources in zip(graphs, two_versions, (["amount", "price"], ["price"]), strict=True):
        total = f"datasetField:lake:mart:total#{version}"
        (column,) = (node for node in graph if node["id"] == total)
        sources_of_total = [f"datasetField:lake:orders:{source}#{orders}" for source in sources]
        assert column["inEdges"] == [{"origin": total, "destination": source} for source in sources_of_total]
        assert [
            node["id"] for node in graph if node["outEdges"] == [{"origin": node["id"], "destination": total}]
        ] == sources_of_total
        assert column["data"]["datasetVersion"] == version


def test_a_column_is_found_in_the_versions_that_had_it(client: TestClient, two_versions: list[str]) -> None:
    new, old = two_versions
    post(
        client,
        run(OTHER, "mart", 30, outputs=[dataset("mart", schema=schema("total"), version=facet(datasetVersion="3"))]),
    )
    of_day = "/api/v1/column-lineage?nodeId=datasetField:lake:mart:day"

    statuses = [client.get(f"{of_day}{version and f'%23{version}'}").status_code for version in ("", new, old)]

    assert statuses == [404, 200, 404]


def test_a_version_from_before_a_deletion_shows_the_columns_that_it_last_had(client: TestClient) -> None:
    mart = "/api/v1/namespaces/lake/datasets/mart"
    loads = (
        run(LOAD, "mart", 1, outputs=[made_of("price", "total")]),
        run(MART, "mart", 2, outputs=[made_of("vat", "total")]),
    )
    post(client, *loads)
    client.delete(mart).raise_for_status()
    later = "2026-05-23T10:00:00Z"
    post(client, {**run(OTHER, "mart", 0, outputs=[made_of("amount", "total", "day")]), "eventTime": later})
    _, old = (each["version"] for each in get(client, f"{mart}/versions")["versions"])

    graph = get(client, f"/api/v1/column-lineage?nodeId=dataset:lake:mart%23{old}")["graph"]

    sources = [f"datasetField:lake:orders:{column}" for column in ("price", "vat")]
    assert [node["id"] for node in graph] == [f"datasetField:lake:mart:total#{old}", *sources]


def test_a_version_from_before_a_dataset_had_another_name_is_found_under_its_only_name_then(client: TestClient) -> None:
    """`a` is the name shown now, since of two names that runs use the first by spelling is shown."""
    symlink = facet(identifiers=[{"namespace": "lake", "name": "mart", "type": "TABLE"}])
    post(
        client,
        run(LOAD, "mart", 10, outputs=[made_of("price", "total")]),
        run(MART, "mart", 20, outputs=[dataset("a", "glue", schema=schema("total", "day"), symlinks=symlink)]),
    )
    _, old = (each["version"] for each in get(client, "/api/v1/namespaces/glue/datasets/a/versions")["versions"])

    graph = get(client, f"/api/v1/column-lineage?nodeId=dataset:glue:a%23{old}")["graph"]

    assert [node["id"].partition("#")[0] for node in graph] == [
        "datasetField:lake:mart:total",
        "datasetField:lake:orders:price",
    ]


def test_a_version_that_the_event_which_read_it_replaced_is_found(client: TestClient) -> None:
    read, written = dataset("mart", schema=schema("total", "day")), made_of("price", "total")
    post(client, run(LOAD, "mart", 10, inputs=[read], outputs=[written]))
    _, old = (each["version"] for each in get(client, "/api/v1/namespaces/lake/datasets/mart/versions")["versions"])

    graph = get(client, f"/api/v1/column-lineage?nodeId=dataset:lake:mart%23{old}")["graph"]

    assert [node["id"].partition("#")[0] for node in graph] == [
        "datasetField:lake:mart:total",
        "datasetField:lake:orders:price",
    ]


def test_columns_of_a_version_of_a_job_are_those_its_runs_wrote(client: TestClient, two_versions: list[str]) -> None:
    new, old = (each["version"] for each in get(client, "/api/v1/namespaces/etl/jobs/mart/versions")["versions"])

    graphs = [get(client, f"/api/v1/column-lineage?nodeId=job:etl:mart%23{version}")["graph"] for version in (new, old)]

    columns = [{node["id"] for node in graph if ":mart:" in node["id"]} for graph in graphs]
    assert columns == [
        {f"datasetField:lake:mart:{column}#{two_versions[0]}" for column in ("day", "total")},
        {f"datasetField:lake:mart:total#{two_versions[1]}"},
    ]


def test_the_node_id_of_a_run_stands_for_its_job(client: TestClient) -> None:
    post(client, *chain())

    by_run = get(client, f"/api/v1/lineage?nodeId=run:{MART}&depth=1")
    by_job = get(client, "/api/v1/lineage?nodeId=job:etl:mart&depth=1")

    assert by_run == by_job
    assert client.get("/api/v1/lineage?nodeId=run:none").status_code == 404


@pytest.mark.parametrize(
    ("query", "names"),
    [
        ("q=or&before=2026-05-22", []),
        ("q=or&before=2026-05-23", ["orders", "report"]),
        ("q=or&after=2026-05-22", ["orders", "report"]),
        ("q=or&after=2026-05-23", []),
        ("q=r%25t&filter=job&sort=name", ["mart", "report"]),
        ("q=%25or%25&filter=dataset&sort=update_at", ["orders"]),
        ("q=t%25r", []),
    ],
)
def test_search_by_day_by_wildcard_and_in_either_case(client: TestClient, query: str, names: list[str]) -> None:
    post(client, *chain())

    hits = get(client, f"/api/v1/search?{query}")

    assert [hit["name"] for hit in hits["results"]] == names
    assert hits["totalCount"] == len(names)


def test_an_invalid_day_is_refused(client: TestClient) -> None:
    form, calendar = (client.get(f"/api/v1/search?q=a&before={day}") for day in ("yesterday", "2026-02-30"))

    assert (form.status_code, calendar.status_code) == (400, 400)
    assert form.json()["errors"] == ['query param before must match "^\\d{4}-\\d{2}-\\d{2}$"']
    assert calendar.json()["message"].startswith("query param before cannot be read: ")


def test_events_are_listed_newest_first_and_by_the_namespace_of_their_jobs(client: TestClient) -> None:
    elsewhere = {**run(OTHER, "load", 30), "job": {"namespace": "s3://else", "name": "load"}}
    post(client, *chain()[:2], elsewhere)

    assert get(client, "/api/v1/events?limit=2") == {"events": [elsewhere, chain()[1]], "totalCount": 3}
    assert get(client, "/api/v1/events/etl?offset=1") == {"events": [chain()[0]], "totalCount": 2}
    assert get(client, "/api/v1/events/s3%3A%2F%2Felse")["events"] == [elsewhere]
    assert get(client, "/api/v1/events/s3://else")["events"] == [elsewhere]
    assert get(client, "/api/v1/events/nobody") == {"events": [], "totalCount": 0}


def facets_of_sources(*source_jobs: str) -> dict[str, Any]:
    inputs = [{"namespace": "etl", "name": name, "type": "JOB"} for name in source_jobs]
    return {"lineage": facet(entries=[{"type": "JOB", "inputs": inputs}])}


def test_upstream_runs_are_also_those_of_source_jobs_without_a_dataset_between(client: TestClient) -> None:
    job = {"job": {"namespace": "etl", "name": "score", "facets": facets_of_sources("mart", "ask")}}
    post(client, *reversed(chain()), {**run(OTHER, "score", 35), **job}, run(LATE, "mart", 50))

    runs = get(client, f"/api/v1/runlineage/upstream?runId={OTHER}")["runs"]

    assert [each["run"]["id"] for each in runs] == [OTHER, MART, LOAD]
    assert runs[0]["inputs"] == []
    assert [(each["name"], each["producedByRunId"]) for each in runs[0]["inputJobs"]] == [("ask", None), ("mart", MART)]
    assert runs[1]["inputJobs"] == []


def test_source_jobs_of_other_runs_are_not_upstream_of_a_run(client: TestClient) -> None:
    job = {"job": {"namespace": "etl", "name": "score", "facets": facets_of_sources("mart")}}
    post(client, run(MART, "mart", 10), {**run(OTHER, "score", 20), **job}, run(REPORT, "score", 30))

    runs = get(client, f"/api/v1/runlineage/upstream?runId={REPORT}")["runs"]

    assert [(each["run"]["id"], each["inputJobs"]) for each in runs] == [(REPORT, [])]


def test_source_jobs_that_others_report_for_a_job_are_upstream_of_its_runs(client: TestClient) -> None:
    entry = {"namespace": "etl", "name": "score", "type": "JOB", "inputs": [{**JOB, "name": "mart"}]}
    job = {"job": {"namespace": "etl", "name": "watch", "facets": {"lineage": facet(entries=[entry])}}}
    post(client, run(MART, "mart", 10), {**run(OTHER, "watch", 20), **job}, run(REPORT, "score", 30))

    runs = get(client, f"/api/v1/runlineage/upstream?runId={REPORT}")["runs"]

    assert [each["run"]["id"] for each in runs] == [REPORT, MART]
