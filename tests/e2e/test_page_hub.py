"""A table that hundreds of jobs read, in a real browser: a few are drawn, and all can be reached."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import Page, expect

from tests.support.browser import Opened
from tests.support.service import running

pytestmark = pytest.mark.browser

READERS = 300
FAILING = 271


@pytest.fixture
def page(tmp_path: Path, opened: Opened) -> Iterator[Page]:
    events = [completed("load", (), ("hub",))] + [
        completed(f"reader-{number:03}", ("hub",), (f"of-{number:03}",), failing=number == FAILING)
        for number in range(READERS)
    ]
    with running(tmp_path) as service:
        service.post_events(events)
        with opened(service.url) as page:
            yield page


def completed(job: str, reads: tuple[str, ...], writes: tuple[str, ...], *, failing: bool = False) -> dict[str, Any]:
    number = int(job.rpartition("-")[2]) if "-" in job else READERS
    return {
        "eventType": "FAIL" if failing else "COMPLETE",
        "eventTime": "2026-05-01T08:00:00Z",
        "producer": "https://example.org/hub",
        "schemaURL": "https://openlineage.io/spec/2-0-2/OpenLineage.json#/$defs/RunEvent",
        "run": {"runId": f"01890000-0000-7000-8000-{number:012}"},
        "job": {"namespace": "plant", "name": job},
        "inputs": [{"namespace": "lake", "name": name} for name in reads],
        "outputs": [{"namespace": "lake", "name": name} for name in writes],
    }


def test_a_few_readers_are_drawn_and_the_others_on_demand(page: Page) -> None:
    nodes, pile = page.get_by_test_id("node"), page.get_by_test_id("pile")
    expect(pile).to_contain_text("280 more jobs")
    expect(page.locator('[data-state="FAILED"]').first).to_be_visible()  # failed readers come first
    expect(nodes).to_have_count(2 + 20 + 20)

    page.get_by_role("combobox").fill("of-299")
    page.get_by_role("option").filter(has_text="of-299").first.click()
    expect(page.locator('[data-node-id="dataset:lake:of-299"]')).to_be_visible()
    expect(page.get_by_role("complementary", name="Details")).to_contain_text("reader-299")
    page.keyboard.press("Escape")

    pile.get_by_role("button").click()
    expect(pile).to_contain_text("200 more jobs")
    pile.get_by_role("button").press("Enter")
    expect(pile).to_have_count(0)
    expect(page.get_by_role("button", name="Dataset hub", exact=True)).to_be_focused()
