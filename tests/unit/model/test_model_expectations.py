"""What Great Expectations found, in its own facet, told as the standard tells it."""

import json
from typing import Any

import pytest

from headwater.model.events import RunEvent, parse_event
from headwater.model.expectations import with_assertions

MET = {"expectationType": "expect_column_max_to_be_between", "success": True, "column": "amount"}


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


def test_its_assertions_are_added_beside_its_own_facet() -> None:
    own = {"_producer": "https://example.org/ge", "assertions": [MET]}

    found = with_assertions(checked(greatExpectations_assertions=own)).inputs[0].direction_facets

    assert found == {
        "greatExpectations_assertions": own,
        "dataQualityAssertions": {
            "_producer": "https://example.org/ge",
            "assertions": [{"assertion": MET["expectationType"], "success": True, "column": "amount"}],
        },
    }


@pytest.mark.parametrize(
    "facets",
    [
        {},
        {"greatExpectations_assertions": {"assertions": [MET], "_deleted": True}},
        {"greatExpectations_assertions": {"assertions": [MET]}, "dataQualityAssertions": {"assertions": []}},
        {"greatExpectations_assertions": {"assertions": None}},
        {"greatExpectations_assertions": {"assertions": [None, {"expectationType": "x"}, {"success": True}]}},
    ],
)
def test_nothing_is_added_where_it_says_nothing_or_the_standard_facet_is_there(facets: dict[str, Any]) -> None:
    assert with_assertions(checked(**facets)) == checked(**facets)
