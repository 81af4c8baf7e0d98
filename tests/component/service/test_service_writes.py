"""Datasets, jobs and runs written over the API: each becomes an OpenLineage event like any other."""

import json
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest
from starlette.testclient import TestClient

from tests.support.app import Body, dataset, event, facet, get, post, served
from tests.support.reads import read_everything
from tests.support.spec import Specification

TEAM = "/api/v1/namespaces/team"
RUN = "00000001-0000-4000-8000-000000000001"
OTHER_RUN = "00000002-0000-4000-8000-000000000001"
TABLE = {"type": "DB_TABLE", "physicalName": "public.t", "sourceName": "default"}


@pytest.fixture
def client(tmp_path: Path) -> Iterator[TestClient]:
    with served(tmp_path) as client:
        put(client, TEAM, ownerName="ann")
        yield client


def put(client: TestClient, path: str, **body: object) -> Body:
    response = client.put(path, json=body)
    assert response.status_code == 200, response.text
    answer: Body = response.json()
    return answer


def create_run(client: TestClient, job: str, status: int = 201, **body: object) -> Body:
    response = client.post(f"{TEAM}/jobs/{job}/runs", json=body)
    assert response.status_code == status, response.text
    answer: Body = response.json()
    return answer


def mark(client: TestClient, transition: str, at: str = "", run_id: str = RUN) -> Body:
    response = client.post(f"/api/v1/jobs/runs/{run_id}/{transition}{at and f'?at={at}'}")
    assert response.status_code == 200, response.text
    answer: Body = response.json()
    return answer


def events(client: TestClient) -> list[Any]:
    listed: list[Any] = get(client, "/api/v1/events?sortDirection=asc")["events"]
    return listed


def test_putting_a_dataset_makes_a_dataset_event(client: TestClient) -> None:
    put(client, "/api/v1/sources/pg", type="POSTGRESQL", connectionUrl="postgres://db:5432")
    columns = [{"name": "a", "type": "INT", "description": "x", "tags": ["pii"]}, {"name": "b"}]

    answer = put(client, f"{TEAM}/datasets/t", **{**TABLE, "sourceName": "pg"}, fields=columns, tags=["A"])

    (event,) = events(client)
    facets = event["dataset"]["facets"]
    assert facets["schema"]["fields"] == [{"name": "a", "type": "INT", "description": "x"}, {"name": "b"}]
    assert (facets["dataSource"]["name"], facets["dataSource"]["uri"]) == ("pg", "postgres://db:5432")
    assert event["producer"].startswith("https://headwater.dev/producer/api/")
    assert answer == get(client, f"{TEAM}/datasets/t")
    assert (answer["physicalName"], answer["sourceName"], answer["tags"]) == ("public.t", "pg", ["A"])
    assert [(each["name"], each["type"], each["tags"]) for each in answer["fields"]] == [
        ("a", "INT", ["PII"]),
        ("b", None, []),
    ]


def test_putting_a_dataset_again_makes_a_new_version_only_if_its_columns_changed(client: TestClient) -> None:
    versions = [
        put(client, f"{TEAM}/datasets/t", **TABLE, fields=[{"name": column}])["currentVersion"] for column in "aab"
    ]

    assert versions[0] == versions[1] != versions[2]


def test_a_description_stays_until_there_is_another(client: TestClient) -> None:
    path = f"{TEAM}/datasets/t"
    put(client, f"{TEAM}/jobs/j", type="BATCH")
    of_run = {"runId": create_run(client, "j")["id"]}

    descriptions = [
        put(client, path, **TABLE, **members)["description"] for members in ({"description": "x"}, {}, of_run)
    ]

    assert descriptions == ["x", "x", "x"]
    assert put(client, path, **TABLE, description="")["description"] == ""


def test_a_description_and_tags_stay_for_a_dataset_that_was_deleted_meanwhile(client: TestClient) -> None:
    put(client, f"{TEAM}/datasets/t", **TABLE, description="x", tags=["A"])
    client.delete(f"{TEAM}/datasets/t").raise_for_status()

    again = put(client, f"{TEAM}/datasets/t", **TABLE)

    assert (again["description"], again["tags"]) == ("x", ["A"])


def test_what_is_put_again_keeps_its_creation_time(client: TestClient) -> None:
    put(client, f"{TEAM}/datasets/t", **TABLE)
    ends = {"outputs": [{"namespace": "team", "name": "t"}]}
    first = put(client, f"{TEAM}/jobs/j", type="BATCH", **ends), get(client, f"{TEAM}/datasets/t")

    again = put(client, f"{TEAM}/jobs/j", type="BATCH"), put(client, f"{TEAM}/datasets/t", **TABLE)

    assert [each["createdAt"] for each in again] == [each["createdAt"] for each in first]
    assert all(now["updatedAt"] > then["updatedAt"] for now, then in zip(again, first, strict=True))


def test_a_put_dataset_has_a_lifecycle_state_once_a_run_wrote_it(client: TestClient) -> None:
    put(client, f"{TEAM}/datasets/t", **TABLE)
    put(client, f"{TEAM}/jobs/j", type="BATCH", inputs=[{"namespace": "team", "name": "t"}], outputs=[])
    create_run(client, "j", id=RUN)
    mark(client, "start")
    read = get(client, f"{TEAM}/datasets/t")

    post(client, event(run={"runId": OTHER_RUN}, outputs=[dataset("t", "team")]))

    written = get(client, f"{TEAM}/datasets/t")
    assert (read["lastLifecycleState"], written["lastLifecycleState"]) == (None, "")


def test_a_stream_has_the_location_of_its_schema(client: TestClient) -> None:
    body = {**TABLE, "type": "STREAM"}

    answer = put(client, f"{TEAM}/datasets/t", **body, schemaLocation="http://registry/t.avsc")

    assert (answer["type"], answer["schemaLocation"]) == ("STREAM", "http://registry/t.avsc")
    assert get(client, f"{TEAM}/datasets/t/versions")["versions"][0]["schemaLocation"] == "http://registry/t.avsc"
    assert "schemaLocation" not in put(client, f"{TEAM}/datasets/u", **TABLE)


@pytest.mark.parametrize(
    ("path", "body", "message"),
    [
        ("none/datasets/t", TABLE, "Namespace 'none' not found."),
        ("team/datasets/t", {**TABLE, "sourceName": "none"}, "Source 'none' not found."),
        ("team/datasets/t", {**TABLE, "runId": "none"}, "Run 'none' not found."),
        ("none/jobs/j", {"type": "BATCH"}, "Namespace 'none' not found."),
        ("team/jobs/j", {"type": "BATCH", "inputs": [{"namespace": "team", "name": "no"}]}, "Dataset 'no' not found."),
        ("team/jobs/j", {"type": "BATCH", "runId": "none"}, "Run 'none' not found."),
    ],
)
def test_a_write_that_names_something_unknown_is_refused(
    client: TestClient, path: str, body: Body, message: str
) -> None:
    response = client.put(f"/api/v1/namespaces/{path}", json=body)

    assert response.json() == {"code": 404, "message": message}
    assert events(client) == []


def test_putting_a_job_makes_a_job_event_with_its_edges(client: TestClient) -> None:
    for name in ("a", "b"):
        put(client, f"{TEAM}/datasets/{name}", **TABLE)
    ends = {side: [{"namespace": "team", "name": name}] for side, name in (("inputs", "a"), ("outputs", "b"))}

    answer = put(client, f"{TEAM}/jobs/j", type="SERVICE", location="https://git/x", description="d", **ends)

    event = events(client)[-1]
    assert {side: event[side] for side in ends} == ends == {side: answer[side] for side in ends}
    assert (answer["type"], answer["location"], answer["description"]) == ("SERVICE", "https://git/x", "d")
    assert answer["facets"] == {}
    assert len(get(client, "/api/v1/lineage?nodeId=job:team:j")["graph"]) == 3


def test_tags_of_a_put_job_are_added_to_those_it_has(client: TestClient) -> None:
    put(client, f"{TEAM}/jobs/j", type="BATCH", tags=["NIGHTLY", "gold"])

    answer = put(client, f"{TEAM}/jobs/j", type="BATCH", tags=["NIGHTLY", "EU"], location="")

    assert (sorted(answer["tags"]), answer["location"]) == (["EU", "NIGHTLY", "gold"], None)
    assert {"EU", "NIGHTLY", "gold"} <= {each["name"] for each in get(client, "/api/v1/tags")["tags"]}


def test_an_empty_location_removes_the_one_that_a_job_had(client: TestClient) -> None:
    puts: list[Body] = [{"location": "https://git/x", "description": "d"}, {}, {"location": "", "description": ""}]

    answers = [put(client, f"{TEAM}/jobs/j", type="BATCH", **each) for each in puts]

    shown = [(each["location"], each["description"]) for each in answers]
    assert shown == [("https://git/x", "d"), ("https://git/x", "d"), (None, "")]
    assert put(client, f"{TEAM}/jobs/j", type="BATCH", location="https://git/y")["location"] == "https://git/y"


def test_the_type_of_a_job_is_the_newest_one_from_events_or_puts(client: TestClient) -> None:
    def post_type(second: int, kind: str) -> str:
        job_type = facet(processingType=kind, integration="FLINK", jobType="JOB", jobtype="odd", schema="odd")
        job = {"namespace": "team", "name": "j", "facets": {"jobType": job_type}}
        post(client, event(eventTime=f"2026-05-22T14:{second:02d}:00Z", job=job))
        return str(get(client, f"{TEAM}/jobs/j")["type"])

    types = [
        post_type(10, "STREAMING"),
        put(client, f"{TEAM}/jobs/j", type="BATCH")["type"],
        put(client, f"{TEAM}/jobs/j", type="SERVICE")["type"],
        post_type(11, "STREAMING"),
        post_type(59, "STREAMING"),
    ]

    assert types == ["STREAM", "BATCH", "SERVICE", "SERVICE", "STREAM"]


def test_putting_another_job_type_keeps_the_producers_labels(client: TestClient) -> None:
    job_type = facet(processingType="STREAMING", integration="FLINK", jobType="JOB")
    job = {"namespace": "team", "name": "j", "facets": {"jobType": job_type}}
    post(client, event(eventTime="2026-05-22T14:10:00Z", job=job))

    same, other = (put(client, f"{TEAM}/jobs/j", type=kind) for kind in ("STREAM", "BATCH"))

    assert [each["labels"] for each in (same, other)] == [["JOB", "FLINK"]] * 2
    assert (same["facets"], other["facets"]) == ({"jobType": job_type}, {})
    assert put(client, f"{TEAM}/jobs/k", type="BATCH")["labels"] == []


def test_creating_a_run_restores_no_deleted_dataset(client: TestClient) -> None:
    put(client, f"{TEAM}/datasets/t", **TABLE)
    put(client, f"{TEAM}/datasets/u", **TABLE)
    ends = [{"namespace": "team", "name": name} for name in "tu"]
    put(client, f"{TEAM}/jobs/j", type="BATCH", inputs=ends)
    client.delete(f"{TEAM}/datasets/t").raise_for_status()

    run = create_run(client, "j", id=RUN)

    assert client.get(f"{TEAM}/datasets/t").status_code == 404
    assert [each["datasetVersionId"]["name"] for each in run["inputDatasetVersions"]] == ["u"]


def test_of_concurrent_requests_for_one_run_only_one_creates_it(client: TestClient) -> None:
    for job in "jk":
        put(client, f"{TEAM}/jobs/{job}", type="BATCH")
    before = len(events(client))

    with ThreadPoolExecutor(10) as threads:
        paths = [f"{TEAM}/jobs/{'jk'[number % 2]}/runs" for number in range(10)]
        responses = [*threads.map(lambda path: client.post(path, json={"id": RUN}), paths)]

    assert sorted(each.status_code for each in responses) == [201, *[400] * 9]
    assert len(events(client)) == before + 1
    (first,) = (each.json()["job"] for each in responses if each.status_code == 201)
    assert get(client, f"/api/v1/jobs/runs/{RUN}")["job"] == first


def test_a_run_goes_from_new_to_its_end(client: TestClient) -> None:
    put(client, f"{TEAM}/datasets/a", **TABLE)
    put(client, f"{TEAM}/jobs/j", type="BATCH", inputs=[{"namespace": "team", "name": "a"}])
    nominal: dict[str, Any] = {
        "nominalStartTime": "2026-01-01T00:00:00Z",
        "nominalEndTime": "2026-01-01T01:00:00+00:00",
    }

    created = create_run(client, "j", id=RUN, args={"k": "v"}, **nominal)
    started = mark(client, "start", "2026-05-23T10:00:00%2B02:00")
    ended = mark(client, "complete", "2026-05-23T08:00:07.5Z")

    assert (created["state"], created["startedAt"], created["args"]) == ("NEW", None, {"k": "v"})
    assert [each["datasetVersionId"]["name"] for each in created["inputDatasetVersions"]] == ["a"]
    assert created["nominalEndTime"] == "2026-01-01T01:00:00.000Z"
    assert (started["state"], started["startedAt"]) == ("RUNNING", "2026-05-23T08:00:00.000Z")
    assert (ended["state"], ended["durationMs"], ended["args"]) == ("COMPLETED", 7500, {"k": "v"})
    assert [each["eventType"] for each in events(client)[2:]] == ["OTHER", "START", "COMPLETE"]
    read_everything(client)


def test_the_events_of_writes_are_valid_by_the_standards_own_schemas(client: TestClient, shared: Path) -> None:
    specification = Specification(shared / "openlineage")
    put(client, "/api/v1/sources/pg", type="POSTGRESQL", connectionUrl="postgres://db:5432")
    columns = [{"name": "a", "type": "INT", "description": "x", "tags": ["pii"]}, {"name": "b"}]
    put(client, f"{TEAM}/datasets/a", **{**TABLE, "sourceName": "pg"}, fields=columns, tags=["A"], description="d")
    ends = {"inputs": [{"namespace": "team", "name": "a"}], "outputs": []}
    put(client, f"{TEAM}/jobs/j", type="SERVICE", location="https://git/x", description="d", **ends)
    create_run(client, "j", id=RUN, args={"k": "v"}, nominalStartTime="2026-01-01T00:00:00Z")
    mark(client, "start", "2026-05-23T10:00:00%2B02:00")
    mark(client, "complete", "2026-05-23T08:00:07.5Z")

    written = events(client)

    assert len(written) == 5
    assert [complaint for event in written for complaint in specification.complaints(json.dumps(event).encode())] == []


@pytest.mark.parametrize(("transition", "state"), [("fail", "FAILED"), ("abort", "ABORTED"), ("start", "RUNNING")])
def test_a_run_may_be_marked_as_failed_aborted_or_started(client: TestClient, transition: str, state: str) -> None:
    put(client, f"{TEAM}/jobs/j", type="BATCH")
    run_id = create_run(client, "j")["id"]

    assert mark(client, transition, run_id=run_id)["state"] == state


def test_a_run_with_only_an_end_has_no_start(client: TestClient) -> None:
    put(client, f"{TEAM}/jobs/j", type="BATCH")
    create_run(client, "j", id=RUN)

    ended = mark(client, "complete", "2026-05-23T08:00:07Z")
    started_late = mark(client, "start", "2026-05-23T08:00:09Z")

    assert (ended["startedAt"], ended["endedAt"], ended["durationMs"]) == (None, "2026-05-23T08:00:07.000Z", None)
    assert (started_late["startedAt"], started_late["durationMs"]) == (ended["endedAt"], 0)


def test_a_run_that_ended_stays_ended(client: TestClient) -> None:
    put(client, f"{TEAM}/jobs/j", type="BATCH")
    create_run(client, "j", id=RUN)
    mark(client, "fail")

    assert mark(client, "start")["state"] == "FAILED"


def test_creating_a_run_returns_its_location(client: TestClient) -> None:
    put(client, f"{TEAM}/jobs/j", type="BATCH")

    response = client.post(f"{TEAM}/jobs/j/runs", json={})

    assert get(client, response.headers["location"]) == response.json()


def test_putting_a_dataset_with_a_run_id_makes_it_an_output_of_the_run(client: TestClient) -> None:
    put(client, f"{TEAM}/jobs/j", type="BATCH")
    create_run(client, "j", id=RUN)

    put(client, f"{TEAM}/datasets/t", **TABLE, fields=[{"name": "a"}], runId=RUN)
    job = put(client, f"{TEAM}/jobs/j", type="BATCH", outputs=[{"namespace": "team", "name": "t"}], runId=RUN)
    mark(client, "complete")

    run = get(client, f"/api/v1/jobs/runs/{RUN}")
    assert [each["datasetVersionId"]["name"] for each in run["outputDatasetVersions"]] == ["t"]
    assert get(client, f"{TEAM}/datasets/t/versions")["versions"][0]["createdByRun"]["id"] == RUN
    assert job["outputs"] == [{"namespace": "team", "name": "t"}]


def test_putting_a_job_with_a_run_id_adds_its_inputs_and_outputs_to_those_of_the_run(client: TestClient) -> None:
    for name in ("in", "out"):
        put(client, f"{TEAM}/datasets/{name}", **TABLE)
    put(client, f"{TEAM}/jobs/j", type="BATCH")
    create_run(client, "j", id=RUN)
    ends = {side: [{"namespace": "team", "name": name}] for side, name in (("inputs", "in"), ("outputs", "out"))}

    put(client, f"{TEAM}/jobs/j", type="BATCH", **ends, runId=RUN)

    run = get(client, f"/api/v1/jobs/runs/{RUN}")
    met = (run["inputDatasetVersions"], run["outputDatasetVersions"])
    assert [[each["datasetVersionId"]["name"] for each in side] for side in met] == [["in"], ["out"]]


def test_a_run_can_be_created_of_a_job_that_only_runs_reported(client: TestClient) -> None:
    post(client, event(job={"namespace": "team", "name": "reported"}, inputs=[dataset("t", "team")]))

    created = create_run(client, "reported")

    assert (created["state"], created["inputDatasetVersions"]) == ("NEW", [])


def test_arguments_of_a_run_that_are_not_strings_become_strings(client: TestClient) -> None:
    put(client, f"{TEAM}/jobs/j", type="BATCH", inputs=[], outputs=[])

    answer = create_run(client, "j", args={"text": "a", "number": 7, "part": 0.5, "truth": True})

    assert answer["args"] == {"text": "a", "number": "7", "part": "0.5", "truth": "true"}


def test_arguments_of_a_run_that_are_null_are_left_out(client: TestClient) -> None:
    put(client, f"{TEAM}/jobs/j", type="BATCH")

    run = create_run(client, "j", id=RUN, args={"day": "2026-05-22", "until": None})

    assert run["args"] == {"day": "2026-05-22"}


def test_a_run_is_created_once(client: TestClient) -> None:
    put(client, f"{TEAM}/jobs/j", type="BATCH")
    create_run(client, "j", id=RUN)

    again = create_run(client, "j", 400, id=RUN.upper())

    assert again["message"] == f"Run '{RUN}' already exists for 'j' under namespace 'team'."


def test_a_run_that_others_only_name_as_their_parent_can_be_created(client: TestClient) -> None:
    put(client, f"{TEAM}/jobs/j", type="BATCH")
    parent = facet(run={"runId": RUN}, job={"namespace": "team", "name": "j"})
    post(client, event(run={"runId": OTHER_RUN, "facets": {"parent": parent}}))

    assert create_run(client, "j", id=RUN)["state"] == "NEW"


@pytest.mark.parametrize(
    ("method", "path", "body", "status", "message"),
    [
        ("POST", "/api/v1/namespaces/none/jobs/j/runs", {}, 404, "Namespace 'none' not found."),
        ("POST", f"{TEAM}/jobs/none/runs", {}, 404, "Job 'none' not found."),
        ("POST", f"{TEAM}/jobs/j/runs", {"id": ""}, 422, "id cannot be read: "),
        ("PUT", f"{TEAM}/jobs/j", {"type": None}, 422, "type must not be null"),
        ("PUT", f"{TEAM}/datasets/t", {**TABLE, "physicalName": None}, 422, "physicalName must not be null"),
        ("POST", f"{TEAM}/jobs/j/runs", {"args": {"a": {}}}, 422, "args.a "),
        ("POST", f"{TEAM}/jobs/j/runs", {"nominalStartTime": "noon"}, 422, "nominalStartTime "),
        ("POST", f"{TEAM}/jobs/j/runs", {"nominalEndTime": "2026-01-01T00:00:00Z"}, 400, "nominalStartTime must not "),
        ("POST", "/api/v1/jobs/runs/none/start", None, 404, "Run 'none' not found."),
        ("POST", "/api/v1/jobs/runs/none/start?at=noon", None, 400, "query param at cannot be read: "),
        (
            "PUT",
            f"{TEAM}/jobs/j",
            {"type": "BATCH", "location": "git@host:x"},
            422,
            "location cannot be read: expected an ",
        ),
        ("PUT", f"{TEAM}/datasets/t", {**TABLE, "schemaLocation": "t.avsc"}, 422, "schemaLocation cannot be read: "),
        ("PUT", f"{TEAM}/datasets/t", {**TABLE, "physicalName": ""}, 422, "physicalName must not be blank"),
        ("PUT", f"{TEAM}/datasets/t", {**TABLE, "fields": [{"name": " "}]}, 422, "fields.0.name must not be blank"),
        ("PUT", f"{TEAM}/datasets/t", {**TABLE, "tags": [""]}, 422, "tags.0 must not be blank"),
        ("PUT", f"{TEAM}/jobs/a%00b", {"type": "BATCH"}, 422, "job.name: must not contain the character NUL"),
    ],
)
def test_an_invalid_write_is_refused_with_the_reason(
    client: TestClient, method: str, path: str, body: Body | None, status: int, message: str
) -> None:
    put(client, f"{TEAM}/jobs/j", type="BATCH")

    response = client.request(method, path, json=body)

    assert (response.status_code, response.json()["code"]) == (status, status)
    assert response.json()["message"].startswith(message)


def test_names_of_every_kind_can_be_written(client: TestClient) -> None:
    odd = "a%2Fb%252F%3Ac%3Fd%23e%20%F0%9F%98%80"
    put(client, f"/api/v1/namespaces/{odd}", ownerName="ann")
    put(client, f"/api/v1/namespaces/{odd}/datasets/{odd}", **TABLE, fields=[{"name": "a b"}])
    put(client, f"/api/v1/namespaces/{odd}/jobs/{odd}", type="STREAM")
    response = client.post(f"/api/v1/namespaces/{odd}/datasets/{odd}/fields/a%20b/tags/{odd}")

    assert response.status_code == 200
    read_everything(client)


def test_every_write_is_listed_as_an_action_also_without_a_caller(client: TestClient) -> None:
    put(client, f"{TEAM}/datasets/t", **TABLE)
    put(client, f"{TEAM}/jobs/j", type="BATCH")
    create_run(client, "j", id=RUN)
    mark(client, "start")

    actions = get(client, "/api/v1/actions")["actions"]

    assert [(each["by"], did["what"], did["target"]) for each in actions for did in each["did"]] == [
        (None, "put", ["run", RUN]),
        (None, "put", ["run", RUN]),
        (None, "put", ["job", "team", "j"]),
        (None, "put", ["dataset", "team", "t"]),
        (None, "described", ["namespace", "team"]),
    ]


def test_creating_a_run_of_another_job_does_not_name_that_job(client: TestClient) -> None:
    put(client, f"{TEAM}/jobs/j", type="BATCH")
    put(client, f"{TEAM}/jobs/k", type="BATCH")
    create_run(client, "j", id=RUN)

    of_j, of_k = (create_run(client, job, 400, id=RUN)["message"] for job in "jk")

    assert of_j == f"Run '{RUN}' already exists for 'j' under namespace 'team'."
    assert of_k == f"Run '{RUN}' already exists for another job."


@pytest.mark.parametrize("path", [f"jobs/runs/{RUN}/start?at=x", f"jobs/runs/{RUN}/fail?at=2026-13-01T00:00:00Z"])
def test_an_invalid_time_is_refused_with_the_expected_form(client: TestClient, path: str) -> None:
    put(client, f"{TEAM}/jobs/j", type="BATCH")
    create_run(client, "j", id=RUN)

    marked = client.post(f"/api/v1/{path}")
    created = create_run(client, "j", 422, nominalStartTime="x")

    expected = "2026-05-22T14:23:11Z, or milliseconds since 1970"
    assert (marked.status_code, marked.json()["message"]) == (
        400,
        f"query param at cannot be read: expected a time such as {expected}",
    )
    assert created["message"] == f"nominalStartTime cannot be read: expected a time with its zone such as {expected}"


def test_an_empty_time_means_now(client: TestClient) -> None:
    put(client, f"{TEAM}/jobs/j", type="BATCH")
    create_run(client, "j", id=RUN)

    started = client.post(f"/api/v1/jobs/runs/{RUN}/start?at=").json()

    assert started["startedAt"] == started["updatedAt"] > started["createdAt"]


def test_a_time_without_an_offset_is_in_utc_when_marking_a_run(client: TestClient) -> None:
    put(client, f"{TEAM}/jobs/j", type="BATCH")
    create_run(client, "j", id=RUN)

    assert mark(client, "start", "2026-05-23T10:00:00")["startedAt"] == "2026-05-23T10:00:00.000Z"
