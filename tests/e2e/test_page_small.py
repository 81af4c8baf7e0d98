"""Details that only a real browser shows: overlaps, text direction, printing, the console."""

from pathlib import Path

import pytest
from playwright.sync_api import Locator, expect

from tests.support.app import dataset, event, facet, schema
from tests.support.browser import Opened
from tests.support.service import running

pytestmark = pytest.mark.browser

NAMES = ("customer_orders_of_the_year", "lake.marts.customer_orders_of_the_year")
"""Names of one line, and of two, with the path above the name."""


@pytest.mark.parametrize("name", NAMES)
def test_the_number_of_columns_does_not_overlap_the_name(tmp_path: Path, name: str, opened: Opened) -> None:
    columns = schema(*(f"c{number}" for number in range(100)))
    with running(tmp_path) as service:
        service.post_events([event(outputs=[dataset(name, schema=columns)])])
        with opened(service.url) as page:
            card = page.get_by_test_id("node").filter(has=page.locator(".fold"))
            name_ends = right_of(card.locator(".label > :first-child"))
            count_begins = left_of(card.locator(".fold"))

    assert name_ends <= count_begins


@pytest.mark.parametrize("name", ["stream.enrich", "chain.step_024"])
def test_a_short_name_of_a_job_is_not_truncated(tmp_path: Path, name: str, opened: Opened) -> None:
    with running(tmp_path) as service:
        service.post_events([event(job={"namespace": "plant", "name": name})])
        with opened(service.url) as page:
            label = page.get_by_test_id("node").locator(".label-name")
            expect(label).to_have_text(name)
            needed, available = label.evaluate("label => [label.scrollWidth, label.clientWidth]")

    assert needed <= available


def test_a_long_type_leaves_room_for_the_names_of_columns(tmp_path: Path, opened: Opened) -> None:
    nested = "struct<" + ",".join(f"member_{number}:string" for number in range(20)) + ">"
    fields = [{"name": "customer_identifier", "type": "long"}, {"name": "tail", "type": nested}]
    with running(tmp_path) as service:
        service.post_events([event(outputs=[dataset("orders", schema=facet(fields=fields))])])
        with opened(service.url) as page:
            page.get_by_test_id("node").filter(has_text="orders").locator(".card-title").click()
            name = page.get_by_role("complementary", name="Details").get_by_role("button", name="customer_identifier")
            lines = name.evaluate(
                "name => { const text = document.createRange(); text.selectNodeContents(name);"
                " return text.getClientRects().length }"
            )

    assert lines == 1


def test_a_name_with_a_directional_character_does_not_reorder_other_text(tmp_path: Path, opened: Opened) -> None:
    owners = [{"name": "\u202etrela", "type": "\u202enwod"}, {"name": "team:planning", "type": "up"}]
    with running(tmp_path) as service:
        service.post_events([event(outputs=[dataset("orders", schema=schema("id"), ownership=facet(owners=owners))])])
        with opened(service.url) as page:
            page.get_by_test_id("node").filter(has_text="orders").locator(".card-title").click()
            owned_by = page.get_by_role("complementary", name="Details").get_by_text("owned by").locator("..")
            expect(owned_by).to_contain_text("team:planning")
            places = owned_by.evaluate(
                """paragraph => ["trela", "nwod", "team", "planning", "up"].map(word => {
                    const [text] = [...paragraph.childNodes].filter(node => node.data?.includes(word))
                    const range = document.createRange()
                    range.setStart(text, text.data.indexOf(word))
                    range.setEnd(text, text.data.indexOf(word) + word.length)
                    return range.getBoundingClientRect().left
                })"""
            )

    assert places == sorted(places)


def test_a_right_to_left_name_starts_at_the_right(tmp_path: Path, opened: Opened) -> None:
    with running(tmp_path) as service:
        service.post_events([event(outputs=[dataset("مبيعات.السنة.الماضية")])])
        with opened(f"{service.url}/#node=dataset:lake:مبيعات.السنة.الماضية") as page:
            title = page.get_by_role("complementary", name="Details").locator("h2")
            expect(title).to_contain_text("الماضية")
            first, last = title.evaluate(
                """title => ["مبيعات", "الماضية"].map(word => {
                    const texts = document.createTreeWalker(title, NodeFilter.SHOW_TEXT)
                    while (texts.nextNode() && !texts.currentNode.data.includes(word));
                    const range = document.createRange()
                    const begin = texts.currentNode.data.indexOf(word)
                    range.setStart(texts.currentNode, begin)
                    range.setEnd(texts.currentNode, begin + word.length)
                    return range.getBoundingClientRect().left
                })"""
            )

    assert last < first


@pytest.mark.parametrize("name", [".", ".."])
def test_a_dataset_whose_name_is_a_dot_segment_has_details(tmp_path: Path, name: str, opened: Opened) -> None:
    owned = facet(owners=[{"name": "team:planning", "type": "OWNER"}])
    with running(tmp_path) as service:
        service.post_events([event(outputs=[dataset("+1"), dataset(name, ownership=owned), dataset("orders")])])
        with opened(f"{service.url}/#node=dataset:lake:{name}") as page:
            details = page.get_by_role("complementary", name="Details")

            expect(details.get_by_text("team:planning")).to_be_visible()
            expect(details.get_by_role("alert")).to_have_count(0)


def test_a_change_of_many_columns_shows_a_few_and_the_others_on_demand(tmp_path: Path, opened: Opened) -> None:
    wide = schema(*(f"c{number}" for number in range(50)))
    with running(tmp_path) as service:
        service.post_events([event(outputs=[dataset("orders", schema=columns)]) for columns in (schema("id"), wide)])
        with opened(f"{service.url}/#view=drift") as page:
            columns = page.get_by_role("rowheader")
            expect(columns).to_have_count(20)

            page.get_by_role("button", name="Show all 51").click()

            expect(columns).to_have_count(51)


def test_the_page_is_printed_dark_on_white_in_dark_mode_too(tmp_path: Path, opened: Opened) -> None:
    with running(tmp_path) as service, opened(f"{service.url}/#view=failures") as page:
        heading = page.get_by_role("heading", name="Failures")
        colors = []
        for scheme in ("light", "dark"):
            page.emulate_media(media="print", color_scheme=scheme)
            colors.append(heading.evaluate("heading => getComputedStyle(heading).color"))

    assert colors[0] == colors[1]


def test_a_record_without_witnesses_causes_no_error_in_the_console(tmp_path: Path, opened: Opened) -> None:
    with running(tmp_path) as service, opened(service.url) as page:
        errors: list[str] = []
        page.on("console", lambda message: errors.append(message.text) if message.type == "error" else None)
        page.get_by_role("link", name="Record").click()
        expect(page.get_by_text("no known witness")).to_be_visible()

    assert errors == []


def left_of(part: Locator) -> float:
    place = part.bounding_box()
    assert place is not None
    return place["x"]


def right_of(part: Locator) -> float:
    place = part.bounding_box()
    assert place is not None
    return place["x"] + place["width"]
