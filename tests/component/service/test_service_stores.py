"""The service answers the same over PostgreSQL as over SQLite, on every read."""

import json
from contextlib import closing
from pathlib import Path
from urllib.parse import quote

import pytest
from starlette.testclient import TestClient

from headwater.model.events import parse_event
from headwater.store.entries import entry_of
from headwater.store.opening import open_store
from headwater.store.retiring import IN_SEGMENT
from tests.support.app import Body, dataset, event, facet, get, post, schema, served, serving
from tests.support.postgres import Cluster
from tests.support.reads import read_everything
from tests.support.scenarios import scenario
from tests.support.service import eventually

SCENARIOS = ("flink", "spark-glue")
RANDOM_READS = {"/api/v1/edits?"}
"""Reads that differ in each service: every edit has a random id."""


def fill(client: TestClient, shared: Path) -> None:
    """Write everything that can be written: recorded events, edits, deletions, unusual names."""
    for name in SCENARIOS:
        for raw in scenario(shared, name).events:
            assert client.post("/api/v1/lineage", content=raw).status_code in (200, 201)
    post(
        client,
        *(
            event(
                run={"runId": f"run {number}", "facets": {"n\0": facet(text="\0", number=2**63)}},
                eventTime=f"2026-05-22T14:23:{number:02d}Z",
                inputs=[dataset("odd " + "x" * 5_000, schema=schema("a", "é"))],
                outputs=[dataset(f"out {number}", schema=schema(*"ab"[: number % 2 + 1]))],
            )
            for number in range(8)
        ),
    )
    lake = "/api/v1/namespaces/lake"
    for method, path, body in (
        ("POST", f"{lake}/datasets/{quote('out 1')}/tags/GOLD", None),
        ("POST", f"{lake}/datasets/{quote('out 1')}/fields/a/tags/PII", None),
        ("PUT", lake, {"ownerName": "ann", "description": "all of it"}),
        ("PUT", "/api/v1/sources/s", {"type": "POSTGRESQL", "connectionUrl": "postgres://h/d", "description": "\0"}),
        ("DELETE", f"{lake}/datasets/{quote('out 2')}", None),
        ("DELETE", f"{lake}/datasets/{quote('out 3')}", None),
    ):
        response = client.request(method, path, content=None if body is None else json.dumps(body))
        assert response.status_code in (200, 201), f"{path}: {response.text}"
    post(
        client,
        event(run={"runId": "back"}, outputs=[dataset("out 3")]),
        declared(job={"namespace": "etl", "name": "planned"}, inputs=[dataset("out 1")], outputs=[dataset("plan")]),
        declared(dataset=dataset("plan", schema=schema("a"))),
    )


def declared(**members: object) -> Body:
    return {"eventTime": "2026-05-22T14:23:07Z", "producer": "https://example.org/producer", **members}


def answers(client: TestClient, **bounds: object) -> dict[str, Body]:
    return {path: body for path, body in read_everything(client, **bounds).items() if path not in RANDOM_READS}


def test_every_read_has_the_same_answer_over_postgresql_as_over_sqlite(
    shared: Path, tmp_path: Path, cluster: Cluster
) -> None:
    with served(tmp_path) as client:
        fill(client, shared)
        now, then = answers(client), answers(client, asOf="2026-05-22T14:23:05Z")
    url = cluster.new_database()
    with closing(open_store(url)) as store, serving(store) as client:
        fill(client, shared)
        over_postgresql = answers(client), answers(client, asOf="2026-05-22T14:23:05Z")
    with closing(open_store(url)) as store, serving(store) as client:
        after_a_restart = answers(client)

    assert len(now) > 100
    assert now != then
    assert over_postgresql == (now, then)
    assert after_a_restart == now


def test_a_service_that_moves_old_raw_events_answers_as_before(tmp_path: Path) -> None:
    path = tmp_path / "headwater.db"
    raws = [json.dumps(event(run={"runId": f"r{number}"})).encode() for number in range(IN_SEGMENT)]
    with closing(open_store(path)) as store:
        store.add([entry_of(parse_event(raw), "unsigned", None, received_us=1) for raw in raws])
    reads = (
        "/api/v1/events/lineage?limit=20",
        "/api/v1/jobs/runs/r7/events",
        "/api/v1/jobs?asOf=2026-05-22T14:23:11Z&logSize=100",
    )
    with closing(open_store(path)) as store, serving(store) as client:
        before = [get(client, path) for path in reads]

    with closing(open_store(path)) as store, serving(store, retain_raw_days=1) as client:
        assert eventually(lambda: not any(store._rows("SELECT 1 FROM log WHERE length(packed) > 0")))
        assert [get(client, path) for path in reads] == before


@pytest.mark.parametrize("kind", ["sqlite", "postgresql"])
def test_events_of_a_namespace_are_of_the_runs_whose_job_was_in_it_then(
    kind: str, tmp_path: Path, request: pytest.FixtureRequest
) -> None:
    parent_facet = {"parent": facet(run={"runId": "whole"}, job={"namespace": "etl", "name": "dag"})}

    def event_of(run: str, minute: int, namespace: str, facets: Body) -> Body:
        time, job = f"2026-05-22T14:{minute:02d}:00Z", {"namespace": namespace, "name": "load"}
        return event(eventTime=time, run={"runId": run, "facets": facets}, job=job)

    events = [
        event_of("moved", 10, "a", {}),
        event_of("stays", 11, "a", {}),
        event_of("came", 12, "b", {}),
        event_of("later", 40, "a", {}),
        event_of("stays", 41, "a", {}),
        event_of("moved", 42, "b", parent_facet),  # the run belongs to a job that names the parent
        event_of("came", 43, "a", parent_facet),
    ]
    database = tmp_path / "headwater.db" if kind == "sqlite" else request.getfixturevalue("cluster").new_database()
    with closing(open_store(database)) as store, serving(store) as client:
        post(client, *events)
        then, later = "asOf=2026-05-22T14:30:00Z", "asOf=2026-05-22T14:41:00Z"

        assert get(client, f"/api/v1/events/a?{then}") == {"events": [events[1], events[0]], "totalCount": 2}
        assert get(client, f"/api/v1/events/b?{then}") == {"events": [events[2]], "totalCount": 1}
        assert get(client, f"/api/v1/events/a?{then}&limit=1&offset=1")["events"] == [events[0]]
        newest = [events[4], events[3], events[1], events[0]]
        assert get(client, f"/api/v1/events/a?{later}") == {"events": newest, "totalCount": 4}
        now = [events[6], events[4], events[3], events[2], events[1]]
        assert get(client, "/api/v1/events/a") == {"events": now, "totalCount": 5}
        for bound, expected in ((then, [events[1], events[0]]), (later, newest), ("", now)):
            # Pages of one event each: the first ones are read from the newest event on, the last ones are sorted.
            pages = [get(client, f"/api/v1/events/a?{bound}&limit=1&offset={at}") for at in range(len(expected) + 1)]
            assert [page["events"] for page in pages] == [*([each] for each in expected), []]
            assert {page["totalCount"] for page in pages} == {len(expected)}

        post(client, event_of("late", 20, "a", {}))

        assert get(client, f"/api/v1/events/a?{then}")["totalCount"] == 3
        assert get(client, "/api/v1/events/a")["totalCount"] == 6
