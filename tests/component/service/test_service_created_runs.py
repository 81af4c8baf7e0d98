"""Runs that are created over the API and start later, or never: a run begins at its start in every answer."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from starlette.testclient import TestClient

from tests.support.app import START_US, Body, get, served

TEAM = "/api/v1/namespaces/team"
TABLE = {"type": "DB_TABLE", "physicalName": "public.t", "sourceName": "default"}
LATEST_RUN = '{job(namespace:"team",name:"second"){currentVersion{latestRun{startState{transitionedAt}}}}}'


@pytest.fixture
def client(tmp_path: Path) -> Iterator[TestClient]:
    with served(tmp_path) as client:
        _put_jobs(client)
        yield client


def _put_jobs(client: TestClient) -> None:
    """Two jobs, of which the second reads what the first writes."""
    _put(client, TEAM, ownerName="ann")
    for name in ("middle", "end"):
        _put(client, f"{TEAM}/datasets/{name}", **TABLE)
    middle, end = ([{"namespace": "team", "name": name}] for name in ("middle", "end"))
    _put(client, f"{TEAM}/jobs/first", type="BATCH", outputs=middle)
    _put(client, f"{TEAM}/jobs/second", type="BATCH", inputs=middle, outputs=end)


def _put(client: TestClient, path: str, **body: object) -> None:
    assert client.put(path, json=body).status_code == 200


def _run(client: TestClient, job: str, run_id: str, *marks: str) -> None:
    """Create a run and mark it with these transitions."""
    assert client.post(f"{TEAM}/jobs/{job}/runs", json={"id": run_id}).status_code == 201
    _mark(client, run_id, *marks)


def _mark(client: TestClient, run_id: str, *marks: str) -> Body:
    answers = [client.post(f"/api/v1/jobs/runs/{run_id}/{mark}") for mark in marks]
    assert all(each.status_code == 200 for each in answers)
    return answers[-1].json() if answers else {}


def _causes(client: TestClient, node: str, more: str = "") -> Body:
    return get(client, f"/api/v1/root-cause?nodeId={node}{more}")


def _run_of(client: TestClient, node: str, more: str = "") -> Any:  # noqa: ANN401  the id, or None
    run = _causes(client, node, more)["run"]
    return run and run["id"]


@pytest.mark.parametrize("node", ["dataset:team:middle", "job:team:first"])
def test_a_run_that_was_only_created_hides_no_failure(client: TestClient, node: str) -> None:
    _run(client, "first", "well", "start", "complete")
    _run(client, "first", "failed", "start", "fail")
    before = _causes(client, node)

    _run(client, "first", "next")

    assert _causes(client, node) == before
    assert before["run"]["id"] == "failed"


def test_a_run_that_was_only_created_does_not_clear_a_failure(client: TestClient) -> None:
    _run(client, "first", "failed", "start", "fail")
    _run(client, "first", "next")
    _run(client, "second", "reader", "start", "complete")

    looked_at = _causes(client, "dataset:team:end")["lookedAt"]

    assert [each["run"]["id"] for each in looked_at] == ["reader", "failed"]


def test_a_root_cause_looks_at_no_run_if_none_has_started(client: TestClient) -> None:
    _run(client, "first", "next")

    assert _causes(client, "dataset:team:middle")["run"] is None
    assert _causes(client, "job:team:first")["run"] is None


def test_a_run_that_was_only_created_did_not_write_its_jobs_outputs(client: TestClient) -> None:
    _run(client, "first", "well", "start", "complete")
    _run(client, "first", "next")

    response = client.get("/api/v1/root-cause?nodeId=dataset:team:middle&run=next")

    assert response.status_code == 404
    assert response.json()["message"] == "Run 'next' did not write dataset 'middle'; the newest that did: well."


def test_a_run_reported_as_the_writer_of_a_dataset_counts_without_a_start(client: TestClient) -> None:
    _run(client, "first", "next")

    _put(client, f"{TEAM}/datasets/middle", **TABLE, runId="next")

    assert _run_of(client, "dataset:team:middle") == "next"


def test_a_run_reads_the_inputs_of_its_start_and_not_of_its_creation(client: TestClient) -> None:
    _run(client, "first", "old", "start", "complete")
    _run(client, "second", "reader")
    _run(client, "first", "new", "start", "complete")
    started = _mark(client, "reader", "start")["startedAt"]
    _mark(client, "reader", "complete")

    upstream = get(client, "/api/v1/runlineage/upstream?runId=reader")["runs"]

    assert upstream[0]["inputs"][0]["producedByRunId"] == "new"
    assert upstream[0]["run"]["start"] == started
    looked_at = _causes(client, "dataset:team:end")["lookedAt"]
    assert [each["run"]["id"] for each in looked_at] == ["reader", "new"]
    assert looked_at[0]["run"]["startedAt"] == started


def test_a_stream_that_was_only_created_wrote_nothing(client: TestClient) -> None:
    middle = [{"namespace": "team", "name": "middle"}]
    _put(client, f"{TEAM}/jobs/first", type="STREAM", outputs=middle)
    _run(client, "first", "stream", "start")
    _run(client, "first", "next")
    _run(client, "second", "reader", "start", "complete")

    upstream = get(client, "/api/v1/runlineage/upstream?runId=reader")["runs"]

    assert upstream[0]["inputs"][0]["producedByRunId"] == "stream"


def test_runs_are_ordered_by_their_start_and_not_by_their_creation(client: TestClient) -> None:
    _run(client, "first", "waits")
    _run(client, "first", "failed", "start", "fail")
    _mark(client, "waits", "start", "complete")

    assert _run_of(client, "dataset:team:middle") == "waits"
    assert _causes(client, "dataset:team:middle")["findings"] == []


@pytest.mark.parametrize("marks", [["start"], ["start", "complete"], ["complete"], ["complete", "start"], []])
def test_every_answer_has_the_same_start_of_a_run_also_after_a_restart(tmp_path: Path, marks: list[str]) -> None:
    with served(tmp_path) as client:
        _put_jobs(client)
        _run(client, "second", "reader", *marks)
        before = _starts(client)

    with served(tmp_path, start_us=START_US + 3_600_000_000) as restarted:
        assert _starts(restarted) == before
    assert len(set(before)) == 1
    assert (before[0] is None) == ("start" not in marks)


def test_as_of_its_creation_a_run_has_not_started(client: TestClient) -> None:
    _run(client, "second", "reader")
    created = get(client, "/api/v1/jobs/runs/reader")["createdAt"]
    _mark(client, "reader", "start", "complete")

    assert {*_starts(client, asOf=created)} == {None}


def _starts(client: TestClient, **query: str) -> list[str | None]:
    """When the run of the second job started, according to each answer that has it."""

    def answer_of(path: str, **more: str) -> Any:  # noqa: ANN401  JSON
        return client.get(f"/api/v1/{path}", params={**query, **more}).raise_for_status().json()

    (listed,) = answer_of("namespaces/team/jobs/second/runs")["runs"]
    reached = answer_of("impact", nodeId="dataset:team:middle")["reached"]
    (last,) = (each["lastRun"] for each in reached if each["type"] == "JOB")
    (upstream,) = answer_of("runlineage/upstream", runId="reader")["runs"]
    starts = [each["startedAt"] for each in (answer_of("jobs/runs/reader"), listed, last)]
    return [*starts, upstream["run"]["start"], *(() if query else _start_state(client))]


def _start_state(client: TestClient) -> Iterator[str | None]:
    """The same in GraphQL, where a job has a version only once a run has ended."""
    answer = client.post("/api/v1-beta/graphql", json={"query": LATEST_RUN}).raise_for_status().json()
    if (version := answer["data"]["job"]["currentVersion"]) is not None:
        state = version["latestRun"]["startState"]
        yield state and state["transitionedAt"]
