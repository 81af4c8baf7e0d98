"""The API reference in a real browser: routes are listed and can be tried, without requests to other hosts."""

from pathlib import Path

import pytest
from playwright.sync_api import expect

from tests.support.app import dataset, event
from tests.support.browser import Opened
from tests.support.service import running

pytestmark = pytest.mark.browser


def test_a_route_is_listed_with_its_summary_and_can_be_tried(tmp_path: Path, opened: Opened) -> None:
    with running(tmp_path) as service:
        service.post_events([event(outputs=[dataset("orders")])])
        with opened(f"{service.url}/docs") as page:
            route = page.locator("#operations-search-get_hits_api_v1_search_get")
            expect(route).to_contain_text("Search for jobs and datasets by a part of any of their names")
            route.locator(".opblock-summary-control").click()
            route.get_by_role("button", name="Try it out").click()
            route.locator("tr[data-param-name=q] input").fill("orders")
            route.get_by_role("button", name="Execute").click()
            responses = route.locator(".live-responses-table")
            expect(responses.get_by_role("cell", name="200", exact=True)).to_be_visible()
            expect(responses).to_contain_text('"totalCount": 1')


def test_the_graph_links_to_the_reference(tmp_path: Path, opened: Opened) -> None:
    with running(tmp_path) as service, opened(f"{service.url}/?asOf=2026-05-01T08:00:30Z") as page:
        page.get_by_role("link", name="API reference").click()

        expect(page.get_by_text("Search for jobs and datasets by a part of any of their names")).to_be_visible()


def test_the_reference_sends_requests_only_to_the_service(tmp_path: Path, opened: Opened) -> None:
    with running(tmp_path, "--access") as service, opened("about:blank") as page:
        urls: list[str] = []
        page.on("request", lambda request: urls.append(request.url))
        page.goto(f"{service.url}/docs")
        expect(page.get_by_role("button", name="Authorize")).to_be_visible()

    assert {url for url in urls if not url.startswith((service.url, "data:"))} == set()
