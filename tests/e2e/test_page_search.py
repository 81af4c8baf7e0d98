"""Jobs with long names that begin alike, in a real browser: search results show them in full, in narrow windows too."""

import json
from collections.abc import Iterator
from pathlib import Path

import httpx
import pytest
from playwright.sync_api import Page, expect

from tests.support.browser import Opened
from tests.support.service import Service, running

pytestmark = pytest.mark.browser

TASKS = ("customers_by_region", "customers_by_revenue", "customers_by_return")
PIPELINE = "nightly_warehouse_rebuild.atomic_replace_table_as_select"


@pytest.fixture
def service(tmp_path: Path) -> Iterator[Service]:
    with running(tmp_path) as service:
        for number, task in enumerate(TASKS):
            event = {
                "eventType": "COMPLETE",
                "eventTime": "2026-05-01T08:00:00Z",
                "producer": "https://example.org/warehouse",
                "schemaURL": "https://openlineage.io/spec/2-0-2/OpenLineage.json#/$defs/RunEvent",
                "run": {"runId": f"01890000-0000-7000-8000-{number:012}"},
                "job": {"namespace": "plant", "name": f"{PIPELINE}.{task}"},
            }
            httpx.post(f"{service.url}/api/v1/lineage", content=json.dumps(event)).raise_for_status()
        yield service


@pytest.fixture
def page(service: Service, opened: Opened) -> Iterator[Page]:
    with opened(f"{service.url}/?asOf=2026-05-02T00:00:00Z") as page:
        yield page


@pytest.mark.parametrize("width", [700, 900, 1440])
def test_each_result_shows_its_full_name_and_namespace_within_the_window(page: Page, width: int) -> None:
    page.set_viewport_size({"width": width, "height": 700})

    page.get_by_role("combobox").fill("warehouse")

    expect(page.get_by_role("option")).to_have_count(len(TASKS))
    names = page.locator(".result .label-name")
    assert sorted(names.all_text_contents()) == sorted(TASKS)
    namespaces = page.locator(".result-place")
    assert namespaces.all_text_contents() == ["plant"] * len(TASKS)
    for text in [*names.all(), *namespaces.all()]:
        assert text.evaluate("end => end.scrollWidth <= end.clientWidth")
        place = text.bounding_box()
        assert place is not None
        assert place["x"] >= 0
        assert place["x"] + place["width"] <= width
