"""Lists in a real browser: a node's neighbours, also those that are not drawn, and the catalog."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import Page, expect

from tests.support.browser import Opened
from tests.support.service import running

pytestmark = pytest.mark.browser

CROWD = 1_000
"""The page loads no more lineage from this many nodes on."""
HOPS = 20
"""The depth limit in jobs: datasets at this distance from the newest job are drawn, their readers are not."""
READERS = 60


@pytest.fixture
def page(tmp_path: Path, opened: Opened) -> Iterator[Page]:
    chain = [completed(f"step-{at:02}", [f"table-{at:02}"], [f"table-{at + 1:02}"]) for at in range(HOPS)]
    readers = [completed(f"reader-{at:02}", [f"table-{HOPS:02}"], []) for at in range(READERS)]
    crowd = [completed(f"crowd-{at:03}", ["table-00"], []) for at in range(CROWD)]
    newest = completed("load", [], ["table-00"], minute=1)
    with running(tmp_path) as service:
        service.post_events([*chain, *readers, *crowd, newest])
        with opened(service.url) as page:
            yield page


def completed(job: str, reads: list[str], writes: list[str], minute: int = 0) -> dict[str, Any]:
    return {
        "eventType": "COMPLETE",
        "eventTime": f"2026-05-01T08:{minute:02}:00Z",
        "producer": "https://example.org/lists",
        "schemaURL": "https://openlineage.io/spec/2-0-2/OpenLineage.json#/$defs/RunEvent",
        "run": {"runId": f"run-of-{job}"},
        "job": {"namespace": "plant", "name": job},
        "inputs": [{"namespace": "lake", "name": name} for name in reads],
        "outputs": [{"namespace": "lake", "name": name} for name in writes],
    }


def test_readers_that_are_not_drawn_are_listed_counted_and_linked(page: Page) -> None:
    expect(page.get_by_test_id("pile")).to_contain_text("more jobs")
    page.get_by_role("combobox").fill(f"table-{HOPS}")
    page.get_by_role("option").first.click()
    details = page.get_by_role("complementary", name="Details")
    readers = details.get_by_role("list", name="Read by")

    expect(details.get_by_role("heading", name=f"Read by {READERS}")).to_be_visible()
    expect(readers.get_by_role("listitem")).to_have_count(10)
    details.get_by_role("button", name="Show the first 50").click()
    details.get_by_role("button", name=f"Show all {READERS}").click()
    expect(readers.get_by_role("listitem")).to_have_count(READERS)

    readers.get_by_role("button", name="reader-59").click()
    expect(details.get_by_role("heading", name="reader-59")).to_be_visible()
    expect(details.get_by_role("list", name="Reads").get_by_role("button")).to_have_text(f"table-{HOPS}")


def test_the_catalog_lists_jobs_that_are_not_drawn_and_a_link_shows_the_same_choice(page: Page) -> None:
    page.get_by_role("main").get_by_role("link", name="catalog").click()
    jobs = page.get_by_role("region", name="List of jobs")
    expect(jobs).to_contain_text(f"{CROWD + HOPS + READERS + 1:,} jobs")
    page.get_by_label("Last run").select_option("failed")
    expect(page.get_by_text("No such job is known.")).to_be_visible()
    page.get_by_label("Last run").select_option("any")
    expect(jobs.get_by_role("row")).to_have_count(1 + 50)
    expect(jobs.get_by_role("row").nth(1)).to_contain_text("load")

    page.get_by_role("link", name="Datasets").click()
    page.get_by_label("Namespace").select_option("lake")
    datasets = page.get_by_role("region", name="List of datasets")
    expect(datasets.get_by_role("row")).to_have_count(1 + HOPS + 1)
    page.reload()
    expect(page.get_by_label("Namespace")).to_have_value("lake")
    datasets.get_by_role("button", name=f"table-{HOPS}").click()

    expect(page.get_by_role("complementary", name="Details").get_by_role("heading", level=2)).to_have_text(
        f"table-{HOPS}"
    )
