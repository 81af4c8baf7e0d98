"""The page's header in a real browser: its layout at all widths."""

from pathlib import Path

import pytest
from playwright.sync_api import Locator, expect

from tests.support.app import event
from tests.support.browser import Opened
from tests.support.service import running

pytestmark = pytest.mark.browser


def test_no_link_in_the_header_moves_when_another_becomes_the_current_one(tmp_path: Path, opened: Opened) -> None:
    with running(tmp_path) as service, opened(service.url) as page:
        views = page.get_by_role("navigation", name="Views").get_by_role("link")
        places = []
        for view in views.all():
            view.click()
            expect(view).to_have_attribute("aria-current", "page")
            places.append([box(link) for link in views.all()])

        assert len(places) == 5
        assert all(boxes == places[0] for boxes in places)


def test_a_small_page_also_shows_how_many_jobs_are_not_drawn(tmp_path: Path, opened: Opened) -> None:
    with running(tmp_path) as service:
        service.post_events(
            [event(run={"runId": f"r{at}"}, job={"namespace": "plant", "name": f"j{at}"}) for at in range(103)]
        )
        with opened(service.url) as page:
            page.set_viewport_size({"width": 400, "height": 800})

            expect(page.get_by_text("3 more jobs are not drawn")).to_be_visible()


@pytest.mark.parametrize("width", [800, 1024, 1100])
def test_the_search_field_keeps_its_width_if_jobs_are_not_drawn(tmp_path: Path, width: int, opened: Opened) -> None:
    with running(tmp_path) as service:
        service.post_events(
            [event(run={"runId": f"r{at}"}, job={"namespace": "plant", "name": f"j{at}"}) for at in range(103)]
        )
        with opened(service.url) as page:
            page.set_viewport_size({"width": width, "height": 800})
            expect(page.get_by_text("3 more jobs are not drawn")).to_be_visible()
            page.locator(".connection").evaluate("light => light.lastChild.data = 'polling every second'")
            _, field_width = box(page.get_by_role("combobox", name="Search jobs, datasets"))

    assert field_width >= 130


@pytest.mark.parametrize("view", ["#node=job:etl:load", "#view=catalog", "#view=failures", "#view=record"])
def test_at_400_percent_the_header_scrolls_with_the_page(tmp_path: Path, view: str, opened: Opened) -> None:
    with running(tmp_path) as service:
        service.post_events([event()])
        with opened("about:blank") as page:
            page.set_viewport_size({"width": 360, "height": 225})
            page.goto(f"{service.url}/{view}")
            main = page.get_by_role("main")
            expect(main.locator(":is(.panel-title, .sheet h2, .card)").first).to_be_visible()

            page.mouse.move(350, 20)
            for _ in range(30):  # the content may load after the heading, and only then be long enough to scroll
                page.mouse.wheel(0, 1_000)
                page.wait_for_timeout(100)

            expect(page.get_by_role("banner")).not_to_be_in_viewport()
            assert main.evaluate("main => main.getBoundingClientRect().width") == 360


def test_at_400_percent_the_details_of_a_chosen_node_scroll_into_sight(tmp_path: Path, opened: Opened) -> None:
    with running(tmp_path) as service:
        service.post_events([event()])
        with opened("about:blank") as page:
            page.set_viewport_size({"width": 360, "height": 225})
            page.goto(service.url)
            page.get_by_test_id("node").locator(".card-title").click()

            expect(page.get_by_role("complementary", name="Details").locator("h2")).to_be_in_viewport()


def box(link: Locator) -> tuple[float, float]:
    place = link.bounding_box()
    assert place is not None
    return round(place["x"], 2), round(place["width"], 2)
