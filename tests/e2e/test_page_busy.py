"""The page in a real browser while other jobs are busy: details are loaded, and not requested again and again."""

import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from threading import Event, Thread
from typing import Any
from urllib.parse import urlencode

import httpx
import pytest
from playwright.sync_api import Page, Request, Route, expect

from tests.support.app import dataset, event, facet
from tests.support.browser import Opened
from tests.support.service import Service, running

pytestmark = pytest.mark.browser

TABLE = "dataset:lake:report"
SLOW_S = 1.5
"""The response time of column lineage, as for a wide table with many readers."""


@pytest.fixture
def service(tmp_path: Path) -> Iterator[Service]:
    source = {"namespace": "lake", "name": "sales", "field": "price"}
    columns = {"revenue": {"inputFields": [source]}}
    fields = [{"name": "revenue", "type": "double"}]
    report = dataset("report", columnLineage=facet(fields=columns), schema=facet(fields=fields))
    with running(tmp_path) as service:
        service.post_events([completed("load", 0, ["sales"], [report])])
        yield service


def completed(job: str, number: int, reads: list[str], writes: list[dict[str, Any]]) -> dict[str, Any]:
    return event(
        eventType="COMPLETE",
        eventTime=f"2026-05-01T08:00:00.{number:06}Z",
        run={"runId": f"run-{number}-of-{job}"},
        job={"namespace": "plant", "name": job},
        inputs=[dataset(name) for name in reads],
        outputs=writes,
    )


@contextmanager
def others_busy(service: Service) -> Iterator[None]:
    """While an unrelated job completes five times per second."""
    is_over = Event()

    def post() -> None:
        number = 0
        while not is_over.wait(0.2):
            number += 1
            httpx.post(f"{service.url}/api/v1/lineage", json=completed("other", number, ["elsewhere"], []))

    thread = Thread(target=post)
    thread.start()
    try:
        yield
    finally:
        is_over.set()
        thread.join()


def test_a_columns_lineage_is_loaded_once_while_other_jobs_are_busy(service: Service, opened: Opened) -> None:
    urls: list[str] = []

    def delay(route: Route) -> None:
        time.sleep(SLOW_S)
        route.continue_()

    def count(request: Request) -> None:
        if "/column-lineage" in request.url:
            urls.append(request.url)

    with others_busy(service), opened("about:blank") as page:
        page.route("**/column-lineage*", delay)
        page.on("request", count)
        page.goto(f"{service.url}#{urlencode({'node': TABLE, 'column': 'revenue'})}")
        expect(column_details(page)).to_contain_text("derived from price of sales")
        page.wait_for_timeout(8_000)  # longer than the page throttles refreshes

    assert len(urls) == 1


def test_an_open_job_shows_its_newest_run_while_other_jobs_are_busy(service: Service, opened: Opened) -> None:
    with others_busy(service), opened(f"{service.url}#node=job:plant:load") as page:
        runs = page.get_by_role("complementary", name="Details").get_by_role("heading", name="Runs")
        expect(runs).to_have_text("Runs 1")

        service.post_events([completed("load", 1, ["sales"], [])])

        expect(runs).to_have_text("Runs 2")


def column_details(page: Page) -> Any:  # noqa: ANN401  a Locator
    return page.get_by_role("region", name="Column revenue")
