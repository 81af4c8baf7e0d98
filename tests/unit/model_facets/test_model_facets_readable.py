"""The valid members of a facet are read, whatever the others are."""

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

_NO_COLUMNS: tuple[object, ...] = (True, {})


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
def test_unreadable_members_are_left_out_and_scalars_are_read_as_text(
    view: type[View], facet: object, read: dict[str, Any]
) -> None:
    assert readable(view, facet) == read


@pytest.mark.parametrize(
    ("view", "facet"),
    [
        (DatasetTagsFacet, {"tags": [{"key": "pii", "value": "true", "field": field} for field in (7, ["email"])]}),
        (
            DataQualityAssertionsFacet,
            {"assertions": [{"assertion": "a", "success": True, "column": column} for column in _NO_COLUMNS]},
        ),
        (RunTestsFacet, {"tests": [{"name": "fresh", "status": status} for status in (False, 1, None)]}),
    ],
)
def test_items_with_an_unreadable_subject_or_outcome_are_left_out(view: type[View], facet: dict[str, Any]) -> None:
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
def test_a_facet_without_its_essential_member_is_not_read(view: type[View], facet: object) -> None:
    assert view.readable({view.key: facet}) is None


def test_a_million_unreadable_items_leave_the_readable_ones() -> None:
    facet = {"tags": [*range(1_000_000), {"key": "pii", "value": "true"}]}

    assert readable(TagsFacet, facet) == {"tags": facet["tags"][-1:]}


def test_a_facet_nested_too_deeply_is_not_read() -> None:
    fields: list[dict[str, Any]] = []
    for _ in range(10_000):
        fields = [{"name": "f", "fields": fields}]

    assert SchemaFacet.readable({"schema": {"fields": fields}}) is None


@given(st.sampled_from(VIEWS), st.dictionaries(st.sampled_from(MEMBERS) | st.text(), JSON, max_size=4) | JSON)
def test_a_facet_that_is_valid_is_read_the_same_and_any_other_never_raises(view: type[View], facet: object) -> None:
    before = json.dumps(facet)

    read, strict = view.readable({view.key: facet}), view.read({view.key: facet})

    assert not isinstance(strict, View) or read == strict
    assert json.dumps(facet) == before


@pytest.mark.parametrize(
    ("status", "passed"),
    [("pass", True), ("PASSED", True), ("fail", False), ("Error", False), ("skip", None), ("skipped", None)],
)
def test_a_test_passed_or_failed_by_its_status(status: str, passed: bool | None) -> None:
    read = RunTestsFacet.readable({"test": {"tests": [{"name": "fresh", "status": status}]}})

    assert read is not None
    assert [test.passed for test in read.tests] == [passed]


@pytest.mark.parametrize("status", ["warn", "not run", "unknown", ""])
def test_a_test_with_an_unknown_status_did_not_pass(status: str) -> None:
    read = RunTestsFacet.readable({"test": {"tests": [{"name": "fresh", "status": status}]}})

    assert read is not None
    assert [test.passed for test in read.tests] == [None]
