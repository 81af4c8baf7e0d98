"""Results of Great Expectations in its own facet, converted to the standard facet."""

import json
from typing import Any

import pytest

from headwater.model.events import RunEvent, parse_event
from headwater.model.expectations import with_assertions

ASSERTION = {"expectationType": "expect_column_max_to_be_between", "success": True, "column": "amount"}


def checked(**facets: object) -> RunEvent:
    body = {
        "eventType": "COMPLETE",
        "eventTime": "2026-05-22T14:23:11Z",
        "producer": "https://example.org/producer",
        "run": {"runId": "run"},
        "job": {"namespace": "shop", "name": "suite"},
        "inputs": [{"namespace": "sqlite", "name": "transactions", "inputFacets": facets}],
    }
    event = parse_event(json.dumps(body).encode())
    assert isinstance(event, RunEvent)
    return event


def test_its_assertions_are_added_as_the_standard_facet() -> None:
    own = {"_producer": "https://example.org/ge", "assertions": [ASSERTION]}

    facets = with_assertions(checked(greatExpectations_assertions=own)).inputs[0].direction_facets

    assert facets == {
        "greatExpectations_assertions": own,
        "dataQualityAssertions": {
            "_producer": "https://example.org/ge",
            "assertions": [{"assertion": ASSERTION["expectationType"], "success": True, "column": "amount"}],
        },
    }


@pytest.mark.parametrize(
    "facets",
    [
        {},
        {"greatExpectations_assertions": {"assertions": [ASSERTION], "_deleted": True}},
        {"greatExpectations_assertions": {"assertions": [ASSERTION]}, "dataQualityAssertions": {"assertions": []}},
        {"greatExpectations_assertions": {"assertions": None}},
        {"greatExpectations_assertions": {"assertions": [None, {"expectationType": "x"}, {"success": True}]}},
    ],
)
def test_nothing_is_added_without_valid_assertions_or_with_the_standard_facet(facets: dict[str, Any]) -> None:
    assert with_assertions(checked(**facets)) == checked(**facets)
