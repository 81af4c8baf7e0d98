"""Reads of runs whose correct answers are known."""

from typing import Any

import pytest
from starlette.testclient import TestClient

from tests.support.app import RUN, dataset, event, facet, get, post, schema
from tests.support.lineage_events import job, run_event


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


@pytest.mark.parametrize(("seconds", "start_second"), [((12, 12), 12), ((12, 13), 12), ((12,), None)])
def test_a_run_with_only_an_end_event_has_no_start(
    client: TestClient, seconds: tuple[int, ...], start_second: int | None
) -> None:
    post(client, *(run_event(RUN, kind, second) for kind, second in zip(("COMPLETE", "START"), seconds, strict=False)))

    run = get(client, f"/api/v1/jobs/runs/{RUN}")

    assert run["startedAt"] == (start_second and f"2026-05-22T14:23:{start_second}.000Z")
    assert run["durationMs"] == (start_second and 0)


@pytest.mark.parametrize(
    ("nominal_time", "argument"),
    [
        ("2026-05-22T00:00:00.000Z", "2026-05-22T00:00Z"),
        ("2026-05-22T00:00:00+00:00", "2026-05-22T00:00Z"),
        ("2026-05-22T02:00:05+02:00", "2026-05-22T02:00:05+02:00"),
        ("2026-05-22T00:00:00.5Z", "2026-05-22T00:00:00.500Z"),
        ("2026-05-22T00:00:00.000001Z", "2026-05-22T00:00:00.000001Z"),
        ("2026-05-22T00:00:00", "2026-05-22T00:00Z"),
    ],
)
def test_a_nominal_time_is_an_argument_as_java_writes_it(client: TestClient, nominal_time: str, argument: str) -> None:
    """Source: Java's `ZonedDateTime.toString` and `LocalTime.toString`, which Marquez uses."""
    nominal = facet(nominalStartTime=nominal_time, nominalEndTime=nominal_time)
    post(client, event(run={"runId": RUN, "facets": {"nominalTime": nominal}}))

    args = get(client, f"/api/v1/jobs/runs/{RUN}")["args"]

    assert args == {"nominal_start_time": argument, "nominal_end_time": argument}


def test_a_parent_known_only_by_name_starts_with_its_earliest_child(client: TestClient) -> None:
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


def test_a_job_that_names_itself_as_its_parent_has_none(client: TestClient) -> None:
    itself = facet(run={"runId": "scheduled__2026-05-22T00:00:00+00:00"}, job=job("dag.task"))
    post(client, event(run={"runId": "part", "facets": {"parentRun": itself}}, job=job("dag.task")))

    answer = get(client, "/api/v1/namespaces/etl/jobs/dag.task")

    assert (answer["parentJobName"], answer["parentJobUuid"], answer["simpleName"]) == (None, None, "dag.task")


def test_a_run_that_names_itself_as_its_parent_has_none(client: TestClient) -> None:
    itself = facet(run={"runId": "alone"}, job=job("load"))
    post(client, event(run={"runId": "alone", "facets": {"parent": itself}}, job=job("load")))

    run = get(client, "/api/v1/jobs/runs/alone")

    assert (run["parent"], run["args"], run["facets"]["parent"]) == (None, {}, itself)
    assert get(client, "/api/v1/namespaces/etl/jobs/load")["latestRun"]["parent"] is None


def test_a_root_known_only_by_name_is_a_run_of_a_job_without_edges(client: TestClient) -> None:
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


def test_a_parent_with_events_of_its_own_has_their_state(client: TestClient) -> None:
    parent = facet(run={"runId": "the-dag-run"}, job=job("dag"))
    post(
        client,
        event(run={"runId": "child", "facets": {"parent": parent}}),
        run_event("the-dag-run", "FAIL", 30, job=job("dag")),
    )

    run = get(client, "/api/v1/jobs/runs/the-dag-run")

    assert (run["state"], run["startedAt"], run["endedAt"]) == ("FAILED", None, "2026-05-22T14:23:30.000Z")


def test_a_run_whose_later_event_names_another_job_leaves_the_first(client: TestClient) -> None:
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
    assert counters["theirs"]["bytesOut"] is None  # more than 64 bits: only in the facet
    assert counters["neither"] is None


def test_counters_may_be_zero(client: TestClient) -> None:
    post(client, event(run={"runId": RUN, "facets": {"headwater_run": facet(recordsIn=0, errorCount=0, durationMs=0)}}))

    counters = get(client, f"/api/v1/jobs/runs/{RUN}")["counters"]

    assert (counters["recordsIn"], counters["errorCount"], counters["durationMs"]) == (0, 0, 0)


def test_job_facets_of_a_run_are_those_of_its_own_events(client: TestClient) -> None:
    def sql(query: str) -> dict[str, Any]:
        return {**job("load"), "facets": {"sql": facet(query=query)}}

    post(client, run_event("old", "START", 1, job=sql("SELECT 1")), run_event("old", "RUNNING", 2, job=sql("SELECT 2")))
    post(client, run_event("new", "START", 3, job=sql("SELECT 3")))

    facets = get(client, "/api/v1/jobs/runs/old/facets?type=job")["facets"]

    assert facets["sql"]["query"] == "SELECT 2"
    assert get(client, "/api/v1/namespaces/etl/jobs/load")["facets"]["sql"]["query"] == "SELECT 3"


def test_a_run_met_the_version_that_it_reported_itself_not_that_of_another_run_meanwhile(client: TestClient) -> None:
    post(
        client,
        run_event("long", "START", 1, outputs=[dataset("t", schema=schema("a"))]),
        run_event("short", "COMPLETE", 3, outputs=[dataset("t", schema=schema("a", "b"))]),
        run_event("long", "COMPLETE", 5, outputs=[dataset("t")]),
        run_event("reader", "COMPLETE", 7, inputs=[dataset("t")]),
    )

    newest, first = (each["version"] for each in get(client, "/api/v1/namespaces/lake/datasets/t/versions")["versions"])
    sides = (("long", "output"), ("short", "output"), ("reader", "input"))
    met = [get(client, f"/api/v1/jobs/runs/{run}")[f"{side}DatasetVersions"] for run, side in sides]

    assert [each["datasetVersionId"]["version"] for (each,) in met] == [first, newest, newest]


def test_the_events_of_a_run_are_listed_by_event_time_in_pages(client: TestClient) -> None:
    post(client, run_event(RUN, "COMPLETE", 5), run_event(RUN, "START", 1), run_event("other", "START", 2))

    page = get(client, f"/api/v1/jobs/runs/{RUN}/events?limit=1&offset=1")
    (first,) = get(client, f"/api/v1/jobs/runs/{RUN}/events?limit=1")["events"]

    assert (first["index"], first["eventType"], first["eventTime"]) == (1, "START", "2026-05-22T14:23:01.000Z")
    assert (page["events"][0]["index"], page["totalCount"]) == (0, 2)
    assert first["digest"].startswith("sha256:")


def event_of(run: str, second: int, job: str, parent: str | None = None, *, ends: bool = False) -> dict[str, Any]:
    """An event of a run, with the run `dag` as its parent where the job of the parent is given."""
    parent_facet = facet(run={"runId": "dag"}, job={"namespace": "airflow", "name": parent}) if parent else None
    return event(
        eventType="COMPLETE" if ends else "RUNNING",
        eventTime=f"2026-05-22T14:23:{second:02d}Z",
        run={"runId": run, "facets": {"parent": parent_facet} if parent_facet else {}},
        job={"namespace": "airflow", "name": job},
    )


@pytest.mark.parametrize("order", [(0, 1), (1, 0)])
def test_the_parent_of_a_run_has_the_job_of_its_own_events_whatever_its_children_name(
    client: TestClient, order: tuple[int, ...]
) -> None:
    events = event_of("task", 20, "daily.task", "daily_dag", ends=True), event_of("dag", 30, "Daily")
    paths = "/jobs/runs/task", "/namespaces/airflow/jobs/daily.task", "/jobs", "/lineage?nodeId=job:airflow:daily.task"
    for place in order:
        post(client, events[place])
        for path in paths:  # so that the answer is cached
            client.get(f"/api/v1{path}")

    run, job = get(client, "/api/v1/jobs/runs/task"), get(client, "/api/v1/namespaces/airflow/jobs/daily.task")
    containment = get(client, "/api/v1/containment?nodeId=job:airflow:Daily")
    jobs = get(client, "/api/v1/namespaces/airflow/jobs")
    ghost = client.get("/api/v1/namespaces/airflow/jobs/daily_dag")
    results = get(client, "/api/v1/search?q=daily")["results"]

    assert run["parent"] == {"runId": "dag", "job": {"namespace": "airflow", "name": "Daily"}}
    assert job["parentJobName"] == "Daily"
    assert [each["name"] for each in containment["parts"]] == ["daily.task"]
    assert {each["name"] for each in jobs["jobs"]} == {"daily.task", "Daily"}
    assert jobs["totalCount"] == 2
    assert ghost.status_code == 404
    assert {each["name"] for each in results} == {"daily.task", "Daily"}


def test_a_parent_without_events_by_then_had_the_job_that_its_children_named(client: TestClient) -> None:
    post(client, event_of("task", 20, "daily.task", "daily_dag", ends=True), event_of("dag", 30, "Daily"))
    then = "asOf=2026-05-22T14:23:25Z"

    for _ in range(2):
        run, before = (get(client, f"/api/v1/jobs/runs/task{bound}") for bound in ("", f"?{then}"))
        jobs = get(client, f"/api/v1/namespaces/airflow/jobs?{then}")["jobs"]
        job = get(client, f"/api/v1/namespaces/airflow/jobs/daily.task?{then}")

        assert (run["parent"]["job"]["name"], before["parent"]["job"]["name"]) == ("Daily", "daily_dag")
        assert {each["name"] for each in jobs} == {"daily.task", "daily_dag"}
        assert job["parentJobName"] == "daily_dag"
    changes = get(client, "/api/v1/diff?from=2026-05-22T14:23:25Z")["changes"]
    of_jobs = {each["nodeId"]: (each["change"], each["event"]["index"]) for each in changes if each["kind"] == "job"}
    assert of_jobs == {"job:airflow:daily_dag": ("went", 1), "job:airflow:Daily": ("came", 1)}
