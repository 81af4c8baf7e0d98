"""The page in a real browser without a pointer; and names that do not wrap if there is room."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import Page, expect

from tests.support.app import dataset, event, facet
from tests.support.browser import Opened
from tests.support.service import running

pytestmark = pytest.mark.browser

COLUMN = "customer_lifetime_value"


@pytest.fixture
def page(tmp_path: Path, opened: Opened) -> Iterator[Page]:
    with running(tmp_path) as service:
        service.post_events([run_event("int", 0), run_event("timestamp_ntz(6)", 1)])
        with opened(service.url) as page:
            yield page


def run_event(kind: str, minute: int) -> dict[str, Any]:
    job = "com.example.analytics.pipelines.customer_360.enrich_with_geo_and_marketing_segments"
    return event(
        eventType="COMPLETE",
        eventTime=f"2026-05-01T08:{minute:02}:00Z",
        run={"runId": f"run-{minute}"},
        job={"namespace": "plant", "name": job},
        inputs=[dataset("people", schema=facet(fields=[{"name": COLUMN, "type": kind}]))],
    )


def test_the_focus_moves_to_details_opened_by_a_key_and_back(page: Page) -> None:
    card = page.get_by_role("button", name="Dataset people")
    column = page.get_by_role("complementary", name="Details").get_by_role("button", name=COLUMN)

    card.press("Enter")
    expect(page.get_by_role("heading", name="people", level=2)).to_be_focused()
    column.press("Enter")
    expect(page.get_by_role("heading", name=f"Where {COLUMN} comes from")).to_be_focused()
    page.keyboard.press("Escape")
    expect(column).to_be_focused()
    page.keyboard.press("Escape")
    expect(card).to_be_focused()


def test_a_link_skips_the_graph(page: Page) -> None:
    page.goto(f"{page.url}#node=dataset:lake:people")
    details = page.get_by_role("complementary", name="Details")
    expect(details).to_be_focused()
    page.reload()  # so that the first Tab starts at the top of the page
    skip = page.get_by_role("link", name="Skip to the details")

    skip.focus()
    expect(skip).to_be_in_viewport()
    page.keyboard.press("Enter")

    expect(details).to_be_focused()


def test_a_screen_reader_reads_the_graph_like_the_rest_of_the_page(page: Page) -> None:
    graph = page.get_by_role("region", name="Lineage graph")

    expect(graph.get_by_role("button", name="Dataset people")).to_be_visible()
    expect(page.get_by_role("application")).to_have_count(0)  # in one, it would read only the focused element


@pytest.mark.parametrize("width", [1440, 800])
def test_names_and_types_of_changed_columns_do_not_wrap(page: Page, width: int) -> None:
    page.set_viewport_size({"width": width, "height": 800})
    page.get_by_role("link", name="Schema changes").click()
    row = page.get_by_role("row").filter(has_text=COLUMN)

    for text in (row.get_by_role("button", name=COLUMN), row.get_by_text("timestamp_ntz(6)")):
        assert text.evaluate("element => element.getClientRects().length") == 1
        assert text.evaluate("element => element.getBoundingClientRect().height") < 30


def test_the_link_to_an_entry_shows_its_event(page: Page) -> None:
    page.get_by_role("link", name="Schema changes").click()
    page.get_by_role("link", name="entry 1").click()

    expect(page.get_by_role("heading", name="Entry 1 of the log")).to_be_visible()
    expect(page.locator("pre")).to_contain_text('"timestamp_ntz(6)"')
    expect(page.get_by_text("sha256:").first).to_have_text(digest(page))


def digest(page: Page) -> str:
    entry = page.request.get(f"{page.url.split('#')[0]}api/v1/log/entries/1").json()
    return str(entry["digest"])
