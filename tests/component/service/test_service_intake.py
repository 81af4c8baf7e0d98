"""Posting events: what is stored, what is refused, and with which answer."""

import asyncio
import gzip
import json
import os
import sqlite3
from base64 import b64decode
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest
from starlette.testclient import TestClient
from starlette.types import Message

from headwater.errors import UnavailableError
from headwater.service.request.access import Service
from headwater.signing.keys import NodeKey
from headwater.signing.sign import sign_event
from headwater.store.sqlite import SqliteStore
from tests.support.app import RUN, event, get, post, served, serving, without_run

KEY = NodeKey.from_seed("node-1", bytes(range(32)))
STRANGER = NodeKey.from_seed("node-2", bytes(range(1, 33)))
TRUSTED = {KEY.key_id: KEY.public_key}


@pytest.fixture
def store(tmp_path: Path) -> Iterator[SqliteStore]:
    with closing(SqliteStore(tmp_path / "headwater.db")) as store:
        yield store


def signed(key: NodeKey = KEY) -> bytes:
    return sign_event(json.dumps(event()).encode(), key)


def test_posting_an_event_twice_stores_it_once(tmp_path: Path) -> None:
    raw = json.dumps(event())
    with served(tmp_path) as client:
        statuses = [client.post("/api/v1/lineage", content=raw).status_code for _ in range(2)]

        assert statuses == [201, 200]
        assert get(client, "/api/v1/events/lineage")["totalCount"] == 1


def test_only_a_node_itself_reports_on_its_own_job(store: SqliteStore) -> None:
    job = {"namespace": "headwater-nodes", "name": KEY.node_id}
    raw = json.dumps(event(job=job)).encode()
    declared = without_run(event(job=job))
    bodies = {
        "itself": sign_event(raw, KEY),
        "another node": sign_event(raw, STRANGER),
        "nobody": raw,
        "changed since": sign_event(raw, KEY).replace(b"START", b"ABORT"),
        "a declaration": json.dumps(declared).encode(),
    }

    with serving(store, TRUSTED) as client:
        statuses = {by: client.post("/api/v1/lineage", content=body).status_code for by, body in bodies.items()}

    assert statuses == {by: 201 if by == "itself" else 403 for by in bodies}


@pytest.mark.parametrize("content_type", ["application/json", "text/plain", "application/x-www-form-urlencoded", ""])
def test_the_content_type_does_not_matter(tmp_path: Path, content_type: str) -> None:
    with served(tmp_path) as client:
        headers = {"content-type": content_type}

        answer = client.post("/api/v1/lineage", content=json.dumps(event()), headers=headers)

        assert (answer.status_code, answer.content) == (201, b"")


def test_an_acknowledged_event_is_in_the_very_next_answer(tmp_path: Path) -> None:
    with served(tmp_path) as client:
        for number in range(20):
            post(client, event(run={"runId": f"run-{number}"}, job={"namespace": "etl", "name": f"job-{number}"}))

            assert get(client, f"/api/v1/jobs/runs/run-{number}")["state"] == "RUNNING"


def test_stored_events_are_known_after_a_restart(tmp_path: Path) -> None:
    with served(tmp_path) as client:
        post(client, event(), event(eventType="COMPLETE", eventTime="2026-05-22T14:23:12Z"))
        before = get(client, "/api/v1/jobs")
    with served(tmp_path) as client:
        assert get(client, "/api/v1/jobs") == before


@pytest.mark.parametrize(
    ("raw", "verdict", "key_id"),
    [
        (json.dumps(event()).encode(), "unsigned", None),
        (signed(), "ok", KEY.key_id),
        (signed(STRANGER), "unknown-key", STRANGER.key_id),
        (signed().replace(b'"etl"', b'"elt"'), "tampered", KEY.key_id),
    ],
)
def test_a_verdict_on_the_signature_is_stored_and_shown(
    store: SqliteStore, raw: bytes, verdict: str, key_id: str | None
) -> None:
    with serving(store, TRUSTED) as client:
        assert client.post("/api/v1/lineage", content=raw).status_code == 201

        (shown,) = get(client, f"/api/v1/jobs/runs/{RUN}/events")["events"]
        signature = get(client, f"/api/v1/jobs/runs/{RUN}")["signature"]

    assert (shown["verdict"], shown["keyId"]) == (verdict, key_id)
    assert signature == {"verdict": verdict, "keyId": key_id, "events": 1, "verified": int(verdict == "ok")}


def test_a_run_has_the_worst_verdict_of_its_events(store: SqliteStore) -> None:
    later = sign_event(json.dumps(event(eventType="COMPLETE")).encode(), STRANGER)
    with serving(store, TRUSTED) as client:
        for raw in (signed(), later):
            client.post("/api/v1/lineage", content=raw)

        run = get(client, f"/api/v1/jobs/runs/{RUN}")
        counts = get(client, "/api/v1/summary")["events"]

    assert run["signature"] == {"verdict": "unknown-key", "keyId": STRANGER.key_id, "events": 2, "verified": 1}
    assert (counts["stored"], counts["verified"], counts["unknownKey"]) == (2, 1, 1)


@pytest.mark.parametrize(
    ("raw", "message", "may_come_later"),
    [
        (
            json.dumps(event()).encode(),
            "unsigned: run.facets.signature: missing; send it through an emitter with a key (docs/trust.md)",
            False,
        ),
        (
            signed(STRANGER),
            "unknown-key: run.facets.signature.keyId: not a trusted key; "
            "enrol a key with `headwater key enrol` on its node (docs/trust.md)",
            True,
        ),
        (
            signed().replace(b'"etl"', b'"elt"'),
            "tampered: run.facets.signature.payloadHash: does not match the event; "
            "send it byte for byte as it was signed",
            False,
        ),
    ],
)
def test_a_strict_service_refuses_events_not_signed_by_a_trusted_key(
    store: SqliteStore, raw: bytes, message: str, may_come_later: bool
) -> None:
    with serving(store, TRUSTED, require_signed=True) as client:
        refusal = client.post("/api/v1/lineage", content=raw)
        accepted = client.post("/api/v1/lineage", content=signed())

        expected = {"code": 403, "message": message, "retriable": may_come_later}
        assert (refusal.status_code, refusal.json()) == (403, expected)
        assert accepted.status_code == 201
        assert get(client, "/api/v1/summary")["events"]["refused"] == 1
        assert 'headwater_events_refused_total{reason="untrusted"} 1.0' in client.get("/metrics").text
        (of_batch,) = client.post("/api/v1/lineage/batch", content=b"[" + raw + b"]").json()["failed_events"]
        assert (of_batch["reason"], of_batch["retriable"]) == (message, may_come_later)


def test_a_strict_service_refuses_job_events_since_they_cannot_be_signed(store: SqliteStore) -> None:
    static = without_run(event())
    with serving(store, TRUSTED, require_signed=True) as client:
        assert client.post("/api/v1/lineage", content=json.dumps(static)).status_code == 403


def test_a_body_beyond_the_limit_is_refused_by_its_announced_length_alone(store: SqliteStore) -> None:
    with serving(store, body_limit=1000) as client:
        answer = client.post("/api/v1/lineage", content=b"", headers={"content-length": "1001"})

    assert answer.status_code == 413
    assert answer.json() == {"code": 413, "message": "body: larger than 1000 bytes, the limit"}


def test_a_body_beyond_the_limit_is_refused_also_without_a_length(store: SqliteStore) -> None:
    taken = 0

    def endless() -> Iterator[bytes]:
        nonlocal taken
        while taken < 10_000:
            taken += 1
            yield b" " * 100

    with serving(store, body_limit=1000) as client:
        answer = client.post("/api/v1/lineage", content=endless())

    assert answer.status_code == 413


def test_a_post_whose_body_is_not_complete_when_the_service_has_to_stop_may_be_repeated(client: TestClient) -> None:
    scope = {"type": "http", "method": "POST", "path": "/api/v1/lineage", "query_string": b"", "headers": []}
    sent: list[Message] = []

    async def wait_forever() -> Message:
        return await asyncio.Future()

    async def note(message: Message) -> None:
        sent.append(message)

    async def post_and_stop() -> None:
        post = asyncio.ensure_future(client.app({**scope, "app": client.app}, wait_forever, note))
        await asyncio.sleep(0.1)
        post.cancel()
        await post

    assert client.portal is not None
    client.portal.call(post_and_stop)

    start, body = sent
    assert start["status"] == 503
    assert json.loads(body["body"]) == {"code": 503, "message": "the service is stopping"}


def test_a_body_of_exactly_the_limit_is_accepted(store: SqliteStore) -> None:
    raw = json.dumps(event()).encode()
    with serving(store, body_limit=len(raw)) as client:
        assert client.post("/api/v1/lineage", content=raw).status_code == 201


@pytest.mark.parametrize(
    ("packing", "body", "status"),
    [
        ("gzip", gzip.compress(json.dumps(event()).encode()), 201),
        ("gzip", gzip.compress(b" " * 10_000_000), 413),
        ("gzip", gzip.compress(json.dumps(event()).encode())[:-20], 400),
        ("gzip", b"no gzip", 400),
        ("gzip", gzip.compress(json.dumps(event()).encode()) + b"no gzip", 400),
        ("gzip", gzip.compress(b"") * 100_000, 413),
        ("br", b"", 415),
        ("identity", json.dumps(event()).encode(), 201),
    ],
)
def test_a_body_may_be_compressed_with_gzip(store: SqliteStore, packing: str, body: bytes, status: int) -> None:
    with serving(store) as client:
        answer = client.post("/api/v1/lineage", content=body, headers={"content-encoding": packing})

        assert answer.status_code == status
        assert get(client, "/api/v1/events/lineage")["totalCount"] == int(status == 201)


def test_every_member_of_a_gzip_stream_is_read(store: SqliteStore) -> None:
    events = [json.dumps(event(run={"runId": f"run-{number}"})).encode() + b"\n" for number in range(3)]
    headers = {"content-encoding": "gzip", "content-type": "application/x-ndjson"}
    with serving(store) as client:
        answer = client.post("/api/v1/lineage/batch", content=b"".join(map(gzip.compress, events)), headers=headers)

        assert answer.json()["summary"] == {
            "received": 3,
            "successful": 3,
            "failed": 0,
            "retriable": 0,
            "non_retriable": 0,
        }
        assert get(client, "/api/v1/events/lineage")["totalCount"] == 3


def test_an_event_is_returned_byte_for_byte(store: SqliteStore) -> None:
    raw = (
        b'{ "eventTime" : "2026-05-22T14:23:11.000000+02:00","producer":"\\u00fc","x":1.50e3,"job":{"namespace":"n",'
        + (b'"name":"j"}}')
    )
    with serving(store) as client:
        client.post("/api/v1/lineage", content=raw)

        assert raw in client.get("/api/v1/events").content


class FullDisk(SqliteStore):
    """A store whose disk can be filled and emptied."""

    is_full = False

    def add(self, entries: object) -> list[Any]:
        if self.is_full:
            raise UnavailableError("the event could not be stored, try again: disk full")
        return super().add(entries)  # type: ignore[arg-type]


def test_a_full_disk_is_reported_and_the_service_recovers_when_there_is_room(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    with closing(FullDisk(tmp_path / "headwater.db")) as store, serving(store) as client:
        store.is_full = True
        refusal = client.post("/api/v1/lineage", content=json.dumps(event()))
        unhealthy = client.get("/healthz")
        store.is_full = False
        accepted = client.post("/api/v1/lineage", content=json.dumps(event()))
        healthy = client.get("/healthz")

    assert (refusal.status_code, refusal.headers["retry-after"]) == (503, "1")
    assert refusal.json() == {"code": 503, "message": "the event could not be stored, try again: disk full"}
    assert (unhealthy.status_code, unhealthy.json()["status"]) == (503, refusal.json()["message"])
    assert (accepted.status_code, healthy.status_code, healthy.json()) == (201, 200, {"status": "ok"})
    told = [record.message for record in caplog.records if record.name == "headwater.service.ingest.intake"]
    assert told == ["cannot store events", "events are stored again"]


def test_a_service_without_posts_after_a_failure_is_healthy_again_after_a_while(tmp_path: Path) -> None:
    """A load balancer sends no posts to a service that is unhealthy."""
    with closing(FullDisk(tmp_path / "headwater.db")) as store, serving(store) as client:
        store.is_full = True
        assert client.post("/api/v1/lineage", content=json.dumps(event())).status_code == 503
        intake = client.app.state.service.intake  # type: ignore[attr-defined]
        failed_us = intake.now_us()

        intake.now_us = lambda: failed_us + 29_000_000
        unhealthy = client.get("/healthz")
        intake.now_us = lambda: failed_us + 30_000_000
        healthy = client.get("/healthz")

    assert (unhealthy.status_code, healthy.status_code) == (503, 200)


def test_a_real_full_disk_loses_nothing_that_was_acknowledged(tmp_path: Path) -> None:
    with closing(SqliteStore(tmp_path / "headwater.db")) as store, serving(store) as client:
        post(client, event())
        store._writer.execute("PRAGMA max_page_count = 1")  # SQLite then reports a full disk
        big = event(run={"runId": "big", "facets": {"x": {"text": os.urandom(250_000).hex()}}})
        refusal = client.post("/api/v1/lineage", content=json.dumps(big))
        store._writer.execute("PRAGMA max_page_count = 1000000")

        assert (refusal.status_code, "full" in refusal.json()["message"]) == (503, True)
        assert get(client, "/api/v1/events/lineage")["totalCount"] == 1
        post(client, big)


def test_health_reports_a_writer_that_has_ended(store: SqliteStore) -> None:
    with serving(store) as client:
        service: Service = client.app.state.service  # type: ignore[attr-defined]
        service.intake.recorder._writer.close()  # type: ignore[attr-defined]

        answer = client.get("/healthz")

    assert (answer.status_code, answer.json()) == (503, {"status": "the writer thread has ended"})


class UnavailableStore(SqliteStore):
    """A store whose database can become unavailable."""

    is_away = False

    def size(self) -> int:
        if self.is_away:
            raise UnavailableError("the database does not answer")
        return super().size()


def test_metrics_are_served_while_the_database_is_unavailable(tmp_path: Path) -> None:
    with closing(UnavailableStore(tmp_path / "headwater.db")) as store, serving(store) as client:
        post(client, event())
        store.is_away = True

        answer = client.get("/metrics")

    assert answer.status_code == 200
    assert 'headwater_events_total{outcome="stored",verdict="unsigned"} 1.0' in answer.text
    assert "headwater_log_events" not in answer.text


def test_metrics_count_posted_events_and_the_size_of_log_and_graph(tmp_path: Path) -> None:
    with served(tmp_path) as client:
        raw = json.dumps(event(inputs=[{"namespace": "lake", "name": "a"}]))
        for body in (raw, raw, "{", '{"run": 5}'):
            client.post("/api/v1/lineage", content=body)

        metrics = client.get("/metrics").text.splitlines()

    for line in (
        'headwater_events_total{outcome="stored",verdict="unsigned"} 1.0',
        'headwater_events_total{outcome="known",verdict="unsigned"} 1.0',
        'headwater_events_refused_total{reason="malformed"} 1.0',
        'headwater_events_refused_total{reason="invalid"} 1.0',
        "headwater_ingest_seconds_count 2.0",
        "headwater_commit_group_events_count 2.0",
        "headwater_log_events 1.0",
        'headwater_graph_nodes{kind="job"} 1.0',
        'headwater_graph_nodes{kind="run"} 1.0',
        'headwater_graph_nodes{kind="dataset"} 1.0',
    ):
        assert line in metrics
    assert any(line.startswith("process_resident_memory_bytes ") for line in metrics)


def test_an_event_with_a_malformed_signature_is_stored(store: SqliteStore) -> None:
    forged = event(run={"runId": RUN, "facets": {"signature": {"signature": b64decode(b"eA==").decode()}}})
    with serving(store, TRUSTED) as client:
        post(client, forged)

        assert get(client, f"/api/v1/jobs/runs/{RUN}")["signature"]["verdict"] == "tampered"


def test_the_database_is_written_by_one_connection_only(store: SqliteStore) -> None:
    with pytest.raises(sqlite3.OperationalError, match="readonly"):
        store.connection.execute("DELETE FROM log")
