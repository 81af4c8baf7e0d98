"""Accessibility violations that axe finds in each view and state of the page, in light and dark mode."""

import json
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Final, Literal
from urllib.parse import urlencode

import pytest
from playwright.sync_api import Page, expect

from tests.support.app import RUN, Body, dataset, event, facet, schema
from tests.support.browser import Opened
from tests.support.service import Service, running

pytestmark = pytest.mark.browser

AXE: Final = Path(__file__).parents[2] / "web" / "node_modules" / "axe-core" / "axe.min.js"
LOADING: Final = re.compile("^(Loading|Comparing).*…$")
SEVERE: Final = {"moderate", "serious", "critical"}
LONG: Final = "lake.of.all_that_was_sold." + "and_of_what_was_not_" * 8
TEXT: Final = "What it says goes on and on. " * 60
REPORT: Final = "dataset:lake:marts.report"
VIEWS: Final = {
    "graph": "",
    "dataset": f"#{urlencode({'node': REPORT})}",
    "column": f"#{urlencode({'node': REPORT, 'column': 'revenue', 'asked': 'why,changes,impact', 'change': 'drop'})}",
    "job": f"#{urlencode({'node': 'job:plant:load', 'asked': 'changes'})}",
    "a long name": f"#{urlencode({'node': f'dataset:lake:{LONG}'})}",
    "nothing known": "#node=dataset:lake:nowhere",
    "jobs": "#view=catalog",
    "datasets": "#view=catalog&kind=datasets",
    "failures": "#view=failures",
    "changes": "#view=drift",
    "record": "#view=record",
    "entry": "#view=entry&index=0",
    "no entry": "#view=entry&index=999",
    "past": "?asOf=2026-05-01T08:00:30Z",
    "no time": "?asOf=yesterday",
}


@pytest.fixture(scope="module")
def service(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Service]:
    with running(tmp_path_factory.mktemp("axe")) as service:
        service.post_events(events())
        yield service


def events() -> list[Body]:
    source = {"namespace": "lake", "name": "sales", "field": "price"}
    report = dataset(
        "marts.report",
        columnLineage=facet(fields={"revenue": {"inputFields": [source]}}),
        schema=schema("revenue", "region"),
        documentation=facet(description=TEXT),
        ownership=facet(owners=[{"name": f"team {number}", "type": "OWNER"} for number in range(40)]),
        tags=facet(tags=[{"key": f"tag {number}", "value": ""} for number in range(100)]),
    )
    error = facet(message=TEXT, programmingLanguage="PYTHON", stackTrace="a line\n" * 100)
    sales = dataset("sales", schema=schema("price"))
    return [
        run_event("load", 0, inputs=[sales], outputs=[report, dataset(LONG)], sql="SELECT price\n" * 100),
        run_event("load", 1, "FAIL", inputs=[sales], outputs=[report], error=error),
        run_event("elsewhere", 2, "RUNNING", inputs=[dataset("orders")]),
        run_event("elsewhere", 3, inputs=[dataset("sales", schema=schema("price", "region"))]),
    ]


def run_event(
    job: str, minute: int, state: str = "COMPLETE", sql: str = "", error: Body | None = None, **sides: list[Body]
) -> Body:
    """The event of a new run."""
    return event(
        eventType=state,
        eventTime=f"2026-05-01T08:{minute:02}:00Z",
        run={"runId": f"{RUN[:-2]}{minute:02}", "facets": {"errorMessage": error} if error else {}},
        job={"namespace": "plant", "name": job, "facets": {"sql": facet(query=sql)} if sql else {}},
        **sides,
    )


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_no_view_has_a_serious_violation(service: Service, scheme: Literal["light", "dark"], opened: Opened) -> None:
    with opened("about:blank") as page:
        page.emulate_media(color_scheme=scheme, reduced_motion="reduce")
        violations_by_view = {}
        for view, address in VIEWS.items():
            page.goto("about:blank")
            page.goto(f"{service.url}/{address}")
            wait_until_loaded(page)
            unfold(page)
            violations_by_view[view] = violations(page)

    assert violations_by_view == {view: [] for view in VIEWS}


@pytest.mark.parametrize("text", ["s", "nowhere"])
def test_the_search_has_no_serious_violation(service: Service, text: str, opened: Opened) -> None:
    with opened(service.url) as page:
        page.get_by_test_id("node").first.wait_for()
        page.get_by_role("combobox", name="Search jobs, datasets").fill(text)
        page.locator(".results").wait_for()
        page.get_by_text("Searching…").wait_for(state="detached")

        assert violations(page) == []


def test_the_choice_of_a_time_has_no_serious_violation(service: Service, opened: Opened) -> None:
    with opened(service.url) as page:
        page.get_by_role("button", name="as of now").click()
        page.get_by_label("Show everything as of").wait_for()

        assert violations(page) == []


def wait_until_loaded(page: Page) -> None:
    """Wait until nothing is loading. The stream of changes never ends, so the network is never idle."""
    expect(page.locator("main")).not_to_be_empty()
    expect(page.get_by_text(LOADING)).to_have_count(0)


def unfold(page: Page) -> None:
    page.evaluate("document.querySelectorAll('details:not([open]) > summary').forEach(summary => summary.click())")
    page.evaluate("document.querySelectorAll('main [aria-expanded=false]').forEach(button => button.click())")
    wait_until_loaded(page)


def violations(page: Page) -> list[str]:
    """Each rule with a serious violation, and the first element that violates it."""
    if not page.evaluate("'axe' in window"):
        page.evaluate(AXE.read_text())
    found = page.evaluate("axe.run(document, {resultTypes: ['violations']})")["violations"]
    return [
        json.dumps([violation["id"], violation["nodes"][0]["html"][:200]])
        for violation in found
        if violation["impact"] in SEVERE
    ]
