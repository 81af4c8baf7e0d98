"""The watcher of a cluster, with responses of Flink reduced to what is read."""

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
    """A cluster with jobs that change with each poll; `instead` replaces responses by the paths' beginnings."""

    def __init__(self) -> None:
        self.jobs = [running(A, "first", now_ms()), running(B, "second", now_ms())]
        self.instead: dict[str, httpx.Response] = {}
        self.polls = 0

    def __call__(self, request: httpx.Request) -> httpx.Response:
        path = request.url.path
        self.polls += path == "/jobs/overview"
        for beginning, response in self.instead.items():
            if path.startswith(beginning):
                return response
        if path.startswith("/jobs/") and path.count("/") == 2 and path != "/jobs/overview":
            return httpx.Response(200, json={"state": "RUNNING", "job-type": "STREAMING", "vertices": []})
        contents: dict[str, object] = {
            "/config": {"flink-version": "2.1.3"},
            "/jobmanager/config": [],
            "/jobs/overview": {"jobs": [{**job, "last-modification": self.polls} for job in self.jobs]},
            "/exceptions": {"exceptionHistory": {"entries": []}},
            "/metrics": [],
        }
        content = contents.get(path if path in contents else f"/{path.rpartition('/')[2]}")
        return httpx.Response(404) if content is None else httpx.Response(200, json=content)


def watched(flink: Flink, folder: Path, polls: int = 2, namespace: str | None = None) -> list[dict[str, Any]]:
    """The events that a watcher sends in this number of polls."""
    stop, events = threading.Event(), list[dict[str, Any]]()

    def respond(request: httpx.Request) -> httpx.Response:
        response = flink(request)
        if flink.polls >= polls:
            stop.set()
        return response

    config = WatchConfig(
        namespace=namespace,
        state=folder / "state.json",
        interval_s=0.01,
        heartbeat_s=60,
        lost_after_s=5,
    )
    put: Callable[[bytes], None] = lambda event: events.append(json.loads(event))  # noqa: E731
    cluster = FlinkCluster(["http://flink:8081"], httpx.MockTransport(respond))
    Watcher(config, cluster, Outlet(put, lambda: True)).run(stop, lambda _: None)
    return events


def names_and_types(events: list[dict[str, Any]]) -> list[tuple[str, str, str]]:
    return [(each["job"]["namespace"], each["job"]["name"], each["eventType"]) for each in events]


def test_a_job_that_cannot_be_read_hides_no_other_and_is_logged_once(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    flink = Flink()
    flink.instead[f"/jobs/{A}"] = httpx.Response(200, json={})

    with caplog.at_level(logging.WARNING):
        events = watched(flink, tmp_path, polls=4)

    assert ("flink-jobs", "second", "RUNNING") in names_and_types(events)
    assert [each.__dict__["job_id"] for each in caplog.records] == [A]


def test_jobs_are_in_the_configured_namespace_if_the_cluster_does_not_show_its_own(tmp_path: Path) -> None:
    flink = Flink()
    flink.instead["/jobmanager/config"] = httpx.Response(403)

    events = watched(flink, tmp_path, namespace="shop")

    assert {namespace for namespace, _, _ in names_and_types(events)} == {"shop"}


def test_a_namespace_that_is_neither_configured_nor_shown_ends_the_watcher_with_a_remedy(tmp_path: Path) -> None:
    flink = Flink()
    flink.instead["/jobmanager/config"] = httpx.Response(403)

    with pytest.raises(SetupError, match="--namespace"):
        watched(flink, tmp_path)


def test_a_namespace_that_the_cluster_showed_before_is_still_used(tmp_path: Path) -> None:
    flink = Flink()
    flink.instead["/jobmanager/config"] = httpx.Response(
        200, json=[{"key": "openlineage.job.namespace", "value": "shop"}]
    )
    watched(flink, tmp_path)
    flink.instead["/jobmanager/config"] = httpx.Response(403)
    flink.jobs.append(running("c" * 32, "third", now_ms()))

    events = watched(flink, tmp_path, polls=flink.polls + 2)

    assert ("shop", "third", "START") in names_and_types(events)
