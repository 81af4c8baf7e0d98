"""Runs at any hour, for jobs that run more or less often than the readers of their outputs."""

from datetime import UTC, datetime, timedelta
from typing import Any

from starlette.testclient import TestClient

from tests.support.app import event

BEGIN = datetime(2026, 5, 1, tzinfo=UTC)
"""Midnight of a Friday."""
DAY = 24
Events = list[dict[str, Any]]


def at_hour(hour: float) -> str:
    """The time this many hours after the beginning."""
    return (BEGIN + timedelta(hours=hour)).isoformat().replace("+00:00", "Z")


def ran(
    job: str,
    hour: float,
    inputs: Events,
    outputs: Events,
    *,
    state: str = "COMPLETE",
    minutes: float = 5,
    run_facets: dict[str, Any] | None = None,
    job_facets: dict[str, Any] | None = None,
) -> Events:
    """START and the end of one run, with id `job-hour`, which starts this many hours after the beginning."""
    about = {
        "run": {"runId": f"{job}-{hour:g}", "facets": run_facets or {}},
        "job": {"namespace": "etl", "name": job, "facets": job_facets or {}},
        "inputs": inputs,
        "outputs": outputs,
    }
    start = event(eventType="START", eventTime=at_hour(hour), **about)
    return [start, event(eventType=state, eventTime=at_hour(hour + minutes / 60), **about)]


def batch(client: TestClient, events: Events) -> None:
    """Post them in batches of 200; all are accepted."""
    for first in range(0, len(events), 200):
        response = client.post("/api/v1/lineage/batch", json=events[first : first + 200])
        assert response.json()["summary"]["failed"] == 0, response.text
