"""The page in a real browser: a column's lineage end to end, and live updates."""

import json
import shutil
from collections.abc import Iterator
from pathlib import Path

import httpx
import pytest
from playwright.sync_api import Page, expect

from tests.e2e.conftest import Demo
from tests.support.browser import Opened
from tests.support.service import Service, running

pytestmark = [pytest.mark.spark, pytest.mark.browser]


@pytest.fixture(scope="module")
def service(demo: Demo, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Service]:
    home = tmp_path_factory.mktemp("page-home")  # a copy: these tests send events of their own
    shutil.copy(demo.home / "headwater.db", home)
    shutil.copytree(demo.home / "keys", home / "keys")
    with running(home) as service:
        yield service


@pytest.fixture
def page(service: Service, opened: Opened) -> Iterator[Page]:
    with opened(service.url) as page:
        yield page


def lit_columns(page: Page) -> set[tuple[str, str]]:
    lit = page.locator('[data-testid="column"][data-lit="true"]')
    return {
        (Path(str(column.get_attribute("data-node-id"))).name, str(column.get_attribute("data-column")))
        for column in lit.all()
    }


def test_a_column_is_followed_from_the_mart_to_the_file(page: Page) -> None:
    search = page.get_by_role("combobox", name="Search jobs, datasets")
    search.fill("carrier_delays")
    page.get_by_role("option").filter(has_text="lake.marts").first.click()
    page.get_by_role("button", name="Show the 7 columns of lake.marts.carrier_delays").click()
    page.locator('[data-testid="column"][data-column="avg_arr_delay"][data-node-id$="marts/carrier_delays"]').click()

    details = page.get_by_role("complementary", name="Details")
    expect(details).to_contain_text("avg_arr_delay")
    expect(page.locator('[data-testid="column"][data-lit="true"][data-node-id$="flights.csv"]').first).to_be_visible()
    path = {("carrier_delays", "avg_arr_delay"), ("flights", "arr_delay"), ("flights.csv", "arr_delay")}
    assert path <= lit_columns(page)
    assert ("flights.csv", "dep_time") not in lit_columns(page)


def test_a_job_shows_its_runs_and_that_they_are_verified(page: Page) -> None:
    page.get_by_role("combobox", name="Search jobs, datasets").fill("carrier-delays")
    page.get_by_role("option").filter(has_text="carrier-delays").first.click()

    details = page.get_by_role("complementary", name="Details")
    expect(details).to_contain_text("completed")
    expect(details).to_contain_text("verified")


def test_a_table_shows_what_changed_and_escape_takes_one_step_back_at_a_time(
    page: Page,
) -> None:
    page.get_by_role("combobox", name="Search jobs, datasets").fill("carrier_delays")
    page.get_by_role("option").filter(has_text="lake.marts").first.click()
    details = page.get_by_role("complementary", name="Details")
    details.get_by_text("What changed?").click()

    changes = details.get_by_role("list", name="Changes")
    expect(changes).to_contain_text("new column avg_arr_delay of lake.marts.carrier_delays, double")
    expect(changes).to_contain_text("new column arr_delay of lake.curated.flights → avg_arr_delay of lake.marts")

    page.get_by_role("button", name="as of now").click()
    time_field = page.get_by_label("Show everything as of")
    expect(time_field).to_be_visible()
    page.keyboard.press("Escape")
    expect(time_field).to_be_hidden()
    expect(details).to_be_visible()
    page.keyboard.press("Escape")
    expect(details).to_be_hidden()


def test_a_link_keeps_the_open_questions_and_the_back_button_skips_them(page: Page) -> None:
    page.get_by_role("combobox", name="Search jobs, datasets").fill("carrier_delays")
    page.get_by_role("option").filter(has_text="lake.marts").first.click()
    details = page.get_by_role("complementary", name="Details")
    details.get_by_text("What changed?").click()
    details.get_by_text("What depends on it?").click()
    page.wait_for_function("location.hash.endsWith('&asked=changes%2Cimpact')")
    details.get_by_label("since").fill("2020-02-03T04:05:06")
    page.wait_for_function("location.hash.includes('&since=2020-02-03T')")
    page.reload()
    expect(details.get_by_label("since")).to_have_value("2020-02-03T04:05:06")
    expect(details.get_by_role("list", name="Changes")).to_be_visible()
    expect(details.get_by_text("show what breaks if it is dropped")).to_be_visible()

    page.go_back()

    expect(details).to_be_hidden()


def test_a_new_event_is_shown_without_a_reload(page: Page, service: Service) -> None:
    expect(page.get_by_test_id("node").first).to_be_visible()
    node = page.locator('[data-testid="node"][data-node-id="job:live:just-arrived"]')
    expect(node).to_have_count(0)
    event = {
        "eventType": "START",
        "eventTime": "2026-05-22T14:23:11Z",
        "producer": "https://example.org/producer",
        "run": {"runId": "0198f7d0-1111-7222-8333-444455556666"},
        "job": {"namespace": "live", "name": "just-arrived"},
        "inputs": [_first_dataset(service)],
    }

    httpx.post(f"{service.url}/api/v1/lineage", content=json.dumps(event)).raise_for_status()

    expect(node).to_have_count(1)


def test_a_button_that_is_pressed_when_an_event_arrives_is_clicked(page: Page, service: Service) -> None:
    fold = page.get_by_role("button", name="the 7 columns of lake.marts.carrier_delays")
    fold.hover()
    page.mouse.down()
    outputs = [{"namespace": "live", "name": f"far-{n}"} for n in range(20)]
    event = {
        "eventType": "COMPLETE",
        "eventTime": "2026-05-22T14:24:11Z",
        "producer": "https://example.org/producer",
        "run": {"runId": "0198f7d0-1111-7222-8333-444455556667"},
        "job": {"namespace": "live", "name": "moves-the-picture"},
        "inputs": [_first_dataset(service)],
        "outputs": outputs,
    }
    with page.expect_response(lambda response: response.ok and "far-19" in response.text()):
        httpx.post(f"{service.url}/api/v1/lineage", content=json.dumps(event)).raise_for_status()

    page.mouse.up()

    expect(fold).to_have_attribute("aria-expanded", "true")
    expect(page.locator('[data-testid="node"][data-node-id^="dataset:live:far-"]')).to_have_count(len(outputs))


def test_the_canvas_does_not_jump_to_a_focused_card_out_of_sight(page: Page) -> None:
    for _ in range(2):
        page.get_by_role("button", name="Zoom In").click()
    scrolled = page.get_by_test_id("node").last.evaluate(
        """(card) => {
            card.scrollIntoView({ block: 'start', inline: 'start' })
            const canvas = card.closest('.react-flow')
            return [canvas.scrollWidth > canvas.clientWidth, canvas.scrollLeft, canvas.scrollTop]
        }"""
    )
    assert scrolled == [True, 0, 0]


def _first_dataset(service: Service) -> dict[str, str]:
    hit = httpx.get(f"{service.url}/api/v1/search", params={"q": "marts", "filter": "DATASET"}).json()["results"][0]
    return {"namespace": hit["namespace"], "name": hit["name"]}
