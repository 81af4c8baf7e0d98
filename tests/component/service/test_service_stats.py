"""Statistics, with a clock that stands still; the expected numbers were counted by hand."""

from collections.abc import Iterator
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest
from starlette.testclient import TestClient

from headwater.service.app import create_app
from headwater.store.sqlite import SqliteStore
from tests.support.app import CONFIG, LOG_KEY, dataset, event, facet, post

NOW_US = 1_779_459_791_000_000  # 2026-05-22T14:23:11Z


@pytest.fixture
def client(tmp_path: Path) -> Iterator[TestClient]:
    with closing(SqliteStore(tmp_path / "headwater.db")) as store:
        app = create_app(store, {}, CONFIG, log_key=LOG_KEY, now_us=lambda: NOW_US)
        with TestClient(app) as client:
            yield client


def run(number: int, kind: str, time: str, job: str = "load", **changes: object) -> dict[str, Any]:
    run_id = f"0198f7d0-0000-7000-8000-{number:012d}"
    job_name = {"namespace": "etl", "name": job}
    return event(eventType=kind, eventTime=time, run={"runId": run_id}, job=job_name, **changes)


def stats(client: TestClient, kind: str, query: str = "period=DAY") -> list[dict[str, Any]]:
    response = client.get(f"/api/v1/stats/{kind}?{query}")
    assert response.status_code == 200, response.text
    intervals: list[dict[str, Any]] = response.json()
    return intervals


def test_events_of_the_last_24_hours_by_the_hour(client: TestClient) -> None:
    post(
        client,
        run(1, "START", "2026-05-22T14:00:00Z"),
        run(1, "COMPLETE", "2026-05-22T14:59:59.999Z"),
        run(2, "START", "2026-05-22T13:59:59.999Z"),
        run(2, "FAIL", "2026-05-21T15:00:00Z"),
        run(3, "ABORT", "2026-05-21T14:59:59.999Z"),
        run(4, "OTHER", "2026-05-22T14:00:00Z"),
    )

    hours = stats(client, "lineage-events")

    assert len(hours) == 24
    assert hours[-1] == {
        "startInterval": "2026-05-22T14:00:00.000Z",
        "endInterval": "2026-05-22T15:00:00.000Z",
        "fail": 0,
        "start": 1,
        "complete": 1,
        "abort": 0,
    }
    assert (hours[-2]["start"], hours[0]["fail"], sum(hour["abort"] for hour in hours)) == (1, 1, 0)
    assert hours[0]["startInterval"] == "2026-05-21T15:00:00.000Z"


def test_a_week_has_the_days_of_its_time_zone(client: TestClient) -> None:
    post(client, run(1, "START", "2026-05-22T00:30:00Z"), run(2, "START", "2026-05-22T04:30:00Z"))

    days = stats(client, "lineage-events", "period=week&timezone=America/New_York")

    assert [day["startInterval"] for day in days] == [f"2026-05-{day}T04:00:00.000Z" for day in range(16, 23)]
    assert [day["start"] for day in days] == [0, 0, 0, 0, 0, 1, 1]


def test_jobs_datasets_and_sources_add_up(client: TestClient) -> None:
    source = facet(name="pg", uri="postgres://db:5432")
    post(
        client,
        run(1, "START", "2026-01-01T00:00:00Z", inputs=[dataset("a")]),
        run(2, "START", "2026-05-22T13:30:00Z", "mart", inputs=[dataset("b", dataSource=source)]),
        run(3, "START", "2026-05-22T14:10:00Z", "report", inputs=[dataset("b"), dataset("c")]),
    )
    client.put("/api/v1/sources/s", json={"type": "KAFKA", "connectionUrl": "kafka://b"})

    counts = {kind: [hour["count"] for hour in stats(client, kind)] for kind in ("jobs", "datasets", "sources")}

    assert counts == {"jobs": [1] * 22 + [2, 3], "datasets": [1] * 22 + [2, 3], "sources": [1] * 22 + [2, 3]}


@pytest.mark.parametrize(
    ("query", "message"),
    [
        ("", "query param period must not be null"),
        ("period=MONTH", "query param period must be one of [DAY, WEEK]"),
        ("period=WEEK", "query param timezone must be specified for period 'WEEK'"),
        ("period=WEEK&timezone=Mars/Base", "query param timezone cannot be read: expected the name of a time zone"),
    ],
)
def test_an_invalid_parameter_is_named(client: TestClient, query: str, message: str) -> None:
    for kind in ("lineage-events", "jobs", "datasets", "sources"):
        response = client.get(f"/api/v1/stats/{kind}?{query}")

        assert response.status_code == 400
        assert response.json()["message"].startswith(message)
