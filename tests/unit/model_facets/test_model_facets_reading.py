"""Reading a facet gives a view, Deleted, Unreadable or None, and never an exception."""

from datetime import UTC, datetime
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from headwater.model.facets.dataset import LifecycleStateChangeFacet, SchemaFacet, SymlinksFacet
from headwater.model.facets.input_output import OutputStatisticsFacet
from headwater.model.facets.job import SqlFacet
from headwater.model.facets.own import SignatureFacet, counters
from headwater.model.facets.quality import DataQualityMetricsFacet
from headwater.model.facets.run import NominalTimeFacet
from headwater.model.facets.view import Deleted, Unreadable, View
from headwater.model.names import DatasetId
from tests.support.facet_views import VIEWS

JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | st.text(),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(), inner, max_size=3),
    max_leaves=10,
)
MEMBERS = sorted({field.alias or name for view in VIEWS for name, field in view.model_fields.items()})


@pytest.mark.parametrize("facets", [{}, {"schema": None}])
def test_a_missing_facet_is_read_as_none(facets: dict[str, Any]) -> None:
    assert SchemaFacet.read(facets) is None


def test_a_deleted_facet_is_read_as_deleted_even_without_required_members() -> None:
    assert SqlFacet.read({"sql": {"_deleted": True}}) == Deleted("sql")


def test_unknown_members_are_kept() -> None:
    facet = {"fields": [{"name": "id", "nullable": False}], "tableId": "42", "model_fields": 1, "schema_url": "x"}

    read = SchemaFacet.read({"schema": facet})

    assert isinstance(read, SchemaFacet)
    assert facet.items() <= read.model_dump(by_alias=True, exclude_unset=True).items()


@pytest.mark.parametrize(
    ("view", "facet", "fault"),
    [
        (SchemaFacet, "id, name", ": expected an object"),
        (SchemaFacet, {"fields": {"name": "id"}}, ".fields: expected an array"),
        (SchemaFacet, {"fields": [{"name": "a"}, {"type": "int"}]}, ".fields.1.name: is required"),
        (
            SchemaFacet,
            {"fields": [{"name": "a", "fields": [{"name": 7}]}]},
            ".fields.0.fields.0.name: expected a string",
        ),
        (SchemaFacet, {"fields": [], "_deleted": "yes"}, "._deleted: expected true or false"),
        (OutputStatisticsFacet, {"rowCount": 1.5}, ".rowCount: expected a whole number"),
        (OutputStatisticsFacet, {"rowCount": "7 rows"}, ".rowCount: expected a whole number"),
        (DataQualityMetricsFacet, {"columnMetrics": {"a": {"max": "9"}}}, ".columnMetrics.a.max: expected a number"),
        (DataQualityMetricsFacet, {"columnMetrics": {"a.b": 7}}, ".columnMetrics.a.b: expected an object"),
        (
            NominalTimeFacet,
            {"nominalStartTime": "12"},
            ".nominalStartTime: expected a date and time such as 2026-05-22T14:23:11Z",
        ),
        (
            LifecycleStateChangeFacet,
            {"lifecycleStateChange": "drop"},
            ".lifecycleStateChange: does not match the facet's schema",
        ),
    ],
)
def test_an_unreadable_facet_has_the_path_and_what_was_expected(view: type[View], facet: object, fault: str) -> None:
    read = view.read({view.key: facet})

    assert isinstance(read, Unreadable)
    assert str(read) == view.key + fault


def test_a_facet_nested_too_deeply_is_unreadable() -> None:
    fields: list[dict[str, Any]] = []
    for _ in range(10_000):
        fields = [{"name": "f", "fields": fields}]

    read = SchemaFacet.read({"schema": {"fields": fields}})

    assert isinstance(read, Unreadable)
    assert read.message == "is nested too deeply"


@given(st.sampled_from(VIEWS), st.dictionaries(st.sampled_from(MEMBERS) | st.text(), JSON, max_size=4) | JSON)
def test_reading_any_json_never_raises_and_loses_nothing(view: type[View], facet: object) -> None:
    read = view.read({view.key: facet})

    if isinstance(read, View):
        assert isinstance(facet, dict)
        assert facet.items() <= read.model_dump(by_alias=True, exclude_unset=True).items()
    elif isinstance(read, Unreadable):
        assert read.path.startswith(view.key)


def test_other_names_are_pairs() -> None:
    facets = {"symlinks": {"identifiers": [{"namespace": "file:/lab/wh", "name": "sales.orders"}]}}

    symlinks = SymlinksFacet.read(facets)

    assert isinstance(symlinks, SymlinksFacet)
    assert [link.dataset for link in symlinks.identifiers or ()] == [DatasetId("file:/lab/wh", "sales.orders")]


@pytest.mark.parametrize(
    "text",
    [
        "2020-01-01T04:00:00.001Z",
        "2020-01-01t04:00:00.001z",
        "2020-01-01T05:00:00.001+01:00",
        "2020-01-01T04:00:00.001",
    ],
)
def test_nominal_times_stay_as_written_and_are_read_with_their_offset(text: str) -> None:
    read = NominalTimeFacet.read({"nominalTime": {"nominalStartTime": text}})

    assert isinstance(read, NominalTimeFacet)
    assert read.nominal_start_time == text
    assert read.start == datetime(2020, 1, 1, 4, 0, 0, 1000, tzinfo=UTC)
    assert read.end is None


@pytest.mark.parametrize(
    ("facets", "records_in"),
    [
        ({"headwater_run": {"recordsIn": 9007199254740993, "durationMs": 61234.5}}, 9007199254740993),
        ({"expanso_run": {"fields": {"records_in": 1048577, "duration_ms": 61234.5}}}, 1048577),
        ({"headwater_run": {"recordsIn": 1}, "expanso_run": {"fields": {"records_in": 2}}}, 1),
        ({"headwater_run": {"recordsIn": "1"}, "expanso_run": {"fields": {"records_in": 2}}}, 2),
        ({"headwater_run": {"recordsIn": 3, "bytesIn": "many", "stopReason": 7}}, 3),
        ({"expanso_run": {"fields": {"records_in": 4, "duration_ms": None, "bytes_out": [1]}}}, 4),
        ({"expanso_run": {"recordsIn": 5, "bytesIn": "many"}}, 5),
        ({"headwater_run": {"recordsIn": None}, "expanso_run": {"recordsIn": 5}}, 5),
        ({"expanso_run": {"recordsIn": 5, "fields": {"records_in": 6}}}, 6),
    ],
)
def test_counters_come_from_either_facet_and_ours_takes_precedence(facets: dict[str, Any], records_in: int) -> None:
    run_counters = counters(facets)

    assert run_counters is not None
    assert run_counters.records_in == records_in


def test_a_run_without_counters_has_none() -> None:
    assert counters({"expanso_run": {"version": 1}}) is None


def test_a_signature_is_read() -> None:
    facet = {"algorithm": "Ed25519", "keyId": "node:a#sha256:b", "payloadHash": "sha256:c", "signature": "ZA=="}

    read = SignatureFacet.read({"signature": facet})

    assert isinstance(read, SignatureFacet)
    assert (read.key_id, read.payload_hash) == ("node:a#sha256:b", "sha256:c")
