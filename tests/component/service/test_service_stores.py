"""The service over PostgreSQL answers as it does over SQLite, whatever it is asked."""

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
OF_CHANCE = {"/api/v1/edits?"}
"""Each edit has an id that nothing else has."""


def tell(client: TestClient, shared: Path) -> None:
    """Everything that there are ways to say: recorded events, edits, deletions, odd names."""
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
        answer = client.request(method, path, content=None if body is None else json.dumps(body))
        assert answer.status_code in (200, 201), f"{path}: {answer.text}"
    post(
        client,
        event(run={"runId": "back"}, outputs=[dataset("out 3")]),
        declared(job={"namespace": "etl", "name": "planned"}, inputs=[dataset("out 1")], outputs=[dataset("plan")]),
        declared(dataset=dataset("plan", schema=schema("a"))),
    )


def declared(**members: object) -> Body:
    return {"eventTime": "2026-05-22T14:23:07Z", "producer": "https://example.org/producer", **members}


def told(client: TestClient, **of_each: object) -> dict[str, Body]:
    return {path: body for path, body in read_everything(client, **of_each).items() if path not in OF_CHANCE}


def test_every_read_over_postgresql_is_answered_as_over_sqlite(shared: Path, tmp_path: Path, cluster: Cluster) -> None:
    with served(tmp_path) as client:
        tell(client, shared)
        now, then = told(client), told(client, asOf="2026-05-22T14:23:05Z")
    url = cluster.new_database()
    with closing(open_store(url)) as store, serving(store) as client:
        tell(client, shared)
        found = told(client), told(client, asOf="2026-05-22T14:23:05Z")
    with closing(open_store(url)) as store, serving(store) as client:
        after_a_restart = told(client)

    assert len(now) > 100
    assert now != then
    assert found == (now, then)
    assert after_a_restart == now


def test_a_service_that_moves_old_raw_events_answers_as_before(tmp_path: Path) -> None:
    path = tmp_path / "headwater.db"
    raws = [json.dumps(event(run={"runId": f"r{number}"})).encode() for number in range(IN_SEGMENT)]
    with closing(open_store(path)) as store:
        store.add([entry_of(parse_event(raw), "unsigned", None, received_us=1) for raw in raws])
    asked = (
        "/api/v1/events/lineage?limit=20",
        "/api/v1/jobs/runs/r7/events",
        "/api/v1/jobs?asOf=2026-05-22T14:23:11Z&logSize=100",
    )
    with closing(open_store(path)) as store, serving(store) as client:
        before = [get(client, path) for path in asked]

    with closing(open_store(path)) as store, serving(store, retain_raw_days=1) as client:
        assert eventually(lambda: not any(store._rows("SELECT 1 FROM log WHERE length(packed) > 0")), within_s=30)
        assert [get(client, path) for path in asked] == before


@pytest.mark.parametrize("kind", ["sqlite", "postgresql"])
def test_events_of_a_namespace_are_those_of_the_jobs_that_runs_had_then(
    kind: str, tmp_path: Path, request: pytest.FixtureRequest
) -> None:
    part_of = {"parent": facet(run={"runId": "whole"}, job={"namespace": "etl", "name": "dag"})}

    def told(run: str, minute: int, namespace: str, facets: Body) -> Body:
        time, job = f"2026-05-22T14:{minute:02d}:00Z", {"namespace": namespace, "name": "load"}
        return event(eventTime=time, run={"runId": run, "facets": facets}, job=job)

    events = [
        told("moved", 10, "a", {}),
        told("stays", 11, "a", {}),
        told("came", 12, "b", {}),
        told("later", 40, "a", {}),
        told("stays", 41, "a", {}),
        told("moved", 42, "b", part_of),  # a job that names the parent is the run's
        told("came", 43, "a", part_of),
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
        for bound, whole in ((then, [events[1], events[0]]), (later, newest), ("", now)):
            # Of one event each, the first pages are read from the newest event on, the last ones are put in order.
            pages = [get(client, f"/api/v1/events/a?{bound}&limit=1&offset={at}") for at in range(len(whole) + 1)]
            assert [page["events"] for page in pages] == [*([each] for each in whole), []]
            assert {page["totalCount"] for page in pages} == {len(whole)}

        post(client, told("late", 20, "a", {}))

        assert get(client, f"/api/v1/events/a?{then}")["totalCount"] == 3
        assert get(client, "/api/v1/events/a")["totalCount"] == 6
