"""The lit path in a real browser: only nodes that are connected to the dataset or job by reported lineage."""

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import httpx
import pytest
from playwright.sync_api import Page, expect

from tests.support.browser import Opened
from tests.support.service import running

pytestmark = pytest.mark.browser

PAIRS = {"in0": "out0", "in1": "out1"}


def paired(**changes: object) -> dict[str, Any]:
    """A run that reads both inputs, with column lineage by which each output is made from only one of them."""
    return {
        "eventType": "COMPLETE",
        "eventTime": "2026-05-01T08:00:00Z",
        "producer": "https://example.org/pairs",
        "schemaURL": "https://openlineage.io/spec/2-0-2/OpenLineage.json#/$defs/RunEvent",
        "run": {"runId": "01890000-0000-7000-8000-000000000001"},
        "job": {"namespace": "plant", "name": "pair"},
        "inputs": [lake(source) for source in PAIRS],
        "outputs": [lake(target, columnLineage=columns_of(source)) for source, target in PAIRS.items()],
        **changes,
    }


def lake(name: str, **facets: object) -> dict[str, Any]:
    return {"namespace": "lake", "name": name, "facets": facets}


def columns_of(source: str) -> dict[str, Any]:
    fields = {"x": {"inputFields": [{"namespace": "lake", "name": source, "field": "x"}]}}
    return {"_producer": "https://example.org/pairs", "_schemaURL": "https://example.org/c.json", "fields": fields}


def grouped(size: int) -> dict[str, Any]:
    """A run that copies `size` columns, and groups by all of them."""
    names = [f"c{number}" for number in range(size)]
    sources = {name: {"namespace": "lake", "name": "visits", "field": name} for name in names}
    facet = {"_producer": "https://example.org/pairs", "_schemaURL": "https://example.org/c.json"}
    schema = {**facet, "fields": [{"name": name, "type": "int"} for name in names]}
    column_lineage = {
        **facet,
        "fields": {
            name: {"inputFields": [with_transformation(source, "DIRECT", "IDENTITY")]}
            for name, source in sources.items()
        },
        "dataset": [with_transformation(source, "INDIRECT", "GROUP_BY") for source in sources.values()],
    }
    return paired(
        job={"namespace": "plant", "name": "distinct"},
        inputs=[lake("visits", schema=schema)],
        outputs=[lake("visitors", schema=schema, columnLineage=column_lineage)],
    )


def with_transformation(source: dict[str, Any], kind: str, subtype: str) -> dict[str, Any]:
    return {**source, "transformations": [{"type": kind, "subtype": subtype, "description": "", "masking": False}]}


def post(url: str, event: dict[str, Any]) -> None:
    httpx.post(f"{url}/api/v1/lineage", content=json.dumps(event)).raise_for_status()


@pytest.fixture
def url(tmp_path: Path) -> Iterator[str]:
    with running(tmp_path) as service:
        post(service.url, paired())
        yield service.url


def expect_lit(page: Page, *names: str) -> None:
    """Check that these nodes, and no others, are lit."""
    for name in ("job:plant:pair", *(f"dataset:lake:{end}" for pair in PAIRS.items() for end in pair)):
        is_dim = "false" if name.rpartition(":")[2] in names else "true"
        expect(page.locator(f'[data-testid="node"][data-node-id="{name}"]')).to_have_attribute("data-dim", is_dim)


def test_only_sources_of_the_dataset_are_lit_and_not_all_inputs_of_its_job(url: str, opened: Opened) -> None:
    with opened(url) as page:
        page.get_by_role("button", name="Dataset out0").click()

        expect(page.get_by_text("1 dataset upstream, 0 downstream")).to_be_visible()
        expect_lit(page, "out0", "pair", "in0")
        expect(page.locator('.stroke[data-tone="related"]')).to_have_count(2)

        page.get_by_role("button", name="Dataset in1").click()
        expect_lit(page, "in1", "pair", "out1")

        page.get_by_role("button", name="Job pair").click()
        expect_lit(page, "pair", *PAIRS, *PAIRS.values())


def test_the_path_is_updated_by_events_and_is_as_of_the_shown_time(url: str, opened: Opened) -> None:
    with opened(url) as page:
        page.get_by_role("button", name="Dataset out0").click()
        expect_lit(page, "out0", "pair", "in0")

        without_columns = [lake(target) for target in PAIRS.values()]
        run = {"runId": "01890000-0000-7000-8000-000000000002"}
        post(url, paired(eventTime="2026-05-02T08:00:00Z", run=run, outputs=without_columns))
        expect_lit(page, "out0", "pair", "in0", "in1")

        page.goto(f"{url}/?asOf=2026-05-01T09:00:00Z#node=dataset:lake:out0")
        expect_lit(page, "out0", "pair", "in0")


def test_if_the_path_cannot_be_loaded_the_largest_possible_one_is_lit(url: str, opened: Opened) -> None:
    with opened(url) as page:
        page.route("**/api/v1/path?*", lambda route: route.abort())

        page.get_by_role("button", name="Dataset out0").click()

        expect_lit(page, "out0", "pair", *PAIRS)
        expect(page.get_by_role("alert")).to_have_count(0)


def test_sources_of_every_column_of_a_wide_dataset_are_drawn_and_described_once(url: str, opened: Opened) -> None:
    post(url, grouped(105))

    with opened(f"{url}/#node=dataset:lake:visitors&column=c7") as page:
        column = page.get_by_role("region", name="Column c7")
        expect(column).to_contain_text(
            "c7 is copied from c7 of visits; grouped by 105 columns of visits, which affect every column."
        )
        expect(page.get_by_text("105 columns upstream, 0 downstream")).to_be_visible()
        expect(page.locator('.strokes .stroke[data-kind="indirect"]')).to_have_count(2)
        expect(page.get_by_test_id("column")).to_have_count(2)

        column.get_by_text("105 columns in 1 dataset upstream").click()
        column.get_by_role("button", name="c104").click()

        column = page.get_by_role("region", name="Column c104")
        expect(column).to_contain_text("c104 is copied into c104 of visitors; groups all columns of visitors.")
        expect(page.get_by_text("0 columns upstream, 105 downstream")).to_be_visible()
        expect(page.get_by_text("104 more on the path")).to_be_visible()
