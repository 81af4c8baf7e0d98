"""The watcher of a cluster, whose answers are Flink's, cut down to what is read."""

import json
import logging
import threading
from collections.abc import Callable
from pathlib import Path
from typing import Any

import httpx
import pytest

from headwater.capture.clock import now_ms
from headwater.capture.flink.rest import FlinkCluster
from headwater.capture.flink.watcher import WatchConfig, Watcher
from headwater.capture.outlet import Outlet
from headwater.errors import SetupError

A, B = "a" * 32, "b" * 32


def running(job_id: str, name: str, started_ms: int) -> dict[str, Any]:
    return {"jid": job_id, "name": name, "state": "RUNNING", "start-time": started_ms, "end-time": -1}


class Flink:
    """A cluster with jobs whose tasks change with each look; `instead` answers paths that begin so in another way."""

    def __init__(self) -> None:
        self.jobs = [running(A, "first", now_ms()), running(B, "second", now_ms())]
        self.instead: dict[str, httpx.Response] = {}
        self.looks = 0

    def __call__(self, request: httpx.Request) -> httpx.Response:
        path = request.url.path
        self.looks += path == "/jobs/overview"
        for beginning, answer in self.instead.items():
            if path.startswith(beginning):
                return answer
        if path.startswith("/jobs/") and path.count("/") == 2 and path != "/jobs/overview":
            return httpx.Response(200, json={"state": "RUNNING", "job-type": "STREAMING", "vertices": []})
        said: dict[str, object] = {
            "/config": {"flink-version": "2.1.3"},
            "/jobmanager/config": [],
            "/jobs/overview": {"jobs": [{**job, "last-modification": self.looks} for job in self.jobs]},
            "/exceptions": {"exceptionHistory": {"entries": []}},
            "/metrics": [],
        }
        found = said.get(path if path in said else f"/{path.rpartition('/')[2]}")
        return httpx.Response(404) if found is None else httpx.Response(200, json=found)


def told_by(flink: Flink, folder: Path, looks: int = 2, namespace: str | None = None) -> list[dict[str, Any]]:
    """The events that a watcher tells in so many looks."""
    stop, events = threading.Event(), list[dict[str, Any]]()

    def answer(request: httpx.Request) -> httpx.Response:
        answered = flink(request)
        if flink.looks >= looks:
            stop.set()
        return answered

    config = WatchConfig(
        namespace=namespace,
        state=folder / "state.json",
        interval_s=0.01,
        heartbeat_s=60,
        lost_after_s=5,
    )
    put: Callable[[bytes], None] = lambda event: events.append(json.loads(event))  # noqa: E731
    cluster = FlinkCluster(["http://flink:8081"], httpx.MockTransport(answer))
    Watcher(config, cluster, Outlet(put, lambda _: True)).run(stop, lambda _: None)
    return events


def told(events: list[dict[str, Any]]) -> list[tuple[str, str, str]]:
    return [(each["job"]["namespace"], each["job"]["name"], each["eventType"]) for each in events]


def test_a_job_that_cannot_be_read_hides_no_other_and_is_said_once(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    flink = Flink()
    flink.instead[f"/jobs/{A}"] = httpx.Response(200, json={})

    with caplog.at_level(logging.WARNING):
        events = told_by(flink, tmp_path, looks=4)

    assert ("flink-jobs", "second", "RUNNING") in told(events)
    assert [each.__dict__["job_id"] for each in caplog.records] == [A]


def test_jobs_are_told_in_the_namespace_that_was_chosen_where_the_cluster_does_not_show_its_own(tmp_path: Path) -> None:
    flink = Flink()
    flink.instead["/jobmanager/config"] = httpx.Response(403)

    events = told_by(flink, tmp_path, namespace="shop")

    assert {namespace for namespace, _, _ in told(events)} == {"shop"}


def test_a_namespace_that_is_neither_chosen_nor_shown_ends_the_watcher_with_what_to_do(tmp_path: Path) -> None:
    flink = Flink()
    flink.instead["/jobmanager/config"] = httpx.Response(403)

    with pytest.raises(SetupError, match="--namespace"):
        told_by(flink, tmp_path)


def test_a_namespace_that_the_cluster_once_showed_still_counts(tmp_path: Path) -> None:
    flink = Flink()
    flink.instead["/jobmanager/config"] = httpx.Response(
        200, json=[{"key": "openlineage.job.namespace", "value": "shop"}]
    )
    told_by(flink, tmp_path)
    flink.instead["/jobmanager/config"] = httpx.Response(403)
    flink.jobs.append(running("c" * 32, "third", now_ms()))

    events = told_by(flink, tmp_path, looks=flink.looks + 2)

    assert ("shop", "third", "START") in told(events)
