"""The page's header in a real browser: what it leads to stands still."""

from pathlib import Path

import pytest
from playwright.sync_api import Locator, expect

from tests.support.app import event
from tests.support.browser import opened
from tests.support.service import running

pytestmark = pytest.mark.browser


def test_no_view_in_the_header_moves_when_another_becomes_the_current_one(tmp_path: Path) -> None:
    with running(tmp_path) as service, opened(service.url) as page:
        views = page.get_by_role("navigation", name="Views").get_by_role("link")
        places = []
        for view in views.all():
            view.click()
            expect(view).to_have_attribute("aria-current", "page")
            places.append([box(each) for each in views.all()])

        assert len(places) == 4
        assert all(each == places[0] for each in places)


def test_a_small_header_says_too_how_many_jobs_are_not_drawn(tmp_path: Path) -> None:
    with running(tmp_path) as service:
        service.tell(
            [event(run={"runId": f"r{at}"}, job={"namespace": "plant", "name": f"j{at}"}) for at in range(103)]
        )
        with opened(service.url) as page:
            page.set_viewport_size({"width": 400, "height": 800})

            expect(page.get_by_text("3 more jobs are not drawn")).to_be_visible()


def box(link: Locator) -> tuple[float, float]:
    place = link.bounding_box()
    assert place is not None
    return round(place["x"], 2), round(place["width"], 2)
