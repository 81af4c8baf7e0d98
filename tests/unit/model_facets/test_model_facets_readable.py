"""What can be read of a facet stands, whatever stands beside it."""

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from headwater.model.facets.about import DatasetTagsFacet, OwnershipFacet, TagsFacet
from headwater.model.facets.dataset import SchemaFacet, VersionFacet
from headwater.model.facets.quality import DataQualityAssertionsFacet, DataQualityMetricsFacet, RunTestsFacet
from headwater.model.facets.run import ErrorMessageFacet, ExecutionParametersFacet
from headwater.model.facets.view import View
from tests.support.facet_views import VIEWS
from tests.unit.model_facets.test_model_facets_reading import JSON, MEMBERS


def readable(view: type[View], facet: object) -> dict[str, Any] | None:
    """The members that were read, or None."""
    read = view.readable({view.key: facet})
    return None if read is None else read.model_dump(by_alias=True, exclude_unset=True)


@pytest.mark.parametrize(
    ("view", "facet", "read"),
    [
        (
            ExecutionParametersFacet,
            {"parameters": [{"key": "a", "value": 3600}, {"key": 7, "value": 1.5}, {"key": "c", "value": True}, {}, 3]},
            {
                "parameters": [
                    {"key": "a", "value": "3600"},
                    {"key": "7", "value": "1.5"},
                    {"key": "c", "value": "true"},
                ]
            },
        ),
        (OwnershipFacet, {"owners": {"name": "ann"}, "more": [1]}, {"more": [1]}),
        (
            SchemaFacet,
            {"fields": [{"name": "a", "fields": [{"name": "b", "type": []}, {"type": "int"}]}, {"name": 7}]},
            {"fields": [{"name": "a", "fields": [{"name": "b"}]}]},
        ),
        (
            DataQualityMetricsFacet,
            {"rowCount": "7", "columnMetrics": {"a": {"max": "9", "min": 1}, "b": None, "c": {"quantiles": {"1": ""}}}},
            {"rowCount": 7, "columnMetrics": {"a": {"min": 1}, "c": {"quantiles": {}}}},
        ),
        (VersionFacet, {"datasetVersion": 7}, {"datasetVersion": "7"}),
        (SchemaFacet, {"fields": [], "_deleted": "yes"}, {"fields": []}),
    ],
)
def test_what_cannot_be_read_is_left_out_and_scalars_are_text(
    view: type[View], facet: object, read: dict[str, Any]
) -> None:
    assert readable(view, facet) == read


@pytest.mark.parametrize(
    ("view", "facet"),
    [
        (DatasetTagsFacet, {"tags": [{"key": "pii", "value": "true", "field": field} for field in (7, ["email"])]}),
        (
            DataQualityAssertionsFacet,
            {"assertions": [{"assertion": "a", "success": True, "column": column} for column in (True, {})]},
        ),
        (RunTestsFacet, {"tests": [{"name": "fresh", "status": status} for status in (False, 1, None)]}),
    ],
)
def test_what_may_be_about_something_else_is_left_out(view: type[View], facet: dict[str, Any]) -> None:
    (items,) = facet

    assert readable(view, facet) == {items: []}


@pytest.mark.parametrize(
    ("view", "facet"),
    [
        (TagsFacet, None),
        (TagsFacet, "pii"),
        (TagsFacet, {"tags": [], "_deleted": True}),
        (VersionFacet, {"datasetVersion": None}),
        (DataQualityAssertionsFacet, {"assertions": {"assertion": "a", "success": True}}),
        (ErrorMessageFacet, {"programmingLanguage": "JAVA"}),
    ],
)
def test_a_facet_that_lacks_what_all_hangs_on_tells_nothing(view: type[View], facet: object) -> None:
    assert view.readable({view.key: facet}) is None


def test_a_million_items_that_cannot_be_read_leave_those_that_can() -> None:
    facet = {"tags": [*range(1_000_000), {"key": "pii", "value": "true"}]}

    assert readable(TagsFacet, facet) == {"tags": facet["tags"][-1:]}


def test_a_facet_nested_without_end_tells_nothing() -> None:
    fields: list[dict[str, Any]] = []
    for _ in range(10_000):
        fields = [{"name": "f", "fields": fields}]

    assert SchemaFacet.readable({"schema": {"fields": fields}}) is None


@given(st.sampled_from(VIEWS), st.dictionaries(st.sampled_from(MEMBERS) | st.text(), JSON, max_size=4) | JSON)
def test_whatever_is_read_as_a_whole_is_read_so_and_the_rest_never_raises(view: type[View], facet: object) -> None:
    before = json.dumps(facet)

    read, whole = view.readable({view.key: facet}), view.read({view.key: facet})

    assert not isinstance(whole, View) or read == whole
    assert json.dumps(facet) == before
