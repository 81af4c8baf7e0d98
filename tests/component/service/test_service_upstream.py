"""Upstream of a run are the runs that wrote what it read, the same as in dataset versions and in root cause."""

from typing import Any
from urllib.parse import urlencode

import pytest
from starlette.testclient import TestClient

from tests.support.app import Body, dataset, event, facet, get, post

A, B, C, READER = (f"0198f7d0-0000-7000-8000-00000000000{n}" for n in "abcd")


def run(
    run_id: str,
    job: str,
    minute: int,
    kind: str = "COMPLETE",
    *,
    facets: Body | None = None,
    reads: Body | None = None,
    writes: Body | None = None,
) -> Body:
    """An event of a run that reads or writes orders."""
    return event(
        eventType=kind,
        eventTime=f"2026-05-22T14:{minute:02d}:00Z",
        run={"runId": run_id},
        job={"namespace": "etl", "name": job, "facets": facets or {}},
        inputs=[] if reads is None else [dataset("orders", **reads)],
        outputs=[dataset("mart") if writes is None else dataset("orders", **writes)],
    )


def version(name: str) -> Body:
    return {"version": facet(datasetVersion=name)}


STREAM = {"jobType": facet(processingType="STREAMING", integration="FLINK")}


def producer(client: TestClient, run_id: str = READER, query: str = "") -> str | None:
    first = get(client, f"/api/v1/runlineage/upstream?runId={run_id}{query}")["runs"][0]
    (read,) = first["inputs"]
    return read["producedByRunId"]  # type: ignore[no-any-return]


def writers(client: TestClient, run_id: str = READER) -> list[tuple[str, str]]:
    """The writers of what the run read, according to root cause."""
    query = urlencode({"nodeId": "dataset:lake:mart", "run": run_id})
    looked_at = get(client, f"/api/v1/root-cause?{query}")["lookedAt"][0]
    (read,) = looked_at["inputs"]
    return [(each["writer"], each["by"]) for each in read["writers"]]


PASTS: dict[str, tuple[list[Body], tuple[str, str]]] = {
    "an older version than the newest was read": (
        [
            run(A, "load", 1, writes=version("v1")),
            run(B, "load", 3, writes=version("v2")),
            run(READER, "mart", 4, reads=version("v1")),
        ],
        (A, "version"),
    ),
    "another began and ended while it was read": (
        [
            run(A, "load", 1, writes={}),
            run(READER, "mart", 2, "START", reads={}),
            run(B, "load", 3, "START"),
            run(B, "load", 4, writes={}),
            run(READER, "mart", 5, reads={}),
        ],
        (A, "time"),
    ),
    "the version that was read changed while it was": (
        [
            run(A, "load", 1, writes=version("v1")),
            run(READER, "mart", 2, "START", reads=version("v1")),
            run(B, "load", 3, writes=version("v2")),
            run(READER, "mart", 5, reads=version("v2")),
        ],
        (A, "version"),
    ),
    "a version that no run reports as written": (
        [
            run(A, "load", 1, writes=version("v1")),
            run(B, "load", 3, writes=version("v2")),
            run(READER, "mart", 4, reads=version("v7")),
        ],
        (B, "time"),
    ),
    "a version that several runs report": (
        [
            run(A, "load", 1, "FAIL", writes=version("v1")),
            run(B, "load", 2, writes=version("v1")),
            run(C, "compact", 3, writes=version("v1")),
            run(READER, "mart", 4, reads=version("v1")),
        ],
        (B, "version"),
    ),
    "a stream that began before and still writes": (
        [
            run(A, "load", 1, "START", facets=STREAM, writes={}),
            run(READER, "mart", 4, reads={}),
            run(A, "load", 9, "RUNNING", facets=STREAM, writes={}),
        ],
        (A, "stream"),
    ),
    "the last of several jobs to write it": (
        [
            run(B, "load", 1, writes={}),
            run(A, "compact", 2, writes={}),
            run(READER, "mart", 4, reads={}),
        ],
        (A, "time"),
    ),
    "a run that ended last, though others began after it": (
        [
            run(A, "load", 1, "START"),
            run(B, "load", 2, writes={}),
            run(A, "load", 3, writes={}),
            run(READER, "mart", 4, reads={}),
        ],
        (A, "time"),
    ),
    "another began before it was read and ended after that": (
        [
            run(A, "load", 1, writes={}),
            run(B, "load", 2, "START"),
            run(READER, "mart", 4, reads={}),
            run(B, "load", 9, writes={}),
        ],
        (A, "time"),
    ),
    "a stream that still wrote after another job had": (
        [
            run(A, "load", 1, "START", facets=STREAM, writes={}),
            run(B, "compact", 3, writes={}),
            run(READER, "mart", 4, reads={}),
        ],
        (A, "stream"),
    ),
    "a run that ended in the moment when the reader began": (
        [
            run(A, "load", 1, writes={}),
            run(B, "load", 4, writes={}),
            run(READER, "mart", 4, reads={}),
        ],
        (B, "time"),
    ),
    "a stream reads what was there last, and what was written after it began": (
        [
            run(READER, "mart", 1, "START", facets=STREAM, reads=version("v1")),
            run(A, "load", 2, writes=version("v2")),
            run(B, "load", 3, writes=version("v3")),
            run(READER, "mart", 4, "RUNNING", facets=STREAM, reads=version("v2")),
        ],
        (A, "version"),
    ),
}


@pytest.mark.parametrize("past", PASTS)
@pytest.mark.parametrize("step", [1, -1])
def test_the_run_that_wrote_what_was_read_is_named_and_root_cause_names_the_same(
    client: TestClient, past: str, step: int
) -> None:
    events, written_by = PASTS[past]
    post(client, *events[::step])

    assert producer(client) == written_by[0]
    assert written_by in writers(client)


def test_the_run_that_wrote_a_version_is_the_one_that_versions_name(client: TestClient) -> None:
    post(client, *PASTS["an older version than the newest was read"][0])

    versions = get(client, "/api/v1/namespaces/lake/datasets/orders/versions")["versions"]

    makers = {
        each["facets"]["version"]["datasetVersion"]: each["createdByRun"]["id"]
        for each in versions
        if each["createdByRun"] is not None  # otherwise the version is known from a reader
    }
    assert makers["v1"] == producer(client)


def test_the_writer_as_of_a_time_is_the_one_known_then(client: TestClient) -> None:
    post(
        client,
        run(A, "load", 1, writes=version("v1")),
        run(READER, "mart", 4, "START", reads={}),
        run(B, "load", 2, "START", writes={}),
        run(B, "load", 3, writes=version("v2")),
        run(READER, "mart", 6, reads=version("v1")),
    )

    assert producer(client) == A
    assert producer(client, query="&asOf=2026-05-22T14:05:00Z") == B


def test_a_failed_run_is_not_the_writer(client: TestClient) -> None:
    post(
        client,
        run(A, "load", 1, writes={}),
        run(B, "load", 2, "FAIL", writes={}),
        run(C, "other", 3, "START", writes={}),
        run(READER, "mart", 4, reads={}),
    )

    assert producer(client) == A
    assert (A, "time") in writers(client)


def test_a_stream_is_not_the_writer_of_what_it_read(client: TestClient) -> None:
    post(
        client,
        run(A, "load", 1, writes={}),
        run(READER, "dedupe", 2, "START", facets=STREAM, reads={}, writes={}),
        run(READER, "dedupe", 4, "RUNNING", facets=STREAM, reads={}, writes={}),
    )

    assert producer(client) == A


def test_an_old_run_keeps_its_writer_however_many_runs_wrote_since(client: TestClient) -> None:
    early = [run(A, "load", 1, writes=version("v1")), run(READER, "mart", 2, reads=version("v1"))]
    clock = run(B, "mart", 2, reads={})
    later: list[Any] = [run(f"later-{each}", "load", 3 + each % 50, writes=version(f"w{each}")) for each in range(250)]
    post(client, *early, clock, *later)

    assert producer(client) == A
    assert producer(client, B) == A


@pytest.mark.parametrize("deleted", ["etl/jobs/load", "lake/datasets/orders", "etl", "lake"])
def test_the_writer_stays_when_its_job_dataset_or_namespace_is_deleted(client: TestClient, deleted: str) -> None:
    post(client, run(A, "load", 1, writes=version("v1")), run(READER, "mart", 4, reads=version("v1")))
    before = get(client, f"/api/v1/runlineage/upstream?runId={READER}")

    assert client.delete(f"/api/v1/namespaces/{deleted}").status_code == 200

    assert [each["run"]["id"] for each in before["runs"]] == [READER, A]
    assert get(client, f"/api/v1/runlineage/upstream?runId={READER}") == before


def test_a_run_keeps_a_declared_input_that_is_deleted_since_and_a_later_run_does_not_have_it(
    client: TestClient,
) -> None:
    job = {"namespace": "etl", "name": "mart"}
    declared = {
        "eventTime": "2026-05-22T14:00:00Z",
        "producer": "https://example.org/producer",
        "schemaURL": "https://openlineage.io/spec/2-0-2/OpenLineage.json#/$defs/JobEvent",
        "job": job,
        "inputs": [dataset("orders")],
    }
    complete = event(eventType="COMPLETE", eventTime="2026-05-22T14:04:00Z", run={"runId": READER}, job=job)
    post(client, run(A, "load", 1, writes={}), declared, complete)

    assert client.delete("/api/v1/namespaces/lake/datasets/orders").status_code == 200
    post(client, {**complete, "eventTime": "2026-05-23T14:04:00Z", "run": {"runId": B}})

    assert producer(client) == A
    (later,) = get(client, f"/api/v1/runlineage/upstream?runId={B}")["runs"]
    assert later["inputs"] == []
