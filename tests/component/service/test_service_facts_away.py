"""Facts of acknowledged events that cannot be stored yet: reads that need them fail, and none is wrong later."""

import json
import os
import signal
import time
from contextlib import closing
from pathlib import Path
from typing import Any

import httpx

from headwater.errors import UnavailableError
from headwater.store.backlog import ShouldYield
from headwater.store.sqlite import SqliteStore
from tests.component.service.test_service_remote_recorder import is_well, recorders_of
from tests.support.app import RUN, dataset, event, facet, get, post, schema, serving
from tests.support.service import Service, eventually, running

READS = [
    "/api/v1/namespaces/etl/jobs/load",
    "/api/v1/namespaces/etl/jobs/load/runs",
    "/api/v1/jobs",
    f"/api/v1/jobs/runs/{RUN}",
    f"/api/v1/jobs/runs/{RUN}/facets?type=run",
    "/api/v1/lineage?nodeId=job:etl:load",
    "/api/v1/namespaces/lake/datasets/orders",
    "/api/v1/namespaces/lake/datasets/orders/versions",
    "/api/v1/namespaces/lake/datasets",
]
EVENT = event(
    eventType="COMPLETE",
    run={"runId": RUN, "facets": {"nominalTime": facet(nominalStartTime="2026-05-22T00:00:00Z")}},
    job={"namespace": "etl", "name": "load", "facets": {"documentation": facet(description="what it does")}},
    outputs=[dataset("orders", schema=schema("id"), version=facet(datasetVersion="v1"))],
)
"""An event from which each read needs something that is not in memory."""


class NoRoomForFacts(SqliteStore):
    """A store whose disk has room for an event, but not for its facts."""

    is_full = False
    tries = 0

    def catch_up(self, should_yield: ShouldYield = lambda: False, at_least: int = 1) -> None:
        if self.is_full:
            self.tries += 1
            raise UnavailableError("the event could not be stored, try again: disk full")
        super().catch_up(should_yield, at_least)


def is_complete(answer: Any) -> bool:  # noqa: ANN401  of either HTTP library
    return bool(answer.status_code == 200)


def test_reads_fail_while_facts_cannot_be_stored_and_are_right_afterwards(tmp_path: Path) -> None:
    with closing(NoRoomForFacts(tmp_path / "headwater.db")) as store, serving(store) as client:
        store.is_full = True
        post(client, EVENT)

        meanwhile = [client.get(path) for path in READS]
        in_log = get(client, "/api/v1/events/lineage")["totalCount"]
        unhealthy = client.get("/healthz")
        time.sleep(2)  # rendering ahead begins after a second
        store.is_full = False
        assert eventually(lambda: is_complete(client.get(READS[0])))
        recovered = [client.get(path) for path in READS]
        healthy = client.get("/healthz")

    with closing(SqliteStore(tmp_path / "headwater.db")) as reopened, serving(reopened) as client:
        restarted = [client.get(path) for path in READS]

    assert [(each.status_code, each.headers.get("retry-after")) for each in meanwhile] == [(503, "1")] * len(READS)
    assert in_log == 1
    assert (unhealthy.status_code, unhealthy.json()["status"]) == (
        503,
        "the event could not be stored, try again: disk full",
    )
    assert healthy.json() == {"status": "ok"}
    assert [each.json() for each in recovered] == [each.json() for each in restarted]


def test_a_graphql_query_that_needs_unstored_facts_is_asked_to_retry(tmp_path: Path) -> None:
    query = {"query": '{job(namespace: "etl", name: "load") {versions {latestRun {nominalStartTime}}}}'}
    with closing(NoRoomForFacts(tmp_path / "headwater.db")) as store, serving(store) as client:
        store.is_full = True
        post(client, EVENT)

        answer = client.post("/api/v1-beta/graphql", json=query)

    assert (answer.status_code, answer.headers.get("retry-after")) == (503, "1")


def test_reads_that_need_unstored_facts_do_not_each_try_to_store_them(tmp_path: Path) -> None:
    with closing(NoRoomForFacts(tmp_path / "headwater.db")) as store, serving(store) as client:
        store.is_full = True
        post(client, EVENT)
        eventually(lambda: store.tries >= 2, within_s=5)  # by the writer, as soon as it is idle
        before = store.tries

        statuses = {client.get(path).status_code for path in READS for _ in range(5)}

        assert statuses == {503}
        assert store.tries - before <= 4  # of 45


def answers(service: Service) -> list[object]:
    found = [httpx.get(f"{service.url}{path}") for path in READS]
    return [each.json() if each.status_code == 200 else each.status_code for each in found]


def test_a_recorder_killed_right_after_storing_leaves_no_wrong_answer(tmp_path: Path) -> None:
    with running(tmp_path, "--beside") as service:
        service.post_events([event(run={"runId": "before"})])
        assert eventually(lambda: is_well(service))
        (recorder,) = recorders_of(service.pid)

        assert httpx.post(f"{service.url}/api/v1/lineage", content=json.dumps(EVENT)).status_code == 201
        os.kill(recorder, signal.SIGKILL)
        gap = answers(service)
        assert eventually(lambda: recorders_of(service.pid) not in ([], [recorder]) and is_well(service))
        assert eventually(lambda: 503 not in answers(service))
        recovered = answers(service)
        service.stop()
        service.start()
        restarted = answers(service)

    assert recovered == restarted
    assert all(found in (503, right) for found, right in zip(gap, restarted, strict=True))


def test_a_suspended_recorder_delays_reads_only_briefly(tmp_path: Path) -> None:
    events = [event(run={"runId": f"run-{number}"}) for number in range(200)]
    with running(tmp_path, "--beside") as service:
        (recorder,) = recorders_of(service.pid)
        service.post_events([*events, EVENT])
        os.kill(recorder, signal.SIGSTOP)
        begin_s = time.monotonic()
        try:
            statuses = [httpx.get(f"{service.url}{path}", timeout=60).status_code for path in READS * 3]
        finally:
            os.kill(recorder, signal.SIGCONT)
        took_s = time.monotonic() - begin_s

        assert took_s < 40  # 81 if each waited
        assert set(statuses) <= {200, 503}
        assert eventually(lambda: 503 not in answers(service))
        assert recorders_of(service.pid) == [recorder]
