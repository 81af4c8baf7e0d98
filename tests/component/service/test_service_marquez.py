"""Marquez's recorded answers to the same events: their shape is the contract, wrong answers are not."""

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from starlette.testclient import TestClient

from tests.support.app import Response, served
from tests.support.marquez import Recording

_NO_FACETS_YET = "Marquez shows a job's facets only once a run has ended"
_NO_FACETS_OF_ALIAS = "Marquez knows no facets under a dataset's other names"
_LAST_EVENT_ONLY = "Marquez forgets what only an earlier event reported"
_PARENTS_RUN = "Marquez takes the run of the parent for the newest run of the job"
_SIMPLE_NAME = "Marquez names the parent, and then does not take it off the name"
_DECLARED = "Marquez drops what a job event declares"
_TWO_NAMES = "Marquez counts two names of one dataset as two inputs"
_NO_OUTPUTS = "Marquez drops the outputs of a job that is put"
_NO_EDGES_YET = "Marquez lacks the edges of a run in progress"
_LATEST_RUN = {
    f"graph.3.data.{path}": _PARENTS_RUN
    for path in (
        "currentRunUuid",
        "latestRun.id",
        "latestRun.state",
        "latestRun.durationMs",
        "latestRun.endedAt",
        "latestRun.jobVersion",
        "latestRun.inputDatasetVersions",
        "latestRun.outputDatasetVersions",
        "latestRun.args.name",
        "latestRun.args.namespace",
        "latestRun.args.run_id",
        "latestRun.facets.parent",
    )
}
_AROUND = {**_LATEST_RUN, "graph.3.data.description": _LAST_EVENT_ONLY, "graph.4.data.simpleName": _SIMPLE_NAME}

WRONG_AS_A_WHOLE = {46}
"""lastRunStates=COMPLETED: Marquez leaves out a job in that state, shows one that never ran, and counts all jobs."""

WRONG_ANSWERS: Mapping[int, Mapping[str, str]] = {
    19: {"outputs": _NO_OUTPUTS},
    20: {"outputs": _NO_OUTPUTS},
    21: {"jobs.0.outputs": _NO_OUTPUTS},
    28: {"facets.documentation": _NO_FACETS_YET, "facets.jobType": _NO_FACETS_YET, "labels": _NO_FACETS_YET},
    29: {"graph": _NO_EDGES_YET},
    41: {
        "columnLineage": _NO_FACETS_OF_ALIAS,
        "facets.columnLineage": _NO_FACETS_OF_ALIAS,
        "facets.schema": _NO_FACETS_OF_ALIAS,
        "facets.storage": _NO_FACETS_OF_ALIAS,
    },
    44: {
        "jobs.1.description": _LAST_EVENT_ONLY,
        "jobs.2.simpleName": _SIMPLE_NAME,
        "jobs.3.inputs": _DECLARED,
        "jobs.3.outputs": _DECLARED,
    },
    45: {
        "jobs.1.description": _LAST_EVENT_ONLY,
        "jobs.2.simpleName": _SIMPLE_NAME,
        "jobs.3.outputs": _NO_OUTPUTS,
        "jobs.4.inputs": _DECLARED,
        "jobs.4.outputs": _DECLARED,
    },
    47: {"inputs": _TWO_NAMES, "simpleName": _SIMPLE_NAME},
    48: {"versions.0.inputs": _TWO_NAMES},
    56: _AROUND,
    57: _AROUND,
}


def test_every_recorded_answer_is_the_same_except_for_wrong_ones(shared: Path, tmp_path: Path) -> None:
    recording = Recording()
    compared = 0
    with served(tmp_path) as client:
        for line in (shared / "conformance" / "marquez.jsonl").read_text().splitlines():
            pair = json.loads(line)
            ours = send(client, pair, recording)
            assert ours.status_code == pair["status"], pair["path"]
            if pair["n"] in WRONG_AS_A_WHOLE or pair["response"] is None:
                continue
            assert ours.headers["content-type"] == pair["content_type"]
            differences = list(recording.differences(pair["response"], ours.json()))
            different = {path for path, _, _ in differences}
            assert different == WRONG_ANSWERS.get(pair["n"], {}).keys(), f"pair {pair['n']}: {differences}"
            compared += 1
    assert compared == 51


def send(client: TestClient, pair: Mapping[str, Any], recording: Recording) -> Response:
    """Send the request of a recorded pair, with our UUIDs in place of Marquez's."""
    body = None if pair["request"] is None else json.dumps(pair["request"])
    headers = {"content-type": "application/json"} if body else {}
    return client.request(pair["method"], recording.with_our_uuids(pair["path"]), content=body, headers=headers)


def test_jobs_are_listed_by_the_state_of_their_newest_run(shared: Path, tmp_path: Path) -> None:
    with served(tmp_path) as client:
        for line in (shared / "conformance" / "marquez.jsonl").read_text().splitlines():
            pair = json.loads(line)
            if pair["method"] == "POST" and pair["path"] == "/api/v1/lineage":
                client.post(pair["path"], content=json.dumps(pair["request"]))

        completed = client.get("/api/v1/jobs?limit=10&lastRunStates=COMPLETED").json()
        running_or_failed = client.get("/api/v1/jobs?lastRunStates=RUNNING&lastRunStates=FAILED").json()

    assert [job["name"] for job in completed["jobs"]] == ["dag.mart", "dag.load_orders"]
    assert completed["totalCount"] == 2
    assert [job["name"] for job in running_or_failed["jobs"]] == ["dag"]


def test_a_run_in_progress_has_its_edges_where_marquez_has_none(shared: Path, tmp_path: Path) -> None:
    pairs = [json.loads(line) for line in (shared / "conformance" / "marquez.jsonl").read_text().splitlines()]
    start, request = pairs[26], pairs[28]
    with served(tmp_path) as client:
        client.post("/api/v1/lineage", content=json.dumps(start["request"]))

        graph = client.get(request["path"]).json()["graph"]

    assert [node["id"] for node in graph] == [
        "dataset:kafka://broker-1:9092:orders",
        "dataset:s3://lake-bucket:wh/sales/orders",
        "job:etl:dag.load_orders",
    ]
    assert [edge["origin"] for edge in graph[2]["inEdges"]] == ["dataset:kafka://broker-1:9092:orders"]
    assert [edge["destination"] for edge in graph[2]["outEdges"]] == ["dataset:s3://lake-bucket:wh/sales/orders"]
