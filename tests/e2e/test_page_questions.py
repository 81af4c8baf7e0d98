"""A changed type of a topic's field, in a real browser: schema change, impact, root cause and proof."""

from collections.abc import Iterator
from datetime import timedelta
from pathlib import Path

import httpx
import pytest
from playwright.sync_api import Page, expect

from tests.support.bad_morning import DAY, events, trust
from tests.support.browser import Opened
from tests.support.service import running

pytestmark = pytest.mark.browser


@pytest.fixture
def page(tmp_path: Path, opened: Opened) -> Iterator[Page]:
    trust(tmp_path)
    with running(tmp_path) as service:
        for raw in events():
            httpx.post(f"{service.url}/api/v1/lineage", content=raw).raise_for_status()
        with opened(service.url) as page:
            yield page


def test_from_the_schema_change_to_the_dashboard_and_back_to_the_proof(page: Page) -> None:
    details = page.get_by_role("complementary", name="Details")
    page.get_by_role("link", name="Schema changes").click()
    price = page.get_by_role("row").filter(has_text="price")
    expect(price).to_contain_text("int")
    expect(price).to_contain_text("3 columns in 3 datasets")

    price.get_by_role("button", name="price").click()
    details.get_by_text("What depends on price?").click()
    is_dropped = details.get_by_role("checkbox", name="show what breaks if price is dropped")
    is_dropped.click()  # it is checked once the address of the page says so
    expect(is_dropped).to_be_checked()
    revenue = details.get_by_role("listitem").filter(has_text="dashboard").filter(has_text="owned by").last
    expect(revenue).to_contain_text("team:finance")
    expect(revenue).to_contain_text("breaking")

    page.get_by_role("combobox").fill("sales.stats")
    page.get_by_role("option").filter(has_text="sales.stats").first.click()
    details.get_by_text("Why might it be wrong?").press("Enter")
    findings = details.get_by_role("list", name="Findings").get_by_role("listitem")
    expect(findings.nth(0)).to_contain_text("changed price from int to string, by version 2 of orders-value")
    expect(findings.nth(1)).to_contain_text("a consequence of the above")

    page.get_by_role("link", name="Record").click()
    expect(page.get_by_role("row").filter(has_text="centre")).to_contain_text("complete")
    page.get_by_role("button", name="edge-7").click()
    expect(details).to_contain_text("numbers 1 to 2")
    expect(details).to_contain_text("2 different events were signed for one sequence number")
    page.keyboard.press("Escape")
    expect(details).to_have_count(0)


def test_a_link_shows_a_past_time_and_a_click_the_present_again(page: Page) -> None:
    evening = (DAY + timedelta(hours=20)).isoformat().replace("+00:00", "Z")
    topic = page.get_by_role("row").filter(has_text="price")
    link = f"{page.url}?asOf={evening}#view=drift"

    page.goto(link)
    expect(page.get_by_text("No schema has changed, as far as events report.")).to_be_visible()
    page.reload()
    expect(page.get_by_role("button", name="as of")).to_contain_text("UTC")
    page.get_by_role("button", name="as of").click()
    page.get_by_role("button", name="Back to now").click()

    expect(topic).to_contain_text("int")
    expect(page.get_by_role("button", name="as of now")).to_be_visible()
